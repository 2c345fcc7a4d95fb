// A step along a direction; see tangent.h. It reads like step.c, forwards.
#include "step/tangent.h"

#include <string.h>

#include "base/blas.h"
#include "base/clock.h"
#include "base/status.h"
#include "contact/growth.h"
#include "force/elastic.h"
#include "math/vecn.h"
#include "model/control_values.h"
#include "step/actuate.h"
#include "step/coords.h"
#include "step/external.h"
#include "step/linear_solve.h"
#include "step/phi.h"
#include "step/policy.h"
#include "step/vector.h"

struct ct_tangent {
    ct_arena arena;
    ct_config config;                        // at the end of the sub-step
    double *right, *dz;                      // nunknown
    double *out, *given, *product, *x, *v;   // 3 nvert
    double *drive_end, *drive_start;         // 3 nvert: of driven nodes at the step's ends
    double* force;                           // 3 nvert
    double *q, *torque, *target;             // ndof
    double *control, *unit;                  // control size
    double *root_end, *root_end_dot, *root;  // 7 nroot; 6 nroot
    ct_adjoint_state start;                  // change of the step's start
    ct_adjoint_state row;                    // a row of what only its reverse is written for
    ct_krylov_work* gmres;
};

ct_status ct_tangent_create(ct_tangent** out, const ct_model* model) {
    *out = NULL;
    ct_tangent* t = ct_alloc(1, sizeof *t);
    if (!t) return CT_OUT_OF_MEMORY;
    ct_arena* arena = &t->arena;
    double** const node[] = {&t->out, &t->given,     &t->product,     &t->x,
                             &t->v,   &t->drive_end, &t->drive_start, &t->force};
    for (size_t i = 0; i < sizeof node / sizeof node[0]; i++)
        *node[i] = ct_arena_alloc(arena, 3 * (size_t)model->nvert + 1, sizeof(double));
    double** const rate[] = {&t->q, &t->torque, &t->target};
    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++)
        *rate[i] = ct_arena_alloc(arena, (size_t)model->tree.ndof, sizeof(double));
    double** const root[] = {&t->root_end, &t->root_end_dot, &t->root};
    for (size_t i = 0; i < sizeof root / sizeof root[0]; i++)
        *root[i] = ct_arena_alloc(arena, 7 * (size_t)model->tree.nroot, sizeof(double));
    t->right = ct_arena_alloc(arena, (size_t)model->nunknown, sizeof(double));
    t->dz = ct_arena_alloc(arena, (size_t)model->nunknown, sizeof(double));
    t->control = ct_arena_alloc(arena, (size_t)model->inputs.control_size, sizeof(double));
    t->unit = ct_arena_alloc(arena, (size_t)model->inputs.control_size, sizeof(double));
    ct_config_create(&t->config, arena, &model->tree);
    t->start = ct_vector_adjoint(model, arena);
    t->row = ct_vector_adjoint(model, arena);
    if (arena->failed) {
        ct_tangent_free(t);
        return CT_OUT_OF_MEMORY;
    }
    *out = t;
    return CT_OK;
}

void ct_tangent_free(ct_tangent* tangent) {
    if (!tangent) return;
    ct_krylov_work_free(tangent->gmres);
    ct_arena_free(&tangent->arena);
    ct_free(tangent);
}

static void copy(double* to, const double* from, size_t n) {
    if (n) memcpy(to, from, n * sizeof(double));
}

static double along(const double* a, const double* b, size_t n) { return n ? ct_vecn_dot(a, b, n) : 0; }

// ---- controls ------------------------------------------------------------------------------

