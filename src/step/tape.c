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

#include "base/clock.h"
#include "step/adjoint.h"
#include "step/contact_log.h"
#include "step/refuse.h"

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

ct_status ct_tape_create(ct_tape** out, const ct_model* model, int max_steps, size_t max_bytes) {
    *out = NULL;
    if (max_steps < 1) return CT_BAD_ARGUMENT;
    ct_tape* tape = ct_alloc(1, sizeof *tape);
    ct_state* state = NULL;
    if (!tape || ct_state_create(&state, model) != CT_OK) {
        ct_free(tape);
        return CT_OUT_OF_MEMORY;
    }
    tape->state_size = state->size;
    ct_state_free(state);
    size_t slots = max_bytes ? max_bytes / tape->state_size : (size_t)max_steps + 1;
    if (slots > (size_t)max_steps + 1) slots = (size_t)max_steps + 1;
    if (slots < MINIMUM_SLOTS) slots = MINIMUM_SLOTS;
    tape->nslot = (int)slots;
    tape->max_steps = max_steps;
    tape->slot = ct_arena_alloc(&tape->arena, slots, tape->state_size);
    tape->record = ct_arena_alloc(&tape->arena, slots + 1, sizeof *tape->record);
    if (tape->arena.failed) {
        ct_tape_free(tape);
        return CT_OUT_OF_MEMORY;
    }
    *out = tape;
    return CT_OK;
}

void ct_tape_free(ct_tape* tape) {
    if (!tape) return;
    for (int i = 0; tape->record && i <= tape->nslot; i++) ct_record_free(&tape->record[i]);
    ct_contact_log_free(&tape->log);
    ct_arena_free(&tape->arena);
    ct_free(tape);
}

size_t ct_tape_bytes(const ct_tape* tape) {
    size_t bytes = tape->arena.bytes;
    for (int i = 0; i <= tape->nslot; i++) bytes += ct_record_bytes(&tape->record[i]);
    return bytes;
}

ct_contact_log* ct_tape_log(ct_tape* tape) { return &tape->log; }
int ct_tape_steps(const ct_tape* tape) { return tape->steps; }

static unsigned char* slot(ct_tape* tape, int index) { return tape->slot + (size_t)index * tape->state_size; }

// ---- forward -------------------------------------------------------------------------------

static const double* control_of(const ct_model* model, const double* controls, int step) {
    return controls ? controls + (size_t)step * (size_t)model->control_size : NULL;
}

static void note(ct_rollout_report* report, const ct_step_report* step) {
    report->steps++;
    report->substepped += step->substeps > 1;
    report->substeps += step->substeps;
    report->edges += !step->smooth;
    report->solves += step->solves;
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
    ct_rollout_report local;
    if (!report) report = &local;
    memset(report, 0, sizeof *report);
    tape->steps = 0;
    tape->overwritten = false;
    if (refuses(model, work, tape, initial, nstep, &report->last)) return CT_BAD_ARGUMENT;
    double started = ct_clock();
    ct_state* state = NULL;
    ct_status status = ct_state_create(&state, model);
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
        note(report, &step);
        if (status == CT_OK) status = ct_contact_log_add(&tape->log, i, &tape->record[record]);
    }
    report->signature = tape->log.signature;
    if (status == CT_OK) tape->steps = nstep;
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
    void* user;
    ct_adjoint* adjoint;
    ct_adjoint_state bar;
    ct_sums sums;
    ct_state *before, *after, *spare;
    ct_backward_report* report;
} reverse_context;

