// Forces of the joints and their derivatives; see joints.h.
#include "skeleton/joints.h"

#include <string.h>

ct_status ct_joints_create(ct_joint_work* work, ct_arena* arena, const ct_tree* tree) {
    double** arrays[] = {&work->history, &work->torque, &work->target};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        *arrays[i] = ct_arena_alloc(arena, (size_t)tree->ndof, sizeof(double));
    if (arena->failed) return CT_OUT_OF_MEMORY;
    ct_joints_release(tree, work);
    return CT_OK;
}

void ct_joints_release(const ct_tree* tree, ct_joint_work* work) {
    memset(work->torque, 0, (size_t)tree->ndof * sizeof(double));
    for (int k = 0; k < tree->nlink; k++)
        if (tree->type[k]->law)
            memcpy(work->target + tree->dof[k], ct_joint_target(&tree->joint[k]),
                   (size_t)tree->type[k]->ndof * sizeof(double));
}

void ct_joints_continue(const ct_tree* tree, const double* q, const double* previous, double fraction,
                        double* q_new) {
    for (int k = 0; k < tree->nlink; k++) {
        int at = tree->coordinate[k];
        ct_joint_continue(tree->type[k], q + at, previous + at, fraction, q_new + at);
    }
}

void ct_joints_advance(const ct_tree* tree, const double* rate, double length, double* q) {
    for (int k = 0; k < tree->nlink; k++)
        for (int i = 0; !tree->type[k]->spatial && i < tree->type[k]->ndof; i++)
            q[tree->coordinate[k] + i] += length * rate[tree->dof[k] + i];
}

// Joint k at coordinates q.
static ct_joint_point point_of(const ct_tree* tree, const ct_joint_work* work, int k, const double* q) {
    int j = tree->dof[k], at = tree->coordinate[k];
    return (ct_joint_point){.joint = &tree->joint[k],
                            .n = tree->type[k]->ndof,
                            .c = work->c,
                            .a = work->a,
                            .b = work->b,
                            .q = q + at,
                            .start = work->start + at,
                            .previous = work->previous + at,
                            .history = work->history + j,
                            .torque = work->torque + j,
                            .target = work->target + j};
}

void ct_joints_begin(const ct_tree* tree, ct_joint_work* work, double c, double a, double b,
                     const double* start, const double* previous) {
    work->c = c;
    work->a = a;
    work->b = b;
    work->start = start;
    work->previous = previous;
    work->given = false;
    for (int k = 0; k < tree->nlink; k++) {
        if (!tree->type[k]->law) continue;
        ct_joint_point at = point_of(tree, work, k, start);
        tree->type[k]->law->begin(&at, work->history + tree->dof[k]);
    }
}

void ct_joints_begin_at(const ct_tree* tree, ct_joint_work* work, double c, const double* q,
                        const double* rate) {
    work->c = c;
    work->a = work->b = 0;
    work->start = work->previous = q;
    work->given = true;
    for (int k = 0; k < tree->nlink; k++)
        for (int i = 0; tree->type[k]->law && i < tree->type[k]->ndof; i++) {
            const int j = tree->dof[k] + i;
            // a rotation is counted from the start
            work->history[j] = (tree->type[k]->spatial ? 0 : c * q[tree->coordinate[k] + i]) - rate[j];
        }
}

double ct_joints_gradient(const ct_tree* tree, const ct_config* config, const ct_joint_work* work,
                          double* r) {
    double potential = 0;
    for (int k = 0; k < tree->nlink; k++) {
        const ct_joint_type* type = tree->type[k];
        if (!type->law) continue;
        double own[CT_JOINT_LAW_WIDTH];
        int j = tree->dof[k];
        ct_joint_point at = point_of(tree, work, k, config->q);
        potential += type->law->gradient(&at, own);
        if (type->spatial)
            ct_vec3_store(own, ct_mat3_apply(ct_config_seat_rotation(tree, config, k), ct_vec3_load(own)));
        for (int i = 0; i < at.n; i++) r[j + i] += own[i] / tree->scale[j + i];
    }
    return potential;
}

