#define _GNU_SOURCE
#include "base/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"

enum { TOPICS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static const char *said[TOPICS];
static size_t said_count;

static bool first_time(const char *topic) {
    pthread_mutex_lock(&lock);
    bool first = said_count < TOPICS;
    for (size_t i = 0; i < said_count && first; ++i)
        first = strcmp(said[i], topic) != 0;
    if (first) said[said_count++] = topic;
    pthread_mutex_unlock(&lock);
    return first;
}

void keel_log_once(const char *topic, const char *format, ...) {
    const char *quiet = getenv("KEEL_QUIET");
    if ((quiet && strcmp(quiet, "1") == 0) || !first_time(topic)) return;
    char line[4096] = "keel: ";
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    if (written < 0) return;
    used = strlen(line);
    line[used++] = '\n';
    // One write, so that lines of several processes do not mix.
    ssize_t ignored = write(STDERR_FILENO, line, used);
    (void)ignored;
}
