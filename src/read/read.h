// The parts of the scene loader: each reads one kind of object and adds it to the scene through the public
// API, so that limits and their messages are in one place. Failures are in the reader of `at`.
#ifndef CT_READ_READ_H
#define CT_READ_READ_H

#include "scene/keys.h"
#include "scene/scene.h"
#include "text/json.h"

// Keys of the object are the known ones.
static inline bool ct_read_keys(ct_json at, ct_scene_object object) {
    return ct_json_keys(at, ct_scene_keys[object].words);
}

// One of the words of a choice; absent: *out stays.
static inline void ct_read_choice(ct_json at, ct_scene_choice choice, int* out) {
    ct_json_choice(at, ct_scene_choices[choice].words, out);
}

// Fails on keys that mean nothing for an object of this type; NULL-terminated.
static inline void ct_read_refuse(ct_json at, const char* type, const char* const* keys) {
    for (; *keys; keys++)
        if (ct_json_has(at, *keys))
            ct_json_fail(ct_json_member(at, *keys), "has no meaning for the type \"%s\": remove it", type);
}

enum { CT_READ_GIGABYTES = 1 };  // longest text that is read
// The number of a mesh's tag by name, false when the mesh has none of that name; one number with two names
// fails.
bool ct_read_tag(ct_json at, const ct_mesh* mesh, const char* name, int* id);
// The link that a text names, -1: there is none.
int ct_read_link_reference(const ct_scene* scene, ct_json at);
// A body by name or index; absent: *body stays.
void ct_read_body_reference(const ct_scene* scene, ct_json at, int* body);
// The nodes that the "select" of an object chooses; *nodes is freed by ct_free.
void ct_read_nodes(const ct_scene* scene, ct_json object, int** nodes, int* count);
// the selector itself
void ct_read_selection(const ct_scene* scene, ct_json at, int** nodes, int* count);
// A motion whose keys live in the arena.
void ct_read_motion(ct_json at, ct_arena* arena, ct_motion* motion);
// Numbers of the text file that a string names, white space or commas between them and # before comments: the
// first `most` of them. Returns how many there are.
size_t ct_read_numbers(ct_json at, const char* directory, double* out, size_t most);
// "#rrggbb" or three numbers; absent: stays.
void ct_read_color(ct_json at, double color[3]);
// The mesh of a body or obstacle whose "mesh" is an object with nodes and elements. NULL: the reader has
// failed.
ct_mesh* ct_read_written_mesh(ct_json body);
// The mesh of an obstacle: a file's name, or an object with what makes the mesh of a body. NULL: the reader
// has failed.
ct_mesh* ct_read_obstacle_mesh(ct_json obstacle, const char* directory);
void ct_read_contact(ct_json root, ct_contact_settings* settings);  // "contact", without its pairs
void ct_read_pairs(ct_scene* scene, ct_json contact);
void ct_read_obstacle(ct_scene* scene, ct_json at, const char* directory);
void ct_read_body(ct_scene* scene, ct_json at, const char* directory);
void ct_read_skeleton(ct_scene* scene, ct_json at, const char* directory);
void ct_read_drive(ct_scene* scene, ct_json at);  // of "drives" and of "pins"
void ct_read_force(ct_scene* scene, ct_json at);
void ct_read_velocity(ct_scene* scene, ct_json at);
void ct_read_masses(ct_scene* scene, ct_json at);
void ct_read_water(ct_scene* scene, ct_json at);
void ct_read_muscle(ct_scene* scene, ct_json at);
void ct_read_chamber(ct_scene* scene, ct_json at);
void ct_read_cavity(ct_scene* scene, ct_json at);
void ct_read_cable(ct_scene* scene, ct_json at);
void ct_read_actuator(ct_scene* scene, ct_json at);  // any of these
// The numbers of the actuator that the control names.
void ct_read_actuator_control(ct_scene* scene, const char* name, ct_json control);
void ct_read_control(ct_scene* scene, ct_json at);
// of a control that has been read
void ct_read_control_values(ct_scene* scene, ct_json at, const char* directory);
void ct_read_policy(ct_scene* scene, ct_json at, const char* directory);
void ct_read_parameter(ct_scene* scene, ct_json at);
void ct_read_objective(ct_scene* scene, ct_json at, const char* directory);
void ct_read_optimizer(ct_scene* scene, ct_json at);

#endif
