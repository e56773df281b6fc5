// Things that may never answer: a thread that looks at a disk or server that is gone hangs, and no
// signal handler can free it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *command;
    char path[1024]; // being looked at; "": nothing
    unsigned seconds;
    unsigned long turn; // counts what is looked at
    bool running, waits, over;
} limit = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void end(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\x1b[K", stderr);
    cli_say("%s: %s did not answer within %u s; check its disk or server, or wait longer with "
            "--timeout",
            limit.command, limit.path, limit.seconds);
    // Exit handlers might wait for the same thing.
    _exit(CLI_FAILURE);
}

static void *watch(void *unused) {
    (void)unused;
    pthread_mutex_lock(&limit.lock);
    limit.waits = true;
    pthread_cond_signal(&limit.changed);
    while (!limit.over) {
        unsigned long turn = limit.turn;
        uint64_t until = keel_clock_monotonic() + limit.seconds * 1000000000ull;
        while (turn == limit.turn && keel_wait_until(&limit.changed, &limit.lock, until))
            continue;
        if (turn == limit.turn && limit.path[0]) end();
    }
    pthread_mutex_unlock(&limit.lock);
    return NULL;
}

static void change(const char *path, bool over) {
    if (!limit.running) return;
    pthread_mutex_lock(&limit.lock);
    snprintf(limit.path, sizeof limit.path, "%s", path ? path : "");
    limit.over = over;
    ++limit.turn;
    pthread_cond_signal(&limit.changed);
    pthread_mutex_unlock(&limit.lock);
}

void cli_limit_begin(const char *command, unsigned seconds) {
    limit.command = command;
    limit.seconds = seconds;
    limit.path[0] = 0;
    limit.over = false;
    keel_wait_initialize(&limit.changed);
    // Commands fork, and a thread that has not started yet may hold a lock that the child needs.
    pthread_mutex_lock(&limit.lock);
    limit.waits = false;
    limit.running = pthread_create(&limit.thread, NULL, watch, NULL) == 0;
    while (limit.running && !limit.waits)
        pthread_cond_wait(&limit.changed, &limit.lock);
    pthread_mutex_unlock(&limit.lock);
}

void cli_limit_at(const char *path) {
    change(path, false);
}

void cli_limit_end(void) {
    if (!limit.running) return;
    change(NULL, true);
    pthread_join(limit.thread, NULL);
    limit.running = false;
}

bool cli_read_seconds(const cli_call_t *call, const char *text, unsigned *out, int *code) {
    enum { MOST = 86400 };
    char *rest;
    long seconds = strtol(text, &rest, 10);
    *out = (unsigned)seconds;
    if (rest != text && !*rest && seconds >= 1 && seconds <= MOST) return true;
    *code = cli_misuse(call, "--timeout %s: use whole seconds from 1 to %d", text, MOST);
    return false;
}
