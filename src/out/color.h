// Colours: sRGB and linear light, colour maps of even steps in lightness, the default body colours.
#ifndef CT_OUT_COLOR_H
#define CT_OUT_COLOR_H

#include <stdbool.h>

double ct_color_linear(double srgb);  // 0..1 to linear light
double ct_color_srgb(double linear);  // and back; clamps to 0..1
// Linear-light colour of t in [0, 1] (clamped): violet, blue, green, yellow, lightness rising evenly.
void ct_color_map(double t, double rgb[3]);
// Blue, white at 1/2, red: for values that depart from a middle.
void ct_color_map_diverging(double t, double rgb[3]);

#endif
