// Links in the preconditioner: with H = [A C; C^T D] over free nodes and link twists, W = A^-1 C and S = D -
// C^T W.
//
// A twist (omega, v) moves a node of the link by v + omega x (x - point). H is assembled once over free and
// link nodes together; its product with the motion of one unit twist gives a column of C and, summed as
// wrenches over the links, one of D. W is solved to double precision, so that S keeps the small inertia that
// is left when stiffness cancels in it.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "sparse/krylov.h"

ct_status ct_coupling_create(ct_coupling* coupling, ct_arena* arena, const ct_model* model) {
    size_t n = 3 * (size_t)model->nfree, m = 6 * (size_t)model->tree.nlink;
    coupling->W = ct_arena_alloc(arena, n * m, sizeof(double));
    coupling->S = ct_arena_alloc(arena, m * m, sizeof(double));
    coupling->coupled = ct_arena_alloc(arena, m * m / 36, 1);
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

typedef struct coupling_scratch {
    ct_arena arena;
    int* row;  // nvert: free nodes as in the model, then link nodes, -1: driven
    ct_block_matrix full;
    double *motion, *force;  // 3 (nfree + link nodes)
    double *right, *column;  // 3 nfree, matrix order
    double *b, *z;           // 3 nfree, factor order
    ct_krylov_work* krylov;
    ct_factor_work* solve;
} coupling_scratch;

typedef struct coupling_system {
    const ct_model* model;
    const ct_block_matrix* matrix;
    const ct_factor* factor;
    coupling_scratch* s;
} coupling_system;

static void multiply(const double* in, double* out, void* user) {
    const coupling_system* system = user;
    ct_block_matrix_multiply(system->matrix, in, out);
}

// P^-1 in matrix order.
static void precondition(const double* in, double* out, void* user) {
    const coupling_system* system = user;
    const int* order = ct_symbolic_order(system->model->system.symbolic);
    int n = system->model->nfree;
    for (int k = 0; k < n; k++) memcpy(system->s->b + 3 * k, in + 3 * order[k], 3 * sizeof(double));
    ct_factor_solve(system->factor, system->s->solve, NULL, system->s->b, system->s->z);
    for (int k = 0; k < n; k++) memcpy(out + 3 * order[k], system->s->z + 3 * k, 3 * sizeof(double));
}

static ct_status prepare(coupling_scratch* s, const ct_model* model) {
    const ct_tree* tree = &model->tree;
    int total = model->nfree;
    s->row = ct_arena_copy(&s->arena, model->row, (size_t)model->nvert, sizeof(int));
    if (!s->row) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < tree->start[tree->nlink]; i++) s->row[tree->node[i]] = total++;
    int count, width, *nodes = ct_model_couplings(model, s->row, &count, &width);
    if (!nodes) return CT_OUT_OF_MEMORY;
    ct_status status = ct_block_matrix_create(&s->full, &s->arena, total, count, width, nodes);
    ct_free(nodes);
    if (status != CT_OK) return status;
    s->motion = ct_arena_alloc(&s->arena, 3 * (size_t)total, sizeof(double));
    s->force = ct_arena_alloc(&s->arena, 3 * (size_t)total, sizeof(double));
    double** vectors[] = {&s->right, &s->column, &s->b, &s->z};
    for (int i = 0; i < 4; i++)
        *vectors[i] = ct_arena_alloc(&s->arena, 3 * (size_t)model->nfree, sizeof(double));
    if (s->arena.failed) return CT_OUT_OF_MEMORY;
    if (model->nfree == 0) return CT_OK;
    status = ct_krylov_work_create(&s->krylov, 3 * model->nfree, 0);
    if (status == CT_OK) status = ct_factor_work_create(&s->solve, model->system.symbolic);
    return status;
}

// The point of link k at x: moved as its nodes' centre is.
static void link_point(const ct_model* model, int k, const double* x, double point[3]) {
    const ct_tree* tree = &model->tree;
    int first = tree->start[k], count = tree->start[k + 1] - first;
    memcpy(point, tree->point + 3 * k, 3 * sizeof(double));
    if (!count) return;
    memset(point, 0, 3 * sizeof(double));
    for (int i = first; i < first + count; i++)
        for (int a = 0; a < 3; a++) point[a] += x[3 * tree->node[i] + a] / count;
}

