// Line plots: series of points over common axes, with ticks, labels and a legend; linear or logarithmic upwards.
//
// A value v is at the fraction (f(v) - low) / (high - low) of the frame, f the identity or log10. Lines are drawn with soft edges:
// a pixel's cover is that of a strip whose middle is as far from it as the segment.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "out/label.h"
#include "out/text.h"

enum { MAX_SIZE = 16384, MAX_TICKS = 64 };

static const double palette[][3] = {{0.12, 0.36, 0.64}, {0.80, 0.33, 0.12}, {0.20, 0.55, 0.30}, {0.55, 0.30, 0.60}, {0.45, 0.45, 0.45}};
enum { NPALETTE = sizeof palette / sizeof palette[0] };
static const double dark[3] = {0.16, 0.17, 0.20}, pale[3] = {0.86, 0.87, 0.89};

typedef struct axis {
    double low, high;  // of f(v)
    bool logarithmic;
} axis;

typedef struct plot {
    ct_canvas canvas;
    double left, right, top, bottom;  // frame, pixels
    double text;                      // height of capitals
    axis x, y;
} plot;

ct_plot_def ct_plot_def_default(void) { return (ct_plot_def){.width = 800, .height = 500}; }

// ---- axes ----------------------------------------------------------------------------------

// f(v); NAN where the axis has no place for it.
static double axis_of(const axis* a, double v) { return !a->logarithmic ? v : v > 0 ? log10(v) : NAN; }

static void axis_fit(axis* a, const ct_plot_series* series, int nseries, bool upwards) {
    a->low = INFINITY, a->high = -INFINITY;
    for (int s = 0; s < nseries; s++)
        for (int i = 0; i < series[s].count; i++) {
            double f = axis_of(a, upwards ? series[s].y[i] : series[s].x[i]);
            if (isfinite(f)) a->low = fmin(a->low, f), a->high = fmax(a->high, f);
        }
    if (!(a->low <= a->high)) a->low = 0, a->high = 1;
    double span = a->high - a->low, least = a->logarithmic ? 0.1 : fmax(1e-9 * fabs(a->high), 1e-300);
    double pad = span > least ? (upwards ? 0.06 * span : 0) : fmax(least, a->logarithmic ? 0 : 0.5 * fabs(a->high));
    a->low -= pad, a->high += pad;
    if (!(a->high > a->low)) a->low -= 0.5, a->high += 0.5;
}

typedef struct tick {
    double at;       // fraction of the axis
    char text[40];
} tick;

static int add_tick(const axis* a, tick* ticks, int count, double f) {
    double at = (f - a->low) / (a->high - a->low);
    if (count >= MAX_TICKS || at < -1e-9 || at > 1 + 1e-9) return count;
    ticks[count].at = at;
    return count + 1;
}

// Powers of ten, every so many; within two decades also 2 and 5 times.
static int ticks_log(const axis* a, tick* ticks) {
    int first = (int)floor(a->low), last = (int)ceil(a->high), stride = 1 + (last - first) / 8, count = 0;
    for (int e = first; e <= last; e++) {
        if (a->high - a->low >= 2 && e % stride != 0) continue;
        for (int lead = 1; lead <= (a->high - a->low < 2 ? 5 : 1); lead = lead == 1 ? 2 : lead == 2 ? 5 : 6) {
            int before = count;
            count = add_tick(a, ticks, count, e + log10(lead));
            if (count > before) snprintf(ticks[before].text, sizeof ticks->text, "%de%d", lead, e);
        }
    }
    return count;
}

static int ticks_linear(const axis* a, tick* ticks) {
    double step = ct_label_round((a->high - a->low) / 4);
    int count = 0;
    for (double f = ceil(a->low / step) * step; f <= a->high + 1e-9 * step && count < MAX_TICKS; f += step) {
        int before = count;
        count = add_tick(a, ticks, count, f);
        if (count > before) snprintf(ticks[before].text, sizeof ticks->text, "%g", fabs(f) < 1e-9 * step ? 0 : f);
    }
    return count;
}

static int find_ticks(const axis* a, tick* ticks) { return a->logarithmic ? ticks_log(a, ticks) : ticks_linear(a, ticks); }

// ---- drawing -------------------------------------------------------------------------------

static double clamp(double v, double low, double high) { return v < low ? low : v > high ? high : v; }

static void draw_line(const ct_canvas* canvas, const double a[2], const double b[2], double width, const double color[3]) {
    double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy, reach = 0.5 * width + 1;
    int x0 = (int)clamp(floor(fmin(a[0], b[0]) - reach), 0, canvas->width), x1 = (int)clamp(ceil(fmax(a[0], b[0]) + reach), 0, canvas->width);
    int y0 = (int)clamp(floor(fmin(a[1], b[1]) - reach), 0, canvas->height), y1 = (int)clamp(ceil(fmax(a[1], b[1]) + reach), 0, canvas->height);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double px = x + 0.5 - a[0], py = y + 0.5 - a[1], t = square > 0 ? clamp((px * dx + py * dy) / square, 0, 1) : 0;
            double cover = clamp(0.5 * width + 0.5 - hypot(px - t * dx, py - t * dy), 0, 1);
            if (cover > 0) ct_canvas_blend(canvas, x, y, color, cover);
        }
}

