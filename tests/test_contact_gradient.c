// Gradients through contact against central differences: every type of contact, sticking and slipping, every
// kind of obstacle, at rest and moving; materials, initial states, gravity, friction, controls and joints;
// both integrators, halved steps, impacts, sheets.
#include "contact/contact.h"
#include "contact_problem.h"
#include "step/work.h"

enum { SETS = 3, TYPES = 5 };
typedef struct seen {
    int count[TYPES][SETS];
    // steps: halved, with contacts, with other numbers of them than the one before
    int halved, steps_with, changes;
    // touches with force: with the frame of an impact, one that moves, and another than the first
    int impacts, moving, cuts;
    int braced;  // steps whose touches are part of the factor
    int staged;  // steps with contacts by an integrator with stages
} seen;

// The frames of a step that has one part.
static void count_frames(const ct_contact_work* contact, seen* out) {
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch_record* is = &contact->touch[i].is;
        if (is->set == CT_CONTACT_SET_OPEN) continue;
        out->impacts += is->kind == CT_HELD_IMPACT;
        out->moving += contact->touch[i].round != NULL;
        out->cuts += is->cut > 0;
    }
}

static seen look(const ct_scene* scene) {
    ct_scene* own = (ct_scene*)scene;
    sim s = start(own, 1);
    seen out = {0};
    ct_settings settings = ct_model_settings(s.model);
    int before = 0;
    for (int i = 0; i < (int)lround(settings.duration / settings.time_step); i++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        out.halved += report.substeps > 1;
        out.steps_with += report.contacts > 0;
        out.staged += report.contacts > 0 && report.integrator > CT_INTEGRATOR_BDF2;
        out.changes += report.contacts != before;
        count_frames(s.work->contact, &out);
        out.braced += s.work->preconditioner.brace_in_force;
        before = report.contacts;
        for (int k = 0; k < report.ncontact; k++) out.count[report.contact[k].type][report.contact[k].set]++;
    }
    s.scene = NULL;
    stop(&s);
    return out;
}

static void print_seen(const char* name, const seen* s) {
    print_message("%s:", name);
    for (int t = 0; t < TYPES; t++)
        if (s->count[t][CT_CONTACT_SET_STICK] || s->count[t][CT_CONTACT_SET_SLIP])
            print_message(" %s %d stick %d slip,", ct_contact_type_name((ct_contact_type)t),
                          s->count[t][CT_CONTACT_SET_STICK], s->count[t][CT_CONTACT_SET_SLIP]);
    print_message(" %d steps halved, contacts change in %d, %d frames of impacts, %d that move, %d cuts, "
                  "%d by stages\n",
                  s->halved, s->changes, s->impacts, s->moving, s->cuts, s->staged);
}

// Compares, and makes sure that contacts of the type were in the set.
static void check(const char* name, const char* text, int type, int set, double tolerance) {
    ct_scene* scene = scene_of(text);
    seen s = look(scene);
    print_seen(name, &s);
    if (type >= 0) assert_true(s.count[type][set] > 0);
    compare_gradient(name, scene, tolerance);
    ct_scene_free(scene);
}

// ---- types and sets ------------------------------------------------------------------------

#define ON_FLOOR(mu, v, rest)                                                                                \
    "{'time_step': 0.01, 'duration': 0.08, 'gravity': 9.81, 'contact': {'friction': " mu                     \
    ", 'pairs': [{'between': ['block', 'floor'], "                                                           \
    "'friction': " mu "}]}, 'bodies': [{'name': 'block', 'box': {'size': [0.2, 0.1, 0.2], 'cells': [2, 2, "  \
    "2]}, 'translate': [0, 0.00101, 0], "                                                                    \
    "'velocity': " v ", " MATERIAL "}], 'obstacles': [" FLOOR                                                \
    "], 'controls': [{'name': 'push', 'force': {'select': {'all': true}}, "                                  \
    "'values': [1, 0.5, 0.7]}], 'parameters': [" MATTER ", " START                                           \
    ", {'type': 'gravity'}, {'type': 'friction', 'per': 'element'}, "                                        \
    "{'type': 'control', 'control': 'push'}]" rest "}"

static void plane_slip(void** state) {
    (void)state;
    check("plane, slip", ON_FLOOR("0.3", "[0.8, -0.1, 0.3]", ""), CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_SLIP,
          1e-7);
}

