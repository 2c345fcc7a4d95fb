// How far nodes give way (contact/softness.h, model/soft_nodes.h): against the inverse of the whole system
// and rigid bodies, what moves together, derivatives by every quantity, and models with the same values.
#include <math.h>
#include <string.h>

#include "build.h"
#include "contact_problem.h"
#include "model/model.h"
#include "slope.h"
#include "unit.h"

static ct_model* compile(const char* text) {
    ct_scene* scene = scene_of(text);
    ct_model* model = NULL;
    ct_error error = {0};
    must(ct_model_create(&model, scene, &error), &error);
    ct_scene_free(scene);
    return model;
}

static double gamma_of(const ct_model* model, int v) {
    return ct_softness_node(&model->collision.softness, v, ct_model_rate(&model->settings));
}

// ---- values --------------------------------------------------------------------------------

static int compare_doubles(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// A third of the trace of unknown k's block of the factored system's inverse.
static double true_softness(const ct_model* model, ct_factor_work* work, ct_threads* threads, int k) {
    const size_t n = 3 * (size_t)model->nfree;
    double *b = calloc(n + 1, sizeof *b), *x = calloc(n + 1, sizeof *x), trace = 0;
    for (int a = 0; a < 3; a++) {
        memset(b, 0, n * sizeof *b);
        b[3 * k + a] = 1;
        ct_factor_solve(model->system.factor, work, threads, b, x);
        trace += x[3 * k + a];
    }
    free(b);
    free(x);
    return trace / 3;
}

// Estimates over true values at the nodes of surfaces: half of them within `typical` of one another, nine
// tenths within `most`.
static void assert_near_inverse(const char* text, double typical, double most) {
    ct_model* model = compile(text);
    ct_factor_work* work = NULL;
    ct_threads* threads = NULL;
    must(ct_factor_work_create(&work, model->system.symbolic), NULL);
    must(ct_threads_create(&threads, 1), NULL);
    const ct_collision* collision = &model->collision;
    double* ratio = calloc((size_t)model->nfree, sizeof *ratio);
    int count = 0;
    for (int k = 0; k < model->nfree; k++) {
        bool on_surface = false;
        for (int i = 0; i < collision->nnode && !on_surface; i++)
            on_surface = collision->node[i] == model->node[k];
        if (!on_surface) continue;
        const double value = gamma_of(model, model->node[k]) / true_softness(model, work, threads, k);
        ratio[count++] = fabs(log(value));
    }
    qsort(ratio, (size_t)count, sizeof *ratio, compare_doubles);
    if (!(ratio[count / 2] < log(typical)) || !(ratio[9 * count / 10] < log(most)))
        fail_msg("off by a factor of %g, %g and at most %g: %s", exp(ratio[count / 2]),
                 exp(ratio[9 * count / 10]), exp(ratio[count - 1]), text);
    free(ratio);
    ct_threads_free(threads);
    ct_factor_work_free(work);
    ct_model_free(model);
}

#define TIMED "{'time_step': %g, 'duration': 0.1, 'bodies': ["
#define SOLID "'material': {'young': %g, 'poisson': %g, 'density': 1000}}]"

static void solids_agree_with_the_inverse(void** state) {
    (void)state;
    const char* shape[] = {"{'box': {'size': [0.2, 0.2, 0.2], 'cells': [5, 5, 5]}, ",
                           "{'box': {'size': [0.5, 0.1, 0.1], 'cells': [10, 2, 2]}, ",
                           "{'sphere': {'radius': 0.1, 'size': 0.04}, "};
    for (int s = 0; s < 3; s++)
        for (int h = 0; h < 3; h++)
            for (int e = 0; e < 4; e++) {
                char format[400], text[600];
                snprintf(format, sizeof format, "%s%s%s", TIMED, shape[s], SOLID "}");
                snprintf(text, sizeof text, format, (double[]){1e-3, 5e-3, 2e-2}[h], pow(10, 4 + e),
                         e % 2 ? 0.3 : 0.45);
                assert_near_inverse(text, 1.5, 2.5);
            }
}

static void pinned_blocks_agree_with_the_inverse(void** state) {
    (void)state;
    for (int e = 0; e < 4; e++) {
        char text[600];
        snprintf(text, sizeof text,
                 TIMED "{'box': {'size': [0.2, 0.2, 0.2], 'cells': [5, 5, 5]}, " SOLID
                       ", 'pins': [{'select': {'box': [[-1, -1, -1], [1, 1e-6, 1]]}}]}",
                 1e-2, pow(10, 4 + e), 0.3);
        assert_near_inverse(text, 1.5, 2);
    }
}

static void sheets_agree_with_the_inverse(void** state) {
    (void)state;
    for (int h = 0; h < 3; h++)
        for (int e = 0; e < 4; e++) {
            char text[600];
            snprintf(text, sizeof text,
                     TIMED "{'sheet': {'size': [0.4, 0.4], 'cells': [10, 10]}, 'material': {'young': %g, "
                           "'poisson': 0.3, 'density': 1000, 'thickness': %g}}]}",
                     (double[]){1e-3, 5e-3, 2e-2}[h], pow(10, 5 + e), e % 2 ? 1e-3 : 5e-3);
            assert_near_inverse(text, 1.5, 2);
        }
}

// A cube that is one link: (c^2 M)^-1 (1 + 2/3 r^2 M/I) at the distance r from its centre.
static void links_agree_with_rigid_bodies(void** state) {
    (void)state;
    ct_model* model =
        compile("{'time_step': 0.01, 'duration': 0.1, 'bodies': [{'box': {'size': [0.1, 0.1, 0.1], 'cells': "
                "[3, 3, 3]}}], 'skeletons': [{'name': 's', 'links': [{'name': 'bone', 'nodes': {'box': [[-1, "
                "-1, -1], [1, 1, 1]]}, 'joint': {'type': 'free'}}]}]}");
    double M = 0, moment = 0, c = ct_model_rate(&model->settings);
    for (int pass = 0; pass < 2; pass++)
        for (int v = 0; v < model->nvert; v++) {
            double square = 0;
            for (int a = 0; a < 3; a++) square += pow(model->geometry.rest[3 * v + a] - 0.05, 2);
            if (pass == 0) M += model->mass[v], moment += model->mass[v] * square * 2 / 3;
            else
                assert_true(fabs(log(gamma_of(model, v) * c * c * M / (1 + 2.0 / 3 * square * M / moment))) <
                            log(2));
        }
    ct_model_free(model);
}

// ---- what moves together -------------------------------------------------------------------

#define TWO_BOXES                                                                                            \
    "{'time_step': 0.01, 'duration': 0.1, 'bodies': [{'name': 'a', 'box': {'size': [0.1, 0.1, 0.1], "        \
    "'cells': [2, 2, 2]}}, {'name': 'b', 'box': {'size': [0.2, 0.1, 0.1], 'cells': [2, 2, 2]}, "             \
    "'translate': [1, 0, 0]}]"

static int first_of(const ct_model* model, int body) { return body ? model->nvert / 2 : 0; }

static void a_whole_is_what_elements_hold_together(void** state) {
    (void)state;
    ct_model* model = compile(TWO_BOXES "}");
    const ct_softness* s = &model->collision.softness;
    assert_int_equal(s->nwhole, 2);
    for (int body = 0; body < 2; body++) {
        const int whole = s->whole[first_of(model, body)];
        assert_true(fabs(s->whole_mass[whole] / (1e-3 * (1 + body) * model->material[0].density) - 1) <
                    1e-12);
        for (int v = first_of(model, body); v < first_of(model, body) + model->nvert / 2; v++)
            assert_int_equal(s->whole[v], whole);
    }
    ct_model_free(model);
}

static void what_is_held_gives_way_by_itself_alone(void** state) {
    (void)state;
    ct_model* model = compile(TWO_BOXES ", 'pins': [{'select': {'body': 'b', 'box': [[-9, -9, -9], [9, 1e-6, "
                                        "9]]}}], 'obstacles': [{'name': 'o', 'sphere': {'center': [0, 9, 0], "
                                        "'radius': 1}}]}");
    const ct_softness* s = &model->collision.softness;
    assert_int_equal(s->nwhole, 1);
    for (int v = 0; v < model->nvert; v++) {
        const bool driven = model->row[v] < 0;
        assert_true(driven ? gamma_of(model, v) == 0 : gamma_of(model, v) > 0);
        assert_true(s->whole[v] == (model->geometry.rest[3 * v] < 0.5 && !driven ? 0 : -1));
    }
    ct_model_free(model);
}

// base: fixed to the world; tip: fixed to the arm, which turns.
static void links_at_fixed_joints_are_one(void** state) {
    (void)state;
    ct_model* model = compile(
        "{'time_step': 0.01, 'duration': 0.1, 'bodies': [{'box': {'size': [0.6, 0.1, 0.1], 'cells': [6, 1, "
        "1]}}], 'skeletons': [{'name': 's', 'links': [{'name': 'base', 'nodes': {'box': [[-1, -1, -1], "
        "[0.05, 1, 1]]}, 'joint': {'type': 'fixed'}}, {'name': 'arm', 'parent': 'base', 'nodes': {'box': "
        "[[0.25, -1, -1], [0.35, 1, 1]]}, 'joint': {'type': 'revolute', 'anchor': [0.1, 0.05, 0.05], 'axis': "
        "[0, 0, 1]}}, {'name': 'tip', 'parent': 'arm', 'nodes': {'box': [[0.55, -1, -1], [1, 1, 1]]}, "
        "'joint': {'type': 'fixed'}}]}]}");
    const ct_softness* s = &model->collision.softness;
    double arm = 0;
    for (int v = 0; v < model->nvert; v++)
        if (model->tree.node_link[v] > 0) arm += model->mass[v];
    for (int v = 0; v < model->nvert; v++) {
        const int link = model->tree.node_link[v];
        assert_int_equal(s->whole[v], link > 0 ? 1 : -1);  // the rest hangs on the world
        if (link == 0) assert_true(gamma_of(model, v) == 0);
    }
    assert_true(fabs(s->whole_mass[1] / arm - 1) < 1e-14);
    ct_model_free(model);
}

// ---- values and derivatives ----------------------------------------------------------------

// All that depends on quantities: a solid, a sheet, a pinned beam, flesh on a link with a mass of its own.
static const ct_quantity varied[] = {CT_QUANTITY_YOUNG,     CT_QUANTITY_POISSON, CT_QUANTITY_DENSITY,
                                     CT_QUANTITY_THICKNESS, CT_QUANTITY_BENDING, CT_QUANTITY_LINK_MASS};
enum { NVARIED = sizeof varied / sizeof *varied };
static const double usual[NVARIED] = {2e5, 0.35, 900, 4e-3, 1.3, 0.4};

static ct_model* compile_with(const double value[NVARIED]) {
    char material[300], text[3000];
    snprintf(material, sizeof material, "'material': {'young': %.17g, 'poisson': %.17g, 'density': %.17g",
             value[0], value[1], value[2]);
    snprintf(
        text, sizeof text,
        "{'time_step': 0.004, 'duration': 0.1, 'bodies': [{'box': {'size': [0.1, 0.2, 0.1], 'cells': [2, "
        "3, 2]}, %s}}, {'box': {'size': [0.1, 0.2, 0.1], 'cells': [1, 2, 1]}, 'translate': [0.5, 0, 0], "
        "%s, 'energy': 'projective', 'paper_weights': true}}, {'name': 'pinned', 'box': {'size': [0.3, "
        "0.1, 0.1], 'cells': [3, 1, 1]}, 'translate': [1, 0, 0], %s, 'energy': 'neohookean'}}, {'sheet': "
        "{'size': [0.3, 0.4], 'cells': [3, 2]}, 'translate': [0, 1, 0], %s, 'thickness': %.17g, "
        "'bending': %.17g}}, {'name': 'flesh', 'box': {'size': [0.4, 0.1, 0.1], 'cells': [4, 2, 2]}, "
        "'translate': [0, 2, 0], %s}}], 'pins': [{'select': {'body': 'pinned', 'box': [[-9, -9, -9], "
        "[1.000001, 9, 9]]}}], 'skeletons': [{'name': 's', 'links': [{'name': 'bone', 'nodes': {'box': "
        "[[0.05, 2.04, 0.04], [0.15, 2.06, 0.06]]}, 'mass': %.17g, 'center': [0.1, 2.05, 0.05], "
        "'inertia': [0.001, 0.001, 0.001], 'joint': {'type': 'free'}}]}]}",
        material, material, material, material, value[3], value[4], material, value[5]);
    return compile(text);
}

static double weight_of(int v) { return 1 + 0.5 * sin(1 + 2.3 * v); }

// A weighted sum of logarithms at two rates, in a model that is built for it.
typedef struct probe {
    int quantity;
} probe;

static double measure_at(void* user, double t) {
    const probe* p = user;
    double value[NVARIED], sum = 0;
    memcpy(value, usual, sizeof value);
    value[p->quantity] *= 1 + t;
    ct_model* model = compile_with(value);
    for (int i = 0; i < 2 * model->nvert; i++) {
        const double gamma = ct_softness_node(&model->collision.softness, i / 2, i % 2 ? 20 : 500);
        if (gamma > 0) sum += weight_of(i) * log(gamma);
    }
    ct_model_free(model);
    return sum;
}

static void derivatives_by_every_quantity(void** state) {
    (void)state;
    ct_model* model = compile_with(usual);
    const ct_softness* softness = &model->collision.softness;
    ct_values gradient = {0};
    for (int q = 0; q < NVARIED; q++)
        gradient.of[varied[q]] = calloc(ct_model_quantity_size(model, varied[q]), sizeof(double));
    ct_arena arena = {0};
    ct_sums sums;
    must(ct_model_begin_sums(model, &gradient, &arena, &sums), NULL);
    for (int i = 0; i < 2 * model->nvert; i++) {
        const double c = i % 2 ? 20 : 500, gamma = ct_softness_node(softness, i / 2, c);
        if (gamma > 0) ct_softness_node_vjp(softness, i / 2, c, weight_of(i) / gamma, &sums);
    }
    ct_model_finish_sums(model, &sums);
    for (int q = 0; q < NVARIED; q++) {
        double sum = 0;
        for (size_t i = 0; i < ct_model_quantity_size(model, varied[q]); i++)
            sum += usual[q] * gradient.of[varied[q]][i];
        assert_true(fabs(sum) > 0.1);
        assert_slope(measure_at, &(probe){q}, sum, 0.05, 1e3);
        free(gradient.of[varied[q]]);
    }
    ct_arena_free(&arena);
    ct_model_free(model);
}

// Each number alone, so that it is known which are there.
static void a_quantity_alone_has_the_same_derivative(void** state) {
    (void)state;
    ct_model* model = compile_with(usual);
    for (int q = 0; q < NVARIED; q++) {
        const size_t size = ct_model_quantity_size(model, varied[q]);
        double* found[2] = {calloc(size, sizeof(double)), calloc(size, sizeof(double))};
        for (int all = 0; all < 2; all++) {
            ct_values gradient = {0};
            double* others[NVARIED] = {NULL};
            for (int k = 0; all && k < NVARIED; k++)
                gradient.of[varied[k]] = others[k] =
                    calloc(ct_model_quantity_size(model, varied[k]), sizeof(double));
            gradient.of[varied[q]] = found[all];
            ct_arena arena = {0};
            ct_sums sums;
            must(ct_model_begin_sums(model, &gradient, &arena, &sums), NULL);
            for (int v = 0; v < model->nvert; v++)
                ct_softness_node_vjp(&model->collision.softness, v, 400, weight_of(v), &sums);
            ct_model_finish_sums(model, &sums);
            ct_arena_free(&arena);
            for (int k = 0; k < NVARIED; k++) free(others[k]);
        }
        assert_memory_equal(found[0], found[1], size * sizeof(double));
        free(found[0]);
        free(found[1]);
    }
    ct_model_free(model);
}

static void models_with_the_same_values_agree(void** state) {
    (void)state;
    const double other[NVARIED] = {7.1e4, 0.41, 1300, 3e-3, 0.7, 0.9};
    ct_model *fresh = compile_with(usual), *changed = compile_with(other);
    ct_values values = {0};
    ct_error error = {0};
    for (int q = 0; q < NVARIED; q++) {
        values.of[varied[q]] = calloc(ct_model_quantity_size(fresh, varied[q]), sizeof(double));
        ct_model_get(fresh, varied[q], values.of[varied[q]]);
    }
    const ct_softness *a = &fresh->collision.softness, *b = &changed->collision.softness;
    const size_t nvert = (size_t)fresh->nvert;
    assert_true(memcmp(a->stiffness, b->stiffness, 2 * nvert * sizeof(double)) != 0);
    must(ct_model_set_values(changed, &values, NULL, &error), &error);
    assert_memory_equal(a->mass, b->mass, nvert * sizeof(double));
    assert_memory_equal(a->stiffness, b->stiffness, 2 * nvert * sizeof(double));
    assert_memory_equal(a->whole_mass, b->whole_mass, (size_t)a->nwhole * sizeof(double));
    for (int q = 0; q < NVARIED; q++) free(values.of[varied[q]]);
    ct_model_free(fresh);
    ct_model_free(changed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_agree_with_the_inverse),
        cmocka_unit_test(pinned_blocks_agree_with_the_inverse),
        cmocka_unit_test(sheets_agree_with_the_inverse),
        cmocka_unit_test(links_agree_with_rigid_bodies),
        cmocka_unit_test(a_whole_is_what_elements_hold_together),
        cmocka_unit_test(what_is_held_gives_way_by_itself_alone),
        cmocka_unit_test(links_at_fixed_joints_are_one),
        cmocka_unit_test(derivatives_by_every_quantity),
        cmocka_unit_test(a_quantity_alone_has_the_same_derivative),
        cmocka_unit_test(models_with_the_same_values_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
