// The table of quantities, and the numbers of a model that has all of them.
#include "build.h"
#include "scene/values.h"
#include "scene_text.h"

// A block with a muscle, a chamber and a cable, a sheet, a ground with friction of its own, links, water, a
// policy.
static const char everything[] =
    "{\"time_step\":0.01,\"gravity\":[0,-9.8,0],"
    "\"contact\":{\"friction\":0.4,\"pairs\":[{\"between\":[\"block\",\"*\"],\"friction\":0.1}]},"
    "\"bodies\":[{\"name\":\"block\",\"box\":{\"size\":[0.4,0.1,0.1],\"cells\":[4,1,1]},"
    "\"material\":{\"young\":1e5,\"poisson\":0.4,\"damping\":{\"mass\":0.1,\"stiffness\":1e-3}}},"
    "{\"name\":\"cloth\",\"sheet\":{\"size\":[0.2,0.2],\"cells\":[2,2]},\"translate\":[2,0,0],"
    "\"material\":{\"young\":1e5,\"poisson\":0.3,\"density\":300,\"thickness\":1e-3,\"bending\":1}}],"
    "\"skeletons\":[{\"links\":[{\"name\":\"base\",\"mass\":1,\"center\":[0,3,0],\"inertia\":[1e-2,1e-2,1e-2]"
    ","
    "\"joint\":{\"type\":\"revolute\",\"axis\":[0,0,1],\"anchor\":[0,3.2,0],\"position\":0.1,\"velocity\":0."
    "2,"
    "\"stiffness\":2,\"rest\":0.3,\"damping\":0.1,\"armature\":0.05,\"limits\":[-1,1],\"limit_stiffness\":10,"
    "\"servo\":{\"stiffness\":3,\"damping\":0.2}}},"
    "{\"name\":\"tip\",\"parent\":\"base\",\"mass\":1,\"center\":[0,2.5,0],\"inertia\":[1e-2,1e-2,1e-2],"
    "\"joint\":{\"type\":\"ball\",\"anchor\":[0,2.8,0],\"stiffness\":1}}]}],"
    "\"water\":{\"density\":10},"
    "\"muscles\":[{\"name\":\"pull\",\"body\":\"block\",\"points\":[[0,0.05,0.05],[0.4,0.05,0.05]],"
    "\"radius\":0.1,\"stiffness\":1e4}],"
    "\"cables\":[{\"name\":\"stay\",\"eyelets\":[{\"point\":[0,9,0]},{\"body\":\"block\",\"node\":0}],"
    "\"stiffness\":20}],"
    "\"chambers\":[{\"name\":\"swell\",\"body\":\"block\",\"select\":{\"all\":true},\"stiffness\":1e4}],"
    "\"controls\":[{\"name\":\"pull\",\"actuator\":\"pull\"},{\"name\":\"turn\",\"torque\":\"base\"}],"
    "\"policy\":{\"observe\":[{\"joint\":\"base\"}],\"hidden\":2,\"controls\":[\"turn\"],\"scale\":0.1}}";

static double* numbers_of(const ct_model* model, ct_quantity quantity) {
    double* values = calloc(ct_model_quantity_size(model, quantity) + 1, sizeof *values);
    ct_model_get(model, quantity, values);
    return values;
}

static bool is_of_model(ct_quantity quantity) {
    ct_quantity_role role = ct_quantity_row(quantity)->role;
    return role == CT_ROLE_VALUE || role == CT_ROLE_SYSTEM;
}

