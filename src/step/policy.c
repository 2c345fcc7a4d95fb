// Evaluation of a policy and its reverse; see policy.h.
#include "step/policy.h"

#include <math.h>
#include <string.h>

// ---- observations --------------------------------------------------------------------------

static void add_mean(const double* field, const int* node, int nnode, double scale, double out[3]) {
    for (int i = 0; i < nnode; i++)
        for (int a = 0; a < 3; a++) out[a] += scale / nnode * field[3 * (size_t)node[i] + (size_t)a];
}

static void spread_mean(double* field, const int* node, int nnode, double scale, const double bar[3]) {
    for (int i = 0; i < nnode; i++)
        for (int a = 0; a < 3; a++) field[3 * (size_t)node[i] + (size_t)a] += scale / nnode * bar[a];
}

static void observe(const ct_model* model, const ct_state* state, double* o) {
    const ct_policy* policy = &model->policy;
    for (int i = 0; i < policy->nobserve; i++) {
        const ct_observe* entry = &policy->observe[i];
        int size = ct_observe_size(entry->kind);
        double angle = 2 * M_PI * entry->frequency * state->header->time;
        memset(o, 0, (size_t)size * sizeof *o);
        if (entry->kind <= CT_OBSERVE_VELOCITY) {
            const double* field = entry->kind == CT_OBSERVE_POSITION ? state->x : state->v;
            add_mean(field, entry->node, entry->nnode, entry->scale, o);
            add_mean(field, entry->other, entry->nother, -entry->scale, o);
            for (int a = 0; entry->kind == CT_OBSERVE_POSITION && a < 3; a++)
                o[a] -= entry->scale * entry->rest[a];
        } else if (entry->kind == CT_OBSERVE_JOINT) {
            o[0] = entry->scale * state->q[model->tree.coordinate[entry->link]];
        } else {
            o[0] = entry->scale * sin(angle);
            o[1] = entry->scale * cos(angle);
        }
        o += size;
    }
}

static void reverse_observe(const ct_model* model, const double* o_bar, double* x_bar, double* v_bar,
                            double* q_bar) {
    const ct_policy* policy = &model->policy;
    for (int i = 0; i < policy->nobserve; i++) {
        const ct_observe* entry = &policy->observe[i];
        if (entry->kind <= CT_OBSERVE_VELOCITY) {
            double* field = entry->kind == CT_OBSERVE_POSITION ? x_bar : v_bar;
            spread_mean(field, entry->node, entry->nnode, entry->scale, o_bar);
            spread_mean(field, entry->other, entry->nother, -entry->scale, o_bar);
        } else if (entry->kind == CT_OBSERVE_JOINT) {
            q_bar[model->tree.dof[entry->link]] += entry->scale * o_bar[0];
        }
        o_bar += ct_observe_size(entry->kind);
    }
}

// ---- the network ---------------------------------------------------------------------------

// Hidden numbers from the observations: both in work->policy, o then tanh(W1 o + b1).
static double* hide(const ct_model* model, ct_work* work, const ct_state* state) {
    const ct_policy* p = &model->policy;
    double *o = work->policy, *hidden = o + p->nin;
    const double *W = p->weight, *b = W + p->nin * p->hidden;
    observe(model, state, o);
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
    reverse_observe(model, o_bar, x_bar, v_bar, q_bar);
}
