// Closed surfaces; see closed_surface.h.
#include "shape/closed_surface.h"

#include <stdlib.h>

#include "base/memory.h"
#include "math/vec3.h"

typedef struct edge {
    int low, high;  // nodes
    int direction;  // 1: from low to high, -1: back
} edge;

static int edge_compare(const void* a, const void* b) {
    const edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return p->direction - q->direction;
}

// Each edge occurs once in each direction.
ct_status ct_surface_check_closed(const int* tri, int ntri) {
    if (ntri < 4) return CT_BAD_MESH;
    edge* list = ct_alloc(3 * (size_t)ntri, sizeof(edge));
    if (!list) return CT_OUT_OF_MEMORY;
    for (int t = 0; t < ntri; t++)
        for (int k = 0; k < 3; k++) {
            const int a = tri[3 * t + k], b = tri[3 * t + (k + 1) % 3];
            list[3 * t + k] = a < b ? (edge){a, b, 1} : (edge){b, a, -1};
        }
    qsort(list, 3 * (size_t)ntri, sizeof(edge), edge_compare);
    bool closed = ntri % 2 == 0;
    for (int i = 0; closed && i < 3 * ntri; i += 2) {
        const edge *a = &list[i], *b = &list[i + 1];
        closed = a->low == b->low && a->high == b->high && a->direction == -1 && b->direction == 1 &&
                 a->low != a->high;
        if (i > 0) closed = closed && (list[i - 1].low != a->low || list[i - 1].high != a->high);
    }
    ct_free(list);
    return closed ? CT_OK : CT_BAD_MESH;
}

double ct_surface_volume(const int* tri, int ntri, const double* x) {
    const ct_vec3 o = ct_vec3_load(x + 3 * tri[0]);
    double sum = 0;
    for (int t = 0; t < ntri; t++) {
        const int* v = tri + 3 * t;
        const ct_vec3 a = ct_vec3_sub(ct_vec3_load(x + 3 * v[0]), o),
                      b = ct_vec3_sub(ct_vec3_load(x + 3 * v[1]), o);
        const ct_vec3 c = ct_vec3_sub(ct_vec3_load(x + 3 * v[2]), o);
        sum += ct_vec3_dot(a, ct_vec3_cross(b, c));
    }
    return sum / 6;
}

static void add(double* x_bar, int node, double scale, ct_vec3 d) {
    double* out = x_bar + 3 * (size_t)node;
    ct_vec3_store(out, ct_vec3_axpy(ct_vec3_load(out), scale, d));
}

// dV/da = (b - o) x (c - o) / 6; what the corners give to o sums to zero where the surface is closed.
void ct_surface_volume_vjp(const int* tri, int ntri, const double* x, double volume_bar, double* x_bar) {
    const ct_vec3 o = ct_vec3_load(x + 3 * tri[0]);
    for (int t = 0; t < ntri; t++) {
        const int* v = tri + 3 * t;
        ct_vec3 corner[3];
        for (int k = 0; k < 3; k++) corner[k] = ct_vec3_sub(ct_vec3_load(x + 3 * v[k]), o);
        for (int k = 0; k < 3; k++)
            add(x_bar, v[k], volume_bar / 6, ct_vec3_cross(corner[(k + 1) % 3], corner[(k + 2) % 3]));
    }
}
