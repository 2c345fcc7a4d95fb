// Normals, weights, gaps and slips of contacts, their derivatives, and what must not change them.
#include "slope.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "contact/contact_geometry.h"
#include "math/quat.h"

enum { NODES = 4, N = 3 * NODES };

typedef struct setup {
    ct_pair pair;
    ct_obstacle_motion motion;
    bool moving;  // motion is handed over
    double start[N], x[N];
} setup;

static double uniform(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static int node_count(ct_contact_type type) {
    static const int count[] = {1, 4, 4, 3, 2};
    return count[type];
}

static ct_quat random_turn(uint64_t* seed, double angle) {
    return ct_quat_from_vector(
        ct_vec3_make(angle * uniform(seed), angle * uniform(seed), angle * uniform(seed)));
}

// A pair that is apart by a fraction of its size, its nodes in scrambled order, on the move.
static setup random_setup(ct_contact_type type, int sample) {
    static const double place[][N] = {
        [CT_CONTACT_TYPE_PLANE] = {0.1, 0.2, 0.3},
        [CT_CONTACT_TYPE_VERTEX_FACE] = {0.3, 0.25, 0.2, 0, 0, 0, 1, 0.1, 0, 0.1, 0.9, 0},
        [CT_CONTACT_TYPE_EDGE_EDGE] = {-0.5, 0.1, 0.2, 0.6, 0, 0.2, 0.1, -0.5, 0, -0.1, 0.4, 0},
        [CT_CONTACT_TYPE_POINT_EDGE] = {0.3, 0.2, 0.1, -0.4, 0, 0, 0.8, 0.1, 0.1},
        [CT_CONTACT_TYPE_POINT_POINT] = {0.3, 0.2, 0.1, 0.1, 0.3, 0.2},
    };
    setup s = {
        .pair = {
            .type = type, .node = {2, 0, 3, 1}, .plane = -1, .sign = 1, .thickness = 0.05, .friction = 0.3}};
    uint64_t seed = (uint64_t)(7919 * sample + (int)type + 1);
    const ct_quat q = random_turn(&seed, 2);
    for (int i = 0; i < node_count(type); i++) {
        const ct_vec3 p = ct_quat_rotate(q, ct_vec3_load(place[type] + 3 * i));
        double at[3];
        ct_vec3_store(at, p);
        for (int a = 0; a < 3; a++) {
            s.x[3 * s.pair.node[i] + a] = at[a] + 0.05 * uniform(&seed);
            s.start[3 * s.pair.node[i] + a] = at[a] + 0.1 * uniform(&seed);
        }
    }
    if (sample % 2 && (type == CT_CONTACT_TYPE_VERTEX_FACE || type == CT_CONTACT_TYPE_EDGE_EDGE))
        s.pair.sign = -1;

    s.moving = type == CT_CONTACT_TYPE_PLANE || sample % 3 > 0;
    s.motion.side = sample % 3 == 2;
    s.motion.radius = 0.04;
    ct_mat3_store(s.motion.turn, ct_quat_matrix(random_turn(&seed, 0.4)));
    ct_vec3_store(s.motion.normal, ct_quat_rotate(random_turn(&seed, 3), ct_vec3_make(0, 0, 1)));
    for (int a = 0; a < 3; a++) {
        s.motion.origin_start[a] = uniform(&seed);
        s.motion.origin_end[a] = s.motion.origin_start[a] + 0.1 * uniform(&seed);
        s.motion.point[a] = 0.2 * uniform(&seed);
    }
    return s;
}

static ct_contact_geometry at(const setup* s) {
    ct_contact_geometry g;
    ct_contact_geometry_at(&s->pair, s->moving ? &s->motion : NULL, s->start, s->x, true, &g);
    return g;
}

// The quantity `which` along a line: 0-2 n, 3-6 w, 7 gap, 8-10 u.
typedef struct line {
    setup s;
    double direction[N];
    bool at_start;
    int which;
} line;

static double along(void* user, double t) {
    const line* l = user;
    setup s = l->s;
    for (int i = 0; i < N; i++) (l->at_start ? s.start : s.x)[i] += t * l->direction[i];
    const ct_contact_geometry g = at(&s);
    if (l->which < 3) return g.n[l->which];
    if (l->which < 7) return g.w[l->which - 3];
    return l->which == 7 ? g.gap : g.u[l->which - 8];
}

static double exact(const line* l, const ct_contact_geometry* g) {
    double sum = 0;
    for (int i = 0; i < g->count; i++)
        for (int a = 0; a < 3; a++) {
            const int column = 3 * i + a;
            double d;
            if (l->which >= 8)
                d = l->at_start ? (a == l->which - 8 ? -g->w[i] : 0) : g->du[l->which - 8][column];
            else if (l->which == 7) d = g->w[i] * g->n[a];
            else d = l->which < 3 ? g->dn[l->which][column] : g->dw[l->which - 3][column];
            sum += d * l->direction[3 * l->s.pair.node[i] + a];
        }
    return sum;
}

static void derivatives_follow_central_differences(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_PLANE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 12; sample++) {
            line l = {.s = random_setup(type, sample)};
            const ct_contact_geometry g = at(&l.s);
            uint64_t seed = (uint64_t)sample + 99;
            for (int i = 0; i < N; i++) l.direction[i] = uniform(&seed);
            for (l.which = 0; l.which < 11; l.which++) {
                const bool constant = l.which < 7 && type == CT_CONTACT_TYPE_PLANE;
                if (l.which >= 3 + g.count && l.which < 7) continue;
                if (constant || (type == CT_CONTACT_TYPE_POINT_POINT && l.which >= 3 && l.which < 7) ||
                    (l.which == 3 && type != CT_CONTACT_TYPE_EDGE_EDGE))
                    assert_true(exact(&l, &g) == 0);
                assert_slope(along, &l, exact(&l, &g), 0.01, 1);
            }
            l.at_start = true;
            for (l.which = 8; l.which < 11; l.which++) assert_slope(along, &l, exact(&l, &g), 0.01, 1);
        }
}

