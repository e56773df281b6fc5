#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "read/read.h"

// ---- writing protos ----------------------------------------------------------------------------

typedef keel_buffer_t proto_t;

static proto_t proto(void) {
    proto_t p;
    keel_buffer_initialize(&p, 0);
    return p;
}

static void varint(proto_t *p, uint64_t value) {
    for (; value > 127; value >>= 7)
        keel_buffer_byte(p, (uint8_t)(value | 128));
    keel_buffer_byte(p, (uint8_t)value);
}

static void put_int(proto_t *p, unsigned number, int64_t value) {
    varint(p, number << 3);
    varint(p, (uint64_t)value);
}

static void put_bytes(proto_t *p, unsigned number, const void *data, size_t size) {
    varint(p, number << 3 | 2);
    varint(p, size);
    keel_buffer_append(p, data, size);
}

static void put_text(proto_t *p, unsigned number, const char *text) {
    put_bytes(p, number, text, strlen(text));
}

static void put_packed(proto_t *p, unsigned number, const int64_t *values, size_t count) {
    proto_t list = proto();
    for (size_t i = 0; i < count; ++i)
        varint(&list, (uint64_t)values[i]);
    put_bytes(p, number, list.data, list.size);
    keel_buffer_deinitialize(&list);
}

// Adds the child to its parent and empties it.
static void put_message(proto_t *p, unsigned number, proto_t *child) {
    put_bytes(p, number, child->data, child->size);
    keel_buffer_deinitialize(child);
}

enum { PRED = 1, S32 = 4, F32 = 11, TUPLE = 13, S4 = 21 };

static proto_t shape(int element, const int64_t *dims, size_t rank) {
    proto_t p = proto(), layout = proto();
    int64_t order[8];
    for (size_t i = 0; i < rank; ++i)
        order[i] = (int64_t)(rank - 1 - i);
    put_int(&p, 2, element);
    if (rank) put_packed(&p, 3, dims, rank);
    if (rank) put_packed(&layout, 1, order, rank);
    put_message(&p, 5, &layout);
    return p;
}

static proto_t instruction(const char *opcode, int64_t id, const int64_t *operands, size_t count) {
    static const int64_t dims[] = {2, 3};
    proto_t p = proto(), type = shape(F32, dims, 2);
    put_text(&p, 1, opcode);
    put_text(&p, 2, opcode);
    put_message(&p, 3, &type);
    put_int(&p, 35, id);
    if (count) put_packed(&p, 36, operands, count);
    return p;
}

// A module of one computation `main` (id 7) around these instructions.
static proto_t module_of(proto_t *body, int64_t root) {
    proto_t p = proto(), computation = proto();
    put_text(&computation, 1, "main");
    keel_buffer_append(&computation, body->data, body->size);
    keel_buffer_deinitialize(body);
    put_int(&computation, 5, 7);
    put_int(&computation, 6, root);
    put_text(&p, 1, "module.1");
    put_message(&p, 3, &computation);
    put_int(&p, 6, 7);
    return p;
}

// A module of one instruction, which is given without its id.
static proto_t module_of_one(proto_t *one) {
    proto_t body = proto();
    put_int(one, 35, 1);
    put_message(&body, 2, one);
    return module_of(&body, 1);
}

static keel_bytes_t bytes_of(const proto_t *p) {
    assert_null(keel_buffer_status(p));
    return keel_buffer_bytes(p);
}

// ---- looking at what was read ------------------------------------------------------------------

static void assert_read(const proto_t *p, keel_program_t *program) {
    keel_status_t status = keel_read_hlo(bytes_of(p), program);
    if (status) fail_msg("%s", keel_status_message(status));
}

// Reads the module, which must be refused with that code and those words; frees it.
static void assert_refused(proto_t *p, keel_code_t code, const char *words) {
    keel_program_t program;
    keel_status_t status = keel_read_hlo(bytes_of(p), &program);
    assert_int_equal(keel_status_code(status), code);
    if (!strstr(keel_status_message(status), words))
        fail_msg("%s: does not say %s", keel_status_message(status), words);
    keel_status_ignore(status);
    assert_int_equal(program.operations.count, 0);
    keel_buffer_deinitialize(p);
}

