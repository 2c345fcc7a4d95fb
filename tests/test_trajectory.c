// Trajectory files: round trips to the last bit, kills, damage, and the VTKHDF layout read with plain HDF5
// calls.
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "synthetic.h"
#include "unit.h"

#define NSTATE 500
#define FILE_NAME CT_BINARY_DIR "/test_trajectory.h5"

static ct_trajectory* write_frames(synthetic* s, const char* path, int count) {
    double state[NSTATE];
    ct_trajectory_def def = synthetic_def(s, sizeof state);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_create_arrays(&file, path, &def, &error), CT_OK);
    for (int k = 0; k < count; k++) {
        ct_step_report report = {
            .converged = true, .iterations = k, .residual = 1.0 / (k + 1), .substeps = 1};
        ct_trajectory_sample sample = synthetic_frame(s, k, state, NSTATE);
        sample.report = &report;
        assert_int_equal(ct_trajectory_append_sample(file, &sample, &error), CT_OK);
    }
    return file;
}

static void expect_frame(ct_trajectory* file, synthetic* s, int k) {
    ct_frame frame;
    ct_error error;
    assert_int_equal(ct_trajectory_read(file, k, &frame, &error), CT_OK);
    ct_trajectory_sample want = synthetic_frame(s, k, NULL, 0);
    assert_true(frame.time == want.time && frame.step == want.step);
    assert_memory_equal(frame.x, want.x, (size_t)s->nvert * 3 * sizeof(double));
    assert_memory_equal(frame.v, want.v, (size_t)s->nvert * 3 * sizeof(double));
}

static void trajectory_reads_back_every_bit(void** unused) {
    synthetic s = synthetic_grid(3, 2, 2, false);
    assert_int_equal(ct_trajectory_close(write_frames(&s, FILE_NAME, 7), NULL), CT_OK);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    ct_trajectory_info info = ct_trajectory_summary(file);
    assert_int_equal(info.nframe, 7);
    assert_int_equal(info.nvert, s.nvert);
    assert_true(info.start == 0 && info.stop == 0.06 && isnan(info.ground) && info.time_step == 0.01);
    assert_string_equal(info.scene_name, "synthetic");
    assert_true(info.view.automatic && info.view.target[2] == 6 && info.view.field_of_view == 40);
    assert_memory_equal(ct_trajectory_rest(file), s.rest, (size_t)s.nvert * 24);
    assert_memory_equal(ct_trajectory_tets(file), s.tet, (size_t)s.ntet * 16);
    assert_memory_equal(ct_trajectory_surface(file), s.surface, (size_t)s.nsurface * 12);
    assert_true(ct_trajectory_body_color(file)[3] == 0.24);
    for (int k = 6; k >= 0; k--) expect_frame(file, &s, k);
    ct_frame_record record;
    assert_int_equal(ct_trajectory_read_into(file, 5, NULL, NULL, NULL, &record, &error), CT_OK);
    assert_true(record.iterations == 5 && record.residual == 1.0 / 6 && record.converged == 1);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void trajectory_gives_fields_by_name(void** unused) {
    synthetic s = synthetic_grid(2, 2, 2, false);
    ct_trajectory_close(write_frames(&s, FILE_NAME, 3), NULL);
    ct_trajectory* file = NULL;
    ct_error error;
    const double* values;
    int count;
    bool per_tet;
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    assert_int_equal(ct_trajectory_read_field(file, 2, "displacement", &values, &count, &per_tet, &error),
                     CT_OK);
    synthetic_frame(&s, 2, NULL, 0);
    assert_true(!per_tet && count == 3 * s.nvert);
    for (int i = 0; i < count; i++) assert_true(values[i] == s.x[i] - s.rest[i]);
    assert_int_equal(ct_trajectory_read_field(file, 1, "velocity", &values, &count, &per_tet, &error), CT_OK);
    synthetic_frame(&s, 1, NULL, 0);
    for (int i = 0; i < count; i++) assert_true(values[i] == s.v[i]);
    assert_int_equal(ct_trajectory_read_field(file, 1, "stress", &values, &count, &per_tet, &error), CT_OK);
    assert_true(per_tet && count == s.ntet);
    for (int i = 0; i < count; i++) assert_true(values[i] == (float)s.field[i]);
    assert_int_equal(ct_trajectory_read_field(file, 1, "heat", &values, &count, &per_tet, &error),
                     CT_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "displacement"));
    ct_frame frame;
    assert_int_equal(ct_trajectory_read(file, 3, &frame, &error), CT_BAD_ARGUMENT);
    assert_int_equal(ct_trajectory_read(file, -1, &frame, &error), CT_BAD_ARGUMENT);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void trajectory_resumes_with_the_last_state(void** unused) {
    synthetic s = synthetic_grid(3, 2, 2, false);
    ct_trajectory_close(write_frames(&s, FILE_NAME, 5), NULL);
    double state[NSTATE], want[NSTATE];
    ct_trajectory_def def = synthetic_def(&s, sizeof state);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_resume_arrays(&file, FILE_NAME, &def, state, &error), CT_OK);
    synthetic_frame(&s, 4, want, NSTATE);
    assert_memory_equal(state, want, sizeof want);
    for (int k = 5; k < 9; k++) {
        ct_trajectory_sample sample = synthetic_frame(&s, k, state, NSTATE);
        assert_int_equal(ct_trajectory_append_sample(file, &sample, &error), CT_OK);
    }
    for (int k = 0; k < 9; k++) expect_frame(file, &s, k);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void trajectory_refuses_another_scene(void** unused) {
    synthetic s = synthetic_grid(3, 2, 2, false);
    ct_trajectory_close(write_frames(&s, FILE_NAME, 2), NULL);
    double state[NSTATE];
    s.rest[4] += 1e-12;
    ct_trajectory_def def = synthetic_def(&s, sizeof state);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_resume_arrays(&file, FILE_NAME, &def, state, &error), CT_BAD_ARGUMENT);
    assert_null(file);
    assert_non_null(strstr(error.message, "another scene"));
    synthetic_free(&s);
}

