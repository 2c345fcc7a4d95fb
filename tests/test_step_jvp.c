// Forward mode through steps without contacts; see step_jvp.h.
#include "step_jvp.h"

static const example octopus = {"octopus", CT_INTEGRATOR_EULER, 2, 0.3, 1, false, false, 0, false, 0},
                     fish = {"fish", CT_INTEGRATOR_EULER, 2, 0.02, 0.1, false, true, 0, false, 0},
                     arm = {"arm", CT_INTEGRATOR_BDF2, 2, 0.05, 1, false, false, 0, false, 0},
                     arm_sdirk3 = {"arm", CT_INTEGRATOR_SDIRK3, 2, 0.05, 1, false, true, 0, false, 0},
                     passive = {"humanoid_passive", CT_INTEGRATOR_SDIRK2, 2, 0, 1, false, false, 0, false, 0},
                     drone = {"drone", CT_INTEGRATOR_BDF2, 2, 0, 1, false, false, 0, false, 0},
                     finger = {"finger", CT_INTEGRATOR_BDF2, 2, 0.3, 1, false, false, 0, false, 0},
                     tendon = {"tendon", CT_INTEGRATOR_EULER, 2, -1e-3, 1, false, false, 0, false, 0},
                     balloon = {"balloon", CT_INTEGRATOR_EULER, 2, 20, 1, false, false, 0, false, 0},
                     cloth = {"cloth", CT_INTEGRATOR_BDF2, 2, 0, 1, false, false, 0, false, 0},
                     hand = {"hand", CT_INTEGRATOR_EULER, 2, 0.01, 0.1, true, false, 0, false, 0},
                     humanoid = {"humanoid", CT_INTEGRATOR_EULER, 2, 0.05, 0.1, true, false, 0, false, 0},
                     gripper = {"gripper", CT_INTEGRATOR_EULER, 2, 0.01, 0.1, true, false, 0, false, 0},
                     carts = {"cart", CT_INTEGRATOR_BDF2, 2, 0.01, 0.1, false, true, 0, false, 0},
                     halved_cart = {"cart", CT_INTEGRATOR_EULER, 2, 0.01, 0.1, false, false, 6, false, 0},
                     identify = {"identify", CT_INTEGRATOR_EULER, 2, 0, 1, false, false, 0, false, 0};

static void transpose_of_the_reverse_octopus(void** s) { check_transpose(&octopus); }
static void transpose_of_the_reverse_fish(void** s) { check_transpose(&fish); }
static void transpose_of_the_reverse_arm(void** s) { check_transpose(&arm); }
static void transpose_of_the_reverse_arm_sdirk3(void** s) { check_transpose(&arm_sdirk3); }
static void transpose_of_the_reverse_passive(void** s) { check_transpose(&passive); }
static void transpose_of_the_reverse_drone(void** s) { check_transpose(&drone); }
static void transpose_of_the_reverse_finger(void** s) { check_transpose(&finger); }
static void transpose_of_the_reverse_tendon(void** s) { check_transpose(&tendon); }
static void transpose_of_the_reverse_balloon(void** s) { check_transpose(&balloon); }
static void transpose_of_the_reverse_cloth(void** s) { check_transpose(&cloth); }
static void transpose_of_the_reverse_hand(void** s) { check_transpose(&hand); }
static void transpose_of_the_reverse_humanoid(void** s) { check_transpose(&humanoid); }
static void transpose_of_the_reverse_gripper(void** s) { check_transpose(&gripper); }
static void transpose_of_the_reverse_cart(void** s) { check_transpose(&carts); }
static void transpose_of_the_reverse_halved_cart(void** s) { check_transpose(&halved_cart); }
static void transpose_of_the_reverse_identify(void** s) { check_transpose(&identify); }

