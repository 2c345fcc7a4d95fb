// Consistent starts and their reverse; see start.h.
#include "step/start.h"

#include <math.h>
#include <string.h>

#include "skeleton/config.h"
#include "skeleton/point_masses.h"

typedef struct starter {
    const ct_model* model;
    ct_arena arena;
    ct_config links, skin;        // configurations of the links' nodes and of the skin's
    double *twist, *rate;         // 6 nlink; ndof: in unknowns
    double *own, *carried;        // ndof, world's axes: r and s
    double *field, *other;        // 3 nvert
    double *N, *N_right;          // ndof x ndof; ndof
    ct_config_scratch scratch;    // of the vjp
    double *position, *velocity;  // ndof
    double *skin_x, *skin_v;      // 3 count of the skin
    double *force, *none;         // 3 nvert; the latter zeros
} starter;

static ct_status begin(starter* s, const ct_model* model, const double* q) {
    const ct_tree* tree = &model->tree;
    const size_t n = (size_t)tree->ndof, nvert = 3 * (size_t)model->nvert,
                 pairs = 3 * (size_t)model->follow.count;
    s->model = model;
    ct_status status = ct_config_create(&s->links, &s->arena, tree);
    if (status == CT_OK && model->follow.count)
        status = ct_config_create(&s->skin, &s->arena, &model->follow.tree);
    double** joints[] = {&s->rate,      &s->own,      &s->carried, &s->N_right,
                         &s->scratch.r, &s->position, &s->velocity};
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
        *joints[i] = ct_arena_alloc(&s->arena, n, sizeof(double));
    s->twist = ct_arena_alloc(&s->arena, 6 * (size_t)tree->nlink, sizeof(double));
    s->field = ct_arena_alloc(&s->arena, nvert, sizeof(double));
    s->other = ct_arena_alloc(&s->arena, nvert, sizeof(double));
    s->N = ct_arena_alloc(&s->arena, n * n, sizeof(double));
    s->scratch.G = ct_arena_alloc(&s->arena, n * n, sizeof(double));
    s->scratch.wrench = ct_arena_alloc(&s->arena, 6 * (size_t)tree->nlink, sizeof(double));
    s->scratch.moments = ct_arena_alloc(&s->arena, 12 * (size_t)tree->nlink, sizeof(double));
    s->skin_x = ct_arena_alloc(&s->arena, pairs, sizeof(double));
    s->skin_v = ct_arena_alloc(&s->arena, pairs, sizeof(double));
    s->force = ct_arena_alloc(&s->arena, nvert, sizeof(double));
    s->none = ct_arena_alloc(&s->arena, nvert, sizeof(double));
    if (s->arena.failed) return CT_OUT_OF_MEMORY;
    memcpy(s->links.q, q, (size_t)tree->ncoordinate * sizeof(double));
    ct_config_place(tree, &s->links);
    if (!model->follow.count) return status;
    memcpy(s->skin.q, q, (size_t)tree->ncoordinate * sizeof(double));
    ct_config_place(&model->follow.tree, &s->skin);
    return status;
}

// ---- bones that flesh carries along --------------------------------------------------------

// A link's node that is one of its flesh: its own mass has nodes of its own.
static bool is_flesh(const ct_tree* tree, int link, int node) {
    return tree->own[link] < 0 || node < tree->own[link] || node >= tree->own[link] + CT_MASS_POINTS;
}

static bool is_carried(const ct_model* model, const double* u) {
    const ct_tree* tree = &model->tree;
    for (int k = 0; k < tree->nlink; k++)
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            const double* at = u + 3 * (size_t)tree->node[i];
            if (is_flesh(tree, k, tree->node[i]) && (at[0] != 0 || at[1] != 0 || at[2] != 0)) return true;
        }
    return false;
}

// out = M in on the flesh of links, 0 elsewhere.
static void weigh(const ct_model* model, const double* in, double* out) {
    const ct_tree* tree = &model->tree;
    memset(out, 0, 3 * (size_t)model->nvert * sizeof(double));
    for (int k = 0; k < tree->nlink; k++)
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            const size_t node = (size_t)tree->node[i];
            if (!is_flesh(tree, k, (int)node)) continue;
            for (size_t a = 3 * node; a < 3 * node + 3; a++) out[a] = model->mass[node] * in[a];
        }
}

// field = B rate, rates in unknowns.
static void push(starter* s, const double* rate, double* field) {
    memset(field, 0, 3 * (size_t)s->model->nvert * sizeof(double));
    ct_config_push(&s->model->tree, &s->links, rate, s->twist, field);
}

