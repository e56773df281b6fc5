// A hash map from bytes to a 64-bit number. Keys are copied into the map. One thread at a time.
#ifndef KEEL_BASE_MAP_H_
#define KEEL_BASE_MAP_H_

#include "base/arena.h"
#include "base/bytes.h"

typedef struct keel_map_slot_t {
    uint64_t hash;
    keel_bytes_t key;
    uint64_t value;
    bool used;
} keel_map_slot_t;

typedef struct keel_map_t {
    keel_map_slot_t *slots;
    size_t capacity;
    size_t count;
    keel_arena_t keys;
} keel_map_t;

void keel_map_initialize(keel_map_t *map);
void keel_map_deinitialize(keel_map_t *map);

// The address of the key's value, valid until the next put; NULL if the key is absent.
uint64_t *keel_map_find(const keel_map_t *map, keel_bytes_t key);
// Adds or overwrites.
keel_status_t keel_map_put(keel_map_t *map, keel_bytes_t key, uint64_t value) KEEL_MUST_CHECK;
// Adds `delta` to the key's value, which starts from 0.
keel_status_t keel_map_add(keel_map_t *map, keel_bytes_t key, uint64_t delta) KEEL_MUST_CHECK;

// Adds the key, with value 0, if it is absent. *out is the map's own copy, which is followed by a
// zero byte and lives as long as the map.
keel_status_t keel_map_keep(keel_map_t *map, keel_bytes_t key, keel_bytes_t *out) KEEL_MUST_CHECK;

// Walks all pairs, in any order: for (slot = NULL; (slot = keel_map_next(map, slot));)
const keel_map_slot_t *keel_map_next(const keel_map_t *map, const keel_map_slot_t *slot);

#endif // KEEL_BASE_MAP_H_
