// Why one program is not another: pairs as PyTorch/XLA compiled them.
#define _GNU_SOURCE
#include "explain_help.h"

typedef struct pair_t {
    const char *name; // of the samples, and of the case of the corpus that they come from
    uint64_t folded;
    keel_cause_t kind;
    const char *subject, *old_value, *new_value;
    uint32_t line;
} pair_t;

static const pair_t pairs[] = {
    {"gradient_create_accumulate", 2, KEEL_CAUSE_GRADIENT, "argument 5", "create", "accumulate",
     15},
    {"gradient_set_to_none", 1, KEEL_CAUSE_GRADIENT, "add", "create", "accumulate", 17},
    {"gradient_zeroed_in_place", 5, KEEL_CAUSE_GRADIENT, "add", "create", "accumulate", 21},
    {"donation_in_place", 0, KEEL_CAUSE_DONATION, "argument 1", "kept", "donated", 13},
    {"list_longer", 1, KEEL_CAUSE_ARGUMENTS, "argument 0", "absent", "f32[8]", 14},
    {"size_of_a_slice", 2, KEEL_CAUSE_SIZE, "slice limit", "6", "4", 13},
    {"size_of_a_counter", 0, KEEL_CAUSE_SIZE, "constant", "3", "4", 12},
    {"conv_stride", 1, KEEL_CAUSE_SIZE, "convolution stride", "1", "2", 14},
    {"sharding_marked", 0, KEEL_CAUSE_SHARDING, "argument 0", "unset", "devices=[4,1]0,1,2,3", 19},
    {"scalar_factor_of_one", 2, KEEL_CAUSE_CONSTANT, "multiply", "an argument", "1", 14},
    {"constant_power_in_training", 1, KEEL_CAUSE_CONSTANT, "power", "2", "3", 17},
    {"adamw_state", 3, KEEL_CAUSE_ARGUMENTS, "argument 6", "absent", "f32[4,4]", 16},
    {"checkpoint_assign_true", 6, KEEL_CAUSE_DONATION, "argument 1", "donated", "kept", 18},
    {"sharding_unset_in_training", 0, KEEL_CAUSE_SHARDING, "f32[4,4]", "unset", "replicated", 26},
    {"running_sum_short_batch", 6, KEEL_CAUSE_SHAPE, "argument 2", "f32[64,4]", "f32[48,4]", 13},
    {"size_of_a_slice_in_training", 3, KEEL_CAUSE_SIZE, "broadcast", "16", "17", 18},
    {"activation_added_in_training", 1, KEEL_CAUSE_STRUCTURE, "multiply", "nothing",
     "multiply, erf, add and 2 more", 16},
    {"backbone_unfrozen", 2, KEEL_CAUSE_STRUCTURE, "optimizer", "updates 2 tensors",
     "updates 4 tensors", 27},
    {"block_frozen", 6, KEEL_CAUSE_STRUCTURE, "optimizer", "updates 6 tensors", "updates 4 tensors",
     17},
    {"evaluation_on_one_line", 9, KEEL_CAUSE_STRUCTURE, "optimizer", "updates 4 tensors",
     "updates none", 17},
    {"generator_and_discriminator", 15, KEEL_CAUSE_STRUCTURE, "optimizer", "updates 2 tensors",
     "updates 2 others", 24},
    {"second_optimizer", 2, KEEL_CAUSE_STRUCTURE, "optimizer", "updates 2 tensors",
     "updates 4 tensors", 18},
    {"weight_masked", 2, KEEL_CAUSE_ARGUMENTS, "argument 0", "absent", "f32[2,4]", 13},
    {"number_of_another_use", 1, KEEL_CAUSE_CONSTANT, "multiply", "1", "an argument", 9},
    {"autocast_off", 12, KEEL_CAUSE_STRUCTURE, "convert", "convert and 2 more", "nothing", 12},
    {"default_replaced", 2, KEEL_CAUSE_ARGUMENTS, "argument 0", "absent", "i64[2,5]", 25},
    {"weights_kept", 0, KEEL_CAUSE_STRUCTURE, "result 0", "absent", "f32[2,3]", 17},
    {"hidden_states_kept", 0, KEEL_CAUSE_STRUCTURE, "result 0", "absent", "f32[2,4]", 14},
    {"copied_over", 2, KEEL_CAUSE_ARGUMENTS, "argument 3", "f32[2]", "absent", 12},
    {"stripe_at_random", 1, KEEL_CAUSE_CONSTANT, "pad edge_padding_low", "2", "5", 9},
    {"scalar_parameter", 0, KEEL_CAUSE_DONATION, "argument 0", "kept", "donated", 21},
    {"token_before_a_batch", 22, KEEL_CAUSE_SHAPE, "argument 0", "f32[4,5,8]", "f32[4,7,8]", 12},
    {"clipping_begins_later", 1, KEEL_CAUSE_STRUCTURE, "multiply", "nothing",
     "multiply, reduce, sqrt and 38 more", 21},
    {"width_of_a_beam", 104, KEEL_CAUSE_SIZE, "slice limit", "2", "4", 8},
    {"token_forced_or_not", 0, KEEL_CAUSE_STRUCTURE, "iota", "slice, reshape and 2 more",
     "iota, reduce, get-tuple-element and 5 more", 14},
    {"lstm_unrolled", 3, KEEL_CAUSE_SHAPE, "argument 2", "f32[1,3,2]", "f32[1,5,2]", 9},
    {"rows_in_another_order", 5, KEEL_CAUSE_SHAPE, "argument 1", "i64[3,5]", "i64[3,6]", 10},
    {"range_from_a_counter", 1, KEEL_CAUSE_CONSTANT, "constant i64[8] of multiply", "8", "16", 8},
    {"dropout_off", 2, KEEL_CAUSE_STRUCTURE, "multiply", "multiply, add, reshape and 21 more",
     "nothing", 16},
    {"copy_as_a_teacher", 6, KEEL_CAUSE_STRUCTURE, "transpose", "nothing",
     "reduce, broadcast, subtract and 57 more", 30},
    {"statistics_frozen", 3, KEEL_CAUSE_STRUCTURE, "batch-norm-inference",
     "batch-norm-training, get-tuple-element, subtract and 13 more", "batch-norm-inference", 22},
    {"token_for_a_mask", 2, KEEL_CAUSE_ARGUMENTS, "argument 5", "absent", "bool[4,1]", 26},
    {"weight_then_mask", 2, KEEL_CAUSE_ARGUMENTS, "argument 0", "absent", "f32[8,3]", 38},
    {"targets_of_a_test", 9, KEEL_CAUSE_SHAPE, "argument 0", "f32[8,2]", "f32[5,2]", 23},
    {"batch_of_a_test", 4, KEEL_CAUSE_SHAPE, "argument 0", "f32[8,3]", "f32[5,3]", 16},
    {"kind_of_a_reduction", 1, KEEL_CAUSE_STRUCTURE, "maximum", "add", "maximum", 13},
    {"weights_of_a_test", 5, KEEL_CAUSE_SHAPE, "argument 1", "f32[8,3]", "f32[5,3]", 19},
};

