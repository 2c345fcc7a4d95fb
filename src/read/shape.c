// Reading shapes from JSON and files.
//
// A shape is an object with one key that says its kind and, beside it, what any shape may have:
//   {"union": [{"sphere": {"center": [0, 0, 0], "radius": 1}, "tag": "head"}, ...], "smooth": 0.1, "scale":
//   2}
// Tag names are numbered 1, 2, ... in the order in which they are met, a combination before its operands.
#include "read/shape.h"

#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "text/json.h"

enum { MOST_GIGABYTES = 1 };

typedef struct tag_names {
    const char** name;  // borrowed from the JSON
    size_t count, capacity;
} tag_names;

typedef struct shape_reader {
    const char* directory;
    tag_names tags;
    ct_error why;  // of constructors
} shape_reader;

static ct_shape* read_any(shape_reader* r, ct_json at);

// ---------------------------------------------------------------------------------------------
// Primitives: each reads the value of its key; NULL when the reader has failed

#define KEYS(...) ((const char* const[]){__VA_ARGS__, NULL})

// A constructor's result: NULL means what r->why says.
static ct_shape* made(shape_reader* r, ct_json at, ct_shape* shape) {
    if (!shape) ct_json_relay(at, r->why.code, &r->why);
    return shape;
}

static void read_positive_vector(ct_json at, double out[3]) {
    ct_json_vector(at, out);
    if (at.value && !at.reader->status && !(out[0] > 0 && out[1] > 0 && out[2] > 0))
        ct_json_fail(at, "must have three numbers above 0");
}

static ct_shape* read_sphere(shape_reader* r, ct_json at) {
    double center[3] = {0}, radius = 0;
    ct_json_keys(at, KEYS("center", "radius"));
    ct_json_vector(ct_json_member(at, "center"), center);
    ct_json_positive(ct_json_required(at, "radius"), &radius);
    return at.reader->status ? NULL : made(r, at, ct_shape_sphere(center, radius, &r->why));
}

static ct_shape* read_ellipsoid(shape_reader* r, ct_json at) {
    double center[3] = {0}, radii[3] = {0};
    ct_json_keys(at, KEYS("center", "radii"));
    ct_json_vector(ct_json_member(at, "center"), center);
    read_positive_vector(ct_json_required(at, "radii"), radii);
    return at.reader->status ? NULL : made(r, at, ct_shape_ellipsoid(center, radii, &r->why));
}

static ct_shape* read_box(shape_reader* r, ct_json at) {
    double center[3] = {0}, half[3] = {0}, rounding = 0;
    ct_json_keys(at, KEYS("center", "half", "rounding"));
    ct_json_vector(ct_json_member(at, "center"), center);
    read_positive_vector(ct_json_required(at, "half"), half);
    ct_json_at_least(ct_json_member(at, "rounding"), 0, &rounding);
    if (!at.reader->status && (rounding > half[0] || rounding > half[1] || rounding > half[2]))
        ct_json_fail(ct_json_member(at, "rounding"), "is %g: it must not exceed any of \"half\"", rounding);
    return at.reader->status ? NULL : made(r, at, ct_shape_box(center, half, rounding, &r->why));
}

static ct_shape* read_capsule(shape_reader* r, ct_json at) {
    double a[3] = {0}, b[3] = {0}, radii[2] = {0};
    ct_json_keys(at, KEYS("a", "b", "radius", "radii"));
    ct_json_vector(ct_json_required(at, "a"), a);
    ct_json_vector(ct_json_required(at, "b"), b);
    if (ct_json_has(at, "radius") && ct_json_has(at, "radii"))
        ct_json_fail(at, "has both \"radius\" and \"radii\": keep one of them");
    if (ct_json_has(at, "radii")) {
        ct_json list = ct_json_member(at, "radii");
        ct_json_numbers(list, radii, 2);
        for (size_t i = 0; i < 2 && !at.reader->status; i++)
            ct_json_at_least(ct_json_item(list, i), 0, &radii[i]);
        if (!at.reader->status && !(radii[0] > 0 || radii[1] > 0))
            ct_json_fail(list, "must have a number above 0");
    } else {
        ct_json_positive(ct_json_required(at, "radius"), &radii[0]);
        radii[1] = radii[0];
    }
    return at.reader->status ? NULL : made(r, at, ct_shape_capsule(a, b, radii[0], radii[1], &r->why));
}

