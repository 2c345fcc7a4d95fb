// Meshes: nodes, tets and triangles, from files or from numbers
//
// A mesh of tets becomes a solid body, one of triangles a thin sheet or an obstacle.
//
//     ct_mesh* mesh = NULL;
//     ct_mesh_report report;
//     if (ct_mesh_load(&mesh, "arm.msh", CT_MESH_AUTO, &error)) ...    // as it is in the file
//     ct_mesh_repair(mesh);
//     if (ct_mesh_check(mesh, &report, &error)) ...                    // what keeps it from being simulated
//     ct_mesh_free(mesh);
#ifndef CUTTLE_MESH_H
#define CUTTLE_MESH_H

#include "cuttle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_tag {
    int id;         // value found in tet_tag / tri_tag
    char name[60];  // physical name, "" when the file gives none
} ct_tag;

typedef struct ct_mesh {  // open: read freely; create and free only through the functions below
    int nvert, ntet, ntri, ntag;
    double* x;     // 3 nvert   positions, m
    int* tet;      // 4 ntet    nodes of each tet
    int* tri;      // 3 ntri    triangles given by the file (surface, sheet, obstacle)
    int* tet_tag;  // ntet      physical tag, 0 when none
    int* tri_tag;  // ntri
    ct_tag* tag;   // ntag      names of the tags
    // 6 ntet: nodes between the corners 01 12 02 03 13 23 of tets of second order; NULL: linear tets
    int* mid;
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
// Its word in scene files and messages, "auto", ...; NULL: not one of them.
CT_API const char* ct_mesh_format_name(ct_mesh_format format);
// The format of that name; false: there is none.
CT_API bool ct_mesh_format_find(const char* name, ct_mesh_format* format);

// What ct_mesh_check measured.
typedef struct ct_mesh_report {
    double volume;  // m^3, sum over tets
    double area;    // m^2, boundary surface
    double lower[3], upper[3];
    double min_dihedral, max_dihedral;  // degrees, over all tets
    double min_quality;                 // 1 = regular tet, 0 = degenerate; 3 * inradius / circumradius
    int worst_tet;                      // index of min_quality, -1 when there is no tet
    int sliver_count;                   // tets with quality < 0.1
    int surface_tri_count;              // boundary triangles of the tets
    int component_count;                // connected components
    bool closed_surface;                // the triangles (or the tets' boundary) form a closed 2-manifold
} ct_mesh_report;

// A mesh of copies of these arrays: x 3 nvert, tet 4 ntet, tri 3 ntri; an array of none may be NULL. All tags
// are 0. CT_BAD_ARGUMENT when a count is negative, an array is missing or an index is out of range.
CT_API ct_status ct_mesh_create(ct_mesh** out, int nvert, const double* x, int ntet, const int* tet, int ntri,
                                const int* tri, ct_error* error);
// Makes linear tets tets of second order: a node more in the middle of every edge, behind the others.
// CT_BAD_ARGUMENT when there are no tets.
CT_API ct_status ct_mesh_raise(ct_mesh* mesh);
// Makes the tets those of second order with the mesh's nodes mid (6 ntet, as in ct_mesh) on their edges.
// CT_BAD_ARGUMENT when there are no tets or an index is out of range.
CT_API ct_status ct_mesh_set_middles(ct_mesh* mesh, const int* mid);
// A copy of all arrays and tags. CT_BAD_ARGUMENT when `mesh` is NULL.
CT_API ct_status ct_mesh_copy(ct_mesh** out, const ct_mesh* mesh, ct_error* error);
CT_API void ct_mesh_free(ct_mesh* mesh);  // NULL: does nothing
// Reads a mesh as it is in the file: it may still be one that cannot be simulated. CT_IO when the file cannot
// be read, CT_BAD_FILE with the line for syntax errors, NaN and indices out of range, CT_UNSUPPORTED for what
// the format has and Cuttle has not.
CT_API ct_status ct_mesh_load(ct_mesh** out, const char* path, ct_mesh_format format, ct_error* error);
// The same from memory; `second`/`second_size` is the .ele part of TetGen, otherwise NULL/0.
CT_API ct_status ct_mesh_read(ct_mesh** out, const void* bytes, size_t size, const void* second,
                              size_t second_size, ct_mesh_format format, ct_error* error);
// Writes by extension: .msh (4.1 ASCII), .vtk, .vtu, .mesh, .obj, .stl, .node (+ .ele). The file appears when
// it is complete: after a failure an earlier one is as it was. CT_UNSUPPORTED for another extension, CT_IO
// when it cannot be written.
CT_API ct_status ct_mesh_save(const ct_mesh* mesh, const char* path, ct_error* error);
// Checks that the tets (or, without tets, the triangles) can be simulated: inverted or degenerate
// elements, unused or duplicate nodes, non-manifold surface: CT_BAD_MESH names the element and a remedy.
// report NULL: not wanted; after a failure it holds what was measured until then.
CT_API ct_status ct_mesh_check(const ct_mesh* mesh, ct_mesh_report* report, ct_error* error);
// Repairs what can be repaired without guessing: drops unused nodes and elements that use a node twice, flips
// inverted tets, in place. Returns the count of changes; 0 where `mesh` is NULL or has an index out of range.
CT_API int ct_mesh_repair(ct_mesh* mesh);
// Boundary triangles of the tets, outward, as node indices, four for a face of second order; *tri (3 *ntri)
// is the caller's, freed by ct_free.
CT_API ct_status ct_mesh_surface(const ct_mesh* mesh, int** tri, int* ntri, ct_error* error);
CT_API void ct_free(void* memory);  // what this library handed over as a plain array; NULL: does nothing

// Mass (kg), centre and inertia about it (xx yy zz xy xz yz, kg m^2) of the tets or, without tets, of the
// inside of a closed surface, exactly. density: kg/m^3, above 0. CT_BAD_MESH when there is nothing to weigh:
// no elements, a surface that is open or turned inside out.
CT_API ct_status ct_mesh_mass(const ct_mesh* mesh, double density, double* mass, double center[3],
                              double inertia[6], ct_error* error);

// Structured box [0, size], cells[i] cells along axis i, 6 tets per cell. CT_BAD_ARGUMENT unless all sizes
// are above 0 and all cells 1 or more.
CT_API ct_status ct_mesh_box(ct_mesh** out, const double size[3], const int cells[3], ct_error* error);
// Structured rectangle [0, size] in the plane z = 0, 2 triangles per cell, alternating diagonals; as the box.
CT_API ct_status ct_mesh_sheet(ct_mesh** out, const double size[2], const int cells[2], ct_error* error);

#ifdef __cplusplus
}
#endif
#endif
