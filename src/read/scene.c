// Loads a scene from JSON: the text becomes calls of the public API, part by part.
//
// Every failure carries the JSON path and, found afterwards in the text, the line. A failure inside a file
// that the scene names (a mesh) keeps that file and its line. Numbers do not depend on the locale.
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "read/read.h"

// -------------------------------------------------------------------------------------------------
// Settings

// A vector, or a number: its strength along -up.
static void read_gravity(ct_json at, ct_settings* settings) {
    double strength = 9.81;
    if (at.value && json_is_array(at.value)) {
        ct_json_vector(at, settings->gravity);
        return;
    }
    ct_json_number(at, &strength);
    for (int i = 0; i < 3; i++) settings->gravity[i] = i == settings->up && strength != 0 ? -strength : 0;
}

static void read_solver(ct_json at, ct_settings* settings) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_SOLVER)) return;
    int solver = (int)settings->solver;
    ct_json_choice(ct_json_member(at, "type"), ct_scene_choices[CT_CHOICE_SOLVER].words, &solver);
    settings->solver = (ct_solver)solver;
    ct_json_number(ct_json_member(at, "tolerance"), &settings->tolerance);
    ct_json_integer(ct_json_member(at, "max_iterations"), 1, 1000000, &settings->max_iterations);
    ct_json_integer(ct_json_member(at, "max_substep_depth"), 0, 20, &settings->max_substep_depth);
    ct_json_integer(ct_json_member(at, "threads"), 0, 1024, &settings->threads);
}

static void read_settings(ct_scene* scene, ct_json root) {
    ct_settings settings = ct_settings_default();
    int integrator = (int)settings.integrator;
    ct_json_choice(ct_json_member(root, "up"), ct_scene_choices[CT_CHOICE_UP].words, &settings.up);
    read_gravity(ct_json_member(root, "gravity"), &settings);
    ct_json_number(ct_json_member(root, "time_step"), &settings.time_step);
    ct_json_number(ct_json_member(root, "duration"), &settings.duration);
    ct_json_choice(ct_json_member(root, "integrator"), ct_scene_choices[CT_CHOICE_INTEGRATOR].words,
                   &integrator);
    settings.integrator = (ct_integrator)integrator;
    ct_json_bool(ct_json_member(root, "settle"), &settings.settle);
    int start = 0;
    ct_json_choice(ct_json_member(root, "start"), ct_scene_choices[CT_CHOICE_START].words, &start);
    settings.relax = start == 1;
    read_solver(ct_json_member(root, "solver"), &settings);
    ct_json output = ct_json_member(root, "output");
    if (output.value && ct_read_keys(output, CT_OBJECT_OUTPUT)) {
        ct_json_integer(ct_json_member(output, "every"), 1, 1000000000, &settings.output_every);
        ct_json_bool(ct_json_member(output, "compress"), &settings.output_compress);
    }
    ct_json_number(ct_json_member(root, "ground"), &settings.ground);
    ct_read_contact(root, &settings.contact);
    if (root.reader->status) return;
    ct_error inner;
    ct_json_relay(root, ct_scene_set_settings(scene, &settings, &inner), &inner);
}

static void read_view(ct_scene* scene, ct_json at) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_VIEW)) return;
    ct_view view = scene->view;
    view.automatic = !ct_json_has(at, "eye") && !ct_json_has(at, "target");
    if (!view.automatic) {
        ct_json_vector(ct_json_required(at, "eye"), view.eye);
        ct_json_vector(ct_json_required(at, "target"), view.target);
        if (!memcmp(view.eye, view.target, sizeof view.eye))
            ct_json_fail(at, "has its eye at the target: move one of them");
    }
    ct_json angle = ct_json_member(at, "field_of_view");
    ct_json_number(angle, &view.field_of_view);
    if (!(view.field_of_view >= 1 && view.field_of_view <= 170))
        ct_json_fail(angle, "is %g degrees: it must be from 1 to 170", view.field_of_view);
    scene->view = view;
}

// -------------------------------------------------------------------------------------------------
// The scene

static void read_name(ct_scene* scene, ct_json at) {
    const char* name = NULL;
    ct_json_text(at, &name);
    if (name && !at.reader->status && ct_scene_set_name(scene, name)) ct_json_out_of_memory(at);
}

static void read_list(ct_scene* scene, ct_json at, void (*read)(ct_scene*, ct_json)) {
    size_t count = ct_json_length(at);
    for (size_t i = 0; i < count && !at.reader->status; i++) read(scene, ct_json_item(at, i));
}

