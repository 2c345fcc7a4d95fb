// Workers of other ranks: what is said between rank 0 and them; see batch.h.
//
// Worker k of a rank listens to tag k. When batches are made, on tag 0,
//     rank -> 0: hello (workers, fingerprint of the problem, or what went wrong);   0 -> rank: verdict (all
//     are there, or what went wrong).
// Then, for every point,
//     0 -> worker: request, y;   worker -> 0: answer, and the gradient if it was asked for;
// and at the end a request to leave. The last that a worker says is that it resigns: when it is asked to
// leave, or before, in place of an answer. The last that it hears is that request. So nothing is left on the
// way, and another batch may follow. Messages are structs as they lie in memory: ranks run the same program.
#include <string.h>

#include "base/status.h"
#include "optim/batch.h"

typedef struct verdict {
    ct_status status;
    int total;  // workers of all ranks
    ct_error error;
} verdict;

typedef enum request { EVALUATE, DIFFERENTIATE, LEAVE } request;

typedef struct answer {
    ct_evaluation result;
    ct_error error;  // where it failed
    bool resigned;
} answer;

static bool tell(const ct_transport* t, int to, int tag, const void* bytes, size_t count) {
    return t->send(to, tag, bytes, count, t->user);
}
static bool hear(const ct_transport* t, int from, int tag, void* bytes, size_t count) {
    return t->receive(from, tag, bytes, count, t->user);
}

// ---- beginning -----------------------------------------------------------------------------

static uint64_t mix(uint64_t hash, const void* bytes, size_t count) {
    const unsigned char* byte = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * 1099511628211u;  // FNV-1a
    return hash;
}

// What y means: the mesh, the masses, the steps, the parameters' slices.
uint64_t ct_batch_fingerprint(const ct_problem* problem) {
    const ct_model* model = problem->model;
    uint64_t hash = 14695981039346656037u;
    int sizes[] = {ct_problem_size(problem),
                   problem->nstep,
                   model->nvert,
                   model->ntet,
                   model->ntri,
                   model->inputs.control_size,
                   ct_problem_slice_count(problem)};
    hash = mix(hash, sizes, sizeof sizes);
    hash = mix(hash, model->geometry.rest, 3 * (size_t)model->nvert * sizeof(double));
    hash = mix(hash, model->mass, (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < ct_problem_slice_count(problem); i++) {
        ct_slice slice = ct_problem_slice(problem, i);
        hash = mix(hash, slice.name, strnlen(slice.name, sizeof slice.name));
        hash = mix(hash, &slice.count, sizeof slice.count);
    }
    return hash;
}

// What rank 0 thinks of a hello.
static ct_status judge(const ct_batch_hello* own, int rank, bool arrived, const ct_batch_hello* hello,
                       ct_error* error) {
    if (!arrived) return ct_fail(error, CT_IO, "rank %d is gone", rank);
    if (hello->status != CT_OK) {
        *error = hello->error;
        return ct_fail(error, hello->status, "rank %d: %.400s", rank, hello->error.message);
    }
    if (hello->fingerprint != own->fingerprint)
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "rank %d has a different scene or program than rank 0: start all ranks with the same",
                       rank);
    return CT_OK;
}

// Rank 0 hears all before it answers.
static ct_status hear_all(const ct_transport* transport, const ct_batch_hello* own, int* workers,
                          verdict* v) {
    v->status = own->status;
    v->error = own->error;
    v->total = (int)own->workers;
    for (int rank = 1; rank < transport->size; rank++) {
        ct_batch_hello hello;
        bool arrived = hear(transport, rank, 0, &hello, sizeof hello);
        if (v->status == CT_OK) v->status = judge(own, rank, arrived, &hello, &v->error);
        if (v->status != CT_OK) continue;
        workers[rank] = (int)hello.workers;
        v->total += workers[rank];
    }
    for (int rank = 1; rank < transport->size; rank++)
        if (!tell(transport, rank, 0, v, sizeof *v) && v->status == CT_OK)
            v->status = ct_fail(&v->error, CT_IO, "rank %d is gone", rank);
    return v->status;
}

