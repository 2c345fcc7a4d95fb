// The energies: W, first Piola stress P = dW/dF, and the exact product dP = (d2W/dF2) dF, for one vector of
// tets.
//
// Weights mu and lambda arrive multiplied by the rest volume. With F = R S, S = V diag(s) V^T, U = R V:
//   corotated    W = mu |F-R|^2 + lambda/2 (tr S - 3)^2
//                dP = 2 mu dF + lambda (R:dF) R + (lambda (tr S - 3) - 2 mu) dR,
//                dR = R [w]x, (tr S I - S) w = axial(R^T dF - dF^T R)
//   projective   W = mu |F-R|^2 + 3 lambda/2 |F-D|^2, det D = 1; see elastic_nearest.h
//   neo-Hookean  W = m/2 (I - 3) - m/2 ln((I+1)/4) + n/2 (J-1)^2 - 3/4 m (J-1), I = |F|^2, J = det F,
//                m = 4/3 mu, n = lambda + 5/6 mu (Smith et al. 2018, reparametrised to Lame's small strain)
//   StVK         W = mu |G|^2 + lambda/2 (tr G)^2, G = (F^T F - I)/2
// What a product needs beside mu and lambda is stored by the linearisation, component after component.
#ifndef CT_FORCE_ELASTIC_ENERGY_H
#define CT_FORCE_ELASTIC_ENERGY_H

#include "force/elastic_nearest.h"
#include "force/elastic_polar.h"

#define CT_NARROWEST 1e-6  // smallest s_i + s_j that a linearisation divides by

// ---- corotated

CT_INLINE vd corotated_stress(vmat3 F, const vpolar* polar, vd mu, vd lambda, vmat3* P) {
    const vmat3 R = polar->R, stretch = vmat3_sub(F, R);
    const vd dilation = polar->trace - 3;
    *P = vmat3_axpy(vmat3_scale(2 * mu, stretch), lambda * dilation, R);
    return mu * vmat3_dot(stretch, stretch) + 0.5 * lambda * dilation * dilation;
}

// The inverse of tr S I - S, whose eigenvalues are the sums s_i + s_j, by cofactors.
CT_INLINE vsym3 gap_inverse(vsym3 S, vd gap) {
    const vd a = S.yy + S.zz, b = S.xx + S.zz, c = S.xx + S.yy, inverse = 1 / gap;
    return (vsym3){(b * c - S.yz * S.yz) * inverse,    (a * c - S.xz * S.xz) * inverse,
                   (a * b - S.xy * S.xy) * inverse,    (S.xz * S.yz + c * S.xy) * inverse,
                   (S.xy * S.yz + b * S.xz) * inverse, (S.xy * S.xz + a * S.yz) * inverse};
}

// The same where the gap is narrow, with the sums kept away from zero.
static __attribute__((noinline, cold)) void gap_inverse_narrow(const vsym3* S, const vl* narrow,
                                                               vsym3* inverse) {
    double s[6][CT_LANES], result[6][CT_LANES];
    memcpy(s, S, sizeof s);
    memcpy(result, inverse, sizeof result);
    for (int lane = 0; lane < CT_LANES; lane++) {
        if (!(*narrow)[lane]) continue;
        const double xx = s[0][lane], yy = s[1][lane], zz = s[2][lane], xy = s[3][lane], xz = s[4][lane],
                     yz = s[5][lane];
        double w[3], g[3];
        ct_mat3 V;
        ct_symmetric3((ct_mat3){{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}}, w, &V);
        for (int i = 0; i < 3; i++) g[i] = 1 / fmax(w[(i + 1) % 3] + w[(i + 2) % 3], CT_NARROWEST);
        for (int k = 0; k < 6; k++) {
            const int i = k < 3 ? k : k == 5, j = k < 3 ? k : k == 3 ? 1 : 2;
            result[k][lane] =
                V.a[i][0] * V.a[j][0] * g[0] + V.a[i][1] * V.a[j][1] * g[1] + V.a[i][2] * V.a[j][2] * g[2];
        }
    }
    memcpy(inverse, result, sizeof result);
}

// Stores R and (lambda (tr S - 3) - 2 mu) (tr S I - S)^-1.
CT_INLINE void corotated_linearise(vmat3 F, const vpolar* polar, vd mu, vd lambda, double* linear) {
    const vsym3 S = vmat3_sym_product(polar->R, F);
    vsym3 inverse = gap_inverse(S, polar->gap);
    if (__builtin_expect(vany(polar->narrow), 0)) gap_inverse_narrow(&S, &polar->narrow, &inverse);
    const vd factor = lambda * (polar->trace - 3) - 2 * mu;
    const vsym3 zero = {0};
    vmat3_store(linear, CT_BLOCK, polar->R);
    vsym3_store(linear + 9 * CT_BLOCK, CT_BLOCK, vsym3_axpy(zero, factor, inverse));
}

