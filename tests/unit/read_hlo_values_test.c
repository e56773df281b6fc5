#include <stdlib.h>

#include "hlo_proto.h"

// ---- types -------------------------------------------------------------------------------------

static proto_t with_shape(proto_t *type) {
    proto_t one = proto();
    put_text(&one, 2, "parameter");
    put_message(&one, 3, type);
    return module_of_one(&one);
}

static keel_type_t type_of(const keel_program_t *program, keel_value_id_t value) {
    return program->types.data[program->value_types.data[value]];
}

static void tail_padding_of_one_is_the_same_as_none(void **state) {
    (void)state;
    proto_t type = proto(), layout = proto();
    put_int(&type, 2, F32);
    put_int(&layout, 16, 1);
    put_message(&type, 5, &layout);
    proto_t module = with_shape(&type);
    keel_program_t program;
    assert_read(&module, &program);
    keel_type_t got = type_of(&program, 0);
    assert_int_equal(got.kind, KEEL_TYPE_TENSOR);
    assert_int_equal(program.types.data[got.a].a, KEEL_FLOAT_F32);
    assert_int_equal(program.attrs.data[got.c].kind, KEEL_ATTR_DICT);
    assert_int_equal(keel_program_list(&program, program.attrs.data[got.c].b).count, 0);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void dynamic_dimensions_keep_their_bounds(void **state) {
    (void)state;
    const int64_t dims[] = {8, 4}, flags[] = {1, 0};
    proto_t type = shape(F32, dims, 2);
    put_packed(&type, 6, flags, 2);
    proto_t module = with_shape(&type);
    keel_program_t program;
    assert_read(&module, &program);
    keel_type_t got = type_of(&program, 0);
    assert_int_equal(keel_program_ints(&program, got.b).items[0], 8);
    keel_ints_t dynamic = ints_of(&program, attr_of(&program, got.c, "is_dynamic_dimension"));
    assert_int_equal(dynamic.count, 2);
    assert_int_equal(dynamic.items[0], 1);
    assert_int_equal(attr_of(&program, got.c, "layout").kind, KEEL_ATTR_DICT);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static proto_t nested_tuple(int depth) {
    proto_t type = shape(S32, NULL, 0);
    for (int i = 0; i < depth; ++i) {
        proto_t outer = proto();
        put_int(&outer, 2, TUPLE);
        put_message(&outer, 4, &type);
        type = outer;
    }
    return type;
}

// XLA's PrimitiveType has grown to 36: a number beyond is one of tomorrow, or damage.
static void elements_that_are_not_known_are_refused(void **state) {
    (void)state;
    for (int element = 0; element < 200; ++element) {
        proto_t one = instruction("parameter", 1, NULL, 0), type = shape(element, NULL, 0);
        put_message(&one, 3, &type); // in the place of the one that is there
        proto_t module = module_of_one(&one);
        keel_program_t program;
        keel_status_t status = keel_read_hlo(bytes_of(&module), &program);
        bool refused = status != NULL;
        keel_status_ignore(status);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&module);
        if (element > 36) assert_true(refused);
    }
}

// A value names its type in 16 bits.
static void more_types_than_a_value_can_name_are_refused(void **state) {
    (void)state;
    enum { TYPES = 65536 }; // with f32 itself, one too many
    proto_t body = proto();
    for (int64_t i = 0; i < TYPES; ++i) {
        proto_t one = proto(), type = shape(F32, &i, 1);
        put_text(&one, 2, "constant");
        put_message(&one, 3, &type);
        put_int(&one, 35, i + 1);
        put_message(&body, 2, &one);
    }
    proto_t module = module_of(&body, 1);
    assert_refused(&module, KEEL_UNSUPPORTED, "more than 65536 types");
}

static void tuples_nest_but_not_without_end(void **state) {
    (void)state;
    proto_t type = nested_tuple(20), module = with_shape(&type);
    keel_program_t program;
    assert_read(&module, &program);
    assert_int_equal(type_of(&program, 0).kind, KEEL_TYPE_TUPLE);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
    type = nested_tuple(1000);
    module = with_shape(&type);
    assert_refused(&module, KEEL_UNSUPPORTED, "deep");
}

// ---- literals ----------------------------------------------------------------------------------

// A constant whose literal has that shape; `data` is the rest of the literal, and is emptied.
static proto_t constant(int element, const int64_t *dims, size_t rank, proto_t *data) {
    proto_t one = proto(), literal = proto(), type = shape(element, dims, rank);
    put_text(&one, 2, "constant");
    put_message(&one, 3, &type);
    type = shape(element, dims, rank);
    put_message(&literal, 1, &type);
    keel_buffer_append(&literal, data->data, data->size);
    keel_buffer_deinitialize(data);
    put_message(&one, 8, &literal);
    return module_of_one(&one);
}

static keel_bytes_t literal_of(const keel_program_t *program) {
    keel_attr_t attr = op_attr(program, 0, "literal");
    assert_int_equal(attr.kind, KEEL_ATTR_TENSOR);
    return program->blobs.data[attr.b];
}

static void numbers_of_a_literal_become_little_endian_bytes(void **state) {
    (void)state;
    const int64_t two = 2, values[] = {-2, 258};
    const uint8_t expected[] = {0xfe, 0xff, 0xff, 0xff, 2, 1, 0, 0};
    proto_t data = proto();
    put_packed(&data, 4, values, 2);
    proto_t module = constant(S32, &two, 1, &data);
    keel_program_t program;
    assert_read(&module, &program);
    keel_bytes_t got = literal_of(&program);
    assert_int_equal(got.size, sizeof expected);
    assert_memory_equal(got.data, expected, sizeof expected);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void packed_floats_stay_in_the_source(void **state) {
    (void)state;
    const int64_t two = 2;
    const uint8_t floats[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x80};
    proto_t packed = proto(), loose = proto();
    put_bytes(&packed, 8, floats, sizeof floats);
    for (int i = 0; i < 2; ++i) {
        varint(&loose, 8 << 3 | 5);
        keel_buffer_append(&loose, floats + 4 * i, 4);
    }
    proto_t modules[] = {constant(F32, &two, 1, &packed), constant(F32, &two, 1, &loose)};
    for (int i = 0; i < 2; ++i) {
        keel_program_t program;
        assert_read(&modules[i], &program);
        keel_bytes_t got = literal_of(&program);
        assert_int_equal(got.size, sizeof floats);
        assert_memory_equal(got.data, floats, sizeof floats);
        bool borrowed =
            got.data >= program.source.data && got.data < program.source.data + program.source.size;
        assert_int_equal(borrowed, i == 0);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&modules[i]);
    }
}

static void small_integers_and_bools_are_made_canonical(void **state) {
    (void)state;
    const int64_t four = 4, truths[] = {0, 1, 300, 0};
    const uint8_t nibbles[] = {0x0e, 0x07, 0x08, 0xff}, signs[] = {0xfe, 7, 0xf8, 0xff};
    const uint8_t bools[] = {0, 1, 1, 0};
    proto_t small = proto(), bits = proto();
    put_bytes(&small, 21, nibbles, 4);
    put_packed(&bits, 2, truths, 4);
    proto_t modules[] = {constant(S4, &four, 1, &small), constant(PRED, &four, 1, &bits)};
    for (int i = 0; i < 2; ++i) {
        keel_program_t program;
        assert_read(&modules[i], &program);
        keel_bytes_t got = literal_of(&program);
        assert_int_equal(got.size, 4);
        assert_memory_equal(got.data, i == 0 ? signs : bools, 4);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&modules[i]);
    }
}

