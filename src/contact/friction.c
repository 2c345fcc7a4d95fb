// Contact with Coulomb friction on a compliance matrix; see friction.h.
//
// The conditions of one contact say that its force is a fixed point: with y = F - r u, y_N = n.y, y_T = P y,
// r = (r_N, r_T) > 0,
//     Phi = F - projection = 0,   projection_N = max(0, y_N),   projection_T = the point of the disc of
//     radius mu max(0, y_N) nearest to y_T
// (Alart and Curnier 1991), with r_N = 1/(n.W_cc n), r_T = 2/trace(P W_cc P). A step of Newton's method
// solves
//     open  (y_N <= 0):            dF = -F
//     stick (|y_T| < mu y_N):      (W dF) = -u
//     slip  (else), t = y_T/|y_T|, s = n x t, rho = mu y_N/|y_T|:
//         n.(W dF) = -n.u,   (t - mu n).dF = (mu n - t).F,   rho s.(W dF) + (1 - rho)/r_T s.dF = -s.F/r_T
// along dF, with halving where |Phi| does not fall. Where that does not help, and at a cold start, sweeps of
// Gauss-Seidel take over: each contact is solved exactly against the others' forces. In its frame, with the
// normal row eliminated (S = W_TT - w w^T/W_NN, c = q_T - w q_N/W_NN), slip against the force means u_T = -nu
// F_T: F_T(nu) = -(S + nu)^-1 c and |F_T| = mu F_N is one equation for nu > 0, positive at 0 where sticking
// fails and negative at infinity.
#include "contact/friction.h"

#include <assert.h>
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/friction_system.h"
#include "math/mat3.h"

#define ERROR_SINGLE 1e-2  // of the factor in single precision, up to which it is a good preconditioner
#define EDGE 1e-3          // of the limit of friction: forces that are nearer count as slipping
#define COLD 0.9           // residual from which the forces tell nothing
#define FAR 0.5            // residual of a start that is far off
#define NEAR 5e-3          // residual from which the sets by the motion are better than those by the forces
#define LOST 0.05          // residual from which Newton's method does not find the sets by itself
#define ROUGH 1e-2         // residual of a problem that is softer than the one to be solved
#define SMALL 1e-2         // part of a row that a preconditioner may leave out

enum {
    NEWTON_FIRST = 12,   // steps of the first round
    NEWTON_LATER = 6,    // of each further one
    NEWTON_MANY = 24,    // of each, where W is not stored
    HALVINGS = 1,        // of a step
    HALVINGS_FAR = 4,    // where W is not stored and the start is far off
    WILD_LIMIT = 15,     // steps in a row that may leave |Phi| above the best
    STALL_LIMIT = 3,     // times that sweeps may help out in a round
    SWEEPS_STALLED = 8,  // then
    ROUND_LIMIT = 3,     // of sweeps, then Newton's method
    SWEEPS_COLD = 3,     // of the first round, when the start is far off
    SWEEPS_ROUND = 200,  // of the second; three times as many in each further one
    KEPT_LIMIT = 60,     // iterations of GMRES with the factor of an earlier step, where W is not stored
    LINEAR_LIMIT = 120   // with one of its own
};

// The problem. Where W is stored, the addition joins it as soon as somebody wants rows or columns of the sum.
typedef struct problem {
    int count;
    const ct_friction_matrix* matrix;
    ct_friction_addition addition;  // none once it has joined
    const double *b, *base, *normal, *mu, *eps;
    const ct_friction_inverse* inverse;
} problem;

typedef struct local {
    ct_vec3 n, t1, t2;
    double W[9];  // W_cc + eps
    double r_N, r_T;
    double W_NN, w[2];          // in the frame (n, t1, t2)
    double s[2], e1[2], e2[2];  // eigenvalues and eigenvectors of S
} local;

// |Phi|^2 and |F|^2 in the norm of the report, and the largest violation.
typedef struct merit {
    double square, size, violation;
    int stick, slip;
} merit;

struct ct_friction_work {
    ct_arena arena;
    int capacity;
    local* contact;
    double *u, *dF, *Wd, *F_try, *u_try, *F_best, *F_held, *u_held, *a;  // 3 capacity
    double *D, *E;                                                       // 9 capacity
    int halvings;                                                        // that a step may take
    double* eps;                                                         // capacity
    merit held;                                                          // of F_held
    ct_friction_system newton, fixed;
    ct_friction_complement complement, fixed_complement;
    bool inverted;   // the fixed system is solved by its complement
    uint64_t stamp;  // of the matrix that Newton's factor belongs to; 0: none that may come again
    double* sum;     // W + U M U^T
    double* ways;    // U M
    size_t sum_size, ways_size;
    ct_friction_matrix own;  // of that
};

