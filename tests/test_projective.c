// The projective solver with skeletons: the top-down assembly of B, and agreement with Newton's method.
#include "baseline/assembly.h"
#include "build.h"
#include "math/quat.h"
#include "math/svd3.h"
#include "step/coords.h"

static ct_settings settings_of(ct_solver solver, double h) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.solver = solver;
    settings.threads = 1;
    settings.tolerance = 1e-9;
    settings.max_iterations = 20000;
    for (int a = 0; a < 3; a++) settings.gravity[a] = a == 1 ? -9.81 : 0;
    return settings;
}

static int add_bone(ct_scene* scene, int parent, ct_joint_kind kind, double at, const double axis[3]) {
    ct_error error = {0};
    ct_link_def def = ct_link_def_default();
    int link;
    def.parent = parent;
    def.joint.kind = kind;
    def.joint.anchor[0] = at;
    def.joint.anchor[1] = 0.02 * at;
    for (int a = 0; a < 3; a++) def.joint.axis[a] = axis[a];
    def.joint.lead = 0.3;  // of a screw
    def.mass = 0.5;
    def.center[0] = at + 0.1;
    for (int a = 0; a < 3; a++) def.inertia[a] = 0.002 + 0.0005 * a;
    must(ct_scene_add_link(scene, &def, &link, &error), &error);
    return link;
}

// Two trees, every kind of joint, a fork.
static ct_scene* every_joint(ct_solver solver) {
    ct_settings settings = settings_of(solver, 0.01);
    ct_scene* scene = new_scene(&settings);
    add_bone(scene, -1, CT_JOINT_FREE, 0, (double[]){0, 0, 1});
    add_bone(scene, 0, CT_JOINT_REVOLUTE, 0.2, (double[]){0.2, 1, 0.3});
    int fork = add_bone(scene, 1, CT_JOINT_BALL, 0.4, (double[]){0, 0, 1});
    add_bone(scene, fork, CT_JOINT_PRISMATIC, 0.6, (double[]){1, 0.5, 0});
    add_bone(scene, fork, CT_JOINT_FIXED, 0.5, (double[]){0, 0, 1});
    add_bone(scene, 4, CT_JOINT_REVOLUTE, 0.8, (double[]){0, 0, 1});
    add_bone(scene, -1, CT_JOINT_BALL, 2, (double[]){0, 0, 1});
    add_bone(scene, 6, CT_JOINT_FREE, 2.2, (double[]){0, 0, 1});
    add_bone(scene, 7, CT_JOINT_UNIVERSAL, 2.4, (double[]){1, 0.2, 0});
    add_bone(scene, 8, CT_JOINT_HELICAL, 2.6, (double[]){1, 0, 0.5});
    return scene;
}

static void assembled_jacobian_is_that_of_the_twists(void** unused) {
    sim s = start(every_joint(CT_SOLVER_NEWTON), 1);
    const ct_tree* tree = &s.model->tree;
    size_t n = (size_t)tree->ndof, rows = 3 * (size_t)tree->start[tree->nlink];
    double *scratch = calloc(ct_assembly_scratch(s.model), sizeof(double)),
           *B = calloc(rows * n, sizeof(double));
    double *dz = calloc(n, sizeof(double)), *dx = calloc(3 * (size_t)s.model->nvert, sizeof(double)),
           worst = 0;
    uint64_t seed = 5;
    // a posture far from rest
    memcpy(s.work->at.x, s.state->x, 3 * (size_t)s.model->nvert * sizeof(double));
    ct_config_rest(tree, s.work->at.q);
    ct_config_place(tree, &s.work->at);
    for (size_t j = 0; j < n; j++) dz[j] = noise(&seed);
    ct_coords_move(s.model, &s.work->at, 1, dz, &s.work->trial);
    ct_assembly_jacobian(s.model, &s.work->trial, scratch, B);
    for (size_t j = 0; j < n; j++) {
        memset(dz, 0, n * sizeof(double));
        dz[j] = 1;
        ct_coords_push(s.model, s.work, &s.work->trial, dz, dx);
        for (size_t i = 0; i < rows; i++)
            worst = fmax(worst, fabs(B[i * n + j] - dx[3 * tree->node[i / 3] + (int)(i % 3)]));
    }
    print_message("worst difference %.2g\n", worst);
    assert_true(worst < 1e-12);
    double* again = calloc(rows * n, sizeof(double));  // bottom-up: the same matrix
    ct_assembly_jacobian_bottom_up(s.model, &s.work->trial, scratch, again);
    for (size_t i = 0; i < rows * n; i++) assert_true(fabs(again[i] - B[i]) < 1e-12);
    free(scratch), free(B), free(dz), free(dx), free(again);
    stop(&s);
}

