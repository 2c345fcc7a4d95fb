// A batch: workers that serve a queue of evaluations.
//
// A call of ct_batch_evaluate is a job; it lies on its caller's stack and in the queue while points of it
// have not been begun. A worker takes one point of the first job and puts the job to the end of the queue, so
// that several callers are served in turn. Workers of this process evaluate the point themselves, on a
// problem of their own. For each worker of another rank a thread of rank 0 stands in: it takes points
// likewise, sends them there and waits for the answers; when the rank is gone, it gives its point back, and
// ends.
#ifndef CT_OPTIM_BATCH_H
#define CT_OPTIM_BATCH_H

#include <pthread.h>

#include "optim/problem.h"
#include "scene/scene.h"

typedef struct ct_batch_job {
    int count, next, left;  // points: all, the first that no worker has begun, those not finished
    const double* y;
    double* gradients;  // NULL: not wanted
    ct_evaluation* results;
    int failed;      // the first point that failed, count: none
    ct_error error;  // of that point
    pthread_cond_t done;
    struct ct_batch_job* following;  // in the queue
} ct_batch_job;

typedef struct ct_batch_task {
    ct_batch_job* job;  // NULL: none
    int index;          // of the point
} ct_batch_task;

typedef struct ct_batch_worker {
    ct_batch* batch;
    pthread_t thread;
    bool started;         // the thread is to be joined
    ct_problem* problem;  // NULL: stands in for a worker of another rank
    int rank, tag;        // of that one; here: its own
    ct_status status;     // of the making of its problem
    ct_error error;
    bool ready;          // that has ended
    bool gone;           // the other side is
    bool resigned;       // on rank 0: it has said that it does not want to be asked
    double* buffer;      // 2 size, of other ranks: a point and its gradient
    ct_batch_task lost;  // the point that it gave back
} ct_batch_worker;

typedef enum ct_batch_phase { CT_BATCH_PREPARES, CT_BATCH_RUNS, CT_BATCH_ENDS } ct_batch_phase;

struct ct_batch {
    ct_scene scene;           // borrowed from the caller while problems are made; one thread
    size_t max_bytes;         // of a problem's tape
    int size;                 // of y
    ct_transport transport;   // alone: rank 0 of 1
    ct_batch_worker* local;   // nlocal: of this process
    ct_batch_worker* remote;  // nremote, rank 0: stand in for those of others
    int nlocal, nremote;
    int total;              // workers of all ranks; fewer when some are gone, on rank 0
    pthread_mutex_t lock;   // for what follows, the total, and what workers lost
    pthread_cond_t change;  // of the queue or the phase
    pthread_cond_t readiness;
    ct_batch_job *first, *last;  // queue
    ct_batch_phase phase;
};

// ---- the queue: batch_queue.c --------------------------------------------------------------

void ct_batch_enqueue(ct_batch* batch, ct_batch_job* job);  // at the end; with the lock held
// The next point, waiting for one; false: the batch ends.
bool ct_batch_take(ct_batch* batch, ct_batch_task* task);
void ct_batch_finish(ct_batch* batch, const ct_batch_task* task, const ct_evaluation* result,
                     const ct_error* error);
// Evaluates a point on a worker's problem; gradient: zeros where it failed.
void ct_batch_compute(ct_problem* problem, const double* y, double* gradient, ct_evaluation* result,
                      ct_error* error);

// ---- other ranks: batch_remote.c -----------------------------------------------------------

// What a rank tells rank 0 when it is made.
typedef struct ct_batch_hello {
    uint64_t fingerprint;  // of the problem
    int64_t workers;
    ct_status status;
    ct_error error;
} ct_batch_hello;
// Rank 0 learns how many workers each rank has (workers: NULL on other ranks) and all learn whether every
// rank is there with the same problem. Fails on all of them if one has failed. *total: workers of all ranks.
ct_status ct_batch_agree(const ct_transport* transport, const ct_batch_hello* own, int* workers, int* total,
                         ct_error* error);
uint64_t ct_batch_fingerprint(const ct_problem* problem);
// Of rank 0, standing in for a worker of another; until the batch ends or that rank is gone.
void ct_batch_stand_in(ct_batch_worker* worker);
// Of another rank: answers until rank 0 says that it is over, or is gone.
void ct_batch_answer(ct_batch_worker* worker);
// Of rank 0: it is over. Returns when the worker has said its last.
void ct_batch_dismiss(const ct_batch_worker* worker);
// Of another rank: will not answer. Then ct_batch_wait returns when rank 0 has said that it is over.
void ct_batch_resign(const ct_batch_worker* worker);
void ct_batch_wait(const ct_batch_worker* worker);

#endif
