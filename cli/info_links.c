// cuttle info: links and their joints.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "info.h"

// What moves the joint by itself: springs, dampers, limits, servos.
static void joint_details(json_t* object, const ct_joint_def* joint) {
    if (joint->lead) json_object_set_new(object, "lead", json_real(joint->lead));
    if (joint->stiffness) json_object_set_new(object, "stiffness", json_real(joint->stiffness));
    if (joint->stiffness) json_object_set_new(object, "rest", json_real(joint->rest));
    if (joint->damping) json_object_set_new(object, "damping", json_real(joint->damping));
    if (joint->armature) json_object_set_new(object, "armature", json_real(joint->armature));
    if (isfinite(joint->lower)) json_object_set_new(object, "lower", json_real(joint->lower));
    if (isfinite(joint->upper)) json_object_set_new(object, "upper", json_real(joint->upper));
    if (isfinite(joint->lower2)) json_object_set_new(object, "lower2", json_real(joint->lower2));
    if (isfinite(joint->upper2)) json_object_set_new(object, "upper2", json_real(joint->upper2));
    if (joint->servo_stiffness)
        json_object_set_new(object, "servo_stiffness", json_real(joint->servo_stiffness));
    if (joint->servo_damping) json_object_set_new(object, "servo_damping", json_real(joint->servo_damping));
}

// How many nodes of flesh sit on the link. Those of a mass of its own come behind all nodes of elements.
static int flesh_count(const ct_link_info* link, int flesh_nodes) {
    int count = 0;
    for (int i = 0; i < link->count; i++) count += link->nodes[i] < flesh_nodes;
    return count;
}

// One more than the largest of `count` nodes, or `least`.
static int count_nodes(const int* node, int count, int least) {
    for (int i = 0; i < count; i++)
        if (node[i] >= least) least = node[i] + 1;
    return least;
}

int info_flesh_nodes(const int* tets, const int* middles, int ntet, const int* tris, int ntri) {
    const int corners = count_nodes(tris, 3 * ntri, count_nodes(tets, 4 * ntet, 0));
    return middles ? count_nodes(middles, 6 * ntet, corners) : corners;
}

int info_count_second(const int* middles, int ntet) {
    int count = 0;
    for (int t = 0; middles && t < ntet; t++) count += middles[6 * t] >= 0;
    return count;
}

void info_print_tets(int ntet, int second) {
    if (second && second < ntet) printf("%d tets (%d of second order)", ntet, second);
    else printf("%d tets%s", ntet, second ? " of second order" : "");
}

// joint: NULL where it is not known.
static json_t* link_object(const ct_link_info* links, int k, const ct_joint_def* joint, int flesh) {
    const ct_link_info* link = &links[k];
    int nodes = flesh_count(link, flesh);
    json_t* object =
        json_pack("{s:s, s:s, s:o, s:i, s:i, s:b}", "name", link->name, "joint",
                  ct_joint_kind_name(link->joint), "anchor", info_vector(link->anchor), "coordinates",
                  link->ncoordinate, "nodes", nodes, "own_mass", link->count > nodes);
    json_object_set_new(object, "parent",
                        link->parent >= 0 ? json_string(links[link->parent].name) : json_null());
    if (link->naxis) json_object_set_new(object, "axis", info_vector(link->axis));
    if (link->naxis > 1) json_object_set_new(object, "axis2", info_vector(link->axis2));
    if (joint) joint_details(object, joint);
    return object;
}

static void print_link(const ct_link_info* links, int k, const ct_joint_def* joint, int flesh) {
    const ct_link_info* link = &links[k];
    printf("    %s: %s to %s", link->name, ct_joint_kind_name(link->joint),
           link->parent >= 0 ? links[link->parent].name : "the world");
    if (link->ncoordinate) printf(" at %.4g %.4g %.4g", link->anchor[0], link->anchor[1], link->anchor[2]);
    if (link->naxis) printf(", axis %.3g %.3g %.3g", link->axis[0], link->axis[1], link->axis[2]);
    if (link->naxis > 1) printf(" and %.3g %.3g %.3g", link->axis2[0], link->axis2[1], link->axis2[2]);
    if (joint && joint->lead) printf(", lead %g m", joint->lead);
    int nodes = flesh_count(link, flesh);
    if (nodes) printf(", %d nodes", nodes);
    if (link->count > nodes) printf(", own mass");
    if (joint && joint->stiffness) printf(", spring %g about %g", joint->stiffness, joint->rest);
    if (joint && joint->damping) printf(", damping %g", joint->damping);
    if (joint && joint->armature) printf(", armature %g", joint->armature);
    if (joint && (isfinite(joint->lower) || isfinite(joint->upper)))
        printf(", limits %g..%g", joint->lower, joint->upper);
    if (joint && (isfinite(joint->lower2) || isfinite(joint->upper2)))
        printf(" and %g..%g", joint->lower2, joint->upper2);
    if (joint && joint->servo_stiffness) printf(", servo %g", joint->servo_stiffness);
    printf("\n");
}

json_t* info_links(const ct_link_info* links, int count, const ct_model* model, int flesh, bool json) {
    json_t* array = json_array();
    int coordinates = 0;
    for (int k = 0; k < count; k++) coordinates += links[k].ncoordinate;
    if (!json && count)
        printf("  %d link%s, %d joint coordinate%s\n", count, count == 1 ? "" : "s", coordinates,
               coordinates == 1 ? "" : "s");
    for (int k = 0; k < count; k++) {
        ct_joint_def joint;
        if (model) joint = ct_model_joint(model, k);
        if (json) json_array_append_new(array, link_object(links, k, model ? &joint : NULL, flesh));
        else if (k < LISTED || k == count - 1) print_link(links, k, model ? &joint : NULL, flesh);
        else if (k == LISTED) printf("    ... (--json lists all)\n");
    }
    return array;
}

json_t* info_model_links(const ct_model* model, bool json) {
    int count = ct_model_link_count(model);
    ct_link_info* links = calloc((size_t)count + 1, sizeof *links);
    for (int k = 0; links && k < count; k++) links[k] = ct_model_link_info(model, k);
    ct_model_info info = ct_model_summary(model);
    const int flesh = info_flesh_nodes(ct_model_tets(model), ct_model_tet_middles(model), info.ntet,
                                       ct_model_tris(model), info.ntri);
    json_t* array = info_links(links, links ? count : 0, model, flesh, json);
    free(links);
    return array;
}
