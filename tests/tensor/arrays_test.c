// Operations on places, sorting, scans along an axis, random numbers, named scopes: what they
// refuse, and what a new index, seed or count does not make: a new program.
#define _GNU_SOURCE
#include "compiler_leaks.h"
#include "model_help.h"

static keel_tensor_t table(int64_t rows, int64_t columns) {
    return keel_iota(keel, KEEL_F32, KEEL_SHAPE(rows, columns), 0);
}

static keel_tensor_t indices(int64_t count) {
    return keel_iota(keel, KEEL_I32, KEEL_SHAPE(count), 0);
}

static void wrong_indices_are_named(void **state) {
    (void)state;
    keel_tensor_t x = table(4, 3), i = indices(2);
    assert_true(keel_is_empty(keel_gather(x, x, 0)));
    expect_error("gather: f32[4,3] has no indices");
    x = table(4, 3), i = indices(2);
    assert_true(keel_is_empty(keel_gather(x, i, 2)));
    expect_error("gather: f32[4,3] does not have this axis", "arrays_test.c:");
    x = table(0, 3), i = indices(2);
    assert_true(keel_is_empty(keel_gather(x, i, 0)));
    expect_error("gather: f32[0,3] has nothing along this axis");
    x = table(4, 3), i = indices(2);
    assert_true(keel_is_empty(keel_take_along(x, i, 0)));
    expect_error("take_along: f32[4,3] and i32[2] differ in more than the size of that axis");
    x = table(4, 3), i = indices(2);
    assert_true(keel_is_empty(keel_scatter(KEEL_PUT_ADD, x, i, table(3, 3), 0)));
    expect_error("scatter: f32[3,3] cannot be put where f32[2,3] belongs");
    x = table(4, 3), i = indices(2);
    assert_true(keel_is_empty(keel_scatter(KEEL_PUT_SET, x, i, keel_cast(i, KEEL_I32), 0)));
    expect_error("scatter: i32[2] cannot be put where f32[2,3] belongs");
    x = table(4, 3), i = indices(2);
    assert_true(keel_is_empty(keel_scatter((keel_put_op_t)7, x, i, x, 0)));
    expect_error("scatter: there is no way 7 to put");
    keel_tensor_t mask = keel_less(table(4, 3), table(4, 3));
    assert_true(keel_is_empty(keel_scatter(KEEL_PUT_ADD, mask, indices(2), mask, 0)));
    expect_error("scatter: bool[4,3] cannot be put");
    x = keel_iota(keel, KEEL_F32, KEEL_SHAPE(2, 1, 1, 1, 1, 1, 1, 1), 0);
    assert_true(keel_is_empty(keel_gather(x, keel_iota(keel, KEEL_I32, KEEL_SHAPE(2, 2), 0), 0)));
    expect_error("give more than 8 dimensions");
}

static void wrong_parts_are_named(void **state) {
    (void)state;
    keel_tensor_t x = table(4, 3), start = keel_constant(indices(1), 0);
    assert_true(keel_is_empty(keel_dynamic_slice(x, 0, indices(2), 1)));
    expect_error("dynamic_slice: i32[2] is not a start");
    x = table(4, 3), start = keel_constant(indices(1), 0);
    assert_true(keel_is_empty(keel_dynamic_slice(x, 0, start, 5)));
    expect_error("dynamic_slice: f32[4,3] is shorter than that");
    x = table(4, 3), start = keel_constant(indices(1), 0);
    assert_true(keel_is_empty(keel_dynamic_slice(x, 0, start, -1)));
    expect_error("dynamic_slice: f32[4,3] is shorter than that");
    x = table(4, 3), start = keel_constant(indices(1), 0);
    assert_true(keel_is_empty(keel_dynamic_update(x, 0, start, table(2, 2))));
    expect_error("dynamic_update: f32[4,3] and f32[2,2] differ");
    x = table(4, 3), start = keel_constant(indices(1), 0);
    assert_true(keel_is_empty(keel_dynamic_update(x, 0, start, table(5, 3))));
    expect_error("dynamic_update: f32[4,3] is shorter than that");
    x = table(4, 3), start = keel_constant(indices(1), 0);
    assert_true(keel_is_empty(keel_dynamic_update(x, 0, start, keel_constant(x, 1))));
    expect_error("dynamic_update: f32[4,3] and f32[] differ");
    x = table(4, 3);
    assert_true(keel_is_empty(keel_stride(x, 0, 0, 4, 0)));
    expect_error("stride: a step of 0");
    x = table(4, 3);
    assert_true(keel_is_empty(keel_stride(x, 1, 0, 4, 2)));
    expect_error("stride: [0, 4) is not in axis 1 of f32[4,3]");
    x = table(4, 3);
    assert_true(keel_is_empty(keel_reverse(x, KEEL_AXES(0, 0))));
    expect_error("reverse: f32[4,3] does not have these axes, each once");
}

