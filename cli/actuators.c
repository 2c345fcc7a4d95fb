// Muscles, chambers, cavities and cables of a model, and what they are doing in a state: lines or JSON.
#include "cli.h"

#include <stdio.h>

enum { LISTED = 12 };  // numbers of an actuator that are printed

static void print_numbers(const double* value, int count) {
    for (int i = 0; i < count && i < LISTED; i++) printf("%s%.4g", i ? " " : "", value[i]);
    if (count > LISTED) printf(" ... (%d)", count);
}

void cli_print_actuators(const ct_model* model, const ct_state* state) {
    const double* value = ct_state_actuation(state);
    for (int k = 0; k < ct_model_actuator_count(model); k++) {
        ct_actuator_info info;
        double volume = 0, rest = 0, pressure = 0, length = 0, tension = 0;
        info = ct_model_actuator_info(model, k);
        printf("  %s %s: %d %s, ", ct_actuator_kind_name(info.kind), info.name, info.element_count,
               info.kind == CT_ACTUATOR_CAVITY  ? "triangles"
               : info.kind == CT_ACTUATOR_CABLE ? "eyelets"
                                                : "tets");
        if (ct_state_cable(model, state, k, &length, &rest, &tension) == CT_OK) {
            printf("%.4g m (%.3f times that at rest), %.4g N\n", length, length / rest, tension);
            continue;
        }
        if (ct_state_cavity(model, state, k, &volume, &rest, &pressure) == CT_OK) {
            printf("%.4g m^3 (%.3f times its rest volume), %.4g Pa\n", volume, volume / rest, pressure);
            continue;
        }
        printf("%.3g Pa, %s ", info.stiffness,
               info.kind == CT_ACTUATOR_MUSCLE ? "activation" : "volume ratio");
        print_numbers(value + info.first, info.count);
        printf("\n");
    }
}

json_t* cli_actuator_objects(const ct_model* model, const ct_state* state) {
    json_t* array = json_array();
    const double* value = ct_state_actuation(state);
    for (int k = 0; k < ct_model_actuator_count(model); k++) {
        ct_actuator_info info;
        double volume, rest, pressure, length, tension;
        info = ct_model_actuator_info(model, k);
        json_t* object = json_pack("{s:s, s:s, s:i}", "name", info.name, "kind",
                                   ct_actuator_kind_name(info.kind), "elements", info.element_count);
        if (ct_state_cable(model, state, k, &length, &rest, &tension) == CT_OK) {
            json_object_update_new(object, json_pack("{s:f, s:f, s:f}", "length", length, "rest_length", rest,
                                                     "tension", tension));
        } else if (ct_state_cavity(model, state, k, &volume, &rest, &pressure) == CT_OK) {
            json_object_update_new(object, json_pack("{s:f, s:f, s:f}", "volume", volume, "rest_volume", rest,
                                                     "pressure", pressure));
        } else {
            json_t* numbers = json_array();
            for (int i = 0; i < info.count; i++)
                json_array_append_new(numbers, json_real(value[info.first + i]));
            json_object_set_new(object, "stiffness", json_real(info.stiffness));
            json_object_set_new(object, "activation", numbers);
        }
        json_array_append_new(array, object);
    }
    return array;
}
