// Pictures of a trajectory: camera, colours, ground, then bands of rows that are rasterised, shaded and
// averaged.
//
// Visibility is sampled samples^2 times a pixel; each triangle seen in a pixel is shaded once, at the mean of
// its samples there. Flesh over bones lets them through, the less the deeper they lie; bones have light and
// shadows of their own, as if the flesh were not there. Arrows of contact forces show through all. Planes
// fade out around the scene. Light is added in linear intensity and stored as sRGB. No display, no
// randomness: the same frame gives the same bytes on every run and any number of threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/threads.h"
#include "out/color.h"
#include "out/label.h"
#include "out/light.h"
#include "out/obstacle.h"
#include "out/picture.h"
#include "out/raster.h"
#include "out/solid.h"

#define BAND 16  // picture rows in a band
#define SLOTS 8  // bands in work at the same time, at most
#define MAX_SAMPLES 4
#define PLANE_REACH 2.0  // radius of the discs that stand for planes, over the scene's extent
#define TONES 1024       // steps of the table of tones

typedef struct drawing {
    const ct_picture_def* def;
    ct_camera camera;
    ct_light light;
    ct_light bone_light;  // without the flesh's shadow
    ct_skin skin;
    bool flesh;        // bodies are shown
    double clear;      // m of flesh through which bones are seen well
    double bone_tone;  // below 1 where the flesh is as light as bone
    ct_ground_grid grid;
    double* color;           // 3 (nbody + nobstacle), linear light
    bool* two_sided;         // nbody + nobstacle: its insides may be seen
    double* obstacle_poses;  // 6 nobstacle
    double plane_reach;      // m, where planes have faded
    double low, high;        // of the colour map
    double backdrop[3];      // linear light
    double* clip;            // 4 nvert
    ct_raster raster[SLOTS];
    ct_raster bone_raster[SLOTS];
    uint8_t* pixels;
    float tone[TONES + 2];  // sRGB 0..255 over the square root of linear light
    int* rows;              // 2 ntri: first and last row of the picture that a triangle may touch
} drawing;

enum { FLESH, BONE };

typedef struct fragment {  // the samples of one pixel that show the same triangles
    int id[2];             // of flesh and of bone, -1: none
    int count;
    double weight[2][2], x, y;  // sums
    // m, sum of the distances from flesh to bone; negative: the bone lies in front
    double cover;
} fragment;

ct_picture_def ct_picture_def_default(void) {
    return (ct_picture_def){.width = 1280,
                            .height = 720,
                            .samples = 3,
                            .color_by = "body",
                            .grid = true,
                            .label = true,
                            .view = {.automatic = true, .field_of_view = 30},
                            .background = {0.925, 0.935, 0.95}};
}

// ---- One pixel ----

static void backdrop(const drawing* d, int y, double rgb[3]) {
    double t = (y + 0.5) / d->def->height;  // 0 at the top
    double tone = 0.86 + 0.16 * t;
    for (int k = 0; k < 3; k++) rgb[k] = fmin(1, d->backdrop[k] * (tone + (k == 2 ? 0.02 : 0) * (1 - t)));
}

static bool ground_point(const drawing* d, double x, double y, double point[3]) {
    double ray[3];
    ct_camera_ray(&d->camera, 2 * x / d->def->width - 1, 1 - 2 * y / d->def->height, ray);
    int up = d->grid.up_axis;
    double t = (d->grid.height - d->camera.eye[up]) / ray[up];
    if (!(ray[up] < 0) || !(t > 0) || !isfinite(t)) return false;
    for (int k = 0; k < 3; k++) point[k] = d->camera.eye[k] + t * ray[k];
    return true;
}

// Coverage by lines at multiples of `spacing` of a coordinate that changes by `rate` from pixel to pixel.
static double line_cover(double value, double rate, double spacing, double half_width) {
    double apart = spacing / rate;
    if (apart < 3) return 0;
    double away = fabs(value / spacing - round(value / spacing)) * apart;
    return fmin(1, fmax(0, half_width + 0.5 - away)) * fmin(1, (apart - 3) / 9);
}

