// What small programs compute in a rehearsal: by the real plugin for the processor, on two devices
// that are not there.
#define _GNU_SOURCE
#include "rehearse_help.h"

#include <sys/wait.h>

static int begin(void **state) {
    (void)state;
    return rehearse("cpu:2", KEEL_TEST_CPU_PLUGIN);
}

static int end(void **state) {
    (void)state;
    door_close(api, client);
    return 0;
}

static bool is_real(PJRT_Buffer *buffer, const char *maker) {
    const char *told;
    bool real = keel_rehearse_is_real(buffer, &told);
    if (maker)
        assert_string_equal(told, maker);
    else
        assert_null(told);
    return real;
}

static const float ramp[] = {1, 2, 3, 4, 5, 6, 7, 8};

// ---- one device --------------------------------------------------------------------------------

static void a_small_program_computes_what_the_device_would(void **state) {
    (void)state;
    static const float wanted[] = {2, 4, 6, 8, 10, 12, 14, 16};
    PJRT_LoadedExecutable *sum = sum_program(8, false);
    PJRT_Buffer *x = send_floats(ramp, 8), *result;
    assert_true(is_real(x, NULL));
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, x}, 2, &result));
    assert_true(is_real(result, "module.1"));
    assert_floats(result, wanted, 8);
    assert_floats(x, ramp, 8);
    door_drop_buffer(api, result);
    door_drop_buffer(api, x);
    door_destroy(api, sum);
}

static void a_donated_argument_is_still_computed_with(void **state) {
    (void)state;
    PJRT_LoadedExecutable *sum = sum_program(8, true);
    PJRT_Buffer *x = send_floats(ramp, 8),
                *ones = send_floats((float[8]){1, 1, 1, 1, 1, 1, 1, 1}, 8);
    for (int step = 0; step < 3; ++step) {
        PJRT_Buffer *result;
        NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, ones}, 2, &result));
        assert_true(is_gone(x));
        door_drop_buffer(api, x);
        x = result;
    }
    assert_floats(x, (float[]){4, 5, 6, 7, 8, 9, 10, 11}, 8);
    door_drop_buffer(api, x);
    door_drop_buffer(api, ones);
    door_destroy(api, sum);
}

// x * x of f32[size, size].
static PJRT_LoadedExecutable *product_program(int64_t size) {
    made_program_t made = begin_program();
    const int64_t dims[] = {size, size};
    int64_t a = add_parameter(&made, F32, dims, 2, NULL);
    add_binary(&made, "multiply", a, a, F32, dims, 2, NULL);
    return end_program(&made, one_device);
}

static PJRT_Buffer *send_square(int64_t size) {
    const int64_t dims[] = {size, size};
    void *data;
    assert_ok(keel_calloc((size_t)(size * size), sizeof(float), &data));
    memset(data, 0x40, (size_t)(size * size) * sizeof(float)); // 3.0039215
    PJRT_Buffer *buffer = send_to(client->all[0], data, PJRT_Buffer_Type_F32, dims, 2);
    keel_free(data);
    return buffer;
}

static void a_result_that_is_too_large_is_not_computed(void **state) {
    (void)state;
    enum { SMALL = 64, LARGE = 2560 }; // 25 MiB
    for (int is_large = 0; is_large < 2; ++is_large) {
        int64_t size = is_large ? LARGE : SMALL;
        PJRT_LoadedExecutable *product = product_program(size);
        PJRT_Buffer *x = send_square(size), *result, *again;
        NO_ERROR(api, try_execute(product, &x, 1, &result));
        assert_int_equal(is_real(result, "module.1"), !is_large);
        // What is made of it is not known, either.
        NO_ERROR(api, try_execute(product, &result, 1, &again));
        assert_int_equal(is_real(again, "module.1"), !is_large);
        float first;
        PJRT_Buffer_CopyRawToHost_Args raw = {KEEL_PJRT_SIZE(PJRT_Buffer_CopyRawToHost),
                                              .buffer = result, .dst = &first,
                                              .transfer_size = sizeof first};
        NO_ERROR(api, api->PJRT_Buffer_CopyRawToHost(&raw));
        assert_true(is_large ? first == 0 : first > 9 && first < 9.1F);
        PJRT_Buffer *const all[] = {x, result, again};
        for (size_t i = 0; i < 3; ++i)
            door_drop_buffer(api, all[i]);
        door_destroy(api, product);
    }
}

