// The plan of a factorisation by fronts; see fronts_plan.h.
#include "sparse/fronts_plan.h"

#include <math.h>
#include <stdint.h>

// Subtrees with up to 1/SHARES of the arithmetic and LARGE flops are tasks of their own; matrices with less
// than SMALL flops are not cut. Tasks run side by side as long as they need no more than 1/ROOM_SHARE of what
// the tree needs anyway, so those of large matrices must be many to find company.
enum { SHARES = 32, ROOM_SHARE = 2 };
static const double SMALL = 2e7, LARGE = 5e9;
static const size_t LEAST_ROOM = 1 << 20;  // and this many entries at least

static int block_count(int nodes) { return (nodes + CT_PANEL_NODES - 1) / CT_PANEL_NODES; }

// Even shares.
static int block_begin(int nodes, int count, int i) { return (int)((long)nodes * i / count); }

// Entries of `nodes` columns in blocks, of which `all` nodes are left with the first.
static size_t columns_size(int nodes, int all) {
    const int count = block_count(nodes);
    size_t size = 0;
    for (int i = 0; i < count; i++) {
        const int first = block_begin(nodes, count, i), end = block_begin(nodes, count, i + 1);
        size += (size_t)(end - first) * (size_t)(all - first);
    }
    return size;
}

static size_t left_size(const ct_front* f) { return columns_size(f->border, f->border); }
static size_t front_size(const ct_front* f) {
    return columns_size(f->width, f->width + f->border) + left_size(f);
}

// Flops with three unknowns per node.
static double front_flops(const ct_front* f) {
    const double k = 3.0 * f->width, m = 3.0 * f->border;
    return k * k * k / 3 + m * k * k + m * m * k;
}

// ---- fronts --------------------------------------------------------------------------------

static void fill_fronts(ct_front_plan* plan, const ct_supernodes* s) {
    int block = 0, panel = 0;
    for (int i = 0; i < plan->count; i++) {
        ct_front* f = &plan->front[i];
        f->first = s->first[i];
        f->width = s->first[i + 1] - s->first[i];
        f->border = (int)(s->start[i + 1] - s->start[i]);
        f->block = block;
        f->panel = panel;
        f->nown = block_count(f->width);
        f->nblock = f->nown + block_count(f->border);
        block += f->nblock;
        panel += f->nown;
        if (s->parent[i] >= 0) plan->front[s->parent[i]].nchild++;
        plan->flops += front_flops(f);
    }
    plan->npanel = panel;
    for (int i = 0, child = 0; i < plan->count; i++) {
        plan->front[i].child = child;
        child += plan->front[i].nchild;
        plan->front[i].nchild = 0;
    }
    for (int i = 0; i < plan->count; i++) {
        if (s->parent[i] < 0) continue;
        ct_front* parent = &plan->front[s->parent[i]];
        plan->child[parent->child + parent->nchild++] = i;
    }
}

static void fill_blocks(ct_front_plan* plan) {
    for (int i = 0; i < plan->count; i++) {
        const ct_front* f = &plan->front[i];
        const int all = f->width + f->border;
        size_t offset = 0;
        for (int b = 0; b < f->nblock; b++) {
            const bool own = b < f->nown;
            const int nodes = own ? f->width : f->border, count = own ? f->nown : f->nblock - f->nown,
                      begin = own ? 0 : f->width, which = own ? b : b - f->nown;
            ct_front_block* block = &plan->block[f->block + b];
            block->first = begin + block_begin(nodes, count, which);
            block->nodes = begin + block_begin(nodes, count, which + 1) - block->first;
            block->offset = offset;
            offset += (size_t)block->nodes * (size_t)(all - block->first);
            if (own) plan->panel_front[f->panel + b] = i;
        }
    }
}

// Where the rows below a supernode are in its parent's front; returns the number of runs.
static int fill_runs(const ct_supernodes* s, int child, int parent, ct_front_run* run) {
    const int* row = s->row + s->start[child];
    const int count = (int)(s->start[child + 1] - s->start[child]), end = s->first[parent + 1],
              width = end - s->first[parent];
    const int* above = s->row + s->start[parent];
    int nrun = 0, cursor = 0;
    for (int k = 0; k < count; k++) {
        int place = row[k] - s->first[parent];
        if (row[k] >= end) {
            while (above[cursor] < row[k]) cursor++;
            place = width + cursor;
        }
        if (nrun && run[nrun - 1].to + run[nrun - 1].nodes == place) run[nrun - 1].nodes++;
        else run[nrun++] = (ct_front_run){.from = k, .to = place, .nodes = 1};
    }
    return nrun;
}

