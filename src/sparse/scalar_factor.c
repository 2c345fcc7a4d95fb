// Scalar Cholesky with three right-hand sides; see scalar_factor.h.
//     A = P' L L' P,  X = P' (L' \ (L \ (P B))),  B and X n x 3
#include "sparse/scalar_factor.h"

#include <string.h>

#include "sparse/fronts.h"
#include "sparse/ordering.h"

struct ct_scalar_factor {
    ct_arena arena;
    ct_supernodes supernodes;
    ct_front_plan plan;
    size_t* start;  // plan.npanel + 1: first value of each panel
    double* value;  // panels [L11; L21], column-major
    int most;       // rows of any panel
};

struct ct_scalar_work {
    double* y;     // 3 n
    double* rows;  // 3 most: those of the panel at hand
};

// Own columns of a front: first row and column, and the rows from there on.
typedef struct panel {
    const ct_front* front;
    const ct_front_block* block;
    int columns, rows;
    const double* L;
} panel;

static panel panel_of(const ct_scalar_factor* factor, int number) {
    const ct_front_plan* plan = &factor->plan;
    const ct_front* front = &plan->front[plan->panel_front[number]];
    const ct_front_block* block = &plan->block[front->block + number - front->panel];
    return (panel){.front = front,
                   .block = block,
                   .columns = block->nodes,
                   .rows = front->width + front->border - block->first,
                   .L = factor->value ? factor->value + factor->start[number] : NULL};  // nothing is stored
}

// ---- factor --------------------------------------------------------------------------------

static void store(int number, double* L, int columns, int rows, ct_threads* threads, void* user) {
    const ct_scalar_factor* factor = user;
    memcpy(factor->value + factor->start[number], L, (size_t)columns * (size_t)rows * sizeof(double));
}

static ct_status analyse(ct_scalar_factor* factor, const ct_block_matrix* matrix) {
    ct_arena scratch = {0};
    ct_graph graph;
    bool metis;
    int* order = ct_arena_alloc(&scratch, (size_t)matrix->n, sizeof(int));
    ct_status status = ct_graph_create(&graph, &scratch, matrix);
    if (status == CT_OK)
        status = order ? ct_graph_order(&graph, CT_ORDER_AUTO, order, &metis) : CT_OUT_OF_MEMORY;
    if (status == CT_OK) status = ct_supernodes_create(&factor->supernodes, &factor->arena, &graph, order);
    if (status == CT_OK)
        status = ct_front_plan_create(&factor->plan, &factor->arena, &factor->supernodes, matrix);
    ct_arena_free(&scratch);
    return status;
}

static ct_status lay_out(ct_scalar_factor* factor) {
    const size_t count = (size_t)factor->plan.npanel;
    factor->start = ct_arena_alloc(&factor->arena, count + 1, sizeof(size_t));
    if (!factor->start) return CT_OUT_OF_MEMORY;
    for (int i = 0; i < factor->plan.npanel; i++) {
        const panel p = panel_of(factor, i);
        factor->start[i + 1] = factor->start[i] + (size_t)p.columns * (size_t)p.rows;
        if (p.rows > factor->most) factor->most = p.rows;
    }
    factor->value = ct_arena_alloc(&factor->arena, factor->start[count], sizeof(double));
    return factor->value ? CT_OK : CT_OUT_OF_MEMORY;
}

static ct_status factorise(ct_scalar_factor* factor, const ct_block_matrix* matrix) {
    double* room = ct_alloc(factor->plan.room, sizeof(double));
    if (!room) return CT_OUT_OF_MEMORY;
    const ct_fronts_def def = {.plan = &factor->plan,
                               .matrix = matrix,
                               .unknowns = 1,
                               .isa = ct_cpu_isa(),
                               .room = room,
                               .store = store,
                               .user = factor};
    ct_status status = ct_fronts_factor(&def);
    ct_free(room);
    return status;
}

ct_status ct_scalar_factor_create(ct_scalar_factor** out, const ct_block_matrix* matrix) {
    *out = NULL;
    ct_scalar_factor* factor = ct_alloc(1, sizeof *factor);
    if (!factor) return CT_OUT_OF_MEMORY;
    ct_status status = analyse(factor, matrix);
    if (status == CT_OK) status = lay_out(factor);
    if (status == CT_OK) status = factorise(factor, matrix);
    if (status == CT_OK) *out = factor;
    else ct_scalar_factor_free(factor);
    return status;
}

