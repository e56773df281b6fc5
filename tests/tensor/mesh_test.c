// A context on a mesh of four CPU devices as a C program uses it: what makes a new program, and
// every way to misuse it. Values are compared in mesh_against_jax.py.
#define _GNU_SOURCE
#include <pthread.h>

#include "unit/place.h"

#include "tensor/trace.h"

#include "keel/keel.h"

static keel_context_t *keel;
static float numbers[64];

static int open_context(void **state) {
    (void)state;
    const keel_context_options_t options = {.mesh = KEEL_MESH({"data", 2}, {"model", 2})};
    for (int i = 0; i < 64; ++i)
        numbers[i] = (float)i;
    assert_ok(keel_context_create(&options, &keel));
    return 0;
}

static int close_context(void **state) {
    (void)state;
    keel_context_free(keel);
    return 0;
}

static keel_tensor_t matrix(keel_spec_t spec) {
    return keel_sharded_variable(keel, "x", KEEL_F32, KEEL_SHAPE(8, 8), numbers, spec);
}

static uint64_t programs(void) {
    return keel_context_figures(keel).programs;
}

// The step's error has both texts, and this file's name; it is dropped.
static void assert_error(const char *first, const char *second) {
    const char *error = keel_context_error(keel);
    assert_non_null(error);
    if (!strstr(error, first) || !strstr(error, second) || !strstr(error, "mesh_test.c:"))
        fail_msg("%s", error);
    keel_step_discard(keel);
}

static void assert_refused(const keel_context_options_t *options, const char *text) {
    keel_context_t *context;
    keel_status_t status = keel_context_create(options, &context);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    assert_null(context);
    if (!strstr(keel_status_message(status), text)) fail_msg("%s", keel_status_message(status));
    keel_status_ignore(status);
}

// ---- programs ----------------------------------------------------------------------------------

static void step_with(keel_spec_t of_variable, keel_spec_t of_input, keel_spec_t inner) {
    keel_tensor_t x = matrix(of_variable);
    keel_tensor_t y = keel_sharded_input(keel, "y", KEEL_F32, KEEL_SHAPE(8, 8), numbers, of_input);
    keel_assign(x, keel_shard(keel_add(x, y), inner));
    assert_ok(keel_step_end(keel));
    keel_release(x);
}

static void each_spec_is_another_program(void **state) {
    (void)state;
    const keel_spec_t rows = KEEL_SPEC("data"), columns = KEEL_SPEC(NULL, "data");
    uint64_t before = programs();
    step_with(rows, rows, rows);
    assert_int_equal(programs() - before, 1);
    step_with(rows, rows, rows);
    assert_int_equal(programs() - before, 1);
    step_with(columns, rows, rows);
    step_with(rows, columns, rows);
    step_with(rows, rows, columns);
    assert_int_equal(programs() - before, 4);
    step_with(KEEL_SPEC("data", NULL), rows, rows); // says the same as KEEL_SPEC("data")
    assert_int_equal(programs() - before, 4);
}

static void a_result_has_the_sharding_of_its_variable(void **state) {
    (void)state;
    float values[64];
    uint64_t before = programs();
    keel_tensor_t x = matrix(KEEL_SPEC("model", "data"));
    keel_tensor_t empty =
        keel_sharded_variable(keel, "z", KEEL_F32, KEEL_SHAPE(8, 8), NULL, KEEL_SPEC("data,model"));
    for (int step = 0; step < 3; ++step) {
        keel_assign(x, keel_transpose(x, KEEL_AXES(1, 0)));
        keel_assign(empty, x);
        assert_ok(keel_step_end(keel));
    }
    assert_int_equal(programs() - before, 1);
    assert_ok(keel_read(empty, values, sizeof values));
    assert_float_equal(values[1], 8, 0);
    assert_ok(keel_read(x, values, sizeof values));
    assert_float_equal(values[8], 1, 0);
}

