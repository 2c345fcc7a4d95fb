// Gradients of skeletons against central differences: torques, targets, joint parameters, masses, initial
// joint states, driven roots, and the flesh around bones. The error must fall with the square of the step
// down to round-off.
#include "build.h"
#include "repeat.h"
#include "step/state.h"

typedef enum slice {
    CONTROLS,
    STIFFNESS,
    DAMPING,
    REST,
    SERVO_STIFFNESS,
    SERVO_DAMPING,
    LIMIT,
    MASS,
    ARMATURE,
    JOINT_POSITION,
    JOINT_VELOCITY,
    YOUNG,
    POISSON,
    DENSITY,
    SLICES
} slice;
static const char* const slice_name[] = {"controls",        "stiffness",      "damping",        "rest",
                                         "servo stiffness", "servo damping",  "limit",          "mass",
                                         "armature",        "joint position", "joint velocity", "young",
                                         "poisson",         "density"};
enum { LEVELS = 3 };

typedef struct swing {
    sim sim;
    ct_tape* tape;
    int nstep, nlink, njoint, ncoordinate, ntet;
    int first[SLICES + 1];
    double *value, *scale, *gradient;
    double loss, magnitude;
    int substepped, substeps;  // of the last rollout: steps that were halved; all sub-steps
    double turned;             // largest rotation of a ball so far
} swing;

// ---- loss: linear and quadratic in x and v, and in the coordinates of joints with one

static void visit(int step, const ct_state* state, void* user) {
    swing* s = user;
    const double *x = ct_state_positions(state), *v = ct_state_velocities(state),
                 *q = ct_state_coordinates(state);
    for (int i = 0; i < 3 * node_count(&s->sim); i++) {
        double term =
            sin(0.7 * i + step) * x[i] + 0.1 * cos(1.3 * i) * v[i] + 0.5 * x[i] * x[i] + 0.01 * v[i] * v[i];
        s->loss += term;
        s->magnitude += fabs(term);
    }
    for (int k = 0; k < s->nlink; k++) {
        ct_link_info info = ct_model_link_info(s->sim.model, k);
        if (info.ncoordinate == 1) s->loss += (k + 1) * sin(q[info.coordinate]);
        if (info.joint == CT_JOINT_BALL)
            s->turned = fmax(s->turned, 2 * acos(fmin(1, fabs(q[info.coordinate]))));
    }
}

static void seed(int step, const ct_state* state, double* x_bar, double* v_bar, double* q_bar, void* user) {
    swing* s = user;
    const double *x = ct_state_positions(state), *v = ct_state_velocities(state),
                 *q = ct_state_coordinates(state);
    for (int i = 0; i < 3 * node_count(&s->sim); i++) {
        x_bar[i] += sin(0.7 * i + step) + x[i];
        v_bar[i] += 0.1 * cos(1.3 * i) + 0.02 * v[i];
    }
    for (int k = 0, rate = 0; k < s->nlink; k++) {
        ct_link_info info = ct_model_link_info(s->sim.model, k);
        if (info.ncoordinate == 1) q_bar[rate] += (k + 1) * cos(q[info.coordinate]);
        rate += info.joint == CT_JOINT_FIXED  ? 0
                : info.joint == CT_JOINT_BALL ? 3
                : info.joint == CT_JOINT_FREE ? 6
                                              : 1;
    }
}

// ---- setting up

static double joint_value(const ct_joint_def* joint, slice which) {
    switch (which) {
    case STIFFNESS: return joint->stiffness;
    case DAMPING: return joint->damping;
    case REST: return joint->rest;
    case SERVO_STIFFNESS: return joint->servo_stiffness;
    case SERVO_DAMPING: return joint->servo_damping;
    case ARMATURE: return joint->armature;
    default: return joint->limit_stiffness;
    }
}

// Masses of the links' own nodes, which lie behind those of the bodies.
static double own_mass(const swing* s, const ct_link_info* info) {
    double mass = 0;
    for (int i = 0; i < info->count; i++)
        if (info->nodes[i] >= ct_scene_node_count(s->sim.scene))
            mass += ct_model_node_mass(s->sim.model)[info->nodes[i]];
    return mass;
}

static void fill_links(swing* s) {
    for (int k = 0, rate = 0; k < s->nlink; k++) {
        ct_joint_def joint;
        ct_link_info info;
        joint = ct_model_joint(s->sim.model, k);
        info = ct_model_link_info(s->sim.model, k);
        for (slice which = STIFFNESS; which <= LIMIT; which++) {
            int i = s->first[which] + k;
            s->value[i] = joint_value(&joint, which);
            if (which != REST) s->value[i] = fmax(s->value[i], 0.05);
            s->scale[i] = which == REST ? 0.3 : s->value[i];
        }
        int i = s->first[MASS] + k;
        s->value[i] = s->scale[i] = own_mass(s, &info);
        i = s->first[ARMATURE] + k;
        s->value[i] = s->scale[i] = joint.armature;
        if (info.ncoordinate == 1) {
            s->value[s->first[JOINT_POSITION] + rate] = joint.position;
            s->value[s->first[JOINT_VELOCITY] + rate] = joint.velocity;
            s->scale[s->first[JOINT_POSITION] + rate] = 0.3;
            s->scale[s->first[JOINT_VELOCITY] + rate] = 1;
        }
        // positions of balls and free joints are increments, from 0
        for (int j = 0; info.ncoordinate > 1 && j < info.ncoordinate - 1; j++) {
            s->value[s->first[JOINT_VELOCITY] + rate + j] = joint.rate[j];
            s->scale[s->first[JOINT_POSITION] + rate + j] = 0.3;
            s->scale[s->first[JOINT_VELOCITY] + rate + j] = 1;
        }
        rate += info.joint == CT_JOINT_FIXED  ? 0
                : info.joint == CT_JOINT_BALL ? 3
                : info.joint == CT_JOINT_FREE ? 6
                                              : 1;
    }
}

