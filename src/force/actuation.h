// The energies of all actuators of a model, as one family of elements: muscles, pneumatic cells, cavities
// under pressure.
//
// They share one list of numbers, the actuation: activations, volume ratios, pressures. Elements carry the
// index of theirs.
#ifndef CT_FORCE_ACTUATION_H
#define CT_FORCE_ACTUATION_H

#include "force/cavity.h"
#include "force/chamber.h"
#include "force/muscle.h"

typedef struct ct_actuation {  // all zero: none
    ct_muscle* muscle;         // each NULL: none
    ct_chamber* chamber;
    ct_cavity* cavity;
    int nvert;
    const double* rest;  // numbers of a body at rest, borrowed
} ct_actuation;

typedef struct ct_actuation_work {
    ct_muscle_work* muscle;
    ct_chamber_work* chamber;
    double* x;            // 3 nvert, linearisation point of the cavities
    const double* value;  // the numbers in force, borrowed; NULL: those at rest
} ct_actuation_work;

void ct_actuation_free(ct_actuation* actuation);
ct_status ct_actuation_work_create(ct_actuation_work* work, const ct_actuation* actuation);
void ct_actuation_work_free(ct_actuation_work* work);

// Returns E(x) and adds its gradient to f.
double ct_actuation_gradient(const ct_actuation* actuation, const ct_actuation_work* work, const double* x,
                             double* f);
// Remembers the linearisation at x; the product adds H dx to out.
void ct_actuation_linearise(const ct_actuation* actuation, ct_actuation_work* work, const double* x);
void ct_actuation_product(const ct_actuation* actuation, const ct_actuation_work* work, const double* dx,
                          double* out);
// Adds the Hessian at x (NULL: rest) with the numbers at rest, so that the matrix depends on x alone;
// pressure, which softens or stiffens little, is left out.
void ct_actuation_assemble(const ct_actuation* actuation, const double* x, bool project, const int* unknown,
                           ct_block_matrix* matrix);
// Adds lam . d grad/d(numbers) to value_bar and lam . d grad/d(stiffness) to those of muscles and chambers;
// NULL: not wanted.
void ct_actuation_vjp(const ct_actuation* actuation, const ct_actuation_work* work, const double* x,
                      const double* lam, double* value_bar, double* muscle_bar, double* chamber_bar);

#endif
