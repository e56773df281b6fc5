// Words and values in columns: where lines break, and what of a long value is shown.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/flow.h"

static keel_buffer_t said;

static keel_flow_t flow_of(unsigned width, unsigned indent) {
    said.size = 0;
    return (keel_flow_t){.out = &said, .width = width, .indent = indent};
}

static void assert_said(const char *expected) {
    assert_string_equal(keel_buffer_cstr(&said), expected);
}

static int set_up(void **state) {
    (void)state;
    keel_buffer_initialize(&said, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    keel_buffer_deinitialize(&said);
    return 0;
}

// ---- words -------------------------------------------------------------------------------------

static void assert_words(unsigned width, const char *text, const char *expected) {
    keel_flow_t flow = flow_of(width, 2);
    keel_flow_line(&flow);
    keel_flow_words(&flow, text);
    assert_said(expected);
}

static void a_line_breaks_before_the_word_that_does_not_fit(void **state) {
    (void)state;
    assert_words(10, "aa bb cc dd ee", "  aa bb cc\n  dd ee");
    assert_words(9, "aa bb cc dd ee", "  aa bb\n  cc dd\n  ee");
    assert_words(0, "aa bb cc dd ee", "  aa bb cc dd ee");
    assert_words(6, "aa longer bb", "  aa\n  longer\n  bb"); // never cut
    assert_words(20, "  aa   bb  ", "  aa bb");
    assert_words(6, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 b",
                 "  \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\n  b");
    assert_words(20, "a\x1b[1mb", "  a?[1mb");
    assert_words(20, "", "  ");
}

// What follows a word at once belongs to it.
static void words_go_on_where_the_last_ones_ended(void **state) {
    (void)state;
    keel_flow_t flow = flow_of(12, 0);
    keel_flow_words(&flow, "one");
    keel_flow_words(&flow, ", two");
    keel_flow_words(&flow, " three");
    assert_said("one, two\nthree");
    assert_int_equal(flow.column, 5);
    keel_flow_end(&flow);
    assert_int_equal(flow.column, 0);
}

static void a_buffer_that_failed_fails_what_it_is_said_in(void **state) {
    (void)state;
    keel_flow_t flow = flow_of(0, 0);
    keel_buffer_t whole, short_one;
    keel_buffer_initialize(&whole, 0);
    keel_buffer_text(&whole, "aa bb");
    keel_flow_buffer(&flow, &whole);
    assert_said("aa bb");
    assert_null(keel_buffer_status(&said));
    keel_buffer_initialize(&short_one, 1);
    keel_buffer_text(&short_one, "aa bb");
    keel_flow_buffer(&flow, &short_one);
    keel_status_t status = keel_buffer_status(&said);
    assert_non_null(status);
    keel_status_ignore(status);
}

// ---- cells -------------------------------------------------------------------------------------

static void cells_are_padded_to_their_width(void **state) {
    (void)state;
    keel_flow_t flow = flow_of(0, 0);
    keel_flow_cell(&flow, "\xc3\xa9", 3, false);
    keel_flow_cell(&flow, "b", 3, true);
    keel_flow_cell(&flow, "cdef", 3, true);
    keel_flow_cell(&flow, "ghi", 3, false);
    assert_said("\xc3\xa9    bcdefghi");
    assert_int_equal(flow.column, 13);
}

static void padding_that_nothing_follows_is_dropped(void **state) {
    (void)state;
    keel_flow_t flow = flow_of(0, 2);
    keel_flow_line(&flow);
    keel_flow_cell(&flow, "a", 5, false);
    keel_flow_break(&flow);
    keel_flow_text(&flow, "b ");
    assert_int_equal(flow.column, 4);
    keel_flow_end(&flow); // a value may end in blanks
    assert_said("  a\n  b \n");
}

static void assert_edge(unsigned width, const char *before, const char *expected) {
    keel_flow_t flow = flow_of(width, 2);
    keel_flow_line(&flow);
    keel_flow_text(&flow, before);
    keel_flow_edge(&flow, "end");
    assert_said(expected);
}

static void the_last_word_stands_at_the_right_edge(void **state) {
    (void)state;
    assert_edge(12, "abc", "  abc    end");
    assert_edge(10, "abc", "  abc  end"); // two blanks at least
    assert_edge(9, "abc", "  abc\n  end");
    assert_edge(12, "", "  end"); // there is nothing to stand behind
    assert_edge(0, "abc", "  abc  end");
    assert_edge(0, "", "  end");
}

// ---- long values -------------------------------------------------------------------------------

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

static void assert_around(const char *text, size_t at, unsigned limit, const char *expected) {
    keel_flow_t flow = flow_of(0, 0);
    keel_flow_around(&flow, text, at, limit);
    assert_said(expected);
}

static void of_a_long_text_the_part_around_a_place_is_shown(void **state) {
    (void)state;
    assert_around(letters, 13, 0, letters);
    assert_around(letters, 13, 26, letters);
    assert_around(letters, 0, 25, "abcdefghijklmnopqrstuv...");
    assert_around(letters, 0, 12, "abcdefghi...");
    assert_around(letters, 8, 12, "abcdefghi...");
    assert_around(letters, 9, 12, "...ghijkl...");
    assert_around(letters, 13, 12, "...klmnop...");
    assert_around(letters, 17, 12, "...opqrst...");
    assert_around(letters, 18, 12, "...rstuvwxyz");
    assert_around(letters, 25, 12, "...rstuvwxyz");
    // Fewer than ten columns show nothing.
    assert_around(letters, 0, 4, "abcdefg...");
    assert_around("abcdefghij", 0, 4, "abcdefghij");
    assert_around("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                  0, 11, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...");
}

static void assert_change(const char *a, const char *b, unsigned limit, const char *expected) {
    keel_flow_t flow = flow_of(0, 0);
    keel_flow_change(&flow, a, b, limit);
    assert_said(expected);
    if (limit == 0) assert_int_equal(keel_flow_change_columns(a, b), keel_flow_columns(expected));
}

static void a_change_shows_where_its_sides_part(void **state) {
    (void)state;
    assert_change("", "", 0, "");
    assert_change("", "", 20, "");
    assert_change("a", "", 0, "a -> nothing");
    assert_change("", "\xc3\xa9", 0, "nothing -> \xc3\xa9");
    assert_change(letters, "f32", 0, "abcdefghijklmnopqrstuvwxyz -> f32");
    // What a short side leaves is the other's.
    assert_change("f32", letters, 28, "f32 -> abcdefghijklmnopqr...");
    assert_change(letters, "f32", 28, "abcdefghijklmnopqr... -> f32");
    assert_change("f32", letters, 33, "f32 -> abcdefghijklmnopqrstuvwxyz");
    assert_change("abcdefghijklmnopqrstuvwxyz", "abcdefghijklm!opqrstuvwxyz", 28,
                  "...klmnop... -> ...klm!op...");
    // A character is not torn.
    assert_change("abcdefghijklm\xc3\xa9pqrstuvwxyz", "abcdefghijklm\xc3\xa8pqrstuvwxyz", 28,
                  "...klm\xc3\xa9pq... -> ...klm\xc3\xa8pq...");
    assert_change(letters, letters, 4, "...tuvwxyz -> ...tuvwxyz");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_line_breaks_before_the_word_that_does_not_fit),
        TEST(words_go_on_where_the_last_ones_ended),
        TEST(a_buffer_that_failed_fails_what_it_is_said_in),
        TEST(cells_are_padded_to_their_width),
        TEST(padding_that_nothing_follows_is_dropped),
        TEST(the_last_word_stands_at_the_right_edge),
        TEST(of_a_long_text_the_part_around_a_place_is_shown),
        TEST(a_change_shows_where_its_sides_part),
    };
    return cmocka_run_group_tests_name("text flow", tests, NULL, NULL);
}