// Also the high bits of a float that has fewer than 8: XLA stores a byte for each.
static void bytes_of_the_small_floats_are_kept(void **state) {
    (void)state;
    static const int floats[] = {19, 20, 23, 24, 25, 28, 29, 32, 33, 35, 36};
    static const uint8_t bytes[] = {0xff, 0x80, 0x7e, 1};
    const int64_t four = 4;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; ++i) {
        proto_t data = proto();
        put_bytes(&data, (unsigned)floats[i], bytes, sizeof bytes);
        proto_t module = constant(floats[i], &four, 1, &data);
        keel_program_t program;
        assert_read(&module, &program);
        keel_bytes_t got = literal_of(&program);
        assert_int_equal(got.size, sizeof bytes);
        assert_memory_equal(got.data, bytes, sizeof bytes);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&module);
    }
}

static void a_literal_that_does_not_fit_its_shape_is_corrupt(void **state) {
    (void)state;
    const int64_t huge[] = {INT64_MAX, INT64_MAX}, three = 3, values[] = {1, 2};
    proto_t data = proto();
    put_packed(&data, 4, values, 2);
    proto_t module = constant(S32, &three, 1, &data);
    assert_refused(&module, KEEL_CORRUPT, "does not hold 3 numbers");
    data = proto();
    put_packed(&data, 4, values, 2);
    module = constant(S32, huge, 2, &data);
    assert_refused(&module, KEEL_CORRUPT, "does not hold");
    data = proto();
    put_packed(&data, 5, values, 2);
    module = constant(S32, &three, 1, &data);
    assert_refused(&module, KEEL_UNSUPPORTED, "s64s");
}

