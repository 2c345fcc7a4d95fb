// Cuttle: differentiable simulation of soft multi-body systems. The whole public API.
//
// Units are SI, frames right-handed. Node arrays hold 3 doubles a node (x y z), tets 4 node
// indices with positive volume ((x1-x0) x (x2-x0)) . (x3-x0) > 0.
//
// Ownership: a result returned through a first `**out` belongs to the caller, who frees it with the
// matching `_free`. Returned plain pointers are borrowed and live as long as what they came from.
// Every `_free` accepts NULL. Inputs are copied unless said otherwise.
// Failure: fallible functions return ct_status; on failure *out is NULL and nothing leaks. A nullable
// last `ct_error*` says what happened, where, and what to change. The library never prints or exits.
// Threads: different works/states may be used at the same time on one model; one object at a time.
#ifndef CUTTLE_H
#define CUTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CT_VERSION_MAJOR 0
#define CT_VERSION_MINOR 1
#define CT_VERSION_PATCH 0

#if defined(__GNUC__)
#define CT_API __attribute__((visibility("default")))
#else
#define CT_API
#endif

// ---------------------------------------------------------------------------------------------
// Status

#define CT_STATUS_LIST(X)                                   \
    X(CT_OK, "no error")                                    \
    X(CT_OUT_OF_MEMORY, "out of memory")                    \
    X(CT_BAD_ARGUMENT, "an argument is out of range")       \
    X(CT_BAD_FILE, "the file is not what it claims to be")  \
    X(CT_BAD_MESH, "the mesh cannot be simulated")          \
    X(CT_BAD_SCENE, "the scene is not valid")               \
    X(CT_IO, "reading or writing a file failed")            \
    X(CT_NOT_CONVERGED, "the step did not converge")        \
    X(CT_SINGULAR, "the system matrix is not positive definite") \
    X(CT_UNSUPPORTED, "this is not supported")

typedef enum ct_status {
#define CT_STATUS_ENUM(code, text) code,
    CT_STATUS_LIST(CT_STATUS_ENUM)
#undef CT_STATUS_ENUM
} ct_status;

typedef struct ct_error {
    ct_status code;
    int line;            // 1-based line in `file`, 0 when unknown
    long element;        // offending node or element, -1 when none
    char file[256];      // "" when no file is involved
    char path[128];      // JSON path such as "bodies[0].material.young", "" when none
    char message[512];   // a sentence that says what is wrong and what to change
} ct_error;

CT_API const char* ct_status_text(ct_status status);  // borrowed, static
CT_API const char* ct_version(void);                  // "0.1.0"
// OpenBLAS chooses its kernels while it is loaded, and an old one takes slow ones on a CPU that it does not know. Returns
// what OPENBLAS_CORETYPE should be in the environment before the program starts; NULL: all is well, or it is set.
CT_API const char* ct_blas_coretype(void);

// ---------------------------------------------------------------------------------------------
// Meshes

typedef struct ct_tag {
    int id;          // value found in tet_tag / tri_tag
    char name[60];   // physical name, "" when the file gives none
} ct_tag;

typedef struct ct_mesh {  // open: read freely; create and free only through the functions below
    int nvert, ntet, ntri, ntag;
    double* x;      // 3 nvert   positions, m
    int* tet;       // 4 ntet    nodes of each tet
    int* tri;       // 3 ntri    triangles given by the file (surface, sheet, obstacle)
    int* tet_tag;   // ntet      physical tag, 0 when none
    int* tri_tag;   // ntri
    ct_tag* tag;    // ntag      names of the tags
} ct_mesh;

typedef enum ct_mesh_format {
    CT_MESH_AUTO,    // by extension, then by content
    CT_MESH_GMSH,    // .msh 2.2 and 4.1, ASCII and binary
    CT_MESH_VTK,     // legacy .vtk, ASCII and binary
    CT_MESH_VTU,     // .vtu, ASCII, base64 and raw appended (zlib too)
    CT_MESH_TETGEN,  // .node/.ele pair
    CT_MESH_MEDIT,   // .mesh ASCII
    CT_MESH_OBJ,     // OBJ surfaces; also `v`/`t` tetrahedral OBJ
    CT_MESH_STL      // ASCII and binary
} ct_mesh_format;

typedef struct ct_mesh_report {
    double volume;           // m^3, sum over tets
    double area;             // m^2, boundary surface
    double lower[3], upper[3];
    double min_dihedral, max_dihedral;  // degrees, over all tets
    double min_quality;      // 1 = regular tet, 0 = degenerate; 3 * inradius / circumradius
    int worst_tet;           // index of min_quality, -1 when there is no tet
    int sliver_count;        // tets with quality < 0.1
    int surface_tri_count;   // boundary triangles of the tets
    int component_count;     // connected components
    bool closed_surface;     // the triangles (or the tets' boundary) form a closed 2-manifold
} ct_mesh_report;

CT_API ct_status ct_mesh_create(ct_mesh** out, int nvert, const double* x, int ntet, const int* tet,
                                int ntri, const int* tri);
CT_API ct_status ct_mesh_copy(ct_mesh** out, const ct_mesh* mesh);
CT_API void ct_mesh_free(ct_mesh* mesh);
// Reads a mesh as it is in the file. Syntax errors, NaN and indices out of range are errors here.
CT_API ct_status ct_mesh_load(ct_mesh** out, const char* path, ct_mesh_format format, ct_error* error);
// The same from memory; `second`/`second_size` is the .ele part of TetGen, otherwise NULL/0.
CT_API ct_status ct_mesh_read(ct_mesh** out, ct_mesh_format format, const void* bytes, size_t size,
                              const void* second, size_t second_size, ct_error* error);
// Writes by extension: .msh (4.1 ASCII), .vtk, .vtu, .mesh, .obj, .stl, .node (+ .ele).
CT_API ct_status ct_mesh_save(const ct_mesh* mesh, const char* path, ct_error* error);
// Checks that the tets (or, without tets, the triangles) can be simulated: inverted or degenerate
// elements, unused or duplicate nodes, non-manifold surface: CT_BAD_MESH names the element and a remedy.
CT_API ct_status ct_mesh_check(const ct_mesh* mesh, ct_mesh_report* report, ct_error* error);
// Repairs what can be repaired without guessing: drops unused nodes and elements that use a node twice, flips inverted
// tets. Returns the count of changes.
CT_API int ct_mesh_repair(ct_mesh* mesh);
// Boundary triangles of the tets, outward; *tri (3 *ntri) is freed by ct_free.
CT_API ct_status ct_mesh_surface(const ct_mesh* mesh, int** tri, int* ntri);
CT_API void ct_free(void* memory);

// Mass (kg), centre and inertia about it (xx yy zz xy xz yz, kg m^2) of the tets or, without tets, of the inside of a closed
// surface, exactly. density: kg/m^3.
CT_API ct_status ct_mesh_mass(const ct_mesh* mesh, double density, double* mass, double center[3], double inertia[6], ct_error* error);

// Structured box [0,size], cells[i] cells along axis i, 6 tets a cell.
CT_API ct_status ct_mesh_box(ct_mesh** out, const double size[3], const int cells[3]);
// Structured rectangle [0,size] in the plane z = 0, 2 triangles a cell, alternating diagonals.
CT_API ct_status ct_mesh_sheet(ct_mesh** out, const double size[2], const int cells[2]);

// ---------------------------------------------------------------------------------------------
// Shapes (signed distance, negative inside) and their meshing by isosurface stuffing

typedef struct ct_shape ct_shape;  // a tree; combining takes ownership of the operands

CT_API ct_shape* ct_shape_sphere(const double center[3], double radius);       // NULL: out of memory
CT_API ct_shape* ct_shape_ellipsoid(const double center[3], const double radii[3]);
CT_API ct_shape* ct_shape_box(const double center[3], const double half[3], double rounding);
CT_API ct_shape* ct_shape_capsule(const double a[3], const double b[3], double radius_a, double radius_b);
CT_API ct_shape* ct_shape_cylinder(const double a[3], const double b[3], double radius);
CT_API ct_shape* ct_shape_torus(const double center[3], const double axis[3], double major, double minor);
// Swept ball along a smooth (Catmull-Rom) curve through npoint points with a radius at each.
CT_API ct_shape* ct_shape_sweep(const double* points, const double* radii, int npoint);
// Inside of a closed triangle surface, by generalised winding number; the mesh is copied.
CT_API ct_status ct_shape_surface(ct_shape** out, const ct_mesh* surface, ct_error* error);
// smooth: blending length in m, 0 for sharp. Consumes both (frees them on failure too).
CT_API ct_shape* ct_shape_union(ct_shape* a, ct_shape* b, double smooth);
CT_API ct_shape* ct_shape_intersection(ct_shape* a, ct_shape* b, double smooth);
CT_API ct_shape* ct_shape_difference(ct_shape* a, ct_shape* b, double smooth);
// Scaled (scale > 0), then rotated (unit quaternion w x y z), then translated. Consumes `shape`.
CT_API ct_shape* ct_shape_transform(ct_shape* shape, const double translate[3], const double rotate[4], double scale);
// Tets whose centroid is deepest in this part get the tag.
CT_API void ct_shape_set_tag(ct_shape* shape, int tag, const char* name);
// Wanted edge length near this part's surface, m, rounded down to the fill's size times a power of 2; 0 inherits.
CT_API void ct_shape_set_size(ct_shape* shape, double size);
CT_API double ct_shape_distance(const ct_shape* shape, const double point[3]);
CT_API void ct_shape_bounds(const ct_shape* shape, double lower[3], double upper[3]);  // a box that holds it
// A shape file (.json, docs/scene.schema.json) or the inside of a closed surface (.stl, .obj, any mesh file).
CT_API ct_status ct_shape_load(ct_shape** out, const char* path, ct_error* error);
CT_API void ct_shape_free(ct_shape* shape);

