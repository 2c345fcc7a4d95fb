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

typedef struct extent {
    double lower[3], upper[3];
} extent;

static void include(extent* box, const double point[3], double margin) {
    if (!isfinite(point[0] + point[1] + point[2])) return;
    for (int a = 0; a < 3; a++) {
        box->lower[a] = fmin(box->lower[a], point[a] - margin);
        box->upper[a] = fmax(box->upper[a], point[a] + margin);
    }
}

// What can be seen of one frame: the surface's nodes and the bones' ends; without either all nodes.
static void include_frame(extent* box, const ct_trajectory* file, const ct_bone_list* bones, const double* x, const double* poses) {
    for (int c = 0; c < 3 * file->info.nsurface; c++) include(box, x + 3 * file->surface[c], 0);
    for (int i = 0; i < bones->count; i++) {
        double end[3];
        const double* pose = poses + 12 * bones->bone[i].link;
        ct_bone_place(pose, bones->bone[i].from, end);
        include(box, end, bones->radius);
        ct_bone_place(pose, bones->bone[i].to, end);
        include(box, end, bones->radius);
    }
    for (int i = 0; i < file->info.nvert && !file->info.nsurface && !bones->count; i++) include(box, x + 3 * i, 0);
}

// The bones' thickness depends on the scene's extent at rest, links' nodes included.
double ct_picture_bones(ct_bone_list* bones, ct_arena* arena, const ct_trajectory* file) {
    extent rest = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double size = 0;
    for (int i = 0; i < file->info.nvert; i++) include(&rest, file->rest + 3 * i, 0);
    for (int k = 0; k < file->info.nlink; k++) include(&rest, file->link[k].anchor, 0);
    for (int a = 0; a < 3; a++) size = fmax(size, rest.upper[a] - rest.lower[a]);
    ct_bone_list_create(bones, arena, file, size > 0 ? size : 1);
    return size;
}

static ct_status find_bounds(ct_trajectory* file, ct_arena* arena, extent* box, ct_error* error) {
    ct_bone_list bones;
    double* x = ct_arena_alloc(arena, 3 * (size_t)file->info.nvert, sizeof *x);
    double* poses = ct_arena_alloc(arena, 12 * (size_t)file->info.nlink, sizeof *poses);
    ct_picture_bones(&bones, arena, file);
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = CT_OK;
    for (int k = 0; !status && k < looked_at_count(file); k++) {
        int frame = looked_at_frame(file, k);
        status = ct_trajectory_read_into(file, frame, x, NULL, NULL, NULL, error);
        if (!status) status = ct_trajectory_read_links_into(file, frame, NULL, poses, error);
        if (!status) include_frame(box, file, &bones, x, poses);
    }
    return status;
}

ct_status ct_picture_bounds(ct_trajectory* file, ct_error* error) {
    forget_old(file);
    if (file->bounds_frames > 0) return CT_OK;
    extent box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    ct_arena arena = {0};
    ct_status status = find_bounds(file, &arena, &box, error);
    ct_arena_free(&arena);
    if (status) return status;
    for (int k = 0; k < 3; k++) {
        bool known = box.lower[k] <= box.upper[k];
        file->lower[k] = known ? box.lower[k] : -1;
        file->upper[k] = known ? box.upper[k] : 1;
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
