// The law of one contact: what solves it, its rows as derivatives, and their transpose.
#include "slope.h"

#include <stdbool.h>
#include <string.h>

#include "contact/touch.h"
#include "math/quat.h"

enum { NODES = 4, N = 3 * NODES };

typedef enum frame { HELD, ROUND, SPINNING } frame;

typedef struct setup {
    ct_touch touch;
    frame frame;  // of the touch: held, or that of a sphere or capsule, which may spin
    ct_touch_round round;
    ct_obstacle_motion motion;
    double start[N], x[N];
} setup;

static double uniform(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

// The frame where the nodes are now.
static void hold(setup* s) { ct_held_hold(&s->touch.is.pair, NULL, s->x, s->x, 0, &s->touch.at); }

// A setup that was copied has its own moving frame.
static void place(setup* s) {
    s->touch.round = s->frame == HELD ? NULL : &s->round;
    s->touch.motion = s->frame == SPINNING ? &s->motion : NULL;
    ct_touch_place(&s->touch, s->start, s->x);
}

static ct_obstacle_motion random_spin(uint64_t* seed, int side) {
    ct_obstacle_motion motion = {.side = side, .radius = 0.04};
    ct_mat3_store(motion.turn, ct_quat_matrix(ct_quat_from_vector(ct_vec3_make(
                                   0.4 * uniform(seed), 0.4 * uniform(seed), 0.4 * uniform(seed)))));
    return motion;
}

// A pair at some distance with some force, placed and linearised for a set.
static setup random_setup(ct_contact_type type, ct_contact_set set, frame frame, int sample) {
    static const double rest[][N] = {
        [CT_CONTACT_TYPE_VERTEX_FACE] = {0.3, 0.25, 0.2, 0, 0, 0, 1, 0.1, 0, 0.1, 0.9, 0},
        [CT_CONTACT_TYPE_EDGE_EDGE] = {-0.5, 0.1, 0.2, 0.6, 0, 0.2, 0.1, -0.5, 0, -0.1, 0.4, 0},
        [CT_CONTACT_TYPE_POINT_EDGE] = {0.3, 0.2, 0.1, -0.4, 0, 0, 0.8, 0.1, 0.1},
        [CT_CONTACT_TYPE_POINT_POINT] = {0.3, 0.2, 0.1, 0.1, 0.3, 0.2},
    };
    static const int count[] = {1, 4, 4, 3, 2};
    setup s = {.touch = {.is = {.pair = {.type = type,
                                         .node = {-1, -1, -1, -1},
                                         .plane = -1,
                                         .sign = 1,
                                         .thickness = 0.05,
                                         .friction = 0.3},
                                .set = set,
                                .anchor = {0.4, -0.3, 0.2},
                                .eps = 0.02},
                         .scale = 3},
               .frame = frame};
    uint64_t seed = (uint64_t)(7919 * sample + 5 * (int)type + (int)set + 1);
    for (int i = 0; i < count[type]; i++) s.touch.is.pair.node[i] = (i + 1) % count[type];
    for (int i = 0; i < 3 * count[type]; i++) {
        const int k = 3 * s.touch.is.pair.node[i / 3] + i % 3;
        s.x[k] = rest[type][i] + 0.05 * uniform(&seed);
        s.start[k] = rest[type][i] + 0.1 * uniform(&seed);
    }
    hold(&s);
    s.motion = random_spin(&seed, sample % 2);
    place(&s);
    for (int a = 0; a < 3; a++) s.touch.is.force[a] = 2 * s.touch.at.n[a] + uniform(&seed);
    ct_touch_linearise(&s.touch);
    return s;
}

static void for_frame(frame frame, void (*check)(const setup* s, int sample)) {
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 8; sample++)
            for (int slip = 0; slip < 2; slip++) {
                setup s =
                    random_setup(type, slip ? CT_CONTACT_SET_SLIP : CT_CONTACT_SET_STICK, frame, sample);
                place(&s);
                check(&s, sample);
            }
}

static void for_all(void (*check)(const setup* s, int sample)) {
    for (frame frame = HELD; frame <= SPINNING; frame++) for_frame(frame, check);
}

// ---- derivatives ---------------------------------------------------------------------------

// Along a line: components 0-2 of the residual, or 3 + k: of the nodal forces w_i F.
typedef struct line {
    setup s;
    double dx[N], dstart[N], dF[3], dn[3], danchor[3], deps, dmu;
    int which;
} line;

