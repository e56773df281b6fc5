// One line on a terminal while a compile takes long. It is below the cursor's line, and the cursor
// stays in place, so the script's own output, half a line or a progress bar, is neither overwritten
// nor appended to.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/prefetch.h"
#include "engine/progress.h"

enum { LINE = 512 };
static const uint64_t patience = 2000000000, period = 1000000000; // nanoseconds

// Going down and up again makes room for a line at the bottom of the screen; then save, down,
// write, restore.
#define BELOW                                                                                      \
    "\x1b[J\x1b"                                                                                   \
    "D\x1b[A\x1b"                                                                                  \
    "7\x1b[B\r"
#define BACK                                                                                       \
    "\x1b"                                                                                         \
    "8"
#define CLEAR "\x1b[J"

struct progress_t {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    compiling_t *newest;
    bool started; // the thread that shows them
    bool idle;    // waits for a compile, not for a time
    bool shown;
};

keel_status_t progress_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(progress_t), &memory));
    progress_t *progress = memory;
    keel_wait_initialize(&progress->changed);
    pthread_mutex_init(&progress->lock, NULL);
    engine->progress = progress;
    return NULL;
}

void progress_destroy(progress_t *progress) {
    if (!progress) return;
    pthread_mutex_destroy(&progress->lock);
    pthread_cond_destroy(&progress->changed);
    keel_free(progress);
}

// Whether stderr is a terminal that can place a cursor, and this process may write to it.
static bool has_terminal(void) {
    const char *quiet = getenv("KEEL_QUIET"), *kind = getenv("TERM");
    if (quiet && strcmp(quiet, "1") == 0) return false;
    if (!kind || !*kind || strcmp(kind, "dumb") == 0) return false;
    return isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void write_terminal(const char *text, size_t size) {
    ssize_t ignored = write(STDERR_FILENO, text, size);
    (void)ignored;
}

// ---- the line ----------------------------------------------------------------------------------

// A snapshot for display, so that the plan is asked without holding a lock.
typedef struct moment_t {
    char name[128];
    uint64_t ops, bytes, started, age;
    unsigned others;
} moment_t;

static const compiling_t *oldest_of(const progress_t *progress) {
    const compiling_t *oldest = progress->newest;
    while (oldest && oldest->next)
        oldest = oldest->next;
    return oldest;
}

static void take_moment(const progress_t *progress, moment_t *out) {
    const compiling_t *oldest = oldest_of(progress);
    *out = (moment_t){.started = oldest->started};
    for (const compiling_t *other = progress->newest; other != oldest; other = other->next)
        ++out->others;
    // A client's text must not act on the terminal.
    for (size_t i = 0; i + 1 < sizeof out->name && oldest->name[i]; ++i)
        out->name[i] = oldest->name[i] >= ' ' && oldest->name[i] <= '~' ? oldest->name[i] : '?';
    out->ops = oldest->ops;
    out->bytes = oldest->bytes;
    out->age = keel_clock_monotonic() - oldest->started;
}

// "12,345".
static void format_count(uint64_t count, char out[32]) {
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0; i < size; ++i) {
        if (i && (size - i) % 3 == 0) *out++ = ',';
        *out++ = digits[i];
    }
    *out = 0;
}

static void format_age(uint64_t age, char out[32]) {
    uint64_t seconds = age / 1000000000u;
    if (seconds < 60)
        snprintf(out, 32, "%" PRIu64 " s", seconds);
    else
        snprintf(out, 32, "%" PRIu64 " min %" PRIu64 " s", seconds / 60, seconds % 60);
}

// What a narrow terminal leaves out, in this order.
typedef enum shortness_t { WHOLE, NO_SIZE, NO_LAST, NO_OPERATIONS, SHORTEST } shortness_t;

