#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mlir_build.h"
#include "read/mlir_ops.h"
#include "read/read.h"

// Modules that no client writes: whatever a file may hold by its format.

static made_t *new_made(unsigned version) {
    void *made;
    assert_null(keel_alloc(sizeof(made_t), &made));
    made_initialize(made, version);
    return made;
}

static keel_status_t read_made(made_t *made, keel_program_t *out) {
    keel_buffer_t file = made_finish(made);
    keel_free(made);
    assert_null(keel_buffer_status(&file));
    // The file lives on for the program: the tests' end frees it.
    uint8_t *bytes;
    assert_null(keel_bytes_dup(keel_buffer_bytes(&file), &bytes));
    size_t size = file.size;
    keel_buffer_deinitialize(&file);
    keel_status_t status = keel_read_mlir(keel_bytes(bytes, size), out);
    if (status) keel_free(bytes);
    return status;
}

static keel_program_t read_good(made_t *made) {
    keel_program_t program;
    keel_status_t status = read_made(made, &program);
    if (status) fail_msg("%s", keel_status_message(status));
    return program;
}

static void release(keel_program_t *program) {
    keel_free((void *)program->source.data);
    keel_program_deinitialize(program);
}

// The file is refused with a message that holds `text`.
static void assert_refused(made_t *made, keel_code_t code, const char *text) {
    keel_program_t program;
    keel_status_t status = read_made(made, &program);
    if (keel_status_code(status) != code || !strstr(keel_status_message(status), text))
        fail_msg("%s: %s", keel_code_word(keel_status_code(status)), keel_status_message(status));
    keel_status_ignore(status);
}

static void assert_str(const keel_program_t *p, keel_string_id_t id, const char *text) {
    keel_str_t str = keel_program_str(p, id);
    if (!keel_str_is(str, text)) fail_msg("\"%.*s\" is not \"%s\"", KEEL_STR_ARGS(str), text);
}

static keel_attr_id_t field(const keel_program_t *p, keel_attr_id_t record, const char *name) {
    keel_attr_id_t id = keel_program_dict_find(p, record, name);
    if (id == KEEL_NONE) fail_msg("no field %s", name);
    return id;
}

static int64_t int_field(const keel_program_t *p, keel_attr_id_t record, const char *name) {
    const keel_attr_t *attr = &p->attrs.data[field(p, record, name)];
    assert_int_equal(attr->kind, KEEL_ATTR_INT);
    return p->ints.data[attr->b];
}

// ---- operations --------------------------------------------------------------------------------

static void every_operation_is_read_with_its_properties_by_name(void **state) {
    (void)state;
    for (int dialect = KEEL_MLIR_BUILTIN; dialect <= KEEL_MLIR_SDY; ++dialect) {
        size_t count;
        const keel_mlir_op_t *ops = keel_mlir_ops((keel_mlir_dialect_t)dialect, &count);
        for (size_t i = 0; i < count; ++i) {
            if (!strcmp(ops[i].name, "func_v1")) continue;
            if (i) assert_true(strcmp(ops[i - 1].name, ops[i].name) < 0);
            made_t *made = new_made(6);
            uint64_t blob[KEEL_MLIR_MOST_PROPERTIES];
            size_t properties = 0;
            for (; ops[i].properties[properties]; ++properties) {
                unsigned value = ATTR(made, VHLO, 2, 1);
                bool optional = ops[i].properties[properties] & KEEL_MLIR_OPTIONAL;
                blob[properties] = optional ? value << 1 | 1 : value;
            }
            int index = properties ? (int)add_properties(made, blob, properties) : ABSENT;
            unsigned name = add_op(made, dialect, ops[i].name);
            put_op(&made->ir, name, ABSENT, index, EMPTY, EMPTY, 0);
            made->module_ops = 1;
            keel_program_t p = read_good(made);
            keel_attr_id_t dictionary = p.operations.data[0].attributes;
            assert_int_equal(dictionary == KEEL_NONE, properties == 0);
            keel_list_t pairs =
                properties ? keel_program_list(&p, p.attrs.data[dictionary].b) : (keel_list_t){0};
            assert_int_equal(pairs.count, 2 * properties);
            for (uint32_t n = 2; n < pairs.count; n += 2)
                assert_int_equal(keel_str_compare(keel_program_str(&p, pairs.items[n - 2]),
                                                  keel_program_str(&p, pairs.items[n])),
                                 -1);
            release(&p);
        }
    }
}

