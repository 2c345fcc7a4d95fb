// The surface to be drawn; see skin.h.
#include "out/skin.h"

#include <math.h>
#include <string.h>

#define CREASE_COSINE 0.766  // 40 degrees

static void face_normal(double out[3], const double* x, const int* tri) {
    const double *a = x + 3 * tri[0], *b = x + 3 * tri[1], *c = x + 3 * tri[2];
    double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    out[0] = u[1] * v[2] - u[2] * v[1];
    out[1] = u[2] * v[0] - u[0] * v[2];
    out[2] = u[0] * v[1] - u[1] * v[0];
    double length = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    for (int k = 0; k < 3; k++) out[k] = length > 0 ? out[k] / length : 0;
}

// Angle at corner k of a triangle.
static double corner_angle(const double* x, const int* tri, int k) {
    const double *a = x + 3 * tri[k], *b = x + 3 * tri[(k + 1) % 3], *c = x + 3 * tri[(k + 2) % 3];
    double uu = 0, vv = 0, uv = 0;
    for (int j = 0; j < 3; j++) {
        uu += (b[j] - a[j]) * (b[j] - a[j]);
        vv += (c[j] - a[j]) * (c[j] - a[j]);
        uv += (b[j] - a[j]) * (c[j] - a[j]);
    }
    double scale = sqrt(uu * vv);
    return scale > 0 ? acos(fmax(-1, fmin(1, uv / scale))) : 0;
}

// Corners around each node: the corners of node i are list[start[i] .. start[i+1]).
static void corners_by_node(const int* tri, int ncorner, int nvert, int* start, int* list) {
    for (int c = 0; c < ncorner; c++) start[tri[c] + 1]++;
    for (int i = 0; i < nvert; i++) start[i + 1] += start[i];
    for (int c = 0; c < ncorner; c++) list[start[tri[c]]++] = c;
    memmove(start + 1, start, (size_t)nvert * sizeof(int));
    start[0] = 0;
}

static void smooth_normals(ct_skin* skin, const double* now, const double* rest, const float* angle,
                           const int* start, const int* list) {
    for (int c = 0; c < 3 * skin->ntri; c++) {
        int node = skin->tri[c], face = c / 3;
        double sum[3] = {0, 0, 0};
        for (int i = start[node]; i < start[node + 1]; i++) {
            const double *mine = rest + 3 * face, *other = rest + 3 * (list[i] / 3),
                         *normal = now + 3 * (list[i] / 3);
            if (mine[0] * other[0] + mine[1] * other[1] + mine[2] * other[2] < CREASE_COSINE) continue;
            for (int k = 0; k < 3; k++) sum[k] += (double)angle[list[i]] * normal[k];
        }
        double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        for (int k = 0; k < 3; k++)
            skin->normal[3 * c + k] = (float)(length > 0 ? sum[k] / length : now[3 * face + k]);
    }
}

// The surface without what is hidden: triangles and their owners.
static int visible(const ct_trajectory* file, int* tri, int* owner) {
    int count = 0, nbody = file->info.nbody;
    for (int t = 0; t < file->info.nsurface; t++) {
        int who = file->surface_owner[t];
        if (who >= nbody && file->obstacle[who - nbody].hidden) continue;
        owner[count] = who;
        memcpy(tri + 3 * count++, file->surface + 3 * t, 3 * sizeof(int));
    }
    return count;
}

void ct_skin_create(ct_skin* skin, ct_arena* arena, const ct_trajectory* file, const double* x) {
    size_t most = (size_t)file->info.nsurface, nvert = (size_t)file->info.nvert;
    *skin =
        (ct_skin){.nvert = file->info.nvert, .x = x, .far = file->obstacle_far, .nbody = file->info.nbody};
    int* tri = ct_arena_alloc(arena, 3 * most, sizeof(int));
    skin->normal = ct_arena_alloc(arena, 9 * most, sizeof(float));
    skin->body = ct_arena_alloc(arena, most, sizeof(int));
    double* now = ct_arena_alloc(arena, 3 * most, sizeof(double));
    double* rest = ct_arena_alloc(arena, 3 * most, sizeof(double));
    float* angle = ct_arena_alloc(arena, 3 * most, sizeof(float));
    int* start = ct_arena_alloc(arena, nvert + 2, sizeof(int));
    int* list = ct_arena_alloc(arena, 3 * most, sizeof(int));
    if (arena->failed) return;
    skin->ntri = skin->nflesh = skin->nbone = visible(file, tri, skin->body);
    skin->tri = tri;
    corners_by_node(skin->tri, 3 * skin->ntri, file->info.nvert, start, list);
    for (int t = 0; t < skin->ntri; t++) {
        face_normal(now + 3 * t, x, skin->tri + 3 * t);
        face_normal(rest + 3 * t, file->rest, skin->tri + 3 * t);
        for (int k = 0; k < 3; k++) angle[3 * t + k] = (float)corner_angle(x, skin->tri + 3 * t, k);
    }
    smooth_normals(skin, now, rest, angle, start, list);
}

void ct_skin_strip(ct_skin* skin) {
    int count = 0;
    for (int t = 0; t < skin->ntri; t++) {
        if (skin->body[t] < skin->nbody) continue;
        skin->body[count] = skin->body[t];
        memmove(skin->tri + 3 * count, skin->tri + 3 * t, 3 * sizeof(int));
        memmove(skin->normal + 9 * count, skin->normal + 9 * t, 9 * sizeof(float));
        count++;
    }
    skin->ntri = skin->nflesh = skin->nbone = count;
}

static void lengths(const double* vectors, int count, double* values) {
    for (int i = 0; i < count; i++) {
        const double* v = vectors + 3 * i;
        values[i] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
}

// With element_values: their means over the elements at a node. Nodes of none, of links' own masses and
// obstacles, have no value.
static ct_status node_means(const ct_trajectory* file, const double* element_values, double* values) {
    int* count = ct_alloc((size_t)file->info.nvert, sizeof *count);
    if (!count) return CT_OUT_OF_MEMORY;
    if (element_values) memset(values, 0, (size_t)file->info.nvert * sizeof(double));
    for (int c = 0; c < file->info.ntet + file->info.ntri; c++) {
        int node[10];
        const int nnode =
            ct_trajectory_cell(file->tet, file->mid, file->info.ntet, file->tri, (size_t)c, node);
        for (int k = 0; k < nnode; k++) {
            if (element_values) values[node[k]] += element_values[c];
            count[node[k]]++;
        }
    }
    for (int i = 0; i < file->info.nvert; i++) {
        if (!count[i]) values[i] = NAN;
        else if (element_values) values[i] /= count[i];
    }
    ct_free(count);
    return CT_OK;
}

ct_status ct_skin_node_values(const ct_trajectory* file, const double* field, bool per_element,
                              double* values) {
    if (per_element) return node_means(file, field, values);
    lengths(field, file->info.nvert, values);
    return node_means(file, NULL, values);
}

ct_status ct_skin_values(ct_trajectory* file, int frame, const char* name, double* values, ct_error* error) {
    const double* field;
    int count;
    bool per_tet;
    ct_status status = ct_trajectory_read_field(file, frame, name, &field, &count, &per_tet, error);
    if (status) return status;
    return ct_skin_node_values(file, field, per_tet, values);
}
