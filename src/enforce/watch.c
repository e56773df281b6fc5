#define _GNU_SOURCE
#include "enforce/watch.h"

#include <signal.h>

#include "base/clock.h"
#include "base/wait.h"

static void *run(void *context) {
    watch_t *watch = context;
    bool goes_on = true;
    pthread_mutex_lock(&watch->lock);
    while (goes_on && !watch->ends) {
        uint64_t until = keel_clock_monotonic() + watch->interval;
        while (!watch->ends && keel_wait_until(&watch->ends_now, &watch->lock, until))
            continue;
        if (watch->ends) break;
        pthread_mutex_unlock(&watch->lock);
        goes_on = watch->look(watch->context);
        pthread_mutex_lock(&watch->lock);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

void watch_start(watch_t *watch, uint64_t interval, bool (*look)(void *context), void *context) {
    sigset_t all, before;
    watch->look = look;
    watch->interval = interval;
    watch->context = context;
    pthread_mutex_init(&watch->lock, NULL);
    keel_wait_initialize(&watch->ends_now);
    sigfillset(&all); // the client's threads get the signals
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch->runs = pthread_create(&watch->thread, NULL, run, watch) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void watch_stop(watch_t *watch) {
    if (!watch->runs) return;
    pthread_mutex_lock(&watch->lock);
    watch->ends = true;
    pthread_cond_signal(&watch->ends_now);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    watch->runs = false;
}
