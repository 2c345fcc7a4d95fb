// Reading MJCF, the format of MuJoCo: <worldbody> as a tree of bodies with joints, inertials and geoms;
// <compiler> and <default>. Included and replicated parts are put in their places first (mjcf_expand.c);
// actuators and tendons come last (mjcf_actuator.c).
//
// A body's frame is its parent's frame times its own pos and orientation. Several joints of a body act one
// after the other, each about its axis in the body's frame: all but the last become links without mass. A
// joint's coordinate counts from its rest pose, that is from `ref`. Where a body has no <inertial>, its geoms
// give the mass. What has no part in the motion of the links (pictures, contacts, sensors, MuJoCo's own
// options) is passed over; all else is refused by name.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/quat.h"
#include "read/mjcf.h"

// -------------------------------------------------------------------------------------------------
// Joints

static ct_joint_kind joint_kind(ct_mjcf* m, const ct_xml* joint) {
    static const char* const words[] = {"hinge", "slide", "ball", "free"};
    static const ct_joint_kind kinds[] = {CT_JOINT_REVOLUTE, CT_JOINT_PRISMATIC, CT_JOINT_BALL,
                                          CT_JOINT_FREE};
    if (!strcmp(joint->name, "freejoint")) return CT_JOINT_FREE;
    const char* type = ct_mjcf_get(m, joint, "type");
    for (int i = 0; type && i < 4; i++)
        if (!strcmp(type, words[i])) return kinds[i];
    if (type)
        ct_robot_fail(m->reader, joint, "has the type \"%.40s\": it must be hinge, slide, ball or free",
                      type);
    return CT_JOINT_REVOLUTE;
}

static bool is_limited(ct_mjcf* m, const ct_xml* joint) {
    const char *limited = ct_mjcf_get(m, joint, "limited"), *range = ct_mjcf_get(m, joint, "range");
    if (limited && strcmp(limited, "auto")) {
        if (!range && !strcmp(limited, "true"))
            ct_robot_fail(m->reader, joint, "is limited but has no range");
        return !strcmp(limited, "true");
    }
    if (range && !m->autolimits)
        ct_robot_fail(m->reader, joint,
                      "has a range while autolimits is off: say limited=\"true\" or \"false\"");
    return range != NULL;
}

static void read_axial(ct_mjcf* m, const ct_xml* joint, ct_robot_pose pose, ct_joint_def* def) {
    double axis[3] = {0, 0, 1}, ref = 0, rest = 0, range[2];
    double unit = def->kind == CT_JOINT_REVOLUTE ? m->angle : 1;
    ct_mjcf_numbers(m, joint, "axis", 3, 3, axis);
    ct_vec3_store(def->axis, ct_mat3_apply(pose.R, ct_vec3_load(axis)));
    ct_mjcf_numbers(m, joint, "ref", 1, 1, &ref);
    ct_mjcf_numbers(m, joint, "springref", 1, 1, &rest);
    ct_mjcf_numbers(m, joint, "stiffness", 1, 1, &def->stiffness);
    ct_mjcf_numbers(m, joint, "damping", 1, 1, &def->damping);
    ct_mjcf_numbers(m, joint, "armature", 1, 1, &def->armature);
    if (def->armature < 0) ct_robot_fail(m->reader, joint, "has a negative armature");
    def->rest = unit * (rest - ref);
    def->target = -unit * ref;
    if (!is_limited(m, joint)) return;
    if (ct_mjcf_numbers(m, joint, "range", 2, 2, range) != 2) return;
    def->lower = unit * (range[0] - ref);
    def->upper = unit * (range[1] - ref);
}

static void read_joint(ct_mjcf* m, const ct_xml* joint, ct_robot_pose pose, ct_joint_def* def) {
    double pos[3] = {0};
    ct_mjcf_check(m, joint);
    *def = ct_joint_def_default();
    def->kind = joint_kind(m, joint);
    if (def->kind != CT_JOINT_FREE) ct_mjcf_numbers(m, joint, "pos", 3, 3, pos);
    ct_vec3_store(def->anchor, ct_vec3_add(ct_mat3_apply(pose.R, ct_vec3_load(pos)), pose.t));
    if (!strcmp(joint->name, "freejoint")) return;
    ct_mjcf_refuse(m, joint, (const char* const[]){"frictionloss", NULL});
    if (def->kind == CT_JOINT_REVOLUTE || def->kind == CT_JOINT_PRISMATIC) {
        read_axial(m, joint, pose, def);
        return;
    }
    ct_mjcf_refuse(m, joint, (const char* const[]){"armature", NULL});
    if (def->kind == CT_JOINT_FREE)
        ct_mjcf_refuse(m, joint, (const char* const[]){"stiffness", "damping", NULL});
    else {
        ct_mjcf_numbers(m, joint, "stiffness", 1, 1, &def->stiffness);
        ct_mjcf_numbers(m, joint, "damping", 1, 1, &def->damping);
    }
    double range[2];
    if (def->kind != CT_JOINT_BALL || !is_limited(m, joint)) return;
    if (ct_mjcf_numbers(m, joint, "range", 2, 2, range) != 2) return;
    def->lower = m->angle * range[0];
    def->upper = m->angle * range[1];
}

