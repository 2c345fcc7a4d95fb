// What the files that compile and change a model share; see model.h.
#include "model/model.h"

#include <string.h>

double ct_model_rate(const ct_settings* settings) {
    return (settings->integrator == CT_INTEGRATOR_BDF2 ? 1.5 : 1.0) / settings->time_step;
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
    *rigidity = material->bending * E * t * t * t / (12 * (1 - nu * nu));
}

bool ct_model_is_rigid(const ct_model* model, int element) {
    bool tet = element < model->ntet;
    const int* node = tet ? model->geometry.tet + 4 * (size_t)element
                          : model->geometry.tri + 3 * (size_t)(element - model->ntet);
    const int *link = model->tree.node_link, k = link[node[0]];
    return k >= 0 && link[node[1]] == k && link[node[2]] == k && (!tet || link[node[3]] == k);
}

ct_status ct_model_append_surface(ct_model* model, const int* tri, int ntri, int first_node, int owner) {
    size_t before = (size_t)model->nsurface, after = before + (size_t)ntri;
    int* all = ct_arena_alloc(&model->arena, 3 * after, sizeof(int));
    int* owners = ct_arena_alloc(&model->arena, after, sizeof(int));
    if (!all || !owners) return CT_OUT_OF_MEMORY;
    if (before) memcpy(all, model->geometry.surface, 3 * before * sizeof(int));
    if (before) memcpy(owners, model->geometry.surface_owner, before * sizeof(int));
    for (size_t i = 0; i < 3 * (size_t)ntri; i++) all[3 * before + i] = tri[i] + first_node;
    for (size_t t = before; t < after; t++) owners[t] = owner;
    model->geometry.surface = all;
    model->geometry.surface_owner = owners;
    model->nsurface += ntri;
    return CT_OK;
}
