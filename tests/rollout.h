// A rollout with everything that has a gradient as one flat vector, a loss on its states, and central
// differences.
#ifndef CT_TESTS_ROLLOUT_H
#define CT_TESTS_ROLLOUT_H

#include "build.h"
#include "model/model.h"
#include "repeat.h"
#include "step/contact_log.h"
#include "step/state.h"
#include "unit.h"

enum {
    POSITION,
    VELOCITY,
    YOUNG,
    POISSON,
    DENSITY,
    DAMPING_MASS,
    DAMPING_STIFFNESS,
    GRAVITY,
    CONTROLS,
    BENDING,
    THICKNESS,
    SLICES
};
static const char* const slice_names[] = {
    "position",          "velocity", "young",    "poisson", "density",  "damping_mass",
    "damping_stiffness", "gravity",  "controls", "bending", "thickness"};
enum { LEVELS = 6 };  // step sizes of a difference, each a quarter of the one before

typedef struct rollout {
    sim sim;
    ct_tape* tape;
    int nstep, nvert, size;
    int ntet, ntri;  // elements: tets and triangles of sheets; of these the triangles
    int first[SLICES + 1];
    double* value;     // size: where the gradient is taken
    double* scale;     // size: natural length of each component
    double* gradient;  // size
    double* weight;    // per state: linear and quadratic weights of x and v, 12 nvert
    // of the last rollout: steps that were halved; states whose factor was refreshed; which steps were halved
    // how
    int substepped, refreshed;
    uint64_t signature;
    double loss, magnitude;  // of the last rollout; magnitude: sum of the sizes of its terms
    // rollouts of a difference halved different steps: their losses do not belong together
    bool jumped;
    double roundoff;  // of a loss, relative to its magnitude
} rollout;

static inline int slice_size(const rollout* r, int slice) {
    const int nodes = 3 * r->nvert;
    const int sizes[] = {nodes,
                         nodes,
                         r->ntet,
                         r->ntet,
                         r->ntet,
                         r->ntet,
                         r->ntet,
                         3,
                         r->nstep * ct_model_control_size(r->sim.model),
                         r->ntri ? r->ntet : 0,
                         r->ntri ? r->ntet : 0};
    return sizes[slice];
}

// ---- loss: sum over the states of a.x + b.x^2/2 + c.v + d.v^2/2

static inline bool counts(const rollout* r, int step) { return step == r->nstep || step % 3 == 0; }

static void add_loss(int step, const ct_state* state, void* user) {
    rollout* r = user;
    r->refreshed += state->header->reference != 0;
    if (!counts(r, step)) return;
    const int n = 3 * r->nvert;
    const double *w = r->weight + (size_t)step * 4 * n, *x = ct_state_positions(state),
                 *v = ct_state_velocities(state);
    for (int i = 0; i < n; i++) {
        const double term[2] = {w[i] * x[i] + 0.5 * w[n + i] * x[i] * x[i],
                                w[2 * n + i] * v[i] + 0.5 * w[3 * n + i] * v[i] * v[i]};
        r->loss += term[0] + term[1];
        r->magnitude += fabs(term[0]) + fabs(term[1]);
    }
}

static void add_seed(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar,
                     void* user) {
    (void)q_bar;
    const rollout* r = user;
    if (!counts(r, step)) return;
    const int n = 3 * r->nvert;
    const double *w = r->weight + (size_t)step * 4 * n, *x = ct_state_positions(state),
                 *v = ct_state_velocities(state);
    for (int i = 0; i < n; i++) {
        x_bar[i] += w[i] + w[n + i] * x[i];
        v_bar[i] += w[2 * n + i] + w[3 * n + i] * v[i];
    }
}

// ---- setting up

