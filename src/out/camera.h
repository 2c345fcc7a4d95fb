// The camera: a pinhole at `eye`, and the view that frames a motion by itself.
#ifndef CT_OUT_CAMERA_H
#define CT_OUT_CAMERA_H

#include "cuttle.h"

typedef struct ct_camera {
    double eye[3];
    double right[3], up[3], forward[3];  // orthonormal
    double focal_x, focal_y;             // picture half-widths at distance 1 are 1/focal
    double near;                         // m
} ct_camera;

// Looks from view->eye to view->target, axis `up_axis` upwards on the picture; aspect is width / height.
void ct_camera_look(ct_camera* camera, const ct_view* view, int up_axis, double aspect);
// A three-quarter view from which the box [lower, upper] fills the picture but for a margin.
void ct_camera_frame(ct_camera* camera, const double lower[3], const double upper[3], int up_axis,
                     double field_of_view, double aspect);
// Clip coordinates; w is the distance along `forward`, depth -1/w.
void ct_camera_project(const ct_camera* camera, const double point[3], double clip[4]);
// Direction of the ray through the picture point (x, y) in [-1, 1]^2, y upwards; not normalised, 1 along
// forward.
void ct_camera_ray(const ct_camera* camera, double x, double y, double direction[3]);

#endif
