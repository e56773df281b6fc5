// run: the model of a run. Two passes over its journal fill one keel_run_t; why it compiled what it
// did (why/why.h), the texts (text/text.h) and the page (page/page.h) only look at it.
//
//   run.c      the pass over the events: identity, figures, programs, requests
//   steps.c    which step each compile or load delayed; warmups.c: what came before the first
//   entries.c  what the journal explains; retraces.c: with what is not explained by itself
//   reads.c    what moved between host and device; asides.c, fixes.c, makers.c,
//              memory.c: the rest
//   start.c    where the time of a start went (start.h)
//   rehearsal.c  what is said about a rehearsal; outcomes.c: what its compiler made of each
//   program;
//                fit.c: whether it fits; drift.c: what processes do not do together
//   remotes.c  what remotes answered, and from where programs came
//
// A *step* ends where the process marks it (keel_step). In a process without marks it is one
// execution of the leading family: the programs that share a module name ("jit_step") and do the
// most work of all such names (operations times executions, summed; an eighth of that if nothing of
// the name ran again). PyTorch/XLA gives all its programs one name: there a family is what one line
// asked for, so programs of mid-step host reads and of the set-up are not steps. Nor is what a
// warm-up runs (journal/steps.h). In a run of several processes each counts its own steps, and the
// largest figures count.
//
// Ownership: a keel_run_t owns all it points to; texts live in its arena and are "" if unknown.
// Threads: no shared state.
#ifndef KEEL_RUN_RUN_H_
#define KEEL_RUN_RUN_H_

#include "base/base.h"
#include "explain/cause.h"
#include "journal/journal.h"
#include "metrics/metrics.h"
#include "run/asides.h"
#include "run/fixes.h"
#include "run/makers.h"
#include "run/memory.h"
#include "run/reads.h"
#include "run/rehearsal.h"
#include "run/remotes.h"
#include "run/texts.h"
#include "run/took.h"

typedef struct keel_run_place_t {
    const char *file;  // as the journal has it
    const char *shown; // "train.py:88": relative to the run's folder if the file is in it
    const char *function;
    uint32_t line;
    const char *call_file, *call_shown;
    uint32_t call_line;
    const char *library_file;  // "" or NULL: none
    const char *library_shown; // "flax/nnx/compilation.py:138"
    uint32_t library_line;
    const char *scope; // named scopes, "model/block 3"; "" or NULL: none
    // What keel_place_t says of an application; "" or NULL: none.
    const char *application;
    const char *script_file, *script_shown;
    uint32_t script_line;
} keel_run_place_t;

// One program: what shares a key or, without a key, the bytes.
typedef struct keel_run_program_t {
    const char *identity; // its key in hex, or its digest if it has no key
    const char *program;  // digest of its bytes in hex, as first seen: `keel show` takes it
    const char *name;
    keel_run_place_t site;
    uint64_t ops, bytes, executes;
    keel_took_t compiles, loads;
    const char *tier; // from which it was loaded first; "" if it was not
    bool uncacheable;
} keel_run_program_t;

// A compile or a load, in order of time.
typedef struct keel_run_request_t {
    uint64_t step; // the step it delayed, from 1
    double t;
    keel_took_t took;
    keel_run_fate_t fate;
    uint64_t ops; // of the program; 0: unknown
    int64_t pid;
    size_t index;               // equal for requests of one program; below keel_run_t.program_count
    const char *name, *program; // of the module; digest of its bytes in hex
    keel_run_place_t site;
    bool is_load, from_memory;
    bool is_compile; // as in the entry
    bool recompile;
    bool is_repeat;   // another host of the rehearsal asked for that program before: no compile,
                      // since all hosts wait for it at the same time
    size_t operation; // an operation that ran by itself, outside jit; SIZE_MAX: none
    size_t entry;     // the entry that explains it, from 0; SIZE_MAX: none
} keel_run_request_t;

typedef struct keel_run_difference_t {
    keel_cause_t kind;
    const char *subject, *old_value, *new_value, *note;
    keel_run_place_t place;
    uint32_t old_op, new_op;   // KEEL_NONE
    const uint32_t *arguments; // of the new program, without names, that a root is about
    size_t argument_count;
    uint32_t folds;
    uint32_t follows; // for a folded one: index in the entry's roots; KEEL_NONE: unknown
} keel_run_difference_t;

typedef struct keel_run_frame_t {
    const char *file, *shown, *function;
    uint32_t line;
} keel_run_frame_t;

