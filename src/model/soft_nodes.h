// What the softness of nodes in contact (contact/softness.h) takes from a model: masses and stiffnesses, from
// the values of the materials and the shape at rest alone, so that models with the same values agree.
#ifndef CT_MODEL_SOFT_NODES_H
#define CT_MODEL_SOFT_NODES_H

#include "model/model.h"

// What moves together, and its numbers; after unknowns are numbered and masses lumped.
ct_status ct_soft_nodes_create(ct_model* model);
// The numbers for the present values; after masses are lumped.
void ct_soft_nodes_update(ct_model* model);
// Reverse of the update: adds what the sums hold of the nodes' stiffnesses and the wholes' masses to those of
// the elements' stiffnesses and the nodes' masses.
void ct_soft_nodes_vjp(const ct_model* model, const ct_sums* sums);
// Along changes of the Lame parameters of every tet, in models without sheets: of the nodes' stiffnesses (2
// nvert).
void ct_soft_nodes_jvp(const ct_model* model, const double* mu_dot, const double* lambda_dot,
                       double* stiffness_dot);

#endif
