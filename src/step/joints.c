// Forces of the joints and their derivatives; see joints.h.
#include "step/joints.h"

#include <math.h>
#include <string.h>

#include "math/rotation.h"

bool ct_joint_has_one_coordinate(const ct_joint_def* joint) {
    return joint->kind == CT_JOINT_REVOLUTE || joint->kind == CT_JOINT_PRISMATIC;
}

// How far q is beyond its limits, signed; 0 inside.
static double beyond(const ct_joint_def* joint, double q) {
    return q > joint->upper ? q - joint->upper : q < joint->lower ? q - joint->lower : 0;
}

// Sum of the torques and the servo target of link k in the step's control; a ball has 3 numbers of each.
static void joint_control(const ct_model* model, int k, const double* control, double torque[3],
                          double target[3]) {
    bool ball = model->tree.joint[k].kind == CT_JOINT_BALL;
    int count = ball ? 3 : 1;
    memset(torque, 0, 3 * sizeof(double));
    memcpy(target, ball ? model->tree.joint[k].ball_target : &model->tree.joint[k].target,
           (size_t)count * sizeof(double));
    for (int i = 0; control && i < model->ncontrol; i++) {
        if (model->control[i].link != k) continue;
        const double* u = control + model->control_first[i];
        if (model->control[i].kind == CT_CONTROL_TARGET) memcpy(target, u, (size_t)count * sizeof(double));
        if (model->control[i].kind == CT_CONTROL_TORQUE)
            for (int a = 0; a < count; a++) torque[a] += u[a];
    }
}

static void continue_rotation(const double* q, const double* previous, double fraction, double* q_new) {
    ct_vec3 step = ct_rotation_between(ct_quat_load(previous), ct_quat_load(q));
    ct_quat turned = ct_quat_normalise(
        ct_quat_multiply(ct_quat_from_vector(ct_vec3_scale(fraction, step)), ct_quat_load(q)));
    const double values[4] = {turned.w, turned.x, turned.y, turned.z};
    memcpy(q_new, values, sizeof values);
}

void ct_joints_continue(const ct_model* model, const double* q, const double* previous, double fraction,
                        double* q_new) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++) {
        ct_joint_kind kind = tree->joint[k].kind;
        int at = tree->coordinate[k], linear = kind == CT_JOINT_FREE                          ? 3
                                               : ct_joint_has_one_coordinate(&tree->joint[k]) ? 1
                                                                                              : 0;
        for (int i = at; i < at + linear; i++) q_new[i] = q[i] + fraction * (q[i] - previous[i]);
        if (kind == CT_JOINT_BALL || kind == CT_JOINT_FREE) {
            int turn = at + linear;
            continue_rotation(q + turn, previous + turn, fraction, q_new + turn);
        }
    }
}

void ct_joints_begin(const ct_model* model, ct_joint_step* step, const double* start, const double* previous,
                     const double* control) {
    const ct_tree* tree = &model->tree;
    step->start = start;
    step->previous = previous;
    step->control = control;
    for (int k = 0; k < tree->nlink; k++) {
        int at = tree->coordinate[k];
        double* history = step->history + tree->dof[k];
        if (ct_joint_has_one_coordinate(&tree->joint[k]))
            history[0] = step->a * start[at] + step->b * previous[at];
        if (tree->joint[k].kind != CT_JOINT_BALL) continue;
        ct_vec3 last = step->b ? ct_rotation_between(ct_quat_load(start + at), ct_quat_load(previous + at))
                               : (ct_vec3){0, 0, 0};
        ct_vec3_store(history, ct_vec3_scale(step->b, last));
    }
}

// ---- balls ---------------------------------------------------------------------------------

typedef struct ball_point {
    ct_vec3 pose, theta, rate;  // log Q, log(Q Q_n^T), its rate
    ct_vec3 g;                  // damping rate - torque
    ct_vec3 torque, target;
    ct_vec3 behind;      // log(Q exp(-target))
    double damping;      // its own and the servo's
    ct_vec3 outwards;    // pose over its angle, where that is
    double angle, over;  // beyond the limit
} ball_point;

