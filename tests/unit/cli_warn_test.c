// What is said of recompiles while a run goes on: when, and how often.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/warn.h"

static const uint64_t second = 1000000000u;

static int make_warn(void **state) {
    static cli_warn_t warn;
    cli_warn_initialize(&warn);
    *state = &warn;
    return 0;
}

static int destroy_warn(void **state) {
    cli_warn_deinitialize(*state);
    return 0;
}

static void one_that_breaks_a_steady_run_counts_at_once(void **state) {
    uint64_t count;
    assert_true(cli_warn_counts(*state, 1, CLI_WARN_STEADY, &count));
    assert_int_equal(count, 0);
    assert_true(cli_warn_counts(*state, 1, 1000, &count));
}

static void those_of_a_run_that_never_was_steady_count_at_the_fifth_and_then_rarely(void **state) {
    uint64_t count;
    for (uint64_t i = 1; i <= 600; ++i) {
        bool counts = cli_warn_counts(*state, 1, CLI_WARN_STEADY - 1, &count);
        assert_int_equal(count, i);
        assert_int_equal(counts, i == 5 || i == 50 || i == 500);
    }
    assert_false(cli_warn_counts(*state, 2, 0, &count)); // another process
    assert_int_equal(count, 1);
}

static void processes_of_a_job_say_one_thing_once(void **state) {
    assert_true(cli_warn_is_new(*state, 1, KEEL_STR("train.py:12 shape")));
    assert_false(cli_warn_is_new(*state, 2, KEEL_STR("train.py:12 shape")));
    assert_true(cli_warn_is_new(*state, 1, KEEL_STR("train.py:12 shape"))); // it happened again
    assert_true(cli_warn_is_new(*state, 2, KEEL_STR("train.py:13 shape")));
}

static void a_minute_has_three_lines_and_then_a_count(void **state) {
    cli_warn_t *warn = *state;
    uint64_t now = 1000 * second;
    for (int i = 0; i < 30; ++i, now += second)
        assert_int_equal(cli_warn_has_room(warn, now), i < 3);
    assert_int_equal(cli_warn_left_out(warn, now), 0); // the minute is not over
    now += 30 * second;
    assert_int_equal(cli_warn_left_out(warn, now), 27);
    assert_int_equal(cli_warn_left_out(warn, now), 0);
    // The count was a line of the next minute.
    assert_true(cli_warn_has_room(warn, now));
    assert_true(cli_warn_has_room(warn, now));
    assert_false(cli_warn_has_room(warn, now));
}

static void what_was_left_out_is_said_before_anything_else(void **state) {
    cli_warn_t *warn = *state;
    uint64_t now = 1000 * second;
    for (int i = 0; i < 4; ++i)
        cli_warn_has_room(warn, now);
    now += 90 * second;
    assert_false(cli_warn_has_room(warn, now));
    assert_int_equal(cli_warn_left_out(warn, now), 2);
}

static void a_quiet_minute_begins_anew(void **state) {
    cli_warn_t *warn = *state;
    for (int i = 0; i < 3; ++i)
        assert_true(cli_warn_has_room(warn, 1000 * second));
    assert_true(cli_warn_has_room(warn, 1060 * second));
    assert_int_equal(cli_warn_left_out(warn, 2000 * second), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_warn, destroy_warn)
    const struct CMUnitTest tests[] = {
        TEST(one_that_breaks_a_steady_run_counts_at_once),
        TEST(those_of_a_run_that_never_was_steady_count_at_the_fifth_and_then_rarely),
        TEST(processes_of_a_job_say_one_thing_once),
        TEST(a_minute_has_three_lines_and_then_a_count),
        TEST(what_was_left_out_is_said_before_anything_else),
        TEST(a_quiet_minute_begins_anew),
    };
    return cmocka_run_group_tests_name("cli_warn", tests, NULL, NULL);
}