// Value of one entry, to see that columns are not exchanged: one node and axis at a time.
static void derivatives_are_ordered_by_node_and_axis(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_PLANE; type <= CT_CONTACT_TYPE_POINT_POINT; type++) {
        line l = {.s = random_setup(type, 2)};
        const ct_contact_geometry g = at(&l.s);
        for (int column = 0; column < 3 * g.count; column++) {
            memset(l.direction, 0, sizeof l.direction);
            l.direction[3 * l.s.pair.node[column / 3] + column % 3] = 1;
            for (l.which = 0; l.which < 11; l.which++)
                if (l.which < 3 + g.count || l.which >= 7) assert_slope(along, &l, exact(&l, &g), 0.01, 1);
        }
    }
}

static void weights_sum_to_zero_and_balance_moments(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 12; sample++) {
            const setup s = random_setup(type, sample);
            const ct_contact_geometry g = at(&s);
            double sum = 0, v[3] = {0};
            assert_int_equal(g.count, node_count(type));
            for (int i = 0; i < g.count; i++) {
                sum += g.w[i];
                for (int a = 0; a < 3; a++) v[a] += g.w[i] * s.x[3 * s.pair.node[i] + a];
            }
            assert_true(fabs(sum) < 1e-14);
            // the feet are joined by the normal: forces w_i n have no moment
            for (int a = 0; a < 3; a++) assert_true(fabs(v[a] - (g.gap + s.pair.thickness) * g.n[a]) < 1e-14);
            assert_true(fabs(g.n[0] * g.n[0] + g.n[1] * g.n[1] + g.n[2] * g.n[2] - 1) < 1e-14);
            for (int column = 0; column < 3 * g.count; column++) {
                double weight = 0, normal = 0;
                for (int i = 0; i < g.count; i++) weight += g.dw[i][column];
                for (int a = 0; a < 3; a++) normal += g.n[a] * g.dn[a][column];
                assert_true(fabs(weight) < 1e-12 && fabs(normal) < 1e-12);
            }
        }
    const setup s = random_setup(CT_CONTACT_TYPE_PLANE, 0);
    const ct_contact_geometry g = at(&s);
    assert_true(g.count == 1 && g.w[0] == 1);
}

static setup moved_rigidly(setup s, ct_quat q, ct_vec3 by) {
    for (int i = 0; i < NODES; i++) {
        ct_vec3_store(s.x + 3 * i, ct_vec3_add(by, ct_quat_rotate(q, ct_vec3_load(s.x + 3 * i))));
        ct_vec3_store(s.start + 3 * i, ct_vec3_add(by, ct_quat_rotate(q, ct_vec3_load(s.start + 3 * i))));
    }
    double* points[] = {s.motion.origin_start, s.motion.origin_end, s.motion.point};
    for (int k = 0; k < 3; k++)
        ct_vec3_store(points[k], ct_vec3_add(by, ct_quat_rotate(q, ct_vec3_load(points[k]))));
    ct_vec3_store(s.motion.normal, ct_quat_rotate(q, ct_vec3_load(s.motion.normal)));
    const ct_mat3 R = ct_quat_matrix(q), turn = ct_mat3_load(s.motion.turn);
    ct_mat3_store(s.motion.turn, ct_mat3_multiply(ct_mat3_multiply(R, turn), ct_mat3_transpose(R)));
    return s;
}

