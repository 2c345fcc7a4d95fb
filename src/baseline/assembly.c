// Top-down assembly of B, and the bottom-up one that it replaces; see assembly.h. Transforms are 3x4,
// row-major, the last row (0 0 0 1) understood.
#include "baseline/assembly.h"

#include <stdbool.h>
#include <string.h>

enum { TRANSFORM = 12 };

// out = A B for two transforms.
static void multiply(const double* A, const double* B, double* out) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++)
            out[4 * i + j] = A[4 * i] * B[j] + A[4 * i + 1] * B[4 + j] + A[4 * i + 2] * B[8 + j];
        out[4 * i + 3] += A[4 * i + 3];
    }
}

static void set_identity(double* A) {
    memset(A, 0, TRANSFORM * sizeof(double));
    A[0] = A[5] = A[10] = 1;
}

// A_k from the joint's coordinates: x -> Q (x - anchor) + anchor + d.
static void joint_transform(const ct_tree* tree, int k, const ct_config* config, double* A) {
    ct_mat3 Q;
    ct_vec3 d, anchor = ct_vec3_load(tree->joint[k].anchor);
    tree->type[k]->motion(&tree->joint[k], config->q + tree->coordinate[k], &Q, &d);
    ct_vec3 shift = ct_vec3_sub(ct_vec3_add(anchor, d), ct_mat3_apply(Q, anchor));
    const double translation[3] = {shift.x, shift.y, shift.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) A[4 * i + j] = Q.a[i][j];
        A[4 * i + 3] = translation[i];
    }
}

// P_v dA_v/dz_j: what moves a point x of link v by omega x (x - o) + v takes its rest point X to
// [omega]x (R X + t - o) + v.
static void joint_derivative(const ct_tree* tree, int k, const ct_config* config, int j, double* D) {
    const double *frame = config->frame + 12 * k, *column = config->column + 6 * j;
    ct_vec3 omega = ct_vec3_load(column), v = ct_vec3_load(column + 3);
    for (int b = 0; b < 4; b++) {
        ct_vec3 u = b < 3 ? (ct_vec3){frame[b], frame[3 + b], frame[6 + b]}
                          : ct_vec3_sub(ct_vec3_load(frame + 9), ct_vec3_load(tree->origin));
        ct_vec3 moved = ct_vec3_cross(omega, u);
        if (b == 3) moved = ct_vec3_add(moved, v);
        D[b] = moved.x;
        D[4 + b] = moved.y;
        D[8 + b] = moved.z;
    }
}

typedef struct assembly {
    double* A;  // nlink transforms of the joints
    double* D;  // ndof, P_v dA_v/dz_j
} assembly;

size_t ct_assembly_scratch(const ct_model* model) {
    return TRANSFORM * ((size_t)model->tree.nlink + (size_t)model->tree.ndof);
}

// The prefix with its joint, P_v A_v, is the frame of link v.
static assembly prefixes(const ct_tree* tree, const ct_config* config, double* scratch) {
    assembly s = {scratch, scratch + TRANSFORM * (size_t)tree->nlink};
    for (int k = 0; k < tree->nlink; k++) {
        joint_transform(tree, k, config, s.A + TRANSFORM * k);
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++)
            joint_derivative(tree, k, config, j, s.D + TRANSFORM * j);
    }
    return s;
}

// D S with the suffix S; D's last row is zero, its last column a velocity.
static void block(const double* D, const double* S, double* G) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++)
            G[4 * i + j] = D[4 * i] * S[j] + D[4 * i + 1] * S[4 + j] + D[4 * i + 2] * S[8 + j];
        G[4 * i + 3] += D[4 * i + 3];
    }
}

// One step towards the root: S_{parent(v),u} = A_v S_{v,u}.
static void extend(const double* A, double* S) {
    double longer[TRANSFORM];
    multiply(A, S, longer);
    memcpy(S, longer, sizeof longer);
}

void ct_assembly_blocks(const ct_model* model, const ct_config* config, double* scratch, double* G) {
    const ct_tree* tree = &model->tree;
    size_t ndof = (size_t)tree->ndof;
    assembly s = prefixes(tree, config, scratch);
    memset(G, 0, TRANSFORM * (size_t)tree->nlink * ndof * sizeof(double));
    for (int u = 0; u < tree->nlink; u++) {
        double S[TRANSFORM], *row = G + TRANSFORM * (size_t)u * ndof;
        set_identity(S);
        for (int v = u; v >= 0; v = tree->parent[v]) {
            for (int j = tree->dof[v]; j < tree->dof[v + 1]; j++)
                block(s.D + TRANSFORM * j, S, row + TRANSFORM * j);
            extend(s.A + TRANSFORM * v, S);
        }
    }
}