// One program that was asked for, as the journal explains it.
typedef struct keel_run_entry_t {
    uint64_t step;      // the step it held up, from 1
    uint64_t last_step; // likewise the last of several retraces; otherwise the same
    bool at_end;        // its process ended before that step
    double t;
    int64_t pid;
    const char *what; // "compile", "load", "retrace"
    const char *miss; // of a retrace that is compiled: why, as a sentence; otherwise ""
    // In a rehearsal, a load from the cache counts as the compile that it was once: the cache here
    // says nothing about the device's own run.
    bool is_compile;
    bool is_refused;     // the client did not get it
    const char *name;    // of the module
    const char *origin;  // of its function (host/host.h); ""
    const char *program; // digest of its bytes in hex
    const char *key;
    const char *tier; // from which it was loaded; "" if it was not, or if that is unknown
    keel_took_t took; // of a retrace, with Keel's own time, and with those not explained themselves
    uint64_t ops;     // of the program; 0: unknown
    bool recompile;   // as the journal has it
    size_t operation; // as in the request; SIZE_MAX: none
    bool is_eager;    // an operation that ran by itself
    keel_run_place_t site;
    bool is_compared; // with another program; what is known about that follows
    const char *against_program, *against_name, *against_run; // "" if unknown
    double against_when;
    bool against_is_ours;
    bool is_another_function; // than the one that had that program
    bool unrelated;           // has almost nothing in common with what it was compared with
    double alike;
    keel_run_difference_t *roots;
    size_t root_count;
    uint64_t root_total;
    keel_run_difference_t *folded;
    size_t folded_count;
    uint64_t folded_total;
    keel_run_frame_t *stack;
    size_t stack_count;
    const char *stack_skipped;
    bool stops;           // as keel_explanation_t has it
    const uint32_t *left; // likewise
    size_t left_count;
    keel_run_place_t *made; // lines that put arrays on the device since the program before
    size_t made_count;
} keel_run_entry_t;

// The client asked for a program that its function had before.
bool keel_run_is_retrace(const keel_run_entry_t *entry);

struct keel_steps_t;

typedef struct keel_run_t {
    const char *id;
    const char *command; // of its first process, joined by blanks
    const char *argv;    // the same as a JSON list
    const char *cwd, *host, *mode, *plugin_path, *plugin_platform, *plugin_api;
    const char *framework; // "jax", "torch", "c" (keel/tensor.h) or ""
    bool is_torch_tpu;     // "torch", by TorchTPU, not PyTorch/XLA
    double started;        // seconds since 1970; 0: no event at all
    double duration;       // from the first event to the last
    double wall_seconds;
    uint64_t processes;
    bool has_client;     // a process of the run made one
    uint64_t unfinished; // processes that wrote no end: still running, killed, or cut off

    uint64_t journal_bytes;              // of the run's own files; 0 from keel_run_parse
    keel_took_t compiles;                // inside the plugin
    keel_took_t loads;                   // that the client waited for the plugin
    uint64_t fates[KEEL_RUN_FATE_COUNT]; // of the compiles
    keel_took_t partitioned;             // those whose compiler only said how it shards them
    uint64_t memory_hits, remote_hits, misses, uncacheable, publishes, executes;
    uint64_t known_executes;      // programs whose compile or load the journal has
    uint64_t recompiles;          // compiles that the journal calls that
    uint64_t ahead_loads;         // loads that had begun before the client asked
    uint64_t unused_loads;        // programs that were loaded ahead and never asked for
    double ahead_seconds;         // inside the plugin, of all that was loaded ahead
    double overhead_seconds;      // Keel's own inside Compile, over compiles and loads
    double load_overhead_seconds; // of that, over loads
    double spared_seconds; // what compiling the loaded programs had cost when they were stored
    uint64_t summed;       // compiles and loads that only the figures have: what is kept is bounded
    uint64_t steps;
    uint64_t settled_at_step; // steps before the last new program, and one; 0 if nothing ran

    keel_run_program_t *programs; // the most expensive first
    size_t program_count;
    keel_run_request_t *requests;
    size_t request_count;
    keel_run_entry_t *entries;
    size_t entry_count;

    keel_reads_t reads; // what moved between host and device
    keel_asides_t asides;
    keel_makers_t makers; // what buffers show
    keel_fixes_t fixes;   // asked for, in order of time
    keel_remote_uses_t remotes;
    keel_run_rehearsal_t rehearsal;
    keel_memory_t memory;   // filled if asked for, and for a rehearsal
    keel_metrics_t metrics; // counted if asked for
    keel_map_t sources;     // what the run read in its source files (host/source.h)
    bool has_lines;         // PyTorch/XLA: operations have their lines
    bool is_narrowed;       // PyTorch/XLA: a variable makes bfloat16 of float32

    uint64_t store_errors, fallbacks;
    const char *first_store_error, *first_fallback;

    keel_journal_damage_t damage;
    char *path;                   // of the journal
    keel_journal_source_t source; // for keel_run_visit
    unsigned parts;
    struct keel_steps_t *steps_; // steps.h; for the files of this room
    keel_texts_t texts;
} keel_run_t;

