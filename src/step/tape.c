// Rollouts and their reverse. The tape keeps the states of a rollout: all of them, or as many as a byte
// budget allows; then the reverse runs from checkpoint to checkpoint, replaying what lies between. A replay
// is exact to the last bit, so the gradient does not depend on the budget.
//
// With s slots, a stretch of up to s steps is kept whole. A longer one is cut by checkpoints in half of the
// slots, and every part, the last one first, is reversed with the slots that are left. One slot alone replays
// for every step.
//
// Beside a state the tape keeps what the step from it did, its sub-steps and contacts, which the adjoint
// needs; where steps lie between the states, their replay notes it.
//
// A reverse overwrites all checkpoints but the first. A further one on the same rollout begins by running all
// steps again from there, to the same bits.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/blas.h"
#include "base/clock.h"
#include "base/status.h"
#include "step/contact_log.h"
#include "step/refuse.h"
#include "step/settle.h"
#include "step/start.h"
#include "step/vector.h"

enum { MINIMUM_SLOTS = 3 };

struct ct_tape {
    ct_arena arena;
    size_t state_size;
    int max_steps, nslot;
    int steps;            // of the last rollout
    int stride;           // steps between the states that the rollout kept
    bool overwritten;     // a reverse has used the slots of those states, but for the first
    unsigned char* slot;  // nslot states
    ct_record* record;    // nslot: of the step from that state; one more for steps whose state is not kept
    ct_contact_log log;   // of the last rollout
};

static const char* const less = "give fewer max_bytes, so that fewer states are kept, or a coarser mesh";

ct_status ct_tape_create(ct_tape** out, const ct_model* model, int max_steps, size_t max_bytes,
                         ct_error* error) {
    CT_NEED(error, out, model);
    ct_error_clear(error);
    *out = NULL;
    if (max_steps < 1)
        return ct_fail(error, CT_BAD_ARGUMENT, "max_steps is %d: a tape needs room for 1 step or more",
                       max_steps);
    ct_tape* tape = ct_alloc(1, sizeof *tape);
    ct_state* state = NULL;
    if (!tape || ct_state_create(&state, model, NULL) != CT_OK) {
        ct_free(tape);
        return ct_fail_making(error, CT_OUT_OF_MEMORY, "a tape", less);
    }
    tape->state_size = state->size;
    ct_state_free(state);
    size_t slots = max_bytes ? max_bytes / tape->state_size : (size_t)max_steps + 1;
    if (slots > (size_t)max_steps + 1) slots = (size_t)max_steps + 1;
    if (slots < MINIMUM_SLOTS && slots < (size_t)max_steps + 1)
        slots = max_steps + 1 < MINIMUM_SLOTS ? (size_t)max_steps + 1 : MINIMUM_SLOTS;
    tape->nslot = (int)slots;
    tape->max_steps = max_steps;
    tape->slot =
        ct_resize(NULL, slots, tape->state_size);  // not cleared: states are written before they are read
    tape->record = ct_arena_alloc(&tape->arena, slots + 1, sizeof *tape->record);
    if (tape->arena.failed || !tape->slot) {
        ct_tape_free(tape);
        return ct_fail_making(error, CT_OUT_OF_MEMORY, "a tape", less);
    }
    *out = tape;
    return CT_OK;
}

void ct_tape_free(ct_tape* tape) {
    if (!tape) return;
    for (int i = 0; tape->record && i <= tape->nslot; i++) ct_record_free(&tape->record[i]);
    ct_contact_log_free(&tape->log);
    ct_free(tape->slot);
    ct_arena_free(&tape->arena);
    ct_free(tape);
}

size_t ct_tape_bytes(const ct_tape* tape) {
    size_t bytes = tape->arena.bytes + (size_t)tape->nslot * tape->state_size;
    for (int i = 0; i <= tape->nslot; i++) bytes += ct_record_bytes(&tape->record[i]);
    return bytes;
}

ct_contact_log* ct_tape_log(ct_tape* tape) { return &tape->log; }
int ct_tape_steps(const ct_tape* tape) { return tape->steps; }

