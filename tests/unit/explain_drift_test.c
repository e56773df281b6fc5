// What follows from a size, a number or a dtype that drifted, and what merely changes at the same
// time: pairs of programs as JAX compiled them.
#define _GNU_SOURCE
#include "explain_help.h"

typedef struct expected_t {
    keel_cause_t kind;
    const char *subject, *old_value, *new_value;
    uint32_t line;
} expected_t;

static void check(const char *name, const keel_explanation_t *e, const expected_t *roots,
                  size_t count) {
    print_message("  %s: %zu roots, %zu folded\n", name, e->root_total, e->folded_total);
    assert_int_equal(e->root_total, count);
    for (size_t i = 0; i < count; ++i) {
        assert_string_equal(keel_cause_facts(e->roots[i].kind)->word,
                            keel_cause_facts(roots[i].kind)->word);
        assert_string_equal(e->roots[i].subject, roots[i].subject);
        assert_string_equal(e->roots[i].old_value, roots[i].old_value);
        assert_string_equal(e->roots[i].new_value, roots[i].new_value);
        assert_int_equal(e->roots[i].place.line, roots[i].line);
    }
}

static keel_status_t read_source(void *context, const char *file, keel_str_t *out) {
    (void)file;
    *out = keel_str(context);
    return NULL;
}

// `source` is the text of the script, or NULL.
static void explain_pair(const char *name, const char *source, const expected_t *roots,
                         size_t count) {
    loaded_t before, after;
    keel_explanation_t e;
    const keel_sources_t sources = {.read = read_source, .context = (void *)source};
    load_pair(name, &before, &after);
    keel_explanation_initialize(&e);
    assert_ok(keel_explain(
        &(keel_side_t){.program = &before.program},
        &(keel_side_t){.program = &after.program, .sources = source ? &sources : NULL}, &e));
    check_explanation(&e);
    check(name, &e, roots, count);
    keel_explanation_deinitialize(&e);
    unload(&before);
    unload(&after);
}
#define EXPECT(name, source, ...)                                                                  \
    do {                                                                                           \
        static const expected_t roots[] = {__VA_ARGS__};                                           \
        explain_pair(name, source, roots, sizeof roots / sizeof *roots);                           \
    } while (0)

// ---- sizes -------------------------------------------------------------------------------------

static void arguments_of_related_sizes_are_one_cause(void **state) {
    (void)state;
    EXPECT("sizes_of_three", NULL, {KEEL_CAUSE_SHAPE, "diagonal", "f32[11]", "f32[8]", 13});
}

static void sizes_that_are_halved_at_once_are_two_causes(void **state) {
    (void)state;
    EXPECT("sizes_of_their_own", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[8]", "f32[4]", 11},
           {KEEL_CAUSE_SHAPE, "table", "f32[6]", "f32[3]", 11});
}

static void the_ends_of_slices_and_a_longer_range_follow_from_a_size(void **state) {
    (void)state;
    EXPECT("last_rows", NULL, {KEEL_CAUSE_SHAPE, "marks", "f32[3]", "f32[7]", 12});
}

static void a_leaf_of_two_trees_is_one_cause_with_their_ravelled_size(void **state) {
    (void)state;
    EXPECT("leaf_of_two_trees", NULL,
           {KEEL_CAUSE_ARGUMENTS, "params['width']", "absent", "f32[]", 15});
}

static void a_counter_near_a_small_size_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("counter_beside_batch", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[3]", "f32[2]", 14},
           {KEEL_CAUSE_CONSTANT, "multiply", "2", "3", 8});
}