static void a_property_too_few_or_too_many_is_refused(void **state) {
    (void)state;
    for (unsigned few = 0; few < 2; ++few) {
        made_t *made = new_made(6);
        unsigned value = ATTR(made, VHLO, 2, 1);
        int blob = few ? (int)add_properties(made, NUMBERS(value))
                       : (int)add_properties(made, NUMBERS(value, value, value));
        put_op(&made->ir, add_op(made, VHLO, "compare_v1"), ABSENT, blob, EMPTY, EMPTY, 0);
        made->module_ops = 1;
        assert_refused(made, KEEL_CORRUPT, "compare_v1");
    }
    made_t *made = new_made(6);
    put_op(&made->ir, add_op(made, VHLO, "compare_v1"), ABSENT, ABSENT, EMPTY, EMPTY, 0);
    made->module_ops = 1;
    assert_refused(made, KEEL_CORRUPT, "compare_v1");
}

static void an_operation_that_says_nothing_new_is_of_the_older_version(void **state) {
    (void)state;
    enum { NOTHING, SOMETHING, FEW = 1, MANY };
    static const struct {
        const char *name;
        int said, results;
        uint32_t version;
    } rows[] = {
        {"custom_call_v2", NOTHING, FEW, 1},
        {"custom_call_v2", SOMETHING, FEW, 2},
        {"composite_v2", NOTHING, FEW, 1},
        {"composite_v2", SOMETHING, FEW, 2},
        {"collective_broadcast_v2", NOTHING, FEW, 1},
        {"collective_broadcast_v2", NOTHING, MANY, 2},
        {"collective_broadcast_v2", SOMETHING, FEW, 2},
        {"exponential_v2", NOTHING, FEW, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        made_t *made = new_made(6);
        const keel_mlir_op_t *op = keel_mlir_op(KEEL_MLIR_VHLO, keel_str(rows[i].name));
        unsigned other = ATTR(made, VHLO, 2, 1), said = other;
        bool is_call = !strcmp(op->name, "custom_call_v2");
        bool is_composite = !strcmp(op->name, "composite_v2");
        bool is_broadcast = !strcmp(op->name, "collective_broadcast_v2");
        bool has_regions = is_composite && rows[i].said;
        if (is_call) said = rows[i].said ? ATTR(made, VHLO, 1, 1, other) : ATTR(made, VHLO, 1, 0);
        if (!is_call) said = ATTR(made, VHLO, 2, rows[i].said);
        uint64_t blob[KEEL_MLIR_MOST_PROPERTIES];
        size_t count = 0;
        for (; op->properties[count]; ++count) {
            bool is_added = op->properties[count] == KEEL_MLIR_result_tilings ||
                            op->properties[count] == KEEL_MLIR_has_dynamic_root;
            blob[count] = is_added ? said : other;
        }
        int properties = (int)add_properties(made, blob, count);
        unsigned name = add_op(made, VHLO, rows[i].name);
        made->module_ops = 2; // the second takes what was made for the first
        made->module_values = (unsigned)(2 * rows[i].results);
        for (int k = 0; k < 2; ++k) {
            put_op(&made->ir, name, ABSENT, properties,
                   rows[i].results == FEW ? LIST(0) : LIST(0, 0), EMPTY, has_regions);
            if (has_regions) put_varint(&made->ir, 0);
        }
        keel_program_t p = read_good(made);
        const keel_op_name_t *read = keel_program_op_name(&p, 1);
        assert_int_equal(read->version, rows[i].version);
        assert_int_equal(keel_program_op_name(&p, 0)->version, read->version);
        keel_attr_id_t attributes = p.operations.data[1].attributes;
        assert_int_equal(p.operations.data[0].attributes, attributes);
        bool has_added = keel_program_dict_find(&p, attributes, "result_tilings") != KEEL_NONE ||
                         keel_program_dict_find(&p, attributes, "has_dynamic_root") != KEEL_NONE;
        assert_int_equal(has_added, read->version == 2 && (is_call || is_broadcast));
        size_t left = keel_program_entries(&p, attributes).count / 2;
        assert_int_equal(left, count - (read->version == 1 && !is_composite));
        release(&p);
    }
}

static void an_operation_of_the_future_is_named(void **state) {
    (void)state;
    made_t *made = new_made(6);
    put_op(&made->ir, add_op(made, VHLO, "fold_v7"), ABSENT, ABSENT, EMPTY, EMPTY, 0);
    made->module_ops = 1;
    assert_refused(made, KEEL_UNSUPPORTED, "vhlo.fold_v7");
    made = new_made(6);
    put_op(&made->ir, add_op(made, OTHER, "thing"), ABSENT, ABSENT, EMPTY, EMPTY, 0);
    made->module_ops = 1;
    assert_refused(made, KEEL_UNSUPPORTED, "other.thing");
}

static void names_that_no_operation_has_may_be_unknown(void **state) {
    (void)state;
    made_t *made = new_made(6);
    add_op(made, VHLO, "fold_v7");
    keel_program_t p = read_good(made);
    assert_int_equal(keel_program_op_count(&p), 0);
    release(&p);
}

static void a_module_may_have_no_block(void **state) {
    (void)state;
    made_t *made = new_made(6);
    made->has_no_block = true;
    keel_program_t p = read_good(made);
    assert_int_equal(keel_program_op_count(&p), 0);
    release(&p);
}

static void successors_and_blocks_in_a_row_are_refused(void **state) {
    (void)state;
    made_t *made = new_made(6);
    put_varint(&made->ir, add_op(made, VHLO, "return_v1"));
    keel_buffer_byte(&made->ir, 0x08);
    put_varint(&made->ir, 0);
    put_varint(&made->ir, 0);
    made->module_ops = 1;
    assert_refused(made, KEEL_UNSUPPORTED, "successors");

    made = new_made(6);
    put_op(&made->ir, add_op(made, VHLO, "while_v1"), ABSENT, ABSENT, EMPTY, EMPTY, 1);
    put_varint(&made->ir, 2); // blocks
    put_varint(&made->ir, 0);
    put_flagged(&made->ir, 0, false);
    put_flagged(&made->ir, 0, false);
    made->module_ops = 1;
    assert_refused(made, KEEL_UNSUPPORTED, "2 blocks");
}

// ---- values ------------------------------------------------------------------------------------

static void an_operand_may_name_a_value_defined_later(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned tuple = add_op(made, VHLO, "tuple_v1"), loop = add_op(made, VHLO, "if_v1");
    // 0 = tuple(1, 2); [1 = if { 3 = tuple(2, 3, 0) }]; 2 = tuple(0)
    put_op(&made->ir, tuple, ABSENT, ABSENT, LIST(0), LIST(1, 2), 0);
    put_op(&made->ir, loop, ABSENT, ABSENT, LIST(0), EMPTY, 1);
    put_varint(&made->ir, 1);
    put_varint(&made->ir, 1);
    put_flagged(&made->ir, 1, false);
    put_op(&made->ir, tuple, ABSENT, ABSENT, LIST(0), LIST(2, 3, 0), 0);
    put_op(&made->ir, tuple, ABSENT, ABSENT, LIST(0), LIST(0), 0);
    made->module_ops = 3;
    made->module_values = 3;
    keel_program_t p = read_good(made);
    assert_int_equal(p.value_types.count, 4);
    // In order of definition the value inside is number 2, the last one 3.
    const uint32_t expected[] = {1, 3, 3, 2, 0, 0};
    assert_int_equal(p.operands.count, 6);
    assert_memory_equal(p.operands.data, expected, sizeof expected);
    release(&p);
}

static void a_number_that_no_value_has_is_refused(void **state) {
    (void)state;
    made_t *made = new_made(6);
    put_op(&made->ir, add_op(made, VHLO, "tuple_v1"), ABSENT, ABSENT, LIST(0), LIST(1), 0);
    made->module_ops = made->module_values = 1;
    assert_refused(made, KEEL_CORRUPT, "operation 0");
    // Announced, and never defined.
    made = new_made(6);
    put_op(&made->ir, add_op(made, VHLO, "tuple_v1"), ABSENT, ABSENT, LIST(0), LIST(1), 0);
    made->module_ops = 1;
    made->module_values = 2;
    assert_refused(made, KEEL_CORRUPT, "fewer values");
}

static void values_are_counted_through_many_regions(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned tuple = add_op(made, VHLO, "tuple_v1"), loop = add_op(made, VHLO, "if_v1");
    enum { ROUNDS = 100 };
    // Each round: one value, then an operation with a value of its own and two in its region, the
    // first of which uses the round's first, the second the one before.
    for (uint64_t i = 0; i < ROUNDS; ++i) {
        put_op(&made->ir, tuple, ABSENT, ABSENT, LIST(0), LIST(i), 0);
        put_op(&made->ir, loop, ABSENT, ABSENT, LIST(0), EMPTY, 1);
        put_varint(&made->ir, 1);
        put_varint(&made->ir, 2);
        put_flagged(&made->ir, 2, false);
        put_op(&made->ir, tuple, ABSENT, ABSENT, LIST(0), LIST(2 * i), 0);
        put_op(&made->ir, tuple, ABSENT, ABSENT, LIST(0), LIST(2 * ROUNDS), 0);
    }
    made->module_ops = made->module_values = 2 * ROUNDS;
    keel_program_t p = read_good(made);
    assert_int_equal(p.value_types.count, 4 * ROUNDS);
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        assert_int_equal(p.operands.data[3 * i], i / 2 * 4 + i % 2);
        assert_int_equal(p.operands.data[3 * i + 1], 4 * i);
        assert_int_equal(p.operands.data[3 * i + 2], 4 * i + 2);
        assert_int_equal(p.operations.data[4 * i + 1].first_result, 4 * i + 1);
    }
    release(&p);
}

