// A scene while it is being authored: settings, prescribed motion, forces, initial velocities.
// Node sets are sorted, free of duplicates and checked (nodes.c), so that the compiled model need not look at
// them again.
#include "scene/scene.h"
#include "scene/usable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/point3.h"
#include "skeleton/joint.h"

ct_settings ct_settings_default(void) {
    return (ct_settings){
        .gravity = {0, -9.81, 0},
        .up = 1,
        .time_step = 0.01,
        .duration = 1,
        .integrator = CT_INTEGRATOR_EULER,
        .solver = CT_SOLVER_NEWTON,
        .tolerance = 1e-6,
        .max_iterations = 1000,
        .max_substep_depth = 10,
        .threads = 0,
        .output_every = 1,
        .ground = NAN,
        .contact = {.method = CT_CONTACT_METHOD_NONE,
                    .split = CT_SPLIT_DIAGONAL,
                    .friction = 0.5,
                    .max_passes = 8},
    };
}

ct_force_def ct_force_def_default(void) {
    return (ct_force_def){.kind = CT_FORCE_TOTAL, .start = 0, .stop = INFINITY};
}

// -------------------------------------------------------------------------------------------------
// Life and settings

ct_status ct_scene_create(ct_scene** out, ct_error* error) {
    CT_NEED(error, out);
    ct_error_clear(error);
    ct_scene* scene = *out = ct_alloc(1, sizeof *scene);
    if (!scene) return ct_fail_making(error, CT_OUT_OF_MEMORY, "a scene", "free what is not needed");
    scene->settings = ct_settings_default();
    scene->view = (ct_view){.automatic = true, .field_of_view = 40};
    scene->optimize = ct_optimize_def_default();
    scene->name = ct_duplicate_text("scene");
    scene->file = ct_duplicate_text("");
    if (scene->name && scene->file) return CT_OK;
    ct_scene_free(scene);
    *out = NULL;
    return ct_fail_making(error, CT_OUT_OF_MEMORY, "a scene", "free what is not needed");
}

void ct_scene_free(ct_scene* scene) {
    if (!scene) return;
    for (int i = 0; i < scene->nbody; i++) ct_scene_free_body(&scene->body[i]);
    for (int i = 0; i < scene->ndrive; i++) {
        ct_free(scene->drive[i].node);
        ct_free(scene->drive[i].key);
    }
    for (int i = 0; i < scene->nforce; i++) ct_free(scene->force[i].node);
    ct_arena_free(&scene->arena);
    ct_key_map_clear(&scene->names);
    ct_key_map_clear(&scene->groups);
    ct_free(scene->obstacle);
    ct_free(scene->pair);
    ct_free(scene->actuator);
    ct_free(scene->control);
    ct_free(scene->link);
    ct_free(scene->parameter);
    ct_free(scene->objective);
    ct_free(scene->body);
    ct_free(scene->drive);
    ct_free(scene->force);
    ct_free(scene->mass);
    ct_free(scene->name);
    ct_free(scene->file);
    ct_free(scene);
}

ct_settings ct_scene_settings(const ct_scene* scene) { return scene->settings; }

static ct_status check_integer(ct_error* error, const char* field, int value, int least, int most) {
    if (value >= least && value <= most) return CT_OK;
    return ct_scene_fail(error, field, "is %d: it must be from %d to %d", value, least, most);
}

static ct_status check_time(const ct_settings* s, ct_error* error) {
    if (!(s->time_step > 0 && isfinite(s->time_step)))
        return ct_scene_fail(error, "time_step", "is %g: it must be above 0, for example 0.01", s->time_step);
    if (s->settle && s->duration == 0) return CT_OK;
    if (!(s->duration > 0 && isfinite(s->duration)))
        return ct_scene_fail(error, "duration", "is %g: it must be above 0", s->duration);
    if (s->duration < s->time_step * (1 - 1e-9))
        return ct_scene_fail(error, "duration",
                             "is %g, shorter than one time_step of %g: make it at least as long", s->duration,
                             s->time_step);
    if (s->duration / s->time_step > 1e9)
        return ct_scene_fail(error, "duration",
                             "is %g, more than 1e9 steps of %g: shorten it or lengthen time_step",
                             s->duration, s->time_step);
    return CT_OK;
}

