// Kinematics of the skeletons; see skeleton.h.
#include "step/skeleton.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"

ct_status ct_config_create(ct_config* config, ct_arena* arena, const ct_model* model) {
    const ct_tree* tree = &model->tree;
    config->x = ct_arena_alloc(arena, 3 * (size_t)model->nvert, sizeof(double));
    config->q = ct_arena_alloc(arena, (size_t)tree->ncoordinate, sizeof(double));
    config->frame = ct_arena_alloc(arena, 12 * (size_t)tree->nlink, sizeof(double));
    config->column = ct_arena_alloc(arena, 6 * (size_t)tree->ndof, sizeof(double));
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}

static void store_quat(ct_quat q, double* out) {
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

void ct_skeleton_rest(const ct_model* model, double* q) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++) {
        double* own = q + tree->coordinate[k];
        const double* pose = tree->joint[k].pose;
        switch (tree->joint[k].kind) {
        case CT_JOINT_REVOLUTE:
        case CT_JOINT_PRISMATIC: own[0] = tree->joint[k].position; break;
        case CT_JOINT_BALL: store_quat(ct_quat_from_vector(ct_vec3_load(pose)), own); break;
        case CT_JOINT_FREE:
            memcpy(own, pose, 3 * sizeof(double));
            store_quat(ct_quat_from_vector(ct_vec3_load(pose + 3)), own + 3);
            break;
        default: break;
        }
    }
}

// ---- frames and columns --------------------------------------------------------------------

static ct_mat3 frame_rotation(const double* frame) {
    return (ct_mat3){
        {{frame[0], frame[1], frame[2]}, {frame[3], frame[4], frame[5]}, {frame[6], frame[7], frame[8]}}};
}

static ct_vec3 frame_shift(const double* frame) { return (ct_vec3){frame[9], frame[10], frame[11]}; }

static ct_vec3 load(const double* p) { return (ct_vec3){p[0], p[1], p[2]}; }

// A_k(q): rotation Q about the anchor, then translation d, in rest coordinates.
static void joint_motion(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    *Q = ct_quat_matrix(ct_quat_identity());
    *d = (ct_vec3){0, 0, 0};
    ct_vec3 axis = load(joint->axis);
    switch (joint->kind) {
    case CT_JOINT_REVOLUTE: *Q = ct_quat_matrix(ct_quat_from_vector(ct_vec3_scale(q[0], axis))); break;
    case CT_JOINT_PRISMATIC: *d = ct_vec3_scale(q[0], axis); break;
    case CT_JOINT_BALL: *Q = ct_quat_matrix(ct_quat_load(q)); break;
    case CT_JOINT_FREE:
        *Q = ct_quat_matrix(ct_quat_load(q + 3));
        *d = load(q);
        break;
    default: break;
    }
}

// The frame that the joint of link k sits on. A driven root keeps the position p of its motion's centre c and
// a quaternion: x = R (X - c) + p.
static void parent_frame(const ct_tree* tree, int k, const ct_config* config, ct_mat3* R, ct_vec3* t) {
    *R = ct_mat3_identity();
    *t = (ct_vec3){0, 0, 0};
    if (tree->parent[k] >= 0) {
        *R = frame_rotation(config->frame + 12 * tree->parent[k]);
        *t = frame_shift(config->frame + 12 * tree->parent[k]);
    } else if (tree->root[k] >= 0) {
        const double* pose = config->q + tree->root_coordinate + 7 * tree->root[k];
        *R = ct_quat_matrix(ct_quat_load(pose + 3));
        *t = ct_vec3_sub(load(pose), ct_mat3_apply(*R, load(tree->motion[tree->root[k]].center)));
    }
}

ct_mat3 ct_skeleton_parent_rotation(const ct_model* model, const ct_config* config, int k) {
    ct_mat3 R;
    ct_vec3 t;
    parent_frame(&model->tree, k, config, &R, &t);
    return R;
}

// T = T_parent A: R = R_p Q, t = R_p (anchor + d - Q anchor) + t_p.
static void place_link(const ct_tree* tree, int k, ct_config* config) {
    const ct_joint_def* joint = &tree->joint[k];
    double* frame = config->frame + 12 * k;
    ct_mat3 Q;
    ct_vec3 d, anchor = load(joint->anchor);
    joint_motion(joint, config->q + tree->coordinate[k], &Q, &d);
    ct_vec3 shift = ct_vec3_add(d, ct_vec3_sub(anchor, ct_mat3_apply(Q, anchor)));
    ct_mat3 R;
    ct_vec3 t;
    parent_frame(tree, k, config, &R, &t);
    shift = ct_vec3_add(ct_mat3_apply(R, shift), t);
    Q = ct_mat3_multiply(R, Q);
    for (int i = 0; i < 9; i++) frame[i] = Q.a[i / 3][i % 3];
    frame[9] = shift.x;
    frame[10] = shift.y;
    frame[11] = shift.z;
}