// Column j of B on the nodes of link u.
static void fill_column(const ct_tree* tree, const double* rest, int u, const double* G, double* column) {
    size_t ndof = (size_t)tree->ndof;
    for (int i = tree->start[u]; i < tree->start[u + 1]; i++) {
        const double* X = rest + 3 * (size_t)tree->node[i];
        for (size_t a = 0; a < 3; a++)
            column[(3 * (size_t)i + a) * ndof] =
                G[4 * a] * X[0] + G[4 * a + 1] * X[1] + G[4 * a + 2] * X[2] + G[4 * a + 3];
    }
}

void ct_assembly_jacobian(const ct_model* model, const ct_config* config, double* scratch, double* B) {
    const ct_tree* tree = &model->tree;
    size_t ndof = (size_t)tree->ndof;
    assembly s = prefixes(tree, config, scratch);
    memset(B, 0, 3 * (size_t)tree->start[tree->nlink] * ndof * sizeof(double));
    for (int u = 0; u < tree->nlink; u++) {
        double S[TRANSFORM], G[TRANSFORM];
        set_identity(S);
        for (int v = u; v >= 0; v = tree->parent[v]) {
            for (int j = tree->dof[v]; j < tree->dof[v + 1]; j++) {
                block(s.D + TRANSFORM * j, S, G);
                fill_column(tree, model->geometry.rest, u, G, B + j);
            }
            extend(s.A + TRANSFORM * v, S);
        }
    }
}

// ---- bottom-up -----------------------------------------------------------------------------

// out = R^T D (transposed) or R D, R the rotation of a transform; the last row of D is zero.
static void rotate(const double* R, bool transposed, const double* D, double* out) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            out[4 * i + j] = 0;
            for (int k = 0; k < 3; k++)
                out[4 * i + j] += (transposed ? R[4 * k + i] : R[4 * i + k]) * D[4 * k + j];
        }
}

// Rotation of P_v: that of the frame of link v, R_v = P_v A_v, without its joint.
static void prefix_rotation(const ct_config* config, int v, const double* A, double* P) {
    const double* frame = config->frame + 12 * v;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            P[4 * i + j] = 0;
            for (int k = 0; k < 3; k++) P[4 * i + j] += frame[3 * i + k] * A[4 * j + k];
        }
}

// G of link u by the rate j of its ancestor v: A_root ... dA_v/dz_j ... A_u, from the right to the left.
static void walk(const ct_tree* tree, const ct_config* config, const assembly* s, int u, int v, int j,
                 double* G) {
    double S[TRANSFORM], P[TRANSFORM] = {0}, local[TRANSFORM], next[TRANSFORM];
    int root = v;
    set_identity(S);
    for (int w = u; w != v; w = tree->parent[w]) extend(s->A + TRANSFORM * w, S);
    prefix_rotation(config, v, s->A + TRANSFORM * v, P);
    rotate(P, true, s->D + TRANSFORM * j, local);  // dA_v/dz_j
    block(local, S, G);
    for (int w = tree->parent[v]; w >= 0; w = tree->parent[w]) {
        rotate(s->A + TRANSFORM * w, false, G, next);
        memcpy(G, next, sizeof next);
        root = w;
    }
    prefix_rotation(config, root, s->A + TRANSFORM * root, P);  // of what carries the root
    rotate(P, false, G, next);
    memcpy(G, next, sizeof next);
}

void ct_assembly_jacobian_bottom_up(const ct_model* model, const ct_config* config, double* scratch,
                                    double* B) {
    const ct_tree* tree = &model->tree;
    size_t ndof = (size_t)tree->ndof;
    assembly s = prefixes(tree, config, scratch);
    memset(B, 0, 3 * (size_t)tree->start[tree->nlink] * ndof * sizeof(double));
    for (int u = 0; u < tree->nlink; u++)
        for (int v = u; v >= 0; v = tree->parent[v])
            for (int j = tree->dof[v]; j < tree->dof[v + 1]; j++) {
                double G[TRANSFORM];
                walk(tree, config, &s, u, v, j, G);
                fill_column(tree, model->geometry.rest, u, G, B + j);
            }
}
