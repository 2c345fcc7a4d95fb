// The table of joints; see joint.h.
#include "skeleton/joint.h"

#include <string.h>

#include "math/rotation.h"
#include "skeleton/joint_axis.h"
#include "skeleton/joint_ball.h"

static void stay(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d) {
    (void)joint, (void)q;
    *Q = ct_mat3_identity();
    *d = (ct_vec3){0, 0, 0};
}

static const ct_joint_type ct_joint_fixed = {.motion = stay};

#define KINDS(ROW)                                                                                           \
    ROW(FIXED, fixed)                                                                                        \
    ROW(REVOLUTE, revolute)                                                                                  \
    ROW(PRISMATIC, prismatic)                                                                                \
    ROW(BALL, ball)                                                                                          \
    ROW(FREE, free)                                                                                          \
    ROW(HELICAL, helical)                                                                                    \
    ROW(UNIVERSAL, universal)

#define TYPE(KIND, word) [CT_JOINT_##KIND] = &ct_joint_##word,
#define WORD(KIND, word) [CT_JOINT_##KIND] = #word,
static const ct_joint_type* const types[] = {KINDS(TYPE)};
const char* const ct_joint_words[] = {KINDS(WORD) NULL};

const ct_joint_type* ct_joint_type_of(ct_joint_kind kind) {
    return (unsigned)kind < sizeof types / sizeof types[0] ? types[kind] : NULL;
}

const char* ct_joint_kind_name(ct_joint_kind kind) {
    return ct_joint_type_of(kind) ? ct_joint_words[kind] : NULL;
}

// ---- values of a joint ---------------------------------------------------------------------

bool ct_joint_has(const ct_joint_def* joint, ct_quantity quantity) {
    const ct_joint_type* type = ct_joint_type_of(joint->kind);
    if (quantity == CT_QUANTITY_ARMATURE) return ct_joint_rotors(joint) > 0;
    return quantity == CT_QUANTITY_JOINT_REST ? type->has_rest : type->law != NULL;
}

static bool is_single(const ct_joint_def* joint) { return ct_joint_type_of(joint->kind)->ndof == 1; }

const double* ct_joint_position(const ct_joint_def* joint) {
    return is_single(joint) ? &joint->position : joint->pose;
}

const double* ct_joint_velocity(const ct_joint_def* joint) {
    return is_single(joint) ? &joint->velocity : joint->rate;
}

const double* ct_joint_target(const ct_joint_def* joint) {
    return is_single(joint) ? &joint->target : joint->pose_target;
}

void ct_joint_value(const ct_joint_type* type, const double* q, double* value) {
    if (type->spatial) ct_vec3_store(value, ct_rotation_log(ct_quat_load(q)));
    else memcpy(value, q, (size_t)type->ndof * sizeof(double));
}

// theta = log Q, moved by exp(phi) Q: theta_bar becomes J^-T theta_bar.
void ct_joint_value_vjp(const ct_joint_type* type, const double* q, const double* value_bar,
                        double* tangent_bar) {
    for (int i = 0; !type->spatial && i < type->ndof; i++) tangent_bar[i] += value_bar[i];
    if (!type->spatial) return;
    ct_mat3 J = ct_rotation_jacobian_inverse(ct_rotation_log(ct_quat_load(q)));
    ct_vec3 bar = ct_mat3_apply(ct_mat3_transpose(J), ct_vec3_load(value_bar));
    ct_vec3_store(tangent_bar, ct_vec3_add(ct_vec3_load(tangent_bar), bar));
}

// ---- coordinates ---------------------------------------------------------------------------

static void store_quat(ct_quat q, double* out) {
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

// Q <- exp(w) Q
static void turn(ct_vec3 w, const double* q, double* q_new) {
    store_quat(ct_quat_normalise(ct_quat_multiply(ct_quat_from_vector(w), ct_quat_load(q))), q_new);
}

void ct_joint_rest(const ct_joint_def* joint, double* q) {
    const ct_joint_type* type = ct_joint_type_of(joint->kind);
    const double* given = ct_joint_position(joint);
    int linear = type->spatial ? type->ntranslation : type->ndof;
    memcpy(q, given, (size_t)linear * sizeof(double));
    if (type->spatial) store_quat(ct_quat_from_vector(ct_vec3_load(given + linear)), q + linear);
}

void ct_joint_set(const ct_joint_type* type, const double* given, double* q) {
    int linear = type->spatial ? type->ntranslation : type->ndof;
    for (int i = 0; i < linear; i++) q[i] = type->spatial ? q[i] + given[i] : given[i];
    if (type->spatial) turn(ct_vec3_load(given + linear), q + linear, q + linear);
}

void ct_joint_move(const ct_joint_type* type, const ct_mat3* R, const double* d, const double* q,
                   double* q_new) {
    if (!type->spatial) {
        for (int i = 0; i < type->ndof; i++) q_new[i] = q[i] + d[i];
        return;
    }
    // increments are along the world's axes, coordinates along the parent's
    ct_mat3 back = ct_mat3_transpose(*R);
    int linear = type->ntranslation;
    if (linear) ct_vec3_store(q_new, ct_vec3_add(ct_vec3_load(q), ct_mat3_apply(back, ct_vec3_load(d))));
    turn(ct_mat3_apply(back, ct_vec3_load(d + linear)), q + linear, q_new + linear);
}

void ct_joint_continue(const ct_joint_type* type, const double* q, const double* previous, double fraction,
                       double* q_new) {
    int linear = type->spatial ? type->ntranslation : type->ndof;
    for (int i = 0; i < linear; i++) q_new[i] = q[i] + fraction * (q[i] - previous[i]);
    if (!type->spatial) return;
    ct_vec3 step = ct_rotation_between(ct_quat_load(previous + linear), ct_quat_load(q + linear));
    turn(ct_vec3_scale(fraction, step), q + linear, q_new + linear);
}
