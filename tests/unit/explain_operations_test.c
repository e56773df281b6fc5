// What single operations of two programs differ in, their numbers and attributes: small pairs at
// the limits of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void numbers_are_told_by_what_takes_them(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "c = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "x: f32[4]\n"
         "c = constant f32[] 3\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "constant multiply: 2 -> 3 @8<99", NULL},
        {"x: f32[4]\n"
         "c = constant f32[4] 1,2,3,4 @7\n"
         "y = multiply f32[4] x c @8\n"
         "return y",
         "x: f32[4]\n"
         "c = constant f32[4] 1,2,5,4 @7\n"
         "y = multiply f32[4] x c @8\n"
         "return y",
         "constant constant f32[4] of multiply: 3 -> 5 @8<99 (1 of 4 elements differs, the first "
         "at [2])",
         NULL},
        {"x: f32[2,3]\n"
         "c = constant f32[2,3] 1,2,3,4,5,6 @7\n"
         "y = multiply f32[2,3] x c @8\n"
         "return y",
         "x: f32[2,3]\n"
         "c = constant f32[2,3] 1,2,3,4,7,8 @7\n"
         "y = multiply f32[2,3] x c @8\n"
         "return y",
         "constant constant f32[2,3] of multiply: 5 -> 7 @8<99 (2 of 6 elements differ, the first "
         "at [1,1])",
         NULL},
        // A splat beside an array.
        {"x: f32[2]\n"
         "c = constant f32[2] 1 @7\n"
         "y = multiply f32[2] x c @8\n"
         "return y",
         "x: f32[2]\n"
         "c = constant f32[2] 1,2 @7\n"
         "y = multiply f32[2] x c @8\n"
         "return y",
         "constant constant f32[2] of multiply: 1 -> 2 @8<99 (1 of 2 elements differs, the first "
         "at [1])",
         NULL},
        {"x: i8[2] y: i1[] z: c64[] u: u8[] v: i64[]\n"
         "a = constant i8[2] -1,2 @7\n"
         "b = add i8[2] x a @8\n"
         "c = constant i1[] 1 @9\n"
         "d = and i1[] y c @9\n"
         "e = constant c64[] 1i2 @10\n"
         "f = multiply c64[] z e @10\n"
         "g = constant u8[] 200 @11\n"
         "h = add u8[] u g @11\n"
         "i = constant i64[] -5 @12\n"
         "j = add i64[] v i @12\n"
         "return b d f h j",
         "x: i8[2] y: i1[] z: c64[] u: u8[] v: i64[]\n"
         "a = constant i8[2] -1,-128 @7\n"
         "b = add i8[2] x a @8\n"
         "c = constant i1[] 0 @9\n"
         "d = and i1[] y c @9\n"
         "e = constant c64[] 1i-2 @10\n"
         "f = multiply c64[] z e @10\n"
         "g = constant u8[] 255 @11\n"
         "h = add u8[] u g @11\n"
         "i = constant i64[] -9007199254740993 @12\n"
         "j = add i64[] v i @12\n"
         "return b d f h j",
         "constant constant i8[2] of add: 2 -> -128 @8<99 (1 of 2 elements differs, the first at "
         "[1])\n"
         "constant and: true -> false @9<99\n"
         "constant multiply: 1+2j -> 1-2j @10<99\n"
         "constant add: 200 -> 255 @11<99\n"
         "constant add: -5 -> -9007199254740993 @12<99",
         NULL},
        // Bits of small floats: f16 1 and 1.0009765625, bf16 1 and 1.0078125, f8E5M2 1 and 1.25.
        {"x: f16[] y: bf16[] z: f8E5M2[] w: f8E4M3FN[]\n"
         "a = constant f16[] 0x3c00\n"
         "b = add f16[] x a @8\n"
         "c = constant bf16[] 0x3f80\n"
         "d = add bf16[] y c @9\n"
         "e = constant f8E5M2[] 0x3c\n"
         "f = add f8E5M2[] z e @10\n"
         "g = constant f8E4M3FN[] 0x38\n"
         "h = add f8E4M3FN[] w g @11\n"
         "return b d f h",
         "x: f16[] y: bf16[] z: f8E5M2[] w: f8E4M3FN[]\n"
         "a = constant f16[] 0x3c01\n"
         "b = add f16[] x a @8\n"
         "c = constant bf16[] 0x3f81\n"
         "d = add bf16[] y c @9\n"
         "e = constant f8E5M2[] 0x3d\n"
         "f = add f8E5M2[] z e @10\n"
         "g = constant f8E4M3FN[] 0x39\n"
         "h = add f8E4M3FN[] w g @11\n"
         "return b d f h",
         "constant add: 1 -> 1.001 @8<99\n"
         "constant add: 1 -> 1.01 @9<99\n"
         "constant add: 1 -> 1.2 @10<99\n"
         "constant add: 0x38 -> 0x39 @11<99",
         NULL},
        // Subnormal, the smallest, infinite, not a number.
        {"x: f16[] y: bf16[] z: f8E5M2[]\n"
         "a = constant f16[] 0x0001\n"
         "b = add f16[] x a @8\n"
         "c = constant bf16[] 0x7f80\n"
         "d = add bf16[] y c @9\n"
         "e = constant f8E5M2[] 0x01\n"
         "f = add f8E5M2[] z e @10\n"
         "return b d f",
         "x: f16[] y: bf16[] z: f8E5M2[]\n"
         "a = constant f16[] 0x8400\n"
         "b = add f16[] x a @8\n"
         "c = constant bf16[] 0x7fc0\n"
         "d = add bf16[] y c @9\n"
         "e = constant f8E5M2[] 0xfc\n"
         "f = add f8E5M2[] z e @10\n"
         "return b d f",
         "constant add: 5.96e-08 -> -6.104e-05 @8<99\n"
         "constant add: inf -> nan @9<99\n"
         "constant add: 1.5e-05 -> -inf @10<99",
         NULL},
        {"x: f32[] y: f64[]\n"
         "a = constant f32[] 0.0001\n"
         "b = add f32[] x a @8\n"
         "c = constant f64[] 999999999\n"
         "d = add f64[] y c @9\n"
         "return b d",
         "x: f32[] y: f64[]\n"
         "a = constant f32[] 0.00009999\n"
         "b = add f32[] x a @8\n"
         "c = constant f64[] 1000000000\n"
         "d = add f64[] y c @9\n"
         "return b d",
         "constant add: 0.0001 -> 9.999e-05 @8<99\n"
         "constant add: 999999999 -> 1e+09 @9<99",
         NULL},
        {"x: f64[] y: f32[]\n"
         "a = constant f64[] 0.1\n"
         "b = add f64[] x a @8\n"
         "c = constant f32[] 0\n"
         "d = add f32[] y c @9\n"
         "return b d",
         "x: f64[] y: f32[]\n"
         "a = constant f64[] 0.10000000000000001\n"
         "b = add f64[] x a @8\n"
         "c = constant f32[] -0\n"
         "d = add f32[] y c @9\n"
         "return b d",
         "constant add: 0 -> -0 @9<99", NULL},
        // An array without elements, and one that takes another's place.
        {"x: f32[0]\n"
         "c = constant f32[2] 1,2 @7\n"
         "y = concatenate f32[2] x c @8\n"
         "return y",
         "x: f32[0]\n"
         "c = constant f32[2] 1,3 @7\n"
         "y = concatenate f32[2] x c @8\n"
         "return y",
         "constant constant f32[2] of concatenate: 2 -> 3 @8<99 (1 of 2 elements differs, the "
         "first at [1])",
         NULL},
        // The shape of a constant alone.
        {"x: f32[4]\n"
         "c = constant f32[2] 1,2 @7\n"
         "y = dot f32[4] x c @8\n"
         "return y",
         "x: f32[4]\n"
         "c = constant f32[3] 1,2,3 @7\n"
         "y = dot f32[4] x c @8\n"
         "return y",
         "size constant: 2 -> 3 @8<99 (an array of that size is part of the program; f32[2] -> "
         "f32[3])",
         "size constant: 3 -> 2 @8<99 (an array of that size is part of the program; f32[3] -> "
         "f32[2])"},
        // nan is nan; another nan is recognized by its bits.
        {"x: f32[2]\n"
         "c = constant f32[2] nan,1 @7\n"
         "y = add f32[2] x c @8\n"
         "return y",
         "x: f32[2]\n"
         "c = constant f32[2] nan,2 @7\n"
         "y = add f32[2] x c @8\n"
         "return y",
         "constant constant f32[2] of add: 1 -> 2 @8<99 (1 of 2 elements differs, the first at "
         "[1])",
         NULL},
        {"x: c64[2]\n"
         "c = constant c64[2] nani1,1i1 @7\n"
         "y = add c64[2] x c @8\n"
         "return y",
         "x: c64[2]\n"
         "c = constant c64[2] nan7i1,1i1 @7\n"
         "y = add c64[2] x c @8\n"
         "return y",
         "constant constant c64[2] of add: nan+1j 0x3f8000007fc00000 -> nan+1j "
         "0x3f8000007fc00007 @8<99 (1 of 2 elements differs, the first at [0])",
         NULL},
        {"x: c64[2]\n"
         "c = constant c64[] nani1 @7\n"
         "b = broadcast_in_dim c64[2] c @7\n"
         "y = add c64[2] x b @8\n"
         "return y",
         "x: c64[2]\n"
         "c = constant c64[] nan7i1 @7\n"
         "b = broadcast_in_dim c64[2] c @7\n"
         "y = add c64[2] x b @8\n"
         "return y",
         "constant add: nan+1j 0x3f8000007fc00000 -> nan+1j 0x3f8000007fc00007 @8<99", NULL},
        {"x: c64[2]\n"
         "c = constant c64[2] nani1 @7\n"
         "y = add c64[2] x c @8\n"
         "return y",
         "x: c64[2]\n"
         "c = constant c64[2] nan7i1 @7\n"
         "y = add c64[2] x c @8\n"
         "return y",
         "constant add: nan+1j 0x3f8000007fc00000 -> nan+1j 0x3f8000007fc00007 @8<99", NULL});
}

