// diff: what the files of the comparison share: the two graphs, the counterparts, and the
// differences found so far.
//
// A difference is found as a *root* (nothing known explains it), or as one that *follows* from a
// root. A root may turn out to follow from another one later; keel_diff_finish settles that.
//
// Room-internal. One thread; all memory is the arena's.
#ifndef KEEL_EXPLAIN_DIFF_H_
#define KEEL_EXPLAIN_DIFF_H_

#include "explain/columns.h"
#include "explain/explain.h"
#include "explain/graph.h"
#include "explain/sizes.h"

// One argument of the entry. Text is the program's.
typedef struct keel_argument_t {
    keel_value_id_t value;
    keel_type_id_t type;
    keel_attr_id_t attributes; // DICT or NONE
    keel_str_t name;
    uint32_t counterpart; // index on the other side; NONE
    uint32_t replacement; // HLO, of `before`: what `after` has in its place; NONE
    keel_op_id_t op;      // HLO: the parameter operation, which has its own place; NONE
    bool is_donated;      // HLO
    bool is_sent;         // HLO: it has the line that moved it to the device, as it was not synced
                          // since; any other has the line that uses it first
    bool is_listed; // HLO: it is used first by a place in a tuple, such as what a loop carries
    keel_op_id_t weighed;   // HLO: the operation of a library's layer that has it as a weight; NONE
    bool is_moved;          // its counterpart has another name (moved.c)
    keel_passing_t passing; // without a counterpart: whether the other side was passed it too
    uint32_t root;          // likewise: the root that reports it
    bool is_read;           // likewise: an operation without a counterpart takes it
} keel_argument_t;

typedef struct keel_root_t {
    keel_difference_t difference;
    uint32_t follows;  // another root; NONE
    uint32_t folded;   // differences that follow, whether kept or only counted
    uint32_t argument; // of kind SHAPE: 1 + the argument of `after` that it was found at; 0: none
    uint32_t donated;  // of kind DONATION: likewise
    bool is_random;    // only about arguments that are keys for random numbers; HLO: only about
                       // scalars, which come and go with the operation that takes them
    bool is_dropped;   // of kind SHAPE: no operation takes the argument (dropped.c)
    bool is_layer;     // of kind ARGUMENTS, HLO: weights that come and go with their layer
    bool is_sent;      // of kind ARGUMENTS, HLO: the argument that it reports was just moved to the
                       // device
    bool is_whole;     // of kind ARGUMENTS: the other side has nothing of that parameter
    uint32_t weights;  // likewise: how many of them are a layer's weights, a matrix counting twice
    uint32_t others;   // likewise: that are neither that nor what an optimizer keeps
    bool is_number;    // of kind CONSTANT: numbers, which a size found later may explain
    bool is_coarse;    // of 16 bits or fewer
    bool is_integer;   // of an integer type
    uint32_t operations;    // of kind STRUCTURE: that came or went
    bool is_repeated;       // likewise: a line that ran a different number of times
    bool is_exchange;       // likewise: an expression calls another function
    bool is_reordered;      // likewise: both sides compute the same, in another order or shape
    bool is_moved;          // likewise: the other side has it elsewhere (moved.c)
    bool is_recorded;       // of what was recorded of the calls (leads.c)
    keel_passing_t passing; // likewise: whether it was passed to the other side too
    double before, after;   // of a number; of kind STRUCTURE: how often a line ran; 0: not known
} keel_root_t;

enum { KEEL_DIFF_ROOTS = 256, KEEL_DIFF_TREES = 32 };
// A placeholder for the root of an operation without a counterpart: operations with one are
// compared first.
#define KEEL_PENDING (UINT32_MAX - 2)

typedef struct keel_function_pair_t {
    uint32_t before, after;
} keel_function_pair_t;

// How the arguments that both programs have changed.
enum { KEEL_FIT_CLASSES = 8 };
typedef struct keel_fit_t {
    uint8_t classes[KEEL_FIT_CLASSES]; // by class of element: the classes that it became
    bool crosses;                      // one became another
    uint64_t ranks;                    // how many dimensions came or went
} keel_fit_t;

