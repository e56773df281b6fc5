// The front end as a C program uses it, on the embedded plugin: what makes a new program and what
// does not, values, and every way to misuse it.
#define _GNU_SOURCE
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/place.h"

#include "keel/keel.h"

static keel_context_t *keel;

static int open_context(void **state) {
    (void)state;
    assert_ok(keel_context_create(NULL, &keel));
    return 0;
}

static int close_context(void **state) {
    (void)state;
    keel_context_free(keel);
    return 0;
}

static keel_tensor_t ones(const char *name, int64_t rows, int64_t columns) {
    static float data[64];
    for (int i = 0; i < 64; ++i)
        data[i] = 1;
    assert_true(rows * columns <= 64);
    return keel_variable(keel, name, KEEL_F32, KEEL_SHAPE(rows, columns), data);
}

static uint64_t programs(void) {
    return keel_context_figures(keel).programs;
}

static float item(keel_tensor_t scalar) {
    float value = NAN;
    assert_ok(keel_read(scalar, &value, sizeof value));
    return value;
}

// ---- programs ----------------------------------------------------------------------------------

static void numbers_make_no_new_program(void **state) {
    (void)state;
    uint64_t before = programs();
    keel_tensor_t x = ones("x", 2, 3);
    for (int step = 1; step <= 5; ++step) {
        keel_assign(x, keel_multiply(x, keel_number(x, step)));
        assert_ok(keel_step_end(keel));
    }
    assert_int_equal(programs() - before, 1);
    assert_float_equal(item(keel_sum(x, keel_all_axes(x))), 6 * 120, 0);
    keel_step_discard(keel);
}

static void what_nothing_uses_makes_no_new_program(void **state) {
    (void)state;
    uint64_t before = programs();
    keel_tensor_t x = ones("x", 2, 3), unused = ones("unused", 5, 2);
    for (int step = 1; step <= 4; ++step) {
        if (step == 2) (void)keel_exp(unused);
        if (step == 3) (void)keel_multiply(x, keel_number(x, 7));
        if (step == 4) (void)keel_number(x, 7);
        keel_assign(x, keel_add(x, keel_constant(x, 1)));
        assert_ok(keel_step_end(keel));
    }
    assert_int_equal(programs() - before, 1);
    assert_float_equal(item(keel_sum(x, keel_all_axes(x))), 6 * 5, 0);
    keel_step_discard(keel);
}

// Of a step in which some are equal that were not, and the other way round.
static void each_number_has_its_own_value(void **state) {
    (void)state;
    static const double values[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {0, -0.0, 3}, {3, 3, 0}};
    uint64_t before = programs();
    for (size_t step = 0; step < sizeof values / sizeof *values; ++step) {
        const double *v = values[step];
        keel_tensor_t x = ones("x", 1, 1), sum = keel_multiply(x, keel_number(x, v[0]));
        sum = keel_add(keel_multiply(sum, keel_number(x, 10)), keel_number(x, v[1]));
        sum = keel_add(keel_multiply(sum, keel_number(x, 10)), keel_number(x, v[2]));
        keel_tensor_t kept = keel_keep(sum);
        assert_ok(keel_step_end(keel));
        assert_float_equal(item(kept), 100 * v[0] + 10 * v[1] + v[2], 0);
        keel_release(kept);
        keel_release(x);
    }
    assert_int_equal(programs() - before, 1);
}

static void constants_make_one_each(void **state) {
    (void)state;
    uint64_t before = programs();
    keel_tensor_t x = ones("x", 2, 3);
    for (int step = 1; step <= 3; ++step) {
        keel_assign(x, keel_multiply(x, keel_constant(x, step)));
        assert_ok(keel_step_end(keel));
    }
    assert_int_equal(programs() - before, 3);
}

static keel_tensor_t twice(keel_tensor_t x) {
    return keel_add(x, x);
}

static keel_tensor_t two_times(keel_tensor_t x) {
    return keel_add(x, x);
}

static void the_same_trace_from_another_line_is_the_same_program(void **state) {
    (void)state;
    uint64_t before = programs();
    keel_tensor_t x = ones("x", 1, 1), other = ones("another name", 1, 1);
    keel_assign(x, twice(x));
    assert_ok(keel_step_end(keel));
    keel_assign(other, two_times(other));
    assert_ok(keel_step_end(keel));
    assert_int_equal(programs() - before, 1);
}

