// The adjoint of a step; see adjoint.h. The mirror of step/step.c: the same factor, the same Hessian
// products.
#include "step/adjoint.h"

#include <math.h>
#include <string.h>

#include "contact/growth.h"
#include "math/vecn.h"
#include "model/control_values.h"
#include "step/actuate.h"
#include "step/contact_adjoint.h"
#include "step/coords.h"
#include "step/external.h"
#include "step/phi.h"
#include "step/policy.h"

enum { GMRES_RESTART = 60, SOLVE_LIMIT = 2000 };

struct ct_adjoint {
    ct_arena arena;
    double *right, *lam_z;                     // nunknown
    ct_config config;                          // at the end of the sub-step
    double *q_kept, *torque_bar, *target_bar;  // ndof
    double* control_bar;                       // control size, where a policy acts or the caller wants none
    double *root_end, *root_end_bar, *root_start_bar, *root_bar;  // 7 nroot; 6 nroot
    double *lam, *g, *product;                                    // 3 nvert
    double *end_bar, *start_bar;  // 3 nvert: driven nodes at the end of the step, at its start
    double* force_bar;            // 3 nvert, sum of lam over sub-steps
    double* v_kept;               // 3 nvert
    ct_anchor *before, *after;    // of a sub-step's ends, where these are not the step's
    double* anchor_bar;           // 3 an anchor
    ct_adjoint_past past;         // systems of contacts
    ct_krylov_work* gmres;        // made when the first Hessian turns out indefinite
};

ct_status ct_adjoint_create(ct_adjoint** out, const ct_model* model) {
    *out = NULL;
    ct_adjoint* adjoint = ct_alloc(1, sizeof *adjoint);
    if (!adjoint) return CT_OUT_OF_MEMORY;
    size_t nodes = 3 * (size_t)model->nvert, unknowns = (size_t)model->nunknown;
    double** node_vectors[] = {&adjoint->lam,       &adjoint->g,         &adjoint->product, &adjoint->end_bar,
                               &adjoint->start_bar, &adjoint->force_bar, &adjoint->v_kept};
    for (size_t i = 0; i < sizeof node_vectors / sizeof node_vectors[0]; i++)
        *node_vectors[i] = ct_arena_alloc(&adjoint->arena, nodes, sizeof(double));
    ct_config_create(&adjoint->config, &adjoint->arena, &model->tree);
    double** rate_vectors[] = {&adjoint->q_kept, &adjoint->torque_bar, &adjoint->target_bar};
    for (size_t i = 0; i < sizeof rate_vectors / sizeof rate_vectors[0]; i++)
        *rate_vectors[i] = ct_arena_alloc(&adjoint->arena, (size_t)model->tree.ndof, sizeof(double));
    double** root_vectors[] = {&adjoint->root_end, &adjoint->root_end_bar, &adjoint->root_start_bar,
                               &adjoint->root_bar};
    for (size_t i = 0; i < sizeof root_vectors / sizeof root_vectors[0]; i++)
        *root_vectors[i] = ct_arena_alloc(&adjoint->arena, 7 * (size_t)model->tree.nroot, sizeof(double));
    size_t room = ct_state_anchor_room(model);
    adjoint->before = ct_arena_alloc(&adjoint->arena, room, sizeof *adjoint->before);
    adjoint->after = ct_arena_alloc(&adjoint->arena, room, sizeof *adjoint->after);
    adjoint->anchor_bar = ct_arena_alloc(&adjoint->arena, 3 * room, sizeof(double));
    adjoint->right = ct_arena_alloc(&adjoint->arena, unknowns, sizeof(double));
    adjoint->lam_z = ct_arena_alloc(&adjoint->arena, unknowns, sizeof(double));
    adjoint->control_bar =
        ct_arena_alloc(&adjoint->arena, (size_t)model->inputs.control_size, sizeof(double));
    if (adjoint->arena.failed) {
        ct_adjoint_free(adjoint);
        return CT_OUT_OF_MEMORY;
    }
    *out = adjoint;
    return CT_OK;
}

