// Reads a skeleton: links one by one, or a robot file (MJCF, URDF) with nodes for its links.
//
// A link whose name another skeleton has taken gets the name "skeleton.link". "parent" names a link of the
// same skeleton by its own name, or one of an earlier skeleton.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "read/read.h"
#include "read/robot.h"
#include "skeleton/joint.h"

enum { NAME_BYTES = 200 };

// -------------------------------------------------------------------------------------------------
// Joints

static void refuse_keys(ct_json at, const char* type, const char* const* keys) {
    for (; *keys; keys++)
        if (ct_json_has(at, *keys))
            ct_json_fail(ct_json_member(at, *keys),
                         "has no meaning for a joint of the type \"%s\": remove it", type);
}

// One number, or as many as the joint has rates.
static void read_values(ct_json at, const ct_joint_type* type, double* single, double* several) {
    if (type->ndof == 1) ct_json_number(at, single);
    else ct_json_numbers(at, several, (size_t)type->ndof);
}

static void read_servo(ct_json at, const ct_joint_type* type, ct_joint_def* joint) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_SERVO)) return;
    ct_json_at_least(ct_json_required(at, "stiffness"), 0, &joint->servo_stiffness);
    ct_json_at_least(ct_json_member(at, "damping"), 0, &joint->servo_damping);
    read_values(ct_json_member(at, "target"), type, &joint->target, joint->pose_target);
}

// Lower and upper; null: none.
static void read_range(ct_json at, double* lower, double* upper) {
    double* const ends[] = {lower, upper};
    if (ct_json_length(at) != 2) ct_json_fail(at, "must be two numbers, the lower limit and the upper one");
    for (size_t i = 0; i < 2 && !at.reader->status; i++) {
        ct_json end = ct_json_item(at, i);
        if (end.value && !json_is_null(end.value)) ct_json_number(end, ends[i]);
    }
}

static void read_limits(ct_json at, ct_joint_def* joint) {
    ct_json limits = ct_json_member(at, "limits");
    if (!limits.value) {
        if (ct_json_has(at, "limits2"))
            ct_json_fail(ct_json_member(at, "limits2"),
                         "is given without \"limits\", those of the first angle");
        if (ct_json_has(at, "limit_stiffness"))
            ct_json_fail(ct_json_member(at, "limit_stiffness"), "is given without \"limits\"");
        return;
    }
    read_range(limits, &joint->lower, &joint->upper);
    ct_json_at_least(ct_json_required(at, "limit_stiffness"), 0, &joint->limit_stiffness);
    ct_json second = ct_json_member(at, "limits2");
    if (second.value) read_range(second, &joint->lower2, &joint->upper2);
}

static void read_joint(ct_json at, ct_joint_def* joint) {
    static const char* const axial[] = {"axis", NULL};
    static const char* const second[] = {"axis2", "limits2", NULL};
    static const char* const screw[] = {"lead", NULL};
    static const char* const rest[] = {"rest", NULL};
    static const char* const springs[] = {"stiffness", "damping", "limits", "limit_stiffness", "servo", NULL};
    static const char* const rotor[] = {"armature", NULL};
    static const char* const start[] = {"position", "velocity", NULL};
    int kind = 0;
    if (!ct_read_keys(at, CT_OBJECT_JOINT)) return;
    const char* const* words = ct_scene_choices[CT_CHOICE_JOINT].words;
    ct_json_choice(ct_json_required(at, "type"), words, &kind);
    joint->kind = (ct_joint_kind)kind;
    const ct_joint_type* type = ct_joint_type_of(joint->kind);
    if (!type->naxis) refuse_keys(at, words[kind], axial);
    if (type->naxis < 2) refuse_keys(at, words[kind], second);
    if (!type->has_lead) refuse_keys(at, words[kind], screw);
    if (!type->has_rest) refuse_keys(at, words[kind], rest);
    if (!type->law) refuse_keys(at, words[kind], springs);
    if (type->spatial || !type->ndof) refuse_keys(at, words[kind], rotor);
    if (!type->ndof) refuse_keys(at, words[kind], start);
    ct_json_vector(ct_json_member(at, "anchor"), joint->anchor);
    ct_json_vector(ct_json_member(at, "axis"), joint->axis);
    ct_json_vector(ct_json_member(at, "axis2"), joint->axis2);
    if (type->has_lead) ct_json_number(ct_json_required(at, "lead"), &joint->lead);
    read_values(ct_json_member(at, "position"), type, &joint->position, joint->pose);
    read_values(ct_json_member(at, "velocity"), type, &joint->velocity, joint->rate);
    ct_json_at_least(ct_json_member(at, "stiffness"), 0, &joint->stiffness);
    ct_json_number(ct_json_member(at, "rest"), &joint->rest);
    ct_json_at_least(ct_json_member(at, "damping"), 0, &joint->damping);
    ct_json_at_least(ct_json_member(at, "armature"), 0, &joint->armature);
    read_limits(at, joint);
    read_servo(ct_json_member(at, "servo"), type, joint);
}

