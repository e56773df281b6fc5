// C leaves open in which order the arguments of a call are evaluated. Each test traces the same
// twice, in both orders, which stand in statements of their own here: one program.
#define _GNU_SOURCE
#include "tensor/model_help.h"

static const float data[4] = {1, 2, 3, 4};

static keel_tensor_t variable(void) {
    return keel_variable(keel, "w", KEEL_F32, KEEL_SHAPE(4), data);
}

static keel_tensor_t twice(bool is_turned, keel_tensor_t (*make)(keel_tensor_t, bool),
                           keel_tensor_t x) {
    keel_tensor_t of[2];
    of[is_turned] = make(x, is_turned);
    of[!is_turned] = make(x, !is_turned);
    return keel_subtract(of[0], of[1]);
}

static keel_tensor_t operation(keel_tensor_t x, bool is_second) {
    return is_second ? keel_exp(x) : keel_tanh(x);
}

static keel_tensor_t input(keel_tensor_t x, bool is_second) {
    return keel_multiply(x, keel_input(keel, is_second ? "b" : "a", KEEL_F32, KEEL_SHAPE(4), data));
}

static keel_tensor_t number(keel_tensor_t x, bool is_second) {
    return keel_multiply(x, keel_number(x, is_second ? 3 : 2));
}

static void step_of(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    const bool *is_turned = user;
    out[0] = keel_add(twice(*is_turned, number, in[0]), twice(*is_turned, operation, in[0]));
}

static keel_tensor_t scan(keel_tensor_t x, bool is_turned) {
    keel_tensor_t out;
    const keel_scan_t options = {.carry = &x, .carry_count = 1, .length = 3};
    keel_scan(keel, step_of, &is_turned, &options, &out);
    return out;
}

typedef struct sides_t {
    keel_tensor_t x;
    bool is_turned;
} sides_t;

static void on_true(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    const sides_t *sides = user;
    (void)in;
    out[0] = twice(sides->is_turned, input, sides->x);
}

static void on_false(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    const sides_t *sides = user;
    (void)in;
    out[0] = twice(sides->is_turned, number, sides->x);
}

static keel_tensor_t branch(keel_tensor_t x, bool is_turned) {
    keel_tensor_t out;
    sides_t sides = {x, is_turned};
    keel_cond(keel_greater(keel_sum(x, KEEL_AXES(0)), keel_number(x, 0)), on_true, on_false, &sides,
              1, &out);
    return out;
}

static void layer_of(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)layer;
    step_of(user, in, out);
}

static keel_tensor_t layers(keel_tensor_t x, bool is_turned) {
    keel_tensor_t out;
    const keel_layers_t options = {.carry = &x, .carry_count = 1, .layer_count = 3};
    keel_layers(keel, layer_of, &is_turned, &options, &out);
    assert_null(keel_layers_declined(keel));
    return out;
}

static keel_tensor_t checkpoint(keel_tensor_t x, bool is_turned) {
    keel_tensor_t out;
    keel_checkpoint(keel, step_of, &is_turned, KEEL_SAVE_NOTHING, &x, 1, 1, &out);
    return out;
}

static keel_tensor_t operations(keel_tensor_t x, bool is_turned) {
    return twice(is_turned, operation, x);
}

static keel_tensor_t inputs(keel_tensor_t x, bool is_turned) {
    return twice(is_turned, input, x);
}

static keel_tensor_t numbers(keel_tensor_t x, bool is_turned) {
    return twice(is_turned, number, x);
}

static keel_tensor_t loops(keel_tensor_t x, bool is_turned) {
    keel_tensor_t first, second;
    if (is_turned) second = branch(x, true);
    first = scan(x, is_turned);
    if (!is_turned) second = branch(x, false);
    return keel_divide(first, second);
}

// Layers in the body of a loop, in which their numbers are captures.
static void layers_of(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    out[0] = layers(in[0], *(const bool *)user);
}

static keel_tensor_t nested(keel_tensor_t x, bool is_turned) {
    keel_tensor_t out;
    const keel_scan_t options = {.carry = &x, .carry_count = 1, .length = 2};
    keel_scan(keel, layers_of, &is_turned, &options, &out);
    return out;
}

// Programs that both orders need, with a gradient or without one, and the sum of what they make.
static uint64_t run(keel_tensor_t (*make)(keel_tensor_t, bool), bool has_gradient, float sums[2]) {
    keel_tensor_t w = variable();
    const uint64_t before = programs();
    for (int is_turned = 0; is_turned < 2; ++is_turned) {
        keel_tensor_t y = make(w, is_turned), loss = keel_sum(y, KEEL_AXES(0)), g = y;
        if (has_gradient) keel_gradients(loss, &w, 1, &g);
        keel_tensor_t kept = keel_keep(keel_sum(g, KEEL_AXES(0)));
        assert_ok(keel_step_end(keel));
        sums[is_turned] = item(kept);
        keel_release(kept);
    }
    keel_release(w);
    return programs() - before;
}

static void the_order_of_arguments_makes_no_program_new(void **state) {
    (void)state;
    static keel_tensor_t (*const makers[])(keel_tensor_t, bool) = {
        operations, inputs, numbers, scan, branch, layers, checkpoint, loops, nested};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; ++i)
        for (int has_gradient = 0; has_gradient < 2; ++has_gradient) {
            float sums[2];
            uint64_t made = run(makers[i], has_gradient, sums);
            if (made != 1)
                fail_msg("maker %zu, gradient %d: %d programs", i + 1, has_gradient, (int)made);
            assert_float_equal(sums[0], sums[1], 0);
        }
}

static void another_operand_makes_one(void **state) {
    (void)state;
    keel_tensor_t w = variable();
    const uint64_t before = programs();
    keel_assign(w, keel_subtract(keel_tanh(w), keel_exp(w)));
    assert_ok(keel_step_end(keel));
    keel_assign(w, keel_subtract(keel_exp(w), keel_tanh(w)));
    assert_ok(keel_step_end(keel));
    assert_int_equal(programs() - before, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_arguments_makes_no_program_new),
        cmocka_unit_test(another_operand_makes_one),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
