// The pages of `keel explain`: wrapped for a terminal without losing a word, and found by a word.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "text/topics.h"

static void assert_shown(const char *page, unsigned width, bool color, const char *expected) {
    keel_topic_t topic = {.word = "word", .text = keel_str(page)};
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_topic_text(&topic, width, color, &out);
    assert_string_equal(keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
}

static const char page[] = "# A heading that is longer than a line\n"
                           "\n"
                           "one two three four five\n"
                           "- six seven eight nine\n"
                           "| a table | that is longer | than a line |\n"
                           "```\n"
                           "# a comment in a program that is long\n"
                           "```\n"
                           "the end, here";

static void paragraphs_wrap_and_nothing_else(void **state) {
    (void)state;
    assert_shown(page, 20, false,
                 "# A heading that is longer than a line\n"
                 "\n"
                 "one two three four\n"
                 "five\n"
                 "- six seven eight\n"
                 "  nine\n"
                 "| a table | that is longer | than a line |\n"
                 "```\n"
                 "# a comment in a program that is long\n"
                 "```\n"
                 "the end, here\n");
}

static void without_a_width_a_page_stays_as_it_is(void **state) {
    (void)state;
    char expected[sizeof page + 1];
    snprintf(expected, sizeof expected, "%s\n", page);
    assert_shown(page, 0, false, expected);
}

static void headings_are_bold_but_not_in_programs(void **state) {
    (void)state;
    assert_shown("# A\n```\n# b\n```\n## C\ntext # d\n", 80, true,
                 "\x1b[1m# A\x1b[0m\n```\n# b\n```\n\x1b[1m## C\x1b[0m\ntext # d\n");
    assert_shown("# A\n", 80, false, "# A\n");
    assert_shown("", 80, true, "");
}

static void every_page_is_found_by_its_word_and_by_one_near_it(void **state) {
    (void)state;
    assert_true(keel_topic_count > 10);
    for (size_t i = 0; i < keel_topic_count; ++i) {
        const keel_topic_t *topic = &keel_topics[i];
        assert_ptr_equal(keel_topic_by_word(topic->word), topic);
        assert_string_equal(keel_topic_nearest(topic->word), topic->word);
        if (i) assert_true(strcmp(keel_topics[i - 1].word, topic->word) < 0);
    }
    assert_null(keel_topic_by_word("shap"));
    assert_string_equal(keel_topic_nearest("shap"), "shape");
    assert_string_equal(keel_topic_nearest("shpae"), "shape");
    assert_null(keel_topic_nearest("an elephant"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_wrap_and_nothing_else),
        cmocka_unit_test(without_a_width_a_page_stays_as_it_is),
        cmocka_unit_test(headings_are_bold_but_not_in_programs),
        cmocka_unit_test(every_page_is_found_by_its_word_and_by_one_near_it),
    };
    return cmocka_run_group_tests_name("text_topics", tests, NULL, NULL);
}
