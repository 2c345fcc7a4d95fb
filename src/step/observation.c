// Lists of observations as objects: checked against a model, evaluated on its states; see cuttle/observe.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "step/observe.h"
#include "step/vector.h"

struct ct_observation {
    ct_arena arena;
    const ct_model* model;
    ct_observe* observe;  // count
    int* first;           // count + 1, of their numbers
    int count;
    bool links;  // frames of links are needed
};

// ---- creation --------------------------------------------------------------------------------

static ct_status wrong(ct_error* error, int index, const char* field, const char* message) {
    if (error) snprintf(error->path, sizeof error->path, "observe[%d].%s", index, field);
    return ct_fail(error, CT_BAD_SCENE, "observe[%d].%s %s", index, field, message);
}

// First and last node of a body, the latter past its end.
static void find_nodes(const ct_model* model, int body, int* first, int* last) {
    const ct_geometry* g = &model->geometry;
    *first = model->nvert, *last = 0;
    for (int e = 0; e < model->ntet; e++)
        for (int k = 0; g->tet_body[e] == body && k < (g->mid ? 10 : 4); k++) {
            const int v = k < 4 ? g->tet[4 * (size_t)e + (size_t)k] : g->mid[6 * (size_t)e + (size_t)k - 4];
            if (v < 0) continue;
            if (v < *first) *first = v;
            if (v >= *last) *last = v + 1;
        }
    for (int i = 0; i < 3 * model->ntri; i++) {
        if (g->tri_body[i / 3] != body) continue;
        if (g->tri[i] < *first) *first = g->tri[i];
        if (g->tri[i] >= *last) *last = g->tri[i] + 1;
    }
}

static ct_status resolve_nodes(ct_observation* out, const ct_observe_def* def, int index, ct_observe* o,
                               ct_error* error) {
    const ct_model* model = out->model;
    if (def->count < 1 || !def->nodes) return wrong(error, index, "nodes", "are missing: give one or more");
    for (int i = 0; i < def->count; i++)
        if (def->nodes[i] < 0 || def->nodes[i] >= model->nvert)
            return wrong(error, index, "nodes", "have one that the model has not");
    o->nnode = def->count;
    o->node = ct_arena_copy(&out->arena, def->nodes, (size_t)def->count, sizeof *o->node);
    if (!o->node) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    if (def->kind > CT_OBSERVE_VELOCITY) return CT_OK;
    if (def->relative < -1 || def->relative >= model->nbody)
        return wrong(error, index, "relative", "is not a body of the model, nor -1");
    int first = 0, last = 0;
    if (def->relative >= 0) find_nodes(model, def->relative, &first, &last);
    o->nother = last - first;
    o->other = ct_arena_alloc(&out->arena, (size_t)o->nother, sizeof *o->other);
    if (!o->other) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int i = 0; i < o->nother; i++) o->other[i] = first + i;
    const double* rest = model->geometry.rest;
    for (int a = 0; a < 3; a++) {
        for (int i = 0; i < o->nnode; i++) o->rest[a] += rest[3 * (size_t)o->node[i] + (size_t)a] / o->nnode;
        for (int i = 0; i < o->nother; i++)
            o->rest[a] -= rest[3 * (size_t)o->other[i] + (size_t)a] / o->nother;
    }
    return CT_OK;
}

static ct_status resolve_link(ct_observation* out, const ct_observe_def* def, int index, ct_observe* o,
                              ct_error* error) {
    const ct_tree* tree = &out->model->tree;
    o->link = -1;
    for (int k = 0; def->link && k < tree->nlink; k++)
        if (!strcmp(tree->name[k], def->link)) o->link = k;
    if (o->link < 0) return wrong(error, index, "link", "is not the name of a link of the model");
    if (def->kind != CT_OBSERVE_POSE && !tree->type[o->link]->ndof)
        return wrong(error, index, "link", "has a fixed joint, which has no coordinates: observe its pose");
    return CT_OK;
}

static ct_status resolve_actuator(const ct_model* model, const ct_observe_def* def, int index, ct_observe* o,
                                  ct_error* error) {
    const ct_actuators* all = &model->actuators;
    o->actuator = -1;
    for (int k = 0; def->actuator && k < all->count; k++)
        if (!strcmp(all->list[k].name, def->actuator)) o->actuator = k;
    if (o->actuator < 0)
        return wrong(error, index, "actuator", "is not the name of an actuator of the model");
    if (def->kind == CT_OBSERVE_VOLUME && all->list[o->actuator].kind != CT_ACTUATOR_CAVITY)
        return wrong(error, index, "actuator", "is not a cavity: it has no volume");
    return CT_OK;
}

