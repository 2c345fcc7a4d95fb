// Pictures of sheets, obstacles and contact forces: what must be seen is seen, where it must be.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "contact_file.h"
#include "out/obstacle.h"
#include "out/picture.h"
#include "out/solid.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_picture_contacts.h5"
enum { W = 320, H = 200 };

static ct_picture_def small_picture(void) {
    ct_picture_def def = ct_picture_def_default();
    def.width = W;
    def.height = H;
    def.samples = 2;
    def.label = def.grid = false;
    return def;
}

static void draw(ct_trajectory* file, int frame, const ct_picture_def* def, uint8_t* pixels) {
    ct_error error = {0};
    if (ct_picture_draw(file, frame, def, pixels, &error)) fail_msg("%s", error.message);
}

// Pixels whose channel k stands out by at least `by`.
static int count_color(const uint8_t* pixels, int k, int by) {
    int count = 0;
    for (int i = 0; i < W * H; i++) {
        const uint8_t* p = pixels + 3 * i;
        count += p[k] > p[(k + 1) % 3] + by && p[k] > p[(k + 2) % 3] + by;
    }
    return count;
}

static int differing(const uint8_t* a, const uint8_t* b) {
    int count = 0;
    for (int i = 0; i < W * H; i++) count += memcmp(a + 3 * i, b + 3 * i, 3) != 0;
    return count;
}

static ct_trajectory* record(contact_scene* s, const ct_trajectory_def* def, int frames) {
    ct_trajectory* file = NULL;
    ct_error error = {0};
    if (ct_trajectory_create_arrays(&file, FILE_NAME, def, &error)) fail_msg("%s", error.message);
    for (int k = 0; k < frames; k++) {
        ct_trajectory_sample sample = contact_scene_frame(s, k);
        if (ct_trajectory_append_sample(file, &sample, &error)) fail_msg("%s", error.message);
    }
    return file;
}

