// What differs between two calls of one program, from what was recorded of them.
#define _GNU_SOURCE
#include "explain/call.h"

#include <stdlib.h>

#include "place.h"

static const char same_function[] = "f \tone function 0x7f00\n";

// `subject` is NULL if no argument or setting is to blame.
static void check(const char *before, const char *after, keel_note_t note, const char *subject,
                  const char *from, const char *to) {
    char *calls[2];
    keel_call_change_t change;
    assert_true(asprintf(&calls[0], "%s%s", same_function, before) > 0);
    assert_true(asprintf(&calls[1], "%s%s", same_function, after) > 0);
    keel_arena_t arena;
    bool is_known;
    keel_arena_initialize(&arena, 0);
    assert_null(
        keel_call_compare((const char *const *)calls, 1, calls[1], &arena, &change, &is_known));
    assert_true(is_known);
    if (change.note != note)
        fail_msg("%s -> %s: %d, not %d", before, after, (int)change.note, (int)note);
    assert_true(keel_str_is(change.subject, subject ? subject : ""));
    assert_true(keel_str_is(change.before, from));
    assert_true(keel_str_is(change.after, to));
    keel_arena_deinitialize(&arena);
    free(calls[0]);
    free(calls[1]);
}

static void containers_and_what_the_program_does_not_use(void **state) {
    (void)state;
    check("n pair\ttuple\nl pair[0]\tf32[8]\n", "n pair\tlist\nl pair[0]\tf32[8]\n",
          KEEL_NOTE_CONTAINER, "pair", "tuple", "list");
    check("l x\tf32[8]\n", "n x\ttuple\nl x[0]\tf32[8]\n", KEEL_NOTE_CONTAINER, "x", "f32[8]",
          "tuple");
    check("n batch\tdict\n", "n batch\tdict\nl batch['id']\ti32[8]\n", KEEL_NOTE_OPTIONAL,
          "batch['id']", "absent", "i32[8]");
    check("l rng\tu32[2]\n", "n rng\tNone\n", KEEL_NOTE_OPTIONAL, "rng", "u32[2]", "None");
    check("l mask\tf32[3]\n", "l mask\tf32[5]\n", KEEL_NOTE_UNUSED, "mask", "f32[3]", "f32[5]");
    check("l step\ti32[] weak\n", "l step\ti32[]\n", KEEL_NOTE_NUMBER, "step", "i32[] weak",
          "i32[]");
    check("n state\tState\nx state\t(function 0x70, 3)\n",
          "n state\tState\nx state\t(function 0x78, 3)\n", KEEL_NOTE_HELD, "state", "", "");
    // A class of the same name that was defined again.
    check("n state\tState 0x70\n", "n state\tState 0x78\n", KEEL_NOTE_SAME_FUNCTION, "state", "",
          "");
    check("n state\tState 0x70\n", "n state\tOther 0x78\n", KEEL_NOTE_CONTAINER, "state", "State",
          "Other");
    check("h params\t5a 6b\n", "h params\t5a 7c\n", KEEL_NOTE_SAME_FUNCTION, "params", "", "");
    // What containers hold is not hashed.
    check("h state\t5a 6b\n", "h state\t5a 6b\n", KEEL_NOTE_SAME_FUNCTION, NULL, "", "");
    check("h state\t5a 6b\n", "n state\tdict\nl state['w']\tf32[8]\n", KEEL_NOTE_SAME_FUNCTION,
          "state", "", "");
    check("h state\t5a 6b\nl states\tf32[2]\n", "h state\t5a 6b\nl states\tf32[3]\n",
          KEEL_NOTE_UNUSED, "states", "f32[2]", "f32[3]");
    check("h state\t5a 6b\nx state\t(function 0x70, 3)\n",
          "h state\t5a 6b\nx state\t(function 0x78, 3)\n", KEEL_NOTE_HELD, "state", "", "");
}

static void static_values(void **state) {
    (void)state;
    check("s x\tnan ~0x70\n", "s x\tnan ~0x78\n", KEEL_NOTE_SAME_FUNCTION, "x", "", "");
    check("s n\t3\n", "s n\t4\n", KEEL_NOTE_STATIC_VALUE, "n", "3", "4");
    check("s f\tfunction 0x70\n", "s f\tfunction 0x78\n", KEEL_NOTE_STATIC_FUNCTION, "f", "", "");
    check("s f\t(3, partial 0x70)\n", "s f\t(3, partial 0x78)\n", KEEL_NOTE_STATIC_FUNCTION, "f",
          "", "");
    check("s c\tBare 0x70\n", "s c\tBare 0x78\n", KEEL_NOTE_STATIC_OBJECT, "c", "", "");
    // Its class says which are equal, and nobody asked it.
    check("s c\tFrozen ~0x70\n", "s c\tFrozen ~0x78\n", KEEL_NOTE_SAME_FUNCTION, "c", "", "");
    check("s c\tFrozen ~0x70\n", "s c\tOther ~0x78\n", KEEL_NOTE_STATIC_VALUE, "c", "", "");
}

