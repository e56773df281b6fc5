// What a replay makes of results and figures.
#define _GNU_SOURCE
#include "place.h"

#include <math.h>

#include "cli/replay.h"

// ---- results -----------------------------------------------------------------------------------

static const int64_t four[] = {4}, two[] = {2};

static keel_result_t result_of(keel_primitive_t element, const int64_t *dims, const void *data,
                               size_t size) {
    return (keel_result_t){{element, 1, dims}, keel_bytes(data, size)};
}

static replay_difference_t compare(keel_primitive_t element, const void *a, const void *b,
                                   size_t size) {
    replay_difference_t difference;
    const keel_result_t before = result_of(element, four, a, size),
                        after = result_of(element, four, b, size);
    replay_compare(&before, 1, &after, 1, &difference);
    return difference;
}

static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void equal_results_are_equal(void **state) {
    (void)state;
    const float numbers[] = {1, NAN, -0.0F, INFINITY};
    replay_difference_t difference = compare(KEEL_PRIMITIVE_F32, numbers, numbers, sizeof numbers);
    assert_true(difference.is_equal && !difference.is_unlike && difference.elements == 4);
    // Two NaN of other bits.
    const uint32_t one[] = {0x7fc00000, 1, 2, 3}, other[] = {0xffc00001, 1, 2, 3};
    assert_true(compare(KEEL_PRIMITIVE_F32, one, other, sizeof one).is_equal);
    assert_false(compare(KEEL_PRIMITIVE_U32, one, other, sizeof one).is_equal);
}

static void the_largest_relative_difference_counts(void **state) {
    (void)state;
    const double a[] = {100, 2, 3, 0}, b[] = {101, 2, 3.5, 0};
    replay_difference_t difference = compare(KEEL_PRIMITIVE_F64, a, b, sizeof a);
    assert_false(difference.is_equal);
    assert_int_equal(difference.differing, 2);
    assert_true(is_near(difference.relative, 0.5 / 3.5));
    // What is left of a sum near 0 is measured by a thousandth of the largest value.
    const double c[] = {1000, 1e-9, 0, 0}, d[] = {1000, -1e-9, 0, 0};
    assert_true(is_near(compare(KEEL_PRIMITIVE_F64, c, d, sizeof c).relative, 2e-9));
    // 0 and -0 are other bits, and no distance.
    const double e[] = {0, 0, 0, 0}, f[] = {-0.0, 0, 0, 0};
    difference = compare(KEEL_PRIMITIVE_F64, e, f, sizeof e);
    assert_true(!difference.is_equal && difference.relative == 0);
}

static void a_number_on_one_side_only_is_infinitely_far(void **state) {
    (void)state;
    const float a[] = {1, 2, 3, 4}, b[] = {1, NAN, 3, 4}, c[] = {1, INFINITY, 3, 4};
    assert_true(isinf(compare(KEEL_PRIMITIVE_F32, a, b, sizeof a).relative));
    assert_true(isinf(compare(KEEL_PRIMITIVE_F32, c, a, sizeof a).relative));
    assert_true(isinf(compare(KEEL_PRIMITIVE_F32, c, b, sizeof a).relative));
}

