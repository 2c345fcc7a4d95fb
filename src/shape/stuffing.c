// Filling a shape with tets: octree, lattice, cut, prune, improve, tags; see the files of those names.
//
// Method: F. Labelle and J. R. Shewchuk, Isosurface Stuffing, SIGGRAPH 2007. The surface band of the octree
// is one leaf wider than theirs, so the tets that are warped or cut are all plain BCC tets and the bounds of
// the uniform method (dihedral angles between 10.7 and 164.8 degrees) also hold with a coarser interior.
// Sizes of parts change the leaf size along the surface, where no bound is known; `improve` lifts the worst
// tets there.
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/point3.h"
#include "shape/curve.h"
#include "shape/cut.h"
#include "shape/improve.h"
#include "shape/prune.h"
#include "shape/shape.h"

#define MAX_CELLS 50000000

ct_fill_def ct_fill_def_default(void) { return (ct_fill_def){.size = 0.1}; }

// Number of octree cells at size * 2^steps; 0 when there are more than MAX_CELLS.
static ct_status count_cells(const ct_octree_def* def, int steps, size_t* count) {
    ct_octree octree;
    ct_octree_def coarse = *def;
    coarse.size = ldexp(def->size, steps);
    coarse.finest = ldexp(def->finest, steps);
    coarse.interior = ldexp(def->interior, steps);
    coarse.part_sizes = false;
    ct_status status = ct_octree_create(&octree, &coarse);
    *count = status == CT_OK ? octree.ncell : 0;
    if (octree.too_many) status = CT_OK;
    ct_octree_clear(&octree);
    return status;
}

// Before building a large octree: extrapolates its number of cells from coarser ones.
static ct_status require_feasible(const ct_octree_def* def, ct_error* error) {
    double extent = 0, previous = 0;
    for (int i = 0; i < 3; i++) extent = fmax(extent, def->upper[i] - def->lower[i]);
    int steps = (int)fmin(ceil(log2(extent / def->finest)) - 4, 2000);
    for (; steps > 0; steps--) {
        size_t count;
        ct_status status = count_cells(def, steps, &count);
        if (status != CT_OK)
            return ct_fail(error, status, "%s while estimating the number of cells", ct_status_text(status));
        double growth = previous > 0 ? fmin((double)count / previous, 8) : 8;
        previous = (double)count;
        // Ratios of small octrees say little; a prediction near the limit is left to the next finer one.
        if (count < 20000 || (double)count * pow(growth, steps) < 4.0 * MAX_CELLS) continue;
        int feasible = steps;
        while (feasible > 0 && (double)count * pow(growth, steps - feasible + 1) < MAX_CELLS) feasible--;
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "size %g needs about %.2g million octree cells, the most is %d million; a size of "
                       "%.3g is feasible",
                       def->size, 1e-6 * (double)count * pow(growth, steps), MAX_CELLS / 1000000,
                       ldexp(def->size, feasible));
    }
    return CT_OK;
}

// Bounds, sizes and limits of the octree from the caller's settings.
static ct_status prepare(ct_octree_def* octree, const ct_shape* shape, const ct_fill_def* def,
                         ct_error* error) {
    if (!(def->size > 0) || !isfinite(def->size))
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "size is %g; it must be positive (edge length at the surface in m)", def->size);
    if (def->interior < 0 || !isfinite(def->interior))
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "interior is %g; it must be positive, or 0 for the same as size", def->interior);
    if (def->order != 0 && def->order != 1 && def->order != 2)
        return ct_fail(error, CT_BAD_ARGUMENT, "order is %d; it must be 1 or 2", def->order);
    // A size of the whole shape takes the place of the caller's.
    double size = shape->size > 0 ? shape->size : def->size, smallest = ct_shape_smallest_size(shape, size);
    *octree = (ct_octree_def){.shape = shape, .size = size, .finest = size, .max_cells = MAX_CELLS};
    octree->interior = fmax(def->interior, size);
    octree->part_sizes = ct_shape_has_sizes(shape);
    while (octree->finest > smallest * (1 + 1e-9)) octree->finest /= 2;
    for (int i = 0; i < 3; i++) {
        octree->lower[i] = shape->lower[i];
        octree->upper[i] = shape->upper[i];
        if (!isfinite(octree->lower[i]) || !isfinite(octree->upper[i]))
            return ct_fail(error, CT_BAD_ARGUMENT, "the shape's bounds are not finite: check its numbers");
    }
    for (int i = 0; i < 3; i++) {
        if (octree->lower[i] > octree->upper[i])
            return ct_fail(error, CT_BAD_MESH, "the shape is empty: its parts do not overlap");
        octree->lower[i] -= 1.5 * size;
        octree->upper[i] += 1.5 * size;
    }
    return require_feasible(octree, error);
}

