// Control flow, gradients of one's own, barriers: what they compute, what makes a new program and
// what does not, and every way to misuse them.
#define _GNU_SOURCE
#include <math.h>

#include "pjrt/memory.h"
#include "shim/shim.h"
#include "tensor/trace.h"
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

static void takes_a_place(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_add(in[0], in[1]);
    out[1] = keel_reshape(in[1], KEEL_SHAPE(1));
}

static void a_loop_gives_a_carry_and_an_output_and_no_more(void **state) {
    (void)state;
    for (int64_t length = 0; length < 3; ++length) {
        keel_tensor_t x = scalar("x", 1), places = keel_iota(keel, KEEL_F32, KEEL_SHAPE(length), 0);
        keel_tensor_t out[3] = {x, x, x};
        const keel_scan_t scan = {
            .carry = &x, .carry_count = 1, .inputs = &places, .input_count = 1, .output_count = 1};
        keel_scan(keel, takes_a_place, NULL, &scan, out);
        assert_null(keel_context_error(keel));
        assert_memory_equal(&out[2], &x, sizeof x);
        assert_int_equal(keel_shape(out[0]).rank, 0);
        assert_int_equal(keel_shape(out[1]).rank, 2);
        assert_int_equal(keel_shape(out[1]).dims[0], length);
        keel_step_discard(keel);
    }
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
    REFUSED("cond: the predicate is bool[3], and it must be a scalar of bool",
            keel_cond(keel_less(x, x), gives_outer, gives_outer, NULL, 1, y));
    REFUSED("cond: the predicate is f32[], and it must be a scalar of bool",
            keel_cond(keel_constant(x, 0), gives_outer, gives_outer, NULL, 1, y));
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

static void less_and_twice(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    keel_while(keel, less_than_100, twice, NULL, in, 1, out);
}

// A while loop has no gradient, and behind keel_stop_gradient none is asked for.
static void stopped_gradients_refuse_nothing(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 2), y, g;
    keel_tensor_t stopped = keel_stop_gradient(x);
    keel_while(keel, less_than_100, twice, NULL, &stopped, 1, &y);
    keel_gradients(keel_multiply(x, y), &x, 1, &g);
    float value;
    assert_ok(keel_read(g, &value, sizeof value));
    assert_float_equal(value, 128, 0);
    keel_step_discard(keel);
    keel_release(x);
}

static void gives_no_gradient(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)in, (void)out;
}

static void what_gradients_refuse(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 2), y, g, foreign, none = {0};
    keel_context_t *other;
    keel_scan_t scan = three_steps(&x);
    const keel_custom_t good = {twice, gives_no_gradient, NULL, &x, 1, 1, 0};
    assert_ok(keel_context_create(NULL, &other));
    foreign = keel_variable(other, "f", KEEL_F32, KEEL_SCALAR, &(float){0});
    REFUSED(
        "while: it has no gradient, as its steps are not known; use keel_scan with the most steps",
        (keel_while(keel, less_than_100, twice, NULL, &x, 1, &y), keel_gradients(y, &x, 1, &g)));
    REFUSED("while: it has no gradient",
            (keel_scan(keel, less_and_twice, NULL, &scan, &y), keel_gradients(y, &x, 1, &g)));
    scan.save = (keel_save_t)7;
    REFUSED("scan: there is no policy 7", keel_scan(keel, twice, NULL, &scan, &y));
    REFUSED("checkpoint: there is no policy -1",
            keel_checkpoint(keel, twice, NULL, (keel_save_t)-1, &x, 1, 1, &y));
    REFUSED("checkpoint: no body", keel_checkpoint(keel, NULL, NULL, KEEL_SAVE_ALL, &x, 1, 1, &y));
    REFUSED("checkpoint: operand 1 belongs to another context",
            keel_checkpoint(keel, twice, NULL, KEEL_SAVE_ALL, &foreign, 1, 1, &y));
    REFUSED("checkpoint: no results",
            keel_checkpoint(keel, twice, NULL, KEEL_SAVE_ALL, &x, 1, 0, &y));
    keel_custom_t bad = good;
    bad.backward = NULL;
    REFUSED("custom_gradient: a forward and a backward", keel_custom_gradient(keel, &bad, &y));
    REFUSED("custom_gradient: nothing says of what", keel_custom_gradient(keel, NULL, &y));
    REFUSED("custom_gradient: a forward and a backward", keel_custom_gradient(keel, &good, NULL));
    bad = good;
    bad.inputs = &foreign;
    REFUSED("custom_gradient: input 1 belongs to another", keel_custom_gradient(keel, &bad, &y));
    bad.inputs = &none;
    REFUSED("custom_gradient: input 1 is empty", keel_custom_gradient(keel, &bad, &y));
    bad = good;
    bad.saved_count = 1;
    REFUSED("custom_gradient: result 2 is empty", keel_custom_gradient(keel, &bad, &y));
    bad = good;
    bad.backward = gives_what_it_is_given;
    bad.user = &foreign;
    REFUSED("custom_gradient: gradient 1 belongs to another context",
            (keel_custom_gradient(keel, &bad, &y), keel_gradients(y, &x, 1, &g)));
    keel_tensor_t v = vector("v", 3);
    bad.user = &v;
    REFUSED("custom_gradient: input 1 is f32[], and its gradient is f32[3]",
            (keel_custom_gradient(keel, &bad, &y), keel_gradients(y, &x, 1, &g)));
    bad.backward = keeps;
    REFUSED("keep: a body is being traced",
            (keel_custom_gradient(keel, &bad, &y), keel_gradients(y, &x, 1, &g)));
    bad.forward = ends;
    REFUSED("step_end: a body is being traced", keel_custom_gradient(keel, &bad, &y));
    bad.forward = twice;
    bad.backward = goes_wrong;
    REFUSED("matmul", (keel_custom_gradient(keel, &bad, &y), keel_gradients(y, &x, 1, &g)));
    keel_custom_gradient(keel, &good, &y);
    keel_gradients(y, &x, 1, &g); // what is left empty is nothing
    assert_float_equal(item(g), 0, 0);
    keel_step_discard(keel);
    keel_barrier(&none, 1, &y);
    keel_barrier(NULL, 1, &y);
    REFUSED("barrier: no place for the results", keel_barrier(&x, 1, NULL));
    REFUSED("barrier: operand 2 is empty",
            keel_barrier(((keel_tensor_t[]){x, none}), 2, (keel_tensor_t[2]){{0}}));
    keel_context_free(other);
}