static ct_status resolve(ct_observation* out, const ct_observe_def* def, int index, ct_observe* o,
                         ct_error* error) {
    *o = (ct_observe){.kind = def->kind, .scale = def->scale, .frequency = def->frequency};
    if (!isfinite(def->scale)) return wrong(error, index, "scale", "must be finite");
    if (!isfinite(def->frequency)) return wrong(error, index, "frequency", "must be finite");
    switch (def->kind) {
    case CT_OBSERVE_POSITION:
    case CT_OBSERVE_VELOCITY:
    case CT_OBSERVE_POSITIONS:
    case CT_OBSERVE_VELOCITIES: return resolve_nodes(out, def, index, o, error);
    case CT_OBSERVE_JOINT:
    case CT_OBSERVE_RATE:
    case CT_OBSERVE_POSE: return resolve_link(out, def, index, o, error);
    case CT_OBSERVE_VOLUME:
    case CT_OBSERVE_ACTUATION: return resolve_actuator(out->model, def, index, o, error);
    case CT_OBSERVE_PHASE: return CT_OK;
    case CT_OBSERVE_CONTACT:
        if (def->body < 0 || def->body >= out->model->nbody)
            return wrong(error, index, "body", "is not a body of the model");
        find_nodes(out->model, def->body, &o->first, &o->last);
        return CT_OK;
    }
    return wrong(error, index, "kind", "is not one of ct_observe_kind");
}

ct_status ct_observation_create(ct_observation** out, const ct_model* model, const ct_observe_def* observe,
                                int count, ct_error* error) {
    CT_NEED(error, out, model);
    ct_error_clear(error);
    *out = NULL;
    if (count < 0 || (count && !observe))
        return ct_fail(error, CT_BAD_ARGUMENT, "there are %d observations: give an array of 0 or more",
                       count);
    ct_observation* made = ct_alloc(1, sizeof *made);
    if (!made) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    made->model = model;
    made->count = count;
    made->observe = ct_arena_alloc(&made->arena, (size_t)count, sizeof *made->observe);
    made->first = ct_arena_alloc(&made->arena, (size_t)count + 1, sizeof *made->first);
    ct_status status = CT_OK;
    if (made->arena.failed) status = ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int i = 0; i < count && !status; i++) {
        ct_observe* o = &made->observe[i];
        status = resolve(made, &observe[i], i, o, error);
        if (status) break;
        made->first[i + 1] = made->first[i] + ct_observe_count(model, o);
        made->links = made->links || o->kind == CT_OBSERVE_POSE || o->kind == CT_OBSERVE_RATE;
    }
    if (status) ct_observation_free(made);
    else *out = made;
    return status;
}

void ct_observation_free(ct_observation* observation) {
    if (!observation) return;
    ct_arena_free(&observation->arena);
    ct_free(observation);
}

int ct_observation_size(const ct_observation* observation) { return observation->first[observation->count]; }

int ct_observation_first(const ct_observation* observation, int index) {
    if (index < 0) return 0;
    return observation->first[index < observation->count ? index : observation->count];
}

// ---- evaluation ------------------------------------------------------------------------------

ct_status ct_observation_many(const ct_observation* observation, int count, const ct_state* const* states,
                              double* values) {
    CT_NEED(NULL, observation, states, values);
    const ct_model* model = observation->model;
    for (int s = 0; s < count; s++)
        if (!states[s] || !ct_state_fits(states[s], model)) return CT_BAD_ARGUMENT;
    for (int s = 0; s < count; s++, values += ct_observation_size(observation)) {
        ct_arena arena = {0};
        ct_observe_links links;
        ct_status status = CT_OK;
        if (observation->links) status = ct_observe_links_create(&links, &arena, model, states[s]);
        for (int i = 0; !status && i < observation->count; i++)
            ct_observe_value(model, states[s], &observation->observe[i], observation->links ? &links : NULL,
                             values + observation->first[i]);
        ct_arena_free(&arena);
        if (status) return status;
    }
    return CT_OK;
}

ct_status ct_observation_state(const ct_observation* observation, const ct_state* state, double* values) {
    CT_NEED(NULL, observation, state, values);
    return ct_observation_many(observation, 1, &state, values);
}

ct_status ct_observation_vjp(const ct_observation* observation, const ct_state* state,
                             const double* values_bar, double* state_bar) {
    CT_NEED(NULL, observation, state, values_bar, state_bar);
    const ct_model* model = observation->model;
    if (!ct_state_fits(state, model)) return CT_BAD_ARGUMENT;
    ct_arena arena = {0};
    ct_observe_links links, *placed = observation->links ? &links : NULL;
    ct_adjoint_state bar = ct_vector_adjoint(model, &arena);
    double* r = ct_arena_alloc(&arena, 2 * (size_t)model->tree.ndof, sizeof *r);
    ct_status status = placed ? ct_observe_links_create(placed, &arena, model, state) : CT_OK;
    if (arena.failed) status = CT_OUT_OF_MEMORY;
    for (int i = 0; !status && i < observation->count; i++)
        ct_observe_vjp(model, state, &observation->observe[i], placed, values_bar + observation->first[i],
                       &bar);
    if (!status && placed) ct_observe_pull_links(model, placed, r, &bar);
    if (!status) ct_vector_from_adjoint(model, state, &bar, state_bar);
    ct_arena_free(&arena);
    return status;
}
