// What the element kernels read and write, and the table through which elastic_pass.c calls them.
//
// A kernel runs over a range of blocks of one energy. Its forces are either added to node sums (stride 4) at
// once, or stored per tet to be summed later per node; both orders are the same, tet after tet.
#ifndef CT_FORCE_ELASTIC_TABLE_H
#define CT_FORCE_ELASTIC_TABLE_H

#include "base/cpu.h"
#include "cuttle.h"
#include "force/elastic.h"
#include "shape/cell.h"

// Eight tets of one energy, or a point of eight tets of second order, one a lane. Lanes behind the last tet
// repeat it with weight 0.
typedef struct ct_elastic_block {
    double inverse[9][CT_BLOCK];  // Dm^-1, row-major, 1/m; Dm = columns of rest edges from node 0, or E(rest)
    double mu[CT_BLOCK];          // V mu, J
    double lambda[CT_BLOCK];      // V lambda, J
    int node[4][CT_BLOCK];        // of linear tets
} ct_elastic_block;

// Nodes of eight tets of second order, whose points are four blocks, one after the other.
typedef struct ct_elastic_cell {
    int node[CT_CELL_NODES][CT_BLOCK];
} ct_elastic_cell;

// Doubles of a linearisation, per tet and energy; with damping each block's record is CT_LINEAR_DAMPER
// longer.
enum { CT_LINEAR_COROTATED = 15, CT_LINEAR_PROJECTIVE = 30, CT_LINEAR_NEOHOOKEAN = 9, CT_LINEAR_STVK = 9 };
enum { CT_LINEAR_DAMPER = 15, CT_LINEAR_LONGEST = CT_LINEAR_PROJECTIVE + CT_LINEAR_DAMPER };
#define CT_ELEMENT_SIZE 16  // doubles of element forces per tet: 4 nodes, 4 doubles each
#define CT_NODE_SIZE 12     // doubles of deformation per node: 3 rows, 4 doubles each

typedef struct ct_elastic_pass {
    const ct_elastic_block* block;
    const ct_elastic_cell* cell;  // of the blocks from `second` on
    int second;                   // the first block of second order
    const double* x;              // positions or directions, 3 doubles a node and one more behind the last
    // sums of forces (4 nvert) or deformation (CT_NODE_SIZE nvert); NULL: store them per tet
    double* node;
    // CT_ELEMENT_SIZE per lane; tets of second order take the room of their four points, one tet after the
    // other: forces of ten nodes, or three times the same deformation
    double* element;
    const double* volume;  // CT_BLOCK per block: rest volume, m^3, for mean deformations
    const double* beta;    // CT_BLOCK per block: stiffness damping, s
    const double* rate;    // 6 CT_BLOCK per block: g of the strain rate c G - g; NULL: no damping
    double c;              // 1/s
    const double* lam;     // adjoint direction, like x
    const double* now;     // positions at the end of the step, like x
} ct_elastic_pass;

// Functions of linear tets, then of those of second order, whose blocks come in fours.
typedef struct ct_elastic_kernels {
    const char* name;
    // Energy of blocks first .. first+count-1; adds or stores the forces (gradient).
    double (*gradient[2][CT_ENERGY_COUNT])(const ct_elastic_pass* pass, int first, int count);
    // `linear` holds the records of block `first` and on; a product sees the same rate (NULL or not) as its
    // linearisation.
    void (*linearise[2][CT_ENERGY_COUNT])(const ct_elastic_pass* pass, int first, int count, double* linear);
    void (*product[2][CT_ENERGY_COUNT])(const ct_elastic_pass* pass, int first, int count,
                                        const double* linear);
    // d(V P)/dF of one block from its linearisation: hessian[(9 i + j) CT_BLOCK + lane], F and P row-major.
    void (*hessian[CT_ENERGY_COUNT])(const ct_elastic_pass* pass, int block, const double* linear,
                                     double* hessian);
    // Of such Hessians, of all lanes (elastic_element.h): they are positive definite; they become positive
    // semi-definite, bases: U and V of F, 9 CT_BLOCK each.
    bool (*is_positive)(const double* hessian);
    void (*project)(const double* bases, double* hessian);
    // Positive parts of symmetric 3x3 matrices: xx, yy, zz, xy, xz, yz.
    void (*positive_stress)(double* sigma);
    // G^T H G of `count` nodes, gradient[(3 node + axis) CT_BLOCK + lane]: 3x3 blocks (a, b), b = 0, 1, ...,
    // a >= b, 9 CT_BLOCK each.
    void (*nodes)(const double* hessian, const double* gradient, int count, double* blocks);
    // V W, F (9), V P (9) of one block, without damping: values[(component) CT_BLOCK + lane], 19 components.
    void (*stress[2][CT_ENERGY_COUNT])(const ct_elastic_pass* pass, int block, double* values);
    // V P : dF(lam) differentiated by mu, lambda and beta: values[(3 (block - first) + which) CT_BLOCK +
    // lane].
    void (*parameter[2][CT_ENERGY_COUNT])(const ct_elastic_pass* pass, int first, int count, double* values);
    // Adds the rows of V F, 4 doubles each, to the nodes or stores them per tet.
    void (*deformation[2])(const ct_elastic_pass* pass, int first, int count);
    // rate += a G(x), 6 CT_BLOCK per block.
    void (*strain[2])(const ct_elastic_pass* pass, int first, int count, double a, double* rate);
    // Adds or stores the forces of V P = a F(x) beta hooke(sym(F(now)^T dF(lam))).
    void (*history[2])(const ct_elastic_pass* pass, int first, int count, double a);
    // Polar factors of CT_BLOCK matrices: F[9][CT_BLOCK] -> R[9][CT_BLOCK].
    void (*polar)(const double* F, double* R);
} ct_elastic_kernels;

const ct_elastic_kernels* ct_elastic_kernels_of(ct_isa isa);
int ct_elastic_linear_size(int energy);  // CT_LINEAR_... of a ct_energy

#endif
