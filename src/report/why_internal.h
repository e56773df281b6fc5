// why_internal: what the files of why share.
#ifndef KEEL_REPORT_WHY_INTERNAL_H_
#define KEEL_REPORT_WHY_INTERNAL_H_

#include "report/why.h"

// why_patterns.c: fills out->patterns and names each entry's pattern. Entries are complete.
keel_status_t keel_why_find_patterns(keel_why_t *why) KEEL_MUST_CHECK;
// The pattern that the entry is part of; SIZE_MAX: none.
size_t keel_why_pattern_of(const keel_why_t *why, const keel_why_entry_t *entry);

// why_costs.c: questions, ledgers, totals.
keel_status_t keel_why_sum_up(keel_why_t *why) KEEL_MUST_CHECK;

#endif // KEEL_REPORT_WHY_INTERNAL_H_
