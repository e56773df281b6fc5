// sizes: which sizes drifted, and which other numbers that explains.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_SIZES_H_
#define KEEL_EXPLAIN_SIZES_H_

#include "base/base.h"

#include "program/program.h"

// Of each of the two kinds.
enum { KEEL_SIZES_KEPT = 64, KEEL_COUNTS_KEPT = 192 };

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
} keel_sizes_t;

// Notes that a size drifted. Equal sizes and what is known already are passed over.
void keel_sizes_add(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);
// Notes the dimensions of a value that follows from `root`, and the products of several of them: a
// mean divides by one of these.
void keel_sizes_add_dims(keel_sizes_t *sizes, keel_ints_t before, keel_ints_t after, uint32_t root);

// The root that explains why `before` became `after`: the same sizes, a whole multiple of them, as
// much more or less (n - 1), a half, a third or a quarter (n // 2), or the sum of two; UINT32_MAX
// where none does.
uint32_t keel_sizes_explain(const keel_sizes_t *sizes, int64_t before, int64_t after);
// For the values of constants: no shares, but c / n with a whole c or 1 / c (a mean), the square
// root of any (a scale), and log n. To the precision of a 16-bit float where `is_coarse`.
uint32_t keel_sizes_explain_value(const keel_sizes_t *sizes, double before, double after,
                                  bool is_coarse);

#endif // KEEL_EXPLAIN_SIZES_H_