static ct_shape* read_cylinder(shape_reader* r, ct_json at) {
    double a[3] = {0}, b[3] = {0}, radius = 0;
    ct_json_keys(at, KEYS("a", "b", "radius"));
    ct_json_vector(ct_json_required(at, "a"), a);
    ct_json_vector(ct_json_required(at, "b"), b);
    ct_json_positive(ct_json_required(at, "radius"), &radius);
    if (!at.reader->status && !memcmp(a, b, sizeof a)) ct_json_fail(at, "has equal ends \"a\" and \"b\"");
    return at.reader->status ? NULL : made(r, at, ct_shape_cylinder(a, b, radius, &r->why));
}

static ct_shape* read_torus(shape_reader* r, ct_json at) {
    double center[3] = {0}, axis[3] = {0, 0, 1}, major = 0, minor = 0;
    ct_json_keys(at, KEYS("center", "axis", "major", "minor"));
    ct_json_vector(ct_json_member(at, "center"), center);
    ct_json_vector(ct_json_member(at, "axis"), axis);
    ct_json_positive(ct_json_required(at, "major"), &major);
    ct_json_positive(ct_json_required(at, "minor"), &minor);
    if (!at.reader->status && axis[0] == 0 && axis[1] == 0 && axis[2] == 0)
        ct_json_fail(ct_json_member(at, "axis"), "has no direction");
    return at.reader->status ? NULL : made(r, at, ct_shape_torus(center, axis, major, minor, &r->why));
}

static ct_shape* read_sweep(shape_reader* r, ct_json at) {
    ct_json_keys(at, KEYS("points", "radii"));
    ct_json points = ct_json_required(at, "points"), radii = ct_json_required(at, "radii");
    size_t count = ct_json_length(points);
    if (!at.reader->status && (count < 2 || count > 100000))
        ct_json_fail(points, "has %zu points: it needs at least 2", count);
    if (at.reader->status) return NULL;
    double* numbers = ct_alloc(4 * count, sizeof(double));
    if (!numbers) {
        ct_json_out_of_memory(at);
        return NULL;
    }
    ct_json_numbers(radii, numbers + 3 * count, count);
    for (size_t i = 0; i < count && !at.reader->status; i++) {
        ct_json_vector(ct_json_item(points, i), numbers + 3 * i);
        ct_json_positive(ct_json_item(radii, i), &numbers[3 * count + i]);
    }
    ct_shape* shape = at.reader->status
                          ? NULL
                          : made(r, at, ct_shape_sweep(numbers, numbers + 3 * count, (int)count, &r->why));
    ct_free(numbers);
    return shape;
}

static ct_shape* read_surface(shape_reader* r, ct_json at) {
    const char* file = NULL;
    ct_json_text(at, &file);
    if (at.reader->status) return NULL;
    char* path = ct_json_file_path(r->directory, file);
    if (!path) {
        ct_json_out_of_memory(at);
        return NULL;
    }
    ct_mesh* mesh = NULL;
    ct_shape* shape = NULL;
    ct_error inner;
    ct_error_clear(&inner);
    ct_json_relay(at, ct_mesh_load(&mesh, path, CT_MESH_AUTO, &inner), &inner);
    if (mesh) ct_json_relay(at, ct_shape_surface(&shape, mesh, &inner), &inner);
    ct_mesh_free(mesh);
    ct_free(path);
    return shape;
}

// ---------------------------------------------------------------------------------------------
// Combinations

typedef ct_shape* (*combine_function)(ct_shape* a, ct_shape* b, double smooth, ct_error* error);

