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

static double extent_size(const extent* box) {
    double size = 0;
    for (int a = 0; a < 3; a++) size = fmax(size, box->upper[a] - box->lower[a]);
    return size;
}

static const extent empty = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

// What can be seen of one frame: the bodies' surfaces and the bones' ends into `box`, obstacles into boxes of
// their own.
static void include_frame(extent* box, extent* obstacle, const ct_trajectory* file, const ct_bone_list* bones,
                          const double* x, const double* poses, const double* obstacle_poses) {
    int nbody = file->info.nbody;
    for (int c = 0; c < 3 * file->info.nsurface; c++) {
        int owner = file->surface_owner[c / 3];
        include(owner < nbody ? box : &obstacle[owner - nbody], x + 3 * file->surface[c], 0);
    }
    for (int i = 0; i < bones->count; i++) {
        double end[3];
        const double* pose = poses + 12 * bones->bone[i].link;
        ct_bone_place(pose, bones->bone[i].from, end);
        include(box, end, bones->radius);
        ct_bone_place(pose, bones->bone[i].to, end);
        include(box, end, bones->radius);
    }
    for (int k = 0; k < file->info.nobstacle; k++) {
        ct_obstacle_kind kind = file->obstacle[k].kind;
        if (kind != CT_OBSTACLE_SPHERE && kind != CT_OBSTACLE_CAPSULE) continue;
        include(&obstacle[k], obstacle_poses + 6 * k, file->obstacle[k].radius);
        if (kind == CT_OBSTACLE_CAPSULE)
            include(&obstacle[k], obstacle_poses + 6 * k + 3, file->obstacle[k].radius);
    }
}

// Obstacles that are not much larger than the bodies, nor far from them, belong into the picture.
static void include_obstacles(extent* box, const extent* obstacle, ct_trajectory* file) {
    const extent bodies = *box;
    double size = extent_size(&bodies);
    for (int k = 0; k < file->info.nobstacle; k++) {
        double gap = 0;
        bool there = obstacle[k].lower[0] <= obstacle[k].upper[0];
        for (int a = 0; a < 3 && there; a++)
            gap = fmax(gap,
                       fmax(obstacle[k].lower[a] - bodies.upper[a], bodies.lower[a] - obstacle[k].upper[a]));
        bool alone = !(bodies.lower[0] <= bodies.upper[0]);
        file->obstacle_far[k] = !there || (!alone && (extent_size(&obstacle[k]) > 1.6 * size || gap > size));
        if (file->obstacle_far[k] || file->obstacle[k].hidden) continue;
        include(box, obstacle[k].lower, 0);
        include(box, obstacle[k].upper, 0);
    }
}

// The bones' thickness depends on the scene's extent at rest, links' nodes included.
double ct_picture_bones(ct_bone_list* bones, ct_arena* arena, const ct_trajectory* file) {
    extent rest = empty;
    for (int c = 0; c < 3 * file->info.nsurface; c++)
        if (file->surface_owner[c / 3] < file->info.nbody)
            include(&rest, file->rest + 3 * file->surface[c], 0);
    for (int k = 0; k < file->info.nlink; k++) {
        include(&rest, file->link[k].anchor, 0);
        for (int i = 0; i < file->link[k].count; i++)
            include(&rest, file->rest + 3 * file->link[k].nodes[i], 0);
    }
    double size = extent_size(&rest);
    ct_bone_list_create(bones, arena, file, size > 0 ? size : 1);
    return size;
}

