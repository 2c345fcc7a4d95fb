// Many states at the same time. A task is a state; whichever thread takes it borrows one of the works for it.
// A work remembers nothing that a result depends on, so it does not matter which.
#include <pthread.h>
#include <string.h>

#include "base/status.h"
#include "base/threads.h"
#include "step/vector.h"
#include "step/work.h"

struct ct_pool {
    const ct_model* model;
    ct_threads* threads;
    int count;
    ct_work** work;        // count
    int idle;              // of these, the first ones are not lent
    pthread_mutex_t lock;  // of the line above
};

static const char* const less = "use a coarser mesh, or fewer threads";

ct_status ct_pool_create(ct_pool** out, const ct_model* model, int threads, ct_error* error) {
    CT_NEED(error, out, model);
    ct_error_clear(error);
    *out = NULL;
    ct_pool* pool = ct_alloc(1, sizeof *pool);
    if (!pool) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a pool", less);
    pool->model = model;
    pthread_mutex_init(&pool->lock, NULL);
    ct_status status = ct_threads_create(&pool->threads, threads);
    int count = ct_threads_count(pool->threads);
    if (status == CT_OK) pool->work = ct_alloc((size_t)count, sizeof(ct_work*));
    if (status == CT_OK && !pool->work) status = CT_OUT_OF_MEMORY;
    for (; status == CT_OK && pool->count < count; pool->count++)
        status = ct_work_create(&pool->work[pool->count], model, 1, error);
    pool->idle = pool->count;
    if (status != CT_OK) {
        ct_pool_free(pool);
        return ct_fail_making(error, status, "a pool", less);
    }
    *out = pool;
    return CT_OK;
}

void ct_pool_free(ct_pool* pool) {
    if (!pool) return;
    for (int i = 0; i < pool->count; i++) ct_work_free(pool->work[i]);
    ct_free(pool->work);
    ct_threads_free(pool->threads);
    pthread_mutex_destroy(&pool->lock);
    ct_free(pool);
}

int ct_pool_threads(const ct_pool* pool) { return pool->count; }

void ct_pool_set_cancel(ct_pool* pool, ct_cancel cancel, void* user) {
    for (int i = 0; i < pool->count; i++) ct_work_set_cancel(pool->work[i], cancel, user);
}

static ct_work* borrow(ct_pool* pool) {
    pthread_mutex_lock(&pool->lock);
    ct_work* work = pool->work[--pool->idle];
    pthread_mutex_unlock(&pool->lock);
    return work;
}

static void give_back(ct_pool* pool, ct_work* work) {
    pthread_mutex_lock(&pool->lock);
    pool->work[pool->idle++] = work;
    pthread_mutex_unlock(&pool->lock);
}

// What is done to all of them.
typedef struct job {
    ct_pool* pool;
    ct_status (*run)(const struct job* job, int index, ct_work* work);
    const double* controls;
    size_t row;  // numbers of `controls` for each
    ct_status* statuses;
    void* const* users;
    void* reports;

    ct_state* const* states;
    ct_tape* const* tapes;
    const ct_state* const* initial;
    int nstep;
    ct_visit visit;
    ct_state_seed seed;
    double* initial_bars;
    ct_values* gradients;
} job;

static const double* control_of(const job* j, int index) {
    return j->controls ? j->controls + (size_t)index * j->row : NULL;
}
static void* user_of(const job* j, int index) { return j->users ? j->users[index] : NULL; }

static void run_one(int index, void* user) {
    const job* j = user;
    ct_work* work = borrow(j->pool);
    j->statuses[index] = j->run(j, index, work);
    give_back(j->pool, work);
}

static ct_status run_all(job* j, int count) {
    ct_threads_run(j->pool->threads, count, run_one, j);
    ct_status worst = CT_OK;
    for (int i = 0; i < count; i++) {
        if (j->statuses[i] == CT_OUT_OF_MEMORY) return CT_OUT_OF_MEMORY;
        if (j->statuses[i] == CT_CANCELLED) worst = CT_CANCELLED;
    }
    return worst;
}

// ---- steps, rollouts, reverses -------------------------------------------------------------

static ct_status step_one(const job* j, int index, ct_work* work) {
    ct_step_report* report = j->reports ? (ct_step_report*)j->reports + index : NULL;
    ct_status status = ct_step(j->pool->model, work, j->states[index], control_of(j, index), report);
    if (report) report->contact = NULL, report->ncontact = 0;
    return status;
}

ct_status ct_step_many(ct_pool* pool, int count, ct_state* const* states, const double* controls,
                       ct_status* statuses, ct_step_report* reports) {
    CT_NEED(NULL, pool);
    job j = {.pool = pool,
             .run = step_one,
             .controls = controls,
             .row = (size_t)pool->model->inputs.control_size,
             .statuses = statuses,
             .reports = reports,
             .states = states};
    return run_all(&j, count);
}

static ct_status roll_one(const job* j, int index, ct_work* work) {
    ct_rollout_report* report = j->reports ? (ct_rollout_report*)j->reports + index : NULL;
    ct_status status = ct_rollout(j->pool->model, work, j->tapes[index], j->initial[index], j->nstep,
                                  control_of(j, index), j->visit, user_of(j, index), report);
    if (report) report->last.contact = NULL, report->last.ncontact = 0;
    return status;
}

ct_status ct_rollout_many(ct_pool* pool, int count, ct_tape* const* tapes, const ct_state* const* initial,
                          int nstep, const double* controls, ct_visit visit, void* const* users,
                          ct_status* statuses, ct_rollout_report* reports) {
    CT_NEED(NULL, pool);
    job j = {.pool = pool,
             .run = roll_one,
             .controls = controls,
             .row = (size_t)(nstep > 0 ? nstep : 0) * (size_t)pool->model->inputs.control_size,
             .statuses = statuses,
             .users = users,
             .reports = reports,
             .tapes = tapes,
             .initial = initial,
             .nstep = nstep,
             .visit = visit};
    return run_all(&j, count);
}

static ct_status reverse_one(const job* j, int index, ct_work* work) {
    const ct_model* model = j->pool->model;
    size_t size = ct_model_state_first(model, CT_STATE_PARTS);
    ct_backward_report* report = j->reports ? (ct_backward_report*)j->reports + index : NULL;
    return ct_backward_states(model, work, j->tapes[index], control_of(j, index), j->seed, user_of(j, index),
                              j->initial_bars ? j->initial_bars + (size_t)index * size : NULL,
                              j->gradients ? &j->gradients[index] : NULL, report);
}

ct_status ct_backward_many(ct_pool* pool, int count, ct_tape* const* tapes, const double* controls,
                           ct_state_seed seed, void* const* users, double* initial_bars, ct_values* gradients,
                           ct_status* statuses, ct_backward_report* reports) {
    CT_NEED(NULL, pool);
    job j = {.pool = pool,
             .run = reverse_one,
             .controls = controls,
             .row =
                 count > 0 ? (size_t)ct_tape_steps(tapes[0]) * (size_t)pool->model->inputs.control_size : 0,
             .statuses = statuses,
             .users = users,
             .reports = reports,
             .tapes = tapes,
             .seed = seed,
             .initial_bars = initial_bars,
             .gradients = gradients};
    return run_all(&j, count);
}
