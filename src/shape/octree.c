// Refinement and balance of the octree; see octree.h.
//
// With R half the diagonal of a cell, c its centre and d the distance there (1-Lipschitz), the cell's closure
// is farther than s from the surface if |d(c)| > R + s. Cells within one leaf size of the surface are refined
// to that size, so that every lattice tet that is cut or warped later is made of equal leaves.
#include "shape/octree.h"

#include "base/cancel.h"
#include "base/memory.h"
#include "math/point3.h"
#include "shape/shape.h"

static void cell_center(const ct_octree* octree, const ct_octree_cell* cell, double center[3]) {
    double half = 0.5 * (double)(1 << cell->shift);
    for (int i = 0; i < 3; i++) center[i] = octree->origin[i] + octree->finest * (cell->corner[i] + half);
}

static ct_status add_cells(ct_octree* octree, const ct_octree_def* def, size_t count) {
    if (octree->ncell + count > def->max_cells) {
        octree->too_many = true;
        return CT_BAD_ARGUMENT;
    }
    if (!ct_reserve((void**)&octree->cell, &octree->capacity, octree->ncell + count, sizeof *octree->cell))
        return CT_OUT_OF_MEMORY;
    octree->ncell += count;
    return CT_OK;
}

static void init_cell(ct_octree* octree, const ct_octree_def* def, size_t index, const int corner[3],
                      int shift) {
    ct_octree_cell* cell = octree->cell + index;
    for (int i = 0; i < 3; i++) cell->corner[i] = corner[i];
    cell->shift = shift;
    cell->child = -1;
    double center[3];
    cell_center(octree, cell, center);
    cell->distance = ct_shape_distance(def->shape, center);
}

static ct_status split(ct_octree* octree, const ct_octree_def* def, size_t index) {
    size_t first = octree->ncell;
    ct_status status = add_cells(octree, def, 8);
    if (status != CT_OK) return status;
    ct_octree_cell parent = octree->cell[index];
    octree->cell[index].child = (int)first;
    int half = 1 << (parent.shift - 1);
    for (int i = 0; i < 8; i++) {
        int corner[3];
        for (int k = 0; k < 3; k++) corner[k] = parent.corner[k] + (i >> k & 1) * half;
        init_cell(octree, def, first + (size_t)i, corner, parent.shift - 1);
    }
    return CT_OK;
}

static bool wants_split(const ct_octree* octree, const ct_octree_def* def, const ct_octree_cell* cell) {
    if (cell->shift == 0) return false;
    double width = octree->finest * (double)(1 << cell->shift), radius = 0.5 * sqrt(3.0) * width,
           size = def->size;
    const double slack = 1 + 1e-9;
    if (def->part_sizes) {
        double center[3];
        cell_center(octree, cell, center);
        size = ct_shape_size_at(def->shape, center, radius + fmin(width, def->size), def->size);
    }
    if (fabs(cell->distance) <= radius + fmin(size, width)) return width > size * slack;
    return cell->distance < 0 && width > fmax(def->interior, octree->finest) * slack;
}

int ct_octree_find(const ct_octree* octree, int x, int y, int z, int shift) {
    int width = 1 << octree->root_shift;
    if (x < 0 || y < 0 || z < 0 || x >= width || y >= width || z >= width) return -1;
    int index = 0;
    while (octree->cell[index].shift > shift && octree->cell[index].child >= 0) {
        int bit = octree->cell[index].shift - 1;
        index = octree->cell[index].child + ((x >> bit & 1) | (y >> bit & 1) << 1 | (z >> bit & 1) << 2);
    }
    return index;
}

// Splits leaves until no neighbour of the cell is more than twice as large. New cells join the end of the
// list.
static ct_status balance_around(ct_octree* octree, const ct_octree_def* def, size_t index) {
    ct_octree_cell cell = octree->cell[index];
    int width = 1 << cell.shift;
    for (int direction = 0; direction < 27; direction++) {
        int at[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
        for (int k = 0; k < 3; k++) at[k] = cell.corner[k] + at[k] * width;
        for (;;) {
            int neighbor = ct_octree_find(octree, at[0], at[1], at[2], cell.shift);
            if (neighbor < 0 || octree->cell[neighbor].shift <= cell.shift + 1) break;
            ct_status status = split(octree, def, (size_t)neighbor);
            if (status != CT_OK) return status;
        }
    }
    return CT_OK;
}

ct_status ct_octree_create(ct_octree* octree, const ct_octree_def* def) {
    *octree = (ct_octree){.finest = def->finest};
    double extent = 0;
    for (int i = 0; i < 3; i++) extent = fmax(extent, def->upper[i] - def->lower[i]);
    while (octree->root_shift < CT_OCTREE_MAX_LEVEL && ldexp(def->finest, octree->root_shift) < extent)
        octree->root_shift++;
    if (ldexp(def->finest, octree->root_shift) < extent) {
        octree->too_many = true;
        return CT_BAD_ARGUMENT;
    }
    double half = 0.5 * ldexp(def->finest, octree->root_shift);
    for (int i = 0; i < 3; i++) octree->origin[i] = (def->lower[i] + def->upper[i]) / 2 - half;
    ct_status status = add_cells(octree, def, 1);
    if (status == CT_OK) init_cell(octree, def, 0, (const int[3]){0, 0, 0}, octree->root_shift);
    for (size_t i = 0; i < octree->ncell && status == CT_OK; i++) {
        if (wants_split(octree, def, octree->cell + i)) status = split(octree, def, i);
        if (ct_cancelled_at(i)) status = CT_CANCELLED;
    }
    for (size_t i = 0; i < octree->ncell && status == CT_OK; i++) {
        status = balance_around(octree, def, i);
        if (ct_cancelled_at(i)) status = CT_CANCELLED;
    }
    if (status != CT_OK) {
        bool too_many = octree->too_many;
        ct_octree_clear(octree);
        octree->too_many = too_many;
    }
    return status;
}

void ct_octree_clear(ct_octree* octree) {
    ct_free(octree->cell);
    *octree = (ct_octree){0};
}
