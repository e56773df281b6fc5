// Why one program is not another: pairs of programs as JAX compiled them, and programs made by
// hand.
#define _GNU_SOURCE
#include "explain_help.h"
#include "key_build.h"

// ---- pairs of real programs --------------------------------------------------------------------

typedef struct expected_t {
    keel_cause_t kind;
    const char *subject, *old_value, *new_value, *note;
    uint32_t line, call_line;
} expected_t;

typedef struct pair_t {
    const char *name; // of the samples, and of the file that they come from
    uint64_t folded;
    expected_t roots[3]; // ended by one without a subject
} pair_t;

static const pair_t pairs[] = {
    {"closed_float", 0, {{KEEL_CAUSE_CONSTANT, "multiply", "0.1", "0.01", "", 15, 21}}},
    {"closed_array_one_element",
     0,
     {{KEEL_CAUSE_CONSTANT, "constant f32[16] of add", "1.5", "2.5",
       "1 of 16 elements differs, the first at [3]", 16, 26}}},
    {"loader_last_batch",
     35,
     {{KEEL_CAUSE_SHAPE, "batch['image']", "f32[8,6]", "f32[4,6]", "and 1 more argument", 29, 0}}},
    {"power_in_a_gradient", 0, {{KEEL_CAUSE_CONSTANT, "power", "2", "3", "", 15, 21}}},
    // In a function that another one calls: negative, of another sign, and of many products.
    {"power_negative", 0, {{KEEL_CAUSE_CONSTANT, "power", "-2", "-3", "", 6, 15}}},
    {"power_sign", 0, {{KEEL_CAUSE_CONSTANT, "power", "2", "-2", "", 6, 15}}},
    {"power_deep", 0, {{KEEL_CAUSE_CONSTANT, "power", "5", "7", "", 6, 15}}},
    {"key_appears", 1, {{KEEL_CAUSE_ARGUMENTS, "batch['mask']", "absent", "f32[8]", "", 21, 0}}},
    {"gradient_create_accumulate",
     2,
     {{KEEL_CAUSE_GRADIENT, "grads['w1']", "create", "accumulate", "and 1 more argument", 19, 26}}},
    {"dropout_off",
     1,
     {{KEEL_CAUSE_STRUCTURE, "call", "call, divide and 1 more", "nothing",
       "only one of the two programs draws random numbers: dropout, noise", 17, 24}}},
    {"loop_python",
     0,
     {{KEEL_CAUSE_STRUCTURE, "dot_general", "2 times", "3 times", "dot_general, tanh", 13, 20}}},
    {"precision_context",
     0,
     {{KEEL_CAUSE_PRECISION, "dot_general", "DEFAULT", "HIGH", "", 12, 19}}},
    {"sharding_other_spec",
     0,
     {{KEEL_CAUSE_SHARDING, "x", "P('data', None)", "P(None, 'data')", "", 19, 0}}},
    {"sharding_of_results",
     7,
     {{KEEL_CAUSE_SHARDING, "params['b']", "P()", "P('data')", "and 1 more argument and 2 results",
       17, 0}}},
    {"donation_of_a_tree",
     1,
     {{KEEL_CAUSE_DONATION, "params['b']", "kept", "donated", "and 1 more argument", 21, 0}}},
    {"nonzero_size",
     41,
     {{KEEL_CAUSE_SIZE, "broadcast_in_dim", "4", "6", "i32[4] -> i32[6]", 14, 20}}},
    {"two_dtype_and_branch",
     1,
     {{KEEL_CAUSE_DTYPE, "x", "f32[8]", "f16[8]", "", 27, 0},
      {KEEL_CAUSE_STRUCTURE, "exponential", "tanh", "exponential", "", 22, 27}}},
    {"transformer_depth",
     6,
     {{KEEL_CAUSE_ARGUMENTS, "layers[2]['k']", "absent", "f32[8,8]", "and 2 more arguments", 32,
       0}}},
    {"transformer_batch",
     165,
     {{KEEL_CAUSE_SHAPE, "batch['x']", "f32[4,6,8]", "f32[3,6,8]", "", 36, 0}}},
    // Arguments without a location beside such that have one: a token, and a hoisted closure.
    {"ordered_print", 2, {{KEEL_CAUSE_SHAPE, "x", "f32[4]", "f32[5]", "", 13, 0}}},
    {"closure_under_vmap",
     3,
     {{KEEL_CAUSE_SHAPE, "argument 0", "f32[8,3]", "f32[5,3]", "", 12, 16}}},
    // A library's jitted function, called by the user's.
    {"library_jits_inside", 0, {{KEEL_CAUSE_CONSTANT, "multiply", "2", "3", "", 21, 25}}},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static void check_root(const pair_t *pair, const expected_t *expected,
                       const keel_difference_t *root) {
    char file[160];
    snprintf(file, sizeof file, "/home/ada/experiments/jax/a/%s.py", pair->name);
    assert_string_equal(keel_cause_facts(root->kind)->word, keel_cause_facts(expected->kind)->word);
    assert_string_equal(root->subject, expected->subject);
    assert_string_equal(root->old_value, expected->old_value);
    assert_string_equal(root->new_value, expected->new_value);
    assert_string_equal(root->note, expected->note);
    assert_string_equal(root->place.file, file);
    assert_int_equal(root->place.line, expected->line);
    assert_int_equal(root->place.call_line, expected->call_line);
    assert_string_equal(root->place.call_file, expected->call_line ? file : "");
}

static void what_drifted_between_two_programs_is_told_to_the_line(void **state) {
    (void)state;
    for (size_t i = 0; i < PAIRS; ++i) {
        loaded_t before, after;
        keel_explanation_t e;
        load_pair(pairs[i].name, &before, &after);
        explain(&before.program, &after.program, &e);
        size_t roots = 0;
        while (roots < 3 && pairs[i].roots[roots].subject)
            ++roots;
        print_message("  %s: %zu roots, %zu folded\n", pairs[i].name, e.root_total, e.folded_total);
        assert_int_equal(e.root_total, roots);
        for (size_t k = 0; k < roots; ++k)
            check_root(&pairs[i], &pairs[i].roots[k], &e.roots[k]);
        assert_int_equal(e.folded_total, pairs[i].folded);
        keel_explanation_deinitialize(&e);
        unload(&before);
        unload(&after);
    }
}

static void the_way_back_is_the_same_with_both_sides_exchanged(void **state) {
    (void)state;
    for (size_t i = 0; i < PAIRS; ++i) {
        loaded_t before, after;
        keel_explanation_t there, back;
        load_pair(pairs[i].name, &before, &after);
        explain(&before.program, &after.program, &there);
        explain(&after.program, &before.program, &back);
        print_message("  %s\n", pairs[i].name);
        assert_int_equal(back.root_total, there.root_total);
        assert_int_equal(back.folded_total, there.folded_total);
        assert_true(back.alike == there.alike);
        for (size_t k = 0; k < there.root_count; ++k) {
            assert_int_equal(back.roots[k].kind, there.roots[k].kind);
            assert_string_equal(back.roots[k].old_value, there.roots[k].new_value);
            assert_string_equal(back.roots[k].new_value, there.roots[k].old_value);
        }
        keel_explanation_deinitialize(&there);
        keel_explanation_deinitialize(&back);
        unload(&before);
        unload(&after);
    }
}

// Operations that differences name stand where they say.
static void the_operations_of_a_difference_are_those_of_the_programs(void **state) {
    (void)state;
    for (size_t i = 0; i < PAIRS; ++i) {
        loaded_t before, after;
        keel_explanation_t e;
        load_pair(pairs[i].name, &before, &after);
        explain(&before.program, &after.program, &e);
        for (size_t k = 0; k < e.root_count + e.folded_count; ++k) {
            const keel_difference_t *d =
                k < e.root_count ? &e.roots[k] : &e.folded[k - e.root_count];
            if (d->old_op != KEEL_NONE)
                assert_true(d->old_op < keel_program_op_count(&before.program));
            if (d->new_op != KEEL_NONE)
                assert_true(d->new_op < keel_program_op_count(&after.program));
            if (d->kind == KEEL_CAUSE_CONSTANT)
                assert_true(d->old_op != KEEL_NONE && d->new_op != KEEL_NONE);
        }
        keel_explanation_deinitialize(&e);
        unload(&before);
        unload(&after);
    }
}

// ---- nothing differs, or everything ------------------------------------------------------------

static void check_retrace(const keel_program_t *before, const keel_program_t *after) {
    keel_explanation_t e;
    explain(before, after, &e);
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_RETRACE);
    assert_int_equal(e.folded_total, 0);
    keel_explanation_deinitialize(&e);
}

