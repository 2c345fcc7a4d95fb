// What detection keeps: surfaces with their exclusions, trees, and scratch.
#ifndef CT_CONTACT_DETECT_DATA_H
#define CT_CONTACT_DETECT_DATA_H

#include "contact/collision.h"
#include "contact/pair.h"
#include "shape/bvh.h"

typedef struct ct_self_item {
    int kind, i, j;  // vertex and face, edge and edge, edge and face
} ct_self_item;

typedef struct ct_self {  // of one collider; see detect_self.h
    int *start, *node;    // tree nodes + 1: nodes of each part; none: no part
    int* past;            // tree nodes: behind the last one of each subtree
    int* first;           // tree nodes + 1: of the listed pairs
    bool* covered;        // tree nodes: in the present search, the list of this part covers its pairs
    int open;             // faces in no such part
    ct_self_item* item;   // pairs nearer than `distance` in the reference, by tree node
    size_t count, capacity;
    double distance;  // m, D; 0: no reference yet
    double reach;     // m, how much farther than needed pairs are listed
    int age, wait;    // searches since the last renewal, and until the next, at least
} ct_self;

// Pairs of primitives of two colliders that boxes cannot keep apart while the nodes stay within boxes of
// their own.
typedef struct ct_gathered {
    bool is_valid;
    double margin;  // m, as in ct_detect_near
    double* box;    // 6 a node of the collision: lowest, highest
    int* pair;      // 2 each: a vertex and a face, two edges, an edge and a face
    size_t count, capacity;
    struct ct_gathered_group {
        int a, b;         // colliders
        size_t start[4];  // of the three kinds, and their end
    } * group;
    size_t ngroup, group_capacity;
} ct_gathered;

typedef struct ct_detect {
    ct_arena arena;  // owns all arrays but the lists
    // Faces: the triangles, then edges of no triangle as (a,b,b), then nodes of no edge as (a,a,a): every
    // vertex is tested against every face, so that spheres and capsules need no tests of their own.
    int nface;
    int* face;                     // 3 nface
    int* face_owner;               // nface, collider
    int* node_owner;               // nvert, collider, -1: not on a surface
    int *edge_rigid, *face_rigid;  // nedge, nface
    int* edge_face;                // 2 nedge, triangles at an edge, -1: none
    int *node_start, *node_face;   // nvert + 1, 3 ntri: triangles at a node
    int* partner;                  // nvert, scratch: the pair of a vertex upon another one; -1
    int* face_edge;                // 3 ntri, edges of a triangle
    bool* closed;                  // ncollider: its triangles enclose a volume, with outward normals
    bool* driven;                  // ncollider: all of it moves as prescribed
    ct_box *node_box, *edge_box, *face_box;     // nvert, nedge, nface
    ct_bvh *node_tree, *edge_tree, *face_tree;  // ncollider each
    int nself;                                  // ncollider, once self is there
    ct_self* self;                              // nself; without parts: does not touch itself
    double* reference;                          // 3 nvert, m, X
    int *own_node, *own_edge;  // 3 nface: the nodes and edges that a face looks after, each once; -1: none
    const double* growth;  // ncollider squared: shares of the distances to keep (growth.h); NULL: all of them
    ct_gathered gathered;
    ct_pairs scratch;  // for sorting
} ct_detect;

// Two primitives, by what they hang on, cannot move against one another or only as a joint lets them.
static inline bool ct_detect_rigid(const ct_collision* collision, int a, int b) {
    if (a == CT_RIGID_NONE || b == CT_RIGID_NONE) return false;
    if (a == b) return true;
    return a >= 0 && b >= 0 && (collision->link_parent[a] == b || collision->link_parent[b] == a);
}

// Boxes and trees of a collider on its way from x to end, all widened by pad.
void ct_detect_fit(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                   const double* end, double pad);

#endif
