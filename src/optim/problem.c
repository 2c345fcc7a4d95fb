// L(y) and dL/dy of a scene, as two lists that mirror one another:
//
//   forward: y -> values of the model, initial state, controls -> rollout -> sum of terms over states and
//   controls reverse: terms -> seeds of the states -> adjoint of the rollout -> derivatives of values, state,
//   controls -> dL/dy
//
// Inputs: a scene with parameters (step/params.h) and objectives (optim/objective.h), or a term of the user's
// own.
#include "optim/problem.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "step/refuse.h"
#include "step/settle.h"
#include "step/vector.h"

// ---- create and free -----------------------------------------------------------------------

static ct_status count_steps(ct_problem* problem, ct_error* error) {
    ct_settings settings = ct_model_settings(problem->model);
    double count = round(settings.duration / settings.time_step);
    if (!(count >= (settings.settle ? 0 : 1) && count <= 1e8))
        return ct_fail(error, CT_BAD_SCENE,
                       "the duration (%g s) must be at least one time step (%g s) and at most 1e8 steps",
                       settings.duration, settings.time_step);
    problem->nstep = (int)count;
    return CT_OK;
}

// Statics alone have the controls that they settle under.
static int control_rows(const ct_problem* problem) { return problem->nstep > 0 ? problem->nstep : 1; }

static ct_status create_parts(ct_problem* problem, const ct_scene* scene, size_t max_bytes, ct_error* error) {
    ct_status status = ct_model_create(&problem->model, scene, error);
    if (status == CT_OK) status = count_steps(problem, error);
    if (status == CT_OK)
        status = ct_params_create(&problem->params, scene, problem->model, control_rows(problem), error);
    if (status == CT_OK)
        status = ct_objective_create(&problem->objective, scene, problem->model, problem->nstep, error);
    if (status != CT_OK) return status;
    for (int i = 0; problem->model->policy.enabled && i < scene->nobjective; i++)
        if (scene->objective[i].kind == CT_OBJECTIVE_EFFORT ||
            scene->objective[i].kind == CT_OBJECTIVE_SMOOTHNESS)
            return ct_fail(
                error, CT_UNSUPPORTED,
                "the objective \"%s\" would not see what the policy adds to the controls: remove one of them",
                scene->objective[i].name);
    if (ct_params_size(problem->params) == 0)
        return ct_fail(error, CT_BAD_SCENE,
                       "the scene has no parameters; add at least one to \"parameters\"");

    status = ct_tape_create(&problem->tape, problem->model, control_rows(problem), max_bytes, error);
    if (status == CT_OK) status = ct_work_create(&problem->work, problem->model, 0, error);
    if (status == CT_OK) status = ct_state_create(&problem->initial, problem->model, error);
    ct_step_report report;
    if (status == CT_OK && !problem->model->settings.settle && !problem->model->settings.relax &&
        ct_refuse_inverted(problem->model, problem->initial, &report))
        return ct_fail(error, CT_BAD_SCENE, "%s", report.message);
    return status;
}

ct_status ct_problem_create(ct_problem** out, const ct_scene* scene, size_t max_bytes, ct_error* error) {
    CT_NEED(error, out, scene);
    *out = NULL;
    ct_error_clear(error);
    ct_problem* problem = ct_alloc(1, sizeof *problem);
    if (!problem) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = create_parts(problem, scene, max_bytes, error);
    if (status == CT_OK) *out = problem;
    else ct_problem_free(problem);
    return status;
}

void ct_problem_free(ct_problem* problem) {
    if (!problem) return;
    ct_state_free(problem->initial);
    ct_work_free(problem->work);
    ct_tape_free(problem->tape);
    ct_objective_free(problem->objective);
    ct_params_free(problem->params);
    ct_model_free(problem->model);
    ct_free(problem);
}

// ---- what it consists of -------------------------------------------------------------------

const ct_model* ct_problem_model(const ct_problem* problem) { return problem->model; }
int ct_problem_steps(const ct_problem* problem) { return problem->nstep; }
int ct_problem_size(const ct_problem* problem) { return ct_params_size(problem->params); }
int ct_problem_slice_count(const ct_problem* problem) { return ct_params_slice_count(problem->params); }

ct_slice ct_problem_slice(const ct_problem* problem, int index) {
    ct_slice slice;
    ct_params_slice(problem->params, index, &slice);
    return slice;
}

