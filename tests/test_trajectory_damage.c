// Damaged trajectory files: whichever bit flips, reading gives an error or the same numbers, and never a
// crash.
//
// CUTTLE_DAMAGE=all flips every byte that was written (minutes); otherwise it is the number of flips.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build.h"
#include "old_file.h"
#include "out/trajectory.h"
#include "repeat.h"
#include "scene_text.h"

#define FILE_NAME CT_BINARY_DIR "/test_trajectory_damage.h5"

// Flesh on the ground, a sheet, a link of its own, a cable.
static const char* const text =
    "{\"name\": \"everything\", \"up\": \"y\", \"gravity\": [0, -9.81, 0], \"time_step\": 0.01,"
    "\"bodies\": [{\"name\": \"cube\", \"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [1, 1, 1]}},"
    "{\"name\": \"cloth\", \"sheet\": {\"size\": [0.1, 0.1], \"cells\": [1, 1]}, \"translate\": [0.5, 0.2, "
    "0],"
    "\"material\": {\"thickness\": 0.001}}],"
    "\"obstacles\": [{\"name\": \"ground\", \"plane\": {\"point\": [0, 0, 0], \"normal\": [0, 1, 0]}},"
    "{\"name\": \"ball\", \"sphere\": {\"center\": [2, 0, 0], \"radius\": 0.3}}],"
    "\"skeletons\": [{\"links\": [{\"name\": \"rod\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, "
    "1],"
    "\"anchor\": [1, 1, 0]}, \"mass\": 1, \"center\": [1.2, 1, 0],"
    "\"inertia\": [0.01, 0.01, 0.01]}]}],"
    "\"cables\": [{\"name\": \"string\", \"eyelets\": [{\"point\": [0.05, 0.3, 0.05]},"
    "{\"body\": \"cube\", \"point\": [0.05, 0.09, 0.05]}], \"tension\": 0.1}]}";

static void record(int frames) {
    ct_scene* scene = parse(text);
    sim s = start(scene, 1);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    ct_step_report report = {.converged = true};
    must(ct_trajectory_create(&file, scene, s.model, FILE_NAME, &error), &error);
    for (int k = 0; k < frames; k++) {
        must(ct_trajectory_append(file, s.model, s.state, &report, &error), &error);
        must(ct_step(s.model, s.work, s.state, NULL, &report), NULL);
    }
    must(ct_trajectory_close(file, &error), &error);
    stop(&s);
}

static void add(uint64_t* sum, const void* bytes, size_t size) {
    *sum = (*sum << 1 | *sum >> 63) ^ ct_hdf_hash(bytes, size);
}
static void add_text(uint64_t* sum, const char* words) { add(sum, words, strlen(words)); }

static void add_fixed(ct_trajectory* file, uint64_t* sum) {
    const ct_trajectory_info info = ct_trajectory_summary(file);
    const int counts[] = {info.nvert,  info.ntet,    info.nsurface, info.nbody,     info.nframe,
                          info.up,     info.nlink,   info.ncavity,  info.ntri,      info.ncoordinate,
                          info.ncable, info.contact, info.neyelet,  info.nobstacle, (int)info.ncontact};
    const double reals[] = {
        info.ground,         info.time_step,         info.start, info.stop, info.view.eye[0],
        info.view.target[1], info.view.field_of_view};
    add(sum, counts, sizeof counts), add(sum, reals, sizeof reals);
    add_text(sum, info.scene_file), add_text(sum, info.scene_name);
    add(sum, ct_trajectory_rest(file), 24 * (size_t)info.nvert);
    add(sum, ct_trajectory_tets(file), 16 * (size_t)info.ntet);
    add(sum, ct_trajectory_tet_body(file), 4 * (size_t)info.ntet);
    add(sum, ct_trajectory_tris(file), 12 * (size_t)info.ntri);
    add(sum, ct_trajectory_surface(file), 12 * (size_t)info.nsurface);
    add(sum, ct_trajectory_surface_owner(file), 4 * (size_t)info.nsurface);
    add(sum, ct_trajectory_body_color(file), 24 * (size_t)info.nbody);
    for (int k = 0; k < info.nbody + info.nobstacle; k++) add_text(sum, ct_trajectory_collider_name(file, k));
    for (int k = 0; k < info.nobstacle; k++) add(sum, &ct_trajectory_obstacles(file)[k].kind, 40);
    for (int k = 0; k < info.ncable; k++) add_text(sum, ct_trajectory_cable_name(file, k));
    for (int k = 0; k < info.nlink; k++) {
        const ct_link_info* link = &ct_trajectory_links(file)[k];
        add_text(sum, link->name), add(sum, &link->parent, sizeof(int)), add(sum, link->anchor, 24);
        add(sum, link->axis, 24), add(sum, link->nodes, 4 * (size_t)link->count);
    }
}

