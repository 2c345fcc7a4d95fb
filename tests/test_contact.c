// The contacts of a step: those that are pressed deep become stiffer, and gradients know.
#include "contact/contact.h"

#include "contact_problem.h"
#include "step/work.h"

// A corner thrown on a block, with a thickness that is small beside how far the contact gives way.
#define THROWN                                                                                               \
    "{'time_step': 0.005, 'duration': 0.05, 'gravity': 9.81, 'contact': {'friction': 0.3}, 'bodies': ["      \
    "{'name': 'low', 'box': {'size': [0.3, 0.1, 0.3], 'cells': [2, 1, 2]}, 'material': {'young': 1e5, "      \
    "'poisson': 0.35, 'density': 1000, 'damping': {'mass': 0.1, 'stiffness': 1e-3}}, 'contact_thickness': "  \
    "1e-5}, {'name': 'high', 'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}, 'rotate': {'axis': [1, "  \
    "0, -1], 'degrees': -50}, 'translate': [0.117, 0.104, 0.143], 'velocity': [0.3, -1.5, 0.1], "            \
    "'material': {'young': 1e5, 'poisson': 0.35, 'density': 1000, 'damping': {'mass': 0.1, 'stiffness': "    \
    "1e-3}}, 'contact_thickness': 1e-5}], 'pins': [{'select': {'body': 'low', 'box': [[-1, -0.001, -1], "    \
    "[1, "                                                                                                   \
    "0.001, 1]]}}], 'parameters': [" EVERYTHING "]}"

static void pressed_contacts_stay_in_the_upper_third(void** state) {
    sim s = start(scene_of(THROWN), 1);
    double stiffest = 1, deepest = 0;
    for (int k = 0; k < 10; k++) {
        ct_step_report report;
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
        const ct_contact_work* contact = s.work->contact;
        for (size_t i = 0; i < contact->count; i++) {
            const ct_touch* touch = &contact->touch[i];
            stiffest = fmax(stiffest, touch->is.stiffer);
            deepest = fmax(deepest, -touch->gap / (touch->is.pair.thickness - touch->is.pair.core));
        }
    }
    print_message("up to %g times stiffer, %g of the room used\n", stiffest, deepest);
    assert_true(stiffest >= 8);
    assert_true(deepest > 0 && deepest <= 0.3);
    stop(&s);
}

static void gradients_know_stiffer_contacts(void** state) {
    ct_scene* scene = scene_of(THROWN);
    compare_gradient("pressed deep", scene, 1e-6);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pressed_contacts_stay_in_the_upper_third),
        cmocka_unit_test(gradients_know_stiffer_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
