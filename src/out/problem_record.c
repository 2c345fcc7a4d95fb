// The motion of a problem's vector as a trajectory file.
#include "base/status.h"
#include "optim/problem.h"

static ct_status record_steps(ct_problem* problem, const double* controls, ct_state* state,
                              ct_trajectory* file, ct_error* error) {
    const ct_model* model = problem->model;
    int size = ct_model_control_size(model), every = model->settings.output_every;
    ct_step_report report = {.converged = true};
    ct_status status = ct_trajectory_append(file, model, state, &report, error);
    for (int k = 0; status == CT_OK && k < problem->nstep; k++) {
        const double* control = controls ? controls + (size_t)k * (size_t)size : NULL;
        status = ct_step(model, problem->work, state, control, &report);
        if (status != CT_OK) return ct_problem_explain_step(status, k + 1, &report, error);
        if (every <= 1 || (k + 1) % every == 0 || k + 1 == problem->nstep)
            status = ct_trajectory_append(file, model, state, &report, error);
    }
    return status;
}

ct_status ct_problem_record(ct_problem* problem, const ct_scene* scene, const char* path, const double* y,
                            ct_error* error) {
    CT_NEED(error, problem, scene, path);
    const double* controls;
    ct_state* state = NULL;
    ct_trajectory* file = NULL;
    ct_error_clear(error);
    ct_status status = ct_problem_apply(problem, y, &controls, error);
    if (status == CT_OK) {
        status = ct_state_create(&state, problem->model, error);
        if (status == CT_OK) status = ct_state_copy(state, problem->initial);
        ct_fail_making(error, status, "a record of the motion", "use a coarser mesh");
    }
    if (status == CT_OK) status = ct_trajectory_create(&file, scene, problem->model, path, error);
    if (status == CT_OK) status = record_steps(problem, controls, state, file, error);
    ct_status closed = ct_trajectory_close(file, status == CT_OK ? error : NULL);
    ct_state_free(state);
    return status == CT_OK ? closed : status;
}
