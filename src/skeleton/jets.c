// Links in motion; see jets.h.
#include "skeleton/jets.h"

#include <string.h>

void ct_jets_create(ct_jets* jets, ct_arena* arena, const ct_tree* tree) {
    const size_t nlink = (size_t)tree->nlink, ndof = (size_t)tree->ndof;
    jets->link = ct_arena_alloc(arena, nlink, sizeof *jets->link);
    jets->bar = ct_arena_alloc(arena, nlink, sizeof *jets->bar);
    jets->joint = ct_arena_alloc(arena, nlink, sizeof *jets->joint);
    jets->w = ct_arena_alloc(arena, ndof, sizeof(double));
    jets->dw = ct_arena_alloc(arena, ndof, sizeof(double));
}

// ---- small matrices ------------------------------------------------------------------------

static ct_vec3 transposed(ct_mat3 A, ct_vec3 v) { return ct_mat3_apply(ct_mat3_transpose(A), v); }
// A^T B and A B^T
static ct_mat3 left(ct_mat3 A, ct_mat3 B) { return ct_mat3_multiply(ct_mat3_transpose(A), B); }
static ct_mat3 right(ct_mat3 A, ct_mat3 B) { return ct_mat3_multiply(A, ct_mat3_transpose(B)); }
static ct_mat3 outer(ct_vec3 u, ct_vec3 v) {
    return (ct_mat3){{{u.x * v.x, u.x * v.y, u.x * v.z},
                      {u.y * v.x, u.y * v.y, u.y * v.z},
                      {u.z * v.x, u.z * v.y, u.z * v.z}}};
}
static ct_mat3 plus(ct_mat3 A, ct_mat3 B) { return ct_mat3_axpy(A, 1, B); }
// The vector v with A : [w] = v . w
static ct_vec3 axial(ct_mat3 A) {
    return (ct_vec3){A.a[2][1] - A.a[1][2], A.a[0][2] - A.a[2][0], A.a[1][0] - A.a[0][1]};
}

// ---- one joint -----------------------------------------------------------------------------

// W, W', and the derivatives of d.
static void joint_rates(const ct_tree* tree, int k, const double* q, const double* w, const double* dw,
                        ct_jet_joint* out, ct_vec3 d[3]) {
    const ct_joint_type* type = tree->type[k];
    const ct_joint_def* joint = &tree->joint[k];
    const ct_vec3 none = {0, 0, 0};
    d[1] = d[2] = out->W = out->dW = none;
    if (type->spatial) {
        if (type->ntranslation) d[1] = ct_vec3_load(w), d[2] = ct_vec3_load(dw);
        out->W = ct_vec3_load(w + type->ntranslation);
        out->dW = ct_vec3_load(dw + type->ntranslation);
        return;
    }
    const ct_joint_seat seat = {.R = ct_mat3_identity(), .origin = ct_vec3_load(joint->anchor)};
    for (int i = 0; i < type->ndof; i++) {
        type->twist(joint, q, &seat, i, &out->turn[i], &out->slide[i]);
        out->W = ct_vec3_axpy(out->W, w[i], out->turn[i]);
        out->dW = ct_vec3_axpy(out->dW, dw[i], out->turn[i]);
        d[1] = ct_vec3_axpy(d[1], w[i], out->slide[i]);
        d[2] = ct_vec3_axpy(d[2], dw[i], out->slide[i]);
    }
    if (type->ndof > 1)
        out->dW = ct_vec3_axpy(out->dW, w[0] * w[1], ct_vec3_cross(out->turn[0], out->turn[1]));
}

// [W'] + [W]^2
static ct_mat3 second(const ct_jet_joint* joint) {
    const ct_mat3 W = ct_mat3_cross(joint->W);
    return plus(ct_mat3_cross(joint->dW), ct_mat3_multiply(W, W));
}

static void place_joint(const ct_tree* tree, int k, const double* q, const double* w, const double* dw,
                        ct_jet_joint* out) {
    const ct_vec3 anchor = ct_vec3_load(tree->joint[k].anchor);
    ct_mat3* Q = out->own.R;
    ct_vec3 d[3];
    tree->type[k]->motion(&tree->joint[k], q, &Q[0], &d[0]);
    joint_rates(tree, k, q, w, dw, out, d);
    Q[1] = ct_mat3_multiply(ct_mat3_cross(out->W), Q[0]);
    Q[2] = ct_mat3_multiply(second(out), Q[0]);
    d[0] = ct_vec3_add(d[0], anchor);
    for (int m = 0; m < 3; m++) out->own.t[m] = ct_vec3_sub(d[m], ct_mat3_apply(Q[m], anchor));
}

