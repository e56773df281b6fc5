// outcomes: what became of the compiles of a rehearsal, of which the client did not wait for most.
//
// For the files of this room. Threads: no shared state.
#ifndef KEEL_RUN_OUTCOMES_H_
#define KEEL_RUN_OUTCOMES_H_

#include <jansson.h>

#include "base/base.h"
#include "run/took.h"

typedef struct keel_outcome_t {
    double seconds;
    bool failed;
    size_t next; // of the same program and process; SIZE_MAX: none
} keel_outcome_t;

typedef struct keel_outcomes_t {
    keel_outcome_t *list;
    size_t count;
    keel_map_t first_of; // process and program -> the oldest that no compile has taken
    keel_map_t last_of;  // the same -> the newest
} keel_outcomes_t;

void keel_outcomes_initialize(keel_outcomes_t *outcomes);
void keel_outcomes_deinitialize(keel_outcomes_t *outcomes);

// One more event; others than `compiled` are skipped. All of them first: a `compiled` may come
// before its `compile`, which another thread writes.
keel_status_t keel_outcomes_add(keel_outcomes_t *outcomes, const json_t *event) KEEL_MUST_CHECK;

// What a compile of a rehearsal took, and what became of it; of a load, what compiling it had cost
// when it was stored. A client may compile a program again: each compile takes the next outcome.
keel_status_t keel_outcomes_take(keel_outcomes_t *outcomes, const json_t *event,
                                 keel_took_t *out_took, keel_run_fate_t *out_fate) KEEL_MUST_CHECK;

#endif // KEEL_RUN_OUTCOMES_H_