static keel_attr_t attr_of(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    keel_attr_id_t found = keel_program_dict_find(program, dict, name);
    if (found == KEEL_NONE) fail_msg("no attribute %s", name);
    return program->attrs.data[found];
}

static keel_attr_t op_attr(const keel_program_t *program, keel_op_id_t op, const char *name) {
    return attr_of(program, program->operations.data[op].attributes, name);
}

static bool has_attr(const keel_program_t *program, keel_op_id_t op, const char *name) {
    keel_attr_id_t dict = program->operations.data[op].attributes;
    return keel_program_dict_find(program, dict, name) != KEEL_NONE;
}

static int64_t int_of(const keel_program_t *program, keel_attr_t attr) {
    assert_int_equal(attr.kind, KEEL_ATTR_INT);
    return program->ints.data[attr.b];
}

static keel_ints_t ints_of(const keel_program_t *program, keel_attr_t attr) {
    assert_int_equal(attr.kind, KEEL_ATTR_INTS);
    return keel_program_ints(program, attr.b);
}

static void assert_text(const keel_program_t *program, keel_string_id_t id, const char *text) {
    keel_str_t got = keel_program_str(program, id);
    if (!keel_str_is(got, text)) fail_msg("%.*s is not %s", KEEL_STR_ARGS(got), text);
}

static void assert_op(const keel_program_t *program, keel_op_id_t op, const char *name) {
    assert_text(program, keel_program_op_name(program, op)->name, name);
}

static keel_op_id_t find_op(const keel_program_t *program, const char *name) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op)
        if (keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name), name))
            return op;
    fail_msg("no %s", name);
    return KEEL_NONE;
}

// ---- samples -----------------------------------------------------------------------------------

static const char *const samples[] = {"conv_pool", "linear_step", "linear_step_nodebug", "spmd",
                                      "where"};

static keel_bytes_t sample(const char *name) {
    char path[512];
    uint8_t *data;
    size_t size;
    snprintf(path, sizeof path, "%s/hlo/%s.hlo", KEEL_TEST_SAMPLES, name);
    assert_null(keel_file_read(path, 1 << 20, &data, &size));
    return keel_bytes(data, size);
}

static void a_training_step_is_read_with_its_structure(void **state) {
    (void)state;
    keel_bytes_t bytes = sample("linear_step");
    keel_program_t program;
    assert_null(keel_read_hlo(bytes, &program));
    assert_int_equal(program.format, KEEL_FORMAT_HLO);
    assert_true(
        keel_str_starts(keel_program_str(&program, program.name), KEEL_STR("SyncTensorsGraph.")));
    assert_int_equal(keel_program_op_count(&program), 61);
    assert_int_equal(program.functions.count, 3);
    const keel_function_t *entry = &program.functions.data[program.entry];
    assert_true(entry->is_public);
    assert_op(&program, entry->root, "tuple");
    const keel_region_t *region = &program.regions.data[entry->region];
    const keel_block_t *block = &program.blocks.data[region->first_block];
    assert_int_equal(entry->end_value - entry->first_value, block->end_op - block->first_op);
    keel_op_id_t dot = find_op(&program, "dot");
    assert_int_equal(keel_program_operands(&program, dot).count, 2);
    keel_attr_t numbers = op_attr(&program, dot, "dot_dimension_numbers");
    assert_int_equal(numbers.klass, KEEL_RECORD_HLO_MESSAGE);
    assert_int_equal(attr_of(&program, program.attributes, "buffer_donor").kind, KEEL_ATTR_DICT);
    keel_program_deinitialize(&program);
    keel_free((void *)bytes.data);
}

