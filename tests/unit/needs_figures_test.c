// What results need, in figures: operations, work, memory, loops, and what cannot run elsewhere.
#define _GNU_SOURCE
#include "needs_help.h"

#include "read/mlir_ops.h"

typedef struct asked_t {
    const char *program;
    uint32_t result;
    const char *answer; // "arguments; operations, work, bytes[, unbounded][, obstacle][, across]"
} asked_t;

static void put_need(const keel_need_t *need, char out[256]) {
    size_t at = 0;
    for (uint32_t i = 0; i < need->arguments.count; ++i)
        at += (size_t)snprintf(out + at, 256 - at, "%s%u", i ? " " : "", need->arguments.items[i]);
    snprintf(out + at, 256 - at, "; %u ops, %g work, %llu bytes%s%s%s%s%s%s", need->operations,
             need->work, (unsigned long long)need->bytes, need->is_bounded ? "" : ", unbounded",
             need->obstacle ? ", not " : "", need->obstacle ? need->obstacle : "",
             need->across ? ", across " : "", need->across ? need->across : "",
             need->is_other_random ? ", other numbers" : "");
}

static void ask(const asked_t *asked, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        keel_program_t program;
        keel_needs_t *needs;
        keel_need_t need;
        char text[256];
        small_program(asked[i].program, &program);
        assert_ok(keel_needs_create(&program, &needs));
        assert_ok(keel_needs_of(needs, &asked[i].result, 1, 1000, &need));
        assert_false(need.is_over);
        put_need(&need, text);
        assert_string_equal(text, asked[i].answer);
        keel_needs_destroy(needs);
        keel_program_deinitialize(&program);
    }
}
#define ASK(...)                                                                                   \
    do {                                                                                           \
        static const asked_t asked_[] = {__VA_ARGS__};                                             \
        ask(asked_, sizeof asked_ / sizeof *asked_);                                               \
    } while (0)

static void work_is_counted_by_elements(void **state) {
    (void)state;
    ASK({"x: f32[8] y: f32[8]\n"
         "z = multiply f32[8] x y\n"
         "w = negate f32[8] z\n"
         "r = reshape f32[2,4] w\n"
         "return r",
         0, "0 1; 3 ops, 16 work, 160 bytes"},
        {"x: bf16[4,8] y: bf16[8,16]\n"
         "z = dot_general f32[4,16] x y {lhs_contracting_dimensions=[1] "
         "rhs_contracting_dimensions=[0]}\n"
         "return z",
         0, "0 1; 1 ops, 1024 work, 576 bytes"},
        {"hlo\n"
         "x: f32[4,8] y: f32[8,16]\n"
         "z = dot f32[4,16] x y {dot_dimension_numbers={lhs_contracting_dimensions=[1]}}\n"
         "return z",
         0, "0 1; 2 ops, 1024 work, 896 bytes"},
        {"x: f32[1,8,8,3] k: f32[3,3,3,16]\n"
         "z = convolution f32[1,6,6,16] x k {kernel_output_feature_dimension=3}\n"
         "return z",
         0, "0 1; 1 ops, 31104 work, 4800 bytes"},
        {"x: f32[64] i: f32[]\n"
         "s = reduce f32[] x i {dimensions=[0]} { a: f32[] b: f32[]; c = add f32[] a b; d = "
         "multiply f32[] c c; return d }\n"
         "return s",
         0, "0 1; 3 ops, 130 work, 264 bytes"},
        {"x: f32[64] i: f32[]\n"
         "s = reduce_window f32[32] x i {window_dimensions=[4]} { a: f32[] b: f32[]; c = add f32[] "
         "a b; return c }\n"
         "return s",
         0, "0 1; 2 ops, 128 work, 388 bytes"},
        {"x: c64[4] n: i4[3] p: i1[5]\n"
         "y = custom_call f32[] x n p {call_target_name='Sharding'}\n"
         "return y",
         0, "0 1 2; 1 ops, 12 work, 44 bytes"});
}

// The programs that a loop is part of: a step, a limit and a first number decide how often it runs.
#define LOOP(first, test, step)                                                                    \
    "x: f32[] n: i32[]\n"                                                                          \
    "i = constant i32[] " first "\n"                                                               \
    "u = constant i32[] 7\n"                                                                       \
    "a b l = while f32[] i32[] i32[] x i u {\n"                                                    \
    "  x: f32[] i: i32[] u: i32[]\n"                                                               \
    "  ten = constant i32[] 10\n"                                                                  \
    "  " test "\n"                                                                                 \
    "  return p\n"                                                                                 \
    "} {\n"                                                                                        \
    "  x: f32[] i: i32[] u: i32[]\n"                                                               \
    "  two = constant i32[] 2\n"                                                                   \
    "  y = negate f32[] x\n"                                                                       \
    "  " step "\n"                                                                                 \
    "  return y j u\n"                                                                             \
    "}\n"                                                                                          \
    "return a"

