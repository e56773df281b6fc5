// Pieces of a whole, what a client's function computes from a size, and equal operations that were
// paired crosswise: small pairs at the limits of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void equal_pieces_of_a_whole_drift_with_it(void **state) {
    (void)state;
    CHECK_PAIRS({"a: f32[10] b: f32[10]\n"
                 "y = concatenate f32[20] a b @7\n"
                 "z = reshape f32[2,10] y @8\n"
                 "return z",
                 "a: f32[14] b: f32[14]\n"
                 "y = concatenate f32[28] a b @7\n"
                 "z = reshape f32[2,14] y @8\n"
                 "return z",
                 "shape a: f32[10] -> f32[14] @99 +3 (and 1 more argument)", NULL},
                {"x: f32[20]\n"
                 "a = slice f32[10] x {start_indices=[0] limit_indices=[10] strides=[1]} @7\n"
                 "b = slice f32[10] x {start_indices=[10] limit_indices=[20] strides=[1]} @8\n"
                 "y = concatenate f32[20] b a @9\n"
                 "return y",
                 "x: f32[28]\n"
                 "a = slice f32[14] x {start_indices=[0] limit_indices=[14] strides=[1]} @7\n"
                 "b = slice f32[14] x {start_indices=[14] limit_indices=[28] strides=[1]} @8\n"
                 "y = concatenate f32[28] b a @9\n"
                 "return y",
                 "shape x: f32[20] -> f32[28] @99 +6", NULL},
                {"x: f32[20]\n"
                 "a = slice f32[5] x {start_indices=[0] limit_indices=[5] strides=[1]} @7\n"
                 "b = slice f32[15] x {start_indices=[5] limit_indices=[20] strides=[1]} @8\n"
                 "y = concatenate f32[20] b a @9\n"
                 "return y",
                 "x: f32[28]\n"
                 "a = slice f32[5] x {start_indices=[0] limit_indices=[5] strides=[1]} @7\n"
                 "b = slice f32[23] x {start_indices=[5] limit_indices=[28] strides=[1]} @8\n"
                 "y = concatenate f32[28] b a @9\n"
                 "return y",
                 "shape x: f32[20] -> f32[28] @99 +3", NULL});
}

static void what_a_function_of_the_clients_works_out_follows_from_its_size(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[9]\n"
                 "y = call f32[9] x {callee=&roll} @8\n"
                 "return y\n"
                 "fn roll\n"
                 "x: f32[9]\n"
                 "c = constant f32[] 4\n"
                 "b = broadcast_in_dim f32[9] c\n"
                 "y = add f32[9] x b\n"
                 "return y",
                 "x: f32[14]\n"
                 "y = call f32[14] x {callee=&roll} @8\n"
                 "return y\n"
                 "fn roll\n"
                 "x: f32[14]\n"
                 "c = constant f32[] 7\n"
                 "b = broadcast_in_dim f32[14] c\n"
                 "y = add f32[14] x b\n"
                 "return y",
                 "shape x: f32[9] -> f32[14] @99 +4", NULL},
                {"x: f32[9]\n"
                 "y = call f32[9] x {callee=&roll} @8\n"
                 "return y\n"
                 "fn roll\n"
                 "x: f32[9]\n"
                 "c = constant f32[] 1\n"
                 "b = broadcast_in_dim f32[9] c\n"
                 "y = add f32[9] x b\n"
                 "return y",
                 "x: f32[14]\n"
                 "y = call f32[14] x {callee=&roll} @8\n"
                 "return y\n"
                 "fn roll\n"
                 "x: f32[14]\n"
                 "c = constant f32[] 17\n"
                 "b = broadcast_in_dim f32[14] c\n"
                 "y = add f32[14] x b\n"
                 "return y",
                 "shape x: f32[9] -> f32[14] @99 +3\n"
                 "constant add: 1 -> 17 @8<99",
                 NULL},
                // Its own lines make it the user's.
                {"x: f32[9]\n"
                 "y = call f32[9] x {callee=&roll} @8\n"
                 "return y\n"
                 "fn roll\n"
                 "x: f32[9]\n"
                 "c = constant f32[] 2 @3\n"
                 "b = broadcast_in_dim f32[9] c @3\n"
                 "y = add f32[9] x b @3\n"
                 "return y",
                 "x: f32[14]\n"
                 "y = call f32[14] x {callee=&roll} @8\n"
                 "return y\n"
                 "fn roll\n"
                 "x: f32[14]\n"
                 "c = constant f32[] 3 @3\n"
                 "b = broadcast_in_dim f32[14] c @3\n"
                 "y = add f32[14] x b @3\n"
                 "return y",
                 "shape x: f32[9] -> f32[14] @99 +3\n"
                 "constant add: 2 -> 3 @3<99",
                 NULL});
}