// What a policy adds, output by output: it has few.
static void change_policy(const ct_model* model, ct_work* work, ct_tangent* t, const ct_state* before,
                          const ct_adjoint_state* dot) {
    const size_t nodes = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof;
    const ct_policy* policy = &model->policy;
    for (int i = 0; policy->enabled && i < policy->nout; i++) {
        memset(t->unit, 0, (size_t)model->inputs.control_size * sizeof(double));
        t->unit[policy->out[i]] = 1;
        memset(t->row.x, 0, nodes * sizeof(double));
        memset(t->row.v, 0, nodes * sizeof(double));
        if (ndof) memset(t->row.q, 0, ndof * sizeof(double));
        ct_policy_vjp(model, work, before, t->unit, t->row.x, t->row.v, t->row.q, NULL);
        t->control[policy->out[i]] +=
            along(t->row.x, dot->x, nodes) + along(t->row.v, dot->v, nodes) + along(t->row.q, dot->q, ndof);
    }
}

// ---- one (sub-)step ------------------------------------------------------------------------

// Its ends.
typedef struct reach {
    const ct_substep* substep;
    const double *x_start, *v_start, *q_start, *x, *q;
} reach;

static reach reach_of(const ct_model* model, const ct_record* record, size_t k, const ct_state* before,
                      const ct_state* after) {
    reach over = {&record->step[k], before->x, before->v, before->q, after->x, after->q};
    if (k > 0) {
        ct_record_start start = ct_record_start_of(record, model, k);
        over.x_start = start.x, over.v_start = start.v, over.q_start = start.q;
    }
    if (k + 1 < record->count) {
        ct_record_start next = ct_record_start_of(record, model, k + 1);
        over.x = next.x, over.q = next.q;
    }
    return over;
}

static void linearise(const ct_model* model, ct_work* work, ct_tangent* t, const reach* over,
                      const ct_state* before) {
    const ct_phi_start start = {.rate = over->substep->rate,
                                .npast = over->substep->history,
                                .x = over->x_start,
                                .v = over->v_start,
                                .x_previous = before->x_previous,
                                .v_previous = before->v_previous,
                                .q = over->q_start,
                                .q_previous = before->q_previous};
    ct_phi_begin(model, work, &start);
    copy(t->config.x, over->x, 3 * (size_t)model->nvert);
    if (model->tree.nlink) {
        copy(t->config.q, over->q, (size_t)model->tree.ncoordinate);
        ct_config_place(&model->tree, &t->config);
        ct_phi_gradient(model, work, t->config.x, work->rho);
    }
    ct_phi_linearise(model, work, &t->config, work->rho);
    if (model->nunknown) ct_precondition_warp(model, &work->preconditioner, &t->config, work->rho);
}

// Driven nodes at a fraction of the step.
static void place_driven(const ct_model* model, ct_tangent* t, double fraction) {
    memset(t->given, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < model->inputs.ndrive; i++)
        for (int k = 0; k < model->inputs.drive[i].nnode; k++)
            for (int j = 3 * model->inputs.drive[i].node[k], end = j + 3; j < end; j++)
                t->given[j] = (1 - fraction) * t->drive_start[j] + fraction * t->drive_end[j];
}

// Links on driven roots: their nodes, and at these the forces, which turn with them.
static void place_roots(const ct_model* model, const ct_work* work, ct_tangent* t, const ct_state* before,
                        double fraction) {
    const ct_tree* tree = &model->tree;
    ct_external_roots_between_jvp(model, before->q + tree->root_coordinate, t->root_end, fraction,
                                  t->start.root, t->root_end_dot, t->root);
    for (int k = 0; k < tree->nlink; k++) {
        int top = k;
        while (tree->parent[top] >= 0) top = tree->parent[top];
        if (tree->root[top] < 0) continue;
        const double* dot = t->root + 6 * tree->root[top];
        ct_vec3 center = ct_vec3_load(t->config.q + tree->root_coordinate + 7 * tree->root[top]);
        ct_vec3 shift = ct_vec3_load(dot), turn = ct_vec3_load(dot + 3);
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            size_t at = 3 * (size_t)tree->node[i];
            ct_vec3 arm = ct_vec3_sub(ct_vec3_load(t->config.x + at), center);
            ct_vec3_store(t->given + at, ct_vec3_add(shift, ct_vec3_cross(turn, arm)));
            ct_vec3 force = ct_vec3_cross(turn, ct_vec3_load(work->rho + at));
            ct_vec3_store(t->out + at, ct_vec3_add(ct_vec3_load(t->out + at), force));
        }
    }
}

