// keel_align compared with the longest common subsequence, computed the simple way.
#define _GNU_SOURCE
#include "explain/align.h"
#include "place.h"

static uint64_t random_state = 0x2545f4914f6cdd1d;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint32_t below(uint32_t limit) {
    return (uint32_t)((next_random() >> 32) % limit);
}

typedef struct sequence_t {
    uint64_t *tokens;
    uint32_t count, capacity;
} sequence_t;

static void append(sequence_t *sequence, uint64_t token) {
    if (sequence->count == sequence->capacity) {
        sequence->capacity = 2 * sequence->capacity + 16;
        sequence->tokens = realloc(sequence->tokens, sequence->capacity * sizeof *sequence->tokens);
        assert_non_null(sequence->tokens);
    }
    sequence->tokens[sequence->count++] = token;
}

static sequence_t random_sequence(uint32_t count, uint32_t alphabet) {
    sequence_t made = {.count = 0};
    append(&made, 0);
    made.count = 0;
    for (uint32_t i = 0; i < count; ++i)
        append(&made, below(alphabet));
    return made;
}

// A copy in which about one token of `one_in` is gone, is another or has a new one before it.
static sequence_t edited(const sequence_t *from, uint32_t alphabet, uint32_t one_in) {
    sequence_t made = {.count = 0};
    append(&made, 0);
    made.count = 0;
    for (uint32_t i = 0; i < from->count; ++i) {
        uint32_t kind = below(one_in) ? 3 : below(3);
        if (kind == 0) continue;
        if (kind == 1) append(&made, below(alphabet));
        append(&made, kind == 2 ? below(alphabet) : from->tokens[i]);
    }
    return made;
}

// ---- what is true of every alignment -----------------------------------------------------------

static uint32_t check_pairs(const sequence_t *a, const sequence_t *b, const uint32_t *to_b,
                            const uint32_t *to_a) {
    uint32_t pairs = 0, back = 0, next = 0;
    for (uint32_t i = 0; i < a->count; ++i) {
        if (to_b[i] == UINT32_MAX) continue;
        assert_in_range(to_b[i], next, b->count - 1);
        assert_int_equal(to_a[to_b[i]], i);
        assert_true(a->tokens[i] == b->tokens[to_b[i]]);
        next = to_b[i] + 1;
        ++pairs;
    }
    for (uint32_t j = 0; j < b->count; ++j)
        back += to_a[j] != UINT32_MAX;
    assert_int_equal(back, pairs);
    return pairs;
}

// The number of pairs; all that must hold for them is checked.
static uint32_t align(const sequence_t *a, const sequence_t *b) {
    uint32_t *to_b = malloc((a->count + 1) * sizeof *to_b);
    uint32_t *to_a = malloc((b->count + 1) * sizeof *to_a);
    to_b[a->count] = to_a[b->count] = 4711; // behind the end: not to be touched
    assert_ok(keel_align(a->tokens, a->count, b->tokens, b->count, to_b, to_a));
    assert_int_equal(to_b[a->count], 4711);
    assert_int_equal(to_a[b->count], 4711);
    uint32_t pairs = check_pairs(a, b, to_b, to_a);
    free(to_b);
    free(to_a);
    return pairs;
}

static uint32_t longest_common(const sequence_t *a, const sequence_t *b) {
    uint32_t *row = calloc(b->count + 1, sizeof *row);
    for (uint32_t i = 0; i < a->count; ++i)
        for (uint32_t j = 0, diagonal = 0; j < b->count; ++j) {
            uint32_t above = row[j + 1];
            if (a->tokens[i] == b->tokens[j])
                row[j + 1] = diagonal + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            diagonal = above;
        }
    uint32_t length = row[b->count];
    free(row);
    return length;
}

static void check_shortest(const sequence_t *a, const sequence_t *b) {
    uint32_t longest = longest_common(a, b), pairs = align(a, b);
    uint32_t edits = a->count + b->count - 2 * longest;
    assert_true(pairs <= longest);
    if (edits <= KEEL_ALIGN_EDITS && pairs != longest)
        fail_msg("%u and %u tokens, %u edits: %u pairs of %u", a->count, b->count, edits, pairs,
                 longest);
}

static void drop(sequence_t *sequence) {
    free(sequence->tokens);
}

// ---- the tests ---------------------------------------------------------------------------------

static void short_sequences_without_relation_are_aligned_as_well_as_can_be(void **state) {
    (void)state;
    static const uint32_t alphabets[] = {1, 2, 3, 5, 20};
    for (uint32_t round = 0; round < 6000; ++round) {
        uint32_t alphabet = alphabets[round % 5];
        sequence_t a = random_sequence(below(24), alphabet);
        sequence_t b = random_sequence(below(24), alphabet);
        check_shortest(&a, &b);
        drop(&a);
        drop(&b);
    }
}

