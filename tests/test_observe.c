// Observations of states: what they are, and their derivatives by the slope of central differences.
#include "build.h"
#include "scene_text.h"
#include "slope.h"

#define MASS(y) "\"mass\": 0.5, \"center\": [0, " y ", 0.1], \"inertia\": [0.01, 0.01, 0.01]"

// A block on the floor and another on top, a bag with gas, a chain from a driven root.
static const char text[] =
    "{\"time_step\": 0.01, \"solver\": {\"tolerance\": 1e-10, \"threads\": 1},"
    "\"bodies\": [{\"name\": \"low\", \"box\": {\"size\": [0.3, 0.1, 0.3], \"cells\": [2, 1, 2]}, "
    "\"translate\": [0, 0.0011, 0],"
    "  \"velocity\": [0.2, -0.1, 0]},"
    " {\"name\": \"top\", \"box\": {\"size\": [0.2, 0.1, 0.2], \"cells\": [2, 1, 2]}, \"translate\": [0.05, "
    "0.1033, 0.04],"
    "  \"velocity\": [0, -0.2, 0]},"
    " {\"name\": \"bag\", \"mesh\": {\"nodes\": [[2, 0, 0], [3, 0, 0], [2, 1, 0], [2, 0, 1]],"
    "  \"triangles\": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]}, \"material\": {\"young\": 1e5}}],"
    "\"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0]}}],"
    "\"cavities\": [{\"name\": \"gas\", \"body\": \"bag\", \"seed\": [2.1, 0.1, 0.1], \"pressure\": 10}],"
    "\"skeletons\": [{\"links\": ["
    "{\"name\": \"arm\", \"joint\": {\"type\": \"revolute\", \"anchor\": [0, 5, 0], \"axis\": [1, 2, 3], "
    "\"velocity\": 2}, " MASS(
        "5.2") ","
               " \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 1, \"translate\": [0, 0.3, 0], "
               "\"rotate\": [1, 0, 0.5]}], \"center\": [0, 4.9, 0]}},"
               "{\"name\": \"hand\", \"parent\": \"arm\", \"joint\": {\"type\": \"ball\", \"anchor\": [0, "
               "5.3, 0], \"position\": [0.3, 0.2, 0.1],"
               " \"velocity\": [1, 2, 3]}, " MASS(
                   "5.4") "},"
                          "{\"name\": \"tip\", \"parent\": \"hand\", \"joint\": {\"type\": \"universal\", "
                          "\"anchor\": [0, 5.5, 0], \"axis\": [1, 0, 0],"
                          " \"axis2\": [0, 0, 1], \"position\": [0.2, 0.1]}, " MASS(
                              "5.6") "},"
                                     "{\"name\": \"bird\", \"joint\": {\"type\": \"free\", \"anchor\": [0, "
                                     "9, 0], \"velocity\": [1, 0, 0, 1, 2, 3]}, " MASS("9.1") "}]}]}";

typedef struct scene {
    sim s;
    ct_observation* observation;
    ct_observe_def def;
    const double* weight;
    double *vector, *direction, *values;
    ct_state* moved;
} scene;

static scene open_scene(int steps) {
    scene it = {.s = start(parse(text), 1)};
    for (int i = 0; i < steps; i++) must(ct_step(it.s.model, it.s.work, it.s.state, NULL, NULL), NULL);
    return it;
}

static void close_scene(scene* it) {
    ct_observation_free(it->observation);
    it->observation = NULL;
    stop(&it->s);
}

static void observe(scene* it, ct_observe_def def) {
    ct_error error;
    ct_observation_free(it->observation);
    if (ct_observation_create(&it->observation, it->s.model, &def, 1, &error)) fail_msg("%s", error.message);
    it->def = def;
}

static double seen(void* user, double t) {
    scene* it = user;
    const size_t n = ct_model_state_first(it->s.model, CT_STATE_PARTS);
    double* at = malloc(n * sizeof *at);
    for (size_t i = 0; i < n; i++) at[i] = it->vector[i] + t * it->direction[i];
    assert_int_equal(ct_state_copy(it->moved, it->s.state), CT_OK);
    assert_int_equal(ct_state_set_vector(it->s.model, it->moved, at), CT_OK);
    assert_int_equal(ct_observation_state(it->observation, it->moved, it->values), CT_OK);
    double sum = 0;
    for (int i = 0; i < ct_observation_size(it->observation); i++) sum += it->weight[i] * it->values[i];
    free(at);
    return sum;
}

static double draw(unsigned* seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)*seed / 4294967296.0 - 0.5;
}

