// What people read and write: sizes, times, hex and UTF-8; statuses, the log, the clock.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"

// ---- sizes and times ----------------------------------------------------------------------------

static void a_size_is_a_number_and_at_most_one_unit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t size;
    } good[] = {{"0", 0},
                {"9k", 9 << 10},
                {"9KB", 9 << 10},
                {"9Ki", 9 << 10},
                {"9kib", 9 << 10},
                {"3m", 3 << 20},
                {"2g", 2ull << 30},
                {"5T", 5ull << 40},
                {"16777215T", 16777215ull << 40},
                {"18446744073709551615", UINT64_MAX}};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        uint64_t size = 1;
        assert_true(keel_parse_size(good[i].text, &size));
        assert_int_equal(size, good[i].size);
    }
    static const char *const bad[] = {"",      " 1",  "+1",    "k",         "1 k",
                                      "1kk",   "1bi", "1kibb", "16777216T", "18446744073709551616",
                                      "1kibi", "1b",  "1p"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        uint64_t size = 77;
        assert_false(keel_parse_size(bad[i], &size));
        assert_int_equal(size, 77);
    }
}

static void an_age_is_a_number_with_a_unit_or_zero(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t seconds;
    } good[] = {{"0", 0},
                {"0d", 0},
                {"10s", 10},
                {"45m", 45 * 60},
                {"12h", 12 * 3600},
                {"30d", 30 * 86400},
                {"2w", 2 * 604800},
                {"3D", 3 * 86400},
                {"9223372036854775807s", INT64_MAX},
                {"153722867280912930m", 153722867280912930ull * 60}};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        uint64_t seconds = 1;
        assert_true(keel_parse_age(good[i].text, &seconds));
        assert_int_equal(seconds, good[i].seconds);
    }
    static const char *const bad[] = {"",
                                      "d",
                                      "-1d",
                                      " 1d",
                                      "1",
                                      "10",
                                      "1dd",
                                      "1y",
                                      "1 d",
                                      "0y",
                                      "9223372036854775808s",
                                      "153722867280912931m",
                                      "99999999999999999999s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        uint64_t seconds;
        if (keel_parse_age(bad[i], &seconds)) fail_msg("%s is an age", bad[i]);
    }
}