void ct_adjoint_free(ct_adjoint* adjoint) {
    if (!adjoint) return;
    ct_krylov_work_free(adjoint->gmres);
    ct_adjoint_past_free(&adjoint->past);
    ct_arena_free(&adjoint->arena);
    ct_free(adjoint);
}

// ---- H lam = right -------------------------------------------------------------------------

typedef struct adjoint_context {
    const ct_model* model;
    ct_work* work;
    const ct_config* config;
    ct_backward_report* report;
} adjoint_context;

static void hessian_product(const double* in, double* out, void* user) {
    adjoint_context* context = user;
    ct_phi_hessian(context->model, context->work, context->config, in, out);
}

static void precondition(const double* in, double* out, void* user) {
    adjoint_context* context = user;
    ct_precondition_apply(context->model, &context->work->preconditioner, context->config, in, out);
    context->report->solves++;
}

// Conjugate gradients; GMRES where the Hessian is not positive definite.
static ct_status solve(const ct_model* model, ct_work* work, ct_adjoint* adjoint,
                       ct_backward_report* report) {
    size_t n = (size_t)model->nunknown;
    double size = ct_vecn_norm(adjoint->right, n);
    memset(adjoint->lam_z, 0, n * sizeof(double));
    if (size == 0) return CT_OK;
    adjoint_context context = {model, work, &adjoint->config, report};
    ct_krylov_def def = {.n = (int)n,
                         .apply = hessian_product,
                         .precondition = precondition,
                         .user = &context,
                         .tolerance = model->settings.tolerance * size,
                         .max_iterations = SOLVE_LIMIT};
    ct_krylov_report inner;
    ct_pcg(&def, work->krylov, adjoint->right, adjoint->lam_z, &inner);
    if (inner.end == CT_KRYLOV_NEGATIVE || inner.end == CT_KRYLOV_BREAKDOWN) {
        if (!adjoint->gmres) {
            ct_status status = ct_krylov_work_create(&adjoint->gmres, (int)n, GMRES_RESTART);
            if (status != CT_OK) return status;
        }
        ct_gmres(&def, adjoint->gmres, adjoint->right, adjoint->lam_z, &inner);
    }
    report->max_residual = fmax(report->max_residual, inner.residual / size);
    // conjugate gradients may end at the round-off of their recursion; what counts is that the residual is
    // small
    return inner.residual <= fmax(def.tolerance, 1e-9 * size) ? CT_OK : CT_NOT_CONVERGED;
}

// ---- one (sub-)step ------------------------------------------------------------------------

// H lam in node space, where driven nodes or roots want it.
static void reverse_product(const ct_model* model, ct_work* work, ct_adjoint* adjoint) {
    if (model->nfree == model->nvert) return;
    ct_phi_product(model, work, &adjoint->config, adjoint->lam, adjoint->product);
    if (work->contact) ct_contact_adjoint_nodes(work, adjoint->lam, adjoint->product);
}

// g holds x_bar + c v_bar: x_D_bar of the driven nodes goes to the ends of their motion.
static void reverse_drive(const ct_model* model, ct_adjoint* adjoint, double fraction) {
    for (int i = 0; i < model->inputs.ndrive; i++)
        for (int k = 0; k < model->inputs.drive[i].nnode; k++)
            for (int j = 3 * model->inputs.drive[i].node[k], end = j + 3; j < end; j++) {
                double bar = adjoint->g[j] - adjoint->product[j];
                adjoint->end_bar[j] += fraction * bar;
                adjoint->start_bar[j] += (1 - fraction) * bar;
            }
}

// A sub-step with its ends.
typedef struct reach {
    const ct_substep* substep;
    const ct_touch_record* touch;  // its contacts
    const double *x_start, *v_start, *q_start;
    const double *x, *q;       // at its end
    ct_anchors before, after;  // forces of contacts at its ends
} reach;

