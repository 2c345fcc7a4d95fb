// What the ways to solve a friction problem (friction.h) share: the problem, the conditions of its contacts
// as equations, and the memory.
//
// The conditions of one contact say that its force is a fixed point: with y = F - r u, y_N = n.y, y_T = P y,
// r = (r_N, r_T) > 0,
//     Phi = F - projection = 0,   projection_N = max(0, y_N),   projection_T = the point of the disc of
//     radius mu max(0, y_N) nearest to y_T
// (Alart and Curnier 1991), with r_N = 1/(n.W_cc n), r_T = 2/trace(P W_cc P).
#ifndef CT_CONTACT_FRICTION_PROBLEM_H
#define CT_CONTACT_FRICTION_PROBLEM_H

#include "contact/friction.h"
#include "contact/friction_system.h"
#include "math/mat3.h"

// The problem. Where W is stored, the addition joins it as soon as somebody wants rows or columns of the sum.
typedef struct ct_friction_problem {
    int count;
    const ct_friction_matrix* matrix;
    ct_friction_addition addition;  // none once it has joined
    const double *b, *base, *normal, *mu, *eps;
    const ct_friction_inverse* inverse;
} ct_friction_problem;

typedef struct ct_friction_local {  // a contact
    ct_vec3 n, t1, t2;
    double W[9];  // W_cc + eps
    double r_N, r_T;
    double W_NN, w[2];          // in the frame (n, t1, t2)
    double s[2], e1[2], e2[2];  // eigenvalues and eigenvectors of S
} ct_friction_local;

// |Phi|^2 and |F|^2 in the norm of the report, and the largest violation.
typedef struct ct_friction_merit {
    double square, size, violation;
    int stick, slip;
} ct_friction_merit;

struct ct_friction_work {
    ct_arena arena;
    int capacity;
    ct_friction_local* contact;
    double *u, *dF, *Wd, *F_try, *u_try, *F_best, *F_held, *u_held, *a;  // 3 capacity
    double *D, *E;                                                       // 9 capacity
    int halvings;                                                        // that a step may take
    double* eps;                                                         // capacity
    ct_friction_merit held;                                              // of F_held
    ct_friction_system newton, fixed;
    ct_friction_complement complement, fixed_complement;
    bool inverted;   // the fixed system is solved by its complement
    uint64_t stamp;  // of the matrix that Newton's factor belongs to; 0: none that may come again
    double* sum;     // W + U M U^T
    double* ways;    // U M
    size_t sum_size, ways_size;
    ct_friction_matrix own;  // of that
};

// Phi of one contact in (N, T); what its set is; y_T.
typedef struct ct_friction_state {
    ct_contact_set set;
    double y_N, length;  // length: |y_T|
    ct_vec3 y_T, Phi, projection;
} ct_friction_state;

ct_status ct_friction_work_reserve(ct_friction_work* work, int count);
// Frames and own compliances of the contacts.
void ct_friction_prepare(const ct_friction_problem* def, ct_friction_work* work);
ct_friction_state ct_friction_evaluate(const ct_friction_local* l, double mu, const double* F,
                                       const double* u);
// set: of every contact; NULL: not wanted.
ct_friction_merit ct_friction_measure(const ct_friction_problem* def, const ct_friction_work* work,
                                      const double* F, const double* u, unsigned char* set);
double ct_friction_residual(ct_friction_merit m);
// u = b + (W + U M U^T) (F - F_base) + eps F
void ct_friction_motion(const ct_friction_problem* def, ct_friction_work* work, const double* F, double* u);
// W + U M U^T in the place of both, where W is stored.
ct_status ct_friction_join(ct_friction_problem* def, ct_friction_work* work);

// A += s v w^T, row-major
static inline void ct_friction_add_outer(double* A, double s, ct_vec3 v, ct_vec3 w) {
    const double a[3] = {v.x, v.y, v.z}, b[3] = {w.x, w.y, w.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[3 * i + j] += s * a[i] * b[j];
}

#endif
