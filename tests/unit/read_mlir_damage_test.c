#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "edge.h"
#include "read/read.h"
#include "sound.h"

static const char *const samples[] = {
    "composite.v1_20",  "cond_case",     "consts_packed.v1_20", "custom_partitioning",
    "donate",           "dtypes",        "gspmd_spmd_auto",     "linalg",
    "loc_none",         "locations",     "nested_jit",          "nested_jit.v0_9",
    "ordered_callback", "pure_callback", "scan_while",          "shard_map.v1_13",
    "shard_map.v1_20",  "spmd_auto"};
enum { SAMPLES = sizeof samples / sizeof *samples };

static keel_bytes_t sample(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/mlir/%s.mlir", KEEL_TEST_SAMPLES, name);
    uint8_t *data;
    size_t size;
    assert_null(keel_file_read(path, 1 << 24, &data, &size));
    return keel_bytes(data, size);
}

// Reads bytes that may be damaged.
static keel_code_t read_copy(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_status_t status = keel_read_mlir(at_edge(keel_bytes(data, size)), &program);
    keel_code_t code = keel_status_code(status);
    if (status) {
        assert_null(program.attrs.data);
        assert_true(strlen(keel_status_message(status)) > 0);
    } else {
        sound(&program);
    }
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    return code;
}

static bool is_refusal(keel_code_t code) {
    return code == KEEL_CORRUPT || code == KEEL_UNSUPPORTED;
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; ++i) {
        keel_bytes_t bytes = sample(samples[i]);
        for (size_t size = 0; size < bytes.size; ++size)
            assert_true(is_refusal(read_copy(bytes.data, size)));
        assert_int_equal(read_copy(bytes.data, bytes.size), KEEL_OK);
        keel_free((void *)bytes.data);
    }
}

static uint32_t random_state = 1;
static uint32_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static void random_damage_is_read_or_refused(void **state) {
    (void)state;
    unsigned read = 0, refused = 0;
    for (size_t i = 0; i < SAMPLES; ++i) {
        keel_bytes_t bytes = sample(samples[i]);
        uint8_t *copy;
        assert_null(keel_bytes_dup(bytes, &copy));
        for (unsigned round = 0; round < 1500; ++round) {
            unsigned changes = 1 + next_random() % 3;
            for (unsigned n = 0; n < changes; ++n)
                copy[next_random() % bytes.size] = next_random() % 4   ? (uint8_t)next_random()
                                                   : next_random() % 2 ? 0xff
                                                                       : 1;
            keel_code_t code = read_copy(copy, bytes.size);
            assert_true(code == KEEL_OK || is_refusal(code));
            ++*(code == KEEL_OK ? &read : &refused);
            memcpy(copy, bytes.data, bytes.size);
        }
        keel_free(copy);
        keel_free((void *)bytes.data);
    }
    assert_true(read > 1000 && refused > 10000);
}

// Pieces of one file moved within it: indices that are good, in places where they are not.
static void moved_bytes_are_read_or_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; ++i) {
        keel_bytes_t bytes = sample(samples[i]);
        uint8_t *copy;
        assert_null(keel_bytes_dup(bytes, &copy));
        for (unsigned round = 0; round < 500; ++round) {
            size_t size = 1 + next_random() % 16;
            memmove(copy + next_random() % (bytes.size - size),
                    bytes.data + next_random() % (bytes.size - size), size);
            keel_code_t code = read_copy(copy, bytes.size);
            assert_true(code == KEEL_OK || is_refusal(code));
            memcpy(copy, bytes.data, bytes.size);
        }
        keel_free(copy);
        keel_free((void *)bytes.data);
    }
}

static void bytes_behind_the_file_are_refused(void **state) {
    (void)state;
    keel_bytes_t bytes = sample("donate");
    uint8_t *copy = NULL;
    void *grown = NULL;
    assert_null(keel_realloc_array(bytes.size + 1, 1, &grown));
    copy = grown;
    memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = 0;
    assert_int_equal(read_copy(copy, bytes.size + 1), KEEL_CORRUPT);
    keel_free(copy);
    keel_free((void *)bytes.data);
}

// Each string ends in a 0, which is not part of it.
static void a_string_that_does_not_end_is_refused(void **state) {
    (void)state;
    keel_bytes_t bytes = sample("nested_jit");
    keel_program_t program;
    assert_null(keel_read_mlir(bytes, &program));
    uint8_t *copy;
    assert_null(keel_bytes_dup(bytes, &copy));
    unsigned ends = 0;
    for (uint32_t i = 0; i < program.strings.count; ++i) {
        keel_slice_t slice = program.strings.data[i];
        size_t end = (size_t)slice.at + slice.size;
        if (slice.at & KEEL_IN_TEXT || end >= bytes.size || copy[end]) continue;
        copy[end] = 'x';
        assert_int_equal(read_copy(copy, bytes.size), KEEL_CORRUPT);
        copy[end] = 0;
        ++ends;
    }
    assert_true(ends >= 20);
    keel_program_deinitialize(&program);
    keel_free(copy);
    keel_free((void *)bytes.data);
}

static void a_program_is_read_within_three_times_its_size(void **state) {
    (void)state;
    keel_bytes_t bytes = sample("gpt_step");
    keel_program_t program;
    keel_memory_watch(1);
    keel_status_t status = keel_read_mlir(bytes, &program);
    size_t peak = keel_memory_peak(), kept = keel_memory_in_use();
    assert_null(status);
    assert_true(peak <= 3 * bytes.size);
    assert_true(kept <= peak);
    keel_program_deinitialize(&program);
    assert_int_equal(keel_memory_in_use(), 0);
    keel_memory_watch(0);
    keel_free((void *)bytes.data);
}

#ifdef KEEL_FAULTS
static void every_allocation_may_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; ++i) {
        keel_bytes_t bytes = sample(samples[i]);
        keel_program_t program;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        assert_null(keel_read_mlir(bytes, &program));
        uint64_t count = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_program_deinitialize(&program);
        assert_true(count > 10);
        for (uint64_t nth = 1; nth <= count; ++nth) {
            keel_fault_arm(KEEL_FAULT_ALLOC, nth);
            keel_status_t status = keel_read_mlir(bytes, &program);
            keel_fault_arm(KEEL_FAULT_ALLOC, 0);
            // Giving back what was reserved too much may fail without harm.
            assert_true(!status || keel_status_code(status) == KEEL_NO_MEMORY);
            if (nth < count / 2) assert_non_null(status);
            keel_status_ignore(status);
            keel_program_deinitialize(&program);
        }
        keel_free((void *)bytes.data);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(random_damage_is_read_or_refused),
        cmocka_unit_test(moved_bytes_are_read_or_refused),
        cmocka_unit_test(bytes_behind_the_file_are_refused),
        cmocka_unit_test(a_string_that_does_not_end_is_refused),
        cmocka_unit_test(a_program_is_read_within_three_times_its_size),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    return cmocka_run_group_tests_name("read_mlir_damage", tests, NULL, NULL);
}
