// Maps between nodes and unknowns; see coords.h.
#include "step/coords.h"

#include <string.h>

void ct_coords_pull(const ct_model* model, ct_work* work, const ct_config* config, const double* rho,
                    double* r) {
    for (int k = 0; k < model->nfree; k++) {
        const double* from = rho + 3 * (size_t)model->node[k];
        for (int a = 0; a < 3; a++) r[3 * k + a] = from[a];
    }
    if (model->tree.nlink)
        ct_config_pull(&model->tree, config, rho, work->wrench, r + 3 * (size_t)model->nfree);
}

void ct_coords_push(const ct_model* model, ct_work* work, const ct_config* config, const double* dz,
                    double* dx) {
    memset(dx, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int k = 0; k < model->nfree; k++) {
        double* to = dx + 3 * (size_t)model->node[k];
        for (int a = 0; a < 3; a++) to[a] = dz[3 * k + a];
    }
    if (model->tree.nlink)
        ct_config_push(&model->tree, config, dz + 3 * (size_t)model->nfree, work->twist, dx);
}

void ct_coords_move(const ct_model* model, const ct_config* from, double length, const double* dz,
                    ct_config* to) {
    memcpy(to->x, from->x, 3 * (size_t)model->nvert * sizeof(double));
    for (int k = 0; k < model->nfree; k++) {
        double* node = to->x + 3 * (size_t)model->node[k];
        for (int a = 0; a < 3; a++) node[a] += length * dz[3 * k + a];
    }
    if (!model->tree.nlink) return;
    ct_config_move(&model->tree, from, length, dz + 3 * (size_t)model->nfree, to->q);
    ct_config_place(&model->tree, to);
}