static void a_loop_over_the_rows_of_an_argument_follows_from_its_size(void **state) {
    (void)state;
    EXPECT("loop_over_rows", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[3]", "f32[5]", 14});
}

static void the_rounds_of_a_function_that_halves_its_input_follow_from_the_size(void **state) {
    (void)state;
    EXPECT("rounds_of_a_scan", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[12]", "f32[20]", 11});
}

static void the_rounds_of_a_search_follow_from_the_size_of_what_is_searched(void **state) {
    (void)state;
    EXPECT("rounds_of_a_search", NULL, {KEEL_CAUSE_SHAPE, "edges", "f32[6]", "f32[9]", 12});
}

static void turns_that_are_the_bits_of_a_size_by_accident_are_a_cause_of_their_own(void **state) {
    (void)state;
    EXPECT("turns_beside_batch", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[6,2]", "f32[9,2]", 14},
           {KEEL_CAUSE_CONSTANT, "loop bound", "3", "4", 10});
}

static void layers_that_are_as_many_as_rows_are_a_cause_of_their_own(void **state) {
    (void)state;
    EXPECT("layers_beside_batch", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[2,4]", "f32[3,4]", 16},
           {KEEL_CAUSE_STRUCTURE, "dot_general", "2 times", "3 times", 9});
}

static void as_many_as_pairs_of_rows_follow_from_the_rows(void **state) {
    (void)state;
    EXPECT("pairs_of_rows", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[6,2]", "f32[9,2]", 12});
}

static void the_padding_of_a_gradient_follows_from_the_kernel(void **state) {
    (void)state;
    EXPECT("gradient_of_a_larger_kernel", NULL,
           {KEEL_CAUSE_SHAPE, "kernel", "f32[4,1,3,3]", "f32[4,1,5,5]", 14});
}

static void a_window_as_much_wider_as_what_it_goes_over_is_one_cause_with_it(void **state) {
    (void)state;
    EXPECT("wider_stencil", NULL, {KEEL_CAUSE_SIZE, "slice", "1", "2", 9});
}

static void a_window_wider_by_less_than_what_it_goes_over_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("stencil_beside_padding", NULL, {KEEL_CAUSE_SIZE, "slice", "1", "3", 9},
           {KEEL_CAUSE_SIZE, "broadcast_in_dim", "3", "5", 10});
}

static void padding_beside_a_size_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("padding_beside_rows", NULL, {KEEL_CAUSE_SHAPE, "rows", "f32[7]", "f32[3]", 13},
           {KEEL_CAUSE_SIZE, "convolution padding", "1", "2", 7});
}

static void halves_that_are_put_together_follow_from_the_whole(void **state) {
    (void)state;
    EXPECT("halves_put_together", NULL, {KEEL_CAUSE_SHAPE, "weights", "f32[4]", "f32[6]", 12});
}

static void half_of_a_small_size_elsewhere_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("range_beside_weights", NULL, {KEEL_CAUSE_SHAPE, "weights", "f32[4]", "f32[6]", 12},
           {KEEL_CAUSE_SIZE, "iota", "2", "3", 7});
}

static void another_product_of_the_same_operands_is_no_value(void **state) {
    (void)state;
    EXPECT("product_the_other_way", NULL,
           {KEEL_CAUSE_STRUCTURE, "dot_general lhs_contracting_dimensions", "[1]", "[0]", 7});
}

// ---- numbers -----------------------------------------------------------------------------------

static void what_is_worked_out_from_a_number_is_one_cause_with_it(void **state) {
    (void)state;
    EXPECT("decay_and_rest", NULL, {KEEL_CAUSE_CONSTANT, "multiply", "0.999", "0.99", 10});
    // The user's source tells which of the two came first.
    EXPECT("decay_and_rest", "make(0.999)\nmake(0.99)\n",
           {KEEL_CAUSE_CONSTANT, "multiply", "0.999", "0.99", 10});
    EXPECT("decay_and_rest", "make(1e-3)\nmake(.01)  # less than 0.999 or 0.99\n",
           {KEEL_CAUSE_CONSTANT, "multiply", "0.001", "0.01", 11});
}

