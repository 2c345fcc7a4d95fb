// Blocks of the inverse at listed nodes; see factor.h for the contract and factor_layout.h for the formulas.
//
// With z_i = D^-1 W ... W S e_i, which is zero outside the panels on the way from node i to its root,
//     P^-1(i, j) = S e_i . W^T ... W^T D^-2 W ... W S e_j = z_i . z_j .
// Both lists long: z of all listed nodes, then the products over the panels that two groups share (products).
// Few columns and many rows, or the other way round: both sweeps for the short list, forward over its own
// panels, backward over those of the long list (sweeps). Lists are sorted by slot, so that a group's nodes
// share most of their way.
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "sparse/factor_many.h"

// Nodes in order of slots, by counting. tally: n + 1.
static void sort_nodes(const ct_symbolic* symbolic, const int* node, ct_many_list* list, int* tally) {
    memset(tally, 0, ((size_t)symbolic->n + 1) * sizeof(int));
    for (int i = 0; i < list->count; i++) tally[symbolic->slot[node[i]] + 1]++;
    for (int k = 0; k < symbolic->n; k++) tally[k + 1] += tally[k];
    for (int i = 0; i < list->count; i++) {
        int slot = symbolic->slot[node[i]], place = tally[slot]++;
        list->slot[place] = slot;
        list->place[place] = i;
    }
}

static double panel_values(const ct_panel* panel) {
    return 3.0 * panel->width * (panel->rows - 1.5 * panel->width);
}

// Marks the panels from those of the slots up to the roots; returns how many.
static int mark_ways(const ct_symbolic* symbolic, int count, const int* slot, int* mark) {
    int total = 0;
    memset(mark, 0, (size_t)symbolic->npanel * sizeof(int));
    for (int k = 0; k < count; k++)
        for (int i = symbolic->owner[slot[k]]; i >= 0 && !mark[i]; i = symbolic->panel[i].parent, total++)
            mark[i] = 1;
    return total;
}

// The panels that a group visits, ascending, and what they cost.
static bool plan_group(const ct_symbolic* symbolic, ct_many_list* list, ct_many_group* group, int* mark) {
    group->nvisit = mark_ways(symbolic, group->count, list->slot + group->first, mark);
    group->visit = list->nvisit;
    void* memory = list->visit;
    bool done = ct_reserve(&memory, &list->visits, list->nvisit + (size_t)group->nvisit, sizeof *list->visit);
    list->visit = memory;
    if (!done) return false;
    for (int i = 0; i < symbolic->npanel; i++)
        if (mark[i]) {
            const ct_panel* panel = &symbolic->panel[i];
            list->visit[list->nvisit++] = (ct_many_visit){.panel = i};
            list->path += panel_values(panel);
            list->rows += 3 * panel->width;
        }
    return true;
}

static bool reserve_ints(int** memory, size_t* capacity, size_t count) {
    void* grown = *memory;
    bool done = ct_reserve(&grown, capacity, count, sizeof(int));
    *memory = grown;
    return done;
}

// Sorts a list and cuts it into groups.
static bool plan_list(const ct_symbolic* symbolic, ct_factor_many* many, ct_many_list* list, int count,
                      const int* node) {
    const int share = CT_MANY_NODES;
    list->count = count;
    list->ngroup = (count + share - 1) / share;
    list->nvisit = 0;
    list->path = list->rows = 0;
    void* groups = list->group;
    bool done = ct_reserve(&groups, &list->groups, (size_t)list->ngroup, sizeof *list->group);
    list->group = groups;
    done = done && reserve_ints(&list->slot, &list->slots, (size_t)count) &&
           reserve_ints(&list->place, &list->places, (size_t)count) &&
           reserve_ints(&many->tally, &many->tallies, (size_t)symbolic->n + 1) &&
           reserve_ints(&many->mark, &many->marks, (size_t)symbolic->npanel);
    if (!done) return false;
    sort_nodes(symbolic, node, list, many->tally);
    for (int g = 0; g < list->ngroup; g++) {
        ct_many_group* group = &list->group[g];
        group->first = g * share;
        group->count = count - group->first < share ? count - group->first : share;
        if (!plan_group(symbolic, list, group, many->mark)) return false;
    }
    return true;
}