static void plane_stick(void** state) {
    (void)state;
    check("plane, stick", ON_FLOOR("5", "[0.3, -0.3, 0.2]", ""), CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_STICK,
          1e-7);
}

static void plane_with_bdf2(void** state) {
    (void)state;
    check("bdf2", ON_FLOOR("0.3", "[0.8, -0.1, 0.3]", ", 'integrator': 'bdf2'"), CT_CONTACT_TYPE_PLANE,
          CT_CONTACT_SET_SLIP, 1e-7);
}

// Steps in which contacts close are Euler's, the others have stages.
static void plane_with_stages(void** state) {
    (void)state;
    check("sdirk2, slip", ON_FLOOR("0.3", "[0.8, -0.1, 0.3]", ", 'integrator': 'sdirk2'"),
          CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_SLIP, 1e-7);
    check("sdirk3, stick", ON_FLOOR("5", "[0.3, -0.3, 0.2]", ", 'integrator': 'sdirk3'"),
          CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_STICK, 1e-7);
}

// A block that stands on a corner of its own on a held one.
#define ON_FACE(mu, v)                                                                                       \
    "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': " mu "}, 'bodies': ["    \
    "{'name': 'low', 'box': {'size': [0.3, 0.1, 0.3], 'cells': [2, 1, 2]}, " MATERIAL "}, "                  \
    "{'name': 'high', 'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}, 'rotate': {'axis': [1, 0, -1], " \
    "'degrees': -50}, "                                                                                      \
    "'translate': [0.117, 0.1035, 0.143], 'velocity': " v ", " MATERIAL                                      \
    "}], 'pins': [{'select': {'body': 'low', 'box': [[-1, -0.001, -1], [1, 0.001, 1]]}}], "                  \
    "'parameters': [" EVERYTHING "]}"

static void vertex_face_slip(void** state) {
    (void)state;
    check("vertex-face, slip", ON_FACE("0.3", "[0.6, -0.4, 0.2]"), CT_CONTACT_TYPE_VERTEX_FACE,
          CT_CONTACT_SET_SLIP, 1e-6);
}

static void vertex_face_stick(void** state) {
    (void)state;
    check("vertex-face, stick", ON_FACE("1.5", "[0.05, -0.4, 0.02]"), CT_CONTACT_TYPE_VERTEX_FACE,
          CT_CONTACT_SET_STICK, 1e-6);
}

// Crossed wedges.
#define WEDGES(mu, v)                                                                                        \
    "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': " mu "}, 'bodies': ["    \
    "{'name': 'low', 'box': {'size': [0.05, 0.05, 0.2], 'cells': [1, 1, 2]}, 'rotate': {'axis': [0, 0, 1], " \
    "'degrees': 45}, "                                                                                       \
    "'translate': [0, 0, -0.133], " MATERIAL "}, "                                                           \
    "{'name': 'high', 'box': {'size': [0.2, 0.05, 0.05], 'cells': [2, 1, 1]}, 'rotate': {'axis': [1, 0, "    \
    "0], 'degrees': -45}, "                                                                                  \
    "'translate': [-0.071, 0.0737, 0.0], 'velocity': " v ", " MATERIAL "}], "                                \
    "'pins': [{'select': {'body': 'low', 'box': [[-1, -1, -1], [1, 0.036, 1]]}}], 'parameters': "            \
    "[" EVERYTHING "]}"

static void edge_edge_slip(void** state) {
    (void)state;
    check("edge-edge, slip", WEDGES("0.2", "[0.4, -0.3, 0.3]"), CT_CONTACT_TYPE_EDGE_EDGE,
          CT_CONTACT_SET_SLIP, 1e-6);
}

static void edge_edge_stick(void** state) {
    (void)state;
    check("edge-edge, stick", WEDGES("1.5", "[0.03, -0.3, 0.02]"), CT_CONTACT_TYPE_EDGE_EDGE,
          CT_CONTACT_SET_STICK, 1e-6);
}

// ---- obstacles -----------------------------------------------------------------------------

