// Parameters of a scene as one vector; see params.h.
//
// Every quantity that a parameter can set is an array of numbers q, and
//     q[i] = base[i] + T(y[map[i]])        where map[i] >= 0,   q[i] = base[i] elsewhere;
// base is zero where the parameter replaces the scene's number, and the scene's number where it is an offset.
// Reverse:
//     y_bar[k] = T'(y[k]) * sum of q_bar[i] over map[i] = k.
// Numbers of driven nodes keep their place in y and set nothing. Controls that go along a curve
// (control_shapes.h) are set after this.
#include "step/params.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "math/rotation.h"
#include "model/control_values.h"
#include "quantity/fields.h"
#include "step/control_shapes.h"

typedef struct field {  // a quantity; unused: n = 0
    size_t n;
    double *base, *value, *bar;
    int* map;  // number of y, -1: none
} field;

typedef struct slice {
    ct_scene_parameter def;  // scale, offset and lower resolved; name not used
    char name[64];
    int first, count;
    int width;  // numbers of a group: 3 for vectors, a control's size
} slice;

struct ct_params {
    ct_arena arena;
    int nslice, size, nstep, control_size;
    slice* slices;
    field fields[CT_QUANTITY_COUNT];
    double* start;     // size, physical
    double* physical;  // size, of the last apply
    int* members;      // size, numbers that a component sets; while creating
    int nturn, *turn;  // first rates of rotations of balls and free joints
    ct_control_curve* curves;
    int ncurve;
    double time_step;
    ct_values values, gradient;  // of the fields
};

static ct_quantity_of owner_of(const ct_scene_parameter* def) { return ct_quantity_row(def->quantity)->of; }
static bool is_curve(const ct_scene_parameter* def) {
    return def->quantity == CT_QUANTITY_CONTROL && def->shape != CT_CURVE_STEPS;
}
static bool is_offset(const ct_scene_parameter* def) {
    return owner_of(def) == CT_OF_NODES && def->per != CT_PER_ELEMENT;
}

// -------------------------------------------------------------------------------------------------
// Transforms

static double to_value(const ct_scene_parameter* p, double y) {
    switch (p->transform) {
    case CT_TRANSFORM_LOG: return p->scale * exp(y);
    case CT_TRANSFORM_SIGMOID: return p->lower + (p->upper - p->lower) / (1 + exp(-y));
    default: return p->offset + p->scale * y;
    }
}

static double to_y(const ct_scene_parameter* p, double value) {
    switch (p->transform) {
    case CT_TRANSFORM_LOG: return value > 0 ? log(value / p->scale) : -INFINITY;
    case CT_TRANSFORM_SIGMOID: return log(value - p->lower) - log(p->upper - value);
    default: return (value - p->offset) / p->scale;
    }
}

// T'(y)
static double slope(const ct_scene_parameter* p, double y) {
    switch (p->transform) {
    case CT_TRANSFORM_LOG: return p->scale * exp(y);
    case CT_TRANSFORM_SIGMOID: {
        double tail = exp(-fabs(y));
        return (p->upper - p->lower) * tail / ((1 + tail) * (1 + tail));
    }
    default: return p->scale;
    }
}

// -------------------------------------------------------------------------------------------------
// Fields

static size_t count_numbers(const ct_params* params, const ct_model* model, ct_quantity quantity) {
    size_t steps = quantity == CT_QUANTITY_CONTROL ? (size_t)params->nstep : 1;
    return steps * ct_model_quantity_size(model, quantity);
}

static bool make_field(ct_params* params, const ct_model* model, ct_quantity quantity) {
    field* f = &params->fields[quantity];
    if (f->n) return true;
    size_t n = count_numbers(params, model, quantity);
    f->base = ct_arena_alloc(&params->arena, n, sizeof *f->base);
    f->value = ct_arena_alloc(&params->arena, n, sizeof *f->value);
    f->bar = ct_arena_alloc(&params->arena, n, sizeof *f->bar);
    f->map = ct_arena_alloc(&params->arena, n, sizeof *f->map);
    if (params->arena.failed) return false;
    f->n = n;
    for (size_t i = 0; i < n; i++) f->map[i] = -1;
    params->values.of[quantity] = f->value;
    params->gradient.of[quantity] = f->bar;
    if (quantity != CT_QUANTITY_CONTROL) ct_model_get(model, quantity, f->base);
    // the scene's values at the start of every step
    for (size_t step = 0; quantity == CT_QUANTITY_CONTROL && step < (size_t)params->nstep; step++)
        ct_model_control_values(model, (double)step * model->settings.time_step,
                                f->base + step * (size_t)model->inputs.control_size);
    return true;
}

