// Top-down assembly of B; see assembly.h. Transforms are 3x4, row-major, the last row (0 0 0 1) understood.
#include "step/assembly.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"

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

// x -> Q (x - anchor) + fixed
static void set_turn(double* A, ct_mat3 Q, ct_vec3 anchor, ct_vec3 fixed) {
    ct_vec3 shift = ct_vec3_sub(fixed, ct_mat3_apply(Q, anchor));
    const double translation[3] = {shift.x, shift.y, shift.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) A[4 * i + j] = Q.a[i][j];
        A[4 * i + 3] = translation[i];
    }
}

// Rodrigues: a I + b [n]x + c n n^T; R has (cos, sin, 1 - cos), dR/dtheta (-sin, cos, sin).
static ct_mat3 about_axis(ct_vec3 n, double a, double b, double c) {
    const double v[3] = {n.x, n.y, n.z};
    ct_mat3 R = ct_mat3_scale(b, ct_mat3_cross(n));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R.a[i][j] += (i == j ? a : 0) + c * v[i] * v[j];
    return R;
}

// A_k from the joint's coordinates.
static void joint_transform(const ct_joint_def* joint, const double* q, double* A) {
    ct_vec3 axis = ct_vec3_load(joint->axis), anchor = ct_vec3_load(joint->anchor);
    set_identity(A);
    switch (joint->kind) {
    case CT_JOINT_REVOLUTE:
        set_turn(A, about_axis(axis, cos(q[0]), sin(q[0]), 1 - cos(q[0])), anchor, anchor);
        break;
    case CT_JOINT_PRISMATIC:
        for (int a = 0; a < 3; a++) A[4 * a + 3] = q[0] * joint->axis[a];
        break;
    case CT_JOINT_BALL: set_turn(A, ct_quat_matrix(ct_quat_load(q)), anchor, anchor); break;
    case CT_JOINT_FREE:
        set_turn(A, ct_quat_matrix(ct_quat_load(q + 3)), anchor, ct_vec3_add(anchor, ct_vec3_load(q)));
        break;
    default: break;
    }
}

// The world axis `a` in the axes of the prefix P.
static ct_vec3 world_axis(const double* P, int a) { return (ct_vec3){P[4 * a], P[4 * a + 1], P[4 * a + 2]}; }

// dA_k/dz of the joint's i-th rate, P its prefix; its last row is zero.
static void joint_derivative(const ct_joint_def* joint, const double* q, const double* P, int i, double* dA) {
    ct_vec3 axis = ct_vec3_load(joint->axis), anchor = ct_vec3_load(joint->anchor), zero = {0, 0, 0};
    ct_mat3 none = ct_mat3_scale(0, ct_mat3_identity());
    switch (joint->kind) {
    case CT_JOINT_REVOLUTE:
        set_turn(dA, about_axis(axis, -sin(q[0]), cos(q[0]), sin(q[0])), anchor, zero);
        break;
    case CT_JOINT_PRISMATIC: set_turn(dA, none, zero, axis); break;
    default: {
        bool is_free = joint->kind == CT_JOINT_FREE;
        ct_vec3 w = world_axis(P, i % 3);
        ct_mat3 Q = ct_quat_matrix(ct_quat_load(is_free ? q + 3 : q));
        if (is_free && i < 3) set_turn(dA, none, zero, w);
        else set_turn(dA, ct_mat3_multiply(ct_mat3_cross(w), Q), anchor, zero);
    }
    }
}

// P dA: the prefix's translation does not enter, since the last row of dA is zero.
static void multiply_derivative(const double* P, const double* dA, double scale, double* out) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            out[4 * i + j] = (P[4 * i] * dA[j] + P[4 * i + 1] * dA[4 + j] + P[4 * i + 2] * dA[8 + j]) / scale;
}

typedef struct assembly {
    double* A;  // nlink transforms of the joints
    double* P;  // nlink prefixes
    double* D;  // ndof, P_v dA_v/dz_j
} assembly;

size_t ct_assembly_scratch(const ct_model* model) {
    return TRANSFORM * (2 * (size_t)model->tree.nlink + (size_t)model->tree.ndof);
}

// P of a root, from T = P A with its frame T: the identity, or the pose of a motion that it follows.
static void root_prefix(const double* frame, const double* A, double* P) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            P[4 * i + j] =
                frame[3 * i] * A[4 * j] + frame[3 * i + 1] * A[4 * j + 1] + frame[3 * i + 2] * A[4 * j + 2];
        P[4 * i + 3] = frame[9 + i] - P[4 * i] * A[3] - P[4 * i + 1] * A[7] - P[4 * i + 2] * A[11];
    }
}

// Parents come first, so that the prefix of a link is one product.
static assembly prefixes(const ct_tree* tree, const ct_config* config, double* scratch) {
    size_t nlink = (size_t)tree->nlink;
    assembly s = {scratch, scratch + TRANSFORM * nlink, scratch + 2 * TRANSFORM * nlink};
    for (int k = 0; k < tree->nlink; k++) {
        const double* own = config->q + tree->coordinate[k];
        double *P = s.P + TRANSFORM * k, dA[TRANSFORM];
        int parent = tree->parent[k];
        joint_transform(&tree->joint[k], own, s.A + TRANSFORM * k);
        if (parent >= 0) multiply(s.P + TRANSFORM * parent, s.A + TRANSFORM * parent, P);
        else root_prefix(config->frame + TRANSFORM * k, s.A + TRANSFORM * k, P);
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
            joint_derivative(&tree->joint[k], own, P, j - tree->dof[k], dA);
            multiply_derivative(P, dA, tree->scale[j], s.D + TRANSFORM * j);
        }
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

void ct_skeleton_jacobian(const ct_model* model, const ct_config* config, double* scratch, double* B) {
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
                fill_column(tree, model->rest, u, G, B + j);
            }
            extend(s.A + TRANSFORM * v, S);
        }
    }
}