// Tets of good shape (dihedral angles between 10 and 165 degrees when the surface has one size) that follow the
// surface; sharp edges are chamfered by up to `size`. Features thinner than about `size` are lost in part or in whole,
// and may leave several components: every part needs a size below its thickness.
typedef struct ct_fill_def {
    double size;         // edge length at the surface, m
    double interior;     // edge length deep inside; 0: the same as size; otherwise graded by powers of 2
    double lower[3], upper[3];  // bounds to mesh; lower == upper: from the shape
} ct_fill_def;
CT_API ct_fill_def ct_fill_def_default(void);
CT_API ct_status ct_shape_fill(ct_mesh** out, const ct_shape* shape, const ct_fill_def* def,
                               ct_mesh_report* report, ct_error* error);

// Common shapes, filled, about the origin: a ball, a cylinder along z, a torus around z. size: edge length, m.
CT_API ct_status ct_mesh_sphere(ct_mesh** out, double radius, double size);
CT_API ct_status ct_mesh_cylinder(ct_mesh** out, double radius, double length, double size);
CT_API ct_status ct_mesh_torus(ct_mesh** out, double major, double minor, double size);

// ---------------------------------------------------------------------------------------------
// Scenes: what is simulated

typedef enum ct_energy {
    CT_ENERGY_COROTATED,     // mu |F-R|^2 + lambda/2 tr(R^T F - I)^2
    CT_ENERGY_PROJECTIVE,    // mu |F-R|^2 + 3 lambda/2 |F-D|^2, det D = 1
    CT_ENERGY_NEOHOOKEAN,    // stable neo-Hookean (Smith et al. 2018)
    CT_ENERGY_STVK,          // St. Venant-Kirchhoff; sheets: the same in two dimensions, PROJECTIVE with lambda/2 (area ratio - 1)^2
    CT_ENERGY_COUNT
} ct_energy;

typedef enum ct_integrator { CT_EULER, CT_BDF2 } ct_integrator;
typedef enum ct_solver {
    CT_SOLVER_NEWTON,       // L-BFGS fast path, then Newton-PCG, on the warped rest-Hessian factor
    CT_SOLVER_PROJECTIVE    // the paper's local/global iteration; energies must be projective
} ct_solver;

typedef struct ct_material {
    ct_energy energy;
    double young;              // Pa
    double poisson;            // in [0, 0.5)
    double density;            // kg/m^3
    double damping_mass;       // 1/s, drag against the world, force -damping_mass m v
    double damping_stiffness;  // s, Kelvin-Voigt strain-rate damping
    bool paper_weights;        // projective only: volume weight lambda/2 instead of 3 lambda/2
    double thickness;          // m, of sheets
    double bending;            // of sheets: factor on the plate's bending stiffness E t^3 / (12 (1 - nu^2)); 0: a membrane
} ct_material;
CT_API ct_material ct_material_default(void);  // corotated, 1e6 Pa, 0.4, 1000 kg/m^3, undamped; sheets: 1 mm, bending 1

typedef struct ct_body_def {
    const char* name;          // NULL: "body<k>"
    const ct_mesh* mesh;       // tets, or, without tets, the triangles of a thin sheet; copied
    double scale;              // applied first
    double rotate[4];          // then rotation, unit quaternion w x y z
    double translate[3];       // then translation, m
    ct_material material;
    double velocity[3];        // m/s
    double angular_velocity[3];  // rad/s about the centre of mass
    double color[3];           // 0..1; NAN: from a palette, by the body's index
    const char* group;         // name that contact pairs may use for several bodies and obstacles; NULL: none
    double contact_thickness;  // m, half the distance at which its surface touches another; NAN: half a sheet's thickness, or a
                               // thousandth of the mean surface edge
} ct_body_def;
CT_API ct_body_def ct_body_def_default(void);

typedef enum ct_material_field { CT_YOUNG, CT_POISSON, CT_DENSITY } ct_material_field;

typedef enum ct_select_kind {
    CT_SELECT_ALL, CT_SELECT_BOX, CT_SELECT_SPHERE, CT_SELECT_PLANE, CT_SELECT_CAPSULE,
    CT_SELECT_TAG, CT_SELECT_NEAREST, CT_SELECT_LIST, CT_SELECT_SURFACE,
    CT_SELECT_AND, CT_SELECT_OR, CT_SELECT_NOT
} ct_select_kind;

// A set of nodes, by rest position in the world (after the body's transform). Boundaries are inclusive.
typedef struct ct_selector {
    ct_select_kind kind;
    int body;                // restrict to this body, -1: all
    double a[3], b[3];       // BOX: corners; SPHERE, NEAREST: centre a; PLANE: point a, normal b (keeps (x-a).b >= 0); CAPSULE: ends
    double radius;           // SPHERE, CAPSULE
    int tag;                 // TAG: nodes of tets with this tag, or of triangles in a body where no tet has it
    const int* list;         // LIST: body-local indices if body >= 0, else scene indices
    int nlist;               // LIST: length; NEAREST: how many (0: 1)
    const struct ct_selector* child;  // AND, OR: nchild operands; NOT: one
    int nchild;
} ct_selector;
CT_API ct_selector ct_selector_default(void);  // all nodes of all bodies

typedef struct ct_keyframe {
    double time;             // s
    double translate[3];     // m, from the rest position
    double rotate[3];        // rotation vector, rad, about the motion's centre, applied before translate
} ct_keyframe;

typedef struct ct_motion {
    const ct_keyframe* key;  // increasing time; before the first and after the last: held. 0 keys: pinned at rest
    int nkey;
    double center[3];
    bool smooth;             // cubic (C1) in place of linear interpolation
    bool repeat;             // periodic with period last.time - first.time
} ct_motion;

typedef enum ct_force_kind { CT_FORCE_TOTAL, CT_FORCE_PER_NODE, CT_FORCE_ACCELERATION } ct_force_kind;
typedef struct ct_force_def {
    ct_force_kind kind;      // TOTAL: N, spread by mass; PER_NODE: N each; ACCELERATION: m/s^2
    double vector[3];
    double start, stop;      // s, acts on steps that begin in [start, stop)
} ct_force_def;
CT_API ct_force_def ct_force_def_default(void);  // total, always

typedef enum ct_contact_method {
    CT_CONTACT_NONE,         // bodies pass through one another
    CT_CONTACT_NEWTON,       // exact Signorini-Coulomb contact by Newton's method on the whole system
    CT_CONTACT_SPLIT         // the paper's splitting iteration, for comparison; solver projective, no links
} ct_contact_method;
typedef enum ct_split {
    CT_SPLIT_MASS,           // M (Ly et al. 2020)
    CT_SPLIT_DIAGONAL,       // M + h^2 D, the paper's
    CT_SPLIT_TWICE,          // M + 2 h^2 D
    CT_SPLIT_WHOLE           // M + h^2 L, not split: local/global steps with contact on the compliance of their matrix
} ct_split;
typedef struct ct_contact_settings {
    ct_contact_method method;
    ct_split split;          // CT_CONTACT_SPLIT: its matrix
    double friction;         // coefficient between all pairs that no rule names
    int max_passes;          // of detection and solve before a step is halved
    int truncate;            // CT_CONTACT_SPLIT: iterations after which a pass ends, converged or not (ct_step_report tells); 0: only
                             // when it has converged. Truncated steps have no gradient
} ct_contact_settings;

typedef struct ct_settings {
    double gravity[3];       // m/s^2
    int up;                  // 0 x, 1 y, 2 z: for pictures and the ground grid
    double time_step;        // s
    double duration;         // s
    ct_integrator integrator;
    ct_solver solver;
    double tolerance;        // relative residual at which a step is converged
    int max_iterations;      // linear solves per step before sub-stepping
    int max_substep_depth;   // how often a step may be halved
    int threads;             // 0: as many as there are cores
    int output_every;        // steps between stored frames
    double ground;           // height of the drawn ground grid along `up`; NAN: below the scene
    ct_contact_settings contact;
} ct_settings;
CT_API ct_settings ct_settings_default(void);

typedef struct ct_view {     // camera of pictures; `automatic` frames the scene
    bool automatic;
    double eye[3], target[3], field_of_view;  // degrees
} ct_view;

typedef struct ct_scene ct_scene;
CT_API ct_status ct_scene_create(ct_scene** out);
CT_API ct_status ct_scene_load(ct_scene** out, const char* path, ct_error* error);
// From text; mesh files are relative to `directory` (NULL: the current one).
CT_API ct_status ct_scene_parse(ct_scene** out, const char* text, size_t size, const char* directory, ct_error* error);
CT_API void ct_scene_free(ct_scene* scene);
CT_API void ct_scene_settings(const ct_scene* scene, ct_settings* settings);
CT_API ct_status ct_scene_set_settings(ct_scene* scene, const ct_settings* settings, ct_error* error);
CT_API void ct_scene_view(const ct_scene* scene, ct_view* view);
CT_API void ct_scene_set_view(ct_scene* scene, const ct_view* view);
CT_API ct_status ct_scene_set_name(ct_scene* scene, const char* name);
CT_API const char* ct_scene_name(const ct_scene* scene);
CT_API const char* ct_scene_file(const ct_scene* scene);   // absolute path it was loaded from, "" if none
CT_API ct_status ct_scene_add_body(ct_scene* scene, const ct_body_def* def, int* body, ct_error* error);
CT_API ct_status ct_scene_set_tag_material(ct_scene* scene, int body, int tag, const ct_material* material, ct_error* error);
// One value a tet, of a sheet a triangle.
CT_API ct_status ct_scene_set_tet_values(ct_scene* scene, int body, ct_material_field field, const double* values, int count, ct_error* error);
CT_API int ct_scene_body_count(const ct_scene* scene);
CT_API const char* ct_scene_body_name(const ct_scene* scene, int body);
CT_API int ct_scene_find_body(const ct_scene* scene, const char* name);  // -1: none
typedef struct ct_body_info {
    int nvert, ntet;
    int ntri;                   // of a sheet, 0: it has tets
    double lower[3], upper[3];  // m, rest bounds in the world
    ct_material material;       // of its first element
    double young[2], poisson[2], density[2];  // smallest and largest over its elements
    double volume;              // m^3; of a sheet, area times thickness
    double min_quality;         // of its worst tet, as in ct_mesh_report
    int sliver_count;
} ct_body_info;
CT_API ct_status ct_scene_body_get_info(const ct_scene* scene, int body, ct_body_info* info);
CT_API int ct_scene_node_count(const ct_scene* scene);
// Sorted scene node indices; *nodes is freed by ct_free. An empty set is CT_BAD_SCENE.
CT_API ct_status ct_scene_select(const ct_scene* scene, const ct_selector* selector, int** nodes, int* count, ct_error* error);
// A node may be driven once. motion NULL: pinned at rest.
CT_API ct_status ct_scene_drive(ct_scene* scene, const int* nodes, int count, const ct_motion* motion, ct_error* error);
CT_API ct_status ct_scene_add_force(ct_scene* scene, const int* nodes, int count, const ct_force_def* def, ct_error* error);
// velocity + angular_velocity (rad/s) x (X - centre of mass of these nodes); NULL: zero. Set materials before.
CT_API ct_status ct_scene_set_velocity(ct_scene* scene, const int* nodes, int count, const double velocity[3],
                                       const double angular_velocity[3], ct_error* error);

