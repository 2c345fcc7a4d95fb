// The preconditioner: the factor of the free nodes, warped by the rotation of every node, and a small dense
// factor of what is left for the joints,
//     P^-1 b = [y - W u; dz],   y = R A^-1 R^T b_f,   S_z dz = b_z - J^T (R_l W^T R^T b_f),   u = R_l^T J dz,
//     S_z = J^T R_l S R_l^T J + joint springs + curvature,
// with R, R_l the rotations of nodes and links since the factor was made, J from joint rates to link twists.
#include "step/precondition.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "math/point3.h"

// LAPACK: Cholesky factorisation, column-major.
extern void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

// ---- memory --------------------------------------------------------------------------------

ct_status ct_precondition_create(ct_preconditioner* p, const ct_model* model, ct_families_work* families,
                                 ct_threads* threads) {
    ct_arena* arena = &p->arena;
    size_t nvert = (size_t)model->nvert, nlink = (size_t)model->tree.nlink, ndof = (size_t)model->tree.ndof;
    p->families = families;
    p->threads = threads;
    p->rotation = ct_arena_alloc(arena, 9 * nvert, sizeof(double));
    p->rotation_reference = ct_arena_alloc(arena, 9 * nvert, sizeof(double));
    p->rotation_braced = ct_arena_alloc(arena, model->ntri ? 9 * nvert : 0, sizeof(double));
    p->warp = ct_arena_alloc(arena, 9 * (size_t)model->nfree, sizeof(double));
    p->frame_reference = ct_arena_alloc(arena, 12 * nlink, sizeof(double));
    p->x_renewed = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    p->q_renewed = ct_arena_alloc(arena, (size_t)model->tree.ncoordinate, sizeof(double));
    p->actuation_renewed = ct_arena_alloc(arena, (size_t)model->actuators.size, sizeof(double));
    p->joint_factor = ct_arena_alloc(arena, ndof * ndof, sizeof(double));
    p->joint_trial = ct_arena_alloc(arena, ndof * ndof, sizeof(double));
    p->composite = ct_arena_alloc(arena, 6 * nlink * (ndof + 6), sizeof(double));
    p->carries = ct_arena_alloc(arena, nlink, 1);
    p->spread = ct_arena_alloc(arena, 6 * nlink, sizeof(double));
    p->wrench = ct_arena_alloc(arena, 6 * nlink, sizeof(double));
    p->twist = ct_arena_alloc(arena, 6 * nlink, sizeof(double));
    p->moments = ct_arena_alloc(arena, 12 * nlink, sizeof(double));
    p->unit = ct_arena_alloc(arena, ndof, sizeof(double));
    ct_config_create(&p->place, arena, &model->tree);
    if (arena->failed) return CT_OUT_OF_MEMORY;
    return model->nfree ? ct_factor_work_create(&p->solve, model->system.symbolic) : CT_OK;
}

void ct_precondition_free(ct_preconditioner* p) {
    ct_factor_work_free(p->solve);
    ct_factor_free(p->refreshed);
    ct_factor_free(p->substep);
    ct_factor_free(p->braced);
    ct_arena_free(&p->arena);
}

// ---- which factor --------------------------------------------------------------------------

// Memory for another factor, made when the first one is due.
static ct_status prepare(const ct_model* model, ct_preconditioner* p, ct_factor** factor,
                         ct_coupling* coupling) {
    if (!p->matrix.value && model->nfree) {
        double* value =
            ct_arena_alloc(&p->arena, 9 * (size_t)model->system.matrix.start[model->nfree], sizeof(double));
        if (!value) return CT_OUT_OF_MEMORY;
        p->matrix = model->system.matrix;
        p->matrix.value = value;
    }
    if (!coupling->W) {
        ct_status status = ct_coupling_create(coupling, &p->arena, model);
        if (status != CT_OK) return status;
    }
    if (*factor || !model->nfree) return CT_OK;
    return ct_factor_create(factor, model->system.symbolic, model->system.precision);
}

