// Reads parameters: what is varied, within which bounds, and the shape of a control along time.
#include "base/memory.h"
#include "quantity/fields.h"
#include "read/read.h"

// A start, or an object with bounds.
static void read_wave_number(ct_json at, ct_wave_number* out) {
    if (!at.value || json_is_number(at.value)) {
        ct_json_number(at, &out->start);
        return;
    }
    if (!ct_read_keys(at, CT_OBJECT_WAVE)) return;
    ct_json_number(ct_json_required(at, "start"), &out->start);
    ct_json_number(ct_json_member(at, "lower"), &out->lower);
    ct_json_number(ct_json_member(at, "upper"), &out->upper);
    ct_json_bool(ct_json_member(at, "fixed"), &out->fixed);
}

static void refuse(ct_json at, bool wrong, const char* key, const char* shape) {
    if (wrong && ct_json_has(at, key))
        ct_json_fail(ct_json_member(at, key), "has no meaning for the shape \"%s\": remove it", shape);
}

static void read_shape(ct_json at, ct_parameter_def* def) {
    static const char* const waves[] = {"amplitude", "frequency", "phase", "center"};
    static const char* const plain[] = {"transform", "lower", "upper", "scale", "offset", "start"};
    int shape = (int)def->shape;
    ct_json_choice(ct_json_member(at, "shape"), ct_scene_choices[CT_CHOICE_SHAPE].words, &shape);
    def->shape = (ct_curve)shape;
    const char* name = ct_scene_choices[CT_CHOICE_SHAPE].words[shape];
    refuse(at, def->shape != CT_CURVE_STEPS, "hold", name);
    refuse(at, def->shape != CT_CURVE_STEPS, "per", name);
    refuse(at, def->shape != CT_CURVE_SPLINE, "knots", name);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        refuse(at, def->shape == CT_CURVE_SINUSOID, plain[i], name);
    for (size_t i = 0; i < sizeof waves / sizeof waves[0]; i++)
        refuse(at, def->shape != CT_CURVE_SINUSOID, waves[i], name);
    ct_json_integer(ct_json_member(at, "knots"), 2, 2147483647, &def->knots);
    if (def->shape != CT_CURVE_SINUSOID) return;
    read_wave_number(ct_json_required(at, waves[0]), &def->amplitude);
    read_wave_number(ct_json_required(at, waves[1]), &def->frequency);
    read_wave_number(ct_json_member(at, waves[2]), &def->phase);
    read_wave_number(ct_json_member(at, waves[3]), &def->center);
}

// Keys that mean nothing for what the quantity belongs to.
static void refuse_keys(ct_json at, ct_quantity quantity) {
    static const char* const body[] = {"body", NULL};
    static const char* const link[] = {"link", NULL};
    static const char* const actuator[] = {"actuator", NULL};
    static const char* const per[] = {"per", NULL};
    static const char* const time[] = {"control",   "hold",  "shape",  "knots", "amplitude",
                                       "frequency", "phase", "center", NULL};
    const ct_quantity_info* info = ct_quantity_row(quantity);
    ct_actuator_kind unused;
    bool nodes = info->of == CT_OF_NODES || ct_fields_of_elements(quantity);
    bool whole = info->of == CT_OF_SCENE || info->of == CT_OF_WATER || info->of == CT_OF_POLICY;
    if (!nodes) ct_read_refuse(at, info->name, body);
    if (!ct_fields_of_links(quantity)) ct_read_refuse(at, info->name, link);
    if (!ct_fields_of_actuators(quantity, &unused)) ct_read_refuse(at, info->name, actuator);
    if (whole) ct_read_refuse(at, info->name, per);
    if (info->of != CT_OF_CONTROLS) ct_read_refuse(at, info->name, time);
}

// A number, or one for each of the parameter's; freed by ct_free.
static double* read_starts(ct_json at, ct_parameter_def* def) {
    if (!at.value || !json_is_array(at.value)) {
        ct_json_number(at, &def->start);
        return NULL;
    }
    size_t count = ct_json_length(at);
    double* starts = ct_alloc(count, sizeof *starts);
    if (!starts) ct_json_out_of_memory(at);
    if (!at.reader->status) ct_json_numbers(at, starts, count);
    def->starts = starts;
    def->nstart = (int)count;
    return starts;
}

void ct_read_parameter(ct_scene* scene, ct_json at) {
    ct_parameter_def def = ct_parameter_def_default();
    ct_error inner;
    if (!ct_read_keys(at, CT_OBJECT_PARAMETER)) return;
    int quantity = 0, per = (int)def.per, transform = (int)def.transform;
    ct_json_text(ct_json_member(at, "name"), &def.name);
    ct_read_choice(ct_json_required(at, "type"), CT_CHOICE_PARAMETER, &quantity);
    ct_read_choice(ct_json_member(at, "per"), CT_CHOICE_PER, &per);
    ct_read_choice(ct_json_member(at, "transform"), CT_CHOICE_TRANSFORM, &transform);
    def.quantity = (ct_quantity)quantity;
    def.per = (ct_parameter_per)per;
    def.transform = (ct_transform)transform;
    refuse_keys(at, def.quantity);
    read_shape(at, &def);
    ct_read_body_reference(scene, ct_json_member(at, "body"), &def.body);
    ct_json_text(ct_json_member(at, "control"), &def.control);
    ct_json_text(ct_json_member(at, "link"), &def.link);
    ct_json_text(ct_json_member(at, "actuator"), &def.actuator);
    ct_json_integer(ct_json_member(at, "hold"), 1, 2147483647, &def.hold);
    ct_json_number(ct_json_member(at, "lower"), &def.lower);
    ct_json_number(ct_json_member(at, "upper"), &def.upper);
    ct_json_number(ct_json_member(at, "scale"), &def.scale);
    ct_json_number(ct_json_member(at, "offset"), &def.offset);
    double* starts = read_starts(ct_json_member(at, "start"), &def);
    if (!at.reader->status) ct_json_relay(at, ct_scene_add_parameter(scene, &def, &inner), &inner);
    ct_free(starts);
}
