// Symbolic factorisation: orders the nodes, finds the supernodes, plans the fronts, cuts the elimination tree
// into parts and lays the panels out (factor_layout.h).
//
// Everything works on the graph of nodes: all 9 entries of a block are kept, so the unknowns of a node have
// the same structure and stay together.
#include <assert.h>
#include <string.h>

#include "sparse/factor_layout.h"
#include "sparse/ordering.h"

// A part holds at most 1/MAX_SHARE of the factor and at least 1/MIN_SHARE; small factors are not cut at all.
enum { MAX_SHARE = 5, MIN_SHARE = 64, UNCUT_VALUES = 200000 };

// The tree of panels, which number as the plan's own blocks do, and the share of the factor in each subtree.
typedef struct panels {
    const ct_supernodes* supernodes;
    const ct_front_plan* plan;
    int count;
    int* number;        // count: which panel comes at each place of the layout
    int* parent;        // count, -1 for roots
    double* weight;     // count: values in the subtree
    int* part;          // count: part of each panel
    int* top_position;  // n: position of a node in the top's vector, -1 elsewhere
} panels;

static const ct_front* front_of(const panels* tree, int s) {
    return &tree->plan->front[tree->plan->panel_front[s]];
}

static const ct_front_block* block_of(const panels* tree, int s) {
    const ct_front* front = front_of(tree, s);
    return &tree->plan->block[front->block + s - front->panel];
}

static int nodes_of(const panels* tree, int s) { return block_of(tree, s)->nodes; }

static int first_of(const panels* tree, int s) { return front_of(tree, s)->first + block_of(tree, s)->first; }

static int nodes_below(const panels* tree, int s) {
    const ct_front* front = front_of(tree, s);
    const ct_front_block* block = block_of(tree, s);
    return front->width + front->border - block->first - block->nodes;
}

// Position of node i below panel s: the later own nodes of its front, then those below that.
static int node_below(const panels* tree, int s, int i) {
    const ct_front* front = front_of(tree, s);
    const ct_front_block* block = block_of(tree, s);
    const int place = block->first + block->nodes + i;
    if (place < front->width) return front->first + place;
    return tree->supernodes
        ->row[tree->supernodes->start[tree->plan->panel_front[s]] + (size_t)(place - front->width)];
}

static size_t panel_values(int width, int rows) {
    size_t count = 0;
    for (int node = 0, take; node < width; node += take) {
        take = ct_chunk_nodes(width - node);
        count += 3 * (size_t)take * (size_t)(rows - ct_chunk_row(3 * node));
    }
    return count;
}

static int padded_rows(int nodes) { return (3 * nodes + CT_TILE_ROWS - 1) / CT_TILE_ROWS * CT_TILE_ROWS; }

static bool read_tree(panels* tree, const ct_supernodes* supernodes, const ct_front_plan* plan,
                      ct_arena* scratch) {
    const size_t count = (size_t)plan->npanel, n = (size_t)plan->n;
    *tree = (panels){.supernodes = supernodes, .plan = plan, .count = plan->npanel};
    tree->number = ct_arena_alloc(scratch, count, sizeof(int));
    tree->parent = ct_arena_alloc(scratch, count, sizeof(int));
    tree->weight = ct_arena_alloc(scratch, count, sizeof(double));
    tree->part = ct_arena_alloc(scratch, count, sizeof(int));
    tree->top_position = ct_arena_alloc(scratch, n, sizeof(int));
    int* owner = ct_arena_alloc(scratch, n, sizeof(int));
    if (scratch->failed) return false;
    for (int s = 0; s < tree->count; s++)
        for (int k = 0; k < nodes_of(tree, s); k++) owner[first_of(tree, s) + k] = s;
    for (int s = 0; s < tree->count; s++) {
        int width = nodes_of(tree, s), below = nodes_below(tree, s);
        tree->weight[s] += (double)panel_values(width, padded_rows(width + below));
        tree->parent[s] = below ? owner[node_below(tree, s, 0)] : -1;
        assert(tree->parent[s] < 0 || tree->parent[s] > s);
        if (below) tree->weight[tree->parent[s]] += tree->weight[s];
    }
    return true;
}

