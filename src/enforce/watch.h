// watch: a thread that looks at something again and again.
//
// Threads: start and stop by one thread at a time; `look` runs on the watch's own.
#ifndef KEEL_ENFORCE_WATCH_H_
#define KEEL_ENFORCE_WATCH_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct watch_t {
    bool (*look)(void *context); // false: no more
    void *context;
    uint64_t interval; // nanoseconds between looks
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ends_now;
    bool runs, ends; // `ends` under the lock
} watch_t;

// All zero before. Without a thread, nothing is watched.
void watch_start(watch_t *watch, uint64_t interval, bool (*look)(void *context), void *context);
// Waits for a look that is under way. Fine without a start, and in a forked child, which has no
// such thread: do not call it there.
void watch_stop(watch_t *watch);

#endif // KEEL_ENFORCE_WATCH_H_
