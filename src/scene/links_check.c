// Whether every joint of a complete scene has something to move: a joint without inertia would leave the
// system singular.
//
// What hangs on a joint is weighed at rest, its own masses as they are and flesh as one point of unit mass a
// node: only whether the sums are zero matters. A turn about an axis needs mass off that axis, a ball or a
// free joint mass away from its anchor.
#include <math.h>

#include "base/status.h"
#include "math/vec3.h"
#include "scene/scene.h"

typedef struct carried {
    double mass;    // on and below the link
    double moment;  // about the joint's axis, or its anchor
} carried;

static double square_distance(const ct_joint_def* joint, ct_vec3 x) {
    ct_vec3 d = ct_vec3_sub(x, ct_vec3_load(joint->anchor));
    if (joint->kind == CT_JOINT_REVOLUTE) d = ct_vec3_cross(ct_vec3_load(joint->axis), d);
    return ct_vec3_dot(d, d);
}

static void add_link(const ct_scene* scene, const ct_joint_def* joint, const ct_scene_link* link,
                     carried* sum) {
    const double *J = link->inertia, *a = joint->axis;
    double own = joint->kind == CT_JOINT_REVOLUTE ? a[0] * (J[0] * a[0] + J[3] * a[1] + J[4] * a[2]) +
                                                        a[1] * (J[3] * a[0] + J[1] * a[1] + J[5] * a[2]) +
                                                        a[2] * (J[4] * a[0] + J[5] * a[1] + J[2] * a[2])
                                                  : J[0] + J[1] + J[2];
    if (link->mass > 0) sum->moment += own + link->mass * square_distance(joint, ct_vec3_load(link->center));
    sum->mass += link->mass + link->nnode;
    for (int i = 0; i < link->nnode; i++) {
        const ct_scene_body* body = &scene->body[ct_scene_node_body(scene, link->node[i])];
        sum->moment += square_distance(
            joint, ct_vec3_load(body->mesh->x + 3 * (size_t)(link->node[i] - body->first_node)));
    }
}

static bool hangs_on(const ct_scene* scene, int link, int k) {
    while (link > k) link = scene->link[link].parent;
    return link == k;
}

static ct_status check_link(const ct_scene* scene, int k, ct_error* error) {
    const ct_joint_def* joint = &scene->link[k].joint;
    carried sum = {0};
    if (joint->kind == CT_JOINT_FIXED) return CT_OK;
    for (int j = k; j < scene->nlink; j++)
        if (hangs_on(scene, j, k)) add_link(scene, joint, &scene->link[j], &sum);
    if (error) error->element = k;
    if (!(sum.mass > 0))
        return ct_scene_fail(
            error, "skeletons",
            "have a link \"%.60s\" whose joint moves nothing: give it, or a link that hangs on it, "
            "a mass or nodes, or make its joint fixed",
            scene->link[k].name);
    bool held = joint->stiffness > 0 || joint->damping > 0 || joint->servo_stiffness > 0;
    if (joint->kind != CT_JOINT_PRISMATIC && !(sum.moment > 0) && !held)
        return ct_scene_fail(
            error, "skeletons",
            "have a link \"%.60s\" whose joint turns without inertia: all that hangs on it is a point on "
            "its %s; give it an inertia, or move the %s",
            scene->link[k].name, joint->kind == CT_JOINT_REVOLUTE ? "axis" : "anchor",
            joint->kind == CT_JOINT_REVOLUTE ? "axis" : "anchor");
    if (error) error->element = -1;
    return CT_OK;
}

ct_status ct_scene_check_links(const ct_scene* scene, ct_error* error) {
    ct_status status = CT_OK;
    for (int k = 0; k < scene->nlink && !status; k++) status = check_link(scene, k, error);
    return status;
}
