// Which numbers follow from a size that drifted, and which only look as if they did.
#define _GNU_SOURCE
#include "explain/sizes.h"

#include <float.h>
#include <math.h>

#include "place.h"

enum { ROOT = 7, OTHER = 9, NONE = -1 };

static keel_sizes_t of_one(int64_t before, int64_t after) {
    keel_sizes_t sizes = {.count = 0};
    keel_sizes_add(&sizes, before, after, ROOT);
    return sizes;
}

static int explain(const keel_sizes_t *sizes, int64_t before, int64_t after) {
    return (int)keel_sizes_explain(sizes, before, after);
}

static int explain_value(const keel_sizes_t *sizes, double before, double after) {
    return (int)keel_sizes_explain_value(sizes, before, after, false);
}

static int explain_coarse(const keel_sizes_t *sizes, double before, double after) {
    return (int)keel_sizes_explain_value(sizes, before, after, true);
}

static int explain_derived(const keel_sizes_t *sizes, double before, double after) {
    return (int)keel_sizes_explain_derived(sizes, before, after, false);
}

// ---- what is noted -----------------------------------------------------------------------------

static void a_drift_is_noted_once_and_under_its_first_root(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(8, 4);
    keel_sizes_add(&sizes, 8, 4, OTHER);
    keel_sizes_add(&sizes, 5, 5, OTHER);
    assert_int_equal(sizes.count, 1);
    assert_int_equal(explain(&sizes, 8, 4), ROOT);
    assert_int_equal(explain(&sizes, 5, 5), NONE);
    keel_sizes_add(&sizes, 4, 8, OTHER);
    assert_int_equal(sizes.count, 2);
    assert_int_equal(explain(&sizes, 4, 8), OTHER);
}

static void only_sizes_are_noted(void **state) {
    (void)state;
    keel_sizes_t sizes = {.count = 0};
    static const int64_t others[][2] = {{8, INT64_MAX}, {INT64_MAX, 8}, {INT64_MAX, INT64_MAX - 1},
                                        {8, -1},        {-1, 8},        {0, 8},
                                        {8, 0},         {8, 8}};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        keel_sizes_add_total(&sizes, others[i][0], others[i][1], ROOT);
    assert_int_equal(sizes.totals_count, 0);
    for (size_t i = 0; i < 3; ++i)
        keel_sizes_add(&sizes, others[i][0], others[i][1], ROOT);
    assert_int_equal(sizes.count, 0);
    keel_sizes_add_total(&sizes, 8, 1, ROOT);
    keel_sizes_add_total(&sizes, 1, 8, ROOT);
    assert_int_equal(sizes.totals_count, 2);
}

static void no_more_are_noted_than_there_is_room_for(void **state) {
    (void)state;
    keel_sizes_t sizes = {.count = 0};
    // Primes beyond any product or neighbour of each other, each of which grows by a step of its
    // own.
    for (int64_t i = 0; i < 2 * KEEL_SIZES_KEPT; ++i)
        keel_sizes_add(&sizes, 100003 + 1000 * i, 200003 + 3000 * i, (uint32_t)i);
    assert_int_equal(sizes.count, KEEL_SIZES_KEPT);
    assert_int_equal(explain(&sizes, 100003, 200003), 0);
    assert_int_equal(explain(&sizes, 100003 + 63000, 200003 + 189000), 63);
    assert_int_equal(explain(&sizes, 100003 + 64000, 200003 + 192000), NONE);
}

static void a_dynamic_dimension_is_no_size(void **state) {
    (void)state;
    keel_sizes_t sizes = {.count = 0};
    keel_sizes_add(&sizes, INT64_MIN, 8, ROOT);
    keel_sizes_add(&sizes, 8, INT64_MIN, ROOT);
    keel_sizes_add(&sizes, INT64_MAX, 1, ROOT);
    assert_int_equal(sizes.count, 0);
}

// ---- sizes -------------------------------------------------------------------------------------

static void multiples_and_neighbours_follow(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(8, 5);
    assert_int_equal(explain(&sizes, 8, 5), ROOT);
    assert_int_equal(explain(&sizes, 64, 40), ROOT); // heads * batch
    assert_int_equal(explain(&sizes, 7, 4), ROOT);   // n - 1
    assert_int_equal(explain(&sizes, 10, 7), ROOT);  // a window of 3 without padding
    assert_int_equal(explain(&sizes, 1 << 23, 5 << 20), ROOT);
}

static void what_merely_moved_too_does_not(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(8, 5);
    assert_int_equal(explain(&sizes, 5, 8), NONE); // the other way
    assert_int_equal(explain(&sizes, 8, 4), NONE);
    assert_int_equal(explain(&sizes, 64, 45), NONE);
    assert_int_equal(explain(&sizes, 16, 5), NONE);
    assert_int_equal(explain(&sizes, 11, 8), NONE); // three more: no neighbour
    assert_int_equal(explain(&sizes, 3, 7), NONE);
    keel_sizes_t even = of_one(8, 4);
    assert_int_equal(explain(&even, 2, 1), NONE); // half of it, but no multiple
    assert_int_equal(explain(&even, 12, 6), NONE);
    keel_sizes_t none = {.count = 0};
    assert_int_equal(explain(&none, 8, 4), NONE);
}

