// Light; see light.h.
#include "out/light.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"
#include "out/raster.h"

#define PI 3.14159265358979323846
#define MAP_SIZE 1024
#define BELOW_SIZE 256
#define SEARCH 0.07  // radius of the disc in which shadows are looked for, over the scene's size
#define RINGS 10
#define SPOKES 12
#define GOLDEN_ANGLE 2.39996322972865332

static void normalise(double a[3]) {
    double length = length3(a);
    for (int k = 0; k < 3; k++) a[k] /= length;
}

// An orthographic picture of the surface from direction `toward`; fitted to what the picture is about.
static void map_create(ct_depth_map* map, ct_arena* arena, const ct_skin* skin, const double toward[3],
                       int size) {
    int axis = fabs(toward[0]) < fabs(toward[1]) ? (fabs(toward[0]) < fabs(toward[2]) ? 0 : 2)
                                                 : (fabs(toward[1]) < fabs(toward[2]) ? 1 : 2);
    double helper[3] = {axis == 0, axis == 1, axis == 2}, low[2] = {INFINITY, INFINITY},
           high[2] = {-INFINITY, -INFINITY};
    memcpy(map->toward, toward, sizeof map->toward);
    cross3(helper, toward, map->right);
    normalise(map->right);
    cross3(toward, map->right, map->up);
    for (int c = 0; c < 3 * skin->ntri; c++) {
        const double* p = skin->x + 3 * skin->tri[c];
        if (!ct_skin_framed(skin, c / 3)) continue;
        double at[2] = {dot3(p, map->right), dot3(p, map->up)};
        for (int k = 0; k < 2 && isfinite(at[0] + at[1]); k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    double extent = fmax(high[0] - low[0], high[1] - low[1]);
    if (!(extent > 0)) extent = 1;
    map->size = size;
    map->cell = extent * 1.04 / size;
    for (int k = 0; k < 2; k++) map->low[k] = isfinite(low[k]) ? 0.5 * (low[k] + high[k]) - 0.52 * extent : 0;
    ct_raster raster;
    ct_raster_create(&raster, arena, size, size, size, 0.5);
    map->depth = raster.depth;
    if (arena->failed) return;
    ct_raster_begin(&raster, 0);
    for (int t = 0; t < skin->ntri; t++) {
        double clip[3][4];
        if (!ct_skin_casts(skin, t)) continue;
        for (int k = 0; k < 3; k++) {
            const double* p = skin->x + 3 * skin->tri[3 * t + k];
            clip[k][0] = 2 * (dot3(p, map->right) - map->low[0]) / (size * map->cell) - 1;
            clip[k][1] = 1 - 2 * (dot3(p, map->up) - map->low[1]) / (size * map->cell);
            clip[k][2] = -dot3(p, map->toward);
            clip[k][3] = 1;
        }
        ct_raster_triangle(&raster, t, (const double(*)[4])clip);
    }
}

static double map_depth(const ct_depth_map* map, double x, double y) {
    double i = (x - map->low[0]) / map->cell, j = (y - map->low[1]) / map->cell;
    if (!(i >= 0 && j >= 0 && i < map->size && j < map->size)) return INFINITY;
    return map->depth[(int)j * map->size + (int)i];
}

// Least depths over blocks of the map, widened by `reach` cells.
static void find_near(ct_depth_map* map, ct_arena* arena, double reach) {
    enum { N = CT_SHADOW_BLOCKS };
    int block = map->size / N, wide = (int)ceil(reach / block) + 1;
    float least[N][N];
    map->near = ct_arena_alloc(arena, N * N, sizeof(float));
    if (arena->failed) return;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            float value = INFINITY;
            for (int y = j * block; y < (j + 1) * block; y++)
                for (int x = i * block; x < (i + 1) * block; x++)
                    value = fminf(value, map->depth[y * map->size + x]);
            least[j][i] = value;
        }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            float value = INFINITY;
            for (int y = j < wide ? 0 : j - wide; y <= j + wide && y < N; y++)
                for (int x = i < wide ? 0 : i - wide; x <= i + wide && x < N; x++)
                    value = fminf(value, least[y][x]);
            map->near[j * N + i] = value;
        }
}

// Is there nothing between the lamp and a point at (i, j), in cells, as far as it may be probed?
static bool in_the_clear(const ct_depth_map* map, float i, float j, float depth, float bias) {
    enum { N = CT_SHADOW_BLOCKS };
    float block = (float)(map->size / N), x = i / block, y = j / block;
    int a = x <= 0 ? 0 : x >= N ? N - 1 : (int)x, b = y <= 0 ? 0 : y >= N ? N - 1 : (int)y;
    return !(depth - map->near[b * N + a] > bias);
}