// `size`: of torques; targets and the rotations of roots get 0.4, translations 0.02.
static void fill_controls(swing* s, double size) {
    int n = ct_model_control_size(s->sim.model);
    for (int c = 0; c < ct_model_control_count(s->sim.model); c++) {
        ct_control_info info = ct_model_control_info(s->sim.model, c);
        for (int step = 0; step < s->nstep; step++)
            for (int k = 0; k < info.count; k++) {
                int i = s->first[CONTROLS] + step * n + info.first + k;
                bool drive = info.kind == CT_CONTROL_DRIVE || info.kind == CT_CONTROL_MOVE;
                s->scale[i] = info.kind == CT_CONTROL_TORQUE ? size
                              : drive && k < 3               ? 0.02
                              : drive                        ? 0.1
                                                             : 0.4;
                s->value[i] = s->scale[i] * sin(1.0 + 0.3 * step + 2 * (info.first + k));
            }
    }
}

static swing begin(ct_scene* scene, int nstep, double size, size_t max_bytes) {
    swing s = {.sim = start(scene, 1), .nstep = nstep};
    ct_model_info info = ct_model_summary(s.sim.model);
    s.nlink = info.nlink, s.njoint = info.njoint, s.ntet = info.ntet;
    for (int i = 0; i < SLICES; i++) {
        int count = i == CONTROLS         ? nstep * ct_model_control_size(s.sim.model)
                    : i <= ARMATURE       ? s.nlink
                    : i <= JOINT_VELOCITY ? s.njoint
                                          : s.ntet;
        s.first[i + 1] = s.first[i] + count;
    }
    s.value = calloc((size_t)s.first[SLICES], sizeof(double));
    s.scale = calloc((size_t)s.first[SLICES], sizeof(double));
    s.gradient = calloc((size_t)s.first[SLICES], sizeof(double));
    ct_model_get(s.sim.model, CT_QUANTITY_YOUNG, s.value + s.first[YOUNG]);
    ct_model_get(s.sim.model, CT_QUANTITY_POISSON, s.value + s.first[POISSON]);
    ct_model_get(s.sim.model, CT_QUANTITY_DENSITY, s.value + s.first[DENSITY]);
    for (int i = s.first[YOUNG]; i < s.first[SLICES]; i++)
        s.scale[i] = i >= s.first[POISSON] && i < s.first[DENSITY] ? 0.1 : s.value[i];
    fill_links(&s);
    fill_controls(&s, size);
    must(ct_tape_create(&s.tape, s.sim.model, nstep, max_bytes, NULL), NULL);
    return s;
}

static void end(swing* s) {
    ct_tape_free(s->tape);
    stop(&s->sim);
    free(s->value), free(s->scale), free(s->gradient);
}

static double evaluate(swing* s, const double* y) {
    double* at = (double*)y;  // only read
    const ct_values values = {.of = {[CT_QUANTITY_JOINT_STIFFNESS] = at + s->first[STIFFNESS],
                                     [CT_QUANTITY_JOINT_DAMPING] = at + s->first[DAMPING],
                                     [CT_QUANTITY_JOINT_REST] = at + s->first[REST],
                                     [CT_QUANTITY_SERVO_STIFFNESS] = at + s->first[SERVO_STIFFNESS],
                                     [CT_QUANTITY_SERVO_DAMPING] = at + s->first[SERVO_DAMPING],
                                     [CT_QUANTITY_LIMIT_STIFFNESS] = at + s->first[LIMIT],
                                     [CT_QUANTITY_LINK_MASS] = at + s->first[MASS],
                                     [CT_QUANTITY_ARMATURE] = at + s->first[ARMATURE],
                                     [CT_QUANTITY_YOUNG] = at + s->first[YOUNG],
                                     [CT_QUANTITY_POISSON] = at + s->first[POISSON],
                                     [CT_QUANTITY_DENSITY] = at + s->first[DENSITY]}};
    ct_error error = {0};
    must(ct_model_set_values(s->sim.model, &values, NULL, &error), &error);
    must(ct_state_set_joints(s->sim.model, s->sim.state, y + s->first[JOINT_POSITION],
                             y + s->first[JOINT_VELOCITY]),
         NULL);
    ct_rollout_report report;
    s->loss = s->magnitude = 0;
    ct_status status = ct_rollout(s->sim.model, s->sim.work, s->tape, s->sim.state, s->nstep,
                                  y + s->first[CONTROLS], visit, s, &report);
    if (status != CT_OK)
        fail_msg("%s at step %d: residual %g of %g: %s", ct_status_text(status), report.steps,
                 report.last.residual, report.last.reference, report.last.message);
    s->substepped = report.substepped;
    s->substeps = report.substeps;
    return s->loss;
}

