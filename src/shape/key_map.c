// The hash map of key_map.h: at most two thirds full, keys scattered by a 64-bit finaliser.
#include "shape/key_map.h"

#include <string.h>

#include "base/memory.h"
#include "cuttle.h"

static size_t scatter(uint64_t key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    return (size_t)(key ^ key >> 33);
}

// The slot that holds the key or would hold it.
static size_t probe(const uint64_t* keys, size_t capacity, uint64_t key) {
    size_t slot = scatter(key) & (capacity - 1);
    while (keys[slot] != key && keys[slot] != CT_KEY_NONE) slot = (slot + 1) & (capacity - 1);
    return slot;
}

static bool grow(ct_key_map* map) {
    size_t capacity = map->capacity ? 2 * map->capacity : 64;
    uint64_t* key = ct_alloc(capacity, sizeof *key);
    int* value = ct_alloc(capacity, sizeof *value);
    if (!key || !value) {
        ct_free(key);
        ct_free(value);
        return false;
    }
    memset(key, 0xff, capacity * sizeof *key);
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->key[i] == CT_KEY_NONE) continue;
        size_t slot = probe(key, capacity, map->key[i]);
        key[slot] = map->key[i];
        value[slot] = map->value[i];
    }
    ct_free(map->key);
    ct_free(map->value);
    map->key = key;
    map->value = value;
    map->capacity = capacity;
    return true;
}

int* ct_key_map_at(ct_key_map* map, uint64_t key) {
    if (3 * (map->count + 1) > 2 * map->capacity && !grow(map)) return NULL;
    size_t slot = probe(map->key, map->capacity, key);
    if (map->key[slot] == CT_KEY_NONE) {
        map->key[slot] = key;
        map->value[slot] = -1;
        map->count++;
    }
    return map->value + slot;
}

int ct_key_map_find(const ct_key_map* map, uint64_t key) {
    if (!map->capacity) return -1;
    size_t slot = probe(map->key, map->capacity, key);
    return map->key[slot] == key ? map->value[slot] : -1;
}

void ct_key_map_clear(ct_key_map* map) {
    ct_free(map->key);
    ct_free(map->value);
    *map = (ct_key_map){0};
}
