// Kinematics of the skeletons and what the joints themselves contribute.
//
// A configuration holds node positions, joint coordinates, link frames and, per joint rate j, its twist
// column s_j = (omega, v): the velocity that a unit of the rate gives to a point x of every link below the
// joint is omega x (x - o) + v, o the tree's origin. A link's velocity is the sum over the joints above it;
// so
//     B^T rho:  r_j = s_j . (sum over links below of the wrench about o),      accumulated towards the root,
//     O(N) B dq:     twists accumulated from the root, O(N) d2x/dq_i dq_j = omega_i x (omega_j x (x - o) +
//     v_j),   i above j (a ball's own three: the symmetric part), so that sum rho . d2x/dq_i dq_j = omega_i .
//     ((K_j - tr K_j I) omega_j + v_j x f_j), K_j = sum (x - o) rho^T and f_j = sum rho over the links below
//     j.
#ifndef CT_STEP_SKELETON_H
#define CT_STEP_SKELETON_H

#include "math/mat3.h"
#include "model/model.h"

typedef struct ct_config {
    double* x;       // 3 nvert, m
    double* q;       // ncoordinate
    double* frame;   // 12 nlink: R row-major, then t
    double* column;  // 6 ndof: omega, v, per unit of the unknown (rate times scale)
} ct_config;

ct_status ct_config_create(ct_config* config, ct_arena* arena, const ct_model* model);
// Initial joint coordinates; those of driven roots are not touched (step/external.h).
void ct_skeleton_rest(const ct_model* model, double* q);
// Rotation of the frame that link k's joint sits on: its parent's, a driven root's, or the world's.
ct_mat3 ct_skeleton_parent_rotation(const ct_model* model, const ct_config* config, int k);
// Frames and columns from config->q, then the link nodes of config->x.
void ct_skeleton_place(const ct_model* model, ct_config* config);
// q_new = q (+) length dz on the manifold; dz in unknowns. Driven roots stay.
void ct_skeleton_move(const ct_model* model, const ct_config* config, double length, const double* dz,
                      double* q_new);
// r = B^T rho and dx += B dz on the link nodes.
void ct_skeleton_pull(const ct_model* model, const ct_config* config, const double* rho, double* wrench,
                      double* r);
void ct_skeleton_push(const ct_model* model, const ct_config* config, const double* dz, double* twist,
                      double* dx);
// The same from and to link wrenches and twists about the origin (6 nlink).
void ct_skeleton_pull_links(const ct_model* model, const ct_config* config, double* wrench, double* r);
void ct_skeleton_push_links(const ct_model* model, const ct_config* config, const double* dz, double* twist);
// G_ij = rho . d2x/dz_i dz_j (ndof x ndof, overwritten); moments: scratch of 12 nlink.
void ct_skeleton_curvature(const ct_model* model, const ct_config* config, const double* rho, double* moments,
                           double* G);

#endif