#define ON_OBSTACLE(mu, v, obstacle)                                                                         \
    "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': " mu                     \
    "}, 'bodies': [{'name': 'block', "                                                                       \
    "'box': {'size': [0.3, 0.05, 0.3], 'cells': [3, 1, 3]}, 'translate': [-0.151, 0.2025, -0.143], "         \
    "'velocity': " v ", " MATERIAL "}], "                                                                    \
    "'obstacles': [" obstacle "], 'parameters': [" EVERYTHING "]}"
#define MOTION                                                                                               \
    "'motion': {'center': [0, 0.1, 0], 'keys': [{'time': 0}, {'time': 1, 'rotate': [0.3, 2, 0.5], "          \
    "'translate': [0.3, 0.4, 0.1]}]}"
#define SPHERE "{'name': 'ball', 'sphere': {'center': [0.01, 0, 0.013], 'radius': 0.2}"
#define CAPSULE "{'name': 'bar', 'capsule': {'ends': [[-0.5, 0.1, 0.05], [0.5, 0.1, -0.02]], 'radius': 0.1}"
#define BOX                                                                                                  \
    "{'name': 'box', 'box': {'center': [0, 0.1, 0], 'half': [0.1, 0.1, 0.1]}, 'rotate': {'axis': [0, 1, "    \
    "0], 'degrees': 27}"
#define MESH                                                                                                 \
    "{'name': 'egg', 'mesh': {'sphere': {'radius': 0.2, 'size': 0.12}}, 'rotate': {'axis': [1, 2, 0.5], "    \
    "'degrees': 31}"

static const struct obstacle {
    const char *name, *still, *moving;
} obstacles[] = {
    {"sphere", ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", SPHERE "}"),
     ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", SPHERE ", " MOTION "}")},
    {"capsule", ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", CAPSULE "}"),
     ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", CAPSULE ", " MOTION "}")},
    {"box", ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", BOX "}"),
     ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", BOX ", " MOTION "}")},
    {"mesh", ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", MESH "}"),
     ON_OBSTACLE("0.3", "[0.2, -0.3, 0.1]", MESH ", " MOTION "}")},
};

static void obstacles_at_rest(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof obstacles / sizeof obstacles[0]; i++)
        check(obstacles[i].name, obstacles[i].still, -1, 0, 1e-6);
}

static void obstacles_that_move_and_spin(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof obstacles / sizeof obstacles[0]; i++)
        check(obstacles[i].name, obstacles[i].moving, -1, 0, 1e-6);
}

static void obstacles_that_hold(void** state) {
    (void)state;
    check("sphere, stick", ON_OBSTACLE("2", "[0.02, -0.3, 0.01]", SPHERE "}"), -1, 0, 1e-6);
    check("capsule, stick", ON_OBSTACLE("2", "[0.02, -0.3, 0.01]", CAPSULE ", " MOTION "}"), -1, 0, 1e-6);
}

// A corner of the block on the bar, a corner on the ball.
#define CORNER(mu, v, obstacle)                                                                              \
    "{'time_step': 0.01, 'duration': 0.05, 'gravity': 9.81, 'contact': {'friction': " mu                     \
    "}, 'bodies': [{'name': 'block', "                                                                       \
    "'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}, 'rotate': {'axis': [1, 0, -1], 'degrees': -50}, " \
    "'translate': [0, 0.203, 0], "                                                                           \
    "'velocity': " v ", " MATERIAL "}], 'obstacles': [" obstacle "], 'parameters': [" EVERYTHING "]}"
#define BAR "{'name': 'bar', 'capsule': {'ends': [[-0.5, 0.1, 0.01], [0.5, 0.1, -0.01]], 'radius': 0.1}"
#define BALL "{'name': 'ball', 'sphere': {'center': [0.003, 0, 0.002], 'radius': 0.2}"

static void point_edge(void** state) {
    (void)state;
    check("point-edge, slip", CORNER("0.2", "[0.5, -0.4, 0.1]", BAR "}"), CT_CONTACT_TYPE_POINT_EDGE,
          CT_CONTACT_SET_SLIP, 1e-6);
    check("point-edge, stick", CORNER("2", "[0.02, -0.4, 0.01]", BAR "}"), CT_CONTACT_TYPE_POINT_EDGE,
          CT_CONTACT_SET_STICK, 1e-6);
    check("point-edge, moving", CORNER("0.3", "[0.3, -0.4, 0.1]", BAR ", " MOTION "}"),
          CT_CONTACT_TYPE_POINT_EDGE, CT_CONTACT_SET_STICK, 1e-6);
}

