// Exact signs. See orient.h.
//
// The determinant is first taken in doubles with a bound of its error. Only when the bound leaves the sign
// open, it is computed without error: as a sum of doubles that do not overlap (an expansion), in which sums
// and products of two doubles are exact pairs (the value rounded and what rounding took away). The last term
// has the sign of the whole.
#include "shape/orient.h"

#include <float.h>

#define TERMS 192  // 6 products of three pairs: 8 products of three doubles, 4 terms each

typedef struct expansion {
    int count;
    double term[TERMS];  // ascending in size, not overlapping, no zeros
} expansion;

// a + b = sum + error
static inline double two_sum(double a, double b, double* error) {
    const double sum = a + b, part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

// a b = product + error
static inline double two_product(double a, double b, double* error) {
    const double product = a * b;
    *error = fma(a, b, -product);
    return product;
}

// e += b
static void grow(expansion* e, double b) {
    int count = 0;
    for (int i = 0; i < e->count; i++) {
        double error;
        b = two_sum(b, e->term[i], &error);
        if (error != 0) e->term[count++] = error;
    }
    if (b != 0) e->term[count++] = b;
    e->count = count;
}

// sum += f g h, where each factor is a pair (value, error)
static void add_product(expansion* sum, const double f[2], const double g[2], const double h[2],
                        double sign) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double low;
            const double high = two_product(sign * f[i], g[j], &low);
            for (int k = 0; k < 2; k++) {
                double error, product = two_product(high, h[k], &error);
                grow(sum, error);
                grow(sum, product);
                product = two_product(low, h[k], &error);
                grow(sum, error);
                grow(sum, product);
            }
        }
}

static void exact_difference(ct_vec3 a, ct_vec3 b, double out[3][2]) {
    out[0][0] = two_sum(a.x, -b.x, &out[0][1]);
    out[1][0] = two_sum(a.y, -b.y, &out[1][1]);
    out[2][0] = two_sum(a.z, -b.z, &out[2][1]);
}

static int orient_exactly(ct_vec3 a, ct_vec3 b, ct_vec3 c, ct_vec3 p) {
    double u[3][2], v[3][2], w[3][2];
    exact_difference(b, a, u);
    exact_difference(c, a, v);
    exact_difference(p, a, w);
    expansion sum = {.count = 0};
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        add_product(&sum, u[i], v[j], w[k], 1);
        add_product(&sum, u[j], v[i], w[k], -1);
    }
    if (sum.count == 0) return 0;
    return sum.term[sum.count - 1] > 0 ? 1 : -1;
}

int ct_orient(ct_vec3 a, ct_vec3 b, ct_vec3 c, ct_vec3 p) {
    const ct_vec3 u = ct_vec3_sub(b, a), v = ct_vec3_sub(c, a), w = ct_vec3_sub(p, a);
    const double value = ct_vec3_dot(ct_vec3_cross(u, v), w);
    const double size = (fabs(u.y * v.z) + fabs(u.z * v.y)) * fabs(w.x) +
                        (fabs(u.z * v.x) + fabs(u.x * v.z)) * fabs(w.y) +
                        (fabs(u.x * v.y) + fabs(u.y * v.x)) * fabs(w.z);
    // three differences, three products, three sums: 8 roundings on the longest way, and one for second-order
    // terms
    const double bound = 9 * (DBL_EPSILON / 2) * size;
    if (value > bound) return 1;
    if (value < -bound) return -1;
    if (size == 0) return 0;
    return orient_exactly(a, b, c, p);
}

bool ct_edge_crosses_triangle(ct_vec3 p, ct_vec3 q, ct_vec3 a, ct_vec3 b, ct_vec3 c) {
    const int side = ct_orient(a, b, c, p);
    if (side == 0 || ct_orient(a, b, c, q) != -side) return false;
    // seen along the edge, the triangle turns around it one way
    const int s = ct_orient(p, q, a, b), t = ct_orient(p, q, b, c), r = ct_orient(p, q, c, a);
    return (s >= 0 && t >= 0 && r >= 0) || (s <= 0 && t <= 0 && r <= 0);
}
