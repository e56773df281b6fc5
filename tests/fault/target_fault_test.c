// Each allocation and each file operation of reading and writing a target fails once.
#define _GNU_SOURCE
#include "place.h"

#include "target/target.h"

enum { MOST = 3000 };

// The text of the target that was read, written and read again.
static keel_status_t go_round(const char *name, keel_buffer_t *out) {
    keel_target_t target, again = {0};
    keel_arena_initialize(&again.arena, 0);
    keel_status_t status = keel_target_read(name, &target);
    if (!status) status = keel_target_write(&target, KEEL_JSON_COMPACT, out);
    if (!status) status = keel_target_parse("it", keel_buffer_bytes(out), &again);
    keel_target_deinitialize(&target);
    keel_target_deinitialize(&again);
    return status;
}

static void fail_each(const char *name, keel_fault_kind_t kind, keel_code_t expected) {
    unsigned failed = 0;
    for (uint64_t nth = 1;; ++nth) {
        keel_buffer_t text;
        assert_true(nth < MOST);
        keel_buffer_initialize(&text, 0);
        keel_fault_arm(kind, nth);
        keel_status_t status = go_round(name, &text);
        uint64_t count = keel_fault_count(kind);
        keel_fault_arm(kind, 0);
        keel_buffer_deinitialize(&text);
        bool is_over = count < nth;
        if (is_over) assert_null(status);
        // jansson's own memory is not counted here, so each failure is one of Keel's.
        if (!is_over) assert_int_equal(keel_status_code(status), expected);
        keel_status_ignore(status);
        if (is_over) break;
        ++failed;
    }
    assert_true(failed > 0);
}

static void lack_of_memory_is_told(void **state) {
    (void)state;
    fail_each("h200:8", KEEL_FAULT_ALLOC, KEEL_NO_MEMORY);
    fail_each("v6e:2x4", KEEL_FAULT_ALLOC, KEEL_NO_MEMORY);
    fail_each("cpu:2", KEEL_FAULT_ALLOC, KEEL_NO_MEMORY);
}

static void a_file_that_cannot_be_read_is_told(void **state) {
    (void)state;
    place_t place;
    char path[PATH_MAX];
    keel_target_t target;
    keel_buffer_t text;
    place_make(&place);
    snprintf(path, sizeof path, "%s/target.json", place.root);
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_target_read("h200:8", &target));
    assert_ok(keel_target_write(&target, KEEL_JSON_SPACED, &text));
    assert_ok(keel_file_create(path, keel_buffer_bytes(&text)));
    keel_target_deinitialize(&target);
    keel_buffer_deinitialize(&text);
    fail_each(path, KEEL_FAULT_FILE, KEEL_IO);
    fail_each(path, KEEL_FAULT_ALLOC, KEEL_NO_MEMORY);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lack_of_memory_is_told),
        cmocka_unit_test(a_file_that_cannot_be_read_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
