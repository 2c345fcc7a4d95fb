// Reads the water of a scene.
#include "base/memory.h"
#include "read/read.h"

// Names of bodies and groups, borrowed from the JSON; NULL: all.
static const char** read_names(ct_json at, ct_arena* arena, int* count) {
    if (!at.value) return NULL;
    size_t length = ct_json_length(at);
    const char** names = ct_arena_alloc(arena, length, sizeof *names);
    if (!names) ct_json_out_of_memory(at);
    for (size_t i = 0; i < length && !at.reader->status; i++) ct_json_text(ct_json_item(at, i), &names[i]);
    *count = (int)length;
    return names;
}

void ct_read_water(ct_scene* scene, ct_json at) {
    if (!at.value || !ct_read_keys(at, CT_OBJECT_WATER)) return;
    ct_water_def def = ct_water_def_default();
    ct_arena arena = {0};
    ct_error inner;
    ct_json_number(ct_json_member(at, "density"), &def.density);
    ct_json_vector(ct_json_member(at, "current"), def.current);
    ct_json_numbers(ct_json_member(at, "drag"), def.drag, CT_WATER_DRAG);
    ct_json_numbers(ct_json_member(at, "thrust"), def.thrust, CT_WATER_THRUST);
    ct_json_bool(ct_json_member(at, "buoyancy"), &def.buoyancy);
    ct_json_number(ct_json_member(at, "level"), &def.level);
    ct_json_number(ct_json_member(at, "layer"), &def.layer);
    ct_json_number(ct_json_member(at, "slow"), &def.slow);
    def.bodies = read_names(ct_json_member(at, "bodies"), &arena, &def.nbody);
    if (!at.reader->status) ct_json_relay(at, ct_scene_set_water(scene, &def, &inner), &inner);
    ct_arena_free(&arena);
}
