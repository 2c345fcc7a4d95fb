// The curvature of every triangle of a sheet as a linear function of the angles of hinges.
//
// A triangle has one curvature tensor, kappa = (k_xx, k_yy, 2 k_xy) in its axes. With s_e the slope by which
// the surface turns from the triangle's plane to its mid-edge e, outward normal n, length L, area A,
//     kappa = sum_e (L_e/A) s_e (n_x^2, n_y^2, 2 n_x n_y)        (Morley's element).
// The angle theta_e of a hinge is the sum of the slopes on both sides. How it is shared follows from the
// angles theta_f of the hinges around,
//     s_{T1,e} = sum_f c_f theta_f,   s_{T2,e} = theta_e - s_{T1,e},
// so that it is right for every surface of constant curvature: if edge vectors l and apexes at d from the
// middle of the edge, heights h = 2 A/L, are those of the patch unfolded into a plane, the slope of such a
// surface is tau . kappa,
//     tau_{T,f} = (d_x^2/2 - l_x^2/8, d_y^2/2 - l_y^2/8, d_x d_y - l_x l_y/4)/h,
// and with the columns a_f = sum of tau over the triangles at f, c_0 = h_1/(h_1 + h_2) at e and 0 elsewhere,
//     c = c_0 + A^T (A A^T)^-1 (tau_{T1,e} - A c_0).
// F is e and the other edges of its two triangles; where these do not tell three curvatures apart (corners,
// strips of one cell), another ring of triangles is added, up to three, and then the part that they do tell
// is taken. kappa has 9 angles, of 12 nodes, inside of a mesh.
//
// Edges with one triangle, or more than two, are free: their slope is whatever makes the moment across them
// vanish. With v = (n_x^2, n_y^2, 2 n_x n_y) that is the rigidity D - D v v^T D/(v^T D v) in place of D, edge
// after edge (ct_sheet_condense). Triangles that cannot deform (all nodes on a link, or driven) have no
// curvature; a hinge next to one gives its whole angle to the other side: a clamped edge.
#ifndef CT_FORCE_SHEET_CURVATURE_H
#define CT_FORCE_SHEET_CURVATURE_H

#include "base/memory.h"
#include "cuttle.h"

// The mesh that it is computed from. Hinge h runs counter-clockwise along triangle[0] from node[0] to
// node[1]; a clamped edge has no triangle[1] (-1).
typedef struct ct_sheet_mesh {
    int nvert, ntri;
    const double* rest;         // 3 nvert
    const int* tri;             // 3 ntri
    const double* area;         // ntri
    const double* axis;         // 3 ntri: first axis of a triangle's curvature, unit, in its plane
    const int* hinge_node;      // 4 a hinge: edge, then opposite corners
    const int* hinge_tri;       // 2 a hinge
    const int* edge;            // 3 ntri: hinge opposite to each corner, -1: free
    const unsigned char* held;  // ntri: cannot deform
} ct_sheet_mesh;

typedef struct ct_sheet_curvature {
    int* start;              // ntri + 1
    int* hinge;              // start[ntri]
    double (*weight)[3];     // start[ntri]: kappa = sum weight theta, 1/m
    int* nfree;              // ntri: free edges
    double (*across)[3][3];  // ntri: v of the free edges
} ct_sheet_curvature;

ct_status ct_sheet_curvature_create(ct_sheet_curvature* out, ct_arena* arena, const ct_sheet_mesh* mesh);

// The rigidity with the free edges of a triangle free of moments: D (11 22 12 33, no others) becomes R = P^T
// D P (row-major), P the map from the curvature of the hinges to that with the free slopes; dR = P^T dD P.
void ct_sheet_condense(const double D[4], int nfree, const double across[3][3], double R[9], double P[9]);

#endif
