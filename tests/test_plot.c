// Plots: read back as pictures.
#include <png.h>

#include "build.h"

typedef struct image {
    int width, height;
    uint8_t* pixels;
} image;

static const char path[] = CT_BINARY_DIR "/test_plot.png";

static image draw(const ct_plot_def* def, const ct_plot_series* series, int nseries) {
    ct_error error = {0};
    png_image file = {.version = PNG_IMAGE_VERSION};
    must(ct_plot_save(path, def, series, nseries, &error), &error);
    assert_true(png_image_begin_read_from_file(&file, path));
    file.format = PNG_FORMAT_RGB;
    image picture = {(int)file.width, (int)file.height, malloc(PNG_IMAGE_SIZE(file))};
    assert_true(png_image_finish_read(&file, NULL, picture.pixels, 0, NULL));
    remove(path);
    return picture;
}

// The first series is the only thing that is strongly blue.
static bool is_line(const image* p, int x, int y) {
    const uint8_t* c = p->pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
    return c[2] > c[0] + 60;
}

// Mean row of the line in a column, NAN where there is none.
static double row_of(const image* p, int x) {
    double sum = 0;
    int count = 0;
    for (int y = 0; y < p->height; y++)
        if (is_line(p, x, y)) sum += y, count++;
    return count ? sum / count : NAN;
}

static void line_ends(const image* p, int* first, int* last) {
    *first = *last = -1;
    for (int x = 0; x < p->width; x++)
        if (!isnan(row_of(p, x))) *last = x, *first = *first < 0 ? x : *first;
    assert_true(*first >= 0);
}

// Rows at the ends and the middle of the line.
static void three_rows(const image* p, double row[3]) {
    int first, last;
    line_ends(p, &first, &last);
    for (int k = 0; k < 3; k++) row[k] = row_of(p, k == 0 ? first + 3 : k == 1 ? (first + last) / 2 : last - 3);
}

static void logarithmic_axis_makes_a_decay_straight(void** state) {
    double x[9], y[9], row[3];
    for (int i = 0; i < 9; i++) x[i] = i, y[i] = pow(10, -i);
    ct_plot_def def = ct_plot_def_default();
    def.title = "decay";
    ct_plot_series series = {"decay", x, y, 9};
    for (int log = 0; log < 2; log++) {
        def.log_y = log;
        image p = draw(&def, &series, 1);
        assert_int_equal(p.width, def.width);
        assert_int_equal(p.height, def.height);
        three_rows(&p, row);
        double bend = fabs(row[1] - 0.5 * (row[0] + row[2])) / (row[2] - row[0]);
        assert_true(row[2] > row[0] + 0.7 * def.height);
        assert_true(log ? bend < 0.02 : bend > 0.4);
        free(p.pixels);
    }
}

static void values_that_cannot_be_drawn_interrupt_the_line(void** state) {
    double x[5] = {0, 1, 2, 3, 4}, y[5] = {1, 10, NAN, 10, 1}, z[5] = {1, 10, -1, 10, 1};
    ct_plot_def def = ct_plot_def_default();
    def.log_y = true;
    for (int k = 0; k < 2; k++) {
        ct_plot_series series = {NULL, x, k ? z : y, 5};
        image p = draw(&def, &series, 1);
        int first, last;
        line_ends(&p, &first, &last);
        assert_true(isnan(row_of(&p, (first + last) / 2)));
        assert_false(isnan(row_of(&p, first + (last - first) / 8)));
        assert_false(isnan(row_of(&p, last - (last - first) / 8)));
        free(p.pixels);
    }
}

static void degenerate_series_are_drawn(void** state) {
    double zero = 0, one = 1, same[3] = {5, 5, 5}, index[3] = {1, 2, 3}, nothing = NAN;
    ct_plot_def def = ct_plot_def_default();
    ct_plot_series series[] = {{NULL, &zero, &zero, 1}, {NULL, &one, &one, 1}, {NULL, index, same, 3}, {NULL, &nothing, &nothing, 1}, {0}};
    for (int k = 0; k < 5; k++) {
        for (int log = 0; log < 2; log++) {
            def.log_y = log;
            image p = draw(&def, &series[k], 1);
            int seen = 0;
            for (int x = 0; x < p.width; x++) seen += !isnan(row_of(&p, x));
            bool visible = k < 3 && !(k == 0 && log);
            assert_int_equal(seen > 0, visible);
            free(p.pixels);
        }
    }
    free(draw(&def, series, 0).pixels);
}

static void bad_plots_are_refused(void** state) {
    ct_error error = {0};
    ct_plot_def def = ct_plot_def_default();
    assert_int_equal(ct_plot_save(CT_BINARY_DIR "/no/where.png", &def, NULL, 0, &error), CT_IO);
    def.width = 3;
    assert_int_equal(ct_plot_save(path, &def, NULL, 0, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "pixels"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithmic_axis_makes_a_decay_straight),
        cmocka_unit_test(values_that_cannot_be_drawn_interrupt_the_line),
        cmocka_unit_test(degenerate_series_are_drawn),
        cmocka_unit_test(bad_plots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