// U V^T of (I + [w]) R turns R by atan |w| about w: what the solver does to quaternions.
static void rotation_projection_is_a_turn_by_the_arctangent(void** unused) {
    uint64_t seed = 3;
    for (int trial = 0; trial < 20; trial++) {
        ct_vec3 w = {2 * noise(&seed), 2 * noise(&seed), 2 * noise(&seed)};
        ct_mat3 R =
            ct_quat_matrix(ct_quat_from_vector((ct_vec3){3 * noise(&seed), noise(&seed), noise(&seed)}));
        ct_mat3 moved = ct_mat3_multiply(ct_mat3_axpy(ct_mat3_identity(), 1, ct_mat3_cross(w)), R);
        double size = ct_vec3_norm(w);
        ct_mat3 turned =
            ct_mat3_multiply(ct_quat_matrix(ct_quat_from_vector(ct_vec3_scale(atan(size) / size, w))), R);
        ct_mat3 difference = ct_mat3_axpy(ct_polar3(moved), -1, turned);
        assert_true(ct_mat3_dot(difference, difference) < 1e-24);
    }
}

static double distance(const sim* a, const sim* b) {
    double worst = 0;
    for (int i = 0; i < 3 * node_count(a); i++)
        worst = fmax(worst, fabs(ct_state_positions(a->state)[i] - ct_state_positions(b->state)[i]));
    return worst;
}

// Steps both with the same control; returns the worst distance and how far the first one has moved.
static double run_both(sim* newton, sim* projective, int count, const double* control, double* moved) {
    long iterations = 0;
    for (int i = 0; i < count; i++) {
        ct_step_report report;
        assert_int_equal(ct_step(newton->model, newton->work, newton->state, control, NULL), CT_OK);
        ct_status status = ct_step(projective->model, projective->work, projective->state, control, &report);
        if (status != CT_OK)
            fail_msg("step %d: residual %g of %g after %d iterations", i, report.residual, report.reference,
                     report.iterations);
        iterations += report.iterations;
    }
    *moved = 0;
    for (int i = 0; i < 3 * node_count(newton); i++)
        *moved = fmax(*moved, fabs(ct_state_positions(newton->state)[i] - ct_model_rest(newton->model)[i]));
    double difference = distance(newton, projective);
    print_message("difference %.2g m after a motion of %.2g m, %.1f iterations a step\n", difference, *moved,
                  (double)iterations / count);
    return difference;
}

static void bare_tree_agrees_with_newton(void** unused) {
    sim newton = start(every_joint(CT_SOLVER_NEWTON), 1),
        projective = start(every_joint(CT_SOLVER_PROJECTIVE), 1);
    double moved;
    assert_true(run_both(&newton, &projective, 30, NULL, &moved) < 1e-7);
    assert_true(moved > 0.1);
    stop(&newton);
    stop(&projective);
}

// A soft arm with three bones; the joints have springs, dampers, limits, a servo and torques.
static sim fleshy_arm(ct_solver solver, ct_integrator integrator) {
    ct_settings settings = settings_of(solver, 0.01);
    settings.integrator = integrator;
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    ct_material material = ct_material_default();
    material.energy = CT_ENERGY_PROJECTIVE;
    material.young = 5e4;
    material.poisson = 0.3;
    add_box(scene, (double[]){0.9, 0.2, 0.2}, (int[]){9, 2, 2}, &material);
    const ct_joint_kind kinds[] = {CT_JOINT_FIXED, CT_JOINT_REVOLUTE, CT_JOINT_BALL};
    for (int k = 0; k < 3; k++) {
        ct_selector bone = {.kind = CT_SELECT_BOX,
                            .body = -1,
                            .a = {0.3 * k + (k ? 0.06 : -1), 0.07, 0.07},
                            .b = {0.3 * k + 0.24, 0.13, 0.13}};
        int *nodes, count;
        must(ct_scene_select(scene, &bone, &nodes, &count, &error), &error);
        ct_link_def def = ct_link_def_default();
        def.parent = k - 1;
        def.nodes = nodes;
        def.count = count;
        def.joint.kind = kinds[k];
        def.joint.anchor[0] = 0.3 * k;
        def.joint.anchor[1] = def.joint.anchor[2] = 0.1;
        if (kinds[k] == CT_JOINT_REVOLUTE) {
            def.joint.stiffness = 2;
            def.joint.damping = 0.1;
            def.joint.lower = -0.05;
            def.joint.limit_stiffness = 1e3;
            def.joint.servo_stiffness = 3;
            def.joint.servo_damping = 0.05;
            def.joint.target = 0.4;
        }
        must(ct_scene_add_link(scene, &def, NULL, &error), &error);
        ct_free(nodes);
    }
    must(ct_scene_add_joint_control(scene, "elbow", CT_CONTROL_TORQUE, 1, &error), &error);
    return start(scene, 1);
}

static void fleshy_arm_agrees_with_newton(void** unused) {
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        sim newton = fleshy_arm(CT_SOLVER_NEWTON, integrator),
            projective = fleshy_arm(CT_SOLVER_PROJECTIVE, integrator);
        double moved, torque = -6;
        assert_true(run_both(&newton, &projective, 15, &torque, &moved) < 1e-6);
        assert_true(moved > 0.03);
        stop(&newton);
        stop(&projective);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assembled_jacobian_is_that_of_the_twists),
        cmocka_unit_test(rotation_projection_is_a_turn_by_the_arctangent),
        cmocka_unit_test(bare_tree_agrees_with_newton),
        cmocka_unit_test(fleshy_arm_agrees_with_newton),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
