// How far contacts move by unit forces at contacts, in the preconditioner's model of the system:
//     W = J P^-1 J^T,   (J dz)_c = sum_i w_i (B dz)_i over the nodes of touch c.
// With the blocks of P^-1 at free nodes i, j (rest frame of the factor, warped by the nodes' rotations) and
// the joints' part,
//     K_ij = R_i (A^-1)_ij R_j^T + Y_i S^-1 Y_j^T,   Y_i = -R_i W_i R_l^T J (free nodes),  B_i (nodes on
//     links),   0 (driven nodes),
// W_cd = sum_kl w_ck w_dl K_kl. The columns of A^-1 at surface nodes are constant while a factor is in force:
// they are kept.
#ifndef CT_STEP_COMPLIANCE_H
#define CT_STEP_COMPLIANCE_H

#include "contact/friction_inverse.h"
#include "step/contact.h"

ct_status ct_compliance_create(ct_compliance** out, const ct_model* model);
void ct_compliance_free(ct_compliance* compliance);
// W for the touches listed in `which`: 3 count x 3 count, symmetric, both triangles. The warp of the work is
// that of `config`.
ct_status ct_compliance_update(ct_compliance* compliance, const ct_model* model, ct_work* work,
                               const ct_config* config, const ct_touch* touch, int count, const int* which,
                               double* W);

// W^-1 where most touches stick, every touch is a node of its own and there are no joints: W = R K R^T, K the
// constant blocks of A^-1 at the nodes, whose factor is kept as long as the nodes stay the same. inverse->L
// NULL: there is none. It is valid until the next call.
ct_status ct_compliance_invert(ct_compliance* compliance, const ct_model* model, ct_work* work,
                               const ct_touch* touch, int count, const int* which,
                               ct_friction_inverse* inverse);

#endif
