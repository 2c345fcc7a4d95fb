// Symbolic factorisation: orders the nodes, finds the supernodes (CHOLMOD), cuts the elimination tree into
// parts and lays the panels out (factor_layout.h).
//
// The node graph is ordered (AMD or METIS), the order expanded to the 3 n unknowns and handed to the
// supernodal analysis. All 9 entries of a block are kept, so the unknowns of a node have the same structure
// and stay together.
#include <assert.h>
#include <cholmod.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "sparse/factor_cholmod.h"
#include "sparse/factor_layout.h"

// CT_ORDER_AUTO tries both orderings up to this many nodes and keeps the smaller factor; above, METIS wins
// and AMD is not tried.
enum { TRY_BOTH_NODES = 40000 };
// A part holds at most 1/MAX_SHARE of the factor and at least 1/MIN_SHARE; small factors are not cut at all.
enum { MAX_SHARE = 5, MIN_SHARE = 64, UNCUT_VALUES = 200000 };

void ct_cholmod_start(cholmod_common* common) {
    cholmod_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->try_catch = 1;
    common->supernodal = CHOLMOD_SUPERNODAL;
    common->quick_return_if_not_posdef = 1;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_GIVEN;
    common->postorder = 1;
    // Supernodes as wide as the streaming solve likes them: a thin panel costs as much as the zeros that
    // widen it.
    common->nrelax[0] = 12;
    common->nrelax[1] = 24;
    common->nrelax[2] = 48;
    common->zrelax[0] = 0.4;
    common->zrelax[1] = 0.15;
    common->zrelax[2] = 0.05;
}

ct_status ct_cholmod_status(const cholmod_common* common) {
    if (common->status == CHOLMOD_OK) return CT_OK;
    if (common->status == CHOLMOD_NOT_POSDEF) return CT_SINGULAR;
    if (common->status == CHOLMOD_OUT_OF_MEMORY || common->status == CHOLMOD_TOO_LARGE)
        return CT_OUT_OF_MEMORY;
    return CT_BAD_ARGUMENT;
}

// The lower triangle over 3 n unknowns, values when they are wanted (in the column order of ct_cholmod_fill).
cholmod_sparse* ct_cholmod_pattern(const ct_block_matrix* matrix, int xtype, cholmod_common* common) {
    size_t n = (size_t)matrix->n, offdiagonal = (size_t)(matrix->start[matrix->n] - matrix->n);
    size_t nonzeros = 6 * n + 9 * offdiagonal;
    if (nonzeros > INT_MAX) {
        common->status = CHOLMOD_TOO_LARGE;
        return NULL;
    }
    cholmod_sparse* A = cholmod_allocate_sparse(3 * n, 3 * n, nonzeros, 1, 1, -1, xtype, common);
    if (!A) return NULL;
    int* start = A->p;
    int* row = A->i;
    int count = 0;
    for (int j = 0; j < matrix->n; j++)
        for (int b = 0; b < 3; b++) {
            start[3 * j + b] = count;
            for (int a = b; a < 3; a++) row[count++] = 3 * j + a;
            for (int e = matrix->start[j] + 1; e < matrix->start[j + 1]; e++)
                for (int a = 0; a < 3; a++) row[count++] = 3 * matrix->row[e] + a;
        }
    start[3 * n] = count;
    return A;
}

// Fill-reducing order of the node graph; order[k] = node at position k.
static ct_status order_nodes(const ct_block_matrix* matrix, bool metis, int* order, cholmod_common* common) {
    // the pattern is borrowed by CHOLMOD, which does not change it
    cholmod_sparse graph = {
        .nrow = (size_t)matrix->n,
        .ncol = (size_t)matrix->n,
        .nzmax = (size_t)matrix->start[matrix->n],
        .p = matrix->start,
        .i = matrix->row,
        .stype = -1,
        .itype = CHOLMOD_INT,
        .xtype = CHOLMOD_PATTERN,
        .dtype = CHOLMOD_DOUBLE,
        .sorted = 1,
        .packed = 1,
    };
    int done;
    if (metis) {
        // METIS draws from the C library's one random sequence: taking turns keeps the order reproducible
        static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&turn);
        done = cholmod_metis(&graph, NULL, 0, 0, order, common);
        pthread_mutex_unlock(&turn);
    } else {
        done = cholmod_amd(&graph, NULL, 0, order, common);
    }
    if (!done && common->status == CHOLMOD_OK) return CT_BAD_ARGUMENT;
    return ct_cholmod_status(common);
}

