// The compliance of contacts; see compliance.h.
#include "contact/compliance.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "contact/compliance_kernel.h"

// BLAS: C = alpha A A^T + beta C, lower triangle, column-major.
extern void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
                   const double* a, const int* lda, const double* beta, double* c, const int* ldc);

// LAPACK: Cholesky factorisation and its solve.
extern void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
extern void spotrs_(const char* uplo, const int* n, const int* nrhs, const float* a, const int* lda, float* b,
                    const int* ldb, int* info);

// error of a factor in single precision, up to which it is a good preconditioner
static const double precise = 1e-2;
static const size_t cache_bytes = (size_t)256 << 20;  // of columns, before all are forgotten
static const double reach = 0.5;                      // of the spacing of a surface's nodes

// K = L L^T at a list of nodes, without rotations.
typedef struct node_factor {
    int* node;      // nvert, the first `count`
    int count;      // -1: none
    bool factored;  // there is L
    bool good;      // it is precise enough
    float *K, *L;   // 3 count squared
    size_t K_capacity, L_capacity;
} node_factor;

struct ct_compliance {
    ct_arena arena;
    int nsurface;
    int* position;  // nsurface: factor positions of the free nodes on surfaces
    int* surface;   // nvert: place in `position`, -1: not free or not on a surface
    // columns of A^-1, nsurface blocks each
    int* slot;  // nsurface: of its columns, -1: not known
    float* column;
    size_t capacity;  // slots
    int count;
    ct_factor_identity known;  // the factor that they belong to
    // the nodes of the touches at hand
    int* local;         // nvert: place among them, -1: none
    int* node;          // nvert: the nodes
    int* wanted;        // nsurface
    int* place;         // nnode: factor positions of the nodes at hand, -1: not free
    double *K, *T, *Y;  // 3 m x 3 m; 3 x 3 m; ndof x 3 m, m the number of nodes
    size_t K_capacity, T_capacity, Y_capacity;
    node_factor kept[2];  // of the last two lists of nodes: a model step and a Newton step may differ
    int last;             // of these, used last
    float* probe;         // 9 nvert
    double* R;            // 9 nvert: rotations of the nodes at hand
    ct_friction_nodes nodes;
    ct_compliance_combine* combine;
    ct_compliance_arm* arm;  // of the touches at hand
    size_t arm_size;
    // the outline of many touches
    double* spacing;              // nvert, m: mean length of the edges of the surface at a node
    uint64_t stamp;               // of the outline, 0: none
    int outlined;                 // touches of the outline
    int *member, *member_before;  // 4 a touch; and as they were before
    double *weight, *weight_before, *own;
    size_t member_size, member_before_size, weight_size, weight_before_size, own_size;
    int* body;  // a node
    double *rest, *reach, *soft;
};