static void a_step_without_assignments_runs_nothing(void **state) {
    (void)state;
    uint64_t before = programs();
    keel_tensor_t x = ones("x", 1, 1);
    keel_add(x, x);
    assert_ok(keel_step_end(keel));
    assert_int_equal(programs() - before, 0);
}

static void what_is_kept_outlives_its_step(void **state) {
    (void)state;
    keel_tensor_t x = ones("x", 2, 2);
    keel_tensor_t kept = keel_keep(keel_sum(x, keel_all_axes(x)));
    assert_ok(keel_step_end(keel));
    keel_tensor_t more = keel_keep(keel_add(kept, kept));
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(kept), 4, 0);
    assert_float_equal(item(more), 8, 0);
    keel_release(kept);
    assert_true(keel_is_empty(keel_add(kept, kept)));
    assert_non_null(strstr(keel_context_error(keel), "released"));
    keel_step_discard(keel);
}

static void keeping_and_releasing_makes_no_new_program(void **state) {
    (void)state;
    uint64_t before = programs();
    keel_tensor_t x = ones("x", 2, 4), last = {0};
    for (int step = 0; step < 6; ++step) {
        keel_tensor_t sum = keel_sum(x, keel_all_axes(x));
        keel_tensor_t next = keel_keep(keel_is_empty(last) ? sum : keel_add(sum, last));
        assert_ok(keel_step_end(keel));
        keel_release(last);
        last = next;
    }
    assert_int_equal(programs() - before, 2); // the first step has nothing to add
    assert_float_equal(item(last), 48, 0);
}

static void an_assignment_counts_at_once_and_is_undone_by_an_error(void **state) {
    (void)state;
    keel_tensor_t x = ones("x", 1, 2);
    keel_assign(x, keel_add(x, x));
    keel_assign(x, keel_add(x, x));
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(keel_sum(x, keel_all_axes(x))), 8, 0);
    keel_step_discard(keel);
    keel_assign(x, keel_multiply(x, x));
    keel_matmul(x, x);
    keel_status_t status = keel_step_end(keel);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    keel_status_ignore(status);
    assert_float_equal(item(keel_sum(x, keel_all_axes(x))), 8, 0);
    keel_step_discard(keel);
}

static void two_variables_can_change_places(void **state) {
    (void)state;
    float data[] = {2};
    keel_tensor_t x = ones("x", 1, 1);
    keel_tensor_t y = keel_variable(keel, "y", KEEL_F32, KEEL_SHAPE(1, 1), data);
    for (int step = 0; step < 3; ++step) {
        keel_tensor_t old = keel_add(x, keel_number(x, 0));
        keel_assign(x, y);
        keel_assign(y, old);
        assert_ok(keel_step_end(keel));
    }
    assert_float_equal(item(x), 2, 0);
    assert_float_equal(item(y), 1, 0);
}

static void a_read_in_mid_step_leaves_the_step_whole(void **state) {
    (void)state;
    keel_tensor_t x = ones("x", 1, 1);
    keel_assign(x, keel_add(x, x));
    keel_tensor_t y = keel_multiply(x, keel_number(x, 5));
    assert_float_equal(item(y), 10, 0);
    assert_float_equal(item(x), 2, 0);
    keel_assign(x, keel_add(y, x));
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(x), 12, 0);
    assert_float_equal(item(x), 12, 0);
}

static void a_variable_has_no_value_before_it_is_assigned(void **state) {
    (void)state;
    float value;
    keel_tensor_t x = keel_variable(keel, "late", KEEL_F32, KEEL_SCALAR, NULL), y = ones("y", 1, 1);
    keel_status_t status = keel_read(x, &value, sizeof value);
    assert_non_null(strstr(keel_status_message(status), "late has no value yet"));
    keel_status_ignore(status);
    keel_assign(x, keel_sum(y, keel_all_axes(y)));
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(x), 1, 0);
}

