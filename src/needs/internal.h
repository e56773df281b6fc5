// Room-internal: what is known of operations, and the parts of functions that results need.
#ifndef KEEL_NEEDS_INTERNAL_H_
#define KEEL_NEEDS_INTERNAL_H_

#include "needs/needs.h"

// ---- sets --------------------------------------------------------------------------------------

static inline bool needs_has(const uint64_t *set, uint32_t at) {
    return set[at / 64] >> at % 64 & 1;
}
static inline void needs_add(uint64_t *set, uint32_t at) {
    set[at / 64] |= UINT64_C(1) << at % 64;
}
static inline uint32_t needs_words(uint32_t count) {
    return count / 64 + 1;
}
// How many of the first `end` are in the set.
static inline uint32_t needs_rank(const uint64_t *set, uint32_t end) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < end / 64; ++i)
        count += (uint32_t)__builtin_popcountll(set[i]);
    uint64_t rest = end % 64 ? set[end / 64] << (64 - end % 64) : 0;
    return count + (uint32_t)__builtin_popcountll(rest);
}
// The first member at or after `at`; `end` if there is none before it.
static inline uint32_t needs_next(const uint64_t *set, uint32_t at, uint32_t end) {
    while (at < end) {
        uint64_t word = set[at / 64] >> at % 64;
        if (word) {
            at += (uint32_t)__builtin_ctzll(word);
            return at < end ? at : end;
        }
        at = (at / 64 + 1) * 64;
    }
    return end;
}

// ---- operations --------------------------------------------------------------------------------

// How an operation passes needs on.
typedef enum needs_rule {
    NEEDS_PLAIN,    // any result needs every operand, and its regions whole
    NEEDS_NAMED,    // and the functions that it names (HLO: NEEDS_PLAIN too)
    NEEDS_CALL,     // a result needs what the called function says
    NEEDS_LOOP,     // while: a carried value needs those that the body makes it from
    NEEDS_BRANCHES, // case, if, conditional: a result needs the selector, and its own in each
                    // branch
    NEEDS_BARRIER,  // result i is operand i (HLO: element by element)
    NEEDS_TUPLE,    // HLO: element i is operand i
    NEEDS_ELEMENT,  // HLO: get-tuple-element
    NEEDS_NOTHING,  // HLO: parameter, which is given from outside
    NEEDS_MANUAL,   // sdy.manual_computation: a result needs what the region makes it from
    NEEDS_SAME,     // the operand, in another memory: left out of what is made
} needs_rule_t;

typedef enum needs_work {
    NEEDS_FREE,
    NEEDS_MADE,  // an element operation for each element of the results
    NEEDS_TAKEN, // the same for the operands
    NEEDS_DOT,
    NEEDS_CONVOLUTION,
    NEEDS_WINDOW,    // each element of the result from a window
    NEEDS_SORT,      // n log n of the operands
    NEEDS_TRANSFORM, // n log n of the results
    NEEDS_SOLVE,     // each element of the result from a row of the operand
} needs_work_t;

typedef enum needs_trouble {
    NEEDS_ANYWHERE,
    NEEDS_HOST,    // an obstacle
    NEEDS_DEVICES, // across
    NEEDS_TARGET,  // a custom call: its target says
    NEEDS_BITS,    // rng_bit_generator: its algorithm says
} needs_trouble_t;

typedef struct needs_fact_t {
    const char *name; // with _ in both formats
    uint8_t rule, work, trouble;
} needs_fact_t;

// NULL if the operation is unknown.
const needs_fact_t *needs_fact(keel_str_t name);
// Of a custom call, by its target.
needs_trouble_t needs_trouble_of(keel_str_t target);
// True for the target of a custom call that only says in which memory a value lives.
bool needs_is_placement(keel_str_t target);

// ---- the program -------------------------------------------------------------------------------

// Needed are leaves: the elements of a value that is a tuple of HLO, and any other value. A tuple
// inside a tuple is one leaf.
typedef struct needs_function_t {
    const keel_block_t *body;
    keel_op_id_t last;     // the operation that returns; HLO: the root
    uint32_t result_count; // leaves
    uint32_t argument_count;
    uint32_t first_parameter; // HLO: into parameters, by number
    keel_op_id_t first_op, end_op;
    uint32_t first_leaf, end_leaf;
    struct needs_part_s *parts; // all parts of the function so far
    uint32_t part_count;
    bool is_open; // a part of it is being found
} needs_function_t;

typedef enum needs_part_kind {
    NEEDS_OF_CALL,      // keeps the arguments that it needs
    NEEDS_OF_WHOLE,     // keeps all arguments and results, so that any operation may name it
    NEEDS_OF_BODY,      // HLO: takes and gives the state of a loop, of which `wanted` is kept
    NEEDS_OF_CONDITION, // HLO: takes such a state
    NEEDS_OF_BRANCH,    // HLO: takes one argument, of which it keeps what it needs
} needs_part_kind_t;

