// The parent: starts the child, takes its messages, keeps the end of what the plugin prints, and
// ends the child if a step takes too long.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/guard.h"
#include "probe/internal.h"

enum { TAIL = 4096, TICK_MS = 100 };

typedef struct watch_t {
    keel_probe_t *probe;
    const keel_probe_request_t *request;
    bool elsewhere;
    pid_t child;
    int lines, printed; // a socket for messages, and a pipe
    char tail[TAIL];    // what was printed in this step
    size_t tail_size;
    keel_probe_step_t step; // the current step; KEEL_PROBE_STEP_COUNT between two
    uint64_t began;
    bool gave_up;
    keel_status_t status;
} watch_t;

// ---- the child's surroundings ------------------------------------------------------------------

static bool is_for_tpus(const char *plugin) {
    const char *name = strrchr(plugin, '/');
    return strncmp(name ? name + 1 : plugin, "libtpu", 6) == 0;
}

// Whether there is a device file of a TPU.
static bool has_tpu(void) {
    glob_t found = {0};
    glob("/dev/accel*", 0, NULL, &found);
    glob("/dev/vfio/[0-9]*", GLOB_APPEND, NULL, &found);
    bool there = found.gl_pathc > 0;
    globfree(&found);
    return there;
}

// Without these, a TPU's plugin asks the network for minutes which machine it is on. The user's own
// values stay, unless the first attempt has already hung with them.
static void spare_the_search(bool overwrite) {
    static const char *const variables[][2] = {
        {"TPU_SKIP_MDS_QUERY", "1"},
        {"TPU_ACCELERATOR_TYPE", "v6e-8"},
        {"TPU_WORKER_ID", "0"},
        {"TPU_WORKER_HOSTNAMES", "localhost"},
        {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},
        {"TPU_LOG_DIR", "disabled"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        setenv(variables[i][0], variables[i][1], overwrite);
}

static _Noreturn void be_child(const watch_t *watch, int lines, int printed) {
    const keel_probe_request_t *request = watch->request;
    keel_digest_t build;
    const char *hex = keel_bundle_find(&watch->probe->bundle, KEEL_BUNDLE_PLUGIN, "build");
    keel_guard_child();
    dup2(printed, STDIN_FILENO); // only for writing: the terminal's input is not for the plugin
    dup2(printed, STDOUT_FILENO);
    dup2(printed, STDERR_FILENO);
    // Keel's own library, as a client uses it, but without caching or recording: a probe is no run.
    if (request->wraps) {
        setenv("KEEL_PLUGIN", request->wraps, 1);
        setenv("KEEL_MODE", "off", 1);
    }
    if (is_for_tpus(request->wraps ? request->wraps : request->plugin) && !has_tpu())
        spare_the_search(watch->elsewhere);
    probe_child_t child = {.descriptor = lines,
                           .request = request,
                           .build = hex && keel_digest_unhex(keel_str(hex), &build) ? &build : NULL,
                           .elsewhere = watch->elsewhere};
    // Skips waiting for the plugin's threads and its clean-up.
    _exit(probe_child_run(&child));
}

static keel_status_t start_child(watch_t *watch) {
    int lines[2], printed[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lines))
        return keel_status_make(KEEL_IO, "a socket: %s", strerror(errno));
    if (pipe2(printed, O_CLOEXEC)) {
        int error = errno;
        close(lines[0]);
        close(lines[1]);
        return keel_status_make(KEEL_IO, "a pipe: %s", strerror(error));
    }
    fflush(NULL);
    watch->child = fork();
    int error = errno;
    if (watch->child == 0) be_child(watch, lines[1], printed[1]);
    keel_guard_watch(watch->child);
    close(lines[1]);
    close(printed[1]);
    watch->lines = lines[0];
    watch->printed = printed[0];
    fcntl(watch->printed, F_SETFL, O_NONBLOCK);
    if (watch->child > 0) return NULL;
    close(watch->lines);
    close(watch->printed);
    return keel_status_make(KEEL_IO, "a new process: %s", strerror(error));
}

// ---- reading -----------------------------------------------------------------------------------

// A child that writes endlessly must not keep the parent from checking the time.
enum { READS = 64 };

static void read_printed(watch_t *watch) {
    char data[TAIL];
    ssize_t got = 1;
    for (int i = 0; i < READS && (got = read(watch->printed, data, sizeof data)) > 0; ++i) {
        size_t size = (size_t)got;
        size_t kept = watch->tail_size + size > TAIL ? TAIL - size : watch->tail_size;
        memmove(watch->tail, watch->tail + watch->tail_size - kept, kept);
        memcpy(watch->tail + kept, data, size);
        watch->tail_size = kept + size;
    }
}

// The last informative line: the lines of a stack trace begin with a blank or a star.
static const char *last_said(const watch_t *watch) {
    enum { SHOWN = 400 };
    keel_str_t rest = {watch->tail, watch->tail_size}, line, said = {0};
    while (keel_str_line(&rest, &line))
        if (line.size && (unsigned char)*line.data > ' ' && *line.data != '*') said = line;
    if (said.size > SHOWN) said.size = SHOWN;
    return probe_keep(watch->probe, said);
}

static keel_probe_step_t going_on(const keel_probe_t *probe) {
    int step = 0;
    while (step < KEEL_PROBE_STEP_COUNT && probe->steps[step].state != KEEL_PROBE_BEGUN)
        ++step;
    return (keel_probe_step_t)step;
}

// What the plugin printed when a step is over belongs to this step, since the child waits for an
// answer then. Without memory, a message may have been lost.
static void take_line(watch_t *watch, keel_str_t line) {
    keel_probe_t *probe = watch->probe;
    keel_probe_step_t over = watch->step;
    if (!watch->status) watch->status = keel_probe_take_line(probe, line);
    watch->step = going_on(probe);
    bool changed = watch->step != over, is_over = changed && over < KEEL_PROBE_STEP_COUNT;
    if (changed) watch->began = keel_clock_monotonic();
    if (changed && !is_over && watch->request->stepping)
        watch->request->stepping(keel_probe_step_name(watch->step));
    if (is_over) {
        read_printed(watch);
        if (probe->steps[over].state == KEEL_PROBE_FAILED)
            probe->steps[over].said = last_said(watch);
        watch->tail_size = 0;
    }
    if (is_over || probe->out_of_memory || watch->status)
        send(watch->lines, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void read_lines(watch_t *watch) {
    static char line[PROBE_LINE_LIMIT];
    for (int i = 0; i < READS; ++i) {
        ssize_t size = recv(watch->lines, line, sizeof line, MSG_DONTWAIT);
        if (size <= 0) return;
        take_line(watch, (keel_str_t){line, (size_t)size});
    }
}

// ---- watching ----------------------------------------------------------------------------------

static void look_at_time(watch_t *watch) {
    if (watch->gave_up ||
        keel_seconds(keel_clock_monotonic() - watch->began) < watch->request->limit)
        return;
    watch->gave_up = true;
    keel_guard_kill(watch->child);
}

// Until the child has ended; returns its state, from waitpid.
static int follow_child(watch_t *watch) {
    struct pollfd polled[2] = {{.fd = watch->lines, .events = POLLIN},
                               {.fd = watch->printed, .events = POLLIN}};
    int state = 0;
    for (bool has_ended = false; !has_ended;) {
        poll(polled, 2, TICK_MS);
        // What is closed would make poll return at once, again and again.
        for (int i = 0; i < 2; ++i)
            if (polled[i].revents & POLLHUP && !(polled[i].revents & POLLIN)) polled[i].fd = -1;
        has_ended =
            waitpid(watch->child, &state, WNOHANG) != 0; // also if it is not ours to wait for
        read_printed(watch);
        read_lines(watch);
        if (!has_ended) look_at_time(watch);
    }
    return state;
}

// A process that ends between two steps counts for the next step, if any.
static keel_probe_step_t next_step(const watch_t *watch) {
    int step = watch->elsewhere ? KEEL_PROBE_TOPOLOGY : KEEL_PROBE_LOAD;
    int last = watch->elsewhere ? (int)KEEL_PROBE_ELSEWHERE : (int)watch->request->last;
    while (step <= last && watch->probe->steps[step].state != KEEL_PROBE_NOT_TRIED)
        ++step;
    return step > last ? KEEL_PROBE_STEP_COUNT : (keel_probe_step_t)step;
}

// What ended the child, for people. glibc has sigabbrev_np() only from 2.32 on.
static void describe_end(const watch_t *watch, int state, char out[128]) {
    static const char *const signals[] = {
        [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
        [SIGILL] = "SIGILL",   [SIGKILL] = "SIGKILL", [SIGSEGV] = "SIGSEGV",
        [SIGSYS] = "SIGSYS",   [SIGTERM] = "SIGTERM", [SIGTRAP] = "SIGTRAP"};
    size_t number = WIFSIGNALED(state) ? (size_t)WTERMSIG(state) : 0;
    if (watch->gave_up)
        snprintf(out, 128, "no answer within %u s", watch->request->limit);
    else if (number && number < sizeof signals / sizeof *signals && signals[number])
        snprintf(out, 128, "killed by %s", signals[number]);
    else if (number)
        snprintf(out, 128, "killed by signal %zu", number);
    else if (WEXITSTATUS(state) == PROBE_DONE)
        snprintf(out, 128,
                 "it closed files that are not its own, so it could not report anything "
                 "more");
    else
        snprintf(out, 128, "the process exited with code %d", WEXITSTATUS(state));
}

// The step that was running when the child ended is the one that ended it.
static void judge_end(watch_t *watch, int state) {
    keel_probe_t *probe = watch->probe;
    keel_probe_step_t step = watch->step;
    char message[128];
    // Between steps only a signal counts: an exit code comes from a sanitizer, or from the plugin's
    // clean-up.
    bool ended_itself = WIFEXITED(state) && probe->steps[KEEL_PROBE_LOAD].state;
    if (step == KEEL_PROBE_STEP_COUNT && ended_itself && !watch->gave_up) return;
    if (step == KEEL_PROBE_STEP_COUNT) step = next_step(watch);
    if (step == KEEL_PROBE_STEP_COUNT) return;
    keel_probe_outcome_t *outcome = &probe->steps[step];
    describe_end(watch, state, message);
    outcome->state = watch->gave_up ? KEEL_PROBE_HUNG : KEEL_PROBE_KILLED;
    outcome->nanoseconds = keel_clock_monotonic() - watch->began;
    outcome->said = last_said(watch);
    outcome->message = probe_keep(probe, keel_str(message));
}

static keel_status_t watch_child(const keel_probe_request_t *request, bool elsewhere,
                                 keel_probe_t *probe) {
    watch_t watch = {
        .probe = probe, .request = request, .elsewhere = elsewhere, .step = KEEL_PROBE_STEP_COUNT};
    keel_guard_t guard;
    keel_guard_begin(&guard);
    keel_status_t status = start_child(&watch);
    if (!status) {
        watch.began = keel_clock_monotonic();
        int state = follow_child(&watch);
        kill(-watch.child, SIGKILL); // processes that it left running
        judge_end(&watch, state);
        status = watch.status;
        close(watch.lines);
        close(watch.printed);
    }
    keel_guard_end(&guard);
    return status;
}

// ---- using a plugin ----------------------------------------------------------------------------

// The bundle's word for what went wrong before the devices were known.
static keel_status_t add_trouble(keel_probe_t *probe) {
    for (int step = KEEL_PROBE_LOAD; step <= KEEL_PROBE_DEVICES; ++step) {
        const keel_probe_outcome_t *outcome = &probe->steps[step];
        if (!keel_probe_went_wrong(outcome->state)) continue;
        bool refused = strcmp(outcome->code, keel_code_word(KEEL_UNSUPPORTED)) == 0;
        return keel_bundle_format(&probe->bundle, KEEL_BUNDLE_PLUGIN,
                                  refused ? KEEL_BUNDLE_REFUSED : KEEL_BUNDLE_TROUBLE, "%s",
                                  outcome->message);
    }
    return NULL;
}

keel_status_t keel_probe_use(const keel_probe_request_t *request, keel_probe_t *out) {
    out->fast = request->last == KEEL_PROBE_LOAD;
    out->is_tpu = is_for_tpus(request->plugin);
    out->has_tpu = out->is_tpu && has_tpu();
    KEEL_TRY(watch_child(request, false, out));
    KEEL_TRY(add_trouble(out));
    bool compiles = out->is_tpu && !out->has_tpu && request->last > KEEL_PROBE_DEVICES &&
                    keel_probe_went_wrong(out->steps[KEEL_PROBE_CLIENT].state);
    return compiles ? watch_child(request, true, out) : NULL;
}