static ct_status check_settings(const ct_settings* s, ct_error* error) {
    if (!is_usable3(s->gravity))
        return ct_scene_fail(error, "gravity", "must be three finite numbers within 1e12");
    ct_status status = check_time(s, error);
    if (!status) status = check_integer(error, "up", s->up, 0, 2);
    if (!status)
        status = check_integer(error, "integrator", (int)s->integrator, CT_INTEGRATOR_EULER,
                               CT_INTEGRATOR_MIDPOINT);
    if (!status)
        status = check_integer(error, "solver.type", (int)s->solver, CT_SOLVER_NEWTON, CT_SOLVER_PROJECTIVE);
    if (!status && !(s->tolerance >= 1e-15 && s->tolerance <= 0.1))
        status = ct_scene_fail(error, "solver.tolerance",
                               "is %g: it must be from 1e-15 to 0.1; 1e-6 suits most scenes", s->tolerance);
    if (!status) status = check_integer(error, "solver.max_iterations", s->max_iterations, 1, 1000000);
    if (!status) status = check_integer(error, "solver.max_substep_depth", s->max_substep_depth, 0, 20);
    if (!status) status = check_integer(error, "solver.threads", s->threads, 0, 1024);
    if (!status) status = check_integer(error, "output.every", s->output_every, 1, 1000000000);
    if (!status)
        status = check_integer(error, "contact.method", (int)s->contact.method, CT_CONTACT_METHOD_NONE,
                               CT_CONTACT_METHOD_SPLIT);
    if (!status)
        status = check_integer(error, "contact.split", (int)s->contact.split, CT_SPLIT_MASS, CT_SPLIT_NODES);
    if (!status) status = check_integer(error, "contact.max_passes", s->contact.max_passes, 1, 1000);
    if (!status) status = check_integer(error, "contact.truncate", s->contact.truncate, 0, 1000000);
    if (!status && !(s->contact.friction >= 0 && isfinite(s->contact.friction)))
        status = ct_scene_fail(error, "contact.friction", "is %g: a coefficient of friction is at least 0",
                               s->contact.friction);
    if (!status && isinf(s->ground))
        status = ct_scene_fail(error, "ground", "must be a finite height, or NAN for none");
    return status;
}

ct_status ct_scene_set_settings(ct_scene* scene, const ct_settings* settings, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    ct_status status = check_settings(settings, error);
    if (!status) scene->settings = *settings;
    return status;
}

ct_view ct_scene_view(const ct_scene* scene) { return scene->view; }
void ct_scene_set_view(ct_scene* scene, const ct_view* view) { scene->view = *view; }

ct_status ct_scene_set_name(ct_scene* scene, const char* name) {
    CT_NEED(NULL, scene);
    char* copy = ct_duplicate_text(name);
    if (!copy) return CT_OUT_OF_MEMORY;
    ct_free(scene->name);
    scene->name = copy;
    return CT_OK;
}

const char* ct_scene_name(const ct_scene* scene) { return scene->name; }
const char* ct_scene_file(const ct_scene* scene) { return scene->file; }

// The splitting iteration is one of projective dynamics on nodes.
static ct_status check_split(const ct_scene* scene, ct_error* error) {
    if (scene->settings.contact.method != CT_CONTACT_METHOD_SPLIT) return CT_OK;
    if (scene->settings.solver != CT_SOLVER_PROJECTIVE)
        return ct_scene_fail(error, "contact.method",
                             "is \"split\", which is an iteration of the solver \"projective\": choose that, "
                             "with bodies of energy "
                             "\"projective\", or the method \"newton\"");
    if (scene->nlink && scene->settings.contact.split == CT_SPLIT_WHOLE)
        return ct_scene_fail(error, "contact.split",
                             "is \"whole\", which does not support skeletons, but the scene has links: use "
                             "\"diagonal\" or \"twice\", or the method \"newton\"");
    return CT_OK;
}

