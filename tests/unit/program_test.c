#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "program/program.h"

static keel_type_id_t add_type(keel_program_t *p, keel_type_t type) {
    assert_null(keel_table_reserve(&p->types, 1));
    p->types.data[p->types.count++] = type;
    return p->types.count - 1;
}

static keel_type_id_t integer(keel_program_t *p, uint32_t width) {
    return add_type(p, (keel_type_t){.kind = KEEL_TYPE_INTEGER, .a = width});
}

static keel_type_id_t floating(keel_program_t *p, uint32_t name) {
    return add_type(p, (keel_type_t){.kind = KEEL_TYPE_FLOAT, .a = name});
}

static keel_type_id_t complex_of(keel_program_t *p, keel_type_id_t element) {
    return add_type(p, (keel_type_t){.kind = KEEL_TYPE_COMPLEX, .a = element});
}

static keel_type_id_t shaped(keel_program_t *p, uint8_t kind, keel_type_id_t element,
                             const int64_t *dims, uint32_t rank) {
    uint32_t list = 0;
    assert_null(keel_program_add_ints(p, dims, rank, &list));
    return add_type(p, (keel_type_t){.kind = kind, .a = element, .b = list, .c = KEEL_NONE});
}

static keel_type_id_t vector(keel_program_t *p, keel_type_id_t element, int64_t count) {
    return shaped(p, KEEL_TYPE_TENSOR, element, &count, 1);
}

static const uint8_t zeros[64];

static void assert_misfit(const keel_program_t *p, keel_type_id_t type, size_t size) {
    keel_tensor_view_t view = {.count = 77};
    keel_status_t status = keel_program_tensor(p, type, keel_bytes(zeros, size), &view);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    keel_status_ignore(status);
    assert_int_equal(view.count, 77);
}

static keel_tensor_view_t view_of(const keel_program_t *p, keel_type_id_t type, const void *data,
                                  size_t size) {
    keel_tensor_view_t view = {0};
    assert_null(keel_program_tensor(p, type, keel_bytes(data, size), &view));
    return view;
}

// ---- tensors ------------------------------------------------------------------------------------

static void an_element_has_the_bytes_of_its_type(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_type_id_t f32 = floating(&p, KEEL_FLOAT_F32), quantized, nested;
    quantized = add_type(&p, (keel_type_t){.kind = KEEL_TYPE_QUANTIZED, .a = integer(&p, 8)});
    nested = complex_of(&p, complex_of(&p, complex_of(&p, f32)));
    const struct {
        keel_type_id_t element;
        uint32_t bytes;
    } known[] = {{integer(&p, 2), 1},
                 {integer(&p, 8), 1},
                 {integer(&p, 9), 2},
                 {integer(&p, 64), 8},
                 {integer(&p, 1u << 16), 1u << 13},
                 {f32, 4},
                 {floating(&p, KEEL_FLOAT_F80), 10},
                 {floating(&p, KEEL_FLOAT_F6E2M3FN), 1},
                 {floating(&p, KEEL_FLOAT_COUNT - 1), 1},
                 {add_type(&p, (keel_type_t){.kind = KEEL_TYPE_INDEX}), 8},
                 {complex_of(&p, f32), 8},
                 {quantized, 1},
                 {complex_of(&p, complex_of(&p, f32)), 16},
                 {nested, 32}};
    static const uint8_t bytes[2u << 13];
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        keel_tensor_view_t view =
            view_of(&p, vector(&p, known[i].element, 2), bytes, (size_t)2 * known[i].bytes);
        assert_int_equal(view.element_size, known[i].bytes);
        assert_int_equal(view.count, 2);
        assert_false(view.is_splat || view.is_bool || view.is_packed);
    }
    // No element has a size: of no bits, of too many, of no kind, of too many parts.
    const keel_type_id_t unknown[] = {
        integer(&p, 0), integer(&p, (1u << 16) + 1), floating(&p, KEEL_FLOAT_COUNT),
        add_type(&p, (keel_type_t){.kind = KEEL_TYPE_TOKEN}), complex_of(&p, nested)};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i)
        for (size_t size = 0; size <= sizeof zeros; ++size)
            assert_misfit(&p, vector(&p, unknown[i], 1), size);
    keel_tensor_view_t view;
    keel_status_t status = keel_program_tensor(&p, vector(&p, unknown[1], 1),
                                               keel_bytes(bytes, (1u << 13) + 1), &view);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    keel_status_ignore(status);
    keel_program_deinitialize(&p);
}