CT_INLINE vmat3 corotated_product(const double* linear, vmat3 dF, vd mu, vd lambda) {
    const vmat3 R = vmat3_load(linear, CT_BLOCK);
    const vsym3 K = vsym3_load(linear + 9 * CT_BLOCK, CT_BLOCK);
    // a = axial(R^T dF - dF^T R), w = K a
    const vd ax = (R.a02 * dF.a01 + R.a12 * dF.a11 + R.a22 * dF.a21) -
                  (R.a01 * dF.a02 + R.a11 * dF.a12 + R.a21 * dF.a22);
    const vd ay = (R.a00 * dF.a02 + R.a10 * dF.a12 + R.a20 * dF.a22) -
                  (R.a02 * dF.a00 + R.a12 * dF.a10 + R.a22 * dF.a20);
    const vd az = (R.a01 * dF.a00 + R.a11 * dF.a10 + R.a21 * dF.a20) -
                  (R.a00 * dF.a01 + R.a10 * dF.a11 + R.a20 * dF.a21);
    const vd wx = K.xx * ax + K.xy * ay + K.xz * az;
    const vd wy = K.xy * ax + K.yy * ay + K.yz * az;
    const vd wz = K.xz * ax + K.yz * ay + K.zz * az;
    // 2 mu dF + R (lambda (R:dF) I + [w]x)
    const vd d = lambda * vmat3_dot(R, dF), m = 2 * mu;
    return (vmat3){
        m * dF.a00 + R.a00 * d + R.a01 * wz - R.a02 * wy, m * dF.a01 + R.a01 * d + R.a02 * wx - R.a00 * wz,
        m * dF.a02 + R.a02 * d + R.a00 * wy - R.a01 * wx, m * dF.a10 + R.a10 * d + R.a11 * wz - R.a12 * wy,
        m * dF.a11 + R.a11 * d + R.a12 * wx - R.a10 * wz, m * dF.a12 + R.a12 * d + R.a10 * wy - R.a11 * wx,
        m * dF.a20 + R.a20 * d + R.a21 * wz - R.a22 * wy, m * dF.a21 + R.a21 * d + R.a22 * wx - R.a20 * wz,
        m * dF.a22 + R.a22 * d + R.a20 * wy - R.a21 * wx};
}

// ---- projective

CT_INLINE vd projective_stress(vmat3 F, const vnearest* nearest, vd mu, vd lambda, vmat3* P) {
    const vmat3 stretch = vmat3_sub(F, nearest->polar.R), volume = nearest_difference(nearest);
    *P = vmat3_axpy(vmat3_scale(2 * mu, stretch), 3 * lambda, volume);
    return mu * vmat3_dot(stretch, stretch) + 1.5 * lambda * vmat3_dot(volume, volume);
}

// Stores U, V, the 3x3 block of the diagonal and, per pair of axes, the factors of symmetric and skew parts.
CT_INLINE void projective_linearise(const vnearest* nearest, vd mu, vd lambda, double* linear) {
    const vsym3 diagonal = nearest_diagonal(nearest);
    const vd wr = 2 * mu, wv = 3 * lambda;
    const vsym3 stiff = {wr + wv * (1 - diagonal.xx), wr + wv * (1 - diagonal.yy),
                         wr + wv * (1 - diagonal.zz), -wv * diagonal.xy,
                         -wv * diagonal.xz,           -wv * diagonal.yz};
    vmat3_store(linear, CT_BLOCK, vmat3_multiply(nearest->polar.R, nearest->V));
    vmat3_store(linear + 9 * CT_BLOCK, CT_BLOCK, nearest->V);
    vsym3_store(linear + 18 * CT_BLOCK, CT_BLOCK, stiff);
    for (int pair = 0; pair < 3; pair++) {  // (0,1), (0,2), (1,2)
        const int i = pair == 2, j = pair == 0 ? 1 : 2;
        const vd sum = vmax(nearest->s[i] + nearest->s[j], vset(CT_NARROWEST));
        const vd sym = wr + wv * (1 - nearest_shear(nearest, i, j));
        const vd skew = wr * (1 - 2 / sum) + wv * (1 - (nearest->D[i] + nearest->D[j]) / sum);
        vstore(linear + (24 + pair) * CT_BLOCK, 0.5 * (sym + skew));
        vstore(linear + (27 + pair) * CT_BLOCK, 0.5 * (sym - skew));
    }
}

