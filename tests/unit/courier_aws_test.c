// Keys for S3, as files and services have them.
#define _GNU_SOURCE
#include "place.h"

#include "courier/aws.h"

static void test_keys_are_those_of_the_profile(void **state) {
    static const char text[] = "# mine\n[default]\naws_access_key_id = ONE\r\n"
                               "aws_secret_access_key=a/b+c==\n\n[ other ]\n"
                               "aws_access_key_id = TWO\naws_secret_access_key = two\n"
                               "aws_session_token = token\n[half]\naws_access_key_id = THREE\n";
    aws_keys_t keys;
    (void)state;
    assert_true(aws_read_profile(keel_str(text), "default", &keys));
    assert_string_equal(keys.id, "ONE");
    assert_string_equal(keys.secret, "a/b+c==");
    assert_string_equal(keys.token, "");
    assert_true(aws_read_profile(keel_str(text), "other", &keys));
    assert_string_equal(keys.id, "TWO");
    assert_string_equal(keys.token, "token");
    assert_false(aws_read_profile(keel_str(text), "half", &keys));
    assert_false(aws_read_profile(keel_str(text), "none", &keys));
    assert_false(aws_read_profile(keel_str(""), "default", &keys));
}

static void test_keys_of_a_role_end(void **state) {
    static const char text[] =
        "{\"Code\": \"Success\", \"AccessKeyId\": \"ASIA\", \"SecretAccessKey\": \"s\", "
        "\"Token\": \"t\", \"Expiration\": \"2026-11-30T17:00:00Z\"}";
    aws_keys_t keys;
    (void)state;
    assert_true(aws_read_answer(keel_str(text), &keys));
    assert_string_equal(keys.id, "ASIA");
    assert_true(keys.ends == 1796058000u * 1000000000ull);
    assert_false(aws_read_answer(keel_str("{\"AccessKeyId\": \"ASIA\"}"), &keys));
    assert_false(aws_read_answer(keel_str("{\"AccessKeyId\": 1, \"SecretAccessKey\": 2}"), &keys));
    assert_false(aws_read_answer(keel_str("<html>"), &keys));
    assert_false(aws_read_answer(keel_str(""), &keys));
}

static void test_times_are_read(void **state) {
    (void)state;
    assert_true(aws_read_time(keel_str("2026-11-30T17:00:00.123Z")) == 1796058000u * 1000000000ull);
    assert_true(aws_read_time(keel_str("1970-01-01T00:00:01Z")) == 1000000000u);
    assert_int_equal(aws_read_time(keel_str("yesterday")), 0);
    assert_int_equal(aws_read_time(keel_str("2026-11-30")), 0);
    assert_int_equal(aws_read_time(keel_str("")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_those_of_the_profile),
        cmocka_unit_test(test_keys_of_a_role_end),
        cmocka_unit_test(test_times_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
