// pace: how often a running process writes its figures to the journal. Every two seconds in the
// first two minutes, then whenever its age has grown by a 64th, and at least every ten minutes:
// some 500 times on the first day and 4,600 in a month. A killed process loses at most the figures
// of the last 64th of its life.
//
// Threads: the background thread alone.
#ifndef KEEL_ENGINE_PACE_H_
#define KEEL_ENGINE_PACE_H_

#include "engine/core.h"

typedef struct pace_t pace_t;

keel_status_t pace_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void pace_destroy(pace_t *pace);
// True if it is time to write at `now` (keel_clock_monotonic); then counts the figures as written.
// The first call begins the process's age.
bool pace_is_due(pace_t *pace, uint64_t now);

#endif // KEEL_ENGINE_PACE_H_