// Orders and analyses; keeps the result when there is none yet or when it is smaller.
static ct_status analyse(ct_symbolic* symbolic, const ct_block_matrix* matrix, bool metis,
                         cholmod_common* common) {
    size_t n = (size_t)matrix->n;
    ct_arena scratch = {0};
    int* order = ct_arena_alloc(&scratch, n, sizeof(int));
    int* unknowns = ct_arena_alloc(&scratch, 3 * n, sizeof(int));
    if (scratch.failed) {
        ct_arena_free(&scratch);
        return CT_OUT_OF_MEMORY;
    }
    ct_status status = order_nodes(matrix, metis, order, common);
    for (size_t k = 0; k < 3 * n; k++) unknowns[k] = 3 * order[k / 3] + (int)(k % 3);
    cholmod_sparse* A = status ? NULL : ct_cholmod_pattern(matrix, CHOLMOD_PATTERN, common);
    cholmod_factor* L = A ? cholmod_analyze_p(A, unknowns, NULL, 0, common) : NULL;
    if (!status) status = ct_cholmod_status(common);
    if (!status && !L) status = CT_OUT_OF_MEMORY;
    cholmod_factor* kept = symbolic->analysis;
    if (!status && (!kept || L->xsize < kept->xsize)) {
        symbolic->analysis = L;
        symbolic->flops = common->fl;
        symbolic->ordering = metis ? "metis" : "amd";
        L = kept;
    }
    cholmod_free_factor(&L, common);
    cholmod_free_sparse(&A, common);
    ct_arena_free(&scratch);
    return status;
}

// The tree of supernodes and the share of the factor in each subtree.
typedef struct supernodes {
    int count;
    const int *super, *pi, *s;  // CHOLMOD: first column, first row index, row indices
    int* parent;                // count, -1 for roots
    double* weight;             // count: values in the subtree
    int* part;                  // count: part of each supernode
    int* top_position;          // n: position of a node in the top's vector, -1 elsewhere
} supernodes;

static int nodes_below(const supernodes* tree, int s) {
    return (tree->pi[s + 1] - tree->pi[s] - (tree->super[s + 1] - tree->super[s])) / 3;
}

static int nodes_of(const supernodes* tree, int s) { return (tree->super[s + 1] - tree->super[s]) / 3; }

static size_t panel_values(int width, int rows) {
    size_t count = 0;
    for (int node = 0, take; node < width; node += take) {
        take = ct_chunk_nodes(width - node);
        count += 3 * (size_t)take * (size_t)(rows - ct_chunk_row(3 * node));
    }
    return count;
}

static int padded_rows(int nodes) { return (3 * nodes + CT_TILE_ROWS - 1) / CT_TILE_ROWS * CT_TILE_ROWS; }