// At the solution: the configuration, the force imbalance there (for the skeleton's curvature), the Hessian,
// the warp.
static ct_status linearise(const ct_model* model, ct_work* work, ct_adjoint* adjoint, const reach* over,
                           const ct_state* before, const ct_state* after) {
    double time = before->header->time;
    ct_config* config = &adjoint->config;
    const ct_substep* substep = over->substep;
    const double* x = over->x;
    memcpy(config->x, x, 3 * (size_t)model->nvert * sizeof(double));
    if (model->tree.nlink) {
        memcpy(config->q, over->q, (size_t)model->tree.ncoordinate * sizeof(double));
        ct_config_place(&model->tree, config);
        ct_phi_gradient(model, work, x, work->rho);
    }
    if (work->contact) {
        double length = 1.0 / (double)(1 << substep->depth), h = model->settings.time_step;
        ct_contact_start start = {.x = over->x_start,
                                  .v = over->v_start,
                                  .x_end = config->x,
                                  .time = time + (substep->fraction - length) * h,
                                  .h = length * h,
                                  .rate = substep->rate.c,
                                  .shortened = substep->depth > 0,
                                  .past = over->before,
                                  .growth = after->growth,
                                  .elapsed = time + substep->fraction * h - after->header->growth_start};
        ct_status status =
            ct_contact_adjoint_begin(model, work, config, over->touch, substep->ntouch, &start);
        if (status != CT_OK) return status;
    }
    ct_phi_linearise(model, work, config, work->rho);
    // contacts warp where they need it
    if (model->nunknown && !(work->contact && substep->ntouch))
        ct_precondition_warp(model, &work->preconditioner, config, work->rho);
    return CT_OK;
}

// Poses of the driven roots at the sub-step's end, from the nodes that they carry; g holds x_bar + c v_bar.
static void reverse_roots(const ct_model* model, ct_work* work, ct_adjoint* adjoint, const ct_state* before,
                          double fraction, ct_adjoint_state* bar) {
    const ct_tree* tree = &model->tree;
    if (!tree->nroot) return;
    memcpy(adjoint->root_bar, bar->root, 6 * (size_t)tree->nroot * sizeof(double));
    for (int k = 0; k < tree->nlink; k++) {
        int top = k;
        while (tree->parent[top] >= 0) top = tree->parent[top];
        if (tree->root[top] < 0) continue;
        double* out = adjoint->root_bar + 6 * tree->root[top];
        ct_vec3 center = ct_vec3_load(adjoint->config.q + tree->root_coordinate + 7 * tree->root[top]);
        ct_vec3 force = ct_vec3_load(out), moment = ct_vec3_load(out + 3);
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            size_t at = 3 * (size_t)tree->node[i];
            ct_vec3 y = ct_vec3_sub(ct_vec3_load(adjoint->g + at), ct_vec3_load(adjoint->product + at));
            force = ct_vec3_add(force, y);
            moment = ct_vec3_add(moment,
                                 ct_vec3_cross(ct_vec3_sub(ct_vec3_load(adjoint->config.x + at), center), y));
            moment = ct_vec3_sub(
                moment, ct_vec3_cross(ct_vec3_load(adjoint->lam + at), ct_vec3_load(work->rho + at)));
        }
        ct_vec3_store(out, force);
        ct_vec3_store(out + 3, moment);
    }
    memset(bar->root, 0, 6 * (size_t)tree->nroot * sizeof(double));
    ct_external_roots_between_vjp(model, before->q + tree->root_coordinate, adjoint->root_end, fraction,
                                  adjoint->root_bar, adjoint->root_start_bar, adjoint->root_end_bar);
}

