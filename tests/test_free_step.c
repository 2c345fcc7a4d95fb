// What `cuttle bench contact` measures with: free steps end where the steps with contact do, and the search
// for crossings finds them.
#include "contact_scenes.h"
#include "cuttle_profile.h"

static sim block_on_block(double above) {
    const ct_settings settings = contact_settings(0.01, 0.5, 1e-10);
    ct_scene* scene = new_scene(&settings);
    const double size[3] = {0.2, 0.1, 0.2}, at[3] = {0.013, 0.1 + above, 0.007};
    add_block(scene, size, (const int[3]){3, 2, 3}, 1e5, (const double[3]){0, clearance, 0}, NULL);
    add_block(scene, size, (const int[3]){2, 2, 2}, 1e5, at, NULL);
    add_floor(scene, 0);
    return start(scene, 1);
}

static double farthest(const double* a, const double* b, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void a_free_step_ends_where_the_step_with_contact_does(void** state) {
    sim s = block_on_block(4e-4);
    ct_state *before = NULL, *other = NULL;
    must(ct_state_create(&before, s.model, NULL), NULL);
    must(ct_state_create(&other, s.model, NULL), NULL);
    for (int i = 0; i < 10; i++) {
        ct_step_report without;
        must(ct_state_copy(before, s.state), NULL);
        const ct_step_report with = step_once(&s);
        must(ct_profile_free_step(s.model, s.work, before, s.state, NULL, &with, other, &without), NULL);
        assert_int_equal(without.contacts, 0);
        below(without.residual, 1e-10 * with.reference * (1 + 1e-9), "residual of the free step");
        below(farthest(ct_state_positions(other), ct_state_positions(s.state), 3 * node_count(&s)), 1e-9,
              "distance between the ends of both");
    }
    ct_state_free(other);
    ct_state_free(before);
    stop(&s);
}

static void the_work_goes_on_as_if_no_free_step_had_been(void** state) {
    sim s = block_on_block(4e-4), t = block_on_block(4e-4);
    ct_state* other = NULL;
    must(ct_state_create(&other, s.model, NULL), NULL);
    for (int i = 0; i < 5; i++) {
        ct_step_report without;
        const ct_step_report with = step_once(&s);
        must(ct_profile_free_step(s.model, s.work, t.state, s.state, NULL, &with, other, &without), NULL);
        step_once(&t);
        assert_memory_equal(ct_state_bytes(s.state), ct_state_bytes(t.state), ct_state_size(s.state));
    }
    ct_state_free(other);
    stop(&s);
    stop(&t);
}

static void crossings_are_found_and_distances_measured(void** state) {
    ct_crossings found;
    sim apart = block_on_block(clearance + 3 * thickness);
    must(ct_profile_crossings(apart.model, apart.state, &found), NULL);
    assert_int_equal(found.count, 0);
    assert_true(found.nearest == 1);
    sim near = block_on_block(clearance + 1.2 * thickness);
    must(ct_profile_crossings(near.model, near.state, &found), NULL);
    assert_int_equal(found.count, 0);
    below(fabs(found.nearest - 0.6), 1e-9, "distance over thickness less 0.6");
    // the second block reaches into the first
    const int n = node_count(&near), first = 48;
    double* x = malloc(3 * (size_t)n * sizeof(double));
    memcpy(x, ct_state_positions(near.state), 3 * (size_t)n * sizeof(double));
    for (int i = first; i < n; i++) x[3 * i + 1] -= 0.03;
    must(ct_state_set(near.state, x, ct_state_velocities(near.state)), NULL);
    must(ct_profile_crossings(near.model, near.state, &found), NULL);
    assert_true(found.count > 0);
    free(x);
    stop(&near);
    stop(&apart);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_step_ends_where_the_step_with_contact_does),
        cmocka_unit_test(the_work_goes_on_as_if_no_free_step_had_been),
        cmocka_unit_test(crossings_are_found_and_distances_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