// N = B^T M B, factored: L below the diagonal, its diagonal there. Rates that move no flesh are none.
static void factor(starter* s) {
    const int n = s->model->tree.ndof;
    double most = 0;
    for (int j = 0; j < n; j++) {
        memset(s->rate, 0, (size_t)n * sizeof(double));
        s->rate[j] = 1;
        push(s, s->rate, s->field);
        weigh(s->model, s->field, s->other);
        ct_config_pull(&s->model->tree, &s->links, s->other, s->scratch.wrench, s->N + (size_t)j * (size_t)n);
        most = fmax(most, s->N[(size_t)j * (size_t)n + (size_t)j]);
    }
    for (int j = 0; j < n; j++) {
        double* row = s->N + (size_t)j * (size_t)n;
        for (int i = 0; i <= j; i++) {
            const double* above = s->N + (size_t)i * (size_t)n;
            double sum = row[i];
            for (int k = 0; k < i; k++) sum -= row[k] * above[k];
            if (i == j) row[i] = sum > 1e-12 * most ? sqrt(sum) : INFINITY;
            else row[i] = sum / above[i];
        }
    }
}

// x = N^-1 x
static void solve(const starter* s, double* x) {
    const int n = s->model->tree.ndof;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= s->N[(size_t)i * (size_t)n + (size_t)k] * x[k];
        x[i] /= s->N[(size_t)i * (size_t)n + (size_t)i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= s->N[(size_t)k * (size_t)n + (size_t)i] * x[k];
        x[i] /= s->N[(size_t)i * (size_t)n + (size_t)i];
    }
}

// s->carried: the rates s that are nearest to u; zeros without u. Leaves N.
static bool carry(starter* s, const double* u) {
    const ct_tree* tree = &s->model->tree;
    memset(s->carried, 0, (size_t)tree->ndof * sizeof(double));
    if (!is_carried(s->model, u)) return false;
    factor(s);
    weigh(s->model, u, s->other);
    ct_config_pull(tree, &s->links, s->other, s->scratch.wrench, s->N_right);
    solve(s, s->N_right);
    for (int j = 0; j < tree->ndof; j++) s->carried[j] = s->N_right[j] / tree->scale[j];
    return true;
}

// ---- forward -------------------------------------------------------------------------------

ct_status ct_start_place(const ct_model* model, ct_state* state) {
    const ct_follow* skin = &model->follow;
    if (!skin->count) return CT_OK;
    starter s = {0};
    ct_status status = begin(&s, model, state->q);
    for (int i = 0; status == CT_OK && i < skin->count; i++)
        for (int a = 0; a < 3; a++)
            state->x[3 * skin->owner[i] + a] +=
                skin->weight[i] * (s.skin.x[3 * i + a] - skin->tree.rest[3 * i + a]);
    ct_arena_free(&s.arena);
    return status;
}

static void move_skin(starter* s, const double* own, double* v) {
    const ct_follow* skin = &s->model->follow;
    if (!skin->count) return;
    for (int j = 0; j < skin->tree.ndof; j++) s->rate[j] = own[j] * skin->tree.scale[j];
    memset(s->skin_v, 0, 3 * (size_t)skin->count * sizeof(double));
    ct_config_push(&skin->tree, &s->skin, s->rate, s->twist, s->skin_v);
    for (int i = 0; i < skin->count; i++)
        for (int a = 0; a < 3; a++) v[3 * skin->owner[i] + a] += skin->weight[i] * s->skin_v[3 * i + a];
}

ct_status ct_start_move(const ct_model* model, ct_state* state) {
    const ct_tree* tree = &model->tree;
    starter s = {0};
    ct_status status = begin(&s, model, state->q);
    if (status == CT_OK) {
        memcpy(state->v, state->v_before, 3 * (size_t)model->nvert * sizeof(double));
        move_skin(&s, state->rate, state->v);
        if (carry(&s, state->v_before))
            for (int j = 0; j < tree->ndof; j++) state->rate[j] += s.carried[j];
        for (int j = 0; j < tree->ndof; j++) s.rate[j] = state->rate[j] * tree->scale[j];
        for (int i = 0; i < ct_tree_node_count(tree); i++)
            memset(state->v + 3 * (size_t)tree->node[i], 0, 3 * sizeof(double));
        ct_config_push(tree, &s.links, s.rate, s.twist, state->v);
    }
    ct_arena_free(&s.arena);
    return status;
}

ct_status ct_start_own_rates(const ct_model* model, const ct_state* state, double* rate) {
    starter s = {0};
    ct_status status = begin(&s, model, state->q);
    if (status == CT_OK) carry(&s, state->v_before);
    for (int j = 0; status == CT_OK && j < model->tree.ndof; j++) rate[j] = state->rate[j] - s.carried[j];
    ct_arena_free(&s.arena);
    return status;
}

