// internal: what the files of this room share.
#ifndef KEEL_WHY_INTERNAL_H_
#define KEEL_WHY_INTERNAL_H_

#include "why/why.h"

// patterns.c: fills why->patterns and names each entry's pattern. Entries are complete.
keel_status_t keel_why_find_patterns(keel_why_t *why) KEEL_MUST_CHECK;

// follows.c: makes host reads the cause of what follows from them. The entries are complete;
// patterns are found later.
keel_status_t keel_why_follow_reads(keel_why_t *why) KEEL_MUST_CHECK;
// makers.c: what follows from another program of the run, by their buffers. Call it before patterns
// are found.
keel_status_t keel_why_follow_makers(keel_why_t *why) KEEL_MUST_CHECK;
// True if a program made an argument that the root is about.
bool keel_why_is_made(const keel_why_t *why, const keel_run_entry_t *asked,
                      const keel_run_difference_t *root);
// What follows from an entry belongs to that one's pattern. Call it once these are found.
void keel_why_join_leaders(keel_why_t *why);
// find_eager.c: makes a pattern, and recompiles, of operations by themselves that have new programs
// until the run ends. Call it before the other patterns.
keel_status_t keel_why_find_eager(keel_why_t *why) KEEL_MUST_CHECK;

// sets.c: finds sets, and leaves out their programs. Call it before patterns are found.
keel_status_t keel_why_find_sets(keel_why_t *why) KEEL_MUST_CHECK;

// advice.c: a loop of a library's own that ran outside jit.
bool keel_why_is_librarys_loop(const keel_why_entry_t *entry);

// barriers.c: syncs in mid-step. What is shown is known.
keel_status_t keel_why_find_barriers(keel_why_t *why) KEEL_MUST_CHECK;

// costs.c: questions, ledgers, totals.
keel_status_t keel_why_sum_up(keel_why_t *why) KEEL_MUST_CHECK;

// summary.c: what the summary names. Call it last.
keel_status_t keel_why_summarize(keel_why_t *why) KEEL_MUST_CHECK;

#endif // KEEL_WHY_INTERNAL_H_
