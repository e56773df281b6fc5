// sizes: which sizes drifted, and which other numbers that explains.
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
    // How many elements such values hold along two and more of their dimensions.
    keel_drift_t counts[KEEL_COUNTS_KEPT];
    uint32_t counts_count;
    keel_drift_t totals[KEEL_TOTALS_KEPT]; // how many elements trees of arguments have
    uint32_t totals_count;
    keel_drift_t lists[KEEL_LISTS_KEPT]; // how many items lists of arguments have
    uint32_t lists_count;
    int64_t fixed[KEEL_FIXED_KEPT]; // dimensions that both programs have
    uint32_t fixed_count;
} keel_sizes_t;

// Notes that a size drifted. Equal sizes and what is known already are passed over.
void keel_sizes_add(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);
// Notes the dimensions of a value that follows from `root`, and the products of several of them: a
// mean divides by one of these.
void keel_sizes_add_dims(keel_sizes_t *sizes, keel_ints_t before, keel_ints_t after, uint32_t root);

// Notes how many elements a tree of arguments has in all: ravelled, it is a vector of these.
void keel_sizes_add_total(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);
// Notes how many items a list of arguments has.
void keel_sizes_add_list(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);
// Notes the dimensions of a value that is of one type in both programs.
void keel_sizes_add_fixed(keel_sizes_t *sizes, keel_ints_t dims);

// True if all sizes of a value that moved (`before`, `after`) tell nothing that those of another
// (`other_before`, `other_after`) do not: the same sizes, one more or less, whole multiples of them
// or parts, or as much more each time where that is no small step. *out_leads where the first is as
// plain as the other or plainer: it could as well be what the other follows from.
bool keel_sizes_move_together(keel_ints_t before, keel_ints_t after, keel_ints_t other_before,
                              keel_ints_t other_after, bool *out_leads);

// The root that explains why `before` became `after`: the same sizes, a whole multiple of them, as
// much more or less (n - 1), a half, a third or a quarter (n // 2), the sum of two, rounded up to
// a power of two or a multiple of one, as many as there are pairs of them (n (n - 1) / 2), or as
// much more each time where that is no small step; UINT32_MAX where none does.
uint32_t keel_sizes_explain(const keel_sizes_t *sizes, int64_t before, int64_t after);
// The same for what is known to be taken from a value that follows from `root`: one or two more or
// less than one of its sizes, however small.
uint32_t keel_sizes_explain_within(const keel_sizes_t *sizes, uint32_t root, int64_t before,
                                   int64_t after);
// parts.c: true if they are the same part of a whole in both programs: all but so many, or a
// share of up to ten.
bool keel_sizes_is_part(int64_t before, int64_t after, int64_t whole_before, int64_t whole_after);
// For the values of constants: no shares, but c / n with a whole c or 1 / c (a mean), the square
// root of any (a scale), and log n. To the precision of a 16-bit float where `is_coarse`.
uint32_t keel_sizes_explain_value(const keel_sizes_t *sizes, double before, double after,
                                  bool is_coarse);
// For what a sum is divided by, or multiplied with: the items of a list, or these and one more.
uint32_t keel_sizes_explain_divisor(const keel_sizes_t *sizes, double before, double after);
// As keel_sizes_explain_value, for a number that a library works out, on a line of its own:
// besides, what sizes are explained by, and c / n and c - n, where c is another size: what a part
// is to the whole.
uint32_t keel_sizes_explain_derived(const keel_sizes_t *sizes, double before, double after,
                                    bool is_coarse);

#endif // KEEL_EXPLAIN_SIZES_H_
