// Writing HLO: the same program when read again, or a clear refusal.
#include "hlo_proto.h"

#include <dirent.h>

#include "round_trip.h"

static void assert_round_trip(const keel_program_t *program, const char *what) {
    keel_status_t status = round_trip(program);
    if (status) fail_msg("%s: %s", what, keel_status_message(status));
}

static void assert_not_written(const keel_program_t *program, keel_code_t code, const char *words) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_buffer_text(&out, "before");
    keel_status_t status = keel_write_hlo(program, &out);
    assert_int_equal(keel_status_code(status), code);
    if (!strstr(keel_status_message(status), words))
        fail_msg("%s: does not say %s", keel_status_message(status), words);
    assert_string_equal(keel_buffer_cstr(&out), "before");
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
}

// ---- whole modules -----------------------------------------------------------------------------

static unsigned each_of(const char *folder, const char *end) {
    DIR *files = opendir(folder);
    assert_non_null(files);
    unsigned written = 0;
    for (struct dirent *entry; (entry = readdir(files));) {
        char path[1024];
        uint8_t *data;
        size_t size, length = strlen(entry->d_name);
        keel_program_t program;
        if (length < strlen(end) || strcmp(entry->d_name + length - strlen(end), end) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        assert_null(keel_file_read(path, 1 << 24, &data, &size));
        keel_status_t status = keel_read_hlo(keel_bytes(data, size), &program);
        if (status) fail_msg("%s: %s", path, keel_status_message(status));
        if (program.left_out)
            assert_not_written(&program, KEEL_UNSUPPORTED, program.left_out);
        else
            assert_round_trip(&program, path);
        written += !program.left_out;
        keel_program_deinitialize(&program);
        keel_free(data);
    }
    closedir(files);
    return written;
}

static void samples_are_written_as_they_were_read(void **state) {
    (void)state;
    assert_true(each_of(KEEL_TEST_SAMPLES "/hlo", ".hlo") >= 5);
    assert_true(each_of(KEEL_TEST_SAMPLES "/explain", ".hlo") >= 20);
}

enum {
    MODULE_COMPUTATIONS = 3,
    COMPUTATION_INSTRUCTIONS = 2,
    COMPUTATION_ID = 5,
    INSTRUCTION_ID = 35
};

// Notes the ids of a message below a module: each is one more.
static void note_ids(keel_bytes_t message, uint32_t id, keel_map_t *ids) {
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (id == COMPUTATION_ID && field.number == COMPUTATION_INSTRUCTIONS)
            note_ids(field.bytes, INSTRUCTION_ID, ids);
        if (field.number != id) continue;
        assert_true(field.value > 0);
        assert_null(keel_map_find(ids, keel_bytes(&field.value, sizeof field.value)));
        assert_null(keel_map_put(ids, keel_bytes(&field.value, sizeof field.value), 1));
    }
    assert_false(cursor.failed);
}

static void no_two_ids_of_a_module_are_the_same(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    keel_program_t program;
    keel_buffer_t out;
    keel_map_t ids;
    assert_null(keel_file_read(KEEL_TEST_SAMPLES "/hlo/conv_pool.hlo", 1 << 24, &data, &size));
    assert_null(keel_read_hlo(keel_bytes(data, size), &program));
    keel_buffer_initialize(&out, 0);
    assert_null(keel_write_hlo(&program, &out));
    keel_map_initialize(&ids);
    keel_cursor_t cursor = keel_cursor(keel_buffer_bytes(&out));
    keel_proto_field_t field;
    unsigned computations = 0;
    while (keel_proto_next(&cursor, &field))
        if (field.number == MODULE_COMPUTATIONS) {
            note_ids(field.bytes, COMPUTATION_ID, &ids);
            ++computations;
        }
    assert_true(computations > 1);
    keel_map_deinitialize(&ids);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&program);
    keel_free(data);
}

static void modules_of_every_kind_are_written_as_they_were_read(void **state) {
    (void)state;
    assert_true(each_of(KEEL_TEST_SOURCE "/fuzz/corpus/hlo", ".hlo") >= 17);
}

// ---- small ones --------------------------------------------------------------------------------

// A constant of `count` numbers in that field of LiteralProto.
static proto_t constant(int element, int64_t count, unsigned field, const void *data, size_t size) {
    proto_t one = proto(), type = shape(element, &count, 1), same = shape(element, &count, 1);
    proto_t literal = proto();
    put_text(&one, 2, "constant");
    put_message(&one, 3, &type);
    put_message(&literal, 1, &same);
    put_bytes(&literal, field, data, size);
    put_message(&one, 8, &literal);
    return one;
}

