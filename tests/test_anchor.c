// Anchors: finding them, writing them after a step, and their projection to a new cone.
#include "slope.h"

#include <stdbool.h>
#include <string.h>

#include "contact/anchor.h"
#include "math/vec3.h"

static double uniform(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static ct_touch_record touch_of(ct_contact_type type, int plane, int n0, int n1, double force) {
    return (ct_touch_record){.pair = {.type = type, .plane = plane, .node = {n0, n1, 7, 9}},
                             .set = CT_CONTACT_SET_STICK,
                             .force = {force, 2 * force, -force}};
}

// ---- the list ------------------------------------------------------------------------------

static void written_anchors_are_found_by_their_pair(void** state) {
    enum { COUNT = 60, ROOM = 100 };
    ct_touch_record touch[COUNT];
    ct_anchor out[ROOM];
    for (int i = 0; i < COUNT; i++) {  // in no order
        const int k = 37 * i % COUNT;
        touch[i] = touch_of((ct_contact_type)(k % 5), k % 5 ? -1 : k / 5 % 2, k / 10, k % 10, 1 + i);
    }
    const int written = ct_anchor_write(touch, sizeof *touch, COUNT, out, ROOM);
    assert_int_equal(written, COUNT);
    const ct_anchors list = {out, written};
    for (int i = 0; i < COUNT; i++) {
        const int at = ct_anchor_find(list, &touch[i].pair);
        assert_true(at >= 0 && at < written);
        assert_memory_equal(out[at].force, touch[i].force, sizeof out[at].force);
        assert_memory_equal(out[at].node, touch[i].pair.node, sizeof out[at].node);
        ct_pair other = touch[i].pair;
        other.node[3] = 10;
        assert_int_equal(ct_anchor_find(list, &other), -1);
    }
    for (int i = 0; i + 1 < written; i++) {
        const ct_pair a = {.type = (ct_contact_type)out[i].type,
                           .plane = out[i].plane,
                           .node = {out[i].node[0], out[i].node[1], out[i].node[2], out[i].node[3]}};
        const ct_pair b = {
            .type = (ct_contact_type)out[i + 1].type,
            .plane = out[i + 1].plane,
            .node = {out[i + 1].node[0], out[i + 1].node[1], out[i + 1].node[2], out[i + 1].node[3]}};
        assert_true(ct_pair_compare(&a, &b) < 0);
    }
    assert_int_equal(ct_anchor_find((ct_anchors){out, 0}, &touch[0].pair), -1);
}

static void open_touches_leave_no_anchor(void** state) {
    ct_touch_record touch[3];
    for (int i = 0; i < 3; i++) touch[i] = touch_of(CT_CONTACT_TYPE_VERTEX_FACE, -1, i, 5, 1);
    touch[1].set = CT_CONTACT_SET_OPEN;
    ct_anchor out[3];
    const int written = ct_anchor_write(touch, sizeof *touch, 3, out, 3);
    assert_int_equal(written, 2);
    assert_int_equal(ct_anchor_find((ct_anchors){out, written}, &touch[1].pair), -1);
}

// Records that lie in larger structs, several of one pair.
static void touches_of_one_pair_are_summed(void** state) {
    ct_touch touch[5] = {{.scale = 1}};
    for (int i = 0; i < 5; i++) {
        touch[i].is = touch_of(CT_CONTACT_TYPE_EDGE_EDGE, -1, i % 2, 5, 1 << i);
        touch[i].is.cut = i / 2;
    }
    ct_anchor out[5];
    const int written = ct_anchor_write(&touch[0].is, sizeof *touch, 5, out, 5);
    assert_int_equal(written, 2);
    assert_true(out[0].force[0] == 1 + 4 + 16 && out[0].force[1] == 2 * 21 && out[0].force[2] == -21);
    assert_true(out[1].force[0] == 2 + 8);
}

static void anchors_without_room_are_lost_and_nothing_else(void** state) {
    ct_touch_record touch[6];
    for (int i = 0; i < 6; i++) touch[i] = touch_of(CT_CONTACT_TYPE_PLANE, 0, 6 - i, -1, 1 + i);
    ct_anchor out[5];
    memset(out, 0x55, sizeof out);
    const ct_anchor untouched = out[4];
    const int written = ct_anchor_write(touch, sizeof *touch, 6, out, 4);
    assert_int_equal(written, 4);
    assert_memory_equal(&out[4], &untouched, sizeof untouched);
    for (int i = 0; i < 6; i++)
        assert_true((ct_anchor_find((ct_anchors){out, written}, &touch[i].pair) >= 0) == (i < 4));
}

// ---- the projection ------------------------------------------------------------------------

static const double up[3] = {0, 0, 1};

static void assert_projected(double mu, const double force[3], double x, double y, double z) {
    double out[3];
    ct_anchor_project(mu, up, force, out);
    assert_float_equal(out[0], x, 1e-15);
    assert_float_equal(out[1], y, 1e-15);
    assert_float_equal(out[2], z, 1e-15);
}

static void forces_are_cut_to_the_cone(void** state) {
    assert_projected(0.6, (double[]){0.3, -0.4, 1}, 0.3, -0.4, 1);  // inside
    assert_projected(0.5, (double[]){3, -4, 1}, 0.3, -0.4, 1);      // outside: mu F_N is left across
    assert_projected(0.5, (double[]){0.3, -0.4, -1}, 0, 0, 0);      // it pulled
    assert_projected(0, (double[]){0.3, -0.4, 1}, 0, 0, 1);         // no friction
    assert_projected(0.5, (double[]){0, 0, 0}, 0, 0, 0);
}

// bar . projection along a line in n, the force and mu.
typedef struct line {
    double mu, n[3], force[3], dmu, dn[3], dforce[3], bar[3];
} line;

static double along(void* user, double t) {
    const line* l = user;
    double n[3], force[3], out[3];
    for (int a = 0; a < 3; a++) n[a] = l->n[a] + t * l->dn[a], force[a] = l->force[a] + t * l->dforce[a];
    ct_anchor_project(l->mu + t * l->dmu, n, force, out);
    return out[0] * l->bar[0] + out[1] * l->bar[1] + out[2] * l->bar[2];
}

static double exact(const line* l) {
    double n_bar[3] = {1, 1, 1}, force_bar[3] = {1, 1, 1}, friction_bar = 1, sum = 0;  // added to
    ct_anchor_project_vjp(l->mu, l->n, l->force, l->bar, n_bar, force_bar, &friction_bar);
    sum += (friction_bar - 1) * l->dmu;
    for (int a = 0; a < 3; a++) sum += (n_bar[a] - 1) * l->dn[a] + (force_bar[a] - 1) * l->dforce[a];
    return sum;
}

// size: of the part across, in terms of the cone's; pull: the force pulls.
static line random_line(uint64_t* seed, double size, bool pull) {
    line l = {.mu = 0.4, .dmu = uniform(seed)};
    for (int a = 0; a < 3; a++) {
        l.n[a] = uniform(seed);
        l.force[a] = uniform(seed);
        l.bar[a] = uniform(seed);
        l.dn[a] = uniform(seed);
        l.dforce[a] = uniform(seed);
    }
    const ct_vec3 n = ct_vec3_normalise(ct_vec3_load(l.n)), f = ct_vec3_load(l.force);
    const ct_vec3 T = ct_vec3_normalise(ct_vec3_axpy(f, -ct_vec3_dot(n, f), n));
    ct_vec3_store(l.n, n);
    ct_vec3_store(l.force, ct_vec3_axpy(ct_vec3_scale(pull ? -2 : 2, n), 2 * l.mu * size, T));
    return l;
}

static void reverse_follows_central_differences(void** state) {
    static const double sizes[] = {0.3, 0.8, 1.5, 6};  // inside, inside, outside, outside
    uint64_t seed = 5;
    for (int sample = 0; sample < 40; sample++) {
        line l = random_line(&seed, sizes[sample % 4], false);
        assert_slope(along, &l, exact(&l), 0.01, 4);
    }
}

static void forces_that_pulled_have_no_adjoint(void** state) {
    uint64_t seed = 9;
    const line l = random_line(&seed, 0.5, true);
    assert_true(exact(&l) == 0);
    assert_true(along((void*)&l, 0.01) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_anchors_are_found_by_their_pair),
        cmocka_unit_test(open_touches_leave_no_anchor),
        cmocka_unit_test(touches_of_one_pair_are_summed),
        cmocka_unit_test(anchors_without_room_are_lost_and_nothing_else),
        cmocka_unit_test(forces_are_cut_to_the_cone),
        cmocka_unit_test(reverse_follows_central_differences),
        cmocka_unit_test(forces_that_pulled_have_no_adjoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
