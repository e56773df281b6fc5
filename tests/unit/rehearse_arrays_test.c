// Arrays of a rehearsal: their bytes on a device and on the host, what reads of unknown values
// give, their parts; which of several processes this one is. None of it needs a client.
#define _GNU_SOURCE
#include "place.h"

#include "rehearse/objects.h"

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

static uint64_t on_device(PJRT_Buffer_Type type, const int64_t *dims, size_t rank,
                          const char *layout) {
    return bytes_on_device(type, dims, rank, layout);
}

// ---- bytes -------------------------------------------------------------------------------------

static void elements_smaller_than_a_byte_are_packed(void **state) {
    (void)state;
    assert_int_equal(element_bytes(PJRT_Buffer_Type_S4), 1);
    assert_int_equal(element_bytes(PJRT_Buffer_Type_PRED), 1);
    assert_int_equal(element_bytes(PJRT_Buffer_Type_C128), 16);
    assert_int_equal(element_bytes(PJRT_Buffer_Type_INVALID), 0);
    assert_int_equal(bytes_of_elements(PJRT_Buffer_Type_S4, DIMS(3), 1), 2);
    assert_int_equal(bytes_of_elements(PJRT_Buffer_Type_S4, DIMS(2, 4), 2), 4);
    assert_int_equal(bytes_of_elements(PJRT_Buffer_Type_F32, NULL, 0), 4);
    assert_int_equal(bytes_of_elements(PJRT_Buffer_Type_F32, DIMS(3, 5), 2), 60);
    assert_int_equal(bytes_of_elements(PJRT_Buffer_Type_F32, DIMS(3, 0), 2), 0);
    assert_int_equal(bytes_of_elements(PJRT_Buffer_Type_F32, DIMS(1, -1), 2), 0);
}

static void bytes_beyond_63_bits_are_the_most_there_are(void **state) {
    (void)state;
    const int64_t large = (int64_t)1 << 40;
    assert_true(bytes_of_elements(PJRT_Buffer_Type_F32, DIMS(large, large), 2) == INT64_MAX);
    assert_int_equal(bytes_of_elements(PJRT_Buffer_Type_F32, DIMS(large, 0), 2), 0);
    assert_true(bytes_of_elements(PJRT_Buffer_Type_S8, DIMS((int64_t)1 << 59), 1) == (uint64_t)1
                                                                                         << 59);
}

static void a_host_array_has_whole_bytes_and_a_bound(void **state) {
    (void)state;
    size_t size = 7;
    assert_ok(host_bytes(PJRT_Buffer_Type_F32, DIMS(3, 2), 2, &size));
    assert_int_equal(size, 24);
    assert_ok(host_bytes(PJRT_Buffer_Type_S4, DIMS(3), 1, &size));
    assert_int_equal(size, 3);
    assert_ok(host_bytes(PJRT_Buffer_Type_F32, DIMS(0, 5), 2, &size));
    assert_int_equal(size, 0);
    assert_ok(host_bytes(PJRT_Buffer_Type_F32, NULL, 0, &size));
    assert_int_equal(size, 4);
    keel_status_t status = host_bytes(PJRT_Buffer_Type_F32, DIMS(2, -3), 2, &size);
    assert_string_equal(keel_status_message(status), "an array with a dimension of -3");
    keel_status_ignore(status);
    // A compiler counts as if no dimension were 0, and so ends at such an array.
    status =
        host_bytes(PJRT_Buffer_Type_F32, DIMS(0, (int64_t)1 << 32, (int64_t)1 << 26), 3, &size);
    assert_string_equal(keel_status_message(status), "an array that is larger than any memory");
    keel_status_ignore(status);
    assert_ok(host_bytes(PJRT_Buffer_Type_S8, DIMS((int64_t)1 << 32, (int64_t)1 << 25), 2, &size));
    assert_true(size == (size_t)1 << 57);
}