// Operands [first, first + count) as a balanced tree, so that long lists do not make deep ones.
static ct_shape* read_list(shape_reader* r, ct_json list, size_t first, size_t count, double smooth,
                           combine_function combine) {
    if (count == 1) return read_any(r, ct_json_item(list, first));
    ct_shape* left = read_list(r, list, first, count / 2, smooth, combine);
    ct_shape* right = left ? read_list(r, list, first + count / 2, count - count / 2, smooth, combine) : NULL;
    if (!right) {
        ct_shape_free(left);
        return NULL;
    }
    return made(r, list, combine(left, right, smooth, &r->why));
}

static ct_shape* read_combination(shape_reader* r, ct_json object, const char* kind) {
    ct_json list = ct_json_member(object, kind);
    bool difference = !strcmp(kind, "difference");
    size_t count = ct_json_length(list);
    double smooth = 0;
    ct_json_at_least(ct_json_member(object, "smooth"), 0, &smooth);
    if (!object.reader->status && count < (difference ? 2u : 1u))
        ct_json_fail(list, "has %zu shapes: it needs at least %d", count, difference ? 2 : 1);
    if (object.reader->status) return NULL;
    if (!strcmp(kind, "intersection")) return read_list(r, list, 0, count, smooth, ct_shape_intersection);
    if (!difference) return read_list(r, list, 0, count, smooth, ct_shape_union);
    // All but the first are cut away from it.
    ct_shape* base = read_list(r, list, 0, 1, smooth, ct_shape_union);
    ct_shape* cut = base ? read_list(r, list, 1, count - 1, smooth, ct_shape_union) : NULL;
    if (!cut) {
        ct_shape_free(base);
        return NULL;
    }
    return made(r, list, ct_shape_difference(base, cut, smooth, &r->why));
}

// ---------------------------------------------------------------------------------------------
// Any shape

static const char* const kinds[] = {"sphere", "ellipsoid", "box",   "capsule",      "cylinder",   "torus",
                                    "sweep",  "surface",   "union", "intersection", "difference", NULL};
static ct_shape* (*const readers[])(shape_reader*, ct_json) = {
    read_sphere, read_ellipsoid, read_box, read_capsule, read_cylinder, read_torus, read_sweep, read_surface};
enum { NPRIMITIVE = 8 };

// Number of the tag's name, given on first sight; 0 when memory has run out.
static int tag_number(shape_reader* r, ct_json at, const char* name) {
    for (size_t i = 0; i < r->tags.count; i++)
        if (!strcmp(r->tags.name[i], name)) return (int)i + 1;
    if (!ct_reserve((void**)&r->tags.name, &r->tags.capacity, r->tags.count + 1, sizeof *r->tags.name)) {
        ct_json_out_of_memory(at);
        return 0;
    }
    r->tags.name[r->tags.count] = name;
    return (int)++r->tags.count;
}

// Index of the one kind that the object has, -1 and a failure otherwise.
static int find_kind(ct_json at) {
    if (!ct_json_keys(at, KEYS("sphere", "ellipsoid", "box", "capsule", "cylinder", "torus", "sweep",
                               "surface", "union", "intersection", "difference", "smooth", "tag", "size",
                               "translate", "rotate", "scale")))
        return -1;
    int kind = -1, count = 0;
    for (int i = 0; kinds[i]; i++) {
        if (!ct_json_has(at, kinds[i])) continue;
        kind = i;
        count++;
    }
    if (count != 1)
        ct_json_fail(at,
                     "has %d kinds of shape: give exactly one of sphere, ellipsoid, box, capsule, cylinder, "
                     "torus, sweep, "
                     "surface, union, intersection, difference",
                     count);
    else if (kind < NPRIMITIVE && ct_json_has(at, "smooth"))
        ct_json_fail(ct_json_member(at, "smooth"), "belongs to a union, an intersection or a difference");
    return at.reader->status ? -1 : kind;
}

