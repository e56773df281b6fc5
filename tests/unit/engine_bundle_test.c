// What a process depends on, in its journal.
#define _GNU_SOURCE
#include "door_help.h"

static void live_once(const door_t *door) {
    (void)door;
    door_live("a program\n");
}

static void make_two_clients(const door_t *door) {
    (void)door;
    door_live("a program\n");
    door_live("another\n");
}

static void test_a_process_tells_its_bundle_once(void **state) {
    const door_t *door = *state;
    door_run(door, "XLA_FLAGS=--xla_a=1\nTEST_PLUGIN=platform=toy", make_two_clients);
    assert_int_equal(count_events(door, "\"event\":\"start\"", ""), 2);
    assert_int_equal(count_events(door, "\"event\":\"bundle\"", ""), 1);
    assert_int_equal(count_events(door, "\"event\":\"bundle\"", "\"platform\": \"toy\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"bundle\"", "\"XLA_FLAGS xla_a\": \"1\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"bundle\"", "\"devices\": {\"0\""), 1);
    // The test is not Python, whatever stands on the path.
    assert_int_equal(count_events(door, "\"event\":\"bundle\"", "\"interpreter\""), 0);
    assert_int_equal(count_events(door, "\"event\":\"fallback\"", "bundle"), 0);
}

static void test_nothing_is_told_with_mode_off(void **state) {
    const door_t *door = *state;
    door_run(door, "KEEL_MODE=off", live_once);
    assert_int_equal(count_events(door, "bundle", ""), 0);
}

static void test_a_plugin_of_an_untried_version_is_said_once(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=minor=200", make_two_clients);
    assert_int_equal(count_lines(door->errors, "PJRT 0.200 is newer than"), 1);
}

static void test_what_keel_run_has_said_is_not_repeated(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=minor=200\nKEEL_TOLD=plugin", live_once);
    assert_int_equal(count_lines(door->errors, "tried with"), 0);
    assert_int_equal(count_events(door, "\"event\":\"bundle\"", "KEEL_TOLD"), 0);
}

static void test_a_tried_plugin_is_no_news(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_once);
    assert_int_equal(count_lines(door->errors, "tried with"), 0);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_process_tells_its_bundle_once),
        CASE(test_nothing_is_told_with_mode_off),
        CASE(test_a_plugin_of_an_untried_version_is_said_once),
        CASE(test_what_keel_run_has_said_is_not_repeated),
        CASE(test_a_tried_plugin_is_no_news),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
