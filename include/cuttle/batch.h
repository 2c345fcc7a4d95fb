// Batches: many evaluations at the same time, on the cores of one machine or of several
//
//     ct_batch* batch = NULL;
//     if (ct_batch_create(&batch, scene, 0, NULL, &error)) ...         // a worker on each core
//     if (ct_batch_evaluate(batch, count, points, gradients, results, &error)) ...
//     ct_batch_free(batch);
#ifndef CUTTLE_BATCH_H
#define CUTTLE_BATCH_H

#include "cuttle/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

// Messages between processes, in order for each pair of ranks and tag. The functions block, are called from
// several threads at the same time, each with a rank and tag of its own, and return false when the other side
// is gone. `cuttle experiment` fills it with MPI.
typedef struct ct_transport {
    int rank, size;
    bool (*send)(int to, int tag, const void* bytes, size_t count, void* user);
    bool (*receive)(int from, int tag, void* bytes, size_t count, void* user);
    void* user;
} ct_transport;

typedef struct ct_batch ct_batch;  // workers, each with a problem and one thread of its own
// workers: threads of this process, 0: all cores. transport NULL: this process alone. With one, every rank
// creates the batch from the same scene; rank 0 asks, the others call ct_batch_serve. Results depend on y
// alone: not on the workers, nor on what they did before; machines of one kind give the same to the last bit.
// What a rank that is lost had to do is done by another. Fails as ct_problem_create does, with
// CT_BAD_ARGUMENT when the ranks have different scenes.
CT_API ct_status ct_batch_create(ct_batch** out, const ct_scene* scene, int workers,
                                 const ct_transport* transport, ct_error* error);
// On rank 0: ends the others' ct_batch_serve; on a rank that did not serve: waits for that. NULL: does
// nothing.
CT_API void ct_batch_free(ct_batch* batch);
// Borrowed, for sizes, bounds and values; evaluations are the batch's.
CT_API const ct_problem* ct_batch_problem(const ct_batch* batch);
// A term of the user's own for all workers of this process (ct_problem_set_term): called on their threads,
// several at a time. Not while something is evaluated.
CT_API void ct_batch_set_term(ct_batch* batch, ct_term term, void* user);
CT_API int ct_batch_workers(const ct_batch* batch);  // of all ranks
// Evaluates y[0], ..., y[count - 1] (ct_problem_size numbers each), and their gradients unless NULL. Several
// threads may ask at the same time, and are served in turn. CT_OK although some did not converge: see their
// results; error has the sentence of the first that failed. CT_BAD_ARGUMENT on ranks other than 0.
CT_API ct_status ct_batch_evaluate(ct_batch* batch, int count, const double* y, double* gradients,
                                   ct_evaluation* results, ct_error* error);
// As ct_problem_optimize; generations are evaluated at the same time. Several threads may each run a search
// of their own.
CT_API ct_status ct_batch_optimize(ct_batch* batch, const ct_optimize_def* def, double* y,
                                   ct_on_progress progress, void* user, ct_optimize_report* report,
                                   ct_error* error);
// Works for rank 0 until it frees its batch. CT_IO when rank 0 is gone, CT_BAD_ARGUMENT on rank 0 itself.
CT_API ct_status ct_batch_serve(ct_batch* batch, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
