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
// A change of the state's vector as one of the state's parts, added to `dot`; and back, overwritten. With
// quaternions Q_dot = sum r_i E_i,  r_i = 4 E_i . Q_dot.
void ct_vector_to_tangent(const ct_model* model, const ct_state* state, const double* vector_dot,
                          ct_adjoint_state* dot);
void ct_vector_from_tangent(const ct_model* model, const ct_state* state, const ct_adjoint_state* dot,
                            double* vector_dot);

#endif