static void constants_of_every_element_are_written_as_they_were_read(void **state) {
    (void)state;
    static const struct {
        int element;
        unsigned field, size; // bytes of one number
        unsigned parts;
    } cases[] = {{1, 2, 0, 1},   {2, 15, 1, 1},  {3, 17, 2, 1},  {4, 4, 0, 1},   {5, 5, 0, 1},
                 {6, 3, 1, 1},   {7, 16, 2, 1},  {8, 6, 0, 1},   {9, 7, 0, 1},   {10, 11, 2, 1},
                 {11, 8, 4, 1},  {12, 9, 8, 1},  {15, 12, 4, 2}, {16, 13, 2, 1}, {18, 18, 8, 2},
                 {19, 19, 1, 1}, {20, 20, 1, 1}, {21, 21, 1, 1}, {22, 22, 1, 1}, {23, 23, 1, 1},
                 {24, 24, 1, 1}, {25, 25, 1, 1}, {26, 26, 1, 1}, {27, 27, 1, 1}, {28, 28, 1, 1},
                 {29, 29, 1, 1}, {30, 30, 1, 1}, {31, 31, 1, 1}, {32, 32, 1, 1}, {33, 33, 1, 1},
                 {35, 35, 1, 1}, {36, 36, 1, 1}};
    enum { COUNT = 3 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        // Negative numbers, and numbers with the high bits of a byte.
        static const int64_t values[] = {-1, 0, 1};
        static const uint8_t bytes[] = {0xff, 0x80, 1, 0x0e, 0x7f, 2, 3, 0, 0xf1};
        uint8_t all[48];
        for (size_t at = 0; at < sizeof all; ++at)
            all[at] = bytes[at % sizeof bytes];
        proto_t packed = proto();
        for (int at = 0; at < COUNT; ++at)
            varint(&packed,
                   cases[i].element == 1 ? (uint64_t)(values[at] != 0) : (uint64_t)values[at]);
        size_t size = (size_t)COUNT * cases[i].size * cases[i].parts;
        proto_t one = cases[i].size ? constant(cases[i].element, COUNT, cases[i].field, all, size)
                                    : constant(cases[i].element, COUNT, cases[i].field, packed.data,
                                               packed.size);
        proto_t whole = module_of_one(&one);
        keel_program_t program;
        char what[32];
        snprintf(what, sizeof what, "element type %d", cases[i].element);
        assert_read(&whole, &program);
        assert_round_trip(&program, what);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&whole);
        keel_buffer_deinitialize(&packed);
    }
}

// The elements of the only constant of a program, as the wire has them.
static keel_bytes_t written_elements(keel_bytes_t module, const uint32_t *path, size_t depth) {
    keel_bytes_t here = module;
    for (size_t i = 0; i < depth; ++i) {
        keel_cursor_t cursor = keel_cursor(here);
        keel_proto_field_t field;
        bool found = false;
        while (!found && keel_proto_next(&cursor, &field))
            found = field.number == path[i];
        if (!found) fail_msg("no field %u", path[i]);
        here = field.bytes;
    }
    return here;
}

