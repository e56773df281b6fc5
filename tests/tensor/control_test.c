// Control flow, gradients of one's own, barriers: what they compute, what makes a new program and
// what does not, and every way to misuse them.
#define _GNU_SOURCE
#include <math.h>

#include "unit/place.h"

#include "keel/keel.h" // after Keel's own headers, of which one has another keel_log

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

static keel_tensor_t scalar(const char *name, float value) {
    return keel_variable(keel, name, KEEL_F32, KEEL_SCALAR, &value);
}

static float item(keel_tensor_t x) {
    float value = NAN;
    assert_ok(keel_read(x, &value, sizeof value));
    return value;
}

// ---- barriers ----------------------------------------------------------------------------------

static void a_barrier_changes_no_value_and_no_gradient(void **state) {
    (void)state;
    keel_tensor_t x[2] = {scalar("x", 3), scalar("y", 5)}, passed[2], gradients[2];
    keel_barrier(x, 2, passed);
    keel_tensor_t loss = keel_multiply(keel_multiply(passed[0], passed[0]), passed[1]);
    keel_gradients(loss, x, 2, gradients);
    assert_float_equal(item(loss), 45, 0);
    assert_float_equal(item(gradients[0]), 30, 0);
    assert_float_equal(item(gradients[1]), 9, 0);
    keel_tensor_t alone; // of two results only one has a gradient
    keel_gradients(keel_multiply(passed[1], passed[1]), &x[1], 1, &alone);
    assert_float_equal(item(alone), 10, 0);
    keel_step_discard(keel);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_changes_no_value_and_no_gradient),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
