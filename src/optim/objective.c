// The objective of a scene; see objective.h.
//
//     L = sum over terms of  w / n * sum over the n states of its window of  N(q),   N(q) = q or sqrt(q)
//
//     point, velocity    q = |sum_i m_i x_i - target(t)|^2           m_i weights with sum 1
//     shape              q = sum_i m_i |x_i - target_i|^2
//     joint              q = |coordinate - target(t)|^2              a ball: its rotation vector
//     effort             q = mean over steps of |u_k|^2              one term for the whole rollout
//     smoothness         q = mean over steps of |u_k - u_(k-1)|^2
//     with an axis a     d is replaced by a (a.d); linear: N = a.d
//
// sqrt(q) has no derivative at 0: there 0 is taken, its smallest subgradient. The weights are those of the
// model's masses when the objective is created and stay as they are when densities change.
#include "optim/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "step/state.h"

typedef struct term {
    ct_objective_kind kind;
    double weight;  // divided by the number of states
    bool distance, directed, linear;
    double axis[3];  // directed
    char* name;
    int first, last;  // states; EFFORT and SMOOTHNESS: steps
    int nnode;
    int* node;
    double* share;         // nnode, m_i
    ct_scene_driver path;  // POINT, VELOCITY
    double origin[3];      // added to the path
    double* target;        // 3 nnode, SHAPE
    int control, width;    // EFFORT, SMOOTHNESS: first number and count
    int coordinate, dof;   // JOINT: first coordinate and rate
    // JOINT: its type; otherwise NULL
    const ct_joint_type* joint;
} term;

struct ct_objective {
    ct_arena arena;
    int nterm, control_size;
    double time_step;
    double* part;  // nterm, what each has added to the loss since ct_objective_begin
    term* terms;
};

static bool is_of_control(const term* t) {
    return t->kind == CT_OBJECTIVE_EFFORT || t->kind == CT_OBJECTIVE_SMOOTHNESS;
}

// -------------------------------------------------------------------------------------------------
// Creation

// Times to states 0..nstep; a thousandth of a step is forgiven.
static ct_status find_window(const ct_scene_objective* o, double h, int nstep, bool steps, term* t,
                             ct_error* error) {
    double slack = 1e-3, start = o->start / h, stop = o->stop / h;
    if (steps && nstep == 0)
        return ct_fail(error, CT_BAD_SCENE, "objective \"%s\" is of a motion's steps, and there are none",
                       o->name);
    if (isnan(start)) {
        t->first = steps ? 0 : nstep;
        t->last = steps ? nstep - 1 : nstep;
        return CT_OK;
    }
    if (o->start == o->stop) start = stop = round(start);
    double first = ceil(start - slack), last = steps ? ceil(stop - slack) - 1 : floor(stop + slack);
    last = fmin(last, steps ? nstep - 1 : nstep);
    if (first > last)
        return ct_fail(
            error, CT_BAD_SCENE,
            "objective \"%s\" looks at times from %g to %g s, where there is no %s: the motion has "
            "%d steps of %g s",
            o->name, o->start, o->stop, steps ? "step" : "state", nstep, h);
    t->first = (int)first;
    t->last = (int)last;
    return CT_OK;
}

static void fill_shares(const ct_scene_objective* o, const ct_model* model, term* t) {
    double total = 0;
    for (int i = 0; i < o->nnode; i++) total += model->mass[o->node[i]];
    bool uniform = o->uniform || !(total > 0);
    for (int i = 0; i < o->nnode; i++)
        t->share[i] = uniform ? 1.0 / o->nnode : model->mass[o->node[i]] / total;
}

static void mean(const term* t, const double* x, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < t->nnode; i++)
        for (int a = 0; a < 3; a++) out[a] += t->share[i] * x[3 * (size_t)t->node[i] + a];
}

static void fill_targets(const ct_scene_objective* o, const ct_model* model, term* t) {
    fill_shares(o, model, t);
    if (o->kind == CT_OBJECTIVE_SHAPE && o->relative)
        for (int i = 0; i < t->nnode; i++)
            for (int a = 0; a < 3; a++)
                t->target[3 * (size_t)i + a] += model->geometry.rest[3 * (size_t)t->node[i] + a];
    if (o->kind == CT_OBJECTIVE_POINT && o->relative) mean(t, model->geometry.rest, t->origin);
}

