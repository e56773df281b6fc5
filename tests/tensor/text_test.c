// keel_program_text: the newest program, as it was traced.
#define _GNU_SOURCE
#include "model_help.h"
#include "tensor/tensor.h"

static void there_is_no_text_before_a_program(void **state) {
    (void)state;
    char *text = (char *)keel;
    assert_code(keel_program_text(keel, &text), KEEL_NOT_FOUND);
    assert_null(text);
    assert_code(keel_program_text(NULL, &text), KEEL_INVALID);
    assert_code(keel_program_text(keel, NULL), KEEL_INVALID);
}

static void the_text_has_each_operation_and_its_line(void **state) {
    (void)state;
    char *text, line[32];
    keel_tensor_t x = keel_variable(keel, "points", KEEL_F32, KEEL_SHAPE(2, 3), NULL);
    keel_assign(x, keel_broadcast(keel_iota(keel, KEEL_F32, KEEL_SHAPE(3), 0), KEEL_SHAPE(2, 3)));
    assert_ok(keel_step_end(keel));
    keel_assign(x, keel_tanh(x));
    snprintf(line, sizeof line, "text_test.c:%d", __LINE__ - 1);
    assert_ok(keel_step_end(keel));
    assert_ok(keel_program_text(keel, &text));
    assert_non_null(strstr(text, "tanh"));
    assert_non_null(strstr(text, "tensor<2x3xf32>"));
    assert_non_null(strstr(text, line));
    assert_null(strstr(text, "iota"));
    keel_text_free(text);
    keel_release(x);
}

static bool newest_has(const char *text) {
    keel_bytes_t newest = keel_tensor_newest(keel);
    return memmem(newest.data, newest.size, text, strlen(text));
}

static size_t times_in_newest(const char *word) {
    char *text;
    size_t count = 0;
    assert_ok(keel_program_text(keel, &text));
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        ++count;
    keel_text_free(text);
    return count;
}

static void a_product_has_the_precision_of_its_scope_and_so_has_its_gradient(void **state) {
    (void)state;
    const float data[4] = {1, 2, 3, 4};
    const keel_product_t high = {.precision = KEEL_PRECISION_HIGH};
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(2, 2), data), g;
    keel_precision_begin(keel, KEEL_PRECISION_HIGHEST);
    keel_tensor_t y = keel_matmul(x, x);
    keel_precision_end(keel);
    keel_assign(x, y);
    assert_ok(keel_step_end(keel));
    assert_int_equal(times_in_newest("HIGHEST"), 2); // of both operands
    keel_precision_begin(keel, KEEL_PRECISION_HIGHEST);
    y = keel_einsum("ij,jk->ik", keel_matmul(x, x), x);
    keel_precision_end(keel);
    keel_gradients(keel_sum(y, KEEL_AXES(0, 1)), &x, 1, &g);
    keel_assign(x, g);
    assert_ok(keel_step_end(keel));
    assert_int_equal(times_in_newest("HIGHEST"), 2 * 5); // the last value itself is not needed
    keel_precision_begin(keel, KEEL_PRECISION_HIGHEST);  // left open: it ends with the step
    keel_assign(x, keel_matmul_as(x, x, high));
    assert_ok(keel_step_end(keel));
    assert_int_equal(times_in_newest("HIGHEST"), 0);
    assert_int_equal(times_in_newest("HIGH"), 2);
    keel_assign(x, keel_matmul(x, x));
    assert_ok(keel_step_end(keel));
    assert_int_equal(times_in_newest("HIGH"), 0);
    keel_precision_end(keel); // more often than begun
    keel_release(x);
}