// ---------------------------------------------------------------------------------------------
// Contact: obstacles, and rules about who touches whom

typedef enum ct_obstacle_kind {
    CT_OBSTACLE_PLANE,       // the half-space behind `center`, against `normal`
    CT_OBSTACLE_SPHERE,      // center, radius
    CT_OBSTACLE_CAPSULE,     // ends, radius
    CT_OBSTACLE_BOX,         // center, half
    CT_OBSTACLE_MESH         // triangles of `mesh`, or the boundary of its tets
} ct_obstacle_kind;
typedef struct ct_obstacle_def {
    const char* name;        // NULL: "obstacle<k>"; bodies, obstacles and groups share one space of names
    const char* group;       // as in ct_body_def
    ct_obstacle_kind kind;
    double center[3], normal[3], half[3], ends[2][3], radius;  // m, in the obstacle's own frame
    const ct_mesh* mesh;     // MESH; copied
    double scale;            // applied first
    double rotate[4];        // then rotation, unit quaternion w x y z
    double translate[3];     // then translation, m
    const ct_motion* motion; // prescribed; NULL: it stands still
    double contact_thickness;  // as in ct_body_def; NAN: 0 for planes, spheres and capsules, else as for bodies
    double color[3];         // NAN: grey
    bool hidden;             // not in pictures
} ct_obstacle_def;
CT_API ct_obstacle_def ct_obstacle_def_default(void);
CT_API ct_status ct_scene_add_obstacle(ct_scene* scene, const ct_obstacle_def* def, int* obstacle, ct_error* error);
CT_API int ct_scene_obstacle_count(const ct_scene* scene);
CT_API int ct_scene_find_obstacle(const ct_scene* scene, const char* name);  // -1: none
CT_API const char* ct_scene_obstacle_name(const ct_scene* scene, int obstacle);   // NULL: none
CT_API ct_obstacle_kind ct_scene_obstacle_kind(const ct_scene* scene, int obstacle);
CT_API bool ct_scene_obstacle_moves(const ct_scene* scene, int obstacle);         // it has a motion

// A rule for pairs of bodies and obstacles; a body with itself: its self-contact. Of several that match, the last counts.
typedef struct ct_pair_def {
    const char *a, *b;       // names of bodies, obstacles or groups; "*": any
    bool collide;
    double friction;         // NAN: unchanged by this rule
} ct_pair_def;
CT_API ct_pair_def ct_pair_def_default(void);  // collide, friction unchanged
CT_API ct_status ct_scene_add_pair(ct_scene* scene, const ct_pair_def* def, ct_error* error);
CT_API int ct_scene_pair_count(const ct_scene* scene);
CT_API ct_pair_def ct_scene_pair(const ct_scene* scene, int index);  // names borrowed from the scene

typedef enum ct_contact_type {
    CT_CONTACT_PLANE,        // node 0 and an obstacle's plane
    CT_CONTACT_VERTEX_FACE,  // node 0; face 1 2 3
    CT_CONTACT_EDGE_EDGE,    // edge 0 1; edge 2 3
    CT_CONTACT_POINT_EDGE,   // node 0; edge 1 2
    CT_CONTACT_POINT_POINT   // node 0; node 1
} ct_contact_type;
typedef enum ct_contact_set { CT_OPEN, CT_STICK, CT_SLIP } ct_contact_set;
typedef struct ct_contact {  // one contact of a step
    ct_contact_type type;
    ct_contact_set set;
    int node[4];             // -1 where the type has fewer
    int a, b;                // colliders: bodies, then obstacles; a is that of node 0
    double position[3];      // m, on a
    double normal[3];        // from b to a
    double gap;              // m, less the thicknesses
    double force[3];         // N, on a
    double friction;         // coefficient
} ct_contact;

// ---------------------------------------------------------------------------------------------
// Water: drag, thrust and buoyancy on the surfaces of bodies

// Per surface triangle with area A, outward normal n and relative velocity v = current - (mean velocity of its corners), whose
// angle of attack phi, sin phi = -v.n/|v|, is positive where the face meets the flow:
//     force = 1/2 density A w (|v| Cd(phi) v - |v|^2 Ct(phi) n)
// w goes smoothly from 0 on faces that turn away from the flow to 1 on those that meet it; sheets are both at once and have 1.
// With s = sin^2 phi, Cd is the cubic in s with the Bezier control points `drag`, Ct is sin phi times the quadratic in s with
// the control points `thrust`: drag[0] holds edge-on, drag[3] face-on, thrust[0] is the slope of Ct at 0, thrust[2] is Ct
// face-on. None of them may be negative; then still water never feeds energy into a body.
typedef struct ct_water_def {
    double density;          // kg/m^3
    double current[3];       // m/s
    double drag[4], thrust[3];
    bool buoyancy;           // bodies lose the weight of the water that their rest volume displaces
    double level;            // m, height of the surface along `up`; NAN: everything is submerged
    double layer;            // m, depth over which a node or face at the surface becomes wet; NAN: the mean surface edge
    double slow;             // m/s: well below this speed drag is linear in the speed, above it quadratic
    const char* const* bodies;  // names of bodies, or of groups of them; NULL: all
    int nbody;
} ct_water_def;
CT_API ct_water_def ct_water_def_default(void);  // 1000 kg/m^3 at rest, Cd 0.1 edge-on to 1.9 face-on, buoyant, all submerged
// Puts bodies that are in the scene by now under water; NULL: takes the water away.
CT_API ct_status ct_scene_set_water(ct_scene* scene, const ct_water_def* def, ct_error* error);

// ---------------------------------------------------------------------------------------------
// Model: a compiled scene, immutable, with the factored system

typedef struct ct_model ct_model;
typedef struct ct_model_info {
    int nvert, ntet, nsurface, nbody, nfree, ndriven;  // nodes, tets, surface triangles, bodies, free and driven nodes
    int ntri;                // triangles of thin sheets; elements are the tets, then these
    int nobstacle;
    int nlink, njoint;       // links, joint rates
    int sliver_count;        // tets with quality < 0.1: slow to solve, worth remeshing
    double mass;             // kg
    double volume;           // m^3
    double factor_bytes;     // bytes of the stored factor
    double setup_seconds;
    const char* ordering;    // "amd" or "metis"
    const char* kernel;      // "avx512", "avx2" or "portable"
} ct_model_info;

CT_API ct_status ct_model_create(ct_model** out, const ct_scene* scene, ct_error* error);
CT_API void ct_model_free(ct_model* model);
CT_API void ct_model_get_info(const ct_model* model, ct_model_info* info);
CT_API const ct_settings* ct_model_settings(const ct_model* model);
CT_API const double* ct_model_rest(const ct_model* model);      // 3 nvert
CT_API const double* ct_model_node_mass(const ct_model* model); // nvert, kg
CT_API const int* ct_model_tets(const ct_model* model);         // 4 ntet
CT_API const int* ct_model_tris(const ct_model* model);         // 3 ntri, of sheets
CT_API const int* ct_model_surface(const ct_model* model);      // 3 nsurface: boundary of the tets, outward; sheets; meshes of obstacles
CT_API const int* ct_model_surface_owner(const ct_model* model);  // nsurface: body, or nbody + obstacle
CT_API const int* ct_model_tet_body(const ct_model* model);     // ntet
CT_API const int* ct_model_tet_tag(const ct_model* model);      // ntet
CT_API const char* ct_model_body_name(const ct_model* model, int body);
CT_API void ct_model_body_color(const ct_model* model, int body, double color[3]);

// ---------------------------------------------------------------------------------------------
// Skeletons: rigid links in reduced coordinates, with or without flesh around them

typedef enum ct_joint_kind {
    CT_JOINT_FIXED,      // to its parent, or to the world
    CT_JOINT_REVOLUTE,   // one angle about `axis` through `anchor`
    CT_JOINT_PRISMATIC,  // one displacement along `axis`
    CT_JOINT_BALL,       // any rotation about `anchor`
    CT_JOINT_FREE        // any motion
} ct_joint_kind;