static void a_tile_pads_the_minor_dimensions(void **state) {
    (void)state;
    PJRT_Buffer_Type type = PJRT_Buffer_Type_F32;
    assert_int_equal(on_device(type, DIMS(10, 20), 2, "{1,0}"), 800);
    assert_int_equal(on_device(type, DIMS(10, 20), 2, "{1,0:T(8,128)}"), 16 * 128 * 4);
    assert_int_equal(on_device(type, DIMS(10, 20), 2, "{0,1:T(8,128)}"), 128 * 24 * 4);
    assert_int_equal(on_device(type, DIMS(16, 256), 2, "{1,0:T(8,128)}"), 16 * 256 * 4);
    assert_int_equal(on_device(type, DIMS(3, 10, 20), 3, "{2,1,0:T(8,128)}"), 3 * 16 * 128 * 4);
    assert_int_equal(on_device(PJRT_Buffer_Type_BF16, DIMS(10, 20), 2, "{1,0:T(8,128)(2,1)}"),
                     16 * 128 * 2);
}

static void a_tile_of_more_dimensions_pads_with_ones(void **state) {
    (void)state;
    PJRT_Buffer_Type type = PJRT_Buffer_Type_F32;
    assert_int_equal(on_device(type, DIMS(5), 1, "{0:T(8,128)}"), 8 * 128 * 4);
    assert_int_equal(on_device(type, DIMS(5), 1, "{0:T(256)}"), 256 * 4);
    assert_int_equal(on_device(type, NULL, 0, "{:T(256)}"), 256 * 4);
}

static void a_layout_that_does_not_fit_pads_nothing(void **state) {
    (void)state;
    PJRT_Buffer_Type type = PJRT_Buffer_Type_F32;
    assert_int_equal(on_device(type, DIMS(10, 20), 2, "{0:T(8,128)}"), 800);
    assert_int_equal(on_device(type, DIMS(10, 20), 2, "{2,0:T(8,128)}"), 800);
    assert_int_equal(on_device(type, DIMS(10, 20), 2, "{1,0:T(0,0)}"), 800);
    assert_int_equal(on_device(type, DIMS(10, 0), 2, "{1,0:T(8,128)}"), 0);
}

static void the_order_of_a_layout_is_read(void **state) {
    (void)state;
    int64_t order[4] = {9, 9, 9, 9};
    assert_int_equal(layout_order("{2,0,1:T(8,128)}", order, 4), 3);
    assert_int_equal(order[0], 2);
    assert_int_equal(order[1], 0);
    assert_int_equal(order[2], 1);
    assert_int_equal(order[3], 9);
    assert_int_equal(layout_order("12,128)", order, 4), 2);
    assert_int_equal(order[0], 12);
    assert_int_equal(order[1], 128);
    assert_int_equal(layout_order("{}", order, 4), 0);
    assert_int_equal(layout_order("{3,2,1,0}", order, 2), 2);
}

// ---- unknown values ----------------------------------------------------------------------------

static void assert_filled(PJRT_Buffer_Type type, keel_rehearse_fill_t fill, const void *expected,
                          size_t size) {
    uint8_t data[40];
    memset(data, 0xaa, sizeof data);
    rehearsal.fill = fill;
    fill_unknown(type, data, size);
    assert_memory_equal(data, expected, size);
    assert_int_equal(data[size], 0xaa);
}

static void unknown_values_are_ones_if_asked_for(void **state) {
    (void)state;
#define ONES(type, c, ...)                                                                         \
    assert_filled(PJRT_Buffer_Type_##type, KEEL_REHEARSE_FILL_ONES, (const c[]){__VA_ARGS__},      \
                  sizeof(const c[]){__VA_ARGS__})
    ONES(F32, float, 1, 1, 1);
    ONES(F64, double, 1, 1);
    ONES(C64, float, 1, 0, 1, 0);
    ONES(C128, double, 1, 0);
    ONES(S32, int32_t, 1, 1);
    ONES(S64, int64_t, 1, 1);
    ONES(PRED, uint8_t, 1, 1, 1);
    ONES(F16, uint16_t, 0x3c00, 0x3c00);
    ONES(BF16, uint16_t, 0x3f80, 0x3f80);
#undef ONES
}