static void load_side(loaded_t *out, const char *name, const char *side) {
    char path[256];
    snprintf(path, sizeof path, "explain/torch_%s.%s.hlo", name, side);
    load(out, path);
}

static void explain_pair(const pair_t *pair, keel_explanation_t *out) {
    loaded_t before, after;
    load_side(&before, pair->name, "before");
    load_side(&after, pair->name, "after");
    explain(&before.program, &after.program, out);
    unload(&before);
    unload(&after);
}

static void the_one_cause_is_told_with_its_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        const pair_t *pair = &pairs[i];
        keel_explanation_t e;
        explain_pair(pair, &e);
        if (e.root_total != 1 || e.folded_total != pair->folded) print_message("%s\n", pair->name);
        assert_int_equal(e.root_total, 1);
        const keel_difference_t *root = &e.roots[0];
        assert_string_equal(keel_cause_facts(root->kind)->word, keel_cause_facts(pair->kind)->word);
        assert_string_equal(root->subject, pair->subject);
        assert_string_equal(root->old_value, pair->old_value);
        assert_string_equal(root->new_value, pair->new_value);
        assert_int_equal(root->place.line, pair->line);
        assert_int_equal(e.folded_total, pair->folded);
        keel_explanation_deinitialize(&e);
    }
}

static void what_an_optimizer_brings_about_has_advice_of_its_own(void **state) {
    (void)state;
    static const char *const names[] = {"adamw_state", "checkpoint_assign_true"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        keel_explanation_t e;
        explain_pair(&(pair_t){.name = names[i]}, &e);
        keel_note_t note = i ? KEEL_NOTE_REPLACED : KEEL_NOTE_STATE_MADE;
        assert_ptr_equal(strstr(e.roots[0].note, keel_note_text(note)), e.roots[0].note);
        assert_non_null(keel_note_advice(e.roots[0].note));
        keel_explanation_deinitialize(&e);
    }
    assert_null(keel_note_advice("and 1 more argument"));
}

