// Many evaluations at the same time: the workers; see batch.h.
//
// A result depends on its point alone: problems factor at every change of values, and whatever else they keep
// from one evaluation to the next changes no bit.
#include "optim/batch.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/status.h"
#include "optim/search.h"

enum { WORKER_LIMIT = 4096 };

// ---- a worker ------------------------------------------------------------------------------

static void work(ct_batch_worker* worker) {
    ct_batch_task task;
    size_t n = (size_t)worker->batch->size;
    while (ct_batch_take(worker->batch, &task)) {
        const ct_batch_job* job = task.job;
        size_t first = (size_t)task.index * n;
        ct_evaluation result;
        ct_error error;
        ct_batch_compute(worker->problem, job->y + first, job->gradients ? job->gradients + first : NULL,
                         &result, &error);
        ct_batch_finish(worker->batch, &task, &result, &error);
    }
}

// Reports that the problem is made, or not; true: go to work.
static bool report_ready(ct_batch_worker* worker) {
    ct_batch* batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    worker->ready = true;
    pthread_cond_signal(&batch->readiness);
    while (batch->phase == CT_BATCH_PREPARES) pthread_cond_wait(&batch->change, &batch->lock);
    bool runs = batch->phase == CT_BATCH_RUNS;
    pthread_mutex_unlock(&batch->lock);
    return runs;
}

// What a thread of this process does. It makes its problem itself: then its memory is near, and all are made
// at the same time.
static void* live(void* user) {
    ct_batch_worker* worker = user;
    ct_batch* batch = worker->batch;
    worker->status = ct_problem_create(&worker->problem, &batch->scene, batch->max_bytes, &worker->error);
    if (worker->status == CT_OK) worker->problem->model->system.always_factor = true;
    if (worker->status == CT_OK && batch->transport.rank > 0) {
        worker->buffer = ct_alloc(2 * (size_t)ct_problem_size(worker->problem), sizeof(double));
        if (!worker->buffer) worker->status = ct_fail(&worker->error, CT_OUT_OF_MEMORY, "out of memory");
    }
    if (!report_ready(worker)) return NULL;
    if (batch->transport.rank == 0) work(worker);
    else ct_batch_answer(worker);
    return NULL;
}

static void* stand_in(void* user) {
    ct_batch_stand_in(user);
    return NULL;
}

// ---- create and free -----------------------------------------------------------------------

static int available_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

// A quarter of the machine's memory for the tapes of all workers.
static size_t tape_bytes(int workers) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page / 4 / (size_t)workers : 0;
}

static void set_phase(ct_batch* batch, ct_batch_phase phase) {
    pthread_mutex_lock(&batch->lock);
    batch->phase = phase;
    pthread_cond_broadcast(&batch->change);
    pthread_mutex_unlock(&batch->lock);
}

static ct_status start_thread(ct_batch_worker* worker, void* (*run)(void*), ct_error* error) {
    worker->started = pthread_create(&worker->thread, NULL, run, worker) == 0;
    return worker->started
               ? CT_OK
               : ct_fail(error, CT_OUT_OF_MEMORY, "the system cannot create more threads: use fewer workers");
}

// Workers of this process, each with its problem.
static ct_status create_local(ct_batch* batch, const ct_scene* scene, int workers, ct_error* error) {
    batch->scene = *scene;
    batch->scene.settings.threads = 1;
    batch->max_bytes = tape_bytes(workers);
    batch->local = ct_alloc((size_t)workers, sizeof *batch->local);
    if (!batch->local) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!ct_blas_has_room(workers))
        return ct_fail(error, CT_OUT_OF_MEMORY,
                       "too little address space for %d workers, %d MB each: use fewer, or raise ulimit -v",
                       workers, CT_BLAS_BUFFER_MEGABYTES);
    ct_status status = CT_OK;
    for (; status == CT_OK && batch->nlocal < workers; batch->nlocal++) {
        ct_batch_worker* worker = &batch->local[batch->nlocal];
        *worker = (ct_batch_worker){.batch = batch, .rank = batch->transport.rank, .tag = batch->nlocal};
        status = start_thread(worker, live, error);
    }
    pthread_mutex_lock(&batch->lock);
    for (int i = 0; i < batch->nlocal; i++)
        while (batch->local[i].started && !batch->local[i].ready)
            pthread_cond_wait(&batch->readiness, &batch->lock);
    pthread_mutex_unlock(&batch->lock);
    for (int i = 0; status == CT_OK && i < batch->nlocal; i++) {
        status = batch->local[i].status;
        if (status != CT_OK && error) *error = batch->local[i].error;
    }
    if (status == CT_OK) batch->size = ct_problem_size(batch->local[0].problem);
    return status;
}

