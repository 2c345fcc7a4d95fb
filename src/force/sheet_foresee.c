// The stress that a linearisation foresees, for Newton's method; see sheet.h.
//
// A full Newton step turns triangles by finite angles along straight lines and so stretches them: to second
// order in the step, but times the membrane's stiffness, which for thin sheets is a stress far beyond the
// true one. What the linearisation says about the stress after the step knows nothing of it. The geometric
// stiffness dF S of the next linearisation takes that one,
//     S <- S(x) + length dS(x; dx),   S = 2 W_I + W_J adj(C)/J + damping,   C = F^T F,
//     dS = 2 dW_I + (dW_J - W_J dJ/J) adj(C)/J + W_J adj(dC)/J + damping of dG,   dC = 2 dG,
// at first the stress where the step begins (second Piola-Kirchhoff, times the area). It converges to the
// stress at x as the steps become small.
#include "force/sheet_data.h"

static void elastic_stress(const ct_sheet_point* p, const ct_sheet_slopes* W, double S[3]) {
    const double scale = W->J * p->inverse;
    S[0] = 2 * W->I + scale * ct_vec3_dot(p->F.c[1], p->F.c[1]);
    S[1] = 2 * W->I + scale * ct_vec3_dot(p->F.c[0], p->F.c[0]);
    S[2] = -scale * ct_vec3_dot(p->F.c[0], p->F.c[1]);
}

static void stress_change(const ct_sheet_triangle* t, const ct_sheet_linear* l, double c, ct_mat32 dF,
                          double dS[3]) {
    const ct_sheet_point* p = &l->point;
    const ct_sheet_slopes* W = &l->slopes;
    const double dI = 2 * ct_mat32_dot(p->F, dF), dJ = ct_mat32_dot(p->K, dF);
    const double slope_I = W->II * dI + W->IJ * dJ, slope_J = W->IJ * dI + W->JJ * dJ;
    const double scale = p->inverse * (slope_J - W->J * dJ * p->inverse), turn = 2 * W->J * p->inverse;
    double dG[3], sigma[3];
    ct_sheet_strain_change(p->F, dF, dG);
    ct_sheet_viscous(t, dG, sigma);
    dS[0] = 2 * slope_I + scale * ct_vec3_dot(p->F.c[1], p->F.c[1]) + turn * dG[1] + c * sigma[0];
    dS[1] = 2 * slope_I + scale * ct_vec3_dot(p->F.c[0], p->F.c[0]) + turn * dG[0] + c * sigma[1];
    dS[2] = -scale * ct_vec3_dot(p->F.c[0], p->F.c[1]) - turn * dG[2] + c * sigma[2];
}

void ct_sheet_foresee_start(const ct_sheet* sheet, ct_sheet_work* work, const double* x_n) {
    for (int e = 0; e < sheet->ntri; e++) {
        const ct_sheet_triangle* t = &sheet->triangle[e];
        const ct_sheet_point p = ct_sheet_point_of(ct_sheet_deformation(t, x_n));
        const ct_sheet_slopes W = ct_sheet_slopes_of(t->energy, t->mu, t->lambda, p.I, p.J);
        double S[3];
        elastic_stress(&p, &W, S);
        for (int i = 0; i < 3; i++) work->foreseen[ct_sheet_at(sheet, e, 3, i)] = S[i];
    }
}

void ct_sheet_foresee(const ct_sheet* sheet, ct_sheet_work* work, double length, const double* dx) {
    for (int e = 0; e < sheet->ntri; e++) {
        const ct_sheet_triangle* t = &sheet->triangle[e];
        ct_sheet_linear l;
        double F[6], S[3], dS[3];
        for (int i = 0; i < 6; i++) F[i] = work->linear[ct_sheet_at(sheet, e, CT_MEMBRANE_LINEAR, i)];
        const ct_mat32 at = {{ct_vec3_load(F), ct_vec3_load(F + 3)}};
        ct_sheet_linearise_triangle(sheet, work, e, at, work->linear_c, &l);
        elastic_stress(&l.point, &l.slopes, S);
        stress_change(t, &l, work->linear_c, ct_sheet_deformation(t, dx), dS);
        for (int i = 0; i < 3; i++)
            work->foreseen[ct_sheet_at(sheet, e, 3, i)] = S[i] + l.sigma[i] + length * dS[i];
    }
}
