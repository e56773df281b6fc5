// Texts that differ are cut so that the place where they do is seen: lengths at the limits.
#define _GNU_SOURCE
#include "explain_small.h"

enum { SHOWN = 120, BEFORE_IT = 24 };

// The line of an operation that nothing but its text tells apart, with as many characters before
// and behind the one that differs as asked for.
static void write_program(char *out, size_t size, unsigned before, char differs, unsigned behind) {
    snprintf(out, size, "x: f32[4]\ny = custom_call f32[4] x {name='%.*s%c%.*s'}\nreturn y",
             (int)before,
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
             differs, (int)behind,
             "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
             "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
}

static void assert_cut(const char *value, unsigned before, unsigned behind, char differs) {
    static const char head[] = "%1 = custom_call %0 {name = \"", tail[] = "\"} : tensor<4xf32>";
    size_t at = sizeof head - 1 + before, whole = at + 1 + behind + sizeof tail - 1;
    size_t from = whole <= SHOWN ? 0 : at - BEFORE_IT, size = strlen(value);
    size_t dots = from ? 3 : 0;
    assert_int_equal(strncmp(value, "...", 3) == 0, from > 0);
    assert_int_equal(value[dots + at - from], differs);
    bool is_cut = whole - from > SHOWN;
    assert_int_equal(strcmp(value + size - 3, "...") == 0, is_cut);
    assert_int_equal(size, dots + (is_cut ? SHOWN + 3 : whole - from));
}

static void long_texts_are_shown_from_where_they_differ(void **state) {
    (void)state;
    for (unsigned before = 0; before < 80; before += 3)
        for (unsigned behind = 60 - before % 7; behind < 75; ++behind) {
            static small_sides_t sides;
            char texts[2][400];
            keel_explanation_t e;
            if (before + behind + 1 > 140) continue;
            write_program(texts[0], sizeof *texts, before, '1', behind);
            write_program(texts[1], sizeof *texts, before, '2', behind);
            small_sides(texts[0], texts[1], &sides);
            explain(&sides.programs[0], &sides.programs[1], &e);
            assert_int_equal(e.root_total, 1);
            assert_cut(e.roots[0].old_value, before, behind, '1');
            assert_cut(e.roots[0].new_value, before, behind, '2');
            keel_explanation_deinitialize(&e);
            small_release(&sides);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_texts_are_shown_from_where_they_differ),
    };
    return cmocka_run_group_tests_name("explain_apart", tests, NULL, NULL);
}