// " (12,345 operations, 3.2 MiB)".
static void format_extent(const moment_t *moment, shortness_t shortness, char out[96]) {
    char count[32], size[16];
    bool has_ops = moment->ops && shortness < NO_OPERATIONS, has_size = shortness < NO_SIZE;
    *out = 0;
    if (!has_ops && !has_size) return;
    format_count(moment->ops, count);
    keel_format_size(moment->bytes, size);
    snprintf(out, 96, " (%s%s%s%s)", has_ops ? count : "",
             !has_ops           ? ""
             : moment->ops == 1 ? " operation"
                                : " operations",
             has_ops && has_size ? ", " : "", has_size ? size : "");
}

static size_t format_line(const moment_t *moment, double last, shortness_t shortness,
                          char out[LINE]) {
    char extent[96], others[32] = "", age[32], took[24], tail[64] = "";
    format_extent(moment, shortness, extent);
    format_age(moment->age, age);
    if (moment->others) snprintf(others, sizeof others, " and %u more", moment->others);
    keel_format_seconds(last, took);
    if (last > 0 && shortness < NO_LAST)
        snprintf(tail, sizeof tail, "; last time it took %s", took);
    int written = snprintf(out, LINE, "keel: compiling %s%s%s %s%s",
                           *moment->name ? moment->name : "a program", extent, others, age, tail);
    return written < 0 ? 0 : (size_t)written < LINE ? (size_t)written : LINE - 1;
}

// A line that wraps could not be erased.
static size_t columns(void) {
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) < 0 || !window.ws_col) return 80;
    return window.ws_col;
}

static void show(const moment_t *moment, double last) {
    char line[LINE], text[LINE + 64];
    size_t size = 0, most = columns();
    for (shortness_t shortness = WHOLE; shortness < SHORTEST; ++shortness) {
        size = format_line(moment, last, shortness, line);
        if (size < most) break;
    }
    if (size >= most) size = most - 1;
    int written = snprintf(text, sizeof text, BELOW "%.*s" BACK, (int)size, line);
    if (written > 0) write_terminal(text, (size_t)written);
}

// ---- the thread --------------------------------------------------------------------------------

// Asks the plan without holding a lock: the plan has its own.
static void show_oldest(keel_engine_t *engine) {
    progress_t *progress = engine->progress;
    moment_t moment;
    take_moment(progress, &moment);
    pthread_mutex_unlock(&progress->lock);
    double last = prefetch_last_seconds(engine, moment.name, moment.ops);
    pthread_mutex_lock(&progress->lock);
    const compiling_t *oldest = oldest_of(progress);
    if (!oldest || oldest->started != moment.started || !has_terminal()) return;
    show(&moment, last);
    progress->shown = true;
}

static void *tell_progress(void *context) {
    keel_engine_t *engine = context;
    progress_t *progress = engine->progress;
    pthread_mutex_lock(&progress->lock);
    for (uint64_t next = 0;;) {
        const compiling_t *oldest = oldest_of(progress);
        uint64_t now = keel_clock_monotonic();
        if (!oldest) {
            progress->idle = true;
            pthread_cond_wait(&progress->changed, &progress->lock);
            progress->idle = false;
        } else if (now < oldest->started + patience || now < next) {
            uint64_t due = oldest->started + patience;
            keel_wait_until(&progress->changed, &progress->lock, due > next ? due : next);
        } else {
            next = now + period;
            show_oldest(engine);
        }
    }
    return NULL;
}

void progress_begin(keel_engine_t *engine, compiling_t *compiling) {
    progress_t *progress = engine->progress;
    pthread_mutex_lock(&progress->lock);
    if (!progress->started && has_terminal())
        progress->started = engine_start_thread(tell_progress, engine);
    compiling->next = progress->newest;
    progress->newest = compiling;
    if (progress->idle) pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->lock);
}

// The line is gone before the client continues.
void progress_end(keel_engine_t *engine, compiling_t *compiling) {
    progress_t *progress = engine->progress;
    pthread_mutex_lock(&progress->lock);
    compiling_t **link = &progress->newest;
    while (*link != compiling)
        link = &(*link)->next;
    *link = compiling->next;
    if (progress->shown) write_terminal(CLEAR, strlen(CLEAR));
    progress->shown = false;
    pthread_mutex_unlock(&progress->lock);
}
