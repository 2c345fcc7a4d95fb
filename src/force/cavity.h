// Cavities: closed surfaces under pressure.
//
// The triangles of cavity k are oriented so that their normals point out of the enclosed volume (into the
// body). With the pressure p above that outside (Pa),
//     E = -p V(x),   V = 1/6 sum det(x_1 - o, x_2 - o, x_3 - o),
// which for closed surfaces does not depend on the origin o: the cavity's first node, against cancellation
// far from the world's origin. Per triangle
//     dV/dx_1 = 1/6 (x_2 - o) x (x_3 - o), ...,   d(dV/dx_1) = 1/6 (dx_2 x (x_3 - o) + (x_2 - o) x dx_3), ...
// The sums over a closed surface neither push nor turn it as a whole.
#ifndef CT_FORCE_CAVITY_H
#define CT_FORCE_CAVITY_H

#include "base/memory.h"
#include "cuttle.h"

typedef struct ct_cavity_surfaces {
    int ncavity;
    const int* start;   // ncavity + 1: first triangle of each
    const int* tri;     // 3 start[ncavity] nodes
    const int* number;  // ncavity: where its pressure is within `pressure`; NULL: as they are numbered
} ct_cavity_surfaces;

typedef struct ct_cavity ct_cavity;  // compiled, immutable

// Every edge of a cavity must be used once in each direction; CT_BAD_MESH otherwise.
ct_status ct_cavity_create(ct_cavity** out, const ct_cavity_surfaces* def);
void ct_cavity_free(ct_cavity* cavity);

void ct_cavity_volume(const ct_cavity* cavity, const double* x, double* volume);  // ncavity, m^3
// Returns -sum p V and adds its gradient to f (NULL: not wanted).
double ct_cavity_gradient(const ct_cavity* cavity, const double* pressure, const double* x, double* f);
// Adds H(x) dx to out.
void ct_cavity_product(const ct_cavity* cavity, const double* pressure, const double* x, const double* dx,
                       double* out);
// Adds -lam . d grad/dp, lam . dV/dx, to pressure_bar.
void ct_cavity_vjp(const ct_cavity* cavity, const double* x, const double* lam, double* pressure_bar);

#endif