static bool is_joint(const ct_xml* element) {
    return !strcmp(element->name, "joint") || !strcmp(element->name, "freejoint");
}

// Adds links without mass for all joints but the last, whose link is left in `link`. Returns the joints.
static int add_joints(ct_mjcf* m, const ct_xml* body, ct_robot_pose pose, int count, ct_robot_link* link) {
    for (const ct_xml* joint = body->child; joint && !m->reader->status; joint = joint->next) {
        if (!strcmp(joint->name, "frame"))
            count = add_joints(m, joint, ct_robot_pose_compose(pose, ct_mjcf_pose(m, joint)), count, link);
        if (!is_joint(joint)) continue;
        if (count++) {
            char name[160];
            ct_robot_link between = *link;
            const char* own = between.joint_name;
            snprintf(name, sizeof name, "%.60s.%.60s", link->name ? link->name : "body", own ? own : "joint");
            between.name = link->name || own ? name : NULL;
            link->parent = ct_robot_new_link(m->reader, joint, &between);
        }
        read_joint(m, joint, pose, &link->joint);
        link->joint_name = ct_xml_get(joint, "name");
        link->force_limited = ct_mjcf_has_range(m, joint, "actuatorfrcrange", "actuatorfrclimited");
    }
    return count;
}

// -------------------------------------------------------------------------------------------------
// Bodies

static void read_inertial(ct_mjcf* m, const ct_xml* inertial, ct_robot_pose body, ct_robot_link* link) {
    double mass = 0, J[6] = {0};
    const double center[3] = {0};
    ct_mjcf_check(m, inertial);
    bool diagonal = ct_robot_numbers(m->reader, inertial, "diaginertia", ct_xml_get(inertial, "diaginertia"),
                                     3, 3, J) > 0;
    bool full = ct_robot_numbers(m->reader, inertial, "fullinertia", ct_xml_get(inertial, "fullinertia"), 6,
                                 6, J) > 0;
    if (!ct_robot_numbers(m->reader, inertial, "mass", ct_xml_get(inertial, "mass"), 1, 1, &mass))
        ct_robot_fail(m->reader, inertial, "lacks its mass");
    if (mass < 0) ct_robot_fail(m->reader, inertial, "has the mass %g: it must not be negative", mass);
    if (diagonal == full) ct_robot_fail(m->reader, inertial, "needs either diaginertia or fullinertia");
    ct_robot_set_mass(link, ct_robot_pose_compose(body, ct_mjcf_pose(m, inertial)), mass, center, J);
}

static void read_mass(ct_mjcf* m, const ct_xml* body, ct_robot_pose pose, ct_robot_link* link) {
    const ct_xml* inertial = ct_xml_child(body, "inertial");
    if (m->from_geom == CT_MJCF_ALWAYS) inertial = NULL;
    if (inertial) {
        read_inertial(m, inertial, pose, link);
        return;
    }
    double mass = 0, center[3] = {0}, J[6] = {0};
    if (m->from_geom != CT_MJCF_NEVER) ct_mjcf_geoms(m, body, &mass, center, J);
    ct_robot_set_mass(link, pose, mass, center, J);
}

static const char* const body_children[] = {"body", "inertial", "joint", "freejoint", "geom",
                                            "site", "camera",   "light", "frame",     NULL};

