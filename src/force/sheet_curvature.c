// Curvatures of triangles from the angles of hinges; see sheet_curvature.h.
#include "force/sheet_curvature.h"

#include <math.h>
#include <string.h>

#include "math/svd3.h"

enum { MOST_RINGS = 3, MOST_TRIANGLES = 2 + 4 + 8 + 16, MOST_HINGES = 3 * MOST_TRIANGLES };
static const double least_spread = 0.02;  // of the squares of what the angles tell, least over most

// A triangle of a patch, unfolded into the plane.
typedef struct placed {
    int tri;
    double turn;     // 1: counter-clockwise in the plane as in the mesh, -1: the other way round
    double x[3][2];  // corners
} placed;

typedef struct patch {
    int count, ring[MOST_RINGS + 2];  // triangles; those of ring r begin at ring[r]
    placed triangle[MOST_TRIANGLES];
} patch;

// Shares of the angles of some hinges in the slope of a hinge's first triangle.
typedef struct shares {
    int count, hinge[MOST_HINGES];
    double of[MOST_HINGES];
} shares;

// ---- the mesh ------------------------------------------------------------------------------

static ct_vec3 corner_at(const ct_sheet_mesh* mesh, int t, int k) {
    return ct_vec3_load(mesh->rest + 3 * (size_t)mesh->tri[3 * t + k % 3]);
}

// The corner opposite to the hinge.
static int corner_of(const ct_sheet_mesh* mesh, int t, int hinge) {
    return mesh->edge[3 * t] == hinge ? 0 : mesh->edge[3 * t + 1] == hinge ? 1 : 2;
}

static double hinge_length(const ct_sheet_mesh* mesh, int hinge) {
    const int* node = mesh->hinge_node + 4 * (size_t)hinge;
    return ct_vec3_norm(ct_vec3_sub(ct_vec3_load(mesh->rest + 3 * (size_t)node[1]),
                                    ct_vec3_load(mesh->rest + 3 * (size_t)node[0])));
}

// 1: seen from the triangle's side the hinge opens as its angle says; -1: the triangles at the hinge face
// opposite sides, and this one is the second.
static double sense(const ct_sheet_mesh* mesh, int t, int hinge) {
    const int *node = mesh->hinge_node + 4 * (size_t)hinge, *tri = mesh->tri + 3 * (size_t)t;
    const int k = corner_of(mesh, t, hinge);
    const bool along = tri[(k + 1) % 3] == node[0];
    return (mesh->hinge_tri[2 * hinge] == t) == along ? 1 : -1;
}

// ---- unfolding -----------------------------------------------------------------------------

// Places a triangle whose corners k+1 and k+2 are at u and v.
static void place(const ct_sheet_mesh* mesh, patch* p, int t, int k, double turn, const double u[2],
                  const double v[2]) {
    placed* out = &p->triangle[p->count++];
    const ct_vec3 from = corner_at(mesh, t, k + 1), e = ct_vec3_sub(corner_at(mesh, t, k + 2), from);
    const double square = ct_vec3_dot(e, e);
    const double along = ct_vec3_dot(ct_vec3_sub(corner_at(mesh, t, k), from), e) / square,
                 aside = turn * 2 * mesh->area[t] / square;
    const double l[2] = {v[0] - u[0], v[1] - u[1]};
    out->tri = t, out->turn = turn;
    for (int i = 0; i < 2; i++) out->x[(k + 1) % 3][i] = u[i], out->x[(k + 2) % 3][i] = v[i];
    out->x[k][0] = u[0] + along * l[0] - aside * l[1];
    out->x[k][1] = u[1] + along * l[1] + aside * l[0];
}

static const placed* find(const patch* p, int t) {
    for (int i = 0; i < p->count; i++)
        if (p->triangle[i].tri == t) return &p->triangle[i];
    return NULL;
}

static bool is_live(const ct_sheet_mesh* mesh, int t) { return t >= 0 && !mesh->held[t]; }

// Triangle t on the other side of a hinge from one that has been placed.
static void place_beyond(const ct_sheet_mesh* mesh, patch* p, const placed* from, int hinge, int t) {
    const int near = corner_of(mesh, from->tri, hinge), k = corner_of(mesh, t, hinge);
    const int first = mesh->tri[3 * t + (k + 1) % 3];
    const bool same = mesh->tri[3 * from->tri + (near + 1) % 3] == first;  // both run the same way
    const double *a = from->x[(near + 1) % 3], *b = from->x[(near + 2) % 3];
    place(mesh, p, t, k, same ? -from->turn : from->turn, same ? a : b, same ? b : a);
}

