// Rotors of joints against the equations of motion, integrated here by a Runge-Kutta rule:
//     (M(q) + diag(a)) q'' = forces,
// where M is that of the links alone: rotors have no weight and do not turn with what carries the joint.
#include "build.h"
#include "scene_text.h"

// ---- two rods in a plane: the first on a slider or a hinge, the second on a hinge --------------

enum { SLIDE, SWING };
static const double m1 = 0.8, m2 = 0.5, J1 = 0.01, J2 = 0.004, l1 = 0.3, l2 = 0.2, L1 = 0.5, g = 9.81;
static const double a[2] = {0.07, 0.03};
static const double q_start[2] = {0.4, 1.1}, u_start[2] = {0.6, -1.5};

static void solve(const double M[3], const double f[2], double out[2]) {
    const double det = M[0] * M[2] - M[1] * M[1];
    out[0] = (M[2] * f[0] - M[1] * f[1]) / det;
    out[1] = (M[0] * f[1] - M[1] * f[0]) / det;
}

// Angles from straight down, the second from the first; a slider along x.
static void accelerate(int kind, const double q[2], const double u[2], double out[2]) {
    if (kind == SLIDE) {
        const double s = sin(q[1]), c = cos(q[1]);
        const double M[3] = {m1 + m2 + a[0], m2 * l2 * c, J2 + m2 * l2 * l2 + a[1]};
        const double f[2] = {m2 * l2 * s * u[1] * u[1], -m2 * g * l2 * s};
        solve(M, f, out);
        return;
    }
    const double s = m2 * L1 * l2 * sin(q[1]), c = m2 * L1 * l2 * cos(q[1]), both = q[0] + q[1];
    const double M[3] = {J1 + m1 * l1 * l1 + J2 + m2 * (L1 * L1 + l2 * l2) + 2 * c + a[0],
                         J2 + m2 * l2 * l2 + c, J2 + m2 * l2 * l2 + a[1]};
    const double f[2] = {s * (2 * u[0] * u[1] + u[1] * u[1]) - g * (m1 * l1 + m2 * L1) * sin(q[0]) -
                             g * m2 * l2 * sin(both),
                         -s * u[0] * u[0] - g * m2 * l2 * sin(both)};
    solve(M, f, out);
}

static void runge_kutta(int kind, double h, double q[2], double u[2]) {
    double kq[4][2], ku[4][2];
    for (int stage = 0; stage < 4; stage++) {
        const double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
        double at_q[2], at_u[2];
        for (int i = 0; i < 2; i++) {
            at_q[i] = q[i] + (stage ? part * kq[stage - 1][i] : 0);
            at_u[i] = u[i] + (stage ? part * ku[stage - 1][i] : 0);
            kq[stage][i] = at_u[i];
        }
        accelerate(kind, at_q, at_u, ku[stage]);
    }
    for (int i = 0; i < 2; i++) {
        q[i] += h / 6 * (kq[0][i] + 2 * kq[1][i] + 2 * kq[2][i] + kq[3][i]);
        u[i] += h / 6 * (ku[0][i] + 2 * ku[1][i] + 2 * ku[2][i] + ku[3][i]);
    }
}

// Turning by a positive angle about y carries a rod that hangs down to -x: angles count the other way.
static ct_scene* rods(int kind, double h, const char* integrator) {
    char text[2000], first[300];
    if (kind == SLIDE)
        snprintf(first, sizeof first,
                 "{\"type\": \"prismatic\", \"axis\": [1, 0, 0], \"position\": %g, \"velocity\": %g, "
                 "\"armature\": %g}",
                 q_start[0], u_start[0], a[0]);
    else
        snprintf(first, sizeof first,
                 "{\"type\": \"revolute\", \"axis\": [0, -1, 0], \"position\": %g, \"velocity\": %g, "
                 "\"armature\": %g}",
                 q_start[0], u_start[0], a[0]);
    snprintf(text, sizeof text,
             "{\"time_step\": %.17g, \"integrator\": \"%s\", \"gravity\": [0, 0, %g], \"solver\": "
             "{\"tolerance\": 1e-12}, \"skeletons\": [{\"links\": [{\"name\": \"first\", \"joint\": %s, "
             "\"mass\": %g, \"center\": [0, 0, %g], \"inertia\": [%g, %g, %g]}, {\"name\": \"second\", "
             "\"parent\": \"first\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, -1, 0], \"anchor\": "
             "[0, 0, %g], \"position\": %g, \"velocity\": %g, \"armature\": %g}, \"mass\": %g, \"center\": "
             "[0, 0, %g], \"inertia\": [%g, %g, %g]}]}]}",
             h, integrator, -g, first, m1, -l1, J1, J1, J1, kind == SLIDE ? 0 : -L1, q_start[1], u_start[1],
             a[1], m2, (kind == SLIDE ? 0 : -L1) - l2, J2, J2, J2);
    return parse(text);
}

