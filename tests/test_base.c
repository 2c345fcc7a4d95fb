// Memory, arena, worker pool and status texts.
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"
#include "unit.h"

// ---- Memory ----

static void alloc_gives_zeroed_memory(void** unused) {
    unsigned char* memory = ct_alloc(1000, 3);
    assert_non_null(memory);
    for (int i = 0; i < 3000; i++) assert_int_equal(memory[i], 0);
    ct_free(memory);
}

static void alloc_of_nothing_gives_a_pointer(void** unused) {
    void* memory = ct_alloc(0, 8);
    assert_non_null(memory);
    ct_free(memory);
    ct_free(NULL);
}

static void sizes_that_overflow_are_refused(void** unused) {
    ct_arena arena = {0};
    size_t capacity = 0;
    void* memory = NULL;
    assert_null(ct_alloc(SIZE_MAX / 2, 3));
    assert_null(ct_resize(NULL, SIZE_MAX / 2, 3));
    assert_false(ct_reserve(&memory, &capacity, SIZE_MAX / 2, 3));
    assert_null(memory);
    assert_int_equal(capacity, 0);
    assert_null(ct_arena_alloc(&arena, SIZE_MAX / 2, 3));
    assert_true(arena.failed);
    ct_arena_free(&arena);
    assert_null(ct_arena_alloc(&arena, SIZE_MAX - 8, 1));
    assert_true(arena.failed);
    ct_arena_free(&arena);
}

static void duplicate_copies_all_bytes(void** unused) {
    const int source[4] = {3, 1, 4, 1};
    int* copy = ct_duplicate(source, 4, sizeof *source);
    assert_memory_equal(copy, source, sizeof source);
    char *text = ct_duplicate_text("cuttle"), *empty = ct_duplicate_text(NULL);
    assert_string_equal(text, "cuttle");
    assert_string_equal(empty, "");
    ct_free(copy);
    ct_free(text);
    ct_free(empty);
}

static void reserve_keeps_contents_and_grows_in_few_moves(void** unused) {
    int* values = NULL;
    size_t capacity = 0;
    int moves = 0;
    for (int i = 0; i < 10000; i++) {
        size_t before = capacity;
        assert_true(ct_reserve((void**)&values, &capacity, (size_t)i + 1, sizeof *values));
        values[i] = i;
        moves += capacity != before;
    }
    assert_true(moves < 25);
    for (int i = 0; i < 10000; i++) assert_int_equal(values[i], i);
    ct_free(values);
}

static void arena_blocks_are_aligned_zeroed_and_apart(void** unused) {
    ct_arena arena = {0};
    double* block[50];
    for (int i = 0; i < 50; i++) {
        block[i] = ct_arena_alloc(&arena, (size_t)i + 1, sizeof(double));
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % CT_ALIGNMENT, 0);
        for (int k = 0; k <= i; k++) assert_true(block[i][k] == 0), block[i][k] = i;
    }
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k <= i; k++) assert_true(block[i][k] == i);
    }
    assert_int_equal(arena.bytes, 50 * 51 / 2 * sizeof(double));
    assert_false(arena.failed);
    ct_arena_free(&arena);
    assert_null(arena.blocks);
}

static void arena_arrays_have_readable_bytes_behind_them(void** unused) {
    ct_arena arena = {0};
    const char text[3] = {'a', 'b', 'c'};
    volatile char* copy = ct_arena_copy(&arena, text, 3, 1);
    assert_int_equal(copy[0], 'a');
    assert_int_equal(copy[2], 'c');
    int sum = 0;
    for (int i = 0; i < CT_ALIGNMENT; i++) sum += copy[3 + i];
    assert_int_equal(sum, 0);
    ct_arena_free(&arena);
}

// ---- Threads ----

enum { NTASK = 1000 };

typedef struct tally {
    atomic_int visits[NTASK];
    double value[NTASK];
} tally;

static void visit(int index, void* user) {
    tally* t = user;
    atomic_fetch_add(&t->visits[index], 1);
    t->value[index] = 1.0 / (index + 1);
}

static void every_task_runs_exactly_once(void** unused) {
    static const int counts[] = {1, 2, 3, 7};
    for (int c = 0; c < 4; c++) {
        ct_threads* threads;
        static tally t;
        memset(&t, 0, sizeof t);
        assert_int_equal(ct_threads_create(&threads, counts[c]), CT_OK);
        assert_int_equal(ct_threads_count(threads), counts[c]);
        for (int region = 1; region <= 50; region++) {
            ct_threads_run(threads, NTASK, visit, &t);
            for (int i = 0; i < NTASK; i++) assert_int_equal(atomic_load(&t.visits[i]), region);
        }
        ct_threads_free(threads);
    }
}

static void add_previous(int index, void* user) {
    double(*rows)[NTASK] = user;
    rows[1][index] = rows[0][(index * 7 + 3) % NTASK] + 1;
}