void ct_problem_start(const ct_problem* problem, double* y) { ct_params_start(problem->params, y); }

void ct_problem_bounds(const ct_problem* problem, double* lower, double* upper) {
    ct_params_bounds(problem->params, lower, upper);
}

void ct_problem_values(const ct_problem* problem, const double* y, double* values) {
    ct_params_physical(problem->params, y, values);
}

void ct_problem_slopes(const ct_problem* problem, const double* y, double* slopes) {
    ct_params_slopes(problem->params, y, slopes);
}

// Of one term, -1: of all.
static ct_status evaluate_state(const ct_problem* problem, int term, int step, const ct_state* state,
                                double* loss, double* state_bar) {
    const ct_model* model = problem->model;
    const ct_objective* objective = problem->objective;
    if (!ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    const int first = term < 0 ? 0 : term, last = term < 0 ? ct_objective_term_count(objective) - 1 : term;
    *loss = 0;
    for (int i = first; i <= last; i++) *loss += ct_objective_term_state(objective, i, step, state);
    if (!state_bar) return CT_OK;
    ct_arena arena = {0};
    ct_adjoint_state bar = ct_vector_adjoint(model, &arena);
    ct_status status = arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    if (status == CT_OK) {
        for (int i = first; i <= last; i++)
            ct_objective_term_state_vjp(objective, i, step, state, bar.x, bar.v, bar.q);
        ct_vector_from_adjoint(model, state, &bar, state_bar);
    }
    ct_arena_free(&arena);
    return status;
}

ct_status ct_problem_state(const ct_problem* problem, int step, const ct_state* state, double* loss,
                           double* state_bar) {
    CT_NEED(NULL, problem, state, loss);
    return evaluate_state(problem, -1, step, state, loss, state_bar);
}

ct_status ct_problem_state_term(const ct_problem* problem, int index, int step, const ct_state* state,
                                double* loss, double* state_bar) {
    CT_NEED(NULL, problem, state, loss);
    if (index < 0 || index >= ct_problem_term_count(problem)) return CT_BAD_ARGUMENT;
    return evaluate_state(problem, index, step, state, loss, state_bar);
}

int ct_problem_term_count(const ct_problem* problem) { return ct_objective_term_count(problem->objective); }

static bool has_term(const ct_problem* problem, int index) {
    return index >= 0 && index < ct_problem_term_count(problem);
}

const char* ct_problem_term_name(const ct_problem* problem, int index) {
    return has_term(problem, index) ? ct_objective_term_name(problem->objective, index) : NULL;
}

double ct_problem_term_loss(const ct_problem* problem, int index) {
    return has_term(problem, index) ? ct_objective_term(problem->objective, index) : NAN;
}

void ct_problem_set_term(ct_problem* problem, ct_term term, void* user) {
    problem->term = term;
    problem->term_user = user;
}

void ct_problem_set_cancel(ct_problem* problem, ct_cancel cancel, void* user) {
    ct_work_set_cancel(problem->work, cancel, user);
}

// ---- evaluation ----------------------------------------------------------------------------

// Those values that belong to the model; false: none does.
static bool values_of_model(const ct_values* values, ct_values* out) {
    bool any = false;
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        ct_quantity_role role = ct_quantity_row((ct_quantity)q)->role;
        out->of[q] = role == CT_ROLE_VALUE || role == CT_ROLE_SYSTEM ? values->of[q] : NULL;
        any = any || out->of[q];
    }
    return any;
}

// Bodies that parameters put into one another, or turn inside out: a place of the search without a loss, like
// one where a step does not converge.
static ct_status check_start(ct_problem* problem, ct_error* error) {
    ct_step_report report;
    if (!ct_refuse_overlap(problem->model, problem->work, problem->initial, &report) &&
        (problem->model->settings.settle || !ct_refuse_inverted(problem->model, problem->initial, &report)))
        return CT_OK;
    return ct_fail(error, CT_NOT_CONVERGED, "step 1: %s", report.message);
}

static ct_status relax(ct_problem* problem, ct_error* error) {
    ct_settle_report report;
    ct_status status = ct_relax(problem->model, problem->work, problem->initial, &report);
    return status == CT_OK ? CT_OK : ct_fail(error, status, "relaxing: %s", report.message);
}