// Along a random change of the whole vector, for random weights of what is seen.
static void check_derivative(scene* it) {
    const size_t n = ct_model_state_first(it->s.model, CT_STATE_PARTS);
    const int size = ct_observation_size(it->observation);
    double *bar = malloc(n * sizeof *bar), *weight = malloc((size_t)size * sizeof *weight);
    unsigned seed = 7;
    it->vector = malloc(n * sizeof(double));
    it->direction = malloc(n * sizeof(double));
    it->values = malloc((size_t)size * sizeof(double));
    assert_int_equal(ct_state_create(&it->moved, it->s.model, NULL), CT_OK);
    assert_int_equal(ct_state_get_vector(it->s.model, it->s.state, it->vector), CT_OK);
    for (size_t i = 0; i < n; i++) it->direction[i] = draw(&seed);
    for (int i = 0; i < size; i++) weight[i] = draw(&seed);
    it->weight = weight;
    assert_int_equal(ct_observation_vjp(it->observation, it->s.state, weight, bar), CT_OK);
    double exact = 0, most = 0;
    for (size_t i = 0; i < n; i++) exact += bar[i] * it->direction[i];
    assert_true(exact != 0);
    seen(it, 0);
    for (int i = 0; i < size; i++) most = fmax(most, fabs(it->values[i]));
    assert_slope(seen, it, exact, 1e-3, 10 * (most + fabs(exact)));
    ct_state_free(it->moved);
    free(it->vector);
    free(it->direction);
    free(it->values);
    free(weight);
    free(bar);
}

static void derivatives_are_those_of_differences(void** state) {
    (void)state;
    static const char* const links[] = {"arm", "hand", "tip", "bird"};
    scene it = open_scene(2);
    for (int kind = 0; kind <= CT_OBSERVE_ACTUATION; kind++) {
        ct_observe_def def = ct_observe_def_default();
        def.kind = (ct_observe_kind)kind;
        def.nodes = (int[]){1, 4, 20}, def.count = 3;
        def.actuator = "gas";
        def.scale = 1.5;
        bool jointed = kind == CT_OBSERVE_JOINT || kind == CT_OBSERVE_RATE || kind == CT_OBSERVE_POSE;
        if (kind == CT_OBSERVE_PHASE) continue;
        for (int k = 0; k < (jointed ? 4 : 2); k++) {
            def.link = links[k];
            def.relative = k ? 1 : -1;
            def.body = k;
            observe(&it, def);
            check_derivative(&it);
        }
    }
    close_scene(&it);
}

// -------------------------------------------------------------------------------------------------
// What they are

static void numbers_are_those_of_the_state(void** state) {
    (void)state;
    scene it = open_scene(2);
    double o[12], R[9], t[3], volume;
    const double *x = ct_state_positions(it.s.state), *v = ct_state_velocities(it.s.state);
    ct_observe_def def = ct_observe_def_default();
    def.kind = CT_OBSERVE_VELOCITIES, def.nodes = (int[]){3, 1}, def.count = 2;
    observe(&it, def);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    assert_true(o[1] == v[10] && o[5] == v[5]);
    def.kind = CT_OBSERVE_POSITIONS;
    observe(&it, def);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    assert_true(o[1] == x[10] && o[5] == x[5]);
    def.kind = CT_OBSERVE_POSE, def.link = "tip";
    observe(&it, def);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    assert_int_equal(ct_state_link_pose(it.s.model, it.s.state, 2, R, t), CT_OK);
    assert_memory_equal(o, R, sizeof R);
    assert_memory_equal(o + 9, t, sizeof t);
    def.kind = CT_OBSERVE_VOLUME, def.actuator = "gas";
    observe(&it, def);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    assert_int_equal(ct_state_cavity(it.s.model, it.s.state, 0, &volume, NULL, NULL), CT_OK);
    assert_true(o[0] == volume && volume > 0.1);
    def.kind = CT_OBSERVE_ACTUATION;
    observe(&it, def);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    assert_true(o[0] == 10);
    close_scene(&it);
}

// Against the forces on the nodes of each body; the blocks press on one another.
static void contact_is_the_sum_over_a_body(void** state) {
    (void)state;
    scene it = open_scene(2);
    const double* force = ct_state_contact_forces(it.s.state);
    double o[2][3], size = 0;
    for (int b = 0; b < 2; b++) {
        ct_observe_def def = ct_observe_def_default();
        def.kind = CT_OBSERVE_CONTACT, def.body = b;
        observe(&it, def);
        assert_int_equal(ct_observation_state(it.observation, it.s.state, o[b]), CT_OK);
        double sum[3] = {0};
        for (int i = 0; i < 3 * 18; i++) sum[i % 3] += force[3 * 18 * b + i];
        for (int a = 0; a < 3; a++) size = fmax(size, fabs(sum[a]));
        for (int a = 0; a < 3; a++) assert_float_equal(o[b][a], sum[a], 1e-9 * size);
    }
    assert_true(o[0][1] > 0 && o[1][1] > 0 && size > 1);
    close_scene(&it);
}

