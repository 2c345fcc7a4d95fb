// What may be varied in a scene: quantities of its parts and values of its controls.
//
// Everything is resolved and checked when a parameter is added: names to indices, automatic transforms and
// bounds to those of the quantity.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "quantity/fields.h"
#include "scene/scene.h"
#include "skeleton/joint.h"

ct_parameter_def ct_parameter_def_default(void) {
    return (ct_parameter_def){
        .quantity = CT_QUANTITY_YOUNG,
        .per = CT_PER_BODY,
        .body = -1,
        .hold = 1,
        .transform = CT_TRANSFORM_AUTO,
        .lower = -INFINITY,
        .upper = INFINITY,
        .start = NAN,
        .knots = 8,
        .amplitude = {.start = NAN, .lower = -INFINITY, .upper = INFINITY},
        .frequency = {.start = NAN, .lower = -INFINITY, .upper = INFINITY},
        .phase = {.lower = -INFINITY, .upper = INFINITY},
        .center = {.lower = -INFINITY, .upper = INFINITY},
    };
}

static ct_quantity_of owner_of(const ct_scene_parameter* p) { return ct_quantity_row(p->quantity)->of; }

bool ct_scene_link_takes(const ct_scene_link* link, ct_quantity quantity, ct_parameter_per per) {
    const ct_joint_type* type = ct_joint_type_of(link->joint.kind);
    if (quantity == CT_QUANTITY_LINK_MASS) return link->mass > 0;
    // one number for all has no meaning for rotations
    if (ct_quantity_row(quantity)->of == CT_OF_RATES)
        return type->ndof && !(per == CT_PER_SCENE && type->spatial);
    return ct_joint_has(&link->joint, quantity);
}

// A link by name that the parameter means something for; NULL: one at least must be such.
static ct_status find_link(const ct_scene* scene, const char* name, ct_quantity quantity,
                           ct_parameter_per per, int* link, ct_error* error) {
    const char* word = ct_quantity_name(quantity);
    *link = name ? ct_scene_find_link(scene, name) : -1;
    if (name && *link < 0)
        return ct_scene_fail(error, "link", "is \"%.60s\": there is no link of that name", name);
    if (name && !ct_scene_link_takes(&scene->link[*link], quantity, per))
        return ct_scene_fail(error, "link", "is \"%.60s\", which has no \"%s\"", name, word);
    for (int k = 0; k < scene->nlink; k++)
        if (ct_scene_link_takes(&scene->link[k], quantity, per)) return CT_OK;
    return ct_scene_fail(error, "type", "is \"%s\", but the scene has no link with such a quantity", word);
}

// An actuator of the kind by name; NULL: there must be one at least.
static ct_status find_actuator(const ct_scene* scene, const char* name, ct_quantity quantity,
                               ct_actuator_kind wanted, int* actuator, ct_error* error) {
    const char* word = ct_actuator_kind_name(wanted);
    *actuator = name ? ct_scene_find_actuator(scene, name) : -1;
    if (name && (*actuator < 0 || !ct_scene_is_stiff(&scene->actuator[*actuator], wanted)))
        return ct_scene_fail(error, "actuator", "is \"%.60s\": there is no %s with a stiffness of that name",
                             name, word);
    for (int k = 0; k < scene->nactuator; k++)
        if (ct_scene_is_stiff(&scene->actuator[k], wanted)) return CT_OK;
    return ct_scene_fail(error, "type", "is \"%s\", but the scene has no %s with a stiffness",
                         ct_quantity_name(quantity), word);
}

// Controls keep the numbers of actuators where they mean something.
static void bound_activation(const ct_scene* scene, ct_scene_parameter* p) {
    const ct_scene_control* control = &scene->control[p->control];
    if (!scene->nactuator || control->kind != scene->actuator[control->actuator].control) return;
    const ct_scene_actuator* actuator = &scene->actuator[control->actuator];
    if (p->lower == -INFINITY) p->lower = actuator->lower - actuator->start;
    if (p->upper == INFINITY) p->upper = actuator->upper - actuator->start;
}

