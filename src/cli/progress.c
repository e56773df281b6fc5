#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    const char *what;
    bool running, over;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *show_progress(void *unused) {
    (void)unused;
    const uint64_t second = 1000000000u;
    uint64_t began = keel_clock_monotonic(), next = began + 2 * second;
    bool shown = false;
    pthread_mutex_lock(&progress.lock);
    while (!progress.over) {
        if (keel_wait_until(&progress.ended, &progress.lock, next)) continue;
        fprintf(stderr, "\rkeel: %s, %" PRIu64 " s", progress.what, (next - began) / second);
        shown = true;
        next += second;
    }
    pthread_mutex_unlock(&progress.lock);
    if (shown) fputs("\r\x1b[K", stderr);
    return NULL;
}

void cli_progress_begin(const char *what) {
    if (!isatty(STDERR_FILENO)) return;
    progress.what = what;
    progress.over = false;
    keel_wait_initialize(&progress.ended);
    progress.running = pthread_create(&progress.thread, NULL, show_progress, NULL) == 0;
}

void cli_progress_end(void) {
    if (!progress.running) return;
    pthread_mutex_lock(&progress.lock);
    progress.over = true;
    pthread_cond_signal(&progress.ended);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    pthread_cond_destroy(&progress.ended);
    progress.running = false;
}