static void add_sites(ct_mjcf* m, const ct_xml* body, ct_robot_pose pose, int link) {
    for (const ct_xml* at = body->child; at && !m->reader->status; at = at->next) {
        if (!strcmp(at->name, "frame"))
            add_sites(m, at, ct_robot_pose_compose(pose, ct_mjcf_pose(m, at)), link);
        if (strcmp(at->name, "site") || !ct_xml_get(at, "name")) continue;
        double pos[3] = {0}, ends[6];
        ct_mjcf_numbers(m, at, "pos", 3, 3, pos);
        if (ct_mjcf_numbers(m, at, "fromto", 6, 6, ends))
            for (int i = 0; i < 3; i++) pos[i] = (ends[i] + ends[i + 3]) / 2;
        ct_mjcf_site* site = ct_arena_alloc(&m->reader->document.arena, 1, sizeof *site);
        if (!site) {
            ct_robot_out_of_memory(m->reader);
            return;
        }
        *site = (ct_mjcf_site){.name = ct_xml_get(at, "name"), .link = link, .next = m->site};
        ct_vec3_store(site->point, ct_vec3_add(ct_mat3_apply(pose.R, ct_vec3_load(pos)), pose.t));
        m->site = site;
    }
}

// What is in frames is as if it were outside, but for its pose.
static void check_parts(ct_mjcf* m, const ct_xml* body) {
    ct_robot_check_children(m->reader, body, body_children);
    for (const ct_xml* at = body->child; at && !m->reader->status; at = at->next) {
        if (!strcmp(at->name, "geom")) ct_mjcf_check(m, at);
        if (strcmp(at->name, "frame")) continue;
        ct_mjcf_check(m, at);
        check_parts(m, at);
    }
}

static void add_bodies(ct_mjcf* m, const ct_xml* parent_element, ct_robot_pose parent_pose, int parent);

static void add_body(ct_mjcf* m, const ct_xml* body, ct_robot_pose pose, int parent) {
    ct_robot_link link = {
        .name = ct_xml_get(body, "name"), .parent = parent, .joint = ct_joint_def_default()};
    ct_mjcf_check(m, body);
    check_parts(m, body);
    ct_mjcf_refuse(m, body, (const char* const[]){"mocap", "gravcomp", NULL});
    link.joint.kind = CT_JOINT_FIXED;
    ct_vec3_store(link.joint.anchor, pose.t);
    add_joints(m, body, pose, 0, &link);
    read_mass(m, body, pose, &link);
    int index = ct_robot_new_link(m->reader, body, &link);
    if (index < 0) return;
    add_sites(m, body, pose, index);
    add_bodies(m, body, pose, index);
}

static void add_bodies(ct_mjcf* m, const ct_xml* parent_element, ct_robot_pose parent_pose, int parent) {
    for (const ct_xml* at = parent_element->child; at && !m->reader->status; at = at->next) {
        const bool body = !strcmp(at->name, "body"), frame = !strcmp(at->name, "frame");
        if (!body && !frame) continue;
        const ct_robot_pose pose = ct_robot_pose_compose(parent_pose, ct_mjcf_pose(m, at));
        if (body) add_body(m, at, pose, parent);
        else add_bodies(m, at, pose, parent);
    }
}

// -------------------------------------------------------------------------------------------------
// Settings, the file

static bool compiler_choice(ct_mjcf* m, const ct_xml* compiler, const char* attribute, const char* a,
                            const char* b, bool otherwise) {
    const char* value = ct_xml_get(compiler, attribute);
    if (!value) return otherwise;
    if (strcmp(value, a) && strcmp(value, b))
        ct_robot_fail(m->reader, compiler, "has %s=\"%.40s\": supported are \"%s\" and \"%s\"", attribute,
                      value, a, b);
    return !strcmp(value, a);
}

static void read_compiler(ct_mjcf* m, const ct_xml* compiler) {
    ct_mjcf_check(m, compiler);
    ct_mjcf_refuse(m, compiler, (const char* const[]){"balanceinertia", "boundmass", "boundinertia", NULL});
    ct_mjcf_numbers(m, compiler, "inertiagrouprange", 2, 2, m->group);
    ct_mjcf_numbers(m, compiler, "settotalmass", 1, 1, &m->total_mass);
    bool degrees = compiler_choice(m, compiler, "angle", "degree", "radian", m->angle != 1);
    m->angle = degrees ? M_PI / 180 : 1;
    compiler_choice(m, compiler, "coordinate", "local", "local", true);
    m->autolimits = compiler_choice(m, compiler, "autolimits", "true", "false", m->autolimits);
    const char *from = ct_xml_get(compiler, "inertiafromgeom"), *order = ct_xml_get(compiler, "eulerseq");
    if (from && strcmp(from, "auto")) {
        bool always = compiler_choice(m, compiler, "inertiafromgeom", "true", "false", false);
        m->from_geom = always ? CT_MJCF_ALWAYS : CT_MJCF_NEVER;
    }
    const char *assets = ct_xml_get(compiler, "assetdir"), *meshes = ct_xml_get(compiler, "meshdir");
    if (meshes || (assets && !m->meshdir)) m->meshdir = meshes ? meshes : assets;
    m->strippath = compiler_choice(m, compiler, "strippath", "true", "false", m->strippath);
    if (!order) return;
    if (strlen(order) != 3 || strspn(order, "xyzXYZ") != 3)
        ct_robot_fail(m->reader, compiler,
                      "has eulerseq=\"%.20s\": it must be three of the letters x y z X Y Z", order);
    else memcpy(m->euler, order, 3);
}

