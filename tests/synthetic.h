// Small bodies from formulas for the tests of files and pictures: a grid of cells cut into six tets each,
// bent into a box, a ball or a ring, and its boundary.
#ifndef CT_TESTS_SYNTHETIC_H
#define CT_TESTS_SYNTHETIC_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/trajectory.h"

typedef struct synthetic {
    int nvert, ntet, nsurface;
    double* rest;  // 3 nvert
    double* x;     // 3 nvert, to be filled by the test
    double* v;
    int* tet;
    int* surface;
    int* body;
    double* field;  // ntet
} synthetic;

typedef struct synthetic_face {
    int key[3], node[3];
} synthetic_face;

static inline int synthetic_compare(const void* a, const void* b) { return memcmp(a, b, 3 * sizeof(int)); }

static inline void synthetic_surface(synthetic* s) {
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    int count = 4 * s->ntet;
    synthetic_face* all = malloc((size_t)count * sizeof *all);
    for (int i = 0; i < count; i++) {
        int* key = all[i].key;
        for (int c = 0; c < 3; c++) all[i].node[c] = key[c] = s->tet[4 * (i / 4) + face[i % 4][c]];
        for (int a = 0; a < 3; a++)
            for (int b = a + 1; b < 3; b++)
                if (key[b] < key[a]) {
                    int t = key[a];
                    key[a] = key[b];
                    key[b] = t;
                }
    }
    qsort(all, (size_t)count, sizeof *all, synthetic_compare);
    s->surface = malloc((size_t)count * 3 * sizeof(int));
    s->nsurface = 0;
    for (int i = 0; i < count; i++) {
        if (i + 1 < count && synthetic_compare(&all[i], &all[i + 1]) == 0) {
            i++;
            continue;
        }
        memcpy(s->surface + 3 * s->nsurface++, all[i].node, 3 * sizeof(int));
    }
    free(all);
}

// nx x ny x nz cells on the unit cube; with `ring` the x direction closes on itself.
static inline synthetic synthetic_grid(int nx, int ny, int nz, bool ring) {
    static const int path[6][2] = {{1, 2}, {2, 1}, {2, 4}, {4, 2}, {4, 1}, {1, 4}};
    synthetic s = {0};
    int mx = ring ? nx : nx + 1, my = ny + 1, mz = nz + 1;
    s.nvert = mx * my * mz;
    s.ntet = 6 * nx * ny * nz;
    s.rest = calloc((size_t)s.nvert * 3, sizeof(double));
    s.x = calloc((size_t)s.nvert * 3, sizeof(double));
    s.v = calloc((size_t)s.nvert * 3, sizeof(double));
    s.tet = calloc((size_t)s.ntet * 4, sizeof(int));
    s.body = calloc((size_t)s.ntet, sizeof(int));
    s.field = calloc((size_t)s.ntet, sizeof(double));
    for (int i = 0; i < s.nvert; i++) {
        s.rest[3 * i] = (double)(i % mx) / nx;
        s.rest[3 * i + 1] = (double)(i / mx % my) / ny;
        s.rest[3 * i + 2] = (double)(i / mx / my) / nz;
    }
    int t = 0;
    for (int c = 0; c < nx * ny * nz; c++)
        for (int p = 0; p < 6; p++, t++) {
            int corner[4] = {0, path[p][0], path[p][0] | path[p][1], 7};
            for (int k = 0; k < 4; k++) {
                int x = c % nx + (corner[k] & 1), y = c / nx % ny + (corner[k] >> 1 & 1),
                    z = c / nx / ny + (corner[k] >> 2);
                s.tet[4 * t + k] = x % mx + mx * (y + my * z);
            }
            if (p % 2) {
                int* n = s.tet + 4 * t;
                int swap = n[1];
                n[1] = n[2];
                n[2] = swap;
            }
        }
    // The two orders of the odd paths are mirror images: orient by the sign of the volume.
    for (t = 0; t < s.ntet && !ring; t++) {
        int* n = s.tet + 4 * t;
        const double *a = s.rest + 3 * n[0], *b = s.rest + 3 * n[1], *c = s.rest + 3 * n[2],
                     *d = s.rest + 3 * n[3];
        double e[3][3], volume;
        for (int k = 0; k < 3; k++) {
            e[0][k] = b[k] - a[k];
            e[1][k] = c[k] - a[k];
            e[2][k] = d[k] - a[k];
        }
        volume = (e[0][1] * e[1][2] - e[0][2] * e[1][1]) * e[2][0] +
                 (e[0][2] * e[1][0] - e[0][0] * e[1][2]) * e[2][1] +
                 (e[0][0] * e[1][1] - e[0][1] * e[1][0]) * e[2][2];
        if (volume < 0) {
            int swap = n[2];
            n[2] = n[3];
            n[3] = swap;
        }
    }
    synthetic_surface(&s);
    memcpy(s.x, s.rest, (size_t)s.nvert * 3 * sizeof(double));
    return s;
}

static inline void synthetic_free(synthetic* s) {
    free(s->rest);
    free(s->x);
    free(s->v);
    free(s->tet);
    free(s->surface);
    free(s->body);
    free(s->field);
}

static inline ct_trajectory_def synthetic_def(const synthetic* s, size_t state_size) {
    static const double color[6] = {0.86, 0.37, 0.28, 0.24, 0.55, 0.79};
    ct_trajectory_def def = {
        .info = {.nvert = s->nvert,
                 .ntet = s->ntet,
                 .nsurface = s->nsurface,
                 .nbody = 2,
                 .up = 1,
                 .ground = NAN,
                 .time_step = 0.01,
                 .scene_file = "/tmp/nowhere.json",
                 .scene_name = "synthetic",
                 .view = {.automatic = true, .eye = {1, 2, 3}, .target = {4, 5, 6}, .field_of_view = 40}},
        .rest = s->rest,
        .tet = s->tet,
        .surface = s->surface,
        .tet_body = s->body,
        .body_color = color,
        .scene_text = "{}",
        .scene_text_size = 2,
        .state_size = state_size};
    return def;
}

// Frame k of a deterministic motion; the state block is filled with a pattern of k.
static inline ct_trajectory_sample synthetic_frame(synthetic* s, int k, double* state, int nstate) {
    for (int i = 0; i < 3 * s->nvert; i++) {
        s->x[i] = s->rest[i] + 0.05 * sin(0.3 * k + s->rest[i - i % 3] * 2 + i % 3);
        s->v[i] = cos(0.3 * k + i) / 3;
    }
    for (int i = 0; i < s->ntet; i++) s->field[i] = 1 + sin(i + 0.1 * k);
    for (int i = 0; i < nstate; i++) state[i] = sin(k * 1.7 + i) / 7;
    return (ct_trajectory_sample){.time = 0.01 * k,
                                  .step = 10 * k,
                                  .x = s->x,
                                  .v = s->v,
                                  .stress = s->field,
                                  .energy = s->field,
                                  .volume = s->field,
                                  .state = state};
}

#endif
