// How often a process that runs for weeks writes its figures.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/pace.h"

enum { DAY = 86400 };
static const uint64_t second = 1000000000ull;

static int make_pace(void **state) {
    keel_engine_t engine = {0};
    keel_status_t status = pace_create(&engine);
    *state = engine.pace;
    return status ? -1 : 0;
}

static int destroy_pace(void **state) {
    pace_destroy(*state);
    return 0;
}

// Looks every two seconds until `until`; returns how often it wrote, and the longest pause.
static uint64_t live(pace_t *pace, uint64_t from, uint64_t until, uint64_t *out_longest) {
    uint64_t count = 0, wrote = from;
    *out_longest = 0;
    for (uint64_t at = from; at < until; at += 2) {
        if (!pace_is_due(pace, (at + 1000) * second)) continue;
        ++count;
        if (at - wrote > *out_longest) *out_longest = at - wrote;
        wrote = at;
    }
    return count;
}

static void a_young_process_writes_whenever_it_looks(void **state) {
    pace_t *pace = *state;
    uint64_t longest;
    assert_int_equal(live(pace, 0, 128, &longest), 64);
    assert_int_equal(longest, 2);
}

static void pauses_grow_with_age_up_to_ten_minutes(void **state) {
    pace_t *pace = *state;
    uint64_t longest;
    live(pace, 0, 3600, &longest);
    assert_in_range(longest, 50, 58); // a 64th of an hour is 56 s
    live(pace, 3600, DAY, &longest);
    assert_in_range(longest, 600, 602);
}

static void a_month_is_a_few_thousand_lines(void **state) {
    pace_t *pace = *state;
    uint64_t longest, first = live(pace, 0, DAY, &longest);
    assert_in_range(first, 400, 600);
    assert_in_range(first + live(pace, DAY, 30 * DAY, &longest), 4000, 5000);
    assert_in_range(longest, 600, 602);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_pace, destroy_pace)
        TEST(a_young_process_writes_whenever_it_looks),
        TEST(pauses_grow_with_age_up_to_ten_minutes),
        TEST(a_month_is_a_few_thousand_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
