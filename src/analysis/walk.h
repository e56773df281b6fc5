// walk: reads a run's journal from its beginning, event by event, and writes what it finds to a
// file of lines.
#ifndef KEEL_ANALYSIS_WALK_H_
#define KEEL_ANALYSIS_WALK_H_

#include <stdatomic.h>

#include "analysis/kept.h"
#include "analysis/live.h"
#include "analysis/process.h"
#include "analysis/sources.h"

enum { WALK_FAILURES = 32 };

// Shared by the walk and its watcher.
typedef struct walk_watch_t {
    _Atomic uint64_t asked;         // number of the current ask, from 1
    uint64_t failed[WALK_FAILURES]; // numbers of those that crashed an earlier walk: skipped
    size_t failed_count;
    char message[256]; // why a walk could not go on; ""
} walk_watch_t;

typedef struct walk_t {
    const char *run_dir, *id;
    char *journal;       // its path
    const char *answers; // path of the file that lines are appended to
    walk_watch_t *watch;
    uint64_t read;     // bytes of the journal
    uint64_t asked;    // asks so far
    uint64_t answered; // the first of those, which already have answers
    process_t **processes;
    size_t process_count;
    kept_t kept;
    live_t *live;                                    // NULL: no figures wanted
    const struct keel_analysis_listener_t *listener; // NULL: none
    void *listener_context;
    sources_t sources; // of this run
    sources_t earlier; // of the run to compare with
} walk_t;

// All arguments must outlive the walk. Destroy it even on failure.
keel_status_t walk_create(const char *run_dir, const char *id, const char *answers,
                          uint64_t answered, walk_watch_t *watch, walk_t *out) KEEL_MUST_CHECK;
void walk_destroy(walk_t *walk);
// Continues to the current end of the journal.
keel_status_t walk_on(walk_t *walk) KEEL_MUST_CHECK;
// Makes the run's programs known to later runs.
keel_status_t walk_keep(walk_t *walk) KEEL_MUST_CHECK;

#endif // KEEL_ANALYSIS_WALK_H_
