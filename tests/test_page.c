// The data of pages: what a browser decodes is what the trajectory holds, to the rounding that is promised.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cuttle.h"
#include "unit.h"

static const char beam[] =
    "{\"name\": \"beam\", \"time_step\": 0.01, \"gravity\": [0, -9.81, 0],"
    "\"bodies\": [{\"box\": {\"size\": [0.5, 0.1, 0.1], \"cells\": [6, 1, 1]}, \"material\": {\"young\": "
    "1e5}}],"
    "\"obstacles\": [{\"name\": \"floor\", \"plane\": {\"point\": [0, -0.2, 0], \"normal\": [0, 1, 0]}}],"
    "\"muscles\": [{\"name\": \"pull\", \"body\": 0, \"points\": [[0, 0.08, 0.05], [0.5, 0.08, 0.05]], "
    "\"radius\": 0.2,"
    "\"segments\": 2, \"stiffness\": 1e4, \"activation\": 0.75}],"
    "\"pins\": [{\"select\": {\"box\": [[-1, -1, -1], [0.001, 1, 1]]}}]}";

typedef struct fixture {
    char path[64], scene_path[64];
    ct_scene* scene;
    ct_model* model;
    ct_state* state;
    ct_work* work;
    ct_trajectory* file;
} fixture;

static void make(fixture* f, int frames) {
    ct_error error;
    ct_step_report report = {0};
    *f = (fixture){0};
    snprintf(f->path, sizeof f->path, "/tmp/test_page_%d.h5", getpid());
    snprintf(f->scene_path, sizeof f->scene_path, "/tmp/test_page_%d.json", getpid());
    FILE* stream = fopen(f->scene_path, "w");
    assert_non_null(stream);
    fputs(beam, stream);
    fclose(stream);
    int status = ct_scene_load(&f->scene, f->scene_path, &error);
    if (status) fail_msg("%s: %s", error.path, error.message);
    assert_int_equal(ct_model_create(&f->model, f->scene, &error), CT_OK);
    assert_int_equal(ct_state_create(&f->state, f->model, NULL), CT_OK);
    assert_int_equal(ct_work_create(&f->work, f->model, 1, NULL), CT_OK);
    assert_int_equal(ct_trajectory_create(&f->file, f->scene, f->model, f->path, &error), CT_OK);
    for (int k = 0; k < frames; k++) {
        assert_int_equal(ct_trajectory_append(f->file, f->model, f->state, k ? &report : NULL, &error),
                         CT_OK);
        assert_int_equal(ct_step(f->model, f->work, f->state, NULL, &report), CT_OK);
    }
    assert_int_equal(ct_trajectory_close(f->file, &error), CT_OK);
    assert_int_equal(ct_trajectory_open(&f->file, f->path, &error), CT_OK);
}

static void drop(fixture* f) {
    ct_trajectory_close(f->file, NULL);
    ct_work_free(f->work);
    ct_state_free(f->state);
    ct_model_free(f->model);
    ct_scene_free(f->scene);
    unlink(f->path);
    unlink(f->scene_path);
}

typedef struct decoded {
    uint8_t* all;
    size_t size, start;
    json_t* header;
} decoded;

static decoded decode(const uint8_t* bytes, size_t size) {
    decoded d = {0};
    uLongf length = 1 << 22;
    uint32_t json;
    d.all = malloc(length);
    assert_non_null(d.all);
    assert_int_equal(uncompress(d.all, &length, bytes, (uLong)size), Z_OK);
    d.size = length;
    assert_memory_equal(d.all, "CTPG", 4);
    memcpy(&json, d.all + 4, 4);
    d.header = json_loadb((char*)d.all + 8, json, 0, NULL);
    assert_non_null(d.header);
    d.start = (8 + json + 7) / 8 * 8;
    return d;
}

static const void* array(const decoded* d, const char* name, size_t* bytes) {
    json_t* entry = json_object_get(json_object_get(d->header, "arrays"), name);
    assert_non_null(entry);
    *bytes = (size_t)json_integer_value(json_object_get(entry, "bytes"));
    size_t at = d->start + (size_t)json_integer_value(json_object_get(entry, "offset"));
    assert_true(at + *bytes <= d->size);
    return d->all + at;
}

static double number(const decoded* d, const char* key, int k) {
    json_t* value = json_object_get(d->header, key);
    return json_number_value(json_is_array(value) ? json_array_get(value, (size_t)k) : value);
}

static void drop_decoded(decoded* d) {
    json_decref(d->header);
    free(d->all);
}

