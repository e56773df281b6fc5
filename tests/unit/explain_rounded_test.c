// One number in two float types: the nearest that the narrower one has, or the same property of
// each.
#define _GNU_SOURCE
#include <float.h>
#include <math.h>

#include "explain/diff.h"
#include "place.h"

// A program with one type, a scalar of that float.
static void make(keel_program_t *out, keel_float_t element) {
    keel_type_t type = {.kind = KEEL_TYPE_FLOAT, .a = element, .b = KEEL_NONE, .c = KEEL_NONE};
    keel_program_initialize(out);
    assert_ok(keel_table_reserve(&out->types, 1));
    out->types.data[out->types.count++] = type;
}

static bool is_rounded(keel_float_t before, double x, keel_float_t after, double y) {
    keel_program_t programs[2];
    keel_diff_t *diff = calloc(1, sizeof *diff);
    make(&programs[0], before);
    make(&programs[1], after);
    diff->before.program = &programs[0];
    diff->after.program = &programs[1];
    bool result = keel_diff_is_rounded(diff, 0, x, 0, y);
    keel_program_deinitialize(&programs[0]);
    keel_program_deinitialize(&programs[1]);
    free(diff);
    return result;
}

// Whichever of the two programs was compiled first.
static void assert_one(keel_float_t wide, double x, keel_float_t narrow, double y, bool is_one) {
    if (is_rounded(wide, x, narrow, y) != is_one || is_rounded(narrow, y, wide, x) != is_one)
        fail_msg("%.17g and %.17g: %s", x, y, is_one ? "are one number" : "are two");
}

static void the_nearest_in_the_narrower_type_is_the_same_number(void **state) {
    (void)state;
    assert_one(KEEL_FLOAT_F64, 0.1, KEEL_FLOAT_F32, (double)0.1f, true);
    assert_one(KEEL_FLOAT_F32, (double)0.1f, KEEL_FLOAT_F16, 0.0999755859375, true);
    assert_one(KEEL_FLOAT_F32, (double)0.1f, KEEL_FLOAT_BF16, 0.10009765625, true);
    assert_one(KEEL_FLOAT_F32, (double)-0.1f, KEEL_FLOAT_BF16, -0.10009765625, true);
    assert_one(KEEL_FLOAT_F32, 1000.3, KEEL_FLOAT_F16, 1000.5, true);
    assert_one(KEEL_FLOAT_F16, 0.0999755859375, KEEL_FLOAT_BF16, 0.10009765625, true);
    assert_one(KEEL_FLOAT_F32, 0, KEEL_FLOAT_F16, 0, true);
}

static void a_neighbour_in_the_narrower_type_is_another_number(void **state) {
    (void)state;
    assert_one(KEEL_FLOAT_F64, 0.1, KEEL_FLOAT_F32, (double)nextafterf(0.1f, 1), false);
    assert_one(KEEL_FLOAT_F32, (double)0.1f, KEEL_FLOAT_F16, 0.09991455078125, false);
    assert_one(KEEL_FLOAT_F32, (double)0.1f, KEEL_FLOAT_F16, 0.10003662109375, false);
    assert_one(KEEL_FLOAT_F32, (double)0.1f, KEEL_FLOAT_BF16, 0.099609375, false);
    assert_one(KEEL_FLOAT_F32, (double)0.1f, KEEL_FLOAT_BF16, -0.10009765625, false);
}

// Below the normal numbers the steps no longer shrink.
static void what_is_less_than_normal_is_rounded_to_the_last_steps(void **state) {
    (void)state;
    double step = ldexp(1, -24); // of f16
    assert_one(KEEL_FLOAT_F32, 3.4 * step, KEEL_FLOAT_F16, 3 * step, true);
    assert_one(KEEL_FLOAT_F32, 3.4 * step, KEEL_FLOAT_F16, 4 * step, false);
    assert_one(KEEL_FLOAT_F32, 1e-10, KEEL_FLOAT_F16, 0, true);
    assert_one(KEEL_FLOAT_F32, 1e-10, KEEL_FLOAT_F16, step, false);
}