static void fill_values(rollout* r) {
    uint64_t seed = 17;
    const double* x = ct_state_positions(r->sim.state);
    const double* v = ct_state_velocities(r->sim.state);
    ct_settings settings = ct_model_settings(r->sim.model);
    double* at[SLICES];
    for (int s = 0; s < SLICES; s++) at[s] = r->value + r->first[s];
    memcpy(at[POSITION], x, 3 * (size_t)r->nvert * sizeof(double));
    memcpy(at[VELOCITY], v, 3 * (size_t)r->nvert * sizeof(double));
    ct_model_get(r->sim.model, CT_QUANTITY_YOUNG, at[YOUNG]);
    ct_model_get(r->sim.model, CT_QUANTITY_POISSON, at[POISSON]);
    ct_model_get(r->sim.model, CT_QUANTITY_DENSITY, at[DENSITY]);
    memcpy(at[GRAVITY], settings.gravity, sizeof settings.gravity);
    for (int i = 0; i < r->size; i++) r->scale[i] = 1;
    for (int i = 0; i < 3 * r->nvert; i++)
        r->scale[r->first[POSITION] + i] = 0.01, r->scale[r->first[VELOCITY] + i] = 0.3;
    for (int t = 0; t < r->ntet; t++) {
        r->scale[r->first[YOUNG] + t] = at[YOUNG][t];
        r->scale[r->first[POISSON] + t] = 0.05;
        r->scale[r->first[DENSITY] + t] = at[DENSITY][t];
        r->scale[r->first[DAMPING_STIFFNESS] + t] = 0.01;
    }
    for (int t = 0; r->ntri && t < r->ntet; t++) {
        at[BENDING][t] = r->sim.model->material[t].bending;
        at[THICKNESS][t] = r->scale[r->first[THICKNESS] + t] = r->sim.model->material[t].thickness;
    }
    for (int s = 0, size = ct_model_control_size(r->sim.model); s < r->nstep; s++)
        for (int k = 0; k < size; k++) {
            ct_control_info info = {0};
            for (int c = 0; c < ct_model_control_count(r->sim.model); c++) {
                info = ct_model_control_info(r->sim.model, c);
                if (k >= info.first && k < info.first + info.count) break;
            }
            const int i = r->first[CONTROLS] + s * size + k;
            r->scale[i] = info.kind == CT_CONTROL_FORCE        ? 0.5
                          : info.kind == CT_CONTROL_TENSION    ? 5
                          : info.kind == CT_CONTROL_LENGTH     ? 0.005
                          : info.kind == CT_CONTROL_ACTIVATION ? 0.2
                          : info.kind == CT_CONTROL_PRESSURE   ? 800
                          : k - info.first < 3                 ? 0.01
                                                               : 0.2;
            r->value[i] = r->scale[i] * noise(&seed);
        }
}

// Takes over the simulation; its materials' damping must be set by the caller in `value`.
static inline rollout rollout_start(sim sim, int nstep, size_t max_bytes) {
    rollout r = {.sim = sim, .nstep = nstep, .roundoff = 3e-15};
    ct_model_info info = ct_model_summary(sim.model);
    r.nvert = info.nvert, r.ntet = info.ntet + info.ntri, r.ntri = info.ntri;
    for (int s = 0; s < SLICES; s++) r.first[s + 1] = r.first[s] + slice_size(&r, s);
    r.size = r.first[SLICES];
    r.value = calloc((size_t)r.size, sizeof(double));
    r.scale = calloc((size_t)r.size, sizeof(double));
    r.gradient = calloc((size_t)r.size, sizeof(double));
    r.weight = calloc((size_t)(nstep + 1) * 12 * (size_t)r.nvert, sizeof(double));
    uint64_t seed = 99;
    const int n = 3 * r.nvert;
    for (int i = 0; i < (nstep + 1) * 4 * n; i++) r.weight[i] = noise(&seed) * (i / n % 4 < 2 ? 1 : 0.1);
    must(ct_tape_create(&r.tape, sim.model, nstep, max_bytes, NULL), NULL);
    fill_values(&r);
    return r;
}

static inline void rollout_stop(rollout* r) {
    ct_tape_free(r->tape);
    stop(&r->sim);
    free(r->value), free(r->scale), free(r->gradient), free(r->weight);
}

// ---- evaluation

