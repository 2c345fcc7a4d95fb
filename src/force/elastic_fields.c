// Per-tet results: energy density, von Mises stress, volume ratio; of second order the means over the points,
// and the smallest volume ratio of any.
//
// Cauchy stress sigma = P F^T / det F; von Mises = sqrt(3/2 dev sigma : dev sigma).
#include <math.h>

#include "force/elastic_data.h"
#include "math/mat3.h"

static double von_mises_stress(ct_mat3 F, ct_mat3 P) {
    // a collapsed tet has no Cauchy stress: its volume ratio is kept away from zero
    const double J = fmax(fabs(ct_mat3_determinant(F)), 1e-9);
    ct_mat3 sigma = ct_mat3_scale(1 / J, ct_mat3_multiply(P, ct_mat3_transpose(F)));
    const double pressure = ct_mat3_trace(sigma) / 3;
    for (int i = 0; i < 3; i++) sigma.a[i][i] -= pressure;
    return sqrt(1.5 * ct_mat3_dot(sigma, sigma));
}

void ct_elastic_fields(const ct_elastic* elastic, const double* x, double* density, double* von_mises,
                       double* volume_ratio) {
    const ct_elastic_pass pass = {
        .block = elastic->block, .cell = elastic->cell, .second = elastic->second, .x = x};
    _Alignas(64) double value[19][CT_BLOCK];
    for (int k = 0; k < elastic->nchunk; k++) {
        const ct_elastic_chunk* chunk = elastic->chunk + k;
        for (int lane = chunk->first * CT_BLOCK; lane < (chunk->first + chunk->count) * CT_BLOCK; lane++) {
            const int l = lane % CT_BLOCK, tet = elastic->lane_tet[lane];
            if (l == 0)
                elastic->kernels->stress[chunk->second][chunk->energy](&pass, lane / CT_BLOCK, value[0]);
            if (tet < 0) continue;
            const double volume = elastic->lane_volume[lane];
            ct_mat3 F, P;
            for (int i = 0; i < 9; i++)
                F.a[i / 3][i % 3] = value[1 + i][l], P.a[i / 3][i % 3] = value[10 + i][l] / volume;
            const double ratio = ct_mat3_determinant(F);
            const bool more = chunk->second && (lane / CT_BLOCK - chunk->first) % CT_CELL_POINTS;
            const double part = chunk->second ? volume / elastic->volume[tet] : 1;
            if (density) density[tet] = (more ? density[tet] : 0) + part * (value[0][l] / volume);
            if (von_mises) von_mises[tet] = (more ? von_mises[tet] : 0) + part * von_mises_stress(F, P);
            if (volume_ratio) volume_ratio[tet] = more ? fmin(volume_ratio[tet], ratio) : ratio;
        }
    }
}

double ct_elastic_energy(const ct_elastic* elastic, const double* x) {
    const ct_elastic_pass pass = {
        .block = elastic->block, .cell = elastic->cell, .second = elastic->second, .x = x};
    _Alignas(64) double value[19][CT_BLOCK];
    double sum = 0;
    for (int k = 0; k < elastic->nchunk; k++) {
        const ct_elastic_chunk* chunk = elastic->chunk + k;
        for (int b = chunk->first; b < chunk->first + chunk->count; b++) {
            elastic->kernels->stress[chunk->second][chunk->energy](&pass, b, value[0]);
            for (int l = 0; l < CT_BLOCK; l++)
                sum += elastic->lane_tet[b * CT_BLOCK + l] < 0 ? 0 : value[0][l];
        }
    }
    return sum;
}
