// The gradient of a problem against central differences, over several step sizes.
//
//   fd_i(h) = (L(y + h e_i) - L(y - h e_i)) / 2h,   h_k = step max(|y|_slice, 1 where that is 0) / 4^k
//
// Of each slice some components are compared: the largest derivative, the others spread evenly with a random
// offset. The error of a slice at h_k is max_i |g_i - fd_i| over max_i |g_i|. Where truncation dominates it
// falls with the square of h: the slope of log error over log h is 2. Differences that drown in the noise of
// the loss (NOISE) count for nothing. A point at a bound is moved inside by the largest step. Steps at which
// a rollout does not converge are left out.
//
// Where a contact opens, sticks or slips in one rollout and not in the other, the loss has a kink between
// them and its differences say nothing of the gradient. The contacts of every sample are compared with those
// at y, step by step (step/contact_log.h). Where no step size passes, one at which nothing switches is
// reported, if there is one.
//
// Where the scene is given, every sample is run on a model that is built from it with the values of the
// sample (optim/fresh.h); otherwise the model of the problem takes those values.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "optim/fresh.h"
#include "step/contact_log.h"

#define NOISE 1e-11  // of a loss, relative
enum { MAX_LEVELS = 12 };

ct_check_def ct_check_def_default(void) {
    return (ct_check_def){.components = 4, .step = 1e-3, .levels = 5, .tolerance = 1e-6, .seed = 1};
}

typedef struct check {
    ct_problem* problem;
    const ct_check_def* def;
    double *y, *gradient, *lower, *upper;  // size
    int* chosen;                           // size, components of the present slice
    double loss, residual;                 // at y
    ct_contact_log at_y;                   // contacts of the rollout at y
} check;

// ---- which components ----------------------------------------------------------------------

static double random_unit(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / (double)(1ull << 53);
}

// One from each of `count` equal stretches, the largest derivative in place of its neighbour; returns how
// many.
static int choose(check* c, const ct_slice* slice) {
    const double* g = c->gradient + slice->first;
    int count =
            c->def->components > 0 && c->def->components < slice->count ? c->def->components : slice->count,
        largest = 0;
    uint64_t seed = c->def->seed + 977 * (uint64_t)slice->first;
    for (int i = 1; i < slice->count; i++)
        if (fabs(g[i]) > fabs(g[largest])) largest = i;
    for (int k = 0; k < count; k++) {
        double first = (double)k * slice->count / count, next = (double)(k + 1) * slice->count / count;
        int i = count == slice->count ? k : (int)(first + random_unit(&seed) * (next - first));
        if (largest >= (int)first && largest < (int)next) i = largest;
        c->chosen[k] = i < slice->count ? i : slice->count - 1;
    }
    return count;
}

// ---- differences ---------------------------------------------------------------------------

static double slice_step(const check* c, const ct_slice* slice) {
    double most = 0;
    for (int i = 0; i < slice->count; i++) most = fmax(most, fabs(c->y[slice->first + i]));
    return c->def->step * (most > 0 ? most : 1);
}

// Largest step of component i that stays within bounds.
static double room(const check* c, int i, double h) { return fmin(h, 0.5 * (c->upper[i] - c->lower[i])); }

// What the contacts of the last rollout do otherwise than at y, added to what is known.
static void compare_contacts(const check* c, ct_check_slice* found) {
    const ct_contact_log* log = ct_tape_log(c->problem->tape);
    if (log->signature == c->at_y.signature) return;
    int known = found->switches < CT_SWITCHES ? found->switches : CT_SWITCHES, halved;
    found->switches +=
        ct_contact_log_compare(&c->at_y, log, found->switched + known, CT_SWITCHES - known, &halved);
    if (halved >= 0 && (found->halved < 0 || halved < found->halved)) found->halved = halved;
}

// The loss at y, in the model of the problem or in one of its own.
static ct_status sample(check* c, double* loss, ct_check_slice* found, ct_error* error) {
    ct_problem* problem = c->problem;
    ct_problem_report report;
    ct_fresh kept;
    ct_status status = CT_OK;
    if (c->def->scene) {
        status = ct_fresh_begin(&kept, problem, c->def->scene, c->y, error);
        if (status != CT_OK) return status;
        ct_tape_log(problem->tape)->keep = true;
    }
    status = ct_problem_evaluate(problem, c->y, loss, NULL, &report, error);
    if (status == CT_OK) {
        compare_contacts(c, found);
        found->residual = fmax(found->residual, report.forward.max_residual);
    }
    if (c->def->scene) ct_fresh_end(&kept, problem);
    return status;
}