static void a_number_is_followed_to_its_user(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "c = constant f32[] 2 @7\n"
                 "y = call f32[4] x c {callee=&scale} @9\n"
                 "return y\n"
                 "fn scale\n"
                 "x: f32[4] c: f32[]\n"
                 "b = broadcast_in_dim f32[4] c @4\n"
                 "y = multiply f32[4] x b @5\n"
                 "return y",
                 "x: f32[4]\n"
                 "c = constant f32[] 3 @7\n"
                 "y = call f32[4] x c {callee=&scale} @9\n"
                 "return y\n"
                 "fn scale\n"
                 "x: f32[4] c: f32[]\n"
                 "b = broadcast_in_dim f32[4] c @4\n"
                 "y = multiply f32[4] x b @5\n"
                 "return y",
                 "constant multiply: 2 -> 3 @9<99", NULL},
                // Unused, or only handed back.
                {"x: f32[4]\n"
                 "c = constant f32[] 2 @7\n"
                 "y z = call f32[4] f32[] x c {callee=&scale} @9\n"
                 "return y z\n"
                 "fn scale\n"
                 "x: f32[4] c: f32[]\n"
                 "return x c",
                 "x: f32[4]\n"
                 "c = constant f32[] 3 @7\n"
                 "y z = call f32[4] f32[] x c {callee=&scale} @9\n"
                 "return y z\n"
                 "fn scale\n"
                 "x: f32[4] c: f32[]\n"
                 "return x c",
                 "constant call: 2 -> 3 @9<99", NULL},
                {"x: f32[4]\n"
                 "c = constant f32[] 2 @7\n"
                 "return x c",
                 "x: f32[4]\n"
                 "c = constant f32[] 3 @7\n"
                 "return x c",
                 "constant return: 2 -> 3 @99", NULL},
                // A loop takes it along and uses it in its body, or in its condition.
                {"n: i32[] x: f32[]\n"
                 "c = constant f32[] 2 @7\n"
                 "a b d = while i32[] f32[] f32[] n x c @8 { i: i32[] v: f32[] k: f32[]\n"
                 "p = compare i1[] i i {comparison_direction=LT} @8\n"
                 "return p } { i: i32[] v: f32[] k: f32[]\n"
                 "w = multiply f32[] v k @9\n"
                 "return i w k }\n"
                 "return b",
                 "n: i32[] x: f32[]\n"
                 "c = constant f32[] 3 @7\n"
                 "a b d = while i32[] f32[] f32[] n x c @8 { i: i32[] v: f32[] k: f32[]\n"
                 "p = compare i1[] i i {comparison_direction=LT} @8\n"
                 "return p } { i: i32[] v: f32[] k: f32[]\n"
                 "w = multiply f32[] v k @9\n"
                 "return i w k }\n"
                 "return b",
                 "constant multiply: 2 -> 3 @9<99", NULL},
                {"n: i32[] x: f32[]\n"
                 "c = constant i32[] 2 @7\n"
                 "a b d = while i32[] f32[] i32[] n x c @8 { i: i32[] v: f32[] k: i32[]\n"
                 "p = compare i1[] i k {comparison_direction=LT} @8\n"
                 "return p } { i: i32[] v: f32[] k: i32[]\n"
                 "w = tanh f32[] v @9\n"
                 "return i w k }\n"
                 "return b",
                 "n: i32[] x: f32[]\n"
                 "c = constant i32[] 7 @7\n"
                 "a b d = while i32[] f32[] i32[] n x c @8 { i: i32[] v: f32[] k: i32[]\n"
                 "p = compare i1[] i k {comparison_direction=LT} @8\n"
                 "return p } { i: i32[] v: f32[] k: i32[]\n"
                 "w = tanh f32[] v @9\n"
                 "return i w k }\n"
                 "return b",
                 "constant compare: 2 -> 7 @8<99", NULL},
                // One that the loop changes is where it begins.
                {"n: i32[] x: f32[]\n"
                 "c = constant f32[] 2 @7\n"
                 "a b d = while i32[] f32[] f32[] n x c @8 { i: i32[] v: f32[] k: f32[]\n"
                 "p = compare i1[] i i {comparison_direction=LT} @8\n"
                 "return p } { i: i32[] v: f32[] k: f32[]\n"
                 "w = multiply f32[] v k @9\n"
                 "return i w w }\n"
                 "return b",
                 "n: i32[] x: f32[]\n"
                 "c = constant f32[] 3 @7\n"
                 "a b d = while i32[] f32[] f32[] n x c @8 { i: i32[] v: f32[] k: f32[]\n"
                 "p = compare i1[] i i {comparison_direction=LT} @8\n"
                 "return p } { i: i32[] v: f32[] k: f32[]\n"
                 "w = multiply f32[] v k @9\n"
                 "return i w w }\n"
                 "return b",
                 "constant while: 2 -> 3 @8<99", NULL});
}