// Integrators with stages: what they cannot do.
static ct_status check_integrator(const ct_scene* scene, ct_error* error) {
    const ct_settings* s = &scene->settings;
    const char* name = ct_integrator_name(s->integrator);
    if (s->integrator <= CT_INTEGRATOR_BDF2) return CT_OK;
    if (scene->nlink && s->integrator == CT_INTEGRATOR_MIDPOINT)
        return ct_scene_fail(error, "integrator",
                             "is \"%s\", which does not serve skeletons: use \"sdirk2\" or \"bdf2\"", name);
    for (int k = 0; k < scene->nlink; k++)
        if (scene->link[k].driven)
            return ct_scene_fail(error, "integrator",
                                 "is \"%s\", which does not serve skeletons whose root is driven, as that of "
                                 "\"%s\": use \"bdf2\" or \"euler\"",
                                 name, scene->link[k].name);
    if (s->solver == CT_SOLVER_PROJECTIVE || s->contact.method == CT_CONTACT_METHOD_SPLIT)
        return ct_scene_fail(error, "integrator",
                             "is \"%s\", which the projective solver and the split contact method do not "
                             "serve: use \"euler\"",
                             name);
    if (s->integrator == CT_INTEGRATOR_MIDPOINT && s->contact.method != CT_CONTACT_METHOD_NONE)
        return ct_scene_fail(error, "integrator",
                             "is \"midpoint\", which does not serve contact: bodies would end their steps "
                             "inside one another; use \"sdirk2\"");
    return CT_OK;
}

// What the projective solver knows: squared distances from what elements are projected to.
static ct_status check_projective_body(const ct_scene_body* body, ct_error* error) {
    if (body->mesh->mid)
        return ct_scene_fail(error, "solver.type",
                             "is \"projective\", which does not support tets of second order, but body "
                             "\"%s\" has them: use the solver \"newton\"",
                             body->name);
    for (int e = 0; e < ct_scene_body_elements(body); e++) {
        if (body->tet_material[e].damping_stiffness > 0)
            return ct_scene_fail(error, "solver.type",
                                 "is \"projective\", which does not support stiffness damping, but body "
                                 "\"%s\" has it: remove "
                                 "\"damping\".\"stiffness\", or use the solver \"newton\"",
                                 body->name);
        if (body->tet_material[e].energy == CT_ENERGY_PROJECTIVE) continue;
        if (error) error->element = e;
        return ct_scene_fail(error, "solver.type",
                             "is \"projective\", but body \"%s\" has another energy: give it \"energy\": "
                             "\"projective\", or use the solver \"newton\"",
                             body->name);
    }
    return CT_OK;
}

static ct_status check_projective(const ct_scene* scene, ct_error* error) {
    ct_status status = CT_OK;
    if (scene->settings.solver != CT_SOLVER_PROJECTIVE) return CT_OK;
    for (int i = 0; i < scene->nactuator; i++) {
        const ct_scene_actuator* actuator = &scene->actuator[i];
        if (actuator->kind == CT_ACTUATOR_MUSCLE || actuator->kind == CT_ACTUATOR_CHAMBER) continue;
        return ct_scene_fail(error, "solver.type",
                             "is \"projective\", which supports muscles and chambers of cells alone, but the "
                             "scene has \"%s\": use the solver \"newton\"",
                             actuator->name);
    }
    for (int k = 0; k < scene->nlink; k++)
        if (ct_joint_rotors(&scene->link[k].joint))
            return ct_scene_fail(error, "solver.type",
                                 "is \"projective\", which does not support armatures, but the joint of "
                                 "\"%s\" has one: use the solver \"newton\"",
                                 scene->link[k].name);
    for (int b = 0; status == CT_OK && b < scene->nbody; b++)
        status = check_projective_body(&scene->body[b], error);
    return status;
}

