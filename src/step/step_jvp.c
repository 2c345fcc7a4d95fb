// Forward mode through one step (ct_step_jvp): directions of the state's vector and of quantities, and the
// scratch that a work keeps for it from the first call on.
#include "step/step_jvp.h"

#include <string.h>

#include "base/blas.h"
#include "base/clock.h"
#include "base/status.h"
#include "force/elastic.h"
#include "model/soft_nodes.h"
#include "step/tangent.h"
#include "step/vector.h"

struct ct_step_jvp_work {
    ct_arena arena;
    ct_tangent* tangent;
    ct_record record;
    ct_state* end;
    ct_adjoint_state dot;
    double *mu, *lambda, *stiffness;  // ntet; 2 nvert: of nodes in contact
    ct_elastic* solids;               // with the change of the Lame parameters; NULL until one is asked for
};

void ct_step_jvp_work_free(struct ct_step_jvp_work* own) {
    if (!own) return;
    ct_tangent_free(own->tangent);
    ct_record_free(&own->record);
    ct_state_free(own->end);
    ct_elastic_free(own->solids);
    ct_arena_free(&own->arena);
    ct_free(own);
}

static ct_status create(struct ct_step_jvp_work** out, const ct_model* model) {
    if (*out) return CT_OK;
    struct ct_step_jvp_work* own = ct_alloc(1, sizeof *own);
    if (!own) return CT_OUT_OF_MEMORY;
    own->dot = ct_vector_adjoint(model, &own->arena);
    own->mu = ct_arena_alloc(&own->arena, (size_t)model->ntet, sizeof(double));
    own->lambda = ct_arena_alloc(&own->arena, (size_t)model->ntet, sizeof(double));
    own->stiffness = ct_arena_alloc(&own->arena, 2 * (size_t)model->nvert, sizeof(double));
    ct_status status = own->arena.failed ? CT_OUT_OF_MEMORY : ct_state_create(&own->end, model, NULL);
    if (status == CT_OK) status = ct_tangent_create(&own->tangent, model);
    if (status == CT_OK) *out = own;
    else ct_step_jvp_work_free(own);
    return status;
}

// ---- quantities ----------------------------------------------------------------------------

// d(mu, lambda) of every tet along changes of Young's modulus and Poisson's ratio.
static void change_lame(const ct_material* m, double young, double poisson, double* mu, double* lambda) {
    const double E = m->young, nu = m->poisson, s = 1 + nu, q = 1 - 2 * nu;
    const double share = m->energy == CT_ENERGY_PROJECTIVE && m->paper_weights ? 1.0 / 3 : 1;
    *mu = young / (2 * s) - poisson * E / (2 * s * s);
    *lambda = share * (young * nu / (s * q) + poisson * E * (1 + 2 * nu * nu) / (s * s * q * q));
}

// Of solids and of nodes in contact.
static ct_status change_solids(const ct_model* model, struct ct_step_jvp_work* own, const ct_values* dots,
                               ct_tangent_dot* along) {
    const double *young = dots->of[CT_QUANTITY_YOUNG], *poisson = dots->of[CT_QUANTITY_POISSON];
    const ct_elastic* solids = model->families.of[CT_FAMILY_SOLIDS];
    if (!solids || (!young && !poisson)) return CT_OK;
    for (int t = 0; t < model->ntet; t++)
        change_lame(&model->material[t], young ? young[t] : 0, poisson ? poisson[t] : 0, &own->mu[t],
                    &own->lambda[t]);
    ct_status status = own->solids ? CT_OK : ct_elastic_create_along(&own->solids, solids);
    if (status != CT_OK) return status;
    ct_elastic_set_along(own->solids, solids, own->mu, own->lambda);
    ct_soft_nodes_jvp(model, own->mu, own->lambda, own->stiffness);
    along->solids = own->solids;
    along->stiffness = own->stiffness;
    return CT_OK;
}