static void moments_are_split_as_their_parameter(void **state) {
    (void)state;
    float values[64];
    keel_tree_t *tree;
    keel_optimizer_t *optimizer;
    const keel_optimizer_options_t options = KEEL_ADAMW(1e-3);
    assert_ok(keel_tree_create(keel, &tree));
    keel_tensor_t x = keel_tree_add(tree, "x", KEEL_F32, KEEL_SHAPE(8, 8), KEEL_FILL(63));
    keel_place(x, KEEL_SPEC("data", "model"));
    assert_ok(keel_optimizer_create(tree, &options, &optimizer));
    assert_int_equal(context_variable(keel_tree_get(tree, "optimizer.v.x"))->sharding,
                     context_variable(x)->sharding);
    assert_int_not_equal(context_variable(x)->sharding, SHARDING_WHOLE);
    keel_tree_initialize(tree, 1);
    assert_ok(keel_step_end(keel));
    uint64_t before = programs();
    for (int step = 0; step < 3; ++step) {
        keel_minimize(optimizer, keel_sum(keel_multiply(x, x), keel_all_axes(x)));
        assert_ok(keel_step_end(keel));
    }
    assert_int_equal(programs() - before, 1);
    assert_ok(keel_read(x, values, sizeof values));
    assert_float_equal(values[63], 63 - 3e-3, 1e-4);
    keel_optimizer_free(optimizer);
    keel_tree_free(tree);
}

static void a_variable_can_be_placed_anew_between_steps(void **state) {
    (void)state;
    float values[64];
    static const char *const names[] = {NULL, "data", "model", "model,data"};
    keel_tensor_t x = matrix(KEEL_SPEC("data", "model"));
    for (int i = 0; i < 4; ++i) {
        keel_place(x, KEEL_SPEC(NULL, names[i]));
        keel_assign(x, keel_add(x, keel_number(x, 1)));
        assert_ok(keel_step_end(keel));
        assert_ok(keel_read(x, values, sizeof values));
        for (int k = 0; k < 64; ++k)
            assert_float_equal(values[k], k + i + 1, 0);
    }
    keel_add(x, x);
    keel_place(x, KEEL_WHOLE);
    assert_error("place: x is used by the open step", "");
    keel_place(x, KEEL_SPEC("rows"));
    assert_error("place: axis \"rows\" is not there", "");
    keel_release(x);
    keel_place(x, KEEL_WHOLE);
    assert_error("place: it is not a variable", "");
}

static void a_read_in_mid_step_is_whole(void **state) {
    (void)state;
    float values[64];
    keel_tensor_t x = matrix(KEEL_SPEC("data", "model"));
    assert_ok(keel_read(keel_shard(keel_add(x, x), KEEL_SPEC("model")), values, sizeof values));
    assert_float_equal(values[63], 126, 0);
    keel_step_discard(keel);
}

static void a_scalar_and_an_empty_tensor_are_on_all_devices(void **state) {
    (void)state;
    keel_tensor_t empty = keel_sharded_variable(keel, "e", KEEL_F32, KEEL_SHAPE(0, 2), numbers,
                                                KEEL_SPEC("data", "model"));
    keel_tensor_t scalar =
        keel_sharded_variable(keel, "s", KEEL_F32, KEEL_SCALAR, numbers + 5, KEEL_WHOLE);
    float value;
    keel_assign(empty, keel_add(empty, scalar));
    keel_assign(scalar, keel_shard(keel_add(scalar, scalar), KEEL_WHOLE));
    assert_ok(keel_step_end(keel));
    assert_ok(keel_read(scalar, &value, sizeof value));
    assert_float_equal(value, 10, 0);
    assert_ok(keel_read(empty, NULL, 0));
}

static void a_context_without_a_mesh_is_beside_it(void **state) {
    (void)state;
    keel_context_t *other;
    float value;
    assert_ok(keel_context_create(NULL, &other));
    keel_tensor_t x = keel_variable(other, "x", KEEL_F32, KEEL_SHAPE(1), numbers + 3);
    keel_assign(x, keel_add(x, x));
    assert_ok(keel_step_end(other));
    assert_ok(keel_read(x, &value, sizeof value));
    assert_float_equal(value, 6, 0);
    assert_true(keel_is_empty(keel_shard(x, KEEL_SPEC("data"))));
    assert_non_null(strstr(keel_context_error(other), "the mesh has no axes"));
    keel_context_free(other);
}

