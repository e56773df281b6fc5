// What a process put on the device, and what of it counts for a program.
#define _GNU_SOURCE
#include "analysis/made.h"
#include "place.h"

static keel_made_t sent(const char *type, uint32_t line) {
    return (keel_made_t){
        type, {.file = "/w/train.py", .line = line, .function = "load", .call_file = ""}};
}

// A function asks for a program after these were sent.
static void ask(made_t *made, const char *origin, const keel_made_t *list, uint32_t count,
                keel_arena_t *arena, const keel_made_t **out, uint32_t *out_count) {
    const asked_t asked = {.made = list, .made_count = count};
    assert_ok(made_sent(made, &asked));
    assert_ok(made_since(made, origin, arena, out, out_count));
    assert_ok(made_asked(made, origin, NULL));
}

static void what_was_made_since_the_function_asked_last_counts(void **state) {
    (void)state;
    made_t made;
    keel_arena_t arena;
    const keel_made_t *found;
    uint32_t count;
    made_initialize(&made);
    keel_arena_initialize(&arena, 0);
    const keel_made_t weights = sent("f32[4]", 3), half = sent("bf16[4]", 9),
                      batch = sent("i64[2]", 5);
    ask(&made, "step", &weights, 1, &arena, &found, &count);
    assert_int_equal(count, 0); // its first program differs from nothing
    ask(&made, "evaluation", &half, 1, &arena, &found, &count);
    ask(&made, "step", &batch, 1, &arena, &found, &count);
    assert_int_equal(count, 2);
    assert_string_equal(found[0].type, "i64[2]"); // the newest first
    assert_int_equal(found[0].place.line, 5);
    assert_string_equal(found[1].type, "bf16[4]");
    assert_string_equal(found[1].place.function, "load");
    ask(&made, "step", NULL, 0, &arena, &found, &count);
    assert_int_equal(count, 0);
    // What it sent before counts again once it is sent again.
    ask(&made, "step", &weights, 1, &arena, &found, &count);
    assert_int_equal(count, 1);
    made_deinitialize(&made);
    keel_arena_deinitialize(&arena);
}

static void only_so_many_are_kept(void **state) {
    (void)state;
    made_t made;
    keel_arena_t arena;
    const keel_made_t *found;
    uint32_t count;
    made_initialize(&made);
    keel_arena_initialize(&arena, 0);
    ask(&made, "step", NULL, 0, &arena, &found, &count);
    for (uint32_t line = 1; line <= 3 * MADE_KEPT; ++line) {
        const keel_made_t one = sent("f32[4]", line);
        ask(&made, "other", &one, 1, &arena, &found, &count);
    }
    ask(&made, "step", NULL, 0, &arena, &found, &count);
    assert_int_equal(count, MADE_KEPT);
    assert_int_equal(found[0].place.line, 3 * MADE_KEPT);
    made_deinitialize(&made);
    keel_arena_deinitialize(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_made_since_the_function_asked_last_counts),
        cmocka_unit_test(only_so_many_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