// -------------------------------------------------------------------------------------------------
// Maps: which number of y sets which number of a field. Each returns how many groups it made.

static int compare_int(const void* a, const void* b) {
    int i = *(const int*)a, j = *(const int*)b;
    return (i > j) - (i < j);
}

// Groups of a body's elements by tag, in order of the tags. `tags` has room for every element.
static int map_tags(const ct_scene_body* body, int first, int* map, int* tags) {
    int count = 0, n = ct_scene_body_elements(body);
    const int* own = ct_scene_sheet_size(body) ? body->mesh->tri_tag : body->mesh->tet_tag;
    memcpy(tags, own, (size_t)n * sizeof *tags);
    qsort(tags, (size_t)n, sizeof *tags, compare_int);
    for (int e = 0; e < n; e++)
        if (!count || tags[e] != tags[count - 1]) tags[count++] = tags[e];
    for (int e = 0; e < n; e++)
        map[e] = first + (int)((int*)bsearch(&own[e], tags, (size_t)count, sizeof *tags, compare_int) - tags);
    return count;
}

// Elements are the tets, then the triangles of sheets.
static int first_element(const ct_scene_body* body, const ct_model* model) {
    return ct_scene_sheet_size(body) ? model->ntet + body->first_tri : body->first_tet;
}

// Elements or nodes of the bodies; group g of `width` numbers begins at first + g width.
static int map_bodies(const ct_scene* scene, const ct_model* model, const slice* s, int* map, int* tags) {
    int groups = 0;
    bool nodal = owner_of(&s->def) == CT_OF_NODES;
    for (int b = 0; b < scene->nbody; b++) {
        const ct_scene_body* body = &scene->body[b];
        if (s->def.body >= 0 && b != s->def.body) continue;
        if (owner_of(&s->def) == CT_OF_SHEETS && !ct_scene_sheet_size(body)) continue;
        if (s->def.per == CT_PER_TAG) {
            groups += map_tags(body, s->first + groups, map + first_element(body, model), tags);
            continue;
        }
        int count = nodal ? body->mesh->nvert : ct_scene_body_elements(body);
        int begin = nodal ? body->first_node : first_element(body, model);
        for (int i = 0; i < count; i++) {
            int group = s->def.per == CT_PER_SCENE ? 0 : s->def.per == CT_PER_BODY ? groups : groups + i;
            for (int k = 0; k < s->width; k++)
                if (!nodal || model->row[begin + i] >= 0)
                    map[(begin + i) * (size_t)s->width + k] = s->first + group * s->width + k;
        }
        groups = s->def.per == CT_PER_SCENE ? 1 : s->def.per == CT_PER_BODY ? groups + 1 : groups + count;
    }
    return groups;
}

static int map_control(const ct_params* params, const slice* s, int first_control, int* map) {
    int hold = s->def.per == CT_PER_SCENE ? params->nstep : s->def.hold;
    for (int step = 0; step < params->nstep; step++)
        for (int k = 0; k < s->width; k++)
            map[(size_t)step * (size_t)params->control_size + (size_t)(first_control + k)] =
                s->first + step / hold * s->width + k;
    return (params->nstep - 1) / hold + 1;
}

// Links that have such a quantity, one number each (one for every rate), or one for all.
static int map_links(const ct_scene* scene, const ct_model* model, const slice* s, int* map) {
    int groups = 0;
    for (int k = 0; k < scene->nlink; k++) {
        if ((s->def.link >= 0 && k != s->def.link) ||
            !ct_scene_link_takes(&scene->link[k], s->def.quantity, s->def.per))
            continue;
        bool rates = owner_of(&s->def) == CT_OF_RATES;
        int first = rates ? model->tree.dof[k] : k, end = rates ? model->tree.dof[k + 1] : k + 1;
        for (int i = first; i < end; i++) map[i] = s->first + (s->def.per == CT_PER_SCENE ? 0 : groups++);
    }
    return s->def.per == CT_PER_SCENE ? 1 : groups;
}

// The scene's coefficient, or all of them.
static int map_friction(const ct_model* model, const slice* s, int* map) {
    int count = s->def.per == CT_PER_SCENE ? 1 : model->nfriction;
    for (int i = 0; i < count; i++) map[i] = s->first + i;
    return count;
}

