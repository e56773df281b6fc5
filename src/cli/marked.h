// marked: what the processes of a rehearsal write, except the first: line by line, each with its
// process's number in front.
#ifndef KEEL_CLI_MARKED_H_
#define KEEL_CLI_MARKED_H_

#include <signal.h>

#include "cli/cli.h"

// A process's stdout or stderr.
typedef struct cli_stream_t {
    int from, into; // the pipe's ends; -1: closed
    int to;         // of this process
    keel_buffer_t line;
} cli_stream_t;

typedef struct cli_marked_t {
    cli_stream_t streams[CLI_PROCESSES][2];
    uint32_t count; // of processes
} cli_marked_t;

void cli_marked_initialize(cli_marked_t *marked);
// The pipes of one more process, before it is started. `number` counts up.
keel_status_t cli_marked_open(cli_marked_t *marked, uint32_t number) KEEL_MUST_CHECK;
// In that process: they become its output. False with errno.
bool cli_marked_take(const cli_marked_t *marked, uint32_t number);
// In this process, after it was started.
void cli_marked_started(cli_marked_t *marked, uint32_t number);
// Passes on what there is, and waits for more, for a signal of those that are not in `mask`, or
// until `deadline` (keel_clock_monotonic; 0: none).
void cli_marked_pass_on(cli_marked_t *marked, uint64_t deadline, const sigset_t *mask);
// Passes on the rest, once all processes have ended.
void cli_marked_end(cli_marked_t *marked);

#endif // KEEL_CLI_MARKED_H_
