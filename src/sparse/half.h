// Eight floats at a time to and from half precision (IEEE binary16): one instruction where the CPU has it,
// integer arithmetic on the bits elsewhere, with the same result: round to nearest even, overflow to
// infinity.
#ifndef CT_SPARSE_HALF_H
#define CT_SPARSE_HALF_H

#include <stdint.h>
#include <string.h>

typedef float ct_float8 __attribute__((vector_size(32)));
typedef uint16_t ct_half8 __attribute__((vector_size(16)));

#ifdef __F16C__
#include <immintrin.h>

static inline ct_float8 ct_half_load(const uint16_t* source) {
    return (ct_float8)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)source));
}

static inline void ct_half_store(uint16_t* target, ct_float8 value) {
    _mm_storeu_si128((__m128i*)target, _mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT));
}

#else

static inline ct_float8 ct_half_load(const uint16_t* source) {
    typedef uint32_t uint8x32 __attribute__((vector_size(32)));
    ct_half8 half;
    memcpy(&half, source, sizeof half);
    uint8x32 bits = __builtin_convertvector(half, uint8x32);
    // the exponent moves to its place and is rebased by 2^112 in floating point, which serves subnormals as
    // well
    ct_float8 magnitude = (ct_float8)((bits & 0x7fffu) << 13) * 0x1p112f;
    return (ct_float8)((uint8x32)magnitude | (bits & 0x8000u) << 16);
}

static inline uint16_t ct_half_round(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);   // not a number
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);  // 65520 and above
    if (magnitude < 0x38800000u) {
        // subnormal: adding 1/2 puts the unit of the last place at 2^-24 and lets the FPU round
        float absolute, half_one = 0.5f;
        uint32_t sum, base;
        memcpy(&absolute, &magnitude, sizeof absolute);
        absolute += half_one;
        memcpy(&sum, &absolute, sizeof sum);
        memcpy(&base, &half_one, sizeof base);
        return (uint16_t)(sign | (sum - base));
    }
    uint32_t odd = magnitude >> 13 & 1u;
    return (uint16_t)(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

static inline void ct_half_store(uint16_t* target, ct_float8 value) {
    for (int i = 0; i < 8; i++) target[i] = ct_half_round(value[i]);
}

#endif
#endif
