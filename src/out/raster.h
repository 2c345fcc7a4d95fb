// A z-buffer of triangles: which triangle is seen at each sample, and where in it.
//
// A raster covers the rows [first_row, first_row + rows) of a picture of width x height samples; bands of one
// picture are drawn one by one or at the same time. Vertices come in clip coordinates (x y z w): sample
// position ((x/w + 1) width/2, (1 - y/w) height/2), depth z/w, the smaller the nearer. Samples sit at
// centres; a sample on an edge shared by two triangles belongs to exactly one of them (top-left rule).
#ifndef CT_OUT_RASTER_H
#define CT_OUT_RASTER_H

#include "base/memory.h"

typedef struct ct_raster {
    int width, height;    // of the whole picture, in samples
    int first_row, rows;  // of this band
    double near;          // parts with w below it are cut off; > 0
    float* depth;         // width rows
    int* id;              // width rows   triangle, -1: none
    float* weight;        // 2 width rows perspective-correct weights of vertices 1 and 2
} ct_raster;

// Buffers for `rows` rows of `width` samples in `arena`, which is marked failed when memory is short.
void ct_raster_create(ct_raster* raster, ct_arena* arena, int width, int height, int rows, double near);
void ct_raster_begin(ct_raster* raster, int first_row);  // clears, for the band that begins here
void ct_raster_triangle(ct_raster* raster, int id, const double clip[3][4]);

#endif
