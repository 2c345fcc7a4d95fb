// Masses and stiffnesses of nodes in contact; see soft_nodes.h.
//
// A node's stiffness is a share of that against all its neighbours at rest: of the mean of the diagonal of
// its block of the Hessian. With b the gradient of its shape function, elements give
//     tets        V |b|^2 (4 mu + lambda)/3,  of second order summed over the points
//     triangles   A |b|^2 (3 mu + lambda)/2  along the sheet,  A |b|^4 D  across it.
// The shares below make gamma agree with the inverse of the whole matrix, where the neighbours give way too.
//
// Wholes are the links, those at fixed joints with their parents, then the pieces that elements and joints
// hold together, unless something in them is driven or tied to the world. Nodes on links move with their
// link, free nodes with their piece.
#include "model/soft_nodes.h"

#include <string.h>

#include "math/vec3.h"

static const double solid_share = 0.45;
static const double membrane_share = 0.45;
static const double bending_share = 1;

// ---- what moves together -------------------------------------------------------------------

static int find_root(int* parent, int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

// The lower root stays: numbers of pieces do not depend on the order of joins.
static void join(int* parent, int a, int b) {
    a = find_root(parent, a), b = find_root(parent, b);
    if (a < b) parent[b] = a;
    else parent[a] = b;
}

// The link that link k is fixed to, itself or above; -1: the world, or a frame that is driven.
static int carrier(const ct_tree* tree, int k) {
    while (k >= 0 && tree->type[k]->ndof == 0) k = tree->parent[k];
    return k;
}

// Joins the nodes of a link with each other and with those of the next link above that has any, or with what
// is held where fewer than six rates lead to the world.
static void join_link(const ct_tree* tree, int k, int* parent) {
    const int first = tree->start[k], end = tree->start[k + 1];
    if (first == end) return;
    for (int i = first; i < end; i++) join(parent, 1 + tree->node[i], 1 + tree->node[first]);
    int above = tree->parent[k], rates = tree->type[k]->ndof;
    while (above >= 0 && tree->start[above] == tree->start[above + 1]) {
        rates += tree->type[above]->ndof;
        above = tree->parent[above];
    }
    if (above >= 0) join(parent, 1 + tree->node[first], 1 + tree->node[tree->start[above]]);
    else if (rates < 6) join(parent, 1 + tree->node[first], 0);
}

// Sets of 0: what is held; 1 + v: the nodes.
static void join_pieces(const ct_model* model, int* parent) {
    const int *tet = model->geometry.tet, *tri = model->geometry.tri;
    for (int v = 0; v < model->nvert; v++)
        if (model->row[v] < 0 && model->tree.node_link[v] < 0) join(parent, 1 + v, 0);
    for (int i = 0; i < 4 * model->ntet; i++) join(parent, 1 + tet[i], 1 + tet[i - i % 4]);
    for (int i = 0; model->geometry.mid && i < 6 * model->ntet; i++)
        if (model->geometry.mid[i] >= 0) join(parent, 1 + model->geometry.mid[i], 1 + tet[4 * (i / 6)]);
    for (int i = 0; i < 3 * model->ntri; i++) join(parent, 1 + tri[i], 1 + tri[i - i % 3]);
    for (int k = 0; k < model->tree.nlink; k++) join_link(&model->tree, k, parent);
}

static void number_wholes(ct_model* model, int* parent) {
    ct_softness* s = &model->collision.softness;
    int* number = model->soft_piece;  // of the roots first
    s->nwhole = model->tree.nlink;
    join_pieces(model, parent);
    for (int v = 0; v < model->nvert; v++) {
        const int root = find_root(parent, 1 + v) - 1;
        if (root == v) number[v] = s->nwhole++;
        else number[v] = root < 0 ? -1 : number[root];
        const int link = model->tree.node_link[v];
        s->whole[v] = link >= 0 ? carrier(&model->tree, link) : number[v];
    }
}

ct_status ct_soft_nodes_create(ct_model* model) {
    ct_softness* s = &model->collision.softness;
    const size_t nvert = (size_t)model->nvert;
    int* parent = ct_alloc(nvert + 1, sizeof(int));
    s->mass = ct_arena_alloc(&model->arena, nvert, sizeof(double));
    s->stiffness = ct_arena_alloc(&model->arena, 2 * nvert, sizeof(double));
    s->whole = ct_arena_alloc(&model->arena, nvert, sizeof(int));
    model->soft_piece = ct_arena_alloc(&model->arena, nvert, sizeof(int));
    if (!parent || model->arena.failed) {
        ct_free(parent);
        return CT_OUT_OF_MEMORY;
    }
    for (int i = 0; i <= model->nvert; i++) parent[i] = i;
    number_wholes(model, parent);
    ct_free(parent);
    s->whole_mass = ct_arena_alloc(&model->arena, (size_t)s->nwhole, sizeof(double));
    if (!s->whole_mass) return CT_OUT_OF_MEMORY;
    ct_soft_nodes_update(model);
    return CT_OK;
}

// ---- stiffness -----------------------------------------------------------------------------

static ct_vec3 edge(const ct_model* model, int from, int to) {
    return ct_vec3_sub(ct_vec3_load(model->geometry.rest + 3 * (size_t)to),
                       ct_vec3_load(model->geometry.rest + 3 * (size_t)from));
}

// The same for the ten nodes of a tet of second order.
static void weigh_second(const ct_model* model, int t, double w[CT_CELL_NODES]) {
    memset(w, 0, CT_CELL_NODES * sizeof(double));
    for (int q = 0; q < CT_CELL_POINTS; q++) {
        const ct_mat3 E = ct_cell_edges(q, model->geometry.tet + 4 * (size_t)t, ct_model_middles(model, t),
                                        model->geometry.rest),
                      inverse = ct_mat3_transpose(ct_mat3_inverse(E));
        double slope[CT_CELL_NODES][3];
        ct_cell_slopes(q, slope);
        for (int a = 0; a < CT_CELL_NODES; a++) {
            const ct_vec3 b = ct_mat3_apply(inverse, ct_vec3_load(slope[a]));
            w[a] += solid_share / 3 * ct_vec3_dot(b, b) * ct_mat3_determinant(E) / (6 * CT_CELL_POINTS);
        }
    }
}

// w of w (4 mu + lambda), for the nodes of tet t, whose number is returned. Corners of linear ones:
// V |b|^2 = |S|^2 / (9 V), S the area of the face opposite.
static int weigh_tet(const ct_model* model, int t, int node[CT_CELL_NODES], double w[CT_CELL_NODES]) {
    const int count = ct_model_tet_nodes(model, t, node);
    if (count > 4) {
        weigh_second(model, t, w);
        return count;
    }
    const double volume = ct_elastic_volume(model->families.of[CT_FAMILY_SOLIDS])[t];
    for (int a = 0; a < 4; a++) {
        const int p = node[(a + 1) % 4], q = node[(a + 2) % 4], r = node[(a + 3) % 4];
        const ct_vec3 twice = ct_vec3_cross(edge(model, p, q), edge(model, p, r));
        w[a] = solid_share / 3 * ct_vec3_dot(twice, twice) / (36 * volume);
    }
    return count;
}

// w of w (3 mu + lambda) and of w D, for the corners of triangle t: |b|^2 = |e|^2 / (4 A^2), e the edge
// opposite.
static void weigh_triangle(const ct_model* model, int t, double along[3], double across[3]) {
    const int* node = model->geometry.tri + 3 * (size_t)t;
    const double area = ct_sheet_area(model->families.of[CT_FAMILY_SHEETS])[t];
    for (int a = 0; a < 3; a++) {
        const ct_vec3 e = edge(model, node[(a + 1) % 3], node[(a + 2) % 3]);
        const double square = ct_vec3_dot(e, e) / (4 * area * area);
        along[a] = membrane_share / 2 * area * square;
        across[a] = bending_share * area * square * square;
    }
}

static void add_tets(ct_model* model) {
    double w[CT_CELL_NODES], mu, lambda, *k = model->collision.softness.stiffness;
    int node[CT_CELL_NODES];
    for (int t = 0; t < model->ntet; t++) {
        if (ct_model_is_rigid(model, t)) continue;
        const int count = weigh_tet(model, t, node, w);
        ct_material_lame(&model->material[t], &mu, &lambda);
        for (int i = 0; i < 2 * count; i++) k[2 * node[i / 2] + i % 2] += w[i / 2] * (4 * mu + lambda);
    }
}

static void add_triangles(ct_model* model) {
    double along[3], across[3], mu, lambda, D, *k = model->collision.softness.stiffness;
    for (int t = 0; t < model->ntri; t++) {
        if (ct_model_is_rigid(model, model->ntet + t)) continue;
        weigh_triangle(model, t, along, across);
        ct_material_membrane(&model->material[model->ntet + t], &mu, &lambda, &D);
        for (int a = 0; a < 3; a++) {
            k[2 * model->geometry.tri[3 * t + a]] += along[a] * (3 * mu + lambda);
            k[2 * model->geometry.tri[3 * t + a] + 1] += across[a] * D;
        }
    }
}

void ct_soft_nodes_update(ct_model* model) {
    ct_softness* s = &model->collision.softness;
    memset(s->whole_mass, 0, (size_t)s->nwhole * sizeof(double));
    memset(s->stiffness, 0, 2 * (size_t)model->nvert * sizeof(double));
    for (int v = 0; v < model->nvert; v++) {
        const int whole = s->whole[v], piece = model->soft_piece[v];
        s->mass[v] = model->row[v] >= 0 ? model->mass[v] : 0;
        if (whole >= 0) s->whole_mass[whole] += model->mass[v];
        if (piece >= 0 && piece != whole) s->whole_mass[piece] += model->mass[v];
    }
    add_tets(model);
    add_triangles(model);
}

// ---- reverse -------------------------------------------------------------------------------

static void tets_vjp(const ct_model* model, const double* k_bar, const ct_sums* sums) {
    double w[CT_CELL_NODES];
    int node[CT_CELL_NODES];
    for (int t = 0; t < model->ntet; t++) {
        if (ct_model_is_rigid(model, t)) continue;
        double bar = 0;
        const int count = weigh_tet(model, t, node, w);
        for (int i = 0; i < 2 * count; i++) bar += w[i / 2] * k_bar[2 * node[i / 2] + i % 2];
        ct_sums_add(sums, CT_SUM_MU, t, 4 * bar);
        ct_sums_add(sums, CT_SUM_LAMBDA, t, bar);
    }
}

static void triangles_vjp(const ct_model* model, const double* k_bar, const ct_sums* sums) {
    double along[3], across[3];
    for (int t = 0; t < model->ntri; t++) {
        if (ct_model_is_rigid(model, model->ntet + t)) continue;
        double bar = 0, D_bar = 0;
        weigh_triangle(model, t, along, across);
        for (int a = 0; a < 3; a++) {
            bar += along[a] * k_bar[2 * model->geometry.tri[3 * t + a]];
            D_bar += across[a] * k_bar[2 * model->geometry.tri[3 * t + a] + 1];
        }
        ct_sums_add(sums, CT_SUM_MU, model->ntet + t, 3 * bar);
        ct_sums_add(sums, CT_SUM_LAMBDA, model->ntet + t, bar);
        for (int i = 0; i < 2; i++) ct_sums_add(sums, CT_SUM_RIGIDITY, 4 * t + i, 0.5 * D_bar);
    }
}

void ct_soft_nodes_vjp(const ct_model* model, const ct_sums* sums) {
    const ct_softness* s = &model->collision.softness;
    const double *whole_bar = sums->of[CT_SUM_WHOLE_MASS], *k_bar = sums->of[CT_SUM_NODE_STIFFNESS];
    for (int v = 0; whole_bar && v < model->nvert; v++) {
        const int whole = s->whole[v], piece = model->soft_piece[v];
        if (whole >= 0) ct_sums_add(sums, CT_SUM_MASS, v, whole_bar[whole]);
        if (piece >= 0 && piece != whole) ct_sums_add(sums, CT_SUM_MASS, v, whole_bar[piece]);
    }
    if (!k_bar) return;
    tets_vjp(model, k_bar, sums);
    triangles_vjp(model, k_bar, sums);
}

// ---- along a direction ---------------------------------------------------------------------

void ct_soft_nodes_jvp(const ct_model* model, const double* mu_dot, const double* lambda_dot,
                       double* stiffness_dot) {
    double w[CT_CELL_NODES];
    int node[CT_CELL_NODES];
    memset(stiffness_dot, 0, 2 * (size_t)model->nvert * sizeof(double));
    for (int t = 0; t < model->ntet; t++) {
        if (ct_model_is_rigid(model, t)) continue;
        const int count = weigh_tet(model, t, node, w);
        for (int i = 0; i < 2 * count; i++)
            stiffness_dot[2 * node[i / 2] + i % 2] += w[i / 2] * (4 * mu_dot[t] + lambda_dot[t]);
    }
}