static void differentiate(swing* s) {
    double *g = s->gradient, *at[SLICES];
    for (int i = 0; i < SLICES; i++) at[i] = g + s->first[i];
    evaluate(s, s->value);
    ct_values gradient = {.of = {[CT_QUANTITY_CONTROL] = s->first[STIFFNESS] ? at[CONTROLS] : NULL,
                                 [CT_QUANTITY_JOINT_STIFFNESS] = at[STIFFNESS],
                                 [CT_QUANTITY_JOINT_DAMPING] = at[DAMPING],
                                 [CT_QUANTITY_JOINT_REST] = at[REST],
                                 [CT_QUANTITY_SERVO_STIFFNESS] = at[SERVO_STIFFNESS],
                                 [CT_QUANTITY_SERVO_DAMPING] = at[SERVO_DAMPING],
                                 [CT_QUANTITY_LIMIT_STIFFNESS] = at[LIMIT],
                                 [CT_QUANTITY_LINK_MASS] = at[MASS],
                                 [CT_QUANTITY_ARMATURE] = at[ARMATURE],
                                 [CT_QUANTITY_JOINT_POSITION] = at[JOINT_POSITION],
                                 [CT_QUANTITY_JOINT_VELOCITY] = at[JOINT_VELOCITY],
                                 [CT_QUANTITY_YOUNG] = at[YOUNG],
                                 [CT_QUANTITY_POISSON] = at[POISSON],
                                 [CT_QUANTITY_DENSITY] = at[DENSITY]}};
    must(ct_backward(s->sim.model, s->sim.work, s->tape, s->value + s->first[CONTROLS], seed, s, &gradient,
                     NULL),
         NULL);
}

// ---- the check

// Central differences of every stride-th component of a slice, and their extrapolation from each step size
// and the next; the worst errors in units of the slice's largest derivative.
static void check_slice(swing* s, slice which, int stride, double step, double tolerance) {
    double error[LEVELS] = {0}, finer[LEVELS] = {0}, largest = 0;
    int halved = s->substepped, substeps = s->substeps, used = 0;
    for (int i = s->first[which]; i < s->first[which + 1]; i++)
        largest = fmax(largest, fabs(s->gradient[i]) * s->scale[i]);
    if (largest == 0) return;
    for (int i = s->first[which]; i < s->first[which + 1]; i += stride) {
        double last = 0;
        bool jumped = false;  // a rollout that halves other steps lies on another branch
        for (int level = 0; s->scale[i] > 0 && level < LEVELS && !jumped; level++) {
            double keep = s->value[i], eps = step * s->scale[i] / (1 << 2 * level);
            s->value[i] = keep + eps;
            double up = evaluate(s, s->value);
            jumped = s->substeps != substeps;
            s->value[i] = keep - eps;
            double down = evaluate(s, s->value), difference = (up - down) / (2 * eps);
            jumped = jumped || s->substeps != substeps;
            s->value[i] = keep;
            if (jumped) continue;
            used++;
            error[level] = fmax(error[level], fabs(difference - s->gradient[i]) * s->scale[i] / largest);
            if (level)
                finer[level] = fmax(finer[level], fabs((16 * difference - last) / 15 - s->gradient[i]) *
                                                      s->scale[i] / largest);
            last = difference;
        }
    }
    double best = error[0], slope = log(error[0] / error[1]) / log(4);
    for (int level = 1; level < LEVELS; level++) best = fmin(best, fmin(error[level], finer[level]));
    print_message("%-16s %.1e %.1e %.1e  extrapolated %.1e  slope %.2f\n", slice_name[which], error[0],
                  error[1], error[2], best, slope);
    s->substepped = halved;
    s->substeps = substeps;
    assert_true(used >= LEVELS && best < tolerance);
    assert_true(error[0] < 30 * tolerance || fabs(slope - 2) < 0.4);
}

static void check(swing* s, int stride, double step, double tolerance) {
    differentiate(s);
    for (slice which = 0; which < SLICES; which++)
        check_slice(s, which, which >= YOUNG ? 113 : which == CONTROLS ? stride : 1, step, tolerance);
}

// ---- scenes

static ct_settings settings_of(double h, ct_integrator integrator) {
    ct_settings settings = ct_settings_default();
    settings.time_step = h;
    settings.integrator = integrator;
    settings.threads = 1;
    settings.tolerance = 1e-13;
    for (int a = 0; a < 3; a++) settings.gravity[a] = a == 1 ? -9.81 : 0;
    return settings;
}

static int add_rod(ct_scene* scene, int parent, ct_joint_def joint, const double at[3],
                   const ct_motion* motion) {
    ct_link_def def = ct_link_def_default();
    ct_error error = {0};
    int link;
    def.parent = parent;
    def.joint = joint;
    def.mass = 0.5;
    def.motion = motion;
    for (int a = 0; a < 3; a++) {
        def.joint.anchor[a] = at[a];
        def.center[a] = at[a] + (a == 0 ? 0.1 : a == 2 ? 0.03 : 0);
        def.inertia[a] = 0.002 + 0.001 * a;
    }
    must(ct_scene_add_link(scene, &def, &link, &error), &error);
    return link;
}