static void a_variable_without_a_value_can_be_filled(void **state) {
    (void)state;
    keel_tensor_t v = keel_variable(keel, "v", KEEL_F32, KEEL_SHAPE(3), NULL);
    keel_assign(v, keel_broadcast(keel_number(v, 2), KEEL_SHAPE(3)));
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(keel_sum(v, KEEL_AXES(0))), 6, 0);
    keel_step_discard(keel);
}

static void an_old_handle_never_means_another_tensor(void **state) {
    (void)state;
    float data[] = {1};
    keel_tensor_t old = keel_variable(keel, "old", KEEL_F32, KEEL_SHAPE(1), data);
    keel_release(old);
    for (int i = 0; i < 10000; ++i) {
        keel_tensor_t next = keel_variable(keel, "next", KEEL_F32, KEEL_SHAPE(1), data);
        assert_true(next.id != old.id);
        keel_release(next);
    }
}

static void f16_and_bf16_are_averaged_in_f32(void **state) {
    (void)state;
    keel_tensor_t ones_of_f16 =
        keel_cast(keel_broadcast(keel_constant(ones("x", 1, 1), 1), KEEL_SHAPE(70000)), KEEL_F16);
    assert_float_equal(item(keel_cast(keel_mean(ones_of_f16, KEEL_AXES(0)), KEEL_F32)), 1, 0);
    keel_tensor_t large =
        keel_multiply(keel_slice(ones_of_f16, 0, 0, 4), keel_number(ones_of_f16, 300));
    keel_tensor_t normal = keel_rms_norm(large, (keel_tensor_t){0}, 1e-8);
    assert_float_equal(item(keel_cast(keel_sum(normal, KEEL_AXES(0)), KEEL_F32)), 4, 0.01);
    keel_step_discard(keel);
}

static void sizes_of_zero_and_eight_dimensions_work(void **state) {
    (void)state;
    float values[1] = {7}, out[1];
    keel_tensor_t none = keel_variable(keel, "none", KEEL_F32, KEEL_SHAPE(0, 3), values);
    keel_tensor_t deep =
        keel_variable(keel, "deep", KEEL_F32, KEEL_SHAPE(1, 1, 1, 1, 1, 1, 1, 1), values);
    assert_float_equal(item(keel_sum(none, keel_all_axes(none))), 0, 0);
    keel_tensor_t sum = keel_add(deep, deep);
    assert_int_equal(keel_shape(sum).rank, 8);
    assert_ok(keel_read(sum, out, sizeof out));
    assert_float_equal(out[0], 14, 0);
    assert_ok(keel_read(none, out, 0));
    keel_step_discard(keel);
}

static void small_floats_are_summed_in_f32(void **state) {
    (void)state;
    uint16_t bits;
    keel_tensor_t one = keel_variable(keel, "one", KEEL_F32, KEEL_SCALAR, &(float){1});
    keel_tensor_t many = keel_broadcast(keel_cast(one, KEEL_F8E5M2), KEEL_SHAPE(4096));
    keel_tensor_t sum = keel_sum(many, KEEL_AXES(0));
    assert_ok(keel_read(keel_cast(sum, KEEL_BF16), &bits, sizeof bits));
    assert_int_equal(bits, 0x4580); // 4096
    keel_step_discard(keel);
    keel_release(one);
}

// ---- misuse ------------------------------------------------------------------------------------

// The step fails with that text and this file's name; afterwards the context works.
static void expect(const char *text, int line) {
    keel_status_t status = keel_step_end(keel);
    const char *message = keel_status_message(status);
    if (!status || !strstr(message, text) || !strstr(message, "tensor_test.c:"))
        fail_msg("line %d: '%s' has no '%s'", line, message, text);
    keel_status_ignore(status);
    keel_tensor_t x = ones("fine", 1, 1);
    keel_assign(x, keel_add(x, x));
    assert_ok(keel_step_end(keel));
    keel_release(x);
}
#define REFUSED(text, call)                                                                        \
    do {                                                                                           \
        (void)(call);                                                                              \
        expect(text, __LINE__);                                                                    \
    } while (0)

