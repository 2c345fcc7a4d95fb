// Many right-hand sides at once: the kernels and the scratch behind ct_factor_solve_many and
// ct_factor_columns.
//
// Up to 24 right-hand sides, the lanes, form a group: 1 to 3 vectors of 8 floats. Their vector holds 3 rows a
// slot and one lane after the other in a row, so that a value of the factor is read once and meets the whole
// group. Lanes never mix, and sums run in the order of the factor: a lane's bits depend neither on its group
// nor on the threads.
#ifndef CT_SPARSE_FACTOR_MANY_H
#define CT_SPARSE_FACTOR_MANY_H

#include "sparse/factor_layout.h"

enum { CT_MANY_VECTORS = 3, CT_MANY_LANES = 8 * CT_MANY_VECTORS, CT_MANY_NODES = CT_MANY_LANES / 3 };

// One group's sweep; `lanes` is 8 times the kernels' vectors.
typedef struct ct_many_sweep {
    const int* below;    // ct_symbolic.below
    const void* tile;    // ct_factor.tile
    const float* pivot;  // ct_factor.pivot
    float* vector;       // 3 n lanes
    float* rows;         // max_rows lanes: scratch
} ct_many_sweep;

typedef struct ct_many_kernels {
    // t = W b1, where b1 is zero before node `begin`; border += t2. kept NULL: own <- D^-2 t1; else kept <-
    // D^-1 t1.
    void (*forward)(const ct_many_sweep* sweep, const ct_panel* panel, int begin, float* kept);
    // own <- W^T (own, border); empty: own counts as zero, whatever it holds.
    void (*backward)(const ct_many_sweep* sweep, const ct_panel* panel, bool empty);
} ct_many_kernels;

typedef struct ct_many_set {
    ct_many_kernels kernels[2][CT_MANY_VECTORS];  // by precision and vectors - 1
    // sum += left^T right, `count` rows of CT_MANY_LANES; sum by left's lanes
    void (*gram)(int count, const float* left, const float* right, float* sum);
} ct_many_set;

const ct_many_set* ct_many_set_for(ct_isa isa);

// A power of two near the largest of `count` entries; 1 when there is none.
double ct_factor_unit(const double* b, size_t count);

// A panel on the way of a group to the root.
typedef struct ct_many_visit {
    int panel;
    int begin;    // first own node that is not zero; width: all are
    size_t kept;  // where D^-1 t1 lies in the kept floats
} ct_many_visit;

typedef struct ct_many_group {
    int first, count;  // nodes, in the sorted list
    int nvisit;
    size_t visit;  // first of its visits
} ct_many_group;

// A list of nodes, sorted and cut into groups.
typedef struct ct_many_list {
    int count, ngroup;
    int *slot, *place;  // count: ascending slots, and where each stands in the caller's list
    ct_many_group* group;
    ct_many_visit* visit;
    size_t nvisit;
    double path;                           // values of the panels that the groups visit, summed
    double rows;                           // kept rows, summed
    size_t slots, places, groups, visits;  // capacities
} ct_many_list;

// Scratch; grows to a high-water mark.
typedef struct ct_factor_many {
    ct_many_list list[2];   // columns, rows
    int* mark;              // npanel
    int* tally;             // n + 1
    size_t marks, tallies;  // capacities
    ct_arena arena, kept_arena;
    int nworker;    // vectors there are
    float* vector;  // nworker vectors of 3 n CT_MANY_LANES
    // nworker npart of max_rows CT_MANY_LANES: every part of every group has its own
    float* rows;
    int* begin;  // nworker of npanel
    float* kept;
    size_t kept_capacity;  // floats
} ct_factor_many;

// The work's scratch with vectors for `nworker` sweeps side by side; NULL: out of memory.
ct_factor_many* ct_factor_many_reserve(ct_factor_work* work, const ct_symbolic* symbolic, int nworker);

// The sweep of one worker.
ct_many_sweep ct_many_sweep_of(const ct_factor* factor, const ct_factor_many* many, int worker);
// Scratch for rows number `task` < nworker npart.
float* ct_many_rows_of(const ct_factor* factor, const ct_factor_many* many, int task);

#endif