// ---- frames --------------------------------------------------------------------------------

// T = T_p A and its derivatives; adds.
static void multiply(const ct_jet* p, const ct_jet* own, ct_jet* out) {
    static const double choose[3][3] = {{1}, {1, 1}, {1, 2, 1}};
    for (int m = 0; m < 3; m++)
        for (int i = 0; i <= m; i++) {
            out->R[m] = ct_mat3_axpy(out->R[m], choose[m][i], ct_mat3_multiply(p->R[i], own->R[m - i]));
            out->t[m] = ct_vec3_axpy(out->t[m], choose[m][i], ct_mat3_apply(p->R[i], own->t[m - i]));
        }
}

static const ct_jet standing = {.R[0] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};

static const ct_jet* seat_of(const ct_tree* tree, const ct_jets* jets, int k) {
    return tree->parent[k] >= 0 ? &jets->link[tree->parent[k]] : &standing;
}

static void add_shift(const ct_jet* p, ct_jet* out) {
    for (int m = 0; m < 3; m++) out->t[m] = ct_vec3_add(out->t[m], p->t[m]);
}

void ct_jets_place(const ct_tree* tree, const double* q, const double* w, const double* dw, ct_jets* jets) {
    memcpy(jets->w, w, (size_t)tree->ndof * sizeof(double));
    memcpy(jets->dw, dw, (size_t)tree->ndof * sizeof(double));
    for (int k = 0; k < tree->nlink; k++) {
        const int j = tree->dof[k];
        const ct_jet* p = seat_of(tree, jets, k);
        place_joint(tree, k, q + tree->coordinate[k], w + j, dw + j, &jets->joint[k]);
        jets->link[k] = (ct_jet){0};
        multiply(p, &jets->joint[k].own, &jets->link[k]);
        add_shift(p, &jets->link[k]);
    }
}

// Of links and their changes alike.
static void move_nodes(const ct_tree* tree, const ct_jet* link, double* v, double* a) {
    for (int k = 0; k < tree->nlink; k++)
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            const size_t at = 3 * (size_t)tree->node[i];
            const ct_vec3 X = ct_vec3_load(tree->rest + at);
            ct_vec3_store(v + at, ct_vec3_add(ct_mat3_apply(link[k].R[1], X), link[k].t[1]));
            ct_vec3_store(a + at, ct_vec3_add(ct_mat3_apply(link[k].R[2], X), link[k].t[2]));
        }
}

static void move_rotors(const ct_tree* tree, const double* w, const double* dw, double* v, double* a) {
    for (int r = 0; r < tree->nrotor; r++) {
        const size_t at = 3 * (size_t)ct_tree_rotor_node(tree, r);
        ct_vec3_store(v + at, (ct_vec3){w[tree->rotor_dof[r]], 0, 0});
        ct_vec3_store(a + at, (ct_vec3){dw[tree->rotor_dof[r]], 0, 0});
    }
}

void ct_jets_nodes(const ct_tree* tree, const ct_jets* jets, double* v, double* a) {
    move_nodes(tree, jets->link, v, a);
    move_rotors(tree, jets->w, jets->dw, v, a);
}

// ---- reverse -------------------------------------------------------------------------------

void ct_jets_gather(const ct_tree* tree, const double* v_bar, const double* a_bar, ct_jets* jets) {
    const double* const weight[3] = {NULL, v_bar, a_bar};
    for (int k = 0; k < tree->nlink; k++) {
        ct_jet* bar = &jets->bar[k];
        *bar = (ct_jet){0};
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++)
            for (int m = 1; m < 3; m++) {
                const size_t at = 3 * (size_t)tree->node[i];
                if (!weight[m]) continue;
                bar->R[m] =
                    plus(bar->R[m], outer(ct_vec3_load(weight[m] + at), ct_vec3_load(tree->rest + at)));
                bar->t[m] = ct_vec3_add(bar->t[m], ct_vec3_load(weight[m] + at));
            }
    }
}

