// align: pairs the items of two sequences of tokens, as a diff does.
//
// For the files of this room, and for the views of a report.
#ifndef KEEL_EXPLAIN_ALIGN_H_
#define KEEL_EXPLAIN_ALIGN_H_

#include "base/base.h"

// Pairs items of a[0, a_count) with items of b[0, b_count) of the same token, in order: to_b[i] is
// the counterpart of a[i], to_a[j] that of b[j], UINT32_MAX if there is none. Finds the shortest
// edit if it has at most KEEL_ALIGN_EDITS steps (Myers, "An O(ND) difference algorithm", 1986);
// beyond that, tokens that occur once on each side first split the sequences, and long stretches
// that are mostly alike are then compared piece by piece. Time and memory grow with (a_count +
// b_count), and with the square of that limit.
enum { KEEL_ALIGN_EDITS = 768 };
keel_status_t keel_align(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
                         uint32_t *to_b, uint32_t *to_a) KEEL_MUST_CHECK;
// The same with a limit on the steps: for gaps that were looked at before.
keel_status_t keel_align_within(const uint64_t *a, uint32_t a_count, const uint64_t *b,
                                uint32_t b_count, uint32_t edits, uint32_t *to_b,
                                uint32_t *to_a) KEEL_MUST_CHECK;

// Pairs the items between those that are paired already (to_b, to_a as above), gap by gap.
keel_status_t keel_align_gaps(const uint64_t *a, uint32_t a_count, const uint64_t *b,
                              uint32_t b_count, uint32_t edits, uint32_t *to_b,
                              uint32_t *to_a) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_ALIGN_H_
