// Motions as vertex caches; see cache.h. The frames are read twice: first to find which corners of triangles
// have the same normal in all of them and so share a vertex, then for the numbers.
#include "out/cache.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "out/bone.h"
#include "out/color.h"
#include "out/obstacle.h"
#include "out/picture.h"

typedef struct build {
    ct_trajectory* file;
    ct_arena arena;  // of what all frames share
    bool bones;
    ct_bone_list bone;
    double size;     // m, of the scene
    int ntri;        // of the skin, planes left out
    int* tri;        // 3 ntri, of the first frame
    int* body;       // ntri
    uint64_t* hash;  // 3 ntri, of the corners' normals in all frames
    int* order;      // 3 ntri, corners by part, node and normal
    int* corner;     // nvert: a corner that has the vertex
} build;

// ---- a frame ----

static ct_status dress(build* b, ct_arena* arena, int frame, ct_skin* skin, double* time, ct_error* error) {
    ct_trajectory* file = b->file;
    const ct_trajectory_info* info = &file->info;
    double* x = ct_arena_alloc(arena, 3 * (size_t)info->nvert, sizeof *x);
    double* poses = ct_arena_alloc(arena, 12 * (size_t)info->nlink, sizeof *poses);
    double* obstacles = ct_arena_alloc(arena, 6 * (size_t)info->nobstacle, sizeof *obstacles);
    const double* eyelets = NULL;
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = ct_trajectory_read_into(file, frame, x, NULL, time, NULL, error);
    if (!status && info->nlink) status = ct_trajectory_read_links_into(file, frame, NULL, poses, error);
    if (!status) status = ct_trajectory_read_obstacles_into(file, frame, obstacles, error);
    if (!status && info->ncable) status = ct_trajectory_read_cables(file, frame, &eyelets, error);
    if (status) return status;
    ct_skin_create(skin, arena, file, x);
    if (b->bones && info->nlink && !arena->failed) ct_bone_dress(skin, arena, &b->bone, file, poses);
    if (eyelets && !arena->failed) ct_bone_cables(skin, arena, file, eyelets, 0.004 * b->size);
    const ct_obstacle_look look = {.reach = b->size, .ground = -INFINITY};
    if (info->nobstacle && !arena->failed) ct_obstacle_dress(skin, arena, file, obstacles, &look);
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    while (skin->ntri > 0 && skin->body[skin->ntri - 1] <= CT_SKIN_PLANE) skin->ntri--;  // they come last
    return CT_OK;
}

// ---- which corners share a vertex ----

static bool remember(build* b, const ct_skin* skin) {
    const size_t n = (size_t)skin->ntri;
    b->ntri = skin->ntri;
    b->tri = ct_arena_alloc(&b->arena, 3 * n, sizeof(int));
    b->body = ct_arena_alloc(&b->arena, n, sizeof(int));
    b->hash = ct_arena_alloc(&b->arena, 3 * n, sizeof(uint64_t));
    if (b->arena.failed) return false;
    memcpy(b->tri, skin->tri, 3 * n * sizeof(int));
    memcpy(b->body, skin->body, n * sizeof(int));
    return true;
}

static ct_status look_at(build* b, int frame, bool first, ct_error* error) {
    ct_arena arena = {0};
    ct_skin skin;
    double time;
    ct_status status = dress(b, &arena, frame, &skin, &time, error);
    if (!status && first && !remember(b, &skin)) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status && (skin.ntri != b->ntri || memcmp(skin.tri, b->tri, 3 * (size_t)b->ntri * sizeof(int)) != 0))
        status = ct_fail_at(error, CT_BAD_ARGUMENT, b->file->path, 0,
                            "frame %d has other triangles than the one before: it cannot be in the same file",
                            frame);
    for (int c = 0; !status && c < 3 * b->ntri; c++) {
        uint32_t bits[3];
        memcpy(bits, skin.normal + 3 * c, sizeof bits);
        for (int k = 0; k < 3; k++) {
            b->hash[c] = (b->hash[c] ^ bits[k]) * 0xff51afd7ed558ccdu;
            b->hash[c] ^= b->hash[c] >> 32;
        }
    }
    ct_arena_free(&arena);
    return status;
}

static int compare_corners(const void* a, const void* c, void* user) {
    const build* b = user;
    const int i = *(const int*)a, j = *(const int*)c, p = b->body[i / 3], q = b->body[j / 3];
    if (p != q) return p < q ? 1 : -1;  // flesh and obstacles from the last on, then bones
    if (b->tri[i] != b->tri[j]) return b->tri[i] < b->tri[j] ? -1 : 1;
    if (b->hash[i] != b->hash[j]) return b->hash[i] < b->hash[j] ? -1 : 1;
    return i < j ? -1 : 1;
}