static void as_many_as_pairs_follow(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(6, 9);
    assert_int_equal(explain(&sizes, 15, 36), ROOT); // n (n - 1) / 2
    assert_int_equal(explain(&sizes, 21, 45), ROOT); // with each of itself
    assert_int_equal(explain(&sizes, 15, 45), NONE);
    assert_int_equal(explain(&sizes, 36, 15), NONE);
    keel_sizes_t small = of_one(3, 4);
    assert_int_equal(explain(&small, 6, 10), NONE); // small numbers are all sorts of things
    keel_sizes_t large = of_one((int64_t)1 << 52, (int64_t)1 << 53);
    assert_int_equal(explain(&large, (int64_t)1 << 50, 5), NONE);
}

static void two_drifts_multiplied_explain_their_product(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(8, 5);
    keel_sizes_add(&sizes, 128, 96, OTHER);
    assert_int_equal(explain(&sizes, 8 * 128, 5 * 96), ROOT);
    assert_int_equal(explain(&sizes, 12 * 8 * 128, 12 * 5 * 96), ROOT);
    assert_int_equal(explain(&sizes, 128 * 128, 96 * 96), OTHER); // attention: length by length
    assert_int_equal(explain(&sizes, 8 * 128, 5 * 97), NONE);
    assert_int_equal(explain(&sizes, 8 * 128, 8 * 128 + 1), NONE);
    sizes = of_one(4, 1); // down to one
    keel_sizes_add(&sizes, 128, 96, OTHER);
    assert_int_equal(explain(&sizes, 4 * 128, 96), ROOT);
}

static keel_sizes_t of_dims(int64_t *before, int64_t *after, uint32_t rank) {
    keel_sizes_t sizes = {.count = 0};
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, rank}, (keel_ints_t){after, rank}, ROOT);
    return sizes;
}

static void what_a_value_holds_along_several_dimensions_is_noted(void **state) {
    (void)state;
    keel_sizes_t sizes = of_dims((int64_t[]){8, 127, 16}, (int64_t[]){5, 87, 16}, 3);
    assert_int_equal(sizes.count, 2);
    assert_int_equal(explain_value(&sizes, 8 * 127, 5 * 87), ROOT);
    assert_int_equal(explain_value(&sizes, 1.0 / (8 * 127), 1.0 / (5 * 87)), ROOT);
    assert_int_equal(explain_value(&sizes, 2.0 / (8 * 127 * 16), 2.0 / (5 * 87 * 16)), ROOT);
    assert_int_equal(explain_value(&sizes, 8 * 127 * 16 - 1, 5 * 87 * 16 - 1), ROOT); // ddof=1
    assert_int_equal(explain_value(&sizes, sqrt(127 * 16), sqrt(87 * 16)), ROOT);
    assert_int_equal(explain_value(&sizes, log(127), log(87)), ROOT);
    assert_int_equal(explain_value(&sizes, 127 * 8, 87 * 8), ROOT);
    assert_int_equal(explain_value(&sizes, 127 * 8, 88 * 5), NONE);
    assert_int_equal(explain_value(&sizes, 0.001, 0.002), NONE);
}

static void a_value_of_many_dimensions_or_of_no_size_notes_what_it_can(void **state) {
    (void)state;
    keel_sizes_t wide =
        of_dims((int64_t[]){8, 2, 2, 2, 2, 2, 2}, (int64_t[]){5, 2, 2, 2, 2, 2, 2}, 7);
    assert_int_equal(wide.count, 1);
    assert_int_equal(wide.counts_count, 0);
    keel_sizes_t odd = of_dims((int64_t[]){INT64_MIN, 0, 8}, (int64_t[]){7, 0, 5}, 3);
    assert_int_equal(odd.count, 1);
    assert_int_equal(odd.counts_count, 0);
    keel_sizes_t large = of_dims((int64_t[]){INT32_MAX, INT32_MAX, INT32_MAX},
                                 (int64_t[]){INT32_MAX, INT32_MAX - 1, INT32_MAX}, 3);
    assert_int_equal(large.counts_count, 0);
    keel_sizes_t none = {.count = 0};
    keel_sizes_add_dims(&none, (keel_ints_t){(int64_t[]){8}, 1},
                        (keel_ints_t){(int64_t[]){8, 2}, 2}, ROOT);
    assert_int_equal(none.count, 0);
    for (int64_t i = 0; i < 2 * KEEL_COUNTS_KEPT; ++i)
        keel_sizes_add_dims(&none, (keel_ints_t){(int64_t[]){i + 2, 3}, 2},
                            (keel_ints_t){(int64_t[]){i + 3, 3}, 2}, ROOT);
    assert_int_equal(none.counts_count, KEEL_COUNTS_KEPT);
}

static void shares_of_sizes_follow_but_no_numbers_do(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(129, 90);
    assert_int_equal(explain(&sizes, 64, 45), ROOT); // n // 2
    assert_int_equal(explain(&sizes, 65, 45), ROOT); // (n + 1) // 2
    assert_int_equal(explain(&sizes, 43, 30), ROOT); // n // 3
    assert_int_equal(explain(&sizes, 64, 44), NONE);
    assert_int_equal(explain_value(&sizes, 64, 45), NONE);
}

