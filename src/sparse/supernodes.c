// Elimination tree, column counts, supernodes; see supernodes.h.
#include "sparse/supernodes.h"

#include <stdlib.h>
#include <string.h>

// A supernode of up to ALWAYS nodes is merged with its parent; a larger one, up to UPTO nodes together, when
// the share of zeros stays below the one that goes with its size.
enum { ALWAYS = 4 };
static const struct {
    int upto;
    double zeros;
} allowed[] = {{8, 0.4}, {16, 0.15}, {1 << 30, 0.05}};

typedef struct analysis {
    const ct_graph* graph;
    int n;
    int* order;          // n: node at each position, after each stage
    int* position;       // n: its inverse
    int* parent;         // n: elimination tree
    int* count;          // n: rows of each column, the diagonal included
    int *a, *b, *c, *d;  // n + 1 each: scratch
    // maximal supernodes, then groups of them; a group goes by its last supernode
    int nsuper;
    int* super;     // n + 1: first column
    int* above;     // nsuper: parent
    int* group;     // nsuper: the supernode it is merged with, or itself
    int* width;     // nsuper: columns
    double* zeros;  // nsuper
} analysis;

static bool allocate(analysis* t, ct_arena* scratch, const ct_graph* graph, const int* order) {
    const size_t n = (size_t)graph->n;
    *t = (analysis){.graph = graph, .n = graph->n};
    int** arrays[] = {&t->position, &t->parent, &t->count, &t->a,     &t->b,    &t->c,
                      &t->d,        &t->super,  &t->above, &t->group, &t->width};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        *arrays[i] = ct_arena_alloc(scratch, n + 1, sizeof(int));
    t->zeros = ct_arena_alloc(scratch, n + 1, sizeof(double));
    t->order = ct_arena_copy(scratch, order, n, sizeof(int));
    return !scratch->failed;
}

// ---- tree and counts -----------------------------------------------------------------------

static void invert_order(analysis* t) {
    for (int k = 0; k < t->n; k++) t->position[t->order[k]] = k;
}

// parent(i) = the first k > i whose row reaches i; paths are shortened as they are walked.
static void find_tree(analysis* t) {
    int* ancestor = t->a;
    for (int k = 0; k < t->n; k++) {
        const int node = t->order[k];
        t->parent[k] = ancestor[k] = -1;
        for (int e = t->graph->start[node]; e < t->graph->start[node + 1]; e++)
            for (int i = t->position[t->graph->row[e]], next; i >= 0 && i < k; i = next) {
                next = ancestor[i];
                ancestor[i] = k;
                if (next < 0) t->parent[i] = k;
            }
    }
}

// post[new] = old. head, next, stack: scratch; nodes hang on `count` of them.
static void postorder(int count, const int* parent, int* head, int* next, int* stack, int* post) {
    int end = 0;
    for (int k = 0; k < count; k++) head[k] = -1;
    for (int k = count - 1; k >= 0; k--)
        if (parent[k] >= 0) next[k] = head[parent[k]], head[parent[k]] = k;
    for (int root = 0; root < count; root++) {
        if (parent[root] >= 0) continue;
        int top = 0;
        stack[top++] = root;
        while (top) {
            const int k = stack[top - 1], child = head[k];
            if (child >= 0) {
                head[k] = next[child];
                stack[top++] = child;
            } else {
                post[end++] = k;
                top--;
            }
        }
    }
}

// Renumbers the columns so that subtrees are contiguous.
static void put_in_postorder(analysis* t) {
    int *post = t->d, *renumbered = t->a, *order = t->b;
    postorder(t->n, t->parent, t->a, t->b, t->c, post);
    for (int k = 0; k < t->n; k++) renumbered[post[k]] = k;
    int* parent = t->c;
    for (int k = 0; k < t->n; k++) {
        const int above = t->parent[post[k]];
        parent[k] = above < 0 ? -1 : renumbered[above];
        order[k] = t->order[post[k]];
    }
    memcpy(t->parent, parent, (size_t)t->n * sizeof(int));
    memcpy(t->order, order, (size_t)t->n * sizeof(int));
    invert_order(t);
}

