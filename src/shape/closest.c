// Closest points of a point and a triangle, and of two segments. See closest.h.
//
// Interior: the foot from the areas seen along the normal N = (b-a)x(c-a),  w_a = N.((b-p)x(c-p))/N.N and so
// on; for edges with directions u, v and N = u x v,  sigma = N.((c-a) x v)/N.N, tau = N.((c-a) x u)/N.N. When
// a weight is not inside, the closest points are among the ends against the other primitive's edges, so the
// smallest of those is taken: no region logic to go wrong.
#include "shape/closest.h"

#define SLIVER 1e-10  // sine below which a triangle has no interior and edges are parallel

double ct_closest_on_segment(ct_vec3 p, ct_vec3 a, ct_vec3 b, double* squared) {
    const ct_vec3 u = ct_vec3_sub(b, a), r = ct_vec3_sub(p, a);
    const double along = ct_vec3_dot(r, u), length = ct_vec3_dot(u, u);
    double t = 0;
    if (along > 0) t = along < length ? along / length : 1;  // a length of 0 gives along = 0
    // from the nearer end, which loses fewer digits
    const ct_vec3 apart = t <= 0.5 ? ct_vec3_axpy(r, -t, u) : ct_vec3_axpy(ct_vec3_sub(p, b), 1 - t, u);
    *squared = ct_vec3_dot(apart, apart);
    return t;
}

static void set_apart(ct_closest* out, const ct_vec3 x[4], int first) {
    // relative to one node: weights of either side sum to 1
    ct_vec3 apart = {0, 0, 0};
    for (int i = 0; i < 4; i++)
        apart = ct_vec3_axpy(apart, i < first ? out->w[i] : -out->w[i], ct_vec3_sub(x[i], x[0]));
    out->apart = apart;
    out->distance = ct_vec3_norm(apart);
    out->mask = 0;
    for (int i = 0; i < 4; i++) out->mask |= (unsigned)(out->w[i] != 0) << i;
}

// Point i against the segment from node j to node k: kept when closer than `best`.
static void try_segment(ct_closest* out, const ct_vec3 x[4], int i, int j, int k, double* best) {
    double squared;
    const double t = ct_closest_on_segment(x[i], x[j], x[k], &squared);
    if (!(squared < *best)) return;
    *best = squared;
    for (int n = 0; n < 4; n++) out->w[n] = 0;
    out->w[i] = 1;
    out->w[j] = 1 - t;
    out->w[k] = t;
}

ct_closest ct_closest_point_triangle(const ct_vec3 x[4]) {
    ct_closest out = {0};
    const ct_vec3 ab = ct_vec3_sub(x[2], x[1]), ac = ct_vec3_sub(x[3], x[1]), bc = ct_vec3_sub(x[3], x[2]);
    const ct_vec3 pa = ct_vec3_sub(x[1], x[0]), pb = ct_vec3_sub(x[2], x[0]), pc = ct_vec3_sub(x[3], x[0]);
    const ct_vec3 N = ct_vec3_cross(ab, ac);
    const double square = ct_vec3_dot(N, N), aa = ct_vec3_dot(ab, ab), cc = ct_vec3_dot(ac, ac),
                 bb = ct_vec3_dot(bc, bc);
    const double longest = fmax(aa, fmax(bb, cc));
    const double wa = ct_vec3_dot(N, ct_vec3_cross(pb, pc)), wb = ct_vec3_dot(N, ct_vec3_cross(pc, pa));
    const double wc = ct_vec3_dot(N, ct_vec3_cross(pa, pb));
    if (square > SLIVER * SLIVER * longest * longest && wa > 0 && wb > 0 && wc > 0) {
        const double sum = wa + wb + wc;
        out.w[0] = 1;
        out.w[1] = wa / sum;
        out.w[2] = wb / sum;
        out.w[3] = wc / sum;
        // along the normal, which keeps its digits when the point is far
        out.apart = ct_vec3_scale(-ct_vec3_dot(N, pa) / square, N);
        out.distance = ct_vec3_norm(out.apart);
        out.mask = CT_CLOSEST_ALL;
        if (out.w[1] > 0 && out.w[2] > 0 && out.w[3] > 0) return out;
    }
    double best = INFINITY;
    try_segment(&out, x, 0, 1, 2, &best);
    try_segment(&out, x, 0, 2, 3, &best);
    try_segment(&out, x, 0, 3, 1, &best);
    set_apart(&out, x, 1);
    return out;
}

// Parameters on the lines, normal and sine; false: parallel, or outside of an edge.
static bool edges_inside(const ct_vec3 x[4], double* sigma, double* tau, ct_vec3* along, double* sine) {
    const ct_vec3 u = ct_vec3_sub(x[1], x[0]), v = ct_vec3_sub(x[3], x[2]), r = ct_vec3_sub(x[2], x[0]);
    const ct_vec3 N = ct_vec3_cross(u, v);
    const double square = ct_vec3_dot(N, N), lengths = ct_vec3_dot(u, u) * ct_vec3_dot(v, v);
    *sine = lengths > 0 ? sqrt(square / lengths) : 0;
    if (!(*sine > SLIVER)) return false;
    *sigma = ct_vec3_dot(N, ct_vec3_cross(r, v)) / square;
    *tau = ct_vec3_dot(N, ct_vec3_cross(r, u)) / square;
    *along = ct_vec3_scale(-ct_vec3_dot(N, r) / square, N);
    return *sigma > 0 && *sigma < 1 && *tau > 0 && *tau < 1;
}

ct_closest ct_closest_edges(const ct_vec3 x[4]) {
    ct_closest out = {0};
    double sigma, tau;
    ct_vec3 along;
    if (edges_inside(x, &sigma, &tau, &along, &out.sine)) {
        out.w[0] = 1 - sigma;
        out.w[1] = sigma;
        out.w[2] = 1 - tau;
        out.w[3] = tau;
        out.apart = along;
        out.distance = ct_vec3_norm(along);
        out.mask = CT_CLOSEST_ALL;
        return out;
    }
    double best = INFINITY;
    for (int i = 0; i < 2; i++) try_segment(&out, x, i, 2, 3, &best);
    for (int i = 2; i < 4; i++) try_segment(&out, x, i, 0, 1, &best);
    set_apart(&out, x, 2);
    return out;
}