typedef struct keel_diff_t {
    keel_arena_t arena;
    keel_graph_t before, after;
    keel_argument_t *arguments_before, *arguments_after;
    uint32_t before_count, after_count; // of arguments
    keel_op_id_t *counterpart;          // by operation of `before`
    keel_op_id_t *origin;               // by operation of `after`
    keel_value_id_t *value_counterpart; // by value of `before`
    keel_value_id_t *value_origin;      // by value of `after`
    uint32_t *operand_origin; // by place in the operands of `after`: the counterpart's operand that
                              // it corresponds to; NONE
    keel_fit_t fit;
    keel_function_pair_t *functions; // that were compared, callers first
    uint32_t function_count;
    uint32_t aligned, alignable;   // operations with a counterpart, and the larger side's count
    uint32_t *taint;               // by value of `after`: 1 + the root that its type follows from
    uint8_t *compared;             // by function of `after`
    uint8_t *differs_in_structure; // likewise: it, or its counterpart, has operations of its own
    uint32_t rank_root;            // the root that changes the rank of an argument; NONE
    uint32_t baked_root;           // a scalar argument of one side is a constant on the other; NONE
    bool is_swapped;      // an argument took the place of what was computed, or the reverse
    keel_op_id_t rewired; // the first of `after` that takes another value in its place; NONE
    keel_sizes_t sizes;
    uint64_t trees[KEEL_DIFF_TREES]; // hashes of their names: those whose elements were counted
    uint32_t tree_count;
    keel_type_id_t *learned; // by type of `after`: 1 + that of `before` whose sizes were noted last
    keel_place_t site;       // the line that called the traced function, of `after`
    const char *names_before, *names_after; // keel_side_t
    keel_columns_t columns;                 // of the two calls (keel_side_t)
    bool is_of_another_run;                 // `before`
    uint64_t sent;           // arrays that the host sent shortly before `after` was asked for
    const keel_made_t *made; // keel_side_t, of `after`
    uint32_t made_count;
    keel_root_t *roots;
    uint32_t root_count;
    keel_difference_t *folded;
    uint32_t folded_count;
    uint32_t roots_dropped; // only counted, not kept
    bool has_addresses;     // of the process, which differ and say nothing
    bool lacks_memory;      // a text is incomplete because memory ran out
    uint32_t pending;       // folded under KEEL_PENDING, whether kept or only counted
} keel_diff_t;

// Adds a root; text is copied. Returns its index, or beyond KEEL_DIFF_ROOTS that of the last one.
keel_status_t keel_diff_root(keel_diff_t *diff, const keel_difference_t *difference,
                             uint32_t *out) KEEL_MUST_CHECK;
// Adds a difference that follows from `root`, or only counts it if many are kept already.
keel_status_t keel_diff_fold(keel_diff_t *diff, uint32_t root,
                             const keel_difference_t *difference) KEEL_MUST_CHECK;
// A difference between the calls: at the line that called, without a note, of no operation.
keel_difference_t keel_diff_of_call(const keel_diff_t *diff, keel_cause_t kind, const char *subject,
                                    const char *before, const char *after);
// True if it is only counted: its text is not needed.
static inline bool keel_diff_is_full(const keel_diff_t *diff) {
    return diff->folded_count == KEEL_FOLDED_KEPT;
}
void keel_diff_count(keel_diff_t *diff, uint32_t root);
// The first root of that kind that follows from no other; NONE.
uint32_t keel_diff_find(const keel_diff_t *diff, keel_cause_t kind);
// A root of the same kind and values; NONE.
uint32_t keel_diff_same(const keel_diff_t *diff, const keel_difference_t *difference);

