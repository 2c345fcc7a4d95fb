// Meshes inside the library: construction limits, adjacency, and measures of a single element.
//
// A mesh is the open struct ct_mesh of cuttle.h. Two entries of `tag` may carry the same id when a file
// names a volume group and a surface group alike; the volume's entry then comes first.
// Element arrays hold `width` node indices an element: 4 a tet, 3 a triangle. All functions here take
// indices that are in range.
#ifndef CT_SHAPE_MESH_H
#define CT_SHAPE_MESH_H

#include "cuttle.h"
#include "text/scan.h"

#define CT_MESH_MAX_COUNT CT_SCAN_MAX_COUNT  // nodes, tets or triangles

// The four faces of a tet with positive volume, outward; face i is opposite node i.
extern const int ct_tet_face[4][3];

// One edge of a triangle surface.
typedef struct ct_mesh_edge {
    int node[2];   // node[0] < node[1]
    int tri[2];    // first two triangles at the edge, tri[1] = -1 at a border
    int ntri;      // how many triangles meet here; 1: border, 2: manifold, more: non-manifold
    bool opposed;  // the two triangles run along the edge in opposite senses (consistent orientation)
} ct_mesh_edge;

// Where two tets cannot both be right; tet[0] = -1 when nowhere.
typedef struct ct_mesh_face_fault {
    int tet[3];   // two or three tets at one face; tet[2] = -1: two tets on the same side of it
    int node[3];  // the face
} ct_mesh_face_fault;

// neighbor (4 ntet): the tet across face i of each tet, -1 at the boundary. `fault` may be NULL.
ct_status ct_mesh_neighbors(int nvert, int ntet, const int* tet, int* neighbor, ct_mesh_face_fault* fault);
// Outward boundary triangles in the order of the tets; tri_tet (nullable) gets the tet of each. Freed by
// ct_free.
ct_status ct_mesh_boundary(int nvert, int ntet, const int* tet, int** tri, int** tri_tet, int* ntri);
// The same from the result of ct_mesh_neighbors.
ct_status ct_mesh_boundary_of(int ntet, const int* tet, const int* neighbor, int** tri, int** tri_tet,
                              int* ntri);
// Cuts the faces of tets of second order, given by their corners, into four triangles each; tri_tet: the tet
// of each.
ct_status ct_mesh_cut_surface(const ct_mesh* mesh, const int* tri_tet, int** tri, int* ntri);
// The nodes of second order on the edges 01 12 20 of the mesh's triangles (3 ntri), -1 where no tet has that
// edge. Freed by ct_free.
ct_status ct_mesh_tri_middles(const ct_mesh* mesh, int** mid);
// The distinct edges of triangles, sorted by node[0], then node[1]. Freed by ct_free.
ct_status ct_mesh_edges(int nvert, int ntri, const int* tri, ct_mesh_edge** edge, int* nedge);
// Elements at each node: list[start[v] .. start[v+1]), ascending. Freed by ct_free.
ct_status ct_mesh_incidence(int nvert, int width, int count, const int* element, int** start, int** list);
// component (nvert): 0, 1, ... in the order of the lowest node, -1 for nodes of no element; returns how many.
int ct_mesh_components(int nvert, int width, int count, const int* element, int* component);

double ct_tet_volume(const double* x, const int tet[4]);        // m^3, signed
double ct_tet_longest_edge(const double* x, const int tet[4]);  // m
double ct_tet_quality(const double* x, const int tet[4]);       // 3 inradius / circumradius, 0 when inverted
void ct_tet_dihedral(const double* x, const int tet[4], double* least, double* greatest);  // degrees
double ct_tri_area(const double* x, const int tri[3]);                                     // m^2

#endif
