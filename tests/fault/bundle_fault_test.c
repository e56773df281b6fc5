// Each allocation and each file operation of a bundle fails once. The only failure is lack of
// memory; what cannot be read is left out; and everything works again afterwards.
#define _GNU_SOURCE
#include "place.h"

#include "bundle/bundle.h"

static place_t place;
static char python[300];

static void make_environment(void) {
    static const char *const folders[] = {"bin", "lib/python3.12/site-packages/jax",
                                          "lib/python3.12/site-packages/jax-0.12.0.dist-info",
                                          "lib/python3.12/site-packages/lost.dist-info"};
    static const char *const files[][2] = {
        {"bin/python", ""},
        {"pyvenv.cfg", "version = 3.12\nhome = /opt/bin\n"},
        {"lib/python3.12/site-packages/lost.dist-info/METADATA", "Version: 1\n"},
    };
    char path[700];
    place_make(&place);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        snprintf(path, sizeof path, "%s/%s", place.root, folders[i]);
        assert_ok(keel_directory_make(path));
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        snprintf(path, sizeof path, "%s/%s", place.root, files[i][0]);
        write_bytes(path, files[i][1], strlen(files[i][1]));
    }
    snprintf(python, sizeof python, "%s/bin/python", place.root);
    setenv("XLA_FLAGS", "--xla_a=1 --xla_b=2", 1);
}

// Collects, writes, reads back and compares.
static keel_status_t go(keel_bundle_t *bundle, keel_bundle_t *again, keel_buffer_t *json,
                        keel_bundle_changes_t *changes) {
    const keel_bundle_request_t request = {
        .interpreter = python, .plugin = python, .is_client = false};
    keel_bundle_collect(&request, bundle);
    KEEL_TRY(keel_bundle_status(bundle));
    keel_bundle_json(bundle, json);
    KEEL_TRY(keel_buffer_status(json));
    KEEL_TRY(keel_bundle_parse(keel_buffer_bytes(json), again));
    KEEL_TRY(keel_bundle_compare(bundle, again, changes));
    assert_int_equal(changes->count, 0);
    return NULL;
}

static keel_status_t go_once(size_t *out_facts) {
    keel_bundle_t bundle, again;
    keel_buffer_t json;
    keel_bundle_changes_t changes = {0};
    keel_bundle_initialize(&bundle);
    keel_bundle_initialize(&again);
    keel_buffer_initialize(&json, 0);
    keel_status_t status = go(&bundle, &again, &json, &changes);
    *out_facts = bundle.count;
    keel_bundle_changes_deinitialize(&changes);
    keel_buffer_deinitialize(&json);
    keel_bundle_deinitialize(&again);
    keel_bundle_deinitialize(&bundle);
    return status;
}

static uint64_t count_of(keel_fault_kind_t kind, size_t *out_facts) {
    keel_fault_arm(kind, 0);
    assert_ok(go_once(out_facts));
    return keel_fault_count(kind);
}

static void test_each_allocation_fails_once(void **state) {
    (void)state;
    size_t whole, facts;
    uint64_t count = count_of(KEEL_FAULT_ALLOC, &whole);
    assert_true(count > 10);
    for (uint64_t i = 1; i <= count; ++i) {
        keel_fault_arm(KEEL_FAULT_ALLOC, i);
        keel_status_t status = go_once(&facts);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        assert_code(status, KEEL_NO_MEMORY);
    }
    assert_ok(go_once(&facts));
    assert_int_equal(facts, whole);
}

static void test_each_file_operation_fails_once(void **state) {
    (void)state;
    size_t whole, facts;
    uint64_t count = count_of(KEEL_FAULT_FILE, &whole);
    assert_true(count > 10);
    for (uint64_t i = 1; i <= count; ++i) {
        keel_fault_arm(KEEL_FAULT_FILE, i);
        keel_status_t status = go_once(&facts);
        keel_fault_arm(KEEL_FAULT_FILE, 0);
        assert_ok(status);
        assert_true(facts <= whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails_once),
        cmocka_unit_test(test_each_file_operation_fails_once),
    };
    make_environment();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    place_remove(&place);
    return failed;
}