// From bar at its end to bar at the sub-step's start. x_previous and v_previous are those of the state
// before, used when the sub-step is of second order.
static ct_status reverse_substep(const ct_model* model, ct_work* work, ct_adjoint* adjoint, const reach* over,
                                 const ct_state* before, const ct_state* after, ct_adjoint_state* bar,
                                 ct_sums* sums, double* control_bar, ct_backward_report* report) {
    const ct_substep* substep = over->substep;
    const ct_rate rate = substep->rate;
    size_t n = 3 * (size_t)model->nvert;

    // linearise at the solution
    const ct_phi_start start = {.rate = rate,
                                .second_order = substep->history,
                                .rated = sums->of[CT_SUM_BETA] != NULL,
                                .x = over->x_start,
                                .v = over->v_start,
                                .x_previous = before->x_previous,
                                .v_previous = before->v_previous,
                                .q = over->q_start,
                                .q_previous = before->q_previous};
    ct_phi_begin(model, work, &start);
    ct_status status = linearise(model, work, adjoint, over, before, after);
    if (status != CT_OK) return status;

    // H lam = x_bar + c v_bar
    for (size_t i = 0; i < n; i++) adjoint->g[i] = bar->x[i] + rate.c * bar->v[i];
    ct_coords_pull(model, work, &adjoint->config, adjoint->g, adjoint->right);
    ct_config_pull_tangents(&model->tree, &adjoint->config, bar->q,
                            adjoint->right + 3 * (size_t)model->nfree);
    bool touching = work->contact && substep->ntouch;
    if (touching)
        status = ct_contact_adjoint_solve(model, work, &adjoint->config, adjoint->right, over->after,
                                          bar->anchor, &adjoint->past, adjoint->lam_z, report);
    else if (model->nunknown) status = solve(model, work, adjoint, report);
    if (status != CT_OK) return status;
    ct_coords_push(model, work, &adjoint->config, adjoint->lam_z, adjoint->lam);

    for (size_t i = 0; i < n; i++) adjoint->force_bar[i] += adjoint->lam[i];
    reverse_product(model, work, adjoint);
    reverse_roots(model, work, adjoint, before, substep->fraction, bar);

    // the state before, and the quantities
    const ct_family_bar to = {.x_n = bar->x,
                              .v_n = bar->v,
                              .x_nm1 = bar->x_previous,
                              .v_nm1 = bar->v_previous,
                              .q_n = bar->q,
                              .q_nm1 = bar->q_previous,
                              .torque = adjoint->torque_bar,
                              .target = adjoint->target_bar,
                              .actuation = bar->actuation,
                              .sums = sums};
    ct_phi_vjp(model, work, &adjoint->config, adjoint->lam_z, adjoint->lam, &to);
    ct_external_joints_vjp(model, to.torque, to.target, control_bar);
    if (work->contact) {
        const ct_contact_bar contact = {.x = bar->x,
                                        .v = bar->v,
                                        .end = adjoint->g,
                                        .anchor = adjoint->anchor_bar,
                                        .growth = bar->growth,
                                        .sums = sums};
        ct_contact_adjoint_start(model, work, adjoint->lam, adjoint->config.x, &contact);
        double* swap = bar->anchor;
        bar->anchor = adjoint->anchor_bar;
        adjoint->anchor_bar = swap;
    }
    reverse_drive(model, adjoint, substep->fraction);
    return CT_OK;
}

// ---- the whole step ------------------------------------------------------------------------

// Forces of the contacts that sub-step k left, into `out`.
static ct_anchors anchors_after(const ct_record* record, size_t k, const ct_state* state, ct_anchor* out) {
    const ct_substep* substep = &record->step[k];
    int count = ct_anchor_write(record->touch + substep->first_touch, sizeof *record->touch, substep->ntouch,
                                out, (int)state->header->anchor_room);
    return (ct_anchors){out, count};
}

// Sub-step k of the recorded ones between the states.
static reach reach_of(const ct_model* model, ct_adjoint* adjoint, const ct_record* record, size_t k,
                      const ct_state* before, const ct_state* after) {
    const ct_substep* substep = &record->step[k];
    reach over = {.substep = substep,
                  .touch = record->touch + substep->first_touch,
                  .x_start = before->x,
                  .v_start = before->v,
                  .q_start = before->q,
                  .x = after->x,
                  .q = after->q,
                  .before = ct_state_anchors(before),
                  .after = ct_state_anchors(after)};
    if (k > 0) {
        over.before = anchors_after(record, k - 1, before, adjoint->before);
        ct_record_start start = ct_record_start_of(record, model, k);
        over.x_start = start.x, over.v_start = start.v, over.q_start = start.q;
    }
    if (k + 1 < record->count) {
        over.after = anchors_after(record, k, before, adjoint->after);
        ct_record_start next = ct_record_start_of(record, model, k + 1);
        over.x = next.x, over.q = next.q;
    }
    return over;
}

static size_t growth_size(const ct_model* model) {
    return (size_t)model->collision.ncollider * (size_t)model->collision.ncollider;
}