typedef struct columns_job {
    const ct_factor* factor;
    const ct_many_set* set;
    ct_factor_many* many;
    ct_many_list *right, *left;  // products: columns and rows; sweeps: what is solved for and what is wanted
    bool same;                   // products: one list
    bool transposed;             // sweeps: solved for the rows
    atomic_int next;             // products: the next group to take
    int first_group;             // sweeps: the first of those under way
    int nrow;
    float* out;
} columns_job;

// Block of row i and column j in the caller's lists.
static float* block_of(const columns_job* job, int i, int j) {
    return job->out + 9 * ((size_t)j * (size_t)job->nrow + (size_t)i);
}

// Forward sweep of a group from unit vectors over its panels; kept NULL: leaves D^-2 t1 in the vector.
static void forward_group(const columns_job* job, const ct_many_list* list, const ct_many_group* group,
                          int worker, int vectors, float* kept) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    ct_many_sweep sweep = ct_many_sweep_of(job->factor, job->many, worker);
    const ct_many_kernels* kernels = &job->set->kernels[job->factor->values.precision][vectors - 1];
    ct_many_visit* visit = list->visit + group->visit;
    int* begin = job->many->begin + (size_t)worker * (size_t)symbolic->npanel;
    size_t lanes = 8 * (size_t)vectors;
    for (int v = 0; v < group->nvisit; v++) {
        const ct_panel* panel = &symbolic->panel[visit[v].panel];
        memset(sweep.vector + 3 * (size_t)panel->slot * lanes, 0,
               3 * (size_t)panel->width * lanes * sizeof(float));
        begin[visit[v].panel] = INT_MAX;
    }
    for (int k = 0; k < group->count; k++) {
        int slot = list->slot[group->first + k], *first = &begin[symbolic->owner[slot]];
        if (slot < *first) *first = slot;
        for (size_t a = 0; a < 3; a++) sweep.vector[(3 * (size_t)slot + a) * lanes + 3 * (size_t)k + a] = 1;
    }
    for (int v = 0; v < group->nvisit; v++) {
        const ct_panel* panel = &symbolic->panel[visit[v].panel];
        visit[v].begin = begin[visit[v].panel] - panel->slot;
        kernels->forward(&sweep, panel, visit[v].begin, kept ? kept + visit[v].kept : NULL);
        const int* below = symbolic->below + panel->index;
        for (int i = 0; i < panel->border; i++) {
            int* first = &begin[symbolic->owner[below[i]]];
            if (below[i] < *first) *first = below[i];
        }
    }
}

// z of every group; a worker, that is a vector, takes the next one when it is done.
static void forward_worker(int worker, void* user) {
    columns_job* job = user;
    int nright = job->right->ngroup, count = nright + (job->same ? 0 : job->left->ngroup);
    for (int g; (g = atomic_fetch_add(&job->next, 1)) < count;) {
        const ct_many_list* list = g < nright ? job->right : job->left;
        forward_group(job, list, &list->group[g < nright ? g : g - nright], worker, CT_MANY_VECTORS,
                      job->many->kept);
    }
}

// sum = z_left . z_right over the panels that both groups visit
static void multiply_groups(const columns_job* job, const ct_many_group* left, const ct_many_group* right,
                            float* sum) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    const ct_many_visit *l = job->left->visit + left->visit, *l_end = l + left->nvisit;
    const ct_many_visit *r = job->right->visit + right->visit, *r_end = r + right->nvisit;
    memset(sum, 0, CT_MANY_LANES * CT_MANY_LANES * sizeof(float));
    while (l < l_end && r < r_end) {
        if (l->panel == r->panel) {
            int begin = l->begin > r->begin ? l->begin : r->begin;
            size_t skip = 3 * (size_t)begin * CT_MANY_LANES;
            const float* kept = job->many->kept;
            job->set->gram(3 * (symbolic->panel[l->panel].width - begin), kept + l->kept + skip,
                           kept + r->kept + skip, sum);
            l++, r++;
        } else if (l->panel < r->panel) {
            l++;
        } else {
            r++;
        }
    }
}

