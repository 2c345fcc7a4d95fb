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
#include "step/linear_solve.h"
#include "step/link_stages.h"
#include "step/phi.h"
#include "step/policy.h"
#include "step/reach.h"

// Adjoint of where stages start and end: 3 nvert each, q ndof.
typedef struct stage_bar {
    double *x, *v, *q;
} stage_bar;

struct ct_adjoint {
    ct_arena arena;
    double *right, *lam_z;                     // nunknown
    double *rest, *correction;                 // nunknown: with contacts
    ct_config config;                          // at the end of the sub-step
    double *q_kept, *torque_bar, *target_bar;  // ndof
    double* control_bar;                       // control size, where a policy acts or the caller wants none
    double *root_end, *root_end_bar, *root_start_bar, *root_bar;  // 7 nroot; 6 nroot
    double *lam, *g, *product;                                    // 3 nvert
    double *end_bar, *start_bar;  // 3 nvert: driven nodes at the end of the step, at its start
    double* force_bar;            // 3 nvert, sum of lam over sub-steps
    double* v_kept;               // 3 nvert
    ct_reach_work reach;
    double* anchor_bar;    // 3 an anchor
    ct_adjoint_past past;  // systems of contacts
    // integrators with stages: of the step's start and of the stages before the last; of what one of them
    // contributes to these
    stage_bar part[CT_STAGES], share[CT_STAGES];
    double *from_x_bar, *from_v_bar;            // 3 nvert: of where a stage's motion is counted from
    double* middle;                             // 3 nvert: end of the stage of the midpoint rule
    double* rate_bar;                           // ndof: of the links' rates at the step's start
    double *stage_actuation, *start_actuation;  // of the actuators, during a stage and before the step
    ct_krylov_work* gmres;                      // of linear_solve.h
};

static void allocate_stages(ct_adjoint* adjoint, const ct_model* model) {
    ct_arena* arena = &adjoint->arena;
    const size_t nodes = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof;
    for (int i = 0; i < CT_STAGES; i++)
        for (int k = 0; k < 2; k++) {
            stage_bar* bar = k ? &adjoint->share[i] : &adjoint->part[i];
            bar->x = ct_arena_alloc(arena, nodes, sizeof(double));
            bar->v = ct_arena_alloc(arena, nodes, sizeof(double));
            bar->q = ct_arena_alloc(arena, ndof, sizeof(double));
        }
    double** vectors[] = {&adjoint->from_x_bar, &adjoint->from_v_bar, &adjoint->middle};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        *vectors[i] = ct_arena_alloc(arena, nodes + 1, sizeof(double));
    adjoint->rate_bar = ct_arena_alloc(arena, ndof, sizeof(double));
    adjoint->stage_actuation = ct_arena_alloc(arena, (size_t)model->actuators.size, sizeof(double));
    adjoint->start_actuation = ct_arena_alloc(arena, (size_t)model->actuators.size, sizeof(double));
}

