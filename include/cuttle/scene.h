// Scenes: what is simulated, in the user's words
//
// A scene is read from a file or built by calls, in this order: settings, bodies, then what refers to them:
// selections of nodes, motions, forces, links, actuators, controls, parameters, objectives. Bodies, and all
// else that is added, are counted from 0; nodes are counted through all bodies, in order.
//
//     ct_scene* scene = NULL;
//     int body, *nodes, count;
//     if (ct_scene_create(&scene, &error)) ...
//     ct_body_def def = ct_body_def_default();
//     def.mesh = mesh;                                                 // copied
//     if (ct_scene_add_body(scene, &def, &body, &error)) ...
//     ct_selector left = {.kind = CT_SELECT_PLANE, .body = body, .a = {0.01, 0, 0}, .b = {-1, 0, 0}};
//     if (ct_scene_select(scene, &left, &nodes, &count, &error)) ...
//     if (ct_scene_drive(scene, nodes, count, NULL, &error)) ...       // pinned
//     ct_free(nodes);
//
// What ct_scene_add_* and ct_scene_set_* are given is checked and copied at once. They fail with CT_BAD_SCENE
// for a value that makes no sense, error->path naming the field, with CT_BAD_ARGUMENT for a body that does
// not exist, and with CT_OUT_OF_MEMORY; the scene is then as before. The place for an index (`int* body`,
// ...) may be NULL.
#ifndef CUTTLE_SCENE_H
#define CUTTLE_SCENE_H

#include "cuttle/mesh.h"
#include "cuttle/quantity.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ct_energy {
    CT_ENERGY_COROTATED,   // mu |F-R|^2 + lambda/2 tr(R^T F - I)^2
    CT_ENERGY_PROJECTIVE,  // mu |F-R|^2 + 3 lambda/2 |F-D|^2, det D = 1
    CT_ENERGY_NEOHOOKEAN,  // stable neo-Hookean (Smith et al. 2018)
    // St. Venant-Kirchhoff; sheets: the same in two dimensions, PROJECTIVE with lambda/2 (area ratio - 1)^2
    CT_ENERGY_STVK,
    CT_ENERGY_COUNT
} ct_energy;
// Its word in scene files and messages, "corotated", ...; NULL: not one of them.
CT_API const char* ct_energy_name(ct_energy energy);

// docs/theory.md tells what each of them conserves, and what it costs.
typedef enum ct_integrator {
    CT_INTEGRATOR_EULER,    // implicit Euler: first order, and the firmest
    CT_INTEGRATOR_BDF2,     // second order
    CT_INTEGRATOR_SDIRK2,   // second order, two stages; Euler where a contact closes
    CT_INTEGRATOR_SDIRK3,   // third order, three stages; SDIRK2 with contacts
    CT_INTEGRATOR_MIDPOINT  // implicit midpoint: keeps momenta; no links, no contact
} ct_integrator;
// Its word in scene files and messages, "euler", ...; NULL: not one of them.
CT_API const char* ct_integrator_name(ct_integrator integrator);
typedef enum ct_solver {
    CT_SOLVER_NEWTON,     // L-BFGS fast path, then Newton-PCG, on the warped rest-Hessian factor
    CT_SOLVER_PROJECTIVE  // the paper's local/global iteration; energies must be projective
} ct_solver;
// Its word in scene files and messages, "newton", ...; NULL: not one of them.
CT_API const char* ct_solver_name(ct_solver solver);

typedef struct ct_material {
    ct_energy energy;
    double young;              // Pa
    double poisson;            // in [0, 0.5)
    double density;            // kg/m^3
    double damping_mass;       // 1/s, drag against the world, force -damping_mass m v
    double damping_stiffness;  // s, Kelvin-Voigt strain-rate damping
    bool paper_weights;        // projective only: volume weight lambda/2 instead of 3 lambda/2
    double thickness;          // m, of sheets
    // of sheets: factor on the plate's bending stiffness E t^3 / (12 (1 - nu^2)); 0: a membrane
    double bending;
    // of sheets: further factors on the bending stiffness along `direction`, across it and in twist
    double bending_warp, bending_weft, bending_shear;
    // of sheets: where the first of these points, in the world at rest; each triangle sees it in its plane
    double direction[3];
    // of sheets, 1/m: curvature that a small piece would take by itself beside that of the mesh: along
    // `direction`, across it, twist; above 0 towards the normal
    double curvature_warp, curvature_weft, curvature_twist;
} ct_material;
// neo-Hookean, 1e6 Pa, 0.4, 1000 kg/m^3, undamped; sheets: 1 mm, all factors 1, direction x, no curvature
CT_API ct_material ct_material_default(void);