// Octree, lattice and cut; `list` is left empty when nothing is inside.
static ct_status fill_list(ct_tet_list* list, const ct_shape* shape, const ct_octree_def* def) {
    ct_octree octree;
    ct_lattice lattice;
    ct_status status = ct_octree_create(&octree, def);
    if (status != CT_OK) return status;
    status = ct_lattice_create(&lattice, &octree, shape);
    ct_octree_clear(&octree);
    if (status != CT_OK) return status;
    if (lattice.ntet > 0) status = ct_cut_lattice(list, &lattice, shape);
    ct_lattice_clear(&lattice);
    if (status == CT_OK && list->ntet > 0) status = ct_prune(list);
    if (status == CT_OK && list->ntet > 0) status = ct_improve(list, shape);
    return status;
}

// Tags of the tets and the names of those that the shape has.
static ct_status set_tags(ct_mesh* mesh, const ct_shape* shape) {
    int capacity = ct_shape_tags(shape, NULL, 0);
    ct_tag* tag = ct_alloc((size_t)capacity, sizeof *tag);
    if (!tag) return CT_OUT_OF_MEMORY;
    int ntag = ct_shape_tags(shape, tag, capacity);
    if (ntag == 0) {
        ct_free(tag);
        return CT_OK;
    }
    ct_free(mesh->tag);
    mesh->tag = tag;
    mesh->ntag = ntag;
    for (int t = 0; t < mesh->ntet; t++) {
        double center[3] = {0, 0, 0};
        for (int i = 0; i < 4; i++)
            add_scaled3(center, 0.25, mesh->x + 3 * (size_t)mesh->tet[4 * t + i], center);
        mesh->tet_tag[t] = ct_shape_tag_at(shape, center);
    }
    return CT_OK;
}

static ct_status fill(ct_mesh** out, const ct_shape* shape, const ct_fill_def* def, ct_mesh_report* report,
                      ct_error* error) {
    ct_octree_def octree;
    ct_tet_list list = {0};
    ct_status status = prepare(&octree, shape, def, error);
    if (status != CT_OK) return status;
    status = fill_list(&list, shape, &octree);
    if (status == CT_BAD_ARGUMENT) {
        status = ct_fail(error, status, "size %g needs more than %d million octree cells; double it",
                         def->size, MAX_CELLS / 1000000);
    } else if (status != CT_OK) {
        ct_fail(error, status, "%s while meshing with size %g%s", ct_status_text(status), def->size,
                status == CT_OUT_OF_MEMORY ? ": make it larger" : "");
    } else if (list.ntet == 0) {
        status =
            ct_fail(error, CT_BAD_MESH,
                    "the shape is empty at size %g: make size smaller than the thinnest part", def->size);
    } else {
        status = ct_mesh_create(out, list.nvert, list.x, list.ntet, list.tet, 0, NULL, error);
        if (status == CT_OK) status = set_tags(*out, shape);
        if (status == CT_OK && def->order == 2) status = ct_mesh_raise(*out);
        if (status == CT_OK && def->order == 2) status = ct_mesh_curve(*out, shape);
        ct_fail_making(error, status, "a mesh", "make size larger");
    }
    ct_tet_list_clear(&list);
    if (status == CT_OK) status = ct_mesh_check(*out, report, error);
    return status;
}

ct_status ct_shape_fill(ct_mesh** out, const ct_shape* shape, const ct_fill_def* def, ct_mesh_report* report,
                        ct_error* error) {
    CT_NEED(error, out, shape, def);
    *out = NULL;
    ct_error_clear(error);
    if (report) memset(report, 0, sizeof *report);
    // Bounds given by the caller trim the shape; the trimmed tree borrows it.
    ct_shape box = {.kind = CT_SHAPE_BOX};
    ct_shape trimmed = {
        .kind = CT_SHAPE_INTERSECTION, .child = {(ct_shape*)shape, &box}, .size = shape->size};
    bool trims = false;
    for (int i = 0; i < 3; i++) {
        if (!(def->lower[i] <= def->upper[i]))
            return ct_fail(error, CT_BAD_ARGUMENT, "lower[%d] = %g exceeds upper[%d] = %g", i, def->lower[i],
                           i, def->upper[i]);
        trims |= def->lower[i] < def->upper[i];
        box.a[i] = (def->lower[i] + def->upper[i]) / 2;
        box.b[i] = (def->upper[i] - def->lower[i]) / 2;
        box.lower[i] = def->lower[i];
        box.upper[i] = def->upper[i];
        trimmed.lower[i] = fmax(shape->lower[i], def->lower[i]);
        trimmed.upper[i] = fmin(shape->upper[i], def->upper[i]);
    }
    ct_status status = fill(out, trims ? &trimmed : shape, def, report, error);
    if (status != CT_OK) {
        ct_mesh_free(*out);
        *out = NULL;
    }
    return status;
}