static void find_joint(const ct_scene_objective* o, const ct_model* model, term* t) {
    const ct_tree* tree = &model->tree;
    t->coordinate = tree->coordinate[o->link];
    t->dof = tree->dof[o->link];
    t->joint = tree->type[o->link];
    if (!o->relative) return;
    double initial[7];
    ct_joint_rest(&tree->joint[o->link], initial);
    ct_joint_value(t->joint, initial, t->origin);
}

static ct_status copy_term(ct_objective* objective, const ct_scene_objective* o, const ct_model* model,
                           term* t, ct_error* error) {
    if (o->kind == CT_OBJECTIVE_JOINT) find_joint(o, model, t);
    t->nnode = o->nnode;
    t->node = ct_arena_copy(&objective->arena, o->node, (size_t)o->nnode, sizeof *o->node);
    t->share = ct_arena_alloc(&objective->arena, (size_t)o->nnode, sizeof *t->share);
    if (o->shape)
        t->target = ct_arena_copy(&objective->arena, o->shape, 3 * (size_t)o->nnode, sizeof *o->shape);
    t->path.nkey = o->npath;
    t->path.key = ct_arena_copy(&objective->arena, o->path, (size_t)o->npath, sizeof *o->path);
    if (objective->arena.failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    fill_targets(o, model, t);
    return CT_OK;
}

static ct_status make_term(ct_objective* objective, const ct_scene* scene, const ct_model* model, int index,
                           int nstep, ct_error* error) {
    const ct_scene_objective* o = &scene->objective[index];
    term* t = &objective->terms[index];
    *t = (term){.kind = o->kind, .weight = o->weight, .distance = o->distance, .linear = o->linear};
    memcpy(t->axis, o->axis, sizeof t->axis);
    t->directed = o->axis[0] != 0 || o->axis[1] != 0 || o->axis[2] != 0;
    t->name = ct_arena_copy(&objective->arena, o->name, strlen(o->name) + 1, 1);
    bool steps = is_of_control(t);
    ct_status status = find_window(o, objective->time_step, nstep, steps, t, error);
    if (status) return status;
    if (!steps) {
        t->weight /= t->last - t->first + 1;
        return copy_term(objective, o, model, t, error);
    }
    t->control = o->control < 0 ? 0 : ct_scene_control_first(scene, o->control);
    t->width = o->control < 0 ? objective->control_size : scene->control[o->control].size;
    if (t->kind == CT_OBJECTIVE_SMOOTHNESS && t->first == 0) t->first = 1;  // a change needs a step before
    return CT_OK;
}

ct_status ct_objective_create(ct_objective** out, const ct_scene* scene, const ct_model* model, int nstep,
                              ct_error* error) {
    *out = NULL;
    ct_error_clear(error);
    if (nstep < 0 || model->nvert != ct_scene_model_node_count(scene))
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "the rollout has %d steps, or the model belongs to another scene", nstep);
    ct_objective* objective = ct_alloc(1, sizeof *objective);
    if (!objective) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    objective->nterm = scene->nobjective;
    objective->time_step = model->settings.time_step;
    objective->control_size = ct_scene_control_first(scene, scene->ncontrol);
    objective->terms = ct_arena_alloc(&objective->arena, (size_t)objective->nterm, sizeof *objective->terms);
    objective->part = ct_arena_alloc(&objective->arena, (size_t)objective->nterm, sizeof *objective->part);
    ct_status status = !objective->arena.failed ? CT_OK : ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int i = 0; i < objective->nterm && !status; i++)
        status = make_term(objective, scene, model, i, nstep, error);
    if (status) ct_objective_free(objective);
    else *out = objective;
    return status;
}

void ct_objective_free(ct_objective* objective) {
    if (!objective) return;
    ct_arena_free(&objective->arena);
    ct_free(objective);
}