static ct_status fill_all_runs(ct_front_plan* plan, ct_arena* arena, const ct_supernodes* s) {
    int most = 0;
    size_t total = 0;
    for (int i = 0; i < plan->count; i++)
        if (plan->front[i].border > most) most = plan->front[i].border;
    ct_front_run* run = ct_alloc((size_t)most, sizeof *run);
    if (!run) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < plan->count; i++)
        if (s->parent[i] >= 0) total += (size_t)fill_runs(s, i, s->parent[i], run);
    ct_free(run);
    plan->run = ct_arena_alloc(arena, total, sizeof *run);
    if (!plan->run) return CT_OUT_OF_MEMORY;
    for (int i = 0, end = 0; i < plan->count; i++) {
        plan->front[i].run = end;
        if (s->parent[i] >= 0) plan->front[i].nrun = fill_runs(s, i, s->parent[i], plan->run + end);
        end += plan->front[i].nrun;
    }
    return CT_OK;
}

// Place of a position in the front of supernode s.
static int place_in(const ct_supernodes* s, int which, int position) {
    if (position < s->first[which + 1]) return position - s->first[which];
    size_t low = s->start[which], high = s->start[which + 1] - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->row[middle] < position) low = middle + 1;
        else high = middle;
    }
    return s->first[which + 1] - s->first[which] + (int)(low - s->start[which]);
}

static void fill_entries(ct_front_plan* plan, const ct_supernodes* s, const ct_block_matrix* matrix,
                         int* position, int* owner) {
    for (int k = 0; k < plan->n; k++) position[s->order[k]] = k;
    for (int i = 0; i < plan->count; i++)
        for (int k = s->first[i]; k < s->first[i + 1]; k++) owner[k] = i;
    size_t* end = plan->entry + 1;  // one ahead while the blocks are placed
    for (int j = 0; j < plan->n; j++)
        for (int e = matrix->start[j]; e < matrix->start[j + 1]; e++) {
            const int a = position[matrix->row[e]], b = position[j];
            end[(a < b ? a : b) + 1]++;
        }
    for (int k = 0; k < plan->n; k++) end[k + 1] += end[k];
    for (int j = 0; j < plan->n; j++)
        for (int e = matrix->start[j]; e < matrix->start[j + 1]; e++) {
            const int a = position[matrix->row[e]], b = position[j], column = a < b ? a : b;
            const size_t at = end[column]++;
            plan->source[at].block = (unsigned)e & 0x7fffffffu;
            plan->source[at].flip = a < b;
            plan->source[at].column = j;
            plan->source[at].row = place_in(s, owner[column], a < b ? b : a);
        }
}

// ---- tasks and places ----------------------------------------------------------------------

// Of each front: what its subtree takes.
typedef struct layout {
    ct_front_plan* plan;
    const int* parent;
    double* flops;
    size_t* room;      // one front after the other
    size_t* together;  // all tasks below side by side, then the upper fronts
    size_t* above;     // of that the upper fronts
    int* first;        // first front of the subtree
    int* task;         // its task; -1: an upper front
    size_t* base;      // of an anchor: where the area of its tasks begins; SIZE_MAX elsewhere
    int* anchor;       // of each task: the topmost front that may wait for all tasks below it; -1: none
    size_t budget;
    int ntask;
} layout;

static void measure_subtrees(layout* l) {
    const ct_front_plan* plan = l->plan;
    for (int i = 0; i < plan->count; i++) {
        const ct_front* f = &plan->front[i];
        size_t left = 0, room = 0;
        l->flops[i] = front_flops(f);
        l->first[i] = f->nchild ? l->first[plan->child[f->child]] : i;
        for (int k = 0; k < f->nchild; k++) {
            const int c = plan->child[f->child + k];
            l->flops[i] += l->flops[c];
            if (left + l->room[c] > room) room = left + l->room[c];
            left += left_size(&plan->front[c]);
        }
        l->room[i] = left + front_size(f) > room ? left + front_size(f) : room;
        if (l->parent[i] < 0 && l->room[i] / ROOM_SHARE > l->budget) l->budget = l->room[i] / ROOM_SHARE;
    }
}

