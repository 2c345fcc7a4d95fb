// Preconditioner of friction problems with many contacts; see friction_near.h.
#include "contact/friction_near.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/mat3.h"
#include "sparse/factor.h"

enum {
    NEAREST = 9,      // nodes that a row of S is made of, itself among them
    MOST_CHANGED = 8  // contacts that may have changed since a factor was made
};

#define CHANGE 0.2  // of the stiffness of a contact, from which it counts as changed

// LAPACK: LU factorisation and its solve, column-major.
extern void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivot, int* info);
extern void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
                    const int* pivot, double* b, const int* ldb, int* info);

struct ct_friction_near {
    const ct_friction_matrix* matrix;
    uint64_t stamp;              // of the matrix; 0: none that may come again
    ct_arena arena;              // of the pattern
    ct_friction_matrix outline;  // copies of what the pattern and S were made from; nothing else of it
    ct_block_matrix N;
    ct_symbolic* symbolic;
    ct_factor* factor;
    ct_factor_work* work;
    int* near;               // NEAREST nnode, the node itself first; -1: none
    double* S;               // NEAREST nnode
    int* position;           // nnode: in the factor
    double *x, *row;         // 3 nnode, factor order; 3 count
    ct_friction_rows* rows;  // count, with E inverted
    double *base, *B;        // 9 count: Q E^-1 Q^T as it is in N, and now
    bool factored;
    // changes since: contacts, their place on the list (count, 0: none), V = N^-1 J^T, B - B_before, I +
    // Delta G
    int nchanged, changed[MOST_CHANGED];
    unsigned char* listed;
    double* V;  // 3 MOST_CHANGED columns
    size_t V_size;
    double delta[MOST_CHANGED][9], small[9 * MOST_CHANGED * MOST_CHANGED];
    int pivot[3 * MOST_CHANGED];
};

ct_status ct_friction_near_create(ct_friction_near** out) {
    *out = ct_alloc(1, sizeof **out);
    return *out ? CT_OK : CT_OUT_OF_MEMORY;
}

static void clear(ct_friction_near* near) {
    ct_arena_free(&near->arena);
    ct_factor_work_free(near->work);
    ct_factor_free(near->factor);
    ct_symbolic_free(near->symbolic);
    ct_free(near->V);
    memset(near, 0, sizeof *near);
}

void ct_friction_near_free(ct_friction_near* near) {
    if (!near) return;
    clear(near);
    ct_free(near);
}

// ---- S -------------------------------------------------------------------------------------

// Nodes along the axis of their largest extent: a heap sort, ties by number.
typedef struct line {
    const double* rest;
    int axis;
    int* order;
} line;

static bool comes_before(const line* l, int a, int b) {
    const double x = l->rest[3 * a + l->axis], y = l->rest[3 * b + l->axis];
    return x < y || (x == y && a < b);
}

static void sift(const line* l, int root, int count) {
    int* order = l->order;
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && comes_before(l, order[child], order[child + 1])) child++;
        if (!comes_before(l, order[root], order[child])) return;
        const int held = order[root];
        order[root] = order[child];
        order[child] = held;
    }
}

static line sort_nodes(const ct_friction_matrix* matrix, int* order) {
    const int n = matrix->nnode;
    line l = {.rest = matrix->rest, .order = order};
    double widest = -1;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < n; i++) {
            low = fmin(low, matrix->rest[3 * i + a]);
            high = fmax(high, matrix->rest[3 * i + a]);
        }
        if (high - low > widest) widest = high - low, l.axis = a;
    }
    for (int i = 0; i < n; i++) order[i] = i;
    for (int root = n / 2 - 1; root >= 0; root--) sift(&l, root, n);
    for (int end = n - 1; end > 0; end--) {
        const int last = order[0];
        order[0] = order[end];
        order[end] = last;
        sift(&l, 0, end);
    }
    return l;
}

