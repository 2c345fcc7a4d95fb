// Joint coordinates as numbers that may be added: a chart about the coordinates q_n where a step starts.
//
//     theta = q - q_n      axes, and translations of free joints
//     theta = log(Q Q_n^T) rotations of balls and free joints, along the parent's axes
//
// one number per rate. A motion theta(t), with u = theta' and alpha = theta'', has joint rates w along the
// parents' axes and their derivatives w': the same numbers where coordinates are numbers, and for rotations,
// with J the left Jacobian (math/rotation.h),
//     w = J(theta) u,   w' = J alpha + (dJ/dtheta u) u.
#ifndef CT_SKELETON_CHART_H
#define CT_SKELETON_CHART_H

#include "skeleton/tree.h"

// theta (ndof) of coordinates q, and back.
void ct_chart_at(const ct_tree* tree, const double* q_n, const double* q, double* theta);
void ct_chart_move(const ct_tree* tree, const double* q_n, const double* theta, double* q);
// Reverse: adds to tangents of q and of q_n (ndof), along the parents' axes.
void ct_chart_at_vjp(const ct_tree* tree, const double* theta, const double* theta_bar, double* q_bar,
                     double* q_n_bar);
// Forward: theta_dot from tangents; q_n_dot may be NULL.
void ct_chart_at_jvp(const ct_tree* tree, const double* theta, const double* q_dot, const double* q_n_dot,
                     double* theta_dot);

// A motion in the chart, or its adjoint, or its change: ndof each.
typedef struct ct_chart_motion {
    double *theta, *u, *alpha;
} ct_chart_motion;

void ct_chart_rates(const ct_tree* tree, ct_chart_motion at, double* w, double* dw);
// Reverse: bar is overwritten.
void ct_chart_rates_vjp(const ct_tree* tree, ct_chart_motion at, const double* w_bar, const double* dw_bar,
                        ct_chart_motion bar);
// Forward.
void ct_chart_rates_jvp(const ct_tree* tree, ct_chart_motion at, ct_chart_motion dot, double* w_dot,
                        double* dw_dot);

#endif
