// Anchors; see anchor.h.
#include "contact/anchor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/point3.h"

static int compare(const ct_anchor* anchor, int type, int plane, const int node[4]) {
    if (anchor->type != type) return anchor->type < type ? -1 : 1;
    if (anchor->plane != plane) return anchor->plane < plane ? -1 : 1;
    for (int k = 0; k < 4; k++)
        if (anchor->node[k] != node[k]) return anchor->node[k] < node[k] ? -1 : 1;
    return 0;
}

int ct_anchor_find(ct_anchors list, const ct_pair* pair) {
    int low = 0, high = list.count;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = compare(&list.item[middle], (int)pair->type, pair->plane, pair->node);
        if (order == 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

static int by_pair(const void* p, const void* q) {
    const ct_anchor* b = q;
    return compare(p, b->type, b->plane, b->node);
}

int ct_anchor_write(const ct_touch_record* touch, size_t stride, size_t count, ct_anchor* out, int room) {
    int written = 0;
    for (size_t i = 0; i < count && written < room; i++) {
        const ct_touch_record* is = (const ct_touch_record*)((const char*)touch + i * stride);
        if (is->set == CT_CONTACT_SET_OPEN) continue;
        ct_anchor* anchor = &out[written++];
        *anchor = (ct_anchor){.type = (int)is->pair.type, .plane = is->pair.plane};
        memcpy(anchor->node, is->pair.node, sizeof anchor->node);
        copy3(anchor->force, is->force);
    }
    if (written) qsort(out, (size_t)written, sizeof *out, by_pair);
    int kept = 0;
    for (int i = 0; i < written; i++) {
        if (kept && by_pair(&out[kept - 1], &out[i]) == 0)
            add_scaled3(out[kept - 1].force, 1, out[i].force, out[kept - 1].force);
        else out[kept++] = out[i];
    }
    return kept;
}

void ct_anchor_project(double friction, const double n[3], const double force[3], double out[3]) {
    double normal = fmax(dot3(n, force), 0), along = dot3(n, force), T[3];
    for (int a = 0; a < 3; a++) T[a] = force[a] - along * n[a];
    double size = length3(T), keep = size > friction * normal ? friction * normal / size : 1;
    for (int a = 0; a < 3; a++) out[a] = normal * n[a] + keep * T[a];
}

void ct_anchor_project_vjp(double friction, const double n[3], const double force[3], const double out_bar[3],
                           double n_bar[3], double force_bar[3], double* friction_bar) {
    double along = dot3(n, force), T[3];
    if (along <= 0) return;  // nothing is left of it
    for (int a = 0; a < 3; a++) T[a] = force[a] - along * n[a];
    double size = length3(T), across[3], along_bar = dot3(n, out_bar);
    copy3(across, out_bar);
    add_scaled3(n_bar, along, out_bar, n_bar);
    if (size > friction * along) {
        // T becomes mu along T/|T|
        double pull = dot3(T, out_bar) / size;
        *friction_bar += along * pull;
        along_bar += friction * pull;
        for (int a = 0; a < 3; a++) across[a] = friction * along / size * (out_bar[a] - pull * T[a] / size);
    }
    along_bar -= dot3(n, across);
    for (int a = 0; a < 3; a++) {
        n_bar[a] += along_bar * force[a] - along * across[a];
        force_bar[a] += across[a] + along_bar * n[a];
    }
}

void ct_anchor_project_jvp(double friction, const double n[3], const double force[3], const double n_dot[3],
                           const double force_dot[3], double friction_dot, double out_dot[3]) {
    const double along = dot3(n, force), along_dot = dot3(n_dot, force) + dot3(n, force_dot);
    double T[3], T_dot[3];
    if (along <= 0) {  // nothing is left of it
        out_dot[0] = out_dot[1] = out_dot[2] = 0;
        return;
    }
    for (int a = 0; a < 3; a++) {
        T[a] = force[a] - along * n[a];
        T_dot[a] = force_dot[a] - along_dot * n[a] - along * n_dot[a];
    }
    const double size = length3(T);
    if (size > friction * along) {
        const double pull = dot3(T, T_dot) / size, cut = friction_dot * along + friction * along_dot;
        for (int a = 0; a < 3; a++)
            T_dot[a] = (cut * T[a] + friction * along * (T_dot[a] - pull * T[a] / size)) / size;
    }
    for (int a = 0; a < 3; a++) out_dot[a] = along_dot * n[a] + along * n_dot[a] + T_dot[a];
}
