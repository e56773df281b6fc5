// why: why a run compiled what it did: from what its journal explains to recompiles, their causes,
// patterns and costs. It looks at the run (run/run.h) and changes nothing there; the texts and the
// page show what it finds.
//
//   judge.c       the journal's entries, and what else is known about them
//   follows.c     host reads that later programs follow from
//   number.c      numbers in the user's source, of which source.c has the lines
//   eager.c       operations that ran by themselves; find_eager.c: those that never end
//   sets.c        what a warm-up asks for
//   patterns.c    recompiles with one story
//   barriers.c    syncs in the middle of a step
//   advice.c      what to do
//   costs.c       questions, ledgers, totals
//   summary.c     what the summary of a run names
//   figures.c     what a list of runs shows, in a file (figures.h)
//
// Ownership: a keel_why_t owns all it points to, the run included. Threads: no shared state.
#ifndef KEEL_WHY_WHY_H_
#define KEEL_WHY_WHY_H_

#include "run/run.h"
#include "why/eager.h"

// One program that was asked for, and why.
typedef struct keel_why_entry_t {
    const keel_run_entry_t *asked; // as the journal has it
    bool recompile;
    bool left_out; // no recompile: almost nothing in common with what it was compared with, a
                   // library's own loop while the run starts, or one of a set
    keel_run_difference_t *roots;
    size_t root_count;
    uint64_t root_total;
    const keel_run_difference_t *folded;
    size_t folded_count;
    uint64_t folded_total;
    const char *pattern;    // the pattern that it is part of: "counter"; or ""
    uint32_t pattern_index; // of that in why->patterns; KEEL_NONE: none
    uint32_t set;           // that it is one of, from 1; 0: none
    uint32_t leader;        // the entry that it follows from, whose causes it has; KEEL_NONE: none
} keel_why_entry_t;

// Programs of one function that a warm-up asks for: the buckets of a server, one for each size. The
// line asks for no more once one of them runs again, so they are not recompiles.
typedef struct keel_why_set_t {
    const char *name; // of the module
    keel_run_place_t place;
    bool is_of_sizes;    // they differ in the size of one thing
    const char *subject; // which one: "tokens"; otherwise ""
    uint64_t programs;
    uint64_t last_step; // that the last one delayed, from 1
    keel_took_t took;
} keel_why_set_t;

// A line of PyTorch/XLA's that ends a program in the middle of each step, without reading anything.
typedef struct keel_why_barrier_t {
    const keel_run_place_t *place;
    const char *name, *program; // of one that was recompiled: its module; its digest in hex
    uint64_t times;             // executions of what it asked for
    uint64_t pieces;            // programs of a step, with those of this line
    keel_took_t took;           // of its recompiles
} keel_why_barrier_t;

// Several recompiles with one story.
#define KEEL_PATTERNS(X)                                                                           \
    X(GROWING, "growing", "a list of arguments grows with each compile")                           \
    X(COUNTER, "counter", "a constant takes a new value with each compile")                        \
    X(UNPADDED, "unpadded", "a dimension varies freely: the batch is not padded")                  \
    X(ALTERNATING, "alternating", "two programs keep taking turns")                                \
    X(SUBSETS, "subsets", "one program for each subset of optional arguments")                     \
    X(EAGER, "eager", "small programs are compiled one by one, outside jit")

typedef enum keel_pattern_kind {
#define KEEL_PATTERN_ENUM(name, word, sentence) KEEL_PATTERN_##name,
    KEEL_PATTERNS(KEEL_PATTERN_ENUM)
#undef KEEL_PATTERN_ENUM
        KEEL_PATTERN_COUNT,
} keel_pattern_kind_t;
const char *keel_pattern_word(keel_pattern_kind_t kind);
// About the kind as such.
const char *keel_pattern_sentence(keel_pattern_kind_t kind);

typedef struct keel_why_pattern_t {
    keel_pattern_kind_t kind;
    keel_cause_t cause;  // of its mentions; COUNT: unknown
    const char *name;    // of the module
    const char *subject; // "batch['x']"
    const char *values;  // "3, 4, 5, 6"; if many, the first few and the last
    keel_run_place_t place;
    bool grows;   // UNPADDED: each value is larger than the one before
    bool counted; // UNPADDED: the size is what a mask selects, counted on the host
    keel_took_t took;
} keel_why_pattern_t;

// Time lost, the most expensive first: by cause (place empty) or by source line.
typedef struct keel_why_cost_t {
    keel_cause_t kind;
    keel_run_place_t place;
    keel_took_t took;
    uint64_t ops; // of the programs
} keel_why_cost_t;

