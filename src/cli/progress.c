#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    const char *what;
    bool running, over;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static void *show_progress(void *unused) {
    (void)unused;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    time_t began = until.tv_sec;
    until.tv_sec += 2;
    bool shown = false;
    pthread_mutex_lock(&progress.lock);
    while (!progress.over) {
        if (pthread_cond_timedwait(&progress.ended, &progress.lock, &until) == 0) continue;
        fprintf(stderr, "\rkeel: %s, %lld s", progress.what, (long long)(until.tv_sec - began));
        shown = true;
        ++until.tv_sec;
    }
    pthread_mutex_unlock(&progress.lock);
    if (shown) fputs("\r\x1b[K", stderr);
    return NULL;
}

void cli_progress_begin(const char *what) {
    if (!isatty(STDERR_FILENO)) return;
    progress.what = what;
    progress.over = false;
    progress.running = pthread_create(&progress.thread, NULL, show_progress, NULL) == 0;
}

void cli_progress_end(void) {
    if (!progress.running) return;
    pthread_mutex_lock(&progress.lock);
    progress.over = true;
    pthread_cond_signal(&progress.ended);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    progress.running = false;
}
