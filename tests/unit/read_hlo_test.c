#define _GNU_SOURCE
#include "hlo_proto.h"

#include "edge.h"
#include "sound.h"

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

static void assert_told(keel_bytes_t bytes, keel_code_t code, const char *words) {
    keel_program_t program;
    keel_status_t status = keel_read(bytes, &program);
    assert_int_equal(keel_status_code(status), code);
    assert_non_null(strstr(keel_status_message(status), words));
    keel_status_ignore(status);
}

static void nothing_and_text_are_told_as_such(void **state) {
    (void)state;
    static const char *const texts[] = {"module @jit_f {", "\n \t// by hand\n", "#loc = loc(0)",
                                        "HloModule f", "func.func @main()"};
    assert_told(keel_bytes(NULL, 0), KEEL_CORRUPT, "the file is empty");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        assert_told(keel_str_bytes(keel_str(texts[i])), KEEL_UNSUPPORTED,
                    "this program is in text form");
    assert_told(keel_str_bytes(keel_str("mod")), KEEL_CORRUPT, "HLO");
    assert_false(keel_read_is_text(keel_bytes((const uint8_t *)"module", 5)));
    assert_false(keel_read_is_text(at_edge(keel_str_bytes(KEEL_STR(" modul")))));
    assert_false(keel_read_is_mlir(at_edge(keel_str_bytes(KEEL_STR("ML\xef")))));
    assert_false(keel_read_is_text(keel_str_bytes(keel_str(" \n"))));
}

static void a_damaged_module_whose_name_begins_as_a_text_does_is_no_text(void **state) {
    (void)state;
    // Field 1, ten bytes: both are blanks.
    static const char bytes[] = "\n\nmodule_foo\x12\x04main\x28\x01\xff";
    keel_program_t program;
    keel_status_t status =
        keel_read(keel_bytes((const uint8_t *)bytes, sizeof bytes - 1), &program);
    assert_non_null(status);
    assert_null(strstr(keel_status_message(status), "text form"));
    keel_status_ignore(status);
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
            keel_program_t program;
            keel_status_t status = keel_read_hlo(at_edge(keel_bytes(bytes.data, size)), &program);
            if (status) assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
            if (!status) sound(&program);
            keel_status_ignore(status);
            keel_program_deinitialize(&program);
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
            if (!status) sound(&program);
            keel_status_ignore(status);
            keel_program_deinitialize(&program);
            for (int j = 0; j < 3; ++j)
                copy[at[j]] = bytes.data[at[j]];
        }
        keel_free(copy);
        keel_free((void *)bytes.data);
    }
}

#ifdef KEEL_FAULTS
static void a_failed_allocation_leaves_nothing_behind(void **state) {
    (void)state;
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
}
#endif

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

// As protobuf says: what comes twice where one is expected counts with its last.
static void the_last_of_a_field_that_comes_twice_counts(void **state) {
    (void)state;
    proto_t one = instruction("custom-call", 1, NULL, 0);
    put_int(&one, 26, 3); // channel_id
    put_text(&one, 28, "first");
    put_int(&one, 26, 300);
    put_text(&one, 28, "last"); // custom_call_target
    put_int(&one, 26, 5);
    proto_t module = module_of_one(&one);
    keel_program_t program;
    assert_read(&module, &program);
    assert_int_equal(int_of(&program, op_attr(&program, 0, "channel_id")), 5);
    assert_text(&program, op_attr(&program, 0, "custom_call_target").a, "last");
    keel_program_deinitialize(&program);
    keel_buffer_deinitialize(&module);
}

