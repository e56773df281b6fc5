// Processes of this machine, for code that waits for one of them.
#ifndef KEEL_BASE_PROCESS_H_
#define KEEL_BASE_PROCESS_H_

#include "base/bytes.h"

enum { KEEL_PROCESS_NAME = 128 };

// Names this process for others on the machine: "<pid> <start, in ticks since boot> <PID namespace>
// <boot>". Empty if /proc does not give these.
void keel_process_name(char out[KEEL_PROCESS_NAME]);

typedef enum keel_process_state_t {
    KEEL_PROCESS_UNKNOWN, // of another machine, boot or container, or not a valid name
    KEEL_PROCESS_RUNS,
    KEEL_PROCESS_STOPPED, // by SIGSTOP, a terminal or a debugger
    KEEL_PROCESS_GONE,    // ended; another process may have its number by now
} keel_process_state_t;

// The state of the process with that name.
keel_process_state_t keel_process_state(keel_str_t name);
// Whether that child of this process is stopped now.
bool keel_process_is_stopped(long pid);
// Bytes of memory that this process can still take without others having to give up theirs: what
// the machine has, or less if its cgroup has less. 0: unknown.
uint64_t keel_memory_available(void);

#endif // KEEL_BASE_PROCESS_H_
