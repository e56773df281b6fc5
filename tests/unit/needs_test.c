// The program of what some results need: the rules, on small programs.
#define _GNU_SOURCE
#include "needs_help.h"

static void what_a_result_does_not_depend_on_is_left_out(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"x: f32[8] {tf.aliasing_output=0} y: f32[8] n: i32[] {jax.buffer_donor=1 "
         "jax.arg_info='n'}\n"
         "one = constant i32[] 1\n"
         "m = add i32[] n one\n"
         "z = multiply f32[8] x y\n"
         "return z m\n"
         "-> f32[8] {jax.result_info='z'} i32[] {jax.result_info='m'}",
         {1},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32> {jax.arg_info = \"n\"}  // n\n"
         ") -> (tensor<i32> {jax.result_info = \"m\"}) {\n"
         "  %1 = constant dense<1> : tensor<i32>\n"
         "  %2 = add %0, %1 : tensor<i32>\n"
         "  return %2 : tensor<i32>\n"
         "}\n"},
        {"x: f32[8] {tf.aliasing_output=0 mhlo.sharding='{replicated}' "
         "mhlo.layout_mode='default'} y: f32[8] {mhlo.memory_kind='device'} n: i32[]\n"
         "one = constant i32[] 1\n"
         "m = add i32[] n one\n"
         "z = multiply f32[8] x y\n"
         "w = negate f32[8] z\n"
         "return z m w\n"
         "-> f32[8] {mhlo.sharding='{maximal device=0}'} i32[] f32[8] "
         "{mhlo.layout_mode='default' jax.result_info='w'}",
         {0, 2},
         2,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<8xf32> {mhlo.sharding = \"{replicated}\"},  // x\n"
         "    %1: tensor<8xf32>  // y\n"
         ") -> (tensor<8xf32> {mhlo.sharding = \"{maximal device=0}\"}, tensor<8xf32> "
         "{jax.result_info = \"w\"}) {\n"
         "  %2 = multiply %0, %1 : tensor<8xf32>\n"
         "  %3 = negate %2 : tensor<8xf32>\n"
         "  return %2, %3 : tensor<8xf32>\n"
         "}\n"},
        {"x: f32[8] y: f32[]\n"
         "return y x x\n"
         "-> f32[] f32[8] f32[8]",
         {2},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<8xf32>  // x\n"
         ") -> (tensor<8xf32>) {\n"
         "  return %0 : tensor<8xf32>\n"
         "}\n"},
        {"top mesh {sym_name='mesh'}\n"
         "x: f32[8]\n"
         "c = constant f32[] 2\n"
         "return c x\n"
         "-> f32[] f32[8]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "mesh {sym_name = \"mesh\"} : () -> ()\n"
         "\n"
         "func public @main() -> (tensor<f32>) {\n"
         "  %0 = constant dense<2.0> : tensor<f32>\n"
         "  return %0 : tensor<f32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void a_called_function_has_what_is_needed_of_it(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"x: f32[8] y: f32[8] n: i32[]\n"
         "a b = call f32[8] i32[] x y n {callee='inner'}\n"
         "return a b\n"
         "-> f32[8] i32[]\n"
         "fn inner\n"
         "u: f32[8] v: f32[8] k: i32[]\n"
         "one = constant i32[] 1\n"
         "l = add i32[] k one\n"
         "w = multiply f32[8] u v\n"
         "return w l\n"
         "-> f32[8] i32[]",
         {1},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>  // n\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = call %0 {callee = \"inner\"} : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"
         "\n"
         "func private @inner(\n"
         "    %0: tensor<i32>  // k\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = constant dense<1> : tensor<i32>\n"
         "  %2 = add %0, %1 : tensor<i32>\n"
         "  return %2 : tensor<i32>\n"
         "}\n"},
        {"x: f32[8] n: i32[]\n"
         "a b = call f32[8] i32[] x n {callee='inner'}\n"
         "c d = call f32[8] i32[] a n {callee='inner'}\n"
         "e f = call f32[8] i32[] c d {callee='inner'}\n"
         "return f\n"
         "-> i32[]\n"
         "fn inner\n"
         "u: f32[8] k: i32[]\n"
         "l = add i32[] k k\n"
         "w = negate f32[8] u\n"
         "return w l\n"
         "-> f32[8] i32[]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>  // n\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = call %0 {callee = \"inner\"} : tensor<i32>\n"
         "  %2 = call %1 {callee = \"inner\"} : tensor<i32>\n"
         "  return %2 : tensor<i32>\n"
         "}\n"
         "\n"
         "func private @inner(\n"
         "    %0: tensor<i32>  // k\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = add %0, %0 : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"},
        {"x: f32[8] n: i32[]\n"
         "a b = call f32[8] i32[] x n {callee='inner'}\n"
         "c d = call f32[8] i32[] a n {callee='inner'}\n"
         "return c b\n"
         "-> f32[8] i32[]\n"
         "fn inner\n"
         "u: f32[8] k: i32[]\n"
         "l = add i32[] k k\n"
         "w = negate f32[8] u\n"
         "return w l\n"
         "-> f32[8] i32[]",
         {0, 1},
         2,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<8xf32>,  // x\n"
         "    %1: tensor<i32>  // n\n"
         ") -> (tensor<8xf32>, tensor<i32>) {\n"
         "  %2, %3 = call %0, %1 {callee = \"inner\"} : (tensor<8xf32>, tensor<i32>) -> "
         "(tensor<8xf32>, tensor<i32>)\n"
         "  %4 = call %2 {callee = \"inner_1\"} : tensor<8xf32>\n"
         "  return %4, %3 : tensor<8xf32>, tensor<i32>\n"
         "}\n"
         "\n"
         "func private @inner(\n"
         "    %0: tensor<8xf32>,  // u\n"
         "    %1: tensor<i32>  // k\n"
         ") -> (tensor<8xf32>, tensor<i32>) {\n"
         "  %2 = add %1, %1 : tensor<i32>\n"
         "  %3 = negate %0 : tensor<8xf32>\n"
         "  return %3, %2 : tensor<8xf32>, tensor<i32>\n"
         "}\n"
         "\n"
         "func private @inner_1(\n"
         "    %0: tensor<8xf32>  // u\n"
         ") -> (tensor<8xf32>) {\n"
         "  %1 = negate %0 : tensor<8xf32>\n"
         "  return %1 : tensor<8xf32>\n"
         "}\n"},
        {"n: i32[] m: i32[]\n"
         "a b = call i32[] i32[] n m {callee='inner'}\n"
         "c d = call i32[] i32[] n m {callee='inner'}\n"
         "e = call i32[] a {callee='inner_1'}\n"
         "return e d\n"
         "-> i32[] i32[]\n"
         "fn inner\n"
         "k: i32[] l: i32[]\n"
         "r = add i32[] k k\n"
         "s = add i32[] l l\n"
         "return r s\n"
         "-> i32[] i32[]\n"
         "fn inner_1\n"
         "k: i32[]\n"
         "r = negate i32[] k\n"
         "return r\n"
         "-> i32[]",
         {0, 1},
         2,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>,  // n\n"
         "    %1: tensor<i32>  // m\n"
         ") -> (tensor<i32>, tensor<i32>) {\n"
         "  %2 = call %0 {callee = \"inner\"} : tensor<i32>\n"
         "  %3 = call %1 {callee = \"inner_2\"} : tensor<i32>\n"
         "  %4 = call %2 {callee = \"inner_1\"} : tensor<i32>\n"
         "  return %4, %3 : tensor<i32>\n"
         "}\n"
         "\n"
         "func private @inner(\n"
         "    %0: tensor<i32>  // k\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = add %0, %0 : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"
         "\n"
         "func private @inner_2(\n"
         "    %0: tensor<i32>  // l\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = add %0, %0 : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"
         "\n"
         "func private @inner_1(\n"
         "    %0: tensor<i32>  // k\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = negate %0 : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void a_loop_carries_what_its_wanted_values_depend_on(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"x: f32[8] n: i32[] k: i32[]\n"
         "a b c = while f32[8] i32[] i32[] x n k {\n"
         "  x: f32[8] i: i32[] k: i32[]\n"
         "  ten = constant i32[] 10\n"
         "  p = compare i1[] i ten {comparison_direction='LT'}\n"
         "  return p\n"
         "} {\n"
         "  x: f32[8] i: i32[] k: i32[]\n"
         "  y = negate f32[8] x\n"
         "  one = constant i32[] 1\n"
         "  j = add i32[] i one\n"
         "  l = add i32[] k k\n"
         "  return y j l\n"
         "}\n"
         "return a b c\n"
         "-> f32[8] i32[] i32[]",
         {2},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>,  // n\n"
         "    %1: tensor<i32>  // k\n"
         ") -> (tensor<i32>) {\n"
         "  %2, %3 = while %0, %1 : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) "
         "{\n"
         "    (%4: tensor<i32>, %5: tensor<i32>):\n"
         "    %6 = constant dense<10> : tensor<i32>\n"
         "    %7 = compare %4, %6 {comparison_direction = \"LT\"} : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n"
         "    return %7 : tensor<i1>\n"
         "  }, {\n"
         "    (%8: tensor<i32>, %9: tensor<i32>):\n"
         "    %10 = constant dense<1> : tensor<i32>\n"
         "    %11 = add %8, %10 : tensor<i32>\n"
         "    %12 = add %9, %9 : tensor<i32>\n"
         "    return %11, %12 : tensor<i32>\n"
         "  }\n"
         "  return %3 : tensor<i32>\n"
         "}\n"},
        {"p: f32[] q: f32[] r: f32[] s: f32[] n: i32[]\n"
         "a b c d e = while f32[] f32[] f32[] f32[] i32[] p q r s n {\n"
         "  p: f32[] q: f32[] r: f32[] s: f32[] i: i32[]\n"
         "  z = constant i32[] 0\n"
         "  t = compare i1[] i z {comparison_direction='GT'}\n"
         "  return t\n"
         "} {\n"
         "  p: f32[] q: f32[] r: f32[] s: f32[] i: i32[]\n"
         "  one = constant i32[] 1\n"
         "  j = subtract i32[] i one\n"
         "  u = negate f32[] s\n"
         "  return q r p u j\n"
         "}\n"
         "return a d\n"
         "-> f32[] f32[]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<f32>,  // p\n"
         "    %1: tensor<f32>,  // q\n"
         "    %2: tensor<f32>,  // r\n"
         "    %3: tensor<i32>  // n\n"
         ") -> (tensor<f32>) {\n"
         "  %4, %5, %6, %7 = while %0, %1, %2, %3 : (tensor<f32>, tensor<f32>, tensor<f32>, "
         "tensor<i32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>) {\n"
         "    (%8: tensor<f32>, %9: tensor<f32>, %10: tensor<f32>, %11: tensor<i32>):\n"
         "    %12 = constant dense<0> : tensor<i32>\n"
         "    %13 = compare %11, %12 {comparison_direction = \"GT\"} : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n"
         "    return %13 : tensor<i1>\n"
         "  }, {\n"
         "    (%14: tensor<f32>, %15: tensor<f32>, %16: tensor<f32>, %17: tensor<i32>):\n"
         "    %18 = constant dense<1> : tensor<i32>\n"
         "    %19 = subtract %17, %18 : tensor<i32>\n"
         "    return %15, %16, %14, %19 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>\n"
         "  }\n"
         "  return %4 : tensor<f32>\n"
         "}\n"},
        {"x: f32[] y: f32[] n: i32[]\n"
         "s = add f32[] x x\n"
         "d = add f32[] y y\n"
         "a b = while f32[] i32[] x n {\n"
         "  x: f32[] i: i32[]\n"
         "  z = constant i32[] 0\n"
         "  t = compare i1[] i z {comparison_direction='GT'}\n"
         "  return t\n"
         "} {\n"
         "  x: f32[] i: i32[]\n"
         "  j = subtract i32[] i i\n"
         "  u = add f32[] x s\n"
         "  return u j\n"
         "}\n"
         "return a b d\n"
         "-> f32[] i32[] f32[]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<f32>,  // x\n"
         "    %1: tensor<i32>  // n\n"
         ") -> (tensor<f32>) {\n"
         "  %2 = add %0, %0 : tensor<f32>\n"
         "  %3, %4 = while %0, %1 : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) "
         "{\n"
         "    (%5: tensor<f32>, %6: tensor<i32>):\n"
         "    %7 = constant dense<0> : tensor<i32>\n"
         "    %8 = compare %6, %7 {comparison_direction = \"GT\"} : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n"
         "    return %8 : tensor<i1>\n"
         "  }, {\n"
         "    (%9: tensor<f32>, %10: tensor<i32>):\n"
         "    %11 = subtract %10, %10 : tensor<i32>\n"
         "    %12 = add %9, %2 : tensor<f32>\n"
         "    return %12, %11 : tensor<f32>, tensor<i32>\n"
         "  }\n"
         "  return %3 : tensor<f32>\n"
         "}\n"},
        {"x: f32[] y: f32[] n: i32[]\n"
         "a b c = while f32[] f32[] i32[] x y n {\n"
         "  x: f32[] y: f32[] i: i32[]\n"
         "  z = constant i32[] 0\n"
         "  t = compare i1[] i z {comparison_direction='GT'}\n"
         "  return t\n"
         "} {\n"
         "  x: f32[] y: f32[] i: i32[]\n"
         "  d e f = while f32[] f32[] i32[] x y i {\n"
         "    x: f32[] y: f32[] i: i32[]\n"
         "    z = constant i32[] 3\n"
         "    t = compare i1[] i z {comparison_direction='GT'}\n"
         "    return t\n"
         "  } {\n"
         "    x: f32[] y: f32[] i: i32[]\n"
         "    j = subtract i32[] i i\n"
         "    u = add f32[] x x\n"
         "    v = add f32[] y u\n"
         "    return u v j\n"
         "  }\n"
         "  return d e f\n"
         "}\n"
         "return a b\n"
         "-> f32[] f32[]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<f32>,  // x\n"
         "    %1: tensor<i32>  // n\n"
         ") -> (tensor<f32>) {\n"
         "  %2, %3 = while %0, %1 : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) "
         "{\n"
         "    (%4: tensor<f32>, %5: tensor<i32>):\n"
         "    %6 = constant dense<0> : tensor<i32>\n"
         "    %7 = compare %5, %6 {comparison_direction = \"GT\"} : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n"
         "    return %7 : tensor<i1>\n"
         "  }, {\n"
         "    (%8: tensor<f32>, %9: tensor<i32>):\n"
         "    %10, %11 = while %8, %9 : (tensor<f32>, tensor<i32>) -> (tensor<f32>, "
         "tensor<i32>) {\n"
         "      (%12: tensor<f32>, %13: tensor<i32>):\n"
         "      %14 = constant dense<3> : tensor<i32>\n"
         "      %15 = compare %13, %14 {comparison_direction = \"GT\"} : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n"
         "      return %15 : tensor<i1>\n"
         "    }, {\n"
         "      (%16: tensor<f32>, %17: tensor<i32>):\n"
         "      %18 = subtract %17, %17 : tensor<i32>\n"
         "      %19 = add %16, %16 : tensor<f32>\n"
         "      return %19, %18 : tensor<f32>, tensor<i32>\n"
         "    }\n"
         "    return %10, %11 : tensor<f32>, tensor<i32>\n"
         "  }\n"
         "  return %2 : tensor<f32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void a_branch_has_the_wanted_results(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"p: i32[] x: f32[] y: f32[8]\n"
         "a b = case f32[] f32[8] p {\n"
         "  m = negate f32[] x\n"
         "  n = negate f32[8] y\n"
         "  return m n\n"
         "} {\n"
         "  return x y\n"
         "}\n"
         "return a b\n"
         "-> f32[] f32[8]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>,  // p\n"
         "    %1: tensor<f32>  // x\n"
         ") -> (tensor<f32>) {\n"
         "  %2 = case %0 : (tensor<i32>) -> tensor<f32> {\n"
         "    %3 = negate %1 : tensor<f32>\n"
         "    return %3 : tensor<f32>\n"
         "  }, {\n"
         "    return %1 : tensor<f32>\n"
         "  }\n"
         "  return %2 : tensor<f32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void a_move_to_another_memory_is_left_out(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"n: i32[]\n"
         "a = custom_call i32[] n {call_target_name='annotate_device_placement'}\n"
         "b = add i32[] a a\n"
         "c = custom_call i32[] b {call_target_name='MoveToHost'}\n"
         "return c a\n"
         "-> i32[] i32[]",
         {0, 1},
         2,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>  // n\n"
         ") -> (tensor<i32>, tensor<i32>) {\n"
         "  %1 = add %0, %0 : tensor<i32>\n"
         "  return %1, %0 : tensor<i32>\n"
         "}\n"},
        // It is no such move if it makes something else.
        {"n: i32[]\n"
         "a = custom_call f32[] n {call_target_name='MoveToHost'}\n"
         "return a\n"
         "-> f32[]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>  // n\n"
         ") -> (tensor<f32>) {\n"
         "  %1 = custom_call %0 {call_target_name = \"MoveToHost\"} : (tensor<i32>) -> "
         "tensor<f32>\n"
         "  return %1 : tensor<f32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void a_barrier_passes_each_value_on(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"x: f32[] y: f32[8]\n"
         "z = negate f32[8] y\n"
         "a b = optimization_barrier f32[] f32[8] x z\n"
         "return a b\n"
         "-> f32[] f32[8]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<f32>  // x\n"
         ") -> (tensor<f32>) {\n"
         "  %1 = optimization_barrier %0 : tensor<f32>\n"
         "  return %1 : tensor<f32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void a_region_that_combines_is_kept_whole(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"x: f32[8] y: f32[8]\n"
         "zero = constant f32[] 0\n"
         "s = reduce f32[] x zero {dimensions=[0]} {\n"
         "  a: f32[] b: f32[]\n"
         "  c = add f32[] a b\n"
         "  return c\n"
         "}\n"
         "t u = sort f32[8] f32[8] x y {\n"
         "  a: f32[] b: f32[] c: f32[] d: f32[]\n"
         "  l = compare i1[] a b {comparison_direction='LT'}\n"
         "  return l\n"
         "}\n"
         "return s u\n"
         "-> f32[] f32[8]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<8xf32>  // x\n"
         ") -> (tensor<f32>) {\n"
         "  %1 = constant dense<0.0> : tensor<f32>\n"
         "  %2 = reduce %0, %1 {dimensions = [0]} : (tensor<8xf32>, tensor<f32>) -> "
         "tensor<f32> {\n"
         "    (%3: tensor<f32>, %4: tensor<f32>):\n"
         "    %5 = add %3, %4 : tensor<f32>\n"
         "    return %5 : tensor<f32>\n"
         "  }\n"
         "  return %2 : tensor<f32>\n"
         "}\n"},
        {"x: f32[8] y: f32[8]\n"
         "t u = sort f32[8] f32[8] x y {\n"
         "  a: f32[] b: f32[] c: f32[] d: f32[]\n"
         "  l = compare i1[] a b {comparison_direction='LT'}\n"
         "  return l\n"
         "}\n"
         "return u\n"
         "-> f32[8]",
         {0},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<8xf32>,  // x\n"
         "    %1: tensor<8xf32>  // y\n"
         ") -> (tensor<8xf32>) {\n"
         "  %2, %3 = sort %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, "
         "tensor<8xf32>) {\n"
         "    (%4: tensor<f32>, %5: tensor<f32>, %6: tensor<f32>, %7: tensor<f32>):\n"
         "    %8 = compare %4, %5 {comparison_direction = \"LT\"} : (tensor<f32>, "
         "tensor<f32>) -> tensor<i1>\n"
         "    return %8 : tensor<i1>\n"
         "  }\n"
         "  return %3 : tensor<8xf32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void functions_that_are_named_stay_whole(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"x: f32[] y: f32[]\n"
         "a b = composite f32[] f32[] x y {name='my.op' decomposition='inner'}\n"
         "c d = call f32[] f32[] x y {callee='inner'}\n"
         "return a d\n"
         "-> f32[] f32[]\n"
         "fn inner\n"
         "u: f32[] v: f32[]\n"
         "p = negate f32[] u\n"
         "q = negate f32[] v\n"
         "return p q\n"
         "-> f32[] f32[]",
         {0, 1},
         2,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<f32>,  // x\n"
         "    %1: tensor<f32>  // y\n"
         ") -> (tensor<f32>, tensor<f32>) {\n"
         "  %2, %3 = composite %0, %1 {name = \"my.op\", decomposition = \"inner\"} : "
         "(tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)\n"
         "  %4 = call %1 {callee = \"inner_1\"} : tensor<f32>\n"
         "  return %2, %4 : tensor<f32>\n"
         "}\n"
         "\n"
         "func private @inner(\n"
         "    %0: tensor<f32>,  // u\n"
         "    %1: tensor<f32>  // v\n"
         ") -> (tensor<f32>, tensor<f32>) {\n"
         "  %2 = negate %0 : tensor<f32>\n"
         "  %3 = negate %1 : tensor<f32>\n"
         "  return %2, %3 : tensor<f32>\n"
         "}\n"
         "\n"
         "func private @inner_1(\n"
         "    %0: tensor<f32>  // v\n"
         ") -> (tensor<f32>) {\n"
         "  %1 = negate %0 : tensor<f32>\n"
         "  return %1 : tensor<f32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void shardings_stay_with_what_they_belong_to(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"x: f32[8] n: i32[] k: i32[]\n"
         "a b c = while f32[8] i32[] i32[] x n k "
         "{sdy.sharding=sdy.sharding_per_value{shardings=[sdy.sharding{mesh=&m}, "
         "sdy.sharding{mesh=&n}, sdy.sharding{mesh=&o}]} mhlo.sharding='{{devices=[2,1]0,1}, "
         "{replicated}, {maximal device=0}}'} {\n"
         "  x: f32[8] i: i32[] k: i32[]\n"
         "  ten = constant i32[] 10\n"
         "  p = compare i1[] i ten {comparison_direction='LT'}\n"
         "  return p\n"
         "} {\n"
         "  x: f32[8] i: i32[] k: i32[]\n"
         "  y = negate f32[8] x\n"
         "  return y i k\n"
         "}\n"
         "return a b c\n"
         "-> f32[8] i32[] i32[]",
         {2},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>,  // n\n"
         "    %1: tensor<i32>  // k\n"
         ") -> (tensor<i32>) {\n"
         "  %2, %3 = while %0, %1 {sdy.sharding = sdy.sharding_per_value{shardings = "
         "[sdy.sharding{mesh = @n}, sdy.sharding{mesh = @o}]}, mhlo.sharding = "
         "\"{{replicated}, {maximal device=0}}\"} : (tensor<i32>, tensor<i32>) -> "
         "(tensor<i32>, tensor<i32>) {\n"
         "    (%4: tensor<i32>, %5: tensor<i32>):\n"
         "    %6 = constant dense<10> : tensor<i32>\n"
         "    %7 = compare %4, %6 {comparison_direction = \"LT\"} : (tensor<i32>, "
         "tensor<i32>) -> tensor<i1>\n"
         "    return %7 : tensor<i1>\n"
         "  }, {\n"
         "    (%8: tensor<i32>, %9: tensor<i32>):\n"
         "    return %8, %9 : tensor<i32>\n"
         "  }\n"
         "  return %3 : tensor<i32>\n"
         "}\n"},
        {"x: f32[8] n: i32[] k: i32[]\n"
         "a b c = optimization_barrier f32[8] i32[] i32[] x n k "
         "{mhlo.sharding='{{devices=[2,1]0,1}, {replicated}, {maximal device=0}}' "
         "mhlo.frontend_attributes={xla.sdy.sharding='all' other='kept'}}\n"
         "return a b c\n"
         "-> f32[8] i32[] i32[]",
         {1},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>  // n\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = optimization_barrier %0 {mhlo.sharding = \"{replicated}\", "
         "mhlo.frontend_attributes = {other = \"kept\"}} : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"},
        // A sharding for all of them stays.
        {"x: f32[8] n: i32[] k: i32[]\n"
         "a b c = optimization_barrier f32[8] i32[] i32[] x n k {mhlo.sharding='{replicated}'}\n"
         "return a b c\n"
         "-> f32[8] i32[] i32[]",
         {1},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>  // n\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = optimization_barrier %0 {mhlo.sharding = \"{replicated}\"} : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"},
        {"x: f32[8] n: i32[] k: i32[]\n"
         "a b c = optimization_barrier f32[8] i32[] i32[] x n k "
         "{mhlo.sharding='{{devices=[2,1]0,1}, {replicated}}' "
         "sdy.sharding=sdy.sharding_per_value{shardings=[sdy.sharding{mesh=&m}]}}\n"
         "return a b c\n"
         "-> f32[8] i32[] i32[]",
         {1},
         1,
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>  // n\n"
         ") -> (tensor<i32>) {\n"
         "  %1 = optimization_barrier %0 : tensor<i32>\n"
         "  return %1 : tensor<i32>\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void a_program_combines_elements_or_moves_them(void **state) {
    (void)state;
    static const struct {
        const char *program;
        bool combines;
    } cases[] = {
        {"x: f32[8]\n"
         "y = slice f32[4] x\n"
         "z = negate f32[4] y\n"
         "return z\n"
         "-> f32[4]",
         false},
        {"x: f32[8] y: f32[8]\n"
         "z = dot_general f32[] x y\n"
         "return z\n"
         "-> f32[]",
         true},
        {"x: f32[8]\n"
         "z = custom_call f32[8] x {call_target_name='Sharding'}\n"
         "return z\n"
         "-> f32[8]",
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_program_t program;
        small_program(cases[i].program, &program);
        assert_int_equal(keel_needs_combines(&program), cases[i].combines);
        keel_program_deinitialize(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_combines_elements_or_moves_them),
        cmocka_unit_test(what_a_result_does_not_depend_on_is_left_out),
        cmocka_unit_test(a_called_function_has_what_is_needed_of_it),
        cmocka_unit_test(a_loop_carries_what_its_wanted_values_depend_on),
        cmocka_unit_test(a_branch_has_the_wanted_results),
        cmocka_unit_test(a_move_to_another_memory_is_left_out),
        cmocka_unit_test(a_barrier_passes_each_value_on),
        cmocka_unit_test(a_region_that_combines_is_kept_whole),
        cmocka_unit_test(functions_that_are_named_stay_whole),
        cmocka_unit_test(shardings_stay_with_what_they_belong_to),
    };
    return cmocka_run_group_tests_name("needs", tests, NULL, NULL);
}
