#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>

#include "analysis/answer.h"

static keel_digest_t digest_of(const char *text) {
    return keel_digest(keel_str_bytes(keel_str(text)));
}

// The line, read back; the caller frees it.
static json_t *written(const asked_t *asked, const answer_t *answer) {
    keel_buffer_t line;
    keel_buffer_initialize(&line, 0);
    answer_line(asked, answer, &line);
    assert_null(keel_buffer_status(&line));
    assert_true(line.size < 1 << 20);
    json_t *event = json_loadb((const char *)line.data, line.size, 0, NULL);
    assert_non_null(event);
    keel_buffer_deinitialize(&line);
    return event;
}

static const char *text_of(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

static json_int_t number_of(const json_t *event, const char *name) {
    return json_integer_value(json_object_get(event, name));
}

static void an_explanation_is_read_as_it_was_written(void **state) {
    (void)state;
    keel_explanation_t explanation;
    keel_explanation_initialize(&explanation);
    keel_difference_t root = {.kind = KEEL_CAUSE_SHAPE,
                              .subject = "batch['x']",
                              .old_value = "f32[8,4]",
                              .new_value = "f32[5,4]",
                              .place = {"/w/train.py", 88, "main", "/w/run.py", 3},
                              .old_op = KEEL_NONE,
                              .new_op = KEEL_NONE,
                              .follows = KEEL_NONE};
    keel_difference_t folded = {.kind = KEEL_CAUSE_SIZE,
                                .subject = "dot_general",
                                .old_value = "f32[8,4]",
                                .new_value = "f32[5,4]",
                                .place = {.file = "/w/model.py", .line = 41},
                                .old_op = 7,
                                .new_op = 9};
    assert_null(keel_explanation_add(&explanation, &root));
    assert_null(keel_explanation_add(&explanation, &folded));
    explanation.alike = 0.98;
    keel_stack_frame_t frames[] = {{"/w/train.py", "main", 88}, {"/w/train.py", "<module>", 120}};
    keel_stack_t stack = {.frames = frames, .count = 2, .left_out = 6};
    keel_digest_t old = digest_of("old");
    keel_key_t old_key = {.digest = digest_of("key")};
    const asked_t asked = {.kind = KEEL_ASK_COMPILE,
                           .t = 1767268900.25,
                           .pid = 17,
                           .program = digest_of("new"),
                           .key = {.digest = digest_of("key")},
                           .name = "jit_step",
                           .site = {.place = {"/w/train.py", 88, "", "", 0}, .origin = ""},
                           .recompile = true,
                           .seconds = 1.5,
                           .stack = stack};
    const answer_t answer = {.explanation = explanation,
                             .has_record = true,
                             .record = {.program = old,
                                        .name = "jit_step",
                                        .run = "run-0",
                                        .when = 1767268800.5,
                                        .key = &old_key}};
    json_t *event = written(&asked, &answer);
    keel_explanation_deinitialize(&explanation);

    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&old, hex);
    assert_string_equal(text_of(event, "event"), "explain");
    assert_string_equal(text_of(event, "name"), "jit_step");
    assert_string_equal(text_of(event, "what"), "compile");
    assert_true(json_number_value(json_object_get(event, "seconds")) == 1.5);
    assert_true(json_is_true(json_object_get(event, "recompile")));
    assert_true(json_number_value(json_object_get(event, "alike")) == 0.98);
    assert_true(json_number_value(json_object_get(event, "t")) == 1767268900.25);
    assert_int_equal(number_of(event, "pid"), 17);
    const json_t *against = json_object_get(event, "against");
    assert_string_equal(text_of(against, "program"), hex);
    assert_string_equal(text_of(against, "run"), "run-0");
    assert_true(json_number_value(json_object_get(against, "when")) == 1767268800.5);
    assert_true(json_is_false(json_object_get(against, "is_ours")));
    const json_t *first = json_array_get(json_object_get(event, "roots"), 0);
    assert_string_equal(text_of(first, "kind"), "shape");
    assert_string_equal(text_of(first, "subject"), "batch['x']");
    assert_string_equal(text_of(first, "old"), "f32[8,4]");
    assert_string_equal(text_of(first, "new"), "f32[5,4]");
    assert_string_equal(text_of(first, "file"), "/w/train.py");
    assert_int_equal(number_of(first, "line"), 88);
    assert_string_equal(text_of(first, "call_file"), "/w/run.py");
    assert_int_equal(number_of(first, "call_line"), 3);
    assert_int_equal(number_of(first, "folds"), 1);
    static const char *const absent[] = {"note", "old_op", "new_op", "follows"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; ++i)
        assert_null(json_object_get(first, absent[i]));
    const json_t *second = json_array_get(json_object_get(event, "folded"), 0);
    assert_string_equal(text_of(second, "kind"), "size");
    assert_int_equal(number_of(second, "old_op"), 7);
    assert_int_equal(number_of(second, "new_op"), 9);
    assert_true(json_is_integer(json_object_get(second, "follows")));
    assert_int_equal(number_of(event, "folded_total"), 1);
    assert_int_equal(number_of(event, "root_total"), 1);
    const json_t *frame = json_array_get(json_object_get(event, "stack"), 1);
    assert_string_equal(text_of(frame, "function"), "<module>");
    assert_int_equal(number_of(frame, "line"), 120);
    assert_int_equal(number_of(event, "stack_left_out"), 6);
    assert_null(json_object_get(event, "stack_skipped"));
    json_decref(event);
}