static void begin_patch(const ct_sheet_mesh* mesh, int hinge, patch* p) {
    const int t = mesh->hinge_tri[2 * hinge], k = corner_of(mesh, t, hinge);
    const double half = 0.5 * hinge_length(mesh, hinge), u[2] = {-half, 0}, v[2] = {half, 0};
    p->count = 0;
    place(mesh, p, t, k, 1, u, v);
    place_beyond(mesh, p, &p->triangle[0], hinge, mesh->hinge_tri[2 * hinge + 1]);
    p->ring[0] = 0, p->ring[1] = 2;
}

static void add_ring(const ct_sheet_mesh* mesh, patch* p, int ring) {
    for (int i = p->ring[ring - 1]; i < p->ring[ring]; i++)
        for (int k = 0; k < 3; k++) {
            const int hinge = mesh->edge[3 * p->triangle[i].tri + k];
            for (int side = 0; hinge >= 0 && side < 2; side++) {
                const int t = mesh->hinge_tri[2 * hinge + side];
                if (is_live(mesh, t) && !find(p, t)) place_beyond(mesh, p, &p->triangle[i], hinge, t);
            }
        }
    p->ring[ring + 1] = p->count;
}

// ---- sharing an angle ----------------------------------------------------------------------

// tau in the coordinates B x, B lower triangular.
static ct_vec3 slope_of(const ct_sheet_mesh* mesh, const placed* t, int hinge, const double B[3]) {
    const int k = corner_of(mesh, t->tri, hinge);
    const double *u = t->x[(k + 1) % 3], *v = t->x[(k + 2) % 3], *p = t->x[k];
    const double ex = v[0] - u[0], ey = v[1] - u[1], h = 2 * mesh->area[t->tri] / sqrt(ex * ex + ey * ey);
    const double ax = p[0] - 0.5 * (u[0] + v[0]), ay = p[1] - 0.5 * (u[1] + v[1]);
    const double lx = B[0] * ex, ly = B[1] * ex + B[2] * ey, dx = B[0] * ax, dy = B[1] * ax + B[2] * ay;
    return ct_vec3_scale(
        1 / h, (ct_vec3){dx * dx / 2 - lx * lx / 8, dy * dy / 2 - ly * ly / 8, dx * dy - lx * ly / 4});
}

// B with B S B^T = 1 for the mean S of l l^T over the edges of the two triangles: the patch becomes as wide
// as long.
static void whiten(const patch* p, double B[3]) {
    double xx = 0, xy = 0, yy = 0;
    for (int i = 0; i < 6; i++) {
        const double *u = p->triangle[i / 3].x[i % 3], *v = p->triangle[i / 3].x[(i + 1) % 3];
        const double ex = v[0] - u[0], ey = v[1] - u[1];
        xx += ex * ex / 6, xy += ex * ey / 6, yy += ey * ey / 6;
    }
    const double root = sqrt(xx), below = xy / root, rest = sqrt(yy - below * below);
    B[0] = 1 / root, B[1] = -below / (root * rest), B[2] = 1 / rest;
}

// The hinges of the triangles of the rings before `ring`, the patch's own first.
static void gather(const ct_sheet_mesh* mesh, const patch* p, int hinge, int ring, shares* F) {
    F->count = 1, F->hinge[0] = hinge;
    for (int i = 0; i < 3 * p->ring[ring]; i++) {
        const int f = mesh->edge[3 * p->triangle[i / 3].tri + i % 3];
        bool known = f < 0;
        for (int j = 0; j < F->count && !known; j++) known = F->hinge[j] == f;
        if (!known) F->hinge[F->count++] = f;
    }
}

// Columns a_f, for angles that count as the patch's first triangle sees them; turn: 1, or -1 where the mesh
// counts them the other way.
static void columns(const ct_sheet_mesh* mesh, const patch* p, const shares* F, const double B[3],
                    ct_vec3* column, double* turn) {
    for (int j = 0; j < F->count; j++) {
        const int f = F->hinge[j];
        column[j] = (ct_vec3){0, 0, 0};
        turn[j] = 0;
        for (int side = 0; side < 2; side++) {
            const int t = mesh->hinge_tri[2 * f + side];
            const placed* at = is_live(mesh, t) ? find(p, t) : NULL;
            if (!at) continue;
            column[j] = ct_vec3_add(column[j], slope_of(mesh, at, f, B));
            if (turn[j] == 0) turn[j] = at->turn * sense(mesh, t, f);
        }
    }
}