static double along(void* user, double t) {
    const line* l = user;
    setup s = l->s;
    for (int i = 0; i < N; i++) s.x[i] += t * l->dx[i], s.start[i] += t * l->dstart[i];
    for (int a = 0; a < 3; a++) s.touch.is.force[a] += t * l->dF[a];
    for (int a = 0; a < 3; a++) s.touch.at.n[a] += t * l->dn[a], s.touch.is.anchor[a] += t * l->danchor[a];
    s.touch.is.eps += t * l->deps;
    s.touch.is.pair.friction += t * l->dmu;
    place(&s);
    double R[3], nodal[N] = {0};
    ct_touch_residual(&s.touch, R);
    for (int k = 0; k < 3 * s.touch.at.count; k++)
        nodal[3 * s.touch.is.pair.node[k / 3] + k % 3] = s.touch.at.w[k / 3] * s.touch.is.force[k % 3];
    return l->which < 3 ? R[l->which] : nodal[l->which - 3];
}

static void check_rows(const setup* s, int sample) {
    line l = {.s = *s};
    uint64_t seed = (uint64_t)sample + 99;
    for (int i = 0; i < N; i++) l.dx[i] = uniform(&seed);
    for (int a = 0; a < 3; a++) l.dF[a] = uniform(&seed);
    double row[3], nodes[N] = {0};
    ct_touch_product(&s->touch, l.dx, l.dF, nodes, row);
    const double step = s->frame == HELD ? 0.002 : 0.0004;  // frames that turn are more curved
    for (l.which = 0; l.which < 3; l.which++) assert_slope(along, &l, row[l.which], step, 10);
    for (int i = 0; i < 3 * s->touch.at.count; i++) {
        l.which = 3 + i;
        assert_slope(along, &l, -nodes[i], step, 10);
    }
}

static void rows_follow_central_differences(void** state) { for_all(check_rows); }

// Component `which` of the residual by everything that is held in a step.
static void check_held(const setup* s, int sample) {
    uint64_t seed = (uint64_t)sample + 7;
    line l = {.s = *s};
    double place[3];
    for (int i = 0; i < N; i++) l.dstart[i] = uniform(&seed);
    for (int a = 0; a < 3; a++) l.dn[a] = uniform(&seed), l.danchor[a] = uniform(&seed);
    double along_n = 0;  // n stays of length 1; one that follows the surface is not held
    for (int a = 0; a < 3; a++) along_n += l.dn[a] * s->touch.at.n[a];
    for (int a = 0; a < 3; a++) l.dn[a] = s->frame == HELD ? l.dn[a] - along_n * s->touch.at.n[a] : 0;
    l.deps = uniform(&seed);
    l.dmu = uniform(&seed);
    ct_touch_motion(&s->touch, s->x, place);
    for (l.which = 0; l.which < 3; l.which++) {
        const double lam[3] = {-(l.which == 0), -(l.which == 1), -(l.which == 2)};
        const ct_touch_bar bar = ct_touch_vjp(&s->touch, lam);
        double moved[3], exact = bar.eps * l.deps + bar.friction * l.dmu;
        ct_touch_motion(&s->touch, l.dstart, moved);
        for (int a = 0; a < 3; a++)
            exact += (bar.n[a] + bar.gap * place[a]) * l.dn[a] + bar.anchor[a] * l.danchor[a] -
                     bar.u[a] * moved[a];
        assert_slope(along, &l, exact, 0.002, 10);
    }
}

static void reverse_follows_central_differences(void** state) { for_all(check_held); }

static void check_transpose(const setup* s, int sample) {
    uint64_t seed = (uint64_t)sample + 31;
    double dx[N], dF[3], lam[N], lam_F[3], nodes[N] = {0}, row[3], nodes_bar[N] = {0}, F_bar[3];
    for (int i = 0; i < N; i++) dx[i] = uniform(&seed), lam[i] = uniform(&seed);
    for (int a = 0; a < 3; a++) dF[a] = uniform(&seed), lam_F[a] = uniform(&seed);
    ct_touch_product(&s->touch, dx, dF, nodes, row);
    ct_touch_transposed(&s->touch, lam, lam_F, nodes_bar, F_bar);
    double forward = 0, reverse = 0;
    for (int i = 0; i < N; i++) forward += lam[i] * nodes[i], reverse += nodes_bar[i] * dx[i];
    for (int a = 0; a < 3; a++) forward += lam_F[a] * row[a], reverse += F_bar[a] * dF[a];
    assert_true(fabs(forward - reverse) < 1e-12 * (1 + fabs(forward)));
}

static void transposed_rows_are_the_transpose(void** state) { for_all(check_transpose); }

// A point beside a sphere or a capsule: the normal is from its centre or axis, wherever it goes.
static void round_frames_follow_the_surface(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_POINT_EDGE; type <= CT_CONTACT_TYPE_POINT_POINT; type++) {
        setup s = {.touch = {.is = {.pair = {.type = type,
                                             .node = {0, 1, type == CT_CONTACT_TYPE_POINT_EDGE ? 2 : -1, -1},
                                             .plane = -1,
                                             .sign = 1,
                                             .side = {0, 0, 1},
                                             .thickness = 0.5}},
                             .scale = 1},
                   .frame = ROUND,
                   .x = {0, 0, 0.5, 0, 0, 0, 0, 1, 0}};
        memcpy(s.start, s.x, sizeof s.x);
        hold(&s);
        for (int k = 0; k < 8; k++) {
            const double angle = 0.15 * k;
            s.x[0] = 0.6 * sin(angle), s.x[2] = 0.6 * cos(angle);
            place(&s);
            assert_float_equal(s.touch.gap, 0.1, 1e-14);
            assert_float_equal(s.touch.at.n[0], sin(angle), 1e-14);
            assert_float_equal(s.touch.at.n[2], cos(angle), 1e-14);
            for (int a = 0; a < 3; a++) assert_float_equal(s.touch.u[a], s.x[a] - s.start[a], 1e-14);
        }
    }
}

