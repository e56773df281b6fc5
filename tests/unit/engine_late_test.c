// What changed in flags that were read earlier.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/late.h"

static void assert_late(const char *before, const char *now, const late_options_t *options,
                        const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    late_changes(keel_str(before), keel_str(now), options, &out);
    assert_string_equal(keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
}

static void assert_changes(const char *before, const char *now, const char *expected) {
    assert_late(before, now, NULL, expected);
}

static void what_is_new_is_named(void **state) {
    (void)state;
    assert_changes("", "a=1\n", "a=1");
    assert_changes("a=1\nc=3\n", "a=2\nb=\nc=3\n", "a=2 b=");
    assert_changes("a=1\n", "a=12\n", "a=12");
}

static void what_is_gone_is_named_if_nothing_is_new(void **state) {
    (void)state;
    assert_changes("a=1\nb=2\n", "b=2\n", "unset a=1");
    assert_changes("a=1\n", "", "unset a=1");
}

static void nothing_is_said_of_what_is_as_it_was(void **state) {
    (void)state;
    assert_changes("", "", "");
    assert_changes("a=1\nb=2\n", "a=1\nb=2\n", "");
}

static void what_the_options_say_is_not_late(void **state) {
    (void)state;
    const late_options_t options = {KEEL_STR("xla_a=1\nxla_b=0\n"), false};
    assert_late("", "xla_a=true\n", &options, "");
    assert_late("", "xla_a=false\n", &options, "xla_a=false");
    assert_late("", "xla_a=true\nxla_b=true\nxla_c=7\n", &options, "xla_b=true xla_c=7");
    assert_late("xla_c=7\n", "xla_a=true\n", &options, "");
}

static void the_first_compile_may_still_take_flags_but_not_a_number_of_devices(void **state) {
    (void)state;
    const late_options_t options = {KEEL_STR("xla_a=1\n"), true};
    assert_late("", "xla_c=7\nxla_dump_to=/tmp/d\n", &options, "");
    assert_late("", "xla_c=7\nxla_force_host_platform_device_count=8\n", &options,
                "xla_force_host_platform_device_count=8");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_new_is_named),
        cmocka_unit_test(what_is_gone_is_named_if_nothing_is_new),
        cmocka_unit_test(nothing_is_said_of_what_is_as_it_was),
        cmocka_unit_test(what_the_options_say_is_not_late),
        cmocka_unit_test(the_first_compile_may_still_take_flags_but_not_a_number_of_devices),
    };
    return cmocka_run_group_tests_name("engine_late", tests, NULL, NULL);
}