typedef struct ct_body_def {
    const char* name;     // NULL: "body<k>"
    const ct_mesh* mesh;  // tets, or, without tets, the triangles of a thin sheet; copied
    double scale;         // applied first
    double rotate[4];     // then rotation, unit quaternion w x y z
    double translate[3];  // then translation, m
    ct_material material;
    double velocity[3];          // m/s
    double angular_velocity[3];  // rad/s about the centre of mass
    double color[3];             // 0..1; NAN: from a palette, by the body's index
    // name that contact pairs may use for several bodies and obstacles; NULL: none
    const char* group;
    // m, half the distance at which its surface touches another; NAN: half a sheet's thickness, or a
    // hundredth of the mean edge of a solid's surface
    double contact_thickness;
    int order;  // 2: tets are made those of second order (ct_mesh_raise); 0: as the mesh has them
} ct_body_def;
CT_API ct_body_def ct_body_def_default(void);  // no mesh, as it is, at rest, of the default material

typedef enum ct_select_kind {
    CT_SELECT_ALL,
    CT_SELECT_BOX,
    CT_SELECT_SPHERE,
    CT_SELECT_PLANE,
    CT_SELECT_CAPSULE,
    CT_SELECT_TAG,
    CT_SELECT_NEAREST,
    CT_SELECT_LIST,
    CT_SELECT_SURFACE,
    CT_SELECT_AND,
    CT_SELECT_OR,
    CT_SELECT_NOT
} ct_select_kind;
// Its word in scene files and messages, "all", ...; NULL: not one of them.
CT_API const char* ct_select_kind_name(ct_select_kind kind);

// A set of nodes, by rest position in the world (after the body's transform). Boundaries are inclusive.
typedef struct ct_selector {
    ct_select_kind kind;
    int body;  // restrict to this body, -1: all
    // BOX: corners; SPHERE, NEAREST: centre a; PLANE: point a, normal b (keeps (x-a).b >= 0); CAPSULE: ends
    double a[3], b[3];
    double radius;  // SPHERE, CAPSULE
    // TAG: nodes of tets with this tag, or of triangles in a body where no tet has it
    int tag;
    const int* list;                  // LIST: body-local indices if body >= 0, else scene indices
    int nlist;                        // LIST: length; NEAREST: how many (0: 1)
    const struct ct_selector* child;  // AND, OR: nchild operands; NOT: one
    int nchild;
} ct_selector;
CT_API ct_selector ct_selector_default(void);  // all nodes of all bodies

typedef struct ct_keyframe {
    double time;          // s
    double translate[3];  // m, from the rest position
    double rotate[3];     // rotation vector, rad, about the motion's centre, applied before translate
} ct_keyframe;

typedef struct ct_motion {
    // increasing time; before the first and after the last: held. 0 keys: pinned at rest
    const ct_keyframe* key;
    int nkey;
    double center[3];
    bool smooth;  // cubic (C1) in place of linear interpolation
    bool repeat;  // periodic with period last.time - first.time
    // pinned nodes of a sheet: the border between two of them keeps its slope too (clamped, not hinged)
    bool clamp;
} ct_motion;

typedef enum ct_force_kind { CT_FORCE_TOTAL, CT_FORCE_PER_NODE, CT_FORCE_ACCELERATION } ct_force_kind;
// Its word in scene files and messages, "total", ...; NULL: not one of them.
CT_API const char* ct_force_kind_name(ct_force_kind kind);
typedef struct ct_force_def {
    ct_force_kind kind;  // TOTAL: N, spread by mass; PER_NODE: N each; ACCELERATION: m/s^2
    double vector[3];
    double start, stop;  // s, acts on steps that begin in [start, stop)
} ct_force_def;
CT_API ct_force_def ct_force_def_default(void);  // total, always

