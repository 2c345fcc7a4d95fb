// Copying, restoring and reading states; see state.h.
#include "step/state.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "model/model.h"
#include "skeleton/config.h"

// Contacts whose forces a state can hold: more than meshes have that touch all over.
size_t ct_state_anchor_room(const ct_model* model) {
    size_t room = 64;
    for (int i = 0; i < model->collision.nnode; i++)
        room += model->collision.node_rigid[model->collision.node[i]] == CT_RIGID_DRIVEN ? 1 : 3;
    return model->settings.contact.method == CT_CONTACT_METHOD_NONE ? 0 : room;
}

size_t ct_state_growth_count(const ct_model* model) {
    return ct_state_anchor_room(model) ? (size_t)model->collision.ncollider : 0;
}

size_t ct_state_block_size(const ct_model* model) {
    size_t numbers = CT_STATE_NODE_ARRAYS * ct_state_padded(model->nvert) +
                     3 * (size_t)model->tree.ncoordinate + (size_t)model->tree.ndof +
                     2 * (size_t)model->actuators.size + 7 * (size_t)model->inputs.nmount;
    return sizeof(ct_state_header) + numbers * sizeof(double) +
           ct_state_growth_count(model) * sizeof(double) + ct_state_anchor_room(model) * sizeof(ct_anchor);
}

bool ct_state_fits(const ct_state* state, const ct_model* model) {
    return state->size == ct_state_block_size(model) && state->header->nvert == model->nvert &&
           state->header->ncoordinate == model->tree.ncoordinate;
}

void ct_state_free(ct_state* state) {
    if (!state) return;
    ct_free(state->header);
    ct_free(state);
}

ct_status ct_state_copy(ct_state* target, const ct_state* source) {
    CT_NEED(NULL, target, source);
    return ct_state_restore(target, source->header, source->size);
}

ct_status ct_state_restore(ct_state* state, const void* bytes, size_t size) {
    CT_NEED(NULL, state);
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
    CT_NEED(NULL, state);
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
    state->header->followed = 0;
    return CT_OK;
}

const double* ct_state_coordinates(const ct_state* state) { return state->q; }
const double* ct_state_actuation(const ct_state* state) { return state->actuation; }
const double* ct_state_mounts(const ct_state* state) { return state->mount; }

ct_status ct_state_link_pose(const ct_model* model, const ct_state* state, int link, double rotation[9],
                             double translation[3]) {
    CT_NEED(NULL, model, state);
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
    CT_NEED(NULL, model, state);
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
