// start: where the time went until a run had what its first step needs: from the beginning of the
// first process that made a client to the last program of that step.
//
// Ownership: a keel_start_t owns its list; programs are the run's. Threads: no shared state.
#ifndef KEEL_RUN_START_H_
#define KEEL_RUN_START_H_

#include "run/run.h"

// Seconds of what the client waited for. In one thread its parts do not overlap.
typedef struct keel_start_parts_t {
    double traced, lowered; // as the client told; JAX does
    double compiled, loaded;
    double keels; // Keel's own time
} keel_start_parts_t;

// A program that was asked for, all its requests together.
typedef struct keel_start_program_t {
    size_t index; // in run->programs
    uint64_t times;
    keel_start_parts_t parts;
    double seconds; // all parts
} keel_start_program_t;

typedef struct keel_start_t {
    double whole;
    double before; // until the client was there: imports, arguments, what the script did
    double client; // of these: making it; 0: unknown
    keel_start_parts_t parts;
    double rest;                    // behind the client: the script, transfers, executions
    bool is_told;                   // tracing and lowering are known
    keel_start_program_t *programs; // the most expensive first
    size_t program_count;
    uint64_t processes; // that made a client
} keel_start_t;

// KEEL_NOT_FOUND if no process of the run made a client, or none asked for a program.
keel_status_t keel_run_start(const keel_run_t *run, keel_start_t *out) KEEL_MUST_CHECK;
void keel_start_deinitialize(keel_start_t *start);

#endif // KEEL_RUN_START_H_