// Threads that stand in for the other ranks' workers.
static ct_status create_remote(ct_batch* batch, const int* workers, ct_error* error) {
    batch->remote = ct_alloc((size_t)(batch->total - batch->nlocal), sizeof *batch->remote);
    for (int rank = 1; rank < batch->transport.size; rank++)
        for (int tag = 0; tag < workers[rank]; tag++) {
            ct_batch_worker worker = {.batch = batch, .rank = rank, .tag = tag};
            if (batch->remote) batch->remote[batch->nremote++] = worker;
            else ct_batch_dismiss(&worker);
        }
    if (!batch->remote) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = CT_OK;
    for (int i = 0; status == CT_OK && i < batch->nremote; i++)
        status = start_thread(&batch->remote[i], stand_in, error);
    return status;
}

// All ranks together: each comes here, whether its own part is there or has failed.
static ct_status join_ranks(ct_batch* batch, const ct_transport* transport, ct_status status,
                            ct_error* error) {
    ct_batch_hello own = {.status = status};
    int* workers = transport->rank == 0 ? ct_alloc((size_t)transport->size, sizeof *workers) : NULL;
    int total = 0;
    if (status != CT_OK && error) own.error = *error;
    if (status == CT_OK && transport->rank == 0 && !workers)
        own.status = ct_fail(&own.error, CT_OUT_OF_MEMORY, "out of memory");
    if (own.status == CT_OK) {
        own.fingerprint = ct_batch_fingerprint(batch->local[0].problem);
        own.workers = batch->nlocal;
    }
    status = ct_batch_agree(transport, &own, workers, &total, error);
    if (status == CT_OK) {
        batch->total = total;
        if (transport->rank == 0) status = create_remote(batch, workers, error);
    }
    ct_free(workers);
    return status;
}

ct_status ct_batch_create(ct_batch** out, const ct_scene* scene, int workers, const ct_transport* transport,
                          ct_error* error) {
    CT_NEED(error, out, scene);
    *out = NULL;
    ct_error own;
    if (!error) error = &own;
    ct_error_clear(error);
    ct_status status = CT_OK;
    ct_batch* batch = ct_alloc(1, sizeof *batch);
    if (workers < 0 || workers > WORKER_LIMIT)
        status = ct_fail(error, CT_BAD_ARGUMENT,
                         "there can be 1 to %d workers, or 0 for one on each core; %d were asked for",
                         WORKER_LIMIT, workers);
    else if (!batch) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (batch) {
        batch->transport = transport ? *transport : (ct_transport){.size = 1};
        pthread_mutex_init(&batch->lock, NULL);
        pthread_cond_init(&batch->change, NULL);
        pthread_cond_init(&batch->readiness, NULL);
    }
    if (status == CT_OK) status = create_local(batch, scene, workers ? workers : available_cores(), error);
    if (status == CT_OK) batch->total = batch->nlocal;
    if (transport && transport->size > 1) status = join_ranks(batch, transport, status, error);
    if (status != CT_OK) {
        ct_batch_free(batch);
        return status;
    }
    memset(&batch->scene, 0, sizeof batch->scene);
    if (batch->transport.rank == 0) set_phase(batch, CT_BATCH_RUNS);
    *out = batch;
    return CT_OK;
}

// Waits for the threads of this process.
static void join_threads(ct_batch_worker* worker, int count) {
    for (int i = 0; i < count; i++) {
        if (worker[i].started) pthread_join(worker[i].thread, NULL);
        worker[i].started = false;
    }
}

void ct_batch_free(ct_batch* batch) {
    if (!batch) return;
    bool served = batch->phase == CT_BATCH_RUNS;
    set_phase(batch, CT_BATCH_ENDS);
    join_threads(batch->local, batch->nlocal);
    join_threads(batch->remote, batch->nremote);
    for (int i = 0; i < batch->nremote; i++) ct_batch_dismiss(&batch->remote[i]);
    bool joined = batch->transport.rank > 0 && batch->total > batch->nlocal;
    for (int i = 0; joined && !served && i < batch->nlocal; i++) ct_batch_resign(&batch->local[i]);
    for (int i = 0; joined && !served && i < batch->nlocal; i++) ct_batch_wait(&batch->local[i]);
    for (int i = 0; i < batch->nlocal; i++) {
        ct_problem_free(batch->local[i].problem);
        ct_free(batch->local[i].buffer);
    }
    pthread_cond_destroy(&batch->readiness);
    pthread_cond_destroy(&batch->change);
    pthread_mutex_destroy(&batch->lock);
    ct_free(batch->local);
    ct_free(batch->remote);
    ct_free(batch);
}

