// The numbers of a program on the devices: what is sent, and what is there already.
#define _GNU_SOURCE
#include "model_help.h"
#include "tensor/trace.h"

enum { ARGUMENTS = 3 };
static sent_numbers_t sent;

static int open_numbers(void **state) {
    (void)state;
    sent = (sent_numbers_t){0};
    assert_ok(sent_open(ARGUMENTS, device_lanes(keel->device), &sent));
    return 0;
}

static int close_numbers(void **state) {
    (void)state;
    sent_close(keel->device, &sent);
    return 0;
}

static PJRT_Buffer *find(uint32_t which, keel_dtype_t dtype, double value) {
    const number_t number = {value, dtype, "value"};
    PJRT_Buffer **buffers;
    assert_ok(sent_find(keel, &sent, which, &number, &buffers));
    assert_non_null(buffers[0]);
    return buffers[0];
}

static float value_of(PJRT_Buffer *buffer) {
    const keel_shape_t scalar = {0};
    const layout_t layout = {KEEL_F32, &scalar, &keel->shardings.data[SHARDING_WHOLE]};
    float value = NAN;
    assert_ok(device_receive(keel->device, &layout, &buffer, &value));
    return value;
}

static void a_number_stays_until_it_changes(void **state) {
    (void)state;
    PJRT_Buffer *first = find(0, KEEL_F32, 0.5);
    for (int step = 0; step < 3; ++step) {
        assert_ptr_equal(find(0, KEEL_F32, 0.5), first);
        assert_float_equal(value_of(find(1, KEEL_F32, 0.25 + step)), 0.25 + step, 0);
    }
    assert_float_equal(value_of(first), 0.5, 0);
    assert_float_equal(value_of(find(0, KEEL_F32, 0.25)), 0.25, 0);
}

static void equal_numbers_are_sent_once(void **state) {
    (void)state;
    PJRT_Buffer *all = find(0, KEEL_F32, 3);
    assert_ptr_equal(find(1, KEEL_F32, 3), all);
    assert_ptr_equal(find(2, KEEL_F32, 3), all);
    PJRT_Buffer *other = find(1, KEEL_F32, 4); // the others still have it
    assert_ptr_not_equal(other, all);
    assert_ptr_equal(find(0, KEEL_F32, 3), all);
    assert_ptr_equal(find(2, KEEL_F32, 4), other);
    assert_float_equal(value_of(find(0, KEEL_F32, 3)), 3, 0);
    assert_float_equal(value_of(find(0, KEEL_F32, 5)), 5, 0);
    assert_float_equal(value_of(other), 4, 0);
}

static void what_differs_in_a_bit_or_the_dtype_is_not_equal(void **state) {
    (void)state;
    PJRT_Buffer *zero = find(0, KEEL_F32, 0);
    assert_ptr_not_equal(find(1, KEEL_F32, -0.0), zero);
    assert_ptr_not_equal(find(2, KEEL_I32, 0), zero);
    PJRT_Buffer *nan = find(1, KEEL_F32, NAN);
    assert_ptr_equal(find(1, KEEL_F32, NAN), nan);
    assert_ptr_equal(find(2, KEEL_F32, 1e-300), zero); // in f32
}

// Places are given up and taken in any order.
static void numbers_change_as_they_like(void **state) {
    (void)state;
    uint32_t seed = 1;
    double expected[ARGUMENTS] = {0};
    PJRT_Buffer *buffers[ARGUMENTS] = {NULL};
    for (int step = 0; step < 200; ++step) {
        uint32_t which = (seed = seed * 1664525u + 1013904223u) >> 16;
        expected[which % ARGUMENTS] = (seed >> 8) % 4;
        for (uint32_t i = 0; i < ARGUMENTS; ++i)
            buffers[i] = find(i, KEEL_F32, expected[i]);
        for (uint32_t i = 0; i < ARGUMENTS; ++i) {
            assert_float_equal(value_of(buffers[i]), expected[i], 0);
            for (uint32_t j = 0; j < i; ++j)
                assert_true((buffers[i] == buffers[j]) == (expected[i] == expected[j]));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_number_stays_until_it_changes, open_numbers,
                                        close_numbers),
        cmocka_unit_test_setup_teardown(equal_numbers_are_sent_once, open_numbers, close_numbers),
        cmocka_unit_test_setup_teardown(numbers_change_as_they_like, open_numbers, close_numbers),
        cmocka_unit_test_setup_teardown(what_differs_in_a_bit_or_the_dtype_is_not_equal,
                                        open_numbers, close_numbers),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
