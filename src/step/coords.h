// Between node space and the unknowns: x = phi(z), B = dphi/dz.
//
// Unknowns are the free nodes in factor order, then the joint rates; their increments live at a
// configuration.
#ifndef CT_STEP_COORDS_H
#define CT_STEP_COORDS_H

#include "step/work.h"

// r = B^T rho at `config`.
void ct_coords_pull(const ct_model* model, ct_work* work, const ct_config* config, const double* rho,
                    double* r);
// dx = B dz; driven nodes get zero.
void ct_coords_push(const ct_model* model, ct_work* work, const ct_config* config, const double* dz,
                    double* dx);
// to = phi(z + length dz), with from = phi(z); driven nodes stay.
void ct_coords_move(const ct_model* model, const ct_config* from, double length, const double* dz,
                    ct_config* to);

#endif