// Points spread evenly over the unit disc.
static void fill_disc(float disc[CT_LIGHT_TAPS][2]) {
    for (int k = 0; k < CT_LIGHT_TAPS; k++) {
        double r = sqrt((k + 0.5) / CT_LIGHT_TAPS);
        disc[k][0] = (float)(r * cos(k * GOLDEN_ANGLE));
        disc[k][1] = (float)(r * sin(k * GOLDEN_ANGLE));
    }
}

// Depth of the map at a place given in cells.
static float depth_at(const ct_depth_map* map, float i, float j) {
    float size = (float)map->size;
    if (!(i >= 0 && j >= 0 && i < size && j < size)) return INFINITY;
    return map->depth[(int)j * map->size + (int)i];
}

// Mean distance of what lies between the point and the lamp within the search disc; negative: nothing does.
static float mean_gap(const ct_light* light, float i, float j, float depth, float radius, float bias) {
    float sum = 0;
    int count = 0;
    for (int k = 0; k < CT_LIGHT_TAPS; k += 2) {
        const float* at = light->disc[k];
        float gap = depth - depth_at(&light->shadow, i + radius * at[0], j + radius * at[1]);
        if (gap > bias) {
            sum += gap;
            count++;
        }
    }
    return count ? sum / (float)count : -1;
}

double ct_light_key(const ct_light* light, const double point[3]) {
    const ct_depth_map* map = &light->shadow;
    float cell = (float)map->cell, size = (float)map->size, search = (float)(SEARCH * light->size) / cell,
          bias = 2.5f * cell;
    float i = (float)((dot3(point, map->right) - map->low[0]) / map->cell);
    float j = (float)((dot3(point, map->up) - map->low[1]) / map->cell);
    if (!(i >= -search && j >= -search && i <= size + search && j <= size + search)) return 1;
    float depth = (float)-dot3(point, map->toward);
    if (in_the_clear(map, i, j, depth, bias)) return 1;
    float gap = mean_gap(light, i, j, depth, search, bias);
    if (gap < 0) return 1;
    float radius = fminf(fmaxf(0.16f * gap / cell, 2.5f), search), lit = 0;
    for (int k = 0; k < CT_LIGHT_TAPS; k++) {
        const float* at = light->disc[k];
        float over = depth - depth_at(map, i + radius * at[0], j + radius * at[1]) - bias;
        lit += over <= 0 ? 1 : over < bias ? 1 - over / bias : 0;
    }
    return (double)(lit / CT_LIGHT_TAPS);
}

// Share of the sky hidden from a ground point by the surface seen from below.
static double hidden_sky(const ct_depth_map* below, double x, double y, double ground_depth, double reach,
                         double spoke_at[2 * SPOKES][2]) {
    double sum = 0, least = 1.5 * below->cell;
    for (int ring = 0; ring < RINGS; ring++) {
        double inner = reach * ring * ring / (RINGS * RINGS),
               outer = reach * (ring + 1) * (ring + 1) / (RINGS * RINGS);
        double r = 0.5 * (inner + outer), area = PI * (outer * outer - inner * inner) / SPOKES;
        for (int spoke = 0; spoke < SPOKES; spoke++) {
            const double* at = spoke_at[2 * spoke + ring % 2];
            double height = map_depth(below, x + r * at[0], y + r * at[1]) - ground_depth;
            if (!isfinite(height) || height < -least) continue;
            height = fmax(height, fmax(least, 0.5 * (outer - inner)));
            double square = height * height + r * r;
            sum += area * height * height / (PI * square * square);
        }
    }
    return fmin(sum, 1);
}

static void ground_create(ct_light* light, ct_arena* arena, const ct_skin* skin) {
    ct_depth_map below;
    double down[3] = {-light->sky[0], -light->sky[1], -light->sky[2]};
    map_create(&below, arena, skin, down, BELOW_SIZE);
    light->hidden = ct_arena_alloc(arena, CT_GROUND_CELLS * CT_GROUND_CELLS, sizeof(float));
    if (arena->failed) return;
    double spoke[2 * SPOKES][2];  // those of even and odd rings alternate
    for (int k = 0; k < 2 * SPOKES; k++) {
        spoke[k][0] = cos(PI * k / SPOKES);
        spoke[k][1] = sin(PI * k / SPOKES);
    }
    double reach = 0.5 * light->size, width = below.size * below.cell + 2 * reach;
    light->ground_cell = width / CT_GROUND_CELLS;
    for (int k = 0; k < 2; k++) light->ground_low[k] = below.low[k] - reach;
    // The map from below: its depth grows with height, -(p . down) = p . sky.
    for (int j = 0; j < CT_GROUND_CELLS; j++)
        for (int i = 0; i < CT_GROUND_CELLS; i++)
            light->hidden[j * CT_GROUND_CELLS + i] = (float)hidden_sky(
                &below, light->ground_low[0] + (i + 0.5) * light->ground_cell,
                light->ground_low[1] + (j + 0.5) * light->ground_cell, light->ground, reach, spoke);
    memcpy(light->ground_right, below.right, sizeof below.right);
    memcpy(light->ground_up, below.up, sizeof below.up);
}

