// The membrane's energies. An isotropic energy of the 3x2 deformation gradient F = [f0 f1] depends on
//     I = |F|^2   and   J = |f0 x f1|  (the ratio of areas, never negative),
// so that with N = f0 x f1 / J the normal and K = dJ/dF = [f1 x N, N x f0]
//     P = dW/dF = 2 W_I F + W_J K
//     dP = 2 W_I dF + W_J dK + (4 W_II (F:dF) + 2 W_IJ (K:dF)) F + (2 W_IJ (F:dF) + W_JJ (K:dF)) K,
//     dK = [df1 x N + f1 x dN, dN x f0 + N x df0],   dN = -sum_i K_i (N . df_i) / J.
// The sum of the singular values is T = sqrt(I + 2 J), and the polar factor R = (F + K)/T. Per ct_energy:
//   corotated    W = mu |F-R|^2 + lambda/2 (tr(R^T F) - 2)^2 = mu (I - 2 T + 2) + lambda/2 (T - 2)^2
//   projective   W = mu |F-R|^2 + lambda/2 (J - 1)^2
//   neo-Hookean  W = m/2 (I - 2) - m/2 ln((I+1)/3) + n/2 (J-1)^2 - 2/3 m (J-1),  m = 3/2 mu, n = lambda + 2/3
//   mu StVK         W = mu |G|^2 + lambda/2 (tr G)^2,  G = (F^T F - I)/2,  |F^T F|^2 = I^2 - 2 J^2
// All are linear in (mu, lambda), vanish with their slope at rest and are Hooke's law of plane stress near
// it. A triangle that has collapsed to a line is a ridge of the energy: there the normal has no direction,
// and J is kept away from 0 where it divides.
#ifndef CT_FORCE_SHEET_ENERGY_H
#define CT_FORCE_SHEET_ENERGY_H

#include "cuttle.h"
#include "math/mat3.h"

#define CT_SHEET_NARROWEST 1e-9  // smallest J that is divided by

typedef struct ct_mat32 {  // two columns
    ct_vec3 c[2];
} ct_mat32;

typedef struct ct_sheet_point {  // geometry at F
    ct_mat32 F, K;
    ct_vec3 normal;
    double I, J, inverse;  // inverse: 1/J, bounded
} ct_sheet_point;

typedef struct ct_sheet_slopes {
    double W, I, J, II, IJ, JJ;
} ct_sheet_slopes;

static inline ct_mat32 ct_mat32_axpy(ct_mat32 A, double s, ct_mat32 B) {
    return (ct_mat32){{ct_vec3_axpy(A.c[0], s, B.c[0]), ct_vec3_axpy(A.c[1], s, B.c[1])}};
}
static inline ct_mat32 ct_mat32_scale(double s, ct_mat32 A) {
    return (ct_mat32){{ct_vec3_scale(s, A.c[0]), ct_vec3_scale(s, A.c[1])}};
}
static inline double ct_mat32_dot(ct_mat32 A, ct_mat32 B) {
    return ct_vec3_dot(A.c[0], B.c[0]) + ct_vec3_dot(A.c[1], B.c[1]);
}
// F sigma, sigma symmetric as xx yy xy
static inline ct_mat32 ct_mat32_stress(ct_mat32 F, const double s[3]) {
    return (ct_mat32){{ct_vec3_axpy(ct_vec3_scale(s[0], F.c[0]), s[2], F.c[1]),
                       ct_vec3_axpy(ct_vec3_scale(s[2], F.c[0]), s[1], F.c[1])}};
}
// Green strain (F^T F - I)/2, and its change sym(F^T dF); xx yy xy
static inline void ct_sheet_strain(ct_mat32 F, double G[3]) {
    G[0] = 0.5 * (ct_vec3_dot(F.c[0], F.c[0]) - 1);
    G[1] = 0.5 * (ct_vec3_dot(F.c[1], F.c[1]) - 1);
    G[2] = 0.5 * ct_vec3_dot(F.c[0], F.c[1]);
}
static inline void ct_sheet_strain_change(ct_mat32 F, ct_mat32 dF, double dG[3]) {
    dG[0] = ct_vec3_dot(F.c[0], dF.c[0]);
    dG[1] = ct_vec3_dot(F.c[1], dF.c[1]);
    dG[2] = 0.5 * (ct_vec3_dot(F.c[0], dF.c[1]) + ct_vec3_dot(F.c[1], dF.c[0]));
}

