// How operations that only one program has, or has elsewhere, are described: small pairs at the
// limits of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void operations_of_one_side_are_listed(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "y = tanh f32[4] x @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = sine f32[4] x @8\n"
                 "return y",
                 "structure sine: tanh -> sine @8<99", "structure tanh: sine -> tanh @8<99"},
                {"x: f32[4]\n"
                 "y = tanh f32[4] x @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = tanh f32[4] x @8\n"
                 "z = sine f32[4] y @9\n"
                 "return z",
                 "structure sine: nothing -> sine @9<99", NULL},
                // Three are named, those of a name that was, and the fourth, are counted.
                {"x: f32[4]\n"
                 "return x",
                 "x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = sine f32[4] a @9\n"
                 "c = cosine f32[4] b @9\n"
                 "return c",
                 "structure tanh: nothing -> tanh, sine, cosine @8<99",
                 "structure tanh: tanh, sine, cosine -> nothing @8"},
                {"x: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "a = tanh f32[4] y @8\n"
                 "b = sine f32[4] a @9\n"
                 "c = cosine f32[4] b @9\n"
                 "d = log f32[4] c @9\n"
                 "e = tanh f32[4] d @9\n"
                 "return e",
                 "structure tanh: nothing -> tanh, sine, cosine and 2 more @8<99", NULL},
                {"x: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "a = tanh f32[4] y @8\n"
                 "b = sine f32[4] a @9\n"
                 "c = sine f32[4] b @9\n"
                 "return c",
                 "structure tanh: nothing -> tanh, sine and 1 more @8<99", NULL},
                // Two places in the program, one line; two lines; one that flows into the other.
                {"x: f32[4] z: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "w = log f32[4] z @9\n"
                 "return y w",
                 "x: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "y = exponential f32[4] a @7\n"
                 "b = sine f32[4] z @8\n"
                 "w = log f32[4] b @9\n"
                 "return y w",
                 "structure tanh: nothing -> tanh, sine @8<99", NULL},
                {"x: f32[4] z: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "w = log f32[4] z @9\n"
                 "return y w",
                 "x: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] x @6\n"
                 "y = exponential f32[4] a @7\n"
                 "b = sine f32[4] z @8\n"
                 "w = log f32[4] b @9\n"
                 "return y w",
                 "structure tanh: nothing -> tanh @6<99\n"
                 "structure sine: nothing -> sine @8<99",
                 NULL},
                {"x: f32[4] z: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "w = log f32[4] z @9\n"
                 "return y w",
                 "x: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] x @6\n"
                 "y = exponential f32[4] x @7\n"
                 "b = add f32[4] z a @8\n"
                 "w = log f32[4] b @9\n"
                 "return y w",
                 "structure tanh: nothing -> tanh, add @6<99", NULL},
                {"x: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] x @6\n"
                 "y = exponential f32[4] a @7\n"
                 "w = log f32[4] z @9\n"
                 "return y w",
                 "x: f32[4] z: f32[4]\n"
                 "y = exponential f32[4] x @7\n"
                 "b = sine f32[4] z @8\n"
                 "w = log f32[4] b @9\n"
                 "return y w",
                 "structure tanh: tanh -> nothing @6<99\n"
                 "structure sine: nothing -> sine @8<99",
                 "structure sine: sine -> nothing @8<99\n"
                 "structure tanh: nothing -> tanh @6<99"},
                // Without lines.
                {"x: f32[4]\n"
                 "y = tanh f32[4] x\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = tanh f32[4] x\n"
                 "z = sine f32[4] y\n"
                 "w = sine f32[4] z\n"
                 "return w",
                 "structure sine: nothing -> sine and 1 more", NULL});
}

