#define _GNU_SOURCE
#include "base/wait.h"

#include <errno.h>
#include <time.h>

// On Linux none of these calls can fail.
void keel_wait_initialize(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool keel_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t time) {
    struct timespec until = {.tv_sec = (time_t)(time / 1000000000u),
                             .tv_nsec = (long)(time % 1000000000u)};
    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}