static void unknown_values_are_nan_where_there_is_one(void **state) {
    (void)state;
    static const uint16_t bf16[] = {0x7fc0, 0x7fc0};
    static const uint32_t f32[] = {0x7fc00000, 0x7fc00000}, c64[] = {0x7fc00000, 0}, s32[] = {0, 0};
    assert_filled(PJRT_Buffer_Type_BF16, KEEL_REHEARSE_FILL_NAN, bf16, sizeof bf16);
    assert_filled(PJRT_Buffer_Type_F32, KEEL_REHEARSE_FILL_NAN, f32, sizeof f32);
    assert_filled(PJRT_Buffer_Type_C64, KEEL_REHEARSE_FILL_NAN, c64, sizeof c64);
    assert_filled(PJRT_Buffer_Type_S32, KEEL_REHEARSE_FILL_NAN, s32, sizeof s32);
    assert_filled(PJRT_Buffer_Type_F32, KEEL_REHEARSE_FILL_ZEROS, s32, sizeof s32);
}

// ---- parts -------------------------------------------------------------------------------------

static void parts_are_cut_and_put_together_again(void **state) {
    (void)state;
    // The last part of a dimension is smaller, or empty: 5 rows in parts of 3, 5 columns in 2.
    const keel_array_t array = {.whole = {KEEL_PRIMITIVE_F32, 2, DIMS(5, 5)},
                                .shard = {KEEL_PRIMITIVE_F32, 2, DIMS(3, 2)}};
    static const int64_t places[] = {0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3};
    float numbers[25];
    for (int i = 0; i < 25; ++i)
        numbers[i] = (float)i;
    contents_t *whole = contents_create(sizeof numbers), *again = contents_create(sizeof numbers);
    memcpy(whole->data, numbers, sizeof numbers);
    memset(again->data, 0, sizeof numbers);
    assert_false(is_whole(&array));
    assert_int_equal(shape_bytes(&array.shard), 24);
    for (uint32_t i = 0; i < 8; ++i) {
        contents_t *shard = shards_cut(&array, places, i, whole);
        assert_int_equal(shard->size, 24);
        int64_t row = 3 * places[2 * i], column = 2 * places[2 * i + 1];
        for (int64_t k = 0; k < 6; ++k) {
            int64_t r = row + k / 2, c = column + k % 2;
            float got;
            memcpy(&got, shard->data + 4 * k, sizeof got);
            if (r < 5 && c < 5) assert_true(got == (float)(r * 5 + c));
        }
        shards_put(&array, places, i, again, shard->data);
        contents_release(shard);
    }
    assert_memory_equal(again->data, numbers, sizeof numbers);
    contents_release(again);
    contents_release(whole);
}

static void an_array_that_each_device_has_is_not_copied(void **state) {
    (void)state;
    const keel_array_t array = {.whole = {KEEL_PRIMITIVE_F32, 1, DIMS(3)},
                                .shard = {KEEL_PRIMITIVE_F32, 1, DIMS(3)}};
    contents_t *whole = contents_create(12), *shard = shards_cut(&array, NULL, 1, whole);
    assert_true(is_whole(&array));
    assert_ptr_equal(shard, whole);
    contents_release(shard);
    contents_release(whole);
}

// ---- processes
// -----------------------------------------------------------------------------------

static void assert_process(const char *name, int64_t value, int expected) {
    const PJRT_NamedValue options[] = {{.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                        .name = "other",
                                        .name_size = 5,
                                        .type = PJRT_NamedValue_kInt64,
                                        .int64_value = 3},
                                       {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                        .name = name,
                                        .name_size = strlen(name),
                                        .type = PJRT_NamedValue_kInt64,
                                        .int64_value = value}};
    int process = -1;
    assert_ok(process_number(options, 2, &process));
    assert_int_equal(process, expected);
}