static void write_products(const columns_job* job, const ct_many_group* left, const ct_many_group* right,
                           const float* sum) {
    const double* scale = job->factor->values.scale;
    for (int j = 0; j < right->count; j++)
        for (int i = 0; i < left->count; i++) {
            int row = job->left->place[left->first + i], column = job->right->place[right->first + j];
            double s = scale[job->left->slot[left->first + i]] * scale[job->right->slot[right->first + j]];
            const float* from = sum + 3 * (i * CT_MANY_LANES + j);
            float block[9], mirror[9];
            for (int k = 0; k < 9; k++)
                block[k] = mirror[k % 3 * 3 + k / 3] =
                    (float)(s * (double)from[k / 3 * CT_MANY_LANES + k % 3]);
            memcpy(block_of(job, row, column), block, sizeof block);
            if (job->same) memcpy(block_of(job, column, row), mirror, sizeof mirror);
        }
}

// All rows of one group of columns; of one list, those up to the columns: the long ones first.
static void multiply_columns(int task, void* user) {
    const columns_job* job = user;
    int j = job->right->ngroup - 1 - task, count = job->same ? j + 1 : job->left->ngroup;
    const ct_many_group* right = &job->right->group[j];
    _Alignas(CT_ALIGNMENT) float sum[CT_MANY_LANES * CT_MANY_LANES];
    for (int i = 0; i < count; i++) {
        multiply_groups(job, &job->left->group[i], right, sum);
        write_products(job, &job->left->group[i], right, sum);
    }
}

// The blocks of the wanted nodes of one group's solution.
static void write_sweep(const columns_job* job, const ct_many_group* group, const float* vector,
                        size_t lanes) {
    const ct_many_list *solved = job->right, *wanted = job->left;
    const double* scale = job->factor->values.scale;
    for (int i = 0; i < wanted->count; i++)
        for (int j = 0; j < group->count; j++) {
            int slot = wanted->slot[i], column = solved->place[group->first + j], row = wanted->place[i];
            const float* x = vector + 3 * (size_t)slot * lanes + 3 * j;
            double s = scale[slot] * scale[solved->slot[group->first + j]];
            float* block = job->transposed ? block_of(job, column, row) : block_of(job, row, column);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    block[job->transposed ? 3 * b + a : 3 * a + b] =
                        (float)(s * (double)x[(size_t)a * lanes + (size_t)b]);
        }
}

static int group_vectors(const ct_many_group* group) { return (3 * group->count + 7) / 8; }

// Backward sweep of a worker's group over the marked panels of one part. Panels not visited on the way
// forward hold nothing.
static void backward_group(const columns_job* job, int worker, int p, int rows) {
    const ct_symbolic* symbolic = job->factor->symbolic;
    const ct_part* part = &symbolic->part[p];
    const ct_many_group* group = &job->right->group[job->first_group + worker];
    const ct_many_kernels* kernels =
        &job->set->kernels[job->factor->values.precision][group_vectors(group) - 1];
    const ct_many_visit* visit = job->right->visit + group->visit;
    ct_many_sweep sweep = ct_many_sweep_of(job->factor, job->many, worker);
    sweep.rows = ct_many_rows_of(job->factor, job->many, rows);
    int v = group->nvisit - 1;
    for (int i = part->first_panel + part->npanel - 1; i >= part->first_panel; i--) {
        while (v >= 0 && visit[v].panel > i) v--;
        if (job->many->mark[i]) kernels->backward(&sweep, &symbolic->panel[i], v < 0 || visit[v].panel != i);
    }
}

// Forward, and backward over the top.
static void begin_sweep(int worker, void* user) {
    const columns_job* job = user;
    const ct_many_group* group = &job->right->group[job->first_group + worker];
    forward_group(job, job->right, group, worker, group_vectors(group), NULL);
    backward_group(job, worker, job->factor->symbolic->npart - 1, worker);
}

// The other parts are independent of one another; each task has its own scratch for rows.
static void end_sweep(int task, void* user) {
    const columns_job* job = user;
    int nlower = job->factor->symbolic->npart - 1;
    backward_group(job, task / nlower, task % nlower, task);
}

// Values read by the backward sweeps for the list.
static double marked_values(const ct_symbolic* symbolic, const ct_many_list* list, int* mark) {
    double total = 0;
    mark_ways(symbolic, list->count, list->slot, mark);
    for (int i = 0; i < symbolic->npanel; i++)
        if (mark[i]) total += panel_values(&symbolic->panel[i]);
    return total;
}