static void each_type_is_read_as_what_it_is(void **state) {
    (void)state;
    static const struct {
        keel_primitive_t element;
        size_t size;
        uint64_t one, other; // bits
        double relative;
    } cases[] = {
        {KEEL_PRIMITIVE_F16, 2, 0x3c00, 0x4000, 0.5},    // 1, 2
        {KEEL_PRIMITIVE_BF16, 2, 0x3f80, 0x4000, 0.5},   //
        {KEEL_PRIMITIVE_F8E4M3FN, 1, 0x38, 0x40, 0.5},   //
        {KEEL_PRIMITIVE_F8E5M2, 1, 0x3c, 0x40, 0.5},     //
        {KEEL_PRIMITIVE_F8E4M3FNUZ, 1, 0x40, 0x48, 0.5}, //
        {KEEL_PRIMITIVE_F8E3M4, 1, 0x30, 0x40, 0.5},     //
        {KEEL_PRIMITIVE_F8E4M3B11FNUZ, 1, 0x58, 0x60, 0.5},
        {KEEL_PRIMITIVE_S8, 1, 0xfe, 0xff, 0.5},   // -2, -1
        {KEEL_PRIMITIVE_U8, 1, 0x80, 0x40, 0.5},   // 128, 64
        {KEEL_PRIMITIVE_S32, 4, 0xfffffffe, 2, 2}, // -2, 2
        {KEEL_PRIMITIVE_U64, 8, 4, 2, 0.5},        //
        {KEEL_PRIMITIVE_PRED, 1, 0, 1, 1},         //
        {KEEL_PRIMITIVE_C64, 4, 0x3f800000, 0x40000000, 0.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        uint8_t a[32] = {0}, b[32] = {0};
        memcpy(a, &cases[i].one, cases[i].size);
        memcpy(b, &cases[i].other, cases[i].size);
        replay_difference_t difference = compare(cases[i].element, a, b, 4 * cases[i].size);
        if (difference.differing != 1 || !is_near(difference.relative, cases[i].relative))
            fail_msg("case %zu: %g, not %g", i, difference.relative, cases[i].relative);
    }
}

static void other_shapes_are_unlike(void **state) {
    (void)state;
    const float numbers[4] = {0};
    replay_difference_t difference;
    const keel_result_t one = result_of(KEEL_PRIMITIVE_F32, four, numbers, 16);
    const keel_result_t others[] = {result_of(KEEL_PRIMITIVE_F32, two, numbers, 8),
                                    result_of(KEEL_PRIMITIVE_S32, four, numbers, 16)};
    for (int i = 0; i < 2; ++i) {
        replay_compare(&one, 1, &others[i], 1, &difference);
        assert_true(difference.is_unlike && !difference.is_equal && isinf(difference.relative));
    }
    replay_compare(&one, 1, NULL, 0, &difference);
    assert_true(difference.is_unlike);
}

// ---- limits ------------------------------------------------------------------------------------

static void limits_are_read(void **state) {
    (void)state;
    replay_limits_t limits;
    assert_true(replay_limits_read(NULL, &limits));
    assert_true(limits.percent[REPLAY_TIME] == 50 && limits.percent[REPLAY_CODE] == 20);
    assert_true(limits.percent[REPLAY_RUN] < 0);
    assert_true(replay_limits_read("7.5", &limits));
    assert_true(limits.percent[REPLAY_TIME] == 7.5 && limits.percent[REPLAY_MEMORY] == 7.5);
    assert_true(limits.percent[REPLAY_RUN] < 0);
    assert_true(replay_limits_read("time=100%,run=30", &limits));
    assert_true(limits.percent[REPLAY_TIME] == 100 && limits.percent[REPLAY_RUN] == 30);
    assert_true(limits.percent[REPLAY_CODE] == 20);
    static const char *const wrong[] = {"",       "x",  "-1",  "time", "time=",   "tim=1", "1,,2",
                                        "time=x", "5 ", "nan", "1e",   "code=1;", "=3",    "inf"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        if (replay_limits_read(wrong[i], &limits)) fail_msg("'%s' was read", wrong[i]);
}

static void times_of_another_machine_are_not_judged(void **state) {
    (void)state;
    static replay_t replay;
    char host[256], plugin[] = "/p.so";
    assert_int_equal(gethostname(host, sizeof host), 0);
    replay.run.host = host;
    assert_true(replay_limits_read("0", &replay.limits));
    replay_limits_settle(&replay);
    assert_true(replay.limits.percent[REPLAY_TIME] == 0);
    // What the run's own plugin takes is measured here.
    replay.run.host = "elsewhere";
    replay.before.plugin = plugin;
    replay_limits_settle(&replay);
    assert_true(replay.limits.percent[REPLAY_TIME] == 0);
    replay.before.plugin = NULL;
    replay_limits_settle(&replay);
    assert_true(replay.limits.percent[REPLAY_TIME] < 0 && replay.limits.percent[REPLAY_CODE] == 0);
    // A limit that is none judges nothing.
    assert_true(replay_limits_read("0", &replay.limits));
    replay_figures_t before = {0}, after = {0};
    replay_figure(&before, REPLAY_TIME, 1);
    replay_figure(&after, REPLAY_TIME, 9);
    assert_true(replay_grew(&replay.limits, &before, &after, REPLAY_TIME));
    replay_limits_settle(&replay);
    assert_false(replay_grew(&replay.limits, &before, &after, REPLAY_TIME));
}

static void growth_counts_from_a_limit_and_a_size_on(void **state) {
    (void)state;
    replay_limits_t limits;
    replay_figures_t before = {0}, after = {0};
    assert_true(replay_limits_read("10", &limits));
    assert_false(replay_grew(&limits, &before, &after, REPLAY_CODE)); // unknown
    replay_figure(&before, REPLAY_CODE, 1000000);
    replay_figure(&after, REPLAY_CODE, 1090000);
    assert_false(replay_grew(&limits, &before, &after, REPLAY_CODE));
    replay_figure(&after, REPLAY_CODE, 1110000);
    assert_true(replay_grew(&limits, &before, &after, REPLAY_CODE));
    assert_false(replay_grew(&limits, &after, &before, REPLAY_CODE));
    replay_figure(&before, REPLAY_CODE, 100);
    replay_figure(&after, REPLAY_CODE, 60000); // much, and too little to count
    assert_false(replay_grew(&limits, &before, &after, REPLAY_CODE));
    replay_figure(&before, REPLAY_RUN, 1);
    replay_figure(&after, REPLAY_RUN, 9); // not named
    assert_false(replay_grew(&limits, &before, &after, REPLAY_RUN));
}

// ---- the verdict -------------------------------------------------------------------------------

static void judge(replay_program_t *program, double tolerance, replay_sum_t *out, int *out_code) {
    static replay_t replay;
    replay_program_t *programs[] = {program};
    replay.programs = programs;
    replay.count = 1;
    replay.tolerance = tolerance;
    assert_true(replay_limits_read(NULL, &replay.limits));
    replay.after.build = keel_digest(keel_bytes("a", 1));
    replay_sum(&replay, out);
    *out_code = replay_verdict(&replay, out);
}

static void what_differs_fails_or_grows_is_a_no(void **state) {
    (void)state;
    replay_sum_t sum;
    int code;
    replay_program_t program = {.outcome = REPLAY_COMPILED, .results = REPLAY_EQUAL};
    judge(&program, 0, &sum, &code);
    assert_int_equal(code, CLI_OK);
    assert_int_equal(sum.equal, 1);
    program.outcome = REPLAY_LEFT_OUT;
    judge(&program, 0, &sum, &code);
    assert_int_equal(code, CLI_OK);
    program.outcome = REPLAY_FAILED;
    judge(&program, 0, &sum, &code);
    assert_int_equal(code, CLI_NO);
    program = (replay_program_t){.outcome = REPLAY_COMPILED,
                                 .results = REPLAY_DIFFERENT,
                                 .difference = {.relative = 1e-6, .differing = 1}};
    judge(&program, 0, &sum, &code);
    assert_int_equal(code, CLI_NO);
    judge(&program, 1e-5, &sum, &code);
    assert_int_equal(code, CLI_OK);
    assert_int_equal(sum.within, 1);
    program.difference.relative = (double)INFINITY;
    judge(&program, 1e300, &sum, &code);
    assert_int_equal(code, CLI_NO);
    program = (replay_program_t){.outcome = REPLAY_COMPILED};
    replay_figure(&program.figures[REPLAY_RUN_OWN], REPLAY_TIME, 10);
    replay_figure(&program.figures[REPLAY_AFTER], REPLAY_TIME, 16);
    judge(&program, 0, &sum, &code);
    assert_int_equal(code, CLI_NO);
    assert_true(sum.grew == 1 && sum.total_grew);
    // What was measured here counts more than what was recorded.
    replay_figure(&program.figures[REPLAY_BEFORE], REPLAY_TIME, 16);
    judge(&program, 0, &sum, &code);
    assert_int_equal(code, CLI_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_results_are_equal),
        cmocka_unit_test(the_largest_relative_difference_counts),
        cmocka_unit_test(a_number_on_one_side_only_is_infinitely_far),
        cmocka_unit_test(each_type_is_read_as_what_it_is),
        cmocka_unit_test(other_shapes_are_unlike),
        cmocka_unit_test(limits_are_read),
        cmocka_unit_test(times_of_another_machine_are_not_judged),
        cmocka_unit_test(growth_counts_from_a_limit_and_a_size_on),
        cmocka_unit_test(what_differs_fails_or_grows_is_a_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
