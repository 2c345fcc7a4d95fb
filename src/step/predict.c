// Where a solve starts; see predict.h.
#include "step/predict.h"

#include <string.h>

#include "step/external.h"
#include "step/link_stages.h"

// Joints continue with the rates of the last step; then the links' nodes go where the joints put them. `end`:
// where the (sub-)step ends, as a fraction of the step.
static void predict_joints(const ct_model* model, ct_work* work, const ct_state* state, const double* q_start,
                           double h, double end) {
    const ct_tree* tree = &model->tree;
    memcpy(work->at.q, state->q, (size_t)tree->ncoordinate * sizeof(double));
    double fraction = state->header->history ? h / model->settings.time_step : 0;
    if (fraction > 0) ct_joints_continue(tree, state->q, state->q_previous, fraction, work->at.q);
    else ct_joints_advance(tree, state->rate, h, work->at.q);
    // driven roots go on from where the whole step began
    ct_external_roots_between(model, q_start + tree->root_coordinate, work->root_end, end,
                              work->at.q + tree->root_coordinate);
    ct_config_place(tree, &work->at);
}

void ct_predict_step(const ct_model* model, ct_work* work, const ct_state* state, const double* q_start,
                     double h, bool whole, double end) {
    const double *v = state->v, *v1 = state->v_previous, *v2 = state->v_before;
    int n = 3 * model->nvert, history = whole ? (int)state->header->history : 0;
    double first = history >= 1 ? h : 0, second = 0;
    if (history >= 2) {
        double change = 0, bend = 0;
        for (int i = 0; i < n; i++) {
            if (!(model->mass[i / 3] > 0)) continue;  // obstacles
            double d = v[i] - v1[i], e = d - (v1[i] - v2[i]);
            change += d * d;
            bend += e * e;
        }
        if (bend < 0.25 * change) second = h;
    }
    for (int i = 0; i < n; i++) {
        double d = v[i] - v1[i];
        work->at.x[i] = state->x[i] + h * v[i] + first * d + second * (d - (v1[i] - v2[i]));
    }
    if (model->tree.nlink) predict_joints(model, work, state, q_start, h, end);
}

// ---- stages --------------------------------------------------------------------------------

// Y of rate.h: out = a x + b x_0 + e x_1, of as many stages as there are before it.
static void combine(double* restrict out, double a, const double* x, double b, const double* x0, double e,
                    const double* x1, int before, size_t n) {
    if (before == 0)
        for (size_t k = 0; k < n; k++) out[k] = a * x[k];
    else if (before == 1)
        for (size_t k = 0; k < n; k++) out[k] = a * x[k] + b * x0[k];
    else
        for (size_t k = 0; k < n; k++) out[k] = a * x[k] + b * x0[k] + e * x1[k];
}

void ct_predict_stage(const ct_model* model, ct_work* work, const ct_state* state, ct_integrator rule,
                      int i) {
    const double h = model->settings.time_step;
    const ct_rate rate = ct_rate_stage(rule, i, h);
    const double a = rate.a / rate.c, b = rate.b / rate.c, e = rate.e / rate.c, gh = 1 / rate.c;
    const double end = ct_rate_stage_end(rule, i), last = i ? ct_rate_stage_end(rule, i - 1) : -0.5;
    const int history = (int)state->header->history;
    const double first = i == 0 && history > 0 ? 1 / h : 0, second = history > 1 ? (end - last) / h : 0;
    const size_t n = 3 * (size_t)model->nvert;
    ct_stages_work* s = &work->stages;
    const double *v = state->v, *v1 = state->v_previous, *v2 = state->v_before;
    double* restrict look_x = s->look_x, * restrict look_v = s->look_v;
    combine(s->from_x, a, state->x, b, s->x[0], e, s->x[1], i, n);
    combine(s->from_v, a, v, b, s->v[0], e, s->v[1], i, n);
    if (i == 0) memset(s->acceleration, 0, n * sizeof(double));
    for (size_t k = 0; k < n; k++) {
        const double d = v[k] - v1[k], bend = d - (v1[k] - v2[k]);
        look_v[k] = s->from_v[k] + gh * (s->acceleration[k] + first * d + second * bend);
        look_x[k] = s->from_x[k] + gh * look_v[k];
    }
}

const ct_link_motion* ct_predict_links(const ct_model* model, ct_work* work, const ct_state* state, int i) {
    const ct_stages_work* s = &work->stages;
    ct_link_stages_next(model, work->links, i, s->q[0], s->q[1]);
    ct_link_stages_foresee(model, work->links, state->header->history ? state->q_previous : NULL, work->at.q);
    ct_config_place(&model->tree, &work->at);
    return ct_link_stages_at(model, work->links, &work->at);
}