static double rest_distance(const ct_collision* collision, int v, int w) {
    const double *a = collision->rest + 3 * v, *b = collision->rest + 3 * w;
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void measure_spacing(ct_compliance* c, const ct_collision* collision) {
    int* edges = c->node;  // at each node, for a moment
    for (int e = 0; e < collision->nedge; e++) {
        const int* ends = collision->edge + 2 * e;
        for (int k = 0; k < 2; k++) {
            c->spacing[ends[k]] += rest_distance(collision, ends[0], ends[1]);
            edges[ends[k]]++;
        }
    }
    for (int v = 0; v < collision->nvert; v++) {
        c->spacing[v] = edges[v] ? c->spacing[v] / edges[v] : 1;
        edges[v] = 0;
    }
}

extern ct_compliance_combine ct_compliance_combine_portable;
#ifdef CT_HAVE_X86_KERNELS
extern ct_compliance_combine ct_compliance_combine_avx2, ct_compliance_combine_avx512;
#endif

static ct_compliance_combine* combine_of(ct_isa isa) {
#ifdef CT_HAVE_X86_KERNELS
    if (isa == CT_ISA_AVX512) return ct_compliance_combine_avx512;
    if (isa == CT_ISA_AVX2) return ct_compliance_combine_avx2;
#endif
    return ct_compliance_combine_portable;
}

ct_status ct_compliance_create(ct_compliance** out, const ct_collision* collision, int nfree,
                               const int* node) {
    *out = NULL;
    ct_compliance* c = ct_alloc(1, sizeof *c);
    if (!c) return CT_OUT_OF_MEMORY;
    size_t nvert = (size_t)collision->nvert, nnode = (size_t)collision->nnode;
    c->combine = combine_of(ct_cpu_isa());
    c->position = ct_arena_alloc(&c->arena, nnode, sizeof(int));
    c->slot = ct_arena_alloc(&c->arena, nnode, sizeof(int));
    c->wanted = ct_arena_alloc(&c->arena, nnode, sizeof(int));
    c->place = ct_arena_alloc(&c->arena, nnode, sizeof(int));
    c->surface = ct_arena_alloc(&c->arena, nvert, sizeof(int));
    c->local = ct_arena_alloc(&c->arena, nvert, sizeof(int));
    c->node = ct_arena_alloc(&c->arena, nvert, sizeof(int));
    for (int i = 0; i < 2; i++)
        c->kept[i] = (node_factor){.node = ct_arena_alloc(&c->arena, nvert, sizeof(int)), .count = -1};
    c->probe = ct_arena_alloc(&c->arena, 9 * nvert, sizeof(float));
    c->R = ct_arena_alloc(&c->arena, 9 * nvert, sizeof(double));
    c->nodes.scratch = ct_arena_alloc(&c->arena, 6 * nvert, sizeof(float));
    c->spacing = ct_arena_alloc(&c->arena, nvert, sizeof(double));
    c->body = ct_arena_alloc(&c->arena, nnode, sizeof(int));
    c->rest = ct_arena_alloc(&c->arena, 3 * nnode, sizeof(double));
    c->reach = ct_arena_alloc(&c->arena, nnode, sizeof(double));
    c->soft = ct_arena_alloc(&c->arena, nnode, sizeof(double));
    if (c->arena.failed) {
        ct_compliance_free(c);
        return CT_OUT_OF_MEMORY;
    }
    int* position = c->local;  // of every node, for a moment
    for (int v = 0; v < collision->nvert; v++) position[v] = c->surface[v] = -1;
    for (int k = 0; k < nfree; k++) position[node[k]] = k;
    for (int i = 0; i < collision->nnode; i++) {
        int v = collision->node[i];
        if (position[v] < 0) continue;
        c->surface[v] = c->nsurface;
        c->position[c->nsurface++] = position[v];
    }
    for (int v = 0; v < collision->nvert; v++) c->local[v] = -1;
    measure_spacing(c, collision);
    *out = c;
    return CT_OK;
}

void ct_compliance_free(ct_compliance* c) {
    if (!c) return;
    ct_free(c->column);
    ct_free(c->arm);
    ct_free(c->K);
    ct_free(c->T);
    ct_free(c->Y);
    for (int i = 0; i < 2; i++) ct_free(c->kept[i].K), ct_free(c->kept[i].L);
    ct_free(c->member);
    ct_free(c->member_before);
    ct_free(c->weight);
    ct_free(c->weight_before);
    ct_free(c->own);
    ct_arena_free(&c->arena);
    ct_free(c);
}

// ---- columns of A^-1 -----------------------------------------------------------------------

static void forget(ct_compliance* c) {
    c->count = 0;
    for (int i = 0; i < c->nsurface; i++) c->slot[i] = -1;
}

static bool is_same(const ct_factor_identity* a, const ct_factor_identity* b) {
    return a->factor == b->factor && a->stamp == b->stamp && a->version == b->version && a->level == b->level;
}

static void follow_factor(ct_compliance* c, const ct_response* response) {
    if (is_same(&c->known, &response->identity) && c->count) return;
    c->known = response->identity;
    c->kept[0].count = c->kept[1].count = -1;
    forget(c);
}

// Makes the columns of the nodes at hand that are not known yet.
static ct_status fetch(ct_compliance* c, const ct_response* response, int nnode) {
    size_t size = 9 * (size_t)c->nsurface;
    follow_factor(c, response);
    int missing = 0;
    for (int i = 0; i < nnode; i++) {
        int s = c->surface[c->node[i]];
        if (s >= 0 && c->slot[s] < 0) missing++;
    }
    if (!missing) return CT_OK;
    if ((size_t)(c->count + missing) * size * sizeof(float) > cache_bytes) forget(c);
    int first = c->count, count = 0;
    for (int i = 0; i < nnode; i++) {
        int s = c->surface[c->node[i]];
        if (s < 0 || c->slot[s] >= 0) continue;
        c->wanted[count++] = c->position[s];
        c->slot[s] = c->count++;
    }
    if (!ct_reserve((void**)&c->column, &c->capacity, (size_t)c->count, size * sizeof(float))) {
        forget(c);
        return CT_OUT_OF_MEMORY;
    }
    ct_status status = response->columns(response->user, count, c->wanted, c->nsurface, c->position,
                                         c->column + (size_t)first * size);
    if (status != CT_OK) forget(c);
    return status;
}

// ---- K -------------------------------------------------------------------------------------

// out = A K B^T of row-major 3x3 matrices, to a column-major matrix.
static void put_block(const double* A, const float* K, const double* B, double* out, size_t stride) {
    double half[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            half[3 * i + j] = A[3 * i] * K[j] + A[3 * i + 1] * K[3 + j] + A[3 * i + 2] * K[6 + j];
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; i < 3; i++)
            out[j * stride + i] =
                half[3 * i] * B[3 * j] + half[3 * i + 1] * B[3 * j + 1] + half[3 * i + 2] * B[3 * j + 2];
}

// The upper triangle from the lower one, tile by tile.
static void mirror(size_t side, double* K) {
    enum { TILE = 32 };
    for (size_t j0 = 0; j0 < side; j0 += TILE)
        for (size_t i0 = j0; i0 < side; i0 += TILE)
            for (size_t j = j0; j < j0 + TILE && j < side; j++)
                for (size_t i = i0 > j ? i0 : j + 1; i < i0 + TILE && i < side; i++)
                    K[i * side + j] = K[j * side + i];
}

// The free nodes' part, lower triangle. The block of two nodes is read from the columns of the one that comes
// first on the surface, whatever was asked for first: the same for every history.
static void gather(const ct_compliance* c, const double* warp, int m, double* K) {
    size_t stride = 3 * (size_t)m;
    for (int j = 0; j < m; j++) {
        int sj = c->surface[c->node[j]];
        for (int i = j; i < m; i++) {
            int si = c->surface[c->node[i]];
            double* out = K + (size_t)(3 * j) * stride + (size_t)(3 * i);
            if (si < 0 || sj < 0) {
                for (size_t b = 0; b < 3; b++)
                    for (size_t a = 0; a < 3; a++) out[b * stride + a] = 0;
                continue;
            }
            // nodes are in ascending order: sj <= si
            const float* block = c->column + ((size_t)c->slot[sj] * (size_t)c->nsurface + (size_t)si) * 9;
            put_block(warp + 9 * (size_t)c->position[si], block, warp + 9 * (size_t)c->position[sj], out,
                      stride);
        }
    }
}

// K, 3 m x 3 m.
static ct_status build_nodes(ct_compliance* c, const ct_response* response, int m, double* K) {
    size_t side = 3 * (size_t)m, n = (size_t)response->ndof;
    gather(c, response->warp, m, K);
    if (!n) {
        mirror(side, K);
        return CT_OK;
    }
    if (!ct_reserve((void**)&c->Y, &c->Y_capacity, side * n + 1, sizeof(double))) return CT_OUT_OF_MEMORY;
    int rows = (int)side, inner = (int)n;
    double one = 1;
    for (int i = 0; i < m; i++) {
        int s = c->surface[c->node[i]];
        c->place[i] = s >= 0 ? c->position[s] : -1;
    }
    response->joints(response->user, m, c->node, c->place, c->Y);
    dsyrk_("L", "T", &rows, &inner, &one, c->Y, &inner, &one, K, &rows);
    mirror(side, K);
    return CT_OK;
}

// ---- what is kept of nodes -----------------------------------------------------------------

// K of the nodes at hand, all free.
static ct_status pack_nodes(ct_compliance* c, int m, node_factor* f) {
    size_t n = 3 * (size_t)m;
    f->count = -1;
    if (!ct_reserve((void**)&f->K, &f->K_capacity, n * n, sizeof(float))) return CT_OUT_OF_MEMORY;
    for (int j = 0; j < m; j++) {
        const float* column = c->column + (size_t)c->slot[c->surface[c->node[j]]] * (size_t)c->nsurface * 9;
        for (int i = j; i < m; i++) {
            const float* block = column + 9 * (size_t)c->surface[c->node[i]];
            for (size_t b = 0; b < 3; b++)
                for (size_t a = 0; a < 3; a++) {
                    const size_t row = 3 * (size_t)i + a, at = 3 * (size_t)j + b;
                    f->K[at * n + row] = f->K[row * n + at] =
                        i == j && a < b ? block[3 * b + a] : block[3 * a + b];
                }
        }
    }
    f->count = m;
    f->factored = false;
    memcpy(f->node, c->node, (size_t)m * sizeof(int));
    return CT_OK;
}

// What is kept of the nodes at hand.
static ct_status find_nodes(ct_compliance* c, int m, node_factor** out) {
    for (int i = 0; i < 2; i++) {
        node_factor* f = &c->kept[i];
        if (f->count != m || memcmp(f->node, c->node, (size_t)m * sizeof(int)) != 0) continue;
        c->last = i;
        *out = f;
        return CT_OK;
    }
    c->last = !c->last;
    *out = &c->kept[c->last];
    return pack_nodes(c, m, *out);
}

static bool are_free(const ct_compliance* c, int m) {
    for (int i = 0; i < m; i++)
        if (c->surface[c->node[i]] < 0) return false;
    return true;
}

static void gather_rotations(ct_compliance* c, const ct_response* response, int m) {
    for (int i = 0; i < m; i++)
        memcpy(c->R + 9 * (size_t)i, response->warp + 9 * (size_t)c->position[c->surface[c->node[i]]],
               9 * sizeof(double));
}

// ---- W -------------------------------------------------------------------------------------

// The nodes of the touches that can move, ascending.
static int list_nodes(ct_compliance* c, const ct_collision* collision, const ct_touch* touch, int count,
                      const int* which) {
    int m = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < touch[which[i]].at.count; k++) {
            int v = touch[which[i]].is.pair.node[k];
            if (c->local[v] >= 0 || (c->surface[v] < 0 && collision->node_rigid[v] < 0)) continue;
            c->local[v] = 0;
            c->node[m++] = v;
        }
    // insertion into order; contacts come nearly sorted
    for (int i = 1; i < m; i++) {
        int v = c->node[i], k = i;
        for (; k > 0 && c->node[k - 1] > v; k--) c->node[k] = c->node[k - 1];
        c->node[k] = v;
    }
    for (int i = 0; i < m; i++) c->local[c->node[i]] = i;
    return m;
}

