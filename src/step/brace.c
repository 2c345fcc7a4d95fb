// Contacts of single nodes as part of the factor; see brace.h.
//
// With the normal n, the direction tau of slip and b = n x tau, r the scale of the rows and a force F, a
// touch that slips has
//     n:    r (n.dx + eps dF_n) = b_n            dF_n = (b_n/r - n.dx)/eps
//     tau:  dF_tau - mu dF_n = b_tau             (tau is where friction points)
//     b:    (1 - c) dF_b + c r b.dx = b_b        c = mu F_n/|P a|: slip that turns, and force with it
// and one that sticks r (dx + eps dF) = b. What is kept of K for the factor is its symmetric positive part.
#include "step/brace.h"

#include <math.h>
#include <string.h>

#include "math/point3.h"

enum { WORTH = 60 };                  // touches of single nodes from which bracing pays
static const double softest = 1e-4;   // of 1/r: eps is not taken to be less
static const double sharpest = 1e-3;  // 1 - c is not taken to be less

int ct_brace_node(const ct_model* model, const ct_touch* touch) {
    int found = -1;
    for (int k = 0; k < touch->at.count; k++) {
        if (model->row[touch->is.pair.node[k]] < 0) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

bool ct_brace_serves(const ct_model* model, const ct_contact_work* contact) {
    if (!model->ntri || model->tree.nlink) return false;
    int count = 0;
    for (size_t i = 0; i < contact->count; i++) {
        const ct_touch* touch = &contact->touch[i];
        if (ct_brace_node(model, touch) >= 0 && (touch->gap < 0 || dot3(touch->is.force, touch->at.n) > 0))
            count++;
    }
    return count >= WORTH;
}

static double eps_of(const ct_touch* touch) { return fmax(touch->is.eps, softest / touch->scale); }

// What slip needs beyond n: tau and 1 - c; false: sticks.
static bool slip_of(const ct_touch* touch, double tau[3], double* turn) {
    if (touch->is.set != CT_CONTACT_SET_SLIP) return false;
    const double *n = touch->at.n, *F = touch->is.force;
    double s[3], a[3], normal, size;
    ct_touch_offset(touch, s);
    for (int i = 0; i < 3; i++) a[i] = F[i] - touch->scale * (s[i] + touch->is.eps * F[i]);
    normal = dot3(n, a);
    for (int i = 0; i < 3; i++) tau[i] = a[i] - normal * n[i];
    size = sqrt(dot3(tau, tau));
    if (!(size > 0)) return false;
    for (int i = 0; i < 3; i++) tau[i] /= size;
    *turn = fmax(sharpest, 1 - touch->is.pair.friction * fmax(0, dot3(n, F)) / size);
    return true;
}

static void add_outer(double* out, double c, const double a[3], const double b[3]) {
    for (int i = 0; i < 9; i++) out[i] += c * a[i / 3] * b[i % 3];
}

// The stiffness of a touch, by n and by the direction across the slip.
typedef struct stiffness {
    double n[3], tau[3], b[3];
    double normal, across;  // N/m
    double turn;
    bool slips;
} stiffness;

static stiffness stiffness_of(const ct_touch* touch) {
    stiffness out = {.normal = 1 / eps_of(touch)};
    copy3(out.n, touch->at.n);
    out.slips = slip_of(touch, out.tau, &out.turn);
    if (!out.slips) return out;
    cross3(out.n, out.tau, out.b);
    out.across = (1 - out.turn) * touch->scale / out.turn;
    return out;
}

void ct_brace_rows(const ct_touch* touch, double A[9], double K[9]) {
    const stiffness s = stiffness_of(touch);
    const double r = touch->scale, mu = touch->is.pair.friction;
    memset(A, 0, 9 * sizeof(double));
    memset(K, 0, 9 * sizeof(double));
    if (!s.slips) {
        for (int i = 0; i < 9; i += 4) A[i] = s.normal / r, K[i] = s.normal;
        return;
    }
    double push[3];  // of the normal force, with its friction
    for (int a = 0; a < 3; a++) push[a] = s.n[a] + mu * s.tau[a];
    add_outer(A, s.normal / r, push, s.n);
    add_outer(A, 1, s.tau, s.tau);
    add_outer(A, 1 / s.turn, s.b, s.b);
    add_outer(K, s.normal, push, s.n);
    add_outer(K, s.across, s.b, s.b);
}

int ct_brace_order(const ct_model* model, ct_contact_work* contact) {
    int dense = 0, last = 0;
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (touch->slot >= 0 && ct_brace_node(model, touch) < 0) touch->slot = dense++;
    }
    for (size_t i = 0; i < contact->count; i++) {
        ct_touch* touch = &contact->touch[i];
        if (touch->slot >= 0 && ct_brace_node(model, touch) >= 0) touch->slot = dense + last++;
    }
    return dense;
}

ct_status ct_brace_factor(const ct_model* model, ct_work* work, const ct_config* at, double* K,
                          int* refactors) {
    memset(K, 0, 9 * (size_t)model->nfree * sizeof(double));
    for (size_t i = 0; i < work->contact->count; i++) {
        const ct_touch* touch = &work->contact->touch[i];
        const int k = touch->slot < 0 ? -1 : ct_brace_node(model, touch);
        if (k < 0) continue;
        const stiffness s = stiffness_of(touch);
        double* block = K + 9 * (size_t)model->row[touch->is.pair.node[k]];
        const double weight = touch->at.w[k] * touch->at.w[k];
        for (int a = 0; !s.slips && a < 9; a += 4) block[a] += weight * s.normal;
        if (!s.slips) continue;
        add_outer(block, weight * s.normal, s.n, s.n);
        add_outer(block, weight * s.across, s.b, s.b);
    }
    ct_status status =
        ct_precondition_brace(model, &work->preconditioner, at, work->step.rate.c, K, refactors);
    ct_families_begin(&model->families, &work->families, &work->step);
    if (status == CT_OK) ct_precondition_warp(model, &work->preconditioner, at, work->rho);
    return status;
}
