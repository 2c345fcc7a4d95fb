// Local improvement of the worst tets.
//
// For a vertex of a tet whose quality q (3 inradius / circumradius) is below TARGET, positions are tried that
// lie towards the mean of its neighbours or away from the opposite face of the worst tet; on the surface they
// are projected back by x - d grad d. A move is taken only if the smallest q around the vertex rises.
#include "shape/improve.h"

#include "base/cancel.h"
#include "base/memory.h"
#include "math/point3.h"
#include "shape/mesh.h"
#include "shape/shape.h"

#define TARGET 0.45
#define SWEEPS 8

typedef struct improver {
    ct_tet_list* list;
    const ct_shape* shape;
    int *start, *item;  // tets around each vertex: item[start[v]] .. item[start[v + 1] - 1]
} improver;

// Smallest quality around v with v at x, given up below `enough`; the worst tet and an edge length for scale.
static double star_quality(const improver* m, int v, const double x[3], double enough, int* worst) {
    double smallest = INFINITY;
    for (int i = m->start[v]; i < m->start[v + 1]; i++) {
        const int* tet = m->list->tet + 4 * (size_t)m->item[i];
        const double* corner[4];
        for (int k = 0; k < 4; k++) corner[k] = tet[k] == v ? x : m->list->x + 3 * (size_t)tet[k];
        double quality = ct_tet_list_quality(corner[0], corner[1], corner[2], corner[3]);
        if (quality < smallest) {
            smallest = quality;
            *worst = m->item[i];
        }
        if (smallest <= enough) break;
    }
    return smallest;
}

// Mean of the neighbours: of those on the surface for a surface vertex.
static void neighbor_mean(const improver* m, int v, double mean[3]) {
    const ct_tet_list* list = m->list;
    int count = 0;
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = m->start[v]; i < m->start[v + 1]; i++)
        for (int k = 0; k < 4; k++) {
            int w = list->tet[4 * (size_t)m->item[i] + (size_t)k];
            if (w == v || (list->surface[v] && !list->surface[w])) continue;
            add_scaled3(mean, 1, list->x + 3 * (size_t)w, mean);
            count++;
        }
    for (int k = 0; k < 3; k++) mean[k] = count > 0 ? mean[k] / count : list->x[3 * (size_t)v + (size_t)k];
}

// Unit normal of the face of `tet` opposite v, towards v, and the mean length of the edges at v.
static double opposite_normal(const improver* m, int v, int tet, double normal[3]) {
    const double *x = m->list->x, *corner[3];
    int count = 0;
    for (int k = 0; k < 4; k++) {
        int w = m->list->tet[4 * (size_t)tet + (size_t)k];
        if (w != v) corner[count++] = x + 3 * (size_t)w;
    }
    double ab[3], ac[3], to[3], scale = 0;
    subtract3(corner[1], corner[0], ab);
    subtract3(corner[2], corner[0], ac);
    subtract3(x + 3 * (size_t)v, corner[0], to);
    cross3(ab, ac, normal);
    double length = length3(normal), sign = dot3(normal, to) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) {
        normal[k] = length > 0 ? sign * normal[k] / length : 0;
        scale += distance3(corner[k], x + 3 * (size_t)v) / 3;
    }
    return scale;
}

static bool improve_vertex(improver* m, int v) {
    double* x = m->list->x + 3 * (size_t)v;
    int worst = -1, ignored;
    double best = star_quality(m, v, x, -INFINITY, &worst);
    if (worst < 0 || best >= TARGET) return false;
    double start = best, mean[3], normal[3], scale = opposite_normal(m, v, worst, normal),
           found[3] = {0, 0, 0};
    // A boundary vertex that pruning has laid bare stays where it is.
    if (m->list->surface[v] && fabs(ct_shape_distance(m->shape, x)) > 1e-4 * scale) return false;
    neighbor_mean(m, v, mean);
    static const double toward[] = {1, 0.5, 0.25}, away[] = {0.3, 0.15, 0.07, 0.03, -0.07, -0.15};
    for (int i = 0; i < 9; i++) {
        double trial[3], offset[3];
        subtract3(mean, x, offset);
        if (i < 3) add_scaled3(x, toward[i], offset, trial);
        else add_scaled3(x, away[i - 3] * scale, normal, trial);
        if (m->list->surface[v] && !ct_shape_project(m->shape, scale, trial)) continue;
        double quality = star_quality(m, v, trial, best, &ignored);
        if (quality > best) {
            best = quality;
            copy3(found, trial);
        }
    }
    if (best <= start * (1 + 1e-3)) return false;
    copy3(x, found);
    return true;
}

ct_status ct_improve(ct_tet_list* list, const ct_shape* shape) {
    improver m = {.list = list, .shape = shape};
    if (ct_mesh_incidence(list->nvert, 4, list->ntet, list->tet, &m.start, &m.item) != CT_OK)
        return CT_OUT_OF_MEMORY;
    bool moved = true, cancelled = false;
    for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
        moved = false;
        for (int t = 0; t < list->ntet && !cancelled; t++) {
            cancelled = ct_cancelled_at((size_t)t);
            const int* v = list->tet + 4 * (size_t)t;
            const double* x = list->x;
            double quality = ct_tet_list_quality(x + 3 * (size_t)v[0], x + 3 * (size_t)v[1],
                                                 x + 3 * (size_t)v[2], x + 3 * (size_t)v[3]);
            if (quality >= TARGET) continue;
            for (int k = 0; k < 4; k++) moved |= improve_vertex(&m, v[k]);
        }
    }
    ct_free(m.start);
    ct_free(m.item);
    return cancelled ? CT_CANCELLED : CT_OK;
}
