// Isosurface stuffing on a lattice with signed distances.
//
// 1. Every lattice edge from an inside to an outside vertex gets a cut point, the root of the distance on it.
// 2. Warping: a vertex with a cut point closer than alpha times the edge's length moves there; its value
// becomes
//    0 and the cut points of its edges disappear. alpha is 0.24999 on long and 0.41189 on short BCC edges.
// 3. Each tet is replaced by its inside part. Sorted into inside I, zero Z, outside O, with c(i,o) a cut
// point:
//    no O: the tet; one I: the O become cut points; else a prism or pyramid that is lifted from the inside
//    triangle to the cut points one corner after the other, each lift sweeping one tet.
//    The order of two lifts decides the diagonal of the quadrilateral on the shared lattice face: the longer
//    lattice edge first, then the smaller vertex index, so both sides of a face agree and no cycle arises.
#include "shape/cut.h"

#include <stdlib.h>

#include "base/cancel.h"
#include "base/memory.h"
#include "math/point3.h"

#define ALPHA_LONG 0.24999
#define ALPHA_SHORT 0.41189
#define ALPHA_OTHER 0.3         // edges that only the graded lattice has
#define LONG_OVER_SHORT 1.1548  // length ratio of BCC edges: caps the reach of long edges at mixed vertices

typedef struct cut_point {
    int inside, outside;  // lattice vertices
    double x[3];
    int vertex;  // in the output, -1 until used
    bool alive;
} cut_point;

typedef struct cutter {
    ct_lattice* lattice;
    const ct_shape* shape;
    ct_tet_list* list;
    ct_key_map map;  // edge -> cut point
    cut_point* cut;
    size_t ncut, capacity;
    int *start, *item;  // cut points around each lattice vertex
    double* shortest;   // nvert   length of the shortest lattice edge
    int* vertex;        // nvert   index in the output, -1 until used
    bool failed;        // out of memory
} cutter;

static long edge_length2(const ct_lattice* lattice, int a, int b) {
    long sum = 0;
    for (int k = 0; k < 3; k++) {
        long gap = lattice->place[3 * (size_t)a + (size_t)k] - lattice->place[3 * (size_t)b + (size_t)k];
        sum += gap * gap;
    }
    return sum;
}

static double edge_alpha(const ct_lattice* lattice, int a, int b) {
    int moved = 0;
    for (int k = 0; k < 3; k++)
        moved += lattice->place[3 * (size_t)a + (size_t)k] != lattice->place[3 * (size_t)b + (size_t)k];
    return moved == 1 ? ALPHA_LONG : moved == 3 ? ALPHA_SHORT : ALPHA_OTHER;
}

// Root of the distance between a (negative) and b (positive): false position with the Illinois weights.
static void find_root(const ct_shape* shape, const double a[3], const double b[3], double fa, double fb,
                      double x[3]) {
    double ta = 0, tb = 1, direction[3], tolerance = 1e-10 * (fabs(fa) + fabs(fb));
    subtract3(b, a, direction);
    int last = 0;
    for (int iteration = 0; iteration < 60; iteration++) {
        double t = iteration < 30 ? (ta * fb - tb * fa) / (fb - fa) : (ta + tb) / 2;
        add_scaled3(a, t, direction, x);
        double f = ct_shape_distance(shape, x);
        if (fabs(f) <= tolerance || tb - ta < 1e-12) return;
        if (f < 0) {
            ta = t, fa = f;
            if (last == -1) fb /= 2;
            last = -1;
        } else {
            tb = t, fb = f;
            if (last == 1) fa /= 2;
            last = 1;
        }
    }
}

static void add_cut(cutter* c, int inside, int outside) {
    int* known = ct_key_map_at(&c->map, ct_key_pair(inside, outside));
    if (!known || !ct_reserve((void**)&c->cut, &c->capacity, c->ncut + 1, sizeof *c->cut)) {
        c->failed = true;
        return;
    }
    if (*known >= 0) return;
    cut_point* cut = c->cut + c->ncut;
    *cut = (cut_point){.inside = inside, .outside = outside, .vertex = -1, .alive = true};
    const ct_lattice* l = c->lattice;
    find_root(c->shape, l->x + 3 * (size_t)inside, l->x + 3 * (size_t)outside, l->distance[inside],
              l->distance[outside], cut->x);
    *known = (int)c->ncut++;
}

// Cut points of all edges, and the shortest edge at each vertex.
static void find_cuts(cutter* c) {
    const ct_lattice* lattice = c->lattice;
    for (int t = 0; t < lattice->ntet && !c->failed; t++) {
        const int* v = lattice->tet + 4 * (size_t)t;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) {
                double length = lattice->unit * sqrt((double)edge_length2(lattice, v[i], v[j]));
                double fi = lattice->distance[v[i]], fj = lattice->distance[v[j]];
                c->shortest[v[i]] = fmin(c->shortest[v[i]], length);
                c->shortest[v[j]] = fmin(c->shortest[v[j]], length);
                if (fi < 0 && fj > 0) add_cut(c, v[i], v[j]);
                if (fj < 0 && fi > 0) add_cut(c, v[j], v[i]);
            }
    }
}