static void a_size_has_the_unit_that_fits_it(void **state) {
    (void)state;
    static const struct {
        uint64_t size;
        const char *text;
    } rows[] = {{1, "1 B"},
                {1024, "1.0 KiB"},
                {102348, "99.9 KiB"}, // 99.949...
                {102349, "100 KiB"},  // 99.95
                {1048063, "1023 KiB"},
                {1048064, "1.0 MiB"}, // 1023.5 KiB
                {1ull << 40, "1.0 TiB"},
                {1ull << 50, "1.0 PiB"},
                {UINT64_MAX, "16.0 EiB"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[16];
        keel_format_size(rows[i].size, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void a_moment_is_written_in_utc(void **state) {
    (void)state;
    char text[24];
    keel_clock_iso(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    keel_clock_iso(1763732702999999999u, text);
    assert_string_equal(text, "2025-11-21T13:45:02Z");
}

// ---- hex and UTF-8 ------------------------------------------------------------------------------

static void hex_is_read_as_it_was_written_in_either_case(void **state) {
    (void)state;
    uint8_t bytes[256], read[256];
    for (size_t i = 0; i < 256; ++i)
        bytes[i] = (uint8_t)i;
    char text[516];
    memset(text, 'x', sizeof text);
    keel_hex(bytes, 256, text);
    assert_int_equal(strlen(text), 512);
    assert_memory_equal(text + 513, "xxx", 3);
    assert_memory_equal(text + 2 * 0x9a, "9a9b9c9d9e9fa0", 14);
    assert_true(keel_unhex(keel_str(text), read, 256));
    assert_memory_equal(read, bytes, 256);
    assert_true(keel_unhex(KEEL_STR("AFaf09"), read, 3));
    assert_memory_equal(read, "\xaf\xaf\x09", 3);
    static const char *const bad[] = {"",     "a",    "abc",  "abcde", "/0ff", "0:ff", "ff@0",
                                      "ffG0", "ff`0", "ff0g", "ff 0",  "g000", "0g00"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
        if (keel_unhex(keel_str(bad[i]), read, 2)) fail_msg("%s is hex", bad[i]);
}

static void assert_digest(const keel_digest_t *digest, const char *hex) {
    char text[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, text);
    assert_string_equal(text, hex);
}

// The values are those of Python's hashlib.blake2b(..., digest_size=32).
static void a_digest_is_blake2b_with_256_bits(void **state) {
    (void)state;
    static const char empty[] = "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
                      abc[] = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319";
    keel_digest_t digest = keel_digest(keel_bytes(NULL, 0)), read;
    assert_digest(&digest, empty);
    digest = keel_digest(keel_bytes("abc", 3));
    assert_digest(&digest, abc);
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, "a", 1);
    keel_hasher_update(&hasher, "", 0);
    keel_hasher_update(&hasher, "bc", 2);
    digest = keel_hasher_finish(&hasher);
    assert_digest(&digest, abc);
    assert_true(keel_digest_unhex(KEEL_STR(abc), &read));
    assert_digest(&read, abc);
    assert_false(keel_digest_unhex((keel_str_t){abc, 62}, &read));
    assert_true(keel_quick_hash(keel_bytes("a", 1)) != keel_quick_hash(keel_bytes("b", 1)));
}

static void one_bit_or_one_byte_more_makes_other_content(void **state) {
    (void)state;
    enum { SIZE = 4000 };
    static uint8_t bytes[SIZE + 1];
    const keel_digest_t known = keel_content_digest(keel_bytes(bytes, SIZE));
    for (size_t size = 0; size <= SIZE + 1; ++size) {
        keel_digest_t other = keel_content_digest(keel_bytes(bytes, size));
        assert_int_equal(keel_digest_equal(&known, &other), size == SIZE);
    }
    for (size_t bit = 0; bit < SIZE * 8; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        keel_digest_t other = keel_content_digest(keel_bytes(bytes, SIZE));
        assert_false(keel_digest_equal(&known, &other));
        bytes[bit / 8] = 0;
    }
}

static void only_what_rfc_3629_allows_is_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } rows[] = {
        {"\x7f", 1},
        {"\x80", 0},
        {"\xbf", 0},
        {"\xc1\xbf", 0}, // overlong
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xdf\x7f", 0},
        {"\xdf\xc0", 0},
        {"\xdf", 0},
        {"\xe0\x9f\xbf", 0}, // overlong
        {"\xe0\xa0\x80", 3},
        {"\xe1\x80\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0}, // a surrogate
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xef\xbf\x41", 0},
        {"\xef\x41\xbf", 0},
        {"\xef\xbf", 0},
        {"\xf0\x8f\xbf\xbf", 0}, // overlong
        {"\xf0\x90\x80\x80", 4},
        {"\xf1\x80\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0}, // beyond U+10FFFF
        {"\xf5\x80\x80\x80", 0},
        {"\xf1\x80\x80\x41", 0},
        {"\xf1\x80\x80", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        size_t length = keel_utf8_length(keel_str(rows[i].text), 0);
        if (length != rows[i].length) fail_msg("row %zu: %zu bytes", i, length);
    }
    // What continues a character must be in the text, not only in memory.
    assert_int_equal(keel_utf8_length((keel_str_t){"a\xc3\xa9", 2}, 1), 0);
    assert_int_equal(keel_utf8_length((keel_str_t){"a\xc3\xa9", 3}, 1), 2);
    assert_int_equal(keel_utf8_length((keel_str_t){"a\xc3\xa9", 3}, 2), 0);
}

static void marks_of_direction_are_those_and_no_neighbours(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool shows;
    } rows[] = {{"\x1f", false},         {"\x20", true},          {"\x7e", true},
                {"\xc2\xa0", true},      {"\xc3\x80", true},      {"\xd8\x9b", true},
                {"\xd8\x9d", true},      {"\xd9\x9c", true},      {"\xe2\x80\x8d", true},
                {"\xe2\x80\x90", true},  {"\xe2\x80\xa7", true},  {"\xe2\x80\xa8", false},
                {"\xe2\x80\xae", false}, {"\xe2\x80\xaf", true},  {"\xe2\x81\xa5", true},
                {"\xe2\x81\xa6", false}, {"\xe2\x81\xa9", false}, {"\xe2\x81\xaa", true},
                {"\xe2\x82\xa8", true},  {"\xe3\x80\x8e", true},  {"\xe3\x81\xa6", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        size_t length;
        if (keel_utf8_shows(keel_str(rows[i].text), 0, &length) != rows[i].shows)
            fail_msg("row %zu", i);
    }
}

// ---- bytes --------------------------------------------------------------------------------------

static void a_number_at_the_end_of_a_name_is_cut(void **state) {
    (void)state;
    static const struct {
        const char *name, *base;
        char separator;
    } rows[] = {{"helper_0", "helper", '_'},
                {"helper_12", "helper", '_'},
                {"helper", "helper", '_'},
                {"helper_", "helper_", '_'},
                {"helper12", "helper12", '_'},
                {"_12", "_12", '_'},
                {"a_b_1", "a_b", '_'},
                {"a_1_2", "a_1", '_'},
                {"a_1x", "a_1x", '_'},
                {"a.3", "a", '.'},
                {"a.3", "a.3", '_'},
                {"", "", '_'},
                {"12", "12", '_'},
                {"a_9", "a", '_'}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_str_t base = keel_str_without_number(keel_str(rows[i].name), rows[i].separator);
        if (!keel_str_is(base, rows[i].base)) fail_msg("%s", rows[i].name);
    }
}

static void a_part_is_found_anywhere_in_a_text(void **state) {
    (void)state;
    assert_true(keel_str_contains(KEEL_STR("abc"), "abc"));
    assert_true(keel_str_contains(KEEL_STR("abc"), "c"));
    assert_true(keel_str_contains(KEEL_STR("abc"), "a"));
    assert_true(keel_str_contains(KEEL_STR("abc"), ""));
    assert_false(keel_str_contains(KEEL_STR("abc"), "abcd"));
    assert_false(keel_str_contains((keel_str_t){"abcd", 3}, "cd"));
    assert_false(keel_str_contains((keel_str_t){NULL, 0}, "a"));
}

// ---- statuses -----------------------------------------------------------------------------------

static void a_status_without_a_failure_is_null(void **state) {
    (void)state;
    assert_null(keel_status_make(KEEL_OK, "fine"));
    assert_null(keel_status_annotate(NULL, "reading"));
    assert_int_equal(keel_status_code(NULL), KEEL_OK);
    assert_string_equal(keel_status_message(NULL), "");
    keel_status_ignore(NULL);
}

static void a_message_is_cut_at_4_kib(void **state) {
    (void)state;
    for (int length = 4094; length <= 4097; ++length) {
        keel_status_t status = keel_status_make(KEEL_CORRUPT, "%*s", length, "x");
        const char *message = keel_status_message(status);
        assert_int_equal(strlen(message), length < 4095 ? length : 4095);
        status = keel_status_annotate(status, "reading %s", "a.mlir");
        message = keel_status_message(status);
        assert_int_equal(strlen(message), 4095);
        assert_memory_equal(message, "reading a.mlir:  ", 17);
        assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
        // The words before it may take all the room.
        status = keel_status_annotate(status, "%*s", 5000, "y");
        assert_int_equal(strlen(keel_status_message(status)), 4095);
        keel_status_ignore(status);
    }
}

static void each_code_has_its_word(void **state) {
    (void)state;
    assert_string_equal(keel_code_word(KEEL_OK), "ok");
    assert_string_equal(keel_code_word(KEEL_NOT_FOUND), "not found");
    assert_string_equal(keel_code_word(KEEL_INTERNAL), "internal");
    assert_string_equal(keel_code_word((keel_code_t)99), "unknown");
}

// ---- the log ------------------------------------------------------------------------------------

// What a function writes to stderr.
static const char *said_by(void (*speak)(void)) {
    static char text[32768];
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    speak();
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void say_twice(void) {
    keel_log_once("one", "%d byte", 1);
    keel_log_once("one", "%d bytes", 2);
    keel_log_once("two", "more");
}

static void say_while_quiet(void) {
    setenv("KEEL_QUIET", "1", 1);
    keel_log_once("quiet", "not said");
    setenv("KEEL_QUIET", "0", 1);
    keel_log_once("quiet", "said");
    unsetenv("KEEL_QUIET");
    keel_log_once("not quiet", "said too");
}

static void say_too_much(void) {
    keel_log_once("long", "%*s", 5000, "");
}

static void say_what_a_terminal_would_obey(void) {
    keel_log_once("obeyed", "a\x1b[31m %s",
                  "\xc2\x9b"
                  "2J\xe2\x80\xae\xc3\xa9\n\n  second\xff");
}

static void say_of_many_things(void) {
    static char topics[100][8];
    for (int i = 0; i < 100; ++i) {
        snprintf(topics[i], sizeof topics[i], "many %d", i);
        keel_log_once(topics[i], "x");
    }
}

static void a_topic_is_said_once_in_a_line_of_its_own(void **state) {
    (void)state;
    unsetenv("KEEL_QUIET");
    assert_string_equal(said_by(say_twice), "keel: 1 byte\nkeel: more\n");
    assert_string_equal(said_by(say_while_quiet), "keel: said\nkeel: said too\n");
    const char *line = said_by(say_too_much);
    assert_int_equal(strlen(line), 4095);
    assert_int_equal(line[4094], '\n');
    assert_string_equal(said_by(say_what_a_terminal_would_obey),
                        "keel: a?[31m ?2J?\xc3\xa9\n\n  second?\n");
    // Six topics before; then the memory of 64 is full, and it falls silent.
    assert_int_equal(strlen(said_by(say_of_many_things)), (64 - 6) * strlen("keel: x\n"));
    assert_string_equal(said_by(say_of_many_things), "");
}

// ---- the clock ----------------------------------------------------------------------------------

static uint64_t began;

static void a_process_knows_when_it_began(void **state) {
    (void)state;
    // Begun before main, and not long before; the kernel counts in hundredths of a second.
    double since_main = keel_seconds(keel_clock_monotonic() - began);
    assert_true(keel_process_seconds() > since_main - 0.02);
    assert_true(keel_process_seconds() < since_main + 30);
    double ago = keel_seconds(keel_clock_wall()) - keel_process_began();
    assert_true(ago > since_main - 0.02 && ago < since_main + 30);
    double difference = ago - keel_process_seconds();
    assert_true(difference > -0.5 && difference < 0.5);
}

static void clocks_count_nanoseconds(void **state) {
    (void)state;
    uint64_t monotonic = keel_clock_monotonic(), wall = keel_clock_wall();
    uint64_t thread = keel_clock_thread();
    usleep(100000);
    assert_in_range(keel_clock_monotonic() - monotonic, 100000000, 20000000000);
    assert_in_range(keel_clock_wall() - wall, 90000000, 20000000000);
    // A thread that sleeps uses no processor.
    assert_in_range(keel_clock_thread() - thread, 0, 80000000);
    assert_true(keel_seconds(wall) > 1.7e9 && keel_seconds(wall) < 1e10);
}

int main(void) {
    began = keel_clock_monotonic();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_is_a_number_and_at_most_one_unit),
        cmocka_unit_test(an_age_is_a_number_with_a_unit_or_zero),
        cmocka_unit_test(a_size_has_the_unit_that_fits_it),
        cmocka_unit_test(a_moment_is_written_in_utc),
        cmocka_unit_test(hex_is_read_as_it_was_written_in_either_case),
        cmocka_unit_test(a_digest_is_blake2b_with_256_bits),
        cmocka_unit_test(one_bit_or_one_byte_more_makes_other_content),
        cmocka_unit_test(only_what_rfc_3629_allows_is_utf8),
        cmocka_unit_test(marks_of_direction_are_those_and_no_neighbours),
        cmocka_unit_test(a_number_at_the_end_of_a_name_is_cut),
        cmocka_unit_test(a_part_is_found_anywhere_in_a_text),
        cmocka_unit_test(a_status_without_a_failure_is_null),
        cmocka_unit_test(a_message_is_cut_at_4_kib),
        cmocka_unit_test(each_code_has_its_word),
        cmocka_unit_test(a_topic_is_said_once_in_a_line_of_its_own),
        cmocka_unit_test(clocks_count_nanoseconds),
        cmocka_unit_test(a_process_knows_when_it_began), // a moment ago, thanks to the one above
    };
    return cmocka_run_group_tests_name("base_text", tests, NULL, NULL);
}
