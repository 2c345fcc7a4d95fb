// Pictures: coverage, depth and projection with known answers, and whole pictures that repeat byte for byte.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "out/camera.h"
#include "out/color.h"
#include "out/label.h"
#include "out/raster.h"
#include "out/skin.h"
#include "out/text.h"
#include "synthetic.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_raster.h5"

// A triangle given in samples of an 8 x 8 picture, depth z.
static void draw(ct_raster* raster, int id, double x0, double y0, double x1, double y1, double x2, double y2,
                 double z) {
    double at[3][2] = {{x0, y0}, {x1, y1}, {x2, y2}}, clip[3][4];
    for (int k = 0; k < 3; k++) {
        clip[k][0] = at[k][0] / 4 - 1;
        clip[k][1] = 1 - at[k][1] / 4;
        clip[k][2] = z;
        clip[k][3] = 1;
    }
    ct_raster_triangle(raster, id, (const double(*)[4])clip);
}

static void raster_covers_the_samples_inside(void** unused) {
    ct_arena arena = {0};
    ct_raster raster;
    ct_raster_create(&raster, &arena, 8, 8, 8, 0.1);
    ct_raster_begin(&raster, 0);
    draw(&raster, 7, 0, 0, 4, 0, 0, 4, 0);  // centres with x + y < 4, the ones on the long edge not owned
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            double sum = x + y + 1;
            if (sum == 4) continue;
            assert_int_equal(raster.id[8 * y + x], sum < 4 ? 7 : -1);
        }
    ct_arena_free(&arena);
}

static void raster_gives_a_shared_edge_to_one_triangle(void** unused) {
    static const double turn[4][2][6] = {{{0, 0, 8, 0, 0, 8}, {8, 0, 8, 8, 0, 8}},
                                         {{0, 0, 8, 8, 0, 8}, {0, 0, 8, 0, 8, 8}},
                                         {{0, 0, 4.5, 0, 4.5, 8}, {4.5, 0, 8, 0, 4.5, 8}},
                                         {{0, 4.5, 8, 4.5, 0, 8}, {0, 4.5, 8, 4.5, 8, 0}}};
    for (int k = 0; k < 4; k++) {
        ct_arena arena = {0};
        ct_raster a, b;
        ct_raster_create(&a, &arena, 8, 8, 8, 0.1);
        ct_raster_create(&b, &arena, 8, 8, 8, 0.1);
        ct_raster_begin(&a, 0);
        ct_raster_begin(&b, 0);
        const double *p = turn[k][0], *q = turn[k][1];
        draw(&a, 0, p[0], p[1], p[2], p[3], p[4], p[5], 0);
        draw(&b, 0, q[0], q[1], q[2], q[3], q[4], q[5], 0);
        for (int i = 0; i < 64; i++) {
            assert_false(a.id[i] == 0 && b.id[i] == 0);
            if (k < 2) assert_true(a.id[i] == 0 || b.id[i] == 0);  // together they tile the square
        }
        ct_arena_free(&arena);
    }
}

static void raster_shows_the_nearer_triangle_in_any_order(void** unused) {
    for (int order = 0; order < 2; order++) {
        ct_arena arena = {0};
        ct_raster raster;
        ct_raster_create(&raster, &arena, 8, 8, 8, 0.1);
        ct_raster_begin(&raster, 0);
        for (int k = 0; k < 2; k++) {
            bool front = (k == 0) == (order == 0);
            draw(&raster, front ? 1 : 2, 0, 0, 16, 0, 0, 16, front ? 0.25 : 0.5);
        }
        for (int i = 0; i < 64; i++) assert_int_equal(raster.id[i], 1);
        ct_arena_free(&arena);
    }
}

// At the middle of an edge on screen between w = 1 and w = 3 the far end weighs 1/4, not 1/2.
static void raster_weights_are_correct_in_perspective(void** unused) {
    ct_arena arena = {0};
    ct_raster raster;
    ct_raster_create(&raster, &arena, 101, 101, 101, 0.1);
    ct_raster_begin(&raster, 0);
    const double clip[3][4] = {{-1, -1, -1, 1}, {3, -3, -1, 3}, {-1, 1, -1, 1}};
    ct_raster_triangle(&raster, 0, clip);
    int at = 99 * 101 + 50;
    assert_int_equal(raster.id[at], 0);
    assert_true(fabs((double)raster.weight[2 * at] - 0.25) < 0.01);
    ct_arena_free(&arena);
}

