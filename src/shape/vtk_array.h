// Typed arrays and cells as the two VTK formats (legacy .vtk and XML .vtu) store them.
#ifndef CT_SHAPE_VTK_ARRAY_H
#define CT_SHAPE_VTK_ARRAY_H

#include "shape/mesh_io.h"

typedef enum ct_vtk_type {
    CT_VTK_UNKNOWN,
    CT_VTK_INT8,
    CT_VTK_UINT8,
    CT_VTK_INT16,
    CT_VTK_UINT16,
    CT_VTK_INT32,
    CT_VTK_UINT32,
    CT_VTK_INT64,
    CT_VTK_UINT64,
    CT_VTK_FLOAT32,
    CT_VTK_FLOAT64
} ct_vtk_type;

ct_vtk_type ct_vtk_type_of(ct_word name);   // "Float64", "double", "vtktypeint64", ...
size_t ct_vtk_type_size(ct_vtk_type type);  // bytes, 0 when unknown
// Element i of an array in memory; `swap`: it has the other byte order.
double ct_vtk_real(ct_vtk_type type, const char* bytes, size_t i, bool swap);
// false: it is no integer that fits 64 bits.
bool ct_vtk_integer(ct_vtk_type type, const char* bytes, size_t i, bool swap, int64_t* value);

// Cells: cell i has the nodes connectivity[offset[i] .. offset[i + 1]).
typedef struct ct_vtk_cells {
    int64_t* connectivity;
    int64_t* offset;  // ncell + 1
    int64_t* type;    // ncell, VTK cell types
    int64_t* tag;     // ncell, NULL: none
    size_t ncell, nconnectivity;
} ct_vtk_cells;

void ct_vtk_cells_free(ct_vtk_cells* cells);
// Adds the tets and triangles; node indices are shifted by first_node. Other solid cells are errors.
ct_status ct_vtk_cells_build(const ct_vtk_cells* cells, ct_mesh_builder* builder, int first_node,
                             ct_scan* scan);
// Cell i of a mesh as it is written, tets first: its VTK type, and the line of its nodes.
// tri_mid: of ct_mesh_write_middles.
int ct_vtk_cell_type(const ct_mesh* mesh, const int* tri_mid, int i);
void ct_vtk_write_cell(FILE* stream, const ct_mesh* mesh, const int* tri_mid, int i);
// Whether an array of cell data of this name holds tags.
bool ct_vtk_is_tag(ct_word name);

#endif
