// The paper's solver: local and global steps in turn.
//
// The local step projects the elements; its result enters through grad E = L x - J p(x). The global step
// solves for increments of the unknowns, free nodes d and joint rates r,
//     H dz = k,   H = B^T (c^2 M + c D + L) B = [H_d H_c^T; H_c H_r],   k = -B^T rho, joint torques and
//     springs added to k_r,
// with H_d constant, one scalar per node, factored once. B comes from the top-down assembly: its blocks G act
// on the constant matrices W and S of scalar_coupling.c, so that the Schur complement on the joints needs no
// further solves:
//     y = H_d^-1 k_d,   (G^T S G + joint springs) dz_r = k_r - G^T W^T k_d,   dz_d = y - W G dz_r.
// Then rotations are projected to SO(3): U V^T of (I + [w]x) R is the turn by atan |w| about w, and the
// paper's atan2 update of a revolute angle is theta + atan(dtheta), here without the jump at pi.
#include "baseline/projective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "baseline/assembly.h"
#include "math/vecn.h"
#include "step/advice.h"
#include "step/contact_solve.h"
#include "step/coords.h"
#include "step/phi.h"
#include "step/solve.h"

// LAPACK: Cholesky factorisation and solve, column-major.
extern void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
extern void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda,
                    double* b, const int* ldb, int* info);

enum { BLOCK = 12, SEARCH_LIMIT = 10 };

static const ct_projective_model* part_of(const ct_model* model) { return model->solver_part; }

// ---- memory --------------------------------------------------------------------------------

ct_status ct_projective_model_create(void** out, const ct_model* model) {
    ct_projective_model* part = ct_alloc(1, sizeof *part);
    *out = part;
    return part ? ct_scalar_coupling_create(&part->coupling, &part->arena, model) : CT_OUT_OF_MEMORY;
}

void ct_projective_model_free(void* user) {
    ct_projective_model* part = user;
    if (!part) return;
    ct_scalar_factor_free(part->factor);
    ct_arena_free(&part->arena);
    ct_free(part);
}

// c^2 M + c D + L of the free nodes.
static ct_status factor_scalar(const ct_model* model, ct_projective_model* part) {
    ct_arena scratch = {0};
    ct_block_matrix matrix = model->system.matrix;
    matrix.value = ct_arena_alloc(&scratch, 9 * (size_t)matrix.start[matrix.n], sizeof(double));
    ct_status status = scratch.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK) {
        ct_families_laplacian(&model->families, model->row, &matrix);
        ct_inertia_assemble(&model->inertia, ct_model_rate(&model->settings), model->row, &matrix);
        ct_scalar_factor* factor = NULL;
        status = ct_scalar_factor_create(&factor, &matrix);
        if (status == CT_OK) {
            ct_scalar_factor_free(part->factor);
            part->factor = factor;
        }
    }
    ct_arena_free(&scratch);
    return status;
}

ct_status ct_projective_model_factor(void* user, const ct_model* model) {
    ct_projective_model* part = user;
    ct_status status = model->nfree ? factor_scalar(model, part) : CT_OK;
    if (status != CT_OK) return status;
    return ct_scalar_coupling_update(&part->coupling, model, part->factor, ct_model_rate(&model->settings));
}

