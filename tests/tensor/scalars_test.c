// Scalars of C that operations take: another value is no other program, and counts all the same.
#define _GNU_SOURCE
#include "model_help.h"
#include "tensor/tensor.h"

enum { ROUNDS = 3 };
static const keel_tensor_t none = {0};

// What a use makes of x with a scalar is what the formula says, for several values in one program.
// What is read is kept, so a use is one program in all.
typedef struct use_t {
    const char *name;
    double values[ROUNDS];
    keel_tensor_t (*trace)(keel_tensor_t x, double value); // f32[4], given 0, 1, 2, 3
    double (*expect)(int i, double value);
    double tolerance;
} use_t;

static void run_use(const use_t *use) {
    uint64_t before = programs();
    const float data[4] = {0, 1, 2, 3};
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(4), data);
    for (int round = 0; round < ROUNDS; ++round) {
        float out[4];
        keel_tensor_t kept = keel_keep(use->trace(x, use->values[round]));
        assert_ok(keel_step_end(keel));
        assert_ok(keel_read(kept, out, sizeof out));
        keel_release(kept);
        for (int i = 0; i < 4; ++i) {
            double expected = use->expect(i, use->values[round]);
            if (!(fabs(out[i] - expected) <= use->tolerance))
                fail_msg("%s %g: [%d] is %.9g, not %.9g", use->name, use->values[round], i,
                         (double)out[i], expected);
        }
    }
    if (programs() - before != 1)
        fail_msg("%s: %d programs", use->name, (int)(programs() - before));
    keel_release(x);
}

// ---- norms -------------------------------------------------------------------------------------

static keel_tensor_t rms_norm(keel_tensor_t x, double epsilon) {
    return keel_rms_norm(x, none, epsilon);
}

static double rms_norm_of(int i, double epsilon) {
    return i / sqrt(14.0 / 4 + epsilon);
}

static keel_tensor_t layer_norm(keel_tensor_t x, double epsilon) {
    return keel_layer_norm(x, none, none, epsilon);
}

static double layer_norm_of(int i, double epsilon) {
    return (i - 1.5) / sqrt(5.0 / 4 + epsilon);
}

static keel_tensor_t slope(keel_tensor_t x, double epsilon) {
    keel_tensor_t gradient, y = keel_rms_norm(x, none, epsilon);
    keel_gradients(keel_sum(keel_multiply(y, y), KEEL_AXES(0)), &x, 1, &gradient);
    return gradient;
}

// Of sum(x^2) / (mean(x^2) + epsilon).
static double slope_of(int i, double epsilon) {
    return 2 * i * epsilon / pow(14.0 / 4 + epsilon, 2);
}

// In f16 this epsilon is 0, and x / sqrt(0 + 0) is not a number.
static keel_tensor_t norm_of_zeros(keel_tensor_t x, double epsilon) {
    keel_tensor_t zeros = keel_cast(keel_multiply(x, keel_constant(x, 0)), KEEL_F16);
    return keel_cast(keel_rms_norm(zeros, none, epsilon), KEEL_F32);
}

static double zero(int i, double epsilon) {
    (void)i, (void)epsilon;
    return 0;
}

static void norm_again(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    out[0] = keel_rms_norm(in[0], none, *(const double *)user);
}

static keel_tensor_t norm_in_bodies(keel_tensor_t x, double epsilon) {
    keel_tensor_t out = none;
    const keel_scan_t scan = {.carry = &x, .carry_count = 1, .length = 2};
    keel_scan(keel, norm_again, &epsilon, &scan, &out);
    x = out;
    keel_checkpoint(keel, norm_again, &epsilon, KEEL_SAVE_NOTHING, &x, 1, 1, &out);
    return out;
}

static double norm_in_bodies_of(int i, double epsilon) {
    double square = 14.0 / 4, value = i;
    for (int norm = 0; norm < 3; ++norm) {
        value /= sqrt(square + epsilon);
        square /= square + epsilon;
    }
    return value;
}