typedef enum ct_contact_method {
    CT_CONTACT_METHOD_NONE,    // bodies pass through one another
    CT_CONTACT_METHOD_NEWTON,  // exact Signorini-Coulomb contact by Newton's method on the whole system
    CT_CONTACT_METHOD_SPLIT    // the paper's splitting iteration, for comparison; solver projective
} ct_contact_method;
// Its word in scene files and messages, "none", ...; NULL: not one of them.
CT_API const char* ct_contact_method_name(ct_contact_method method);
typedef enum ct_split {
    CT_SPLIT_MASS,      // M (Ly et al. 2020)
    CT_SPLIT_DIAGONAL,  // M + h^2 D, the paper's
    CT_SPLIT_TWICE,     // M + 2 h^2 D
    // M + h^2 L, not split: local/global steps with contact on the compliance of their matrix
    CT_SPLIT_WHOLE,
    CT_SPLIT_NODES  // nodes of sheets alone, on M; the global step on M + h^2 L (Ly et al. 2020); may be
                    // crossed
} ct_split;
// Its word in scene files and messages, "mass", ...; NULL: not one of them.
CT_API const char* ct_split_name(ct_split split);
typedef struct ct_contact_settings {
    ct_contact_method method;
    ct_split split;   // CT_CONTACT_METHOD_SPLIT: its matrix
    double friction;  // coefficient of all pairs that no ct_pair_def names
    // how often a converged solve may find pairs that meet, and go on with them, before the step is halved
    int max_passes;
    // CT_CONTACT_METHOD_SPLIT: iterations after which a pass ends, converged or not (ct_step_report tells);
    // 0: only when it has converged. Truncated steps have no gradient
    int truncate;
} ct_contact_settings;

typedef struct ct_settings {
    double gravity[3];  // m/s^2
    int up;             // 0 x, 1 y, 2 z: for pictures and the ground grid
    double time_step;   // s
    double duration;    // s; 0 only where the scene settles
    bool settle;        // motions begin where the scene rests (ct_settle)
    bool relax;         // motions begin with flesh at rest between its bones (ct_relax)
    ct_integrator integrator;
    ct_solver solver;
    double tolerance;       // relative residual at which a step is converged
    int max_iterations;     // linear solves per step before sub-stepping
    int max_substep_depth;  // how often a step may be halved
    int threads;            // 0: as many as there are cores
    int output_every;       // steps between stored frames
    bool output_compress;   // trajectories in single precision, deflated; see ct_trajectory_create
    double ground;          // height of the drawn ground grid along `up`; NAN: below the scene
    ct_contact_settings contact;
} ct_settings;
// gravity -9.81 along y, which is up; 1 s in steps of 0.01 s, Euler, Newton to 1e-6; no contact; not settled
CT_API ct_settings ct_settings_default(void);

typedef struct ct_view {  // camera of pictures; `automatic` frames the scene
    bool automatic;
    double eye[3], target[3], field_of_view;  // degrees
} ct_view;

// An empty scene, named "scene", with default settings.
CT_API ct_status ct_scene_create(ct_scene** out, ct_error* error);
// Reads a scene file (JSON, docs/scene.md); meshes and robots that it names are relative to its directory.
// CT_IO when a file cannot be read, CT_BAD_FILE for a syntax error, CT_BAD_SCENE or CT_BAD_MESH for what it
// says; error has file, line and JSON path.
CT_API ct_status ct_scene_load(ct_scene** out, const char* path, ct_error* error);
// The same from text of `size` bytes; mesh files are relative to `directory` (NULL: the current one).
CT_API ct_status ct_scene_parse(ct_scene** out, const char* text, size_t size, const char* directory,
                                ct_error* error);
CT_API void ct_scene_free(ct_scene* scene);  // models made from it live on; NULL: does nothing
CT_API ct_settings ct_scene_settings(const ct_scene* scene);  // as they are now
// Takes all settings at once: begin with those of ct_scene_settings. CT_BAD_SCENE names the one that makes no
// sense.
CT_API ct_status ct_scene_set_settings(ct_scene* scene, const ct_settings* settings, ct_error* error);
CT_API ct_view ct_scene_view(const ct_scene* scene);                    // automatic unless it was set
CT_API void ct_scene_set_view(ct_scene* scene, const ct_view* view);    // goes into trajectory files
CT_API ct_status ct_scene_set_name(ct_scene* scene, const char* name);  // copied; NULL: ""
CT_API const char* ct_scene_name(const ct_scene* scene);                // borrowed until it is set again
CT_API const char* ct_scene_file(const ct_scene* scene);  // absolute path it was loaded from, "" if none
// Adds a body, moved to its place in the world. Also fails with CT_BAD_MESH when its mesh cannot be simulated
// (ct_mesh_check).
CT_API ct_status ct_scene_add_body(ct_scene* scene, const ct_body_def* def, int* body, ct_error* error);
// Gives the elements of a body with this tag another material. CT_BAD_SCENE when none has the tag.
CT_API ct_status ct_scene_set_tag_material(ct_scene* scene, int body, int tag, const ct_material* material,
                                           ct_error* error);
