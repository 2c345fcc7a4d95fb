// Integrators; see rate.h.
#include "force/rate.h"

// Rows a_ij of the stages; the diagonal is g, the last row the weights.
typedef struct tableau {
    int count;
    double a[CT_STAGES][CT_STAGES];
} tableau;

#define G2 0.29289321881345247560  // 1 - 1/sqrt 2
#define G3 0.43586652150845899942  // root of g^3 - 3 g^2 + 3/2 g - 1/6

static const tableau tableaux[] = {
    [CT_INTEGRATOR_EULER] = {0},
    [CT_INTEGRATOR_BDF2] = {0},
    [CT_INTEGRATOR_SDIRK2] = {2, {{G2}, {1 - G2, G2}}},
    [CT_INTEGRATOR_SDIRK3] =
        {3, {{G3}, {(1 - G3) / 2, G3}, {-1.5 * G3 * G3 + 4 * G3 - 0.25, 1.5 * G3* G3 - 5 * G3 + 1.25, G3}}},
    [CT_INTEGRATOR_MIDPOINT] = {1, {{0.5}}},
};

ct_rate ct_rate_euler(double h) { return (ct_rate){.c = 1 / h, .a = 1 / h}; }
ct_rate ct_rate_bdf2(double h) { return (ct_rate){.c = 1.5 / h, .a = 2 / h, .b = -0.5 / h}; }

int ct_rate_stages(ct_integrator integrator) { return tableaux[integrator].count; }

ct_rate ct_rate_stage(ct_integrator integrator, int i, double h) {
    const tableau* t = &tableaux[integrator];
    double g = t->a[0][0], c = 1 / (g * h);
    // Y_i = x_n + sum k_ij (X_j - Y_j), written as weights of x_n and of the stages
    double weight[CT_STAGES][CT_STAGES + 1] = {{0}};
    for (int row = 0; row <= i; row++) {
        weight[row][0] = 1;
        for (int j = 0; j < row; j++) {
            double k = t->a[row][j] / g;
            weight[row][1 + j] += k;
            for (int l = 0; l <= j; l++) weight[row][l] -= k * weight[j][l];
        }
    }
    return (ct_rate){.c = c, .a = c * weight[i][0], .b = c * weight[i][1], .e = c * weight[i][2]};
}

double ct_rate_stage_end(ct_integrator integrator, int i) {
    const tableau* t = &tableaux[integrator];
    double end = 0;
    for (int j = 0; j <= i; j++) end += t->a[i][j];
    return i > 0 && i == t->count - 1 ? 1 : end;
}

double ct_rate_whole(ct_integrator integrator, double h) {
    if (ct_rate_stages(integrator)) return ct_rate_stage(integrator, 0, h).c;
    return integrator == CT_INTEGRATOR_BDF2 ? 1.5 / h : 1 / h;
}