static void regions_may_nest_as_deep_as_the_limit_says(void **state) {
    (void)state;
    for (unsigned over = 0; over < 2; ++over) {
        made_t *made = new_made(6);
        unsigned name = add_op(made, VHLO, "if_v1");
        // The module's own region counts.
        for (unsigned i = 0; i < KEEL_READ_REGION_DEPTH - 1 + over; ++i) {
            put_op(&made->ir, name, ABSENT, ABSENT, EMPTY, EMPTY, 1);
            put_varint(&made->ir, 1);
            put_varint(&made->ir, 0);
            put_flagged(&made->ir, i + 1 < KEEL_READ_REGION_DEPTH - 1 + over, false);
        }
        made->module_ops = 1;
        if (over) {
            assert_refused(made, KEEL_UNSUPPORTED, "deep");
            continue;
        }
        keel_program_t p = read_good(made);
        assert_int_equal(p.regions.count, KEEL_READ_REGION_DEPTH - 1);
        assert_int_equal(keel_program_next(&p, 0), keel_program_op_count(&p));
        release(&p);
    }
}

static void use_lists_are_passed_by(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned name = add_op(made, VHLO, "tuple_v1");
    put_varint(&made->ir, name);
    keel_buffer_byte(&made->ir, 0x22);
    put_varint(&made->ir, 0);
    const uint64_t rest[] = {2, 0, 0,             // two results
                             1, 1, 2 << 1, 1, 0}; // a list for result 1: two numbers
    for (size_t i = 0; i < sizeof rest / sizeof *rest; ++i)
        put_varint(&made->ir, rest[i]);
    put_op(&made->ir, name, ABSENT, ABSENT, EMPTY, LIST(1, 1), 0);
    made->module_ops = made->module_values = 2;
    keel_program_t p = read_good(made);
    assert_int_equal(keel_program_op_count(&p), 2);
    assert_int_equal(p.operands.count, 2);
    release(&p);
}

