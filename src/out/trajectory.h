// Trajectory files from plain arrays: what ct_trajectory_create and ct_trajectory_append rest on.
//
// Layout (HDF5, readable by ParaView 5.12 and later as a time series with fixed connectivity):
//   /VTKHDF                     attributes Version [2,0], Type "UnstructuredGrid"
//     NumberOfPoints, NumberOfCells, NumberOfConnectivityIds [1], Connectivity, Offsets [ncell+1], Types
//     [ncell]                   cells: the tets of 4 or 10 nodes, then the triangles of sheets
//     Points [nframe nvert, 3]                            double
//     PointData/velocity [.., 3] double, displacement [.., 3] float; with contact ContactForce [.., 3] float
//     CellData/stress, energy, volume [nframe ncell] float; body, tag [ncell] int, the same in all frames
//     Steps                     attribute NSteps: the number of complete frames, written last
//       Values [nframe] s, NumberOfParts (1), PartOffsets, CellOffsets, ConnectivityIdOffsets (0),
//       PointOffsets, PointDataOffsets/*, CellDataOffsets/*: rows before the frame; equal columns are one
//       array under several names
//   /Cuttle                     attributes: names, version, settings, camera
//     Rest [nvert,3], Tets [ntet,4], with tets of second order TetMiddles [ntet,6] (-1: linear), Surface
//     [nsurface,3], TetBody, TetTag [ntet], BodyColor [nbody,3], BodyName SurfaceOwner [nsurface]   body, or
//     nbody + obstacle Tris [ntri,3], TriBody, TriTag [ntri]: sheets, where there are some SceneText the
//     scene file as it was Frames [nframe] step index, solver report, hash of the state State [2, bytes] the
//     state of frame k in row k mod 2: exact continuation after a kill Link*, JointCoordinates, LinkPoses:
//     skeletons, where there are some; see trajectory_links.c Obstacle*, Contacts/*: see
//     trajectory_contacts.c; Cavities: see trajectory_cavities.c; Cable*: see trajectory_cables.c Checks:
//     see trajectory_check.c
//
// Compressed files: Points and velocity are float, displacement is left out (it follows from Points and
// Rest), other floats are rounded to 13 bits; what a frame has of an array, where that is not small, is one
// chunk, shuffled and deflated. Contacts, joints and the like are as ever, and so is the state.
#ifndef CT_OUT_TRAJECTORY_H
#define CT_OUT_TRAJECTORY_H

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "cuttle.h"
#include "out/hdf.h"

// Of the /Cuttle group; compressed files, which earlier readers refuse, have the second.
#define CT_TRAJECTORY_FORMAT 1
#define CT_TRAJECTORY_FORMAT_COMPRESSED 2

typedef struct ct_trajectory_def {  // all borrowed
    ct_trajectory_info info;        // nframe, start and stop are ignored
    int frames;                     // as many are to come; 0: not known
    const double* rest;             // 3 nvert
    const int* tet;                 // 4 ntet
    const int* mid;                 // 6 ntet, of tets of second order, -1: linear; NULL: all are
    const int* surface;             // 3 nsurface
    const int* tet_body;            // ntet
    const int* tet_tag;             // ntet, NULL: 0
    const double* body_color;       // 3 nbody
    const char* const* body_name;   // nbody, NULL: none
    const char* scene_text;         // NULL: none
    size_t scene_text_size;
    size_t state_size;                 // bytes of a state block, 0: frames carry none
    const ct_link_info* link;          // nlink
    const int* tri;                    // 3 ntri
    const int* tri_body;               // ntri
    const int* tri_tag;                // ntri, NULL: 0
    const int* surface_owner;          // nsurface, NULL: the bodies of the tets and sheets
    const ct_obstacle_info* obstacle;  // nobstacle
    const char* const* cavity_name;    // ncavity
    const char* const* cable_name;     // ncable
    const int* cable_start;            // ncable + 1, first eyelet of each
} ct_trajectory_def;

