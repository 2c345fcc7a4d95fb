// Reads the settings of the optimiser.
#include "read/read.h"

void ct_read_optimizer(ct_scene* scene, ct_json at) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_OPTIMIZER)) return;
    ct_optimize_def def = scene->optimize;
    ct_error inner;
    int method = (int)def.method, seed = (int)def.seed;
    ct_read_choice(ct_json_member(at, "method"), CT_CHOICE_METHOD, &method);
    def.method = (ct_method)method;
    ct_json_integer(ct_json_member(at, "iterations"), 1, 2147483647, &def.iterations);
    ct_json_number(ct_json_member(at, "target"), &def.target);
    ct_json_number(ct_json_member(at, "rate"), &def.rate);
    ct_json_number(ct_json_member(at, "tolerance"), &def.tolerance);
    ct_json_integer(ct_json_member(at, "restarts"), 0, 2147483647, &def.restarts);
    ct_json_integer(ct_json_member(at, "seed"), 0, 2147483647, &seed);
    def.seed = (uint64_t)seed;
    ct_json_number(ct_json_member(at, "noise"), &def.noise);
    ct_json_number(ct_json_member(at, "spread"), &def.spread);
    ct_json_integer(ct_json_member(at, "population"), 0, 1000000, &def.population);
    if (!at.reader->status) ct_json_relay(at, ct_scene_set_optimize_def(scene, &def, &inner), &inner);
}
