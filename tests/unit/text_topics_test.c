// The pages of `keel explain`: wrapped for a terminal without losing a word, and found by a word.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

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

// Every cause and every pattern, each once, and the page of one alone.
static void the_list_has_each_word_once(void **state) {
    (void)state;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_topic_list(&out);
    for (size_t i = 0; i < keel_topic_count; ++i) {
        char row[100];
        snprintf(row, sizeof row, "\n  %-12s ", keel_topics[i].word);
        const char *found = strstr(keel_buffer_cstr(&out), row);
        if (!found) fail_msg("%s", row);
        assert_null(strstr(found + 1, row));
    }
    const char *last = "Patterns, over several recompiles of one function\n  ";
    assert_non_null(strstr(keel_buffer_cstr(&out), last));
    assert_null(strstr(strstr(keel_buffer_cstr(&out), last), "\n\n"));
    keel_buffer_deinitialize(&out);
}

static json_t *json_of(const keel_topic_t *one) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_topic_json(one, &out);
    json_t *list = json_loadb((const char *)out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_array(list));
    keel_buffer_deinitialize(&out);
    return list;
}

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void json_has_what_people_read(void **state) {
    (void)state;
    json_t *list = json_of(NULL), *object;
    size_t at, causes = 0;
    assert_int_equal(json_array_size(list), keel_topic_count);
    json_array_foreach(list, at, object) {
        bool is_cause = strcmp(text_of(object, "kind"), "cause") == 0;
        causes += is_cause;
        assert_true(is_cause || strcmp(text_of(object, "kind"), "pattern") == 0);
        assert_true(*text_of(object, "sentence"));
        assert_null(json_object_get(object, "page"));
        assert_int_equal(is_cause, json_is_string(json_object_get(object, "question")));
        const json_t *advice = json_object_get(object, "advice");
        assert_int_equal(is_cause, json_is_object(advice));
        if (is_cause) assert_true(*text_of(advice, "jax") && *text_of(advice, "torch"));
        const keel_topic_t *topic = keel_topic_by_word(text_of(object, "word"));
        assert_non_null(topic);
        json_t *one = json_of(topic), *alone = json_array_get(one, 0);
        assert_int_equal(json_array_size(one), 1);
        assert_string_equal(text_of(alone, "word"), topic->word);
        assert_int_equal(json_string_length(json_object_get(alone, "page")), topic->text.size);
        json_object_del(alone, "page");
        assert_true(json_equal(alone, object));
        json_decref(one);
    }
    assert_in_range(causes, 1, keel_topic_count - 1);
    json_decref(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_wrap_and_nothing_else),
        cmocka_unit_test(without_a_width_a_page_stays_as_it_is),
        cmocka_unit_test(headings_are_bold_but_not_in_programs),
        cmocka_unit_test(every_page_is_found_by_its_word_and_by_one_near_it),
        cmocka_unit_test(the_list_has_each_word_once),
        cmocka_unit_test(json_has_what_people_read),
    };
    return cmocka_run_group_tests_name("text_topics", tests, NULL, NULL);
}
