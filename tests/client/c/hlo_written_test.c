// What Keel writes as HLO does what the client's own bytes do: both are compiled by the real plugin
// and executed on the same arguments, and every bit of the results is the same.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "read/hlo_writer.h"
#include "read/read.h"
#include "read/write.h"
#include "unit/pjrt_help.h"

enum { MOST = 64, LARGEST = 1 << 20 };

typedef struct outcome_t {
    size_t count;
    size_t sizes[MOST];
    uint8_t *bytes[MOST];
} outcome_t;

static PJRT_Buffer_Type buffer_type(uint32_t element) {
    if (element == 16) return PJRT_Buffer_Type_BF16;
    CHECK(element >= 1 && element <= 12); // XLA's numbers are PJRT's as far as f64
    return (PJRT_Buffer_Type)element;
}

// Small numbers, different in sign; integers are indices too, so they are 0 and 1.
static void fill(uint32_t element, uint8_t *out, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        float small = (float)((int)(i * 5 % 11) - 5) / 8;
        double large = small;
        uint64_t number = i % 2;
        uint32_t bits;
        memcpy(&bits, &small, sizeof bits);
        uint16_t half = (uint16_t)(bits >> 16);
        switch (buffer_type(element)) {
            case PJRT_Buffer_Type_F32:
                memcpy(out + 4 * i, &small, 4);
                break;
            case PJRT_Buffer_Type_F64:
                memcpy(out + 8 * i, &large, 8);
                break;
            case PJRT_Buffer_Type_BF16:
                memcpy(out + 2 * i, &half, 2);
                break;
            default:
                memcpy(out + keel_hlo_element(element)->size * i, &number,
                       keel_hlo_element(element)->size);
        }
    }
}

static PJRT_Buffer *make_argument(const PJRT_Api *api, PJRT_Client *client,
                                  const keel_program_t *program, keel_type_id_t id) {
    static uint8_t data[LARGEST];
    const keel_type_t *type = keel_program_type(program, id);
    CHECK(type->kind == KEEL_TYPE_TENSOR);
    uint32_t element = keel_hlo_element_number(program, type->a);
    keel_ints_t dims = keel_program_ints(program, type->b);
    size_t count = 1;
    for (uint32_t i = 0; i < dims.count; ++i)
        count *= (size_t)dims.items[i];
    CHECK(count * 8 <= sizeof data);
    fill(element, data, count);
    return door_to_device(api, client, data, buffer_type(element), dims.items, dims.count);
}

static size_t make_arguments(const PJRT_Api *api, PJRT_Client *client,
                             const keel_program_t *program, PJRT_Buffer **out) {
    const keel_block_t *body = keel_program_body(program, program->entry);
    size_t count = 0;
    for (keel_op_id_t op = body->first_op; op < body->end_op; ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        if (!keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name),
                         "parameter"))
            continue;
        int64_t number = keel_program_number(
            program, keel_program_dict_find(program, operation->attributes, "parameter_number"), 0);
        CHECK(number >= 0 && number < MOST);
        out[number] =
            make_argument(api, client, program, program->value_types.data[operation->first_result]);
        ++count;
    }
    return count;
}

static size_t result_count(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_Executable *executable = door_take(api, loaded);
    PJRT_Executable_NumOutputs_Args args = {
        .struct_size = PJRT_Executable_NumOutputs_Args_STRUCT_SIZE, .executable = executable};
    NO_ERROR(api, api->PJRT_Executable_NumOutputs(&args));
    door_destroy_executable(api, executable);
    CHECK(args.num_outputs <= MOST);
    return args.num_outputs;
}

static void compute(const PJRT_Api *api, PJRT_Client *client, keel_bytes_t code,
                    const keel_program_t *program, outcome_t *out) {
    static uint8_t data[LARGEST];
    PJRT_LoadedExecutable *loaded;
    PJRT_Buffer *arguments[MOST] = {0}, *results[MOST];
    NO_ERROR(api, door_compile_bytes(api, client, "hlo", code, &loaded));
    size_t count = make_arguments(api, client, program, arguments);
    out->count = result_count(api, loaded);
    door_compute(api, loaded, arguments, count, results);
    for (size_t i = 0; i < out->count; ++i) {
        out->sizes[i] = door_to_host(api, results[i], data, sizeof data);
        out->bytes[i] = malloc(out->sizes[i] + 1);
        CHECK(out->bytes[i]);
        memcpy(out->bytes[i], data, out->sizes[i]);
        door_drop_buffer(api, results[i]);
    }
    for (size_t i = 0; i < count; ++i)
        door_drop_buffer(api, arguments[i]);
    door_destroy(api, loaded);
}

static void test_one(const PJRT_Api *api, PJRT_Client *client, const char *name) {
    char path[1024];
    uint8_t *data;
    size_t size, bytes = 0;
    keel_program_t program;
    keel_buffer_t written;
    outcome_t before, after;
    snprintf(path, sizeof path, "%s/%s.hlo", KEEL_TEST_SAMPLES, name);
    assert_null(keel_file_read(path, LARGEST, &data, &size));
    assert_null(keel_read_hlo(keel_bytes(data, size), &program));
    keel_buffer_initialize(&written, 0);
    assert_null(keel_write_hlo(&program, &written));
    compute(api, client, keel_bytes(data, size), &program, &before);
    compute(api, client, keel_buffer_bytes(&written), &program, &after);
    assert_int_equal(before.count, after.count);
    assert_true(before.count > 0);
    for (size_t i = 0; i < before.count; ++i) {
        assert_int_equal(before.sizes[i], after.sizes[i]);
        assert_memory_equal(before.bytes[i], after.bytes[i], before.sizes[i]);
        bytes += before.sizes[i];
        free(before.bytes[i]);
        free(after.bytes[i]);
    }
    print_message("  %s: %zu results, %zu bytes\n", name, before.count, bytes);
    keel_buffer_deinitialize(&written);
    keel_program_deinitialize(&program);
    keel_free(data);
}

static void what_is_written_computes_the_same_bits(void **state) {
    (void)state;
    static const char *const names[] = {
        "hlo/conv_pool",
        "hlo/linear_step",
        "hlo/linear_step_nodebug",
        "hlo/where",
        "explain/torch_adamw_state.after",
        "explain/torch_conv_stride.before",
        "explain/torch_dropout_off.before",
        "explain/torch_donation_in_place.before",
        "explain/torch_gradient_zeroed_in_place.before",
        "explain/torch_size_of_a_slice_in_training.after",
    };
    setenv("KEEL_CONFIG", "/dev/null", 1);
    setenv("KEEL_PLUGIN", KEEL_EMBEDDED_PLUGIN, 1);
    setenv("KEEL_MODE", "off", 1); // both have one key: the second would be loaded, not compiled
    setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
    const PJRT_Api *api = door_open(KEEL_DOOR);
    PJRT_Client *client = door_client(api);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        test_one(api, client, names[i]);
    door_close(api, client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_computes_the_same_bits),
    };
    return cmocka_run_group_tests_name("hlo written", tests, NULL, NULL);
}