static void layer_by_sine(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)layer;
    out[0] = keel_sin(keel_multiply(in[0], in[1]));
}

static void layer_of_scan(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_multiply(keel_sin(keel_cos(in[0])), in[0]);
}

static void layer_of_nothing(void *user, size_t layer, const keel_tensor_t *in,
                             keel_tensor_t *out) {
    (void)user;
    if (!layer) out[0] = in[0];
}

static void layer_that_assigns(void *user, size_t layer, const keel_tensor_t *in,
                               keel_tensor_t *out) {
    (void)layer;
    keel_assign(*(keel_tensor_t *)user, in[0]);
    out[0] = in[0];
}

static void differentiates_what_is_outside(void *user, const keel_tensor_t *in,
                                           keel_tensor_t *out) {
    keel_tensor_t loss = keel_multiply(outer, in[0]);
    keel_gradients(loss, user, 1, out);
}

// The slope of sin(x) y at x, y becoming it three times.
static void a_body_may_differentiate_what_is_outside(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 2), y = scalar("y", 3);
    keel_scan_t scan = three_steps(&y);
    outer = keel_sin(x);
    keel_scan(keel, differentiates_what_is_outside, &x, &scan, &y);
    assert_float_equal(item(y), 3 * cos(2) * cos(2) * cos(2), 1e-6);
    scan.carry = &x;
    keel_scan(keel, layer_of_scan, NULL, &scan, &outer);
    REFUSED("gradients: in a body, of a loop or checkpoint outside it; take them outside",
            keel_scan(keel, differentiates_what_is_outside, &x, &scan, &y));
    keel_checkpoint(keel, layer_of_scan, NULL, KEEL_SAVE_ALL, &x, 1, 1, &outer);
    REFUSED("gradients: in a body, of a loop or checkpoint outside it; take them outside",
            keel_scan(keel, differentiates_what_is_outside, &x, &scan, &y));
}