static void add_control(ct_scene* scene, ct_control_kind kind, int link) {
    char name[32];
    ct_error error = {0};
    snprintf(name, sizeof name, "c%d_%d", (int)kind, link);
    if (kind == CT_CONTROL_DRIVE) must(ct_scene_add_root_control(scene, name, link, &error), &error);
    else if (kind == CT_CONTROL_MOVE) must(ct_scene_add_move_control(scene, name, -1, link, &error), &error);
    else must(ct_scene_add_joint_control(scene, name, kind, link, &error), &error);
}

static ct_joint_def axial(ct_joint_kind kind, double x, double y, double z) {
    ct_joint_def joint = ct_joint_def_default();
    joint.kind = kind;
    joint.axis[0] = x, joint.axis[1] = y, joint.axis[2] = z;
    joint.position = kind == CT_JOINT_REVOLUTE ? 0.3 : 0.05;
    joint.velocity = kind == CT_JOINT_REVOLUTE ? 1.5 : 0.4;
    joint.stiffness = kind == CT_JOINT_REVOLUTE ? 1 : 60;
    joint.rest = 0.1;
    joint.damping = kind == CT_JOINT_REVOLUTE ? 0.05 : 2;
    joint.armature = kind == CT_JOINT_REVOLUTE ? 0.003 : 0.05;
    return joint;
}

// Ball (spring and damper), revolute with a servo, prismatic, revolute with limits it is beyond, ball.
// driven: 0 not, 1 its root by a control, 2 by increments.
static ct_scene* mixed_chain(ct_settings settings, const ct_motion* motion, int driven) {
    ct_scene* scene = new_scene(&settings);
    ct_joint_def ball = ct_joint_def_default();
    ball.kind = CT_JOINT_BALL;
    ball.stiffness = 2;
    ball.damping = 0.05;
    for (int a = 0; a < 3; a++) ball.pose[a] = 0.3 - 0.2 * a, ball.rate[a] = 0.5 - 0.7 * a;
    add_rod(scene, -1, ball, (double[]){0, 0, 0}, motion);
    ct_joint_def servo = axial(CT_JOINT_REVOLUTE, 0.2, -0.4, 1);
    servo.servo_stiffness = 5;
    servo.servo_damping = 0.1;
    servo.target = 0.5;
    add_rod(scene, 0, servo, (double[]){0.2, 0, 0}, NULL);
    add_rod(scene, 1, axial(CT_JOINT_PRISMATIC, 1, 0.5, 0), (double[]){0.4, 0, 0}, NULL);
    ct_joint_def limited = axial(CT_JOINT_REVOLUTE, 0, 1, 0.3);
    limited.lower = -0.1, limited.upper = 0.05;
    limited.limit_stiffness = 40;
    add_rod(scene, 2, limited, (double[]){0.6, 0, 0.1}, NULL);
    ball.stiffness = 0.3;
    ball.damping = 0.01;
    ball.servo_stiffness = 0.4;
    ball.servo_damping = 0.01;
    add_rod(scene, 3, ball, (double[]){0.8, 0, 0}, NULL);
    for (int k = 0; k < 5; k++) add_control(scene, CT_CONTROL_TORQUE, k);
    add_control(scene, CT_CONTROL_TARGET, 1);
    add_control(scene, CT_CONTROL_TARGET, 4);
    if (driven) add_control(scene, driven == 1 ? CT_CONTROL_DRIVE : CT_CONTROL_MOVE, 0);
    return scene;
}

static void tree_gradients_match_differences_by_euler(void** unused) {
    swing s = begin(mixed_chain(settings_of(0.01, CT_INTEGRATOR_EULER), NULL, 0), 10, 1, 0);
    check(&s, 9, 0.05, 1e-8);
    end(&s);
}

static void tree_gradients_match_differences_by_bdf2(void** unused) {
    swing s = begin(mixed_chain(settings_of(0.01, CT_INTEGRATOR_BDF2), NULL, 0), 10, 1, 0);
    check(&s, 9, 0.05, 1e-8);
    end(&s);
}

static void tree_gradients_match_differences_by_stages(void** unused) {
    for (int integrator = CT_INTEGRATOR_SDIRK2; integrator <= CT_INTEGRATOR_SDIRK3; integrator++) {
        swing s = begin(mixed_chain(settings_of(0.01, integrator), NULL, 0), 3, 1, 0);
        check(&s, 5, 0.05, 1e-8);
        assert_int_equal(s.substepped, 0);
        end(&s);
    }
}

// Balls turn by more than a right angle, and far within a step.
static void tree_gradients_match_differences_at_large_rotations(void** unused) {
    for (int integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_BDF2; integrator++) {
        swing s = begin(mixed_chain(settings_of(0.02, integrator), NULL, 0), 12, 3, 0);
        check(&s, 13, 0.01, 1e-7);
        print_message("largest rotation of a ball %.2f rad\n", s.turned);
        assert_true(s.turned > 1.6);
        end(&s);
    }
}

