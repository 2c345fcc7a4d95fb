// What is said when a scene is refused; see fail.h.
#include "scene/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

ct_status ct_scene_fail(ct_error* error, const char* field, const char* format, ...) {
    if (!error) return CT_BAD_SCENE;
    char rest[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rest, sizeof rest, format, arguments);
    va_end(arguments);
    snprintf(error->path, sizeof error->path, "%s", field);
    return ct_fail(error, CT_BAD_SCENE, "%s %s", field, rest);
}

ct_status ct_scene_out_of_memory(ct_error* error) {
    return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
}

ct_status ct_scene_check_name(const char* name, ct_error* error) {
    if (!name || !name[0])
        return ct_scene_fail(error, "name", "is missing: give one, results are listed under it");
    if (strlen(name) >= CT_SCENE_NAME_SIZE)
        return ct_scene_fail(error, "name", "is \"%.20s...\": it must be shorter than %d bytes", name,
                             (int)CT_SCENE_NAME_SIZE);
    return CT_OK;
}
