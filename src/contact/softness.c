// How far nodes give way; see softness.h.
#include "contact/softness.h"

#include <stddef.h>

static const double turning = 2.5;                  // s
static const double share[2] = {2.0 / 3, 1.0 / 3};  // of the directions along and across

double ct_softness_node(const ct_softness* softness, int v, double c) {
    const double m = softness->mass[v], *k = softness->stiffness + 2 * (size_t)v;
    const int whole = softness->whole[v];
    double sum = whole >= 0 ? turning / (c * c * softness->whole_mass[whole]) : 0;
    for (int i = 0; m > 0 && i < 2; i++) sum += share[i] / (c * c * m + k[i]);
    return sum;
}

void ct_softness_node_vjp(const ct_softness* softness, int v, double c, double gamma_bar,
                          const ct_sums* sums) {
    const double m = softness->mass[v], *k = softness->stiffness + 2 * (size_t)v;
    const int whole = softness->whole[v];
    if (whole >= 0) {
        const double M = softness->whole_mass[whole];
        ct_sums_add(sums, CT_SUM_WHOLE_MASS, whole, -gamma_bar * turning / (c * c * M * M));
    }
    for (int i = 0; m > 0 && i < 2; i++) {
        const double sum = c * c * m + k[i], bar = -gamma_bar * share[i] / (sum * sum);
        ct_sums_add(sums, CT_SUM_MASS, v, c * c * bar);
        ct_sums_add(sums, CT_SUM_NODE_STIFFNESS, 2 * v + i, bar);
    }
}

double ct_softness_node_jvp(const ct_softness* softness, int v, double c, const double stiffness_dot[2]) {
    const double m = softness->mass[v], *k = softness->stiffness + 2 * (size_t)v;
    double change = 0;
    for (int i = 0; m > 0 && i < 2; i++) {
        const double sum = c * c * m + k[i];
        change -= share[i] / (sum * sum) * stiffness_dot[i];
    }
    return change;
}