static void edited_copies_are_aligned_as_well_as_can_be(void **state) {
    (void)state;
    static const uint32_t alphabets[] = {2, 8, 40, 100000};
    for (uint32_t round = 0; round < 400; ++round) {
        uint32_t alphabet = alphabets[round % 4];
        sequence_t a = random_sequence(1 + below(700), alphabet);
        sequence_t b = edited(&a, alphabet, 2 + below(40));
        check_shortest(&a, &b);
        drop(&a);
        drop(&b);
    }
}

// With no token in common the edits are as many as there are tokens.
static void the_last_number_of_edits_that_is_tried_is_still_right(void **state) {
    (void)state;
    for (uint32_t extra = 0; extra < 4; ++extra) {
        sequence_t a = random_sequence(KEEL_ALIGN_EDITS / 2, 50), b = {.count = 0};
        for (uint32_t i = 0; i < KEEL_ALIGN_EDITS / 2 + extra; ++i)
            append(&b, 100 + below(50));
        a.tokens[a.count / 2] = b.tokens[b.count / 3] = 7777;
        check_shortest(&a, &b);
        if (extra <= 2) assert_int_equal(align(&a, &b), 1);
        drop(&a);
        drop(&b);
    }
}

// Tokens of two kinds, so that nothing but the shortest edit finds all pairs.
static void as_many_insertions_as_are_tried_leave_all_the_rest_paired(void **state) {
    (void)state;
    sequence_t a = {.count = 0}, b = {.count = 0};
    for (uint32_t i = 0; i < KEEL_ALIGN_EDITS; ++i) {
        append(&b, i % 2); // a token more before each
        append(&a, 1 - i % 2);
        append(&b, 1 - i % 2);
    }
    check_shortest(&a, &b);
    assert_int_equal(align(&a, &b), a.count);
    assert_int_equal(align(&b, &a), a.count);
    drop(&a);
    drop(&b);
}

static void the_same_sequence_is_paired_whole(void **state) {
    (void)state;
    for (uint32_t alphabet = 1; alphabet < 4; ++alphabet) {
        sequence_t a = random_sequence(50000, alphabet);
        assert_int_equal(align(&a, &a), a.count);
        drop(&a);
    }
}

static void nothing_is_paired_with_nothing(void **state) {
    (void)state;
    sequence_t some = random_sequence(5, 3), none = random_sequence(0, 1);
    assert_int_equal(align(&none, &none), 0);
    assert_int_equal(align(&some, &none), 0);
    assert_int_equal(align(&none, &some), 0);
    drop(&some);
    drop(&none);
}

// Beyond the limit of edits: the block, and an edit at each end, so that the ends tell nothing.
static void a_long_block_that_was_inserted_leaves_the_rest_paired(void **state) {
    (void)state;
    static const uint32_t alphabets[] = {30, 200, 1000000};
    for (uint32_t k = 0; k < 3; ++k) {
        sequence_t a = random_sequence(20000, alphabets[k]), b = {.count = 0};
        for (uint32_t i = 0; i < a.count; ++i) {
            for (uint32_t n = 0; i == 9000 && n < 3000; ++n)
                append(&b, below(alphabets[k]));
            append(&b, i == 0 || i + 1 == a.count ? 1u << 30 : a.tokens[i]);
        }
        uint32_t pairs = align(&a, &b);
        if (pairs < 19600) fail_msg("%u kinds of tokens: %u pairs", alphabets[k], pairs);
        drop(&a);
        drop(&b);
    }
}

// Beyond the limit of edits, with a token that stands once between any two stretches: each stretch
// is aligned as well as it can be by itself.
static void stretches_between_tokens_that_stand_once_are_aligned_by_themselves(void **state) {
    (void)state;
    enum { STRETCHES = 300, LENGTH = 16, KINDS = 3 };
    sequence_t a = {.count = 0}, b = {.count = 0};
    uint32_t expected = 0;
    for (uint32_t i = 0; i < STRETCHES; ++i) {
        sequence_t stretches[2];
        for (int side = 0; side < 2; ++side) {
            sequence_t *whole = side ? &b : &a;
            stretches[side] = random_sequence(LENGTH + below(3), KINDS);
            for (uint32_t k = 0; k < stretches[side].count; ++k)
                append(whole, stretches[side].tokens[k]);
            append(whole, 1000 + i);
        }
        expected += 1 + longest_common(&stretches[0], &stretches[1]);
        drop(&stretches[0]);
        drop(&stretches[1]);
    }
    assert_true(a.count + b.count - 2 * expected > KEEL_ALIGN_EDITS);
    // More if a stretch is like the one beside it.
    assert_in_range(align(&a, &b), expected, longest_common(&a, &b));
    drop(&a);
    drop(&b);
}

