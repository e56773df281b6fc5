// reads: what moved between host and device in a run, by line, and the reads that cut a step.
//
// A *cut* is an execution in the middle of a step, because the host reads what the client has only
// recorded: the journal's `pieces`, if their step went on with them in at least half of the
// executions that were followed. Those with which no step went on (an evaluation, a figure made of
// a step's results) are programs of their own and no cuts.
//
// Ownership: text lives in the arena that is handed in. Threads: no shared state.
#ifndef KEEL_RUN_READS_H_
#define KEEL_RUN_READS_H_

#include "base/base.h"

struct keel_steps_t;

typedef struct keel_moved_t {
    uint64_t count, bytes;
    double seconds;
} keel_moved_t;

// A line of the host that reads.
typedef struct keel_reads_line_t {
    const char *file;  // as the journal has it
    const char *shown; // "train.py:88"
    const char *function;
    const char *call_file, *call_shown;
    const char *library_file, *library_shown; // of a library that the line called; ""
    uint32_t line, call_line, library_line;
    keel_moved_t moved;
    uint64_t cuts;       // executions that cut a step
    uint64_t others;     // executions for a read here that cut none
    uint64_t pieces;     // programs of the last step that was cut here
    const char *program; // that is executed for it: its digest in hex, its module's name
    const char *name;
    bool endless; // of keel_reads_t
} keel_reads_line_t;

typedef struct keel_reads_t {
    keel_moved_t to_device, from_device;
    keel_moved_t elsewhere;   // of from_device: what has no line, because no Python asked for it
    keel_reads_line_t *lines; // those that cut first, then by reads
    size_t count;
    size_t cut_count; // lines that cut
    uint64_t cuts;    // of all lines
    // Steps that were followed to their end, and their programs. Fewer than were cut: one that
    // still runs has no end, and the first are cut before that is known.
    uint64_t cut_steps, cut_pieces;
    bool endless; // each execution was asked for by a read, and cut: nothing ends a step
} keel_reads_t;

// `out` is to be deinitialized also on failure. `folder`: of the run.
keel_status_t keel_reads_read(const struct keel_steps_t *steps, const char *folder,
                              keel_arena_t *texts, keel_reads_t *out) KEEL_MUST_CHECK;
void keel_reads_deinitialize(keel_reads_t *reads);

#endif // KEEL_RUN_READS_H_
