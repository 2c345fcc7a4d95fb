// The triangles around a hollow of a body, or of a closed sheet.
#ifndef CT_SCENE_CAVITY_SURFACE_H
#define CT_SCENE_CAVITY_SURFACE_H

#include "base/memory.h"
#include "cuttle.h"

// Triangles of the mesh's boundary (of a sheet: of the sheet) with the tag `tag`, or, when it is -1, of the
// smallest component that winds around `seed`; normals point out of the enclosed volume. *tri (3 *ntri nodes)
// lives in the arena; *ntri is 0 when there is no such surface.
ct_status ct_cavity_surface(const ct_mesh* mesh, int tag, const double seed[3], ct_arena* arena, int** tri,
                            int* ntri);

#endif