typedef struct ct_trajectory_sample {  // one frame; all borrowed
    double time;
    int64_t step;
    const double* x;               // 3 nvert
    const double* v;               // 3 nvert
    const double* stress;          // ntet + ntri, Pa
    const double* energy;          // ntet + ntri, J/m^3
    const double* volume;          // ntet + ntri, det F
    const double* activation;      // ntet + ntri, of muscles and cells
    const void* state;             // state_size bytes
    const ct_step_report* report;  // NULL: none
    const double* coordinates;     // ncoordinate
    const double* poses;           // 12 nlink
    const double* obstacle_poses;  // 6 nobstacle
    const double* cavities;        // 2 ncavity: volume, pressure
    const double* cables;          // 4 neyelet: place, tension
    const double* contact_force;   // 3 nvert, N; NULL: zero
    const ct_contact* contact;     // ncontact
    int ncontact;
} ct_trajectory_sample;

typedef enum ct_trajectory_array {
    CT_ARRAY_POINTS,
    CT_ARRAY_VELOCITY,
    CT_ARRAY_DISPLACEMENT,
    CT_ARRAY_STRESS,
    CT_ARRAY_ENERGY,
    CT_ARRAY_VOLUME,
    CT_ARRAY_TIME,
    CT_ARRAY_PARTS,
    CT_ARRAY_ZERO,
    CT_ARRAY_POINT_OFFSET,
    CT_ARRAY_CELL_OFFSET,
    CT_ARRAY_FRAMES,
    CT_ARRAY_COORDINATES,
    CT_ARRAY_POSES,           // in files with links alone
    CT_ARRAY_OBSTACLE_POSES,  // with obstacles
    CT_ARRAY_CONTACT_FORCE,
    CT_ARRAY_CONTACT_OFFSET,
    CT_ARRAY_CONTACT_COUNT,  // with contact
    CT_ARRAY_ACTIVATION,     // with muscles or chambers
    CT_ARRAY_CAVITIES,       // with cavities
    CT_ARRAY_CABLES,         // with cables
    CT_ARRAY_COUNT
} ct_trajectory_array;

// A field of frames that can be read by name and drawn.
typedef struct ct_trajectory_field {
    const char* name;
    ct_trajectory_array array;
    const char *title, *unit;  // how its numbers are shown
    bool prefixed;             // the unit may carry k, M, m ...
} ct_trajectory_field;
extern const ct_trajectory_field ct_trajectory_fields[];  // ends with a name NULL

typedef enum ct_array_unit {
    CT_PER_FRAME,
    CT_PER_NODE,
    CT_PER_CELL,
    CT_PER_COORDINATE,
    CT_PER_LINK,
    CT_PER_OBSTACLE,
    CT_PER_CAVITY,
    CT_PER_EYELET
} ct_array_unit;
typedef enum ct_array_type { CT_TYPE_DOUBLE, CT_TYPE_FLOAT, CT_TYPE_INTEGER, CT_TYPE_RECORD } ct_array_type;
typedef struct ct_array_layout {
    const char* path;
    int columns;         // 0: one dimension
    ct_array_unit unit;  // rows a frame
    ct_array_type type;
} ct_array_layout;
extern const ct_array_layout ct_trajectory_layout[CT_ARRAY_COUNT];

enum { CT_CONTACT_COLUMNS = 9 };  // arrays of the contacts themselves, of all frames one after the other

typedef struct ct_frame_record {  // one row of /Cuttle/Frames
    int64_t step;
    int32_t converged, substeps, iterations, solves, gradients, hessian_products, line_searches, refactors,
        inverted;
    int32_t unused;  // 0; fills the hole before the doubles, which goes into the file with the rest
    double residual, reference, seconds;
    uint64_t state_hash;
} ct_frame_record;

typedef struct ct_field_range {  // of a colour field over the whole motion
    char name[16];               // "" when not known yet
    double low, high;
} ct_field_range;