static void wrong_shapes_are_named(void **state) {
    (void)state;
    keel_tensor_t x = ones("x", 2, 3), y = ones("y", 4, 5),
                  v = keel_variable(keel, "v", KEEL_F32, KEEL_SHAPE(3), (float[3]){0});
    REFUSED("add: f32[2,3] and f32[4,5] do not broadcast", keel_add(x, y));
    REFUSED("matmul: f32[2,3] and f32[4,5] do not fit", keel_matmul(x, y));
    REFUSED("matmul: f32[2,3] and f32[3] are not both matrices", keel_matmul(x, v));
    REFUSED("equal: f32[2,3] and f32[4,5] do not broadcast", keel_equal(x, y));
    REFUSED("reshape: f32[2,3] and f32[7] have different numbers", keel_reshape(x, KEEL_SHAPE(7)));
    REFUSED("reshape: f32[2,3] and f32[-6]", keel_reshape(x, KEEL_SHAPE(-6)));
    REFUSED("broadcast: f32[2,3] does not broadcast to f32[3,2]",
            keel_broadcast(x, KEEL_SHAPE(3, 2)));
    REFUSED("transpose: f32[2,3] needs each of its axes once", keel_transpose(x, KEEL_AXES(0, 0)));
    REFUSED("transpose: f32[2,3]", keel_transpose(x, KEEL_AXES(0)));
    REFUSED("sum: f32[2,3] does not have these axes", keel_sum(x, KEEL_AXES(2)));
    REFUSED("sum: f32[2,3] does not have these axes", keel_sum(x, KEEL_AXES(-3)));
    REFUSED("sum: f32[2,3] does not have these axes", keel_sum(x, KEEL_AXES(0, 0)));
    REFUSED("slice: [1, 4) is not in axis 1 of f32[2,3]", keel_slice(x, 1, 1, 4));
    REFUSED("slice: [2, 1) is not in axis 1", keel_slice(x, 1, 2, 1));
    REFUSED("slice: f32[2,3] does not have this axis", keel_slice(x, 2, 0, 1));
    REFUSED("pad: f32[2,3] cannot be padded by so much", keel_pad(x, 0, INT64_MAX, 1));
    REFUSED("has more elements than fit", keel_pad(x, 0, INT64_MAX - 8, 1));
    REFUSED("concatenate: f32[2,3] and f32[4,5] differ", keel_concatenate(x, y, 0));
    REFUSED("concatenate: f32[2,3] does not have this axis", keel_concatenate(x, y, 9));
    REFUSED("softmax: f32[2,3] has no axis 2", keel_softmax(x, 2));
    REFUSED("cross_entropy: operand 2 is empty", keel_cross_entropy(x, (keel_tensor_t){0}));
    REFUSED("cross_entropy: logits f32[2,3] and targets i32[5] do not fit",
            keel_cross_entropy(x, keel_iota(keel, KEEL_I32, KEEL_SHAPE(5), 0)));
    REFUSED("assign: x is f32[2,3], and the value is f32[4,5]", (keel_assign(x, y), 0));
    REFUSED("dot: f32[2,3] and f32[4,5] do not fit",
            keel_dot(x, y, KEEL_AXES(0), KEEL_AXES(0), KEEL_AXES(1), KEEL_AXES(1)));
    REFUSED("gradients: of f32[2,3], which is not a scalar",
            (keel_gradients(x, &x, 1, &(keel_tensor_t){0}), 0));
}

static void an_operation_made_of_others_has_its_own_name(void **state) {
    (void)state;
    keel_tensor_t x = ones("x", 2, 3), y = ones("y", 4, 5), i, out[1];
    REFUSED("mean: f32[2,3] does not have these axes", keel_mean(x, KEEL_AXES(2)));
    REFUSED("einsum: f32[2,3] and f32[4,5] do not fit", keel_einsum("ab,bc->ac", x, y));
    REFUSED("top_k: f32[] does not have this axis",
            (keel_top_k(keel_sum(x, KEEL_AXES(0, 1)), 1, out, NULL), 0));
    i = keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0);
    REFUSED("softmax: of i32; keel_cast it", keel_softmax(i, 0));
    i = keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0);
    REFUSED("silu: of i32; keel_cast it", keel_silu(i));
}