static void raster_cuts_off_what_is_behind_the_eye(void** unused) {
    ct_arena arena = {0};
    ct_raster raster;
    ct_raster_create(&raster, &arena, 8, 8, 8, 0.1);
    ct_raster_begin(&raster, 0);
    const double behind[3][4] = {{-1, -1, -1, -1}, {1, -1, -1, -1}, {0, 1, -1, -2}};
    const double across[3][4] = {{-4, -1, -1, 1}, {4, -1, -1, 1}, {0, 3, -1, -1}};
    const double broken[3][4] = {{NAN, -1, -1, 1}, {4, -1, -1, 1}, {0, 3, -1, 1}};
    ct_raster_triangle(&raster, 1, behind);
    ct_raster_triangle(&raster, 2, broken);
    for (int i = 0; i < 64; i++) assert_int_equal(raster.id[i], -1);
    ct_raster_triangle(&raster, 3, across);
    assert_int_equal(raster.id[8 * 4 + 4], 3);
    ct_arena_free(&arena);
}

static void raster_bands_equal_the_whole(void** unused) {
    ct_arena arena = {0};
    ct_raster whole, band;
    ct_raster_create(&whole, &arena, 8, 8, 8, 0.1);
    ct_raster_create(&band, &arena, 8, 8, 3, 0.1);
    ct_raster_begin(&whole, 0);
    draw(&whole, 5, 0.3, 0.2, 7.7, 3.1, 2.2, 7.6, 0);
    for (int top = 0; top < 8; top += 3) {
        ct_raster_begin(&band, top);
        draw(&band, 5, 0.3, 0.2, 7.7, 3.1, 2.2, 7.6, 0);
        int rows = top + 3 <= 8 ? 3 : 8 - top;
        assert_memory_equal(band.id, whole.id + 8 * top, (size_t)rows * 8 * sizeof(int));
    }
    ct_arena_free(&arena);
}

static void camera_projects_known_points(void** unused) {
    ct_camera camera;
    ct_view view = {.eye = {0, 0, 5}, .target = {0, 0, 0}, .field_of_view = 90};
    double clip[4];
    ct_camera_look(&camera, &view, 1, 2.0);
    ct_camera_project(&camera, (double[3]){0, 0, 0}, clip);
    assert_true(clip[0] == 0 && clip[1] == 0 && fabs(clip[3] - 5) < 1e-12);
    // the corner of a 90 degree view, twice as wide as high
    ct_camera_project(&camera, (double[3]){10, 5, 0}, clip);
    assert_true(fabs(clip[0] / clip[3] - 1) < 1e-12 && fabs(clip[1] / clip[3] - 1) < 1e-12);
    double ray[3];
    ct_camera_ray(&camera, 1, 1, ray);
    assert_true(fabs(ray[0] - 2) < 1e-12 && fabs(ray[1] - 1) < 1e-12 && fabs(ray[2] + 1) < 1e-12);
}

static void camera_frames_a_box_whatever_its_shape(void** unused) {
    static const double size[5][3] = {
        {1, 1, 1}, {10, 0.1, 0.1}, {0.01, 3, 0.01}, {1e-3, 2e-3, 5e-3}, {40, 1, 40}};
    for (int k = 0; k < 15; k++) {
        double lower[3] = {-3, 2, 7}, upper[3], furthest = 0;
        for (int j = 0; j < 3; j++) upper[j] = lower[j] + size[k / 3][j];
        ct_camera camera;
        ct_camera_frame(&camera, lower, upper, k % 3, 30, 16.0 / 9);
        for (int c = 0; c < 8; c++) {
            double clip[4], p[3] = {c & 1 ? upper[0] : lower[0], c & 2 ? upper[1] : lower[1],
                                    c & 4 ? upper[2] : lower[2]};
            ct_camera_project(&camera, p, clip);
            assert_true(clip[3] > camera.near);
            furthest = fmax(furthest, fmax(fabs(clip[0] / clip[3]), fabs(clip[1] / clip[3])));
        }
        assert_true(furthest > 0.6 && furthest < 0.95);
        assert_true(camera.eye[k % 3] > lower[k % 3]);
        assert_true(camera.up[k % 3] > 0.5);
    }
}

static void project(const ct_camera* camera, const double point[3], double at[2]) {
    double clip[4];
    ct_camera_project(camera, point, clip);
    assert_true(clip[3] > 0);
    for (int k = 0; k < 2; k++) at[k] = clip[k] / clip[3];
}

