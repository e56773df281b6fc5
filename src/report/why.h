// why: what a run's journal says of each program that was compiled again, and what that amounts to.
//
// Ownership: a keel_why_t owns all it points to. Threads: no shared state.
#ifndef KEEL_REPORT_WHY_H_
#define KEEL_REPORT_WHY_H_

#include "base/base.h"
#include "explain/cause.h"
#include "journal/journal.h"
#include "report/asides.h"
#include "report/eager.h"
#include "report/fixes.h"
#include "report/reads.h"

// Text lives in the arena of keel_why_t; "" where unknown.
typedef struct keel_why_place_t {
    const char *file;  // as the journal has it
    const char *shown; // "train.py:88": relative to the run's folder where it lies there
    const char *function;
    uint32_t line;
    const char *call_file, *call_shown;
    uint32_t call_line;
    const char *library_file;  // "" or NULL: there is none
    const char *library_shown; // "flax/nnx/compilation.py:138"
    uint32_t library_line;
} keel_why_place_t;

typedef struct keel_why_difference_t {
    keel_cause_t kind;
    const char *subject, *old_value, *new_value, *note;
    keel_why_place_t place;
    uint32_t old_op, new_op; // KEEL_NONE
    uint32_t folds;
    uint32_t follows; // of a folded one: index in the entry's roots; KEEL_NONE: unknown
} keel_why_difference_t;

typedef struct keel_why_frame_t {
    const char *file, *shown, *function;
    uint32_t line;
} keel_why_frame_t;

// One program that was asked for and why.
typedef struct keel_why_entry_t {
    uint64_t step; // the step it held up, from 1
    bool at_end;   // its process had no such step any more
    double t;
    int64_t pid;
    const char *what;    // "compile", "load", "retrace"
    const char *name;    // of the module
    const char *program; // digest of its bytes in hex
    const char *key;
    double seconds;
    bool recompile;
    bool is_eager;    // an operation that ran by itself
    size_t operation; // of eager.h; SIZE_MAX: none
    keel_why_place_t site;
    const char *against_program, *against_name, *against_run; // "" where it is the first
    double against_when;
    bool against_is_ours;
    bool unrelated; // has almost nothing in common with what it was held against
    bool left_out;  // and is no recompile for that
    double alike;
    keel_why_difference_t *roots;
    size_t root_count;
    uint64_t root_total;
    keel_why_difference_t *folded;
    size_t folded_count;
    uint64_t folded_total;
    keel_why_frame_t *stack;
    size_t stack_count;
    const char *stack_skipped;
    const char *pattern;    // the pattern that it is part of: "counter"; or ""
    uint32_t pattern_index; // of that in why->patterns; KEEL_NONE: none
} keel_why_entry_t;

// Several recompiles that make one story.
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
// Of the kind as such.
const char *keel_pattern_sentence(keel_pattern_kind_t kind);

typedef struct keel_why_pattern_t {
    keel_pattern_kind_t kind;
    keel_cause_t cause;  // of what makes it; COUNT: unknown
    const char *name;    // of the module
    const char *subject; // "batch['x']"
    const char *values;  // "3, 4, 5, 6"; of many the first few and the last
    keel_why_place_t place;
    bool grows;   // UNPADDED: each value is larger than the one before
    bool counted; // UNPADDED: it is what a mask leaves, which the host counts
    uint64_t times;
    double seconds;
} keel_why_pattern_t;

// How often, and what it cost.
typedef struct keel_why_sum_t {
    uint64_t times;
    double seconds;
} keel_why_sum_t;

// Seconds lost, dearest first: by cause (place empty) or by source line.
typedef struct keel_why_cost_t {
    keel_cause_t kind;
    keel_why_place_t place;
    uint64_t times;
    double seconds;
} keel_why_cost_t;

