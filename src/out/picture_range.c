// The extent of a motion and of its fields, from up to 24 frames spread over it; see picture.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "out/picture.h"
#include "out/skin.h"

#define LOOKED_AT 24
#define OUTLIERS 0.003  // share of the node values that may exceed the colour map, as single slivers do

static int looked_at_count(const ct_trajectory* file) {
    return file->info.nframe < LOOKED_AT ? file->info.nframe : LOOKED_AT;
}

static int looked_at_frame(const ct_trajectory* file, int k) {
    int count = looked_at_count(file);
    return count < 2 ? 0 : (int)((int64_t)k * (file->info.nframe - 1) / (count - 1));
}

// What was found holds for the number of frames there were.
static void forget_old(ct_trajectory* file) {
    if (file->bounds_frames == file->info.nframe) return;
    file->bounds_frames = 0;
    memset(file->range, 0, sizeof file->range);
}

ct_status ct_picture_bounds(ct_trajectory* file, ct_error* error) {
    forget_old(file);
    if (file->bounds_frames > 0) return CT_OK;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    double* x = ct_alloc(3 * (size_t)file->info.nvert, sizeof *x);
    if (!x) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = CT_OK;
    for (int k = 0; !status && k < looked_at_count(file); k++) {
        status = ct_trajectory_read_into(file, looked_at_frame(file, k), x, NULL, NULL, NULL, error);
        for (int i = 0; !status && i < 3 * file->info.nvert; i++) {
            if (!isfinite(x[i])) continue;
            lower[i % 3] = fmin(lower[i % 3], x[i]);
            upper[i % 3] = fmax(upper[i % 3], x[i]);
        }
    }
    ct_free(x);
    if (status) return status;
    for (int k = 0; k < 3; k++) {
        bool known = lower[k] <= upper[k];
        file->lower[k] = known ? lower[k] : -1;
        file->upper[k] = known ? upper[k] : 1;
    }
    file->bounds_frames = file->info.nframe;
    return CT_OK;
}

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The smallest and largest of the values without the outliers; `values` is sorted.
static void trimmed_range(double* values, int count, double* low, double* high) {
    int finite = 0;
    for (int i = 0; i < count; i++)
        if (isfinite(values[i])) values[finite++] = values[i];
    if (finite == 0) return;
    qsort(values, (size_t)finite, sizeof *values, compare);
    int skip = (int)(OUTLIERS * finite);
    *low = fmin(*low, values[skip]);
    *high = fmax(*high, values[finite - 1 - skip]);
}

static ct_status find_range(ct_trajectory* file, const char* name, ct_field_range* range, ct_error* error) {
    double low = INFINITY, high = -INFINITY;
    double* values = ct_alloc((size_t)file->info.nvert, sizeof *values);
    if (!values) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = CT_OK;
    for (int k = 0; !status && k < looked_at_count(file); k++) {
        status = ct_skin_values(file, looked_at_frame(file, k), name, values, error);
        if (!status) trimmed_range(values, file->info.nvert, &low, &high);
    }
    ct_free(values);
    if (status) return status;
    if (!(low <= high)) low = high = 0;
    if (strcmp(name, "volume") == 0) {  // white is the rest volume
        double away = fmax(fmax(1 - low, high - 1), 1e-3);
        low = 1 - away;
        high = 1 + away;
    } else low = 0;
    strncpy(range->name, name, sizeof range->name - 1);
    range->low = low;
    range->high = high;
    return CT_OK;
}

ct_status ct_picture_range(ct_trajectory* file, const ct_picture_def* def, double* low, double* high, ct_error* error) {
    *low = def->range[0];
    *high = def->range[1];
    if (*low != *high) return CT_OK;
    ct_field_range* range = file->range;
    while (range->name[0] && strcmp(range->name, def->color_by) != 0) range++;
    ct_status status = range->name[0] ? CT_OK : find_range(file, def->color_by, range, error);
    if (status) return status;
    *low = range->low;
    *high = range->high > range->low ? range->high : range->low + 1e-6;
    return CT_OK;
}