static void wrong_sorts_are_named(void **state) {
    (void)state;
    keel_tensor_t many[KEEL_SORT_LIMIT + 1], out[KEEL_SORT_LIMIT + 1], places;
    assert_true(keel_is_empty(keel_sort(table(4, 3), 5, KEEL_ASCENDING)));
    expect_error("sort: f32[4,3] does not have this axis");
    assert_true(keel_is_empty(keel_sort(table(4, 3), 0, (keel_order_t)2)));
    expect_error("sort: there is no order 2");
    many[0] = table(4, 3), many[1] = table(3, 3);
    keel_sort_together(many, 2, 0, KEEL_ASCENDING, out, &places);
    assert_true(keel_is_empty(out[0]) && keel_is_empty(out[1]) && keel_is_empty(places));
    expect_error("sort_together: f32[4,3] and f32[3,3] differ in shape");
    for (int i = 0; i <= KEEL_SORT_LIMIT; ++i)
        many[i] = table(4, 3);
    keel_sort_together(many, KEEL_SORT_LIMIT + 1, 0, KEEL_ASCENDING, out, &places);
    assert_true(keel_is_empty(out[0]) && keel_is_empty(places));
    expect_error("sort_together: 9 tensors; it takes 8");
    keel_sort_together(NULL, 3, 0, KEEL_ASCENDING, out, NULL);
    keel_top_k(table(4, 3), 4, out, &places);
    expect_error("top_k: there are no 4 elements along the last axis of f32[4,3]");
    keel_top_k(keel_constant(table(1, 1), 0), 1, out, &places);
    expect_error("top_k: f32[] does not have this axis");
    assert_true(keel_is_empty(keel_argmax(table(0, 3), 0)));
    expect_error("argmax: f32[0,3] has nothing");
    assert_true(keel_is_empty(keel_argmin(table(4, 3), -3)));
    expect_error("argmin: f32[4,3] does not have this axis");
}

static void lose_a_row(void *user, const keel_tensor_t *x, const keel_tensor_t *y,
                       keel_tensor_t *out) {
    (void)user, (void)y;
    out[0] = keel_slice(x[0], 1, 0, 1);
}

static void give_nothing(void *user, const keel_tensor_t *x, const keel_tensor_t *y,
                         keel_tensor_t *out) {
    (void)user, (void)x, (void)y, (void)out;
}

static void keep_a_sum(void *user, const keel_tensor_t *x, const keel_tensor_t *y,
                       keel_tensor_t *out) {
    (void)user;
    out[0] = keel_keep(keel_add(x[0], y[0]));
}

static void wrong_scans_are_named(void **state) {
    (void)state;
    keel_tensor_t x[2] = {table(4, 3), table(5, 3)}, out[2];
    keel_associative_scan(lose_a_row, NULL, x, 2, 0, 0, out);
    assert_true(keel_is_empty(out[0]) && keel_is_empty(out[1]));
    expect_error("associative_scan: f32[4,3] and f32[5,3] differ in size along the axis");
    x[0] = table(4, 3);
    keel_associative_scan(lose_a_row, NULL, x, 1, 0, 0, out);
    expect_error("associative_scan: the combination makes f32[2,1] of f32[2,3]");
    x[0] = table(4, 3);
    keel_associative_scan(give_nothing, NULL, x, 1, 0, 1, out);
    expect_error("associative_scan: the combination makes");
    x[0] = table(4, 3);
    keel_associative_scan(keep_a_sum, NULL, x, 1, 0, 0, out);
    expect_error("keep: a body is being traced");
    x[0] = table(4, 3);
    keel_associative_scan(NULL, NULL, x, 1, 0, 0, out);
    expect_error("associative_scan: no combination");
    assert_true(keel_is_empty(keel_cumulate(KEEL_OP_SUBTRACT, table(4, 3), 0)));
    expect_error("cumulate: operation 1 is not associative");
    assert_true(keel_is_empty(keel_cumsum(table(4, 3), 2)));
    expect_error("cumsum: f32[4,3] does not have this axis");
    assert_true(keel_is_empty(keel_cumlogsumexp(indices(4), 0)));
    expect_error("cumlogsumexp: i32[4] is not of floats; keel_cast it", "arrays_test.c:");
    assert_true(keel_is_empty(keel_cumlogsumexp(table(4, 3), -3)));
    expect_error("cumlogsumexp: f32[4,3] does not have this axis");
}

