// Each allocation of writing HLO fails once. The status is clean, the buffer keeps what it had, and
// writing works again afterwards.
#include "hlo_proto.h"

#include "read/write.h"

static keel_status_t write_behind(const keel_program_t *program, keel_buffer_t *out) {
    keel_buffer_initialize(out, 0);
    keel_buffer_text(out, "before");
    KEEL_TRY(keel_buffer_status(out));
    return keel_write_hlo(program, out);
}

static void fail_each(const char *name) {
    char path[512];
    uint8_t *data;
    size_t size;
    keel_program_t program;
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SOURCE, name);
    assert_null(keel_file_read(path, 1 << 20, &data, &size));
    assert_null(keel_read_hlo(keel_bytes(data, size), &program));
    for (uint64_t nth = 1;; ++nth) {
        keel_buffer_t out;
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = write_behind(&program, &out);
        bool reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (reached) assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        if (status && out.data) assert_string_equal(keel_buffer_cstr(&out), "before");
        bool is_written = !status;
        keel_status_ignore(status);
        keel_buffer_deinitialize(&out);
        if (reached) continue;
        assert_true(is_written);
        assert_true(nth > 10);
        print_message("  %s: %llu\n", name, (unsigned long long)nth - 1);
        break;
    }
    keel_program_deinitialize(&program);
    keel_free(data);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    fail_each("tests/samples/hlo/linear_step.hlo"); // with stack frames
    fail_each("fuzz/corpus/hlo/scheduled.hlo");
    fail_each("fuzz/corpus/hlo/numbers.hlo");
    fail_each("fuzz/corpus/hlo/fusion.hlo");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("write hlo faults", tests, NULL, NULL);
}