static void what_layers_refuse(void **state) {
    (void)state;
    const keel_tensor_t none = {0};
    keel_tensor_t x = scalar("x", 2), y, foreign;
    keel_tensor_t parameters[] = {scalar("v", 1), scalar("w", 1)};
    keel_context_t *other;
    const keel_layers_t good = {&x, 1, parameters, 1, 2, KEEL_SAVE_ALL, 0, 0};
    keel_layers_t bad = good;
    assert_ok(keel_context_create(NULL, &other));
    foreign = keel_variable(other, "f", KEEL_F32, KEEL_SCALAR, &(float){0});
    REFUSED("layers: a callback is needed", keel_layers(keel, NULL, NULL, &good, &y));
    REFUSED("layers: a callback is needed", keel_layers(keel, layer_by_sine, NULL, NULL, &y));
    REFUSED("layers: a callback is needed", keel_layers(keel, layer_by_sine, NULL, &good, NULL));
    bad.layer_count = 0;
    REFUSED("layers: a callback is needed", keel_layers(keel, layer_by_sine, NULL, &bad, &y));
    bad = good;
    bad.carry = &foreign;
    REFUSED("layers: carry 1 belongs to another", keel_layers(keel, layer_by_sine, NULL, &bad, &y));
    bad = good;
    bad.parameters = (keel_tensor_t[]){x, none};
    REFUSED("layers: parameter 2 is empty", keel_layers(keel, layer_by_sine, NULL, &bad, &y));
    bad = good;
    bad.save = (keel_save_t)9;
    REFUSED("layers: there is no policy 9", keel_layers(keel, layer_by_sine, NULL, &bad, &y));
    REFUSED("layers: the body gives no result 1",
            keel_layers(keel, layer_of_nothing, NULL, &good, &y));
    REFUSED("assign: a body is being traced",
            keel_layers(keel, layer_that_assigns, &parameters[0], &good, &y));
    bad = good;
    bad.is_unrolled = 1;
    REFUSED("layers: result 1 is empty", keel_layers(keel, layer_of_nothing, NULL, &bad, &y));
    REFUSED("assign: a body is being traced",
            keel_layers(keel, layer_that_assigns, &parameters[0], &bad, &y));
    assert_string_equal(keel_layers_declined(keel), "it was asked not to");
    keel_layers(keel, layer_by_sine, NULL, &good, &x);
    assert_null(keel_layers_declined(keel));
    assert_float_equal(item(x), sin(sin(2)), 1e-6);
    keel_step_discard(keel);
    assert_null(keel_layers_declined(NULL));
    keel_context_free(other);
}

// ---- memory ------------------------------------------------------------------------------------

enum { WIDTH = 64, DEPTH = 16 };

// Six values of the width for each product.
static void block(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    keel_tensor_t x = keel_matmul(in[0], in[1]);
    for (int i = 0; i < 6; ++i)
        x = keel_sin(x);
    out[0] = keel_add(in[0], x);
}

// The policy is the scan's, or that of a checkpoint in its body. Checkpoints without a loop are not
// measured: XLA's compiler for CPUs drops barriers before it merges what is equal.
typedef enum kind { LOOP, CHECKPOINT_IN_LOOP } kind_t;

static void checkpoint_of_block(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    keel_checkpoint(keel, block, NULL, *(keel_save_t *)user, in, 2, 1, out);
}

static keel_tensor_t stack(kind_t kind, keel_save_t save, keel_tensor_t x, keel_tensor_t weights) {
    const keel_scan_t scan = {&x, 1, &weights, 1, 0, 0, 0, kind == LOOP ? save : KEEL_SAVE_ALL};
    keel_scan(keel, kind == LOOP ? block : checkpoint_of_block, &save, &scan, &x);
    return x;
}

// Bytes that the program of the gradient needs beside arguments and results; the gradient's sum.
static uint64_t temporaries(kind_t kind, keel_save_t save, float *out_sum) {
    keel_program_memory_t memory;
    static float data[DEPTH * WIDTH * WIDTH];
    for (int i = 0; i < DEPTH * WIDTH * WIDTH; ++i)
        data[i] = (float)(i % 7) / WIDTH;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(4 * WIDTH, WIDTH), data), g;
    keel_tensor_t w = keel_variable(keel, "w", KEEL_F32, KEEL_SHAPE(DEPTH, WIDTH, WIDTH), data);
    keel_tensor_t y = stack(kind, save, x, w);
    keel_gradients(keel_sum(y, keel_all_axes(y)), &w, 1, &g);
    keel_tensor_t kept = keel_keep(g);
    assert_ok(keel_step_end(keel));
    PJRT_LoadedExecutable_GetExecutable_Args args = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
        .loaded_executable = step_last_loaded(keel)};
    assert_null(keel_shim_api()->PJRT_LoadedExecutable_GetExecutable(&args));
    assert_ok(keel_pjrt_program_memory(keel_shim_api(), args.executable, &memory));
    PJRT_Executable_Destroy_Args destroy = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                            .executable = args.executable};
    assert_null(keel_shim_api()->PJRT_Executable_Destroy(&destroy));
    *out_sum = item(keel_sum(keel_multiply(kept, kept), keel_all_axes(kept)));
    keel_release(kept);
    keel_release(x);
    keel_release(w);
    keel_step_discard(keel);
    return memory.temporaries;
}

static void what_is_saved_is_what_costs_memory(void **state) {
    (void)state;
    uint64_t bytes[2][3];
    float sums[2][3];
    for (int kind = LOOP; kind <= CHECKPOINT_IN_LOOP; ++kind)
        for (int save = KEEL_SAVE_ALL; save <= KEEL_SAVE_NOTHING; ++save)
            bytes[kind][save] = temporaries((kind_t)kind, (keel_save_t)save, &sums[kind][save]);
    for (int kind = LOOP; kind <= CHECKPOINT_IN_LOOP; ++kind) {
        print_message("temporaries: %zu, %zu, %zu bytes\n", (size_t)bytes[kind][0],
                      (size_t)bytes[kind][1], (size_t)bytes[kind][2]);
        for (int save = 0; save < 3; ++save)
            assert_float_equal(sums[kind][save], sums[0][0], 1e-4 * sums[0][0]);
        assert_true(bytes[kind][KEEL_SAVE_DOTS] < bytes[kind][KEEL_SAVE_ALL] / 2);
        assert_true(bytes[kind][KEEL_SAVE_NOTHING] < bytes[kind][KEEL_SAVE_DOTS]);
    }
}

