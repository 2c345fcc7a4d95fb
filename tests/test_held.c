// Held frames: where they are taken, and what they depend on.
#include "slope.h"

#include <stdbool.h>
#include <string.h>

#include "contact/held.h"
#include "math/quat.h"

enum { NODES = 4, N = 3 * NODES };

typedef struct setup {
    ct_pair pair;
    double start[N], hat[N];
} setup;

static double uniform(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static int first_side(ct_contact_type type) { return type == CT_CONTACT_TYPE_EDGE_EDGE ? 2 : 1; }

// A pair some way apart, turned at random, whose first primitive moves to the other and a little past it.
static setup random_setup(ct_contact_type type, int sample) {
    static const double rest[][N] = {
        [CT_CONTACT_TYPE_VERTEX_FACE] = {0.3, 0.25, 0.2, 0, 0, 0, 1, 0.1, 0, 0.1, 0.9, 0},
        [CT_CONTACT_TYPE_EDGE_EDGE] = {-0.5, 0.1, 0.2, 0.6, 0, 0.2, 0.1, -0.5, 0, -0.1, 0.4, 0},
        [CT_CONTACT_TYPE_POINT_EDGE] = {0.1, 0, 0.2, -0.4, 0, 0, 0.8, 0, 0},
        [CT_CONTACT_TYPE_POINT_POINT] = {0, 0, 0.2, 0, 0, 0},
    };
    static const int count[] = {1, 4, 4, 3, 2}, order[] = {2, 0, 3, 1};
    setup s = {
        .pair = {.type = type, .node = {-1, -1, -1, -1}, .plane = -1, .thickness = 0.05, .core = 0.025}};
    uint64_t seed = (uint64_t)(7919 * sample + (int)type + 1);
    const ct_quat q =
        ct_quat_from_vector(ct_vec3_make(2 * uniform(&seed), 2 * uniform(&seed), 2 * uniform(&seed)));
    const ct_vec3 up = ct_quat_rotate(q, ct_vec3_make(0, 0, 1));
    for (int i = 0; i < count[type]; i++) {
        const int node = s.pair.node[i] = order[i];
        const ct_vec3 p = ct_quat_rotate(q, ct_vec3_load(rest[type] + 3 * i));
        ct_vec3_store(s.start + 3 * node, p);
        ct_vec3_store(s.hat + 3 * node, i < first_side(type) ? ct_vec3_axpy(p, -0.21, up) : p);
        for (int a = 0; a < 3; a++)
            s.start[3 * node + a] += 0.01 * uniform(&seed), s.hat[3 * node + a] += 0.01 * uniform(&seed);
    }
    s.pair.sign = 1;
    ct_vec3_store(s.pair.side, up);
    ct_held_frame frame;
    ct_held_hold(&s.pair, NULL, s.start, s.hat, 0, &frame);
    if (ct_vec3_dot(ct_vec3_load(frame.n), up) < 0) s.pair.sign = -1;
    return s;
}

// ---- values --------------------------------------------------------------------------------

static void assert_frame(const ct_held_frame* frame, int count, const double n[3], const double w[4]) {
    assert_int_equal(frame->count, count);
    for (int a = 0; a < 3; a++) assert_float_equal(frame->n[a], n[a], 1e-14);
    for (int k = 0; k < 4; k++) assert_float_equal(frame->w[k], w[k], 1e-14);
}

// A vertex that falls on a triangle and slides along it meanwhile.
static const setup falling = {.pair = {.type = CT_CONTACT_TYPE_VERTEX_FACE,
                                       .node = {0, 1, 2, 3},
                                       .plane = -1,
                                       .sign = 1,
                                       .thickness = 0.2,
                                       .core = 0.1},
                              .start = {0.2, 0.1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0},
                              .hat = {0.4, 0.5, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0}};

static void frames_are_taken_at_their_time(void** state) {
    const double up[3] = {0, 0, 1};
    const struct {
        double time, w[4], outside;
    } at[] = {{0, {1, -0.7, -0.2, -0.1}, -0.1},
              {0.5, {1, -0.4, -0.3, -0.3}, -0.3},
              {1, {1, -0.1, -0.4, -0.5}, -0.1}};
    for (int i = 0; i < 3; i++) {
        ct_held_frame frame;
        const double outside =
            ct_held_hold(&falling.pair, NULL, falling.start, falling.hat, at[i].time, &frame);
        assert_frame(&frame, 4, up, at[i].w);
        assert_float_equal(outside, at[i].outside, 1e-14);
    }
}

static void feet_outside_are_told(void** state) {
    setup s = falling;
    s.hat[0] = -0.1;
    ct_held_frame frame;
    assert_float_equal(ct_held_hold(&s.pair, NULL, s.start, s.hat, 1, &frame), 0.1, 1e-14);
    // edges that cross beyond the end of the first, then of the second; a point beyond the end of an edge
    const struct {
        ct_contact_type type;
        double x[N];
    } beyond[] = {{CT_CONTACT_TYPE_EDGE_EDGE, {1.1, 0, 0.1, 2.1, 0, 0.1, 1, -1, 0, 1, 1, 0}},
                  {CT_CONTACT_TYPE_EDGE_EDGE, {0, 0, 0.1, 2, 0, 0.1, 1, 0.2, 0, 1, 2.2, 0}},
                  {CT_CONTACT_TYPE_POINT_EDGE, {2.2, 0, 0.1, 0, 0, 0, 2, 0, 0}}};
    for (int k = 0; k < 3; k++) {
        s.pair.type = beyond[k].type;
        s.pair.node[3] = k < 2 ? 3 : -1;
        s.pair.side[2] = 1;
        const double outside = ct_held_hold(&s.pair, NULL, beyond[k].x, beyond[k].x, 1, &frame);
        assert_float_equal(outside, 0.1, 1e-14);
    }
}

// The frame is that of the pair's geometry at x_f, for every type.
static void frames_are_the_geometry_on_the_way(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 12; sample++) {
            const setup s = random_setup(type, sample);
            const double time = 0.25 * (sample % 4);
            double x[N];
            for (int i = 0; i < N; i++) x[i] = s.start[i] + time * (s.hat[i] - s.start[i]);
            ct_contact_geometry g;
            ct_held_frame frame;
            ct_contact_geometry_at(&s.pair, NULL, x, x, false, &g);
            ct_held_hold(&s.pair, NULL, s.start, s.hat, time, &frame);
            assert_frame(&frame, g.count, g.n, g.w);
        }
}

