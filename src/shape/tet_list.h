// A growing list of tets and vertices: what the mesher's stages hand on to each other.
#ifndef CT_SHAPE_TET_LIST_H
#define CT_SHAPE_TET_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ct_tet_list {  // zero-initialised: empty
    int nvert, ntet;
    double* x;      // 3 nvert
    bool* surface;  // nvert   lies on the shape's surface
    int* tet;       // 4 ntet  positive volume
    size_t x_capacity, surface_capacity, tet_capacity;
} ct_tet_list;

int ct_tet_list_add_vertex(ct_tet_list* list, const double x[3], bool surface);  // -1: out of memory
bool ct_tet_list_add_tet(ct_tet_list* list, int a, int b, int c, int d);         // false: out of memory
void ct_tet_list_clear(ct_tet_list* list);

// Quality of a tet by its corners, 3 inradius / circumradius: 1 regular, 0 flat, negative when inverted.
double ct_tet_list_quality(const double a[3], const double b[3], const double c[3], const double d[3]);

#endif
