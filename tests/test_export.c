// Exported files: read back by the mesh reader, checked byte by byte where it has no say; movies and
// pictures.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

#include "synthetic.h"
#include "unit.h"

#define FILE_NAME CT_BINARY_DIR "/test_export.h5"
#define DIRECTORY CT_BINARY_DIR "/test_export_frames"

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

static char* read_text(const char* path) {
    FILE* stream = fopen(path, "rb");
    assert_non_null(stream);
    char* text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, stream) > 0);
    fclose(stream);
    return text;
}

static bool exists(const char* path) { return access(path, F_OK) == 0; }

static void export_vtu_is_read_back_exactly(void** unused) {
    synthetic s = synthetic_grid(3, 2, 2, false);
    ct_trajectory* file = make_file(&s, 7);
    ct_error error;
    unlink(DIRECTORY "/frame_000002.vtu");  // of another test
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_VTU, 1, 6, 2, &error), CT_OK);
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_mesh_load(&mesh, DIRECTORY "/frame_000003.vtu", CT_MESH_AUTO, &error), CT_OK);
    synthetic_frame(&s, 3, NULL, 0);
    assert_int_equal(mesh->nvert, s.nvert);
    assert_int_equal(mesh->ntet, s.ntet);
    assert_memory_equal(mesh->x, s.x, (size_t)s.nvert * 24);
    assert_memory_equal(mesh->tet, s.tet, (size_t)s.ntet * 16);
    ct_mesh_free(mesh);
    assert_false(exists(DIRECTORY "/frame_000002.vtu"));
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void export_pvd_lists_the_times(void** unused) {
    synthetic s = synthetic_grid(1, 1, 1, false);
    ct_trajectory* file = make_file(&s, 3);
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_VTU, 0, 2, 2, NULL), CT_OK);
    char* text = read_text(DIRECTORY "/frames.pvd");
    assert_non_null(strstr(text, "<VTKFile type=\"Collection\""));
    assert_non_null(strstr(text, "<DataSet timestep=\"0\" part=\"0\" file=\"frame_000000.vtu\"/>"));
    assert_non_null(strstr(text, "<DataSet timestep=\"0.02\" part=\"0\" file=\"frame_000002.vtu\"/>"));
    assert_null(strstr(text, "frame_000001"));
    free(text);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void export_vtu_offsets_lead_to_their_blocks(void** unused) {
    synthetic s = synthetic_grid(2, 1, 1, false);
    ct_trajectory* file = make_file(&s, 1);
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_VTU, 0, 0, 1, NULL), CT_OK);
    char* text = read_text(DIRECTORY "/frame_000000.vtu");
    static const struct {
        const char* name;
        int per_node, per_tet;
    } want[] = {{"velocity", 24, 0},     {"displacement", 24, 0}, {"stress", 0, 8}, {"energy", 0, 8},
                {"volume", 0, 8},        {"body", 0, 4},          {"tag", 0, 4},    {"Points", 24, 0},
                {"connectivity", 0, 32}, {"offsets", 0, 8},       {"types", 0, 1}};
    const char* data = strstr(text, "encoding=\"raw\">");
    assert_non_null(data);
    data = strchr(data, '_') + 1;
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        char tag[64];
        snprintf(tag, sizeof tag, "Name=\"%s\"", want[k].name);
        const char* at = strstr(text, tag);
        assert_non_null(at);
        unsigned long long offset, bytes;
        assert_int_equal(sscanf(strstr(at, "offset=\""), "offset=\"%llu\"", &offset), 1);
        memcpy(&bytes, data + offset, 8);
        assert_int_equal(bytes, want[k].per_node * s.nvert + want[k].per_tet * s.ntet);
    }
    free(text);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void export_obj_holds_the_surface(void** unused) {
    synthetic s = synthetic_grid(2, 2, 2, false);
    ct_trajectory* file = make_file(&s, 2);
    ct_error error;
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_OBJ, 1, 1, 1, &error), CT_OK);
    ct_mesh* mesh = NULL;
    assert_int_equal(ct_mesh_load(&mesh, DIRECTORY "/frame_000001.obj", CT_MESH_AUTO, &error), CT_OK);
    assert_int_equal(mesh->nvert, 26);  // all but the node in the middle
    assert_int_equal(mesh->ntri, s.nsurface);
    synthetic_frame(&s, 1, NULL, 0);
    for (int k = 0; k < 3 * s.nsurface; k++)
        assert_memory_equal(mesh->x + 3 * mesh->tri[k], s.x + 3 * s.surface[k], 24);
    ct_mesh_free(mesh);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void export_refuses_frames_that_are_not_there(void** unused) {
    synthetic s = synthetic_grid(1, 1, 1, false);
    ct_trajectory* file = make_file(&s, 2);
    ct_error error;
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_OBJ, 0, 2, 1, &error), CT_BAD_ARGUMENT);
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_OBJ, -1, 1, 1, &error), CT_BAD_ARGUMENT);
    assert_int_equal(ct_trajectory_export(file, DIRECTORY, CT_EXPORT_OBJ, 0, 1, 0, &error), CT_BAD_ARGUMENT);
    assert_int_equal(
        ct_trajectory_export(file, CT_BINARY_DIR "/no/such/place", CT_EXPORT_OBJ, 0, 1, 1, &error), CT_IO);
    assert_int_equal(ct_trajectory_export(file, FILE_NAME, CT_EXPORT_OBJ, 0, 1, 1, &error), CT_IO);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void png_is_read_back_exactly(void** unused) {
    enum { W = 37, H = 21 };
    uint8_t pixels[3 * W * H], back[3 * W * H];
    for (int k = 0; k < 3 * W * H; k++) pixels[k] = (uint8_t)(k * 7 + k / 50);
    ct_error error;
    assert_int_equal(ct_picture_save(CT_BINARY_DIR "/test.png", pixels, W, H, &error), CT_OK);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, CT_BINARY_DIR "/test.png"));
    assert_true(image.width == W && image.height == H);
    image.format = PNG_FORMAT_RGB;
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    assert_memory_equal(back, pixels, sizeof pixels);
    assert_int_equal(ct_picture_save(CT_BINARY_DIR "/no/such/test.png", pixels, W, H, &error), CT_IO);
}

