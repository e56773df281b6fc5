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

uint64_t keel_clock_queued(void) {
    uint8_t text[128];
    size_t size;
    keel_file_facts_t facts;
    // "<nanoseconds on a processor> <nanoseconds in a queue> <times>"
    keel_status_t status =
        keel_file_read_head("/proc/thread-self/schedstat", text, sizeof text - 1, &size, &facts);
    if (status) {
        keel_status_ignore(status);
        return 0;
    }
    text[size] = 0;
    const char *queued = strchr((const char *)text, ' ');
    return queued ? strtoull(queued, NULL, 10) : 0;
}

uint64_t keel_clock_queued_since(uint64_t before) {
    uint64_t queued = keel_clock_queued();
    return queued > before ? queued - before : 0;
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

// When the process began, in seconds since the machine booted; negative if unknown.
static double began_after_boot(void) {
    uint8_t *data = NULL;
    size_t size = 0;
    keel_status_t status = keel_file_read("/proc/self/stat", 4096, &data, &size);
    keel_status_ignore(status);
    if (status) return -1;
    // The 22nd field. The second, the program's name, may contain blanks but ends at the last ')'.
    double began = -1;
    char *at = size ? memrchr(data, ')', size) : NULL;
    if (at) {
        data[size - 1] = 0;
        for (int field = 2; at && field < 22; ++field)
            at = strchr(at + 1, ' ');
        if (at) began = (double)strtoull(at + 1, NULL, 10) / (double)sysconf(_SC_CLK_TCK);
    }
    keel_free(data);
    return began;
}

double keel_process_seconds(void) {
    double began = began_after_boot();
    return began < 0 ? 0 : keel_seconds(now(CLOCK_BOOTTIME)) - began;
}

double keel_process_began(void) {
    double began = began_after_boot();
    if (began < 0) return keel_seconds(keel_clock_wall());
    // The two clocks are read without a file in between, or a busy machine would put the beginning
    // before what another process did. Booted first: a pause between them makes it later.
    double booted = keel_seconds(now(CLOCK_BOOTTIME));
    return keel_seconds(keel_clock_wall()) - (booted - began);
}
