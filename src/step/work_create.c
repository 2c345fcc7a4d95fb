// Creating and freeing the scratch of a simulation; see work.h.
#include "base/blas.h"
#include "base/memory.h"
#include "base/status.h"
#include "step/contact_system.h"
#include "step/link_stages.h"
#include "step/state.h"
#include "step/step_jvp.h"

enum { THREADING_MINIMUM = 5000 };  // tets below which a second thread costs more than it brings

static ct_status allocate_vectors(ct_work* work, const ct_model* model, size_t state_size) {
    ct_arena* arena = &work->arena;
    size_t nodes = 3 * (size_t)model->nvert, unknowns = (size_t)model->nunknown;
    double** node_vectors[] = {&work->force, &work->x_end, &work->rho, &work->phi.dx, &work->phi.product};
    for (size_t i = 0; i < sizeof node_vectors / sizeof node_vectors[0]; i++)
        *node_vectors[i] = ct_arena_alloc(arena, nodes, sizeof(double));
    ct_stages_work* stages = &work->stages;
    const bool staged = ct_rate_stages(model->settings.integrator) > 0;
    double** stage_vectors[] = {&stages->x[0],   &stages->x[1],   &stages->v[0],
                                &stages->v[1],   &stages->from_x, &stages->from_v,
                                &stages->look_x, &stages->look_v, &stages->acceleration};
    for (size_t i = 0; staged && i < sizeof stage_vectors / sizeof stage_vectors[0]; i++)
        *stage_vectors[i] = ct_arena_alloc(arena, nodes + 1, sizeof(double));
    for (int i = 0; staged && i < CT_STAGES - 1; i++)
        stages->q[i] = ct_arena_alloc(arena, (size_t)model->tree.ncoordinate, sizeof(double));
    if (staged && model->tree.nlink) work->links = ct_link_stages_create(arena, model);
    double** unknown_vectors[] = {&work->r, &work->r_trial, &work->d, &work->scratch};
    for (size_t i = 0; i < sizeof unknown_vectors / sizeof unknown_vectors[0]; i++)
        *unknown_vectors[i] = ct_arena_alloc(arena, unknowns, sizeof(double));
    for (int i = 0; i < CT_HISTORY; i++) {
        work->lbfgs.s[i] = ct_arena_alloc(arena, unknowns, sizeof(double));
        work->lbfgs.y[i] = ct_arena_alloc(arena, unknowns, sizeof(double));
    }
    size_t nlink = (size_t)model->tree.nlink, ndof = (size_t)model->tree.ndof;
    work->actuation = ct_arena_alloc(arena, (size_t)model->actuators.size, sizeof(double));
    work->mount = ct_arena_alloc(arena, 7 * (size_t)model->inputs.nmount, sizeof(double));
    work->root_end = ct_arena_alloc(arena, 7 * (size_t)model->tree.nroot, sizeof(double));
    work->wrench = ct_arena_alloc(arena, 6 * nlink, sizeof(double));
    work->twist = ct_arena_alloc(arena, 6 * nlink, sizeof(double));
    work->moments = ct_arena_alloc(arena, 12 * nlink, sizeof(double));
    work->curvature = ct_arena_alloc(arena, ndof * ndof, sizeof(double));
    ct_config_create(&work->at, arena, &model->tree);
    ct_config_create(&work->trial, arena, &model->tree);
    work->control = ct_arena_alloc(arena, (size_t)model->inputs.control_size, sizeof(double));
    work->policy =
        ct_arena_alloc(arena, 2 * (size_t)(model->policy.nin + model->policy.hidden), sizeof(double));
    work->backup = ct_arena_alloc(arena, state_size, 1);
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

static size_t state_size_of(const ct_model* model) {
    ct_state* state = NULL;
    if (ct_state_create(&state, model, NULL) != CT_OK) return 0;
    size_t size = state->size;
    ct_state_free(state);
    return size;
}

static ct_status create_parts(ct_work* work, const ct_model* model, int threads) {
    size_t state_size = state_size_of(model);
    if (!state_size) return CT_OUT_OF_MEMORY;
    ct_status status = allocate_vectors(work, model, state_size);
    if (status == CT_OK) status = ct_families_work_create(&work->families, &model->families);
    for (int i = 0; status == CT_OK && i < model->actuators.size; i++)
        work->actuation[i] = model->actuators.start[i];
    if (status == CT_OK && threads != 1 && model->ntet >= THREADING_MINIMUM)
        status = ct_threads_create(&work->threads, threads);
    if (status == CT_OK && model->nunknown) status = ct_krylov_work_create(&work->krylov, model->nunknown, 0);
    if (status == CT_OK && model->settings.contact.method != CT_CONTACT_METHOD_NONE) {
        status = ct_contact_work_create(&work->contact, &model->collision);
        if (status == CT_OK) status = ct_overlap_work_create(&work->overlap, &work->arena, &model->collision);
        if (status == CT_OK) status = ct_contact_system_create(&work->contact_system, model);
    }
    work->solver = model->solver;
    if (status == CT_OK && work->solver->work_create)
        status = work->solver->work_create(&work->solver_part, model);
    if (status != CT_OK) return status;
    return ct_precondition_create(&work->preconditioner, model, &work->families, work->threads);
}

static const char* const less = "use a coarser mesh, or fewer works at a time";

ct_status ct_work_create(ct_work** out, const ct_model* model, int threads, ct_error* error) {
    CT_NEED(error, out, model);
    ct_error_clear(error);
    *out = NULL;
    ct_work* work = ct_alloc(1, sizeof *work);
    if (!work) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a work", less);
    work->model = model;
    ct_blas_begin();
    ct_status status = create_parts(work, model, threads > 0 ? threads : model->settings.threads);
    ct_blas_end();
    if (status != CT_OK) {
        ct_work_free(work);
        return ct_fail_making(error, status, "a work", less);
    }
    *out = work;
    return CT_OK;
}

void ct_work_set_cancel(ct_work* work, ct_cancel cancel, void* user) {
    work->cancel = cancel;
    work->cancel_user = user;
}

void ct_work_free(ct_work* work) {
    if (!work) return;
    ct_contact_work_free(work->contact);
    ct_contact_system_free(work->contact_system);
    if (work->solver && work->solver->work_free) work->solver->work_free(work->solver_part);
    ct_step_jvp_work_free(work->jvp);
    ct_threads_free(work->threads);
    ct_families_work_free(&work->families);
    ct_precondition_free(&work->preconditioner);
    ct_krylov_work_free(work->krylov);
    ct_arena_free(&work->arena);
    ct_free(work);
}