static void numbers_that_became_equal_are_told_so_both_ways(void **state) {
    (void)state;
    for (int is_back = 0; is_back < 2; ++is_back) {
        loaded_t before, after;
        keel_explanation_t e;
        load_side(&before, "two_numbers_become_equal", is_back ? "after" : "before");
        load_side(&after, "two_numbers_become_equal", is_back ? "before" : "after");
        explain(&before.program, &after.program, &e);
        assert_int_equal(e.root_total, 1);
        assert_int_equal(e.roots[0].kind, KEEL_CAUSE_ARGUMENTS);
        assert_string_equal(is_back ? e.roots[0].new_value : e.roots[0].old_value, "f32[]");
        assert_true(keel_note_leads(e.roots[0].note, KEEL_NOTE_MERGED));
        keel_explanation_deinitialize(&e);
        unload(&before);
        unload(&after);
    }
}

static void explain_sent(uint64_t sent, keel_explanation_t *out) {
    loaded_t before, after;
    load_side(&before, "checkpoint_assign_sync", "before");
    load_side(&after, "checkpoint_assign_sync", "after");
    keel_explanation_initialize(out);
    assert_ok(keel_explain(&(keel_side_t){.program = &before.program},
                           &(keel_side_t){.program = &after.program, .sent = sent}, out));
    check_explanation(out);
    unload(&before);
    unload(&after);
}

static void tensors_that_a_sync_has_moved_are_told_by_how_many_were_sent(void **state) {
    (void)state;
    keel_explanation_t replaced, left_out;
    explain_sent(2, &replaced);
    assert_int_equal(replaced.root_total, 1);
    assert_int_equal(replaced.roots[0].kind, KEEL_CAUSE_DONATION);
    assert_int_equal(replaced.roots[0].place.line, 22); // what the optimizer did
    assert_string_equal(keel_note_advice(replaced.roots[0].note),
                        keel_note_advice(keel_note_text(KEEL_NOTE_REPLACED)));
    explain_sent(1, &left_out); // a step without the optimizer, a branch
    assert_int_equal(left_out.roots[0].kind, KEEL_CAUSE_STRUCTURE);
    assert_string_equal(left_out.roots[0].note, keel_note_text(KEEL_NOTE_IDLE));
    assert_string_equal(left_out.roots[0].subject, "optimizer");
    assert_string_equal(left_out.roots[0].new_value, "updates none");
    assert_int_equal(left_out.root_total, 1);
    keel_explanation_deinitialize(&replaced);
    keel_explanation_deinitialize(&left_out);
}

// Each micro-batch has a sync: the first makes gradients, the second adds to them and updates.
static void a_step_for_several_micro_batches_is_told_beside_the_gradients(void **state) {
    (void)state;
    keel_explanation_t e;
    explain_pair(&(pair_t){.name = "micro_steps_synced_each"}, &e);
    assert_int_equal(e.root_total, 2);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_GRADIENT);
    assert_int_equal(e.roots[1].kind, KEEL_CAUSE_STRUCTURE);
    assert_string_equal(e.roots[1].subject, "optimizer");
    assert_string_equal(e.roots[1].old_value, "updates none");
    assert_string_equal(e.roots[1].new_value, "updates 4 tensors");
    assert_string_equal(e.roots[1].note, keel_note_text(KEEL_NOTE_STEPPED));
    assert_int_equal(e.roots[1].place.line, 27);
    keel_explanation_deinitialize(&e);
}

