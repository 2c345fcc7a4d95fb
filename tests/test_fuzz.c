// Every fuzz target on its seeds and on what once went wrong, without a fuzzer (tools/fuzz runs them with
// one); and the target that steps on random scenes, with the kernels of this machine. Targets abort when
// something is not as they claim.
//
// CUTTLE_SCENES=n tries n random scenes, CUTTLE_SEED=k begins with another one. The scene of an abort is left
// in test_fuzz.found.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repeat.h"
#include "unit.h"

#define TARGETS(X) X(mesh) X(message) X(robot) X(scene) X(search) X(step) X(trajectory) X(values)
#define DECLARE(name) int fuzz_##name##_input(const uint8_t* data, size_t size);
TARGETS(DECLARE)
extern long fuzz_tried, fuzz_stepped;

// HDF5 loses an object whose header fails its checksum.
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) { return "leak:libhdf5"; }

typedef int (*target)(const uint8_t* data, size_t size);

static void feed(target run, const char* path) {
    FILE* stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    const size_t size = (size_t)ftell(stream);
    rewind(stream);
    uint8_t* data = malloc(size ? size : 1);  // no byte more, so that sanitizers see what is read beyond
    assert_int_equal(fread(data, 1, size, stream), size);
    fclose(stream);
    run(data, size);
    free(data);
}

static int feed_folder(target run, const char* kind, const char* name) {
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s/tests/fuzz/%s/%s", CT_SOURCE_DIR, kind, name);
    DIR* list = opendir(folder);
    int count = 0;
    for (struct dirent* entry; list && (entry = readdir(list));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        feed(run, path);
        count++;
    }
    if (list) closedir(list);
    return count;
}

#define CLAIM(name)                                                                                          \
    static void name##_inputs_are_used_or_refused(void** state) {                                            \
        assert_true(feed_folder(fuzz_##name##_input, "corpus", #name) > 0);                                  \
        feed_folder(fuzz_##name##_input, "cases", #name);                                                    \
    }
TARGETS(CLAIM)

// ---- harsh scenes --------------------------------------------------------------------------

enum { MOST = 4096 };
static uint8_t input[MOST];
static volatile size_t input_size;

static void keep_input(int number) {
    const int file = open(CT_BINARY_DIR "/test_fuzz.found", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, input, input_size) < 0) _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

static uint64_t dice;
static unsigned roll(unsigned count) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(dice >> 33) % count;
}

// Replaces a number of a text by one that nobody would choose.
static size_t harden(size_t size) {
    static const char* const wrong[] = {"0",     "-1",    "1e-9", "1e-30",  "-1e-300", "1e9",
                                        "-1e30", "1e300", "0.01", "100000", "3",       "-0.5",
                                        "1e-4",  "1e4",   "2e6",  "0.4999"};
    uint8_t* text = input;
    size_t begin = roll((unsigned)size), end;
    while (begin < size && !strchr(" [:", text[begin])) begin++;
    while (begin < size && !strchr("-0123456789", text[begin])) begin++;
    for (end = begin; end < size && text[end] && strchr("+-.eE0123456789", text[end]);) end++;
    if (begin >= size || end == begin || strchr(",]} \n", text[end]) == NULL) return size;
    const char* number = wrong[roll(sizeof wrong / sizeof *wrong)];
    const size_t length = strlen(number);
    if (size - (end - begin) + length > MOST) return size;
    memmove(text + begin + length, text + end, size - end);
    memcpy(text + begin, number, length);
    return size - (end - begin) + length;
}

static size_t load_seed(unsigned which) {
    static const char* const names[] = {"contact", "sheet", "skeleton", "actuators"};
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/step/%s.json", CT_SOURCE_DIR, names[which]);
    FILE* stream = fopen(path, "rb");
    assert_non_null(stream);
    const size_t size = fread(input, 1, MOST, stream);
    fclose(stream);
    return size;
}

static void harsh_scenes_step_or_say_why(void** state) {
    const char *wish = getenv("CUTTLE_SCENES"), *seed = getenv("CUTTLE_SEED");
    const long first = seed ? atol(seed) : 0, count = wish ? atol(wish) : REPEAT(300, 30);
    signal(SIGABRT, keep_input), signal(SIGFPE, keep_input), signal(SIGSEGV, keep_input);
    fuzz_tried = fuzz_stepped = 0;
    for (long k = first; k < first + count; k++) {
        dice = (uint64_t)k * 0x9E3779B97F4A7C15u + 77;
        if (roll(2)) {
            for (size_t i = 0; i < 200; i++) input[i] = (uint8_t)roll(256);
            input_size = 200;
        } else {
            input_size = load_seed(roll(4));
            for (unsigned times = 1 + roll(4); times; times--) input_size = harden(input_size);
        }
        fuzz_step_input(input, input_size);
    }
    signal(SIGABRT, SIG_DFL), signal(SIGFPE, SIG_DFL), signal(SIGSEGV, SIG_DFL);
    print_message("%ld scenes, %ld make a model, %ld step\n", count, fuzz_tried, fuzz_stepped);
    if (count >= 10) assert_true(2 * fuzz_tried > count && 8 * fuzz_stepped > count);
}

#define TEST(name) cmocka_unit_test(name##_inputs_are_used_or_refused),
int main(void) {
    const struct CMUnitTest tests[] = {TARGETS(TEST) cmocka_unit_test(harsh_scenes_step_or_say_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
