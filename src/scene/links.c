// Links of a scene: rigid bodies with joints, their nodes and masses. Names and nodes live in the scene's
// arena.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/point3.h"
#include "scene/scene.h"
#include "scene/usable.h"
#include "skeleton/joint.h"
#include "skeleton/point_masses.h"

ct_joint_def ct_joint_def_default(void) {
    return (ct_joint_def){.kind = CT_JOINT_REVOLUTE,
                          .axis = {0, 0, 1},
                          .axis2 = {0, 1, 0},
                          .lower = -INFINITY,
                          .upper = INFINITY,
                          .lower2 = -INFINITY,
                          .upper2 = INFINITY};
}

ct_link_def ct_link_def_default(void) { return (ct_link_def){.parent = -1, .joint = ct_joint_def_default()}; }

int ct_scene_link_count(const ct_scene* scene) { return scene->nlink; }

int ct_scene_find_link(const ct_scene* scene, const char* name) {
    for (int k = 0; k < scene->nlink; k++)
        if (!strcmp(scene->link[k].name, name)) return k;
    return -1;
}

static ct_status check_number(double value, double least, const char* field, ct_error* error) {
    if (isfinite(value) && value >= least) return CT_OK;
    return ct_scene_fail(error, field, "is %g: it must be a finite number, at least %g", value, least);
}

// Initial values: `position` and `velocity` of one coordinate, `pose` and `rate` of several.
static ct_status check_start(const ct_joint_def* joint, const ct_joint_type* type, ct_error* error) {
    int count = type->ndof == 1 ? 0 : type->ndof;
    if (type->ndof != 1 && (joint->position || joint->velocity))
        return ct_scene_fail(error, "joint",
                             "has not one coordinate: its initial values are a pose and a rate");
    ct_status status = check_number(joint->position, -1e300, "joint.position", error);
    if (!status) status = check_number(joint->velocity, -1e300, "joint.velocity", error);
    for (int i = 0; i < count && !status; i++) {
        status = check_number(joint->pose[i], -1e300, "joint.position", error);
        if (!status) status = check_number(joint->rate[i], -1e300, "joint.velocity", error);
    }
    for (int i = count; i < 6 && !status; i++)
        if (joint->pose[i] != 0 || joint->rate[i] != 0)
            status = ct_scene_fail(error, "joint",
                                   "has more than %d numbers of a pose or a rate: universal joints have 2, "
                                   "balls 3, free joints 6, others none",
                                   count);
    return status;
}

static ct_status normalise_axis(double axis[3], const char* field, ct_error* error) {
    double length = length3_unit(axis);
    if (!isfinite(length) || length < 1e-12)
        return ct_scene_fail(error, field, "has no direction: give a vector of any length but zero");
    for (int a = 0; a < 3; a++) axis[a] /= length;
    return CT_OK;
}

static ct_status check_place(ct_joint_def* joint, const ct_joint_type* type, ct_error* error) {
    if (!is_usable3(joint->anchor))
        return ct_scene_fail(error, "joint.anchor", "is not finite or beyond 1e12 m");
    if (type->has_lead && (!isfinite(joint->lead) || joint->lead == 0))
        return ct_scene_fail(error, "joint.lead",
                             "is %g: it must be finite and not 0; a screw without one is revolute",
                             joint->lead);
    ct_status status = type->naxis > 0 ? normalise_axis(joint->axis, "joint.axis", error) : CT_OK;
    if (status || type->naxis < 2) return status;
    status = normalise_axis(joint->axis2, "joint.axis2", error);
    ct_vec3 across = ct_vec3_cross(ct_vec3_load(joint->axis), ct_vec3_load(joint->axis2));
    if (!status && !(ct_vec3_norm(across) > 1e-6))
        return ct_scene_fail(error, "joint.axis2", "is parallel to the first axis: both would turn alike");
    return status;
}

