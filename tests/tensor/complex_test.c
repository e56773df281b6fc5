// Complex numbers and Fourier transforms: what they refuse, and the shapes of transforms.
#define _GNU_SOURCE
#include "model_help.h"

static keel_tensor_t reals(int64_t rows, int64_t columns) {
    return keel_iota(keel, KEEL_F32, KEEL_SHAPE(rows, columns), 0);
}

static keel_tensor_t numbers(int64_t rows, int64_t columns) {
    return keel_complex(reals(rows, columns), reals(rows, columns));
}

#define REFUSED(call, ...)                                                                         \
    do {                                                                                           \
        assert_true(keel_is_empty(call));                                                          \
        expect_error("complex_test.c:", __VA_ARGS__);                                              \
    } while (0)

static void what_complex_numbers_do_not_have_is_named(void **state) {
    (void)state;
    REFUSED(keel_sigmoid(numbers(2, 3)), "sigmoid: c64[2,3] has a dtype without it");
    REFUSED(keel_not(numbers(2, 3)), "not: c64[2,3] has a dtype without it");
    REFUSED(keel_maximum(numbers(2, 3), numbers(2, 3)), "maximum: c64[2,3] has a dtype without it");
    REFUSED(keel_power(numbers(2, 3), numbers(2, 3)), "power: c64[2,3] has a dtype without it");
    REFUSED(keel_less(numbers(2, 3), numbers(2, 3)), "less: c64[2,3] is complex, which has no");
    REFUSED(keel_max(numbers(2, 3), KEEL_AXES(0)), "max: c64[2,3] is complex, which has no order");
    REFUSED(keel_all(numbers(2, 3), KEEL_AXES(0)), "all: c64[2,3] is not bool");
    REFUSED(keel_sort(numbers(2, 3), 0, KEEL_ASCENDING), "sort: c64[2,3] is complex");
    REFUSED(keel_argmax(numbers(2, 3), 0), "argmax: c64[2,3] is complex");
    REFUSED(keel_cummax(numbers(2, 3), 0), "cummax: c64[1,3] has a dtype without it");
    REFUSED(keel_cumlogsumexp(numbers(2, 3), 0), "c64[2,3] is not of floats");
    REFUSED(keel_max_pool(numbers(2, 3), &(keel_window_t){.count = 1}),
            "max_pool: c64[2,3] is not of integers or floats");
    REFUSED(keel_is_finite(numbers(2, 3)), "is_finite: c64[2,3] has a dtype without it");
    REFUSED(keel_bitcast(numbers(2, 3), KEEL_F64), "bitcast: c64[2,3] does not have the bits");
    REFUSED(keel_cast(numbers(2, 3), KEEL_F32), "cast: c64[2,3] is complex; take keel_real");
    REFUSED(keel_add(numbers(2, 3), reals(2, 3)), "add: c64[2,3] and f32[2,3] have no common");
    REFUSED(keel_iota(keel, KEEL_C128, KEEL_SHAPE(3), 0), "iota: c128 cannot count");
    keel_tensor_t x = keel_reshape(numbers(2, 12), KEEL_SHAPE(2, 3, 4));
    REFUSED(keel_convolution(x, x, NULL), "are not of one dtype of floats");
}

static void wrong_parts_are_named(void **state) {
    (void)state;
    keel_context_t *other;
    assert_ok(keel_context_create(NULL, &other));
    REFUSED(keel_real(reals(2, 3)), "real: f32[2,3] is not complex");
    REFUSED(keel_imag(reals(2, 3)), "imag: f32[2,3] is not complex");
    REFUSED(keel_angle(reals(2, 3)), "angle: f32[2,3] is not complex");
    REFUSED(keel_conj(reals(2, 3)), "conj: f32[2,3] is not complex");
    keel_tensor_t small = keel_cast(reals(2, 3), KEEL_BF16);
    REFUSED(keel_complex(small, small), "complex: bf16[2,3] is neither f32 nor f64; keel_cast it");
    REFUSED(keel_complex(numbers(2, 3), numbers(2, 3)), "complex: c64[2,3] is neither f32 nor");
    REFUSED(keel_complex(reals(2, 3), reals(2, 4)), "f32[2,3] and f32[2,4] do not broadcast");
    keel_tensor_t foreign = keel_variable(other, "x", KEEL_F32, KEEL_SCALAR, &(float){1});
    REFUSED(keel_complex(reals(2, 3), foreign), "complex: operand 2 belongs to another context");
    keel_context_free(other);
}

static void a_real_transform_has_half_the_size(void **state) {
    (void)state;
    const struct {
        keel_tensor_t given;
        int64_t last;
    } cases[] = {
        {keel_fft(numbers(2, 6), 1), 6},      {keel_ifft(numbers(2, 6), 2), 6},
        {keel_rfft(reals(2, 6), 1), 4},       {keel_rfft(reals(2, 7), 2), 4},
        {keel_irfft(numbers(2, 4), 1, 7), 7}, {keel_irfft(numbers(2, 4), 1, 6), 6},
    };
    assert_null(keel_context_error(keel));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(keel_shape(cases[i].given).rank, 2);
        assert_int_equal(keel_shape(cases[i].given).dims[0], 2);
        assert_int_equal(keel_shape(cases[i].given).dims[1], cases[i].last);
    }
    keel_step_discard(keel);
}

