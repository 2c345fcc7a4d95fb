// What the extension module adds to the library: recording states and seeding gradients without a call of
// Python per step, and asking Python now and then whether to go on.
#include <pthread.h>
#include <string.h>
#include <time.h>

bool cuttle_python_cancel(void* user);

// Python runs signal handlers on its main thread only, and asking it costs about a microsecond and a lock. So
// only the thread that began a call asks, at most every 20 ms; the others see whether it was told to stop.
typedef struct cuttle_host {
    pthread_t thread;
    volatile int stop;
    double next;  // s, when to ask again
    void* self;
} cuttle_host;

static size_t cuttle_host_size(void) { return sizeof(cuttle_host); }

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void cuttle_host_begin(cuttle_host* host, void* self) {
    host->thread = pthread_self();
    host->stop = 0;
    host->self = self;
}

static bool cuttle_host_cancel(void* user) {
    cuttle_host* host = user;
    if (host->stop || !pthread_equal(host->thread, pthread_self())) return host->stop;
    double now = seconds_now();
    if (now < host->next) return false;
    host->next = now + 0.02;
    if (cuttle_python_cancel(host->self)) host->stop = 1;
    return host->stop;
}

// Arrays of a rollout, a row per state; NULL: not wanted.
typedef struct cuttle_record {
    const ct_model* model;
    int steps, nvert, ncoordinate, nactuation;
    double *x, *v, *q, *actuation, *contact;
    ct_state* last;  // takes the last state
} cuttle_record;

static void copy_row(double* rows, int step, const double* from, size_t count) {
    if (rows) memcpy(rows + (size_t)step * count, from, count * sizeof(double));
}

static void cuttle_record_state(int step, const ct_state* state, void* user) {
    const cuttle_record* r = user;
    size_t nodes = 3 * (size_t)r->nvert;
    copy_row(r->x, step, ct_state_positions(state), nodes);
    copy_row(r->v, step, ct_state_velocities(state), nodes);
    copy_row(r->contact, step, ct_state_contact_forces(state), nodes);
    copy_row(r->q, step, ct_state_coordinates(state), (size_t)r->ncoordinate);
    copy_row(r->actuation, step, ct_state_actuation(state), (size_t)r->nactuation);
    if (step == r->steps && r->last) ct_state_copy(r->last, state);
}

// Derivatives of a loss by the same arrays, and by the whole vector of the last state.
typedef struct cuttle_seeds {
    const ct_model* model;
    int steps, nvert, ncoordinate, nactuation;
    const double *x, *v, *q, *actuation, *last;
} cuttle_seeds;

static bool add_row(const cuttle_seeds* s, ct_state_part part, const double* rows, int step, size_t count,
                    double* bar) {
    if (!rows) return false;
    bar += ct_model_state_first(s->model, part);
    for (size_t i = 0; i < count; i++) bar[i] += rows[(size_t)step * count + i];
    return true;
}

static bool cuttle_seed_state(int step, const ct_state* state, double* bar, void* user) {
    const cuttle_seeds* s = user;
    size_t nodes = 3 * (size_t)s->nvert, size = ct_model_state_first(s->model, CT_STATE_PARTS);
    bool any = add_row(s, CT_STATE_POSITION, s->x, step, nodes, bar);
    any = add_row(s, CT_STATE_VELOCITY, s->v, step, nodes, bar) || any;
    any = add_row(s, CT_STATE_COORDINATE, s->q, step, (size_t)s->ncoordinate, bar) || any;
    any = add_row(s, CT_STATE_ACTUATION, s->actuation, step, (size_t)s->nactuation, bar) || any;
    if (step != s->steps || !s->last) return any;
    for (size_t i = 0; i < size; i++) bar[i] += s->last[i];
    return true;
}