// Reverses step `index`, whose state before is at `bytes` and whose state after is c->after; then that before
// is c->after. `record`: of the tape's, what the step did.
static ct_status reverse_step(reverse_context* c, const unsigned char* bytes, int record, int index) {
    ct_status status = ct_state_restore(c->before, bytes, c->tape->state_size);
    if (status != CT_OK) return status;
    double* control_bar =
        c->controls_bar ? c->controls_bar + (size_t)index * (size_t)c->model->control_size : NULL;
    double started = ct_clock();
    status =
        ct_adjoint_step(c->model, c->work, c->adjoint, c->before, c->after, &c->tape->record[record],
                        control_of(c->model, c->controls, index), &c->bar, &c->sums, control_bar, c->report);
    c->report->adjoint_seconds += ct_clock() - started;
    if (status == CT_OK && c->seed) c->seed(index, c->before, c->bar.x, c->bar.v, c->bar.q, c->user);
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

// mu, lambda -> Young's modulus and Poisson's ratio; masses -> density; drag -> mass damping and density.
static void to_materials(const ct_model* model, const ct_sums* sums, ct_gradient* gradient) {
    const double* volume = ct_elastic_volume(model->families.of[CT_FAMILY_SOLIDS]);
    for (int t = 0; t < model->ntet; t++) {
        const ct_material* m = &model->material[t];
        double E = m->young, nu = m->poisson, s = 1 + nu, q = 1 - 2 * nu;
        double third = m->energy == CT_ENERGY_PROJECTIVE && m->paper_weights ? 1.0 / 3 : 1;
        if (gradient->young)
            gradient->young[t] =
                sums->of[CT_SUM_MU][t] / (2 * s) + third * sums->of[CT_SUM_LAMBDA][t] * nu / (s * q);
        if (gradient->poisson)
            gradient->poisson[t] =
                -sums->of[CT_SUM_MU][t] * E / (2 * s * s) +
                third * sums->of[CT_SUM_LAMBDA][t] * E * (1 + 2 * nu * nu) / (s * s * q * q);
        if (gradient->damping_stiffness) gradient->damping_stiffness[t] = sums->of[CT_SUM_BETA][t];
        double mass = 0, drag = 0;
        for (int a = 0; a < 4; a++) {
            if (sums->of[CT_SUM_MASS])
                mass += 0.25 * volume[t] * sums->of[CT_SUM_MASS][model->tet[4 * t + a]];
            if (sums->of[CT_SUM_DRAG])
                drag += 0.25 * volume[t] * sums->of[CT_SUM_DRAG][model->tet[4 * t + a]];
        }
        if (gradient->density) gradient->density[t] = mass + m->damping_mass * drag;
        if (gradient->damping_mass) gradient->damping_mass[t] = m->density * drag;
    }
}

// The same for sheets: mu = t E / (2 (1 + nu)), lambda = t E nu / (1 - nu^2), D = bending E t^3 / (12 (1 -
// nu^2)), mass per area rho t.
static void to_sheet_materials(const ct_model* model, const ct_sums* sums, ct_gradient* gradient) {
    for (int k = 0; k < model->ntri; k++) {
        int e = model->ntet + k;
        const ct_material* m = &model->material[e];
        double E = m->young, nu = m->poisson, t = m->thickness, s = 1 + nu, q = 1 - nu * nu, mu, lambda, D;
        ct_material_membrane(m, &mu, &lambda, &D);
        double mu_bar = sums->of[CT_SUM_MU] ? sums->of[CT_SUM_MU][e] : 0,
               lambda_bar = sums->of[CT_SUM_LAMBDA] ? sums->of[CT_SUM_LAMBDA][e] : 0;
        double D_bar = sums->of[CT_SUM_RIGIDITY] ? sums->of[CT_SUM_RIGIDITY][k] : 0, mass = 0, drag = 0,
               third = ct_sheet_area(model->families.of[CT_FAMILY_SHEETS])[k] / 3;
        for (int a = 0; a < 3; a++) {
            if (sums->of[CT_SUM_MASS]) mass += third * sums->of[CT_SUM_MASS][model->tri[3 * k + a]];
            if (sums->of[CT_SUM_DRAG]) drag += third * sums->of[CT_SUM_DRAG][model->tri[3 * k + a]];
        }
        if (gradient->young) gradient->young[e] = (mu * mu_bar + lambda * lambda_bar + D * D_bar) / E;
        if (gradient->poisson)
            gradient->poisson[e] =
                -mu / s * mu_bar + t * E * (1 + nu * nu) / (q * q) * lambda_bar + 2 * nu / q * D * D_bar;
        if (gradient->thickness)
            gradient->thickness[e] = (mu * mu_bar + lambda * lambda_bar + 3 * D * D_bar) / t +
                                     m->density * (mass + m->damping_mass * drag);
        if (gradient->bending) gradient->bending[e] = E * t * t * t / (12 * q) * D_bar;
        if (gradient->density) gradient->density[e] = t * (mass + m->damping_mass * drag);
        if (gradient->damping_mass) gradient->damping_mass[e] = t * m->density * drag;
        if (gradient->damping_stiffness) gradient->damping_stiffness[e] = sums->of[CT_SUM_BETA][e];
    }
    size_t solid = (size_t)model->ntet * sizeof(double);
    if (gradient->bending && solid) memset(gradient->bending, 0, solid);
    if (gradient->thickness && solid) memset(gradient->thickness, 0, solid);
}

static ct_status prepare(reverse_context* c, ct_arena* arena, const ct_gradient* gradient) {
    size_t nodes = 3 * (size_t)c->model->nvert, nelement = (size_t)c->model->nelement,
           nvert = (size_t)c->model->nvert;
    double** bars[] = {&c->bar.x, &c->bar.v, &c->bar.x_previous, &c->bar.v_previous};
    for (size_t i = 0; i < 4; i++) *bars[i] = ct_arena_alloc(arena, nodes, sizeof(double));
    c->bar.q = ct_arena_alloc(arena, (size_t)c->model->tree.ndof, sizeof(double));
    c->bar.q_previous = ct_arena_alloc(arena, (size_t)c->model->tree.ndof, sizeof(double));
    if (gradient->young || gradient->poisson || gradient->thickness) {
        c->sums.of[CT_SUM_MU] = ct_arena_alloc(arena, nelement, sizeof(double));
        c->sums.of[CT_SUM_LAMBDA] = ct_arena_alloc(arena, nelement, sizeof(double));
    }
    if (c->model->ntri && (c->sums.of[CT_SUM_MU] || gradient->bending))
        c->sums.of[CT_SUM_RIGIDITY] = ct_arena_alloc(arena, (size_t)c->model->ntri, sizeof(double));
    if (gradient->damping_stiffness)
        c->sums.of[CT_SUM_BETA] = ct_arena_alloc(arena, nelement, sizeof(double));
    c->bar.actuation = ct_arena_alloc(arena, (size_t)c->model->actuators.size, sizeof(double));
    c->bar.mount = ct_arena_alloc(arena, 6 * (size_t)c->model->nmount, sizeof(double));
    c->sums.of[CT_QUANTITY_POLICY] = gradient->policy;
    if (gradient->policy)
        memset(gradient->policy, 0, (size_t)ct_model_policy_size(c->model) * sizeof(double));
    c->sums.of[CT_QUANTITY_MUSCLE_STIFFNESS] = gradient->muscle_stiffness;
    c->sums.of[CT_QUANTITY_CHAMBER_STIFFNESS] = gradient->chamber_stiffness;
    if (gradient->muscle_stiffness)
        memset(gradient->muscle_stiffness, 0, (size_t)c->model->actuators.count * sizeof(double));
    if (gradient->chamber_stiffness)
        memset(gradient->chamber_stiffness, 0, (size_t)c->model->actuators.count * sizeof(double));
    c->bar.root = ct_arena_alloc(arena, 6 * (size_t)c->model->tree.nroot, sizeof(double));
    double* const wanted[] = {gradient->joint_stiffness, gradient->joint_damping, gradient->joint_rest,
                              gradient->servo_stiffness, gradient->servo_damping, gradient->limit_stiffness};
    double** sums[] = {&c->sums.of[CT_QUANTITY_JOINT_STIFFNESS], &c->sums.of[CT_QUANTITY_JOINT_DAMPING],
                       &c->sums.of[CT_QUANTITY_JOINT_REST],      &c->sums.of[CT_QUANTITY_SERVO_STIFFNESS],
                       &c->sums.of[CT_QUANTITY_SERVO_DAMPING],   &c->sums.of[CT_QUANTITY_LIMIT_STIFFNESS]};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *sums[i] = wanted[i];
        if (wanted[i]) memset(wanted[i], 0, (size_t)c->model->tree.nlink * sizeof(double));
    }
    if (gradient->density || gradient->thickness || gradient->link_mass)
        c->sums.of[CT_SUM_MASS] = ct_arena_alloc(arena, nvert, sizeof(double));
    if (gradient->density || gradient->thickness || gradient->damping_mass)
        c->sums.of[CT_SUM_DRAG] = ct_arena_alloc(arena, nvert, sizeof(double));
    if (gradient->gravity) c->sums.of[CT_QUANTITY_GRAVITY] = ct_arena_alloc(arena, 3, sizeof(double));
    c->sums.of[CT_QUANTITY_WATER_DENSITY] = gradient->water_density;
    c->sums.of[CT_QUANTITY_WATER_DRAG] = gradient->water_drag;
    c->sums.of[CT_QUANTITY_WATER_THRUST] = gradient->water_thrust;
    c->sums.of[CT_QUANTITY_WATER_CURRENT] = gradient->water_current;
    if (gradient->water_density) gradient->water_density[0] = 0;
    if (gradient->water_drag) memset(gradient->water_drag, 0, CT_WATER_DRAG * sizeof(double));
    if (gradient->water_thrust) memset(gradient->water_thrust, 0, CT_WATER_THRUST * sizeof(double));
    if (gradient->water_current) memset(gradient->water_current, 0, 3 * sizeof(double));
    c->sums.of[CT_QUANTITY_FRICTION] = gradient->friction;
    if (gradient->friction) memset(gradient->friction, 0, (size_t)c->model->nfriction * sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    ct_status status = ct_adjoint_create(&c->adjoint, c->model);
    if (status == CT_OK) status = ct_state_create(&c->before, c->model);
    if (status == CT_OK) status = ct_state_create(&c->after, c->model);
    if (status == CT_OK) status = ct_state_create(&c->spare, c->model);
    return status;
}

// The last state's seed comes first; the state is in the last slot that the rollout filled, or some steps
// after it. Where an earlier reverse has overwritten these slots, a replay of all steps fills them again.
static ct_status seed_last(reverse_context* c) {
    ct_tape* tape = c->tape;
    int part = tape->stride == 1 ? tape->steps : tape->overwritten ? 0 : (tape->steps - 1) / tape->stride;
    ct_status status = replay(c, part, part * tape->stride, tape->steps, tape->stride);
    tape->overwritten = tape->stride > 1;
    if (status == CT_OK && c->seed) c->seed(tape->steps, c->after, c->bar.x, c->bar.v, c->bar.q, c->user);
    return status;
}

// x0 = phi(q0), v0 = B(q0) qdot0: initial coordinates and rates of the joints, in their own units.
static void to_joints(const reverse_context* c, ct_gradient* gradient) {
    const ct_model* model = c->model;
    const ct_tree* tree = &model->tree;
    size_t n = (size_t)tree->ndof;
    ct_work* work = c->work;
    // c->after is the initial state by now
    memcpy(work->at.x, c->after->x, 3 * (size_t)model->nvert * sizeof(double));
    memcpy(work->at.q, c->after->q, (size_t)tree->ncoordinate * sizeof(double));
    ct_config_place(tree, &work->at);
    ct_config_scratch scratch = {work->wrench, work->moments, work->scratch, work->curvature};
    ct_config_start_vjp(tree, &work->at, c->after->rate, c->bar.x, c->bar.v, &scratch,
                        gradient->joint_position, gradient->joint_velocity);
    if (!gradient->joint_position) return;
    for (size_t i = 0; i < n; i++) gradient->joint_position[i] += c->bar.q[i];
}

static void deliver(const ct_model* model, const reverse_context* c, ct_gradient* gradient) {
    size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    // a state set by hand has its own position as history
    if (gradient->position) memcpy(gradient->position, c->bar.x, bytes);
    if (gradient->velocity) memcpy(gradient->velocity, c->bar.v, bytes);
    if (gradient->gravity) memcpy(gradient->gravity, c->sums.of[CT_QUANTITY_GRAVITY], 3 * sizeof(double));
    to_materials(model, &c->sums, gradient);
    to_sheet_materials(model, &c->sums, gradient);
    if (model->tree.nlink) to_joints(c, gradient);
    for (int k = 0; gradient->link_mass && k < model->tree.nlink; k++) {
        gradient->link_mass[k] = 0;
        for (int i = 0; model->tree.own[k] >= 0 && i < 6; i++)
            gradient->link_mass[k] += c->sums.of[CT_SUM_MASS][model->tree.own[k] + i] / 6;
    }
}

ct_status ct_backward(const ct_model* model, ct_work* work, ct_tape* tape, const double* controls,
                      ct_seed seed, void* user, ct_gradient* gradient, ct_backward_report* report) {
    ct_backward_report local;
    if (!report) report = &local;
    memset(report, 0, sizeof *report);
    if (tape->steps < 1 || !tape->stride) return CT_BAD_ARGUMENT;
    if (model->solver->has_gradients && !model->solver->has_gradients(&model->settings))
        return CT_UNSUPPORTED;
    double started = ct_clock();
    ct_arena arena = {0};
    reverse_context c = {.model = model,
                         .work = work,
                         .tape = tape,
                         .controls = controls,
                         .seed = seed,
                         .user = user,
                         .controls_bar = gradient->controls,
                         .report = report};
    if (gradient->controls)
        memset(gradient->controls, 0, (size_t)tape->steps * (size_t)model->control_size * sizeof(double));
    ct_status status = prepare(&c, &arena, gradient);
    if (status == CT_OK) status = seed_last(&c);
    if (status == CT_OK) status = reverse(&c, 0, 0, tape->steps, tape->stride);
    if (status == CT_OK) deliver(model, &c, gradient);
    ct_adjoint_free(c.adjoint);
    ct_state_free(c.before);
    ct_state_free(c.after);
    ct_state_free(c.spare);
    ct_arena_free(&arena);
    report->seconds = ct_clock() - started;
    return status;
}