// Central difference of component i; NAN: a rollout did not converge.
static ct_status difference(check* c, int i, double h, double* slope, ct_check_slice* found,
                            ct_error* error) {
    double y = c->y[i], loss[2];
    ct_status status = CT_OK;
    for (int side = 0; side < 2 && status == CT_OK; side++) {
        c->y[i] = side ? y + h : y - h;
        status = sample(c, &loss[side], found, error);
    }
    double width = (y + h) - (y - h);  // as it was in floating point
    c->y[i] = y;
    *slope = status == CT_OK ? (loss[1] - loss[0]) / width : NAN;
    return status == CT_NOT_CONVERGED ? CT_OK : status;
}

// Error of a slice at one step size; the worst component goes to *worst, what the loss's noise makes of it to
// *floor.
static ct_status level_error(check* c, const ct_slice* slice, int count, double h, ct_check_slice* worst,
                             double* floor, ct_error* error) {
    double scale = 0, noise = 0, most = -1;
    *floor = 0;
    for (int k = 0; k < count; k++) {
        int i = slice->first + c->chosen[k];
        double own = room(c, i, h), fd, g = c->gradient[i];
        if (!(own > 0)) continue;
        ct_status status = difference(c, i, own, &fd, worst, error);
        if (status != CT_OK) return status;
        if (isnan(fd)) return worst->relative_error = INFINITY, CT_OK;
        scale = fmax(scale, fmax(fabs(g), fabs(fd)));
        noise = fmax(noise, NOISE * fabs(c->loss) / own);
        if (fabs(g - fd) <= most) continue;
        most = fabs(g - fd);
        worst->worst = c->chosen[k];
        worst->worst_gradient = g;
        worst->worst_difference = fd;
    }
    worst->relative_error = most <= 0 ? 0 : most / scale;
    worst->unresolved = most > 0 && scale <= noise;
    *floor = scale > 0 ? noise / scale : 0;
    return CT_OK;
}

// ---- slices --------------------------------------------------------------------------------

// What round-off makes of the error at a level, judged by the errors at finer ones: it grows as the step
// shrinks.
static double noise_at(const double* error, int levels, int level) {
    double most = 0, share = 1;
    for (int k = level + 1; k < levels; k++) {
        share /= 4;
        if (isfinite(error[k])) most = fmax(most, share * error[k]);
    }
    return most;
}

// Slope over the levels that are well above the smallest error and above the noise; a wrong gradient has
// about 0. An error may be small by chance, but none is known to less than its round-off.
static double find_slope(const double* error, const double* floor, int levels, double least, bool passed) {
    const double above = 30;
    int last = 1;
    if (levels < 2 || !isfinite(error[0]) || !isfinite(error[1]) || error[1] <= 0) return NAN;
    if (passed && error[0] <= above * least) return NAN;
    while (last + 1 < levels && isfinite(error[last + 1]) &&
           error[last + 1] > fmax(above * least, floor[last + 1]))
        last++;
    double slope = log(error[0] / fmax(error[last], noise_at(error, levels, last))) / (last * log(4));
    return passed && slope < 0.5 ? NAN : slope;  // an error that grows as the step shrinks is round-off
}

static bool smooth(const ct_check_slice* found) { return found->switches == 0 && found->halved < 0; }

// Whether a step size says more than another: it passes, its contacts stay as they are, its error is smaller.
static bool better(const ct_check_slice* found, const ct_check_slice* than, double tolerance) {
    bool passed = found->relative_error <= tolerance, passed_than = than->relative_error <= tolerance;
    if (passed != passed_than) return passed;
    if (!passed && isfinite(found->relative_error) && isfinite(than->relative_error) &&
        smooth(found) != smooth(than))
        return smooth(found);
    return found->relative_error < than->relative_error;
}