// Each line has a constant, and in `after` a chain of so many operations that `before` lacks, the
// next line one less.
static const char *algorithms(bool is_after, int lines, int operations, char *out, size_t room) {
    static const char *const names[] = {"tanh", "sine", "cosine", "exponential", "logistic"};
    size_t size = 0;
#define SAY(...) size += (size_t)snprintf(out + size, room - size, __VA_ARGS__)
    for (int i = 0; i < lines; ++i)
        SAY("x%d: f32[%d] ", i, i + 3);
    for (int i = 0; i < lines; ++i) {
        int line = 10 * (i + 1);
        SAY("\nc%d = constant f32[] %d @%d\n", i, line + is_after, line);
        SAY("b%d = broadcast_in_dim f32[%d] c%d @%d\n", i, i + 3, i, line);
        SAY("m%d = multiply f32[%d] x%d b%d @%d\n", i, i + 3, i, i, line);
        SAY("v%d_0 = negate f32[%d] x%d @%d", i, i + 3, i, line);
        for (int j = 1; j <= operations - i && is_after; ++j)
            SAY("\nv%d_%d = %s f32[%d] v%d_%d @%d", i, j, names[(i + j) % 5], i + 3, i, j - 1,
                line);
    }
    SAY("\nreturn");
    for (int i = 0; i < lines; ++i)
        SAY(" m%d v%d_%d", i, i, is_after ? operations - i : 0);
#undef SAY
    assert_true(size < room);
    return out;
}

static void explain_algorithms(int lines, int operations, keel_explanation_t *out) {
    static char before[1 << 14], after[1 << 14];
    static small_sides_t sides;
    small_sides(algorithms(false, lines, operations, before, sizeof before),
                algorithms(true, lines, operations, after, sizeof after), &sides);
    explain(&sides.programs[0], &sides.programs[1], out);
    small_release(&sides);
}

static void what_else_moved_where_the_algorithm_is_another_follows_from_it(void **state) {
    (void)state;
    enum { LINES = 5 };
    keel_explanation_t e;
    explain_algorithms(LINES, 13, &e);
    assert_int_equal(e.root_count, LINES);
    for (size_t i = 0; i < e.root_count; ++i) {
        assert_int_equal(e.roots[i].kind, KEEL_CAUSE_STRUCTURE);
        assert_int_equal(e.roots[i].place.line, 10 * (i + 1));
        assert_int_equal(e.roots[i].folds, 1);
    }
    assert_int_equal(e.folded_count, LINES);
    for (size_t i = 0; i < e.folded_count; ++i)
        assert_int_equal(e.folded[i].kind, KEEL_CAUSE_CONSTANT);
    keel_explanation_deinitialize(&e);
}

static void lines_that_ran_again_are_counted(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "return a",
                 "x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = tanh f32[4] a @8\n"
                 "return b",
                 "structure tanh: 1 time -> 2 times @8<99 (tanh)", NULL},
                {"x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = tanh f32[4] a @8\n"
                 "return b",
                 "x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = tanh f32[4] a @8\n"
                 "c = tanh f32[4] b @8\n"
                 "d = tanh f32[4] c @8\n"
                 "return d",
                 "structure tanh: 2 times -> 4 times @8<99 (tanh and 1 more)", NULL},
                {"x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = sine f32[4] a @9\n"
                 "return b",
                 "x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = sine f32[4] a @9\n"
                 "c = tanh f32[4] b @8\n"
                 "d = sine f32[4] c @9\n"
                 "return d",
                 "structure tanh: 1 time -> 2 times @8<99 (tanh, sine)", NULL},
                {"x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = sine f32[4] a @9\n"
                 "return b",
                 "x: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = sine f32[4] a @9\n"
                 "c = tanh f32[4] b @8\n"
                 "d = sine f32[4] c @9\n"
                 "e = tanh f32[4] d @8\n"
                 "return e",
                 "structure tanh: 1 time -> 3 times @8<99 (tanh, sine and 1 more)", NULL},
                {"x: f32[4]\n"
                 "a = call f32[4] x {callee=&f} @8\n"
                 "return a\n"
                 "fn f\n"
                 "x: f32[4]\n"
                 "y = tanh f32[4] x @3\n"
                 "return y",
                 "x: f32[4]\n"
                 "a = call f32[4] x {callee=&f} @8\n"
                 "b = call f32[4] a {callee=&f} @8\n"
                 "return b\n"
                 "fn f\n"
                 "x: f32[4]\n"
                 "y = tanh f32[4] x @3\n"
                 "return y",
                 "structure call: 1 time -> 2 times @8<99 (call)", NULL},
                // A line of the user's is a cause of its own beside a new one.
                {"x: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "y = exponential f32[4] a @6\n"
                 "w = log f32[4] z @7\n"
                 "return y w",
                 "x: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] x @8\n"
                 "b = tanh f32[4] a @8\n"
                 "y = exponential f32[4] b @6\n"
                 "c = sine f32[4] z @9\n"
                 "w = log f32[4] c @7\n"
                 "return y w",
                 "structure tanh: 1 time -> 2 times @8<99 (tanh)\n"
                 "structure sine: nothing -> sine @9<99",
                 NULL});
}