// From dot at its start to dot at the sub-step's end.
static ct_status follow_substep(const ct_model* model, ct_work* work, ct_tangent* t, const reach* over,
                                const ct_state* before, const ct_elastic* solids, ct_adjoint_state* dot,
                                ct_backward_report* report) {
    const size_t n = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof,
                 first = 3 * (size_t)model->nfree;
    const ct_rate rate = over->substep->rate;
    if (ct_work_cancelled(work)) return CT_CANCELLED;
    linearise(model, work, t, over, before);

    // what the forces change by at the end held still
    const ct_family_dot change = {.x_n = dot->x,
                                  .v_n = dot->v,
                                  .x_nm1 = t->start.x_previous,
                                  .v_nm1 = t->start.v_previous,
                                  .q_n = dot->q,
                                  .q_nm1 = t->start.q_previous,
                                  .torque = t->torque,
                                  .target = t->target,
                                  .force = t->force,
                                  .actuation = dot->actuation,
                                  .solids = solids,
                                  .scratch = t->product};
    ct_families_jvp(&model->families, &work->families, &work->step, t->config.x, &change, t->out);
    place_driven(model, t, over->substep->fraction);
    if (model->tree.nroot) place_roots(model, work, t, before, over->substep->fraction);
    if (model->nfree < model->nvert) {
        ct_phi_product(model, work, &t->config, t->given, t->product);
        ct_vecn_axpy(t->out, -1, t->product, n);
    }
    ct_coords_pull(model, work, &t->config, t->out, t->right);
    ct_families_joint_jvp(&model->families, &work->families, &t->config, &change, t->right + first);

    // the end
    ct_status status = CT_OK;
    if (model->nunknown)
        status = ct_linear_solve(model, work, &t->config, &t->gmres, t->right, t->dz, report);
    if (status != CT_OK) return status;
    ct_coords_push(model, work, &t->config, t->dz, t->x);
    ct_vecn_axpy(t->x, 1, t->given, n);
    for (size_t i = 0; i < n; i++)
        t->v[i] = rate.c * t->x[i] - rate.a * dot->x[i] - rate.b * t->start.x_previous[i];
    copy(dot->x, t->x, n);
    copy(dot->v, t->v, n);
    if (ndof) ct_config_push_tangents(&model->tree, &t->config, t->dz + first, dot->q);
    copy(dot->root, t->root, 6 * (size_t)model->tree.nroot);
    return CT_OK;
}

// ---- the whole step ------------------------------------------------------------------------

static bool supports(const ct_record* record) {
    if (ct_rate_stages(record->step[0].rule) > 0) return false;
    for (size_t k = 0; k < record->count; k++)
        if (record->step[k].ntouch) return false;
    return true;
}

// How near colliders are where a motion begins, pair by pair, where that is measured in this step.
static ct_status change_growth(const ct_model* model, ct_work* work, ct_tangent* t, const ct_state* before,
                               const ct_state* after, ct_adjoint_state* dot) {
    if (!work->contact || before->header->grown) return CT_OK;
    const size_t n = (size_t)model->collision.ncollider, nodes = 3 * (size_t)model->nvert;
    memset(t->row.growth, 0, n * n * sizeof(double));
    for (size_t k = 0; k < n * n; k++) {
        dot->growth[k] = 0;
        if (after->growth[k] >= 1) continue;
        memset(t->row.x, 0, nodes * sizeof(double));
        t->row.growth[k] = 1;
        ct_status status =
            ct_growth_vjp(&model->collision, work->contact->detect, &work->contact->near, before->x,
                          before->header->time, after->growth, t->row.growth, t->row.x);
        if (status != CT_OK) return status;
        t->row.growth[k] = 0;
        dot->growth[k] = along(t->row.x, t->start.x, nodes);
    }
    return CT_OK;
}

