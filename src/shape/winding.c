// Winding number and distance of a triangle surface by a bounding volume hierarchy; see winding.h.
#include "shape/winding.h"

#include <string.h>

#include "base/memory.h"
#include "math/point3.h"

#define LEAF_SIZE 6
// a cluster is far when its distance exceeds this many radii: sign errors stay below 2 %
#define FAR_FACTOR 2.5
#define MAX_DEPTH 64

typedef struct winding_node {
    double lower[3], upper[3];
    double center[3];  // area-weighted centroid
    double normal[3];  // sum of area normals, m^2
    double radius;     // of the ball about `center` that holds the triangles
    int first, count;  // triangles; count 0: inner node with children at `first` and `first + 1`
} winding_node;

struct ct_winding {
    int ntri, nnode;
    double* corner;      // 9 ntri, in the order of the leaves
    winding_node* node;  // node 0 is the root
};

double ct_winding_solid_angle(const double a[3], const double b[3], const double c[3]) {
    double normal[3], la = length3(a), lb = length3(b), lc = length3(c);
    cross3(b, c, normal);
    double denominator = la * lb * lc + dot3(a, b) * lc + dot3(b, c) * la + dot3(c, a) * lb;
    return atan2(dot3(a, normal), denominator) / (2 * M_PI);
}

// Squared distance to a triangle: the region of the closest feature is found by signs (Ericson 2005).
static double triangle_distance2(const double a[3], const double b[3], const double c[3], const double p[3]) {
    double ab[3], ac[3], ap[3], bp[3], cp[3], gap[3];
    subtract3(b, a, ab);
    subtract3(c, a, ac);
    subtract3(p, a, ap);
    double d1 = dot3(ab, ap), d2 = dot3(ac, ap);
    if (d1 <= 0 && d2 <= 0) return dot3(ap, ap);
    subtract3(p, b, bp);
    double d3 = dot3(ab, bp), d4 = dot3(ac, bp);
    if (d3 >= 0 && d4 <= d3) return dot3(bp, bp);
    subtract3(p, c, cp);
    double d5 = dot3(ab, cp), d6 = dot3(ac, cp);
    if (d6 >= 0 && d5 <= d6) return dot3(cp, cp);
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        add_scaled3(ap, -d1 / (d1 - d3), ab, gap);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        add_scaled3(ap, -d2 / (d2 - d6), ac, gap);
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        double bc[3];
        subtract3(c, b, bc);
        add_scaled3(bp, -(d4 - d3) / ((d4 - d3) + (d5 - d6)), bc, gap);
    } else {
        add_scaled3(ap, -vb / (va + vb + vc), ab, gap);
        add_scaled3(gap, -vc / (va + vb + vc), ac, gap);
    }
    return dot3(gap, gap);
}

// Box, dipole and radius of the triangles [first, first + count).
static void summarise(const ct_winding* winding, winding_node* node, int first, int count) {
    double area_sum = 0, mean[3] = {0}, plain[3] = {0};
    for (int i = 0; i < 3; i++) node->lower[i] = INFINITY, node->upper[i] = -INFINITY, node->normal[i] = 0;
    for (int t = first; t < first + count; t++) {
        const double* v = winding->corner + 9 * t;
        double ab[3], ac[3], normal[3];
        subtract3(v + 3, v, ab);
        subtract3(v + 6, v, ac);
        cross3(ab, ac, normal);
        double area = length3(normal) / 2;
        area_sum += area;
        for (int i = 0; i < 3; i++) {
            double middle = (v[i] + v[3 + i] + v[6 + i]) / 3;
            mean[i] += area * middle;
            plain[i] += middle / count;
            node->normal[i] += normal[i] / 2;
            node->lower[i] = fmin(node->lower[i], fmin(v[i], fmin(v[3 + i], v[6 + i])));
            node->upper[i] = fmax(node->upper[i], fmax(v[i], fmax(v[3 + i], v[6 + i])));
        }
    }
    for (int i = 0; i < 3; i++) node->center[i] = area_sum > 0 ? mean[i] / area_sum : plain[i];
    node->radius = 0;
    for (int corner = 3 * first; corner < 3 * (first + count); corner++)
        node->radius = fmax(node->radius, distance3(winding->corner + 3 * corner, node->center));
}

static void swap_triangles(double* corner, int a, int b) {
    double saved[9];
    memcpy(saved, corner + 9 * a, sizeof saved);
    memcpy(corner + 9 * a, corner + 9 * b, sizeof saved);
    memcpy(corner + 9 * b, saved, sizeof saved);
}

static double middle_of(const double* corner, int t, int axis) {
    const double* v = corner + 9 * t + axis;
    return v[0] + v[3] + v[6];
}