static void debug_positions_change_locations_and_nothing_else(void **state) {
    (void)state;
    keel_bytes_t with = sample("linear_step"), without = sample("linear_step_nodebug");
    keel_program_t a, b;
    assert_null(keel_read_hlo(with, &a));
    assert_null(keel_read_hlo(without, &b));
    assert_int_equal(keel_program_op_count(&a), keel_program_op_count(&b));
    uint32_t named = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(&a); ++op) {
        keel_str_t name = keel_program_str(&b, keel_program_op_name(&b, op)->name);
        assert_true(keel_str_equal(keel_program_str(&a, keel_program_op_name(&a, op)->name), name));
        named += a.attrs.data[a.operations.data[op].location].kind == KEEL_ATTR_LOC_NAME;
        assert_int_equal(b.attrs.data[b.operations.data[op].location].kind, KEEL_ATTR_LOC_UNKNOWN);
    }
    assert_true(named > 30);
    keel_program_deinitialize(&a);
    keel_program_deinitialize(&b);
    keel_free((void *)with.data);
    keel_free((void *)without.data);
}

static void shardings_stand_as_the_client_wrote_them(void **state) {
    (void)state;
    keel_bytes_t bytes = sample("spmd");
    keel_program_t program;
    assert_null(keel_read_hlo(bytes, &program));
    keel_attr_t sharding = op_attr(&program, find_op(&program, "custom-call"), "sharding");
    assert_int_equal(sharding.kind, KEEL_ATTR_DICT);
    assert_int_equal(sharding.klass, KEEL_RECORD_HLO_MESSAGE);
    keel_program_deinitialize(&program);
    keel_free((void *)bytes.data);
}

static void every_truncation_is_refused_or_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        keel_bytes_t bytes = sample(samples[i]);
        for (size_t size = 0; size < bytes.size; ++size) {
            uint8_t *copy; // of its own, so that a sanitizer sees a read past the end
            keel_program_t program;
            assert_null(keel_bytes_dup(keel_bytes(bytes.data, size), &copy));
            keel_status_t status = keel_read_hlo(keel_bytes(copy, size), &program);
            if (status) assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
            keel_status_ignore(status);
            keel_program_deinitialize(&program);
            keel_free(copy);
        }
        keel_free((void *)bytes.data);
    }
}

static void mutated_files_are_refused_or_read(void **state) {
    (void)state;
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        keel_bytes_t bytes = sample(samples[i]);
        uint8_t *copy;
        assert_null(keel_bytes_dup(bytes, &copy));
        for (int round = 0; round < 3000; ++round) {
            size_t at[3];
            for (int j = 0; j < 3; ++j) {
                random = random * 1664525 + 1013904223;
                at[j] = (random >> 8) % bytes.size;
                copy[at[j]] ^= (uint8_t)(1u << (random >> 4) % 8);
            }
            keel_program_t program;
            keel_status_t status = keel_read_hlo(keel_bytes(copy, bytes.size), &program);
            keel_code_t code = keel_status_code(status);
            assert_true(code == KEEL_OK || code == KEEL_CORRUPT || code == KEEL_UNSUPPORTED);
            keel_status_ignore(status);
            keel_program_deinitialize(&program);
            for (int j = 0; j < 3; ++j)
                copy[at[j]] = bytes.data[at[j]];
        }
        keel_free(copy);
        keel_free((void *)bytes.data);
    }
}

static void a_failed_allocation_leaves_nothing_behind(void **state) {
    (void)state;
#ifdef KEEL_FAULTS
    keel_bytes_t bytes = sample("linear_step");
    keel_program_t program;
    for (uint64_t nth = 1;; ++nth) {
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = keel_read_hlo(bytes, &program);
        bool reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (!reached) {
            assert_null(status);
            assert_true(nth > 20);
            break;
        }
        assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
        assert_null(program.operations.data);
    }
    keel_program_deinitialize(&program);
    keel_free((void *)bytes.data);
#else
    skip();
#endif
}