// Puts what the quantity implies in place of what was left open. A positive quantity's lower bound waits for
// the starting value.
static void complete_parameter(ct_scene_parameter* p) {
    const ct_quantity_info* info = ct_quantity_row(p->quantity);
    if (info->of == CT_OF_FRICTION && p->per == CT_PER_BODY) p->per = CT_PER_SCENE;
    if (p->transform == CT_TRANSFORM_AUTO) p->transform = info->transform;
    if (p->lower == -INFINITY && !(info->shrink > 0)) p->lower = info->lower;
    if (p->upper == INFINITY) p->upper = info->most;
}

static ct_status check_bounds(const ct_scene_parameter* p, ct_error* error) {
    const ct_quantity_info* info = ct_quantity_row(p->quantity);
    if (!(p->lower < p->upper))
        return ct_scene_fail(error, "lower", "is %g: it must be below upper, which is %g", p->lower,
                             p->upper);
    if (isfinite(info->upper) && !(p->lower >= info->lower && p->upper < info->upper))
        return ct_scene_fail(error, "upper", "and lower are %g and %g: %s must be at least %g and below %g",
                             p->upper, p->lower, info->name, info->lower, info->upper);
    if (isfinite(p->lower) && p->lower < info->lower)
        return ct_scene_fail(error, "lower", "is %g: this quantity must not be negative", p->lower);
    if (p->transform == CT_TRANSFORM_SIGMOID && !(isfinite(p->lower) && isfinite(p->upper)))
        return ct_scene_fail(
            error, "transform",
            "is \"sigmoid\", which maps to the range between \"lower\" and \"upper\": give both");
    if (p->transform == CT_TRANSFORM_LOG && !(p->upper > 0))
        return ct_scene_fail(error, "upper", "is %g: the transform \"log\" makes positive values only",
                             p->upper);
    if (!isnan(p->start) && !(isfinite(p->start) && p->start >= p->lower && p->start <= p->upper))
        return ct_scene_fail(error, "start", "is %g: it must lie between lower and upper, %g and %g",
                             p->start, p->lower, p->upper);
    return CT_OK;
}

// There is a sheet whose quantity it can be.
static ct_status check_sheets(const ct_scene* scene, const ct_scene_parameter* p, ct_error* error) {
    for (int b = 0; b < scene->nbody; b++)
        if ((p->body < 0 || b == p->body) && ct_scene_sheet_size(&scene->body[b])) return CT_OK;
    return ct_scene_fail(error, "type", "is \"%s\", but %s: only bodies of triangles have it",
                         ct_quantity_name(p->quantity),
                         p->body < 0 ? "the scene has no thin sheet" : "this body is not a thin sheet");
}

// A shape of a control that makes sense.
static ct_status check_shape(const ct_scene_parameter* p, ct_error* error) {
    static const char* const names[] = {"amplitude", "frequency", "phase", "center"};
    if ((unsigned)p->shape > CT_CURVE_SINUSOID)
        return ct_scene_fail(error, "shape", "is not one of ct_curve");
    if (p->shape != CT_CURVE_STEPS && p->quantity != CT_QUANTITY_CONTROL)
        return ct_scene_fail(error, "shape", "is for parameters of type \"control\"");
    if (p->shape == CT_CURVE_SPLINE && p->knots < 2)
        return ct_scene_fail(error, "knots", "is %d: it must be 2 or more", p->knots);
    int fixed = 0;
    for (int k = 0; p->shape == CT_CURVE_SINUSOID && k < 4; k++) {
        const ct_wave_number* w = &p->wave[k];
        if (!isfinite(w->start)) return ct_scene_fail(error, names[k], "is missing: give where it starts");
        if (!(w->lower < w->upper) || !(w->start >= w->lower && w->start <= w->upper))
            return ct_scene_fail(error, names[k],
                                 "starts from %g: it must lie between its lower and upper, %g and %g",
                                 w->start, w->lower, w->upper);
        fixed += w->fixed;
    }
    return fixed == 4 ? ct_scene_fail(error, "shape",
                                      "is a sinusoid with everything fixed: leave one of its numbers free")
                      : CT_OK;
}

