// Curves of controls; see control_shapes.h.
#include "step/control_shapes.h"

#include <math.h>

enum { DEGREE = 3 };

const char* const ct_wave_names[CT_WAVE_PARTS] = {"amplitude", "frequency", "phase", "center"};

// ---- spline --------------------------------------------------------------------------------

// Knot i of the clamped vector, in intervals: degree + 1 times 0, then 1, 2, ..., at the end again repeated.
static double knot(int i, int degree, int intervals) { return fmin(fmax(i - degree, 0), intervals); }

// The degree + 1 basis functions that are not zero at the step (Cox and de Boor); returns the first one's
// control point.
static int spline_basis(int knots, int step, int nstep, int* degree, double basis[DEGREE + 1]) {
    int p = *degree = knots - 1 < DEGREE ? knots - 1 : DEGREE, intervals = knots - p;
    double u = nstep > 1 ? (double)step / (nstep - 1) * intervals : 0;
    int first = (int)u < intervals - 1 ? (int)u : intervals - 1, span = first + p;
    double left[DEGREE + 1], right[DEGREE + 1];
    basis[0] = 1;
    for (int j = 1; j <= p; j++) {
        left[j] = u - knot(span + 1 - j, p, intervals);
        right[j] = knot(span + j, p, intervals) - u;
        double saved = 0;
        for (int r = 0; r < j; r++) {
            double share = basis[r] / (right[r + 1] + left[j - r]);
            basis[r] = saved + right[r + 1] * share;
            saved = left[j - r] * share;
        }
        basis[j] = saved;
    }
    return first;
}

int ct_control_spline_step(int knots, int j, int nstep) {
    int p = knots - 1 < DEGREE ? knots - 1 : DEGREE, intervals = knots - p;
    double sum = 0;
    for (int i = 1; i <= p; i++) sum += knot(j + i, p, intervals);
    return p ? (int)lround(sum / p / intervals * (nstep - 1)) : 0;
}

static void spline_apply(const ct_control_curve* c, const double* values, int nstep, int stride,
                         double* controls) {
    for (int step = 0; step < nstep; step++) {
        double basis[DEGREE + 1], *u = controls + (size_t)step * (size_t)stride + c->control;
        int degree, first = spline_basis(c->knots, step, nstep, &degree, basis);
        for (int i = 0; i < c->size; i++) {
            double sum = 0;
            for (int j = 0; j <= degree; j++) sum += basis[j] * values[c->points + (first + j) * c->size + i];
            u[i] = sum;
        }
    }
}

static void spline_vjp(const ct_control_curve* c, int nstep, int stride, const double* controls_bar,
                       double* values_bar) {
    for (int step = 0; step < nstep; step++) {
        double basis[DEGREE + 1];
        const double* u_bar = controls_bar + (size_t)step * (size_t)stride + c->control;
        int degree, first = spline_basis(c->knots, step, nstep, &degree, basis);
        for (int i = 0; i < c->size; i++)
            for (int j = 0; j <= degree; j++)
                values_bar[c->points + (first + j) * c->size + i] += basis[j] * u_bar[i];
    }
}

// ---- sinusoid ------------------------------------------------------------------------------

static double part(const ct_control_curve* c, const double* values, int which, int i) {
    return c->part[which] < 0 ? c->fixed[which] : values[c->part[which] + i];
}

static void sinusoid_apply(const ct_control_curve* c, const double* values, double h, int nstep, int stride,
                           double* controls) {
    for (int step = 0; step < nstep; step++)
        for (int i = 0; i < c->size; i++) {
            double angle = 2 * M_PI * part(c, values, CT_WAVE_FREQUENCY, i) * (step * h) +
                           part(c, values, CT_WAVE_PHASE, i);
            controls[(size_t)step * (size_t)stride + (size_t)(c->control + i)] =
                part(c, values, CT_WAVE_CENTER, i) + part(c, values, CT_WAVE_AMPLITUDE, i) * sin(angle);
        }
}

static void sinusoid_vjp(const ct_control_curve* c, const double* values, double h, int nstep, int stride,
                         const double* controls_bar, double* values_bar) {
    for (int step = 0; step < nstep; step++)
        for (int i = 0; i < c->size; i++) {
            double u_bar = controls_bar[(size_t)step * (size_t)stride + (size_t)(c->control + i)],
                   time = step * h;
            double angle =
                2 * M_PI * part(c, values, CT_WAVE_FREQUENCY, i) * time + part(c, values, CT_WAVE_PHASE, i);
            double swing = part(c, values, CT_WAVE_AMPLITUDE, i) * cos(angle);
            const double slope[CT_WAVE_PARTS] = {sin(angle), 2 * M_PI * time * swing, swing, 1};
            for (int k = 0; k < CT_WAVE_PARTS; k++)
                if (c->part[k] >= 0) values_bar[c->part[k] + i] += slope[k] * u_bar;
        }
}

void ct_control_curve_apply(const ct_control_curve* curve, const double* values, double h, int nstep,
                            int stride, double* controls) {
    if (curve->shape == CT_CURVE_SPLINE) spline_apply(curve, values, nstep, stride, controls);
    else sinusoid_apply(curve, values, h, nstep, stride, controls);
}

void ct_control_curve_vjp(const ct_control_curve* curve, const double* values, double h, int nstep,
                          int stride, const double* controls_bar, double* values_bar) {
    if (curve->shape == CT_CURVE_SPLINE) spline_vjp(curve, nstep, stride, controls_bar, values_bar);
    else sinusoid_vjp(curve, values, h, nstep, stride, controls_bar, values_bar);
}