double ct_light_hidden(const ct_light* light, const double point[3]) {
    double x = (dot3(point, light->ground_right) - light->ground_low[0]) / light->ground_cell - 0.5;
    double y = (dot3(point, light->ground_up) - light->ground_low[1]) / light->ground_cell - 0.5;
    if (!(x >= 0 && y >= 0 && x < CT_GROUND_CELLS - 1 && y < CT_GROUND_CELLS - 1)) return 0;
    int i = (int)x, j = (int)y;
    const float* row = light->hidden + j * CT_GROUND_CELLS + i;
    double u = x - i, v = y - j;
    double value = (1 - v) * ((1 - u) * row[0] + u * row[1]) +
                   v * ((1 - u) * row[CT_GROUND_CELLS] + u * row[CT_GROUND_CELLS + 1]);
    double edge =
        fmin(fmin(x, CT_GROUND_CELLS - 1 - x), fmin(y, CT_GROUND_CELLS - 1 - y)) / (0.1 * CT_GROUND_CELLS);
    return value * fmin(1, edge);
}

void ct_light_create(ct_light* light, ct_arena* arena, const ct_skin* skin, const ct_camera* camera,
                     int up_axis, double ground, double size) {
    *light = (ct_light){.up_axis = up_axis, .ground = ground, .size = size};
    light->sky[up_axis] = 1;
    fill_disc(light->disc);
    // Lamps stand with the camera: the key high on its left, the fill low on its right.
    for (int k = 0; k < 3; k++) {
        double side = camera->right[k], back = -camera->forward[k];
        light->key[k] = -0.62 * side + 0.42 * back + 1.0 * light->sky[k];
        light->fill[k] = 0.9 * side + 0.6 * back + 0.15 * light->sky[k];
    }
    normalise(light->key);
    normalise(light->fill);
    map_create(&light->shadow, arena, skin, light->key, MAP_SIZE);
    if (!arena->failed) find_near(&light->shadow, arena, SEARCH * size / light->shadow.cell);
    ground_create(light, arena, skin);
}

void ct_light_shade(const ct_light* light, const double point[3], const double normal[3],
                    const double view[3], const double albedo[3], double gloss, double rgb[3]) {
    static const double key_color[3] = {2.05, 1.95, 1.80}, fill_color[3] = {0.42, 0.48, 0.58};
    static const double sky_color[3] = {0.60, 0.66, 0.74}, earth_color[3] = {0.36, 0.34, 0.32};
    double facing = dot3(normal, light->key), half[3], moved[3];
    for (int k = 0; k < 3; k++) {
        half[k] = light->key[k] - view[k];
        moved[k] = point[k] + (2.5 + 5 * (1 - fmax(0, facing))) * light->shadow.cell * normal[k];
    }
    normalise(half);
    double lit = facing > -0.12 ? ct_light_key(light, moved) : 0;
    double key = fmax(0, (facing + 0.12) / 1.12) * lit;
    double fill = fmax(0, (dot3(normal, light->fill) + 0.3) / 1.3);
    double upward = 0.5 + 0.5 * dot3(normal, light->sky);
    // Light from below has to come off the ground, which is dark under the body itself.
    double height = point[light->up_axis] - light->ground;
    double covered = ct_light_hidden(light, point) / (1 + fmax(0, height) * 4 / light->size);
    double earth = (1 - upward) * (1 - 0.75 * covered);
    double shine = gloss * lit * pow(fmax(0, dot3(normal, half)), 60) * (facing > 0);
    double rim = gloss * pow(1 - fmin(1, fabs(dot3(normal, view))), 4);
    for (int k = 0; k < 3; k++) {
        double light_in =
            key_color[k] * key + fill_color[k] * fill + sky_color[k] * upward + earth_color[k] * earth;
        rgb[k] = albedo[k] * light_in * 0.56 + 0.9 * shine * key_color[k] * 0.5 + 0.35 * rim * sky_color[k];
    }
}