static void all_versions_say_the_same(void **state) {
    (void)state;
    for (unsigned version = 0; version <= 6; ++version) {
        made_t *made = new_made(version);
        unsigned value = ATTR(made, VHLO, 2, 1), key = add_string_attr(made, "dimension");
        unsigned dictionary = ATTR(made, BUILTIN, 1, 1, key, value);
        unsigned name = add_op(made, VHLO, "get_dimension_size_v1");
        int blob = (int)add_properties(made, NUMBERS(value));
        if (version >= 5)
            put_op(&made->ir, name, ABSENT, blob, LIST(0), EMPTY, 0);
        else
            put_op(&made->ir, name, (int)dictionary, ABSENT, LIST(0), EMPTY, 0);
        made->module_ops = made->module_values = 1;
        keel_program_t p = read_good(made);
        assert_int_equal(p.bytecode_version, version);
        assert_int_equal(field(&p, p.operations.data[0].attributes, "dimension"), value);
        release(&p);
    }
    assert_refused(new_made(7), KEEL_UNSUPPORTED, "version 7");
}

// ---- attributes --------------------------------------------------------------------------------

static void unknown_codes_are_named(void **state) {
    (void)state;
    made_t *made = new_made(6);
    ATTR(made, VHLO, 26);
    assert_refused(made, KEEL_UNSUPPORTED, "vhlo attribute code 26");
    made = new_made(6);
    ATTR(made, BUILTIN, 23);
    assert_refused(made, KEEL_UNSUPPORTED, "builtin attribute code 23");
    made = new_made(6);
    ATTR(made, SDY, 18);
    assert_refused(made, KEEL_UNSUPPORTED, "sdy attribute code 18");
    made = new_made(6);
    TYPE(made, VHLO, 43);
    assert_refused(made, KEEL_UNSUPPORTED, "vhlo type code 43");
    made = new_made(6);
    TYPE(made, BUILTIN, 10);
    assert_refused(made, KEEL_UNSUPPORTED, "builtin type code 10");
    made = new_made(6);
    ATTR(made, OTHER, 0);
    assert_refused(made, KEEL_UNSUPPORTED, "other");
    made = new_made(6);
    ATTR(made, VHLO, 3, 6);
    assert_refused(made, KEEL_UNSUPPORTED, "comparison_direction");
    made = new_made(6);
    made->attrs[ATTR(made, VHLO, 2, 1)].is_text = true;
    assert_refused(made, KEEL_UNSUPPORTED, "text");
}

