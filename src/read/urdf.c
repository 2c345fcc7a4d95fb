// Reading URDF: <robot> with <link> and <joint> elements, which form one tree. The root link is fixed to the
// world.
//
// A child's frame is its parent's frame times the joint's origin (rpy: rotations about the fixed axes x, y, z
// in that order); axis and inertial origin are in the child's frame. Pictures and collision shapes carry no
// mass and are passed over.
#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "read/robot.h"

static ct_robot_pose read_origin(ct_robot_reader* reader, const ct_xml* owner) {
    ct_robot_pose pose = {ct_mat3_identity(), {0, 0, 0}};
    const ct_xml* origin = ct_xml_child(owner, "origin");
    if (!origin) return pose;
    double xyz[3] = {0}, rpy[3] = {0};
    ct_robot_numbers(reader, origin, "xyz", ct_xml_get(origin, "xyz"), 3, 3, xyz);
    ct_robot_numbers(reader, origin, "rpy", ct_xml_get(origin, "rpy"), 3, 3, rpy);
    ct_quat roll = ct_quat_from_vector((ct_vec3){rpy[0], 0, 0}),
            pitch = ct_quat_from_vector((ct_vec3){0, rpy[1], 0});
    ct_quat yaw = ct_quat_from_vector((ct_vec3){0, 0, rpy[2]});
    pose.R = ct_quat_matrix(ct_quat_multiply(yaw, ct_quat_multiply(pitch, roll)));
    pose.t = ct_vec3_load(xyz);
    return pose;
}

// A number that must be there.
static void read_number(ct_robot_reader* reader, const ct_xml* element, const char* attribute, double* out) {
    const char* text = ct_xml_get(element, attribute);
    if (!text) ct_robot_fail(reader, element, "lacks the attribute %s", attribute);
    ct_robot_numbers(reader, element, attribute, text, 1, 1, out);
}

