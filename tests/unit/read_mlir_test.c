#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "read/read.h"

static keel_bytes_t sample(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/mlir/%s.mlir", KEEL_TEST_SAMPLES, name);
    uint8_t *data;
    size_t size;
    assert_null(keel_file_read(path, 1 << 24, &data, &size));
    return keel_bytes(data, size);
}

static void release(keel_program_t *program) {
    keel_free((void *)program->source.data);
    keel_program_deinitialize(program);
}

static keel_program_t read_sample(const char *name) {
    keel_program_t program;
    keel_status_t status = keel_read_mlir(sample(name), &program);
    if (status) fail_msg("%s: %s", name, keel_status_message(status));
    return program;
}

static keel_op_id_t find_op(const keel_program_t *p, const char *name) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(p); ++op)
        if (keel_str_is(keel_program_str(p, keel_program_op_name(p, op)->name), name)) return op;
    fail_msg("no operation %s", name);
    return KEEL_NONE;
}

static const keel_attr_t *attribute(const keel_program_t *p, keel_attr_id_t dictionary,
                                    const char *name) {
    keel_attr_id_t id = keel_program_dict_find(p, dictionary, name);
    if (id == KEEL_NONE) fail_msg("no attribute %s", name);
    return &p->attrs.data[id];
}

static const keel_attr_t *op_attribute(const keel_program_t *p, const char *op, const char *name) {
    return attribute(p, p->operations.data[find_op(p, op)].attributes, name);
}

static void assert_str(const keel_program_t *p, keel_string_id_t id, const char *text) {
    keel_str_t str = keel_program_str(p, id);
    if (!keel_str_is(str, text)) fail_msg("\"%.*s\" is not \"%s\"", KEEL_STR_ARGS(str), text);
}

// What holds for every program: ranges in order, regions sorted, operands defined.
static void assert_consistent(const keel_program_t *p) {
    uint32_t ops = keel_program_op_count(p), results = 0;
    for (keel_op_id_t op = 0; op < ops; ++op) {
        const keel_operation_t *o = &p->operations.data[op];
        assert_true(o[1].first_operand >= o->first_operand);
        assert_true(o[1].first_result >= o->first_result + o->result_count);
        assert_true(keel_attr_is_location(p->attrs.data[o->location].kind));
        keel_list_t operands = keel_program_operands(p, op);
        for (uint32_t i = 0; i < operands.count; ++i)
            assert_true(operands.items[i] < p->value_types.count);
        results += o->result_count;
        keel_region_run_t regions = keel_program_regions(p, op);
        assert_int_equal(regions.count != 0, (o->name & KEEL_OP_HAS_REGIONS) != 0);
    }
    assert_int_equal(p->operations.data[ops].first_operand, p->operands.count);
    uint32_t arguments = 0;
    for (uint32_t i = 0; i < p->regions.count; ++i) {
        if (i) assert_true(p->regions.data[i].parent >= p->regions.data[i - 1].parent);
        assert_true(p->regions.data[i].end <= ops);
    }
    for (uint32_t i = 0; i < p->blocks.count; ++i)
        arguments += p->blocks.data[i].argument_count;
    assert_int_equal(p->value_types.count, results + arguments);
}

static void every_sample_is_read_to_its_last_byte(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t version, operations, functions;
    } samples[] = {
        {"composite.v1_20", 6, 9, 2},
        {"cond_case", 6, 27, 1},
        {"consts_packed.v1_20", 6, 29, 1},
        {"custom_partitioning", 6, 4, 1},
        {"donate", 6, 18, 1},
        {"dtypes", 6, 21, 1},
        {"gspmd_spmd_auto", 6, 9, 1},
        {"linalg", 6, 30, 2},
        {"loc_none", 6, 6, 1},
        {"locations", 6, 8, 1},
        {"nested_jit", 6, 59, 5},
        {"nested_jit.v0_9", 0, 59, 5},
        {"ordered_callback", 6, 19, 1},
        {"pure_callback", 6, 4, 1},
        {"scan_while", 6, 56, 3},
        {"shard_map.v1_13", 6, 57, 1},
        {"shard_map.v1_20", 6, 57, 1},
        {"spmd_auto", 6, 12, 1},
        {"gpt_step", 6, 4289, 8},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; ++i) {
        keel_program_t p = read_sample(samples[i].name);
        assert_int_equal(p.bytecode_version, samples[i].version);
        assert_int_equal(keel_program_op_count(&p), samples[i].operations);
        assert_int_equal(p.functions.count, samples[i].functions);
        assert_consistent(&p);
        assert_int_not_equal(p.entry, KEEL_NONE);
        assert_str(&p, p.functions.data[p.entry].name, "main");
        release(&p);
    }
}

