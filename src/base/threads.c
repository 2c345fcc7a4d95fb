// The worker pool: a generation counter announces a region, an atomic index hands out tasks, a counter of
// busy workers closes it. Waiting spins for a few microseconds, then sleeps on a condition variable.
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/memory.h"

enum { SPIN_COUNT = 4000 };

struct ct_threads {
    int count;
    pthread_t* worker;         // count - 1
    int started;
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    atomic_uint generation;    // one more for every region
    atomic_int busy;           // workers still inside the region
    atomic_int next;           // next task index
    atomic_bool stop;
    int ntask;
    ct_task task;
    void* user;
};

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work_off(ct_threads* threads) {
    for (;;) {
        int index = atomic_fetch_add_explicit(&threads->next, 1, memory_order_relaxed);
        if (index >= threads->ntask) return;
        threads->task(index, threads->user);
    }
}

static void wait_for_region(ct_threads* threads, unsigned seen) {
    for (int spin = 0; spin < SPIN_COUNT; spin++) {
        if (atomic_load_explicit(&threads->generation, memory_order_acquire) != seen) return;
        relax();
    }
    pthread_mutex_lock(&threads->mutex);
    while (atomic_load_explicit(&threads->generation, memory_order_acquire) == seen)
        pthread_cond_wait(&threads->wake, &threads->mutex);
    pthread_mutex_unlock(&threads->mutex);
}

static void* worker_main(void* argument) {
    ct_threads* threads = argument;
    unsigned seen = 0;
    for (;;) {
        wait_for_region(threads, seen);
        seen++;
        if (atomic_load(&threads->stop)) return NULL;
        work_off(threads);
        if (atomic_fetch_sub_explicit(&threads->busy, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&threads->mutex);
            pthread_cond_signal(&threads->done);
            pthread_mutex_unlock(&threads->mutex);
        }
    }
}

static void announce(ct_threads* threads) {
    pthread_mutex_lock(&threads->mutex);
    atomic_fetch_add_explicit(&threads->generation, 1, memory_order_release);
    pthread_cond_broadcast(&threads->wake);
    pthread_mutex_unlock(&threads->mutex);
}

ct_status ct_threads_create(ct_threads** out, int count) {
    *out = NULL;
    if (count <= 0) count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1) count = 1;
    ct_threads* threads = ct_alloc(1, sizeof *threads);
    if (!threads) return CT_OUT_OF_MEMORY;
    pthread_mutex_init(&threads->mutex, NULL);
    pthread_cond_init(&threads->wake, NULL);
    pthread_cond_init(&threads->done, NULL);
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
    atomic_store(&threads->stop, true);
    announce(threads);
    for (int i = 0; i < threads->started; i++) pthread_join(threads->worker[i], NULL);
    pthread_mutex_destroy(&threads->mutex);
    pthread_cond_destroy(&threads->wake);
    pthread_cond_destroy(&threads->done);
    ct_free(threads->worker);
    ct_free(threads);
}

int ct_threads_count(const ct_threads* threads) { return threads ? threads->count : 1; }

void ct_threads_run(ct_threads* threads, int ntask, ct_task task, void* user) {
    if (!threads || threads->count == 1 || ntask <= 1) {
        for (int i = 0; i < ntask; i++) task(i, user);
        return;
    }
    threads->ntask = ntask;
    threads->task = task;
    threads->user = user;
    atomic_store_explicit(&threads->next, 0, memory_order_relaxed);
    atomic_store_explicit(&threads->busy, threads->count - 1, memory_order_relaxed);
    announce(threads);
    work_off(threads);
    for (int spin = 0; spin < SPIN_COUNT; spin++) {
        if (atomic_load_explicit(&threads->busy, memory_order_acquire) == 0) return;
        relax();
    }
    pthread_mutex_lock(&threads->mutex);
    while (atomic_load_explicit(&threads->busy, memory_order_acquire) != 0)
        pthread_cond_wait(&threads->done, &threads->mutex);
    pthread_mutex_unlock(&threads->mutex);
}
