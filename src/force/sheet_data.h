// The compiled sheets and their scratch, shared by the sheet_*.c files.
#ifndef CT_FORCE_SHEET_DATA_H
#define CT_FORCE_SHEET_DATA_H

#include "force/sheet.h"
#include "force/sheet_energy.h"
#include "force/sheet_hinge.h"
#include "force/sheet_kernel.h"

typedef struct ct_sheet_triangle {
    int node[3];
    int energy;
    double inverse[2][2];  // Dm^-1, row-major
    double mu, lambda;     // N m: times the area
    double beta, area;
} ct_sheet_triangle;

typedef struct ct_sheet_hinge {
    int node[4];  // edge, opposite corner of tri[0], of tri[1]
    int tri[2];
    double weight;     // w
    double rest;       // rad
    double stiffness;  // k, N m
    double damper;     // kb, N m s
} ct_sheet_hinge;

struct ct_sheet {
    ct_arena arena;
    int nvert, ntri, nhinge;
    int first;  // number of triangle 0 among the elements of the model
    bool damped;
    double* rest;      // 3 nvert
    double* area;      // ntri
    double* rigidity;  // ntri
    // 9 ntri, row-major: the rest frame (two axes in the plane, the normal) as columns
    double* frame;
    ct_sheet_triangle* triangle;
    ct_sheet_hinge* hinge;
    int* hinge_node;  // 4 nhinge
    // the same for the kernels: triangles sorted by energy, hinges in their order
    const ct_sheet_kernels* kernels;
    ct_membrane_block* membrane;
    ct_bend_block* bend;
    int nmembrane, nbend;  // blocks
    int* slot;             // ntri: CT_SHEET_BLOCK block + lane
    int nnode, *node;      // nodes that have triangles
};

typedef struct ct_sheet_linear {  // of a triangle
    ct_sheet_point point;
    ct_sheet_slopes slopes;  // times the area
    double sigma[3];         // damping stress xx yy xy, times the area
} ct_sheet_linear;

typedef struct ct_sheet_bend {  // of a hinge
    ct_hinge_point point;
    double pull, stiffness;  // dE/dtheta, d2E/dtheta2
} ct_sheet_bend;

struct ct_sheet_work {
    ct_arena arena;
    // CT_SHEET_BLOCK nbend: where the step began; angles within it count from there
    double* angle_start;
    double* strain_rate;    // 3 CT_SHEET_BLOCK nmembrane: g of the membrane, xx yy xy, lanes together
    double* angle_rate;     // CT_SHEET_BLOCK nbend: g of the hinges
    double* foreseen;       // 3 CT_SHEET_BLOCK nmembrane: stress foreseen, xx yy xy, times the area
    double *linear, *bend;  // the last linearisation; see sheet_kernel.h
    double* sum;            // 12 nvert, of forces (4 a node) or rotations
    double c;               // 0: no damping
    double* d[4];           // ntri each: derivatives by mu, lambda, beta, rigidity
    double linear_c;        // when the linearisation was made
    bool rated;             // the g of this step are there
};

static inline void ct_sheet_load(const double* x, const int* node, int count, ct_vec3* out) {
    for (int k = 0; k < count; k++) out[k] = ct_vec3_load(x + 3 * (size_t)node[k]);
}

// F or, with dx for x, dF.
static inline ct_mat32 ct_sheet_deformation(const ct_sheet_triangle* t, const double* x) {
    ct_vec3 p[3];
    ct_sheet_load(x, t->node, 3, p);
    const ct_vec3 a = ct_vec3_sub(p[1], p[0]), b = ct_vec3_sub(p[2], p[0]);
    return (ct_mat32){{ct_vec3_axpy(ct_vec3_scale(t->inverse[0][0], a), t->inverse[1][0], b),
                       ct_vec3_axpy(ct_vec3_scale(t->inverse[0][1], a), t->inverse[1][1], b)}};
}

static inline void ct_sheet_add_node(double* f, int node, ct_vec3 g) {
    f[3 * (size_t)node] += g.x;
    f[3 * (size_t)node + 1] += g.y;
    f[3 * (size_t)node + 2] += g.z;
}

// Adds the forces of the stress P to the nodes.
static inline void ct_sheet_add_stress(const ct_sheet_triangle* t, ct_mat32 P, double* f) {
    const ct_vec3 g1 = ct_vec3_axpy(ct_vec3_scale(t->inverse[0][0], P.c[0]), t->inverse[0][1], P.c[1]);
    const ct_vec3 g2 = ct_vec3_axpy(ct_vec3_scale(t->inverse[1][0], P.c[0]), t->inverse[1][1], P.c[1]);
    ct_sheet_add_node(f, t->node[0], ct_vec3_scale(-1, ct_vec3_add(g1, g2)));
    ct_sheet_add_node(f, t->node[1], g1);
    ct_sheet_add_node(f, t->node[2], g2);
}

// beta (2 mu e + lambda tr e I) with the triangle's numbers, which hold the area; e as xx yy xy.
static inline void ct_sheet_viscous(const ct_sheet_triangle* t, const double e[3], double sigma[3]) {
    const double trace = t->lambda * (e[0] + e[1]);
    sigma[0] = t->beta * (2 * t->mu * e[0] + trace);
    sigma[1] = t->beta * (2 * t->mu * e[1] + trace);
    sigma[2] = t->beta * 2 * t->mu * e[2];
}

// Number i of triangle e among those that a block keeps `size` of for each lane.
static inline size_t ct_sheet_at(const ct_sheet* sheet, int e, int size, int i) {
    const int slot = sheet->slot[e];
    return ((size_t)(slot / CT_SHEET_BLOCK) * (size_t)size + (size_t)i) * CT_SHEET_BLOCK +
           (size_t)(slot % CT_SHEET_BLOCK);
}

static inline bool ct_sheet_is_viscous(const ct_sheet* sheet, double c) { return sheet->damped && c > 0; }

// The angle of hinge k, of those that differ by whole turns the one nearest to the step's start.
static inline double ct_sheet_unwrap(const ct_sheet_work* work, int k, double angle) {
    const double turn = angle - work->angle_start[k];
    return fabs(turn) <= M_PI ? angle : angle - copysign(2 * M_PI, turn);
}

// c G - g
static inline void ct_sheet_strain_rate(const ct_sheet* sheet, const ct_sheet_work* work, int e, double c,
                                        ct_mat32 F, double rate[3]) {
    ct_sheet_strain(F, rate);
    for (int i = 0; i < 3; i++) rate[i] = c * rate[i] - work->strain_rate[ct_sheet_at(sheet, e, 3, i)];
}

// The linearisation of one triangle at F and of one hinge at x, and the product with it; c as in
// ct_sheet_begin_step.
void ct_sheet_linearise_triangle(const ct_sheet* sheet, const ct_sheet_work* work, int e, ct_mat32 F,
                                 double c, ct_sheet_linear* out);
void ct_sheet_linearise_hinge(const ct_sheet* sheet, const ct_sheet_work* work, int k, const double* x,
                              double c, ct_sheet_bend* out);
ct_mat32 ct_sheet_linear_product(const ct_sheet_triangle* t, const ct_sheet_linear* l, double c, bool viscous,
                                 ct_mat32 dF);

#endif
