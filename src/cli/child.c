// The command of `keel run`: same terminal, same process group, same signals as if it had been
// started alone. What the terminal sends (Ctrl-C) reaches the whole group, so only signals sent to
// this process alone are passed on.
//
// A rehearsal on several hosts starts it once for each of the target's processes. The first has the
// terminal; the others read nothing, and what they write is marked (marked.c).
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/marked.h"
#include "view/view.h"

// Batch systems announce the end of a job's time by XCPU, containers a shutdown by PWR.
static const int passed_on[] = {SIGHUP,  SIGINT,    SIGQUIT,  SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
                                SIGCONT, SIGVTALRM, SIGWINCH, SIGPROF, SIGPWR,  SIGXCPU, SIGIO};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static volatile pid_t pids[CLI_PROCESSES]; // 0: not started, or ended

static void send_all(int number) {
    for (int i = 0; i < CLI_PROCESSES; ++i)
        if (pids[i] > 0) kill(pids[i], number);
}

// Of those, what asks a process to end.
static volatile sig_atomic_t asked_to_end;

static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    if (number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGQUIT)
        asked_to_end = number;
    // si_code is positive if the kernel sent it: from the terminal, to the whole group.
    if (info->si_code <= 0) send_all(number);
    errno = error;
}

static void child_ended(int number) {
    (void)number; // it ends a wait
}

typedef struct signals_t {
    sigset_t mask;
    struct sigaction before[PASSED_ON];
    struct sigaction child_before;
} signals_t;

// They are blocked until the end, except while this process waits.
static void take_over(signals_t *signals) {
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGCHLD);
    for (int i = 0; i < PASSED_ON; ++i)
        sigaddset(&block, passed_on[i]);
    sigprocmask(SIG_BLOCK, &block, &signals->mask);
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int i = 0; i < PASSED_ON; ++i) {
        sigaction(passed_on[i], NULL, &signals->before[i]);
        // Signals that are ignored (nohup) stay ignored, here and in the child.
        if (signals->before[i].sa_handler != SIG_IGN) sigaction(passed_on[i], &action, NULL);
    }
    struct sigaction ended = {.sa_handler = child_ended};
    sigaction(SIGCHLD, &ended, &signals->child_before); // if ignored, its exit code would be lost
}