static void norm_layer(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)layer;
    norm_again(user, in, out);
}

// Layer n multiplies by 1 + n * rate: if the rate is 0, all layers have the same number.
typedef struct growth_t {
    double rate;
    size_t begin;
} growth_t;

static void grow(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out) {
    const growth_t *growth = user;
    const double factor = 1 + (double)(growth->begin + layer) * growth->rate;
    out[0] = keel_multiply(in[0], keel_number(in[0], factor));
}

static void grow_twice(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out) {
    growth_t growth = {*(const double *)user, 2 * layer};
    const keel_layers_t layers = {.carry = in, .carry_count = 1, .layer_count = 2};
    keel_layers(keel, grow, &growth, &layers, out);
}

static keel_tensor_t in_layers(keel_tensor_t x, keel_layer_t layer, void *user, size_t count) {
    keel_tensor_t out = none;
    const keel_layers_t layers = {.carry = &x, .carry_count = 1, .layer_count = count};
    keel_layers(keel, layer, user, &layers, &out);
    if (keel_layers_declined(keel)) fail_msg("%s", keel_layers_declined(keel));
    return out;
}

static keel_tensor_t norm_in_layers(keel_tensor_t x, double epsilon) {
    return in_layers(x, norm_layer, &epsilon, 3);
}

static keel_tensor_t grown(keel_tensor_t x, double rate) {
    return in_layers(x, grow, &(growth_t){rate, 0}, 4);
}

static keel_tensor_t grown_in_pairs(keel_tensor_t x, double rate) {
    return in_layers(x, grow_twice, &rate, 2);
}

static double grown_of(int i, double rate) {
    return i * (1 + rate) * (1 + 2 * rate) * (1 + 3 * rate);
}

static keel_tensor_t slope_of_growth(keel_tensor_t x, double rate) {
    keel_tensor_t gradient, y = grown_in_pairs(x, rate);
    keel_gradients(keel_sum(keel_multiply(y, y), KEEL_AXES(0)), &x, 1, &gradient);
    return gradient;
}

static double slope_of_growth_of(int i, double rate) {
    return 2 * i * pow(grown_of(1, rate), 2);
}

// The numbers of the second layer are those of the first.
static void grow_as_before(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out) {
    keel_tensor_t *number = user;
    if (!layer)
        *number = keel_number(in[0], 3);
    else
        keel_number(in[0], 5);
    out[0] = keel_multiply(in[0], *number);
}

static void a_number_of_another_layer_is_another(void **state) {
    (void)state;
    keel_tensor_t number, out, x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &(float){2});
    const keel_layers_t layers = {.carry = &x, .carry_count = 1, .layer_count = 2};
    float value;
    keel_layers(keel, grow_as_before, &number, &layers, &out);
    assert_non_null(strstr(keel_layers_declined(keel), "layer 2 does something else"));
    assert_ok(keel_read(out, &value, sizeof value));
    assert_float_equal(value, 18, 0);
    assert_ok(keel_step_end(keel));
    keel_release(x);
}

// ---- attention ---------------------------------------------------------------------------------

// x as 4 queries, keys and values of one element.
static keel_tensor_t attend(keel_tensor_t x, keel_attention_options_t options) {
    x = keel_reshape(x, KEEL_SHAPE(1, 4, 1, 1));
    return keel_reshape(keel_attention(x, x, x, none, options, NULL), KEEL_SHAPE(4));
}

static double attended(int i, double scale, double cap, int window) {
    double sum = 0, value = 0;
    for (int key = i < window ? 0 : i - window + 1; key <= i; ++key) {
        double score = scale * i * key;
        if (cap != 0) score = cap * tanh(score / cap);
        sum += exp(score);
        value += exp(score) * key;
    }
    return value / sum;
}

static keel_tensor_t scaled(keel_tensor_t x, double scale) {
    return attend(x, (keel_attention_options_t){.scale = scale, .is_causal = 1});
}