// Shardy's operations take StableHLO's own types, not those of VHLO.
static void a_token_within_a_manual_computation_is_one(void **state) {
    (void)state;
    keel_program_t p = read_sample("ordered_callback");
    uint32_t casts = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(&p); ++op) {
        const keel_op_name_t *name = keel_program_op_name(&p, op);
        casts += keel_str_is(keel_program_str(&p, name->name), "unrealized_conversion_cast");
    }
    assert_int_equal(casts, 8);
    uint32_t tokens = 0;
    for (uint32_t i = 0; i < p.types.count; ++i)
        tokens += p.types.data[i].kind == KEEL_TYPE_TOKEN;
    assert_int_equal(tokens, 2); // VHLO's and StableHLO's
    release(&p);
}

static void a_function_has_its_name_type_arguments_and_results(void **state) {
    (void)state;
    keel_program_t p = read_sample("donate");
    assert_str(&p, p.name, "jit_donate");
    assert_true(keel_str_is(p.producer, "StableHLO_v1.13.3"));
    assert_int_equal(attribute(&p, p.attributes, "mhlo.num_partitions")->kind, KEEL_ATTR_INT);
    assert_int_equal(keel_program_dict_find(&p, p.attributes, "sym_name"), KEEL_NONE);

    const keel_function_t *main = &p.functions.data[p.entry];
    assert_true(main->is_public);
    assert_int_equal(main->attributes, KEEL_NONE);
    keel_list_t inputs = keel_program_list(&p, p.types.data[main->type].b);
    const keel_block_t *block = &p.blocks.data[p.regions.data[main->region].first_block];
    assert_int_equal(block->argument_count, inputs.count);
    keel_list_t arguments = keel_program_list(&p, p.attrs.data[main->argument_attributes].b);
    assert_int_equal(arguments.count, inputs.count);
    uint32_t aliased = 0, named = 0;
    for (uint32_t i = 0; i < arguments.count; ++i) {
        aliased +=
            keel_program_dict_find(&p, arguments.items[i], "tf.aliasing_output") != KEEL_NONE;
        assert_int_equal(p.value_types.data[block->first_argument + i], inputs.items[i]);
        keel_attr_id_t place = p.pool.data[block->argument_locations + i];
        assert_int_equal(p.attrs.data[place].kind, KEEL_ATTR_LOC_NAME);
        named += keel_str_is(keel_program_str(&p, p.attrs.data[place].a), "params['w']");
    }
    assert_true(aliased > 0);
    assert_int_equal(named, 1);
    release(&p);
}

static void private_functions_are_told_from_public_ones(void **state) {
    (void)state;
    keel_program_t p = read_sample("nested_jit");
    uint32_t public = 0;
    for (uint32_t i = 0; i < p.functions.count; ++i)
    public += p.functions.data[i].is_public;
    assert_int_equal(public, 1);
    keel_attr_id_t callee =
        keel_program_dict_find(&p, p.operations.data[find_op(&p, "call")].attributes, "callee");
    assert_int_not_equal(keel_program_function(&p, keel_program_str(&p, p.attrs.data[callee].a)),
                         KEEL_NONE);
    release(&p);
}

