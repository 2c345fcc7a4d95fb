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
    for (int k = 0; k < 3; k++)
        row[k] = row_of(p, k == 0 ? first + 3 : k == 1 ? (first + last) / 2 : last - 3);
}

static void logarithmic_axis_makes_a_decay_straight(void** state) {
    double x[9], y[9], row[3];
    for (int i = 0; i < 9; i++) x[i] = i, y[i] = pow(10, -i);
    ct_plot_def def = ct_plot_def_default();
    def.title = "decay";
    ct_plot_series series = {.name = "decay", .x = x, .y = y, .count = 9};
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
        ct_plot_series series = {.x = x, .y = k ? z : y, .count = 5};
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
    ct_plot_series series[] = {{.x = &zero, .y = &zero, .count = 1},
                               {.x = &one, .y = &one, .count = 1},
                               {.x = index, .y = same, .count = 3},
                               {.x = &nothing, .y = &nothing, .count = 1},
                               {0}};
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

static void both_axes_logarithmic_make_a_power_straight(void** state) {
    double x[40], y[40], row[3];
    for (int i = 0; i < 40; i++) x[i] = 1 + i, y[i] = pow(x[i], -2);
    ct_plot_def def = ct_plot_def_default();
    def.log_x = def.log_y = true;
    ct_plot_series series = {.x = x, .y = y, .count = 40};
    image p = draw(&def, &series, 1);
    three_rows(&p, row);
    assert_true(fabs(row[1] - 0.5 * (row[0] + row[2])) < 0.02 * (row[2] - row[0]));
    free(p.pixels);
}

// Pixels of a pale blue, as the band of the first series has.
static int pale_pixels(const image* p, int x) {
    int count = 0;
    for (int y = 0; y < p->height; y++) {
        const uint8_t* c = p->pixels + 3 * ((size_t)y * (size_t)p->width + (size_t)x);
        count += c[2] > c[0] + 10 && c[0] > 200;
    }
    return count;
}

static void band_spans_what_it_says(void** state) {
    double x[2] = {0, 1}, y[2] = {2, 2}, low[2] = {1, 1}, high[2] = {3, 3}, frame[2] = {0, 10};
    ct_plot_def def = ct_plot_def_default();
    ct_plot_series series[] = {{.x = x, .y = y, .count = 2},
                               {.x = x, .y = frame, .count = 2, .color = 5, .dashed = true}};
    image bare = draw(&def, series, 2);
    series[0].low = low, series[0].high = high;
    image p = draw(&def, series, 2);
    // The frame's height is 10 of the axis' values and 6 % more on both sides.
    double height = def.height - 9 * def.height / 46.0, expected = 0.2 / 1.12 * height;
    int middle = def.width / 2 + 7, without = pale_pixels(&bare, middle);
    assert_true(fabs(pale_pixels(&p, middle) - without + 3 - expected) < 8);
    assert_true(fabs(row_of(&p, middle) - row_of(&bare, middle)) < 0.6);
    free(bare.pixels);
    free(p.pixels);
}

// A dashed line leaves gaps, and takes the colour that it is given.
static void dashed_line_has_gaps_in_its_colour(void** state) {
    double x[2] = {0, 1}, y[2] = {2, 2};
    ct_plot_def def = ct_plot_def_default();
    ct_plot_series series[] = {{.x = x, .y = x, .count = 2, .color = 5},
                               {.x = x, .y = y, .count = 2, .color = 1, .dashed = true}};
    image p = draw(&def, series, 2);
    int seen = 0, first, last;
    line_ends(&p, &first, &last);
    for (int column = first; column <= last; column++) seen += !isnan(row_of(&p, column));
    assert_true(last - first > 0.8 * def.width);
    assert_true(seen > 0.4 * (last - first) && seen < 0.75 * (last - first));
    free(p.pixels);
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
        cmocka_unit_test(both_axes_logarithmic_make_a_power_straight),
        cmocka_unit_test(band_spans_what_it_says),
        cmocka_unit_test(dashed_line_has_gaps_in_its_colour),
        cmocka_unit_test(bad_plots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