static ct_status settle(ct_problem* problem, const double* controls, ct_error* error) {
    ct_settle_report report;
    ct_status status = ct_settle(problem->model, problem->work, problem->initial, controls, &report);
    return status == CT_OK ? CT_OK : ct_fail(error, status, "settling: %s", report.message);
}

// Puts y into the model and the initial state; *controls: those of the rollout, NULL: zeros.
static ct_status apply(ct_problem* problem, const double* y, const double** controls, bool* refactored,
                       ct_error* error) {
    const ct_values* values = ct_params_apply(problem->params, y);
    const double *position = values->of[CT_QUANTITY_POSITION], *velocity = values->of[CT_QUANTITY_VELOCITY];
    const double *joint_position = values->of[CT_QUANTITY_JOINT_POSITION],
                 *joint_velocity = values->of[CT_QUANTITY_JOINT_VELOCITY];
    ct_values of_model;
    *controls = values->of[CT_QUANTITY_CONTROL];
    *refactored = false;
    ct_status status = CT_OK;
    if (!problem->fresh && values_of_model(values, &of_model))
        status = ct_model_set_values(problem->model, &of_model, refactored, error);
    if (status != CT_OK) return status;
    bool settles = problem->model->settings.settle, relaxes = problem->model->settings.relax;
    const bool links = problem->model->tree.nlink > 0;  // rates that flesh gives to bones depend on masses
    if (!position && !velocity && !joint_position && !joint_velocity && !settles && !relaxes && !links)
        return status;
    status =
        ct_state_begin(problem->model, problem->initial, position, velocity, joint_position, joint_velocity);
    if (status == CT_OK && relaxes) status = relax(problem, error);
    if (status == CT_OK && (position || joint_position || relaxes)) status = check_start(problem, error);
    return status == CT_OK && settles ? settle(problem, *controls, error) : status;
}

typedef struct evaluation {
    const ct_problem* problem;
    double loss, first;  // first: mean square of the objective's first term
    int step;            // last that was reached
} evaluation;

static void sum_terms(int step, const ct_state* state, void* user) {
    evaluation* e = user;
    const ct_problem* problem = e->problem;
    e->step = step;
    e->loss += ct_objective_state(problem->objective, step, state);
    e->first += ct_objective_first_state(problem->objective, step, state);
    if (problem->term) problem->term(step, state, &e->loss, NULL, NULL, NULL, problem->term_user);
}

static void seed_terms(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar,
                       void* user) {
    evaluation* e = user;
    const ct_problem* problem = e->problem;
    double again = 0;  // the term adds to its loss here too; it was counted on the way forward
    ct_objective_state_vjp(problem->objective, step, state, x_bar, v_bar, q_bar);
    if (problem->term) problem->term(step, state, &again, x_bar, v_bar, q_bar, problem->term_user);
}

ct_status ct_problem_explain_step(ct_status status, int step, const ct_step_report* report, ct_error* error) {
    if (status != CT_NOT_CONVERGED) return ct_fail(error, status, "step %d: %s", step, report->message);
    double residual = report->reference > 0 ? report->residual / report->reference : NAN;
    return ct_fail(error, status, "step %d: %s (residual %.1e after %d solves). %s", step,
                   ct_status_text(status), residual, report->solves, report->message);
}

static ct_status check_vector(const ct_problem* problem, const double* y, ct_error* error) {
    for (int i = 0; i < ct_problem_size(problem); i++)
        if (!isfinite(y[i]))
            return ct_fail(error, CT_BAD_ARGUMENT, "component %d of the parameter vector is not finite", i);
    return CT_OK;
}

static ct_status go_forward(ct_problem* problem, evaluation* e, const double* controls,
                            ct_rollout_report* report, ct_error* error) {
    ct_status status = ct_rollout(problem->model, problem->work, problem->tape, problem->initial,
                                  problem->nstep, controls, sum_terms, e, report);
    if (status != CT_OK) return ct_problem_explain_step(status, e->step + 1, &report->last, error);
    if (controls) e->loss += ct_objective_controls(problem->objective, controls);
    if (controls) e->first += ct_objective_first_controls(problem->objective, controls);
    if (!isfinite(e->loss)) return ct_fail(error, CT_NOT_CONVERGED, "the loss is not finite");
    return CT_OK;
}