static void looking_from_another_frame_turns_normal_and_slip_alone(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_PLANE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 6; sample++) {
            uint64_t seed = (uint64_t)sample + 5;
            const setup s = random_setup(type, sample);
            const ct_quat q = random_turn(&seed, 2);
            const setup other = moved_rigidly(s, q, ct_vec3_make(3, -2, 5));
            const ct_contact_geometry g = at(&s), h = at(&other);
            assert_true(fabs(g.gap - h.gap) < 1e-13);
            for (int i = 0; i < g.count; i++) assert_true(fabs(g.w[i] - h.w[i]) < 1e-12);
            const ct_vec3 n = ct_quat_rotate(q, ct_vec3_load(g.n)), u = ct_quat_rotate(q, ct_vec3_load(g.u));
            assert_true(ct_vec3_norm(ct_vec3_sub(n, ct_vec3_load(h.n))) < 1e-13);
            assert_true(ct_vec3_norm(ct_vec3_sub(u, ct_vec3_load(h.u))) < 1e-12);
        }
}

static void normal_points_from_the_second_to_the_first(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int sample = 0; sample < 4; sample++) {
            setup s = random_setup(type, sample);
            if (type == CT_CONTACT_TYPE_VERTEX_FACE || type == CT_CONTACT_TYPE_EDGE_EDGE) {
                // the sign that detection gives: positive distance; with the other the pair counts as passed
                // through
                s.pair.sign = 1;
                ct_contact_geometry g = at(&s);
                const double gap = g.gap;
                s.pair.sign = -1;
                g = at(&s);
                assert_true(fabs(gap + g.gap + 2 * s.pair.thickness) < 1e-14);
                if (g.gap < gap) s.pair.sign = 1;
            }
            const ct_contact_geometry g = at(&s);
            assert_true(g.gap + s.pair.thickness > 0.02);
            // moving the first primitive along n opens the gap by the same amount
            setup moved = s;
            for (int i = 0; i < (type == CT_CONTACT_TYPE_EDGE_EDGE ? 2 : 1); i++)
                for (int a = 0; a < 3; a++) moved.x[3 * s.pair.node[i] + a] += 0.01 * g.n[a];
            assert_true(fabs(at(&moved).gap - g.gap - 0.01) < 1e-14);
        }
}

// x^n = origin_start + turn (x - origin_end) for all nodes: start of a common rigid motion.
static void start_rigidly(setup* s) {
    for (int i = 0; i < NODES; i++) {
        const ct_vec3 arm = ct_vec3_sub(ct_vec3_load(s->x + 3 * i), ct_vec3_load(s->motion.origin_end));
        const ct_vec3 start = ct_vec3_add(ct_vec3_load(s->motion.origin_start),
                                          ct_mat3_apply(ct_mat3_load(s->motion.turn), arm));
        ct_vec3_store(s->start + 3 * i, start);
    }
}

static void moving_along_with_an_obstacle_is_no_slip(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_PLANE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int side = 0; side < 2; side++)
            for (int sample = 0; sample < 4; sample++) {
                setup s = random_setup(type, sample);
                s.moving = true;
                s.motion.side = side;
                start_rigidly(&s);
                // touching: the surface of the obstacle is where the other primitive is
                s.motion.radius = at(&s).gap + s.pair.thickness;
                const ct_contact_geometry g = at(&s);
                assert_true(ct_vec3_norm(ct_vec3_load(g.u)) < 1e-14);
            }
}

static void a_conveyor_slips_by_its_travel(void** state) {
    setup s = random_setup(CT_CONTACT_TYPE_PLANE, 0);
    memcpy(s.start, s.x, sizeof s.x);
    ct_mat3_store(s.motion.turn, ct_mat3_identity());
    const double travel[3] = {0.1, -0.2, 0.05};
    for (int a = 0; a < 3; a++) s.motion.origin_end[a] = s.motion.origin_start[a] + travel[a];
    const ct_contact_geometry g = at(&s);
    for (int a = 0; a < 3; a++) assert_true(fabs(g.u[a] + travel[a]) < 1e-15);
}

// A sphere of radius r at the origin spins by phi about z under a resting point at (d, 0, 0), which sees its
// surface pass by: the surface moves along +y by r sin phi, so that the point slips by -r sin phi, whichever
// primitive comes first.
static void a_spinning_sphere_drags_its_surface(void** state) {
    const double r = 0.5, phi = 0.1;
    for (int side = 0; side < 2; side++) {
        setup s = {
            .pair = {.type = CT_CONTACT_TYPE_POINT_POINT, .node = {0, 1, -1, -1}, .sign = 1, .thickness = r},
            .moving = true};
        s.motion.side = side;
        s.motion.radius = r;
        // end to start: the turn by -phi
        ct_mat3_store(s.motion.turn, ct_quat_matrix(ct_quat_from_vector(ct_vec3_make(0, 0, -phi))));
        s.x[3 * (side == 1 ? 0 : 1)] = s.start[3 * (side == 1 ? 0 : 1)] = r;
        const ct_contact_geometry g = at(&s);
        const double sign = side == 1 ? 1 : -1;  // u is the first's motion less the second's
        assert_true(fabs(g.gap) < 1e-15);
        assert_true(fabs(g.u[1] + sign * r * sin(phi)) < 1e-15);
        assert_true(fabs(g.u[0] + sign * r * (1 - cos(phi))) < 1e-15);
    }
}

