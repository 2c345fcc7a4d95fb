// The compliance of nodes; see friction_nodes.h.
#include "contact/friction_nodes.h"

#include <cblas.h>

void ct_friction_nodes_unturn(const ct_friction_nodes* nodes, int contact, const double v[3], float out[3]) {
    const double* R = nodes->R + 9 * contact;
    for (int i = 0; i < 3; i++) out[i] = (float)(R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2]);
}

void ct_friction_nodes_turn(const ct_friction_nodes* nodes, int contact, const float v[3], double out[3]) {
    const double* R = nodes->R + 9 * contact;
    for (int i = 0; i < 3; i++)
        out[i] = R[3 * i] * (double)v[0] + R[3 * i + 1] * (double)v[1] + R[3 * i + 2] * (double)v[2];
}

void ct_friction_nodes_block(const ct_friction_nodes* nodes, int count, int contact, double block[9]) {
    const size_t side = 3 * (size_t)count;
    const float* K = nodes->K + 3 * (size_t)contact * (side + 1);
    const double* R = nodes->R + 9 * contact;
    double half[9];
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            half[3 * i + (int)j] = R[3 * i] * (double)K[j] + R[3 * i + 1] * (double)K[side + j] +
                                   R[3 * i + 2] * (double)K[2 * side + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            block[3 * i + j] =
                half[3 * i] * R[3 * j] + half[3 * i + 1] * R[3 * j + 1] + half[3 * i + 2] * R[3 * j + 2];
}

void ct_friction_nodes_rows(const ct_friction_nodes* nodes, int count, const ct_friction_rows* rows,
                            float* T) {
    const size_t side = 3 * (size_t)count;
    for (int c = 0; c < count; c++) {
        const float* K = nodes->K + 3 * (size_t)c * side;
        for (int k = 0; k < rows[c].rank; k++) {
            float q[3], *out = T + (size_t)(rows[c].offset + k) * side;
            ct_friction_nodes_unturn(nodes, c, rows[c].Q[k], q);
            for (size_t j = 0; j < side; j++)
                out[j] = q[0] * K[j] + q[1] * K[side + j] + q[2] * K[2 * side + j];
        }
    }
}

void ct_friction_nodes_add(const ct_friction_nodes* nodes, int count, const double* F, double* u) {
    const int side = 3 * count;
    float *force = nodes->scratch, *moved = force + side;
    for (int c = 0; c < count; c++) ct_friction_nodes_unturn(nodes, c, F + 3 * c, force + 3 * c);
    cblas_sgemv(CblasColMajor, CblasNoTrans, side, side, 1, nodes->K, side, force, 1, 0, moved, 1);
    for (int c = 0; c < count; c++) {
        double motion[3];
        ct_friction_nodes_turn(nodes, c, moved + 3 * c, motion);
        for (int i = 0; i < 3; i++) u[3 * c + i] += motion[i];
    }
}