// Sets one quantity of elements: one value per tet, or per triangle of a sheet; count must be that number.
// CT_BAD_ARGUMENT when the elements of the body have no such quantity.
CT_API ct_status ct_scene_set_tet_values(ct_scene* scene, int body, ct_quantity quantity,
                                         const double* values, int count, ct_error* error);
CT_API int ct_scene_body_count(const ct_scene* scene);                   // added so far
CT_API const char* ct_scene_body_name(const ct_scene* scene, int body);  // borrowed; "": none
CT_API int ct_scene_find_body(const ct_scene* scene, const char* name);  // -1: none
typedef struct ct_body_info {
    int nvert, ntet;
    int ntri;                                 // of a sheet, 0: it has tets
    double lower[3], upper[3];                // m, rest bounds in the world
    ct_material material;                     // of its first element
    double young[2], poisson[2], density[2];  // smallest and largest over its elements
    double volume;                            // m^3; of a sheet, area times thickness
    double min_quality;                       // of its worst tet, as in ct_mesh_report
    int sliver_count;
    int order;  // of its tets, 1 or 2; 0 of a sheet
} ct_body_info;
// Measures a body. CT_BAD_ARGUMENT when it does not exist.
CT_API ct_status ct_scene_body_info(const ct_scene* scene, int body, ct_body_info* info);
CT_API int ct_scene_node_count(const ct_scene* scene);  // of all bodies
// Finds nodes: their scene indices, sorted; *nodes is the caller's, freed by ct_free. An empty set is
// CT_BAD_SCENE.
CT_API ct_status ct_scene_select(const ct_scene* scene, const ct_selector* selector, int** nodes, int* count,
                                 ct_error* error);
// Moves these nodes as `motion` says, whatever pulls at them; motion NULL: pinned at rest. A node may be
// driven once, and not sit on a link. Drives are counted in the order of these calls.
CT_API ct_status ct_scene_drive(ct_scene* scene, const int* nodes, int count, const ct_motion* motion,
                                ct_error* error);
// A force on these nodes while it acts.
CT_API ct_status ct_scene_add_force(ct_scene* scene, const int* nodes, int count, const ct_force_def* def,
                                    ct_error* error);
// Makes the body weigh `mass` kg: the densities of its elements are scaled alike. Set materials before.
CT_API ct_status ct_scene_set_mass(ct_scene* scene, int body, double mass, ct_error* error);
// Adds `mass` kg to each of these nodes, on top of what their elements give them.
CT_API ct_status ct_scene_add_masses(ct_scene* scene, const int* nodes, int count, double mass,
                                     ct_error* error);
// The initial velocity of these nodes: velocity + angular_velocity (rad/s) x (X - centre of mass of these
// nodes); NULL: zero. Set materials before: the centre of mass depends on them.
CT_API ct_status ct_scene_set_velocity(ct_scene* scene, const int* nodes, int count, const double velocity[3],
                                       const double angular_velocity[3], ct_error* error);
// The initial velocity of every node of a body: 3 count numbers; count must be that of its nodes.
CT_API ct_status ct_scene_set_velocities(ct_scene* scene, int body, const double* velocities, int count,
                                         ct_error* error);

// Writes the scene as it is now, read from a file or built by calls, as a scene file that stands alone: its
// meshes, node sets and tables are written out, in the world, with what was chosen where something was left
// open. Loaded again it is the same scene to the last bit, and saved again the same text. The scene must be
// complete (it has a body or a link, pairs name what is there). CT_UNSUPPORTED for what scene files cannot
// say, such as an infinite time: error names it; the text is read back and compared before it is written. The
// file appears when it is complete. A model's values (ct_model_set) are not the scene's.
CT_API ct_status ct_scene_save(const ct_scene* scene, const char* path, ct_error* error);
// The same as text of *size bytes, and a zero behind it; *text is the caller's, freed by ct_free.
CT_API ct_status ct_scene_write(const ct_scene* scene, char** text, size_t* size, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