static void one_more_or_less_follows_from_small_sizes_that_made_a_larger_step(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(4, 6);
    assert_int_equal(explain(&sizes, 3, 5), ROOT);
    assert_int_equal(explain(&sizes, 5, 7), ROOT);
    assert_int_equal(explain(&sizes, 2, 4), NONE);
    assert_int_equal(explain_value(&sizes, 3, 5), NONE); // a number that the user chose
    keel_sizes_t step = of_one(3, 4);
    assert_int_equal(explain(&step, 2, 3), NONE);
}

static void a_part_of_a_whole_is_the_same_part_in_both(void **state) {
    (void)state;
    assert_true(keel_sizes_is_part(8, 5, 8, 5));
    assert_true(keel_sizes_is_part(4, 2, 8, 5)); // n // 2
    assert_true(keel_sizes_is_part(4, 3, 8, 5)); // n - n // 2
    assert_true(keel_sizes_is_part(5, 2, 8, 5)); // n - 3
    assert_true(keel_sizes_is_part(6, 4, 8, 5)); // four fifths
    assert_true(keel_sizes_is_part(0, 0, 3, 1)); // a third of next to nothing
    assert_false(keel_sizes_is_part(7, 2, 9, 5));
    assert_false(keel_sizes_is_part(9, 5, 8, 5)); // more than all of it
    assert_false(keel_sizes_is_part(-1, -4, 8, 5));
    assert_false(keel_sizes_is_part(4, 2, INT64_MAX, INT64_MAX - 2));
    const int64_t most = INT32_MAX; // of a size
    assert_true(keel_sizes_is_part(most / 2, 2, most, 4));
    assert_true(keel_sizes_is_part(2, most / 2, 4, most));
    assert_false(keel_sizes_is_part(most + 1, 4, 2 * most + 2, 8));
    assert_false(keel_sizes_is_part(4, most + 1, 8, 2 * most + 2));
}

static void the_scale_of_an_image_follows(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(28, 37);
    assert_int_equal(explain_value(&sizes, 28.0 / 8, 37.0 / 8), ROOT);
    assert_int_equal(explain_value(&sizes, 27.5, 36.5), ROOT);
    assert_int_equal(explain_value(&sizes, 27.25, 36.25), NONE);
    assert_int_equal(explain_value(&sizes, 2.8, 3.75), NONE);
    keel_sizes_t batch = of_one(8, 6);
    assert_int_equal(explain_value(&batch, 0.8, 0.6), NONE); // a rate that is scaled with it
    assert_int_equal(explain_value(&batch, 0.5, 0.375), NONE);
    keel_sizes_t halved = of_one(8, 4);
    assert_int_equal(explain_value(&halved, 0.5, 0.25), NONE); // anything may be halved
    keel_sizes_t fixed = of_one(6, 9);
    keel_sizes_add_fixed(&fixed, (keel_ints_t){(int64_t[]){12}, 1});
    assert_int_equal(explain_value(&fixed, 2, (double)(12.0f / 9)), ROOT);
    assert_int_equal(explain_value(&fixed, 0.5, 0.75), NONE);
}

static void what_is_as_much_more_each_time_follows_where_that_is_no_small_step(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(64, 88);
    assert_int_equal(explain(&sizes, 80, 104), ROOT); // behind a prompt of 16
    assert_int_equal(explain(&sizes, 80, 105), NONE);
    assert_int_equal(explain(&sizes, 20, 44), ROOT);
    assert_int_equal(explain_value(&sizes, 80, 104), NONE);
    keel_sizes_t step = of_one(10, 13);
    assert_int_equal(explain(&step, 21, 24), NONE); // a list that grew by three beside it
}

static void within_a_value_that_follows_small_sizes_count_too(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(3, 2);
    keel_sizes_add(&sizes, 9, 7, OTHER);
    assert_int_equal(explain(&sizes, 2, 1), NONE);
    assert_int_equal((int)keel_sizes_explain_within(&sizes, ROOT, 2, 1), ROOT);
    assert_int_equal((int)keel_sizes_explain_within(&sizes, ROOT, 4, 3), ROOT);
    assert_int_equal((int)keel_sizes_explain_within(&sizes, ROOT, 6, 5), NONE);
    assert_int_equal((int)keel_sizes_explain_within(&sizes, ROOT, 8, 6), NONE); // the other's
    assert_int_equal((int)keel_sizes_explain_within(&sizes, OTHER, 2, 1), NONE);
}

static void a_trees_elements_are_a_size_but_no_number(void **state) {
    (void)state;
    keel_sizes_t sizes = {.count = 0};
    keel_sizes_add_total(&sizes, 2, 3, ROOT);
    keel_sizes_add_total(&sizes, 0, 3, OTHER);
    keel_sizes_add_total(&sizes, 5, 5, OTHER);
    assert_int_equal(sizes.totals_count, 1);
    assert_int_equal(explain(&sizes, 2, 3), ROOT);
    assert_int_equal(explain(&sizes, 4, 6), NONE);
    assert_int_equal(explain_value(&sizes, 2, 3), NONE);
    for (int64_t i = 0; i < 2 * KEEL_TOTALS_KEPT; ++i)
        keel_sizes_add_total(&sizes, i + 10, i + 11, ROOT);
    assert_int_equal(sizes.totals_count, KEEL_TOTALS_KEPT);
}