// The decoder of web/src/data.js, in C.
static void undo(const uint8_t* low, const uint8_t* high, int nframe, size_t count, uint16_t* q) {
    for (int k = 0; k < nframe; k++) {
        uint16_t neighbour = 0, *now = q + (size_t)k * count;
        for (size_t i = 0; i < count; i++) {
            uint16_t folded = (uint16_t)(low[(size_t)k * count + i] | high[(size_t)k * count + i] << 8);
            uint16_t r = (uint16_t)((folded >> 1) ^ (folded & 1 ? 0xffff : 0)), expected = neighbour;
            if (k == 1) expected = now[i - count];
            if (k > 1) expected = (uint16_t)(2 * (now - count)[i] - (now - 2 * count)[i]);
            now[i] = neighbour = (uint16_t)(expected + r);
        }
    }
}

static void positions_come_back_to_half_a_step_of_the_grid(void** unused) {
    fixture f;
    ct_error error;
    uint8_t* bytes;
    size_t size, nlow, nhigh, nnode;
    enum { FRAMES = 40 };
    make(&f, FRAMES);
    ct_page_def def = ct_page_def_default();
    def.interior = true;
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_OK);
    decoded d = decode(bytes, size);
    const uint8_t *low = array(&d, "x_low", &nlow), *high = array(&d, "x_high", &nhigh);
    const int* node = array(&d, "node", &nnode);
    nnode /= sizeof(int);
    assert_int_equal(nlow, 3 * nnode * FRAMES);
    assert_int_equal(nhigh, nlow);
    uint16_t* q = malloc(nlow * sizeof *q);
    undo(low, high, FRAMES, 3 * nnode, q);
    double worst = 0, moved = 0;
    for (int k = 0; k < FRAMES; k++) {
        ct_frame frame;
        assert_int_equal(ct_trajectory_read(f.file, k, &frame, &error), CT_OK);
        for (size_t i = 0; i < nnode; i++)
            for (int a = 0; a < 3; a++) {
                double step = (number(&d, "high", a) - number(&d, "low", a)) / 65535;
                double x = number(&d, "low", a) + step * q[3 * nnode * (size_t)k + (size_t)a * nnode + i];
                worst = fmax(worst, fabs(x - frame.x[3 * node[i] + a]) / step);
                moved =
                    fmax(moved, fabs(frame.x[3 * node[i] + a] - ct_trajectory_rest(f.file)[3 * node[i] + a]));
            }
    }
    assert_true(worst <= 0.5001);
    assert_true(moved > 0.01);
    free(q);
    drop_decoded(&d);
    ct_free(bytes);
    drop(&f);
}

static void muscles_and_curves_come_with_the_scene_alone(void** unused) {
    fixture f;
    ct_error error;
    uint8_t* bytes;
    size_t size, length;
    make(&f, 5);
    ct_page_def def = ct_page_def_default();
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_OK);
    decoded d = decode(bytes, size);
    assert_int_equal(json_array_size(json_object_get(d.header, "segments")), 0);
    assert_int_equal(json_array_size(json_object_get(d.header, "curves")), 0);
    assert_int_equal(json_array_size(json_object_get(d.header, "missing")), 1);
    drop_decoded(&d);
    ct_free(bytes);
    def.scene = f.scene;
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_OK);
    d = decode(bytes, size);
    assert_int_equal(json_array_size(json_object_get(d.header, "segments")), 2);
    assert_int_equal(json_array_size(json_object_get(d.header, "missing")), 0);
    const float* curves = array(&d, "curves", &length);
    size_t ncurve = json_array_size(json_object_get(d.header, "curves"));
    assert_int_equal(length, 5 * ncurve * sizeof *curves);
    assert_true(curves[0] == 0 && curves[ncurve] > 0);                         // kinetic
    assert_true(fabs(curves[4 * ncurve + 5]) > 2 * fabs(curves[ncurve + 5]));  // falls
    drop_decoded(&d);
    ct_free(bytes);
    drop(&f);
}

// At rest the two segments of the muscle are the halves of the beam, along x.
static void muscles_come_back_to_a_step_of_their_grid(void** unused) {
    fixture f;
    ct_error error;
    uint8_t* bytes;
    size_t size, nlow, nhigh, nactive;
    enum { FRAMES = 12, SEGMENTS = 2 };
    make(&f, FRAMES);
    ct_page_def def = ct_page_def_default();
    def.scene = f.scene;
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_OK);
    decoded d = decode(bytes, size);
    const uint8_t *low = array(&d, "ends_low", &nlow), *high = array(&d, "ends_high", &nhigh);
    assert_int_equal(nlow, 6 * SEGMENTS * FRAMES);
    assert_int_equal(nhigh, nlow);
    uint16_t q[6 * SEGMENTS * FRAMES];
    undo(low, high, FRAMES, 6 * SEGMENTS, q);
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < SEGMENTS; k++) {
            double step = (number(&d, "high", a) - number(&d, "low", a)) / 4095;
            double along = step * (q[4 * a + 2 * k + 1] - q[4 * a + 2 * k]);
            assert_true(fabs(along - (a == 0 ? 0.25 : 0)) <= 1.01 * step + 1e-9);
            assert_true(q[6 * SEGMENTS * (FRAMES - 1) + 4 * a + 2 * k] <= 4095);
        }
    assert_true(q[6 * SEGMENTS * (FRAMES - 1) + 6] < q[6]);  // falls
    const uint8_t* active = array(&d, "activation", &nactive);
    assert_int_equal(nactive, SEGMENTS * FRAMES);
    assert_int_equal(active[0], lrint(0.75 * 127));
    for (size_t i = 1; i < nactive; i++) assert_int_equal(active[i], 0);  // residuals
    drop_decoded(&d);
    ct_free(bytes);
    drop(&f);
}

