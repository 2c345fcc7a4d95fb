// Set-up ends when it is told to, wherever it is asked, and leaves nothing behind.
#include "build.h"
#include "repeat.h"

typedef struct asked {
    int count, limit;  // times; at which to say stop, -1: never
} asked;

static bool ask(void* user) {
    asked* a = user;
    return a->count++ == a->limit;
}

// Some of the places at which it is asked, of `count`: the first, the last, and some between.
static int place(int index, int number, int count) {
    return number < 2 ? 0 : (int)((double)index * (count - 1) / (number - 1));
}

static void meshing_is_cancelled_wherever_it_asks(void** state) {
    asked a = {0, -1};
    ct_mesh* mesh = NULL;
    ct_set_cancel(ask, &a);
    must(ct_mesh_sphere(&mesh, 0.5, 0.05, NULL), NULL);
    ct_mesh_free(mesh);
    const int count = a.count, number = REPEAT(20, 5);
    print_message("meshing asks %d times\n", count);
    assert_true(count > 20);
    for (int i = 0; i < number; i++) {
        a = (asked){0, place(i, number, count)};
        assert_int_equal(ct_mesh_sphere(&mesh, 0.5, 0.05, NULL), CT_CANCELLED);
        assert_null(mesh);
        assert_int_equal(a.count, a.limit + 1);  // it does not ask again
    }
    ct_set_cancel(NULL, NULL);
    must(ct_mesh_sphere(&mesh, 0.5, 0.05, NULL), NULL);
    ct_mesh_free(mesh);
}

static void a_scene_says_that_it_was_cancelled(void** state) {
    const char text[] =
        "{\"bodies\": [{\"sphere\": {\"radius\": 0.5, \"size\": 0.05}, \"material\": {\"young\": 1e5}}]}";
    asked a = {0, 10};
    ct_scene* scene = NULL;
    ct_error error;
    ct_set_cancel(ask, &a);
    assert_int_equal(ct_scene_parse(&scene, text, strlen(text), NULL, &error), CT_CANCELLED);
    assert_null(scene);
    assert_non_null(strstr(error.message, "cancelled"));
    ct_set_cancel(NULL, NULL);
}

static void a_model_is_cancelled_wherever_it_asks(void** state) {
    const char text[] = "{\"bodies\": [{\"box\": {\"size\": [1, 1, 1], \"cells\": [9, 9, 9]}, \"material\": "
                        "{\"young\": 1e5}}]}";
    asked a = {0, -1};
    ct_scene* scene = NULL;
    ct_model* model = NULL;
    ct_error error;
    must(ct_scene_parse(&scene, text, strlen(text), NULL, &error), &error);
    ct_settings settings = ct_scene_settings(scene);
    settings.threads = 1;  // how often the first of several is asked depends on what the others do
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    ct_set_cancel(ask, &a);
    must(ct_model_create(&model, scene, &error), &error);
    ct_model_free(model);
    const int count = a.count, number = REPEAT(10, 4);
    print_message("factoring asks %d times\n", count);
    assert_true(count > 20);
    for (int i = 0; i < number; i++) {
        a = (asked){0, place(i, number, count)};
        assert_int_equal(ct_model_create(&model, scene, &error), CT_CANCELLED);
        assert_null(model);
        assert_non_null(strstr(error.message, "cancelled"));
    }
    ct_set_cancel(NULL, NULL);
    ct_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshing_is_cancelled_wherever_it_asks),
        cmocka_unit_test(a_scene_says_that_it_was_cancelled),
        cmocka_unit_test(a_model_is_cancelled_wherever_it_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
