// Text and flat shapes on a finished RGB picture.
#ifndef CT_OUT_TEXT_H
#define CT_OUT_TEXT_H

#include <stdint.h>

typedef struct ct_canvas {
    uint8_t* pixels;  // 3 width height, top row first
    int width, height;
} ct_canvas;

typedef struct ct_ink {
    double color[3];  // sRGB 0..1
    double alpha;     // 0..1
    double halo;      // alpha of a soft rim in the opposite tone that keeps text readable over anything
} ct_ink;

// Width in pixels of a line of text whose capitals are `size` pixels high. `^` raises the next character.
double ct_text_width(const char* text, double size);
// Baseline starts at (x, y); align 0 left, 0.5 centred, 1 right.
void ct_text_draw(const ct_canvas* canvas, const char* text, double x, double y, double size, double align,
                  const ct_ink* ink);
void ct_canvas_blend(const ct_canvas* canvas, int x, int y, const double color[3], double alpha);

#endif