static ball_point ball_at(const ct_model* model, const ct_config* config, const ct_joint_step* step, int k) {
    const ct_tree* tree = &model->tree;
    int at = tree->coordinate[k];
    double torque[3], target[3];
    ball_point p;
    joint_control(model, k, step->control, torque, target);
    ct_quat Q = ct_quat_load(config->q + at);
    p.torque = ct_vec3_load(torque);
    p.target = ct_vec3_load(target);
    p.damping = tree->joint[k].damping + tree->joint[k].servo_damping;
    p.pose = ct_rotation_log(Q);
    p.angle = ct_vec3_norm(p.pose);
    p.over = fmax(0, p.angle - tree->joint[k].upper);
    p.outwards = p.over > 0 ? ct_vec3_scale(1 / p.angle, p.pose) : (ct_vec3){0, 0, 0};
    p.behind = ct_rotation_between(ct_quat_from_vector(p.target), Q);
    p.theta = ct_rotation_between(ct_quat_load(step->start + at), Q);
    p.rate = ct_vec3_sub(ct_vec3_scale(step->c, p.theta), ct_vec3_load(step->history + tree->dof[k]));
    p.g = ct_vec3_sub(ct_vec3_scale(p.damping, p.rate), p.torque);
    return p;
}

static ct_vec3 apply_transposed(ct_mat3 A, ct_vec3 v) { return ct_mat3_apply(ct_mat3_transpose(A), v); }

static double ball_gradient(const ct_model* model, const ct_config* config, const ct_joint_step* step, int k,
                            double* r) {
    const ct_joint_def* joint = &model->tree.joint[k];
    ball_point p = ball_at(model, config, step, k);
    ct_vec3 local =
        ct_vec3_axpy(apply_transposed(ct_rotation_jacobian_inverse(p.theta), p.g), joint->stiffness, p.pose);
    local = ct_vec3_axpy(local, joint->servo_stiffness, p.behind);
    local = ct_vec3_axpy(local, joint->limit_stiffness * p.over * p.over, p.outwards);
    ct_vec3 world = ct_mat3_apply(ct_skeleton_parent_rotation(model, config, k), local);
    int j = model->tree.dof[k];
    double scale = model->tree.scale[j];
    r[j] += world.x / scale;
    r[j + 1] += world.y / scale;
    r[j + 2] += world.z / scale;
    return 0.5 * joint->stiffness * ct_vec3_dot(p.pose, p.pose) +
           0.5 * joint->servo_stiffness * ct_vec3_dot(p.behind, p.behind) +
           joint->limit_stiffness * p.over * p.over * p.over / 3 +
           0.5 * p.damping / step->c * ct_vec3_dot(p.rate, p.rate) - ct_vec3_dot(p.torque, p.theta);
}

// f = k/3 over^3 has f'' = along n n^T + across (I - n n^T), and J^-1 n = n.
static ct_mat3 ball_limit_hessian(const ball_point* p, double stiffness) {
    double along = 2 * stiffness * p->over, force = stiffness * p->over * p->over, across = force / p->angle;
    const double n[3] = {p->outwards.x, p->outwards.y, p->outwards.z};
    ct_mat3 H = ct_rotation_hessian(p->pose, ct_vec3_scale(force, p->outwards), across, true);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) H.a[i][j] += (along - across) * n[i] * n[j];
    return H;
}

static void ball_hessian(const ct_model* model, const ct_config* config, const ct_joint_step* step, int k,
                         bool exact, double* G) {
    const ct_tree* tree = &model->tree;
    const ct_joint_def* joint = &tree->joint[k];
    ball_point p = ball_at(model, config, step, k);
    ct_mat3 H = ct_rotation_hessian(p.theta, p.g, p.damping * step->c, exact);
    // without its bend the spring has too little stiffness: its exact Hessian is positive below half a turn
    H = ct_mat3_axpy(
        H, 1, ct_rotation_hessian(p.pose, ct_vec3_scale(joint->stiffness, p.pose), joint->stiffness, true));
    H = ct_mat3_axpy(H, 1,
                     ct_rotation_hessian(p.behind, ct_vec3_scale(joint->servo_stiffness, p.behind),
                                         joint->servo_stiffness, true));
    if (p.over > 0) H = ct_mat3_axpy(H, 1, ball_limit_hessian(&p, joint->limit_stiffness));
    ct_mat3 R = ct_skeleton_parent_rotation(model, config, k);
    H = ct_mat3_multiply(R, ct_mat3_multiply(H, ct_mat3_transpose(R)));
    size_t n = (size_t)tree->ndof, j = (size_t)tree->dof[k];
    double square = tree->scale[j] * tree->scale[j];
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) G[(j + a) * n + j + b] += H.a[a][b] / square;
}

