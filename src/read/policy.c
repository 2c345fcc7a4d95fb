// Reads the policy of a scene.
#include <stdio.h>

#include "base/memory.h"
#include "read/read.h"
#include "text/words.h"

typedef struct policy_reader {
    ct_scene* scene;
    ct_arena arena;
    ct_policy_def def;
    int** sets;  // of nodes, nobserve, each freed by ct_free
} policy_reader;

static void read_observation(policy_reader* r, ct_json at, ct_observe_def* out, int** nodes) {
    int count = 0;
    *out = ct_observe_def_default();
    if (!ct_read_keys(at, CT_OBJECT_OBSERVE)) return;
    for (int i = 0; ct_observe_kind_words[i]; i++) {
        if (!ct_json_has(at, ct_observe_kind_words[i])) continue;
        out->kind = (ct_observe_kind)i;
        count++;
    }
    if (count != 1)
        ct_json_fail(at, "needs exactly one of \"position\", \"velocity\", \"joint\" and \"phase\"");
    if (at.reader->status) return;
    ct_json value = ct_json_member(at, ct_observe_kind_name(out->kind));
    if (out->kind <= CT_OBSERVE_VELOCITY) {
        ct_read_selection(r->scene, value, nodes, &out->count);
        out->nodes = *nodes;
        ct_read_body_reference(r->scene, ct_json_member(at, "relative"), &out->relative);
    } else if (ct_json_has(at, "relative")) {
        ct_json_fail(ct_json_member(at, "relative"), "is for positions and velocities: remove it");
    }
    if (out->kind == CT_OBSERVE_JOINT) ct_json_text(value, &out->link);
    if (out->kind == CT_OBSERVE_PHASE) ct_json_number(value, &out->frequency);
    ct_json_number(ct_json_member(at, "scale"), &out->scale);
}

static void read_observations(policy_reader* r, ct_json at) {
    size_t count = ct_json_length(at);
    ct_observe_def* observe = ct_arena_alloc(&r->arena, count, sizeof *observe);
    r->sets = ct_arena_alloc(&r->arena, count, sizeof *r->sets);
    if (r->arena.failed) ct_json_out_of_memory(at);
    if (at.reader->status) return;
    r->def.observe = observe;
    r->def.nobserve = (int)count;
    for (size_t i = 0; i < count && !at.reader->status; i++)
        read_observation(r, ct_json_item(at, i), &observe[i], &r->sets[i]);
}

static void read_outputs(policy_reader* r, ct_json at) {
    if (!at.value) return;
    size_t count = ct_json_length(at);
    const char** names = ct_arena_alloc(&r->arena, count, sizeof *names);
    if (!names) ct_json_out_of_memory(at);
    for (size_t i = 0; i < count && !at.reader->status; i++) ct_json_text(ct_json_item(at, i), &names[i]);
    r->def.controls = names;
    r->def.ncontrol = (int)count;
}

static void read_weights(policy_reader* r, ct_json at, const char* directory) {
    if (!at.value || at.reader->status) return;
    bool file = json_is_string(at.value);
    size_t count = file ? ct_read_numbers(at, directory, NULL, 0) : ct_json_length(at);
    if (!at.reader->status && count > 100000000) ct_json_fail(at, "has %zu numbers: too many", count);
    double* weights = at.reader->status ? NULL : ct_arena_alloc(&r->arena, count, sizeof *weights);
    if (!at.reader->status && !weights) ct_json_out_of_memory(at);
    if (at.reader->status) return;
    if (file) ct_read_numbers(at, directory, weights, count);
    else ct_json_numbers(at, weights, count);
    r->def.weights = weights;
    r->def.nweight = (int)count;
}

void ct_read_policy(ct_scene* scene, ct_json at, const char* directory) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_POLICY)) return;
    policy_reader r = {.scene = scene, .def = ct_policy_def_default()};
    ct_error inner;
    int seed = (int)r.def.seed;
    read_observations(&r, ct_json_required(at, "observe"));
    ct_json_integer(ct_json_member(at, "hidden"), 1, 1000000, &r.def.hidden);
    ct_json_number(ct_json_member(at, "scale"), &r.def.scale);
    ct_json_integer(ct_json_member(at, "seed"), 0, 2147483647, &seed);
    r.def.seed = (uint64_t)seed;
    read_outputs(&r, ct_json_member(at, "controls"));
    read_weights(&r, ct_json_member(at, "weights"), directory);
    if (!at.reader->status) ct_json_relay(at, ct_scene_set_policy(scene, &r.def, &inner), &inner);
    for (int i = 0; r.sets && i < r.def.nobserve; i++) ct_free(r.sets[i]);
    ct_arena_free(&r.arena);
}
