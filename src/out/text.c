// Text: each glyph becomes a list of segments, and each pixel near it is covered by the distance to the
// nearest.
#include "out/text.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "out/font.h"

#define PI 3.14159265358979323846
#define MAX_SEGMENTS 96
#define STROKE 0.115  // line width as a share of the height of capitals

typedef struct segments {
    int count;
    double line[MAX_SEGMENTS][4];
    double x, y;  // pen
    bool down;
} segments;

void ct_canvas_blend(const ct_canvas* canvas, int x, int y, const double color[3], double alpha) {
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height || !(alpha > 0)) return;
    uint8_t* pixel = canvas->pixels + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
    if (alpha > 1) alpha = 1;
    for (int k = 0; k < 3; k++) pixel[k] = (uint8_t)(pixel[k] + alpha * (255 * color[k] - pixel[k]) + 0.5);
}

static const ct_glyph* find_glyph(char character) {
    for (size_t k = 0; k < sizeof ct_font / sizeof ct_font[0]; k++)
        if (ct_font[k].character == character) return &ct_font[k];
    return NULL;
}

static void line_to(segments* s, double x, double y) {
    if (s->down && s->count < MAX_SEGMENTS) {
        double* line = s->line[s->count++];
        line[0] = s->x;
        line[1] = s->y;
        line[2] = x;
        line[3] = y;
    }
    s->x = x;
    s->y = y;
    s->down = true;
}

static void arc_to(segments* s, const double a[6]) {
    int pieces = 3 + (int)(fabs(a[5] - a[4]) / 18);
    for (int k = 0; k <= pieces; k++) {
        double angle = (a[4] + (a[5] - a[4]) * k / pieces) * PI / 180;
        line_to(s, a[0] + a[2] * cos(angle), a[1] + a[3] * sin(angle));
    }
}

// A plain decimal number; strtod would read it by the rules of the user's language.
static double read_number(const char** at) {
    const char* p = *at;
    double value = 0, scale = 1;
    while (*p == ' ') p++;
    bool negative = *p == '-';
    if (negative) p++;
    for (; *p >= '0' && *p <= '9'; p++) value = 10 * value + (*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++) value += (*p - '0') * (scale *= 0.1);
    *at = p;
    return negative ? -value : value;
}

static void read_path(const char* path, segments* s) {
    s->count = 0;
    s->down = false;
    while (*path) {
        char command = *path++;
        int wanted = command == 'A' ? 6 : command == 'M' || command == 'L' ? 2 : 0;
        double a[6] = {0};
        for (int k = 0; k < wanted; k++) a[k] = read_number(&path);
        if (command == 'M' || command == '/') s->down = false;
        if (command == 'A') arc_to(s, a);
        else if (wanted == 2) line_to(s, a[0], a[1]);
    }
}

static double distance(const segments* s, double x, double y) {
    double best = 1e30;
    for (int k = 0; k < s->count; k++) {
        const double* l = s->line[k];
        double dx = l[2] - l[0], dy = l[3] - l[1], square = dx * dx + dy * dy;
        double t = square > 0 ? ((x - l[0]) * dx + (y - l[1]) * dy) / square : 0;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        double ex = x - l[0] - t * dx, ey = y - l[1] - t * dy;
        best = fmin(best, ex * ex + ey * ey);
    }
    return sqrt(best);
}

// One pass over the pixels around a glyph at (x, y), `unit` pixels per font unit.
static void draw_glyph(const ct_canvas* canvas, const segments* s, float width, double x, double y,
                       double unit, double half, double soft, const double color[3], double alpha) {
    double reach = half + soft + 1;
    for (int j = (int)floor(y - 8 * unit - reach); j <= (int)ceil(y + 3 * unit + reach); j++)
        for (int i = (int)floor(x - reach); i <= (int)ceil(x + (double)width * unit + reach); i++) {
            double far = unit * distance(s, (i + 0.5 - x) / unit, (y - j - 0.5) / unit) - half;
            double cover = soft > 0 ? 1 - far / soft : 0.5 - far;
            ct_canvas_blend(canvas, i, j, color, alpha * fmin(fmax(cover, 0), 1));
        }
}

// Walks the text; with a canvas it draws. Returns the width in pixels.
static double set_text(const ct_canvas* canvas, const char* text, double x, double y, double size, bool halo,
                       const ct_ink* ink) {
    double begin = x, unit = size / 7, gap = (double)CT_GLYPH_GAP * unit;
    for (; *text; text++) {
        bool raised = *text == '^' && text[1];
        if (raised) text++;
        double scale = raised ? 0.66 : 1;
        const ct_glyph* glyph = find_glyph(*text);
        if (!glyph) {
            x += (double)CT_GLYPH_SPACE * unit;
            continue;
        }
        if (canvas) {
            segments s;
            read_path(glyph->path, &s);
            double light = ink->color[0] + ink->color[1] + ink->color[2] > 1.5 ? 0 : 1,
                   rim[3] = {light, light, light};
            double half = fmax(0.5 * STROKE * size, 0.55) * (raised ? 0.85 : 1),
                   base = y - (raised ? 3.2 * unit : 0);
            if (halo)
                draw_glyph(canvas, &s, glyph->width, x, base, unit * scale, half, 0.3 * size, rim, ink->halo);
            else draw_glyph(canvas, &s, glyph->width, x, base, unit * scale, half, 0, ink->color, ink->alpha);
        }
        x += (double)glyph->width * unit * scale + gap;
    }
    return fmax(x - begin - gap, 0);
}

double ct_text_width(const char* text, double size) { return set_text(NULL, text, 0, 0, size, false, NULL); }

void ct_text_draw(const ct_canvas* canvas, const char* text, double x, double y, double size, double align,
                  const ct_ink* ink) {
    x -= align * ct_text_width(text, size);
    if (ink->halo > 0) set_text(canvas, text, x, y, size, true, ink);
    set_text(canvas, text, x, y, size, false, ink);
}