static void a_product_gives_a_larger_dtype_of_its_kind(void **state) {
    (void)state;
    const float data[4] = {1, 2, 3, 4};
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(2, 2), data);
    keel_tensor_t b = keel_cast(x, KEEL_BF16);
    assert_int_equal(keel_dtype(keel_matmul(b, b)), KEEL_BF16);
    keel_assign(x, keel_matmul_as(b, b, (keel_product_t){.dtype = KEEL_F32}));
    assert_ok(keel_step_end(keel));
    assert_int_equal(times_in_newest("tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xf32>"), 1);
    keel_matmul_as(x, x, (keel_product_t){.dtype = KEEL_BF16});
    expect_error("text_test.c", "matmul_as: of f32 it gives that or a larger one", "not bf16");
    keel_matmul_as(x, x, (keel_product_t){.precision = (keel_precision_t)7});
    expect_error("matmul_as: there is no precision 7");
    keel_precision_begin(keel, (keel_precision_t)7);
    expect_error("precision_begin: there is no precision 7");
    keel_release(x);
}

static void a_number_is_called_as_it_is_written(void **state) {
    (void)state;
    const float one = 1;
    const double rate = 3;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &one);
    keel_tensor_t y = keel_multiply(x, keel_number(x, rate));
    y = keel_add(y, keel_number((keel_tensor_t[]){x, y}[1], pow(rate, 2)));
    y = keel_subtract(y, keel_number(x, (double[]){1, 2}[1]));
    keel_assign(x, y);
    assert_ok(keel_step_end(keel));
    assert_true(newest_has("keel_number(rate)"));
    assert_true(newest_has("keel_number(pow(rate, 2))"));
    assert_true(newest_has("keel_number((double[]){1, 2}[1])"));
    keel_release(x);
}

static void results_are_called_after_what_they_are_assigned_to(void **state) {
    (void)state;
    char *text, line[64];
    const float one = 1;
    float sum;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &one);
    keel_tensor_t y = keel_variable(keel, "layers.3.weight", KEEL_F32, KEEL_SCALAR, NULL);
    keel_assign(y, keel_exp(x));
    keel_tensor_t kept = keel_keep(keel_negate(x));
    snprintf(line, sizeof line, "results: layers.3.weight, kept at text_test.c:%d", __LINE__ - 1);
    assert_ok(keel_step_end(keel));
    assert_true(newest_has(line));
    assert_ok(keel_program_text(keel, &text));
    assert_non_null(strstr(text, line));
    keel_text_free(text);
    assert_ok(keel_read(keel_add(x, kept), &sum, sizeof sum));
    snprintf(line, sizeof line, "results: read at text_test.c:%d", __LINE__ - 1);
    assert_true(newest_has(line));
    keel_step_discard(keel);
    keel_release(kept);
    keel_release(y);
    keel_release(x);
}

static void names_that_cannot_be_told_apart_are_none(void **state) {
    (void)state;
    char *text;
    keel_tensor_t x = keel_variable(keel, "x, y", KEEL_F32, KEEL_SCALAR, &(float){1});
    keel_assign(x, keel_sigmoid(x));
    assert_ok(keel_step_end(keel));
    assert_ok(keel_program_text(keel, &text));
    assert_true(newest_has("results: x, y"));
    assert_null(strstr(text, "results:"));
    keel_text_free(text);
    keel_release(x);
}

static void a_known_program_is_not_the_newest(void **state) {
    (void)state;
    char *first, *second;
    const float one = 1;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &one);
    for (int step = 0; step < 3; ++step) {
        keel_assign(x, step == 1 ? keel_negate(x) : keel_exp(x));
        assert_ok(keel_step_end(keel));
        if (step == 1) assert_ok(keel_program_text(keel, &first));
    }
    assert_ok(keel_program_text(keel, &second));
    assert_string_equal(first, second);
    keel_text_free(first);
    keel_text_free(second);
    keel_release(x);
}

static void a_program_that_is_refused_leaves_the_one_before(void **state) {
    (void)state;
    char *first, *second;
    assert_ok(keel_program_text(keel, &first));
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &(float){1});
    keel_freeze();
    keel_assign(x, keel_sqrt(x));
    assert_code(keel_step_end(keel), KEEL_REFUSED);
    assert_ok(keel_program_text(keel, &second));
    assert_string_equal(first, second);
    keel_text_free(first);
    keel_text_free(second);
}

static int count(const char *text, const char *word) {
    int found = 0;
    while ((text = strstr(text, word))) {
        ++found;
        ++text;
    }
    return found;
}

