// Stages of links; see link_stages.h.
#include "step/link_stages.h"

#include <math.h>
#include <string.h>

#include "math/vecn.h"

struct ct_link_stages {
    ct_rates rates;                                   // at the step's start
    ct_jets jets;                                     // at the stage's end
    ct_link_motion motion;                            // there, as families see it
    double *x, *v, *a;                                // 3 nvert, of it
    double *q, *w, *dw;                               // ncoordinate, ndof
    ct_chart_motion now, bar;                         // ndof
    double *theta[CT_STAGES - 1], *u[CT_STAGES - 1];  // of the stages before
    double *past, *past_rate;                         // b theta_1 + e theta_2; a u_n + b u_1 + e u_2
    double* u_n;                                      // ndof
    ct_jets_bar own;                                  // scratch
    ct_link_bar out;
    double *weight_v, *weight_a, *x_last;  // 3 nvert, scratch
    double *r, *r_other, *none;            // ndof, scratch; zeros
    const double *q_n, *v_n;
    ct_integrator rule;
    double h;
    ct_rate rate;
    int stage;
};

ct_link_stages* ct_link_stages_create(ct_arena* arena, const ct_model* model) {
    const ct_tree* tree = &model->tree;
    const size_t ndof = (size_t)tree->ndof, nodes = 3 * (size_t)model->nvert;
    ct_link_stages* s = ct_arena_alloc(arena, 1, sizeof *s);
    if (!s) return NULL;
    ct_rates_create(&s->rates, arena, tree);
    ct_jets_create(&s->jets, arena, tree);
    s->q = ct_arena_alloc(arena, (size_t)tree->ncoordinate, sizeof(double));
    double** const node[] = {&s->x, &s->v, &s->a, &s->weight_v, &s->weight_a, &s->x_last};
    for (size_t i = 0; i < sizeof node / sizeof node[0]; i++)
        *node[i] = ct_arena_alloc(arena, nodes, sizeof(double));
    double** const rate[] = {&s->w,         &s->dw,    &s->now.theta,    &s->now.u,        &s->now.alpha,
                             &s->bar.theta, &s->bar.u, &s->bar.alpha,    &s->theta[0],     &s->theta[1],
                             &s->u[0],      &s->u[1],  &s->past,         &s->past_rate,    &s->u_n,
                             &s->own.q,     &s->own.w, &s->own.dw,       &s->out.now,      &s->out.start,
                             &s->out.rate,  &s->r,     &s->out.stage[0], &s->out.stage[1], &s->r_other,
                             &s->none};
    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++)
        *rate[i] = ct_arena_alloc(arena, ndof, sizeof(double));
    s->motion = (ct_link_motion){.count = ct_tree_node_count(tree),
                                 .node = tree->node,
                                 .x = s->x,
                                 .v = s->v,
                                 .a = s->a,
                                 .q = s->q,
                                 .rate = s->w};
    return s;
}

// ---- forward -------------------------------------------------------------------------------

void ct_link_stages_begin(const ct_model* model, ct_link_stages* s, ct_integrator rule, const double* q,
                          const double* v) {
    s->q_n = q;
    s->v_n = v;
    s->rule = rule;
    s->h = model->settings.time_step;
    ct_rates_project(&model->tree, &s->rates, model->free_mass, q, v, s->u_n);
}

void ct_link_stages_next(const ct_model* model, ct_link_stages* s, int i, const double* first,
                         const double* second) {
    const ct_tree* tree = &model->tree;
    const ct_rate middle = ct_rate_stage(s->rule, i > 1 ? 1 : 0, s->h);
    s->stage = i;
    s->rate = ct_rate_stage(s->rule, i, s->h);
    if (i > 0) ct_chart_at(tree, s->q_n, first, s->theta[0]);
    if (i > 1) ct_chart_at(tree, s->q_n, second, s->theta[1]);
    for (int j = 0; j < tree->ndof; j++) {
        s->past[j] = 0;
        s->past_rate[j] = s->rate.a * s->u_n[j];
        if (i > 0) {
            s->u[0][j] = s->rate.c * s->theta[0][j];
            s->past[j] += s->rate.b * s->theta[0][j];
            s->past_rate[j] += s->rate.b * s->u[0][j];
        }
        if (i > 1) {
            s->u[1][j] = s->rate.c * s->theta[1][j] - middle.b * s->theta[0][j];
            s->past[j] += s->rate.e * s->theta[1][j];
            s->past_rate[j] += s->rate.e * s->u[1][j];
        }
    }
}

