// Hierarchies of boxes against all pairs tested one by one.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"
#include "shape/bvh.h"
#include "unit.h"

static uint64_t seed = 1;

static double uniform(void) {  // [-1, 1)
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

static ct_vec3 anywhere(double size) {
    const double x = uniform(), y = uniform(), z = uniform();
    return ct_vec3_make(size * x, size * y, size * z);
}

typedef struct table {  // how often each pair was visited
    int* count;
    int columns, visits, stop_after;
    uint64_t order;  // hash of the sequence
} table;

static bool visit(int i, int j, void* user) {
    table* t = user;
    t->count[i * t->columns + j]++;
    t->order = (t->order ^ (uint64_t)(i * 100003 + j)) * 1099511628211u;
    return ++t->visits != t->stop_after;
}

static void random_boxes(ct_box* box, double* center, int count, double size) {
    for (int i = 0; i < count; i++) {
        double p[3], q[3];
        ct_vec3_store(p, anywhere(1));
        for (int k = 0; k < 3; k++) q[k] = p[k] + size * (1 + uniform());
        box[i] = ct_box_around(p, q, 0.01);
        if (center)
            for (int k = 0; k < 3; k++) center[3 * i + k] = 0.5 * (p[k] + q[k]);
    }
}

static ct_bvh tree_of(ct_arena* arena, int count, const double* center) {
    ct_bvh bvh;
    int* item = malloc(((size_t)count + 1) * sizeof *item);
    for (int i = 0; i < count; i++) item[i] = i;
    assert_int_equal(ct_bvh_create(&bvh, arena, count, item, center), CT_OK);
    free(item);
    return bvh;
}

// The second round moves all boxes far from where the trees were built.
static void pairs_are_those_of_brute_force(void** state) {
    static const int sizes[] = {0, 1, 2, 3, 5, 17, 64, 333};
    for (size_t m = 0; m < sizeof sizes / sizeof *sizes; m++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            const int na = sizes[m], nb = sizes[n];
            ct_arena arena = {0};
            ct_box *a = calloc((size_t)na + 1, sizeof *a), *b = calloc((size_t)nb + 1, sizeof *b);
            double *ca = calloc(3 * (size_t)na + 1, sizeof *ca), *cb = calloc(3 * (size_t)nb + 1, sizeof *cb);
            random_boxes(a, ca, na, 0.1);
            random_boxes(b, cb, nb, 0.2);
            ct_bvh ta = tree_of(&arena, na, ca), tb = tree_of(&arena, nb, cb);
            for (int round = 0; round < 2; round++) {
                ct_bvh_refit(&ta, a);
                ct_bvh_refit(&tb, b);
                table cross = {.count = calloc((size_t)(na * nb) + 1, sizeof(int)), .columns = nb};
                table self = {.count = calloc((size_t)(na * na) + 1, sizeof(int)), .columns = na};
                assert_true(ct_bvh_pairs(&ta, &tb, visit, &cross));
                assert_true(ct_bvh_self_pairs(&ta, visit, &self));
                for (int i = 0; i < na; i++) {
                    for (int j = 0; j < nb; j++)
                        assert_int_equal(cross.count[i * nb + j], ct_box_overlap(a + i, b + j));
                    assert_int_equal(self.count[i * na + i], 0);
                    for (int j = 0; j < i; j++)
                        assert_int_equal(self.count[i * na + j] + self.count[j * na + i],
                                         ct_box_overlap(a + i, a + j));
                }
                free(cross.count), free(self.count);
                random_boxes(a, NULL, na, 0.3);
                random_boxes(b, NULL, nb, 0.1);
            }
            free(a), free(b), free(ca), free(cb);
            ct_arena_free(&arena);
        }
}

static void order_is_the_same_every_time(void** state) {
    enum { N = 200 };
    ct_box box[N];
    double center[3 * N];
    random_boxes(box, center, N, 0.5);
    uint64_t order[2];
    for (int k = 0; k < 2; k++) {
        ct_arena arena = {0};
        ct_bvh bvh = tree_of(&arena, N, center);
        ct_bvh_refit(&bvh, box);
        table t = {.count = calloc(N * N, sizeof(int)), .columns = N};
        ct_bvh_self_pairs(&bvh, visit, &t);
        assert_true(t.visits > N);
        order[k] = t.order;
        free(t.count);
        ct_arena_free(&arena);
    }
    assert_true(order[0] == order[1]);
}

static void coincident_primitives_are_split_and_all_found(void** state) {
    enum { N = 1000 };
    static ct_box box[N];
    static double center[3 * N];
    const double zero[3] = {0};
    for (int i = 0; i < N; i++) box[i] = ct_box_around(zero, zero, 0);
    ct_arena arena = {0};
    ct_bvh bvh = tree_of(&arena, N, center);
    ct_bvh_refit(&bvh, box);
    table t = {.count = calloc(N * N, sizeof(int)), .columns = N};
    assert_true(ct_bvh_self_pairs(&bvh, visit, &t));
    assert_int_equal(t.visits, N * (N - 1) / 2);
    // and a visit may end the search
    t.visits = 0;
    t.stop_after = 10;
    assert_false(ct_bvh_self_pairs(&bvh, visit, &t));
    assert_int_equal(t.visits, 10);
    free(t.count);
    ct_arena_free(&arena);
}

static void boxes_are_rounded_outward(void** state) {
    for (int i = 0; i < 100000; i++) {
        const double scale = pow(10, 20 * uniform());
        double p[3], q[3];
        ct_vec3_store(p, anywhere(scale));
        ct_vec3_store(q, anywhere(scale));
        const ct_box box = ct_box_around(p, q, 0);
        for (int k = 0; k < 3; k++) {
            assert_true((double)box.lo[k] <= fmin(p[k], q[k]));
            assert_true((double)box.hi[k] >= fmax(p[k], q[k]));
            assert_true(fabs(box.lo[k] - fmin(p[k], q[k])) <= 3e-7 * scale);
        }
    }
    const double zero[3] = {0};
    const ct_box box = ct_box_around(zero, zero, 0);
    assert_true(box.lo[0] <= 0 && box.hi[0] >= 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_brute_force),
        cmocka_unit_test(order_is_the_same_every_time),
        cmocka_unit_test(coincident_primitives_are_split_and_all_found),
        cmocka_unit_test(boxes_are_rounded_outward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