static void an_array_of_unknown_contents_is_not_computed_with(void **state) {
    (void)state;
    static const int64_t size = 8;
    PJRT_Client_CreateUninitializedBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_CreateUninitializedBuffer),
        .client = client,
        .shape_dims = &size,
        .shape_num_dims = 1,
        .shape_element_type = PJRT_Buffer_Type_F32,
        .device = client->all[0]};
    NO_ERROR(api, api->PJRT_Client_CreateUninitializedBuffer(&args));
    PJRT_LoadedExecutable *sum = sum_program(8, false);
    PJRT_Buffer *x = send_floats(ramp, 8), *result;
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){args.buffer, x}, 2, &result));
    assert_false(is_real(args.buffer, "an uninitialized buffer"));
    assert_false(is_real(result, "module.1"));
    assert_floats(result, (float[8]){0}, 8);
    PJRT_Buffer *const all[] = {x, result, args.buffer};
    for (size_t i = 0; i < 3; ++i)
        door_drop_buffer(api, all[i]);
    door_destroy(api, sum);
}

// Clients may send an array of as many bytes and another type.
static void an_array_of_another_type_is_not_read_beyond_its_end(void **state) {
    (void)state;
    static const int64_t half = 4, all = 8;
    static const double doubles[] = {1, 2, 3, 4};
    made_program_t made = begin_program();
    int64_t a = add_parameter(&made, PRED, &all, 1, NULL);
    add_binary(&made, "and", a, a, PRED, &all, 1, NULL);
    PJRT_LoadedExecutable *both = end_program(&made, one_device), *sum = sum_program(8, false);
    PJRT_Buffer *x = send_to(client->all[0], doubles, PJRT_Buffer_Type_F64, &half, 1), *result;
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, x}, 2, &result)); // 32 bytes, as it takes
    door_drop_buffer(api, result);
    assert_error(try_execute(both, &x, 1, &result), "has 32 bytes, not 8");
    door_drop_buffer(api, x);
    door_destroy(api, both);
    door_destroy(api, sum);
}

static void a_program_that_the_processor_cannot_run_has_no_values(void **state) {
    (void)state;
    const int64_t size = 8;
    made_program_t made = begin_program();
    int64_t a = add_parameter(&made, F32, &size, 1, NULL);
    proto_t type = shape(F32, &size, 1);
    add_operation(&made, "no-such-operation", &a, 1, &type, NULL);
    PJRT_LoadedExecutable *other = end_program(&made, one_device);
    PJRT_Buffer *x = send_floats(ramp, 8), *result;
    for (int i = 0; i < 2; ++i) {
        NO_ERROR(api, try_execute(other, &x, 1, &result));
        assert_false(is_real(result, "module.1"));
        door_drop_buffer(api, result);
    }
    door_drop_buffer(api, x);
    door_destroy(api, other);
}

// ---- results that nobody may read --------------------------------------------------------------

static void the_first_results_are_computed_once_they_are_read(void **state) {
    (void)state;
    static const float wanted[] = {2, 4, 6, 8, 10, 12, 14, 16};
    PJRT_LoadedExecutable *sum = sum_program(8, true);
    PJRT_Buffer *x = send_floats(ramp, 8), *y = send_floats(ramp, 8), *first, *second;
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, y}, 2, &first));
    door_drop_buffer(api, x); // it was donated
    assert_true(first->later && !first->contents);
    assert_floats(first, wanted, 8);
    assert_true(!first->later && first->contents);
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){first, y}, 2, &second));
    assert_true(!second->later && second->contents);
    assert_floats(second, (float[]){3, 6, 9, 12, 15, 18, 21, 24}, 8);
    PJRT_Buffer *const all[] = {first, second, y};
    for (size_t i = 0; i < 3; ++i)
        door_drop_buffer(api, all[i]);
    door_destroy(api, sum);
}

// Each program runs once, on what the one before made. The programs are gone when the last is read.
static void a_long_chain_of_first_executions_is_computed(void **state) {
    (void)state;
    enum { PROGRAMS = 40 };
    float wanted[8];
    PJRT_Buffer *x = send_floats(ramp, 8),
                *ones = send_floats((float[8]){1, 1, 1, 1, 1, 1, 1, 1}, 8);
    for (int i = 0; i < PROGRAMS; ++i) {
        PJRT_Buffer *next;
        PJRT_LoadedExecutable *sum = sum_program(8, false);
        NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, ones}, 2, &next));
        door_drop_buffer(api, x);
        door_destroy(api, sum);
        x = next;
    }
    for (int i = 0; i < 8; ++i)
        wanted[i] = ramp[i] + PROGRAMS;
    assert_floats(x, wanted, 8);
    door_drop_buffer(api, x);
    door_drop_buffer(api, ones);
}

