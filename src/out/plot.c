// Line plots: series of points, with bands around them, over common axes with ticks, labels and a legend;
// each axis is linear or logarithmic.
//
// A value v is at the fraction (f(v) - low) / (high - low) of the frame, f the identity or log10. Lines are
// drawn with soft edges: a pixel's cover is that of a strip whose middle is as far from it as the segment.
// The legend takes the corner with the fewest points.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "out/label.h"
#include "out/text.h"

enum { MAX_SIZE = 16384, MAX_TICKS = 64 };

static const double palette[][3] = {{0.12, 0.36, 0.64}, {0.80, 0.33, 0.12}, {0.20, 0.55, 0.30},
                                    {0.55, 0.30, 0.60}, {0.45, 0.45, 0.45}, {0.72, 0.56, 0.05},
                                    {0.05, 0.60, 0.62}, {0.85, 0.35, 0.60}};
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

static void axis_include(axis* a, const double* values, int count) {
    for (int i = 0; i < count && values; i++) {
        double f = axis_of(a, values[i]);
        if (isfinite(f)) a->low = fmin(a->low, f), a->high = fmax(a->high, f);
    }
}

static void axis_fit(axis* a, const ct_plot_series* series, int nseries, bool upwards) {
    a->low = INFINITY, a->high = -INFINITY;
    for (const ct_plot_series* s = series; s < series + nseries; s++) {
        axis_include(a, upwards ? s->y : s->x, s->count);
        if (upwards && s->low && s->high)
            axis_include(a, s->low, s->count), axis_include(a, s->high, s->count);
    }
    if (!(a->low <= a->high)) a->low = 0, a->high = 1;
    double span = a->high - a->low, least = a->logarithmic ? 0.1 : fmax(1e-9 * fabs(a->high), 1e-300);
    double pad =
        span > least ? (upwards ? 0.06 * span : 0) : fmax(least, a->logarithmic ? 0 : 0.5 * fabs(a->high));
    a->low -= pad, a->high += pad;
    if (!(a->high > a->low)) a->low -= 0.5, a->high += 0.5;
}

typedef struct tick {
    double at;  // fraction of the axis
    char text[40];
} tick;

static int add_tick(const axis* a, tick* ticks, int count, double f) {
    double at = (f - a->low) / (a->high - a->low);
    if (count >= MAX_TICKS || at < -1e-9 || at > 1 + 1e-9) return count;
    ticks[count].at = at;
    return count + 1;
}

static void name_power(int lead, int e, char* text, size_t size) {
    if (e >= -4 && e <= 5) snprintf(text, size, "%g", lead * pow(10, e));
    else snprintf(text, size, "%de%d", lead, e);
}