static void numbers_that_the_user_wrote_each_are_causes_of_their_own(void **state) {
    (void)state;
    EXPECT("rests_of_their_own", NULL, {KEEL_CAUSE_CONSTANT, "multiply", "0.9", "0.8", 8});
    EXPECT("rests_of_their_own", "for kept, share in ((0.9, 0.1), (0.8, 0.2)):\n",
           {KEEL_CAUSE_CONSTANT, "multiply", "0.9", "0.8", 8},
           {KEEL_CAUSE_CONSTANT, "multiply", "0.1", "0.2", 9});
}

static void numbers_that_are_halved_at_once_are_two_causes(void **state) {
    (void)state;
    EXPECT("rates_of_two_lines", NULL, {KEEL_CAUSE_CONSTANT, "multiply", "0.2", "0.1", 8},
           {KEEL_CAUSE_CONSTANT, "multiply", "0.04", "0.02", 11});
}

static void a_slice_of_all_that_is_left_follows_from_the_size(void **state) {
    (void)state;
    EXPECT("prompt_then_token", NULL, {KEEL_CAUSE_SHAPE, "tokens", "i32[2,6]", "i32[2,1]", 11});
}

static void a_slice_that_the_new_size_does_not_fill_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("first_left_out", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[6]", "f32[4]", 13},
           {KEEL_CAUSE_STRUCTURE, "slice", "slice", "nothing", 9});
}

static void a_slice_whose_start_alone_moves_is_of_another_size(void **state) {
    (void)state;
    EXPECT("window_of_history", NULL, {KEEL_CAUSE_SIZE, "slice", "4", "6", 8});
}

static void a_slice_that_is_taken_elsewhere_is_a_constant(void **state) {
    (void)state;
    EXPECT("crop_at_an_offset", NULL, {KEEL_CAUSE_CONSTANT, "slice start", "[3, 0]", "[7, 0]", 8});
}

