// A step along a direction; see tangent.h. It reads like step.c, forwards.
#include "step/tangent.h"

#include <math.h>
#include <string.h>

#include "contact/growth.h"
#include "force/elastic.h"
#include "math/vecn.h"
#include "model/control_values.h"
#include "step/actuate.h"
#include "step/contact_tangent.h"
#include "step/coords.h"
#include "step/external.h"
#include "step/linear_solve.h"
#include "step/link_stages.h"
#include "step/phi.h"
#include "step/policy.h"
#include "step/reach.h"
#include "step/vector.h"

struct ct_tangent {
    ct_arena arena;
    ct_config config;                       // at the end of the sub-step
    double *right, *dz, *correction;        // nunknown
    double *out, *given, *product, *x, *v;  // 3 nvert
    double *zero, *from_x, *from_v;         // 3 nvert: nothing; where the motion of a stage is counted from
    struct {
        double *x, *v;                       // 3 nvert
        double* q;                           // ndof
    } stage[CT_STAGES];                      // at the ends of the stages
    double *rate, *row_links;                // ndof: links' rates at the step's start; their rows
    double* v_links;                         // 3 nvert
    double *drive_end, *drive_start;         // 3 nvert: of driven nodes at the step's ends
    double* force;                           // 3 nvert
    double *torque, *target, *joint;         // ndof
    double *control, *unit;                  // control size
    double *root_end, *root_end_dot, *root;  // 7 nroot; 6 nroot
    double* actuation;                       // of the actuators, during a stage
    double* middle;                          // 3 nvert: end of the stage of the midpoint rule
    double* anchor;                          // 3 an anchor
    ct_reach_work reach;
    ct_adjoint_past past;    // system of contacts
    ct_adjoint_state start;  // change of the step's start
    ct_adjoint_state row;    // a row of what only its reverse is written for
    ct_krylov_work* gmres;
};

static void allocate_stages(ct_tangent* t, const ct_model* model) {
    const size_t n = 3 * (size_t)model->nvert + 1;
    double** const node[] = {&t->from_x,     &t->from_v,     &t->middle,     &t->stage[0].x, &t->stage[0].v,
                             &t->stage[1].x, &t->stage[1].v, &t->stage[2].x, &t->stage[2].v};
    for (size_t i = 0; i < sizeof node / sizeof node[0]; i++)
        *node[i] = ct_arena_alloc(&t->arena, n, sizeof(double));
    t->actuation = ct_arena_alloc(&t->arena, (size_t)model->actuators.size, sizeof(double));
    double** const rate[] = {&t->stage[0].q, &t->stage[1].q, &t->stage[2].q, &t->rate, &t->row_links};
    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++)
        *rate[i] = ct_arena_alloc(&t->arena, (size_t)model->tree.ndof, sizeof(double));
    t->v_links = ct_arena_alloc(&t->arena, n, sizeof(double));
}

ct_status ct_tangent_create(ct_tangent** out, const ct_model* model) {
    *out = NULL;
    ct_tangent* t = ct_alloc(1, sizeof *t);
    if (!t) return CT_OUT_OF_MEMORY;
    ct_arena* arena = &t->arena;
    double** const node[] = {&t->out,       &t->given,       &t->product, &t->x,   &t->v,
                             &t->drive_end, &t->drive_start, &t->force,   &t->zero};
    for (size_t i = 0; i < sizeof node / sizeof node[0]; i++)
        *node[i] = ct_arena_alloc(arena, 3 * (size_t)model->nvert + 1, sizeof(double));
    double** const rate[] = {&t->torque, &t->target, &t->joint};
    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++)
        *rate[i] = ct_arena_alloc(arena, (size_t)model->tree.ndof, sizeof(double));
    double** const root[] = {&t->root_end, &t->root_end_dot, &t->root};
    for (size_t i = 0; i < sizeof root / sizeof root[0]; i++)
        *root[i] = ct_arena_alloc(arena, 7 * (size_t)model->tree.nroot, sizeof(double));
    if (ct_rate_stages(model->settings.integrator)) allocate_stages(t, model);
    t->anchor = ct_arena_alloc(arena, 3 * ct_state_anchor_room(model), sizeof(double));
    ct_reach_work_create(&t->reach, arena, model);
    t->right = ct_arena_alloc(arena, (size_t)model->nunknown, sizeof(double));
    t->dz = ct_arena_alloc(arena, (size_t)model->nunknown, sizeof(double));
    t->correction = ct_arena_alloc(arena, (size_t)model->nunknown, sizeof(double));
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
    ct_adjoint_past_free(&tangent->past);
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

