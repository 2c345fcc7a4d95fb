// Reads contact: its settings, pairs, obstacles.
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "read/read.h"
#include "text/words.h"

// Contact is in force when the scene speaks of it or has obstacles, unless it says "none".
void ct_read_contact(ct_json root, ct_contact_settings* settings) {
    ct_json at = ct_json_member(root, "contact"), obstacles = ct_json_member(root, "obstacles");
    bool spoken_of = at.value || (obstacles.value && json_array_size(obstacles.value) > 0);
    int method = spoken_of ? CT_CONTACT_METHOD_NEWTON : CT_CONTACT_METHOD_NONE, split = (int)settings->split;
    settings->method = (ct_contact_method)method;
    if (!at.value || !ct_read_keys(at, CT_OBJECT_CONTACT)) return;
    ct_json_choice(ct_json_member(at, "method"), ct_scene_choices[CT_CHOICE_CONTACT].words, &method);
    ct_json_choice(ct_json_member(at, "split"), ct_scene_choices[CT_CHOICE_SPLIT].words, &split);
    ct_json_at_least(ct_json_member(at, "friction"), 0, &settings->friction);
    ct_json_integer(ct_json_member(at, "max_passes"), 1, 1000, &settings->max_passes);
    ct_json_integer(ct_json_member(at, "truncate"), 0, 1000000, &settings->truncate);
    settings->method = (ct_contact_method)method;
    settings->split = (ct_split)split;
    if (ct_json_has(at, "split") && settings->method != CT_CONTACT_METHOD_SPLIT)
        ct_json_fail(ct_json_member(at, "split"),
                     "has no meaning for this method: it chooses the matrix of the method \"split\"");
    if (ct_json_has(at, "truncate") && settings->method != CT_CONTACT_METHOD_SPLIT)
        ct_json_fail(ct_json_member(at, "truncate"),
                     "has no meaning for this method: it ends the iteration of the method \"split\"");
}

static void read_pair(ct_scene* scene, ct_json at) {
    ct_pair_def def = ct_pair_def_default();
    ct_error inner;
    ct_read_keys(at, CT_OBJECT_PAIR);
    ct_json between = ct_json_required(at, "between");
    if (ct_json_length(between) != 2) ct_json_fail(between, "must be two names, such as [\"ball\", \"*\"]");
    ct_json_text(ct_json_item(between, 0), &def.a);
    ct_json_text(ct_json_item(between, 1), &def.b);
    ct_json_bool(ct_json_member(at, "collide"), &def.collide);
    ct_json_at_least(ct_json_member(at, "friction"), 0, &def.friction);
    if (!def.collide && ct_json_has(at, "friction"))
        ct_json_fail(ct_json_member(at, "friction"), "is given for a pair that does not collide: remove it");
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_pair(scene, &def, &inner), &inner);
}

void ct_read_pairs(ct_scene* scene, ct_json contact) {
    ct_json pairs = ct_json_member(contact, "pairs");
    size_t count = pairs.value ? ct_json_length(pairs) : 0;
    for (size_t i = 0; i < count && !contact.reader->status; i++) read_pair(scene, ct_json_item(pairs, i));
}

// -------------------------------------------------------------------------------------------------
// Obstacles

