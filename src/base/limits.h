// limits: how long Keel waits, and how much it takes from files and peers that it does not know.
//
// Tests reach them, most by setting a small one (keel_limit_set). A limit that depends on the case,
// such as a wait for another's compile (store/claim.c), or that belongs to a format stands there.
// docs/limits.md lists all that users may meet.
//
// Threads: any; setting one is for tests, before what it limits begins.
#ifndef KEEL_BASE_LIMITS_H_
#define KEEL_BASE_LIMITS_H_

#include <stdint.h>

// enum, value, unit, what it limits
#define KEEL_LIMITS(X)                                                                             \
    X(REDIS_ANSWER, 5000, "ms", "a command to Redis: connecting, sending, and its whole answer")   \
    X(AGREE_COME, 30000, "ms", "waiting for a process that has not come to the meeting place")     \
    X(AGREE_WAIT, 600000, "ms", "waiting for a process that has come")                             \
    X(PROCESSES_END, 10000, "ms",                                                                  \
      "the end of a rehearsal's processes after a signal, or after one of them failed")            \
    X(DIGEST_WAIT, 10000, "ms", "waiting for a process that reads the same plugin")                \
    X(CHILD_STOPPED, 60000, "ms", "a stopped process: a compiler's, or one that explains")         \
    X(COMPILER_IDLE, 3600000, "ms", "a compiler's process that uses no processor time")            \
    X(TRIAL_MEMORY, 80, "%", "what a replayed program may take of the memory that is free")        \
    X(PACK_LEAST, 16 << 20, "bytes", "what any pack may expand to")                                \
    X(PACK_RATIO, 100, "times", "what a pack may expand to, of its size")                          \
    X(PROGRAM_LEAST, 256 << 20, "bytes", "what any recorded program may expand to")                \
    X(PROGRAM_RATIO, 100, "times", "what a recorded program may expand to, of its size")           \
    X(EVENTS_LEAST, 128 << 20, "bytes", "what any event of a journal may take in memory")          \
    X(EVENTS_RATIO, 16, "times", "what an event may take in memory, of its size")                  \
    X(REMOTE_LEAST, 64 << 20, "bytes", "what any unsigned entry of a remote may unpack to")        \
    X(REMOTE_RATIO, 100, "times", "what an unsigned entry of a remote may unpack to, of its size") \
    X(REMOTE_DOWN, 60000, "ms", "not asking a remote again that failed")                           \
    X(REMOTE_LEASE, 20000, "ms",                                                                   \
      "waiting for another machine's compile after it was last heard of")                          \
    X(REMOTE_IDLE, 60000, "ms", "the program that reaches remotes while nobody asks it")           \
    X(LINE, 8 << 20, "bytes", "a line of a journal")                                               \
    X(REQUESTS, 50000, "", "the programs, requests and answers of a run that are kept one by one")

typedef enum keel_limit {
#define KEEL_LIMIT_ENUM(name, value, unit, sentence) KEEL_LIMIT_##name,
    KEEL_LIMITS(KEEL_LIMIT_ENUM)
#undef KEEL_LIMIT_ENUM
        KEEL_LIMIT_COUNT,
} keel_limit_t;

uint64_t keel_limit(keel_limit_t limit);
// The same in nanoseconds, for one that is in milliseconds.
uint64_t keel_limit_time(keel_limit_t limit);
// For something of that size: `least`, and `ratio` times the size.
uint64_t keel_limit_for(keel_limit_t least, keel_limit_t ratio, uint64_t size);
// For tests.
void keel_limit_set(keel_limit_t limit, uint64_t value);

#endif // KEEL_BASE_LIMITS_H_
