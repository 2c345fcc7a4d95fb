// What a scene is to be optimised for: controls, parameters, objectives and the optimiser's settings.
//
// Everything is resolved and checked when it is added: names to indices, automatic transforms and bounds to
// those of the kind. Names, node sets and targets live in the scene's arena `goals`.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "scene/scene.h"
#include "scene/scene_keys.h"

enum { NAME_SIZE = 64 };  // of ct_slice and ct_control_info

ct_parameter_def ct_parameter_def_default(void) {
    return (ct_parameter_def){
        .kind = CT_PARAMETER_YOUNG,
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

ct_objective_def ct_objective_def_default(void) {
    return (ct_objective_def){.kind = CT_OBJECTIVE_POINT, .start = NAN, .stop = NAN, .weight = 1};
}

ct_optimize_def ct_optimize_def_default(void) {
    return (ct_optimize_def){.method = CT_METHOD_LBFGS,
                             .iterations = 100,
                             .target = -INFINITY,
                             .rate = 0.05,
                             .tolerance = 1e-8,
                             .spread = 0.3};
}

void ct_scene_free_goals(ct_scene* scene) {
    ct_arena_free(&scene->goals);
    ct_free(scene->obstacle);
    ct_free(scene->pair);
    ct_free(scene->actuator);
    ct_free(scene->control);
    ct_free(scene->link);
    ct_free(scene->parameter);
    ct_free(scene->objective);
}

static ct_status out_of_memory(ct_error* error) { return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory"); }

static ct_status check_name(const char* name, ct_error* error) {
    if (!name || !name[0])
        return ct_scene_fail(error, "name", "is missing: give one, it is how results are found");
    if (strlen(name) >= NAME_SIZE)
        return ct_scene_fail(error, "name", "is \"%.20s...\": it must be shorter than %d bytes", name,
                             (int)NAME_SIZE);
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Controls

int ct_scene_control_first(const ct_scene* scene, int control) {
    int first = 0;
    for (int i = 0; i < control; i++) first += scene->control[i].size;
    return first;
}

int ct_scene_find_control(const ct_scene* scene, const char* name) {
    for (int i = 0; i < scene->ncontrol; i++)
        if (!strcmp(scene->control[i].name, name)) return i;
    return -1;
}

// Adds a control; its nodes are copied.
static ct_status add_control(ct_scene* scene, const char* name, ct_scene_control control, ct_error* error) {
    ct_status status = check_name(name, error);
    if (status) return status;
    if (ct_scene_find_control(scene, name) >= 0)
        return ct_scene_fail(error, "name", "is \"%s\", the name of another control: give each its own",
                             name);
    control.name = ct_arena_copy(&scene->goals, name, strlen(name) + 1, 1);
    control.node = ct_arena_copy(&scene->goals, control.node, (size_t)control.nnode, sizeof *control.node);
    ct_scene_control* grown = ct_resize(scene->control, (size_t)scene->ncontrol + 1, sizeof control);
    if (grown) scene->control = grown;
    if (!grown || !control.name || !control.node) return out_of_memory(error);
    scene->control[scene->ncontrol++] = control;
    return CT_OK;
}

ct_status ct_scene_add_force_control(ct_scene* scene, const char* name, const int* nodes, int count,
                                     ct_error* error) {
    ct_error_clear(error);
    ct_scene_control control = {.kind = CT_CONTROL_FORCE, .size = 3, .drive = -1, .link = -1};
    ct_status status = ct_scene_sorted_nodes(scene, nodes, count, &control.node, &control.nnode, error);
    int* sorted = control.node;
    if (!status) status = add_control(scene, name, control, error);
    ct_free(sorted);
    return status;
}

// What moves a drive, by increments or not.
static ct_status add_drive_control(ct_scene* scene, const char* name, ct_control_kind kind, int drive,
                                   ct_error* error) {
    ct_error_clear(error);
    if (drive < 0 || drive >= scene->ndrive)
        return ct_scene_fail(error, "drive",
                             scene->ndrive ? "is %d: the scene has drives 0 to %d"
                                           : "is %d, but the scene has no drives (%d)",
                             drive, scene->ndrive ? scene->ndrive - 1 : 0);
    for (int i = 0; i < scene->ncontrol; i++)
        if (scene->control[i].drive == drive)
            return ct_scene_fail(error, "drive",
                                 "is %d, which the control \"%s\" already moves: a drive takes one control",
                                 drive, scene->control[i].name);
    return add_control(scene, name, (ct_scene_control){.kind = kind, .size = 6, .drive = drive, .link = -1},
                       error);
}

ct_status ct_scene_add_drive_control(ct_scene* scene, const char* name, int drive, ct_error* error) {
    return add_drive_control(scene, name, CT_CONTROL_DRIVE, drive, error);
}

ct_status ct_scene_add_joint_control(ct_scene* scene, const char* name, ct_control_kind kind, int link,
                                     ct_error* error) {
    ct_error_clear(error);
    if (kind != CT_CONTROL_TORQUE && kind != CT_CONTROL_TARGET)
        return ct_scene_fail(error, "kind", "must be a joint's torque or servo target");
    if (link < 0 || link >= scene->nlink)
        return ct_scene_fail(error, "link", "is %d: the scene has %d links", link, scene->nlink);
    const ct_joint_def* joint = &scene->link[link].joint;
    bool axial = joint->kind == CT_JOINT_REVOLUTE || joint->kind == CT_JOINT_PRISMATIC,
         ball = joint->kind == CT_JOINT_BALL;
    if (!axial && !ball)
        return ct_scene_fail(
            error, "link",
            "\"%s\" has a joint that takes no %s: revolute, prismatic and ball joints take torques and "
            "targets",
            scene->link[link].name, kind == CT_CONTROL_TORQUE ? "torque" : "target");
    if (kind == CT_CONTROL_TARGET && !(joint->servo_stiffness > 0))
        return ct_scene_fail(error, "link", "\"%s\" has no servo: give its joint a servo stiffness",
                             scene->link[link].name);
    return add_control(scene, name,
                       (ct_scene_control){.kind = kind, .size = ball ? 3 : 1, .drive = -1, .link = link},
                       error);
}

static ct_status add_root_control(ct_scene* scene, const char* name, ct_control_kind kind, int link,
                                  ct_error* error) {
    ct_error_clear(error);
    if (link < 0 || link >= scene->nlink)
        return ct_scene_fail(error, "link", "is %d: the scene has %d links", link, scene->nlink);
    ct_scene_link* root = &scene->link[link];
    if (root->parent >= 0)
        return ct_scene_fail(error, "link",
                             "\"%s\" is not a root: only what stands on the world can be driven", root->name);
    for (int i = 0; i < scene->ncontrol; i++)
        if ((scene->control[i].kind == CT_CONTROL_DRIVE || scene->control[i].kind == CT_CONTROL_MOVE) &&
            scene->control[i].link == link)
            return ct_scene_fail(error, "link",
                                 "\"%s\" is already moved by the control \"%s\": a root takes one",
                                 root->name, scene->control[i].name);
    ct_status status = add_control(
        scene, name, (ct_scene_control){.kind = kind, .size = 6, .drive = -1, .link = link}, error);
    if (status || root->driven) return status;
    root->driven = true;
    memcpy(root->motion.center, root->joint.anchor, sizeof root->motion.center);
    return CT_OK;
}

ct_status ct_scene_add_root_control(ct_scene* scene, const char* name, int link, ct_error* error) {
    return add_root_control(scene, name, CT_CONTROL_DRIVE, link, error);
}

ct_status ct_scene_add_move_control(ct_scene* scene, const char* name, int drive, int link, ct_error* error) {
    return drive >= 0 || link < 0 ? add_drive_control(scene, name, CT_CONTROL_MOVE, drive, error)
                                  : add_root_control(scene, name, CT_CONTROL_MOVE, link, error);
}

ct_status ct_scene_add_actuator_control(ct_scene* scene, const char* name, int actuator, ct_error* error) {
    ct_error_clear(error);
    if (actuator < 0 || actuator >= scene->nactuator)
        return ct_scene_fail(error, "actuator", "is %d: the scene has %d actuators", actuator,
                             scene->nactuator);
    const ct_scene_actuator* a = &scene->actuator[actuator];
    ct_control_kind kind = a->kind == CT_ACTUATOR_CAVITY ? CT_CONTROL_PRESSURE : CT_CONTROL_ACTIVATION;
    for (int i = 0; i < scene->ncontrol; i++)
        if (scene->control[i].kind == kind && scene->control[i].actuator == actuator)
            return ct_scene_fail(error, "actuator",
                                 "\"%s\" already has the control \"%s\": an actuator takes one", a->name,
                                 scene->control[i].name);
    return add_control(
        scene, name,
        (ct_scene_control){.kind = kind, .size = a->size, .drive = -1, .link = -1, .actuator = actuator},
        error);
}

// -------------------------------------------------------------------------------------------------
// Parameters

static bool is_of_actuators(ct_parameter_kind kind) {
    return kind == CT_PARAMETER_MUSCLE_STIFFNESS || kind == CT_PARAMETER_CHAMBER_STIFFNESS;
}

static bool is_positive_kind(ct_parameter_kind kind) {
    return kind == CT_PARAMETER_YOUNG || kind == CT_PARAMETER_DENSITY || kind == CT_PARAMETER_THICKNESS ||
           kind == CT_PARAMETER_LINK_MASS || kind == CT_PARAMETER_WATER_DENSITY || is_of_actuators(kind);
}

static bool is_of_links(ct_parameter_kind kind) {
    return kind >= CT_PARAMETER_JOINT_STIFFNESS && kind <= CT_PARAMETER_JOINT_VELOCITY;
}

static bool is_of_water(ct_parameter_kind kind) {
    return kind >= CT_PARAMETER_WATER_DENSITY && kind <= CT_PARAMETER_WATER_CURRENT;
}

// Quantities that must not be negative, beside the materials'.
static bool is_resistance(ct_parameter_kind kind) {
    if (is_of_water(kind)) return kind != CT_PARAMETER_WATER_CURRENT;
    if (kind == CT_PARAMETER_BENDING || kind == CT_PARAMETER_THICKNESS || is_of_actuators(kind)) return true;
    return kind == CT_PARAMETER_FRICTION ||
           (is_of_links(kind) && kind != CT_PARAMETER_JOINT_REST && kind != CT_PARAMETER_JOINT_POSITION &&
            kind != CT_PARAMETER_JOINT_VELOCITY);
}

bool ct_scene_link_takes(const ct_scene_link* link, ct_parameter_kind kind, ct_parameter_per per) {
    bool axial = link->joint.kind == CT_JOINT_REVOLUTE || link->joint.kind == CT_JOINT_PRISMATIC;
    if (kind == CT_PARAMETER_LINK_MASS) return link->mass > 0;
    if (kind < CT_PARAMETER_JOINT_POSITION && kind != CT_PARAMETER_JOINT_REST)
        return axial || link->joint.kind == CT_JOINT_BALL;
    // one number for all has no meaning for rotations
    if (kind >= CT_PARAMETER_JOINT_POSITION && per != CT_PER_SCENE) return link->joint.kind != CT_JOINT_FIXED;
    return axial;
}

// A link by name that the parameter means something for; NULL: one at least must be such.
static ct_status find_link(const ct_scene* scene, const char* name, ct_parameter_kind kind,
                           ct_parameter_per per, int* link, ct_error* error) {
    const char* word = ct_scene_choices[CT_CHOICE_PARAMETER].words[kind];
    *link = name ? ct_scene_find_link(scene, name) : -1;
    if (name && *link < 0)
        return ct_scene_fail(error, "link", "is \"%.60s\": there is no link of that name", name);
    if (name && !ct_scene_link_takes(&scene->link[*link], kind, per))
        return ct_scene_fail(error, "link", "is \"%.60s\", which has no \"%s\"", name, word);
    for (int k = 0; k < scene->nlink; k++)
        if (ct_scene_link_takes(&scene->link[k], kind, per)) return CT_OK;
    return ct_scene_fail(error, "type", "is \"%s\", but the scene has no link with such a quantity", word);
}

// A muscle or chamber by name; NULL: there must be one at least.
static ct_status find_actuator(const ct_scene* scene, const char* name, ct_parameter_kind kind, int* actuator,
                               ct_error* error) {
    ct_actuator_kind wanted =
        kind == CT_PARAMETER_MUSCLE_STIFFNESS ? CT_ACTUATOR_MUSCLE : CT_ACTUATOR_CHAMBER;
    const char* word = wanted == CT_ACTUATOR_MUSCLE ? "muscle" : "chamber";
    *actuator = name ? ct_scene_find_actuator(scene, name) : -1;
    if (name && (*actuator < 0 || scene->actuator[*actuator].kind != wanted))
        return ct_scene_fail(error, "actuator", "is \"%.60s\": there is no %s of that name", name, word);
    for (int k = 0; k < scene->nactuator; k++)
        if (scene->actuator[k].kind == wanted) return CT_OK;
    return ct_scene_fail(error, "type", "is \"%s\", but the scene has no %s",
                         ct_scene_choices[CT_CHOICE_PARAMETER].words[kind], word);
}

// Controls of muscles keep the activation between 0 and 1, those of cells a volume.
static void bound_activation(const ct_scene* scene, ct_scene_parameter* p) {
    const ct_scene_control* control = &scene->control[p->control];
    if (control->kind != CT_CONTROL_ACTIVATION) return;
    const ct_scene_actuator* actuator = &scene->actuator[control->actuator];
    bool muscle = actuator->kind == CT_ACTUATOR_MUSCLE;
    if (p->lower == -INFINITY) p->lower = (muscle ? 0 : 0.05) - actuator->start;
    if (p->upper == INFINITY && muscle) p->upper = 1 - actuator->start;
}

static ct_transform transform_of_kind(ct_parameter_kind kind) {
    if (is_positive_kind(kind)) return CT_TRANSFORM_LOG;
    return kind == CT_PARAMETER_POISSON ? CT_TRANSFORM_SIGMOID : CT_TRANSFORM_AFFINE;
}

// Puts what the kind implies in place of what was left open.
static void complete_parameter(ct_scene_parameter* p) {
    if (p->kind == CT_PARAMETER_FRICTION && p->per == CT_PER_BODY) p->per = CT_PER_SCENE;
    if (p->transform == CT_TRANSFORM_AUTO) p->transform = transform_of_kind(p->kind);
    bool damping = p->kind == CT_PARAMETER_DAMPING_MASS || p->kind == CT_PARAMETER_DAMPING_STIFFNESS;
    bool poisson = p->kind == CT_PARAMETER_POISSON;
    bool resistance = is_resistance(p->kind) && !is_positive_kind(p->kind);
    if ((damping || poisson || resistance) && p->lower == -INFINITY) p->lower = 0;
    if (poisson && p->upper == INFINITY) p->upper = 0.49;
}

static ct_status check_bounds(const ct_scene_parameter* p, ct_error* error) {
    if (!(p->lower < p->upper))
        return ct_scene_fail(error, "lower", "is %g: it must be below upper, which is %g", p->lower,
                             p->upper);
    bool material = p->kind <= CT_PARAMETER_DAMPING_STIFFNESS;
    if (p->kind == CT_PARAMETER_POISSON && !(p->lower >= 0 && p->upper < 0.5))
        return ct_scene_fail(error, "upper",
                             "and lower are %g and %g: Poisson's ratio must be at least 0 and below 0.5",
                             p->upper, p->lower);
    if (((material && p->kind != CT_PARAMETER_POISSON) || is_resistance(p->kind)) && isfinite(p->lower) &&
        p->lower < 0)
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

// Bending and thickness are quantities of sheets.
static ct_status check_sheets(const ct_scene* scene, const ct_scene_parameter* p, ct_error* error) {
    for (int b = 0; b < scene->nbody; b++)
        if ((p->body < 0 || b == p->body) && ct_scene_sheet_size(&scene->body[b])) return CT_OK;
    return ct_scene_fail(error, "type", "is \"%s\", but %s: only bodies of triangles have it",
                         ct_scene_choices[CT_CHOICE_PARAMETER].words[p->kind],
                         p->body < 0 ? "the scene has no thin sheet" : "this body is no thin sheet");
}

static ct_status check_parameter(const ct_scene* scene, const ct_scene_parameter* p, ct_error* error) {
    if (p->body < -1 || p->body >= scene->nbody)
        return ct_scene_fail(error, "body", "is %d: it must be from 0 to %d, or -1 for all", p->body,
                             scene->nbody - 1);
    if (p->kind == CT_PARAMETER_BENDING || p->kind == CT_PARAMETER_THICKNESS) {
        ct_status status = check_sheets(scene, p, error);
        if (status) return status;
    }
    bool nodal = p->kind == CT_PARAMETER_POSITION || p->kind == CT_PARAMETER_VELOCITY;
    if (nodal && p->per == CT_PER_TAG)
        return ct_scene_fail(error, "per",
                             "is \"tag\", but tags belong to tets and this is a quantity of nodes: use "
                             "\"element\", \"body\" or \"scene\"");
    if (p->kind == CT_PARAMETER_FRICTION && (p->per == CT_PER_TAG || p->body >= 0))
        return ct_scene_fail(error, p->body < 0 ? "per" : "body",
                             "has no meaning for friction: use \"per\": \"scene\" for the scene's "
                             "coefficient, or \"element\" for that and those of the pairs");
    ct_status shape = ct_scene_check_shape(p, error);
    if (shape) return shape;
    if (p->hold < 1) return ct_scene_fail(error, "hold", "is %d: it must be 1 or more steps", p->hold);
    if (!(p->scale >= 0 && isfinite(p->scale)))
        return ct_scene_fail(error, "scale", "is %g: it must be above 0, or 0 to have it chosen", p->scale);
    if (!isfinite(p->offset)) return ct_scene_fail(error, "offset", "must be a finite number");
    return check_bounds(p, error);
}

// A name from the kind and the body or control.
static void name_parameter(const ct_scene* scene, const ct_scene_parameter* p, char name[NAME_SIZE]) {
    const char* kind = ct_scene_choices[CT_CHOICE_PARAMETER].words[p->kind];
    if (p->kind == CT_PARAMETER_CONTROL) snprintf(name, NAME_SIZE, "%s", scene->control[p->control].name);
    else if (p->link >= 0) snprintf(name, NAME_SIZE, "%s.%s", kind, scene->link[p->link].name);
    else if (p->actuator >= 0) snprintf(name, NAME_SIZE, "%s.%s", kind, scene->actuator[p->actuator].name);
    else if (p->body >= 0) snprintf(name, NAME_SIZE, "%s.%s", kind, scene->body[p->body].name);
    else snprintf(name, NAME_SIZE, "%s", kind);
}

// Two parameters that set the same number.
static bool overlaps(const ct_scene_parameter* a, const ct_scene_parameter* b) {
    if (a->kind != b->kind) return false;
    if (a->kind == CT_PARAMETER_CONTROL) return a->control == b->control;
    if (a->kind == CT_PARAMETER_GRAVITY || a->kind == CT_PARAMETER_FRICTION ||
        a->kind == CT_PARAMETER_POLICY || is_of_water(a->kind))
        return true;
    if (is_of_actuators(a->kind)) return a->actuator < 0 || b->actuator < 0 || a->actuator == b->actuator;
    if (is_of_links(a->kind)) return a->link < 0 || b->link < 0 || a->link == b->link;
    return a->body < 0 || b->body < 0 || a->body == b->body;
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
                ct_scene_choices[CT_CHOICE_PARAMETER].words[p->kind], other->name);
        if (!strcmp(name, other->name))
            return ct_scene_fail(error, "name", "is \"%s\", the name of another parameter: give each its own",
                                 name);
    }
    return CT_OK;
}

static ct_status find_control(const ct_scene* scene, const char* name, int* control, ct_error* error) {
    if (!scene->ncontrol)
        return ct_scene_fail(error, "control", "has nothing to refer to: the scene has no controls");
    if (!name)
        return ct_scene_fail(error, "control", "is missing: name one; the first is \"%s\"",
                             scene->control[0].name);
    *control = ct_scene_find_control(scene, name);
    if (*control >= 0) return CT_OK;
    return ct_scene_fail(error, "control",
                         "is \"%.60s\": there is no control of that name; the first one is \"%s\"", name,
                         scene->control[0].name);
}

static ct_status resolve_parameter(const ct_scene* scene, const ct_parameter_def* def, ct_scene_parameter* p,
                                   ct_error* error) {
    if ((unsigned)def->kind > CT_PARAMETER_POLICY)
        return ct_scene_fail(error, "type", "is not one of ct_parameter_kind");
    if (def->kind == CT_PARAMETER_POLICY && !scene->policy.enabled)
        return ct_scene_fail(error, "type", "is \"policy\", but the scene has none");
    if (is_of_water(def->kind) && !scene->water.enabled)
        return ct_scene_fail(error, "type", "is \"%s\", but the scene has no water",
                             ct_scene_choices[CT_CHOICE_PARAMETER].words[def->kind]);
    if ((unsigned)def->per > CT_PER_SCENE)
        return ct_scene_fail(error, "per", "is not one of ct_parameter_per");
    if ((unsigned)def->transform > CT_TRANSFORM_SIGMOID)
        return ct_scene_fail(error, "transform", "is not one of ct_transform");
    *p = (ct_scene_parameter){.kind = def->kind,
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
                              .shape = def->shape,
                              .knots = def->knots,
                              .wave = {def->amplitude, def->frequency, def->phase, def->center}};
    complete_parameter(p);
    ct_status status = CT_OK;
    if (p->kind == CT_PARAMETER_CONTROL) status = find_control(scene, def->control, &p->control, error);
    if (p->kind == CT_PARAMETER_CONTROL && !status) bound_activation(scene, p);
    if (is_of_actuators(p->kind)) status = find_actuator(scene, def->actuator, p->kind, &p->actuator, error);
    if (is_of_links(p->kind)) status = find_link(scene, def->link, p->kind, p->per, &p->link, error);
    return status ? status : check_parameter(scene, p, error);
}

ct_status ct_scene_add_parameter(ct_scene* scene, const ct_parameter_def* def, ct_error* error) {
    ct_error_clear(error);
    ct_scene_parameter parameter;
    ct_status status = resolve_parameter(scene, def, &parameter, error);
    if (!status && def->name) status = check_name(def->name, error);
    if (status) return status;
    char name[NAME_SIZE];
    if (def->name) snprintf(name, sizeof name, "%s", def->name);
    else name_parameter(scene, &parameter, name);
    status = check_distinct(scene, &parameter, name, error);
    if (status) return status;
    parameter.name = ct_arena_copy(&scene->goals, name, strlen(name) + 1, 1);
    ct_scene_parameter* grown = ct_resize(scene->parameter, (size_t)scene->nparameter + 1, sizeof parameter);
    if (grown) scene->parameter = grown;
    if (!grown || !parameter.name) return out_of_memory(error);
    scene->parameter[scene->nparameter++] = parameter;
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Objectives

static bool is_of_control(ct_objective_kind kind) {
    return kind == CT_OBJECTIVE_EFFORT || kind == CT_OBJECTIVE_SMOOTHNESS;
}

static ct_status check_window(const ct_objective_def* def, ct_error* error) {
    if (isnan(def->start) && isnan(def->stop)) return CT_OK;
    if (isnan(def->start) || isinf(def->start)) return ct_scene_fail(error, "from", "must be a time");
    if (isnan(def->stop)) return ct_scene_fail(error, "to", "must be a time");
    if (def->start < 0) return ct_scene_fail(error, "from", "is %g: times begin at 0", def->start);
    if (!(def->stop >= def->start))
        return ct_scene_fail(error, "to", "is %g: it must not be before from, which is %g", def->stop,
                             def->start);
    if (is_of_control(def->kind) && def->stop == def->start)
        return ct_scene_fail(error, "time",
                             "is a single one, but this term is a mean over steps: give \"from\" and \"to\"");
    return CT_OK;
}

static ct_status check_path(const ct_objective_def* def, ct_error* error) {
    if (def->npath < 1 || !def->path)
        return ct_scene_fail(error, "target", "is missing: give a \"target\" or a \"path\" along time");
    for (int i = 0; i < def->npath; i++) {
        const ct_keyframe* key = &def->path[i];
        char field[48];
        snprintf(field, sizeof field, "path[%d]", i);
        for (int a = 0; a < 3; a++)
            if (!isfinite(key->time) || !isfinite(key->translate[a]))
                return ct_scene_fail(error, field, "has a number that is not finite");
        if (i && !(key->time > key[-1].time))
            return ct_scene_fail(
                error, field, "has time %g, not after %g of the key before it: keys must be in order of time",
                key->time, key[-1].time);
    }
    return CT_OK;
}

// The nodes, in the arena: all, sorted, or for a shape as given.
static ct_status copy_nodes(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                            ct_error* error) {
    int all = ct_scene_node_count(scene);
    if (!all) return ct_scene_fail(error, "select", "has nothing to select from: add bodies first");
    if (!def->count) {
        o->nnode = all;
        o->node = ct_arena_alloc(&scene->goals, (size_t)all, sizeof *o->node);
        for (int i = 0; o->node && i < all; i++) o->node[i] = i;
        return o->node ? CT_OK : out_of_memory(error);
    }
    int* sorted;
    ct_status status = ct_scene_sorted_nodes(scene, def->nodes, def->count, &sorted, &o->nnode, error);
    if (status) return status;
    bool shape = def->kind == CT_OBJECTIVE_SHAPE;
    if (shape && o->nnode != def->count)
        status = ct_scene_fail(error, "select", "has a node twice: each takes one target");
    else
        o->node =
            ct_arena_copy(&scene->goals, shape ? def->nodes : sorted, (size_t)o->nnode, sizeof *o->node);
    ct_free(sorted);
    return status ? status : o->node ? CT_OK : out_of_memory(error);
}

static ct_status copy_shape(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                            ct_error* error) {
    if (!def->shape)
        return ct_scene_fail(error, "shape", "is missing: give a target position for every node");
    for (size_t i = 0; i < 3 * (size_t)o->nnode; i++) {
        if (isfinite(def->shape[i])) continue;
        if (error) error->element = (long)(i / 3);
        return ct_scene_fail(error, "shape", "has a number that is not finite in row %zu", i / 3);
    }
    o->shape = ct_arena_copy(&scene->goals, def->shape, 3 * (size_t)o->nnode, sizeof *o->shape);
    return o->shape ? CT_OK : out_of_memory(error);
}

static ct_status copy_path(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                           ct_error* error) {
    ct_status status = check_path(def, error);
    if (status) return status;
    o->npath = def->npath;
    o->path = ct_arena_copy(&scene->goals, def->path, (size_t)def->npath, sizeof *o->path);
    if (!o->path) return out_of_memory(error);
    for (int i = 0; i < o->npath; i++) memset(o->path[i].rotate, 0, sizeof o->path[i].rotate);
    return CT_OK;
}

static ct_status copy_targets(ct_scene* scene, const ct_objective_def* def, ct_scene_objective* o,
                              ct_error* error) {
    if (is_of_control(def->kind)) {
        if (def->control) return find_control(scene, def->control, &o->control, error);
        return scene->ncontrol ? CT_OK
                               : ct_scene_fail(error, "type", "needs a control, but the scene has none");
    }
    if (def->kind == CT_OBJECTIVE_JOINT) {
        if (!def->link) return ct_scene_fail(error, "link", "is missing: name the link whose joint is meant");
        o->link = ct_scene_find_link(scene, def->link);
        if (o->link < 0)
            return ct_scene_fail(error, "link", "is \"%.60s\": there is no link of that name", def->link);
        ct_joint_kind joint = scene->link[o->link].joint.kind;
        if (joint == CT_JOINT_FIXED || joint == CT_JOINT_FREE)
            return ct_scene_fail(error, "link",
                                 "is \"%.60s\", whose joint is fixed or free: targets are for revolute, "
                                 "prismatic and ball joints",
                                 def->link);
        return copy_path(scene, def, o, error);
    }
    ct_status status = copy_nodes(scene, def, o, error);
    if (status) return status;
    return def->kind == CT_OBJECTIVE_SHAPE ? copy_shape(scene, def, o, error)
                                           : copy_path(scene, def, o, error);
}

ct_status ct_scene_add_objective(ct_scene* scene, const ct_objective_def* def, ct_error* error) {
    ct_error_clear(error);
    if ((unsigned)def->kind > CT_OBJECTIVE_JOINT)
        return ct_scene_fail(error, "type", "is not one of ct_objective_kind");
    if (!isfinite(def->weight)) return ct_scene_fail(error, "weight", "must be a finite number");
    ct_scene_objective objective = {.kind = def->kind,
                                    .uniform = def->uniform,
                                    .relative = def->relative,
                                    .distance = def->distance,
                                    .start = def->start,
                                    .stop = def->stop,
                                    .control = -1,
                                    .link = -1,
                                    .weight = def->weight};
    const char* name = def->name ? def->name : ct_scene_choices[CT_CHOICE_OBJECTIVE].words[def->kind];
    ct_status status = check_name(name, error);
    if (!status) status = check_window(def, error);
    if (!status) status = copy_targets(scene, def, &objective, error);
    if (status) return status;
    objective.name = ct_arena_copy(&scene->goals, name, strlen(name) + 1, 1);
    ct_scene_objective* grown = ct_resize(scene->objective, (size_t)scene->nobjective + 1, sizeof objective);
    if (grown) scene->objective = grown;
    if (!grown || !objective.name) return out_of_memory(error);
    scene->objective[scene->nobjective++] = objective;
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// The optimiser

void ct_scene_optimize_def(const ct_scene* scene, ct_optimize_def* def) { *def = scene->optimize; }

ct_status ct_scene_set_optimize_def(ct_scene* scene, const ct_optimize_def* def, ct_error* error) {
    ct_error_clear(error);
    if ((unsigned)def->method > CT_METHOD_NELDER_MEAD)
        return ct_scene_fail(error, "method", "is not one of ct_method");
    if (def->iterations < 1)
        return ct_scene_fail(error, "iterations", "is %d: it must be 1 or more", def->iterations);
    if (isnan(def->target)) return ct_scene_fail(error, "target", "must be a number");
    if (!(def->rate > 0 && isfinite(def->rate)))
        return ct_scene_fail(error, "rate", "is %g: it must be above 0", def->rate);
    if (!(def->tolerance >= 0 && def->tolerance < 1))
        return ct_scene_fail(error, "tolerance", "is %g: it must be from 0 to below 1", def->tolerance);
    if (def->restarts < 0)
        return ct_scene_fail(error, "restarts", "is %d: it must be 0 or more", def->restarts);
    if (!(def->noise >= 0 && isfinite(def->noise)))
        return ct_scene_fail(error, "noise", "is %g: it must be 0 or more", def->noise);
    if (!(def->spread > 0 && isfinite(def->spread)))
        return ct_scene_fail(error, "spread", "is %g: it must be above 0", def->spread);
    if (def->population != 0 && (def->population < 4 || def->population > 1000000))
        return ct_scene_fail(
            error, "population",
            "is %d: it must be from 4 to 1000000, or 0 for a choice by the number of parameters",
            def->population);
    scene->optimize = *def;
    return CT_OK;
}
