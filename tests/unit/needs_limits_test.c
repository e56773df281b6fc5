// What is refused, and what stays bounded: structures that cannot be, recursion, depth, functions
// that are needed in many ways.
#define _GNU_SOURCE
#include "needs_help.h"

static keel_status_t try_slice(const keel_program_t *program, uint32_t result) {
    keel_needs_t *needs;
    keel_program_t part;
    KEEL_TRY(keel_needs_create(program, &needs));
    keel_status_t status = keel_needs_program(needs, &result, 1, &part);
    if (!status) keel_program_deinitialize(&part);
    keel_needs_destroy(needs);
    return status;
}

static void assert_refused(keel_status_t status, keel_code_t code, const char *words) {
    assert_int_equal(keel_status_code(status), code);
    if (!strstr(keel_status_message(status), words))
        fail_msg("%s: does not say %s", keel_status_message(status), words);
    keel_status_ignore(status);
}

static void only_results_that_exist_are_answered(void **state) {
    (void)state;
    keel_program_t program;
    keel_needs_t *needs;
    keel_need_t need;
    small_program("x: f32[] y: f32[8]\nreturn x y", &program);
    assert_ok(keel_needs_create(&program, &needs));
    assert_int_equal(keel_needs_result_count(needs), 2);
    assert_int_equal(keel_needs_argument_count(needs), 2);
    static const uint32_t beyond[] = {2}, twice[] = {1, 1}, turned[] = {1, 0}, both[] = {0, 1};
    assert_refused(keel_needs_of(needs, beyond, 1, 10, &need), KEEL_INVALID, "result 2");
    assert_refused(keel_needs_of(needs, twice, 2, 10, &need), KEEL_INVALID, "not in order");
    assert_refused(keel_needs_of(needs, turned, 2, 10, &need), KEEL_INVALID, "not in order");
    assert_refused(keel_needs_of(needs, both, 0, 10, &need), KEEL_INVALID, "no result");
    assert_ok(keel_needs_of(needs, both, 2, 10, &need));
    assert_int_equal(need.arguments.count, 2);
    keel_needs_destroy(needs);
    keel_program_deinitialize(&program);
}

static void a_program_without_an_entry_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    small_program("x: f32[]\nreturn x", &program);
    program.entry = KEEL_NONE;
    assert_refused(try_slice(&program, 0), KEEL_UNSUPPORTED, "without an entry");
    keel_program_deinitialize(&program);
}

static void a_scheduled_program_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    keel_attr_t numbers = {.kind = KEEL_ATTR_INTS}, dict = {.kind = KEEL_ATTR_DICT};
    static const int64_t order[] = {0, 1};
    uint32_t pair[2];
    small_program("hlo\nx: f32[]\nreturn x", &program);
    assert_ok(keel_program_add_ints(&program, order, 2, &numbers.b));
    assert_ok(keel_program_add_text(&program, KEEL_STR("schedule"), &pair[0]));
    assert_ok(keel_program_add_attr(&program, numbers, &pair[1]));
    assert_ok(keel_program_add_list(&program, pair, 2, &dict.b));
    assert_ok(keel_program_add_attr(&program, dict, &program.functions.data[0].attributes));
    assert_refused(try_slice(&program, 0), KEEL_UNSUPPORTED, "scheduled");
    keel_program_deinitialize(&program);
}

// What the reader of HLO makes of each: one result, which has the number of its operation.
static void an_instruction_of_hlo_has_one_result(void **state) {
    (void)state;
    for (int what = 0; what < 3; ++what) {
        keel_program_t program;
        small_program("hlo\nx: f32[]\ny = tanh f32[] x\nreturn y", &program);
        keel_operation_t *tanh = &program.operations.data[1];
        if (what == 0) tanh->result_count = 2;
        if (what == 1) tanh->first_result = 0;
        if (what == 2) tanh->name |= KEEL_OP_HAS_REGIONS;
        assert_refused(try_slice(&program, 0), KEEL_INVALID, "an instruction that is not one");
        keel_program_deinitialize(&program);
    }
}

