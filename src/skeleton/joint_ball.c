// Balls and free joints; see joint_ball.h.
#include "skeleton/joint_ball.h"

#include <math.h>

#include "math/rotation.h"

// ---- springs, limits, dampers, servos, torques ----------------------------------------------

typedef struct ball_point {
    ct_vec3 pose, theta, rate;  // log Q, log(Q Q_n^T), its rate
    ct_vec3 g;                  // damping rate - torque
    ct_vec3 torque, target;
    ct_vec3 behind;      // log(Q exp(-target))
    double damping;      // its own and the servo's
    ct_vec3 outwards;    // pose over its angle, where that is
    double angle, over;  // beyond the limit
} ball_point;

static ball_point ball_at(const ct_joint_point* at) {
    const ct_joint_def* joint = at->joint;
    ball_point p;
    ct_quat Q = ct_quat_load(at->q);
    p.torque = ct_vec3_load(at->torque);
    p.target = ct_vec3_load(at->target);
    p.damping = joint->damping + joint->servo_damping;
    p.pose = ct_rotation_log(Q);
    p.angle = ct_vec3_norm(p.pose);
    p.over = fmax(0, p.angle - joint->upper);
    p.outwards = p.over > 0 ? ct_vec3_scale(1 / p.angle, p.pose) : (ct_vec3){0, 0, 0};
    p.behind = ct_rotation_between(ct_quat_from_vector(p.target), Q);
    p.theta = ct_rotation_between(ct_quat_load(at->start), Q);
    p.rate = ct_vec3_sub(ct_vec3_scale(at->c, p.theta), ct_vec3_load(at->history));
    p.g = ct_vec3_sub(ct_vec3_scale(p.damping, p.rate), p.torque);
    return p;
}

static ct_vec3 apply_transposed(ct_mat3 A, ct_vec3 v) { return ct_mat3_apply(ct_mat3_transpose(A), v); }

static void begin(const ct_joint_point* at, double* history) {
    ct_vec3 last =
        at->b ? ct_rotation_between(ct_quat_load(at->start), ct_quat_load(at->previous)) : (ct_vec3){0, 0, 0};
    ct_vec3_store(history, ct_vec3_scale(at->b, last));
}

static double gradient(const ct_joint_point* at, double* r) {
    const ct_joint_def* joint = at->joint;
    ball_point p = ball_at(at);
    ct_vec3 sum =
        ct_vec3_axpy(apply_transposed(ct_rotation_jacobian_inverse(p.theta), p.g), joint->stiffness, p.pose);
    sum = ct_vec3_axpy(sum, joint->servo_stiffness, p.behind);
    sum = ct_vec3_axpy(sum, joint->limit_stiffness * p.over * p.over, p.outwards);
    ct_vec3_store(r, sum);
    return 0.5 * joint->stiffness * ct_vec3_dot(p.pose, p.pose) +
           0.5 * joint->servo_stiffness * ct_vec3_dot(p.behind, p.behind) +
           joint->limit_stiffness * p.over * p.over * p.over / 3 +
           (at->c > 0 ? 0.5 * p.damping / at->c * ct_vec3_dot(p.rate, p.rate) : 0) -
           ct_vec3_dot(p.torque, p.theta);
}

// f = k/3 over^3 has f'' = along n n^T + across (I - n n^T), and J^-1 n = n.
static ct_mat3 limit_hessian(const ball_point* p, double stiffness) {
    double along = 2 * stiffness * p->over, force = stiffness * p->over * p->over, across = force / p->angle;
    const double n[3] = {p->outwards.x, p->outwards.y, p->outwards.z};
    ct_mat3 H = ct_rotation_hessian(p->pose, ct_vec3_scale(force, p->outwards), across, true);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) H.a[i][j] += (along - across) * n[i] * n[j];
    return H;
}

static void hessian(const ct_joint_point* at, bool exact, double* out) {
    const ct_joint_def* joint = at->joint;
    ball_point p = ball_at(at);
    ct_mat3 H = ct_rotation_hessian(p.theta, p.g, p.damping * at->c, exact);
    // without its bend the spring has too little stiffness: its exact Hessian is positive below half a turn
    H = ct_mat3_axpy(
        H, 1, ct_rotation_hessian(p.pose, ct_vec3_scale(joint->stiffness, p.pose), joint->stiffness, true));
    H = ct_mat3_axpy(H, 1,
                     ct_rotation_hessian(p.behind, ct_vec3_scale(joint->servo_stiffness, p.behind),
                                         joint->servo_stiffness, true));
    if (p.over > 0) H = ct_mat3_axpy(H, 1, limit_hessian(&p, joint->limit_stiffness));
    for (int i = 0; i < 9; i++) out[i] = H.a[i / 3][i % 3];
}

