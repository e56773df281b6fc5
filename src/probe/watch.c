// The parent: starts the child, ends it if a step takes too long, and takes its report.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/guard.h"
#include "probe/internal.h"
#include "target/target.h"

typedef struct watch_t {
    keel_probe_t *probe;
    const keel_probe_request_t *request;
    probe_report_t *report;
    int printed; // a file in memory that takes what the child prints
    pid_t child;
    int step; // that the child was seen in, since `began`
    uint64_t began;
    bool gave_up;
} watch_t;

// ---- the child's surroundings ------------------------------------------------------------------

// A plugin for TPUs, by its name, on a machine without a device file of one: to make a client, it
// would ask the network for minutes.
static bool lacks_tpu(const char *plugin) {
    const char *slash = strrchr(plugin, '/');
    glob_t found = {0};
    if (strncmp(slash ? slash + 1 : plugin, "libtpu", 6) != 0) return false;
    glob("/dev/accel*", 0, NULL, &found);
    glob("/dev/vfio/[0-9]*", GLOB_APPEND, NULL, &found);
    size_t count = found.gl_pathc;
    globfree(&found);
    return !count;
}

static _Noreturn void be_child(const watch_t *watch) {
    keel_digest_t build;
    const char *hex = keel_bundle_find(&watch->probe->bundle, KEEL_BUNDLE_PLUGIN, "build");
    keel_guard_child();
    signal(SIGXFSZ, SIG_IGN); // with ulimit -f, what it prints is lost, and nothing else
    // Past 64 MiB it gets an error: it may print endlessly.
    if (pwrite(watch->printed, "", 1, (64 << 20) - 1) == 1)
        fcntl(watch->printed, F_ADD_SEALS, F_SEAL_GROW);
    dup2(memfd_create("nothing", 0), STDIN_FILENO); // the terminal's input is not for the plugin
    dup2(watch->printed, STDOUT_FILENO);
    dup2(watch->printed, STDERR_FILENO);
    probe_child_t child = {.report = watch->report,
                           .request = watch->request,
                           .build =
                               hex && keel_digest_unhex(keel_str(hex), &build) ? &build : NULL};
    probe_child_run(&child);
    // Skips waiting for the plugin's threads and its clean-up.
    _exit(0);
}

// ---- watching ----------------------------------------------------------------------------------

static void see_step(watch_t *watch, int step) {
    watch->step = step;
    watch->began = keel_clock_monotonic();
    if (watch->request->stepping) watch->request->stepping(keel_probe_step_names[step]);
}