static double grid_cover(const drawing* d, double x, double y, const double point[3]) {
    double right[3], below[3], strong = 0, weak = 0, pixel = fmax(1, d->def->height / 720.0);
    if (!ground_point(d, x + 1, y, right) || !ground_point(d, x, y + 1, below)) return 0;
    for (int k = 0; k < 3; k++) {
        if (k == d->grid.up_axis) continue;
        double along = right[k] - point[k], down = below[k] - point[k],
               rate = sqrt(along * along + down * down);
        strong = fmax(strong, line_cover(point[k], rate, d->grid.spacing, 0.55 * pixel));
        weak = fmax(weak, line_cover(point[k], rate, d->grid.spacing / 5, 0.4 * pixel));
    }
    return fmax(0.30 * strong, 0.12 * weak);
}

// Background and, where the ray meets it, the ground: lines and shadows that fade with the distance.
static void shade_ground(const drawing* d, int px, int py, double rgb[3]) {
    double point[3], x = px + 0.5, y = py + 0.5, away = 0;
    backdrop(d, py, rgb);
    if (!ground_point(d, x, y, point)) return;
    for (int k = 0; k < 3; k++)
        if (k != d->grid.up_axis) away += (point[k] - d->grid.center[k]) * (point[k] - d->grid.center[k]);
    double fade = 1 - sqrt(away) / d->grid.reach;
    if (fade <= 0) return;
    fade = fade * fade * (3 - 2 * fade);
    double dark = (1 - 0.42 * fade * (1 - ct_light_key(&d->light, point))) *
                  (1 - 0.6 * fade * ct_light_hidden(&d->light, point));
    double lines = d->def->grid ? fade * grid_cover(d, x, y, point) : 0;
    bool on_dark = d->backdrop[0] + d->backdrop[1] + d->backdrop[2] < 0.6;
    for (int k = 0; k < 3; k++) {
        double line = on_dark ? rgb[k] + 0.35 : rgb[k] * (k == 2 ? 0.34 : 0.26);
        rgb[k] = (rgb[k] + lines * (line - rgb[k])) * dark;
    }
}

static void fragment_albedo(const drawing* d, int t, const double weight[3], double rgb[3]) {
    static const double bone_color[4][3] = {
        {0.97, 0.93, 0.82}, {0.80, 0.62, 0.38}, {0.62, 0.64, 0.68}, {0.13, 0.14, 0.17}};
    int body = d->skin.body[t], nbody = d->skin.nbody;
    if (body <= CT_SKIN_PLANE) {
        int code = CT_SKIN_PLANE - body;
        const double* color = d->color + 3 * (nbody + code / 2);
        for (int k = 0; k < 3; k++) rgb[k] = color[k] * (code % 2 ? 0.78 : 1);
    } else if (body < 0) {
        const double* color = bone_color[-1 - body];
        for (int k = 0; k < 3; k++) rgb[k] = d->bone_tone * ct_color_linear(color[k]);
    } else if (!d->skin.value || body >= nbody) memcpy(rgb, d->color + 3 * body, 3 * sizeof(double));
    else {
        double value = 0;
        for (int k = 0; k < 3; k++) value += weight[k] * d->skin.value[d->skin.tri[3 * t + k]];
        ct_label_color(d->def->color_by, (value - d->low) / (d->high - d->low), rgb);
    }
}

// Distance in pixels from (x, y) to the nearest edge of the triangle as it lies on the picture.
static double edge_distance(const drawing* d, int t, double x, double y) {
    double at[3][2], nearest = INFINITY;
    for (int k = 0; k < 3; k++) {
        const double* clip = d->clip + 4 * d->skin.tri[3 * t + k];
        if (clip[3] <= d->camera.near) return INFINITY;
        at[k][0] = (clip[0] / clip[3] + 1) * 0.5 * d->def->width;
        at[k][1] = (1 - clip[1] / clip[3]) * 0.5 * d->def->height;
    }
    for (int k = 0; k < 3; k++) {
        const double *a = at[k], *b = at[(k + 1) % 3];
        double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy);
        if (length > 0) nearest = fmin(nearest, fabs(dx * (y - a[1]) - dy * (x - a[0])) / length);
    }
    return nearest;
}

