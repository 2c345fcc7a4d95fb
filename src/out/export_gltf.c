// glTF 2.0 in one file (.glb): a mesh for each part, each frame after the first a morph target of it, and an
// animation whose weights lead from one to the next.
//
//     x(t) = x_0 + sum_k w_k(t) (x_k - x_0),   w_k(t_j) = 1 for k = j, 0 otherwise; linear in between.
//
// The file: 12 bytes, the JSON chunk, the binary chunk with indices, times, weights, positions and normals.
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "out/cache.h"
#include "out/page_bytes.h"

enum { FLOAT = 5126, UNSIGNED = 5125, VERTICES = 34962, INDICES = 34963 };

typedef struct gltf {
    const ct_cache* c;
    ct_page_bytes bin;
    json_t *accessors, *views, *meshes, *nodes, *materials, *channels;
    bool failed;
} gltf;

static int append(gltf* g, json_t* array, json_t* object) {
    g->failed |= !object || json_array_append_new(array, object) != 0;
    return (int)json_array_size(array) - 1;
}

// An accessor over the last `bytes` of the binary chunk, with a view of its own.
static int add_accessor(gltf* g, size_t bytes, int count, int component, const char* type, int target) {
    json_t* view = json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)(g->bin.size - bytes),
                             "byteLength", (json_int_t)bytes);
    if (target && view) json_object_set_new(view, "target", json_integer(target));
    const int which = append(g, g->views, view);
    return append(g, g->accessors,
                  json_pack("{s:i, s:i, s:i, s:s}", "bufferView", which, "componentType", component, "count",
                            count, "type", type));
}

static void add_bounds(gltf* g, int accessor, const float* v, int count, int width) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    json_t *min = json_array(), *max = json_array(), *object = json_array_get(g->accessors, (size_t)accessor);
    for (int i = 0; i < width * count; i++) {
        low[i % width] = fmin(low[i % width], (double)v[i]);
        high[i % width] = fmax(high[i % width], (double)v[i]);
    }
    for (int a = 0; a < width; a++) {
        json_array_append_new(min, json_real(low[a]));
        json_array_append_new(max, json_real(high[a]));
    }
    g->failed |= json_object_set_new(object, "min", min) != 0 || json_object_set_new(object, "max", max) != 0;
}

// values - base, or values alone; not a number becomes 0.
static int add_vectors(gltf* g, const float* values, const float* base, int count, bool bounds, int target) {
    const size_t bytes = 3 * (size_t)count * sizeof(float);
    float* out = ct_page_bytes_extend(&g->bin, bytes);
    if (!out) return g->failed = true, 0;
    for (int i = 0; i < 3 * count; i++) {
        const float v = base ? values[i] - base[i] : values[i];
        out[i] = isfinite(v) ? v : 0;
    }
    const int accessor = add_accessor(g, bytes, count, FLOAT, "VEC3", target);
    if (bounds) add_bounds(g, accessor, out, count, 3);
    return accessor;
}

static json_t* morph_targets(gltf* g, const ct_cache_part* part) {
    const ct_cache* c = g->c;
    json_t* list = json_array();
    for (int k = 1; k < c->nframe; k++) {
        const int x = add_vectors(g, ct_cache_of(c, c->x, k, part), ct_cache_of(c, c->x, 0, part),
                                  part->nvert, true, VERTICES),
                  n = add_vectors(g, ct_cache_of(c, c->normal, k, part), ct_cache_of(c, c->normal, 0, part),
                                  part->nvert, false, VERTICES);
        append(g, list, json_pack("{s:i, s:i}", "POSITION", x, "NORMAL", n));
    }
    return list;
}

static json_t* zeros(int count) {
    json_t* list = json_array();
    for (int k = 0; k < count; k++) json_array_append_new(list, json_integer(0));
    return list;
}

static void add_part(gltf* g, const ct_cache_part* part) {
    const ct_cache* c = g->c;
    const size_t bytes = 3 * (size_t)part->ntri * sizeof(int);
    ct_page_bytes_add(&g->bin, c->tri + 3 * part->first_tri, bytes);
    const int index = add_accessor(g, bytes, 3 * part->ntri, UNSIGNED, "SCALAR", INDICES);
    const int x = add_vectors(g, ct_cache_of(c, c->x, 0, part), NULL, part->nvert, true, VERTICES);
    const int n = add_vectors(g, ct_cache_of(c, c->normal, 0, part), NULL, part->nvert, false, VERTICES);
    const int material =
        append(g, g->materials,
               json_pack("{s:s, s:b, s:{s:[f,f,f,f], s:f, s:f}}", "name", part->name, "doubleSided",
                         part->sheet, "pbrMetallicRoughness", "baseColorFactor", part->color[0],
                         part->color[1], part->color[2], 1.0, "metallicFactor", 0.0, "roughnessFactor", 0.6));
    json_t* primitive = json_pack("{s:{s:i, s:i}, s:i, s:i}", "attributes", "POSITION", x, "NORMAL", n,
                                  "indices", index, "material", material);
    if (part->moves && primitive) json_object_set_new(primitive, "targets", morph_targets(g, part));
    json_t* mesh = json_pack("{s:s, s:[o]}", "name", part->name, "primitives", primitive);
    if (part->moves && mesh) json_object_set_new(mesh, "weights", zeros(c->nframe - 1));
    const int which = append(g, g->meshes, mesh);
    const int node = append(g, g->nodes, json_pack("{s:s, s:i}", "name", part->name, "mesh", which));
    if (!part->moves) return;
    append(g, g->channels,
           json_pack("{s:i, s:{s:i, s:s}}", "sampler", 0, "target", "node", node, "path", "weights"));
}