// -------------------------------------------------------------------------------------------------
// Mass

// Mass, centre and inertia of a closed surface or of tets, as the file places them.
static void read_mesh_mass(ct_json link, const char* directory, ct_link_def* def) {
    ct_json at = ct_json_member(link, "mesh");
    const char* name = NULL;
    double density = 0;
    ct_json_text(at, &name);
    ct_json_positive(ct_json_required(link, "density"), &density);
    if (link.reader->status) return;
    char* path = ct_json_file_path(directory, name);
    ct_mesh* mesh = NULL;
    ct_error inner;
    ct_error_clear(&inner);
    if (!path) ct_json_out_of_memory(at);
    else ct_json_relay(at, ct_mesh_load(&mesh, path, CT_MESH_AUTO, &inner), &inner);
    if (mesh)
        ct_json_relay(at, ct_mesh_mass(mesh, density, &def->mass, def->center, def->inertia, &inner), &inner);
    ct_mesh_free(mesh);
    ct_free(path);
}

static void read_mass(ct_json at, const char* directory, ct_link_def* def) {
    static const char* const own[] = {"mass", "center", "inertia"};
    bool mesh = ct_json_has(at, "mesh"), mass = ct_json_has(at, "mass");
    for (int i = 0; i < 3; i++) {
        if (mesh && ct_json_has(at, own[i]))
            ct_json_fail(ct_json_member(at, own[i]), "comes from the \"mesh\": keep one of the two");
        if (!mesh && !mass && ct_json_has(at, own[i]))
            ct_json_fail(ct_json_member(at, own[i]), "is given without \"mass\"");
    }
    if (!mesh && ct_json_has(at, "density"))
        ct_json_fail(ct_json_member(at, "density"), "is given without \"mesh\"");
    if (mesh) read_mesh_mass(at, directory, def);
    if (!mass) return;
    ct_json_positive(ct_json_member(at, "mass"), &def->mass);
    ct_json_vector(ct_json_required(at, "center"), def->center);
    ct_json inertia = ct_json_member(at, "inertia");
    if (inertia.value) ct_json_numbers(inertia, def->inertia, ct_json_length(inertia) == 6 ? 6 : 3);
}

// -------------------------------------------------------------------------------------------------
// Links

typedef struct skeleton {
    const char* name;  // NULL: none
    int first;         // its first link in the scene
} skeleton;

// The skeleton's own link of that name, or one of an earlier skeleton; -1: none.
static int find_link(const ct_scene* scene, const skeleton* s, const char* name) {
    char full[NAME_BYTES];
    snprintf(full, sizeof full, "%s.%s", s->name ? s->name : "", name);
    for (int k = s->first; k < scene->nlink; k++)
        if (!strcmp(scene->link[k].name, name) || (s->name && !strcmp(scene->link[k].name, full))) return k;
    return ct_scene_find_link(scene, name);
}

static void read_parent(const ct_scene* scene, const skeleton* s, ct_json at, int* parent) {
    const char* name = NULL;
    if (!at.value || json_is_null(at.value)) return;
    ct_json_text(at, &name);
    if (at.reader->status) return;
    *parent = find_link(scene, s, name);
    if (*parent < 0)
        ct_json_fail(at, "is \"%.60s\", which is not a link before this one: list parents first", name);
}

// The name in the scene: its own, or "skeleton.link" when an earlier skeleton has it.
static void read_name(const ct_scene* scene, const skeleton* s, ct_json at, char buffer[NAME_BYTES],
                      const char** name) {
    ct_json_text(at, name);
    if (at.reader->status || !*name) return;
    if (strlen(*name) > 80) ct_json_fail(at, "is longer than 80 bytes");
    int taken = ct_scene_find_link(scene, *name);
    if (taken < 0 || taken >= s->first || at.reader->status) return;
    if (!s->name) {
        ct_json_fail(at,
                     "is \"%.60s\", a link of another skeleton: give this skeleton a name, and the link "
                     "becomes \"skeleton.link\"",
                     *name);
        return;
    }
    snprintf(buffer, NAME_BYTES, "%.80s.%s", s->name, *name);
    *name = buffer;
}

