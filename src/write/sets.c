// What acts on node sets as JSON: drives and pins, forces, masses.
#include <math.h>

#include "write/write.h"

// Whether the sorted set is all nodes from `first` on.
static bool is_range(const int* node, int nnode, int first, int count) {
    if (nnode != count) return false;
    for (int i = 0; i < nnode; i++)
        if (node[i] != first + i) return false;
    return true;
}

void ct_write_nodes(ct_json_put* out, const char* key, const ct_scene* scene, const int* node, int nnode) {
    const ct_scene_body* body = NULL;
    bool all = is_range(node, nnode, 0, ct_scene_node_count(scene));
    for (int b = 0; b < scene->nbody && !all && !body; b++)
        if (is_range(node, nnode, scene->body[b].first_node, scene->body[b].mesh->nvert))
            body = &scene->body[b];
    ct_put_object(out, key);
    if (body) ct_put_text(out, "body", body->name);
    if (all || body) ct_put_bool(out, "all", true);
    else ct_put_integers(out, "list", node, (size_t)nnode);
    ct_put_end(out);
}

void ct_write_motion(ct_json_put* out, const ct_scene_driver* motion) {
    if (!motion->nkey && ct_write_is_zero(motion->center) && !motion->smooth && !motion->repeat) return;
    ct_put_object(out, "motion");
    ct_put_array(out, "keys");
    for (int k = 0; k < motion->nkey; k++) {
        const ct_keyframe* key = &motion->key[k];
        ct_put_object(out, NULL);
        ct_put_number(out, "time", key->time);
        ct_write_vector(out, "translate", key->translate);
        ct_write_vector(out, "rotate", key->rotate);
        ct_put_end(out);
    }
    ct_put_end(out);
    ct_write_vector(out, "center", motion->center);
    ct_write_flag(out, "smooth", motion->smooth);
    ct_write_flag(out, "repeat", motion->repeat);
    ct_put_end(out);
}

static bool is_pin(const ct_scene_driver* drive) {
    return !drive->nkey && ct_write_is_zero(drive->center) && !drive->smooth && !drive->repeat;
}

// Pins are read after drives: those at the end of the list are pins, and the order is kept.
static void write_drives(ct_json_put* out, const ct_scene* scene) {
    int first_pin = scene->ndrive;
    while (first_pin > 0 && is_pin(&scene->drive[first_pin - 1])) first_pin--;
    for (int d = 0; d < scene->ndrive; d++) {
        const ct_scene_driver* drive = &scene->drive[d];
        if (!d && first_pin) ct_put_array(out, "drives");
        if (d == first_pin) ct_put_array(out, "pins");
        ct_put_object(out, NULL);
        ct_write_nodes(out, "select", scene, drive->node, drive->nnode);
        ct_write_motion(out, drive);
        ct_write_flag(out, "clamp", drive->clamp);
        ct_put_end(out);
        if (d == first_pin - 1 || d == scene->ndrive - 1) ct_put_end(out);
    }
}

static void write_force(ct_json_put* out, const ct_scene* scene, const ct_scene_force* force) {
    ct_put_object(out, NULL);
    ct_write_nodes(out, "select", scene, force->node, force->nnode);
    ct_put_numbers(out, ct_force_kind_name(force->def.kind), force->def.vector, 3);
    ct_write_unless(out, "start", force->def.start, 0);
    if (force->def.stop != INFINITY) ct_put_number(out, "stop", force->def.stop);
    ct_put_end(out);
}

static void write_mass(ct_json_put* out, const ct_scene* scene, const ct_scene_mass* mass) {
    ct_put_object(out, NULL);
    ct_write_nodes(out, "select", scene, mass->node, mass->nnode);
    ct_put_number(out, "per_node", mass->mass);
    ct_put_end(out);
}

void ct_write_sets(ct_json_put* out, const ct_scene* scene) {
    write_drives(out, scene);
    if (scene->nforce) ct_put_array(out, "forces");
    for (int i = 0; i < scene->nforce; i++) write_force(out, scene, &scene->force[i]);
    if (scene->nforce) ct_put_end(out);
    if (scene->nmass) ct_put_array(out, "masses");
    for (int i = 0; i < scene->nmass; i++) write_mass(out, scene, &scene->mass[i]);
    if (scene->nmass) ct_put_end(out);
}