static bool list_cuts(cutter* c) {
    size_t nvert = (size_t)c->lattice->nvert;
    c->start = ct_alloc(nvert + 2, sizeof(int));
    c->item = ct_alloc(2 * c->ncut, sizeof(int));
    if (!c->start || !c->item) return false;
    for (size_t i = 0; i < c->ncut; i++) {
        c->start[c->cut[i].inside + 1]++;
        c->start[c->cut[i].outside + 1]++;
    }
    for (size_t v = 1; v <= nvert; v++) c->start[v] += c->start[v - 1];
    for (size_t i = c->ncut; i-- > 0;) {
        c->item[--c->start[c->cut[i].inside + 1]] = (int)i;
        c->item[--c->start[c->cut[i].outside + 1]] = (int)i;
    }
    // start[v + 1] now begins v: shift back.
    for (size_t v = 0; v < nvert; v++) c->start[v] = c->start[v + 1];
    c->start[nvert] = 2 * (int)c->ncut;
    return true;
}

static void warp_vertex(cutter* c, int v) {
    ct_lattice* lattice = c->lattice;
    double best = INFINITY;
    const cut_point* target = NULL;
    double* x = lattice->x + 3 * (size_t)v;
    for (int i = c->start[v]; i < c->start[v + 1]; i++) {
        const cut_point* cut = c->cut + c->item[i];
        if (!cut->alive) continue;
        int other = cut->inside == v ? cut->outside : cut->inside;
        double length = lattice->unit * sqrt((double)edge_length2(lattice, v, other));
        length = fmin(length, LONG_OVER_SHORT * c->shortest[v]);
        double distance = distance3(cut->x, x);
        if (distance < edge_alpha(lattice, v, other) * length && distance < best) {
            best = distance;
            target = cut;
        }
    }
    if (!target) return;
    copy3(x, target->x);
    lattice->distance[v] = 0;
    for (int i = c->start[v]; i < c->start[v + 1]; i++) c->cut[c->item[i]].alive = false;
}

// ---------------------------------------------------------------------------------------------
// Stencils

static int output_vertex(cutter* c, int v) {
    if (c->vertex[v] < 0)
        c->vertex[v] =
            ct_tet_list_add_vertex(c->list, c->lattice->x + 3 * (size_t)v, c->lattice->distance[v] == 0);
    if (c->vertex[v] < 0) c->failed = true;
    return c->vertex[v];
}

static int output_cut(cutter* c, int inside, int outside) {
    cut_point* cut = c->cut + ct_key_map_find(&c->map, ct_key_pair(inside, outside));
    if (cut->vertex < 0) cut->vertex = ct_tet_list_add_vertex(c->list, cut->x, true);
    if (cut->vertex < 0) c->failed = true;
    return cut->vertex;
}

static void output_tet(cutter* c, const int v[4]) {
    if (!c->failed && !ct_tet_list_add_tet(c->list, v[0], v[1], v[2], v[3])) c->failed = true;
}

// Whether the lift along (a, outside) comes before the one along (b, outside).
static bool lifts_first(const cutter* c, int a, int b, int outside) {
    long la = edge_length2(c->lattice, a, outside), lb = edge_length2(c->lattice, b, outside);
    return la != lb ? la > lb : a < b;
}

// Lifts the corners `bottom` to `top` in the given order; each lift sweeps one tet.
static void lift(cutter* c, const int bottom[3], const int top[3], const int* order, int count) {
    int v[4] = {bottom[0], bottom[1], bottom[2], 0};
    for (int i = 0; i < count; i++) {
        v[3] = top[order[i]];
        output_tet(c, v);
        v[order[i]] = v[3];
    }
}

// Smallest quality of the tets that `lift` would make.
static double lift_quality(const cutter* c, const int bottom[3], const int top[3], const int order[3]) {
    const double* x = c->list->x;
    double worst = INFINITY;
    int v[3] = {bottom[0], bottom[1], bottom[2]};
    for (int i = 0; i < 3; i++) {
        int up = top[order[i]];
        worst = fmin(worst, ct_tet_list_quality(x + 3 * (size_t)v[0], x + 3 * (size_t)v[1],
                                                x + 3 * (size_t)v[2], x + 3 * (size_t)up));
        v[order[i]] = up;
    }
    return worst;
}

