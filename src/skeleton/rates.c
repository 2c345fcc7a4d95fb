// Joint rates of node velocities; see rates.h.
#include "skeleton/rates.h"

#include <math.h>
#include <string.h>

void ct_rates_create(ct_rates* rates, ct_arena* arena, const ct_tree* tree) {
    const size_t nlink = (size_t)tree->nlink, ndof = (size_t)tree->ndof, nodes = 3 * (size_t)tree->nvert;
    ct_config_create(&rates->config, arena, tree);
    ct_jets_create(&rates->jets, arena, tree);
    rates->moments = ct_arena_alloc(arena, 10 * nlink, sizeof(double));
    rates->wrench = ct_arena_alloc(arena, 6 * nlink, sizeof(double));
    rates->factor = ct_arena_alloc(arena, ndof * ndof, sizeof(double));
    double** const rate[] = {&rates->r,     &rates->u,     &rates->y,     &rates->none,
                             &rates->q_bar, &rates->w_bar, &rates->dw_bar};
    for (size_t i = 0; i < sizeof rate / sizeof rate[0]; i++)
        *rate[i] = ct_arena_alloc(arena, ndof, sizeof(double));
    double** const node[] = {&rates->Bu, &rates->By, &rates->scratch, &rates->weight};
    for (size_t i = 0; i < sizeof node / sizeof node[0]; i++)
        *node[i] = ct_arena_alloc(arena, nodes, sizeof(double));
    if (!arena->failed && ndof) memset(rates->none, 0, ndof * sizeof(double));
}

// ---- B^T M B -------------------------------------------------------------------------------

// Composite bodies: six numbers of the symmetric sum m y y^T, xx yy zz xy xz yz.
static void gather_moments(const ct_tree* tree, ct_rates* rates, const double* mass) {
    memset(rates->moments, 0, 10 * (size_t)tree->nlink * sizeof(double));
    for (int k = tree->nlink - 1; k >= 0; k--) {
        double* own = rates->moments + 10 * k;
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            const double m = mass[tree->node[i]], *x = rates->config.x + 3 * tree->node[i];
            const double y[3] = {x[0] - tree->origin[0], x[1] - tree->origin[1], x[2] - tree->origin[2]};
            own[0] += m;
            for (int a = 0; a < 3; a++) own[1 + a] += m * y[a], own[4 + a] += m * y[a] * y[a];
            own[7] += m * y[0] * y[1], own[8] += m * y[0] * y[2], own[9] += m * y[1] * y[2];
        }
        for (int i = 0; tree->parent[k] >= 0 && i < 10; i++)
            rates->moments[10 * tree->parent[k] + i] += own[i];
    }
}

// Momentum about the origin of a body that moves with the twist s.
static void momentum(const double* M, const double* s, double out[6]) {
    const ct_vec3 w = ct_vec3_load(s), v = ct_vec3_load(s + 3), c = ct_vec3_load(M + 1);
    const double trace = M[4] + M[5] + M[6];
    const ct_vec3 moved = {M[4] * w.x + M[7] * w.y + M[8] * w.z, M[7] * w.x + M[5] * w.y + M[9] * w.z,
                           M[8] * w.x + M[9] * w.y + M[6] * w.z};
    const ct_vec3 turn = ct_vec3_sub(ct_vec3_axpy(ct_vec3_cross(c, v), trace, w), moved),
                  linear = ct_vec3_axpy(ct_vec3_cross(w, c), M[0], v);
    ct_vec3_store(out, turn);
    ct_vec3_store(out + 3, linear);
}

