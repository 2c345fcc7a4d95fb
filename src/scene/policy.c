// Policies; see policy.h.
#include "scene/policy.h"

ct_status ct_policy_copy(ct_policy* out, ct_arena* arena, const ct_policy* policy) {
    *out = *policy;
    if (!policy->enabled) return CT_OK;
    out->observe = ct_arena_copy(arena, policy->observe, (size_t)policy->nobserve, sizeof *policy->observe);
    out->out = ct_arena_copy(arena, policy->out, (size_t)policy->nout, sizeof *policy->out);
    out->weight = ct_arena_copy(arena, policy->weight, (size_t)policy->nweight, sizeof *policy->weight);
    for (int i = 0; out->observe && i < policy->nobserve; i++) {
        const ct_observe* o = &policy->observe[i];
        out->observe[i].node = ct_arena_copy(arena, o->node, (size_t)o->nnode, sizeof(int));
        out->observe[i].other = ct_arena_copy(arena, o->other, (size_t)o->nother, sizeof(int));
    }
    return arena->failed ? CT_OUT_OF_MEMORY : CT_OK;
}
