// timeline: the compiles and loads of a run in the order of their steps, and how many programs were
// known by then.
//
// Events without a step (no leading family was executed) are at step 1, in order of time.
//
// Ownership: names are the run's. Threads: no shared state.
#ifndef KEEL_PAGE_TIMELINE_H_
#define KEEL_PAGE_TIMELINE_H_

#include "base/base.h"
#include "run/run.h"

// One compile, or one load from disk.
typedef struct keel_timeline_event_t {
    uint64_t step; // the step it delayed, from 1
    double at;     // seconds since the run's first event
    keel_took_t took;
    uint64_t ops; // of the program
    int64_t pid;
    const char *name;  // of the module; "" if unknown
    size_t program;    // equal for programs with the same key or, without one, the same bytes
    size_t entry;      // the entry that explains it, from 0; SIZE_MAX: none
    uint64_t programs; // how many different ones were known after it
    bool is_load;
} keel_timeline_event_t;

typedef struct keel_timeline_t {
    keel_timeline_event_t *events; // by step, then by time
    size_t count;
    uint64_t steps;  // of the process with the most
    double duration; // from the first event to the last
} keel_timeline_t;

keel_status_t keel_timeline_make(const keel_run_t *run, keel_timeline_t *out) KEEL_MUST_CHECK;
void keel_timeline_deinitialize(keel_timeline_t *timeline);

#endif // KEEL_PAGE_TIMELINE_H_