// The largest subtrees below the limit, small ones with the same parent together.
static void cut_tasks(layout* l) {
    ct_front_plan* plan = l->plan;
    const double limit = plan->flops < SMALL ? 2 * SMALL : fmin(plan->flops / SHARES, LARGE);
    for (int i = 0; i < plan->count; i++) {
        l->task[i] = -1;
        if (l->flops[i] > limit || (l->parent[i] >= 0 && l->flops[l->parent[i]] <= limit)) continue;
        ct_front_task* last = l->ntask ? &plan->task[l->ntask - 1] : NULL;
        if (last && last->end == l->first[i] && l->parent[last->end - 1] == l->parent[i] &&
            last->flops + l->flops[i] <= limit) {
            last->end = i + 1;
            last->flops += l->flops[i];
        } else {
            plan->task[l->ntask++] =
                (ct_front_task){.first = l->first[i], .end = i + 1, .flops = l->flops[i]};
        }
    }
    for (int t = 0; t < l->ntask; t++)
        for (int i = plan->task[t].first; i < plan->task[t].end; i++) l->task[i] = t;
}

static void measure_together(layout* l) {
    const ct_front_plan* plan = l->plan;
    for (int i = 0; i < plan->count; i++) {
        const ct_front* f = &plan->front[i];
        if (l->task[i] >= 0) {
            l->together[i] = l->room[i];
            continue;
        }
        size_t left = 0, above = 0, tasks = 0;
        for (int k = 0; k < f->nchild; k++) {
            const int c = plan->child[f->child + k];
            tasks += l->together[c] - l->above[c];
            if (left + l->above[c] > above) above = left + l->above[c];
            if (l->task[c] < 0) left += left_size(&plan->front[c]);
        }
        l->above[i] = left + front_size(f) > above ? left + front_size(f) : above;
        l->together[i] = tasks + l->above[i];
    }
}

// The topmost front above a task that may wait for all tasks below it; -1: none.
static int anchor_of(const layout* l, int task) {
    int anchor = -1;
    for (int i = l->parent[l->plan->task[task].end - 1]; i >= 0 && l->together[i] <= l->budget;
         i = l->parent[i])
        anchor = i;
    return anchor;
}

// Puts a front on the stack, in the place of what lies there for it from `fall` on.
static size_t place_front(layout* l, int i, size_t top, size_t fall) {
    ct_front* f = &l->plan->front[i];
    f->at = top;
    if (top + front_size(f) > l->plan->room) l->plan->room = top + front_size(f);
    f->left = fall;
    return fall + left_size(f);
}

// Returns the end of its stack, which begins at `base`.
static size_t place_task(layout* l, int t, size_t base) {
    const ct_front_plan* plan = l->plan;
    size_t top = base, end = base;
    for (int i = plan->task[t].first; i < plan->task[t].end; i++) {
        const ct_front* f = &plan->front[i];
        top = place_front(l, i, top, f->nchild ? plan->front[plan->child[f->child]].left : top);
        if (f->at + front_size(f) > end) end = f->at + front_size(f);
    }
    return end;
}

// The step of task t and of those that go with it; returns the next one.
static int place_batch(layout* l, int t, size_t* top) {
    ct_front_plan* plan = l->plan;
    const int anchor = l->anchor[t], first = t;
    const size_t base = *top;
    while (t < l->ntask && l->anchor[t] == anchor) {
        if (t > first && anchor < 0 &&
            (plan->task[t].first != plan->task[t - 1].end || *top - base > l->budget))
            break;
        *top = place_task(l, t++, *top);
    }
    if (anchor >= 0) l->base[anchor] = base;
    plan->step[plan->nstep++] = (ct_front_step){.front = -1, .task = first, .ntask = t - first};
    return t;
}