static void read_scene(ct_scene* scene, ct_json root, const char* directory) {
    const char* schema;
    if (!ct_read_keys(root, CT_OBJECT_SCENE)) return;
    ct_json_text(ct_json_member(root, "$schema"), &schema);
    read_name(scene, ct_json_member(root, "name"));
    read_settings(scene, root);
    read_view(scene, ct_json_member(root, "view"));
    ct_json skeletons = ct_json_member(root, "skeletons");
    ct_json bodies = skeletons.value ? ct_json_member(root, "bodies") : ct_json_required(root, "bodies");
    size_t nbody = bodies.value ? ct_json_length(bodies) : 0,
           nskeleton = skeletons.value ? ct_json_length(skeletons) : 0;
    for (size_t i = 0; i < nbody && !root.reader->status; i++)
        ct_read_body(scene, ct_json_item(bodies, i), directory);
    for (size_t i = 0; i < nskeleton && !root.reader->status; i++)
        ct_read_skeleton(scene, ct_json_item(skeletons, i), directory);
    ct_json obstacles = ct_json_member(root, "obstacles");
    size_t nobstacle = obstacles.value ? ct_json_length(obstacles) : 0;
    for (size_t i = 0; i < nobstacle && !root.reader->status; i++)
        ct_read_obstacle(scene, ct_json_item(obstacles, i), directory);
    ct_read_pairs(scene, ct_json_member(root, "contact"));
    if (root.reader->status) return;
    ct_error inner;
    ct_error_clear(&inner);
    ct_json_relay(root, ct_scene_check(scene, &inner), &inner);
    read_list(scene, ct_json_member(root, "drives"), ct_read_drive);
    read_list(scene, ct_json_member(root, "pins"), ct_read_drive);
    read_list(scene, ct_json_member(root, "forces"), ct_read_force);
    read_list(scene, ct_json_member(root, "velocities"), ct_read_velocity);
    read_list(scene, ct_json_member(root, "masses"), ct_read_masses);
    ct_read_water(scene, ct_json_member(root, "water"));
    read_list(scene, ct_json_member(root, "muscles"), ct_read_muscle);
    read_list(scene, ct_json_member(root, "chambers"), ct_read_chamber);
    read_list(scene, ct_json_member(root, "cavities"), ct_read_cavity);
    read_list(scene, ct_json_member(root, "cables"), ct_read_cable);
    read_list(scene, ct_json_member(root, "actuators"), ct_read_actuator);
    read_list(scene, ct_json_member(root, "controls"), ct_read_control);
    ct_json controls = ct_json_member(root, "controls");
    size_t ncontrol = controls.value ? ct_json_length(controls) : 0;
    for (size_t i = 0; i < ncontrol && !root.reader->status; i++)
        ct_read_control_values(scene, ct_json_item(controls, i), directory);
    ct_read_policy(scene, ct_json_member(root, "policy"), directory);
    read_list(scene, ct_json_member(root, "parameters"), ct_read_parameter);
    ct_json objective = ct_json_member(root, "objective");
    size_t nterm = objective.value ? ct_json_length(objective) : 0;
    for (size_t i = 0; i < nterm && !root.reader->status; i++)
        ct_read_objective(scene, ct_json_item(objective, i), directory);
    ct_read_optimizer(scene, ct_json_member(root, "optimizer"));
}

static ct_status parse(ct_scene** out, const char* text, size_t size, const char* directory,
                       ct_error* error) {
    json_t* json;
    ct_status status = ct_json_parse(&json, text, size, error);
    if (status) return status;
    ct_scene* scene;
    ct_json_reader reader = {.error = error, .status = ct_scene_create(&scene, error)};
    if (!reader.status) read_scene(scene, ct_json_root(&reader, json, ""), directory);
    if (reader.status && error && !error->file[0]) error->line = ct_json_line(text, size, error->path);
    json_decref(json);
    if (!reader.status) *out = scene;
    else ct_scene_free(scene);
    return reader.status;
}

// The C locale is this thread's while reading, so that numbers in files and messages have points.
ct_status ct_scene_parse(ct_scene** out, const char* text, size_t size, const char* directory,
                         ct_error* error) {
    CT_NEED(error, out);
    ct_error_clear(error);
    *out = NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    locale_t before = uselocale(plain);
    ct_status status = parse(out, text, size, directory, error);
    uselocale(before);
    freelocale(plain);
    return status;
}

// The part of a path before its last slash; the caller frees it.
static char* directory_of(const char* path) {
    const char* slash = strrchr(path, '/');
    if (!slash) return ct_duplicate_text(".");
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    char* directory = ct_alloc(length + 1, 1);
    if (directory) memcpy(directory, path, length);
    return directory;
}

// Replaces the scene's file by the absolute path.
static ct_status set_file(ct_scene* scene, const char* path) {
    char* absolute = realpath(path, NULL);
    char* copy = ct_duplicate_text(absolute ? absolute : path);
    free(absolute);
    if (!copy) return CT_OUT_OF_MEMORY;
    ct_free(scene->file);
    scene->file = copy;
    return CT_OK;
}

ct_status ct_scene_load(ct_scene** out, const char* path, ct_error* error) {
    CT_NEED(error, out, path);
    ct_error_clear(error);
    *out = NULL;
    char* text;
    size_t size;
    ct_status status = ct_file_read(path, CT_READ_GIGABYTES, &text, &size, error);
    if (status) return status;
    char* directory = directory_of(path);
    status = directory ? ct_scene_parse(out, text, size, directory, error)
                       : ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_free(directory);
    ct_free(text);
    if (!status && (status = set_file(*out, path)) != CT_OK) {
        ct_scene_free(*out);
        *out = NULL;
        ct_fail(error, status, "out of memory");
    }
    if (status && error && !error->file[0]) snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}