// The two axes after `up` in cyclic order span a ground that turns anticlockwise seen from above, and `up`
// points up.
static void camera_keeps_frames_right_handed(void** unused) {
    for (int up = 0; up < 3; up++) {
        const double lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1};
        double origin[2], axis[3][2];
        ct_camera camera;
        ct_camera_frame(&camera, lower, upper, up, 40, 1.5);
        project(&camera, (double[]){0, 0, 0}, origin);
        for (int k = 0; k < 3; k++) {
            project(&camera, (double[]){k == 0, k == 1, k == 2}, axis[k]);
            for (int c = 0; c < 2; c++) axis[k][c] -= origin[c];
        }
        const double *a = axis[(up + 1) % 3], *b = axis[(up + 2) % 3];
        assert_true(a[0] * b[1] - a[1] * b[0] > 0.01);
        assert_true(axis[up][1] > 0.1);
        // along an axis of the ground the other one points to its side
        ct_view view = {.field_of_view = 40};
        view.eye[(up + 1) % 3] = 5;
        ct_camera_look(&camera, &view, up, 1.5);
        double side[3] = {0};
        side[(up + 2) % 3] = 1;
        project(&camera, side, axis[0]);
        assert_true(axis[0][0] > 0.1);
        assert_true(fabs(axis[0][1]) < 1e-12);
    }
}

static void color_maps_brighten_evenly(void** unused) {
    double before = -1, rgb[3];
    for (int k = 0; k <= 64; k++) {
        ct_color_map(k / 64.0, rgb);
        double light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
        assert_true(light > before);
        before = light;
    }
    for (int k = 0; k <= 255; k++)
        assert_true(fabs(ct_color_srgb(ct_color_linear(k / 255.0)) - k / 255.0) < 1e-9);
    ct_color_map_diverging(0.5, rgb);
    assert_true(fabs(rgb[0] - rgb[2]) < 0.05 && rgb[0] > 0.8);
}

static void label_spacing_is_a_round_number(void** unused) {
    assert_true(ct_label_round(1) == 1 && ct_label_round(4.9) == 2 && ct_label_round(70) == 50);
    assert_true(fabs(ct_label_round(0.03) - 0.02) < 1e-15);
}

static void text_leaves_ink_only_where_it_stands(void** unused) {
    enum { W = 120, H = 40 };
    uint8_t pixels[3 * W * H];
    memset(pixels, 255, sizeof pixels);
    ct_canvas canvas = {pixels, W, H};
    ct_ink ink = {.alpha = 1};
    ct_text_draw(&canvas, "0.5 m^2", 10, 30, 14, 0, &ink);
    double width = ct_text_width("0.5 m^2", 14);
    int dark = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            if (pixels[3 * (y * W + x)] < 128) {
                dark++;
                assert_true(x >= 8 && x <= 12 + width && y >= 12 && y <= 32);
            }
    assert_true(dark > 60 && dark < 400);
    ct_text_draw(&canvas, "outside", -500, 1000, 14, 0, &ink);
}

static void skin_keeps_the_edges_of_a_cube(void** unused) {
    synthetic s = synthetic_grid(2, 2, 2, false);
    ct_trajectory_def def = synthetic_def(&s, 0);
    ct_trajectory* file = NULL;
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, NULL), CT_OK);
    ct_arena arena = {0};
    ct_skin skin;
    ct_skin_create(&skin, &arena, file, s.rest);
    for (int c = 0; c < 3 * skin.ntri; c++) {  // every normal is along an axis
        const float* n = skin.normal + 3 * c;
        assert_true(fabsf(fmaxf(fabsf(n[0]), fmaxf(fabsf(n[1]), fabsf(n[2]))) - 1) < 1e-6f);
    }
    ct_arena_free(&arena);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static ct_trajectory* make_file(synthetic* s, int count) {
    ct_trajectory_def def = synthetic_def(s, 0);
    ct_trajectory* file = NULL;
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, NULL), CT_OK);
    for (int k = 0; k < count; k++) {
        ct_trajectory_sample sample = synthetic_frame(s, k, NULL, 0);
        assert_int_equal(ct_trajectory_append_sample(file, &sample, NULL), CT_OK);
    }
    return file;
}

