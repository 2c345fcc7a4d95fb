// A soft humanoid falls on its feet and lifts its arms to a Y: the paper's table of what a skeleton is worth.
//
//   bone length error   max over motion and bones of |l - l0| / l0, l between the ends of a bone
//   body length error   mean over the motion of |L - L0| / L0, L from the soles to the top of the head
//   joint angle error   sum over both shoulders of |angle between arm and spine - that of the Y|, mean over
//                       the time that the objective counts
//
// An end of a bone is the mean of the nodes that the bone holds, or would hold, in its outer quarter. So the
// three are measured alike with and without a skeleton.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum { TORSO, LEFT_ARM, RIGHT_ARM, LEFT_LEG, RIGHT_LEG, BONES };
enum { BONE_ERROR, BODY_ERROR, JOINT_ERROR, EPISODES, METRICS };
enum { OURS, NONE, RIGID, PASSIVE, MPM, RIVALS };

static const char* const bone_names[BONES] = {"torso", "left_arm", "right_arm", "left_leg", "right_leg"};
static const double RAISED = 0.95;             // rad, what the shoulders shall turn
static const double HEAD = 1.66, SOLE = 0.06;  // m, above and below which nodes are head and soles
static const double WINDOW = 0.2;              // s, of the end

typedef struct part {  // a set of nodes
    int* nodes;
    int count;
} part;

struct compare_measure {
    part end[BONES][2], head, sole;
    double rest[BONES], body;  // lengths, m
    double target[2];          // angles between arms and spine, rad
    double duration;
    double bone_error, body_sum, joint_sum;
    int states, late;
};

// ---- scenes --------------------------------------------------------------------------------

static void set_vector(json_t* object, const char* key, double x, double y, double z) {
    json_object_set_new(object, key, json_pack("[f, f, f]", x, y, z));
}

// Starts differ in height, velocity and angular velocity.
static void vary(json_t* scene, int start) {
    json_t *body = json_array_get(json_object_get(scene, "bodies"), 0),
           *ground = json_array_get(json_object_get(scene, "obstacles"), 0);
    double height = 0.15 + 0.05 * compare_random(start, 0);
    set_vector(json_object_get(ground, "plane"), "point", 0, -height, 0);
    json_object_set_new(scene, "ground", json_real(-height));
    set_vector(body, "velocity", 0.2 * compare_random(start, 1), 0.3 * compare_random(start, 2),
               0.2 * compare_random(start, 3));
    set_vector(body, "angular_velocity", 0.1 * compare_random(start, 4), 0.1 * compare_random(start, 5),
               0.1 * compare_random(start, 6));
}

static void change(json_t* scene, int rival, int start) {
    static const char* const search[] = {"controls", "parameters", "objective", "optimizer"};
    vary(scene, start);
    if (rival != OURS)
        for (int k = 0; k < 4; k++) json_object_del(scene, search[k]);
    if (rival == NONE) json_object_del(scene, "skeletons");
    if (rival == RIGID)  // one link that holds all nodes
        json_object_set_new(scene, "skeletons",
                            json_pack("[{s:s, s:[{s:s, s:{s:s, s:[f, f, f]}, s:{s:b}}]}]", "name", "bones",
                                      "links", "name", "body", "joint", "type", "free", "anchor", 0.0, 1.0,
                                      0.0, "nodes", "all", 1));
}

// ---- measures ------------------------------------------------------------------------------

static bool read_point(const json_t* list, double point[3]) {
    for (size_t k = 0; k < 3; k++) point[k] = json_number_value(json_array_get(list, k));
    return json_array_size(list) == 3;
}

