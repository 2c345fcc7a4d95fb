// Configurations of skeletons: kinematics and its derivatives.
//
// A configuration holds node positions, joint coordinates, link frames and, per joint rate j, its twist
// column s_j = (omega, v): the velocity that a unit of the rate gives to a point x of every link below the
// joint is omega x (x - o) + v, o the tree's origin. A link's velocity is the sum over the joints above it;
// so
//     B^T rho:  r_j = s_j . (sum over links below of the wrench about o), accumulated towards the root, O(N)
//     B dq:     twists accumulated from the root, O(N)
//     d2x/dq_i dq_j = omega_i x (omega_j x (x - o) + v_j),   i above j (a ball's own three: the symmetric
//     part),
// so that, with K_j = sum (x - o) rho^T and f_j = sum rho over the links below j,
//     sum rho . d2x/dq_i dq_j = omega_i . ((K_j - tr K_j I) omega_j + v_j x f_j).
#ifndef CT_SKELETON_CONFIG_H
#define CT_SKELETON_CONFIG_H

#include "base/memory.h"
#include "skeleton/tree.h"

typedef struct ct_config {
    double* x;       // 3 nvert, m
    double* q;       // ncoordinate
    double* frame;   // 12 nlink: R row-major, then t
    double* column;  // 6 ndof: omega, v, per unit of the unknown (rate times scale)
} ct_config;

ct_status ct_config_create(ct_config* config, ct_arena* arena, const ct_tree* tree);
// Initial joint coordinates; those of driven roots are not touched.
void ct_config_rest(const ct_tree* tree, double* q);
// Rotation of the frame that link k's joint sits on: its parent's, a driven root's, or the world's.
ct_mat3 ct_config_seat_rotation(const ct_tree* tree, const ct_config* config, int k);
// Tangents of the joints (ndof), from the parents' axes to those of the rates, along the world's; and back.
// The two may be the same.
void ct_config_to_world(const ct_tree* tree, const ct_config* config, const double* tangent, double* rate);
void ct_config_to_parents(const ct_tree* tree, const ct_config* config, const double* rate, double* tangent);
// r += the adjoint of an increment of the unknowns, from that of a tangent.
void ct_config_pull_tangents(const ct_tree* tree, const ct_config* config, const double* tangent_bar,
                             double* r);
// The transpose: tangents of an increment of the unknowns.
void ct_config_push_tangents(const ct_tree* tree, const ct_config* config, const double* dz, double* tangent);
// Frames and columns from config->q, then the link nodes of config->x.
void ct_config_place(const ct_tree* tree, ct_config* config);
// q_new = q (+) length dz on the manifold; dz in unknowns. Driven roots stay.
void ct_config_move(const ct_tree* tree, const ct_config* config, double length, const double* dz,
                    double* q_new);
// r = B^T rho and dx += B dz on the link nodes.
void ct_config_pull(const ct_tree* tree, const ct_config* config, const double* rho, double* wrench,
                    double* r);
void ct_config_push(const ct_tree* tree, const ct_config* config, const double* dz, double* twist,
                    double* dx);
// The same from and to link wrenches and twists about the origin (6 nlink).
void ct_config_pull_links(const ct_tree* tree, const ct_config* config, double* wrench, double* r);
void ct_config_push_links(const ct_tree* tree, const ct_config* config, const double* dz, double* twist);
// G_ij = rho . d2x/dz_i dz_j (ndof x ndof, overwritten); moments: scratch of 12 nlink.
void ct_config_curvature(const ct_tree* tree, const ct_config* config, const double* rho, double* moments,
                         double* G);

// Scratch of the function below.
typedef struct ct_config_scratch {
    double *wrench, *moments;  // 6 nlink, 12 nlink
    double* r;                 // ndof
    double* G;                 // ndof x ndof
} ct_config_scratch;
// Adjoint of initial nodes x = phi(q) and their velocities v = B(q) rate, to tangents of the coordinates and
// of the rates (ndof each, in their own units, overwritten; NULL: not wanted).
void ct_config_start_vjp(const ct_tree* tree, const ct_config* config, const double* rate,
                         const double* x_bar, const double* v_bar, ct_config_scratch* scratch,
                         double* position_bar, double* velocity_bar);

#endif
