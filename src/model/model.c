// What the files that compile and change a model share; see model.h.
#include "model/model.h"

#include <string.h>

double ct_model_rate(const ct_settings* settings) {
    return ct_rate_whole(settings->integrator, settings->time_step);
}

void ct_material_lame(const ct_material* material, double* mu, double* lambda) {
    double E = material->young, nu = material->poisson;
    *mu = E / (2 * (1 + nu));
    *lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    if (material->energy == CT_ENERGY_PROJECTIVE && material->paper_weights) *lambda /= 3;
}

void ct_material_membrane(const ct_material* material, double* mu, double* lambda, double* rigidity) {
    const double E = material->young, nu = material->poisson, t = material->thickness;
    *mu = t * E / (2 * (1 + nu));
    *lambda = t * E * nu / (1 - nu * nu);
    *rigidity = 0.5 * material->bending * (material->bending_warp + material->bending_weft) * E * t * t * t /
                (12 * (1 - nu * nu));
}

int ct_model_tet_nodes(const ct_model* model, int tet, int node[CT_CELL_NODES]) {
    const int* mid = ct_model_middles(model, tet);
    memcpy(node, model->geometry.tet + 4 * (size_t)tet, 4 * sizeof(int));
    if (mid) memcpy(node + 4, mid, 6 * sizeof(int));
    return mid ? CT_CELL_NODES : 4;
}

bool ct_model_is_rigid(const ct_model* model, int element) {
    int node[CT_CELL_NODES], count = 3;
    if (element < model->ntet) count = ct_model_tet_nodes(model, element, node);
    else memcpy(node, model->geometry.tri + 3 * (size_t)(element - model->ntet), 3 * sizeof(int));
    const int *link = model->tree.node_link, k = link[node[0]];
    for (int a = 1; a < count; a++)
        if (link[node[a]] != k) return false;
    return k >= 0;
}

// Arrays that are outgrown stay in the arena: each is twice the one before, so that all of them together are
// no longer than the last.
static bool reserve_surface(ct_model* model, size_t count) {
    size_t before = (size_t)model->nsurface, most = model->geometry.surface_capacity;
    if (count <= most) return true;
    most = most && count < 2 * most ? 2 * most : count;
    int* all = ct_arena_alloc(&model->arena, 3 * most, sizeof(int));
    int* owners = ct_arena_alloc(&model->arena, most, sizeof(int));
    if (!all || !owners) return false;
    if (before) memcpy(all, model->geometry.surface, 3 * before * sizeof(int));
    if (before) memcpy(owners, model->geometry.surface_owner, before * sizeof(int));
    model->geometry.surface = all;
    model->geometry.surface_owner = owners;
    model->geometry.surface_capacity = most;
    return true;
}

ct_status ct_model_append_surface(ct_model* model, const int* tri, int ntri, int first_node, int owner) {
    size_t before = (size_t)model->nsurface, after = before + (size_t)ntri;
    if (!reserve_surface(model, after)) return CT_OUT_OF_MEMORY;
    int *all = model->geometry.surface, *owners = model->geometry.surface_owner;
    for (size_t i = 0; i < 3 * (size_t)ntri; i++) all[3 * before + i] = tri[i] + first_node;
    for (size_t t = before; t < after; t++) owners[t] = owner;
    model->nsurface += ntri;
    return CT_OK;
}
