// Observations of a state; see observe.h.
#include "step/observe.h"

#include <math.h>
#include <string.h>

#include "math/rotation.h"
#include "shape/closed_surface.h"

// ---- node sets -------------------------------------------------------------------------------

static void add_mean(const double* field, const int* node, int nnode, double scale, double out[3]) {
    for (int i = 0; i < nnode; i++)
        for (int a = 0; a < 3; a++) out[a] += scale / nnode * field[3 * (size_t)node[i] + (size_t)a];
}

static void spread_mean(double* field, const int* node, int nnode, double scale, const double bar[3]) {
    for (int i = 0; i < nnode; i++)
        for (int a = 0; a < 3; a++) field[3 * (size_t)node[i] + (size_t)a] += scale / nnode * bar[a];
}

// ---- joints ----------------------------------------------------------------------------------

// Rates of the joint that are plain differences: all, or the translations of a spatial one.
static int plain_count(const ct_joint_type* type) { return type->spatial ? type->ntranslation : type->ndof; }

static void joint_value(const ct_model* model, const ct_state* state, const ct_observe* o, double* out) {
    const ct_joint_type* type = model->tree.type[o->link];
    const double* q = state->q + model->tree.coordinate[o->link];
    const int plain = plain_count(type);
    for (int i = 0; i < plain; i++) out[i] = o->scale * q[i];
    if (type->spatial)
        ct_vec3_store(out + plain, ct_vec3_scale(o->scale, ct_rotation_log(ct_quat_load(q + plain))));
}

static void add3(double* out, ct_vec3 v) { ct_vec3_store(out, ct_vec3_add(ct_vec3_load(out), v)); }

static void joint_vjp(const ct_model* model, const ct_state* state, const ct_observe* o, const double* bar,
                      double* q_bar) {
    const ct_joint_type* type = model->tree.type[o->link];
    const double* q = state->q + model->tree.coordinate[o->link];
    const int plain = plain_count(type), dof = model->tree.dof[o->link];
    for (int i = 0; i < plain; i++) q_bar[dof + i] += o->scale * bar[i];
    if (!type->spatial) return;
    const ct_mat3 J = ct_rotation_jacobian_inverse(ct_rotation_log(ct_quat_load(q + plain)));
    add3(q_bar + dof + plain,
         ct_vec3_scale(o->scale, ct_mat3_apply(ct_mat3_transpose(J), ct_vec3_load(bar + plain))));
}

static void rate_value(const ct_model* model, const ct_state* state, const ct_observe* o,
                       const ct_observe_links* links, double* out) {
    const ct_joint_type* type = model->tree.type[o->link];
    const int plain = plain_count(type), at = model->tree.coordinate[o->link];
    const double *q = state->q + at, *p = state->q_previous + at, per = o->scale / model->settings.time_step;
    if (!state->header->history) {
        const double* rate = (links ? links->rate : state->rate) + model->tree.dof[o->link];
        for (int i = 0; i < type->ndof; i++) out[i] = o->scale * rate[i];
        return;
    }
    for (int i = 0; i < plain; i++) out[i] = per * (q[i] - p[i]);
    if (!type->spatial) return;
    const ct_vec3 d = ct_rotation_between(ct_quat_load(p + plain), ct_quat_load(q + plain));
    ct_vec3_store(out + plain, ct_vec3_scale(per, d));
}

static void rate_vjp(const ct_model* model, const ct_state* state, const ct_observe* o, const double* bar,
                     double* q_bar, double* before_bar) {
    const ct_joint_type* type = model->tree.type[o->link];
    const int plain = plain_count(type), at = model->tree.coordinate[o->link], dof = model->tree.dof[o->link];
    const double *q = state->q + at, *p = state->q_previous + at, per = o->scale / model->settings.time_step;
    if (!state->header->history) return;
    for (int i = 0; i < plain; i++) {
        q_bar[dof + i] += per * bar[i];
        before_bar[dof + i] -= per * bar[i];
    }
    if (!type->spatial) return;
    const ct_vec3 d = ct_rotation_between(ct_quat_load(p + plain), ct_quat_load(q + plain)),
                  d_bar = ct_vec3_scale(per, ct_vec3_load(bar + plain));
    const ct_mat3 J = ct_rotation_jacobian_inverse(d);
    add3(q_bar + dof + plain, ct_mat3_apply(ct_mat3_transpose(J), d_bar));
    add3(before_bar + dof + plain, ct_vec3_scale(-1, ct_mat3_apply(J, d_bar)));
}