// With the acceleration of the stage before, or that of the parabola through the last step.
void ct_link_stages_foresee(const ct_model* model, ct_link_stages* s, const double* previous, double* q) {
    const ct_tree* tree = &model->tree;
    const double c = s->rate.c, h = s->h;
    double *theta = s->now.theta, *alpha = s->now.alpha;
    if (s->stage == 0) {
        memset(alpha, 0, (size_t)tree->ndof * sizeof(double));
        if (previous) ct_chart_at(tree, s->q_n, previous, alpha);
        for (int j = 0; previous && j < tree->ndof; j++) alpha[j] = 2 * (alpha[j] + h * s->u_n[j]) / (h * h);
    }
    for (int j = 0; j < tree->ndof; j++) theta[j] = (s->past[j] + (s->past_rate[j] + alpha[j]) / c) / c;
    ct_chart_move(tree, s->q_n, theta, q);
}

const ct_link_motion* ct_link_stages_at(const ct_model* model, ct_link_stages* s, const ct_config* config) {
    const ct_tree* tree = &model->tree;
    memcpy(s->q, config->q, (size_t)tree->ncoordinate * sizeof(double));
    ct_chart_at(tree, s->q_n, s->q, s->now.theta);
    for (int j = 0; j < tree->ndof; j++) {
        s->now.u[j] = s->rate.c * s->now.theta[j] - s->past[j];
        s->now.alpha[j] = s->rate.c * s->now.u[j] - s->past_rate[j];
    }
    ct_chart_rates(tree, s->now, s->w, s->dw);
    ct_jets_place(tree, s->q, s->w, s->dw, &s->jets);
    ct_jets_nodes(tree, &s->jets, s->v, s->a);
    for (int k = 0; k < s->motion.count; k++) {
        const size_t at = 3 * (size_t)s->motion.node[k];
        memcpy(s->x + at, config->x + at, 3 * sizeof(double));
    }
    return &s->motion;
}

// The motion so far, into x_last, weight_v and weight_a.
static void keep_motion(ct_link_stages* s) {
    for (int k = 0; k < s->motion.count; k++)
        for (int i = 3 * s->motion.node[k], end = i + 3; i < end; i++) {
            s->x_last[i] = s->x[i];
            s->weight_v[i] = s->v[i];
            s->weight_a[i] = s->a[i];
        }
}

// M (A - A* - c^2 (x - x*)) + D (V - V* - c (x - x*)), into weight_v; * marks the motion kept.
static void change_forces(const ct_model* model, ct_link_stages* s) {
    const double c = s->rate.c;
    for (int k = 0; k < s->motion.count; k++) {
        const int node = s->motion.node[k];
        for (int i = 3 * node; i < 3 * node + 3; i++) {
            const double moved = c * (s->x[i] - s->x_last[i]);
            s->weight_v[i] = model->free_mass[node] * (s->a[i] - s->weight_a[i] - c * moved) +
                             model->free_drag[node] * (s->v[i] - s->weight_v[i] - moved);
        }
    }
}

double ct_link_stages_renew(const ct_model* model, ct_work* work, const ct_config* config) {
    const ct_tree* tree = &model->tree;
    ct_link_stages* s = work->links;
    void* joints = work->families.of[CT_FAMILY_JOINTS];
    memset(s->r, 0, (size_t)tree->ndof * sizeof(double));
    memset(s->r_other, 0, (size_t)tree->ndof * sizeof(double));
    ct_joints_gradient(tree, config, joints, s->r_other);
    keep_motion(s);
    ct_link_stages_at(model, s, config);
    change_forces(model, s);
    ct_inertia_begin(&model->inertia, work->families.of[CT_FAMILY_INERTIA], &work->step);
    ct_joints_begin_at(tree, joints, s->rate.c, s->q, s->w);
    ct_config_pull(tree, config, s->weight_v, work->wrench, s->r);
    ct_joints_gradient(tree, config, joints, s->r);
    for (int j = 0; j < tree->ndof; j++) s->r[j] -= s->r_other[j];
    return ct_vecn_norm(s->r, (size_t)tree->ndof);
}

void ct_link_stages_velocity(const ct_link_stages* s, double* v) {
    for (int k = 0; k < s->motion.count; k++) {
        const size_t at = 3 * (size_t)s->motion.node[k];
        memcpy(v + at, s->v + at, 3 * sizeof(double));
    }
}

// ---- reverse -------------------------------------------------------------------------------

// Of the damper of joint k.
static double damping_of(const ct_tree* tree, int k) {
    return tree->type[k]->law ? tree->joint[k].damping + tree->joint[k].servo_damping : 0;
}