static void add_outer(ct_mat3* A, double w, ct_vec3 v) {
    const double a[3] = {v.x, v.y, v.z};
    for (int i = 0; i < 9; i++) A->a[i / 3][i % 3] += w * a[i / 3] * a[i % 3];
}

// The symmetric A to the power -1 on its eigenvectors beyond `least` of the largest eigenvalue.
static ct_vec3 solve(ct_mat3 A, double least, ct_vec3 b) {
    double w[3];
    ct_mat3 V;
    ct_vec3 x = {0, 0, 0};
    ct_symmetric3(A, w, &V);
    for (int i = 0; i < 3; i++) {
        const ct_vec3 v = {V.a[0][i], V.a[1][i], V.a[2][i]};
        if (w[i] > least * w[2]) x = ct_vec3_axpy(x, ct_vec3_dot(v, b) / w[i], v);
    }
    return x;
}

static bool tells_all(ct_mat3 A, int count) {
    double w[3];
    ct_mat3 V;
    ct_symmetric3(A, w, &V);
    return count >= 3 && w[0] > least_spread * w[2];
}

// s_{T1,e} = sum c_f theta_f of a hinge between two triangles that deform.
static void share(const ct_sheet_mesh* mesh, int hinge, shares* F) {
    patch p;
    ct_vec3 column[MOST_HINGES];
    double turn[MOST_HINGES], weight[MOST_HINGES], B[3];
    ct_mat3 plain, weighted;
    bool full = false;
    begin_patch(mesh, hinge, &p);
    whiten(&p, B);
    for (int ring = 1; ring <= MOST_RINGS && !full; ring++) {
        add_ring(mesh, &p, ring);
        gather(mesh, &p, hinge, ring, F);
        columns(mesh, &p, F, B, column, turn);
        plain = weighted = (ct_mat3){{{0}}};
        for (int j = 0; j < F->count; j++) {
            const double ratio = hinge_length(mesh, hinge) / hinge_length(mesh, F->hinge[j]);
            weight[j] = ratio * ratio;
            add_outer(&plain, 1, column[j]);
            add_outer(&weighted, weight[j], column[j]);
        }
        full = tells_all(weighted, F->count);
    }
    // the length of the hinge is common to both heights
    const double h1 = mesh->area[p.triangle[0].tri], h2 = mesh->area[p.triangle[1].tri], c0 = h1 / (h1 + h2);
    const ct_vec3 missing = ct_vec3_axpy(slope_of(mesh, &p.triangle[0], hinge, B), -c0, column[0]);
    const ct_vec3 y = full ? solve(plain, 0, missing) : solve(weighted, 1e-3, missing);
    for (int j = 0; j < F->count; j++)
        F->of[j] = turn[j] * ((j == 0) * c0 + (full ? 1 : weight[j]) * ct_vec3_dot(column[j], y));
}

// ---- triangles -----------------------------------------------------------------------------

// v of the edge opposite to corner k, and its length over the area.
static double across_edge(const ct_sheet_mesh* mesh, int t, int k, double v[3]) {
    const ct_vec3 a = corner_at(mesh, t, k + 1), e = ct_vec3_sub(corner_at(mesh, t, k + 2), a);
    const ct_vec3 first = ct_vec3_load(mesh->axis + 3 * (size_t)t);
    const ct_vec3 normal = ct_vec3_normalise(ct_vec3_cross(e, ct_vec3_sub(corner_at(mesh, t, k), a)));
    const double length = ct_vec3_norm(e), x = ct_vec3_dot(first, e) / length,
                 y = ct_vec3_dot(ct_vec3_cross(normal, first), e) / length;
    // the edge's normal is (y, -x)
    v[0] = y * y, v[1] = x * x, v[2] = -2 * x * y;
    return length / mesh->area[t];
}

typedef struct row {
    int count, hinge[3 * MOST_HINGES];
    double weight[3 * MOST_HINGES][3];
} row;

static void add_to_row(row* r, int hinge, double scale, const double v[3]) {
    int j = 0;
    while (j < r->count && r->hinge[j] != hinge) j++;
    if (j == r->count) {
        r->hinge[r->count++] = hinge;
        memset(r->weight[j], 0, sizeof r->weight[j]);
    }
    for (int i = 0; i < 3; i++) r->weight[j][i] += scale * v[i];
}