static ct_status go_backward(ct_problem* problem, evaluation* e, const double* y, const double* controls,
                             double* gradient, ct_backward_report* report, ct_error* error) {
    ct_values* bars = ct_params_gradient(problem->params);
    ct_status status =
        ct_backward(problem->model, problem->work, problem->tape, controls, seed_terms, e, bars, report);
    const char* refused = problem->initial->header->settled
                              ? ct_settle_refuses_gradient(problem->model, problem->initial)
                              : NULL;
    if (status != CT_OK)
        return ct_fail(error, status, "the adjoint of the rollout: %s",
                       refused ? refused : ct_status_text(status));
    double* controls_bar = bars->of[CT_QUANTITY_CONTROL];
    if (controls && controls_bar) ct_objective_controls_vjp(problem->objective, controls, controls_bar);
    ct_params_vjp(problem->params, y, bars, gradient);
    return CT_OK;
}

ct_status ct_problem_evaluate(ct_problem* problem, const double* y, double* loss, double* gradient,
                              ct_problem_report* report, ct_error* error) {
    CT_NEED(error, problem);
    ct_problem_report own;
    if (!report) report = &own;
    *report = (ct_problem_report){.measure = NAN};
    *loss = NAN;
    ct_error_clear(error);
    if (ct_objective_term_count(problem->objective) == 0 && !problem->term)
        return ct_fail(error, CT_BAD_SCENE,
                       "nothing to minimise; add a term to \"objective\" or set a term of your own");

    evaluation e = {.problem = problem};
    const double* controls;
    const double begun = ct_clock_thread();
    ct_status status = check_vector(problem, y, error);
    if (status == CT_OK) status = apply(problem, y, &controls, &report->refactored, error);
    ct_objective_begin(problem->objective);
    if (status == CT_OK) status = go_forward(problem, &e, controls, &report->forward, error);
    double turned = ct_clock_thread();
    if (status == CT_OK && gradient)
        status = go_backward(problem, &e, y, controls, gradient, &report->backward, error);
    problem->forward_seconds = turned - begun;
    problem->backward_seconds = gradient ? ct_clock_thread() - turned : 0;
    report->tape_bytes = ct_tape_bytes(problem->tape);
    if (status == CT_OK) *loss = e.loss;
    if (status == CT_OK && ct_objective_term_count(problem->objective) > 0) report->measure = sqrt(e.first);
    return status;
}

// ---- the motion ---------------------------------------------------------------------------

ct_status ct_problem_apply(ct_problem* problem, const double* y, const double** controls, ct_error* error) {
    bool refactored;
    ct_status status = check_vector(problem, y, error);
    return status == CT_OK ? apply(problem, y, controls, &refactored, error) : status;
}

typedef struct watch {
    ct_visit visit;
    void* user;
    int step;
} watch;

static void show(int step, const ct_state* state, void* user) {
    watch* w = user;
    w->step = step;
    if (w->visit) w->visit(step, state, w->user);
}

// What the controls of every step are: those of y, or the scene's values.
static void copy_controls(const ct_problem* problem, const double* controls, double* out) {
    size_t n = (size_t)problem->model->inputs.control_size;
    double h = problem->model->settings.time_step;
    if (controls) memcpy(out, controls, (size_t)problem->nstep * n * sizeof(double));
    for (int i = 0; !controls && i < problem->nstep; i++)
        ct_model_control_values(problem->model, i * h, out + (size_t)i * n);
}

ct_status ct_problem_rollout(ct_problem* problem, const double* y, ct_visit visit, void* user,
                             double* controls, ct_rollout_report* report, ct_error* error) {
    CT_NEED(error, problem);
    ct_rollout_report own;
    watch w = {.visit = visit, .user = user};
    const double* chosen = NULL;
    if (!report) report = &own;
    memset(report, 0, sizeof *report);
    ct_error_clear(error);
    ct_status status = ct_problem_apply(problem, y, &chosen, error);
    if (status != CT_OK) return status;
    if (controls) copy_controls(problem, chosen, controls);
    status = ct_rollout(problem->model, problem->work, problem->tape, problem->initial, problem->nstep,
                        chosen, show, &w, report);
    return status == CT_OK ? CT_OK : ct_problem_explain_step(status, w.step + 1, &report->last, error);
}
