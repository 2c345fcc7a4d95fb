// Muscles: fibres in tetrahedra that want to shorten.
//
// Per tet e of a muscle, with m the unit fibre direction at rest, V the rest volume, w in [0, 1] a weight, k
// the muscle's stiffness (Pa) and a in [0, 1] the activation of the segment that the tet belongs to,
//     E_e = k/2 V w (l - (1 - a))^2,   l = |y|,   y = F m = sum_j c_j x_j,
// c_j the slopes of the shape functions along m. With g = k V w and r = 1 - a,
//     dE/dy = g (1 - r/l) y,   d2E/dy2 = g ((1 - r/l) I + r/l u u^T),   u = y/l,   d2E/dy da = g u.
// A fibre at its rest length without activation carries no force. A fibre shorter than 1 - a pushes: it is a
// spring, not a rope. At l = 0 the direction is lost; there the force is zero.
//
// Fibres go by eight through vectors (muscle_kernel.c).
#ifndef CT_FORCE_MUSCLE_H
#define CT_FORCE_MUSCLE_H

#include "force/actuated.h"
#include "sparse/block_matrix.h"

typedef struct ct_muscle_fibres {
    ct_actuated_def tets;
    const double* direction;  // 3 ntet, unit, rest
    const double* weight;     // ntet
} ct_muscle_fibres;

typedef struct ct_muscle ct_muscle;            // compiled, immutable but for set_stiffness
typedef struct ct_muscle_work ct_muscle_work;  // scratch and the linearisation point

ct_status ct_muscle_create(ct_muscle** out, const ct_muscle_fibres* def);
void ct_muscle_free(ct_muscle* muscle);
void ct_muscle_set_stiffness(ct_muscle* muscle, const double* stiffness);  // one per muscle
ct_status ct_muscle_work_create(ct_muscle_work** out, const ct_muscle* muscle);
void ct_muscle_work_free(ct_muscle_work* work);

// activation: one per segment. Returns E(x) and adds its gradient to f (NULL: not wanted).
double ct_muscle_gradient(const ct_muscle* muscle, ct_muscle_work* work, const double* activation,
                          const double* x, double* f);
// Remembers the linearisation at x; the product adds H dx to out.
void ct_muscle_linearise(const ct_muscle* muscle, ct_muscle_work* work, const double* activation,
                         const double* x);
void ct_muscle_product(const ct_muscle* muscle, ct_muscle_work* work, const double* dx, double* out);
// Adds the Hessian at x (NULL: at rest, without activation; project: each element's made positive
// semi-definite) into `matrix`; unknown[v] is the block row of node v or -1.
void ct_muscle_assemble(const ct_muscle* muscle, const double* activation, const double* x, bool project,
                        const int* unknown, ct_block_matrix* matrix);
// Adds lam . d grad/da to activation_bar (segments), lam . d grad/dk to stiffness_bar (muscles); NULL: not
// wanted.
void ct_muscle_vjp(const ct_muscle* muscle, ct_muscle_work* work, const double* activation, const double* x,
                   const double* lam, double* activation_bar, double* stiffness_bar);

#endif