static void without_derivatives_the_values_are_the_same(void** state) {
    for (ct_contact_type type = CT_CONTACT_TYPE_PLANE; type <= CT_CONTACT_TYPE_POINT_POINT; type++) {
        const setup s = random_setup(type, 1);
        const ct_contact_geometry g = at(&s);
        ct_contact_geometry h;
        ct_contact_geometry_at(&s.pair, s.moving ? &s.motion : NULL, s.start, s.x, false, &h);
        assert_memory_equal(g.n, h.n, sizeof g.n);
        assert_memory_equal(g.u, h.u, sizeof g.u);
        assert_memory_equal(g.w, h.w, sizeof g.w);
        assert_true(g.gap == h.gap && g.count == h.count);
    }
}

static void assert_finite(const ct_contact_geometry* g) {
    const double* all[] = {g->n, g->w, &g->gap, g->u, g->dn[0], g->dw[0], g->du[0]};
    const int size[] = {3, 4, 1, 3, 36, 48, 36};
    for (int k = 0; k < 7; k++)
        for (int i = 0; i < size[k]; i++) assert_true(isfinite(all[k][i]));
    assert_true(fabs(g->n[0] * g->n[0] + g->n[1] * g->n[1] + g->n[2] * g->n[2] - 1) < 1e-12);
    double sum = 0;
    for (int i = 0; i < g->count; i++) sum += g->w[i];
    assert_true(fabs(sum) < 1e-12);
}

static void degenerate_primitives_stay_finite(void** state) {
    const double shapes[][N] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},  // all in one point
        // a face without area; parallel edges at an angle
        {0, 0, 1, 0, 0, 0, 1, 0, 0, 2, 0, 0},
        {0, 0, 1, 1, 0, 1, 0, 0, 0, 2, 0, 0},                 // parallel edges
        {0, 0, 0, 1, 0, 0, 0.5, 0, 0, 2, 0, 0},               // all on one line
        {0.5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},               // a point on its edge; an edge without length
        {0.2, 0.2, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0},             // a vertex in its face
        {1e-200, 0, 0, 0, 0, 0, 1e-180, 0, 0, 0, 1e-170, 0},  // squares that vanish
        {0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1e-14, 0},             // nearly no area
    };
    for (ct_contact_type type = CT_CONTACT_TYPE_VERTEX_FACE; type <= CT_CONTACT_TYPE_POINT_POINT; type++)
        for (int k = 0; k < 8; k++) {
            setup s = random_setup(type, 1);
            for (int i = 0; i < NODES; i++) s.pair.node[i] = i;
            memcpy(s.x, shapes[k], sizeof s.x);
            const ct_contact_geometry g = at(&s);
            assert_finite(&g);
        }
}

// An edge without length is a point: the derivatives are those of point-point.
static void an_edge_without_length_is_a_point(void** state) {
    setup s = random_setup(CT_CONTACT_TYPE_POINT_EDGE, 0), p = s;
    for (int a = 0; a < 3; a++) s.x[3 * s.pair.node[2] + a] = s.x[3 * s.pair.node[1] + a];
    p.pair.type = CT_CONTACT_TYPE_POINT_POINT;
    const ct_contact_geometry g = at(&s), h = at(&p);
    assert_true(g.gap == h.gap);
    for (int a = 0; a < 3; a++)
        for (int column = 0; column < 6; column++) assert_true(g.dn[a][column] == h.dn[a][column]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_follow_central_differences),
        cmocka_unit_test(derivatives_are_ordered_by_node_and_axis),
        cmocka_unit_test(weights_sum_to_zero_and_balance_moments),
        cmocka_unit_test(looking_from_another_frame_turns_normal_and_slip_alone),
        cmocka_unit_test(normal_points_from_the_second_to_the_first),
        cmocka_unit_test(moving_along_with_an_obstacle_is_no_slip),
        cmocka_unit_test(a_conveyor_slips_by_its_travel),
        cmocka_unit_test(a_spinning_sphere_drags_its_surface),
        cmocka_unit_test(without_derivatives_the_values_are_the_same),
        cmocka_unit_test(degenerate_primitives_stay_finite),
        cmocka_unit_test(an_edge_without_length_is_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
