// Four point masses; see point_masses.h.
#include "skeleton/point_masses.h"

#include <math.h>

#include "math/svd3.h"

// Every second corner of a cube: they sum to zero, and their second moments to 4 I.
static const double corner[CT_MASS_POINTS][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};

// With C the second moments about the centre, C = tr(J)/2 I - J, the cube's half edges are sqrt(C_ii / m)
// along the principal axes.
ct_status ct_point_masses(double mass, const double center[3], const double inertia[6],
                          double points[3 * CT_MASS_POINTS]) {
    const double* J = inertia;
    double half = 0.5 * (J[0] + J[1] + J[2]);
    ct_mat3 C = {{{half - J[0], -J[3], -J[4]}, {-J[3], half - J[1], -J[5]}, {-J[4], -J[5], half - J[2]}}};
    ct_mat3 V;
    double moments[3];
    ct_symmetric3(C, moments, &V);
    for (int p = 0; p < CT_MASS_POINTS; p++)
        for (int a = 0; a < 3; a++) points[3 * p + a] = center[a];
    for (int i = 0; i < 3; i++) {
        if (moments[i] < -1e-9 * half) return CT_BAD_ARGUMENT;
        double arm = sqrt(fmax(moments[i], 0) / mass);
        for (int p = 0; p < CT_MASS_POINTS; p++)
            for (int a = 0; a < 3; a++) points[3 * p + a] += corner[p][i] * arm * V.a[a][i];
    }
    return CT_OK;
}
