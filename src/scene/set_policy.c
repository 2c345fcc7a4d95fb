// The policy of a scene from its definition: what it observes, which controls it drives, its weights at the
// start.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "scene/scene.h"
#include "skeleton/joint.h"

ct_observe_def ct_observe_def_default(void) {
    return (ct_observe_def){.kind = CT_OBSERVE_POSITION, .relative = -1, .scale = 1, .frequency = 1};
}
ct_policy_def ct_policy_def_default(void) { return (ct_policy_def){.hidden = 16, .scale = 1, .seed = 1}; }

// ---- observations --------------------------------------------------------------------------

static void add_mean(const ct_scene* scene, const int* node, int nnode, double sign, double mean[3]) {
    for (int i = 0; i < nnode; i++) {
        const ct_scene_body* body = &scene->body[ct_scene_node_body(scene, node[i])];
        for (int a = 0; a < 3; a++)
            mean[a] += sign * body->mesh->x[3 * (size_t)(node[i] - body->first_node) + (size_t)a] / nnode;
    }
}

static ct_status add_sets(ct_scene* scene, const ct_observe_def* def, ct_observe* o, ct_error* error) {
    int* sorted;
    ct_status status = ct_scene_sorted_nodes(scene, def->nodes, def->count, &sorted, &o->nnode, error);
    if (status) return status;
    o->node = ct_arena_copy(&scene->arena, sorted, (size_t)o->nnode, sizeof *o->node);
    ct_free(sorted);
    if (def->relative < -1 || def->relative >= scene->nbody)
        return ct_scene_fail(error, "relative", "is %d: it must be a body, from 0 to %d, or -1",
                             def->relative, scene->nbody - 1);
    if (def->relative >= 0) {
        const ct_scene_body* body = &scene->body[def->relative];
        o->nother = body->mesh->nvert;
        o->other = ct_arena_alloc(&scene->arena, (size_t)o->nother, sizeof *o->other);
        for (int i = 0; o->other && i < o->nother; i++) o->other[i] = body->first_node + i;
    }
    if (!o->node || (o->nother && !o->other)) return ct_scene_out_of_memory(error);
    add_mean(scene, o->node, o->nnode, 1, o->rest);
    add_mean(scene, o->other, o->nother, -1, o->rest);
    return CT_OK;
}

static ct_status add_observation(ct_scene* scene, const ct_observe_def* def, ct_observe* o, ct_error* error) {
    *o = (ct_observe){.kind = def->kind, .scale = def->scale, .frequency = def->frequency, .link = -1};
    if ((unsigned)def->kind > CT_OBSERVE_PHASE)
        return ct_scene_fail(error, "kind",
                             "is not one that policies see: these are the first of ct_observe_kind");
    if (!isfinite(def->scale) || !isfinite(def->frequency))
        return ct_scene_fail(error, "scale", "and frequency must be finite");
    if (def->kind <= CT_OBSERVE_VELOCITY) return add_sets(scene, def, o, error);
    if (def->kind == CT_OBSERVE_PHASE) return CT_OK;
    o->link = def->link ? ct_scene_find_link(scene, def->link) : -1;
    if (o->link < 0)
        return ct_scene_fail(error, "joint", "is \"%.60s\": there is no link of that name",
                             def->link ? def->link : "");
    if (ct_joint_type_of(scene->link[o->link].joint.kind)->ndof != 1)
        return ct_scene_fail(error, "joint",
                             "is \"%.60s\", whose joint has not one coordinate: observe one that turns about "
                             "or slides along an axis",
                             def->link);
    return CT_OK;
}

// ---- outputs and weights -------------------------------------------------------------------

static void add_output(const ct_scene* scene, int control, ct_policy* policy) {
    int first = ct_scene_control_first(scene, control);
    for (int i = 0; i < scene->control[control].size; i++) policy->out[policy->nout++] = first + i;
}

