// What the writer of JSON writes, to the byte, and that a parser reads it back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "base/base.h"

typedef struct paper_t {
    keel_buffer_t buffer;
    keel_json_t json;
} paper_t;

static keel_json_t *begin(paper_t *paper, keel_json_style_t style) {
    keel_buffer_initialize(&paper->buffer, 0);
    paper->json = keel_json(&paper->buffer, style);
    return &paper->json;
}

static void assert_written(paper_t *paper, const char *expected) {
    keel_status_t status = keel_buffer_status(&paper->buffer);
    assert_null(status);
    assert_string_equal(keel_buffer_cstr(&paper->buffer), expected);
    json_t *read = json_loads(expected, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(read);
    json_decref(read);
    keel_buffer_deinitialize(&paper->buffer);
}

static void write_nested(keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_object(json, "empty");
    keel_json_end_object(json);
    keel_json_array(json, "list");
    keel_json_array(json, NULL);
    keel_json_end_array(json);
    keel_json_unsigned(json, NULL, 1);
    keel_json_object(json, NULL);
    keel_json_null(json, "a");
    keel_json_bool(json, "b", true);
    keel_json_end_object(json);
    keel_json_bool(json, NULL, false);
    keel_json_end_array(json);
    keel_json_string(json, "last", "x");
    keel_json_end_object(json);
}

static void commas_stand_between_values_at_every_depth(void **state) {
    (void)state;
    paper_t paper;
    write_nested(begin(&paper, KEEL_JSON_COMPACT));
    assert_written(&paper, "{\"empty\":{},\"list\":[[],1,{\"a\":null,\"b\":true},false],"
                           "\"last\":\"x\"}");
    write_nested(begin(&paper, KEEL_JSON_SPACED));
    assert_written(&paper, "{\"empty\": {}, \"list\": [[], 1, {\"a\": null, \"b\": true}, false], "
                           "\"last\": \"x\"}");
}

static void a_value_of_any_kind_stands_alone(void **state) {
    (void)state;
    paper_t paper;
    keel_json_string(begin(&paper, KEEL_JSON_SPACED), NULL, "alone");
    assert_written(&paper, "\"alone\"");
    keel_json_string(begin(&paper, KEEL_JSON_SPACED), NULL, NULL);
    assert_written(&paper, "null");
    keel_json_str(begin(&paper, KEEL_JSON_SPACED), NULL, (keel_str_t){"cut here", 3});
    assert_written(&paper, "\"cut\"");
}

static void breaks_stand_after_the_comma_and_before_the_last_bracket(void **state) {
    (void)state;
    paper_t paper;
    keel_json_t *json = begin(&paper, KEEL_JSON_SPACED);
    keel_json_object(json, NULL);
    keel_json_array(json, "rows");
    for (unsigned i = 0; i < 2; ++i) {
        keel_json_break(json, "\n  ");
        keel_json_unsigned(json, NULL, i);
    }
    keel_json_break(json, "\n");
    keel_json_end_array(json);
    keel_json_break(json, "\n");
    keel_json_bool(json, "on", true);
    keel_json_end_object(json);
    assert_written(&paper, "{\"rows\": [\n  0,\n  1\n],\n\"on\": true}");
}

static void an_empty_list_takes_no_break(void **state) {
    (void)state;
    paper_t paper;
    keel_json_t *json = begin(&paper, KEEL_JSON_SPACED);
    keel_json_array(json, NULL);
    keel_json_array(json, NULL);
    keel_json_break(json, "\n");
    keel_json_end_array(json);
    keel_json_unsigned(json, NULL, 1);
    keel_json_end_array(json);
    assert_written(&paper, "[[], 1]");
}

static void a_key_of_any_text_is_escaped(void **state) {
    (void)state;
    paper_t paper;
    keel_json_t *json = begin(&paper, KEEL_JSON_COMPACT);
    keel_json_object(json, NULL);
    keel_json_key(json, KEEL_STR("a\"b"));
    keel_json_array(json, NULL);
    keel_json_end_array(json);
    keel_json_key(json, KEEL_STR("\n"));
    keel_json_unsigned(json, NULL, 2);
    keel_json_end_object(json);
    assert_written(&paper, "{\"a\\\"b\":[],\"\\n\":2}");
}

static void whole_numbers_keep_all_their_digits(void **state) {
    (void)state;
    paper_t paper;
    keel_json_t *json = begin(&paper, KEEL_JSON_COMPACT);
    keel_json_array(json, NULL);
    keel_json_unsigned(json, NULL, 0);
    keel_json_unsigned(json, NULL, 10);
    keel_json_int(json, NULL, INT64_MIN);
    keel_json_int(json, NULL, INT64_MAX);
    keel_json_int(json, NULL, -1);
    keel_json_end_array(json);
    assert_written(&paper, "[0,10,-9223372036854775808,9223372036854775807,-1]");
    keel_json_unsigned(begin(&paper, KEEL_JSON_COMPACT), NULL, UINT64_MAX);
    assert_string_equal(keel_buffer_cstr(&paper.buffer), "18446744073709551615");
    keel_buffer_deinitialize(&paper.buffer);
}

static void a_double_has_the_decimals_that_are_asked_for(void **state) {
    (void)state;
    static const struct {
        double value;
        unsigned decimals;
        const char *text;
    } rows[] = {
        {0, 6, "0.000000"},
        {1.5, 0, "2"},
        {2.5, 0, "2"},
        {0.03125, 4, "0.0312"},
        {0.09375, 4, "0.0938"},
        {12.000000001, 9, "12.000000001"},
        {0.1, 3, "0.100"},
        {0.9999999, 6, "1.000000"},
        {1e9, 9, "1000000000.000000000"},
        {-1, 2, "0.00"},
        {NAN, 1, "0.0"},
        {INFINITY, 1, "0.0"},
        {1e300, 6, "0.000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        paper_t paper;
        keel_json_double(begin(&paper, KEEL_JSON_COMPACT), NULL, rows[i].value, rows[i].decimals);
        assert_written(&paper, rows[i].text);
    }
}

static void the_smallest_numbers_have_a_digit_and_no_sign(void **state) {
    (void)state;
    paper_t paper;
    keel_json_t *json = begin(&paper, KEEL_JSON_COMPACT);
    keel_json_array(json, NULL);
    keel_json_int(json, NULL, 0);
    keel_json_int(json, NULL, 1);
    keel_json_int(json, NULL, -1);
    keel_json_unsigned(json, NULL, 0);
    keel_json_double(json, NULL, 0, 0);
    keel_json_double(json, NULL, 0.1, 1);
    keel_json_double(json, NULL, 0.06, 1);
    keel_json_double(json, NULL, 0.04, 1);
    keel_json_end_array(json);
    assert_written(&paper, "[0,1,-1,0,0,0.1,0.1,0.0]");
}

static void a_text_that_may_be_unknown_is_left_out_or_cut(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t longest;
        const char *written;
    } rows[] = {{NULL, 0, "[]"},
                {"", 5, "[]"},
                {"a", 0, "[\"a\"]"},
                {"abcde", 5, "[\"abcde\"]"},
                {"abcdef", 5, "[\"abcde...\"]"},
                {"abcdef", 0, "[\"abcdef\"]"},
                // Never inside a character; one of two bytes, then one of four.
                {"abcd\xc3\xa9", 5, "[\"abcd...\"]"},
                {"a\xf0\x9f\x99\x82", 4, "[\"a...\"]"},
                {"\xc3\xa9\xc3\xa9", 2, "[\"\xc3\xa9...\"]"},
                {"\x80\x80\x80", 2, "[\"...\"]"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        paper_t paper;
        keel_json_t *json = begin(&paper, KEEL_JSON_COMPACT);
        keel_json_array(json, NULL);
        keel_json_known(json, NULL, rows[i].text, rows[i].longest);
        keel_json_end_array(json);
        assert_written(&paper, rows[i].written);
    }
    keel_buffer_t small;
    keel_buffer_initialize(&small, 4);
    keel_json_t json = keel_json(&small, KEEL_JSON_COMPACT);
    keel_json_known(&json, NULL, "abcdef", 5);
    assert_true(small.failed);
    keel_buffer_deinitialize(&small);
}

static void bytes_and_digests_are_hex(void **state) {
    (void)state;
    paper_t paper;
    keel_json_t *json = begin(&paper, KEEL_JSON_COMPACT);
    keel_json_object(json, NULL);
    keel_json_hex(json, "none", keel_bytes(NULL, 0));
    keel_json_hex(json, "two", keel_bytes("\x0f\xf0", 2));
    keel_digest_t digest = keel_digest(keel_bytes("a", 1));
    keel_json_digest(json, "digest", &digest);
    keel_json_end_object(json);
    char hex[KEEL_DIGEST_HEX], expected[200];
    keel_digest_hex(&digest, hex);
    snprintf(expected, sizeof expected, "{\"none\":\"\",\"two\":\"0ff0\",\"digest\":\"%s\"}", hex);
    assert_written(&paper, expected);
}

static void the_callers_own_value_is_followed_by_a_comma(void **state) {
    (void)state;
    paper_t paper;
    keel_json_t *json = begin(&paper, KEEL_JSON_SPACED);
    keel_json_object(json, NULL);
    keel_buffer_text(keel_json_value(json, "own"), "[1e3]");
    keel_json_unsigned(json, "next", 1);
    keel_json_end_object(json);
    assert_written(&paper, "{\"own\": [1e3], \"next\": 1}");
}

// On a terminal they would move the cursor or turn what follows.
static void strings_escape_controls_and_marks_of_direction(void **state) {
    (void)state;
    paper_t paper;
    keel_json_str(begin(&paper, KEEL_JSON_COMPACT), NULL,
                  KEEL_STR("\x1b\x7f\xc2\x9b\xc2\x80\xc2\xa0\xd8\x9c"
                           "\xe2\x80\x8e\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9"
                           "\xe2\x80\xa8\xe2\x80\xb0\xf0\x9f\x98\x80"));
    assert_written(&paper,
                   "\"\\u001b\\u007f\\u009b\\u0080\xc2\xa0\\u061c\\u200e\\u202e\\u2066\\u2069"
                   "\\u2028\xe2\x80\xb0\xf0\x9f\x98\x80\"");
}

static void strings_replace_what_is_no_utf8(void **state) {
    (void)state;
    paper_t paper;
    keel_json_str(begin(&paper, KEEL_JSON_COMPACT), NULL, KEEL_STR("a\"b\\\n\0\xff\xc3\xa9"));
    assert_written(&paper, "\"a\\\"b\\\\\\n\\u0000\xEF\xBF\xBD\xc3\xa9\"");
}

static void a_full_buffer_stays_failed(void **state) {
    (void)state;
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 10);
    keel_json_t json = keel_json(&buffer, KEEL_JSON_COMPACT);
    write_nested(&json);
    keel_status_t status = keel_buffer_status(&buffer);
    assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_stand_between_values_at_every_depth),
        cmocka_unit_test(a_value_of_any_kind_stands_alone),
        cmocka_unit_test(breaks_stand_after_the_comma_and_before_the_last_bracket),
        cmocka_unit_test(an_empty_list_takes_no_break),
        cmocka_unit_test(a_key_of_any_text_is_escaped),
        cmocka_unit_test(whole_numbers_keep_all_their_digits),
        cmocka_unit_test(a_double_has_the_decimals_that_are_asked_for),
        cmocka_unit_test(the_smallest_numbers_have_a_digit_and_no_sign),
        cmocka_unit_test(a_text_that_may_be_unknown_is_left_out_or_cut),
        cmocka_unit_test(bytes_and_digests_are_hex),
        cmocka_unit_test(the_callers_own_value_is_followed_by_a_comma),
        cmocka_unit_test(strings_escape_controls_and_marks_of_direction),
        cmocka_unit_test(strings_replace_what_is_no_utf8),
        cmocka_unit_test(a_full_buffer_stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
