// Skeletons as JSON: all links in one, parents before their children as in the scene.
#include <math.h>
#include <string.h>

#include "skeleton/joint.h"
#include "write/write.h"

static void write_values(ct_json_put* out, const char* key, int ndof, double single, const double* several) {
    bool any = false;
    for (int i = 0; i < ndof; i++) any = any || (ndof == 1 ? single : several[i]) != 0;
    if (!any) return;
    if (ndof == 1) ct_put_number(out, key, single);
    else ct_put_numbers(out, key, several, (size_t)ndof);
}

static void write_range(ct_json_put* out, const char* key, double lower, double upper) {
    ct_put_array(out, key);
    if (lower == -INFINITY) ct_put_null(out, NULL);
    else ct_put_number(out, NULL, lower);
    if (upper == INFINITY) ct_put_null(out, NULL);
    else ct_put_number(out, NULL, upper);
    ct_put_end(out);
}

static void write_limits(ct_json_put* out, const ct_joint_def* j) {
    const bool first = isfinite(j->lower) || isfinite(j->upper),
               second = isfinite(j->lower2) || isfinite(j->upper2);
    if (!first && !second && j->limit_stiffness == 0) return;
    write_range(out, "limits", j->lower, j->upper);
    if (second) write_range(out, "limits2", j->lower2, j->upper2);
    ct_put_number(out, "limit_stiffness", j->limit_stiffness);
}

static void write_joint(ct_json_put* out, const ct_joint_def* j) {
    const ct_joint_type* type = ct_joint_type_of(j->kind);
    ct_put_object(out, "joint");
    ct_put_text(out, "type", ct_joint_kind_name(j->kind));
    ct_write_vector(out, "anchor", j->anchor);
    if (type->naxis > 0) ct_put_numbers(out, "axis", j->axis, 3);
    if (type->naxis > 1) ct_put_numbers(out, "axis2", j->axis2, 3);
    if (type->has_lead) ct_put_number(out, "lead", j->lead);
    write_values(out, "position", type->ndof, j->position, j->pose);
    write_values(out, "velocity", type->ndof, j->velocity, j->rate);
    ct_write_unless(out, "stiffness", j->stiffness, 0);
    if (type->has_rest) ct_write_unless(out, "rest", j->rest, 0);
    ct_write_unless(out, "damping", j->damping, 0);
    ct_write_unless(out, "armature", j->armature, 0);
    if (type->law) {
        write_limits(out, j);
        bool servo = j->servo_stiffness != 0 || j->servo_damping != 0 || j->target != 0 ||
                     !ct_write_is_zero(j->pose_target);
        if (servo) ct_put_object(out, "servo");
        if (servo) ct_put_number(out, "stiffness", j->servo_stiffness);
        if (servo) ct_put_number(out, "damping", j->servo_damping);
        if (servo) write_values(out, "target", type->ndof, j->target, j->pose_target);
        if (servo) ct_put_end(out);
    }
    ct_put_end(out);
}

// A root whose frame a control drives about its anchor says so by the control.
static bool is_driven_by_control(const ct_scene* scene, int k) {
    const ct_scene_link* link = &scene->link[k];
    if (link->motion.nkey || memcmp(link->motion.center, link->joint.anchor, sizeof link->motion.center))
        return false;
    for (int i = 0; i < scene->ncontrol; i++) {
        const ct_scene_control* control = &scene->control[i];
        bool moves = control->kind == CT_CONTROL_DRIVE || control->kind == CT_CONTROL_MOVE;
        if (moves && control->link == k) return true;
    }
    return false;
}

static void write_link_motion(ct_json_put* out, const ct_scene* scene, int k) {
    const ct_scene_link* link = &scene->link[k];
    if (!link->driven || is_driven_by_control(scene, k)) return;
    if (link->motion.nkey) {
        ct_write_motion(out, &link->motion);
        return;
    }
    ct_put_object(out, "motion");
    ct_put_array(out, "keys");
    ct_put_end(out);
    ct_write_vector(out, "center", link->motion.center);
    ct_put_end(out);
}

static void write_link(ct_json_put* out, const ct_scene* scene, int k) {
    const ct_scene_link* link = &scene->link[k];
    ct_put_object(out, NULL);
    ct_put_text(out, "name", link->name);
    if (link->parent >= 0) ct_put_text(out, "parent", scene->link[link->parent].name);
    write_joint(out, &link->joint);
    if (link->nnode) ct_write_nodes(out, "nodes", scene, link->node, link->nnode);
    if (link->mass > 0) {
        ct_put_number(out, "mass", link->mass);
        ct_put_numbers(out, "center", link->center, 3);
        ct_put_numbers(out, "inertia", link->inertia, 6);
    }
    write_link_motion(out, scene, k);
    ct_put_end(out);
}

void ct_write_links(ct_json_put* out, const ct_scene* scene) {
    if (!scene->nlink) return;
    ct_put_array(out, "skeletons");
    ct_put_object(out, NULL);
    ct_put_array(out, "links");
    for (int k = 0; k < scene->nlink; k++) write_link(out, scene, k);
    ct_put_end(out);
    ct_put_end(out);
    ct_put_end(out);
}
