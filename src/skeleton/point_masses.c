// Six point masses; see point_masses.h.
#include "skeleton/point_masses.h"

#include <math.h>

#include "math/svd3.h"

// With C the second moments about the centre, C = tr(J)/2 I - J; along its principal axes a_i = sqrt(3 C_ii /
// m).
ct_status ct_point_masses(double mass, const double center[3], const double inertia[6], double points[18]) {
    const double* J = inertia;
    double half = 0.5 * (J[0] + J[1] + J[2]);
    ct_mat3 C = {{{half - J[0], -J[3], -J[4]}, {-J[3], half - J[1], -J[5]}, {-J[4], -J[5], half - J[2]}}};
    ct_mat3 V;
    double moments[3];
    ct_symmetric3(C, moments, &V);
    for (int i = 0; i < 3; i++) {
        double moment = moments[i];
        if (moment < -1e-9 * half) return CT_BAD_ARGUMENT;
        double arm = sqrt(3 * fmax(moment, 0) / mass);
        for (int a = 0; a < 3; a++) {
            points[6 * i + a] = center[a] + arm * V.a[a][i];
            points[6 * i + 3 + a] = center[a] - arm * V.a[a][i];
        }
    }
    return CT_OK;
}