static void point_point(void** state) {
    (void)state;
    check("point-point, slip", CORNER("0.2", "[0.5, -0.4, 0.1]", BALL "}"), CT_CONTACT_TYPE_POINT_POINT,
          CT_CONTACT_SET_SLIP, 1e-6);
    check("point-point, stick", CORNER("2", "[0.02, -0.4, 0.01]", BALL "}"), CT_CONTACT_TYPE_POINT_POINT,
          CT_CONTACT_SET_STICK, 1e-6);
    check("point-point, moving", CORNER("0.3", "[0.3, -0.4, 0.1]", BALL ", " MOTION "}"),
          CT_CONTACT_TYPE_POINT_POINT, CT_CONTACT_SET_STICK, 1e-6);
}

static void turning_table(void** state) {
    (void)state;
    check("turning table",
          "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': 0.4}, 'bodies': "
          "[{'name': 'block', 'box': {'size': [0.2, 0.1, 0.2], "
          "'cells': [2, 2, 2]}, 'translate': [0, 0.00101, 0], 'velocity': [0.1, -0.1, 0.02], " MATERIAL
          "}], 'obstacles': [{'name': 'table', "
          "'plane': {'normal': [0, 1, 0]}, 'motion': {'center': [0, 0, 0], 'keys': [{'time': 0}, {'time': 1, "
          "'rotate': [0, 4, 0.1], 'translate': [0.3, 0.02, 0]}]}}], "
          "'parameters': [" EVERYTHING "]}",
          CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_SLIP, 1e-7);
}

// ---- links, drives, sheets -----------------------------------------------------------------

#define HITTING(rest)                                                                                        \
    "{'time_step': 0.01, 'duration': 0.08, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': "        \
    "[{'name': 'paddle', 'box': {'size': [0.3, 0.05, 0.1], "                                                 \
    "'cells': [2, 1, 1]}, 'translate': [0, 0.03, 0], " MATERIAL                                              \
    "}], 'skeletons': [{'name': 's', 'links': [{'name': 'arm', 'nodes': {'all': true}, 'mass': 0.5, "        \
    "'center': [0.1, 0.05, 0.05], 'inertia': [0.01, 0.02, 0.015], 'joint': {'type': 'free', "                \
    "'velocity': [0.5, -0.8, 0.1, 0, 0.2, -1]}}]}], "                                                        \
    "'obstacles': [" FLOOR "], 'parameters': [{'type': 'gravity'}, {'type': 'friction'}, {'type': "          \
    "'density'}, {'type': 'link_mass'}, "                                                                    \
    "{'type': 'joint_position'}, {'type': 'joint_velocity'}]" rest "}"

static void links(void** state) {
    (void)state;
    check("a link that hits the floor", HITTING(""), CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_SLIP, 1e-6);
    check("by sdirk3", HITTING(", 'integrator': 'sdirk3'"), CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_SLIP, 1e-6);
}

#define BONED(rest)                                                                                          \
    "{'time_step': 0.01, 'duration': 0.08, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': "        \
    "[{'name': 'flesh', 'box': {'size': [0.4, 0.1, 0.1], "                                                   \
    "'cells': [4, 2, 2]}, 'translate': [0, 0.002, 0], 'velocity': [0.4, -0.3, 0.1], " MATERIAL               \
    "}], 'skeletons': [{'name': 's', 'links': ["                                                             \
    "{'name': 'upper', 'nodes': {'box': [[0.05, 0.04, 0.04], [0.15, 0.06, 0.06]]}, 'mass': 0.2, "            \
    "'center': [0.1, 0.052, 0.05], 'inertia': [0.001, 0.001, 0.001], "                                       \
    "'joint': {'type': 'free', 'velocity': [0.4, -0.3, 0.1, 0, 0, 0]}}, "                                    \
    "{'name': 'fore', 'parent': 'upper', 'nodes': {'box': [[0.25, 0.04, 0.04], [0.35, 0.06, 0.06]]}, "       \
    "'joint': {'type': 'revolute', 'anchor': [0.2, 0.052, 0.05], 'axis': [0, 0, 1], 'stiffness': 0.2, "      \
    "'damping': 0.05}}]}], "                                                                                 \
    "'obstacles': [" FLOOR "], 'controls': [{'name': 'elbow', 'torque': 'fore', 'values': [0.3]}], "         \
    "'parameters': [" MATTER ", {'type': 'gravity'}, {'type': 'friction'}, {'type': 'joint_position'}, "     \
    "{'type': 'joint_velocity'}, "                                                                           \
    "{'type': 'joint_stiffness'}, {'type': 'joint_damping'}, {'type': 'link_mass'}, {'type': "               \
    "'control', 'control': 'elbow'}]" rest "}"