typedef struct ct_joint_def {
    ct_joint_kind kind;
    double anchor[3], axis[3];   // rest, world
    double position, velocity;   // initial coordinate and rate (revolute: rad, rad/s; prismatic: m, m/s)
    double pose[6], rate[6];     // initial pose and rates, along the parent's axes; a ball: rotation vector (rad), angular velocity (rad/s);
                                 // free: translation, rotation vector; velocity of the anchor (m/s), angular velocity
    double stiffness, rest;      // spring (N m/rad or N/m) about the coordinate `rest`; a ball's: k/2 |rotation vector|^2, below half a turn
    double damping;              // N m s/rad or N s/m
    double lower, upper;         // limits of the coordinate; -INFINITY, INFINITY: none; a ball: `upper` is its greatest angle from rest, above 0
    double limit_stiffness;      // N m/rad^2: beyond a limit the joint pushes back with this times the square of the excess
    double servo_stiffness, servo_damping, target;  // PD servo towards `target`
    double ball_target[3];       // a ball's: rotation vector along the parent's axes; k/2 |rotation vector from there|^2, below half a turn
} ct_joint_def;
CT_API ct_joint_def ct_joint_def_default(void);

typedef struct ct_link_def {
    const char* name;            // NULL: "link<k>"
    int parent;                  // a link added before, -1: the world
    ct_joint_def joint;          // to the parent
    const int* nodes;            // scene nodes that sit on the link
    int count;
    double mass;                 // kg, its own, beside that of its nodes' tets; 0: none
    double center[3];            // of that mass, rest, world
    double inertia[6];           // kg m^2 about the centre: xx yy zz xy xz yz
    const ct_motion* motion;     // roots: the frame that the joint sits on follows it; NULL: the world stands still
} ct_link_def;
CT_API ct_link_def ct_link_def_default(void);
CT_API ct_status ct_scene_add_link(ct_scene* scene, const ct_link_def* def, int* link, ct_error* error);
CT_API int ct_scene_link_count(const ct_scene* scene);
// Links, joints and motors of a robot file: MJCF (MuJoCo .xml) or URDF; what it has and Cuttle has not is refused by name.
// Lengths are multiplied by `scale` (masses by its cube, inertias by its fifth power), then rotated (NULL: not), then
// translated (NULL: not). Motors and position servos of an MJCF file become controls of their names: a torque, a target.
// Limits become soft: a joint passes one by about 0.01 rad under the weight that it carries. On failure the scene is as before.
CT_API ct_status ct_scene_import_skeleton(ct_scene* scene, const char* path, const double translate[3], const double rotate[4], double scale,
                                          ct_error* error);
CT_API int ct_scene_find_link(const ct_scene* scene, const char* name);  // -1: none

typedef struct ct_link_info {    // a link of a model or of a trajectory
    const char* name;            // borrowed
    int parent;                  // -1: the world
    ct_joint_kind joint;
    double anchor[3], axis[3];   // of the joint; rest, world
    int coordinate, ncoordinate; // its first joint coordinate, and how many
    const int* nodes;            // nodes on the link, the six of its own mass included; borrowed
    int count;
} ct_link_info;
CT_API int ct_model_link_count(const ct_model* model);
CT_API void ct_model_link_info(const ct_model* model, int link, ct_link_info* info);
CT_API void ct_model_joint(const ct_model* model, int link, ct_joint_def* joint);  // springs, limits, ... of the link's joint

// ---------------------------------------------------------------------------------------------
// Actuators: muscles, pneumatic cells, cavities under pressure

// Each has numbers of its own (a muscle: one a segment; a chamber: one a group; a cavity: one) with a starting value, to which a
// control adds. They keep their value during a step.
typedef enum ct_actuator_kind { CT_ACTUATOR_MUSCLE, CT_ACTUATOR_CHAMBER, CT_ACTUATOR_CAVITY } ct_actuator_kind;

// Fibres along a polyline: per tet with volume V and fibre direction m, k/2 V w (|F m| - (1 - a))^2 with the activation a of its
// segment. The weight w is 1 up to half of the radius and falls smoothly to 0 at the radius. Fibres push when they are shorter
// than 1 - a. Meant for a from 0 (passive) to 1.
typedef struct ct_muscle_def {
    const char* name;        // NULL: "actuator<k>"; actuators share one space of names
    int body;
    const double* points;    // 3 npoint, m, in the world at rest
    int npoint;              // 2 or more
    double radius;           // m
    int segments;            // of equal length, each with its own activation; 0: one for each piece of the polyline
    double stiffness;        // k, Pa
    double activation;       // at the start
    double activation_time;  // s: da/dt = (wanted - a) / activation_time; 0: at once
} ct_muscle_def;
CT_API ct_muscle_def ct_muscle_def_default(void);  // 1e6 Pa, without activation, at once

typedef enum ct_cells { CT_CELLS_ONE, CT_CELLS_PER_TAG, CT_CELLS_PER_TET } ct_cells;
// Cells: per tet k/2 V |F - R|^2, R the matrix nearest to F with det R = a: the volume ratio that the cell wants, above 0.
typedef struct ct_chamber_def {
    const char* name;        // as of muscles
    int body;
    int tag;                 // tets with this tag; -1: any
    const int* nodes;        // and with all four nodes in this set of scene nodes
    int count;               // 0: any
    ct_cells cells;          // which tets share an activation; per tag: groups in ascending order of tags
    double stiffness;        // k, Pa
    double activation;       // a at the start
    double activation_time;  // s, as of muscles
} ct_chamber_def;
CT_API ct_chamber_def ct_chamber_def_default(void);  // all tets of body 0 in one group, 1e6 Pa, a = 1

// A closed surface with a pressure inside, energy -p V: a hollow in a body of tets, or a sheet that is closed.
typedef struct ct_cavity_def {
    const char* name;        // as of muscles
    int body;
    int tag;                 // of the triangles around it; -1: the component of the surface around `seed`
    double seed[3];          // a point in the hollow, m, in the world at rest
    double pressure;         // Pa above that outside, at the start
} ct_cavity_def;
CT_API ct_cavity_def ct_cavity_def_default(void);  // no pressure

CT_API ct_status ct_scene_add_muscle(ct_scene* scene, const ct_muscle_def* def, int* actuator, ct_error* error);
CT_API ct_status ct_scene_add_chamber(ct_scene* scene, const ct_chamber_def* def, int* actuator, ct_error* error);
CT_API ct_status ct_scene_add_cavity(ct_scene* scene, const ct_cavity_def* def, int* actuator, ct_error* error);
CT_API int ct_scene_actuator_count(const ct_scene* scene);
CT_API int ct_scene_find_actuator(const ct_scene* scene, const char* name);  // -1: none

typedef struct ct_actuator_info {
    const char* name;        // borrowed
    ct_actuator_kind kind;
    int first, count;        // its numbers within ct_state_actuation
    int element_count;       // tets, or triangles around a cavity
    double stiffness;        // Pa; 0 of cavities
} ct_actuator_info;
CT_API int ct_model_actuator_count(const ct_model* model);
CT_API void ct_model_actuator_info(const ct_model* model, int actuator, ct_actuator_info* info);

// ---------------------------------------------------------------------------------------------
// Controls: numbers that may be chosen anew at every step

typedef enum ct_control_kind {
    CT_CONTROL_FORCE,  // 3 numbers: total force on a node set, N, spread by mass
    CT_CONTROL_TORQUE, // 1 number: torque or force of a joint with one coordinate, N m or N; a ball: 3, N m, along its parent's axes
    CT_CONTROL_TARGET, // 1 number: target of its servo, rad or m; a ball: 3, a rotation vector
    CT_CONTROL_DRIVE,  // 6 numbers: translation (m) and rotation vector (rad, about the motion's centre) on top of a drive's or a root's motion
    CT_CONTROL_ACTIVATION, // a number for each segment of a muscle or group of a chamber: on top of its starting activation
    CT_CONTROL_PRESSURE,   // 1 number: Pa, on top of a cavity's starting pressure
    CT_CONTROL_MOVE    // 6 numbers: how far a mount, a drive or a root, moves and turns in this step: added to its pose, which the state keeps
} ct_control_kind;
typedef struct ct_control_info {
    char name[64];
    ct_control_kind kind;
    int first, count;        // its numbers within a step's control vector
} ct_control_info;
CT_API ct_status ct_scene_add_force_control(ct_scene* scene, const char* name, const int* nodes, int count, ct_error* error);
// `drive`: index of the drive, in order of ct_scene_drive calls.
CT_API ct_status ct_scene_add_drive_control(ct_scene* scene, const char* name, int drive, ct_error* error);
// kind: CT_CONTROL_TORQUE or CT_CONTROL_TARGET.
CT_API ct_status ct_scene_add_joint_control(ct_scene* scene, const char* name, ct_control_kind kind, int link, ct_error* error);
// Moves the frame that a root's joint sits on, on top of its motion (without one: about the joint's anchor).
CT_API ct_status ct_scene_add_root_control(ct_scene* scene, const char* name, int link, ct_error* error);
// A mount: CT_CONTROL_MOVE of the drive (or, where that is -1, of the root `link`). Its pose on top of the motion, a translation s and a
// rotation Q about the motion's centre (without a motion: the joint's anchor), starts as none; a step with the numbers (u, w) makes them
// s + u and exp(w) Q, in the world's axes. A drive or a root takes one control.
CT_API ct_status ct_scene_add_move_control(ct_scene* scene, const char* name, int drive, int link, ct_error* error);
// Of a muscle or a chamber: CT_CONTROL_ACTIVATION; of a cavity: CT_CONTROL_PRESSURE. A volume ratio at or below 0 is refused by the step.
CT_API ct_status ct_scene_add_actuator_control(ct_scene* scene, const char* name, int actuator, ct_error* error);
// What the control does where no one else says: `count` rows of its numbers at increasing times (s), linear between them, held before
// and after, or repeated (the last row then equals the first). time NULL: one row, constant. Without this it is zero.
CT_API ct_status ct_scene_set_control_values(ct_scene* scene, const char* name, const double* time, const double* values, int count,
                                             bool repeat, ct_error* error);
CT_API void ct_model_control_values(const ct_model* model, double time, double* control);  // control size numbers
CT_API int ct_model_control_size(const ct_model* model);   // numbers a step
CT_API int ct_model_control_count(const ct_model* model);  // named controls
CT_API void ct_model_control_info(const ct_model* model, int index, ct_control_info* info);

