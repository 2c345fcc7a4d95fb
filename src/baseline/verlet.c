// Velocity Verlet, the explicit method that implicit ones are compared with, on the same element kernels:
//     v += h/2 a,   x += h v,   a = M^-1 (f - grad E(x)),   v += h/2 a
// stable below 2/omega, omega the highest frequency of the mesh: the largest eigenvalue omega^2 of M^-1 K at
// rest, by power iteration. Free nodes under constant external forces, without links, contact and damping.
#include <math.h>
#include <string.h>

#include "cuttle_profile.h"
#include "step/external.h"
#include "step/work.h"

enum { POWER_ITERATIONS = 200 };

static void solids_begin(const ct_model* model, ct_work* work) {
    ct_elastic_begin_step(model->families.of[CT_FAMILY_SOLIDS], work->families.of[CT_FAMILY_SOLIDS],
                          work->threads, 0, 0, model->geometry.rest, 0, NULL);
}

double ct_profile_verlet_limit(const ct_model* model, ct_work* work) {
    const ct_elastic* elastic = model->families.of[CT_FAMILY_SOLIDS];
    ct_elastic_work* own = work->families.of[CT_FAMILY_SOLIDS];
    const int n = 3 * model->nvert;
    double *y = work->phi.dx, *Ky = work->phi.product, square = 0;
    memcpy(work->at.x, model->geometry.rest, (size_t)n * sizeof(double));
    solids_begin(model, work);
    ct_elastic_linearise(elastic, own, work->threads, work->at.x);
    for (int i = 0; i < n; i++) y[i] = model->row[i / 3] >= 0 ? sin(1 + 7.0 * i) : 0;
    for (int k = 0; k < POWER_ITERATIONS; k++) {
        double along = 0, size = 0, next = 0;
        ct_elastic_product(elastic, own, work->threads, y, Ky);
        for (int i = 0; i < n; i++) {
            double m = model->mass[i / 3];
            if (model->row[i / 3] < 0) continue;
            along += y[i] * Ky[i];
            size += m * y[i] * y[i];
            y[i] = Ky[i] / m;
            next += m * y[i] * y[i];
        }
        square = along / size;
        for (int i = 0; i < n; i++) y[i] = model->row[i / 3] >= 0 ? y[i] / sqrt(next) : 0;
    }
    return 2 / sqrt(square);
}

ct_status ct_profile_verlet(const ct_model* model, ct_work* work, double h, int steps, double* x, double* v) {
    const ct_elastic* elastic = model->families.of[CT_FAMILY_SOLIDS];
    ct_elastic_work* own = work->families.of[CT_FAMILY_SOLIDS];
    const int n = 3 * model->nvert;
    double* a = work->phi.dx;
    if (model->tree.nlink || work->contact || model->ntri) return CT_UNSUPPORTED;
    ct_external_forces(model, 0, NULL, work->force);
    solids_begin(model, work);
    for (int k = 0; k <= steps; k++) {
        ct_elastic_gradient(elastic, own, work->threads, x, work->rho);
        for (int i = 0; i < n; i++)
            a[i] = model->row[i / 3] >= 0 ? (work->force[i] - work->rho[i]) / model->mass[i / 3] : 0;
        // the second half kick of the last step and the first of the next are one
        const double kick = k == 0 || k == steps ? h / 2 : h;
        for (int i = 0; i < n; i++) v[i] += kick * a[i];
        for (int i = 0; k < steps && i < n; i++) x[i] += h * v[i];
    }
    return isfinite(x[n - 1]) ? CT_OK : CT_NOT_CONVERGED;
}
