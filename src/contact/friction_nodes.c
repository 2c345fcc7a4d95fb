// Rows of the compliance of nodes; see friction_nodes.h.
#include "contact/friction_nodes.h"

enum { TILE = 8 };  // columns of K that are read side by side

void ct_friction_nodes_unturn(const ct_friction_nodes* nodes, int contact, const double v[3], float out[3]) {
    const double* R = nodes->R + 9 * contact;
    for (int i = 0; i < 3; i++) out[i] = (float)(R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2]);
}

void ct_friction_nodes_turn(const ct_friction_nodes* nodes, int contact, const float v[3], double out[3]) {
    const double* R = nodes->R + 9 * contact;
    for (int i = 0; i < 3; i++)
        out[i] = R[3 * i] * (double)v[0] + R[3 * i + 1] * (double)v[1] + R[3 * i + 2] * (double)v[2];
}

// K_ij of i >= j, row-major.
static const float* block_of(const ct_friction_nodes* nodes, int i, int j) {
    return nodes->column + 9 * ((size_t)nodes->slot[j] * nodes->stride + (size_t)nodes->row[i]);
}

void ct_friction_nodes_block(const ct_friction_nodes* nodes, int contact, double block[9]) {
    const float* K = block_of(nodes, contact, contact);
    const double* R = nodes->R + 9 * contact;
    double half[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            half[3 * i + j] =
                R[3 * i] * (double)K[j] + R[3 * i + 1] * (double)K[3 + j] + R[3 * i + 2] * (double)K[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            block[3 * i + j] =
                half[3 * i] * R[3 * j] + half[3 * i + 1] * R[3 * j + 1] + half[3 * i + 2] * R[3 * j + 2];
}

// out = q^T K and q^T K^T
static void put(const float* q, const float* K, float* out) {
    for (int b = 0; b < 3; b++) out[b] = q[0] * K[b] + q[1] * K[3 + b] + q[2] * K[6 + b];
}
static void put_transposed(const float* q, const float* K, float* out) {
    for (int b = 0; b < 3; b++) out[b] = q[0] * K[3 * b] + q[1] * K[3 * b + 1] + q[2] * K[3 * b + 2];
}

// The blocks of contacts i and j >= i: rows of j in the columns of i, and the other way round.
static void fill_blocks(const ct_friction_nodes* nodes, size_t side, const ct_friction_rows* rows,
                        const float (*q)[3][3], int i, int j, float* T) {
    const float* K = block_of(nodes, j, i);
    for (int k = 0; k < rows[j].rank; k++)
        put(q[j][k], K, T + (size_t)(rows[j].offset + k) * side + 3 * (size_t)i);
    for (int k = 0; j > i && k < rows[i].rank; k++)
        put_transposed(q[i][k], K, T + (size_t)(rows[i].offset + k) * side + 3 * (size_t)j);
}

void ct_friction_nodes_rows(const ct_friction_nodes* nodes, int count, const ct_friction_rows* rows,
                            float* T) {
    const size_t side = 3 * (size_t)count;
    float(*q)[3][3] = (float(*)[3][3])nodes->scratch;
    for (int c = 0; c < count; c++)
        for (int k = 0; k < rows[c].rank; k++) ct_friction_nodes_unturn(nodes, c, rows[c].Q[k], q[c][k]);
    for (int first = 0; first < count; first += TILE) {
        const int end = first + TILE < count ? first + TILE : count;
        for (int j = first; j < count; j++)
            for (int i = first; i < end && i <= j; i++)
                fill_blocks(nodes, side, rows, (const float(*)[3][3])q, i, j, T);
    }
}