static void combine(const ct_compliance* c, const ct_touch* touch, int count, const int* which, int m,
                    double* W) {
    size_t side = 3 * (size_t)m, stride = 3 * (size_t)count;
    double* T = c->T;
    for (int i = 0; i < count; i++) {
        const ct_touch* first = &touch[which[i]];
        memset(T, 0, 3 * side * sizeof(double));
        for (int k = 0; k < first->at.count; k++) {
            int l = c->local[first->is.pair.node[k]];
            if (l < 0) continue;
            double w = first->at.w[k];
            for (size_t a = 0; a < 3; a++) {
                const double* row = c->K + (3 * (size_t)l + a) * side;
                for (size_t p = 0; p < side; p++) T[a * side + p] += w * row[p];
            }
        }
        for (int j = 0; j <= i; j++) {
            const ct_touch* second = &touch[which[j]];
            double block[9] = {0};
            for (int k = 0; k < second->at.count; k++) {
                int l = c->local[second->is.pair.node[k]];
                if (l < 0) continue;
                double w = second->at.w[k];
                for (size_t a = 0; a < 3; a++)
                    for (size_t b = 0; b < 3; b++) block[3 * a + b] += w * T[a * side + 3 * (size_t)l + b];
            }
            for (size_t a = 0; a < 3; a++)
                for (size_t b = 0; b < 3; b++) {
                    W[(3 * (size_t)j + b) * stride + 3 * (size_t)i + a] = block[3 * a + b];
                    W[(3 * (size_t)i + a) * stride + 3 * (size_t)j + b] = block[3 * a + b];
                }
        }
    }
}