// dpsi = -J^-T(psi) J(target) dtarget: a target turns psi from the right.
static void ball_control_vjp(const ct_model* model, int k, const ball_point* p, ct_vec3 lam, ct_vec3 turned,
                             double* control_bar) {
    ct_vec3 pulled = ct_mat3_apply(ct_rotation_jacobian_inverse(p->behind),
                                   ct_vec3_scale(model->tree.joint[k].servo_stiffness, lam));
    pulled = apply_transposed(ct_rotation_jacobian(p->target), pulled);
    for (int i = 0; i < model->ncontrol; i++) {
        ct_control_kind kind = model->control[i].kind;
        if (model->control[i].link != k || (kind != CT_CONTROL_TORQUE && kind != CT_CONTROL_TARGET)) continue;
        double* u_bar = control_bar + model->control_first[i];
        ct_vec3_store(u_bar, ct_vec3_add(ct_vec3_load(u_bar), kind == CT_CONTROL_TORQUE ? turned : pulled));
    }
}

static void ball_vjp(const ct_model* model, const ct_config* config, const ct_joint_step* step, int k,
                     const double* lam_z, ct_joint_bar* bar) {
    const ct_tree* tree = &model->tree;
    int j = tree->dof[k], at = tree->coordinate[k];
    ball_point p = ball_at(model, config, step, k);
    ct_mat3 J = ct_rotation_jacobian_inverse(p.theta);
    ct_vec3 lam =
        ct_vec3_scale(1 / tree->scale[j], apply_transposed(ct_skeleton_parent_rotation(model, config, k),
                                                           ct_vec3_load(lam_z + j)));
    ct_vec3 turned = ct_mat3_apply(J, lam);
    // r = J^-T(theta) g(theta): its derivative by theta, then theta by Q_n
    ct_mat3 A = ct_mat3_axpy(ct_rotation_bend(p.theta, p.g), p.damping * step->c, ct_mat3_transpose(J));
    ct_vec3 start = ct_mat3_apply(J, apply_transposed(A, lam)), previous = {0, 0, 0};
    if (step->b) {
        ct_vec3 last = ct_rotation_between(ct_quat_load(step->start + at), ct_quat_load(step->previous + at));
        ct_mat3 L = ct_rotation_jacobian_inverse(last);
        start = ct_vec3_axpy(start, -p.damping * step->b, ct_mat3_apply(L, turned));
        previous = ct_vec3_scale(p.damping * step->b, apply_transposed(L, turned));
    }
    ct_vec3_store(bar->start + j, start);
    ct_vec3_store(bar->previous + j, previous);
    if (bar->stiffness) bar->stiffness[k] -= ct_vec3_dot(lam, p.pose);
    if (bar->damping) bar->damping[k] -= ct_vec3_dot(turned, p.rate);
    if (bar->servo_stiffness) bar->servo_stiffness[k] -= ct_vec3_dot(lam, p.behind);
    if (bar->limit_stiffness) bar->limit_stiffness[k] -= p.over * p.over * ct_vec3_dot(lam, p.outwards);
    if (bar->servo_damping) bar->servo_damping[k] -= ct_vec3_dot(turned, p.rate);
    if (bar->control) ball_control_vjp(model, k, &p, lam, turned, bar->control);
}

// ---- one coordinate ------------------------------------------------------------------------

static double axial_gradient(const ct_model* model, const ct_config* config, const ct_joint_step* step, int k,
                             double* r) {
    const ct_tree* tree = &model->tree;
    const ct_joint_def* joint = &tree->joint[k];
    int j = tree->dof[k];
    double torque[3], target[3], q = config->q[tree->coordinate[k]], over = beyond(joint, q),
                                 rate = step->c * q - step->history[j];
    joint_control(model, k, step->control, torque, target);
    double damping = joint->damping + joint->servo_damping, bent = q - joint->rest, behind = q - target[0];
    // beyond a limit the force grows with the square: twice differentiable
    r[j] += (joint->stiffness * bent + joint->servo_stiffness * behind + damping * rate +
             joint->limit_stiffness * over * fabs(over) - torque[0]) /
            tree->scale[j];
    return 0.5 * joint->stiffness * bent * bent + 0.5 * joint->servo_stiffness * behind * behind +
           0.5 * damping / step->c * rate * rate + joint->limit_stiffness * fabs(over) * over * over / 3 -
           torque[0] * q;
}