static void equal_operations_are_paired_by_what_they_take(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = tanh f32[4] y @7\n"
                 "c = sine f32[4] a @8\n"
                 "d = sine f32[4] b @8\n"
                 "return c d",
                 "x: f32[4] y: f32[4]\n"
                 "b = tanh f32[4] y @7\n"
                 "a = tanh f32[4] x @7\n"
                 "d = sine f32[4] b @8\n"
                 "c = sine f32[4] a @8\n"
                 "return c d",
                 "structure tanh: x -> y @7<99 (it takes different ones of the values that both "
                 "programs have)",
                 NULL},
                {"x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = tanh f32[4] y @7\n"
                 "c = subtract f32[4] a b @8\n"
                 "return c",
                 "x: f32[4] y: f32[4]\n"
                 "b = tanh f32[4] y @7\n"
                 "a = tanh f32[4] x @7\n"
                 "c = subtract f32[4] a b @8\n"
                 "k = cosine f32[4] c @9\n"
                 "return k",
                 "structure cosine: nothing -> cosine @9<99", NULL},
                // An operation that leads to another place is another one.
                {"x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = sine f32[4] a @8\n"
                 "c = cosine f32[4] y @9\n"
                 "return b c",
                 "x: f32[4] y: f32[4]\n"
                 "b = sine f32[4] x @8\n"
                 "a = tanh f32[4] y @7\n"
                 "c = cosine f32[4] a @9\n"
                 "return b c",
                 "structure tanh: tanh, sine -> sine, tanh @7<99 (in a different order)",
                 "structure sine: sine, tanh -> tanh, sine @8<99 (in a different order)"},
                {"hlo\n"
                 "x: f32[4,4] @4\n"
                 "a = transpose f32[4,4] x {dimensions=[1,0]} @7\n"
                 "b = transpose f32[4,4] x {dimensions=[1,0]} @8\n"
                 "c = add f32[4,4] a b @9\n"
                 "return c",
                 "hlo\n"
                 "x: f32[4,4] @4\n"
                 "a = transpose f32[4,4] x {dimensions=[1,0]} @7\n"
                 "c = add f32[4,4] a a @9\n"
                 "return c",
                 "structure transpose: transpose -> nothing @8<4", NULL});
}

#define SUM "{ p: f32[] q: f32[] ; s = add f32[] p q @9 ; return s @9 }"

