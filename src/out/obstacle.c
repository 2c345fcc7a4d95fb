// Obstacles and contacts, to be drawn; see obstacle.h.
#include "out/obstacle.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"
#include "out/solid.h"

#define CELLS 32  // of a plane's disc, across

static bool all_finite(const double* values, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

bool ct_obstacle_ground(const ct_trajectory* file, const double* poses, double* height) {
    for (int k = 0; k < file->info.nobstacle; k++) {
        const double* pose = poses + 6 * k;
        if (file->obstacle[k].kind != CT_OBSTACLE_PLANE || file->obstacle[k].hidden ||
            !(pose[3 + file->info.up] > 1 - 1e-9))
            continue;
        *height = pose[file->info.up];
        return isfinite(*height);
    }
    return false;
}

double ct_obstacle_slope_foot(const ct_trajectory* file, const double* poses, const double center[3],
                              double reach) {
    double least = INFINITY, middle[3];
    int up = file->info.up;
    for (int k = 0; k < file->info.nobstacle; k++) {
        const double* pose = poses + 6 * k;
        if (file->obstacle[k].kind != CT_OBSTACLE_PLANE || file->obstacle[k].hidden || !all_finite(pose, 6) ||
            !(pose[3 + up] > 0.1))
            continue;
        ct_obstacle_middle(pose, center, middle);
        least = fmin(least, middle[up] - reach * sqrt(fmax(0, 1 - pose[3 + up] * pose[3 + up])));
    }
    return least;
}

void ct_obstacle_middle(const double* pose, const double center[3], double middle[3]) {
    double away[3] = {center[0] - pose[0], center[1] - pose[1], center[2] - pose[2]},
           height = dot3(away, pose + 3);
    for (int a = 0; a < 3; a++) middle[a] = center[a] - height * pose[3 + a];
}

int ct_obstacle_owner(const ct_skin* skin, int t) {
    int body = skin->body[t];
    return body <= CT_SKIN_PLANE ? skin->nbody + (CT_SKIN_PLANE - body) / 2 : body;
}

// ---- Planes ----

// Two directions in the plane, the first of them level.
static void plane_axes(const double normal[3], int up, double u[3], double v[3]) {
    double helper[3] = {0};
    helper[fabs(normal[up]) < 0.99 ? up : (up + 1) % 3] = 1;
    cross3(helper, normal, u);
    double length = length3(u);
    for (int a = 0; a < 3; a++) u[a] /= length;
    cross3(normal, u, v);
}

static void put_cell(ct_skin_room* room, const double corner[4][3], const double normal[3], int material) {
    static const int half[6] = {0, 1, 2, 0, 2, 3};
    memcpy(room->x, corner, 12 * sizeof(double));
    room->x += 12;
    for (int k = 0; k < 6; k++) {
        *room->tri++ = room->vertex + half[k];
        for (int a = 0; a < 3; a++) *room->normal++ = (float)normal[a];
    }
    *room->body++ = material;
    *room->body++ = material;
    room->vertex += 4;
}

// A disc of square cells whose corners stay at their places on the plane; those below the ground are left
// out.
static void put_plane(ct_skin* skin, ct_arena* arena, int up, int obstacle, const double* pose,
                      const ct_obstacle_look* look) {
    double u[3], v[3], middle[3], from[3], cell = 2 * look->reach / CELLS,
                                           corner[(CELLS + 1) * (CELLS + 1)][4][3];
    int material[(CELLS + 1) * (CELLS + 1)], count = 0;
    ct_skin_room room;
    plane_axes(pose + 3, up, u, v);
    ct_obstacle_middle(pose, look->center, middle);
    for (int a = 0; a < 3; a++) from[a] = middle[a] - pose[a];
    double first[2] = {floor((dot3(from, u) - look->reach) / cell),
                       floor((dot3(from, v) - look->reach) / cell)};
    for (int j = 0; j <= CELLS; j++)
        for (int i = 0; i <= CELLS; i++) {
            double at[2] = {first[0] + i, first[1] + j}, height = 0, away = 0;
            for (int c = 0; c < 4; c++)
                for (int a = 0; a < 3; a++)
                    corner[count][c][a] =
                        pose[a] + cell * ((at[0] + (c == 1 || c == 2)) * u[a] + (at[1] + c / 2) * v[a]);
            for (int a = 0; a < 3; a++) {
                double mean = 0.5 * (corner[count][0][a] + corner[count][2][a]);
                away += (mean - middle[a]) * (mean - middle[a]);
                if (a == up) height = mean;
            }
            if (height < look->ground || away > look->reach * look->reach) continue;
            material[count++] = CT_SKIN_PLANE - 2 * obstacle - (fmod(fabs(at[0] + at[1]), 2) == 1);
        }
    if (!ct_skin_grow(skin, arena, 4 * (size_t)count, 2 * (size_t)count, &room)) return;
    for (int k = 0; k < count; k++) put_cell(&room, (const double(*)[3])corner[k], pose + 3, material[k]);
}

// Seen from the free side, and not where the ground is drawn.
static bool plane_shows(const double* pose, int up, const ct_obstacle_look* look) {
    double height = 0;
    for (int a = 0; a < 3 && look->eye; a++) height += (look->eye[a] - pose[a]) * pose[3 + a];
    bool ground = pose[3 + up] > 1 - 1e-9 && fabs(pose[up] - look->ground) < 1e-3 * look->reach;
    return (!look->eye || height > 0) && !ground;
}

// ---- Solids ----

void ct_obstacle_dress(ct_skin* skin, ct_arena* arena, const ct_trajectory* file, const double* poses,
                       const ct_obstacle_look* look) {
    int n = file->info.nobstacle, count = 0;
    ct_solid* solids = ct_arena_alloc(arena, (size_t)n, sizeof *solids);
    for (int k = 0; k < n && !arena->failed; k++) {
        const ct_obstacle_info* obstacle = &file->obstacle[k];
        bool sphere = obstacle->kind == CT_OBSTACLE_SPHERE;
        if (obstacle->hidden || !all_finite(poses + 6 * k, 6) ||
            (!sphere && obstacle->kind != CT_OBSTACLE_CAPSULE))
            continue;
        ct_solid* s = &solids[count++];
        *s = (ct_solid){
            .radius = obstacle->radius, .material = file->info.nbody + k, .shape = CT_SOLID_CAPSULE};
        memcpy(s->a, poses + 6 * k, sizeof s->a);
        memcpy(s->b, poses + 6 * k + (sphere ? 0 : 3), sizeof s->b);
    }
    if (!arena->failed)
        ct_solid_append(skin, arena, solids, count, count > 16 ? 26 : 50, count > 16 ? 36 : 72);
    for (int k = 0; k < n && !arena->failed; k++) {
        bool plane = file->obstacle[k].kind == CT_OBSTACLE_PLANE && !file->obstacle[k].hidden &&
                     all_finite(poses + 6 * k, 6);
        if (plane && plane_shows(poses + 6 * k, file->info.up, look))
            put_plane(skin, arena, file->info.up, k, poses + 6 * k, look);
    }
    skin->nflesh = skin->nbone = skin->ntri;
}

void ct_obstacle_arrows(ct_skin* skin, ct_arena* arena, const ct_contact* list, int count, double scale,
                        double longest, double size) {
    ct_solid* solids = ct_arena_alloc(arena, (size_t)count, sizeof *solids);
    int shown = 0;
    for (int i = 0; i < count && !arena->failed; i++) {
        const ct_contact* c = &list[i];
        double force = length3(c->force), length = fmin(scale * force, longest);
        if (c->set == CT_CONTACT_SET_OPEN || !(length > 2e-3 * size) || !all_finite(c->position, 3) ||
            !isfinite(force))
            continue;
        ct_solid* s = &solids[shown++];
        *s = (ct_solid){.radius = 3e-3 * size,
                        .material = c->set == CT_CONTACT_SET_SLIP ? CT_ARROW_SLIP : CT_ARROW_STICK,
                        .shape = CT_SOLID_ARROW};
        for (int a = 0; a < 3; a++) {
            s->a[a] = c->position[a];
            s->b[a] = c->position[a] + length / force * c->force[a];
        }
    }
    if (!arena->failed) ct_solid_append(skin, arena, solids, shown, 0, shown > 200 ? 8 : 14);
}