static void unit_twist(const ct_model* model, coupling_scratch* s, int k, int component, const double* x) {
    const ct_tree* tree = &model->tree;
    double point[3], twist[6] = {0};
    twist[component] = 1;
    link_point(model, k, x, point);
    memset(s->motion, 0, 3 * (size_t)s->full.n * sizeof(double));
    for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
        const double* at = x + 3 * tree->node[i];
        double *u = s->motion + 3 * s->row[tree->node[i]],
               d[3] = {at[0] - point[0], at[1] - point[1], at[2] - point[2]};
        for (int a = 0; a < 3; a++)
            u[a] = twist[3 + a] + twist[(a + 1) % 3] * d[(a + 2) % 3] - twist[(a + 2) % 3] * d[(a + 1) % 3];
    }
}

static void add_wrench(const ct_model* model, const coupling_scratch* s, int k, const double* x,
                       double wrench[6]) {
    const ct_tree* tree = &model->tree;
    double point[3];
    link_point(model, k, x, point);
    for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
        const double *at = x + 3 * tree->node[i], *f = s->force + 3 * s->row[tree->node[i]];
        double d[3] = {at[0] - point[0], at[1] - point[1], at[2] - point[2]};
        for (int a = 0; a < 3; a++) {
            wrench[a] += d[(a + 1) % 3] * f[(a + 2) % 3] - d[(a + 2) % 3] * f[(a + 1) % 3];
            wrench[3 + a] += f[a];
        }
    }
}

// One column: H times the motion of the unit twist; its free part solved with A; its wrenches minus C^T W.
static ct_status column(ct_coupling* coupling, const ct_model* model, coupling_system* system, int k,
                        int component, const double* x) {
    coupling_scratch* s = system->s;
    int nlink = model->tree.nlink, index = 6 * k + component;
    unit_twist(model, s, k, component, x);
    ct_block_matrix_multiply(&s->full, s->motion, s->force);
    memcpy(s->right, s->force, 3 * (size_t)model->nfree * sizeof(double));
    memset(s->column, 0, 3 * (size_t)model->nfree * sizeof(double));
    double norm = 0;
    for (int i = 0; i < 3 * model->nfree; i++) norm += s->right[i] * s->right[i];
    if (norm > 0) {
        ct_krylov_def def = {.n = 3 * model->nfree,
                             .apply = multiply,
                             .precondition = precondition,
                             .user = system,
                             .relative = 1e-10,
                             .max_iterations = 200};
        ct_krylov_report report;
        ct_pcg(&def, s->krylov, s->right, s->column, &report);
    }
    const int* order = model->nfree ? ct_symbolic_order(model->system.symbolic) : NULL;
    for (int r = 0; r < model->nfree; r++)
        for (int a = 0; a < 3; a++)
            coupling->W[(size_t)(3 * r + a) * (size_t)(6 * nlink) + (size_t)index] =
                s->column[3 * order[r] + a];
    // wrenches of H (twist - W): the free nodes follow, what is left acts on the links
    for (int i = 0; i < 3 * model->nfree; i++) s->motion[i] = -s->column[i];
    ct_block_matrix_multiply(&s->full, s->motion, s->force);
    for (int l = 0; l < nlink; l++) {
        double wrench[6] = {0};
        add_wrench(model, s, l, x, wrench);
        for (int i = 0; i < 6; i++)
            coupling->S[(size_t)(6 * l + i) * (size_t)(6 * nlink) + (size_t)index] = wrench[i];
    }
    return CT_OK;
}

static void finish(ct_coupling* coupling, int nlink) {
    size_t m = 6 * (size_t)nlink;
    double* S = coupling->S;
    memset(coupling->coupled, 0, (size_t)(nlink * nlink));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            S[i * m + j] = S[j * m + i] = 0.5 * (S[i * m + j] + S[j * m + i]);
            if (S[i * m + j] != 0)
                coupling->coupled[i / 6 * (size_t)nlink + j / 6] =
                    coupling->coupled[j / 6 * (size_t)nlink + i / 6] = 1;
        }
}

ct_status ct_coupling_update(ct_coupling* coupling, const ct_model* model, ct_families_work* work, double c,
                             const double* x, const double* actuation, const ct_block_matrix* matrix,
                             const ct_factor* factor) {
    if (!model->tree.nlink) return CT_OK;
    coupling->c = c;
    coupling_scratch s = {0};
    coupling_system system = {model, matrix, factor, &s};
    ct_status status = prepare(&s, model);
    if (status == CT_OK) ct_families_assemble(&model->families, work, c, x, actuation, s.row, &s.full);
    for (int k = 0; status == CT_OK && k < model->tree.nlink; k++)
        for (int i = 0; status == CT_OK && i < 6; i++)
            status = column(coupling, model, &system, k, i, x ? x : model->geometry.rest);
    if (status == CT_OK) finish(coupling, model->tree.nlink);
    ct_krylov_work_free(s.krylov);
    ct_factor_work_free(s.solve);
    ct_arena_free(&s.arena);
    return status;
}
