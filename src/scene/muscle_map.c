// Fibres along a polyline; see muscle_map.h.
#include "scene/muscle_map.h"

#include <math.h>

#include "math/vec3.h"

typedef struct polyline {
    const double* points;
    int npiece;
    double length;
} polyline;

typedef struct nearest {
    double distance, arc;  // m; arc length from the start
    int piece;
    double u;  // along the piece, 0 to 1
} nearest;

static ct_vec3 point(const polyline* line, int i) { return ct_vec3_load(line->points + 3 * i); }

static ct_vec3 piece_direction(const polyline* line, int i) {
    return ct_vec3_normalise(ct_vec3_sub(point(line, i + 1), point(line, i)));
}

static nearest find_nearest(const polyline* line, ct_vec3 p) {
    nearest best = {.distance = INFINITY};
    double arc = 0;
    for (int i = 0; i < line->npiece; i++) {
        const ct_vec3 a = point(line, i), edge = ct_vec3_sub(point(line, i + 1), a), arm = ct_vec3_sub(p, a);
        const double length = ct_vec3_norm(edge),
                     u = fmin(fmax(ct_vec3_dot(arm, edge) / (length * length), 0), 1);
        const double distance = ct_vec3_norm(ct_vec3_axpy(arm, -u, edge));
        if (distance < best.distance) best = (nearest){distance, arc + u * length, i, u};
        arc += length;
    }
    return best;
}

// The bisector of the pieces that meet at point i; of pieces that fold back, and at the ends, the piece's own
// direction.
static ct_vec3 point_tangent(const polyline* line, int i, int piece) {
    const ct_vec3 own = piece_direction(line, piece);
    if (i == 0 || i == line->npiece) return own;
    const ct_vec3 sum = ct_vec3_add(piece_direction(line, i - 1), piece_direction(line, i));
    return ct_vec3_norm(sum) > 1e-6 ? ct_vec3_normalise(sum) : own;
}

static ct_vec3 tangent(const polyline* line, const nearest* n) {
    const ct_vec3 middle = piece_direction(line, n->piece),
                  end = point_tangent(line, n->piece + (n->u > 0.5), n->piece);
    const double t = fabs(2 * n->u - 1);  // 0 in the middle, 1 at either end
    return ct_vec3_normalise(ct_vec3_add(ct_vec3_scale(1 - t, middle), ct_vec3_scale(t, end)));
}

static double falloff(double distance, double radius) {
    const double t = fmax(2 * distance / radius - 1, 0);
    return t < 1 ? 1 - t * t * (3 - 2 * t) : 0;
}

static ct_vec3 centroid(const ct_mesh* mesh, int t) {
    ct_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 4; k++)
        sum = ct_vec3_add(sum, ct_vec3_load(mesh->x + 3 * (size_t)mesh->tet[4 * t + k]));
    return ct_vec3_scale(0.25, sum);
}

ct_status ct_muscle_map_create(ct_muscle_map* out, ct_arena* arena, const ct_mesh* mesh, const double* points,
                               int npoint, double radius, int segments) {
    polyline line = {points, npoint - 1, 0};
    for (int i = 0; i < line.npiece; i++)
        line.length += ct_vec3_norm(ct_vec3_sub(point(&line, i + 1), point(&line, i)));
    const size_t ntet = (size_t)mesh->ntet;
    *out = (ct_muscle_map){.nsegment = segments ? segments : line.npiece};
    out->tet = ct_arena_alloc(arena, ntet, sizeof(int));
    out->segment = ct_arena_alloc(arena, ntet, sizeof(int));
    out->direction = ct_arena_alloc(arena, 3 * ntet, sizeof(double));
    out->weight = ct_arena_alloc(arena, ntet, sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int t = 0; t < mesh->ntet; t++) {
        const nearest n = find_nearest(&line, centroid(mesh, t));
        const double weight = falloff(n.distance, radius);
        if (!(weight > 0)) continue;
        const int e = out->ntet++, along = (int)(segments * n.arc / line.length);
        out->tet[e] = t;
        out->segment[e] = segments ? along < segments ? along : segments - 1 : n.piece;
        out->weight[e] = weight;
        ct_vec3_store(out->direction + 3 * (size_t)e, tangent(&line, &n));
    }
    return CT_OK;
}
