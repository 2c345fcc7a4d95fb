// Bending of sheets: angles, curvatures and moments, and their derivatives; see sheet.h.
//
// Angles of hinges and curvatures of triangles go through kernels, the few clamped edges follow one by one.
#include <string.h>

#include "force/sheet_data.h"

// ---- angles --------------------------------------------------------------------------------

static const ct_sheet_clamp* clamp_of(const ct_sheet* sheet, int k) {
    return &sheet->clamp[k - CT_SHEET_BLOCK * sheet->nbend];
}

double ct_sheet_angle_gradient(const ct_sheet* sheet, int k, const double* x, int node[4], ct_vec3 g[4]) {
    ct_vec3 at[4];
    memcpy(node, sheet->hinge_node + 4 * (size_t)k, 4 * sizeof(int));
    if (k < sheet->nhinge) {
        ct_hinge_point p;
        ct_sheet_load(x, node, 4, at);
        const double angle = ct_hinge_point_of(at, &p);
        memcpy(g, p.gradient, sizeof p.gradient);
        return angle;
    }
    ct_sheet_clamp_point p;
    ct_sheet_load(x, node, 3, at);
    const double angle = ct_clamp_point_of(clamp_of(sheet, k), at, &p);
    memcpy(g, p.gradient, sizeof p.gradient);
    g[3] = (ct_vec3){0, 0, 0}, node[3] = node[0];
    return angle;
}

double ct_sheet_angle(const ct_sheet* sheet, int k, const double* x) {
    ct_vec3 g[4];
    int node[4];
    return k < sheet->nhinge ? ct_sheet_hinge_angle(sheet, k, x)
                             : ct_sheet_angle_gradient(sheet, k, x, node, g);
}

double ct_sheet_angle_change(const ct_sheet* sheet, int k, const double* x, const double* d) {
    ct_vec3 g[4], along[4];
    int node[4];
    ct_sheet_angle_gradient(sheet, k, x, node, g);
    ct_sheet_load(d, node, 4, along);
    return ct_hinge_dot(g, along);
}

// ---- passes --------------------------------------------------------------------------------

static ct_bend_pass begin_pass(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, double c) {
    return (ct_bend_pass){.bend = sheet->bend,
                          .nbend = sheet->nbend,
                          .plate = sheet->plate,
                          .nplate = sheet->nplate,
                          .x = x,
                          .node = work->sum,
                          .c = c,
                          .start = work->angle_start,
                          .rate = ct_sheet_is_viscous(sheet, c) ? work->angle_rate : NULL,
                          .bend_angle = work->bend_angle,
                          .bend_rate = work->bend_rate,
                          .pull = work->pull};
}

static void angles_at(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, double* angle) {
    const ct_bend_pass pass = begin_pass(sheet, work, x, 0);
    sheet->bend_kernels->measure(&pass, angle);
    for (int k = CT_SHEET_BLOCK * sheet->nbend; k < sheet->nangle; k++)
        angle[k] = ct_sheet_angle(sheet, k, x);
}

void ct_sheet_bend_begin(const ct_sheet* sheet, ct_sheet_work* work, const double* x_n) {
    angles_at(sheet, work, x_n, work->angle_start);
    memset(work->angle_rate, 0, (size_t)sheet->nangle * sizeof(double));
}

void ct_sheet_bend_history(const ct_sheet* sheet, ct_sheet_work* work, double scale, const double* x) {
    angles_at(sheet, work, x, work->bend_angle);
    for (int k = 0; k < sheet->nangle; k++)
        work->angle_rate[k] += scale * ct_sheet_unwrap(work, k, work->bend_angle[k]);
}

static void add_forces(double* sum, const ct_sheet_clamp* clamp, double pull, const ct_vec3 g[3]) {
    for (int i = 0; i < 3; i++) {
        double* f = sum + 4 * (size_t)clamp->node[i];
        f[0] += pull * g[i].x, f[1] += pull * g[i].y, f[2] += pull * g[i].z;
    }
}

// Angles and moments at x.
static double moments_at(const ct_sheet* sheet, const ct_sheet_work* work, const ct_bend_pass* pass) {
    sheet->bend_kernels->angles(pass, work->turn);
    for (int k = CT_SHEET_BLOCK * sheet->nbend; k < sheet->nangle; k++) {
        const double angle = ct_sheet_unwrap(work, k, ct_sheet_angle(sheet, k, pass->x));
        work->bend_angle[k] = angle;
        work->bend_rate[k] = pass->c * angle - work->angle_rate[k];
        work->pull[k] = 0;
    }
    return sheet->bend_kernels->moments(pass);
}