static void an_entry_with_bytes_left_over_is_damaged(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned index = ATTR(made, VHLO, 2, 1, 1);
    char text[32];
    snprintf(text, sizeof text, "attribute %u", index);
    assert_refused(made, KEEL_CORRUPT, text);
}

static void what_refers_to_itself_is_refused(void **state) {
    (void)state;
    made_t *made = new_made(6);
    ATTR(made, VHLO, 1, 1, made->attr_count + 1);
    ATTR(made, VHLO, 1, 1, made->attr_count - 1);
    assert_refused(made, KEEL_CORRUPT, "refers to itself");
    made = new_made(6);
    TYPE(made, VHLO, 23, 1, made->type_count);
    assert_refused(made, KEEL_CORRUPT, "refers to itself");
}

static void attributes_may_nest_as_deep_as_the_limit_says(void **state) {
    (void)state;
    for (unsigned over = 0; over < 2; ++over) {
        made_t *made = new_made(6);
        // Each holds the next: forward references all along.
        for (unsigned i = 0; i + 1 < KEEL_READ_ATTRIBUTE_DEPTH + over; ++i)
            ATTR(made, VHLO, 1, 1, made->attr_count + 1);
        ATTR(made, BUILTIN, 7);
        if (over) {
            assert_refused(made, KEEL_UNSUPPORTED, "deep");
            continue;
        }
        keel_program_t p = read_good(made);
        release(&p);
    }
}

static void locations_may_nest_without_limit(void **state) {
    (void)state;
    made_t *made = new_made(6);
    for (unsigned i = 0; i < 4000; ++i)
        ATTR(made, BUILTIN, 10, 0, made->attr_count + 1);
    ATTR(made, BUILTIN, 15);
    keel_program_t p = read_good(made);
    release(&p);
}

static void a_kind_that_cannot_stand_there_is_refused(void **state) {
    (void)state;
    made_t *made = new_made(6);
    ATTR(made, VHLO, 6, 1, ATTR(made, VHLO, 2, 1), 1); // a dictionary's name is a bool
    assert_refused(made, KEEL_CORRUPT, "attribute");
    made = new_made(6);
    ATTR(made, BUILTIN, 14, 1, 1); // a name around a string
    assert_refused(made, KEEL_CORRUPT, "attribute");
    made = new_made(6);
    ATTR(made, BUILTIN, 10, 0, 1); // a caller that is a string
    assert_refused(made, KEEL_CORRUPT, "attribute");
    made = new_made(6);
    ATTR(made, SDY, 7, 1, 1); // a string among shardings
    assert_refused(made, KEEL_CORRUPT, "attribute");
    made = new_made(6);
    unsigned tensor = TYPE(made, VHLO, 20, 1, SIGNED(3), 0);
    ATTR(made, VHLO, 15, tensor, 0); // three floats in no byte
    assert_refused(made, KEEL_CORRUPT, "attribute");
    made = new_made(6);
    put_varint(&made->ir, add_op(made, VHLO, "return_v1"));
    keel_buffer_byte(&made->ir, 0);
    put_varint(&made->ir, 1); // a location that is a string
    made->module_ops = 1;
    assert_refused(made, KEEL_CORRUPT, "location");
}