static void wrong_dtypes_are_named(void **state) {
    (void)state;
    keel_tensor_t f = ones("f", 1, 1), i = keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0);
    REFUSED("have no common dtype; keel_cast one of them", keel_add(f, i));
    i = keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0);
    REFUSED("add: i32[4] and u32[4] have no common dtype",
            keel_add(i, keel_iota(keel, KEEL_U32, KEEL_SHAPE(4), 0)));
    REFUSED("add: bf16[1,1] and f16[1,1] have no common dtype",
            keel_add(keel_cast(f, KEEL_BF16), keel_cast(f, KEEL_F16)));
    i = keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0);
    REFUSED("exp: i32[4] has a dtype without it", keel_exp(i));
    REFUSED("abs: u8[4] has a dtype without it",
            keel_abs(keel_iota(keel, KEEL_U8, KEEL_SHAPE(4), 0)));
    REFUSED("iota: u8[300] cannot count that far", keel_iota(keel, KEEL_U8, KEEL_SHAPE(300), 0));
    REFUSED("not: f32[1,1] has a dtype without it", keel_not(f));
    REFUSED("and: f32[1,1] has a dtype without it", keel_and(f, f));
    REFUSED("select: f32[1,1] is not a mask", keel_select(f, f, f));
    REFUSED("take: f32[1,1] has no indices", keel_take(f, f));
    REFUSED("sum: bool[1,1] is bool", keel_sum(keel_equal(f, f), KEEL_AXES(0)));
    REFUSED("product: bool[1,1] is bool", keel_product(keel_equal(f, f), KEEL_AXES(0)));
    REFUSED("all: f32[1,1] is not bool; compare it", keel_all(f, KEEL_AXES(0)));
    i = keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0);
    REFUSED("any: i32[4] is not bool; compare it", keel_any(i, KEEL_AXES(0)));
    REFUSED("product: f32[1,1] does not have these axes", keel_product(f, KEEL_AXES(1, -1)));
    i = keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0);
    REFUSED("mean: of i32", keel_mean(i, KEEL_AXES(0)));
    REFUSED("gelu: of i32", keel_gelu(keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0)));
    REFUSED("rms_norm: of i32",
            keel_rms_norm(keel_iota(keel, KEEL_I32, KEEL_SHAPE(4), 0), (keel_tensor_t){0}, 1e-6));
    REFUSED("one_hot: of f32", keel_one_hot(f, 3, KEEL_F32));
    REFUSED("cast: there is no dtype 99", keel_cast(f, (keel_dtype_t)99));
    REFUSED("iota: bool cannot count", keel_iota(keel, KEEL_BOOL, KEEL_SHAPE(4), 0));
    REFUSED("variable: there is no dtype -1",
            keel_variable(keel, "v", (keel_dtype_t)-1, KEEL_SCALAR, NULL));
    REFUSED("there is no operation 77 of one operand",
            keel_unary_at(KEEL_HERE, (keel_unary_op_t)77, f));
    REFUSED("there is no operation 77 of two operands",
            keel_binary_at(KEEL_HERE, (keel_binary_op_t)77, f, f));
    REFUSED("there is no comparison 77", keel_compare_at(KEEL_HERE, (keel_compare_op_t)77, f, f));
    REFUSED("there is no reduction 77",
            keel_reduce_at(KEEL_HERE, (keel_reduce_op_t)77, f, KEEL_AXES(0)));
}

static void numbers_that_a_dtype_does_not_have_are_named(void **state) {
    (void)state;
    keel_tensor_t i = keel_variable(keel, "i", KEEL_I32, KEEL_SCALAR, &(int32_t){3});
    keel_tensor_t u = keel_variable(keel, "u", KEEL_U8, KEEL_SCALAR, &(uint8_t){3});
    keel_tensor_t l = keel_variable(keel, "l", KEEL_I64, KEEL_SCALAR, &(int64_t){3});
    int64_t read = 0;
    REFUSED("number: i32 cannot hold 0.5; keel_cast what it is used with", keel_number(i, 0.5));
    REFUSED("constant: i32 cannot hold 3e+09", keel_constant(i, 3e9));
    REFUSED("number: i32 cannot hold nan", keel_number(i, NAN));
    REFUSED("number: u8 cannot hold -1", keel_number(u, -1));
    REFUSED("constant: u8 cannot hold 256", keel_constant(u, 256));
    assert_ok(keel_read(keel_constant(l, (double)INT64_MAX), &read, sizeof read));
    assert_int_equal(read, INT64_MAX);
    REFUSED("power: i32[] has a dtype without it", keel_power(i, i));
    keel_release(i);
    keel_release(u);
    keel_release(l);
}

