// Problems on freshly built models; see fresh.h.
#include "optim/fresh.h"

#include "base/status.h"
#include "scene/values.h"

static ct_fresh parts_of(const ct_problem* problem) {
    return (ct_fresh){problem->model, problem->tape, problem->work, problem->initial};
}

static void give(ct_problem* problem, const ct_fresh* parts, bool fresh) {
    problem->model = parts->model;
    problem->tape = parts->tape;
    problem->work = parts->work;
    problem->initial = parts->initial;
    problem->fresh = fresh;
}

static void free_parts(ct_fresh* parts) {
    ct_state_free(parts->initial);
    ct_work_free(parts->work);
    ct_tape_free(parts->tape);
    ct_model_free(parts->model);
}

static void keep_thicknesses(ct_model* model, const ct_model* from) {
    for (int i = 0; i < model->collision.ncollider; i++)
        model->collision.collider[i].thickness = from->collision.collider[i].thickness;
}

static ct_status build(ct_fresh* parts, const ct_problem* problem, const ct_scene* scene, ct_error* error) {
    ct_status status = ct_model_create(&parts->model, scene, error);
    if (status != CT_OK) return status;
    keep_thicknesses(parts->model, problem->model);
    status = ct_tape_create(&parts->tape, parts->model, problem->nstep > 0 ? problem->nstep : 1, 0, error);
    if (status == CT_OK) status = ct_work_create(&parts->work, parts->model, 0, error);
    if (status == CT_OK) status = ct_state_create(&parts->initial, parts->model, error);
    return status;
}

ct_status ct_fresh_begin(ct_fresh* kept, ct_problem* problem, ct_scene* scene, const double* y,
                         ct_error* error) {
    const ct_values* values = ct_params_apply(problem->params, y);
    ct_fresh parts = {0};
    ct_scene_swap_values(scene, values);
    ct_status status = build(&parts, problem, scene, error);
    ct_scene_swap_values(scene, values);
    if (status != CT_OK) {
        free_parts(&parts);
        return status;
    }
    *kept = parts_of(problem);
    give(problem, &parts, true);
    return CT_OK;
}

void ct_fresh_end(ct_fresh* kept, ct_problem* problem) {
    ct_fresh parts = parts_of(problem);
    give(problem, kept, false);
    free_parts(&parts);
}