// ---------------------------------------------------------------------------------------------
// Policies: controls as a function of the state, by a small neural network

typedef enum ct_observe_kind {
    CT_OBSERVE_POSITION,   // 3 numbers: mean position of a node set less that at rest
    CT_OBSERVE_VELOCITY,   // 3 numbers: its mean velocity
    CT_OBSERVE_JOINT,      // 1 number: coordinate of a revolute or prismatic joint
    CT_OBSERVE_PHASE       // 2 numbers: sin and cos of 2 pi frequency t
} ct_observe_kind;
typedef struct ct_observe_def {
    ct_observe_kind kind;
    const int* nodes;      // POSITION, VELOCITY
    int count;
    int relative;          // POSITION, VELOCITY: a body whose mean over all nodes is subtracted, -1: none
    const char* link;      // JOINT
    double frequency;      // PHASE, Hz
    double scale;          // what is seen is multiplied by this
} ct_observe_def;
CT_API ct_observe_def ct_observe_def_default(void);

// At every step, on top of the controls that are given or the scene's values: u += scale (W2 tanh(W1 o + b1) + b2), o the observations of the
// state at the start of the step. The weights are, in this order, W1 (hidden x numbers of o), b1, W2 (numbers of u x hidden), b2.
typedef struct ct_policy_def {
    const ct_observe_def* observe;
    int nobserve;
    int hidden;
    const char* const* controls;  // that it sets; NULL: all
    int ncontrol;
    double scale;
    const double* weights; // nweight; NULL: random, small
    int nweight;
    uint64_t seed;
} ct_policy_def;
CT_API ct_policy_def ct_policy_def_default(void);  // 16 hidden numbers, scale 1
// For the bodies, links and controls that are in the scene by now; NULL: no policy.
CT_API ct_status ct_scene_set_policy(ct_scene* scene, const ct_policy_def* def, ct_error* error);
CT_API int ct_model_policy_size(const ct_model* model);           // weights; 0: no policy
CT_API const double* ct_model_policy_weights(const ct_model* model);

// ---------------------------------------------------------------------------------------------
// State: all that determines the future, one block of memory

typedef struct ct_state ct_state;
CT_API ct_status ct_state_create(ct_state** out, const ct_model* model);  // the scene's initial state
CT_API void ct_state_free(ct_state* state);
CT_API ct_status ct_state_copy(ct_state* target, const ct_state* source);  // same model
CT_API size_t ct_state_size(const ct_state* state);        // bytes of the block
CT_API const void* ct_state_bytes(const ct_state* state);  // restores exactly with ct_state_restore
CT_API ct_status ct_state_restore(ct_state* state, const void* bytes, size_t size);
CT_API double ct_state_time(const ct_state* state);
CT_API int64_t ct_state_step_index(const ct_state* state);
CT_API const double* ct_state_positions(const ct_state* state);   // 3 nvert
CT_API const double* ct_state_velocities(const ct_state* state);  // 3 nvert
CT_API const double* ct_state_contact_forces(const ct_state* state);  // 3 nvert, N, of the last (sub-)step
CT_API const double* ct_state_actuation(const ct_state* state);  // numbers of the actuators: activations, volume ratios, pressures (Pa)
CT_API const double* ct_state_mounts(const ct_state* state);     // 7 numbers a CT_CONTROL_MOVE, in order of the controls: translation (m), quaternion
CT_API const double* ct_state_coordinates(const ct_state* state);  // of the joints, link after link: revolute, prismatic 1; ball: quaternion; free: translation,
// quaternion; then the frames of driven roots: position of the motion's centre, quaternion
// Where link k is: rotation (row-major) and translation with x = R X + t for its rest points X.
CT_API ct_status ct_state_link_pose(const ct_model* model, const ct_state* state, int link, double rotation[9], double translation[3]);
CT_API ct_status ct_state_link_poses(const ct_model* model, const ct_state* state, double* poses);  // all: 12 numbers a link, R then t
// Puts joints at `position` with rates `velocity` (indexed by joint rate; NULL: the model's), and the links' nodes with them. The
// positions of balls and free joints are increments on top of the model's pose: Q = exp(position) exp(pose), translations add up;
// rates are along the parent's axes. The history is forgotten.
CT_API ct_status ct_state_set_joints(ct_state* state, const ct_model* model, const double* position, const double* velocity);
// Sets both and forgets the history (previous position, velocity, predictor). Driven nodes keep their motion, mounts their pose; links follow their
// joints: call ct_state_set_joints after it.
CT_API ct_status ct_state_set(ct_state* state, const double* x, const double* v);

typedef enum ct_tet_field { CT_FIELD_ENERGY_DENSITY, CT_FIELD_VON_MISES, CT_FIELD_VOLUME_RATIO, CT_FIELD_ACTIVATION } ct_tet_field;
// ntet values: J/m^3, Pa (Cauchy), det F, w a of muscles (the largest) or a - 1 of cells.
CT_API ct_status ct_state_tet_field(const ct_model* model, const ct_state* state, ct_tet_field field, double* values);

// Volume (m^3), that at rest, and pressure (Pa) of a cavity, during the last step; NULL: not wanted. Other actuators: CT_BAD_ARGUMENT.
CT_API ct_status ct_state_cavity(const ct_model* model, const ct_state* state, int actuator, double* volume, double* rest, double* pressure);

typedef struct ct_measure {
    double mass, volume;            // kg, m^3 (current, of the tets)
    double kinetic, elastic, gravitational;  // J
    double center[3];               // m
    double momentum[3];             // kg m/s
    double angular_momentum[3];     // kg m^2/s about the origin
} ct_measure;
CT_API void ct_state_measure(const ct_model* model, const ct_state* state, ct_measure* measure);

// ---------------------------------------------------------------------------------------------
// Step

typedef struct ct_work ct_work;  // scratch of one simulation: threads, buffers, refreshed factors
CT_API ct_status ct_work_create(ct_work** out, const ct_model* model, int threads);  // 0: the scene's
CT_API void ct_work_free(ct_work* work);

typedef struct ct_step_report {
    bool converged;
    int substeps;            // 1: the step was taken whole
    int iterations;          // outer iterations (L-BFGS, Newton or local/global)
    int solves;              // applications of the factor
    int gradients;           // element passes for the gradient
    int hessian_products;    // element passes for Hessian-vector products
    int line_searches;       // step-length reductions
    int refactors;           // numeric factorisations
    int inverted;            // tets with det F <= 0 at the end
    double residual;         // |r|, N
    double reference;        // what it is measured against, N
    int contacts, sticking, slipping;  // contacts that carry force, of the last sub-step: all, by kind
    int passes;              // of detection and solve, most of any sub-step
    double penetration;      // m, deepest negative gap at the end, 0: none
    bool smooth;             // no contact is on the edge between two sets: the gradient is two-sided
    const ct_contact* contact;  // of the last sub-step, borrowed from the work until its next step
    int ncontact;
    double seconds;
    char advice[160];        // what to change when it did not converge
} ct_step_report;

// Advances the state by one time step under `control` (ct_model_control_size numbers, NULL: the scene's values). On failure the state is
// unchanged.
CT_API ct_status ct_step(const ct_model* model, ct_work* work, ct_state* state, const double* control, ct_step_report* report);

// ---------------------------------------------------------------------------------------------
// Gradients: a rollout and its exact adjoint

typedef struct ct_tape ct_tape;  // the states of a rollout, all or sparsely
// max_bytes 0: keep every state; otherwise keep as many as fit and replay the others (at least 3 states are kept). Notes on the contacts and
// sub-steps of the kept steps come on top; ct_tape_bytes counts them.
CT_API ct_status ct_tape_create(ct_tape** out, const ct_model* model, int max_steps, size_t max_bytes);
CT_API void ct_tape_free(ct_tape* tape);
CT_API size_t ct_tape_bytes(const ct_tape* tape);
CT_API int ct_tape_steps(const ct_tape* tape);   // of the last rollout

// Called with every state of a rollout, step 0 (the initial state) included.
typedef void (*ct_visit)(int step, const ct_state* state, void* user);
// Adds dL/dx and dL/dv of the state after `step` steps to x_bar and v_bar (3 nvert each), and dL/dq of the joint coordinates to
// q_bar (joint rates; balls and free joints: along their parent's axes). step 0: the initial state.
typedef void (*ct_seed)(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar, void* user);

typedef struct ct_rollout_report {
    int steps;               // taken
    int substepped;          // steps that had to be halved
    int substeps;            // solved in all
    int edges;               // steps with a contact on the edge between two sets: the gradient is one-sided there
    uint64_t signature;      // of all sub-steps, contacts and their sets: rollouts that differ in it lie on different branches of the loss
    int64_t solves;
    double max_residual;     // worst residual / reference
    double seconds;
    ct_step_report last;     // of the last step, with advice when it failed
} ct_rollout_report;
// Runs nstep steps from `initial` with controls (nstep x control size, NULL: the scene's values).
CT_API ct_status ct_rollout(const ct_model* model, ct_work* work, ct_tape* tape, const ct_state* initial, int nstep,
                            const double* controls, ct_visit visit, void* user, ct_rollout_report* report);