static void wrong_sources_are_named(void **state) {
    (void)state;
    const keel_shape_t deep = {.rank = 9}, huge = KEEL_SHAPE(INT64_MAX, 2), minus = {.rank = -1};
    REFUSED("input: x has no data", keel_input(keel, "x", KEEL_F32, KEEL_SHAPE(2), NULL));
    REFUSED("a shape of 9 dimensions", keel_iota(keel, KEEL_F32, deep, 0));
    REFUSED("a shape of -1 dimensions", keel_iota(keel, KEEL_F32, minus, 0));
    REFUSED("too many elements", keel_iota(keel, KEEL_F32, huge, 0));
    REFUSED("iota: there is no axis 0", keel_iota(keel, KEEL_F32, KEEL_SCALAR, 0));
    REFUSED("f32[-2] has a negative dimension",
            keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(-2), NULL));
    REFUSED("give more than 8 dimensions",
            keel_take(keel_variable(keel, "t", KEEL_F32, KEEL_SHAPE(1, 1, 1, 1, 1, 1, 1, 1),
                                    (float[1]){0}),
                      keel_iota(keel, KEEL_I32, KEEL_SHAPE(1, 1), 0)));
}

static void empty_and_foreign_tensors_are_named(void **state) {
    (void)state;
    const keel_tensor_t empty = {0};
    keel_context_t *second;
    float value;
    keel_tensor_t x = ones("x", 1, 1), out[1];
    REFUSED("add: operand 2 is empty", keel_add(x, empty));
    REFUSED("add: operand 1 is empty", keel_add(empty, x));
    REFUSED("assign: the value is empty", (keel_assign(x, empty), 0));
    REFUSED("assign: the target is not a variable", (keel_assign(empty, x), 0));
    REFUSED("assign: the target is not a variable", (keel_assign(keel_add(x, x), x), 0));
    REFUSED("gradients: tensor 1 is empty",
            (keel_gradients(keel_sum(x, keel_all_axes(x)), &empty, 1, out), 0));
    REFUSED("gradients: no tensors",
            (keel_gradients(keel_sum(x, keel_all_axes(x)), NULL, 1, out), 0));
    // Nothing but empty ones has no context to complain to.
    assert_true(keel_is_empty(keel_add(empty, empty)));
    assert_true(keel_is_empty(keel_softmax(empty, 0)));
    assert_true(keel_is_empty(keel_rms_norm(empty, x, 1e-6)));
    assert_true(keel_is_empty(keel_iota(NULL, KEEL_F32, KEEL_SCALAR, 0)));
    assert_true(keel_is_empty(keel_variable(NULL, "x", KEEL_F32, KEEL_SCALAR, NULL)));
    keel_release(empty);
    keel_gradients(empty, &x, 1, out);
    keel_status_t status = keel_read(empty, &value, sizeof value);
    assert_non_null(strstr(keel_status_message(status), "the tensor is empty"));
    keel_status_ignore(status);
    status = keel_step_end(NULL);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    keel_status_ignore(status);
    keel_step_discard(NULL);
    keel_context_free(NULL);

    assert_ok(keel_context_create(NULL, &second));
    keel_tensor_t foreign = keel_variable(second, "y", KEEL_F32, KEEL_SHAPE(1, 1), (float[1]){1});
    REFUSED("add: operand 2 belongs to another context", keel_add(x, foreign));
    REFUSED("assign: the value belongs to another context", (keel_assign(x, foreign), 0));
    REFUSED("gradients: tensor 1 is of another context",
            (keel_gradients(keel_sum(x, keel_all_axes(x)), &foreign, 1, out), 0));
    keel_context_free(second);
}

static bool says(keel_status_t status, const char *text) {
    bool does = status && strstr(keel_status_message(status), text);
    keel_status_ignore(status);
    return does;
}

