// The kinds of joints: their table, and what follows from a row alone (joint_type.h).
#ifndef CT_SKELETON_JOINT_H
#define CT_SKELETON_JOINT_H

#include "skeleton/joint_type.h"

// The row of a kind, NULL: not one.
const ct_joint_type* ct_joint_type_of(ct_joint_kind kind);
// The word of each kind, in their order; then NULL.
extern const char* const ct_joint_words[];

// Whether the joint has the quantity, one of links.
bool ct_joint_has(const ct_joint_def* joint, ct_quantity quantity);

// Rotors turn with its rates where it has an armature.
static inline bool ct_joint_has_rotors(const ct_joint_type* type) { return type->ndof && !type->spatial; }
// How many.
static inline int ct_joint_rotors(const ct_joint_def* joint) {
    return joint->armature > 0 ? ct_joint_type_of(joint->kind)->ndof : 0;
}

// Initial values and servo target, one number per rate: a coordinate (`position`, ...), or a vector (`pose`,
// ...).
const double* ct_joint_position(const ct_joint_def* joint);
const double* ct_joint_velocity(const ct_joint_def* joint);
const double* ct_joint_target(const ct_joint_def* joint);

// What a target is compared with, one number per rate: the coordinates, or, without translations, the
// rotation vector.
void ct_joint_value(const ct_joint_type* type, const double* q, double* value);
// Reverse: adds to the tangent's adjoint.
void ct_joint_value_vjp(const ct_joint_type* type, const double* q, const double* value_bar,
                        double* tangent_bar);

// q: the initial coordinates.
void ct_joint_rest(const ct_joint_def* joint, double* q);
// Sets coordinates to `given`; those of a spatial joint are moved by it, along the parent's axes.
void ct_joint_set(const ct_joint_type* type, const double* given, double* q);
// q_new = q (+) d; R: the rotation of the seat, d: one number per rate.
void ct_joint_move(const ct_joint_type* type, const ct_mat3* R, const double* d, const double* q,
                   double* q_new);
// q_new = q moved on by `fraction` of its change from `previous`, rotations along their geodesics.
void ct_joint_continue(const ct_joint_type* type, const double* q, const double* previous, double fraction,
                       double* q_new);

#endif