static double scaled_of(int i, double scale) {
    return attended(i, scale, 0, 4);
}

static keel_tensor_t capped(keel_tensor_t x, double cap) {
    return attend(x, (keel_attention_options_t){.softcap = cap, .is_causal = 1});
}

static double capped_of(int i, double cap) {
    return attended(i, 1, cap, 4);
}

static keel_tensor_t capped_in_blocks(keel_tensor_t x, double cap) {
    const keel_attention_options_t options = {.form = KEEL_ATTENTION_BLOCKED,
                                              .block = 2,
                                              .scale = cap / 2,
                                              .softcap = cap,
                                              .is_causal = 1};
    return attend(x, options);
}

static double capped_in_blocks_of(int i, double cap) {
    return attended(i, cap / 2, cap, 4);
}

static keel_tensor_t windowed(keel_tensor_t x, double window) {
    return attend(x, (keel_attention_options_t){.is_causal = 1, .window = (int64_t)window});
}

static double windowed_of(int i, double window) {
    return attended(i, 1, 0, (int)window);
}

static void a_scalar_is_no_part_of_the_program(void **state) {
    (void)state;
    static const use_t uses[] = {
        {"rms_norm", {1, 0.25, 1e-6}, rms_norm, rms_norm_of, 1e-5},
        {"layer_norm", {1, 0.25, 1e-6}, layer_norm, layer_norm_of, 1e-5},
        {"its gradient", {1, 0.25, 4}, slope, slope_of, 1e-5},
        {"rms_norm of f16", {1e-12, 1e-11, 1e-10}, norm_of_zeros, zero, 0},
        {"a norm in bodies", {1, 0.25, 4}, norm_in_bodies, norm_in_bodies_of, 1e-5},
        {"a norm in layers", {1, 0.25, 4}, norm_in_layers, norm_in_bodies_of, 1e-5},
        {"a number of each layer", {0, 0.5, 2}, grown, grown_of, 1e-4},
        {"numbers of layers in layers", {0, 0.5, 2}, grown_in_pairs, grown_of, 1e-4},
        {"their gradient", {0, 0.5, 2}, slope_of_growth, slope_of_growth_of, 0.1},
        {"scale", {1, 0.5, -0.25}, scaled, scaled_of, 1e-5},
        {"softcap", {2, 0.5, 30}, capped, capped_of, 1e-5},
        {"scale and softcap of blocks", {2, 0.5, 3}, capped_in_blocks, capped_in_blocks_of, 1e-5},
        {"window", {1, 2, 4}, windowed, windowed_of, 1e-5},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; ++i)
        run_use(&uses[i]);
}

// ---- random numbers ----------------------------------------------------------------------------

static void bounds_of_random_integers_are_no_part_of_the_program(void **state) {
    (void)state;
    enum { COUNT = 500 };
    static const int32_t bounds[][2] = {{0, 3}, {-5, 1}, {INT32_MIN, INT32_MAX}, {7, 8}};
    uint64_t before = programs();
    for (size_t round = 0; round < sizeof bounds / sizeof *bounds; ++round) {
        int32_t out[COUNT], least = INT32_MAX, most = INT32_MIN;
        keel_tensor_t key = keel_random_key(keel, 3);
        keel_tensor_t kept = keel_keep(
            keel_random_integers(key, KEEL_SHAPE(COUNT), bounds[round][0], bounds[round][1]));
        assert_ok(keel_step_end(keel));
        assert_ok(keel_read(kept, out, sizeof out));
        keel_release(kept);
        for (int i = 0; i < COUNT; ++i) {
            least = out[i] < least ? out[i] : least;
            most = out[i] > most ? out[i] : most;
        }
        if ((int64_t)bounds[round][1] - bounds[round][0] < 10) {
            assert_int_equal(least, bounds[round][0]);
            assert_int_equal(most, bounds[round][1] - 1);
        } else {
            assert_true(least < -2000000000 && most > 2000000000);
        }
    }
    assert_int_equal(programs() - before, 1);
}