static inline ct_sheet_point ct_sheet_point_of(ct_mat32 F) {
    ct_sheet_point p = {.F = F, .I = ct_mat32_dot(F, F)};
    const ct_vec3 cross = ct_vec3_cross(F.c[0], F.c[1]);
    p.J = ct_vec3_norm(cross);
    p.inverse = 1 / fmax(p.J, CT_SHEET_NARROWEST);
    p.normal = ct_vec3_scale(p.inverse, cross);
    p.K = (ct_mat32){{ct_vec3_cross(F.c[1], p.normal), ct_vec3_cross(p.normal, F.c[0])}};
    return p;
}

static inline ct_sheet_slopes ct_sheet_slopes_of(int energy, double mu, double lambda, double I, double J) {
    ct_sheet_slopes s;
    if (energy == CT_ENERGY_COROTATED) {
        const double T = sqrt(I + 2 * J), inverse = 1 / fmax(T, CT_SHEET_NARROWEST),
                     bend = 2 * (lambda + mu) * inverse * inverse * inverse;
        s.W = mu * (I - 2 * T + 2) + 0.5 * lambda * (T - 2) * (T - 2);
        s.J = lambda - 2 * (lambda + mu) * inverse;
        s.I = mu + 0.5 * s.J;
        s.II = 0.25 * bend, s.IJ = 0.5 * bend, s.JJ = bend;
    } else if (energy == CT_ENERGY_PROJECTIVE) {
        const double T = sqrt(I + 2 * J), inverse = 1 / fmax(T, CT_SHEET_NARROWEST),
                     bend = 2 * mu * inverse * inverse * inverse;
        s.W = mu * (I - 2 * T + 2) + 0.5 * lambda * (J - 1) * (J - 1);
        s.I = mu - mu * inverse;
        s.J = -2 * mu * inverse + lambda * (J - 1);
        s.II = 0.25 * bend, s.IJ = 0.5 * bend, s.JJ = bend + lambda;
    } else if (energy == CT_ENERGY_NEOHOOKEAN) {
        const double m = 1.5 * mu, n = lambda + mu * 2 / 3, inverse = 1 / (I + 1);
        s.W = 0.5 * m * (I - 2) - 0.5 * m * log1p((I - 2) / 3) + 0.5 * n * (J - 1) * (J - 1) - mu * (J - 1);
        s.I = 0.5 * m * (1 - inverse);
        s.J = n * (J - 1) - mu;
        s.II = 0.5 * m * inverse * inverse, s.IJ = 0, s.JJ = n;
    } else {
        s.W = 0.25 * mu * (I * I - 2 * J * J - 2 * I + 2) + 0.125 * lambda * (I - 2) * (I - 2);
        s.I = 0.5 * mu * (I - 1) + 0.25 * lambda * (I - 2);
        s.J = -mu * J;
        s.II = 0.5 * mu + 0.25 * lambda, s.IJ = 0, s.JJ = -mu;
    }
    return s;
}

static inline ct_mat32 ct_sheet_stress(const ct_sheet_point* p, const ct_sheet_slopes* s) {
    return ct_mat32_axpy(ct_mat32_scale(2 * s->I, p->F), s->J, p->K);
}

static inline ct_mat32 ct_sheet_stress_change(const ct_sheet_point* p, const ct_sheet_slopes* s,
                                              ct_mat32 dF) {
    const double along = ct_mat32_dot(p->F, dF), widen = ct_mat32_dot(p->K, dF);
    const ct_vec3 turn = ct_vec3_axpy(ct_vec3_scale(-p->inverse * ct_vec3_dot(p->normal, dF.c[0]), p->K.c[0]),
                                      -p->inverse * ct_vec3_dot(p->normal, dF.c[1]), p->K.c[1]);
    const ct_mat32 dK = {{ct_vec3_add(ct_vec3_cross(dF.c[1], p->normal), ct_vec3_cross(p->F.c[1], turn)),
                          ct_vec3_add(ct_vec3_cross(turn, p->F.c[0]), ct_vec3_cross(p->normal, dF.c[0]))}};
    ct_mat32 dP = ct_mat32_axpy(ct_mat32_scale(2 * s->I, dF), s->J, dK);
    dP = ct_mat32_axpy(dP, 4 * s->II * along + 2 * s->IJ * widen, p->F);
    return ct_mat32_axpy(dP, 2 * s->IJ * along + s->JJ * widen, p->K);
}

#endif
