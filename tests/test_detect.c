// Detection of contacts: what is reported, how it is typed and signed, and that nothing is missed.
#include "surfaces.h"

static ct_detect* detect_of(const surfaces* s) {
    ct_detect* detect = NULL;
    assert_int_equal(ct_detect_create(&detect, &s->model), CT_OK);
    return detect;
}

static const ct_pair* find(const ct_pairs* pairs, ct_contact_type type, int n0, int n1, int n2, int n3) {
    for (size_t i = 0; i < pairs->count; i++) {
        const ct_pair* p = pairs->item + i;
        if (p->type == type && p->node[0] == n0 && p->node[1] == n1 && p->node[2] == n2 && p->node[3] == n3) return p;
    }
    return NULL;
}

static void vertex_above_a_face_is_one_pair_on_its_side(void** state) {
    for (int side = -1; side <= 1; side += 2) {
        surfaces s = {0};
        new_sheet(&s, -1, 1, 0, 2, 0.01, false);  // nodes 0..8; triangle (4, 5, 8) is right of the middle
        const int ball = new_collider(&s, 0.005, 0.1);
        const int v = new_node(&s, ball, 0.7, 0.3, side * 0.12, true);
        allow_all(&s, false);
        ct_detect* detect = detect_of(&s);
        ct_pairs near = {0};
        assert_int_equal(ct_detect_near(&s.model, detect, s.x, s.x, 0, 0.01, &near), CT_OK);
        assert_int_equal(near.count, 1);
        const ct_pair* p = find(&near, CT_CONTACT_VERTEX_FACE, v, 4, 5, 8);
        assert_non_null(p);
        assert_true(p->sign == side);
        assert_int_equal(p->a, ball);
        assert_int_equal(p->b, 0);
        assert_float_equal(p->thickness, 0.115, 1e-15);
        assert_float_equal(p->core, 0.1075, 1e-15);
        assert_true(p->friction == 0.3);
        ct_pairs_free(&near);
        ct_detect_free(detect);
        free_surfaces(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertex_above_a_face_is_one_pair_on_its_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