// Actuators of a kind, one number each, or one for all.
static int map_actuators(const ct_model* model, const slice* s, ct_actuator_kind kind, int* map) {
    int groups = 0;
    for (int k = 0; k < model->actuators.count; k++)
        if (ct_scene_is_stiff(&model->actuators.list[k], kind) &&
            (s->def.actuator < 0 || k == s->def.actuator))
            map[k] = s->first + (s->def.per == CT_PER_SCENE ? 0 : groups++);
    return s->def.per == CT_PER_SCENE ? 1 : groups;
}

static int map_slice(const ct_params* params, const ct_scene* scene, const ct_model* model, const slice* s,
                     int* tags) {
    int* map = params->fields[s->def.quantity].map;
    ct_quantity_of of = owner_of(&s->def);
    ct_actuator_kind kind;
    if (is_curve(&s->def)) return s->def.shape == CT_CURVE_SPLINE ? s->def.knots : 1;
    if (of == CT_OF_CONTROLS)
        return map_control(params, s, ct_scene_control_first(scene, s->def.control), map);
    if (of == CT_OF_FRICTION) return map_friction(model, s, map);
    if (of == CT_OF_NODES || ct_fields_of_elements(s->def.quantity))
        return map_bodies(scene, model, s, map, tags);
    if (ct_fields_of_links(s->def.quantity)) return map_links(scene, model, s, map);
    if (ct_fields_of_actuators(s->def.quantity, &kind)) return map_actuators(model, s, kind, map);
    for (int k = 0; k < s->width; k++) map[k] = s->first + k;
    return 1;
}

// What the scene has once is one group.
static int slice_width(const ct_scene* scene, const ct_model* model, const ct_scene_parameter* def) {
    ct_quantity_of of = owner_of(def);
    if (of == CT_OF_CONTROLS) return scene->control[def->control].size;
    if (of == CT_OF_SCENE || of == CT_OF_WATER || of == CT_OF_POLICY)
        return (int)ct_model_quantity_size(model, def->quantity);
    return ct_quantity_row(def->quantity)->width;
}

// Most numbers that a slice can have, to be sure that indices fit.
static double most_numbers(const ct_params* params, const ct_scene* scene, const ct_model* model) {
    double total = 0;
    for (int i = 0; i < scene->nparameter; i++)
        total += (double)count_numbers(params, model, scene->parameter[i].quantity) +
                 CT_WAVE_PARTS * (double)params->control_size;
    return total;
}

static void add_slice(ct_params* params, const ct_scene* scene, const ct_model* model,
                      const ct_scene_parameter* def, const char* part, int* tags) {
    slice* s = &params->slices[params->nslice];
    s->def = *def;
    if (part) snprintf(s->name, sizeof s->name, "%.50s.%s", def->name, part);
    else snprintf(s->name, sizeof s->name, "%s", def->name);
    s->first = params->size;
    s->width = slice_width(scene, model, def);
    if (!make_field(params, model, def->quantity)) return;
    s->count = s->width * map_slice(params, scene, model, s, tags);
    params->size += s->count;
    params->nslice++;
}

// A spline has one slice, a sinusoid one for each of its numbers that are free.
static ct_status add_curve(ct_params* params, const ct_scene* scene, const ct_model* model,
                           const ct_scene_parameter* def, ct_error* error) {
    ct_control_curve* curve = &params->curves[params->ncurve++];
    *curve = (ct_control_curve){.shape = def->shape,
                                .control = ct_scene_control_first(scene, def->control),
                                .knots = def->knots,
                                .size = scene->control[def->control].size,
                                .points = params->size};
    if (def->shape == CT_CURVE_SPLINE && def->knots > params->nstep)
        return ct_fail(error, CT_BAD_SCENE,
                       "parameter \"%s\" is a spline with %d knots, more than the %d steps: use fewer",
                       def->name, def->knots, params->nstep);
    if (def->shape == CT_CURVE_SPLINE) add_slice(params, scene, model, def, NULL, NULL);
    for (int k = 0; def->shape == CT_CURVE_SINUSOID && k < CT_WAVE_PARTS; k++) {
        const ct_wave_number* number = &def->wave[k];
        ct_scene_parameter part = *def;
        part.transform = CT_TRANSFORM_AFFINE;
        part.lower = number->lower;
        part.upper = number->upper;
        part.start = number->start;
        part.offset = 0;
        part.scale = k == CT_WAVE_CENTER ? fabs(def->wave[CT_WAVE_AMPLITUDE].start) : 0;
        curve->fixed[k] = number->start;
        curve->part[k] = number->fixed ? -1 : params->size;
        if (!number->fixed) add_slice(params, scene, model, &part, ct_wave_names[k], NULL);
    }
    return CT_OK;
}