// Matrices of ones times themselves, over and over: each element is 1 / 8.
static void *multiply(void *out) {
    enum { STEPS = 50 };
    const keel_context_options_t options = {.mesh = KEEL_MESH({"data", 4})};
    keel_context_t *context;
    float ones[64], values[64] = {0};
    for (int i = 0; i < 64; ++i)
        ones[i] = 1;
    assert_ok(keel_context_create(&options, &context));
    keel_tensor_t x =
        keel_sharded_variable(context, "x", KEEL_F32, KEEL_SHAPE(8, 8), ones, KEEL_SPEC("data"));
    for (int step = 0; step < STEPS; ++step) {
        keel_tensor_t product = keel_matmul(x, x);
        keel_assign(x, keel_divide(product, keel_sum(product, KEEL_AXES(0))));
        assert_ok(keel_step_end(context));
    }
    assert_ok(keel_read(x, values, sizeof values));
    keel_context_free(context);
    *(float *)out = values[63];
    return NULL;
}

static void meshes_of_several_threads_do_not_meet(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    float values[THREADS] = {0};
    for (int i = 0; i < THREADS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, multiply, &values[i]), 0);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; ++i)
        assert_float_equal(values[i], 1.0 / 8, 1e-6);
}

// ---- loops -------------------------------------------------------------------------------------

// x tanh(x w), the product once by XLA, and once by parts whose sums are added.
static void layer(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    keel_tensor_t product;
    if (*(const bool *)user) {
        keel_tensor_t x = keel_local(in[0], KEEL_SPEC("data", "model"));
        keel_tensor_t w = keel_local(in[1], KEEL_SPEC("model"));
        keel_tensor_t sum = keel_all_reduce(keel_matmul(x, w), KEEL_OP_SUM, "model");
        product = keel_global(sum, KEEL_SPEC("data"));
    } else {
        product = keel_shard(keel_matmul(in[0], in[1]), KEEL_SPEC(NULL, NULL));
    }
    out[0] = keel_multiply(in[0], keel_tanh(product));
}

// Three layers, and the gradient of their weights.
static void scan_layers(keel_context_t *context, bool by_parts, keel_save_t save, float out[192]) {
    float weights[192];
    for (int i = 0; i < 192; ++i)
        weights[i] = (float)(i * 37 % 64) / 64 - 0.5f;
    const keel_spec_t split = context == keel ? KEEL_SPEC(NULL, "model") : KEEL_WHOLE;
    keel_tensor_t w =
        keel_sharded_variable(context, "w", KEEL_F32, KEEL_SHAPE(3, 8, 8), weights, split);
    keel_tensor_t x = keel_input(context, "x", KEEL_F32, KEEL_SHAPE(8, 8), numbers), last;
    x = keel_multiply(x, keel_number(x, 0.03));
    const keel_scan_t scan = {
        .carry = &x, .carry_count = 1, .inputs = &w, .input_count = 1, .save = save};
    keel_scan(context, layer, &by_parts, &scan, &last);
    keel_tensor_t loss = keel_sum(keel_multiply(last, last), keel_all_axes(last)), gradient;
    keel_gradients(loss, &w, 1, &gradient);
    keel_assign(w, gradient);
    assert_ok(keel_step_end(context));
    assert_ok(keel_read(w, out, 192 * sizeof *out));
    keel_release(w);
}

static void loops_may_have_shards_and_parts_inside(void **state) {
    (void)state;
    static const keel_save_t saves[] = {KEEL_SAVE_ALL, KEEL_SAVE_DOTS, KEEL_SAVE_NOTHING};
    keel_context_t *one;
    float expected[192], found[192], largest = 0;
    assert_ok(keel_context_create(NULL, &one));
    scan_layers(one, false, KEEL_SAVE_ALL, expected);
    keel_context_free(one);
    for (int i = 0; i < 192; ++i)
        largest = expected[i] > largest ? expected[i] : largest;
    assert_true(largest > 0);
    for (size_t k = 0; k < 2 * sizeof saves / sizeof *saves; ++k) {
        scan_layers(keel, k % 2, saves[k / 2], found);
        for (int i = 0; i < 192; ++i)
            assert_float_equal(found[i], expected[i], 1e-5 * (double)largest);
    }
}

