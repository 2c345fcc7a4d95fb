// Where the reverse pass adds up what the loss changes by with each quantity, over the steps of a rollout.
//
// Every quantity has its array, and so have the numbers in between through which materials act: the Lame
// parameters, rigidities and lumped masses of a model. A part of a step adds to the arrays that are there;
// what they come from is reversed at the end, next to where it is computed.
#ifndef CT_QUANTITY_SUMS_H
#define CT_QUANTITY_SUMS_H

#include "cuttle.h"

// Numbers of a model that follow from its quantities.
enum {
    CT_SUM_MU = CT_QUANTITY_COUNT,  // nelement: the Lame parameters, Pa; of sheets times the thickness, N/m
    CT_SUM_LAMBDA,                  // nelement
    CT_SUM_BETA,                    // nelement: damping proportional to stiffness, s
    CT_SUM_RIGIDITY,                // 4 ntri: of bending, D_11 D_22 D_12 D_33, N m
    CT_SUM_NATURAL,                 // 3 ntri: curvature of sheets, 1/m
    CT_SUM_MASS,                    // nvert: lumped, kg
    CT_SUM_DRAG,                    // nvert: lumped mass damping, kg/s
    CT_SUM_NODE_STIFFNESS,          // 2 nvert: of nodes in contact, along and across, N/m
    CT_SUM_WHOLE_MASS,              // nwhole: of what nodes in contact move with, kg
    CT_SUM_VOLUME,                  // nvert: of the water that nodes displace, m^3
    CT_SUM_COUNT
};

typedef struct ct_sums {
    double* of[CT_SUM_COUNT];  // a ct_quantity or CT_SUM_*; NULL: not wanted
} ct_sums;

// Adds to a number of a sum where it is wanted.
static inline void ct_sums_add(const ct_sums* sums, int sum, int index, double value) {
    if (sums->of[sum]) sums->of[sum][index] += value;
}

#endif
