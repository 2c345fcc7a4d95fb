// Mass, centre and inertia of solids of one density: exact integrals over tets and simple shapes.
//
// A solid is gathered as its zeroth to second moments M = sum m, f = sum m x, S = sum integral of x x^T dm,
// all about one point; the inertia about the centre c = f/M follows from C = S - M c c^T as J = tr(C) I - C.
#ifndef CT_SHAPE_MASS_H
#define CT_SHAPE_MASS_H

#include "cuttle.h"
#include "math/mat3.h"

typedef struct ct_moments {
    double mass;     // kg
    ct_vec3 first;   // kg m
    ct_mat3 second;  // kg m^2, symmetric
} ct_moments;

// Adds a solid of mass m with centre c and inertia J (xx yy zz xy xz yz, about its own centre).
void ct_moments_add(ct_moments* sum, double mass, ct_vec3 center, const double inertia[6]);
// Mass, centre and inertia about the centre; mass 0 gives zeros.
void ct_moments_result(const ct_moments* sum, double* mass, double center[3], double inertia[6]);

// R J R^T for an inertia as six numbers.
void ct_inertia_rotate(ct_mat3 R, const double inertia[6], double out[6]);

#endif
