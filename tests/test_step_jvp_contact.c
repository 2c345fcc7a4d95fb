// Forward mode through steps with contacts, held and moving frames, halved steps, and stages; see step_jvp.h.
#include "repeat.h"
#include "step_jvp.h"

static const example octopus = {"octopus", CT_INTEGRATOR_SDIRK3, 2, 0.3, 1, false, false, 0, false, 0},
                     finger = {"finger", CT_INTEGRATOR_SDIRK2, 2, 0.3, 1, false, false, 0, false, 0},
                     drone = {"drone", CT_INTEGRATOR_SDIRK3, 2, 0, 1, false, false, 0, false, 0},
                     middle = {"drone", CT_INTEGRATOR_MIDPOINT, 2, 0, 1, true, false, 0, false, 0},
                     cloth = {"cloth", CT_INTEGRATOR_SDIRK2, 2, 0, 1, true, false, 0, false, 0},
                     incline = {"incline", CT_INTEGRATOR_EULER, 30, 0, 0.01, false, false, 0, true, 0},
                     sticking = {"incline", CT_INTEGRATOR_EULER, 10, 0, 0.01, false, false, 0, true, 0.6},
                     incline_bdf2 = {"incline", CT_INTEGRATOR_BDF2, 30, 0, 0.01, false, false, 0, true, 0},
                     incline_sdirk2 = {"incline", CT_INTEGRATOR_SDIRK2, 30, 0, 0.01, false, false, 0, true,
                                       0},
                     gripper = {"gripper", CT_INTEGRATOR_EULER, 3, 1.2, 5e-4, false, false, 0, true, 0},
                     squeeze = {"squeeze", CT_INTEGRATOR_EULER, 40, 0, 0.01, false, false, 0, true, 0},
                     fall = {"humanoid_fall", CT_INTEGRATOR_EULER, 30, 0.05, 1, false, false, 0, true, 0},
                     sliding = {"sledge", CT_INTEGRATOR_SDIRK2, 12, 0.5, 0.01, false, false, 0, true, 0},
                     bullet = {"bullet", CT_INTEGRATOR_EULER, 1, 0, 1, false, false, 0, true, 0},
                     drape = {"drape", CT_INTEGRATOR_EULER, 10, 0, 1, false, false, 0, true, 0},
                     spinning = {"spin", CT_INTEGRATOR_EULER, 10, 0, 1e-3, false, false, 0, true, 0},
                     halved = {"drop", CT_INTEGRATOR_EULER, 60, 0, 1, false, false, 34, true, 0};

// Those that reach no lines which others do not: not under sanitizers.
static void check_more(void (*check)(const example*), const example* e) {
    if (REPEAT(true, false)) check(e);
}

static void transpose_of_the_reverse_octopus(void** s) { check_transpose(&octopus); }
static void transpose_of_the_reverse_finger(void** s) { check_transpose(&finger); }
static void transpose_of_the_reverse_drone(void** s) { check_transpose(&drone); }
static void transpose_of_the_reverse_middle(void** s) { check_transpose(&middle); }
static void transpose_of_the_reverse_cloth(void** s) { check_transpose(&cloth); }
static void transpose_of_the_reverse_incline(void** s) { check_transpose(&incline); }
static void transpose_of_the_reverse_sticking(void** s) { check_transpose(&sticking); }
static void transpose_of_the_reverse_incline_bdf2(void** s) { check_transpose(&incline_bdf2); }
static void transpose_of_the_reverse_incline_sdirk2(void** s) { check_transpose(&incline_sdirk2); }
static void transpose_of_the_reverse_gripper(void** s) { check_more(check_transpose, &gripper); }
static void transpose_of_the_reverse_squeeze(void** s) { check_more(check_transpose, &squeeze); }
static void transpose_of_the_reverse_sliding(void** s) { check_transpose(&sliding); }
static void transpose_of_the_reverse_fall(void** s) { check_more(check_transpose, &fall); }
static void transpose_of_the_reverse_bullet(void** s) { check_transpose(&bullet); }
static void transpose_of_the_reverse_drape(void** s) { check_transpose(&drape); }
static void transpose_of_the_reverse_spinning(void** s) { check_transpose(&spinning); }
static void transpose_of_the_reverse_halved(void** s) { check_transpose(&halved); }

static void differences_finger(void** s) { check_differences(&finger); }
static void differences_middle(void** s) { check_differences(&middle); }
static void differences_incline(void** s) { check_differences(&incline); }
static void differences_sticking(void** s) { check_differences(&sticking); }
static void differences_sliding(void** s) { check_differences(&sliding); }
static void differences_incline_sdirk2(void** s) { check_differences(&incline_sdirk2); }
static void differences_gripper(void** s) { check_more(check_differences, &gripper); }
static void differences_squeeze(void** s) { check_more(check_differences, &squeeze); }
static void differences_spinning(void** s) { check_differences(&spinning); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_of_the_reverse_octopus),
        cmocka_unit_test(transpose_of_the_reverse_finger),
        cmocka_unit_test(transpose_of_the_reverse_drone),
        cmocka_unit_test(transpose_of_the_reverse_middle),
        cmocka_unit_test(transpose_of_the_reverse_cloth),
        cmocka_unit_test(transpose_of_the_reverse_incline),
        cmocka_unit_test(transpose_of_the_reverse_sticking),
        cmocka_unit_test(transpose_of_the_reverse_incline_bdf2),
        cmocka_unit_test(transpose_of_the_reverse_incline_sdirk2),
        cmocka_unit_test(transpose_of_the_reverse_gripper),
        cmocka_unit_test(transpose_of_the_reverse_squeeze),
        cmocka_unit_test(transpose_of_the_reverse_sliding),
        cmocka_unit_test(transpose_of_the_reverse_fall),
        cmocka_unit_test(transpose_of_the_reverse_bullet),
        cmocka_unit_test(transpose_of_the_reverse_drape),
        cmocka_unit_test(transpose_of_the_reverse_spinning),
        cmocka_unit_test(transpose_of_the_reverse_halved),
        cmocka_unit_test(differences_finger),
        cmocka_unit_test(differences_middle),
        cmocka_unit_test(differences_incline),
        cmocka_unit_test(differences_sticking),
        cmocka_unit_test(differences_sliding),
        cmocka_unit_test(differences_incline_sdirk2),
        cmocka_unit_test(differences_gripper),
        cmocka_unit_test(differences_squeeze),
        cmocka_unit_test(differences_spinning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
