// Meshes of simple solids by isosurface stuffing, centred at the origin, axis z.
#include <math.h>

#include "base/status.h"
#include "cuttle.h"

// Fills and frees the shape; NULL: as `why` says.
static ct_status fill_and_free(ct_mesh** out, ct_shape* shape, double size, const ct_error* why,
                               ct_error* error) {
    if (!shape) return ct_fail(error, why->code, "%s", why->message);
    ct_fill_def def = ct_fill_def_default();
    def.size = size;
    ct_status status = ct_shape_fill(out, shape, &def, NULL, error);
    ct_shape_free(shape);
    return status;
}

static bool positive(double value) { return value > 0 && isfinite(value); }

static ct_status refuse(ct_error* error, const char* name, double value) {
    return ct_fail(error, CT_BAD_ARGUMENT, "%s is %g: give a number above 0, in metres", name, value);
}

ct_status ct_mesh_sphere(ct_mesh** out, double radius, double size, ct_error* error) {
    CT_NEED(error, out);
    ct_error_clear(error);
    *out = NULL;
    if (!positive(radius)) return refuse(error, "radius", radius);
    if (!positive(size)) return refuse(error, "size", size);
    ct_error why = {0};
    return fill_and_free(out, ct_shape_sphere((const double[3]){0, 0, 0}, radius, &why), size, &why, error);
}

ct_status ct_mesh_cylinder(ct_mesh** out, double radius, double length, double size, ct_error* error) {
    CT_NEED(error, out);
    ct_error_clear(error);
    *out = NULL;
    if (!positive(radius)) return refuse(error, "radius", radius);
    if (!positive(length)) return refuse(error, "length", length);
    if (!positive(size)) return refuse(error, "size", size);
    const double a[3] = {0, 0, -length / 2}, b[3] = {0, 0, length / 2};
    ct_error why = {0};
    return fill_and_free(out, ct_shape_cylinder(a, b, radius, &why), size, &why, error);
}

ct_status ct_mesh_torus(ct_mesh** out, double major, double minor, double size, ct_error* error) {
    CT_NEED(error, out);
    ct_error_clear(error);
    *out = NULL;
    if (!positive(major)) return refuse(error, "major", major);
    if (!positive(minor)) return refuse(error, "minor", minor);
    if (!positive(size)) return refuse(error, "size", size);
    if (minor >= major)
        return ct_fail(error, CT_BAD_ARGUMENT, "minor is %g: it must be below major, which is %g", minor,
                       major);
    const double origin[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
    ct_error why = {0};
    return fill_and_free(out, ct_shape_torus(origin, axis, major, minor, &why), size, &why, error);
}