// Pixels that are clearly of the body's red.
static int red_pixels(const uint8_t* pixels, int count) {
    int red = 0;
    for (int k = 0; k < count; k++) red += pixels[3 * k] > pixels[3 * k + 2] + 40;
    return red;
}

static void picture_of_a_cube_is_there_and_repeats(void** unused) {
    enum { W = 160, H = 120 };
    synthetic s = synthetic_grid(3, 3, 3, false);
    ct_trajectory* file = make_file(&s, 3);
    static uint8_t a[3 * W * H], b[3 * W * H];
    ct_picture_def def = ct_picture_def_default();
    ct_error error;
    def.width = W;
    def.height = H;
    def.samples = 2;
    assert_int_equal(ct_picture_draw(file, 2, &def, a, &error), CT_OK);
    assert_int_equal(ct_picture_draw(file, 0, &def, b, &error), CT_OK);
    assert_memory_not_equal(a, b, sizeof a);
    assert_int_equal(ct_picture_draw(file, 2, &def, b, &error), CT_OK);
    assert_memory_equal(a, b, sizeof a);
    int red = red_pixels(a, W * H);
    assert_true(red > W * H / 12 && red < W * H * 7 / 10);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void picture_draws_every_field(void** unused) {
    static const char* const names[] = {"body", "displacement", "velocity", "stress", "energy", "volume"};
    enum { W = 96, H = 64 };
    synthetic s = synthetic_grid(2, 2, 2, false);
    ct_trajectory* file = make_file(&s, 2);
    uint8_t pixels[3 * W * H];
    ct_picture_def def = ct_picture_def_default();
    ct_error error;
    def.width = W;
    def.height = H;
    def.wireframe = true;
    for (int samples = 1; samples <= 4; samples += 3)
        for (int k = 0; k < 6; k++) {
            def.samples = samples;
            def.color_by = names[k];
            assert_int_equal(ct_picture_draw(file, 1, &def, pixels, &error), CT_OK);
        }
    def.color_by = "heat";
    assert_int_equal(ct_picture_draw(file, 1, &def, pixels, &error), CT_BAD_ARGUMENT);
    def.color_by = "body";
    assert_int_equal(ct_picture_draw(file, 2, &def, pixels, &error), CT_BAD_ARGUMENT);
    def.width = 4;
    assert_int_equal(ct_picture_draw(file, 1, &def, pixels, &error), CT_BAD_ARGUMENT);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void picture_survives_positions_that_are_not_numbers(void** unused) {
    enum { W = 64, H = 48 };
    synthetic s = synthetic_grid(2, 2, 2, false);
    ct_trajectory_def def = synthetic_def(&s, 0);
    ct_trajectory* file = NULL;
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, NULL), CT_OK);
    ct_trajectory_sample sample = synthetic_frame(&s, 0, NULL, 0);
    uint8_t pixels[3 * W * H];
    ct_picture_def look = ct_picture_def_default();
    look.width = W;
    look.height = H;
    look.color_by = "displacement";
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3 * s.nvert; i++)
            if (k > 1 || i % 7 == 0) s.x[i] = k ? INFINITY : NAN;
        assert_int_equal(ct_trajectory_append_sample(file, &sample, NULL), CT_OK);
        assert_int_equal(ct_picture_draw(file, k, &look, pixels, NULL), CT_OK);
    }
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
    unlink(FILE_NAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raster_covers_the_samples_inside),
        cmocka_unit_test(raster_gives_a_shared_edge_to_one_triangle),
        cmocka_unit_test(raster_shows_the_nearer_triangle_in_any_order),
        cmocka_unit_test(raster_weights_are_correct_in_perspective),
        cmocka_unit_test(raster_cuts_off_what_is_behind_the_eye),
        cmocka_unit_test(raster_bands_equal_the_whole),
        cmocka_unit_test(camera_projects_known_points),
        cmocka_unit_test(camera_frames_a_box_whatever_its_shape),
        cmocka_unit_test(camera_keeps_frames_right_handed),
        cmocka_unit_test(color_maps_brighten_evenly),
        cmocka_unit_test(label_spacing_is_a_round_number),
        cmocka_unit_test(text_leaves_ink_only_where_it_stands),
        cmocka_unit_test(skin_keeps_the_edges_of_a_cube),
        cmocka_unit_test(picture_of_a_cube_is_there_and_repeats),
        cmocka_unit_test(picture_draws_every_field),
        cmocka_unit_test(picture_survives_positions_that_are_not_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
