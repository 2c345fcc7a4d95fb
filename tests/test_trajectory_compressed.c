// Compressed trajectories: numbers are rounded as promised, states are not; kills and flipped bits do no more
// harm than in other files.
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "repeat.h"
#include "synthetic.h"
#include "unit.h"

#define NSTATE 500
#define FILE_NAME CT_BINARY_DIR "/test_trajectory_compressed.h5"

static ct_trajectory_def describe(const synthetic* s, bool compressed) {
    ct_trajectory_def def = synthetic_def(s, NSTATE * sizeof(double));
    def.info.compressed = compressed;
    def.frames = 1000;
    return def;
}

static off_t write_frames(synthetic* s, bool compressed, int count) {
    double state[NSTATE];
    ct_trajectory_def def = describe(s, compressed);
    ct_trajectory* file = NULL;
    ct_error error;
    assert_int_equal(ct_trajectory_create_arrays(&file, FILE_NAME, &def, &error), CT_OK);
    for (int k = 0; k < count; k++) {
        ct_trajectory_sample sample = synthetic_frame(s, k, state, NSTATE);
        assert_int_equal(ct_trajectory_append_sample(file, &sample, &error), CT_OK);
    }
    assert_int_equal(ct_trajectory_close(file, &error), CT_OK);
    struct stat about;
    assert_int_equal(stat(FILE_NAME, &about), 0);
    return about.st_size;
}

static void expect_frame(ct_trajectory* file, synthetic* s, int k) {
    ct_frame frame;
    ct_error error;
    assert_int_equal(ct_trajectory_read(file, k, &frame, &error), CT_OK);
    ct_trajectory_sample want = synthetic_frame(s, k, NULL, 0);
    assert_true(frame.time == want.time && frame.step == want.step);
    for (int i = 0; i < 3 * s->nvert; i++)
        assert_true(frame.x[i] == (float)want.x[i] && frame.v[i] == (float)want.v[i]);
}

static void compressed_frames_are_single_and_fields_rounded(void** unused) {
    synthetic s = synthetic_grid(9, 6, 6, false);
    const off_t plain = write_frames(&s, false, 20), small = write_frames(&s, true, 20);
    print_message("20 frames of %d nodes: %lld bytes, compressed %lld\n", s.nvert, (long long)plain,
                  (long long)small);
    ct_trajectory* file = NULL;
    ct_error error;
    const double* values;
    int count;
    bool per_tet;
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    assert_true(ct_trajectory_summary(file).compressed && file->info.nframe == 20);
    for (int k = 19; k >= 0; k--) expect_frame(file, &s, k);
    assert_int_equal(ct_trajectory_read_field(file, 7, "displacement", &values, &count, &per_tet, &error),
                     CT_OK);
    synthetic_frame(&s, 7, NULL, 0);
    for (int i = 0; i < count; i++) assert_true(values[i] == (float)s.x[i] - s.rest[i]);
    assert_int_equal(ct_trajectory_read_field(file, 7, "stress", &values, &count, &per_tet, &error), CT_OK);
    assert_true(per_tet && count == s.ntet);
    for (int i = 0; i < count; i++) {
        if (fabs(values[i] - s.field[i]) > fabs(s.field[i]) / 8192 + 1e-30) fail_msg("%.9g", s.field[i]);
        assert_true(ldexp(frexp(values[i], &(int){0}), 13) == rint(ldexp(frexp(values[i], &(int){0}), 13)));
    }
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
}

static void compressed_files_resume_with_the_exact_state(void** unused) {
    synthetic s = synthetic_grid(9, 6, 6, false);
    write_frames(&s, true, 5);
    double state[NSTATE], want[NSTATE];
    ct_trajectory_def def = describe(&s, false);  // the file stays what it is
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

// The child tells every frame from `silent` on; the parent kills it at a random moment after the first.
static int append_until_killed(synthetic* s, int silent, long nanoseconds) {
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        double state[NSTATE];
        ct_trajectory_def def = describe(s, true);
        ct_trajectory* file = NULL;
        if (ct_trajectory_create_arrays(&file, FILE_NAME, &def, NULL)) _exit(1);
        for (int k = 0;; k++) {
            ct_trajectory_sample sample = synthetic_frame(s, k, state, NSTATE);
            if (ct_trajectory_append_sample(file, &sample, NULL)) _exit(1);
            if (k >= silent && write(tell[1], "x", 1) != 1) _exit(1);
        }
    }
    close(tell[1]);
    char one;
    assert_int_equal(read(tell[0], &one, 1), 1);
    nanosleep(&(struct timespec){0, nanoseconds}, NULL);
    kill(child, SIGKILL);
    int status, told = silent + 1;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    while (read(tell[0], &one, 1) == 1) told++;
    close(tell[0]);
    return told;
}