static void read_inertial(ct_robot_reader* reader, const ct_xml* body, ct_robot_pose pose,
                          ct_robot_link* link) {
    static const char* const moment[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    const ct_xml* inertial = ct_xml_child(body, "inertial");
    if (!inertial) return;
    const ct_xml *mass = ct_xml_child(inertial, "mass"), *inertia = ct_xml_child(inertial, "inertia");
    if (!mass || !inertia) {
        ct_robot_fail(reader, inertial, "needs a <mass> and an <inertia>");
        return;
    }
    double value = 0, J[6] = {0};
    const double center[3] = {0};
    read_number(reader, mass, "value", &value);
    for (int i = 0; i < 6; i++) read_number(reader, inertia, moment[i], &J[i]);
    if (value < 0) ct_robot_fail(reader, mass, "is %g: a mass must not be negative", value);
    ct_robot_set_mass(link, ct_robot_pose_compose(pose, read_origin(reader, inertial)), value, center, J);
}

static ct_joint_kind read_kind(ct_robot_reader* reader, const ct_xml* joint) {
    static const struct {
        const char* name;
        ct_joint_kind kind;
    } kinds[] = {{"revolute", CT_JOINT_REVOLUTE},
                 {"continuous", CT_JOINT_REVOLUTE},
                 {"prismatic", CT_JOINT_PRISMATIC},
                 {"fixed", CT_JOINT_FIXED},
                 {"floating", CT_JOINT_FREE}};
    const char* type = ct_xml_get(joint, "type");
    for (int i = 0; type && i < 5; i++)
        if (!strcmp(type, kinds[i].name)) return kinds[i].kind;
    ct_robot_fail(reader, joint,
                  "has the type \"%.40s\": supported are revolute, continuous, prismatic, fixed and floating",
                  type ? type : "");
    return CT_JOINT_FIXED;
}

static void read_limit(ct_robot_reader* reader, const ct_xml* joint, ct_joint_def* def) {
    const char* type = ct_xml_get(joint, "type");
    const ct_xml* limit = ct_xml_child(joint, "limit");
    if (!strcmp(type, "continuous")) return;
    if (!limit) {
        ct_robot_fail(reader, joint, "is %.40s but has no <limit>", type);
        return;
    }
    def->lower = def->upper = 0;
    ct_robot_numbers(reader, limit, "lower", ct_xml_get(limit, "lower"), 1, 1, &def->lower);
    ct_robot_numbers(reader, limit, "upper", ct_xml_get(limit, "upper"), 1, 1, &def->upper);
}

static void read_joint(ct_robot_reader* reader, const ct_xml* joint, ct_robot_pose pose, ct_joint_def* def) {
    static const char* const known[] = {
        "origin", "parent", "child", "axis", "limit", "dynamics", "calibration", "safety_controller", NULL};
    ct_robot_check_children(reader, joint, known);
    *def = ct_joint_def_default();
    def->kind = read_kind(reader, joint);
    ct_vec3_store(def->anchor, pose.t);
    if (reader->status || (def->kind != CT_JOINT_REVOLUTE && def->kind != CT_JOINT_PRISMATIC)) return;
    double axis[3] = {1, 0, 0}, friction = 0;
    const ct_xml *direction = ct_xml_child(joint, "axis"), *dynamics = ct_xml_child(joint, "dynamics");
    if (direction) ct_robot_numbers(reader, direction, "xyz", ct_xml_get(direction, "xyz"), 3, 3, axis);
    ct_vec3_store(def->axis, ct_mat3_apply(pose.R, ct_vec3_load(axis)));
    read_limit(reader, joint, def);
    if (!dynamics) return;
    ct_robot_numbers(reader, dynamics, "damping", ct_xml_get(dynamics, "damping"), 1, 1, &def->damping);
    ct_robot_numbers(reader, dynamics, "friction", ct_xml_get(dynamics, "friction"), 1, 1, &friction);
    if (friction != 0) ct_robot_fail(reader, dynamics, "has friction, which is not supported: set it to 0");
}

// The link that a <parent> or <child> of the joint names.
static const char* end_of(ct_robot_reader* reader, const ct_xml* joint, const char* end) {
    const ct_xml* element = ct_xml_child(joint, end);
    const char* name = element ? ct_xml_get(element, "link") : NULL;
    if (!name) ct_robot_fail(reader, joint, "lacks its <%s link=\"...\">", end);
    return name ? name : "";
}

static const ct_xml* link_named(const ct_xml* root, const char* name) {
    const ct_xml* link = ct_xml_child(root, "link");
    for (; link; link = ct_xml_next(link, "link"))
        if (ct_xml_get(link, "name") && !strcmp(ct_xml_get(link, "name"), name)) break;
    return link;
}

// Both ends of every joint exist, and no link has two parents. Returns the link that has none.
static const ct_xml* check_tree(ct_robot_reader* reader, const ct_xml* root) {
    const ct_xml* base = NULL;
    for (const ct_xml* joint = ct_xml_child(root, "joint"); joint && !reader->status;
         joint = ct_xml_next(joint, "joint"))
        for (int i = 0; i < 2; i++) {
            const char* name = end_of(reader, joint, i ? "child" : "parent");
            if (!link_named(root, name))
                ct_robot_fail(reader, joint, "names the link \"%.60s\", which does not exist", name);
        }
    for (const ct_xml* link = ct_xml_child(root, "link"); link && !reader->status;
         link = ct_xml_next(link, "link")) {
        const char* name = ct_xml_get(link, "name");
        int parents = 0;
        if (!name || !name[0]) ct_robot_fail(reader, link, "lacks its name");
        for (const ct_xml* joint = ct_xml_child(root, "joint"); joint && !reader->status;
             joint = ct_xml_next(joint, "joint"))
            parents += !strcmp(end_of(reader, joint, "child"), name);
        if (parents > 1)
            ct_robot_fail(reader, link, "is the child of %d joints: closed loops are not supported", parents);
        if (!parents && base)
            ct_robot_fail(reader, link,
                          "has no parent, and neither has \"%.60s\": the links must form one tree",
                          ct_xml_get(base, "name"));
        if (!parents) base = link;
    }
    if (!reader->status && !base)
        ct_robot_fail(reader, root, "has no link without a parent: closed loops are not supported");
    return base;
}

typedef struct urdf_entry {  // of the links that were added, in their order
    const char* name;
    ct_robot_pose pose;
} urdf_entry;

static void add_children(ct_robot_reader* reader, const ct_xml* root, urdf_entry* entry, int parent) {
    static const char* const known[] = {"inertial", "visual", "collision", "sensor", NULL};
    for (const ct_xml* joint = ct_xml_child(root, "joint"); joint && !reader->status;
         joint = ct_xml_next(joint, "joint")) {
        if (strcmp(end_of(reader, joint, "parent"), entry[parent].name)) continue;
        const ct_xml* body = link_named(root, end_of(reader, joint, "child"));
        ct_robot_pose pose = ct_robot_pose_compose(entry[parent].pose, read_origin(reader, joint));
        ct_robot_link link = {
            .name = ct_xml_get(body, "name"), .parent = parent, .joint_name = ct_xml_get(joint, "name")};
        ct_robot_check_children(reader, body, known);
        read_joint(reader, joint, pose, &link.joint);
        read_inertial(reader, body, pose, &link);
        int index = ct_robot_new_link(reader, joint, &link);
        if (index >= 0) entry[index] = (urdf_entry){link.name, pose};
    }
}

void ct_urdf_read(ct_robot_reader* reader, const ct_xml* root) {
    static const char* const known[] = {"link", "joint", "material", "transmission", "gazebo", NULL};
    ct_robot_check_children(reader, root, known);
    const ct_xml* base = check_tree(reader, root);
    if (reader->status) return;
    size_t count = 0;
    for (const ct_xml* link = ct_xml_child(root, "link"); link; link = ct_xml_next(link, "link")) count++;
    urdf_entry* entry = ct_arena_alloc(&reader->document.arena, count, sizeof *entry);
    if (!entry) {
        ct_robot_out_of_memory(reader);
        return;
    }
    ct_robot_link link = {.name = ct_xml_get(base, "name"), .parent = -1, .joint = ct_joint_def_default()};
    link.joint.kind = CT_JOINT_FIXED;
    entry[0] = (urdf_entry){link.name, {ct_mat3_identity(), {0, 0, 0}}};
    read_inertial(reader, base, entry[0].pose, &link);
    ct_robot_new_link(reader, base, &link);
    for (int k = 0; k < reader->robot->nlink && !reader->status; k++) add_children(reader, root, entry, k);
    if (!reader->status && (size_t)reader->robot->nlink != count)
        ct_robot_fail(reader, root,
                      "has %d links, of which %d are connected to the root: closed loops are not supported",
                      (int)count, reader->robot->nlink);
}