// ---- first values ------------------------------------------------------------------------------

// The largest size of an element and the first one of a parameter begun so.
static void begin_parameter(keel_init_t init, float out[2]) {
    enum { COUNT = 200 };
    float values[COUNT];
    keel_tree_t *tree = new_tree();
    keel_tensor_t w = keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(COUNT), init);
    keel_tree_initialize(tree, 5);
    assert_ok(keel_step_end(keel));
    assert_ok(keel_read(w, values, sizeof values));
    keel_tree_free(tree);
    out[0] = 0;
    out[1] = values[0];
    for (int i = 0; i < COUNT; ++i)
        out[0] = fmaxf(out[0], fabsf(values[i]));
}

static void sizes_of_first_values_are_no_part_of_the_program(void **state) {
    (void)state;
    float first[2], second[2];
    uint64_t before = programs();
    begin_parameter(KEEL_UNIFORM(1), first);
    begin_parameter(KEEL_UNIFORM(0.25), second);
    assert_int_equal(programs() - before, 1);
    assert_true(first[0] <= 1 && first[0] > 0.9f);
    assert_float_equal(second[0], first[0] / 4, 0);
    assert_float_equal(second[1], first[1] / 4, 0);
    begin_parameter(KEEL_NORMAL(1), first);
    begin_parameter(KEEL_NORMAL(0.5), second);
    assert_int_equal(programs() - before, 2);
    assert_true(first[0] > 2);
    assert_float_equal(second[1], first[1] / 2, 0);
    begin_parameter(KEEL_FILL(1), first);
    begin_parameter(KEEL_FILL(-3), second);
    assert_int_equal(programs() - before, 3);
    assert_float_equal(first[1], 1, 0);
    assert_float_equal(second[1], -3, 0);
}

// In [-1, 1).
static keel_tensor_t spread(keel_tensor_t uniform, const void *data) {
    (void)data;
    keel_tensor_t two = keel_constant(uniform, 2), one = keel_constant(uniform, 1);
    return keel_subtract(keel_multiply(uniform, two), one);
}

static void first_values_of_one_name_are_of_one_seed(void **state) {
    (void)state;
    float first[2], second[2];
    begin_parameter(KEEL_UNIFORM(1), first);
    begin_parameter(KEEL_MADE(spread, NULL), second);
    assert_float_equal(first[0], second[0], 0);
    assert_float_equal(first[1], second[1], 0);
}

// ---- what a dtype does not have ----------------------------------------------------------------

typedef struct limit_t {
    keel_dtype_t dtype;
    double largest, above; // the first that rounds to no number
} limit_t;

static void a_number_that_its_dtype_does_not_have_is_refused(void **state) {
    (void)state;
    static const limit_t limits[] = {
        {KEEL_F8E4M3FN, 448, 465},    {KEEL_F8E5M2, 57344, 61440},         {KEEL_F16, 65504, 65520},
        {KEEL_BF16, 3.38e38, 3.4e38}, {KEEL_F32, 3.4e38, 3.5e38},          {KEEL_I8, 127, 128},
        {KEEL_U16, 65535, 65536},     {KEEL_I32, 2147483647, 2147483648.0}};
    const float one = 1;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &one);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
        const limit_t *limit = &limits[i];
        const double sign = limit->dtype == KEEL_U16 || limit->dtype == KEEL_I8 ? 1 : -1;
        keel_tensor_t like = keel_cast(x, limit->dtype);
        assert_false(keel_is_empty(keel_number(like, limit->largest)));
        assert_false(keel_is_empty(keel_constant(like, limit->largest)));
        assert_true(keel_is_empty(keel_number(like, limit->above)));
        expect_error("scalars_test.c", "number: ", keel_dtype_text(limit->dtype), "cannot hold");
        like = keel_cast(x, limit->dtype);
        if (limit->dtype != KEEL_I32) {
            assert_true(keel_is_empty(keel_constant(like, sign * limit->above)));
            expect_error("scalars_test.c", "constant: ", "cannot hold");
        }
        keel_step_discard(keel);
    }
    keel_tensor_t half = keel_cast(x, KEEL_F16);
    assert_false(keel_is_empty(keel_number(half, INFINITY)));
    assert_false(keel_is_empty(keel_constant(half, NAN)));
    assert_true(keel_is_empty(keel_constant(keel_cast(x, KEEL_F8E4M3FN), -INFINITY)));
    expect_error("f8e4m3fn cannot hold -inf");
    assert_true(keel_is_empty(keel_lowest(keel_compare_at(KEEL_HERE, KEEL_OP_LESS, x, x))));
    expect_error("lowest: bool has none");
    keel_release(x);
}