static void compressed_files_survive_a_kill(void** unused) {
    synthetic s = synthetic_grid(9, 6, 6, false);
    double state[NSTATE], want[NSTATE];
    for (int round = 0; round < REPEAT(12, 4); round++) {
        const int told = append_until_killed(&s, round % 4 ? 0 : 510, 1000000 + 1777777 * (round % 12));
        ct_trajectory_def def = describe(&s, true);
        ct_trajectory* file = NULL;
        ct_error error;
        assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
        const int count = file->info.nframe;
        assert_true(count == told || count == told + 1);
        ct_trajectory_close(file, NULL);
        assert_int_equal(ct_trajectory_resume_arrays(&file, FILE_NAME, &def, state, &error), CT_OK);
        synthetic_frame(&s, count - 1, want, NSTATE);
        assert_memory_equal(state, want, sizeof want);
        for (int k = count; k < count + 3; k++) {
            ct_trajectory_sample sample = synthetic_frame(&s, k, state, NSTATE);
            assert_int_equal(ct_trajectory_append_sample(file, &sample, &error), CT_OK);
        }
        for (int k = 0; k < count + 3; k += k % 512 < 500 ? 3 : 1) expect_frame(file, &s, k);
        ct_trajectory_close(file, NULL);
    }
    synthetic_free(&s);
}

// Reads all frames; false: an error was reported.
static bool reads_as_written(synthetic* s, int nframe) {
    ct_trajectory* file = NULL;
    ct_error error = {0};
    const double* values;
    int count;
    bool per_tet;
    ct_status status = ct_trajectory_open(&file, FILE_NAME, &error);
    if (!status && file->info.nframe != nframe) status = CT_BAD_FILE;  // fewer than there were
    for (int k = 0; !status && k < nframe; k++) {
        ct_frame frame;
        status = ct_trajectory_read(file, k, &frame, &error);
        if (!status) expect_frame(file, s, k);
        if (!status) status = ct_trajectory_read_field(file, k, "stress", &values, &count, &per_tet, &error);
    }
    ct_trajectory_close(file, NULL);
    return status == CT_OK;
}

static void flipped_bits_of_deflated_chunks_are_errors(void** unused) {
    synthetic s = synthetic_grid(9, 6, 6, false);
    const off_t size = write_frames(&s, true, 3);
    const int flip = REPEAT(400, 40);
    int errors = 0, raw = open(FILE_NAME, O_RDWR);
    for (int i = 0; i < flip; i++) {
        const off_t at = size * i / flip;
        unsigned char old, bad;
        assert_int_equal(pread(raw, &old, 1, at), 1);
        bad = (unsigned char)(old ^ 1 << i % 8);
        assert_int_equal(pwrite(raw, &bad, 1, at), 1);
        errors += !reads_as_written(&s, 3);
        assert_int_equal(pwrite(raw, &old, 1, at), 1);
    }
    print_message("%d of %d flips are errors, the others change nothing\n", errors, flip);
    assert_true(errors > flip / 20 && reads_as_written(&s, 3));
    close(raw);
    synthetic_free(&s);
}

// Where the index says that a chunk was stored without its filters although its bytes are deflated.
static void chunks_that_claim_not_to_be_deflated_are_errors(void** unused) {
    synthetic s = synthetic_grid(9, 6, 6, false);
    write_frames(&s, true, 3);
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT), array = H5Dopen2(raw, "VTKHDF/Points", 0);
    const hsize_t place[2] = {(hsize_t)s.nvert, 0};
    const char bytes[64] = {1, 2, 3};
    assert_true(H5Dwrite_chunk(array, H5P_DEFAULT, 3, place, sizeof bytes, bytes) >= 0);
    H5Dclose(array), H5Fclose(raw);
    ct_trajectory* file = NULL;
    ct_error error;
    ct_frame frame;
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_OK);
    assert_int_equal(ct_trajectory_read(file, 0, &frame, &error), CT_OK);
    assert_int_equal(ct_trajectory_read(file, 1, &frame, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "frame 1: /VTKHDF/Points"));
    ct_trajectory_close(file, NULL);
    synthetic_free(&s);
    unlink(FILE_NAME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressed_frames_are_single_and_fields_rounded),
        cmocka_unit_test(compressed_files_resume_with_the_exact_state),
        cmocka_unit_test(compressed_files_survive_a_kill),
        cmocka_unit_test(flipped_bits_of_deflated_chunks_are_errors),
        cmocka_unit_test(chunks_that_claim_not_to_be_deflated_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
