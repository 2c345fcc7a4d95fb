// Compiling the links of a scene; see links.h.
#include "model/links.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "skeleton/point_masses.h"
#include "skeleton/rates.h"

static ct_status allocate(ct_tree* tree, ct_arena* arena, int nvert, int nnode) {
    size_t nlink = (size_t)tree->nlink, ndof = (size_t)tree->ndof;
    tree->name = ct_arena_alloc(arena, nlink, sizeof(char*));
    tree->parent = ct_arena_alloc(arena, nlink, sizeof(int));
    tree->joint = ct_arena_alloc(arena, nlink, sizeof(ct_joint_def));
    tree->type = ct_arena_alloc(arena, nlink, sizeof *tree->type);
    tree->dof = ct_arena_alloc(arena, nlink + 1, sizeof(int));
    tree->coordinate = ct_arena_alloc(arena, nlink + 1, sizeof(int));
    tree->dof_link = ct_arena_alloc(arena, ndof, sizeof(int));
    tree->scale = ct_arena_alloc(arena, ndof, sizeof(double));
    tree->point = ct_arena_alloc(arena, 3 * nlink, sizeof(double));
    tree->start = ct_arena_alloc(arena, nlink + 1, sizeof(int));
    tree->node = ct_arena_alloc(arena, (size_t)nnode, sizeof(int));
    tree->rotor_dof = ct_arena_alloc(arena, (size_t)tree->nrotor, sizeof(int));
    tree->node_link = ct_arena_alloc(arena, (size_t)nvert, sizeof(int));
    tree->root = ct_arena_alloc(arena, nlink, sizeof(int));
    tree->root_center = ct_arena_alloc(arena, 3 * (size_t)tree->nroot, sizeof(double));
    tree->own = ct_arena_alloc(arena, nlink, sizeof(int));
    tree->mass = ct_arena_alloc(arena, nlink, sizeof(double));
    tree->factored_mass = ct_arena_alloc(arena, nlink, sizeof(double));
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

// Centre of the link's nodes, or its anchor when it has none.
static void set_point(ct_tree* tree, int k, const double* rest) {
    int count = tree->start[k + 1] - tree->start[k];
    double* point = tree->point + 3 * k;
    memcpy(point, tree->joint[k].anchor, 3 * sizeof(double));
    if (!count) return;
    memset(point, 0, 3 * sizeof(double));
    for (int i = tree->start[k]; i < tree->start[k + 1]; i++)
        for (int a = 0; a < 3; a++) point[a] += rest[3 * tree->node[i] + a] / count;
}

// A rotation moves the link's farthest node by that much per radian.
static void set_scale(ct_tree* tree, int k, const double* rest) {
    const double* anchor = tree->joint[k].anchor;
    double reach = 0;
    for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
        const double* x = rest + 3 * tree->node[i];
        reach =
            fmax(reach, sqrt(pow(x[0] - anchor[0], 2) + pow(x[1] - anchor[1], 2) + pow(x[2] - anchor[2], 2)));
    }
    if (!(reach > 0)) reach = 1;
    for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
        tree->dof_link[j] = k;
        tree->scale[j] = j - tree->dof[k] < tree->type[k]->ntranslation ? 1 : reach;
    }
}

static void copy_motion(ct_arena* arena, const ct_scene_driver* from, ct_scene_driver* to, double center[3]) {
    *to = *from;
    to->key = ct_arena_copy(arena, from->key, (size_t)from->nkey, sizeof *from->key);
    memcpy(center, from->center, sizeof from->center);
}

static void list_rotors(ct_tree* tree, int first) {
    for (int k = 0, r = 0; k < tree->nlink; k++)
        for (int i = 0; i < ct_joint_rotors(&tree->joint[k]); i++, r++) {
            tree->rotor_dof[r] = tree->dof[k] + i;
            tree->node[tree->start[tree->nlink] + r] = first + r;
            tree->node_link[first + r] = k;
        }
}