// H <- R H R^T
static void turn_matrix(ct_mat3 R, double* H) {
    ct_mat3 turned = {{{H[0], H[1], H[2]}, {H[3], H[4], H[5]}, {H[6], H[7], H[8]}}};
    turned = ct_mat3_multiply(R, ct_mat3_multiply(turned, ct_mat3_transpose(R)));
    for (int i = 0; i < 9; i++) H[i] = turned.a[i / 3][i % 3];
}

void ct_joints_hessian(const ct_tree* tree, const ct_config* config, const ct_joint_work* work, bool exact,
                       double* G) {
    size_t n = (size_t)tree->ndof;
    for (int k = 0; k < tree->nlink; k++) {
        const ct_joint_type* type = tree->type[k];
        if (!type->law) continue;
        double H[CT_JOINT_LAW_WIDTH * CT_JOINT_LAW_WIDTH];
        ct_joint_point at = point_of(tree, work, k, config->q);
        type->law->hessian(&at, exact, H);
        if (type->spatial) turn_matrix(ct_config_seat_rotation(tree, config, k), H);
        const double* scale = tree->scale + tree->dof[k];
        double* block = G + (size_t)tree->dof[k] * (n + 1);
        for (int i = 0; i < at.n; i++)
            for (int j = 0; j < at.n; j++)
                block[(size_t)i * n + (size_t)j] += H[at.n * i + j] / (scale[i] * scale[j]);
    }
}

// The adjoint of joint k's residual, per unit of its rates, in its parent's axes.
static void pull_residual(const ct_tree* tree, const ct_config* config, int k, const double* lam_z,
                          double* lam) {
    int j = tree->dof[k];
    for (int i = 0; !tree->type[k]->spatial && i < tree->type[k]->ndof; i++)
        lam[i] = lam_z[j + i] / tree->scale[j + i];
    if (!tree->type[k]->spatial) return;
    ct_mat3 back = ct_mat3_transpose(ct_config_seat_rotation(tree, config, k));
    ct_vec3_store(lam, ct_vec3_scale(1 / tree->scale[j], ct_mat3_apply(back, ct_vec3_load(lam_z + j))));
}

void ct_joints_vjp(const ct_tree* tree, const ct_config* config, const ct_joint_work* work,
                   const double* lam_z, ct_joint_bar* bar) {
    double* const tangents[] = {bar->start, bar->previous, bar->torque, bar->target};
    for (size_t i = 0; i < sizeof tangents / sizeof tangents[0]; i++)
        memset(tangents[i], 0, (size_t)tree->ndof * sizeof(double));
    for (int k = 0; k < tree->nlink; k++) {
        if (!tree->type[k]->law) continue;
        double lam[CT_JOINT_LAW_WIDTH];
        ct_joint_point at = point_of(tree, work, k, config->q);
        ct_joint_point_bar own = {0};
        pull_residual(tree, config, k, lam_z, lam);
        tree->type[k]->law->vjp(&at, lam, &own);
        const double* const from[] = {own.start, own.previous, own.torque, own.target};
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++)
            memcpy(tangents[i] + tree->dof[k], from[i], (size_t)at.n * sizeof(double));
        ct_sums_add(bar->sums, CT_QUANTITY_JOINT_STIFFNESS, k, own.stiffness);
        ct_sums_add(bar->sums, CT_QUANTITY_JOINT_DAMPING, k, own.damping);
        if (tree->type[k]->has_rest) ct_sums_add(bar->sums, CT_QUANTITY_JOINT_REST, k, own.rest);
        ct_sums_add(bar->sums, CT_QUANTITY_SERVO_STIFFNESS, k, own.servo_stiffness);
        ct_sums_add(bar->sums, CT_QUANTITY_SERVO_DAMPING, k, own.servo_damping);
        ct_sums_add(bar->sums, CT_QUANTITY_LIMIT_STIFFNESS, k, own.limit_stiffness);
    }
    if (work->given) memset(bar->start, 0, (size_t)tree->ndof * sizeof(double));
}
