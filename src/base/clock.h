#ifndef KEEL_BASE_CLOCK_H_
#define KEEL_BASE_CLOCK_H_

#include <stdint.h>

// Nanoseconds that only grow; their origin is arbitrary.
uint64_t keel_clock_monotonic(void);
// CPU time of this thread in nanoseconds, so time spent waiting for a busy machine does not count.
uint64_t keel_clock_thread(void);
// Nanoseconds in which this thread could have run, but others had the processors; 0 if that is
// unknown. Source: Documentation/scheduler/sched-stats.rst of Linux.
uint64_t keel_clock_queued(void);
// The same since it was `before`.
uint64_t keel_clock_queued_since(uint64_t before);
// Nanoseconds since 1970 (UTC).
uint64_t keel_clock_wall(void);
// "2026-11-21T13:45:02Z" for nanoseconds since 1970.
void keel_clock_iso(uint64_t wall, char out[24]);

// Seconds since the kernel started this process; 0 if unknown.
double keel_process_seconds(void);
// When this process began, by the wall clock, in seconds since 1970. Now, if that is unknown.
double keel_process_began(void);

static inline double keel_seconds(uint64_t nanoseconds) {
    return (double)nanoseconds * 1e-9;
}

#endif // KEEL_BASE_CLOCK_H_