static bool have_ffmpeg(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s", getenv("PATH") ? getenv("PATH") : "");
    for (char* item = strtok(path, ":"); item; item = strtok(NULL, ":")) {
        char program[4200];
        snprintf(program, sizeof program, "%s/ffmpeg", item);
        if (access(program, X_OK) == 0) return true;
    }
    return false;
}

static void movie_is_an_mp4_file(void** unused) {
    if (!have_ffmpeg()) skip();
    enum { W = 65, H = 47 };  // odd sides are padded
    const char* path = CT_BINARY_DIR "/test.mp4";
    uint8_t pixels[3 * W * H];
    ct_movie* movie = NULL;
    ct_error error;
    unlink(path);
    assert_int_equal(ct_movie_create(&movie, path, W, H, 25, &error), CT_OK);
    for (int k = 0; k < 10; k++) {
        memset(pixels, 20 * k, sizeof pixels);
        assert_int_equal(ct_movie_append(movie, pixels, &error), CT_OK);
    }
    assert_int_equal(ct_movie_close(movie, &error), CT_OK);
    char* bytes = read_text(path);
    assert_memory_equal(bytes + 4, "ftyp", 4);
    free(bytes);
}

static void movie_says_what_ffmpeg_said(void** unused) {
    if (!have_ffmpeg()) skip();
    static uint8_t pixels[3 * 640 * 480];
    ct_movie* movie = NULL;
    ct_error error;
    assert_int_equal(ct_movie_create(&movie, CT_BINARY_DIR "/no/such/test.mp4", 640, 480, 25, &error), CT_OK);
    for (int k = 0; k < 20 && ct_movie_append(movie, pixels, &error) == CT_OK; k++) {
    }
    assert_int_equal(ct_movie_close(movie, &error), CT_IO);
    assert_non_null(strstr(error.message, "No such file"));
}

static void movie_without_ffmpeg_is_a_clear_error(void** unused) {
    char* old = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    setenv("PATH", "/nonexistent", 1);
    ct_movie* movie = NULL;
    ct_error error;
    assert_int_equal(ct_movie_create(&movie, CT_BINARY_DIR "/test.mp4", 64, 48, 25, &error), CT_UNSUPPORTED);
    if (old) setenv("PATH", old, 1);
    free(old);
    assert_null(movie);
    assert_non_null(strstr(error.message, "ffmpeg"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(export_vtu_is_read_back_exactly),
        cmocka_unit_test(export_pvd_lists_the_times),
        cmocka_unit_test(export_vtu_offsets_lead_to_their_blocks),
        cmocka_unit_test(export_obj_holds_the_surface),
        cmocka_unit_test(export_refuses_frames_that_are_not_there),
        cmocka_unit_test(png_is_read_back_exactly),
        cmocka_unit_test(movie_is_an_mp4_file),
        cmocka_unit_test(movie_says_what_ffmpeg_said),
        cmocka_unit_test(movie_without_ffmpeg_is_a_clear_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