static void old_bytecode_reads_like_new(void **state) {
    (void)state;
    keel_program_t new = read_sample("nested_jit"), old = read_sample("nested_jit.v0_9");
    assert_int_equal(keel_program_op_count(&new), keel_program_op_count(&old));
    for (keel_op_id_t op = 0; op < keel_program_op_count(&new); ++op) {
        const keel_op_name_t *a = keel_program_op_name(&new, op);
        const keel_op_name_t *b = keel_program_op_name(&old, op);
        assert_true(
            keel_str_equal(keel_program_str(&new, a->name), keel_program_str(&old, b->name)));
        keel_list_t x = keel_program_operands(&new, op), y = keel_program_operands(&old, op);
        assert_int_equal(x.count, y.count);
        assert_memory_equal(x.items, y.items, x.count * sizeof *x.items);
        // Whatever the old one says is said by the new one too.
        keel_attr_id_t dictionary = old.operations.data[op].attributes;
        if (dictionary == KEEL_NONE) continue;
        keel_list_t pairs = keel_program_list(&old, old.attrs.data[dictionary].b);
        for (uint32_t i = 0; i < pairs.count; i += 2) {
            char name[64];
            keel_str_t text = keel_program_str(&old, pairs.items[i]);
            snprintf(name, sizeof name, "%.*s", KEEL_STR_ARGS(text));
            assert_int_equal(attribute(&new, new.operations.data[op].attributes, name)->kind,
                             old.attrs.data[pairs.items[i + 1]].kind);
        }
    }
    assert_str(&old, old.name, "jit_nested_jit");
    assert_int_equal(keel_program_dict_find(&old, old.attributes, "sym_name"), KEEL_NONE);
    release(&new);
    release(&old);
}

static void names_lose_their_dialect_and_version(void **state) {
    (void)state;
    keel_program_t p = read_sample("shard_map.v1_20");
    const keel_op_name_t *name = keel_program_op_name(&p, find_op(&p, "all_gather"));
    assert_str(&p, name->dialect, "vhlo");
    assert_int_equal(name->version, 2);
    name = keel_program_op_name(&p, find_op(&p, "manual_computation"));
    assert_str(&p, name->dialect, "sdy");
    assert_int_equal(name->version, 0);
    release(&p);
}

static void properties_come_first_and_plain_attributes_behind_them(void **state) {
    (void)state;
    keel_program_t p = read_sample("linalg");
    keel_attr_id_t dictionary = p.operations.data[find_op(&p, "custom_call")].attributes;
    keel_list_t pairs = keel_program_list(&p, p.attrs.data[dictionary].b);
    static const char *const properties[] = {
        "api_version",     "backend_config",  "call_target_name",       "called_computations",
        "has_side_effect", "operand_layouts", "output_operand_aliases", "result_layouts"};
    for (uint32_t i = 0; i < 8; ++i)
        assert_str(&p, pairs.items[2 * i], properties[i]);
    assert_true(pairs.count > 16);
    assert_int_equal(attribute(&p, dictionary, "mhlo.backend_config")->kind, KEEL_ATTR_DICT);
    const keel_attr_t *version = attribute(&p, dictionary, "api_version");
    assert_int_equal(version->kind, KEEL_ATTR_ENUM);
    assert_string_equal(keel_enum_name(version->klass, version->a), "API_VERSION_ORIGINAL");
    release(&p);
}

static void equal_attributes_share_one_dictionary(void **state) {
    (void)state;
    keel_program_t p = read_sample("gpt_step");
    assert_true(p.attrs.count < 1700);
    release(&p);
}

static void regions_stand_in_order_with_their_operations_inside(void **state) {
    (void)state;
    keel_program_t p = read_sample("cond_case");
    keel_op_id_t op = find_op(&p, "case");
    keel_region_run_t regions = keel_program_regions(&p, op);
    assert_true(regions.count >= 2);
    keel_op_id_t at = op + 1;
    for (uint32_t i = 0; i < regions.count; ++i) {
        const keel_block_t *block = &p.blocks.data[regions.items[i].first_block];
        assert_int_equal(block->first_op, at);
        assert_int_equal(block->end_op, regions.items[i].end);
        assert_str(&p, keel_program_op_name(&p, block->end_op - 1)->name, "return");
        at = block->end_op;
    }
    assert_int_equal(keel_program_next(&p, op), at);
    release(&p);
}

