// The table of families and sums over them; see families.h.
#include "force/families.h"

#include <string.h>

static const ct_family* const table[CT_FAMILY_COUNT] = {
    [CT_FAMILY_SOLIDS] = &ct_elastic_family,      [CT_FAMILY_SHEETS] = &ct_sheet_family,
    [CT_FAMILY_MUSCLES] = &ct_muscle_family,      [CT_FAMILY_CHAMBERS] = &ct_chamber_family,
    [CT_FAMILY_CAVITIES] = &ct_cavity_family,     [CT_FAMILY_CABLES] = &ct_cable_family,
    [CT_FAMILY_INERTIA] = &ct_inertia_family,     [CT_FAMILY_WATER] = &ct_water_family,
    [CT_FAMILY_JOINTS] = &ct_joint_spring_family,
};

void ct_families_free(ct_families* families) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->free) table[k]->free(families->of[k]);
    memset(families, 0, sizeof *families);
}

void ct_families_set_stiffness(ct_families* families, const double* stiffness) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->set_stiffness) table[k]->set_stiffness(families->of[k], stiffness);
}

ct_status ct_families_work_create(ct_families_work* work, const ct_families* families) {
    ct_status status = CT_OK;
    memset(work, 0, sizeof *work);
    for (int k = 0; status == CT_OK && k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->create_work)
            status = table[k]->create_work(&work->of[k], families->of[k]);
    if (status != CT_OK) ct_families_work_free(work);
    return status;
}

void ct_families_work_free(ct_families_work* work) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (work->of[k]) table[k]->free_work(work->of[k]);
    memset(work, 0, sizeof *work);
}

void ct_families_begin(const ct_families* families, ct_families_work* work, const ct_family_step* step) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->begin) table[k]->begin(families->of[k], work->of[k], step);
}

double ct_families_gradient(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                            const double* x, double* f) {
    double potential = 0, actuators = 0;
    for (int k = 0; k < CT_FAMILY_COUNT; k++) {
        if (!families->of[k] || !table[k]->gradient) continue;
        double own = table[k]->gradient(families->of[k], work->of[k], step, x, f);
        if (table[k]->actuator) {
            actuators += own;
        } else {
            potential = potential + actuators + own;
            actuators = 0;
        }
    }
    return potential + actuators;
}

void ct_families_linearise(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                           const double* x) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->linearise)
            table[k]->linearise(families->of[k], work->of[k], step, x);
}

void ct_families_product(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                         const double* x, const double* dx, double* out) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->product)
            table[k]->product(families->of[k], work->of[k], step, x, dx, out);
}

bool ct_families_foresee(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                         double length, const double* dx) {
    bool any = false;
    for (int k = 0; k < CT_FAMILY_COUNT; k++) {
        if (!families->of[k] || !table[k]->foresee) continue;
        table[k]->foresee(families->of[k], work->of[k], step, length, dx);
        any = true;
    }
    return any;
}

void ct_families_rotations(const ct_families* families, ct_families_work* work, ct_threads* threads,
                           const double* x, double* rotation) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->rotations)
            table[k]->rotations(families->of[k], work->of[k], threads, x, rotation);
}

double ct_families_energy(const ct_families* families, const double* x) {
    double energy = 0;
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->energy) energy += table[k]->energy(families->of[k], x);
    return energy;
}

void ct_families_vjp(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                     const double* x, const double* lam, const ct_family_bar* bar) {
    const int first = CT_FAMILY_INERTIA;
    table[first]->vjp(families->of[first], work->of[first], step, x, lam, bar);
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (k != first && families->of[k] && table[k]->vjp)
            table[k]->vjp(families->of[k], work->of[k], step, x, lam, bar);
}

double ct_families_joint_gradient(const ct_families* families, const ct_families_work* work,
                                  const ct_config* at, double* r) {
    double potential = 0;
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->joint_gradient)
            potential += table[k]->joint_gradient(families->of[k], work->of[k], at, r);
    return potential;
}

void ct_families_joint_hessian(const ct_families* families, const ct_families_work* work, const ct_config* at,
                               bool exact, double* G) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->joint_hessian)
            table[k]->joint_hessian(families->of[k], work->of[k], at, exact, G);
}

void ct_families_joint_vjp(const ct_families* families, const ct_families_work* work, const ct_config* at,
                           const double* lam_z, const ct_family_bar* bar) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->joint_vjp)
            table[k]->joint_vjp(families->of[k], work->of[k], at, lam_z, bar);
}

void ct_families_jvp(const ct_families* families, ct_families_work* work, const ct_family_step* step,
                     const double* x, const ct_family_dot* dot, double* out) {
    const int first = CT_FAMILY_INERTIA;
    table[first]->jvp(families->of[first], work->of[first], step, x, dot, out);
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (k != first && families->of[k] && table[k]->jvp)
            table[k]->jvp(families->of[k], work->of[k], step, x, dot, out);
}

void ct_families_joint_jvp(const ct_families* families, ct_families_work* work, const ct_config* at,
                           const ct_family_dot* dot, double* out) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->joint_jvp)
            table[k]->joint_jvp(families->of[k], work->of[k], at, dot, out);
}

void ct_families_assemble(const ct_families* families, ct_families_work* work, double c, const double* x,
                          const double* actuation, const int* unknown, ct_block_matrix* matrix) {
    const ct_family_step step = {.rate = {.c = c, .a = c},
                                 .x_n = x ? x : families->rest,
                                 .actuation = actuation ? actuation : families->actuation};
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->assemble)
            table[k]->assemble(families->of[k], work->of[k], &step, x, x != NULL, unknown, matrix);
}

void ct_families_laplacian(const ct_families* families, const int* unknown, ct_block_matrix* matrix) {
    for (int k = 0; k < CT_FAMILY_COUNT; k++)
        if (families->of[k] && table[k]->laplacian) table[k]->laplacian(families->of[k], unknown, matrix);
}