static double evaluate(rollout* r, const double* y) {
    ct_error error = {0};
    double* at = (double*)y;  // only read
    const ct_values values = {.of = {[CT_QUANTITY_YOUNG] = at + r->first[YOUNG],
                                     [CT_QUANTITY_POISSON] = at + r->first[POISSON],
                                     [CT_QUANTITY_DENSITY] = at + r->first[DENSITY],
                                     [CT_QUANTITY_DAMPING_MASS] = at + r->first[DAMPING_MASS],
                                     [CT_QUANTITY_DAMPING_STIFFNESS] = at + r->first[DAMPING_STIFFNESS],
                                     [CT_QUANTITY_GRAVITY] = at + r->first[GRAVITY],
                                     [CT_QUANTITY_BENDING] = r->ntri ? at + r->first[BENDING] : NULL,
                                     [CT_QUANTITY_THICKNESS] = r->ntri ? at + r->first[THICKNESS] : NULL}};
    must(ct_model_set_values(r->sim.model, &values, NULL, &error), &error);
    must(ct_state_set(r->sim.state, y + r->first[POSITION], y + r->first[VELOCITY]), NULL);
    ct_rollout_report report;
    r->loss = r->magnitude = 0;
    r->refreshed = 0;
    const ct_status status = ct_rollout(r->sim.model, r->sim.work, r->tape, r->sim.state, r->nstep,
                                        y + r->first[CONTROLS], add_loss, r, &report);
    if (status != CT_OK)
        fail_msg("%s at step %d: residual %g of %g: %s", ct_status_text(status), report.steps,
                 report.last.residual, report.last.reference, report.last.message);
    r->substepped = report.substepped;
    r->signature = ct_tape_log(r->tape)->signature;
    return r->loss;
}

// Reverses the last evaluation into r->gradient.
static void reverse_rollout(rollout* r) {
    double* g[SLICES];
    for (int s = 0; s < SLICES; s++) g[s] = r->gradient + r->first[s];
    ct_values gradient = {.of = {[CT_QUANTITY_POSITION] = g[POSITION],
                                 [CT_QUANTITY_VELOCITY] = g[VELOCITY],
                                 [CT_QUANTITY_YOUNG] = g[YOUNG],
                                 [CT_QUANTITY_POISSON] = g[POISSON],
                                 [CT_QUANTITY_DENSITY] = g[DENSITY],
                                 [CT_QUANTITY_DAMPING_MASS] = g[DAMPING_MASS],
                                 [CT_QUANTITY_DAMPING_STIFFNESS] = g[DAMPING_STIFFNESS],
                                 [CT_QUANTITY_GRAVITY] = g[GRAVITY],
                                 [CT_QUANTITY_CONTROL] = slice_size(r, CONTROLS) ? g[CONTROLS] : NULL,
                                 [CT_QUANTITY_BENDING] = r->ntri ? g[BENDING] : NULL,
                                 [CT_QUANTITY_THICKNESS] = r->ntri ? g[THICKNESS] : NULL}};
    ct_backward_report report;
    const ct_status status = ct_backward(r->sim.model, r->sim.work, r->tape, r->value + r->first[CONTROLS],
                                         add_seed, r, &gradient, &report);
    if (status != CT_OK) fail_msg("backward: %s, residual %g", ct_status_text(status), report.max_residual);
}

static double evaluate_gradient(rollout* r) {
    const double loss = evaluate(r, r->value);
    reverse_rollout(r);
    return loss;
}

// ---- differences

// dL/dt of L(value + t d) at t = 0, of second order: central, or where d must not be walked backwards
// one-sided.
static double difference(rollout* r, const double* d, double h, bool one_sided, double* y) {
    double loss[3];
    for (int k = 0; k < 3; k++) {
        const double t = one_sided ? k * h : (k - 1) * h;
        if (!one_sided && k == 1) continue;
        for (int i = 0; i < r->size; i++) y[i] = r->value[i] + t * d[i];
        const uint64_t signature = r->signature;
        loss[k] = evaluate(r, y);
        r->jumped |= r->signature != signature;
    }
    return one_sided ? (4 * loss[1] - 3 * loss[0] - loss[2]) / (2 * h) : (loss[2] - loss[0]) / (2 * h);
}

typedef struct judgement {
    double best;  // smallest relative error of the extrapolated differences
    // of the errors above round-off, 2 (or more, where the second order vanishes) for a right derivative;
    // NAN: at round-off from the start
    double slope;
    double error[LEVELS];
} judgement;