// Letters and digits of what it is called; with its number where another is called so.
static void name_part(ct_cache* cache, int number, const ct_trajectory* file, int body) {
    static const char* const kinds[] = {"bones", "joints", "rails", "cables"};
    const char* name = body < 0 ? kinds[-1 - body] : ct_trajectory_collider_name(file, body);
    char* out = cache->part[number].name;
    const size_t room = sizeof cache->part[number].name;
    snprintf(out, room, "%s%.60s", isalpha((unsigned char)*name) ? "" : "part_", name);
    for (char* at = out; *at; at++)
        if (!isalnum((unsigned char)*at)) *at = '_';
    for (int k = 0; k < number; k++)
        if (strcmp(cache->part[k].name, out) == 0)
            snprintf(out + strlen(out), room - strlen(out), "_%d", number), k = -1;
}

static void paint_part(ct_cache_part* part, const ct_trajectory* file, int body) {
    static const double bone[4][3] = {
        {0.97, 0.93, 0.82}, {0.80, 0.62, 0.38}, {0.62, 0.64, 0.68}, {0.13, 0.14, 0.17}};
    const int nbody = file->info.nbody;
    const double* color = body < 0       ? bone[-1 - body]
                          : body < nbody ? file->body_color + 3 * body
                                         : file->obstacle[body - nbody].color;
    for (int k = 0; k < 3; k++) part->color[k] = ct_color_linear(fmin(1, fmax(0, color[k])));
    for (int t = 0; t < file->info.ntri && !part->sheet; t++) part->sheet = file->tri_body[t] == body;
}

// Sorts corners into vertices, and triangles into parts. Planes are added behind: four vertices each.
static bool weld(build* b, ct_cache* cache, int nplane) {
    const int ncorner = 3 * b->ntri;
    int* vertex = ct_arena_alloc(&b->arena, (size_t)ncorner, sizeof *vertex);
    b->order = ct_arena_alloc(&b->arena, (size_t)ncorner, sizeof(int));
    b->corner = ct_arena_alloc(&b->arena, (size_t)ncorner, sizeof(int));
    if (b->arena.failed) return false;
    for (int c = 0; c < ncorner; c++) b->order[c] = c;
    qsort_r(b->order, (size_t)ncorner, sizeof(int), compare_corners, b);
    int npart = nplane, nvert = 0;
    for (int i = 0; i < ncorner; i++)
        npart += i == 0 || b->body[b->order[i] / 3] != b->body[b->order[i - 1] / 3];
    cache->ntri = b->ntri + 2 * nplane;
    cache->tri = ct_arena_alloc(&cache->arena, 3 * (size_t)cache->ntri, sizeof(int));
    cache->part = ct_arena_alloc(&cache->arena, (size_t)npart, sizeof *cache->part);
    if (cache->arena.failed) return false;
    ct_cache_part* part = cache->part - 1;
    for (int i = 0, before = -1; i < ncorner; before = b->order[i++]) {
        const int c = b->order[i], body = b->body[c / 3];
        const bool fresh = i == 0 || body != b->body[before / 3];
        if (fresh) {
            (++part)->first_vertex = nvert;
            name_part(cache, (int)(part - cache->part), b->file, body);
            paint_part(part, b->file, body);
        }
        if (fresh || b->tri[c] != b->tri[before] || b->hash[c] != b->hash[before]) b->corner[nvert++] = c;
        vertex[c] = nvert - 1 - part->first_vertex;
        part->nvert = nvert - part->first_vertex;
    }
    int t = 0;
    for (int p = 0; p <= (int)(part - cache->part); p++) {
        const int body = b->body[b->corner[cache->part[p].first_vertex] / 3];
        cache->part[p].first_tri = t;
        for (int s = 0; s < b->ntri; s++)
            if (b->body[s] == body) memcpy(cache->tri + 3 * t++, vertex + 3 * s, 3 * sizeof(int));
        cache->part[p].ntri = t - cache->part[p].first_tri;
    }
    cache->npart = (int)(part - cache->part) + 1;
    cache->nvert = nvert;
    return true;
}

// ---- planes ----

static bool is_plane(const ct_trajectory* file, int k) {
    return file->obstacle[k].kind == CT_OBSTACLE_PLANE && !file->obstacle[k].hidden;
}

static void add_planes(ct_cache* cache, const ct_trajectory* file) {
    static const int half[6] = {0, 1, 2, 0, 2, 3};
    for (int k = 0; k < file->info.nobstacle; k++) {
        if (!is_plane(file, k)) continue;
        ct_cache_part* part = &cache->part[cache->npart];
        const ct_cache_part* last = cache->npart ? part - 1 : NULL;
        *part = (ct_cache_part){.first_vertex = cache->nvert,
                                .nvert = 4,
                                .first_tri = last ? last->first_tri + last->ntri : 0,
                                .ntri = 2};
        name_part(cache, cache->npart++, file, file->info.nbody + k);
        paint_part(part, file, file->info.nbody + k);
        memcpy(cache->tri + 3 * part->first_tri, half, sizeof half);
        cache->nvert += 4;
    }
}