typedef struct ct_gradient {   // where the derivatives go, overwritten; NULL: not wanted
    double* position;          // 3 nvert, initial positions
    double* velocity;          // 3 nvert, initial velocities
    double* young;             // elements: tets, then the triangles of sheets
    double* poisson;           // elements
    double* density;           // elements
    double* damping_mass;      // elements
    double* damping_stiffness; // elements
    double* gravity;           // 3
    double* controls;          // nstep x control size
    double* joint_position;    // joint rates: initial coordinates (balls and free joints: of a further small motion along their parent's axes)
    double* joint_velocity;    // joint rates: initial rates, along the same axes
    double *joint_stiffness, *joint_damping, *joint_rest;          // nlink
    double *servo_stiffness, *servo_damping, *limit_stiffness;     // nlink
    double* link_mass;         // nlink: own masses, centre and shape kept (the inertia grows with the mass)
    double* friction;          // ct_model_friction_count: of the scene, then of the pair rules that set one
    double *bending, *thickness;  // per element, of sheets
    double* water_density;     // 1
    double *water_drag, *water_thrust, *water_current;  // 4, 3, 3
    double *muscle_stiffness, *chamber_stiffness;  // per actuator; 0 of those of another kind
    double* policy;            // ct_model_policy_size
} ct_gradient;
typedef struct ct_backward_report {
    int64_t solves;            // applications of the factor
    int replayed;              // steps computed again
    double max_residual;       // worst relative residual of the adjoint systems
    double seconds;            // all
    double adjoint_seconds;    // without replays
} ct_backward_report;
CT_API ct_status ct_backward(const ct_model* model, ct_work* work, ct_tape* tape, const double* controls, ct_seed seed, void* user,
                             ct_gradient* gradient, ct_backward_report* report);

// Per-tet values, gravity, joints, links' masses: the single mutation of a model. NULL keeps. Refactors only when the matrix has moved by more than about 3x.
typedef struct ct_material_values {
    const double* young;
    const double* poisson;
    const double* density;
    const double* damping_mass;
    const double* damping_stiffness;
    const double* gravity;     // 3
    const double *joint_stiffness, *joint_damping, *joint_rest;       // nlink; entries of joints that have no such thing are not used
    const double *servo_stiffness, *servo_damping, *limit_stiffness;  // nlink
    const double* link_mass;   // nlink, kg; links without mass stay so
    const double* friction;    // ct_model_friction_count
    const double *bending, *thickness;  // per element; entries of tets are not used
    const double *water_density, *water_drag, *water_thrust, *water_current;  // 1, 4, 3, 3; not used without water
    const double *muscle_stiffness, *chamber_stiffness;  // per actuator, Pa; entries of those of another kind are not used
    const double* policy;      // ct_model_policy_size
} ct_material_values;
CT_API int ct_model_friction_count(const ct_model* model);
CT_API const double* ct_model_friction(const ct_model* model);
CT_API ct_status ct_model_set_values(ct_model* model, const ct_material_values* values, bool* refactored, ct_error* error);
CT_API void ct_model_get_values(const ct_model* model, ct_material_field field, double* values);  // elements: tets, then the triangles of sheets

// ---------------------------------------------------------------------------------------------
// Trajectory files (HDF5 in the VTKHDF layout)

typedef struct ct_trajectory ct_trajectory;
typedef struct ct_frame {
    double time;
    int64_t step;            // step index
    const double* x;         // 3 nvert, borrowed until the next read
    const double* v;
} ct_frame;
typedef struct ct_trajectory_info {
    int nvert, ntet, nsurface, nbody;
    int nframe;
    int up;                  // axis
    double ground, time_step;
    double start, stop;      // s, first and last frame
    char scene_file[256];    // absolute path, "" when built through the API
    char scene_name[128];
    ct_view view;
    int nlink, ncoordinate;  // of the skeletons; 0 in files without them
    int ntri;                // triangles of sheets
    int nobstacle;
    bool contact;            // the frames carry contacts and their forces
    bool activation;         // there are muscles or pneumatic cells: the frames carry their activation
    int64_t ncontact;        // contacts stored, of all frames
    int ncavity;             // cavities under pressure
} ct_trajectory_info;
typedef struct ct_obstacle_info {  // an obstacle of a trajectory
    const char* name;        // borrowed
    ct_obstacle_kind kind;
    double radius;           // m, of spheres and capsules
    double color[3];         // 0..1
    bool hidden;             // not in pictures
} ct_obstacle_info;

CT_API ct_status ct_trajectory_create(ct_trajectory** out, const char* path, const ct_scene* scene, const ct_model* model, ct_error* error);
// Opens for appending and puts the last stored state into `state`; the model must be of the same scene.
CT_API ct_status ct_trajectory_resume(ct_trajectory** out, const char* path, const ct_model* model, ct_state* state, ct_error* error);
CT_API ct_status ct_trajectory_append(ct_trajectory* file, const ct_model* model, const ct_state* state, const ct_step_report* report, ct_error* error);
CT_API ct_status ct_trajectory_open(ct_trajectory** out, const char* path, ct_error* error);  // read only
CT_API void ct_trajectory_get_info(const ct_trajectory* file, ct_trajectory_info* info);
CT_API ct_status ct_trajectory_read(ct_trajectory* file, int frame, ct_frame* out, ct_error* error);
// A field by name ("displacement", "velocity", "contact" (the force): 3 values a node, count 3 nvert; "stress", "energy", "volume", "activation": one an
// element, tets, then triangles of sheets: *per_tet); borrowed until the next read. "contact" is zero in files without contacts.
CT_API ct_status ct_trajectory_read_field(ct_trajectory* file, int frame, const char* name, const double** values, int* count, bool* per_tet, ct_error* error);
CT_API const double* ct_trajectory_rest(const ct_trajectory* file);     // 3 nvert
CT_API const int* ct_trajectory_tets(const ct_trajectory* file);        // 4 ntet
CT_API const int* ct_trajectory_tris(const ct_trajectory* file);        // 3 ntri, of sheets
CT_API const int* ct_trajectory_surface(const ct_trajectory* file);     // 3 nsurface
CT_API const int* ct_trajectory_surface_owner(const ct_trajectory* file);  // nsurface: body, or nbody + obstacle
CT_API const int* ct_trajectory_tet_body(const ct_trajectory* file);    // ntet
CT_API const double* ct_trajectory_body_color(const ct_trajectory* file);  // 3 nbody
CT_API const ct_link_info* ct_trajectory_links(const ct_trajectory* file);  // nlink
// Joint coordinates (as ct_state_coordinates) and link poses (as ct_state_link_poses) of a frame; borrowed until the next read. NULL: not wanted.
CT_API ct_status ct_trajectory_read_links(ct_trajectory* file, int frame, const double** coordinates, const double** poses, ct_error* error);
CT_API const ct_obstacle_info* ct_trajectory_obstacles(const ct_trajectory* file);  // nobstacle
// Where the obstacles are in a frame, 6 numbers each; plane: a point and the normal; sphere: its centre; capsule: its ends. Boxes and
// meshes (zeros) are triangles of the surface, their nodes are those of the frame. Borrowed until the next read.
CT_API ct_status ct_trajectory_read_obstacles(ct_trajectory* file, int frame, const double** poses, ct_error* error);
// Name of a body (below nbody) or of obstacle collider - nbody, as ct_contact counts them; "" where the file has none.
CT_API const char* ct_trajectory_collider_name(const ct_trajectory* file, int collider);
// The contacts of the step that ended in a frame, of its last sub-step; borrowed until the next read.
CT_API ct_status ct_trajectory_read_contacts(ct_trajectory* file, int frame, const ct_contact** list, int* count, ct_error* error);
// Volume (m^3) and pressure (Pa) of each cavity in a frame; borrowed until the next read.
CT_API ct_status ct_trajectory_read_cavities(ct_trajectory* file, int frame, const double** values, ct_error* error);
CT_API const char* ct_trajectory_cavity_name(const ct_trajectory* file, int cavity);
CT_API ct_status ct_trajectory_close(ct_trajectory* file, ct_error* error);  // also frees

typedef enum ct_export_format { CT_EXPORT_VTU, CT_EXPORT_OBJ } ct_export_format;
// .vtu: one file a frame and a .pvd, beside it .vtp files of bones, obstacles and contacts where there are some; .obj: one surface a
// frame, obstacles included. `directory` is created.
CT_API ct_status ct_trajectory_export(ct_trajectory* file, const char* directory, ct_export_format format, int first, int last, int stride, ct_error* error);

// ---------------------------------------------------------------------------------------------
// Pictures

typedef enum ct_bones {
    CT_BONES_THROUGH,        // the bones of skeletons show through the flesh
    CT_BONES_ONLY,           // bones without flesh
    CT_BONES_OFF
} ct_bones;
typedef struct ct_picture_def {
    int width, height;
    int samples;             // supersampling per axis: 1, 2, 3
    const char* color_by;    // "body", "displacement", "velocity", "stress", "energy", "volume", "contact", "activation"
    double range[2];         // of the colour map; equal: from the data
    bool wireframe;          // draw the surface edges
    bool grid;               // ground grid
    bool label;              // time and colour bar
    ct_view view;
    double background[3];
    ct_bones bones;          // matters where there are links
    bool contacts;           // contact forces as arrows, one colour where it sticks, one where it slips
    double contact_scale;    // m of arrow a newton; 0: from the forces of the motion, those of rare impacts cut short
    const char* title;       // written at the top, in the middle; NULL: none
    const double* mark;      // 3 numbers, m: a place with a ring around it, such as a target; NULL: none
} ct_picture_def;
CT_API ct_picture_def ct_picture_def_default(void);
// RGB, 3 width height bytes into `pixels`, top row first.
CT_API ct_status ct_picture_draw(ct_trajectory* file, int frame, const ct_picture_def* def, uint8_t* pixels, ct_error* error);
CT_API ct_status ct_picture_save(const char* path, const uint8_t* pixels, int width, int height, ct_error* error);  // .png

typedef struct ct_movie ct_movie;  // MP4 (H.264) through the ffmpeg program
CT_API ct_status ct_movie_create(ct_movie** out, const char* path, int width, int height, double frames_per_second, ct_error* error);
CT_API ct_status ct_movie_append(ct_movie* movie, const uint8_t* pixels, ct_error* error);
CT_API ct_status ct_movie_close(ct_movie* movie, ct_error* error);  // also frees

// ---------------------------------------------------------------------------------------------
// Parameters: named slices of one vector y; objectives: sums of terms

