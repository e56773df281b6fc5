// The same rules in HLO, where values go through tuples.
#define _GNU_SOURCE
#include "needs_help.h"

#include "read/read.h"

static void tuples_have_the_elements_that_are_needed(void **state) {
    (void)state;
    static const case_t cases[] = {
        // A move to another memory is left out.
        {"hlo\n"
         "n: i32[]\n"
         "a = custom-call i32[] n {custom_call_target='MoveToHost'}\n"
         "return a",
         {0},
         1,
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = tuple %0 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %1\n"
         "}\n"},
        {"hlo\n"
         "x: f32[8] y: f32[8] n: i32[]\n"
         "one = constant i32[] 1\n"
         "m = add i32[] n one\n"
         "z = multiply f32[8] x y\n"
         "return z m",
         {1},
         1,
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = constant dense<1> : tensor<i32>\n"
         "  %2 = add %0, %1 : tensor<i32>\n"
         "  %3 = tuple %2 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %3\n"
         "}\n"},
        {"hlo\n"
         "x: f32[8] y: f32[8] n: i32[]\n"
         "t = tuple (f32[8], f32[8], i32[]) x y n\n"
         "b = opt-barrier (f32[8], f32[8], i32[]) t\n"
         "e = get-tuple-element i32[] b {tuple_index=2}\n"
         "f = get-tuple-element f32[8] b {tuple_index=1}\n"
         "return e f",
         {0},
         1,
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = tuple %0 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  %2 = opt-barrier %1 : tuple<tensor<i32>>\n"
         "  %3 = get-tuple-element %2 : (tuple<tensor<i32>>) -> tensor<i32>\n"
         "  %4 = tuple %3 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %4\n"
         "}\n"},
        {"hlo\n"
         "x: f32[8] n: i32[]\n"
         "t = tuple (f32[8], i32[]) x n\n"
         "b = opt-barrier (f32[8], i32[]) t\n"
         "e = get-tuple-element i32[] b {tuple_index=1}\n"
         "c = custom-call f32[] t {custom_call_target='f'}\n"
         "return e c",
         {0, 1},
         2,
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<i32>, tensor<f32>> {\n"
         "  %0 = parameter 0 : tensor<8xf32>\n"
         "  %1 = parameter 1 : tensor<i32>\n"
         "  %2 = tuple %0, %1 : (tensor<8xf32>, tensor<i32>) -> tuple<tensor<8xf32>, "
         "tensor<i32>>\n"
         "  %3 = get-tuple-element %2 {tuple_index = 1} : (tuple<tensor<8xf32>, "
         "tensor<i32>>) -> tensor<i32>\n"
         "  %4 = tuple %3 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  %5 = opt-barrier %4 : tuple<tensor<i32>>\n"
         "  %6 = get-tuple-element %5 : (tuple<tensor<i32>>) -> tensor<i32>\n"
         "  %7 = custom-call %2 {custom_call_target = \"f\"} : (tuple<tensor<8xf32>, "
         "tensor<i32>>) -> tensor<f32>\n"
         "  %8 = tuple %6, %7 : (tensor<i32>, tensor<f32>) -> tuple<tensor<i32>, tensor<f32>>\n"
         "  return %8\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void calls_and_loops_of_hlo_have_what_is_needed(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"hlo\n"
         "x: f32[8] n: i32[]\n"
         "c = call (f32[8], i32[]) x n {called_computations=[&inner]}\n"
         "e = get-tuple-element i32[] c {tuple_index=1}\n"
         "f = get-tuple-element f32[8] c\n"
         "return f e\n"
         "fn inner\n"
         "u: f32[8] k: i32[]\n"
         "l = add i32[] k k\n"
         "w = negate f32[8] u\n"
         "return w l",
         {1},
         1,
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = call %0 {called_computations = [@inner]} : (tensor<i32>) -> "
         "tuple<tensor<i32>>\n"
         "  %2 = get-tuple-element %1 : (tuple<tensor<i32>>) -> tensor<i32>\n"
         "  %3 = tuple %2 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %3\n"
         "}\n"
         "\n"
         "func private @inner() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = add %0, %0 : tensor<i32>\n"
         "  %2 = tuple %1 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %2\n"
         "}\n"},
        {"hlo\n"
         "x: f32[8] n: i32[] k: i32[]\n"
         "t = tuple (f32[8], i32[], i32[]) x n k\n"
         "w = while (f32[8], i32[], i32[]) t {called_computations=[&body, &test]}\n"
         "e = get-tuple-element i32[] w {tuple_index=2}\n"
         "f = get-tuple-element f32[8] w\n"
         "return f e\n"
         "fn body\n"
         "s: (f32[8], i32[], i32[])\n"
         "x = get-tuple-element f32[8] s\n"
         "i = get-tuple-element i32[] s {tuple_index=1}\n"
         "k = get-tuple-element i32[] s {tuple_index=2}\n"
         "one = constant i32[] 1\n"
         "j = add i32[] i one\n"
         "l = add i32[] k k\n"
         "y = negate f32[8] x\n"
         "return y j l\n"
         "fn test\n"
         "s: (f32[8], i32[], i32[])\n"
         "i = get-tuple-element i32[] s {tuple_index=1}\n"
         "ten = constant i32[] 10\n"
         "p = compare i1[] i ten {comparison_direction='LT'}\n"
         "root p",
         {1},
         1,
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = parameter 1 : tensor<i32>\n"
         "  %2 = tuple %0, %1 : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>\n"
         "  %3 = while %2 {called_computations = [@body, @test]} : tuple<tensor<i32>, "
         "tensor<i32>>\n"
         "  %4 = get-tuple-element %3 {tuple_index = 1} : (tuple<tensor<i32>, tensor<i32>>) "
         "-> tensor<i32>\n"
         "  %5 = tuple %4 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %5\n"
         "}\n"
         "\n"
         "func private @body() -> tuple<tensor<i32>, tensor<i32>> {\n"
         "  %0 = parameter 0 : tuple<tensor<i32>, tensor<i32>>\n"
         "  %1 = get-tuple-element %0 : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>\n"
         "  %2 = get-tuple-element %0 {tuple_index = 1} : (tuple<tensor<i32>, tensor<i32>>) "
         "-> tensor<i32>\n"
         "  %3 = constant dense<1> : tensor<i32>\n"
         "  %4 = add %1, %3 : tensor<i32>\n"
         "  %5 = add %2, %2 : tensor<i32>\n"
         "  %6 = tuple %4, %5 : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>\n"
         "  return %6\n"
         "}\n"
         "\n"
         "func private @test() -> tensor<i1> {\n"
         "  %0 = parameter 0 : tuple<tensor<i32>, tensor<i32>>\n"
         "  %1 = get-tuple-element %0 : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>\n"
         "  %2 = constant dense<10> : tensor<i32>\n"
         "  %3 = compare %1, %2 {comparison_direction = \"LT\"} : (tensor<i32>, tensor<i32>) "
         "-> tensor<i1>\n"
         "  return %3\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

static void branches_of_hlo_have_what_is_needed(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"hlo\n"
         "p: i32[] x: f32[8] n: i32[]\n"
         "t = tuple (f32[8], i32[]) x n\n"
         "c = conditional (f32[8], i32[]) p t n {called_computations=[&first, &second]}\n"
         "e = get-tuple-element i32[] c {tuple_index=1}\n"
         "f = get-tuple-element f32[8] c\n"
         "return f e\n"
         "fn first\n"
         "s: (f32[8], i32[])\n"
         "x = get-tuple-element f32[8] s\n"
         "i = get-tuple-element i32[] s {tuple_index=1}\n"
         "j = negate i32[] i\n"
         "return x j\n"
         "fn second\n"
         "k: i32[]\n"
         "y = constant f32[8] 1\n"
         "return y k",
         {1},
         1,
         "module @SyncTensorsGraph  // hlo\n"
         "\n"
         "func public @main() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = parameter 1 : tensor<i32>\n"
         "  %2 = tuple %1 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  %3 = conditional %0, %2, %1 {called_computations = [@first, @second]} : "
         "(tensor<i32>, tuple<tensor<i32>>, tensor<i32>) -> tuple<tensor<i32>>\n"
         "  %4 = get-tuple-element %3 : (tuple<tensor<i32>>) -> tensor<i32>\n"
         "  %5 = tuple %4 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %5\n"
         "}\n"
         "\n"
         "func private @first() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tuple<tensor<i32>>\n"
         "  %1 = get-tuple-element %0 : (tuple<tensor<i32>>) -> tensor<i32>\n"
         "  %2 = negate %1 : tensor<i32>\n"
         "  %3 = tuple %2 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %3\n"
         "}\n"
         "\n"
         "func private @second() -> tuple<tensor<i32>> {\n"
         "  %0 = parameter 0 : tensor<i32>\n"
         "  %1 = tuple %0 : (tensor<i32>) -> tuple<tensor<i32>>\n"
         "  return %1\n"
         "}\n"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

// What a module says of its arguments and results, of a program and of its entry computation.
static void assert_shape(const keel_program_t *program, keel_attr_id_t attributes, const char *name,
                         uint32_t parameters, uint32_t results) {
    keel_attr_id_t shape = keel_program_dict_find(program, attributes, name);
    assert_int_not_equal(shape, KEEL_NONE);
    keel_list_t of =
        keel_program_array(program, keel_program_dict_find(program, shape, "parameters"));
    assert_int_equal(of.count, parameters);
    const keel_attr_t *result =
        keel_program_attr(program, keel_program_dict_find(program, shape, "result"));
    assert_int_equal(result->kind, KEEL_ATTR_TYPE);
    const keel_type_t *type = keel_program_type(program, result->a);
    assert_int_equal(type->kind, KEEL_TYPE_TUPLE);
    assert_int_equal(keel_program_list(program, type->b).count, results);
}

static uint32_t count_parameters(const keel_program_t *program) {
    uint32_t count = 0;
    const keel_block_t *body = keel_program_body(program, program->entry);
    for (keel_op_id_t op = body->first_op; op < body->end_op; op = keel_program_next(program, op))
        count += keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name),
                             "parameter");
    return count;
}

static void a_part_has_the_shape_of_a_part(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    keel_program_t program, part;
    keel_needs_t *needs;
    assert_ok(keel_file_read(KEEL_TEST_SAMPLES "/hlo/linear_step.hlo", 1 << 24, &data, &size));
    assert_ok(keel_read_hlo(keel_bytes(data, size), &program));
    assert_ok(keel_needs_create(&program, &needs));
    assert_ok(keel_needs_program(needs, (const uint32_t[]){0}, 1, &part));
    keel_needs_destroy(needs);
    assert_true(count_parameters(&part) > 0);
    assert_shape(&part, part.attributes, "host_program_shape", count_parameters(&part), 1);
    keel_program_deinitialize(&part);
    keel_program_deinitialize(&program);
    keel_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuples_have_the_elements_that_are_needed),
        cmocka_unit_test(calls_and_loops_of_hlo_have_what_is_needed),
        cmocka_unit_test(branches_of_hlo_have_what_is_needed),
        cmocka_unit_test(a_part_has_the_shape_of_a_part),
    };
    return cmocka_run_group_tests_name("needs hlo", tests, NULL, NULL);
}