static int find_root(int* ancestor, int k) {
    int root = k;
    while (ancestor[root] != root) root = ancestor[root];
    for (int next; ancestor[k] != root; k = next) next = ancestor[k], ancestor[k] = root;
    return root;
}

// Row i of L is a subtree with root i; a column's count is a sum over its subtree of: +1 per leaf of a row's
// subtree, -1 where two of its leaves meet, -1 for every child, whose diagonal drops out.
static void count_rows(analysis* t) {
    int *first = t->a, *last_leaf = t->b, *ancestor = t->c, *count = t->count;
    for (int k = 0; k < t->n; k++) first[k] = last_leaf[k] = -1, ancestor[k] = k;
    for (int k = 0; k < t->n; k++) {
        count[k] = first[k] < 0;
        for (int j = k; j >= 0 && first[j] < 0; j = t->parent[j]) first[j] = k;
    }
    for (int j = 0; j < t->n; j++) {
        if (t->parent[j] >= 0) count[t->parent[j]]--;
        const int node = t->order[j];
        for (int e = t->graph->start[node]; e < t->graph->start[node + 1]; e++) {
            const int i = t->position[t->graph->row[e]], before = i > j ? last_leaf[i] : j;
            if (i < j || before >= first[j]) continue;  // j is no leaf of row i: the last one is below it
            count[j]++;
            if (before >= 0) count[find_root(ancestor, before)]--;
            last_leaf[i] = j;
        }
        if (t->parent[j] >= 0) ancestor[j] = t->parent[j];
    }
    for (int j = 0; j < t->n; j++)
        if (t->parent[j] >= 0) count[t->parent[j]] += count[j];
}

// ---- supernodes ----------------------------------------------------------------------------

static void find_supernodes(analysis* t) {
    int* owner = t->a;
    t->nsuper = 0;
    for (int j = 0; j < t->n; j++) {
        if (j == 0 || t->parent[j - 1] != j || t->count[j - 1] != t->count[j] + 1) t->super[t->nsuper++] = j;
        owner[j] = t->nsuper - 1;
    }
    t->super[t->nsuper] = t->n;
    for (int s = 0; s < t->nsuper; s++) {
        const int above = t->parent[t->super[s + 1] - 1];
        t->above[s] = above < 0 ? -1 : owner[above];
        t->width[s] = t->super[s + 1] - t->super[s];
        t->group[s] = s;
        t->zeros[s] = 0;
    }
}

// Rows below the last column.
static int border_of(const analysis* t, int s) { return t->count[t->super[s + 1] - 1] - 1; }

static double entries(double width, double border) { return width * (width + 1) / 2 + width * border; }

static bool is_worth_merging(int width, double zeros, double total) {
    if (width <= ALWAYS) return true;
    size_t size = 0;
    while (width > allowed[size].upto) size++;
    return zeros < allowed[size].zeros * total;
}

// Merges child c, a group, with supernode p where that is worth its zeros.
static void try_merge(analysis* t, int c, int p) {
    const int width = t->width[c] + t->width[p], border = border_of(t, p);
    const double added = (double)t->width[c] * (t->width[p] + border - border_of(t, c));
    const double zeros = t->zeros[c] + t->zeros[p] + added;
    if (!is_worth_merging(width, zeros, entries(width, border))) return;
    t->group[c] = p;
    t->width[p] = width;
    t->zeros[p] = zeros;
}

static void merge_supernodes(analysis* t) {
    int *head = t->a, *next = t->b;
    for (int s = 0; s < t->nsuper; s++) head[s] = -1;
    for (int s = 0; s < t->nsuper; s++) {
        for (int c = head[s]; c >= 0; c = next[c]) try_merge(t, c, s);
        if (t->above[s] >= 0) next[s] = head[t->above[s]], head[t->above[s]] = s;
    }
    // a parent comes after its children: descending order meets the final group first
    for (int s = t->nsuper - 1; s >= 0; s--) t->group[s] = t->group[t->group[s]];
}

