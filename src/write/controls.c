// Controls with their values along time, and the policy, as JSON.
#include "write/write.h"

static void write_kind(ct_json_put* out, const ct_scene* scene, const ct_scene_control* c) {
    switch (c->kind) {
    case CT_CONTROL_FORCE:
        ct_put_object(out, "force");
        ct_write_nodes(out, "select", scene, c->node, c->nnode);
        ct_put_end(out);
        break;
    case CT_CONTROL_TORQUE:
    case CT_CONTROL_TARGET: ct_put_text(out, ct_control_kind_name(c->kind), scene->link[c->link].name); break;
    case CT_CONTROL_DRIVE:
    case CT_CONTROL_MOVE: {
        const char* key = c->kind == CT_CONTROL_DRIVE ? "drive" : "move";
        if (c->drive >= 0) ct_put_integer(out, key, c->drive);
        else ct_put_text(out, key, scene->link[c->link].name);
        break;
    }
    default: ct_put_text(out, "actuator", scene->actuator[c->actuator].name);
    }
}

static void write_values(ct_json_put* out, const ct_scene_control* c) {
    if (!c->nvalue) return;
    ct_put_array(out, "values");
    for (int i = 0; i < c->nvalue; i++) {
        ct_put_object(out, NULL);
        ct_put_number(out, "time", c->time[i]);
        ct_put_numbers(out, "value", c->value + (size_t)i * (size_t)c->size, (size_t)c->size);
        ct_put_end(out);
    }
    ct_put_end(out);
    ct_write_flag(out, "repeat", c->repeat);
}

void ct_write_controls(ct_json_put* out, const ct_scene* scene) {
    if (scene->ncontrol) ct_put_array(out, "controls");
    for (int i = 0; i < scene->ncontrol; i++) {
        const ct_scene_control* c = &scene->control[i];
        ct_put_object(out, NULL);
        ct_put_text(out, "name", c->name);
        write_kind(out, scene, c);
        write_values(out, c);
        ct_put_end(out);
    }
    if (scene->ncontrol) ct_put_end(out);
}

// -------------------------------------------------------------------------------------------------
// The policy

static void write_observation(ct_json_put* out, const ct_scene* scene, const ct_observe* o) {
    const char* key = ct_observe_kind_name(o->kind);
    ct_put_object(out, NULL);
    if (o->kind <= CT_OBSERVE_VELOCITY) ct_write_nodes(out, key, scene, o->node, o->nnode);
    if (o->kind == CT_OBSERVE_JOINT) ct_put_text(out, key, scene->link[o->link].name);
    if (o->kind == CT_OBSERVE_PHASE) ct_put_number(out, key, o->frequency);
    if (o->nother) ct_put_text(out, "relative", scene->body[ct_scene_node_body(scene, o->other[0])].name);
    ct_put_number(out, "scale", o->scale);
    ct_put_end(out);
}

void ct_write_policy(ct_json_put* out, const ct_scene* scene) {
    const ct_policy* p = &scene->policy;
    if (!p->enabled) return;
    ct_put_object(out, "policy");
    ct_put_array(out, "observe");
    for (int i = 0; i < p->nobserve; i++) write_observation(out, scene, &p->observe[i]);
    ct_put_end(out);
    ct_put_integer(out, "hidden", p->hidden);
    ct_put_number(out, "scale", p->scale);
    ct_put_array(out, "controls");
    for (int i = 0; i < p->nout; i++)
        for (int c = 0; c < scene->ncontrol; c++)
            if (ct_scene_control_first(scene, c) == p->out[i] && scene->control[c].size)
                ct_put_text(out, NULL, scene->control[c].name);
    ct_put_end(out);
    ct_put_numbers(out, "weights", p->weight, (size_t)p->nweight);
    ct_put_end(out);
}