static keel_status_t replay(void *context, const char *name) {
    char path[512];
    uint8_t *data;
    size_t size;
    keel_program_t program;
    snprintf(path, sizeof path, "%s/%s", (const char *)context, name);
    KEEL_TRY(keel_file_read(path, 1 << 20, &data, &size));
    keel_status_ignore(keel_read_hlo(keel_bytes(data, size), &program));
    keel_program_deinitialize(&program);
    keel_free(data);
    return NULL;
}

static void what_fuzzing_found_stays_harmless(void **state) {
    (void)state;
    char folder[] = KEEL_TEST_SOURCE "/fuzz/corpus/hlo";
    assert_null(keel_directory_walk(folder, replay, folder));
}

// ---- the wire ----------------------------------------------------------------------------------

static void packed_and_unpacked_numbers_read_the_same(void **state) {
    (void)state;
    const int64_t values[] = {0, -1, 300};
    proto_t packed = instruction("iota", 1, NULL, 0), loose = instruction("iota", 1, NULL, 0);
    put_packed(&packed, 14, values, 3);
    put_int(&loose, 14, 0);
    put_packed(&loose, 14, values + 1, 2);
    proto_t modules[] = {module_of_one(&packed), module_of_one(&loose)};
    for (int i = 0; i < 2; ++i) {
        keel_program_t program;
        assert_read(&modules[i], &program);
        keel_ints_t got = ints_of(&program, op_attr(&program, 0, "dimensions"));
        assert_int_equal(got.count, 3);
        assert_memory_equal(got.items, values, sizeof values);
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&modules[i]);
    }
}