static void what_is_more_than_the_largest_is_infinite(void **state) {
    (void)state;
    assert_one(KEEL_FLOAT_F32, 1e6, KEEL_FLOAT_F16, INFINITY, true);
    assert_one(KEEL_FLOAT_F32, -1e6, KEEL_FLOAT_F16, -INFINITY, true);
    assert_one(KEEL_FLOAT_F32, -1e6, KEEL_FLOAT_F16, INFINITY, false);
    assert_one(KEEL_FLOAT_F32, 65504, KEEL_FLOAT_F16, INFINITY, false); // that is the largest
    assert_one(KEEL_FLOAT_F32, 65519, KEEL_FLOAT_F16, 65504, true);
    assert_one(KEEL_FLOAT_F32, (double)INFINITY, KEEL_FLOAT_F16, INFINITY, true);
}

// finfo(dtype).max, .tiny, .smallest_subnormal, .eps.
static void the_same_property_of_each_type_is_one_number(void **state) {
    (void)state;
    assert_one(KEEL_FLOAT_F32, (double)FLT_MAX, KEEL_FLOAT_F16, 65504, true);
    assert_one(KEEL_FLOAT_F32, (double)-FLT_MAX, KEEL_FLOAT_F16, -65504, true);
    assert_one(KEEL_FLOAT_F32, (double)-FLT_MAX, KEEL_FLOAT_F16, 65504, false);
    assert_one(KEEL_FLOAT_F32, (double)FLT_MIN, KEEL_FLOAT_F16, ldexp(1, -14), true);
    assert_one(KEEL_FLOAT_F64, DBL_MIN, KEEL_FLOAT_F32, (double)FLT_MIN, true);
    assert_one(KEEL_FLOAT_F32, ldexp(1, -149), KEEL_FLOAT_F16, ldexp(1, -24), true);
    assert_one(KEEL_FLOAT_F32, (double)FLT_EPSILON, KEEL_FLOAT_BF16, ldexp(1, -7), true);
    assert_one(KEEL_FLOAT_F64, DBL_EPSILON, KEEL_FLOAT_F32, (double)FLT_EPSILON, true);
    // One of each is not a pair.
    assert_one(KEEL_FLOAT_F32, (double)FLT_MAX, KEEL_FLOAT_F16, ldexp(1, -14), false);
    assert_one(KEEL_FLOAT_F32, (double)FLT_MIN, KEEL_FLOAT_F16, 65504, false);
    assert_one(KEEL_FLOAT_F32, (double)FLT_MIN, KEEL_FLOAT_F16, ldexp(1, -24), false);
}

static void as_many_steps_are_one_number_up_to_a_thousand(void **state) {
    (void)state;
    double wide = (double)FLT_EPSILON, narrow = ldexp(1, -10);
    assert_one(KEEL_FLOAT_F32, 10 * wide, KEEL_FLOAT_F16, 10 * narrow, true);
    assert_one(KEEL_FLOAT_F32, 1000 * wide, KEEL_FLOAT_F16, 1000 * narrow, true);
    assert_one(KEEL_FLOAT_F32, 1001 * wide, KEEL_FLOAT_F16, 1001 * narrow, false);
    assert_one(KEEL_FLOAT_F32, 10 * wide, KEEL_FLOAT_F16, 11 * narrow, false);
    assert_one(KEEL_FLOAT_F32, 0.5 * wide, KEEL_FLOAT_F16, 0.5 * narrow, false);
}

static void types_alike_and_types_that_are_no_floats_round_nothing(void **state) {
    (void)state;
    assert_false(is_rounded(KEEL_FLOAT_F32, 0.5, KEEL_FLOAT_F32, 0.5));
    assert_false(is_rounded(KEEL_FLOAT_F32, 0.5, KEEL_FLOAT_F8E5M2, 0.5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_in_the_narrower_type_is_the_same_number),
        cmocka_unit_test(a_neighbour_in_the_narrower_type_is_another_number),
        cmocka_unit_test(what_is_less_than_normal_is_rounded_to_the_last_steps),
        cmocka_unit_test(what_is_more_than_the_largest_is_infinite),
        cmocka_unit_test(the_same_property_of_each_type_is_one_number),
        cmocka_unit_test(as_many_steps_are_one_number_up_to_a_thousand),
        cmocka_unit_test(types_alike_and_types_that_are_no_floats_round_nothing),
    };
    return cmocka_run_group_tests_name("explain rounded", tests, NULL, NULL);
}