struct ct_trajectory {
    hid_t file;  // -1 when closed
    hid_t record_type;
    hid_t steps;  // /VTKHDF/Steps, which carries NSteps
    hid_t state_array;
    hid_t array[CT_ARRAY_COUNT];
    bool deflated[CT_ARRAY_COUNT];                                  // each frame is one deflated chunk
    hid_t contact_column[CT_CONTACT_COLUMNS];                       // in files with contact
    hid_t checks;                                                   // -1 in files without checksums
    int ncheck, check_column[CT_ARRAY_COUNT + CT_CONTACT_COLUMNS];  // -1: not checked
    int check_frame;  // whose checksums the next are, -1: of the frame that is being written
    uint64_t* check;  // ncheck
    bool writable;
    bool no_memory;  // writing failed for want of memory
    char* path;
    char* scene_text;  // once it was asked for; owned
    ct_trajectory_info info;
    ct_arena arena;  // the arrays below
    double* rest;
    int* tet;
    int* mid;  // 6 ntet, -1: the tet is linear; NULL: all are
    int* surface;
    int* tet_body;
    int* tet_tag;
    double* body_color;
    ct_link_info* link;   // nlink
    double* coordinates;  // ncoordinate, of the frame whose links were last read
    double* poses;        // 12 nlink
    int* tri;
    int* tri_body;
    int* tri_tag;
    int* surface_owner;          // nsurface
    const char** body_name;      // nbody
    ct_obstacle_info* obstacle;  // nobstacle
    double* obstacle_poses;      // 6 nobstacle, of the frame last read
    const char** cavity_name;    // ncavity
    double* cavities;            // 2 ncavity, of the frame last read
    const char** cable_name;     // ncable
    int* cable_start;            // ncable + 1
    double* cables;              // 4 neyelet, of the frame last read
    bool* obstacle_far;          // nobstacle: too large for a picture to show whole; known with the bounds
    ct_contact* contact;         // of the frame last read; grows, owned
    size_t contact_capacity;
    void* column;  // room for one column of contacts; grows, owned
    size_t column_capacity;
    double* x;      // 3 nvert   frame last read
    double* v;      // 3 nvert
    double* field;  // max(3 nvert, ntet + ntri)  field last read
    float* narrow;  // the same, for writing
    size_t state_size;
    int bounds_frames;  // number of frames the two below were made for, 0: none
    double lower[3], upper[3];
    ct_field_range range[9];  // of the colour fields, then an empty one; the last: contact forces
};

ct_status ct_trajectory_create_arrays(ct_trajectory** out, const char* path, const ct_trajectory_def* def,
                                      ct_error* error);
ct_status ct_trajectory_append_sample(ct_trajectory* file, const ct_trajectory_sample* sample,
                                      ct_error* error);
// What a frame of the file has of a state; memory from the arena, the rest borrowed from state and report.
ct_status ct_trajectory_gather(const ct_trajectory* file, const ct_model* model, const ct_state* state,
                               const ct_step_report* report, ct_arena* arena, ct_trajectory_sample* out);
// Opens for appending; the arrays of `def` must be those in the file. `state` receives def->state_size bytes.
ct_status ct_trajectory_resume_arrays(ct_trajectory** out, const char* path, const ct_trajectory_def* def,
                                      void* state, ct_error* error);
// Reads positions, velocities and the report of a frame; x or v or record may be NULL.
ct_status ct_trajectory_read_into(ct_trajectory* file, int frame, double* x, double* v, double* time,
                                  ct_frame_record* record, ct_error* error);
ct_status ct_trajectory_read_links_into(ct_trajectory* file, int frame, double* coordinates, double* poses,
                                        ct_error* error);
