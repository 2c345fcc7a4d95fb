// Signed distances of simple solids.
//
// Ellipsoid: the closest point x of the surface to y is x_i = e_i^2 y_i / (t + e_i^2) with t the largest root
// of F(t) = sum (e_i y_i / (t + e_i^2))^2 - 1. F is convex and falls on the interval right of the last pole,
// so Newton's method from a point with F >= 0 rises to the root without overshooting. With the smallest
// radius scaled to 1 the unknown is s = t + 1, which keeps its digits near that pole. Round cone: in the
// plane through the axis the boundary is two arcs and the tangent line between them; s = (radius_a -
// radius_b) / |ab| is the sine of the tangent's slope.
#include "shape/primitive.h"

#include "math/point3.h"

double ct_primitive_ellipsoid(const double radii[3], const double point[3]) {
    double e[3], y[3], beyond[3], smallest = fmin(radii[0], fmin(radii[1], radii[2]));
    double s = 0;
    // The floor keeps a point on a plane of symmetry off the pole.
    for (int i = 0; i < 3; i++) {
        e[i] = radii[i] / smallest;
        y[i] = fmax(fabs(point[i]) / smallest, 1e-12);
        beyond[i] = (e[i] - 1) * (e[i] + 1);
        s = fmax(s, e[i] * y[i] - beyond[i]);
    }
    for (int iteration = 0; iteration < 200; iteration++) {
        double value = -1, slope = 0;
        for (int i = 0; i < 3; i++) {
            double denominator = s + beyond[i], ratio = e[i] * y[i] / denominator;
            value += ratio * ratio;
            slope -= 2 * ratio * ratio / denominator;
        }
        double step = -value / slope;
        if (!(step > 1e-15 * s)) break;
        s += step;
    }
    double squared = 0;
    for (int i = 0; i < 3; i++) {
        double gap = y[i] * (s - 1) / (s + beyond[i]);  // y_i - x_i
        squared += gap * gap;
    }
    return (s < 1 ? -1 : 1) * smallest * sqrt(squared);
}

double ct_primitive_box(const double half[3], double rounding, const double point[3]) {
    double outside = 0, inside = -INFINITY;
    for (int i = 0; i < 3; i++) {
        double q = fabs(point[i]) - half[i] + rounding;
        inside = fmax(inside, q);
        if (q > 0) outside += q * q;
    }
    return sqrt(outside) + fmin(inside, 0) - rounding;
}

double ct_primitive_round_cone(const double a[3], const double b[3], double radius_a, double radius_b,
                               const double point[3]) {
    double axis[3], offset[3];
    subtract3(b, a, axis);
    subtract3(point, a, offset);
    double length = length3(axis), difference = radius_a - radius_b;
    // One ball holds the other.
    if (length <= fabs(difference))
        return difference >= 0 ? length3(offset) - radius_a : distance3(point, b) - radius_b;
    double along = dot3(offset, axis) / length;
    double across = sqrt(fmax(dot3(offset, offset) - along * along, 0));
    double sine = difference / length, cosine = sqrt((1 - sine) * (1 + sine));
    double foot = along * cosine - across * sine;
    if (foot < 0) return length3(offset) - radius_a;
    if (foot > cosine * length) return distance3(point, b) - radius_b;
    return across * cosine + along * sine - radius_a;
}

double ct_primitive_cylinder(const double a[3], const double b[3], double radius, const double point[3]) {
    double axis[3], offset[3];
    subtract3(b, a, axis);
    subtract3(point, a, offset);
    double length = length3(axis);
    double along = length > 0 ? dot3(offset, axis) / length : 0;
    double across = sqrt(fmax(dot3(offset, offset) - along * along, 0)) - radius;
    double beyond = fabs(along - length / 2) - length / 2;
    double outside_across = fmax(across, 0), outside_beyond = fmax(beyond, 0);
    return sqrt(outside_across * outside_across + outside_beyond * outside_beyond) +
           fmin(fmax(across, beyond), 0);
}

double ct_primitive_torus(const double axis[3], double major, double minor, const double point[3]) {
    double height = dot3(point, axis);
    double across = sqrt(fmax(dot3(point, point) - height * height, 0)) - major;
    return sqrt(across * across + height * height) - minor;
}
