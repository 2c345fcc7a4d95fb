// Geometry of one contact; see contact_geometry.h.
//
// Every kind is the same construction. r joins a corner of the second primitive to a corner of the first, e_k
// (none, one or two) are the edges along which the feet may move, g_k their dual basis (g_k . e_l = 1 if k =
// l, else 0, in the span of the e_k):
//     r = sum w0_i x_i,   e_k = sum m_ki x_i,   q_k = g_k . r,   w_i = w0_i - sum_k m_ki q_k,   sum w_i x_i =
//     d n,   d = n . r
// Differentiating d n and n . e_k = 0, with S = sum w_i dx_i and T the projector on what is orthogonal to n
// and all e_k:
//     dn = T S / d - sum_k g_k (n . de_k),   dq_k = g_k . S - d g_k . dn,   dd = n . S
// T = 0 with two edges (faces, pairs of edges). Where an edge has no length, a face no area, or edges are
// parallel, the e_k are dropped: the feet are the corners and n is held fixed, unless the distance itself
// gives it.
//
// Slip. On a plane it is seen from the plane: x^n against the place where the plane's material at x was at
// the start,
//     u = origin_start + turn (x - origin_end) - x^n,
// which is zero when all moves as one rigid body. The surface of a sphere or capsule lies at the foot +
// radius n when it is the second primitive, at the foot - radius n when it is the first. Its spin adds (I -
// turn)(+-radius n) to the foot's motion, which enters u with the opposite sign in the first case and with
// the same in the second: u -= (I - turn) radius n for both.
#include "contact/contact_geometry.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "math/mat3.h"

#define FLAT 1e-10      // sine of the angle between two edges that count as parallel
#define NOTHING 1e-140  // m: a length whose square is not worth dividing by

// What tells the kinds apart.
typedef struct shape {
    int count, edges;  // nodes, e_k
    double w0[4];
    double m[2][4];
} shape;

static const shape shapes[] = {
    [CT_CONTACT_TYPE_VERTEX_FACE] = {4, 2, {1, -1, 0, 0}, {{0, -1, 1, 0}, {0, -1, 0, 1}}},
    [CT_CONTACT_TYPE_EDGE_EDGE] = {4, 2, {1, 0, -1, 0}, {{-1, 1, 0, 0}, {0, 0, -1, 1}}},
    [CT_CONTACT_TYPE_POINT_EDGE] = {3, 1, {1, -1, 0, 0}, {{0, -1, 1, 0}, {0, 0, 0, 0}}},
    [CT_CONTACT_TYPE_POINT_POINT] = {2, 0, {1, -1, 0, 0}, {{0, 0, 0, 0}, {0, 0, 0, 0}}},
};

typedef struct frame {
    int edges;     // that span something
    ct_vec3 g[2];  // dual basis; zero where dropped
    ct_vec3 n;
    double distance;  // n . r
    ct_mat3 T;        // T / d
} frame;

// The part of v orthogonal to e, as a unit vector; when there is none, any unit vector orthogonal to e.
static ct_vec3 unit_beside(ct_vec3 v, ct_vec3 e) {
    const double length = ct_vec3_norm(e);
    const ct_vec3 axis = length > NOTHING ? ct_vec3_scale(1 / length, e) : ct_vec3_make(0, 0, 0);
    const ct_vec3 beside = ct_vec3_axpy(v, -ct_vec3_dot(axis, v), axis);
    const double size = ct_vec3_norm(beside);
    if (size > NOTHING && size > FLAT * ct_vec3_norm(v)) return ct_vec3_scale(1 / size, beside);
    return length > NOTHING ? ct_vec3_orthogonal(axis) : ct_vec3_make(0, 0, 1);
}

// Two edges: n is their common normal.
static void frame_of_two(ct_vec3 e1, ct_vec3 e2, ct_vec3 r, double sign, frame* f) {
    const ct_vec3 N = ct_vec3_cross(e1, e2);
    const double area = ct_vec3_norm(N), l1 = ct_vec3_norm(e1), l2 = ct_vec3_norm(e2);
    if (area > FLAT * l1 * l2 && area > NOTHING) {
        f->edges = 2;
        f->n = ct_vec3_scale(sign / area, N);
        f->g[0] = ct_vec3_scale(sign / area, ct_vec3_cross(e2, f->n));
        f->g[1] = ct_vec3_scale(sign / area, ct_vec3_cross(f->n, e1));
    } else {
        f->n = unit_beside(r, l1 > l2 ? e1 : e2);
    }
    f->distance = ct_vec3_dot(f->n, r);
}

// One edge or none: n goes along the shortest connection, to the given side.
static void frame_of_line(int edges, ct_vec3 e, ct_vec3 r, ct_vec3 side, frame* f) {
    const double length = ct_vec3_norm(e);
    ct_vec3 axis = {0, 0, 0}, v = r;
    if (edges == 1 && length > NOTHING) {
        f->edges = 1;
        axis = ct_vec3_scale(1 / length, e);
        f->g[0] = ct_vec3_scale(1 / length, axis);
        v = ct_vec3_axpy(r, -ct_vec3_dot(axis, r), axis);
        v = ct_vec3_axpy(v, -ct_vec3_dot(axis, v), axis);
    }
    f->distance = ct_vec3_norm(v);
    if (!(f->distance > NOTHING)) {
        f->n = unit_beside(v, axis);
        return;
    }
    if (ct_vec3_dot(side, v) < 0) f->distance = -f->distance;
    f->n = ct_vec3_scale(1 / f->distance, v);
    const double n[3] = {f->n.x, f->n.y, f->n.z}, a[3] = {axis.x, axis.y, axis.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) f->T.a[i][j] = ((i == j) - n[i] * n[j] - a[i] * a[j]) / f->distance;
}