// ---- misuse ------------------------------------------------------------------------------------

static void meshes_that_are_none_are_refused(void **state) {
    (void)state;
    keel_context_options_t options = {.mesh = KEEL_MESH({"data", 2}, {"data", 2})};
    assert_refused(&options, "two axes are named data");
    options.mesh = KEEL_MESH({"data", 0});
    assert_refused(&options, "axis data has size 0");
    options.mesh = KEEL_MESH({"data", INT64_C(1) << 62});
    assert_refused(&options, "axis data has size");
    options.mesh = KEEL_MESH({"a,b", 2});
    assert_refused(&options, "axis 1 needs a name");
    options.mesh = KEEL_MESH({"data", 2}, {NULL, 2});
    assert_refused(&options, "axis 2 needs a name");
    options.mesh = (keel_mesh_t){.count = 9};
    assert_refused(&options, "9 axes");
    options.mesh = KEEL_MESH({"data", 8});
    options.devices = 2;
    assert_refused(&options, "the mesh has 8 devices, and the plugin 2");
    options.devices = 100000000;
    assert_refused(&options, "100000000 devices; XLA's CPU plugin may make 0 to 4096");
    options = (keel_context_options_t){.mesh = KEEL_MESH({"data", 100000000})};
    assert_refused(&options, "the mesh has 100000000 devices, and the plugin");
    options.devices = -1;
    assert_refused(&options, "-1 devices");
    options = (keel_context_options_t){.process = 2, .processes = 2, .meet = "/dev/null/meet"};
    assert_refused(&options, "process 2 of 2");
    options.process = 1;
    options.meet = NULL;
    assert_refused(&options, "2 processes need a place to meet");
    options.meet = "redis://:nowhere";
    assert_refused(&options, "redis://:nowhere has");
    options = (keel_context_options_t){.name = "st\xffp"};
    assert_refused(&options, "not UTF-8");
}

static void specs_that_do_not_fit_are_named(void **state) {
    (void)state;
    keel_tensor_t x = matrix(KEEL_WHOLE);
    assert_true(keel_is_empty(keel_shard(x, KEEL_SPEC("rows"))));
    assert_error("axis \"rows\" is not there", "data=2, model=2");
    assert_true(keel_is_empty(keel_shard(x, KEEL_SPEC(""))));
    assert_error("axis \"\" is not there", "shard");
    assert_true(keel_is_empty(keel_shard(x, KEEL_SPEC("data", "data"))));
    assert_error("axis \"data\" splits two dimensions", "shard");
    assert_true(keel_is_empty(keel_shard(x, KEEL_SPEC("data,data"))));
    assert_error("axis \"data\" splits two dimensions", "shard");
    assert_true(keel_is_empty(keel_shard(x, KEEL_SPEC(NULL, NULL, "data"))));
    assert_error("a spec of 3 dimensions", "f32[8,8]");
    assert_true(keel_is_empty(keel_shard(x, (keel_spec_t){.count = -1})));
    assert_error("a spec of -1 dimensions", "f32[8,8]");
    assert_true(keel_is_empty(keel_sharded_variable(keel, "v", KEEL_F32, KEEL_SHAPE(4, 7), numbers,
                                                    KEEL_SPEC(NULL, "data"))));
    assert_error("dimension 1 of f32[4,7] is 7, which data does not divide", "2 devices");
    assert_true(keel_is_empty(keel_sharded_input(keel, "i", KEEL_F32, KEEL_SHAPE(6, 4), numbers,
                                                 KEEL_SPEC("data,model"))));
    assert_error("dimension 0 of f32[6,4] is 6", "4 devices");
    assert_ok(keel_step_end(keel));
}

