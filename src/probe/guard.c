#define _GNU_SOURCE
#include "probe/guard.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

static const int ending[KEEL_GUARD_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t group; // 0: none

// Delivered again, with its usual effect, once this returns.
static void end_both(int number) {
    if (group > 0) kill(-(pid_t)group, SIGKILL);
    signal(number, SIG_DFL);
    raise(number);
}

void keel_guard_begin(keel_guard_t *guard) {
    const struct sigaction normal = {.sa_handler = SIG_DFL}, action = {.sa_handler = end_both};
    sigaction(SIGCHLD, &normal, &guard->child_before);
    for (int i = 0; i < KEEL_GUARD_SIGNALS; ++i) {
        sigaction(ending[i], NULL, &guard->before[i]);
        // Keeps signals that are ignored (nohup) or have a handler.
        if (guard->before[i].sa_handler == SIG_DFL) sigaction(ending[i], &action, NULL);
    }
}

void keel_guard_child(void) {
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < KEEL_GUARD_SIGNALS; ++i)
        signal(ending[i], SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void keel_guard_watch(pid_t child) {
    if (child > 0) setpgid(child, child); // parent and child both do this; whichever is first
    group = (sig_atomic_t)(child > 0 ? child : 0);
}

void keel_guard_kill(pid_t child) {
    kill(child, SIGKILL);
    kill(-child, SIGKILL);
}

void keel_guard_end(const keel_guard_t *guard) {
    group = 0;
    for (int i = 0; i < KEEL_GUARD_SIGNALS; ++i)
        sigaction(ending[i], &guard->before[i], NULL);
    sigaction(SIGCHLD, &guard->child_before, NULL);
}