// Times and weights, which all parts share: accessors 0 and 1.
static void add_clock(gltf* g) {
    const int n = g->c->nframe;
    if (n < 2) return;
    float* time = ct_page_bytes_extend(&g->bin, (size_t)n * sizeof(float));
    if (!time) return (void)(g->failed = true);
    for (int k = 0; k < n; k++) time[k] = (float)(g->c->time[k] - g->c->time[0]);
    add_bounds(g, add_accessor(g, (size_t)n * sizeof(float), n, FLOAT, "SCALAR", 0), time, n, 1);
    const size_t count = (size_t)n * (size_t)(n - 1);
    float* weight = ct_page_bytes_extend(&g->bin, count * sizeof(float));
    if (!weight) return (void)(g->failed = true);
    for (size_t i = 0; i < count; i++) weight[i] = i % (size_t)(n - 1) + 1 == i / (size_t)(n - 1);
    add_accessor(g, count * sizeof(float), (int)count, FLOAT, "SCALAR", 0);
}

// glTF has y up.
static json_t* root(const gltf* g, const char* title) {
    static const double turn[3][4] = {{0, 0, 0.70710678118654752, 0.70710678118654752},
                                      {0, 0, 0, 1},
                                      {-0.70710678118654752, 0, 0, 0.70710678118654752}};
    const double* q = turn[g->c->up];
    json_t* children = json_array();
    for (size_t k = 0; k < json_array_size(g->nodes); k++)
        json_array_append_new(children, json_integer((json_int_t)k));
    return json_pack("{s:s, s:o, s:[f,f,f,f]}", "name", *title ? title : "scene", "children", children,
                     "rotation", q[0], q[1], q[2], q[3]);
}

static char* describe(gltf* g, const char* title) {
    const int top = append(g, g->nodes, root(g, title));
    json_t* document =
        json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}], s:O, s:O, s:O, s:O, s:O, s:[{s:I}]}", "asset", "version",
                  "2.0", "generator", "Cuttle", "scene", 0, "scenes", "nodes", top, "nodes", g->nodes,
                  "meshes", g->meshes, "materials", g->materials, "accessors", g->accessors, "bufferViews",
                  g->views, "buffers", "byteLength", (json_int_t)g->bin.size);
    if (document && json_array_size(g->channels))
        json_object_set_new(document, "animations",
                            json_pack("[{s:s, s:O, s:[{s:i, s:i, s:s}]}]", "name", "motion", "channels",
                                      g->channels, "samplers", "input", 0, "output", 1, "interpolation",
                                      "LINEAR"));
    char* text = document && !g->failed ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(document);
    return text;
}

static ct_status write_file(const gltf* g, const char* text, const char* path, ct_error* error) {
    const size_t length = strlen(text), padded = (length + 3) / 4 * 4, bin = g->bin.size;
    if (28 + padded + bin > UINT32_MAX)
        return ct_fail_at(error, CT_BAD_ARGUMENT, path, 0,
                          "the motion is too long for one .glb file, which ends at 4 GB: take fewer frames");
    const uint32_t head[5] = {0x46546c67, 2, (uint32_t)(28 + padded + bin), (uint32_t)padded, 0x4e4f534a},
                   second[2] = {(uint32_t)bin, 0x004e4942};
    FILE* stream = fopen(path, "wb");
    if (!stream) return ct_fail_at(error, CT_IO, path, 0, "the file cannot be written: %s", strerror(errno));
    fwrite(head, 1, sizeof head, stream);
    fwrite(text, 1, length, stream);
    for (size_t k = length; k < padded; k++) fputc(' ', stream);
    fwrite(second, 1, sizeof second, stream);
    fwrite(g->bin.data, 1, bin, stream);
    const bool good = !ferror(stream);
    if (fclose(stream) == 0 && good) return CT_OK;
    return ct_fail_at(error, CT_IO, path, 0, "writing failed: is the disk full?");
}

ct_status ct_export_gltf(const ct_cache* cache, const char* path, const char* title, ct_error* error) {
    gltf g = {.c = cache,
              .accessors = json_array(),
              .views = json_array(),
              .meshes = json_array(),
              .nodes = json_array(),
              .materials = json_array(),
              .channels = json_array()};
    add_clock(&g);
    for (int p = 0; p < cache->npart; p++) add_part(&g, &cache->part[p]);
    g.failed |= g.bin.failed;
    char* text = describe(&g, title);
    ct_status status =
        text ? write_file(&g, text, path, error) : ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    free(text);
    json_t* own[] = {g.accessors, g.views, g.meshes, g.nodes, g.materials, g.channels};
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++) json_decref(own[k]);
    ct_page_bytes_free(&g.bin);
    return status;
}