static void another_motion_than_the_scenes_shows_no_energies(void** unused) {
    fixture f;
    ct_error error;
    uint8_t* bytes;
    size_t size;
    make(&f, 5);
    ct_settings settings = ct_scene_settings(f.scene);
    settings.gravity[1] = -1;
    assert_int_equal(ct_scene_set_settings(f.scene, &settings, &error), CT_OK);
    ct_page_def def = ct_page_def_default();
    def.scene = f.scene;
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_OK);
    decoded d = decode(bytes, size);
    assert_int_equal(json_array_size(json_object_get(d.header, "curves")), 0);
    assert_int_equal(json_array_size(json_object_get(d.header, "missing")), 1);
    drop_decoded(&d);
    ct_free(bytes);
    drop(&f);
}

static void a_stride_keeps_the_last_frame(void** unused) {
    fixture f;
    ct_error error;
    uint8_t* bytes;
    size_t size, length;
    make(&f, 6);
    ct_page_def def = ct_page_def_default();
    def.stride = 4;
    def.fields = "";
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_OK);
    decoded d = decode(bytes, size);
    const double* time = array(&d, "time", &length);
    assert_int_equal(length, 3 * sizeof *time);
    assert_true(fabs(time[1] - 0.04) < 1e-12 && fabs(time[2] - 0.05) < 1e-12);
    drop_decoded(&d);
    ct_free(bytes);
    drop(&f);
}

static void a_live_frame_has_the_state(void** unused) {
    fixture f;
    ct_error error;
    const uint8_t* bytes;
    size_t size;
    make(&f, 3);
    ct_page* page;
    ct_page_def def = ct_page_def_default();
    assert_int_equal(ct_page_create(&page, f.scene, f.model, &def, &error), CT_OK);
    assert_int_equal(ct_page_start(page, &bytes, &size, &error), CT_OK);
    decoded d = decode(bytes, size);
    int nnode = (int)number(&d, "nodes", 0);
    drop_decoded(&d);
    assert_int_equal(ct_page_frame(page, f.state, NULL, NULL, &bytes, &size, &error), CT_OK);
    double time;
    memcpy(&time, bytes, sizeof time);
    assert_true(time == ct_state_time(f.state));
    for (int i = 0; i < nnode; i++) {
        float x;
        memcpy(&x, bytes + 16 + 12 * (size_t)i, sizeof x);
        assert_true(x == (float)ct_state_positions(f.state)[3 * ct_page_node(page, i)]);
    }
    assert_int_equal(ct_page_node(page, nnode), -1);
    assert_int_equal(ct_page_node(page, -1), -1);
    ct_page_free(page);
    drop(&f);
}

static void what_makes_no_sense_is_refused(void** unused) {
    fixture f;
    ct_error error;
    uint8_t* bytes;
    size_t size;
    make(&f, 2);
    ct_page_def def = ct_page_def_default();
    def.fields = "stress,heat";
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "heat"));
    def = ct_page_def_default();
    def.stride = 0;
    assert_int_equal(ct_page_data(f.file, &def, &bytes, &size, &error), CT_BAD_ARGUMENT);
    assert_null(bytes);
    if (!ct_page_available()) {
        def = ct_page_def_default();
        assert_int_equal(ct_page_write(&f.file, 1, &def, "/tmp/never.html", &error), CT_BAD_ARGUMENT);
        assert_non_null(strstr(error.message, "npm"));
    }
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_come_back_to_half_a_step_of_the_grid),
        cmocka_unit_test(muscles_and_curves_come_with_the_scene_alone),
        cmocka_unit_test(muscles_come_back_to_a_step_of_their_grid),
        cmocka_unit_test(another_motion_than_the_scenes_shows_no_energies),
        cmocka_unit_test(a_stride_keeps_the_last_frame),
        cmocka_unit_test(a_live_frame_has_the_state),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
