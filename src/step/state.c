// Creating, copying and restoring states; see state.h.
#include "step/state.h"

#include <math.h>
#include <string.h>

#include "step/external.h"

static size_t padded_count(int nvert) { return ((3 * (size_t)nvert + 7) / 8) * 8 + 8; }

static void locate_arrays(ct_state* state, int nvert) {
    double* array = (double*)(state->header + 1);
    double** arrays[] = {&state->x, &state->v, &state->x_previous, &state->v_previous, &state->v_before,
                         &state->x_reference};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++, array += padded_count(nvert)) *arrays[i] = array;
}

static void set_initial(const ct_model* model, ct_state* state) {
    size_t bytes = 3 * (size_t)model->nvert * sizeof(double);
    memcpy(state->x, model->rest, bytes);
    memcpy(state->v, model->velocity, bytes);
    ct_external_drive(model, 0, NULL, state->x);
    memcpy(state->v_previous, state->v, bytes);
    memcpy(state->x_previous, state->x, bytes);
}

ct_status ct_state_create(ct_state** out, const ct_model* model) {
    *out = NULL;
    ct_state* state = ct_alloc(1, sizeof *state);
    if (!state) return CT_OUT_OF_MEMORY;
    state->size = sizeof(ct_state_header) + 6 * padded_count(model->nvert) * sizeof(double);
    state->header = ct_alloc(1, state->size);
    if (!state->header) {
        ct_free(state);
        return CT_OUT_OF_MEMORY;
    }
    state->header->nvert = model->nvert;
    locate_arrays(state, model->nvert);
    set_initial(model, state);
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
    if (header.nvert != state->header->nvert) return CT_BAD_ARGUMENT;
    memcpy(state->header, bytes, size);
    return CT_OK;
}

size_t ct_state_size(const ct_state* state) { return state->size; }
const void* ct_state_bytes(const ct_state* state) { return state->header; }
double ct_state_time(const ct_state* state) { return state->header->time; }
int64_t ct_state_step_index(const ct_state* state) { return state->header->step; }
const double* ct_state_positions(const ct_state* state) { return state->x; }
const double* ct_state_velocities(const ct_state* state) { return state->v; }

ct_status ct_state_set(ct_state* state, const double* x, const double* v) {
    size_t count = 3 * (size_t)state->header->nvert;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]) || !isfinite(v[i])) return CT_BAD_ARGUMENT;
    memcpy(state->x, x, count * sizeof(double));
    memcpy(state->v, v, count * sizeof(double));
    memcpy(state->x_previous, x, count * sizeof(double));
    memcpy(state->v_previous, v, count * sizeof(double));
    state->header->history = 0;
    return CT_OK;
}
