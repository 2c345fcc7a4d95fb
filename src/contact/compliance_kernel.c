// The compliance of touches, touch after touch; see compliance_kernel.h.
#include "contact/compliance_kernel.h"

#include <string.h>

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)

// T += K J^T of one node, three columns.
static inline void push(size_t side, const ct_compliance_arm* arm, const float* restrict K,
                        float* restrict T) {
    const float* restrict K0 = K + 3 * (size_t)arm->node * side;
    const float* restrict K1 = K0 + side;
    const float* restrict K2 = K1 + side;
    float* restrict T0 = T;
    float* restrict T1 = T0 + side;
    float* restrict T2 = T1 + side;
    const float(*R)[4] = arm->R;
    const float a = R[0][0], b = R[0][1], c = R[0][2], d = R[1][0], e = R[1][1], f = R[1][2], g = R[2][0],
                h = R[2][1], i = R[2][2];
    for (size_t p = 0; p < side; p++) {
        const float x = K0[p], y = K1[p], z = K2[p];
        T0[p] += a * x + d * y + g * z;
        T1[p] += b * x + e * y + h * z;
        T2[p] += c * x + f * y + i * z;
    }
}

// Row a of a block: how touch c moves along a when its partner is pushed; of all nodes of the partner.
static inline void pull(size_t side, const ct_compliance_arm* arm, const float* T, float out[3][4]) {
    for (int k = 0; k < CT_COMPLIANCE_ARMS; k++, arm++) {
        if (arm->node < 0) continue;
        for (size_t a = 0; a < 3; a++) {
            const float* t = T + a * side + 3 * (size_t)arm->node;
            for (int b = 0; b < 4; b++)
                out[a][b] += t[0] * arm->R[0][b] + t[1] * arm->R[1][b] + t[2] * arm->R[2][b];
        }
    }
}

ct_compliance_combine WITH_ISA(ct_compliance_combine, CT_ISA);

void WITH_ISA(ct_compliance_combine, CT_ISA)(int count, const ct_compliance_arm* arm, size_t side,
                                             const float* K, float* T, double* W) {
    const size_t stride = 3 * (size_t)count;
    for (size_t i = 0; i < (size_t)count; i++) {
        memset(T, 0, 3 * side * sizeof(float));
        for (size_t k = 0; k < CT_COMPLIANCE_ARMS; k++)
            if (arm[CT_COMPLIANCE_ARMS * i + k].node >= 0) push(side, &arm[CT_COMPLIANCE_ARMS * i + k], K, T);
        for (size_t j = 0; j <= i; j++) {
            float block[3][4] = {{0}};
            pull(side, arm + CT_COMPLIANCE_ARMS * j, T, block);
            for (size_t a = 0; a < 3; a++)
                for (size_t b = 0; b < 3; b++)
                    // of a touch with itself: symmetric to the last digit
                    if (j < i || b <= a)
                        W[(3 * i + a) * stride + 3 * j + b] = W[(3 * j + b) * stride + 3 * i + a] =
                            (double)block[a][b];
        }
    }
}