// Clients sum what is more than one, and what is no more.
static void a_sum_follows_from_the_size_that_was_one(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[1,4]\n"
                 "y = tanh f32[1,4] x @8\n"
                 "r = reshape f32[4] y @8\n"
                 "return r",
                 "x: f32[8,4]\n"
                 "y = tanh f32[8,4] x @8\n"
                 "z = constant f32[] 0\n"
                 "r = reduce f32[4] y z {dimensions=[0]} @9 " SUM "\n"
                 "return r",
                 "shape x: f32[1,4] -> f32[8,4] @99 +2", NULL},
                {"x: f32[1,4]\n"
                 "y = tanh f32[1,4] x @8\n"
                 "r = reshape f32[4] y @8\n"
                 "return r",
                 "x: f32[8,4]\n"
                 "y = tanh f32[8,4] x @8\n"
                 "z = constant f32[] 0\n"
                 "r = reduce f32[4] y z {dimensions=[0]} @9 " SUM "\n"
                 "e = exponential f32[4] r @9\n"
                 "return e",
                 "shape x: f32[1,4] -> f32[8,4] @99 +1\n"
                 "structure reduce: reshape -> reduce, add, exponential @9<99",
                 "shape x: f32[8,4] -> f32[1,4] @99 +1\n"
                 "structure reshape: reduce, add, exponential -> reshape @8<99"},
                {"x: f32[4] k: f32[2]\n"
                 "y = tanh f32[4] x @8\n"
                 "return y",
                 "x: f32[4] k: f16[2]\n"
                 "y = tanh f32[4] x @8\n"
                 "z = constant f32[] 0\n"
                 "r = reduce f32[4] y z {dimensions=[]} @9 " SUM "\n"
                 "return r",
                 "dtype k: f32[2] -> f16[2] @99 +1", NULL},
                {"x: f32[4] k: f32[2]\n"
                 "y = tanh f32[4] x @8\n"
                 "return y",
                 "x: f32[4] k: f16[2]\n"
                 "y = tanh f32[4] x @8\n"
                 "z = constant f32[] 0\n"
                 "r = reduce f32[4] y z {dimensions=[]} @9 " SUM "\n"
                 "e = exponential f32[4] r @9\n"
                 "return e",
                 "dtype k: f32[2] -> f16[2] @99\n"
                 "structure reduce: nothing -> reduce, add, exponential @9<99",
                 NULL},
                // In HLO what sums is another computation.
                {"hlo\n"
                 "x: f32[1,4]\n"
                 "y = tanh f32[1,4] x @8\n"
                 "r = reshape f32[4] y @8\n"
                 "return r",
                 "hlo\n"
                 "x: f32[8,4]\n"
                 "y = tanh f32[8,4] x @8\n"
                 "z = constant f32[] 0\n"
                 "r = reduce f32[4] y z {dimensions=[0]} @9\n"
                 "return r",
                 "shape argument 0: f32[1,4] -> f32[8,4] @8<99 +2", NULL});
}

// A function of the client's between sizes n and m that uses a constant.
#define SCALED(n, value)                                                                           \
    "x: f32[" n "]\n"                                                                              \
    "y = call f32[" n "] x {callee=&resize} @8\n"                                                  \
    "return y\n"                                                                                   \
    "fn resize\n"                                                                                  \
    "x: f32[" n "]\n"                                                                              \
    "c = constant f32[] " value "\n"                                                               \
    "b = broadcast_in_dim f32[" n "] c\n"                                                          \
    "y = multiply f32[" n "] x b\n"                                                                \
    "return y"
#define FOLLOWS(n, m) "shape x: f32[" n "] -> f32[" m "] @99 +4"
#define IS_ITS_OWN(n, m, before, after)                                                            \
    "shape x: f32[" n "] -> f32[" m "] @99 +3\nconstant multiply: " before " -> " after " @8<99"

static void the_scale_to_another_size_follows(void **state) {
    (void)state;
    CHECK_PAIRS(
        {SCALED("96", "1.5"), SCALED("80", "1.25"), FOLLOWS("96", "80"), NULL},
        {SCALED("96", "0.65625"), SCALED("80", "0.7875"), FOLLOWS("96", "80"), NULL},
        {SCALED("96", "1.5"), SCALED("80", "1.75"), IS_ITS_OWN("96", "80", "1.5", "1.75"), NULL},
        // To 65536 and no further, on either side.
        {SCALED("3", "0.000045776367"), SCALED("5", "0.000076293945"), FOLLOWS("3", "5"), NULL},
        {SCALED("3", "0.000045775668"), SCALED("5", "0.000076292781"),
         IS_ITS_OWN("3", "5", "4.577567e-05", "7.629278e-05"), NULL},
        {SCALED("3", "21845.334"), SCALED("6", "10922.667"), FOLLOWS("3", "6"), NULL},
        {SCALED("3", "21845.668"), SCALED("6", "10922.834"),
         IS_ITS_OWN("3", "6", "21845.668", "10922.834"), NULL});
#undef SCALED
#undef FOLLOWS
#undef IS_ITS_OWN
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_pieces_of_a_whole_drift_with_it),
        cmocka_unit_test(what_a_function_of_the_clients_works_out_follows_from_its_size),
        cmocka_unit_test(the_scale_to_another_size_follows),
        cmocka_unit_test(a_sum_follows_from_the_size_that_was_one),
        cmocka_unit_test(equal_operations_are_paired_by_what_they_take),
    };
    return cmocka_run_group_tests_name("explain_parts", tests, NULL, NULL);
}