static void parts_are_not_taken_for_the_whole(void **state) {
    (void)state;
    float values[64];
    keel_tensor_t x = matrix(KEEL_WHOLE), out;
    assert_true(keel_is_empty(keel_all_reduce(x, KEEL_OP_SUM, "data")));
    assert_error("all_reduce: it is not the part of one device", "");
    keel_tensor_t part = keel_local(x, KEEL_SPEC("data"));
    assert_true(keel_is_empty(keel_all_reduce(part, KEEL_OP_PRODUCT, "data")));
    assert_error("all_reduce: no such operation on its dtype", "");
    part = keel_local(x, KEEL_SPEC("data"));
    part = keel_complex(part, part);
    assert_true(keel_is_empty(keel_all_reduce(part, KEEL_OP_MAX, "data")));
    assert_error("all_reduce: no such operation on its dtype", "");
    assert_true(keel_is_empty(keel_global(x, KEEL_SPEC("data"))));
    assert_error("global: it is not the part of one device", "");
    assert_true(keel_is_empty(keel_local(keel_local(x, KEEL_WHOLE), KEEL_WHOLE)));
    assert_error("local: it is the part of one device already", "");
    assert_true(keel_is_empty(keel_local(x, KEEL_SPEC("rows"))));
    assert_error("local: axis \"rows\" is not there", "data=2");
    assert_true(keel_is_empty(keel_all_gather(keel_local(x, KEEL_WHOLE), 2, "data")));
    assert_error("all_gather: there is no axis 2", "");
    assert_true(keel_is_empty(keel_all_gather(keel_local(x, KEEL_WHOLE), 0, NULL)));
    assert_error("all_gather: axis \"\" is not there", "");
    keel_tensor_t odd = keel_slice(keel_local(x, KEEL_WHOLE), 0, 0, 3);
    assert_true(keel_is_empty(keel_reduce_scatter(odd, 0, "data")));
    assert_error("reduce_scatter: axis 0 of f32[3,8]", "2 parts");
    keel_assign(x, keel_local(x, KEEL_WHOLE));
    assert_error("assign takes no part of one device", "");
    assert_true(keel_is_empty(keel_keep(keel_local(x, KEEL_SPEC("data")))));
    assert_error("keep takes no part of one device", "");
    assert_true(keel_is_empty(keel_shard(keel_local(x, KEEL_WHOLE), KEEL_SPEC("data"))));
    assert_error("shard takes no part of one device", "");
    out = keel_local(x, KEEL_WHOLE);
    keel_barrier(&out, 1, &out);
    assert_error("takes no part of one device", "");
    part = keel_local(x, KEEL_SPEC("data"));
    keel_status_t status = keel_read(part, values, sizeof values / 2);
    assert_non_null(strstr(keel_status_message(status), "read takes no part of one device"));
    keel_status_ignore(status);
    keel_gradients(keel_sum(part, keel_all_axes(part)), &x, 1, &out);
    assert_error("gradients takes no part of one device", "");
}

static void one_device_is_a_group_too(void **state) {
    (void)state;
    keel_context_t *other;
    const keel_context_options_t options = {.mesh = KEEL_MESH({"data", 1})};
    float values[64];
    assert_ok(keel_context_create(&options, &other));
    keel_tensor_t x = keel_variable(other, "x", KEEL_F32, KEEL_SHAPE(8, 8), numbers);
    keel_tensor_t part = keel_local(x, KEEL_SPEC("data"));
    part = keel_permute(keel_all_reduce(part, KEEL_OP_SUM, "data"), 5, "data");
    part = keel_all_to_all(keel_all_gather(part, 1, "data"), 0, 1, "data");
    keel_assign(x, keel_global(keel_reduce_scatter(part, 0, "data"), KEEL_SPEC("data")));
    assert_ok(keel_step_end(other));
    assert_ok(keel_read(x, values, sizeof values));
    assert_memory_equal(values, numbers, sizeof values);
    keel_context_free(other);
}

static void names_that_are_not_utf8_are_refused_at_once(void **state) {
    (void)state;
    assert_true(keel_is_empty(keel_variable(keel, "w\xc3", KEEL_F32, KEEL_SHAPE(8), numbers)));
    assert_error("variable: the name is not UTF-8", "");
    assert_true(keel_is_empty(keel_input(keel, "\x80", KEEL_F32, KEEL_SHAPE(8), numbers)));
    assert_error("input: the name is not UTF-8", "");
    keel_release(keel_variable(keel, "h\xc3\xa9", KEEL_F32, KEEL_SHAPE(8), numbers));
    assert_ok(keel_step_end(keel));
}

