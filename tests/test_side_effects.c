// What a process keeps while Cuttle works in it: threads of OpenBLAS and OpenMP, and the environment.
#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>

#include "base/blas.h"
#include "build.h"

extern char** environ;

enum { BLAS_THREADS, OPENMP_THREADS, OPENMP_LEVELS, SETTINGS };
typedef struct surroundings {
    int value[SETTINGS];
    char environment[1 << 16];
} surroundings;

static int ask_openmp(const char* name) {
    int (*ask)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, name);
    return ask ? ask() : -1;
}

static void look_around(surroundings* s) {
    s->value[BLAS_THREADS] = openblas_get_num_threads();
    s->value[OPENMP_THREADS] = ask_openmp("omp_get_max_threads");
    s->value[OPENMP_LEVELS] = ask_openmp("omp_get_max_active_levels");
    s->environment[0] = 0;
    for (char** e = environ; *e; e++)
        strncat(s->environment, *e, sizeof s->environment - strlen(s->environment) - 1);
}

static void assert_unchanged(const surroundings* before) {
    static surroundings now;
    look_around(&now);
    for (int i = 0; i < SETTINGS; i++) assert_int_equal(now.value[i], before->value[i]);
    assert_string_equal(now.environment, before->environment);
}

// A block slides down a slope; loss and gradient with `threads` of OpenBLAS in the process.
static double slide(int threads, double* gradient, int* size) {
    static surroundings before;
    openblas_set_num_threads(threads);
    look_around(&before);
    assert_int_equal(before.value[BLAS_THREADS], threads);
    ct_error error = {0};
    ct_scene* scene = NULL;
    must(ct_scene_load(&scene, CT_SOURCE_DIR "/scenes/incline.json", &error), &error);
    ct_settings settings = ct_scene_settings(scene);
    settings.duration = 5 * settings.time_step;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    sim s = start(scene, 2);
    assert_unchanged(&before);
    steps(&s, 2);
    assert_unchanged(&before);
    s.scene = NULL;
    stop(&s);

    ct_problem* problem = NULL;
    double loss, y[8];
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    assert_unchanged(&before);
    *size = ct_problem_size(problem);
    assert_in_range(*size, 1, 8);
    ct_problem_start(problem, y);
    must(ct_problem_evaluate(problem, y, &loss, gradient, NULL, &error), &error);
    assert_unchanged(&before);
    ct_problem_free(problem);
    ct_scene_free(scene);
    return loss;
}

static void process_keeps_its_threads_and_environment(void** state) {
    double one[8], many[8];
    int size;
    double loss = slide(1, one, &size);
    assert_true(slide(3, many, &size) == loss);
    assert_memory_equal(one, many, (size_t)size * sizeof(double));
}

// ---- held by several threads ---------------------------------------------------------------

static void* hold_often(void* user) {
    int* wrong = user;
    for (int i = 0; i < 2000; i++) {
        ct_blas_begin();
        ct_blas_begin();
        *wrong += openblas_get_num_threads() != 1;
        ct_blas_end();
        *wrong += openblas_get_num_threads() != 1;
        ct_blas_end();
    }
    return NULL;
}

static void blas_stays_on_one_thread_until_the_last_lets_go(void** state) {
    if (openblas_get_parallel() != OPENBLAS_THREAD) skip();
    openblas_set_num_threads(3);
    pthread_t thread[4];
    int wrong[4] = {0};
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, hold_often, &wrong[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++) assert_int_equal(wrong[i], 0);
    assert_int_equal(openblas_get_num_threads(), 3);
}

static void room_for_more_threads_than_addresses_is_denied(void** state) {
    assert_true(ct_blas_has_room(1));
    assert_false(ct_blas_has_room(1 << 24));  // 2^51 bytes
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process_keeps_its_threads_and_environment),
        cmocka_unit_test(blas_stays_on_one_thread_until_the_last_lets_go),
        cmocka_unit_test(room_for_more_threads_than_addresses_is_denied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