static ct_status factor_at(const ct_model* model, ct_preconditioner* p, ct_factor** factor,
                           ct_coupling* coupling, double c, const double* x, const double* actuation) {
    ct_status status = prepare(model, p, factor, coupling);
    if (status == CT_OK && model->nfree) {
        ct_model_assemble(model, p->families, c, x, actuation, &p->matrix);
        status = ct_factor_update(*factor, p->solve, p->threads, &p->matrix);
    }
    if (status == CT_OK)
        status = ct_coupling_update(coupling, model, p->families, c, x, actuation, &p->matrix, *factor);
    return status;
}

uint64_t ct_precondition_stamp(const double* x, size_t n) {
    uint64_t hash = 14695981039346656037u;  // FNV-1a over the words
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, x + i, sizeof word);
        hash = (hash ^ word) * 1099511628211u;
    }
    return hash ? hash : 1;
}

uint64_t ct_precondition_reference_stamp(const ct_model* model, const double* x, const double* actuation) {
    uint64_t stamp = ct_precondition_stamp(x, 3 * (size_t)model->nvert);
    if (!model->actuators.size) return stamp;
    stamp ^= ct_precondition_stamp(actuation, (size_t)model->actuators.size) << 1;
    return stamp ? stamp : 1;
}

// The factor, the rotations of the nodes and the frames of the links at x and q, with actuators as they are
// there: a muscle at work is also stiff across its fibres.
static ct_status refresh_at(const ct_model* model, ct_preconditioner* p, double c, const double* x,
                            const double* q, const double* actuation, int* refactors) {
    ct_status status = factor_at(model, p, &p->refreshed, &p->refreshed_coupling, c, x, actuation);
    if (status != CT_OK) return status;
    ct_families_rotations(&model->families, p->families, p->threads, x, p->rotation_reference);
    memcpy(p->place.q, q, (size_t)model->tree.ncoordinate * sizeof(double));
    ct_config_place(&model->tree, &p->place);
    memcpy(p->frame_reference, p->place.frame, 12 * (size_t)model->tree.nlink * sizeof(double));
    p->refreshed_version = model->version;
    (*refactors)++;
    return CT_OK;
}

static void put_refreshed_in_force(ct_preconditioner* p) {
    p->factor = p->refreshed;
    p->coupling = &p->refreshed_coupling;
    p->reference_in_force = true;
}

static ct_status choose_reference(const ct_model* model, ct_preconditioner* p, const ct_state* state,
                                  int* refactors) {
    uint64_t stamp = state->header->reference;
    p->factor = model->system.factor;
    p->coupling = &model->system.coupling;
    p->reference_in_force = false;
    if (!stamp) return CT_OK;
    if (p->refreshed_stamp != stamp || p->refreshed_version != model->version) {
        p->refreshed_stamp = 0;
        ct_status status = refresh_at(model, p, ct_model_rate(&model->settings), state->x_reference,
                                      state->q_reference, state->actuation_reference, refactors);
        if (status != CT_OK) return status;
        p->refreshed_stamp = stamp;
    }
    put_refreshed_in_force(p);
    return CT_OK;
}