ct_status ct_batch_agree(const ct_transport* transport, const ct_batch_hello* own, int* workers, int* total,
                         ct_error* error) {
    verdict v;
    memset(&v, 0, sizeof v);
    if (transport->rank == 0) hear_all(transport, own, workers, &v);
    else if (!tell(transport, 0, 0, own, sizeof *own) || !hear(transport, 0, 0, &v, sizeof v))
        v.status = ct_fail(&v.error, CT_IO, "rank 0 is gone");
    if (v.status != CT_OK && own->status == CT_OK && error) *error = v.error;
    if (own->status != CT_OK && error) *error = own->error;
    *total = v.total;
    return own->status != CT_OK ? own->status : v.status;
}

// ---- rank 0 --------------------------------------------------------------------------------

// false: the other side is gone, or does not want to be asked.
static bool ask(ct_batch_worker* worker, const ct_batch_task* task, answer* a) {
    const ct_transport* t = &worker->batch->transport;
    const ct_batch_job* job = task->job;
    size_t n = (size_t)worker->batch->size, first = (size_t)task->index * n;
    request r = job->gradients ? DIFFERENTIATE : EVALUATE;
    worker->gone = !tell(t, worker->rank, worker->tag, &r, sizeof r) ||
                   !tell(t, worker->rank, worker->tag, job->y + first, n * sizeof(double)) ||
                   !hear(t, worker->rank, worker->tag, a, sizeof *a);
    worker->resigned = !worker->gone && a->resigned;
    if (worker->gone || worker->resigned) return false;
    worker->gone =
        job->gradients && !hear(t, worker->rank, worker->tag, job->gradients + first, n * sizeof(double));
    return !worker->gone;
}

void ct_batch_stand_in(ct_batch_worker* worker) {
    ct_batch* batch = worker->batch;
    ct_batch_task task;
    answer a;
    while (ct_batch_take(batch, &task)) {
        if (ask(worker, &task, &a)) {
            ct_batch_finish(batch, &task, &a.result, &a.error);
            continue;
        }
        pthread_mutex_lock(&batch->lock);
        worker->lost = task;
        batch->total--;
        pthread_cond_broadcast(&batch->change);
        pthread_mutex_unlock(&batch->lock);
        return;
    }
}

void ct_batch_dismiss(const ct_batch_worker* worker) {
    const ct_transport* t = &worker->batch->transport;
    request r = LEAVE;
    answer last;
    if (worker->gone || !tell(t, worker->rank, worker->tag, &r, sizeof r)) return;
    if (!worker->resigned) hear(t, worker->rank, worker->tag, &last, sizeof last);
}

// ---- the others ----------------------------------------------------------------------------

// The next request, with its point in the buffer; LEAVE where rank 0 is gone.
static request next_request(const ct_batch_worker* worker, bool* gone) {
    const ct_transport* t = &worker->batch->transport;
    request r = LEAVE;
    *gone = !hear(t, 0, worker->tag, &r, sizeof r);
    if (!*gone && r != LEAVE)
        *gone = !hear(t, 0, worker->tag, worker->buffer, (size_t)worker->batch->size * sizeof(double));
    return *gone ? LEAVE : r;
}

// Answers a request; false: rank 0 is gone.
static bool answer_one(const ct_batch_worker* worker, request r) {
    const ct_transport* t = &worker->batch->transport;
    size_t n = (size_t)worker->batch->size, bytes = n * sizeof(double);
    double *y = worker->buffer, *gradient = worker->buffer + n;
    bool wanted = r == DIFFERENTIATE;
    answer a;
    memset(&a, 0, sizeof a);
    ct_batch_compute(worker->problem, y, wanted ? gradient : NULL, &a.result, &a.error);
    return tell(t, 0, worker->tag, &a, sizeof a) && (!wanted || tell(t, 0, worker->tag, gradient, bytes));
}

void ct_batch_answer(ct_batch_worker* worker) {
    for (request r = next_request(worker, &worker->gone); r != LEAVE;
         r = next_request(worker, &worker->gone)) {
        worker->gone = !answer_one(worker, r);
        if (worker->gone) return;
    }
    if (!worker->gone) ct_batch_resign(worker);
}

void ct_batch_wait(const ct_batch_worker* worker) {
    for (bool gone; next_request(worker, &gone) != LEAVE;) continue;
}

void ct_batch_resign(const ct_batch_worker* worker) {
    answer a;
    memset(&a, 0, sizeof a);
    a.resigned = true;
    tell(&worker->batch->transport, 0, worker->tag, &a, sizeof a);
}
