// Water in scenes and models; see water.h.
#include "force/water.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"
#include "scene/scene.h"
#include "shape/cell.h"

static bool is_wet(const ct_scene* scene, int body) {
    return scene->water.all || (body < scene->water.nbody && scene->water.wet[body]);
}

static void edges(const ct_mesh* mesh, const int* node, int count, double edge[3][3]) {
    for (int k = 1; k < count; k++)
        for (int a = 0; a < 3; a++)
            edge[k - 1][a] =
                mesh->x[3 * (size_t)node[k] + (size_t)a] - mesh->x[3 * (size_t)node[0] + (size_t)a];
}

// Volumes of the tets, shared among their nodes; those of sheets follow their thickness (model/sheets.c).
static void add_volumes(const ct_scene_body* body, double* volume) {
    const ct_mesh* mesh = body->mesh;
    double edge[3][3], normal[3], least;
    for (int t = 0; t < mesh->ntet; t++) {
        const int *node = mesh->tet + 4 * (size_t)t, *mid = mesh->mid ? mesh->mid + 6 * (size_t)t : NULL;
        const double whole = mid ? ct_cell_volume(node, mid, mesh->x, &least) : 0;
        for (int a = 0; mid && a < CT_CELL_NODES; a++)
            volume[body->first_node + (a < 4 ? node[a] : mid[a - 4])] += ct_cell_share(true, a) * whole;
        if (mid) continue;
        edges(mesh, node, 4, edge);
        cross3(edge[0], edge[1], normal);
        double quarter = (normal[0] * edge[2][0] + normal[1] * edge[2][1] + normal[2] * edge[2][2]) / 24;
        for (int k = 0; k < 4; k++) volume[body->first_node + node[k]] += quarter;
    }
}

static ct_status append_faces(ct_water* water, ct_arena* arena, const int* tri, int ntri, int first,
                              bool two_sided) {
    int before = water->nface;
    size_t total = (size_t)(before + ntri);
    int* face = ct_arena_alloc(arena, 3 * total, sizeof *face);
    unsigned char* flag = ct_arena_alloc(arena, total, 1);
    if (arena->failed) return CT_OUT_OF_MEMORY;
    if (before) {
        memcpy(face, water->face, 3 * (size_t)before * sizeof *face);
        memcpy(flag, water->two_sided, (size_t)before);
    }
    for (int i = 0; i < 3 * ntri; i++) face[3 * (size_t)before + (size_t)i] = tri[i] + first;
    memset(flag + before, two_sided, (size_t)ntri);
    water->face = face;
    water->two_sided = flag;
    water->nface = before + ntri;
    return CT_OK;
}

static ct_status add_body(ct_water* water, ct_arena* arena, const ct_scene_body* body) {
    const ct_mesh* mesh = body->mesh;
    add_volumes(body, water->volume);
    if (!mesh->ntet) return append_faces(water, arena, mesh->tri, mesh->ntri, body->first_node, true);
    int *tri = NULL, ntri = 0;
    ct_status status = ct_mesh_surface(mesh, &tri, &ntri, NULL);
    if (status == CT_OK) status = append_faces(water, arena, tri, ntri, body->first_node, false);
    ct_free(tri);
    return status;
}

// Sum of the edge lengths of a body's water faces, each edge once for every face.
static double edge_sum(const ct_water* water, const ct_scene_body* body) {
    double sum = 0;
    for (int f = 0; f < water->nface; f++)
        for (int k = 0; k < 3; k++) {
            int a = water->face[3 * (size_t)f + (size_t)k] - body->first_node,
                b = water->face[3 * (size_t)f + (size_t)((k + 1) % 3)] - body->first_node;
            if (a < 0 || a >= body->mesh->nvert) continue;
            const double *p = body->mesh->x + 3 * (size_t)a, *q = body->mesh->x + 3 * (size_t)b;
            sum += hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
        }
    return sum;
}

ct_status ct_water_create(ct_water* water, ct_arena* arena, const ct_scene* scene, int nvert,
                          const double* gravity) {
    const ct_water_def* def = &scene->water.def;
    *water = (ct_water){.enabled = scene->water.enabled};
    if (!water->enabled) return CT_OK;
    *water = (ct_water){.enabled = true,
                        .density = def->density,
                        .buoyancy = def->buoyancy,
                        .level = def->level,
                        .layer = def->layer,
                        .slow = def->slow,
                        .up = scene->settings.up,
                        .nvert = nvert,
                        .gravity = gravity};
    memcpy(water->current, def->current, sizeof water->current);
    memcpy(water->drag, def->drag, sizeof water->drag);
    memcpy(water->thrust, def->thrust, sizeof water->thrust);
    water->volume = ct_arena_alloc(arena, (size_t)nvert, sizeof *water->volume);
    water->wet = ct_arena_alloc(arena, (size_t)scene->nbody, 1);
    if (!water->volume || !water->wet) return CT_OUT_OF_MEMORY;
    ct_status status = CT_OK;
    for (int b = 0; status == CT_OK && b < scene->nbody; b++) {
        water->wet[b] = is_wet(scene, b);
        if (water->wet[b]) status = add_body(water, arena, &scene->body[b]);
    }
    if (status != CT_OK || !isnan(water->layer) || !water->nface) return status;
    double sum = 0;
    for (int b = 0; b < scene->nbody; b++) sum += edge_sum(water, &scene->body[b]);
    water->layer = sum / (3 * water->nface);
    return CT_OK;
}

double* ct_water_number(ct_water* water, ct_quantity quantity) {
    switch (quantity) {
    case CT_QUANTITY_WATER_DENSITY: return &water->density;
    case CT_QUANTITY_WATER_DRAG: return water->drag;
    case CT_QUANTITY_WATER_THRUST: return water->thrust;
    case CT_QUANTITY_WATER_CURRENT: return water->current;
    default: return NULL;
    }
}
