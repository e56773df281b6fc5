// explain: why one program is not another.
//
//   explain.c        the comparison from beginning to end; what follows from what
//   components.c     two keys, field by field (fields.c): options, flags, plugin, devices
//   signature.c      arguments by name, results, donation, shardings, layouts
//   dropped.c        arguments of which a function uses only the shape
//   parameters.c     arguments of HLO, by type and place
//   made.c           lines that made what these arguments hold
//   moved.c          arguments that moved within what is passed
//   trees.c          trees of arguments, by their names; lists.c: in lists
//   graph.c          one program: producers, calls, constants, lines (line.c, lines.c, enclosing.c)
//   scope.c          the named scopes around an operation
//   pair.c           which operations belong together: align.c, fit.c; lists: carried.c, passed.c
//   compare.c        how an operation differs from its counterpart: attributes.c, constants.c
//   taken.c          constants that are given a shape, and by what
//   order.c          HLO: the order of operations; crossed.c, twins.c: which of equal ones is which
//   elsewhere.c      pairs that lead to different places
//   structure.c      operations without a counterpart: clusters.c; arms.c for branches
//   moves.c          of these: what is only in a different place; rounds.c: lines that ran again
//   layers.c         HLO: weights that come and go with a layer
//   inline.c         functions that only one of the two keeps separate
//   sizes.c          what follows from a drifted size: parts.c, slices.c, squeezed.c, windows.c
//   numbers.c        numbers that follow from another: relation.c; the user's own: literals.c
//   dtypes.c         what follows from another dtype: rounded.c
//   random.c         a different generator of random numbers: keys.c
//   power.c          whole exponents, which JAX unrolls
//   unrolled.c       lines that ran a different number of times because of a size
//   gradient.c       gradients that are created or added to
//   updated.c        HLO: tensors that are updated in place from now on; by a copy: stored.c
//   optimizer.c      causes from PyTorch's optimizers; equal.c: its numbers; grown.c: caches
//   subsumed.c       what follows from a different algorithm
//   edit.c           source that was edited between two runs: what lines depend on, depends.c;
//                    its reader: statements.c
//   circumstances.c  notes on how roots came about; PyTorch's branches: modes.c
//   subjects.c       notes on arguments; on numbers that cannot be arrays: setting.c
//   columns.c        two calls, column by column (columns.h); leads.c: what follows from these
//   call.c           what differs between two calls of one program
//   retrace.c        a program that has not changed
//   rest.c           what differs if nothing else was found
//   large.c          what makes one program large (large.h)
//   value.c          values as people read them; apart.c: so that they never read the same
//
// A difference is a *root* if nothing else explains it; the others are folded under the root that
// they follow from. Types are written as XLA does: "f32[8,512]".
//
// Ownership: an explanation owns all it points to; the programs and keys are borrowed for the call.
// Threads: no shared state.
#ifndef KEEL_EXPLAIN_EXPLAIN_H_
#define KEEL_EXPLAIN_EXPLAIN_H_

#include "base/base.h"
#include "explain/cause.h"
#include "host/host.h"
#include "key/key.h"
#include "program/program.h"

// How many differences of each list are kept; the totals count all. If a root is not kept, neither
// is what follows from it, so the roots' folds add up to all that is folded.
enum { KEEL_ROOTS_KEPT = 32, KEEL_FOLDED_KEPT = 64 };

typedef struct keel_difference_t {
    keel_cause_t kind;
    const char *subject;               // "batch['tokens']", "multiply", "xla_cpu_enable_fast_math"
    const char *old_value, *new_value; // "f32[8,4]", "0.1", "unset", "absent"
    const char *note; // one more clause: "1 of 16 elements differs, the first at [3]"; or ""
    keel_place_t place;
    keel_op_id_t old_op, new_op; // KEEL_NONE if it is not an operation, or only on one side
    uint32_t argument; // 1 + its number, for one of the new program without a name; otherwise 0
    uint32_t folds;    // for a root: how many differences follow from it
    uint32_t follows;  // for a folded one: the root that it follows from
} keel_difference_t;