static void integers_have_a_width_that_mlir_allows_and_a_known_sign(void **state) {
    (void)state;
    static const unsigned none[] = {0 << 2, 0x1000000 << 2, 32 << 2 | 3};
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
        made_t *made = new_made(6);
        TYPE(made, BUILTIN, 0, none[i]);
        assert_refused(made, KEEL_CORRUPT, "type");
    }
    made_t *made = new_made(6);
    unsigned one = TYPE(made, BUILTIN, 0, 1 << 2), most = TYPE(made, BUILTIN, 0, 0xffffff << 2 | 2);
    keel_program_t p = read_good(made);
    assert_int_equal(p.types.data[one].a, 1);
    assert_int_equal(p.types.data[one].aux, KEEL_SIGNLESS);
    assert_int_equal(p.types.data[most].a, 0xffffff);
    assert_int_equal(p.types.data[most].aux, KEEL_UNSIGNED);
    release(&p);
}

static void integers_keep_their_sign_as_their_type_has_it(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned i32 = TYPE(made, VHLO, 13), ui32 = TYPE(made, VHLO, 18), i4 = TYPE(made, VHLO, 10);
    unsigned i128 = TYPE(made, BUILTIN, 0, 128 << 2);
    unsigned first = ATTR(made, VHLO, 9, i32, SIGNED(4294967295));
    ATTR(made, VHLO, 9, ui32, SIGNED(4294967295));
    ATTR(made, VHLO, 9, i32, SIGNED(-5));
    unsigned wide = ATTR(made, BUILTIN, 8, i128, 2, SIGNED(7), SIGNED(-1));
    keel_buffer_t b;
    keel_buffer_initialize(&b, 0);
    put_varint(&b, 9);
    put_varint(&b, i4);
    keel_buffer_byte(&b, 0x0f);
    unsigned nibble = finish_entry(made->attrs, &made->attr_count, VHLO, &b);
    keel_program_t p = read_good(made);
    const int64_t expected[] = {-1, 4294967295, -5};
    for (unsigned i = 0; i < 3; ++i)
        assert_int_equal(p.ints.data[p.attrs.data[first + i].b], expected[i]);
    assert_int_equal(p.ints.data[p.attrs.data[nibble].b], -1);
    assert_int_equal(p.attrs.data[wide].kind, KEEL_ATTR_WIDE_INT);
    assert_int_equal(keel_program_ints(&p, p.attrs.data[wide].b).count, 2);
    assert_int_equal(keel_program_ints(&p, p.attrs.data[wide].b).items[1], -1);
    release(&p);
}

static void shardings_of_all_codes_are_read(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned name = add_string(made, "x"), symbol = ATTR(made, BUILTIN, 4, 1);
    unsigned sub = ATTR(made, SDY, 3, SIGNED(2), SIGNED(4));
    unsigned axis = ATTR(made, SDY, 4, name, sub << 1 | 1);
    unsigned list = ATTR(made, SDY, 11, 1, axis), lists = ATTR(made, SDY, 12, 2, list, list);
    unsigned param = ATTR(made, SDY, 13, 1, axis, SIGNED(0), SIGNED(1));
    unsigned params = ATTR(made, SDY, 14, 1, param);
    unsigned unreduced = ATTR(made, SDY, 15, symbol, 0, 0, 1, axis);
    unsigned values = ATTR(made, SDY, 16, 1, unreduced);
    unsigned reduction = ATTR(made, SDY, 17, symbol, 0, 0, 1, axis, SIGNED(2));
    keel_program_t p = read_good(made);
    assert_int_equal(int_field(&p, field(&p, axis, "sub_axis_info"), "size"), 4);
    assert_int_equal(keel_program_list(&p, p.attrs.data[field(&p, lists, "lists")].b).count, 2);
    assert_int_equal(int_field(&p, param, "tgt_dim"), 1);
    assert_string_equal(keel_record_name(p.attrs.data[params].klass), "sdy.all_to_all_param_list");
    assert_string_equal(keel_record_name(p.attrs.data[values].klass), "sdy.sharding_per_value");
    assert_int_equal(p.attrs.data[field(&p, unreduced, "unreduced")].kind, KEEL_ATTR_ARRAY);
    assert_int_equal(keel_program_dict_find(&p, unreduced, "reduction"), KEEL_NONE);
    assert_int_equal(int_field(&p, reduction, "reduction"), 2);
    release(&p);
}