// The links of `def` into the group /Cuttle, and out of it; a file without them has none.
bool ct_trajectory_write_links(ct_trajectory* file, hid_t group, const ct_trajectory_def* def);
ct_status ct_trajectory_open_links(ct_trajectory* file, hid_t group, ct_error* error);
// Obstacles and contacts; see trajectory_contacts.c. Opening comes after the bodies are known, reopening when
// the arrays are open.
bool ct_trajectory_write_obstacles(ct_trajectory* file, hid_t group, const ct_trajectory_def* def);
ct_status ct_trajectory_open_obstacles(ct_trajectory* file, hid_t group, ct_error* error);
bool ct_trajectory_create_contacts(ct_trajectory* file);
bool ct_trajectory_open_contacts(ct_trajectory* file);
ct_status ct_trajectory_count_contacts(ct_trajectory* file, ct_error* error);
bool ct_trajectory_write_contacts(ct_trajectory* file, const ct_trajectory_sample* sample);
ct_status ct_trajectory_read_obstacles_into(ct_trajectory* file, int frame, double* poses, ct_error* error);
// Cavities; see trajectory_cavities.c.
bool ct_trajectory_write_cavities(hid_t group, const ct_trajectory_def* def);
ct_status ct_trajectory_open_cavities(ct_trajectory* file, hid_t group, ct_error* error);
// Cables; see trajectory_cables.c.
bool ct_trajectory_write_cables(hid_t group, const ct_trajectory_def* def);
ct_status ct_trajectory_open_cables(ct_trajectory* file, hid_t group, ct_error* error);
// The nodes of a cell, tets first, and how many they are: 4 or 10 of a tet, 3 of a triangle.
static inline int ct_trajectory_cell(const int* tet, const int* mid, int ntet, const int* tri, size_t cell,
                                     int node[10]) {
    const bool solid = cell < (size_t)ntet, second = solid && mid && mid[6 * cell] >= 0;
    if (solid) memcpy(node, tet + 4 * cell, 4 * sizeof(int));
    else memcpy(node, tri + 3 * (cell - (size_t)ntet), 3 * sizeof(int));
    if (second) memcpy(node + 4, mid + 6 * cell, 6 * sizeof(int));
    return second ? 10 : solid ? 4 : 3;
}
// The type of a VTK cell with so many nodes: quadratic tet, tet, triangle.
static inline uint8_t ct_trajectory_vtk_type(int nnode) { return nnode == 10 ? 24 : nnode == 4 ? 10 : 5; }
// CT_BAD_ARGUMENT when there is no such frame.
static inline ct_status ct_trajectory_check_frame(const ct_trajectory* file, int frame, ct_error* error) {
    if (frame >= 0 && frame < file->info.nframe) return CT_OK;
    return ct_fail_at(error, CT_BAD_ARGUMENT, file->path, 0,
                      "there is no frame %d: the file holds %d, counted from 0", frame, file->info.nframe);
}
// Rows that a frame takes, and whether this file has the array at all.
size_t ct_trajectory_rows(const ct_trajectory_info* info, ct_trajectory_array array);
bool ct_trajectory_has(const ct_trajectory_info* info, ct_trajectory_array array);
// Opening shared by readers and resumers.
ct_status ct_trajectory_open_mode(ct_trajectory** out, const char* path, bool writable, ct_error* error);
void ct_trajectory_discard(ct_trajectory* file);  // closes without a word and frees
hid_t ct_trajectory_record_type(void);            // the caller closes it
hid_t ct_trajectory_file_type(const ct_trajectory* file, ct_array_type type);           // borrowed
hid_t ct_trajectory_stored_type(const ct_trajectory* file, ct_trajectory_array array);  // borrowed
hid_t ct_trajectory_native_type(const ct_trajectory* file, ct_array_type type);

// Checksums; see trajectory_check.c. A slot is an array or, from CT_ARRAY_COUNT on, a column of contacts.
bool ct_trajectory_create_checks(ct_trajectory* file);
bool ct_trajectory_open_checks(ct_trajectory* file, int64_t* nframe);  // shortens nframe to what is covered
void ct_trajectory_note(ct_trajectory* file, int slot, const void* values, size_t size);
bool ct_trajectory_write_checks(ct_trajectory* file);  // after all else of the frame was noted
bool ct_trajectory_verify(ct_trajectory* file, int slot, int frame, const void* values, size_t size);
// What a frame has of an array, in its native type: written behind the last frame, and read with its check.
bool ct_trajectory_put(ct_trajectory* file, ct_trajectory_array array, const void* values);
ct_status ct_trajectory_get(ct_trajectory* file, ct_trajectory_array array, int frame, void* values,
                            ct_error* error);
// A fixed array of /Cuttle: int32, double or text of the file's type.
ct_status ct_trajectory_get_fixed(const ct_trajectory* file, hid_t group, const char* name, hid_t file_type,
                                  size_t count, void* values, ct_error* error);
ct_status ct_trajectory_fail_frame(const ct_trajectory* file, int frame, const char* what, ct_error* error);
ct_status ct_trajectory_fail_array(const ct_trajectory* file, const char* what, ct_error* error);

#endif
