// How a recorded run's client was set up, read back from its journal.
#define _GNU_SOURCE
#include "place.h"

#include <jansson.h>
#include <stdlib.h>

#include "cli/recorded.h"

static cli_recorded_t recorded;

static int begin(void **state) {
    (void)state;
    unsetenv("XLA_FLAGS");
    unsetenv("LIBTPU_INIT_ARGS");
    cli_recorded_initialize(&recorded);
    return 0;
}

static int end(void **state) {
    (void)state;
    cli_recorded_deinitialize(&recorded);
    return 0;
}

static keel_status_t add(const char *event, const char *platform, const char *options) {
    json_t *flags = json_pack("{s:s}", "XLA_FLAGS", "--xla_a=1");
    json_t *start =
        json_pack("{s:s, s:{s:s, s:s}, s:o, s:{s:s}}", "event", event, "plugin", "platform",
                  platform, "path", "/p.so", "flags", flags, "values", "create options", options);
    assert_non_null(start);
    keel_status_t status = cli_recorded_add(&recorded, start, "cuda");
    json_decref(start);
    return status;
}

static const PJRT_NamedValue *option(const char *name) {
    for (size_t i = 0; i < recorded.count; ++i)
        if (keel_str_is((keel_str_t){recorded.options[i].name, recorded.options[i].name_size},
                        name))
            return &recorded.options[i];
    fail_msg("no option %s", name);
    return NULL;
}

static void each_kind_of_option_is_made_again(void **state) {
    (void)state;
    assert_ok(
        add("start", "cuda",
            "a=true\nb=false\nc=\"de\\\"f\\\\\"\nempty=\"\"\nn=-12\nlist=2,4,-1\nf=0x1.8p-1\n"));
    assert_int_equal(recorded.count, 7);
    assert_true(option("a")->type == PJRT_NamedValue_kBool && option("a")->bool_value);
    assert_true(option("b")->type == PJRT_NamedValue_kBool && !option("b")->bool_value);
    assert_int_equal(option("c")->type, PJRT_NamedValue_kString);
    assert_string_equal(option("c")->string_value, "de\"f\\");
    assert_int_equal(option("c")->value_size, 5);
    assert_int_equal(option("empty")->value_size, 0);
    assert_true(option("n")->type == PJRT_NamedValue_kInt64 && option("n")->int64_value == -12);
    assert_true(option("f")->type == PJRT_NamedValue_kFloat && option("f")->float_value == 0.75F);
    assert_int_equal(option("list")->type, PJRT_NamedValue_kInt64List);
    assert_int_equal(option("list")->value_size, 3);
    assert_int_equal(option("list")->int64_array_value[2], -1);
    assert_string_equal(recorded.plugin, "/p.so");
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_a=1");
}

static void other_platforms_and_later_clients_do_not_count(void **state) {
    (void)state;
    assert_ok(add("start", "cpu", "a=1\n"));
    assert_ok(add("compile", "cuda", "b=1\n"));
    assert_int_equal(recorded.count, 0);
    assert_null(getenv("XLA_FLAGS"));
    assert_ok(add("start", "cuda", ""));
    assert_ok(add("start", "cuda", "c=1\n"));
    assert_int_equal(recorded.count, 0);
}

static keel_status_t add_kernel(const char *name, const char *library) {
    json_t *event = json_pack("{s:s, s:s, s:s, s:i}", "event", "kernel", "name", name, "library",
                              library, "offset", 64);
    assert_non_null(event);
    keel_status_t status = cli_recorded_add(&recorded, event, "cpu");
    json_decref(event);
    return status;
}

static keel_status_t add_start(const char *python, const char *flags) {
    json_t *start =
        json_pack("{s:s, s:[s], s:{s:s, s:s}, s:{s:s}}", "event", "start", "argv", python, "plugin",
                  "platform", "cpu", "path", "/p.so", "flags", "XLA_FLAGS", flags);
    assert_non_null(start);
    keel_status_t status = cli_recorded_add(&recorded, start, "cpu");
    json_decref(start);
    return status;
}

static char here[4096]; // this program: a file that is there