void ct_scalar_factor_free(ct_scalar_factor* factor) {
    if (!factor) return;
    ct_arena_free(&factor->arena);
    ct_free(factor);
}

ct_status ct_scalar_work_create(ct_scalar_work** out, const ct_scalar_factor* factor) {
    *out = NULL;
    ct_scalar_work* work = ct_alloc(1, sizeof *work);
    if (!work) return CT_OUT_OF_MEMORY;
    work->y = ct_alloc(3 * (size_t)factor->plan.n, sizeof(double));
    work->rows = ct_alloc(3 * (size_t)factor->most, sizeof(double));
    if (!work->y || !work->rows) {
        ct_scalar_work_free(work);
        return CT_OUT_OF_MEMORY;
    }
    *out = work;
    return CT_OK;
}

void ct_scalar_work_free(ct_scalar_work* work) {
    if (!work) return;
    ct_free(work->y);
    ct_free(work->rows);
    ct_free(work);
}

// ---- solve ---------------------------------------------------------------------------------

// The panel's rows of y to `rows`, or back.
static void move_rows(const ct_scalar_factor* factor, const panel* p, double* y, double* rows, bool back) {
    const ct_front* front = p->front;
    const size_t own = (size_t)(front->width - p->block->first);
    double* first = y + 3 * (size_t)(front->first + p->block->first);
    if (back) memcpy(first, rows, 3 * own * sizeof(double));
    else memcpy(rows, first, 3 * own * sizeof(double));
    const int* below = factor->supernodes.row + factor->supernodes.start[front - factor->plan.front];
    rows += 3 * own;
    for (int i = 0; i < front->border; i++, rows += 3) {
        double* at = y + 3 * (size_t)below[i];
        if (back) memcpy(at, rows, 3 * sizeof(double));
        else memcpy(rows, at, 3 * sizeof(double));
    }
}

// y = L \ y
static void forward(const ct_scalar_factor* factor, double* y, double* rows) {
    for (int k = 0; k < factor->plan.npanel; k++) {
        const panel p = panel_of(factor, k);
        move_rows(factor, &p, y, rows, false);
        for (int j = 0; j < p.columns; j++) {
            const double* column = p.L + (size_t)j * (size_t)p.rows;
            double* own = rows + 3 * j;
            for (int a = 0; a < 3; a++) own[a] /= column[j];
            const double u = own[0], v = own[1], w = own[2];
            for (int i = j + 1; i < p.rows; i++) {
                rows[3 * i] -= column[i] * u;
                rows[3 * i + 1] -= column[i] * v;
                rows[3 * i + 2] -= column[i] * w;
            }
        }
        move_rows(factor, &p, y, rows, true);
    }
}

// y = L' \ y
static void backward(const ct_scalar_factor* factor, double* y, double* rows) {
    for (int k = factor->plan.npanel - 1; k >= 0; k--) {
        const panel p = panel_of(factor, k);
        move_rows(factor, &p, y, rows, false);
        for (int j = p.columns - 1; j >= 0; j--) {
            const double* column = p.L + (size_t)j * (size_t)p.rows;
            double* own = rows + 3 * j;
            for (int i = j + 1; i < p.rows; i++)
                for (int a = 0; a < 3; a++) own[a] -= column[i] * rows[3 * i + a];
            for (int a = 0; a < 3; a++) own[a] /= column[j];
        }
        memcpy(y + 3 * (size_t)(p.front->first + p.block->first), rows,
               3 * (size_t)p.columns * sizeof(double));
    }
}

void ct_scalar_factor_solve(const ct_scalar_factor* factor, ct_scalar_work* work, const double* b,
                            double* x) {
    const int* order = factor->supernodes.order;
    for (int k = 0; k < factor->plan.n; k++)
        for (int a = 0; a < 3; a++) work->y[3 * k + a] = b[3 * order[k] + a];
    forward(factor, work->y, work->rows);
    backward(factor, work->y, work->rows);
    for (int k = 0; k < factor->plan.n; k++)
        for (int a = 0; a < 3; a++) x[3 * order[k] + a] = work->y[3 * k + a];
}
