// The queue of a batch, and the evaluation of one of its points; see batch.h.
#include <math.h>
#include <string.h>

#include "optim/batch.h"

void ct_batch_enqueue(ct_batch* batch, ct_batch_job* job) {
    job->following = NULL;
    if (batch->first) batch->last->following = job;
    else batch->first = job;
    batch->last = job;
}

static ct_batch_task next_task(ct_batch* batch) {
    for (int i = 0; i < batch->nremote; i++) {
        ct_batch_task lost = batch->remote[i].lost;
        batch->remote[i].lost.job = NULL;
        if (lost.job) return lost;
    }
    ct_batch_job* job = batch->first;
    if (!job) return (ct_batch_task){0};
    batch->first = job->following;
    ct_batch_task task = {job, job->next++};
    if (job->next < job->count) ct_batch_enqueue(batch, job);
    return task;
}

bool ct_batch_take(ct_batch* batch, ct_batch_task* task) {
    pthread_mutex_lock(&batch->lock);
    for (*task = next_task(batch); !task->job && batch->phase != CT_BATCH_ENDS; *task = next_task(batch))
        pthread_cond_wait(&batch->change, &batch->lock);
    pthread_mutex_unlock(&batch->lock);
    return task->job != NULL;
}

void ct_batch_finish(ct_batch* batch, const ct_batch_task* task, const ct_evaluation* result,
                     const ct_error* error) {
    ct_batch_job* job = task->job;
    pthread_mutex_lock(&batch->lock);
    job->results[task->index] = *result;
    if (result->status != CT_OK && task->index < job->failed) {
        job->failed = task->index;
        job->error = *error;
    }
    if (--job->left == 0) pthread_cond_signal(&job->done);
    pthread_mutex_unlock(&batch->lock);
}

void ct_batch_compute(ct_problem* problem, const double* y, double* gradient, ct_evaluation* result,
                      ct_error* error) {
    ct_problem_report report;
    size_t bytes = (size_t)ct_problem_size(problem) * sizeof(double);
    if (gradient) memset(gradient, 0, bytes);
    *result = (ct_evaluation){0};
    result->status = ct_problem_evaluate(problem, y, &result->loss, gradient, &report, error);
    result->measure = result->status == CT_OK ? report.measure : NAN;
    result->forward_seconds = problem->forward_seconds;  // a worker is one thread
    result->backward_seconds = problem->backward_seconds;
    if (gradient && result->status != CT_OK) memset(gradient, 0, bytes);
}
