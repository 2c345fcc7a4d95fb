// Curves that set a control at every step from a few numbers.
//
// SPLINE: a clamped cubic B-spline over the rollout (of lower degree where there are fewer than 4 control
// points),
//     u(k) = sum_j N_j(k / (nstep - 1)) p_j,   N_j >= 0, sum N_j = 1: u keeps the bounds of its control
//     points.
// SINUSOID: u(k) = center + amplitude sin(2 pi frequency t + phase),   t = k h the start of the step,
//     with a number of each for every number of the control; those that are fixed are not among the values.
#ifndef CT_STEP_CONTROL_SHAPES_H
#define CT_STEP_CONTROL_SHAPES_H

#include "cuttle.h"

enum { CT_WAVE_AMPLITUDE, CT_WAVE_FREQUENCY, CT_WAVE_PHASE, CT_WAVE_CENTER, CT_WAVE_PARTS };
extern const char* const ct_wave_names[CT_WAVE_PARTS];

typedef struct ct_control_curve {
    ct_curve shape;           // SPLINE or SINUSOID
    int control, size;        // first of the control's numbers within a step's, and how many
    int knots, points;        // SPLINE: control points; place of the first in the values
    int part[CT_WAVE_PARTS];  // SINUSOID: place of each in the values, -1: fixed
    double fixed[CT_WAVE_PARTS];
} ct_control_curve;

// Sets the control's numbers in `controls` (nstep rows of `stride`) from the values.
void ct_control_curve_apply(const ct_control_curve* curve, const double* values, double h, int nstep,
                            int stride, double* controls);
// Reverse: adds to values_bar.
void ct_control_curve_vjp(const ct_control_curve* curve, const double* values, double h, int nstep,
                          int stride, const double* controls_bar, double* values_bar);
// The step at which control point j weighs most (Greville's abscissa).
int ct_control_spline_step(int knots, int j, int nstep);

#endif