static bool read_tree(supernodes* tree, const cholmod_factor* L, ct_arena* scratch) {
    int count = tree->count = (int)L->nsuper, n = (int)L->n / 3;
    tree->super = L->super;
    tree->pi = L->pi;
    tree->s = L->s;
    tree->parent = ct_arena_alloc(scratch, (size_t)count, sizeof(int));
    tree->weight = ct_arena_alloc(scratch, (size_t)count, sizeof(double));
    tree->part = ct_arena_alloc(scratch, (size_t)count, sizeof(int));
    tree->top_position = ct_arena_alloc(scratch, (size_t)n, sizeof(int));
    int* owner = ct_arena_alloc(scratch, (size_t)n, sizeof(int));
    if (scratch->failed) return false;
    for (int s = 0; s < count; s++)
        for (int k = tree->super[s] / 3; k < tree->super[s + 1] / 3; k++) owner[k] = s;
    for (int s = 0; s < count; s++) {
        int width = nodes_of(tree, s), below = nodes_below(tree, s);
        tree->weight[s] += (double)panel_values(width, padded_rows(width + below));
        tree->parent[s] = below ? owner[tree->s[tree->pi[s] + 3 * width] / 3] : -1;
        assert(tree->parent[s] < 0 || tree->parent[s] > s);
        if (below) tree->weight[tree->parent[s]] += tree->weight[s];
    }
    return true;
}

// Parts are the largest subtrees below the limit; the rest is the top. Descending order meets parents first.
static void cut_tree(supernodes* tree, int* npart) {
    double total = 0;
    for (int s = 0; s < tree->count; s++)
        if (tree->parent[s] < 0) total += tree->weight[s];
    double high = total < UNCUT_VALUES ? 0 : total / MAX_SHARE, low = total / MIN_SHARE;
    enum { TOP = -1, UNDECIDED = -2 };
    for (int s = tree->count - 1; s >= 0; s--) {
        int above = tree->parent[s] < 0 ? TOP : tree->part[tree->parent[s]];
        if (above != TOP) tree->part[s] = above;
        else if (tree->weight[s] <= high && tree->weight[s] >= low)
            tree->part[s] = s;  // a root: named by itself until the parts are numbered
        else tree->part[s] = TOP;
    }
    // number the parts in the order of their first supernode
    int count = 0;
    for (int s = 0, last = UNDECIDED; s < tree->count; s++) {
        int name = tree->part[s];
        if (name == TOP) continue;
        if (name != last) count++;
        last = name;
        tree->part[s] = count - 1;
    }
    for (int s = 0; s < tree->count; s++)
        if (tree->part[s] == TOP) tree->part[s] = count;
    *npart = count + 1;
}

static bool allocate_layout(ct_symbolic* symbolic, const supernodes* tree) {
    ct_arena* arena = &symbolic->arena;
    size_t below = 0;
    for (int s = 0; s < tree->count; s++) below += (size_t)nodes_below(tree, s);
    symbolic->nindex = below;
    symbolic->npanel = tree->count;
    symbolic->part = ct_arena_alloc(arena, (size_t)symbolic->npart, sizeof(ct_part));
    symbolic->panel = ct_arena_alloc(arena, (size_t)tree->count, sizeof(ct_panel));
    symbolic->supernode = ct_arena_alloc(arena, (size_t)tree->count, sizeof(int));
    symbolic->index = ct_arena_alloc(arena, below, sizeof(int));
    symbolic->below = ct_arena_alloc(arena, below, sizeof(int));
    symbolic->node = ct_arena_alloc(arena, (size_t)symbolic->n, sizeof(int));
    symbolic->slot = ct_arena_alloc(arena, (size_t)symbolic->n, sizeof(int));
    symbolic->owner = ct_arena_alloc(arena, (size_t)symbolic->n, sizeof(int));
    symbolic->border = ct_arena_alloc(arena, below, sizeof(int));  // at most: a part's border is its root's
    return !arena->failed;
}

// Vector positions of the nodes below supernode s. The border of a part is the row list of its root, sorted,
// and contains every node of the top that the part's panels reach.
static void place_rows(ct_symbolic* symbolic, const supernodes* tree, int s, int root, const ct_part* part,
                       int* index) {
    const int* row = tree->s + tree->pi[s] + 3 * nodes_of(tree, s);
    const int* border = tree->s + tree->pi[root] + 3 * nodes_of(tree, root);
    bool top = part == &symbolic->part[symbolic->npart - 1];
    int begin = symbolic->node[part->first_node], cursor = 0;
    for (int i = 0; i < nodes_below(tree, s); i++) {
        int node = row[3 * i] / 3;
        if (top) {
            index[i] = tree->top_position[node];
        } else if (node < begin + part->nnode) {
            index[i] = node - begin;
        } else {
            while (border[3 * cursor] / 3 < node) cursor++;
            index[i] = part->nnode + cursor;
        }
    }
}

