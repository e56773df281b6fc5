// A child process that may crash or hang, and everything that is started in it: a process group
// that ends on request, and when Ctrl-C, SIGTERM or SIGHUP ends this process.
//
// This changes signals and processes of the whole process: only Keel's own programs call it, from
// one thread, for one child at a time.
#ifndef KEEL_PROBE_GUARD_H_
#define KEEL_PROBE_GUARD_H_

#include <signal.h>
#include <sys/types.h>

enum { KEEL_GUARD_SIGNALS = 3 };

typedef struct keel_guard_t {
    struct sigaction before[KEEL_GUARD_SIGNALS], child_before;
} keel_guard_t;

// Before the fork.
void keel_guard_begin(keel_guard_t *guard);
// In the child: its group, the usual signals, and ending with its parent.
void keel_guard_child(void);
// In the parent, with fork's result.
void keel_guard_watch(pid_t child);
// Ends the child and its group. Call it before waiting for the child, while its number is still its
// own.
void keel_guard_kill(pid_t child);
void keel_guard_end(const keel_guard_t *guard);

#endif // KEEL_PROBE_GUARD_H_
