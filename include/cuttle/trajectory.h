// Trajectory files (HDF5 in the VTKHDF layout)
//
// A file is written frame by frame and is valid after each; it can be continued to the same bits.
//
//     ct_trajectory* file = NULL;
//     if (ct_trajectory_create(&file, scene, model, "run.h5", &error)) ...
//     if (ct_trajectory_append(file, model, state, NULL, &error)) ...  // the initial state
//     if (ct_step(model, work, state, NULL, &report)) ...
//     if (ct_trajectory_append(file, model, state, &report, &error)) ...
//     if (ct_trajectory_close(file, &error)) ...
//
//     if (ct_trajectory_open(&file, "run.h5", &error)) ...             // and later
//     ct_trajectory_info info = ct_trajectory_summary(file);
//     for (int k = 0; k < info.nframe; k++)
//         if (ct_trajectory_read(file, k, &frame, &error)) ...
//
// Reading fails with CT_BAD_ARGUMENT when there is no such frame and with CT_BAD_FILE when the file is
// damaged. What is read is borrowed until the next read, or until the file is closed.
#ifndef CUTTLE_TRAJECTORY_H
#define CUTTLE_TRAJECTORY_H

#include "cuttle/skeleton.h"
#include "cuttle/step.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_frame {
    double time;
    int64_t step;     // step index
    const double* x;  // 3 nvert, borrowed until the next read
    const double* v;
} ct_frame;
typedef struct ct_trajectory_info {
    int nvert, ntet, nsurface, nbody;
    int nframe;
    int up;  // axis
    double ground, time_step;
    double start, stop;    // s, first and last frame
    char scene_file[256];  // absolute path, "" when built through the API
    char scene_name[128];
    ct_view view;
    int nlink, ncoordinate;  // of the skeletons; 0 in files without them
    int ntri;                // triangles of sheets
    int nobstacle;
    bool contact;      // the frames carry contacts and their forces
    bool activation;   // there are muscles or chambers: the frames carry their activation
    int64_t ncontact;  // contacts stored, of all frames
    int ncavity;       // cavities under pressure
    int ncable;        // cables
    int neyelet;       // eyelets of all cables
    bool compressed;   // positions and velocities are single, fields rounded to 13 bits; all are deflated
} ct_trajectory_info;
typedef struct ct_obstacle_info {  // an obstacle of a trajectory
    const char* name;              // borrowed
    ct_obstacle_kind kind;
    double radius;    // m, of spheres and capsules
    double color[3];  // 0..1
    bool hidden;      // not in pictures
} ct_obstacle_info;

// Begins a file, without frames; an older one of that name is replaced once this one stands. scene NULL: the
// file has no name, view and text of a scene. With output_compress of the model's settings frames are
// smaller, and rounded; the state that a run goes on from is not. CT_IO when it cannot be written, or another
// process is writing it.
CT_API ct_status ct_trajectory_create(ct_trajectory** out, const ct_scene* scene, const ct_model* model,
                                      const char* path, ct_error* error);
// Opens for appending and puts the last stored state into `state`. CT_BAD_ARGUMENT when the file is of
// another scene than the model, CT_BAD_FILE when it has no frame to go on from.
CT_API ct_status ct_trajectory_resume(ct_trajectory** out, const ct_model* model, ct_state* state,
                                      const char* path, ct_error* error);
// Adds a frame, with the contacts of its report; report NULL: none. CT_BAD_ARGUMENT for a state of another
// model and for a file that was opened for reading.
CT_API ct_status ct_trajectory_append(ct_trajectory* file, const ct_model* model, const ct_state* state,
                                      const ct_step_report* report, ct_error* error);
// Opens for reading; another process may be writing it. CT_IO when it cannot be read, CT_BAD_FILE when it is
// not such a file.
CT_API ct_status ct_trajectory_open(ct_trajectory** out, const char* path, ct_error* error);
CT_API ct_trajectory_info ct_trajectory_summary(const ct_trajectory* file);  // as of now, when it grows
// The text of the scene file that the trajectory began with, borrowed until it is closed; "": there was none.
CT_API ct_status ct_trajectory_read_scene(ct_trajectory* file, const char** text, ct_error* error);
// Time, positions and velocities of a frame.
CT_API ct_status ct_trajectory_read(ct_trajectory* file, int frame, ct_frame* out, ct_error* error);
// How many tets were inside out at the end of the step that led to a frame.
CT_API ct_status ct_trajectory_read_inverted(ct_trajectory* file, int frame, int* count, ct_error* error);
// A field by name ("displacement", "velocity", "contact" (the force): 3 values per node, count 3 nvert;
// "stress", "energy", "volume", "activation": one per element, tets, then triangles of sheets: *per_tet).
// "contact" is zero in files without contacts. CT_BAD_ARGUMENT for another name.
CT_API ct_status ct_trajectory_read_field(ct_trajectory* file, int frame, const char* name,
                                          const double** values, int* count, bool* per_tet, ct_error* error);
