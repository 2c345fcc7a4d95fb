// Flat meshes of triangles on which the bending of sheets is held against theory: a rectangle [0, a] x [0, b]
// with diagonals that all run one way, that alternate, or that cross in every cell, and one without any
// order.
#ifndef CT_TESTS_SHEET_MESHES_H
#define CT_TESTS_SHEET_MESHES_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"

enum { DIAGONAL, ALTERNATING, CROSSED, UNSTRUCTURED, NMESH };

// With room for a vertex more: kernels read vertices four numbers at a time.
static ct_mesh* raw_mesh(int nvert, int ntri) {
    ct_mesh *mesh, blank = {0};
    blank.nvert = nvert + 1, blank.ntri = ntri;
    blank.x = calloc(3 * ((size_t)nvert + 1), sizeof(double)),
    blank.tri = calloc(3 * (size_t)ntri, sizeof(int));
    blank.tri_tag = calloc((size_t)ntri, sizeof(int));
    must(ct_mesh_copy(&mesh, &blank, NULL), NULL);
    mesh->nvert = nvert;
    free(blank.x), free(blank.tri), free(blank.tri_tag);
    return mesh;
}

static void put(ct_mesh* mesh, int* t, int a, int b, int c) {
    mesh->tri[3 * *t] = a, mesh->tri[3 * *t + 1] = b, mesh->tri[3 * *t + 2] = c;
    ++*t;
}

// d lies inside the circle through a, b, c (counter-clockwise).
static bool in_circle(const double* x, int a, int b, int c, int d) {
    double m[3][3];
    const int of[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        m[i][0] = x[3 * of[i]] - x[3 * d], m[i][1] = x[3 * of[i] + 1] - x[3 * d + 1];
        m[i][2] = m[i][0] * m[i][0] + m[i][1] * m[i][1];
    }
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
               m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) >
           1e-12 * m[0][2];
}

// Flips edges until every triangle is Delaunay's; nothing lies in the circles then.
static void make_delaunay(ct_mesh* mesh) {
    for (int pass = 0, flips = 1; flips && pass < 100; pass++) {
        flips = 0;
        for (int s = 0; s < mesh->ntri; s++)
            for (int t = s + 1; t < mesh->ntri; t++)
                for (int i = 0; i < 9; i++) {
                    int *p = mesh->tri + 3 * s, *q = mesh->tri + 3 * t, k = i / 3, l = i % 3;
                    // the common edge runs from b to c in the first, from c to b in the second
                    const int a = p[k], b = p[(k + 1) % 3], c = p[(k + 2) % 3], d = q[l];
                    if (q[(l + 1) % 3] != c || q[(l + 2) % 3] != b || !in_circle(mesh->x, a, b, c, d))
                        continue;
                    p[0] = a, p[1] = b, p[2] = d, q[0] = a, q[1] = d, q[2] = c;
                    flips++;
                }
    }
}

static ct_mesh* flat_mesh(int kind, double a, double b, int nx, int ny) {
    const int nodes = (nx + 1) * (ny + 1), cells = nx * ny;
    const bool crossed = kind == CROSSED;
    ct_mesh* mesh = raw_mesh(nodes + (crossed ? cells : 0), crossed ? 4 * cells : 2 * cells);
    uint64_t seed = 3;
    int t = 0;
    for (int j = 0; j <= ny; j++)
        for (int i = 0; i <= nx; i++) {
            double* x = mesh->x + 3 * (i + j * (nx + 1));
            x[0] = a * i / nx, x[1] = b * j / ny;
            if (kind != UNSTRUCTURED) continue;
            if (i > 0 && i < nx) x[0] += 0.24 * a / nx * noise(&seed);
            if (j > 0 && j < ny) x[1] += 0.24 * b / ny * noise(&seed);
        }
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            const int v = i + j * (nx + 1), w = v + nx + 1, m = nodes + i + j * nx;
            if (crossed) {
                mesh->x[3 * m] = a * (i + 0.5) / nx, mesh->x[3 * m + 1] = b * (j + 0.5) / ny;
                put(mesh, &t, v, v + 1, m), put(mesh, &t, v + 1, w + 1, m);
                put(mesh, &t, w + 1, w, m), put(mesh, &t, w, v, m);
            } else if (kind == ALTERNATING && (i + j) % 2) {
                put(mesh, &t, v, v + 1, w), put(mesh, &t, v + 1, w + 1, w);
            } else {
                put(mesh, &t, v, v + 1, w + 1), put(mesh, &t, v, w + 1, w);
            }
        }
    if (kind == UNSTRUCTURED) make_delaunay(mesh);
    return mesh;
}

#endif