static void a_divisor_follows_from_the_items_of_a_list(void **state) {
    (void)state;
    keel_sizes_t sizes = {.count = 0};
    keel_sizes_add_list(&sizes, 2, 3, ROOT);
    keel_sizes_add_list(&sizes, 5, 5, OTHER);
    assert_int_equal(sizes.lists_count, 1);
    assert_int_equal((int)keel_sizes_explain_divisor(&sizes, 2, 3), ROOT);
    assert_int_equal((int)keel_sizes_explain_divisor(&sizes, 3, 4), ROOT); // and the newest
    assert_int_equal((int)keel_sizes_explain_divisor(&sizes, 0.5, 1.0 / 3), ROOT);
    assert_int_equal((int)keel_sizes_explain_divisor(&sizes, 4, 5), NONE);
    assert_int_equal(explain_value(&sizes, 2, 3), NONE); // elsewhere it is a number like others
    assert_int_equal(explain(&sizes, 2, 3), NONE);
}

// ---- arguments ---------------------------------------------------------------------------------

// Of one dimension each. *out_leads as keel_sizes_move_together tells it.
static bool moves_with(int64_t before, int64_t after, int64_t other_before, int64_t other_after,
                       bool *out_leads) {
    return keel_sizes_move_together((keel_ints_t){&before, 1}, (keel_ints_t){&after, 1},
                                    (keel_ints_t){&other_before, 1}, (keel_ints_t){&other_after, 1},
                                    out_leads);
}

static void arguments_of_related_sizes_move_together(void **state) {
    (void)state;
    bool leads;
    assert_true(moves_with(8, 5, 8, 5, &leads) && leads);
    assert_true(moves_with(5, 3, 6, 4, &leads) && leads); // one shorter: either may lead
    assert_true(moves_with(6, 4, 5, 3, &leads) && leads);
    // One is a size as others are.
    assert_true(moves_with(1, 4, 2, 5, &leads) && leads);
    assert_true(moves_with(2, 5, 1, 4, &leads) && leads);
    assert_true(moves_with(4, 1, 5, 2, &leads) && leads);
    assert_true(moves_with(5, 2, 4, 1, &leads) && leads);
    assert_true(moves_with(24, 15, 8, 5, &leads) && !leads); // flattened
    assert_true(moves_with(8, 5, 24, 15, &leads) && leads);
    assert_true(moves_with(80, 104, 64, 88, &leads) && !leads);
    assert_true(moves_with(64, 88, 80, 104, &leads) && leads);
}

static void sizes_of_their_own_do_not_move_together(void **state) {
    (void)state;
    bool leads;
    assert_false(moves_with(20, 16, 9, 7, &leads));
    assert_false(moves_with(6, 3, 8, 4, &leads));
    assert_false(moves_with(16, 8, 8, 4, &leads)); // both halved
    assert_false(moves_with(2, 1, 8, 4, &leads));
    assert_false(moves_with(9, 6, 5, 2, &leads)); // both three less
    assert_false(moves_with(5, 8, 8, 5, &leads));
    assert_false(moves_with(INT64_MIN, 5, 8, 5, &leads));
    assert_false(moves_with(8, 5, 8, 8, &leads));
    assert_false(moves_with(0, 3, 1, 4, &leads)); // not one size
    assert_false(moves_with(1, 4, 0, 3, &leads));
    assert_false(moves_with(3, 0, 4, 1, &leads));
    assert_false(moves_with(4, 1, 3, 0, &leads));
}

static void all_sizes_of_an_argument_must_follow(void **state) {
    (void)state;
    static int64_t before[] = {8, 64, 3}, after[] = {5, 88, 3}, one_before[] = {8, 3},
                   one_after[] = {5, 3};
    bool leads;
    const keel_ints_t both[] = {{before, 3}, {after, 3}}, one[] = {{one_before, 2}, {one_after, 2}};
    assert_true(keel_sizes_move_together(one[0], one[1], both[0], both[1], &leads));
    assert_false(keel_sizes_move_together(both[0], both[1], one[0], one[1], &leads));
    assert_false(keel_sizes_move_together(one[0], both[1], both[0], both[1], &leads));
}

// ---- constants ---------------------------------------------------------------------------------

static void a_mean_a_share_and_a_scale_follow(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(8, 4);
    assert_int_equal(explain_value(&sizes, 8, 4), ROOT);
    assert_int_equal(explain_value(&sizes, 0.125, 0.25), ROOT);
    assert_int_equal(explain_value(&sizes, -0.125, -0.25), ROOT);
    assert_int_equal(explain_value(&sizes, 2.0 / 8, 2.0 / 4), ROOT); // the gradient of a mean
    assert_int_equal(explain_value(&sizes, 1.0 / (8 * 512), 1.0 / (4 * 512)), ROOT);
    assert_int_equal(explain_value(&sizes, sqrt(8), 2), ROOT);
    assert_int_equal(explain_value(&sizes, 1 / sqrt(8), 0.5), ROOT);
    assert_int_equal(explain_value(&sizes, (double)(1.0f / sqrtf(8)), 0.5), ROOT);
}