static void flesh_with_bones(void** state) {
    (void)state;
    check("flesh with bones", BONED(""), CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_SLIP, 1e-6);
    check("by sdirk2", BONED(", 'integrator': 'sdirk2'"), CT_CONTACT_TYPE_PLANE, CT_CONTACT_SET_SLIP, 1e-6);
}

static void drives(void** state) {
    (void)state;
    check("a driven body pushes another",
          "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': ["
          "{'name': 'pusher', 'box': {'size': [0.1, 0.12, 0.12], 'cells': [1, 2, 2]}, 'translate': [-0.103, "
          "0.03, -0.011], 'rotate': {'axis': [0, 1, 0], 'degrees': 4}, " MATERIAL "}, "
          "{'name': 'block', 'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}, 'translate': [0.006, "
          "0.00101, 0], 'velocity': [0, -0.1, 0], " MATERIAL "}], "
          "'obstacles': [" FLOOR "], 'drives': [{'select': {'body': 'pusher', 'box': [[-1, -1, -1], [-0.095, "
          "1, 1]]}, 'motion': {'center': [-0.1, 0.1, 0], "
          "'keys': [{'time': 0}, {'time': 1, 'translate': [1, 0.1, 0.2]}]}}], 'controls': [{'name': 'hand', "
          "'drive': 0, 'values': [0.001, 0.001, 0.002, 0.01, 0.02, 0.01]}], "
          "'parameters': [" MATTER ", {'type': 'gravity'}, {'type': 'friction'}, {'type': 'velocity'}, "
          "{'type': 'control', 'control': 'hand'}]}",
          -1, 0, 1e-6);
}

static void sheets(void** state) {
    (void)state;
    check("a sheet on a ball",
          "{'time_step': 0.01, 'duration': 0.06, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': "
          "[{'name': 'cloth', 'sheet': {'size': [0.3, 0.3], "
          "'cells': [4, 4]}, 'rotate': {'axis': [1, 0, 0], 'degrees': -90}, 'translate': [-0.15, 0.203, "
          "0.15], 'velocity': [0.1, -0.3, 0.05], "
          "'material': {'young': 1e5, 'poisson': 0.3, 'density': 1000, 'thickness': 2e-3, 'damping': "
          "{'mass': 0.1, 'stiffness': 1e-3}}}], "
          "'obstacles': [" SPHERE "}], 'parameters': [" EVERYTHING
          ", {'type': 'bending'}, {'type': 'thickness'}]}",
          -1, 0, 1e-6);
}

// Many touches of single nodes: these are part of the factor, backwards as well.
static void braced_sheets(void** state) {
    (void)state;
    ct_scene* scene = scene_of(
        "{'time_step': 0.01, 'duration': 0.08, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': "
        "[{'name': 'cloth', 'sheet': {'size': [0.3, 0.3], 'cells': [10, 10]}, 'rotate': {'axis': [1, 0, 0], "
        "'degrees': -90}, 'translate': [-0.15, 0.043, 0.15], 'velocity': [0.3, -0.8, 0.05], 'material': "
        "{'young': 1e5, 'poisson': 0.3, 'density': 1000, 'thickness': 2e-3, 'damping': {'mass': 0.1, "
        "'stiffness': 1e-3}}}], 'obstacles': [" FLOOR ", {'name': 'hill', 'sphere': {'center': [0, -0.06, "
        "0], 'radius': 0.1}}], 'parameters': [{'type': 'young'}, {'type': 'friction'}]}");
    seen s = look(scene);
    print_seen("braced", &s);
    assert_true(s.braced > 1);
    compare_gradient("braced", scene, 1e-6);
    ct_scene_free(scene);
}