static unsigned char* slot(ct_tape* tape, int index) { return tape->slot + (size_t)index * tape->state_size; }

// ---- forward -------------------------------------------------------------------------------

static const double* control_of(const ct_model* model, const double* controls, int step) {
    return controls ? controls + (size_t)step * (size_t)model->inputs.control_size : NULL;
}

static void note(ct_rollout_report* report, const ct_step_report* step, ct_integrator wanted) {
    report->steps++;
    report->substepped += step->substeps > 1;
    report->substeps += step->substeps;
    report->lowered += step->integrator != wanted;
    report->edges += !step->smooth;
    report->solves += step->solves;
    if (step->inverted > report->inverted) report->inverted = step->inverted;
    if (step->reference > 0)
        report->max_residual = fmax(report->max_residual, step->residual / step->reference);
    report->last = *step;
}

// Takes a step and notes what it did in a record of the tape.
static ct_status step_noted(const ct_model* model, ct_work* work, ct_tape* tape, int record, ct_state* state,
                            const double* control, ct_step_report* report) {
    work->record = &tape->record[record];
    ct_status status = ct_step(model, work, state, control, report);
    work->record = NULL;
    return status;
}

// Steps between the kept states of a stretch of `length` steps with `slots` to keep them in: 1 when all fit.
static int stride_for(int length, int slots) {
    if (length <= slots) return 1;
    int count = slots / 2 > 2 ? slots / 2 : 2;
    return (length + count - 1) / count;
}

// True, with the reason in the report, when a rollout cannot begin.
static bool refuses(const ct_model* model, const ct_work* work, const ct_tape* tape, const ct_state* initial,
                    int nstep, ct_step_report* report) {
    if (ct_refuse_state(model, work, initial, report)) return true;
    if (initial->size == tape->state_size && nstep >= 0 && nstep <= tape->max_steps) return false;
    snprintf(
        report->message, sizeof report->message,
        "a rollout of %d steps does not fit the tape: it was made for up to %d steps of states of %zu bytes, "
        "these have %zu",
        nstep, tape->max_steps, tape->state_size, initial->size);
    return true;
}

ct_status ct_rollout(const ct_model* model, ct_work* work, ct_tape* tape, const ct_state* initial, int nstep,
                     const double* controls, ct_visit visit, void* user, ct_rollout_report* report) {
    CT_NEED(NULL, model, work, tape, initial);
    ct_rollout_report local;
    if (!report) report = &local;
    memset(report, 0, sizeof *report);
    tape->steps = tape->stride = 0;
    tape->overwritten = false;
    if (refuses(model, work, tape, initial, nstep, &report->last)) return CT_BAD_ARGUMENT;
    double started = ct_clock();
    ct_state* state = NULL;
    ct_status status = ct_state_create(&state, model, NULL);
    if (status == CT_OK) status = ct_state_copy(state, initial);
    ct_contact_log_clear(&tape->log);
    tape->stride = nstep + 1 <= tape->nslot ? 1 : stride_for(nstep, tape->nslot - 1);
    for (int i = 0; status == CT_OK && i <= nstep; i++) {
        if (visit) visit(i, state, user);
        if (i % tape->stride == 0 && (i < nstep || tape->stride == 1))
            memcpy(slot(tape, i / tape->stride), state->header, state->size);
        if (i == nstep) break;
        ct_step_report step;
        int record = tape->stride == 1 ? i : tape->nslot;
        status = step_noted(model, work, tape, record, state, control_of(model, controls, i), &step);
        note(report, &step, model->settings.integrator);
        if (status == CT_OK) status = ct_contact_log_add(&tape->log, i, &tape->record[record]);
    }
    report->signature = tape->log.signature;
    if (status == CT_OK) tape->steps = nstep;
    else tape->stride = 0;
    ct_state_free(state);
    report->seconds = ct_clock() - started;
    return status;
}

// ---- reverse -------------------------------------------------------------------------------

typedef struct reverse_context {
    const ct_model* model;
    ct_work* work;
    ct_tape* tape;
    const double* controls;
    double* controls_bar;
    ct_seed seed;
    ct_state_seed state_seed;
    void* user;
    double* state_bar;  // of a state's vector, where state_seed wants one
    bool given;         // the initial state is given: where it came from does not count
    ct_adjoint* adjoint;
    ct_adjoint_state bar;
    ct_sums sums;
    ct_state *before, *after, *spare;
    ct_backward_report* report;
} reverse_context;