// A thrown body with an arm: a free root that turns, a ball on it, a free link on that, a hinge at the end.
static void free_and_ball_starts_match_differences(void** unused) {
    const ct_integrator last = REPEAT(CT_INTEGRATOR_SDIRK2, CT_INTEGRATOR_BDF2);
    for (ct_integrator integrator = CT_INTEGRATOR_EULER; integrator <= last; integrator++) {
        ct_settings settings = settings_of(0.01, integrator);
        ct_scene* scene = new_scene(&settings);
        for (int k = 0; k < 4; k++) {
            ct_joint_def joint = ct_joint_def_default();
            joint.kind = k == 1 ? CT_JOINT_BALL : CT_JOINT_FREE;
            if (k == 3) joint = axial(CT_JOINT_REVOLUTE, 0.2, 1, 0.3);
            for (int i = 0; k < 3 && i < (k == 1 ? 3 : 6); i++)
                joint.pose[i] = 0.4 * sin(1.0 + i + 2 * k), joint.rate[i] = 2 * cos(2.0 * i + k);
            if (k == 1) joint.upper = 0.2, joint.limit_stiffness = 8;  // it begins beyond
            add_rod(scene, k - 1, joint, (double[]){0.2 * k, 0, 0.1}, NULL);
        }
        swing s = begin(scene, integrator <= CT_INTEGRATOR_BDF2 ? 8 : 3, 1, 0);
        check(&s, 9, 0.05, 1e-8);
        assert_true(s.gradient[s.first[LIMIT] + 1] != 0);
        for (slice which = JOINT_POSITION; which <= JOINT_VELOCITY; which++)
            for (int i = s.first[which]; i < s.first[which + 1]; i++) assert_true(s.gradient[i] != 0);
        end(&s);
    }
}

static void driven_root_gradients_match_differences(void** unused) {
    const ct_keyframe key[] = {{.time = 0},
                               {.time = 0.05, .translate = {0.1, 0.05, 0}, .rotate = {0.2, -0.3, 0.4}},
                               {.time = 0.2, .translate = {-0.1, 0, 0.1}, .rotate = {-0.4, 0.9, 0.2}}};
    ct_motion motion = {.key = key, .nkey = 3, .center = {0.1, -0.05, 0.2}, .smooth = true};
    for (int variant = 0; variant < 4; variant++) {
        swing s = begin(mixed_chain(settings_of(0.01, variant / 2 ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_EULER),
                                    &motion, 1 + variant % 2),
                        8, 1, 0);
        check(&s, 7, 0.05, 1e-8);
        end(&s);
    }
}

// Tight limits on the solver's work make it halve steps.
static void gradients_hold_through_substeps(void** unused) {
    for (int variant = 0; variant < 6; variant++) {
        int driven = variant == 4 ? 2 : variant == 5 ? 0 : variant % 2;
        bool violent = variant >= 2, staged = variant == 5;
        ct_settings settings = settings_of(0.05, staged ? CT_INTEGRATOR_SDIRK2 : CT_INTEGRATOR_EULER);
        settings.max_iterations = staged ? 20 : violent ? 12 : 11;
        settings.max_substep_depth = 8;
        swing s = begin(mixed_chain(settings, NULL, driven), staged ? 4 : 6, violent ? 5 : 4, 0);
        differentiate(&s);
        print_message("%d of %d steps were halved\n", s.substepped, s.nstep);
        assert_true(s.substepped > 0);
        // a joint meets its limit 0.0014 away, where the second derivative of the loss jumps: smaller steps
        // stay on this side
        for (slice which = CONTROLS; which <= JOINT_VELOCITY; which++)
            if (!staged || which == CONTROLS || which == DAMPING || which == MASS)
                check_slice(&s, which, which == CONTROLS ? 7 : 1, 0.001, 1e-7);
        end(&s);
    }
}

static void checkpointed_gradients_of_trees_are_the_same_bits(void** unused) {
    for (int driven = 0; driven <= 2; driven++) {
        const ct_integrator integrator = driven ? CT_INTEGRATOR_BDF2 : CT_INTEGRATOR_SDIRK3;
        swing all = begin(mixed_chain(settings_of(0.01, integrator), NULL, driven), 12, 1, 0);
        swing few = begin(mixed_chain(settings_of(0.01, integrator), NULL, driven), 12, 1, 1);
        differentiate(&all);
        differentiate(&few);
        assert_memory_equal(all.gradient, few.gradient, (size_t)all.first[SLICES] * sizeof(double));
        end(&all);
        end(&few);
    }
}

