// The password of a host in ~/.netrc.
#define _GNU_SOURCE
#include "place.h"

#include "courier/netrc.h"

static const char text[] = "# hosts\n"
                           "machine first login me password \"a \\\"quoted\\\" word\"\n"
                           "macdef init\n\tmachine second password wrong\n\n"
                           "machine second\n  login one\n  password 1\n"
                           "machine second login two password 2\n"
                           "machine third login nobody\n"
                           "default login any password all";

static void assert_found(const char *host, const char *login, const char *wanted_login,
                         const char *password) {
    netrc_t found = {.login = ""};
    snprintf(found.login, sizeof found.login, "%s", login);
    assert_true(netrc_find_in(keel_str(text), host, &found));
    assert_string_equal(found.login, wanted_login);
    assert_string_equal(found.password, password);
}

static void test_a_host_has_its_own_password(void **state) {
    (void)state;
    assert_found("first", "", "me", "a \"quoted\" word");
    assert_found("second", "", "one", "1");
    assert_found("second", "two", "two", "2");
    assert_found("other", "", "any", "all");
}

static void test_a_host_without_a_password_has_none(void **state) {
    netrc_t found = {.login = "three"};
    (void)state;
    assert_false(netrc_find_in(keel_str(text), "second", &found));
    found = (netrc_t){.login = ""};
    assert_false(netrc_find_in(keel_str("machine third login nobody"), "third", &found));
    assert_false(netrc_find_in(keel_str("machine"), "third", &found));
    assert_false(netrc_find_in(keel_str(""), "third", &found));
    assert_false(netrc_find_in(keel_str("machine a password \"open"), "third", &found));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_host_has_its_own_password),
        cmocka_unit_test(test_a_host_without_a_password_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
