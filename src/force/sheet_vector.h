// Vectors of 3-vectors, one a lane, for the kernels of sheets; included once per instruction set.
#ifndef CT_FORCE_SHEET_VECTOR_H
#define CT_FORCE_SHEET_VECTOR_H

#include "force/elastic_vector.h"
#include "force/sheet_kernel.h"

#define JOIN_NAMES(a, b) a##_##b
#define WITH_ISA(a, b) JOIN_NAMES(a, b)
#define NVECTOR (CT_SHEET_BLOCK / CT_LANES)

CT_INLINE vvec3 add(vvec3 a, vvec3 b) { return (vvec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
CT_INLINE vvec3 sub(vvec3 a, vvec3 b) { return (vvec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
CT_INLINE vvec3 scale(vd s, vvec3 a) { return (vvec3){s * a.x, s * a.y, s * a.z}; }
CT_INLINE vvec3 axpy(vvec3 a, vd s, vvec3 b) { return (vvec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
CT_INLINE vd dot(vvec3 a, vvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
CT_INLINE vvec3 cross(vvec3 a, vvec3 b) {
    return (vvec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
CT_INLINE vvec3 select3(vl mask, vvec3 a) {
    const vd zero = vset(0);
    return (vvec3){vselect(mask, a.x, zero), vselect(mask, a.y, zero), vselect(mask, a.z, zero)};
}
CT_INLINE vvec3 load3(const double* p) {
    return (vvec3){vload(p), vload(p + CT_SHEET_BLOCK), vload(p + 2 * CT_SHEET_BLOCK)};
}

// x[to] - x[from] of vector v of a block.
CT_INLINE vvec3 edge(const double* x, const int* from, const int* to, int v) {
    v4 d[CT_LANES];
    for (int lane = 0; lane < CT_LANES; lane++)
        d[lane] = *(const v4_unaligned*)(x + 3 * (size_t)to[v * CT_LANES + lane]) -
                  *(const v4_unaligned*)(x + 3 * (size_t)from[v * CT_LANES + lane]);
    return vtranspose_in(d);
}

#endif
