// Actuators and tendons of MJCF files as controls of joints and cables.
//
// An actuator at a joint of coordinate q exerts g (k u + b0 + b1 g q + b2 g q'), with its gear g, gain k and
// bias b. With b1 = 0 it becomes a torque, and -b2 g^2 damping of the joint; with b1 < 0 a servo of the
// stiffness -b1 g^2 and the damping -b2 g^2. The control's number is the torque, or the target of the joint,
// itself: gains, gears, b0 and ranges belong to whoever chooses it. A damping ratio r of a servo means
// b2 = -2 r sqrt(k m), m = M/g^2, M the inertia that the joint moves in the file's pose.
// A spatial tendon through sites becomes a cable: with a spring from a slack length on (springlength="0 L"),
// or under a tension that motors give.
#include <math.h>
#include <string.h>

#include "read/mjcf.h"

// ---- tendons ----

static const ct_mjcf_site* find_site(const ct_mjcf* m, const char* name) {
    for (const ct_mjcf_site* at = m->site; at; at = at->next)
        if (!strcmp(at->name, name)) return at;
    return NULL;
}

static void read_sites(ct_mjcf* m, const ct_xml* tendon, ct_robot_cable* cable) {
    for (const ct_xml* at = tendon->child; at && !m->reader->status; at = at->next) {
        const char* name = ct_xml_get(at, "site");
        const ct_mjcf_site* site = name ? find_site(m, name) : NULL;
        if (strcmp(at->name, "site"))
            ct_robot_fail(m->reader, at, "is not supported inside <spatial>: a cable runs through sites");
        else if (!site)
            ct_robot_fail(m->reader, at, "names the site \"%.60s\", which does not exist", name ? name : "");
        if (!m->reader->status) ct_robot_new_eyelet(m->reader, cable, site->link, site->point);
    }
    if (!m->reader->status && cable->count < 2) ct_robot_fail(m->reader, tendon, "needs two sites or more");
}

static void add_tendon(ct_mjcf* m, const ct_xml* tendon) {
    double stiffness = 0, length[2] = {-1, -1};
    ct_mjcf_check(m, tendon);
    ct_mjcf_refuse(m, tendon, (const char* const[]){"damping", "frictionloss", "armature", "limited", NULL});
    if (ct_mjcf_get(m, tendon, "range"))
        ct_robot_fail(m->reader, tendon,
                      "has a range, which is not supported: use a spring with springlength=\"0 L\"");
    ct_mjcf_numbers(m, tendon, "stiffness", 1, 1, &stiffness);
    const int given = ct_mjcf_numbers(m, tendon, "springlength", 1, 2, length);
    if (stiffness < 0) ct_robot_fail(m->reader, tendon, "has a negative stiffness");
    if (stiffness > 0 && (given != 2 || length[0] != 0 || length[1] < 0))
        ct_robot_fail(m->reader, tendon,
                      "has a spring that also pushes, which a cable cannot: say "
                      "springlength=\"0 L\", so that it pulls beyond the length L");
    ct_robot_cable cable = {.name = ct_xml_get(tendon, "name"),
                            .held = stiffness > 0,
                            .stiffness = stiffness,
                            .length = length[1]};
    read_sites(m, tendon, &cable);
    ct_robot_new_cable(m->reader, tendon, &cable);
}

void ct_mjcf_tendons(ct_mjcf* m, const ct_xml* part) {
    static const char* const known[] = {"spatial", NULL};
    ct_robot_check_children(m->reader, part, known);
    for (const ct_xml* at = part->child; at && !m->reader->status; at = at->next) add_tendon(m, at);
}

// ---- actuators ----

typedef struct law {
    double gear, gain, bias[3];
    bool position;  // a servo: a positive bias[2] is a damping ratio
} law;

static bool choose(ct_mjcf* m, const ct_xml* actuator, const char* attribute, const char* none,
                   const char* some) {
    const char* word = ct_mjcf_get(m, actuator, attribute);
    if (!word || !strcmp(word, none)) return false;
    if (!some || strcmp(word, some))
        ct_robot_fail(m->reader, actuator, "has %s=\"%.30s\", which is not supported: use %s%s%s", attribute,
                      word, none, some ? " or " : "", some ? some : "");
    return true;
}

