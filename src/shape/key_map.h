// A hash map from 64-bit keys to int, open addressing with linear probing. Keys must not be CT_KEY_NONE.
#ifndef CT_SHAPE_KEY_MAP_H
#define CT_SHAPE_KEY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_KEY_NONE UINT64_MAX

typedef struct ct_key_map {  // zero-initialised: empty
    uint64_t* key;
    int* value;
    size_t count, capacity;  // capacity is 0 or a power of two
} ct_key_map;

// The place of the key's value, inserted with value -1 when new. NULL: out of memory. Valid until the next
// call.
int* ct_key_map_at(ct_key_map* map, uint64_t key);
// The key's value, -1 when absent.
int ct_key_map_find(const ct_key_map* map, uint64_t key);
void ct_key_map_clear(ct_key_map* map);  // frees the memory

// Key of an unordered pair of non-negative ints.
static inline uint64_t ct_key_pair(int a, int b) {
    return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}

#endif