// What one execution of something costs.
typedef struct needs_figures_t {
    double work;
    double bytes;
    double inlined; // operations
} needs_figures_t;

// A function, as far as some of its results need it.
typedef struct needs_part_s {
    uint32_t function;
    uint8_t kind;           // needs_part_kind_t
    const uint64_t *wanted; // leaves of the results (CONDITION: of the state), from 0
    uint64_t *live;         // operations, from first_op
    uint64_t *todo;         // of these, those still to be visited
    uint64_t *leaves;       // needed, from first_leaf
    struct needs_part_s *next;
    bool is_counted; // the figures are known
    needs_figures_t figures;
    bool is_used; // by the program that is being made
    keel_string_id_t name;
} needs_part_t;

struct keel_needs_t {
    const keel_program_t *program;
    bool is_hlo;
    const needs_fact_t **facts; // by op_names; NULL: unknown
    keel_map_t names;           // function name -> index
    keel_op_id_t *makers;       // MLIR: by value, the operation that makes it; NONE: an argument
    keel_op_id_t *lasts;        // by block, its own last operation; NONE if it is empty
    uint64_t *manuals;          // operations that needs_is_manual; NULL: none
    uint32_t *first_leaves;     // HLO: by value, and one more
    needs_function_t *functions;
    keel_op_id_t *parameters; // HLO: of all functions, by number
    // Of the last question.
    keel_arena_t arena;
    uint32_t most, seen; // operations
    uint32_t depth;      // of functions and regions that are being visited
    uint32_t copies;     // that the program has of what is being counted
    needs_part_t *entry;
    keel_need_t found;
};

// The most functions and regions within each other, and the most parts of one function: then one
// part that keeps everything serves all further calls. The most times that a loop's needs grow
// before all that it carries is needed.
enum { NEEDS_DEPTH = 200, NEEDS_PARTS = 64, NEEDS_ROUNDS = 64 };

static inline uint32_t needs_first_leaf(const keel_needs_t *needs, keel_value_id_t value) {
    return needs->first_leaves ? needs->first_leaves[value] : value;
}
static inline uint32_t needs_leaf_count(const keel_needs_t *needs, keel_value_id_t value) {
    return needs->first_leaves ? needs->first_leaves[value + 1] - needs->first_leaves[value] : 1;
}
static inline const needs_fact_t *needs_fact_of(const keel_needs_t *needs, keel_op_id_t op) {
    return needs->facts[needs->program->operations.data[op].name & ~(unsigned)KEEL_OP_HAS_REGIONS];
}
// The rule that applies to this very operation, which may lack the structure that its name's needs.
needs_rule_t needs_rule_of(const keel_needs_t *needs, keel_op_id_t op);
// Whether a manual computation is understood: its region fits, and its values have the parts that
// their shardings say. Looks at each of them.
bool needs_is_manual(const keel_needs_t *needs, keel_op_id_t op);
// The functions that an operation calls or names: their number, and one of them; NONE if it is not
// there.
uint32_t needs_callee_count(const keel_needs_t *needs, keel_op_id_t op);
uint32_t needs_callee(const keel_needs_t *needs, keel_op_id_t op, uint32_t index);
// The regions' block of an operation whose rule was found to hold, and what that returns.
static inline const keel_block_t *needs_block(const keel_needs_t *needs, keel_op_id_t op,
                                              uint32_t region) {
    keel_region_run_t regions = keel_program_regions(needs->program, op);
    return &needs->program->blocks.data[regions.items[region].first_block];
}
static inline keel_list_t needs_returned(const keel_needs_t *needs, const keel_block_t *block) {
    return keel_program_operands(needs->program, needs->lasts[block - needs->program->blocks.data]);
}
static inline keel_op_id_t needs_parameter(const keel_needs_t *needs, uint32_t function,
                                           uint32_t argument) {
    return needs->parameters[needs->functions[function].first_parameter + argument];
}
// The target of a custom call; "" if it has none.
keel_str_t needs_target(const keel_needs_t *needs, keel_op_id_t op);
// HLO: which element get-tuple-element takes.
int64_t needs_element(const keel_needs_t *needs, keel_op_id_t op);

// ---- parts -------------------------------------------------------------------------------------