// The plugin's threads are not there: waiting for them would never end.
static int child_refuses_all(keel_tensor_t x) {
    float value;
    alarm(60);
    if (!says(keel_read(x, &value, sizeof value), "forked")) return 1;
    keel_assign(x, keel_add(x, x));
    if (!says(keel_step_end(keel), "forked")) return 2;
    keel_input(keel, "in", KEEL_F32, KEEL_SCALAR, &value);
    if (!says(keel_step_end(keel), "forked")) return 3;
    keel_release(x);
    keel_context_free(keel);
    return 0;
}

static void a_forked_child_is_told_so(void **state) {
    (void)state;
    int how;
    keel_tensor_t x = ones("x", 1, 1);
    keel_assign(x, keel_add(x, x));
    assert_ok(keel_step_end(keel));
    pid_t child = fork();
    if (!child) _exit(child_refuses_all(x));
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    keel_assign(x, keel_add(x, x));
    assert_ok(keel_step_end(keel));
    keel_release(x);
}

static void what_a_step_made_ends_with_it(void **state) {
    (void)state;
    float value;
    keel_tensor_t x = ones("x", 1, 1), old = keel_add(x, x);
    keel_step_discard(keel);
    REFUSED("which has ended; keel_keep a value", keel_add(x, old));
    REFUSED("softmax: an operand was made in step", keel_softmax(old, 0));
    keel_add(x, x);
    keel_release(x);
    REFUSED("assign: the target is not a variable", (keel_assign(x, ones("y", 1, 1)), 0));
    x = ones("x", 1, 1);
    old = keel_add(x, x);
    assert_ok(keel_step_end(keel));
    keel_status_t status = keel_read(old, &value, sizeof value);
    assert_non_null(strstr(keel_status_message(status), "which has ended"));
    keel_status_ignore(status);
}

static void the_first_error_is_the_one_that_counts(void **state) {
    (void)state;
    keel_tensor_t x = ones("x", 2, 3), y = ones("y", 4, 5);
    keel_tensor_t bad = keel_add(x, y);
    assert_non_null(strstr(keel_context_error(keel), "add: f32[2,3]"));
    keel_assign(x, keel_exp(bad));
    keel_matmul(x, x);
    REFUSED("add: f32[2,3]", 0);
    assert_null(keel_context_error(keel));
}

static void a_read_needs_room_for_all(void **state) {
    (void)state;
    float value[6];
    keel_tensor_t x = ones("x", 2, 3);
    keel_status_t status = keel_read(x, value, 4);
    assert_non_null(strstr(keel_status_message(status), "f32[2,3] has 24 bytes"));
    keel_status_ignore(status);
    status = keel_read(x, NULL, 24);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    keel_status_ignore(status);
    assert_ok(keel_read(x, value, sizeof value));
}

// ---- frozen ------------------------------------------------------------------------------------

// The last test: nothing new runs in this process afterwards.
static void a_frozen_process_refuses_new_programs(void **state) {
    (void)state;
    float values[6];
    keel_tensor_t x = ones("x", 6, 1);
    for (int step = 0; step < 4; ++step) {
        keel_tensor_t factor = step == 2 ? keel_constant(x, 3) : keel_number(x, 3);
        keel_assign(x, keel_multiply(x, factor));
        keel_status_t status = keel_step_end(keel);
        if (step == 2) {
            assert_int_equal(keel_status_code(status), KEEL_REFUSED);
            assert_non_null(strstr(keel_status_message(status), "tensor_test.c:"));
            keel_status_ignore(status);
        } else {
            assert_ok(status);
        }
        if (!step) keel_freeze();
    }
    assert_ok(keel_read(x, values, sizeof values));
    assert_float_equal(values[0], 27, 0);
}

#ifdef KEEL_FAULTS
// ---- each allocation fails in turn -------------------------------------------------------------

