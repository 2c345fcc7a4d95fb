// Controls of a scene: forces on nodes, motions of drives and roots, torques and targets of joints, numbers
// of actuators. Names and node sets live in the scene's arena.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "scene/scene.h"
#include "skeleton/joint.h"

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
    ct_status status = ct_scene_check_name(name, error);
    if (status) return status;
    if (ct_scene_find_control(scene, name) >= 0)
        return ct_scene_fail(error, "name", "is \"%s\", the name of another control: give each its own",
                             name);
    control.name = ct_arena_copy(&scene->arena, name, strlen(name) + 1, 1);
    control.node = ct_arena_copy(&scene->arena, control.node, (size_t)control.nnode, sizeof *control.node);
    ct_scene_control* grown = ct_resize(scene->control, (size_t)scene->ncontrol + 1, sizeof control);
    if (grown) scene->control = grown;
    if (!grown || !control.name || !control.node) return ct_scene_out_of_memory(error);
    scene->control[scene->ncontrol++] = control;
    return CT_OK;
}

ct_status ct_scene_add_force_control(ct_scene* scene, const char* name, const int* nodes, int count,
                                     ct_error* error) {
    CT_NEED(error, scene);
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
    if (scene->drive[drive].clamp)
        return ct_scene_fail(error, "drive",
                             "is %d, whose nodes are clamped and cannot move: pin two rows of nodes instead",
                             drive);
    for (int i = 0; i < scene->ncontrol; i++)
        if (scene->control[i].drive == drive)
            return ct_scene_fail(error, "drive",
                                 "is %d, which the control \"%s\" already moves: a drive takes one control",
                                 drive, scene->control[i].name);
    return add_control(scene, name, (ct_scene_control){.kind = kind, .size = 6, .drive = drive, .link = -1},
                       error);
}

ct_status ct_scene_add_drive_control(ct_scene* scene, const char* name, int drive, ct_error* error) {
    CT_NEED(error, scene);
    return add_drive_control(scene, name, CT_CONTROL_DRIVE, drive, error);
}

ct_status ct_scene_add_joint_control(ct_scene* scene, const char* name, ct_control_kind kind, int link,
                                     ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    if (kind != CT_CONTROL_TORQUE && kind != CT_CONTROL_TARGET)
        return ct_scene_fail(error, "kind", "must be a joint's torque or servo target");
    if (link < 0 || link >= scene->nlink)
        return ct_scene_fail(error, "link", "is %d: the scene has %d links", link, scene->nlink);
    const ct_joint_def* joint = &scene->link[link].joint;
    const ct_joint_type* type = ct_joint_type_of(joint->kind);
    if (!type->law)
        return ct_scene_fail(
            error, "link",
            "\"%s\" has a joint that takes no %s: torques and targets are for joints that hold their link "
            "in place",
            scene->link[link].name, kind == CT_CONTROL_TORQUE ? "torque" : "target");
    if (kind == CT_CONTROL_TARGET && !(joint->servo_stiffness > 0))
        return ct_scene_fail(error, "link", "\"%s\" has no servo: give its joint a servo stiffness",
                             scene->link[link].name);
    return add_control(
        scene, name, (ct_scene_control){.kind = kind, .size = type->ndof, .drive = -1, .link = link}, error);
}

static ct_status add_root_control(ct_scene* scene, const char* name, ct_control_kind kind, int link,
                                  ct_error* error) {
    ct_error_clear(error);
    if (link < 0 || link >= scene->nlink)
        return ct_scene_fail(error, "link", "is %d: the scene has %d links", link, scene->nlink);
    ct_scene_link* root = &scene->link[link];
    if (root->parent >= 0)
        return ct_scene_fail(error, "link",
                             "\"%s\" is not a root: only a link attached to the world can be driven",
                             root->name);
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
    CT_NEED(error, scene);
    return add_root_control(scene, name, CT_CONTROL_DRIVE, link, error);
}

ct_status ct_scene_add_move_control(ct_scene* scene, const char* name, int drive, int link, ct_error* error) {
    CT_NEED(error, scene);
    return drive >= 0 || link < 0 ? add_drive_control(scene, name, CT_CONTROL_MOVE, drive, error)
                                  : add_root_control(scene, name, CT_CONTROL_MOVE, link, error);
}

ct_status ct_scene_add_actuator_control(ct_scene* scene, const char* name, int actuator, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    if (actuator < 0 || actuator >= scene->nactuator)
        return ct_scene_fail(error, "actuator", "is %d: the scene has %d actuators", actuator,
                             scene->nactuator);
    const ct_scene_actuator* a = &scene->actuator[actuator];
    ct_control_kind kind = a->control;
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

ct_status ct_scene_name_control(const ct_scene* scene, const char* name, int* control, ct_error* error) {
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

// -------------------------------------------------------------------------------------------------
// Values along time

static ct_status check_table(const double* time, const double* values, int count, int size, bool repeat,
                             ct_error* error) {
    if (count < 1 || !values || (count > 1 && !time))
        return ct_scene_fail(error, "values", "is empty: give a value, or keys along time");
    for (int i = 0; i < count; i++) {
        if (time && !isfinite(time[i]))
            return ct_scene_fail(error, "values", "has a time that is not finite in row %d", i);
        if (i && !(time[i] > time[i - 1]))
            return ct_scene_fail(
                error, "values",
                "has time %g in row %d, not after %g of the row before it: rows must be in order of time",
                time[i], i, time[i - 1]);
        for (int k = 0; k < size; k++)
            if (!isfinite(values[(size_t)i * (size_t)size + (size_t)k]))
                return ct_scene_fail(error, "values", "has a number that is not finite in row %d", i);
    }
    for (int k = 0; repeat && k < size; k++)
        if (values[k] != values[(size_t)(count - 1) * (size_t)size + (size_t)k])
            return ct_scene_fail(error, "repeat",
                                 "needs a last row that equals the first, where the motion starts over");
    if (repeat && count < 2) return ct_scene_fail(error, "repeat", "needs two rows at least");
    return CT_OK;
}

ct_status ct_scene_set_control_values(ct_scene* scene, const char* name, const double* time,
                                      const double* values, int count, bool repeat, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    int index = name ? ct_scene_find_control(scene, name) : -1;
    if (index < 0)
        return ct_scene_fail(error, "name", "is \"%.60s\": there is no control of that name",
                             name ? name : "");
    ct_scene_control* control = &scene->control[index];
    ct_status status = check_table(time, values, count, control->size, repeat, error);
    if (status) return status;
    const double start = 0;
    double* times = ct_arena_copy(&scene->arena, time ? time : &start, (size_t)count, sizeof *times);
    double* table =
        ct_arena_copy(&scene->arena, values, (size_t)count * (size_t)control->size, sizeof *table);
    if (!times || !table) return ct_scene_out_of_memory(error);
    control->time = times;
    control->value = table;
    control->nvalue = count;
    control->repeat = repeat;
    return CT_OK;
}