static void parts_of_what_a_slice_is_taken_from_follow_from_its_size(void **state) {
    (void)state;
    EXPECT("parts_of_rows", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[8]", "f32[5]", 13});
    EXPECT("rows_and_a_count", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[9]", "f32[5]", 15},
           {KEEL_CAUSE_SIZE, "slice end", "7", "2", 9});
}

static void what_the_client_works_out_from_a_small_size_follows_from_it(void **state) {
    (void)state;
    EXPECT("spread_of_few", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[4,4]", "f32[3,4]", 12});
}

static void both_parts_of_what_is_rolled_are_one_cause(void **state) {
    (void)state;
    EXPECT("rolled_by_more", NULL, {KEEL_CAUSE_SIZE, "slice", "2", "3", 9});
}

static void other_operations_of_one_call_follow_from_the_size(void **state) {
    (void)state;
    EXPECT("rest_of_a_loop", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[8]", "f32[5]", 15});
    EXPECT("nothing_to_shift", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[6]", "f32[1]", 11});
}

static void another_call_on_the_line_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("branch_on_a_line", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[8]", "f32[5]", 15},
           {KEEL_CAUSE_STRUCTURE, "tanh", "call", "tanh", 9});
}

static void what_is_padded_to_a_size_follows_from_it(void **state) {
    (void)state;
    EXPECT("last_of_few_rows", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[4,5]", "f32[3,5]", 12});
}

static void what_is_left_out_at_a_size_of_one_follows_from_it(void **state) {
    (void)state;
    EXPECT("softmax_over_one", NULL, {KEEL_CAUSE_SHAPE, "q", "f32[8,6,4]", "f32[8,1,4]", 16});
    EXPECT("scale_of_one", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[8,6,4]", "f32[8,1,4]", 15});
    EXPECT("labels_of_one_row", NULL, {KEEL_CAUSE_SHAPE, "logits", "f32[6,4]", "f32[1,4]", 14});
}

static void the_window_of_a_mean_is_a_size_and_its_divisor_follows(void **state) {
    (void)state;
    EXPECT("mean_of_a_window", NULL,
           {KEEL_CAUSE_SIZE, "reduce_window window_dimensions", "3", "5", 11});
}

static void the_last_index_follows_from_the_smallest_dimension(void **state) {
    (void)state;
    EXPECT("labels_of_more_classes", NULL, {KEEL_CAUSE_SHAPE, "w", "f32[4,2]", "f32[4,3]", 14});
}

static void the_scale_of_a_resized_picture_follows_and_a_gain_does_not(void **state) {
    (void)state;
    EXPECT("resized_and_scaled", NULL, {KEEL_CAUSE_SHAPE, "x", "f32[8,8]", "f32[5,5]", 13},
           {KEEL_CAUSE_CONSTANT, "multiply", "0.8", "0.5", 9});
}

// ---- dtypes ------------------------------------------------------------------------------------

static void a_python_number_that_only_a_gradient_converts_is_told(void **state) {
    (void)state;
    EXPECT("number_of_a_gradient", NULL,
           {KEEL_CAUSE_WEAK_TYPE, "scale", "weak f32[]", "f32[]", 12});
}

static void a_python_number_that_is_rounded_to_what_it_meets_is_told(void **state) {
    (void)state;
    EXPECT("number_before_an_array", NULL, {KEEL_CAUSE_WEAK_TYPE, "t", "weak f32[]", "f32[]", 13});
}

static void a_python_number_that_helpers_and_loops_take_is_told(void **state) {
    (void)state;
    EXPECT("number_in_helpers", NULL, {KEEL_CAUSE_WEAK_TYPE, "rate", "weak f32[]", "f32[]", 16});
    EXPECT("number_in_helpers_of_half", NULL,
           {KEEL_CAUSE_WEAK_TYPE, "rate", "weak f32[]", "f32[]", 13});
}

static void numbers_within_a_function_follow_from_its_dtype(void **state) {
    (void)state;
    EXPECT("draws_in_half", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[4]", "f16[4]", 11});
}

static void a_complex_value_that_is_taken_apart_follows_from_the_dtype(void **state) {
    (void)state;
    EXPECT("real_then_complex", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[3]", "c64[3]", 14});
}

static void a_complex_number_is_shown_by_its_parts(void **state) {
    (void)state;
    EXPECT("another_phase", NULL, {KEEL_CAUSE_CONSTANT, "multiply", "0.5+0.25j", "0.5-2j", 9});
}

static void another_expansion_of_a_function_follows_from_the_dtype(void **state) {
    (void)state;
    EXPECT("double_precision", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[4]", "f64[4]", 14});
}

static void conversions_and_checks_of_whole_numbers_follow_from_the_dtype(void **state) {
    (void)state;
    EXPECT("counts_as_floats", NULL, {KEEL_CAUSE_DTYPE, "counts", "i32[6]", "f32[6]", 13});
    EXPECT("whole_numbers_checked", NULL, {KEEL_CAUSE_DTYPE, "counts", "i32[6]", "f32[6]", 13});
    EXPECT("scanned_in_half", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[7,4]", "bf16[7,4]", 19});
}

static void numbers_that_a_dtype_has_follow_from_it(void **state) {
    (void)state;
    EXPECT("numbers_of_a_dtype", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[8,4]", "f16[8,4]", 14});
}

static void a_branch_on_a_dtype_follows_from_it(void **state) {
    (void)state;
    EXPECT("scaled_where_integers", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[4,3]", "u8[4,3]", 21});
    EXPECT("scaled_and_branch", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[4,3]", "u8[4,3]", 22},
           {KEEL_CAUSE_STRUCTURE, "multiply", "nothing", "multiply", 16});
}

static void a_branch_beside_conversions_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("counts_and_branch", NULL, {KEEL_CAUSE_DTYPE, "counts", "i32[6]", "f32[6]", 15},
           {KEEL_CAUSE_STRUCTURE, "tanh", "tanh", "nothing", 10});
}

static void a_branch_beside_another_expansion_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("double_and_branch", NULL, {KEEL_CAUSE_DTYPE, "x", "f32[4]", "f64[4]", 19},
           {KEEL_CAUSE_STRUCTURE, "multiply", "nothing", "multiply", 11});
}

// Each pair the other way round has as many causes, of the same kinds.
static void the_way_back_has_the_same_causes(void **state) {
    (void)state;
    static const char *const names[] = {
        "sizes_of_three",      "sizes_of_their_own",    "last_rows",
        "leaf_of_two_trees",   "counter_beside_batch",  "decay_and_rest",
        "rates_of_two_lines",  "number_of_a_gradient",  "double_precision",
        "double_and_branch",   "loop_over_rows",        "rounds_of_a_scan",
        "layers_beside_batch", "draws_in_half",         "prompt_then_token",
        "counts_as_floats",    "whole_numbers_checked", "counts_and_branch",
        "softmax_over_one",    "scale_of_one",          "scanned_in_half",
        "rounds_of_a_search",  "turns_beside_batch",    "parts_of_rows",
        "spread_of_few",       "rest_of_a_loop",        "nothing_to_shift",
        "real_then_complex",   "another_phase",         "scaled_where_integers",
        "scaled_and_branch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        loaded_t before, after;
        keel_explanation_t there, back;
        load_pair(names[i], &before, &after);
        explain(&before.program, &after.program, &there);
        explain(&after.program, &before.program, &back);
        print_message("  %s\n", names[i]);
        assert_int_equal(back.root_total, there.root_total);
        for (size_t k = 0; k < there.root_count; ++k) {
            assert_int_equal(back.roots[k].kind, there.roots[k].kind);
            assert_string_equal(back.roots[k].subject, there.roots[k].subject);
            assert_string_equal(back.roots[k].old_value, there.roots[k].new_value);
        }
        keel_explanation_deinitialize(&there);
        keel_explanation_deinitialize(&back);
        unload(&before);
        unload(&after);
    }
}

static void the_last_of_the_branches_follows_from_a_branch_more(void **state) {
    (void)state;
    EXPECT("choice_of_more_branches", NULL, {KEEL_CAUSE_STRUCTURE, "sine", "nothing", "sine", 8});
}

static void a_bound_beside_the_branches_is_a_cause_of_its_own(void **state) {
    (void)state;
    EXPECT("choice_with_a_clip", NULL, {KEEL_CAUSE_STRUCTURE, "sine", "nothing", "sine", 8},
           {KEEL_CAUSE_CONSTANT, "minimum", "1", "2", 15});
}

static void what_changed_places_with_its_like_is_told_by_that(void **state) {
    (void)state;
    EXPECT("terms_moved", NULL,
           {KEEL_CAUSE_STRUCTURE, "subtract", "before another subtract", "after another subtract",
            11});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_of_related_sizes_are_one_cause),
        cmocka_unit_test(sizes_that_are_halved_at_once_are_two_causes),
        cmocka_unit_test(the_ends_of_slices_and_a_longer_range_follow_from_a_size),
        cmocka_unit_test(a_leaf_of_two_trees_is_one_cause_with_their_ravelled_size),
        cmocka_unit_test(a_counter_near_a_small_size_is_a_cause_of_its_own),
        cmocka_unit_test(a_loop_over_the_rows_of_an_argument_follows_from_its_size),
        cmocka_unit_test(the_rounds_of_a_search_follow_from_the_size_of_what_is_searched),
        cmocka_unit_test(turns_that_are_the_bits_of_a_size_by_accident_are_a_cause_of_their_own),
        cmocka_unit_test(the_rounds_of_a_function_that_halves_its_input_follow_from_the_size),
        cmocka_unit_test(as_many_as_pairs_of_rows_follow_from_the_rows),
        cmocka_unit_test(the_padding_of_a_gradient_follows_from_the_kernel),
        cmocka_unit_test(a_window_as_much_wider_as_what_it_goes_over_is_one_cause_with_it),
        cmocka_unit_test(a_window_wider_by_less_than_what_it_goes_over_is_a_cause_of_its_own),
        cmocka_unit_test(padding_beside_a_size_is_a_cause_of_its_own),
        cmocka_unit_test(halves_that_are_put_together_follow_from_the_whole),
        cmocka_unit_test(half_of_a_small_size_elsewhere_is_a_cause_of_its_own),
        cmocka_unit_test(another_product_of_the_same_operands_is_no_value),
        cmocka_unit_test(a_slice_of_all_that_is_left_follows_from_the_size),
        cmocka_unit_test(a_slice_that_the_new_size_does_not_fill_is_a_cause_of_its_own),
        cmocka_unit_test(a_slice_whose_start_alone_moves_is_of_another_size),
        cmocka_unit_test(a_slice_that_is_taken_elsewhere_is_a_constant),
        cmocka_unit_test(parts_of_what_a_slice_is_taken_from_follow_from_its_size),
        cmocka_unit_test(what_the_client_works_out_from_a_small_size_follows_from_it),
        cmocka_unit_test(both_parts_of_what_is_rolled_are_one_cause),
        cmocka_unit_test(other_operations_of_one_call_follow_from_the_size),
        cmocka_unit_test(another_call_on_the_line_is_a_cause_of_its_own),
        cmocka_unit_test(what_is_padded_to_a_size_follows_from_it),
        cmocka_unit_test(what_is_left_out_at_a_size_of_one_follows_from_it),
        cmocka_unit_test(the_window_of_a_mean_is_a_size_and_its_divisor_follows),
        cmocka_unit_test(the_last_index_follows_from_the_smallest_dimension),
        cmocka_unit_test(the_last_of_the_branches_follows_from_a_branch_more),
        cmocka_unit_test(a_bound_beside_the_branches_is_a_cause_of_its_own),
        cmocka_unit_test(what_changed_places_with_its_like_is_told_by_that),
        cmocka_unit_test(layers_that_are_as_many_as_rows_are_a_cause_of_their_own),
        cmocka_unit_test(a_python_number_that_is_rounded_to_what_it_meets_is_told),
        cmocka_unit_test(a_python_number_that_helpers_and_loops_take_is_told),
        cmocka_unit_test(numbers_within_a_function_follow_from_its_dtype),
        cmocka_unit_test(what_is_worked_out_from_a_number_is_one_cause_with_it),
        cmocka_unit_test(numbers_that_the_user_wrote_each_are_causes_of_their_own),
        cmocka_unit_test(numbers_that_are_halved_at_once_are_two_causes),
        cmocka_unit_test(the_scale_of_a_resized_picture_follows_and_a_gain_does_not),
        cmocka_unit_test(a_python_number_that_only_a_gradient_converts_is_told),
        cmocka_unit_test(a_complex_value_that_is_taken_apart_follows_from_the_dtype),
        cmocka_unit_test(a_complex_number_is_shown_by_its_parts),
        cmocka_unit_test(another_expansion_of_a_function_follows_from_the_dtype),
        cmocka_unit_test(conversions_and_checks_of_whole_numbers_follow_from_the_dtype),
        cmocka_unit_test(numbers_that_a_dtype_has_follow_from_it),
        cmocka_unit_test(a_branch_on_a_dtype_follows_from_it),
        cmocka_unit_test(a_branch_beside_conversions_is_a_cause_of_its_own),
        cmocka_unit_test(a_branch_beside_another_expansion_is_a_cause_of_its_own),
        cmocka_unit_test(the_way_back_has_the_same_causes),
    };
    return cmocka_run_group_tests_name("explain_drift", tests, NULL, NULL);
}