// The child appends as fast as it can and tells each frame that returned; the parent kills it at a random
// moment.
static int append_until_killed(synthetic* s, const char* path, long nanoseconds) {
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        double state[NSTATE];
        ct_trajectory_def def = synthetic_def(s, sizeof state);
        ct_trajectory* file = NULL;
        if (ct_trajectory_create_arrays(&file, path, &def, NULL)) _exit(1);
        for (int k = 0;; k++) {
            ct_trajectory_sample sample = synthetic_frame(s, k, state, NSTATE);
            if (ct_trajectory_append_sample(file, &sample, NULL)) _exit(1);
            if (write(tell[1], "x", 1) != 1) _exit(1);
        }
    }
    close(tell[1]);
    char one;
    assert_int_equal(read(tell[0], &one, 1), 1);
    struct timespec pause = {0, nanoseconds};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    int status, told = 1;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    while (read(tell[0], &one, 1) == 1) told++;
    close(tell[0]);
    return told;
}

static void trajectory_survives_a_kill(void** unused) {
    synthetic s = synthetic_grid(4, 3, 3, false);
    double state[NSTATE], want[NSTATE];
    for (int round = 0; round < 24; round++) {
        int told = append_until_killed(&s, FILE_NAME, 1000000 + 3777777 * (round % 12));
        ct_trajectory_def def = synthetic_def(&s, sizeof state);
        ct_trajectory* file = NULL;
        ct_error error;
        assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
        int count = file->info.nframe;
        assert_true(count == told || count == told + 1);
        for (int k = count > 8 ? count - 8 : 0; k < count; k++) expect_frame(file, &s, k);
        ct_trajectory_close(file, NULL);
        assert_int_equal(ct_trajectory_resume_arrays(&file, FILE_NAME, &def, state, &error), CT_OK);
        synthetic_frame(&s, count - 1, want, NSTATE);
        assert_memory_equal(state, want, sizeof want);
        for (int k = count; k < count + 3; k++) {
            ct_trajectory_sample sample = synthetic_frame(&s, k, state, NSTATE);
            assert_int_equal(ct_trajectory_append_sample(file, &sample, &error), CT_OK);
        }
        for (int k = 0; k < count + 3; k++) expect_frame(file, &s, k);
        ct_trajectory_close(file, NULL);
    }
    synthetic_free(&s);
}