static void a_constant_that_halves_as_a_size_does_need_not_follow(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(8, 4);
    assert_int_equal(explain_value(&sizes, 0.2, 0.1), NONE);
    assert_int_equal(explain_value(&sizes, (double)0.2f, (double)0.1f), NONE);
    assert_int_equal(explain_coarse(&sizes, 0.2, 0.1), NONE);
    assert_int_equal(explain_value(&sizes, 2, 1), NONE);
    assert_int_equal(explain_value(&sizes, 0.5, 1), NONE);
    assert_int_equal(explain_value(&sizes, 1e-4, 2e-4), NONE); // a learning rate, scaled with it
    assert_int_equal(explain_value(&sizes, 0.9, 0.45), NONE);
    assert_int_equal(explain_value(&sizes, 100.4, 50.2), NONE);
    assert_int_equal(explain_coarse(&sizes, 500, 250), NONE); // 8 * 62.5
    assert_int_equal(explain_value(&sizes, 8, -4), NONE);
    assert_int_equal(explain_value(&sizes, 0.1, 0.1001), NONE);
}

static void few_bits_leave_room_for_rounding(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(10, 6);
    assert_int_equal(explain_coarse(&sizes, 0.10009765625, 0.1669921875), ROOT); // bf16
    assert_int_equal(explain_value(&sizes, 0.10009765625, 0.1669921875), NONE);
}

static void what_a_library_works_out_is_of_the_whole_or_a_part(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(3, 5);
    keel_sizes_add_fixed(&sizes, (keel_ints_t){(int64_t[]){16, 1, 16, 4}, 4});
    assert_int_equal(sizes.fixed_count, 2);
    assert_int_equal(explain_derived(&sizes, 16.0 / 3, 16.0 / 5), ROOT); // rows for each one drawn
    assert_int_equal(explain_derived(&sizes, 3.0 / 16, 5.0 / 16), ROOT);
    assert_int_equal(explain_derived(&sizes, 13, 11), ROOT); // those that are left
    assert_int_equal(explain_derived(&sizes, 3, 5), ROOT);
    assert_int_equal(explain_derived(&sizes, 17.0 / 3, 17.0 / 5), ROOT); // of a total elsewhere
    assert_int_equal(explain_derived(&sizes, 17.5 / 3, 17.5 / 5), NONE);
    assert_int_equal(explain_derived(&sizes, 7.5 / 3, 7.5 / 5), NONE);
    assert_int_equal(explain_derived(&sizes, 15.0 / 3, 16.0 / 5), NONE);
    assert_int_equal(explain_derived(&sizes, 1, -1), NONE);            // 4 is not a whole of 5
    assert_int_equal(explain_derived(&sizes, 4.0 / 3, 4.0 / 5), ROOT); // but may be scaled to it
    assert_int_equal(explain_value(&sizes, 16.0 / 3, 16.0 / 5), ROOT); // nobody writes 5.3333335
    assert_int_equal(explain_value(&sizes, 13, 11), NONE);
    assert_int_equal(explain_value(&sizes, 0.75, 1.25), NONE); // 3 / 4, 5 / 4
    keel_sizes_t parts = of_one(4, 6);
    assert_int_equal(explain_derived(&parts, 4 - 4e-4, 4 - 6e-4), ROOT); // a least width for each
    assert_int_equal(explain_derived(&parts, (double)3.9996f, (double)3.9994f), ROOT);
    assert_int_equal(explain_derived(&sizes, 6 * ldexp(1, -23), 10 * ldexp(1, -23)), ROOT);
    assert_int_equal(explain_derived(&sizes, 6 * ldexp(1, -23), 9 * ldexp(1, -23)), NONE);
    assert_int_equal(explain_derived(&sizes, 6e-4, 10e-4), NONE); // a rate that is scaled
    assert_int_equal(explain_value(&sizes, 6 * ldexp(1, -23), 10 * ldexp(1, -23)), NONE);
    assert_int_equal(explain_derived(&parts, 1.004, 1.006), ROOT);
    assert_int_equal(explain_derived(&parts, 3.9996, 3.9992), NONE);
    assert_int_equal(explain_value(&parts, 3.9996, 3.9994), NONE);
    assert_int_equal(explain_derived(&parts, 0.0371, 0.0373), NONE);
    // A share that somebody may have written: four digits, not five.
    keel_sizes_t few = of_one(1234, 1235), many = of_one(12345, 12346);
    keel_sizes_add_fixed(&few, (keel_ints_t){(int64_t[]){10000}, 1});
    keel_sizes_add_fixed(&many, (keel_ints_t){(int64_t[]){100000}, 1});
    assert_int_equal(explain_value(&few, 0.1234, 0.1235), NONE);
    assert_int_equal(explain_value(&many, 0.12345, 0.12346), ROOT);
    keel_sizes_t halves = of_one(129, 90);
    assert_int_equal(explain_derived(&halves, 64, 45), ROOT);
    assert_int_equal(explain_derived(&halves, NAN, 45), NONE);
}

