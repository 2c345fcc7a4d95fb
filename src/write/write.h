// The parts of a scene as JSON, one file for each of read/: what is written is read back to the same scene.
// What equals its default is left out, what a file cannot say is written all the same, so that reading it
// back fails or differs (write/scene.c compares).
#ifndef CT_WRITE_WRITE_H
#define CT_WRITE_WRITE_H

#include "scene/scene.h"
#include "text/json_put.h"

// A set of scene nodes, as a selector.
void ct_write_nodes(ct_json_put* out, const char* key, const ct_scene* scene, const int* node, int nnode);
// A motion; nothing where it is the default: no keys about the origin.
void ct_write_motion(ct_json_put* out, const ct_scene_driver* motion);
void ct_write_bodies(ct_json_put* out, const ct_scene* scene);
void ct_write_obstacles(ct_json_put* out, const ct_scene* scene);
void ct_write_contact(ct_json_put* out, const ct_scene* scene);  // settings and pairs
void ct_write_links(ct_json_put* out, const ct_scene* scene);
void ct_write_sets(ct_json_put* out, const ct_scene* scene);  // drives, pins, forces, masses
void ct_write_water(ct_json_put* out, const ct_scene* scene);
void ct_write_actuators(ct_json_put* out, const ct_scene* scene);
void ct_write_controls(ct_json_put* out, const ct_scene* scene);
void ct_write_policy(ct_json_put* out, const ct_scene* scene);
void ct_write_parameters(ct_json_put* out, const ct_scene* scene);
void ct_write_objective(ct_json_put* out, const ct_scene* scene);
void ct_write_optimizer(ct_json_put* out, const ct_scene* scene);

// A number that is not `usual`, NAN: never usual unless it is NAN too.
static inline void ct_write_unless(ct_json_put* out, const char* key, double value, double usual) {
    if (value != usual && !(value != value && usual != usual)) ct_put_number(out, key, value);
}
// Where something ends that has no end, nothing is written.
static inline void ct_write_finite(ct_json_put* out, const char* key, double value) {
    if (value - value == 0) ct_put_number(out, key, value);
}
static inline bool ct_write_is_zero(const double a[3]) { return a[0] == 0 && a[1] == 0 && a[2] == 0; }
static inline void ct_write_vector(ct_json_put* out, const char* key, const double vector[3]) {
    if (!ct_write_is_zero(vector)) ct_put_numbers(out, key, vector, 3);
}
static inline void ct_write_flag(ct_json_put* out, const char* key, bool flag) {
    if (flag) ct_put_bool(out, key, true);
}

#endif