static void how_it_is_passed_and_settings(void **state) {
    (void)state;
    check("s train\tFalse\nb train\tby name\n", "", KEEL_NOTE_PASSING, "train", "", "");
    check("l x\tf32[8]\n", "l x\tf32[8]\nb x\tby name\n", KEEL_NOTE_PASSING, "x", "", "");
    check("c jax_x\tSTANDARD\n", "c jax_x\tSTRICT\n", KEEL_NOTE_CONFIG, "jax_x", "STANDARD",
          "STRICT");
    check("", "c jax_x\tTrue\n", KEEL_NOTE_CONFIG, "jax_x", "unset", "True");
    check("", "c mesh\t(Mesh 0x70)\n", KEEL_NOTE_CONFIG, "mesh", "", "");
    check("c mesh\t(Mesh 0x70)\n", "c mesh\t(Mesh 0x78)\n", KEEL_NOTE_CONFIG, "mesh", "", "");
    check("c axes\tAxes ~0x70\n", "c axes\tAxes ~0x78\n", KEEL_NOTE_SAME_FUNCTION, NULL, "", "");
    check("c mesh\t(Mesh 0x70)\n", "c mesh\t(Mesh 0x70)\n", KEEL_NOTE_CLEARED, NULL, "", "");
}

static void the_surest_difference_counts(void **state) {
    (void)state;
    check("s c\tFrozen ~0x70\nc jax_x\t1\nn pair\ttuple\n",
          "s c\tFrozen ~0x78\nc jax_x\t2\nn pair\tlist\n", KEEL_NOTE_CONTAINER, "pair", "tuple",
          "list");
}

static keel_note_t note_of(const char *const *earlier, uint32_t count, const char *call) {
    keel_call_change_t change;
    keel_arena_t arena;
    bool is_known;
    keel_arena_initialize(&arena, 0);
    assert_null(keel_call_compare(earlier, count, call, &arena, &change, &is_known));
    keel_arena_deinitialize(&arena);
    assert_true(is_known);
    return change.note;
}

static void a_call_like_an_earlier_one_was_forgotten(void **state) {
    (void)state;
    static const char *const calls[] = {"f \tone function 0x7\nl x\tf32[3]\n",
                                        "f \tone function 0x7\nl x\tf32[5]\n"};
    assert_int_equal(note_of(calls, 2, calls[0]), KEEL_NOTE_CLEARED);
    assert_int_equal(note_of(calls, 1, calls[1]), KEEL_NOTE_UNUSED);
}

// One that is made in each call may be where the last one was.
static void a_function_may_have_been_made_anew(void **state) {
    (void)state;
    static const char *const calls[] = {"f \tany function 0x7\n"};
    assert_int_equal(note_of(calls, 1, calls[0]), KEEL_NOTE_COUNT);
    assert_int_equal(note_of(calls, 1, "f \tany function 0x8\nl x\tf32[3]\n"), KEEL_NOTE_COUNT);
}

static void what_is_unknown_is_not_compared(void **state) {
    (void)state;
    keel_call_change_t change;
    static const char *const calls[] = {""};
    bool is_known;
    assert_null(keel_call_compare(NULL, 0, "f \tone function 0x7\n", NULL, &change, &is_known));
    assert_false(is_known);
    assert_null(keel_call_compare(calls, 1, "", NULL, &change, &is_known));
    assert_false(is_known);
    assert_int_equal(note_of(calls, 1, "broken"), KEEL_NOTE_COUNT);
    assert_int_equal(note_of(calls, 1, "\t\n\n"), KEEL_NOTE_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_and_what_the_program_does_not_use),
        cmocka_unit_test(static_values),
        cmocka_unit_test(how_it_is_passed_and_settings),
        cmocka_unit_test(the_surest_difference_counts),
        cmocka_unit_test(a_call_like_an_earlier_one_was_forgotten),
        cmocka_unit_test(a_function_may_have_been_made_anew),
        cmocka_unit_test(what_is_unknown_is_not_compared),
    };
    return cmocka_run_group_tests_name("explain_call", tests, NULL, NULL);
}