// Every touch is a node of its own, in the order of the nodes: K is W.
static bool is_nodal(const ct_compliance* c, const ct_touch* touch, int count, const int* which, int m) {
    if (m != count) return false;
    for (int i = 0; i < count; i++)
        if (touch[which[i]].at.count != 1 || c->local[touch[which[i]].is.pair.node[0]] != i) return false;
    return true;
}

// By K at the nodes, with what rates of joints add to it.
static ct_status update_joined(ct_compliance* c, const ct_response* response, const ct_touch* touch,
                               int count, const int* which, int m, double* W) {
    const size_t side = 3 * (size_t)m;
    if (!ct_reserve((void**)&c->K, &c->K_capacity, side * side, sizeof(double)) ||
        !ct_reserve((void**)&c->T, &c->T_capacity, 3 * side, sizeof(double)))
        return CT_OUT_OF_MEMORY;
    const ct_status status = build_nodes(c, response, m, c->K);
    if (status == CT_OK) combine(c, touch, count, which, m, W);
    return status;
}

// By what is kept of the nodes.
static ct_status update_turned(ct_compliance* c, const ct_response* response, const ct_touch* touch,
                               int count, const int* which, int m, double* W) {
    node_factor* f = NULL;
    if (!ct_reserve((void**)&c->arm, &c->arm_size, CT_COMPLIANCE_ARMS * (size_t)count, sizeof *c->arm))
        return CT_OUT_OF_MEMORY;
    const ct_status status = find_nodes(c, m, &f);
    if (status != CT_OK) return status;
    for (int i = 0; i < count; i++) {
        const ct_touch* t = &touch[which[i]];
        for (int k = 0; k < CT_COMPLIANCE_ARMS; k++) {
            ct_compliance_arm* arm = &c->arm[CT_COMPLIANCE_ARMS * i + k];
            *arm = (ct_compliance_arm){.node = k < t->at.count ? c->local[t->is.pair.node[k]] : -1};
            if (arm->node < 0) continue;
            const double* R = response->warp + 9 * (size_t)c->position[c->surface[c->node[arm->node]]];
            for (int a = 0; a < 9; a++) arm->R[a % 3][a / 3] = (float)(t->at.w[k] * R[a]);
        }
    }
    c->combine(count, c->arm, 3 * (size_t)m, f->K, c->probe, W);
    return CT_OK;
}

