// What a picture needs to know of the whole motion, kept with the open file so that all frames agree.
#ifndef CT_OUT_PICTURE_H
#define CT_OUT_PICTURE_H

#include "out/bone.h"
#include "out/trajectory.h"

// Bounds of the motion into file->lower and upper, obstacles that are too large or too far left out and
// marked so, from up to 24 frames spread over it.
ct_status ct_picture_bounds(ct_trajectory* file, ct_error* error);
// The bones that pictures of the file show; memory from the arena. Returns the extent of the scene at rest,
// m.
double ct_picture_bones(ct_bone_list* bones, ct_arena* arena, const ct_trajectory* file);
// Ends of the colour map: def->range, or from the same frames; never equal.
ct_status ct_picture_range(ct_trajectory* file, const ct_picture_def* def, double* low, double* high,
                           ct_error* error);
// A large contact force of the motion, N, impacts apart; 0: nothing touches.
ct_status ct_picture_force(ct_trajectory* file, double* force, ct_error* error);

#endif
