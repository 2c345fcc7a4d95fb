// What is searched for, as JSON: parameters, the terms of the objective, the settings of the optimiser.
#include <math.h>

#include "quantity/fields.h"
#include "skeleton/joint.h"
#include "write/write.h"

static void write_wave(ct_json_put* out, const char* key, const ct_wave_number* wave) {
    ct_put_object(out, key);
    ct_put_number(out, "start", wave->start);
    ct_write_finite(out, "lower", wave->lower);
    ct_write_finite(out, "upper", wave->upper);
    ct_write_flag(out, "fixed", wave->fixed);
    ct_put_end(out);
}

static void write_shape(ct_json_put* out, const ct_scene_parameter* p) {
    static const char* const waves[] = {"amplitude", "frequency", "phase", "center"};
    if (p->shape != CT_CURVE_STEPS) ct_put_text(out, "shape", ct_curve_name(p->shape));
    if (p->shape == CT_CURVE_SPLINE) ct_put_integer(out, "knots", p->knots);
    for (int i = 0; p->shape == CT_CURVE_SINUSOID && i < 4; i++) write_wave(out, waves[i], &p->wave[i]);
    if (p->hold != 1) ct_put_integer(out, "hold", p->hold);
}

// What a sinusoid has in its waves.
static void write_range(ct_json_put* out, const ct_scene_parameter* p) {
    ct_put_text(out, "transform", ct_transform_name(p->transform));
    ct_write_finite(out, "lower", p->lower);
    ct_write_finite(out, "upper", p->upper);
    ct_write_unless(out, "scale", p->scale, 0);
    ct_write_unless(out, "offset", p->offset, 0);
    if (p->nstart) ct_put_numbers(out, "start", p->starts, (size_t)p->nstart);
    else if (!isnan(p->start)) ct_put_number(out, "start", p->start);
}

static void write_parameter(ct_json_put* out, const ct_scene* scene, const ct_scene_parameter* p) {
    const ct_parameter_per usual = ct_parameter_def_default().per;
    ct_put_object(out, NULL);
    ct_put_text(out, "name", p->name);
    ct_put_text(out, "type", ct_quantity_name(p->quantity));
    if (p->per != usual) ct_put_text(out, "per", ct_parameter_per_name(p->per));
    if (p->body >= 0) ct_put_text(out, "body", scene->body[p->body].name);
    if (p->control >= 0) ct_put_text(out, "control", scene->control[p->control].name);
    if (p->link >= 0) ct_put_text(out, "link", scene->link[p->link].name);
    if (p->actuator >= 0) ct_put_text(out, "actuator", scene->actuator[p->actuator].name);
    write_shape(out, p);
    if (p->shape != CT_CURVE_SINUSOID) write_range(out, p);
    ct_put_end(out);
}

void ct_write_parameters(ct_json_put* out, const ct_scene* scene) {
    if (scene->nparameter) ct_put_array(out, "parameters");
    for (int i = 0; i < scene->nparameter; i++) write_parameter(out, scene, &scene->parameter[i]);
    if (scene->nparameter) ct_put_end(out);
}

// -------------------------------------------------------------------------------------------------
// The objective

static void write_target(ct_json_put* out, const ct_scene* scene, const ct_scene_objective* o,
                         const ct_keyframe* key) {
    const int ndof = o->link < 0 ? 3 : ct_joint_type_of(scene->link[o->link].joint.kind)->ndof;
    if (ndof == 1) ct_put_number(out, "target", key->translate[0]);
    else ct_put_numbers(out, "target", key->translate, (size_t)ndof);
}

static void write_path(ct_json_put* out, const ct_scene* scene, const ct_scene_objective* o) {
    if (o->npath == 1 && o->path[0].time == 0) {
        write_target(out, scene, o, &o->path[0]);
        return;
    }
    if (!o->npath) return;
    ct_put_array(out, "path");
    for (int i = 0; i < o->npath; i++) {
        ct_put_object(out, NULL);
        ct_put_number(out, "time", o->path[i].time);
        write_target(out, scene, o, &o->path[i]);
        ct_put_end(out);
    }
    ct_put_end(out);
}

static void write_window(ct_json_put* out, const ct_scene_objective* o) {
    if (isnan(o->start)) return;
    if (o->start == o->stop) {
        ct_put_number(out, "time", o->start);
        return;
    }
    ct_put_number(out, "from", o->start);
    ct_write_finite(out, "to", o->stop);
}

static void write_term(ct_json_put* out, const ct_scene* scene, const ct_scene_objective* o) {
    ct_put_object(out, NULL);
    ct_put_text(out, "name", o->name);
    ct_put_text(out, "type", ct_objective_kind_name(o->kind));
    if (o->nnode) ct_write_nodes(out, "select", scene, o->node, o->nnode);
    ct_write_flag(out, "uniform", o->uniform);
    if (o->link >= 0) ct_put_text(out, "link", scene->link[o->link].name);
    if (o->control >= 0) ct_put_text(out, "control", scene->control[o->control].name);
    write_path(out, scene, o);
    ct_write_flag(out, "relative", o->relative);
    if (o->shape) ct_put_rows(out, "shape", o->shape, (size_t)o->nnode, 3);
    write_window(out, o);
    ct_put_number(out, "weight", o->weight);
    if (o->distance || o->linear) ct_put_text(out, "norm", o->distance ? "distance" : "linear");
    ct_write_vector(out, "axis", o->axis);
    ct_put_end(out);
}

void ct_write_objective(ct_json_put* out, const ct_scene* scene) {
    if (scene->nobjective) ct_put_array(out, "objective");
    for (int i = 0; i < scene->nobjective; i++) write_term(out, scene, &scene->objective[i]);
    if (scene->nobjective) ct_put_end(out);
}

// -------------------------------------------------------------------------------------------------
// The optimiser

void ct_write_optimizer(ct_json_put* out, const ct_scene* scene) {
    const ct_optimize_def* o = &scene->optimize;
    ct_put_object(out, "optimizer");
    ct_put_text(out, "method", ct_method_name(o->method));
    ct_put_integer(out, "iterations", o->iterations);
    if (o->target != -INFINITY) ct_put_number(out, "target", o->target);
    ct_put_number(out, "rate", o->rate);
    ct_put_number(out, "tolerance", o->tolerance);
    ct_put_integer(out, "restarts", o->restarts);
    ct_put_integer(out, "seed", (long long)o->seed);
    ct_put_number(out, "noise", o->noise);
    ct_put_number(out, "spread", o->spread);
    ct_put_integer(out, "population", o->population);
    ct_put_end(out);
}
