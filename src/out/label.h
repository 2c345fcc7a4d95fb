// What is written over a picture: the time, the colour bar and the numbers of the ground grid.
#ifndef CT_OUT_LABEL_H
#define CT_OUT_LABEL_H

#include "out/camera.h"
#include "out/text.h"

typedef struct ct_ground_grid {
    int up_axis;
    double height;              // m
    double spacing;             // m, between strong lines; 5 weak ones in each
    double center[3];           // of the scene
    double reach;               // m, where the lines have faded
    double lower[3], upper[3];  // bounds of the motion
} ct_ground_grid;

// The largest of 1, 2, 5 times a power of ten that is not above `value`.
double ct_label_round(double value);
void ct_label_title(const ct_canvas* canvas, const char* title, bool dark);
void ct_label_mark(const ct_canvas* canvas, const ct_camera* camera, const double point[3]);
void ct_label_time(const ct_canvas* canvas, double time, bool dark);
// A ruler of numbers beside the scene, on the strong lines.
void ct_label_grid(const ct_canvas* canvas, const ct_camera* camera, const ct_ground_grid* grid, bool dark);
void ct_label_bar(const ct_canvas* canvas, const char* field, double low, double high, bool dark);
// Position of t in the map of a field: diverging for "volume".
void ct_label_color(const char* field, double t, double rgb[3]);

#endif
