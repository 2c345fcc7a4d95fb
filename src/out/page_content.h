// What a page shows of a motion and all its frames share: which nodes, triangles and tets, whose they are,
// and what of actuators and curves there is.
#ifndef CT_OUT_PAGE_CONTENT_H
#define CT_OUT_PAGE_CONTENT_H

#include "out/bone.h"
#include "out/trajectory.h"

enum { CT_PAGE_FIELDS = 8 };  // most fields to colour by

// A segment of a muscle, or a piece of a slender one: a spindle along its fibres. Its middle is the mean of
// the centroids of its tets, weighted by volume and fibre weight; its half length is `half` times the mean
// stretched fibre F m.
typedef struct ct_page_segment {
    int actuator, number;   // number: among all of the model's actuation
    int ntet;               // tets
    const int* tet;         // ntet
    const double* share;    // ntet, of the mean; sum 1
    const double* fibre;    // 3 ntet, unit, at rest
    double half, radius;    // m, at rest
    int chain;              // pieces of one slender segment, in order along it, have the same; -1: whole
    int witness;            // the tet with the largest weight: its activation tells the segment's
    double witness_weight;  // of the fibre there
} ct_page_segment;

typedef struct ct_page_curve {
    const char *group, *unit;  // static
    char name[80];
} ct_page_curve;

typedef struct ct_page_content {
    ct_arena arena;         // owns every array below
    ct_trajectory* file;    // borrowed
    const ct_scene* scene;  // borrowed; NULL: not known
    ct_model* own_model;    // of the scene, where it was made for the page
    const ct_model* model;  // NULL: not known
    ct_problem* problem;    // of the scene, where it has an objective
    ct_state* state;        // scratch for measures; there with a model
    double* control;        // scratch, likewise

    int nnode, *node;  // that are shown: their numbers in the file
    int* shown;        // nvert: the number among those that are shown, -1: not shown
    int ntri, *tri;    // corners among the shown nodes
    int* owner;        // ntri: body, or nbody + obstacle
    int ntet, *tet;    // with the interior alone; corners among the shown nodes
    int* tet_body;
    int nchamber, *chamber;  // triangles around cells: corners among the shown nodes, 3 each
    int* chamber_tet;        // nchamber: a tet behind each, of the file
    ct_bone_list bones;
    int nfield;
    const ct_trajectory_field* field[CT_PAGE_FIELDS];
    int nsegment, nchain;
    ct_page_segment* segment;
    int ncurve, ncontrol;
    ct_page_curve* curve;
    double lower[3], upper[3], ground;  // ground: NAN where there is none
    char missing[4][256];               // sentences on what the page cannot show
    int nmissing;
} ct_page_content;

// def->scene is compiled where `model` is NULL. Fails as ct_page_data says.
ct_status ct_page_content_create(ct_page_content* content, ct_trajectory* file, const ct_page_def* def,
                                 const ct_model* model, ct_error* error);
void ct_page_content_free(ct_page_content* content);
// Muscles, chambers and curves of content->model; see page_actors.c. Chamber triangles are over the file's
// nodes until they are numbered. False: out of memory.
bool ct_page_find_actors(ct_page_content* content);
// Writes content->ncurve numbers of a state that is reached at `time` after `step` steps; control NULL: the
// scene's values.
void ct_page_measure(const ct_page_content* content, const ct_state* state, double time, int64_t step,
                     const double* control, double* values);
// Whether the model makes the motion of the file: its last step is taken again. False also where that cannot
// be told.
bool ct_page_repeats(const ct_trajectory* file, const ct_model* model);

#endif