// One number of a joint with one coordinate, otherwise as many as it has rates.
static ct_status check_target(const ct_joint_def* joint, const ct_joint_type* type, ct_error* error) {
    int count = type->law && type->ndof > 1 ? type->ndof : 0;
    for (int a = 0; a < 3; a++)
        if (!isfinite(joint->pose_target[a]) || (a >= count && joint->pose_target[a] != 0))
            return ct_scene_fail(error, "joint.servo.target",
                                 "has %g as number %d: it must be finite, two numbers are for universal "
                                 "joints, three for balls",
                                 joint->pose_target[a], a);
    if (!isfinite(joint->target) || (type->ndof != 1 && joint->target != 0))
        return ct_scene_fail(error, "joint.servo.target",
                             "is %g: it must be finite, and one number is for joints with one coordinate",
                             joint->target);
    return CT_OK;
}

static ct_status check_limits(const ct_joint_def* joint, const ct_joint_type* type, ct_error* error) {
    if (type->law && type->spatial &&
        ((joint->lower != 0 && joint->lower != -INFINITY) || !(joint->upper > 0)))
        return ct_scene_fail(error, "joint.limits", "are %g and %g: a ball has 0 and its greatest angle",
                             joint->lower, joint->upper);
    if (!(joint->lower <= joint->upper))
        return ct_scene_fail(error, "joint.limits", "are %g and %g: the lower one comes first", joint->lower,
                             joint->upper);
    if (type->naxis > 1 && !(joint->lower2 <= joint->upper2))
        return ct_scene_fail(error, "joint.limits2", "are %g and %g: the lower one comes first",
                             joint->lower2, joint->upper2);
    return CT_OK;
}

static ct_status check_law(const ct_joint_def* joint, const ct_joint_type* type, ct_error* error) {
    if (!type->law && (joint->stiffness || joint->damping || joint->servo_stiffness || joint->servo_damping ||
                       joint->limit_stiffness))
        return ct_scene_fail(error, "joint",
                             "is fixed or free: springs, dampers, limits and servos are for joints that hold "
                             "their link in place");
    if (type->law && !type->has_rest && joint->rest)
        return ct_scene_fail(error, "joint.rest", "is %g: the spring of this joint pulls to its rest pose",
                             joint->rest);
    if (joint->armature && !ct_joint_has_rotors(type))
        return ct_scene_fail(error, "joint.armature",
                             "is %g: rotors are for revolute, prismatic, helical and universal joints",
                             joint->armature);
    ct_status status = check_number(joint->stiffness, 0, "joint.stiffness", error);
    if (!status) status = check_number(joint->armature, 0, "joint.armature", error);
    if (!status) status = check_number(joint->damping, 0, "joint.damping", error);
    if (!status) status = check_number(joint->limit_stiffness, 0, "joint.limit_stiffness", error);
    if (!status) status = check_number(joint->servo_stiffness, 0, "joint.servo.stiffness", error);
    if (!status) status = check_number(joint->servo_damping, 0, "joint.servo.damping", error);
    if (!status) status = check_limits(joint, type, error);
    return status ? status : check_target(joint, type, error);
}

static ct_status check_joint(ct_joint_def* joint, ct_error* error) {
    const ct_joint_type* type = ct_joint_type_of(joint->kind);
    if (!type) return ct_scene_fail(error, "joint.kind", "is %d: not one of ct_joint_kind", (int)joint->kind);
    ct_status status = check_place(joint, type, error);
    if (!status) status = check_law(joint, type, error);
    return status ? status : check_start(joint, type, error);
}

static ct_status check_mass(const ct_link_def* def, ct_error* error) {
    double points[3 * CT_MASS_POINTS];
    ct_status status = check_number(def->mass, 0, "mass", error);
    if (status || def->mass == 0) return status;
    if (!is_usable3(def->center)) return ct_scene_fail(error, "center", "is not finite or beyond 1e12 m");
    for (int i = 0; i < 6; i++)
        if (!isfinite(def->inertia[i])) return ct_scene_fail(error, "inertia", "is not finite");
    if (ct_point_masses(def->mass, def->center, def->inertia, points) != CT_OK)
        return ct_scene_fail(
            error, "inertia",
            "is not that of any body: each principal moment must be at most the sum of the other two");
    return CT_OK;
}

