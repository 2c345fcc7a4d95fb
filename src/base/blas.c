// Run-time settings of OpenBLAS and of OpenMP, with which it may be built; see blas.h.
//
// OpenBLAS on POSIX threads has one number of threads for the process: a count of those who hold it at one,
// and what it was before the first. OpenMP's settings belong to the thread that makes them.
#include "base/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>

#include "base/cpu.h"
#include "cuttle.h"

enum { POSIX_THREADS = OPENBLAS_THREAD, OPENMP = OPENBLAS_OPENMP };  // what it may be built with

// ---- the process's threads -----------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int holders, threads_before;  // under the lock

static void hold_process(void) {
    pthread_mutex_lock(&lock);
    if (holders++ == 0) {
        threads_before = openblas_get_num_threads();
        if (threads_before != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

static void release_process(void) {
    pthread_mutex_lock(&lock);
    if (--holders == 0 && threads_before != 1) openblas_set_num_threads(threads_before);
    pthread_mutex_unlock(&lock);
}

// ---- OpenMP --------------------------------------------------------------------------------

// Looked up rather than linked: the library comes with OpenBLAS, or not at all.
static struct {
    int (*get_threads)(void);
    void (*set_threads)(int);
} openmp;
static pthread_once_t openmp_once = PTHREAD_ONCE_INIT;

static void find_openmp(void) {
    openmp.get_threads = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    openmp.set_threads = (void (*)(int))dlsym(RTLD_DEFAULT, "omp_set_num_threads");
}

static bool runs_on_openmp(void) {
    pthread_once(&openmp_once, find_openmp);
    return openblas_get_parallel() == OPENMP && openmp.get_threads && openmp.set_threads;
}

// ---- both ----------------------------------------------------------------------------------

static _Thread_local struct {
    int depth, threads;  // begun and not ended; OpenMP's threads before the first
} mine;

void ct_blas_begin(void) {
    if (mine.depth++) return;
    if (openblas_get_parallel() == POSIX_THREADS) hold_process();
    if (!runs_on_openmp()) return;
    mine.threads = openmp.get_threads();
    openmp.set_threads(1);
}

void ct_blas_end(void) {
    if (--mine.depth) return;
    if (openblas_get_parallel() == POSIX_THREADS) release_process();
    if (runs_on_openmp()) openmp.set_threads(mine.threads);
}

bool ct_blas_has_room(int callers) {
    size_t bytes = (size_t)(callers > 1 ? callers : 1) * CT_BLAS_BUFFER_MEGABYTES << 20;
    void* room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    // a call that takes a buffer: the room that was found is ours before others take it
    double one = 1;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, 1, 1, 1, &one, 1, 0, &one, 1);
    return true;
}

// ---- kernels -------------------------------------------------------------------------------

const char* ct_blas_core(void) { return openblas_get_corename(); }

static bool is_one_of(const char* name, const char* const* list) {
    for (; *list; list++)
        if (!strcasecmp(name, *list)) return true;
    return false;
}

// OpenBLAS chooses its kernels while it is loaded, and an old one takes a slow generic set on a CPU that it
// does not know.
const char* ct_blas_coretype(void) {
    static const char* const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
    static const char* const fused[] = {"Haswell",        "Zen",       "SkylakeX", "Cooperlake",
                                        "SapphireRapids", "Excavator", NULL};
    if (getenv("OPENBLAS_CORETYPE")) return NULL;
    const char* core = ct_blas_core();
    switch (ct_cpu_isa()) {
    case CT_ISA_AVX512: return is_one_of(core, wide) ? NULL : "SkylakeX";
    case CT_ISA_AVX2: return is_one_of(core, fused) ? NULL : "Haswell";
    default: return NULL;
    }
}
