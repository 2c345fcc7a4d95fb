// Bones in pictures: where they lie, that they show through flesh, and that a skeleton alone is framed and
// seen.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "out/camera.h"
#include "out/picture.h"
#include "synthetic.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_bone.h5"

enum { W = 200, H = 150, LINKS = 3 };

static const double identity[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};

static void look(ct_picture_def* def) {
    *def = ct_picture_def_default();
    def->width = W;
    def->height = H;
    def->samples = 2;
    def->view = (ct_view){.eye = {0.5, 0.7, 5}, .target = {0.5, 0.5, 0.5}, .field_of_view = 35};
}

// A cube of flesh (or none) and three links: one through its middle, one that leaves it in front, one beyond
// it.
typedef struct body {
    synthetic grid;
    ct_link_info link[LINKS];
    int node[LINKS][2];
    ct_trajectory* file;
} body;

static const double anchor[LINKS][3] = {{0.1, 0.5, 0.5}, {0.9, 0.5, 0.5}, {0.9, 0.5, 1.6}};
static const double end[LINKS][3] = {{0.9, 0.5, 0.5}, {0.9, 0.5, 1.6}, {0.3, 0.5, 1.6}};

static body make_body(bool flesh) {
    body b = {.grid = synthetic_grid(3, 3, 3, false)};
    if (!flesh) b.grid.nvert = b.grid.ntet = b.grid.nsurface = 0;
    int first = b.grid.nvert;
    b.grid.nvert += 2 * LINKS;  // two points of mass that have the moments of a rod
    b.grid.rest = realloc(b.grid.rest, 3 * (size_t)b.grid.nvert * sizeof(double));
    b.grid.x = realloc(b.grid.x, 3 * (size_t)b.grid.nvert * sizeof(double));
    b.grid.v = realloc(b.grid.v, 3 * (size_t)b.grid.nvert * sizeof(double));
    for (int k = 0; k < LINKS; k++) {
        for (int i = 0; i < 2; i++) {
            b.node[k][i] = first + 2 * k + i;
            for (int a = 0; a < 3; a++)
                b.grid.rest[3 * b.node[k][i] + a] =
                    0.5 * (anchor[k][a] + end[k][a]) + (i - 0.5) / sqrt(3) * (end[k][a] - anchor[k][a]);
        }
        b.link[k] = (ct_link_info){.name = "bone",
                                   .parent = k - 1,
                                   .joint = k ? CT_JOINT_REVOLUTE : CT_JOINT_FIXED,
                                   .axis = {0, 1, 0},
                                   .ncoordinate = k > 0,
                                   .coordinate = k > 1,
                                   .count = 2};
        memcpy(b.link[k].anchor, anchor[k], sizeof anchor[k]);
    }
    return b;
}

// shift: of all links and nodes along x in the second frame.
static void write_body(body* b, bool links, double shift) {
    for (int k = 0; k < LINKS; k++) b->link[k].nodes = b->node[k];
    ct_trajectory_def def = synthetic_def(&b->grid, 0);
    def.info.nlink = links ? LINKS : 0;
    def.info.ncoordinate = links ? 2 : 0;
    def.link = b->link;
    ct_error error = {0};
    assert_int_equal(ct_trajectory_create_arrays(&b->file, FILE_NAME, &def, &error), CT_OK);
    double poses[12 * LINKS], coordinates[2] = {0, 0};
    for (int frame = 0; frame < 2; frame++) {
        for (int k = 0; k < LINKS; k++) {
            memcpy(poses + 12 * k, identity, sizeof identity);
            poses[12 * k + 9] = frame * shift;
        }
        for (int i = 0; i < 3 * b->grid.nvert; i++)
            b->grid.x[i] = b->grid.rest[i] + (i % 3 ? 0 : frame * shift), b->grid.v[i] = 0;
        ct_trajectory_sample sample = {.time = frame,
                                       .x = b->grid.x,
                                       .v = b->grid.v,
                                       .stress = b->grid.field,
                                       .energy = b->grid.field,
                                       .volume = b->grid.field,
                                       .coordinates = coordinates,
                                       .poses = poses};
        assert_int_equal(ct_trajectory_append_sample(b->file, &sample, &error), CT_OK);
    }
}

static void end_body(body* b) {
    ct_trajectory_close(b->file, NULL);
    synthetic_free(&b->grid);
}

static const uint8_t* pixel_at(const uint8_t* pixels, const ct_picture_def* def, double x, double y,
                               double z) {
    ct_camera camera;
    double clip[4], point[3] = {x, y, z};
    ct_camera_look(&camera, &def->view, 1, (double)W / H);
    ct_camera_project(&camera, point, clip);
    int px = (int)((clip[0] / clip[3] + 1) * 0.5 * W), py = (int)((1 - clip[1] / clip[3]) * 0.5 * H);
    assert_true(px >= 0 && px < W && py >= 0 && py < H);
    return pixels + 3 * (py * W + px);
}

static int redness(const uint8_t* pixel) { return pixel[0] - pixel[2]; }