ct_status ct_links_compile(ct_tree* tree, ct_arena* arena, const ct_scene* scene, int nvert,
                           int first_virtual, const double* rest, ct_scene_driver** motion) {
    int nnode = 0;
    tree->nlink = scene->nlink;
    tree->nvert = nvert;
    tree->rest = rest;
    for (int k = 0; k < scene->nlink; k++) {
        const ct_scene_link* link = &scene->link[k];
        tree->ndof += ct_joint_type_of(link->joint.kind)->ndof;
        tree->ncoordinate += ct_joint_type_of(link->joint.kind)->ncoordinate;
        nnode += link->nnode + (link->mass > 0 ? CT_MASS_POINTS : 0) + ct_joint_rotors(&link->joint);
        tree->nrotor += ct_joint_rotors(&link->joint);
        tree->nroot += link->driven;
    }
    tree->root_coordinate = tree->ncoordinate;
    tree->ncoordinate += 7 * tree->nroot;
    ct_status status = allocate(tree, arena, nvert, nnode);
    *motion = ct_arena_alloc(arena, (size_t)tree->nroot, sizeof **motion);
    if (!*motion) status = CT_OUT_OF_MEMORY;
    if (status != CT_OK) return status;
    for (int v = 0; v < nvert; v++) tree->node_link[v] = -1;
    int nroot = 0;
    for (int k = 0; k < scene->nlink; k++) {
        const ct_scene_link* link = &scene->link[k];
        tree->name[k] = ct_arena_copy(arena, link->name, strlen(link->name) + 1, 1);
        tree->parent[k] = link->parent;
        tree->joint[k] = link->joint;
        tree->type[k] = ct_joint_type_of(link->joint.kind);
        tree->dof[k + 1] = tree->dof[k] + tree->type[k]->ndof;
        tree->coordinate[k + 1] = tree->coordinate[k] + tree->type[k]->ncoordinate;
        tree->root[k] = link->driven ? nroot++ : -1;
        if (link->driven)
            copy_motion(arena, &link->motion, *motion + tree->root[k], tree->root_center + 3 * tree->root[k]);
        tree->mass[k] = link->mass;
        tree->own[k] = link->mass > 0 ? first_virtual : -1;
        int at = tree->start[k];
        for (int i = 0; i < link->nnode; i++) tree->node[at++] = link->node[i];
        for (int i = 0; link->mass > 0 && i < CT_MASS_POINTS; i++) tree->node[at++] = first_virtual++;
        tree->start[k + 1] = at;
        for (int i = tree->start[k]; i < at; i++) tree->node_link[tree->node[i]] = k;
        set_point(tree, k, rest);
        set_scale(tree, k, rest);
    }
    list_rotors(tree, first_virtual);
    if (scene->nlink) memcpy(tree->origin, tree->joint[0].anchor, sizeof tree->origin);
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

ct_status ct_links_check_inertia(const ct_tree* tree, const double* mass, ct_integrator integrator,
                                 ct_error* error) {
    ct_arena arena = {0};
    ct_rates rates;
    double* q = ct_arena_alloc(&arena, (size_t)tree->ncoordinate, sizeof(double));
    double* v = ct_arena_alloc(&arena, 3 * (size_t)tree->nvert, sizeof(double));
    ct_rates_create(&rates, &arena, tree);
    if (arena.failed) {
        ct_arena_free(&arena);
        return CT_OUT_OF_MEMORY;
    }
    memset(v, 0, 3 * (size_t)tree->nvert * sizeof(double));
    ct_config_rest(tree, q);
    ct_rates_project(tree, &rates, mass, q, v, rates.y);
    const int link = ct_rates_massless(tree, &rates);
    ct_arena_free(&arena);
    if (link < 0) return CT_OK;
    return ct_fail(
        error, CT_BAD_SCENE,
        "the integrator is \"%s\", which needs inertia for every joint, but what the joint of link "
        "\"%s\" moves has none about or along one of its axes: give the link a mass and inertia of its "
        "own, nodes that do not lie on a line, or an armature; or use \"bdf2\"",
        ct_integrator_name(integrator), tree->name[link]);
}
