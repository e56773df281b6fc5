// pace: how often a running process writes its figures to the journal. Every two seconds in the
// first two minutes, then whenever its age has grown by a 64th, and at least every ten minutes:
// some 500 times on the first day and 4,600 in a month. A killed process loses at most the figures
// of the last 64th of its life.
//
// Threads: the caller's own.
#ifndef KEEL_ENGINE_PACE_H_
#define KEEL_ENGINE_PACE_H_

#include <stdbool.h>
#include <stdint.h>

// All zero: not begun.
typedef struct pace_t {
    uint64_t began, wrote; // keel_clock_monotonic
} pace_t;

// True if it is time to write; then counts the figures as written.
bool pace_is_due(pace_t *pace, uint64_t now);

#endif // KEEL_ENGINE_PACE_H_
