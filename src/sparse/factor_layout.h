// How a factor lies in memory: shared by the symbolic analysis, the numeric factorisation and the sweep
// kernels.
//
// With S A S = Lu D^2 Lu^T (S: powers of two that bring the diagonal near 1, Lu: unit lower triangular) a
// supernode of k columns and m rows below them is kept as the panel
//     W = [inv(Lu11); -Lu21 inv(Lu11)]      (k + m) x k, dimensionless, so that it fits half precision
// and A^-1 b = S W1^T ... Wp^T D^-2 Wp ... W1 S b. The unknowns of a node stay together: k and m are
// multiples of 3.
//
// Panel: rows padded to a multiple of 8 with zeros; columns cut into chunks of 1 to 4 nodes; a chunk that
// begins at column c holds the rows from c rounded down to a multiple of 8 (above them inv(Lu11) is zero), in
// groups of 8 rows, column by column. Both sweeps read it as one stream.
//
// Parts: independent subtrees of the elimination tree and, last, the top, which holds everything else. Each
// part has a vector of its own, 4 floats a node (the fourth is zero): first its own nodes in factor order,
// then its border, the nodes of the top that its panels reach. The cut depends on the tree only, never on the
// number of threads.
//
// Slots number the own nodes of all parts, part after part: one vector for the whole factor, used where many
// right-hand sides are solved at once (factor_many.h). Panels ascend towards the root.
#ifndef CT_SPARSE_FACTOR_LAYOUT_H
#define CT_SPARSE_FACTOR_LAYOUT_H

#include "base/cpu.h"
#include "sparse/factor.h"
#include "sparse/fronts_plan.h"

enum { CT_TILE_ROWS = 8, CT_CHUNK_NODES = 4 };

typedef struct ct_panel {
    int first;     // first own node, in the part's vector
    int width;     // own nodes, k / 3
    int border;    // nodes below, m / 3
    int rows;      // 3 (width + border) rounded up to a multiple of CT_TILE_ROWS
    int slot;      // of the first own node
    int parent;    // the panel that owns the first node below; -1: a root
    size_t index;  // where the part's vector positions of the nodes below begin in ct_symbolic.index
    size_t tile;   // first value, counted in values
} ct_panel;

typedef struct ct_part {
    int first_panel, npanel;
    int first_node, nnode;  // own nodes: ct_symbolic.node[first_node ...]
    int nborder;            // nodes of the top that it reaches
    size_t border;          // where their positions in the top's vector begin in ct_symbolic.border
    size_t vector;          // offset of its vector in the work, in nodes
} ct_part;

struct ct_symbolic {
    ct_arena arena;
    const char* ordering;
    int n;       // nodes
    int* order;  // n: block row at each factor position
    int npart;   // the last one is the top
    ct_part* part;
    int npanel;
    ct_panel* panel;  // part after part
    int* place;       // npanel: panel of each own block of the plan
    int* index;       // positions in the part's vector of the nodes below each panel
    int* below;       // slots of the nodes below each panel, as index
    int* node;        // n: factor position of each own node, part after part
    int* slot;        // n: slot of each factor position
    int* owner;       // n: panel of each slot
    int* border;      // positions in the top's vector, part after part
    size_t nindex;
    size_t nvalue;   // values of all panels
    size_t nvector;  // nodes of all vectors
    int max_rows;    // of any panel
    ct_front_plan plan;
};

typedef struct ct_factor_values {
    ct_precision precision;
    void* tile;     // nvalue floats or halves, 64-byte aligned
    float* pivot;   // 4 n: D^-2 of each own node, part after part; the fourth is zero
    double* scale;  // n: S of each own node, part after part
    ct_arena arena;
} ct_factor_values;

struct ct_factor {
    const ct_symbolic* symbolic;
    ct_isa isa;
    bool ready;  // holds values
    ct_factor_values values;
};

struct ct_factor_work {
    ct_arena arena;
    float* vector;  // 4 nvector: the parts' vectors
    float* rows;    // npart * row_stride: scratch of each part's sweep
    size_t row_stride;
    struct ct_factor_many* many;  // factor_many.h; made when first needed
    // of updates, made when first needed
    double* room;  // 9 plan.room: fronts
    double* unit;  // n: S by the matrix's rows
    ct_arena update_arena;
    ct_factor_values spare;  // what the next update writes, if the factor's own values must stay until then
};

// One part's sweep.
typedef struct ct_sweep {
    const ct_panel* panel;
    int npanel;
    const int* index;    // ct_symbolic.index
    const void* tile;    // ct_factor.tile
    const float* pivot;  // of the part
    float* vector;       // of the part
    float* rows;         // max_rows + CT_TILE_ROWS scratch
} ct_sweep;

typedef struct ct_factor_kernels {
    void (*forward)(const ct_sweep* sweep);   // own <- D^-2 W b and border += W b, panels ascending
    void (*backward)(const ct_sweep* sweep);  // own <- W^T (own, border), panels descending
    // The same for one panel in pieces that may run side by side: rows (multiples of CT_TILE_ROWS) of W b
    // into the scratch, then own and border; (own, border) into the scratch, then the chunks that begin at
    // nodes [begin, end).
    void (*forward_rows)(const ct_sweep* sweep, const ct_panel* panel, int begin, int end);
    void (*forward_scatter)(const ct_sweep* sweep, const ct_panel* panel);
    void (*backward_gather)(const ct_sweep* sweep, const ct_panel* panel);
    void (*backward_columns)(const ct_sweep* sweep, const ct_panel* panel, int begin, int end);
    // Fills a panel's chunks that begin at nodes [begin, end) from W, column-major with `stride` rows a
    // column.
    void (*pack)(const ct_panel* panel, const double* W, size_t stride, int begin, int end, void* tile);
    // Sum of `count` floats (a multiple of 256): what reading alone costs.
    float (*stream)(const float* from, size_t count);
} ct_factor_kernels;

// Memory for values; false: out of memory.
bool ct_factor_values_create(ct_factor_values* out, const ct_symbolic* symbolic, ct_precision precision);

// For the precision on the instruction set.
const ct_factor_kernels* ct_factor_kernels_for(ct_isa isa, ct_precision precision);

// Nodes in the next chunk of a panel with `left` nodes to go: even shares rather than a thin last chunk.
static inline int ct_chunk_nodes(int left) {
    if (left >= 2 * CT_CHUNK_NODES) return CT_CHUNK_NODES;
    return left > CT_CHUNK_NODES ? (left + 1) / 2 : left;
}

// First row of the chunk that begins at `column`.
static inline int ct_chunk_row(int column) { return column & ~(CT_TILE_ROWS - 1); }

#endif
