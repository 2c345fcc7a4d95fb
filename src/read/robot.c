// Robots into scenes: what the two formats have in common; see robot.h.
#include "read/robot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/quat.h"
#include "read/read.h"
#include "scene/scene.h"
#include "shape/mass.h"
#include "text/scan.h"

// -------------------------------------------------------------------------------------------------
// Reading

void ct_robot_fail(ct_robot_reader* reader, const ct_xml* element, const char* format, ...) {
    if (reader->status) return;
    char rest[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rest, sizeof rest, format, arguments);
    va_end(arguments);
    const char* name = ct_xml_get(element, "name");
    if (name)
        reader->status = ct_xml_fail(&reader->document, element, reader->error, "\"%.60s\" %s", name, rest);
    else reader->status = ct_xml_fail(&reader->document, element, reader->error, "%s", rest);
}

void ct_robot_out_of_memory(ct_robot_reader* reader) {
    if (!reader->status) reader->status = ct_fail(reader->error, CT_OUT_OF_MEMORY, "out of memory");
}

int ct_robot_numbers(ct_robot_reader* reader, const ct_xml* element, const char* attribute, const char* text,
                     int least, int most, double* out) {
    if (!text || reader->status) return 0;
    ct_scan scan = ct_scan_begin(text, strlen(text), "", NULL);
    int count = 0;
    ct_word word;
    while (ct_scan_word(&scan, &word)) {
        double value;
        if (!ct_word_real(word, &value)) {
            ct_robot_fail(reader, element, "has %s=\"%.60s\": \"%.*s\" is not a finite number", attribute,
                          text, (int)fmin(40, (double)word.size), word.text);
            return 0;
        }
        if (count < most) out[count] = value;
        count++;
    }
    if (count >= least && count <= most) return count;
    if (least == most)
        ct_robot_fail(reader, element, "has %d numbers in %s=\"%.60s\": it takes %d", count, attribute, text,
                      most);
    else
        ct_robot_fail(reader, element, "has %d numbers in %s=\"%.60s\": it takes %d to %d", count, attribute,
                      text, least, most);
    return 0;
}

static bool is_in(const char* word, const char* const* words) {
    for (; *words; words++)
        if (!strcmp(word, *words)) return true;
    return false;
}

void ct_robot_check_children(ct_robot_reader* reader, const ct_xml* element, const char* const* known) {
    for (const ct_xml* child = element->child; child && !reader->status; child = child->next)
        if (!is_in(child->name, known))
            ct_robot_fail(reader, child, "is not supported inside <%.40s>: remove it from the file",
                          element->name);
}

static const char* keep_text(ct_robot_reader* reader, const char* text) {
    if (!text || !text[0]) return NULL;
    const char* copy = ct_arena_copy(&reader->robot->arena, text, strlen(text) + 1, 1);
    if (!copy) ct_robot_out_of_memory(reader);
    return copy;
}

int ct_robot_new_link(ct_robot_reader* reader, const ct_xml* element, const ct_robot_link* link) {
    ct_robot* robot = reader->robot;
    if (reader->status) return -1;
    if (link->name && ct_robot_find_link(robot, link->name) >= 0)
        ct_robot_fail(reader, element, "makes a second link \"%.60s\": give each link its own name",
                      link->name);
    if (!ct_reserve((void**)&robot->link, &robot->link_capacity, (size_t)robot->nlink + 1, sizeof *link))
        ct_robot_out_of_memory(reader);
    if (reader->status) return -1;
    ct_robot_link* kept = &robot->link[robot->nlink];
    *kept = *link;
    kept->name = keep_text(reader, link->name);
    kept->joint_name = keep_text(reader, link->joint_name);
    kept->line = element->line;
    return reader->status ? -1 : robot->nlink++;
}

void ct_robot_new_control(ct_robot_reader* reader, const ct_xml* element, const char* name,
                          ct_control_kind kind, int link) {
    ct_robot* robot = reader->robot;
    if (reader->status) return;
    if (!ct_reserve((void**)&robot->control, &robot->control_capacity, (size_t)robot->ncontrol + 1,
                    sizeof *robot->control)) {
        ct_robot_out_of_memory(reader);
        return;
    }
    ct_robot_control control = {
        .name = keep_text(reader, name), .kind = kind, .link = link, .line = element->line};
    if (!reader->status) robot->control[robot->ncontrol++] = control;
}