// A whole number and a power of ten for each part, up or down.
static void a_range_with_a_small_amount_for_each_part_follows(void **state) {
    (void)state;
    static const struct {
        int64_t drift[2];
        double before, after;
        bool follows;
    } cases[] = {
        {{4, 6}, 4 - 4e-4, 4 - 6e-4, true},
        {{6, 4}, 4 - 6e-4, 4 - 4e-4, true},
        {{6, 4}, 4 + 6e-4, 4 + 4e-4, true},
        {{7, 9}, 2.7, 2.9, true},
        {{7, 9}, 3 - 0.7, 3 - 0.9, true},
        {{4, 9}, 1 + 4e-6, 1 + 9e-6, false}, // no more than rounding
        {{4, 13}, 1 + 4e-6, 1 + 13e-6, true},
        {{4, 9}, 4e-6, 9e-6, false},
        // Numbers below one need be no more exact than one.
        {{4, 6}, 0.6 + 4e-7, 0.4, true},
        {{4, 6}, 0.6 + 6e-7, 0.4, false},
        {{4, 6}, 0.6, 0.4 + 4e-7, true},
        {{4, 6}, 0.6, 0.4 + 6e-7, false},
        {{4, 6}, 10.4 + 4e-6, 10.6, true},
        {{4, 6}, 10.4 + 6e-6, 10.6, false},
        {{4, 6}, 10.4, 10.6 + 4e-6, true},
        {{4, 6}, 10.4, 10.6 + 6e-6, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_sizes_t sizes = of_one(cases[i].drift[0], cases[i].drift[1]);
        int root = explain_derived(&sizes, cases[i].before, cases[i].after);
        if (root != (cases[i].follows ? ROOT : NONE))
            fail_msg("%lld -> %lld: %.9g -> %.9g", (long long)cases[i].drift[0],
                     (long long)cases[i].drift[1], cases[i].before, cases[i].after);
    }
}

// ---- limits ------------------------------------------------------------------------------------

static void sizes_at_the_limits_of_each_rule(void **state) {
    (void)state;
    static const struct {
        int64_t drift[2], before, after;
        bool follows;
    } cases[] = {
        // One or two more or less, from 4 on.
        {{4, 5}, 5, 6, true},
        {{4, 5}, 6, 7, true},
        {{4, 5}, 7, 8, false},
        {{3, 4}, 4, 5, false},
        {{4, 5}, 3, 4, false},
        {{5, 6}, 4, 5, true},
        {{6, 7}, 4, 5, true},
        {{7, 8}, 4, 5, false},
        // One more or less at any size, if the step was larger than one.
        {{3, 5}, 4, 6, true},
        {{3, 1}, 4, 2, true},
        {{2, 4}, 1, 3, true},
        {{3, 1}, 2, 0, false},
        {{1, 3}, 0, 2, false},
        {{2, 4}, 4, 6, false},
        // More or less by any number, if the step was at least 4.
        {{50, 54}, 60, 64, true},
        {{50, 53}, 60, 63, false},
        {{54, 50}, 64, 60, true},
        {{53, 50}, 63, 60, false},
        {{50, 54}, 10, 14, true},
        {{50, 54}, 0, 4, false},
        {{54, 50}, 4, 0, false},
        {{50, 54}, 60, 65, false},
        // Pairs, of 4 to 2^20.
        {{4, 6}, 6, 15, true},
        {{4, 6}, 10, 21, true},
        {{4, 6}, 6, 21, false},
        {{3, 6}, 3, 15, false},
        {{6, 3}, 15, 3, false},
        {{1 << 20, 6}, 549755289600, 15, true},
        {{6, 1 << 20}, 15, 549755289600, true},
        {{(1 << 20) + 1, 6}, 549756338176, 15, false},
        {{6, (1 << 20) + 1}, 15, 549756338176, false},
        // A half to a quarter, rounded down or up, of 4 at least.
        {{16, 20}, 4, 5, true},
        {{20, 25}, 4, 5, false},
        {{12, 18}, 4, 6, true},
        {{9, 18}, 3, 6, false},
        {{18, 9}, 6, 3, false},
        {{9, 14}, 5, 7, true},
        {{9, 14}, 4, 7, true},
        {{9, 14}, 5, 8, false},
        // Multiples, also of itself.
        {{6, 9}, 36, 81, true},
        {{6, 9}, 12, 18, true},
        {{6, 9}, 12, 27, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_sizes_t sizes = of_one(cases[i].drift[0], cases[i].drift[1]);
        int root = explain(&sizes, cases[i].before, cases[i].after);
        if (root != (cases[i].follows ? ROOT : NONE))
            fail_msg("%lld -> %lld: %lld -> %lld", (long long)cases[i].drift[0],
                     (long long)cases[i].drift[1], (long long)cases[i].before,
                     (long long)cases[i].after);
    }
}

static void numbers_at_the_limits_of_each_rule(void **state) {
    (void)state;
    static const struct {
        int64_t drift[2];
        double before, after;
        bool follows;
    } cases[] = {
        // Half an element beside it, from 4 on.
        {{4, 3}, 3.5, 2.5, true},
        {{3, 4}, 2.5, 3.5, true},
        {{3, 2}, 2.5, 1.5, false},
        {{5, 7}, 5.5, 7.5, true},
        {{5, 7}, 5.5, 7.25, false},
        // A mean over a part as well: of up to 16, or a power of two.
        {{8, 4}, 1.0 / (16 * 8), 1.0 / (16 * 4), true},
        {{8, 4}, 1.0 / (17 * 8), 1.0 / (17 * 4), false},
        {{8, 4}, 1.0 / (32 * 8), 1.0 / (32 * 4), true},
        {{8, 4}, 2.0 / 8, 2.0 / 4, true},
        {{8, 4}, 3.0 / 8, 3.0 / 4, false},
        {{8, 4}, 24, 12, true},
        {{8, 4}, 20, 10, false},
        {{8, 4}, 0, 0.5, false},
        {{8, 4}, 0.125, -0.25, false},
        {{2, 5}, 0.6931471805599453, 1.6094379124341003, true}, // logarithms
        {{1, 5}, 0, 1.6094379124341003, false},
        {{-8, 4}, 8, 4, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_sizes_t sizes = of_one(cases[i].drift[0], cases[i].drift[1]);
        int root = explain_value(&sizes, cases[i].before, cases[i].after);
        if (root != (cases[i].follows ? ROOT : NONE))
            fail_msg("%lld -> %lld: %g -> %g", (long long)cases[i].drift[0],
                     (long long)cases[i].drift[1], cases[i].before, cases[i].after);
    }
}

static void parts_are_of_up_to_ten_or_a_constant_less(void **state) {
    (void)state;
    static const struct {
        int64_t before, after, wholes[2];
        bool is_part;
    } cases[] = {
        {5, 7, {10, 14}, true},
        {10, 14, {10, 14}, true},
        {7, 11, {10, 14}, true}, // all but three
        {7, 12, {10, 14}, false},
        {11, 15, {10, 14}, false}, // more than there are
        {11, 12, {10, 14}, false},
        {0, 0, {10, 14}, false},
        {-1, 3, {10, 14}, false},
        {3, -1, {14, 10}, false},
        {1, 1, {10, 14}, true}, // a tenth
        {1, 1, {20, 21}, false},
        {9, 18, {10, 20}, true},
        {4, 5, {7, 9}, true}, // half, rounded up
        {3, 4, {7, 9}, true},
        {INT32_MAX - 3, 7, {INT32_MAX, 10}, true},
        {7, INT32_MAX - 3, {10, INT32_MAX}, true},
        {(int64_t)INT32_MAX - 2, 7, {(int64_t)INT32_MAX + 1, 10}, false},
        {7, (int64_t)INT32_MAX - 2, {10, (int64_t)INT32_MAX + 1}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        if (keel_sizes_is_part(cases[i].before, cases[i].after, cases[i].wholes[0],
                               cases[i].wholes[1]) != cases[i].is_part)
            fail_msg("%lld -> %lld of %lld -> %lld", (long long)cases[i].before,
                     (long long)cases[i].after, (long long)cases[i].wholes[0],
                     (long long)cases[i].wholes[1]);
}

static void what_is_noted_at_the_limits(void **state) {
    (void)state;
    static const int64_t limit = (int64_t)1 << 53;
    assert_int_equal(of_one(limit, 5).count, 1);
    assert_int_equal(of_one(5, -limit).count, 1);
    assert_int_equal(of_one(limit + 1, 5).count, 0);
    assert_int_equal(of_one(5, -limit - 1).count, 0);
    keel_sizes_t sizes = {.count = 0};
    int64_t before[] = {2, 3, 5, 7, 11, 13}, after[] = {4, 3, 5, 7, 11, 13};
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, 6}, (keel_ints_t){after, 6}, ROOT);
    assert_int_equal(sizes.count, 1);
    assert_int_equal(sizes.counts_count, 0); // too many dimensions for products
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, 2}, (keel_ints_t){after, 3}, ROOT);
    assert_int_equal(sizes.counts_count, 0);
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, 2}, (keel_ints_t){after, 2}, ROOT);
    assert_int_equal(sizes.counts_count, 1);
    assert_int_equal(sizes.counts[0].before, 6);
    assert_int_equal(sizes.counts[0].after, 12);
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, 5}, (keel_ints_t){after, 5}, ROOT);
    assert_int_equal(sizes.counts_count, 15); // all that the first dimension is part of
    before[1] = after[1] = 0;
    sizes.counts_count = 0;
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, 2}, (keel_ints_t){after, 2}, ROOT);
    assert_int_equal(sizes.counts_count, 0);
    before[1] = after[1] = INT32_MAX;
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, 2}, (keel_ints_t){after, 2}, ROOT);
    assert_int_equal(sizes.counts_count, 1);
    before[1] = after[1] = (int64_t)INT32_MAX + 1;
    keel_sizes_add_dims(&sizes, (keel_ints_t){before, 2}, (keel_ints_t){after, 2}, ROOT);
    assert_int_equal(sizes.counts_count, 1);
}