static ct_shape* read_any(shape_reader* r, ct_json at) {
    double translate[3] = {0, 0, 0}, rotate[4] = {1, 0, 0, 0}, scale = 1, size = 0;
    const char* tag = NULL;
    int kind = find_kind(at);
    ct_json_text(ct_json_member(at, "tag"), &tag);
    ct_json_positive(ct_json_member(at, "size"), &size);
    ct_json_vector(ct_json_member(at, "translate"), translate);
    ct_json_rotation(ct_json_member(at, "rotate"), rotate);
    ct_json_positive(ct_json_member(at, "scale"), &scale);
    if (tag && strlen(tag) >= sizeof((ct_tag*)0)->name)
        ct_json_fail(ct_json_member(at, "tag"), "is longer than 59 bytes");
    int number = tag && !at.reader->status ? tag_number(r, at, tag) : 0;
    if (kind < 0 || at.reader->status) return NULL;
    ct_shape* shape = kind < NPRIMITIVE ? readers[kind](r, ct_json_member(at, kinds[kind]))
                                        : read_combination(r, at, kinds[kind]);
    bool moved = ct_json_has(at, "translate") || ct_json_has(at, "rotate") || ct_json_has(at, "scale");
    if (shape && moved) shape = made(r, at, ct_shape_transform(shape, translate, rotate, scale, &r->why));
    if (shape && number) ct_shape_set_tag(shape, number, tag);
    if (shape && size > 0) ct_shape_set_size(shape, size);
    return shape;
}

ct_status ct_shape_from_json(ct_shape** out, const json_t* value, const char* directory,
                             const char* json_path, ct_error* error) {
    *out = NULL;
    ct_json_reader reader = {.error = error};
    shape_reader r = {.directory = directory};
    ct_json root = ct_json_root(&reader, value, json_path);
    ct_shape* shape = ct_json_is_object(root) ? read_any(&r, root) : NULL;
    if (!value) ct_json_fail(root, "is missing");
    ct_free(r.tags.name);
    if (reader.status) {
        ct_shape_free(shape);
        return reader.status;
    }
    *out = shape;
    return CT_OK;
}

// ---------------------------------------------------------------------------------------------
// Files

static char* directory_of(const char* path) {
    const char* slash = strrchr(path, '/');
    char* directory = ct_duplicate_text(slash ? path : "");
    if (directory && slash) directory[slash == path ? 1 : slash - path] = 0;
    return directory;
}

static ct_status parse_shape(ct_shape** out, const char* path, const char* text, size_t size,
                             ct_error* error) {
    json_t* root;
    ct_status status = ct_json_parse(&root, text, size, error);
    if (status && error) snprintf(error->file, sizeof error->file, "%s", path);
    if (status) return status;
    char* directory = directory_of(path);
    status = directory ? ct_shape_from_json(out, root, directory, "", error)
                       : ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    // A mistake in the shape itself is in this file; one in a surface file has named that already.
    if (status != CT_OK && error && !error->file[0]) {
        snprintf(error->file, sizeof error->file, "%s", path);
        error->line = ct_json_line(text, size, error->path);
    }
    ct_free(directory);
    json_decref(root);
    return status;
}

static ct_status load_json(ct_shape** out, const char* path, ct_error* error) {
    size_t size = 0;
    ct_error inner;
    ct_error_clear(&inner);
    char* text;
    ct_status status = ct_file_read(path, MOST_GIGABYTES, &text, &size, &inner);
    if (status == CT_OK) status = parse_shape(out, path, text, size, &inner);
    ct_free(text);
    if (status != CT_OK && error) *error = inner;
    return status;
}

ct_status ct_shape_load(ct_shape** out, const char* path, ct_error* error) {
    CT_NEED(error, out, path);
    *out = NULL;
    ct_error_clear(error);
    const char* dot = strrchr(path, '.');
    if (dot && !strcasecmp(dot, ".json")) return load_json(out, path, error);
    ct_mesh* mesh = NULL;
    ct_status status = ct_mesh_load(&mesh, path, CT_MESH_AUTO, error);
    if (status != CT_OK) return status;
    status = ct_shape_surface(out, mesh, error);
    ct_mesh_free(mesh);
    if (status != CT_OK && error && !error->file[0]) snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}