// Bright light bends towards white instead of being cut off.
static double soft_limit(double value) { return value < 0.7 ? value : 1 - 0.3 * exp(-(value - 0.7) / 0.3); }

// Is the triangle seen from behind?
static bool seen_from_behind(const ct_skin* skin, int t, const double view[3]) {
    const double *a = skin->x + 3 * skin->tri[3 * t], *b = skin->x + 3 * skin->tri[3 * t + 1],
                 *c = skin->x + 3 * skin->tri[3 * t + 2];
    double volume = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        volume += view[k] * ((b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]));
    }
    return volume > 0;
}

// Arrows have the light with them.
static void shade_arrow(int body, double facing, double rgb[3]) {
    static const double stick[3] = {0.02, 0.20, 0.62}, slip[3] = {0.80, 0.12, 0.02};
    for (int k = 0; k < 3; k++)
        rgb[k] = (body == CT_ARROW_SLIP ? slip[k] : stick[k]) * (0.35 + 0.85 * fabs(facing));
}

// One of the two surfaces of a fragment; returns how much it faces the eye.
static double shade_surface(const drawing* d, const fragment* f, int which, double rgb[3]) {
    const ct_skin* skin = &d->skin;
    int id = f->id[which];
    double w1 = f->weight[which][0] / f->count, w2 = f->weight[which][1] / f->count,
           weight[3] = {1 - w1 - w2, w1, w2};
    double point[3] = {0}, normal[3] = {0}, view[3], albedo[3], length = 0, facing = 0, far = 0;
    for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) {
            point[k] += weight[j] * skin->x[3 * skin->tri[3 * id + j] + k];
            normal[k] += weight[j] * (double)skin->normal[9 * id + 3 * j + k];
        }
    for (int k = 0; k < 3; k++) {
        view[k] = point[k] - d->camera.eye[k];
        far += view[k] * view[k];
        length += normal[k] * normal[k];
    }
    for (int k = 0; k < 3; k++) {
        view[k] /= sqrt(far);
        normal[k] /= length > 0 ? sqrt(length) : 1;
        facing += view[k] * normal[k];
    }
    int body = skin->body[id];
    if (body == CT_ARROW_STICK || body == CT_ARROW_SLIP) {
        shade_arrow(body, facing, rgb);
        return fabs(facing);
    }
    // an inside, seen through an opening or an inversion, or the other side of a sheet
    bool behind = body >= 0 && d->two_sided[body] ? seen_from_behind(skin, id, view) : facing > 0.3;
    for (int k = 0; k < 3 && behind; k++) normal[k] = -normal[k];
    fragment_albedo(d, id, weight, albedo);
    if (d->def->wireframe && which == FLESH) {
        double cover = 0.75 + 0.5 - edge_distance(d, id, f->x / f->count, f->y / f->count);
        cover = 0.62 * fmin(1, fmax(0, cover));
        for (int k = 0; k < 3; k++) albedo[k] *= 1 - cover;
    }
    ct_light_shade(which == BONE ? &d->bone_light : &d->light, point, normal, view, albedo,
                   skin->value ? 0.12 : 0.3, rgb);
    for (int k = 0; k < 3; k++) rgb[k] = soft_limit(rgb[k]);
    return fabs(facing);
}

