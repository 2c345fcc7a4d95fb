// What a picture needs to know of the whole motion, kept with the open file so that all frames agree.
#ifndef CT_OUT_PICTURE_H
#define CT_OUT_PICTURE_H

#include "out/trajectory.h"

// Bounds of the motion into file->lower and upper, from up to 24 frames spread over it.
ct_status ct_picture_bounds(ct_trajectory* file, ct_error* error);
// Ends of the colour map: def->range, or from the same frames; never equal.
ct_status ct_picture_range(ct_trajectory* file, const ct_picture_def* def, double* low, double* high, ct_error* error);

#endif