static double distance(const ct_friction_matrix* matrix, int i, int j) {
    const double *a = matrix->rest + 3 * i, *b = matrix->rest + 3 * j;
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

// Puts node j into the list of those nearest to i, if it is; far: their distances.
static void insert(int* near, double* far, int j, double d) {
    if (!(d < far[NEAREST - 1])) return;
    int k = NEAREST - 1;
    for (; k > 1 && far[k - 1] > d; k--) near[k] = near[k - 1], far[k] = far[k - 1];
    near[k] = j;
    far[k] = d;
}

static void find_nearest(const ct_friction_matrix* matrix, const line* l, int place, int* near) {
    const int i = l->order[place], n = matrix->nnode;
    double far[NEAREST];
    for (int k = 0; k < NEAREST; k++) near[k] = -1, far[k] = INFINITY;
    near[0] = i;
    far[0] = 0;
    for (int way = -1; way <= 1; way += 2)
        for (int at = place + way; at >= 0 && at < n; at += way) {
            const int j = l->order[at];
            if (fabs(matrix->rest[3 * j + l->axis] - matrix->rest[3 * i + l->axis]) >= far[NEAREST - 1])
                break;
            if (matrix->body[j] == matrix->body[i]) insert(near, far, j, distance(matrix, i, j));
        }
}

// The first row of the inverse of k on the nodes listed; the diagonal alone where these do not say it.
static void invert_near(const ct_friction_matrix* matrix, const int* near, double* row) {
    double k[NEAREST][NEAREST], x[NEAREST] = {1};
    int n = 0;
    while (n < NEAREST && near[n] >= 0) n++;
    bool regular = true;
    // L L^T = k, then x = k^-1 e_0
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            const int a = near[i], b = near[j];
            double sum = matrix->soft[a];
            if (a != b)
                sum = sqrt(matrix->soft[a] * matrix->soft[b]) /
                      (1 + distance(matrix, a, b) / (0.5 * (matrix->reach[a] + matrix->reach[b])));
            for (int p = 0; p < j; p++) sum -= k[i][p] * k[j][p];
            if (i == j) regular = regular && sum > 1e-3 * matrix->soft[a];
            k[i][j] = i == j ? sqrt(sum) : sum / k[j][j];
        }
    for (int i = 0; i < NEAREST; i++) row[i] = 0;
    row[0] = 1 / matrix->soft[near[0]];
    if (!regular) return;
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < i; p++) x[i] -= k[i][p] * x[p];
        x[i] /= k[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int p = i + 1; p < n; p++) x[i] -= k[p][i] * x[p];
        x[i] /= k[i][i];
    }
    memcpy(row, x, (size_t)n * sizeof(double));
}

// ---- N -------------------------------------------------------------------------------------

static void* copy(ct_arena* arena, const void* from, size_t count, size_t size) {
    void* to = ct_arena_alloc(arena, count, size);
    if (to) memcpy(to, from, count * size);
    return to;
}

static void remember(ct_friction_near* near, const ct_friction_matrix* matrix) {
    const size_t n = (size_t)matrix->nnode, count = (size_t)matrix->count;
    near->outline = (ct_friction_matrix){.count = matrix->count,
                                         .nnode = matrix->nnode,
                                         .node = copy(&near->arena, matrix->node, 4 * count, sizeof(int)),
                                         .body = copy(&near->arena, matrix->body, n, sizeof(int)),
                                         .rest = copy(&near->arena, matrix->rest, 3 * n, sizeof(double)),
                                         .reach = copy(&near->arena, matrix->reach, n, sizeof(double)),
                                         .soft = copy(&near->arena, matrix->soft, n, sizeof(double))};
}

// The pattern and S of the matrix are the ones at hand.
static bool is_like(const ct_friction_matrix* a, const ct_friction_matrix* b) {
    const size_t n = (size_t)a->nnode, count = (size_t)a->count;
    return a->count == b->count && a->nnode == b->nnode &&
           !memcmp(a->node, b->node, 4 * count * sizeof(int)) && !memcmp(a->body, b->body, n * sizeof(int)) &&
           !memcmp(a->rest, b->rest, 3 * n * sizeof(double)) &&
           !memcmp(a->reach, b->reach, n * sizeof(double)) && !memcmp(a->soft, b->soft, n * sizeof(double));
}