static ct_status add_frame(ct_trajectory* file, int k, uint64_t* sum, ct_error* error) {
    static const char* const names[] = {"displacement", "velocity", "stress", "energy", "volume", "contact"};
    const ct_trajectory_info info = ct_trajectory_summary(file);
    ct_frame frame;
    const double *values, *coordinates;
    const ct_contact* list;
    int count;
    bool per_tet;
    ct_status status = ct_trajectory_read(file, k, &frame, error);
    if (status) return status;
    add(sum, &frame.time, 8), add(sum, &frame.step, 8);
    add(sum, frame.x, 24 * (size_t)info.nvert), add(sum, frame.v, 24 * (size_t)info.nvert);
    for (int n = 0; n < 6 && !status; n++) {
        status = ct_trajectory_read_field(file, k, names[n], &values, &count, &per_tet, error);
        if (!status) add(sum, values, 8 * (size_t)count);
    }
    if (!status) status = ct_trajectory_read_inverted(file, k, &count, error);
    if (!status)
        add(sum, &count, sizeof count),
            status = ct_trajectory_read_links(file, k, &coordinates, &values, error);
    if (status) return status;
    add(sum, coordinates, 8 * (size_t)info.ncoordinate), add(sum, values, 96 * (size_t)info.nlink);
    status = ct_trajectory_read_obstacles(file, k, &values, error);
    if (!status)
        add(sum, values, 48 * (size_t)info.nobstacle),
            status = ct_trajectory_read_cables(file, k, &values, error);
    if (!status)
        add(sum, values, 32 * (size_t)info.neyelet),
            status = ct_trajectory_read_contacts(file, k, &list, &count, error);
    for (int i = 0; i < count && !status; i++) {
        const double reals[] = {list[i].gap, list[i].friction, list[i].force[1], list[i].normal[1],
                                list[i].position[0]};
        add(sum, list[i].node, sizeof list[i].node), add(sum, reals, sizeof reals);
    }
    return status;
}

// A sum over everything that can be read, 0: there was an error.
static uint64_t read_everything(ct_error* error) {
    ct_trajectory* file = NULL;
    uint64_t sum = 1;
    const char* scene = "";
    ct_status status = ct_trajectory_open(&file, FILE_NAME, error);
    if (!status) {
        add_fixed(file, &sum);
        status = ct_trajectory_read_scene(file, &scene, error);
        add_text(&sum, scene);
    }
    for (int k = 0; !status && k < file->info.nframe; k++) status = add_frame(file, k, &sum, error);
    ct_trajectory_close(file, NULL);
    if (status && !error->message[0]) return 1;  // an error says what is wrong
    return status ? 0 : sum;
}

typedef struct flips {  // shared with the child, which may crash
    size_t next, begun, errors, same, other, other_at;
    unsigned bits;
} flips;

static size_t load(char** bytes) {
    struct stat about;
    assert_int_equal(stat(FILE_NAME, &about), 0);
    *bytes = malloc((size_t)about.st_size);
    FILE* stream = fopen(FILE_NAME, "rb");
    assert_int_equal(fread(*bytes, 1, (size_t)about.st_size, stream), about.st_size);
    fclose(stream);
    return (size_t)about.st_size;
}

// Bytes that are not in the middle of zeros: most of the file is room for the chunks and frames to come.
static size_t find_written(const char* bytes, size_t size, size_t* list) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        bool written = false;
        for (size_t j = i > 8 ? i - 8 : 0; j < size && j < i + 8 && !written; j++) written = bytes[j];
        if (written) list[count++] = i;
    }
    return count;
}

static void flip_from(flips* f, const char* bytes, const size_t* list, size_t count, size_t stride,
                      uint64_t want) {
    int file = open(FILE_NAME, O_RDWR);
    ct_error error;
    for (; f->next < count; f->next += stride) {
        const size_t at = list[f->next];
        f->begun++;
        f->bits = f->begun % 8 == 7 ? 0xff : (unsigned char)(1 << f->begun * 5 % 8);
        const char bad = (char)(bytes[at] ^ (char)f->bits);
        if (pwrite(file, &bad, 1, (off_t)at) != 1) _exit(2);
        alarm(20);
        const uint64_t sum = read_everything(&error);
        if (sum == 0) f->errors++;
        else if (sum == want) f->same++;
        else if (f->other++ == 0) f->other_at = at;
        if (pwrite(file, bytes + at, 1, (off_t)at) != 1) _exit(2);
    }
    close(file);
}

