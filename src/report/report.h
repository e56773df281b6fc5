// report: what a run's journal amounts to, as figures, as text for people and as JSON for tools.
//
// A *step* ends where the process marks it (keel_step). In a process without marks it is one
// execution of the leading family: the programs that share a module name ("jit_step") and of all
// such names do the most (the sum of operations times executions; an eighth of it where nothing of
// that name ran again). PyTorch/XLA gives all its programs one name: there a family is what one
// line asked for, so that the programs of host reads in mid-step and those of the set-up are no
// steps. In a run of several processes each counts its own steps, and the largest figures stand.
//
// Ownership: a keel_stats_t owns all it points to. Threads: no shared state.
#ifndef KEEL_REPORT_REPORT_H_
#define KEEL_REPORT_REPORT_H_

#include "base/base.h"
#include "journal/journal.h"
#include "report/asides.h"
#include "report/eager.h"
#include "report/fixes.h"
#include "report/reads.h"

// Text lives in the stats' arena; "" where unknown.
typedef struct keel_stats_site_t {
    const char *file;  // as the journal has it
    const char *shown; // "train.py:88": relative to the run's folder where it lies there
    const char *function;
    const char *call_shown;
    uint32_t line;
} keel_stats_site_t;

// One program: what shares a key, or, without a key, the bytes.
typedef struct keel_stats_program_t {
    const char *identity; // its key in hex, or its digest where it has no key
    const char *program;  // digest of its bytes in hex, as first seen: `keel show` takes it
    const char *name;
    keel_stats_site_t site;
    uint64_t ops, bytes, executes;
    uint64_t compiles, loads;
    double compile_seconds, load_seconds;
    bool uncacheable;
} keel_stats_program_t;

typedef struct keel_stats_recompile_t {
    uint64_t step; // the step it held up, from 1
    double seconds;
    const char *name, *program;
    keel_stats_site_t site;
    // Its first root cause, where the journal explains it.
    const char *cause; // the kind's word: "shape"
    const char *subject, *old_value, *new_value;
    const char *shown; // where: "train.py:88"
    bool is_eager;     // while reading: an operation by itself, left out where it came to an end
} keel_stats_recompile_t;

typedef struct keel_stats_t {
    const char *id;      // of the run
    const char *command; // of its first process, joined by blanks
    const char *argv;    // the same as a JSON list
    const char *cwd, *host, *mode, *plugin_path, *plugin_platform, *plugin_api;
    double started; // seconds since 1970; 0: no event at all
    double wall_seconds;
    uint64_t processes;
    uint64_t unfinished; // processes that wrote no end: running still, killed, or cut off

    uint64_t journal_bytes; // of the run's own files; 0 from keel_stats_parse
    uint64_t compiles, loads, memory_hits, misses, uncacheable, publishes, executes;
    uint64_t ahead_loads;    // loads that had begun before they were asked for
    uint64_t unused_loads;   // programs that were loaded ahead and never asked for
    double compile_seconds;  // inside the plugin
    double load_seconds;     // that the client waited for the plugin
    double ahead_seconds;    // inside the plugin, of all that was loaded ahead
    double overhead_seconds; // Keel's own inside Compile, over compiles and loads
    double spared_seconds;   // what compiling the loaded programs had cost when they were stored
    uint64_t steps;
    uint64_t settled_at_step; // steps before the last new program, and one; 0 where nothing ran

    keel_stats_program_t *programs; // by cost, dearest first
    size_t program_count;
    keel_stats_recompile_t *recompiles; // in order of time
    size_t recompile_count;
    double recompile_seconds;
    // Compiles of what an earlier run had, or had the like of; the dearest of them.
    uint64_t known;
    double known_seconds;
    keel_stats_recompile_t dearest_known;

    keel_reads_t reads; // what moved between host and device

    uint64_t store_errors, fallbacks;
    const char *first_store_error, *first_fallback;
    keel_asides_t asides;
    keel_eager_lines_t eager;

    keel_fixes_t fixes; // asked for, in order of time

    keel_journal_damage_t damage;
    char *path; // of the journal
    keel_arena_t texts;
} keel_stats_t;

// Reads a run's journal. Damage is in out->damage and no error.
keel_status_t keel_stats_read(const char *run_dir, const char *id,
                              keel_stats_t *out) KEEL_MUST_CHECK;
// The same from a journal's bytes; `path` is for messages.
keel_status_t keel_stats_parse(keel_bytes_t bytes, const char *id, const char *path,
                               keel_stats_t *out) KEEL_MUST_CHECK;
void keel_stats_deinitialize(keel_stats_t *stats);

// True where the last step had a new program, and something was compiled: nobody knows whether that
// is the end of it.
bool keel_report_is_restless(const keel_stats_t *stats);
// Few lines for the end of a run, each beginning with "keel: ".
void keel_report_summary(const keel_stats_t *stats, keel_buffer_t *out);
// All of it for people. `width`: columns that long values are cut to; 0: nothing is cut.
void keel_report_text(const keel_stats_t *stats, unsigned width, keel_buffer_t *out);
// One line for `keel runs`, without its end; a command that is longer than the width is cut.
void keel_report_line(const keel_stats_t *stats, unsigned width, keel_buffer_t *out);
// "JOURNAL:12: no JSON; ...", or "" where there is no damage.
void keel_report_damage(const keel_stats_t *stats, keel_buffer_t *out);
// docs/journal.md tells the fields. `whole`: with the lists, as `keel stats`; else as `keel runs`.
void keel_report_json(const keel_stats_t *stats, bool whole, keel_buffer_t *out);

#endif // KEEL_REPORT_REPORT_H_