// The capsule of a bone, as the scene's file has it.
static bool find_bone(const json_t* base, const char* name, ct_selector* capsule) {
    const json_t* links = json_object_get(json_array_get(json_object_get(base, "skeletons"), 0), "links");
    size_t k;
    json_t* link;
    json_array_foreach(links, k, link) {
        const json_t* shape = json_object_get(json_object_get(link, "nodes"), "capsule");
        const char* own = json_string_value(json_object_get(link, "name"));
        if (!own || strcmp(own, name) != 0) continue;
        *capsule = ct_selector_default();
        capsule->kind = CT_SELECT_CAPSULE;
        capsule->radius = json_number_value(json_object_get(shape, "radius"));
        return read_point(json_object_get(shape, "a"), capsule->a) &&
               read_point(json_object_get(shape, "b"), capsule->b);
    }
    return false;
}

static void center_of(const part* p, const double* x, double center[3]) {
    for (int k = 0; k < 3; k++) center[k] = 0;
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < 3; k++) center[k] += x[3 * p->nodes[i] + k] / p->count;
}

static double between(const part* a, const part* b, const double* x, double direction[3]) {
    double from[3], to[3], square = 0;
    center_of(a, x, from);
    center_of(b, x, to);
    for (int k = 0; k < 3; k++) direction[k] = to[k] - from[k], square += direction[k] * direction[k];
    for (int k = 0; k < 3; k++) direction[k] /= sqrt(square);
    return sqrt(square);
}

// Keeps the nodes whose share of the way from a to b is below 1/4 of the range (side 0), or above 3/4.
static void keep_outer(part* p, const double* rest, const ct_selector* bone, int side) {
    double low = INFINITY, high = -INFINITY;
    double* along = malloc((size_t)p->count * sizeof *along);
    for (int i = 0; along && i < p->count; i++) {
        along[i] = 0;
        for (int k = 0; k < 3; k++) along[i] += (bone->b[k] - bone->a[k]) * rest[3 * p->nodes[i] + k];
        low = fmin(low, along[i]), high = fmax(high, along[i]);
    }
    int kept = 0;
    for (int i = 0; along && i < p->count; i++) {
        double share = (along[i] - low) / (high - low);
        if (side ? share >= 0.75 : share <= 0.25) p->nodes[kept++] = p->nodes[i];
    }
    p->count = kept;
    free(along);
}

static ct_status find_parts(compare_measure* m, const ct_scene* scene, const double* rest, const json_t* base,
                            ct_error* error) {
    ct_status status = CT_OK;
    for (int b = 0; b < BONES && !status; b++) {
        ct_selector bone = {0};
        if (!find_bone(base, bone_names[b], &bone))
            return cli_fail(error, CT_BAD_SCENE, "humanoid_y.json", "a bone of the humanoid is missing");
        for (int side = 0; side < 2 && !status; side++) {
            part* p = &m->end[b][side];
            status = ct_scene_select(scene, &bone, &p->nodes, &p->count, error);
            if (!status) keep_outer(p, rest, &bone, side);
        }
    }
    ct_selector above = ct_selector_default(), below = above;
    above.kind = below.kind = CT_SELECT_PLANE;
    above.a[1] = HEAD, above.b[1] = 1;
    below.a[1] = SOLE, below.b[1] = -1;
    if (!status) status = ct_scene_select(scene, &above, &m->head.nodes, &m->head.count, error);
    if (!status) status = ct_scene_select(scene, &below, &m->sole.nodes, &m->sole.count, error);
    return status;
}

static double arm_angle(const compare_measure* m, const double* x, int side) {
    double spine[3], arm[3], dot = 0;
    between(&m->end[TORSO][0], &m->end[TORSO][1], x, spine);
    between(&m->end[LEFT_ARM + side][0], &m->end[LEFT_ARM + side][1], x, arm);
    for (int k = 0; k < 3; k++) dot += spine[k] * arm[k];
    return acos(fmax(-1, fmin(1, dot)));
}

static void release(compare_measure* m) {
    for (int b = 0; b < BONES; b++)
        for (int side = 0; side < 2; side++) ct_free(m->end[b][side].nodes);
    ct_free(m->head.nodes);
    ct_free(m->sole.nodes);
    free(m);
}