static double error_at(int kind, int count, const char* integrator, const double* truth, ct_measure* begin,
                       ct_measure* end) {
    sim s = start(rods(kind, 0.5 / count, integrator), 1);
    *begin = ct_state_measure(s.model, s.state);
    steps(&s, count);
    *end = ct_state_measure(s.model, s.state);
    const double* q = ct_state_coordinates(s.state);
    const double error = fmax(fabs(q[0] - truth[0]), fabs(q[1] - truth[1]));
    stop(&s);
    return error;
}

static void rods_move_as_the_equations_say(int kind) {
    double q[2] = {q_start[0], q_start[1]}, u[2] = {u_start[0], u_start[1]};
    ct_measure begin, end;
    for (int i = 0; i < 5000; i++) runge_kutta(kind, 1e-4, q, u);
    const double coarse = error_at(kind, 500, "bdf2", q, &begin, &end),
                 fine = error_at(kind, 1000, "bdf2", q, &begin, &end);
    const double lost = begin.kinetic + begin.gravitational - end.kinetic - end.gravitational;
    print_message("errors %.2e %.2e, slope %.2f; energy lost %.1e of %.3f\n", coarse, fine,
                  log2(coarse / fine), lost, begin.kinetic);
    assert_true(fine < 1e-5 && fabs(log2(coarse / fine) - 2) < 0.3);
    assert_true(fabs(lost) < 2e-5);                   // J; the rotors begin with 0.05
    assert_true(fabs(begin.mass - m1 - m2) < 1e-12);  // rotors weigh nothing
    const double third = error_at(kind, 50, "sdirk3", q, &begin, &end),
                 finer = error_at(kind, 100, "sdirk3", q, &begin, &end);
    print_message("sdirk3, with a tenth of the steps: errors %.2e %.2e, slope %.2f\n", third, finer,
                  log2(third / finer));
    assert_true(finer < 1e-5 && fabs(log2(third / finer) - 3) < 0.3);
}

static void sliders_with_rotors_move_as_the_equations_say(void** unused) {
    rods_move_as_the_equations_say(SLIDE);
}

static void hinges_with_rotors_move_as_the_equations_say(void** unused) {
    rods_move_as_the_equations_say(SWING);
}

// ---- what is not one -----------------------------------------------------------------------

#define LINK(joint)                                                                                          \
    "{\"skeletons\": [{\"links\": [{\"name\": \"l\", \"joint\": {" joint                                     \
    "}, \"mass\": 1, \"inertia\": [1, 1, 1]}]}]}"

static void other_joints_refuse_rotors(void** unused) {
    refused(LINK("\"type\": \"ball\", \"armature\": 1"), "skeletons[0].links[0].joint.armature", 1, "");
    refused(LINK("\"type\": \"free\", \"armature\": 1"), "skeletons[0].links[0].joint.armature", 1, "");
    refused(LINK("\"type\": \"fixed\", \"armature\": 1"), "skeletons[0].links[0].joint.armature", 1, "");
    refused(LINK("\"type\": \"revolute\", \"armature\": -1"), "skeletons[0].links[0].joint.armature", 1, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliders_with_rotors_move_as_the_equations_say),
        cmocka_unit_test(hinges_with_rotors_move_as_the_equations_say),
        cmocka_unit_test(other_joints_refuse_rotors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
