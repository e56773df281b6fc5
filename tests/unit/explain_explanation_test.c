// What an explanation keeps of a difference, and how it is written.
#define _GNU_SOURCE
#include <jansson.h>

#include "base/json.h"
#include "explain/explain.h"
#include "place.h"

static const keel_difference_t whole = {.kind = KEEL_CAUSE_CONSTANT,
                                        .subject = "multiply",
                                        .old_value = "0.1",
                                        .new_value = "0.2",
                                        .note = "closed over",
                                        .place = {.file = "/w/train.py",
                                                  .line = 7,
                                                  .function = "step",
                                                  .call_file = "/w/main.py",
                                                  .call_line = 8,
                                                  .library_file = "/lib/optax.py",
                                                  .library_line = 9},
                                        .old_op = 10,
                                        .new_op = 11,
                                        .folds = 12,
                                        .follows = 13};

static const keel_difference_t bare = {.kind = KEEL_CAUSE_FLAG,
                                       .subject = "",
                                       .old_value = "",
                                       .new_value = "",
                                       .note = "",
                                       .place = {.file = "", .function = "", .call_file = ""},
                                       .old_op = KEEL_NONE,
                                       .new_op = KEEL_NONE,
                                       .follows = KEEL_NONE};

static json_t *written(const keel_difference_t *difference, bool is_root) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_json_t json = keel_json(&text, KEEL_JSON_COMPACT);
    keel_json_object(&json, NULL);
    keel_difference_json(difference, is_root, 100, &json);
    keel_json_end_object(&json);
    json_t *out = json_loadb((const char *)text.data, text.size, 0, NULL);
    keel_buffer_deinitialize(&text);
    assert_non_null(out);
    return out;
}

static void all_that_is_known_of_a_difference_is_written(void **state) {
    (void)state;
    for (int is_root = 0; is_root < 2; ++is_root) {
        json_t *expected = json_pack(
            "{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, s:s, s:i, s:i, s:i, s:i}", "kind",
            "constant", "subject", "multiply", "old", "0.1", "new", "0.2", "note", "closed over",
            "file", "/w/train.py", "line", 7, "function", "step", "call_file", "/w/main.py",
            "call_line", 8, "library_file", "/lib/optax.py", "library_line", 9, "old_op", 10,
            "new_op", 11, is_root ? "folds" : "follows", is_root ? 12 : 13);
        json_t *got = written(&whole, is_root);
        assert_non_null(expected);
        assert_true(json_equal(got, expected));
        json_decref(expected);
        json_decref(got);
    }
}

static void what_is_unknown_is_not_written(void **state) {
    (void)state;
    for (int is_root = 0; is_root < 2; ++is_root) {
        json_t *expected = json_pack("{s:s}", "kind", "flag"), *got = written(&bare, is_root);
        assert_true(json_equal(got, expected));
        json_decref(expected);
        json_decref(got);
    }
    keel_difference_t first = bare; // the first operations and the first root
    first.old_op = first.new_op = first.follows = 0;
    json_t *got = written(&first, false);
    json_t *expected =
        json_pack("{s:s, s:i, s:i, s:i}", "kind", "flag", "old_op", 0, "new_op", 0, "follows", 0);
    assert_true(json_equal(got, expected));
    json_decref(expected);
    json_decref(got);
}

static void assert_same_text(const char *kept, const char *given) {
    assert_string_equal(kept, given);
    assert_ptr_not_equal(kept, given); // the explanation's own
}

// Programs that were not compared are one program.
static void what_was_not_compared_is_alike(void **state) {
    (void)state;
    keel_explanation_t explanation;
    keel_explanation_initialize(&explanation);
    assert_true(explanation.alike == 1);
    assert_int_equal(explanation.root_total, 0);
    keel_explanation_deinitialize(&explanation);
}

static void an_explanation_owns_the_text_of_its_differences(void **state) {
    (void)state;
    keel_explanation_t explanation;
    keel_difference_t root = whole, folded = whole, stray = whole;
    keel_explanation_initialize(&explanation);
    root.follows = KEEL_NONE;
    root.folds = 0;
    folded.follows = 0;
    stray.follows = 1; // of a root that is not there
    assert_ok(keel_explanation_add(&explanation, &root));
    assert_ok(keel_explanation_add(&explanation, &folded));
    assert_ok(keel_explanation_add(&explanation, &folded));
    assert_ok(keel_explanation_add(&explanation, &stray));
    assert_int_equal(explanation.root_count, 1);
    assert_int_equal(explanation.root_total, 1);
    assert_int_equal(explanation.folded_count, 2);
    assert_int_equal(explanation.folded_total, 2);
    assert_int_equal(explanation.roots[0].folds, 2);
    const keel_difference_t *kept = &explanation.roots[0];
    assert_same_text(kept->subject, root.subject);
    assert_same_text(kept->old_value, root.old_value);
    assert_same_text(kept->new_value, root.new_value);
    assert_same_text(kept->note, root.note);
    assert_same_text(kept->place.file, root.place.file);
    assert_same_text(kept->place.function, root.place.function);
    assert_same_text(kept->place.call_file, root.place.call_file);
    assert_same_text(kept->place.library_file, root.place.library_file);
    keel_explanation_deinitialize(&explanation);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_known_of_a_difference_is_written),
        cmocka_unit_test(what_is_unknown_is_not_written),
        cmocka_unit_test(what_was_not_compared_is_alike),
        cmocka_unit_test(an_explanation_owns_the_text_of_its_differences),
    };
    return cmocka_run_group_tests_name("explain explanation", tests, NULL, NULL);
}