ct_status ct_friction_work_create(ct_friction_work** out) {
    *out = ct_alloc(1, sizeof **out);
    if (!*out) return CT_OUT_OF_MEMORY;
    return CT_OK;
}

void ct_friction_work_free(ct_friction_work* work) {
    if (!work) return;
    ct_arena_free(&work->arena);
    ct_friction_system_free(&work->newton);
    ct_friction_system_free(&work->fixed);
    ct_friction_complement_free(&work->complement);
    ct_friction_complement_free(&work->fixed_complement);
    ct_free(work->sum);
    ct_free(work->ways);
    ct_free(work);
}

static ct_status reserve(ct_friction_work* work, int count) {
    if (count <= work->capacity) return CT_OK;
    const size_t capacity = (size_t)count + (size_t)count / 4 + 16;
    ct_arena arena = {0};
    ct_friction_work grown = *work;
    grown.contact = ct_arena_alloc(&arena, capacity, sizeof(local));
    double** vectors[] = {&grown.u,      &grown.dF,     &grown.Wd,     &grown.F_try, &grown.u_try,
                          &grown.F_best, &grown.F_held, &grown.u_held, &grown.a};
    for (int i = 0; i < 9; i++) *vectors[i] = ct_arena_alloc(&arena, 3 * capacity, sizeof(double));
    grown.D = ct_arena_alloc(&arena, 9 * capacity, sizeof(double));
    grown.E = ct_arena_alloc(&arena, 9 * capacity, sizeof(double));
    grown.eps = ct_arena_alloc(&arena, capacity, sizeof(double));
    if (arena.failed) {
        ct_arena_free(&arena);
        return CT_OUT_OF_MEMORY;
    }
    ct_arena_free(&work->arena);
    *work = grown;
    work->arena = arena;
    work->capacity = (int)capacity;
    return CT_OK;
}

// Eigenvalues (floored: the block may be singular) and eigenvectors of S = [a b; b c].
static void eigen(double a, double b, double c, double floor, local* l) {
    const double mean = (a + c) / 2, half = hypot((a - c) / 2, b);
    const double angle = atan2(2 * b, a - c) / 2;
    l->s[0] = fmax(mean + half, floor);
    l->s[1] = fmax(mean - half, floor);
    l->e1[0] = cos(angle);
    l->e1[1] = sin(angle);
    l->e2[0] = -l->e1[1];
    l->e2[1] = l->e1[0];
}

// W_cc, with the addition where W is stored.
static void own_block(const problem* def, int c, double block[9]) {
    const ct_friction_addition* add = &def->addition;
    const int rank = def->matrix->W ? add->rank : 0;
    ct_friction_matrix_block(def->matrix, c, block);
    for (int j = 0; rank && j < 3; j++) {
        const double* U = add->U + (3 * (size_t)c + (size_t)j) * (size_t)rank;
        double way[CT_FRICTION_RANK] = {0};
        for (int k = 0; k < rank; k++)
            for (int l = 0; l < rank; l++) way[k] += add->M[k * rank + l] * U[l];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < rank; k++)
                block[3 * i + j] += add->U[(3 * (size_t)c + (size_t)i) * (size_t)rank + (size_t)k] * way[k];
    }
}

static void prepare(const problem* def, ct_friction_work* work) {
    double largest = 0;
    for (int c = 0; c < def->count; c++) {
        local* l = &work->contact[c];
        own_block(def, c, l->W);
        for (int i = 0; i < 3; i++) {
            l->W[4 * i] += def->eps[c];
            largest = fmax(largest, l->W[4 * i]);
        }
    }
    const double floor = fmax(1e-14 * largest, DBL_MIN / DBL_EPSILON);
    for (int c = 0; c < def->count; c++) {
        local* l = &work->contact[c];
        const ct_mat3 W = ct_mat3_load(l->W);
        l->n = ct_vec3_load(def->normal + 3 * c);
        l->t1 = ct_vec3_orthogonal(l->n);
        l->t2 = ct_vec3_cross(l->n, l->t1);
        const ct_vec3 Wn = ct_mat3_apply(W, l->n), W1 = ct_mat3_apply(W, l->t1), W2 = ct_mat3_apply(W, l->t2);
        l->W_NN = fmax(ct_vec3_dot(l->n, Wn), floor);
        l->w[0] = ct_vec3_dot(l->t1, Wn);
        l->w[1] = ct_vec3_dot(l->t2, Wn);
        const double a = ct_vec3_dot(l->t1, W1), b = ct_vec3_dot(l->t1, W2), d = ct_vec3_dot(l->t2, W2);
        eigen(a - l->w[0] * l->w[0] / l->W_NN, b - l->w[0] * l->w[1] / l->W_NN,
              d - l->w[1] * l->w[1] / l->W_NN, floor, l);
        l->r_N = 1 / l->W_NN;
        l->r_T = 2 / fmax(a + d, 2 * floor);
    }
}