// ---- extremes ----------------------------------------------------------------------------------

static void extremes_are_explained_by_nothing_and_break_nothing(void **state) {
    (void)state;
    static const int64_t sizes_tried[] = {
        INT64_MIN, INT64_MIN + 1, -((int64_t)1 << 53), INT32_MIN,     -8,       -2, -1, 0, 1, 2,
        8,         INT32_MAX,     (int64_t)1 << 53,    INT64_MAX - 1, INT64_MAX};
    static const double values[] = {NAN,     INFINITY, -INFINITY, 0.0,  -0.0,   DBL_MAX, -DBL_MAX,
                                    DBL_MIN, 5e-324,   1e15,      9e15, 9.3e18, -9.3e18, 1e308};
    enum {
        SIZES = sizeof sizes_tried / sizeof *sizes_tried,
        VALUES = sizeof values / sizeof *values
    };
    keel_sizes_t all = {.count = 0};
    for (int i = 0; i < SIZES; ++i)
        for (int j = 0; j < SIZES && all.count < KEEL_SIZES_KEPT; ++j)
            keel_sizes_add(&all, sizes_tried[i], sizes_tried[j], ROOT);
    keel_sizes_t one = of_one(8, 4);
    for (int i = 0; i < SIZES; ++i)
        for (int j = 0; j < SIZES; ++j) {
            int root = explain(&all, sizes_tried[i], sizes_tried[j]);
            assert_true(root == ROOT || root == NONE);
        }
    for (int i = 0; i < VALUES; ++i)
        for (int j = 0; j < VALUES; ++j) {
            int root = explain_value(&all, values[i], values[j]);
            assert_true(root == ROOT || root == NONE);
            if (values[i] == values[j]) continue; // nothing to explain
            assert_int_equal(explain_value(&one, values[i], values[j]), NONE);
            assert_int_equal(explain_coarse(&one, values[i], values[j]), NONE);
        }
    assert_int_equal(explain(&one, INT64_MAX, INT64_MAX / 2), NONE);
    assert_int_equal(explain(&one, INT64_MIN, INT64_MIN / 2), NONE);
}