// The child does the reading, so that a crash is counted and the next byte has its turn.
static int flip_all(flips* f, const char* bytes, size_t size, const size_t* list, size_t count, size_t stride,
                    uint64_t want) {
    int crashes = 0;
    for (; f->next < count; f->next += stride) {
        pid_t child = fork();
        if (child == 0) {
            flip_from(f, bytes, list, count, stride, want);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
        print_message("byte %zu with bits %02x: %s\n", list[f->next], f->bits,
                      WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "failed");
        crashes++;
        FILE* stream = fopen(FILE_NAME, "wb");
        assert_int_equal(fwrite(bytes, 1, size, stream), size);
        fclose(stream);
    }
    return crashes;
}

static void every_flipped_bit_is_an_error_or_harmless(void** unused) {
    const char* wish = getenv("CUTTLE_DAMAGE");
    record(3);
    char* bytes;
    const size_t size = load(&bytes);
    size_t* list = malloc(size * sizeof *list);
    const size_t count = find_written(bytes, size, list),
                 flip = wish && !strcmp(wish, "all") ? count : (size_t)(wish ? atol(wish) : REPEAT(300, 60));
    ct_error error = {0};
    const uint64_t want = read_everything(&error);
    if (!want) fail_msg("%s", error.message);
    flips* f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int crashes = flip_all(f, bytes, size, list, count, flip < count ? count / flip : 1, want);
    print_message("%zu flips in %zu bytes: %zu errors, %zu the same numbers, %zu others, %d crashes\n",
                  f->begun, count, f->errors, f->same, f->other, crashes);
    assert_int_equal(crashes, 0);
    if (f->other) fail_msg("byte %zu flipped reads as another motion", f->other_at);
    assert_true(f->errors > f->begun / 4);
    free(list), free(bytes);
    munmap(f, sizeof *f);
}

// Flips a byte in the middle of what frame `frame` has of an array that grows by `row` bytes a frame.
static void flip_in(const char* path, int frame, size_t row) {
    hid_t raw = H5Fopen(FILE_NAME, H5F_ACC_RDWR, H5P_DEFAULT), array = H5Dopen2(raw, path, H5P_DEFAULT);
    hid_t space = H5Dget_space(array), type = H5Dget_type(array);
    const size_t size = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    char* bytes = malloc(size);
    assert_true(H5Dread(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    bytes[(size_t)frame * row + row / 2] ^= 4;
    assert_true(H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
    H5Tclose(type), H5Sclose(space), H5Dclose(array), H5Fclose(raw);
    free(bytes);
}

static void errors_name_the_frame_and_the_array(void** unused) {
    ct_trajectory* file = NULL;
    ct_error error = {0};
    ct_frame frame;
    record(3);
    must(ct_trajectory_open(&file, FILE_NAME, &error), &error);
    const size_t row = 24 * (size_t)file->info.nvert;
    ct_trajectory_close(file, NULL);
    flip_in("VTKHDF/PointData/velocity", 1, row);
    must(ct_trajectory_open(&file, FILE_NAME, &error), &error);
    must(ct_trajectory_read(file, 0, &frame, &error), &error);
    assert_int_equal(ct_trajectory_read(file, 1, &frame, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "frame 1: /VTKHDF/PointData/velocity"));
    must(ct_trajectory_read(file, 2, &frame, &error), &error);
    ct_trajectory_close(file, NULL);
    flip_in("Cuttle/Rest", 0, row);
    assert_int_equal(ct_trajectory_open(&file, FILE_NAME, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "/Cuttle/Rest"));
}

static void damaged_state_is_not_continued(void** unused) {
    record(3);
    sim s = start(parse(text), 1);
    ct_trajectory* file = NULL;
    ct_error error = {0};
    flip_in("Cuttle/State", 1, ct_state_size(s.state));  // of frame 1, which nobody needs any more
    must(ct_trajectory_resume(&file, s.model, s.state, FILE_NAME, &error), &error);
    ct_trajectory_close(file, NULL);
    flip_in("Cuttle/State", 0, ct_state_size(s.state));
    assert_int_equal(ct_trajectory_resume(&file, s.model, s.state, FILE_NAME, &error), CT_BAD_FILE);
    assert_non_null(strstr(error.message, "damaged"));
    stop(&s);
}

static void files_without_checksums_read_as_before(void** unused) {
    record(3);
    ct_error error = {0};
    const uint64_t want = read_everything(&error);
    assert_true(old_file(FILE_NAME) > 30);
    assert_true(want && read_everything(&error) == want);
    flip_in("VTKHDF/PointData/velocity", 1, 24);
    const uint64_t flipped = read_everything(&error);
    assert_true(flipped && flipped != want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_the_frame_and_the_array),
        cmocka_unit_test(damaged_state_is_not_continued),
        cmocka_unit_test(files_without_checksums_read_as_before),
        cmocka_unit_test(every_flipped_bit_is_an_error_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
