// The parent: starts the child, takes its lines, keeps the end of its stderr, and ends it if a step
// takes too long.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    int lines, errors; // descriptors
    keel_buffer_t line;
    bool skips; // the line is too long and is skipped
    char tail[TAIL];
    size_t tail_size;
    keel_probe_step_t step; // the current step; KEEL_PROBE_STEP_COUNT between two
    uint64_t began, told;
    bool has_ended, gave_up;
    int state; // from waitpid
    keel_status_t status;
} watch_t;

// ---- the child's surroundings ------------------------------------------------------------------

static bool is_for_tpus(const char *plugin) {
    const char *name = strrchr(plugin, '/');
    return strncmp(name ? name + 1 : plugin, "libtpu", 6) == 0;
}

// Whether there is a device file of a TPU.
static bool has_tpu(void) {
    static const char *const patterns[] = {"/dev/accel*", "/dev/vfio/[0-9]*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
        glob_t found = {0};
        bool there = glob(patterns[i], 0, NULL, &found) == 0;
        globfree(&found);
        if (there) return true;
    }
    return false;
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

// An empty pipe as stdin: the terminal's input is not for the plugin.
static void read_nothing(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return;
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
}

// Keel's own library, as a client uses it, but without caching or recording: a probe is not a run.
static void leave_no_trace(const char *wraps) {
    setenv("KEEL_PLUGIN", wraps, 1);
    setenv("KEEL_MODE", "off", 1);
}

static _Noreturn void be_child(const keel_probe_request_t *request, const keel_probe_t *probe,
                               bool elsewhere, int lines, int errors) {
    keel_guard_child();
    read_nothing();
    dup2(errors, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    if (request->wraps) leave_no_trace(request->wraps);
    if (is_for_tpus(request->wraps ? request->wraps : request->plugin) && !has_tpu())
        spare_the_search(elsewhere);
    probe_child_t child = {.descriptor = lines,
                           .request = request,
                           .build = probe->build_known ? &probe->build : NULL,
                           .elsewhere = elsewhere};
    // Skips waiting for the plugin's threads and its clean-up.
    _exit(probe_child_run(&child));
}

static keel_status_t start_child(watch_t *watch) {
    int lines[2], errors[2];
    if (pipe2(lines, O_CLOEXEC)) return keel_status_make(KEEL_IO, "a pipe: %s", strerror(errno));
    if (pipe2(errors, O_CLOEXEC)) {
        int error = errno;
        close(lines[0]);
        close(lines[1]);
        return keel_status_make(KEEL_IO, "a pipe: %s", strerror(error));
    }
    fflush(stdout);
    fflush(stderr);
    watch->child = fork();
    int error = errno;
    if (watch->child == 0)
        be_child(watch->request, watch->probe, watch->elsewhere, lines[1], errors[1]);
    keel_guard_watch(watch->child);
    close(lines[1]);
    close(errors[1]);
    watch->lines = lines[0];
    watch->errors = errors[0];
    fcntl(watch->lines, F_SETFL, O_NONBLOCK);
    fcntl(watch->errors, F_SETFL, O_NONBLOCK);
    if (watch->child > 0) return NULL;
    close(watch->lines);
    close(watch->errors);
    return keel_status_make(KEEL_IO, "a new process: %s", strerror(error));
}

// ---- reading -----------------------------------------------------------------------------------

static keel_probe_step_t going_on(const keel_probe_t *probe) {
    int step = 0;
    while (step < KEEL_PROBE_STEP_COUNT && probe->steps[step].state != KEEL_PROBE_BEGUN)
        ++step;
    return (keel_probe_step_t)step;
}

static void take_errors(watch_t *watch, const char *data, size_t size) {
    if (size >= TAIL) {
        memcpy(watch->tail, data + size - TAIL, TAIL);
        watch->tail_size = TAIL;
        return;
    }
    size_t kept = watch->tail_size + size > TAIL ? TAIL - size : watch->tail_size;
    memmove(watch->tail, watch->tail + watch->tail_size - kept, kept);
    memcpy(watch->tail + kept, data, size);
    watch->tail_size = kept + size;
}

// Reads what is there now. A child that writes endlessly must not keep the parent from checking the
// time.
static void read_pipe(watch_t *watch, int from,
                      void (*take)(watch_t *watch, const char *data, size_t size)) {
    enum { READS = 64 };
    char data[4096];
    ssize_t got = 1;
    for (int i = 0; i < READS && got > 0; ++i)
        if ((got = read(from, data, sizeof data)) > 0) take(watch, data, (size_t)got);
}

// The output of a step: between its mark and the next. If the buffer no longer has its mark,
// everything before the next.
static keel_str_t said_in(const watch_t *watch, keel_probe_step_t step) {
    const char mark[2] = {PROBE_MARK, (char)('A' + step)};
    const char *start = watch->tail, *end = watch->tail + watch->tail_size;
    for (const char *at = start; at + sizeof mark <= end; ++at)
        if (memcmp(at, mark, sizeof mark) == 0) start = at + sizeof mark;
    const char *next = memchr(start, PROBE_MARK, (size_t)(end - start));
    return (keel_str_t){start, (size_t)((next ? next : end) - start)};
}

// The last informative line of it: the lines of a stack trace begin with a blank or a star.
static const char *last_said(const watch_t *watch, keel_probe_step_t step) {
    enum { SHOWN = 400 };
    keel_str_t rest = said_in(watch, step), line, said = {0};
    while (keel_str_line(&rest, &line))
        if (line.size && (unsigned char)*line.data > ' ' && *line.data != '*') said = line;
    if (said.size > SHOWN) said.size = SHOWN;
    return probe_keep(watch->probe, said);
}

static void finish_line(watch_t *watch) {
    if (watch->skips)
        ++watch->probe->broken_lines;
    else if (!watch->status)
        watch->status =
            keel_probe_take_line(watch->probe, keel_bytes_str(keel_buffer_bytes(&watch->line)));
    watch->skips = false;
    watch->line.size = 0;
    keel_probe_step_t step = going_on(watch->probe);
    if (step == watch->step) return;
    keel_probe_step_t over = watch->step;
    read_pipe(watch, watch->errors, take_errors); // output from before this line was written
    if (over < KEEL_PROBE_STEP_COUNT && watch->probe->steps[over].state == KEEL_PROBE_FAILED)
        watch->probe->steps[over].said = last_said(watch, over);
    watch->step = step;
    watch->began = watch->told = keel_clock_monotonic();
}

static void take_lines(watch_t *watch, const char *data, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        if (data[i] == '\n')
            finish_line(watch);
        else if (!watch->skips)
            keel_buffer_byte(&watch->line, (uint8_t)data[i]);
        if (!watch->line.failed) continue;
        if (watch->line.size < PROBE_LINE_LIMIT - 1) watch->probe->out_of_memory = true;
        keel_buffer_deinitialize(&watch->line);
        keel_buffer_initialize(&watch->line, PROBE_LINE_LIMIT);
        watch->skips = true;
    }
}

// ---- watching ----------------------------------------------------------------------------------

static void look_at_time(watch_t *watch) {
    uint64_t now = keel_clock_monotonic();
    double seconds = keel_seconds(now - watch->began);
    if (seconds >= watch->request->limit && !watch->gave_up) {
        watch->gave_up = true;
        keel_guard_kill(watch->child);
    }
    if (!watch->request->waiting || now - watch->told < UINT64_C(1000000000)) return;
    watch->told = now;
    bool between = watch->step == KEEL_PROBE_STEP_COUNT;
    watch->request->waiting(watch->request->context,
                            between ? "start" : keel_probe_step_name(watch->step), seconds);
}

static void follow_child(watch_t *watch) {
    struct pollfd polled[2] = {{.fd = watch->lines, .events = POLLIN},
                               {.fd = watch->errors, .events = POLLIN}};
    while (!watch->has_ended) {
        poll(polled, 2, TICK_MS);
        // A closed pipe would make poll return at once, again and again.
        for (int i = 0; i < 2; ++i)
            if (polled[i].revents & POLLHUP && !(polled[i].revents & POLLIN)) polled[i].fd = -1;
        pid_t ended = waitpid(watch->child, &watch->state, WNOHANG);
        watch->has_ended = ended == watch->child || (ended < 0 && errno == ECHILD);
        read_pipe(watch, watch->errors, take_errors);
        read_pipe(watch, watch->lines, take_lines);
        if (!watch->has_ended) look_at_time(watch);
    }
}

// "SIGABRT"; "signal 77" for one without a name. glibc has sigabbrev_np() only from 2.32 on.
static void write_signal(int number, char out[32]) {
#define NAMED(name)                                                                                \
    { SIG##name, #name }
    static const struct {
        int number;
        const char *name;
    } names[] = {NAMED(ABRT), NAMED(ALRM), NAMED(BUS),  NAMED(FPE),  NAMED(HUP),  NAMED(ILL),
                 NAMED(INT),  NAMED(KILL), NAMED(PIPE), NAMED(QUIT), NAMED(SEGV), NAMED(SYS),
                 NAMED(TERM), NAMED(TRAP), NAMED(USR1), NAMED(USR2), NAMED(XCPU), NAMED(XFSZ)};
#undef NAMED
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (names[i].number == number) {
            snprintf(out, 32, "SIG%s", names[i].name);
            return;
        }
    snprintf(out, 32, "signal %d", number);
}

// A process that ends between two steps counts for the next step, if any.
static keel_probe_step_t next_step(const watch_t *watch) {
    int step = watch->elsewhere ? KEEL_PROBE_TOPOLOGY : KEEL_PROBE_LOAD;
    int last = watch->elsewhere ? (int)KEEL_PROBE_ELSEWHERE : (int)watch->request->last;
    while (step <= last && watch->probe->steps[step].state != KEEL_PROBE_NOT_TRIED)
        ++step;
    return step > last ? KEEL_PROBE_STEP_COUNT : (keel_probe_step_t)step;
}

// The step that was running when the child ended is the one that ended it.
static void judge_end(watch_t *watch) {
    keel_probe_t *probe = watch->probe;
    char message[128], name[32];
    keel_probe_step_t step = watch->step;
    // Between steps only a signal counts: an exit code comes from a sanitizer, or from the plugin's
    // clean-up.
    bool ended_itself = WIFEXITED(watch->state) && probe->steps[KEEL_PROBE_LOAD].state;
    if (step == KEEL_PROBE_STEP_COUNT && ended_itself && !watch->gave_up) return;
    if (step == KEEL_PROBE_STEP_COUNT) step = next_step(watch);
    if (step == KEEL_PROBE_STEP_COUNT) return;
    keel_probe_outcome_t *outcome = &probe->steps[step];
    outcome->nanoseconds = keel_clock_monotonic() - watch->began;
    outcome->said = last_said(watch, step);
    if (watch->gave_up) {
        outcome->state = KEEL_PROBE_HUNG;
        snprintf(message, sizeof message, "no answer within %u s", watch->request->limit);
    } else if (WIFSIGNALED(watch->state)) {
        outcome->state = KEEL_PROBE_KILLED;
        write_signal(WTERMSIG(watch->state), name);
        snprintf(message, sizeof message, "killed by %s", name);
    } else if (WEXITSTATUS(watch->state) == PROBE_DONE) {
        outcome->state = KEEL_PROBE_KILLED;
        snprintf(message, sizeof message,
                 "it closed files that are not its own, so it could not report anything more");
    } else {
        outcome->state = KEEL_PROBE_KILLED;
        snprintf(message, sizeof message, "the process exited with code %d",
                 WEXITSTATUS(watch->state));
    }
    outcome->message = probe_keep(probe, keel_str(message));
}

static keel_status_t watch_child(const keel_probe_request_t *request, bool elsewhere,
                                 keel_probe_t *probe) {
    watch_t watch = {
        .probe = probe, .request = request, .elsewhere = elsewhere, .step = KEEL_PROBE_STEP_COUNT};
    keel_guard_t guard;
    keel_guard_begin(&guard);
    keel_buffer_initialize(&watch.line, PROBE_LINE_LIMIT);
    keel_status_t status = start_child(&watch);
    if (!status) {
        watch.began = watch.told = keel_clock_monotonic();
        follow_child(&watch);
        kill(-watch.child, SIGKILL); // processes that it left running
        judge_end(&watch);
        status = watch.status;
        close(watch.lines);
        close(watch.errors);
    }
    keel_buffer_deinitialize(&watch.line);
    keel_guard_end(&guard);
    return status;
}

// The bundle's word for what went wrong before the devices were known.
static keel_status_t add_trouble(keel_probe_t *probe) {
    const keel_probe_outcome_t *outcome = NULL;
    for (int step = KEEL_PROBE_LOAD; step <= KEEL_PROBE_DEVICES && !outcome; ++step)
        if (keel_probe_went_wrong(probe->steps[step].state)) outcome = &probe->steps[step];
    if (!outcome) return NULL;
    bool refused = strcmp(outcome->code, keel_code_word(KEEL_UNSUPPORTED)) == 0;
    return keel_bundle_plugin_fact(
        &probe->bundle, refused ? KEEL_BUNDLE_REFUSED : KEEL_BUNDLE_TROUBLE, outcome->message);
}

keel_status_t keel_probe_use(const keel_probe_request_t *request, keel_probe_t *out) {
    out->fast = request->last == KEEL_PROBE_LOAD;
    out->is_tpu = is_for_tpus(request->plugin);
    out->has_tpu = out->is_tpu && has_tpu();
    KEEL_TRY(watch_child(request, false, out));
    return add_trouble(out);
}

keel_status_t keel_probe_run(const keel_probe_request_t *request, keel_probe_t *out) {
    if (request->looking) request->looking(request->plugin);
    KEEL_TRY(probe_look_at_file(request, out));
    if (request->looking) request->looking(NULL);
    KEEL_TRY(keel_probe_use(request, out));
    keel_probe_state_t client = out->steps[KEEL_PROBE_CLIENT].state;
    bool compiles = out->is_tpu && !out->has_tpu && keel_probe_went_wrong(client);
    return compiles ? watch_child(request, true, out) : NULL;
}