void ct_robot_new_eyelet(ct_robot_reader* reader, ct_robot_cable* cable, int link, const double point[3]) {
    // in the arena: room doubles
    if (reader->status) return;
    if ((cable->count & (cable->count - 1)) == 0) {
        ct_robot_eyelet* room =
            ct_arena_alloc(&reader->robot->arena, cable->count ? 2 * (size_t)cable->count : 1, sizeof *room);
        if (!room) {
            ct_robot_out_of_memory(reader);
            return;
        }
        if (cable->count) memcpy(room, cable->eyelet, (size_t)cable->count * sizeof *room);
        cable->eyelet = room;
    }
    cable->eyelet[cable->count++] = (ct_robot_eyelet){link, {point[0], point[1], point[2]}};
}

void ct_robot_new_cable(ct_robot_reader* reader, const ct_xml* element, const ct_robot_cable* cable) {
    ct_robot* robot = reader->robot;
    if (reader->status) return;
    if (!ct_reserve((void**)&robot->cable, &robot->cable_capacity, (size_t)robot->ncable + 1,
                    sizeof *cable)) {
        ct_robot_out_of_memory(reader);
        return;
    }
    ct_robot_cable* kept = &robot->cable[robot->ncable];
    *kept = *cable;
    kept->name = keep_text(reader, cable->name);
    kept->line = element->line;
    if (!reader->status) robot->ncable++;
}

void ct_robot_set_mass(ct_robot_link* link, ct_robot_pose pose, double mass, const double center[3],
                       const double inertia[6]) {
    link->mass = mass;
    ct_vec3_store(link->center, ct_vec3_add(ct_mat3_apply(pose.R, ct_vec3_load(center)), pose.t));
    ct_inertia_rotate(pose.R, inertia, link->inertia);
}

void ct_robot_free(ct_robot* robot) {
    ct_arena_free(&robot->arena);
    ct_free(robot->file);
    ct_free(robot->link);
    ct_free(robot->control);
    ct_free(robot->cable);
    *robot = (ct_robot){0};
}

int ct_robot_find_link(const ct_robot* robot, const char* name) {
    for (int k = 0; k < robot->nlink; k++)
        if (robot->link[k].name && !strcmp(robot->link[k].name, name)) return k;
    return -1;
}

// -------------------------------------------------------------------------------------------------
// Placing and adding

static void place_point(ct_mat3 R, double scale, const double translate[3], double x[3]) {
    ct_vec3_store(x, ct_vec3_axpy(ct_vec3_load(translate), scale, ct_mat3_apply(R, ct_vec3_load(x))));
}

void ct_robot_place(ct_robot* robot, const double translate[3], const double rotate[4], double scale) {
    ct_mat3 R = ct_quat_matrix(ct_quat_normalise(ct_quat_load(rotate)));
    for (int k = 0; k < robot->nlink; k++) {
        ct_robot_link* link = &robot->link[k];
        double turned[6];
        place_point(R, scale, translate, link->joint.anchor);
        place_point(R, scale, translate, link->center);
        ct_vec3_store(link->joint.axis, ct_mat3_apply(R, ct_vec3_load(link->joint.axis)));
        ct_inertia_rotate(R, link->inertia, turned);
        for (int i = 0; i < 6; i++) link->inertia[i] = turned[i] * pow(scale, 5);
        link->mass *= pow(scale, 3);
        link->joint.armature *= pow(scale, link->joint.kind == CT_JOINT_PRISMATIC ? 3 : 5);
        if (link->joint.kind != CT_JOINT_PRISMATIC) continue;
        link->joint.lower *= scale, link->joint.upper *= scale, link->joint.rest *= scale,
            link->joint.target *= scale;
    }
    for (int k = 0; k < robot->ncable; k++) {
        robot->cable[k].length *= scale;
        for (int i = 0; i < robot->cable[k].count; i++)
            place_point(R, scale, translate, robot->cable[k].eyelet[i].point);
    }
}

// Files have hard limits; here a joint may pass one by about 0.01 rad (0.01 of the reach) under the weight of
// what it carries.
static double limit_stiffness(const ct_robot* robot, int k) {
    double weight = 0, moment = 0;
    for (int j = k; j < robot->nlink; j++) {
        int at = j;
        while (at > k) at = robot->link[at].parent;
        if (at != k) continue;
        ct_vec3 arm =
            ct_vec3_sub(ct_vec3_load(robot->link[j].center), ct_vec3_load(robot->link[k].joint.anchor));
        weight += 9.81 * robot->link[j].mass;
        moment += 9.81 * robot->link[j].mass * ct_vec3_norm(arm);
    }
    if (weight == 0) return 0;
    double reach = moment > 0 ? moment / weight : 1;
    return robot->link[k].joint.kind == CT_JOINT_PRISMATIC ? weight / (reach * reach) * 1e4
                                                           : weight * reach * 1e4;
}

