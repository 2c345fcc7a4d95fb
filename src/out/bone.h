// The bones of skeletons, to be drawn: solids of revolution from a link's joint to the joints below it.
//
// A link without links below it reaches to the far end of its nodes and masses; one with several has a spine
// through its nodes, from which struts lead to the joints. Hinges are pins along their axes, balls and free
// joints are balls, a prismatic or helical joint has a rail from where it would rest to where it is.
#ifndef CT_OUT_BONE_H
#define CT_OUT_BONE_H

#include "base/memory.h"
#include "out/skin.h"

typedef struct ct_bone {
    int link;
    double from[3], to[3];  // rest, m; equal: a lump
} ct_bone;

typedef struct ct_bone_list {
    int count;
    ct_bone* bone;
    int flesh;        // nodes of elements; points of links' own masses come behind them
    double* base;     // 3 nlink: where the link is joined to its parent, rest
    double radius;    // m, of a typical bone
    double thinnest;  // m, of any bone
    // m, of joints; 0: bones too short to tell their joints apart, only those to the world are drawn
    double joint;
} ct_bone_list;

// `size`: extent of the scene, m; bones are never too thin to be seen in a picture of it. Memory from the
// arena.
void ct_bone_list_create(ct_bone_list* list, ct_arena* arena, const ct_trajectory* file, double size);
// m, of a bone's shaft.
double ct_bone_radius(const ct_bone_list* list, const ct_bone* bone);
// A point of a link at its pose (12 numbers).
void ct_bone_place(const double* pose, const double rest[3], double out[3]);
// Appends the solids to the skin (its arrays are made anew) at the poses (12 nlink).
void ct_bone_dress(ct_skin* skin, ct_arena* arena, const ct_bone_list* list, const ct_trajectory* file,
                   const double* poses);
// Appends cables: thin rods with a bead at each eyelet; at: 4 neyelet, as ct_trajectory_read_cables.
void ct_bone_cables(ct_skin* skin, ct_arena* arena, const ct_trajectory* file, const double* at,
                    double radius);

#endif