// Two inside, two outside: the prism between the triangles at both inside vertices. The diagonal of the
// quadrilateral on the surface is free unless the other two leave one choice.
static void fill_two_two(cutter* c, const int v[4]) {
    int bottom[3] = {output_vertex(c, v[0]), output_cut(c, v[0], v[2]), output_cut(c, v[0], v[3])};
    int top[3] = {output_vertex(c, v[1]), output_cut(c, v[1], v[2]), output_cut(c, v[1], v[3])};
    if (c->failed) return;
    bool before_first = lifts_first(c, v[0], v[1], v[2]), before_second = lifts_first(c, v[0], v[1], v[3]);
    int order[3] = {1, 0, 2}, swapped[3];
    if (before_first && !before_second) order[0] = 2, order[2] = 1;
    if (before_first == before_second) {
        int at = before_first ? 0 : 2, other = before_first ? 1 : 0;
        order[at] = swapped[at] = 0;
        order[other] = swapped[other + 1] = 1;
        order[other + 1] = swapped[other] = 2;
        if (lift_quality(c, bottom, top, swapped) > lift_quality(c, bottom, top, order)) {
            lift(c, bottom, top, swapped, 3);
            return;
        }
    }
    lift(c, bottom, top, order, 3);
}

// Inside corners of a face lifted towards the one outside vertex v[3]; `count` of v[0..2] are inside, the
// rest zero.
static void fill_one_outside(cutter* c, const int v[4], int count) {
    int bottom[3], top[3] = {-1, -1, -1}, order[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) bottom[i] = output_vertex(c, v[i]);
    for (int i = 0; i < count; i++) top[i] = output_cut(c, v[i], v[3]);
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && lifts_first(c, v[order[j]], v[order[j - 1]], v[3]); j--) {
            int saved = order[j];
            order[j] = order[j - 1];
            order[j - 1] = saved;
        }
    if (!c->failed) lift(c, bottom, top, order, count);
}

// Sorts inside, zero, outside by an even permutation, so that the volume stays positive; counts inside and
// outside.
static void sort_by_sign(const double* distance, int v[4], int* inside, int* outside) {
    bool odd = false;
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0; j--) {
            double f = distance[v[j]], g = distance[v[j - 1]];
            if ((f > 0) - (f < 0) >= (g > 0) - (g < 0)) break;
            int saved = v[j];
            v[j] = v[j - 1];
            v[j - 1] = saved;
            odd = !odd;
        }
    *inside = *outside = 0;
    for (int i = 0; i < 4; i++) {
        *inside += distance[v[i]] < 0;
        *outside += distance[v[i]] > 0;
    }
    // Among four vertices and three signs two are alike: swapping them keeps the sorting.
    for (int i = 0; odd && i < 3; i++) {
        double f = distance[v[i]], g = distance[v[i + 1]];
        if ((f > 0) - (f < 0) != (g > 0) - (g < 0)) continue;
        int saved = v[i];
        v[i] = v[i + 1];
        v[i + 1] = saved;
        odd = false;
    }
}

static void fill_tet(cutter* c, const int tet[4]) {
    int v[4] = {tet[0], tet[1], tet[2], tet[3]}, inside, outside, corner[4];
    sort_by_sign(c->lattice->distance, v, &inside, &outside);
    if (inside == 0) return;
    if (inside == 2 && outside == 2) {
        fill_two_two(c, v);
    } else if (inside >= 2 && outside == 1) {
        fill_one_outside(c, v, inside);
    } else {
        for (int i = 0; i < 4; i++)
            corner[i] = i < 4 - outside ? output_vertex(c, v[i]) : output_cut(c, v[0], v[i]);
        output_tet(c, corner);
    }
}

ct_status ct_cut_lattice(ct_tet_list* list, ct_lattice* lattice, const ct_shape* shape) {
    size_t nvert = (size_t)lattice->nvert;
    cutter c = {.lattice = lattice, .shape = shape, .list = list};
    c.shortest = ct_alloc(nvert, sizeof(double));
    c.vertex = ct_alloc(nvert, sizeof(int));
    c.failed = !c.shortest || !c.vertex;
    for (size_t v = 0; v < nvert && !c.failed; v++) {
        c.shortest[v] = INFINITY;
        c.vertex[v] = -1;
        if (fabs(lattice->distance[v]) < 1e-9 * lattice->unit) lattice->distance[v] = 0;
    }
    bool cancelled = false;
    if (!c.failed) find_cuts(&c);
    if (!c.failed && !list_cuts(&c)) c.failed = true;
    for (int v = 0; v < lattice->nvert && !c.failed && !cancelled; v++) {
        warp_vertex(&c, v);
        cancelled = ct_cancelled_at((size_t)v);
    }
    for (int t = 0; t < lattice->ntet && !c.failed && !cancelled; t++) {
        fill_tet(&c, lattice->tet + 4 * (size_t)t);
        cancelled = ct_cancelled_at((size_t)t);
    }
    ct_key_map_clear(&c.map);
    ct_free(c.cut);
    ct_free(c.start);
    ct_free(c.item);
    ct_free(c.shortest);
    ct_free(c.vertex);
    return c.failed ? CT_OUT_OF_MEMORY : cancelled ? CT_CANCELLED : CT_OK;
}