static law read_general(ct_mjcf* m, const ct_xml* actuator) {
    law l = {.gear = 1};
    double gain[10] = {1}, bias[10] = {0};
    choose(m, actuator, "dyntype", "none", NULL);
    const bool affine = choose(m, actuator, "gaintype", "fixed", "affine"),
               biased = choose(m, actuator, "biastype", "none", "affine");
    ct_mjcf_numbers(m, actuator, "gainprm", 1, 10, gain);
    ct_mjcf_numbers(m, actuator, "biasprm", 1, 10, bias);
    if (affine && (gain[1] != 0 || gain[2] != 0))
        ct_robot_fail(m->reader, actuator,
                      "has a gain that depends on length or velocity, which is not "
                      "supported: keep the first number of gainprm");
    l.gain = gain[0];
    if (biased) memcpy(l.bias, bias, sizeof l.bias);
    l.position = l.bias[1] < 0 && l.gain == -l.bias[1];
    return l;
}

static law read_law(ct_mjcf* m, const ct_xml* actuator) {
    law l = {.gear = 1, .gain = 1};
    double kp = 1, kv = !strcmp(actuator->name, "velocity"), ratio = 0, gear[6] = {1};
    if (!strcmp(actuator->name, "general")) l = read_general(m, actuator);
    if (!strcmp(actuator->name, "position")) {
        ct_mjcf_numbers(m, actuator, "kp", 1, 1, &kp);
        const bool damped = ct_mjcf_numbers(m, actuator, "kv", 1, 1, &kv) > 0 && kv != 0;
        ct_mjcf_numbers(m, actuator, "dampratio", 1, 1, &ratio);
        if (damped && ratio != 0) ct_robot_fail(m->reader, actuator, "has both kv and dampratio: keep one");
        if (kp < 0 || kv < 0 || ratio < 0)
            ct_robot_fail(m->reader, actuator, "has a negative kp, kv or dampratio");
        l = (law){.gain = kp, .bias = {0, -kp, ratio > 0 ? ratio : -kv}, .position = true};
    }
    if (!strcmp(actuator->name, "velocity")) {
        ct_mjcf_numbers(m, actuator, "kv", 1, 1, &kv);
        l = (law){.gain = kv, .bias = {0, 0, -kv}};
    }
    ct_mjcf_numbers(m, actuator, "gear", 1, 6, gear);
    l.gear = gear[0];
    if (l.gear == 0 || l.gain == 0)
        ct_robot_fail(m->reader, actuator, "has no effect: its gear or gain is 0");
    return l;
}

// The inertia that joint k moves in the file's pose, kg m^2 or kg.
static double moved(const ct_robot* robot, int k) {
    const ct_joint_def* joint = &robot->link[k].joint;
    const ct_vec3 axis = ct_vec3_normalise(ct_vec3_load(joint->axis)), anchor = ct_vec3_load(joint->anchor);
    double sum = joint->armature;
    for (int j = k; j < robot->nlink; j++) {
        const ct_robot_link* link = &robot->link[j];
        int at = j;
        while (at > k) at = robot->link[at].parent;
        if (at != k) continue;
        if (joint->kind == CT_JOINT_PRISMATIC) {
            sum += link->mass;
            continue;
        }
        const double* J = link->inertia;
        const ct_vec3 Ja = {J[0] * axis.x + J[3] * axis.y + J[4] * axis.z,
                            J[3] * axis.x + J[1] * axis.y + J[5] * axis.z,
                            J[4] * axis.x + J[5] * axis.y + J[2] * axis.z};
        const ct_vec3 across = ct_vec3_cross(axis, ct_vec3_sub(ct_vec3_load(link->center), anchor));
        sum += ct_vec3_dot(axis, Ja) + link->mass * ct_vec3_dot(across, across);
    }
    return sum;
}

// That of a motor belongs to whoever chooses its torque, but a servo would press harder here.
static void refuse_range(ct_mjcf* m, const ct_xml* actuator, int k) {
    const bool own = ct_mjcf_has_range(m, actuator, "forcerange", "forcelimited");
    if (own || m->reader->robot->link[k].force_limited)
        ct_robot_fail(m->reader, actuator,
                      "is a servo with a limit (%s), which is not supported: remove that, or use a motor and "
                      "choose its torque within the range",
                      own ? "forcerange" : "actuatorfrcrange of its joint");
}