static void an_operand_that_comes_later_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    small_program("x: f32[]\ny = negate f32[] x\nz = negate f32[] y\nreturn z", &program);
    program.operands.data[0] = 2; // z
    assert_refused(try_slice(&program, 0), KEEL_INVALID, "comes later");
    keel_program_deinitialize(&program);
    small_program("hlo\nx: f32[]\ny = negate f32[] x\nz = negate f32[] y\nreturn z", &program);
    program.operands.data[0] = 2;
    assert_refused(try_slice(&program, 0), KEEL_INVALID, "comes later");
    keel_program_deinitialize(&program);
}

static void an_operand_out_of_sight_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    small_program("p: i1[] x: f32[]\n"
                  "a q = while f32[] i1[] x p { u: f32[] r: i1[]; return r } { u: f32[] r: i1[]; "
                  "return u r }\n"
                  "b = negate f32[] a\n"
                  "return b",
                  &program);
    // What a region takes is not to be seen outside it.
    assert_int_equal(program.operands.data[program.operands.count - 2], 2);
    program.operands.data[program.operands.count - 2] = 4;
    assert_refused(try_slice(&program, 0), KEEL_INVALID, "not to be seen");
    keel_program_deinitialize(&program);
}

static void a_function_without_a_return_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    small_program("x: f32[]\ny = negate f32[] x", &program);
    assert_refused(try_slice(&program, 0), KEEL_INVALID, "without a return");
    keel_program_deinitialize(&program);
}

static void a_function_that_calls_itself_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    small_program("x: f32[]\na = call f32[] x {callee='f'}\nreturn a\n"
                  "fn f\nu: f32[]\nv = call f32[] u {callee='g'}\nreturn v\n"
                  "fn g\nu: f32[]\nv = call f32[] u {callee='f'}\nreturn v",
                  &program);
    assert_refused(try_slice(&program, 0), KEEL_UNSUPPORTED, "calls itself");
    keel_program_deinitialize(&program);
}

static void a_call_of_no_function_is_refused_only_in_hlo(void **state) {
    (void)state;
    keel_program_t program;
    // MLIR's readers of text complain of it; nothing here needs the function.
    small_program("x: f32[]\na = call f32[] x {callee='f'}\nreturn a", &program);
    assert_ok(try_slice(&program, 0));
    keel_program_deinitialize(&program);
    small_program("hlo\nx: f32[]\na = call f32[] x {called_computations=[&f]}\nreturn a", &program);
    assert_refused(try_slice(&program, 0), KEEL_INVALID, "does not exist");
    keel_program_deinitialize(&program);
}

// f0 calls f1, which calls f2, ...
static void too_many_functions_within_each_other_are_refused(void **state) {
    (void)state;
    static char text[32768];
    size_t at =
        (size_t)snprintf(text, sizeof text, "x: f32[]\na = call f32[] x {callee='f0'}\nreturn a\n");
    for (int i = 0; i < 400; ++i)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "fn f%d\nu: f32[]\nv = call f32[] u {callee='f%d'}\nreturn v\n", i,
                               i + 1);
    snprintf(text + at, sizeof text - at, "fn f400\nu: f32[]\nreturn u");
    keel_program_t program;
    small_program(text, &program);
    assert_refused(try_slice(&program, 0), KEEL_UNSUPPORTED, "deep");
    keel_program_deinitialize(&program);
}

// Every call gives what its function gives, and takes what that takes.
static void assert_calls_fit(const keel_program_t *program) {
    unsigned calls = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        keel_attr_id_t callee = keel_program_dict_find(program, operation->attributes, "callee");
        if (callee == KEEL_NONE) continue;
        uint32_t function = keel_program_function(
            program, keel_program_str(program, program->attrs.data[callee].a));
        const keel_block_t *body = keel_program_body(program, function);
        assert_non_null(body);
        assert_int_equal(keel_program_operands(program, op).count, body->argument_count);
        assert_int_equal(operation->result_count,
                         keel_program_operands(program, body->end_op - 1).count);
        ++calls;
    }
    assert_true(calls > 0);
}