typedef enum ct_parameter_kind {
    CT_PARAMETER_YOUNG, CT_PARAMETER_POISSON, CT_PARAMETER_DENSITY, CT_PARAMETER_DAMPING_MASS, CT_PARAMETER_DAMPING_STIFFNESS,
    CT_PARAMETER_GRAVITY,    // 3 numbers
    CT_PARAMETER_POSITION,   // initial positions: 3 a node; per body or scene: one offset of all nodes
    CT_PARAMETER_VELOCITY,   // initial velocities: likewise
    CT_PARAMETER_CONTROL,    // a named control at every step
    CT_PARAMETER_JOINT_STIFFNESS, CT_PARAMETER_JOINT_DAMPING, CT_PARAMETER_JOINT_REST,
    CT_PARAMETER_SERVO_STIFFNESS, CT_PARAMETER_SERVO_DAMPING, CT_PARAMETER_LIMIT_STIFFNESS,
    CT_PARAMETER_LINK_MASS,      // own masses of links, shapes kept
    CT_PARAMETER_JOINT_POSITION, // initial coordinates; balls (3 numbers) and free joints (6): increments on top of their pose, as in
                                 // ct_state_set_joints, from 0; per scene: of joints with one coordinate
    CT_PARAMETER_JOINT_VELOCITY, // their initial rates
    CT_PARAMETER_FRICTION,   // coefficients: of the scene, or (per element) that and those of the pair rules, in their order
    CT_PARAMETER_BENDING,    // of sheets' materials
    CT_PARAMETER_THICKNESS,
    CT_PARAMETER_WATER_DENSITY,
    CT_PARAMETER_WATER_DRAG,    // 4 numbers
    CT_PARAMETER_WATER_THRUST,  // 3 numbers
    CT_PARAMETER_WATER_CURRENT, // 3 numbers
    CT_PARAMETER_MUSCLE_STIFFNESS, CT_PARAMETER_CHAMBER_STIFFNESS,
    CT_PARAMETER_POLICY      // weights of the policy
} ct_parameter_kind;
// Element: tet or triangle of a sheet, node, or (always unless SCENE) for controls a group of `hold` steps, for joints and links a link, for
// muscles and chambers one of them.
typedef enum ct_parameter_per { CT_PER_ELEMENT, CT_PER_TAG, CT_PER_BODY, CT_PER_SCENE } ct_parameter_per;
typedef enum ct_transform {
    CT_TRANSFORM_AUTO,       // LOG for young, density, thickness, link mass and stiffness of actuators, SIGMOID for poisson, AFFINE for the others
    CT_TRANSFORM_NONE,       // value = y
    CT_TRANSFORM_AFFINE,     // value = offset + scale y
    CT_TRANSFORM_LOG,        // value = scale exp(y)
    CT_TRANSFORM_SIGMOID     // value = lower + (upper - lower) / (1 + exp(-y))
} ct_transform;
typedef enum ct_control_shape {
    CT_SHAPE_STEPS,          // a value for every `hold` steps
    CT_SHAPE_SPLINE,         // a cubic B-spline over the rollout with `knots` control points, of which the first and last are its ends
    CT_SHAPE_SINUSOID        // center + amplitude sin(2 pi frequency t + phase); a slice each, such as "<name>.phase"
} ct_control_shape;
typedef struct ct_wave_number {
    double start, lower, upper;
    bool fixed;              // not a parameter
} ct_wave_number;
typedef struct ct_parameter_def {
    const char* name;        // NULL: the kind's name, such as "young"; for controls the control's
    ct_parameter_kind kind;
    ct_parameter_per per;
    int body;                // restrict to this body, -1: all
    const char* control;     // CT_PARAMETER_CONTROL: which
    const char* link;        // joints and links: restrict to this one, NULL: all that have such a quantity
    const char* actuator;    // stiffness of muscles and chambers: restrict to this one, NULL: all of them
    int hold;                // CT_PARAMETER_CONTROL: steps for which a value is held (1: every step its own)
    ct_transform transform;
    double lower, upper;     // bounds of the value; -inf, inf: none, but 0 and 0.49 for poisson, 0 for damping, and
                             // start/1000 for young and density
    double scale, offset;    // of the transform; scale 0: chosen from the starting value
    double start;            // starting value of every number; NAN: the scene's (its mean where one value stands for many)
    ct_control_shape shape;  // CT_PARAMETER_CONTROL: how it goes along time
    int knots;               // SPLINE; at most the steps of the rollout
    ct_wave_number amplitude, frequency, phase, center;  // SINUSOID, frequency in Hz, phase in rad; in place of transform, bounds and start
} ct_parameter_def;
CT_API ct_parameter_def ct_parameter_def_default(void);  // young, per body, all bodies
CT_API ct_status ct_scene_add_parameter(ct_scene* scene, const ct_parameter_def* def, ct_error* error);

typedef enum ct_objective_kind {
    CT_OBJECTIVE_POINT,      // mean position of the nodes to a target
    CT_OBJECTIVE_VELOCITY,   // mean velocity of the nodes to a target
    CT_OBJECTIVE_SHAPE,      // every node of the set to its own target position, mean square
    CT_OBJECTIVE_EFFORT,     // mean square of a control
    CT_OBJECTIVE_SMOOTHNESS, // mean square of a control's change from step to step
    CT_OBJECTIVE_JOINT       // coordinate of a joint to a target, rad or m: path, first number; a ball: its rotation vector
} ct_objective_kind;
// A term of the loss: weight times the mean over a time window of |d|^2.
typedef struct ct_objective_def {
    const char* name;        // NULL: the kind's name, such as "point"
    ct_objective_kind kind;
    const int* nodes;        // scene nodes; count 0: all
    int count;
    bool uniform;            // plain means over nodes; otherwise weighted by the mass at the start
    const ct_keyframe* path; // target along time (translate only), npath >= 1; one key: a fixed target
    int npath;
    bool relative;           // targets count from the rest value of the same mean (SHAPE: from each node's rest position)
    const double* shape;     // SHAPE: 3 count target positions
    double start, stop;      // s: states with times in [start, stop]; start = stop: the nearest; both NAN: the last.
                             // EFFORT, SMOOTHNESS: steps that begin in [start, stop); both NAN: all
    const char* control;     // EFFORT, SMOOTHNESS; NULL: all
    const char* link;        // JOINT: which
    double weight;
    bool distance;           // |d| in place of |d|^2; for SHAPE, EFFORT and SMOOTHNESS the root mean square
} ct_objective_def;
CT_API ct_objective_def ct_objective_def_default(void);  // POINT, weight 1, last state
CT_API ct_status ct_scene_add_objective(ct_scene* scene, const ct_objective_def* def, ct_error* error);

typedef enum ct_method {
    CT_METHOD_LBFGS, CT_METHOD_ADAM, CT_METHOD_MMA, CT_METHOD_SLSQP,  // with gradients
    CT_METHOD_CMAES,         // covariance matrix adaptation; its diagonal alone for many parameters
    CT_METHOD_EVOLUTION,     // tournaments, crossover, Gaussian mutation, elitism
    CT_METHOD_BOBYQA,        // quadratic models in a trust region
    CT_METHOD_NELDER_MEAD    // a simplex
} ct_method;
typedef struct ct_optimize_def {
    ct_method method;
    int iterations;          // evaluations at most
    double target;           // stop when the loss is at most this
    double rate;             // Adam: step in y
    double tolerance;        // relative change of the loss at which it stops, 0: never
    int restarts;            // how often a method that sees no further progress begins anew from a start around the best
    uint64_t seed;           // of everything random
    double noise;            // standard deviation of a random change of the start, in y; 0: none
    double spread;           // first steps of the methods without gradients, in y
    int population;          // CMAES, EVOLUTION: samples a generation; 0: from the number of parameters
} ct_optimize_def;
CT_API ct_optimize_def ct_optimize_def_default(void);
CT_API void ct_scene_optimize_def(const ct_scene* scene, ct_optimize_def* def);
CT_API ct_status ct_scene_set_optimize_def(ct_scene* scene, const ct_optimize_def* def, ct_error* error);

typedef struct ct_slice {
    char name[64];
    ct_parameter_kind kind;
    int first, count;        // within the vector
} ct_slice;

// ---------------------------------------------------------------------------------------------
// Problems: minimise the scene's objective over its parameters

typedef struct ct_problem ct_problem;
// A term of the user's own: adds to *loss and, where x_bar is not NULL, to the seeds x_bar and v_bar (3 nvert each). Called
// for every state on the way forward (x_bar NULL) and again backward.
typedef void (*ct_term)(int step, const ct_state* state, double* loss, double* x_bar, double* v_bar, void* user);
typedef struct ct_problem_report {
    ct_rollout_report forward;
    ct_backward_report backward;
    bool refactored;         // the parameters have moved so far that the system was factored anew
    size_t tape_bytes;
    double measure;          // the first term of the objective as a root mean square without its weight: a distance in metres, say
} ct_problem_report;
// Has a model of its own; the rollout takes round(duration / time_step) steps. max_bytes: of the tape, 0: no limit.
CT_API ct_status ct_problem_create(ct_problem** out, const ct_scene* scene, size_t max_bytes, ct_error* error);
CT_API void ct_problem_free(ct_problem* problem);
CT_API const ct_model* ct_problem_model(const ct_problem* problem);  // with the values of the last evaluation
CT_API int ct_problem_steps(const ct_problem* problem);
CT_API int ct_problem_size(const ct_problem* problem);
CT_API int ct_problem_slice_count(const ct_problem* problem);
CT_API void ct_problem_slice(const ct_problem* problem, int index, ct_slice* slice);
CT_API void ct_problem_start(const ct_problem* problem, double* y);                      // the scene's values, as the optimiser sees them
CT_API void ct_problem_bounds(const ct_problem* problem, double* lower, double* upper);  // of y; -inf, inf where none
CT_API void ct_problem_values(const ct_problem* problem, const double* y, double* values);  // physical values
CT_API void ct_problem_set_term(ct_problem* problem, ct_term term, void* user);          // NULL: none
// Loss at y, and its gradient when `gradient` is not NULL. A rollout that fails is CT_NOT_CONVERGED.
CT_API ct_status ct_problem_evaluate(ct_problem* problem, const double* y, double* loss, double* gradient, ct_problem_report* report, ct_error* error);
// Runs the motion at y into a trajectory file. The scene is the one that the problem was made from.
CT_API ct_status ct_problem_record(ct_problem* problem, const double* y, const char* path, const ct_scene* scene, ct_error* error);

