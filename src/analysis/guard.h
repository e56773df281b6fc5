// guard: a child process for work that may crash or never end.
#ifndef KEEL_ANALYSIS_GUARD_H_
#define KEEL_ANALYSIS_GUARD_H_

#include "analysis/walk.h"

typedef enum guard_end {
    GUARD_DONE,   // the child reports success
    GUARD_FAILED, // something could not be read or written: the watch has a message
    GUARD_BROKEN, // it crashed, or was ended because it made no progress
} guard_end_t;

// Seconds of processor time that one program may take; tests shorten it.
extern double guard_patience;

// Shared with children that are forked later. NULL if there is no memory.
walk_watch_t *guard_watch_create(void);
void guard_watch_destroy(walk_watch_t *watch);

// Forks; *out is 0 in the child, which must end with guard_leave. The child dies with its parent.
keel_status_t guard_fork(pid_t *out) KEEL_MUST_CHECK;
// Ends the child. Takes the status, and leaves its message in the watch.
_Noreturn void guard_leave(keel_status_t status, walk_watch_t *watch);
// Waits until the child has ended, and ends it if one ask takes too long.
guard_end_t guard_wait(pid_t child, walk_watch_t *watch);

#endif // KEEL_ANALYSIS_GUARD_H_