static inline needs_function_t *needs_function_of(const keel_needs_t *needs,
                                                  const needs_part_t *part) {
    return &needs->functions[part->function];
}
static inline bool needs_is_needed(const keel_needs_t *needs, const needs_part_t *part,
                                   keel_value_id_t value, uint32_t element) {
    uint32_t leaf = needs_first_leaf(needs, value) + element;
    return needs_has(part->leaves, leaf - needs_function_of(needs, part)->first_leaf);
}
static inline bool needs_is_live(const keel_needs_t *needs, const needs_part_t *part,
                                 keel_op_id_t op) {
    return needs_has(part->live, op - needs_function_of(needs, part)->first_op);
}
// Whether an argument of the part's function is one of the part.
bool needs_keeps_argument(const keel_needs_t *needs, const needs_part_t *part, uint32_t argument);

// The part that gives these leaves; found, or made by visiting the function. Once found.is_over, a
// part may be incomplete, and nobody may use it.
keel_status_t needs_part(keel_needs_t *needs, uint32_t function, needs_part_kind_t kind,
                         const uint64_t *wanted, needs_part_t **out) KEEL_MUST_CHECK;
// The part that an operation of a finished part calls.
keel_status_t needs_part_called(keel_needs_t *needs, const needs_part_t *part, keel_op_id_t op,
                                uint32_t callee, needs_part_t **out) KEEL_MUST_CHECK;
// All that is needed of an entry function's results; sets needs->entry.
keel_status_t needs_find(keel_needs_t *needs, const uint32_t *results, uint32_t count,
                         uint32_t most) KEEL_MUST_CHECK;
// Marks a leaf as needed, and what makes it as to be visited.
void needs_need(keel_needs_t *needs, needs_part_t *part, keel_value_id_t value, uint32_t element);
void needs_need_all(keel_needs_t *needs, needs_part_t *part, keel_value_id_t value);
// Marks an operation as live and to be visited.
void needs_keep(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op);
// Visits what is to be visited from the end backward.
keel_status_t needs_visit(keel_needs_t *needs, needs_part_t *part, keel_op_id_t first,
                          keel_op_id_t end) KEEL_MUST_CHECK;
// The elements of a value that are needed, as a set from 0, in the arena.
keel_status_t needs_elements(keel_needs_t *needs, const needs_part_t *part, keel_value_id_t value,
                             uint64_t **out) KEEL_MUST_CHECK;

// ---- manual computations -----------------------------------------------------------------------

// The most axes of a mesh and their product, dimensions, and copies of a region, which are within
// each other too.
enum { NEEDS_AXES = 16, NEEDS_MESH = 1 << 20, NEEDS_RANK = 16, NEEDS_SHARDS = 64 };

typedef struct needs_axis_t {
    int64_t size;
    bool is_manual;
    bool is_used; // something that is needed is cut by it
} needs_axis_t;

typedef struct needs_manual_t {
    keel_list_t axes;    // of the mesh
    keel_list_t in, out; // shardings of operands and results
    needs_axis_t axis[NEEDS_AXES];
    uint32_t shards; // how often the region runs: once for each place on the axes that are used
} needs_manual_t;

// Reads its axes and shardings; false if they are not understood.
bool needs_manual(const keel_needs_t *needs, keel_op_id_t op, needs_manual_t *out);
// Whether the operands and the results are cut as the shardings say; the region is known to fit.
bool needs_manual_is_cut(const keel_needs_t *needs, keel_op_id_t op, const needs_manual_t *manual);
// As far as a part needs it; false if it takes too many shards too.
bool needs_manual_part(const keel_needs_t *needs, const needs_part_t *part, keel_op_id_t op,
                       needs_manual_t *out);
// The place of a shard's part in a dimension that has *out_parts of them.
int64_t needs_manual_place(const keel_needs_t *needs, const needs_manual_t *manual,
                           keel_attr_id_t sharding, uint32_t dimension, uint32_t shard,
                           int64_t *out_parts);
// Whether a shard has less than the whole.
bool needs_manual_cuts(const keel_needs_t *needs, const needs_manual_t *manual,
                       keel_attr_id_t sharding);
// How many operations cut the operands and put the results together.
uint32_t needs_manual_operations(const keel_needs_t *needs, const needs_part_t *part,
                                 keel_op_id_t op, const needs_manual_t *manual);
// Of an array; empty for anything else.
keel_ints_t needs_dims(const keel_program_t *program, keel_type_id_t type);

// ---- figures -----------------------------------------------------------------------------------

// How often a loop runs; false, and *out untouched, if that is not known. Its rule must be
// NEEDS_LOOP.
bool needs_trips(const keel_needs_t *needs, keel_op_id_t op, double *out);
// Counts a part and all that it calls into its figures and needs->found.
keel_status_t needs_count(keel_needs_t *needs, needs_part_t *part) KEEL_MUST_CHECK;
// The bytes of a value, as far as it is needed.
double needs_bytes(const keel_needs_t *needs, const needs_part_t *part, keel_value_id_t value);

#endif // KEEL_NEEDS_INTERNAL_H_
