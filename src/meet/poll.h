// poll: looking again and again for a value, at growing intervals.
#ifndef KEEL_MEET_POLL_H_
#define KEEL_MEET_POLL_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct poll_t {
    uint64_t until; // of keel_clock_monotonic
    uint64_t pause; // nanoseconds; 0 at first
} poll_t;

// Pauses, up to 20 ms. False once the time is up.
bool poll_again(poll_t *poll);

#endif // KEEL_MEET_POLL_H_