// Phi of one contact in (N, T); what its set is; y_T.
typedef struct state {
    ct_contact_set set;
    double y_N, length;  // length: |y_T|
    ct_vec3 y_T, Phi, projection;
} state;

static state evaluate(const local* l, double mu, const double* F, const double* u) {
    const ct_vec3 force = ct_vec3_load(F), slip = ct_vec3_load(u);
    const double f_N = ct_vec3_dot(l->n, force), u_N = ct_vec3_dot(l->n, slip);
    const ct_vec3 f_T = ct_vec3_axpy(force, -f_N, l->n), u_T = ct_vec3_axpy(slip, -u_N, l->n);
    state s = {.set = CT_CONTACT_SET_OPEN, .y_N = f_N - l->r_N * u_N, .y_T = ct_vec3_axpy(f_T, -l->r_T, u_T)};
    s.length = ct_vec3_norm(s.y_T);
    s.projection = ct_vec3_make(0, 0, 0);
    if (!(s.y_N <= 0)) {  // not a number: neither is Phi
        const bool stick = s.length < mu * s.y_N;
        s.set = stick ? CT_CONTACT_SET_STICK : CT_CONTACT_SET_SLIP;
        s.projection = ct_vec3_axpy(ct_vec3_scale(s.y_N, l->n),
                                    stick          ? 1
                                    : s.length > 0 ? mu * s.y_N / s.length
                                                   : 0,
                                    s.y_T);
    }
    s.Phi = ct_vec3_sub(force, s.projection);
    return s;
}

static double weigh(const local* l, ct_vec3 v) {
    const double N = ct_vec3_dot(l->n, v);
    return N * N / l->r_N + fmax(ct_vec3_dot(v, v) - N * N, 0) / l->r_T;
}

static merit measure(const problem* def, const ct_friction_work* work, const double* F, const double* u,
                     unsigned char* set) {
    merit m = {0};
    double force = 0, projected = 0;
    for (int c = 0; c < def->count; c++) {
        const local* l = &work->contact[c];
        const state s = evaluate(l, def->mu[c], F + 3 * c, u + 3 * c);
        const double N = ct_vec3_dot(l->n, s.Phi), T = ct_vec3_norm(ct_vec3_axpy(s.Phi, -N, l->n));
        m.square += N * N / l->r_N + T * T / l->r_T;
        m.violation = fmax(m.violation, hypot(N / l->r_N, T / l->r_T));
        force += weigh(l, ct_vec3_load(F + 3 * c));
        projected += weigh(l, s.projection);
        m.stick += s.set == CT_CONTACT_SET_STICK;
        m.slip += s.set == CT_CONTACT_SET_SLIP;
        if (set) set[c] = (unsigned char)s.set;
    }
    m.size = fmax(force, projected);
    return m;
}

static double residual_of(merit m) { return m.square == 0 ? 0 : sqrt(m.square / m.size); }

// u = b + (W + U M U^T) (F - F_base) + eps F
static void motion(const problem* def, ct_friction_work* work, const double* F, double* u) {
    for (int i = 0; i < 3 * def->count; i++) {
        work->Wd[i] = F[i] - (def->base ? def->base[i] : 0);
        u[i] = def->b[i] + def->eps[i / 3] * F[i];
    }
    ct_friction_system_product(&work->newton, work->Wd, u);
}

// W + U M U^T in the place of both, where W is stored.
static ct_status join_addition(problem* def, ct_friction_work* work) {
    const size_t n = 3 * (size_t)def->count, rank = (size_t)def->addition.rank;
    const double *U = def->addition.U, *M = def->addition.M;
    if (!rank || !def->matrix->W) return CT_OK;
    if (!ct_reserve((void**)&work->sum, &work->sum_size, n * n, sizeof(double)) ||
        !ct_reserve((void**)&work->ways, &work->ways_size, n * rank, sizeof(double)))
        return CT_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) {
        memcpy(work->sum + i * n, def->matrix->W + i * (size_t)def->matrix->stride, n * sizeof(double));
        double* way = work->ways + i * rank;
        for (size_t k = 0; k < rank; k++) {
            way[k] = 0;
            for (size_t l = 0; l < rank; l++) way[k] += M[k * rank + l] * U[i * rank + l];
        }
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)rank, 1, work->ways, (int)rank,
                U, (int)rank, 1, work->sum, (int)n);
    work->own = (ct_friction_matrix){.count = def->count, .W = work->sum, .stride = (int)n};
    def->matrix = &work->own;
    def->addition = (ct_friction_addition){0};
    ct_friction_system_borrow(&work->newton, def->matrix, &def->addition);
    return CT_OK;
}