// A program of which nothing is known but its name.
static asked_t asked_of(const char *name) {
    return (asked_t){.kind = KEEL_ASK_COMPILE,
                     .program = digest_of(name),
                     .name = "f",
                     .site = {.place = {.file = "", .function = "", .call_file = ""}}};
}

static void the_first_of_its_kind_is_compared_with_nothing(void **state) {
    (void)state;
    asked_t asked = asked_of("first");
    asked.stack.skipped = "no Python in this process";
    answer_t answer = {.has_record = false};
    keel_explanation_initialize(&answer.explanation);
    json_t *event = written(&asked, &answer);
    assert_null(json_object_get(event, "against"));
    assert_int_equal(json_array_size(json_object_get(event, "roots")), 0);
    assert_int_equal(json_array_size(json_object_get(event, "stack")), 0);
    assert_string_equal(text_of(event, "stack_skipped"), "no Python in this process");
    json_decref(event);
    answer_deinitialize(&answer);
}

// As long as texts can be, in as many differences as are kept, and each byte six in JSON.
static void an_explanation_beyond_all_bounds_is_cut(void **state) {
    (void)state;
    enum { LONG = 100000 };
    char *huge = malloc(LONG + 1);
    memset(huge, 1, LONG);
    memcpy(huge, "\xc3\xa9", 2);
    huge[LONG] = 0;
    keel_explanation_t explanation;
    keel_explanation_initialize(&explanation);
    keel_difference_t root = {.subject = huge,
                              .old_value = huge,
                              .new_value = huge,
                              .note = huge,
                              .place = {huge, 1, huge, huge, 1},
                              .follows = KEEL_NONE};
    for (int i = 0; i < 2 * KEEL_ROOTS_KEPT; ++i)
        assert_null(keel_explanation_add(&explanation, &root));
    root.follows = 0;
    for (int i = 0; i < 2 * KEEL_FOLDED_KEPT; ++i)
        assert_null(keel_explanation_add(&explanation, &root));
    keel_stack_frame_t frames[KEEL_STACK_KEPT];
    for (int i = 0; i < KEEL_STACK_KEPT; ++i)
        frames[i] = (keel_stack_frame_t){huge, huge, 1};
    keel_stack_t stack = {.frames = frames, .count = KEEL_STACK_KEPT};
    asked_t asked = asked_of("huge");
    asked.stack = stack;
    json_t *event = written(&asked, &(answer_t){.explanation = explanation});
    const json_t *roots = json_object_get(event, "roots");
    assert_true(json_array_size(roots) > 4 && json_array_size(roots) < KEEL_ROOTS_KEPT);
    assert_int_equal(number_of(event, "root_total"), 2 * KEEL_ROOTS_KEPT);
    const char *subject = text_of(json_array_get(roots, 0), "subject");
    assert_true(strlen(subject) < 2000);
    assert_string_equal(subject + strlen(subject) - 3, "...");
    json_decref(event);
    keel_explanation_deinitialize(&explanation);
    free(huge);
}

static void a_text_is_not_cut_within_a_character(void **state) {
    (void)state;
    char text[1100] = "x"; // so that characters begin at odd offsets
    for (int i = 0; i < 549; ++i)
        memcpy(text + 1 + 2 * i, "\xc3\xa9", 3);
    keel_explanation_t explanation;
    keel_explanation_initialize(&explanation);
    assert_null(keel_explanation_add(&explanation,
                                     &(keel_difference_t){.subject = text, .follows = KEEL_NONE}));
    asked_t asked = asked_of("cut");
    json_t *event = written(&asked, &(answer_t){.explanation = explanation});
    const char *subject = text_of(json_array_get(json_object_get(event, "roots"), 0), "subject");
    assert_int_equal(strlen(subject), 1023 + 3); // 1 and 511 characters of two bytes
    assert_null(strstr(subject, "\xef\xbf\xbd"));
    json_decref(event);
    keel_explanation_deinitialize(&explanation);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_explanation_is_read_as_it_was_written),
        cmocka_unit_test(the_first_of_its_kind_is_compared_with_nothing),
        cmocka_unit_test(an_explanation_beyond_all_bounds_is_cut),
        cmocka_unit_test(a_text_is_not_cut_within_a_character),
    };
    return cmocka_run_group_tests_name("analysis_line", tests, NULL, NULL);
}