#ifdef KEEL_FAULTS
// ---- each allocation fails in turn -------------------------------------------------------------

static keel_tensor_t predicate;

static void custom_backward(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_multiply(in[3], in[2]);
}

static void custom_forward(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user;
    out[0] = keel_sin(in[0]);
    out[1] = keel_cos(in[0]);
}

static void custom_sine(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    const keel_custom_t custom = {custom_forward, custom_backward, user, in, 1, 1, 1};
    keel_custom_gradient(in[0].context, &custom, out);
}

static keel_tensor_t current;

static void sine_of_current(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)in;
    keel_checkpoint(current.context, custom_sine, user, KEEL_SAVE_DOTS, &current, 1, 1, out);
}

static void current_itself(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)in;
    out[0] = current;
}

static void branching(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    current = keel_multiply(in[0], keel_number(in[0], 0.5));
    keel_cond(predicate, sine_of_current, current_itself, user, 1, out);
}

// Everything at once: true if all of it worked.
static bool take_a_step(keel_context_t *context, double *out) {
    float value = 0;
    keel_tensor_t w = keel_variable(context, "w", KEEL_F32, KEEL_SCALAR, &(float){0.5f}), y, g;
    predicate = keel_less(w, keel_number(w, 1));
    const keel_scan_t scan = three_steps(&w);
    keel_scan(context, branching, NULL, &scan, &y);
    keel_gradients(y, &w, 1, &g);
    keel_assign(w, keel_subtract(w, g));
    keel_tensor_t kept = keel_keep(y);
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
    assert_float_equal(expected, sin(0.5 * sin(0.5 * sin(0.25))), 1e-6);
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
    assert_true(nth > 100);
}

static void layer_of_two_kinds(void *user, size_t layer, const keel_tensor_t *in,
                               keel_tensor_t *out) {
    out[0] = keel_multiply(layer && user ? keel_cos(in[0]) : keel_sin(in[0]), in[1]);
}

// Nothing is compiled, so that this is quick: true if all of it was traced.
static bool trace_layers(keel_tensor_t x, void *user, keel_save_t save) {
    const keel_tensor_t parameters[] = {x, x};
    const keel_layers_t layers = {&x, 1, parameters, 1, 2, save, 1, 0};
    keel_tensor_t y, g;
    keel_layers(keel, layer_of_two_kinds, user, &layers, &y);
    keel_gradients(y, &x, 1, &g);
    bool worked = !keel_context_error(keel);
    assert_true(worked == !keel_is_empty(g) && (worked || keel_is_empty(keel_add(y, g))));
    keel_step_discard(keel);
    return worked;
}

static void every_allocation_of_layers_may_fail(void **state) {
    (void)state;
    keel_tensor_t x = scalar("x", 2);
    for (int kind = 0; kind < 4; ++kind) {
        void *user = kind % 2 ? &x : NULL;
        keel_save_t save = kind / 2 ? KEEL_SAVE_NOTHING : KEEL_SAVE_ALL;
        uint64_t nth = 0, reached;
        do {
            keel_fault_arm(KEEL_FAULT_ALLOC, ++nth);
            trace_layers(x, user, save);
            reached = keel_fault_count(KEEL_FAULT_ALLOC);
            keel_fault_arm(KEEL_FAULT_ALLOC, 0);
            assert_true(trace_layers(x, user, save));
        } while (reached >= nth);
        assert_true(nth > 5);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_changes_no_value_and_no_gradient),
        cmocka_unit_test(a_number_in_a_body_makes_no_new_program),
        cmocka_unit_test(a_loop_gives_a_carry_and_an_output_and_no_more),
        cmocka_unit_test(what_a_body_traces_is_counted),
        cmocka_unit_test(a_variable_is_of_no_body),
        cmocka_unit_test(a_loop_may_take_the_place_of_its_carry),
        cmocka_unit_test(what_a_body_does_wrong_is_named),
        cmocka_unit_test(what_loops_and_branches_refuse),
        cmocka_unit_test(stopped_gradients_refuse_nothing),
        cmocka_unit_test(what_gradients_refuse),
        cmocka_unit_test(a_body_may_differentiate_what_is_outside),
        cmocka_unit_test(what_layers_refuse),
        cmocka_unit_test(what_is_saved_is_what_costs_memory),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_layers_may_fail),
#endif
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