static void only_tensors_and_buffers_are_viewed(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    const int64_t dims[] = {2, 3};
    keel_type_id_t f32 = floating(&p, KEEL_FLOAT_F32);
    keel_type_id_t buffer = shaped(&p, KEEL_TYPE_BUFFER, f32, dims, 2);
    keel_type_id_t tensor = shaped(&p, KEEL_TYPE_TENSOR, f32, dims, 2);
    assert_int_equal(view_of(&p, buffer, zeros, 24).count, 6);
    assert_int_equal(view_of(&p, tensor, zeros, 24).count, 6);
    assert_misfit(&p, shaped(&p, KEEL_TYPE_UNRANKED_TENSOR, f32, dims, 2), 24);
    // The first type that does not exist, though the table has room for it.
    assert_null(keel_table_reserve(&p.types, 1));
    p.types.data[p.types.count] = p.types.data[tensor];
    assert_misfit(&p, p.types.count, 24);
    keel_program_deinitialize(&p);
}

static void a_blob_has_every_element_or_one_for_all(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_type_id_t f32 = floating(&p, KEEL_FLOAT_F32), four = vector(&p, f32, 4);
    assert_false(view_of(&p, four, zeros, 16).is_splat);
    assert_true(view_of(&p, four, zeros, 4).is_splat);
    assert_misfit(&p, four, 0);
    assert_misfit(&p, four, 8);
    assert_misfit(&p, four, 15);
    assert_misfit(&p, four, 17);
    const int64_t scalar[] = {0};
    assert_int_equal(view_of(&p, shaped(&p, KEEL_TYPE_TENSOR, f32, scalar, 0), zeros, 4).count, 1);
    assert_false(view_of(&p, vector(&p, f32, 1), zeros, 4).is_splat);
    // An unknown size, and more elements than fit a number.
    assert_misfit(&p, vector(&p, f32, KEEL_DYNAMIC), 4);
    assert_misfit(&p, vector(&p, f32, -1), 4);
    const int64_t large[] = {1ll << 32, 1ll << 32}, fits[] = {1ll << 31, 1ll << 31};
    assert_misfit(&p, shaped(&p, KEEL_TYPE_TENSOR, f32, large, 2), 4);
    // As many as that are known, but not their bytes: only a splat can be meant.
    keel_type_id_t most = shaped(&p, KEEL_TYPE_TENSOR, f32, fits, 2);
    assert_true(view_of(&p, most, zeros, 4).is_splat);
    assert_misfit(&p, most, 0);
    keel_program_deinitialize(&p);
}

static void a_tensor_without_elements_has_no_bytes(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_type_id_t f32 = floating(&p, KEEL_FLOAT_F32), none = vector(&p, f32, 0);
    for (size_t size = 0; size <= 4; size += 4) {
        keel_tensor_view_t view = view_of(&p, none, zeros, size);
        assert_int_equal(view.count, 0);
        assert_int_equal(view.bytes.size, 0);
        assert_false(view.is_splat);
    }
    assert_misfit(&p, none, 1);
    assert_misfit(&p, none, 8);
    const int64_t large[] = {1ll << 40, 0, 1ll << 40};
    assert_int_equal(view_of(&p, shaped(&p, KEEL_TYPE_TENSOR, f32, large, 3), zeros, 0).count, 0);
    keel_program_deinitialize(&p);
}

