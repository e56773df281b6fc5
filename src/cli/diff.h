// The parts of `keel diff`.
//
//   diff.c              the command; two programs
//   diff_print.c        how a difference is written
//   diff_runs.c         two runs: which programs of the one correspond to which of the other
//   diff_runs_print.c   how that is written
//
// Ownership: a comparison of runs owns all it points to. Threads: one.
#ifndef KEEL_CLI_DIFF_H_
#define KEEL_CLI_DIFF_H_

#include "cli/cli.h"
#include "explain/explain.h"
#include "history/history.h"
#include "run/run.h"

// ---- diff_print.c ------------------------------------------------------------------------------

// Text that may come from a foreign program: on one line, cut at `longest` bytes (0: not cut).
void cli_diff_value(const char *text, size_t longest, keel_buffer_t *out);
// "batch['x']: f32[8] -> f32[4], note"
void cli_diff_change(const keel_difference_t *difference, bool all, keel_buffer_t *out);
// "train.py:88 in loss, called at run.py:3"; nothing if no place is known.
void cli_diff_place(const keel_place_t *place, keel_buffer_t *out);
// The causes of a pair of programs, each with its place and what follows from it.
void cli_diff_text(const keel_explanation_t *explanation, bool all, keel_buffer_t *out);
// The fields of the journal's `explain` event, into an object that is open.
void cli_diff_json(const keel_explanation_t *explanation, keel_json_t *json);
// A list of differences, without the name of its field.
void cli_diff_list(const char *name, const keel_difference_t *list, size_t count, bool are_roots,
                   keel_json_t *json);

// True if nothing differs.
bool cli_diff_is_none(const keel_explanation_t *explanation);

// ---- diff_runs.c -------------------------------------------------------------------------------

typedef struct cli_diff_run_t {
    const char *id;
    keel_run_t stats;
    bool started;        // its first process has recorded its components
    keel_key_t key;      // the components of its first process
    keel_key_t *options; // of each program: what its miss recorded; unset if it had none
    keel_sketch_t *sketches;
    uint8_t *state; // of each program: cli_diff_state_t
    keel_map_t by_identity;
} cli_diff_run_t;

typedef enum cli_diff_state { CLI_DIFF_ALONE, CLI_DIFF_SHARED, CLI_DIFF_PAIRED } cli_diff_state_t;

typedef struct cli_diff_pair_t {
    uint32_t old, new;
    bool same; // one program under another key
    keel_explanation_t explanation;
} cli_diff_pair_t;

typedef struct cli_diff_runs_t {
    const char *run_dir;
    cli_diff_run_t runs[2];
    keel_explanation_t moved;
    size_t shared;
    cli_diff_pair_t *pairs;
    size_t pair_count, pair_room;
} cli_diff_runs_t;

// Compares two runs, given by their full ids; leaves *out_same unchanged on failure.
keel_status_t cli_diff_runs(const char *run_dir, const char *const ids[2], bool json, bool all,
                            keel_buffer_t *out, bool *out_same) KEEL_MUST_CHECK;

// ---- diff_runs_print.c -------------------------------------------------------------------------

void cli_diff_runs_text(const cli_diff_runs_t *all, bool whole, keel_buffer_t *out);
void cli_diff_runs_json(const cli_diff_runs_t *all, bool same, keel_buffer_t *out);

#endif // KEEL_CLI_DIFF_H_