typedef struct keel_why_t {
    const char *id, *command, *cwd, *framework; // framework: "jax", "torch" or ""
    keel_why_entry_t *entries;                  // in order of time; all that were explained
    size_t entry_count;
    // Of those that are shown by default: compiles that were avoidable, retraces, misses of what an
    // earlier run had. keel_why_is_shown. Of two programs that take turns, loads too.
    keel_why_pattern_t *patterns;
    size_t pattern_count;
    keel_why_cost_t *by_cause, *by_line;
    size_t by_cause_count, by_line_count;
    struct {
        uint64_t times;
        double seconds;
    } questions[KEEL_QUESTION_NONE];
    // Those that are shown: what this run had otherwise, what an earlier one had, and what nothing
    // had changed in.
    keel_why_sum_t again, known, retraces;
    uint64_t shown;
    double shown_seconds;
    // Of the journal, explained or not: compiles, and those of them that were recompiles; not of
    // what turned out to be unrelated to all before it.
    uint64_t compiles, recompiles;
    keel_reads_t reads; // by line, those that cut steps first
    keel_fixes_t fixes; // asked for
    keel_asides_t asides;
    keel_map_t sources;       // what the run read in its source files (host/source.h)
    keel_eager_lines_t eager; // those that came to an end, and so are no recompiles
    double compile_seconds;   // of all compiles
    uint64_t executions;      // of all programs
    bool has_lines;           // PyTorch/XLA: operations tell their lines
    uint64_t unfinished;      // processes that wrote no end: running still, killed, or cut off
    const char *path;         // of the journal; "" from keel_why_parse
    keel_journal_damage_t damage;
    keel_arena_t texts;
} keel_why_t;

// Not the first of its kind, nor one that is merely like another program of the same run, nor a
// function of JAX's that has nothing but its name in common with any.
bool keel_why_is_shown(const keel_why_entry_t *entry);
// Its first root; NULL where it has none (unrelated, or the journal was cut).
const keel_why_difference_t *keel_why_cause(const keel_why_entry_t *entry);
// That root's place, else the line that the journal gives the compile.
const keel_why_place_t *keel_why_place(const keel_why_entry_t *entry);

// A part of what an entry cost: its seconds are divided equally among its roots. What is shown by
// default; all else is one share, the first of its kind. Every figure by cause, by line or by
// question is a sum of these.
typedef struct keel_why_share_t {
    keel_cause_t kind;
    const keel_why_place_t *place;
    double seconds;
} keel_why_share_t;
size_t keel_why_share_count(const keel_why_entry_t *entry);
keel_why_share_t keel_why_share(const keel_why_entry_t *entry, size_t index);

// What this pattern is, more closely than its kind says.
const char *keel_why_sentence(const keel_why_pattern_t *pattern);
// The root of an entry that its pattern is about, else the first; NULL where it has none.
const keel_why_difference_t *keel_why_told(const keel_why_entry_t *entry,
                                           const keel_why_pattern_t *pattern);
// What to do about a root of an entry: what the pattern that it makes asks for, or its cause.
const char *keel_why_advice(const keel_why_t *why, const keel_why_entry_t *entry,
                            const keel_why_difference_t *root, bool torch);

// `whole`: also what follows from each cause, and the host's stacks; only the totals else.
keel_status_t keel_why_read(const char *run_dir, const char *id, bool whole,
                            keel_why_t *out) KEEL_MUST_CHECK;
// The same, whole, from a journal's bytes.
keel_status_t keel_why_parse(keel_bytes_t bytes, const char *id, keel_why_t *out) KEEL_MUST_CHECK;
void keel_why_deinitialize(keel_why_t *why);

// For people; `all`: also firsts and loads, every root and every folded difference.
typedef struct keel_why_style_t {
    bool all;
    bool color;
    unsigned width; // columns; 0: do not cut
} keel_why_style_t;
// A page; one line where there is nothing to tell.
void keel_why_text(const keel_why_t *why, const keel_why_style_t *style, keel_buffer_t *out);
// A list, one object an entry: docs/journal.md tells the fields.
void keel_why_json(const keel_why_t *why, bool all, keel_buffer_t *out);
// As keel_report_damage.
void keel_why_damage(const keel_why_t *why, keel_buffer_t *out);

#endif // KEEL_REPORT_WHY_H_