// Only a repeated number may be packed: of one alone it is damage, not a list of one.
static void a_number_that_is_not_repeated_may_not_be_packed(void **state) {
    (void)state;
    const int64_t value = 3;
    proto_t one = instruction("custom-call", 1, NULL, 0);
    put_packed(&one, 26, &value, 1); // channel_id
    proto_t module = module_of_one(&one);
    assert_refused(&module, KEEL_CORRUPT, "channel_id of HloInstructionProto has wire type 2");
    // Nor may a repeated one have another width.
    one = instruction("iota", 1, NULL, 0);
    varint(&one, 14 << 3 | 5); // dimensions, as 32 bits
    keel_buffer_u32(&one, 1);
    module = module_of_one(&one);
    assert_refused(&module, KEEL_CORRUPT, "wire type 5");
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

// PyTorch/XLA names each of its arguments by their type, behind a scope if there is one.
static void a_parameter_has_the_name_that_its_type_does_not_give(void **state) {
    (void)state;
    static const struct {
        const char *type, *name, *wanted;
    } cases[] = {{"", "params['w']", "params['w']"},
                 {"xla__device_data", "xla__device_data", ""},
                 {"xla__device_data", "aten__mul.1/xla__device_data", ""},
                 {"_Arg", "XLA_Args", "XLA_Args"},
                 {"xla__device_data", "", ""},
                 {"", "", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        proto_t one = instruction("parameter", 1, NULL, 0), metadata = proto();
        if (*cases[i].type) put_text(&metadata, 1, cases[i].type);
        if (*cases[i].name) put_text(&metadata, 2, cases[i].name);
        put_text(&metadata, 3, "train.py");
        put_message(&one, 7, &metadata);
        proto_t module = module_of_one(&one);
        keel_program_t program;
        assert_read(&module, &program);
        keel_str_t name = keel_program_parameter_name(&program, 0);
        if (!keel_str_is(name, cases[i].wanted))
            fail_msg("%s of type %s is called %.*s", cases[i].name, cases[i].type,
                     KEEL_STR_ARGS(name));
        keel_program_deinitialize(&program);
        keel_buffer_deinitialize(&module);
    }
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

static void put_sequence(proto_t *module, int64_t computation, const int64_t *order, size_t count) {
    proto_t schedule = proto(), entry = proto(), ids = proto();
    if (count) put_packed(&ids, 1, order, count);
    put_int(&entry, 1, computation);
    put_message(&entry, 2, &ids);
    put_message(&schedule, 1, &entry);
    put_message(module, 7, &schedule);
}

static void assert_scheduled(const keel_program_t *program, uint32_t function, uint32_t count) {
    keel_attr_id_t dict = program->functions.data[function].attributes;
    assert_int_equal(ints_of(program, attr_of(program, dict, "schedule")).count, count);
}

// Computations have their sequences in whatever order these come; the last of two counts.
static void each_computation_has_its_own_schedule(void **state) {
    (void)state;
    const int64_t ten = 10, nowhere = 99;
    static const bool is_caller_first[] = {false, true};
    for (size_t i = 0; i < 2; ++i) {
        proto_t module = call_module("caller", "callee");
        put_sequence(&module, 4, &nowhere, 1); // replaced below
        if (is_caller_first[i]) put_sequence(&module, 9, &ten, 1);
        put_sequence(&module, 4, NULL, 0);
        if (!is_caller_first[i]) put_sequence(&module, 9, &ten, 1);
        keel_program_t program;
        assert_read(&module, &program);
        assert_scheduled(&program, 0, 0); // the callee
        assert_scheduled(&program, 1, 1);
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
#ifdef KEEL_FAULTS
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
#endif
        cmocka_unit_test(what_fuzzing_found_stays_harmless),
        cmocka_unit_test(packed_and_unpacked_numbers_read_the_same),
        cmocka_unit_test(the_last_of_a_field_that_comes_twice_counts),
        cmocka_unit_test(a_number_that_is_not_repeated_may_not_be_packed),
        cmocka_unit_test(a_message_in_two_pieces_is_one),
        cmocka_unit_test(defaults_that_are_written_out_are_left_out),
        cmocka_unit_test(a_shardings_reduction_is_kept_and_its_position_is_not),
        cmocka_unit_test(maps_are_sorted_and_the_last_of_equal_keys_counts),
        cmocka_unit_test(an_unknown_field_is_named),
        cmocka_unit_test(an_unknown_field_of_metadata_is_passed_over),
        cmocka_unit_test(a_parameter_has_the_name_that_its_type_does_not_give),
        cmocka_unit_test(unknown_values_and_two_of_one_are_refused),
        cmocka_unit_test(bytes_that_are_no_module_are_corrupt),
        cmocka_unit_test(operands_are_resolved_by_id),
        cmocka_unit_test(ids_that_lead_nowhere_are_corrupt),
        cmocka_unit_test(nothing_and_text_are_told_as_such),
        cmocka_unit_test(a_damaged_module_whose_name_begins_as_a_text_does_is_no_text),
        cmocka_unit_test(callees_are_named_by_symbols),
        cmocka_unit_test(a_schedule_is_told_in_places),
        cmocka_unit_test(each_computation_has_its_own_schedule),
    };
    return cmocka_run_group_tests_name("read_hlo", tests, NULL, NULL);
}
