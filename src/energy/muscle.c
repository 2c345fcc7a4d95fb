// Fibres of muscles; see muscle.h.
#include "energy/muscle.h"

#include <math.h>
#include <string.h>

#include "math/mat3.h"

typedef struct fibre {
    int node[4];
    int segment, muscle;
    double slope[4];  // c, 1/m
    double weight;    // V w, m^3
    double direction[3];  // m
} fibre;

struct ct_muscle {
    ct_arena arena;
    int ntet, nmuscle;
    fibre* fibre;       // ntet
    double* stiffness;  // nmuscle, Pa
};

// Of one fibre: d2E/dy2 = across I + (along - across) u u^T
typedef struct linear_fibre {
    double ux, uy, uz, across, along;
} linear_fibre;

struct ct_muscle_work {
    linear_fibre* linear;  // ntet
};

static const double SHORTEST = 1e-12;  // of l

// ---- creation

static fibre fibre_make(const ct_muscle_fibres* def, int e) {
    fibre out = {.segment = def->segment[e], .muscle = def->muscle[e]};
    memcpy(out.node, def->tet + 4 * e, sizeof out.node);
    memcpy(out.direction, def->direction + 3 * e, sizeof out.direction);
    const ct_vec3 p = ct_vec3_load(def->rest + 3 * out.node[0]);
    ct_vec3 edge[3];
    for (int k = 0; k < 3; k++) edge[k] = ct_vec3_sub(ct_vec3_load(def->rest + 3 * out.node[k + 1]), p);
    const ct_mat3 Dm = ct_mat3_columns(edge[0], edge[1], edge[2]);
    const ct_vec3 c = ct_mat3_apply(ct_mat3_inverse(Dm), ct_vec3_load(def->direction + 3 * e));
    out.slope[0] = -(c.x + c.y + c.z), out.slope[1] = c.x, out.slope[2] = c.y, out.slope[3] = c.z;
    out.weight = def->weight[e] * ct_mat3_determinant(Dm) / 6;
    return out;
}

ct_status ct_muscle_create(ct_muscle** out, const ct_muscle_fibres* def) {
    *out = NULL;
    ct_muscle* muscle = ct_alloc(1, sizeof *muscle);
    if (!muscle) return CT_OUT_OF_MEMORY;
    muscle->ntet = def->ntet;
    muscle->nmuscle = def->nmuscle;
    muscle->fibre = ct_arena_alloc(&muscle->arena, (size_t)def->ntet, sizeof(fibre));
    muscle->stiffness = ct_arena_copy(&muscle->arena, def->stiffness, (size_t)def->nmuscle, sizeof(double));
    if (muscle->arena.failed) {
        ct_muscle_free(muscle);
        return CT_OUT_OF_MEMORY;
    }
    for (int e = 0; e < def->ntet; e++) muscle->fibre[e] = fibre_make(def, e);
    *out = muscle;
    return CT_OK;
}

void ct_muscle_free(ct_muscle* muscle) {
    if (!muscle) return;
    ct_arena_free(&muscle->arena);
    ct_free(muscle);
}

void ct_muscle_set_stiffness(ct_muscle* muscle, const double* stiffness) {
    memcpy(muscle->stiffness, stiffness, (size_t)muscle->nmuscle * sizeof(double));
}

ct_status ct_muscle_work_create(ct_muscle_work** out, const ct_muscle* muscle) {
    *out = ct_alloc(1, sizeof **out);
    if (!*out) return CT_OUT_OF_MEMORY;
    (*out)->linear = ct_alloc((size_t)muscle->ntet, sizeof(linear_fibre));
    if ((*out)->linear) return CT_OK;
    ct_free(*out);
    *out = NULL;
    return CT_OUT_OF_MEMORY;
}

void ct_muscle_work_free(ct_muscle_work* work) {
    if (!work) return;
    ct_free(work->linear);
    ct_free(work);
}

// ---- one fibre

// y = sum_j c_j x_j
static inline ct_vec3 gather(const fibre* f, const double* x) {
    const double *a = x + 3 * f->node[0], *b = x + 3 * f->node[1], *c = x + 3 * f->node[2], *d = x + 3 * f->node[3];
    const double* s = f->slope;
    return (ct_vec3){s[0] * a[0] + s[1] * b[0] + s[2] * c[0] + s[3] * d[0], s[0] * a[1] + s[1] * b[1] + s[2] * c[1] + s[3] * d[1],
                     s[0] * a[2] + s[1] * b[2] + s[2] * c[2] + s[3] * d[2]};
}

