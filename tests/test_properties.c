// What holds for any scene, on random ones: momentum, energy, penetration, gradients against differences, the
// same bits after a copy, from a file, and for every thread count.
//
// CUTTLE_SCENES=n tries n scenes for each claim, CUTTLE_SEED=k begins with another one.
#include <unistd.h>

#include "build.h"
#include "model/model.h"
#include "random_scene.h"
#include "repeat.h"
#include "scene_text.h"

static long wish(const char* name, long otherwise) {
    const char* text = getenv(name);
    return text ? atol(text) : otherwise;
}

static long telling;  // scenes in which a claim could have been wrong

// Calls `check` with scenes number 0, 1, ...; at least a tenth of many must be telling.
static void each_scene(bool free, int count, void (*check)(const random_scene* s)) {
    telling = 0;
    const long first = wish("CUTTLE_SEED", 0), tries = wish("CUTTLE_SCENES", count);
    for (long k = 0; k < tries; k++) {
        random_dice dice = {.seed = (uint64_t)(first + k) * 0x9E3779B97F4A7C15u + 77};
        random_scene s;
        for (int warm = 0; warm < 4; warm++) random_unit(&dice);
        random_make(&s, &dice, free);
        if (getenv("CUTTLE_VERBOSE")) print_message("scene %ld: %s\n", first + k, s.text);
        check(&s);
    }
    print_message("%ld of %ld scenes are telling\n", telling, tries);
    if (tries >= 10) assert_true(10 * telling >= tries);
}

static sim simulate(const random_scene* s, int threads) {
    ct_error error = {0};
    ct_scene* scene = parse(s->text);
    ct_settings settings = ct_scene_settings(scene);
    settings.threads = threads;
    must(ct_scene_set_settings(scene, &settings, &error), &error);
    return start(scene, threads);
}

// Returns the contacts of the last step.
static int advance(sim* s, const random_scene* scene, int count, double* penetration) {
    int contacts = 0;
    for (int k = 0; k < count; k++) {
        ct_step_report report = {0};
        if (ct_step(s->model, s->work, s->state, NULL, &report))
            fail_msg("step %d: %s\n%s", k, report.message, scene->text);
        if (penetration) *penetration = fmax(*penetration, report.penetration);
        contacts = report.contacts;
    }
    return contacts;
}

// Linear and angular momentum, and what they are measured against.
static void momentum(const sim* s, double out[6], double* size) {
    const double *x = ct_state_positions(s->state), *v = ct_state_velocities(s->state);
    memset(out, 0, 6 * sizeof *out);
    *size = 0;
    for (int i = 0; i < ct_model_summary(s->model).nvert; i++) {
        const double m = s->model->mass[i], *p = x + 3 * i, *u = v + 3 * i;
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            out[a] += m * u[a];
            out[3 + a] += m * (p[b] * u[c] - p[c] * u[b]);
        }
        *size += m * sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    }
}

// Linear momentum is kept by every rule; angular momentum is kept by the forces, but Euler's rule loses some.
static void check_momentum(const random_scene* scene) {
    sim s = simulate(scene, 1);
    double before[6], after[6], size, later;
    momentum(&s, before, &size);
    advance(&s, scene, 8, NULL);
    momentum(&s, after, &later);
    for (int a = 0; a < 3; a++)
        if (!(fabs(after[a] - before[a]) <= 1e-7 * fmax(size, later)))
            fail_msg("momentum %d: %.12g, then %.12g of %g\n%s", a, before[a], after[a], size, scene->text);
    telling += size > 0;
    stop(&s);
}

static double energy(const sim* s) {
    const double* v = ct_state_velocities(s->state);
    const ct_model_info info = ct_model_summary(s->model);
    double sum = 0, *density = malloc((size_t)info.ntet * sizeof *density);
    must(ct_state_tet_field(s->model, s->state, CT_FIELD_ENERGY_DENSITY, density), NULL);
    for (int i = 0; i < info.nvert; i++)
        sum += 0.5 * s->model->mass[i] *
               (v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2]);
    const double* X = ct_model_rest(s->model);
    for (int t = 0; t < info.ntet; t++) {
        const int* n = ct_model_tets(s->model) + 4 * t;
        double e[3][3];
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) e[k][a] = X[3 * n[k + 1] + a] - X[3 * n[0] + a];
        const double volume = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
                              e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
                              e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
        sum += density[t] * fabs(volume) / 6;
    }
    free(density);
    return sum;
}

// Without muscles and cables, whose energy is not counted: flesh alone never gains any.
static void check_energy(const random_scene* scene) {
    if (scene->muscle || scene->pulled || strstr(scene->text, "bdf2")) return;
    sim s = simulate(scene, 1);
    double before = energy(&s);
    const double first = before;
    for (int k = 0; k < 8; k++) {
        advance(&s, scene, 1, NULL);
        const double now = energy(&s);
        if (!(now <= before * (1 + 1e-9))) fail_msg("energy %.12g, then %.12g\n%s", before, now, scene->text);
        telling += k == 7 && now < first * (1 - 1e-6);
        before = now;
    }
    stop(&s);
}