// A fluid around the links, and parts of the physics switched off, change their motion: gravity is the
// scene's.
static void read_option(ct_mjcf* m, const ct_xml* option) {
    static const char* const needed[] = {"gravity",   "passive", "spring", "damper",
                                         "actuation", "limit",   NULL};
    double wind[3] = {0};
    ct_mjcf_refuse(m, option, (const char* const[]){"density", "viscosity", NULL});
    ct_robot_numbers(m->reader, option, "wind", ct_xml_get(option, "wind"), 3, 3, wind);
    if (wind[0] != 0 || wind[1] != 0 || wind[2] != 0)
        ct_robot_fail(m->reader, option, "has a wind, which is not supported: remove it or set it to 0");
    for (const ct_xml* flag = ct_xml_child(option, "flag"); flag; flag = ct_xml_next(flag, "flag"))
        for (int i = 0; needed[i] && !m->reader->status; i++) {
            const char* value = ct_xml_get(flag, needed[i]);
            if (value && !strcmp(value, "disable"))
                ct_robot_fail(m->reader, flag,
                              "disables %s, which the links would have here: remove it and set the scene's "
                              "own gravity or the joints' values to 0",
                              needed[i]);
        }
}

static void check_defaults(ct_mjcf* m, const ct_xml* element) {
    for (const ct_xml* child = element->child; child && !m->reader->status; child = child->next) {
        if (!strcmp(child->name, "default")) check_defaults(m, child);
        else ct_mjcf_check(m, child);
    }
}

static void read_world(ct_mjcf* m, const ct_xml* part) {
    const ct_robot_pose none = {ct_mat3_identity(), {0, 0, 0}};
    check_parts(m, part);
    add_sites(m, part, none, -1);
    add_bodies(m, part, none, -1);
}

static void scale_masses(ct_mjcf* m) {
    ct_robot* robot = m->reader->robot;
    double sum = 0;
    for (int k = 0; k < robot->nlink; k++) sum += robot->link[k].mass;
    if (!(m->total_mass > 0 && sum > 0)) return;
    for (int k = 0; k < robot->nlink; k++) {
        robot->link[k].mass *= m->total_mass / sum;
        for (int i = 0; i < 6; i++) robot->link[k].inertia[i] *= m->total_mass / sum;
    }
}

// Hands every part of that name to `read`.
static void each(ct_mjcf* m, const char* name, void (*read)(ct_mjcf*, const ct_xml*)) {
    for (const ct_xml* part = ct_xml_child(m->root, name); part && !m->reader->status;
         part = ct_xml_next(part, name))
        read(m, part);
}

void ct_mjcf_read(ct_robot_reader* reader, ct_xml* root) {
    static const char* const parts[] = {"compiler", "default",  "worldbody", "actuator", "option",
                                        "size",     "visual",   "statistic", "asset",    "contact",
                                        "sensor",   "keyframe", "custom",    "tendon",   NULL};
    ct_mjcf m = {.reader = reader,
                 .root = root,
                 .angle = M_PI / 180,
                 .euler = "xyz",
                 .autolimits = true,
                 .group = {-INFINITY, INFINITY}};
    ct_mjcf_include(reader, root);
    ct_robot_check_children(reader, root, parts);
    each(&m, "compiler", read_compiler);
    each(&m, "option", read_option);
    ct_mjcf_replicate(&m, root);
    each(&m, "default", check_defaults);
    each(&m, "worldbody", read_world);
    scale_masses(&m);
    each(&m, "tendon", ct_mjcf_tendons);
    each(&m, "actuator", ct_mjcf_actuators);
}