// |F_T| - mu F_N at nu, and its derivative.
static double excess(const local* l, double mu, double q_N, const double c[2], double nu, double f[3],
                     double* slope) {
    double value = 0, change = 0, bend = 0, g[2] = {0, 0}, dg[2] = {0, 0};
    const double* axes[2] = {l->e1, l->e2};
    for (int i = 0; i < 2; i++) {
        const double stiff = 1 / (l->s[i] + nu), x = -c[i] * stiff;
        value += x * x;
        bend -= x * x * stiff;
        for (int k = 0; k < 2; k++) {
            g[k] += x * axes[i][k];
            dg[k] -= x * stiff * axes[i][k];
        }
    }
    const double length = sqrt(value);
    change = length > 0 ? bend / length : 0;
    f[0] = -(q_N + l->w[0] * g[0] + l->w[1] * g[1]) / l->W_NN;
    f[1] = g[0];
    f[2] = g[1];
    *slope = change + mu * (l->w[0] * dg[0] + l->w[1] * dg[1]) / l->W_NN;
    return length - mu * f[0];
}

// The force on one contact whose motion without it is q, in its frame.
static void solve_local(const local* l, double mu, const double q[3], double f[3]) {
    f[0] = f[1] = f[2] = 0;
    if (!(q[0] < 0)) return;
    const double plain[2] = {q[1] - l->w[0] * q[0] / l->W_NN, q[2] - l->w[1] * q[0] / l->W_NN};
    const double c[2] = {plain[0] * l->e1[0] + plain[1] * l->e1[1],
                         plain[0] * l->e2[0] + plain[1] * l->e2[1]};
    double slope;
    if (excess(l, mu, q[0], c, 0, f, &slope) <= 0) return;  // sticks
    if (mu == 0) {
        f[0] = -q[0] / l->W_NN;
        f[1] = f[2] = 0;
        return;
    }
    double low = 0, high = l->s[0], value;
    for (int k = 0; k < 200 && excess(l, mu, q[0], c, high, f, &slope) > 0; k++) {
        low = high;
        high *= 4;
    }
    // Newton's method between the bounds
    double nu = (low + high) / 2;
    for (int k = 0; k < 60 && high - low > 4 * DBL_EPSILON * high; k++) {
        value = excess(l, mu, q[0], c, nu, f, &slope);
        if (fabs(value) <= 4 * DBL_EPSILON * mu * fabs(f[0])) break;
        if (value > 0) low = nu;
        else high = nu;
        const double next = nu - value / slope;
        nu = next > low && next < high ? next : (low + high) / 2;
    }
    excess(l, mu, q[0], c, nu, f, &slope);
    // on the cone to the last digit
    const double length = hypot(f[1], f[2]), limit = mu * fmax(f[0], 0);
    if (length > 0) {
        f[1] *= limit / length;
        f[2] *= limit / length;
    }
}

// One sweep over all contacts; u follows F.
static void sweep(const problem* def, ct_friction_work* work, double* F, double* u) {
    for (int c = 0; c < def->count; c++) {
        const local* l = &work->contact[c];
        const ct_vec3 force = ct_vec3_load(F + 3 * c);
        const ct_vec3 q = ct_vec3_sub(ct_vec3_load(u + 3 * c), ct_mat3_apply(ct_mat3_load(l->W), force));
        const double frame[3] = {ct_vec3_dot(l->n, q), ct_vec3_dot(l->t1, q), ct_vec3_dot(l->t2, q)};
        double f[3], d[3];
        solve_local(l, def->mu[c], frame, f);
        const ct_vec3 next = ct_vec3_axpy(ct_vec3_axpy(ct_vec3_scale(f[0], l->n), f[1], l->t1), f[2], l->t2);
        ct_vec3_store(d, ct_vec3_sub(next, force));
        if (d[0] == 0 && d[1] == 0 && d[2] == 0) continue;
        cblas_dgemv(CblasColMajor, CblasNoTrans, 3 * def->count, 3, 1,
                    def->matrix->W + 3 * (size_t)c * (size_t)def->matrix->stride, def->matrix->stride, d, 1,
                    1, u, 1);
        for (int i = 0; i < 3; i++) {
            u[3 * c + i] += def->eps[c] * d[i];
            F[3 * c + i] += d[i];
        }
        ct_vec3_store(F + 3 * c, next);
    }
}