static void set_column(double* column, ct_vec3 omega, ct_vec3 v, double scale) {
    const double values[6] = {omega.x, omega.y, omega.z, v.x, v.y, v.z};
    for (int i = 0; i < 6; i++) column[i] = values[i] / scale;
}

// Columns of joint k: world axes of its parent's frame, anchor p as moved by the parent (and by a free
// joint's own shift).
static void joint_columns(const ct_tree* tree, int k, ct_config* config) {
    const ct_joint_def* joint = &tree->joint[k];
    ct_mat3 R;
    ct_vec3 t, anchor = load(joint->anchor), origin = load(tree->origin), zero = {0, 0, 0};
    parent_frame(tree, k, config, &R, &t);
    if (joint->kind == CT_JOINT_FREE) anchor = ct_vec3_add(anchor, load(config->q + tree->coordinate[k]));
    ct_vec3 arm = ct_vec3_sub(ct_vec3_add(ct_mat3_apply(R, anchor), t), origin);
    ct_vec3 axis = ct_mat3_apply(R, load(joint->axis));
    const ct_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
        double *column = config->column + 6 * j, scale = tree->scale[j];
        int i = j - tree->dof[k];
        if (joint->kind == CT_JOINT_PRISMATIC) set_column(column, zero, axis, scale);
        else if (joint->kind == CT_JOINT_REVOLUTE) set_column(column, axis, ct_vec3_cross(arm, axis), scale);
        else if (joint->kind == CT_JOINT_FREE && i < 3) set_column(column, zero, unit[i], scale);
        else set_column(column, unit[i % 3], ct_vec3_cross(arm, unit[i % 3]), scale);
    }
}

void ct_skeleton_place(const ct_model* model, ct_config* config) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++) {
        place_link(tree, k, config);
        joint_columns(tree, k, config);
        ct_mat3 R = frame_rotation(config->frame + 12 * k);
        ct_vec3 t = frame_shift(config->frame + 12 * k);
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            size_t at = 3 * (size_t)tree->node[i];
            ct_vec3 x = ct_vec3_add(ct_mat3_apply(R, load(model->rest + at)), t);
            config->x[at] = x.x;
            config->x[at + 1] = x.y;
            config->x[at + 2] = x.z;
        }
    }
}

// A ball's increment w is in world axes; its joint rotation lives in the parent's: Q <- exp(R_p^T w) Q.
static void turn(ct_mat3 R, const double w[3], const double* q, double* q_new) {
    ct_vec3 local = ct_mat3_apply(ct_mat3_transpose(R), load(w));
    store_quat(ct_quat_normalise(ct_quat_multiply(ct_quat_from_vector(local), ct_quat_load(q))), q_new);
}

void ct_skeleton_move(const ct_model* model, const ct_config* config, double length, const double* dz,
                      double* q_new) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++) {
        int j = tree->dof[k], count = tree->dof[k + 1] - j, at = tree->coordinate[k];
        const double* q = config->q + at;
        double d[6] = {0};
        ct_mat3 R = ct_skeleton_parent_rotation(model, config, k);
        for (int i = 0; i < count; i++) d[i] = length * dz[j + i] / tree->scale[j + i];
        switch (tree->joint[k].kind) {
        case CT_JOINT_REVOLUTE:
        case CT_JOINT_PRISMATIC: q_new[at] = q[0] + d[0]; break;
        case CT_JOINT_BALL: turn(R, d, q, q_new + at); break;
        case CT_JOINT_FREE: {
            // translations are in world axes, coordinates in the parent's
            ct_vec3 shift = ct_mat3_apply(ct_mat3_transpose(R), load(d));
            q_new[at] = q[0] + shift.x;
            q_new[at + 1] = q[1] + shift.y;
            q_new[at + 2] = q[2] + shift.z;
            turn(R, d + 3, q + 3, q_new + at + 3);
            break;
        }
        default: break;
        }
    }
    memcpy(q_new + tree->root_coordinate, config->q + tree->root_coordinate,
           7 * (size_t)tree->nroot * sizeof(double));
}

// ---- B^T and B -----------------------------------------------------------------------------

void ct_skeleton_pull_links(const ct_model* model, const ct_config* config, double* wrench, double* r) {
    const ct_tree* tree = &model->tree;
    for (int k = tree->nlink - 1; k >= 0; k--) {
        const double* own = wrench + 6 * k;
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
            const double* s = config->column + 6 * j;
            r[j] =
                s[0] * own[0] + s[1] * own[1] + s[2] * own[2] + s[3] * own[3] + s[4] * own[4] + s[5] * own[5];
        }
        for (int i = 0; tree->parent[k] >= 0 && i < 6; i++) wrench[6 * tree->parent[k] + i] += own[i];
    }
}