// Below the last panel of a front is a whole subtree of fronts, which is numbered without gaps. Below its
// other panels there are parts of that: children may join the front at any panel.
static bool ends_front(const panels* tree, int s) {
    return s + 1 == tree->count || tree->plan->panel_front[s + 1] != tree->plan->panel_front[s];
}

// Parts are the largest subtrees below the limit; the rest is the top. Descending order meets parents first.
static void cut_tree(panels* tree, int* npart) {
    double total = 0;
    for (int s = 0; s < tree->count; s++)
        if (tree->parent[s] < 0) total += tree->weight[s];
    double high = total < UNCUT_VALUES ? 0 : total / MAX_SHARE, low = total / MIN_SHARE;
    enum { TOP = -1, UNDECIDED = -2 };
    for (int s = tree->count - 1; s >= 0; s--) {
        int above = tree->parent[s] < 0 ? TOP : tree->part[tree->parent[s]];
        if (above != TOP) tree->part[s] = above;
        else if (tree->weight[s] <= high && tree->weight[s] >= low && ends_front(tree, s))
            tree->part[s] = s;  // a root: named by itself until the parts are numbered
        else tree->part[s] = TOP;
    }
    // number the parts in the order of their first panel
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

static bool allocate_layout(ct_symbolic* symbolic, const panels* tree) {
    ct_arena* arena = &symbolic->arena;
    size_t below = 0;
    for (int s = 0; s < tree->count; s++) below += (size_t)nodes_below(tree, s);
    symbolic->nindex = below;
    symbolic->npanel = tree->count;
    symbolic->part = ct_arena_alloc(arena, (size_t)symbolic->npart, sizeof(ct_part));
    symbolic->panel = ct_arena_alloc(arena, (size_t)tree->count, sizeof(ct_panel));
    symbolic->place = ct_arena_alloc(arena, (size_t)tree->count, sizeof(int));
    symbolic->index = ct_arena_alloc(arena, below, sizeof(int));
    symbolic->below = ct_arena_alloc(arena, below, sizeof(int));
    symbolic->node = ct_arena_alloc(arena, (size_t)symbolic->n, sizeof(int));
    symbolic->slot = ct_arena_alloc(arena, (size_t)symbolic->n, sizeof(int));
    symbolic->owner = ct_arena_alloc(arena, (size_t)symbolic->n, sizeof(int));
    symbolic->border = ct_arena_alloc(arena, below, sizeof(int));  // at most: a part's border is its root's
    return !arena->failed;
}

// Vector positions of the nodes below panel s. The border of a part is the row list of its root, sorted, and
// contains every node of the top that the part's panels reach.
static void place_rows(ct_symbolic* symbolic, const panels* tree, int s, int root, const ct_part* part,
                       int* index) {
    bool top = part == &symbolic->part[symbolic->npart - 1];
    int begin = symbolic->node[part->first_node], cursor = 0;
    for (int i = 0; i < nodes_below(tree, s); i++) {
        int node = node_below(tree, s, i);
        if (top) {
            index[i] = tree->top_position[node];
        } else if (node < begin + part->nnode) {
            index[i] = node - begin;
        } else {
            while (node_below(tree, root, cursor) < node) cursor++;
            index[i] = part->nnode + cursor;
        }
    }
}

static void lay_out_part(ct_symbolic* symbolic, const panels* tree, int p, int* nnode, int* npanel,
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
        symbolic->place[s] = *npanel;
        tree->number[(*npanel)++] = s;
        for (int k = 0; k < nodes_of(tree, s); k++) symbolic->node[(*nnode)++] = first_of(tree, s) + k;
    }
    part->npanel = *npanel - part->first_panel;
    part->nnode = *nnode - part->first_node;
    if (p < symbolic->npart - 1) {
        part->nborder = nodes_below(tree, root);
        *nborder += (size_t)part->nborder;
    }
    symbolic->nvector += (size_t)(part->nnode + part->nborder);
}

