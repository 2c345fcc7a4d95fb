// One short motion with its gradient, for every instruction set that this machine has: the numbers that were
// once computed, and the same bits for every thread count and every time.
//
// Bits are promised for one build on one machine: compilers contract and order operations differently, and
// OpenBLAS, which factors dense blocks, chooses its kernels by the CPU (OPENBLAS_CORETYPE=Haswell alone
// changes the hashes). So the hashes are printed for comparison (tools/hash_scenes does it for all scenes),
// and what is stored here are numbers, to 3e-13 of the size of loss, gradient and positions: flesh under a
// muscle falls on the ground and slides, with steps solved to 1e-14.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "build.h"
#include "out/hdf.h"
#include "scene_text.h"

enum { NUMBERS = 8 };  // loss, 3 of the gradient, 4 of the last positions

static const char* const text =
    "{\"up\": \"y\", \"gravity\": [1, -9.81, 0], \"time_step\": 0.01, \"duration\": 0.12,"
    "\"solver\": {\"tolerance\": 1e-14},"
    "\"bodies\": [{\"name\": \"worm\", \"box\": {\"size\": [0.3, 0.1, 0.1], \"cells\": [5, 2, 2]},"
    "\"translate\": [0, 0.002, 0], \"material\": {\"young\": 50000, \"poisson\": 0.4, \"density\": 1000,"
    "\"damping\": {\"stiffness\": 0.005}}}],"
    "\"obstacles\": [{\"name\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}}],"
    "\"muscles\": [{\"name\": \"back\", \"points\": [[0, 0.08, 0.05], [0.3, 0.08, 0.05]], \"radius\": 0.06,"
    "\"segments\": 2, \"stiffness\": 40000}],"
    "\"controls\": [{\"name\": \"pull\", \"actuator\": \"back\", \"values\": [{\"time\": 0, \"value\": [0.1, "
    "0.1]},"
    "{\"time\": 0.1, \"value\": [0.4, 0.3]}]}],"
    "\"parameters\": [{\"type\": \"young\"}, {\"type\": \"muscle_stiffness\"}, {\"type\": \"friction\"}],"
    "\"objective\": [{\"type\": \"point\", \"select\": {\"nearest\": [0.3, 0.1, 0.1]},"
    "\"target\": [0.3, 0.2, 0.1], \"weight\": 100}]}";

static const double golden[NUMBERS] = {0.91323002329003378,  0.01616038923398069,   -0.052857536032452031,
                                       -0.01280640016430446, 0.0094353233739469348, -0.0030287300983505082,
                                       0.049213056423063534, 0.10150186235123665};

// Of the loss, the gradient or the positions that number i is one of.
static double size_of(int i) {
    const int first = i == 0 ? 0 : i < 4 ? 1 : 4, last = i == 0 ? 0 : i < 4 ? 3 : 7;
    double sum = 0;
    for (int k = first; k <= last; k++) sum += golden[k] * golden[k];
    return sqrt(sum);
}

typedef struct outcome {
    double number[NUMBERS];
    uint64_t hash;
} outcome;

static outcome compute(int threads) {
    outcome out = {0};
    ct_error error = {0};
    ct_problem* problem = NULL;
    ct_scene* scene = parse(text);
    ct_settings settings = ct_scene_settings(scene);
    settings.threads = threads;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    must(ct_problem_create(&problem, scene, 0, &error), &error);
    double y[16], gradient[16];
    const int size = ct_problem_size(problem);
    assert_true(size >= 3 && size <= 16);
    ct_problem_start(problem, y);
    must(ct_problem_evaluate(problem, y, &out.number[0], gradient, NULL, &error), &error);
    memcpy(out.number + 1, gradient, 3 * sizeof(double));
    sim s = start(scene, threads);
    steps(&s, 12);
    const double* x = ct_state_positions(s.state);
    const size_t nvert = (size_t)ct_model_summary(s.model).nvert;
    for (size_t i = 0; i < 4; i++) out.number[4 + i] = x[i * (3 * nvert - 1) / 3];
    const uint64_t all[3] = {ct_hdf_hash(x, 24 * nvert),
                             ct_hdf_hash(ct_state_velocities(s.state), 24 * nvert),
                             ct_hdf_hash(gradient, (size_t)size * sizeof(double))};
    out.hash = ct_hdf_hash(all, sizeof all);
    stop(&s);
    ct_problem_free(problem);
    return out;
}

// In a process of its own: the instruction set is chosen once.
static outcome compute_with(const char* isa, int threads) {
    int way[2], status;
    outcome out = {0};
    assert_int_equal(pipe(way), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("CUTTLE_ISA", isa, 1);
        out = compute(threads);
        _exit(write(way[1], &out, sizeof out) == sizeof out ? 0 : 1);
    }
    close(way[1]);
    assert_int_equal(read(way[0], &out, sizeof out), sizeof out);
    close(way[0]);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    return out;
}

static void every_instruction_set_gives_the_stored_numbers(void** unused) {
    const ct_isa best = ct_cpu_isa();
    for (int isa = CT_ISA_PORTABLE; isa <= (int)best; isa++) {
        const char* name = ct_isa_name((ct_isa)isa);
        const outcome one = compute_with(name, 1), two = compute_with(name, 2), again = compute_with(name, 1);
        print_message("%-8s %016llx", name, (unsigned long long)one.hash);
        for (int i = 0; i < NUMBERS; i++) print_message(" %.17g,", one.number[i]);
        print_message("\n");
        assert_true(one.hash == two.hash && one.hash == again.hash);
        assert_memory_equal(&one, &two, sizeof one);
        for (int i = 0; i < NUMBERS; i++)
            if (!(fabs(one.number[i] - golden[i]) <= 3e-13 * size_of(i)))
                fail_msg("%s: number %d is %.17g, expected %.17g", name, i, one.number[i], golden[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_set_gives_the_stored_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
