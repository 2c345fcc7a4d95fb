// Creating, copying and restoring states; see state.h.
#include "step/state.h"

#include <math.h>
#include <string.h>

#include "skeleton/config.h"
#include "step/external.h"

enum { NODE_ARRAYS = 7 };

static size_t padded_count(int nvert) { return ((3 * (size_t)nvert + 7) / 8) * 8 + 8; }

static void locate_arrays(ct_state* state, int nvert, int ncoordinate, int nactuation, int nmount, int ndof,
                          size_t ngrowth) {
    double* array = (double*)(state->header + 1);
    double** arrays[NODE_ARRAYS] = {
        &state->x,        &state->v,           &state->x_previous,   &state->v_previous,
        &state->v_before, &state->x_reference, &state->contact_force};
    for (size_t i = 0; i < NODE_ARRAYS; i++, array += padded_count(nvert)) *arrays[i] = array;
    double** coordinates[] = {&state->q, &state->q_previous, &state->q_reference};
    for (size_t i = 0; i < sizeof coordinates / sizeof coordinates[0]; i++, array += ncoordinate)
        *coordinates[i] = array;
    state->actuation = array;
    state->mount = state->actuation + nactuation;
    state->rate = state->mount + 7 * nmount;
    state->growth = state->rate + ndof;
    state->anchor = (ct_anchor*)(state->growth + ngrowth);
}

// Contacts whose forces a state can hold: more than meshes have that touch all over.
size_t ct_state_anchor_room(const ct_model* model) {
    size_t room = 64;
    for (int i = 0; i < model->collision.nnode; i++)
        room += model->collision.node_rigid[model->collision.node[i]] == CT_RIGID_DRIVEN ? 1 : 3;
    return model->settings.contact.method == CT_CONTACT_METHOD_NONE ? 0 : room;
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
        for (int i = 0; i < tree->start[tree->nlink]; i++)
            memset(state->v + 3 * tree->node[i], 0, 3 * sizeof(double));
        ct_config_push(tree, &config, rate, twist, state->v);
        memcpy(state->q_previous, state->q, (size_t)tree->ncoordinate * sizeof(double));
    }
    status = arena.failed ? CT_OUT_OF_MEMORY : status;
    ct_arena_free(&arena);
    return status;
}