static void set_servo(ct_mjcf* m, const ct_xml* actuator, ct_joint_def* def, const law* l, double damping) {
    if (def->servo_stiffness > 0)
        ct_robot_fail(m->reader, actuator, "is the second servo of its joint: keep one");
    if (def->kind == CT_JOINT_BALL || def->kind == CT_JOINT_FREE)
        ct_robot_fail(m->reader, actuator,
                      "is a servo of a ball or free joint, which is not supported: remove it");
    if (def->target != 0) ct_robot_fail(m->reader, actuator, "acts on a joint with a ref: set that to 0");
    def->servo_stiffness = -l->bias[1] * l->gear * l->gear;
    def->servo_damping = damping;
}

static void drive_joint(ct_mjcf* m, const ct_xml* actuator, const char* name, int k) {
    ct_joint_def* def = &m->reader->robot->link[k].joint;
    law l = read_law(m, actuator);
    const bool axial = def->kind == CT_JOINT_REVOLUTE || def->kind == CT_JOINT_PRISMATIC;
    if (l.position && l.bias[2] > 0 && axial)
        l.bias[2] *= -2 * sqrt(l.gain * moved(m->reader->robot, k) / (l.gear * l.gear));
    if (l.bias[1] > 0 || l.bias[2] > 0)
        ct_robot_fail(m->reader, actuator,
                      "has a bias that drives its joint away: biasprm needs numbers at or "
                      "below 0 in its second and third place");
    if (l.bias[2] != 0 && !axial)
        ct_robot_fail(m->reader, actuator, "damps a ball or free joint, which is not supported");
    if (l.bias[1] != 0 || l.bias[2] != 0) refuse_range(m, actuator, k);
    if (m->reader->status) return;
    const double damping = -l.bias[2] * l.gear * l.gear;
    if (l.bias[1] < 0) set_servo(m, actuator, def, &l, damping);
    else def->damping += damping;
    ct_robot_new_control(m->reader, actuator, name, l.bias[1] < 0 ? CT_CONTROL_TARGET : CT_CONTROL_TORQUE, k);
}

static void pull_cable(ct_mjcf* m, const ct_xml* actuator, const char* name, int k) {
    const law l = read_law(m, actuator);
    if (l.bias[0] != 0 || l.bias[1] != 0 || l.bias[2] != 0)
        ct_robot_fail(m->reader, actuator, "is a servo of a tendon, which is not supported: use a motor");
    if (m->reader->robot->cable[k].held)
        ct_robot_fail(m->reader, actuator,
                      "pulls a tendon that has a spring, which is not supported: keep one of them");
    ct_robot_new_control(m->reader, actuator, name, CT_CONTROL_TENSION, k);
}

static void add_actuator(ct_mjcf* m, const ct_xml* actuator) {
    const ct_robot* robot = m->reader->robot;
    const char *joint = ct_mjcf_get(m, actuator, "joint"), *tendon = ct_mjcf_get(m, actuator, "tendon"),
               *name = ct_xml_get(actuator, "name"), *end = joint ? joint : tendon;
    int found = -1;
    ct_mjcf_check(m, actuator);
    for (int k = 0; joint && k < robot->nlink; k++)
        if (robot->link[k].joint_name && !strcmp(robot->link[k].joint_name, joint)) found = k;
    for (int k = 0; !joint && tendon && k < robot->ncable; k++)
        if (robot->cable[k].name && !strcmp(robot->cable[k].name, tendon)) found = k;
    if (found < 0)
        ct_robot_fail(m->reader, actuator, "acts on the %s \"%.60s\", which does not exist",
                      tendon && !joint ? "tendon" : "joint", end ? end : "");
    if (m->reader->status) return;
    if (!name || !name[0]) name = end;
    if (joint) drive_joint(m, actuator, name, found);
    else pull_cable(m, actuator, name, found);
}

void ct_mjcf_actuators(ct_mjcf* m, const ct_xml* part) {
    static const char* const known[] = {"motor", "position", "velocity", "general", NULL};
    ct_robot_check_children(m->reader, part, known);
    for (const ct_xml* at = part->child; at && !m->reader->status; at = at->next) add_actuator(m, at);
}