static void sizes_of_nothing_and_below_explain_only_themselves(void **state) {
    (void)state;
    keel_sizes_t sizes = of_one(0, 100);
    assert_int_equal(explain(&sizes, 0, 100), ROOT);
    assert_int_equal(explain(&sizes, 0, 200), NONE);
    sizes = of_one(-100, 100);
    assert_int_equal(explain(&sizes, -100, 100), ROOT);
    assert_int_equal(explain(&sizes, -200, 200), NONE);
    assert_int_equal(explain_value(&sizes, -0.01, 0.01), NONE);
    sizes = of_one(4, 0);
    assert_int_equal(explain(&sizes, 4, 0), ROOT);
    assert_int_equal(explain(&sizes, 8, 3), NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drift_is_noted_once_and_under_its_first_root),
        cmocka_unit_test(only_sizes_are_noted),
        cmocka_unit_test(no_more_are_noted_than_there_is_room_for),
        cmocka_unit_test(a_dynamic_dimension_is_no_size),
        cmocka_unit_test(multiples_and_neighbours_follow),
        cmocka_unit_test(what_merely_moved_too_does_not),
        cmocka_unit_test(as_many_as_pairs_follow),
        cmocka_unit_test(two_drifts_multiplied_explain_their_product),
        cmocka_unit_test(what_a_value_holds_along_several_dimensions_is_noted),
        cmocka_unit_test(a_value_of_many_dimensions_or_of_no_size_notes_what_it_can),
        cmocka_unit_test(shares_of_sizes_follow_but_no_numbers_do),
        cmocka_unit_test(one_more_or_less_follows_from_small_sizes_that_made_a_larger_step),
        cmocka_unit_test(a_part_of_a_whole_is_the_same_part_in_both),
        cmocka_unit_test(the_scale_of_an_image_follows),
        cmocka_unit_test(what_is_as_much_more_each_time_follows_where_that_is_no_small_step),
        cmocka_unit_test(within_a_value_that_follows_small_sizes_count_too),
        cmocka_unit_test(a_trees_elements_are_a_size_but_no_number),
        cmocka_unit_test(a_divisor_follows_from_the_items_of_a_list),
        cmocka_unit_test(arguments_of_related_sizes_move_together),
        cmocka_unit_test(sizes_of_their_own_do_not_move_together),
        cmocka_unit_test(all_sizes_of_an_argument_must_follow),
        cmocka_unit_test(what_a_library_works_out_is_of_the_whole_or_a_part),
        cmocka_unit_test(a_mean_a_share_and_a_scale_follow),
        cmocka_unit_test(a_constant_that_halves_as_a_size_does_need_not_follow),
        cmocka_unit_test(few_bits_leave_room_for_rounding),
        cmocka_unit_test(a_range_with_a_small_amount_for_each_part_follows),
        cmocka_unit_test(sizes_at_the_limits_of_each_rule),
        cmocka_unit_test(numbers_at_the_limits_of_each_rule),
        cmocka_unit_test(parts_are_of_up_to_ten_or_a_constant_less),
        cmocka_unit_test(what_is_noted_at_the_limits),
        cmocka_unit_test(extremes_are_explained_by_nothing_and_break_nothing),
        cmocka_unit_test(sizes_of_nothing_and_below_explain_only_themselves),
    };
    return cmocka_run_group_tests_name("explain_sizes", tests, NULL, NULL);
}
