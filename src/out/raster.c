// A z-buffer of triangles; see raster.h.
//
// Inside test by edge functions e_k(p) = cross(b - a, p - a); weights l_k = e_k / area are linear on screen,
// and perspective-correct ones are (l_k / w_k) / sum_j (l_j / w_j). Depth z/w is linear on screen.
#include "out/raster.h"

#include <math.h>
#include <string.h>

typedef struct corner {  // of a triangle after clipping
    double clip[4];
    double weight[3];  // of the original vertices
} corner;

typedef struct screen_corner {
    double x, y, depth, inverse_w;
    const double* weight;
} screen_corner;

void ct_raster_create(ct_raster* raster, ct_arena* arena, int width, int height, int rows, double near) {
    size_t count = (size_t)width * (size_t)rows;
    *raster = (ct_raster){.width = width, .height = height, .rows = rows, .near = near};
    raster->depth = ct_arena_alloc(arena, count, sizeof(float));
    raster->id = ct_arena_alloc(arena, count, sizeof(int));
    raster->weight = ct_arena_alloc(arena, 2 * count, sizeof(float));
}

void ct_raster_begin(ct_raster* raster, int first_row) {
    raster->first_row = first_row;
    size_t count = (size_t)raster->width * (size_t)raster->rows;
    for (size_t i = 0; i < count; i++) raster->depth[i] = INFINITY;
    memset(raster->id, 0xff, count * sizeof(int));
}

// Does the edge a -> b (of a triangle with positive area, y downwards) own the samples that lie on it?
static bool owns_edge(const screen_corner* a, const screen_corner* b) {
    double dx = b->x - a->x, dy = b->y - a->y;
    return dy < 0 || (dy == 0 && dx > 0);
}

static double edge(const screen_corner* a, const screen_corner* b, double x, double y) {
    return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

static void store(ct_raster* raster, size_t at, int id, float depth, const screen_corner* const p[3],
                  const double l[3]) {
    double sum = 0, weight[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        double share = l[k] * p[k]->inverse_w;
        sum += share;
        for (int j = 0; j < 3; j++) weight[j] += share * p[k]->weight[j];
    }
    raster->depth[at] = depth;
    raster->id[at] = id;
    raster->weight[2 * at] = (float)(weight[1] / sum);
    raster->weight[2 * at + 1] = (float)(weight[2] / sum);
}

// First and one past the last sample whose centre lies in [low, high], within [0, limit).
static void sample_range(double low, double high, int start, int limit, int* first, int* end) {
    *first = low - 0.5 <= start ? start : low - 0.5 >= limit ? limit : (int)ceil(low - 0.5);
    *end = high - 0.5 < start ? start : high - 0.5 >= limit ? limit : (int)floor(high - 0.5) + 1;
}

static void fill(ct_raster* raster, int id, const screen_corner* a, const screen_corner* b,
                 const screen_corner* c) {
    double area = edge(a, b, c->x, c->y);
    if (!(fabs(area) > 1e-12)) return;
    if (area < 0) {
        const screen_corner* swap = b;
        b = c;
        c = swap;
        area = -area;
    }
    const screen_corner* const p[3] = {a, b, c};
    double inverse = 1 / area;
    int x0, x1, y0, y1;
    sample_range(fmin(a->x, fmin(b->x, c->x)), fmax(a->x, fmax(b->x, c->x)), 0, raster->width, &x0, &x1);
    sample_range(fmin(a->y, fmin(b->y, c->y)), fmax(a->y, fmax(b->y, c->y)), raster->first_row,
                 raster->first_row + raster->rows < raster->height ? raster->first_row + raster->rows
                                                                   : raster->height,
                 &y0, &y1);
    bool own[3] = {owns_edge(b, c), owns_edge(c, a), owns_edge(a, b)};
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double e[3] = {edge(b, c, x + 0.5, y + 0.5), edge(c, a, x + 0.5, y + 0.5),
                           edge(a, b, x + 0.5, y + 0.5)};
            if (e[0] < 0 || e[1] < 0 || e[2] < 0) continue;
            if ((e[0] == 0 && !own[0]) || (e[1] == 0 && !own[1]) || (e[2] == 0 && !own[2])) continue;
            double l[3] = {e[0] * inverse, e[1] * inverse, e[2] * inverse};
            float depth = (float)(l[0] * a->depth + l[1] * b->depth + l[2] * c->depth);
            size_t at = (size_t)(y - raster->first_row) * (size_t)raster->width + (size_t)x;
            if (depth < raster->depth[at]) store(raster, at, id, depth, p, l);
        }
}

static screen_corner project(const ct_raster* raster, const corner* from) {
    double inverse = 1 / from->clip[3];
    return (screen_corner){.x = (from->clip[0] * inverse + 1) * 0.5 * raster->width,
                           .y = (1 - from->clip[1] * inverse) * 0.5 * raster->height,
                           .depth = from->clip[2] * inverse,
                           .inverse_w = inverse,
                           .weight = from->weight};
}

// Cuts the triangle off at w = near; 0, 3 or 4 corners remain.
static int clip_near(const corner in[3], double near, corner out[4]) {
    int count = 0;
    for (int k = 0; k < 3; k++) {
        const corner *a = &in[k], *b = &in[(k + 1) % 3];
        double da = a->clip[3] - near, db = b->clip[3] - near;
        if (da >= 0) out[count++] = *a;
        if ((da < 0) == (db < 0)) continue;
        double t = da / (da - db);
        corner* cut = &out[count++];
        for (int j = 0; j < 4; j++) cut->clip[j] = a->clip[j] + t * (b->clip[j] - a->clip[j]);
        for (int j = 0; j < 3; j++) cut->weight[j] = a->weight[j] + t * (b->weight[j] - a->weight[j]);
    }
    return count;
}

void ct_raster_triangle(ct_raster* raster, int id, const double clip[3][4]) {
    corner in[3], cut[4];
    for (int k = 0; k < 3; k++) {
        in[k] = (corner){.weight = {k == 0, k == 1, k == 2}};
        memcpy(in[k].clip, clip[k], sizeof in[k].clip);
        if (!isfinite(clip[k][0] + clip[k][1] + clip[k][2] + clip[k][3])) return;
    }
    int count = clip_near(in, raster->near, cut);
    if (count < 3) return;
    screen_corner p[4];
    for (int k = 0; k < count; k++) p[k] = project(raster, &cut[k]);
    for (int k = 2; k < count; k++) fill(raster, id, &p[0], &p[k - 1], &p[k]);
}