static void a_message_in_two_pieces_is_one(void **state) {
    (void)state;
    const int64_t one = 1, two = 2;
    proto_t dot = instruction("dot", 1, NULL, 0), first = proto(), second = proto();
    put_packed(&first, 1, &one, 1);
    put_packed(&second, 1, &two, 1);
    put_packed(&second, 2, &two, 1);
    put_message(&dot, 30, &first);
    put_message(&dot, 30, &second);
    proto_t module = module_of_one(&dot);
    keel_program_t program;
    assert_read(&module, &program);
    keel_attr_id_t dict = keel_program_dict_find(&program, program.operations.data[0].attributes,
                                                 "dot_dimension_numbers");
    keel_ints_t lhs = ints_of(&program, attr_of(&program, dict, "lhs_contracting_dimensions"));
    assert_int_equal(lhs.count, 2);
    assert_int_equal(lhs.items[1], 2);
    assert_int_equal(ints_of(&program, attr_of(&program, dict, "rhs_contracting_dimensions")).count,
                     1);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void defaults_that_are_written_out_are_left_out(void **state) {
    (void)state;
    proto_t one = instruction("sort", 1, NULL, 0);
    put_int(&one, 60, 0);          // is_stable
    put_int(&one, 81, 0);          // k
    put_text(&one, 43, "");        // backend_config
    put_packed(&one, 14, NULL, 0); // dimensions
    put_int(&one, 80, 0);          // cross_program_prefetch_index, which is optional
    proto_t module = module_of_one(&one);
    keel_program_t program;
    assert_read(&module, &program);
    assert_false(has_attr(&program, 0, "is_stable"));
    assert_false(has_attr(&program, 0, "k"));
    assert_false(has_attr(&program, 0, "backend_config"));
    assert_false(has_attr(&program, 0, "dimensions"));
    assert_int_equal(int_of(&program, op_attr(&program, 0, "cross_program_prefetch_index")), 0);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void a_shardings_reduction_is_kept_and_its_position_is_not(void **state) {
    (void)state;
    proto_t one = instruction("copy", 1, NULL, 0), sharding = proto(), metadata = proto();
    put_text(&metadata, 1, "sdy::reduction_op");
    put_text(&metadata, 2, "MAX");
    put_int(&metadata, 4, 12);
    put_message(&sharding, 7, &metadata);
    metadata = proto();
    put_text(&metadata, 3, "train.py");
    put_message(&sharding, 7, &metadata);
    put_message(&one, 40, &sharding);
    proto_t module = module_of_one(&one);
    keel_program_t program;
    assert_read(&module, &program);
    keel_attr_id_t dict =
        keel_program_dict_find(&program, program.operations.data[0].attributes, "sharding");
    keel_list_t list = keel_program_list(&program, attr_of(&program, dict, "metadata").b);
    assert_int_equal(list.count, 1);
    keel_list_t pairs = keel_program_list(&program, program.attrs.data[list.items[0]].b);
    assert_int_equal(pairs.count, 4);
    assert_text(&program, program.attrs.data[pairs.items[3]].a, "MAX");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void put_entry(proto_t *map, const char *key, const char *value) {
    proto_t entry = proto();
    put_text(&entry, 1, key);
    put_text(&entry, 2, value);
    put_message(map, 1, &entry);
}

static void maps_are_sorted_and_the_last_of_equal_keys_counts(void **state) {
    (void)state;
    proto_t one = instruction("add", 1, NULL, 0), map = proto();
    put_entry(&map, "b", "1");
    put_entry(&map, "a", "2");
    put_entry(&map, "b", "3");
    put_entry(&map, "", "4");
    put_message(&one, 68, &map);
    proto_t module = module_of_one(&one);
    keel_program_t program;
    assert_read(&module, &program);
    keel_attr_t dict = op_attr(&program, 0, "frontend_attributes");
    keel_list_t pairs = keel_program_list(&program, dict.b);
    static const char *const expected[] = {"", "4", "a", "2", "b", "3"};
    assert_int_equal(pairs.count, 6);
    for (uint32_t i = 0; i < 6; i += 2) {
        assert_text(&program, pairs.items[i], expected[i]);
        assert_text(&program, program.attrs.data[pairs.items[i + 1]].a, expected[i + 1]);
    }
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void an_unknown_field_is_named(void **state) {
    (void)state;
    proto_t one = instruction("add", 1, NULL, 0);
    put_int(&one, 999, 1);
    proto_t module = module_of_one(&one);
    assert_refused(&module, KEEL_UNSUPPORTED, "field 999 of HloInstructionProto");

    proto_t nested = instruction("dot", 1, NULL, 0), numbers = proto();
    put_int(&numbers, 77, 1);
    put_message(&nested, 30, &numbers);
    module = module_of_one(&nested);
    assert_refused(&module, KEEL_UNSUPPORTED, "field 77 of DotDimensionNumbers");
}

static void an_unknown_field_of_metadata_is_passed_over(void **state) {
    (void)state;
    proto_t one = instruction("add", 1, NULL, 0), metadata = proto();
    put_int(&metadata, 99, 1);
    put_text(&metadata, 2, "jit(f)/add");
    put_message(&one, 7, &metadata);
    proto_t module = module_of_one(&one);
    keel_program_t program;
    assert_read(&module, &program);
    assert_text(&program, program.attrs.data[program.operations.data[0].location].a, "jit(f)/add");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static void unknown_values_and_two_of_one_are_refused(void **state) {
    (void)state;
    proto_t one = instruction("fft", 1, NULL, 0);
    put_int(&one, 31, 9);
    proto_t module = module_of_one(&one);
    assert_refused(&module, KEEL_UNSUPPORTED, "fft_type 9");

    one = instruction("all-reduce", 1, NULL, 0);
    put_bytes(&one, 87, "", 0);
    put_bytes(&one, 92, "", 0);
    module = module_of_one(&one);
    assert_refused(&module, KEEL_UNSUPPORTED, "both collective_device_list");
}

static void bytes_that_are_no_module_are_corrupt(void **state) {
    (void)state;
    proto_t p = proto();
    keel_buffer_text(&p, "ML\xefR and so on");
    assert_refused(&p, KEEL_CORRUPT, "HLO");
    p = proto();
    assert_refused(&p, KEEL_CORRUPT, "no computation");
}

// ---- structure ---------------------------------------------------------------------------------

static void operands_are_resolved_by_id(void **state) {
    (void)state;
    const int64_t big = INT64_C(3) << 40, operands[] = {5, 5, big};
    proto_t body = proto();
    proto_t a = instruction("parameter", big, NULL, 0), b = instruction("constant", 5, NULL, 0);
    proto_t c = instruction("fusion", 2, operands, 3);
    const int64_t before = 5;
    put_packed(&c, 37, &before, 1);
    put_message(&body, 2, &a);
    put_message(&body, 2, &b);
    put_message(&body, 2, &c);
    proto_t module = module_of(&body, 5);
    keel_program_t program;
    assert_read(&module, &program);
    keel_list_t got = keel_program_operands(&program, 2);
    assert_int_equal(got.count, 3);
    assert_int_equal(got.items[0], 1);
    assert_int_equal(got.items[2], 0);
    assert_int_equal(program.functions.data[0].root, 1);
    assert_text(&program, program.functions.data[0].name, "main");
    assert_text(&program, program.name, "module.1");
    assert_int_equal(ints_of(&program, op_attr(&program, 2, "control_predecessors")).items[0], 1);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

static proto_t two_instructions(int64_t first_id, int64_t second_id, int64_t operand) {
    proto_t body = proto(), first = instruction("exponential", first_id, &operand, 1);
    proto_t second = instruction("constant", second_id, NULL, 0);
    put_message(&body, 2, &first);
    put_message(&body, 2, &second);
    return module_of(&body, first_id);
}

static void ids_that_lead_nowhere_are_corrupt(void **state) {
    (void)state;
    proto_t module = two_instructions(1, 2, 2);
    assert_refused(&module, KEEL_CORRUPT, "used before it");
    module = two_instructions(1, 2, 1);
    assert_refused(&module, KEEL_CORRUPT, "used before it");
    module = two_instructions(1, 2, 3);
    assert_refused(&module, KEEL_CORRUPT, "no instruction has the id 3");
    module = two_instructions(1, 1, 1);
    assert_refused(&module, KEEL_CORRUPT, "two instructions");
    proto_t one = instruction("call", 1, NULL, 0);
    const int64_t itself = 7;
    put_packed(&one, 38, &itself, 1);
    module = module_of_one(&one);
    assert_refused(&module, KEEL_CORRUPT, "computation with the id 7");
}

// Two computations: `callee` (id 4, instruction id 10) and `caller` (id 9), which calls it.
static proto_t call_module(const char *caller_name, const char *callee_name) {
    const int64_t callee = 4;
    proto_t p = proto(), one = instruction("constant", 10, NULL, 0), computation = proto();
    put_text(&computation, 1, callee_name);
    put_message(&computation, 2, &one);
    put_int(&computation, 5, 4);
    put_int(&computation, 6, 10);
    put_message(&p, 3, &computation);
    one = instruction("call", 10, NULL, 0);
    put_packed(&one, 38, &callee, 1);
    computation = proto();
    put_text(&computation, 1, caller_name);
    put_message(&computation, 2, &one);
    put_int(&computation, 5, 9);
    put_int(&computation, 6, 10);
    put_message(&p, 3, &computation);
    put_int(&p, 6, 9);
    return p;
}

static void callees_are_named_by_symbols(void **state) {
    (void)state;
    proto_t module = call_module("caller", "callee");
    keel_program_t program;
    assert_read(&module, &program);
    keel_attr_t list = op_attr(&program, 1, "called_computations");
    keel_list_t symbols = keel_program_list(&program, list.b);
    assert_int_equal(symbols.count, 1);
    assert_int_equal(program.attrs.data[symbols.items[0]].kind, KEEL_ATTR_SYMBOL);
    assert_text(&program, program.attrs.data[symbols.items[0]].a, "callee");
    assert_int_equal(program.entry, 1);
    assert_false(program.functions.data[0].is_public);
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);

    module = call_module("same", "same");
    assert_refused(&module, KEEL_CORRUPT, "two computations are named same");
}

static void a_schedule_is_told_in_places(void **state) {
    (void)state;
    const int64_t order[] = {20, 10}, nowhere = 8;
    proto_t body = proto();
    proto_t a = instruction("constant", 10, NULL, 0), b = instruction("constant", 20, NULL, 0);
    put_message(&body, 2, &a);
    put_message(&body, 2, &b);
    proto_t module = module_of(&body, 10), schedule = proto(), entry = proto(), ids = proto();
    put_packed(&ids, 1, order, 2);
    put_int(&entry, 1, 7);
    put_message(&entry, 2, &ids);
    put_message(&schedule, 1, &entry);
    put_message(&module, 7, &schedule);
    keel_program_t program;
    assert_read(&module, &program);
    keel_ints_t got =
        ints_of(&program, attr_of(&program, program.functions.data[0].attributes, "schedule"));
    assert_int_equal(got.count, 2);
    assert_int_equal(got.items[0], 1);
    assert_int_equal(got.items[1], 0);
    keel_program_deinitialize(&program);

    put_int(&entry, 1, nowhere);
    put_message(&schedule, 1, &entry);
    put_message(&module, 7, &schedule);
    assert_refused(&module, KEEL_CORRUPT, "computation 8");
}

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

// ---- locations ---------------------------------------------------------------------------------

static void put_frame(proto_t *index, int64_t location, int64_t parent) {
    proto_t frame = proto();
    put_int(&frame, 1, location);
    put_int(&frame, 2, parent);
    put_message(index, 4, &frame);
}

// A module of one instruction in frame 1, with these parents of frames 1 and 2.
static proto_t framed_module(int64_t parent_of_1, int64_t parent_of_2) {
    proto_t one = instruction("add", 1, NULL, 0), metadata = proto(), index = proto();
    put_text(&metadata, 2, "jit(f)/add");
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
    proto_t module = framed_module(2, 0);
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
        proto_t module = framed_module(parents[i][0], parents[i][1]);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_training_step_is_read_with_its_structure),
        cmocka_unit_test(debug_positions_change_locations_and_nothing_else),
        cmocka_unit_test(shardings_stand_as_the_client_wrote_them),
        cmocka_unit_test(every_truncation_is_refused_or_read),
        cmocka_unit_test(mutated_files_are_refused_or_read),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(what_fuzzing_found_stays_harmless),
        cmocka_unit_test(packed_and_unpacked_numbers_read_the_same),
        cmocka_unit_test(a_message_in_two_pieces_is_one),
        cmocka_unit_test(defaults_that_are_written_out_are_left_out),
        cmocka_unit_test(a_shardings_reduction_is_kept_and_its_position_is_not),
        cmocka_unit_test(maps_are_sorted_and_the_last_of_equal_keys_counts),
        cmocka_unit_test(an_unknown_field_is_named),
        cmocka_unit_test(an_unknown_field_of_metadata_is_passed_over),
        cmocka_unit_test(unknown_values_and_two_of_one_are_refused),
        cmocka_unit_test(bytes_that_are_no_module_are_corrupt),
        cmocka_unit_test(operands_are_resolved_by_id),
        cmocka_unit_test(ids_that_lead_nowhere_are_corrupt),
        cmocka_unit_test(callees_are_named_by_symbols),
        cmocka_unit_test(a_schedule_is_told_in_places),
        cmocka_unit_test(tail_padding_of_one_is_the_same_as_none),
        cmocka_unit_test(dynamic_dimensions_keep_their_bounds),
        cmocka_unit_test(tuples_nest_but_not_without_end),
        cmocka_unit_test(numbers_of_a_literal_become_little_endian_bytes),
        cmocka_unit_test(packed_floats_stay_in_the_source),
        cmocka_unit_test(small_integers_and_bools_are_made_canonical),
        cmocka_unit_test(a_literal_that_does_not_fit_its_shape_is_corrupt),
        cmocka_unit_test(frames_become_call_sites_innermost_first),
        cmocka_unit_test(frames_that_close_on_themselves_are_cut),
    };
    return cmocka_run_group_tests_name("read_hlo", tests, NULL, NULL);
}