// The child stays a zombie, so that its number is still its own. True also if it is not ours.
static bool has_ended(pid_t child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

// Until the child has ended, is done or takes too long. The parent looks instead of listening,
// since a plugin may close any file.
static void follow_child(watch_t *watch) {
    enum { TICK_MS = 4 };
    see_step(watch, KEEL_PROBE_LOAD);
    for (bool is_over = false; !is_over && !watch->gave_up;) {
        is_over = watch->report->done || has_ended(watch->child);
        int step = watch->report->step;
        if (step > watch->step && step < KEEL_PROBE_STEP_COUNT) see_step(watch, step);
        double seconds = keel_seconds(keel_clock_monotonic() - watch->began);
        watch->gave_up = !is_over && seconds >= watch->request->limit;
        if (!is_over) poll(NULL, 0, TICK_MS);
    }
}

// ---- the report --------------------------------------------------------------------------------

// The last informative line of a step: the lines of a stack trace begin with a blank or a star.
static const char *last_said(const watch_t *watch, const probe_reported_t *reported, bool is_over) {
    enum { TAIL = 4096, SHOWN = 400 };
    char text[TAIL];
    off_t end = is_over ? reported->printed_end : lseek(watch->printed, 0, SEEK_CUR);
    off_t from = reported->printed < end - TAIL ? end - TAIL : reported->printed;
    size_t size = from >= 0 && from < end ? (size_t)(end - from) : 0;
    ssize_t got = pread(watch->printed, text, size, from);
    keel_str_t rest = {text, got > 0 ? (size_t)got : 0}, line, said = {0};
    while (keel_str_line(&rest, &line))
        if (line.size && (unsigned char)*line.data > ' ' && *line.data != '*') said = line;
    if (said.size > SHOWN) said.size = SHOWN;
    return keel_bundle_keep(&watch->probe->bundle, said);
}

// What ended the child, for people.
static void describe_end(const watch_t *watch, int state, char out[64]) {
    if (watch->gave_up)
        snprintf(out, 64, "no answer within %u s", watch->request->limit);
    else if (WIFSIGNALED(state))
        snprintf(out, 64, "killed by signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
    else
        snprintf(out, 64, "the process exited with code %d", WEXITSTATUS(state));
}

static void take_step(const watch_t *watch, int step, const char *end) {
    keel_bundle_t *bundle = &watch->probe->bundle;
    const probe_reported_t *reported = &watch->report->steps[step];
    keel_probe_outcome_t *out = &watch->probe->steps[step];
    if (!end && reported->state == KEEL_PROBE_NOT_TRIED) return;
    keel_str_t code = {reported->code, strnlen(reported->code, sizeof reported->code)};
    keel_str_t message = {reported->message, strnlen(reported->message, sizeof reported->message)};
    out->state = end ? (watch->gave_up ? KEEL_PROBE_HUNG : KEEL_PROBE_KILLED)
                 : reported->state > KEEL_PROBE_FAILED ? KEEL_PROBE_FAILED
                                                       : reported->state;
    out->nanoseconds = end ? keel_clock_monotonic() - watch->began : reported->nanoseconds;
    out->code = keel_bundle_keep(bundle, end ? KEEL_STR("") : code);
    out->message = keel_bundle_keep(bundle, end ? keel_str(end) : message);
    if (keel_probe_went_wrong(out->state)) out->said = last_said(watch, reported, !end);
}

// Read and written again: what is there may be anything.
static keel_status_t take_target(const probe_report_t *report, keel_buffer_t *out) {
    keel_target_t target;
    if (!report->target_size || report->target_size > sizeof report->target) return NULL;
    keel_bytes_t json = keel_bytes(report->target, report->target_size);
    keel_status_t status = keel_target_parse("the probe's target", json, &target);
    if (!status) status = keel_target_write(&target, KEEL_JSON_COMPACT, out);
    keel_target_deinitialize(&target);
    return status;
}

// The step that began last ended the child, if it was not done.
static void take_report(watch_t *watch, int state) {
    const probe_report_t *report = watch->report;
    bool is_done = report->done && !watch->gave_up;
    char end[64];
    describe_end(watch, state, end);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        take_step(watch, i, is_done || i != watch->step ? NULL : end);
    if (report->out_of_memory) watch->probe->bundle.failed = true;
    if (report->facts_size && report->facts_size <= sizeof report->facts)
        keel_bundle_forgive(&watch->probe->bundle,
                            keel_bundle_parse(keel_bytes(report->facts, report->facts_size),
                                              &watch->probe->bundle));
    keel_bundle_forgive(&watch->probe->bundle, take_target(report, &watch->probe->target));
}

// ---- using a plugin ----------------------------------------------------------------------------

static keel_status_t watch_child(watch_t *watch) {
    int state = 0;
    fflush(NULL);
    watch->child = fork();
    if (watch->child < 0) return keel_status_make(KEEL_IO, "a new process: %s", strerror(errno));
    if (watch->child == 0) be_child(watch);
    keel_guard_watch(watch->child);
    follow_child(watch);
    keel_guard_kill(watch->child); // and processes that it left running
    waitpid(watch->child, &state, 0);
    take_report(watch, state);
    return NULL;
}

// The bundle's word for what went wrong before the devices were known.
static void add_trouble(keel_probe_t *probe) {
    for (int step = KEEL_PROBE_LOAD; step <= KEEL_PROBE_DEVICES; ++step) {
        const keel_probe_outcome_t *outcome = &probe->steps[step];
        if (!keel_probe_went_wrong(outcome->state)) continue;
        bool refused = strcmp(outcome->code, keel_code_word(KEEL_UNSUPPORTED)) == 0;
        keel_bundle_add(&probe->bundle, KEEL_BUNDLE_PLUGIN,
                        keel_str(refused ? KEEL_BUNDLE_REFUSED : KEEL_BUNDLE_TROUBLE),
                        keel_str(outcome->message));
        return;
    }
}

keel_status_t keel_probe_use(const keel_probe_request_t *request, keel_probe_t *out) {
    keel_probe_request_t used = *request;
    watch_t watch = {.probe = out,
                     .request = &used,
                     .report = mmap(NULL, sizeof *watch.report, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                     .printed = memfd_create("printed", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    keel_guard_t guard;
    keel_status_t status = NULL;
    out->fast = request->last == KEEL_PROBE_LOAD;
    out->lacks_tpu = !out->fast && lacks_tpu(request->plugin);
    if (out->lacks_tpu) used.last = KEEL_PROBE_LOAD;
    keel_guard_begin(&guard);
    if (watch.report == MAP_FAILED || watch.printed < 0)
        status = keel_status_make(KEEL_IO, "memory for a new process: %s", strerror(errno));
    else
        status = watch_child(&watch);
    keel_guard_end(&guard);
    if (watch.report != MAP_FAILED) munmap(watch.report, sizeof *watch.report);
    if (watch.printed >= 0) close(watch.printed);
    if (!status) add_trouble(out);
    return status;
}