ct_status ct_projective_work_init(ct_projective_work* own, ct_arena* arena, const ct_model* model) {
    size_t nlink = (size_t)model->tree.nlink, ndof = (size_t)model->tree.ndof;
    own->blocks = ct_arena_alloc(arena, BLOCK * nlink * ndof, sizeof(double));
    own->block_product = ct_arena_alloc(arena, BLOCK * nlink * (ndof + 1), sizeof(double));
    own->assembly = ct_arena_alloc(arena, ct_assembly_scratch(model), sizeof(double));
    own->joint_factor = ct_arena_alloc(arena, ndof * ndof, sizeof(double));
    own->right = ct_arena_alloc(arena, 3 * (size_t)model->nfree, sizeof(double));
    own->answer = ct_arena_alloc(arena, 3 * (size_t)model->nfree, sizeof(double));
    own->motion = ct_arena_alloc(arena, (size_t)model->nunknown, sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    return model->nfree ? ct_scalar_work_create(&own->solve, part_of(model)->factor) : CT_OK;
}

typedef struct projective_row_work {
    ct_arena arena;
    ct_projective_work own;
} projective_row_work;

static ct_status create_work(void** out, const ct_model* model) {
    projective_row_work* work = ct_alloc(1, sizeof *work);
    *out = work;
    return work ? ct_projective_work_init(&work->own, &work->arena, model) : CT_OUT_OF_MEMORY;
}

static void free_work(void* user) {
    projective_row_work* work = user;
    if (!work) return;
    ct_scalar_work_free(work->own.solve);
    ct_arena_free(&work->arena);
    ct_free(work);
}

// ---- the joints' matrix --------------------------------------------------------------------

// product += S block (4x4) times G (3x4, transposed): rows of S are affine motions.
static void add_product(const double* S, size_t stride, const double* G, double* product) {
    for (int i = 0; i < 3; i++)
        for (size_t a = 0; a < 4; a++)
            for (size_t b = 0; b < 4; b++) product[4 * i + (int)a] += S[a * stride + b] * G[4 * i + (int)b];
}

// T = S G, for the rates above the links that couple.
static void multiply_blocks(const ct_model* model, ct_projective_work* own) {
    const ct_tree* tree = &model->tree;
    const ct_scalar_coupling* coupling = &part_of(model)->coupling;
    size_t nlink = (size_t)tree->nlink, ndof = (size_t)tree->ndof;
    memset(own->block_product, 0, BLOCK * nlink * ndof * sizeof(double));
    for (size_t u = 0; u < nlink; u++)
        for (size_t w = 0; w < nlink; w++) {
            if (!coupling->coupled[u * nlink + w]) continue;
            const double* S = coupling->S + 4 * u * 4 * nlink + 4 * w;
            for (int v = (int)w; v >= 0; v = tree->parent[v])
                for (size_t j = (size_t)tree->dof[v]; j < (size_t)tree->dof[v + 1]; j++)
                    add_product(S, 4 * nlink, own->blocks + BLOCK * (w * ndof + j),
                                own->block_product + BLOCK * (u * ndof + j));
        }
}

static double block_dot(const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < BLOCK; i++) sum += a[i] * b[i];
    return sum;
}

// Lower triangle of G^T S G in own->joint_factor, column-major.
static void contract_blocks(const ct_model* model, ct_projective_work* own) {
    const ct_tree* tree = &model->tree;
    size_t ndof = (size_t)tree->ndof;
    memset(own->joint_factor, 0, ndof * ndof * sizeof(double));
    for (size_t u = 0; u < (size_t)tree->nlink; u++)
        for (int v = (int)u; v >= 0; v = tree->parent[v])
            for (size_t i = (size_t)tree->dof[v]; i < (size_t)tree->dof[v + 1]; i++) {
                const double* G = own->blocks + BLOCK * (u * ndof + i);
                for (size_t j = 0; j <= i; j++)
                    own->joint_factor[j * ndof + i] +=
                        block_dot(G, own->block_product + BLOCK * (u * ndof + j));
            }
}

// The Schur complement on the joints, factored; false: not positive definite.
static bool factor_joints(const ct_model* model, const ct_work* work, ct_projective_work* own) {
    const ct_config* at = &work->at;
    int n = model->tree.ndof, info = 0;
    ct_assembly_blocks(model, at, own->assembly, own->blocks);
    multiply_blocks(model, own);
    contract_blocks(model, own);
    ct_families_joint_hessian(&model->families, &work->families, at, false, own->joint_factor);
    double largest = 0;
    for (int j = 0; j < n; j++) largest = fmax(largest, own->joint_factor[(size_t)j * (size_t)(n + 1)]);
    // a joint that moves nothing has no stiffness of its own
    for (int j = 0; j < n; j++) own->joint_factor[(size_t)j * (size_t)(n + 1)] += 1e-14 * largest + 1e-300;
    if (n) dpotrf_("L", &n, own->joint_factor, &n, &info);
    return info == 0;
}