static void its_python_and_kernels_are_taken_if_they_are_here(void **state) {
    (void)state;
    char python[4200];
    place_t place;
    place_make(&place);
    snprintf(python, sizeof python, "%s/python3", place.root);
    assert_int_equal(symlink(here, python), 0);
    assert_ok(add_start(python, "--xla_dump_to=/d"));
    assert_ok(add_kernel("here", here));
    assert_ok(add_kernel("here", here)); // once
    assert_ok(add_kernel("gone", "/nowhere/library.so"));
    assert_string_equal(recorded.python, python);
    assert_string_equal(recorded.plugin, "/p.so");
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_dump_to=/d");
    assert_int_equal(recorded.kernel_count, 1);
    assert_string_equal(recorded.kernels[0].name, "here");
    assert_int_equal(recorded.kernels[0].offset, 64);
    // CompileOptionsProto {executable_build_options {debug_options {xla_dump_to: "d"}}}
    static const char dumps[] = "\x1a\x06\x1a\x04\xea\x06\x01"
                                "d";
    assert_ok(cli_recorded_check_options(&recorded, keel_bytes(dumps, sizeof dumps - 1)));
    place_remove(&place);
}

static void of_a_pack_nothing_is_used_that_names_a_file(void **state) {
    (void)state;
    recorded.is_foreign = true;
    assert_ok(add_start(here, "--xla_dump_to=/d"));
    assert_ok(add_kernel("here", here));
    assert_true(recorded.is_known);
    assert_null(recorded.python);
    assert_null(recorded.plugin);
    assert_null(getenv("XLA_FLAGS"));
    assert_int_equal(recorded.kernel_count, 0);
    static const char dumps[] = "\x1a\x06\x1a\x04\xea\x06\x01"
                                "d";
    keel_status_t status =
        cli_recorded_check_options(&recorded, keel_bytes(dumps, sizeof dumps - 1));
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    assert_non_null(strstr(keel_status_message(status), "xla_dump_to"));
    keel_status_ignore(status);
    assert_ok(cli_recorded_check_options(&recorded, keel_bytes("\x1a\x00", 2)));
}

static void of_a_pack_other_flags_are_used(void **state) {
    (void)state;
    recorded.is_foreign = true;
    assert_ok(add_start(here, "--xla_a=1"));
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_a=1");
}

static void the_environments_own_flags_stay(void **state) {
    (void)state;
    setenv("XLA_FLAGS", "--xla_b=2", 1);
    assert_ok(add("start", "cuda", ""));
    assert_string_equal(getenv("XLA_FLAGS"), "--xla_b=2");
}

static void what_cannot_be_made_again_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"a",       "a=",    "a=bytes 00ff", "a=0x1p+0z",
                                        "a=\"b",   "a=\"",  "a=1,",         "a=1,b",
                                        "a=true ", "a=1 2", "a=\"\\\""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        keel_status_t status = add("start", "cuda", texts[i]);
        if (keel_status_code(status) != KEEL_UNSUPPORTED) fail_msg("%s is taken", texts[i]);
        keel_status_ignore(status);
        end(NULL);
        begin(NULL);
    }
}

static void a_number_is_set_in_place_of_another(void **state) {
    (void)state;
    assert_ok(cli_recorded_set_number(&recorded, "cpu_device_count", 4));
    assert_int_equal(option("cpu_device_count")->int64_value, 4);
    assert_ok(cli_recorded_set_number(&recorded, "cpu_device_count", 8));
    assert_int_equal(recorded.count, 1);
    assert_int_equal(option("cpu_device_count")->int64_value, 8);
}

int main(void) {
#define RECORDED(test) cmocka_unit_test_setup_teardown(test, begin, end)
    ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    if (length < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(its_python_and_kernels_are_taken_if_they_are_here, begin,
                                        end),
        cmocka_unit_test_setup_teardown(of_a_pack_nothing_is_used_that_names_a_file, begin, end),
        cmocka_unit_test_setup_teardown(of_a_pack_other_flags_are_used, begin, end),
        RECORDED(each_kind_of_option_is_made_again),
        RECORDED(other_platforms_and_later_clients_do_not_count),
        RECORDED(the_environments_own_flags_stay),
        RECORDED(what_cannot_be_made_again_is_refused),
        RECORDED(a_number_is_set_in_place_of_another),
    };
    return cmocka_run_group_tests_name("recorded clients", tests, NULL, NULL);
}