// A recompile as the summary of a run names it.
typedef struct keel_why_recompile_t {
    uint64_t step; // the step it delayed, from 1
    keel_took_t took;
    uint64_t ops; // of the program
    const char *name, *program;
    keel_run_place_t site;
    // Its first root cause, if the journal explains it.
    const char *cause; // the kind's word: "shape"
    const char *subject, *old_value, *new_value;
    const char *shown; // where: "train.py:88"
} keel_why_recompile_t;

typedef struct keel_why_summary_t {
    keel_why_recompile_t *recompiles; // in order of time, those not explained yet among them
    size_t recompile_count;
    keel_took_t again; // all of them
    // Compiles of programs that an earlier run had, or had a similar version of; the most expensive
    // of them.
    keel_took_t known;
    keel_why_recompile_t dearest_known;
} keel_why_summary_t;

typedef struct keel_why_t {
    keel_run_t run;
    keel_why_entry_t *entries; // all that were explained, in order of time
    size_t entry_count;
    // Counts of those that are shown by default (keel_why_is_shown): avoidable compiles, retraces,
    // and misses of what an earlier run had. For two programs that take turns, loads too.
    keel_why_pattern_t *patterns;
    size_t pattern_count;
    keel_why_cost_t *by_cause, *by_line, *retraced; // the last: lines that ask for retraces
    size_t by_cause_count, by_line_count, retraced_count;
    keel_took_t questions[KEEL_QUESTION_NONE];
    // Those that are shown: programs that this run had in another form, programs that an earlier
    // run had, and programs that had not changed.
    keel_took_t again, known, retraces;
    keel_took_t shown; // all of these
    uint64_t refused;  // by the contract, or after a freeze
    // The journal's recompiles, explained or not, without those that turned out to be unrelated to
    // everything before them.
    uint64_t recompiles;
    keel_why_set_t *sets; // in order of time
    size_t set_count;
    keel_why_barrier_t *barriers; // the most expensive first
    size_t barrier_count;
    keel_eager_lines_t eager; // those that stopped coming, and so are not recompiles
    keel_why_summary_t summary;
    keel_texts_t texts;
} keel_why_t;

// False for the first of its kind, for a program that is merely similar to another one of the same
// run, and for a function of JAX's that shares only its name with others.
bool keel_why_is_shown(const keel_why_entry_t *entry);
// True if the training is silently wrong from there on, so that it is shown first.
bool keel_why_ruins(const keel_why_entry_t *entry);
// Its first root; NULL if it has none (it is unrelated, or the journal was cut).
const keel_run_difference_t *keel_why_cause(const keel_why_entry_t *entry);
// That root's place, or the line that the journal has for the compile.
const keel_run_place_t *keel_why_place(const keel_why_entry_t *entry);

// A part of what an entry cost: its time is divided equally among its roots. Only for entries
// that are shown by default; any other is one share, of cause `first`. Every figure by cause, by
// line or by question is a sum of these.
typedef struct keel_why_share_t {
    keel_cause_t kind;
    const keel_run_place_t *place;
    keel_took_t took;
} keel_why_share_t;
size_t keel_why_share_count(const keel_why_entry_t *entry);
keel_why_share_t keel_why_share(const keel_why_entry_t *entry, size_t index);

// A sentence about this pattern, more specific than that of its kind.
const char *keel_why_sentence(const keel_why_pattern_t *pattern);
// The root of an entry that its pattern is about, or the first; NULL if it has none.
const keel_run_difference_t *keel_why_told(const keel_why_entry_t *entry,
                                           const keel_why_pattern_t *pattern);
// What the run's program was written with; JAX, and false, if that is not known.
bool keel_why_framework(const keel_why_t *why, keel_framework_t *out);
// What to do about a root of an entry: the advice of its pattern, or of its cause.
const char *keel_why_advice(const keel_why_t *why, const keel_why_entry_t *entry,
                            const keel_run_difference_t *root, keel_framework_t framework);

// As keel_run_read and keel_run_parse.
keel_status_t keel_why_read(const char *run_dir, const char *id, unsigned parts,
                            keel_why_t *out) KEEL_MUST_CHECK;
keel_status_t keel_why_parse(keel_bytes_t bytes, const char *id, const char *path, unsigned parts,
                             keel_why_t *out) KEEL_MUST_CHECK;
void keel_why_deinitialize(keel_why_t *why);

// True for causes that belong to the whole run and not to a line: flags, the plugin, the devices.
bool keel_why_is_of_run(keel_cause_t kind);

#endif // KEEL_WHY_WHY_H_
