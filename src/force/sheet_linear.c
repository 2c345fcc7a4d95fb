// Linearisations of single triangles; see sheet_data.h.
#include <string.h>

#include "force/sheet_data.h"

void ct_sheet_linearise_triangle(const ct_sheet* sheet, const ct_sheet_work* work, int e, ct_mat32 F,
                                 double c, ct_sheet_linear* out) {
    const ct_sheet_triangle* t = &sheet->triangle[e];
    out->point = ct_sheet_point_of(F);
    out->slopes = ct_sheet_slopes_of(t->energy, t->mu, t->lambda, out->point.I, out->point.J);
    memset(out->sigma, 0, sizeof out->sigma);
    if (!ct_sheet_is_viscous(sheet, c)) return;
    double rate[3];
    ct_sheet_strain_rate(sheet, work, e, c, out->point.F, rate);
    ct_sheet_viscous(t, rate, out->sigma);
}

ct_mat32 ct_sheet_linear_product(const ct_sheet_triangle* t, const ct_sheet_linear* l, double c, bool viscous,
                                 ct_mat32 dF) {
    ct_mat32 dP = ct_sheet_stress_change(&l->point, &l->slopes, dF);
    dP = ct_mat32_axpy(dP, 1, ct_mat32_stress(dF, l->sigma));
    if (!viscous) return dP;
    double change[3], sigma[3];
    ct_sheet_strain_change(l->point.F, dF, change);
    ct_sheet_viscous(t, change, sigma);
    return ct_mat32_axpy(dP, c, ct_mat32_stress(l->point.F, sigma));
}
