// The compliance of contacts each of which is a node of its own: W_ij = R_i K_ij R_j^T, with a constant
// matrix K in single precision and rotations R that change all the time. W is never made: for rows q of
// contacts, T = q^T W R is, which is q^T R K with its columns in the nodes' rest frames.
#ifndef CT_CONTACT_FRICTION_NODES_H
#define CT_CONTACT_FRICTION_NODES_H

#include "contact/friction_near.h"

// R^T v and R v of one contact.
void ct_friction_nodes_unturn(const ct_friction_nodes* nodes, int contact, const double v[3], float out[3]);
void ct_friction_nodes_turn(const ct_friction_nodes* nodes, int contact, const float v[3], double out[3]);
// W_cc, 9 numbers.
void ct_friction_nodes_block(const ct_friction_nodes* nodes, int count, int contact, double block[9]);
// T, 3 count numbers for each of the rows (Q of all contacts, one after the other).
void ct_friction_nodes_rows(const ct_friction_nodes* nodes, int count, const ct_friction_rows* rows,
                            float* T);
// u += W F, 3 count each.
void ct_friction_nodes_add(const ct_friction_nodes* nodes, int count, const double* F, double* u);

#endif