static void differences_octopus(void** s) { check_differences(&octopus); }
static void differences_arm(void** s) { check_differences(&arm); }
static void differences_arm_sdirk3(void** s) { check_differences(&arm_sdirk3); }
static void differences_passive(void** s) { check_differences(&passive); }
static void differences_finger(void** s) { check_differences(&finger); }
static void differences_cloth(void** s) { check_differences(&cloth); }
static void differences_drone(void** s) { check_differences(&drone); }
static void differences_fish(void** s) { check_differences(&fish); }
static void differences_cart(void** s) { check_differences(&carts); }
static void differences_hand(void** s) { check_differences(&hand); }

// ---- many, and what is refused -------------------------------------------------------------

static void many_directions_have_the_numbers_of_single_ones(void** s) {
    fixture f = begin(&finger);
    ct_state *after = NULL, *stepped = NULL;
    double *two = numbers(2 * f.size), *one = numbers(f.size), change[2][3] = {{1, 0, 0}, {0, 0.5, 2}};
    ct_values dots[2] = {{{0}}, {{0}}};
    must(ct_state_create(&after, f.model, NULL), NULL);
    must(ct_state_create(&stepped, f.model, NULL), NULL);
    for (int i = 0; i < 2; i++) dots[i].of[CT_QUANTITY_CONTROL] = change[i];
    must(ct_step_jvp(f.model, f.work, f.state, f.control, 2, two, dots, after, NULL), NULL);
    for (int i = 0; i < 2; i++) {
        memset(one, 0, f.size * sizeof(double));
        must(ct_step_jvp(f.model, f.work, f.state, f.control, 1, one, &dots[i], NULL, NULL), NULL);
        assert_memory_equal(one, two + (size_t)i * f.size, f.size * sizeof(double));
    }
    must(ct_state_copy(stepped, f.state), NULL);
    must(ct_step(f.model, f.work, stepped, f.control, NULL), NULL);
    assert_memory_equal(ct_state_bytes(after), ct_state_bytes(stepped), ct_state_size(after));
    free(two), free(one);
    ct_state_free(after), ct_state_free(stepped);
    end(&f);
}

static void what_is_not_there_is_refused(void** s) {
    fixture f = begin(&finger);
    double *dot = numbers(f.size), *density = numbers(f.nyoung);
    ct_values dots = {0};
    dots.of[CT_QUANTITY_DENSITY] = density;
    assert_int_equal(ct_step_jvp(f.model, f.work, f.state, f.control, 1, dot, &dots, NULL, NULL),
                     CT_UNSUPPORTED);
    free(dot), free(density);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_of_the_reverse_octopus),
        cmocka_unit_test(transpose_of_the_reverse_fish),
        cmocka_unit_test(transpose_of_the_reverse_arm),
        cmocka_unit_test(transpose_of_the_reverse_arm_sdirk3),
        cmocka_unit_test(transpose_of_the_reverse_passive),
        cmocka_unit_test(transpose_of_the_reverse_drone),
        cmocka_unit_test(transpose_of_the_reverse_finger),
        cmocka_unit_test(transpose_of_the_reverse_tendon),
        cmocka_unit_test(transpose_of_the_reverse_balloon),
        cmocka_unit_test(transpose_of_the_reverse_cloth),
        cmocka_unit_test(transpose_of_the_reverse_hand),
        cmocka_unit_test(transpose_of_the_reverse_humanoid),
        cmocka_unit_test(transpose_of_the_reverse_gripper),
        cmocka_unit_test(transpose_of_the_reverse_cart),
        cmocka_unit_test(transpose_of_the_reverse_halved_cart),
        cmocka_unit_test(transpose_of_the_reverse_identify),
        cmocka_unit_test(differences_octopus),
        cmocka_unit_test(differences_arm),
        cmocka_unit_test(differences_arm_sdirk3),
        cmocka_unit_test(differences_passive),
        cmocka_unit_test(differences_finger),
        cmocka_unit_test(differences_cloth),
        cmocka_unit_test(differences_drone),
        cmocka_unit_test(differences_fish),
        cmocka_unit_test(differences_cart),
        cmocka_unit_test(differences_hand),
        cmocka_unit_test(many_directions_have_the_numbers_of_single_ones),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