static void the_lowest_number_hides_a_score_in_any_float(void **state) {
    (void)state;
    static const keel_dtype_t dtypes[] = {KEEL_F8E4M3FN, KEEL_F8E5M2, KEEL_F16, KEEL_BF16,
                                          KEEL_F32};
    static const float lowest[] = {-448, -57344, -65504, -3.3895313892515355e38f,
                                   -3.4028234663852886e38f};
    const float one = 1;
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &one);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; ++i)
        assert_float_equal(item(keel_cast(keel_lowest(keel_cast(x, dtypes[i])), KEEL_F32)),
                           lowest[i], 0);
    keel_step_discard(keel);
    keel_release(x);
}

// ---- what a program is all the same ------------------------------------------------------------

static uint64_t programs_of(keel_attention_options_t options) {
    uint64_t before = programs();
    const float data[4] = {0, 1, 2, 3};
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(4), data);
    keel_assign(x, attend(x, options));
    assert_ok(keel_step_end(keel));
    keel_release(x);
    return programs() - before;
}

static void what_is_0_or_not_is_a_part_of_the_program(void **state) {
    (void)state;
    assert_int_equal(programs_of((keel_attention_options_t){.is_causal = 1}), 1);
    assert_int_equal(programs_of((keel_attention_options_t){.is_causal = 1, .window = 2}), 1);
    assert_int_equal(programs_of((keel_attention_options_t){.is_causal = 1, .softcap = 2}), 1);
    assert_int_equal(programs_of((keel_attention_options_t){.is_causal = 1, .scale = 2}), 1);
    assert_int_equal(programs_of((keel_attention_options_t){.is_causal = 1}), 0);
}

static void scalars_have_names(void **state) {
    (void)state;
    static const char *const names[] = {"keel_number(epsilon)", "keel_number(scale / softcap)",
                                        "keel_number(softcap)", "keel_number(window)"};
    const float data[4] = {0, 1, 2, 3};
    keel_tensor_t x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(4), data);
    const keel_attention_options_t options = {.is_causal = 1, .softcap = 2, .window = 2};
    keel_assign(x, keel_rms_norm(attend(x, options), none, 1e-6));
    assert_ok(keel_step_end(keel));
    const keel_bytes_t hlo = keel_tensor_newest(keel);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (!memmem(hlo.data, hlo.size, names[i], strlen(names[i]))) fail_msg("no %s", names[i]);
    keel_release(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scalar_is_no_part_of_the_program),
        cmocka_unit_test(a_number_of_another_layer_is_another),
        cmocka_unit_test(bounds_of_random_integers_are_no_part_of_the_program),
        cmocka_unit_test(sizes_of_first_values_are_no_part_of_the_program),
        cmocka_unit_test(first_values_of_one_name_are_of_one_seed),
        cmocka_unit_test(a_number_that_its_dtype_does_not_have_is_refused),
        cmocka_unit_test(the_lowest_number_hides_a_score_in_any_float),
        cmocka_unit_test(what_is_0_or_not_is_a_part_of_the_program),
        cmocka_unit_test(scalars_have_names),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