static void operations_in_another_order_changed_places(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "a = tanh f32[4] x @8\n"
         "b = sine f32[4] a @9\n"
         "return b",
         "x: f32[4]\n"
         "a = sine f32[4] x @9\n"
         "b = tanh f32[4] a @8\n"
         "return b",
         "structure tanh: tanh, sine -> sine, tanh @8<99 (in a different order)",
         "structure sine: sine, tanh -> tanh, sine @9<99 (in a different order)"},
        {"x: f32[4]\n"
         "a = tanh f32[4] x @8\n"
         "b = sine f32[4] a @8\n"
         "return b",
         "x: f32[4]\n"
         "a = sine f32[4] x @8\n"
         "b = tanh f32[4] a @8\n"
         "return b",
         "structure tanh: tanh, sine -> sine, tanh @8<99 (in a different order)",
         "structure sine: sine, tanh -> tanh, sine @8<99 (in a different order)"},
        {"x: f32[4] z: f32[4]\n"
         "a = tanh f32[4] x @8\n"
         "b = subtract f32[4] z a @9\n"
         "c = cosine f32[4] b @10\n"
         "return c",
         "x: f32[4] z: f32[4]\n"
         "a = tanh f32[4] x @8\n"
         "b = cosine f32[4] a @10\n"
         "c = subtract f32[4] z b @9\n"
         "return c",
         "structure subtract: subtract, cosine -> cosine, subtract @9<99 (in a different order)",
         "structure cosine: cosine, subtract -> subtract, cosine @10<99 (in a different order)"},
        {"x: f32[4]\n"
         "a = tanh f32[4] x @8\n"
         "b = subtract f32[4] a x @9\n"
         "c = subtract f32[4] b a @10\n"
         "return c",
         "x: f32[4]\n"
         "a = tanh f32[4] x @8\n"
         "b = subtract f32[4] a a @10\n"
         "c = subtract f32[4] b x @9\n"
         "return c",
         "structure subtract: tanh, x -> tanh, tanh @10<99 (it takes different ones of the values "
         "that both programs have)",
         "structure subtract: tanh, tanh -> tanh, x @9<99 (it takes different ones of the values "
         "that both programs have)"});
}

