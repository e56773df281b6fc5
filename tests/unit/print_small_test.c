// Small programs and their whole text: results, signatures, constants, regions, functions, modules.
#define _GNU_SOURCE
#include "small_program.h"

#include "read/print.h"

static void small_programs_read_like_mlir(void **state) {
    (void)state;
    static const struct {
        const char *program, *text;
    } cases[] = {
        {"x: f32[4]\n"
         "a b c d e f g h = custom_call f32[] f32[] f32[] f32[] f32[] f32[] f32[] f32[] x\n"
         "return h",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<4xf32>  // x\n"
         ") {\n"
         "  %1, %2, %3, %4, %5, %6, %7, %8 = custom_call %0 : (tensor<4xf32>) -> (tensor<f32>, "
         "tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, "
         "tensor<f32>)\n"
         "  return %8 : tensor<f32>\n"
         "}\n"
         ""},
        {"x: f32[4]\n"
         "a = custom_call f32[] f32[] f32[] f32[] f32[] f32[] f32[] f32[] f32[] x\n"
         "return a",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<4xf32>  // x\n"
         ") {\n"
         "  %1 to %9 = custom_call %0 : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, "
         "tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)\n"
         "  return %1 : tensor<f32>\n"
         "}\n"
         ""},
        {"x: f32[4] {odd=1} y: token _z: i1[2,?]\n"
         "-> f32[4] {jax.result_info='r'} token\n"
         "t = after_all token\n"
         "return x t",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<4xf32> {odd = 1},  // x\n"
         "    %1: !token,  // y\n"
         "    %2: tensor<2x?xi1>\n"
         ") -> (tensor<4xf32> {jax.result_info = \"r\"}, !token) {\n"
         "  %3 = after_all : !token\n"
         "  return %0, %3 : tensor<4xf32>, !token\n"
         "}\n"
         ""},
        {"x: f32[]\n"
         "custom_call x\n"
         "c = constant f32[4] 1,2,3,4\n"
         "d = constant f32[5] 1,2,3,4,5\n"
         "e = constant i1[3] 1,0,1\n"
         "f = constant f32[2,2] 1\n"
         "g = constant c64[] 1i-2\n"
         "return x",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<f32>  // x\n"
         ") {\n"
         "  custom_call %0 : tensor<f32>\n"
         "  %1 = constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n"
         "  %2 = constant dense<[1.0, 2.0, 3.0, ...]> : tensor<5xf32>\n"
         "  %3 = constant dense<[true, false, true]> : tensor<3xi1>\n"
         "  %4 = constant dense<1.0> : tensor<2x2xf32>\n"
         "  %5 = constant dense<(1.0,-2.0)> : tensor<complex<f32>>\n"
         "  return %0 : tensor<f32>\n"
         "}\n"
         ""},
        {"n: i32[] x: f32[4]\n"
         "a b = while i32[] f32[4] n x { i: i32[] v: f32[4]\n"
         "p = compare i1[] i i {comparison_direction=LT}\n"
         "return p } { i: i32[] v: f32[4]\n"
         "return i v }\n"
         "return b",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<i32>,  // n\n"
         "    %1: tensor<4xf32>  // x\n"
         ") {\n"
         "  %2, %3 = while %0, %1 : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) "
         "{\n"
         "    (%4: tensor<i32>, %5: tensor<4xf32>):\n"
         "    %6 = compare %4, %4 {comparison_direction = LT} : (tensor<i32>, tensor<i32>) -> "
         "tensor<i1>\n"
         "    return %6 : tensor<i1>\n"
         "  }, {\n"
         "    (%7: tensor<i32>, %8: tensor<4xf32>):\n"
         "    return %7, %8 : tensor<i32>, tensor<4xf32>\n"
         "  }\n"
         "  return %3 : tensor<4xf32>\n"
         "}\n"
         ""},
        {"x: f32[4]\n"
         "y = call f32[4] x {callee=&helper}\n"
         "return y\n"
         "fn helper\n"
         "x: f32[4]\n"
         "return x",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<4xf32>  // x\n"
         ") {\n"
         "  %1 = call %0 {callee = @helper} : tensor<4xf32>\n"
         "  return %1 : tensor<4xf32>\n"
         "}\n"
         "\n"
         "func private @helper(\n"
         "    %0: tensor<4xf32>  // x\n"
         ") {\n"
         "  return %0 : tensor<4xf32>\n"
         "}\n"
         ""},
        {"module jit_f {a=1 b='t'}\n"
         "top mesh {sym_name='m'}\n"
         "x: f32[4]\n"
         "return x",
         "module @jit_f {a = 1, b = \"t\"}  // mlir\n"
         "mesh {sym_name = \"m\"} : () -> ()\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<4xf32>  // x\n"
         ") {\n"
         "  return %0 : tensor<4xf32>\n"
         "}\n"
         ""},
        {"hlo\n"
         "x: f32[4] y: f32[4]\n"
         "z = add f32[4] x y\n"
         "w = reduce f32[] z x {dimensions=[0,1] called_computations=[&sum]}\n"
         "return z w\n"
         "fn sum\n"
         "a: f32[] b: f32[]\n"
         "c = add f32[] a b\n"
         "return c",
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<4xf32>, tensor<f32>> {\n"
         "  %0 = parameter 0 : tensor<4xf32>\n"
         "  %1 = parameter 1 : tensor<4xf32>\n"
         "  %2 = add %0, %1 : tensor<4xf32>\n"
         "  %3 = reduce %2, %0 {dimensions = [0, 1], called_computations = [@sum]} : "
         "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>\n"
         "  %4 = tuple %2, %3 : (tensor<4xf32>, tensor<f32>) -> tuple<tensor<4xf32>, tensor<f32>>\n"
         "  return %4\n"
         "}\n"
         "\n"
         "func private @sum() -> tuple<tensor<f32>> {\n"
         "  %0 = parameter 0 : tensor<f32>\n"
         "  %1 = parameter 1 : tensor<f32>\n"
         "  %2 = add %0, %1 : tensor<f32>\n"
         "  %3 = tuple %2 : (tensor<f32>) -> tuple<tensor<f32>>\n"
         "  return %3\n"
         "}\n"
         ""},
        {"x: f32[4]\n"
         "y = tanh f32[4] x @8\n"
         "z = sine f32[4] y\n"
         "return z",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<4xf32>  // x\n"
         ") {\n"
         "  %1 = tanh %0 : tensor<4xf32>  // train.py:8\n"
         "  %2 = sine %1 : tensor<4xf32>\n"
         "  return %2 : tensor<4xf32>\n"
         "}\n"
         ""},
        {"x: f32[4]\n"
         "y = dot_general f32[4] x x {precision_config=[HIGH,DEFAULT] dims=[1,2] on=true u=unit "
         "t=f32[2] f=0.5 d={a=1}}\n"
         "return y",
         "module @jit_step  // mlir\n"
         "\n"
         "func public @main(\n"
         "    %0: tensor<4xf32>  // x\n"
         ") {\n"
         "  %1 = dot_general %0, %0 {precision_config = [HIGH, DEFAULT], dims = [1, 2], on = true, "
         "u, t = tensor<2xf32>, f = 0.5, d = {a = 1}} : tensor<4xf32>\n"
         "  return %1 : tensor<4xf32>\n"
         "}\n"
         ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        // Lines are shown where the program has any.
        const keel_print_options_t options = {.largest_value = 4,
                                              .locations = strchr(cases[i].program, '@')};
        keel_program_t program;
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        small_program(cases[i].program, &program);
        assert_ok(keel_print_text(&program, &options, &out));
        assert_string_equal(keel_buffer_cstr(&out), cases[i].text);
        keel_buffer_deinitialize(&out);
        keel_program_deinitialize(&program);
    }
}

// As if the front end had named every operation.
static void names_of_the_front_end_stand_at_parameters_and_results_of_the_entry(void **state) {
    (void)state;
    keel_program_t program;
    small_program("hlo\n"
                  "x: f32[4]\n"
                  "y = reduce f32[] x x {called_computations=[&sum]}\n"
                  "return y\n"
                  "fn sum\n"
                  "a: f32[] b: f32[]\n"
                  "return b",
                  &program);
    keel_attr_t named = {.kind = KEEL_ATTR_LOC_NAME, .klass = 1, .b = KEEL_NONE};
    keel_attr_id_t location;
    assert_ok(keel_program_add_text(&program, KEEL_STR("results: w"), &named.a));
    assert_ok(keel_program_add_attr(&program, named, &location));
    for (keel_op_id_t op = 0; op < program.operations.count; ++op)
        program.operations.data[op].location = location;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_print_text(&program, &(keel_print_options_t){0}, &out));
    assert_string_equal(
        keel_buffer_cstr(&out),
        "module @SyncTensorsGraph  // hlo\n"
        "\n"
        "func public @main() -> tuple<tensor<f32>> {\n"
        "  %0 = parameter 0 : tensor<4xf32>  // \"results: w\"\n"
        "  %1 = reduce %0, %0 {called_computations = [...]} : (tensor<4xf32>, tensor<4xf32>) -> "
        "tensor<f32>\n"
        "  %2 = tuple %1 : (tensor<f32>) -> tuple<tensor<f32>>  // \"results: w\"\n"
        "  return %2\n"
        "}\n"
        "\n"
        "func private @sum() -> tuple<tensor<f32>> {\n"
        "  %0 = parameter 0 : tensor<f32>\n"
        "  %1 = parameter 1 : tensor<f32>\n"
        "  %2 = tuple %1 : (tensor<f32>) -> tuple<tensor<f32>>\n"
        "  return %2\n"
        "}\n");
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_programs_read_like_mlir),
        cmocka_unit_test(names_of_the_front_end_stand_at_parameters_and_results_of_the_entry)};
    return cmocka_run_group_tests_name("print_small", tests, NULL, NULL);
}