static void a_long_chain_that_nobody_reads_is_released(void **state) {
    (void)state;
    PJRT_Buffer *x = send_floats(ramp, 8);
    uint64_t before = in_use(0);
    for (int i = 0; i < 100; ++i) {
        PJRT_Buffer *next;
        PJRT_LoadedExecutable *sum = sum_program(8, false);
        NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, x}, 2, &next));
        door_drop_buffer(api, x);
        door_destroy(api, sum);
        x = next;
    }
    assert_int_equal(in_use(0), before);
    door_drop_buffer(api, x);
}

enum { RESULTS = 6 };

// Of x: x + x, x * x, x - x, and so on again.
static PJRT_LoadedExecutable *many_results(void) {
    enum { TUPLE_SHAPES = 4 };
    static const char *const opcodes[] = {"add", "multiply", "subtract"};
    const int64_t size = 8;
    int64_t results[RESULTS];
    made_program_t made = begin_program();
    int64_t x = add_parameter(&made, F32, &size, 1, NULL);
    proto_t tuple = proto();
    put_int(&tuple, 2, TUPLE);
    for (int i = 0; i < RESULTS; ++i) {
        results[i] = add_binary(&made, opcodes[i % 3], x, x, F32, &size, 1, NULL);
        put_bytes(&tuple, TUPLE_SHAPES, made.result.data, made.result.size);
    }
    add_operation(&made, "tuple", results, RESULTS, &tuple, NULL);
    return end_program(&made, one_device);
}

static void of_many_results_one_is_computed_then_all(void **state) {
    (void)state;
    float wanted[8];
    PJRT_LoadedExecutable *many = many_results();
    PJRT_Buffer *x = send_floats(ramp, 8), *results[RESULTS];
    PJRT_Buffer *const *lists[] = {&x};
    PJRT_Buffer **const outputs[] = {results};
    NO_ERROR(api, execute_on(many, lists, 1, 1, outputs, NULL));
    door_drop_buffer(api, x);
    later_t *later = results[0]->later;
    assert_non_null(later);
    for (int at = 0; at < RESULTS; ++at) {
        int result = (at + 4) % RESULTS;
        assert_ptr_equal(results[result]->later, later);
        for (int i = 0; i < 8; ++i)
            wanted[i] = result % 3 == 0 ? 2 * ramp[i] : result % 3 == 1 ? ramp[i] * ramp[i] : 0;
        assert_floats(results[result], wanted, 8);
        assert_true(is_real(results[result], "module.1"));
    }
    for (int i = 0; i < RESULTS; ++i)
        door_drop_buffer(api, results[i]);
    door_destroy(api, many);
}

static void *read_one(void *buffer) {
    assert_floats(buffer, (float[]){2, 4, 6, 8, 10, 12, 14, 16}, 8);
    return NULL;
}

static void threads_read_one_result_at_once(void **state) {
    (void)state;
    enum { READERS = 4 };
    pthread_t threads[READERS];
    PJRT_LoadedExecutable *sum = sum_program(8, false);
    PJRT_Buffer *x = send_floats(ramp, 8), *result;
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, x}, 2, &result));
    for (int i = 0; i < READERS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, read_one, result), 0);
    for (int i = 0; i < READERS; ++i)
        pthread_join(threads[i], NULL);
    door_drop_buffer(api, result);
    door_drop_buffer(api, x);
    door_destroy(api, sum);
}

// ---- two devices -------------------------------------------------------------------------------

// a + b of f32[4, 4], a cut by rows, b by columns, the result as `parts` say.
static PJRT_LoadedExecutable *cut_program(const int64_t *parts) {
    static const int64_t dims[] = {4, 4}, rows[] = {2, 1}, columns[] = {1, 2};
    made_program_t made = begin_program();
    proto_t by_rows = sharded(rows, 2), by_columns = sharded(columns, 2), out = sharded(parts, 2);
    int64_t a = add_parameter(&made, F32, dims, 2, &by_rows);
    int64_t b = add_parameter(&made, F32, dims, 2, &by_columns);
    add_binary(&made, "subtract", a, b, F32, dims, 2, &out);
    keel_buffer_deinitialize(&by_rows);
    keel_buffer_deinitialize(&by_columns);
    keel_buffer_deinitialize(&out);
    return end_program(&made, two_devices);
}