static void wrong_bits_and_keys_are_named(void **state) {
    (void)state;
    assert_true(keel_is_empty(keel_bitcast(table(2, 2), KEEL_I16)));
    expect_error("bitcast: f32[2,2] does not have the bits of i16");
    assert_true(keel_is_empty(keel_bitcast(table(2, 2), (keel_dtype_t)99)));
    expect_error("bitcast: f32[2,2] does not have the bits of ");
    assert_true(keel_is_empty(keel_is_finite(indices(2))));
    expect_error("is_finite: i32[2] has a dtype without it");
    assert_true(keel_is_empty(keel_shift_left(table(2, 2), table(2, 2))));
    expect_error("shift_left: f32[2,2] has a dtype without it");
    keel_tensor_t key = keel_random_key(keel, 1);
    assert_true(keel_is_empty(keel_random_bits(indices(2), KEEL_SHAPE(3))));
    expect_error("random_bits: i32[2] is not a key: that is u32[2]");
    key = keel_random_key(keel, 1);
    assert_true(keel_is_empty(keel_random_normal(key, KEEL_SHAPE(INT64_MAX, 3))));
    expect_error("random_normal: no shape, or one with too many elements");
    key = keel_random_key(keel, 1);
    assert_true(keel_is_empty(keel_random_integers(key, KEEL_SHAPE(3), 4, 4)));
    expect_error("random_integers: [4, 4) has none");
    key = keel_random_key(keel, 1);
    assert_true(keel_is_empty(keel_random_fold(key, table(2, 2))));
    expect_error("random_fold: f32[2,2] is not a scalar integer");
}

static void empty_tensors_give_empty_ones(void **state) {
    (void)state;
    const keel_tensor_t none = {0};
    keel_tensor_t out[2], places;
    assert_true(keel_is_empty(keel_gather(none, none, 0)));
    assert_true(keel_is_empty(keel_put_along(KEEL_PUT_ADD, none, none, none, 0)));
    assert_true(keel_is_empty(keel_dynamic_slice(none, 0, none, 1)));
    assert_true(keel_is_empty(keel_dynamic_update(none, 0, none, none)));
    assert_true(keel_is_empty(keel_sort(none, 0, KEEL_ASCENDING)));
    assert_true(keel_is_empty(keel_argmax(none, 0)));
    assert_true(keel_is_empty(keel_cumsum(none, 0)));
    assert_true(keel_is_empty(keel_cumlogsumexp(none, 0)));
    assert_true(keel_is_empty(keel_max_pool(none, &(keel_window_t){.count = 1})));
    assert_true(keel_is_empty(keel_mean_pool(none, NULL)));
    assert_true(keel_is_empty(keel_bitcast(none, KEEL_I32)));
    assert_true(keel_is_empty(keel_random_uniform(none, KEEL_SCALAR, 0, 1)));
    assert_true(keel_is_empty(keel_random_key(NULL, 1)));
    keel_top_k(none, 1, out, &places);
    keel_random_split(none, 2, out);
    assert_true(keel_is_empty(out[0]) && keel_is_empty(places));
    assert_null(keel_context_error(keel));
    keel_random_split(keel_random_key(keel, 1), 2, NULL);
    expect_error("random_split: no place for the keys");
}