// Seen from above and from below the sheet is there and lit; its blue is that of body 1.
static void sheet_has_two_sides(void** unused) {
    static uint8_t pixels[3 * W * H];
    contact_scene s = contact_scene_create();
    ct_trajectory* file = contact_scene_record(&s, FILE_NAME, 1);
    for (int below = 0; below < 2; below++) {
        ct_picture_def def = small_picture();
        def.view =
            (ct_view){.eye = {0.5, below ? 0.2 : 4, 4.5}, .target = {0.5, 1.4, 0.5}, .field_of_view = 25};
        draw(file, 0, &def, pixels);
        int blue = count_color(pixels, 2, 25), brightest = 0;
        for (int i = 0; i < W * H; i++)
            if (pixels[3 * i + 2] > pixels[3 * i] + 25 && pixels[3 * i + 2] > brightest)
                brightest = pixels[3 * i + 2];
        assert_true(blue > W * H / 40);
        assert_true(brightest > 90);
    }
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

// One obstacle at a time is painted green; hidden ones are not there.
static void every_obstacle_is_drawn_in_its_colour(void** unused) {
    static uint8_t pixels[3 * W * H];
    contact_scene s = contact_scene_create();
    ct_trajectory_def def = contact_scene_def(&s);
    for (int k = 1; k < OBSTACLES; k++) {
        ct_obstacle_info obstacle[OBSTACLES];
        for (int hidden = 0; hidden < 2; hidden++) {
            memcpy(obstacle, contact_obstacle, sizeof obstacle);
            for (int i = 0; i < OBSTACLES; i++)
                obstacle[i].color[0] = obstacle[i].color[1] = obstacle[i].color[2] = 0.5;
            obstacle[k].color[0] = obstacle[k].color[2] = 0.05;
            obstacle[k].color[1] = 0.8;
            obstacle[k].hidden = hidden;
            def.obstacle = obstacle;
            ct_trajectory* file = record(&s, &def, 1);
            ct_picture_def look = small_picture();
            look.view = (ct_view){.eye = {1, 2.5, 7}, .target = {1, 0.5, 0.5}, .field_of_view = 40};
            draw(file, 0, &look, pixels);
            int green = count_color(pixels, 1, 30);
            if (hidden) assert_int_equal(green, 0);
            else assert_true(green > 300);
            ct_trajectory_close(file, NULL);
        }
    }
    contact_scene_free(&s);
}

static void arrows_are_there_when_asked_for(void** unused) {
    static uint8_t without[3 * W * H], with[3 * W * H], again[3 * W * H];
    contact_scene s = contact_scene_create();
    ct_trajectory* file = contact_scene_record(&s, FILE_NAME, 4);
    ct_picture_def def = small_picture();
    draw(file, 1, &def, without);
    def.contacts = true;
    draw(file, 1, &def, with);
    draw(file, 1, &def, again);
    assert_memory_equal(with, again, sizeof with);
    int drawn = differing(without, with);
    assert_true(drawn > 150 && drawn < W * H / 10);
    draw(file, 2, &def, with);  // a frame in which nothing touches
    def.contacts = false;
    draw(file, 2, &def, without);
    assert_memory_equal(with, without, sizeof with);
    def.contacts = true;
    def.contact_scale = 0.1;
    draw(file, 1, &def, again);
    def.contact_scale = 0.02;
    draw(file, 1, &def, with);
    def.contacts = false;
    draw(file, 1, &def, without);
    assert_true(differing(again, without) > 2 * differing(with, without));
    def.contact_scale = -1;
    assert_int_equal(ct_picture_draw(file, 1, &def, with, NULL), CT_BAD_ARGUMENT);
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

// Tips are at position + scale force; sticking and slipping ones differ in material.
static void arrows_have_the_length_of_their_force(void** unused) {
    ct_contact list[3] = {{.set = CT_CONTACT_SET_STICK, .position = {1, 2, 3}, .force = {0, 5, 0}},
                          {.set = CT_CONTACT_SET_SLIP, .position = {0, 0, 0}, .force = {3, 0, 4}},
                          {.set = CT_CONTACT_SET_OPEN, .position = {0, 0, 0}, .force = {9, 9, 9}}};
    ct_arena arena = {0};
    ct_skin skin = {0};
    ct_obstacle_arrows(&skin, &arena, list, 3, 0.1, INFINITY, 1);
    assert_false(arena.failed);
    double top = 0, far = 0;
    for (int t = 0; t < skin.ntri; t++)
        for (int k = 0; k < 3; k++) {
            const double* x = skin.x + 3 * skin.tri[3 * t + k];
            if (skin.body[t] == CT_ARROW_STICK) top = fmax(top, x[1]);
            else {
                assert_int_equal(skin.body[t], CT_ARROW_SLIP);
                far = fmax(far, 0.6 * x[0] + 0.8 * x[2]);
            }
        }
    assert_true(fabs(top - 2.5) < 1e-12);
    assert_true(fabs(far - 0.5) < 1e-12);
    assert_false(ct_skin_casts(&skin, 0));
    ct_arena_free(&arena);
}

// All vertices of a capsule keep its radius from the segment, all normals point away from it.
static void capsule_is_exact(void** unused) {
    ct_solid solid = {
        .a = {1, 0, 0}, .b = {1, 2, 1}, .radius = 0.25, .material = 3, .shape = CT_SOLID_CAPSULE};
    ct_arena arena = {0};
    ct_skin skin = {0};
    ct_solid_append(&skin, &arena, &solid, 1, 50, 72);
    assert_int_equal(skin.nvert, 50 * 72);
    for (int c = 0; c < 3 * skin.ntri; c++) {
        const double* x = skin.x + 3 * skin.tri[c];
        double along = fmin(1, fmax(0, (x[1] * 2 + x[2]) / 5)),
               d[3] = {x[0] - 1, x[1] - 2 * along, x[2] - along};
        double radius = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), outward = 0;
        assert_true(fabs(radius - 0.25) < 1e-12);
        for (int a = 0; a < 3; a++) outward += d[a] / radius * (double)skin.normal[3 * c + a];
        assert_true(fabs(outward - 1) < 1e-6);
        assert_int_equal(skin.body[c / 3], 3);
    }
    ct_arena_free(&arena);
}

// An obstacle a hundred times as large does not change what the automatic view frames; one of the bodies'
// size does.
static void framing_leaves_huge_obstacles_out(void** unused) {
    double upper[3], lower[3];
    for (int huge = 0; huge < 2; huge++) {
        contact_scene s = contact_scene_create();
        for (int i = s.nvert - BOX_NODES; i < s.nvert && huge; i++)
            for (int a = 0; a < 3; a++) s.rest[3 * i + a] *= 100;
        ct_trajectory* file = contact_scene_record(&s, FILE_NAME, 2);
        assert_int_equal(ct_picture_bounds(file, NULL), CT_OK);
        if (!huge) {
            memcpy(upper, file->upper, sizeof upper);
            memcpy(lower, file->lower, sizeof lower);
            assert_true(fabs(upper[0] - 3) < 1e-12);    // the box
            assert_true(fabs(lower[0] + 1.2) < 1e-12);  // the sphere
            assert_false(file->obstacle_far[3]);
        } else {
            assert_true(fabs(file->upper[0] - 1.5) < 1e-12);  // the sheet
            assert_true(fabs(file->lower[0] - lower[0]) < 1e-12);
            assert_true(file->obstacle_far[3]);
        }
        ct_trajectory_close(file, NULL);
        contact_scene_free(&s);
    }
}

static void level_plane_is_the_ground(void** unused) {
    contact_scene s = contact_scene_create();
    ct_trajectory* file = contact_scene_record(&s, FILE_NAME, 1);
    double height = 7, poses[6 * OBSTACLES];
    memcpy(poses, s.poses, sizeof poses);
    poses[1] = -0.25;
    assert_true(ct_obstacle_ground(file, poses, &height));
    assert_true(height == -0.25);
    poses[3] = 0.6, poses[4] = 0.8;  // tilted
    assert_false(ct_obstacle_ground(file, poses, &height));
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

// Where forces act the colours leave the map's low end, and obstacles keep their own.
static void contact_forces_colour_the_surface(void** unused) {
    static uint8_t pixels[3 * W * H], still[3 * W * H];
    contact_scene s = contact_scene_create();
    ct_trajectory* file = contact_scene_record(&s, FILE_NAME, 4);
    ct_picture_def def = small_picture();
    def.color_by = "contact";
    draw(file, 1, &def, pixels);
    draw(file, 2, &def, still);
    assert_true(differing(pixels, still) > 100);
    double low, high;
    assert_int_equal(ct_picture_range(file, &def, &low, &high, NULL), CT_OK);
    assert_true(low == 0 && high > 1 && high < 10);
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
}

static void picture_survives_contacts_that_are_not_numbers(void** unused) {
    static uint8_t pixels[3 * W * H];
    contact_scene s = contact_scene_create();
    ct_trajectory_def def = contact_scene_def(&s);
    ct_trajectory* file = NULL;
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, NULL), CT_OK);
    ct_trajectory_sample sample = contact_scene_frame(&s, 1);
    ct_picture_def look = small_picture();
    look.contacts = true;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++)
            s.contact[i].force[i % 3] = k ? INFINITY : NAN, s.contact[i].position[0] = NAN;
        for (int i = 0; i < 6 * OBSTACLES; i++) s.poses[i] = k ? INFINITY : NAN;
        assert_int_equal(ct_trajectory_append_sample(file, &sample, NULL), CT_OK);
        draw(file, k, &look, pixels);
    }
    ct_trajectory_close(file, NULL);
    contact_scene_free(&s);
    unlink(FILE_NAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheet_has_two_sides),
        cmocka_unit_test(every_obstacle_is_drawn_in_its_colour),
        cmocka_unit_test(arrows_are_there_when_asked_for),
        cmocka_unit_test(arrows_have_the_length_of_their_force),
        cmocka_unit_test(capsule_is_exact),
        cmocka_unit_test(framing_leaves_huge_obstacles_out),
        cmocka_unit_test(level_plane_is_the_ground),
        cmocka_unit_test(contact_forces_colour_the_surface),
        cmocka_unit_test(picture_survives_contacts_that_are_not_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
