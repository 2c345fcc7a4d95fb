// Which features of two surfaces make a contact, and on which side: the rules behind ct_detect_near and
// ct_detect_hits.
//
// n is the direction to the other primitive, of length 1, and an edge or vertex *stands out* along n when the
// surface around it falls back from the plane across n: when all faces at the edge, all edges at the vertex
// have n.u < -STANDS_OUT, with u the unit vector away from the feature, in the face and across the edge, or
// along the edge. What does not stand out is not a feature of its own in ct_detect_near: where the surface
// rises, something else is nearer; where it is level, to within STANDS_OUT, the face or edge there gives the
// same gap with a normal that stays true when the point slides. So a vertex level with an edge that stands
// out is that edge, and what is level with a face is that face; its foot may then lie a little beside the
// face (BESIDE).
//
// Where surfaces are nearer than half the core distance, which no accepted state is, the direction says
// nothing (surfaces placed exactly upon one another). There the outward normals of colliders that enclose a
// volume decide.
#ifndef CT_CONTACT_DETECT_FEATURES_H
#define CT_CONTACT_DETECT_FEATURES_H

#include "contact/detect_data.h"
#include "shape/closest.h"

typedef struct ct_search {
    const ct_collision* collision;
    ct_detect* detect;
    const double *x, *end;   // 3 nvert
    bool hits;               // the rule of ct_detect_hits; otherwise that of ct_detect_near
    double margin;           // m, of near
    double tolerance;        // of hits
    double thickness, core;  // m, of the two colliders at present
    double need;             // m, pairs of theirs that stay farther apart are not wanted
    ct_mat3 turn;            // of the directions in their list
    ct_pairs* out;
} ct_search;

// Where a node is at a time of the motion.
static inline ct_vec3 ct_search_at(const ct_search* s, int node, double time) {
    const ct_vec3 x = ct_vec3_load(s->x + 3 * (size_t)node);
    return time == 0 ? x : ct_vec3_axpy(x, time, ct_vec3_sub(ct_vec3_load(s->end + 3 * (size_t)node), x));
}

// The sign of a pair, as in ct_pair; node: of the two edges.
double ct_feature_face_sign(const ct_search* s, int face, int vertex, double time);
double ct_feature_edge_sign(const ct_search* s, const int edge[2], const int node[4], double time);

bool ct_feature_edge_stands_out(const ct_search* s, int edge, ct_vec3 n, double time);

// What a vertex is paired with.
typedef struct ct_feature {
    ct_contact_type type;  // VERTEX_FACE, POINT_EDGE, POINT_POINT
    int face;              // VERTEX_FACE
    int node[2];           // of the edge, or the other point
} ct_feature;

// What the vertex node[0] is paired with, given what is closest of a face with nodes node[1..3] when the four
// are at `at`; false: with nothing here.
bool ct_feature_of_vertex(const ct_search* s, int face, const int node[4], double time, const ct_vec3 at[4],
                          const ct_closest* closest, ct_feature* out);

// Leaves of a sorted list what says something new, each looked at where it was typed: one face for each place
// that a vertex touches, one contact of two vertices upon one another that have a face of the other's surface
// each (that of the lower node), and no edges and corners of faces that the vertex touches. scratch: has room
// for the list.
void ct_feature_drop_repeated(const ct_search* s, ct_pairs* scratch, ct_pairs* list);

#endif
