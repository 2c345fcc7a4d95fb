// What is written over a picture; see label.h.
#include "out/label.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "out/color.h"
#include "out/trajectory.h"

static double text_size(const ct_canvas* canvas) {
    return fmax(7, (canvas->height < canvas->width ? canvas->height : canvas->width) / 52.0);
}

static ct_ink ink_for(bool dark, double alpha) {
    double tone = dark ? 0.92 : 0.16;
    return (ct_ink){.color = {tone, tone + 0.01, tone + 0.03}, .alpha = alpha, .halo = 0.16};
}

double ct_label_round(double value) {
    if (!(value > 0) || !isfinite(value)) return 1;
    double power = pow(10, floor(log10(value))), lead = value / power;
    return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

// Digits after the point that multiples of `spacing` need.
static int digits_for(double spacing) {
    int digits = (int)ceil(-log10(spacing) - 1e-9);
    return digits < 0 ? 0 : digits > 9 ? 9 : digits;
}

// Like %.*f, whatever the user's language has for a point.
static void format_number(char* text, size_t size, double value, int digits) {
    if (fabs(value) < 0.5 * pow(10, -digits)) value = 0;
    snprintf(text, size, "%.*f", digits, value);
    for (; *text; text++)
        if (*text == ',') *text = '.';
}

void ct_label_color(const char* field, double t, double rgb[3]) {
    if (strcmp(field, "volume") == 0) ct_color_map_diverging(t, rgb);
    else ct_color_map(t, rgb);
}

void ct_label_title(const ct_canvas* canvas, const char* title, bool dark) {
    double size = text_size(canvas);
    ct_ink ink = ink_for(dark, 0.9);
    ct_text_draw(canvas, title, 0.5 * canvas->width, 2.8 * size, 1.15 * size, 0.5, &ink);
}

void ct_label_time(const ct_canvas* canvas, double time, bool dark) {
    char number[64], text[80];
    double size = text_size(canvas);
    ct_ink ink = ink_for(dark, 0.85);
    format_number(number, sizeof number, time, 3);
    snprintf(text, sizeof text, "t = %s s", number);
    ct_text_draw(canvas, text, 1.8 * size, 2.8 * size, size, 0, &ink);
}

static bool place(const ct_canvas* canvas, const ct_camera* camera, const double point[3], double* x,
                  double* y) {
    double clip[4];
    ct_camera_project(camera, point, clip);
    if (clip[3] <= camera->near) return false;
    *x = (clip[0] / clip[3] + 1) * 0.5 * canvas->width;
    *y = (1 - clip[1] / clip[3]) * 0.5 * canvas->height;
    return *x > 0 && *x<canvas->width&& * y> 0 && *y < canvas->height - 2 * text_size(canvas);
}

void ct_label_mark(const ct_canvas* canvas, const ct_camera* camera, const double point[3]) {
    double x, y, radius = 0.9 * text_size(canvas), reach = radius + 3;
    static const double red[3] = {0.85, 0.10, 0.15}, white[3] = {1, 1, 1};
    if (!place(canvas, camera, point, &x, &y)) return;
    for (int j = (int)floor(y - reach); j <= (int)ceil(y + reach); j++)
        for (int i = (int)floor(x - reach); i <= (int)ceil(x + reach); i++) {
            if (i < 0 || j < 0 || i >= canvas->width || j >= canvas->height) continue;
            double r = hypot(i + 0.5 - x, j + 0.5 - y), away = fmin(fabs(r - radius), r),
                   width = 0.12 * radius + 0.6;
            ct_canvas_blend(canvas, i, j, white, 0.7 * fmin(1, fmax(0, width + 1.5 - away)));
            ct_canvas_blend(canvas, i, j, red, fmin(1, fmax(0, width + 0.5 - away)));
        }
}

void ct_label_grid(const ct_canvas* canvas, const ct_camera* camera, const ct_ground_grid* grid, bool dark) {
    int a = (grid->up_axis + 1) % 3, b = (grid->up_axis + 2) % 3;
    int along = fabs(camera->right[a]) > fabs(camera->right[b]) ? a : b, across = along == a ? b : a;
    double step = grid->spacing, scale = step >= 0.5 ? 1 : step >= 0.005 ? 100 : 1000;
    const char* name = scale == 1 ? "m" : scale == 100 ? "cm" : "mm";
    bool toward_high = camera->eye[across] > grid->center[across];
    double side = toward_high ? ceil(grid->upper[across] / step + 0.15) * step
                              : floor(grid->lower[across] / step - 0.15) * step;
    long first = lround(floor(grid->lower[along] / step)), last = lround(ceil(grid->upper[along] / step));
    ct_ink ink = ink_for(dark, 0.5);
    double size = 0.78 * text_size(canvas), point[3], x, y, rightmost = -1;
    long unit_at = first;
    point[grid->up_axis] = grid->height;
    point[across] = side;
    // The unit stands at the number furthest to the right.
    for (long k = first; k <= last && last - first < 64; k++) {
        point[along] = (double)k * step;
        if (!place(canvas, camera, point, &x, &y) || x < rightmost) continue;
        rightmost = x;
        unit_at = k;
    }
    for (long k = first; k <= last && last - first < 64; k++) {
        char number[48], text[64];
        point[along] = (double)k * step;
        if (!place(canvas, camera, point, &x, &y)) continue;
        format_number(number, sizeof number, (double)k * step * scale, digits_for(step * scale));
        snprintf(text, sizeof text, "%s%s%s", number, k == unit_at ? " " : "", k == unit_at ? name : "");
        ct_text_draw(canvas, text, x - 0.5 * ct_text_width(number, size), y + 1.6 * size, size, 0, &ink);
    }
}

// Picks the power of a thousand that suits the largest number; the prefix goes before the unit.
static double prefix_for(double largest, const char** prefix) {
    static const struct {
        double scale;
        const char* name;
    } steps[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}};
    for (size_t k = 0; k < 6; k++)
        if (largest >= steps[k].scale) {
            *prefix = steps[k].name;
            return steps[k].scale;
        }
    *prefix = "";
    return 1;
}