ct_status ct_adjoint_step(const ct_model* model, ct_work* work, ct_adjoint* adjoint, const ct_state* before,
                          const ct_state* after, const ct_record* record, const double* control,
                          ct_adjoint_state* bar, ct_sums* sums, double* control_bar,
                          ct_backward_report* report) {
    size_t n = 3 * (size_t)model->nvert;
    double time = before->header->time, end = time + model->settings.time_step;
    // the state after holds that before as its history: keep those adjoints for the end
    double* x_kept = adjoint->start_bar;
    memcpy(x_kept, bar->x_previous, n * sizeof(double));
    memset(adjoint->end_bar, 0, n * sizeof(double));
    memset(adjoint->force_bar, 0, n * sizeof(double));
    memcpy(adjoint->q_kept, bar->q_previous, (size_t)model->tree.ndof * sizeof(double));
    double* v_kept = adjoint->v_kept;
    memcpy(v_kept, bar->v_previous, n * sizeof(double));

    if (model->actuators.size)
        memcpy(work->actuation, after->actuation, (size_t)model->actuators.size * sizeof(double));
    control =
        ct_policy_control(model, work, before, ct_control_or_values(model, time, control, work->control));
    double* given_bar = control_bar;
    if (!control_bar || model->policy.enabled)
        control_bar = memset(adjoint->control_bar, 0, (size_t)model->inputs.control_size * sizeof(double));
    ct_external_forces(model, time, control, work->force);
    ct_external_roots(model, end, control, after->mount, adjoint->root_end);
    memset(adjoint->root_start_bar, 0, 6 * (size_t)model->tree.nroot * sizeof(double));
    memset(adjoint->root_end_bar, 0, 6 * (size_t)model->tree.nroot * sizeof(double));
    ct_external_joints(model, control, work->families.of[CT_FAMILY_JOINTS]);
    for (size_t k = record->count; k-- > 0;) {
        int unused = 0;
        reach over = reach_of(model, adjoint, record, k, before, after);
        ct_status status = model->nunknown ? ct_precondition_choose(model, &work->preconditioner, after,
                                                                    over.substep->depth, &unused)
                                           : CT_OK;
        if (status == CT_OK)
            status =
                reverse_substep(model, work, adjoint, &over, before, after, bar, sums, control_bar, report);
        if (status != CT_OK) return status;
    }
    for (size_t i = 0; i < n; i++) {
        bar->x[i] += x_kept[i];
        bar->v[i] += v_kept[i];
    }
    for (int j = 0; j < model->tree.ndof; j++) bar->q[j] += adjoint->q_kept[j];
    ct_actuate_vjp(model, bar->actuation, control_bar);
    ct_external_forces_vjp(model, time, control, adjoint->force_bar, sums->of[CT_SUM_MASS],
                           sums->of[CT_QUANTITY_GRAVITY], control_bar);
    ct_water_buoyancy_vjp(model->families.of[CT_FAMILY_WATER], adjoint->force_bar, sums);
    memcpy(bar->root, adjoint->root_start_bar, 6 * (size_t)model->tree.nroot * sizeof(double));
    ct_external_drive_vjp(model, end, control, after->mount, adjoint->end_bar, control_bar, bar->mount);
    ct_external_roots_vjp(model, end, control, after->mount, adjoint->root_end_bar, control_bar, bar->mount);
    ct_mounts_move_vjp(model, control, bar->mount, control_bar);
    if (work->contact && !before->header->grown) {
        ct_status status = ct_growth_vjp(&model->collision, work->contact->detect, &work->contact->near,
                                         before->x, time, after->growth, bar->growth, bar->x);
        if (status != CT_OK) return status;
        memset(bar->growth, 0, growth_size(model) * sizeof(double));  // it is measured, not carried
    }
    if (!model->policy.enabled) return CT_OK;
    ct_policy_vjp(model, work, before, control_bar, bar->x, bar->v, bar->q, sums->of[CT_QUANTITY_POLICY]);
    for (int i = 0; given_bar && i < model->inputs.control_size; i++) given_bar[i] += control_bar[i];
    return CT_OK;
}
