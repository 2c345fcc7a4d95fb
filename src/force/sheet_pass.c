// Passes over the triangles of sheets; bending is in sheet_bend.c. See sheet.h.
#include "force/sheet.h"

#include <string.h>

#include "force/elastic_table.h"
#include "force/sheet_data.h"

bool ct_sheet_has_damping(const ct_sheet* sheet) { return sheet->damped; }

// ---- passes --------------------------------------------------------------------------------

static ct_sheet_pass pass_of(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, double c) {
    return (ct_sheet_pass){.membrane = sheet->membrane,
                           .nmembrane = sheet->nmembrane,
                           .x = x,
                           .node = work->sum,
                           .c = c,
                           .rate = ct_sheet_is_viscous(sheet, c) ? work->strain_rate : NULL};
}

// One with node sums of `size` doubles that begin at zero; inlined, so that the size is known.
static inline __attribute__((always_inline)) ct_sheet_pass begin_pass(const ct_sheet* sheet,
                                                                      const ct_sheet_work* work,
                                                                      const double* x, double c, int size) {
    for (int i = 0; i < sheet->nnode; i++)
        memset(work->sum + (size_t)size * (size_t)sheet->node[i], 0, (size_t)size * sizeof(double));
    return pass_of(sheet, work, x, c);
}

// ---- the rate of the damping ---------------------------------------------------------------

static void add_history(const ct_sheet* sheet, ct_sheet_work* work, double scale, const double* x) {
    const ct_sheet_pass pass = pass_of(sheet, work, x, 0);
    sheet->kernels->strain(&pass, scale, work->strain_rate);
    ct_sheet_bend_history(sheet, work, scale, x);
}

void ct_sheet_begin_rate(const ct_sheet* sheet, ct_sheet_work* work, double c, double a, const double* x_n,
                         double b, const double* x_nm1) {
    work->c = c;
    work->rated = true;
    ct_sheet_bend_begin(sheet, work, x_n);
    memset(work->strain_rate, 0, 3 * CT_SHEET_BLOCK * (size_t)sheet->nmembrane * sizeof(double));
    add_history(sheet, work, a, x_n);
    if (x_nm1) add_history(sheet, work, b, x_nm1);
}

void ct_sheet_add_past(const ct_sheet* sheet, ct_sheet_work* work, double e, const double* x_past) {
    if (work->rated) add_history(sheet, work, e, x_past);
}

void ct_sheet_begin_step(const ct_sheet* sheet, ct_sheet_work* work, double c, double a, const double* x_n,
                         double b, const double* x_nm1) {
    work->c = c;
    work->rated = false;
    if (ct_sheet_is_viscous(sheet, c)) ct_sheet_begin_rate(sheet, work, c, a, x_n, b, x_nm1);
    else ct_sheet_bend_begin(sheet, work, x_n);
}

// ---- energy and gradient -------------------------------------------------------------------

static void add_sums(const ct_sheet* sheet, const ct_sheet_work* work, double* f) {
    for (int i = 0; i < sheet->nnode; i++) {
        const size_t v = (size_t)sheet->node[i];
        for (size_t a = 0; a < 3; a++) f[3 * v + a] += work->sum[4 * v + a];
    }
}

double ct_sheet_gradient(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, double* f) {
    const ct_sheet_pass pass = begin_pass(sheet, work, x, work->c, 4);
    const double membrane = sheet->kernels->gradient(&pass);
    const double bend = ct_sheet_bend_gradient(sheet, work, x);
    add_sums(sheet, work, f);
    return membrane + bend;
}

double ct_sheet_energy(const ct_sheet* sheet, const double* x) {
    double energy = 0;
    for (int e = 0; e < sheet->ntri; e++) {
        const ct_sheet_triangle* t = &sheet->triangle[e];
        const ct_sheet_point p = ct_sheet_point_of(ct_sheet_deformation(t, x));
        energy += ct_sheet_slopes_of(t->energy, t->mu, t->lambda, p.I, p.J).W;
    }
    return energy + ct_sheet_bend_energy(sheet, x);
}

// ---- Hessian products ----------------------------------------------------------------------

void ct_sheet_linearise(const ct_sheet* sheet, ct_sheet_work* work, const double* x, bool foreseen) {
    ct_sheet_pass pass = pass_of(sheet, work, x, work->c);
    pass.foreseen = foreseen ? work->foreseen : NULL;
    work->linear_c = work->c;
    sheet->kernels->linearise(&pass, work->linear);
    ct_sheet_bend_linearise(sheet, work, x);
}

void ct_sheet_product(const ct_sheet* sheet, const ct_sheet_work* work, const double* dx, double* out) {
    const ct_sheet_pass pass = begin_pass(sheet, work, dx, work->linear_c, 4);
    sheet->kernels->product(&pass, work->linear);
    ct_sheet_bend_product(sheet, work, dx);
    add_sums(sheet, work, out);
}

// ---- foreseen stress -----------------------------------------------------------------------
//
// A full Newton step turns triangles by finite angles along straight lines and so stretches them: to second
// order in the step, but times the membrane's stiffness, which for thin sheets is a stress far beyond the
// true one. What the linearisation says about the stress after the step knows nothing of it. The geometric
// stiffness dF S of the next linearisation takes that one,
//     S <- S(x) + length dS(x; dx),   S = 2 W_I + W_J adj(C)/J + damping,   C = F^T F,
//     dS = 2 dW_I + (dW_J - W_J dJ/J) adj(C)/J + W_J adj(dC)/J + damping of dG,   dC = 2 dG,
// at first the stress where the step begins (second Piola-Kirchhoff, times the area). It converges to the
// stress at x as the steps become small.