// ---- the global step -----------------------------------------------------------------------

// t = W^T b: 12 nlink, laid out as a block.
static void gather(const ct_model* model, const double* b, double* t) {
    size_t nlink = (size_t)model->tree.nlink;
    memset(t, 0, BLOCK * nlink * sizeof(double));
    for (size_t k = 0; k < (size_t)model->nfree; k++)
        for (size_t u = 0; u < nlink; u++) {
            const double* W = part_of(model)->coupling.W + k * 4 * nlink + 4 * u;
            for (size_t i = 0; i < 3; i++)
                for (size_t a = 0; a < 4; a++) t[BLOCK * u + 4 * i + a] += W[a] * b[3 * k + i];
        }
}

// y -= W t
static void spread(const ct_model* model, const double* t, double* y) {
    size_t nlink = (size_t)model->tree.nlink;
    for (size_t k = 0; k < (size_t)model->nfree; k++)
        for (size_t u = 0; u < nlink; u++) {
            const double* W = part_of(model)->coupling.W + k * 4 * nlink + 4 * u;
            for (size_t i = 0; i < 3; i++)
                for (size_t a = 0; a < 4; a++) y[3 * k + i] -= W[a] * t[BLOCK * u + 4 * i + a];
        }
}

// dz_r from k_r = -r_z; on return t = G dz_r.
static bool solve_joints(const ct_model* model, const ct_work* work, const ct_projective_work* own, double* t,
                         double* dz) {
    const ct_tree* tree = &model->tree;
    size_t ndof = (size_t)tree->ndof;
    int n = tree->ndof, one = 1, info = 0;
    for (int j = 0; j < n; j++) dz[j] = -work->r[3 * (size_t)model->nfree + (size_t)j];
    for (size_t u = 0; u < (size_t)tree->nlink; u++)
        for (int v = (int)u; v >= 0; v = tree->parent[v])
            for (int j = tree->dof[v]; j < tree->dof[v + 1]; j++)
                dz[j] -= block_dot(own->blocks + BLOCK * (u * ndof + (size_t)j), t + BLOCK * u);
    if (n) dpotrs_("L", &n, &one, own->joint_factor, &n, dz, &n, &info);
    memset(t, 0, BLOCK * (size_t)tree->nlink * sizeof(double));
    for (size_t u = 0; u < (size_t)tree->nlink; u++)
        for (int v = (int)u; v >= 0; v = tree->parent[v])
            for (int j = tree->dof[v]; j < tree->dof[v + 1]; j++)
                for (size_t i = 0; i < BLOCK; i++)
                    t[BLOCK * u + i] += own->blocks[BLOCK * (u * ndof + (size_t)j) + i] * dz[j];
    return info == 0;
}

bool ct_projective_global(const ct_model* model, ct_work* work, ct_projective_work* own,
                          ct_step_report* report) {
    size_t nfree = (size_t)model->nfree;
    double *k_d = own->right, *y = own->answer, *t = own->block_product;
    bool solved = true;
    for (int v = 0; v < model->nvert; v++)
        for (int a = 0; model->row[v] >= 0 && a < 3; a++) k_d[3 * model->row[v] + a] = -work->rho[3 * v + a];
    if (nfree) ct_scalar_factor_solve(part_of(model)->factor, own->solve, k_d, y);
    if (model->tree.nlink) {
        if (!factor_joints(model, work, own)) return false;
        gather(model, k_d, t);
        solved = solve_joints(model, work, own, t, work->d + 3 * nfree);
        spread(model, t, y);
    }
    for (size_t k = 0; k < nfree; k++)
        memcpy(work->d + 3 * k, y + 3 * model->row[model->node[k]], 3 * sizeof(double));
    report->solves++;
    return solved;
}