ct_status ct_state_set_joints(const ct_model* model, ct_state* state, const double* position,
                              const double* velocity) {
    if (!ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    for (int j = 0; j < model->tree.ndof; j++)
        if ((position && !isfinite(position[j])) || (velocity && !isfinite(velocity[j])))
            return CT_BAD_ARGUMENT;
    if (!model->tree.nlink) return CT_OK;
    size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    ct_status status = set_links(model, state, position, velocity);
    if (status != CT_OK) return status;
    memcpy(state->v_previous, state->v, bytes);
    memcpy(state->x_previous, state->x, bytes);
    state->header->nanchor = 0;
    state->header->closed = 0;
    state->header->grown = 0;
    state->header->history = 0;
    state->header->settled = CT_SETTLED_NOT;
    return CT_OK;
}

static ct_status set_initial(const ct_model* model, ct_state* state) {
    size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    memcpy(state->x, model->geometry.rest, bytes);
    memcpy(state->v, model->velocity, bytes);
    for (int i = 0; i < model->actuators.size; i++) state->actuation[i] = model->actuators.start[i];
    for (int i = 0; i < model->inputs.nmount; i++) state->mount[7 * i + 3] = 1;  // not turned
    ct_external_drive(model, 0, NULL, state->mount, state->x);
    ct_external_roots(model, 0, NULL, state->mount, state->q + model->tree.root_coordinate);
    ct_status status = model->tree.nlink ? set_links(model, state, NULL, NULL) : CT_OK;
    memcpy(state->v_previous, state->v, bytes);
    memcpy(state->x_previous, state->x, bytes);
    return status;
}

static size_t growth_count(const ct_model* model) {
    size_t n = (size_t)model->collision.ncollider;
    return ct_state_anchor_room(model) ? n * n : 0;
}

static size_t block_size(const ct_model* model) {
    size_t numbers = NODE_ARRAYS * padded_count(model->nvert) + 3 * (size_t)model->tree.ncoordinate +
                     (size_t)model->tree.ndof + (size_t)model->actuators.size +
                     7 * (size_t)model->inputs.nmount;
    return sizeof(ct_state_header) + numbers * sizeof(double) + growth_count(model) * sizeof(double) +
           ct_state_anchor_room(model) * sizeof(ct_anchor);
}

bool ct_state_fits(const ct_state* state, const ct_model* model) {
    return state->size == block_size(model) && state->header->nvert == model->nvert &&
           state->header->ncoordinate == model->tree.ncoordinate;
}

ct_status ct_state_create(ct_state** out, const ct_model* model) {
    *out = NULL;
    ct_state* state = ct_alloc(1, sizeof *state);
    if (!state) return CT_OUT_OF_MEMORY;
    state->size = block_size(model);
    state->header = ct_alloc(1, state->size);
    if (!state->header) {
        ct_free(state);
        return CT_OUT_OF_MEMORY;
    }
    state->header->nvert = model->nvert;
    state->header->ncoordinate = model->tree.ncoordinate;
    state->header->anchor_room = (int64_t)ct_state_anchor_room(model);
    locate_arrays(state, model->nvert, model->tree.ncoordinate, model->actuators.size, model->inputs.nmount,
                  model->tree.ndof, growth_count(model));
    ct_status status = set_initial(model, state);
    if (status != CT_OK) {
        ct_state_free(state);
        return status;
    }
    *out = state;
    return CT_OK;
}

void ct_state_free(ct_state* state) {
    if (!state) return;
    ct_free(state->header);
    ct_free(state);
}

ct_status ct_state_copy(ct_state* target, const ct_state* source) {
    return ct_state_restore(target, source->header, source->size);
}

ct_status ct_state_restore(ct_state* state, const void* bytes, size_t size) {
    ct_state_header header;
    if (size != state->size) return CT_BAD_ARGUMENT;
    memcpy(&header, bytes, sizeof header);
    if (header.nvert != state->header->nvert || header.ncoordinate != state->header->ncoordinate ||
        header.anchor_room != state->header->anchor_room || header.nanchor > header.anchor_room)
        return CT_BAD_ARGUMENT;
    memcpy(state->header, bytes, size);
    return CT_OK;
}

size_t ct_state_size(const ct_state* state) { return state->size; }
const void* ct_state_bytes(const ct_state* state) { return state->header; }
double ct_state_time(const ct_state* state) { return state->header->time; }
int64_t ct_state_step_index(const ct_state* state) { return state->header->step; }
const double* ct_state_positions(const ct_state* state) { return state->x; }
const double* ct_state_velocities(const ct_state* state) { return state->v; }
const double* ct_state_contact_forces(const ct_state* state) { return state->contact_force; }

ct_status ct_state_set(ct_state* state, const double* x, const double* v) {
    size_t count = 3 * (size_t)state->header->nvert;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]) || !isfinite(v[i])) return CT_BAD_ARGUMENT;
    memcpy(state->x, x, count * sizeof(double));
    memcpy(state->v, v, count * sizeof(double));
    memcpy(state->x_previous, x, count * sizeof(double));
    memcpy(state->v_previous, v, count * sizeof(double));
    memset(state->contact_force, 0, count * sizeof(double));
    state->header->nanchor = 0;
    state->header->closed = 0;
    state->header->grown = 0;
    state->header->history = 0;
    state->header->settled = CT_SETTLED_NOT;
    return CT_OK;
}

const double* ct_state_coordinates(const ct_state* state) { return state->q; }
const double* ct_state_actuation(const ct_state* state) { return state->actuation; }
const double* ct_state_mounts(const ct_state* state) { return state->mount; }

ct_status ct_state_link_pose(const ct_model* model, const ct_state* state, int link, double rotation[9],
                             double translation[3]) {
    if (link < 0 || link >= model->tree.nlink || !ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    ct_arena arena = {0};
    ct_config config = {0};
    ct_status status = ct_config_create(&config, &arena, &model->tree);
    if (status == CT_OK) {
        memcpy(config.q, state->q, (size_t)model->tree.ncoordinate * sizeof(double));
        ct_config_place(&model->tree, &config);
        memcpy(rotation, config.frame + 12 * link, 9 * sizeof(double));
        memcpy(translation, config.frame + 12 * link + 9, 3 * sizeof(double));
    }
    ct_arena_free(&arena);
    return status;
}

ct_status ct_state_link_poses(const ct_model* model, const ct_state* state, double* poses) {
    if (!ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    ct_arena arena = {0};
    ct_config config = {0};
    ct_status status = ct_config_create(&config, &arena, &model->tree);
    if (status == CT_OK) {
        memcpy(config.q, state->q, (size_t)model->tree.ncoordinate * sizeof(double));
        ct_config_place(&model->tree, &config);
        memcpy(poses, config.frame, 12 * (size_t)model->tree.nlink * sizeof(double));
    }
    ct_arena_free(&arena);
    return status;
}