static void read_shape(ct_json at, ct_obstacle_def* def) {
    switch (def->kind) {
    case CT_OBSTACLE_PLANE:
        ct_read_keys(at, CT_OBJECT_OBSTACLE_PLANE);
        ct_json_vector(ct_json_member(at, "point"), def->center);
        ct_json_vector(ct_json_required(at, "normal"), def->normal);
        break;
    case CT_OBSTACLE_SPHERE:
        ct_read_keys(at, CT_OBJECT_OBSTACLE_SPHERE);
        ct_json_vector(ct_json_member(at, "center"), def->center);
        ct_json_positive(ct_json_required(at, "radius"), &def->radius);
        break;
    case CT_OBSTACLE_CAPSULE: {
        ct_read_keys(at, CT_OBJECT_OBSTACLE_CAPSULE);
        ct_json ends = ct_json_required(at, "ends");
        if (ct_json_length(ends) != 2) ct_json_fail(ends, "must be two points: [[x, y, z], [x, y, z]]");
        for (size_t k = 0; k < 2; k++) ct_json_vector(ct_json_item(ends, k), def->ends[k]);
        ct_json_positive(ct_json_required(at, "radius"), &def->radius);
        break;
    }
    default:
        ct_read_keys(at, CT_OBJECT_OBSTACLE_BOX);
        ct_json_vector(ct_json_member(at, "center"), def->center);
        ct_json_vector(ct_json_required(at, "half"), def->half);
    }
}

static void read_kind(ct_json at, ct_obstacle_def* def) {
    int count = 0;
    for (int i = 0; ct_obstacle_kind_words[i]; i++) {
        if (!ct_json_has(at, ct_obstacle_kind_words[i])) continue;
        def->kind = (ct_obstacle_kind)i;
        count++;
    }
    if (count != 1)
        ct_json_fail(
            at, "has %d shapes: give exactly one of \"plane\", \"sphere\", \"capsule\", \"box\" and \"mesh\"",
            count);
    if (def->kind != CT_OBSTACLE_MESH && ct_json_has(at, "repair"))
        ct_json_fail(at, "has \"repair\" without a \"mesh\"");
}

// Errors of the shape belong to its object; the thickness has another name here.
static void relay(ct_json at, const ct_obstacle_def* def, ct_status status, const ct_error* inner) {
    static const char* const own[] = {"center", "normal", "radius", "ends", "half"};
    const char* rest = inner->message + strlen(inner->path);
    for (size_t i = 0; status && def->kind != CT_OBSTACLE_MESH && i < sizeof own / sizeof own[0]; i++)
        if (!strcmp(inner->path, own[i])) at = ct_json_member(at, ct_obstacle_kind_name(def->kind));
    if (status && !strcmp(inner->path, "contact_thickness"))
        ct_json_fail(ct_json_member(at, "thickness"), "%s", rest + strspn(rest, " "));
    ct_json_relay(at, status, inner);
}

void ct_read_obstacle(ct_scene* scene, ct_json at, const char* directory) {
    ct_obstacle_def def = ct_obstacle_def_default();
    ct_arena arena = {0};
    ct_motion motion = {0};
    ct_mesh* mesh = NULL;
    ct_error inner;
    ct_error_clear(&inner);
    if (!ct_read_keys(at, CT_OBJECT_OBSTACLE)) return;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    ct_json_text(ct_json_member(at, "group"), &def.group);
    ct_json_positive(ct_json_member(at, "scale"), &def.scale);
    ct_json_rotation(ct_json_member(at, "rotate"), def.rotate);
    ct_json_vector(ct_json_member(at, "translate"), def.translate);
    ct_json_at_least(ct_json_member(at, "thickness"), 0, &def.contact_thickness);
    ct_read_color(ct_json_member(at, "color"), def.color);
    ct_json_bool(ct_json_member(at, "hidden"), &def.hidden);
    ct_read_motion(ct_json_member(at, "motion"), &arena, &motion);
    def.motion = &motion;
    read_kind(at, &def);
    if (!at.reader->status && def.kind != CT_OBSTACLE_MESH)
        read_shape(ct_json_member(at, ct_obstacle_kind_name(def.kind)), &def);
    if (!at.reader->status && def.kind == CT_OBSTACLE_MESH)
        def.mesh = mesh = ct_read_obstacle_mesh(at, directory);
    if (!at.reader->status) relay(at, &def, ct_scene_add_obstacle(scene, &def, NULL, &inner), &inner);
    ct_mesh_free(mesh);
    ct_arena_free(&arena);
}