static void lay_out_panels(ct_symbolic* symbolic, const panels* tree, const ct_part* part, size_t* nindex) {
    int root = part->npanel ? tree->number[part->first_panel + part->npanel - 1] : 0, first = 0;
    for (int i = part->first_panel; i < part->first_panel + part->npanel; i++) {
        ct_panel* panel = &symbolic->panel[i];
        int s = tree->number[i];
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

static void lay_out(ct_symbolic* symbolic, panels* tree) {
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
        int root = tree->number[part->first_panel + part->npanel - 1];
        for (int i = 0; i < part->nborder; i++)
            symbolic->border[part->border + (size_t)i] = tree->top_position[node_below(tree, root, i)];
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

static ct_status build(ct_symbolic* symbolic, const ct_supernodes* supernodes, ct_arena* scratch) {
    panels tree;
    if (!read_tree(&tree, supernodes, &symbolic->plan, scratch)) return CT_OUT_OF_MEMORY;
    cut_tree(&tree, &symbolic->npart);
    if (!allocate_layout(symbolic, &tree)) return CT_OUT_OF_MEMORY;
    lay_out(symbolic, &tree);
    number_slots(symbolic);
    return CT_OK;
}

// Orders and analyses.
static ct_status analyse(ct_symbolic* symbolic, const ct_block_matrix* pattern, ct_ordering ordering,
                         ct_arena* scratch) {
    ct_graph graph;
    ct_supernodes supernodes;
    bool metis;
    int* order = ct_arena_alloc(scratch, (size_t)pattern->n, sizeof(int));
    ct_status status = ct_graph_create(&graph, scratch, pattern);
    if (status == CT_OK) status = order ? ct_graph_order(&graph, ordering, order, &metis) : CT_OUT_OF_MEMORY;
    if (status == CT_OK) status = ct_supernodes_create(&supernodes, scratch, &graph, order);
    if (status == CT_OK)
        status = ct_front_plan_create(&symbolic->plan, &symbolic->arena, &supernodes, pattern);
    if (status != CT_OK) return status;
    symbolic->ordering = metis ? "metis" : "amd";
    memcpy(symbolic->order, supernodes.order, (size_t)pattern->n * sizeof(int));
    return build(symbolic, &supernodes, scratch);
}

ct_status ct_symbolic_create(ct_symbolic** out, const ct_block_matrix* pattern, ct_ordering ordering) {
    *out = NULL;
    ct_symbolic* symbolic = ct_alloc(1, sizeof *symbolic);
    if (!symbolic) return CT_OUT_OF_MEMORY;
    ct_arena scratch = {0};
    symbolic->n = pattern->n;
    symbolic->ordering = "amd";
    symbolic->order = ct_arena_alloc(&symbolic->arena, (size_t)pattern->n, sizeof(int));
    ct_status status = symbolic->order ? CT_OK : CT_OUT_OF_MEMORY;
    if (!status && pattern->n > 0) status = analyse(symbolic, pattern, ordering, &scratch);
    ct_arena_free(&scratch);
    if (status) {
        ct_symbolic_free(symbolic);
        return status;
    }
    *out = symbolic;
    return CT_OK;
}

void ct_symbolic_free(ct_symbolic* symbolic) {
    if (!symbolic) return;
    ct_arena_free(&symbolic->arena);
    ct_free(symbolic);
}

const int* ct_symbolic_order(const ct_symbolic* symbolic) { return symbolic->order; }
const char* ct_symbolic_ordering(const ct_symbolic* symbolic) { return symbolic->ordering; }