static void a_split_tensor_gets_the_joined_gradients_of_its_parts(void **state) {
    (void)state;
    char *text;
    const float ones[18] = {1};
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(2, 9), ones);
    keel_tensor_t loss = {0}, gradient;
    for (int part = 0; part < 3; ++part) {
        keel_tensor_t power = keel_slice(x, 1, 3 * part, 3 * part + 3);
        for (int i = 0; i < part; ++i)
            power = keel_exp(power);
        power = keel_sum(power, KEEL_AXES(0, 1));
        loss = part ? keel_add(loss, power) : power;
    }
    keel_gradients(loss, &x, 1, &gradient);
    keel_assign(x, gradient);
    assert_ok(keel_step_end(keel));
    assert_ok(keel_program_text(keel, &text));
    assert_int_equal(count(text, "concatenate"), 1);
    assert_int_equal(count(text, " pad"), 0);
    keel_text_free(text);
    keel_release(x);
}

// x and y, of which each is in the product and in the other's gradient.
static void a_product_and_its_gradients_have_their_batches_first(void **state) {
    (void)state;
    char *text;
    const float ones[80] = {1};
    keel_tensor_t in[2], gradients[2];
    in[0] = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(2, 3, 2, 5), ones);
    in[1] = keel_variable(keel, "y", KEEL_F32, KEEL_SHAPE(2, 4, 2, 5), ones);
    keel_tensor_t product =
        keel_dot(in[0], in[1], KEEL_AXES(0, 2), KEEL_AXES(0, 2), KEEL_AXES(3), KEEL_AXES(3));
    keel_gradients(keel_sum(keel_exp(product), keel_all_axes(product)), in, 2, gradients);
    for (int i = 0; i < 2; ++i)
        keel_assign(in[i], gradients[i]);
    assert_ok(keel_step_end(keel));
    assert_ok(keel_program_text(keel, &text));
    assert_int_equal(count(text, "lhs_batch_dimensions"), 3);
    assert_int_equal(count(text, "lhs_batch_dimensions = [0, 1]"), 3);
    assert_int_equal(count(text, "rhs_batch_dimensions = [0, 1]"), 3);
    keel_text_free(text);
    for (int i = 0; i < 2; ++i)
        keel_release(in[i]);
}

// As a number that is only logged now and then.
static void numbers_that_no_result_needs_are_not_in_the_program(void **state) {
    (void)state;
    char *texts[2];
    float value;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &(float){1});
    for (int step = 0; step < 2; ++step) {
        if (step) assert_ok(keel_read(keel_number(x, 3), &value, sizeof value));
        keel_assign(x, keel_add(keel_multiply(x, keel_number(x, 5)), keel_number(x, 7)));
        assert_ok(keel_step_end(keel));
        assert_ok(keel_program_text(keel, &texts[step]));
    }
    assert_float_equal(value, 3, 0);
    assert_string_equal(texts[0], texts[1]);
    assert_ok(keel_read(x, &value, sizeof value));
    assert_float_equal(value, (1 * 5 + 7) * 5 + 7, 0);
    for (int step = 0; step < 2; ++step)
        keel_text_free(texts[step]);
    keel_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_no_text_before_a_program),
        cmocka_unit_test(the_text_has_each_operation_and_its_line),
        cmocka_unit_test(a_product_has_the_precision_of_its_scope_and_so_has_its_gradient),
        cmocka_unit_test(a_product_gives_a_larger_dtype_of_its_kind),
        cmocka_unit_test(a_number_is_called_as_it_is_written),
        cmocka_unit_test(results_are_called_after_what_they_are_assigned_to),
        cmocka_unit_test(names_that_cannot_be_told_apart_are_none),
        cmocka_unit_test(a_known_program_is_not_the_newest),
        cmocka_unit_test(numbers_that_no_result_needs_are_not_in_the_program),
        cmocka_unit_test(a_split_tensor_gets_the_joined_gradients_of_its_parts),
        cmocka_unit_test(a_product_and_its_gradients_have_their_batches_first),
        cmocka_unit_test(a_program_that_is_refused_leaves_the_one_before), // last: it freezes
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