static void planes_have_the_frame_of_the_end(void** state) {
    const ct_pair pair = {.type = CT_CONTACT_TYPE_PLANE, .node = {0, -1, -1, -1}, .plane = 0};
    const ct_obstacle_motion motion = {.normal = {0.6, 0, 0.8}};
    const double x[3] = {0};
    ct_held_frame frame;
    double time;
    ct_held_hold(&pair, &motion, x, x, 0, &frame);
    assert_frame(&frame, 1, motion.normal, (double[]){1, 0, 0, 0});
    assert_false(ct_held_impact(&pair, x, x, &time));
}

// ---- times of impact -----------------------------------------------------------------------

// A fifth of the way from core to thickness: .12 above the face.
static void impact_is_when_the_pair_is_near_its_core(void** state) {
    double time;
    assert_true(ct_held_impact(&falling.pair, falling.start, falling.hat, &time));
    assert_float_equal(time, 0.88, 1e-14);
}

static double distance_at(const setup* s, double time) {
    double x[N];
    for (int i = 0; i < N; i++) x[i] = s->start[i] + time * (s->hat[i] - s->start[i]);
    ct_contact_geometry g;
    ct_contact_geometry_at(&s->pair, NULL, x, x, false, &g);
    return g.gap + s->pair.thickness;
}

static void impacts_are_roots_of_the_distance(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 12; sample++) {
            const setup s = random_setup(type, sample);
            double time;
            assert_true(ct_held_impact(&s.pair, s.start, s.hat, &time));
            assert_float_equal(distance_at(&s, time), 0.03, 1e-15);
            for (int k = 0; k < 50; k++) assert_true(distance_at(&s, k / 50.0 * time) > 0.03);
        }
}

static void what_stays_apart_has_no_impact(void** state) {
    setup s = falling;
    double time;
    s.hat[2] = 0.3;
    assert_false(ct_held_impact(&s.pair, s.start, s.hat, &time));
    s.hat[2] = 2;
    assert_false(ct_held_impact(&s.pair, s.start, s.hat, &time));
}

// ---- reverse -------------------------------------------------------------------------------

