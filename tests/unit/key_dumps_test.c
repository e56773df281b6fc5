// Whether XLA is asked for dumps, by its flags and by compile options.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "key/key.h"

static void assert_asked(const char *got, const char *expected) {
    if (!expected) assert_null(got);
    if (expected) assert_non_null(got);
    if (expected) assert_string_equal(got, expected);
}

static void flags_that_write_something_ask(void **state) {
    (void)state;
    assert_asked(keel_key_dumps_of_flags(NULL), NULL);
    assert_asked(keel_key_dumps_of_flags(""), NULL);
    assert_asked(keel_key_dumps_of_flags("--xla_cpu_enable_fast_math=true"), NULL);
    assert_asked(keel_key_dumps_of_flags("--a=1 --xla_dump_to=/tmp/x"), "xla_dump_to");
    assert_asked(keel_key_dumps_of_flags("--xla_dump_hlo_as_text"), "xla_dump_hlo_as_text");
    assert_asked(keel_key_dumps_of_flags("--xla_dump_hlo_pass_re='.*'"), "xla_dump_hlo_pass_re");
    assert_asked(keel_key_dumps_of_flags("--xla_gpu_dump_autotune_results_to=/r"),
                 "xla_gpu_dump_autotune_results_to");
}

static void flags_that_are_off_or_only_shape_dumps_do_not(void **state) {
    (void)state;
    assert_asked(keel_key_dumps_of_flags("--xla_dump_to="), NULL);
    assert_asked(keel_key_dumps_of_flags("--xla_dump_hlo_as_text=false"), NULL);
    assert_asked(keel_key_dumps_of_flags("--xla_dump_hlo_as_proto=0"), NULL);
    assert_asked(keel_key_dumps_of_flags("--xla_dump_max_hlo_modules=5"), NULL);
    assert_asked(keel_key_dumps_of_flags("--xla_force_host_platform_device_count=8"), NULL);
    assert_asked(keel_key_dumps_of_flags("--xla_dump_to=/tmp/x --xla_enable_dumping=false"), NULL);
}

// ---- compile options ---------------------------------------------------------------------------

static void put(keel_buffer_t *out, uint32_t number, keel_bytes_t bytes) {
    uint64_t tag = (uint64_t)number << 3 | 2;
    for (; tag >= 0x80; tag >>= 7)
        keel_buffer_byte(out, (uint8_t)tag | 0x80);
    keel_buffer_byte(out, (uint8_t)tag);
    assert_true(bytes.size < 0x80);
    keel_buffer_byte(out, (uint8_t)bytes.size);
    keel_buffer_append(out, bytes.data, bytes.size);
}

static const char *asked_by(keel_bytes_t options) {
    keel_dumps_t dumps;
    keel_key_dumps_of_options(options, &dumps);
    return keel_dumps_asked(&dumps);
}

// What asks is also what keel_key_options_without_dumps leaves out.
static void assert_options(const keel_buffer_t *options, const char *expected) {
    keel_buffer_t without;
    keel_buffer_initialize(&without, 0);
    assert_asked(asked_by(keel_buffer_bytes(options)), expected);
    assert_null(keel_key_options_without_dumps(keel_buffer_bytes(options), &without));
    assert_null(asked_by(keel_buffer_bytes(&without)));
    keel_buffer_deinitialize(&without);
}

// Options whose debug options are these bytes.
static void assert_debug(keel_bytes_t debug, const char *expected) {
    keel_buffer_t build, options;
    keel_buffer_initialize(&build, 0);
    keel_buffer_initialize(&options, 0);
    put(&build, 3, debug);
    put(&options, 3, keel_buffer_bytes(&build));
    assert_options(&options, expected);
    keel_buffer_deinitialize(&build);
    keel_buffer_deinitialize(&options);
}

static void debug_options_ask(void **state) {
    (void)state;
    keel_buffer_t debug;
    keel_buffer_initialize(&debug, 0);
    assert_debug(keel_buffer_bytes(&debug), NULL);
    put(&debug, 109, keel_str_bytes(KEEL_STR("")));
    assert_debug(keel_buffer_bytes(&debug), NULL);
    put(&debug, 109, keel_str_bytes(KEEL_STR("/tmp/x")));
    assert_debug(keel_buffer_bytes(&debug), "xla_dump_to");
    assert_debug(keel_bytes("\x80\x07\x01", 3), "xla_dump_hlo_as_text"); // 112: true
    assert_debug(keel_bytes("\x80\x07\x00", 3), NULL);
    keel_buffer_deinitialize(&debug);
}

