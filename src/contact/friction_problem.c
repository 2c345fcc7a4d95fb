// Friction problems and their conditions; see friction_problem.h.
#include "contact/friction_problem.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

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

ct_status ct_friction_work_reserve(ct_friction_work* work, int count) {
    if (count <= work->capacity) return CT_OK;
    const size_t capacity = (size_t)count + (size_t)count / 4 + 16;
    ct_arena arena = {0};
    ct_friction_work grown = *work;
    grown.contact = ct_arena_alloc(&arena, capacity, sizeof(ct_friction_local));
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
static void eigen(double a, double b, double c, double floor, ct_friction_local* l) {
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
static void own_block(const ct_friction_problem* def, int c, double block[9]) {
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

void ct_friction_prepare(const ct_friction_problem* def, ct_friction_work* work) {
    double largest = 0;
    for (int c = 0; c < def->count; c++) {
        ct_friction_local* l = &work->contact[c];
        own_block(def, c, l->W);
        for (int i = 0; i < 3; i++) {
            l->W[4 * i] += def->eps[c];
            largest = fmax(largest, l->W[4 * i]);
        }
    }
    const double floor = fmax(1e-14 * largest, DBL_MIN / DBL_EPSILON);
    for (int c = 0; c < def->count; c++) {
        ct_friction_local* l = &work->contact[c];
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

ct_friction_state ct_friction_evaluate(const ct_friction_local* l, double mu, const double* F,
                                       const double* u) {
    const ct_vec3 force = ct_vec3_load(F), slip = ct_vec3_load(u);
    const double f_N = ct_vec3_dot(l->n, force), u_N = ct_vec3_dot(l->n, slip);
    const ct_vec3 f_T = ct_vec3_axpy(force, -f_N, l->n), u_T = ct_vec3_axpy(slip, -u_N, l->n);
    ct_friction_state s = {
        .set = CT_CONTACT_SET_OPEN, .y_N = f_N - l->r_N * u_N, .y_T = ct_vec3_axpy(f_T, -l->r_T, u_T)};
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

static double weigh(const ct_friction_local* l, ct_vec3 v) {
    const double N = ct_vec3_dot(l->n, v);
    return N * N / l->r_N + fmax(ct_vec3_dot(v, v) - N * N, 0) / l->r_T;
}

ct_friction_merit ct_friction_measure(const ct_friction_problem* def, const ct_friction_work* work,
                                      const double* F, const double* u, unsigned char* set) {
    ct_friction_merit m = {0};
    double force = 0, projected = 0;
    for (int c = 0; c < def->count; c++) {
        const ct_friction_local* l = &work->contact[c];
        const ct_friction_state s = ct_friction_evaluate(l, def->mu[c], F + 3 * c, u + 3 * c);
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

double ct_friction_residual(ct_friction_merit m) { return m.square == 0 ? 0 : sqrt(m.square / m.size); }

void ct_friction_motion(const ct_friction_problem* def, ct_friction_work* work, const double* F, double* u) {
    for (int i = 0; i < 3 * def->count; i++) {
        work->Wd[i] = F[i] - (def->base ? def->base[i] : 0);
        u[i] = def->b[i] + def->eps[i / 3] * F[i];
    }
    ct_friction_system_product(&work->newton, work->Wd, u);
}

ct_status ct_friction_join(ct_friction_problem* def, ct_friction_work* work) {
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
