// Room-internal: one child process, seen from its compiler. Only the compiler's thread uses it: a
// child ends with the thread that started it.
#ifndef KEEL_COMPILER_CHILD_H_
#define KEEL_COMPILER_CHILD_H_

#include <sys/types.h>

#include "compiler/wire.h"

enum { CHILD_SAID = 8192 }; // of what it wrote to stderr, the last bytes

typedef struct child_t {
    pid_t pid; // 0: none
    bool is_interpreter;
    size_t handlers; // that it knows
    int socket;      // messages; does not block
    int said;        // what it prints; does not block, -1 at its end
    char end[CHILD_SAID];
    size_t end_size;
    keel_buffer_t out; // still to be sent, from `sent` on
    size_t sent;
    uint8_t head[WIRE_HEAD]; // of the message that comes
    size_t head_size;
    uint64_t expected;
    keel_buffer_t in;
    uint64_t used;                      // of the processor, in nanoseconds, at the last look
    unsigned looks_stopped, looks_idle; // in a row
} child_t;

// Starts `command` (its words, which end with NULL), with its end of the socket as descriptor
// CHILD_DESCRIPTOR.
enum { CHILD_DESCRIPTOR = 3 };
keel_status_t child_start(child_t *child, const char *const *command) KEEL_MUST_CHECK;
// Ends it and all that it started. If it `is_gone`, because its socket was closed, describes what
// ended it: "SIGABRT". Takes what it still says. Frees all but that.
void child_end(child_t *child, bool is_gone, char out_end[64]);

// Sends what fits. False if the child is gone.
bool child_send(child_t *child);
// Takes what is there. KEEL_NOT_FOUND if the child is gone; *out_done if a whole message is in
// `in`.
keel_status_t child_receive(child_t *child, bool *out_done) KEEL_MUST_CHECK;
// For a child that has work, every CHILD_LOOK milliseconds: why waiting for it any longer is
// useless, or NULL. Looks are counted, not time: whoever suspends a job suspends this process too.
enum { CHILD_LOOK = 1000 };
const char *child_look(child_t *child);
// Drops the message that was received.
void child_next(child_t *child);
void child_listen(child_t *child); // to what it prints
// The line that tells most of what it said last: why it gave up, otherwise the last one that is no
// stack trace; empty if there is none.
keel_str_t child_last_line(const child_t *child);

#endif // KEEL_COMPILER_CHILD_H_
