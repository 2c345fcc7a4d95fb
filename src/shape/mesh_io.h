// Reading and writing mesh files: what the readers and writers of the single formats share.
//
// A reader turns bytes into calls of the builder; ct_mesh_read checks all indices once more at the end,
// so a reader may add elements before the nodes they use. A writer prints the whole mesh to a FILE.
#ifndef CT_SHAPE_MESH_IO_H
#define CT_SHAPE_MESH_IO_H

#include <stdio.h>

#include "cuttle.h"
#include "text/scan.h"

typedef struct ct_mesh_builder {
    ct_mesh* mesh;  // counts are exact, arrays have the capacities below
    size_t nvert_room, ntet_room, ntet_tag_room, ntri_room, ntri_tag_room, ntag_room, nmid_room;  // elements
    int nmid;            // tets that have nodes on their edges: none or all of them
    bool curved;         // some triangles have nodes on their edges
    int base;            // what the format counts nodes from, for messages
    bool out_of_memory;  // some call failed; the others did nothing since
} ct_mesh_builder;

// Each adds one thing; failure is remembered in out_of_memory (and too many things count as such).
void ct_mesh_builder_node(ct_mesh_builder* builder, const double x[3]);
void ct_mesh_builder_tet(ct_mesh_builder* builder, const int node[4], int tag);
// A tet of second order: corners, then the nodes on the edges 01 12 02 03 13 23.
void ct_mesh_builder_tet10(ct_mesh_builder* builder, const int node[10], int tag);
void ct_mesh_builder_tri(ct_mesh_builder* builder, const int node[3], int tag);
// A triangle of second order: only its corners are kept, the nodes on its edges belong to the tets.
void ct_mesh_builder_tri6(ct_mesh_builder* builder, const int node[3], int tag);
// A fan of triangles from the first node.
void ct_mesh_builder_polygon(ct_mesh_builder* builder, const int* node, int count, int tag);
void ct_mesh_builder_name(ct_mesh_builder* builder, int id, ct_word name);
// The id of a group that has a name only: "tag<number>" is that number, others count up from 1. "" is 0.
int ct_mesh_builder_group(ct_mesh_builder* builder, ct_word name);

// "node 17 of tet 4 is out of range": the index, as the file gives it, to 0-based; base is what the file
// counts from.
ct_status ct_mesh_node_index(const ct_scan* scan, const ct_mesh_builder* builder, int64_t value, int base,
                             int* node);

typedef struct ct_mesh_source {
    const void* bytes;
    size_t size;
    const char* file;
    const void* second;  // .ele part of TetGen
    size_t second_size;
    const char* second_file;
    ct_error* error;
} ct_mesh_source;

// Checks the indices of all elements, and that all tets are of one order; then every array exists and has its
// exact size.
ct_status ct_mesh_builder_finish(ct_mesh_builder* builder, const ct_mesh_source* source);

typedef ct_status (*ct_mesh_reader)(ct_mesh_builder* builder, const ct_mesh_source* source);
ct_status ct_mesh_read_gmsh(ct_mesh_builder* builder, const ct_mesh_source* source);
ct_status ct_mesh_read_vtk(ct_mesh_builder* builder, const ct_mesh_source* source);
ct_status ct_mesh_read_vtu(ct_mesh_builder* builder, const ct_mesh_source* source);
ct_status ct_mesh_read_tetgen(ct_mesh_builder* builder, const ct_mesh_source* source);
ct_status ct_mesh_read_medit(ct_mesh_builder* builder, const ct_mesh_source* source);
ct_status ct_mesh_read_obj(ct_mesh_builder* builder, const ct_mesh_source* source);
ct_status ct_mesh_read_stl(ct_mesh_builder* builder, const ct_mesh_source* source);
bool ct_mesh_is_binary_stl(const void* bytes, size_t size);

// Writers; failures of the stream are found by ferror at the end. `part`: 0, or 1 for the .ele of TetGen.
typedef ct_status (*ct_mesh_writer)(FILE* stream, const ct_mesh* mesh, int part);
ct_status ct_mesh_write_gmsh(FILE* stream, const ct_mesh* mesh, int part);
ct_status ct_mesh_write_vtk(FILE* stream, const ct_mesh* mesh, int part);
ct_status ct_mesh_write_vtu(FILE* stream, const ct_mesh* mesh, int part);
ct_status ct_mesh_write_tetgen(FILE* stream, const ct_mesh* mesh, int part);
ct_status ct_mesh_write_medit(FILE* stream, const ct_mesh* mesh, int part);
ct_status ct_mesh_write_obj(FILE* stream, const ct_mesh* mesh, int part);
ct_status ct_mesh_write_stl(FILE* stream, const ct_mesh* mesh, int part);

void ct_mesh_write_number(FILE* stream, double value);      // shortest decimal that reads back exactly
void ct_mesh_write_point(FILE* stream, const double x[3]);  // "x y z"
// The nodes on the edges 01 12 20 of the triangles (3 ntri), freed by ct_free, to write triangles of second
// order; *mid is NULL where the tets are linear or some edge belongs to none.
ct_status ct_mesh_write_middles(const ct_mesh* mesh, int** mid);
// " n0 n1 ...": the nodes of a tet or triangle, counted from base.
void ct_mesh_write_nodes(FILE* stream, const int* node, int count, int base);
// Name of a tag, "" when it has none; `surface`: of a tri_tag.
const char* ct_mesh_tag_name(const ct_mesh* mesh, int id, bool surface);
// The name of a group without blanks, or tag<id>.
void ct_mesh_write_group(FILE* stream, const ct_mesh* mesh, int id, bool surface);

#endif