static ct_status analyse(analysis* t, ct_arena* scratch, const ct_graph* graph, const int* order) {
    if (!allocate(t, scratch, graph, order)) return CT_OUT_OF_MEMORY;
    invert_order(t);
    find_tree(t);
    put_in_postorder(t);
    count_rows(t);
    find_supernodes(t);
    merge_supernodes(t);
    return CT_OK;
}

ct_status ct_supernodes_size(const ct_graph* graph, const int* order, double* size) {
    ct_arena scratch = {0};
    analysis t;
    ct_status status = analyse(&t, &scratch, graph, order);
    *size = 0;
    for (int s = 0; status == CT_OK && s < t.nsuper; s++)
        if (t.group[s] == s) *size += entries(t.width[s], border_of(&t, s));
    ct_arena_free(&scratch);
    return status;
}

// ---- the final order -----------------------------------------------------------------------

typedef struct child {
    double excess;  // room needed beyond what is left
    int group;
} child;

static int compare_children(const void* a, const void* b) {
    const child *left = a, *right = b;
    if (left->excess != right->excess) return left->excess > right->excess ? -1 : 1;
    return left->group < right->group ? -1 : left->group > right->group;
}

// Groups by parent: those of parent p at list[start[p + 1] ... start[p + 2]), the roots at start[0].
typedef struct forest {
    int *start, *list;
    double* peak;  // of each group: room for its subtree, in entries
    child* child;  // scratch
} forest;

static bool allocate_forest(forest* f, ct_arena* scratch, int count) {
    f->start = ct_arena_alloc(scratch, (size_t)count + 3, sizeof(int));
    f->list = ct_arena_alloc(scratch, (size_t)count, sizeof(int));
    f->peak = ct_arena_alloc(scratch, (size_t)count, sizeof(double));
    f->child = ct_arena_alloc(scratch, (size_t)count, sizeof(child));
    return !scratch->failed;
}

static double left_by(const analysis* t, int group) { return entries(border_of(t, group), 0); }

// Sorts the children of a group (-1: the roots); returns the room that the last ones need beside the first,
// and adds up what they leave.
static double sort_children(const analysis* t, forest* f, int group, double* left) {
    const int begin = f->start[group + 1], count = f->start[group + 2] - begin;
    double peak = 0;
    for (int i = 0; i < count; i++) {
        const int c = f->list[begin + i];
        f->child[i] = (child){.excess = f->peak[c] - left_by(t, c), .group = c};
    }
    qsort(f->child, (size_t)count, sizeof(child), compare_children);
    *left = 0;
    for (int i = 0; i < count; i++) {
        const int c = f->list[begin + i] = f->child[i].group;
        if (*left + f->peak[c] > peak) peak = *left + f->peak[c];
        *left += left_by(t, c);
    }
    return peak;
}

static int parent_group(const analysis* t, int group) {
    return t->above[group] < 0 ? -1 : t->group[t->above[group]];
}

static void fill_forest(const analysis* t, forest* f) {
    int* end = f->start + 1;  // one ahead while the children are placed
    double left;
    for (int s = 0; s < t->nsuper; s++)
        if (t->group[s] == s) end[parent_group(t, s) + 2]++;
    for (int s = 0; s < t->nsuper + 1; s++) end[s + 1] += end[s];
    for (int s = 0; s < t->nsuper; s++)
        if (t->group[s] == s) f->list[end[parent_group(t, s) + 1]++] = s;
    for (int s = 0; s < t->nsuper; s++) {
        if (t->group[s] != s) continue;
        const double peak = sort_children(t, f, s, &left);
        const double own = left + entries(t->width[s] + border_of(t, s), 0);
        f->peak[s] = own > peak ? own : peak;
    }
    sort_children(t, f, -1, &left);
}

