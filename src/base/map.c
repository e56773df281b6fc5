#include "base/map.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/memory.h"

void keel_map_initialize(keel_map_t *map) {
    *map = (keel_map_t){0};
    keel_arena_initialize(&map->keys, 0);
}

void keel_map_deinitialize(keel_map_t *map) {
    keel_free(map->slots);
    keel_arena_deinitialize(&map->keys);
    keel_map_initialize(map);
}

static keel_map_slot_t *locate(keel_map_slot_t *slots, size_t capacity, uint64_t hash,
                               keel_bytes_t key) {
    KEEL_ASSERT(capacity && !(capacity & (capacity - 1)));
    for (size_t i = hash & (capacity - 1);; i = (i + 1) & (capacity - 1)) {
        keel_map_slot_t *slot = &slots[i];
        if (!slot->used || (slot->hash == hash && keel_bytes_equal(slot->key, key))) return slot;
    }
}

uint64_t *keel_map_find(const keel_map_t *map, keel_bytes_t key) {
    if (!map->count) return NULL;
    keel_map_slot_t *slot = locate(map->slots, map->capacity, keel_quick_hash(key), key);
    return slot->used ? &slot->value : NULL;
}

static keel_status_t grow(keel_map_t *map) {
    size_t capacity = map->capacity ? map->capacity * 2 : 16;
    void *slots;
    KEEL_TRY(keel_calloc(capacity, sizeof(keel_map_slot_t), &slots));
    for (size_t i = 0; i < map->capacity; ++i) {
        keel_map_slot_t *old = &map->slots[i];
        if (old->used) *locate(slots, capacity, old->hash, old->key) = *old;
    }
    keel_free(map->slots);
    map->slots = slots;
    map->capacity = capacity;
    return NULL;
}

static keel_status_t slot_for(keel_map_t *map, keel_bytes_t key, keel_map_slot_t **out) {
    if (map->count * 4 >= map->capacity * 3) KEEL_TRY(grow(map));
    uint64_t hash = keel_quick_hash(key);
    keel_map_slot_t *slot = locate(map->slots, map->capacity, hash, key);
    if (!slot->used) {
        keel_str_t copy;
        KEEL_TRY(keel_arena_str(&map->keys, keel_bytes_str(key), &copy));
        *slot = (keel_map_slot_t){.hash = hash, .key = keel_str_bytes(copy), .used = true};
        ++map->count;
        KEEL_ASSERT(map->count < map->capacity); // or a search for what is absent never ends
    }
    *out = slot;
    return NULL;
}

keel_status_t keel_map_put(keel_map_t *map, keel_bytes_t key, uint64_t value) {
    keel_map_slot_t *slot;
    KEEL_TRY(slot_for(map, key, &slot));
    slot->value = value;
    return NULL;
}

keel_status_t keel_map_add(keel_map_t *map, keel_bytes_t key, uint64_t delta) {
    keel_map_slot_t *slot;
    KEEL_TRY(slot_for(map, key, &slot));
    slot->value += delta;
    return NULL;
}

keel_status_t keel_map_keep(keel_map_t *map, keel_bytes_t key, keel_bytes_t *out) {
    keel_map_slot_t *slot;
    KEEL_TRY(slot_for(map, key, &slot));
    *out = slot->key;
    return NULL;
}

const keel_map_slot_t *keel_map_next(const keel_map_t *map, const keel_map_slot_t *slot) {
    size_t i = slot ? (size_t)(slot - map->slots) + 1 : 0;
    for (; i < map->capacity; ++i)
        if (map->slots[i].used) return &map->slots[i];
    return NULL;
}