// A square about the point of the plane that is nearest to the scene's middle.
static void put_plane(const ct_trajectory* file, const double* pose, double reach, float* x, float* normal) {
    double middle[3], center[3], u[3], v[3];
    const double* n = pose + 3;
    const int axis = fabs(n[0]) < 0.7 ? 0 : 1;
    for (int a = 0; a < 3; a++) center[a] = 0.5 * (file->lower[a] + file->upper[a]);
    ct_obstacle_middle(pose, center, middle);
    double length = 0;
    for (int a = 0; a < 3; a++) u[a] = (a == axis) - n[axis] * n[a], length += u[a] * u[a];
    for (int a = 0; a < 3; a++) u[a] /= sqrt(length);
    for (int a = 0; a < 3; a++) v[a] = n[(a + 1) % 3] * u[(a + 2) % 3] - n[(a + 2) % 3] * u[(a + 1) % 3];
    for (int c = 0; c < 4; c++)
        for (int a = 0; a < 3; a++) {
            const double along = c == 1 || c == 2 ? reach : -reach, across = c >= 2 ? reach : -reach;
            x[3 * c + a] = (float)(middle[a] + along * u[a] + across * v[a]);
            normal[3 * c + a] = (float)n[a];
        }
}

// ---- numbers ----

static ct_status fill(build* b, ct_cache* cache, int k, int frame, ct_error* error) {
    ct_arena arena = {0};
    ct_skin skin;
    const double* poses = NULL;
    ct_status status = dress(b, &arena, frame, &skin, &cache->time[k], error);
    if (!status) status = ct_trajectory_read_obstacles(b->file, frame, &poses, error);
    float *x = cache->x + 3 * (size_t)k * (size_t)cache->nvert,
          *normal = cache->normal + 3 * (size_t)k * (size_t)cache->nvert;
    int first = cache->nvert;
    for (int i = 0; !status && i < b->file->info.nobstacle; i++) first -= 4 * is_plane(b->file, i);
    for (int i = 0; !status && i < first; i++) {
        const int c = b->corner[i];
        for (int a = 0; a < 3; a++) x[3 * i + a] = (float)skin.x[3 * skin.tri[c] + a];
        memcpy(normal + 3 * i, skin.normal + 3 * c, 3 * sizeof(float));
    }
    for (int i = 0; !status && i < b->file->info.nobstacle; i++) {
        if (!is_plane(b->file, i)) continue;
        put_plane(b->file, poses + 6 * i, 1.5 * b->size, x + 3 * first, normal + 3 * first);
        first += 4;
    }
    ct_arena_free(&arena);
    return status;
}

static void find_movers(ct_cache* cache) {
    for (int p = 0; p < cache->npart; p++) {
        ct_cache_part* part = &cache->part[p];
        const size_t size = 3 * (size_t)part->nvert * sizeof(float);
        for (int k = 1; k < cache->nframe && !part->moves; k++)
            part->moves = memcmp(ct_cache_of(cache, cache->x, k, part), ct_cache_of(cache, cache->x, 0, part),
                                 size) != 0;
    }
}

static ct_status make(build* b, ct_cache* cache, int first, int last, int stride, ct_error* error) {
    int nplane = 0;
    ct_status status = ct_picture_bounds(b->file, error);
    if (status) return status;
    for (int a = 0; a < 3; a++) b->size = fmax(b->size, b->file->upper[a] - b->file->lower[a]);
    ct_picture_bones(&b->bone, &b->arena, b->file);
    for (int k = 0; k < b->file->info.nobstacle; k++) nplane += is_plane(b->file, k);
    for (int f = first; !status && f <= last; f += stride) status = look_at(b, f, f == first, error);
    if (status) return status;
    *cache = (ct_cache){.nframe = (last - first) / stride + 1, .up = b->file->info.up};
    bool good = weld(b, cache, nplane);
    if (good) add_planes(cache, b->file);
    const size_t count = 3 * (size_t)cache->nvert * (size_t)cache->nframe;
    cache->time = ct_arena_alloc(&cache->arena, (size_t)cache->nframe, sizeof(double));
    cache->x = ct_arena_alloc(&cache->arena, count, sizeof(float));
    cache->normal = ct_arena_alloc(&cache->arena, count, sizeof(float));
    if (!good || cache->arena.failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int k = 0; !status && k < cache->nframe; k++) status = fill(b, cache, k, first + k * stride, error);
    if (!status) find_movers(cache);
    return status;
}

ct_status ct_cache_create(ct_cache* cache, ct_trajectory* file, int first, int last, int stride,
                          ct_error* error) {
    ct_status status = CT_OK;
    for (int bones = 1; bones >= 0; bones--) {  // rails of bones may come and go: then without bones
        build b = {.file = file, .bones = bones};
        *cache = (ct_cache){0};
        status = make(&b, cache, first, last, stride, error);
        ct_arena_free(&b.arena);
        if (status) ct_cache_free(cache);
        if (status != CT_BAD_ARGUMENT || !file->info.nlink) break;
    }
    return status;
}

void ct_cache_free(ct_cache* cache) {
    ct_arena_free(&cache->arena);
    *cache = (ct_cache){0};
}