// A plane fades into the background around the scene; the ray through the pixel's middle tells where it is.
static void fade_plane(const drawing* d, int body, int px, int py, double rgb[3]) {
    const double *pose = d->obstacle_poses + 6 * ((CT_SKIN_PLANE - body) / 2), *eye = d->camera.eye;
    double ray[3], middle[3], ground[3], down = 0, height = 0, away = 0;
    ct_camera_ray(&d->camera, 2 * (px + 0.5) / d->def->width - 1, 1 - 2 * (py + 0.5) / d->def->height, ray);
    ct_obstacle_middle(pose, d->grid.center, middle);
    for (int k = 0; k < 3; k++) {
        down += ray[k] * pose[3 + k];
        height += (pose[k] - eye[k]) * pose[3 + k];
    }
    for (int k = 0; k < 3; k++) away += pow(eye[k] + height / down * ray[k] - middle[k], 2);
    double fade = fmin(1, fmax(0, (1 - sqrt(away) / d->plane_reach) / 0.45));
    if (fade >= 1) return;
    fade = isfinite(fade) ? fade * fade * (3 - 2 * fade) : 0;
    shade_ground(d, px, py, ground);
    for (int k = 0; k < 3; k++) rgb[k] = fade * rgb[k] + (1 - fade) * ground[k];
}

static double shade_flesh(const drawing* d, const fragment* f, int px, int py, double rgb[3]) {
    double facing = shade_surface(d, f, FLESH, rgb);
    int body = d->skin.body[f->id[FLESH]];
    if (body <= CT_SKIN_PLANE) fade_plane(d, body, px, py, rgb);
    return facing;
}

static void shade_fragment(const drawing* d, const fragment* f, int px, int py, double rgb[3]) {
    double cover = f->cover / f->count, bone[3];
    if (f->id[FLESH] < 0 && f->id[BONE] < 0) shade_ground(d, px, py, rgb);
    else if (f->id[FLESH] < 0 || (f->id[BONE] >= 0 && cover < 0)) shade_surface(d, f, BONE, rgb);
    else {
        double facing = shade_flesh(d, f, px, py, rgb);
        if (f->id[BONE] < 0) return;
        double outline = shade_surface(d, f, BONE, bone), dark = fmin(1, 0.4 + 1.3 * outline);
        // more is hidden by deep flesh and by flesh that is looked at along its surface
        double hide = 0.3 + 0.34 * (1 - exp(-cover / d->clear)) + 0.36 * pow(1 - fmin(1, facing), 3);
        if (f->id[BONE] >= d->skin.nbone) hide = 0.2, dark = 1;  // an arrow
        for (int k = 0; k < 3; k++) rgb[k] = hide * rgb[k] + (1 - hide) * dark * bone[k];
    }
}

// Sorts the samples of a pixel by the triangles they show; returns the number of different ones. bones: NULL
// where none are.
static int gather(const ct_raster* raster, const ct_raster* bones, int samples, int px, int row,
                  fragment* list) {
    int count = 0;
    for (int j = 0; j < samples; j++)
        for (int i = 0; i < samples; i++) {
            size_t at = (size_t)(row * samples + j) * (size_t)raster->width + (size_t)(px * samples + i);
            int k = 0, id = raster->id[at], bone = bones ? bones->id[at] : -1;
            while (k < count && (list[k].id[FLESH] != id || list[k].id[BONE] != bone)) k++;
            if (k == count) list[count++] = (fragment){.id = {id, bone}};
            fragment* f = &list[k];
            f->count++;
            for (int w = 0; w < 2; w++) {
                f->weight[FLESH][w] += (double)raster->weight[2 * at + (size_t)w];
                if (bone >= 0) f->weight[BONE][w] += (double)bones->weight[2 * at + (size_t)w];
            }
            if (id >= 0 && bone >= 0)
                f->cover += 1 / (double)raster->depth[at] - 1 / (double)bones->depth[at];
            f->x += px + (i + 0.5) / samples;
            f->y += (double)raster->first_row / samples + row + (j + 0.5) / samples;
        }
    return count;
}

// sRGB of linear light, to less than a tenth of a step.
static uint8_t byte_tone(const drawing* d, double light) {
    if (!(light > 0)) return 0;
    if (light >= 1) return 255;
    double at = sqrt(light) * TONES;
    int k = (int)at;
    double low = (double)d->tone[k], high = (double)d->tone[k + 1];
    return (uint8_t)(low + (at - k) * (high - low) + 0.5);
}

