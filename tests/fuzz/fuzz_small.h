// Scenes that ask for large meshes are passed over by fuzz targets: they are slow, not wrong.
#ifndef CT_TESTS_FUZZ_SMALL_H
#define CT_TESTS_FUZZ_SMALL_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool fuzz_is_small_value(const json_t* value, const char* key) {
    const char* name;
    json_t* member;
    size_t index;
    if (json_is_object(value)) {
        json_object_foreach((json_t*)value, name,
                            member) if (!fuzz_is_small_value(member, name)) return false;
    } else if (json_is_array(value)) {
        if (json_array_size(value) > 40) return false;
        json_array_foreach((json_t*)value, index, member) if (!fuzz_is_small_value(member, key)) return false;
    } else if (json_is_number(value)) {
        double number = fabs(json_number_value(value));
        bool length = !strcmp(key, "size") || !strcmp(key, "interior");
        return number <= 4 && !(length && number < 0.25);
    }
    return true;
}

// The geometry of every body is small, wherever it is.
static inline bool fuzz_has_small_bodies(const json_t* root) {
    static const char* const keys[] = {"box", "sphere", "cylinder", "torus", "shape", "size", "interior"};
    size_t index;
    json_t* body;
    json_array_foreach(json_object_get(root, "bodies"), index, body) {
        if (index > 4) return false;
        for (int i = 0; i < 7; i++)
            if (!fuzz_is_small_value(json_object_get(body, keys[i]), keys[i])) return false;
    }
    return true;
}

// What is no scene at all is small.
static inline bool fuzz_is_small(const uint8_t* data, size_t size) {
    json_t* root = json_loadb((const char*)data, size, 0, NULL);
    const bool small = !root || fuzz_has_small_bodies(root);
    json_decref(root);
    return small;
}

#endif
