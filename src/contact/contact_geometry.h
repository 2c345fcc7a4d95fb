// Geometry of one contact and its exact first derivatives.
//
// With the nodes x_i of a pair (positions at the end of the step), weights w_i that sum to 0 (to 1 for
// planes), unit normal n:
//     vertex-face (p; a,b,c): n = s (b-a)x(c-a)/|.|, w = (1, -barycentric of the foot on the face's plane);
//
//     edge-edge (a,b; c,d): n = s (b-a)x(d-c)/|.|, w = (1-sigma, sigma, -(1-tau), -tau) on infinite lines;
//
//     point-edge (p; a,b): n = unit(p - foot on the line), w = (1, -(1-tau), -tau);
//
//     point-point (p; q): n = unit(p - q), w = (1, -1);
//
//     plane: n of the plane at the end of the step, w = 1.
//
// The distance is n.(p - a), n.(a - c), |p - foot|, |p - q| and n.(x - point).
// Point-edge and point-point count as negative distance, with n turned round, where p is not on the pair's
// side: it has passed through. The gap is distance - thickness, and d gap/dx_i = w_i n. The slip over the
// step is
//     u = sum w_i (x_i - x_i^n) - (motion of the obstacle's surface that its nodes do not carry: planes, spin
//     of spheres and capsules).
#ifndef CT_CONTACT_CONTACT_GEOMETRY_H
#define CT_CONTACT_CONTACT_GEOMETRY_H

#include "contact/pair.h"

// Motion of an obstacle over the step, for planes, spheres and capsules: x at the end was at origin_start +
// turn (x - origin_end).
typedef struct ct_obstacle_motion {
    double origin_start[3], origin_end[3];
    double turn[9];              // R_start R_end^T, row-major; identity: it does not spin
    double point[3], normal[3];  // planes: at the end
    int side;                    // 0: the obstacle is the pair's a, 1: its b
    double radius;               // m, of spheres and capsules: how far the surface is from the nodes
} ct_obstacle_motion;

typedef struct ct_contact_geometry {
    int count;  // nodes: 1 to 4
    double n[3];
    double w[4];
    double gap;        // m
    double u[3];       // m, slip, not projected
    double dn[3][12];  // d n / d x_i: column 3 i + a
    double dw[4][12];  // d w / d x
    double du[3][12];  // d u / d x; d u / d x_i^n = -w_i
} ct_contact_geometry;

// x_start, x: 3 nvert, at the start and the end of the (sub-)step. motion: NULL when the nodes carry all of
// it; needed for planes. derivatives false: only n, w, gap, u.
void ct_contact_geometry_at(const ct_pair* pair, const ct_obstacle_motion* motion, const double* x_start,
                            const double* x, bool derivatives, ct_contact_geometry* out);

#endif