// A soft bar around three bones: a root that is driven or hangs on a hinge, ball, revolute with limits; the
// second has a mass of its own.
static ct_scene* fleshy(ct_settings settings, bool driven) {
    ct_scene* scene = new_scene(&settings);
    ct_error error = {0};
    ct_material material = ct_material_default();
    material.young = 3e4;
    add_box(scene, (double[]){0.9, 0.2, 0.2}, (int[]){9, 2, 2}, &material);
    for (int k = 0; k < 3; k++) {
        ct_selector bone = {.kind = CT_SELECT_BOX,
                            .body = -1,
                            .a = {0.3 * k + (k ? 0.05 : -1), 0.05, 0.05},
                            .b = {0.3 * k + 0.25, 0.15, 0.25}};
        int *nodes, count;
        must(ct_scene_select(scene, &bone, &nodes, &count, &error), &error);
        ct_link_def def = ct_link_def_default();
        def.parent = k - 1;
        def.nodes = nodes;
        def.count = count;
        def.joint = k == 2 ? axial(CT_JOINT_REVOLUTE, 0.1, 0, 1) : ct_joint_def_default();
        if (!k && !driven) def.joint = axial(CT_JOINT_REVOLUTE, 0, 0.2, 1);
        else def.joint.kind = k == 0 ? CT_JOINT_FIXED : k == 1 ? CT_JOINT_BALL : CT_JOINT_REVOLUTE;
        if (k == 1) def.joint.stiffness = 1, def.joint.damping = 0.2;
        if (k == 2) def.joint.position = 0.1, def.joint.upper = 0.05, def.joint.limit_stiffness = 50;
        def.joint.anchor[0] = 0.3 * k;
        def.joint.anchor[1] = def.joint.anchor[2] = 0.1;
        if (k == 1) {
            def.mass = 2;
            for (int a = 0; a < 3; a++) def.center[a] = a ? 0.1 : 0.45, def.inertia[a] = 0.01;
        }
        must(ct_scene_add_link(scene, &def, NULL, &error), &error);
        ct_free(nodes);
        if (k) add_control(scene, CT_CONTROL_TORQUE, k);
    }
    if (driven) add_control(scene, CT_CONTROL_DRIVE, 0);
    return scene;
}

static void gradients_in_flesh_match_differences(void** unused) {
    for (ct_integrator integrator = CT_INTEGRATOR_EULER; integrator <= CT_INTEGRATOR_SDIRK2; integrator++) {
        const bool staged = integrator == CT_INTEGRATOR_SDIRK2;
        swing s = begin(fleshy(settings_of(0.02, integrator), !staged), staged ? 2 : 4, 5, 0);
        check(&s, 9, 0.05, 1e-7);
        end(&s);
    }
}

// ---- parameters and objectives

static void add_parameter(ct_scene* scene, ct_quantity kind, ct_parameter_per per, const char* link,
                          const char* control) {
    ct_parameter_def def = ct_parameter_def_default();
    ct_error error = {0};
    def.quantity = kind;
    def.per = per;
    def.link = link;
    def.control = control;
    must(ct_scene_add_parameter(scene, &def, &error), &error);
}

static void add_angle(ct_scene* scene, const char* name, const char* link, const ct_keyframe* path,
                      int npath) {
    ct_objective_def def = ct_objective_def_default();
    ct_error error = {0};
    def.kind = CT_OBJECTIVE_JOINT;
    def.name = name;
    def.link = link;
    def.path = path;
    def.npath = npath;
    def.start = 0.02;
    def.stop = INFINITY;
    must(ct_scene_add_objective(scene, &def, &error), &error);
}