static void trajectory_grows_past_its_index_nodes(void** unused) {
    synthetic s = synthetic_grid(1, 1, 1, false);
    int count = 1300;  // more than two chunks of the longest kind
    ct_trajectory* file = write_frames(&s, FILE_NAME, count);
    for (int k = 0; k < count; k += 13) expect_frame(file, &s, k);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void trajectory_can_be_watched_while_written_but_not_written_twice(void** unused) {
    synthetic s = synthetic_grid(2, 2, 2, false);
    pid_t child;
    int told[2];
    assert_int_equal(pipe(told), 0);
    if ((child = fork()) == 0) {
        alarm(20);  // in case the parent fails before it ends this process
        write_frames(&s, FILE_NAME, 3);
        if (write(told[1], "x", 1) == 1) pause();
        _exit(0);
    }
    char one;
    assert_int_equal(read(told[0], &one, 1), 1);
    ct_trajectory* file = NULL;
    ct_error error;
    double state[NSTATE];
    ct_trajectory_def def = synthetic_def(&s, sizeof state);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    assert_int_equal(file->info.nframe, 3);
    ct_trajectory_close(file, NULL);
    assert_int_equal(ct_trajectory_resume_arrays(&file, FILE_NAME, &def, state, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "another process"));
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, &error), CT_IO);
    assert_non_null(strstr(error.message, "another run"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(told[0]);
    close(told[1]);
    synthetic_free(&s);
}

// Programs that look at a trajectory hold a shared lock (HDF5's); they keep what they opened.
static void trajectory_that_is_being_read_can_be_replaced(void** unused) {
    synthetic s = synthetic_grid(2, 2, 2, false);
    ct_trajectory_close(write_frames(&s, FILE_NAME, 2), NULL);
    int reader = open(FILE_NAME, O_RDONLY);
    assert_true(reader >= 0);
    assert_int_equal(flock(reader, LOCK_SH | LOCK_NB), 0);
    ct_trajectory* file = write_frames(&s, FILE_NAME, 3);
    assert_int_equal(file->info.nframe, 3);
    ct_trajectory_close(file, NULL);
    close(reader);
    synthetic_free(&s);
}

static void write_bytes(const char* path, const void* bytes, size_t size) {
    FILE* stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

static void trajectory_explains_files_that_are_not_its_own(void** unused) {
    const char* path = CT_BINARY_DIR "/test_foreign.h5";
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_open(&file, CT_BINARY_DIR "/no_such_file.h5", &error), CT_IO);
    assert_non_null(strstr(error.message, "does not exist"));
    write_bytes(path, "hello world\n", 12);
    assert_int_equal(ct_trajectory_open(&file, path, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "not an HDF5 file"));
    hid_t other = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(other);
    assert_int_equal(ct_trajectory_open(&file, path, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "not a Cuttle trajectory"));
    assert_null(file);
    assert_string_equal(error.file, path);
    unlink(path);
}

static void trajectory_leaves_an_old_file_alone_when_it_cannot_start(void** unused) {
    synthetic s = synthetic_grid(1, 1, 1, false);
    ct_trajectory_def def = synthetic_def(&s, 8);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_create_arrays(&file, CT_BINARY_DIR "/no/such/run.h5", &def, &error),
                     CT_IO);
    assert_non_null(strstr(error.message, "mkdir"));
    assert_int_equal(ct_trajectory_create_arrays(&file, CT_BINARY_DIR, &def, &error), CT_IO);
    assert_null(file);
    ct_trajectory_close(write_frames(&s, FILE_NAME, 2), NULL);
    char part[600];
    snprintf(part, sizeof part, "%s.%ld.part", FILE_NAME, (long)getpid());
    mkdir(part, 0755);  // in the way of the new file
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, &error), CT_IO);
    rmdir(part);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    assert_int_equal(file->info.nframe, 2);
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

// HDF5 loses an object whose header fails its checksum.
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) { return "leak:libhdf5"; }

// Reads everything that can be read; the statuses do not matter, the absence of a crash does.
static void read_everything(const char* path) {
    ct_trajectory* file = NULL;
    ct_error error;
    if (ct_trajectory_open(&file, path, &error)) {
        assert_true(error.message[0] != 0);
        return;
    }
    static const char* const names[] = {"displacement", "velocity", "stress", "energy", "volume"};
    for (int k = 0; k < file->info.nframe; k++) {
        ct_frame frame;
        ct_trajectory_read(file, k, &frame, &error);
        for (int n = 0; n < 5; n++) {
            const double* values;
            int count;
            bool per_tet;
            ct_trajectory_read_field(file, k, names[n], &values, &count, &per_tet, &error);
        }
    }
    ct_trajectory_close(file, NULL);
}