// The index, the seed, what is folded into it and the bounds are values.
static void what_varies_makes_no_new_program(void **state) {
    (void)state;
    keel_tensor_t cache = keel_variable(keel, "cache", KEEL_F32, KEEL_SHAPE(8), NULL);
    keel_assign(cache, keel_broadcast(keel_constant(table(1, 1), 0), KEEL_SHAPE(8)));
    assert_ok(keel_step_end(keel));
    uint64_t before = programs();
    for (int32_t step = 0; step < 8; ++step) {
        keel_tensor_t place = keel_input(keel, "place", KEEL_I32, KEEL_SCALAR, &step);
        keel_tensor_t key = keel_random_fold(keel_random_key(keel, 7u + (unsigned)step), place);
        keel_tensor_t value = keel_random_uniform(key, KEEL_SHAPE(1), 1 + step / 16.0, 2);
        keel_assign(cache, keel_dynamic_update(cache, 0, place, value));
        assert_ok(keel_step_end(keel));
    }
    assert_int_equal(programs() - before, 1);
    float values[8];
    assert_ok(keel_read(cache, values, sizeof values));
    for (int i = 0; i < 8; ++i)
        assert_true(values[i] >= 1 && values[i] < 2 && (!i || values[i] != values[i - 1]));
    keel_release(cache);
}

// By jax.random.fold_in(jax.random.key(1), 3).
static void numbers_that_a_key_gives_are_those_of_jax(void **state) {
    (void)state;
    uint32_t words[2];
    keel_tensor_t three = keel_constant(indices(1), 3);
    assert_ok(keel_read(keel_random_fold(keel_random_key(keel, 1), three), words, sizeof words));
    assert_int_equal(words[0], 0xd4aee86f);
    assert_int_equal(words[1], 0xa494579e);
}

static void what_is_put_beyond_the_end_comes_to_the_last_place(void **state) {
    (void)state;
    const int32_t places[] = {-4, 1, 9};
    const float given[] = {5, 6, 7};
    float values[4];
    keel_tensor_t i = keel_input(keel, "places", KEEL_I32, KEEL_SHAPE(3), places);
    keel_tensor_t x = keel_input(keel, "given", KEEL_F32, KEEL_SHAPE(3), given);
    keel_tensor_t zeros = keel_broadcast(keel_constant(x, 0), KEEL_SHAPE(4));
    assert_ok(keel_read(keel_scatter(KEEL_PUT_SET, zeros, i, x, 0), values, sizeof values));
    assert_memory_equal(values, ((const float[]){5, 6, 0, 7}), sizeof values);
}

static void a_product_has_the_dtype_of_both(void **state) {
    (void)state;
    float expected[4];
    int32_t values[4];
    assert_ok(keel_read(keel_matmul(table(2, 3), table(3, 2)), expected, sizeof expected));
    for (int i = 0; i < 2; ++i) {
        keel_tensor_t x = keel_cast(table(2, 3), i ? KEEL_I32 : KEEL_I8);
        keel_tensor_t y = keel_cast(table(3, 2), i ? KEEL_I8 : KEEL_I32);
        assert_ok(keel_read(keel_matmul(x, y), values, sizeof values));
        for (int k = 0; k < 4; ++k)
            assert_int_equal(values[k], (int32_t)expected[k]);
    }
}