static void every_quantity_has_a_name_and_a_size(void** unused) {
    (void)unused;
    sim s = start(parse(everything), 1);
    for (int i = 0; i < CT_QUANTITY_COUNT; i++) {
        ct_quantity q = (ct_quantity)i;
        assert_int_equal(ct_quantity_find(ct_quantity_name(q)), q);
        assert_true(ct_model_quantity_size(s.model, q) > 0);
        assert_true(strlen(ct_quantity_row(q)->doc) > 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(ct_quantity_name(q), ct_quantity_name((ct_quantity)j));
    }
    assert_null(ct_quantity_name(CT_QUANTITY_COUNT));
    assert_null(ct_quantity_row((ct_quantity)-1));
    assert_int_equal(ct_quantity_find("yuong"), CT_QUANTITY_COUNT);
    assert_int_equal(ct_quantity_find(NULL), CT_QUANTITY_COUNT);
    assert_int_equal(ct_model_quantity_size(s.model, CT_QUANTITY_COUNT), 0);
    stop(&s);
}

// Numbers that are not used stay 0, all others become what they were set to.
static void what_is_set_can_be_read_back(void** unused) {
    (void)unused;
    sim s = start(parse(everything), 1);
    ct_error error = {0};
    for (int i = 0; i < CT_QUANTITY_COUNT; i++) {
        ct_quantity q = (ct_quantity)i;
        if (!is_of_model(q)) continue;
        size_t n = ct_model_quantity_size(s.model, q);
        int changed = 0;
        double* before = numbers_of(s.model, q);
        double* wanted = calloc(n, sizeof *wanted);
        for (size_t k = 0; k < n; k++) wanted[k] = before[k] == 0 ? 0.01 : before[k] * 1.1;
        must(ct_model_set(s.model, q, wanted, &error), &error);
        double* after = numbers_of(s.model, q);
        for (size_t k = 0; k < n; k++) {
            assert_true(after[k] == wanted[k] || (before[k] == 0 && after[k] == 0));
            changed += after[k] != before[k];
        }
        assert_true(changed > 0);
        free(before), free(wanted), free(after);
    }
    stop(&s);
}

static void setting_the_present_values_changes_no_bit(void** unused) {
    (void)unused;
    sim plain = start(parse(everything), 1), set = start(parse(everything), 1);
    ct_values values = {0};
    ct_error error = {0};
    bool refactored = true;
    for (int q = 0; q < CT_QUANTITY_COUNT; q++)
        if (is_of_model((ct_quantity)q)) values.of[q] = numbers_of(set.model, (ct_quantity)q);
    must(ct_model_set_values(set.model, &values, &refactored, &error), &error);
    assert_false(refactored);
    steps(&plain, 5);
    steps(&set, 5);
    assert_memory_equal(ct_state_bytes(plain.state), ct_state_bytes(set.state), ct_state_size(set.state));
    for (int q = 0; q < CT_QUANTITY_COUNT; q++) free(values.of[q]);
    stop(&plain);
    stop(&set);
}

static double largest_difference(const sim* a, const sim* b) {
    const double *x = ct_state_positions(a->state), *y = ct_state_positions(b->state);
    double most = 0;
    for (int i = 0; i < 3 * node_count(a); i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

static sim start_exact(ct_scene* scene) {
    ct_settings settings = ct_scene_settings(scene);
    settings.tolerance = 1e-11;
    must(ct_scene_set_settings(scene, &settings, NULL), NULL);
    return start(scene, 1);
}

// A scene built with other values, and a model that took them, have the same numbers and move alike; the
// scene is as before in the end.
static void written_into_the_scene_or_set_in_the_model_is_the_same(void** unused) {
    (void)unused;
    ct_scene* again = parse(everything);
    for (int i = 0; i < CT_QUANTITY_COUNT; i++) {
        ct_quantity q = (ct_quantity)i;
        ct_values values = {0};
        ct_error error = {0};
        if (!is_of_model(q)) continue;
        sim set = start_exact(parse(everything));
        size_t n = ct_model_quantity_size(set.model, q);
        double* before = numbers_of(set.model, q);
        values.of[q] = numbers_of(set.model, q);
        for (size_t k = 0; k < n; k++) values.of[q][k] *= 1 + 0.1 * sin((double)k + 1);
        must(ct_model_set_values(set.model, &values, NULL, &error), &error);
        double* wanted = numbers_of(set.model, q);
        ct_scene_swap_values(again, &values);
        sim fresh = start_exact(again);
        double* got = numbers_of(fresh.model, q);
        assert_memory_equal(got, wanted, n * sizeof *got);
        steps(&set, 5);
        steps(&fresh, 5);
        if (!(largest_difference(&set, &fresh) < 1e-10))
            fail_msg("%s: models differ by %g", ct_quantity_name(q), largest_difference(&set, &fresh));
        ct_scene_swap_values(again, &values);
        free(got), free(wanted);
        fresh.scene = NULL;
        stop(&fresh);
        fresh = start_exact(again);
        got = numbers_of(fresh.model, q);
        assert_memory_equal(got, before, n * sizeof *got);
        fresh.scene = NULL;
        stop(&fresh);
        stop(&set);
        free(got), free(before), free(values.of[q]);
    }
    ct_scene_free(again);
}

static void refuses(ct_model* model, ct_quantity quantity, const double* values, const char* words) {
    ct_error error = {0};
    double* before = numbers_of(model, quantity);
    assert_int_equal(ct_model_set(model, quantity, values, &error), CT_BAD_ARGUMENT);
    if (!strstr(error.message, words)) fail_msg("\"%s\" not in \"%s\"", words, error.message);
    assert_int_equal(ct_model_set(model, quantity, values, NULL), CT_BAD_ARGUMENT);
    double* after = numbers_of(model, quantity);
    assert_memory_equal(before, after, ct_model_quantity_size(model, quantity) * sizeof *after);
    free(before), free(after);
}

static void a_refused_set_says_why_and_changes_nothing(void** unused) {
    (void)unused;
    sim s = start(parse(everything), 1);
    const struct {
        ct_quantity quantity;
        size_t at;
        double value;
        const char* words;
    } cases[] = {
        {CT_QUANTITY_YOUNG, 3, 0, "young of tet 3 is 0: it must be finite and above 0"},
        {CT_QUANTITY_POISSON, 0, 0.5, "poisson of tet 0 is 0.5: it must be at least 0 and below 0.5"},
        {CT_QUANTITY_DAMPING_MASS, 1, -1, "damping_mass of tet 1 is -1: it must be finite and at least 0"},
        {CT_QUANTITY_GRAVITY, 1, NAN, "gravity[1] is nan: it must be finite"},
        {CT_QUANTITY_LINK_MASS, 1, 0, "link_mass of link \"tip\" is 0: it must be finite and above 0"},
        {CT_QUANTITY_FRICTION, 1, -0.1, "friction[1] is -0.1: it must be finite and at least 0"},
        {CT_QUANTITY_MUSCLE_STIFFNESS, 0, 0, "muscle_stiffness of \"pull\" is 0"},
        {CT_QUANTITY_WATER_DRAG, 2, -1, "water_drag[2] is -1: it must be finite and at least 0"},
        {CT_QUANTITY_POLICY, 0, INFINITY, "policy[0] is inf: it must be finite"},
        {CT_QUANTITY_POSITION, 0, 1, "set it with ct_state_set"},
        {CT_QUANTITY_JOINT_VELOCITY, 0, 1, "ct_state_set_joints"},
        {CT_QUANTITY_CONTROL, 0, 1, "give it to ct_step or ct_rollout"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double* values = numbers_of(s.model, cases[i].quantity);
        values[cases[i].at] = cases[i].value;
        refuses(s.model, cases[i].quantity, values, cases[i].words);
        free(values);
    }
    refuses(s.model, CT_QUANTITY_YOUNG, NULL, "there are no values for young");
    refuses(s.model, CT_QUANTITY_COUNT, NULL, "is not one of ct_quantity");
    stop(&s);
}

// Each quantity is the first word of a cell in a table of the page, in backquotes.
static void the_page_of_scene_files_lists_every_quantity(void** unused) {
    (void)unused;
    FILE* file = fopen(CT_SOURCE_DIR "/docs/scene.md", "r");
    assert_non_null(file);
    bool listed[CT_QUANTITY_COUNT] = {false};
    char line[2048], word[64];
    while (fgets(line, sizeof line, file)) {
        char* end = line[0] == '|' ? strchr(line + 1, '|') : NULL;
        if (!end) continue;
        *end = 0;
        for (int q = 0; q < CT_QUANTITY_COUNT; q++) {
            snprintf(word, sizeof word, "`%s`", ct_quantity_name((ct_quantity)q));
            listed[q] = listed[q] || strstr(line, word);
        }
    }
    fclose(file);
    for (int q = 0; q < CT_QUANTITY_COUNT; q++)
        if (!listed[q])
            fail_msg("docs/scene.md does not list the parameter %s", ct_quantity_name((ct_quantity)q));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quantity_has_a_name_and_a_size),
        cmocka_unit_test(what_is_set_can_be_read_back),
        cmocka_unit_test(setting_the_present_values_changes_no_bit),
        cmocka_unit_test(written_into_the_scene_or_set_in_the_model_is_the_same),
        cmocka_unit_test(a_refused_set_says_why_and_changes_nothing),
        cmocka_unit_test(the_page_of_scene_files_lists_every_quantity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