// A function of 7 results, and for each set of them a call that needs just these.
static void a_function_that_is_needed_in_many_ways_ends_as_a_whole(void **state) {
    (void)state;
    enum { WAYS = 7, SETS = (1 << WAYS) - 1, MOST_PARTS = 64 };
    static char text[65536];
    size_t at = (size_t)snprintf(text, sizeof text, "x: f32[]\ns = negate f32[] x\n");
    for (int set = 1; set <= SETS; ++set) {
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "a0 a1 a2 a3 a4 a5 a6 = call f32[] f32[] f32[] f32[] f32[] f32[] "
                               "f32[] x x x x x x s {callee='f'}\n");
        for (int i = 0; i < WAYS; ++i)
            if (set >> i & 1)
                at += (size_t)snprintf(text + at, sizeof text - at, "s = add f32[] s a%d\n", i);
    }
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "return s\nfn f\na: f32[] b: f32[] c: f32[] d: f32[] e: f32[] g: f32[] "
                           "h: f32[]\nreturn a b c d e g h");
    assert_true(at < sizeof text - 1);
    keel_program_t program, part;
    keel_needs_t *needs;
    static const uint32_t first = 0;
    small_program(text, &program);
    assert_ok(keel_needs_create(&program, &needs));
    assert_ok(keel_needs_program(needs, &first, 1, &part));
    assert_int_equal(part.functions.count, 1 + MOST_PARTS); // one of which is the whole
    assert_calls_fit(&part);
    keel_needs_destroy(needs);
    keel_program_deinitialize(&part);
    keel_program_deinitialize(&program);
}

// Each round of the loop needs one more of what it carries: the next of each is the one behind it.
static void a_loop_that_needs_more_and_more_carries_all(void **state) {
    (void)state;
    enum { CARRIED = 100 };
    static char text[16384];
    size_t at = (size_t)snprintf(text, sizeof text, "x: f32[] n: i1[]\na = while");
    for (int i = 0; i < CARRIED; ++i)
        at += (size_t)snprintf(text + at, sizeof text - at, " f32[]");
    at += (size_t)snprintf(text + at, sizeof text - at, " i1[]");
    for (int i = 0; i < CARRIED; ++i)
        at += (size_t)snprintf(text + at, sizeof text - at, " x");
    at += (size_t)snprintf(text + at, sizeof text - at, " n");
    for (int region = 0; region < 2; ++region) {
        at += (size_t)snprintf(text + at, sizeof text - at, " {");
        for (int i = 0; i < CARRIED; ++i)
            at += (size_t)snprintf(text + at, sizeof text - at, " v%d: f32[]", i);
        at += (size_t)snprintf(text + at, sizeof text - at, " p: i1[]\nreturn");
        for (int i = 0; i < CARRIED && region; ++i)
            at +=
                (size_t)snprintf(text + at, sizeof text - at, " v%d", i + 1 < CARRIED ? i + 1 : 0);
        at += (size_t)snprintf(text + at, sizeof text - at, " p\n}");
    }
    snprintf(text + at, sizeof text - at, "\nreturn a x");
    keel_program_t program, part;
    keel_needs_t *needs;
    static const uint32_t first = 0;
    small_program(text, &program);
    assert_ok(keel_needs_create(&program, &needs));
    assert_ok(keel_needs_program(needs, &first, 1, &part));
    const keel_block_t *body = keel_program_body(&part, part.entry);
    assert_int_equal(part.operations.data[body->first_op].result_count, CARRIED + 1);
    keel_needs_destroy(needs);
    keel_program_deinitialize(&part);
    keel_program_deinitialize(&program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_results_that_exist_are_answered),
        cmocka_unit_test(a_program_without_an_entry_is_refused),
        cmocka_unit_test(a_scheduled_program_is_refused),
        cmocka_unit_test(an_instruction_of_hlo_has_one_result),
        cmocka_unit_test(an_operand_that_comes_later_is_refused),
        cmocka_unit_test(an_operand_out_of_sight_is_refused),
        cmocka_unit_test(a_function_without_a_return_is_refused),
        cmocka_unit_test(a_function_that_calls_itself_is_refused),
        cmocka_unit_test(a_call_of_no_function_is_refused_only_in_hlo),
        cmocka_unit_test(too_many_functions_within_each_other_are_refused),
        cmocka_unit_test(a_function_that_is_needed_in_many_ways_ends_as_a_whole),
        cmocka_unit_test(a_loop_that_needs_more_and_more_carries_all),
    };
    return cmocka_run_group_tests_name("needs limits", tests, NULL, NULL);
}
