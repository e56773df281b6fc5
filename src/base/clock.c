#define _GNU_SOURCE
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"

static uint64_t now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t keel_clock_monotonic(void) {
    return now(CLOCK_MONOTONIC);
}

uint64_t keel_clock_thread(void) {
    return now(CLOCK_THREAD_CPUTIME_ID);
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

double keel_process_seconds(void) {
    uint8_t *data = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read("/proc/self/stat", 4096, &data, &size);
    keel_status_ignore(status);
    if (status) return 0;
    // The 22nd field. The second, the program's name, may contain blanks but ends at the last ')'.
    double seconds = 0;
    char *at = size ? memrchr(data, ')', size) : NULL;
    if (at) {
        data[size - 1] = 0;
        for (int field = 2; at && field < 22; ++field)
            at = strchr(at + 1, ' ');
        struct timespec now;
        clock_gettime(CLOCK_BOOTTIME, &now);
        double ticks = at ? (double)strtoull(at + 1, NULL, 10) : 0;
        if (at)
            seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 -
                      ticks / (double)sysconf(_SC_CLK_TCK);
    }
    keel_free(data);
    return seconds;
}