static ct_status make_slices(ct_params* params, const ct_scene* scene, const ct_model* model,
                             ct_error* error) {
    if (most_numbers(params, scene, model) > INT_MAX)
        return ct_fail(error, CT_BAD_SCENE,
                       "the parameters have more than %d numbers: use \"hold\", or fewer of them", INT_MAX);
    params->slices =
        ct_arena_alloc(&params->arena, CT_WAVE_PARTS * (size_t)scene->nparameter, sizeof *params->slices);
    params->curves = ct_arena_alloc(&params->arena, (size_t)scene->nparameter, sizeof *params->curves);
    int* tags = ct_arena_alloc(&params->arena, (size_t)model->nelement, sizeof *tags);
    ct_status status = CT_OK;
    for (int i = 0; i < scene->nparameter && !params->arena.failed && !status; i++) {
        const ct_scene_parameter* def = &scene->parameter[i];
        if (is_curve(def)) status = add_curve(params, scene, model, def, error);
        else add_slice(params, scene, model, def, NULL, tags);
    }
    if (status) return status;
    if (ct_control_has_values(model) && !params->arena.failed) make_field(params, model, CT_QUANTITY_CONTROL);
    return params->arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Starting values, scales, bounds

// Means of the scene's numbers, exact where they are equal; base becomes zero where y replaces it.
static void take_starts(ct_params* params, const slice* s) {
    field* f = &params->fields[s->def.quantity];
    bool given = !isnan(s->def.start);
    for (size_t i = 0; i < f->n; i++) {
        int k = f->map[i];
        if (k < s->first || k >= s->first + s->count || is_offset(&s->def)) continue;
        params->start[k] += (f->base[i] - params->start[k]) / ++params->members[k];
        f->base[i] = 0;
    }
    for (int k = s->first; given && k < s->first + s->count; k++) params->start[k] = s->def.start;
}

// A spline's control points: the scene's values where they weigh most.
static void take_spline_starts(ct_params* params, const ct_scene* scene, const slice* s) {
    if (!is_curve(&s->def) || s->def.shape != CT_CURVE_SPLINE || !isnan(s->def.start)) return;
    const double* base =
        params->fields[CT_QUANTITY_CONTROL].base + ct_scene_control_first(scene, s->def.control);
    for (int j = 0; j < s->def.knots; j++)
        for (int i = 0; i < s->width; i++) {
            size_t step = (size_t)ct_control_spline_step(s->def.knots, j, params->nstep);
            params->start[s->first + j * s->width + i] =
                base[step * (size_t)params->control_size + (size_t)i];
        }
}

// The numbers of driven nodes in y: the scene's, so that y is a plain list of nodes.
static void take_driven_starts(ct_params* params, const ct_scene* scene, const slice* s) {
    if (owner_of(&s->def) != CT_OF_NODES || is_offset(&s->def)) return;
    const field* f = &params->fields[s->def.quantity];
    int first_node = s->def.body < 0 ? 0 : scene->body[s->def.body].first_node;
    for (int k = 0; k < s->count; k++) {
        size_t i = 3 * (size_t)first_node + (size_t)k;
        if (f->map[i] < 0) params->start[s->first + k] = f->base[i];
    }
}

static double box_size(const ct_model* model) {
    double size = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < model->nvert; v++) {
            if (!(model->mass[v] > 0)) continue;
            low = fmin(low, model->geometry.rest[3 * (size_t)v + a]);
            high = fmax(high, model->geometry.rest[3 * (size_t)v + a]);
        }
        size = fmax(size, high - low);
    }
    return size;
}

// A scale that puts y near 0 (log) or makes changes of y of size 1 natural (affine).
static double choose_scale(const slice* s, const double* start, const ct_model* model) {
    double most = 0, logs = 0;
    for (int k = 0; k < s->count; k++) {
        most = fmax(most, fabs(start[k] - s->def.offset));
        logs += log(start[k] / start[0]);
    }
    if (s->def.transform == CT_TRANSFORM_LOG) return start[0] * exp(logs / s->count);
    if (s->def.quantity == CT_QUANTITY_POSITION) most = box_size(model);
    return most > 0 ? most : 1;
}