// By the controls, by gravity where no water weighs, by friction, and by the stiffness of solids.
static bool has_quantities(const ct_model* model, const ct_values* dot) {
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        if (!dot->of[q] || q == CT_QUANTITY_CONTROL || q == CT_QUANTITY_FRICTION) continue;
        if (q == CT_QUANTITY_GRAVITY && !model->water.enabled) continue;
        if ((q == CT_QUANTITY_YOUNG || q == CT_QUANTITY_POISSON) && !model->ntri) continue;
        return false;
    }
    return true;
}

// ---- directions ----------------------------------------------------------------------------

static void clear(const ct_model* model, const ct_adjoint_state* dot) {
    const size_t nodes = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof,
                 ncollider = (size_t)model->collision.ncollider, nroot = 6 * (size_t)model->tree.nroot;
    const struct {
        double* part;
        size_t count;
    } all[] = {{dot->x, nodes},
               {dot->v, nodes},
               {dot->x_previous, nodes},
               {dot->v_previous, nodes},
               {dot->q, ndof},
               {dot->q_previous, ndof},
               {dot->root, nroot},
               {dot->root_previous, nroot},
               {dot->actuation, (size_t)model->actuators.size},
               {dot->mount, 6 * (size_t)model->inputs.nmount},
               {dot->anchor, 3 * ct_state_anchor_room(model)},
               {dot->growth, ncollider}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].count) memset(all[i].part, 0, all[i].count * sizeof(double));
}

static ct_status go_along(const ct_model* model, ct_work* work, const ct_state* before, const double* control,
                          const ct_values* quantities, double* vector, ct_backward_report* report) {
    struct ct_step_jvp_work* own = work->jvp;
    const ct_values none = {0}, *dots = quantities ? quantities : &none;
    ct_tangent_dot along = {.control = dots->of[CT_QUANTITY_CONTROL],
                            .gravity = dots->of[CT_QUANTITY_GRAVITY],
                            .friction = dots->of[CT_QUANTITY_FRICTION]};
    ct_status status = change_solids(model, own, dots, &along);
    if (status != CT_OK) return status;
    clear(model, &own->dot);
    ct_vector_to_tangent(model, before, vector, &own->dot);
    status = ct_tangent_step(model, work, own->tangent, before, own->end, &own->record, control, &along,
                             &own->dot, report);
    if (status == CT_OK) ct_vector_from_tangent(model, own->end, &own->dot, vector);
    return status;
}

ct_status ct_step_jvp(const ct_model* model, ct_work* work, const ct_state* before, const double* control,
                      int count, double* state_dots, const ct_values* dots, ct_state* after,
                      ct_backward_report* report) {
    CT_NEED(NULL, model, work, before);
    ct_backward_report local;
    if (!report) report = &local;
    memset(report, 0, sizeof *report);
    if (model->solver->has_gradients && !model->solver->has_gradients(&model->settings))
        return CT_UNSUPPORTED;
    for (int i = 0; dots && i < count; i++)
        if (!has_quantities(model, &dots[i])) return CT_UNSUPPORTED;
    const double started = ct_clock();
    const size_t size = ct_model_state_first(model, CT_STATE_PARTS);
    ct_status status = create(&work->jvp, work->model);
    if (status == CT_OK) status = ct_state_copy(work->jvp->end, before);
    if (status != CT_OK) return status;
    work->record = &work->jvp->record;
    status = ct_step(model, work, work->jvp->end, control, NULL);
    work->record = NULL;
    ct_blas_begin();
    for (int i = 0; status == CT_OK && i < count; i++)
        status = go_along(model, work, before, control, dots ? &dots[i] : NULL, state_dots + (size_t)i * size,
                          report);
    ct_blas_end();
    if (status == CT_OK && after) status = ct_state_copy(after, work->jvp->end);
    report->seconds = ct_clock() - started;
    return status;
}