static void a_program_against_itself_is_a_retrace(void **state) {
    (void)state;
    static const char *const names[] = {"mlir/gpt_step.mlir",
                                        "mlir/cond_case.mlir",
                                        "mlir/scan_while.mlir",
                                        "mlir/nested_jit.mlir",
                                        "mlir/custom_partitioning.mlir",
                                        "mlir/shard_map.v1_20.mlir",
                                        "mlir/dtypes.mlir",
                                        "mlir/composite.v1_20.mlir",
                                        "hlo/conv_pool.hlo",
                                        "hlo/linear_step.hlo",
                                        "hlo/spmd.hlo",
                                        "explain/dropout_off.before.mlir"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        loaded_t one, other;
        load(&one, names[i]);
        load(&other, names[i]);
        check_retrace(&one.program, &one.program);
        check_retrace(&one.program, &other.program);
        unload(&one);
        unload(&other);
    }
}

static void the_place_of_a_retrace_is_where_the_program_was_asked_for(void **state) {
    (void)state;
    loaded_t program;
    keel_explanation_t e;
    load(&program, "explain/closed_float.after.mlir");
    explain(&program.program, &program.program, &e);
    assert_string_equal(e.roots[0].place.file, "/home/ada/experiments/jax/a/closed_float.py");
    assert_int_equal(e.roots[0].place.line, 21);
    keel_explanation_deinitialize(&e);
    unload(&program);
}

