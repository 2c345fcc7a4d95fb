// Meshes of simple solids by isosurface stuffing, centred at the origin, axis z.
#include <math.h>

#include "base/status.h"
#include "cuttle.h"

// Fills and frees the shape; NULL is out of memory.
static ct_status fill_and_free(ct_mesh** out, ct_shape* shape, double size) {
    if (!shape) return CT_OUT_OF_MEMORY;
    ct_fill_def def = ct_fill_def_default();
    def.size = size;
    ct_status status = ct_shape_fill(out, shape, &def, NULL, NULL);
    ct_shape_free(shape);
    return status;
}

static bool positive(double value) { return value > 0 && isfinite(value); }

ct_status ct_mesh_sphere(ct_mesh** out, double radius, double size) {
    CT_NEED(NULL, out);
    *out = NULL;
    if (!positive(radius) || !positive(size)) return CT_BAD_ARGUMENT;
    return fill_and_free(out, ct_shape_sphere((const double[3]){0, 0, 0}, radius), size);
}

ct_status ct_mesh_cylinder(ct_mesh** out, double radius, double length, double size) {
    CT_NEED(NULL, out);
    *out = NULL;
    if (!positive(radius) || !positive(length) || !positive(size)) return CT_BAD_ARGUMENT;
    const double a[3] = {0, 0, -length / 2}, b[3] = {0, 0, length / 2};
    return fill_and_free(out, ct_shape_cylinder(a, b, radius), size);
}

ct_status ct_mesh_torus(ct_mesh** out, double major, double minor, double size) {
    CT_NEED(NULL, out);
    *out = NULL;
    if (!positive(major) || !positive(minor) || minor >= major || !positive(size)) return CT_BAD_ARGUMENT;
    return fill_and_free(
        out, ct_shape_torus((const double[3]){0, 0, 0}, (const double[3]){0, 0, 1}, major, minor), size);
}