static void wrong_convolutions_are_named(void **state) {
    (void)state;
    const keel_convolution_t two = {.groups = 2}, back = {.stride = {-1}},
                             less = {.before = {-5}, .after = {-4}};
    keel_tensor_t x = keel_iota(keel, KEEL_F32, KEEL_SHAPE(2, 3, 8), 0);
    keel_tensor_t w = keel_iota(keel, KEEL_F32, KEEL_SHAPE(4, 3, 3), 0);
    assert_true(keel_is_empty(keel_convolution(x, w, &two)));
    expect_error("convolution: f32[2,3,8] and f32[4,3,3] do not fit");
    x = keel_iota(keel, KEEL_F32, KEEL_SHAPE(2, 3, 8), 0);
    w = keel_iota(keel, KEEL_F32, KEEL_SHAPE(4, 3, 3), 0);
    assert_true(keel_is_empty(keel_convolution(x, w, &back)));
    expect_error("with a stride, padding or dilation that is not possible");
    x = keel_iota(keel, KEEL_F32, KEEL_SHAPE(2, 3, 8), 0);
    w = keel_iota(keel, KEEL_F32, KEEL_SHAPE(4, 3, 3), 0);
    assert_true(keel_is_empty(keel_convolution(x, w, &less)));
    expect_error("with a stride, padding or dilation that is not possible");
    assert_true(keel_is_empty(keel_convolution(table(4, 3), table(4, 3), NULL)));
    expect_error("of one rank above 2");
    x = keel_iota(keel, KEEL_I32, KEEL_SHAPE(2, 3, 8), 0);
    assert_true(keel_is_empty(keel_convolution(x, x, NULL)));
    expect_error("convolution: i32[2,3,8] and i32[2,3,8] are not of one dtype of floats");
    const struct {
        const char *text, *error;
    } sums[] = {{"ij", "is not of the form"},       {"ij,jk", "is not of the form"},
                {"ii,jk->ik", "a letter twice"},    {"ij,jk->iz", "that no operand has"},
                {"i,jk->ik", "has 1 axes for f32"}, {"i-,jk->ik", "is not of the form"},
                {NULL, "is not of the form"},       {"ij,jk->ik ", "is not of the form"},
                {"abcdefghi,a->a", "more than 8"}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; ++i) {
        assert_true(keel_is_empty(keel_einsum(sums[i].text, table(4, 3), table(3, 4))));
        expect_error("einsum: ", sums[i].error);
    }
    assert_true(keel_is_empty(keel_einsum("ij,jk->ik", table(4, 3), table(4, 3))));
    expect_error("einsum: f32[4,3] and f32[4,3] do not fit");
}