// ---- the law -------------------------------------------------------------------------------

// A vertex at `gap` above a face that it has slid along by u; no compliance.
static setup over_a_face(double gap, const double u[3]) {
    setup s = {.touch = {.is = {.pair = {.type = CT_CONTACT_TYPE_VERTEX_FACE,
                                         .node = {0, 1, 2, 3},
                                         .plane = -1,
                                         .sign = 1,
                                         .thickness = 0.1,
                                         .friction = 0.5}},
                         .scale = 2},
               .x = {0.2, 0.3, 0.1 + gap, 0, 0, 0, 1, 0, 0, 0, 1, 0}};
    memcpy(s.start, s.x, sizeof s.x);
    for (int a = 0; a < 3; a++) s.start[a] -= u[a];
    hold(&s);
    place(&s);
    return s;
}

static void assert_solves(setup* s, const double F[3], ct_contact_set set) {
    double R[3];
    memcpy(s->touch.is.force, F, sizeof s->touch.is.force);
    assert_int_equal(ct_touch_set(&s->touch), set);
    ct_touch_natural(&s->touch, R);
    assert_true(fabs(R[0]) + fabs(R[1]) + fabs(R[2]) < 1e-14);
}

static void signorini_and_coulomb_have_zero_residual(void** state) {
    setup apart = over_a_face(0.2, (double[]){0.1, 0, 0});
    assert_solves(&apart, (double[]){0, 0, 0}, CT_CONTACT_SET_OPEN);
    setup held = over_a_face(0, (double[]){0, 0, 0});
    assert_solves(&held, (double[]){0.3, -0.2, 1}, CT_CONTACT_SET_STICK);  // inside the cone
    setup sliding = over_a_face(0, (double[]){0.3, 0.4, 0});
    assert_solves(&sliding, (double[]){-0.3, -0.4, 1}, CT_CONTACT_SET_SLIP);  // mu F_N against the slip
}

static void what_breaks_the_law_has_a_residual(void** state) {
    const double slip[3] = {0.3, 0.4, 0}, none[3] = {0, 0, 0};
    const struct {
        double gap;
        const double* u;
        double F[3];
    } wrong[] = {
        {-0.01, none, {0, 0, 0}},  // pushed in, and no force
        {0.2, none, {0, 0, 1}},    // a force at a distance
        {0, none, {0, 0, -1}},     // pulling
        {0, none, {0.6, 0, 1}},    // beyond the cone
        {0, slip, {0, 0, 1}},      // sliding without friction
        {0, slip, {0.3, 0.4, 1}},  // pushed along
        {0, slip, {-0.5, 0, 1}},   // not against the slip
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setup s = over_a_face(wrong[i].gap, wrong[i].u);
        double R[3];
        memcpy(s.touch.is.force, wrong[i].F, sizeof wrong[i].F);
        ct_touch_natural(&s.touch, R);
        assert_true(sqrt(R[0] * R[0] + R[1] * R[1] + R[2] * R[2]) > 0.01);
    }
}

// With the force of the step before nothing slips; with another one the contact gives by eps times the
// change.
static void an_anchor_holds_its_place(void** state) {
    setup s = over_a_face(-0.01, (double[]){0, 0, 0});
    s.touch.is.eps = 0.01;
    memcpy(s.touch.is.anchor, (double[]){0.3, -0.2, 5}, sizeof s.touch.is.anchor);
    assert_solves(&s, (double[]){0.3, -0.2, 1}, CT_CONTACT_SET_STICK);
    setup moved = over_a_face(-0.01, (double[]){-0.001, 0, 0});
    moved.touch.is.eps = 0.01;
    memcpy(moved.touch.is.anchor, (double[]){0.3, -0.2, 5}, sizeof s.touch.is.anchor);
    assert_solves(&moved, (double[]){0.4, -0.2, 1}, CT_CONTACT_SET_STICK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_follow_central_differences),
        cmocka_unit_test(reverse_follows_central_differences),
        cmocka_unit_test(transposed_rows_are_the_transpose),
        cmocka_unit_test(round_frames_follow_the_surface),
        cmocka_unit_test(signorini_and_coulomb_have_zero_residual),
        cmocka_unit_test(what_breaks_the_law_has_a_residual),
        cmocka_unit_test(an_anchor_holds_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