// ---- links -----------------------------------------------------------------------------------

ct_status ct_observe_links_create(ct_observe_links* links, ct_arena* arena, const ct_model* model,
                                  const ct_state* state) {
    const ct_tree* tree = &model->tree;
    ct_status status = ct_config_create(&links->config, arena, tree);
    links->wrench = ct_arena_alloc(arena, 6 * (size_t)tree->nlink, sizeof(double));
    links->rate = ct_arena_alloc(arena, (size_t)tree->ndof, sizeof(double));
    if (status || arena->failed) return CT_OUT_OF_MEMORY;
    memcpy(links->config.q, state->q, (size_t)tree->ncoordinate * sizeof(double));
    ct_config_place(tree, &links->config);
    ct_config_to_parents(tree, &links->config, state->rate, links->rate);
    return CT_OK;
}

static void pose_vjp(const ct_model* model, const ct_observe* o, const ct_observe_links* links,
                     const double* bar) {
    const double *R = links->config.frame + 12 * o->link, *t = R + 9;
    double M[3][3] = {{0}}, *wrench = links->wrench + 6 * o->link;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) M[i][j] += o->scale * bar[3 * i + k] * R[3 * j + k];
    const ct_vec3 force = ct_vec3_scale(o->scale, ct_vec3_load(bar + 9)),
                  arm = ct_vec3_sub(ct_vec3_load(t), ct_vec3_load(model->tree.origin)),
                  axial = {M[2][1] - M[1][2], M[0][2] - M[2][0], M[1][0] - M[0][1]};
    add3(wrench, ct_vec3_add(axial, ct_vec3_cross(arm, force)));
    add3(wrench + 3, force);
}

void ct_observe_pull_links(const ct_model* model, ct_observe_links* links, double* r, ct_adjoint_state* bar) {
    const ct_tree* tree = &model->tree;
    double* tangent = r + tree->ndof;
    ct_config_pull_links(tree, &links->config, links->wrench, r);
    for (int j = 0; j < tree->ndof; j++) r[j] *= tree->scale[j];
    ct_config_to_parents(tree, &links->config, r, tangent);
    for (int j = 0; j < tree->ndof; j++) bar->q[j] += tangent[j];
    for (int k = 0; k < tree->nlink; k++) {  // driven roots, about the centre of their motion
        if (tree->root[k] < 0) continue;
        const double* wrench = links->wrench + 6 * k;
        const ct_vec3 center = ct_vec3_load(links->config.q + tree->root_coordinate + 7 * tree->root[k]),
                      arm = ct_vec3_sub(ct_vec3_load(tree->origin), center), force = ct_vec3_load(wrench + 3);
        add3(bar->root + 6 * tree->root[k], force);
        add3(bar->root + 6 * tree->root[k] + 3, ct_vec3_add(ct_vec3_load(wrench), ct_vec3_cross(arm, force)));
    }
}

// ---- contact ---------------------------------------------------------------------------------

// How the force of an anchor counts for a body: 1 on the side of its first primitive, -1 on the other, 0.
static double contact_sign(const ct_observe* o, const ct_anchor* anchor) {
    const int other = anchor->type == CT_CONTACT_TYPE_EDGE_EDGE ? 2 : 1;
    double sign = 0;
    if (anchor->node[0] >= o->first && anchor->node[0] < o->last) sign += 1;
    if (anchor->type != CT_CONTACT_TYPE_PLANE && anchor->node[other] >= o->first &&
        anchor->node[other] < o->last)
        sign -= 1;
    return sign;
}

// ---- all of them -----------------------------------------------------------------------------

int ct_observe_count(const ct_model* model, const ct_observe* o) {
    switch (o->kind) {
    case CT_OBSERVE_JOINT:
    case CT_OBSERVE_RATE: return model->tree.type[o->link]->ndof;
    case CT_OBSERVE_PHASE: return 2;
    case CT_OBSERVE_POSITIONS:
    case CT_OBSERVE_VELOCITIES: return 3 * o->nnode;
    case CT_OBSERVE_POSE: return 12;
    case CT_OBSERVE_VOLUME: return 1;
    case CT_OBSERVE_ACTUATION: return model->actuators.list[o->actuator].size;
    default: return 3;
    }
}

