// A compiled scene: immutable, holds the elements and the factored system.
//
// Nodes and tets are in scene order. Unknowns are the free nodes in factor order: unknown k is node[k], and
// row[v] is the free node's row in the block matrix (scene order of free nodes), -1 for driven nodes.
// Nodes on links have row -1 too; tree.node_link tells them from driven ones.
//
// factor holds A0 = c^2 M + c D + (1 + c beta) K at rest (c = 1/h or 3/(2h), D the mass damping).
#ifndef CT_MODEL_MODEL_H
#define CT_MODEL_MODEL_H

#include "base/memory.h"
#include "contact/collision.h"
#include "force/cable.h"
#include "force/cavity.h"
#include "force/chamber.h"
#include "force/elastic.h"
#include "force/families.h"
#include "force/inertia.h"
#include "force/muscle.h"
#include "force/sheet.h"
#include "force/water.h"
#include "model/actuator.h"
#include "model/follower.h"
#include "model/solver.h"
#include "quantity/sums.h"
#include "scene/scene.h"
#include "shape/cell.h"
#include "skeleton/tree.h"
#include "sparse/factor.h"

// The part of the linearised system that belongs to links, as twists (omega, velocity of the link's point) in
// the axes of the configuration at which it was made. With A the free block and C the coupling, W = A^-1 C
// and S = D - C^T W.
typedef struct ct_coupling {
    double* W;               // 3 nfree x 6 nlink, rows in factor order
    double* S;               // 6 nlink x 6 nlink
    unsigned char* coupled;  // nlink x nlink: the 6x6 block of S is not zero
    double c;                // 1/s, of the inertia in it
} ct_coupling;

// Shapes at rest: nodes in scene order.
typedef struct ct_geometry {
    double* rest;             // 3 nvert, m
    int* tet;                 // 4 ntet
    int* mid;                 // 6 ntet mid-edge nodes, -1: the tet is linear; NULL: all are
    int* tri;                 // 3 ntri, of sheets
    int* surface;             // 3 nsurface, outward; sheets once, as in their mesh
    int* surface_owner;       // nsurface: body, or nbody + obstacle
    size_t surface_capacity;  // triangles that the two have room for
    int* tet_body;            // ntet
    int* tet_tag;             // ntet
    int* tri_body;            // ntri
    int* tri_tag;             // ntri
    char** body_name;         // nbody
    double* body_color;       // 3 nbody
    double extent;            // m, largest |coordinate|: scale of round-off
} ct_geometry;

// What acts on a model from outside: prescribed motion, forces, and the controls of both.
typedef struct ct_inputs {
    ct_scene_driver* drive;  // ndrive
    int ndrive;
    ct_scene_force* force;  // nforce
    int nforce;
    ct_scene_control* control;  // ncontrol
    int* control_first;         // ncontrol, of its numbers in a step's control vector
    int ncontrol, control_size;
    int* mount;  // ncontrol, MOVE: which of the state's mounts, otherwise -1
    int nmount;
    ct_scene_driver* root_motion;  // tree.nroot, of the roots that are driven
} ct_inputs;

// The linearised system of the free nodes and the links, factored: A0 and what goes with it.
typedef struct ct_system {
    ct_block_matrix matrix;  // pattern; values of A0
    ct_symbolic* symbolic;
    ct_factor* factor;       // A0
    ct_precision precision;  // of the stored factors
    // nelement, logs of mu, mu + lambda, density and rigidity when the factor was made
    float (*factored)[4];
    int factor_version;  // of the values that the factor was made for
    // whenever values change that it depends on: then results depend on the values alone, not on those before
    bool always_factor;
    ct_coupling coupling;    // of links and free nodes, at rest
    double roundoff;         // N, residual below which double precision cannot go
    double energy_roundoff;  // J, the same for energies: terms of size mu V cancel at rest
    int refactor_cost;       // solves that cost as much as one numeric factorisation
} ct_system;

struct ct_model {
    ct_arena arena;  // owns every array below
    ct_settings settings;
    // nodes: of the bodies, four for each link with a mass of its own, of rotors, of obstacles
    int nvert, ntet, ntri, nsurface, nbody, nfree;
    int nobstacle;
    int nelement;  // ntet + ntri: the tets, then the triangles of sheets
    int nunknown;  // 3 nfree + joint rates

    ct_geometry geometry;

    // materials and inertia
    ct_material* material;  // nelement
    double* mass;           // nvert, kg, lumped; 0: obstacles
    double* drag;           // nvert, kg/s, mass damping
    double* inertia_mass;   // nvert, the same, but of rotors their armature: what weighs nothing and moves
    double* free_mass;      // nvert, mass of free nodes, 0 for driven ones
    double* free_drag;      // nvert, likewise
    double* velocity;       // 3 nvert, m/s, initial
    double* own_mass;       // nvert, kg, of links' own masses
    double total_mass;
    ct_inertia inertia;  // these masses, as a family of forces