// ---- reverse -------------------------------------------------------------------------------

// Adds those of the joints from the reverse of nodes x = phi(q), v = B(q) rate.
static void add_joints(starter* s, const ct_tree* tree, const ct_config* config, const double* rate,
                       const double* x_bar, const double* v_bar, double* position, double* velocity) {
    ct_config_start_vjp(tree, config, rate, x_bar, v_bar, &s->scratch, s->position, s->velocity);
    for (int j = 0; position && j < tree->ndof; j++) position[j] += s->position[j];
    for (int j = 0; velocity && j < tree->ndof; j++) velocity[j] += s->velocity[j];
}

static void reverse_skin(starter* s, const double* x_bar, const double* v_bar, const ct_start_bar* bar) {
    const ct_follow* skin = &s->model->follow;
    if (!skin->count) return;
    for (int i = 0; i < skin->count; i++)
        for (int a = 0; a < 3; a++) {
            s->skin_x[3 * i + a] = x_bar ? skin->weight[i] * x_bar[3 * skin->owner[i] + a] : 0;
            s->skin_v[3 * i + a] = skin->weight[i] * v_bar[3 * skin->owner[i] + a];
        }
    add_joints(s, &skin->tree, &s->skin, s->own, s->skin_x, s->skin_v, bar->position, bar->velocity);
}

// Through the rates s that u has given to the bones; N is there.
static void reverse_carried(starter* s, const double* u, const double* v_bar, const ct_start_bar* bar) {
    const ct_model* model = s->model;
    const ct_tree* tree = &model->tree;
    double *lam = s->N_right, *B_lam = s->other, *e = s->field;
    const size_t n = 3 * (size_t)model->nvert;
    ct_config_pull(tree, &s->links, v_bar, s->scratch.wrench, lam);
    solve(s, lam);
    push(s, lam, B_lam);
    for (int j = 0; j < tree->ndof; j++) s->rate[j] = s->carried[j] * tree->scale[j];
    push(s, s->rate, e);
    for (size_t i = 0; i < n; i++) e[i] = u[i] - e[i];
    for (int k = 0; k < tree->nlink; k++)
        for (int i = tree->start[k]; i < tree->start[k + 1]; i++) {
            const size_t v = (size_t)tree->node[i];
            if (!is_flesh(tree, k, (int)v)) continue;
            for (size_t a = 3 * v; a < 3 * v + 3; a++) {
                if (bar->u) bar->u[a] = model->mass[v] * B_lam[a];
                if (bar->mass) bar->mass[v] += e[a] * B_lam[a];
            }
        }
    if (!bar->position) return;
    for (int j = 0; j < tree->ndof; j++) s->own[j] = lam[j] / tree->scale[j];
    weigh(model, e, s->force);
    add_joints(s, tree, &s->links, s->own, s->none, s->force, bar->position, NULL);
    weigh(model, B_lam, s->force);
    for (size_t i = 0; i < n; i++) s->force[i] = -s->force[i];
    add_joints(s, tree, &s->links, s->carried, s->none, s->force, bar->position, NULL);
}

ct_status ct_start_vjp(const ct_model* model, const ct_state* state, const double* x_bar, const double* v_bar,
                       const ct_start_bar* bar) {
    const ct_tree* tree = &model->tree;
    const size_t n = 3 * (size_t)model->nvert, ndof = (size_t)tree->ndof;
    starter s = {0};
    ct_status status = begin(&s, model, state->q);
    if (bar->position) memset(bar->position, 0, ndof * sizeof(double));
    if (bar->velocity) memset(bar->velocity, 0, ndof * sizeof(double));
    if (bar->u) memcpy(bar->u, v_bar, n * sizeof(double));
    for (int i = 0; bar->u && i < ct_tree_node_count(tree); i++)
        memset(bar->u + 3 * (size_t)tree->node[i], 0, 3 * sizeof(double));
    if (status == CT_OK) {
        const bool carried = carry(&s, state->v_before);
        for (size_t j = 0; j < ndof; j++) s.own[j] = state->rate[j] - s.carried[j];
        add_joints(&s, tree, &s.links, state->rate, x_bar ? x_bar : s.none, v_bar, bar->position,
                   bar->velocity);
        reverse_skin(&s, x_bar, v_bar, bar);
        if (!carried && bar->u) factor(&s);
        if (carried || bar->u) reverse_carried(&s, state->v_before, v_bar, bar);
    }
    ct_arena_free(&s.arena);
    return status;
}