double ct_sheet_bend_gradient(const ct_sheet* sheet, const ct_sheet_work* work, const double* x) {
    if (!sheet->bends) return 0;
    const ct_bend_pass pass = begin_pass(sheet, work, x, work->c);
    const double energy = moments_at(sheet, work, &pass);
    sheet->bend_kernels->forces(&pass, work->turn);
    for (int k = CT_SHEET_BLOCK * sheet->nbend; k < sheet->nangle; k++) {
        ct_vec3 g[4];
        int node[4];
        ct_sheet_angle_gradient(sheet, k, x, node, g);
        add_forces(work->sum, clamp_of(sheet, k), work->pull[k], g);
    }
    return energy;
}

void ct_sheet_bend_linearise(const ct_sheet* sheet, ct_sheet_work* work, const double* x) {
    if (!sheet->bends) return;
    const ct_bend_pass pass = begin_pass(sheet, work, x, work->c);
    moments_at(sheet, work, &pass);
    sheet->bend_kernels->linearise(&pass, work->bend);
    for (int i = 0; i < sheet->nclamp; i++) {
        ct_vec3 at[3];
        ct_sheet_load(x, sheet->clamp[i].node, 3, at);
        ct_clamp_point_of(&sheet->clamp[i], at, &work->clamp[i]);
        work->clamp[i].pull = work->pull[CT_SHEET_BLOCK * sheet->nbend + i];
    }
}

void ct_sheet_bend_product(const ct_sheet* sheet, const ct_sheet_work* work, const double* dx) {
    if (!sheet->bends) return;
    const ct_bend_pass pass = begin_pass(sheet, work, dx, work->linear_c);
    const int first = CT_SHEET_BLOCK * sheet->nbend;
    sheet->bend_kernels->change(&pass, work->bend);
    for (int i = 0; i < sheet->nclamp; i++) {
        const ct_vec3* g = work->clamp[i].gradient;
        ct_vec3 d[3];
        ct_sheet_load(dx, sheet->clamp[i].node, 3, d);
        work->bend_angle[first + i] =
            ct_vec3_dot(g[0], d[0]) + ct_vec3_dot(g[1], d[1]) + ct_vec3_dot(g[2], d[2]);
        work->pull[first + i] = 0;
    }
    sheet->bend_kernels->moments_change(&pass);
    sheet->bend_kernels->product(&pass, work->bend);
    for (int i = 0; i < sheet->nclamp; i++) {
        ct_vec3 d[3], turn[3];
        ct_sheet_load(dx, sheet->clamp[i].node, 3, d);
        ct_clamp_curve(&sheet->clamp[i], &work->clamp[i], d, turn);
        add_forces(work->sum, &sheet->clamp[i], work->pull[first + i], work->clamp[i].gradient);
        add_forces(work->sum, &sheet->clamp[i], work->clamp[i].pull, turn);
    }
}

// ---- single triangles ----------------------------------------------------------------------

// sum_j weight_j angle_j
static void curvature_of(const ct_sheet* sheet, int e, const double* angle, double kappa[3]) {
    const ct_sheet_curvature* c = &sheet->curvature;
    kappa[0] = kappa[1] = kappa[2] = 0;
    for (int j = c->start[e]; j < c->start[e + 1]; j++)
        for (int i = 0; i < 3; i++) kappa[i] += c->weight[j][i] * angle[c->hinge[j]];
}

void ct_sheet_curvature_at(const ct_sheet* sheet, int e, const double* x, double kappa[3]) {
    const ct_sheet_curvature* c = &sheet->curvature;
    kappa[0] = kappa[1] = kappa[2] = 0;
    for (int j = c->start[e]; j < c->start[e + 1]; j++) {
        const int k = c->hinge[j];
        const double angle = ct_sheet_angle(sheet, k, x) - (k < sheet->nhinge ? sheet->hinge[k].rest : 0);
        for (int i = 0; i < 3; i++) kappa[i] += c->weight[j][i] * angle;
    }
}

static void moment_of(const ct_sheet* sheet, int e, const double k[3], double m[3]) {
    const double* R = sheet->moment + 6 * (size_t)e;
    m[0] = R[0] * k[0] + R[3] * k[1] + R[4] * k[2];
    m[1] = R[3] * k[0] + R[1] * k[1] + R[5] * k[2];
    m[2] = R[4] * k[0] + R[5] * k[1] + R[2] * k[2];
}

