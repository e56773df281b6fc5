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

// What libraries compute of 0.3 and of 0.7, as a calculator has it.
static void each_function_is_known(void **state) {
    (void)state;
    static const double cases[][2] = {
        {0.7, 0.3},                                  // 1 - x
        {3.3333333333333335, 1.4285714285714286},    // 1 / x
        {0.09, 0.49},                                // x^2
        {0.5477225575051661, 0.8366600265340756},    // sqrt x
        {1.3, 1.7},                                  // 1 + x
        {11.11111111111111, 2.0408163265306123},     // 1 / x^2
        {1.8257418583505538, 1.1952286093343936},    // 1 / sqrt x
        {1.4285714285714286, 3.3333333333333335},    // 1 / (1 - x)
        {0.4285714285714286, 2.3333333333333335},    // x / (1 - x)
        {2.3333333333333335, 0.4285714285714286},    // (1 - x) / x
        {-0.8472978603872037, 0.8472978603872037},   // log (x / (1 - x))
        {0.91, 0.51},                                // 1 - x^2
        {0.8366600265340756, 0.5477225575051661},    // sqrt (1 - x)
        {0.9539392014169457, 0.714142842854285},     // sqrt (1 - x^2)
        {1.3498588075760032, 2.0137527074704766},    // e^x
        {0.7408182206817179, 0.4965853037914095},    // e^-x
        {-1.2039728043259361, -0.35667494393873245}, // log x
        {0.26236426446749106, 0.5306282510621704},   // log (1 + x)
        {-0.35667494393873245, -1.2039728043259361}, // log (1 - x)
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(of(0.3, 0.7, cases[i][0], cases[i][1]), KEEL_RELATION_FUNCTION);
        assert_int_equal(of(0.3, 0.7, -cases[i][0], -cases[i][1]), KEEL_RELATION_FUNCTION);
        assert_int_equal(of(0.3, 0.7, cases[i][0], -cases[i][1]), KEEL_RELATION_NONE);
    }
}

// 1 to 16 times, or a power of two up to 2^20; and such parts.
static void multiples_are_small_or_powers_of_two(void **state) {
    (void)state;
    static const struct {
        double factor;
        bool is_plain;
    } cases[] = {{1, true},
                 {2, true},
                 {15, true},
                 {16, true},
                 {17, false},
                 {31, false},
                 {32, true},
                 {33, false},
                 {1 << 20, true},
                 {1 << 21, false},
                 {1.5, false},
                 {1.0 / 16, true},
                 {1.0 / 17, false},
                 {1.0 / 32, true},
                 {-3, true},
                 {-1.0 / 3, true},
                 {1.0 / 1048576, true},
                 {1.0 / 2097152, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        double factor = cases[i].factor;
        bool is_plain = of(0.3, 0.71, factor * 0.3, factor * 0.71) == KEEL_RELATION_MULTIPLE;
        if (is_plain != cases[i].is_plain) fail_msg("%g times", factor);
    }
}

static void densities_are_scaled_by_known_factors(void **state) {
    (void)state;
    static const double factors[] = {3.141592653589793, 1.7724538509055159, 1.4142135623730951,
                                     2.5066282746310002, 0.6931471805599453};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; ++i) {
        double one = factors[i];
        assert_int_equal(of(0.3, 0.71, 0.09 * one, 0.5041 * one), KEEL_RELATION_SCALED);
        assert_int_equal(of(0.3, 0.71, 0.09 / one, 0.5041 / one), KEEL_RELATION_SCALED);
        assert_int_equal(of(0.3, 0.71, 0.09 * 16 * one, 0.5041 * 16 * one), KEEL_RELATION_SCALED);
        assert_int_equal(of(0.3, 0.71, 0.09 * 17 * one, 0.5041 * 17 * one), KEEL_RELATION_NONE);
    }
    // A logarithm beside any constant: once, half or twice.
    static const struct {
        double times;
        keel_relation_t relation;
    } logs[] = {{1, KEEL_RELATION_SCALED}, {0.5, KEEL_RELATION_SCALED},
                {2, KEEL_RELATION_SCALED}, {-1, KEEL_RELATION_SCALED},
                {3, KEEL_RELATION_NONE},   {0.25, KEEL_RELATION_NONE}};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; ++i)
        assert_int_equal(of(0.3, 0.71, 0.9189385332 + logs[i].times * log(0.3),
                            0.9189385332 + logs[i].times * log(0.71)),
                         logs[i].relation);
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
        cmocka_unit_test(each_function_is_known),
        cmocka_unit_test(multiples_are_small_or_powers_of_two),
        cmocka_unit_test(densities_are_scaled_by_known_factors),
        cmocka_unit_test(what_holds_at_one_of_the_two_is_none),
        cmocka_unit_test(extremes_are_related_to_nothing),
        cmocka_unit_test(few_bits_know_but_the_plain_functions),
        cmocka_unit_test(a_sources_numbers_are_found_by_value_and_line),
        cmocka_unit_test(without_sources_nothing_is_known),
        cmocka_unit_test(a_source_of_more_numbers_than_are_kept_is_read_as_far_as_that),
    };
    return cmocka_run_group_tests_name("explain_relation", tests, NULL, NULL);
}