static void draw_rule(const plot* p, double x0, double y0, double x1, double y1, const double color[3]) {
    double a[2] = {floor(x0) + 0.5, floor(y0) + 0.5}, b[2] = {floor(x1) + 0.5, floor(y1) + 0.5};
    draw_line(&p->canvas, a, b, 1, color);
}

static void draw_axes(const plot* p) {
    ct_ink ink = {.color = {dark[0], dark[1], dark[2]}, .alpha = 0.9};
    tick ticks[MAX_TICKS];
    int count = find_ticks(&p->y, ticks);
    for (int k = 0; k < count; k++) {
        double y = p->bottom + ticks[k].at * (p->top - p->bottom);
        draw_rule(p, p->left, y, p->right, y, pale);
        ct_text_draw(&p->canvas, ticks[k].text, p->left - 0.7 * p->text, y + 0.5 * p->text, p->text, 1, &ink);
    }
    count = find_ticks(&p->x, ticks);
    for (int k = 0; k < count; k++) {
        double x = p->left + ticks[k].at * (p->right - p->left);
        draw_rule(p, x, p->top, x, p->bottom, pale);
        ct_text_draw(&p->canvas, ticks[k].text, x, p->bottom + 1.9 * p->text, p->text, 0.5, &ink);
    }
    draw_rule(p, p->left, p->top, p->left, p->bottom, dark);
    draw_rule(p, p->left, p->bottom, p->right, p->bottom, dark);
}

static bool place(const plot* p, const ct_plot_series* series, int i, double point[2]) {
    double fx = axis_of(&p->x, series->x[i]), fy = axis_of(&p->y, series->y[i]);
    if (!isfinite(fx) || !isfinite(fy)) return false;
    point[0] = p->left + (fx - p->x.low) / (p->x.high - p->x.low) * (p->right - p->left);
    point[1] = p->bottom + (fy - p->y.low) / (p->y.high - p->y.low) * (p->top - p->bottom);
    return true;
}

static void draw_series(const plot* p, const ct_plot_series* series, const double color[3]) {
    double last[2], point[2];
    bool drawn = false;
    for (int i = 0; i < series->count; i++) {
        bool here = place(p, series, i, point);
        if (here) draw_line(&p->canvas, drawn ? last : point, point, drawn ? 2 : 3, color);
        drawn = here;
        memcpy(last, point, sizeof last);
    }
}

static void draw_texts(const plot* p, const ct_plot_def* def, const ct_plot_series* series, int nseries) {
    ct_ink ink = {.color = {dark[0], dark[1], dark[2]}, .alpha = 1};
    double size = p->text;
    if (def->title) ct_text_draw(&p->canvas, def->title, 0.5 * (p->left + p->right), p->top - 1.3 * size, 1.2 * size, 0.5, &ink);
    if (def->x_label) ct_text_draw(&p->canvas, def->x_label, p->right, p->bottom + 4 * size, size, 1, &ink);
    if (def->y_label) ct_text_draw(&p->canvas, def->y_label, 0.7 * size, p->top - 1.3 * size, size, 0, &ink);
    for (int s = 0; s < nseries && nseries > 1; s++) {
        if (!series[s].name) continue;
        double y = p->top + (1.5 + 1.9 * s) * size, a[2] = {p->right - 0.5 * size, y - 0.5 * size}, b[2] = {a[0] - 3 * size, a[1]};
        draw_line(&p->canvas, b, a, 2, palette[s % NPALETTE]);
        ct_text_draw(&p->canvas, series[s].name, b[0] - 0.7 * size, y, size, 1, &ink);
    }
}

ct_status ct_plot_save(const char* path, const ct_plot_def* def, const ct_plot_series* series, int nseries, ct_error* error) {
    ct_error_clear(error);
    if (def->width < 100 || def->height < 80 || def->width > MAX_SIZE || def->height > MAX_SIZE)
        return ct_fail(error, CT_BAD_ARGUMENT, "a plot is from 100 x 80 to %d x %d pixels, not %d x %d", MAX_SIZE, MAX_SIZE, def->width, def->height);
    size_t bytes = 3 * (size_t)def->width * (size_t)def->height;
    uint8_t* pixels = ct_alloc(bytes, 1);
    if (!pixels) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    memset(pixels, 255, bytes);
    double size = fmax(6, def->height / 46.0);
    plot p = {.canvas = {pixels, def->width, def->height}, .left = 6.5 * size, .right = def->width - 2 * size,
              .top = 4 * size, .bottom = def->height - 5 * size, .text = size, .y.logarithmic = def->log_y};
    axis_fit(&p.x, series, nseries, false);
    axis_fit(&p.y, series, nseries, true);
    draw_axes(&p);
    for (int s = 0; s < nseries; s++) draw_series(&p, &series[s], palette[s % NPALETTE]);
    draw_texts(&p, def, series, nseries);
    ct_status status = ct_picture_save(path, pixels, def->width, def->height, error);
    ct_free(pixels);
    return status;
}