ct_status ct_precondition_renew(const ct_model* model, ct_preconditioner* p, const ct_config* at,
                                const double* actuation, double c, int* refactors) {
    p->refreshed_stamp = 0;  // where this fails the next step goes back to the state's reference
    ct_status status = refresh_at(model, p, c, at->x, at->q, actuation, refactors);
    if (status != CT_OK) return status;
    p->refreshed_stamp = ct_precondition_reference_stamp(model, at->x, actuation);
    put_refreshed_in_force(p);
    if (c != ct_model_rate(&model->settings)) {
        const double both[] = {c, (double)p->refreshed_stamp};  // no state's reference has this stamp
        p->refreshed_stamp = ct_precondition_stamp(both, 2);
        return CT_OK;
    }
    memcpy(p->x_renewed, at->x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(p->q_renewed, at->q, (size_t)model->tree.ncoordinate * sizeof(double));
    for (int i = 0; i < model->actuators.size; i++) p->actuation_renewed[i] = actuation[i];
    p->renewed = true;
    return CT_OK;
}

ct_status ct_precondition_brace(const ct_model* model, ct_preconditioner* p, const ct_config* at, double c,
                                const double* K, int* refactors) {
    ct_status status = prepare(model, p, &p->braced, &p->braced_coupling);
    if (status != CT_OK) return status;
    ct_model_assemble(model, p->families, c, at->x, NULL, &p->matrix);
    for (int k = 0; k < model->nfree; k++) ct_block_matrix_add(&p->matrix, k, k, K + 9 * (size_t)k);
    status = ct_factor_update(p->braced, p->solve, p->threads, &p->matrix);
    if (status != CT_OK) return status;
    ct_families_rotations(&model->families, p->families, p->threads, at->x, p->rotation_braced);
    if (!p->brace_in_force) p->unbraced = p->factor;
    p->brace_stamp = ct_precondition_stamp(at->x, 3 * (size_t)model->nvert) ^
                     ct_precondition_stamp(K, 9 * (size_t)model->nfree) << 1;
    p->brace_in_force = true;
    p->factor = p->braced;
    (*refactors)++;
    return CT_OK;
}

void ct_precondition_release(ct_preconditioner* p) {
    if (p->brace_in_force) p->factor = p->unbraced;
    p->brace_in_force = false;
}

// Halving the step twice makes inertia 16 times stiffer: one factor for every two levels keeps the mismatch
// below 4. Integrators with stages have stiffer inertia from the start, and are halved by Euler's rule.
ct_status ct_precondition_choose(const ct_model* model, ct_preconditioner* p, const ct_state* state,
                                 int depth, int* refactors) {
    bool staged = ct_rate_stages(model->settings.integrator) > 0;
    int level = staged ? (depth > 2 ? (depth - 1) / 2 : 0) : depth / 2;
    p->brace_in_force = false;
    p->renewed = p->accounts = p->warped = false;
    p->may_renew = level == 0;
    p->debt = (int)state->header->slow_solves;
    if (level == 0) return choose_reference(model, p, state, refactors);
    if (p->substep_level != level || p->substep_version != model->version) {
        p->substep_level = 0;
        double c = ct_model_rate(&model->settings) * (double)(1 << 2 * level);
        ct_status status = factor_at(model, p, &p->substep, &p->substep_coupling, c, NULL, NULL);
        if (status != CT_OK) return status;
        p->substep_level = level;
        p->substep_version = model->version;
        (*refactors)++;
    }
    p->factor = p->substep;
    p->coupling = &p->substep_coupling;
    p->reference_in_force = false;
    return CT_OK;
}

// ---- the warp ------------------------------------------------------------------------------

// out = A B^T, row-major 3x3.
static void multiply_transposed(const double* A, const double* B, double* out) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

// Rotation of link k since the factor was made.
static void link_rotation(const ct_preconditioner* p, const ct_config* config, int k, double R[9]) {
    const double* frame = config->frame + 12 * k;
    if (p->reference_in_force) multiply_transposed(frame, p->frame_reference + 12 * k, R);
    else memcpy(R, frame, 9 * sizeof(double));
}

// The link's point relative to the twists' origin.
static void link_arm(const ct_tree* tree, const ct_config* config, int k, double arm[3]) {
    const double *frame = config->frame + 12 * k, *X = tree->point + 3 * k;
    for (int a = 0; a < 3; a++)
        arm[a] = frame[3 * a] * X[0] + frame[3 * a + 1] * X[1] + frame[3 * a + 2] * X[2] + frame[9 + a] -
                 tree->origin[a];
}

// A twist about the origin, world axes -> of the link's point, in the axes of the factor; and the transpose
// for wrenches.
static void twist_to_link(const ct_tree* tree, const ct_preconditioner* p, const ct_config* config, int k,
                          const double* twist, double* out) {
    double R[9], arm[3], turn[3];
    link_rotation(p, config, k, R);
    link_arm(tree, config, k, arm);
    cross3(twist, arm, turn);
    for (int a = 0; a < 3; a++) {
        out[a] = R[a] * twist[0] + R[3 + a] * twist[1] + R[6 + a] * twist[2];
        out[3 + a] =
            R[a] * (twist[3] + turn[0]) + R[3 + a] * (twist[4] + turn[1]) + R[6 + a] * (twist[5] + turn[2]);
    }
}

// Where a link is: what turns its wrenches into the world's.
typedef struct link_place {
    double R[9], arm[3];
} link_place;

static link_place place_of(const ct_tree* tree, const ct_preconditioner* p, const ct_config* config, int k) {
    link_place at;
    link_rotation(p, config, k, at.R);
    link_arm(tree, config, k, at.arm);
    return at;
}

static void wrench_from(const link_place* at, const double* in, double* wrench) {
    const double *R = at->R, *arm = at->arm;
    double lever[3], force[3];
    for (int a = 0; a < 3; a++) force[a] = R[3 * a] * in[3] + R[3 * a + 1] * in[4] + R[3 * a + 2] * in[5];
    cross3(arm, force, lever);
    for (int a = 0; a < 3; a++) {
        wrench[a] = R[3 * a] * in[0] + R[3 * a + 1] * in[1] + R[3 * a + 2] * in[2] + lever[a];
        wrench[3 + a] = force[a];
    }
}

static void wrench_from_link(const ct_tree* tree, const ct_preconditioner* p, const ct_config* config, int k,
                             const double* in, double* wrench) {
    const link_place at = place_of(tree, p, config, k);
    wrench_from(&at, in, wrench);
}

// The block S_kl in wrenches and twists about the origin, world axes: X_k S_kl X_l^T, X_k as in
// wrench_from_link; column-major.
static void place_block(const ct_model* model, const ct_preconditioner* p, const ct_config* config, size_t k,
                        size_t l, double* out) {
    const ct_tree* tree = &model->tree;
    size_t m = 6 * (size_t)tree->nlink;
    double half[36], column[6];
    const link_place at_k = place_of(tree, p, config, (int)k),
                     at_l = k == l ? at_k : place_of(tree, p, config, (int)l);
    for (size_t a = 0; a < 6; a++)  // rows of S_kl are wrenches of link l
        wrench_from(&at_l, p->coupling->S + (6 * k + a) * m + 6 * l, half + 6 * a);
    for (size_t b = 0; b < 6; b++) {
        for (size_t a = 0; a < 6; a++) column[a] = half[6 * a + b];
        wrench_from(&at_k, column, out + 6 * b);
    }
}

// Adds to z_j, for the rates j below `count`, the wrench on link k that rate j raises: the blocks of row k
// are summed towards the root, so that block l holds those of all links below l. Of links that do not carry
// one that is coupled to k nothing is looked at: without flesh, of all but those that carry k.
static void link_wrenches(const ct_model* model, const ct_preconditioner* p, const ct_config* config, int k,
                          int count, double* row, double* z) {
    const ct_tree* tree = &model->tree;
    const unsigned char* coupled = p->coupling->coupled + (size_t)k * (size_t)tree->nlink;
    unsigned char* carries = p->carries;
    memcpy(carries, coupled, (size_t)tree->nlink);
    for (int l = tree->nlink - 1; l >= 0; l--)
        if (carries[l] && tree->parent[l] >= 0) carries[tree->parent[l]] = 1;
    for (int l = tree->nlink - 1; l >= 0; l--) {
        if (coupled[l]) place_block(model, p, config, (size_t)k, (size_t)l, row + 36 * l);
        else if (carries[l]) memset(row + 36 * l, 0, 36 * sizeof(double));
    }
    for (int l = tree->nlink - 1; l >= 0; l--) {
        if (tree->parent[l] < 0 || !carries[l]) continue;
        for (int i = 0; i < 36; i++) row[36 * tree->parent[l] + i] += row[36 * l + i];
    }
    for (int j = 0; j < count; j++) {
        if (!carries[tree->dof_link[j]]) continue;
        const double *C = row + 36 * tree->dof_link[j], *s = config->column + 6 * j;
        for (int b = 0; b < 6; b++)
            for (int a = 0; a < 6; a++) z[6 * j + a] += C[6 * b + a] * s[b];
    }
}

// Rates above a link and before it are all that its row of the lower triangle needs. O(N^2): wrenches are
// summed towards the root over rows as the blocks are over columns.
void ct_precondition_joint_matrix(const ct_model* model, ct_preconditioner* p, const ct_config* config) {
    const ct_tree* tree = &model->tree;
    size_t n = (size_t)tree->ndof;
    double *row = p->composite, *wrenches = row + 36 * (size_t)tree->nlink;
    memset(wrenches, 0, 6 * (size_t)tree->nlink * n * sizeof(double));
    for (int k = tree->nlink - 1; k >= 0; k--) {
        double* z = wrenches + 6 * (size_t)k * n;
        int count = tree->dof[k + 1];
        link_wrenches(model, p, config, k, count, row, z);
        for (int i = tree->dof[k]; i < tree->dof[k + 1]; i++) {
            const double* s = config->column + 6 * i;
            for (int j = 0; j <= i; j++) {
                const double* w = z + 6 * j;
                p->joint_factor[(size_t)j * n + (size_t)i] =
                    s[0] * w[0] + s[1] * w[1] + s[2] * w[2] + s[3] * w[3] + s[4] * w[4] + s[5] * w[5];
            }
        }
        if (tree->parent[k] < 0) continue;
        double* above = wrenches + 6 * (size_t)tree->parent[k] * n;
        for (int i = 0; i < 6 * tree->dof[tree->parent[k] + 1]; i++) above[i] += z[i];
    }
    for (int r = 0; r < tree->nrotor; r++) {
        const int j = tree->rotor_dof[r];
        const double rate = p->coupling->c / tree->scale[j];
        p->joint_factor[(size_t)j * (n + 1)] += rate * rate * ct_tree_armature(tree, r);
    }
}

// Cholesky factor in place; a joint that moves nothing has no stiffness of its own. False: not positive
// definite.
static bool factor_joints(int n, double* matrix, double largest) {
    int info = 0;
    for (int j = 0; j < n; j++) matrix[(size_t)j * (size_t)(n + 1)] += 1e-14 * largest + 1e-300;
    if (n) dpotrf_("L", &n, matrix, &n, &info);
    return info == 0;
}

// S_z, with the curvature that the force imbalance rho at `config` adds (chains in tension live by it)
// where the sum is positive definite, without it elsewhere.
static void warp_links(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                       const double* rho) {
    int n = model->tree.ndof;
    size_t count = (size_t)n * (size_t)n;
    double largest = 0;
    ct_precondition_joint_matrix(model, p, config);
    ct_families_joint_hessian(&model->families, p->families, config, false, p->joint_factor);
    for (int j = 0; j < n; j++) largest = fmax(largest, p->joint_factor[(size_t)j * (size_t)(n + 1)]);
    ct_config_curvature(&model->tree, config, rho, p->moments, p->joint_trial);
    for (size_t i = 0; i < count; i++) p->joint_trial[i] += p->joint_factor[i];
    if (factor_joints(n, p->joint_trial, largest)) {
        double* factor = p->joint_trial;
        p->joint_trial = p->joint_factor;
        p->joint_factor = factor;
    } else if (!factor_joints(n, p->joint_factor, largest)) {
        memset(p->joint_factor, 0, count * sizeof(double));
        for (int j = 0; j < n; j++)
            p->joint_factor[(size_t)j * (size_t)(n + 1)] = sqrt(largest > 0 ? largest : 1);
    }
}

void ct_precondition_warp(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                          const double* rho) {
    ct_families_rotations(&model->families, p->families, p->threads, config->x, p->rotation);
    const double* reference = p->brace_in_force ? p->rotation_braced : p->rotation_reference;
    for (int k = 0; k < model->nfree; k++) {
        const double* R = p->rotation + 9 * (size_t)model->node[k];
        double* warp = p->warp + 9 * (size_t)k;
        if (p->brace_in_force || p->reference_in_force)
            multiply_transposed(R, reference + 9 * (size_t)model->node[k], warp);
        else memcpy(warp, R, 9 * sizeof(double));
    }
    if (model->tree.nlink) warp_links(model, p, config, rho);
    p->warped = true;
}

// ---- P^-1 ----------------------------------------------------------------------------------

// out = warp^T in
static void unwarp(const ct_model* model, const ct_preconditioner* p, const double* in, double* out) {
    for (int k = 0; k < model->nfree; k++) {
        const double *R = p->warp + 9 * (size_t)k, *b = in + 3 * (size_t)k;
        double* y = out + 3 * (size_t)k;
        for (int a = 0; a < 3; a++) y[a] = R[a] * b[0] + R[3 + a] * b[1] + R[6 + a] * b[2];
    }
}

// y = warp y
static void warp(const ct_model* model, const ct_preconditioner* p, double* y) {
    for (int k = 0; k < model->nfree; k++) {
        const double* R = p->warp + 9 * (size_t)k;
        double *out = y + 3 * (size_t)k, t0 = out[0], t1 = out[1], t2 = out[2];
        for (int a = 0; a < 3; a++) out[a] = R[3 * a] * t0 + R[3 * a + 1] * t1 + R[3 * a + 2] * t2;
    }
}

void ct_precondition_joint_half(const ct_preconditioner* p, int n, double* y) {
    const double* L = p->joint_factor;
    for (int i = 0; i < n; i++) {
        y[i] /= L[(size_t)i * (size_t)(n + 1)];
        for (int k = i + 1; k < n; k++) y[k] -= L[(size_t)i * (size_t)n + (size_t)k] * y[i];
    }
}

void ct_precondition_joint_columns(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                                   double* columns) {
    const ct_tree* tree = &model->tree;
    double* unit = p->unit;
    memset(unit, 0, (size_t)tree->ndof * sizeof(double));
    for (int j = 0; j < tree->ndof; j++) {
        unit[j] = 1;
        ct_config_push_links(tree, config, unit, p->twist);
        unit[j] = 0;
        for (int k = 0; k < tree->nlink; k++)
            twist_to_link(tree, p, config, k, p->twist + 6 * k,
                          columns + 6 * ((size_t)j * (size_t)tree->nlink + (size_t)k));
    }
}

// y = L^-T L^-1 y with the small dense factor.
static void solve_joints(const ct_preconditioner* p, int n, double* y) {
    const double* L = p->joint_factor;
    ct_precondition_joint_half(p, n, y);
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) y[i] -= L[(size_t)i * (size_t)n + (size_t)k] * y[k];
        y[i] /= L[(size_t)i * (size_t)(n + 1)];
    }
}

