// sizes: the sizes that drifted, and which other numbers they explain.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_SIZES_H_
#define KEEL_EXPLAIN_SIZES_H_

#include "base/base.h"

#include "program/program.h"

// Of each kind.
enum {
    KEEL_SIZES_KEPT = 64,
    KEEL_COUNTS_KEPT = 192,
    KEEL_TOTALS_KEPT = 32,
    KEEL_LISTS_KEPT = 16,
    KEEL_FIXED_KEPT = 64,
};

typedef struct keel_drift_t {
    int64_t before, after;
    uint32_t root; // that it comes from
} keel_drift_t;

typedef struct keel_sizes_t {
    keel_drift_t drifts[KEEL_SIZES_KEPT]; // of single dimensions
    uint32_t count;
    // How many elements such values have along two or more of their dimensions.
    keel_drift_t counts[KEEL_COUNTS_KEPT];
    uint32_t counts_count;
    keel_drift_t totals[KEEL_TOTALS_KEPT]; // how many elements each tree of arguments has
    uint32_t totals_count;
    keel_drift_t lists[KEEL_LISTS_KEPT]; // how many items each list of arguments has
    uint32_t lists_count;
    int64_t fixed[KEEL_FIXED_KEPT]; // dimensions that both programs have
    uint32_t fixed_count;
} keel_sizes_t;

// Notes that a size drifted. Skips equal sizes and known ones.
void keel_sizes_add(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);
// Notes the dimensions of a value that follows from `root`, and the products of several of them: a
// mean divides by one of these.
void keel_sizes_add_dims(keel_sizes_t *sizes, keel_ints_t before, keel_ints_t after, uint32_t root);

// Notes the total number of elements of a tree of arguments: the length of its flattened vector.
void keel_sizes_add_total(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);
// Notes how many items a list of arguments has.
void keel_sizes_add_list(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);
// Notes the dimensions of a value that has the same type in both programs.
void keel_sizes_add_fixed(keel_sizes_t *sizes, keel_ints_t dims);

// True if all changed sizes of a value (`before`, `after`) follow from those of another
// (`other_before`, `other_after`): equal sizes, one more or less, multiples or parts, or a constant
// difference that is not small. *out_leads if the first is at least as plain as the other, so that
// the other could as well follow from it.
bool keel_sizes_move_together(keel_ints_t before, keel_ints_t after, keel_ints_t other_before,
                              keel_ints_t other_after, bool *out_leads);

// The root that explains why `before` became `after`: equal sizes, a multiple, a constant more or
// less (n - 1), a half, a third or a quarter (n // 2), the sum of two, rounded up to a power of two
// or a multiple of one, the number of pairs (n (n - 1) / 2), or a constant difference that is not
// small; UINT32_MAX if none does.
uint32_t keel_sizes_explain(const keel_sizes_t *sizes, int64_t before, int64_t after);
// The same for what is known to come from a value that follows from `root`: one or two more or less
// than one of its sizes, however small.
uint32_t keel_sizes_explain_within(const keel_sizes_t *sizes, uint32_t root, int64_t before,
                                   int64_t after);
// parts.c: true if they are the same part of a whole in both programs: all but a few, or a share of
// up to ten.
bool keel_sizes_is_part(int64_t before, int64_t after, int64_t whole_before, int64_t whole_after);
// For the values of constants: not shares, but c / n with a whole c or 1 / c (a mean), the square
// root of any of these (a scale), and log n. To the precision of a 16-bit float where `is_coarse`.
uint32_t keel_sizes_explain_value(const keel_sizes_t *sizes, double before, double after,
                                  bool is_coarse);
// For the factor of a sum: the number of items of a list, or one more.
uint32_t keel_sizes_explain_divisor(const keel_sizes_t *sizes, double before, double after);
// As keel_sizes_explain_value, for a number that a library computes on a line of its own. Also
// allows the rules for sizes, and c / n and c - n for another size c: the share of a part in the
// whole; and c / n for any whole c, if it has many digits.
uint32_t keel_sizes_explain_derived(const keel_sizes_t *sizes, double before, double after,
                                    bool is_coarse);

#endif // KEEL_EXPLAIN_SIZES_H_
