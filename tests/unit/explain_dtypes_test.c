// What follows from another dtype, a Python number or a random key, and powers: small pairs at the
// limits of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void other_dtypes_follow_from_the_first(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "y = multiply f32[4] x x @8\n"
         "z = tanh f32[4] y @9\n"
         "return z",
         "x: f16[4]\n"
         "y = multiply f16[4] x x @8\n"
         "z = tanh f16[4] y @9\n"
         "return z",
         "dtype x: f32[4] -> f16[4] @99 +2", NULL},
        {"x: f32[4]\n"
         "y = multiply f32[4] x x @8\n"
         "z = convert f16[4] y @9\n"
         "w = tanh f16[4] z @10\n"
         "return w",
         "x: f32[4]\n"
         "y = multiply f32[4] x x @8\n"
         "z = convert bf16[4] y @9\n"
         "w = tanh bf16[4] z @10\n"
         "return w",
         "dtype convert: f16[4] -> bf16[4] @9<99 +1 (the function itself chooses "
         "the dtype)",
         NULL},
        {"x: f32[4]\n"
         "y = multiply f32[4] x x @8\n"
         "return y",
         "x: f32[4]\n"
         "z = convert f16[4] x @8\n"
         "y = multiply f16[4] z z @8\n"
         "return y",
         "structure convert: nothing -> convert @8<99 +1 (only one of the two converts it to "
         "another dtype: autocast, or a cast)",
         NULL},
        {"x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x @8\n"
         "return y",
         "x: f32[4,4]\n"
         "y = dot_general f64[4,4] x x @8\n"
         "return y",
         "precision dot_general: f32[4,4] -> f64[4,4] @8<99", NULL},
        {"x: f32[4,4]\n"
         "y = iota f32[4,4] @8\n"
         "return y",
         "x: f32[4,4]\n"
         "y = iota i32[4,4] @8\n"
         "return y",
         "dtype iota: f32[4,4] -> i32[4,4] @8<99", NULL},
        // The same numbers, rounded; others.
        {"x: f32[4]\n"
         "c = constant f32[] 0.1\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "x: f64[4]\n"
         "c = constant f64[] 0.1\n"
         "b = broadcast_in_dim f64[4] c @7\n"
         "y = multiply f64[4] x b @8\n"
         "return y",
         "dtype x: f32[4] -> f64[4] @99 +2", NULL},
        {"x: f32[4]\n"
         "c = constant f32[] 0.1\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "x: f64[4]\n"
         "c = constant f64[] 0.10001\n"
         "b = broadcast_in_dim f64[4] c @7\n"
         "y = multiply f64[4] x b @8\n"
         "return y",
         "dtype x: f32[4] -> f64[4] @99 +2\n"
         "constant multiply: 0.1 -> 0.10001 @8<99",
         NULL},
        {"x: f32[4]\n"
         "c = constant f32[] 0.1\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "x: f16[4]\n"
         "c = constant f16[] 0x2e66\n"
         "b = broadcast_in_dim f16[4] c @7\n"
         "y = multiply f16[4] x b @8\n"
         "return y",
         "dtype x: f32[4] -> f16[4] @99 +2", NULL},
        {"x: f32[4]\n"
         "c = constant f32[] 0.1\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "x: f16[4]\n"
         "c = constant f16[] 0x2e86\n"
         "b = broadcast_in_dim f16[4] c @7\n"
         "y = multiply f16[4] x b @8\n"
         "return y",
         "dtype x: f32[4] -> f16[4] @99 +2\n"
         "constant multiply: 0.1 -> 0.1019 @8<99",
         NULL});
}

static void a_call_that_only_moves_elements_follows_from_the_dtype(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "y = tanh f32[4] x @8\n"
                 "return y",
                 "x: bf16[4]\n"
                 "a = call bf16[4] x {callee=&f} @7\n"
                 "y = tanh bf16[4] a @8\n"
                 "return y\n"
                 "fn f\n"
                 "p: bf16[4]\n"
                 "q = slice bf16[4] p @3\n"
                 "return q",
                 "dtype x: f32[4] -> bf16[4] @99 +2", NULL},
                // One that computes does not.
                {"x: f32[4]\n"
                 "y = tanh f32[4] x @8\n"
                 "return y",
                 "x: bf16[4]\n"
                 "a = call bf16[4] x {callee=&f} @7\n"
                 "y = tanh bf16[4] a @8\n"
                 "return y\n"
                 "fn f\n"
                 "p: bf16[4]\n"
                 "q = sine bf16[4] p @3\n"
                 "return q",
                 "dtype x: f32[4] -> bf16[4] @99 +1\n"
                 "structure call: nothing -> call @7<99",
                 NULL});
}

