// The paper's top-down assembly of B = dx/dz over the nodes of links (Qiao et al. 2021, "Matrix Assembly for
// the Articulated System").
//
// With A_v the transform of joint v, in homogeneous coordinates, and V_u the rest positions of link u,
//     B_{u,v} = Q P_v dA_v/dz_v S_{v,u} V_u,     v an ancestor of u or u itself,
//     P_v  = A_root ... A_parent(v)              prefix:  P_v A_v is the frame of link v
//     S_{v,u} = A_child(v) ... A_u               suffix:  S_{parent(v),u} = A_v S_{v,u}, one product a pair
// so that N links cost O(N^2), which is the number of blocks. P_v dA_v/dz_v is the
// twist of the joint's rate (the paper's B_{u,root} = [-[q]x I] for a free one).
#ifndef CT_BASELINE_ASSEMBLY_H
#define CT_BASELINE_ASSEMBLY_H

#include "model/model.h"
#include "skeleton/config.h"

// Doubles of scratch that the functions below want.
size_t ct_assembly_scratch(const ct_model* model);
// The blocks before V_u: G[12 (u ndof + j) ...] is the 3x4 matrix (row-major) with dx = G (X, 1) for a rest
// point X of link u per unit of unknown j. Rates of joints that are not above u: zero.
void ct_assembly_blocks(const ct_model* model, const ct_config* config, double* scratch, double* G);
// B itself: three rows (ndof each) for every node of tree.node, in that order.
void ct_assembly_jacobian(const ct_model* model, const ct_config* config, double* scratch, double* B);
// The same bottom-up, as it was done before: every block B_{u,v} walks from u to the root by itself, in
// O(N^3).
void ct_assembly_jacobian_bottom_up(const ct_model* model, const ct_config* config, double* scratch,
                                    double* B);

#endif