// Where the stack falls to when an upper front is made: its first child there, or the area of its tasks.
static size_t fall_of(const layout* l, int i, size_t top) {
    const ct_front_plan* plan = l->plan;
    const ct_front* f = &plan->front[i];
    if (l->base[i] != SIZE_MAX) return l->base[i];
    for (int k = f->nchild - 1; k >= 0; k--) {
        const int c = plan->child[f->child + k];
        const bool apart = l->task[c] >= 0 && l->anchor[l->task[c]] >= 0;
        if (!apart) top = plan->front[c].left;
    }
    return top;
}

static void place_steps(layout* l) {
    ct_front_plan* plan = l->plan;
    size_t top = 0;
    for (int t = 0; t < l->ntask; t++) l->anchor[t] = anchor_of(l, t);
    for (int i = 0, t = 0; i < plan->count;) {
        if (l->task[i] >= t) t = place_batch(l, t, &top);
        if (l->task[i] >= 0) {
            i = plan->task[l->task[i]].end;
            continue;
        }
        top = place_front(l, i, top, fall_of(l, i, top));
        plan->step[plan->nstep++] = (ct_front_step){.front = i};
        i++;
    }
}

static bool allocate_layout(layout* l, ct_arena* scratch, ct_front_plan* plan, const int* parent) {
    const size_t count = (size_t)plan->count;
    *l = (layout){.plan = plan, .parent = parent, .budget = LEAST_ROOM};
    l->flops = ct_arena_alloc(scratch, count, sizeof(double));
    size_t** sizes[] = {&l->room, &l->together, &l->above, &l->base};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        *sizes[i] = ct_arena_alloc(scratch, count, sizeof(size_t));
    int** ints[] = {&l->first, &l->task, &l->anchor};
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        *ints[i] = ct_arena_alloc(scratch, count, sizeof(int));
    if (scratch->failed) return false;
    for (size_t i = 0; i < count; i++) l->base[i] = SIZE_MAX;
    return true;
}

static ct_status place_all(ct_front_plan* plan, const int* parent) {
    ct_arena scratch = {0};
    layout l;
    const bool there = allocate_layout(&l, &scratch, plan, parent);
    if (there) {
        measure_subtrees(&l);
        cut_tasks(&l);
        measure_together(&l);
        place_steps(&l);
    }
    ct_arena_free(&scratch);
    return there ? CT_OK : CT_OUT_OF_MEMORY;
}

// ---- public --------------------------------------------------------------------------------

static bool allocate(ct_front_plan* plan, ct_arena* arena, const ct_supernodes* s,
                     const ct_block_matrix* matrix) {
    const size_t count = (size_t)s->count, n = (size_t)s->n;
    size_t blocks = 0, panels = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t own = (size_t)block_count(s->first[i + 1] - s->first[i]);
        panels += own;
        blocks += own + (size_t)block_count((int)(s->start[i + 1] - s->start[i]));
    }
    plan->front = ct_arena_alloc(arena, count, sizeof *plan->front);
    plan->child = ct_arena_alloc(arena, count, sizeof(int));
    plan->block = ct_arena_alloc(arena, blocks, sizeof *plan->block);
    plan->panel_front = ct_arena_alloc(arena, panels, sizeof(int));
    plan->entry = ct_arena_alloc(arena, n + 2, sizeof(size_t));
    plan->source = ct_arena_alloc(arena, (size_t)matrix->start[matrix->n], sizeof *plan->source);
    plan->step = ct_arena_alloc(arena, count, sizeof *plan->step);
    plan->task = ct_arena_alloc(arena, count, sizeof *plan->task);
    return !arena->failed;
}

ct_status ct_front_plan_create(ct_front_plan* out, ct_arena* arena, const ct_supernodes* supernodes,
                               const ct_block_matrix* matrix) {
    *out = (ct_front_plan){.n = supernodes->n, .count = supernodes->count};
    if (!allocate(out, arena, supernodes, matrix)) return CT_OUT_OF_MEMORY;
    fill_fronts(out, supernodes);
    fill_blocks(out);
    ct_status status = fill_all_runs(out, arena, supernodes);
    if (status != CT_OK) return status;
    int* scratch = ct_alloc(2 * (size_t)out->n, sizeof(int));
    if (!scratch) return CT_OUT_OF_MEMORY;
    fill_entries(out, supernodes, matrix, scratch, scratch + out->n);
    ct_free(scratch);
    return place_all(out, supernodes->parent);
}
