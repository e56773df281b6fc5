// Remotes: what the setting `remotes` takes.
#define _GNU_SOURCE
#include "place.h"

#include "settings/settings.h"

static void test_remotes_are_read_in_their_order(void **state) {
    (void)state;
    keel_remotes_t remotes;
    assert_ok(keel_remotes_parse(" file:///mnt/keel/  https://h:8443/a|read-write|timeout=250ms|"
                                 "namespace=team/a-1|ca=/etc/ca.pem\thttp://[::1]/x|read|trusted ",
                                 &remotes));
    assert_int_equal(remotes.count, 3);
    assert_int_equal(remotes.list[0].scheme, KEEL_REMOTE_FILE);
    assert_string_equal(remotes.list[0].url, "file:///mnt/keel");
    assert_false(remotes.list[0].writes || remotes.list[0].trusted);
    assert_true(remotes.list[0].timeout == 5000000000u);
    assert_int_equal(remotes.list[1].scheme, KEEL_REMOTE_HTTP);
    assert_string_equal(remotes.list[1].url, "https://h:8443/a");
    assert_string_equal(remotes.list[1].space, "team/a-1");
    assert_string_equal(remotes.list[1].ca, "/etc/ca.pem");
    assert_true(remotes.list[1].writes && !remotes.list[1].trusted);
    assert_true(remotes.list[1].timeout == 250000000u);
    assert_true(remotes.list[2].trusted && !remotes.list[2].writes);
    assert_ok(keel_remotes_parse("none", &remotes));
    assert_int_equal(remotes.count, 0);
    assert_ok(keel_remotes_parse("", &remotes));
    assert_int_equal(remotes.count, 0);
}

static void test_what_is_wrong_with_a_remote_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *part; // of the message
    } cases[] = {
        {"/mnt/keel", "file://, http://, https://, redis://"},
        {"ftp://h/a", "file://, http://, https://, redis://"},
        {"file://mnt/keel", "absolute path"},
        {"http://", "host"},
        {"http:///a", "host"},
        {"https://me:secret@h/a", "~/.netrc"},
        {"https://me@h/a", "~/.netrc"},
        {"https://h/a?x=1", "?"},
        {"https://h/a\x1b[2J", "\\x1b"},
        {"https://h|write", "read-write"},
        {"redis://", "host"},
        {"s3://", "bucket"},
        {"s3:///a", "bucket"},
        {"s3://b/../c", "strange"},
        {"s3://b|endpoint=ftp://h", "endpoint"},
        {"s3://b|endpoint=https://me@h", "endpoint"},
        {"s3://b|region=", "region"},
        {"https://h|region=eu-west-1", "no s3://"},
        {"rediss://me:secret@h", "REDISCLI_AUTH"},
        {"redis://h/name", "database"},
        {"redis://h?job=x", "?job="},
        {"https://h|", "read-write"},
        {"https://h|timeout=5", "timeout"},
        {"https://h|timeout=0s", "timeout"},
        {"https://h|timeout=99999s", "timeout"},
        {"https://h|timeout=s", "timeout"},
        {"https://h|namespace=../a", "namespace"},
        {"https://h|namespace=/a", "namespace"},
        {"https://h|namespace=", "namespace"},
        {"https://h|namespace=a%2e", "namespace"},
        {"https://h|ca=ca.pem", "ca="},
        {"file:///1 file:///2 file:///3 file:///4 file:///5 file:///6 file:///7", "more than"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_remotes_t remotes;
        keel_status_t status = keel_remotes_parse(cases[i].text, &remotes);
        if (!status) fail_msg("%s is accepted", cases[i].text);
        if (!strstr(keel_status_message(status), cases[i].part))
            fail_msg("%s: '%s' does not say '%s'", cases[i].text, keel_status_message(status),
                     cases[i].part);
        keel_status_ignore(status);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remotes_are_read_in_their_order),
        cmocka_unit_test(test_what_is_wrong_with_a_remote_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
