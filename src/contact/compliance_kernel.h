// The compliance of touches from that of their nodes, compiled once per instruction set:
//     W_cd = sum_kl w_ck w_dl R_k K_kl R_l^T
// over the nodes k of touch c and l of touch d, K in the rest frames of the nodes, R their rotations.
#ifndef CT_CONTACT_COMPLIANCE_KERNEL_H
#define CT_CONTACT_COMPLIANCE_KERNEL_H

#include <stddef.h>

enum { CT_COMPLIANCE_ARMS = 4 };  // of a touch, at most

typedef struct ct_compliance_arm {  // a node of a touch
    int node;                       // its place among the nodes; -1: none
    float R[3][4];                  // w R, column after column, padded
} ct_compliance_arm;

// arm: CT_COMPLIANCE_ARMS a touch. K: side x side, symmetric, both triangles. T: 3 side, overwritten. W: 3
// count x 3 count.
typedef void ct_compliance_combine(int count, const ct_compliance_arm* arm, size_t side, const float* K,
                                   float* T, double* W);

#endif