static double axial_stiffness(const ct_joint_def* joint, double c, double q) {
    return joint->stiffness + joint->servo_stiffness + c * (joint->damping + joint->servo_damping) +
           2 * joint->limit_stiffness * fabs(beyond(joint, q));
}

static void axial_vjp(const ct_model* model, const ct_config* config, const ct_joint_step* step, int k,
                      const double* lam_z, ct_joint_bar* bar) {
    const ct_tree* tree = &model->tree;
    const ct_joint_def* joint = &tree->joint[k];
    int j = tree->dof[k];
    double torque[3], target[3], q = config->q[tree->coordinate[k]], over = beyond(joint, q),
                                 rate = step->c * q - step->history[j];
    double lam = lam_z[j] / tree->scale[j], history_bar = (joint->damping + joint->servo_damping) * lam;
    joint_control(model, k, step->control, torque, target);
    bar->start[j] = step->a * history_bar;
    bar->previous[j] = step->b * history_bar;
    if (bar->stiffness) bar->stiffness[k] -= lam * (q - joint->rest);
    if (bar->rest) bar->rest[k] += lam * joint->stiffness;
    if (bar->damping) bar->damping[k] -= lam * rate;
    if (bar->servo_stiffness) bar->servo_stiffness[k] -= lam * (q - target[0]);
    if (bar->servo_damping) bar->servo_damping[k] -= lam * rate;
    if (bar->limit_stiffness) bar->limit_stiffness[k] -= lam * over * fabs(over);
    for (int i = 0; bar->control && i < model->ncontrol; i++) {
        if (model->control[i].link != k) continue;
        double* u_bar = bar->control + model->control_first[i];
        if (model->control[i].kind == CT_CONTROL_TORQUE) u_bar[0] += lam;
        if (model->control[i].kind == CT_CONTROL_TARGET) u_bar[0] += joint->servo_stiffness * lam;
    }
}

// ---- all joints ----------------------------------------------------------------------------

double ct_joints_gradient(const ct_model* model, const ct_config* config, const ct_joint_step* step,
                          double* r) {
    const ct_tree* tree = &model->tree;
    double potential = 0;
    for (int k = 0; k < tree->nlink; k++) {
        if (ct_joint_has_one_coordinate(&tree->joint[k]))
            potential += axial_gradient(model, config, step, k, r);
        if (tree->joint[k].kind == CT_JOINT_BALL) potential += ball_gradient(model, config, step, k, r);
    }
    return potential;
}

void ct_joints_hessian(const ct_model* model, const ct_config* config, const ct_joint_step* step, bool exact,
                       double* G) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++) {
        const ct_joint_def* joint = &tree->joint[k];
        size_t j = (size_t)tree->dof[k];
        if (ct_joint_has_one_coordinate(joint))
            G[j * (size_t)(tree->ndof + 1)] +=
                axial_stiffness(joint, step->c, config->q[tree->coordinate[k]]) /
                (tree->scale[j] * tree->scale[j]);
        if (joint->kind == CT_JOINT_BALL) ball_hessian(model, config, step, k, exact, G);
    }
}

void ct_joints_vjp(const ct_model* model, const ct_config* config, const ct_joint_step* step,
                   const double* lam_z, ct_joint_bar* bar) {
    const ct_tree* tree = &model->tree;
    memset(bar->start, 0, (size_t)tree->ndof * sizeof(double));
    memset(bar->previous, 0, (size_t)tree->ndof * sizeof(double));
    for (int k = 0; k < tree->nlink; k++) {
        if (ct_joint_has_one_coordinate(&tree->joint[k])) axial_vjp(model, config, step, k, lam_z, bar);
        if (tree->joint[k].kind == CT_JOINT_BALL) ball_vjp(model, config, step, k, lam_z, bar);
    }
}