static ct_status check_parameter(const ct_scene* scene, const ct_scene_parameter* p, ct_error* error) {
    if (p->body < -1 || p->body >= scene->nbody)
        return ct_scene_fail(error, "body", "is %d: it must be from 0 to %d, or -1 for all", p->body,
                             scene->nbody - 1);
    if (owner_of(p) == CT_OF_SHEETS) {
        ct_status status = check_sheets(scene, p, error);
        if (status) return status;
    }
    if (owner_of(p) == CT_OF_NODES && p->per == CT_PER_TAG)
        return ct_scene_fail(error, "per",
                             "is \"tag\", but tags belong to tets and this is a quantity of nodes: use "
                             "\"element\", \"body\" or \"scene\"");
    if (owner_of(p) == CT_OF_FRICTION && (p->per == CT_PER_TAG || p->body >= 0))
        return ct_scene_fail(error, p->body < 0 ? "per" : "body",
                             "has no meaning for friction: use \"per\": \"scene\" for the scene's "
                             "coefficient, or \"element\" for that and those of the pairs");
    ct_status shape = check_shape(p, error);
    if (shape) return shape;
    if (p->hold < 1) return ct_scene_fail(error, "hold", "is %d: it must be 1 or more steps", p->hold);
    if (!(p->scale >= 0 && isfinite(p->scale)))
        return ct_scene_fail(error, "scale", "is %g: it must be above 0, or 0 to have it chosen", p->scale);
    if (!isfinite(p->offset)) return ct_scene_fail(error, "offset", "must be a finite number");
    return check_bounds(p, error);
}

// A name from the quantity and the body or control.
static void name_parameter(const ct_scene* scene, const ct_scene_parameter* p,
                           char name[CT_SCENE_NAME_SIZE]) {
    const char* word = ct_quantity_name(p->quantity);
    if (p->quantity == CT_QUANTITY_CONTROL)
        snprintf(name, CT_SCENE_NAME_SIZE, "%s", scene->control[p->control].name);
    else if (p->link >= 0) snprintf(name, CT_SCENE_NAME_SIZE, "%s.%s", word, scene->link[p->link].name);
    else if (p->actuator >= 0)
        snprintf(name, CT_SCENE_NAME_SIZE, "%s.%s", word, scene->actuator[p->actuator].name);
    else if (p->body >= 0) snprintf(name, CT_SCENE_NAME_SIZE, "%s.%s", word, scene->body[p->body].name);
    else snprintf(name, CT_SCENE_NAME_SIZE, "%s", word);
}

// Two choices of the same list, -1 for all, that have something in common.
static bool meet(int a, int b) { return a < 0 || b < 0 || a == b; }

// Two parameters that set the same number; what a quantity does not belong to is -1.
static bool overlaps(const ct_scene_parameter* a, const ct_scene_parameter* b) {
    bool of_bodies = owner_of(a) == CT_OF_NODES || ct_fields_of_elements(a->quantity);
    return a->quantity == b->quantity && meet(a->control, b->control) && meet(a->actuator, b->actuator) &&
           meet(a->link, b->link) && (!of_bodies || meet(a->body, b->body));
}