static void trajectory_survives_truncation_and_damage(void** unused) {
    const char* path = CT_BINARY_DIR "/test_damaged.h5";
    synthetic s = synthetic_grid(1, 1, 1, false);
    ct_trajectory_close(write_frames(&s, FILE_NAME, 3), NULL);
    struct stat about;
    assert_int_equal(stat(FILE_NAME, &about), 0);
    size_t size = (size_t)about.st_size;
    char* bytes = malloc(size);
    FILE* stream = fopen(FILE_NAME, "rb");
    assert_int_equal(fread(bytes, 1, size, stream), size);
    fclose(stream);
    for (int k = 0; k < 60; k++) {
        write_bytes(path, bytes, size * (size_t)k / 60);
        read_everything(path);
    }
    // Flip bytes of the header arrays, where the counts and indices are.
    uint32_t random = 12345;
    for (int k = 0; k < 300; k++) {
        random = random * 1664525u + 1013904223u;
        size_t at = 2048 + random % 60000;
        if (at >= size) continue;
        char old = bytes[at];
        bytes[at] = (char)(old ^ (1 << (random >> 29)));
        write_bytes(path, bytes, size);
        read_everything(path);
        bytes[at] = old;
    }
    free(bytes);
    unlink(path);
    synthetic_free(&s);
}

// ---- The layout, against the VTKHDF 2.0 specification, with HDF5 alone ----

static hid_t raw;

static void expect_shape(const char* name, H5T_class_t class, size_t bytes, hsize_t rows, hsize_t columns) {
    hid_t array = H5Dopen2(raw, name, H5P_DEFAULT);
    assert_true(array >= 0);
    hid_t space = H5Dget_space(array), type = H5Dget_type(array);
    hsize_t size[4] = {0};
    assert_int_equal(H5Sget_simple_extent_ndims(space), columns ? 2 : 1);
    H5Sget_simple_extent_dims(space, size, NULL);
    assert_int_equal(size[0], rows);
    if (columns) assert_int_equal(size[1], columns);
    assert_int_equal(H5Tget_class(type), class);
    assert_int_equal(H5Tget_size(type), bytes);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(array);
}