// A parameter without dimensions comes from the host, and the next step overwrites what the first
// one computed: nothing was frozen. Told also where the optimizer makes its state in that step.
static void a_number_from_the_host_is_donated_once_a_step_computed_it(void **state) {
    (void)state;
    keel_explanation_t e;
    explain_pair(&(pair_t){.name = "scalar_parameter"}, &e);
    assert_string_equal(e.roots[0].note, keel_note_text(KEEL_NOTE_SCALAR_SENT));
    keel_explanation_deinitialize(&e);
    explain_pair(&(pair_t){.name = "scalar_parameter_of_adamw"}, &e);
    assert_int_equal(e.root_total, 2);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_ARGUMENTS);
    assert_true(keel_note_leads(e.roots[0].note, KEEL_NOTE_STATE_MADE));
    assert_int_equal(e.roots[1].kind, KEEL_CAUSE_DONATION);
    assert_string_equal(e.roots[1].note, keel_note_text(KEEL_NOTE_SCALAR_SENT));
    keel_explanation_deinitialize(&e);
}

static uint32_t line_where_made(const char *type, uint32_t line) {
    loaded_t before, after;
    keel_explanation_t e;
    const keel_made_t made = {
        type, {.file = "/home/ada/cache.py", .line = line, .function = "fresh", .call_file = ""}};
    load_side(&before, "cache_synced_before_use", "before");
    load_side(&after, "cache_synced_before_use", "after");
    const keel_place_t site = {
        .file = "/home/ada/cache.py", .line = 18, .function = "<module>", .call_file = ""};
    const keel_side_t old_side = {.program = &before.program},
                      new_side = {
                          .program = &after.program, .site = &site, .made = &made, .made_count = 1};
    keel_explanation_initialize(&e);
    assert_ok(keel_explain(&old_side, &new_side, &e));
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots[0].kind, KEEL_CAUSE_SHAPE);
    assert_string_equal(e.roots[0].new_value, "f32[2,5,4]");
    uint32_t found = e.roots[0].place.line;
    keel_explanation_deinitialize(&e);
    unload(&before);
    unload(&after);
    return found;
}

// A sync came between the line that made a tensor, 9, and the one that uses it, 17.
static void a_tensor_that_was_synced_is_told_by_the_line_that_made_it(void **state) {
    (void)state;
    assert_int_equal(line_where_made("f32[2,5,4]", 9), 9);
    assert_int_equal(line_where_made("f32[2,3,4]", 9), 17); // another one was made there
    assert_int_equal(line_where_made("f32[2,5,4]", 17), 17);
    assert_int_equal(line_where_made("f32[2,5,4]", 18), 17); // the line that asked
}

static void what_a_program_makes_of_no_argument_is_listed_with_its_line(void **state) {
    (void)state;
    loaded_t loaded;
    keel_arena_t arena;
    keel_made_t made[KEEL_MADE_MOST];
    uint32_t count;
    keel_arena_initialize(&arena, 0);
    load_side(&loaded, "cache_synced_before_use", "made");
    assert_ok(keel_explain_made(&loaded.program, &arena, made, &count));
    assert_int_equal(count, 1);
    assert_string_equal(made[0].type, "f32[2,5,4]");
    assert_string_equal(made[0].place.file, "/home/ada/cache.py");
    assert_string_equal(made[0].place.function, "fresh");
    assert_int_equal(made[0].place.line, 9);
    unload(&loaded);
    load_side(&loaded, "cache_synced_before_use", "after");
    assert_ok(keel_explain_made(&loaded.program, &arena, made, &count));
    assert_int_equal(count, 0); // all that it gives comes from its arguments
    unload(&loaded);
    keel_arena_deinitialize(&arena);
}

// What only one of the programs does takes place at the second optimizer's line.
static void a_second_optimizer_is_no_frozen_tensor(void **state) {
    (void)state;
    keel_explanation_t e;
    explain_pair(&(pair_t){.name = "second_optimizer"}, &e);
    assert_string_equal(e.roots[0].note, keel_note_text(KEEL_NOTE_TURNS));
    keel_explanation_deinitialize(&e);
    explain_pair(&(pair_t){.name = "backbone_unfrozen"}, &e);
    assert_string_equal(e.roots[0].note, keel_note_text(KEEL_NOTE_FROZEN));
    keel_explanation_deinitialize(&e);
}

static keel_status_t read_source(void *context, const char *file, keel_str_t *out) {
    (void)file;
    *out = keel_str(context);
    return NULL;
}