// From own.w and own.dw, through the chart and the stages, to out; out.now has own.q before.
static void reverse_chart(const ct_tree* tree, ct_link_stages* s) {
    const size_t bytes = (size_t)tree->ndof * sizeof(double);
    const double c = s->rate.c, middle = s->stage > 1 ? ct_rate_stage(s->rule, 1, s->h).b : 0;
    memcpy(s->out.now, s->own.q, bytes);
    memset(s->out.start, 0, bytes);
    for (int i = 0; i < CT_STAGES - 1; i++) memset(s->out.stage[i], 0, bytes);
    ct_chart_rates_vjp(tree, s->now, s->own.w, s->own.dw, s->bar);
    double *first = s->own.w, *second = s->own.dw;  // adjoints of theta_1 and theta_2
    for (int j = 0; j < tree->ndof; j++) {
        const double alpha = s->bar.alpha[j], u = s->bar.u[j] + c * alpha;
        s->bar.theta[j] += c * u;
        s->out.rate[j] = -s->rate.a * alpha;
        first[j] = -s->rate.b * (u + c * alpha) + middle * s->rate.e * alpha;
        second[j] = -s->rate.e * (u + c * alpha);
    }
    ct_chart_at_vjp(tree, s->now.theta, s->bar.theta, s->out.now, s->out.start);
    if (s->stage > 0) ct_chart_at_vjp(tree, s->theta[0], first, s->out.stage[0], s->out.start);
    if (s->stage > 1) ct_chart_at_vjp(tree, s->theta[1], second, s->out.stage[1], s->out.start);
}

// From the forces' adjoint lam times `sign`, and v_bar.
static void reverse_motion(const ct_model* model, ct_work* work, const ct_config* config, const double* v_bar,
                           double sign, const double* lam, const double* lam_z) {
    const ct_tree* tree = &model->tree;
    ct_link_stages* s = work->links;
    for (int k = 0; k < s->motion.count; k++) {
        const int node = s->motion.node[k];
        for (int i = 3 * node; i < 3 * node + 3; i++) {
            s->weight_v[i] = v_bar ? v_bar[i] : 0;
            if (lam) s->weight_v[i] += sign * model->free_drag[node] * lam[i];
            if (lam) s->weight_a[i] = sign * model->free_mass[node] * lam[i];
        }
    }
    ct_jets_nodes_vjp(tree, &s->jets, s->weight_v, lam ? s->weight_a : NULL, s->own);
    if (lam_z) ct_config_push_tangents(tree, config, lam_z + 3 * (size_t)model->nfree, s->r);
    for (int k = 0; lam_z && k < tree->nlink; k++)
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++)
            s->own.w[j] += sign * damping_of(tree, k) * s->r[j];
    reverse_chart(tree, s);
}

ct_link_bar ct_link_stages_vjp(const ct_model* model, ct_work* work, const ct_config* config,
                               const double* v_bar, const double* lam, const double* lam_z) {
    reverse_motion(model, work, config, v_bar, -1, lam, lam_z);
    return work->links->out;
}

// out -= what H has of inertia and of dampers, times dz. Torques of balls are along their parents' axes: in
// the chart of H, where a rotation is exp(phi) Q, they turn by half of phi; `turn`: this way, or transposed.
static void subtract_potential(const ct_model* model, ct_work* work, const ct_config* config,
                               const double* dx, const double* dz, double turn, double* out) {
    const ct_tree* tree = &model->tree;
    ct_link_stages* s = work->links;
    const ct_joint_work* joints = work->families.of[CT_FAMILY_JOINTS];
    const double c = s->rate.c;
    for (int k = 0; k < s->motion.count; k++) {
        const int node = s->motion.node[k];
        const double stiffness = c * (c * model->free_mass[node] + model->free_drag[node]);
        for (int i = 3 * node; i < 3 * node + 3; i++) s->weight_v[i] = -stiffness * dx[i];
    }
    ct_config_pull(tree, config, s->weight_v, work->wrench, s->r);
    for (int j = 0; j < tree->ndof; j++) out[j] += s->r[j];
    ct_config_push_tangents(tree, config, dz, s->r);
    for (int k = 0; k < tree->nlink; k++) {
        const int first = tree->dof[k];
        const double damping = damping_of(tree, k);
        const ct_vec3 own = tree->type[k]->spatial ? ct_vec3_load(s->r + first) : (ct_vec3){0, 0, 0};
        for (int j = first; j < tree->dof[k + 1]; j++) s->r[j] *= -c * damping;
        if (!tree->type[k]->law || !tree->type[k]->spatial) continue;
        const ct_vec3 g = ct_vec3_sub(ct_vec3_scale(damping, ct_vec3_load(s->w + first)),
                                      ct_vec3_load(joints->torque + first));
        ct_vec3_store(s->r + first,
                      ct_vec3_axpy(ct_vec3_load(s->r + first), 0.5 * turn, ct_vec3_cross(g, own)));
    }
    ct_config_pull_tangents(tree, config, s->r, out);
}

