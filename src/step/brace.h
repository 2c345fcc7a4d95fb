// Contacts of single nodes as part of the factor.
//
// A touch with one free node, on an obstacle, has the rows
//     D w dx + E dF = b,
// of which the force can be eliminated at once: dF = A b - K w dx. The matrix with w^2 K added at the nodes
// then preconditions a Newton step with one solve and without any compliance of these touches, however many
// there are. It is factored for the step alone: sheets, which make their factor anew anyway, do that in less
// time than a few solves of the friction problem.
#ifndef CT_STEP_BRACE_H
#define CT_STEP_BRACE_H

#include "step/work.h"

// One free node; its place among the touch's nodes, -1: none or more than one.
int ct_brace_node(const ct_model* model, const ct_touch* touch);
// Whether bracing pays for the touches of this step.
bool ct_brace_serves(const ct_model* model, const ct_contact_work* contact);
// A and K of a touch that is not open, row-major.
void ct_brace_rows(const ct_touch* touch, double A[9], double K[9]);
// Gives the slots of braced touches the last numbers; returns how many come before them.
int ct_brace_order(const ct_model* model, ct_contact_work* contact);
// Makes the braced factor at `at` for the touches that are not open and puts it in force, warped; the
// potential is to be linearised afterwards. K: 9 nfree, scratch.
ct_status ct_brace_factor(const ct_model* model, ct_work* work, const ct_config* at, double* K,
                          int* refactors);

#endif