static void a_region_sees_what_the_one_before_wrote(void** unused) {
    static double rows[2][NTASK];
    ct_threads* threads;
    memset(rows, 0, sizeof rows);
    assert_int_equal(ct_threads_create(&threads, 4), CT_OK);
    for (int round = 1; round <= 300; round++) {
        ct_threads_run(threads, NTASK, add_previous, rows);
        memcpy(rows[0], rows[1], sizeof rows[0]);
    }
    for (int i = 0; i < NTASK; i++) assert_true(rows[0][i] == 300);
    ct_threads_free(threads);
}

static void count_only(int index, void* user) { ++*(int*)user; }

static void without_a_pool_tasks_run_in_order_on_the_caller(void** unused) {
    int count = 0;
    ct_threads_run(NULL, 17, count_only, &count);
    assert_int_equal(count, 17);
    assert_int_equal(ct_threads_count(NULL), 1);
    ct_threads_run(NULL, 0, count_only, &count);
    assert_int_equal(count, 17);
    ct_threads_free(NULL);
}

static void pools_can_be_made_and_freed_without_use(void** unused) {
    for (int i = 0; i < 50; i++) {
        ct_threads* threads;
        assert_int_equal(ct_threads_create(&threads, i % 5), CT_OK);
        assert_true(ct_threads_count(threads) >= 1);
        ct_threads_free(threads);
    }
}

// ---- Status ----

static void every_status_has_its_own_text(void** unused) {
    for (int a = CT_OK; a <= CT_CANCELLED; a++) {
        assert_true(strlen(ct_status_text((ct_status)a)) > 0);
        for (int b = CT_OK; b < a; b++) {
            assert_string_not_equal(ct_status_text((ct_status)a), ct_status_text((ct_status)b));
        }
    }
    assert_string_equal(ct_status_text((ct_status)1000), "unknown status");
    assert_string_equal(ct_status_text((ct_status)-1), "unknown status");
}

static void fail_fills_the_error_and_returns_its_code(void** unused) {
    ct_error error;
    ct_error_clear(&error);
    assert_int_equal(error.code, CT_OK);
    assert_int_equal(error.element, -1);
    assert_int_equal(ct_fail_at(&error, CT_BAD_FILE, "beam.msh", 12, "expected %d nodes", 8), CT_BAD_FILE);
    assert_int_equal(error.code, CT_BAD_FILE);
    assert_int_equal(error.line, 12);
    assert_string_equal(error.file, "beam.msh");
    assert_string_equal(error.message, "expected 8 nodes");
    assert_int_equal(ct_fail(&error, CT_IO, "disk full"), CT_IO);
    assert_string_equal(error.file, "beam.msh");
    assert_string_equal(error.message, "disk full");
}

static void fail_accepts_a_missing_error(void** unused) {
    assert_int_equal(ct_fail(NULL, CT_IO, "x"), CT_IO);
    assert_int_equal(ct_fail_at(NULL, CT_BAD_MESH, NULL, 0, "x"), CT_BAD_MESH);
    ct_error_clear(NULL);
}

static void long_messages_are_cut_not_overrun(void** unused) {
    ct_error error;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ct_error_clear(&error);
    ct_fail_at(&error, CT_BAD_FILE, text, 1, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_int_equal(strlen(error.file), sizeof error.file - 1);
    assert_int_equal(error.path[0], '\0');
}

static void version_text_matches_the_numbers(void** unused) {
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", CT_VERSION_MAJOR, CT_VERSION_MINOR, CT_VERSION_PATCH);
    assert_string_equal(ct_version(), text);
}

static void instruction_set_can_be_lowered(void** unused) {
    ct_isa best = ct_cpu_isa();
    setenv("CUTTLE_ISA", "portable", 1);
    assert_int_equal(ct_cpu_isa(), CT_ISA_PORTABLE);
    setenv("CUTTLE_ISA", "avx512", 1);
    assert_int_equal(ct_cpu_isa(), best);
    unsetenv("CUTTLE_ISA");
    assert_string_equal(ct_isa_name(CT_ISA_PORTABLE), "portable");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_gives_zeroed_memory),
        cmocka_unit_test(alloc_of_nothing_gives_a_pointer),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(duplicate_copies_all_bytes),
        cmocka_unit_test(reserve_keeps_contents_and_grows_in_few_moves),
        cmocka_unit_test(arena_blocks_are_aligned_zeroed_and_apart),
        cmocka_unit_test(arena_arrays_have_readable_bytes_behind_them),
        cmocka_unit_test(every_task_runs_exactly_once),
        cmocka_unit_test(a_region_sees_what_the_one_before_wrote),
        cmocka_unit_test(without_a_pool_tasks_run_in_order_on_the_caller),
        cmocka_unit_test(pools_can_be_made_and_freed_without_use),
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(fail_fills_the_error_and_returns_its_code),
        cmocka_unit_test(fail_accepts_a_missing_error),
        cmocka_unit_test(long_messages_are_cut_not_overrun),
        cmocka_unit_test(version_text_matches_the_numbers),
        cmocka_unit_test(instruction_set_can_be_lowered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
