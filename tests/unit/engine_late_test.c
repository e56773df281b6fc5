// What changed in flags that were read earlier.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/late.h"

static void assert_changes(const char *before, const char *now, const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    late_changes(keel_str(before), keel_str(now), &out);
    assert_string_equal(keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_new_is_named),
        cmocka_unit_test(what_is_gone_is_named_if_nothing_is_new),
        cmocka_unit_test(nothing_is_said_of_what_is_as_it_was),
    };
    return cmocka_run_group_tests_name("engine_late", tests, NULL, NULL);
}
