// All actuators' energies; see actuation.h.
#include "force/actuation.h"

#include <string.h>

void ct_actuation_free(ct_actuation* actuation) {
    ct_muscle_free(actuation->muscle);
    ct_chamber_free(actuation->chamber);
    ct_cavity_free(actuation->cavity);
    memset(actuation, 0, sizeof *actuation);
}

ct_status ct_actuation_work_create(ct_actuation_work* work, const ct_actuation* actuation) {
    ct_status status = CT_OK;
    memset(work, 0, sizeof *work);
    if (actuation->muscle) status = ct_muscle_work_create(&work->muscle, actuation->muscle);
    if (status == CT_OK && actuation->chamber)
        status = ct_chamber_work_create(&work->chamber, actuation->chamber);
    if (status == CT_OK && actuation->cavity) {
        work->x = ct_alloc(3 * (size_t)actuation->nvert, sizeof(double));
        if (!work->x) status = CT_OUT_OF_MEMORY;
    }
    if (status != CT_OK) ct_actuation_work_free(work);
    return status;
}

void ct_actuation_work_free(ct_actuation_work* work) {
    ct_muscle_work_free(work->muscle);
    ct_chamber_work_free(work->chamber);
    ct_free(work->x);
    memset(work, 0, sizeof *work);
}

static const double* value_of(const ct_actuation* actuation, const ct_actuation_work* work) {
    return work->value ? work->value : actuation->rest;
}

double ct_actuation_gradient(const ct_actuation* actuation, const ct_actuation_work* work, const double* x,
                             double* f) {
    const double* value = value_of(actuation, work);
    double energy = 0;
    if (actuation->muscle) energy += ct_muscle_gradient(actuation->muscle, work->muscle, value, x, f);
    if (actuation->chamber) energy += ct_chamber_gradient(actuation->chamber, work->chamber, value, x, f);
    if (actuation->cavity) energy += ct_cavity_gradient(actuation->cavity, value, x, f);
    return energy;
}

void ct_actuation_linearise(const ct_actuation* actuation, ct_actuation_work* work, const double* x) {
    const double* value = value_of(actuation, work);
    if (actuation->muscle) ct_muscle_linearise(actuation->muscle, work->muscle, value, x);
    if (actuation->chamber) ct_chamber_linearise(actuation->chamber, work->chamber, value, x);
    if (actuation->cavity) memcpy(work->x, x, 3 * (size_t)actuation->nvert * sizeof(double));
}

void ct_actuation_product(const ct_actuation* actuation, const ct_actuation_work* work, const double* dx,
                          double* out) {
    if (actuation->muscle) ct_muscle_product(actuation->muscle, work->muscle, dx, out);
    if (actuation->chamber) ct_chamber_product(actuation->chamber, work->chamber, dx, out);
    if (actuation->cavity) ct_cavity_product(actuation->cavity, value_of(actuation, work), work->x, dx, out);
}

void ct_actuation_assemble(const ct_actuation* actuation, const double* x, bool project, const int* unknown,
                           ct_block_matrix* matrix) {
    if (actuation->muscle)
        ct_muscle_assemble(actuation->muscle, actuation->rest, x, project, unknown, matrix);
    if (actuation->chamber)
        ct_chamber_assemble(actuation->chamber, actuation->rest, x, project, unknown, matrix);
}

void ct_actuation_vjp(const ct_actuation* actuation, const ct_actuation_work* work, const double* x,
                      const double* lam, double* value_bar, double* muscle_bar, double* chamber_bar) {
    const double* value = value_of(actuation, work);
    if (actuation->muscle)
        ct_muscle_vjp(actuation->muscle, work->muscle, value, x, lam, value_bar, muscle_bar);
    if (actuation->chamber)
        ct_chamber_vjp(actuation->chamber, work->chamber, value, x, lam, value_bar, chamber_bar);
    if (actuation->cavity && value_bar) ct_cavity_vjp(actuation->cavity, x, lam, value_bar);
}