void ct_skeleton_pull(const ct_model* model, const ct_config* config, const double* rho, double* wrench,
                      double* r) {
    const ct_tree* tree = &model->tree;
    ct_vec3 origin = load(tree->origin);
    for (int k = 0; k < tree->nlink; k++) {
        ct_vec3 moment = {0, 0, 0}, force = {0, 0, 0};
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            size_t at = 3 * (size_t)tree->node[i];
            ct_vec3 f = load(rho + at);
            moment = ct_vec3_add(moment, ct_vec3_cross(ct_vec3_sub(load(config->x + at), origin), f));
            force = ct_vec3_add(force, f);
        }
        const double values[6] = {moment.x, moment.y, moment.z, force.x, force.y, force.z};
        memcpy(wrench + 6 * k, values, sizeof values);
    }
    ct_skeleton_pull_links(model, config, wrench, r);
}

void ct_skeleton_push_links(const ct_model* model, const ct_config* config, const double* dz, double* twist) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++) {
        double* own = twist + 6 * k;
        for (int i = 0; i < 6; i++) own[i] = tree->parent[k] >= 0 ? twist[6 * tree->parent[k] + i] : 0;
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++)
            for (int i = 0; i < 6; i++) own[i] += config->column[6 * j + i] * dz[j];
    }
}

void ct_skeleton_push(const ct_model* model, const ct_config* config, const double* dz, double* twist,
                      double* dx) {
    const ct_tree* tree = &model->tree;
    ct_vec3 origin = load(tree->origin);
    ct_skeleton_push_links(model, config, dz, twist);
    for (int k = 0; k < tree->nlink; k++) {
        ct_vec3 omega = load(twist + 6 * k), v = load(twist + 6 * k + 3);
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            size_t at = 3 * (size_t)tree->node[i];
            ct_vec3 u = ct_vec3_add(v, ct_vec3_cross(omega, ct_vec3_sub(load(config->x + at), origin)));
            dx[at] += u.x;
            dx[at + 1] += u.y;
            dx[at + 2] += u.z;
        }
    }
}

// ---- curvature -----------------------------------------------------------------------------

// K and f of every link's subtree: 9 + 3 numbers each.
static void subtree_moments(const ct_model* model, const ct_config* config, const double* rho,
                            double* moments) {
    const ct_tree* tree = &model->tree;
    memset(moments, 0, 12 * (size_t)tree->nlink * sizeof(double));
    for (int k = tree->nlink - 1; k >= 0; k--) {
        double* own = moments + 12 * k;
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            const double *x = config->x + 3 * tree->node[i], *f = rho + 3 * tree->node[i];
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) own[3 * a + b] += (x[a] - tree->origin[a]) * f[b];
                own[9 + a] += f[a];
            }
        }
        for (int i = 0; tree->parent[k] >= 0 && i < 12; i++) moments[12 * tree->parent[k] + i] += own[i];
    }
}

// (K - tr K I) omega + v x f
static ct_vec3 carried(const double* moments, const double* column) {
    const double *K = moments, *w = column;
    double trace = K[0] + K[4] + K[8];
    ct_vec3 first = {K[0] * w[0] + K[1] * w[1] + K[2] * w[2] - trace * w[0],
                     K[3] * w[0] + K[4] * w[1] + K[5] * w[2] - trace * w[1],
                     K[6] * w[0] + K[7] * w[1] + K[8] * w[2] - trace * w[2]};
    return ct_vec3_add(first, ct_vec3_cross(load(column + 3), load(moments + 9)));
}

void ct_skeleton_curvature(const ct_model* model, const ct_config* config, const double* rho, double* moments,
                           double* G) {
    const ct_tree* tree = &model->tree;
    size_t n = (size_t)tree->ndof;
    memset(G, 0, n * n * sizeof(double));
    subtree_moments(model, config, rho, moments);
    for (int k = 0; k < tree->nlink; k++)
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
            ct_vec3 u = carried(moments + 12 * k, config->column + 6 * j);
            // the joint's own rates, then those of all joints above
            // above its own rotation
            bool translation = tree->joint[k].kind == CT_JOINT_FREE && j - tree->dof[k] < 3;
            for (int above = translation ? tree->parent[k] : k; above >= 0; above = tree->parent[above])
                for (int i = tree->dof[above]; i < tree->dof[above + 1]; i++) {
                    double value = ct_vec3_dot(load(config->column + 6 * i), u);
                    if (above == k) {
                        G[(size_t)i * n + (size_t)j] += 0.5 * value;
                        G[(size_t)j * n + (size_t)i] += 0.5 * value;
                    } else {
                        G[(size_t)i * n + (size_t)j] += value;
                        G[(size_t)j * n + (size_t)i] += value;
                    }
                }
        }
}