static void records_of_vhlo_are_read(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned axis = ATTR(made, VHLO, 24, 1, SIGNED(8)), axes = ATTR(made, VHLO, 1, 1, axis);
    unsigned mesh = ATTR(made, VHLO, 25, axes, 0),
             ids = ATTR(made, VHLO, 18, 2, SIGNED(1), SIGNED(0));
    unsigned full = ATTR(made, VHLO, 25, axes, ids << 1 | 1);
    unsigned mode = ATTR(made, VHLO, 19, 2);
    unsigned accuracy = ATTR(made, VHLO, 20, SIGNED(0x3f50624dd2f1a9fc), 0, SIGNED(-3), mode);
    unsigned alias = ATTR(made, VHLO, 10, 1, SIGNED(1), SIGNED(4), 0);
    unsigned scaled = TYPE(made, VHLO, 24, 1, 0, 0, SIGNED(0x3ff0000000000000), SIGNED(-7),
                           SIGNED(-128), SIGNED(127));
    unsigned per_axis = TYPE(made, VHLO, 30, 1, 0, 0, 3, SIGNED(-128), SIGNED(127), 2,
                             SIGNED(0x3ff0000000000000), SIGNED(0), 2, SIGNED(5), SIGNED(6));
    keel_program_t p = read_good(made);
    assert_int_equal(int_field(&p, axis, "size"), 8);
    assert_int_equal(keel_program_dict_find(&p, mesh, "device_ids"), KEEL_NONE);
    assert_int_equal(field(&p, full, "device_ids"), ids);
    const keel_attr_t *atol = &p.attrs.data[field(&p, accuracy, "atol")];
    assert_int_equal(p.types.data[atol->a].a, KEEL_FLOAT_F64);
    assert_int_equal(p.ints.data[atol->b], 0x3f50624dd2f1a9fc);
    assert_int_equal(int_field(&p, accuracy, "ulps"), -3);
    assert_int_equal(int_field(&p, alias, "operand_index"), 4);
    assert_int_equal(p.types.data[scaled].kind, KEEL_TYPE_QUANTIZED);
    assert_int_equal(int_field(&p, p.types.data[scaled].c, "zero_point"), -7);
    assert_int_equal(int_field(&p, p.types.data[per_axis].c, "quantized_dimension"), 3);
    const keel_attr_t *points = &p.attrs.data[field(&p, p.types.data[per_axis].c, "zero_points")];
    assert_int_equal(keel_program_ints(&p, points->b).items[1], 6);
    release(&p);
}

static void resources_are_found_by_their_handle(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned tensor = TYPE(made, VHLO, 20, 1, SIGNED(2), 0);
    unsigned key = add_string(made, "weights");
    made->has_resources = true;
    put_varint(&made->resource_offsets, 0);
    put_varint(&made->resource_offsets, BUILTIN);
    put_varint(&made->resource_offsets, 2);
    put_varint(&made->resource_offsets, key);
    put_varint(&made->resource_offsets, 1); // a bool of one byte
    keel_buffer_byte(&made->resource_offsets, 1);
    keel_buffer_byte(&made->resources, 1);
    put_varint(&made->resource_offsets, key);
    put_varint(&made->resource_offsets, 16 - 1 + 8);
    keel_buffer_byte(&made->resource_offsets, 0);
    put_varint(&made->resources, 16);
    put_varint(&made->resources, 8);
    while (made->resources.size < 16)
        keel_buffer_byte(&made->resources, 0xcb);
    keel_buffer_append(&made->resources, "12345678", 8);
    unsigned attr = ATTR(made, BUILTIN, 16, tensor, 1);
    keel_program_t p = read_good(made);
    assert_string_equal(keel_record_name(p.attrs.data[attr].klass), "dense_resource");
    assert_int_equal(p.attrs.data[field(&p, attr, "type")].a, tensor);
    const keel_attr_t *value = &p.attrs.data[field(&p, attr, "value")];
    assert_str(&p, value->a, "weights");
    assert_true(keel_bytes_equal(p.blobs.data[value->b], keel_bytes("12345678", 8)));
    release(&p);
}