static void assert_override(const char *name, keel_bytes_t value, const char *expected) {
    keel_buffer_t entry, options;
    keel_buffer_initialize(&entry, 0);
    keel_buffer_initialize(&options, 0);
    put(&entry, 1, keel_str_bytes(keel_str(name)));
    put(&entry, 2, value);
    put(&options, 7, keel_buffer_bytes(&entry));
    assert_options(&options, expected);
    keel_buffer_deinitialize(&entry);
    keel_buffer_deinitialize(&options);
}

static void overrides_ask(void **state) {
    (void)state;
    assert_override("xla_dump_to", keel_bytes("\x0a\x02/x", 4), "xla_dump_to");
    assert_override("xla_dump_to", keel_bytes("\x0a\x00", 2), NULL);
    assert_override("xla_dump_hlo_as_text", keel_bytes("\x10\x01", 2), "xla_dump_hlo_as_text");
    assert_override("xla_dump_hlo_as_text", keel_bytes("\x10\x00", 2), NULL);
    assert_override("xla_dump_hlo_as_text", keel_bytes("", 0), NULL);
    assert_override("xla_cpu_enable_fast_math", keel_bytes("\x10\x01", 2), NULL);
}

// Two that give one key.
static bool are_equal(keel_bytes_t without, keel_bytes_t options) {
    keel_buffer_t left, right, ignored;
    bool understood;
    keel_buffer_initialize(&left, 0);
    keel_buffer_initialize(&right, 0);
    keel_buffer_initialize(&ignored, 0);
    assert_null(
        keel_key_options(without, KEEL_BACKEND_CPU, &left, &ignored, &ignored, &understood));
    assert_true(understood);
    assert_null(
        keel_key_options(options, KEEL_BACKEND_CPU, &right, &ignored, &ignored, &understood));
    bool equal = keel_bytes_equal(keel_buffer_bytes(&left), keel_buffer_bytes(&right));
    keel_buffer_deinitialize(&left);
    keel_buffer_deinitialize(&right);
    keel_buffer_deinitialize(&ignored);
    return equal;
}

static keel_status_t nothing_asked(void *context, const char *name) {
    char path[512];
    uint8_t *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/opts/%s", KEEL_TEST_SAMPLES, name);
    KEEL_TRY(keel_file_read(path, 1 << 20, &bytes, &size));
    keel_buffer_t without;
    keel_buffer_initialize(&without, 0);
    assert_asked(asked_by(keel_bytes(bytes, size)), NULL);
    assert_null(keel_key_options_without_dumps(keel_bytes(bytes, size), &without));
    assert_true(are_equal(keel_buffer_bytes(&without), keel_bytes(bytes, size)));
    keel_buffer_deinitialize(&without);
    keel_free(bytes);
    ++*(int *)context;
    return NULL;
}

static void clients_ask_for_none_by_themselves(void **state) {
    (void)state;
    int count = 0;
    assert_null(keel_directory_walk(KEEL_TEST_SAMPLES "/opts", nothing_asked, &count));
    assert_true(count > 2);
}

static void what_is_no_proto_asks_for_none(void **state) {
    (void)state;
    keel_buffer_t without;
    keel_buffer_initialize(&without, 0);
    assert_null(asked_by(keel_bytes("\xff\xff\xff", 3)));
    assert_null(asked_by(keel_bytes("", 0)));
    keel_status_t status = keel_key_options_without_dumps(keel_bytes("\xff\xff\xff", 3), &without);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_that_write_something_ask),
        cmocka_unit_test(flags_that_are_off_or_only_shape_dumps_do_not),
        cmocka_unit_test(debug_options_ask),
        cmocka_unit_test(overrides_ask),
        cmocka_unit_test(clients_ask_for_none_by_themselves),
        cmocka_unit_test(what_is_no_proto_asks_for_none),
    };
    return cmocka_run_group_tests_name("key_dumps", tests, NULL, NULL);
}