static void bones_lead_from_joint_to_joint_and_to_the_far_end(void** unused) {
    body b = make_body(true);
    write_body(&b, true, 0);
    ct_arena arena = {0};
    ct_bone_list list;
    ct_picture_bones(&list, &arena, b.file);
    assert_int_equal(list.count, LINKS);
    for (int i = 0; i < LINKS; i++) {
        int k = list.bone[i].link;
        for (int a = 0; a < 3; a++) {
            assert_true(fabs(list.bone[i].from[a] - anchor[k][a]) < 1e-12);
            assert_true(fabs(list.bone[i].to[a] - end[k][a]) < 1e-12);
        }
    }
    ct_arena_free(&arena);
    end_body(&b);
}

static void bone_of_a_fixed_link_ignores_an_anchor_off_it(void** unused) {
    body b = make_body(true);
    b.link[0].anchor[0] = -40;
    write_body(&b, true, 0);
    ct_arena arena = {0};
    ct_bone_list list;
    ct_picture_bones(&list, &arena, b.file);
    assert_int_equal(list.bone[0].link, 0);
    assert_true(fabs(list.bone[0].from[0] - 0.1) < 1e-12 && fabs(list.bone[0].to[0] - 0.9) < 1e-12);
    ct_arena_free(&arena);
    end_body(&b);
}

// Two links hang on the first, a rod that stands upright: a spine and two struts at right angles to it.
static void link_with_two_below_has_a_spine(void** unused) {
    body b = make_body(true);
    const double half = 0.4 / sqrt(3), ends[2][3] = {{0.5, 0.5 - half, 0.5}, {0.5, 0.5 + half, 0.5}},
                 side[2][3] = {{0.2, 0.7, 0.5}, {0.8, 0.7, 0.5}};
    for (int i = 0; i < 2; i++) {
        memcpy(b.grid.rest + 3 * b.node[0][i], ends[i], sizeof ends[i]);
        memcpy(b.link[1 + i].anchor, side[i], sizeof side[i]);
        b.link[1 + i].parent = 0;
    }
    b.link[0].joint = CT_JOINT_FIXED;
    memset(b.link[0].anchor, 0, sizeof b.link[0].anchor);
    write_body(&b, true, 0);
    ct_arena arena = {0};
    ct_bone_list list;
    ct_picture_bones(&list, &arena, b.file);
    assert_int_equal(list.count, 5);
    assert_true(fabs(fabs(list.bone[0].to[1] - list.bone[0].from[1]) - 0.8) < 1e-12);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(list.bone[i].link, 0);
        assert_true(fabs(list.bone[i].from[0] - 0.5) < 1e-12 && fabs(list.bone[i].from[1] - 0.7) < 1e-12);
        assert_memory_equal(list.bone[i].to, side[i - 1], sizeof side[0]);
    }
    ct_arena_free(&arena);
    end_body(&b);
}

static void bones_show_through_flesh(void** unused) {
    static uint8_t through[3 * W * H], without[3 * W * H];
    body b = make_body(true);
    write_body(&b, true, 0);
    ct_picture_def def;
    look(&def);
    assert_int_equal(ct_picture_draw(b.file, 0, &def, through, NULL), CT_OK);
    def.bones = CT_BONES_OFF;
    assert_int_equal(ct_picture_draw(b.file, 0, &def, without, NULL), CT_OK);
    // on the first bone, inside the cube: a good part of the flesh's red is gone, but not all of it
    int with_bone = redness(pixel_at(through, &def, 0.3, 0.5, 0.5)),
        flesh = redness(pixel_at(without, &def, 0.3, 0.5, 0.5));
    assert_true(flesh > 60);
    assert_true(with_bone < 0.75 * flesh && with_bone > 0.2 * flesh);
    // beside it hardly anything changes
    int beside =
        redness(pixel_at(through, &def, 0.3, 0.8, 0.5)) - redness(pixel_at(without, &def, 0.3, 0.8, 0.5));
    assert_true(abs(beside) < 8);
    end_body(&b);
}

static void bone_in_front_of_flesh_hides_it(void** unused) {
    static uint8_t through[3 * W * H], only[3 * W * H];
    body b = make_body(true);
    write_body(&b, true, 0);
    ct_picture_def def;
    look(&def);
    assert_int_equal(ct_picture_draw(b.file, 0, &def, through, NULL), CT_OK);
    def.bones = CT_BONES_ONLY;
    assert_int_equal(ct_picture_draw(b.file, 0, &def, only, NULL), CT_OK);
    for (double x = 0.45; x < 0.8; x += 0.1) {
        const uint8_t *a = pixel_at(through, &def, x, 0.5, 1.6), *c = pixel_at(only, &def, x, 0.5, 1.6);
        assert_memory_equal(a, c, 3);
        assert_true(redness(a) < 60);
    }
    end_body(&b);
}

