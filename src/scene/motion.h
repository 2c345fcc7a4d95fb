// Prescribed motion: of driven nodes, roots and obstacles, and the paths of targets.
#ifndef CT_SCENE_MOTION_H
#define CT_SCENE_MOTION_H

#include "cuttle.h"

typedef struct ct_scene_driver {
    int* node;  // sorted scene nodes; a node is driven at most once
    int nnode;
    ct_keyframe* key;  // nkey, increasing time
    int nkey;
    double center[3];
    bool smooth, repeat;
    bool clamp;  // the slope of a sheet's border between these nodes is held too
} ct_scene_driver;

// Translation and rotation vector of a motion at `time`.
void ct_scene_drive_vectors(const ct_scene_driver* drive, double time, double shift[3], double turn[3]);
// Position of a driven point with rest position `rest` at `time`.
void ct_scene_drive_position(const ct_scene_driver* drive, double time, const double rest[3],
                             double position[3]);
// A motion with usable keys.
ct_status ct_scene_check_motion(const ct_motion* motion, ct_error* error);

#endif
