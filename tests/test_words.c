// Names of enum values: each value has one of its own, what lies beyond has none, and names lead back.
#include <string.h>

#include "cuttle.h"
#include "unit.h"

typedef const char* (*name_function)(int);

#define KIND(kind, last)                                                                                     \
    static const char* kind##_text(int value) { return kind##_name((kind)value); }                           \
    enum { kind##_last = last };
#define KINDS(X)                                                                                             \
    X(ct_energy, CT_ENERGY_COUNT - 1)                                                                        \
    X(ct_integrator, CT_INTEGRATOR_MIDPOINT)                                                                 \
    X(ct_solver, CT_SOLVER_PROJECTIVE)                                                                       \
    X(ct_contact_method, CT_CONTACT_METHOD_SPLIT)                                                            \
    X(ct_split, CT_SPLIT_NODES)                                                                              \
    X(ct_select_kind, CT_SELECT_NOT)                                                                         \
    X(ct_force_kind, CT_FORCE_ACCELERATION)                                                                  \
    X(ct_obstacle_kind, CT_OBSTACLE_MESH)                                                                    \
    X(ct_contact_type, CT_CONTACT_TYPE_POINT_POINT)                                                          \
    X(ct_contact_set, CT_CONTACT_SET_SLIP)                                                                   \
    X(ct_control_kind, CT_CONTROL_LENGTH)                                                                    \
    X(ct_actuator_kind, CT_ACTUATOR_CABLE)                                                                   \
    X(ct_eyelet_seat, CT_EYELET_LINK)                                                                        \
    X(ct_cable_hold, CT_CABLE_LENGTH)                                                                        \
    X(ct_cells, CT_CELLS_PER_TET)                                                                            \
    X(ct_observe_kind, CT_OBSERVE_ACTUATION)                                                                 \
    X(ct_parameter_per, CT_PER_SCENE)                                                                        \
    X(ct_quantity_of, CT_OF_CONTROLS)                                                                        \
    X(ct_quantity_role, CT_ROLE_CONTROL)                                                                     \
    X(ct_transform, CT_TRANSFORM_SIGMOID)                                                                    \
    X(ct_curve, CT_CURVE_SINUSOID)                                                                           \
    X(ct_objective_kind, CT_OBJECTIVE_JOINT)                                                                 \
    X(ct_method, CT_METHOD_NELDER_MEAD)                                                                      \
    X(ct_mesh_format, CT_MESH_STL)                                                                           \
    X(ct_tet_field, CT_FIELD_ACTIVATION)                                                                     \
    X(ct_export_format, CT_EXPORT_GLB)                                                                       \
    X(ct_bones, CT_BONES_OFF)
KINDS(KIND)

static void check_names(const char* kind, name_function name, int last) {
    for (int i = 0; i <= last; i++) {
        const char* word = name(i);
        if (!word || !*word) fail_msg("%s has no name for its value %d", kind, i);
        for (int k = 0; k < i; k++)
            if (!strcmp(word, name(k))) fail_msg("%s calls both %d and %d \"%s\"", kind, k, i, word);
    }
    if (name(last + 1) || name(-1)) fail_msg("%s has a name for a value that it does not have", kind);
}

static void every_value_has_a_name_of_its_own(void** unused) {
    (void)unused;
#define CHECK(kind, last) check_names(#kind, kind##_text, kind##_last);
    KINDS(CHECK)
}

static const char* joint_text(int value) { return ct_joint_kind_name((ct_joint_kind)value); }

static void every_joint_has_a_name_of_its_own(void** unused) {
    (void)unused;
    int count = 0;
    while (joint_text(count)) count++;
    assert_true(count > CT_JOINT_FREE);
    check_names("ct_joint_kind", joint_text, count - 1);
}

static void names_lead_back_to_their_values(void** unused) {
    (void)unused;
#define RETURNS(kind)                                                                                        \
    for (int i = 0; i <= kind##_last; i++) {                                                                 \
        kind value = (kind)(kind##_last - i);                                                                \
        assert_true(kind##_find(kind##_text(i), &value));                                                    \
        assert_int_equal((int)value, i);                                                                     \
    }
    RETURNS(ct_method)
    RETURNS(ct_mesh_format)
    RETURNS(ct_export_format)
    RETURNS(ct_bones)
    ct_method method = CT_METHOD_MMA;
    assert_false(ct_method_find("newton", &method));
    assert_false(ct_method_find("", &method));
    assert_false(ct_method_find(NULL, &method));
    assert_int_equal((int)method, CT_METHOD_MMA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_a_name_of_its_own),
        cmocka_unit_test(every_joint_has_a_name_of_its_own),
        cmocka_unit_test(names_lead_back_to_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
