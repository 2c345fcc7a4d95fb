// Sums over the families of elements; see potential.h.
#include "force/potential.h"

#include <string.h>

void ct_potential_free(ct_potential* potential) {
    ct_actuation_free(&potential->actuation);
    ct_elastic_free(potential->elastic);
    ct_sheet_free(potential->sheet);
    memset(potential, 0, sizeof *potential);
}

ct_status ct_potential_work_create(ct_potential_work* work, const ct_potential* potential) {
    memset(work, 0, sizeof *work);
    ct_status status = ct_elastic_work_create(&work->elastic, potential->elastic);
    if (status == CT_OK && potential->sheet) status = ct_sheet_work_create(&work->sheet, potential->sheet);
    if (status == CT_OK) status = ct_actuation_work_create(&work->actuation, &potential->actuation);
    if (status != CT_OK) ct_potential_work_free(work);
    return status;
}

void ct_potential_work_free(ct_potential_work* work) {
    ct_actuation_work_free(&work->actuation);
    ct_elastic_work_free(work->elastic);
    ct_sheet_work_free(work->sheet);
    memset(work, 0, sizeof *work);
}

void ct_potential_begin_step(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                             double c, double a, const double* x_n, double b, const double* x_nm1) {
    ct_elastic_begin_step(potential->elastic, work->elastic, threads, c, a, x_n, b, x_nm1);
    if (potential->sheet) ct_sheet_begin_step(potential->sheet, work->sheet, c, a, x_n, b, x_nm1);
}

void ct_potential_begin_rate(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                             double c, double a, const double* x_n, double b, const double* x_nm1) {
    ct_elastic_begin_rate(potential->elastic, work->elastic, threads, c, a, x_n, b, x_nm1);
    if (potential->sheet) ct_sheet_begin_rate(potential->sheet, work->sheet, c, a, x_n, b, x_nm1);
}

double ct_potential_gradient(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                             const double* x, double* f) {
    double energy = ct_elastic_gradient(potential->elastic, work->elastic, threads, x, f);
    if (potential->sheet) energy += ct_sheet_gradient(potential->sheet, work->sheet, x, f);
    energy += ct_actuation_gradient(&potential->actuation, &work->actuation, x, f);
    return energy;
}

void ct_potential_linearise(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                            const double* x) {
    ct_elastic_linearise(potential->elastic, work->elastic, threads, x);
    if (potential->sheet) ct_sheet_linearise(potential->sheet, work->sheet, x);
    ct_actuation_linearise(&potential->actuation, &work->actuation, x);
}

void ct_potential_product(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                          const double* dx, double* out) {
    ct_elastic_product(potential->elastic, work->elastic, threads, dx, out);
    if (potential->sheet) ct_sheet_product(potential->sheet, work->sheet, dx, out);
    ct_actuation_product(&potential->actuation, &work->actuation, dx, out);
}

void ct_potential_assemble(const ct_potential* potential, ct_potential_work* work, const double* x,
                           bool project, const int* unknown, ct_block_matrix* matrix) {
    ct_elastic_assemble(potential->elastic, work->elastic, x, project, unknown, matrix);
    if (potential->sheet) ct_sheet_assemble(potential->sheet, work->sheet, x, project, unknown, matrix);
    ct_actuation_assemble(&potential->actuation, x, project, unknown, matrix);
}

void ct_potential_rotations(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                            const double* x, double* rotation) {
    ct_elastic_rotations(potential->elastic, work->elastic, threads, x, rotation);
    if (potential->sheet) ct_sheet_rotations(potential->sheet, work->sheet, x, rotation);
}

double ct_potential_energy(const ct_potential* potential, const double* x) {
    double energy = ct_elastic_energy(potential->elastic, x);
    if (potential->sheet) energy += ct_sheet_energy(potential->sheet, x);
    return energy;
}

bool ct_potential_has_damping(const ct_potential* potential) {
    return ct_elastic_has_damping(potential->elastic) ||
           (potential->sheet && ct_sheet_has_damping(potential->sheet));
}

void ct_potential_parameter_vjp(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                                const double* x, const double* lam, double* d_mu, double* d_lambda,
                                double* d_beta, double* d_rigidity) {
    ct_elastic_parameter_vjp(potential->elastic, work->elastic, threads, x, lam, d_mu, d_lambda, d_beta);
    if (!potential->sheet) return;
    const int first = potential->ntet;
    ct_sheet_parameter_vjp(potential->sheet, work->sheet, x, lam, d_mu ? d_mu + first : NULL,
                           d_lambda ? d_lambda + first : NULL, d_beta ? d_beta + first : NULL, d_rigidity);
}

void ct_potential_history_vjp(const ct_potential* potential, ct_potential_work* work, ct_threads* threads,
                              const double* x, const double* lam, double a, const double* x_n,
                              double* x_n_bar, double b, const double* x_nm1, double* x_nm1_bar) {
    ct_elastic_history_vjp(potential->elastic, work->elastic, threads, x, lam, a, x_n, x_n_bar, b, x_nm1,
                           x_nm1_bar);
    if (potential->sheet)
        ct_sheet_history_vjp(potential->sheet, work->sheet, x, lam, a, x_n, x_n_bar, b, x_nm1, x_nm1_bar);
}