static void wrong_windows_are_named(void **state) {
    (void)state;
    keel_window_t window = {.count = 1, .size = {2}};
    assert_true(keel_is_empty(keel_reduce_window(KEEL_OP_PRODUCT, table(4, 3), &window)));
    expect_error("reduce_window: reduction 3 is not sum, max or min", "arrays_test.c:");
    assert_true(keel_is_empty(keel_max_pool(keel_less(table(4, 3), table(4, 3)), &window)));
    expect_error("max_pool: bool[4,3] is not of integers or floats");
    assert_true(keel_is_empty(keel_sum_pool(table(4, 3), NULL)));
    expect_error("sum_pool: f32[4,3] does not have as many dimensions as the window");
    keel_tensor_t scalar = keel_sum(table(4, 3), KEEL_AXES(0, 1));
    assert_true(keel_is_empty(keel_mean_pool(scalar, &window)));
    expect_error("mean_pool: f32[] does not have as many dimensions as the window");
    assert_true(keel_is_empty(keel_mean_pool(indices(4), &window)));
    expect_error("mean_pool: of i32; keel_cast it");
    window.count = -1;
    assert_true(keel_is_empty(keel_min_pool(table(4, 3), &window)));
    expect_error("min_pool: f32[4,3] does not have as many dimensions");
    const keel_window_t wrong[] = {
        {.count = 1, .size = {-1}},        {.count = 1, .stride = {-2}},
        {.count = 1, .before = {-1}},      {.count = 1, .after = {INT64_MAX}},
        {.count = 2, .dilation = {1, -1}}, {.count = 1, .size = {INT64_MAX}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        assert_true(keel_is_empty(keel_max_pool(table(4, 3), &wrong[i])));
        expect_error("max_pool: f32[4,3] with a size, stride, padding or dilation that is "
                     "not possible");
    }
    const keel_window_t dilated = {.count = 1, .size = {2}, .dilation = {2}};
    keel_tensor_t x = table(4, 3), gradient;
    keel_gradients(keel_sum(keel_max_pool(x, &dilated), KEEL_AXES(0, 1)), &x, 1, &gradient);
    assert_true(keel_is_empty(gradient));
    expect_error("max_pool: of max and min with dilation there is no gradient");
}

static void custom_calls_are_in_the_program(void **state) {
    (void)state;
    const keel_call_result_t one = {KEEL_F32, KEEL_SHAPE(4, 3)};
    keel_custom_call_t call = {.target = "Sharding", .results = &one, .result_count = 1};
    keel_tensor_t x = table(4, 3), out = {0};
    keel_custom_call(keel, &call, &x, 1, &out); // XLA takes it out of a program for one device
    float values[12];
    assert_ok(keel_read(out, values, sizeof values));
    for (int i = 0; i < 12; ++i)
        assert_float_equal(values[i], (float)(i / 3), 0);
    keel_step_discard(keel);
    call.target = "nobody_knows_this";
    call.config = "{n = 1 : i32}";
    call.is_ffi = 1;
    x = table(4, 3);
    keel_custom_call(keel, &call, &x, 1, &out);
    expect_status(keel_read(out, values, sizeof values), "nobody_knows_this");
    keel_step_discard(keel);
}

static void wrong_custom_calls_are_named(void **state) {
    (void)state;
    const keel_call_result_t one = {KEEL_F32, KEEL_SHAPE(4, 3)},
                             none = {(keel_dtype_t)99, {0, {0}}};
    keel_custom_call_t call = {.target = "f", .results = &one, .result_count = 1};
    keel_tensor_t x = table(4, 3), out;
    keel_custom_call(NULL, &call, &x, 1, &out);
    keel_custom_call(keel, NULL, &x, 1, &out);
    expect_error("custom_call: no target");
    x = table(4, 3);
    keel_custom_call(keel, &call, NULL, 1, &out);
    expect_error("custom_call: f has no operands or results to go with");
    call.results = &none;
    keel_custom_call(keel, &call, NULL, 0, &out);
    expect_error("custom_call: result 1 of f has no dtype or shape");
    call = (keel_custom_call_t){.target = "\xff", .results = &one, .result_count = 1};
    keel_custom_call(keel, &call, NULL, 0, &out);
    expect_error("not UTF-8");
    call = (keel_custom_call_t){.target = "f", .results = &one, .result_count = 1};
    keel_tensor_t empty = {0};
    keel_custom_call(keel, &call, &empty, 1, &out);
    assert_true(keel_is_empty(out));
    keel_step_discard(keel);
}

// ---- named scopes ------------------------------------------------------------------------------

static void names_make_no_new_program(void **state) {
    (void)state;
    uint64_t before = programs();
    float one = 1;
    keel_tensor_t w = keel_variable(keel, "w", KEEL_F32, KEEL_SCALAR, &one);
    for (int step = 0; step < 4; ++step) {
        char name[32];
        snprintf(name, sizeof name, "step %d", step);
        keel_scope_begin(keel, name);
        keel_assign(w, keel_add(w, w));
        if (step % 2) keel_scope_end(keel); // the end of the step ends the others
        assert_ok(keel_step_end(keel));
    }
    assert_int_equal(programs() - before, 1);
    assert_float_equal(item(w), 16, 0);
    keel_release(w);
}

static void wrong_scopes_are_named(void **state) {
    (void)state;
    keel_scope_begin(NULL, "nothing");
    keel_scope_end(NULL);
    keel_scope_end(keel); // one too many
    keel_scope_begin(keel, NULL);
    keel_scope_begin(keel, "behind an error");
    keel_scope_end(keel);
    keel_scope_end(keel);
    expect_error("scope: the name is missing", "arrays_test.c:");
    keel_scope_begin(keel, "\xff");
    expect_error("not UTF-8");
    for (int i = 0; i < 65; ++i)
        keel_scope_begin(keel, "again");
    expect_error("scope: 64 are open; keel_scope_end was not called");
    keel_scope_begin(keel, "");
    assert_float_equal(item(keel_sum(table(2, 2), KEEL_AXES(0, 1))), 2, 0);
    keel_step_discard(keel);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_indices_are_named),
        cmocka_unit_test(wrong_parts_are_named),
        cmocka_unit_test(wrong_sorts_are_named),
        cmocka_unit_test(wrong_scans_are_named),
        cmocka_unit_test(wrong_bits_and_keys_are_named),
        cmocka_unit_test(empty_tensors_give_empty_ones),
        cmocka_unit_test(what_varies_makes_no_new_program),
        cmocka_unit_test(numbers_that_a_key_gives_are_those_of_jax),
        cmocka_unit_test(what_is_put_beyond_the_end_comes_to_the_last_place),
        cmocka_unit_test(a_product_has_the_dtype_of_both),
        cmocka_unit_test(wrong_convolutions_are_named),
        cmocka_unit_test(wrong_windows_are_named),
        cmocka_unit_test(custom_calls_are_in_the_program),
        cmocka_unit_test(wrong_custom_calls_are_named),
        cmocka_unit_test(names_make_no_new_program),
        cmocka_unit_test(wrong_scopes_are_named),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