static void python_numbers_are_told_by_what_converts_them(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f16[4] k: f32[]\n"
                 "c = convert f16[] k @8\n"
                 "b = broadcast_in_dim f16[4] c @8\n"
                 "y = multiply f16[4] x b @8\n"
                 "return y",
                 "x: f16[4] k: f32[]\n"
                 "c = convert f32[4] x @8\n"
                 "b = broadcast_in_dim f32[4] k @8\n"
                 "y = multiply f32[4] c b @8\n"
                 "return y",
                 "weak_type k: weak f32[] -> f32[] @99 +3", NULL},
                {"x: f32[4] k: f32[]\n"
                 "c = convert f32[] k @8\n"
                 "b = broadcast_in_dim f32[4] c @8\n"
                 "y = multiply f32[4] x b @8\n"
                 "return y",
                 "x: f32[4] k: f32[]\n"
                 "b = broadcast_in_dim f32[4] k @8\n"
                 "y = multiply f32[4] x b @8\n"
                 "return y",
                 "weak_type k: weak f32[] -> f32[] @99", NULL},
                {"x: f32[4] k: f32[2]\n"
                 "c = convert f32[2] k @8\n"
                 "y = custom_call f32[4] x c @8\n"
                 "return y",
                 "x: f32[4] k: f32[2]\n"
                 "y = custom_call f32[4] x k @8\n"
                 "return y",
                 "weak_type k: weak f32[2] -> f32[2] @99", NULL},
                // What both convert in the same way is the same kind of number.
                {"k: i32[] n: f16[4]\n"
                 "c = convert f32[] k @8\n"
                 "d = negate f16[4] n @9\n"
                 "return c d",
                 "k: i32[] n: f16[4]\n"
                 "t = popcnt i32[] k @7\n"
                 "c = convert f32[] t @8\n"
                 "d = negate f16[4] n @9\n"
                 "return c d",
                 "structure popcnt: nothing -> popcnt @7<99", NULL});
}

static void a_random_key_of_another_kind(void **state) {
    (void)state;
    CHECK_PAIRS({"key: u32[2]\n"
                 "c = unrealized_conversion_cast u32[2] key @7\n"
                 "y = tanh f32[4] c @8\n"
                 "return y",
                 "key: u32[2]\n"
                 "y = tanh f32[4] key @8\n"
                 "return y",
                 "dtype key: typed key -> u32[2] @99 (jax.random.key makes a typed key, "
                 "jax.random.PRNGKey a raw one)",
                 NULL},
                {"key: u32[2] x: f32[4]\n"
                 "a = call f32[4] key {callee=&_threefry_split} @7\n"
                 "y = add f32[4] x a @8\n"
                 "return y\n"
                 "fn _threefry_split\n"
                 "k: u32[2]\n"
                 "r = xor u32[2] k k\n"
                 "s = convert f32[4] r\n"
                 "return s",
                 "key: u32[2] x: f32[4]\n"
                 "a = rng_bit_generator f32[4] key @7\n"
                 "y = add f32[4] x a @8\n"
                 "return y",
                 "option jax.random: threefry2x32 -> rbg @7<99 +1 (random numbers come from a "
                 "different generator)",
                 NULL},
                {"x: f32[4]\n"
                 "a = tanh f32[4] x @jit(step)/random_bits|7\n"
                 "c = call f32[4] a {callee=&threefry} @7\n"
                 "y = add f32[4] x c @8\n"
                 "return y\n"
                 "fn threefry\n"
                 "k: f32[4]\n"
                 "s = sine f32[4] k\n"
                 "return s",
                 "x: f32[4]\n"
                 "a = rng_bit_generator f32[4] x @jit(step)/random_bits|7\n"
                 "b = cosine f32[4] x @9\n"
                 "y = add f32[4] b a @8\n"
                 "return y",
                 "option jax.random: threefry2x32 -> rbg @7<99 +1 (random numbers come from a "
                 "different generator)",
                 NULL});
}

