// Plots: lines over common axes, as .png
//
//     ct_plot_series loss = {.name = "L-BFGS", .x = step, .y = value, .count = n};
//     ct_plot_def def = ct_plot_def_default();
//     def.y_label = "loss", def.log_y = true;
//     if (ct_plot_save("loss.png", &def, &loss, 1, &error)) ...
#ifndef CUTTLE_PLOT_H
#define CUTTLE_PLOT_H

#include "cuttle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_plot_series {
    const char* name;     // in the legend when there are several; NULL: none
    const double *x, *y;  // count each; points that are not finite interrupt the line
    int count;
    const double *low, *high;  // count each, a band in a pale tone of the line's colour; NULL: none
    bool dashed;               // a thin dashed line
    // 1 to 6: blue, orange, green, violet, grey, ochre; 0: by its place among the series
    int color;
} ct_plot_series;
typedef struct ct_plot_def {
    int width, height;                      // pixels
    const char *title, *x_label, *y_label;  // NULL: none
    bool log_y;                             // values that are not positive interrupt the line
    bool log_x;
} ct_plot_def;
CT_API ct_plot_def ct_plot_def_default(void);  // 800 x 500, linear, without words
// Draws and writes. CT_BAD_ARGUMENT for a size that makes no sense, CT_IO when the file cannot be written.
CT_API ct_status ct_plot_save(const char* path, const ct_plot_def* def, const ct_plot_series* series,
                              int nseries, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