typedef struct keel_explanation_t {
    keel_difference_t *roots; // most telling first
    size_t root_count, root_total;
    keel_difference_t *folded;
    size_t folded_count, folded_total;
    bool unrelated; // the programs have almost nothing in common; there are no differences then
    double alike;   // share of operations that have a counterpart, 0 to 1
    // Arguments in the places of the model's tensors, which only the program before updates.
    uint32_t *left;
    size_t left_count;
    bool stops; // the program before has an optimizer's step, and this one has none
    keel_arena_t arena;
} keel_explanation_t;

void keel_explanation_initialize(keel_explanation_t *explanation);
void keel_explanation_deinitialize(keel_explanation_t *explanation);

// The user's source files as they were in one run.
typedef struct keel_sources_t {
    // Where the run's Python looked for modules: a line for each folder. NULL: unknown.
    const char *folders;
    // The text of a file; KEEL_NOT_FOUND if it is not known. Valid until the next call.
    keel_status_t (*read)(void *context, const char *file, keel_str_t *out);
    void *context;
} keel_sources_t;

// One of the two programs that are compared. Unknown members are NULL.
typedef struct keel_side_t {
    const keel_program_t *program;
    const keel_key_t *key;    // components and their readable values
    const keel_place_t *site; // of the new side: who asked, if that is known better than the
                              // program says it
    const char *names; // what the user calls its arguments (keel_names_find); NULL or "": unknown
    const char *call;  // keel_call_read; NULL or "": unknown
    uint64_t sent;     // of the new side: arrays that the host sent shortly before it was asked for
    const keel_made_t *made; // of the new side: what was put on the device since the function was
    uint32_t made_count;     // asked for last, the newest first
    const keel_sources_t *sources; // of the old side only if it is from another run
} keel_side_t;

// Explains how `new_side` came to differ from `old_side`. Without any difference, adds one root of
// kind RETRACE. Initializes `out`; deinitialize it even on failure.
keel_status_t keel_explain(const keel_side_t *old_side, const keel_side_t *new_side,
                           keel_explanation_t *out) KEEL_MUST_CHECK;

// A program that the client had and asked for again.
typedef struct keel_retrace_t {
    const keel_program_t *before, *after; // either may be NULL
    const keel_site_t *site;              // who asked
    bool is_jitted_there;                 // that line also made the jitted function
    const char *call;                     // keel_call_read; "": unknown
    const char *const *earlier;           // calls that led to the same program, the oldest first
    uint32_t earlier_count;
} keel_retrace_t;

// True if both calls (keel_call_read) are known and they called two functions, which may have been
// made by one factory: then two are alive, or one was made anew.
bool keel_explain_are_two_functions(const char *before, const char *after);

// Whether an argument is committed to a device in one of two programs of JAX's only. With one
// partition they have one key, but JAX compares it; keel_explain says which arguments they are.
bool keel_explain_is_commitment(const keel_program_t *before, const keel_program_t *after);

// Explains why it was asked for, as far as these show. Adds one root.
keel_status_t keel_explain_retrace(const keel_retrace_t *retrace,
                                   keel_explanation_t *out) KEEL_MUST_CHECK;

// The values that a program of HLO makes of none of its arguments, and their lines, with text in
// `arena`.
enum { KEEL_MADE_MOST = 64 };
keel_status_t keel_explain_made(const keel_program_t *program, keel_arena_t *arena,
                                keel_made_t out[KEEL_MADE_MOST],
                                uint32_t *out_count) KEEL_MUST_CHECK;

// Adds a difference; text is copied. For the files of this room, and for callers who know more (no
// program to compare with, an entry that was gone). It is a root if `follows` is KEEL_NONE; add
// roots before what follows from them.
keel_status_t keel_explanation_add(keel_explanation_t *explanation,
                                   const keel_difference_t *difference) KEEL_MUST_CHECK;

// Writes the difference's members into the open object; cuts texts as keel_json_known does.
void keel_difference_json(const keel_difference_t *difference, bool is_root, size_t longest,
                          keel_json_t *json);

// Components (components.c): adds one difference for each field that changed, except in PROGRAM: as
// roots, or folded under root `follows`.
keel_status_t keel_explain_components(const keel_key_t *old_key, const keel_key_t *new_key,
                                      uint32_t follows, keel_explanation_t *out) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_EXPLAIN_H_