static void assemble(const ct_tree* tree, ct_rates* rates, const double* mass) {
    const size_t n = (size_t)tree->ndof;
    double* S = rates->factor;
    memset(S, 0, n * n * sizeof(double));
    gather_moments(tree, rates, mass);
    for (int k = 0; k < tree->nlink; k++)
        for (int j = tree->dof[k]; j < tree->dof[k + 1]; j++) {
            double p[6];
            momentum(rates->moments + 10 * k, rates->config.column + 6 * j, p);
            for (int above = k; above >= 0; above = tree->parent[above])
                for (int i = tree->dof[above]; i < tree->dof[above + 1] && i <= j; i++) {
                    const double* s = rates->config.column + 6 * i;
                    double sum = 0;
                    for (int a = 0; a < 6; a++) sum += s[a] * p[a];
                    S[(size_t)j * n + (size_t)i] = sum;
                }
        }
    for (int r = 0; r < tree->nrotor; r++) {
        const size_t j = (size_t)tree->rotor_dof[r];
        S[j * (n + 1)] += mass[ct_tree_rotor_node(tree, r)] / (tree->scale[j] * tree->scale[j]);
    }
}

// Lower triangle, row by row. A rate that nothing has inertia for gets a pivot of 0, and is 0.
static void factorise(double* S, size_t n) {
    for (size_t j = 0; j < n; j++) {
        double* row = S + j * n;
        const double whole = row[j];
        for (size_t i = 0; i <= j; i++) {
            const double* other = S + i * n;
            double sum = row[i];
            for (size_t k = 0; k < i; k++) sum -= row[k] * other[k];
            if (i < j) row[i] = other[i] > 0 ? sum / other[i] : 0;
            else row[i] = sum > 1e-12 * whole ? sqrt(sum) : 0;
        }
    }
}

static void solve(const double* L, size_t n, double* b) {
    for (size_t j = 0; j < n; j++) {
        double sum = b[j];
        for (size_t k = 0; k < j; k++) sum -= L[j * n + k] * b[k];
        b[j] = L[j * (n + 1)] > 0 ? sum / L[j * (n + 1)] : 0;
    }
    for (size_t j = n; j-- > 0;) {
        if (!(L[j * (n + 1)] > 0)) continue;
        b[j] /= L[j * (n + 1)];
        for (size_t k = 0; k < j; k++) b[k] -= L[j * n + k] * b[j];
    }
}

// ---- the projection ------------------------------------------------------------------------

// out = M v at the nodes that joints move.
static void weigh(const ct_tree* tree, const double* mass, const double* v, double* out) {
    for (int i = 0; i < ct_tree_node_count(tree); i++)
        for (int a = 3 * tree->node[i], end = a + 3; a < end; a++) out[a] = mass[tree->node[i]] * v[a];
}

// Velocities of the nodes for rates u, and the jets that they are of.
static void move(const ct_tree* tree, ct_rates* rates, const double* u, double* v) {
    ct_jets_place(tree, rates->config.q, u, rates->none, &rates->jets);
    ct_jets_nodes(tree, &rates->jets, v, rates->scratch);
}

void ct_rates_project(const ct_tree* tree, ct_rates* rates, const double* mass, const double* q,
                      const double* v, double* u) {
    ct_config* config = &rates->config;
    memcpy(config->q, q, (size_t)tree->ncoordinate * sizeof(double));
    ct_config_place(tree, config);
    assemble(tree, rates, mass);
    factorise(rates->factor, (size_t)tree->ndof);
    weigh(tree, mass, v, rates->weight);
    ct_config_pull(tree, config, rates->weight, rates->wrench, rates->r);
    solve(rates->factor, (size_t)tree->ndof, rates->r);
    ct_config_push_tangents(tree, config, rates->r, u);
    memcpy(rates->u, u, (size_t)tree->ndof * sizeof(double));
}

int ct_rates_massless(const ct_tree* tree, const ct_rates* rates) {
    for (int j = 0; j < tree->ndof; j++)
        if (!(rates->factor[(size_t)j * (size_t)(tree->ndof + 1)] > 0)) return tree->dof_link[j];
    return -1;
}

// y = (B^T M B)^-1 r, r and y per unit of the rates.
static void solve_rates(const ct_tree* tree, ct_rates* rates, const double* r, double* y) {
    memset(rates->r, 0, (size_t)tree->ndof * sizeof(double));
    ct_config_pull_tangents(tree, &rates->config, r, rates->r);
    solve(rates->factor, (size_t)tree->ndof, rates->r);
    ct_config_push_tangents(tree, &rates->config, rates->r, y);
}

