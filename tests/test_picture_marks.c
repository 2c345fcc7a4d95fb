// A title and a marked place in pictures.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "contact_file.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_picture_marks.h5"
enum { W = 320, H = 200 };

typedef struct stage {
    contact_scene scene;
    ct_trajectory* file;
    ct_picture_def def;
    uint8_t bare[3 * W * H], drawn[3 * W * H];
} stage;

static void draw(stage* s, uint8_t* pixels) {
    ct_error error = {0};
    if (ct_picture_draw(s->file, 0, &s->def, pixels, &error)) fail_msg("%s", error.message);
}

static int set_up(void** state) {
    stage* s = calloc(1, sizeof *s);
    s->scene = contact_scene_create();
    s->file = contact_scene_record(&s->scene, FILE_NAME, 1);
    s->def = ct_picture_def_default();
    s->def.width = W, s->def.height = H, s->def.samples = 1, s->def.label = s->def.grid = false;
    s->def.view = (ct_view){.eye = {0.5, 4, 4.5}, .target = {0.5, 1.4, 0.5}, .field_of_view = 25};
    draw(s, s->bare);
    *state = s;
    return 0;
}

static int tear_down(void** state) {
    stage* s = *state;
    ct_trajectory_close(s->file, NULL);
    contact_scene_free(&s->scene);
    unlink(FILE_NAME);
    free(s);
    return 0;
}

// Box around the pixels that differ from the bare picture: x0 y0 x1 y1; returns how many do.
static int changed(const stage* s, int box[4]) {
    int count = 0;
    box[0] = W, box[1] = H, box[2] = box[3] = -1;
    for (int i = 0; i < W * H; i++) {
        int x = i % W, y = i / W;
        if (memcmp(s->bare + 3 * i, s->drawn + 3 * i, 3) == 0) continue;
        box[0] = x < box[0] ? x : box[0], box[2] = x > box[2] ? x : box[2];
        box[1] = y < box[1] ? y : box[1], box[3] = y > box[3] ? y : box[3];
        count++;
    }
    return count;
}

// What the camera looks at is in the middle of the picture, and so is its ring; a place to the right of it is
// drawn to the right.
static void mark_is_where_the_place_is_seen(void** state) {
    stage* s = *state;
    double at_target[3] = {0.5, 1.4, 0.5}, beside[3] = {0.8, 1.4, 0.5};
    int box[4];
    s->def.mark = at_target;
    draw(s, s->drawn);
    int count = changed(s, box);
    assert_in_range(count, 50, 800);
    assert_true(abs(box[0] + box[2] + 1 - W) <= 1 && abs(box[1] + box[3] + 1 - H) <= 1);
    s->def.mark = beside;
    draw(s, s->drawn);
    changed(s, box);
    assert_true(box[0] > W / 2 && box[2] < W);
    assert_true(abs(box[1] + box[3] + 1 - H) <= 1);
}

static void mark_behind_the_eye_is_not_drawn(void** state) {
    stage* s = *state;
    double behind[3] = {0.5, 8, 9};
    int box[4];
    s->def.mark = behind;
    draw(s, s->drawn);
    assert_int_equal(changed(s, box), 0);
}

static void title_is_in_the_middle_of_the_top(void** state) {
    stage* s = *state;
    int box[4];
    s->def.title = "before";
    draw(s, s->drawn);
    assert_true(changed(s, box) > 50);
    assert_true(box[3] < H / 5 && abs(box[0] + box[2] + 1 - W) <= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mark_is_where_the_place_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mark_behind_the_eye_is_not_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(title_is_in_the_middle_of_the_top, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