static ct_status check_starts(const slice* s, const double* start, ct_error* error) {
    const ct_scene_parameter* p = &s->def;
    for (int k = 0; k < s->count; k++) {
        if (p->transform == CT_TRANSFORM_LOG && !(start[k] > 0))
            return ct_fail(error, CT_BAD_SCENE,
                           "parameter \"%s\" starts from %g, but the transform \"log\" needs positive "
                           "values: give a \"start\" or use \"affine\"",
                           s->name, start[k]);
        if (p->transform == CT_TRANSFORM_SIGMOID && !(start[k] > p->lower && start[k] < p->upper))
            return ct_fail(error, CT_BAD_SCENE,
                           "parameter \"%s\" starts from %g, which is not inside of %g and %g: move "
                           "the bounds, or give a \"start\"",
                           s->name, start[k], p->lower, p->upper);
        if (!(start[k] >= p->lower && start[k] <= p->upper))
            return ct_fail(error, CT_BAD_SCENE,
                           "parameter \"%s\" starts from %g, outside of its bounds %g and %g: move the "
                           "bounds, or give a \"start\"",
                           s->name, start[k], p->lower, p->upper);
    }
    return CT_OK;
}

static ct_status finish_slice(ct_params* params, const ct_scene* scene, const ct_model* model, slice* s,
                              ct_error* error) {
    double* start = params->start + s->first;
    take_starts(params, s);
    take_driven_starts(params, scene, s);
    take_spline_starts(params, scene, s);
    if (s->def.nstart && s->def.nstart != s->count)
        return ct_fail(
            error, CT_BAD_SCENE,
            "parameter \"%s\" has %d starting values, but %d numbers: give one for each, or one for all",
            s->name, s->def.nstart, s->count);
    for (int k = 0; k < s->def.nstart; k++) start[k] = s->def.starts[k];
    ct_status status = check_starts(s, start, error);
    if (status || !s->count) return status;
    if (s->def.transform == CT_TRANSFORM_NONE) {
        s->def.scale = 1;
        s->def.offset = 0;
    }
    if (s->def.scale == 0) s->def.scale = choose_scale(s, start, model);
    bool linear = s->def.transform == CT_TRANSFORM_NONE || s->def.transform == CT_TRANSFORM_AFFINE;
    double shrink = ct_quantity_row(s->def.quantity)->shrink;
    if (linear && s->def.lower == -INFINITY && shrink > 0) {
        double least = INFINITY;
        for (int k = 0; k < s->count; k++) least = fmin(least, start[k]);
        s->def.lower = least / shrink;
    }
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Life

static void find_turns(ct_params* params, const ct_tree* tree) {
    params->turn = ct_arena_alloc(&params->arena, (size_t)tree->nlink, sizeof *params->turn);
    for (int k = 0; params->turn && k < tree->nlink; k++)
        if (tree->type[k]->spatial) params->turn[params->nturn++] = tree->dof[k + 1] - 3;
}

static ct_status build(ct_params* params, const ct_scene* scene, const ct_model* model, ct_error* error) {
    ct_status status = make_slices(params, scene, model, error);
    if (status) return status;
    params->start = ct_arena_alloc(&params->arena, (size_t)params->size, sizeof *params->start);
    params->physical = ct_arena_alloc(&params->arena, (size_t)params->size, sizeof *params->physical);
    params->members = ct_arena_alloc(&params->arena, (size_t)params->size, sizeof *params->members);
    find_turns(params, &model->tree);
    if (params->arena.failed) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int i = 0; i < params->nslice && !status; i++)
        status = finish_slice(params, scene, model, &params->slices[i], error);
    return status;
}

ct_status ct_params_create(ct_params** out, const ct_scene* scene, const ct_model* model, int nstep,
                           ct_error* error) {
    *out = NULL;
    ct_error_clear(error);
    if (nstep < 1 || model->nvert != ct_scene_model_node_count(scene))
        return ct_fail(error, CT_BAD_ARGUMENT,
                       "the rollout has %d steps, or the model belongs to another scene", nstep);
    ct_params* params = ct_alloc(1, sizeof *params);
    if (!params) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    params->nstep = nstep;
    params->time_step = model->settings.time_step;
    params->control_size = ct_scene_control_first(scene, scene->ncontrol);
    ct_status status = build(params, scene, model, error);
    if (status) ct_params_free(params);
    else *out = params;
    return status;
}

void ct_params_free(ct_params* params) {
    if (!params) return;
    ct_arena_free(&params->arena);
    ct_free(params);
}

int ct_params_size(const ct_params* params) { return params->size; }
int ct_params_slice_count(const ct_params* params) { return params->nslice; }

