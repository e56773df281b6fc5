// guard: a child process that works on what may crash it or never end.
#ifndef KEEL_ANALYSIS_GUARD_H_
#define KEEL_ANALYSIS_GUARD_H_

#include "analysis/walk.h"

typedef enum guard_end {
    GUARD_DONE,   // the child says that all went well
    GUARD_FAILED, // what it needs could not be read or written: the watch has a message
    GUARD_BROKEN, // it crashed, or was ended because it did not get on
} guard_end_t;

// Seconds of processor time that one program may take; for tests to shorten.
extern double guard_patience;

// Shared with the children that are forked after it is made. NULL where there is no memory.
walk_watch_t *guard_watch_create(void);
void guard_watch_destroy(walk_watch_t *watch);

// Forks; *out is 0 in the child, which is to end with guard_leave. The child dies with its parent.
keel_status_t guard_fork(pid_t *out) KEEL_MUST_CHECK;
// Ends the child. Takes the status; the watch has its message then.
_Noreturn void guard_leave(keel_status_t status, walk_watch_t *watch);
// Waits until the child has ended, and ends it where one ask takes it longer than any should.
guard_end_t guard_wait(pid_t child, walk_watch_t *watch);

#endif // KEEL_ANALYSIS_GUARD_H_
