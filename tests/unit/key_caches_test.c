// Caches of XLA's own that flags and options name: what of them is in the key.
#define _GNU_SOURCE // mkdtemp
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "key/key.h"

#define MUST(expression) assert_null(expression)

static void put_text(keel_buffer_t *out, uint32_t field, const char *text) {
    keel_proto_put_bytes(out, field, keel_str_bytes(keel_str(text)));
}

enum { KERNELS = 306, TUNED = 310, TUNED_ANEW = 407, MODE = 324 };

typedef enum given_by_t { BY_DEBUG, BY_OVERRIDE, BY_FLAG, GIVEN_BY_COUNT } given_by_t;

typedef struct cache_t {
    uint32_t number;
    const char *name, *path;
    bool only_reads;
    unsigned backends;
} cache_t;

enum { ANY = KEEL_BACKEND_CPU | KEEL_BACKEND_GPU | KEEL_BACKEND_TPU };

static void put_override(keel_buffer_t *out, const char *name, const char *text) {
    keel_buffer_t entry, value;
    keel_buffer_initialize(&entry, 0);
    keel_buffer_initialize(&value, 0);
    put_text(&value, 1, text);
    put_text(&entry, 1, name);
    keel_proto_put_bytes(&entry, 2, keel_buffer_bytes(&value));
    keel_proto_put_bytes(out, 7, keel_buffer_bytes(&entry));
    keel_buffer_deinitialize(&entry);
    keel_buffer_deinitialize(&value);
}

// What the key says of a cache that is given in this way.
static keel_digest_t digest_of_cache(given_by_t by, const cache_t *cache) {
    keel_buffer_t debug, build, options, canonical, ignored;
    keel_buffer_t *const all[] = {&debug, &build, &options, &canonical, &ignored};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        keel_buffer_initialize(all[i], 0);
    char text[1024];
    snprintf(text, sizeof text, "--%s=%s%s", cache->name, cache->path,
             cache->only_reads ? " --xla_gpu_experimental_autotune_cache_mode=READ" : "");
    if (by == BY_DEBUG) put_text(&debug, cache->number, cache->path);
    if (by == BY_DEBUG)
        keel_proto_put_number(&debug, MODE, KEEL_WIRE_VARINT, cache->only_reads ? 2 : 1);
    keel_proto_put_bytes(&build, 3, keel_buffer_bytes(&debug));
    keel_proto_put_bytes(&options, 3, keel_buffer_bytes(&build));
    if (by == BY_OVERRIDE) put_override(&options, cache->name, cache->path);
    if (by == BY_OVERRIDE && cache->only_reads)
        put_override(&options, "xla_gpu_experimental_autotune_cache_mode",
                     "AUTOTUNE_CACHE_MODE_READ");
    bool understood = false;
    MUST(keel_key_options(keel_buffer_bytes(&options), cache->backends, &canonical, &ignored,
                          &ignored, &understood));
    assert_true(understood);
    MUST(keel_key_flags(by == BY_FLAG ? text : "", &canonical));
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&canonical));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        keel_buffer_deinitialize(all[i]);
    return digest;
}

static void write_text(const char *path, const char *text) {
    MUST(keel_file_replace(path, keel_str_bytes(keel_str(text))));
}

// What changes the key, if only this cache is given: another path, more content, none.
static void check_cache(given_by_t by, cache_t cache, const char *file, const char *other,
                        bool content_counts, bool none_differs) {
    cache_t moved = cache, none = cache;
    moved.path = other;
    none.path = "";
    write_text(file, "one");
    keel_digest_t before = digest_of_cache(by, &cache), at_other = digest_of_cache(by, &moved);
    write_text(file, "one, two");
    keel_digest_t grown = digest_of_cache(by, &cache), without = digest_of_cache(by, &none);
    if (keel_digest_equal(&before, &grown) == content_counts) fail_msg("%s grows", cache.name);
    if (keel_digest_equal(&before, &without) == none_differs) fail_msg("no %s", cache.name);
    // The other one has the content that this one had.
    if (!keel_digest_equal(&before, &at_other)) fail_msg("%s elsewhere", cache.name);
}

static void a_cache_of_xla_counts_only_if_xla_only_reads_it(void **state) {
    (void)state;
    char folders[2][64] = {"/tmp/keel-key-tuned-XXXXXX", "/tmp/keel-key-tuned-XXXXXX"};
    char files[2][96];
    for (int i = 0; i < 2; ++i) {
        assert_non_null(mkdtemp(folders[i]));
        snprintf(files[i], sizeof files[i], "%s/entry", folders[i]);
        write_text(files[i], "one");
    }
    const cache_t kernels = {KERNELS, "xla_gpu_kernel_cache_file", files[0], false, ANY};
    cache_t tuned[2] = {
        {TUNED, "xla_gpu_per_fusion_autotune_cache_dir", folders[0], false, ANY},
        {TUNED_ANEW, "xla_gpu_experimental_autotuner_cache_dir", folders[0], false, ANY}};
    for (int by = 0; by < GIVEN_BY_COUNT; ++by) {
        check_cache((given_by_t)by, kernels, files[0], files[1], false, true);
        for (int i = 0; i < 4; ++i) {
            bool only_reads = tuned[i / 2].only_reads = i % 2;
            check_cache((given_by_t)by, tuned[i / 2], files[0], folders[1], only_reads, only_reads);
        }
    }
    for (int i = 0; i < 2; ++i) {
        unlink(files[i]);
        rmdir(folders[i]);
    }
}

// JAX puts the paths of these caches into the options of every backend.
static void without_gpus_a_cache_of_xla_does_not_count(void **state) {
    (void)state;
    for (int by = BY_DEBUG; by <= BY_OVERRIDE; ++by) {
        for (unsigned backend = KEEL_BACKEND_CPU; backend <= ANY; ++backend) {
            cache_t cache = {KERNELS, "xla_gpu_kernel_cache_file", "/dev/null", false, backend};
            cache_t none = {KERNELS, "xla_gpu_kernel_cache_file", "", false, backend};
            keel_digest_t with = digest_of_cache((given_by_t)by, &cache);
            keel_digest_t without = digest_of_cache((given_by_t)by, &none);
            assert_int_equal(keel_digest_equal(&with, &without), !(backend & KEEL_BACKEND_GPU));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_gpus_a_cache_of_xla_does_not_count),
        cmocka_unit_test(a_cache_of_xla_counts_only_if_xla_only_reads_it),
    };
    return cmocka_run_group_tests_name("key_caches", tests, NULL, NULL);
}
