// Two values as they are shown beside each other: short, and with what differs in them.
#define _GNU_SOURCE
#include "explain/fields.h"
#include "place.h"

enum { TAIL = 100 };

// `same` bytes that are equal, one that is not, and a tail.
static keel_str_t value(char *text, size_t same, char other) {
    memset(text, 'x', same);
    text[same] = other;
    memset(text + same + 1, 'y', TAIL);
    return (keel_str_t){text, same + 1 + TAIL};
}

static void show(keel_str_t before, keel_str_t after, keel_arena_t *arena, const char **out_before,
                 const char **out_after) {
    assert_ok(keel_fields_show(before, after, arena, out_before, out_after));
}

static void the_first_difference_is_shown_wherever_it_stands(void **state) {
    (void)state;
    enum { MOST = 300, CONTEXT = 16, DOTS = 6 };
    char old_text[MOST + 1 + TAIL], new_text[MOST + 1 + TAIL];
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    for (size_t same = 0; same < MOST; ++same) {
        const char *before, *after;
        show(value(old_text, same, 'O'), value(new_text, same, 'N'), &arena, &before, &after);
        const char *was = strchr(before, 'O'), *is = strchr(after, 'N');
        if (!was || !is) fail_msg("after %zu bytes: %s -> %s", same, before, after);
        // With what stands before it, as far as there is room.
        size_t context = same < CONTEXT ? same : CONTEXT;
        assert_true((size_t)(was - before) >= context);
        assert_int_equal(was - before, is - after);
        assert_true(strlen(before) <= KEEL_FIELD_SHOWN + DOTS);
        assert_true(strlen(after) <= KEEL_FIELD_SHOWN + DOTS);
    }
    keel_arena_deinitialize(&arena);
}

static void short_values_are_shown_whole_and_empty_ones_as_such(void **state) {
    (void)state;
    keel_arena_t arena;
    const char *before, *after;
    keel_arena_initialize(&arena, 0);
    show(KEEL_STR("--a=1"), KEEL_STR("--a=2 --b"), &arena, &before, &after);
    assert_string_equal(before, "--a=1");
    assert_string_equal(after, "--a=2 --b");
    show(KEEL_STR(""), KEEL_STR("x\n\n"), &arena, &before, &after);
    assert_string_equal(before, "\"\"");
    assert_string_equal(after, "x");
    keel_arena_deinitialize(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_difference_is_shown_wherever_it_stands),
        cmocka_unit_test(short_values_are_shown_whole_and_empty_ones_as_such),
    };
    return cmocka_run_group_tests_name("explain fields", tests, NULL, NULL);
}
