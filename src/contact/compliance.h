// How far contacts move by unit forces at contacts, in the preconditioner's model of the system:
//     W = J P^-1 J^T,   (J dz)_c = sum_i w_i (B dz)_i over the nodes of touch c.
// With the blocks of P^-1 at free nodes i, j (rest frame of the factor, warped by the nodes' rotations) and
// the joints' part,
//     K_ij = R_i (A^-1)_ij R_j^T + Y_i S^-1 Y_j^T,   Y_i = -R_i W_i R_l^T J (free nodes),  B_i (nodes on
//     links),   0 (driven nodes),
// W_cd = sum_kl w_ck w_dl K_kl. The columns of A^-1 at surface nodes are constant while a factor is in force:
// they are kept. Many touches: W is not stored, and its outline (friction_matrix.h) needs no columns.
#ifndef CT_CONTACT_COMPLIANCE_H
#define CT_CONTACT_COMPLIANCE_H

#include "contact/collision.h"
#include "contact/friction_inverse.h"
#include "contact/friction_matrix.h"
#include "contact/touch.h"

// Which factor of A is in force: as long as all of it stays the same, so do the columns of A^-1.
typedef struct ct_factor_identity {
    const void* factor;
    uint64_t stamp;  // of the configuration that it was made at, 0: rest
    int version;     // of the model's values
    int level;       // of shortened steps
} ct_factor_identity;

// What P^-1 answers at nodes, for the factor and the warp in force.
typedef struct ct_response {
    ct_factor_identity identity;
    const double* warp;  // 9 a free node, factor order: R
    int ndof;            // joint rates
    // Blocks (row-major, 9 floats) of A^-1, in the columns of the free nodes at the factor positions
    // `column`, in their rows `row`: column after column.
    ct_status (*columns)(void* user, int ncolumn, const int* column, int nrow, const int* row, float* out);
    // L^-1 Y_i^T, ndof x 3 a node, with S = L L^T; place: factor positions, -1: not free.
    void (*joints)(void* user, int count, const int* node, const int* place, double* Y);
    void* user;
} ct_response;

typedef struct ct_compliance ct_compliance;
// node (nfree): the free nodes in factor order.
ct_status ct_compliance_create(ct_compliance** out, const ct_collision* collision, int nfree,
                               const int* node);
void ct_compliance_free(ct_compliance* compliance);
// W for the touches listed in `which`: 3 count x 3 count, symmetric, both triangles.
ct_status ct_compliance_update(ct_compliance* compliance, const ct_collision* collision,
                               const ct_response* response, const ct_touch* touch, int count,
                               const int* which, double* W);

// W^-1 where most touches stick, every touch is a free node of its own and there are no joints: W = R K R^T,
// K the constant blocks of A^-1 at the nodes, whose factor is kept as long as the nodes stay the same.
// inverse->L NULL: there is none. It is valid until the next call.
ct_status ct_compliance_invert(ct_compliance* compliance, const ct_collision* collision,
                               const ct_response* response, const ct_touch* touch, int count,
                               const int* which, ct_friction_inverse* inverse);

// The same touches, as they are: blocks of K and rotations, for linear systems. out->nodes NULL: the touches
// are not such. It is valid until the next call.
ct_status ct_compliance_nodes(ct_compliance* compliance, const ct_collision* collision,
                              const ct_response* response, const ct_touch* touch, int count, const int* which,
                              ct_friction_matrix* out);

// The matrix of the touches listed in `which` without W: what a preconditioner has to know, from the softness
// of the nodes at rate c (1/s). out->product and out->user are left to the caller. The stamp stays as long as
// the touches have the same nodes and weights, and changes with every other call, and after
// ct_compliance_begin. Valid until the next call.
ct_status ct_compliance_outline(ct_compliance* compliance, const ct_collision* collision, double c,
                                const ct_touch* touch, int count, const int* which, ct_friction_matrix* out);
// A new step: what was kept for the last one must not show in its results.
void ct_compliance_begin(ct_compliance* compliance);

#endif
