// The inside of a closed triangle surface as a shape.
//
// Corners at equal positions are taken as one node (STL repeats them), then every edge must be run through as
// often in one direction as in the other: that is what makes the winding number an integer off the surface.
// A surface whose normals all point inwards (negative enclosed volume) is turned inside out.
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/point3.h"
#include "shape/key_map.h"
#include "shape/shape.h"

static uint64_t position_key(const double x[3]) {
    uint64_t key = 0;
    for (int i = 0; i < 3; i++) {
        double value = x[i] + 0.0;  // -0 becomes 0
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = (key ^ bits) * 0x9e3779b97f4a7c15ULL;
        key ^= key >> 29;
    }
    return key == CT_KEY_NONE ? 0 : key;
}

// Replaces every node by the first one at the same position.
static bool weld(const double* x, const int* tri, int ntri, int* welded) {
    ct_key_map map = {0};
    bool done = true;
    for (int i = 0; i < 3 * ntri && done; i++) {
        const double* point = x + 3 * (size_t)tri[i];
        for (uint64_t key = position_key(point);; key = key + 1 == CT_KEY_NONE ? 0 : key + 1) {
            int* first = ct_key_map_at(&map, key);
            done = first != NULL;
            if (!done) break;
            if (*first < 0) *first = tri[i];
            welded[i] = *first;
            const double* known = x + 3 * (size_t)*first;
            if (known[0] == point[0] && known[1] == point[1] && known[2] == point[2]) break;
        }
    }
    ct_key_map_clear(&map);
    return done;
}

// Edges that are not run through equally often both ways; the first of them and its triangle.
static ct_status unmatched_edges(const int* tri, int ntri, int* count, int* triangle, int edge[2]) {
    ct_key_map map = {0};
    ct_status status = CT_OK;
    // Balance of each edge + ntri, so that it stays non-negative.
    for (int i = 0; i < 3 * ntri && status == CT_OK; i++) {
        int a = tri[i], b = tri[i - i % 3 + (i + 1) % 3];
        if (a == b) continue;
        int* balance = ct_key_map_at(&map, ct_key_pair(a, b));
        if (!balance) status = CT_OUT_OF_MEMORY;
        else *balance = (*balance < 0 ? ntri : *balance) + (a < b ? 1 : -1);
    }
    *count = 0;
    for (int i = 0; i < 3 * ntri && status == CT_OK; i++) {
        int a = tri[i], b = tri[i - i % 3 + (i + 1) % 3];
        int balance = a == b ? ntri : ct_key_map_find(&map, ct_key_pair(a, b));
        // An unbalanced edge is counted where it is met first, then settled.
        if (balance == ntri) continue;
        if ((*count)++ == 0) {
            *triangle = i / 3;
            edge[0] = a;
            edge[1] = b;
        }
        *ct_key_map_at(&map, ct_key_pair(a, b)) = ntri;
    }
    ct_key_map_clear(&map);
    return status;
}

static ct_status require_closed(const double* x, const int* tri, int ntri, ct_error* error) {
    int count, triangle = 0, edge[2] = {0, 0};
    ct_status status = unmatched_edges(tri, ntri, &count, &triangle, edge);
    if (status != CT_OK || count == 0) return status;
    if (error) error->element = triangle;
    const double *a = x + 3 * (size_t)edge[0], *b = x + 3 * (size_t)edge[1];
    return ct_fail(
        error, CT_BAD_MESH,
        "the surface is not closed: %d boundary edges (or edges whose two triangles disagree in "
        "orientation), "
        "the first between nodes %d (%g %g %g) and %d (%g %g %g) of triangle %d; close the hole or make the "
        "orientation consistent",
        count, edge[0], a[0], a[1], a[2], edge[1], b[0], b[1], b[2], triangle);
}

static double enclosed_volume(const double* x, const int* tri, int ntri) {
    double volume = 0;
    const double* origin = x + 3 * (size_t)tri[0];
    for (int t = 0; t < ntri; t++)
        volume += tet_volume6(origin, x + 3 * (size_t)tri[3 * t], x + 3 * (size_t)tri[3 * t + 1],
                              x + 3 * (size_t)tri[3 * t + 2]);
    return volume / 6;
}

static ct_status build_surface(ct_shape** out, const double* x, int* tri, int ntri, ct_error* error) {
    if (!weld(x, tri, ntri, tri)) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = require_closed(x, tri, ntri, error);
    if (status != CT_OK) return status;
    double volume = enclosed_volume(x, tri, ntri);
    if (volume == 0) return ct_fail(error, CT_BAD_MESH, "the surface encloses no volume");
    for (int t = 0; t < ntri && volume < 0; t++) {
        int saved = tri[3 * t];
        tri[3 * t] = tri[3 * t + 1];
        tri[3 * t + 1] = saved;
    }
    ct_shape* shape = ct_alloc(1, sizeof *shape);
    status = shape ? ct_winding_create(&shape->winding, x, tri, ntri) : CT_OUT_OF_MEMORY;
    if (status != CT_OK) {
        ct_shape_free(shape);
        return ct_fail(error, status, "%s", ct_status_text(status));
    }
    shape->kind = CT_SHAPE_SURFACE;
    ct_winding_bounds(shape->winding, shape->lower, shape->upper);
    *out = shape;
    return CT_OK;
}

ct_status ct_shape_surface(ct_shape** out, const ct_mesh* surface, ct_error* error) {
    CT_NEED(error, out, surface);
    *out = NULL;
    ct_error_clear(error);
    int* tri = NULL;
    int ntri = surface->ntri;
    if (ntri > 0) {
        tri = ct_duplicate(surface->tri, 3 * (size_t)ntri, sizeof(int));
    } else if (surface->ntet > 0) {
        ct_status status = ct_mesh_surface(surface, &tri, &ntri, error);
        if (status != CT_OK) return status;
    } else {
        return ct_fail(error, CT_BAD_MESH, "the surface has no triangles");
    }
    ct_status status = tri ? build_surface(out, surface->x, tri, ntri, error)
                           : ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_free(tri);
    return status;
}