static ct_status check_distinct(const ct_scene* scene, const ct_scene_parameter* p, const char* name,
                                ct_error* error) {
    for (int i = 0; i < scene->nparameter; i++) {
        const ct_scene_parameter* other = &scene->parameter[i];
        if (overlaps(p, other))
            return ct_scene_fail(
                error, "type",
                "is \"%s\", and the parameter \"%s\" already sets the same numbers: keep one, or "
                "restrict each to a \"body\" or a \"link\"",
                ct_quantity_name(p->quantity), other->name);
        if (!strcmp(name, other->name))
            return ct_scene_fail(error, "name", "is \"%s\", the name of another parameter: give each its own",
                                 name);
    }
    return CT_OK;
}

static ct_status resolve_parameter(const ct_scene* scene, const ct_parameter_def* def, ct_scene_parameter* p,
                                   ct_error* error) {
    const ct_quantity_info* info = ct_quantity_row(def->quantity);
    if (!info) return ct_scene_fail(error, "type", "is not one of ct_quantity");
    if (info->of == CT_OF_POLICY && !scene->policy.enabled)
        return ct_scene_fail(error, "type", "is \"%s\", but the scene has none", info->name);
    if (info->of == CT_OF_WATER && !scene->water.enabled)
        return ct_scene_fail(error, "type", "is \"%s\", but the scene has no water", info->name);
    if ((unsigned)def->per > CT_PER_SCENE)
        return ct_scene_fail(error, "per", "is not one of ct_parameter_per");
    if ((unsigned)def->transform > CT_TRANSFORM_SIGMOID)
        return ct_scene_fail(error, "transform", "is not one of ct_transform");
    *p = (ct_scene_parameter){.quantity = def->quantity,
                              .per = def->per,
                              .body = def->body,
                              .control = -1,
                              .link = -1,
                              .actuator = -1,
                              .hold = def->hold,
                              .transform = def->transform,
                              .lower = def->lower,
                              .upper = def->upper,
                              .scale = def->scale,
                              .offset = def->offset,
                              .start = def->start,
                              .nstart = def->starts ? def->nstart : 0,
                              .shape = def->shape,
                              .knots = def->knots,
                              .wave = {def->amplitude, def->frequency, def->phase, def->center}};
    complete_parameter(p);
    ct_status status = CT_OK;
    ct_actuator_kind wanted;
    if (info->of == CT_OF_CONTROLS) status = ct_scene_name_control(scene, def->control, &p->control, error);
    if (info->of == CT_OF_CONTROLS && !status) bound_activation(scene, p);
    if (ct_fields_of_actuators(p->quantity, &wanted))
        status = find_actuator(scene, def->actuator, p->quantity, wanted, &p->actuator, error);
    if (ct_fields_of_links(p->quantity))
        status = find_link(scene, def->link, p->quantity, p->per, &p->link, error);
    return status ? status : check_parameter(scene, p, error);
}

ct_status ct_scene_add_parameter(ct_scene* scene, const ct_parameter_def* def, ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_scene_parameter parameter;
    ct_status status = resolve_parameter(scene, def, &parameter, error);
    if (!status && def->name) status = ct_scene_check_name(def->name, error);
    if (status) return status;
    char name[CT_SCENE_NAME_SIZE];
    if (def->name) snprintf(name, sizeof name, "%s", def->name);
    else name_parameter(scene, &parameter, name);
    status = check_distinct(scene, &parameter, name, error);
    if (status) return status;
    if (parameter.nstart)
        parameter.starts =
            ct_arena_copy(&scene->arena, def->starts, (size_t)parameter.nstart, sizeof *parameter.starts);
    if (parameter.nstart && !parameter.starts) return ct_scene_out_of_memory(error);
    parameter.name = ct_arena_copy(&scene->arena, name, strlen(name) + 1, 1);
    ct_scene_parameter* grown = ct_resize(scene->parameter, (size_t)scene->nparameter + 1, sizeof parameter);
    if (grown) scene->parameter = grown;
    if (!grown || !parameter.name) return ct_scene_out_of_memory(error);
    scene->parameter[scene->nparameter++] = parameter;
    return CT_OK;
}
