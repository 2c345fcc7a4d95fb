// Checked allocation and the arena; see memory.h.
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cuttle.h"

struct ct_arena_block {
    ct_arena_block* next;
};

void ct_free(void* memory) { free(memory); }

void* ct_alloc(size_t count, size_t size) { return calloc(count ? count : 1, size ? size : 1); }

void* ct_resize(void* memory, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    return realloc(memory, bytes ? bytes : 1);
}

void* ct_duplicate(const void* source, size_t count, size_t size) {
    void* copy = ct_alloc(count, size);
    if (copy && count) memcpy(copy, source, count * size);
    return copy;
}

char* ct_duplicate_text(const char* text) {
    if (!text) text = "";
    return ct_duplicate(text, strlen(text) + 1, 1);
}

bool ct_reserve(void** memory, size_t* capacity, size_t count, size_t size) {
    if (count <= *capacity) return true;
    size_t grown = *capacity + *capacity / 2;
    if (grown < count) grown = count;
    if (grown < 16) grown = 16;
    void* moved = ct_resize(*memory, grown, size);
    if (!moved) return false;
    *memory = moved;
    *capacity = grown;
    return true;
}

void* ct_arena_alloc(ct_arena* arena, size_t count, size_t size) {
    const size_t header = sizeof(ct_arena_block) + CT_ALIGNMENT;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - header - CT_ALIGNMENT) {
        arena->failed = true;
        return NULL;
    }
    ct_arena_block* block = calloc(1, bytes + header + CT_ALIGNMENT);
    if (!block) {
        arena->failed = true;
        return NULL;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    arena->bytes += bytes;
    uintptr_t start = ((uintptr_t)(block + 1) + CT_ALIGNMENT - 1) & ~(uintptr_t)(CT_ALIGNMENT - 1);
    return (void*)start;
}

void* ct_arena_copy(ct_arena* arena, const void* source, size_t count, size_t size) {
    void* copy = ct_arena_alloc(arena, count, size);
    if (copy && count) memcpy(copy, source, count * size);
    return copy;
}

void ct_arena_free(ct_arena* arena) {
    while (arena->blocks) {
        ct_arena_block* block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    *arena = (ct_arena){0};
}

void ct_memory_large_pages(void* memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 2u << 20;
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1),
              end = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (start < end) madvise((void*)start, end - start, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}