// The slope at one hinge of triangle t, times v.
static void add_slope(const ct_sheet_mesh* mesh, int t, int hinge, const double v[3], row* r) {
    const int *tri = mesh->hinge_tri + 2 * (size_t)hinge, first = tri[0] == t;
    const double own = sense(mesh, t, hinge);
    if (!is_live(mesh, tri[0]) || !is_live(mesh, tri[1])) {
        add_to_row(r, hinge, own, v);
        return;
    }
    shares F;
    share(mesh, hinge, &F);
    // what is not the first triangle's is the second's
    if (!first) add_to_row(r, hinge, own, v);
    for (int j = 0; j < F.count; j++) add_to_row(r, F.hinge[j], first ? F.of[j] : -own * F.of[j], v);
}

static void fill_row(const ct_sheet_mesh* mesh, int t, row* r, int* nfree, double across[3][3]) {
    r->count = 0;
    *nfree = 0;
    for (int k = 0; k < 3 && !mesh->held[t]; k++) {
        double v[3], scale = across_edge(mesh, t, k, v);
        const int hinge = mesh->edge[3 * t + k];
        if (hinge < 0) {
            memcpy(across[(*nfree)++], v, sizeof v);
            continue;
        }
        for (int i = 0; i < 3; i++) v[i] *= scale;
        add_slope(mesh, t, hinge, v, r);
    }
}

ct_status ct_sheet_curvature_create(ct_sheet_curvature* out, ct_arena* arena, const ct_sheet_mesh* mesh) {
    const size_t ntri = (size_t)mesh->ntri;
    out->start = ct_arena_alloc(arena, ntri + 1, sizeof(int));
    out->nfree = ct_arena_alloc(arena, ntri, sizeof(int));
    out->across = ct_arena_alloc(arena, ntri, sizeof *out->across);
    row* rows = ct_alloc(1, sizeof *rows);
    size_t capacity[2] = {0, 0};
    int* hinge = NULL;
    double(*weight)[3] = NULL;
    bool enough = rows && !arena->failed;
    for (int t = 0; enough && t < mesh->ntri; t++) {
        fill_row(mesh, t, rows, &out->nfree[t], out->across[t]);
        const size_t first = (size_t)out->start[t], count = (size_t)rows->count;
        enough = ct_reserve((void**)&hinge, &capacity[0], first + count, sizeof *hinge) &&
                 ct_reserve((void**)&weight, &capacity[1], first + count, sizeof *weight);
        if (!enough) break;
        if (count) {
            memcpy(hinge + first, rows->hinge, count * sizeof *hinge);
            memcpy(weight + first, rows->weight, count * sizeof *weight);
        }
        out->start[t + 1] = (int)(first + count);
    }
    if (enough) {
        out->hinge = ct_arena_copy(arena, hinge, (size_t)out->start[ntri], sizeof *hinge);
        out->weight = ct_arena_copy(arena, weight, (size_t)out->start[ntri], sizeof *weight);
    }
    ct_free(hinge);
    ct_free(weight);
    ct_free(rows);
    return enough && !arena->failed ? CT_OK : CT_OUT_OF_MEMORY;
}

// ---- free edges ----------------------------------------------------------------------------

void ct_sheet_condense(const double D[4], int nfree, const double across[3][3], double R[9], double P[9]) {
    const double full[9] = {D[0], D[2], 0, D[2], D[1], 0, 0, 0, D[3]},
                 identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(R, full, sizeof full);
    memcpy(P, identity, sizeof identity);
    for (int k = 0; k < nfree; k++) {
        const double* v = across[k];
        double Rv[3], step[9], turned[9];
        for (int i = 0; i < 3; i++) Rv[i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
        const double square = v[0] * Rv[0] + v[1] * Rv[1] + v[2] * Rv[2];
        if (!(square > 1e-9 * (D[0] + D[1]))) continue;  // no such curvature is left
        // slopes of the edges before give way again: R v is that of the rigidity left
        for (int i = 0; i < 9; i++) step[i] = identity[i] - v[i / 3] * Rv[i % 3] / square;
        for (int i = 0; i < 9; i++) R[i] -= Rv[i / 3] * Rv[i % 3] / square;
        for (int i = 0; i < 9; i++)
            turned[i] = P[i / 3 * 3] * step[i % 3] + P[i / 3 * 3 + 1] * step[3 + i % 3] +
                        P[i / 3 * 3 + 2] * step[6 + i % 3];
        memcpy(P, turned, sizeof turned);
    }
}