static void lay_out_part(ct_symbolic* symbolic, const supernodes* tree, int p, int* nnode, int* npanel,
                         size_t* nborder) {
    ct_part* part = &symbolic->part[p];
    part->first_panel = *npanel;
    part->first_node = *nnode;
    part->vector = symbolic->nvector;
    part->border = *nborder;
    int root = 0;
    for (int s = 0; s < tree->count; s++) {
        if (tree->part[s] != p) continue;
        root = s;
        symbolic->supernode[(*npanel)++] = s;
        for (int k = tree->super[s] / 3; k < tree->super[s + 1] / 3; k++) symbolic->node[(*nnode)++] = k;
    }
    part->npanel = *npanel - part->first_panel;
    part->nnode = *nnode - part->first_node;
    if (p < symbolic->npart - 1) {
        part->nborder = nodes_below(tree, root);
        *nborder += (size_t)part->nborder;
    }
    symbolic->nvector += (size_t)(part->nnode + part->nborder);
}

static void lay_out_panels(ct_symbolic* symbolic, const supernodes* tree, const ct_part* part,
                           size_t* nindex) {
    int root = part->npanel ? symbolic->supernode[part->first_panel + part->npanel - 1] : 0, first = 0;
    for (int i = part->first_panel; i < part->first_panel + part->npanel; i++) {
        ct_panel* panel = &symbolic->panel[i];
        int s = symbolic->supernode[i];
        panel->first = first;
        panel->width = nodes_of(tree, s);
        panel->border = nodes_below(tree, s);
        panel->rows = padded_rows(panel->width + panel->border);
        panel->index = *nindex;
        panel->tile = symbolic->nvalue;
        place_rows(symbolic, tree, s, root, part, symbolic->index + panel->index);
        first += panel->width;
        *nindex += (size_t)panel->border;
        symbolic->nvalue += panel_values(panel->width, panel->rows);
        if (panel->rows > symbolic->max_rows) symbolic->max_rows = panel->rows;
    }
}

static void lay_out(ct_symbolic* symbolic, supernodes* tree) {
    int nnode = 0, npanel = 0;
    size_t nborder = 0, nindex = 0;
    for (int p = 0; p < symbolic->npart; p++) lay_out_part(symbolic, tree, p, &nnode, &npanel, &nborder);
    const ct_part* top = &symbolic->part[symbolic->npart - 1];
    for (int k = 0; k < symbolic->n; k++) tree->top_position[k] = -1;
    for (int k = 0; k < top->nnode; k++) tree->top_position[symbolic->node[top->first_node + k]] = k;
    for (int p = 0; p < symbolic->npart; p++) {
        const ct_part* part = &symbolic->part[p];
        lay_out_panels(symbolic, tree, part, &nindex);
        if (part == top) break;
        int root = symbolic->supernode[part->first_panel + part->npanel - 1];
        const int* row = tree->s + tree->pi[root] + 3 * nodes_of(tree, root);
        for (int i = 0; i < part->nborder; i++)
            symbolic->border[part->border + (size_t)i] = tree->top_position[row[3 * i] / 3];
    }
}

