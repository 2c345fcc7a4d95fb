// One contact of the linear system with fixed sets, D_c (W F)_c + E_c F_c = a_c: what it fixes of its force
// by itself, and what is left.
//
// Where D_c has rank k < 3, rows U2 (3-k of them, U2^T D = 0) hold no W: U2^T E F_c = U2^T a_c. They fix F_c
// up to k numbers,
//     F_c = Y U2^T a_c + Z y_c,      U2^T E Y = I,   U2^T E Z = 0,
// and the other rows U1 give   M y = U1^T a - Q^T W F0 - R U2^T a,   M = Q^T W Z + K,   with
//     Q = D^T U1,   K = U1^T E Z,   R = U1^T E Y,   F0 = Y U2^T a.
// U1 is such that Q is orthonormal, and Z such that Q^T Z = I: Z is Q but for the friction that a normal
// force brings along. Open contacts have k = 0, slipping ones 1 or 2, sticking ones 3. The transposed system
// (W D^T + E^T) F = a has
//     M^T y = Z^T a,   F = U1 y + U2 (Y^T a - Y^T W Q y - R^T y).
#ifndef CT_CONTACT_FRICTION_BLOCK_H
#define CT_CONTACT_FRICTION_BLOCK_H

#include "contact/friction_near.h"

typedef struct ct_friction_block {       // of one contact, beside its rows
    double Z[3][3];                      // [i < k]: vectors
    double K[3][3];                      // [i < k][j < k]
    double R[3][3];                      // U1^T E Y, [i < k][j < 3-k]
    double U1[3][3], U2[3][3], Y[3][3];  // U1 [i < k]; U2, Y [i < 3-k]: vectors
    double scale[3];                     // of the rows: M is then about 1 on its diagonal
    bool plain;                          // Z is the identity
} ct_friction_block;

// W: the contact's diagonal block. r: rank, Q, and K for the preconditioner; the offset is the caller's.
// false: a force is left open.
bool ct_friction_block_make(const double* D, const double* E, const double W[9], ct_friction_block* b,
                            ct_friction_rows* r);

#endif