double ct_sheet_bend_energy(const ct_sheet* sheet, const double* x) {
    double energy = 0;
    for (int e = 0; sheet->bends && e < sheet->ntri; e++) {
        double k[3], m[3];
        if (sheet->bending[e] == 0) continue;
        ct_sheet_curvature_at(sheet, e, x, k);
        for (int i = 0; i < 3; i++) k[i] -= sheet->natural[3 * e + i];
        moment_of(sheet, e, k, m);
        energy += 0.5 * (k[0] * m[0] + k[1] * m[1] + k[2] * m[2]);
    }
    return energy;
}

// ---- derivatives for the adjoint -----------------------------------------------------------

// By the rigidity: with k* = P k of the curvature and l* of lam's, d(A k^T R l) = A k*^T dD l*.
static void rigidity_vjp(const ct_sheet* sheet, int e, const double k[3], const double l[3], double* bar) {
    const ct_sheet_curvature* c = &sheet->curvature;
    double R[9], P[9], ks[3], ls[3];
    ct_sheet_condense(sheet->rigidity + 4 * (size_t)e, c->nfree[e], c->across[e], R, P);
    for (int i = 0; i < 3; i++) {
        ks[i] = P[3 * i] * k[0] + P[3 * i + 1] * k[1] + P[3 * i + 2] * k[2];
        ls[i] = P[3 * i] * l[0] + P[3 * i + 1] * l[1] + P[3 * i + 2] * l[2];
    }
    const double area = sheet->area[e];
    bar[0] = area * ks[0] * ls[0], bar[1] = area * ks[1] * ls[1], bar[3] = area * ks[2] * ls[2];
    bar[2] = area * (ks[0] * ls[1] + ks[1] * ls[0]);
}

void ct_sheet_bend_parameter_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                                 const double* lam, const ct_sheet_bar* bar) {
    const bool rated = work->rated && work->c > 0;
    double *angle = work->bend_angle, *rate = work->bend_rate, *along = work->pull;
    for (int k = 0; k < sheet->nangle; k++) {
        if (!ct_sheet_is_angle(sheet, k)) continue;
        const double theta = ct_sheet_unwrap(work, k, ct_sheet_angle(sheet, k, x));
        angle[k] = theta - (k < sheet->nhinge ? sheet->hinge[k].rest : 0);
        rate[k] = rated ? work->c * theta - work->angle_rate[k] : 0;
        along[k] = ct_sheet_angle_change(sheet, k, x, lam);
    }
    for (int e = 0; e < sheet->ntri; e++) {
        double kappa[3], spin[3], l[3], m[3];
        curvature_of(sheet, e, angle, kappa);
        curvature_of(sheet, e, rate, spin);
        curvature_of(sheet, e, along, l);
        moment_of(sheet, e, l, m);
        for (int i = 0; i < 3; i++) kappa[i] += sheet->triangle[e].beta * spin[i] - sheet->natural[3 * e + i];
        if (bar->rigidity) rigidity_vjp(sheet, e, kappa, l, bar->rigidity + 4 * (size_t)e);
        if (bar->beta) bar->beta[e] += m[0] * spin[0] + m[1] * spin[1] + m[2] * spin[2];
        for (int i = 0; bar->natural && i < 3; i++) bar->natural[3 * e + i] = -m[i];
    }
}

void ct_sheet_bend_history_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                               const double* lam, double scale, const double* x_then, double* bar) {
    const ct_sheet_curvature* c = &sheet->curvature;
    double *along = work->bend_angle, *pull = work->pull;
    for (int k = 0; k < sheet->nangle; k++) {
        pull[k] = 0;
        if (ct_sheet_is_angle(sheet, k)) along[k] = ct_sheet_angle_change(sheet, k, x, lam);
    }
    for (int e = 0; e < sheet->ntri; e++) {
        double l[3], m[3];
        curvature_of(sheet, e, along, l);
        moment_of(sheet, e, l, m);
        for (int j = c->start[e]; j < c->start[e + 1]; j++)
            pull[c->hinge[j]] += scale * sheet->triangle[e].beta *
                                 (c->weight[j][0] * m[0] + c->weight[j][1] * m[1] + c->weight[j][2] * m[2]);
    }
    for (int k = 0; k < sheet->nangle; k++) {
        ct_vec3 g[4];
        int node[4];
        if (pull[k] == 0) continue;
        ct_sheet_angle_gradient(sheet, k, x_then, node, g);
        for (int i = 0; i < 4; i++) ct_sheet_add_node(bar, node[i], ct_vec3_scale(pull[k], g[i]));
    }
}