static compare_measure* begin(const ct_scene* scene, const ct_model* model, const json_t* base,
                              ct_error* error) {
    compare_measure* m = calloc(1, sizeof *m);
    const double* rest = ct_model_rest(model);
    double direction[3];
    *error = (ct_error){.code = CT_OUT_OF_MEMORY, .element = -1, .message = "out of memory"};
    if (!m) return NULL;
    if (find_parts(m, scene, rest, base, error)) {
        release(m);
        return NULL;
    }
    for (int b = 0; b < BONES; b++) m->rest[b] = between(&m->end[b][0], &m->end[b][1], rest, direction);
    m->body = between(&m->sole, &m->head, rest, direction);
    for (int side = 0; side < 2; side++) m->target[side] = arm_angle(m, rest, side) - RAISED;
    m->duration = ct_model_settings(model).duration;
    return m;
}

static void look(compare_measure* m, const ct_model* model, const ct_state* state, int step) {
    const double* x = ct_state_positions(state);
    double direction[3];
    (void)model, (void)step;
    for (int b = 0; b < BONES; b++) {
        double length = between(&m->end[b][0], &m->end[b][1], x, direction);
        m->bone_error = fmax(m->bone_error, fabs(length / m->rest[b] - 1));
    }
    m->body_sum += fabs(between(&m->sole, &m->head, x, direction) / m->body - 1);
    m->states++;
    if (ct_state_time(state) < m->duration - WINDOW - 1e-9) return;
    for (int side = 0; side < 2; side++) m->joint_sum += fabs(arm_angle(m, x, side) - m->target[side]);
    m->late++;
}

static void end(compare_measure* m, compare_row* row) {
    row->value[BONE_ERROR] = m->bone_error;
    row->value[BODY_ERROR] = m->body_sum / m->states;
    row->value[JOINT_ERROR] = m->late ? m->joint_sum / m->late : NAN;
    row->frame = m->states - 1;
    release(m);
}

// ---- the kind ------------------------------------------------------------------------------

static const compare_metric metrics[METRICS] = {{.name = "bone", .title = "bone length error"},
                                                {.name = "body", .title = "body length error"},
                                                {.name = "joint", .title = "joint angle error, rad"},
                                                {.name = "episodes", .title = "episodes"}};

// clang-format off
static const compare_rival rivals[RIVALS] = {
    [OURS] = {"ours", "ours",
              {"0", "0.05 ± 0.03", "0.41 ± 0.30", NULL, "191 ± 4"}, false},
    [NONE] = {"none", "no skeleton",
              {"0.13 ± 0.02", "0.20 ± 0.14", "2.45 ± 0.87", NULL, "132 ± 2"}, false},
    [RIGID] = {"rigid", "one rigid body",
               {"0", "0.07 ± 0", "1.81 ± 0", NULL, "727 ± 258"}, false},
    [PASSIVE] = {"passive", "passive skeleton",
                 {"0", "0.04 ± 0.03", "2.34 ± 0.78", NULL, "163 ± 4"}, false},
    [MPM] = {"mpm", "MPM",
             {"0.48 ± 0.32", "0.12 ± 0.03", "NaN", NULL, "11 ± 0"},
             true}};
// clang-format on

const compare_kind compare_humanoid = {
    .name = "humanoid",
    .title = "Humanoid",
    .scene = "humanoid_y",
    .intro = "A soft humanoid with five bones falls on its feet and lifts its arms to a Y, by torques in its "
             "shoulders that gradients find; against the same flesh without bones, as one rigid body, and "
             "with bones but no torques.",
    .explain = "Bones: the largest change of a bone's length during the motion, as a share of it. Body: the "
               "mean change of the distance from the soles to the top of the head, as a share of it. Joints: "
               "the deviation of the angles between arms and spine from those of the Y, summed over both, "
               "mean over the last 0.2 s.",
    .metric = metrics,
    .nmetric = METRICS,
    .rival = rivals,
    .nrival = RIVALS,
    .change = change,
    .begin = begin,
    .look = look,
    .end = end};
