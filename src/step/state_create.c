// Making states and beginning motions; see state.h.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "skeleton/config.h"
#include "step/external.h"
#include "step/start.h"

static void locate_arrays(ct_state* state, int nvert, int ncoordinate, int nactuation, int nmount, int ndof,
                          size_t ngrowth) {
    double* array = (double*)(state->header + 1);
    double** arrays[CT_STATE_NODE_ARRAYS] = {
        &state->x,        &state->v,           &state->x_previous,   &state->v_previous,
        &state->v_before, &state->x_reference, &state->contact_force};
    for (size_t i = 0; i < CT_STATE_NODE_ARRAYS; i++, array += ct_state_padded(nvert)) *arrays[i] = array;
    double** coordinates[] = {&state->q, &state->q_previous, &state->q_reference};
    for (size_t i = 0; i < sizeof coordinates / sizeof coordinates[0]; i++, array += ncoordinate)
        *coordinates[i] = array;
    state->actuation = array;
    state->actuation_reference = state->actuation + nactuation;
    state->mount = state->actuation_reference + nactuation;
    state->rate = state->mount + 7 * nmount;
    state->growth = state->rate + ndof;
    state->anchor = (ct_anchor*)(state->growth + ngrowth);
}

// Rates from the parents' axes to the world's; NULL: the model's.
static void set_rates(const ct_tree* tree, const ct_config* config, const double* velocity, double* rate) {
    for (int k = 0; !velocity && k < tree->nlink; k++)
        memcpy(rate + tree->dof[k], ct_joint_velocity(&tree->joint[k]),
               (size_t)tree->type[k]->ndof * sizeof(double));
    ct_config_to_world(tree, config, velocity ? velocity : rate, rate);
}

// Joints at `position` and with rates `velocity` (NULL: the model's); the links' nodes follow, and so do
// their velocities, B qdot.
static ct_status set_links(const ct_model* model, ct_state* state, const double* position,
                           const double* velocity) {
    const ct_tree* tree = &model->tree;
    ct_arena arena = {0};
    ct_config config = {0};
    ct_status status = ct_config_create(&config, &arena, &model->tree);
    double* rate = ct_arena_alloc(&arena, (size_t)tree->ndof, sizeof(double));
    double* twist = ct_arena_alloc(&arena, 6 * (size_t)tree->nlink, sizeof(double));
    if (status == CT_OK && !arena.failed) {
        memset(state->q, 0, (size_t)tree->root_coordinate * sizeof(double));
        ct_config_rest(tree, state->q);
        for (int k = 0; position && k < tree->nlink; k++)
            ct_joint_set(tree->type[k], position + tree->dof[k], state->q + tree->coordinate[k]);
        config.q = state->q;
        config.x = state->x;
        ct_config_place(tree, &config);
        set_rates(tree, &config, velocity, state->rate);
        for (int j = 0; j < tree->ndof; j++) rate[j] = state->rate[j] * tree->scale[j];
        for (int i = 0; i < ct_tree_node_count(tree); i++)
            memset(state->v + 3 * tree->node[i], 0, 3 * sizeof(double));
        ct_config_push(tree, &config, rate, twist, state->v);
        memcpy(state->q_previous, state->q, (size_t)tree->ncoordinate * sizeof(double));
    }
    status = arena.failed ? CT_OUT_OF_MEMORY : status;
    ct_arena_free(&arena);
    return status;
}

static bool are_finite(const double* values, size_t count) {
    for (size_t i = 0; values && i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

// The state has no past.
static void forget(const ct_model* model, ct_state* state) {
    size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    memcpy(state->v_previous, state->v, bytes);
    memcpy(state->x_previous, state->x, bytes);
    state->header->nanchor = 0;
    state->header->closed = 0;
    state->header->grown = 0;
    state->header->history = 0;
    state->header->settled = CT_SETTLED_NOT;
    state->header->followed = 0;
}

ct_status ct_state_set_joints(const ct_model* model, ct_state* state, const double* position,
                              const double* velocity) {
    CT_NEED(NULL, model, state);
    const size_t n = (size_t)model->tree.ndof;
    if (!ct_state_fits(state, model) || !are_finite(position, n) || !are_finite(velocity, n))
        return CT_BAD_ARGUMENT;
    if (!model->tree.nlink) return CT_OK;
    ct_status status = set_links(model, state, position, velocity);
    if (status == CT_OK) forget(model, state);
    return status;
}

ct_status ct_state_begin(const ct_model* model, ct_state* state, const double* x, const double* v,
                         const double* position, const double* velocity) {
    CT_NEED(NULL, model, state);
    const size_t n = 3 * (size_t)model->nvert, ndof = (size_t)model->tree.ndof;
    if (!ct_state_fits(state, model) || !are_finite(x, n) || !are_finite(v, n) ||
        !are_finite(position, ndof) || !are_finite(velocity, ndof))
        return CT_BAD_ARGUMENT;
    if (x) memcpy(state->x, x, n * sizeof(double));
    else ct_model_get(model, CT_QUANTITY_POSITION, state->x);
    memcpy(state->v, v ? v : model->velocity, n * sizeof(double));
    memset(state->contact_force, 0, n * sizeof(double));
    ct_status status = CT_OK;
    const bool links = model->tree.nlink > 0;
    if (links) {
        memcpy(state->v_before, state->v, n * sizeof(double));
        status = set_links(model, state, position, velocity);
        if (status == CT_OK) status = ct_start_place(model, state);
        if (status == CT_OK) status = ct_start_move(model, state);
    }
    forget(model, state);
    state->header->followed = links;
    return status;
}

static ct_status set_initial(const ct_model* model, ct_state* state) {
    for (int i = 0; i < model->actuators.size; i++) state->actuation[i] = model->actuators.start[i];
    for (int i = 0; i < model->inputs.nmount; i++) state->mount[7 * i + 3] = 1;  // not turned
    ct_external_roots(model, 0, NULL, state->mount, state->q + model->tree.root_coordinate);
    return ct_state_begin(model, state, NULL, NULL, NULL, NULL);
}

static const char* const less = "use a coarser mesh, or fewer states at a time";

ct_status ct_state_create(ct_state** out, const ct_model* model, ct_error* error) {
    CT_NEED(error, out, model);
    ct_error_clear(error);
    *out = NULL;
    ct_state* state = ct_alloc(1, sizeof *state);
    if (!state) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a state", less);
    state->size = ct_state_block_size(model);
    state->header = ct_alloc(1, state->size);
    if (!state->header) {
        ct_free(state);
        return ct_fail_making(error, CT_OUT_OF_MEMORY, "a state", less);
    }
    state->header->nvert = model->nvert;
    state->header->ncoordinate = model->tree.ncoordinate;
    state->header->anchor_room = (int64_t)ct_state_anchor_room(model);
    locate_arrays(state, model->nvert, model->tree.ncoordinate, model->actuators.size, model->inputs.nmount,
                  model->tree.ndof, ct_state_growth_count(model));
    ct_status status = set_initial(model, state);
    if (status != CT_OK) {
        ct_state_free(state);
        return ct_fail_making(error, status, "a state", less);
    }
    *out = state;
    return CT_OK;
}