static void
an_operation_that_its_writer_did_not_know_has_its_properties_in_a_dictionary(void **state) {
    (void)state;
    made_t *made = new_made(6);
    unsigned value = ATTR(made, VHLO, 2, 1), key = add_string_attr(made, "dimension");
    unsigned dictionary = ATTR(made, BUILTIN, 1, 1, key, value);
    unsigned name = made->unregistered = add_op(made, VHLO, "concatenate_v1");
    int blob = (int)add_properties(made, NUMBERS(dictionary));
    put_op(&made->ir, name, ABSENT, blob, EMPTY, EMPTY, 0);
    made->module_ops = 1;
    keel_program_t p = read_good(made);
    assert_int_equal(field(&p, p.operations.data[0].attributes, "dimension"), value);
    release(&p);
    // Nothing else can hold them.
    made = new_made(6);
    value = ATTR(made, VHLO, 2, 1);
    name = made->unregistered = add_op(made, VHLO, "concatenate_v1");
    blob = (int)add_properties(made, NUMBERS(value));
    put_op(&made->ir, name, ABSENT, blob, EMPTY, EMPTY, 0);
    made->module_ops = 1;
    assert_refused(made, KEEL_CORRUPT, "concatenate_v1 does not have the properties");
}

static void only_shardy_may_have_a_version_of_its_own(void **state) {
    (void)state;
    made_t *made = new_made(6);
    made->sdy_has_version = true;
    keel_program_t p = read_good(made);
    release(&p);
}

static void resources_from_outside_are_refused(void **state) {
    (void)state;
    made_t *made = new_made(6);
    made->has_resources = true;
    put_varint(&made->resource_offsets, 1);
    put_varint(&made->resource_offsets, 0);
    put_varint(&made->resource_offsets, 0);
    assert_refused(made, KEEL_UNSUPPORTED, "resources");
}

static void announced_numbers_cost_no_memory_before_they_are_met(void **state) {
    (void)state;
    made_t *made = new_made(6);
    made->module_values = 0xffffffff;
    assert_refused(made, KEEL_CORRUPT, "announces");
    made = new_made(6);
    made->module_ops = 0x7fffffff;
    assert_refused(made, KEEL_CORRUPT, "announces");
    // As many as there are bytes: each takes three at least.
    made = new_made(6);
    put_op(&made->ir, add_op(made, VHLO, "concatenate_v1"), ABSENT, ABSENT, EMPTY, EMPTY, 0);
    made->module_ops = 3;
    assert_refused(made, KEEL_CORRUPT, "announces");
    made = new_made(6);
    ATTR(made, VHLO, 1, UINT64_MAX);
    assert_refused(made, KEEL_CORRUPT, "attribute");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_is_read_with_its_properties_by_name),
        cmocka_unit_test(a_property_too_few_or_too_many_is_refused),
        cmocka_unit_test(an_operation_that_says_nothing_new_is_of_the_older_version),
        cmocka_unit_test(an_operation_of_the_future_is_named),
        cmocka_unit_test(names_that_no_operation_has_may_be_unknown),
        cmocka_unit_test(a_module_may_have_no_block),
        cmocka_unit_test(successors_and_blocks_in_a_row_are_refused),
        cmocka_unit_test(an_operand_may_name_a_value_defined_later),
        cmocka_unit_test(a_number_that_no_value_has_is_refused),
        cmocka_unit_test(values_are_counted_through_many_regions),
        cmocka_unit_test(regions_may_nest_as_deep_as_the_limit_says),
        cmocka_unit_test(use_lists_are_passed_by),
        cmocka_unit_test(all_versions_say_the_same),
        cmocka_unit_test(unknown_codes_are_named),
        cmocka_unit_test(an_entry_with_bytes_left_over_is_damaged),
        cmocka_unit_test(what_refers_to_itself_is_refused),
        cmocka_unit_test(attributes_may_nest_as_deep_as_the_limit_says),
        cmocka_unit_test(locations_may_nest_without_limit),
        cmocka_unit_test(a_kind_that_cannot_stand_there_is_refused),
        cmocka_unit_test(integers_have_a_width_that_mlir_allows_and_a_known_sign),
        cmocka_unit_test(integers_keep_their_sign_as_their_type_has_it),
        cmocka_unit_test(shardings_of_all_codes_are_read),
        cmocka_unit_test(records_of_vhlo_are_read),
        cmocka_unit_test(resources_are_found_by_their_handle),
        cmocka_unit_test(
            an_operation_that_its_writer_did_not_know_has_its_properties_in_a_dictionary),
        cmocka_unit_test(only_shardy_may_have_a_version_of_its_own),
        cmocka_unit_test(resources_from_outside_are_refused),
        cmocka_unit_test(announced_numbers_cost_no_memory_before_they_are_met),
    };
    return cmocka_run_group_tests_name("read_mlir_made", tests, NULL, NULL);
}