// ---- values that are kept once
// -------------------------------------------------------------------

enum { TRIED = 400000 };

typedef struct tried_t {
    uint32_t hash, number;
} tried_t;

static int by_hash(const void *left, const void *right) {
    const tried_t *a = left, *b = right;
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static size_t as_number(int64_t number, uint8_t *out) {
    memcpy(out, &number, sizeof number);
    return sizeof number;
}

static size_t as_list(int64_t number, uint8_t *out) {
    const int64_t list[] = {1, number};
    memcpy(out, list, sizeof list);
    return sizeof list;
}

static size_t as_text(int64_t number, uint8_t *out) {
    return (size_t)snprintf((char *)out, 32, "target%lld", (long long)number);
}

// Two numbers whose bytes have the same hash in the reader's table, which has 32 bits of it.
static void find_twins(size_t (*bytes_of_number)(int64_t, uint8_t *), int64_t out[2]) {
    tried_t *tried = malloc(TRIED * sizeof *tried);
    assert_non_null(tried);
    for (uint32_t i = 0; i < TRIED; ++i) {
        uint8_t bytes[32];
        size_t size = bytes_of_number(i, bytes);
        tried[i] = (tried_t){(uint32_t)keel_quick_hash(keel_bytes(bytes, size)), i};
    }
    qsort(tried, TRIED, sizeof *tried, by_hash);
    uint32_t at = 1;
    while (at < TRIED && tried[at].hash != tried[at - 1].hash)
        ++at;
    assert_true(at < TRIED);
    out[0] = tried[at - 1].number;
    out[1] = tried[at].number;
    free(tried);
}

static void values_of_one_hash_stay_different(void **state) {
    (void)state;
    int64_t numbers[2], lists[2], texts[2];
    find_twins(as_number, numbers);
    find_twins(as_list, lists);
    find_twins(as_text, texts);
    proto_t body = proto();
    for (int i = 0; i < 4; ++i) { // each twice
        proto_t one = instruction("custom-call", i + 1, NULL, 0);
        char text[32];
        as_text(texts[i % 2], (uint8_t *)text);
        put_packed(&one, 14, &lists[i % 2], 1);
        put_int(&one, 26, numbers[i % 2]);
        put_text(&one, 28, text);
        put_message(&body, 2, &one);
    }
    proto_t module = module_of(&body, 1);
    keel_program_t program;
    assert_read(&module, &program);
    for (keel_op_id_t op = 0; op < 4; ++op) {
        char text[32];
        as_text(texts[op % 2], (uint8_t *)text);
        assert_text(&program, op_attr(&program, op, "custom_call_target").a, text);
        assert_int_equal(int_of(&program, op_attr(&program, op, "channel_id")), numbers[op % 2]);
        keel_ints_t list = ints_of(&program, op_attr(&program, op, "dimensions"));
        assert_int_equal(list.count, 1);
        assert_int_equal(list.items[0], lists[op % 2]);
        assert_int_equal(program.operations.data[op].attributes,
                         program.operations.data[op % 2].attributes);
    }
    assert_int_not_equal(program.operations.data[0].attributes,
                         program.operations.data[1].attributes);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

// However many there are, and however often.
static void equal_texts_are_one(void **state) {
    (void)state;
    enum { NAMES = 400 };
    proto_t body = proto();
    for (int i = 0; i < 2 * NAMES; ++i) {
        char name[16];
        proto_t one = instruction("custom-call", i + 1, NULL, 0);
        snprintf(name, sizeof name, "target%d", i % NAMES);
        put_text(&one, 28, name);
        put_message(&body, 2, &one);
    }
    proto_t module = module_of(&body, 1);
    keel_program_t program;
    assert_read(&module, &program);
    for (keel_op_id_t op = 0; op < NAMES; ++op) {
        keel_attr_id_t first = keel_program_dict_find(
            &program, program.operations.data[op].attributes, "custom_call_target");
        keel_attr_id_t second = keel_program_dict_find(
            &program, program.operations.data[op + NAMES].attributes, "custom_call_target");
        assert_true(first != KEEL_NONE);
        assert_int_equal(first, second);
    }
    for (uint32_t i = 0; i < program.strings.count; ++i)
        for (uint32_t k = 0; k < i; ++k)
            assert_false(
                keel_str_equal(keel_program_str(&program, i), keel_program_str(&program, k)));
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

// ---- locations ---------------------------------------------------------------------------------

static void put_frame(proto_t *index, int64_t location, int64_t parent) {
    proto_t frame = proto();
    put_int(&frame, 1, location);
    put_int(&frame, 2, parent);
    put_message(index, 4, &frame);
}

// A module of one instruction in frame 1, with these parents of frames 1 and 2, and a file of the
// instruction's own where that is not NULL.
static proto_t framed_module(int64_t parent_of_1, int64_t parent_of_2, const char *own_file) {
    proto_t one = instruction("add", 1, NULL, 0), metadata = proto(), index = proto();
    put_text(&metadata, 2, "jit(f)/add");
    if (own_file) put_text(&metadata, 3, own_file);
    if (own_file) put_int(&metadata, 4, 10);
    put_int(&metadata, 15, 1);
    put_message(&one, 7, &metadata);
    proto_t module = module_of_one(&one), place = proto();
    put_frame(&index, 1, parent_of_1);
    put_frame(&index, 2, parent_of_2);
    for (int64_t line = 10; line <= 20; line += 10) {
        put_int(&place, 1, 1);
        put_int(&place, 2, line / 10);
        put_int(&place, 3, line);
        put_message(&index, 3, &place);
        place = proto();
    }
    keel_buffer_deinitialize(&place);
    put_text(&index, 1, "train.py");
    put_text(&index, 2, "inner");
    put_text(&index, 2, "outer");
    put_message(&module, 17, &index);
    return module;
}

static void frames_become_call_sites_innermost_first(void **state) {
    (void)state;
    proto_t module = framed_module(2, 0, NULL);
    keel_program_t program;
    assert_read(&module, &program);
    const keel_attr_t *attrs = program.attrs.data;
    keel_attr_t location = attrs[program.operations.data[0].location];
    assert_int_equal(location.kind, KEEL_ATTR_LOC_NAME);
    keel_attr_t call = attrs[location.b];
    assert_int_equal(call.kind, KEEL_ATTR_LOC_CALLSITE);
    assert_text(&program, attrs[call.a].a, "inner");
    assert_text(&program, attrs[call.b].a, "outer");
    keel_attr_t file = attrs[attrs[call.b].b];
    assert_int_equal(file.kind, KEEL_ATTR_LOC_FILE);
    assert_text(&program, file.a, "train.py");
    keel_list_t numbers = keel_program_list(&program, file.b);
    assert_int_equal(numbers.count, 1);
    assert_int_equal(numbers.items[0], 20);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void frames_that_close_on_themselves_are_cut(void **state) {
    (void)state;
    const int64_t parents[][2] = {{1, 0}, {2, 1}, {2, 2}, {99, 0}};
    for (int i = 0; i < 4; ++i) {
        proto_t module = framed_module(parents[i][0], parents[i][1], NULL);
        keel_program_t program;
        assert_read(&module, &program);
        keel_attr_id_t at = program.attrs.data[program.operations.data[0].location].b;
        int steps = 0;
        for (; program.attrs.data[at].kind == KEEL_ATTR_LOC_CALLSITE; at = program.attrs.data[at].b)
            assert_true(++steps < 3);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&module);
    }
}

// Behind it another computation, which is the entry.
static void put_entry(proto_t *module) {
    proto_t one = instruction("parameter", 1, NULL, 0), computation = proto();
    put_text(&computation, 1, "entry");
    put_message(&computation, 2, &one);
    put_int(&computation, 5, 8);
    put_int(&computation, 6, 1);
    put_message(module, 3, &computation);
    put_int(module, 6, 8);
}

// PyTorch/XLA copies what a scan calls from another module, and the numbers of its frames with it.
static void a_frame_that_is_not_of_the_operations_own_file_is_another_modules(void **state) {
    (void)state;
    static const char *const files[] = {"scan.py", "train.py", NULL};
    for (int i = 0; i < 6; ++i) {
        proto_t module = framed_module(2, 0, files[i % 3]);
        bool is_called = i >= 3;
        if (is_called) put_entry(&module);
        keel_program_t program;
        assert_read(&module, &program);
        const keel_attr_t *attrs = program.attrs.data;
        keel_attr_t place = attrs[attrs[program.operations.data[0].location].b];
        bool is_own = is_called && i % 3 == 0;
        assert_int_equal(place.kind, is_own ? KEEL_ATTR_LOC_FILE : KEEL_ATTR_LOC_CALLSITE);
        if (is_own) assert_text(&program, place.a, "scan.py");
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&module);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_padding_of_one_is_the_same_as_none),
        cmocka_unit_test(dynamic_dimensions_keep_their_bounds),
        cmocka_unit_test(elements_that_are_not_known_are_refused),
        cmocka_unit_test(more_types_than_a_value_can_name_are_refused),
        cmocka_unit_test(tuples_nest_but_not_without_end),
        cmocka_unit_test(numbers_of_a_literal_become_little_endian_bytes),
        cmocka_unit_test(packed_floats_stay_in_the_source),
        cmocka_unit_test(small_integers_and_bools_are_made_canonical),
        cmocka_unit_test(bytes_of_the_small_floats_are_kept),
        cmocka_unit_test(a_literal_that_does_not_fit_its_shape_is_corrupt),
        cmocka_unit_test(values_of_one_hash_stay_different),
        cmocka_unit_test(equal_texts_are_one),
        cmocka_unit_test(frames_become_call_sites_innermost_first),
        cmocka_unit_test(frames_that_close_on_themselves_are_cut),
        cmocka_unit_test(a_frame_that_is_not_of_the_operations_own_file_is_another_modules),
    };
    return cmocka_run_group_tests_name("read_hlo_values", tests, NULL, NULL);
}