// Arrays of the file, borrowed until it is closed; the shape is behind them.
CT_API const double* ct_trajectory_rest(const ct_trajectory* file);  // 3 nvert, m
CT_API const int* ct_trajectory_tets(const ct_trajectory* file);     // 4 ntet
// 6 ntet: nodes on the edges 01 12 02 03 13 23 of tets of second order, -1 for linear ones; NULL: all are
CT_API const int* ct_trajectory_middles(const ct_trajectory* file);
CT_API const int* ct_trajectory_tris(const ct_trajectory* file);     // 3 ntri, of sheets
CT_API const int* ct_trajectory_surface(const ct_trajectory* file);  // 3 nsurface
// nsurface: body, or nbody + obstacle
CT_API const int* ct_trajectory_surface_owner(const ct_trajectory* file);
CT_API const int* ct_trajectory_tet_body(const ct_trajectory* file);        // ntet
CT_API const double* ct_trajectory_body_color(const ct_trajectory* file);   // 3 nbody
CT_API const ct_link_info* ct_trajectory_links(const ct_trajectory* file);  // nlink
// Joint coordinates (as ct_state_coordinates) and link poses (as ct_state_link_poses) of a frame. NULL: not
// wanted.
CT_API ct_status ct_trajectory_read_links(ct_trajectory* file, int frame, const double** coordinates,
                                          const double** poses, ct_error* error);
CT_API const ct_obstacle_info* ct_trajectory_obstacles(const ct_trajectory* file);  // nobstacle
// Where the obstacles are in a frame, 6 numbers each; plane: a point and the normal; sphere: its centre;
// capsule: its ends. Boxes and meshes (zeros) are triangles of the surface, their nodes are those of the
// frame.
CT_API ct_status ct_trajectory_read_obstacles(ct_trajectory* file, int frame, const double** poses,
                                              ct_error* error);
// Name of a body (below nbody) or of obstacle collider - nbody, as ct_contact counts them; "" where the file
// has none.
CT_API const char* ct_trajectory_collider_name(const ct_trajectory* file, int collider);
// The contacts of the step that ended in a frame, of its last sub-step; none in files without contacts.
CT_API ct_status ct_trajectory_read_contacts(ct_trajectory* file, int frame, const ct_contact** list,
                                             int* count, ct_error* error);
// Volume (m^3) and pressure (Pa) of each cavity in a frame, one pair after the other.
CT_API ct_status ct_trajectory_read_cavities(ct_trajectory* file, int frame, const double** values,
                                             ct_error* error);
CT_API const char* ct_trajectory_cavity_name(const ct_trajectory* file, int cavity);  // borrowed; "": none
// Four numbers for each eyelet of all cables in a frame: its place (m) and the tension of its cable (N).
CT_API ct_status ct_trajectory_read_cables(ct_trajectory* file, int frame, const double** values,
                                           ct_error* error);
CT_API const char* ct_trajectory_cable_name(const ct_trajectory* file, int cable);  // borrowed; "": none
// First eyelet of a cable; of cable ncable: how many there are.
CT_API int ct_trajectory_cable_start(const ct_trajectory* file, int cable);
// Closes and frees, whatever it returns: CT_IO when the last bytes could not be written. NULL: CT_OK.
CT_API ct_status ct_trajectory_close(ct_trajectory* file, ct_error* error);

typedef enum ct_export_format {
    CT_EXPORT_VTU,
    CT_EXPORT_OBJ,
    CT_EXPORT_USDA,
    CT_EXPORT_GLB
} ct_export_format;
// Its word in scene files and messages, "vtu", ...; NULL: not one of them.
CT_API const char* ct_export_format_name(ct_export_format format);
// The format of that name; false: there is none.
CT_API bool ct_export_format_find(const char* name, ct_export_format* format);
// Writes the frames first, first + stride, ... up to last. .vtu: one file per frame and a .pvd, beside it
// .vtp files of bones, obstacles and contacts where there are some; .obj: one surface per frame, obstacles
// included. `place` is a directory, which is created. .usda (points and normals over time) and .glb (a morph
// target for each frame): one file, `place`, with surfaces, obstacles and bones. CT_BAD_ARGUMENT when there
// are no such frames, CT_IO when a file cannot be written.
CT_API ct_status ct_trajectory_export(ct_trajectory* file, const char* place, ct_export_format format,
                                      int first, int last, int stride, ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
