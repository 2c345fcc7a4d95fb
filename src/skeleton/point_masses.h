// A rigid body of given inertia as six point masses.
#ifndef CT_SKELETON_POINT_MASSES_H
#define CT_SKELETON_POINT_MASSES_H

#include "cuttle.h"

// Six point masses that have mass, centre and inertia (xx yy zz xy xz yz about the centre): mass/6 each at
// `points` (18). CT_BAD_ARGUMENT when no distribution of mass has that inertia.
ct_status ct_point_masses(double mass, const double center[3], const double inertia[6], double points[18]);

#endif
