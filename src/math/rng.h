// Random numbers that a seed determines: splitmix64 (Steele, Lea and Flood 2014).
#ifndef CT_MATH_RNG_H
#define CT_MATH_RNG_H

#include <math.h>
#include <stdint.h>

typedef struct ct_rng {
    uint64_t state;  // the seed at first; any will do
} ct_rng;

static inline uint64_t ct_rng_bits(ct_rng* rng) {
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Uniform in [0, 1).
static inline double ct_rng_unit(ct_rng* rng) { return (double)(ct_rng_bits(rng) >> 11) * 0x1p-53; }

// Uniform in 0, ..., count - 1.
static inline int ct_rng_index(ct_rng* rng, int count) {
    int i = (int)(ct_rng_unit(rng) * count);
    return i < count ? i : count - 1;
}

// Mean 0, variance 1 (Box and Muller 1958, the cosine alone).
static inline double ct_rng_normal(ct_rng* rng) {
    double radius = sqrt(-2 * log(1 - ct_rng_unit(rng)));
    return radius * cos(6.283185307179586 * ct_rng_unit(rng));
}

#endif