static void arrays_are_put_together_and_cut_again(void **state) {
    (void)state;
    static const int64_t wide[] = {2, 4}, high[] = {4, 2}, rows[] = {2, 1}, columns[] = {1, 2};
    // a[i][j] = 10 i + j; b[i][j] = j: the difference is 10 i.
    static const float a[2][8] = {{0, 1, 2, 3, 10, 11, 12, 13}, {20, 21, 22, 23, 30, 31, 32, 33}};
    static const float b[2][8] = {{0, 1, 0, 1, 0, 1, 0, 1}, {2, 3, 2, 3, 2, 3, 2, 3}};
    static const float by_rows[2][8] = {{0, 0, 0, 0, 10, 10, 10, 10},
                                        {20, 20, 20, 20, 30, 30, 30, 30}};
    static const float by_columns[8] = {0, 0, 10, 10, 20, 20, 30, 30};
    for (int is_high = 0; is_high < 2; ++is_high) {
        PJRT_LoadedExecutable *cut = cut_program(is_high ? columns : rows);
        PJRT_Buffer *arguments[2][2], *results[2][1];
        for (int device = 0; device < 2; ++device) {
            arguments[device][0] =
                send_to(client->all[device], a[device], PJRT_Buffer_Type_F32, wide, 2);
            arguments[device][1] =
                send_to(client->all[device], b[device], PJRT_Buffer_Type_F32, high, 2);
        }
        PJRT_Buffer *const *lists[] = {arguments[0], arguments[1]};
        PJRT_Buffer **const outputs[] = {results[0], results[1]};
        NO_ERROR(api, execute_on(cut, lists, 2, 2, outputs, NULL));
        for (int device = 0; device < 2; ++device) {
            assert_true(is_real(results[device][0], "module.1"));
            assert_floats(results[device][0], is_high ? by_columns : by_rows[device], 8);
            assert_ptr_equal(results[device][0]->memory->device, client->all[device]);
            door_drop_buffer(api, results[device][0]);
        }
        PJRT_Buffer *result;
        assert_error(try_execute(cut, arguments[0], 2, &result),
                     "runs on 2 devices and was given 1 lists");
        for (int device = 0; device < 2; ++device)
            for (int i = 0; i < 2; ++i)
                door_drop_buffer(api, arguments[device][i]);
        door_destroy(api, cut);
    }
}

// ---- threads -----------------------------------------------------------------------------------

enum { THREADS = 4, STEPS = 20 };
static PJRT_LoadedExecutable *shared;

static void *compute_often(void *unused) {
    PJRT_Buffer *x = send_floats(ramp, 8);
    for (int i = 0; i < STEPS; ++i) {
        PJRT_Buffer *result;
        NO_ERROR(api, try_execute(shared, (PJRT_Buffer *[]){x, x}, 2, &result));
        assert_floats(result, (float[]){2, 4, 6, 8, 10, 12, 14, 16}, 8);
        door_drop_buffer(api, result);
    }
    door_drop_buffer(api, x);
    return unused;
}

static void threads_compute_with_one_program(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    shared = sum_program(8, false);
    for (int i = 0; i < THREADS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, compute_often, NULL), 0);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    door_destroy(api, shared);
}

// The processor's threads are the parent's.
static void a_forked_child_computes_nothing(void **state) {
    (void)state;
    int result;
    PJRT_LoadedExecutable *sum = sum_program(8, false);
    PJRT_Buffer *x = send_floats(ramp, 8), *made;
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, x}, 2, &made));
    assert_true(is_real(made, "module.1"));
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        PJRT_Buffer *other;
        alarm(20);
        assert_floats(made, (float[]){2, 4, 6, 8, 10, 12, 14, 16}, 8);
        NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){made, x}, 2, &other));
        assert_false(is_real(other, "module.1"));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    door_drop_buffer(api, made);
    door_drop_buffer(api, x);
    door_destroy(api, sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_program_computes_what_the_device_would),
        cmocka_unit_test(a_donated_argument_is_still_computed_with),
        cmocka_unit_test(a_result_that_is_too_large_is_not_computed),
        cmocka_unit_test(an_array_of_unknown_contents_is_not_computed_with),
        cmocka_unit_test(an_array_of_another_type_is_not_read_beyond_its_end),
        cmocka_unit_test(a_program_that_the_processor_cannot_run_has_no_values),
        cmocka_unit_test(the_first_results_are_computed_once_they_are_read),
        cmocka_unit_test(a_long_chain_of_first_executions_is_computed),
        cmocka_unit_test(a_long_chain_that_nobody_reads_is_released),
        cmocka_unit_test(of_many_results_one_is_computed_then_all),
        cmocka_unit_test(threads_read_one_result_at_once),
        cmocka_unit_test(arrays_are_put_together_and_cut_again),
        cmocka_unit_test(threads_compute_with_one_program),
        cmocka_unit_test(a_forked_child_computes_nothing),
    };
    return cmocka_run_group_tests_name("rehearse values", tests, begin, end);
}
