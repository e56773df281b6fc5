// counters: what is counted while the client executes: executions of each program, over all its
// executables; the steps that the user marks, and the programs of each. None of it takes a lock.
#ifndef KEEL_ENGINE_COUNTERS_H_
#define KEEL_ENGINE_COUNTERS_H_

#include "engine/core.h"

typedef struct counters_t counters_t;
// One program's, by the digest of its bytes. Lives as long as the counters.
typedef struct counter_t counter_t;

keel_status_t counters_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void counters_destroy(counters_t *counters);

// ---- programs ----------------------------------------------------------------------------------

// The program's counter, made if there is none.
keel_status_t counters_of(counters_t *counters, const keel_digest_t *program,
                          counter_t **out) KEEL_MUST_CHECK;
// NULL if the program has no executable.
counter_t *counters_find(counters_t *counters, const keel_digest_t *program);
// The program's number, which the line that the caller writes next gives it: later counts name the
// program by that. 0 if there is no memory.
uint64_t counters_name(counters_t *counters, const keel_digest_t *program);
const keel_digest_t *counter_program(const counter_t *counter);

// What pieces.c knows about the program; NULL: nothing. Set once; read without a lock.
struct asked_t *counter_asked(const counter_t *counter);
void counter_set_asked(counter_t *counter, struct asked_t *asked);

// ---- executions --------------------------------------------------------------------------------

// The client executes the program; NULL: an executable that is not in a table. Returns how often it
// did so before. Takes no lock: a few relaxed operations.
uint64_t counters_executed(counters_t *counters, counter_t *counter);
// So far.
uint64_t counter_executions(const counter_t *counter);
// From now on the program's executions are counted in `sum` as well, a function's, which lives as
// long as the counters; those so far are added. Once for each program.
void counter_join(counter_t *counter, _Atomic uint64_t *sum);
// From now on, what made the buffers that the program takes is looked at (makers.h).
void counter_follow(counter_t *counter);
bool counter_is_followed(const counter_t *counter);
// So far, of all programs and of executables that are not in a table. Walks over all programs.
uint64_t counters_total(counters_t *counters);

// Executions since the last call, of the programs that ran; the caller frees out->data with
// keel_free.
keel_status_t counters_collect(counters_t *counters, keel_journal_counts_t *out) KEEL_MUST_CHECK;
// The same while a client waits. If more programs ran than a few for each such call so far, which
// would make a call as slow as there are programs, `out` is empty, they stay for later, and
// *out_is_all is false.
keel_status_t counters_collect_few(counters_t *counters, keel_journal_counts_t *out,
                                   bool *out_is_all) KEEL_MUST_CHECK;

// ---- steps -------------------------------------------------------------------------------------

typedef struct counters_steps_t {
    uint64_t ended;            // as the user marks them
    uint64_t in_step, in_last; // distinct programs executed in the current step, in the last one
} counters_steps_t;

void counters_step_ended(counters_t *counters);
counters_steps_t counters_steps(const counters_t *counters);
// Steps that ended since the last call.
uint64_t counters_collect_steps(counters_t *counters);

#endif // KEEL_ENGINE_COUNTERS_H_
