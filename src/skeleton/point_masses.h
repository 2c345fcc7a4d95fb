// A rigid body of given inertia as four point masses, the fewest that have it.
#ifndef CT_SKELETON_POINT_MASSES_H
#define CT_SKELETON_POINT_MASSES_H

#include "cuttle.h"

#define CT_MASS_POINTS 4

// Points that have mass, centre and inertia (xx yy zz xy xz yz about the centre) where each weighs
// mass / CT_MASS_POINTS. CT_BAD_ARGUMENT when no distribution of mass has that inertia.
ct_status ct_point_masses(double mass, const double center[3], const double inertia[6],
                          double points[3 * CT_MASS_POINTS]);

#endif