// Adds what the loss says of a state.
static void add_seed(reverse_context* c, int step, const ct_state* state) {
    if (c->seed) c->seed(step, state, c->bar.x, c->bar.v, c->bar.q, c->user);
    if (!c->state_seed) return;
    memset(c->state_bar, 0, ct_model_state_first(c->model, CT_STATE_PARTS) * sizeof(double));
    if (c->state_seed(step, state, c->state_bar, c->user))
        ct_vector_to_adjoint(c->model, state, c->state_bar, &c->bar);
}

// Reverses step `index`, whose state before is at `bytes` and whose state after is c->after; then that before
// is c->after. `record`: of the tape's, what the step did.
static ct_status reverse_step(reverse_context* c, const unsigned char* bytes, int record, int index) {
    ct_status status = ct_state_restore(c->before, bytes, c->tape->state_size);
    if (status != CT_OK) return status;
    double* control_bar =
        c->controls_bar ? c->controls_bar + (size_t)index * (size_t)c->model->inputs.control_size : NULL;
    double started = ct_clock();
    ct_blas_begin();
    status =
        ct_adjoint_step(c->model, c->work, c->adjoint, c->before, c->after, &c->tape->record[record],
                        control_of(c->model, c->controls, index), &c->bar, &c->sums, control_bar, c->report);
    ct_blas_end();
    c->report->adjoint_seconds += ct_clock() - started;
    if (status == CT_OK) add_seed(c, index, c->before);
    ct_state* swap = c->before;
    c->before = c->after;
    c->after = swap;
    return status;
}

// Runs c->after from the state `first` in slot `from` to `last` and keeps every stride-th state before the
// last in the slots that follow; with stride 1, what the steps did beside them.
static ct_status replay(reverse_context* c, int from, int first, int last, int stride) {
    ct_status status = ct_state_restore(c->after, slot(c->tape, from), c->tape->state_size);
    for (int i = first; status == CT_OK && i < last; i++) {
        if (i > first && (i - first) % stride == 0)
            memcpy(slot(c->tape, from + (i - first) / stride), c->after->header, c->tape->state_size);
        status = step_noted(c->model, c->work, c->tape, stride == 1 ? from + i - first : c->tape->nslot,
                            c->after, control_of(c->model, c->controls, i), NULL);
        c->report->replayed++;
    }
    return status;
}

// One slot: every step from the beginning.
static ct_status reverse_one_by_one(reverse_context* c, int from, int first, int last) {
    ct_status status = CT_OK;
    for (int i = last - 1; status == CT_OK && i >= first; i--) {
        status = replay(c, from, first, i, last);
        if (status == CT_OK) status = ct_state_copy(c->spare, c->after);
        if (status == CT_OK)
            status = step_noted(c->model, c->work, c->tape, c->tape->nslot, c->after,
                                control_of(c->model, c->controls, i), NULL);
        c->report->replayed++;
        if (status == CT_OK) status = reverse_step(c, ct_state_bytes(c->spare), c->tape->nslot, i);
    }
    return status;
}

// Reverses steps [first, last): the state `first` is in slot `from`, states every `stride` steps follow it
// there; for stride 1 the state `last` is c->after.
static ct_status reverse(reverse_context* c, int from, int first, int last, int stride) {
    ct_status status = CT_OK;
    if (stride == 1) {
        for (int i = last - 1; status == CT_OK && i >= first; i--)
            status = reverse_step(c, slot(c->tape, from + i - first), from + i - first, i);
        return status;
    }
    for (int part = (last - first - 1) / stride; status == CT_OK && part >= 0; part--) {
        int begin = first + part * stride, end = begin + stride < last ? begin + stride : last;
        int at = from + part, slots = c->tape->nslot - at;
        if (slots == 1 && end - begin > 1) {
            status = reverse_one_by_one(c, at, begin, end);
            continue;
        }
        int finer = stride_for(end - begin, slots);
        status = replay(c, at, begin, end, finer);
        if (status == CT_OK) status = reverse(c, at, begin, end, finer);
    }
    return status;
}

