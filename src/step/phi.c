// The incremental potential of a step; see phi.h.
#include "step/phi.h"

#include <string.h>

#include "step/coords.h"

void ct_phi_begin(const ct_model* model, ct_work* work, const ct_phi_start* start) {
    work->step = (ct_family_step){.threads = work->threads,
                                  .rate = start->rate,
                                  .npast = start->npast,
                                  .rated = start->rated,
                                  .x_n = start->x,
                                  .v_n = start->v,
                                  .x_nm1 = start->x_previous,
                                  .v_nm1 = start->v_previous,
                                  .x_nm2 = start->x_second,
                                  .v_nm2 = start->v_second,
                                  .q_n = start->q,
                                  .q_nm1 = start->q_previous,
                                  .q_nm2 = start->q_second,
                                  .x_look = start->x_look,
                                  .v_look = start->v_look,
                                  .links = start->links,
                                  .force = work->force,
                                  .actuation = work->actuation};
    ct_families_begin(&model->families, &work->families, &work->step);
}

double ct_phi_gradient(const ct_model* model, ct_work* work, const double* x, double* rho) {
    return ct_families_gradient(&model->families, &work->families, &work->step, x, rho);
}

double ct_phi_evaluate(const ct_model* model, ct_work* work, const ct_config* config, double* r,
                       ct_step_report* report) {
    double phi = ct_phi_gradient(model, work, config->x, work->rho);
    ct_coords_pull(model, work, config, work->rho, r);
    double* joints = r + 3 * (size_t)model->nfree;
    if (work->preconditioner.held) memset(joints, 0, (size_t)model->tree.ndof * sizeof(double));
    else if (model->tree.nlink)
        phi += ct_families_joint_gradient(&model->families, &work->families, config, joints);
    report->gradients++;
    return phi;
}

void ct_phi_linearise(const ct_model* model, ct_work* work, const ct_config* config, const double* rho) {
    ct_families_linearise(&model->families, &work->families, &work->step, config->x);
    if (!model->tree.nlink) return;
    ct_config_curvature(&model->tree, config, rho, work->moments, work->curvature);
    ct_families_joint_hessian(&model->families, &work->families, config, true, work->curvature);
}

void ct_phi_foresee_start(const ct_model* model, ct_work* work) {
    work->step.foreseen = ct_families_foresee(&model->families, &work->families, &work->step, 0, NULL);
}

void ct_phi_foresee(const ct_model* model, ct_work* work, const ct_config* config, double length,
                    const double* d) {
    if (!work->step.foreseen) return;
    ct_coords_push(model, work, config, d, work->phi.dx);
    ct_families_foresee(&model->families, &work->families, &work->step, length, work->phi.dx);
}

void ct_phi_product(const ct_model* model, ct_work* work, const ct_config* config, const double* dx,
                    double* out) {
    ct_families_product(&model->families, &work->families, &work->step, config->x, dx, out);
}

void ct_phi_hessian(const ct_model* model, ct_work* work, const ct_config* config, const double* in,
                    double* out) {
    ct_coords_push(model, work, config, in, work->phi.dx);
    ct_phi_product(model, work, config, work->phi.dx, work->phi.product);
    ct_coords_pull(model, work, config, work->phi.product, out);
    size_t first = 3 * (size_t)model->nfree, n = (size_t)model->tree.ndof;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += work->curvature[i * n + j] * in[first + j];
        out[first + i] = work->preconditioner.held ? 0 : out[first + i] + sum;
    }
}

void ct_phi_vjp(const ct_model* model, ct_work* work, const ct_config* config, const double* lam_z,
                const double* lam, const ct_family_bar* bar) {
    ct_families_vjp(&model->families, &work->families, &work->step, config->x, lam, bar);
    ct_families_joint_vjp(&model->families, &work->families, config, lam_z + 3 * (size_t)model->nfree, bar);
}