static void what_only_helps_to_debug_is_no_difference(void **state) {
    (void)state;
    loaded_t one, other;
    load(&one, "hlo/linear_step.hlo");
    load(&other, "hlo/linear_step_nodebug.hlo");
    check_retrace(&one.program, &other.program);
    unload(&one);
    unload(&other);
}

static void check_unrelated(const keel_program_t *before, const keel_program_t *after) {
    keel_explanation_t e;
    explain(before, after, &e);
    assert_true(e.unrelated);
    assert_int_equal(e.root_total + e.folded_total, 0);
    assert_true(e.alike < 0.5);
    keel_explanation_deinitialize(&e);
}

static void programs_with_nothing_in_common_are_told_so_and_not_taken_apart(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"explain/loader_last_batch.before.mlir", "explain/sharding_other_spec.before.mlir"},
        {"explain/transformer_batch.before.mlir", "explain/loader_last_batch.before.mlir"},
        {"mlir/gpt_step.mlir", "mlir/scan_while.mlir"},
        {"hlo/conv_pool.hlo", "explain/transformer_batch.before.mlir"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        loaded_t one, other;
        load(&one, names[i][0]);
        load(&other, names[i][1]);
        print_message("  %s, %s\n", names[i][0], names[i][1]);
        check_unrelated(&one.program, &other.program);
        check_unrelated(&other.program, &one.program);
        unload(&one);
        unload(&other);
    }
}

static void a_program_without_an_entry_has_nothing_in_common_with_another(void **state) {
    (void)state;
    keel_program_t empty;
    loaded_t program;
    keel_program_initialize(&empty);
    load(&program, "explain/closed_float.before.mlir");
    check_unrelated(&empty, &program.program);
    check_unrelated(&program.program, &empty);
    check_retrace(&empty, &empty);
    unload(&program);
    keel_program_deinitialize(&empty);
}

static void a_program_that_is_not_there_is_no_retrace(void **state) {
    (void)state;
    loaded_t program;
    load(&program, "explain/closed_float.before.mlir");
    for (int side = 0; side < 2; ++side) {
        keel_explanation_t e;
        keel_side_t known = {.program = &program.program}, unknown = {.program = NULL};
        keel_explanation_initialize(&e);
        assert_ok(keel_explain(side ? &known : &unknown, side ? &unknown : &known, &e));
        check_explanation(&e);
        assert_int_equal(e.root_total, 1);
        assert_int_equal(e.roots[0].kind, KEEL_CAUSE_STRUCTURE);
        assert_string_equal(e.roots[0].subject, "program");
        keel_explanation_deinitialize(&e);
    }
    unload(&program);
}

// ---- HLO ---------------------------------------------------------------------------------------