static void the_same_operations_may_take_other_values(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4] y: f32[4]\n"
                 "a = subtract f32[4] x y @8\n"
                 "return a",
                 "x: f32[4] y: f32[4]\n"
                 "a = subtract f32[4] y x @8\n"
                 "return a",
                 "structure subtract: x, y -> y, x @8<99 (it takes different ones of the values "
                 "that both programs have)",
                 NULL},
                {"_x: f32[4] _y: f32[4]\n"
                 "a = subtract f32[4] _x _y @8\n"
                 "return a",
                 "_x: f32[4] _y: f32[4]\n"
                 "a = subtract f32[4] _y _x @8\n"
                 "return a",
                 "structure subtract: argument 0, argument 1 -> argument 1, argument 0 @8<99 (it "
                 "takes different ones of the values that both programs have)",
                 NULL},
                {"x: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = tanh f32[4] x @8\n"
                 "c = subtract f32[4] a b @9\n"
                 "return c",
                 "x: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = tanh f32[4] x @8\n"
                 "c = subtract f32[4] b a @9\n"
                 "return c",
                 "structure subtract: tanh 1, tanh 2 -> tanh 2, tanh 1 @9<99 (it takes different "
                 "ones of the values that both programs have)",
                 NULL},
                {"x: f32[4]\n"
                 "a b = sort f32[4] f32[4] x x @7\n"
                 "c = subtract f32[4] a b @9\n"
                 "return c",
                 "x: f32[4]\n"
                 "a b = sort f32[4] f32[4] x x @7\n"
                 "c = subtract f32[4] b a @9\n"
                 "return c",
                 "structure subtract: sort 1 result 0, sort 1 result 1 -> sort 1 result 1, sort 1 "
                 "result 0 @9<99 (it takes different ones of the values that both programs have)",
                 NULL},
                // Four are shown, from the first that differs.
                {"v: f32[4] w: f32[4] x: f32[4] y: f32[4] z: f32[4]\n"
                 "a = concatenate f32[20] v w x y z @9\n"
                 "return a",
                 "v: f32[4] w: f32[4] x: f32[4] y: f32[4] z: f32[4]\n"
                 "a = concatenate f32[20] w v x y z @9\n"
                 "return a",
                 "structure concatenate: v, w, x, y -> w, v, x, y @9<99 (it takes different ones "
                 "of the values that both programs have)",
                 NULL},
                {"v: f32[4] w: f32[4] x: f32[4] y: f32[4] z: f32[4]\n"
                 "a = concatenate f32[20] v w x y z @9\n"
                 "return a",
                 "v: f32[4] w: f32[4] x: f32[4] y: f32[4] z: f32[4]\n"
                 "a = concatenate f32[20] v w x z y @9\n"
                 "return a",
                 "structure concatenate: v, w, x, y -> v, w, x, z @9<99 (it takes different ones "
                 "of the values that both programs have)",
                 NULL},
                {"v: f32[4] w: f32[4] x: f32[4] y: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] v @9\n"
                 "return a",
                 "w: f32[4] x: f32[4] v: f32[4] y: f32[4] z: f32[4]\n"
                 "a = tanh f32[4] v @9\n"
                 "return a",
                 "arguments arguments: v, w, x, y -> w, x, v, y @99 (the same arguments in a "
                 "different order)",
                 NULL},
                {"v: f32[4] w: f32[4] x: f32[4] y: f32[4] z: f32[4] u: f32[4]\n"
                 "a = tanh f32[4] v @9\n"
                 "return a",
                 "v: f32[4] x: f32[4] w: f32[4] y: f32[4] z: f32[4] u: f32[4]\n"
                 "a = tanh f32[4] v @9\n"
                 "return a",
                 "retrace :  ->  @99", NULL},
                {"x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = sine f32[4] y @8\n"
                 "return a b",
                 "x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = sine f32[4] y @8\n"
                 "return b a",
                 "structure return: tanh, sine -> sine, tanh @99 (it takes different ones of the "
                 "values that both programs have)",
                 NULL});
}

#define CALL_OF(target, config)                                                                    \
    "y = custom_call f32[4] x {call_target_name='" target "', backend_config='" config "'} @8\n"   \
    "return y"

static void an_address_is_no_difference(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n" CALL_OF("CustomSPMDPartitioning", "140702427854704"),
         "x: f32[4]\n" CALL_OF("CustomSPMDPartitioning", "140397915699056"), "retrace :  ->  @99",
         NULL},
        {"x: f32[4]\n" CALL_OF("mine", "140702427854704"), "x: f32[4]\n" CALL_OF("mine", "7"),
         "structure custom_call: 140702427854704 -> 7 @8<99", NULL},
        {"x: f32[4]\n" CALL_OF("mine", "\xff\x01"), "x: f32[4]\n" CALL_OF("mine", "\xff\x02"),
         "structure custom_call: 2 bytes ff01 -> 2 bytes ff02 @8<99", NULL});
}

static void what_nothing_else_tells_is_told_by_the_text(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"module jit_step {odd=1}\n"
         "x: f32[4]\n"
         "return x",
         "module jit_step {odd=2}\n"
         "x: f32[4]\n"
         "return x",
         "structure program: module @jit_step {odd = 1}  // mlir -> module @jit_step {odd = 2}  // "
         "mlir (the same operations, combined differently)",
         NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{name='aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb1'} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{name='aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb2'} @8\n"
         "return y",
         "structure program: %1 = custom_call %0 {name = "
         "\"aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb1\"} : tensor<4xf32> -> %1 "
         "= custom_call %0 {name = "
         "\"aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbb2\"} : tensor<4xf32> @99 "
         "(the same operations, combined differently)",
         NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{name='"
         "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa1aaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{name='"
         "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa2aaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'} @8\n"
         "return y",
         "structure program: "
         "...aaaabbbbbbbbbbaaaaaaaaaa1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"} : "
         "tensor<4xf32> -> "
         "...aaaabbbbbbbbbbaaaaaaaaaa2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"} : "
         "tensor<4xf32> @99 (the same operations, combined differently)",
         NULL},
        {"x: f32[4]\n"
         "y = tanh f32[4] x\n"
         "return y\n"
         "fn helper\n"
         "a: f32[]\n"
         "b = tanh f32[] a\n"
         "return b",
         "x: f32[4]\n"
         "y = tanh f32[4] x\n"
         "return y\n"
         "fn helper\n"
         "a: f32[]\n"
         "b = sine f32[] a\n"
         "return b",
         "structure program: %1 = tanh %0 : tensor<f32> -> %1 = sine %0 : tensor<f32> (the same "
         "operations, combined differently)",
         NULL});
}