// Nothing but background and ground?
static bool is_bare(const ct_raster* raster, const ct_raster* bones, int samples, int px, int row) {
    for (int j = 0; j < samples; j++) {
        size_t at = (size_t)(row * samples + j) * (size_t)raster->width + (size_t)(px * samples);
        for (int i = 0; i < samples; i++, at++)
            if (raster->id[at] >= 0 || (bones && bones->id[at] >= 0)) return false;
    }
    return true;
}

static void shade_pixel(const drawing* d, const ct_raster* raster, const ct_raster* bones, int px, int py,
                        int row) {
    fragment list[MAX_SAMPLES * MAX_SAMPLES];
    int samples = d->def->samples, count = 0;
    double sum[3] = {0, 0, 0};
    if (is_bare(raster, bones, samples, px, row)) {
        shade_ground(d, px, py, sum);
        for (int c = 0; c < 3; c++) sum[c] *= samples * samples;
    } else count = gather(raster, bones, samples, px, row, list);
    for (int k = 0; k < count; k++) {
        double rgb[3];
        shade_fragment(d, &list[k], px, py, rgb);
        for (int c = 0; c < 3; c++) sum[c] += rgb[c] * list[k].count;
    }
    uint8_t* pixel = d->pixels + 3 * ((size_t)py * (size_t)d->def->width + (size_t)px);
    for (int c = 0; c < 3; c++) pixel[c] = byte_tone(d, sum[c] / (samples * samples));
}

// ---- The whole picture ----

static void draw_bands(int slot, void* user) {
    const drawing* d = user;
    ct_raster raster = d->raster[slot], bones = d->bone_raster[slot];
    bool has_bones = d->skin.ntri > d->skin.nflesh;
    for (int top = slot * BAND; top < d->def->height; top += SLOTS * BAND) {
        ct_raster_begin(&raster, top * d->def->samples);
        if (has_bones) ct_raster_begin(&bones, top * d->def->samples);
        for (int t = 0; t < d->skin.ntri; t++) {
            double clip[3][4];
            if (d->rows[2 * t] >= top + BAND || d->rows[2 * t + 1] < top) continue;
            for (int k = 0; k < 3; k++) memcpy(clip[k], d->clip + 4 * d->skin.tri[3 * t + k], sizeof clip[k]);
            ct_raster_triangle(t < d->skin.nflesh ? &raster : &bones, t, (const double(*)[4])clip);
        }
        for (int row = 0; row < BAND && top + row < d->def->height; row++)
            for (int x = 0; x < d->def->width; x++)
                shade_pixel(d, &raster, has_bones ? &bones : NULL, x, top + row, row);
    }
}

static void place_ground(drawing* d, const ct_trajectory* file) {
    ct_ground_grid* grid = &d->grid;
    double size = 0;
    grid->up_axis = file->info.up;
    for (int k = 0; k < 3; k++) {
        grid->lower[k] = file->lower[k];
        grid->upper[k] = file->upper[k];
        grid->center[k] = 0.5 * (file->lower[k] + file->upper[k]);
        size = fmax(size, file->upper[k] - file->lower[k]);
    }
    if (!(size > 0)) size = 1;
    double given = file->info.ground;
    if (isfinite(given)) grid->height = given;
    else if (!ct_obstacle_ground(file, d->obstacle_poses, &grid->height)) {
        double foot = ct_obstacle_slope_foot(file, d->obstacle_poses, grid->center, PLANE_REACH * size);
        grid->height = fmin(file->lower[grid->up_axis] - 2e-3 * size, foot);
    }
    grid->spacing = ct_label_round(0.5 * size);
    grid->reach = 2.6 * size;
}