#ifdef KEEL_FAULTS
static bool take_a_step(keel_context_t *context, float out[64]) {
    keel_tensor_t x = keel_sharded_variable(context, "x", KEEL_F32, KEEL_SHAPE(8, 8), numbers,
                                            KEEL_SPEC("data", "model"));
    keel_tensor_t y =
        keel_sharded_input(context, "y", KEEL_F32, KEEL_SHAPE(8, 8), numbers, KEEL_SPEC("model"));
    y = keel_global(keel_permute(keel_local(y, KEEL_SPEC("model")), 1, "model"),
                    KEEL_SPEC("model"));
    keel_assign(x, keel_shard(keel_matmul(x, keel_multiply(y, keel_number(y, 0.5))),
                              KEEL_SPEC(NULL, "data,model")));
    keel_status_t status = keel_step_end(context);
    if (!status) status = keel_read(x, out, 64 * sizeof *out);
    keel_release(x);
    bool worked = !status;
    keel_status_ignore(status);
    return worked;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const keel_context_options_t options = {.mesh = KEEL_MESH({"data", 2}, {"model", 2})};
    float expected[64], values[64];
    uint64_t nth = 0, reached;
    assert_true(take_a_step(keel, expected));
    do {
        keel_context_t *context = NULL;
        keel_fault_arm(KEEL_FAULT_ALLOC, ++nth);
        keel_status_t status = keel_context_create(&options, &context);
        bool worked = !status && take_a_step(context, values);
        reached = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        keel_status_ignore(status);
        if (worked) assert_memory_equal(values, expected, sizeof values);
        if (context && !take_a_step(context, values))
            fail_msg("after allocation %d the context is not usable", (int)nth);
        keel_context_free(context);
    } while (reached >= nth);
}
#endif

// ---- frozen ------------------------------------------------------------------------------------

// The last test: nothing new runs in this process afterwards.
static void a_frozen_process_reads_nothing_of_the_open_step(void **state) {
    (void)state;
    float values[64];
    keel_tensor_t x = matrix(KEEL_SPEC("data"));
    assert_ok(keel_read(keel_add(x, x), values, sizeof values)); // known from here on
    keel_step_discard(keel);
    keel_freeze();
    keel_status_t status = keel_read(keel_add(x, x), values, sizeof values);
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    assert_non_null(strstr(keel_status_message(status), "mesh_test.c:"));
    assert_non_null(strstr(keel_status_message(status), "frozen"));
    keel_status_ignore(status);
    assert_ok(keel_step_end(keel));
    assert_ok(keel_read(x, values, sizeof values));
    keel_assign(x, keel_sin(x));
    status = keel_step_end(keel);
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    assert_null(strstr(keel_status_message(status), "PJRT_"));
    keel_status_ignore(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_spec_is_another_program),
        cmocka_unit_test(a_result_has_the_sharding_of_its_variable),
        cmocka_unit_test(moments_are_split_as_their_parameter),
        cmocka_unit_test(a_variable_can_be_placed_anew_between_steps),
        cmocka_unit_test(a_read_in_mid_step_is_whole),
        cmocka_unit_test(a_scalar_and_an_empty_tensor_are_on_all_devices),
        cmocka_unit_test(a_context_without_a_mesh_is_beside_it),
        cmocka_unit_test(meshes_of_several_threads_do_not_meet),
        cmocka_unit_test(loops_may_have_shards_and_parts_inside),
        cmocka_unit_test(meshes_that_are_none_are_refused),
        cmocka_unit_test(specs_that_do_not_fit_are_named),
        cmocka_unit_test(parts_are_not_taken_for_the_whole),
        cmocka_unit_test(one_device_is_a_group_too),
        cmocka_unit_test(names_that_are_not_utf8_are_refused_at_once),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_may_fail),
#endif
        cmocka_unit_test(a_frozen_process_reads_nothing_of_the_open_step),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
