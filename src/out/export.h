// Parts of exported frames that are files, or faces, of their own.
#ifndef CT_OUT_EXPORT_H
#define CT_OUT_EXPORT_H

#include <stdio.h>

#include "out/obstacle.h"
#include "out/picture.h"
#include "out/trajectory.h"

// %.17g, whatever the user's language has for a point
static inline const char* ct_export_number(char text[40], double value) {
    snprintf(text, 40, "%.17g", value);
    for (char* p = text; *p; p++)
        if (*p == ',') *p = '.';
    return text;
}
// The surface of a frame, then its obstacles: spheres and capsules as triangles, planes as discs around the
// scene. Memory from the arena.
ct_status ct_export_skin(ct_trajectory* file, ct_arena* arena, int frame, ct_skin* skin, double* time,
                         ct_error* error);
// .vtp
ct_status ct_export_obstacles(ct_trajectory* file, ct_arena* arena, int frame, const char* path,
                              ct_error* error);
// .vtp
ct_status ct_export_contacts(ct_trajectory* file, int frame, const char* path, ct_error* error);

#endif