// The changes at the step's start, which sub-steps and the state after it refer to.
static void keep_start(const ct_model* model, ct_tangent* t, const ct_adjoint_state* dot) {
    const size_t n = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof;
    copy(t->start.x, dot->x, n);
    copy(t->start.v, dot->v, n);
    copy(t->start.x_previous, dot->x_previous, n);
    copy(t->start.v_previous, dot->v_previous, n);
    copy(t->start.q, dot->q, ndof);
    copy(t->start.q_previous, dot->q_previous, ndof);
    copy(t->start.root, dot->root, 6 * (size_t)model->tree.nroot);
    copy(t->drive_start, dot->x, n);
}

// What acts during the step, and where driven nodes and roots end.
static void change_inputs(const ct_model* model, ct_work* work, ct_tangent* t, const ct_state* before,
                          const ct_state* after, const double* control, const ct_tangent_dot* given,
                          ct_adjoint_state* dot) {
    const double time = before->header->time, end = time + model->settings.time_step;
    const size_t size = (size_t)model->inputs.control_size;
    ct_external_forces(model, time, control, work->force);
    ct_external_roots(model, end, control, after->mount, t->root_end);
    ct_external_joints(model, control, work->families.of[CT_FAMILY_JOINTS]);
    if (size) memset(t->control, 0, size * sizeof(double));
    if (given->control) copy(t->control, given->control, size);
    change_policy(model, work, t, before, dot);
    ct_external_forces_jvp(model, t->control, t->force);
    for (int i = 0; given->gravity && i < 3 * model->nvert; i++)
        t->force[i] += model->mass[i / 3] * given->gravity[i % 3];
    ct_external_joints_jvp(model, t->control, t->torque, t->target);
    ct_actuate_jvp(model, t->control, dot->actuation);
    ct_mounts_move_jvp(model, control, t->control, dot->mount);
    ct_external_drive_jvp(model, end, control, after->mount, t->control, dot->mount, t->drive_end);
    ct_external_roots_jvp(model, end, control, after->mount, t->control, dot->mount, t->root_end_dot);
}

ct_status ct_tangent_step(const ct_model* model, ct_work* work, ct_tangent* t, const ct_state* before,
                          const ct_state* after, const ct_record* record, const double* control,
                          const ct_tangent_dot* given, ct_adjoint_state* dot, ct_backward_report* report) {
    if (!supports(record)) return CT_UNSUPPORTED;
    const size_t n = 3 * (size_t)model->nvert;
    copy(work->actuation, after->actuation, (size_t)model->actuators.size);
    control = ct_policy_control(model, work, before,
                                ct_control_or_values(model, before->header->time, control, work->control));
    keep_start(model, t, dot);
    change_inputs(model, work, t, before, after, control, given, dot);
    for (size_t k = 0; k < record->count; k++) {
        int unused = 0;
        reach over = reach_of(model, record, k, before, after);
        ct_status status = model->nunknown ? ct_precondition_choose(model, &work->preconditioner, after,
                                                                    over.substep->depth, &unused)
                                           : CT_OK;
        if (status == CT_OK)
            status = follow_substep(model, work, t, &over, before, given->solids, dot, report);
        if (status != CT_OK) return status;
    }
    copy(dot->x_previous, t->start.x, n);
    copy(dot->v_previous, t->start.v, n);
    copy(dot->q_previous, t->start.q, (size_t)model->tree.ndof);
    copy(dot->root_previous, t->start.root, 6 * (size_t)model->tree.nroot);
    memset(dot->anchor, 0, 3 * ct_state_anchor_room(model) * sizeof(double));
    return change_growth(model, work, t, before, after, dot);
}

// ---- public --------------------------------------------------------------------------------

// d(mu, lambda) of every tet along changes of Young's modulus and Poisson's ratio.
static void change_lame(const ct_material* m, double young, double poisson, double* mu, double* lambda) {
    const double E = m->young, nu = m->poisson, s = 1 + nu, q = 1 - 2 * nu;
    const double share = m->energy == CT_ENERGY_PROJECTIVE && m->paper_weights ? 1.0 / 3 : 1;
    *mu = young / (2 * s) - poisson * E / (2 * s * s);
    *lambda = share * (young * nu / (s * q) + poisson * E * (1 + 2 * nu * nu) / (s * s * q * q));
}

