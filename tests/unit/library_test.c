#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "keel/keel.h"

static keel_bytes_t sample(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    uint8_t *data;
    size_t size;
    assert_null(keel_file_read(path, 1 << 20, &data, &size));
    return keel_bytes(data, size);
}

static keel_module_t *module_of(const char *name) {
    keel_bytes_t bytes = sample(name);
    keel_module_t *module = NULL;
    assert_null(keel_module_read(bytes.data, bytes.size, &module));
    // What was read is copied.
    memset((void *)bytes.data, 0xee, bytes.size);
    keel_free((void *)bytes.data);
    return module;
}

static void a_module_says_what_it_is(void **state) {
    (void)state;
    keel_module_t *mlir = module_of("mlir/donate.mlir"), *hlo = module_of("hlo/where.hlo");
    assert_string_equal(keel_module_name(mlir), "jit_donate");
    assert_string_equal(keel_module_format(mlir), "mlir");
    assert_string_equal(keel_module_name(hlo), "SyncTensorsGraph.9");
    assert_string_equal(keel_module_format(hlo), "hlo");

    assert_int_equal(keel_module_operation_count(hlo), 8);
    keel_module_free(mlir);
    keel_module_free(hlo);
    keel_module_free(NULL);
}

static void a_module_is_text_and_json(void **state) {
    (void)state;
    keel_module_t *module = module_of("hlo/where.hlo");
    char *text = NULL, *json = NULL;
    assert_null(keel_module_text(module, &text));
    assert_null(keel_module_json(module, &json));
    assert_non_null(strstr(text, "exponential"));
    assert_int_equal(json[0], '{');
    assert_non_null(strstr(json, "\"exponential\""));
    keel_text_free(text);
    keel_text_free(json);
    keel_text_free(NULL);
    keel_module_free(module);
}

static void a_fingerprint_is_the_same_for_one_program(void **state) {
    (void)state;
    const char *const files[] = {"hlo/linear_step.hlo", "hlo/linear_step_nodebug.hlo",
                                 "hlo/where.hlo"};
    char fingerprints[3][KEEL_FINGERPRINT_SIZE] = {{0}};
    for (size_t i = 0; i < 3; ++i) {
        keel_module_t *module = module_of(files[i]);
        assert_null(keel_module_fingerprint(module, fingerprints[i]));
        assert_int_equal(strspn(fingerprints[i], "0123456789abcdef"), KEEL_FINGERPRINT_SIZE - 1);
        keel_module_free(module);
    }
    assert_string_equal(fingerprints[0], fingerprints[1]);
    assert_string_not_equal(fingerprints[0], fingerprints[2]);
}

static void a_module_with_an_address_of_its_process_is_not_kept(void **state) {
    (void)state;
    keel_module_t *plain = module_of("mlir/donate.mlir"), *calls = module_of("hlo/where.hlo");
    assert_null(keel_module_uncacheable(plain));
    assert_null(keel_module_uncacheable(calls));
    keel_module_free(calls);
    calls = module_of("mlir/custom_partitioning.mlir");
    assert_string_equal(keel_module_uncacheable(calls),
                        "custom call 'CustomSPMDPartitioning' embeds the address of a host object");
    keel_module_free(calls);
    keel_module_free(plain);
}

static keel_code_t code_of_reading(const void *data, size_t size) {
    keel_module_t *module = (keel_module_t *)&size;
    keel_status_t status = keel_module_read(data, size, &module);
    assert_ptr_equal(module, &size);
    keel_code_t code = keel_status_code(status);
    keel_status_ignore(status);
    return code;
}

static void what_is_no_program_is_refused(void **state) {
    (void)state;
    keel_memory_watch(true);
    assert_int_equal(code_of_reading(NULL, 1), KEEL_INVALID);
    assert_int_equal(code_of_reading("", 0), KEEL_CORRUPT);
    assert_int_equal(code_of_reading(NULL, 0), KEEL_CORRUPT);
    assert_int_equal(code_of_reading("not a program", 13), KEEL_CORRUPT);
    keel_bytes_t bytes = sample("mlir/donate.mlir");
    assert_int_equal(code_of_reading(bytes.data, bytes.size / 2), KEEL_CORRUPT);
    keel_free((void *)bytes.data);
    assert_int_equal(keel_memory_in_use(), 0);
    keel_memory_watch(false);
}

static void a_module_that_is_freed_leaves_nothing(void **state) {
    (void)state;
    keel_memory_watch(true);
    keel_module_t *module = module_of("mlir/gpt_step.mlir");
    char *text = NULL;
    assert_null(keel_module_text(module, &text));
    keel_text_free(text);
    keel_module_free(module);
    assert_int_equal(keel_memory_in_use(), 0);
    keel_memory_watch(false);
}

static void a_header_of_another_minor_version_is_refused(void **state) {
    (void)state;
    assert_int_equal(keel_version_number(), KEEL_VERSION_NUMBER);
    assert_null(keel_version_check());
    assert_null(keel_version_check_of(KEEL_VERSION_NUMBER + 1)); // a patch
    keel_status_t status = keel_version_check_of(KEEL_VERSION_NUMBER + 100);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    assert_non_null(strstr(keel_status_message(status), "compile it again"));
    keel_status_ignore(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_says_what_it_is),
        cmocka_unit_test(a_module_is_text_and_json),
        cmocka_unit_test(a_fingerprint_is_the_same_for_one_program),
        cmocka_unit_test(a_module_with_an_address_of_its_process_is_not_kept),
        cmocka_unit_test(what_is_no_program_is_refused),
        cmocka_unit_test(a_module_that_is_freed_leaves_nothing),
        cmocka_unit_test(a_header_of_another_minor_version_is_refused),
    };
    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
