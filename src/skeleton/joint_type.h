// What makes a type of joint: one row per kind (joint.c lists them).
//
// A joint sits on the frame of its parent (a link, a driven root, or the world) and maps rest points of its
// link by
//     A(q): x = Q(q) (X - anchor) + anchor + d(q)        in the parent's rest coordinates.
// Its rates are of one of two sorts. In turn: coordinates are numbers, rates their derivatives, and each rate
// moves what the ones after it turn about. Spatial: rates are vectors along the world's axes, first of a
// translation (where there is one), then of a rotation; coordinates are the translation along the parent's
// axes and a quaternion (w x y z). Tangents (increments, adjoints) of a spatial joint are along its parent's
// axes.
//
// A law gives the joint springs, limits, dampers, servos and torques; it sees one joint, per unit of its
// rates, in its parent's axes.
#ifndef CT_SKELETON_JOINT_TYPE_H
#define CT_SKELETON_JOINT_TYPE_H

#include "cuttle.h"
#include "math/mat3.h"

enum { CT_JOINT_LAW_WIDTH = 3 };  // rates that a law has at most

// What the forces of one joint depend on.
typedef struct ct_joint_point {
    const ct_joint_def* joint;
    int n;                   // rates, and numbers of a torque and of a target
    double c, a, b;          // of the integrator's rate: c q - a q_n - b q_{n-1}
    const double* q;         // coordinates
    const double* start;     // q_n
    const double* previous;  // q_{n-1}
    const double* history;   // n, as the law made it
    const double* torque;    // n, N m or N
    const double* target;    // n, of the servo, rad or m
} ct_joint_point;

// Adjoints of what they depend on.
typedef struct ct_joint_point_bar {
    double start[CT_JOINT_LAW_WIDTH], previous[CT_JOINT_LAW_WIDTH];  // tangents
    double torque[CT_JOINT_LAW_WIDTH], target[CT_JOINT_LAW_WIDTH];
    double stiffness, damping, rest, servo_stiffness, servo_damping, limit_stiffness;
} ct_joint_point_bar;

typedef struct ct_joint_law {
    // What a (sub-)step remembers of its start, n numbers; without `history`.
    void (*begin)(const ct_joint_point* at, double* history);
    // r: n, derivative of the potential that it returns (J)
    double (*gradient)(const ct_joint_point* at, double* r);
    // H: n x n, in the exponential chart. exact: as it is, otherwise a part that is never indefinite.
    void (*hessian)(const ct_joint_point* at, bool exact, double* H);
    // From the adjoint of the residual -r; the rest is zero on entry.
    void (*vjp)(const ct_joint_point* at, const double* lam, ct_joint_point_bar* bar);
} ct_joint_law;

// The frame that a joint sits on, x = R X + t, and the point that twists are counted about.
typedef struct ct_joint_seat {
    ct_mat3 R;
    ct_vec3 t, origin;
} ct_joint_seat;

// How a joint is drawn.
typedef enum ct_joint_mark {
    CT_MARK_NONE,
    CT_MARK_BALL,
    CT_MARK_PIVOT,  // a smaller ball: the joint has no place of its own
    CT_MARK_PINS,   // along each axis
    CT_MARK_SLIDER  // and its rail, along the axis
} ct_joint_mark;

typedef struct ct_joint_type {
    int ndof, ncoordinate;    // rates and coordinates
    int ntranslation;         // the first rates, which are displacements (m); the others turn (rad)
    int naxis;                // directions that the user gives
    bool spatial;             // its rates, see above
    bool has_lead;            // it moves along its axis as it turns
    bool has_rest;            // its spring pulls to the coordinate `rest`
    bool has_place;           // its anchor is where the link is joined to its parent
    const ct_joint_law* law;  // NULL: none
    ct_joint_mark mark;
    // A(q)
    void (*motion)(const ct_joint_def* joint, const double* q, ct_mat3* Q, ct_vec3* d);
    // Angular velocity, and velocity of the link's point at the origin, per unit of rate i.
    void (*twist)(const ct_joint_def* joint, const double* q, const ct_joint_seat* seat, int i,
                  ct_vec3* omega, ct_vec3* v);
} ct_joint_type;

// From the origin to a point of the parent.
static inline ct_vec3 ct_joint_seat_arm(const ct_joint_seat* seat, ct_vec3 point) {
    return ct_vec3_sub(ct_vec3_add(ct_mat3_apply(seat->R, point), seat->t), seat->origin);
}

#endif