static ct_status change_solids(const ct_model* model, const ct_values* dot, ct_elastic** solids) {
    const double *young = dot->of[CT_QUANTITY_YOUNG], *poisson = dot->of[CT_QUANTITY_POISSON];
    const ct_elastic* own = model->families.of[CT_FAMILY_SOLIDS];
    ct_arena arena = {0};
    if (!own || (!young && !poisson)) return CT_OK;
    double *mu = ct_arena_alloc(&arena, (size_t)model->ntet, sizeof(double)),
           *lambda = ct_arena_alloc(&arena, (size_t)model->ntet, sizeof(double));
    ct_status status = arena.failed ? CT_OUT_OF_MEMORY : CT_OK;
    for (int t = 0; status == CT_OK && t < model->ntet; t++)
        change_lame(&model->material[t], young ? young[t] : 0, poisson ? poisson[t] : 0, &mu[t], &lambda[t]);
    if (status == CT_OK) status = ct_elastic_create_along(solids, own, mu, lambda);
    ct_arena_free(&arena);
    return status;
}

// By the controls, by gravity where no water weighs, and by the stiffness of solids.
static bool has_quantities(const ct_model* model, const ct_values* dot) {
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        if (!dot->of[q] || q == CT_QUANTITY_CONTROL) continue;
        if (q == CT_QUANTITY_GRAVITY && !model->water.enabled) continue;
        if ((q == CT_QUANTITY_YOUNG || q == CT_QUANTITY_POISSON) && !model->ntri) continue;
        return false;
    }
    return true;
}

typedef struct direction_step {
    const ct_model* model;
    ct_work* work;
    ct_tangent* tangent;
    const ct_state *before, *after;
    const ct_record* record;
    const double* control;
    ct_backward_report* report;
} direction_step;

static ct_status go_along(const direction_step* s, const ct_values* quantities, double* vector) {
    const ct_values none = {0}, *dots = quantities ? quantities : &none;
    ct_arena arena = {0};
    ct_elastic* solids = NULL;
    ct_adjoint_state dot = ct_vector_adjoint(s->model, &arena);
    ct_status status = arena.failed ? CT_OUT_OF_MEMORY : change_solids(s->model, dots, &solids);
    if (status == CT_OK) {
        const ct_tangent_dot given = {dots->of[CT_QUANTITY_CONTROL], dots->of[CT_QUANTITY_GRAVITY], solids};
        ct_vector_to_tangent(s->model, s->before, vector, &dot);
        status = ct_tangent_step(s->model, s->work, s->tangent, s->before, s->after, s->record, s->control,
                                 &given, &dot, s->report);
    }
    if (status == CT_OK) ct_vector_from_tangent(s->model, s->after, &dot, vector);
    ct_elastic_free(solids);
    ct_arena_free(&arena);
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
    ct_record record = {0};
    ct_tangent* tangent = NULL;
    ct_state* end = NULL;
    ct_status status = ct_state_create(&end, model, NULL);
    if (status == CT_OK) status = ct_state_copy(end, before);
    if (status == CT_OK) status = ct_tangent_create(&tangent, model);
    work->record = &record;
    if (status == CT_OK) status = ct_step(model, work, end, control, NULL);
    work->record = NULL;
    ct_blas_begin();
    const direction_step step = {model, work, tangent, before, end, &record, control, report};
    for (int i = 0; status == CT_OK && i < count; i++)
        status = go_along(&step, dots ? &dots[i] : NULL, state_dots + (size_t)i * size);
    ct_blas_end();
    if (status == CT_OK && after) status = ct_state_copy(after, end);
    ct_tangent_free(tangent);
    ct_record_free(&record);
    ct_state_free(end);
    report->seconds = ct_clock() - started;
    return status;
}