// A copy in which bytes are others, each time they occur.
static void load_edited(loaded_t *out, const char *name, const void *from, const void *to,
                        size_t size) {
    loaded_t original;
    load(&original, name);
    uint8_t *bytes;
    assert_ok(keel_bytes_dup(keel_bytes(original.bytes, original.size), &bytes));
    size_t edits = 0;
    for (uint8_t *at = bytes;
         (at = memmem(at, original.size - (size_t)(at - bytes), from, size)) != NULL; at += size) {
        memcpy(at, to, size);
        ++edits;
    }
    assert_true(edits > 0);
    load_bytes(out, bytes, original.size);
    unload(&original);
}

static void an_operation_of_hlo_that_is_another_is_told(void **state) {
    (void)state;
    loaded_t before, after;
    keel_explanation_t e;
    load(&before, "hlo/linear_step.hlo");
    load_edited(&after, "hlo/linear_step.hlo", "maximum", "minimum", 7);
    explain(&before.program, &after.program, &e);
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_STRUCTURE);
    assert_string_equal(e.roots[0].old_value, "maximum");
    assert_string_equal(e.roots[0].new_value, "minimum");
    keel_explanation_deinitialize(&e);
    unload(&before);
    unload(&after);
}

static void a_constant_of_hlo_that_is_another_is_told(void **state) {
    (void)state;
    loaded_t before, after;
    keel_explanation_t e;
    static const float one = 1, three = 3;
    load(&before, "hlo/linear_step.hlo");
    load_edited(&after, "hlo/linear_step.hlo", &one, &three, sizeof one);
    explain(&before.program, &after.program, &e);
    assert_true(e.root_total >= 1);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_CONSTANT);
    assert_string_equal(e.roots[0].old_value, "1");
    assert_string_equal(e.roots[0].new_value, "3");
    keel_explanation_deinitialize(&e);
    unload(&before);
    unload(&after);
}

// ---- more than is kept -------------------------------------------------------------------------

// x, and for each layer: x + constant, one constant for all layers or one for each; then as many
// operations without one as asked for.
typedef struct chain_t {
    build_t build;
    float values[600];
} chain_t;

static void make_chain(chain_t *chain, int64_t rows, uint32_t layers, float first, float step,
                       const char *name) {
    build_t *b = &chain->build;
    build_begin(b, KEEL_FORMAT_MLIR);
    keel_type_id_t type = tensor_of(b, f32(b), rows);
    uint32_t main = begin_function(b, (fn_t){"main", type, KEEL_NONE, true});
    keel_value_id_t x = argument_of(b, main);
    for (uint32_t i = 0; i < layers; ++i) {
        chain->values[i] = first + step * (float)i;
        keel_attr_id_t value = tensor_attr(b, type, &chain->values[i], sizeof(float));
        keel_value_id_t constant = add_op(
            b, (op_t){.name = "constant", .attributes = DICT(b, {"value", value}), .type = type});
        x = add_op(b, (op_t){name, KEEL_NONE, type, {x, constant}, 2});
    }
    add_op(b, (op_t){"return", KEEL_NONE, KEEL_NONE, {x}, 1});
    end_function(b, main);
    build_end(b);
    b->program.entry = main;
}

static void explain_chains(chain_t *before, chain_t *after, keel_explanation_t *e) {
    explain(&before->build.program, &after->build.program, e);
    keel_program_deinitialize(&before->build.program);
    keel_program_deinitialize(&after->build.program);
}

static void more_roots_than_are_kept_are_counted(void **state) {
    (void)state;
    static const uint32_t counts[] = {KEEL_ROOTS_KEPT, KEEL_ROOTS_KEPT + 1, 256, 257, 600};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        chain_t before, after;
        keel_explanation_t e;
        make_chain(&before, 4, counts[i], 0.5f, 1, "add");
        make_chain(&after, 4, counts[i], 0.625f, 1, "add");
        explain_chains(&before, &after, &e);
        assert_int_equal(e.root_total, counts[i]);
        assert_int_equal(e.root_count, KEEL_ROOTS_KEPT);
        assert_int_equal(e.folded_total, 0);
        assert_string_equal(e.roots[31].old_value, "31.5");
        assert_string_equal(e.roots[31].new_value, "31.625");
        keel_explanation_deinitialize(&e);
    }
}