static void a_splat_is_written_in_full(void **state) {
    (void)state;
    static const uint8_t number[] = {1, 2, 3, 4};
    static const uint32_t path[] = {3, 2, 8, 8}; // computations, instructions, literal, f32s
    uint8_t four[16];
    for (size_t i = 0; i < sizeof four; ++i)
        four[i] = number[i % 4];
    proto_t one = constant(F32, 4, 8, four, sizeof four), whole = module_of_one(&one);
    keel_program_t program;
    keel_buffer_t out;
    assert_read(&whole, &program);
    program.blobs.data[op_attr(&program, 0, "literal").b] = keel_bytes(number, sizeof number);
    keel_buffer_initialize(&out, 0);
    assert_null(keel_write_hlo(&program, &out));
    keel_bytes_t written = written_elements(keel_buffer_bytes(&out), path, 4);
    assert_int_equal(written.size, sizeof four);
    assert_memory_equal(written.data, four, sizeof four);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

// Reading leaves them out, and XLA wants them.
static void parameters_of_the_programs_shape_are_named(void **state) {
    (void)state;
    static const uint32_t path[] = {4, 3}; // host_program_shape, parameter_names
    proto_t one = instruction("parameter", 1, NULL, 0), body = proto(), shapes = proto();
    proto_t first = shape(F32, NULL, 0), second = shape(S32, NULL, 0), result = shape(F32, NULL, 0);
    put_message(&body, 2, &one);
    proto_t whole = module_of(&body, 1);
    put_message(&shapes, 1, &first);
    put_message(&shapes, 1, &second);
    put_message(&shapes, 2, &result);
    put_message(&whole, 4, &shapes);
    keel_program_t program;
    keel_buffer_t out;
    assert_read(&whole, &program);
    keel_buffer_initialize(&out, 0);
    assert_null(keel_write_hlo(&program, &out));
    keel_bytes_t name = written_elements(keel_buffer_bytes(&out), path, 2);
    assert_true(keel_bytes_equal(name, keel_str_bytes(KEEL_STR("p0"))));
    // The other one follows, and then the message ends.
    static const uint8_t last[] = {3 << 3 | 2, 2, 'p', '1'};
    keel_bytes_t all = written_elements(keel_buffer_bytes(&out), path, 1);
    assert_ptr_equal(name.data + name.size + sizeof last, all.data + all.size);
    assert_memory_equal(name.data + name.size, last, sizeof last);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

// ---- refusals ----------------------------------------------------------------------------------

// parameter -> negate
static void read_pair(keel_program_t *program, proto_t *whole) {
    static const int64_t one[] = {1};
    proto_t parameter = instruction("parameter", 1, NULL, 0), body = proto();
    proto_t negate = instruction("negate", 2, one, 1);
    put_message(&body, 2, &parameter);
    put_message(&body, 2, &negate);
    *whole = module_of(&body, 2);
    assert_read(whole, program);
}

static void what_reading_left_out_is_not_written(void **state) {
    (void)state;
    static const uint8_t value[] = {0x0a, 0};
    proto_t one = instruction("parameter", 1, NULL, 0), body = proto();
    put_bytes(&one, 88, value, sizeof value); // original_value
    put_message(&body, 2, &one);
    proto_t whole = module_of(&body, 1);
    keel_program_t program;
    assert_read(&whole, &program);
    assert_not_written(&program, KEEL_UNSUPPORTED, "original_value was left out");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

static void a_program_in_mlir_is_not_written(void **state) {
    (void)state;
    keel_program_t program;
    keel_program_initialize(&program);
    assert_not_written(&program, KEEL_UNSUPPORTED, "MLIR");
}

static void references_that_cannot_be_are_not_written(void **state) {
    (void)state;
    keel_program_t program;
    proto_t whole;
    read_pair(&program, &whole);
    assert_round_trip(&program, "a pair");
    program.operands.data[0] = 1; // itself
    assert_not_written(&program, KEEL_INVALID, "an operand is not in its computation");
    program.operands.data[0] = 0;
    program.functions.data[0].root = 2;
    assert_not_written(&program, KEEL_INVALID, "root");
    program.functions.data[0].root = 1;
    program.blocks.data[0].end_op = 1;
    program.functions.data[0].root = 0;
    assert_not_written(&program, KEEL_INVALID, "in no computation");
    program.blocks.data[0].end_op = 2;
    program.entry = 1;
    assert_not_written(&program, KEEL_INVALID, "entry");
    program.entry = 0;
    // What a computation of HLO has no place for.
    uint32_t *const none[] = {&program.functions.data[0].operation, &program.functions.data[0].type,
                              &program.functions.data[0].argument_attributes,
                              &program.functions.data[0].result_attributes};
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
        *none[i] = 0;
        assert_not_written(&program, KEEL_INVALID, "one block without arguments");
        *none[i] = KEEL_NONE;
    }
    program.blocks.data[0].argument_count = 1;
    assert_not_written(&program, KEEL_INVALID, "one block without arguments");
    program.blocks.data[0].argument_count = 0;
    program.operations.data[1].first_result = 0;
    assert_not_written(&program, KEEL_INVALID, "one result");
    program.operations.data[1].first_result = 1;
    program.op_names.data[0].version = 2;
    assert_not_written(&program, KEEL_UNSUPPORTED, "not an instruction of HLO");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

// Gives the second operation one attribute of that name.
static void set_attribute(keel_program_t *program, const char *name, keel_attr_t attr) {
    uint32_t pair[2], list;
    assert_null(keel_program_add_text(program, keel_str(name), &pair[0]));
    assert_null(keel_program_add_attr(program, attr, &pair[1]));
    assert_null(keel_program_add_list(program, pair, 2, &list));
    assert_null(keel_program_add_attr(program, (keel_attr_t){.kind = KEEL_ATTR_DICT, .b = list},
                                      &program->operations.data[1].attributes));
}

static void attributes_that_xla_lacks_are_not_written(void **state) {
    (void)state;
    const keel_attr_t unit = {.kind = KEEL_ATTR_UNIT};
    const keel_attr_t precision = {.kind = KEEL_ATTR_ENUM, .klass = KEEL_ENUM_PRECISION, .a = 1};
    keel_program_t program;
    proto_t whole;
    uint32_t large;
    read_pair(&program, &whole);
    set_attribute(&program, "no_such_field", unit);
    assert_not_written(&program, KEEL_UNSUPPORTED,
                       "HloInstructionProto has no attribute no_such_field");
    set_attribute(&program, "opcode", unit); // a field, but no attribute
    assert_not_written(&program, KEEL_UNSUPPORTED, "no attribute opcode");
    set_attribute(&program, "statistics_viz", unit); // a field that is skipped
    assert_not_written(&program, KEEL_UNSUPPORTED, "no attribute statistics_viz");
    set_attribute(&program, "channel_id", unit);
    assert_not_written(&program, KEEL_UNSUPPORTED, "channel_id cannot be");
    set_attribute(&program, "fft_type", precision); // of another enumeration
    assert_not_written(&program, KEEL_UNSUPPORTED, "fft_type cannot be");
    assert_null(keel_program_add_int(&program, INT64_C(1) << 40, &large));
    set_attribute(&program, "channel_id",
                  (keel_attr_t){.kind = KEEL_ATTR_INT, .a = KEEL_NONE, .b = large});
    assert_round_trip(&program, "a large channel_id");
    set_attribute(&program, "exponent_bits",
                  (keel_attr_t){.kind = KEEL_ATTR_INT, .a = KEEL_NONE, .b = large}); // 32 bits
    assert_not_written(&program, KEEL_UNSUPPORTED, "exponent_bits cannot be");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

static keel_attr_id_t dict_of(keel_program_t *program, const uint32_t *pairs, uint32_t count) {
    keel_attr_t attr = {.kind = KEEL_ATTR_DICT};
    keel_attr_id_t id;
    assert_null(keel_program_add_list(program, pairs, count, &attr.b));
    assert_null(keel_program_add_attr(program, attr, &id));
    return id;
}

// Tuples in tuples, deeper than any reader goes.
static void a_literal_that_is_nested_too_deep_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    proto_t whole;
    keel_string_id_t shape, elements, literal;
    keel_attr_id_t type, held = KEEL_NONE;
    read_pair(&program, &whole);
    assert_null(keel_program_add_text(&program, KEEL_STR("shape"), &shape));
    assert_null(keel_program_add_text(&program, KEEL_STR("tuple_literals"), &elements));
    assert_null(keel_program_add_text(&program, KEEL_STR("literal"), &literal));
    keel_attr_t of_type = {.kind = KEEL_ATTR_TYPE, .a = program.value_types.data[1]};
    assert_null(keel_program_add_attr(&program, of_type, &type));
    for (unsigned depth = 0; depth < 200; ++depth) {
        keel_attr_t list = {.kind = KEEL_ATTR_ARRAY};
        keel_attr_id_t parts;
        assert_null(keel_program_add_list(&program, &held, depth > 0, &list.b));
        assert_null(keel_program_add_attr(&program, list, &parts));
        held = dict_of(&program, (uint32_t[]){shape, type, elements, parts}, 4);
    }
    program.operations.data[1].attributes = dict_of(&program, (uint32_t[]){literal, held}, 2);
    assert_not_written(&program, KEEL_UNSUPPORTED, "nested more than 64 deep");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

// A named location of the program around another, which is a file's if there is none.
static keel_attr_id_t located(keel_program_t *program, keel_attr_kind_t kind, const char *name,
                              uint32_t rest) {
    keel_string_id_t text;
    keel_attr_id_t id;
    assert_null(keel_program_add_text(program, keel_str(name), &text));
    assert_null(keel_program_add_attr(
        program, (keel_attr_t){.kind = (uint8_t)kind, .a = text, .b = rest}, &id));
    return id;
}

// Line, column, end line and end column; those at the end may be unknown.
static void the_place_of_an_operation_is_written_whole(void **state) {
    (void)state;
    static const uint32_t numbers[] = {41, 3, 42, 9};
    for (uint32_t count = 1; count <= 4; ++count) {
        keel_program_t program, again;
        proto_t whole;
        uint32_t list;
        keel_buffer_t out;
        read_pair(&program, &whole);
        assert_null(keel_program_add_list(&program, numbers, count, &list));
        keel_attr_id_t file = located(&program, KEEL_ATTR_LOC_FILE, "/w/train.py", list);
        keel_attr_id_t function = located(&program, KEEL_ATTR_LOC_NAME, "step", file);
        program.operations.data[1].location =
            located(&program, KEEL_ATTR_LOC_NAME, "jit(f)/neg", function);
        keel_buffer_initialize(&out, 0);
        assert_null(keel_write_hlo(&program, &out));
        assert_null(keel_read_hlo(keel_buffer_bytes(&out), &again));
        const keel_attr_t *named = keel_program_attr(&again, again.operations.data[1].location);
        assert_true(keel_str_is(keel_program_str(&again, named->a), "jit(f)/neg"));
        const keel_attr_t *in = keel_program_attr(&again, named->b);
        assert_true(keel_str_is(keel_program_str(&again, in->a), "step"));
        const keel_attr_t *place = keel_program_attr(&again, in->b);
        assert_int_equal(place->kind, KEEL_ATTR_LOC_FILE);
        assert_true(keel_str_is(keel_program_str(&again, place->a), "/w/train.py"));
        keel_list_t got = keel_program_list(&again, place->b);
        assert_int_equal(got.count, count);
        assert_memory_equal(got.items, numbers, count * sizeof *numbers);
        keel_buffer_deinitialize(&out);
        keel_program_deinitialize(&program);
        keel_program_deinitialize(&again);
        keel_buffer_deinitialize(&whole);
    }
}

static void a_location_of_another_form_is_not_written(void **state) {
    (void)state;
    keel_program_t program;
    proto_t whole;
    keel_attr_id_t fused;
    read_pair(&program, &whole);
    assert_null(keel_program_add_attr(
        &program, (keel_attr_t){.kind = KEEL_ATTR_LOC_FUSED, .a = KEEL_NONE, .b = KEEL_NONE},
        &fused));
    program.operations.data[1].location = fused;
    assert_not_written(&program, KEEL_UNSUPPORTED, "location");
    keel_attr_t cycle = {.kind = KEEL_ATTR_LOC_CALLSITE, .a = fused, .b = fused + 1};
    assert_null(keel_program_add_attr(&program, cycle, &program.operations.data[1].location));
    assert_not_written(&program, KEEL_UNSUPPORTED, "location");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

// A tuple of tuples of ..., each of which holds the one below it 32 times.
static void a_program_that_would_grow_without_end_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    proto_t whole;
    read_pair(&program, &whole);
    uint32_t type = program.value_types.data[1];
    for (int depth = 0; depth < 40; ++depth) {
        uint32_t parts[32], list;
        for (int i = 0; i < 32; ++i)
            parts[i] = type;
        assert_null(keel_program_add_list(&program, parts, 32, &list));
        keel_type_t tuple = {.kind = KEEL_TYPE_TUPLE, .b = list, .c = KEEL_NONE};
        type = program.types.count;
        assert_null(keel_table_reserve(&program.types, 1));
        program.types.data[program.types.count++] = tuple;
    }
    program.value_types.data[1] = (uint16_t)type;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 1 << 20);
    keel_status_t status = keel_write_hlo(&program, &out);
    assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
    // Deeper than any reader goes.
    for (int depth = 0; depth < 40; ++depth) {
        uint32_t list;
        assert_null(keel_program_add_list(&program, &type, 1, &list));
        keel_type_t tuple = {.kind = KEEL_TYPE_TUPLE, .b = list, .c = KEEL_NONE};
        type = program.types.count;
        assert_null(keel_table_reserve(&program.types, 1));
        program.types.data[program.types.count++] = tuple;
    }
    program.value_types.data[1] = (uint16_t)type;
    assert_not_written(&program, KEEL_UNSUPPORTED, "nested more than 64 deep");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_written_as_they_were_read),
        cmocka_unit_test(no_two_ids_of_a_module_are_the_same),
        cmocka_unit_test(modules_of_every_kind_are_written_as_they_were_read),
        cmocka_unit_test(constants_of_every_element_are_written_as_they_were_read),
        cmocka_unit_test(a_splat_is_written_in_full),
        cmocka_unit_test(parameters_of_the_programs_shape_are_named),
        cmocka_unit_test(what_reading_left_out_is_not_written),
        cmocka_unit_test(a_program_in_mlir_is_not_written),
        cmocka_unit_test(references_that_cannot_be_are_not_written),
        cmocka_unit_test(attributes_that_xla_lacks_are_not_written),
        cmocka_unit_test(a_literal_that_is_nested_too_deep_is_refused),
        cmocka_unit_test(the_place_of_an_operation_is_written_whole),
        cmocka_unit_test(a_location_of_another_form_is_not_written),
        cmocka_unit_test(a_program_that_would_grow_without_end_is_refused),
    };
    return cmocka_run_group_tests_name("write hlo", tests, NULL, NULL);
}