CT_INLINE vmat3 projective_product(const double* linear, vmat3 dF) {
    const vmat3 U = vmat3_load(linear, CT_BLOCK), V = vmat3_load(linear + 9 * CT_BLOCK, CT_BLOCK);
    const vsym3 K = vsym3_load(linear + 18 * CT_BLOCK, CT_BLOCK);
    const vd p01 = vload(linear + 24 * CT_BLOCK), p02 = vload(linear + 25 * CT_BLOCK),
             p12 = vload(linear + 26 * CT_BLOCK);
    const vd m01 = vload(linear + 27 * CT_BLOCK), m02 = vload(linear + 28 * CT_BLOCK),
             m12 = vload(linear + 29 * CT_BLOCK);
    const vmat3 A = vmat3_multiply(vmat3_multiply(vmat3_transpose(U), dF), V);
    const vmat3 B = {K.xx * A.a00 + K.xy * A.a11 + K.xz * A.a22,
                     p01 * A.a01 + m01 * A.a10,
                     p02 * A.a02 + m02 * A.a20,
                     p01 * A.a10 + m01 * A.a01,
                     K.xy * A.a00 + K.yy * A.a11 + K.yz * A.a22,
                     p12 * A.a12 + m12 * A.a21,
                     p02 * A.a20 + m02 * A.a02,
                     p12 * A.a21 + m12 * A.a12,
                     K.xz * A.a00 + K.yz * A.a11 + K.zz * A.a22};
    return vmat3_multiply(vmat3_multiply(U, B), vmat3_transpose(V));
}

// ---- stable neo-Hookean

CT_INLINE vd neohookean_stress(vmat3 F, vd mu, vd lambda, vmat3* P) {
    const vd m = (4.0 / 3) * mu, n = lambda + (5.0 / 6) * mu;
    const vmat3 cofactor = vmat3_cofactor(F);
    const vd I = vmat3_dot(F, F), j = F.a00 * cofactor.a00 + F.a01 * cofactor.a01 + F.a02 * cofactor.a02 - 1;
    *P = vmat3_axpy(vmat3_scale(m * (1 - 1 / (I + 1)), F), n * j - 0.75 * m, cofactor);
    return 0.5 * m * (I - 3 - vlog(0.25 * (I + 1))) + (0.5 * n * j - 0.75 * m) * j;
}

CT_INLINE vmat3 neohookean_product(const double* linear, vmat3 dF, vd mu, vd lambda) {
    const vmat3 F = vmat3_load(linear, CT_BLOCK), cofactor = vmat3_cofactor(F);
    const vd m = (4.0 / 3) * mu, n = lambda + (5.0 / 6) * mu;
    const vd j = F.a00 * cofactor.a00 + F.a01 * cofactor.a01 + F.a02 * cofactor.a02 - 1;
    const vd inverse = 1 / (vmat3_dot(F, F) + 1);
    const vmat3 first =
        vmat3_axpy(vmat3_scale(m * (1 - inverse), dF), 2 * m * inverse * inverse * vmat3_dot(F, dF), F);
    const vmat3 second = vmat3_axpy(first, n * vmat3_dot(cofactor, dF), cofactor);
    return vmat3_axpy(second, n * j - 0.75 * m, vmat3_cofactor_derivative(F, dF));
}

// ---- St. Venant-Kirchhoff, and damping by the rate of the same strain

CT_INLINE vsym3 green_strain(vmat3 F) {
    const vsym3 C = vmat3_gram(F);
    return (vsym3){0.5 * C.xx - 0.5, 0.5 * C.yy - 0.5, 0.5 * C.zz - 0.5, 0.5 * C.xy, 0.5 * C.xz, 0.5 * C.yz};
}

// 2 mu G + lambda tr G I
CT_INLINE vsym3 hooke(vsym3 G, vd mu, vd lambda) {
    const vd trace = lambda * (G.xx + G.yy + G.zz), m = 2 * mu;
    return (vsym3){m * G.xx + trace, m * G.yy + trace, m * G.zz + trace, m * G.xy, m * G.xz, m * G.yz};
}

// Derivatives of hooke(G) : dG by mu and lambda.
CT_INLINE void strain_parameter(vsym3 G, vsym3 dG, vd* d_mu, vd* d_lambda) {
    *d_mu = 2 * vsym3_dot(G, dG);
    *d_lambda = (G.xx + G.yy + G.zz) * (dG.xx + dG.yy + dG.zz);
}

CT_INLINE vd stvk_stress(vmat3 F, vd mu, vd lambda, vmat3* P) {
    const vsym3 G = green_strain(F), sigma = hooke(G, mu, lambda);
    *P = vmat3_multiply_sym(F, sigma);
    return 0.5 * vsym3_dot(sigma, G);
}