static void give_back(const signals_t *signals) {
    for (int i = 0; i < PASSED_ON; ++i)
        sigaction(passed_on[i], &signals->before[i], NULL);
    sigaction(SIGCHLD, &signals->child_before, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

static int could_not_run(const char *command, int error) {
    if (error == ENOENT && strchr(command, '/') && access(command, F_OK) == 0) {
        fprintf(stderr, "keel: %s: its interpreter does not exist; correct its first line\n",
                command);
        return CLI_NOT_RUNNABLE;
    }
    if (error == ENOENT || error == ENOTDIR) {
        fprintf(stderr, "keel: %s: command not found; %s\n", command,
                strchr(command, '/') ? "check its path" : "check its name and PATH");
        return CLI_NOT_FOUND;
    }
    const char *next = error == EACCES ? "make it executable, or run it with its interpreter"
                                       : "run something that this system can execute";
    fprintf(stderr, "keel: %s: %s; %s\n", command, strerror(error), next);
    return CLI_NOT_RUNNABLE;
}

// ---- starting ----------------------------------------------------------------------------------

// The child's error number comes through a pipe that a successful exec closes.
static int child_error(int descriptor) {
    int error = 0;
    ssize_t got;
    do
        got = read(descriptor, &error, sizeof error);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof error ? error : 0;
}

// In the child. Returns only if that fails.
static int become(char **command, const keel_view_t *view) {
    int error = view ? keel_view_enter(view) : 0;
    if (error) {
        fprintf(stderr,
                "keel: cannot enter the private view of the files: %s; --writes keep runs without "
                "it\n",
                strerror(error));
        _exit(CLI_FAILURE);
    }
    execvp(command[0], command);
    return errno;
}

static keel_status_t start(char **command, const keel_view_t *view, const signals_t *signals,
                           uint32_t number, cli_marked_t *marked, int *out_error) {
    int report[2];
    if (number) KEEL_TRY(cli_marked_open(marked, number));
    if (pipe2(report, O_CLOEXEC)) return keel_status_make(KEEL_IO, "a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        give_back(signals);
        int error = !number || cli_marked_take(marked, number) ? become(command, view) : errno;
        ssize_t ignored = write(report[1], &error, sizeof error);
        (void)ignored;
        _exit(CLI_NOT_FOUND);
    }
    keel_status_t status = NULL;
    if (pid < 0)
        status = keel_status_make(KEEL_IO, "a new process: %s", strerror(errno));
    else
        pids[number] = pid;
    close(report[1]);
    if (number) cli_marked_started(marked, number);
    *out_error = child_error(report[0]);
    close(report[0]);
    return status;
}

// ---- waiting -----------------------------------------------------------------------------------

// After a process has failed, the others wait for it where they would meet it. They get
// KEEL_LIMIT_PROCESSES_END to end by themselves, and as long again after SIGTERM.
typedef struct waiting_t {
    uint32_t count, running;
    int code;          // of the first that failed
    uint64_t deadline; // of the others; 0: none
    int next_signal;   // at the deadline
} waiting_t;

static void fail(waiting_t *waiting, uint32_t number, int code) {
    if (waiting->code || !code) return;
    waiting->code = code;
    if (!waiting->running) return;
    waiting->deadline = keel_clock_monotonic() + keel_limit_time(KEEL_LIMIT_PROCESSES_END);
    waiting->next_signal = SIGTERM;
    if (code != CLI_SIGNAL + SIGINT && !asked_to_end)
        cli_say("process %u of %u ended with exit code %d; the others have %u s to end", number,
                waiting->count, code, (unsigned)(keel_limit(KEEL_LIMIT_PROCESSES_END) / 1000));
}

static void collect(waiting_t *waiting) {
    for (uint32_t i = 0; i < waiting->count; ++i) {
        int state;
        pid_t ended = pids[i] > 0 ? waitpid(pids[i], &state, WNOHANG) : 0;
        if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
        pids[i] = 0;
        --waiting->running;
        if (ended < 0)
            fail(waiting, i, CLI_FAILURE);
        else
            fail(waiting, i,
                 WIFSIGNALED(state) ? CLI_SIGNAL + WTERMSIG(state) : WEXITSTATUS(state));
    }
}

static void end_others(waiting_t *waiting) {
    if (!waiting->deadline || keel_clock_monotonic() < waiting->deadline) return;
    if (asked_to_end && waiting->next_signal == SIGKILL)
        cli_say("%u of %u processes have not ended within %u s of the signal, and are killed",
                waiting->running, waiting->count,
                (unsigned)(keel_limit(KEEL_LIMIT_PROCESSES_END) / 1000));
    send_all(waiting->next_signal);
    send_all(SIGCONT);
    waiting->deadline += keel_limit_time(KEEL_LIMIT_PROCESSES_END);
    waiting->next_signal = SIGKILL;
}

// Several processes belong to a rehearsal. Clients that handle the signal themselves, as
// jax.distributed does, may go on as if nothing had happened. A command that runs alone decides.
static void end_after_signal(waiting_t *waiting) {
    if (!asked_to_end || waiting->count < 2 || waiting->deadline) return;
    waiting->deadline = keel_clock_monotonic() + keel_limit_time(KEEL_LIMIT_PROCESSES_END);
    waiting->next_signal = SIGKILL;
}

static void wait_for_all(waiting_t *waiting, cli_marked_t *marked, const sigset_t *mask) {
    for (collect(waiting); waiting->running; collect(waiting)) {
        cli_marked_pass_on(marked, waiting->deadline, mask);
        end_after_signal(waiting);
        end_others(waiting);
    }
    cli_marked_end(marked);
}

static keel_status_t start_all(char **command, const cli_processes_t *processes,
                               const signals_t *signals, cli_marked_t *marked, waiting_t *waiting,
                               bool *out_started) {
    for (uint32_t i = 0; i < processes->count; ++i) {
        int error = 0;
        if (processes->prepare) KEEL_TRY(processes->prepare(processes->context, i));
        KEEL_TRY(start(command, processes->view, signals, i, marked, &error));
        ++waiting->running;
        if (error) {
            waiting->code = could_not_run(command[0], error);
            return NULL;
        }
        *out_started = true;
    }
    return NULL;
}

int cli_run_children(char **command, const cli_processes_t *processes, bool *out_started) {
    signals_t signals;
    cli_marked_t marked;
    waiting_t waiting = {.count = processes->count};
    *out_started = false;
    fflush(stdout);
    fflush(stderr);
    cli_marked_initialize(&marked);
    asked_to_end = 0;
    take_over(&signals);
    keel_status_t status = start_all(command, processes, &signals, &marked, &waiting, out_started);
    if (status || waiting.code) send_all(SIGTERM);
    if (status) waiting.code = cli_fail(status);
    wait_for_all(&waiting, &marked, &signals.mask);
    sigprocmask(SIG_SETMASK, &signals.mask, NULL); // still handled: the summary is to be written
    return waiting.code;
}