// post[new] = group; returns how many.
static int walk_forest(const analysis* t, const forest* f, int* cursor, int* stack, int* post) {
    int end = 0;
    for (int s = 0; s < t->nsuper; s++) cursor[s] = f->start[s + 1];
    for (int root = f->start[0]; root < f->start[1]; root++) {
        int top = 0;
        stack[top++] = f->list[root];
        while (top) {
            const int g = stack[top - 1];
            if (cursor[g] < f->start[g + 2]) stack[top++] = f->list[cursor[g]++];
            else post[end++] = g, top--;
        }
    }
    return end;
}

// Own nodes of each group together, groups in postorder.
static void number_groups(ct_supernodes* out, const analysis* t, const int* post, int* head, int* next) {
    int end = 0;
    for (int s = 0; s < t->nsuper; s++) head[s] = -1;
    for (int s = t->nsuper - 1; s >= 0; s--) next[s] = head[t->group[s]], head[t->group[s]] = s;
    for (int k = 0; k < out->count; k++) {
        out->first[k] = end;
        for (int s = head[post[k]]; s >= 0; s = next[s])
            for (int j = t->super[s]; j < t->super[s + 1]; j++) out->order[end++] = t->order[j];
    }
    out->first[out->count] = end;
}

// Row after row: supernodes on the way from a node's earlier neighbours to its own have it below them.
static void fill_rows(ct_supernodes* out, const ct_graph* graph, int* position, int* owner, int* mark,
                      size_t* cursor) {
    for (int k = 0; k < out->n; k++) position[out->order[k]] = k;
    for (int s = 0; s < out->count; s++) {
        for (int k = out->first[s]; k < out->first[s + 1]; k++) owner[k] = s;
        mark[s] = -1;
        cursor[s] = out->start[s];
    }
    for (int i = 0; i < out->n; i++) {
        const int node = out->order[i];
        mark[owner[i]] = i;
        for (int e = graph->start[node]; e < graph->start[node + 1]; e++) {
            const int k = position[graph->row[e]];
            if (k > i) continue;
            for (int s = owner[k]; mark[s] != i; s = out->parent[s]) mark[s] = i, out->row[cursor[s]++] = i;
        }
    }
}

static ct_status lay_out(ct_supernodes* out, ct_arena* arena, analysis* t, ct_arena* scratch) {
    forest f;
    size_t* cursor = ct_arena_alloc(scratch, (size_t)t->nsuper, sizeof(size_t));
    if (!allocate_forest(&f, scratch, t->nsuper)) return CT_OUT_OF_MEMORY;
    fill_forest(t, &f);
    int *post = t->d, *number = t->c;
    out->n = t->n;
    out->count = walk_forest(t, &f, t->a, t->b, post);
    const size_t count = (size_t)out->count;
    out->order = ct_arena_alloc(arena, (size_t)t->n, sizeof(int));
    out->first = ct_arena_alloc(arena, count + 1, sizeof(int));
    out->parent = ct_arena_alloc(arena, count, sizeof(int));
    out->start = ct_arena_alloc(arena, count + 1, sizeof(size_t));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    for (int k = 0; k < out->count; k++) number[post[k]] = k;
    for (int k = 0; k < out->count; k++) {
        const int above = parent_group(t, post[k]);
        out->parent[k] = above < 0 ? -1 : number[above];
        out->start[k + 1] = out->start[k] + (size_t)border_of(t, post[k]);
    }
    out->row = ct_arena_alloc(arena, out->start[count], sizeof(int));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    number_groups(out, t, post, t->a, t->b);
    fill_rows(out, t->graph, t->position, t->a, t->b, cursor);
    return CT_OK;
}

ct_status ct_supernodes_create(ct_supernodes* out, ct_arena* arena, const ct_graph* graph, const int* order) {
    ct_arena scratch = {0};
    analysis t;
    *out = (ct_supernodes){0};
    ct_status status = analyse(&t, &scratch, graph, order);
    if (status == CT_OK) status = lay_out(out, arena, &t, &scratch);
    ct_arena_free(&scratch);
    return status;
}