// Quickselect: afterwards triangles before `rank` lie below those after it along `axis`.
static void select_rank(double* corner, int first, int last, int rank, int axis) {
    while (last - first > 1) {
        double pivot = middle_of(corner, first + (last - first) / 2, axis);
        int i = first, j = last - 1;
        while (i <= j) {
            while (middle_of(corner, i, axis) < pivot) i++;
            while (middle_of(corner, j, axis) > pivot) j--;
            if (i <= j) swap_triangles(corner, i++, j--);
        }
        if (rank <= j) last = j + 1;
        else if (rank >= i) first = i;
        else return;
    }
}

// Fills node `index` with the triangles [first, first + count), halving at the median of the longest side.
static void build(ct_winding* winding, int index, int first, int count) {
    winding_node* node = winding->node + index;
    summarise(winding, node, first, count);
    if (count <= LEAF_SIZE) {
        node->first = first;
        node->count = count;
        return;
    }
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (node->upper[i] - node->lower[i] > node->upper[axis] - node->lower[axis]) axis = i;
    int half = count / 2, child = winding->nnode;
    select_rank(winding->corner, first, first + count, first + half, axis);
    node->first = child;
    node->count = 0;
    winding->nnode += 2;
    build(winding, child, first, half);
    build(winding, child + 1, first + half, count - half);
}

ct_status ct_winding_create(ct_winding** out, const double* x, const int* tri, int ntri) {
    *out = NULL;
    if (ntri < 1) return CT_BAD_ARGUMENT;
    ct_winding* winding = ct_alloc(1, sizeof *winding);
    if (!winding) return CT_OUT_OF_MEMORY;
    winding->ntri = ntri;
    winding->nnode = 1;
    winding->corner = ct_alloc(9 * (size_t)ntri, sizeof(double));
    winding->node = ct_alloc(2 * (size_t)ntri, sizeof(winding_node));
    if (!winding->corner || !winding->node) {
        ct_winding_free(winding);
        return CT_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < 3 * (size_t)ntri; i++) copy3(winding->corner + 3 * i, x + 3 * (size_t)tri[i]);
    build(winding, 0, 0, ntri);
    *out = winding;
    return CT_OK;
}

void ct_winding_free(ct_winding* winding) {
    if (!winding) return;
    ct_free(winding->corner);
    ct_free(winding->node);
    ct_free(winding);
}

double ct_winding_number(const ct_winding* winding, const double point[3]) {
    int stack[MAX_DEPTH], depth = 0;
    double sum = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const winding_node* node = winding->node + stack[--depth];
        double to[3];
        subtract3(node->center, point, to);
        double distance = length3(to);
        if (distance > FAR_FACTOR * node->radius) {
            if (distance > 0) sum += dot3(node->normal, to) / (4 * M_PI * distance * distance * distance);
        } else if (node->count == 0) {
            stack[depth++] = node->first;
            stack[depth++] = node->first + 1;
        } else {
            for (int t = node->first; t < node->first + node->count; t++) {
                double corner[9];
                for (int i = 0; i < 3; i++) subtract3(winding->corner + 9 * t + 3 * i, point, corner + 3 * i);
                sum += ct_winding_solid_angle(corner, corner + 3, corner + 6);
            }
        }
    }
    return sum;
}

static double box_distance2(const winding_node* node, const double point[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double gap = fmax(fmax(node->lower[i] - point[i], point[i] - node->upper[i]), 0);
        sum += gap * gap;
    }
    return sum;
}

double ct_winding_unsigned_distance(const ct_winding* winding, const double point[3]) {
    int stack[MAX_DEPTH], depth = 0;
    double best = INFINITY;
    stack[depth++] = 0;
    while (depth > 0) {
        const winding_node* node = winding->node + stack[--depth];
        if (box_distance2(node, point) >= best) continue;
        if (node->count == 0) {
            // The nearer child is visited first.
            int near = node->first, far = node->first + 1;
            if (box_distance2(winding->node + far, point) < box_distance2(winding->node + near, point)) {
                near = node->first + 1;
                far = node->first;
            }
            stack[depth++] = far;
            stack[depth++] = near;
        } else {
            for (int t = node->first; t < node->first + node->count; t++) {
                const double* v = winding->corner + 9 * t;
                best = fmin(best, triangle_distance2(v, v + 3, v + 6, point));
            }
        }
    }
    return sqrt(best);
}

double ct_winding_distance(const ct_winding* winding, const double point[3]) {
    double distance = ct_winding_unsigned_distance(winding, point);
    return ct_winding_number(winding, point) > 0.5 ? -distance : distance;
}

void ct_winding_bounds(const ct_winding* winding, double lower[3], double upper[3]) {
    copy3(lower, winding->node[0].lower);
    copy3(upper, winding->node[0].upper);
}