void ct_link_stages_transposed(const ct_model* model, ct_work* work, const ct_config* config,
                               const double* lam, const double* lam_z, double* out) {
    double* joints = out + 3 * (size_t)model->nfree;
    reverse_motion(model, work, config, NULL, 1, lam, lam_z);
    ct_config_pull_tangents(&model->tree, config, work->links->out.now, joints);
    subtract_potential(model, work, config, lam, lam_z + 3 * (size_t)model->nfree, -1, joints);
}

void ct_link_stages_start_vjp(const ct_model* model, ct_link_stages* s, const double* rate_bar, double* q_bar,
                              double* v_bar, double* mass_bar) {
    ct_rates_project_vjp(&model->tree, &s->rates, model->free_mass, s->v_n, rate_bar, q_bar, v_bar, mass_bar);
}

// ---- forward -------------------------------------------------------------------------------

// theta_dot of coordinates that change, from 0.
static void change_theta(const ct_tree* tree, const ct_link_stages* s, const double* theta,
                         const double* q_dot, const double* start_dot, double* out) {
    const double* now = q_dot ? q_dot : s->none;
    ct_chart_at_jvp(tree, theta, now, start_dot, out);
}

void ct_link_stages_jvp(const ct_model* model, ct_work* work, const ct_config* config, const ct_link_dot* dot,
                        double* r, double* v) {
    const ct_tree* tree = &model->tree;
    ct_link_stages* s = work->links;
    const ct_rate rate = s->rate;
    const double c = rate.c, middle = s->stage > 1 ? ct_rate_stage(s->rule, 1, s->h).b : 0;
    double *first = s->out.stage[0], *second = s->out.stage[1];
    const ct_jets_bar along = {s->own.q, s->own.w, s->own.dw};
    change_theta(tree, s, s->now.theta, dot->now, dot->start, s->bar.theta);
    if (s->stage > 0) change_theta(tree, s, s->theta[0], dot->stage[0], dot->start, first);
    if (s->stage > 1) change_theta(tree, s, s->theta[1], dot->stage[1], dot->start, second);
    for (int j = 0; j < tree->ndof; j++) {
        const double one = s->stage > 0 ? first[j] : 0, two = s->stage > 1 ? second[j] : 0;
        const double u = c * s->bar.theta[j] - rate.b * one - rate.e * two;
        s->bar.u[j] = u;
        s->bar.alpha[j] = c * u - rate.b * c * one - rate.e * (c * two - middle * one);
        if (dot->rate) s->bar.alpha[j] -= rate.a * dot->rate[j];
        along.q[j] = dot->now ? dot->now[j] : 0;
    }
    ct_chart_rates_jvp(tree, s->now, s->bar, along.w, along.dw);
    ct_jets_nodes_jvp(tree, &s->jets, along, v, s->weight_a);
    for (int k = 0; k < s->motion.count; k++) {
        const int node = s->motion.node[k];
        for (int i = 3 * node; i < 3 * node + 3; i++)
            s->weight_a[i] = model->free_mass[node] * s->weight_a[i] + model->free_drag[node] * v[i];
    }
    ct_config_pull(tree, config, s->weight_a, work->wrench, r);
    for (int k = 0; k < tree->nlink; k++)
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) along.w[j] *= damping_of(tree, k);
    ct_config_pull_tangents(tree, config, along.w, r);
}

void ct_link_stages_product(const ct_model* model, ct_work* work, const ct_config* config, const double* dx,
                            const double* dz, double* out) {
    ct_link_stages* s = work->links;
    const double* joints = dz + 3 * (size_t)model->nfree;
    double* rows = out + 3 * (size_t)model->nfree;
    ct_config_push_tangents(&model->tree, config, joints, s->out.now);
    ct_link_stages_jvp(model, work, config, &(ct_link_dot){.now = s->out.now}, s->r_other, s->weight_v);
    for (int j = 0; j < model->tree.ndof; j++) rows[j] += s->r_other[j];
    subtract_potential(model, work, config, dx, joints, 1, rows);
}

void ct_link_stages_start_jvp(const ct_model* model, ct_link_stages* s, const double* q_dot,
                              const double* v_dot, double* rate_dot) {
    ct_rates_project_jvp(&model->tree, &s->rates, model->free_mass, s->v_n, q_dot, v_dot, rate_dot);
}

ct_status ct_link_rounds_next(ct_link_rounds* rounds, double tolerance, double change, bool* done) {
    enum { LIMIT = 60 };
    const bool stalls = rounds->count > 0 && change > 0.5 * rounds->last;
    rounds->size = fmax(rounds->size, change);
    rounds->last = change;
    *done = change <= tolerance * rounds->size || (stalls && change <= 1e-9 * rounds->size);
    return ++rounds->count > LIMIT && !*done ? CT_NOT_CONVERGED : CT_OK;
}