typedef struct ct_check_def {
    int slices;              // how many, spread over all of them; 0: all
    int components;          // per slice: the largest derivative, the others spread and random; 0: all
    double step;             // largest relative step of the differences
    int levels;              // step sizes, each a quarter of the one before; 2 to 12
    double tolerance;        // on the relative error
    uint64_t seed;
} ct_check_def;
CT_API ct_check_def ct_check_def_default(void);
typedef struct ct_contact_switch {  // a contact that does something else in another rollout
    int step;                // the step that begins after this many
    ct_contact_type type;
    int node[4];
    int a, b;                // colliders, as in ct_contact
    ct_contact_set from, to; // the same: its tiny compliance differs, which contacts have that share nodes with others
} ct_contact_switch;
enum { CT_SWITCHES = 4 };
typedef struct ct_check_slice {
    char name[64];
    double relative_error;   // max |g - difference| / max |g| over the components, at the best step size; inf: no rollout converged
    double slope;            // of log error over log step where truncation dominates (2 is right, 0 wrong); NAN: at round-off from the start
    int worst;               // component within the slice
    double worst_gradient, worst_difference;
    int switches;            // contacts that switch between y and the samples of these differences, summed over steps and samples: such
                             // differences are not derivatives
    ct_contact_switch switched[CT_SWITCHES];  // the first of them
    int halved;              // first step that is halved in some of these samples and not in the others; -1: none
    bool passed;
    bool skipped;            // not among the slices that were looked at
    bool drowned;            // derivatives and differences are below the round-off of the loss at every step size: nothing was compared
} ct_check_slice;
// Compares the gradient with central differences. Where none of the step sizes pass, those are preferred at which no contact switches. slices: ct_problem_slice_count of them. The differences show the solver's
// tolerance: make the problem from a scene with a tight one (1e-12).
CT_API ct_status ct_problem_check(ct_problem* problem, const double* y, const ct_check_def* def, ct_check_slice* slices, ct_error* error);

typedef struct ct_progress {
    int iteration;           // evaluations so far
    double loss, best, gradient_norm, seconds;  // gradient_norm is NAN where the method asks for none
    double measure;          // as in ct_problem_report, of this evaluation
    double forward_seconds, backward_seconds;   // of this evaluation
    bool failed;             // this evaluation did not converge; loss, measure and gradient_norm are NAN
    const double* y;         // of this evaluation
    const double* best_y;
} ct_progress;
typedef bool (*ct_on_progress)(const ct_progress* progress, void* user);  // false: stop
typedef struct ct_optimize_report {
    int iterations;          // evaluations
    int failures;            // of these, how many did not converge; they counted as a large loss
    double loss, seconds;    // the best
    const char* reason;      // why it stopped, static
} ct_optimize_report;
typedef struct ct_evaluation {  // of a point
    ct_status status;        // CT_NOT_CONVERGED: loss and measure are NAN
    double loss, measure;
    double forward_seconds, backward_seconds;
} ct_evaluation;
// Evaluates y[0], ..., y[count - 1], and their gradients (zeros before) unless NULL. What befell a point is its result's status, and the sentence of
// the first that failed may be left in error; anything but CT_OK returned ends the search.
typedef ct_status (*ct_evaluate)(int count, const double* y, double* gradients, ct_evaluation* results, void* user, ct_error* error);
typedef struct ct_function { // anything that can be minimised: several scenes at once, say
    int size;
    const double *lower, *upper;  // size; -inf, inf, or NULL: none
    ct_evaluate evaluate;
    void* user;
    int most;                // points that it is asked for at a time; 0: as many as a method has
} ct_function;
// Starts from y (moved into the bounds) and leaves the best there. Fails with CT_NOT_CONVERGED only if the start does. progress, report and error may be
// NULL; stopping early is CT_OK. Which points are looked at depends on def and their losses (and gradients) alone.
CT_API ct_status ct_function_optimize(const ct_function* function, const ct_optimize_def* def, double* y, ct_on_progress progress, void* user,
                                      ct_optimize_report* report, ct_error* error);
CT_API ct_status ct_problem_optimize(ct_problem* problem, const ct_optimize_def* def, double* y, ct_on_progress progress, void* user,
                                     ct_optimize_report* report, ct_error* error);

// ---------------------------------------------------------------------------------------------
// Batches: many evaluations at the same time, on the cores of one machine or of several

// Messages between processes, in order for each pair of ranks and tag. The functions block, are called from several threads at the same time, each with
// a rank and tag of its own, and return false when the other side is gone. `cuttle experiment` fills it with MPI.
typedef struct ct_transport {
    int rank, size;
    bool (*send)(int to, int tag, const void* bytes, size_t count, void* user);
    bool (*receive)(int from, int tag, void* bytes, size_t count, void* user);
    void* user;
} ct_transport;

typedef struct ct_batch ct_batch;  // workers, each with a problem and one thread of its own
// workers: threads of this process, 0: all cores. transport NULL: this process alone. With one, every rank creates the batch from the same scene; rank 0
// asks, the others call ct_batch_serve. Results depend on y alone: not on the workers, nor on what they did before; machines of one kind give the same
// to the last bit. What a rank that is lost had to do is done by another.
CT_API ct_status ct_batch_create(ct_batch** out, const ct_scene* scene, int workers, const ct_transport* transport, ct_error* error);
CT_API void ct_batch_free(ct_batch* batch);  // of rank 0: ends the others' ct_batch_serve; of a rank that did not serve: waits for that
CT_API const ct_problem* ct_batch_problem(const ct_batch* batch);  // for sizes, bounds, values; evaluations are the batch's
CT_API int ct_batch_workers(const ct_batch* batch);                // of all ranks
// Evaluates y[0], ..., y[count - 1] (ct_problem_size numbers each), and their gradients unless NULL. Several threads may ask at the same time, and are
// served in turn. CT_OK although some did not converge: see their results; error has the sentence of the first that failed.
CT_API ct_status ct_batch_evaluate(ct_batch* batch, int count, const double* y, double* gradients, ct_evaluation* results, ct_error* error);
// As ct_problem_optimize; generations are evaluated at the same time. Several threads may each run a search of their own.
CT_API ct_status ct_batch_optimize(ct_batch* batch, const ct_optimize_def* def, double* y, ct_on_progress progress, void* user,
                                   ct_optimize_report* report, ct_error* error);
CT_API ct_status ct_batch_serve(ct_batch* batch, ct_error* error);  // returns when rank 0 frees its batch

// ---------------------------------------------------------------------------------------------
// Plots

typedef struct ct_plot_series {
    const char* name;        // in the legend when there are several; NULL: none
    const double *x, *y;     // count each; points that are not finite interrupt the line
    int count;
    const double *low, *high;  // count each, a band in a pale tone of the line's colour; NULL: none
    bool dashed;             // a thin dashed line
    int color;               // 1 to 6: blue, orange, green, violet, grey, ochre; 0: by its place among the series
} ct_plot_series;
typedef struct ct_plot_def {
    int width, height;       // pixels
    const char *title, *x_label, *y_label;  // NULL: none
    bool log_y;              // values that are not positive interrupt the line
    bool log_x;
} ct_plot_def;
CT_API ct_plot_def ct_plot_def_default(void);
// Lines over common axes, .png.
CT_API ct_status ct_plot_save(const char* path, const ct_plot_def* def, const ct_plot_series* series, int nseries, ct_error* error);

// ---------------------------------------------------------------------------------------------
// Measurements for `cuttle bench`

typedef struct ct_profile {
    double gradient_ns_per_tet;   // element pass: energy and gradient
    double product_ns_per_tet;    // element pass: Hessian-vector product
    double solve_seconds;         // one application of the factor
    double solve_bytes;           // bytes of factor read in one application
    double bandwidth;             // measured read bandwidth of this machine on a buffer of that size, bytes/s
} ct_profile;
// Times the parts of a step at the given state, with the work's threads.
CT_API ct_status ct_profile_run(const ct_model* model, ct_work* work, const ct_state* state, ct_profile* profile);
typedef struct ct_skeleton_profile {
    int links, joints;            // joints: their rates
    double jacobian_seconds;      // B over the links' nodes, top-down
    double matrix_seconds;        // the joints' matrix of the preconditioner
} ct_skeleton_profile;
CT_API ct_status ct_profile_skeleton(const ct_model* model, ct_work* work, const ct_state* state, ct_skeleton_profile* profile);

typedef struct ct_adjoint_profile {
    int iterations;               // conjugate gradients on the warped factor, as in ct_backward
    double seconds, residual;     // residual: relative
    bool converged;
    int fixed_iterations;         // the fixed point of DiffPD on the constant matrix of projective dynamics
    double fixed_seconds, fixed_residual;
    bool fixed_converged;         // false: `limit` reached, or it diverges (fixed_residual above 1)
} ct_adjoint_profile;
// Solves the adjoint system of the step from `before` to `after` both ways, to the same relative residual. x_bar: 3 nvert, dL/dx of
// the state after. The model's solver must be projective and its integrator Euler.
CT_API ct_status ct_profile_adjoint(const ct_model* model, ct_work* work, const ct_state* before, const ct_state* after,
                                    const double* x_bar, double tolerance, int limit, ct_adjoint_profile* profile);

#ifdef __cplusplus
}
#endif
#endif
