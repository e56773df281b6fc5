// warn: what `keel run` says of recompiles while its command runs: one that breaks a steady run at
// once, the fifth of a run that never was steady, and no more than a few lines a minute.
//
// Threads: none; it is used in the child that explains the run.
#ifndef KEEL_CLI_WARN_H_
#define KEEL_CLI_WARN_H_

#include "analysis/analysis.h"

enum {
    CLI_WARN_STEADY = 3, // steps without a new program: then a run counts as steady
    CLI_WARN_FIRST = 5,  // recompiles of a process that is not; then ten times as many, and so on
    CLI_WARN_LINES = 3,  // a minute
};

typedef struct cli_warn_t {
    uint64_t began;     // the minute, by the clock; 0: nothing was said yet
    unsigned said;      // lines in it
    uint64_t left_out;  // recompiles that the minute had no room for
    keel_map_t counts;  // process -> its recompiles
    keel_map_t reasons; // what was said, without the step -> the process
} cli_warn_t;

void cli_warn_initialize(cli_warn_t *warn);
void cli_warn_deinitialize(cli_warn_t *warn);

// Counts a recompile of a process. True if it is worth a line; *out_count: the recompiles of a
// process that is not steady, 0 for one that is.
bool cli_warn_counts(cli_warn_t *warn, int64_t pid, uint64_t steady, uint64_t *out_count);
// False if another process gave the same reason: all of a job may compile one program.
bool cli_warn_is_new(cli_warn_t *warn, int64_t pid, keel_str_t reason);
// True if the minute has room for a line; otherwise the recompile counts as left out.
bool cli_warn_has_room(cli_warn_t *warn, uint64_t now);
// How many were left out of a minute that is over; 0 while it is not, and after it was asked.
uint64_t cli_warn_left_out(cli_warn_t *warn, uint64_t now);

// Says on stderr what becomes due. Its context is a cli_warn_t.
extern const keel_analysis_listener_t cli_warn_listener;

#endif // KEEL_CLI_WARN_H_