static void a_loop_counts_as_often_as_it_runs(void **state) {
    (void)state;
    // Three element operations a round: compare, negate, and the step.
    ASK({LOOP("0", "p = compare i1[] i ten {comparison_direction='LT'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 15 work, 33 bytes"},
        {LOOP("1", "p = compare i1[] i ten {comparison_direction='LT'}", "j = add i32[] two i"), 0,
         "0; 7 ops, 15 work, 33 bytes"},
        {LOOP("1", "p = compare i1[] i ten {comparison_direction='LE'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 15 work, 33 bytes"},
        {LOOP("0", "p = compare i1[] i ten {comparison_direction='LE'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 18 work, 33 bytes"},
        {LOOP("0", "p = compare i1[] ten i {comparison_direction='GT'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 15 work, 33 bytes"},
        {LOOP("0", "p = compare i1[] i ten {comparison_direction='NE'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 15 work, 33 bytes"},
        {LOOP("20", "p = compare i1[] i ten {comparison_direction='GT'}",
              "j = subtract i32[] i two"),
         0, "0; 7 ops, 15 work, 33 bytes"},
        {LOOP("20", "p = compare i1[] i ten {comparison_direction='GE'}",
              "j = subtract i32[] i two"),
         0, "0; 7 ops, 18 work, 33 bytes"},
        // The step is a number of another form.
        {LOOP("0", "p = compare i1[] i ten {comparison_direction='LT'}",
              "k = convert i32[] two\nj = add i32[] i k"),
         0, "0; 8 ops, 20 work, 37 bytes"},
        // It never runs.
        {LOOP("10", "p = compare i1[] i ten {comparison_direction='LT'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 0 work, 33 bytes"},
        // The limit is carried.
        {LOOP("0", "p = compare i1[] i u {comparison_direction='LT'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 12 work, 37 bytes"});
}

static void a_loop_whose_rounds_are_not_known_is_unbounded(void **state) {
    (void)state;
    ASK({LOOP("0", "p = compare i1[] i ten {comparison_direction='LT'}",
              "j = subtract i32[] i two"),
         0, "0; 7 ops, 3 work, 33 bytes, unbounded"},
        {LOOP("1", "p = compare i1[] i ten {comparison_direction='NE'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 3 work, 33 bytes, unbounded"},
        {LOOP("0", "p = compare i1[] i ten {comparison_direction='EQ'}", "j = add i32[] i two"), 0,
         "0; 7 ops, 3 work, 33 bytes, unbounded"},
        {LOOP("0", "p = compare i1[] i ten {comparison_direction='LT'}", "j = add i32[] i i"), 0,
         "0; 6 ops, 3 work, 29 bytes, unbounded"},
        {LOOP("0", "p = compare i1[] i ten {comparison_direction='LT'}",
              "j = multiply i32[] i two"),
         0, "0; 7 ops, 3 work, 33 bytes, unbounded"},
        {LOOP("0", "p = compare i1[] i n {comparison_direction='LT'}", "j = add i32[] i two"), 0,
         "0 1; 6 ops, 3 work, 33 bytes, unbounded"},
        // The step has no negative.
        {LOOP("20", "p = compare i1[] i ten {comparison_direction='GT'}",
              "k = constant i64[] -9223372036854775808\nj = subtract i32[] i k"),
         0, "0; 7 ops, 3 work, 37 bytes, unbounded"});
}

static void a_loop_of_hlo_counts_as_often_as_it_runs(void **state) {
    (void)state;
    ASK({"hlo\n"
         "x: f32[]\n"
         "i = constant i32[] 0\n"
         "t = tuple (f32[], i32[]) x i\n"
         "w = while (f32[], i32[]) t {called_computations=[&body, &test]}\n"
         "e = get-tuple-element f32[] w\n"
         "return e\n"
         "fn body\n"
         "s: (f32[], i32[])\n"
         "x = get-tuple-element f32[] s\n"
         "i = get-tuple-element i32[] s {tuple_index=1}\n"
         "one = constant i32[] 1\n"
         "j = add i32[] i one\n"
         "y = negate f32[] x\n"
         "return y j\n"
         "fn test\n"
         "s: (f32[], i32[])\n"
         "i = get-tuple-element i32[] s {tuple_index=1}\n"
         "ten = constant i32[] 10\n"
         "p = compare i1[] i ten {comparison_direction='LT'}\n"
         "root p",
         0, "0; 14 ops, 30 work, 33 bytes"});
}

static void the_most_of_branches_counts(void **state) {
    (void)state;
    ASK({"p: i32[] x: f32[8]\n"
         "a = case f32[8] p { y = negate f32[8] x; return y } { y = negate f32[8] x; z = add "
         "f32[8] "
         "y y; return z } { return x }\n"
         "return a",
         0, "0 1; 4 ops, 16 work, 132 bytes"});
}

static void a_called_function_counts_at_each_call(void **state) {
    (void)state;
    ASK({"x: f32[8]\n"
         "a = call f32[8] x {callee='f'}\n"
         "b = call f32[8] a {callee='f'}\n"
         "return b\n"
         "fn f\n"
         "u: f32[8]\n"
         "v = negate f32[8] u\n"
         "return v",
         0, "0; 3 ops, 16 work, 160 bytes"});
}

static void what_cannot_run_elsewhere_is_named(void **state) {
    (void)state;
    ASK({"x: f32[]\ny = custom_call f32[] x {call_target_name='xla_python_callback'}\nreturn y x",
         0, "0; 1 ops, 1 work, 8 bytes, not xla_python_callback"},
        // A result that does not depend on it can.
        {"x: f32[]\ny = custom_call f32[] x {call_target_name='xla_python_callback'}\nreturn y x",
         1, "0; 0 ops, 0 work, 4 bytes"},
        {"x: f32[]\ny = custom_call f32[] x {call_target_name='Sharding'}\nreturn y", 0,
         "0; 1 ops, 1 work, 8 bytes"},
        {"x: f32[]\ny = custom_call f32[] x {call_target_name='MoveToDevice'}\nreturn y", 0,
         "0; 0 ops, 0 work, 4 bytes"},
        {"x: f32[]\ny = custom_call f32[] x {call_target_name='LayoutConstraint'}\nreturn y", 0,
         "0; 1 ops, 1 work, 8 bytes"},
        {"a: f32[] b: f32[] s: i64[1]\ny = rng f32[8] a b s\nreturn y", 0,
         "0 1 2; 1 ops, 8 work, 48 bytes, not rng"},
        {"t: token\ny u = infeed f32[] token t\nreturn y", 0,
         "0; 1 ops, 1 work, 4 bytes, not infeed"},
        {"t: token\nu = after_all token t\nreturn u", 0, "0; 1 ops, 0 work, 0 bytes, not token"},
        {"x: f32[] t: token\nreturn x t", 0, "0; 0 ops, 0 work, 4 bytes"},
        {"x: f32[]\ny = frobnicate f32[] x\nreturn y", 0,
         "0; 1 ops, 1 work, 8 bytes, not frobnicate"},
        {"hlo\nx: f32[]\ny = brand-new f32[] x\nreturn y", 0,
         "0; 2 ops, 1 work, 8 bytes, not brand-new"},
        {"hlo\nx: f32[]\ny = custom-call f32[] x {custom_call_target='f'}\nreturn y", 0,
         "0; 2 ops, 1 work, 8 bytes, not f"});
}

static void what_depends_on_other_devices_is_named(void **state) {
    (void)state;
    ASK({"y = partition_id u32[]\nreturn y", 0, "; 1 ops, 1 work, 4 bytes, across partition_id"},
        {"x: f32[]\ny = all_reduce f32[] x { a: f32[] b: f32[]; c = add f32[] a b; return c "
         "}\nreturn y",
         0, "0; 2 ops, 1 work, 8 bytes, across all_reduce"},
        {"x: f32[4]\ny = custom_call f32[8] x {call_target_name='SPMDShardToFullShape'}\nreturn y",
         0, "0; 1 ops, 4 work, 48 bytes, across SPMDShardToFullShape"},
        {"hlo\nx: f32[4]\ny = all-gather f32[8] x\nreturn y", 0,
         "0; 2 ops, 8 work, 48 bytes, across all-gather"});
}

static void a_generator_of_the_backends_own_is_told(void **state) {
    (void)state;
    ASK({"s: u64[2]\nt r = rng_bit_generator u64[2] u32[8] s {rng_algorithm=DEFAULT}\nreturn r", 0,
         "0; 1 ops, 10 work, 64 bytes, other numbers"},
        {"s: u64[2]\nt r = rng_bit_generator u64[2] u32[8] s {rng_algorithm=THREE_FRY}\nreturn r",
         0, "0; 1 ops, 10 work, 64 bytes"},
        {"hlo\ns: u64[2]\nt = rng-bit-generator (u64[2], u32[8]) s\nr = get-tuple-element u32[8] t "
         "{tuple_index=1}\nreturn r",
         0, "0; 3 ops, 10 work, 64 bytes, other numbers"});
}

static void a_question_ends_once_there_is_too_much(void **state) {
    (void)state;
    static char text[16384];
    size_t at = (size_t)snprintf(text, sizeof text, "x: f32[]\n");
    for (int i = 0; i < 200; ++i)
        at += (size_t)snprintf(text + at, sizeof text - at, "v%d = negate f32[] %s%.0d\n", i,
                               i ? "v" : "x", i ? i - 1 : 0);
    snprintf(text + at, sizeof text - at, "return v199 x");
    keel_program_t program;
    keel_needs_t *needs;
    keel_need_t need;
    // The text's first lines: v0 = negate x, v1 = negate v (which %.0d leaves without its 0).
    char *one = strstr(text, "v1 = negate f32[] v\n");
    assert_non_null(one);
    memmove(one + 20, one + 19, strlen(one + 19) + 1);
    one[19] = '0';
    small_program(text, &program);
    assert_ok(keel_needs_create(&program, &needs));
    static const uint32_t first = 0, second = 1;
    assert_ok(keel_needs_of(needs, &first, 1, 200, &need));
    assert_false(need.is_over);
    assert_int_equal(need.operations, 200);
    assert_ok(keel_needs_of(needs, &first, 1, 199, &need));
    assert_true(need.is_over);
    assert_ok(keel_needs_of(needs, &first, 1, 3, &need));
    assert_true(need.is_over);
    assert_int_equal(need.arguments.count, 0);
    assert_ok(keel_needs_of(needs, &second, 1, 3, &need));
    assert_false(need.is_over);
    keel_needs_destroy(needs);
    keel_program_deinitialize(&program);
}

// ---- the table of operations -------------------------------------------------------------------

static void assert_is_known(const char *name) {
    char text[128], word[64];
    keel_program_t program;
    keel_needs_t *needs;
    keel_need_t need;
    static const uint32_t first = 0;
    snprintf(word, sizeof word, "%s", name);
    char *version = strstr(word, "_v");
    if (version && version[2] >= '1' && version[2] <= '9' && !version[3]) *version = 0;
    snprintf(text, sizeof text, "x: f32[]\ny = %s f32[] x\nreturn y", word);
    if (!strcmp(word, "return") || !strcmp(word, "func") || !strcmp(word, "module")) return;
    small_program(text, &program);
    assert_ok(keel_needs_create(&program, &needs));
    assert_ok(keel_needs_of(needs, &first, 1, 10, &need));
    static const char *const host[] = {"async_done", "async_start", "custom_call",
                                       "infeed",     "outfeed",     "recv",
                                       "rng",        "send",        NULL};
    if ((need.obstacle != NULL) != keel_str_is_one_of(keel_str(word), host))
        fail_msg("%s: %s", word, need.obstacle ? need.obstacle : "no obstacle");
    keel_needs_destroy(needs);
    keel_program_deinitialize(&program);
}

static void every_operation_that_is_read_is_known(void **state) {
    (void)state;
    for (int dialect = KEEL_MLIR_BUILTIN; dialect <= KEEL_MLIR_SDY; ++dialect) {
        size_t count;
        const keel_mlir_op_t *ops = keel_mlir_ops((keel_mlir_dialect_t)dialect, &count);
        assert_true(count > 0);
        for (size_t i = 0; i < count; ++i)
            assert_is_known(ops[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_counted_by_elements),
        cmocka_unit_test(a_loop_counts_as_often_as_it_runs),
        cmocka_unit_test(a_loop_whose_rounds_are_not_known_is_unbounded),
        cmocka_unit_test(a_loop_of_hlo_counts_as_often_as_it_runs),
        cmocka_unit_test(the_most_of_branches_counts),
        cmocka_unit_test(a_called_function_counts_at_each_call),
        cmocka_unit_test(what_cannot_run_elsewhere_is_named),
        cmocka_unit_test(what_depends_on_other_devices_is_named),
        cmocka_unit_test(a_generator_of_the_backends_own_is_told),
        cmocka_unit_test(a_question_ends_once_there_is_too_much),
        cmocka_unit_test(every_operation_that_is_read_is_known),
    };
    return cmocka_run_group_tests_name("needs figures", tests, NULL, NULL);
}
