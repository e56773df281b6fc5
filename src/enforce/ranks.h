// ranks: the processes of one job see that all have the same program before any of them compiles
// it. Otherwise they would wait for each other in its collectives forever.
//
// They meet in a folder of the run, so all have to write to the same run:
//
//   ranks/<process>       who this process is (keel_process_name), from its first program on
//   ranks/<process>-<n>   its n-th program: fingerprint, options, digest of the bytes, name
//   ranks/off             a process has stopped comparing, and why
//
// Each waits for the n-th of the others. If one differs, all of them find the same difference and
// stop with the same message.
//
// Threads: any; if a second thread of a process asks, the order of programs is not the same
// everywhere, and from then on no process compares any more.
#ifndef KEEL_ENFORCE_RANKS_H_
#define KEEL_ENFORCE_RANKS_H_

#include "engine/engine.h"

typedef struct ranks_t ranks_t;

// Takes `folder`, that of the run.
keel_status_t ranks_create(char *folder, ranks_t **out) KEEL_MUST_CHECK;

// NULL if all processes ask for this program, or if that cannot be known; then the latter is said
// once. Waits for the others as long as they run, but not longer than ten minutes.
keel_status_t ranks_check(ranks_t *ranks, keel_engine_t *engine,
                          const keel_engine_ask_t *ask) KEEL_MUST_CHECK;

#endif // KEEL_ENFORCE_RANKS_H_