// Driven nodes at a fraction of the step.
static void place_driven(const ct_model* model, ct_tangent* t, const ct_substep* substep) {
    const double fraction = substep->fraction;
    // at stages these are where their motion has them
    const bool exact = ct_rate_stages(substep->rule) > 1;
    memset(t->given, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int i = 0; i < model->inputs.ndrive; i++)
        for (int k = 0; !(exact && !ct_external_is_steered(model, i)) && k < model->inputs.drive[i].nnode;
             k++)
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

// The right-hand side in unknowns: of what acts on nodes and on joints.
static void pull_right(const ct_model* model, ct_work* work, ct_tangent* t, double* right) {
    ct_coords_pull(model, work, &t->config, t->out, right);
    for (int j = 0; j < model->tree.ndof; j++) right[3 * model->nfree + j] += t->joint[j];
    if (!work->step.links) return;
    // what the motion of links depends on before its end
    for (int j = 0; j < model->tree.ndof; j++) right[3 * model->nfree + j] -= t->row_links[j];
}

// What a sub-step or a stage starts from changes by, and what acts during it.
typedef struct start_dot {
    const double *x, *v, *x_previous, *v_previous, *x_second, *v_second;  // 3 nvert
    const double *x_from, *v_from;  // 3 nvert: where its motion is counted from
    const double* actuation;
    ct_link_dot links;
} start_dot;

// The right-hand side: what the forces change by at the end held still, but for the nodes that are given.
static void change_forces(const ct_model* model, ct_work* work, ct_tangent* t, const ct_reach* over,
                          const ct_state* before, const start_dot* start, const ct_tangent_dot* given,
                          const ct_adjoint_state* dot) {
    const ct_family_dot change = {.x_n = start->x,
                                  .v_n = start->v,
                                  .x_nm1 = start->x_previous,
                                  .v_nm1 = start->v_previous,
                                  .x_nm2 = start->x_second,
                                  .v_nm2 = start->v_second,
                                  .q_n = dot->q,
                                  .q_nm1 = t->start.q_previous,
                                  .torque = t->torque,
                                  .target = t->target,
                                  .force = t->force,
                                  .actuation = start->actuation,
                                  .solids = given->solids,
                                  .scratch = t->product};
    ct_families_jvp(&model->families, &work->families, &work->step, t->config.x, &change, t->out);
    place_driven(model, t, over->substep);
    if (model->tree.nroot) place_roots(model, work, t, before, over->substep->fraction);
    if (model->nfree < model->nvert) {
        ct_phi_product(model, work, &t->config, t->given, t->product);
        ct_vecn_axpy(t->out, -1, t->product, 3 * (size_t)model->nvert);
    }
    if (model->tree.ndof) memset(t->joint, 0, (size_t)model->tree.ndof * sizeof(double));
    ct_families_joint_jvp(&model->families, &work->families, &t->config, &change, t->joint);
}

// With links (H + C) dz = right by solves with H: b = right - C dz for the next one; returns how far it has
// moved.
static double correct_links(const ct_model* model, ct_work* work, ct_tangent* t, double* b, size_t n) {
    double change = 0;
    ct_coords_push(model, work, &t->config, t->dz, t->x);
    memset(t->correction, 0, n * sizeof(double));
    ct_link_stages_product(model, work, &t->config, t->x, t->dz, t->correction);
    for (size_t i = 0; i < n; i++) {
        const double next = t->right[i] - t->correction[i];
        change += (next - b[i]) * (next - b[i]);
        b[i] = next;
    }
    return sqrt(change);
}

// dz of a system with contacts, and the change of their forces.
static ct_status solve_touching(const ct_model* model, ct_work* work, ct_tangent* t, const ct_reach* over,
                                const start_dot* start, const ct_tangent_dot* given,
                                const ct_adjoint_state* dot, ct_backward_report* report) {
    const ct_contact_dot contact = {.x = start->x_from,
                                    .v = start->v_from,
                                    .end = t->given,
                                    .anchor = dot->anchor,
                                    .growth = dot->growth,
                                    .friction = given->friction,
                                    .stiffness = given->stiffness};
    ct_contact_linear system;
    ct_status status = ct_contact_linear_layout(model, work, &system);
    if (status != CT_OK) return status;
    ct_contact_tangent_right(model, work, t->config.x, &contact, &system, t->out);
    pull_right(model, work, t, system.b);
    // results do not depend on what was solved before
    t->past.count = 0;
    t->past.friction_key = 0;
    copy(t->right, system.b, system.n);
    ct_link_rounds rounds = {.size = ct_vecn_norm(t->right, system.n)};
    for (;;) {
        status = ct_contact_linear_solve(model, work, &t->config, &system, false, &t->past, report);
        if (status != CT_OK) return status;
        copy(t->dz, system.y, system.n);
        if (!work->step.links) break;
        const double change = correct_links(model, work, t, system.b, system.n);
        bool done;
        status = ct_link_rounds_next(&rounds, model->settings.tolerance, change, &done);
        if (status != CT_OK) return status;
        if (done) break;
    }
    ct_contact_tangent_anchors(work, &system, over->after, t->anchor);
    return CT_OK;
}

// From dot at its start to dot at the end of the sub-step or stage.
static ct_status follow_substep(const ct_model* model, ct_work* work, ct_tangent* t, const ct_reach* over,
                                const ct_state* before, const ct_state* after, const start_dot* start,
                                const ct_tangent_dot* given, ct_adjoint_state* dot,
                                ct_backward_report* report) {
    const size_t n = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof;
    const ct_rate rate = over->substep->rate;
    if (ct_work_cancelled(work)) return CT_CANCELLED;
    ct_status status = ct_reach_linearise(model, work, over, after, false, &t->config);
    if (status != CT_OK) return status;
    change_forces(model, work, t, over, before, start, given, dot);
    const bool links = work->step.links != NULL;
    if (links) ct_link_stages_jvp(model, work, &t->config, &start->links, t->row_links, t->v_links);
    const bool touching = work->contact && over->substep->ntouch;
    if (touching) {
        status = solve_touching(model, work, t, over, start, given, dot, report);
    } else if (model->nunknown) {
        pull_right(model, work, t, t->right);
        status =
            links ? ct_linear_solve_links(model, work, &t->config, &t->gmres, false, t->right, t->dz, report)
                  : ct_linear_solve(model, work, &t->config, &t->gmres, t->right, t->dz, report);
    }
    if (status != CT_OK) return status;
    if (touching) copy(dot->anchor, t->anchor, 3 * (size_t)over->after.count);

    // the end
    ct_coords_push(model, work, &t->config, t->dz, t->x);
    ct_vecn_axpy(t->x, 1, t->given, n);
    for (size_t i = 0; i < n; i++) {
        t->v[i] = rate.c * t->x[i] - rate.a * start->x[i] - rate.b * start->x_previous[i];
        if (over->npast > 1) t->v[i] -= rate.e * start->x_second[i];
    }
    copy(dot->x, t->x, n);
    if (ndof) ct_config_push_tangents(&model->tree, &t->config, t->dz + 3 * (size_t)model->nfree, dot->q);
    if (links) {
        ct_link_dot whole = start->links;
        whole.now = dot->q;
        ct_link_stages_jvp(model, work, &t->config, &whole, t->row_links, t->v);
    }
    copy(dot->v, t->v, n);
    copy(dot->root, t->root, 6 * (size_t)model->tree.nroot);
    return CT_OK;
}

// ---- stages --------------------------------------------------------------------------------

// Y of rate.h.
static void change_from(const ct_model* model, ct_tangent* t, ct_rate rate, const start_dot* start) {
    const double a = rate.a / rate.c, b = rate.b / rate.c, e = rate.e / rate.c;
    for (int i = 0; i < 3 * model->nvert; i++) {
        t->from_x[i] = a * start->x[i] + b * start->x_previous[i] + e * start->x_second[i];
        t->from_v[i] = a * start->v[i] + b * start->v_previous[i] + e * start->v_second[i];
    }
}

// The midpoint rule, x = 2 y - x_n, v = 2 v_y - v_n; driven nodes: x given, v = v_y.
static void reflect(const ct_model* model, const ct_tangent* t, ct_adjoint_state* dot) {
    for (int k = 0; k < model->nvert; k++)
        for (int i = 3 * k; i < 3 * k + 3; i++) {
            if (model->row[k] >= 0) {
                dot->x[i] = 2 * dot->x[i] - t->start.x[i];
                dot->v[i] = 2 * dot->v[i] - t->start.v[i];
            } else {
                dot->x[i] = t->drive_end[i];
            }
        }
}

static ct_status follow_stages(const ct_model* model, ct_work* work, ct_tangent* t, const ct_state* before,
                               const ct_state* after, const ct_record* record, const double* control,
                               const ct_tangent_dot* given, ct_adjoint_state* dot,
                               ct_backward_report* report) {
    const size_t n = 3 * (size_t)model->nvert;
    const bool midpoint = record->step[0].rule == CT_INTEGRATOR_MIDPOINT;
    int unused = 0;
    ct_status status =
        model->nunknown ? ct_precondition_choose(model, &work->preconditioner, after, 0, &unused) : CT_OK;
    if (work->links) {
        ct_link_stages_begin(model, work->links, record->step[0].rule, before->q, before->v);
        ct_link_stages_start_jvp(model, work->links, t->start.q, t->start.v, t->rate);
    }
    for (int i = 0; status == CT_OK && i < (int)record->count; i++) {
        ct_reach over = ct_reach_stage(model, &t->reach, record, i, before, after);
        const start_dot start = {
            .x = t->start.x,
            .v = t->start.v,
            .x_previous = i > 0 ? t->stage[0].x : t->zero,
            .v_previous = i > 0 ? t->stage[0].v : t->zero,
            .x_second = i > 1 ? t->stage[1].x : t->zero,
            .v_second = i > 1 ? t->stage[1].v : t->zero,
            .x_from = t->from_x,
            .v_from = t->from_v,
            .actuation = t->actuation,
            .links = {.start = t->start.q, .stage = {t->stage[0].q, t->stage[1].q}, .rate = t->rate}};
        for (size_t k = 0; midpoint && k < n; k++) t->middle[k] = 0.5 * (before->x[k] + after->x[k]);
        if (midpoint) over.x = t->middle;
        change_from(model, t, over.substep->rate, &start);
        ct_actuate_at(model, before->actuation, control, over.substep->fraction, work->actuation);
        ct_actuate_at_jvp(model, over.substep->fraction, t->start.actuation, t->control, t->actuation);
        status = follow_substep(model, work, t, &over, before, after, &start, given, dot, report);
        copy(t->stage[i].x, dot->x, n);
        copy(t->stage[i].v, dot->v, n);
        copy(t->stage[i].q, dot->q, (size_t)model->tree.ndof);
    }
    if (status == CT_OK && midpoint) reflect(model, t, dot);
    return status;
}

// ---- the whole step ------------------------------------------------------------------------

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
    copy(t->start.actuation, dot->actuation, (size_t)model->actuators.size);
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

static ct_status follow_substeps(const ct_model* model, ct_work* work, ct_tangent* t, const ct_state* before,
                                 const ct_state* after, const ct_record* record, const ct_tangent_dot* given,
                                 ct_adjoint_state* dot, ct_backward_report* report) {
    ct_status status = CT_OK;
    const start_dot start = {.x = dot->x,
                             .v = dot->v,
                             .x_previous = t->start.x_previous,
                             .v_previous = t->start.v_previous,
                             .x_second = t->zero,
                             .v_second = t->zero,
                             .x_from = dot->x,
                             .v_from = dot->v,
                             .actuation = dot->actuation};
    for (size_t k = 0; status == CT_OK && k < record->count; k++) {
        int unused = 0;
        ct_reach over = ct_reach_substep(model, &t->reach, record, k, before, after);
        if (model->nunknown)
            status =
                ct_precondition_choose(model, &work->preconditioner, after, over.substep->depth, &unused);
        if (status == CT_OK)
            status = follow_substep(model, work, t, &over, before, after, &start, given, dot, report);
    }
    return status;
}

ct_status ct_tangent_step(const ct_model* model, ct_work* work, ct_tangent* t, const ct_state* before,
                          const ct_state* after, const ct_record* record, const double* control,
                          const ct_tangent_dot* given, ct_adjoint_state* dot, ct_backward_report* report) {
    const size_t n = 3 * (size_t)model->nvert;
    ct_status status = CT_OK;
    copy(work->actuation, after->actuation, (size_t)model->actuators.size);
    control = ct_policy_control(model, work, before,
                                ct_control_or_values(model, before->header->time, control, work->control));
    keep_start(model, t, dot);
    change_inputs(model, work, t, before, after, control, given, dot);
    // how near colliders are where a motion begins, where that is measured in this step
    if (work->contact && !before->header->grown)
        status = ct_growth_jvp(&model->collision, work->contact->detect, &work->contact->near, before->x,
                               before->header->time, after->growth, t->start.x, dot->growth);
    if (status == CT_OK && ct_rate_stages(record->step[0].rule))
        status = follow_stages(model, work, t, before, after, record, control, given, dot, report);
    else if (status == CT_OK)
        status = follow_substeps(model, work, t, before, after, record, given, dot, report);
    if (status != CT_OK) return status;
    copy(dot->x_previous, t->start.x, n);
    copy(dot->v_previous, t->start.v, n);
    copy(dot->q_previous, t->start.q, (size_t)model->tree.ndof);
    copy(dot->root_previous, t->start.root, 6 * (size_t)model->tree.nroot);
    return CT_OK;
}