// n_bar.n + w_bar.w along a line in x_start, x_hat and the distance to keep.
typedef struct line {
    setup s;
    ct_held_kind kind;
    double time, dstart[N], dhat[N], dkept, n_bar[3], w_bar[4];
} line;

static double along(void* user, double t) {
    const line* l = user;
    setup s = l->s;
    double time = l->time, sum = 0;
    for (int i = 0; i < N; i++) s.start[i] += t * l->dstart[i], s.hat[i] += t * l->dhat[i];
    s.pair.thickness += t * l->dkept;
    s.pair.core += 0.5 * t * l->dkept;
    if (l->kind == CT_HELD_IMPACT) assert_true(ct_held_impact(&s.pair, s.start, s.hat, &time));
    ct_held_frame frame;
    ct_held_hold(&s.pair, NULL, s.start, s.hat, time, &frame);
    for (int a = 0; a < 3; a++) sum += l->n_bar[a] * frame.n[a];
    for (int k = 0; k < frame.count; k++) sum += l->w_bar[k] * frame.w[k];
    return sum;
}

static void check_reverse(line* l, bool n, bool w) {
    uint64_t seed = 17;
    for (int a = 0; a < 3; a++) l->n_bar[a] = n ? uniform(&seed) : 0;
    for (int k = 0; k < 4; k++) l->w_bar[k] = w ? uniform(&seed) : 0;
    for (int i = 0; i < N; i++) l->dstart[i] = uniform(&seed), l->dhat[i] = uniform(&seed);
    double start_bar[N], hat_bar[N];
    for (int i = 0; i < N; i++) start_bar[i] = hat_bar[i] = 1;  // added to
    const double kept_bar = ct_held_vjp(&l->s.pair, l->s.start, l->s.hat, l->kind, l->time, l->n_bar,
                                        l->w_bar, start_bar, hat_bar);
    if (l->kind == CT_HELD_AT) assert_true(kept_bar == 0);
    double exact = l->dkept * kept_bar;
    for (int i = 0; i < N; i++) exact += l->dstart[i] * (start_bar[i] - 1) + l->dhat[i] * (hat_bar[i] - 1);
    assert_slope(along, l, exact, 1e-3, 10);
}

static void reverse_follows_central_differences(void** state) {
    static const double times[] = {0, 0.5, 1};
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 8; sample++)
            for (int i = 0; i < 4; i++) {
                line l = {.s = random_setup(type, sample),
                          .kind = i < 3 ? CT_HELD_AT : CT_HELD_IMPACT,
                          .time = i < 3 ? times[i] : 0,
                          .dkept = 0.7};
                // where velocities lead, points and edges have passed one another: far from any frame
                if (i == 2 && type != CT_CONTACT_TYPE_VERTEX_FACE && type != CT_CONTACT_TYPE_EDGE_EDGE)
                    l.time = 0.75;
                if (i == 3) assert_true(ct_held_impact(&l.s.pair, l.s.start, l.s.hat, &l.time));
                check_reverse(&l, true, false);
                check_reverse(&l, false, true);
                check_reverse(&l, true, true);
            }
}

// The distance to keep alone.
static void impacts_depend_on_the_distance_to_keep(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++) {
        line l = {.s = random_setup(type, 3), .kind = CT_HELD_IMPACT, .dkept = 1, .n_bar = {0.3, -0.5, 0.8}};
        double start_bar[N] = {0}, hat_bar[N] = {0};
        assert_true(ct_held_impact(&l.s.pair, l.s.start, l.s.hat, &l.time));
        const double exact =
            ct_held_vjp(&l.s.pair, l.s.start, l.s.hat, l.kind, l.time, l.n_bar, l.w_bar, start_bar, hat_bar);
        assert_true(fabs(exact) > 1e-4);
        assert_slope(along, &l, exact, 1e-3, 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_taken_at_their_time),
        cmocka_unit_test(feet_outside_are_told),
        cmocka_unit_test(frames_are_the_geometry_on_the_way),
        cmocka_unit_test(planes_have_the_frame_of_the_end),
        cmocka_unit_test(impact_is_when_the_pair_is_near_its_core),
        cmocka_unit_test(impacts_are_roots_of_the_distance),
        cmocka_unit_test(what_stays_apart_has_no_impact),
        cmocka_unit_test(reverse_follows_central_differences),
        cmocka_unit_test(impacts_depend_on_the_distance_to_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
