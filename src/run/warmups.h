// warmups: when each process warmed up (journal/steps.h). One pass over the events: the
// caller tells what was asked for and what ran. Only a whole run shows that a warm-up was one: what
// it asked for is used later, or the user's code says that every program has been seen. Sizes that
// never end look like one until then.
//
// For steps.c.
#ifndef KEEL_RUN_WARMUPS_H_
#define KEEL_RUN_WARMUPS_H_

#include "base/base.h"
#include "journal/steps.h"

typedef struct keel_warmups_t {
    keel_map_t requests;    // by process: how many so far
    keel_map_t programs;    // by process and program: which of its function's, from 1
    keel_map_t by_function; // by process and family -> functions
    struct keel_warmup_t {
        int64_t pid;
        keel_journal_function_t figures;
        uint64_t first; // the process's request, from 1, with which its first program came
        // When the last program of a warm-up came: likewise, and the programs by then; 0: none did.
        uint64_t request, programs;
        bool is_used; // an earlier one ran since, or the process was frozen
    } * functions;
    size_t count, room;
    // Once they are settled: from which request of a process to which, apart and in order.
    struct keel_warmups_span_t {
        int64_t pid;
        uint64_t first, last;
    } * spans;
    size_t span_count;
} keel_warmups_t;

void keel_warmups_initialize(keel_warmups_t *warmups);
void keel_warmups_deinitialize(keel_warmups_t *warmups);

// A compile or load of a program, after what ran before it. `kind`: of its function; the figures in
// it do not count. `is_partial`: more may have run.
keel_status_t keel_warmups_asked(keel_warmups_t *warmups, int64_t pid, size_t family,
                                 size_t program, keel_journal_function_t kind,
                                 bool is_partial) KEEL_MUST_CHECK;
keel_status_t keel_warmups_ran(keel_warmups_t *warmups, int64_t pid, size_t family, size_t program,
                               uint64_t times) KEEL_MUST_CHECK;

// The process is frozen: all that it needs has been asked for.
void keel_warmups_frozen(keel_warmups_t *warmups, int64_t pid);

// After the last event.
keel_status_t keel_warmups_settle(keel_warmups_t *warmups) KEEL_MUST_CHECK;
// Whether the process was warming up when it had made so many requests.
bool keel_warmups_have(const keel_warmups_t *warmups, int64_t pid, uint64_t requests);

#endif // KEEL_RUN_WARMUPS_H_
