// Each allocation fails once: of finding what results need, of making the program that computes
// just these, and of writing it. The status is clean, nothing is left behind, and it works again
// afterwards.
#define _GNU_SOURCE
#include "place.h"

#include "needs/needs.h"
#include "read/read.h"
#include "read/write.h"

static keel_status_t put_program(const keel_program_t *program, keel_buffer_t *out) {
    return program->format == KEEL_FORMAT_HLO ? keel_write_hlo(program, out)
                                              : keel_write_mlir(program, out);
}

static keel_status_t slice(keel_needs_t *needs, uint32_t result) {
    keel_need_t need;
    keel_program_t part;
    keel_buffer_t out;
    KEEL_TRY(keel_needs_of(needs, &result, 1, UINT32_MAX, &need));
    KEEL_TRY(keel_needs_program(needs, &result, 1, &part));
    keel_buffer_initialize(&out, 0);
    keel_buffer_text(&out, "before");
    keel_status_t status = keel_buffer_status(&out);
    if (!status) status = put_program(&part, &out);
    if (status && out.data) assert_string_equal(keel_buffer_cstr(&out), "before");
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&part);
    return status;
}

static keel_status_t slice_all(const keel_program_t *program) {
    keel_needs_t *needs;
    keel_status_t status = NULL;
    KEEL_TRY(keel_needs_create(program, &needs));
    for (uint32_t i = 0; i < keel_needs_result_count(needs) && !status; ++i)
        status = slice(needs, i);
    keel_needs_destroy(needs);
    return status;
}

static void fail_each(const char *name) {
    char path[512];
    uint8_t *data;
    size_t size;
    keel_program_t program;
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SOURCE, name);
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    assert_ok(keel_read(keel_bytes(data, size), &program));
    for (uint64_t nth = 1;; ++nth) {
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = slice_all(&program);
        bool is_reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (is_reached) assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        bool is_done = !status;
        keel_status_ignore(status);
        if (is_reached) continue;
        assert_true(is_done);
        assert_true(nth > 10);
        print_message("  %s: %llu\n", name, (unsigned long long)nth - 1);
        break;
    }
    keel_program_deinitialize(&program);
    keel_free(data);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    fail_each("fuzz/corpus/needs/while.hlo");
    fail_each("fuzz/corpus/needs/conditional.hlo");
    fail_each("fuzz/corpus/needs/nested.hlo");
    fail_each("fuzz/corpus/needs/manual.mlir");
    fail_each("tests/samples/hlo/spmd.hlo");
    fail_each("tests/samples/mlir/scan_while.mlir");
    fail_each("tests/samples/mlir/nested_jit.mlir");
    fail_each("tests/samples/mlir/shard_map.v1_20.mlir");
    fail_each("tests/samples/mlir/composite.v1_20.mlir");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("needs faults", tests, NULL, NULL);
}