// The mirror of `multiply`: adds to p_bar and own_bar.
static void multiply_vjp(const ct_jet* p, const ct_jet* own, const ct_jet* bar, ct_jet* p_bar,
                         ct_jet* own_bar) {
    static const double choose[3][3] = {{1}, {1, 1}, {1, 2, 1}};
    for (int m = 0; m < 3; m++)
        for (int i = 0; i <= m; i++) {
            const double c = choose[m][i];
            own_bar->R[m - i] = ct_mat3_axpy(own_bar->R[m - i], c, left(p->R[i], bar->R[m]));
            own_bar->t[m - i] = ct_vec3_axpy(own_bar->t[m - i], c, transposed(p->R[i], bar->t[m]));
            if (!p_bar) continue;
            p_bar->R[i] = ct_mat3_axpy(p_bar->R[i], c, right(bar->R[m], own->R[m - i]));
            p_bar->R[i] = ct_mat3_axpy(p_bar->R[i], c, outer(bar->t[m], own->t[m - i]));
        }
}

// From W_bar, W'_bar and those of d to the rates and coordinates of a joint whose rates are numbers.
static void reverse_numbers(const ct_tree* tree, int k, const ct_jet_joint* joint, const double* w,
                            const double* dw, ct_vec3 turn_bar, ct_vec3 W_bar, ct_vec3 dW_bar,
                            const ct_vec3* d_bar, ct_jets_bar bar) {
    const int j = tree->dof[k], n = tree->type[k]->ndof;
    for (int i = 0; i < n; i++) {
        bar.q[j + i] = ct_vec3_dot(joint->turn[i], turn_bar) + ct_vec3_dot(joint->slide[i], d_bar[0]);
        bar.w[j + i] = ct_vec3_dot(joint->turn[i], W_bar) + ct_vec3_dot(joint->slide[i], d_bar[1]);
        bar.dw[j + i] = ct_vec3_dot(joint->turn[i], dW_bar) + ct_vec3_dot(joint->slide[i], d_bar[2]);
    }
    if (n < 2) return;
    // the first rate turns the second axis
    const ct_vec3 across = ct_vec3_cross(joint->turn[0], joint->turn[1]);
    const double bent = ct_vec3_dot(across, dW_bar);
    bar.w[j] += w[1] * bent;
    bar.w[j + 1] += w[0] * bent;
    bar.q[j] += w[1] * ct_vec3_dot(across, W_bar) + dw[1] * bent +
                w[0] * w[1] * ct_vec3_dot(ct_vec3_cross(joint->turn[0], across), dW_bar);
}

static void reverse_joint(const ct_tree* tree, int k, const ct_jets* jets, ct_jet* own, ct_jets_bar bar) {
    const ct_jet_joint* joint = &jets->joint[k];
    const ct_vec3 anchor = ct_vec3_load(tree->joint[k].anchor);
    const ct_mat3 Q = joint->own.R[0], W = ct_mat3_cross(joint->W);
    ct_mat3 N[3];  // adjoints of Q and its derivatives, times Q^T
    for (int m = 0; m < 3; m++) N[m] = right(ct_mat3_axpy(own->R[m], -1, outer(own->t[m], anchor)), Q);
    const ct_vec3 turn_bar = axial(plus(N[0], plus(left(W, N[1]), left(second(joint), N[2])))),
                  W_bar = axial(plus(N[1], plus(right(N[2], W), left(W, N[2])))), dW_bar = axial(N[2]);
    const int j = tree->dof[k], linear = tree->type[k]->ntranslation;
    if (!tree->type[k]->spatial) {
        reverse_numbers(tree, k, joint, jets->w + j, jets->dw + j, turn_bar, W_bar, dW_bar, own->t, bar);
        return;
    }
    const ct_vec3 turned[3] = {turn_bar, W_bar, dW_bar};
    double* const part[3] = {bar.q + j, bar.w + j, bar.dw + j};
    for (int m = 0; m < 3; m++) {
        if (linear) ct_vec3_store(part[m], own->t[m]);
        ct_vec3_store(part[m] + linear, turned[m]);
    }
}

void ct_jets_reverse(const ct_tree* tree, ct_jets* jets, ct_jets_bar bar) {
    for (int k = tree->nlink - 1; k >= 0; k--) {
        const int p = tree->parent[k];
        ct_jet* up = p >= 0 ? &jets->bar[p] : NULL;
        ct_jet own = {0};
        multiply_vjp(seat_of(tree, jets, k), &jets->joint[k].own, &jets->bar[k], up, &own);
        if (up) add_shift(&jets->bar[k], up);
        reverse_joint(tree, k, jets, &own, bar);
    }
}

