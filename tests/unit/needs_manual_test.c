// What each device computes by itself (sdy.manual_computation), as JAX writes it.
#define _GNU_SOURCE
#include "needs_help.h"

#include "read/read.h"
#include "slices.h"

typedef struct read_t {
    uint8_t *data;
    size_t size;
    keel_program_t program;
    keel_needs_t *needs;
} read_t;

static void begin(read_t *out) {
    assert_ok(keel_file_read(KEEL_TEST_SOURCE "/fuzz/corpus/needs/manual.mlir", 1 << 20, &out->data,
                             &out->size));
    assert_ok(keel_read(keel_bytes(out->data, out->size), &out->program));
    assert_ok(keel_needs_create(&out->program, &out->needs));
}

static void end(read_t *read) {
    keel_needs_destroy(read->needs);
    keel_program_deinitialize(&read->program);
    keel_free(read->data);
}

static keel_need_t need_of(const read_t *read, uint32_t result) {
    keel_need_t need;
    assert_ok(keel_needs_of(read->needs, &result, 1, 1000, &need));
    assert_false(need.is_over);
    return need;
}

static const char one_shard[] =
    "slice %1 {limit_indices = [2, 1], start_indices = [0, 0], strides = [1, 1]} : "
    "(tensor<4x2xi32>) -> tensor<2x1xi32>";

static uint32_t count_named(const keel_program_t *program, const char *name) {
    uint32_t count = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op)
        count += slices_is_named(program, op, name);
    return count;
}

static void a_counter_is_computed_for_each_shard(void **state) {
    (void)state;
    static const uint32_t counter = 0;
    const keel_print_options_t options = {.largest_value = 16};
    read_t read;
    keel_program_t part;
    keel_buffer_t text;
    begin(&read);
    keel_need_t need = need_of(&read, counter);
    assert_null(need.across);
    assert_null(need.obstacle);
    assert_true(need.is_bounded);
    assert_int_equal(need.arguments.count, 1);
    assert_int_equal(need.arguments.items[0], 0);
    assert_ok(keel_needs_program(read.needs, &counter, 1, &part));
    assert_ok(slices_check(&part, &need, 1 << 20));
    assert_int_equal(count_named(&part, "slice"), 4);
    assert_int_equal(count_named(&part, "while"), 4);
    assert_int_equal(count_named(&part, "concatenate"), 3); // two rows, and these
    assert_int_equal(count_named(&part, "manual_computation"), 0);
    assert_int_equal(count_named(&part, "all_reduce"), 0);
    assert_true(need.inlined == need.operations); // it calls nothing
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_print_text(&part, &options, &text));
    if (!strstr(keel_buffer_cstr(&text), one_shard)) fail_msg("%s", keel_buffer_cstr(&text));
    keel_buffer_deinitialize(&text);
    keel_program_deinitialize(&part);
    end(&read);
}

static void what_comes_from_other_devices_is_named(void **state) {
    (void)state;
    read_t read;
    begin(&read);
    assert_string_equal(need_of(&read, 1).across, "all_reduce");
    end(&read);
}

// The size of the mesh's first axis.
static int64_t *first_size(keel_program_t *program) {
    for (uint32_t i = 0; i < program->attrs.count; ++i) {
        const keel_attr_t *attr = &program->attrs.data[i];
        if (attr->kind != KEEL_ATTR_DICT || attr->klass != KEEL_RECORD_SDY_MESH_AXIS) continue;
        keel_attr_id_t size = keel_program_dict_find(program, i, "size");
        return &program->ints.data[program->attrs.data[size].b];
    }
    fail_msg("no axis");
    return NULL;
}

static void one_that_is_not_understood_depends_on_all_devices(void **state) {
    (void)state;
    static const uint32_t counter = 0;
    static const int64_t sizes[] = {4, 3, 0, -2, INT64_MAX};
    read_t read;
    keel_program_t part;
    begin(&read);
    int64_t *size = first_size(&read.program);
    assert_int_equal(*size, 2);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        *size = sizes[i]; // no longer as many parts as the types say
        keel_needs_destroy(read.needs);
        assert_ok(keel_needs_create(&read.program, &read.needs));
        assert_string_equal(need_of(&read, counter).across, "manual_computation");
        assert_ok(keel_needs_program(read.needs, &counter, 1, &part));
        assert_int_equal(count_named(&part, "manual_computation"), 1);
        keel_program_deinitialize(&part);
    }
    end(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_is_computed_for_each_shard),
        cmocka_unit_test(what_comes_from_other_devices_is_named),
        cmocka_unit_test(one_that_is_not_understood_depends_on_all_devices),
    };
    return cmocka_run_group_tests_name("needs manual", tests, NULL, NULL);
}
