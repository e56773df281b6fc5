// The names that a user knows arguments by, and which of them a program was passed.
#define _GNU_SOURCE
#include "host/host.h"
#include "place.h"

static const char names[] = "rest[0]\tbatch['x']\nrest[1]\tmodel.bias\n\trest[1]\n\tscale\n\t\n";

static void expect_name(const char *client, const char *user) {
    keel_str_t found = keel_names_find(names, keel_str(client));
    assert_int_equal(found.size, strlen(user));
    assert_memory_equal(found.data, user, found.size);
}

static void a_name_is_the_users_where_it_is_known(void **state) {
    (void)state;
    expect_name("rest[0]", "batch['x']");
    expect_name("rest[2]", "rest[2]");
    expect_name("scale", "scale");
    expect_name("", ""); // not what was left out
    assert_int_equal(keel_names_find(NULL, KEEL_STR("x")).size, 1);
}

static void what_was_passed_is_known_by_the_users_name(void **state) {
    (void)state;
    assert_int_equal(keel_names_passing(names, KEEL_STR("scale")), KEEL_PASSED);
    assert_int_equal(keel_names_passing(names, KEEL_STR("model.bias")), KEEL_PASSED);
    assert_int_equal(keel_names_passing(names, KEEL_STR("batch['x']")), KEEL_NOT_PASSED);
    assert_int_equal(keel_names_passing(names, KEEL_STR("mask")), KEEL_NOT_PASSED);
}

static void without_a_whole_list_nothing_is_known(void **state) {
    (void)state;
    assert_int_equal(keel_names_passing(NULL, KEEL_STR("x")), KEEL_PASSING_UNKNOWN);
    assert_int_equal(keel_names_passing("", KEEL_STR("x")), KEEL_PASSING_UNKNOWN);
    assert_int_equal(keel_names_passing("a\tb\n", KEEL_STR("x")), KEEL_PASSING_UNKNOWN);
    assert_int_equal(keel_names_passing("\tscale\n", KEEL_STR("x")), KEEL_PASSING_UNKNOWN);
    assert_int_equal(keel_names_passing("\t", KEEL_STR("x")), KEEL_PASSING_UNKNOWN);
}

static void a_client_without_names_has_them_by_number(void **state) {
    (void)state;
    keel_str_t list[3] = {KEEL_STR(""), KEEL_STR(""), KEEL_STR("old")};
    keel_names_by_number("#0\tx\n#1\t\n#9\ty\n#z\tw\nrest[2]\tz\n", list, 3);
    assert_true(keel_str_is(list[0], "x"));
    assert_int_equal(list[1].size, 0);
    assert_true(keel_str_is(list[2], "old"));
    keel_names_by_number("", list, 3);
    assert_true(keel_str_is(list[0], "x"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_the_users_where_it_is_known),
        cmocka_unit_test(what_was_passed_is_known_by_the_users_name),
        cmocka_unit_test(a_client_without_names_has_them_by_number),
        cmocka_unit_test(without_a_whole_list_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