void ct_jets_nodes_vjp(const ct_tree* tree, ct_jets* jets, const double* v_bar, const double* a_bar,
                       ct_jets_bar bar) {
    ct_jets_gather(tree, v_bar, a_bar, jets);
    ct_jets_reverse(tree, jets, bar);
    for (int r = 0; r < tree->nrotor; r++) {
        const size_t at = 3 * (size_t)ct_tree_rotor_node(tree, r);
        if (v_bar) bar.w[tree->rotor_dof[r]] += v_bar[at];
        if (a_bar) bar.dw[tree->rotor_dof[r]] += a_bar[at];
    }
}

// ---- forward -------------------------------------------------------------------------------

// How far a joint's change turns it, and what W, W' and d change by.
static void change_rates(const ct_tree* tree, int k, const ct_jets* jets, ct_jets_bar dot, ct_vec3 turned[3],
                         ct_vec3 d[3]) {
    const ct_joint_type* type = tree->type[k];
    const ct_jet_joint* joint = &jets->joint[k];
    const int j = tree->dof[k], linear = type->ntranslation;
    const double* const part[3] = {dot.q + j, dot.w + j, dot.dw + j};
    for (int m = 0; m < 3; m++) {
        turned[m] = d[m] = (ct_vec3){0, 0, 0};
        if (type->spatial) {
            if (linear) d[m] = ct_vec3_load(part[m]);
            turned[m] = ct_vec3_load(part[m] + linear);
        }
        for (int i = 0; !type->spatial && i < type->ndof; i++) {
            turned[m] = ct_vec3_axpy(turned[m], part[m][i], joint->turn[i]);
            d[m] = ct_vec3_axpy(d[m], part[m][i], joint->slide[i]);
        }
    }
    if (type->spatial || type->ndof < 2) return;
    const double *w = jets->w + j, *dw = jets->dw + j;
    const ct_vec3 across = ct_vec3_cross(joint->turn[0], joint->turn[1]);
    turned[1] = ct_vec3_axpy(turned[1], dot.q[j] * w[1], across);
    turned[2] = ct_vec3_axpy(turned[2], dot.w[j] * w[1] + w[0] * dot.w[j + 1] + dw[1] * dot.q[j], across);
    turned[2] = ct_vec3_axpy(turned[2], w[0] * w[1] * dot.q[j], ct_vec3_cross(joint->turn[0], across));
}

static ct_jet change_joint(const ct_tree* tree, int k, const ct_jets* jets, ct_jets_bar dot) {
    const ct_jet_joint* joint = &jets->joint[k];
    const ct_vec3 anchor = ct_vec3_load(tree->joint[k].anchor);
    const ct_mat3 Q = joint->own.R[0], W = ct_mat3_cross(joint->W);
    ct_vec3 turned[3], d[3];
    change_rates(tree, k, jets, dot, turned, d);
    const ct_mat3 V = ct_mat3_cross(turned[1]);
    ct_jet out;
    out.R[0] = ct_mat3_multiply(ct_mat3_cross(turned[0]), Q);
    out.R[1] = plus(ct_mat3_multiply(V, Q), ct_mat3_multiply(W, out.R[0]));
    const ct_mat3 S = plus(ct_mat3_cross(turned[2]), plus(ct_mat3_multiply(V, W), ct_mat3_multiply(W, V)));
    out.R[2] = plus(ct_mat3_multiply(S, Q), ct_mat3_multiply(second(joint), out.R[0]));
    for (int m = 0; m < 3; m++) out.t[m] = ct_vec3_sub(d[m], ct_mat3_apply(out.R[m], anchor));
    return out;
}

void ct_jets_nodes_jvp(const ct_tree* tree, ct_jets* jets, ct_jets_bar dot, double* v_dot, double* a_dot) {
    for (int k = 0; k < tree->nlink; k++) {
        const int p = tree->parent[k];
        const ct_jet own = change_joint(tree, k, jets, dot);
        ct_jet* out = &jets->bar[k];
        *out = (ct_jet){0};
        multiply(seat_of(tree, jets, k), &own, out);
        if (p < 0) continue;
        multiply(&jets->bar[p], &jets->joint[k].own, out);
        add_shift(&jets->bar[p], out);
    }
    move_nodes(tree, jets->bar, v_dot, a_dot);
    move_rotors(tree, dot.w, dot.dw, v_dot, a_dot);
}