void ct_params_slice(const ct_params* params, int index, ct_slice* out) {
    *out = (ct_slice){0};
    if (index < 0 || index >= params->nslice) return;
    const slice* s = &params->slices[index];
    *out = (ct_slice){.quantity = s->def.quantity, .first = s->first, .count = s->count};
    memcpy(out->name, s->name, sizeof out->name);
}

// -------------------------------------------------------------------------------------------------
// The map and its transpose

void ct_params_start(const ct_params* params, double* y) {
    for (int i = 0; i < params->nslice; i++) {
        const slice* s = &params->slices[i];
        for (int k = s->first; k < s->first + s->count; k++) y[k] = to_y(&s->def, params->start[k]);
    }
}

// The transforms rise, so that bounds of the value become bounds of y; a sigmoid cannot leave its own.
void ct_params_bounds(const ct_params* params, double* lower, double* upper) {
    for (int i = 0; i < params->nslice; i++) {
        const slice* s = &params->slices[i];
        bool free = s->def.transform == CT_TRANSFORM_SIGMOID;
        for (int k = s->first; k < s->first + s->count; k++) {
            lower[k] = free ? -INFINITY : to_y(&s->def, s->def.lower);
            upper[k] = free ? INFINITY : to_y(&s->def, s->def.upper);
        }
    }
}

void ct_params_slopes(const ct_params* params, const double* y, double* slopes) {
    for (int i = 0; i < params->nslice; i++) {
        const slice* s = &params->slices[i];
        for (int k = s->first; k < s->first + s->count; k++) slopes[k] = slope(&s->def, y[k]);
    }
}

void ct_params_physical(const ct_params* params, const double* y, double* values) {
    for (int i = 0; i < params->nslice; i++) {
        const slice* s = &params->slices[i];
        for (int k = s->first; k < s->first + s->count; k++) values[k] = to_value(&s->def, y[k]);
    }
}

const ct_values* ct_params_apply(ct_params* params, const double* y) {
    ct_params_physical(params, y, params->physical);
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        const field* f = &params->fields[q];
        for (size_t i = 0; i < f->n; i++)
            f->value[i] = f->base[i] + (f->map[i] < 0 ? 0 : params->physical[f->map[i]]);
    }
    for (int i = 0; i < params->ncurve; i++)
        ct_control_curve_apply(&params->curves[i], params->physical, params->time_step, params->nstep,
                               params->control_size, params->fields[CT_QUANTITY_CONTROL].value);
    return &params->values;
}

ct_values* ct_params_gradient(ct_params* params) { return &params->gradient; }

static double value_of(const ct_params* params, const double* y, int k) {
    int i = 0;
    while (k >= params->slices[i].first + params->slices[i].count) i++;
    return to_value(&params->slices[i].def, y[k]);
}

// Q = exp(a) exp(pose): y_bar has the tangent g at Q, which becomes J(a)^T g.
static void turn_back(const ct_params* params, const double* y, double* y_bar) {
    const field* f = &params->fields[CT_QUANTITY_JOINT_POSITION];
    for (int i = 0; f->n && i < params->nturn; i++) {
        int k = f->map[params->turn[i]];
        if (k < 0) continue;
        ct_vec3 a = {value_of(params, y, k), value_of(params, y, k + 1), value_of(params, y, k + 2)};
        ct_mat3 J = ct_rotation_jacobian(a);
        ct_vec3_store(y_bar + k, ct_mat3_apply(ct_mat3_transpose(J), ct_vec3_load(y_bar + k)));
    }
}

void ct_params_vjp(const ct_params* params, const double* y, const ct_values* gradient, double* y_bar) {
    const double* controls = gradient->of[CT_QUANTITY_CONTROL];
    memset(y_bar, 0, (size_t)params->size * sizeof *y_bar);
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
        const field* f = &params->fields[q];
        for (size_t i = 0; gradient->of[q] && i < f->n; i++)
            if (f->map[i] >= 0) y_bar[f->map[i]] += gradient->of[q][i];
    }
    turn_back(params, y, y_bar);
    if (params->ncurve) ct_params_physical(params, y, params->physical);
    for (int i = 0; controls && i < params->ncurve; i++)
        ct_control_curve_vjp(&params->curves[i], params->physical, params->time_step, params->nstep,
                             params->control_size, controls, y_bar);
    for (int i = 0; i < params->nslice; i++) {
        const slice* s = &params->slices[i];
        for (int k = s->first; k < s->first + s->count; k++) y_bar[k] *= slope(&s->def, y[k]);
    }
}
