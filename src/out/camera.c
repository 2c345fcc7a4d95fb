// The camera; see camera.h.
#include "out/camera.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"

#define PI 3.14159265358979323846
#define MARGIN 0.80        // share of the half picture that the box may fill
#define SIDE_ANGLE 32.0    // degrees between the front and the automatic view
#define RAISED_ANGLE 20.0  // degrees above the horizon

static bool normalise(double a[3]) {
    double length = length3(a);
    if (!(length > 1e-300)) return false;
    for (int k = 0; k < 3; k++) a[k] /= length;
    return true;
}

void ct_camera_look(ct_camera* camera, const ct_view* view, int up_axis, double aspect) {
    double world_up[3] = {up_axis == 0, up_axis == 1, up_axis == 2};
    memcpy(camera->eye, view->eye, sizeof camera->eye);
    for (int k = 0; k < 3; k++) camera->forward[k] = view->target[k] - view->eye[k];
    double distance = length3(camera->forward);
    if (!normalise(camera->forward)) {  // eye on target: look ahead
        distance = 1;
        camera->forward[(up_axis + 1) % 3] = 1;
    }
    cross3(camera->forward, world_up, camera->right);
    if (!(dot3(camera->right, camera->right) > 1e-12)) {  // straight up or down
        double other[3] = {up_axis == 2, up_axis == 0, up_axis == 1};
        cross3(camera->forward, other, camera->right);
    }
    normalise(camera->right);
    cross3(camera->right, camera->forward, camera->up);
    double degrees = view->field_of_view >= 1 && view->field_of_view <= 170 ? view->field_of_view : 35;
    double focal = 1 / tan(degrees * PI / 360);
    camera->focal_y = focal;
    camera->focal_x = focal / aspect;
    camera->near = 1e-3 * distance;
}

void ct_camera_project(const ct_camera* camera, const double point[3], double clip[4]) {
    double from[3] = {point[0] - camera->eye[0], point[1] - camera->eye[1], point[2] - camera->eye[2]};
    clip[0] = camera->focal_x * dot3(from, camera->right);
    clip[1] = camera->focal_y * dot3(from, camera->up);
    clip[2] = -1;
    clip[3] = dot3(from, camera->forward);
}

void ct_camera_ray(const ct_camera* camera, double x, double y, double direction[3]) {
    for (int k = 0; k < 3; k++)
        direction[k] =
            camera->forward[k] + camera->right[k] * x / camera->focal_x + camera->up[k] * y / camera->focal_y;
}

// From where the automatic view looks: in front, to the right and above; a body that is longer in depth than
// in width is seen more from its side.
static void view_direction(const double lower[3], const double upper[3], int up_axis, double direction[3]) {
    double world_up[3] = {up_axis == 0, up_axis == 1, up_axis == 2};
    double right[3] = {up_axis != 0, up_axis == 0, 0}, front[3];
    cross3(right, world_up, front);
    double width = 0, depth = 0;
    for (int k = 0; k < 3; k++) {
        width += fabs(right[k]) * (upper[k] - lower[k]);
        depth += fabs(front[k]) * (upper[k] - lower[k]);
    }
    double side = (depth > 1.4 * width ? 90 - SIDE_ANGLE : SIDE_ANGLE) * PI / 180,
           raised = RAISED_ANGLE * PI / 180;
    for (int k = 0; k < 3; k++)
        direction[k] =
            cos(raised) * (cos(side) * front[k] + sin(side) * right[k]) + sin(raised) * world_up[k];
}

// The box's extent on the picture, and whether all of it lies in front of the camera.
static bool picture_bounds(const ct_camera* camera, const double lower[3], const double upper[3],
                           double low[2], double high[2]) {
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (int k = 0; k < 8; k++) {
        double clip[4], corner[3] = {k & 1 ? upper[0] : lower[0], k & 2 ? upper[1] : lower[1],
                                     k & 4 ? upper[2] : lower[2]};
        ct_camera_project(camera, corner, clip);
        if (clip[3] <= camera->near) return false;
        for (int j = 0; j < 2; j++) {
            low[j] = fmin(low[j], clip[j] / clip[3]);
            high[j] = fmax(high[j], clip[j] / clip[3]);
        }
    }
    return true;
}

void ct_camera_frame(ct_camera* camera, const double lower[3], const double upper[3], int up_axis,
                     double field_of_view, double aspect) {
    ct_view view = {.field_of_view = field_of_view};
    double direction[3], low[2], high[2], diagonal = 0;
    view_direction(lower, upper, up_axis, direction);
    for (int k = 0; k < 3; k++) {
        view.target[k] = 0.5 * (lower[k] + upper[k]);
        diagonal += (upper[k] - lower[k]) * (upper[k] - lower[k]);
    }
    double distance = 3 * sqrt(diagonal) + 1e-12;
    for (int round = 0; round < 12; round++) {
        for (int k = 0; k < 3; k++) view.eye[k] = view.target[k] + distance * direction[k];
        ct_camera_look(camera, &view, up_axis, aspect);
        if (!picture_bounds(camera, lower, upper, low, high)) {
            distance *= 1.5;
            continue;
        }
        // Centre what is seen, then move in or out until it fills the margin.
        double x = 0.5 * (low[0] + high[0]) * distance / camera->focal_x,
               y = 0.5 * (low[1] + high[1]) * distance / camera->focal_y;
        for (int k = 0; k < 3; k++) view.target[k] += x * camera->right[k] + y * camera->up[k];
        distance *= fmax(0.5 * fmax(high[0] - low[0], high[1] - low[1]) / MARGIN, 0.2);
    }
}
