// Whether one number is a function of another, and which numbers are in a source.
#define _GNU_SOURCE
#include "explain/relation.h"

#include <float.h>
#include <math.h>

#include "explain/literals.h"
#include "place.h"

static int of(double from_before, double from_after, double before, double after) {
    return (int)keel_relation_of((keel_move_t){from_before, from_after},
                                 (keel_move_t){before, after}, false);
}

static void what_libraries_work_out_is_a_function(void **state) {
    (void)state;
    assert_int_equal(of(0.999, 0.99, (double)0.001f, (double)0.01f), KEEL_RELATION_FUNCTION);
    assert_int_equal(of(0.3, 0.7, (double)(1 / 0.3f), (double)(1 / 0.7f)), KEEL_RELATION_FUNCTION);
    assert_int_equal(of(0.3, 0.7, 0.09, 0.49), KEEL_RELATION_FUNCTION);
    assert_int_equal(of(0.3, 0.7, log(0.3), log(0.7)), KEEL_RELATION_FUNCTION);
    assert_int_equal(of(0.3, 0.7, exp(-0.3), exp(-0.7)), KEEL_RELATION_FUNCTION);
    assert_int_equal(of(0.3, 0.7, sqrt(1 - 0.09), sqrt(1 - 0.49)), KEEL_RELATION_FUNCTION);
    assert_int_equal(of(0.3, 0.7, 1 / (4 * 0.3), 1 / (4 * 0.7)), KEEL_RELATION_SCALED);
    assert_int_equal(of(0.3, 0.7, -0.5 / 0.09, -0.5 / 0.49), KEEL_RELATION_SCALED);
    assert_int_equal(of(0.3, 0.7, 1 / (0.3 * sqrt(2 * M_PI)), 1 / (0.7 * sqrt(2 * M_PI))),
                     KEEL_RELATION_SCALED);
    // The logarithm of a normal density's factor, beside twice its variance.
    assert_int_equal(of(0.5, 1.28, (double)-0.22579135f, (double)-0.695795f), KEEL_RELATION_SCALED);
    assert_int_equal(of(0.5, 1.28, -0.2257, -0.6958), KEEL_RELATION_NONE);
    assert_int_equal(of(0.3, 0.7, 0.6, 1.4), KEEL_RELATION_MULTIPLE);
    assert_int_equal(of(0.3, 0.7, -0.3, -0.7), KEEL_RELATION_MULTIPLE);
    assert_int_equal(of(0.3, 0.7, 0.1, (double)(0.7f / 3)), KEEL_RELATION_MULTIPLE);
}

static void what_holds_at_one_of_the_two_is_none(void **state) {
    (void)state;
    assert_int_equal(of(0.3, 0.7, 0.7, 0.31), KEEL_RELATION_NONE);
    assert_int_equal(of(0.3, 0.7, 0.09, 0.48), KEEL_RELATION_NONE);
    assert_int_equal(of(0.3, 0.7, 0.6, 1.3), KEEL_RELATION_NONE);
    assert_int_equal(of(0.1, 0.2, 0.0317, 0.0634), KEEL_RELATION_NONE); // no plain part
    assert_int_equal(of(0.001, 0.003, 0.9, 0.99), KEEL_RELATION_NONE);
    assert_int_equal(of(0.3, 0.3000001, 0.7, 0.6999999), KEEL_RELATION_NONE);
}

static void extremes_are_related_to_nothing(void **state) {
    (void)state;
    static const double values[] = {NAN,     INFINITY, -INFINITY, 0.0, -0.0,  DBL_MAX,
                                    DBL_MIN, 5e-324,   -1.0,      1.0, 1e308, -1e-308};
    enum { VALUES = sizeof values / sizeof *values };
    for (size_t i = 0; i < VALUES; ++i)
        for (size_t j = 0; j < VALUES; ++j) {
            assert_int_equal(of(values[i], values[i], values[j], 2.5), KEEL_RELATION_NONE);
            assert_int_equal(of(0.3, 0.7, values[i], values[i]), KEEL_RELATION_NONE);
            assert_in_range(of(values[i], values[j], 0.3, 0.7), KEEL_RELATION_NONE,
                            KEEL_RELATION_FUNCTION);
            assert_in_range(of(0.3, 0.7, values[i], values[j]), KEEL_RELATION_NONE,
                            KEEL_RELATION_FUNCTION);
        }
}

