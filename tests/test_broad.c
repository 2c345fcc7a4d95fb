// The sweep over boxes finds what all pairs find, in their order.
#include <string.h>

#include "contact/broad.h"
#include "math/rng.h"
#include "unit.h"

enum { COUNT = 300 };

typedef struct crowd {
    ct_collider collider[COUNT];
    ct_box box[COUNT];
    bool in[COUNT], moved[COUNT];
    unsigned char collide[1];
    int kind[COUNT];
    ct_collision collision;
} crowd;

// Boxes about points in a space that is `size` long; one in nine has none, one in seven is driven.
static void scatter(crowd* c, uint64_t seed, const double size[3], int still) {
    ct_rng rng = {seed};
    memset(c, 0, sizeof *c);
    for (int i = 0; i < COUNT; i++) {
        c->in[i] = i % 9 != 4;
        c->collider[i].driven = i % 7 == 3;
        c->moved[i] = c->in[i] && i % still != 0;
        for (int k = 0; k < 3; k++) {
            const double at = size[k] * (ct_rng_unit(&rng) - 0.5), half = 0.1 * ct_rng_unit(&rng);
            c->box[i].lo[k] = (float)(at - half);
            c->box[i].hi[k] = (float)(at + half);
        }
    }
    c->collide[0] = true;
    c->collision = (ct_collision){.ncollider = COUNT, .collider = c->collider, .collide = c->collide};
    c->collision.kind = c->kind;
    c->collision.nkind = 1;
}

static int compare(crowd* c, ct_broad* broad) {
    size_t found = 0;
    ct_broad_clear(broad);
    assert_int_equal(ct_broad_sweep(broad, &c->collision, c->box, c->in, c->moved), CT_OK);
    for (int a = 0; a < COUNT; a++) assert_int_equal(ct_broad_note(broad, a, a), CT_OK);
    ct_broad_sort(broad);
    for (int a = 0; a < COUNT; a++) {
        for (int b = a + 1; b < COUNT; b++) {
            if (!c->in[a] || !c->in[b] || !(c->moved[a] || c->moved[b]) ||
                (c->collider[a].driven && c->collider[b].driven) || !ct_box_overlap(c->box + a, c->box + b))
                continue;
            assert_true(found < broad->count);
            assert_int_equal(ct_broad_first(broad->pair[found]), a);
            assert_int_equal(ct_broad_second(broad->pair[found++]), b);
        }
        assert_true(found < broad->count);
        assert_int_equal(ct_broad_first(broad->pair[found]), a);
        assert_int_equal(ct_broad_second(broad->pair[found++]), a);
    }
    assert_int_equal(found, broad->count);
    return (int)found - COUNT;
}

static void a_sweep_finds_the_pairs_of_all_by_all_in_their_order(void** state) {
    const double sizes[][3] = {{1, 1, 1}, {9, 0.1, 0.1}, {0.1, 9, 0.2}, {0, 0, 5}, {0, 0, 0}};
    static crowd c;
    ct_broad broad = {0};
    for (int k = 0; k < 5; k++)
        for (int still = 2; still < 4; still++) {
            scatter(&c, 11 + (uint64_t)k, sizes[k], still);
            assert_true(compare(&c, &broad) > 50);
        }
    ct_broad_free(&broad);
}

static void where_nothing_moved_nothing_is_found(void** state) {
    static crowd c;
    ct_broad broad = {0};
    scatter(&c, 5, (const double[3]){0, 0, 0}, 1);
    assert_int_equal(compare(&c, &broad), 0);
    ct_broad_free(&broad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweep_finds_the_pairs_of_all_by_all_in_their_order),
        cmocka_unit_test(where_nothing_moved_nothing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