static void numbers_that_a_size_explains_follow_from_it(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[50]\n"
                 "c = constant f32[] 50 @7\n"
                 "b = broadcast_in_dim f32[50] c @7\n"
                 "y = divide f32[50] x b @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "c = constant f32[] 70 @7\n"
                 "b = broadcast_in_dim f32[70] c @7\n"
                 "y = divide f32[70] x b @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +3", NULL},
                {"x: f32[50]\n"
                 "c = constant f32[] 50 @7\n"
                 "b = broadcast_in_dim f32[50] c @7\n"
                 "y = divide f32[50] x b @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "c = constant f32[] 71 @7\n"
                 "b = broadcast_in_dim f32[70] c @7\n"
                 "y = divide f32[70] x b @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +2\n"
                 "constant divide: 50 -> 71 @8<99",
                 NULL},
                // Each element that differs, or none.
                {"x: f32[50]\n"
                 "c = constant i32[2] 50,1 @7\n"
                 "y = dynamic_slice f32[5] x c @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "c = constant i32[2] 70,1 @7\n"
                 "y = dynamic_slice f32[5] x c @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +1", NULL},
                {"x: f32[50]\n"
                 "c = constant i32[2] 50,1 @7\n"
                 "y = dynamic_slice f32[5] x c @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "c = constant i32[2] 70,2 @7\n"
                 "y = dynamic_slice f32[5] x c @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99\n"
                 "constant constant i32[2] of dynamic_slice: 50 -> 70 @8<99 (2 of 2 elements "
                 "differ, the first at [0])",
                 NULL},
                {"x: f32[50] z: f32[31]\n"
                 "c = constant i32[2] 50,31 @7\n"
                 "y = dynamic_slice f32[5] x c @8\n"
                 "return y",
                 "x: f32[70] z: f32[37]\n"
                 "c = constant i32[2] 70,37 @7\n"
                 "y = dynamic_slice f32[5] x c @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99\n"
                 "shape z: f32[31] -> f32[37] @99\n"
                 "constant constant i32[2] of dynamic_slice: 50 -> 70 @8<99 (2 of 2 elements "
                 "differ, the first at [0])",
                 NULL});
}