static void place_camera(drawing* d, const ct_trajectory* file) {
    double aspect = (double)d->def->width / d->def->height, lower[3], upper[3];
    const ct_view* view = !d->def->view.automatic ? &d->def->view : &file->info.view;
    if (!view->automatic) {
        ct_camera_look(&d->camera, view, file->info.up, aspect);
        return;
    }
    memcpy(lower, file->lower, sizeof lower);
    memcpy(upper, file->upper, sizeof upper);
    double degrees = d->def->view.field_of_view > 0 ? d->def->view.field_of_view : 30;
    ct_camera_frame(&d->camera, lower, upper, file->info.up, degrees, aspect);
}

const char* ct_picture_color(int index) {
    if (index < 0) return NULL;
    for (int k = 1; k < index; k++)
        if (!ct_trajectory_fields[k - 1].name) return NULL;
    return index == 0 ? "body" : ct_trajectory_fields[index - 1].name;
}

static ct_status check_def(const ct_picture_def* def, ct_error* error) {
    if (def->width < 16 || def->height < 16 || def->width > 16384 || def->height > 16384)
        return ct_fail(error, CT_BAD_ARGUMENT, "a picture of %d x %d pixels: each side must be 16 to 16384",
                       def->width, def->height);
    if (def->samples < 1 || def->samples > MAX_SAMPLES)
        return ct_fail(error, CT_BAD_ARGUMENT, "samples is %d: choose 1 to %d", def->samples, MAX_SAMPLES);
    if (!(def->contact_scale >= 0) || !isfinite(def->contact_scale))
        return ct_fail(error, CT_BAD_ARGUMENT, "contact_scale is %g: choose m per newton, or 0",
                       def->contact_scale);
    for (int k = 0; ct_picture_color(k); k++)
        if (def->color_by && strcmp(def->color_by, ct_picture_color(k)) == 0) return CT_OK;
    return ct_fail(error, CT_BAD_ARGUMENT,
                   "color_by is \"%s\": choose body, displacement, velocity, stress, energy, volume, contact "
                   "or activation",
                   def->color_by ? def->color_by : "");
}

// Ivory in dark flesh; darker, the lighter the lightest body is.
static double bone_tone(const ct_trajectory* file, bool flesh) {
    double lightest = 0;
    for (int b = 0; b < file->info.nbody && flesh; b++) {
        const double* color = file->body_color + 3 * b;
        lightest = fmax(lightest, 0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2]);
    }
    return 1 - 0.55 * fmin(1, fmax(0, (lightest - 0.7) / 0.2));
}

// Colours of bodies and obstacles, and whose insides may be seen.
static void paint(drawing* d, ct_arena* arena, const ct_trajectory* file) {
    int nbody = file->info.nbody, count = nbody + file->info.nobstacle;
    d->color = ct_arena_alloc(arena, 3 * (size_t)count, sizeof(double));
    d->two_sided = ct_arena_alloc(arena, (size_t)count, sizeof(bool));
    if (arena->failed) return;
    for (int i = 0; i < 3 * count; i++) {
        double tone = i < 3 * nbody ? file->body_color[i] : file->obstacle[i / 3 - nbody].color[i % 3];
        d->color[i] = ct_color_linear(fmin(1, fmax(0, tone)));
    }
    for (int t = 0; t < file->info.ntri; t++) d->two_sided[file->tri_body[t]] = true;
    for (int k = nbody; k < count; k++) d->two_sided[k] = true;
}

