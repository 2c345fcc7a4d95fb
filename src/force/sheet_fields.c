// What the membranes of thin sheets carry; see sheet_fields.h.
//
// With P = dW/dF (N/m) the Cauchy force per length is N = P F^T / J, J the area ratio; its von Mises value is
// sqrt(3/2 |N|^2 - 1/2 (tr N)^2), as N has no part across the sheet.
#include "force/sheet_fields.h"

#include <math.h>

#include "force/sheet_data.h"

static double von_mises_of(ct_mat32 P, ct_mat32 F, double J) {
    const double f[2][3] = {{F.c[0].x, F.c[0].y, F.c[0].z}, {F.c[1].x, F.c[1].y, F.c[1].z}};
    const double p[2][3] = {{P.c[0].x, P.c[0].y, P.c[0].z}, {P.c[1].x, P.c[1].y, P.c[1].z}};
    double square = 0, trace = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double n = (p[0][i] * f[0][j] + p[1][i] * f[1][j]) / J;
            square += n * n;
            if (i == j) trace += n;
        }
    return sqrt(fmax(0, 1.5 * square - 0.5 * trace * trace));
}

void ct_sheet_fields(const ct_sheet* sheet, const double* x, double* energy, double* von_mises,
                     double* area_ratio) {
    for (int k = 0; k < sheet->ntri; k++) {
        const ct_sheet_triangle* t = &sheet->triangle[k];
        const ct_sheet_point p = ct_sheet_point_of(ct_sheet_deformation(t, x));
        const ct_sheet_slopes s =
            ct_sheet_slopes_of(t->energy, t->mu / t->area, t->lambda / t->area, p.I, p.J);
        if (energy) energy[k] = s.W;
        if (von_mises)
            von_mises[k] = von_mises_of(ct_sheet_stress(&p, &s), p.F, fmax(p.J, CT_SHEET_NARROWEST));
        if (area_ratio) area_ratio[k] = p.J;
    }
}
