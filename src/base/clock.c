#define _GNU_SOURCE
#include "base/clock.h"

#include <time.h>

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t keel_clock_monotonic(void) {
    return now(CLOCK_MONOTONIC);
}

uint64_t keel_clock_wall(void) {
    return now(CLOCK_REALTIME);
}

void keel_clock_iso(uint64_t wall, char out[24]) {
    time_t seconds = (time_t)(wall / 1000000000u);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(out, 24, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
