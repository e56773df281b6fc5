// Where processes compare their programs: what the setting `agree` takes.
#define _GNU_SOURCE
#include "place.h"

#include "settings/address.h"
#include "settings/settings.h"

static void test_addresses_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *user, *host, *job;
        uint32_t port, database;
    } cases[] = {
        {"redis://h", "", "h", "", 6379, 0},
        {"redis://h/", "", "h", "", 6379, 0},
        {"redis://10.0.0.1:7000", "", "10.0.0.1", "", 7000, 0},
        {"redis://[::1]", "", "::1", "", 6379, 0},
        {"redis://[fe80::1]:65535/15", "", "fe80::1", "", 65535, 15},
        {"redis://me@cache.example.org:1/2?job=run-7.a", "me", "cache.example.org", "run-7.a", 1,
         2},
        {"redis://h?job=a:b", "", "h", "a:b", 6379, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_redis_address_t address;
        const char *wrong = keel_redis_address_parse(cases[i].text, &address);
        if (wrong) fail_msg("%s %s", cases[i].text, wrong);
        assert_string_equal(address.user, cases[i].user);
        assert_string_equal(address.host, cases[i].host);
        assert_string_equal(address.job, cases[i].job);
        assert_int_equal(address.port, cases[i].port);
        assert_int_equal(address.database, cases[i].database);
    }
}

static void test_what_is_wrong_with_an_address_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *part; // of the message
    } cases[] = {
        {"", "redis://"},
        {"rediss://h", "redis://"},
        {"redis://", "host"},
        {"redis://:6379", "host"},
        {"redis://h h", "host"},
        {"redis://h\x1b[2J", "host"},
        {"redis://[::1", "]"},
        {"redis://[::1]x:7", "host"},
        {"redis://h:", "port"},
        {"redis://h:0", "port"},
        {"redis://h:65536", "port"},
        {"redis://h:7x", "port"},
        {"redis://h/x", "database"},
        {"redis://h/99999", "database"},
        {"redis://me:secret@h", "REDISCLI_AUTH"},
        {"redis://@h", "user"},
        {"redis://h?job=", "job"},
        {"redis://h?jobs=a", "job"},
        {"redis://h?job=a b", "job"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_redis_address_t address;
        const char *wrong = keel_redis_address_parse(cases[i].text, &address);
        if (!wrong || !strstr(wrong, cases[i].part))
            fail_msg("%s: %s", cases[i].text, wrong ? wrong : "passes");
    }
}

static void test_each_part_has_its_length(void **state) {
    (void)state;
    static const struct {
        const char *format;
        int most;
    } parts[] = {{"redis://%s:6379/1", 255},
                 {"redis://[%s]", 255},
                 {"redis://%s@host", 127},
                 {"redis://host?job=%s", 127}};
    char part[300], text[400];
    keel_redis_address_t address;
    memset(part, 'a', sizeof part);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        for (int length = parts[i].most; length < parts[i].most + 2; ++length) {
            part[length] = 0;
            snprintf(text, sizeof text, parts[i].format, part);
            part[length] = 'a';
            const char *wrong = keel_redis_address_parse(text, &address);
            if (!wrong != (length == parts[i].most)) fail_msg("%s: %d", parts[i].format, length);
        }
    }
}

// The value, or what a message says of it.
static void assert_agree(const char *value, int wanted, const char *message) {
    const char *flags[KEEL_SETTING_COUNT] = {[KEEL_SETTING_AGREE] = value};
    keel_settings_t settings;
    keel_status_t status = keel_settings_load(flags, &settings);
    if (message) {
        assert_string_equal(keel_status_message(status), message);
    } else {
        assert_ok(status);
        assert_int_equal(settings.agree, wanted);
    }
    keel_status_ignore(status);
    keel_settings_deinitialize(&settings);
}

static void test_the_setting_takes_words_and_addresses(void **state) {
    (void)state;
    setenv("KEEL_CONFIG", "/dev/null", 1);
    assert_agree(NULL, KEEL_AGREE_OFF, NULL);
    assert_agree("off", KEEL_AGREE_OFF, NULL);
    assert_agree("on", KEEL_AGREE_ON, NULL);
    assert_agree("client", KEEL_AGREE_CLIENT, NULL);
    assert_agree("folder", KEEL_AGREE_FOLDER, NULL);
    assert_agree("redis://h:7", KEEL_AGREE_REDIS, NULL);
    assert_agree("yes", 0,
                 "--agree: 'yes' is unknown; use on, off, client, folder or redis://HOST:PORT");
    assert_agree("redis://h:x", 0,
                 "--agree: 'redis://h:x' has a port that is not a number from 1 to 65535");
    assert_agree("http://h", 0, "--agree: 'http://h' does not begin with redis://");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_are_read),
        cmocka_unit_test(test_what_is_wrong_with_an_address_is_named),
        cmocka_unit_test(test_each_part_has_its_length),
        cmocka_unit_test(test_the_setting_takes_words_and_addresses),
    };
    return cmocka_run_group_tests_name("settings address", tests, NULL, NULL);
}