static ct_status add_bones(drawing* d, ct_arena* arena, ct_trajectory* file, int frame, ct_error* error) {
    ct_bone_list bones;
    double* poses = ct_arena_alloc(arena, 12 * (size_t)file->info.nlink, sizeof *poses);
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = ct_trajectory_read_links_into(file, frame, NULL, poses, error);
    if (status) return status;
    d->bone_tone = bone_tone(file, d->flesh);
    d->clear = 0.12 * ct_picture_bones(&bones, arena, file);
    if (!arena->failed) ct_bone_dress(&d->skin, arena, &bones, file, poses);
    d->skin.nbone = d->skin.ntri;
    return arena->failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

// Cables are seen through flesh as bones are.
static ct_status add_cables(drawing* d, ct_arena* arena, ct_trajectory* file, int frame, ct_error* error) {
    const double* at;
    double size = d->grid.reach / 2.6;
    ct_status status = ct_trajectory_read_cables(file, frame, &at, error);
    if (status) return status;
    if (!(d->clear > 0)) d->clear = 0.12 * size;
    if (!(d->bone_tone > 0)) d->bone_tone = 1;
    ct_bone_cables(&d->skin, arena, file, at, 0.004 * size);
    d->skin.nbone = d->skin.ntri;
    return arena->failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

static ct_status add_arrows(drawing* d, ct_arena* arena, ct_trajectory* file, int frame, ct_error* error) {
    const ct_contact* list;
    int count;
    double force = 0, size = d->grid.reach / 2.6, scale = d->def->contact_scale;
    ct_status status = ct_picture_force(file, &force, error);
    if (!status) status = ct_trajectory_read_contacts(file, frame, &list, &count, error);
    if (status) return status;
    if (!(scale > 0)) scale = force > 0 ? 0.2 * size / force : 0;
    ct_obstacle_arrows(&d->skin, arena, list, count, scale, d->def->contact_scale > 0 ? INFINITY : 0.3 * size,
                       size);
    return CT_OK;
}

// The flesh, the obstacles, the bones and the arrows as one surface.
static ct_status dress(drawing* d, ct_arena* arena, ct_trajectory* file, int frame, const double* x,
                       ct_error* error) {
    ct_obstacle_look look = {
        .reach = PLANE_REACH * d->grid.reach / 2.6, .eye = d->camera.eye, .ground = d->grid.height};
    memcpy(look.center, d->grid.center, sizeof look.center);
    d->plane_reach = look.reach;
    paint(d, arena, file);
    ct_skin_create(&d->skin, arena, file, x);
    d->flesh = file->info.nsurface > 0 && !(d->def->bones == CT_BONES_ONLY && file->info.nlink);
    if (!d->flesh && !arena->failed) ct_skin_strip(&d->skin);
    if (file->info.nobstacle) ct_obstacle_dress(&d->skin, arena, file, d->obstacle_poses, &look);
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = CT_OK;
    if (d->def->bones != CT_BONES_OFF && file->info.nlink) status = add_bones(d, arena, file, frame, error);
    if (!status && file->info.ncable) status = add_cables(d, arena, file, frame, error);
    if (!status && d->def->contacts && file->info.contact) status = add_arrows(d, arena, file, frame, error);
    return !status && arena->failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : status;
}

static void light_up(drawing* d, ct_arena* arena, const ct_trajectory* file) {
    double ground = d->grid.height, size = d->grid.reach / 2.6;
    const ct_skin* skin = &d->skin;
    ct_light_create(&d->light, arena, skin, &d->camera, file->info.up, ground, size);
    if (skin->nbone == skin->nflesh) return;
    ct_skin bones = *skin;
    bones.tri += 3 * skin->nflesh;
    bones.body += skin->nflesh;
    bones.ntri -= skin->nflesh;
    if (skin->nflesh) ct_light_create(&d->bone_light, arena, &bones, &d->camera, file->info.up, ground, size);
    else d->bone_light = d->light;
}

// Rows that each triangle may touch; all where a corner is behind the eye.
static void find_rows(drawing* d) {
    for (int t = 0; t < d->skin.ntri; t++) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < 3; k++) {
            const double* clip = d->clip + 4 * d->skin.tri[3 * t + k];
            bool front = clip[3] > d->camera.near;
            double y = (1 - clip[1] / clip[3]) * 0.5 * d->def->height;
            low = fmin(low, front ? y : -INFINITY);
            high = fmax(high, front ? y : INFINITY);
        }
        d->rows[2 * t] = (int)fmax(-1, fmin(d->def->height, floor(low) - 1));
        d->rows[2 * t + 1] = (int)fmax(-1, fmin(d->def->height, ceil(high) + 1));
    }
}