ct_status ct_scene_check(const ct_scene* scene, ct_error* error) {
    if (!scene->nbody && !scene->nlink)
        return ct_scene_fail(error, "bodies", "has no body: a scene needs at least one, or a skeleton");
    bool weighs = scene->nbody > 0;
    for (int k = 0; k < scene->nlink; k++) weighs |= scene->link[k].mass > 0;
    if (!weighs) return ct_scene_fail(error, "skeletons", "have no mass: give a link one, or add a body");
    ct_status links = ct_scene_check_links(scene, error);
    if (!links) links = ct_scene_check_pairs(scene, error);
    if (!links) links = check_split(scene, error);
    if (!links) links = check_integrator(scene, error);
    if (links) return links;
    return check_projective(scene, error);
}

// -------------------------------------------------------------------------------------------------
// Prescribed motion

// Sorted sets: the first common node, -1 when there is none.
static int common_node(const int* a, int na, const int* b, int nb) {
    for (int i = 0, j = 0; i < na && j < nb;) {
        if (a[i] == b[j]) return a[i];
        if (a[i] < b[j]) i++;
        else j++;
    }
    return -1;
}

static ct_status check_undriven(const ct_scene* scene, const int* node, int nnode, ct_error* error) {
    for (int k = 0; k < scene->nlink; k++) {
        int common = common_node(node, nnode, scene->link[k].node, scene->link[k].nnode);
        if (common < 0) continue;
        if (error) error->element = common;
        return ct_fail(
            error, CT_BAD_SCENE,
            "node %d sits on the link \"%.60s\": it cannot also be pinned or driven; move the link instead",
            common, scene->link[k].name);
    }
    for (int d = 0; d < scene->ndrive; d++) {
        int common = common_node(node, nnode, scene->drive[d].node, scene->drive[d].nnode);
        if (common < 0) continue;
        const ct_scene_body* body = &scene->body[ct_scene_node_body(scene, common)];
        const double* x = body->mesh->x + 3 * (size_t)(common - body->first_node);
        if (error) error->element = common;
        return ct_fail(error, CT_BAD_SCENE,
                       "node %d of body \"%s\" at [%g, %g, %g] is already driven by drive %d (drives are "
                       "counted from 0, "
                       "pins follow them): make the selections disjoint",
                       common - body->first_node, body->name, x[0], x[1], x[2], d);
    }
    return CT_OK;
}

ct_status ct_scene_drive(ct_scene* scene, const int* nodes, int count, const ct_motion* motion,
                         ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    ct_motion pinned = {0};
    if (!motion) motion = &pinned;
    ct_scene_driver drive = {
        .nkey = motion->nkey, .smooth = motion->smooth, .repeat = motion->repeat, .clamp = motion->clamp};
    memcpy(drive.center, motion->center, sizeof drive.center);
    ct_status status = ct_scene_check_motion(motion, error);
    if (!status) status = ct_scene_sorted_nodes(scene, nodes, count, &drive.node, &drive.nnode, error);
    if (!status) status = check_undriven(scene, drive.node, drive.nnode, error);
    if (status) {
        ct_free(drive.node);
        return status;
    }
    drive.key = ct_duplicate(motion->key, (size_t)motion->nkey, sizeof *motion->key);
    ct_scene_driver* grown =
        drive.key ? ct_resize(scene->drive, (size_t)scene->ndrive + 1, sizeof drive) : NULL;
    if (!grown) {
        ct_free(drive.node);
        ct_free(drive.key);
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    }
    scene->drive = grown;
    scene->drive[scene->ndrive++] = drive;
    return CT_OK;
}

// -------------------------------------------------------------------------------------------------
// Forces and velocities

