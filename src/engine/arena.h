// arena: the memory of a thread that loads executables.
//
// A thread other than the first has an arena of its own in glibc's malloc, which grows by what the
// next allocation needs, a page or two at a time, each with a system call (mprotect) that the
// process's other threads wait for if they need memory. A load makes many small objects, so it
// makes 24,000 of these calls for two programs whose executables have 3.5 MB.
//
// Threads: it is about the calling one.
#ifndef KEEL_ENGINE_ARENA_H_
#define KEEL_ENGINE_ARENA_H_

#include <stddef.h>

// Has this thread's arena grow at once to what a load may need. Pages are used as they are needed,
// later. The caller passes what it returns to arena_settle after the loads; NULL if there is no
// memory for that.
void *arena_expand(size_t bytes);
// NULL is allowed.
void arena_settle(void *expanded);

#endif // KEEL_ENGINE_ARENA_H_