    ct_inputs inputs;
    ct_tree tree;      // skeletons; no links: none
    ct_follow follow;  // how flesh follows them where a motion begins
    ct_water water;
    ct_policy policy;
    ct_actuators actuators;
    ct_collision collision;  // who can touch whom
    int* soft_piece;   // nvert: among the wholes of its softness, the piece that holds the node, -1: none
    double* friction;  // nfriction: of the scene, then of the pairs that set one
    int nfriction;

    // unknowns and the system: free nodes in factor order, then joint rates
    int* row;   // nvert
    int* node;  // nfree
    ct_system system;
    ct_families families;  // every force
    int version;           // one more after every change of values
    const ct_solver_row* solver;
    void* solver_part;  // what the solver keeps with the model
    int sliver_count;
    double setup_seconds;
};

// c of the settings' integrator and time step: v = c x - history.
double ct_model_rate(const ct_settings* settings);
// Lame parameters that the element energies see.
void ct_material_lame(const ct_material* material, double* mu, double* lambda);
// Mid-edge nodes of a tet of second order; NULL: it is linear.
static inline const int* ct_model_middles(const ct_model* model, int tet) {
    const int* mid = model->geometry.mid;
    return mid && mid[6 * (size_t)tet] >= 0 ? mid + 6 * (size_t)tet : NULL;
}
// Its nodes; returns how many: 4 or 10.
int ct_model_tet_nodes(const ct_model* model, int tet, int node[CT_CELL_NODES]);
// All nodes of the element sit on one link: it does not deform, its mass is the link's.
bool ct_model_is_rigid(const ct_model* model, int element);
// Membrane (N/m) and bending (N m) stiffnesses of a sheet of the material: plane stress times the thickness,
// and the mean of D_11 and D_22.
void ct_material_membrane(const ct_material* material, double* mu, double* lambda, double* rigidity);
// The sheets' elements; nothing where there are none.
ct_status ct_model_create_sheets(ct_model* model);
ct_status ct_model_set_sheets(ct_model* model);  // from the materials
// Adds the sheets' lumped masses and drags.
void ct_model_lump_sheets(ct_model* model);
// What couples nodes in the stiffness matrix: *width entries each, row[node] or -1. Freed by ct_free; NULL:
// out of memory.
int* ct_model_couplings(const ct_model* model, const int* row, int* count, int* width);
// Adds triangles of a body, or of an obstacle (owner nbody + obstacle), to the surface; their nodes count
// from first_node.
ct_status ct_model_append_surface(ct_model* model, const int* tri, int ntri, int first_node, int owner);
// Masses and mass damping from the materials.
void ct_model_lump(ct_model* model);
// The elements' Lame parameters, rigidities and dampings from the materials.
ct_status ct_model_set_elements(ct_model* model);
// Reverse of both, for tets and for sheets: the sums of the elements' and nodes' numbers to those of the
// materials' quantities, overwritten.
void ct_model_materials_vjp(const ct_model* model, const ct_sums* sums);
void ct_model_sheets_vjp(const ct_model* model, const ct_sums* sums);
// Sums for a reverse pass: the gradient's arrays of what belongs to the model, set to zero, and arrays in the
// arena for what lies between.
ct_status ct_model_begin_sums(const ct_model* model, ct_values* gradient, ct_arena* arena, ct_sums* sums);
// From what lies between to the quantities, at the end of a reverse pass.
void ct_model_finish_sums(const ct_model* model, ct_sums* sums);
// Memory for a coupling.
ct_status ct_coupling_create(ct_coupling* coupling, ct_arena* arena, const ct_model* model);
// Fills it for the Hessian at x and the actuation there (NULL: rest) with inertia c; `factor` solves with A =
// `matrix`.
ct_status ct_coupling_update(ct_coupling* coupling, const ct_model* model, ct_families_work* work, double c,
                             const double* x, const double* actuation, const ct_block_matrix* matrix,
                             const ct_factor* factor);
// The values have moved by more than about 3x since the system was factored.
bool ct_model_factor_is_stale(const ct_model* model);
// Numeric factorisation at rest for the present materials.
ct_status ct_model_factor(ct_model* model);
// Fills `matrix` with c^2 M + c D + Hessian at x and the actuation there (NULL: at rest), element Hessians
// projected to positive semi-definite; damping enters as without strain rate.
void ct_model_assemble(const ct_model* model, ct_families_work* work, double c, const double* x,
                       const double* actuation, ct_block_matrix* matrix);

#endif
