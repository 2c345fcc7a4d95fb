// Pools: many states of one model at the same time
//
// Each thread of a pool takes one state after the other, with a work of its own. Results are the same to the
// last bit as one by one, for every number of threads; one that fails does not keep the others.
//
//     ct_pool* pool = NULL;
//     if (ct_pool_create(&pool, model, 0, &error)) ...                         // a thread on each core
//     if (ct_step_many(pool, 64, states, controls, statuses, NULL)) ...
#ifndef CUTTLE_POOL_H
#define CUTTLE_POOL_H

#include "cuttle/gradient.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_pool ct_pool;
// threads 0: as many as there are cores. Free it before the model.
CT_API ct_status ct_pool_create(ct_pool** out, const ct_model* model, int threads, ct_error* error);
CT_API void ct_pool_free(ct_pool* pool);          // NULL: does nothing
CT_API int ct_pool_threads(const ct_pool* pool);  // the caller's among them
// Whom its works ask, on all of its threads; cancel NULL: nobody.
CT_API void ct_pool_set_cancel(ct_pool* pool, ct_cancel cancel, void* user);

// The functions below return CT_OK although some fail: how it went with each is in `statuses`, and why in
// `reports`, whose lists of contacts are empty (may be NULL). CT_CANCELLED when one was cancelled,
// CT_OUT_OF_MEMORY. A pool serves one call at a time.

// ct_step on each state. controls: count x control size, NULL: the scene's values.
CT_API ct_status ct_step_many(ct_pool* pool, int count, ct_state* const* states, const double* controls,
                              ct_status* statuses, ct_step_report* reports);
// ct_rollout from each state, on a tape each. controls: count x nstep x control size, NULL: the scene's
// values. visit is called on the threads of the pool, with the rollout's own of `users`; users NULL: NULLs.
CT_API ct_status ct_rollout_many(ct_pool* pool, int count, ct_tape* const* tapes,
                                 const ct_state* const* initial, int nstep, const double* controls,
                                 ct_visit visit, void* const* users, ct_status* statuses,
                                 ct_rollout_report* reports);
// ct_backward_states on each tape. controls: those of the rollouts, as above, all of as many steps.
// initial_bars: count x the size of a state's vector, NULL: not wanted. gradients: count of them, NULL: not
// wanted.
CT_API ct_status ct_backward_many(ct_pool* pool, int count, ct_tape* const* tapes, const double* controls,
                                  ct_state_seed seed, void* const* users, double* initial_bars,
                                  ct_values* gradients, ct_status* statuses, ct_backward_report* reports);

#ifdef __cplusplus
}
#endif
#endif
