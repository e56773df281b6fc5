// What the tests of the store share: entries made from a seed, and how they are found again.
#ifndef KEEL_TESTS_STORE_HELP_H_
#define KEEL_TESTS_STORE_HELP_H_

#include "place.h"
#include "store/disk.h"
#include "store/entry.h"

static inline keel_digest_t key_of(uint64_t seed) {
    return keel_digest(keel_bytes(&seed, sizeof seed));
}

static inline uint64_t next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Entries never own fixture memory: plain malloc, freed by entry_free.
typedef struct fixture_t {
    keel_entry_t entry;
    uint8_t *payload;
} fixture_t;

// `packs`: the payload is one that compresses.
static inline fixture_t fixture_make(uint64_t seed, uint64_t version, size_t size, bool packs) {
    fixture_t f = {.payload = malloc(size ? size : 1)};
    uint64_t state = seed * 1000003 + version;
    for (size_t i = 0; i < size; ++i)
        f.payload[i] = packs ? (uint8_t)((i / 7 + version) % 11) : (uint8_t)next_random(&state);
    f.entry = (keel_entry_t){
        .key = key_of(seed),
        .program = key_of(seed + 1000),
        .components = (char *)(uintptr_t) "{\"program\":{\"digest\":\"ab\",\"value\":\"\"}}",
        .name = (char *)(uintptr_t) "jit_step",
        .writer = (char *)(uintptr_t) "keel 0.1.0 pid 4711 host",
        .created = 1795266302123456789u,
        .compile_seconds = 12.375,
        .payload = f.payload,
        .payload_size = size,
    };
    return f;
}

static inline void fixture_free(fixture_t *f) {
    free(f->payload);
}

static inline void assert_entry_equal(const keel_entry_t *a, const keel_entry_t *b) {
    assert_memory_equal(a->key.bytes, b->key.bytes, KEEL_DIGEST_SIZE);
    assert_memory_equal(a->program.bytes, b->program.bytes, KEEL_DIGEST_SIZE);
    assert_string_equal(a->components, b->components);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->writer, b->writer);
    assert_int_equal(a->created, b->created);
    assert_true(a->compile_seconds == b->compile_seconds);
    assert_int_equal(a->payload_size, b->payload_size);
    if (a->payload_size) assert_memory_equal(a->payload, b->payload, a->payload_size);
}

static inline void assert_has(const keel_tier_t *tier, const keel_entry_t *entry) {
    keel_entry_t got;
    keel_miss_t miss;
    assert_ok(tier->get(tier->context, &entry->key, &got, &miss));
    assert_entry_equal(&got, entry);
    keel_entry_deinitialize(&got);
}

static inline void assert_misses(const keel_tier_t *tier, const keel_digest_t *key,
                                 keel_miss_t expected) {
    keel_entry_t got;
    keel_miss_t miss;
    assert_code(tier->get(tier->context, key, &got, &miss), KEEL_NOT_FOUND);
    assert_string_equal(keel_miss_name(miss), keel_miss_name(expected));
}

static inline void entry_path_of(const place_t *place, const keel_digest_t *key, char out[512]) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    snprintf(out, 512, "%s/entries/%.2s/%s.keel", place->cache, hex, hex);
}

// Files below cache/<folder> whose name contains `part`.
static inline unsigned count_files(const place_t *place, const char *folder, const char *part) {
    char path[400];
    snprintf(path, sizeof path, "%s/%.64s", place->cache, folder);
    return count_below(path, part);
}

// ---- claims ------------------------------------------------------------------------------------

static const uint64_t minute = 60000000000u;

static inline keel_status_t claim_as(const place_t *place, const keel_digest_t *key,
                                     const char *name, keel_claim_t *out) {
    const keel_claimant_t claimant = {.name = name, .patience = minute};
    return keel_store_claim(place->cache, key, &claimant, out);
}

// What an entry takes on the disk.
static inline uint64_t room_of(const place_t *place, uint64_t seed) {
    keel_digest_t key = key_of(seed);
    char path[512];
    keel_file_facts_t facts;
    entry_path_of(place, &key, path);
    assert_ok(keel_file_facts(path, &facts));
    return facts.on_disk;
}

#endif // KEEL_TESTS_STORE_HELP_H_
