// Counting and naming tets that are inside out; see inverted.h.
#include "step/inverted.h"

#include <stdio.h>

// Six times the volume between the corners.
static inline double corner_volume(const int* v, const double* x) {
    const double *p = x + 3 * v[0], *a = x + 3 * v[1], *b = x + 3 * v[2], *c = x + 3 * v[3];
    double ax = a[0] - p[0], ay = a[1] - p[1], az = a[2] - p[2];
    double bx = b[0] - p[0], by = b[1] - p[1], bz = b[2] - p[2];
    double cx = c[0] - p[0], cy = c[1] - p[1], cz = c[2] - p[2];
    return (ay * bz - az * by) * cx + (az * bx - ax * bz) * cy + (ax * by - ay * bx) * cz;
}

// The same; of tets of second order, at the point where it is least.
static double least_volume(const ct_model* model, int t, const double* x) {
    const int *v = model->geometry.tet + 4 * (size_t)t, *mid = ct_model_middles(model, t);
    double least;
    if (!mid) return corner_volume(v, x);
    ct_cell_volume(v, mid, x, &least);
    return least;
}

int ct_inverted_count(const ct_model* model, const double* x) {
    int count = 0;
    if (model->geometry.mid) {
        for (int t = 0; t < model->ntet; t++) count += !(least_volume(model, t, x) > 0);
        return count;
    }
    const int* tet = model->geometry.tet;
    for (int t = 0; t < model->ntet; t++) count += !(corner_volume(tet + 4 * (size_t)t, x) > 0);
    return count;
}

int ct_inverted_name(const ct_model* model, const double* x, double share, char* text, size_t size) {
    int count = 0, first[3], body = -1, start = 0;
    for (int t = 0; t < model->ntet; t++) {
        double limit = share > 0 ? share * least_volume(model, t, model->geometry.rest) : 0;
        if (least_volume(model, t, x) > limit) continue;
        if (body < 0) body = model->geometry.tet_body[t];
        if (count < 3) first[count] = t;
        count++;
    }
    if (!count) return 0;
    while (model->geometry.tet_body[start] != body) start++;
    size_t at = (size_t)snprintf(text, size, count == 1 ? "tet" : "tets");
    for (int i = 0; i < count && i < 3 && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s %d", i ? "," : "", first[i] - start);
    if (count > 3 && at < size) at += (size_t)snprintf(text + at, size - at, " and %d more", count - 3);
    if (at < size)
        snprintf(text + at, size - at, " of \"%.40s\"%s", model->geometry.body_name[body],
                 count > 3 ? " and others" : "");
    return count;
}