ct_status ct_compliance_update(ct_compliance* c, const ct_collision* collision, const ct_response* response,
                               const ct_touch* touch, int count, const int* which, double* W) {
    const int m = list_nodes(c, collision, touch, count, which);
    ct_status status = c->nsurface ? fetch(c, response, m) : CT_OK;
    if (status == CT_OK && is_nodal(c, touch, count, which, m)) status = build_nodes(c, response, m, W);
    else if (status == CT_OK && !response->ndof && are_free(c, m))
        status = update_turned(c, response, touch, count, which, m, W);
    else if (status == CT_OK) status = update_joined(c, response, touch, count, which, m, W);
    for (int i = 0; i < m; i++) c->local[c->node[i]] = -1;
    return status;
}

// ---- W^-1 ----------------------------------------------------------------------------------

static float sign_of(int i) { return ((unsigned)i * 2654435761u >> 16) & 1 ? 1 : -1; }

// Largest error of the solution of K x = b when x is a vector of signs; b: changed.
static double factor_error(const node_factor* f, float* b) {
    int n = 3 * f->count, one = 1, info;
    double worst = 0;
    spotrs_("L", &n, &one, f->L, &n, b, &n, &info);
    for (int i = 0; i < n; i++) {
        double error = fabs((double)b[i] - (double)sign_of(i));
        worst = error <= worst ? worst : error;  // keeps what is not a number
    }
    return worst;
}