// Powers of ten, every so many; within three decades also 2 and 5 times.
static int ticks_log(const axis* a, tick* ticks) {
    int first = (int)floor(a->low), last = (int)ceil(a->high), stride = 1 + (last - first) / 8, count = 0;
    for (int e = first; e <= last; e++) {
        if (a->high - a->low >= 3 && e % stride != 0) continue;
        for (int lead = 1; lead <= (a->high - a->low < 3 ? 5 : 1); lead = lead == 1 ? 2 : lead == 2 ? 5 : 6) {
            int before = count;
            count = add_tick(a, ticks, count, e + log10(lead));
            if (count > before) name_power(lead, e, ticks[before].text, sizeof ticks->text);
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
        if (count > before)
            snprintf(ticks[before].text, sizeof ticks->text, "%g", fabs(f) < 1e-9 * step ? 0 : f);
    }
    return count;
}

static int find_ticks(const axis* a, tick* ticks) {
    return a->logarithmic ? ticks_log(a, ticks) : ticks_linear(a, ticks);
}

// ---- drawing -------------------------------------------------------------------------------

static double clamp(double v, double low, double high) { return v < low ? low : v > high ? high : v; }

static void draw_line(const ct_canvas* canvas, const double a[2], const double b[2], double width,
                      const double color[3]) {
    double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy, reach = 0.5 * width + 1;
    int x0 = (int)clamp(floor(fmin(a[0], b[0]) - reach), 0, canvas->width),
        x1 = (int)clamp(ceil(fmax(a[0], b[0]) + reach), 0, canvas->width);
    int y0 = (int)clamp(floor(fmin(a[1], b[1]) - reach), 0, canvas->height),
        y1 = (int)clamp(ceil(fmax(a[1], b[1]) + reach), 0, canvas->height);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double px = x + 0.5 - a[0], py = y + 0.5 - a[1],
                   t = square > 0 ? clamp((px * dx + py * dy) / square, 0, 1) : 0;
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

static const double* color_of(const ct_plot_series* series, int index) {
    return palette[(series->color > 0 ? series->color - 1 : index) % NPALETTE];
}

// The strip between two neighbours of the band, column by column.
static void draw_strip(const plot* p, const double a[2][2], const double b[2][2], const double color[3]) {
    for (int x = (int)ceil(a[0][0] - 0.5); x + 0.5 < b[0][0]; x++) {
        double t = (x + 0.5 - a[0][0]) / (b[0][0] - a[0][0]);
        double top = a[1][1] + t * (b[1][1] - a[1][1]), bottom = a[0][1] + t * (b[0][1] - a[0][1]);
        for (int y = (int)clamp(floor(top), 0, p->canvas.height);
             y < bottom && x >= 0 && x < p->canvas.width && y < p->canvas.height; y++)
            ct_canvas_blend(&p->canvas, x, y, color, 0.16 * clamp(fmin(y + 1, bottom) - fmax(y, top), 0, 1));
    }
}

static void draw_band(const plot* p, const ct_plot_series* series, const double color[3]) {
    double last[2][2] = {{0}}, edge[2][2] = {{0}};  // below and above
    ct_plot_series low = *series, high = *series;
    bool drawn = false;
    low.y = series->low, high.y = series->high;
    for (int i = 0; i < series->count; i++) {
        bool here = place(p, &low, i, edge[0]) && place(p, &high, i, edge[1]);
        if (here && drawn) draw_strip(p, (const double(*)[2])last, (const double(*)[2])edge, color);
        drawn = here;
        memcpy(last, edge, sizeof last);
    }
}

// A thin line with gaps; *along is how far the pattern has come.
static void draw_dashes(const plot* p, const double a[2], const double b[2], double* along,
                        const double color[3]) {
    double length = hypot(b[0] - a[0], b[1] - a[1]), dash = 0.8 * p->text;
    for (int k = 2 * (int)(*along / (2 * dash)); k * dash < *along + length; k += 2) {
        double from = fmax(0, k * dash - *along) / length,
               to = fmin(length, (k + 1) * dash - *along) / length, c[2], d[2];
        for (int i = 0; i < 2; i++) c[i] = a[i] + from * (b[i] - a[i]), d[i] = a[i] + to * (b[i] - a[i]);
        if (to > from) draw_line(&p->canvas, c, d, 1.2, color);
    }
    *along += length;
}

static void draw_series(const plot* p, const ct_plot_series* series, const double color[3]) {
    double last[2], point[2], along = 0;
    bool drawn = false;
    for (int i = 0; i < series->count; i++) {
        bool here = place(p, series, i, point);
        if (here && drawn && series->dashed) draw_dashes(p, last, point, &along, color);
        else if (here && !series->dashed)
            draw_line(&p->canvas, drawn ? last : point, point, drawn ? 2 : 3, color);
        drawn = here;
        memcpy(last, point, sizeof last);
    }
}

// ---- the legend ----------------------------------------------------------------------------

typedef struct legend {
    double left, right, top, bottom;
    int lines;
} legend;

static legend size_legend(const plot* p, const ct_plot_series* series, int nseries) {
    legend l = {0};
    double widest = 0;
    for (int s = 0; s < nseries && nseries > 1; s++)
        if (series[s].name) widest = fmax(widest, ct_text_width(series[s].name, p->text)), l.lines++;
    l.right = widest + 5.5 * p->text, l.bottom = (1.9 * l.lines + 0.9) * p->text;
    return l;
}

static int points_within(const plot* p, const legend* l, const ct_plot_series* series, int nseries) {
    int count = 0;
    for (int s = 0; s < nseries; s++) {
        double last[2] = {0}, point[2];
        bool drawn = false;
        for (int i = 0; i < series[s].count; i++) {
            bool here = place(p, &series[s], i, point);
            for (int k = 0; k <= 20 && here && drawn; k++) {
                double x = last[0] + k / 20.0 * (point[0] - last[0]),
                       y = last[1] + k / 20.0 * (point[1] - last[1]);
                count += x >= l->left && x <= l->right && y >= l->top && y <= l->bottom;
            }
            drawn = here;
            memcpy(last, point, sizeof last);
        }
    }
    return count;
}

static legend place_legend(const plot* p, const ct_plot_series* series, int nseries) {
    legend best = {0}, size = size_legend(p, series, nseries);
    int fewest = 0;
    for (int corner = 0; corner < 4; corner++) {
        legend l = size;
        double x = corner % 2 ? p->left + p->text : p->right - size.right,
               y = corner / 2 ? p->bottom - size.bottom - 0.5 * p->text : p->top;
        l.left += x, l.right += x, l.top += y, l.bottom += y;
        int count = points_within(p, &l, series, nseries);
        if (corner == 0 || count < fewest) best = l, fewest = count;
    }
    return best;
}

static void draw_legend(const plot* p, const ct_plot_series* series, int nseries) {
    ct_ink ink = {.color = {dark[0], dark[1], dark[2]}, .alpha = 1};
    legend l = place_legend(p, series, nseries);
    double size = p->text, y = l.top + 1.5 * size;
    for (int s = 0; s < nseries && l.lines > 0; s++) {
        if (!series[s].name) continue;
        double a[2] = {l.right - 0.5 * size, y - 0.5 * size}, b[2] = {a[0] - 3 * size, a[1]}, along = 0;
        if (series[s].dashed) draw_dashes(p, b, a, &along, color_of(&series[s], s));
        else draw_line(&p->canvas, b, a, 2, color_of(&series[s], s));
        ct_text_draw(&p->canvas, series[s].name, b[0] - 0.7 * size, y, size, 1, &ink);
        y += 1.9 * size;
    }
}

static void draw_texts(const plot* p, const ct_plot_def* def) {
    ct_ink ink = {.color = {dark[0], dark[1], dark[2]}, .alpha = 1};
    double size = p->text;
    if (def->title)
        ct_text_draw(&p->canvas, def->title, 0.5 * (p->left + p->right), p->top - 1.3 * size, 1.2 * size, 0.5,
                     &ink);
    if (def->x_label) ct_text_draw(&p->canvas, def->x_label, p->right, p->bottom + 4 * size, size, 1, &ink);
    if (def->y_label) ct_text_draw(&p->canvas, def->y_label, 0.7 * size, p->top - 1.3 * size, size, 0, &ink);
}

ct_status ct_plot_save(const char* path, const ct_plot_def* def, const ct_plot_series* series, int nseries,
                       ct_error* error) {
    CT_NEED(error, path, def);
    ct_error_clear(error);
    if (def->width < 100 || def->height < 80 || def->width > MAX_SIZE || def->height > MAX_SIZE)
        return ct_fail(error, CT_BAD_ARGUMENT, "a plot is from 100 x 80 to %d x %d pixels, not %d x %d",
                       MAX_SIZE, MAX_SIZE, def->width, def->height);
    size_t bytes = 3 * (size_t)def->width * (size_t)def->height;
    uint8_t* pixels = ct_alloc(bytes, 1);
    if (!pixels) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    memset(pixels, 255, bytes);
    double size = fmax(6, def->height / 46.0);
    plot p = {.canvas = {pixels, def->width, def->height},
              .left = 6.5 * size,
              .right = def->width - 2 * size,
              .top = 4 * size,
              .bottom = def->height - 5 * size,
              .text = size,
              .x.logarithmic = def->log_x,
              .y.logarithmic = def->log_y};
    axis_fit(&p.x, series, nseries, false);
    axis_fit(&p.y, series, nseries, true);
    draw_axes(&p);
    for (int s = 0; s < nseries; s++)
        if (series[s].low && series[s].high) draw_band(&p, &series[s], color_of(&series[s], s));
    for (int s = 0; s < nseries; s++) draw_series(&p, &series[s], color_of(&series[s], s));
    draw_legend(&p, series, nseries);
    draw_texts(&p, def);
    ct_status status = ct_picture_save(path, pixels, def->width, def->height, error);
    ct_free(pixels);
    return status;
}