static ct_status prepare(reverse_context* c, ct_arena* arena, ct_values* gradient) {
    const ct_model* model = c->model;
    c->bar = ct_vector_adjoint(model, arena);
    if (c->state_seed)
        c->state_bar = ct_arena_alloc(arena, ct_model_state_first(model, CT_STATE_PARTS), sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    ct_status status = ct_model_begin_sums(model, gradient, arena, &c->sums);
    if (status == CT_OK) status = ct_adjoint_create(&c->adjoint, model);
    if (status == CT_OK) status = ct_state_create(&c->before, model, NULL);
    if (status == CT_OK) status = ct_state_create(&c->after, model, NULL);
    if (status == CT_OK) status = ct_state_create(&c->spare, model, NULL);
    return status;
}

// The last state's seed comes first; the state is in the last slot that the rollout filled, or some steps
// after it. Where an earlier reverse has overwritten these slots, a replay of all steps fills them again.
static ct_status seed_last(reverse_context* c) {
    ct_tape* tape = c->tape;
    int part = tape->stride == 1 ? tape->steps : tape->overwritten ? 0 : (tape->steps - 1) / tape->stride;
    ct_status status = replay(c, part, part * tape->stride, tape->steps, tape->stride);
    tape->overwritten = tape->stride > 1;
    if (status == CT_OK) add_seed(c, tape->steps, c->after);
    return status;
}

// x0 = phi(q0), v0 = B(q0) qdot0: initial coordinates and rates of the joints, in their own units.
static void to_joints(const reverse_context* c, double* position_bar, double* velocity_bar) {
    const ct_model* model = c->model;
    const ct_tree* tree = &model->tree;
    ct_work* work = c->work;
    // c->after is the initial state by now
    memcpy(work->at.x, c->after->x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(work->at.q, c->after->q, (size_t)tree->ncoordinate * sizeof(double));
    ct_config_place(tree, &work->at);
    ct_config_scratch scratch = {work->wrench, work->moments, work->scratch, work->curvature};
    ct_config_start_vjp(tree, &work->at, c->after->rate, c->bar.x, c->bar.v, &scratch, position_bar,
                        velocity_bar);
}

static ct_status deliver(const ct_model* model, reverse_context* c, ct_values* gradient) {
    const size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    double *position = gradient->of[CT_QUANTITY_POSITION], *velocity = gradient->of[CT_QUANTITY_VELOCITY];
    double *joint_position = gradient->of[CT_QUANTITY_JOINT_POSITION],
           *joint_velocity = gradient->of[CT_QUANTITY_JOINT_VELOCITY];
    const int64_t how = c->after->header->settled;
    const bool settled = how != CT_SETTLED_NOT && how != CT_SETTLED_RELAXED;
    ct_status status = CT_OK;
    // a state set by hand has its own position as history
    if (position) memcpy(position, c->bar.x, bytes);
    if (velocity) memcpy(velocity, c->bar.v, bytes);
    if (c->after->header->followed) {
        const ct_start_bar bar = {joint_position, joint_velocity, velocity, c->sums.of[CT_SUM_MASS]};
        const ct_tree* tree = &model->tree;
        status = ct_start_vjp(model, c->after, c->bar.x, c->bar.v, &bar);
        for (int i = 0; position && i < ct_tree_node_count(tree); i++)
            memset(position + 3 * (size_t)tree->node[i], 0, 3 * sizeof(double));
    } else if (model->tree.nlink) to_joints(c, joint_position, joint_velocity);
    for (int j = 0; joint_position && j < model->tree.ndof; j++)
        joint_position[j] = settled ? 0 : joint_position[j] + c->bar.q[j];
    ct_model_finish_sums(model, &c->sums);
    return status;
}

static bool wants_any(const ct_values* gradient) {
    for (int i = 0; i < CT_QUANTITY_COUNT; i++)
        if (gradient->of[i]) return true;
    return false;
}

static void free_context(reverse_context* c, ct_arena* arena) {
    ct_adjoint_free(c->adjoint);
    ct_state_free(c->before);
    ct_state_free(c->after);
    ct_state_free(c->spare);
    ct_arena_free(arena);
}

// Of a rollout on the tape, under the seeds in `c`.
static ct_status go_back(reverse_context* c, ct_values* gradient, double* initial_bar,
                         ct_backward_report* report) {
    ct_backward_report local;
    ct_values none = {0};
    const ct_model* model = c->model;
    ct_tape* tape = c->tape;
    if (!report) report = &local;
    if (!gradient) gradient = &none;
    memset(report, 0, sizeof *report);
    if (!tape->stride) return CT_BAD_ARGUMENT;
    if (model->solver->has_gradients && !model->solver->has_gradients(&model->settings))
        return CT_UNSUPPORTED;
    double started = ct_clock();
    ct_arena arena = {0};
    c->report = report;
    c->controls_bar = gradient->of[CT_QUANTITY_CONTROL];
    if (c->controls_bar)
        memset(c->controls_bar, 0,
               (size_t)(tape->steps > 0 ? tape->steps : 1) * (size_t)model->inputs.control_size *
                   sizeof(double));
    ct_status status = prepare(c, &arena, gradient);
    if (status == CT_OK) status = seed_last(c);
    if (status == CT_OK) status = reverse(c, 0, 0, tape->steps, tape->stride);
    // the initial state as it is, not as it was before it settled
    if (status == CT_OK && initial_bar) ct_vector_from_adjoint(model, c->after, &c->bar, initial_bar);
    if (status == CT_OK && c->after->header->settled && !c->given && (!initial_bar || wants_any(gradient)))
        status =
            ct_settle_vjp(model, c->work, c->after, c->controls, &c->bar, &c->sums, c->controls_bar, report);
    if (status == CT_OK) status = deliver(model, c, gradient);
    free_context(c, &arena);
    report->seconds = ct_clock() - started;
    return status;
}

ct_status ct_backward(const ct_model* model, ct_work* work, ct_tape* tape, const double* controls,
                      ct_seed seed, void* user, ct_values* gradient, ct_backward_report* report) {
    CT_NEED(NULL, model, work, tape);
    reverse_context c = {
        .model = model, .work = work, .tape = tape, .controls = controls, .seed = seed, .user = user};
    return go_back(&c, gradient, NULL, report);
}

ct_status ct_backward_states(const ct_model* model, ct_work* work, ct_tape* tape, const double* controls,
                             ct_state_seed seed, void* user, double* initial_bar, ct_values* gradient,
                             ct_backward_report* report) {
    CT_NEED(NULL, model, work, tape);
    reverse_context c = {
        .model = model, .work = work, .tape = tape, .controls = controls, .state_seed = seed, .user = user};
    return go_back(&c, gradient, initial_bar, report);
}

// ---- one step ------------------------------------------------------------------------------

typedef struct end_seed {
    const double* bar;
    size_t size;
} end_seed;

static bool seed_end(int step, const ct_state* state, double* state_bar, void* user) {
    const end_seed* end = user;
    if (step == 1) memcpy(state_bar, end->bar, end->size * sizeof(double));
    return step == 1;
}

ct_status ct_step_vjp(const ct_model* model, ct_work* work, const ct_state* before, const double* control,
                      double* state_bar, ct_values* gradient, ct_backward_report* report) {
    CT_NEED(NULL, model, work, before);
    ct_tape* tape = NULL;
    end_seed end = {state_bar, ct_model_state_first(model, CT_STATE_PARTS)};
    if (report) memset(report, 0, sizeof *report);
    ct_status status = ct_tape_create(&tape, model, 1, 0, NULL);
    if (status == CT_OK) status = ct_rollout(model, work, tape, before, 1, control, NULL, NULL, NULL);
    reverse_context c = {.model = model,
                         .work = work,
                         .tape = tape,
                         .controls = control,
                         .state_seed = seed_end,
                         .user = &end,
                         .given = true};
    if (status == CT_OK) status = go_back(&c, gradient, state_bar, report);
    ct_tape_free(tape);
    return status;
}