// The place of an operation of `after` (or of `before`, if `op` is one of those).
keel_place_t keel_diff_place(keel_diff_t *diff, bool is_after, keel_op_id_t op);
// scope.c: the named scopes around an operation, "model/block 3"; "" if there are none.
const char *keel_diff_scope(keel_diff_t *diff, bool is_after, keel_op_id_t op);
// True if a library is between the user's line and the operation of `after`: the user did not write
// what it says.
bool keel_diff_is_librarys(keel_diff_t *diff, keel_op_id_t op);
// True if both are on the same known line of the user's. If all frames are a library's, the line is
// the one that called the traced function; then the library's line must be the same too.
bool keel_diff_same_line(const keel_diff_t *diff, const keel_place_t *a, const keel_place_t *b);
// Text for a difference: zero-terminated, in the arena. "" if memory runs out, which the comparison
// reports at its end.
const char *keel_diff_text(keel_diff_t *diff, const char *format, ...) KEEL_PRINTF(2, 3);

// Puts the note's text before the difference's own.
void keel_diff_note(keel_diff_t *diff, keel_difference_t *difference, keel_note_t note);

// For each operand of an operation of `after`, the operand of its counterpart that it corresponds
// to.
static inline uint32_t *keel_diff_operand_origins(const keel_diff_t *diff, keel_op_id_t after) {
    return diff->operand_origin + diff->after.program->operations.data[after].first_operand;
}

// ---- moved.c -----------------------------------------------------------------------------------

// Pairs arguments that were not paired by name because they moved within a tree. The report shows
// one argument removed and one added; their uses are compared as usual.
void keel_diff_pair_moved(keel_diff_t *diff);

// lists.c: pairs the arguments in lists that were cut or continued before their end.
keel_status_t keel_diff_pair_lists(keel_diff_t *diff) KEEL_MUST_CHECK;

// ---- fit.c -------------------------------------------------------------------------------------

// Records how the paired arguments changed.
void keel_fit_learn(keel_diff_t *diff);
// True if an element of one type may have become one of the other: both are of one class (floats,
// conditions, ...), or an argument changed in the same way.
bool keel_fit_class(const keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after);
// Likewise for the number of dimensions.
bool keel_fit_rank(const keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after);
// Equal for types that fit by class, or by class and rank. If arguments changed, some types that
// fit do not share it.
uint64_t keel_fit_class_token(const keel_diff_t *diff, const keel_graph_t *graph,
                              keel_type_id_t type);
uint64_t keel_fit_token(const keel_diff_t *diff, const keel_graph_t *graph, keel_type_id_t type);

// ---- arguments.c -------------------------------------------------------------------------------

// The number of an entry's argument with that value; NONE.
uint32_t keel_diff_argument(const keel_argument_t *arguments, uint32_t count,
                            keel_value_id_t value);
// The number of the entry's argument that has that value and is a scalar; NONE.
uint32_t keel_diff_scalar_argument(const keel_diff_t *diff, bool is_after, keel_value_id_t value);
// The scalar argument from which alone, with constants, a value is computed in the argument's own
// dtype; NONE.
uint32_t keel_diff_lone_scalar(const keel_diff_t *diff, bool is_after, keel_value_id_t value);
// The argument that a conversion shows to be weakly typed; NONE. JAX converts a Python number even
// to the dtype that it already has, and to the dtype of the array that it is combined with.
uint32_t keel_diff_weak_argument(const keel_diff_t *diff, bool is_after, keel_op_id_t convert);
// True for the value of an argument that the other side lacks.
bool keel_diff_is_new(const keel_diff_t *diff, bool is_after, keel_value_id_t value);
// True if an argument came or went.
bool keel_diff_has_unpaired(const keel_diff_t *diff);
// Argument `number` was a bare Python number and is not any more; or the reverse if `is_after`.
keel_difference_t keel_diff_weak_type(keel_diff_t *diff, bool is_after, uint32_t number);

// ---- keys.c ------------------------------------------------------------------------------------

// The words of a key for random numbers: two of threefry's, four of Philox's.
bool keel_key_is_type(const keel_program_t *program, keel_type_id_t type);
// True for an operation that takes the words out of a typed key: JAX's bookkeeping, which computes
// nothing.
bool keel_key_is_unwrapped(const keel_graph_t *graph, keel_op_id_t op);
// True for that, or for an operation that only makes keys: split, fold_in.
bool keel_key_is_made(const keel_graph_t *graph, keel_op_id_t op);
// True if one side takes a typed key and the other takes its words; `op` is the first that unwraps
// it.
keel_difference_t keel_diff_key_style(keel_diff_t *diff, bool is_after, keel_op_id_t op);