static void a_number_may_be_an_argument_instead(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4] k: f32[]\n"
         "b = broadcast_in_dim f32[4] k @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "x: f32[4]\n"
         "k = constant f32[] 2\n"
         "b = broadcast_in_dim f32[4] k @7\n"
         "y = multiply f32[4] x b @8\n"
         "return y",
         "arguments k: f32[] -> absent @99 +1 (it is None or left out in one of the two calls)",
         NULL},
        {"x: f32[4] k: f32[]\n"
         "y = power f32[4] x k @8\n"
         "return y",
         "x: f32[4]\n"
         "k = constant f32[] 2\n"
         "y = power f32[4] x k @8\n"
         "return y",
         "arguments k: f32[] -> absent @99 (it is None or left out in one of the two calls)", NULL},
        {"x: f32[4] k: f32[2]\n"
         "y = power f32[4] x k @8\n"
         "return y",
         "x: f32[4]\n"
         "k = constant f32[2] 2,3\n"
         "y = power f32[4] x k @8\n"
         "return y",
         "arguments k: f32[2] -> absent @99 (it is None or left out in one of the two calls)",
         NULL});
}

static void attributes_have_causes_of_their_own(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {precision_config=[DEFAULT,DEFAULT]} @8\n"
         "return y",
         "x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {precision_config=[HIGHEST,HIGHEST]} @8\n"
         "return y",
         "precision dot_general: DEFAULT -> HIGHEST @8<99", NULL},
        {"x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {precision_config=[DEFAULT,DEFAULT]} @8\n"
         "return y",
         "x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {precision_config=[DEFAULT,HIGHEST]} @8\n"
         "return y",
         "precision dot_general: DEFAULT -> [DEFAULT, HIGHEST] @8<99", NULL},
        {"x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {precision_config=[]} @8\n"
         "return y",
         "x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {precision_config=['HIGH','HIGH']} @8\n"
         "return y",
         "precision dot_general: [] -> [\"HIGH\", \"HIGH\"] @8<99", NULL},
        {"x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {lhs_contracting_dimensions=[1]} @8\n"
         "return y",
         "x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {lhs_contracting_dimensions=[0]} @8\n"
         "return y",
         "structure dot_general lhs_contracting_dimensions: [1] -> [0] @8<99", NULL},
        {"x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x {algorithm='a'} @8\n"
         "return y",
         "x: f32[4,4]\n"
         "y = dot_general f32[4,4] x x @8\n"
         "return y",
         "precision dot_general: a -> unset @8<99", NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {call_target_name='a' backend_config='p'} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {call_target_name='b' backend_config='q'} @8\n"
         "return y",
         "structure custom_call: a -> b @8<99", NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {call_target_name='a' backend_config='p'} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {call_target_name='a' backend_config='q'} @8\n"
         "return y",
         "structure custom_call: p -> q @8<99", NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {mhlo.sharding='a'} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {mhlo.sharding='b'} @8\n"
         "return y",
         "sharding custom_call: a -> b @8<99", NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {operand_layouts=[0,1]} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {operand_layouts=[1,0]} @8\n"
         "return y",
         "layout custom_call: [0, 1] -> [1, 0] @8<99", NULL},
        {"x: f32[4]\n"
         "y = compare i1[4] x x {comparison_direction=LT} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = compare i1[4] x x {comparison_direction=GT} @8\n"
         "return y",
         "structure compare: LT -> GT @8<99", NULL},
        {"x: f32[4]\n"
         "y = reverse f32[4] x {dimensions=[0] odd=true} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = reverse f32[4] x {dimensions=[1] odd=false} @8\n"
         "return y",
         "constant reverse dimensions: [0] -> [1] @8<99 +1 (an axis is part of the program, and "
         "cannot be an array)",
         NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {name='a' callee=&f sym_name='a'} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {name='b' callee=&f sym_name='b'} @8\n"
         "return y",
         "structure program: %1 = custom_call %0 {name = \"a\", callee = @f, sym_name = \"a\"} : "
         "tensor<4xf32> -> %1 = custom_call %0 {name = \"b\", callee = @f, sym_name = \"b\"} : "
         "tensor<4xf32> @99 (the same operations, combined differently)",
         NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {alpha=1} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {beta=2} @8\n"
         "return y",
         "structure custom_call: 1 -> unset @8<99 +1",
         "structure custom_call: 2 -> unset @8<99 +1"},
        // A list of numbers of another length; longer than its short form shows.
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {groups=[1,2]} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {groups=[1,2,3]} @8\n"
         "return y",
         "constant custom_call groups: [1, 2] -> [1, 2, 3] @8<99", NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{groups=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{groups=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,22]} @8\n"
         "return y",
         "constant custom_call groups: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, "
         "18, 19, 20, 21] -> [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, "
         "20, 22] @8<99",
         NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{text='"
         "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaa"
         "abbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa1'} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{text='"
         "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaa"
         "abbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa2'} @8\n"
         "return y",
         "structure custom_call: "
         "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaa"
         "abbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa1 -> "
         "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaa"
         "abbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa2 @8<99",
         NULL});
}

