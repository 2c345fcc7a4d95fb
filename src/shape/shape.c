// Building and evaluating shapes; see shape.h.
//
// Blending over a length k (quadratic, Inigo Quilez): smin(a,b) = min(a,b) - max(k - |a-b|, 0)^2 / (4k),
// smax(a,b) = -smin(-a,-b), difference = smax(a,-b).
#include "shape/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/point3.h"
#include "shape/primitive.h"

// The first failure stays: a tree is built by calls within calls.
bool ct_shape_refuse(ct_error* error, const char* format, ...) {
    if (!error || error->code != CT_OK) return false;
    va_list arguments;
    va_start(arguments, format);
    ct_error_clear(error);
    error->code = CT_BAD_ARGUMENT;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

void ct_shape_fail_memory(ct_error* error) {
    if (error && error->code == CT_OK)
        ct_error_clear(error), ct_fail_making(error, CT_OUT_OF_MEMORY, "a shape", "use fewer parts");
}

static ct_shape* shape_new(ct_shape_kind kind, ct_error* error) {
    ct_shape* shape = ct_alloc(1, sizeof *shape);
    if (shape) shape->kind = kind;
    else ct_shape_fail_memory(error);
    return shape;
}

bool ct_shape_check_points(const double* point, int count, ct_error* error) {
    if (!point) return ct_shape_refuse(error, "a point or a size of the shape is NULL: give it");
    for (int i = 0; i < count; i++)
        if (!isfinite(point[i]))
            return ct_shape_refuse(error, "the shape has a coordinate of %g: give finite numbers", point[i]);
    return true;
}

bool ct_shape_check_sizes(const double* size, int count, bool zero, ct_error* error) {
    if (!ct_shape_check_points(size, count, error)) return false;
    for (int i = 0; i < count; i++)
        if (!(size[i] > 0 || (zero && size[i] == 0)))
            return ct_shape_refuse(error, "the shape has a size of %g: give numbers above 0", size[i]);
    return true;
}

// Box of a ball hull between a and b.
static void set_bounds(ct_shape* shape, const double a[3], const double b[3], const double pad[3]) {
    for (int i = 0; i < 3; i++) {
        shape->lower[i] = fmin(a[i], b[i]) - pad[i];
        shape->upper[i] = fmax(a[i], b[i]) + pad[i];
    }
}

static void pad_all(double pad[3], double value) { pad[0] = pad[1] = pad[2] = value; }

ct_shape* ct_shape_sphere(const double center[3], double radius, ct_error* error) {
    if (!(ct_shape_check_points(center, 3, error) && ct_shape_check_sizes(&radius, 1, false, error)))
        return NULL;
    ct_shape* shape = shape_new(CT_SHAPE_SPHERE, error);
    if (!shape) return NULL;
    double pad[3];
    pad_all(pad, radius);
    copy3(shape->a, center);
    shape->radius[0] = radius;
    set_bounds(shape, center, center, pad);
    return shape;
}

ct_shape* ct_shape_ellipsoid(const double center[3], const double radii[3], ct_error* error) {
    if (!(ct_shape_check_points(center, 3, error) && ct_shape_check_sizes(radii, 3, false, error)))
        return NULL;
    ct_shape* shape = shape_new(CT_SHAPE_ELLIPSOID, error);
    if (!shape) return NULL;
    copy3(shape->a, center);
    copy3(shape->b, radii);
    set_bounds(shape, center, center, radii);
    return shape;
}

ct_shape* ct_shape_box(const double center[3], const double half[3], double rounding, ct_error* error) {
    if (!(ct_shape_check_points(center, 3, error) && ct_shape_check_sizes(half, 3, false, error) &&
          ct_shape_check_points(&rounding, 1, error)))
        return NULL;
    ct_shape* shape = shape_new(CT_SHAPE_BOX, error);
    if (!shape) return NULL;
    copy3(shape->a, center);
    copy3(shape->b, half);
    shape->radius[0] = fmin(fmax(rounding, 0), fmin(half[0], fmin(half[1], half[2])));
    set_bounds(shape, center, center, half);
    return shape;
}

ct_shape* ct_shape_capsule(const double a[3], const double b[3], double radius_a, double radius_b,
                           ct_error* error) {
    if (!(ct_shape_check_points(a, 3, error) && ct_shape_check_points(b, 3, error) &&
          ct_shape_check_sizes(&radius_a, 1, radius_b > 0, error) &&
          ct_shape_check_sizes(&radius_b, 1, radius_a > 0, error)))
        return NULL;
    ct_shape* shape = shape_new(CT_SHAPE_CAPSULE, error);
    if (!shape) return NULL;
    copy3(shape->a, a);
    copy3(shape->b, b);
    shape->radius[0] = radius_a;
    shape->radius[1] = radius_b;
    for (int i = 0; i < 3; i++) {
        shape->lower[i] = fmin(a[i] - radius_a, b[i] - radius_b);
        shape->upper[i] = fmax(a[i] + radius_a, b[i] + radius_b);
    }
    return shape;
}

ct_shape* ct_shape_cylinder(const double a[3], const double b[3], double radius, ct_error* error) {
    if (!(ct_shape_check_points(a, 3, error) && ct_shape_check_points(b, 3, error) &&
          ct_shape_check_sizes(&radius, 1, false, error)))
        return NULL;
    ct_shape* shape = shape_new(CT_SHAPE_CYLINDER, error);
    if (!shape) return NULL;
    copy3(shape->a, a);
    copy3(shape->b, b);
    shape->radius[0] = radius;
    double axis[3], pad[3];
    subtract3(b, a, axis);
    double squared = dot3(axis, axis);
    for (int i = 0; i < 3; i++)
        pad[i] = squared > 0 ? radius * sqrt(fmax(1 - axis[i] * axis[i] / squared, 0)) : radius;
    set_bounds(shape, a, b, pad);
    return shape;
}

ct_shape* ct_shape_torus(const double center[3], const double axis[3], double major, double minor,
                         ct_error* error) {
    if (!(ct_shape_check_points(center, 3, error) && ct_shape_check_points(axis, 3, error) &&
          ct_shape_check_sizes(&major, 1, false, error) && ct_shape_check_sizes(&minor, 1, false, error)))
        return NULL;
    ct_shape* shape = shape_new(CT_SHAPE_TORUS, error);
    if (!shape) return NULL;
    double length = length3(axis), pad[3];
    copy3(shape->a, center);
    for (int i = 0; i < 3; i++) {
        shape->b[i] = length > 0 ? axis[i] / length : (i == 2);
        pad[i] = minor + major * sqrt(fmax(1 - shape->b[i] * shape->b[i], 0));
    }
    shape->radius[0] = major;
    shape->radius[1] = minor;
    set_bounds(shape, center, center, pad);
    return shape;
}

static bool check_operands(const ct_shape* a, const ct_shape* b, ct_error* error) {
    return (a && b) || ct_shape_refuse(error, "a shape to combine or to move is NULL: make it first");
}

static ct_shape* combine(ct_shape_kind kind, ct_shape* a, ct_shape* b, double smooth, ct_error* error) {
    const bool good = check_operands(a, b, error) && ct_shape_check_points(&smooth, 1, error);
    ct_shape* shape = good ? shape_new(kind, error) : NULL;
    if (!shape) {
        ct_shape_free(a);
        if (b != a) ct_shape_free(b);
        return NULL;
    }
    shape->child[0] = a;
    shape->child[1] = b;
    a->owners++, b->owners++;
    shape->smooth = fmax(smooth, 0);
    for (int i = 0; i < 3; i++) {
        double swell = kind == CT_SHAPE_UNION ? shape->smooth / 4 : 0;
        shape->lower[i] = a->lower[i];
        shape->upper[i] = a->upper[i];
        if (kind == CT_SHAPE_UNION) {
            shape->lower[i] = fmin(a->lower[i], b->lower[i]) - swell;
            shape->upper[i] = fmax(a->upper[i], b->upper[i]) + swell;
        } else if (kind == CT_SHAPE_INTERSECTION) {
            shape->lower[i] = fmax(a->lower[i], b->lower[i]);
            shape->upper[i] = fmin(a->upper[i], b->upper[i]);
        }
    }
    return shape;
}

ct_shape* ct_shape_union(ct_shape* a, ct_shape* b, double smooth, ct_error* error) {
    return combine(CT_SHAPE_UNION, a, b, smooth, error);
}

ct_shape* ct_shape_intersection(ct_shape* a, ct_shape* b, double smooth, ct_error* error) {
    return combine(CT_SHAPE_INTERSECTION, a, b, smooth, error);
}

ct_shape* ct_shape_difference(ct_shape* a, ct_shape* b, double smooth, ct_error* error) {
    return combine(CT_SHAPE_DIFFERENCE, a, b, smooth, error);
}

static void rotation_from_quaternion(const double q[4], double r[9]) {
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double w = norm > 0 ? q[0] / norm : 1, x = norm > 0 ? q[1] / norm : 0;
    double y = norm > 0 ? q[2] / norm : 0, z = norm > 0 ? q[3] / norm : 0;
    const double entries[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                               2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                               2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(r, entries, sizeof entries);
}

ct_shape* ct_shape_transform(ct_shape* child, const double translate[3], const double rotate[4], double scale,
                             ct_error* error) {
    const bool good = check_operands(child, child, error) && ct_shape_check_points(translate, 3, error) &&
                      ct_shape_check_points(rotate, 4, error) &&
                      ct_shape_check_sizes(&scale, 1, false, error);
    ct_shape* shape = good ? shape_new(CT_SHAPE_TRANSFORM, error) : NULL;
    if (!shape) {
        ct_shape_free(child);
        return NULL;
    }
    shape->child[0] = child;
    child->owners++;
    shape->radius[0] = scale;
    copy3(shape->a, translate);
    rotation_from_quaternion(rotate, shape->rotation);
    for (int i = 0; i < 3; i++) {
        shape->lower[i] = shape->upper[i] = translate[i];
        for (int j = 0; j < 3; j++) {
            double low = scale * shape->rotation[3 * i + j] * child->lower[j];
            double high = scale * shape->rotation[3 * i + j] * child->upper[j];
            shape->lower[i] += fmin(low, high);
            shape->upper[i] += fmax(low, high);
        }
    }
    return shape;
}

void ct_shape_set_tag(ct_shape* shape, int tag, const char* name) {
    if (!shape) return;
    shape->tag = tag;
    snprintf(shape->name, sizeof shape->name, "%s", name ? name : "");
}

void ct_shape_set_size(ct_shape* shape, double size) {
    if (shape) shape->size = size > 0 ? size : 0;
}

// A shape that was given to several combinations, or twice to one, goes with the last of them.
void ct_shape_free(ct_shape* shape) {
    if (!shape || shape->owners) return;
    for (int i = 0; i < 2; i++) {
        if (!shape->child[i]) continue;
        shape->child[i]->owners--;
        ct_shape_free(shape->child[i]);
    }
    ct_winding_free(shape->winding);
    ct_free(shape->ball);
    ct_free(shape);
}

bool ct_shape_project(const ct_shape* shape, double scale, double x[3]) {
    for (int iteration = 0; iteration < 5; iteration++) {
        double distance = ct_shape_distance(shape, x), gradient[3];
        if (fabs(distance) < 1e-6 * scale) return true;
        for (int k = 0; k < 3; k++) {
            double ahead[3], behind[3], step = 1e-5 * scale;
            copy3(ahead, x);
            copy3(behind, x);
            ahead[k] += step;
            behind[k] -= step;
            gradient[k] = (ct_shape_distance(shape, ahead) - ct_shape_distance(shape, behind)) / (2 * step);
        }
        double squared = dot3(gradient, gradient);
        if (squared < 0.01) return false;
        add_scaled3(x, -distance / squared, gradient, x);
    }
    return fabs(ct_shape_distance(shape, x)) < 1e-5 * scale;
}

void ct_shape_bounds(const ct_shape* shape, double lower[3], double upper[3]) {
    copy3(lower, shape->lower);
    copy3(upper, shape->upper);
}

// The point in the frame of a transform's child.
static void to_child(const ct_shape* shape, const double point[3], double local[3]) {
    double offset[3];
    subtract3(point, shape->a, offset);
    const double* r = shape->rotation;
    for (int i = 0; i < 3; i++)
        local[i] = (r[i] * offset[0] + r[3 + i] * offset[1] + r[6 + i] * offset[2]) / shape->radius[0];
}

static double smooth_minimum(double a, double b, double length) {
    double overlap = length - fabs(a - b);
    return fmin(a, b) - (overlap > 0 ? overlap * overlap / (4 * length) : 0);
}

// Distance to the box around a shape, 0 inside it: never more than the distance to the shape.
static double bounds_distance(const ct_shape* shape, const double point[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double gap = fmax(fmax(shape->lower[i] - point[i], point[i] - shape->upper[i]), 0);
        sum += gap * gap;
    }
    return sqrt(sum);
}

// The operand with the nearer box first; the other one is skipped when its box is too far to matter.
static double union_distance(const ct_shape* shape, const double point[3]) {
    double bound[2] = {bounds_distance(shape->child[0], point), bounds_distance(shape->child[1], point)};
    int near = bound[1] < bound[0];
    double first = ct_shape_distance(shape->child[near], point);
    if (bound[!near] > 0 && bound[!near] >= first + shape->smooth) return first;
    return smooth_minimum(first, ct_shape_distance(shape->child[!near], point), shape->smooth);
}

static double sweep_distance(const ct_shape* shape, const double point[3]) {
    double best = INFINITY;
    for (int i = 0; i + 1 < shape->nball; i++) {
        const double *p = shape->ball + 4 * i, *q = p + 4;
        double middle[3];
        for (int k = 0; k < 3; k++) middle[k] = (p[k] + q[k]) / 2;
        double reach = distance3(p, middle) + fmax(p[3], q[3]);
        if (distance3(point, middle) - reach >= best) continue;
        best = fmin(best, ct_primitive_round_cone(p, q, p[3], q[3], point));
    }
    return best;
}

double ct_shape_distance(const ct_shape* shape, const double point[3]) {
    double local[3];
    subtract3(point, shape->a, local);
    const double* r = shape->radius;
    switch (shape->kind) {
    case CT_SHAPE_SPHERE: return length3(local) - r[0];
    case CT_SHAPE_ELLIPSOID: return ct_primitive_ellipsoid(shape->b, local);
    case CT_SHAPE_BOX: return ct_primitive_box(shape->b, r[0], local);
    case CT_SHAPE_CAPSULE: return ct_primitive_round_cone(shape->a, shape->b, r[0], r[1], point);
    case CT_SHAPE_CYLINDER: return ct_primitive_cylinder(shape->a, shape->b, r[0], point);
    case CT_SHAPE_TORUS: return ct_primitive_torus(shape->b, r[0], r[1], local);
    case CT_SHAPE_SWEEP: return sweep_distance(shape, point);
    case CT_SHAPE_SURFACE: return ct_winding_distance(shape->winding, point);
    case CT_SHAPE_UNION: return union_distance(shape, point);
    case CT_SHAPE_INTERSECTION:
        return -smooth_minimum(-ct_shape_distance(shape->child[0], point),
                               -ct_shape_distance(shape->child[1], point), shape->smooth);
    case CT_SHAPE_DIFFERENCE:
        return -smooth_minimum(-ct_shape_distance(shape->child[0], point),
                               ct_shape_distance(shape->child[1], point), shape->smooth);
    case CT_SHAPE_TRANSFORM:
        to_child(shape, point, local);
        return r[0] * ct_shape_distance(shape->child[0], local);
    }
    return INFINITY;
}

// ---------------------------------------------------------------------------------------------
// Tags and sizes of parts

static bool has_tag(const ct_shape* shape) {
    if (shape->tag) return true;
    return (shape->child[0] && has_tag(shape->child[0])) || (shape->child[1] && has_tag(shape->child[1]));
}

// Depth (distance, negative inside) of the deepest leaf and its tag. What is cut away claims nothing, and
// an untagged operand of an intersection only trims.
static double deepest(const ct_shape* shape, const double point[3], int inherited, int* tag) {
    int own = shape->tag ? shape->tag : inherited;
    double local[3];
    if (!shape->child[0]) {
        *tag = own;
        return ct_shape_distance(shape, point);
    }
    if (shape->kind == CT_SHAPE_TRANSFORM) {
        to_child(shape, point, local);
        return shape->radius[0] * deepest(shape->child[0], local, own, tag);
    }
    if (shape->kind == CT_SHAPE_DIFFERENCE) return deepest(shape->child[0], point, own, tag);
    if (shape->kind == CT_SHAPE_INTERSECTION) {
        if (!has_tag(shape->child[1])) return deepest(shape->child[0], point, own, tag);
        if (!has_tag(shape->child[0])) return deepest(shape->child[1], point, own, tag);
    }
    int other;
    double first = deepest(shape->child[0], point, own, tag);
    double second = deepest(shape->child[1], point, own, &other);
    if (second < first) *tag = other;
    return fmin(first, second);
}

int ct_shape_tag_at(const ct_shape* shape, const double point[3]) {
    int tag = 0;
    if (has_tag(shape)) deepest(shape, point, 0, &tag);
    return tag;
}

// Keeps the smallest size of the surfaces in reach and the size of the nearest one.
typedef struct size_search {
    double reach;              // in the frame of the shape in hand
    double smallest;           // of the leaves in reach
    double nearest, distance;  // size and distance of the nearest leaf
} size_search;

static void search_size(const ct_shape* shape, const double point[3], double scale, double inherited,
                        size_search* search) {
    double own = shape->size > 0 ? shape->size : inherited, local[3];
    if (!shape->child[0]) {
        double distance = scale * fabs(ct_shape_distance(shape, point));
        if (distance <= search->reach) search->smallest = fmin(search->smallest, own);
        if (distance < search->distance) {
            search->distance = distance;
            search->nearest = own;
        }
        return;
    }
    copy3(local, point);
    if (shape->kind == CT_SHAPE_TRANSFORM) {
        to_child(shape, point, local);
        scale *= shape->radius[0];
    }
    for (int i = 0; i < 2; i++)
        if (shape->child[i]) search_size(shape->child[i], local, scale, own, search);
}

double ct_shape_size_at(const ct_shape* shape, const double point[3], double reach, double size) {
    size_search search = {reach, INFINITY, size, INFINITY};
    search_size(shape, point, 1, size, &search);
    return search.smallest < INFINITY ? search.smallest : search.nearest;
}

double ct_shape_smallest_size(const ct_shape* shape, double size) {
    if (shape->size > 0) size = fmin(size, shape->size);
    for (int i = 0; i < 2; i++)
        if (shape->child[i]) size = ct_shape_smallest_size(shape->child[i], size);
    return size;
}

bool ct_shape_has_sizes(const ct_shape* shape) {
    return shape &&
           (shape->size > 0 || ct_shape_has_sizes(shape->child[0]) || ct_shape_has_sizes(shape->child[1]));
}

static void collect_tags(const ct_shape* shape, ct_tag* tag, int capacity, int* count) {
    if (shape->tag) {
        int at = 0;
        while (at < *count && tag[at].id < shape->tag) at++;
        bool known = at < *count && tag[at].id == shape->tag;
        if (!known && *count < capacity) {
            memmove(tag + at + 1, tag + at, (size_t)(*count - at) * sizeof *tag);
            tag[at] = (ct_tag){.id = shape->tag};
            (*count)++;
        }
        if (at < *count && tag[at].id == shape->tag && shape->name[0])
            memcpy(tag[at].name, shape->name, sizeof tag[at].name);
    }
    for (int i = 0; i < 2; i++)
        if (shape->child[i]) collect_tags(shape->child[i], tag, capacity, count);
}

static int count_nodes(const ct_shape* shape) {
    return !shape ? 0 : 1 + count_nodes(shape->child[0]) + count_nodes(shape->child[1]);
}

int ct_shape_tags(const ct_shape* shape, ct_tag* tag, int capacity) {
    if (!tag) return count_nodes(shape);
    int count = 0;
    collect_tags(shape, tag, capacity, &count);
    return count;
}