// The random number generators, by JAX's names.
#define KEEL_THREEFRY "threefry2x32"
#define KEEL_RBG "rbg"

// ---- the steps, in order -----------------------------------------------------------------------

// True for TorchTPU's programs: their arguments have no names, and another order in each. They are
// paired like those of HLO, by what they are used for.
bool keel_parameters_have_no_order(const keel_diff_t *diff);

// named.c: what the user calls the arguments.
bool keel_arguments_have_names(const keel_diff_t *diff);
keel_status_t keel_arguments_name(keel_diff_t *diff) KEEL_MUST_CHECK;

// signature.c: arguments by name, donation, shardings, layouts, results; fills sizes. `sources` may
// be NULL.
keel_status_t keel_diff_signature(keel_diff_t *diff, const keel_sources_t *sources) KEEL_MUST_CHECK;
// trees.c: if an argument was added, removed or resized, so was the flattened vector of each tree
// that contains it.
void keel_diff_note_trees(keel_diff_t *diff, keel_str_t name, uint32_t root);
// parameters.c: the arguments of HLO, which are operations; `out` may be NULL. Gives their count.
uint32_t keel_parameters_list(keel_graph_t *graph, keel_argument_t *out);
// Pairs them by type and place, as they have no names.
keel_status_t keel_parameters_pair(keel_diff_t *diff) KEEL_MUST_CHECK;
// True if one line gives both and they have the same shape, as when it is moved in another dtype.
bool keel_parameters_are_converted(keel_graph_t *graph, const keel_argument_t *argument,
                                   keel_graph_t *other, const keel_argument_t *converted);
// parted.c: parts those of two types that different lines use. `sources` may be NULL.
keel_status_t keel_parameters_part(keel_diff_t *diff,
                                   const keel_sources_t *sources) KEEL_MUST_CHECK;
// made.c: the line that made what an argument of `after` holds. False if the program knows it, or
// nobody does.
bool keel_diff_made_at(keel_diff_t *diff, uint32_t number, keel_place_t *out);
// True if a line is that place.
bool keel_diff_is_on(const keel_source_line_t *line, const keel_place_t *place);
// Fills in which of them the module declares as donated.
keel_status_t keel_parameters_donated(keel_graph_t *graph, keel_argument_t *arguments,
                                      uint32_t count) KEEL_MUST_CHECK;
// dropped.c: roots for arguments that neither program has, of the recorded calls. Such a root is
// idle if nothing follows from it, and is not reported then.
keel_status_t keel_diff_dropped(keel_diff_t *diff) KEEL_MUST_CHECK;
bool keel_diff_is_idle(const keel_diff_t *diff, uint32_t root);

// pair.c: fills functions, counterpart, origin, value_counterpart.
keel_status_t keel_diff_pair(keel_diff_t *diff) KEEL_MUST_CHECK;
// compare.c: operations that have a counterpart.
keel_status_t keel_diff_compare(keel_diff_t *diff) KEEL_MUST_CHECK;
// power.c: powers that JAX unrolls into multiplications.
keel_status_t keel_diff_powers(keel_diff_t *diff) KEEL_MUST_CHECK;
// gradient.c: arguments that are only added to a result: accumulation.
keel_status_t keel_diff_gradient(keel_diff_t *diff) KEEL_MUST_CHECK;
// structure.c: operations that have no counterpart.
keel_status_t keel_diff_structure(keel_diff_t *diff) KEEL_MUST_CHECK;
// structure.c: reports what is gone and what replaced it as one cause, at the line of the
// replacement.
void keel_diff_exchange(keel_diff_t *diff, uint32_t gone, uint32_t came);
// layers.c: notes the roots whose arguments are all weights of a layer that only one program has.
void keel_diff_note_layers(keel_diff_t *diff);
// arms.c: what is in two arms of one `if` of the user's is one cause.
keel_status_t keel_diff_arms(keel_diff_t *diff, const keel_side_t *old_side,
                             const keel_side_t *new_side) KEEL_MUST_CHECK;