static void the_numbers_of_a_slice_are_a_size_or_a_place(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[9]\n"
                 "y = slice f32[4] x {start_indices=[0] limit_indices=[4] strides=[1]} @8\n"
                 "return y",
                 "x: f32[9]\n"
                 "y = slice f32[6] x {start_indices=[0] limit_indices=[6] strides=[1]} @8\n"
                 "return y",
                 "size slice end: 4 -> 6 @8<99 +1 ([4] -> [6])",
                 "size slice end: 6 -> 4 @8<99 +1 ([6] -> [4])"},
                {"x: f32[9]\n"
                 "y = slice f32[4] x {start_indices=[5] limit_indices=[9] strides=[1]} @8\n"
                 "return y",
                 "x: f32[9]\n"
                 "y = slice f32[6] x {start_indices=[3] limit_indices=[9] strides=[1]} @8\n"
                 "return y",
                 "size slice: 4 -> 6 @8<99 +1 (start_indices [5] -> [3])",
                 "size slice: 6 -> 4 @8<99 +1 (start_indices [3] -> [5])"},
                {"x: f32[9]\n"
                 "y = slice f32[4] x {start_indices=[1] limit_indices=[5] strides=[1]} @8\n"
                 "return y",
                 "x: f32[9]\n"
                 "y = slice f32[4] x {start_indices=[2] limit_indices=[6] strides=[1]} @8\n"
                 "return y",
                 "constant slice start: [1] -> [2] @8<99 +1", NULL},
                {"x: f32[9]\n"
                 "y = slice f32[4] x {start_indices=[1] limit_indices=[5] strides=[1]} @8\n"
                 "return y",
                 "x: f32[9]\n"
                 "y = slice f32[6] x {start_indices=[2] limit_indices=[8] strides=[1]} @8\n"
                 "return y",
                 "constant slice start: [1] -> [2] @8<99 +2", NULL},
                {"x: f32[9,5]\n"
                 "y = slice f32[4,5] x {start_indices=[5,0] limit_indices=[9,5] strides=[1,1]} @8\n"
                 "return y",
                 "x: f32[9,5]\n"
                 "y = slice f32[6,2] x {start_indices=[3,3] limit_indices=[9,5] strides=[1,1]} @8\n"
                 "return y",
                 "size slice: 4 -> 6 @8<99 +1 (start_indices [5, 0] -> [3, 3])",
                 "size slice: 6 -> 4 @8<99 +1 (start_indices [3, 3] -> [5, 0])"},
                {"x: f32[9]\n"
                 "y = slice f32[9] x {start_indices=[0] limit_indices=[9] strides=[1]} @8\n"
                 "return y",
                 "x: f32[9]\n"
                 "y = slice f32[5] x {start_indices=[0] limit_indices=[9] strides=[2]} @8\n"
                 "return y",
                 "constant slice strides: [1] -> [2] @8<99 +1", NULL},
                // All of a size that drifted, all but the last, a fixed part, half.
                {"x: f32[50]\n"
                 "y = slice f32[50] x {start_indices=[0] limit_indices=[50] strides=[1]} @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = slice f32[70] x {start_indices=[0] limit_indices=[70] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +2", NULL},
                {"x: f32[50]\n"
                 "y = slice f32[49] x {start_indices=[0] limit_indices=[49] strides=[1]} @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = slice f32[69] x {start_indices=[0] limit_indices=[69] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +2", NULL},
                {"x: f32[50]\n"
                 "y = slice f32[49] x {start_indices=[1] limit_indices=[50] strides=[1]} @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = slice f32[69] x {start_indices=[1] limit_indices=[70] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +2", NULL},
                {"x: f32[50]\n"
                 "y = slice f32[4] x {start_indices=[46] limit_indices=[50] strides=[1]} @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = slice f32[4] x {start_indices=[66] limit_indices=[70] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +2", NULL},
                {"x: f32[50]\n"
                 "y = slice f32[4] x {start_indices=[46] limit_indices=[50] strides=[1]} @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = slice f32[4] x {start_indices=[65] limit_indices=[69] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99\n"
                 "constant slice start: [46] -> [65] @8<99 +1",
                 NULL},
                {"x: f32[6]\n"
                 "y = slice f32[4] x {start_indices=[0] limit_indices=[4] strides=[1]} @8\n"
                 "return y",
                 "x: f32[3]\n"
                 "y = slice f32[3] x {start_indices=[0] limit_indices=[3] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[6] -> f32[3] @99 +2", NULL},
                {"x: f32[6]\n"
                 "y = slice f32[4] x {start_indices=[0] limit_indices=[4] strides=[1]} @8\n"
                 "return y",
                 "x: f32[3]\n"
                 "y = slice f32[2] x {start_indices=[0] limit_indices=[2] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[6] -> f32[3] @99 +2", NULL},
                {"x: f32[6]\n"
                 "y = slice f32[3] x {start_indices=[3] limit_indices=[6] strides=[1]} @8\n"
                 "return y",
                 "x: f32[9]\n"
                 "y = slice f32[3] x {start_indices=[3] limit_indices=[6] strides=[1]} @8\n"
                 "return y",
                 "shape x: f32[6] -> f32[9] @99", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_told_by_what_takes_them),
        cmocka_unit_test(a_number_is_followed_to_its_user),
        cmocka_unit_test(numbers_that_a_size_explains_follow_from_it),
        cmocka_unit_test(a_number_may_be_an_argument_instead),
        cmocka_unit_test(attributes_have_causes_of_their_own),
        cmocka_unit_test(the_numbers_of_a_slice_are_a_size_or_a_place),
    };
    return cmocka_run_group_tests_name("explain_operations", tests, NULL, NULL);
}