static ct_status find_bounds(ct_trajectory* file, ct_arena* arena, extent* box, ct_error* error) {
    ct_bone_list bones;
    size_t nobstacle = (size_t)file->info.nobstacle;
    double* x = ct_arena_alloc(arena, 3 * (size_t)file->info.nvert, sizeof *x);
    double* poses = ct_arena_alloc(arena, 12 * (size_t)file->info.nlink, sizeof *poses);
    double* obstacle_poses = ct_arena_alloc(arena, 6 * nobstacle, sizeof *obstacle_poses);
    extent* obstacle = ct_arena_alloc(arena, nobstacle, sizeof *obstacle);
    ct_picture_bones(&bones, arena, file);
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (size_t k = 0; k < nobstacle; k++) obstacle[k] = empty;
    ct_status status = CT_OK;
    for (int k = 0; !status && k < looked_at_count(file); k++) {
        int frame = looked_at_frame(file, k);
        status = ct_trajectory_read_into(file, frame, x, NULL, NULL, NULL, error);
        if (!status) status = ct_trajectory_read_links_into(file, frame, NULL, poses, error);
        if (!status) status = ct_trajectory_read_obstacles_into(file, frame, obstacle_poses, error);
        if (!status) include_frame(box, obstacle, file, &bones, x, poses, obstacle_poses);
        for (int i = 0; !status && i < file->info.nvert && !file->info.nsurface && !bones.count; i++)
            include(box, x + 3 * i, 0);
    }
    if (!status) include_obstacles(box, obstacle, file);
    return status;
}

ct_status ct_picture_bounds(ct_trajectory* file, ct_error* error) {
    forget_old(file);
    if (file->bounds_frames > 0) return CT_OK;
    extent box = empty;
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
    bool contact = strcmp(name, "contact") == 0;
    double* values = ct_alloc((size_t)file->info.nvert, sizeof *values);
    if (!values) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = CT_OK;
    for (int k = 0; !status && k < looked_at_count(file); k++) {
        status = ct_skin_values(file, looked_at_frame(file, k), name, values, error);
        for (int i = 0; !status && contact && i < file->info.nvert; i++)
            if (!(values[i] > 0)) values[i] = NAN;  // most nodes touch nothing
        if (!status) trimmed_range(values, file->info.nvert, &low, &high);
    }
    ct_free(values);
    if (status) return status;
    if (!(low <= high)) low = high = 0;
    if (strcmp(name, "volume") == 0) {  // white is the rest volume
        double away = fmax(fmax(1 - low, high - 1), 1e-3);
        low = 1 - away;
        high = 1 + away;
    } else low = strcmp(name, "activation") == 0 ? fmin(low, 0) : 0;  // cells may shrink
    strncpy(range->name, name, sizeof range->name - 1);
    range->low = low;
    range->high = high;
    return CT_OK;
}

// The force that all but the largest twentieth of the contacts in the looked-at frames stay below.
static ct_status find_force(ct_trajectory* file, double* force, ct_error* error) {
    double* all = NULL;
    size_t capacity = 0, n = 0;
    ct_status status = CT_OK;
    for (int k = 0; !status && k < looked_at_count(file); k++) {
        const ct_contact* list;
        int count;
        status = ct_trajectory_read_contacts(file, looked_at_frame(file, k), &list, &count, error);
        if (!status && !ct_reserve((void**)&all, &capacity, n + (size_t)count, sizeof *all))
            status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
        for (int i = 0; !status && i < count; i++) {
            double size = hypot(hypot(list[i].force[0], list[i].force[1]), list[i].force[2]);
            if (size > 0 && isfinite(size)) all[n++] = size;
        }
    }
    *force = 0;
    if (!status && n) {
        qsort(all, n, sizeof *all, compare);
        *force = all[(size_t)(0.95 * (double)(n - 1))];
    }
    ct_free(all);
    return status;
}

ct_status ct_picture_force(ct_trajectory* file, double* force, ct_error* error) {
    forget_old(file);
    ct_field_range* range = &file->range[sizeof file->range / sizeof file->range[0] - 1];
    ct_status status = range->name[0] ? CT_OK : find_force(file, &range->high, error);
    if (status) return status;
    strcpy(range->name, "force");
    *force = range->high;
    return CT_OK;
}

ct_status ct_picture_range(ct_trajectory* file, const ct_picture_def* def, double* low, double* high,
                           ct_error* error) {
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