static void whole_exponents_are_powers(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "z = multiply f32[4] x y @jit(step)/integer_pow|8\n"
                 "return z",
                 "constant power: 2 -> 3 @8<99", NULL},
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "return y",
                 "x: f32[4]\n"
                 "c = constant f32[] 1 @jit(step)/integer_pow|8\n"
                 "y = broadcast_in_dim f32[4] c @jit(step)/integer_pow|8\n"
                 "return y",
                 "constant power: 2 -> 0 @8<99", NULL},
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "c = constant f32[] 1 @jit(step)/integer_pow|8\n"
                 "b = broadcast_in_dim f32[4] c @jit(step)/integer_pow|8\n"
                 "z = divide f32[4] b y @jit(step)/integer_pow|8\n"
                 "return z",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "w = multiply f32[4] y y @jit(step)/integer_pow|8\n"
                 "c = constant f32[] 1 @jit(step)/integer_pow|8\n"
                 "b = broadcast_in_dim f32[4] c @jit(step)/integer_pow|8\n"
                 "z = divide f32[4] b w @jit(step)/integer_pow|8\n"
                 "return z",
                 "constant power: -2 -> -4 @8<99", NULL},
                // Two bases, a name that only ends alike, no name, another line.
                {"x: f32[4] w: f32[4]\n"
                 "y = multiply f32[4] x w @jit(step)/integer_pow|8\n"
                 "return y",
                 "x: f32[4] w: f32[4]\n"
                 "y = multiply f32[4] x w @jit(step)/integer_pow|8\n"
                 "z = multiply f32[4] x y @jit(step)/integer_pow|8\n"
                 "return z",
                 "structure multiply: 1 time -> 2 times @8<99 (multiply)", NULL},
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_po|8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_po|8\n"
                 "z = multiply f32[4] x y @jit(step)/integer_po|8\n"
                 "return z",
                 "structure multiply: 1 time -> 2 times @8<99 (multiply)", NULL},
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "z = multiply f32[4] y y @jit(step)/integer_pow|9\n"
                 "return z",
                 "structure multiply: nothing -> multiply @9<99", NULL},
                // Two of one line: the first that differs; as many as the other has.
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8.4\n"
                 "z = multiply f32[4] x x @jit(step)/integer_pow|8.9\n"
                 "w = add f32[4] y z @8.6\n"
                 "return w",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8.4\n"
                 "a = multiply f32[4] x x @jit(step)/integer_pow|8.9\n"
                 "z = multiply f32[4] x a @jit(step)/integer_pow|8.9\n"
                 "w = add f32[4] y z @8.6\n"
                 "return w",
                 "constant power: 2 -> 3 @8<99", NULL},
                {"x: f32[4] v: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "w = multiply f32[4] v v @jit(step)/integer_pow|8\n"
                 "z = add f32[4] y w @8\n"
                 "return z",
                 "x: f32[4] v: f32[4]\n"
                 "a = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "y = multiply f32[4] x a @jit(step)/integer_pow|8\n"
                 "b = multiply f32[4] v v @jit(step)/integer_pow|8\n"
                 "w = multiply f32[4] b b @jit(step)/integer_pow|8\n"
                 "z = add f32[4] y w @8\n"
                 "return z",
                 "constant power: 2 -> 3 @8<99", NULL},
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8.4\n"
                 "a = multiply f32[4] x x @jit(step)/integer_pow|8.9\n"
                 "z = multiply f32[4] a a @jit(step)/integer_pow|8.9\n"
                 "w = add f32[4] y z @8.6\n"
                 "return w",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8.4\n"
                 "w = add f32[4] y x @8.6\n"
                 "return w",
                 "structure multiply: 3 times -> 1 time @8<99 (multiply and 1 more)", NULL},
                // What only computed its base goes with it.
                {"x: f32[4]\n"
                 "t = tanh f32[4] x @7\n"
                 "y = multiply f32[4] t t @jit(step)/integer_pow|8\n"
                 "return y",
                 "x: f32[4]\n"
                 "c = constant f32[] 1 @jit(step)/integer_pow|8\n"
                 "y = broadcast_in_dim f32[4] c @jit(step)/integer_pow|8\n"
                 "return y",
                 "constant power: 2 -> 0 @8<99", NULL},
                // The one of a negative exponent is not a power of its own; the largest of several
                // of one place is that with the most products.
                {"x: f32[4] v: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "c = constant f32[] 1 @jit(step)/integer_pow|8\n"
                 "b = broadcast_in_dim f32[4] c @jit(step)/integer_pow|8\n"
                 "z = divide f32[4] b y @jit(step)/integer_pow|8\n"
                 "m = multiply f32[4] v v @jit(step)/integer_pow|8\n"
                 "w = multiply f32[4] v m @jit(step)/integer_pow|8\n"
                 "s = add f32[4] z w @8\n"
                 "return s",
                 "x: f32[4] v: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8\n"
                 "m = multiply f32[4] v v @jit(step)/integer_pow|8\n"
                 "w = multiply f32[4] v m @jit(step)/integer_pow|8\n"
                 "s = add f32[4] y w @8\n"
                 "return s",
                 "constant power: -2 -> 2 @8<99", NULL},
                {"x: f32[4] v: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8.4\n"
                 "q = multiply f32[4] x y @jit(step)/integer_pow|8.4\n"
                 "c = constant f32[] 1 @jit(step)/integer_pow|8.4\n"
                 "b = broadcast_in_dim f32[4] c @jit(step)/integer_pow|8.4\n"
                 "z = divide f32[4] b q @jit(step)/integer_pow|8.4\n"
                 "w = multiply f32[4] v v @jit(step)/integer_pow|8.4\n"
                 "s = add f32[4] z w @8.9\n"
                 "return s",
                 "x: f32[4] v: f32[4]\n"
                 "y = multiply f32[4] x x @jit(step)/integer_pow|8.4\n"
                 "q = multiply f32[4] y y @jit(step)/integer_pow|8.4\n"
                 "c = constant f32[] 1 @jit(step)/integer_pow|8.4\n"
                 "b = broadcast_in_dim f32[4] c @jit(step)/integer_pow|8.4\n"
                 "z = divide f32[4] b q @jit(step)/integer_pow|8.4\n"
                 "s = add f32[4] z v @8.9\n"
                 "return s",
                 "constant power: -3 -> -4 @8<99", NULL},
                // Nested in itself as a whole; and only in part, as a function that calls itself.
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @8.4<20.2<8.4<20.2<30.1\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @8.4<20.2<8.4<20.2<30.1\n"
                 "z = multiply f32[4] x y @8.4<20.2<8.4<20.2<30.1\n"
                 "return z",
                 "constant power: 2 -> 3 @8<20", NULL},
                {"x: f32[4]\n"
                 "y = multiply f32[4] x x @8.4<20.2<8.4<21.2<30.1\n"
                 "return y",
                 "x: f32[4]\n"
                 "y = multiply f32[4] x x @8.4<20.2<8.4<21.2<30.1\n"
                 "z = multiply f32[4] x y @8.4<20.2<8.4<21.2<30.1\n"
                 "return z",
                 "structure multiply: 1 time -> 2 times @8<20 (multiply)", NULL});
}

static void parts_of_a_complex_value_follow_from_its_dtype_alone(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4] w: f32[8]\n"
                 "a = abs f32[4] x @8\n"
                 "return a",
                 "x: c64[4] w: f32[16]\n"
                 "r = real f32[4] x @8\n"
                 "s = multiply f32[4] r r @8\n"
                 "i = imag f32[4] x @8\n"
                 "t = multiply f32[4] i i @8\n"
                 "u = add f32[4] s t @8\n"
                 "a = sqrt f32[4] u @8\n"
                 "return a",
                 "shape w: f32[8] -> f32[16] @99\n"
                 "dtype x: f32[4] -> c64[4] @99 +1",
                 NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_dtypes_follow_from_the_first),
        cmocka_unit_test(a_call_that_only_moves_elements_follows_from_the_dtype),
        cmocka_unit_test(python_numbers_are_told_by_what_converts_them),
        cmocka_unit_test(a_random_key_of_another_kind),
        cmocka_unit_test(whole_exponents_are_powers),
        cmocka_unit_test(parts_of_a_complex_value_follow_from_its_dtype_alone),
    };
    return cmocka_run_group_tests_name("explain_dtypes", tests, NULL, NULL);
}
