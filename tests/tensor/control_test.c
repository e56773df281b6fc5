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

// ---- loops and branches ------------------------------------------------------------------------

static keel_tensor_t vector(const char *name, int64_t count) {
    static const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_true(count <= 8);
    return keel_variable(keel, name, KEEL_F32, KEEL_SHAPE(count), data);
}

// What bodies use from outside.
static keel_tensor_t outer;
static double rate;

static void times_rate(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_multiply(in[0], keel_number(in[0], rate));
}

static keel_scan_t three_steps(const keel_tensor_t *carry) {
    return (keel_scan_t){.carry = carry, .carry_count = 1, .length = 3};
}

static void a_number_in_a_body_makes_no_new_program(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 1), y;
    uint64_t before = keel_context_figures(keel).programs;
    float expected = 1;
    for (rate = 2; rate < 5; ++rate) {
        const keel_scan_t scan = three_steps(&x);
        keel_scan(keel, times_rate, NULL, &scan, &y);
        keel_assign(x, keel_add(y, keel_number(y, rate))); // one behind the body, too
        assert_ok(keel_step_end(keel));
        expected = expected * (float)(rate * rate * rate) + (float)rate;
    }
    assert_float_equal(item(x), expected, 1e-5 * expected);
    keel_step_discard(keel);
    assert_int_equal(keel_context_figures(keel).programs - before, 1);
}

static void what_a_body_traces_is_counted(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 1), y;
    const keel_scan_t scan = three_steps(&x);
    uint64_t before = keel_context_figures(keel).operations;
    rate = 1;
    keel_scan(keel, times_rate, NULL, &scan, &y);
    assert_true(keel_context_figures(keel).operations - before >= 4);
    keel_step_discard(keel);
}

static void uses_a_variable(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    out[0] = keel_add(in[0], *(keel_tensor_t *)user);
}

// Its first use may be in a body: it means the same before, in and behind it.
static void a_variable_is_of_no_body(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 1), v = scalar("v", 10), y;
    const keel_scan_t scan = three_steps(&x);
    keel_scan(keel, uses_a_variable, &v, &scan, &y);
    keel_assign(v, keel_add(v, y));
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(v), 41, 0);
}

static void less_than_100(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_less(in[0], keel_number(in[0], 100));
}

static void twice(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_add(in[0], in[0]);
}

static void a_loop_may_take_the_place_of_its_carry(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 3);
    keel_while(keel, less_than_100, twice, NULL, &x, 1, &x);
    assert_float_equal(item(x), 192, 0);
    keel_step_discard(keel);
}

// ---- misuse ------------------------------------------------------------------------------------

// The step fails with that text at a line of this file; afterwards the context works.
static void expect(const char *text, int line) {
    keel_status_t status = keel_step_end(keel);
    const char *message = keel_status_message(status);
    if (!status || !strstr(message, text) || !strstr(message, "control_test.c:"))
        fail_msg("line %d: '%s' has no '%s'", line, message, text);
    keel_status_ignore(status);
    keel_tensor_t x = scalar("fine", 1), y;
    const keel_scan_t scan = three_steps(&x);
    rate = 2;
    keel_scan(keel, times_rate, NULL, &scan, &y);
    keel_assign(x, y);
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(x), 8, 0);
    keel_release(x);
}
#define REFUSED(text, call)                                                                        \
    do {                                                                                           \
        call;                                                                                      \
        expect(text, __LINE__);                                                                    \
    } while (0)

static void scan_with(keel_body_t body, void *user) {
    keel_tensor_t x = vector("x", 2), y;
    const keel_scan_t scan = three_steps(&x);
    keel_scan(keel, body, user, &scan, &y);
    assert_true(keel_is_empty(y));
    assert_true(keel_is_empty(keel_add(y, y)));
}

static void gives_another_shape(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_pad(in[0], 0, 0, 1);
}

static void gives_another_dtype(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_cast(in[0], KEEL_BF16);
}

static void gives_nothing(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)in, (void)out;
}

static void gives_what_it_is_given(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)in;
    out[0] = *(keel_tensor_t *)user;
}

static void goes_wrong(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    keel_matmul(in[0], in[0]);
    out[0] = in[0];
}

static void goes_wrong_deep(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    const keel_scan_t scan = three_steps(in);
    keel_scan(keel, goes_wrong, user, &scan, out);
    keel_scan(keel, gives_nothing, user, &scan, out);
}

static void leaks(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    *(keel_tensor_t *)user = out[0] = keel_add(in[0], in[0]);
}

static void assigns(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    out[0] = in[0];
    keel_assign(*(keel_tensor_t *)user, in[0]);
}

static void keeps(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = in[0];
    assert_true(keel_is_empty(keel_keep(in[0])));
}

static void reads(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    float values[2];
    (void)user;
    out[0] = in[0];
    keel_status_t status = keel_read(in[0], values, sizeof values);
    assert_non_null(strstr(keel_status_message(status), "read: a body is being traced"));
    keel_status_ignore(status);
    keel_assign(outer, in[0]);
}

static void ends(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    keel_status_t status = keel_step_end(keel);
    assert_non_null(strstr(keel_status_message(status), "step_end: a body is being traced"));
    keel_status_ignore(status);
    out[0] = in[0];
}

static void discards(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    keel_step_discard(keel);
    out[0] = in[0];
}

