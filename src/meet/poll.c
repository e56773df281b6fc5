#define _GNU_SOURCE
#include "meet/poll.h"

#include <time.h>

#include "base/clock.h"

static const uint64_t shortest = 500000, longest = 20000000; // nanoseconds

bool poll_again(poll_t *poll) {
    uint64_t now = keel_clock_monotonic();
    if (now >= poll->until) return false;
    poll->pause = poll->pause ? poll->pause * 2 : shortest;
    if (poll->pause > longest) poll->pause = longest;
    if (poll->pause > poll->until - now) poll->pause = poll->until - now;
    const struct timespec time = {.tv_nsec = (long)poll->pause};
    nanosleep(&time, NULL);
    return true;
}