// ---- the update ----------------------------------------------------------------------------

void ct_projective_turns(const ct_model* model, double length, const double* d, double* out) {
    const ct_tree* tree = &model->tree;
    size_t first = 3 * (size_t)model->nfree;
    for (size_t i = 0; i < (size_t)model->nunknown; i++) out[i] = length * d[i];
    for (int k = 0; k < tree->nlink; k++) {
        double size = 0;
        int from = tree->dof[k] + tree->type[k]->ntranslation, to = tree->dof[k + 1];
        for (int j = from; j < to; j++) size = hypot(size, out[first + (size_t)j] / tree->scale[j]);
        if (!(size > 1e-9)) continue;  // atan differs by less than round-off
        for (int j = from; j < to; j++) out[first + (size_t)j] *= atan(size) / size;
    }
}

// Moves along work->d. Without links every full step descends; with them the chart bends, and a step that
// raises both the potential and the residual is halved.
static ct_solve_point update(const ct_model* model, ct_work* work, const ct_projective_work* own,
                             const ct_solve_point* here, ct_step_report* report) {
    ct_solve_point there = *here;
    double length = 1;
    for (int i = 0; i < SEARCH_LIMIT; i++, length /= 2) {
        ct_projective_turns(model, length, work->d, own->motion);
        ct_coords_move(model, &work->at, 1, own->motion, &work->trial);
        there.phi = ct_phi_evaluate(model, work, &work->trial, work->r_trial, report);
        there.norm = ct_vecn_norm(work->r_trial, (size_t)model->nunknown);
        if (!model->tree.nlink || there.phi <= here->phi || there.norm < here->norm) break;
        report->line_searches++;
    }
    ct_config config = work->at;
    work->at = work->trial;
    work->trial = config;
    double* r = work->r;
    work->r = work->r_trial;
    work->r_trial = r;
    return there;
}

ct_status ct_projective_solve(const ct_model* model, ct_work* work, ct_projective_work* own,
                              ct_step_report* report) {
    ct_solve_point here = ct_solve_begin(model, work, report);
    for (int i = 0; here.norm > work->target && i < model->settings.max_iterations; i++) {
        if (!isfinite(here.norm) || !ct_projective_global(model, work, own, report)) return CT_NOT_CONVERGED;
        here = update(model, work, own, &here, report);
        report->iterations++;
    }
    return ct_solve_finish(work, &here, here.norm <= work->target, report);
}

// ---- the row -------------------------------------------------------------------------------

static bool serves(const ct_settings* settings) {
    return settings->solver == CT_SOLVER_PROJECTIVE && settings->contact.method != CT_CONTACT_METHOD_SPLIT;
}

// Exact contact is Newton's method whatever the solver.
static ct_status solve(const ct_model* model, ct_work* work, const ct_state* state, double time, double h,
                       ct_step_report* report) {
    if (work->contact) return ct_contact_solve(model, work, state, time, h, report);
    projective_row_work* part = work->solver_part;
    return ct_projective_solve(model, work, &part->own, report);
}

static void advise(const ct_model* model, ct_work* work, const ct_state* state, ct_step_report* report) {
    if (ct_advice_overlap(model, work, state, report)) return;
    snprintf(report->message, sizeof report->message,
             "raise solver.max_iterations (now %d), loosen solver.tolerance, or use solver \"newton\"",
             model->settings.max_iterations);
}

const ct_solver_row ct_projective_row = {.name = "projective",
                                         .serves = serves,
                                         .exact = true,
                                         .model_create = ct_projective_model_create,
                                         .model_factor = ct_projective_model_factor,
                                         .model_free = ct_projective_model_free,
                                         .work_create = create_work,
                                         .work_free = free_work,
                                         .solve = solve,
                                         .advise = advise};
