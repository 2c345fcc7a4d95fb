// A ball swept along a curve through given points, with a radius at each.
//
// The curve is a centripetal Catmull-Rom spline (knots t_i+1 - t_i = |p_i+1 - p_i|^(1/2), C1 and free of
// loops), as cubic Hermite spans whose tangents are the derivatives of the parabola through three neighbours.
// It is sampled into short spans of round cones; the radius follows the same spline, held between its ends.
#include "base/memory.h"
#include "math/point3.h"
#include "shape/shape.h"

#define SPAN_PIECES 16

// Knot spacing after point i, never zero.
static double spacing(const double* points, int i) {
    double distance = distance3(points + 3 * i, points + 3 * (i + 1));
    return distance > 0 ? sqrt(distance) : 1e-9;
}

// Derivative at point i of the parabola through its neighbours; one-sided differences at the ends.
static double tangent(const double* points, const double* value, int stride, int npoint, int i) {
    if (npoint < 2) return 0;
    if (i == 0) return (value[stride] - value[0]) / spacing(points, 0);
    double before = spacing(points, i - 1),
           slope_before = (value[stride * i] - value[stride * (i - 1)]) / before;
    if (i == npoint - 1) return slope_before;
    double after = spacing(points, i), slope_after = (value[stride * (i + 1)] - value[stride * i]) / after;
    return (after * slope_before + before * slope_after) / (before + after);
}

static double hermite(double p, double q, double dp, double dq, double t) {
    double s = 1 - t;
    return s * s * (1 + 2 * t) * p + t * t * (3 - 2 * t) * q + t * s * s * dp - t * t * s * dq;
}

static void sample_span(const double* points, const double* radii, int npoint, int span, double t,
                        double ball[4]) {
    double width = spacing(points, span);
    for (int k = 0; k < 3; k++) {
        const double* value = points + k;
        double dp = width * tangent(points, value, 3, npoint, span),
               dq = width * tangent(points, value, 3, npoint, span + 1);
        ball[k] = hermite(value[3 * span], value[3 * span + 3], dp, dq, t);
    }
    double low = fmin(radii[span], radii[span + 1]), high = fmax(radii[span], radii[span + 1]);
    double dp = width * tangent(points, radii, 1, npoint, span),
           dq = width * tangent(points, radii, 1, npoint, span + 1);
    ball[3] = fmin(fmax(hermite(radii[span], radii[span + 1], dp, dq, t), low), high);
}

ct_shape* ct_shape_sweep(const double* points, const double* radii, int npoint, ct_error* error) {
    if (npoint < 1 && !ct_shape_refuse(error, "a sweep along %d points: give at least 1", npoint))
        return NULL;
    if (!ct_shape_check_points(points, 3 * npoint, error) ||
        !ct_shape_check_sizes(radii, npoint, true, error))
        return NULL;
    if (npoint == 1) return ct_shape_sphere(points, radii[0], error);
    ct_shape* shape = ct_alloc(1, sizeof *shape);
    if (!shape) {
        ct_shape_fail_memory(error);
        return NULL;
    }
    int pieces = npoint == 2 ? 1 : SPAN_PIECES;
    shape->kind = CT_SHAPE_SWEEP;
    shape->nball = pieces * (npoint - 1) + 1;
    shape->ball = ct_alloc(4 * (size_t)shape->nball, sizeof(double));
    if (!shape->ball) {
        ct_shape_free(shape);
        ct_shape_fail_memory(error);
        return NULL;
    }
    for (int i = 0; i < shape->nball; i++) {
        int span = i / pieces < npoint - 1 ? i / pieces : npoint - 2;
        sample_span(points, radii, npoint, span, (double)(i - span * pieces) / pieces, shape->ball + 4 * i);
    }
    for (int k = 0; k < 3; k++) {
        shape->lower[k] = INFINITY;
        shape->upper[k] = -INFINITY;
        for (int i = 0; i < shape->nball; i++) {
            shape->lower[k] = fmin(shape->lower[k], shape->ball[4 * i + k] - shape->ball[4 * i + 3]);
            shape->upper[k] = fmax(shape->upper[k], shape->ball[4 * i + k] + shape->ball[4 * i + 3]);
        }
    }
    return shape;
}