// Layers are alike token by token: none stands once.
static void layers_that_were_added_among_equal_layers_leave_the_rest_paired(void **state) {
    (void)state;
    enum { OPS = 400, LAYERS = 24, MORE = 6 };
    sequence_t layer = random_sequence(OPS, 60), a = {.count = 0}, b = {.count = 0};
    for (uint32_t i = 0; i < LAYERS * OPS; ++i)
        append(&a, i == 0 || i + 1 == LAYERS * OPS ? 1000 : layer.tokens[i % OPS]);
    for (uint32_t i = 0; i < (LAYERS + MORE) * OPS; ++i)
        append(&b, i == 0 || i + 1 == (LAYERS + MORE) * OPS ? 2000 : layer.tokens[i % OPS]);
    uint32_t pairs = align(&a, &b);
    if (pairs < (LAYERS * OPS) * 95 / 100) fail_msg("%u pairs of %u", pairs, LAYERS * OPS);
    drop(&layer);
    drop(&a);
    drop(&b);
}

// Five blocks in another order: three of them can be paired without crossing, and no more.
static void blocks_that_moved_are_paired_as_far_as_none_crosses_another(void **state) {
    (void)state;
    enum { BLOCK = 3000, BLOCKS = 5 };
    static const uint32_t orders[][BLOCKS] = {
        {1, 3, 0, 2, 4}, {3, 0, 1, 2, 4}, {0, 4, 1, 3, 2}, {4, 2, 0, 1, 3}, {2, 3, 4, 1, 0}};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; ++k) {
        sequence_t a = random_sequence(BLOCK * BLOCKS, 1000000), b = {.count = 0};
        for (uint32_t i = 0; i < a.count; ++i)
            append(&b, a.tokens[orders[k][i / BLOCK] * BLOCK + i % BLOCK]);
        uint32_t pairs = align(&a, &b), blocks = k == 1 ? 4 : 3;
        if (pairs < blocks * (BLOCK - 50) || pairs > blocks * BLOCK + 200)
            fail_msg("order %zu: %u pairs", k, pairs);
        drop(&a);
        drop(&b);
    }
}

// Of this thread's own work: what else the machine does is no matter.
static double work_done(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_of(const sequence_t *a, const sequence_t *b) {
    double begin = work_done();
    align(a, b);
    return work_done() - begin;
}

// What costs most: nothing alike; few kinds of tokens; gaps that each need more than is tried.
static void time_does_not_grow_with_the_square(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    static const uint32_t alphabets[] = {2, 30, 1000, 1u << 30};
    for (uint32_t k = 0; k < 4; ++k) {
        sequence_t a = random_sequence(COUNT, alphabets[k]),
                   b = random_sequence(COUNT, alphabets[k]);
        double seconds = seconds_of(&a, &b);
        print_message("  %u kinds of tokens: %.3f s\n", alphabets[k], seconds);
        assert_true(seconds < 30); // some 100 times what it takes without sanitizers
        drop(&b);
        b = edited(&a, alphabets[k], 3);
        seconds = seconds_of(&a, &b);
        print_message("  %u kinds, edited: %.3f s\n", alphabets[k], seconds);
        assert_true(seconds < 30);
        drop(&a);
        drop(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_sequences_without_relation_are_aligned_as_well_as_can_be),
        cmocka_unit_test(edited_copies_are_aligned_as_well_as_can_be),
        cmocka_unit_test(the_last_number_of_edits_that_is_tried_is_still_right),
        cmocka_unit_test(as_many_insertions_as_are_tried_leave_all_the_rest_paired),
        cmocka_unit_test(the_same_sequence_is_paired_whole),
        cmocka_unit_test(nothing_is_paired_with_nothing),
        cmocka_unit_test(a_long_block_that_was_inserted_leaves_the_rest_paired),
        cmocka_unit_test(blocks_that_moved_are_paired_as_far_as_none_crosses_another),
        cmocka_unit_test(stretches_between_tokens_that_stand_once_are_aligned_by_themselves),
        cmocka_unit_test(layers_that_were_added_among_equal_layers_leave_the_rest_paired),
        cmocka_unit_test(time_does_not_grow_with_the_square),
    };
    return cmocka_run_group_tests_name("explain_align", tests, NULL, NULL);
}