static void check_penetration(const random_scene* scene) {
    if (!scene->ground) return;
    sim s = simulate(scene, 1);
    double deepest = 0, low = 0;
    int touching = 0;
    const ct_model_info info = ct_model_summary(s.model);
    for (int k = 0; k < 20; k++) {
        touching += advance(&s, scene, 1, &deepest) > 0;
        for (int t = 0; t < 4 * info.ntet; t++)
            low = fmin(low, ct_state_positions(s.state)[3 * ct_model_tets(s.model)[t] + 1]);
    }
    if (!(low > -1e-4 && deepest < 2e-3))
        fail_msg("a node is %g m below the ground, a gap is %g\n%s", -low, -deepest, scene->text);
    telling += touching > 0;
    stop(&s);
}

static void check_gradient(const random_scene* scene) {
    ct_error error = {0};
    ct_problem* problem = NULL;
    ct_scene* parsed = parse(scene->text);
    must(ct_problem_create(&problem, parsed, 0, &error), &error);
    const int n = ct_problem_size(problem);
    double y[8], gradient[8], loss;
    assert_true(n >= 1 && n <= 8);
    ct_problem_start(problem, y);
    if (ct_problem_evaluate(problem, y, &loss, gradient, NULL, &error))
        fail_msg("%s\n%s", error.message, scene->text);
    for (int i = 0; i < n; i++) {
        const double at = y[i];
        double best = INFINITY, floor = INFINITY;
        for (double h = 1e-2; h > 1e-5; h /= 4) {
            double high, low;
            y[i] = at + h, must(ct_problem_evaluate(problem, y, &high, NULL, NULL, &error), &error);
            y[i] = at - h, must(ct_problem_evaluate(problem, y, &low, NULL, NULL, &error), &error);
            // steps are solved to 1e-10: the loss has that much noise at most
            best = fmin(best, fabs((high - low) / (2 * h) - gradient[i]) - 1e-10 * loss / h);
            floor = fmin(floor, 1e-10 * loss / h);
        }
        y[i] = at;
        if (!(best <= 1e-4 * fabs(gradient[i])))
            fail_msg("gradient %d is %.12g, differences say otherwise by %g\n%s", i, gradient[i], best,
                     scene->text);
        telling += i == 0 && fabs(gradient[i]) > 100 * floor;
    }
    ct_problem_free(problem);
    ct_scene_free(parsed);
}

// A copy continues as the original does, in a model and a work of its own; two threads give what one gives.
// Into the second what the first has stored in a file.
static void resume(const sim* from, sim* to, const char* path) {
    ct_trajectory* file = NULL;
    ct_error error;
    must(ct_trajectory_create(&file, NULL, from->model, path, &error), &error);
    must(ct_trajectory_append(file, from->model, from->state, NULL, &error), &error);
    must(ct_trajectory_close(file, &error), &error);
    must(ct_trajectory_resume(&file, to->model, to->state, path, &error), &error);
    must(ct_trajectory_close(file, &error), &error);
    unlink(path);
}

static void check_bits(const random_scene* scene) {
    sim one = simulate(scene, 1), two = simulate(scene, 2), copy = simulate(scene, 1),
        file = simulate(scene, 1);
    const size_t bytes = ct_state_size(one.state);
    advance(&one, scene, 3, NULL), advance(&two, scene, 3, NULL);
    must(ct_state_restore(copy.state, ct_state_bytes(one.state), bytes), NULL);
    resume(&one, &file, "test_properties.h5");
    advance(&one, scene, 3, NULL), advance(&two, scene, 3, NULL), advance(&copy, scene, 3, NULL);
    advance(&file, scene, 3, NULL);
    if (memcmp(ct_state_bytes(one.state), ct_state_bytes(two.state), bytes))
        fail_msg("two threads differ\n%s", scene->text);
    if (memcmp(ct_state_bytes(one.state), ct_state_bytes(copy.state), bytes))
        fail_msg("the copy differs\n%s", scene->text);
    if (memcmp(ct_state_bytes(one.state), ct_state_bytes(file.state), bytes))
        fail_msg("what goes on from a file differs\n%s", scene->text);
    telling += scene->ground || scene->links;
    stop(&one), stop(&two), stop(&copy), stop(&file);
}

static void momentum_is_kept_where_nothing_acts_from_outside(void** unused) {
    each_scene(true, REPEAT(40, 4), check_momentum);
}
static void energy_never_grows_by_itself(void** unused) { each_scene(true, REPEAT(60, 6), check_energy); }
static void nothing_sinks_into_the_ground(void** unused) {
    each_scene(false, REPEAT(30, 4), check_penetration);
}
static void gradients_match_differences(void** unused) { each_scene(false, REPEAT(25, 2), check_gradient); }
static void copies_files_and_threads_give_the_same_bits(void** unused) {
    each_scene(false, REPEAT(30, 4), check_bits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_is_kept_where_nothing_acts_from_outside),
        cmocka_unit_test(energy_never_grows_by_itself),
        cmocka_unit_test(nothing_sinks_into_the_ground),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(copies_files_and_threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