static ct_status add_outputs(ct_scene* scene, const ct_policy_def* def, ct_policy* policy, ct_error* error) {
    int all = ct_scene_control_first(scene, scene->ncontrol),
        count = def->controls ? def->ncontrol : scene->ncontrol;
    if (!all || count < 1)
        return ct_scene_fail(error, "controls", "has nothing to set: the scene needs a control");
    policy->out = ct_arena_alloc(&scene->arena, (size_t)all, sizeof *policy->out);
    unsigned char* used = ct_arena_alloc(&scene->arena, (size_t)scene->ncontrol, 1);
    if (!policy->out || !used) return ct_scene_out_of_memory(error);
    for (int i = 0; i < count; i++) {
        int control = def->controls ? ct_scene_find_control(scene, def->controls[i]) : i;
        if (control < 0 || used[control])
            return ct_scene_fail(error, "controls",
                                 "has \"%.60s\", which is not a control or is listed twice",
                                 def->controls[i]);
        used[control] = 1;
        add_output(scene, control, policy);
    }
    return CT_OK;
}

// Uniform in [-1, 1], splitmix64.
static double draw(uint64_t* seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)((z ^ (z >> 31)) >> 11) / (double)(1ll << 52) - 1;
}

static ct_status add_weights(ct_scene* scene, const ct_policy_def* def, ct_policy* p, ct_error* error) {
    double total = ((double)p->nin + 1) * p->hidden + ((double)p->hidden + 1) * p->nout;
    if (!(total < 1e8))
        return ct_scene_fail(error, "hidden", "is %d, which makes %.0f weights: use fewer", p->hidden, total);
    p->nweight = (int)total;
    p->weight = ct_arena_alloc(&scene->arena, (size_t)p->nweight, sizeof *p->weight);
    if (!p->weight) return ct_scene_out_of_memory(error);
    if (def->weights && def->nweight != p->nweight)
        return ct_scene_fail(error, "weights", "has %d numbers: the network has %d", def->nweight,
                             p->nweight);
    uint64_t seed = def->seed;
    int inner = p->nin * p->hidden, outer = inner + p->hidden;
    for (int i = 0; i < p->nweight; i++) {
        if (def->weights) p->weight[i] = def->weights[i];
        else if (i < inner) p->weight[i] = draw(&seed) / sqrt(p->nin);
        else if (i >= outer && i < outer + p->nout * p->hidden)
            p->weight[i] = 0.1 * draw(&seed) / sqrt(p->hidden);
        if (!isfinite(p->weight[i]))
            return ct_scene_fail(error, "weights", "has a number that is not finite");
    }
    return CT_OK;
}

ct_status ct_scene_set_policy(ct_scene* scene, const ct_policy_def* def, ct_error* error) {
    CT_NEED(error, scene);
    ct_error_clear(error);
    if (!def) {
        scene->policy.enabled = false;
        return CT_OK;
    }
    ct_policy policy = {
        .enabled = true, .nobserve = def->nobserve, .hidden = def->hidden, .scale = def->scale};
    if (def->nobserve < 1)
        return ct_scene_fail(error, "observe", "is empty: a policy needs something to observe");
    if (def->hidden < 1) return ct_scene_fail(error, "hidden", "is %d: it must be 1 or more", def->hidden);
    if (!isfinite(def->scale)) return ct_scene_fail(error, "scale", "must be a finite number");
    policy.observe = ct_arena_alloc(&scene->arena, (size_t)def->nobserve, sizeof *policy.observe);
    if (!policy.observe) return ct_scene_out_of_memory(error);
    ct_status status = CT_OK;
    for (int i = 0; !status && i < def->nobserve; i++) {
        status = add_observation(scene, &def->observe[i], &policy.observe[i], error);
        policy.nin += ct_observe_size(def->observe[i].kind);
    }
    if (!status) status = add_outputs(scene, def, &policy, error);
    if (!status) status = add_weights(scene, def, &policy, error);
    if (!status) scene->policy = policy;
    return status;
}
