// pair: an operation and its counterpart, for the files that compare them.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_PAIR_H_
#define KEEL_EXPLAIN_PAIR_H_

#include "explain/diff.h"

// One operation of each side, and what became of it.
typedef struct keel_pair_t {
    keel_op_id_t before, after;
    uint32_t inherited; // 1 + the root that an operand's type follows from
    uint32_t root;      // that an attribute or a constant of this operation is; NONE
} keel_pair_t;

// The name of an operation of `after`.
const char *keel_pair_name(keel_diff_t *diff, keel_op_id_t after);
// A difference of that kind at the operation of `after`, with empty values.
keel_difference_t keel_pair_difference(keel_diff_t *diff, const keel_pair_t *pair,
                                       keel_cause_t kind);
// Adds it as a root, or under a root that says the same.
keel_status_t keel_pair_root(keel_diff_t *diff, const keel_difference_t *difference,
                             uint32_t *out) KEEL_MUST_CHECK;
bool keel_pair_same_type(keel_diff_t *diff, keel_value_id_t before, keel_value_id_t after);
// The root that explains a change of dimensions; NONE.
uint32_t keel_pair_explain_dims(keel_diff_t *diff, keel_ints_t x, keel_ints_t y);

// squeezed.c: the root that explains a change of rank, if one side only lacks dimensions of one
// element; NONE.
uint32_t keel_pair_explain_squeezed(const keel_diff_t *diff, keel_ints_t x, keel_ints_t y);

// parts.c: the root that explains a size or a whole number that a function of the client's computes
// from its arguments; NONE.
uint32_t keel_pair_explain_part(keel_diff_t *diff, keel_op_id_t after, int64_t x, int64_t y);
// The same for a number that is a drifted size divided by a fixed one, or the reverse.
uint32_t keel_pair_explain_scale(keel_diff_t *diff, keel_op_id_t after, double x, double y);
// parts.c: notes the sizes of equal pieces whose concatenation drifted.
void keel_diff_learn_pieces(keel_diff_t *diff);

// carried.c: pairs the operands, results and inner arguments of two operations.
keel_status_t keel_pair_values(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                               keel_arena_t *scratch) KEEL_MUST_CHECK;
// Likewise the arguments of two called functions.
keel_status_t keel_pair_arguments(keel_diff_t *diff, keel_function_pair_t functions,
                                  keel_arena_t *scratch) KEEL_MUST_CHECK;
// HLO: both take a part of a tuple, and one tuple has more of them: the place says nothing.
bool keel_pair_is_of_other_list(const keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after);

// The operations of one function that are aligned; by place, a token that equal ones share, one
// that equal ones of one line share, and the place of the counterpart, UINT32_MAX if there is none.
typedef struct keel_paired_t {
    const keel_op_id_t *ops;
    const uint64_t *tokens, *stacks;
    uint32_t *to_other;
    uint32_t count;
} keel_paired_t;

// crossed.c: pairs equal operations by what they take, if order has paired them otherwise.
keel_status_t keel_pair_uncross(const keel_diff_t *diff, const keel_paired_t *a,
                                const keel_paired_t *b, keel_arena_t *scratch) KEEL_MUST_CHECK;

// elsewhere.c: separates paired operations that lead to different places.
keel_status_t keel_pair_part(keel_diff_t *diff, keel_arena_t *scratch) KEEL_MUST_CHECK;

// constants.c: compares two constants that the operations take as that operand. A different shape
// counts only if both are used in the same shape.
keel_status_t keel_pair_constants(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                                  keel_op_id_t before, keel_op_id_t after,
                                  bool same_use) KEEL_MUST_CHECK;
// The root that explains a number that the operation of `after` takes, by the sizes that are known
// so far; NONE.
uint32_t keel_pair_explain_number(keel_diff_t *diff, keel_op_id_t after, double x, double y,
                                  bool is_coarse);
// A scalar argument of one side is a constant of the other (in HLO, 0 and 1 are): `constant` is of
// `after` if `is_after`.
keel_status_t keel_pair_baked(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                              keel_op_id_t constant, bool is_after) KEEL_MUST_CHECK;
// clamped.c: the root that explains the largest index that a gather or a scatter may use: element
// `at` of a constant that an operation takes as that operand; NONE.
uint32_t keel_pair_last_index(keel_diff_t *diff, const keel_pair_t *pair, uint32_t operand,
                              uint32_t at, double before, double after);
// slices.c: the root that explains an end of a slice, or NONE.
uint32_t keel_pair_explain_slice(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name);
// True if the start of a slice changes and its end does not: it takes a different number, the last
// n.
bool keel_pair_sized_by_start(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name,
                              keel_drift_t *out);
// attributes.c: one of the numbers of two attributes, and how many they have. False if they are not
// numbers, or their counts differ.
bool keel_pair_numbers_at(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                          uint64_t at, double *x, double *y, uint64_t *out_count);
// 1 + the root that an operand's sizes follow from; 0 if that is not known.
uint32_t keel_pair_source(const keel_diff_t *diff, const keel_pair_t *pair);
keel_status_t keel_pair_attributes(keel_diff_t *diff, keel_pair_t *pair) KEEL_MUST_CHECK;

// taken.c: a number is given the shape of what it meets on its line, which is not where that comes
// from.
bool keel_pair_takes_shape(keel_diff_t *diff, keel_op_id_t constant);
// The slice, with that difference of its end, gave a constant its shape, and with it a size that
// was found there as a root.
bool keel_pair_gives_shape(keel_diff_t *diff, const keel_pair_t *pair, uint32_t root,
                           const keel_difference_t *bound);

#endif // KEEL_EXPLAIN_PAIR_H_