// Everything that the bands read.
static ct_status prepare(drawing* d, ct_arena* arena, ct_trajectory* file, int frame, double* time,
                         ct_error* error) {
    const ct_picture_def* def = d->def;
    size_t nvert = (size_t)file->info.nvert;
    double* x = ct_arena_alloc(arena, 3 * nvert, sizeof(double));
    double* value = ct_arena_alloc(arena, nvert, sizeof(double));
    d->obstacle_poses = ct_arena_alloc(arena, 6 * (size_t)file->info.nobstacle, sizeof(double));
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    ct_status status = ct_trajectory_read_into(file, frame, x, NULL, time, NULL, error);
    if (!status) status = ct_trajectory_read_obstacles_into(file, frame, d->obstacle_poses, error);
    if (!status) status = ct_picture_bounds(file, error);
    if (!status && strcmp(def->color_by, "body") != 0) {
        status = ct_skin_values(file, frame, def->color_by, value, error);
        if (!status) status = ct_picture_range(file, def, &d->low, &d->high, error);
    } else value = NULL;
    if (status) return status;
    place_ground(d, file);
    place_camera(d, file);
    for (int k = 0; k < 3; k++) d->backdrop[k] = ct_color_linear(fmin(1, fmax(0, def->background[k])));
    status = dress(d, arena, file, frame, x, error);
    if (status) return status;
    d->skin.value = value;
    d->clip = ct_arena_alloc(arena, 4 * (size_t)d->skin.nvert, sizeof(double));
    for (int i = 0; i < d->skin.nvert && d->clip; i++)
        ct_camera_project(&d->camera, d->skin.x + 3 * i, d->clip + 4 * i);
    d->rows = ct_arena_alloc(arena, 2 * (size_t)d->skin.ntri, sizeof(int));
    if (arena->failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    find_rows(d);
    for (int k = 0; k < TONES + 2; k++)
        d->tone[k] = (float)(255 * ct_color_srgb((double)k * k / ((double)TONES * TONES)));
    light_up(d, arena, file);
    for (int k = 0; k < 2 * SLOTS; k++) {
        if (k >= SLOTS && d->skin.ntri == d->skin.nflesh) break;
        ct_raster_create(k < SLOTS ? &d->raster[k] : &d->bone_raster[k - SLOTS], arena,
                         def->width * def->samples, def->height * def->samples, BAND * def->samples,
                         d->camera.near);
    }
    return arena->failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

ct_status ct_picture_draw(ct_trajectory* file, int frame, const ct_picture_def* def, uint8_t* pixels,
                          ct_error* error) {
    CT_NEED(error, file, def);
    ct_error_clear(error);
    ct_status status = check_def(def, error);
    if (status) return status;
    ct_arena arena = {0};
    ct_threads* threads = NULL;
    drawing* d = ct_arena_alloc(&arena, 1, sizeof *d);
    double time = 0;
    if (!d || ct_threads_create(&threads, 0)) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (!status) {
        d->def = def;
        d->pixels = pixels;
        status = prepare(d, &arena, file, frame, &time, error);
    }
    if (!status) {
        ct_threads_run(threads, SLOTS, draw_bands, d);
        ct_canvas canvas = {pixels, def->width, def->height};
        bool dark = def->background[0] + def->background[1] + def->background[2] < 1.2;
        if (def->grid && d->camera.eye[d->grid.up_axis] > d->grid.height)
            ct_label_grid(&canvas, &d->camera, &d->grid, dark);
        if (def->mark) ct_label_mark(&canvas, &d->camera, def->mark);
        if (def->label) ct_label_time(&canvas, time, dark);
        if (def->title) ct_label_title(&canvas, def->title, dark);
        if (def->label && d->skin.value && d->flesh)
            ct_label_bar(&canvas, def->color_by, d->low, d->high, dark);
    }
    ct_threads_free(threads);
    ct_arena_free(&arena);
    return status;
}
