// Evaluation of a policy and its reverse; see policy.h.
#include "step/policy.h"

#include <math.h>
#include <string.h>

#include "step/observe.h"

// ---- the network ---------------------------------------------------------------------------

// Hidden numbers from the observations: both in work->policy, o then tanh(W1 o + b1).
static double* hide(const ct_model* model, ct_work* work, const ct_state* state) {
    const ct_policy* p = &model->policy;
    double *o = work->policy, *hidden = o + p->nin;
    const double *W = p->weight, *b = W + p->nin * p->hidden;
    for (int i = 0; i < p->nobserve; i++) {
        ct_observe_value(model, state, &p->observe[i], NULL, o);
        o += ct_observe_count(model, &p->observe[i]);
    }
    o = work->policy;
    for (int i = 0; i < p->hidden; i++) {
        double sum = b[i];
        for (int k = 0; k < p->nin; k++) sum += W[i * p->nin + k] * o[k];
        hidden[i] = tanh(sum);
    }
    return hidden;
}

const double* ct_policy_control(const ct_model* model, ct_work* work, const ct_state* state,
                                const double* control) {
    const ct_policy* p = &model->policy;
    if (!p->enabled) return control;
    size_t bytes = (size_t)model->inputs.control_size * sizeof(double);
    if (!control) memset(work->control, 0, bytes);
    else if (control != work->control) memcpy(work->control, control, bytes);
    const double *hidden = hide(model, work, state), *W = p->weight + (p->nin + 1) * p->hidden,
                 *b = W + p->nout * p->hidden;
    for (int i = 0; i < p->nout; i++) {
        double sum = b[i];
        for (int k = 0; k < p->hidden; k++) sum += W[i * p->hidden + k] * hidden[k];
        work->control[p->out[i]] += p->scale * sum;
    }
    return work->control;
}

void ct_policy_vjp(const ct_model* model, ct_work* work, const ct_state* state, const double* control_bar,
                   double* x_bar, double* v_bar, double* q_bar, double* weight_bar) {
    const ct_policy* p = &model->policy;
    const double *hidden = hide(model, work, state), *o = work->policy,
                 *W2 = p->weight + (p->nin + 1) * p->hidden;
    double *hidden_bar = work->policy + p->nin + p->hidden, *o_bar = hidden_bar + p->hidden;
    memset(hidden_bar, 0, (size_t)(p->hidden + p->nin) * sizeof *hidden_bar);
    for (int i = 0; i < p->nout; i++) {
        double u_bar = p->scale * control_bar[p->out[i]];
        for (int k = 0; k < p->hidden; k++) hidden_bar[k] += W2[i * p->hidden + k] * u_bar;
        if (!weight_bar) continue;
        double* W2_bar = weight_bar + (p->nin + 1) * p->hidden;
        for (int k = 0; k < p->hidden; k++) W2_bar[i * p->hidden + k] += u_bar * hidden[k];
        W2_bar[p->nout * p->hidden + i] += u_bar;
    }
    for (int i = 0; i < p->hidden; i++) {
        double sum_bar = (1 - hidden[i] * hidden[i]) * hidden_bar[i];
        for (int k = 0; k < p->nin; k++) o_bar[k] += p->weight[i * p->nin + k] * sum_bar;
        if (!weight_bar) continue;
        for (int k = 0; k < p->nin; k++) weight_bar[i * p->nin + k] += sum_bar * o[k];
        weight_bar[p->nin * p->hidden + i] += sum_bar;
    }
    ct_adjoint_state bar = {.x = x_bar, .v = v_bar, .q = q_bar};
    for (int i = 0; i < p->nobserve; i++) {
        ct_observe_vjp(model, state, &p->observe[i], NULL, o_bar, &bar);
        o_bar += ct_observe_count(model, &p->observe[i]);
    }
}