static keel_cause_t cause_by_source(const char *name, const char *old_source, const char *source) {
    const keel_sources_t was = {.read = read_source, .context = (void *)old_source},
                         is = {.read = read_source, .context = (void *)source};
    loaded_t before, after;
    keel_explanation_t e;
    load_side(&before, name, "before");
    load_side(&after, name, "after");
    keel_explanation_initialize(&e);
    assert_ok(keel_explain(
        &(keel_side_t){.program = &before.program, .sources = old_source ? &was : NULL},
        &(keel_side_t){.program = &after.program, .sources = &is}, &e));
    keel_cause_t found = e.roots[0].kind;
    keel_explanation_deinitialize(&e);
    unload(&before);
    unload(&after);
    return found;
}

#define LINES_29 "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"

// A line of before uses the one, another line uses the other. But the two arms of one `if` may take
// the same argument, and the lines of another run may have moved.
static void two_lines_use_two_arguments(void **state) {
    (void)state;
    static const char ifs[] = LINES_29 "    if 'weight' in batch:\n"
                                       "        errors = errors * batch['weight']\n"
                                       "    if 'measured' in batch:\n"
                                       "        errors = errors * batch['measured']\n";
    static const char arms[] = LINES_29 "    if batch['scale'].shape[1] == 1:\n"
                                        "        errors = errors * batch['scale']\n"
                                        "    else:\n"
                                        "        errors = errors * batch['scale']\n";
    assert_int_equal(cause_by_source("weight_then_mask", NULL, ifs), KEEL_CAUSE_ARGUMENTS);
    assert_int_equal(cause_by_source("weight_then_mask", NULL, arms), KEEL_CAUSE_SHAPE);
    assert_int_equal(cause_by_source("weight_then_mask", ifs, ifs), KEEL_CAUSE_SHAPE);
}

static void what_is_copied_over_an_argument_is_told(void **state) {
    (void)state;
    keel_explanation_t e;
    explain_pair(&(pair_t){.name = "copied_over"}, &e);
    assert_true(keel_note_leads(e.roots[0].note, KEEL_NOTE_COPIED));
    keel_explanation_deinitialize(&e);
}

// The way back is as good an explanation: nothing is lost, and nothing new comes up.
static void the_same_kind_of_cause_is_told_of_the_way_back(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        loaded_t before, after;
        keel_explanation_t e;
        load_side(&before, pairs[i].name, "before");
        load_side(&after, pairs[i].name, "after");
        explain(&after.program, &before.program, &e);
        if (e.root_total != 1) print_message("%s\n", pairs[i].name);
        assert_int_equal(e.root_total, 1);
        assert_string_equal(keel_cause_facts(e.roots[0].kind)->word,
                            keel_cause_facts(pairs[i].kind)->word);
        keel_explanation_deinitialize(&e);
        unload(&before);
        unload(&after);
    }
}

static void a_program_does_not_differ_from_itself(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        loaded_t program;
        keel_explanation_t e;
        load_side(&program, pairs[i].name, "after");
        explain(&program.program, &program.program, &e);
        assert_int_equal(e.root_total, 1);
        assert_int_equal(e.roots[0].kind, KEEL_CAUSE_RETRACE);
        keel_explanation_deinitialize(&e);
        unload(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_cause_is_told_with_its_line),
        cmocka_unit_test(what_an_optimizer_brings_about_has_advice_of_its_own),
        cmocka_unit_test(numbers_that_became_equal_are_told_so_both_ways),
        cmocka_unit_test(tensors_that_a_sync_has_moved_are_told_by_how_many_were_sent),
        cmocka_unit_test(a_step_for_several_micro_batches_is_told_beside_the_gradients),
        cmocka_unit_test(a_number_from_the_host_is_donated_once_a_step_computed_it),
        cmocka_unit_test(a_tensor_that_was_synced_is_told_by_the_line_that_made_it),
        cmocka_unit_test(what_a_program_makes_of_no_argument_is_listed_with_its_line),
        cmocka_unit_test(a_second_optimizer_is_no_frozen_tensor),
        cmocka_unit_test(two_lines_use_two_arguments),
        cmocka_unit_test(what_is_copied_over_an_argument_is_told),
        cmocka_unit_test(the_same_kind_of_cause_is_told_of_the_way_back),
        cmocka_unit_test(a_program_does_not_differ_from_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
