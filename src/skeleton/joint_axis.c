// Joints about and along axes; see joint_axis.h.
#include "skeleton/joint_axis.h"

#include <math.h>

#include "math/quat.h"

// ---- springs, limits, dampers, servos, torques ----------------------------------------------

// How far coordinate i is beyond its limits, signed; 0 inside.
static double beyond(const ct_joint_def* joint, int i, double q) {
    double lower = i ? joint->lower2 : joint->lower, upper = i ? joint->upper2 : joint->upper;
    return q > upper ? q - upper : q < lower ? q - lower : 0;
}

static void begin(const ct_joint_point* at, double* history) {
    for (int i = 0; i < at->n; i++) history[i] = at->a * at->start[i] + at->b * at->previous[i];
}

static double gradient(const ct_joint_point* at, double* r) {
    const ct_joint_def* joint = at->joint;
    double damping = joint->damping + joint->servo_damping, potential = 0;
    for (int i = 0; i < at->n; i++) {
        double q = at->q[i], over = beyond(joint, i, q), rate = at->c * q - at->history[i];
        double bent = q - joint->rest, behind = q - at->target[i];
        // beyond a limit the force grows with the square: twice differentiable
        r[i] = joint->stiffness * bent + joint->servo_stiffness * behind + damping * rate +
               joint->limit_stiffness * over * fabs(over) - at->torque[i];
        potential += 0.5 * joint->stiffness * bent * bent + 0.5 * joint->servo_stiffness * behind * behind +
                     (at->c > 0 ? 0.5 * damping / at->c * rate * rate : 0) +
                     joint->limit_stiffness * fabs(over) * over * over / 3 - at->torque[i] * q;
    }
    return potential;
}

static void hessian(const ct_joint_point* at, bool exact, double* H) {
    const ct_joint_def* joint = at->joint;
    (void)exact;  // never indefinite
    for (int i = 0; i < at->n * at->n; i++) H[i] = 0;
    for (int i = 0; i < at->n; i++)
        H[i * (at->n + 1)] = joint->stiffness + joint->servo_stiffness +
                             at->c * (joint->damping + joint->servo_damping) +
                             2 * joint->limit_stiffness * fabs(beyond(joint, i, at->q[i]));
}

static void vjp(const ct_joint_point* at, const double* lam, ct_joint_point_bar* bar) {
    const ct_joint_def* joint = at->joint;
    for (int i = 0; i < at->n; i++) {
        double q = at->q[i], over = beyond(joint, i, q), rate = at->c * q - at->history[i];
        double history_bar = (joint->damping + joint->servo_damping) * lam[i];
        bar->start[i] = at->a * history_bar;
        bar->previous[i] = at->b * history_bar;
        bar->torque[i] = lam[i];
        bar->target[i] = joint->servo_stiffness * lam[i];
        bar->stiffness -= lam[i] * (q - joint->rest);
        bar->rest += lam[i] * joint->stiffness;
        bar->damping -= lam[i] * rate;
        bar->servo_stiffness -= lam[i] * (q - at->target[i]);
        bar->servo_damping -= lam[i] * rate;
        bar->limit_stiffness -= lam[i] * over * fabs(over);
    }
}

static const ct_joint_law law = {begin, gradient, hessian, vjp};

// ---- a hinge -------------------------------------------------------------------------------

static void revolute_motion(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    *Q = ct_quat_matrix(ct_quat_from_vector(ct_vec3_scale(q[0], ct_vec3_load(joint->axis))));
    *d = (ct_vec3){0, 0, 0};
}

static void revolute_twist(const ct_joint_def* joint, const double* q, const ct_joint_seat* seat, int i,
                           ct_vec3* omega, ct_vec3* v) {
    (void)q, (void)i;
    *omega = ct_mat3_apply(seat->R, ct_vec3_load(joint->axis));
    *v = ct_vec3_cross(ct_joint_seat_arm(seat, ct_vec3_load(joint->anchor)), *omega);
}

const ct_joint_type ct_joint_revolute = {.ndof = 1,
                                         .ncoordinate = 1,
                                         .naxis = 1,
                                         .has_rest = true,
                                         .has_place = true,
                                         .law = &law,
                                         .mark = CT_MARK_PINS,
                                         .motion = revolute_motion,
                                         .twist = revolute_twist};

// ---- a slider ------------------------------------------------------------------------------

static void prismatic_motion(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    *Q = ct_quat_matrix(ct_quat_identity());
    *d = ct_vec3_scale(q[0], ct_vec3_load(joint->axis));
}

static void prismatic_twist(const ct_joint_def* joint, const double* q, const ct_joint_seat* seat, int i,
                            ct_vec3* omega, ct_vec3* v) {
    (void)q, (void)i;
    *omega = (ct_vec3){0, 0, 0};
    *v = ct_mat3_apply(seat->R, ct_vec3_load(joint->axis));
}

const ct_joint_type ct_joint_prismatic = {.ndof = 1,
                                          .ncoordinate = 1,
                                          .ntranslation = 1,
                                          .naxis = 1,
                                          .has_rest = true,
                                          .has_place = true,
                                          .law = &law,
                                          .mark = CT_MARK_SLIDER,
                                          .motion = prismatic_motion,
                                          .twist = prismatic_twist};

// ---- a screw -------------------------------------------------------------------------------

// m per radian
static double pitch(const ct_joint_def* joint) { return joint->lead / (2 * M_PI); }

static void helical_motion(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    revolute_motion(joint, q, Q, d);
    *d = ct_vec3_scale(pitch(joint) * q[0], ct_vec3_load(joint->axis));
}

static void helical_twist(const ct_joint_def* joint, const double* q, const ct_joint_seat* seat, int i,
                          ct_vec3* omega, ct_vec3* v) {
    revolute_twist(joint, q, seat, i, omega, v);
    *v = ct_vec3_axpy(*v, pitch(joint), *omega);
}

const ct_joint_type ct_joint_helical = {.ndof = 1,
                                        .ncoordinate = 1,
                                        .naxis = 1,
                                        .has_lead = true,
                                        .has_rest = true,
                                        .has_place = true,
                                        .law = &law,
                                        .mark = CT_MARK_SLIDER,
                                        .motion = helical_motion,
                                        .twist = helical_twist};

// ---- two axes ------------------------------------------------------------------------------

static ct_quat first_turn(const ct_joint_def* joint, const double* q) {
    return ct_quat_from_vector(ct_vec3_scale(q[0], ct_vec3_load(joint->axis)));
}

static void universal_motion(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    ct_quat second = ct_quat_from_vector(ct_vec3_scale(q[1], ct_vec3_load(joint->axis2)));
    *Q = ct_quat_matrix(ct_quat_multiply(first_turn(joint, q), second));
    *d = (ct_vec3){0, 0, 0};
}

// The second axis is carried by the first turn.
static void universal_twist(const ct_joint_def* joint, const double* q, const ct_joint_seat* seat, int i,
                            ct_vec3* omega, ct_vec3* v) {
    ct_vec3 axis =
        i ? ct_quat_rotate(first_turn(joint, q), ct_vec3_load(joint->axis2)) : ct_vec3_load(joint->axis);
    *omega = ct_mat3_apply(seat->R, axis);
    *v = ct_vec3_cross(ct_joint_seat_arm(seat, ct_vec3_load(joint->anchor)), *omega);
}

const ct_joint_type ct_joint_universal = {.ndof = 2,
                                          .ncoordinate = 2,
                                          .naxis = 2,
                                          .has_place = true,
                                          .law = &law,
                                          .mark = CT_MARK_PINS,
                                          .motion = universal_motion,
                                          .twist = universal_twist};