// Slots of all nodes and of the nodes below each panel; each panel's parent.
static void number_slots(ct_symbolic* symbolic) {
    const ct_part* top = &symbolic->part[symbolic->npart - 1];
    for (int k = 0; k < symbolic->n; k++) symbolic->slot[symbolic->node[k]] = k;
    for (int p = 0; p < symbolic->npart; p++) {
        const ct_part* part = &symbolic->part[p];
        const int* border = symbolic->border + part->border;
        for (int i = part->first_panel; i < part->first_panel + part->npanel; i++) {
            ct_panel* panel = &symbolic->panel[i];
            panel->slot = part->first_node + panel->first;
            for (int k = 0; k < panel->width; k++) symbolic->owner[panel->slot + k] = i;
            for (int k = 0; k < panel->border; k++) {
                int position = symbolic->index[panel->index + (size_t)k];
                bool own = position < part->nnode;
                symbolic->below[panel->index + (size_t)k] =
                    own ? part->first_node + position : top->first_node + border[position - part->nnode];
            }
        }
    }
    for (int i = 0; i < symbolic->npanel; i++) {
        ct_panel* panel = &symbolic->panel[i];
        panel->parent = panel->border ? symbolic->owner[symbolic->below[panel->index]] : -1;
        assert(panel->parent < 0 || panel->parent > i);
    }
}

// The three unknowns of a node must be consecutive and in order, and supernodes must not split a node.
static bool read_order(ct_symbolic* symbolic, const cholmod_factor* L) {
    const int* permutation = L->Perm;
    const int* super = L->super;
    for (int k = 0; k < symbolic->n; k++) {
        symbolic->order[k] = permutation[3 * k] / 3;
        for (int a = 0; a < 3; a++)
            if (permutation[3 * k + a] != 3 * symbolic->order[k] + a) return false;
    }
    for (size_t s = 0; s <= L->nsuper; s++)
        if (super[s] % 3) return false;
    return true;
}

static ct_status build(ct_symbolic* symbolic) {
    const cholmod_factor* L = symbolic->analysis;
    bool whole_nodes = read_order(symbolic, L);
    assert(whole_nodes && "CHOLMOD separated the unknowns of a node");
    if (!whole_nodes) return CT_UNSUPPORTED;
    ct_arena scratch = {0};
    supernodes tree;
    ct_status status = CT_OUT_OF_MEMORY;
    if (read_tree(&tree, L, &scratch)) {
        cut_tree(&tree, &symbolic->npart);
        if (allocate_layout(symbolic, &tree)) {
            lay_out(symbolic, &tree);
            number_slots(symbolic);
            status = CT_OK;
        }
    }
    ct_arena_free(&scratch);
    return status;
}

ct_status ct_symbolic_create(ct_symbolic** out, const ct_block_matrix* pattern, ct_ordering ordering) {
    *out = NULL;
    ct_symbolic* symbolic = ct_alloc(1, sizeof *symbolic);
    if (!symbolic) return CT_OUT_OF_MEMORY;
    symbolic->n = pattern->n;
    symbolic->ordering = "amd";
    symbolic->order = ct_arena_alloc(&symbolic->arena, (size_t)pattern->n, sizeof(int));
    ct_status status = symbolic->order ? CT_OK : CT_OUT_OF_MEMORY;
    if (!status && pattern->n > 0) {
        cholmod_common common;
        ct_cholmod_start(&common);
        bool amd = ordering == CT_ORDER_AMD || (ordering == CT_ORDER_AUTO && pattern->n <= TRY_BOTH_NODES);
        if (amd) status = analyse(symbolic, pattern, false, &common);
        if (!status && ordering != CT_ORDER_AMD) status = analyse(symbolic, pattern, true, &common);
        cholmod_finish(&common);
        if (!status) status = build(symbolic);
    }
    if (status) {
        ct_symbolic_free(symbolic);
        return status;
    }
    *out = symbolic;
    return CT_OK;
}

void ct_symbolic_free(ct_symbolic* symbolic) {
    if (!symbolic) return;
    if (symbolic->analysis) {
        cholmod_common common;
        ct_cholmod_start(&common);
        cholmod_factor* L = symbolic->analysis;
        cholmod_free_factor(&L, &common);
        cholmod_finish(&common);
    }
    ct_arena_free(&symbolic->arena);
    ct_free(symbolic);
}

const int* ct_symbolic_order(const ct_symbolic* symbolic) { return symbolic->order; }
const char* ct_symbolic_ordering(const ct_symbolic* symbolic) { return symbolic->ordering; }
