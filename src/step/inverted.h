// Tets that are inside out: those whose volume, or at some point that of a tet of second order, is not
// positive.
#ifndef CT_STEP_INVERTED_H
#define CT_STEP_INVERTED_H

#include "model/model.h"

// How many at x (3 nvert).
int ct_inverted_count(const ct_model* model, const double* x);
// Names the first of those whose volume is at most `share` of that at rest, 0: inverted ones, into `text`
// ("tets 3, 17 and 5 more of \"arm\""); returns how many there are, 0: nothing is written.
int ct_inverted_name(const ct_model* model, const double* x, double share, char* text, size_t size);

#endif