// A node sits on one link at most and is not driven.
static ct_status check_nodes(const ct_scene* scene, const int* node, int count, ct_error* error) {
    for (int k = 0; k < scene->nlink; k++)
        for (int i = 0; i < scene->link[k].nnode; i++)
            for (int j = 0; j < count; j++)
                if (node[j] == scene->link[k].node[i])
                    return ct_scene_fail(
                        error, "nodes", "contain node %d, which sits on the link \"%s\": a node has one link",
                        node[j], scene->link[k].name);
    for (int d = 0; d < scene->ndrive; d++)
        for (int i = 0; i < scene->drive[d].nnode; i++)
            for (int j = 0; j < count; j++)
                if (node[j] == scene->drive[d].node[i])
                    return ct_scene_fail(
                        error, "nodes",
                        "contain node %d, which is pinned or driven: it cannot be on a link too", node[j]);
    return CT_OK;
}

static ct_status add_link(ct_scene* scene, const ct_link_def* def, const ct_joint_def* joint, const int* node,
                          int nnode, ct_error* error) {
    char name[64];
    snprintf(name, sizeof name, "link%d", scene->nlink);
    const char* given = def->name && def->name[0] ? def->name : name;
    if (ct_scene_find_link(scene, given) >= 0)
        return ct_scene_fail(error, "name", "is \"%s\", the name of another link: give each its own", given);
    ct_scene_link link = {.parent = def->parent, .joint = *joint, .nnode = nnode, .mass = def->mass};
    memcpy(link.center, def->center, sizeof link.center);
    memcpy(link.inertia, def->inertia, sizeof link.inertia);
    if (def->motion) {
        const ct_motion* motion = def->motion;
        link.driven = true;
        link.motion =
            (ct_scene_driver){.nkey = motion->nkey, .smooth = motion->smooth, .repeat = motion->repeat};
        memcpy(link.motion.center, motion->center, sizeof motion->center);
        link.motion.key =
            ct_arena_copy(&scene->arena, motion->key, (size_t)motion->nkey, sizeof *motion->key);
        if (!link.motion.key) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    }
    link.name = ct_arena_copy(&scene->arena, given, strlen(given) + 1, 1);
    link.node = ct_arena_copy(&scene->arena, node, (size_t)nnode, sizeof *node);
    ct_scene_link* grown = ct_resize(scene->link, (size_t)scene->nlink + 1, sizeof link);
    if (grown) scene->link = grown;
    if (!grown || !link.name || !link.node) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    scene->link[scene->nlink++] = link;
    return CT_OK;
}

ct_status ct_scene_add_link(ct_scene* scene, const ct_link_def* def, int* link, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_joint_def joint = def->joint;
    if (def->parent < -1 || def->parent >= scene->nlink)
        return ct_scene_fail(error, "parent",
                             "is %d: it must be a link that was added before, or -1 for the world",
                             def->parent);
    if (def->motion && def->parent >= 0)
        return ct_scene_fail(error, "motion", "is for roots only: a link with a parent follows its parent");
    ct_status status = check_joint(&joint, error);
    if (!status && def->motion) status = ct_scene_check_motion(def->motion, error);
    if (!status) status = check_mass(def, error);
    int *sorted = NULL, count = 0;
    if (!status && def->count)
        status = ct_scene_sorted_nodes(scene, def->nodes, def->count, &sorted, &count, error);
    if (!status) status = check_nodes(scene, sorted, count, error);
    if (!status) status = add_link(scene, def, &joint, sorted, count, error);
    ct_free(sorted);
    if (!status && link) *link = scene->nlink - 1;
    return status;
}
