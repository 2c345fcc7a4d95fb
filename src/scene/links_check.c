// Whether every joint of a complete scene has something to move: a joint without inertia would leave the
// system singular.
//
// What hangs on a joint is weighed at rest, its own masses as they are and flesh as one point of unit mass a
// node: only whether the sums are zero matters. A turn about an axis needs mass off that axis, a ball or a
// free joint mass away from its anchor.
#include <math.h>

#include "base/status.h"
#include "scene/scene.h"
#include "skeleton/joint.h"

typedef struct carried {
    double mass;                        // on and below the link
    double moment[CT_JOINT_LAW_WIDTH];  // as each rate moves it; a spatial joint: the first, about its anchor
} carried;

// What a unit of rate i gives to the rest pose: turns about the anchor with omega, and moves it with v.
static void rest_twist(const ct_joint_def* joint, int i, ct_vec3* omega, ct_vec3* v) {
    static const double zero[CT_JOINT_LAW_WIDTH];
    ct_joint_seat seat = {.R = ct_mat3_identity(), .origin = ct_vec3_load(joint->anchor)};
    ct_joint_type_of(joint->kind)->twist(joint, zero, &seat, i, omega, v);
}

static double square_speed(const ct_joint_def* joint, int i, ct_vec3 x) {
    ct_vec3 omega, v, d = ct_vec3_sub(x, ct_vec3_load(joint->anchor));
    if (ct_joint_type_of(joint->kind)->spatial) return ct_vec3_dot(d, d);
    rest_twist(joint, i, &omega, &v);
    d = ct_vec3_add(ct_vec3_cross(omega, d), v);
    return ct_vec3_dot(d, d);
}

static double own_moment(const ct_joint_def* joint, int i, const double* J) {
    ct_vec3 omega, v;
    if (ct_joint_type_of(joint->kind)->spatial) return J[0] + J[1] + J[2];
    rest_twist(joint, i, &omega, &v);
    ct_vec3 spin = {J[0] * omega.x + J[3] * omega.y + J[4] * omega.z,
                    J[3] * omega.x + J[1] * omega.y + J[5] * omega.z,
                    J[4] * omega.x + J[5] * omega.y + J[2] * omega.z};
    return ct_vec3_dot(omega, spin);
}

// How many moments are weighed.
static int moment_count(const ct_joint_def* joint) {
    const ct_joint_type* type = ct_joint_type_of(joint->kind);
    return type->spatial ? 1 : type->ndof;
}

static void add_link(const ct_scene* scene, const ct_joint_def* joint, const ct_scene_link* link,
                     carried* sum) {
    sum->mass += link->mass + link->nnode;
    for (int i = 0; i < moment_count(joint); i++) {
        if (link->mass > 0)
            sum->moment[i] += own_moment(joint, i, link->inertia) +
                              link->mass * square_speed(joint, i, ct_vec3_load(link->center));
        for (int n = 0; n < link->nnode; n++) {
            const ct_scene_body* body = &scene->body[ct_scene_node_body(scene, link->node[n])];
            const double* x = body->mesh->x + 3 * (size_t)(link->node[n] - body->first_node);
            sum->moment[i] += square_speed(joint, i, ct_vec3_load(x));
        }
    }
}

static bool hangs_on(const ct_scene* scene, int link, int k) {
    while (link > k) link = scene->link[link].parent;
    return link == k;
}

static ct_status check_link(const ct_scene* scene, int k, ct_error* error) {
    const ct_joint_def* joint = &scene->link[k].joint;
    carried sum = {0};
    if (!ct_joint_type_of(joint->kind)->ndof) return CT_OK;
    for (int j = k; j < scene->nlink; j++)
        if (hangs_on(scene, j, k)) add_link(scene, joint, &scene->link[j], &sum);
    if (error) error->element = k;
    if (!(sum.mass > 0))
        return ct_scene_fail(
            error, "skeletons",
            "have a link \"%.60s\" whose joint moves nothing: give it, or a link below it, a mass or nodes, "
            "or make its joint fixed",
            scene->link[k].name);
    for (int i = 0; i < ct_joint_rotors(joint); i++) sum.moment[i] += joint->armature;
    bool held = joint->stiffness > 0 || joint->damping > 0 || joint->servo_stiffness > 0;
    const char* center = ct_joint_type_of(joint->kind)->naxis ? "axis" : "anchor";
    for (int i = 0; i < moment_count(joint); i++)
        if (!(sum.moment[i] > 0) && !held)
            return ct_scene_fail(error, "skeletons",
                                 "have a link \"%.60s\" whose joint turns without inertia: everything below "
                                 "it is a point on its "
                                 "%s; give it an inertia, or move the %s",
                                 scene->link[k].name, center, center);
    if (error) error->element = -1;
    return CT_OK;
}

ct_status ct_scene_check_links(const ct_scene* scene, ct_error* error) {
    ct_status status = CT_OK;
    for (int k = 0; k < scene->nlink && !status; k++) status = check_link(scene, k, error);
    return status;
}