static inline void scatter(const fibre* f, ct_vec3 p, double* out) {
    for (int j = 0; j < 4; j++) {
        double* at = out + 3 * f->node[j];
        at[0] += f->slope[j] * p.x;
        at[1] += f->slope[j] * p.y;
        at[2] += f->slope[j] * p.z;
    }
}

static linear_fibre linearise(const ct_muscle* muscle, const fibre* f, const double* activation, const double* x) {
    const ct_vec3 y = gather(f, x);
    const double l = ct_vec3_norm(y), inverse = 1 / fmax(l, SHORTEST), g = muscle->stiffness[f->muscle] * f->weight;
    const double r = 1 - activation[f->segment];
    return (linear_fibre){inverse * y.x, inverse * y.y, inverse * y.z, g * (1 - r * inverse), g};
}

// ---- all fibres

double ct_muscle_gradient(const ct_muscle* muscle, const double* activation, const double* x, double* f) {
    double energy = 0;
    for (int e = 0; e < muscle->ntet; e++) {
        const fibre* fibre = &muscle->fibre[e];
        const ct_vec3 y = gather(fibre, x);
        const double l = ct_vec3_norm(y), excess = l - (1 - activation[fibre->segment]);
        const double tension = muscle->stiffness[fibre->muscle] * fibre->weight * excess;
        energy += 0.5 * tension * excess;
        if (f) scatter(fibre, ct_vec3_scale(tension / fmax(l, SHORTEST), y), f);
    }
    return energy;
}

void ct_muscle_linearise(const ct_muscle* muscle, ct_muscle_work* work, const double* activation, const double* x) {
    for (int e = 0; e < muscle->ntet; e++) work->linear[e] = linearise(muscle, &muscle->fibre[e], activation, x);
}

void ct_muscle_product(const ct_muscle* muscle, const ct_muscle_work* work, const double* dx, double* out) {
    for (int e = 0; e < muscle->ntet; e++) {
        const linear_fibre* h = &work->linear[e];
        const ct_vec3 dy = gather(&muscle->fibre[e], dx), u = {h->ux, h->uy, h->uz};
        scatter(&muscle->fibre[e], ct_vec3_axpy(ct_vec3_scale(h->across, dy), (h->along - h->across) * ct_vec3_dot(u, dy), u), out);
    }
}

// At rest and without activation l = 1 and r = 1: only the stiffness along the fibre is left.
static linear_fibre linearise_rest(const ct_muscle* muscle, const fibre* f) {
    return (linear_fibre){f->direction[0], f->direction[1], f->direction[2], 0, muscle->stiffness[f->muscle] * f->weight};
}

void ct_muscle_assemble(const ct_muscle* muscle, const double* activation, const double* x, bool project, const int* unknown,
                        ct_block_matrix* matrix) {
    for (int e = 0; e < muscle->ntet; e++) {
        const fibre* f = &muscle->fibre[e];
        linear_fibre h = x ? linearise(muscle, f, activation, x) : linearise_rest(muscle, f);
        if (project) h.across = fmax(h.across, 0);
        const double u[3] = {h.ux, h.uy, h.uz}, rank = h.along - h.across;
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) {
                const double s = f->slope[a] * f->slope[b];
                double value[9];
                for (int i = 0; i < 9; i++) value[i] = s * (rank * u[i / 3] * u[i % 3] + (i % 4 == 0 ? h.across : 0));
                ct_block_matrix_add(matrix, unknown[f->node[a]], unknown[f->node[b]], value);
            }
    }
}

void ct_muscle_vjp(const ct_muscle* muscle, const double* activation, const double* x, const double* lam, double* activation_bar,
                   double* stiffness_bar) {
    for (int e = 0; e < muscle->ntet; e++) {
        const fibre* f = &muscle->fibre[e];
        const ct_vec3 y = gather(f, x);
        const double l = ct_vec3_norm(y), excess = l - (1 - activation[f->segment]);
        const double pull = f->weight * ct_vec3_dot(y, gather(f, lam)) / fmax(l, SHORTEST);
        if (activation_bar) activation_bar[f->segment] += muscle->stiffness[f->muscle] * pull;
        if (stiffness_bar) stiffness_bar[f->muscle] += excess * pull;
    }
}