static void few_bits_know_but_the_plain_functions(void **state) {
    (void)state;
    keel_move_t from = {0.9, 0.8};
    assert_int_equal(keel_relation_of(from, (keel_move_t){0.10009765625, 0.2001953125}, true),
                     KEEL_RELATION_FUNCTION);
    assert_int_equal(keel_relation_of(from, (keel_move_t){1 / (4 * 0.9), 1 / (4 * 0.8)}, true),
                     KEEL_RELATION_NONE);
}

// ---- what stands in a source -------------------------------------------------------------------

static keel_status_t read_source(void *context, const char *file, keel_str_t *out) {
    if (strcmp(file, "/train.py") != 0) return keel_status_make(KEEL_NOT_FOUND, "%s", file);
    *out = keel_str(context);
    return NULL;
}

static void a_sources_numbers_are_found_by_value_and_line(void **state) {
    (void)state;
    static char text[] = "rate, steps = 1e-3, 1_000  # not 0.7\n"
                         "w2 = scale3(-.25, 5.)\n"
                         "name = '#4' + \"6\"; mask = 0x10; b1 = 0.9\n"
                         "half = 1.5j + 2e";
    const keel_sources_t sources = {.read = read_source, .context = text};
    keel_literals_t literals = {.sources = &sources};
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    assert_ok(keel_literals_read(&literals, "/train.py", &arena));
    assert_ok(keel_literals_read(&literals, "/train.py", &arena)); // once is enough
    assert_ok(keel_literals_read(&literals, "/gone.py", &arena));
    static const double known[] = {0.001, 1000, 0.25, -0.25, 5, 16, 0.9};
    static const double unknown[] = {0.7, 3, 0.5, 1.5, 0.002, 0};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        assert_true(keel_literals_have(&literals, known[i]));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i)
        assert_false(keel_literals_have(&literals, unknown[i]));
    assert_true(keel_literals_have_at(&literals, 0.25, "/train.py", 2));
    assert_false(keel_literals_have_at(&literals, 0.25, "/train.py", 1));
    assert_false(keel_literals_have_at(&literals, 0.25, "/gone.py", 2));
    assert_false(keel_literals_have_at(&literals, 0.25, NULL, 2));
    keel_arena_deinitialize(&arena);
}

static void without_sources_nothing_is_known(void **state) {
    (void)state;
    keel_literals_t literals = {.sources = NULL};
    assert_ok(keel_literals_read(&literals, "/train.py", NULL));
    assert_false(keel_literals_have(&literals, 0.9));
}

static void a_source_of_more_numbers_than_are_kept_is_read_as_far_as_that(void **state) {
    (void)state;
    static char text[8 * KEEL_LITERALS_KEPT];
    size_t size = 0;
    for (int i = 1; i <= 2 * KEEL_LITERALS_KEPT; ++i)
        size += (size_t)snprintf(text + size, sizeof text - size, "%d\n", i % 1000 + 1);
    const keel_sources_t sources = {.read = read_source, .context = text};
    keel_literals_t literals = {.sources = &sources};
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    assert_ok(keel_literals_read(&literals, "/train.py", &arena));
    assert_int_equal(literals.count, KEEL_LITERALS_KEPT);
    keel_arena_deinitialize(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_libraries_work_out_is_a_function),
        cmocka_unit_test(what_holds_at_one_of_the_two_is_none),
        cmocka_unit_test(extremes_are_related_to_nothing),
        cmocka_unit_test(few_bits_know_but_the_plain_functions),
        cmocka_unit_test(a_sources_numbers_are_found_by_value_and_line),
        cmocka_unit_test(without_sources_nothing_is_known),
        cmocka_unit_test(a_source_of_more_numbers_than_are_kept_is_read_as_far_as_that),
    };
    return cmocka_run_group_tests_name("explain_relation", tests, NULL, NULL);
}
