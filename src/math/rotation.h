// Rotation vectors: the logarithm, and the Jacobians of the exponential.
//
// With J the left Jacobian, d exp(theta) = [J dtheta]x exp(theta), a = |theta|:
//     J      = I + (1 - cos a)/a^2 [theta] + (a - sin a)/a^3 [theta]^2
//     J^-1   = I - 1/2 [theta] + beta [theta]^2,      beta = (1 - a/2 cot(a/2)) / a^2
//     J^-T   = J^-1 of -theta, and the right Jacobian is J^T.
// A function f(theta) on rotations Q = exp(theta), moved by Q <- exp(phi) Q, has at phi = 0
//     gradient G = J^-T g,   Hessian  J^-T f'' J^-1 + sym(M J^-1),   g = f',  M = d(J^-T g)/dtheta at fixed
//     g.
#ifndef CT_MATH_ROTATION_H
#define CT_MATH_ROTATION_H

#include "math/quat.h"

// Rotation vector with an angle of at most pi.
static inline ct_vec3 ct_rotation_log(ct_quat q) {
    const double sign = q.w < 0 ? -1 : 1, s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    // atan(s/w)/s: by its series where it would be 0/0
    const double factor =
        s > 1e-4 ? 2 * atan2(s, sign * q.w) / s : 2 / fabs(q.w) * (1 - s * s / (3 * q.w * q.w));
    return (ct_vec3){sign * factor * q.x, sign * factor * q.y, sign * factor * q.z};
}
// Rotation vector of q p^-1.
static inline ct_vec3 ct_rotation_between(ct_quat p, ct_quat q) {
    return ct_rotation_log(ct_quat_multiply(q, ct_quat_conjugate(p)));
}

// beta, and gamma = beta'/a.
static inline void ct_rotation_coefficients(double a, double* beta, double* gamma) {
    const double t = a * a;
    if (a < 0.5) {
        *beta =
            1.0 / 12 +
            t * (1.0 / 720 + t * (1.0 / 30240 +
                                  t * (1.0 / 1209600 + t * (1.0 / 47900160 + t * (691.0 / 1307674368000)))));
        *gamma = 1.0 / 360 +
                 t * (1.0 / 7560 + t * (1.0 / 201600 + t * (1.0 / 5987520 + t * (691.0 / 130767436800))));
        return;
    }
    const double cotangent = 1 / tan(a / 2), sine = sin(a / 2);
    *beta = (1 - a / 2 * cotangent) / t;
    *gamma = (-2 / t + cotangent / (2 * a) + 1 / (4 * sine * sine)) / t;
}

static inline ct_mat3 ct_rotation_jacobian(ct_vec3 theta) {
    const double a = ct_vec3_norm(theta), t = a * a;
    const double first = a > 1e-3 ? 2 * pow(sin(a / 2) / a, 2) : 0.5 - t / 24;
    const double second =
        a > 0.1 ? (a - sin(a)) / (t * a) : 1.0 / 6 - t * (1.0 / 120 - t * (1.0 / 5040 - t / 362880));
    const ct_mat3 X = ct_mat3_cross(theta);
    return ct_mat3_axpy(ct_mat3_axpy(ct_mat3_identity(), first, X), second, ct_mat3_multiply(X, X));
}

static inline ct_mat3 ct_rotation_jacobian_inverse(ct_vec3 theta) {
    double beta, gamma;
    ct_rotation_coefficients(ct_vec3_norm(theta), &beta, &gamma);
    const ct_mat3 X = ct_mat3_cross(theta);
    return ct_mat3_axpy(ct_mat3_axpy(ct_mat3_identity(), -0.5, X), beta, ct_mat3_multiply(X, X));
}

// M: M d = 1/2 d x g + gamma (theta . d) theta x (theta x g) + beta (d x (theta x g) + theta x (d x g))
static inline ct_mat3 ct_rotation_bend(ct_vec3 theta, ct_vec3 g) {
    double beta, gamma;
    ct_rotation_coefficients(ct_vec3_norm(theta), &beta, &gamma);
    const ct_vec3 u = ct_vec3_cross(theta, g), w = ct_vec3_cross(theta, u);
    const double t[3] = {theta.x, theta.y, theta.z}, ww[3] = {w.x, w.y, w.z};
    ct_mat3 M = ct_mat3_scale(-0.5, ct_mat3_cross(g));
    M = ct_mat3_axpy(M, -beta, ct_mat3_cross(u));
    M = ct_mat3_axpy(M, -beta, ct_mat3_multiply(ct_mat3_cross(theta), ct_mat3_cross(g)));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) M.a[i][j] += gamma * ww[i] * t[j];
    return M;
}

// The Hessian above for f'' = stiffness I; bent: with the term of g, which may be indefinite.
static inline ct_mat3 ct_rotation_hessian(ct_vec3 theta, ct_vec3 g, double stiffness, bool bent) {
    const ct_mat3 J = ct_rotation_jacobian_inverse(theta);
    ct_mat3 H = ct_mat3_scale(stiffness, ct_mat3_multiply(ct_mat3_transpose(J), J));
    if (!bent) return H;
    const ct_mat3 B = ct_mat3_multiply(ct_rotation_bend(theta, g), J);
    return ct_mat3_axpy(ct_mat3_axpy(H, 0.5, B), 0.5, ct_mat3_transpose(B));
}

#endif