// ---- halved steps, impacts, checkpoints ----------------------------------------------------

#define TUMBLE(time_step, duration, contact)                                                                 \
    "{'time_step': " time_step ", 'duration': " duration                                                     \
    ", 'gravity': 9.81, 'contact': {'friction': 0.3" contact "}, 'bodies': [{'name': 'block', "              \
    "'box': {'size': [0.2, 0.1, 0.2], 'cells': [2, 1, 2]}, 'rotate': {'axis': [0.3, 0.2, 1], 'degrees': "    \
    "20}, 'translate': [0, 0.05, 0], "                                                                       \
    "'velocity': [0.8, -1, 0.3], " MATERIAL "}], 'obstacles': [" FLOOR "], 'parameters': [" EVERYTHING "]}"

static void halved_steps(void** state) {
    (void)state;
    ct_scene* scene = scene_of(TUMBLE("0.02", "0.2", ""));
    ct_error error = {0};
    ct_settings settings = ct_scene_settings(scene);
    settings.max_iterations = 18;  // not enough for the hardest steps
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    seen s = look(scene);
    print_seen("halved", &s);
    assert_true(s.halved > 0);
    compare_gradient("halved", scene, 1e-6);
    ct_scene_free(scene);
}

static void impacts(void** state) {
    (void)state;
    ct_scene* scene = scene_of(TUMBLE("0.01", "0.3", ""));
    seen s = look(scene);
    print_seen("impacts", &s);
    assert_true(s.changes > 5);
    compare_gradient("impacts", scene, 1e-6);
    ct_scene_free(scene);
}

static void checkpoints_change_no_bit(void** state) {
    (void)state;
    const char* texts[] = {TUMBLE("0.01", "0.3", ""), TUMBLE("0.02", "0.3", ", 'max_passes': 1")};
    for (int t = 0; t < 2; t++) {
        ct_scene* scene = scene_of(texts[t]);
        double *gradient[3] = {0}, *y = NULL, value[3];
        int size = 0;
        for (int k = 0; k < 3; k++) {
            contact_loss loss;
            // all states, a third of them, the least
            ct_problem* problem = contact_problem(scene, k == 0 ? 0 : k == 1 ? 40000 : 1, &loss);
            ct_problem_report report;
            ct_error error = {0};
            size = ct_problem_size(problem);
            if (!y) y = calloc((size_t)size, sizeof(double));
            ct_problem_start(problem, y);
            gradient[k] = calloc((size_t)size, sizeof(double));
            must(ct_problem_evaluate(problem, y, &value[k], gradient[k], &report, &error), &error);
            print_message("%zu bytes, %d steps replayed\n", report.tape_bytes, report.backward.replayed);
            if (k == 0) assert_int_equal(report.backward.replayed, 0);
            else assert_true(report.backward.replayed > 0);
            ct_problem_free(problem);
        }
        for (int k = 1; k < 3; k++) {
            assert_memory_equal(gradient[0], gradient[k], (size_t)size * sizeof(double));
            assert_true(value[0] == value[k]);
        }
        for (int k = 0; k < 3; k++) free(gradient[k]);
        free(y);
        ct_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plane_slip),
                                       cmocka_unit_test(plane_stick),
                                       cmocka_unit_test(plane_with_bdf2),
                                       cmocka_unit_test(plane_with_stages),
                                       cmocka_unit_test(turning_table),
                                       cmocka_unit_test(vertex_face_slip),
                                       cmocka_unit_test(vertex_face_stick),
                                       cmocka_unit_test(edge_edge_slip),
                                       cmocka_unit_test(edge_edge_stick),
                                       cmocka_unit_test(point_edge),
                                       cmocka_unit_test(point_point),
                                       cmocka_unit_test(obstacles_at_rest),
                                       cmocka_unit_test(obstacles_that_move_and_spin),
                                       cmocka_unit_test(obstacles_that_hold),
                                       cmocka_unit_test(links),
                                       cmocka_unit_test(flesh_with_bones),
                                       cmocka_unit_test(drives),
                                       cmocka_unit_test(sheets),
                                       cmocka_unit_test(braced_sheets),
                                       cmocka_unit_test(halved_steps),
                                       cmocka_unit_test(impacts),
                                       cmocka_unit_test(checkpoints_change_no_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
