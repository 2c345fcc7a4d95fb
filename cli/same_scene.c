// Whether a scene is still the one that a trajectory began with: the two files are compared value by value.
//
// What does not change the motion (name, duration, output, view, objectives) may differ, and so may the
// layout of the file. Meshes and robots in files of their own are compared by the library, node by node.
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { MOST_PATHS = 4, PATH_LENGTH = 160 };

typedef struct differences {
    char path[MOST_PATHS][PATH_LENGTH];
    int count;  // may be more than are kept
} differences;

static bool is_free(const char* key) {
    static const char* const keys[] = {"$schema", "name", "duration",   "output",    "view",
                                       "ground",  "up",   "parameters", "objective", "optimizer"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (strcmp(key, keys[k]) == 0) return true;
    return false;
}

static void note(differences* d, const char* path) {
    if (d->count < MOST_PATHS) snprintf(d->path[d->count], PATH_LENGTH, "%s", path);
    d->count++;
}

static void compare(differences* d, const char* path, const json_t* a, const json_t* b);

static void compare_key(differences* d, const char* path, const char* key, const json_t* a, const json_t* b) {
    char longer[PATH_LENGTH];
    if (!*path && is_free(key)) return;
    if (strcmp(path, "solver") == 0 && strcmp(key, "threads") == 0) return;
    snprintf(longer, sizeof longer, "%.*s%s%.60s", PATH_LENGTH - 64, path, *path ? "." : "", key);
    compare(d, longer, a, b);
}

static void compare_objects(differences* d, const char* path, const json_t* a, const json_t* b) {
    const char* key;
    json_t* value;
    json_object_foreach((json_t*)a, key, value) compare_key(d, path, key, value, json_object_get(b, key));
    json_object_foreach((json_t*)b, key, value) {
        if (!json_object_get(a, key)) compare_key(d, path, key, NULL, value);
    }
}

static void compare(differences* d, const char* path, const json_t* a, const json_t* b) {
    if (json_is_object(a) && json_is_object(b)) {
        compare_objects(d, path, a, b);
    } else if (json_is_number(a) && json_is_number(b)) {
        if (json_number_value(a) != json_number_value(b)) note(d, path);
    } else if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t k = 0; k < json_array_size(a); k++) {
            char longer[PATH_LENGTH];
            snprintf(longer, sizeof longer, "%.*s[%zu]", PATH_LENGTH - 24, path, k);
            compare(d, longer, json_array_get(a, k), json_array_get(b, k));
        }
    } else if (!a || !b || !json_equal(a, b)) {
        note(d, path);
    }
}

static ct_status refuse(const differences* d, const char* file, ct_error* error) {
    char text[MOST_PATHS * (PATH_LENGTH + 2) + 64] = "";
    size_t length = 0;
    int shown = d->count < MOST_PATHS ? d->count : MOST_PATHS;
    for (int k = 0; k < shown; k++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", k ? ", " : "", d->path[k]);
    if (d->count > shown) snprintf(text + length, sizeof text - length, " and %d more", d->count - shown);
    char message[sizeof error->message];
    snprintf(message, sizeof message,
             "the scene has changed since this file was begun (%.240s): resume with the scene as it was, "
             "write a new file, or continue with the new scene by --force",
             text);
    return cli_fail(error, CT_BAD_ARGUMENT, file, message);
}

ct_status cli_check_same_scene(const char* scene, const char* file, ct_error* error) {
    ct_trajectory* trajectory = NULL;
    const char* text = "";
    ct_status status = ct_trajectory_open(&trajectory, file, error);
    if (!status) status = ct_trajectory_read_scene(trajectory, &text, error);
    json_t* before = status || !*text ? NULL : json_loads(text, 0, NULL);
    json_t* now = before ? json_load_file(scene, 0, NULL) : NULL;
    differences found = {.count = 0};
    if (now) compare(&found, "", before, now);
    if (found.count) status = refuse(&found, file, error);
    json_decref(before);
    json_decref(now);
    ct_trajectory_close(trajectory, NULL);
    return status;
}
