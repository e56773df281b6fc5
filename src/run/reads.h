// reads: what moved between host and device in a run, by line, and the reads that cut a step.
//
// A *cut* is an execution in the middle of a step, because the host reads what the client has only
// recorded: the journal's `pieces`, if their step went on with them in at least half of the
// executions that were followed. If no step went on with it (an evaluation, a figure computed from
// a step's results), it is a program of its own and not a cut.
//
// Ownership: text lives in the arena that is handed in. Threads: no shared state.
#ifndef KEEL_RUN_READS_H_
#define KEEL_RUN_READS_H_

#include "base/base.h"
#include "run/texts.h"

struct keel_steps_t;

typedef struct keel_moved_t {
    uint64_t count, bytes;
    double seconds;
    bool is_untimed; // in a rehearsal nothing moves
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
    const char *program; // the program executed for it: its digest in hex, its module's name
    const char *name;
    bool endless; // of keel_reads_t
} keel_reads_line_t;

typedef struct keel_reads_t {
    keel_moved_t to_device, from_device;
    keel_moved_t elsewhere;   // of from_device: reads that no code of the user's asked for
    keel_reads_line_t *lines; // those that cut first, then by reads
    size_t count;
    size_t cut_count; // lines that cut
    uint64_t cuts;    // of all lines
    // Steps that were followed to their end, and their programs. Fewer than were cut: a running
    // step has no end, and the first ones are cut before that is known.
    uint64_t cut_steps, cut_pieces;
    bool endless; // a read asked for each execution and cut: nothing ends a step
} keel_reads_t;

// What is kept while events are added.
typedef struct keel_reads_reading_t {
    const struct keel_steps_t *steps; // whose first pass is over
    const char *folder;
    keel_texts_t *texts;
    keel_reads_t *out;
    keel_map_t by_line; // -> lines
    keel_map_t by_piece;
    struct keel_reads_piece_t *pieces;
    size_t piece_count;
} keel_reads_reading_t;

struct json_t;
// Deinitialize `out` even on failure.
void keel_reads_begin(keel_reads_reading_t *reading, const struct keel_steps_t *steps,
                      keel_texts_t *texts, keel_reads_t *out);
// One more event; others than `transfers` are skipped. `folder`: of the run.
keel_status_t keel_reads_add(keel_reads_reading_t *reading, const struct json_t *event,
                             const char *folder) KEEL_MUST_CHECK;
keel_status_t keel_reads_settle(keel_reads_reading_t *reading) KEEL_MUST_CHECK;
void keel_reads_end(keel_reads_reading_t *reading);
void keel_reads_deinitialize(keel_reads_t *reads);

#endif // KEEL_RUN_READS_H_
