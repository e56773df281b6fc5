// What the tests of the store share: a folder of their own, entries made from a seed, and what must
// hold of a cache folder whatever happened to it.
#ifndef KEEL_TESTS_STORE_HELP_H_
#define KEEL_TESTS_STORE_HELP_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/entry.h"

#define UNUSED __attribute__((unused))

typedef struct place_t {
    char root[256];  // made by place_make, removed by place_remove
    char cache[300]; // root/cache, not yet there
} place_t;

static inline void place_make_in(place_t *place, const char *base) {
    snprintf(place->root, sizeof place->root, "%s/keel-store-XXXXXX", base);
    assert_non_null(mkdtemp(place->root));
    snprintf(place->cache, sizeof place->cache, "%s/cache", place->root);
}

static inline void place_make(place_t *place) {
    const char *base = getenv("TMPDIR");
    place_make_in(place, base ? base : "/tmp");
}

UNUSED static int place_remove_one(const char *path, const struct stat *s, int kind,
                                   struct FTW *ftw) {
    (void)s;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void place_remove(place_t *place) {
    nftw(place->root, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define assert_ok(expression)                                                                      \
    do {                                                                                           \
        keel_status_t assert_ok_ = (expression);                                                   \
        if (assert_ok_) fail_msg("%s: %s", #expression, keel_status_message(assert_ok_));          \
    } while (0)

#define assert_code(expression, code)                                                              \
    do {                                                                                           \
        keel_status_t assert_code_ = (expression);                                                 \
        if (keel_status_code(assert_code_) != (code))                                              \
            fail_msg("%s: %s, not %s: %s", #expression,                                            \
                     keel_code_word(keel_status_code(assert_code_)), keel_code_word(code),         \
                     keel_status_message(assert_code_));                                           \
        keel_status_ignore(assert_code_);                                                          \
    } while (0)

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

static inline void write_bytes(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static inline bool exists(const char *path) {
    struct stat s;
    return stat(path, &s) == 0;
}

// Sets the time of use to `seconds` ago.
static inline void set_age(const char *path, long seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    struct timespec times[2] = {now, now};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

// Files below `path` whose name contains `part`.
static inline unsigned count_below(const char *path, const char *part) {
    DIR *directory = opendir(path);
    unsigned count = 0;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char *below = malloc(strlen(path) + strlen(e->d_name) + 2);
        memcpy(below, path, strlen(path));
        below[strlen(path)] = '/';
        memcpy(below + strlen(path) + 1, e->d_name, strlen(e->d_name) + 1);
        struct stat s;
        if (stat(below, &s) == 0 && S_ISDIR(s.st_mode))
            count += count_below(below, part);
        else if (strstr(e->d_name, part))
            ++count;
        free(below);
    }
    if (directory) closedir(directory);
    return count;
}

// Files below cache/<folder> whose name contains `part`.
static inline unsigned count_files(const place_t *place, const char *folder, const char *part) {
    char path[400];
    snprintf(path, sizeof path, "%s/%.64s", place->cache, folder);
    return count_below(path, part);
}

#endif // KEEL_TESTS_STORE_HELP_H_
