// A state as a vector of its parts, and adjoints of states between that and tangents.
//
// Rotations are quaternions Q in the vector, tangents r along Q <- exp(r) Q in the adjoint. With
// E_i = (0, e_i) Q / 2 = dQ/dr_i, three orthogonal vectors of length 1/2,
//     r_bar_i = E_i . Q_bar,   Q_bar = 4 sum r_bar_i E_i.
#ifndef CT_STEP_VECTOR_H
#define CT_STEP_VECTOR_H

#include "step/adjoint.h"

// Adjoint of a state, all zeros; the arena fails where there is no memory.
ct_adjoint_state ct_vector_adjoint(const ct_model* model, ct_arena* arena);
// Adds the adjoint of the state's vector to `bar`.
void ct_vector_to_adjoint(const ct_model* model, const ct_state* state, const double* vector_bar,
                          ct_adjoint_state* bar);
// The adjoint of the state's vector, overwritten.
void ct_vector_from_adjoint(const ct_model* model, const ct_state* state, const ct_adjoint_state* bar,
                            double* vector_bar);

#endif