// dF sigma + F hooke(sym(F^T dF))
CT_INLINE vmat3 strain_product(vmat3 F, vsym3 sigma, vmat3 dF, vd mu, vd lambda) {
    const vmat3 material = vmat3_multiply_sym(F, hooke(vmat3_sym_product(F, dF), mu, lambda));
    return vmat3_axpy(material, vset(1), vmat3_multiply_sym(dF, sigma));
}

CT_INLINE vmat3 stvk_product(const double* linear, vmat3 dF, vd mu, vd lambda) {
    const vmat3 F = vmat3_load(linear, CT_BLOCK);
    return strain_product(F, hooke(green_strain(F), mu, lambda), dF, mu, lambda);
}

// ---- the choice of energy, known when compiled

// What a group of tets needs before stresses: the traces of S, for the projective energy all of D.
typedef struct vgroup {
    vmat3 F[NGROUP];
    vroot root[NGROUP];
    vnearest nearest[NGROUP];
} vgroup;

CT_INLINE void energy_prepare(int energy, vgroup* group) {
    if (energy == CT_ENERGY_COROTATED || energy == CT_ENERGY_PROJECTIVE) polar_roots(group->F, group->root);
    if (energy == CT_ENERGY_PROJECTIVE) nearest_group(group->F, group->root, group->nearest);
}

CT_INLINE vd energy_stress(int energy, const vgroup* group, int v, vd mu, vd lambda, vmat3* P) {
    const vmat3* F = &group->F[v];
    if (energy == CT_ENERGY_PROJECTIVE) return projective_stress(*F, &group->nearest[v], mu, lambda, P);
    if (energy == CT_ENERGY_NEOHOOKEAN) return neohookean_stress(*F, mu, lambda, P);
    if (energy == CT_ENERGY_STVK) return stvk_stress(*F, mu, lambda, P);
    const vpolar polar = polar_of(F, &group->root[v]);
    return corotated_stress(*F, &polar, mu, lambda, P);
}

CT_INLINE void energy_linearise(int energy, const vgroup* group, int v, vd mu, vd lambda, double* linear) {
    if (energy == CT_ENERGY_PROJECTIVE) projective_linearise(&group->nearest[v], mu, lambda, linear);
    else if (energy != CT_ENERGY_COROTATED) vmat3_store(linear, CT_BLOCK, group->F[v]);
    else {
        const vpolar polar = polar_of(&group->F[v], &group->root[v]);
        corotated_linearise(group->F[v], &polar, mu, lambda, linear);
    }
}

// dP/dmu : dF and dP/dlambda : dF, per unit volume: W is linear in both.
CT_INLINE void energy_parameter(int energy, const vgroup* group, int v, vmat3 dF, vd* d_mu, vd* d_lambda) {
    const vmat3* F = &group->F[v];
    if (energy == CT_ENERGY_PROJECTIVE) {
        *d_mu = 2 * vmat3_dot(vmat3_sub(*F, group->nearest[v].polar.R), dF);
        *d_lambda = 3 * vmat3_dot(nearest_difference(&group->nearest[v]), dF);
    } else if (energy == CT_ENERGY_NEOHOOKEAN) {
        const vmat3 cofactor = vmat3_cofactor(*F);
        const vd I = vmat3_dot(*F, *F),
                 j = F->a00 * cofactor.a00 + F->a01 * cofactor.a01 + F->a02 * cofactor.a02 - 1;
        const vd growth = vmat3_dot(cofactor, dF);
        *d_mu = (4.0 / 3) * (1 - 1 / (I + 1)) * vmat3_dot(*F, dF) + ((5.0 / 6) * j - 1) * growth;
        *d_lambda = j * growth;
    } else if (energy == CT_ENERGY_STVK) {
        strain_parameter(green_strain(*F), vmat3_sym_product(*F, dF), d_mu, d_lambda);
    } else {
        const vpolar polar = polar_of(F, &group->root[v]);
        *d_mu = 2 * vmat3_dot(vmat3_sub(*F, polar.R), dF);
        *d_lambda = (polar.trace - 3) * vmat3_dot(polar.R, dF);
    }
}

CT_INLINE vmat3 energy_product(int energy, const double* linear, vmat3 dF, vd mu, vd lambda) {
    if (energy == CT_ENERGY_COROTATED) return corotated_product(linear, dF, mu, lambda);
    if (energy == CT_ENERGY_PROJECTIVE) return projective_product(linear, dF);
    if (energy == CT_ENERGY_NEOHOOKEAN) return neohookean_product(linear, dF, mu, lambda);
    return stvk_product(linear, dF, mu, lambda);
}

#endif
