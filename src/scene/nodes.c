// Nodes of a scene: how many, whose, and sets of them. They count through the bodies, then the links with a
// mass of their own, then rotors, then the obstacles.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "scene/scene.h"
#include "skeleton/joint.h"
#include "skeleton/point_masses.h"

int ct_scene_node_count(const ct_scene* scene) {
    if (!scene->nbody) return 0;
    const ct_scene_body* last = &scene->body[scene->nbody - 1];
    return last->first_node + last->mesh->nvert;
}

int ct_scene_model_node_count(const ct_scene* scene) {
    int count = ct_scene_node_count(scene);
    for (int k = 0; k < scene->nlink; k++) {
        count += scene->link[k].mass > 0 ? CT_MASS_POINTS : 0;
        count += ct_joint_rotors(&scene->link[k].joint);
    }
    for (int i = 0; i < scene->nobstacle; i++) count += scene->obstacle[i].nvert;
    return count;
}

int ct_scene_node_body(const ct_scene* scene, int node) {
    int body = scene->nbody - 1;
    while (body > 0 && scene->body[body].first_node > node) body--;
    return body;
}

static int compare_int(const void* a, const void* b) {
    int i = *(const int*)a, j = *(const int*)b;
    return (i > j) - (i < j);
}

ct_status ct_scene_sorted_nodes(const ct_scene* scene, const int* nodes, int count, int** out, int* nout,
                                ct_error* error) {
    *out = NULL;
    if (count <= 0 || !nodes)
        return ct_fail(error, CT_BAD_SCENE, "the set of nodes is empty: select at least one node");
    int nnode = ct_scene_node_count(scene);
    for (int i = 0; i < count; i++) {
        if (nodes[i] >= 0 && nodes[i] < nnode) continue;
        if (error) error->element = nodes[i];
        return ct_fail(error, CT_BAD_SCENE, "node %d does not exist: the scene has nodes 0 to %d", nodes[i],
                       nnode - 1);
    }
    int* sorted = *out = ct_duplicate(nodes, (size_t)count, sizeof *nodes);
    if (!sorted) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    qsort(sorted, (size_t)count, sizeof *sorted, compare_int);
    int n = 0;
    for (int i = 0; i < count; i++)
        if (!n || sorted[i] != sorted[n - 1]) sorted[n++] = sorted[i];
    *nout = n;
    return CT_OK;
}
