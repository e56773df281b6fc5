// The scanner of a history's lines: what it takes, and what is not a line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "history/internal.h"

static char room[4096];

// A line is scanned in place, so nothing stands behind it.
static bool reads(const char *text, line_t *out) {
    size_t size = strlen(text);
    char *copy = room + sizeof room - size;
    memcpy(copy, text, size);
    return line_read(copy, size, out);
}

static void assert_text(const char *json, const char *expected) {
    char whole[512];
    line_t line;
    snprintf(whole, sizeof whole, "{\"a\":\"%s\"}", json);
    if (!reads(whole, &line)) fail_msg("%s is not a line", whole);
    if (!keel_str_is(line_text(&line, "a"), expected)) fail_msg("%s", whole);
    assert_int_equal(strlen(line_text(&line, "a").data), strlen(expected));
}

static void strings_are_unescaped(void **state) {
    (void)state;
    assert_text("", "");
    assert_text("plain ~ text", "plain ~ text");
    assert_text("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
    assert_text("x\\u0001\\u007fy", "x\x01\x7fy");
    assert_text("\\u0080\\u07ff", "\xc2\x80\xdf\xbf");
    assert_text("\\u0800\\uD7FF\\ue000\\uffff", "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf");
    assert_text("\\ud800\\udc00\\uDBFF\\uDFFF", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    assert_text("\\u00aF\\u09fA", "\xc2\xaf\xe0\xa7\xba");
    assert_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    // What is shorter unescaped does not disturb what follows.
    assert_text("\\u0061\\u0062c", "abc");
    assert_text("\\u0061\xc3\xa9", "a\xc3\xa9");
}

static void what_is_no_flat_object_is_no_line(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "{}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":1,}",
        "{\"a\":1}x",
        "{\"a\":1}}",
        "x{\"a\":1}",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":[1]}",
        "{\"a\":{}}",
        "{\"a\":\"x}",
        "{\"a\":\"x\x1f\"}",
        "{\"a\":\"\\\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\\u12/4\"}",
        "{\"a\":\"\\u12:4\"}",
        "{\"a\":\"\\u12@4\"}",
        "{\"a\":\"\\u12G4\"}",
        "{\"a\":\"\\u12`4\"}",
        "{\"a\":\"\\u123",
        "{\"a\":\"\\u1234",
        "{\"a\":\"\\udc00\"}",
        "{\"a\":\"\\udfff\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\ud800x\"}",
        "{\"a\":\"\\ud800\\n\"}",
        "{\"a\":\"\\ud800\\udbff\"}",
        "{\"a\":\"\\ud800\\ue000\"}",
        "{\"a\":\"\xc3\"}",
        "{\"a\":\"\x80\"}",
        "{\"a\":\"\\",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        line_t line;
        if (reads(bad[i], &line)) fail_msg("%s is a line", bad[i]);
    }
}

static void fields_are_found_by_name_and_kind(void **state) {
    (void)state;
    line_t line;
    assert_true(reads(" \t{ \"a\" : \"x\" ,\r\"b\":12 , \"c\" : true,\"a\":\"late\"\t} \r", &line));
    assert_int_equal(line.count, 4);
    assert_true(line_has(&line, "a") && line_has(&line, "c"));
    assert_false(line_has(&line, "d") || line_has(&line, ""));
    assert_true(keel_str_is(line_text(&line, "a"), "x"));
    assert_int_equal(line_text(&line, "b").size, 0);
    assert_int_equal(line_text(&line, "d").size, 0);
    assert_int_equal(line_number(&line, "b"), 12);
    assert_int_equal(line_number(&line, "a"), 0);
    assert_int_equal(line_number(&line, "c"), 0);
    assert_int_equal(line_number(&line, "d"), 0);
}

static void numbers_are_whole_and_fit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {{"0", 0},
                {"9", 9},
                {"007", 7},
                {"12345678901234567890", 12345678901234567890u},
                {"-1", 0},
                {"1.5", 0},
                {"1e3", 0},
                {"99999999999999999999", 0},
                {"1E3", 0},
                {"null", 0},
                {"z", 0},
                {"false", 0},
                {"18446744073709551600", 18446744073709551600u}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[64];
        line_t line;
        snprintf(text, sizeof text, "{\"n\":%s}", rows[i].text);
        assert_true(reads(text, &line));
        if (line_number(&line, "n") != rows[i].value) fail_msg("%s", text);
    }
}

static void fields_beyond_the_first_are_of_a_later_keel(void **state) {
    (void)state;
    char text[2048] = "{";
    line_t line;
    for (int i = 0; i <= FIELD_LIMIT; ++i) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s\"f%d\":%d", i ? "," : "", i, i + 1);
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "}");
    assert_true(reads(text, &line));
    assert_int_equal(line.count, FIELD_LIMIT);
    char last[16];
    snprintf(last, sizeof last, "f%d", FIELD_LIMIT - 1);
    assert_int_equal(line_number(&line, last), FIELD_LIMIT);
    snprintf(last, sizeof last, "f%d", FIELD_LIMIT);
    assert_false(line_has(&line, last));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_unescaped),
        cmocka_unit_test(what_is_no_flat_object_is_no_line),
        cmocka_unit_test(fields_are_found_by_name_and_kind),
        cmocka_unit_test(numbers_are_whole_and_fit),
        cmocka_unit_test(fields_beyond_the_first_are_of_a_later_keel),
    };
    return cmocka_run_group_tests_name("history_line", tests, NULL, NULL);
}