static void bools_are_a_byte_or_a_bit_each_or_one_for_all(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_type_id_t i1 = integer(&p, 1);
    const uint8_t all[] = {0xff}, one[] = {1}, zero[] = {0}, bits[] = {0x05, 0x02};
    const uint8_t bytes[] = {1, 0, 1};
    const struct {
        int64_t count;
        keel_bytes_t blob;
        bool is_splat, is_packed;
        const char *values;
    } cases[] = {{1, {all, 1}, false, false, "1"},
                 {1, {zero, 1}, false, false, "0"},
                 {1, {one, 1}, false, false, "1"},
                 {3, {all, 1}, true, false, "111"},
                 {8, {all, 1}, true, false, "11111111"},
                 {9, {all, 1}, true, false, "111111111"},
                 {3, {bits, 1}, false, true, "101"},
                 {8, {bits, 1}, false, true, "10100000"},
                 {9, {one, 1}, true, false, "111111111"},
                 {9, {zero, 1}, true, false, "000000000"},
                 {10, {bits, 2}, false, true, "1010000001"},
                 {16, {bits, 2}, false, true, "1010000001000000"},
                 {3, {bytes, 3}, false, false, "101"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_tensor_view_t view =
            view_of(&p, vector(&p, i1, cases[i].count), cases[i].blob.data, cases[i].blob.size);
        assert_true(view.is_bool);
        assert_int_equal(view.is_splat, cases[i].is_splat);
        assert_int_equal(view.is_packed, cases[i].is_packed);
        for (uint64_t at = 0; at < view.count; ++at)
            assert_int_equal(keel_tensor_bool(&view, at), cases[i].values[at] == '1');
    }
    assert_misfit(&p, vector(&p, i1, 16), 0);
    assert_misfit(&p, vector(&p, i1, 16), 3);
    assert_misfit(&p, vector(&p, i1, 17), 2);
    assert_misfit(&p, vector(&p, i1, 2), 3);
    // Other types whose first number is 1 are not bools: the second float, a wider integer.
    assert_int_equal(KEEL_FLOAT_F16, 1);
    assert_false(view_of(&p, vector(&p, floating(&p, 1), 2), zeros, 4).is_bool);
    assert_false(view_of(&p, vector(&p, integer(&p, 8), 2), zeros, 2).is_bool);
    keel_program_deinitialize(&p);
}

// ---- tables -------------------------------------------------------------------------------------

static void tables_grow_exactly_first_and_by_half_later(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    assert_null(keel_table_reserve(&p.ints, 10));
    assert_int_equal(p.ints.capacity, 10);
    p.ints.count = 4;
    assert_null(keel_table_reserve(&p.ints, 6));
    assert_int_equal(p.ints.capacity, 10);
    assert_null(keel_table_reserve(&p.ints, 7));
    assert_int_equal(p.ints.capacity, 15);
    assert_null(keel_table_reserve(&p.ints, 96));
    assert_int_equal(p.ints.capacity, 100);
    // One by one, they begin with some room.
    assert_null(keel_table_reserve(&p.pool, 1));
    assert_int_equal(p.pool.capacity, 16);
    assert_null(keel_table_reserve(&p.blobs, 0));
    assert_int_equal(p.blobs.capacity, 0);
    assert_null(keel_table_reserve(&p.blobs, 2));
    assert_int_equal(p.blobs.capacity, 2);
    // The top bit says where a string is.
    keel_status_t status = keel_table_reserve(&p.text, KEEL_IN_TEXT);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    keel_status_ignore(status);
    assert_int_equal(p.text.capacity, 0);
    keel_program_deinitialize(&p);
}

static void what_is_added_is_found_where_it_was_put(void **state) {
    (void)state;
    keel_memory_watch(true);
    keel_program_t p;
    keel_program_initialize(&p);
    enum { MANY = 100 };
    uint32_t lists[MANY], ints[MANY], numbers[MANY], blobs[MANY], texts[MANY];
    const uint8_t byte[] = "keel";
    for (uint32_t i = 0; i < MANY; ++i) {
        const uint32_t items[] = {i, i + 1, i + 2};
        const int64_t values[] = {-(int64_t)i, 5};
        assert_null(keel_program_add_list(&p, items, i % 4, &lists[i]));
        assert_null(keel_program_add_ints(&p, values, i % 3, &ints[i]));
        assert_null(keel_program_add_int(&p, 1000 + i, &numbers[i]));
        assert_null(keel_program_add_blob(&p, keel_bytes(byte, i % 4), &blobs[i]));
        assert_null(keel_program_add_text(&p, (keel_str_t){"keel", i % 5}, &texts[i]));
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        keel_list_t list = keel_program_list(&p, lists[i]);
        assert_int_equal(list.count, i % 4);
        for (uint32_t k = 0; k < list.count; ++k)
            assert_int_equal(list.items[k], i + k);
        keel_ints_t values = keel_program_ints(&p, ints[i]);
        assert_int_equal(values.count, i % 3);
        if (values.count > 0) assert_int_equal(values.items[0], -(int64_t)i);
        if (values.count > 1) assert_int_equal(values.items[1], 5);
        assert_int_equal(p.ints.data[numbers[i]], 1000 + i);
        assert_int_equal(p.blobs.data[blobs[i]].size, i % 4);
        assert_true(keel_str_equal(keel_program_str(&p, texts[i]), (keel_str_t){"keel", i % 5}));
    }
    void *owned = NULL;
    assert_null(keel_arena_alloc(&p.owned, 8, &owned));
    keel_program_deinitialize(&p);
    assert_int_equal(keel_memory_in_use(), 0);
    keel_memory_watch(false);
    // And is empty again.
    assert_int_equal(p.strings.count, 0);
    assert_null(p.strings.data);
    assert_int_equal(p.name, KEEL_NONE);
    keel_program_deinitialize(&p);
}

static void an_arena_of_a_program_begins_small(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    void *first = NULL, *second = NULL;
    assert_null(keel_arena_alloc(&p.owned, 32, &first));
    assert_null(keel_arena_alloc(&p.owned, 32, &second));
    // Both in one block of 64 bytes: a program that owns little takes little.
    if (KEEL_ARENA_GAP == 0) assert_ptr_equal(second, (uint8_t *)first + 32);
    keel_program_deinitialize(&p);
}

static void a_string_is_in_the_source_or_in_the_text(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    p.source = keel_bytes("module step", 11);
    assert_null(keel_table_reserve(&p.strings, 4));
    p.strings.data[p.strings.count++] = (keel_slice_t){7, 4};
    keel_string_id_t added = KEEL_NONE;
    assert_null(keel_program_add_text(&p, KEEL_STR("added"), &added));
    assert_true(keel_str_is(keel_program_str(&p, 0), "step"));
    assert_true(keel_str_is(keel_program_str(&p, added), "added"));
    p.strings.data[p.strings.count] = (keel_slice_t){0, 6};
    assert_int_equal(keel_program_str(&p, p.strings.count).size, 0);
    assert_int_equal(keel_program_str(&p, KEEL_NONE).size, 0);
    keel_program_deinitialize(&p);
}

// ---- structure ----------------------------------------------------------------------------------

static void add_operation(keel_program_t *p, bool has_regions) {
    assert_null(keel_table_reserve(&p->operations, 1));
    keel_operation_t op = {.name = has_regions ? KEEL_OP_HAS_REGIONS : 0};
    p->operations.data[p->operations.count++] = op;
}

static void add_region(keel_program_t *p, keel_op_id_t parent, keel_op_id_t end) {
    assert_null(keel_table_reserve(&p->regions, 1));
    keel_region_t region = {.parent = parent, .end = end};
    p->regions.data[p->regions.count++] = region;
}

static void regions_belong_to_their_operation(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    // 0: plain; 1: while with two regions (2, 3 to 5); 4: reduce with one (5); 6: plain; 7: a case
    // whose region has nothing in it.
    const bool has_regions[] = {false, true, false, false, true, false, false, true, false};
    for (size_t i = 0; i < sizeof has_regions / sizeof *has_regions; ++i)
        add_operation(&p, has_regions[i]);
    add_region(&p, 1, 3);
    add_region(&p, 1, 6);
    add_region(&p, 4, 6);
    add_region(&p, 7, 8);
    // What lies beyond the table is not read.
    assert_null(keel_table_reserve(&p.regions, 1));
    p.regions.data[p.regions.count] = (keel_region_t){.parent = 7, .end = 99};

    const uint32_t first[] = {0, 0, 2, 2, 2, 3, 3, 3, 4}, count[] = {0, 2, 0, 0, 1, 0, 0, 1, 0};
    const keel_op_id_t next[] = {1, 6, 3, 4, 6, 6, 7, 8, 9};
    for (keel_op_id_t op = 0; op < 9; ++op) {
        assert_int_equal(keel_program_first_region(&p, op), first[op]);
        keel_region_run_t run = keel_program_regions(&p, op);
        assert_int_equal(run.count, count[op]);
        if (run.count) assert_ptr_equal(run.items, p.regions.data + first[op]);
        assert_int_equal(keel_program_next(&p, op), next[op]);
    }
    keel_program_deinitialize(&p);
}

static void a_value_beyond_the_last_has_no_type(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    assert_null(keel_table_reserve(&p.value_types, 2));
    p.value_types.data[0] = p.value_types.data[1] = 6;
    p.value_types.count = 1;
    assert_int_equal(keel_program_value_type(&p, 0), 6);
    assert_int_equal(keel_program_value_type(&p, 1), KEEL_NONE);
    assert_int_equal(keel_program_value_type(&p, KEEL_NONE), KEEL_NONE);
    keel_program_deinitialize(&p);
}

static void entries_and_functions_are_found_by_name(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_string_id_t a, b, missing;
    assert_null(keel_program_add_text(&p, KEEL_STR("a"), &a));
    assert_null(keel_program_add_text(&p, KEEL_STR("b"), &b));
    assert_null(keel_program_add_text(&p, KEEL_STR("missing"), &missing));
    // The value of "b" has the number of the name "missing": values are not names.
    const uint32_t pairs[] = {a, 40, b, missing, missing};
    uint32_t list;
    keel_attr_id_t dict, array;
    assert_null(keel_program_add_list(&p, pairs, 4, &list));
    assert_null(keel_program_add_attr(&p, (keel_attr_t){.kind = KEEL_ATTR_DICT, .b = list}, &dict));
    assert_null(
        keel_program_add_attr(&p, (keel_attr_t){.kind = KEEL_ATTR_ARRAY, .b = list}, &array));
    assert_int_equal(keel_program_dict_find(&p, dict, "a"), 40);
    assert_int_equal(keel_program_dict_find(&p, dict, "b"), missing);
    assert_int_equal(keel_program_dict_find(&p, dict, "missing"), KEEL_NONE);
    assert_int_equal(keel_program_dict_find(&p, array, "a"), KEEL_NONE);
    assert_int_equal(keel_program_dict_find(&p, KEEL_NONE, "a"), KEEL_NONE);
    // A name without a value, as a damaged program may have it, is not an entry.
    assert_null(keel_program_add_list(&p, pairs, 5, &list));
    p.attrs.data[dict].b = list;
    assert_int_equal(keel_program_dict_find(&p, dict, "missing"), KEEL_NONE);

    assert_int_equal(keel_program_function(&p, KEEL_STR("a")), KEEL_NONE);
    assert_null(keel_table_reserve(&p.functions, 3));
    p.functions.data[0].name = b;
    p.functions.data[1].name = a;
    p.functions.data[2].name = missing;
    p.functions.count = 2;
    assert_int_equal(keel_program_function(&p, KEEL_STR("b")), 0);
    assert_int_equal(keel_program_function(&p, KEEL_STR("a")), 1);
    assert_int_equal(keel_program_function(&p, KEEL_STR("missing")), KEEL_NONE);
    keel_program_deinitialize(&p);
}

static void names_of_numbers_end_with_their_table(void **state) {
    (void)state;
    assert_string_equal(keel_enum_name(KEEL_ENUM_COMPARISON_DIRECTION, 0), "EQ");
    assert_string_equal(keel_enum_name(KEEL_ENUM_COMPARISON_DIRECTION, 5), "LT");
    assert_null(keel_enum_name(KEEL_ENUM_COMPARISON_DIRECTION, 6));
    assert_null(keel_enum_name(KEEL_ENUM_COMPARISON_DIRECTION, UINT32_MAX));
    // A number that has no name between numbers that have one.
    assert_null(keel_enum_name(KEEL_ENUM_RNG_DISTRIBUTION, 0));
    assert_string_equal(keel_enum_name(KEEL_ENUM_RNG_DISTRIBUTION, 1), "UNIFORM");
    assert_null(keel_enum_name(KEEL_ENUM_CLASS_COUNT, 0));
    assert_string_equal(keel_enum_class_name(KEEL_ENUM_FFT_TYPE), "fft_type");
    assert_string_equal(keel_enum_class_name(KEEL_ENUM_CLASS_COUNT - 1), "convolution_kind");
    assert_string_equal(keel_enum_class_name(KEEL_ENUM_CLASS_COUNT), "");
    assert_string_equal(keel_record_name(KEEL_RECORD_MESH), "mesh");
    assert_string_equal(keel_record_name(KEEL_RECORD_COUNT - 1), "dense_resource");
    assert_string_equal(keel_record_name(KEEL_RECORD_COUNT), "");
    assert_string_equal(keel_format_name(KEEL_FORMAT_MLIR), "mlir");
    assert_string_equal(keel_format_name(KEEL_FORMAT_HLO), "hlo");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_element_has_the_bytes_of_its_type),
        cmocka_unit_test(only_tensors_and_buffers_are_viewed),
        cmocka_unit_test(a_blob_has_every_element_or_one_for_all),
        cmocka_unit_test(a_tensor_without_elements_has_no_bytes),
        cmocka_unit_test(bools_are_a_byte_or_a_bit_each_or_one_for_all),
        cmocka_unit_test(tables_grow_exactly_first_and_by_half_later),
        cmocka_unit_test(what_is_added_is_found_where_it_was_put),
        cmocka_unit_test(an_arena_of_a_program_begins_small),
        cmocka_unit_test(a_string_is_in_the_source_or_in_the_text),
        cmocka_unit_test(regions_belong_to_their_operation),
        cmocka_unit_test(a_value_beyond_the_last_has_no_type),
        cmocka_unit_test(entries_and_functions_are_found_by_name),
        cmocka_unit_test(names_of_numbers_end_with_their_table),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