// y holds warp^T b on entry of the free part; dz = S_z^-1 (b_z - J^T R_l W^T y), u = R_l^T J dz.
static void joints_forward(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                           const double* y, const double* b, double* dz, double* u) {
    const ct_tree* tree = &model->tree;
    const int m = 6 * tree->nlink, n = 3 * model->nfree;
    memset(u, 0, (size_t)m * sizeof(double));
    if (n) cblas_dgemv(CblasRowMajor, CblasTrans, n, m, 1, p->coupling->W, m, y, 1, 0, u, 1);
    for (int k = 0; k < tree->nlink; k++) wrench_from_link(tree, p, config, k, u + 6 * k, p->wrench + 6 * k);
    ct_config_pull_links(tree, config, p->wrench, dz);
    for (int j = 0; j < tree->ndof; j++) dz[j] = b[j] - dz[j];
    solve_joints(p, tree->ndof, dz);
    ct_config_push_links(tree, config, dz, p->twist);
    for (int k = 0; k < tree->nlink; k++) twist_to_link(tree, p, config, k, p->twist + 6 * k, u + 6 * k);
}

void ct_precondition_apply(const ct_model* model, ct_preconditioner* p, const ct_config* config,
                           const double* b, double* y) {
    const int n = 3 * model->nfree, m = 6 * model->tree.nlink;
    unwarp(model, p, b, y);
    const bool joints = m && !p->held;
    if (joints) joints_forward(model, p, config, y, b + n, y + n, p->spread);
    else memset(y + n, 0, (size_t)model->tree.ndof * sizeof(double));
    if (model->nfree) ct_factor_solve(p->factor, p->solve, p->threads, y, y);
    if (joints && n)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, n, m, -1, p->coupling->W, m, p->spread, 1, 1, y, 1);
    warp(model, p, y);
}
