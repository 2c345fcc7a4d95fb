// A motion for other programs: surfaces whose vertices move and whose triangles stay.
//
// Every body, obstacle and kind of bone is a part of its own, with vertices of its own: one for each node and
// each smooth piece of surface around it, so that a vertex has one normal. Planes are squares.
#ifndef CT_OUT_CACHE_H
#define CT_OUT_CACHE_H

#include "base/memory.h"
#include "out/trajectory.h"

typedef struct ct_cache_part {
    char name[96];    // letters, digits and `_`; no two are the same
    double color[3];  // linear
    bool sheet;       // seen from both sides
    int first_vertex, nvert;
    int first_tri, ntri;
    bool moves;
} ct_cache_part;

typedef struct ct_cache {
    ct_arena arena;  // owns every array
    int nframe, nvert, ntri, npart;
    ct_cache_part* part;
    int* tri;           // 3 ntri, counted from the part's first vertex
    double* time;       // nframe, s
    float *x, *normal;  // 3 nvert nframe
    int up;
} ct_cache;

// Frames first, first + stride, ... up to last. CT_BAD_ARGUMENT where surfaces do not stay the same,
// CT_BAD_FILE.
ct_status ct_cache_create(ct_cache* cache, ct_trajectory* file, int first, int last, int stride,
                          ct_error* error);
void ct_cache_free(ct_cache* cache);
// The frame's numbers of a part: 3 part->nvert.
static inline const float* ct_cache_of(const ct_cache* c, const float* all, int frame,
                                       const ct_cache_part* part) {
    return all + 3 * ((size_t)frame * (size_t)c->nvert + (size_t)part->first_vertex);
}

ct_status ct_export_usd(const ct_cache* cache, const char* path, const char* title, ct_error* error);
ct_status ct_export_gltf(const ct_cache* cache, const char* path, const char* title, ct_error* error);

#endif
