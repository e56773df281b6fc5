// steps: which executions of a function are steps. The engine counts them while the run goes on
// (engine/steps.h), readers once more from the journal (run/steps.h); both ask here.
//
// A server runs each of its programs once before it serves: a warm-up. A further program belongs to
// it if each of its function's programs so far ran at most once. These executions are no steps. A
// training step that ran has trained, and a client that compiles what it recorded has run what it
// needed, so neither warms up.
//
// Threads: no state.
#ifndef KEEL_JOURNAL_STEPS_H_
#define KEEL_JOURNAL_STEPS_H_

#include <stdbool.h>
#include <stdint.h>

// Programs of one function that make a warm-up of a whole run; with two, the second is rather an
// accident. A process that still runs cannot wait for the third.
enum { KEEL_JOURNAL_WARM_LEAST = 3 };

// What is known of a function of the client's.
typedef struct keel_journal_function_t {
    uint64_t programs;   // that it asked for
    uint64_t executions; // of all of them
    bool has_gradient;   // one computes gradients
    bool is_eager;       // an operation that ran by itself
    bool is_recorded;    // the client compiles what it recorded
} keel_journal_function_t;

// It computes gradients, more than once.
static inline bool keel_journal_trains(keel_journal_function_t function) {
    return function.has_gradient && !function.is_eager && function.executions > 1;
}

// Executions of it may be a warm-up.
static inline bool keel_journal_can_warm_up(keel_journal_function_t function) {
    return !function.has_gradient && !function.is_eager && !function.is_recorded;
}

// Its programs ran at most once, on average, because which of them ran is not asked: while this
// lasts, a further one belongs to a warm-up.
static inline bool keel_journal_warms_up(keel_journal_function_t function) {
    return keel_journal_can_warm_up(function) && function.programs &&
           function.executions <= function.programs;
}

#endif // KEEL_JOURNAL_STEPS_H_