static void mean_value(const ct_observe* o, const double* field, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    add_mean(field, o->node, o->nnode, o->scale, out);
    add_mean(field, o->other, o->nother, -o->scale, out);
    for (int a = 0; o->kind == CT_OBSERVE_POSITION && a < 3; a++) out[a] -= o->scale * o->rest[a];
}

static void contact_value(const ct_state* state, const ct_observe* o, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int k = 0; k < (int)state->header->nanchor; k++) {
        const double sign = o->scale * contact_sign(o, &state->anchor[k]);
        for (int a = 0; a < 3; a++) out[a] += sign * state->anchor[k].force[a];
    }
}

void ct_observe_value(const ct_model* model, const ct_state* state, const ct_observe* o,
                      const ct_observe_links* links, double* out) {
    const double angle = 2 * M_PI * o->frequency * state->header->time;
    const ct_scene_actuator* actuator = &model->actuators.list[o->actuator];
    switch (o->kind) {
    case CT_OBSERVE_POSITION: mean_value(o, state->x, out); break;
    case CT_OBSERVE_VELOCITY: mean_value(o, state->v, out); break;
    case CT_OBSERVE_JOINT: joint_value(model, state, o, out); break;
    case CT_OBSERVE_PHASE:
        out[0] = o->scale * sin(angle);
        out[1] = o->scale * cos(angle);
        break;
    case CT_OBSERVE_RATE: rate_value(model, state, o, links, out); break;
    case CT_OBSERVE_POSITIONS:
    case CT_OBSERVE_VELOCITIES: {
        const double* field = o->kind == CT_OBSERVE_POSITIONS ? state->x : state->v;
        for (int i = 0; i < 3 * o->nnode; i++) out[i] = o->scale * field[3 * (size_t)o->node[i / 3] + i % 3];
        break;
    }
    case CT_OBSERVE_POSE:
        for (int i = 0; i < 12; i++) out[i] = o->scale * links->config.frame[12 * o->link + i];
        break;
    case CT_OBSERVE_CONTACT: contact_value(state, o, out); break;
    case CT_OBSERVE_VOLUME:
        out[0] = o->scale * ct_surface_volume(actuator->tri, actuator->nelement, state->x);
        break;
    case CT_OBSERVE_ACTUATION:
        for (int i = 0; i < actuator->size; i++)
            out[i] = o->scale * state->actuation[model->actuators.first[o->actuator] + i];
    }
}

void ct_observe_vjp(const ct_model* model, const ct_state* state, const ct_observe* o,
                    const ct_observe_links* links, const double* out_bar, ct_adjoint_state* bar) {
    const ct_scene_actuator* actuator = &model->actuators.list[o->actuator];
    switch (o->kind) {
    case CT_OBSERVE_POSITION:
    case CT_OBSERVE_VELOCITY: {
        double* field = o->kind == CT_OBSERVE_POSITION ? bar->x : bar->v;
        spread_mean(field, o->node, o->nnode, o->scale, out_bar);
        spread_mean(field, o->other, o->nother, -o->scale, out_bar);
        break;
    }
    case CT_OBSERVE_JOINT: joint_vjp(model, state, o, out_bar, bar->q); break;
    case CT_OBSERVE_PHASE: break;
    case CT_OBSERVE_RATE: rate_vjp(model, state, o, out_bar, bar->q, bar->q_previous); break;
    case CT_OBSERVE_POSITIONS:
    case CT_OBSERVE_VELOCITIES: {
        double* field = o->kind == CT_OBSERVE_POSITIONS ? bar->x : bar->v;
        for (int i = 0; i < 3 * o->nnode; i++)
            field[3 * (size_t)o->node[i / 3] + i % 3] += o->scale * out_bar[i];
        break;
    }
    case CT_OBSERVE_POSE: pose_vjp(model, o, links, out_bar); break;
    case CT_OBSERVE_CONTACT:
        for (int k = 0; k < (int)state->header->nanchor; k++) {
            const double sign = o->scale * contact_sign(o, &state->anchor[k]);
            for (int a = 0; a < 3; a++) bar->anchor[3 * k + a] += sign * out_bar[a];
        }
        break;
    case CT_OBSERVE_VOLUME:
        ct_surface_volume_vjp(actuator->tri, actuator->nelement, state->x, o->scale * out_bar[0], bar->x);
        break;
    case CT_OBSERVE_ACTUATION:
        for (int i = 0; i < actuator->size; i++)
            bar->actuation[model->actuators.first[o->actuator] + i] += o->scale * out_bar[i];
    }
}
