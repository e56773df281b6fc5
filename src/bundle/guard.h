// A child process that uses a plugin, and whatever the plugin starts in it: a group of its own,
// which ends when it is told to, and when this process is ended by Ctrl-C, by SIGTERM or SIGHUP.
//
// Signals and processes are this process's own: only a program that is Keel's calls these, from one
// thread, for one child at a time.
#ifndef KEEL_BUNDLE_GUARD_H_
#define KEEL_BUNDLE_GUARD_H_

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum { KEEL_GUARD_SIGNALS = 3 };

typedef struct keel_guard_t {
    struct sigaction before[KEEL_GUARD_SIGNALS], child_before;
    sigset_t mask;
} keel_guard_t;

// Before the fork: those signals wait until the child is known, and its end cannot be lost.
void keel_guard_begin(keel_guard_t *guard);
// In the child: its group, the usual signals, and an end with its parent.
void keel_guard_child(void);
// In the parent, with what fork gave.
void keel_guard_watch(pid_t child);
// Ends the child and its group. Before the child's state is taken, so that its number is its own.
void keel_guard_kill(pid_t child);
void keel_guard_end(const keel_guard_t *guard);

#endif // KEEL_BUNDLE_GUARD_H_