// Room for z of all groups; false: out of memory.
static bool place_kept(const ct_symbolic* symbolic, ct_factor_many* many, const columns_job* job) {
    size_t total = 0;
    for (int k = 0; k < (job->same ? 1 : 2); k++) {
        ct_many_list* list = k ? job->left : job->right;
        for (size_t v = 0; v < list->nvisit; v++) {
            list->visit[v].kept = total;
            total += 3 * (size_t)symbolic->panel[list->visit[v].panel].width * CT_MANY_LANES;
        }
    }
    if (total <= many->kept_capacity) return true;
    ct_arena arena = {0};
    float* kept = ct_arena_alloc(&arena, total + total / 4, sizeof(float));
    if (!kept) {
        ct_arena_free(&arena);
        return false;
    }
    ct_arena_free(&many->kept_arena);
    many->kept_arena = arena;
    many->kept = kept;
    many->kept_capacity = total + total / 4;
    return true;
}

static ct_status run_products(columns_job* job, ct_factor_work* work, ct_threads* threads) {
    int count = job->right->ngroup + (job->same ? 0 : job->left->ngroup);
    int nworker = ct_threads_count(threads) < count ? ct_threads_count(threads) : count;
    if (!ct_factor_many_reserve(work, job->factor->symbolic, nworker)) return CT_OUT_OF_MEMORY;
    if (!place_kept(job->factor->symbolic, job->many, job)) return CT_OUT_OF_MEMORY;
    ct_threads_run(threads, nworker, forward_worker, job);
    ct_threads_run(threads, job->right->ngroup, multiply_columns, job);
    return CT_OK;
}

// As many groups at a time as there are threads. mark holds the panels above the wanted nodes.
static ct_status run_sweeps(columns_job* job, ct_factor_work* work, ct_threads* threads) {
    int ngroup = job->right->ngroup, nlower = job->factor->symbolic->npart - 1;
    int batch = ct_threads_count(threads) < ngroup ? ct_threads_count(threads) : ngroup;
    if (!ct_factor_many_reserve(work, job->factor->symbolic, batch)) return CT_OUT_OF_MEMORY;
    for (job->first_group = 0; job->first_group < ngroup; job->first_group += batch) {
        int count = ngroup - job->first_group < batch ? ngroup - job->first_group : batch;
        ct_threads_run(threads, count, begin_sweep, job);
        ct_threads_run(threads, count * nlower, end_sweep, job);
        for (int w = 0; w < count; w++) {
            const ct_many_group* group = &job->right->group[job->first_group + w];
            write_sweep(job, group, ct_many_sweep_of(job->factor, job->many, w).vector,
                        8 * (size_t)group_vectors(group));
        }
    }
    return CT_OK;
}

ct_status ct_factor_columns(const ct_factor* factor, ct_factor_work* work, ct_threads* threads, int ncolumn,
                            const int* column, int nrow, const int* row, float* out) {
    const ct_symbolic* symbolic = factor->symbolic;
    if (ncolumn <= 0 || nrow <= 0) return CT_OK;
    ct_factor_many* many = ct_factor_many_reserve(work, symbolic, 1);
    if (!many) return CT_OUT_OF_MEMORY;
    ct_many_list *columns = &many->list[0], *rows = &many->list[1];
    bool same = ncolumn == nrow && !memcmp(column, row, (size_t)nrow * sizeof(int));
    if (!plan_list(symbolic, many, columns, ncolumn, column)) return CT_OUT_OF_MEMORY;
    if (!same && !plan_list(symbolic, many, rows, nrow, row)) return CT_OUT_OF_MEMORY;
    columns_job job = {.factor = factor,
                       .set = ct_many_set_for(factor->isa),
                       .many = many,
                       .right = columns,
                       .left = same ? columns : rows,
                       .same = same,
                       .nrow = nrow,
                       .out = out};
    if (same) return run_products(&job, work, threads);

    // values read by products, where groups share about half of their way, and by sweeps for the shorter list
    bool transposed = nrow < ncolumn;
    const ct_many_list *few = transposed ? rows : columns, *lot = transposed ? columns : rows;
    double shared = (columns->rows * rows->ngroup + rows->rows * columns->ngroup) / 4;
    double products = columns->path + rows->path + shared * CT_MANY_LANES;
    double sweeps = few->path + few->ngroup * marked_values(symbolic, lot, many->mark);
    if (products < sweeps) return run_products(&job, work, threads);
    job.transposed = transposed;
    if (transposed) job.right = rows, job.left = columns;
    return run_sweeps(&job, work, threads);
}