const ct_problem* ct_batch_problem(const ct_batch* batch) { return batch->local[0].problem; }

void ct_batch_set_term(ct_batch* batch, ct_term term, void* user) {
    for (int i = 0; i < batch->nlocal; i++) ct_problem_set_term(batch->local[i].problem, term, user);
}

int ct_batch_workers(const ct_batch* batch) {
    pthread_mutex_t* lock = (pthread_mutex_t*)&batch->lock;
    pthread_mutex_lock(lock);
    int total = batch->total;
    pthread_mutex_unlock(lock);
    return total;
}

// ---- what is asked of it -------------------------------------------------------------------

static ct_status serve_job(ct_batch* batch, ct_batch_job* job, ct_error* error) {
    pthread_mutex_lock(&batch->lock);
    ct_batch_enqueue(batch, job);
    pthread_cond_broadcast(&batch->change);
    while (job->left) pthread_cond_wait(&job->done, &batch->lock);
    pthread_mutex_unlock(&batch->lock);
    if (job->failed < job->count && error) *error = job->error;
    for (int i = 0; i < job->count; i++)
        if (job->results[i].status != CT_OK && job->results[i].status != CT_NOT_CONVERGED)
            return job->results[i].status;
    return CT_OK;
}

ct_status ct_batch_evaluate(ct_batch* batch, int count, const double* y, double* gradients,
                            ct_evaluation* results, ct_error* error) {
    CT_NEED(error, batch);
    ct_error_clear(error);
    if (batch->transport.rank != 0)
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "rank %d cannot request evaluations: rank 0 requests them, the others carry them out",
                       batch->transport.rank);
    if (count < 0) return ct_fail(error, CT_BAD_ARGUMENT, "%d points were asked for", count);
    if (count == 0) return CT_OK;
    ct_batch_job job = {
        .count = count, .left = count, .failed = count, .y = y, .gradients = gradients, .results = results};
    if (pthread_cond_init(&job.done, NULL)) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = serve_job(batch, &job, error);
    pthread_cond_destroy(&job.done);
    return status;
}

static ct_status evaluate_points(int count, const double* y, double* gradients, ct_evaluation* results,
                                 void* user, ct_error* error) {
    return ct_batch_evaluate(user, count, y, gradients, results, error);
}

ct_status ct_batch_optimize(ct_batch* batch, const ct_optimize_def* def, double* y, ct_on_progress progress,
                            void* user, ct_optimize_report* report, ct_error* error) {
    CT_NEED(error, batch, def);
    size_t n = (size_t)batch->size;
    ct_arena arena = {0};
    double *lower = ct_arena_alloc(&arena, n, sizeof(double)),
           *upper = ct_arena_alloc(&arena, n, sizeof(double));
    ct_function function = {
        .size = batch->size, .lower = lower, .upper = upper, .evaluate = evaluate_points, .user = batch};
    ct_status status = CT_OUT_OF_MEMORY;
    if (arena.failed) {
        ct_fail(error, status, "out of memory");
        if (report) *report = (ct_optimize_report){.loss = INFINITY, .reason = ct_status_text(status)};
    } else {
        ct_problem_bounds(ct_batch_problem(batch), lower, upper);
        status = ct_function_optimize(&function, def, y, progress, user, report, error);
    }
    ct_arena_free(&arena);
    return status;
}

ct_status ct_batch_serve(ct_batch* batch, ct_error* error) {
    CT_NEED(error, batch);
    ct_error_clear(error);
    if (batch->transport.rank == 0)
        return ct_fail(error, CT_BAD_ARGUMENT, "rank 0 requests evaluations, the others carry them out");
    set_phase(batch, CT_BATCH_RUNS);
    join_threads(batch->local, batch->nlocal);
    for (int i = 0; i < batch->nlocal; i++)
        if (batch->local[i].gone) return ct_fail(error, CT_IO, "rank 0 is gone");
    return CT_OK;
}
