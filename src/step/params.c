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
#include "step/control_shapes.h"
#include "step/params_scene.h"

enum { KINDS = CT_PARAMETER_POLICY + 1 };

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
    field fields[KINDS];
    double* start;     // size, physical
    double* physical;  // size, of the last apply
    int* members;      // size, numbers that a component sets; while creating
    int nturn, *turn;  // first rates of rotations of balls and free joints
    ct_control_curve* curves;
    int ncurve;
    double time_step;
    ct_param_values values;
    ct_gradient gradient;
};

static bool is_curve(const ct_scene_parameter* def) {
    return def->kind == CT_PARAMETER_CONTROL && def->shape != CT_CURVE_STEPS;
}
static bool is_offset(const ct_scene_parameter* def) {
    return ct_parameter_is_nodal(def->kind) && def->per != CT_PER_ELEMENT;
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

static bool make_field(ct_params* params, const ct_scene* scene, const ct_model* model,
                       ct_parameter_kind kind) {
    field* f = &params->fields[kind];
    if (f->n) return true;
    size_t n = ct_params_scene_count(model, params->nstep, kind);
    f->base = ct_arena_alloc(&params->arena, n, sizeof *f->base);
    f->value = ct_arena_alloc(&params->arena, n, sizeof *f->value);
    f->bar = ct_arena_alloc(&params->arena, n, sizeof *f->bar);
    f->map = ct_arena_alloc(&params->arena, n, sizeof *f->map);
    if (params->arena.failed) return false;
    f->n = n;
    for (size_t i = 0; i < n; i++) f->map[i] = -1;
    ct_params_scene_values(scene, model, kind, n, f->base);
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

// Elements or nodes of the bodies; group g of `width` numbers begins at first + g width.
static int map_bodies(const ct_scene* scene, const ct_model* model, const slice* s, int* map, int* tags) {
    int groups = 0;
    bool nodal = ct_parameter_is_nodal(s->def.kind);
    for (int b = 0; b < scene->nbody; b++) {
        const ct_scene_body* body = &scene->body[b];
        if (s->def.body >= 0 && b != s->def.body) continue;
        if (ct_parameter_is_of_sheets(s->def.kind) && !ct_scene_sheet_size(body)) continue;
        if (s->def.per == CT_PER_TAG) {
            groups += map_tags(body, s->first + groups, map + ct_params_first_element(body, model), tags);
            continue;
        }
        int count = nodal ? body->mesh->nvert : ct_scene_body_elements(body);
        int begin = nodal ? body->first_node : ct_params_first_element(body, model);
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
            !ct_scene_link_takes(&scene->link[k], s->def.kind, s->def.per))
            continue;
        int first = ct_parameter_is_of_rates(s->def.kind) ? model->tree.dof[k] : k,
            end = ct_parameter_is_of_rates(s->def.kind) ? model->tree.dof[k + 1] : k + 1;
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

// Muscles or chambers, one number each, or one for all.
static int map_actuators(const ct_model* model, const slice* s, int* map) {
    ct_actuator_kind kind =
        s->def.kind == CT_PARAMETER_MUSCLE_STIFFNESS ? CT_ACTUATOR_MUSCLE : CT_ACTUATOR_CHAMBER;
    int groups = 0;
    for (int k = 0; k < model->actuators.count; k++)
        if (model->actuators.list[k].kind == kind && (s->def.actuator < 0 || k == s->def.actuator))
            map[k] = s->first + (s->def.per == CT_PER_SCENE ? 0 : groups++);
    return s->def.per == CT_PER_SCENE ? 1 : groups;
}

static int map_slice(const ct_params* params, const ct_scene* scene, const ct_model* model, const slice* s,
                     int* tags) {
    int* map = params->fields[s->def.kind].map;
    if (is_curve(&s->def)) return s->def.shape == CT_CURVE_SPLINE ? s->def.knots : 1;
    if (s->def.kind == CT_PARAMETER_CONTROL)
        return map_control(params, s, ct_scene_control_first(scene, s->def.control), map);
    if (ct_parameter_is_of_links(s->def.kind)) return map_links(scene, model, s, map);
    if (s->def.kind == CT_PARAMETER_FRICTION) return map_friction(model, s, map);
    if (ct_parameter_is_of_actuators(s->def.kind)) return map_actuators(model, s, map);
    bool of_scene = s->def.kind == CT_PARAMETER_GRAVITY || s->def.kind == CT_PARAMETER_POLICY ||
                    ct_parameter_is_of_water(s->def.kind);
    if (!of_scene) return map_bodies(scene, model, s, map, tags);
    for (int k = 0; k < s->width; k++) map[k] = s->first + k;
    return 1;
}

static int slice_width(const ct_scene* scene, const ct_model* model, const ct_scene_parameter* def) {
    if (ct_parameter_is_of_water(def->kind) || def->kind == CT_PARAMETER_POLICY)
        return (int)ct_params_scene_count(model, 1, def->kind);
    if (def->kind == CT_PARAMETER_CONTROL) return scene->control[def->control].size;
    return def->kind == CT_PARAMETER_GRAVITY || ct_parameter_is_nodal(def->kind) ? 3 : 1;
}

// Most numbers that a slice can have, to be sure that indices fit.
static double most_numbers(const ct_params* params, const ct_scene* scene, const ct_model* model) {
    double total = 0;
    for (int i = 0; i < scene->nparameter; i++)
        total += (double)ct_params_scene_count(model, params->nstep, scene->parameter[i].kind) +
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
    if (!make_field(params, scene, model, def->kind)) return;
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
    if (ct_control_has_values(model) && !params->arena.failed)
        make_field(params, scene, model, CT_PARAMETER_CONTROL);
    return params->arena.failed ? ct_fail(error, CT_OUT_OF_MEMORY, "out of memory") : CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Starting values, scales, bounds

// Means of the scene's numbers, exact where they are equal; base becomes zero where y replaces it.
static void take_starts(ct_params* params, const slice* s) {
    field* f = &params->fields[s->def.kind];
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
        params->fields[CT_PARAMETER_CONTROL].base + ct_scene_control_first(scene, s->def.control);
    for (int j = 0; j < s->def.knots; j++)
        for (int i = 0; i < s->width; i++) {
            size_t step = (size_t)ct_control_spline_step(s->def.knots, j, params->nstep);
            params->start[s->first + j * s->width + i] =
                base[step * (size_t)params->control_size + (size_t)i];
        }
}

// The numbers of driven nodes in y: the scene's, so that y is a plain list of nodes.
static void take_driven_starts(ct_params* params, const ct_scene* scene, const slice* s) {
    if (!ct_parameter_is_nodal(s->def.kind) || is_offset(&s->def)) return;
    const field* f = &params->fields[s->def.kind];
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
            low = fmin(low, model->rest[3 * (size_t)v + a]);
            high = fmax(high, model->rest[3 * (size_t)v + a]);
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
    if (s->def.kind == CT_PARAMETER_POSITION) most = box_size(model);
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
    ct_status status = check_starts(s, start, error);
    if (status || !s->count) return status;
    if (s->def.transform == CT_TRANSFORM_NONE) {
        s->def.scale = 1;
        s->def.offset = 0;
    }
    if (s->def.scale == 0) s->def.scale = choose_scale(s, start, model);
    bool linear = s->def.transform == CT_TRANSFORM_NONE || s->def.transform == CT_TRANSFORM_AFFINE;
    if (linear && s->def.lower == -INFINITY &&
        (s->def.kind == CT_PARAMETER_YOUNG || s->def.kind == CT_PARAMETER_DENSITY ||
         s->def.kind == CT_PARAMETER_LINK_MASS || s->def.kind == CT_PARAMETER_WATER_DENSITY ||
         s->def.kind == CT_PARAMETER_THICKNESS || ct_parameter_is_of_actuators(s->def.kind))) {
        double least = INFINITY;
        for (int k = 0; k < s->count; k++) least = fmin(least, start[k]);
        s->def.lower = least / 1000;
    }
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Life

// The arrays of the values and of the gradient by kind.
static void publish(ct_params* params) {
    ct_param_values* v = &params->values;
    ct_gradient* g = &params->gradient;
    double** value[KINDS] = {&v->young,
                             &v->poisson,
                             &v->density,
                             &v->damping_mass,
                             &v->damping_stiffness,
                             &v->gravity,
                             &v->position,
                             &v->velocity,
                             &v->controls,
                             &v->joint_stiffness,
                             &v->joint_damping,
                             &v->joint_rest,
                             &v->servo_stiffness,
                             &v->servo_damping,
                             &v->limit_stiffness,
                             &v->link_mass,
                             &v->joint_position,
                             &v->joint_velocity,
                             &v->friction,
                             &v->bending,
                             &v->thickness,
                             [CT_PARAMETER_WATER_DENSITY] = &v->water_density,
                             &v->water_drag,
                             &v->water_thrust,
                             &v->water_current,
                             [CT_PARAMETER_MUSCLE_STIFFNESS] = &v->muscle_stiffness,
                             &v->chamber_stiffness,
                             &v->policy};
    double** bar[KINDS] = {&g->young,
                           &g->poisson,
                           &g->density,
                           &g->damping_mass,
                           &g->damping_stiffness,
                           &g->gravity,
                           &g->position,
                           &g->velocity,
                           &g->controls,
                           &g->joint_stiffness,
                           &g->joint_damping,
                           &g->joint_rest,
                           &g->servo_stiffness,
                           &g->servo_damping,
                           &g->limit_stiffness,
                           &g->link_mass,
                           &g->joint_position,
                           &g->joint_velocity,
                           &g->friction,
                           &g->bending,
                           &g->thickness,
                           [CT_PARAMETER_WATER_DENSITY] = &g->water_density,
                           &g->water_drag,
                           &g->water_thrust,
                           &g->water_current,
                           [CT_PARAMETER_MUSCLE_STIFFNESS] = &g->muscle_stiffness,
                           &g->chamber_stiffness,
                           &g->policy};
    for (int kind = 0; kind < KINDS; kind++) {
        if (!value[kind]) continue;
        *value[kind] = params->fields[kind].value;
        *bar[kind] = params->fields[kind].bar;
    }
}

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
    if (!status) publish(params);
    return status;
}

ct_status ct_params_create(ct_params** out, const ct_scene* scene, const ct_model* model, int nstep,
                           ct_error* error) {
    *out = NULL;
    ct_error_clear(error);
    if (nstep < 1 || model->nvert != ct_scene_model_node_count(scene))
        return ct_fail(error, CT_BAD_ARGUMENT, "a rollout of %d steps, or a model of another scene", nstep);
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
    *out = (ct_slice){.kind = s->def.kind, .first = s->first, .count = s->count};
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

void ct_params_physical(const ct_params* params, const double* y, double* values) {
    for (int i = 0; i < params->nslice; i++) {
        const slice* s = &params->slices[i];
        for (int k = s->first; k < s->first + s->count; k++) values[k] = to_value(&s->def, y[k]);
    }
}

const ct_param_values* ct_params_apply(ct_params* params, const double* y) {
    ct_params_physical(params, y, params->physical);
    for (int kind = 0; kind < KINDS; kind++) {
        const field* f = &params->fields[kind];
        for (size_t i = 0; i < f->n; i++)
            f->value[i] = f->base[i] + (f->map[i] < 0 ? 0 : params->physical[f->map[i]]);
    }
    for (int i = 0; i < params->ncurve; i++)
        ct_control_curve_apply(&params->curves[i], params->physical, params->time_step, params->nstep,
                               params->control_size, params->fields[CT_PARAMETER_CONTROL].value);
    return &params->values;
}

ct_gradient* ct_params_gradient(ct_params* params) { return &params->gradient; }

static double value_of(const ct_params* params, const double* y, int k) {
    int i = 0;
    while (k >= params->slices[i].first + params->slices[i].count) i++;
    return to_value(&params->slices[i].def, y[k]);
}

// Q = exp(a) exp(pose): y_bar has the tangent g at Q, which becomes J(a)^T g.
static void turn_back(const ct_params* params, const double* y, double* y_bar) {
    const field* f = &params->fields[CT_PARAMETER_JOINT_POSITION];
    for (int i = 0; f->n && i < params->nturn; i++) {
        int k = f->map[params->turn[i]];
        if (k < 0) continue;
        ct_vec3 a = {value_of(params, y, k), value_of(params, y, k + 1), value_of(params, y, k + 2)};
        ct_mat3 J = ct_rotation_jacobian(a);
        ct_vec3_store(y_bar + k, ct_mat3_apply(ct_mat3_transpose(J), ct_vec3_load(y_bar + k)));
    }
}

void ct_params_vjp(const ct_params* params, const double* y, const ct_gradient* g, double* y_bar) {
    const double* bar[KINDS] = {g->young,
                                g->poisson,
                                g->density,
                                g->damping_mass,
                                g->damping_stiffness,
                                g->gravity,
                                g->position,
                                g->velocity,
                                g->controls,
                                g->joint_stiffness,
                                g->joint_damping,
                                g->joint_rest,
                                g->servo_stiffness,
                                g->servo_damping,
                                g->limit_stiffness,
                                g->link_mass,
                                g->joint_position,
                                g->joint_velocity,
                                g->friction,
                                g->bending,
                                g->thickness,
                                [CT_PARAMETER_WATER_DENSITY] = g->water_density,
                                g->water_drag,
                                g->water_thrust,
                                g->water_current,
                                [CT_PARAMETER_MUSCLE_STIFFNESS] = g->muscle_stiffness,
                                g->chamber_stiffness,
                                g->policy};
    memset(y_bar, 0, (size_t)params->size * sizeof *y_bar);
    for (int kind = 0; kind < KINDS; kind++) {
        const field* f = &params->fields[kind];
        for (size_t i = 0; bar[kind] && i < f->n; i++)
            if (f->map[i] >= 0) y_bar[f->map[i]] += bar[kind][i];
    }
    turn_back(params, y, y_bar);
    if (params->ncurve) ct_params_physical(params, y, params->physical);
    for (int i = 0; g->controls && i < params->ncurve; i++)
        ct_control_curve_vjp(&params->curves[i], params->physical, params->time_step, params->nstep,
                             params->control_size, g->controls, y_bar);
    for (int i = 0; i < params->nslice; i++) {
        const slice* s = &params->slices[i];
        for (int k = s->first; k < s->first + s->count; k++) y_bar[k] *= slope(&s->def, y[k]);
    }
}
