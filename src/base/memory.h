// Memory: checked allocation and an arena.
//
// All allocation of the library goes through these functions (tests replace malloc/calloc/realloc/free
// beneath them at link time to walk every out-of-memory path). The arena serves objects made of many
// arrays that die together: allocate everything, then test `failed` once before touching any of it.
#ifndef CT_BASE_MEMORY_H
#define CT_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define CT_ALIGNMENT 64  // bytes: a cache line, an AVX-512 vector

// count * size bytes, zeroed; NULL on overflow or out of memory. count 0 gives a valid pointer.
void* ct_alloc(size_t count, size_t size);
// Grows or shrinks to count * size bytes; the old block stays valid when NULL is returned.
void* ct_resize(void* memory, size_t count, size_t size);
// A copy of count * size bytes.
void* ct_duplicate(const void* source, size_t count, size_t size);
char* ct_duplicate_text(const char* text);  // NULL gives ""

// Grows *memory (capacity *capacity elements) so that it holds at least `count`; false: out of memory,
// unchanged.
bool ct_reserve(void** memory, size_t* capacity, size_t count, size_t size);

typedef struct ct_arena_block ct_arena_block;
typedef struct ct_arena {
    ct_arena_block* blocks;
    size_t bytes;  // allocated in all
    bool failed;   // some allocation returned NULL
} ct_arena;

// count * size bytes, zeroed, 64-byte aligned, followed by at least 64 readable bytes. NULL marks the arena
// failed.
void* ct_arena_alloc(ct_arena* arena, size_t count, size_t size);
void* ct_arena_copy(ct_arena* arena, const void* source, size_t count, size_t size);
void ct_arena_free(ct_arena* arena);

// Asks the system for large pages behind memory that was just allocated and not yet written; it may decline.
void ct_memory_large_pages(void* memory, size_t bytes);

#endif