// The name in the scene: the robot's own, or "prefix.name" where the scene has that already.
static const char* scene_name(const char* name, const char* prefix, bool taken, char buffer[256]) {
    if (!name || !prefix || !taken) return name;
    snprintf(buffer, 256, "%s.%s", prefix, name);
    return buffer;
}

// Says where in the file what the scene refuses stands.
static ct_status refuse(const ct_robot* robot, ct_status status, int line, const char* what, const char* name,
                        ct_error* error) {
    char reason[sizeof((ct_error*)0)->message];
    if (status == CT_OUT_OF_MEMORY) return status;
    snprintf(reason, sizeof reason, "%s", error ? error->message : "");
    return ct_fail_at(error, status, robot->file, line, "%s \"%.60s\": %.400s", what, name ? name : "",
                      reason);
}

static ct_status add_links(ct_scene* scene, const ct_robot* robot, const char* prefix, ct_error* error) {
    int first = scene->nlink;
    for (int k = 0; k < robot->nlink; k++) {
        const ct_robot_link* link = &robot->link[k];
        char name[256];
        bool taken = link->name && ct_scene_find_link(scene, link->name) >= 0;
        ct_link_def def = {.name = scene_name(link->name, prefix, taken, name),
                           .parent = link->parent < 0 ? -1 : first + link->parent,
                           .joint = link->joint,
                           .nodes = link->nodes,
                           .count = link->count,
                           .mass = link->mass};
        memcpy(def.center, link->center, sizeof def.center);
        memcpy(def.inertia, link->inertia, sizeof def.inertia);
        bool limited = isfinite(link->joint.lower) || isfinite(link->joint.upper);
        if (limited && link->joint.limit_stiffness == 0)
            def.joint.limit_stiffness = limit_stiffness(robot, k);
        ct_status status = ct_scene_add_link(scene, &def, NULL, error);
        if (!status) continue;
        return refuse(robot, status, link->line, "link", link->name, error);
    }
    return CT_OK;
}

static ct_status add_cable(ct_scene* scene, const ct_robot* robot, const ct_robot_cable* cable,
                           const char* prefix, int first, ct_error* error) {
    ct_eyelet_def* eyelet = ct_alloc((size_t)cable->count, sizeof *eyelet);
    if (!eyelet) return ct_fail(error, CT_OUT_OF_MEMORY, "out of memory");
    for (int i = 0; i < cable->count; i++) {
        const ct_robot_eyelet* at = &cable->eyelet[i];
        eyelet[i] = (ct_eyelet_def){.seat = at->link < 0 ? CT_EYELET_WORLD : CT_EYELET_LINK,
                                    .index = at->link < 0 ? 0 : first + at->link};
        memcpy(eyelet[i].point, at->point, sizeof at->point);
    }
    char name[256];
    bool taken = cable->name && ct_scene_find_actuator(scene, cable->name) >= 0;
    ct_cable_def def = ct_cable_def_default();
    def.name = scene_name(cable->name, prefix, taken, name);
    def.eyelets = eyelet, def.count = cable->count;
    if (cable->held) def.hold = CT_CABLE_LENGTH, def.length = cable->length, def.stiffness = cable->stiffness;
    ct_status status = ct_scene_add_cable(scene, &def, NULL, error);
    ct_free(eyelet);
    return status ? refuse(robot, status, cable->line, "tendon", cable->name, error) : CT_OK;
}

static ct_status add_controls(ct_scene* scene, const ct_robot* robot, const char* prefix, int first,
                              int first_cable, ct_error* error) {
    for (int i = 0; i < robot->ncontrol; i++) {
        const ct_robot_control* control = &robot->control[i];
        char name[256];
        bool taken = ct_scene_find_control(scene, control->name) >= 0;
        const char* own = scene_name(control->name, prefix, taken, name);
        ct_status status =
            control->kind == CT_CONTROL_TENSION
                ? ct_scene_add_actuator_control(scene, own, first_cable + control->link, error)
                : ct_scene_add_joint_control(scene, own, control->kind, first + control->link, error);
        if (status) return refuse(robot, status, control->line, "actuator", control->name, error);
    }
    return CT_OK;
}

ct_status ct_robot_add(ct_scene* scene, const ct_robot* robot, const char* prefix, ct_error* error) {
    int nlink = scene->nlink, ncontrol = scene->ncontrol, nactuator = scene->nactuator;
    ct_status status = add_links(scene, robot, prefix, error);
    for (int k = 0; k < robot->ncable && !status; k++)
        status = add_cable(scene, robot, &robot->cable[k], prefix, nlink, error);
    if (!status) status = add_controls(scene, robot, prefix, nlink, nactuator, error);
    if (!status) return CT_OK;
    scene->nactuator = nactuator;
    scene->nlink = nlink;
    scene->ncontrol = ncontrol;
    return status;
}
