// Fuzz target of the scene loader: any bytes either give a scene that can be used, or an error that says why.
// Inputs that ask for large meshes are passed over: they are slow, not wrong.
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuttle.h"
#include "scene/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static bool is_small(const json_t* value, const char* key) {
    const char* name;
    json_t* member;
    size_t index;
    if (json_is_object(value)) {
        json_object_foreach((json_t*)value, name, member) if (!is_small(member, name)) return false;
    } else if (json_is_array(value)) {
        if (json_array_size(value) > 40) return false;
        json_array_foreach((json_t*)value, index, member) if (!is_small(member, key)) return false;
    } else if (json_is_number(value)) {
        double number = fabs(json_number_value(value));
        bool length = !strcmp(key, "size") || !strcmp(key, "interior");
        return number <= 4 && !(length && number < 0.25);
    }
    return true;
}

// The geometry of every body is small, wherever it is.
static bool has_small_bodies(const json_t* root) {
    static const char* const keys[] = {"box", "sphere", "cylinder", "torus", "shape", "size", "interior"};
    size_t index;
    json_t* body;
    json_array_foreach(json_object_get(root, "bodies"), index, body) {
        if (index > 4) return false;
        for (int i = 0; i < 7; i++)
            if (!is_small(json_object_get(body, keys[i]), keys[i])) return false;
    }
    return true;
}

static void use(ct_scene* scene) {
    double lower[3], upper[3], x[3];
    ct_scene_bounds(scene, -1, lower, upper);
    for (int i = 0; i < 3; i++)
        if (!isfinite(lower[i]) || !isfinite(upper[i])) abort();
    for (int d = 0; d < scene->ndrive; d++)
        for (double time = -1; time < 3; time += 0.37)
            ct_scene_drive_position(&scene->drive[d], time, lower, x);
    if (ct_scene_check(scene, NULL)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    json_t* root = json_loadb((const char*)data, size, 0, NULL);
    bool small = !root || has_small_bodies(root);
    json_decref(root);
    if (!small) return 0;
    ct_scene* scene;
    ct_error error;
    ct_status status = ct_scene_parse(&scene, (const char*)data, size, "/nonexistent", &error);
    if (status == CT_OK) {
        use(scene);
    } else if (scene || error.code != status || !error.message[0] || error.line < 0) {
        abort();
    }
    ct_scene_free(scene);
    return 0;
}
