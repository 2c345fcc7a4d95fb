// What detection keeps: surfaces with their exclusions, trees, and scratch.
#ifndef CT_CONTACT_DETECT_DATA_H
#define CT_CONTACT_DETECT_DATA_H

#include "contact/broad.h"
#include "contact/collision.h"
#include "contact/pair.h"
#include "math/mat3.h"
#include "shape/bvh.h"
#include "shape/key_map.h"

// of the distance: how much farther a pair may be and still be called near
#define CT_DETECT_NEAR_SLACK 1e-3

typedef enum ct_candidate_kind {
    CT_CANDIDATE_VERTEX_FACE,
    CT_CANDIDATE_EDGES,
    CT_CANDIDATE_EDGE_FACE,
    CT_CANDIDATE_KINDS
} ct_candidate_kind;

typedef struct ct_candidate {
    int i, j;
    float n[3];  // of length 1, from the second to the first
    float gap;   // m, what it kept them apart by where the list was made
} ct_candidate;

typedef struct ct_candidates {  // of two colliders, a <= b
    int a, b;
    bool crossed;  // edges and faces are listed too
    bool looked;   // they have been looked up without a list
    struct {
        ct_candidate* item;
        size_t count, capacity;
    } of[CT_CANDIDATE_KINDS];
} ct_candidates;

typedef struct ct_room_frame {  // of a collider: what is at R (X - center) + its mean is seen at X
    bool is_set;
    bool swift;  // there are no rooms: its lists are those of each motion
    ct_mat3 R;
    ct_vec3 center;  // m, mean of X
    double way;      // m^2, sum of the squares
    double size;     // m, of the largest room
    // m, of the last way that was asked for: how far the collider is from X at its start and its end, and how
    // far nodes are from where they would then be
    ct_vec3 shift[2];
    double moved;
} ct_room_frame;

typedef struct ct_room_motion {  // of a collider without rooms
    ct_box start;                // where it begins
    ct_vec3 way;                 // m, mean of the ways of its nodes
    double stray;                // m, how far from there they are
} ct_room_motion;

typedef enum ct_fitted {
    CT_FITTED_NONE,
    CT_FITTED_WORLD,   // rooms in the world
    CT_FITTED_OWN,     // rooms in its own frame
    CT_FITTED_MOTION,  // the present motion
    CT_FITTED_END      // where the present motion ends, for what crosses
} ct_fitted;

typedef struct ct_face_way {
    ct_vec3 mean;   // m, of the ways of its nodes
    double spread;  // m, how far from there they may be
} ct_face_way;

// Where nodes may be for the lists to hold, in the world or in frames of the colliders' own; see
// detect_lists.h.
typedef struct ct_rooms {
    double *X, *way, *end;  // 3 nvert, m: where they were, a way from there, X + way
    double* reach;          // nvert, m: how far they may be from that way
    ct_face_way* face;      // nface
    ct_room_frame* frame;   // ncollider
} ct_rooms;

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
    ct_box *node_box, *edge_box, *face_box;  // nvert, nedge, nface
    // ncollider each; those of nodes and edges are up to date where someone has made them so
    ct_bvh *node_tree, *edge_tree, *face_tree;
    int *own_node, *own_edge;  // 3 nface: the nodes and edges that a face looks after, each once; -1: none
    const double* growth;      // ncollider: shares of the distances to keep (growth.h); NULL: all of them
    ct_rooms rooms[2];         // in the world; in the colliders' own frames
    double* own_reach;         // ncollider, m, of rooms in its own frame
    double margin, reach;      // m, of the lists; of rooms in the world
    ct_room_motion* motion;    // ncollider
    double* relative;     // 3 nvert, m, scratch: ends of a motion, less what two colliders have in common
    bool is_set;          // the lists hold in the rooms
    bool* meshed;         // ncollider: it has nodes, planes have none
    bool* moved;          // ncollider, scratch
    int* fitted;          // ncollider: which rooms the boxes are those of, counted from 1; 0: none
    ct_box* bound;        // ncollider: of the rooms in the world
    ct_key_map list_of;   // of two colliders: index into list
    ct_candidates* list;  // nlist
    size_t nlist, list_capacity;
    ct_broad broad;    // which lists are made anew
    long gathered;     // how often a list was made anew
    ct_pairs scratch;  // for sorting
} ct_detect;

// Two primitives, by what they hang on, cannot move against one another or only as a joint lets them.
static inline bool ct_detect_rigid(const ct_collision* collision, int a, int b) {
    if (a == CT_RIGID_NONE || b == CT_RIGID_NONE) return false;
    if (a == b) return true;
    return a >= 0 && b >= 0 && (collision->link_parent[a] == b || collision->link_parent[b] == a);
}

// Two primitives have a node in common.
static inline bool ct_detect_have_common(const int* a, int na, const int* b, int nb) {
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++)
            if (a[i] == b[j]) return true;
    return false;
}

// Boxes of a collider on its way from x to end, and the tree of its faces; boxes of nodes are widened by pad
// and by their reach (nvert, NULL: none).
void ct_detect_fit(ct_detect* detect, const ct_collision* collision, int collider, const double* x,
                   const double* end, const double* reach, double pad);

#endif