static void read_link(ct_scene* scene, const skeleton* s, ct_json at, const char* directory) {
    ct_link_def def = ct_link_def_default();
    ct_arena arena = {0};
    ct_motion motion = {0};
    ct_error inner;
    char name[NAME_BYTES];
    int *nodes = NULL, count = 0;
    if (!ct_read_keys(at, CT_OBJECT_LINK)) return;
    read_name(scene, s, ct_json_member(at, "name"), name, &def.name);
    read_parent(scene, s, ct_json_member(at, "parent"), &def.parent);
    read_joint(ct_json_required(at, "joint"), &def.joint);
    read_mass(at, directory, &def);
    ct_json moving = ct_json_member(at, "motion"), where = ct_json_member(at, "nodes");
    ct_read_motion(moving, &arena, &motion);
    if (moving.value) def.motion = &motion;
    if (where.value) ct_read_selection(scene, where, &nodes, &count);
    def.nodes = nodes;
    def.count = count;
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_link(scene, &def, NULL, &inner), &inner);
    ct_free(nodes);
    ct_arena_free(&arena);
}

// -------------------------------------------------------------------------------------------------
// Files

// {"name": a link of the file, "nodes": selector}; the nodes live in the robot's arena.
static void read_attachment(const ct_scene* scene, ct_robot* robot, ct_json at) {
    static const char* const keys[] = {"name", "nodes", NULL};
    const char* name = "";
    int *nodes = NULL, count = 0;
    if (!ct_json_keys(at, keys)) return;
    ct_json place = ct_json_required(at, "name");
    ct_json_text(place, &name);
    int link = ct_robot_find_link(robot, name);
    if (link < 0) ct_json_fail(place, "is \"%.60s\", which is not a link of the file", name);
    else if (robot->link[link].count) ct_json_fail(place, "is \"%.60s\", which has its nodes already", name);
    ct_read_selection(scene, ct_json_required(at, "nodes"), &nodes, &count);
    if (!at.reader->status) {
        robot->link[link].nodes = ct_arena_copy(&robot->arena, nodes, (size_t)count, sizeof *nodes);
        robot->link[link].count = count;
        if (!robot->link[link].nodes) ct_json_out_of_memory(at);
    }
    ct_free(nodes);
}

static void read_file(ct_scene* scene, const skeleton* s, ct_json at, const char* directory) {
    double translate[3] = {0}, rotate[4] = {1, 0, 0, 0}, scale = 1;
    const char* name = NULL;
    ct_json file = ct_json_member(at, "file"), links = ct_json_member(at, "links");
    ct_json_text(file, &name);
    ct_json_vector(ct_json_member(at, "translate"), translate);
    ct_json_rotation(ct_json_member(at, "rotate"), rotate);
    ct_json_positive(ct_json_member(at, "scale"), &scale);
    if (at.reader->status) return;
    char* path = ct_json_file_path(directory, name);
    ct_robot robot = {0};
    ct_error inner;
    if (!path) ct_json_out_of_memory(at);
    else ct_json_relay(file, ct_robot_load(&robot, path, &inner), &inner);
    if (!at.reader->status) ct_robot_place(&robot, translate, rotate, scale);
    size_t count = links.value && !at.reader->status ? ct_json_length(links) : 0;
    for (size_t i = 0; i < count && !at.reader->status; i++)
        read_attachment(scene, &robot, ct_json_item(links, i));
    if (!at.reader->status) {
        ct_status status = ct_robot_add(scene, &robot, s->name, &inner);
        if (status) inner.path[0] = 0;  // of the link, not of the scene
        ct_json_relay(file, status, &inner);
    }
    ct_robot_free(&robot);
    ct_free(path);
}

void ct_read_skeleton(ct_scene* scene, ct_json at, const char* directory) {
    static const char* const placing[] = {"translate", "rotate", "scale"};
    skeleton s = {.first = scene->nlink};
    if (!ct_read_keys(at, CT_OBJECT_SKELETON)) return;
    ct_json_text(ct_json_member(at, "name"), &s.name);
    if (s.name && strlen(s.name) > 80) ct_json_fail(ct_json_member(at, "name"), "is longer than 80 bytes");
    if (ct_json_has(at, "file")) {
        read_file(scene, &s, at, directory);
        return;
    }
    for (int i = 0; i < 3; i++)
        if (ct_json_has(at, placing[i]))
            ct_json_fail(ct_json_member(at, placing[i]), "is for a \"file\": links are given where they are");
    if (!ct_json_has(at, "links")) ct_json_fail(at, "needs \"links\" or a \"file\"");
    ct_json links = ct_json_member(at, "links");
    size_t count = ct_json_length(links);
    for (size_t i = 0; i < count && !at.reader->status; i++)
        read_link(scene, &s, ct_json_item(links, i), directory);
}

int ct_read_link_reference(const ct_scene* scene, ct_json at) {
    const char* name = "";
    ct_json_text(at, &name);
    int link = ct_scene_find_link(scene, name);
    if (link < 0 && scene->nlink)
        ct_json_fail(at, "is \"%.60s\", which is not a link; the first one is \"%.60s\"", name,
                     scene->link[0].name);
    else if (link < 0) ct_json_fail(at, "is \"%.60s\", but the scene has no skeleton", name);
    return link;
}