static void problem_differentiates_joint_parameters_for_joint_angles(void** unused) {
    ct_settings settings = settings_of(0.01, CT_INTEGRATOR_BDF2);
    settings.duration = 0.1;
    ct_scene* scene = mixed_chain(settings, NULL, true);
    const ct_keyframe fixed = {.translate = {0.8}}, ball = {.translate = {0.2, -0.3, 0.5}};
    const ct_keyframe path[] = {{.time = 0.02, .translate = {0.1}}, {.time = 0.08, .translate = {-0.2}}};
    add_angle(scene, "servo", "link1", &fixed, 1);
    add_angle(scene, "slide", "link2", path, 2);
    add_angle(scene, "ball", "link4", &ball, 1);
    add_parameter(scene, CT_QUANTITY_JOINT_STIFFNESS, CT_PER_ELEMENT, NULL, NULL);
    add_parameter(scene, CT_QUANTITY_JOINT_DAMPING, CT_PER_SCENE, NULL, NULL);
    add_parameter(scene, CT_QUANTITY_JOINT_REST, CT_PER_ELEMENT, NULL, NULL);
    add_parameter(scene, CT_QUANTITY_SERVO_STIFFNESS, CT_PER_ELEMENT, "link1", NULL);
    add_parameter(scene, CT_QUANTITY_SERVO_DAMPING, CT_PER_ELEMENT, "link1", NULL);
    add_parameter(scene, CT_QUANTITY_LIMIT_STIFFNESS, CT_PER_ELEMENT, "link3", NULL);
    add_parameter(scene, CT_QUANTITY_LINK_MASS, CT_PER_ELEMENT, NULL, NULL);
    add_parameter(scene, CT_QUANTITY_JOINT_POSITION, CT_PER_ELEMENT, NULL, NULL);
    add_parameter(scene, CT_QUANTITY_JOINT_VELOCITY, CT_PER_ELEMENT, NULL, NULL);
    add_parameter(scene, CT_QUANTITY_CONTROL, CT_PER_ELEMENT, NULL, "c1_4");
    add_parameter(scene, CT_QUANTITY_CONTROL, CT_PER_ELEMENT, NULL, "c3_0");
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    double* y = calloc((size_t)ct_problem_size(problem), sizeof *y);
    ct_problem_start(problem, y);
    ct_check_def def = ct_check_def_default();
    def.components = REPEAT(3, 1);
    ct_check_slice slices[11];
    assert_int_equal(ct_problem_slice_count(problem), 11);
    must(ct_problem_check(problem, y, &def, slices, &error), &error);
    for (int i = 0; i < 11; i++) {
        print_message("%-24s error %.1e slope %.2f\n", slices[i].name, slices[i].relative_error,
                      slices[i].slope);
        assert_true(slices[i].passed);
        assert_true(slices[i].worst_gradient != 0);
    }
    free(y);
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// The derivative along the last number of a scene read from text; the loss looks at a ball and a hinge.
static void scene_file_names_joint_parameters_and_angles(void** unused) {
    const char* text = "{\"time_step\": 0.01, \"duration\": 0.05, \"solver\": {\"tolerance\": 1e-12}, "
                       "\"skeletons\": [{\"links\": ["
                       "{\"name\": \"upper\", \"joint\": {\"type\": \"ball\", \"stiffness\": 1, "
                       "\"position\": [0.2, -0.1, 0.4], \"velocity\": [1, 2, -1]}, \"mass\": 1, \"center\": "
                       "[0.2, 0, 0], \"inertia\": [0.01, 0.01, 0.01]},"
                       "{\"name\": \"fore\", \"parent\": \"upper\", \"joint\": {\"type\": \"revolute\", "
                       "\"anchor\": [0.4, 0, 0], \"position\": 0.3, \"stiffness\": 2},"
                       " \"mass\": 0.5, \"center\": [0.5, 0, 0], \"inertia\": [0.01, 0.01, 0.01]}]}],"
                       "\"parameters\": [{\"type\": \"joint_stiffness\"}, {\"type\": \"link_mass\", "
                       "\"link\": \"fore\"}, {\"type\": \"joint_position\"}],"
                       "\"objective\": [{\"type\": \"joint\", \"link\": \"fore\", \"target\": 1}, {\"name\": "
                       "\"ball\", \"type\": \"joint\", \"link\": \"upper\", \"target\": [0, 0, 0.5]}]}";
    ct_scene* scene = NULL;
    ct_problem* problem = NULL;
    ct_error error = {0};
    must(ct_scene_parse(&scene, text, strlen(text), NULL, &error), &error);
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    assert_int_equal(ct_problem_size(problem), 7);
    double y[7], g[7], unwanted, loss[2];
    ct_problem_start(problem, y);
    for (int i = 3; i < 6; i++) y[i] = 0.8 - 0.2 * i;  // away from the pose of the scene
    must(ct_problem_evaluate(problem, y, &unwanted, g, NULL, &error), &error);
    for (int i = 0; i < 7; i++) {
        for (int side = 0; side < 2; side++) {
            double moved[7];
            memcpy(moved, y, sizeof y);
            moved[i] += side ? 1e-4 : -1e-4;
            must(ct_problem_evaluate(problem, moved, &loss[side], NULL, NULL, &error), &error);
        }
        assert_true(g[i] != 0 && fabs((loss[1] - loss[0]) / 2e-4 / g[i] - 1) < 1e-6);
    }
    ct_problem_free(problem);
    ct_scene_free(scene);
}

// ---- balls and driven roots: known answers

// A ball that turns about one axis is a hinge about it.
static void ball_swings_like_a_hinge(void** unused) {
    double angle[2];
    for (int hinge = 0; hinge < 2; hinge++) {
        ct_settings settings = settings_of(0.01, CT_INTEGRATOR_BDF2);
        ct_scene* scene = new_scene(&settings);
        ct_joint_def joint = ct_joint_def_default();
        joint.kind = hinge ? CT_JOINT_REVOLUTE : CT_JOINT_BALL;
        joint.stiffness = 3;
        joint.damping = 0.3;
        ct_link_def def = ct_link_def_default();
        def.joint = joint;
        def.mass = 1;
        def.center[0] = 0.3;
        for (int a = 0; a < 3; a++) def.inertia[a] = 0.01;
        must(ct_scene_add_link(scene, &def, NULL, NULL), NULL);
        must(ct_scene_add_joint_control(scene, "t", CT_CONTROL_TORQUE, 0, NULL), NULL);
        sim s = start(scene, 1);
        const double torque[3] = {hinge ? 1.5 : 0, 0, 1.5};
        for (int i = 0; i < 60; i++) assert_int_equal(ct_step(s.model, s.work, s.state, torque, NULL), CT_OK);
        const double* q = ct_state_coordinates(s.state);
        angle[hinge] = hinge ? q[0] : 2 * atan2(q[3], q[0]);
        stop(&s);
    }
    print_message("angles %.12f %.12f\n", angle[0], angle[1]);
    assert_true(fabs(angle[0]) > 0.1 && fabs(angle[0] - angle[1]) < 1e-10);
}

// The same start as a rotation vector and as an angle, about an axis that is none of the world's.
static void ball_started_at_a_pose_swings_like_a_hinge(void** unused) {
    const double axis[3] = {0.48, 0.6, 0.64}, angle = 1.1, speed = -2.5;
    double R[2][9], t[3];
    for (int hinge = 0; hinge < 2; hinge++) {
        ct_settings settings = settings_of(0.01, CT_INTEGRATOR_BDF2);
        for (int a = 0; a < 3; a++) settings.gravity[a] = 0;
        settings.gravity[0] = -0.8 * 9.81, settings.gravity[2] = 0.6 * 9.81;  // normal to the axis
        ct_scene* scene = new_scene(&settings);
        ct_link_def def = ct_link_def_default();
        def.joint.kind = hinge ? CT_JOINT_REVOLUTE : CT_JOINT_BALL;
        def.joint.stiffness = 1;
        for (int a = 0; a < 3; a++) {
            if (hinge) def.joint.axis[a] = axis[a];
            else def.joint.pose[a] = angle * axis[a], def.joint.rate[a] = speed * axis[a];
            def.inertia[a] = 0.02;
        }
        def.joint.lower = hinge ? -0.9 : 0, def.joint.upper = 0.9, def.joint.limit_stiffness = 20;
        if (hinge) def.joint.position = angle, def.joint.velocity = speed;
        def.mass = 1;
        def.center[0] = 0.24, def.center[2] = -0.18;
        must(ct_scene_add_link(scene, &def, NULL, NULL), NULL);
        sim s = start(scene, 1);
        for (int i = 0; i < 60; i++) assert_int_equal(ct_step(s.model, s.work, s.state, NULL, NULL), CT_OK);
        must(ct_state_link_pose(s.model, s.state, 0, R[hinge], t), NULL);
        stop(&s);
    }
    double worst = 0;
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(R[0][i] - R[1][i]));
    print_message("difference of the rotations %.1e\n", worst);
    assert_true(worst < 1e-10 && fabs(R[0][0] - 1) > 0.02);
}

