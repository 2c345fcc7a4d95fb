// Timing of the parts of a step, each the best of several runs: element passes, solve, memory bandwidth.
#include <string.h>

#include "base/clock.h"
#include "baseline/assembly.h"
#include "cuttle_profile.h"
#include "step/coords.h"

enum { REPEATS = 15 };

typedef struct profile_context {
    const ct_model* model;
    ct_work* work;
    const double* x;
    const float* buffer;  // for the bandwidth
    size_t count;
    float sink[64];
    double *scratch, *jacobian;  // of the assembly
} profile_context;

// CPU time where one thread works, so that what else runs on the machine does not count.
static double clock_now(const profile_context* c) {
    struct timespec now;
    if (ct_threads_count(c->work->threads) > 1) return ct_clock();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double best_of(void (*run)(profile_context*), profile_context* context) {
    double best = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        double start = clock_now(context);
        run(context);
        double seconds = clock_now(context) - start;
        if (seconds < best) best = seconds;
    }
    return best;
}

static void run_gradient(profile_context* c) {
    ct_elastic_gradient(c->model->families.of[CT_FAMILY_SOLIDS], c->work->families.of[CT_FAMILY_SOLIDS],
                        c->work->threads, c->x, c->work->rho);
}

static void run_product(profile_context* c) {
    ct_elastic_product(c->model->families.of[CT_FAMILY_SOLIDS], c->work->families.of[CT_FAMILY_SOLIDS],
                       c->work->threads, c->x, c->work->phi.product);
}

static void run_solve(profile_context* c) {
    ct_factor_solve(c->model->system.factor, c->work->preconditioner.solve, c->work->threads, c->work->r,
                    c->work->scratch);
}

static void sum_part(int index, void* user) {
    profile_context* c = user;
    size_t share = c->count / (size_t)ct_threads_count(c->work->threads) / 256 * 256;
    c->sink[index % 64] = ct_factor_stream(c->model->system.factor, c->buffer + share * (size_t)index, share);
}

static void run_stream(profile_context* c) {
    ct_threads_run(c->work->threads, ct_threads_count(c->work->threads), sum_part, c);
}

ct_status ct_profile_run(const ct_model* model, ct_work* work, const ct_state* state, ct_profile* profile) {
    memset(profile, 0, sizeof *profile);
    if (model->nfree == 0) return CT_BAD_ARGUMENT;
    size_t bytes = ct_factor_bytes(model->system.factor);
    size_t count = (bytes / sizeof(float) / 256 + 1) * 256;
    ct_arena arena = {0};
    float* buffer = ct_arena_alloc(&arena, count, sizeof(float));
    if (!buffer) return CT_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) buffer[i] = 1;
    memset(work->r, 0, (size_t)model->nunknown * sizeof(double));
    work->r[0] = 1;
    double rate = ct_model_rate(&model->settings);
    const ct_elastic* elastic = model->families.of[CT_FAMILY_SOLIDS];
    ct_elastic_work* own = work->families.of[CT_FAMILY_SOLIDS];
    ct_elastic_begin_step(elastic, own, work->threads, rate, rate, state->x, 0, NULL);
    profile_context context = {.model = model, .work = work, .x = state->x, .buffer = buffer, .count = count};
    profile->gradient_ns_per_tet = 1e9 * best_of(run_gradient, &context) / model->ntet;
    ct_elastic_linearise(elastic, own, work->threads, state->x);
    profile->product_ns_per_tet = 1e9 * best_of(run_product, &context) / model->ntet;
    profile->solve_seconds = best_of(run_solve, &context);
    profile->solve_bytes = 2.0 * (double)bytes;
    profile->bandwidth = (double)bytes / best_of(run_stream, &context);
    ct_arena_free(&arena);
    return CT_OK;
}

static void run_jacobian(profile_context* c) {
    ct_assembly_jacobian(c->model, &c->work->at, c->scratch, c->jacobian);
}

static void run_bottom_up(profile_context* c) {
    ct_assembly_jacobian_bottom_up(c->model, &c->work->at, c->scratch, c->jacobian);
}

static void run_joint_matrix(profile_context* c) {
    ct_precondition_joint_matrix(c->model, &c->work->preconditioner, &c->work->at);
}

ct_status ct_profile_skeleton(const ct_model* model, ct_work* work, const ct_state* state,
                              ct_skeleton_profile* profile) {
    memset(profile, 0, sizeof *profile);
    const ct_tree* tree = &model->tree;
    if (!tree->ndof) return CT_BAD_ARGUMENT;
    ct_arena arena = {0};
    profile_context context = {.model = model, .work = work};
    context.scratch = ct_arena_alloc(&arena, ct_assembly_scratch(model), sizeof(double));
    context.jacobian =
        ct_arena_alloc(&arena, 3 * (size_t)tree->start[tree->nlink] * (size_t)tree->ndof, sizeof(double));
    ct_status status = arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK) {
        memcpy(work->at.x, state->x, 3 * (size_t)model->nvert * sizeof(double));
        memcpy(work->at.q, state->q, (size_t)tree->ncoordinate * sizeof(double));
        ct_config_place(tree, &work->at);
        work->preconditioner.coupling = &model->system.coupling;
        work->preconditioner.reference_in_force = false;
        profile->links = tree->nlink;
        profile->joints = tree->ndof;
        profile->jacobian_seconds = best_of(run_jacobian, &context);
        profile->bottom_up_seconds = best_of(run_bottom_up, &context);
        profile->matrix_seconds = best_of(run_joint_matrix, &context);
    }
    ct_arena_free(&arena);
    return status;
}