// subsumed.c: folds comparisons on a line that does something else now; on all lines, if the two
// programs have next to nothing in common.
void keel_diff_subsume(keel_diff_t *diff, bool are_strangers);
// clamped.c: the largest index of a choice between branches, if a branch came or went.
void keel_diff_choices(keel_diff_t *diff);
// windows.c: a window whose size drifted together with the dimension that it covers.
void keel_diff_windows(keel_diff_t *diff);
// random.c: a different generator of random numbers, and what follows from it.
keel_status_t keel_diff_random(keel_diff_t *diff) KEEL_MUST_CHECK;
// optimizer.c: true for a source file of PyTorch's optimizers, and for what one of them computes.
bool keel_diff_is_optimizers_file(keel_str_t file);
bool keel_diff_is_optimizers(const keel_graph_t *graph, keel_op_id_t op);
// By value of the program: whether an optimizer computes with it. In the arena of `diff`.
keel_status_t keel_diff_find_optimized(keel_diff_t *diff, const keel_graph_t *graph,
                                       uint8_t **out) KEEL_MUST_CHECK;
// Causes that come from these optimizers and have advice of their own.
keel_status_t keel_diff_optimizer(keel_diff_t *diff) KEEL_MUST_CHECK;
// Fills what an explanation says of the model's tensors beside its differences.
keel_status_t keel_diff_left_alone(keel_diff_t *diff, keel_explanation_t *out) KEEL_MUST_CHECK;
// equal.c: notes an argument that came or went because two host numbers are equal.
void keel_diff_equal_numbers(keel_diff_t *diff);
// updated.c: an argument that is updated in place now has the line of the update. `sources` may be
// NULL.
keel_status_t keel_diff_updated(keel_diff_t *diff, const keel_sources_t *sources) KEEL_MUST_CHECK;
// copied.c: arguments that another tensor was copied over have the line of the copy.
keel_status_t keel_diff_copied(keel_diff_t *diff) KEEL_MUST_CHECK;
// grown.c: notes arguments that are longer because something is appended to them.
keel_status_t keel_diff_grown(keel_diff_t *diff) KEEL_MUST_CHECK;
// dtypes.c: Python numbers and dtypes that only the operations show, and what follows from them.
keel_status_t keel_diff_dtypes(keel_diff_t *diff) KEEL_MUST_CHECK;
// True if the difference is that an array or a constant is converted to meet the argument of that
// name, a number that is not a Python number, in only one of the programs.
bool keel_diff_meets_number(keel_diff_t *diff, const keel_difference_t *conversion,
                            const char *number);
// True if one expression of the source is several operations: a function of the client's or of a
// library's.
bool keel_diff_is_one_call(const keel_diff_t *diff, bool is_after, keel_op_id_t op);
// unrolled.c: lines that ran a different number of times because a size drifted.
void keel_diff_unrolled(keel_diff_t *diff);
// numbers.c: numbers that follow from another, and those of one line. `sources` may be NULL.
keel_status_t keel_diff_numbers(keel_diff_t *diff, const keel_sources_t *sources) KEEL_MUST_CHECK;
// results.c: the types of the entry's results.
keel_list_t keel_diff_result_types(const keel_graph_t *graph);
// Results that only one side has.
keel_status_t keel_diff_results(keel_diff_t *diff) KEEL_MUST_CHECK;
// HLO: two tuples of the programs' results, of which one has more. False if they are something
// else.
bool keel_diff_kept_results(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                            keel_difference_t *out);

// rest.c: fills in the values of a difference between two operations of one name, or for one that
// only one side has (the other is NONE): operands, types, or the whole line.
void keel_diff_ops(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                   keel_difference_t *out);
// If nothing else was found, the root is the first thing that the programs have in a different
// order.
keel_status_t keel_diff_rest(keel_diff_t *diff) KEEL_MUST_CHECK;

