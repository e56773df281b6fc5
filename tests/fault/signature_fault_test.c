// Each allocation fails once: of reading what an executable takes and gives, of writing the module
// that stands for it and its outline, and of taking shardings and layouts from that. The status is
// clean, nothing is left behind, and it works again afterwards.
#define _GNU_SOURCE
#include "place.h"

#include "read/read.h"
#include "signature/signature.h"

// CompileOptionsProto: four partitions with SPMD, on the devices 0 to 3.
static const uint8_t options[] = {0x1a, 34, 0x20, 1, 0x28, 4,    0x30, 1,    0x4a, 24,   0x08, 1,
                                  0x10, 4,  0x1a, 3, 0x0a, 1,    0,    0x1a, 3,    0x0a, 1,    1,
                                  0x1a, 3,  0x0a, 1, 2,    0x1a, 3,    0x0a, 1,    3,    0x38, 0};

static keel_status_t settle(keel_signature_t *signature) {
    keel_buffer_t module;
    keel_buffer_initialize(&module, 0);
    keel_buffer_t outline;
    keel_buffer_initialize(&outline, 0);
    keel_signature_module(signature, &module);
    keel_status_t status = keel_buffer_status(&module);
    if (!status) status = keel_signature_outline(keel_buffer_bytes(&module), &outline);
    for (uint32_t i = 0; i < signature->result_count; ++i)
        signature->results[i].settled = false;
    if (!status) status = keel_signature_settle(signature, keel_buffer_bytes(&outline), true);
    keel_buffer_deinitialize(&outline);
    keel_buffer_deinitialize(&module);
    return status;
}

static keel_status_t use(const keel_program_t *program) {
    keel_signature_t signature;
    KEEL_TRY(keel_signature_read(program, keel_bytes(options, sizeof options), &signature));
    keel_status_t status = settle(&signature);
    keel_signature_deinitialize(&signature);
    return status;
}

static void fail_each(const char *name) {
    char path[512];
    uint8_t *data;
    size_t size;
    keel_program_t program;
    snprintf(path, sizeof path, "%s/tests/samples/%s", KEEL_TEST_SOURCE, name);
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    assert_ok(keel_read(keel_bytes(data, size), &program));
    for (uint64_t nth = 1;; ++nth) {
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = use(&program);
        bool is_reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (is_reached) assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        bool is_done = !status;
        keel_status_ignore(status);
        if (is_reached) continue;
        assert_true(is_done);
        assert_true(nth > 4);
        print_message("  %s: %llu\n", name, (unsigned long long)nth - 1);
        break;
    }
    keel_program_deinitialize(&program);
    keel_free(data);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    fail_each("mlir/spmd_auto.mlir");
    fail_each("mlir/gspmd_spmd_auto.mlir");
    fail_each("mlir/shard_map.v1_20.mlir");
    fail_each("mlir/donate.mlir");
    fail_each("hlo/spmd.hlo");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("signature faults", tests, NULL, NULL);
}
