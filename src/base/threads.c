// The worker pool. One atomic word, the ticket, holds a region's number, its task count and the next task;
// whoever moves it from i to i + 1 owns task i. A region ends when its tasks are done, not when every worker
// has looked in: a worker that the system keeps from running delays nobody. Waiting spins for some
// microseconds, then sleeps.
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/memory.h"

enum { SPIN_COUNT = 4000, TASK_BITS = 20 };
#define TASK_MASK ((1u << TASK_BITS) - 1)

struct ct_threads {
    int count;
    pthread_t* worker;  // count - 1
    int started;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    int sleepers;             // under the mutex
    bool stop;                // under the mutex
    _Atomic uint64_t ticket;  // region << 40 | task count << 20 | next task
    char apart[64];           // another cache line
    atomic_int done;          // tasks finished in this region
    ct_task task;             // of the region; stable while one of its tasks is unfinished
    void* user;
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Claims and runs tasks of the region in the ticket until none is left.
static void work_off(ct_threads* threads) {
    uint64_t ticket = atomic_load_explicit(&threads->ticket, memory_order_acquire);
    while ((ticket & TASK_MASK) < (ticket >> TASK_BITS & TASK_MASK)) {
        if (!atomic_compare_exchange_weak_explicit(&threads->ticket, &ticket, ticket + 1,
                                                   memory_order_acq_rel, memory_order_acquire))
            continue;
        threads->task((int)(ticket & TASK_MASK), threads->user);
        atomic_fetch_add_explicit(&threads->done, 1, memory_order_acq_rel);
        ticket = atomic_load_explicit(&threads->ticket, memory_order_acquire);
    }
}

static uint64_t region_of(ct_threads* threads) {
    return atomic_load_explicit(&threads->ticket, memory_order_acquire) >> 2 * TASK_BITS;
}

// Returns when the region is another than `seen`; false: the pool is closing.
static bool wait_for_region(ct_threads* threads, uint64_t seen) {
    for (int spin = 0; spin < SPIN_COUNT; spin++) {
        if (region_of(threads) != seen) return true;
        relax();
    }
    pthread_mutex_lock(&threads->mutex);
    threads->sleepers++;
    while (region_of(threads) == seen && !threads->stop) pthread_cond_wait(&threads->wake, &threads->mutex);
    threads->sleepers--;
    bool go_on = !threads->stop;
    pthread_mutex_unlock(&threads->mutex);
    return go_on;
}

static void* worker_main(void* argument) {
    ct_threads* threads = argument;
    uint64_t seen = 0;
    while (wait_for_region(threads, seen)) {
        seen = region_of(threads);
        work_off(threads);
    }
    return NULL;
}

ct_status ct_threads_create(ct_threads** out, int count) {
    *out = NULL;
    if (count <= 0) count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1) count = 1;
    ct_threads* threads = ct_alloc(1, sizeof *threads);
    if (!threads) return CT_OUT_OF_MEMORY;
    pthread_mutex_init(&threads->mutex, NULL);
    pthread_cond_init(&threads->wake, NULL);
    threads->worker = ct_alloc((size_t)count, sizeof *threads->worker);
    threads->count = threads->worker ? count : 1;
    for (int i = 0; threads->worker && i < count - 1; i++) {
        if (pthread_create(&threads->worker[i], NULL, worker_main, threads)) break;
        threads->started++;
    }
    if (!threads->worker || threads->started < count - 1) {
        ct_threads_free(threads);
        return CT_OUT_OF_MEMORY;
    }
    *out = threads;
    return CT_OK;
}

void ct_threads_free(ct_threads* threads) {
    if (!threads) return;
    pthread_mutex_lock(&threads->mutex);
    threads->stop = true;
    pthread_cond_broadcast(&threads->wake);
    pthread_mutex_unlock(&threads->mutex);
    for (int i = 0; i < threads->started; i++) pthread_join(threads->worker[i], NULL);
    pthread_mutex_destroy(&threads->mutex);
    pthread_cond_destroy(&threads->wake);
    ct_free(threads->worker);
    ct_free(threads);
}

int ct_threads_count(const ct_threads* threads) { return threads ? threads->count : 1; }

static void announce(ct_threads* threads, int ntask) {
    uint64_t region = region_of(threads) + 1;
    uint64_t ticket = region << 2 * TASK_BITS | (uint64_t)ntask << TASK_BITS;
    pthread_mutex_lock(&threads->mutex);
    atomic_store_explicit(&threads->ticket, ticket, memory_order_release);
    if (threads->sleepers) pthread_cond_broadcast(&threads->wake);
    pthread_mutex_unlock(&threads->mutex);
}

static void run_region(ct_threads* threads, int ntask, ct_task task, void* user) {
    threads->task = task;
    threads->user = user;
    atomic_store_explicit(&threads->done, 0, memory_order_relaxed);
    announce(threads, ntask);
    work_off(threads);
    for (int spin = 0; atomic_load_explicit(&threads->done, memory_order_acquire) < ntask; spin++) {
        if (spin < SPIN_COUNT) relax();
        else sched_yield();  // the owner of the last task is not running: make room for it
    }
}

void ct_threads_run(ct_threads* threads, int ntask, ct_task task, void* user) {
    if (!threads || threads->count == 1 || ntask <= 1 || ntask > (int)TASK_MASK) {
        for (int i = 0; i < ntask; i++) task(i, user);
        return;
    }
    run_region(threads, ntask, task, user);
}