// Where the motion ends the fixed link is: x = c + exp(w) (X - c) + u, then the control on top.
static void driven_root_follows_its_motion_and_control(void** unused) {
    const ct_keyframe key[] = {{.time = 0},
                               {.time = 0.1, .translate = {0.5, 0, 0}, .rotate = {0, 0, 1.5707963267948966}}};
    ct_motion motion = {.key = key, .nkey = 2, .center = {1, 0, 0}};
    ct_settings settings = settings_of(0.01, CT_INTEGRATOR_EULER);
    ct_scene* scene = new_scene(&settings);
    ct_joint_def joint = ct_joint_def_default();
    joint.kind = CT_JOINT_FIXED;
    add_rod(scene, -1, joint, (double[]){0, 0, 0}, &motion);
    add_control(scene, CT_CONTROL_DRIVE, 0);
    sim s = start(scene, 1);
    const double control[6] = {0, 0.25, 0, 0, 0, 1.5707963267948966};
    for (int i = 0; i < 10; i++) assert_int_equal(ct_step(s.model, s.work, s.state, control, NULL), CT_OK);
    double R[9], t[3];
    must(ct_state_link_pose(s.model, s.state, 0, R, t), NULL);
    // the origin: turned by a half turn about (1, 0, 0), the motion's shift by a quarter
    const double expected[3] = {2, 0.75, 0};
    for (int a = 0; a < 3; a++) assert_true(fabs(t[a] - expected[a]) < 1e-12);
    assert_true(fabs(R[0] + 1) < 1e-12 && fabs(R[4] + 1) < 1e-12);
    stop(&s);
}

// With damping it comes to rest there, from a pose far away, by the model's target or by the control's.
static void servo_brings_a_ball_to_its_target(void** unused) {
    const double target[3] = {0.9, -1.1, 0.7}, angle = sqrt(0.81 + 1.21 + 0.49);
    for (int control = 0; control < 2; control++) {
        ct_settings settings = settings_of(0.02, CT_INTEGRATOR_BDF2);
        settings.gravity[1] = 0;
        ct_scene* scene = new_scene(&settings);
        ct_joint_def joint = ct_joint_def_default();
        joint.kind = CT_JOINT_BALL;
        joint.servo_stiffness = 4;
        joint.servo_damping = 0.4;
        joint.pose[0] = -0.6, joint.pose[2] = -0.5;
        for (int a = 0; a < 3; a++) joint.pose_target[a] = control ? 0.1 : target[a];
        add_rod(scene, -1, joint, (double[]){0, 0, 0}, NULL);
        if (control) add_control(scene, CT_CONTROL_TARGET, 0);
        sim s = start(scene, 1);
        for (int i = 0; i < 300; i++)
            assert_int_equal(ct_step(s.model, s.work, s.state, control ? target : NULL, NULL), CT_OK);
        const double* q = ct_state_coordinates(s.state);
        double sign = q[0] < 0 ? -1 : 1;
        for (int a = 0; a < 3; a++)
            assert_true(fabs(sign * q[1 + a] - sin(angle / 2) / angle * target[a]) < 1e-6);
        stop(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_gradients_match_differences_by_euler),
        cmocka_unit_test(tree_gradients_match_differences_by_bdf2),
        cmocka_unit_test(tree_gradients_match_differences_by_stages),
        cmocka_unit_test(tree_gradients_match_differences_at_large_rotations),
        cmocka_unit_test(free_and_ball_starts_match_differences),
        cmocka_unit_test(driven_root_gradients_match_differences),
        cmocka_unit_test(gradients_hold_through_substeps),
        cmocka_unit_test(checkpointed_gradients_of_trees_are_the_same_bits),
        cmocka_unit_test(gradients_in_flesh_match_differences),
        cmocka_unit_test(problem_differentiates_joint_parameters_for_joint_angles),
        cmocka_unit_test(scene_file_names_joint_parameters_and_angles),
        cmocka_unit_test(ball_swings_like_a_hinge),
        cmocka_unit_test(ball_started_at_a_pose_swings_like_a_hinge),
        cmocka_unit_test(driven_root_follows_its_motion_and_control),
        cmocka_unit_test(servo_brings_a_ball_to_its_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
