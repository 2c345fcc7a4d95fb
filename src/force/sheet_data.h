// The compiled sheets and their scratch, shared by the sheet_*.c files.
#ifndef CT_FORCE_SHEET_DATA_H
#define CT_FORCE_SHEET_DATA_H

#include "force/sheet.h"
#include "force/sheet_clamp.h"
#include "force/sheet_curvature.h"
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
    double rest;  // rad
} ct_sheet_hinge;

struct ct_sheet {
    ct_arena arena;
    int nvert, ntri, nhinge;
    int first;  // number of triangle 0 among the elements of the model
    bool damped;
    double* rest;      // 3 nvert
    double* area;      // ntri
    double* rigidity;  // 4 ntri
    double* bending;   // ntri
    double* natural;   // 3 ntri
    double* moment;    // 6 ntri: 11 22 33 12 13 23 of what curvatures are multiplied with, times the area
    // 9 ntri, row-major: the rest frame (two axes in the plane, the normal) as columns
    double* frame;
    ct_sheet_triangle* triangle;
    // angles: those of hinges, in blocks of CT_SHEET_BLOCK, and behind the last block those of clamped edges
    ct_sheet_hinge* hinge;
    ct_sheet_clamp* clamp;
    int nangle, nclamp;
    int* hinge_node;  // 4 nangle; clamped edges: the last is -1
    ct_sheet_curvature curvature;
    bool bends;                  // some triangle has a rigidity
    double *stiffness, *damper;  // nangle: diagonal of M, of damping times c; N m, N m s
    // the same for the kernels: triangles sorted by energy, hinges in their order
    const ct_membrane_kernels* kernels;
    const ct_bend_kernels* bend_kernels;
    ct_membrane_block* membrane;
    ct_bend_block* bend;
    ct_plate_block* plate;
    int nmembrane, nbend, nplate;  // blocks
    int* slot;                     // ntri: CT_SHEET_BLOCK block + lane
    int nnode, *node;              // nodes that have triangles
};

typedef struct ct_sheet_linear {  // of a triangle
    ct_sheet_point point;
    ct_sheet_slopes slopes;  // times the area
    double sigma[3];         // damping stress xx yy xy, times the area
} ct_sheet_linear;

struct ct_sheet_work {
    ct_arena arena;
    // nangle each: angles where the step began, those within it count from there; g of their rates; theta -
    // theta_0; c theta - g; dE/dtheta; the last three also as changes
    double *angle_start, *angle_rate, *bend_angle, *bend_rate, *pull;
    double* turn;                 // gradients of the angles, see sheet_kernel.h
    double* strain_rate;          // 3 CT_SHEET_BLOCK nmembrane: g of the membrane, xx yy xy, lanes together
    double* foreseen;             // 3 CT_SHEET_BLOCK nmembrane: stress foreseen, xx yy xy, times the area
    double *linear, *bend;        // the last linearisation; see sheet_kernel.h
    double* sum;                  // 12 nvert, of forces (4 a node) or rotations
    double c;                     // 0: no damping
    ct_sheet_clamp_point* clamp;  // nclamp, of the last linearisation
    ct_sheet_bar bar;             // derivatives by the parameters
    double linear_c;              // when the linearisation was made
    bool rated;                   // the g of this step are there
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

// Angle k at x, in [-pi, pi]; and of those that differ by whole turns the one nearest to the step's start.
double ct_sheet_angle(const ct_sheet* sheet, int k, const double* x);
static inline double ct_sheet_unwrap(const ct_sheet_work* work, int k, double angle) {
    const double turn = angle - work->angle_start[k];
    return fabs(turn) <= M_PI ? angle : angle - copysign(2 * M_PI, turn);
}
// There is no angle k between the last hinge and the first clamped edge.
static inline bool ct_sheet_is_angle(const ct_sheet* sheet, int k) {
    return k < sheet->nhinge || k >= CT_SHEET_BLOCK * sheet->nbend;
}
// Nodes of angle k and its gradient there, 0 for a node that it lacks; returns the angle. Its change along d.
double ct_sheet_angle_gradient(const ct_sheet* sheet, int k, const double* x, int node[4], ct_vec3 g[4]);
double ct_sheet_angle_change(const ct_sheet* sheet, int k, const double* x, const double* d);

// c G - g
static inline void ct_sheet_strain_rate(const ct_sheet* sheet, const ct_sheet_work* work, int e, double c,
                                        ct_mat32 F, double rate[3]) {
    ct_sheet_strain(F, rate);
    for (int i = 0; i < 3; i++) rate[i] = c * rate[i] - work->strain_rate[ct_sheet_at(sheet, e, 3, i)];
}

// The linearisation of one triangle at F, and the product with it; c as in ct_sheet_begin_step.
void ct_sheet_linearise_triangle(const ct_sheet* sheet, const ct_sheet_work* work, int e, ct_mat32 F,
                                 double c, ct_sheet_linear* out);
ct_mat32 ct_sheet_linear_product(const ct_sheet_triangle* t, const ct_sheet_linear* l, double c, bool viscous,
                                 ct_mat32 dF);

ct_status ct_sheet_create_angles(ct_sheet* sheet, const ct_sheet_def* def);

// Bending, as the functions of sheet.h: sums of nodes are those of the work, 4 doubles a node.
void ct_sheet_bend_begin(const ct_sheet* sheet, ct_sheet_work* work, const double* x_n);
void ct_sheet_bend_history(const ct_sheet* sheet, ct_sheet_work* work, double scale, const double* x);
double ct_sheet_bend_gradient(const ct_sheet* sheet, const ct_sheet_work* work, const double* x);
void ct_sheet_bend_linearise(const ct_sheet* sheet, ct_sheet_work* work, const double* x);
void ct_sheet_bend_product(const ct_sheet* sheet, const ct_sheet_work* work, const double* dx);
double ct_sheet_bend_energy(const ct_sheet* sheet, const double* x);
// beta: added to.
void ct_sheet_bend_parameter_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                                 const double* lam, const ct_sheet_bar* bar);
void ct_sheet_bend_history_vjp(const ct_sheet* sheet, const ct_sheet_work* work, const double* x,
                               const double* lam, double scale, const double* x_then, double* bar);

#endif
