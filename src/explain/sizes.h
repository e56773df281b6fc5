// sizes: which sizes drifted, and which other numbers that explains.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_SIZES_H_
#define KEEL_EXPLAIN_SIZES_H_

#include "base/base.h"

enum { KEEL_SIZES_KEPT = 64 };

typedef struct keel_drift_t {
    int64_t before, after;
    uint32_t root; // that it comes from
} keel_drift_t;

typedef struct keel_sizes_t {
    keel_drift_t drifts[KEEL_SIZES_KEPT];
    uint32_t count;
} keel_sizes_t;

// Notes that a size drifted. Equal sizes and what is known already are passed over.
void keel_sizes_add(keel_sizes_t *sizes, int64_t before, int64_t after, uint32_t root);

// The root that explains why `before` became `after`: the same sizes, a whole multiple of them, or
// as much more or less (n - 1); UINT32_MAX where none does.
uint32_t keel_sizes_explain(const keel_sizes_t *sizes, int64_t before, int64_t after);
// For the values of constants too: also c / n with a whole c or 1 / c (a mean), and the square root
// of any (a scale). To the precision of a 16-bit float where `is_coarse`.
uint32_t keel_sizes_explain_value(const keel_sizes_t *sizes, double before, double after,
                                  bool is_coarse);

#endif // KEEL_EXPLAIN_SIZES_H_