static void bar_colors(const ct_canvas* canvas, const char* field, int x, int y, int width, int height,
                       const ct_ink* ink) {
    for (int j = 0; j < height; j++) {
        double rgb[3];
        ct_label_color(field, 1 - (j + 0.5) / height, rgb);
        for (int k = 0; k < 3; k++) rgb[k] = ct_color_srgb(rgb[k]);
        for (int i = 0; i < width; i++) {
            bool edge = i == 0 || j == 0 || i == width - 1 || j == height - 1;
            ct_canvas_blend(canvas, x + i, y + j, edge ? ink->color : rgb, edge ? 0.5 : 1);
        }
    }
}

void ct_label_bar(const ct_canvas* canvas, const char* field, double low, double high, bool dark) {
    const ct_trajectory_field* shown = &ct_trajectory_fields[0];
    for (const ct_trajectory_field* f = ct_trajectory_fields; f->name; f++)
        if (strcmp(f->name, field) == 0) shown = f;
    const char* prefix = "";
    double scale = shown->prefixed ? prefix_for(fmax(fabs(low), fabs(high)), &prefix) : 1;
    double size = text_size(canvas), a = low / scale, b = high / scale, span = b - a;
    int height = (int)(0.42 * canvas->height), width = (int)fmax(6, 1.05 * size);
    int x = (int)(canvas->width - 6.2 * size), y = (int)(0.5 * (canvas->height - height));
    ct_ink ink = ink_for(dark, 0.85);
    bar_colors(canvas, field, x, y, width, height, &ink);
    char text[96], number[48];
    double step = ct_label_round(span / 4);
    for (double k = ceil(a / step - 1e-9); span > 0 && k * step <= b + 1e-9 * span; k++) {
        double at = y + height * (b - k * step) / span;
        format_number(number, sizeof number, k * step, digits_for(step));
        ct_text_draw(canvas, number, x + width + 0.6 * size, at + 0.42 * size, 0.85 * size, 0, &ink);
        for (int i = 0; i < width / 3; i++)
            ct_canvas_blend(canvas, x + width - 1 - i, (int)at, ink.color, 0.6);
    }
    bool bare = !*shown->unit;
    snprintf(text, sizeof text, "%s%s%s%s%s", shown->title, bare ? "" : " (", prefix, shown->unit,
             bare ? "" : ")");
    ct_text_draw(canvas, text, canvas->width - 1.8 * size, y - 1.2 * size, 0.9 * size, 1, &ink);
}
