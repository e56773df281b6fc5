// internal: what the files of this room share.
#ifndef KEEL_WHY_INTERNAL_H_
#define KEEL_WHY_INTERNAL_H_

#include "why/why.h"

// patterns.c: fills why->patterns and names each entry's pattern. Entries are complete.
keel_status_t keel_why_find_patterns(keel_why_t *why) KEEL_MUST_CHECK;

// follows.c: makes host reads the cause of what follows from them. The entries are complete,
// patterns are not found yet.
keel_status_t keel_why_follow_reads(keel_why_t *why) KEEL_MUST_CHECK;
// find_eager.c: operations that ran by themselves and have new programs for as long as the run goes
// on make a pattern, and are recompiles. Before the other patterns.
keel_status_t keel_why_find_eager(keel_why_t *why) KEEL_MUST_CHECK;

// advice.c: a Python number is no reason for what is asked for again and again. The entries are
// complete.
keel_status_t keel_why_settle_numbers(keel_why_t *why) KEEL_MUST_CHECK;

// costs.c: questions, ledgers, totals.
keel_status_t keel_why_sum_up(keel_why_t *why) KEEL_MUST_CHECK;

// summary.c: what the summary names. Everything else is done.
keel_status_t keel_why_summarize(keel_why_t *why) KEEL_MUST_CHECK;

#endif // KEEL_WHY_INTERNAL_H_