// L L^T = K.
static ct_status factor_nodes(ct_compliance* c, node_factor* f) {
    size_t n = 3 * (size_t)f->count;
    if (!ct_reserve((void**)&f->L, &f->L_capacity, n * n, sizeof(float))) return CT_OUT_OF_MEMORY;
    for (size_t i = 0; i < n; i++) c->probe[i] = 0;
    for (size_t j = 0; j < n; j++) {
        const float sign = sign_of((int)j);
        for (size_t i = 0; i < n; i++) c->probe[i] += sign * f->K[j * n + i];
        memcpy(f->L + j * n + j, f->K + j * n + j, (n - j) * sizeof(float));
    }
    int rows = (int)n, info = 0;
    spotrf_("L", &rows, f->L, &rows, &info);
    f->factored = true;
    f->good = info == 0 && factor_error(f, c->probe) <= precise;
    return CT_OK;
}

ct_status ct_compliance_invert(ct_compliance* c, const ct_collision* collision, const ct_response* response,
                               const ct_touch* touch, int count, const int* which,
                               ct_friction_inverse* inverse) {
    *inverse = (ct_friction_inverse){.count = count};
    int stick = 0;
    for (int i = 0; i < count; i++) stick += touch[which[i]].is.set == CT_CONTACT_SET_STICK;
    if (response->ndof || !c->nsurface || 2 * stick < count) return CT_OK;
    int m = list_nodes(c, collision, touch, count, which);
    ct_status status = CT_OK;
    if (is_nodal(c, touch, count, which, m) && are_free(c, m)) {
        node_factor* f = NULL;
        status = fetch(c, response, m);
        if (status == CT_OK) status = find_nodes(c, m, &f);
        if (status == CT_OK && !f->factored) status = factor_nodes(c, f);
        gather_rotations(c, response, m);
        if (status == CT_OK && f->good) inverse->L = f->L, inverse->R = c->R;
    }
    for (int i = 0; i < m; i++) c->local[c->node[i]] = -1;
    return status;
}

// ---- nodes ---------------------------------------------------------------------------------

ct_status ct_compliance_nodes(ct_compliance* c, const ct_collision* collision, const ct_response* response,
                              const ct_touch* touch, int count, const int* which, ct_friction_matrix* out) {
    *out = (ct_friction_matrix){.count = count};
    if (response->ndof || !c->nsurface) return CT_OK;
    if (!ct_reserve((void**)&c->own, &c->own_size, (size_t)count, sizeof(double))) return CT_OUT_OF_MEMORY;
    int m = list_nodes(c, collision, touch, count, which);
    ct_status status = CT_OK;
    if (is_nodal(c, touch, count, which, m) && are_free(c, m)) {
        node_factor* f = NULL;
        status = fetch(c, response, m);
        if (status == CT_OK) status = find_nodes(c, m, &f);
        gather_rotations(c, response, m);
        for (size_t i = 0; status == CT_OK && i < (size_t)m; i++) {
            const size_t step = 3 * (size_t)m + 1;
            const float* K = f->K + 3 * i * step;
            c->own[i] = (double)(K[0] + K[step] + K[2 * step]) / 3;
        }
        if (status == CT_OK) c->nodes.K = f->K, c->nodes.R = c->R, out->nodes = &c->nodes, out->own = c->own;
    }
    for (int i = 0; i < m; i++) c->local[c->node[i]] = -1;
    return status;
}

