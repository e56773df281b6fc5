// Batches: whatever a loader gives becomes inputs of the declared shapes, or an error that names
// it.
#define _GNU_SOURCE
#include "model_help.h"

enum { B = 4, T = 6, F = 2 };

static const keel_field_t fields[] = {
    {.name = "tokens", .dtype = KEEL_I32, .shape = {2, {B, T}}, .is_required = 1, .mask_rank = 2},
    {.name = "loss_mask", .dtype = KEEL_F32, .shape = {2, {B, T}}, .fill = 1},
    {.name = "doc_ids", .dtype = KEEL_I32, .shape = {2, {B, T}}},
    {.name = "valid_token_count", .dtype = KEEL_I32, .shape = {1, {B}}, .fill = T, .mask_rank = 1},
    {.name = "fim_bounds", .dtype = KEEL_I32, .shape = {3, {B, F, 4}}, .fill = -1, .mask_rank = 2},
    {.name = "half", .dtype = KEEL_BF16, .shape = {0, {0}}, .fill = 0.5},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static int32_t tokens[B * T], bounds[B * F * 4];

static keel_batch_t *new_batch(void) {
    keel_batch_t *batch;
    for (int i = 0; i < B * T; ++i)
        tokens[i] = 100 + i;
    for (int i = 0; i < B * F * 4; ++i)
        bounds[i] = i;
    assert_ok(keel_batch_create(keel, fields, FIELDS, &batch));
    return batch;
}

static keel_host_array_t tokens_of(int64_t rows, int64_t columns) {
    return (keel_host_array_t){"tokens", KEEL_I32, KEEL_SHAPE(rows, columns), tokens};
}

// The elements of a tensor of the open step.
static void read_ints(keel_tensor_t x, int32_t *out, size_t count) {
    assert_ok(keel_read(keel_cast(x, KEEL_I32), out, count * sizeof *out));
}

static void what_is_absent_is_the_fill(void **state) {
    (void)state;
    int32_t got[B * F * 4];
    keel_batch_t *batch = new_batch();
    const keel_host_array_t arrays[] = {
        tokens_of(B, T),
        {"doc_ids", KEEL_F64, KEEL_SHAPE(0), NULL}, // empty: its dtype does not count
    };
    keel_batch_next(batch, arrays, 2);
    read_ints(keel_batch_get(batch, "tokens"), got, B * T);
    assert_memory_equal(got, tokens, sizeof tokens);
    read_ints(keel_batch_get(batch, "loss_mask"), got, B * T);
    assert_int_equal(got[B * T - 1], 1);
    read_ints(keel_batch_get(batch, "doc_ids"), got, B * T);
    assert_int_equal(got[0], 0);
    read_ints(keel_batch_get(batch, "valid_token_count"), got, B);
    assert_int_equal(got[B - 1], T);
    read_ints(keel_batch_get(batch, "fim_bounds"), got, B * F * 4);
    assert_int_equal(got[B * F * 4 - 1], -1);
    read_ints(keel_multiply(keel_batch_get(batch, "half"),
                            keel_constant(keel_batch_get(batch, "half"), 4)),
              got, 1);
    assert_int_equal(got[0], 2);
    read_ints(keel_batch_mask(batch, "tokens"), got, B * T);
    for (int i = 0; i < B * T; ++i)
        assert_int_equal(got[i], 1);
    read_ints(keel_batch_mask(batch, "fim_bounds"), got, B * F);
    for (int i = 0; i < B * F; ++i)
        assert_int_equal(got[i], 0);
    keel_step_discard(keel);
    keel_batch_free(batch);
}

static void what_is_short_is_filled(void **state) {
    (void)state;
    int32_t got[B * F * 4];
    keel_batch_t *batch = new_batch();
    const keel_host_array_t arrays[] = {
        {"fim_bounds", KEEL_I32, KEEL_SHAPE(3, 1, 3), bounds},
        tokens_of(3, 5),
        {"valid_token_count", KEEL_I32, KEEL_SHAPE(2), tokens},
    };
    keel_batch_next(batch, arrays, 3);
    read_ints(keel_batch_get(batch, "tokens"), got, B * T);
    for (int row = 0; row < B; ++row)
        for (int column = 0; column < T; ++column)
            assert_int_equal(got[row * T + column],
                             row < 3 && column < 5 ? 100 + row * 5 + column : 0);
    read_ints(keel_batch_mask(batch, "tokens"), got, B * T);
    for (int i = 0; i < B * T; ++i)
        assert_int_equal(got[i], i / T < 3 && i % T < 5);
    read_ints(keel_batch_get(batch, "fim_bounds"), got, B * F * 4);
    for (int i = 0; i < B * F * 4; ++i) {
        int row = i / (F * 4), cut = i / 4 % F, end = i % 4;
        assert_int_equal(got[i], row < 3 && cut < 1 && end < 3 ? row * 3 + end : -1);
    }
    read_ints(keel_batch_mask(batch, "fim_bounds"), got, B * F);
    for (int i = 0; i < B * F; ++i)
        assert_int_equal(got[i], i / F < 3 && i % F < 1);
    read_ints(keel_batch_get(batch, "valid_token_count"), got, B);
    assert_int_equal(got[1], 101);
    assert_int_equal(got[2], T);
    read_ints(keel_batch_mask(batch, "valid_token_count"), got, B);
    assert_int_equal(got[1] + 2 * got[2], 1);
    keel_step_discard(keel);
    keel_batch_free(batch);
}

// The fields that are missing in a step of the reference model's loader.
static void twenty_different_batches_are_one_program(void **state) {
    (void)state;
    static const float ones[B * T] = {[0] = 1, [1] = 1};
    float losses[20], zero = 0;
    keel_batch_t *batch = new_batch();
    keel_tensor_t sum = keel_variable(keel, "sum", KEEL_F32, KEEL_SCALAR, &zero);
    uint64_t before = programs();
    for (int step = 0; step < 20; ++step) {
        keel_host_array_t arrays[FIELDS];
        size_t count = 0;
        arrays[count++] = step == 19 ? tokens_of(1, 3) : tokens_of(B, T);
        if (step % 5 != 4)
            arrays[count++] =
                (keel_host_array_t){"fim_bounds", KEEL_I32, KEEL_SHAPE(B, F, 4), bounds};
        if (step % 7 != 6)
            arrays[count++] = (keel_host_array_t){"doc_ids", KEEL_I32, KEEL_SHAPE(B, T), tokens};
        if (step % 11 != 10)
            arrays[count++] =
                (keel_host_array_t){"loss_mask", KEEL_F32, KEEL_SHAPE(step % 3 ? B : 2, T), ones};
        if (step % 13 != 12)
            arrays[count++] = (keel_host_array_t){"valid_token_count", KEEL_I32,
                                                  KEEL_SHAPE(step % 2 ? B : 0), tokens};
        keel_batch_next(batch, arrays, count);
        keel_tensor_t mask = keel_batch_mask(batch, "tokens"),
                      got = keel_batch_get(batch, "tokens");
        keel_tensor_t all = keel_sum(
            keel_cast(keel_select(mask, got, keel_constant(got, 0)), KEEL_F32), KEEL_AXES(0, 1));
        for (size_t i = 1; i + 1 < FIELDS; ++i) {
            keel_tensor_t field = keel_batch_get(batch, fields[i].name);
            all = keel_add(all,
                           keel_multiply(keel_sum(keel_cast(field, KEEL_F32), keel_all_axes(field)),
                                         keel_constant(all, 1e-6)));
        }
        keel_assign(sum, all);
        assert_ok(keel_step_end(keel));
        losses[step] = item(sum);
    }
    assert_int_equal(programs() - before, 1);
    assert_float_equal(losses[0], 24 * 100 + 23 * 12, 0.1);
    assert_float_equal(losses[19], 100 + 101 + 102, 0.1);
    keel_batch_free(batch);
}

static void absent_and_given_as_the_fill_are_bit_equal(void **state) {
    (void)state;
    float ones[B * T], got[2];
    for (int i = 0; i < B * T; ++i)
        ones[i] = 1;
    keel_batch_t *batch = new_batch();
    for (int is_given = 0; is_given < 2; ++is_given) {
        const keel_host_array_t arrays[] = {tokens_of(B, T),
                                            {"loss_mask", KEEL_F32, KEEL_SHAPE(B, T), ones}};
        keel_batch_next(batch, arrays, is_given ? 2 : 1);
        keel_tensor_t weight = keel_batch_get(batch, "loss_mask");
        keel_tensor_t tanh = keel_tanh(keel_cast(keel_batch_get(batch, "tokens"), KEEL_F32));
        assert_ok(keel_read(keel_sum(keel_multiply(weight, tanh), KEEL_AXES(0, 1)), &got[is_given],
                            sizeof *got));
        keel_step_discard(keel);
    }
    assert_memory_equal(&got[0], &got[1], sizeof *got);
    keel_batch_free(batch);
}

static void what_is_wrong_is_named_with_both_shapes(void **state) {
    (void)state;
    keel_batch_t *batch = new_batch();
    const keel_host_array_t arrays[] = {
        {"tokens", KEEL_I64, KEEL_SHAPE(B, T), tokens},
        {"doc_ids", KEEL_I32, KEEL_SHAPE(B), tokens},
        {"fim_bounds", KEEL_I32, KEEL_SHAPE(B, F + 1, 4), bounds},
        {"loss_mask", KEEL_F32, KEEL_SHAPE(B, T), NULL},
        {"dep_level", KEEL_I32, KEEL_SHAPE(B, T), tokens},
        {"valid_token_count", (keel_dtype_t)99, KEEL_SHAPE(B), tokens},
        {"doc_ids", KEEL_I32, KEEL_SHAPE(B, T), tokens},
        {NULL, KEEL_I32, KEEL_SHAPE(B, T), tokens},
    };
    keel_batch_next(batch, arrays, sizeof arrays / sizeof *arrays);
    assert_true(keel_is_empty(keel_batch_get(batch, "tokens")));
    expect_error("batch_test.c",
                 "batch: tokens is i64[4,6], and declared as i32[4,6]: a different dtype; ",
                 "; doc_ids is i32[4], and declared as i32[4,6]: a different number of axes; ",
                 "fim_bounds is i32[4,3,4], and declared as i32[4,2,4]: axis 1 is too long",
                 "loss_mask has no data",
                 "dep_level is not a field; the fields are tokens, loss_mask, doc_ids",
                 "valid_token_count has an impossible dtype or shape", "doc_ids is there twice",
                 "an array without a name is not a field");
    keel_batch_next(batch, NULL, 0);
    expect_error("tokens is required as i32[4,6], and nothing was given");
    const keel_host_array_t empty = tokens_of(0, T);
    keel_batch_next(batch, &empty, 1);
    expect_error("tokens is required");
    const keel_host_array_t good = tokens_of(B, T);
    keel_batch_next(batch, &good, 1);
    keel_tensor_t old = keel_batch_get(batch, "tokens");
    keel_batch_get(batch, "token");
    expect_error("there is no field token");
    keel_batch_mask(batch, "doc_ids");
    expect_error("there is no mask of doc_ids");
    keel_add(old, keel_batch_get(batch, "tokens"));
    expect_error("has ended");
    keel_batch_free(batch);
}

static void wrong_declarations_are_refused(void **state) {
    (void)state;
    keel_batch_t *batch;
    keel_field_t two[2] = {fields[0], fields[0]};
    expect_status(keel_batch_create(keel, two, 2, &batch), "batch_test.c",
                  "tokens is declared twice");
    assert_null(batch);
    two[1].name = "";
    expect_status(keel_batch_create(keel, two, 2, &batch), "a field has no name");
    two[1].name = "x";
    two[1].mask_rank = 3;
    expect_status(keel_batch_create(keel, two, 2, &batch),
                  "x is i32[4,6], and its mask has 3 axes");
    two[1].mask_rank = 0;
    two[1].fill = 0.5;
    expect_status(keel_batch_create(keel, two, 2, &batch),
                  "x is filled with 0.5, which i32 cannot hold");
    two[1].shape.dims[0] = -1;
    expect_status(keel_batch_create(keel, two, 2, &batch), "x has an impossible dtype or shape");
    expect_status(keel_batch_create(keel, two, 0, &batch), "no fields");
    expect_status(keel_batch_create(NULL, two, 1, &batch), "no context");
    keel_batch_free(NULL);
    keel_batch_next(NULL, NULL, 0);
    assert_true(keel_is_empty(keel_batch_get(NULL, "x")));
}

#ifdef KEEL_FAULTS
static void every_allocation_may_fail(void **state) {
    (void)state;
    uint64_t nth = 0, reached;
    do {
        keel_batch_t *batch = NULL;
        const keel_host_array_t array = tokens_of(2, T);
        int32_t got = -1;
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = keel_batch_create(keel, fields, FIELDS, &batch);
        if (!status) {
            keel_batch_next(batch, &array, 1);
            keel_tensor_t x = keel_batch_get(batch, "tokens");
            if (!keel_is_empty(x))
                status = keel_read(keel_sum(x, KEEL_AXES(0, 1)), &got, sizeof got);
        }
        reached = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (!status && !keel_context_error(keel)) assert_int_equal(got, 12 * 100 + 66);
        keel_status_ignore(status);
        keel_step_discard(keel);
        keel_batch_free(batch);
    } while (reached >= nth++);
    assert_true(nth > 20);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_absent_is_the_fill),
        cmocka_unit_test(what_is_short_is_filled),
        cmocka_unit_test(twenty_different_batches_are_one_program),
        cmocka_unit_test(absent_and_given_as_the_fill_are_bit_equal),
        cmocka_unit_test(what_is_wrong_is_named_with_both_shapes),
        cmocka_unit_test(wrong_declarations_are_refused),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
