// A contact as a step leaves it, for whoever takes the step again or its adjoint.
#ifndef CT_STEP_TOUCH_H
#define CT_STEP_TOUCH_H

#include "contact/detect.h"

typedef struct ct_touch_record {
    ct_pair pair;
    ct_contact_set set;
    double force[3];  // N
    double eps;       // m/N
} ct_touch_record;

#endif