int ct_objective_term_count(const ct_objective* objective) { return objective->nterm; }
const char* ct_objective_term_name(const ct_objective* objective, int index) {
    return objective->terms[index].name;
}
double ct_objective_term(const ct_objective* objective, int index) { return objective->part[index]; }

void ct_objective_begin(ct_objective* objective) {
    for (int i = 0; i < objective->nterm; i++) objective->part[i] = 0;
}

// -------------------------------------------------------------------------------------------------
// The norm

static double norm(const term* t, double q) { return t->weight * (t->distance ? sqrt(q) : q); }

// dL/dq
static double norm_slope(const term* t, double q) {
    if (!t->distance) return t->weight;
    return q > 0 ? t->weight / (2 * sqrt(q)) : 0;
}

// -------------------------------------------------------------------------------------------------
// Terms of states

// d = value - target(t) at the state after `step` steps, of a joint or of a mean over nodes
static void deviation(const ct_objective* objective, const term* t, int step, const ct_state* state,
                      double d[3]) {
    static const double zero[3];
    double target[3];
    ct_scene_drive_position(&t->path, step * objective->time_step, zero, target);
    memset(d, 0, 3 * sizeof *d);
    if (t->joint) ct_joint_value(t->joint, state->q + t->coordinate, d);
    else mean(t, t->kind == CT_OBJECTIVE_POINT ? state->x : state->v, d);
    for (int a = 0; a < (t->joint ? t->joint->ndof : 3); a++) d[a] -= target[a] + t->origin[a];
    if (!t->directed) return;
    double along = d[0] * t->axis[0] + d[1] * t->axis[1] + d[2] * t->axis[2];
    for (int a = 0; a < 3; a++) d[a] = along * t->axis[a];
}

static double shape_square(const term* t, const double* x) {
    double q = 0;
    for (int i = 0; i < t->nnode; i++)
        for (int a = 0; a < 3; a++) {
            double d = x[3 * (size_t)t->node[i] + a] - t->target[3 * (size_t)i + a];
            q += t->share[i] * d * d;
        }
    return q;
}

static void shape_square_vjp(const term* t, const double* x, double q_bar, double* x_bar) {
    for (int i = 0; i < t->nnode; i++)
        for (int a = 0; a < 3; a++) {
            size_t k = 3 * (size_t)t->node[i] + a;
            x_bar[k] += q_bar * 2 * t->share[i] * (x[k] - t->target[3 * (size_t)i + a]);
        }
}

static void mean_square_vjp(const term* t, const double d[3], double q_bar, double* x_bar) {
    for (int i = 0; i < t->nnode; i++)
        for (int a = 0; a < 3; a++) x_bar[3 * (size_t)t->node[i] + a] += q_bar * 2 * t->share[i] * d[a];
}

static bool looks_at(const term* t, int step) {
    return !is_of_control(t) && step >= t->first && step <= t->last;
}
static double square(const double d[3]) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

static double state_square(const ct_objective* objective, const term* t, int step, const ct_state* state) {
    double d[3];
    if (t->kind == CT_OBJECTIVE_SHAPE) return shape_square(t, state->x);
    deviation(objective, t, step, state, d);
    return square(d);
}

// a.d
static double along_axis(const ct_objective* objective, const term* t, int step, const ct_state* state) {
    double d[3];
    deviation(objective, t, step, state, d);
    return d[0] * t->axis[0] + d[1] * t->axis[1] + d[2] * t->axis[2];
}

double ct_objective_term_state(const ct_objective* objective, int index, int step, const ct_state* state) {
    const term* t = &objective->terms[index];
    if (!looks_at(t, step)) return 0;
    return t->linear ? t->weight * along_axis(objective, t, step, state)
                     : norm(t, state_square(objective, t, step, state));
}

double ct_objective_state(ct_objective* objective, int step, const ct_state* state) {
    double sum = 0;
    for (int i = 0; i < objective->nterm; i++) {
        double part = ct_objective_term_state(objective, i, step, state);
        objective->part[i] += part;
        sum += part;
    }
    return sum;
}

double ct_objective_first_state(const ct_objective* objective, int step, const ct_state* state) {
    const term* t = objective->terms;
    if (objective->nterm == 0 || !looks_at(t, step)) return 0;
    return state_square(objective, t, step, state) / (t->last - t->first + 1);
}