// Every row of S and every contact couples its nodes.
static ct_status lay_out(ct_friction_near* near, const ct_friction_matrix* matrix) {
    const size_t n = (size_t)matrix->nnode, count = (size_t)matrix->count, pairs = (NEAREST - 1) * n;
    near->near = ct_arena_alloc(&near->arena, NEAREST * n, sizeof(int));
    near->S = ct_arena_alloc(&near->arena, NEAREST * n, sizeof(double));
    near->position = ct_arena_alloc(&near->arena, n, sizeof(int));
    near->x = ct_arena_alloc(&near->arena, 3 * n, sizeof(double));
    near->row = ct_arena_alloc(&near->arena, 3 * count, sizeof(double));
    near->base = ct_arena_alloc(&near->arena, 9 * count, sizeof(double));
    near->B = ct_arena_alloc(&near->arena, 9 * count, sizeof(double));
    near->rows = ct_arena_alloc(&near->arena, count, sizeof *near->rows);
    near->listed = ct_arena_alloc(&near->arena, count, 1);
    int* element = ct_arena_alloc(&near->arena, 4 * (pairs + count), sizeof(int));
    remember(near, matrix);
    if (near->arena.failed) return CT_OUT_OF_MEMORY;
    const line l = sort_nodes(matrix, near->position);
    for (int k = 0; k < matrix->nnode; k++) {
        int* list = near->near + NEAREST * (size_t)l.order[k];
        find_nearest(matrix, &l, k, list);
        invert_near(matrix, list, near->S + NEAREST * (size_t)l.order[k]);
    }
    for (size_t k = 0; k < pairs; k++) {
        const size_t i = k / (NEAREST - 1);
        element[4 * k] = (int)i;
        element[4 * k + 1] = near->near[NEAREST * i + 1 + k % (NEAREST - 1)];
        element[4 * k + 2] = element[4 * k + 3] = -1;
    }
    memcpy(element + 4 * pairs, matrix->node, 4 * count * sizeof(int));
    return ct_block_matrix_create(&near->N, &near->arena, matrix->nnode, (int)(pairs + count), 4, element);
}

static ct_status analyse(ct_friction_near* near, const ct_friction_matrix* matrix) {
    clear(near);
    ct_status status = lay_out(near, matrix);
    if (status == CT_OK) status = ct_symbolic_create(&near->symbolic, &near->N, CT_ORDER_METIS);
    if (status == CT_OK) status = ct_factor_create(&near->factor, near->symbolic, CT_PRECISION_SINGLE);
    if (status == CT_OK) status = ct_factor_work_create(&near->work, near->symbolic);
    if (status != CT_OK) {
        clear(near);
        return status;
    }
    const int* order = ct_symbolic_order(near->symbolic);
    for (int k = 0; k < matrix->nnode; k++) near->position[order[k]] = k;
    return CT_OK;
}

ct_status ct_friction_near_follow(ct_friction_near* near, const ct_friction_matrix* matrix) {
    if (near->stamp && near->stamp == matrix->stamp) return CT_OK;
    near->factored = false;
    if (!near->factor || !is_like(&near->outline, matrix)) {
        const ct_status status = analyse(near, matrix);
        if (status != CT_OK) return status;
    }
    near->matrix = matrix;
    near->stamp = matrix->stamp;
    return CT_OK;
}

// S, or its diagonal alone; half the sum of its rows and columns.
static void add_local(ct_friction_near* near, bool diagonal) {
    for (int i = 0; i < near->matrix->nnode; i++)
        for (int k = 0; k < (diagonal ? 1 : NEAREST); k++) {
            const int j = near->near[NEAREST * (size_t)i + (size_t)k];
            const double s = (i == j ? 1 : 0.5) * near->S[NEAREST * (size_t)i + (size_t)k];
            if (j >= 0) ct_block_matrix_add(&near->N, i, j, (double[9]){s, 0, 0, 0, s, 0, 0, 0, s});
        }
}

static void invert_rows(ct_friction_rows* r) {
    ct_mat3 E = ct_mat3_identity();
    for (int i = 0; i < r->rank; i++)
        for (int j = 0; j < r->rank; j++) E.a[i][j] = r->E[i][j];
    const ct_mat3 inverse = ct_mat3_inverse(E);
    memcpy(r->E, inverse.a, sizeof r->E);
}

// B = Q E^-1 Q^T
static void stiffness(const ct_friction_rows* r, double B[9]) {
    memset(B, 0, 9 * sizeof(double));
    for (int i = 0; i < r->rank; i++)
        for (int j = 0; j < r->rank; j++)
            for (int a = 0; a < 9; a++) B[a] += r->Q[i][a / 3] * r->E[i][j] * r->Q[j][a % 3];
}

// B at the contact's nodes.
static void add_contact(ct_friction_near* near, int c) {
    const double* block = near->base + 9 * (size_t)c;
    const int* node = near->matrix->node + 4 * (size_t)c;
    const double* w = near->matrix->weight + 4 * (size_t)c;
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 4; l++) {
            if (node[k] < 0 || node[l] < 0 || node[k] < node[l]) continue;
            double scaled[9];
            for (int a = 0; a < 9; a++) scaled[a] = w[k] * w[l] * block[a];
            ct_block_matrix_add(&near->N, node[k], node[l], scaled);
        }
}