static void a_process_is_told_by_options_or_variables(void **state) {
    (void)state;
    keel_target_t target = {.name = "v5e:4x4", .platform = KEEL_TARGET_TPU, .process_count = 4};
    rehearsal.target = &target;
    assert_process("node_id", 2, 2);
    assert_process("none", 2, 0);
    setenv("TPU_WORKER_ID", "1", 1);
    assert_process("none", 2, 1);
    setenv("KEEL_REHEARSE_PROCESS", "2", 1);
    assert_process("none", 2, 2);
    setenv("CLOUD_TPU_TASK_ID", "3", 1);
    assert_process("none", 2, 3);
    assert_process("node_id", 0, 0);
    // Not on another platform, nor if it is not a number.
    target.platform = KEEL_TARGET_CPU;
    assert_process("none", 2, 2);
    setenv("KEEL_REHEARSE_PROCESS", "2x", 1);
    assert_process("none", 2, 0);
    setenv("KEEL_REHEARSE_PROCESS", "99999999999", 1);
    assert_process("none", 2, 0);
    setenv("KEEL_REHEARSE_PROCESS", "", 1);
    assert_process("none", 2, 0);
    unsetenv("KEEL_REHEARSE_PROCESS");
    unsetenv("CLOUD_TPU_TASK_ID");
    unsetenv("TPU_WORKER_ID");
}

static void assert_no_process(const char *name, int64_t value, const char *words) {
    const PJRT_NamedValue option = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                    .name = name,
                                    .name_size = strlen(name),
                                    .type = PJRT_NamedValue_kInt64,
                                    .int64_value = value};
    int process;
    keel_status_t status = process_number(&option, 1, &process);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    assert_string_equal(keel_status_message(status), words);
    keel_status_ignore(status);
}

static void another_number_of_processes_is_refused(void **state) {
    (void)state;
    const keel_target_t target = {.name = "cpu:4", .process_count = 2};
    rehearsal.target = &target;
    assert_no_process("num_nodes", 1,
                      "the program is started as 1 process, and cpu:4 has 2; start 2, or rehearse "
                      "it on a target of 1");
    assert_no_process(
        "num_nodes", 4,
        "the program is started as 4 processes, and cpu:4 has 2; start 2, or rehearse "
        "it on a target of 4");
    assert_no_process("node_id", 2, "process 2, and cpu:4 has 2");
    assert_process("num_nodes", 2, 0);
    assert_process("node_id", 1, 1);
    setenv("KEEL_REHEARSE_PROCESSES", "3", 1);
    assert_no_process(
        "node_id", 0,
        "the program is started as 3 processes, and cpu:4 has 2; start 2, or rehearse "
        "it on a target of 3");
    unsetenv("KEEL_REHEARSE_PROCESSES");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_smaller_than_a_byte_are_packed),
        cmocka_unit_test(bytes_beyond_63_bits_are_the_most_there_are),
        cmocka_unit_test(a_host_array_has_whole_bytes_and_a_bound),
        cmocka_unit_test(a_tile_pads_the_minor_dimensions),
        cmocka_unit_test(a_tile_of_more_dimensions_pads_with_ones),
        cmocka_unit_test(a_layout_that_does_not_fit_pads_nothing),
        cmocka_unit_test(the_order_of_a_layout_is_read),
        cmocka_unit_test(unknown_values_are_ones_if_asked_for),
        cmocka_unit_test(unknown_values_are_nan_where_there_is_one),
        cmocka_unit_test(parts_are_cut_and_put_together_again),
        cmocka_unit_test(an_array_that_each_device_has_is_not_copied),
        cmocka_unit_test(a_process_is_told_by_options_or_variables),
        cmocka_unit_test(another_number_of_processes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