static void joint_vjp(const term* t, const ct_state* state, const double d[3], double q_bar,
                      double* joint_bar) {
    const double bar[3] = {2 * q_bar * d[0], 2 * q_bar * d[1], 2 * q_bar * d[2]};
    ct_joint_value_vjp(t->joint, state->q + t->coordinate, bar, joint_bar + t->dof);
}

void ct_objective_term_state_vjp(const ct_objective* objective, int index, int step, const ct_state* state,
                                 double* x_bar, double* v_bar, double* q_bar) {
    const term* t = &objective->terms[index];
    double d[3];
    if (!looks_at(t, step)) return;
    if (t->kind == CT_OBJECTIVE_SHAPE) {
        shape_square_vjp(t, state->x, norm_slope(t, shape_square(t, state->x)), x_bar);
        return;
    }
    deviation(objective, t, step, state, d);
    double slope = t->linear ? t->weight : norm_slope(t, square(d));
    // 2 slope d is what the terms below add
    for (int a = 0; t->linear && a < 3; a++) d[a] = 0.5 * t->axis[a];
    if (t->joint) joint_vjp(t, state, d, slope, q_bar);
    else mean_square_vjp(t, d, slope, t->kind == CT_OBJECTIVE_POINT ? x_bar : v_bar);
}

void ct_objective_state_vjp(const ct_objective* objective, int step, const ct_state* state, double* x_bar,
                            double* v_bar, double* q_bar) {
    for (int i = 0; i < objective->nterm; i++)
        ct_objective_term_state_vjp(objective, i, step, state, x_bar, v_bar, q_bar);
}

// -------------------------------------------------------------------------------------------------
// Terms of controls

// u_k, or u_k - u_(k-1), of number `i` at a step
static double control_difference(const ct_objective* objective, const term* t, const double* controls,
                                 int step, int i) {
    const double* u = controls + (size_t)step * (size_t)objective->control_size + (size_t)(t->control + i);
    return t->kind == CT_OBJECTIVE_EFFORT ? u[0] : u[0] - u[-objective->control_size];
}

static double control_square(const ct_objective* objective, const term* t, const double* controls) {
    double q = 0;
    for (int step = t->first; step <= t->last; step++)
        for (int i = 0; i < t->width; i++) {
            double d = control_difference(objective, t, controls, step, i);
            q += d * d;
        }
    return t->last < t->first ? 0 : q / (t->last - t->first + 1);
}

double ct_objective_controls(const ct_objective* objective, const double* controls) {
    double sum = 0;
    for (int i = 0; i < objective->nterm && controls; i++)
        if (is_of_control(&objective->terms[i])) {
            double part =
                norm(&objective->terms[i], control_square(objective, &objective->terms[i], controls));
            objective->part[i] += part;
            sum += part;
        }
    return sum;
}

double ct_objective_first_controls(const ct_objective* objective, const double* controls) {
    return objective->nterm > 0 && controls && is_of_control(objective->terms)
               ? control_square(objective, objective->terms, controls)
               : 0;
}

static void control_square_vjp(const ct_objective* objective, const term* t, const double* controls,
                               double q_bar, double* controls_bar) {
    double factor = 2 * q_bar / (t->last - t->first + 1);
    for (int step = t->first; step <= t->last; step++)
        for (int i = 0; i < t->width; i++) {
            double* bar =
                controls_bar + (size_t)step * (size_t)objective->control_size + (size_t)(t->control + i);
            double d_bar = factor * control_difference(objective, t, controls, step, i);
            bar[0] += d_bar;
            if (t->kind == CT_OBJECTIVE_SMOOTHNESS) bar[-objective->control_size] -= d_bar;
        }
}

void ct_objective_controls_vjp(const ct_objective* objective, const double* controls, double* controls_bar) {
    for (int i = 0; i < objective->nterm && controls; i++) {
        const term* t = &objective->terms[i];
        if (!is_of_control(t)) continue;
        double q = control_square(objective, t, controls);
        control_square_vjp(objective, t, controls, norm_slope(t, q), controls_bar);
    }
}
