// A program as JSON, read back: every sample's is JSON, and has each operation with its types.
#define _GNU_SOURCE
#include <jansson.h>

#include "hlo_proto.h"
#include "place.h"
#include "read/print.h"

// Prints it, and reads what was printed.
static json_t *json_of(const keel_program_t *program) {
    keel_buffer_t out;
    json_error_t error;
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_print_json(program, &out));
    json_t *json =
        json_loadb((const char *)out.data, out.size,
                   JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    if (!json) fail_msg("%s at byte %d", error.text, error.position);
    keel_buffer_deinitialize(&out);
    return json;
}

static size_t count_operations(const json_t *operations);

static size_t count_regions(const json_t *regions) {
    size_t count = 0, at, place;
    json_t *region, *block;
    assert_true(json_is_array(regions));
    json_array_foreach(regions, at, region) {
        assert_true(json_is_array(json_object_get(region, "blocks")));
        json_array_foreach(json_object_get(region, "blocks"), place, block) {
            assert_true(json_is_array(json_object_get(block, "arguments")));
            count += count_operations(json_object_get(block, "operations"));
        }
    }
    return count;
}

static void check_types(const json_t *operation, const char *values, const char *types) {
    size_t at;
    json_t *type;
    assert_int_equal(json_array_size(json_object_get(operation, values)),
                     json_array_size(json_object_get(operation, types)));
    json_array_foreach(json_object_get(operation, types), at, type)
        assert_true(json_is_string(type) && json_string_length(type));
}

static size_t count_operations(const json_t *operations) {
    size_t count = 0, at;
    json_t *operation;
    assert_true(json_is_array(operations));
    json_array_foreach(operations, at, operation) {
        assert_true(json_string_length(json_object_get(operation, "name")));
        assert_true(json_is_object(json_object_get(operation, "attributes")));
        check_types(operation, "operands", "operand_types");
        check_types(operation, "results", "result_types");
        count += 1 + count_regions(json_object_get(operation, "regions"));
    }
    return count;
}

static void check_signature(const json_t *function) {
    static const char *const lists[] = {"arguments", "results"};
    for (size_t i = 0; i < 2; ++i) {
        size_t at;
        json_t *value;
        assert_true(json_is_array(json_object_get(function, lists[i])));
        json_array_foreach(json_object_get(function, lists[i]), at, value) {
            assert_true(json_string_length(json_object_get(value, "type")));
            assert_true(json_is_object(json_object_get(value, "attributes")));
        }
    }
}

static void check_program(const keel_program_t *program) {
    json_t *json = json_of(program), *function;
    size_t at, named = 0, count = count_operations(json_object_get(json, "operations"));
    json_array_foreach(json_object_get(json, "functions"), at, function) {
        check_signature(function);
        named += json_is_string(json_object_get(function, "name"));
        count += count_operations(json_object_get(function, "operations"));
    }
    assert_int_equal(json_array_size(json_object_get(json, "functions")), named);
    // In MLIR a function is an operation too, and so is the module.
    size_t all = keel_program_op_count(program);
    assert_in_range(count, all > named + 1 ? all - named - 1 : 0, all);
    json_decref(json);
}

static void every_sample_is_json_with_all_of_its_operations(void **state) {
    (void)state;
    static const char *const folders[] = {"mlir", "hlo", "explain"};
    unsigned count = 0;
    for (size_t i = 0; i < 3; ++i) {
        char folder[500];
        snprintf(folder, sizeof folder, "%s/%s", KEEL_TEST_SAMPLES, folders[i]);
        DIR *directory = opendir(folder);
        assert_non_null(directory);
        for (struct dirent *e; (e = readdir(directory));) {
            char path[800];
            uint8_t *bytes;
            size_t size;
            keel_program_t program;
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            if (e->d_name[0] == '.' || !keel_is_file(path)) continue;
            assert_ok(keel_file_read(path, 1 << 24, &bytes, &size));
            keel_program_initialize(&program);
            keel_status_t status = keel_read(keel_bytes(bytes, size), &program);
            if (!status && size < 200000) check_program(&program), ++count;
            keel_status_ignore(status);
            keel_program_deinitialize(&program);
            keel_free(bytes);
        }
        closedir(directory);
    }
    assert_true(count > 100);
}

static const char *text_at(const json_t *list, size_t at, const char *name) {
    const char *text = json_string_value(json_object_get(json_array_get(list, at), name));
    return text ? text : "";
}

// HLO has no list of results: they are those of the root.
static void a_computation_has_the_result_of_its_root(void **state) {
    (void)state;
    const int64_t operands[] = {1, 1}, dims[] = {5};
    proto_t body = proto(), one = instruction("parameter", 1, NULL, 0), type = shape(S32, dims, 1);
    put_message(&body, 2, &one);
    one = proto();
    put_text(&one, 2, "add");
    put_message(&one, 3, &type);
    put_int(&one, 35, 2);
    put_packed(&one, 36, operands, 2);
    put_message(&body, 2, &one);
    proto_t module = module_of(&body, 2);
    keel_program_t program;
    assert_read(&module, &program);
    json_t *json = json_of(&program);
    const json_t *function = json_array_get(json_object_get(json, "functions"), 0);
    const json_t *results = json_object_get(function, "results");
    const json_t *operations = json_object_get(function, "operations");
    assert_int_equal(json_array_size(results), 1);
    assert_string_equal(text_at(results, 0, "type"), "tensor<5xi32, {0}>");
    assert_int_equal(json_array_size(operations), 2);
    assert_string_equal(text_at(operations, 0, "name"), "parameter");
    assert_string_equal(text_at(operations, 1, "name"), "add");
    assert_int_equal(json_array_size(json_object_get(json_array_get(operations, 1), "operands")),
                     2);
    json_decref(json);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_json_with_all_of_its_operations),
        cmocka_unit_test(a_computation_has_the_result_of_its_root),
    };
    return cmocka_run_group_tests_name("print_json", tests, NULL, NULL);
}
