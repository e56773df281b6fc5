// The child of `keel run`: same terminal, same process group, same signals as if it had been
// started alone. What the terminal sends (Ctrl-C) reaches the whole group, so only signals sent to
// this process alone are passed on.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGUSR1,
                                SIGUSR2, SIGALRM, SIGCONT, SIGVTALRM, SIGWINCH};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static volatile sig_atomic_t child_pid;

static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    int error = errno;
    // si_code is positive if the kernel sent it: from the terminal, to the whole group.
    if (info->si_code <= 0 && child_pid > 0) kill((pid_t)child_pid, number);
    errno = error;
}

typedef struct signals_t {
    sigset_t mask;
    struct sigaction before[PASSED_ON];
    struct sigaction child_before;
} signals_t;

// Blocks them until the child is known.
static void take_over(signals_t *signals) {
    sigset_t block;
    sigemptyset(&block);
    for (int i = 0; i < PASSED_ON; ++i)
        sigaddset(&block, passed_on[i]);
    sigprocmask(SIG_BLOCK, &block, &signals->mask);
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int i = 0; i < PASSED_ON; ++i) {
        sigaction(passed_on[i], NULL, &signals->before[i]);
        // Signals that are ignored (nohup) stay ignored, here and in the child.
        if (signals->before[i].sa_handler != SIG_IGN) sigaction(passed_on[i], &action, NULL);
    }
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &normal, &signals->child_before); // otherwise its exit code could be lost
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

static int wait_for(pid_t pid) {
    int state;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR) return CLI_FAILURE;
    return WIFSIGNALED(state) ? CLI_SIGNAL + WTERMSIG(state) : WEXITSTATUS(state);
}

// The child's error number comes through a pipe that a successful exec closes.
static int child_error(int descriptor) {
    int error = 0;
    ssize_t got;
    do
        got = read(descriptor, &error, sizeof error);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof error ? error : 0;
}

int cli_run_child(char **command, bool *out_started) {
    int report[2];
    *out_started = false;
    signals_t signals;
    if (pipe2(report, O_CLOEXEC))
        return cli_fail(keel_status_make(KEEL_IO, "a pipe: %s", strerror(errno)));
    fflush(stdout);
    fflush(stderr);
    take_over(&signals);
    pid_t pid = fork();
    if (pid == 0) {
        give_back(&signals);
        execvp(command[0], command);
        int error = errno;
        ssize_t ignored = write(report[1], &error, sizeof error);
        (void)ignored;
        _exit(CLI_NOT_FOUND);
    }
    int fork_error = errno;
    close(report[1]);
    child_pid = (sig_atomic_t)(pid > 0 ? pid : 0);
    sigprocmask(SIG_SETMASK, &signals.mask, NULL);
    int code = CLI_FAILURE;
    if (pid < 0) {
        cli_fail(keel_status_make(KEEL_IO, "a new process: %s", strerror(fork_error)));
    } else {
        int error = child_error(report[0]);
        code = wait_for(pid);
        if (error) code = could_not_run(command[0], error);
        *out_started = !error;
    }
    child_pid = 0;
    close(report[0]);
    return code;
}
