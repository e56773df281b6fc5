#define _GNU_SOURCE
#include "analysis/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SHADOW 1
#endif

// Processor time for one program; the largest known takes a tenth of a second.
double guard_patience = 60;

walk_watch_t *guard_watch_create(void) {
    void *memory =
        mmap(NULL, sizeof(walk_watch_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void guard_watch_destroy(walk_watch_t *watch) {
    if (watch) munmap(watch, sizeof *watch);
}

// A program may have any size, but the machine belongs to the user.
static void limit_memory(void) {
#ifndef HAS_SHADOW
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return;
    rlim_t half = (rlim_t)pages / 2 * (rlim_t)page;
    const struct rlimit limit = {half, half}, no_core = {0, 0};
    setrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_CORE, &no_core);
#endif
}

// The terminal's signals are meant for the command, not for this process.
static void settle_child(pid_t parent) {
    static const int usual[] = {SIGTERM, SIGPIPE, SIGCHLD, SIGSEGV,
                                SIGBUS,  SIGABRT, SIGUSR1, SIGUSR2};
    static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP};
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; ++i)
        signal(usual[i], SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; ++i)
        signal(ignored[i], SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    limit_memory();
}

keel_status_t guard_fork(pid_t *out) {
    pid_t parent = getpid(), child = fork();
    if (child < 0) return keel_status_make(KEEL_IO, "a new process: %s", strerror(errno));
    if (!child) settle_child(parent);
    *out = child;
    return NULL;
}

_Noreturn void guard_leave(keel_status_t status, walk_watch_t *watch) {
    int code = status ? 1 : 0;
    if (status) snprintf(watch->message, sizeof watch->message, "%s", keel_status_message(status));
    keel_status_ignore(status);
    _exit(code);
}

static double processor_seconds(pid_t child) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(child, &clock) || clock_gettime(clock, &used)) return 0;
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

guard_end_t guard_wait(pid_t child, walk_watch_t *watch) {
    uint64_t asked = 0;
    double since = 0, stopped = 0; // sleeps are counted, not time: all of a job may be suspended
    int state;
    for (long wait = 500000;; wait = wait < 20000000 ? wait * 2 : wait) {
        pid_t got = waitpid(child, &state, WNOHANG);
        if (got < 0 && errno != EINTR) return GUARD_BROKEN;
        if (got == child) break;
        double used = processor_seconds(child);
        uint64_t now = atomic_load(&watch->asked);
        if (now != asked || !now) since = used;
        asked = now;
        stopped = keel_process_is_stopped(child) ? stopped + (double)wait * 1e-6 : 0;
        bool is_left = stopped >= (double)keel_limit(KEEL_LIMIT_CHILD_STOPPED);
        if (is_left || used - since > guard_patience) kill(child, SIGKILL);
        nanosleep(&(struct timespec){0, wait}, NULL);
    }
    if (WIFEXITED(state) && !WEXITSTATUS(state)) return GUARD_DONE;
    return *watch->message ? GUARD_FAILED : GUARD_BROKEN;
}