static ct_vec3 combine(int count, const double* factor, const ct_vec3* x) {
    ct_vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++) sum = ct_vec3_axpy(sum, factor[i], x[i]);
    return sum;
}

// dn, dw by the formulas above, one column of dx at a time.
static void differentiate(const shape* s, const frame* f, ct_contact_geometry* out) {
    const double n[3] = {f->n.x, f->n.y, f->n.z};
    for (int i = 0; i < s->count; i++)
        for (int a = 0; a < 3; a++) {
            const int column = 3 * i + a;
            ct_vec3 dn = ct_vec3_scale(out->w[i], ct_mat3_column(f->T, a));
            for (int k = 0; k < f->edges; k++) dn = ct_vec3_axpy(dn, -n[a] * s->m[k][i], f->g[k]);
            for (int k = 0; k < f->edges; k++) {
                const double g[3] = {f->g[k].x, f->g[k].y, f->g[k].z};
                const double dq = out->w[i] * g[a] - f->distance * ct_vec3_dot(f->g[k], dn);
                for (int j = 0; j < s->count; j++) out->dw[j][column] -= s->m[k][j] * dq;
            }
            out->dn[0][column] = dn.x;
            out->dn[1][column] = dn.y;
            out->dn[2][column] = dn.z;
        }
}

// du = sum w_i dx_i + sum dw_i (x_i - x_i^n) - spin dn; spin = radius (I - turn)
static void differentiate_slip(const ct_vec3* moved, const ct_mat3* spin, ct_contact_geometry* out) {
    for (int column = 0; column < 3 * out->count; column++) {
        const int i = column / 3, a = column % 3;
        ct_vec3 du = {0, 0, 0};
        for (int j = 0; j < out->count; j++) du = ct_vec3_axpy(du, out->dw[j][column], moved[j]);
        if (spin) {
            const ct_vec3 dn = {out->dn[0][column], out->dn[1][column], out->dn[2][column]};
            du = ct_vec3_sub(du, ct_mat3_apply(*spin, dn));
        }
        out->du[0][column] = du.x;
        out->du[1][column] = du.y;
        out->du[2][column] = du.z;
        out->du[a][column] += out->w[i];
    }
}

static void plane_geometry(const ct_pair* pair, const ct_obstacle_motion* motion, const double* x_start,
                           const double* x, bool derivatives, ct_contact_geometry* out) {
    assert(motion);
    const ct_vec3 end = ct_vec3_load(x + 3 * pair->node[0]),
                  start = ct_vec3_load(x_start + 3 * pair->node[0]);
    const ct_vec3 n = ct_vec3_load(motion->normal), arm = ct_vec3_sub(end, ct_vec3_load(motion->origin_end));
    const ct_vec3 carried =
        ct_vec3_add(ct_vec3_load(motion->origin_start), ct_mat3_apply(ct_mat3_load(motion->turn), arm));
    out->count = 1;
    ct_vec3_store(out->n, n);
    out->w[0] = 1;
    out->gap = ct_vec3_dot(n, ct_vec3_sub(end, ct_vec3_load(motion->point))) - pair->thickness;
    ct_vec3_store(out->u, ct_vec3_sub(carried, start));
    if (!derivatives) return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out->du[i][j] = motion->turn[3 * i + j];
}

void ct_contact_geometry_at(const ct_pair* pair, const ct_obstacle_motion* motion, const double* x_start,
                            const double* x, bool derivatives, ct_contact_geometry* out) {
    memset(out, 0, derivatives ? sizeof *out : offsetof(ct_contact_geometry, dn));
    if (pair->type == CT_CONTACT_TYPE_PLANE) {
        plane_geometry(pair, motion, x_start, x, derivatives, out);
        return;
    }
    const shape* s = &shapes[pair->type];
    ct_vec3 at[4], moved[4];
    for (int i = 0; i < s->count; i++) {
        at[i] = ct_vec3_load(x + 3 * pair->node[i]);
        moved[i] = ct_vec3_sub(at[i], ct_vec3_load(x_start + 3 * pair->node[i]));
    }

    const ct_vec3 r = combine(s->count, s->w0, at);
    frame f = {.edges = 0};
    if (s->edges == 2)
        frame_of_two(combine(s->count, s->m[0], at), combine(s->count, s->m[1], at), r, pair->sign, &f);
    else frame_of_line(s->edges, combine(s->count, s->m[0], at), r, ct_vec3_load(pair->side), &f);

    out->count = s->count;
    ct_vec3_store(out->n, f.n);
    out->gap = f.distance - pair->thickness;
    for (int i = 0; i < s->count; i++) {
        out->w[i] = s->w0[i];
        for (int k = 0; k < f.edges; k++) out->w[i] -= s->m[k][i] * ct_vec3_dot(f.g[k], r);
    }

    ct_vec3 u = combine(s->count, out->w, moved);
    ct_mat3 spin;
    if (motion) {
        spin =
            ct_mat3_scale(motion->radius, ct_mat3_axpy(ct_mat3_identity(), -1, ct_mat3_load(motion->turn)));
        u = ct_vec3_sub(u, ct_mat3_apply(spin, f.n));
    }
    ct_vec3_store(out->u, u);
    if (!derivatives) return;
    differentiate(s, &f, out);
    differentiate_slip(moved, motion ? &spin : NULL, out);
}
