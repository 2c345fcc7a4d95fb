// Numbers of places and speeds with which one can reckon: products of a few of them stay finite, and their
// last digits still mean something.
#ifndef CT_SCENE_USABLE_H
#define CT_SCENE_USABLE_H

#include <math.h>
#include <stdbool.h>

static inline bool is_usable3(const double a[3]) {  // false for NAN
    return fabs(a[0]) <= 1e12 && fabs(a[1]) <= 1e12 && fabs(a[2]) <= 1e12;
}

#endif