static void results_that_one_side_lacks_are_told_by_name(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='a'}\n"
         "return x",
         "x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='a'} f32[3] {jax.result_info='b'}\n"
         "return x y",
         "structure b: absent -> f32[3] (a result)", NULL},
        {"x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='a'} f32[3] {jax.result_info='b'}\n"
         "return x y",
         "x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='c'}\n"
         "return x",
         "structure c: absent -> f32[4] +2 (a result)",
         "structure a: absent -> f32[4] +2 (a result)"},
        // As many as before, or without names.
        {"x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='a'}\n"
         "return x",
         "x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='b'}\n"
         "return x",
         "retrace :  -> ", NULL},
        {"x: f32[4] y: f32[3]\n"
         "-> f32[4]\n"
         "return x",
         "x: f32[4] y: f32[3]\n"
         "-> f32[4] f32[3]\n"
         "return x y",
         "structure program: ) -> (tensor<4xf32>) { -> ) -> (tensor<4xf32>, tensor<3xf32>) { (the "
         "same operations, combined differently)",
         NULL},
        {"x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='a'}\n"
         "return x",
         "x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='a'} f32[3] {jax.result_info='b'} f32[4] "
         "{jax.result_info='c'}\n"
         "z = tanh f32[4] x @8\n"
         "return x y z",
         "structure tanh: nothing -> tanh @8<99 +2", "structure tanh: tanh -> nothing @8 +2"},
        {"x: f32[4]\n"
         "-> f32[4] {jax.result_info='a'}\n"
         "return x",
         "x: f32[4] y: f32[3]\n"
         "-> f32[4] {jax.result_info='a'} f32[3] {jax.result_info='b'}\n"
         "return x y",
         "arguments y: absent -> f32[3] +1 (it is None or left out in one of the two calls)", NULL},
        // HLO has no names: what both compute and only one keeps, before or behind the others.
        {"hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return b",
         "hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return a b",
         "structure result 0: absent -> f32[4] @7<99 (only one of the two keeps it past its step)",
         NULL},
        {"hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "c = cosine f32[4] b @9\n"
         "return c",
         "hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "c = cosine f32[4] b @9\n"
         "return a b c",
         "structure result 0: absent -> f32[4] @7<99 (only one of the two keeps it past its step; "
         "and 1 more result)",
         NULL},
        {"hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "c = cosine f32[4] b @9\n"
         "return c",
         "hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "c = cosine f32[4] b @9\n"
         "return a x b c",
         "structure result 0: absent -> f32[4] @7<99 (only one of the two keeps it past its step; "
         "and 2 more results)",
         NULL},
        {"hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return b",
         "hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return b a",
         "structure result 1: absent -> f32[4] @7<99 (only one of the two keeps it past its step)",
         NULL},
        {"hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return b",
         "hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return b a a",
         "structure result 1: absent -> f32[4] @7<99 (only one of the two keeps it past its step; "
         "and 1 more result)",
         NULL},
        {"hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return b",
         "hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "b = sine f32[4] a @8\n"
         "return b a x b",
         "structure result 1: absent -> f32[4] @7<99 (only one of the two keeps it past its step; "
         "and 2 more results)",
         NULL},
        {"hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "return a",
         "hlo\n"
         "x: f32[4]\n"
         "a = tanh f32[4] x @7\n"
         "return a a",
         "structure result 1: absent -> f32[4] @7<99 (only one of the two keeps it past its step, "
         "as a copy of another result (PyTorch: copy_, clone))",
         NULL},
        {"hlo\n"
         "x: f32[4] y: f32[4]\n"
         "a = add f32[4] x y @7\n"
         "return a",
         "hlo\n"
         "x: f32[4] y: f32[4]\n"
         "a = add f32[4] x y @7\n"
         "return a y",
         "structure result 1: absent -> f32[4] @7<99 (only one of the two keeps it past its step)",
         NULL},
        {"hlo\n"
         "x: f32[4] y: f32[4]\n"
         "a = add f32[4] x y @7\n"
         "return a x",
         "hlo\n"
         "x: f32[4] y: f32[4]\n"
         "a = add f32[4] x y @7\n"
         "return a y",
         "structure tuple: add, argument 0 -> add, argument 1 @7<99 (it takes different ones of "
         "the values that both programs have)",
         NULL});
}

