// Inertia and mass damping; see inertia.h.
#include "force/inertia.h"

#include <math.h>

ct_status ct_inertia_work_create(ct_inertia_work** out, const ct_inertia* inertia) {
    *out = NULL;
    ct_inertia_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    work->history = ct_arena_alloc(&work->arena, 3 * (size_t)inertia->nvert, sizeof(double));
    work->inertial = ct_arena_alloc(&work->arena, 3 * (size_t)inertia->nvert, sizeof(double));
    if (work->arena.failed) {
        ct_inertia_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_inertia_work_free(ct_inertia_work* work) {
    if (!work) return;
    ct_arena_free(&work->arena);
    ct_free(work);
}

static void begin_links(const ct_inertia* inertia, ct_inertia_work* work, const ct_family_step* step) {
    const ct_link_motion* links = step->links;
    const double c = step->rate.c;
    for (int k = 0; k < links->count; k++) {
        const int v = links->node[k];
        const double gain = inertia->mass[v] > 0 ? 1 / (c * c * inertia->mass[v]) : 0;
        for (int i = 3 * v; i < 3 * v + 3; i++) {
            work->history[i] = c * links->x[i] - links->v[i];
            work->inertial[i] = links->x[i] - links->a[i] / (c * c) + gain * step->force[i];
        }
    }
}

// out = a x + b y, and + e z where there is such a past.
static void combine(double* restrict out, ct_rate rate, const double* x, const double* y, const double* z,
                    size_t n) {
    if (z)
        for (size_t i = 0; i < n; i++) out[i] = rate.a * x[i] + rate.b * y[i] + rate.e * z[i];
    else
        for (size_t i = 0; i < n; i++) out[i] = rate.a * x[i] + rate.b * y[i];
}

void ct_inertia_begin(const ct_inertia* inertia, ct_inertia_work* work, const ct_family_step* step) {
    const ct_rate rate = step->rate;
    const size_t n = 3 * (size_t)inertia->nvert;
    const bool past = step->npast > 1;
    double* restrict p = work->history, * restrict s = work->inertial;
    if (rate.c == 0) return;  // statics: nothing moves
    combine(p, rate, step->x_n, step->x_nm1, past ? step->x_nm2 : NULL, n);
    combine(s, rate, step->v_n, step->v_nm1, past ? step->v_nm2 : NULL, n);
    for (size_t i = 0; i < n; i++) s[i] = (p[i] + s[i] / rate.c) / rate.c;
    for (int v = 0; v < inertia->nvert; v++) {
        const double gain = inertia->mass[v] > 0 ? 1 / (rate.c * rate.c * inertia->mass[v]) : 0;
        for (int i = 3 * v; i < 3 * v + 3; i++) s[i] += gain * step->force[i];
    }
    if (step->links) begin_links(inertia, work, step);
}

void ct_inertia_velocity(const ct_inertia* inertia, const ct_inertia_work* work, const ct_family_step* step,
                         const double* x, double* v) {
    for (int i = 0; i < 3 * inertia->nvert; i++) v[i] = step->rate.c * x[i] - work->history[i];
}

double ct_inertia_pull(const ct_inertia* inertia, const ct_inertia_work* work, const ct_family_step* step,
                       const double* x) {
    double square = step->rate.c * step->rate.c, sum = 0;
    for (int v = 0; v < inertia->nvert; v++) {
        const double *at = x + 3 * (size_t)v, *free = work->inertial + 3 * (size_t)v;
        double d[3] = {at[0] - free[0], at[1] - free[1], at[2] - free[2]};
        sum += square * inertia->free_mass[v] * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    return sum;
}

static double drag_gradient(const ct_inertia* inertia, const ct_inertia_work* work, double c, const double* x,
                            double* f) {
    double potential = 0;
    for (int v = 0; v < inertia->nvert; v++)
        for (int i = 3 * v; i < 3 * v + 3; i++) {
            double velocity = c * x[i] - work->history[i];
            f[i] += inertia->free_drag[v] * velocity;
            potential += 0.5 * inertia->free_drag[v] / c * velocity * velocity;
        }
    return potential;
}

static double inertia_gradient(const ct_inertia* inertia, const ct_inertia_work* work, double c,
                               const double* x, double* f) {
    double square = c * c, potential[3] = {0, 0, 0};
    for (int v = 0; v < inertia->nvert; v++) {
        double stiffness = square * inertia->free_mass[v];
        for (int a = 0; a < 3; a++) {
            double offset = x[3 * v + a] - work->inertial[3 * v + a];
            f[3 * v + a] += stiffness * offset;
            potential[a] += 0.5 * stiffness * offset * offset;
        }
    }
    double dissipation = inertia->damped ? drag_gradient(inertia, work, c, x, f) : 0;
    return potential[0] + potential[1] + potential[2] + dissipation;
}

// Statics: the external force alone, -f . (x - x_n).
static double rest_gradient(const ct_inertia* inertia, const ct_family_step* step, const double* x,
                            double* f) {
    double potential = 0;
    for (int v = 0; v < inertia->nvert; v++)
        for (int i = 3 * v; inertia->free_mass[v] > 0 && i < 3 * v + 3; i++) {
            f[i] -= step->force[i];
            potential -= step->force[i] * (x[i] - step->x_n[i]);
        }
    return potential;
}

static void inertia_product(const ct_inertia* inertia, double c, const double* dx, double* out) {
    for (int v = 0; v < inertia->nvert; v++) {
        double stiffness = c * (c * inertia->free_mass[v] + inertia->free_drag[v]);
        for (int a = 0; a < 3; a++) out[3 * v + a] += stiffness * dx[3 * v + a];
    }
}

void ct_inertia_assemble(const ct_inertia* inertia, double c, const int* unknown, ct_block_matrix* matrix) {
    for (int v = 0; v < inertia->nvert; v++) {
        double d = c * c * inertia->free_mass[v] + c * inertia->free_drag[v];
        double block[9] = {d, 0, 0, 0, d, 0, 0, 0, d};
        ct_block_matrix_add(matrix, unknown[v], unknown[v], block);
    }
}

// ---- reverse -------------------------------------------------------------------------------

static void add_masses(const ct_inertia* inertia, const ct_inertia_work* work, const ct_family_step* step,
                       const double* x, const double* lam, const ct_sums* sums) {
    double c = step->rate.c, *mass_bar = sums->of[CT_SUM_MASS], *drag_bar = sums->of[CT_SUM_DRAG];
    if (c == 0) return;
    for (int v = 0; mass_bar && v < inertia->nvert; v++)
        for (int i = 3 * v; inertia->mass[v] > 0 && i < 3 * v + 3; i++) {
            // c^2 x - c p - q without the external force that `inertial` holds
            double pull = c * c * (x[i] - work->inertial[i]) + step->force[i] / inertia->mass[v];
            mass_bar[v] -= lam[i] * pull;
        }
    for (int v = 0; drag_bar && v < inertia->nvert; v++)
        for (int i = 3 * v; i < 3 * v + 3; i++) drag_bar[v] -= lam[i] * (c * x[i] - work->history[i]);
}

void ct_inertia_vjp(const ct_inertia* inertia, const ct_inertia_work* work, const ct_family_step* step,
                    const double* x, const double* lam, const ct_family_bar* bar) {
    const ct_rate rate = step->rate;
    add_masses(inertia, work, step, x, lam, bar->sums);
    for (int v = 0; v < inertia->nvert; v++)
        for (int i = 3 * v; i < 3 * v + 3; i++) {
            double p_bar = (rate.c * inertia->mass[v] + inertia->drag[v]) * lam[i] - bar->v_n[i];
            double q_bar = inertia->mass[v] * lam[i];
            bar->x_n[i] = rate.a * p_bar;
            bar->v_n[i] = rate.a * q_bar;
            bar->x_nm1[i] = rate.b * p_bar;
            bar->v_nm1[i] = rate.b * q_bar;
            if (step->npast > 1) bar->x_nm2[i] = rate.e * p_bar, bar->v_nm2[i] = rate.e * q_bar;
        }
    for (int k = 0; step->links && k < step->links->count; k++)
        for (int i = 3 * step->links->node[k], end = i + 3; i < end; i++) {
            bar->x_n[i] = bar->v_n[i] = bar->x_nm1[i] = bar->v_nm1[i] = 0;
            if (step->npast > 1) bar->x_nm2[i] = bar->v_nm2[i] = 0;
        }
}

// The first family: overwrites.
static void jvp(const void* self, void* work, const ct_family_step* step, const double* x,
                const ct_family_dot* dot, double* out) {
    const ct_inertia* inertia = self;
    const ct_rate rate = step->rate;
    for (int v = 0; v < inertia->nvert; v++)
        for (int i = 3 * v; i < 3 * v + 3; i++) {
            double p = rate.a * dot->x_n[i] + rate.b * dot->x_nm1[i];
            double q = rate.a * dot->v_n[i] + rate.b * dot->v_nm1[i];
            if (step->npast > 1) p += rate.e * dot->x_nm2[i], q += rate.e * dot->v_nm2[i];
            out[i] =
                (rate.c * inertia->mass[v] + inertia->drag[v]) * p + inertia->mass[v] * q + dot->force[i];
        }
    for (int k = 0; step->links && k < step->links->count; k++)
        for (int i = 3 * step->links->node[k], end = i + 3; i < end; i++) out[i] = dot->force[i];
}

// ---- as a family ---------------------------------------------------------------------------

static ct_status create_work(void** work, const void* self) {
    ct_inertia_work* own;
    ct_status status = ct_inertia_work_create(&own, self);
    *work = own;
    return status;
}
static void free_work(void* work) { ct_inertia_work_free(work); }

static void begin(const void* self, void* work, const ct_family_step* step) {
    ct_inertia_begin(self, work, step);
}

static double gradient(const void* self, void* work, const ct_family_step* step, const double* x, double* f) {
    return step->rate.c == 0 ? rest_gradient(self, step, x, f)
                             : inertia_gradient(self, work, step->rate.c, x, f);
}

static void product(const void* self, void* work, const ct_family_step* step, const double* x,
                    const double* dx, double* out) {
    inertia_product(self, step->rate.c, dx, out);
}

static void assemble(const void* self, void* work, const ct_family_step* step, const double* x, bool project,
                     const int* unknown, ct_block_matrix* matrix) {
    ct_inertia_assemble(self, step->rate.c, unknown, matrix);
}

static void vjp(const void* self, void* work, const ct_family_step* step, const double* x, const double* lam,
                const ct_family_bar* bar) {
    ct_inertia_vjp(self, work, step, x, lam, bar);
}

const ct_family ct_inertia_family = {.name = "inertia",
                                     .create_work = create_work,
                                     .free_work = free_work,
                                     .begin = begin,
                                     .gradient = gradient,
                                     .product = product,
                                     .assemble = assemble,
                                     .vjp = vjp,
                                     .jvp = jvp};