static void bones_only_leave_no_flesh(void** unused) {
    static uint8_t pixels[3 * W * H];
    body b = make_body(true);
    write_body(&b, true, 0);
    ct_picture_def def;
    look(&def);
    int red[2] = {0, 0};
    for (int only = 0; only < 2; only++) {
        def.bones = only ? CT_BONES_ONLY : CT_BONES_THROUGH;
        assert_int_equal(ct_picture_draw(b.file, 0, &def, pixels, NULL), CT_OK);
        // flesh, not the bronze of joints
        for (int i = 0; i < W * H; i++) red[only] += pixels[3 * i] > pixels[3 * i + 1] + 75;
    }
    assert_true(red[0] > W * H / 20);
    assert_int_equal(red[1], 0);
    end_body(&b);
}

// Frame 1 lies two metres to the side: the automatic camera has both in view.
static void skeleton_without_flesh_is_framed_and_seen(void** unused) {
    static uint8_t pixels[3 * W * H], empty[3 * W * H];
    body b = make_body(false);
    write_body(&b, true, 2);
    ct_picture_def def = ct_picture_def_default();
    def.width = W;
    def.height = H;
    def.label = def.grid = false;
    for (int frame = 0; frame < 2; frame++) {
        ct_error error = {0};
        def.bones = CT_BONES_THROUGH;
        assert_int_equal(ct_picture_draw(b.file, frame, &def, pixels, &error), CT_OK);
        def.bones = CT_BONES_OFF;
        assert_int_equal(ct_picture_draw(b.file, frame, &def, empty, &error), CT_OK);
        int bright = 0, edge = 0;
        for (int i = 0; i < W * H; i++) {
            bool bone = redness(pixels + 3 * i) > redness(empty + 3 * i) + 12;  // ivory on grey
            bright += bone;
            edge += bone && (i % W < 2 || i % W > W - 3 || i / W < 2 || i / W > H - 3);
        }
        assert_true(bright > W * H / 200 && bright < W * H / 5);
        assert_int_equal(edge, 0);
    }
    assert_true(b.file->lower[0] < 0.1 && b.file->lower[0] > -0.2 && b.file->upper[0] > 2.9 &&
                b.file->upper[0] < 3.2);
    end_body(&b);
}

// A node that belongs to neither flesh nor bone, however far off, leaves the camera and the colours alone.
static void nodes_without_tets_do_not_count(void** unused) {
    body b = make_body(true);
    for (int k = 0; k < LINKS; k++) b.grid.rest[3 * b.node[k][1] + 1] = 100;
    write_body(&b, false, 0);
    assert_int_equal(ct_picture_bounds(b.file, NULL), CT_OK);
    assert_true(b.file->upper[1] == 1);
    double* values = calloc((size_t)b.grid.nvert, sizeof *values);
    assert_int_equal(ct_skin_values(b.file, 0, "volume", values, NULL), CT_OK);
    assert_true(isnan(values[b.node[0][0]]) && isfinite(values[0]));
    free(values);
    end_body(&b);
}

static void export_writes_bones_as_lines(void** unused) {
    body b = make_body(true);
    write_body(&b, true, 2);
    ct_error error = {0};
    const char* directory = CT_BINARY_DIR "/test_bone_export";
    assert_int_equal(ct_trajectory_export(b.file, directory, CT_EXPORT_VTU, 1, 1, 1, &error), CT_OK);
    assert_int_equal(ct_trajectory_export(b.file, directory, CT_EXPORT_OBJ, 1, 1, 1, &error), CT_OK);
    FILE* stream = fopen(CT_BINARY_DIR "/test_bone_export/frame_000001.obj", "r");
    assert_non_null(stream);
    char line[256];
    double x[512][3];
    int nvertex = 0, nline = 0;
    while (fgets(line, sizeof line, stream)) {
        int p, q;
        if (sscanf(line, "v %lf %lf %lf", &x[nvertex][0], &x[nvertex][1], &x[nvertex][2]) == 3) nvertex++;
        if (sscanf(line, "l %d %d", &p, &q) != 2) continue;
        assert_true(p >= 1 && q <= nvertex);
        if (nline++ == 0) assert_true(fabs(x[p - 1][0] - 2.1) < 1e-12 && fabs(x[q - 1][0] - 2.9) < 1e-12);
    }
    fclose(stream);
    assert_int_equal(nline, LINKS);
    stream = fopen(CT_BINARY_DIR "/test_bone_export/bones_000001.vtp", "r");
    assert_non_null(stream);
    fclose(stream);
    end_body(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bones_lead_from_joint_to_joint_and_to_the_far_end),
        cmocka_unit_test(bone_of_a_fixed_link_ignores_an_anchor_off_it),
        cmocka_unit_test(link_with_two_below_has_a_spine),
        cmocka_unit_test(bones_show_through_flesh),
        cmocka_unit_test(bone_in_front_of_flesh_hides_it),
        cmocka_unit_test(bones_only_leave_no_flesh),
        cmocka_unit_test(skeleton_without_flesh_is_framed_and_seen),
        cmocka_unit_test(nodes_without_tets_do_not_count),
        cmocka_unit_test(export_writes_bones_as_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
