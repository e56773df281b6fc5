#define _GNU_SOURCE
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/text.h"

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

static bool is_quiet(void) {
    const char *quiet = getenv("KEEL_QUIET");
    return quiet && strcmp(quiet, "1") == 0;
}

// Each line of a message, which may quote a plugin's error. Returns the size that is left.
static size_t mask_lines(char *text) {
    size_t kept = 0;
    for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        size_t size = end ? (size_t)(end - line) : strlen(line);
        memmove(text + kept, line, size);
        kept += keel_utf8_mask(text + kept, size);
        if (end) text[kept++] = '\n';
    }
    return kept;
}

// One write, so that lines of several processes do not mix.
static void say(const char *format, va_list arguments) {
    char line[4096] = "keel: ";
    size_t used = strlen(line);
    if (vsnprintf(line + used, sizeof line - used - 1, format, arguments) < 0) return;
    used += mask_lines(line + used);
    line[used++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, used);
    (void)ignored;
}

void keel_log_once(const char *topic, const char *format, ...) {
    if (is_quiet() || !first_time(topic)) return;
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void keel_log_line(const char *format, ...) {
    if (is_quiet()) return;
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}
