// From controls to the numbers of the actuators; see model/actuator.h for the law.
#ifndef CT_STEP_ACTUATE_H
#define CT_STEP_ACTUATE_H

#include "model/model.h"

// The numbers during and after a step from those before it. control: ct_model_control_size numbers, or NULL
// for zeros. CT_BAD_ARGUMENT when a chamber is to have no volume, or a cable a tension or
// length below 0.
ct_status ct_actuate(const ct_model* model, const double* before, const double* control, double* value);
// The same at a fraction of the step, past its start.
void ct_actuate_at(const ct_model* model, const double* before, const double* control, double fraction,
                   double* value);
// Reverse: adds that of the numbers at a fraction of the step to before_bar and control_bar (may be NULL).
void ct_actuate_at_vjp(const ct_model* model, double fraction, const double* bar, double* before_bar,
                       double* control_bar);
// Along a direction, overwritten.
void ct_actuate_at_jvp(const ct_model* model, double fraction, const double* before_dot,
                       const double* control_dot, double* dot);
// Reverse: bar holds the adjoint of the numbers after the step, then of those before it; adds to control_bar
// (may be NULL).
void ct_actuate_vjp(const ct_model* model, double* bar, double* control_bar);
// Along a change: dot from that of the numbers before the step to that of those after it.
void ct_actuate_jvp(const ct_model* model, const double* control_dot, double* dot);
// w a of muscles (the largest) or a - 1 of chambers, per tet; 0 elsewhere.
void ct_actuate_field(const ct_model* model, const double* value, double* field);

#endif