ct_status ct_adjoint_create(ct_adjoint** out, const ct_model* model) {
    *out = NULL;
    ct_adjoint* adjoint = ct_alloc(1, sizeof *adjoint);
    if (!adjoint) return CT_OUT_OF_MEMORY;
    size_t nodes = 3 * (size_t)model->nvert, unknowns = (size_t)model->nunknown;
    double** node_vectors[] = {&adjoint->lam,       &adjoint->g,         &adjoint->product, &adjoint->end_bar,
                               &adjoint->start_bar, &adjoint->force_bar, &adjoint->v_kept};
    for (size_t i = 0; i < sizeof node_vectors / sizeof node_vectors[0]; i++)
        *node_vectors[i] = ct_arena_alloc(&adjoint->arena, nodes, sizeof(double));
    if (ct_rate_stages(model->settings.integrator)) allocate_stages(adjoint, model);
    ct_config_create(&adjoint->config, &adjoint->arena, &model->tree);
    double** rate_vectors[] = {&adjoint->q_kept, &adjoint->torque_bar, &adjoint->target_bar};
    for (size_t i = 0; i < sizeof rate_vectors / sizeof rate_vectors[0]; i++)
        *rate_vectors[i] = ct_arena_alloc(&adjoint->arena, (size_t)model->tree.ndof, sizeof(double));
    double** root_vectors[] = {&adjoint->root_end, &adjoint->root_end_bar, &adjoint->root_start_bar,
                               &adjoint->root_bar};
    for (size_t i = 0; i < sizeof root_vectors / sizeof root_vectors[0]; i++)
        *root_vectors[i] = ct_arena_alloc(&adjoint->arena, 7 * (size_t)model->tree.nroot, sizeof(double));
    size_t room = ct_state_anchor_room(model);
    ct_reach_work_create(&adjoint->reach, &adjoint->arena, model);
    adjoint->anchor_bar = ct_arena_alloc(&adjoint->arena, 3 * room, sizeof(double));
    adjoint->right = ct_arena_alloc(&adjoint->arena, unknowns, sizeof(double));
    adjoint->rest = ct_arena_alloc(&adjoint->arena, unknowns, sizeof(double));
    adjoint->correction = ct_arena_alloc(&adjoint->arena, unknowns, sizeof(double));
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

// ---- one (sub-)step ------------------------------------------------------------------------

// H lam in node space, where driven nodes or roots want it.
static void reverse_product(const ct_model* model, ct_work* work, ct_adjoint* adjoint) {
    if (model->nfree == model->nvert) return;
    ct_phi_product(model, work, &adjoint->config, adjoint->lam, adjoint->product);
    if (work->contact) ct_contact_adjoint_nodes(work, adjoint->lam, adjoint->product);
}

// g holds x_bar + c v_bar: x_D_bar of the driven nodes goes to the ends of their motion.
static void reverse_drive(const ct_model* model, ct_adjoint* adjoint, const ct_substep* substep) {
    const double fraction = substep->fraction;
    // at stages these are where their motion has them
    const bool exact = ct_rate_stages(substep->rule) > 1;
    for (int i = 0; i < model->inputs.ndrive; i++)
        for (int k = 0; !(exact && !ct_external_is_steered(model, i)) && k < model->inputs.drive[i].nnode;
             k++)
            for (int j = 3 * model->inputs.drive[i].node[k], end = j + 3; j < end; j++) {
                double bar = adjoint->g[j] - adjoint->product[j];
                adjoint->end_bar[j] += fraction * bar;
                adjoint->start_bar[j] += (1 - fraction) * bar;
            }
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

// H lam = right with contacts; with links (H + C)^T lam = right, by solves with H.
static ct_status solve_touching(const ct_model* model, ct_work* work, ct_adjoint* adjoint,
                                const ct_reach* over, const ct_adjoint_state* bar,
                                ct_backward_report* report) {
    const size_t n = (size_t)model->nunknown;
    ct_link_rounds rounds = {.size = ct_vecn_norm(adjoint->right, n)};
    memcpy(adjoint->rest, adjoint->right, n * sizeof(double));
    for (;;) {
        ct_status status = ct_contact_adjoint_solve(model, work, &adjoint->config, adjoint->rest, over->after,
                                                    bar->anchor, &adjoint->past, adjoint->lam_z, report);
        if (status != CT_OK || !work->step.links) return status;
        // the next right side, and how far it is from this one
        double change = 0;
        ct_coords_push(model, work, &adjoint->config, adjoint->lam_z, adjoint->lam);
        memset(adjoint->correction, 0, n * sizeof(double));
        ct_link_stages_transposed(model, work, &adjoint->config, adjoint->lam, adjoint->lam_z,
                                  adjoint->correction);
        for (size_t i = 0; i < n; i++) {
            const double next = adjoint->right[i] - adjoint->correction[i], d = next - adjoint->rest[i];
            change += d * d;
            adjoint->rest[i] = next;
        }
        bool done;
        status = ct_link_rounds_next(&rounds, model->settings.tolerance, sqrt(change), &done);
        if (status != CT_OK || done) return status;
    }
}

// The right side of links: their velocities are those of their motion, not of chords.
static void pull_links(const ct_model* model, ct_work* work, ct_adjoint* adjoint, const double* v_bar) {
    const ct_link_bar to = ct_link_stages_vjp(model, work, &adjoint->config, v_bar, NULL, NULL);
    ct_config_pull_tangents(&model->tree, &adjoint->config, to.now,
                            adjoint->right + 3 * (size_t)model->nfree);
}

// What their motion depends on, into the start's and the stages' parts.
static void add_links(const ct_model* model, ct_adjoint* adjoint, const ct_link_bar* from,
                      const ct_adjoint_state* bar, const stage_bar* second) {
    for (int j = 0; j < model->tree.ndof; j++) {
        bar->q[j] += from->start[j];
        bar->q_previous[j] += from->stage[0][j];
        second->q[j] = from->stage[1][j];
        adjoint->rate_bar[j] += from->rate[j];
    }
}

// From bar at its end to bar at the sub-step's start; `second`: to that of the second stage.
static ct_status reverse_substep(const ct_model* model, ct_work* work, ct_adjoint* adjoint,
                                 const ct_reach* over, const ct_state* before, const ct_state* after,
                                 ct_adjoint_state* bar, const stage_bar* second, ct_sums* sums,
                                 double* control_bar, ct_backward_report* report) {
    const ct_substep* substep = over->substep;
    const ct_rate rate = substep->rate;
    size_t n = 3 * (size_t)model->nvert;
    if (ct_work_cancelled(work)) return CT_CANCELLED;

    // linearise at the solution
    ct_status status =
        ct_reach_linearise(model, work, over, after, sums->of[CT_SUM_BETA] != NULL, &adjoint->config);
    if (status != CT_OK) return status;

    // H lam = x_bar + c v_bar
    const ct_link_motion* links = work->step.links;
    for (size_t i = 0; i < n; i++) adjoint->g[i] = bar->x[i] + rate.c * bar->v[i];
    for (int k = 0; links && k < links->count; k++)
        memcpy(adjoint->g + 3 * (size_t)links->node[k], bar->x + 3 * (size_t)links->node[k],
               3 * sizeof(double));
    ct_coords_pull(model, work, &adjoint->config, adjoint->g, adjoint->right);
    ct_config_pull_tangents(&model->tree, &adjoint->config, bar->q,
                            adjoint->right + 3 * (size_t)model->nfree);
    if (links) pull_links(model, work, adjoint, bar->v);
    bool touching = work->contact && substep->ntouch;
    if (touching) status = solve_touching(model, work, adjoint, over, bar, report);
    else if (links)
        status = ct_linear_solve_links(model, work, &adjoint->config, &adjoint->gmres, true, adjoint->right,
                                       adjoint->lam_z, report);
    else if (model->nunknown)
        status = ct_linear_solve(model, work, &adjoint->config, &adjoint->gmres, adjoint->right,
                                 adjoint->lam_z, report);
    if (status != CT_OK) return status;
    ct_coords_push(model, work, &adjoint->config, adjoint->lam_z, adjoint->lam);

    for (size_t i = 0; i < n; i++) adjoint->force_bar[i] += adjoint->lam[i];
    reverse_product(model, work, adjoint);
    reverse_roots(model, work, adjoint, before, substep->fraction, bar);

    ct_link_bar motion = {0};
    if (links)
        motion = ct_link_stages_vjp(model, work, &adjoint->config, bar->v, adjoint->lam, adjoint->lam_z);

    // the state before, and the quantities
    const ct_family_bar to = {.x_n = bar->x,
                              .v_n = bar->v,
                              .x_nm1 = bar->x_previous,
                              .v_nm1 = bar->v_previous,
                              .x_nm2 = second ? second->x : NULL,
                              .v_nm2 = second ? second->v : NULL,
                              .q_n = bar->q,
                              .q_nm1 = bar->q_previous,
                              .q_nm2 = second ? second->q : NULL,
                              .torque = adjoint->torque_bar,
                              .target = adjoint->target_bar,
                              .actuation = bar->actuation,
                              .sums = sums};
    ct_phi_vjp(model, work, &adjoint->config, adjoint->lam_z, adjoint->lam, &to);
    ct_external_joints_vjp(model, to.torque, to.target, control_bar);
    if (links) add_links(model, adjoint, &motion, bar, second);
    if (work->contact) {
        const ct_contact_bar contact = {.x = second ? adjoint->from_x_bar : bar->x,
                                        .v = second ? adjoint->from_v_bar : bar->v,
                                        .end = adjoint->g,
                                        .anchor = adjoint->anchor_bar,
                                        .growth = bar->growth,
                                        .sums = sums};
        ct_contact_adjoint_start(model, work, adjoint->lam, adjoint->config.x, &contact);
        double* swap = bar->anchor;
        bar->anchor = adjoint->anchor_bar;
        adjoint->anchor_bar = swap;
    }
    reverse_drive(model, adjoint, substep);
    return CT_OK;
}

// ---- the whole step ------------------------------------------------------------------------

// ---- stages --------------------------------------------------------------------------------

static void add(double* to, double scale, const double* from, size_t n) {
    if (n) ct_vecn_axpy(to, scale, from, n);
}

// The midpoint rule, x = 2 y - x_n, v = 2 v_y - v_n; driven nodes: x given, v = v_y.
static void reverse_reflection(const ct_model* model, ct_adjoint* adjoint, const ct_state* before,
                               const ct_state* after, ct_adjoint_state* bar) {
    stage_bar* start = &adjoint->part[0];
    for (int k = 0; k < model->nvert; k++)
        for (int i = 3 * k; i < 3 * k + 3; i++) {
            adjoint->middle[i] = 0.5 * (before->x[i] + after->x[i]);
            if (model->row[k] >= 0) {
                start->x[i] = -bar->x[i], bar->x[i] *= 2;
                start->v[i] = -bar->v[i], bar->v[i] *= 2;
            } else {
                adjoint->end_bar[i] += bar->x[i], bar->x[i] = 0;
            }
        }
}

static ct_status reverse_stages(const ct_model* model, ct_work* work, ct_adjoint* adjoint,
                                const ct_state* before, const ct_state* after, const ct_record* record,
                                const double* control, ct_adjoint_state* bar, ct_sums* sums,
                                double* control_bar, ct_backward_report* report) {
    const size_t n = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof,
                 nactuator = (size_t)model->actuators.size;
    stage_bar *part = adjoint->part, *share = adjoint->share;
    const ct_integrator rule = record->step[0].rule;
    for (int i = 0; i < CT_STAGES; i++) {
        memset(part[i].x, 0, n * sizeof(double));
        memset(part[i].v, 0, n * sizeof(double));
        if (ndof) memset(part[i].q, 0, ndof * sizeof(double));
    }
    if (nactuator) memset(adjoint->start_actuation, 0, nactuator * sizeof(double));
    if (rule == CT_INTEGRATOR_MIDPOINT) reverse_reflection(model, adjoint, before, after, bar);
    if (work->links) ct_link_stages_begin(model, work->links, rule, before->q, before->v);
    if (ndof) memset(adjoint->rate_bar, 0, ndof * sizeof(double));
    for (int i = (int)record->count; i-- > 0;) {
        ct_reach over = ct_reach_stage(model, &adjoint->reach, record, i, before, after);
        if (rule == CT_INTEGRATOR_MIDPOINT) over.x = adjoint->middle;
        if (i + 1 < (int)record->count) {
            memcpy(bar->x, part[i + 1].x, n * sizeof(double));
            memcpy(bar->v, part[i + 1].v, n * sizeof(double));
            if (ndof) memcpy(bar->q, part[i + 1].q, ndof * sizeof(double));
        }
        ct_adjoint_state stage = *bar;
        stage.x_previous = share[1].x, stage.v_previous = share[1].v, stage.q_previous = share[1].q;
        stage.actuation = adjoint->stage_actuation;
        if (nactuator) memset(stage.actuation, 0, nactuator * sizeof(double));
        memset(adjoint->from_x_bar, 0, n * sizeof(double));
        memset(adjoint->from_v_bar, 0, n * sizeof(double));
        ct_actuate_at(model, before->actuation, control, over.substep->fraction, work->actuation);
        ct_status status = reverse_substep(model, work, adjoint, &over, before, after, &stage, &share[2],
                                           sums, control_bar, report);
        if (status != CT_OK) return status;
        bar->anchor = stage.anchor;
        const ct_rate rate = over.substep->rate;
        const double weight[] = {rate.a / rate.c, rate.b / rate.c, rate.e / rate.c};
        const stage_bar from[] = {{bar->x, bar->v, bar->q}, share[1], share[2]};
        for (int j = 0; j <= i; j++) {
            add(part[j].x, 1, from[j].x, n);
            add(part[j].v, 1, from[j].v, n);
            add(part[j].q, 1, from[j].q, ndof);
            if (!work->contact) continue;
            add(part[j].x, weight[j], adjoint->from_x_bar, n);
            add(part[j].v, weight[j], adjoint->from_v_bar, n);
        }
        ct_actuate_at_vjp(model, over.substep->fraction, stage.actuation, adjoint->start_actuation,
                          control_bar);
    }
    if (work->links)
        ct_link_stages_start_vjp(model, work->links, adjoint->rate_bar, part[0].q, part[0].v,
                                 sums->of[CT_SUM_MASS]);
    memcpy(bar->x, part[0].x, n * sizeof(double));
    memcpy(bar->v, part[0].v, n * sizeof(double));
    if (ndof) memcpy(bar->q, part[0].q, ndof * sizeof(double));
    memset(bar->x_previous, 0, n * sizeof(double));
    memset(bar->v_previous, 0, n * sizeof(double));
    if (ndof) memset(bar->q_previous, 0, ndof * sizeof(double));
    return CT_OK;
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
    memcpy(adjoint->root_start_bar, bar->root_previous, 6 * (size_t)model->tree.nroot * sizeof(double));
    memset(adjoint->root_end_bar, 0, 6 * (size_t)model->tree.nroot * sizeof(double));
    ct_external_joints(model, control, work->families.of[CT_FAMILY_JOINTS]);
    const bool staged = ct_rate_stages(record->step[0].rule) > 0;
    if (staged) {
        int unused = 0;
        ct_status status =
            model->nunknown ? ct_precondition_choose(model, &work->preconditioner, after, 0, &unused) : CT_OK;
        if (status == CT_OK)
            status = reverse_stages(model, work, adjoint, before, after, record, control, bar, sums,
                                    control_bar, report);
        if (status != CT_OK) return status;
    }
    for (size_t k = staged ? 0 : record->count; k-- > 0;) {
        int unused = 0;
        ct_reach over = ct_reach_substep(model, &adjoint->reach, record, k, before, after);
        ct_status status = model->nunknown ? ct_precondition_choose(model, &work->preconditioner, after,
                                                                    over.substep->depth, &unused)
                                           : CT_OK;
        if (status == CT_OK)
            status = reverse_substep(model, work, adjoint, &over, before, after, bar, NULL, sums, control_bar,
                                     report);
        if (status != CT_OK) return status;
    }
    for (size_t i = 0; i < n; i++) {
        bar->x[i] += x_kept[i];
        bar->v[i] += v_kept[i];
    }
    for (int j = 0; j < model->tree.ndof; j++) bar->q[j] += adjoint->q_kept[j];
    ct_actuate_vjp(model, bar->actuation, control_bar);
    for (int i = 0; staged && i < model->actuators.size; i++)
        bar->actuation[i] += adjoint->start_actuation[i];
    ct_external_forces_vjp(model, time, control, adjoint->force_bar, sums->of[CT_SUM_MASS],
                           sums->of[CT_QUANTITY_GRAVITY], control_bar);
    ct_water_buoyancy_vjp(model->families.of[CT_FAMILY_WATER], adjoint->force_bar, sums);
    memcpy(bar->root, adjoint->root_start_bar, 6 * (size_t)model->tree.nroot * sizeof(double));
    memset(bar->root_previous, 0, 6 * (size_t)model->tree.nroot * sizeof(double));
    ct_external_drive_vjp(model, end, control, after->mount, adjoint->end_bar, control_bar, bar->mount);
    ct_external_roots_vjp(model, end, control, after->mount, adjoint->root_end_bar, control_bar, bar->mount);
    ct_mounts_move_vjp(model, control, bar->mount, control_bar);
    if (work->contact && !before->header->grown) {
        ct_status status = ct_growth_vjp(&model->collision, work->contact->detect, &work->contact->near,
                                         before->x, time, after->growth, bar->growth, bar->x);
        if (status != CT_OK) return status;
        memset(bar->growth, 0,
               (size_t)model->collision.ncollider * sizeof(double));  // it is measured, not carried
    }
    if (!model->policy.enabled) return CT_OK;
    ct_policy_vjp(model, work, before, control_bar, bar->x, bar->v, bar->q, sums->of[CT_QUANTITY_POLICY]);
    for (int i = 0; given_bar && i < model->inputs.control_size; i++) given_bar[i] += control_bar[i];
    return CT_OK;
}