// Parts of a journal that take time to read and that few commands show.
enum {
    KEEL_RUN_DETAILS = 1, // what follows from each cause
    KEEL_RUN_MEMORY = 2,
    KEEL_RUN_METRICS = 4, // needs KEEL_RUN_MEMORY
    KEEL_RUN_KEYS = 8,    // components of keys, for keel_run_visit
};

// Reads a run's journal. Damage is in out->damage and is not an error.
keel_status_t keel_run_read(const char *run_dir, const char *id, unsigned parts,
                            keel_run_t *out) KEEL_MUST_CHECK;
// The same from a journal's bytes; `path` is for messages.
keel_status_t keel_run_parse(keel_bytes_t bytes, const char *id, const char *path, unsigned parts,
                             keel_run_t *out) KEEL_MUST_CHECK;
// One without anything, for keel_run_deinitialize.
void keel_run_initialize(keel_run_t *run);
void keel_run_deinitialize(keel_run_t *run);
// Reads the events again, in order, for what the model lacks. Asks are not among them, nor are the
// parts that were not asked for. What was given to keel_run_parse must still be there. A status
// from `visit` ends it and is returned.
keel_status_t keel_run_visit(const keel_run_t *run,
                             keel_status_t (*visit)(void *context, const struct json_t *event),
                             void *context) KEEL_MUST_CHECK;

// What the client waited for loads: for the plugin, and for Keel, which reads and keys programs.
keel_took_t keel_run_waited(const keel_run_t *run);
// True if the last step had a new program and something was compiled: whether that was the end of
// it is unknown.
bool keel_run_is_restless(const keel_run_t *run);
// True if an operation that ran by itself has new programs until the run ends.
bool keel_run_is_endless(const keel_run_t *run, size_t operation);
// True if a program with those bytes was executed in that process after the compile or load of
// `other`.
bool keel_run_ran_after(const keel_run_t *run, const char *digest, const char *other, int64_t pid);
// True if the process's code froze it (keel.freeze) after it had asked for that program.
bool keel_run_is_seen(const keel_run_t *run, const char *digest, int64_t pid);
// True if that program, or others that the same line asks for, ran more than once in that process
// since its compile or load.
bool keel_run_goes_on(const keel_run_t *run, const char *digest, int64_t pid);
// What a process did with a function until it asked for one of the function's programs.
typedef struct keel_run_uses_t {
    uint64_t before;   // executions of all its programs; UINT64_MAX: the journal does not say
    uint64_t others;   // programs of it that were asked for
    bool has_gradient; // the function computes gradients
} keel_run_uses_t;
keel_run_uses_t keel_run_uses(const keel_run_t *run, const char *digest, int64_t pid);

// Whether a rehearsal's programs fit in the memory of each device, with all that is alive there.
typedef enum keel_run_verdict_t {
    KEEL_RUN_UNSURE, // no rehearsal; or not all is known, and what is fits
    KEEL_RUN_FITS,
    KEEL_RUN_TOO_LARGE,
} keel_run_verdict_t;

typedef struct keel_run_fit_t {
    keel_run_verdict_t verdict;
    const keel_memory_program_t *largest; // NULL: none
    uint64_t limit;                       // what programs may use of a device; 0: unknown
    uint64_t unknown;                     // programs that ran and of which the needs are unknown
    const keel_memory_program_t *asked;   // of these, the one with the most operations
} keel_run_fit_t;
keel_run_fit_t keel_run_fit(const keel_run_t *run);
// False if a rehearsal has shown that something does not compile or fit, could not be rehearsed, or
// is not executed by all processes.
bool keel_run_passes(const keel_run_t *run);

// "/home/ada/a/train.py" in a run from /home/ada/a is "train.py".
const char *keel_run_relative(const char *file, const char *folder);

#endif // KEEL_RUN_RUN_H_
