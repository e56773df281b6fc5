#define _GNU_SOURCE // memmem
#include "analysis/analysis.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis/answers.h"
#include "analysis/earlier.h"
#include "analysis/guard.h"
#include "journal/journal.h"

// ---- is there anything to do -------------------------------------------------------------------

static keel_status_t journal_size(const char *run_dir, const char *id, uint64_t *out) {
    char *path;
    keel_file_facts_t facts;
    *out = 0;
    KEEL_TRY(keel_journal_path(run_dir, id, &path));
    keel_status_t status = keel_file_facts(path, &facts);
    keel_free(path);
    if (!status) *out = facts.size;
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

// A journal written by an older Keel contains its explanations.
static keel_status_t has_asks(const char *run_dir, const char *id, bool *out) {
    static const char ask[] = "{\"event\":\"ask\"";
    enum { MOST = 1 << 24 };
    char *path;
    *out = false;
    KEEL_TRY(keel_journal_path(run_dir, id, &path));
    keel_status_t status = NULL;
    for (uint64_t at = 0; !status && !*out;) {
        uint8_t *data;
        size_t size;
        status = keel_file_read_from(path, at, MOST, &data, &size);
        if (status) break;
        *out = memmem(data, size, ask, sizeof ask - 1) != NULL;
        keel_free(data);
        if (size < MOST) break;
        at += size - sizeof ask; // one may span two pieces
    }
    keel_free(path);
    return status;
}

// ---- the work ----------------------------------------------------------------------------------

typedef struct work_t {
    const char *run_dir, *id;
    const char *path; // of the file for the answers
    uint64_t answered;
    walk_watch_t *watch;
} work_t;

static keel_status_t finish_walk(walk_t *walk) {
    KEEL_TRY(answers_end(walk->run_dir, walk->id, walk->answers, walk->read, walk->asked));
    keel_status_t status = walk_keep(walk);
    if (status)
        keel_log_once("history", "%s; later runs are not compared with this one",
                      keel_status_message(status));
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t answer_run(const work_t *work) {
    walk_t walk;
    keel_status_t status =
        walk_create(work->run_dir, work->id, work->path, work->answered, work->watch, &walk);
    if (!status) status = walk_on(&walk);
    if (!status) status = finish_walk(&walk);
    walk_destroy(&walk);
    return status;
}

static bool give_up_on(walk_watch_t *watch) {
    uint64_t asked = atomic_exchange(&watch->asked, 0);
    if (!asked || watch->failed_count == WALK_FAILURES) return false;
    watch->failed[watch->failed_count++] = asked;
    return true;
}

// The next child skips each program that ended a child.
static keel_status_t work_guarded(work_t *task, const answers_t *known) {
    for (;;) {
        pid_t child;
        *task->watch->message = 0;
        KEEL_TRY(guard_fork(&child));
        if (!child) guard_leave(answer_run(task), task->watch);
        guard_end_t end = guard_wait(child, task->watch);
        if (end == GUARD_DONE) return NULL;
        if (end == GUARD_FAILED) return keel_status_make(KEEL_IO, "%s", task->watch->message);
        if (!give_up_on(task->watch))
            return keel_status_make(
                KEEL_INTERNAL, "run %s: the process that explains it keeps crashing", task->id);
        // Starts again, so that the same journal gives the same file.
        char *path;
        keel_status_t status = answers_begin(task->run_dir, task->id, known, &path);
        keel_free(status ? NULL : path);
        KEEL_TRY(status);
    }
}

static keel_status_t cover(const char *run_dir, const char *id, const answers_t *known,
                           bool guarded) {
    walk_watch_t own = {.failed_count = 0};
    work_t task = {.run_dir = run_dir, .id = id, .answered = known->asked, .watch = &own};
    char *path;
    if (guarded && !(task.watch = guard_watch_create()))
        return keel_status_make(KEEL_NO_MEMORY, "no memory to share with a child");
    keel_status_t status = answers_begin(run_dir, id, known, &path);
    if (!status) {
        task.path = path;
        status = guarded ? work_guarded(&task, known) : answer_run(&task);
        if (status) keel_status_ignore(keel_file_remove(path));
        keel_free(path);
    }
    if (guarded) guard_watch_destroy(task.watch);
    return status;
}

// ---- one run, and those before it --------------------------------------------------------------

static keel_status_t ensure(const char *run_dir, const char *id, bool guarded);

typedef struct before_t {
    const char *run_dir;
    bool guarded;
} before_t;

static keel_status_t cover_alone(const char *run_dir, const char *id, bool guarded) {
    answers_t known;
    uint64_t size;
    bool asks = true;
    KEEL_TRY(journal_size(run_dir, id, &size));
    KEEL_TRY(answers_read(run_dir, id, &known));
    keel_status_t status = NULL;
    if (known.bytes > size) answers_free(&known); // from another journal
    if (!known.bytes) status = has_asks(run_dir, id, &asks);
    if (!status && asks && known.bytes < size) status = cover(run_dir, id, &known, guarded);
    answers_free(&known);
    return status;
}

// If a run cannot be analyzed, later runs lack only what they would have known about it.
static keel_status_t cover_earlier(void *context, const char *id) {
    const before_t *before = context;
    keel_status_t status = cover_alone(before->run_dir, id, before->guarded);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t ensure(const char *run_dir, const char *id, bool guarded) {
    uint64_t size;
    answers_t known;
    KEEL_TRY(journal_size(run_dir, id, &size));
    KEEL_TRY(answers_read(run_dir, id, &known));
    bool is_covered = !size || known.bytes == size;
    bool is_begun = known.bytes != 0;
    answers_free(&known);
    if (is_covered) return NULL;
    bool asks = is_begun;
    if (!asks) KEEL_TRY(has_asks(run_dir, id, &asks));
    if (!asks) return NULL;
    before_t before = {run_dir, guarded};
    KEEL_TRY(earlier_runs(run_dir, id, cover_earlier, &before));
    return cover_alone(run_dir, id, guarded);
}

keel_status_t keel_analysis_ensure(const char *run_dir, const char *id) {
    return ensure(run_dir, id, true);
}

keel_status_t keel_analysis_run(const char *run_dir, const char *id) {
    return ensure(run_dir, id, false);
}

// ---- while the run is live ---------------------------------------------------------------------

// False once the other end is closed.
static bool wait_a_moment(int descriptor) {
    enum { MILLISECONDS = 250 };
    struct pollfd end = {.fd = descriptor, .events = POLLIN};
    return poll(&end, 1, MILLISECONDS) <= 0;
}

// At most every two seconds. Failures to write are ignored.
static void write_figures(live_t *live, bool is_last, uint64_t *inout_written) {
    const uint64_t period = 2000000000;
    uint64_t now = keel_clock_monotonic();
    if (!is_last && now - *inout_written < period) return;
    *inout_written = now;
    keel_status_t status = live_write(live);
    if (status)
        keel_log_once("metrics", "metrics: %s; the run continues without them",
                      keel_status_message(status));
    keel_status_ignore(status);
}

static keel_status_t follow_walk(walk_t *walk, int descriptor) {
    bool goes_on = true, is_begun = false;
    uint64_t written = keel_clock_monotonic();
    while (goes_on) {
        uint64_t size;
        goes_on = wait_a_moment(descriptor);
        KEEL_TRY(journal_size(walk->run_dir, walk->id, &size));
        if (!size) continue;
        if (!is_begun) {
            before_t before = {walk->run_dir, true};
            KEEL_TRY(earlier_runs(walk->run_dir, walk->id, cover_earlier, &before));
        }
        is_begun = true;
        if (!goes_on) walk->listener = NULL; // the summary says it
        KEEL_TRY(walk_on(walk));
        if (walk->listener) walk->listener->looked(walk->listener_context);
        write_figures(walk->live, !goes_on, &written);
    }
    if (walk->asked) return finish_walk(walk);
    keel_status_ignore(keel_file_remove(walk->answers));
    return NULL;
}

// The run's first process makes its folder.
static bool wait_for_folder(const char *run_dir, const char *id, int descriptor) {
    uint64_t size;
    for (bool is_over = false;;) {
        keel_status_t status = journal_size(run_dir, id, &size);
        keel_status_ignore(status);
        if (status) return false;
        if (size) return true;
        if (is_over) return false;
        is_over = !wait_a_moment(descriptor);
    }
}

static keel_status_t follow_run(const char *run_dir, const char *id, int descriptor,
                                walk_watch_t *watch, const keel_analysis_listener_t *listener,
                                void *context) {
    static const answers_t nothing;
    walk_t walk;
    live_t live;
    char *path;
    if (!wait_for_folder(run_dir, id, descriptor)) return NULL;
    KEEL_TRY(answers_begin(run_dir, id, &nothing, &path));
    keel_status_t status = walk_create(run_dir, id, path, 0, watch, &walk);
    live_initialize(&live, run_dir, id);
    walk.live = &live;
    walk.listener = listener;
    walk.listener_context = context;
    if (!status) status = follow_walk(&walk, descriptor);
    if (status) keel_status_ignore(keel_file_remove(path));
    walk_destroy(&walk);
    live_deinitialize(&live);
    keel_free(path);
    return status;
}

void keel_analysis_follow(const char *run_dir, const char *id,
                          const keel_analysis_listener_t *listener, void *context,
                          keel_analysis_follower_t *out) {
    int ends[2];
    *out = (keel_analysis_follower_t){.descriptor = -1};
    if (!*run_dir) return; // nothing is recorded
    walk_watch_t *watch = guard_watch_create();
    if (!watch || pipe2(ends, O_CLOEXEC)) {
        guard_watch_destroy(watch);
        return;
    }
    keel_status_t status = guard_fork(&out->child);
    if (!status && !out->child) {
        close(ends[1]);
        setpriority(PRIO_PROCESS, 0, 10); // the command comes first
        guard_leave(follow_run(run_dir, id, ends[0], watch, listener, context), watch);
    }
    out->watch = watch;
    keel_status_ignore(status);
    close(ends[0]);
    if (out->child > 0) {
        out->descriptor = ends[1];
    } else {
        close(ends[1]);
        guard_watch_destroy(watch);
    }
}

void keel_analysis_follow_end(keel_analysis_follower_t *follower) {
    if (follower->child <= 0) return;
    setpriority(PRIO_PROCESS, (id_t)follower->child, 0);
    close(follower->descriptor);
    // keel_analysis_ensure does what is left, and can recover from a crash.
    (void)guard_wait(follower->child, follower->watch);
    guard_watch_destroy(follower->watch);
    *follower = (keel_analysis_follower_t){.descriptor = -1};
}