static void add_outer(double* A, double s, ct_vec3 v, ct_vec3 w) {
    const double a[3] = {v.x, v.y, v.z}, b[3] = {w.x, w.y, w.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[3 * i + j] += s * a[i] * b[j];
}

// D, E, a of the Newton step at F, u.
static void linearise(const problem* def, ct_friction_work* work, const double* F, const double* u) {
    memset(work->D, 0, 9 * (size_t)def->count * sizeof(double));
    memset(work->E, 0, 9 * (size_t)def->count * sizeof(double));
    for (int c = 0; c < def->count; c++) {
        const local* l = &work->contact[c];
        const double mu = def->mu[c];
        double *D = work->D + 9 * c, *E = work->E + 9 * c, *a = work->a + 3 * c;
        const state s = evaluate(l, mu, F + 3 * c, u + 3 * c);
        if (s.set == CT_CONTACT_SET_OPEN) {
            for (int i = 0; i < 3; i++) {
                E[4 * i] = 1;
                a[i] = -F[3 * c + i];
            }
        } else if (s.set == CT_CONTACT_SET_STICK) {
            for (int i = 0; i < 3; i++) {
                D[4 * i] = 1;
                a[i] = -u[3 * c + i];
            }
        } else {
            const ct_vec3 t = s.length > 0 ? ct_vec3_scale(1 / s.length, s.y_T) : l->t1,
                          side = ct_vec3_cross(l->n, t);
            const double rho = s.length > 0 ? mu * s.y_N / s.length : 0;
            const ct_vec3 force = ct_vec3_load(F + 3 * c), slip = ct_vec3_load(u + 3 * c);
            add_outer(D, 1, l->n, l->n);
            add_outer(D, rho, side, side);
            add_outer(E, 1, t, ct_vec3_axpy(t, -mu, l->n));
            add_outer(E, (1 - rho) / l->r_T, side, side);
            ct_vec3 right = ct_vec3_scale(-ct_vec3_dot(l->n, slip), l->n);
            right = ct_vec3_axpy(right, mu * ct_vec3_dot(l->n, force) - ct_vec3_dot(t, force), t);
            ct_vec3_store(a, ct_vec3_axpy(right, -ct_vec3_dot(side, force) / l->r_T, side));
        }
        for (int i = 0; i < 9; i++) E[i] += def->eps[c] * D[i];
    }
}

// Of the Newton step's matrix.
static ct_status factor(problem* def, ct_friction_work* work, bool in_double) {
    ct_status status = CT_OK;
    if (def->matrix->W && def->addition.rank) {
        status = join_addition(def, work);
        if (!status) status = ct_friction_system_reduce(&work->newton, work->D, work->E);
    }
    return status ? status : ct_friction_system_factor(&work->newton, in_double, NULL);
}

// dF with a factor in single precision, that of an earlier step where it still serves. CT_NOT_CONVERGED: it
// does not reach `relative`.
static ct_status solve_single(problem* def, ct_friction_work* work, double relative, double* dF,
                              ct_friction_report* report) {
    ct_friction_system* s = &work->newton;
    const bool stored = s->matrix->W;
    for (int attempt = 0; attempt < 2; attempt++) {
        bool kept = false;
        ct_krylov_report gmres = {.end = CT_KRYLOV_LIMIT};
        ct_status status = attempt ? factor(def, work, false) : ct_friction_system_reuse(s, &kept);
        report->factors += attempt;
        if (status) return status;
        if (!attempt && !kept) continue;
        const int limit = stored ? (kept ? 8 : 16) : kept ? KEPT_LIMIT : LINEAR_LIMIT;
        ct_friction_system_iterate(s, work->a, relative, limit, dF, &gmres);
        report->linear += gmres.iterations;
        if (gmres.end == CT_KRYLOV_CONVERGED) return CT_OK;
    }
    return stored ? CT_NOT_CONVERGED : CT_OK;
}

// dF by the inverse of W. CT_NOT_CONVERGED: it does not fit the sets, or does not reach `relative`.
static ct_status solve_inverse(const problem* def, ct_friction_work* work, double relative, double* dF,
                               ct_friction_report* report) {
    bool fits = false;
    ct_krylov_report gmres = {.end = CT_KRYLOV_LIMIT};
    const ct_status status =
        ct_friction_complement_build(&work->complement, def->inverse, work->D, work->E, &fits);
    if (status || !fits) return status ? status : CT_NOT_CONVERGED;
    work->newton.complement = &work->complement;
    ct_friction_system_iterate(&work->newton, work->a, relative, 8, dF, &gmres);
    work->newton.complement = NULL;
    report->linear += gmres.iterations;
    return gmres.end == CT_KRYLOV_CONVERGED ? CT_OK : CT_NOT_CONVERGED;
}

// dF of the Newton step, by the cheapest of the ways that have not failed before.
static ct_status direction(problem* def, ct_friction_work* work, double relative, bool* exact, double* dF,
                           ct_friction_report* report) {
    ct_friction_system* s = &work->newton;
    if (def->inverse && def->inverse->L && s->n >= 100) {
        const ct_status status = solve_inverse(def, work, relative, dF, report);
        if (status != CT_NOT_CONVERGED) return status;
    }
    if (!s->matrix->W || (!*exact && s->n >= 100)) {
        const ct_status status = solve_single(def, work, relative, dF, report);
        if (status != CT_NOT_CONVERGED) return status;
        *exact = true;
    }
    report->factors++;
    const ct_status status = factor(def, work, true);
    if (!status) ct_friction_system_solve(s, work->a, dF);
    return status;
}

static bool all_finite(int n, const double* x) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static void attempt(ct_friction_work* work, int n, double alpha, const double* F) {
    for (int i = 0; i < n; i++) {
        work->F_try[i] = F[i] + alpha * work->dF[i];
        work->u_try[i] = work->u[i] + alpha * work->Wd[i];
    }
}

// The same with the sets that the forces tell: a common motion of all contacts, as a change of load gives at
// the start of a step, says nothing about the sets.
static void linearise_kept(const problem* def, ct_friction_work* work, const double* F, const double* u) {
    for (int c = 0; c < def->count; c++) {
        const local* l = &work->contact[c];
        double *D = work->D + 9 * c, *E = work->E + 9 * c, *a = work->a + 3 * c;
        const ct_vec3 force = ct_vec3_load(F + 3 * c), slip = ct_vec3_load(u + 3 * c);
        const double f_N = ct_vec3_dot(l->n, force);
        const ct_vec3 f_T = ct_vec3_axpy(force, -f_N, l->n);
        const double length = ct_vec3_norm(f_T);
        memset(D, 0, 9 * sizeof(double));
        memset(E, 0, 9 * sizeof(double));
        ct_vec3_store(a, ct_vec3_scale(-1, f_N > 0 ? slip : force));
        for (int i = 0; i < 3; i++) (f_N > 0 ? D : E)[4 * i] = 1;
        if (f_N > 0 && length >= (1 - EDGE) * def->mu[c] * f_N) {
            const ct_vec3 t = length > 0 ? ct_vec3_scale(1 / length, f_T) : l->t1;
            add_outer(D, -1, t, t);
            add_outer(E, 1, t, ct_vec3_axpy(t, -def->mu[c], l->n));
            const ct_vec3 right = ct_vec3_scale(-1, ct_vec3_axpy(slip, -ct_vec3_dot(t, slip), t));
            ct_vec3_store(a, ct_vec3_axpy(right, def->mu[c] * f_N - length, t));
        }
        for (int i = 0; i < 9; i++) E[i] += def->eps[c] * D[i];
    }
}

// One Newton step with its line search. *moved: |Phi| fell. *possible: there is a step; when |Phi| did not
// fall, F_try and u_try are at its end.
static ct_status newton_step(problem* def, ct_friction_work* work, double tolerance, bool* exact, double* F,
                             merit* now, bool* moved, bool* possible, ct_friction_report* report) {
    const int n = 3 * def->count;
    *moved = *possible = false;
    const double residual = residual_of(*now);
    const bool keep = report->newton++ == 0 && !def->matrix->W && residual < COLD && residual > NEAR;
    (keep ? linearise_kept : linearise)(def, work, F, work->u);
    ct_status status = ct_friction_system_reduce(&work->newton, work->D, work->E);
    // as precise as the next residual can be: Newton's method squares it, and the tolerance is enough
    const double relative = fmax(0.3 * tolerance / residual, fmin(fmax(0.1 * residual, 1e-5), 1e-2));
    if (!status) status = direction(def, work, relative, exact, work->dF, report);
    if (status == CT_SINGULAR || (!status && !all_finite(n, work->dF))) return CT_OK;
    if (status) return status;

    *possible = true;
    for (int i = 0; i < n; i++) work->Wd[i] = def->eps[i / 3] * work->dF[i];
    ct_friction_system_product(&work->newton, work->dF, work->Wd);
    double alpha = 1;
    for (int k = 0; k <= work->halvings; k++, alpha /= 2) {
        attempt(work, n, alpha, F);
        const merit next = measure(def, work, work->F_try, work->u_try, NULL);
        if (!(next.square <= (1 - 1e-3 * alpha) * now->square)) continue;
        memcpy(F, work->F_try, (size_t)n * sizeof(double));
        memcpy(work->u, work->u_try, (size_t)n * sizeof(double));
        *now = next;
        *moved = true;
        return CT_OK;
    }
    attempt(work, n, 1, F);
    return CT_OK;
}

static ct_status sweeps(problem* def, ct_friction_work* work, int count, double* F, merit* now,
                        ct_friction_report* report) {
    const ct_status status = join_addition(def, work);
    if (status) return status;
    for (int k = 0; k < count; k++) sweep(def, work, F, work->u);
    report->sweeps += count;
    *now = measure(def, work, F, work->u, NULL);
    return CT_OK;
}

static void hold(ct_friction_work* work, int count, const double* F, merit now) {
    memcpy(work->F_held, F, 3 * (size_t)count * sizeof(double));
    memcpy(work->u_held, work->u, 3 * (size_t)count * sizeof(double));
    work->held = now;
}

static merit release(ct_friction_work* work, int count, double* F) {
    memcpy(F, work->F_held, 3 * (size_t)count * sizeof(double));
    memcpy(work->u, work->u_held, 3 * (size_t)count * sizeof(double));
    return work->held;
}

// Newton's method, from F and to the best that was found. A step that does not lower |Phi| is taken
// nevertheless, as long as one of the next few comes below the best so far: where contacts are nearly
// redundant, the sets sort themselves out while the forces are wild.
static ct_status newton(problem* def, ct_friction_work* work, double tolerance, int limit, double* F,
                        merit* now, ct_friction_report* report) {
    const size_t bytes = 3 * (size_t)def->count * sizeof(double);
    bool exact = false;
    hold(work, def->count, F, *now);
    for (int k = 0, wild = 0, stalls = 0; k < limit && residual_of(*now) > tolerance; k++, wild++) {
        bool moved, possible;
        ct_status status = newton_step(def, work, tolerance, &exact, F, now, &moved, &possible, report);
        if (status) return status;
        if (!moved && possible) {
            memcpy(F, work->F_try, bytes);
            memcpy(work->u, work->u_try, bytes);
            *now = measure(def, work, F, work->u, NULL);
        }
        if (now->square < work->held.square) {
            hold(work, def->count, F, *now);
            wild = -1;
        } else if (!possible || wild + 1 >= WILD_LIMIT || !isfinite(now->square)) {
            *now = release(work, def->count, F);
            if (stalls++ == STALL_LIMIT || !def->matrix->W) break;
            status = sweeps(def, work, SWEEPS_STALLED, F, now, report);
            if (status) return status;
            hold(work, def->count, F, *now);
            wild = -1;
        }
    }
    *now = release(work, def->count, F);
    return CT_OK;
}

static ct_status simplify(const ct_friction_def* def, ct_friction_work* work, problem* out) {
    assert(def->rank <= CT_FRICTION_RANK);
    *out = (problem){.count = def->count,
                     .matrix = def->W,
                     .b = def->b,
                     .base = def->base,
                     .normal = def->normal,
                     .mu = def->mu,
                     .eps = def->eps,
                     .inverse = def->inverse};
    ct_status status = ct_friction_system_reserve(&work->newton, def->count);
    if (status) return status;
    if (def->rank) out->addition = (ct_friction_addition){.rank = def->rank, .U = def->U, .M = def->M};
    ct_friction_system_borrow(&work->newton, out->matrix, &out->addition);
    // the factor of W with another addition is a good preconditioner
    if (out->matrix->stamp == 0 || out->matrix->stamp != work->stamp) work->newton.rank_count = -1;
    work->stamp = out->matrix->stamp;
    return CT_OK;
}

// Where W is not stored there are no sweeps. Softer contacts are easier to sort out: the problem is solved
// roughly with additional compliance, of less and less of the contacts' own. F: start and result.
static ct_status soften(const problem* def, ct_friction_work* work, double* F, merit* now,
                        ct_friction_report* report) {
    problem softer = *def;
    softer.eps = work->eps;
    ct_status status = CT_OK;
    for (double part = 0.3; part > 1e-3 && !status; part *= 0.2) {
        for (int c = 0; c < def->count; c++)
            work->eps[c] = def->eps[c] + part * ct_friction_matrix_own(def->matrix, c);
        prepare(&softer, work);
        motion(&softer, work, F, work->u);
        *now = measure(&softer, work, F, work->u, NULL);
        status = newton(&softer, work, ROUGH, NEWTON_FIRST, F, now, report);
    }
    prepare(def, work);
    motion(def, work, F, work->u);
    *now = measure(def, work, F, work->u, NULL);
    return status;
}

ct_status ct_friction_solve(const ct_friction_def* given, ct_friction_work* work, double tolerance, double* F,
                            unsigned char* set, ct_friction_report* report) {
    const size_t bytes = 3 * (size_t)given->count * sizeof(double);
    problem simple, *const def = &simple;
    *report = (ct_friction_report){.converged = given->count == 0};
    if (given->count == 0) return CT_OK;
    ct_status status = reserve(work, given->count);
    if (!status) status = simplify(given, work, def);
    if (status) return status;
    prepare(def, work);
    motion(def, work, F, work->u);
    merit now = measure(def, work, F, work->u, NULL), best = now;
    memcpy(work->F_best, F, bytes);
    for (int round = 0, count = SWEEPS_COLD; round < ROUND_LIMIT && residual_of(best) > tolerance; round++) {
        const bool stored = def->matrix->W;
        work->halvings = !stored && (round > 0 || residual_of(now) > FAR) ? HALVINGS_FAR : HALVINGS;
        const int limit = !stored ? NEWTON_MANY : round ? NEWTON_LATER : NEWTON_FIRST;
        if (stored && (round > 0 || residual_of(now) > 0.1))
            status = sweeps(def, work, count, F, &now, report);
        if (!status && !stored && round > 0 && residual_of(now) > LOST)
            status = soften(def, work, F, &now, report);
        if (!status) status = newton(def, work, tolerance, limit, F, &now, report);
        if (status) return status;
        motion(def, work, F, work->u);  // without the round-off of many steps
        now = measure(def, work, F, work->u, NULL);
        if (residual_of(now) < residual_of(best) || !isfinite(best.square)) {
            best = now;
            memcpy(work->F_best, F, bytes);
        }
        count = round ? 3 * count : SWEEPS_ROUND;
    }
    if (memcmp(F, work->F_best, bytes)) {
        memcpy(F, work->F_best, bytes);
        motion(def, work, F, work->u);
    }
    now = measure(def, work, F, work->u, set);
    report->residual = residual_of(now);
    report->violation = now.violation;
    report->converged = report->residual <= tolerance;
    report->stick = now.stick;
    report->slip = now.slip;
    return CT_OK;
}

ct_status ct_friction_invert(ct_friction_work* work, const ct_friction_inverse* inverse, const double* D,
                             const double* E, bool* fits) {
    const ct_status status = ct_friction_complement_build(&work->fixed_complement, inverse, D, E, fits);
    work->inverted = *fits;
    return status;
}

// D without what hardly counts beside E: across the slip of a contact that slides far, the force does not
// depend on the motion. What is left has the range of D's largest column. w: the contact's own compliance.
static void drop_small(double w, const double* E, double* D) {
    const ct_mat3 A = ct_mat3_load(D), D_T = ct_mat3_transpose(A), E_T = ct_mat3_transpose(ct_mat3_load(E));
    ct_vec3 n = {0, 0, 0};
    for (int j = 0; j < 3; j++) {
        const ct_vec3 column = ct_mat3_column(A, j);
        if (ct_vec3_dot(column, column) > ct_vec3_dot(n, n)) n = column;
    }
    if (!(ct_vec3_dot(n, n) > 0)) return;
    n = ct_vec3_normalise(n);
    const ct_vec3 across[2] = {ct_vec3_orthogonal(n), ct_vec3_cross(n, ct_vec3_orthogonal(n))};
    for (int i = 0; i < 2; i++)
        if (ct_vec3_norm(ct_mat3_apply(D_T, across[i])) * w >
            SMALL * ct_vec3_norm(ct_mat3_apply(E_T, across[i])))
            return;
    const ct_vec3 row = ct_mat3_apply(D_T, n);
    memset(D, 0, 9 * sizeof(double));
    add_outer(D, 1, n, row);
}

ct_status ct_friction_factor(ct_friction_work* work, const ct_friction_matrix* matrix, const double* D,
                             const double* E) {
    ct_friction_system* s = &work->fixed;
    const int count = matrix->count;
    work->inverted = false;
    ct_status status = reserve(work, count);
    if (!status) status = ct_friction_system_reserve(s, count);
    if (status) return status;
    ct_friction_system_borrow(s, matrix, NULL);
    memcpy(work->D, D, 9 * (size_t)count * sizeof(double));
    for (int c = 0; c < count; c++) drop_small(ct_friction_matrix_own(matrix, c), E + 9 * c, work->D + 9 * c);
    status = ct_friction_system_reduce(s, work->D, E);
    if (status) return status;
    const bool stored = matrix->W || matrix->nodes;
    double error = 0;
    status = ct_friction_system_factor(s, false, stored ? &error : NULL);
    if (!stored || status == CT_OUT_OF_MEMORY || (!status && error <= ERROR_SINGLE)) return status;
    return ct_friction_system_factor(s, true, NULL);
}

void ct_friction_apply(ct_friction_work* work, const double* a, double* F) {
    if (work->inverted) ct_friction_complement_solve(&work->fixed_complement, a, F);
    else ct_friction_system_solve(&work->fixed, a, F);
}

void ct_friction_apply_transposed(ct_friction_work* work, const double* a, double* F) {
    if (work->inverted) ct_friction_complement_solve_transposed(&work->fixed_complement, a, F);
    else ct_friction_system_solve_transposed(&work->fixed, a, F);
}
