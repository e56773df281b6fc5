// Processes of this machine, as one that waits for another has to know them.
#ifndef KEEL_BASE_PROCESS_H_
#define KEEL_BASE_PROCESS_H_

#include "base/bytes.h"

enum { KEEL_PROCESS_NAME = 128 };

// Names this process for others on the machine: "<pid> <start, in ticks since boot> <its namespace
// of process numbers> <boot>". Empty if /proc does not tell.
void keel_process_name(char out[KEEL_PROCESS_NAME]);

typedef enum keel_process_state_t {
    KEEL_PROCESS_UNKNOWN, // of another machine, boot or container, or not a name at all
    KEEL_PROCESS_RUNS,
    KEEL_PROCESS_STOPPED, // by SIGSTOP, a terminal or a debugger
    KEEL_PROCESS_GONE,    // ended; its number may be another's by now
} keel_process_state_t;

// The state of the process that named itself so.
keel_process_state_t keel_process_state(keel_str_t name);

#endif // KEEL_BASE_PROCESS_H_
