// How a factorisation by fronts (fronts.h) goes: sizes, places in memory, tasks. It depends on the pattern
// alone.
//
// The front of a supernode holds its columns and those of the nodes below it, lower triangle only, in blocks
// of columns: own ones, each of which becomes a panel of the factor, then those that are left for the parent.
// A block of columns that begins at node c holds the rows from c on, column-major. Everything is counted in
// entries of nodes: times 9 for matrices of 3x3 blocks.
//
// Fronts ascend towards the root. Steps are taken one after the other: a batch of tasks (runs of fronts,
// whole subtrees) that may run side by side, or one front that is large enough to be shared. Where each front
// is made and what it leaves is put is fixed here, on a stack for each task and for the steps: children come
// before their parent, the last one on top.
#ifndef CT_SPARSE_FRONTS_PLAN_H
#define CT_SPARSE_FRONTS_PLAN_H

#include "sparse/supernodes.h"

enum { CT_PANEL_NODES = 64 };  // columns of nodes in a block at most

typedef struct ct_front_block {
    int first, nodes;  // columns, in the front
    size_t offset;     // from the beginning of the front
} ct_front_block;

// Nodes from ... of what a child leaves are at to ... in its parent's front.
typedef struct ct_front_run {
    int from, to, nodes;
} ct_front_run;

typedef struct ct_front {
    int first;                // position of its first own node
    int width, border;        // own nodes, nodes below
    int child, nchild;        // ct_front_plan.child
    int run, nrun;            // ct_front_plan.run: into the parent
    int block, nown, nblock;  // ct_front_plan.block: own ones first
    int panel;                // number of its first own block among all fronts' own blocks
    size_t at, left;          // where it is made, and what it leaves lies
} ct_front;

typedef struct ct_front_task {
    int first, end;  // fronts
    double flops;
} ct_front_task;

// A batch of tasks, or, without tasks, a front.
typedef struct ct_front_step {
    int front;
    int task, ntask;
} ct_front_step;

// A block of the matrix.
typedef struct ct_front_source {
    unsigned block : 31, flip : 1;  // which; transposed
    int column;                     // in the matrix
    int row;                        // in the front
} ct_front_source;

typedef struct ct_front_plan {
    int n, count, npanel;
    ct_front* front;
    int* child;
    ct_front_run* run;
    ct_front_block* block;
    int* panel_front;  // npanel: whose own block it is
    size_t* entry;     // n + 1: blocks of the matrix in each column of the factor
    ct_front_source* source;
    int nstep;
    ct_front_step* step;
    ct_front_task* task;
    size_t room;   // entries of all fronts that are there at a time
    double flops;  // of a factorisation with 3 unknowns per node
} ct_front_plan;

// Arrays live in the arena. The supernodes belong to the matrix's pattern.
ct_status ct_front_plan_create(ct_front_plan* out, ct_arena* arena, const ct_supernodes* supernodes,
                               const ct_block_matrix* matrix);

#endif