static void shardings_are_records_with_named_fields(void **state) {
    (void)state;
    keel_program_t p = read_sample("spmd_auto");
    const keel_attr_t *mesh = op_attribute(&p, "mesh", "mesh");
    assert_string_equal(keel_record_name(mesh->klass), "sdy.mesh");
    keel_attr_id_t id = (keel_attr_id_t)(mesh - p.attrs.data);
    const keel_attr_t *axes = attribute(&p, id, "axes");
    assert_int_equal(axes->kind, KEEL_ATTR_ARRAY);
    assert_int_equal(axes->klass, 0);
    keel_attr_id_t axis = keel_program_list(&p, axes->b).items[0];
    assert_int_equal(attribute(&p, axis, "name")->kind, KEEL_ATTR_STRING);
    assert_true(p.ints.data[attribute(&p, axis, "size")->b] > 0);

    const keel_attr_t *sharding = op_attribute(&p, "sharding_constraint", "sharding");
    assert_string_equal(keel_record_name(sharding->klass), "sdy.sharding");
    id = (keel_attr_id_t)(sharding - p.attrs.data);
    assert_int_equal(attribute(&p, id, "mesh")->kind, KEEL_ATTR_SYMBOL);
    assert_str(&p, attribute(&p, id, "mesh")->a, "mesh");
    assert_int_equal(attribute(&p, id, "dimensions")->kind, KEEL_ATTR_ARRAY);
    release(&p);
}

static void constants_stay_in_the_file(void **state) {
    (void)state;
    keel_program_t p = read_sample("dtypes");
    const keel_attr_t *value = op_attribute(&p, "constant", "value");
    assert_int_equal(value->kind, KEEL_ATTR_TENSOR);
    keel_bytes_t blob = p.blobs.data[value->b];
    assert_true(blob.data > p.source.data && blob.data < p.source.data + p.source.size);
    keel_tensor_view_t view;
    assert_null(keel_program_tensor(&p, value->a, blob, &view));
    release(&p);
}

// jax.random.normal(key, (4, 0)): MLIR writes dense<1.0> : tensor<4x1x0xf32> with its one element.
static void a_splat_of_no_elements_holds_none(void **state) {
    (void)state;
    keel_program_t p = read_sample("zero_elements");
    assert_consistent(&p);
    unsigned empty = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(&p); ++op) {
        if (!keel_str_is(keel_program_str(&p, keel_program_op_name(&p, op)->name), "constant"))
            continue;
        const keel_attr_t *value = attribute(&p, p.operations.data[op].attributes, "value");
        keel_tensor_view_t view;
        assert_null(keel_program_tensor(&p, value->a, p.blobs.data[value->b], &view));
        if (view.count) continue;
        ++empty;
        assert_int_equal(view.bytes.size, 0);
        assert_int_equal(p.blobs.data[value->b].size, 0);
        assert_false(view.is_splat);
    }
    assert_true(empty > 2);
    release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_read_to_its_last_byte),
        cmocka_unit_test(a_token_within_a_manual_computation_is_one),
        cmocka_unit_test(a_function_has_its_name_type_arguments_and_results),
        cmocka_unit_test(private_functions_are_told_from_public_ones),
        cmocka_unit_test(old_bytecode_reads_like_new),
        cmocka_unit_test(names_lose_their_dialect_and_version),
        cmocka_unit_test(properties_come_first_and_plain_attributes_behind_them),
        cmocka_unit_test(equal_attributes_share_one_dictionary),
        cmocka_unit_test(regions_stand_in_order_with_their_operations_inside),
        cmocka_unit_test(shardings_are_records_with_named_fields),
        cmocka_unit_test(constants_stay_in_the_file),
        cmocka_unit_test(a_splat_of_no_elements_holds_none),
    };
    return cmocka_run_group_tests_name("read_mlir", tests, NULL, NULL);
}