static void what_a_body_does_wrong_is_named(void **state) {
    (void)state;
    keel_tensor_t leaked, v = vector("v", 2), foreign, old = keel_add(v, v);
    keel_context_t *other;
    float data[2] = {0};
    keel_step_discard(keel);
    assert_ok(keel_context_create(NULL, &other));
    foreign = keel_variable(other, "f", KEEL_F32, KEEL_SHAPE(2), data);
    REFUSED("scan: no body", scan_with(NULL, NULL));
    REFUSED("scan: carry 1 is f32[2], and the body makes f32[3] of it",
            scan_with(gives_another_shape, NULL));
    REFUSED("scan: carry 1 is f32[2], and the body makes bf16[2] of it",
            scan_with(gives_another_dtype, NULL));
    REFUSED("scan: the body gives no result 1", scan_with(gives_nothing, NULL));
    REFUSED("scan: result 1 of the body belongs to another context",
            scan_with(gives_what_it_is_given, &foreign));
    REFUSED("has ended; keel_keep", scan_with(gives_what_it_is_given, &old));
    REFUSED("matmul: f32[2] and f32[2] are not both matrices", scan_with(goes_wrong, NULL));
    REFUSED("matmul: f32[2] and f32[2] are not both matrices", scan_with(goes_wrong_deep, NULL));
    REFUSED("assign: a body is being traced", scan_with(assigns, &v));
    REFUSED("keep: a body is being traced", scan_with(keeps, NULL));
    outer = v;
    REFUSED("assign: a body is being traced", scan_with(reads, NULL));
    REFUSED("step_end: a body is being traced", scan_with(ends, NULL));
    REFUSED("step_discard: a body is being traced", scan_with(discards, NULL));
    keel_tensor_t x = scalar("x", 1), y;
    const keel_scan_t scan = three_steps(&x);
    keel_scan(keel, leaks, &leaked, &scan, &y);
    assert_false(keel_is_empty(y));
    REFUSED("add: an operand was made in a body that has ended", keel_add(leaked, y));
    keel_context_free(other);
}

static void gives_a_scalar(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)in;
    out[0] = keel_constant(outer, 1);
}

static void gives_outer(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)in;
    out[0] = outer;
}

static void what_loops_and_branches_refuse(void **state) {
    (void)state;
    keel_tensor_t x = outer = vector("x", 3), y[2], none = {0};
    const keel_tensor_t two[] = {x, vector("longer", 4)};
    keel_scan_t scan = {.carry = &x, .carry_count = 1};
    REFUSED("scan: 0 steps; give it a length", keel_scan(keel, twice, NULL, &scan, y));
    REFUSED("scan: nothing says over what", keel_scan(keel, twice, NULL, NULL, y));
    REFUSED("scan: no results, or no place", keel_scan(keel, twice, NULL, &scan, NULL));
    scan.length = -1;
    REFUSED("scan: -1 steps", keel_scan(keel, twice, NULL, &scan, y));
    scan = (keel_scan_t){.inputs = two, .input_count = 2, .output_count = 1};
    REFUSED("scan: input 2 is f32[4], and there are 3 steps along its axis 0",
            keel_scan(keel, twice, NULL, &scan, y));
    scan = (keel_scan_t){.input_count = 1, .output_count = 1};
    REFUSED("scan: no tensors", keel_scan(keel, twice, NULL, &scan, y));
    scan = (keel_scan_t){.carry = &none, .carry_count = 1, .length = 1};
    REFUSED("scan: operand 1 is empty", keel_scan(keel, twice, NULL, &scan, y));
    REFUSED("while: the condition is bool[3], and it must be a scalar of bool",
            keel_while(keel, less_than_100, twice, NULL, &x, 1, y));
    REFUSED("while: no body", keel_while(keel, NULL, twice, NULL, &x, 1, y));
    REFUSED("while: no results, or no place",
            keel_while(keel, less_than_100, twice, NULL, &x, 0, y));
    REFUSED("cond: the predicate is f32[3], and it must be a scalar of bool",
            keel_cond(x, gives_outer, gives_outer, NULL, 1, y));
    keel_tensor_t yes = keel_less(keel_constant(x, 0), keel_constant(x, 1));
    REFUSED("cond: result 1 is f32[3] in the first branch, and f32[] in branch 2",
            keel_cond(yes, gives_outer, gives_a_scalar, NULL, 1, y));
    yes = keel_less(keel_constant(x, 0), keel_constant(x, 1));
    REFUSED("cond: no body", keel_cond(yes, gives_outer, NULL, NULL, 1, y));
    const keel_body_t branches[] = {gives_outer};
    REFUSED("switch: the index is f32[3], and it must be a scalar integer",
            keel_switch(x, branches, 1, NULL, 1, y));
    keel_tensor_t index = keel_cast(keel_constant(x, 0), KEEL_I32);
    REFUSED("switch: no branches", keel_switch(index, branches, 0, NULL, 1, y));
    keel_scan(NULL, twice, NULL, &scan, y);
    keel_while(NULL, twice, twice, NULL, &x, 1, y);
    keel_cond(none, twice, twice, NULL, 1, y);
    assert_null(keel_context_error(keel));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_changes_no_value_and_no_gradient),
        cmocka_unit_test(a_number_in_a_body_makes_no_new_program),
        cmocka_unit_test(what_a_body_traces_is_counted),
        cmocka_unit_test(a_variable_is_of_no_body),
        cmocka_unit_test(a_loop_may_take_the_place_of_its_carry),
        cmocka_unit_test(what_a_body_does_wrong_is_named),
        cmocka_unit_test(what_loops_and_branches_refuse),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