static void wrong_transforms_are_named(void **state) {
    (void)state;
    REFUSED(keel_fft(reals(2, 4), 1), "fft: f32[2,4] is not complex; keel_cast it, or keel_rfft");
    REFUSED(keel_irfft(reals(2, 4), 1, 6), "irfft: f32[2,4] is not complex");
    REFUSED(keel_rfft(numbers(2, 4), 1), "rfft: c64[2,4] is neither f32 nor f64");
    REFUSED(keel_ifft(numbers(2, 4), 0), "ifft: c64[2,4] does not have so many dimensions");
    REFUSED(keel_ifft(numbers(2, 4), 3), "ifft: c64[2,4] does not have so many dimensions");
    keel_tensor_t deep = keel_reshape(numbers(2, 8), KEEL_SHAPE(1, 1, 2, 1, 2, 2, 1, 2));
    REFUSED(keel_fft(deep, 4), "does not have so many dimensions, of at most 3");
    keel_tensor_t scalar = keel_sum(numbers(2, 4), KEEL_AXES(0, 1));
    REFUSED(keel_fft(scalar, 1), "fft: c64[] does not have so many dimensions");
    REFUSED(keel_fft(numbers(2, 0), 1), "fft: c64[2,0] has nothing to transform");
    REFUSED(keel_fft(numbers(0, 2), 2), "fft: c64[0,2] has nothing to transform");
    REFUSED(keel_irfft(numbers(2, 4), 1, 8), "irfft: c64[2,4] is not the half of a transform");
    REFUSED(keel_irfft(numbers(2, 1), 1, 0), "irfft: c64[2,1] is not the half of a transform");
}

static void a_loss_is_real(void **state) {
    (void)state;
    keel_tensor_t x = numbers(2, 3), gradient;
    keel_gradients(keel_sum(x, KEEL_AXES(0, 1)), &x, 1, &gradient);
    assert_true(keel_is_empty(gradient));
    expect_error("gradients: of c64[], which is not a scalar of floats");
    keel_tree_t *tree = new_tree();
    assert_true(keel_is_empty(keel_tree_add(tree, "w", KEEL_C64, KEEL_SCALAR, KEEL_UNSET)));
    expect_error("tree: w is c64, and a parameter is of floats");
    assert_true(keel_is_empty(keel_tree_state(tree, "s", KEEL_C64, KEEL_SCALAR, KEEL_UNSET)));
    expect_error("tree: s is c64, which checkpoints do not have");
    keel_tensor_t loose = keel_variable(keel, "v", KEEL_C128, KEEL_SCALAR, NULL);
    keel_tree_put(tree, "v", loose, 1);
    expect_error("tree: v is c128, which checkpoints do not have");
    keel_release(loose);
    keel_tree_free(tree);
}

static void empty_tensors_give_empty_ones(void **state) {
    (void)state;
    const keel_tensor_t none = {0};
    assert_true(keel_is_empty(keel_complex(none, none)));
    assert_true(keel_is_empty(keel_angle(none)));
    assert_true(keel_is_empty(keel_conj(none)));
    assert_true(keel_is_empty(keel_rfft(none, 1)));
    assert_true(keel_is_empty(keel_irfft(none, 1, 4)));
    assert_null(keel_context_error(keel));
}

// The values of the host have two parts; those of numbers and of fields have one.
static void complex_values_go_to_the_device_and_back(void **state) {
    (void)state;
    const double data[] = {1, 2, -3, 0.5};
    double out[4];
    keel_tensor_t x = keel_variable(keel, "x", KEEL_C128, KEEL_SHAPE(2), data);
    keel_assign(x, keel_multiply(keel_conj(x), keel_number(x, 2)));
    assert_ok(keel_step_end(keel));
    assert_ok(keel_read(x, out, sizeof out));
    assert_float_equal(out[0], 2, 0);
    assert_float_equal(out[1], -4, 0);
    assert_float_equal(out[2], -6, 0);
    assert_float_equal(out[3], -1, 0);
    keel_release(x);
    const keel_field_t field = {.name = "signal", .dtype = KEEL_C128, .shape = {1, {2}}, .fill = 7};
    const keel_host_array_t array = {"signal", KEEL_C128, KEEL_SHAPE(1), data};
    keel_batch_t *batch;
    assert_ok(keel_batch_create(keel, &field, 1, &batch));
    keel_batch_next(batch, &array, 1);
    assert_ok(keel_read(keel_batch_get(batch, "signal"), out, sizeof out));
    assert_float_equal(out[1], 2, 0);
    assert_float_equal(out[2], 7, 0);
    assert_float_equal(out[3], 0, 0);
    keel_step_discard(keel);
    keel_batch_free(batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_complex_numbers_do_not_have_is_named),
        cmocka_unit_test(wrong_parts_are_named),
        cmocka_unit_test(a_real_transform_has_half_the_size),
        cmocka_unit_test(wrong_transforms_are_named),
        cmocka_unit_test(a_loss_is_real),
        cmocka_unit_test(empty_tensors_give_empty_ones),
        cmocka_unit_test(complex_values_go_to_the_device_and_back),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