// Errors of the derivative along d over step sizes from h on, relative to the derivative.
static judgement judge(rollout* r, const double* d, double h, bool one_sided) {
    double derivative = 0, magnitude = 0;
    for (int i = 0; i < r->size; i++)
        derivative += r->gradient[i] * d[i], magnitude += pow(r->gradient[i] * d[i], 2);
    magnitude = fmax(fmax(fabs(derivative), 0.1 * sqrt(magnitude)), 1e-300);
    double* y = calloc((size_t)r->size, sizeof(double));
    judgement j = {.best = INFINITY, .slope = NAN};
    double coarser = 0;
    for (int k = 0; k < LEVELS; k++, h /= 4) {
        const double finer = difference(r, d, h, one_sided, y);
        j.error[k] = fabs(finer - derivative) / magnitude;
        // two step sizes together cancel the term of second order
        if (k > 0) j.best = fmin(j.best, fabs((16 * finer - coarser) / 15 - derivative) / magnitude);
        const double noise = r->roundoff * r->magnitude / (h * magnitude);
        if (k > 0 && j.error[k - 1] < 1e-2 && j.error[k] > 10 * noise)
            j.slope = log(j.error[k - 1] / j.error[k]) / log(4);
        coarser = finer;
    }
    free(y);
    return j;
}

static void assert_judged(const judgement* j, double tolerance, const char* what) {
    const double* e = j->error;
    if (!(j->best <= tolerance) || (j->slope == j->slope && j->slope < 1.8))
        fail_msg("%s: errors %.1e %.1e %.1e %.1e %.1e %.1e, extrapolated %.1e, slope %.2f", what, e[0], e[1],
                 e[2], e[3], e[4], e[5], j->best, j->slope);
}

// A random direction within slice s, in natural lengths; `positive`: none of its components negative.
static void random_direction(const rollout* r, int s, bool positive, uint64_t* seed, double* d) {
    memset(d, 0, (size_t)r->size * sizeof(double));
    for (int i = r->first[s]; i < r->first[s + 1]; i++)
        d[i] = r->scale[i] * (positive ? fabs(noise(seed)) : noise(seed));
}

// A random component of slice s, or the first behind it whose derivative is not small beside the largest:
// differences by the others drown in round-off.
static inline int large_component(const rollout* r, int s, uint64_t* seed) {
    const int first = r->first[s], size = slice_size(r, s);
    double most = 0;
    for (int i = first; i < first + size; i++) most = fmax(most, fabs(r->gradient[i] * r->scale[i]));
    int k = (int)(fabs(noise(seed)) * (size - 1e-9));
    while (fabs(r->gradient[first + k] * r->scale[first + k]) < 0.3 * most) k = (k + 1) % size;
    return first + k;
}

// A random direction and `components` single components of every slice.
// False when the rollouts of a difference halved different steps.
static inline bool check_slices(rollout* r, double h, double tolerance, int components, const char* name) {
    evaluate_gradient(r);
    double* d = calloc((size_t)r->size, sizeof(double));
    uint64_t seed = 5;
    r->jumped = false;
    for (int s = 0; s < SLICES && !r->jumped; s++) {
        const bool edge = (s == DAMPING_MASS || s == DAMPING_STIFFNESS) && r->value[r->first[s]] == 0;
        for (int k = 0; k <= REPEAT(components, 0) && slice_size(r, s) > 0; k++) {
            char what[256];
            random_direction(r, s, edge, &seed, d);
            if (k > 0) {
                const int i = large_component(r, s, &seed);
                memset(d, 0, (size_t)r->size * sizeof(double));
                d[i] = r->scale[i];
                snprintf(what, sizeof what, "%s: %s[%d]", name, slice_names[s], i - r->first[s]);
            } else snprintf(what, sizeof what, "%s: %s", name, slice_names[s]);
            const judgement j = judge(r, d, h, edge);
            if (r->jumped) break;
            assert_judged(&j, k > 0 ? 10 * tolerance : tolerance, what);
        }
    }
    free(d);
    return !r->jumped;
}

#endif
