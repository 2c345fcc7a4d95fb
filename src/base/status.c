// Status texts and the filling of ct_error.
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

const char* ct_version(void) {
    return TEXT_OF(CT_VERSION_MAJOR) "." TEXT_OF(CT_VERSION_MINOR) "." TEXT_OF(CT_VERSION_PATCH);
}

const char* ct_status_text(ct_status status) {
    static const char* const text[] = {
#define STATUS_TEXT(code, words) words,
        CT_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    };
    size_t count = sizeof text / sizeof text[0];
    return (size_t)status < count ? text[status] : "unknown status";
}

void ct_error_clear(ct_error* error) {
    if (!error) return;
    memset(error, 0, sizeof *error);
    error->element = -1;
}

ct_status ct_fail(ct_error* error, ct_status code, const char* format, ...) {
    if (!error) return code;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

ct_status ct_fail_making(ct_error* error, ct_status status, const char* what, const char* less) {
    if (status == CT_OK || (error && error->code != CT_OK)) return status;
    if (status == CT_OUT_OF_MEMORY) return ct_fail(error, status, "out of memory for %s: %s", what, less);
    return ct_fail(error, status, "%s cannot be made: %s", what, ct_status_text(status));
}

ct_status ct_fail_at(ct_error* error, ct_status code, const char* file, int line, const char* format, ...) {
    if (!error) return code;
    error->code = code;
    error->line = line;
    if (file) snprintf(error->file, sizeof error->file, "%s", file);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}