static void expect_integers(const char* name, int count, int64_t first, int64_t stride) {
    int64_t values[64];
    expect_shape(name, H5T_INTEGER, 8, (hsize_t)count, 0);
    hid_t array = H5Dopen2(raw, name, H5P_DEFAULT);
    H5Dread(array, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    for (int k = 0; k < count; k++) assert_int_equal(values[k], first + k * stride);
    H5Dclose(array);
}

static void trajectory_follows_the_vtkhdf_layout(void** unused) {
    synthetic s = synthetic_grid(2, 1, 1, false);
    int n = 4;
    ct_trajectory_close(write_frames(&s, FILE_NAME, n), NULL);
    raw = H5Fopen(FILE_NAME, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t group = H5Gopen2(raw, "VTKHDF", H5P_DEFAULT), steps = H5Gopen2(raw, "VTKHDF/Steps", H5P_DEFAULT);
    int version[2], nsteps;
    char type[17] = "";
    assert_true(ct_hdf_read_attribute(group, "Version", H5T_NATIVE_INT, 2, version));
    assert_true(version[0] == 2);
    assert_true(ct_hdf_read_text(group, "Type", type, sizeof type));
    assert_string_equal(type, "UnstructuredGrid");
    assert_true(ct_hdf_read_attribute(steps, "NSteps", H5T_NATIVE_INT, 1, &nsteps));
    assert_int_equal(nsteps, n);
    expect_integers("VTKHDF/NumberOfPoints", 1, s.nvert, 0);
    expect_integers("VTKHDF/NumberOfCells", 1, s.ntet, 0);
    expect_integers("VTKHDF/NumberOfConnectivityIds", 1, 4 * s.ntet, 0);
    expect_integers("VTKHDF/Offsets", s.ntet + 1, 0, 4);
    expect_shape("VTKHDF/Connectivity", H5T_INTEGER, 8, (hsize_t)(4 * s.ntet), 0);
    expect_shape("VTKHDF/Types", H5T_INTEGER, 1, (hsize_t)s.ntet, 0);
    expect_shape("VTKHDF/Points", H5T_FLOAT, 8, (hsize_t)(n * s.nvert), 3);
    expect_shape("VTKHDF/PointData/velocity", H5T_FLOAT, 8, (hsize_t)(n * s.nvert), 3);
    expect_shape("VTKHDF/PointData/displacement", H5T_FLOAT, 4, (hsize_t)(n * s.nvert), 3);
    expect_shape("VTKHDF/CellData/stress", H5T_FLOAT, 4, (hsize_t)(n * s.ntet), 0);
    expect_shape("VTKHDF/CellData/energy", H5T_FLOAT, 4, (hsize_t)(n * s.ntet), 0);
    expect_shape("VTKHDF/CellData/volume", H5T_FLOAT, 4, (hsize_t)(n * s.ntet), 0);
    expect_shape("VTKHDF/CellData/body", H5T_INTEGER, 4, (hsize_t)s.ntet, 0);
    expect_shape("VTKHDF/CellData/tag", H5T_INTEGER, 4, (hsize_t)s.ntet, 0);
    expect_shape("VTKHDF/Steps/Values", H5T_FLOAT, 8, (hsize_t)n, 0);
    expect_integers("VTKHDF/Steps/NumberOfParts", n, 1, 0);
    expect_integers("VTKHDF/Steps/PartOffsets", n, 0, 0);
    expect_integers("VTKHDF/Steps/CellOffsets", n, 0, 0);
    expect_integers("VTKHDF/Steps/ConnectivityIdOffsets", n, 0, 0);
    expect_integers("VTKHDF/Steps/PointOffsets", n, 0, s.nvert);
    expect_integers("VTKHDF/Steps/PointDataOffsets/velocity", n, 0, s.nvert);
    expect_integers("VTKHDF/Steps/PointDataOffsets/displacement", n, 0, s.nvert);
    expect_integers("VTKHDF/Steps/CellDataOffsets/stress", n, 0, s.ntet);
    expect_integers("VTKHDF/Steps/CellDataOffsets/energy", n, 0, s.ntet);
    expect_integers("VTKHDF/Steps/CellDataOffsets/volume", n, 0, s.ntet);
    expect_integers("VTKHDF/Steps/CellDataOffsets/body", n, 0, 0);
    expect_integers("VTKHDF/Steps/CellDataOffsets/tag", n, 0, 0);
    H5Gclose(steps);
    H5Gclose(group);
    H5Fclose(raw);
    synthetic_free(&s);
}

// A loose bound, so that a flush of whole chunks or a conversion in HDF5 is noticed.
static void trajectory_appends_a_large_frame_quickly(void** unused) {
    synthetic s = synthetic_grid(12, 12, 12, false);  // 10368 tets
    double* state = calloc((size_t)s.nvert * 9, sizeof(double));
    ct_trajectory_def def = synthetic_def(&s, (size_t)s.nvert * 9 * sizeof(double));
    ct_trajectory* file = NULL;
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, NULL), CT_OK);
    ct_trajectory_sample sample = synthetic_frame(&s, 1, state, s.nvert * 9);
    double best = 1, sum = 0;
    for (int k = 0; k < 200; k++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        assert_int_equal(ct_trajectory_append_sample(file, &sample, NULL), CT_OK);
        clock_gettime(CLOCK_MONOTONIC, &b);
        double seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        if (seconds < best) best = seconds;
        sum += seconds;
    }
    print_message("append of 10k tets: best %.3f ms, mean %.3f ms\n", 1e3 * best, 1e3 * sum / 200);
    assert_true(best < 0.005);
    ct_trajectory_close(file, NULL);
    free(state);
    unlink(FILE_NAME);
    synthetic_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectory_reads_back_every_bit),
        cmocka_unit_test(trajectory_gives_fields_by_name),
        cmocka_unit_test(trajectory_resumes_with_the_last_state),
        cmocka_unit_test(trajectory_refuses_another_scene),
        cmocka_unit_test(trajectory_survives_a_kill),
        cmocka_unit_test(trajectory_grows_past_its_index_nodes),
        cmocka_unit_test(trajectory_can_be_watched_while_written_but_not_written_twice),
        cmocka_unit_test(trajectory_that_is_being_read_can_be_replaced),
        cmocka_unit_test(trajectory_explains_files_that_are_not_its_own),
        cmocka_unit_test(trajectory_leaves_an_old_file_alone_when_it_cannot_start),
        cmocka_unit_test(trajectory_survives_truncation_and_damage),
        cmocka_unit_test(trajectory_follows_the_vtkhdf_layout),
        cmocka_unit_test(trajectory_appends_a_large_frame_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
