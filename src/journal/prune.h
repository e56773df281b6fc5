// prune: removes old runs, and the programs and texts that no remaining run names.
//
// A run is as old as its journal's last line. A live run is never removed: one of its processes has
// written no `end` and still runs, or, if that is unknown (it belongs to another machine or
// container), its journal was written to within a week.
//
// A program stays if any remaining journal names its digest. While any run is live, what was kept
// or asked for within a day stays too, because that run may not have named it yet.
//
// Only files that Keel writes are removed. A folder that contains anything else stays, and so does
// anything reached through a link.
//
// Threads: one at a time. Other processes may prune, read and write meanwhile.
#ifndef KEEL_JOURNAL_PRUNE_H_
#define KEEL_JOURNAL_PRUNE_H_

#include "base/base.h"

typedef enum keel_prune_fate {
    KEEL_PRUNE_REMOVED, // or would be
    KEEL_PRUNE_GOES_ON, // and stays although it is old
    KEEL_PRUNE_FAILED,  // `why` has the reason
} keel_prune_fate_t;

typedef struct keel_prune_t {
    uint64_t older; // seconds since the run wrote last
    uint64_t keep;  // this many of the newest stay, whatever their age
    bool dry_run;   // removes nothing
    bool thorough;  // looks for unnamed programs even if no run is removed
    // May be NULL. `run` is an id; for a file that belongs to no run, its path.
    void (*tell)(void *context, keel_prune_fate_t fate, const char *run, uint64_t bytes,
                 const char *why);
    void *context;
} keel_prune_t;

typedef struct keel_pruned_t {
    uint64_t runs, run_bytes;
    uint64_t files, file_bytes; // programs, texts and histories
    uint64_t failures;
} keel_pruned_t;

// Fails if the folder cannot be listed, or there is no memory. What cannot be removed is reported
// and counted, and the rest continues.
keel_status_t keel_journal_prune(const char *run_dir, const keel_prune_t *how,
                                 keel_pruned_t *out) KEEL_MUST_CHECK;

// What a run's own files take on the disk, without the programs and texts that runs share.
uint64_t keel_journal_run_bytes(const char *run_dir, const char *id);

#endif // KEEL_JOURNAL_PRUNE_H_