void ct_sheet_foresee_start(const ct_sheet* sheet, ct_sheet_work* work, const double* x_n) {
    const ct_sheet_pass pass = pass_of(sheet, work, x_n, 0);
    sheet->kernels->stress(&pass, work->foreseen);
}

void ct_sheet_foresee(const ct_sheet* sheet, ct_sheet_work* work, double length, const double* dx) {
    const ct_sheet_pass pass = pass_of(sheet, work, dx, work->linear_c);
    sheet->kernels->foresee(&pass, work->linear, length, work->foreseen);
}

// ---- rotations -----------------------------------------------------------------------------

// Polar factors of the sums of the triangles' rotations, from the frame at rest to the polar factor and its
// normal, weighted by their areas.
void ct_sheet_rotations(const ct_sheet* sheet, ct_sheet_work* work, const double* x, double* rotation) {
    const ct_elastic_kernels* kernels = ct_elastic_kernels_of(ct_cpu_isa());
    const ct_sheet_pass pass = begin_pass(sheet, work, x, 0, 12);
    sheet->kernels->rotations(&pass);
    for (int first = 0; first < sheet->nnode; first += CT_BLOCK) {
        _Alignas(64) double F[9][CT_BLOCK], R[9][CT_BLOCK];
        // a last, partly filled block repeats its last node
        const int count = sheet->nnode - first < CT_BLOCK ? sheet->nnode - first : CT_BLOCK;
        for (int lane = 0; lane < CT_BLOCK; lane++) {
            const int v = sheet->node[first + (lane < count ? lane : count - 1)];
            for (int i = 0; i < 9; i++) F[i][lane] = work->sum[12 * (size_t)v + (size_t)(i / 3 * 4 + i % 3)];
        }
        kernels->polar(F[0], R[0]);
        for (int lane = 0; lane < count; lane++)
            for (int i = 0; i < 9; i++)
                rotation[9 * (size_t)sheet->node[first + lane] + (size_t)i] = R[i][lane];
    }
}

// ---- derivatives of the gradient for the adjoint -------------------------------------------

static void membrane_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x, const double* lam,
                         const ct_sheet_bar* bar) {
    const bool rated = work->rated && work->c > 0;
    for (int e = 0; e < sheet->ntri; e++) {
        const ct_sheet_triangle* t = &sheet->triangle[e];
        const ct_sheet_point p = ct_sheet_point_of(ct_sheet_deformation(t, x));
        const ct_mat32 dF = ct_sheet_deformation(t, lam);
        const ct_sheet_slopes shear = ct_sheet_slopes_of(t->energy, t->area, 0, p.I, p.J);
        const ct_sheet_slopes bulk = ct_sheet_slopes_of(t->energy, 0, t->area, p.I, p.J);
        const double from_mu = ct_mat32_dot(ct_sheet_stress(&p, &shear), dF),
                     from_lambda = ct_mat32_dot(ct_sheet_stress(&p, &bulk), dF);
        double rate[3] = {0, 0, 0}, change[3] = {0, 0, 0};
        if (rated) {
            ct_sheet_strain_rate(sheet, work, e, work->c, p.F, rate);
            ct_sheet_strain_change(p.F, dF, change);
        }
        const double inner = 2 * (rate[0] * change[0] + rate[1] * change[1] + 2 * rate[2] * change[2]);
        const double traces = (rate[0] + rate[1]) * (change[0] + change[1]);
        if (bar->mu) bar->mu[e] = from_mu + t->area * t->beta * inner;
        if (bar->lambda) bar->lambda[e] = from_lambda + t->area * t->beta * traces;
        if (bar->beta) bar->beta[e] = t->mu * inner + t->lambda * traces;
    }
}

void ct_sheet_parameter_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                            const double* lam, const ct_sheet_bar* bar) {
    membrane_vjp(sheet, work, x, lam, bar);
    if (bar->beta || bar->rigidity || bar->natural) ct_sheet_bend_parameter_vjp(sheet, work, x, lam, bar);
}

// One time of the history: adds scale (d g / dx_then)^T (change of the damping stress by g, along lam).
static void add_history_vjp(const ct_sheet* sheet, const double* x, const double* lam, double scale,
                            const double* x_then, double* bar) {
    for (int e = 0; e < sheet->ntri; e++) {
        const ct_sheet_triangle* t = &sheet->triangle[e];
        if (t->beta == 0) continue;
        double change[3], sigma[3];
        ct_sheet_strain_change(ct_sheet_deformation(t, x), ct_sheet_deformation(t, lam), change);
        ct_sheet_viscous(t, change, sigma);
        ct_sheet_add_stress(t, ct_mat32_scale(scale, ct_mat32_stress(ct_sheet_deformation(t, x_then), sigma)),
                            bar);
    }
}

void ct_sheet_history_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                          const double* lam, double a, const double* x_n, double* x_n_bar, double b,
                          const double* x_nm1, double* x_nm1_bar) {
    if (!ct_sheet_is_viscous(sheet, work->c)) return;
    add_history_vjp(sheet, x, lam, a, x_n, x_n_bar);
    ct_sheet_bend_history_vjp(sheet, work, x, lam, a, x_n, x_n_bar);
    if (!x_nm1) return;
    add_history_vjp(sheet, x, lam, b, x_nm1, x_nm1_bar);
    ct_sheet_bend_history_vjp(sheet, work, x, lam, b, x_nm1, x_nm1_bar);
}