static ct_status check_force(const ct_force_def* def, ct_error* error) {
    if ((unsigned)def->kind > CT_FORCE_ACCELERATION)
        return ct_scene_fail(error, "kind", "is not one of ct_force_kind");
    if (!is_usable3(def->vector))
        return ct_scene_fail(error, ct_force_kind_name(def->kind),
                             "must be three finite numbers within 1e12");
    if (isnan(def->start) || def->start == INFINITY) return ct_scene_fail(error, "start", "must be a time");
    if (!(def->stop > def->start))
        return ct_scene_fail(error, "stop", "is %g: it must be after start, which is %g", def->stop,
                             def->start);
    return CT_OK;
}

ct_status ct_scene_add_force(ct_scene* scene, const int* nodes, int count, const ct_force_def* def,
                             ct_error* error) {
    CT_NEED(error, scene, def);
    ct_error_clear(error);
    ct_scene_force force = {.def = *def};
    ct_status status = check_force(def, error);
    if (!status) status = ct_scene_sorted_nodes(scene, nodes, count, &force.node, &force.nnode, error);
    if (status) return status;
    ct_scene_force* grown = ct_resize(scene->force, (size_t)scene->nforce + 1, sizeof force);
    if (!grown) {
        ct_free(force.node);
        return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    }
    scene->force = grown;
    scene->force[scene->nforce++] = force;
    return CT_OK;
}

ct_status ct_scene_add_masses(ct_scene* scene, const int* nodes, int count, double mass, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    if (!(mass > 0 && isfinite(mass)))
        return ct_scene_fail(error, "mass", "is %g kg: it must be above 0", mass);
    int *sorted, nnode;
    ct_status status = ct_scene_sorted_nodes(scene, nodes, count, &sorted, &nnode, error);
    if (status) return status;
    ct_scene_mass* grown = ct_resize(scene->mass, (size_t)scene->nmass + 1, sizeof *grown);
    int* kept = ct_arena_copy(&scene->arena, sorted, (size_t)nnode, sizeof *kept);
    ct_free(sorted);
    if (grown) scene->mass = grown;
    if (!grown || !kept) return ct_scene_out_of_memory(error);
    scene->mass[scene->nmass++] = (ct_scene_mass){.node = kept, .nnode = nnode, .mass = mass};
    return CT_OK;
}

ct_status ct_scene_set_velocities(ct_scene* scene, int body, const double* velocities, int count,
                                  ct_error* error) {
    CT_NEED(error, scene, velocities);
    ct_error_clear(error);
    if (body < 0 || body >= scene->nbody)
        return ct_fail(error, CT_BAD_ARGUMENT, "body %d does not exist: the scene has %d", body,
                       scene->nbody);
    const ct_scene_body* b = &scene->body[body];
    if (count != b->mesh->nvert)
        return ct_scene_fail(error, "velocity", "has %d rows: body \"%.60s\" has %d nodes", count, b->name,
                             b->mesh->nvert);
    for (int v = 0; v < count; v++) {
        if (is_usable3(velocities + 3 * (size_t)v)) continue;
        if (error) error->element = v;
        return ct_scene_fail(error, "velocity", "has a number that is not within 1e12 in row %d", v);
    }
    memcpy(b->velocity, velocities, 3 * (size_t)count * sizeof *velocities);
    return CT_OK;
}

ct_status ct_scene_set_velocity(ct_scene* scene, const int* nodes, int count, const double velocity[3],
                                const double angular_velocity[3], ct_error* error) {
    CT_NEED(error, scene);
    static const double zero[3];
    ct_error_clear(error);
    if (!velocity) velocity = zero;
    if (!angular_velocity) angular_velocity = zero;
    if (!is_usable3(velocity))
        return ct_scene_fail(error, "velocity", "must be three finite numbers within 1e12");
    if (!is_usable3(angular_velocity))
        return ct_scene_fail(error, "angular_velocity", "must be three finite numbers within 1e12");
    int *sorted, nnode;
    ct_status status = ct_scene_sorted_nodes(scene, nodes, count, &sorted, &nnode, error);
    if (status) return status;
    status = ct_scene_apply_velocity(scene, sorted, nnode, velocity, angular_velocity);
    ct_free(sorted);
    return status ? ct_fail(error, status, "out of memory") : CT_OK;
}
