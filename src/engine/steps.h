// steps: counts steps, and the programs of each, while the run goes on. `keel` counts them again
// from the journal (run/steps.h), where it knows the whole run: here the answer is the best one
// so far.
#ifndef KEEL_ENGINE_STEPS_H_
#define KEEL_ENGINE_STEPS_H_

#include "engine/core.h"
#include "journal/steps.h"

typedef struct steps_t steps_t;

keel_status_t steps_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void steps_destroy(steps_t *steps);
// See fork.c.
void steps_before_fork(keel_engine_t *engine);
void steps_after_fork(keel_engine_t *engine);

// A program that the client asks for.
typedef struct steps_ask_t {
    const keel_digest_t *program, *key;
    keel_bytes_t function; // what it has in common with other programs of its function
    uint64_t ops;
    bool is_eager, is_recorded; // as in keel_journal_function_t
    bool has_gradient;
} steps_ask_t;
// When it asks.
typedef struct steps_when_t {
    uint64_t step;   // the one that waits for the program, from 1; with those of a warm-up
    uint64_t steady; // whole steps before it since the last new program of another step
    bool warms_up;   // the program is new, and belongs to a warm-up
    // Once, a whole step went by without a new program; or, where operations that run by themselves
    // end no steps, as many executions as twice the known programs. Not if the new programs of its
    // step began with a new function: the first optimizer step after some micro-batches.
    bool is_late;
} steps_when_t;
keel_status_t steps_asked(keel_engine_t *engine, const steps_ask_t *ask,
                          steps_when_t *out) KEEL_MUST_CHECK;
// The client gets a program of a warm-up: what ran so far is no step.
void steps_warmed_up(keel_engine_t *engine);
// The function that ends steps so far; none: NULL.
void steps_leading(keel_engine_t *engine, keel_journal_leading_t *out);
// Writes the marked steps since the last time to the journal.
void steps_journal(keel_engine_t *engine);

#endif // KEEL_ENGINE_STEPS_H_