static void vjp(const ct_joint_point* at, const double* lam_z, ct_joint_point_bar* bar) {
    ball_point p = ball_at(at);
    ct_mat3 J = ct_rotation_jacobian_inverse(p.theta);
    ct_vec3 lam = ct_vec3_load(lam_z), turned = ct_mat3_apply(J, lam);
    // r = J^-T(theta) g(theta): its derivative by theta, then theta by Q_n
    ct_mat3 A = ct_mat3_axpy(ct_rotation_bend(p.theta, p.g), p.damping * at->c, ct_mat3_transpose(J));
    ct_vec3 start = ct_mat3_apply(J, apply_transposed(A, lam)), previous = {0, 0, 0};
    if (at->b) {
        ct_vec3 last = ct_rotation_between(ct_quat_load(at->start), ct_quat_load(at->previous));
        ct_mat3 L = ct_rotation_jacobian_inverse(last);
        start = ct_vec3_axpy(start, -p.damping * at->b, ct_mat3_apply(L, turned));
        previous = ct_vec3_scale(p.damping * at->b, apply_transposed(L, turned));
    }
    // dpsi = -J^-T(psi) J(target) dtarget: a target turns psi from the right
    ct_vec3 pulled =
        ct_mat3_apply(ct_rotation_jacobian_inverse(p.behind), ct_vec3_scale(at->joint->servo_stiffness, lam));
    ct_vec3_store(bar->start, start);
    ct_vec3_store(bar->previous, previous);
    ct_vec3_store(bar->torque, turned);
    ct_vec3_store(bar->target, apply_transposed(ct_rotation_jacobian(p.target), pulled));
    bar->stiffness = -ct_vec3_dot(lam, p.pose);
    bar->damping = bar->servo_damping = -ct_vec3_dot(turned, p.rate);
    bar->servo_stiffness = -ct_vec3_dot(lam, p.behind);
    bar->limit_stiffness = -(p.over * p.over * ct_vec3_dot(lam, p.outwards));
}

static const ct_joint_law law = {begin, gradient, hessian, vjp};

// ---- motion --------------------------------------------------------------------------------

static const ct_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void ball_motion(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    (void)joint;
    *Q = ct_quat_matrix(ct_quat_load(q));
    *d = (ct_vec3){0, 0, 0};
}

static void ball_twist(const ct_joint_def* joint, const double* q, const ct_joint_seat* seat, int i,
                       ct_vec3* omega, ct_vec3* v) {
    (void)q;
    *omega = unit[i];
    *v = ct_vec3_cross(ct_joint_seat_arm(seat, ct_vec3_load(joint->anchor)), *omega);
}

static void free_motion(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    (void)joint;
    *Q = ct_quat_matrix(ct_quat_load(q + 3));
    *d = ct_vec3_load(q);
}

// Rotations are about the anchor as the joint has moved it.
static void free_twist(const ct_joint_def* joint, const double* q, const ct_joint_seat* seat, int i,
                       ct_vec3* omega, ct_vec3* v) {
    ct_vec3 moved = ct_vec3_add(ct_vec3_load(joint->anchor), ct_vec3_load(q));
    *omega = i < 3 ? (ct_vec3){0, 0, 0} : unit[i - 3];
    *v = i < 3 ? unit[i] : ct_vec3_cross(ct_joint_seat_arm(seat, moved), *omega);
}

const ct_joint_type ct_joint_ball = {.ndof = 3,
                                     .ncoordinate = 4,
                                     .spatial = true,
                                     .has_place = true,
                                     .law = &law,
                                     .mark = CT_MARK_BALL,
                                     .motion = ball_motion,
                                     .twist = ball_twist};

const ct_joint_type ct_joint_free = {.ndof = 6,
                                     .ncoordinate = 7,
                                     .ntranslation = 3,
                                     .spatial = true,
                                     .mark = CT_MARK_PIVOT,
                                     .motion = free_motion,
                                     .twist = free_twist};