ct_status ct_friction_near_factor(ct_friction_near* near, const ct_friction_rows* rows) {
    ct_status status = CT_SINGULAR;
    const size_t count = (size_t)near->matrix->count;
    memcpy(near->rows, rows, count * sizeof *rows);
    for (size_t c = 0; c < count; c++) {
        invert_rows(&near->rows[c]);
        stiffness(&near->rows[c], near->base + 9 * c);
    }
    memcpy(near->B, near->base, 9 * count * sizeof(double));
    memset(near->listed, 0, count);
    near->nchanged = 0;
    for (int diagonal = 0; diagonal < 2 && status == CT_SINGULAR; diagonal++) {
        ct_block_matrix_clear(&near->N);
        add_local(near, diagonal);
        for (int c = 0; c < near->matrix->count; c++) add_contact(near, c);
        status = ct_factor_update(near->factor, near->work, NULL, &near->N);
    }
    near->factored = status == CT_OK;
    return status;
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// f = Q a: right-hand sides of rows as a motion of the contact, and rows of a motion.
static void spread(const ct_friction_rows* r, const double* a, double f[3]) {
    f[0] = f[1] = f[2] = 0;
    for (int i = 0; i < r->rank; i++)
        for (int b = 0; b < 3; b++) f[b] += r->Q[i][b] * a[i];
}

// out = B motion
static void answer(const double* B, const double motion[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = dot(B + 3 * i, motion);
}

// The part of a motion that no row of the contact knows.
static void leave(const ct_friction_rows* r, const double motion[3], double out[3]) {
    memcpy(out, motion, 3 * sizeof(double));
    for (int i = 0; i < r->rank; i++) {
        const double along = dot(r->Q[i], motion);
        for (int b = 0; b < 3; b++) out[b] -= along * r->Q[i][b];
    }
}

// ---- changes -------------------------------------------------------------------------------

static double size_of(const double B[9]) {
    double sum = 0;
    for (int a = 0; a < 9; a++) sum += B[a] * B[a];
    return sqrt(sum);
}

// x += J_c^T f and moved = J_c x; x in factor order
static void push(const ct_friction_near* near, int c, const double f[3], double* x) {
    for (int k = 0; k < 4; k++) {
        const int v = near->matrix->node[4 * (size_t)c + (size_t)k];
        const double w = near->matrix->weight[4 * (size_t)c + (size_t)k];
        for (int b = 0; v >= 0 && b < 3; b++) x[3 * (size_t)near->position[v] + (size_t)b] += w * f[b];
    }
}

static void pull(const ct_friction_near* near, int c, const double* x, double moved[3]) {
    moved[0] = moved[1] = moved[2] = 0;
    for (int k = 0; k < 4; k++) {
        const int v = near->matrix->node[4 * (size_t)c + (size_t)k];
        const double w = near->matrix->weight[4 * (size_t)c + (size_t)k];
        for (int b = 0; v >= 0 && b < 3; b++) moved[b] += w * x[3 * (size_t)near->position[v] + (size_t)b];
    }
}

// Puts a contact on the list, with the motion N^-1 J_c^T of unit forces there.
static void list_change(ct_friction_near* near, int c) {
    const size_t size = 3 * (size_t)near->matrix->nnode;
    near->listed[c] = (unsigned char)(near->nchanged + 1);
    for (int a = 0; a < 3; a++) {
        double *V = near->V + (size_t)(3 * near->nchanged + a) * size, unit[3] = {a == 0, a == 1, a == 2};
        memset(V, 0, size * sizeof(double));
        push(near, c, unit, V);
        ct_factor_solve(near->factor, near->work, NULL, V, V);
    }
    near->changed[near->nchanged++] = c;
}

// I + Delta G, factored; G = J N^-1 J^T of the contacts on the list.
static ct_status factor_changes(ct_friction_near* near) {
    const size_t size = 3 * (size_t)near->matrix->nnode;
    const int n = 3 * near->nchanged;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < near->nchanged; k++) {
            double moved[3], *at = near->small + (size_t)j * (size_t)n + 3 * k;
            pull(near, near->changed[k], near->V + (size_t)j * size, moved);
            for (int a = 0; a < 3; a++) at[a] = dot(near->delta[k] + 3 * a, moved) + (3 * k + a == j);
        }
    int info = 0;
    if (n) dgetrf_(&n, &n, near->small, &n, near->pivot, &info);
    return info ? CT_SINGULAR : CT_OK;
}

// A contact's rows and B now, and B - B_before; true: it counts as changed.
static bool compare(const ct_friction_near* near, const ct_friction_rows* rows, int c, ct_friction_rows* now,
                    double after[9], double difference[9]) {
    const double* before = near->base + 9 * (size_t)c;
    *now = rows[c];
    invert_rows(now);
    stiffness(now, after);
    for (int a = 0; a < 9; a++) difference[a] = after[a] - before[a];
    return size_of(difference) > CHANGE * fmax(size_of(before), size_of(after));
}

ct_status ct_friction_near_update(ct_friction_near* near, const ct_friction_matrix* matrix,
                                  const ct_friction_rows* rows, bool* fits) {
    *fits = false;
    if (!near->factored || !near->stamp || near->stamp != matrix->stamp) return CT_OK;
    ct_friction_rows now;
    double B[9], difference[9];
    int most = near->nchanged;
    for (int c = 0; c < matrix->count && most <= MOST_CHANGED; c++)
        most += !near->listed[c] && compare(near, rows, c, &now, B, difference);
    if (most > MOST_CHANGED) return CT_OK;
    const size_t columns = 3 * MOST_CHANGED * 3 * (size_t)matrix->nnode;
    if (!ct_reserve((void**)&near->V, &near->V_size, columns, sizeof(double))) return CT_OUT_OF_MEMORY;
    for (int c = 0; c < matrix->count; c++) {
        const bool changed = compare(near, rows, c, &now, B, difference);
        if (!changed && !near->listed[c]) continue;
        if (!near->listed[c]) list_change(near, c);
        memcpy(near->delta[near->listed[c] - 1], difference, sizeof difference);
        near->rows[c] = now;
        memcpy(near->B + 9 * (size_t)c, B, sizeof B);
    }
    *fits = factor_changes(near) == CT_OK;
    return CT_OK;
}

// x = N^-1 x with the changes
static void solve_nodes(ct_friction_near* near, double* x) {
    const size_t size = 3 * (size_t)near->matrix->nnode;
    const int n = 3 * near->nchanged, one = 1;
    double g[3 * MOST_CHANGED];
    int info;
    ct_factor_solve(near->factor, near->work, NULL, x, x);
    if (!n) return;
    for (int k = 0; k < near->nchanged; k++) {
        double moved[3];
        pull(near, near->changed[k], x, moved);
        for (int a = 0; a < 3; a++) g[3 * k + a] = dot(near->delta[k] + 3 * a, moved);
    }
    dgetrs_("N", &n, &one, near->small, &n, near->pivot, g, &n, &info);
    for (int j = 0; j < n; j++)
        for (size_t i = 0; i < size; i++) x[i] -= g[j] * near->V[(size_t)j * size + i];
}

// ---- solution ------------------------------------------------------------------------------

void ct_friction_near_solve(ct_friction_near* near, const ct_friction_rows* rows, const double* a,
                            double* y) {
    const ct_friction_matrix* matrix = near->matrix;
    double* x = near->x;
    memset(x, 0, 3 * (size_t)matrix->nnode * sizeof(double));
    // C^T E^-1 a
    for (int c = 0; c < matrix->count; c++) {
        double motion[3], f[3];
        if (!rows[c].rank) continue;
        spread(&rows[c], a + rows[c].offset, motion);
        answer(near->B + 9 * (size_t)c, motion, f);
        push(near, c, f, x);
    }
    solve_nodes(near, x);
    for (int c = 0; c < matrix->count; c++) {
        double motion[3], moved[3], rest[3] = {0, 0, 0}, f[3];
        if (!rows[c].rank) continue;
        spread(&rows[c], a + rows[c].offset, motion);
        if (near->rows[c].rank < 3) leave(&near->rows[c], motion, rest);
        pull(near, c, x, moved);
        for (int b = 0; b < 3; b++) motion[b] -= moved[b];
        answer(near->B + 9 * (size_t)c, motion, f);
        for (int i = 0; i < rows[c].rank; i++)
            y[rows[c].offset + i] = dot(rows[c].Q[i], f) + dot(rows[c].Q[i], rest) / matrix->own[c];
    }
}