// explain.c: who asked for a program.
keel_place_t keel_side_place(const keel_side_t *side, keel_arena_t *arena);
// leads.c: roots for Python numbers that became arrays, or the reverse, by the recorded calls.
keel_status_t keel_diff_weak_columns(keel_diff_t *diff) KEEL_MUST_CHECK;
// leads.c: what was recorded of the calls leads what follows from it.
keel_status_t keel_diff_lead_columns(keel_diff_t *diff) KEEL_MUST_CHECK;
// edit.c: source that was edited between two runs, and what follows from that.
keel_status_t keel_diff_edit(keel_diff_t *diff, const keel_side_t *old_side,
                             const keel_side_t *new_side) KEEL_MUST_CHECK;
// memory.c: tells the memories of an argument or result; false if they are one.
bool keel_diff_memory(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                      keel_difference_t *out);
// shuffled.c: one root for the same operations in another order, of another run.
void keel_diff_shuffled(keel_diff_t *diff);
// subjects.c: notes on arguments that differ: a part of the model, or something left out.
keel_status_t keel_diff_subjects(keel_diff_t *diff) KEEL_MUST_CHECK;
// setting.c: notes on numbers that PyTorch's operations take in no other form.
void keel_diff_settings(keel_diff_t *diff);
// setting.c: notes on axes.
void keel_diff_axes(keel_diff_t *diff);
// Whether an attribute that differs is an axis.
bool keel_diff_is_axis(const keel_difference_t *difference);
// shifted.c: notes on parts that are cut elsewhere, and joined to one size.
void keel_diff_shifts(keel_diff_t *diff);
// circumstances.c: notes on how roots came about.
void keel_diff_circumstances(keel_diff_t *diff);
// True if a library calls jax.jit for the user, and compares everything that is not an array.
bool keel_diff_is_filtered(const keel_diff_t *diff);
// modes.c: the same for PyTorch's branches: checkpointing and dropout.
void keel_diff_modes(keel_diff_t *diff);

// ---- value.c: how people read it ---------------------------------------------------------------

// "f32[8,4]"
const char *keel_diff_type(keel_diff_t *diff, const keel_program_t *program, keel_type_id_t type);
// On one line, cut.
const char *keel_diff_attr(keel_diff_t *diff, const keel_program_t *program, keel_attr_id_t attr);
// One element of a tensor: "0.1", "3", "true".
const char *keel_diff_element(keel_diff_t *diff, const keel_program_t *program, keel_type_id_t type,
                              const keel_tensor_view_t *tensor, uint64_t at);
// The element as a number; false if it is not one, or is complex with an imaginary part.
bool keel_diff_number(const keel_program_t *program, keel_type_id_t type,
                      const keel_tensor_view_t *tensor, uint64_t at, double *out);

// rounded.c: true if elements of two float types are the same number: one rounded to the other, or
// the same property of each type (the step at 1, the smallest, the largest).
bool keel_diff_is_rounded(const keel_diff_t *diff, keel_type_id_t before, double x,
                          keel_type_id_t after, double y);

// The dimensions of a tensor type; count 0 for any other.
keel_ints_t keel_diff_dims(const keel_program_t *program, keel_type_id_t type);
// The attribute of that name among the entries of a DICT; NONE. Clients write entries in one order,
// so it is usually at `near`.
keel_attr_id_t keel_diff_entry(const keel_program_t *program, keel_list_t entries, keel_str_t name,
                               uint32_t near);

// Fills in both values of a difference from two types or attributes. If their short forms read the
// same, adds the part that differs.
void keel_diff_types(keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after,
                     keel_difference_t *out);
void keel_diff_attrs(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                     keel_difference_t *out);
// The same for two texts; long ones are shown from where they differ.
void keel_diff_apart(keel_diff_t *diff, keel_str_t before, keel_str_t after,
                     keel_difference_t *out);

// Hash of the element type, or of the type itself if it is not a tensor.
uint64_t keel_diff_element_hash(keel_graph_t *graph, keel_type_id_t type);

#endif // KEEL_EXPLAIN_DIFF_H_