// scratch = M e
static void weigh_rest(const ct_tree* tree, ct_rates* rates, const double* mass, const double* v) {
    for (int i = 0; i < ct_tree_node_count(tree); i++)
        for (int a = 3 * tree->node[i], end = a + 3; a < end; a++)
            rates->scratch[a] = mass[tree->node[i]] * (v[a] - rates->Bu[a]);
}

void ct_rates_project_vjp(const ct_tree* tree, ct_rates* rates, const double* mass, const double* v,
                          const double* u_bar, double* q_bar, double* v_bar, double* mass_bar) {
    const ct_jets_bar bar = {rates->q_bar, rates->w_bar, rates->dw_bar};
    solve_rates(tree, rates, u_bar, rates->y);
    move(tree, rates, rates->u, rates->Bu);
    move(tree, rates, rates->y, rates->By);
    // the jets are those of y
    weigh_rest(tree, rates, mass, v);
    ct_jets_nodes_vjp(tree, &rates->jets, rates->scratch, NULL, bar);
    for (int j = 0; j < tree->ndof; j++) q_bar[j] += bar.q[j];
    weigh(tree, mass, rates->By, rates->weight);
    ct_jets_place(tree, rates->config.q, rates->u, rates->none, &rates->jets);
    ct_jets_nodes_vjp(tree, &rates->jets, rates->weight, NULL, bar);
    for (int j = 0; j < tree->ndof; j++) q_bar[j] -= bar.q[j];
    for (int i = 0; i < ct_tree_node_count(tree); i++) {
        const int node = tree->node[i];
        for (int a = 3 * node; a < 3 * node + 3; a++) {
            v_bar[a] += rates->weight[a];
            if (mass_bar) mass_bar[node] += rates->By[a] * (v[a] - rates->Bu[a]);
        }
    }
}

// du = (B^T M B)^-1 (dB^T M e + B^T M (dv - dB u))
void ct_rates_project_jvp(const ct_tree* tree, ct_rates* rates, const double* mass, const double* v,
                          const double* q_dot, const double* v_dot, double* u_dot) {
    const size_t n = (size_t)tree->ndof;
    const ct_jets_bar bar = {rates->q_bar, rates->w_bar, rates->dw_bar};
    move(tree, rates, rates->u, rates->Bu);
    memcpy(bar.q, q_dot, n * sizeof(double));
    memset(bar.w, 0, n * sizeof(double));
    memset(bar.dw, 0, n * sizeof(double));
    // dB u into By
    ct_jets_nodes_jvp(tree, &rates->jets, bar, rates->By, rates->scratch);
    for (int i = 0; i < ct_tree_node_count(tree); i++)
        for (int a = 3 * tree->node[i], end = a + 3; a < end; a++)
            rates->weight[a] = mass[tree->node[i]] * (v_dot[a] - rates->By[a]);
    ct_jets_nodes_vjp(tree, &rates->jets, rates->weight, NULL, bar);
    memcpy(u_dot, bar.w, n * sizeof(double));
    // dB^T M e, rate by rate: rows of dB are small where v is the joints' own, but not zero where it is not
    weigh_rest(tree, rates, mass, v);
    for (size_t j = 0; j < n; j++) {
        memset(rates->y, 0, n * sizeof(double));
        rates->y[j] = 1;
        ct_jets_place(tree, rates->config.q, rates->y, rates->none, &rates->jets);
        ct_jets_nodes_vjp(tree, &rates->jets, rates->scratch, NULL, bar);
        for (size_t i = 0; i < n; i++) u_dot[j] += bar.q[i] * q_dot[i];
    }
    memcpy(rates->y, u_dot, n * sizeof(double));
    solve_rates(tree, rates, rates->y, u_dot);
}