// ---- the outline ---------------------------------------------------------------------------

void ct_compliance_begin(ct_compliance* c) { c->outlined = -1; }

static bool reserve_outline(ct_compliance* c, size_t count) {
    return ct_reserve((void**)&c->member, &c->member_size, 4 * count, sizeof(int)) &&
           ct_reserve((void**)&c->member_before, &c->member_before_size, 4 * count, sizeof(int)) &&
           ct_reserve((void**)&c->weight, &c->weight_size, 4 * count, sizeof(double)) &&
           ct_reserve((void**)&c->weight_before, &c->weight_before_size, 4 * count, sizeof(double)) &&
           ct_reserve((void**)&c->own, &c->own_size, count, sizeof(double));
}

// Nodes that give way, in the order of the surface.
static int outline_nodes(ct_compliance* c, const ct_collision* collision, double rate, const ct_touch* touch,
                         int count, const int* which) {
    int m = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < touch[which[i]].at.count; k++) c->local[touch[which[i]].is.pair.node[k]] = 0;
    for (int i = 0; i < collision->nnode; i++) {
        const int v = collision->node[i];
        if (c->local[v] < 0) continue;
        const double soft = ct_softness_node(&collision->softness, v, rate);
        c->local[v] = soft > 0 ? m : -1;
        if (!(soft > 0)) continue;
        c->node[m] = v;
        c->body[m] = collision->node_owner[i];
        memcpy(c->rest + 3 * (size_t)m, collision->rest + 3 * (size_t)v, 3 * sizeof(double));
        c->reach[m] = reach * c->spacing[v];
        c->soft[m++] = soft;
    }
    return m;
}

// Members, weights and own compliances; true: the first two are what they were.
static bool outline_touches(ct_compliance* c, const ct_touch* touch, int count, const int* which) {
    for (int i = 0; i < count; i++) {
        const ct_touch* t = &touch[which[i]];
        c->own[i] = 0;
        for (int k = 0; k < 4; k++) {
            const bool there = k < t->at.count && c->local[t->is.pair.node[k]] >= 0;
            const size_t at = 4 * (size_t)i + (size_t)k;
            c->member[at] = there ? c->local[t->is.pair.node[k]] : -1;
            c->weight[at] = there ? t->at.w[k] : 0;
            if (there) c->own[i] += c->weight[at] * c->weight[at] * c->soft[c->member[at]];
        }
    }
    const size_t size = 4 * (size_t)count;
    return c->outlined == count && !memcmp(c->member, c->member_before, size * sizeof(int)) &&
           !memcmp(c->weight, c->weight_before, size * sizeof(double));
}

ct_status ct_compliance_outline(ct_compliance* c, const ct_collision* collision, double rate,
                                const ct_touch* touch, int count, const int* which, ct_friction_matrix* out) {
    if (!reserve_outline(c, (size_t)count)) return CT_OUT_OF_MEMORY;
    const int m = outline_nodes(c, collision, rate, touch, count, which);
    if (!outline_touches(c, touch, count, which)) {
        c->stamp++;
        c->outlined = count;
        memcpy(c->member_before, c->member, 4 * (size_t)count * sizeof(int));
        memcpy(c->weight_before, c->weight, 4 * (size_t)count * sizeof(double));
    }
    for (int i = 0; i < m; i++) c->local[c->node[i]] = -1;
    *out = (ct_friction_matrix){.count = count,
                                .stamp = c->stamp,
                                .own = c->own,
                                .node = c->member,
                                .weight = c->weight,
                                .nnode = m,
                                .body = c->body,
                                .rest = c->rest,
                                .reach = c->reach,
                                .soft = c->soft};
    return CT_OK;
}