static void more_that_follows_than_is_kept_is_counted(void **state) {
    (void)state;
    chain_t before, after;
    keel_explanation_t e;
    make_chain(&before, 9, 500, 0.3f, 0, "add");
    make_chain(&after, 4, 500, 0.3f, 0, "add");
    explain_chains(&before, &after, &e);
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_SHAPE);
    assert_true(e.folded_total >= 500);
    assert_int_equal(e.folded_count, KEEL_FOLDED_KEPT);
    assert_int_equal(e.roots[0].folds, e.folded_total);
    keel_explanation_deinitialize(&e);
}

// One value for all layers: the same difference five hundred times.
static void the_same_constant_in_many_places_is_one_root(void **state) {
    (void)state;
    chain_t before, after;
    keel_explanation_t e;
    make_chain(&before, 4, 500, 0.3f, 0, "add");
    make_chain(&after, 4, 500, 0.7f, 0, "add");
    explain_chains(&before, &after, &e);
    assert_int_equal(e.root_total, 1);
    assert_string_equal(e.roots[0].old_value, "0.3");
    assert_string_equal(e.roots[0].new_value, "0.7");
    assert_int_equal(e.roots[0].folds, 499);
    keel_explanation_deinitialize(&e);
}

static void many_layers_more_are_one_root(void **state) {
    (void)state;
    chain_t before, after;
    keel_explanation_t e;
    make_chain(&before, 4, 100, 0.5f, 0, "add");
    make_chain(&after, 4, 600, 0.5f, 0, "add");
    explain_chains(&before, &after, &e);
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_STRUCTURE);
    assert_string_equal(e.roots[0].old_value, "nothing");
    assert_string_equal(e.roots[0].new_value, "add and 499 more");
    keel_explanation_deinitialize(&e);
}

// ---- numbers -----------------------------------------------------------------------------------

static void a_constant_as_it_is_told(float before_value, float after_value, const char *before_text,
                                     const char *after_text) {
    chain_t before, after;
    keel_explanation_t e;
    make_chain(&before, 4, 1, before_value, -0.0f, "multiply"); // which adds nothing to -0 either
    make_chain(&after, 4, 1, after_value, -0.0f, "multiply");
    explain_chains(&before, &after, &e);
    assert_int_equal(e.root_total, 1);
    assert_string_equal(e.roots[0].old_value, before_text);
    assert_string_equal(e.roots[0].new_value, after_text);
    keel_explanation_deinitialize(&e);
}

static void constants_are_told_by_the_shortest_decimal(void **state) {
    (void)state;
    a_constant_as_it_is_told(0.1f, 0.2f, "0.1", "0.2");
    a_constant_as_it_is_told(3, 4, "3", "4");
    a_constant_as_it_is_told(-1, 100000, "-1", "100000");
    a_constant_as_it_is_told(1e-6f, 1e-5f, "1e-06", "1e-05");
    a_constant_as_it_is_told(1.0f / 3, 16777216, "0.33333334", "16777216");
    a_constant_as_it_is_told(0, 3.4028235e38f, "0", "3.4028235e+38");
    a_constant_as_it_is_told(0, -0.0f, "0", "-0");
    a_constant_as_it_is_told(1, (float)(1e300 * 1e300), "1", "inf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_drifted_between_two_programs_is_told_to_the_line),
        cmocka_unit_test(the_way_back_is_the_same_with_both_sides_exchanged),
        cmocka_unit_test(the_operations_of_a_difference_are_those_of_the_programs),
        cmocka_unit_test(a_program_against_itself_is_a_retrace),
        cmocka_unit_test(the_place_of_a_retrace_is_where_the_program_was_asked_for),
        cmocka_unit_test(what_only_helps_to_debug_is_no_difference),
        cmocka_unit_test(programs_with_nothing_in_common_are_told_so_and_not_taken_apart),
        cmocka_unit_test(a_program_without_an_entry_has_nothing_in_common_with_another),
        cmocka_unit_test(a_program_that_is_not_there_is_no_retrace),
        cmocka_unit_test(an_operation_of_hlo_that_is_another_is_told),
        cmocka_unit_test(a_constant_of_hlo_that_is_another_is_told),
        cmocka_unit_test(more_roots_than_are_kept_are_counted),
        cmocka_unit_test(more_that_follows_than_is_kept_is_counted),
        cmocka_unit_test(the_same_constant_in_many_places_is_one_root),
        cmocka_unit_test(many_layers_more_are_one_root),
        cmocka_unit_test(constants_are_told_by_the_shortest_decimal),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