// Step sizes at which derivatives drown in the noise of the loss say nothing, neither for nor against a
// gradient. The others decide; where their errors only fall, as those of a right gradient do, and end in the
// noise before they pass, nothing is decided.
static ct_status check_slice(check* c, const ct_slice* slice, ct_check_slice* result, ct_error* error) {
    double errors[MAX_LEVELS], floors[MAX_LEVELS], floor, h = slice_step(c, slice);
    int count = choose(c, slice), levels = c->def->levels, valid = 0, clear = 0;
    ct_check_slice last = {0};
    *result = (ct_check_slice){.relative_error = INFINITY, .slope = NAN, .halved = -1};
    for (int level = 0; level < levels; level++, h *= 0.25) {
        ct_check_slice found = {.halved = -1, .residual = c->residual};
        ct_status status = level_error(c, slice, count, h, &found, &floor, error);
        if (status != CT_OK) return status;
        last = found;
        if (found.unresolved) continue;
        clear++;
        // the largest steps went too far
        bool far = (isinf(found.relative_error) || !smooth(&found)) && valid == 0 && level + 2 < levels;
        if (!far) floors[valid] = floor, errors[valid++] = found.relative_error;
        if (better(&found, result, c->def->tolerance)) *result = found;
    }
    if (!clear) *result = last;
    memcpy(result->name, slice->name, sizeof result->name);
    result->passed = result->relative_error <= c->def->tolerance;
    result->slope = find_slope(errors, floors, valid, result->relative_error, result->passed);
    result->unresolved = !clear || (!result->passed && last.unresolved && result->slope > 1.5);
    if (result->unresolved) result->passed = true, result->relative_error = 0;
    return CT_OK;
}

// Room for the largest step on both sides of every component.
static void move_inside(check* c, const ct_slice* slice) {
    double h = slice_step(c, slice);
    for (int i = slice->first; i < slice->first + slice->count; i++) {
        double own = room(c, i, h);
        c->y[i] = fmin(fmax(c->y[i], c->lower[i] + own), c->upper[i] - own);
    }
}

// The contacts at y stay with the check, those of the samples come into the tape's log.
static ct_status evaluate_start(check* c, ct_error* error) {
    ct_contact_log* log = ct_tape_log(c->problem->tape);
    ct_problem_report report;
    log->keep = true;
    ct_status status = ct_problem_evaluate(c->problem, c->y, &c->loss, c->gradient, &report, error);
    c->residual = report.forward.max_residual;
    c->at_y = *log;
    *log = (ct_contact_log){.keep = true};
    return status;
}

static ct_status check_slices(check* c, ct_check_slice* slices, ct_error* error) {
    int count = ct_problem_slice_count(c->problem);
    ct_slice slice;
    ct_problem_bounds(c->problem, c->lower, c->upper);
    for (int k = 0; k < count; k++) {
        slice = ct_problem_slice(c->problem, k);
        move_inside(c, &slice);
    }
    ct_status status = evaluate_start(c, error);
    int wanted = c->def->slices > 0 && c->def->slices < count ? c->def->slices : count;
    for (int k = 0; k < count && status == CT_OK; k++) {
        slice = ct_problem_slice(c->problem, k);
        slices[k] = (ct_check_slice){.skipped = true, .passed = true, .slope = NAN, .halved = -1};
        memcpy(slices[k].name, slice.name, sizeof slices[k].name);
        if ((int64_t)k * wanted / count == (int64_t)(k - 1) * wanted / count && k > 0) continue;
        status = check_slice(c, &slice, &slices[k], error);
    }
    if (status == CT_OK) ct_error_clear(error);  // of steps that were left out
    return status;
}

ct_status ct_problem_check(ct_problem* problem, const double* y, const ct_check_def* def,
                           ct_check_slice* slices, ct_error* error) {
    CT_NEED(error, problem, def);
    ct_error_clear(error);
    if (def->levels < 2 || def->levels > MAX_LEVELS)
        return ct_fail(error, CT_BAD_ARGUMENT, "levels must be between 2 and %d, it is %d", MAX_LEVELS,
                       def->levels);
    if (!(def->step > 0 && def->step < 1))
        return ct_fail(error, CT_BAD_ARGUMENT, "step must be between 0 and 1, it is %g", def->step);
    size_t n = (size_t)ct_problem_size(problem);
    ct_arena arena = {0};
    check c = {.problem = problem,
               .def = def,
               .y = ct_arena_copy(&arena, y, n, sizeof(double)),
               .gradient = ct_arena_alloc(&arena, n, sizeof(double)),
               .lower = ct_arena_alloc(&arena, n, sizeof(double)),
               .upper = ct_arena_alloc(&arena, n, sizeof(double)),
               .chosen = ct_arena_alloc(&arena, n, sizeof(int))};
    ct_status status =
        arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : check_slices(&c, slices, error);
    ct_contact_log_free(&c.at_y);
    ct_tape_log(problem->tape)->keep = false;
    ct_arena_free(&arena);
    return status;
}