static void values_of_many_kinds_are_compared(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=true} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=false} @8\n"
                 "return y",
                 "constant custom_call odd: true -> false @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=unit} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=true} @8\n"
                 "return y",
                 "constant custom_call odd: unit -> true @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=0.5} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=0.25} @8\n"
                 "return y",
                 "constant custom_call odd: 0.5 -> 0.25 @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=f32[2]} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=f32[3]} @8\n"
                 "return y",
                 "constant custom_call odd: tensor<2xf32> -> tensor<3xf32> @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=&f} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=&g} @8\n"
                 "return y",
                 "structure custom_call: @f -> @g @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd={a=1 b=2}} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd={b=2 a=1}} @8\n"
                 "return y",
                 "retrace :  ->  @99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd={a=1 b=2}} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd={a=2 b=1}} @8\n"
                 "return y",
                 "constant custom_call odd: {a = 1, b = 2} -> {a = 2, b = 1} @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=['a','b']} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=['b','a']} @8\n"
                 "return y",
                 "constant custom_call odd: [\"a\", \"b\"] -> [\"b\", \"a\"] @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=[HIGH,DEFAULT]} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=[DEFAULT,HIGH]} @8\n"
                 "return y",
                 "constant custom_call odd: [HIGH, DEFAULT] -> [DEFAULT, HIGH] @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x {odd='1'} @8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = custom_call f32[4] x {odd=1} @8\n"
                 "return y",
                 "constant custom_call odd: \"1\" -> 1 @8<99",
                 "structure custom_call: 1 -> \"1\" @8<99"},
                {"x: f32[4]\n"
                 "y = custom_call (f32[4],f32[2]) x @8\n"
                 "return x",
                 "x: f32[4]\n"
                 "y = custom_call (f32[2],f32[4]) x @8\n"
                 "return x",
                 "structure program: %1 = custom_call %0 : (tensor<4xf32>) -> tuple<tensor<4xf32>, "
                 "tensor<2xf32>> -> %1 = custom_call %0 : (tensor<4xf32>) -> tuple<tensor<2xf32>, "
                 "tensor<4xf32>> @99 (the same operations, combined differently)",
                 NULL},
                {"x: f32[4]\n"
                 "y = custom_call c64[4] x @8\n"
                 "return x",
                 "x: f32[4]\n"
                 "y = custom_call c128[4] x @8\n"
                 "return x",
                 "dtype custom_call: c64[4] -> c128[4] @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call i32[4] x @8\n"
                 "return x",
                 "x: f32[4]\n"
                 "y = custom_call u32[4] x @8\n"
                 "return x",
                 "dtype custom_call: i32[4] -> u32[4] @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call i32[4] x @8\n"
                 "return x",
                 "x: f32[4]\n"
                 "y = custom_call i64[4] x @8\n"
                 "return x",
                 "dtype custom_call: i32[4] -> i64[4] @8<99", NULL},
                {"x: f32[4]\n"
                 "y = custom_call f32[4] x @8\n"
                 "return x",
                 "x: f32[4]\n"
                 "y = custom_call token x @8\n"
                 "return x",
                 "dtype custom_call: f32[4] -> !token @8<99", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_of_one_side_are_listed),
        cmocka_unit_test(what_else_moved_where_the_algorithm_is_another_follows_from_it),
        cmocka_unit_test(lines_that_ran_again_are_counted),
        cmocka_unit_test(operations_in_another_order_changed_places),
        cmocka_unit_test(the_same_operations_may_take_other_values),
        cmocka_unit_test(an_address_is_no_difference),
        cmocka_unit_test(what_nothing_else_tells_is_told_by_the_text),
        cmocka_unit_test(results_that_one_side_lacks_are_told_by_name),
        cmocka_unit_test(values_of_many_kinds_are_compared),
    };
    return cmocka_run_group_tests_name("explain_structure", tests, NULL, NULL);
}