// w -= gradient of sum(tanh(x w)), read back: 1 if all of it worked.
static bool take_a_step(keel_context_t *context, double *out) {
    static const float two[] = {0.5f, -0.25f};
    float value = 0;
    keel_tensor_t w = keel_variable(context, "w", KEEL_F32, KEEL_SHAPE(2, 1), two), gradient;
    keel_tensor_t x = keel_input(context, "x", KEEL_F32, KEEL_SHAPE(1, 2), two);
    keel_tensor_t y = keel_tanh(keel_matmul(x, w));
    keel_tensor_t loss = keel_sum(y, keel_all_axes(y));
    keel_gradients(loss, &w, 1, &gradient);
    keel_assign(w, keel_subtract(w, keel_multiply(gradient, keel_number(w, 0.5))));
    keel_tensor_t kept = keel_keep(loss);
    keel_status_t status = keel_step_end(context);
    if (!status) status = keel_read(kept, &value, sizeof value);
    keel_release(kept);
    keel_release(w);
    *out = (double)value;
    bool worked = !status;
    keel_status_ignore(status);
    return worked;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    double expected, value;
    assert_true(take_a_step(keel, &expected));
    assert_true(expected > 0.3 && expected < 0.303); // tanh(0.5^2 + 0.25^2)
    uint64_t nth = 0, reached;
    do {
        keel_context_t *context = NULL;
        keel_fault_arm(KEEL_FAULT_ALLOC, ++nth);
        keel_status_t status = keel_context_create(NULL, &context);
        bool worked = !status && take_a_step(context, &value);
        reached = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        keel_status_ignore(status);
        if (worked && value != expected) fail_msg("allocation %d: %g", (int)nth, value);
        if (context && (!take_a_step(context, &value) || value != expected))
            fail_msg("after allocation %d the context is not usable", (int)nth);
        keel_context_free(context);
    } while (reached >= nth);
    assert_true(nth > 100); // a trace, a program and its bytes
}

// Keel's own threads may, so it takes a step in which they do not.
static void a_known_step_allocates_nothing(void **state) {
    (void)state;
    const float ones[3] = {1, 1, 1};
    uint64_t allocated = 1;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(3), ones);
    for (int step = 0; step < 1000 && allocated; ++step) {
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        keel_tensor_t gradient, loss = keel_sum(keel_exp(x), KEEL_AXES(0));
        keel_gradients(loss, &x, 1, &gradient);
        keel_assign(x, keel_multiply(gradient, keel_number(x, 0.1)));
        keel_tensor_t kept = keel_keep(loss);
        assert_ok(keel_step_end(keel));
        keel_release(kept);
        allocated = keel_fault_count(KEEL_FAULT_ALLOC);
    }
    assert_int_equal(allocated, 0);
    keel_release(x);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_make_no_new_program),
        cmocka_unit_test(what_nothing_uses_makes_no_new_program),
        cmocka_unit_test(each_number_has_its_own_value),
        cmocka_unit_test(constants_make_one_each),
        cmocka_unit_test(the_same_trace_from_another_line_is_the_same_program),
        cmocka_unit_test(a_step_without_assignments_runs_nothing),
        cmocka_unit_test(what_is_kept_outlives_its_step),
        cmocka_unit_test(keeping_and_releasing_makes_no_new_program),
        cmocka_unit_test(an_assignment_counts_at_once_and_is_undone_by_an_error),
        cmocka_unit_test(two_variables_can_change_places),
        cmocka_unit_test(a_read_in_mid_step_leaves_the_step_whole),
        cmocka_unit_test(a_variable_has_no_value_before_it_is_assigned),
        cmocka_unit_test(a_variable_without_a_value_can_be_filled),
        cmocka_unit_test(an_old_handle_never_means_another_tensor),
        cmocka_unit_test(f16_and_bf16_are_averaged_in_f32),
        cmocka_unit_test(sizes_of_zero_and_eight_dimensions_work),
        cmocka_unit_test(small_floats_are_summed_in_f32),
        cmocka_unit_test(wrong_shapes_are_named),
        cmocka_unit_test(an_operation_made_of_others_has_its_own_name),
        cmocka_unit_test(wrong_dtypes_are_named),
        cmocka_unit_test(numbers_that_a_dtype_does_not_have_are_named),
        cmocka_unit_test(wrong_sources_are_named),
        cmocka_unit_test(empty_and_foreign_tensors_are_named),
        cmocka_unit_test(a_forked_child_is_told_so),
        cmocka_unit_test(what_a_step_made_ends_with_it),
        cmocka_unit_test(the_first_error_is_the_one_that_counts),
        cmocka_unit_test(a_read_needs_room_for_all),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_known_step_allocates_nothing),
#endif
        cmocka_unit_test(a_frozen_process_refuses_new_programs),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