// A state that begins has its rates; after a step they are those of the difference of coordinates.
static void rates_are_what_joints_do(void** state) {
    (void)state;
    scene it = open_scene(0);
    double o[6];
    ct_observe_def def = ct_observe_def_default();
    def.kind = CT_OBSERVE_RATE, def.link = "hand";
    observe(&it, def);
    assert_int_equal(ct_observation_size(it.observation), 3);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    for (int a = 0; a < 3; a++) assert_float_equal(o[a], a + 1, 1e-12);
    def.link = "arm";
    observe(&it, def);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    assert_float_equal(o[0], 2, 1e-12);
    const double before = ct_state_coordinates(it.s.state)[0];
    must(ct_step(it.s.model, it.s.work, it.s.state, NULL, NULL), NULL);
    assert_int_equal(ct_observation_state(it.observation, it.s.state, o), CT_OK);
    assert_float_equal(o[0], (ct_state_coordinates(it.s.state)[0] - before) / 0.01, 1e-12);
    close_scene(&it);
}

static void many_states_give_what_single_ones_do(void** state) {
    (void)state;
    scene it = open_scene(1);
    ct_observe_def def[2] = {ct_observe_def_default(), ct_observe_def_default()};
    ct_state* second;
    double one[14], two[28];
    def[0].kind = CT_OBSERVE_POSE, def[0].link = "tip";
    def[1].kind = CT_OBSERVE_PHASE, def[1].frequency = 3;
    assert_int_equal(ct_observation_create(&it.observation, it.s.model, def, 2, NULL), CT_OK);
    assert_int_equal(ct_observation_size(it.observation), 14);
    assert_int_equal(ct_observation_first(it.observation, 1), 12);
    assert_int_equal(ct_state_create(&second, it.s.model, NULL), CT_OK);
    const ct_state* states[2] = {second, it.s.state};
    assert_int_equal(ct_observation_many(it.observation, 2, states, two), CT_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ct_observation_state(it.observation, states[i], one), CT_OK);
        assert_memory_equal(one, two + 14 * i, sizeof one);
    }
    ct_state_free(second);
    close_scene(&it);
}

static void mistakes_are_named(void** state) {
    (void)state;
    scene it = open_scene(0);
    ct_error error;
    ct_observe_def good = ct_observe_def_default(), bad[6];
    static const char* const fields[] = {"link", "nodes", "actuator", "body", "relative", "kind"};
    good.nodes = (int[]){0}, good.count = 1;
    for (int i = 0; i < 6; i++) bad[i] = good;
    bad[0].kind = CT_OBSERVE_POSE, bad[0].link = "foot";
    bad[1].nodes = (int[]){100000};
    bad[2].kind = CT_OBSERVE_VOLUME, bad[2].actuator = "liquid";
    bad[3].kind = CT_OBSERVE_CONTACT, bad[3].body = 3;
    bad[4].relative = 3;
    bad[5].kind = (ct_observe_kind)99;
    for (int i = 0; i < 6; i++) {
        char path[64];
        snprintf(path, sizeof path, "observe[1].%s", fields[i]);
        const ct_observe_def both[2] = {good, bad[i]};
        assert_int_equal(ct_observation_create(&it.observation, it.s.model, both, 2, &error), CT_BAD_SCENE);
        assert_null(it.observation);
        assert_string_equal(error.path, path);
    }
    close_scene(&it);
}

// -------------------------------------------------------------------------------------------------
// Terms of an objective

static void terms_of_a_state_sum_to_its_loss(void** state) {
    (void)state;
    ct_scene* scene = NULL;
    ct_problem* problem;
    ct_error error;
    assert_int_equal(ct_scene_load(&scene, CT_SOURCE_DIR "/scenes/arm.json", &error), CT_OK);
    assert_int_equal(ct_problem_create(&problem, scene, 0, &error), CT_OK);
    const ct_model* model = ct_problem_model(problem);
    const size_t n = ct_model_state_first(model, CT_STATE_PARTS);
    const int last = ct_problem_steps(problem);
    ct_state* at;
    double loss, sum = 0, part, *bar = calloc(n, sizeof *bar), *all = calloc(n, sizeof *all),
                 *own = calloc(n, sizeof *own);
    assert_int_equal(ct_state_create(&at, model, NULL), CT_OK);
    assert_int_equal(ct_problem_state(problem, last, at, &loss, bar), CT_OK);
    for (int i = 0; i < ct_problem_term_count(problem); i++) {
        assert_int_equal(ct_problem_state_term(problem, i, last, at, &part, own), CT_OK);
        sum += part;
        for (size_t k = 0; k < n; k++) all[k] += own[k];
    }
    assert_true(loss > 0 && fabs(sum - loss) <= 1e-14 * loss);
    for (size_t k = 0; k < n; k++) assert_true(fabs(all[k] - bar[k]) <= 1e-12 * (1 + fabs(bar[k])));
    assert_int_equal(ct_problem_state_term(problem, 99, last, at, &part, NULL), CT_BAD_ARGUMENT);
    ct_state_free(at);
    ct_problem_free(problem);
    ct_scene_free(scene);
    free(bar);
    free(all);
    free(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_differences),
        cmocka_unit_test(numbers_are_those_of_the_state),
        cmocka_unit_test(contact_is_the_sum_over_a_body),
        cmocka_unit_test(rates_are_what_joints_do),
        cmocka_unit_test(many_states_give_what_single_ones_do),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(terms_of_a_state_sum_to_its_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
