// graph: what the comparison needs to know of one program beyond its tables: which operation
// defines a value, which operations are only a constant in another shape, what an attribute holds
// whichever table it is in, and which line of the user's source an operation comes from.
//
// Room-internal. A graph borrows its program; everything else is in the arena that it was built in.
#ifndef KEEL_EXPLAIN_GRAPH_H_
#define KEEL_EXPLAIN_GRAPH_H_

#include "explain/explain.h"

// How many frames of a stack are looked at: nested loops of a library have dozens.
enum { KEEL_GRAPH_FRAMES = 256 };

// A line of the user's source.
typedef struct keel_source_line_t {
    keel_str_t file, function;
    uint32_t line, column;
    keel_str_t library_file; // between it and the operation; empty: none
    uint32_t library_line;
    bool is_foreign;   // all of it is a library's
    uint64_t identity; // hash of file and line; 0: unknown
    uint64_t token;    // of function, column and the place in a library that was called from there:
                       // the same after an edit above
    uint64_t stack;    // hash of its frames up to that line
} keel_source_line_t;

typedef struct keel_graph_t {
    const keel_program_t *program;
    keel_arena_t *arena;
    const char *application; // packages that count as the user's, see keel_is_foreign_file; NULL
    keel_op_id_t *producer;  // by value: the operation that defines it; NONE: an argument
    keel_op_id_t *constant;  // by operation: the constant that it reshapes; NONE. A parameter of
                             // HLO's entry maps to itself: it is an argument
    uint32_t *callee;        // by operation: the function that it calls; NONE
    uint64_t *attr_hashes;   // by attribute, 0: not computed yet
    uint64_t *type_hashes;   // by type, likewise
    uint32_t *line_of;       // by location attribute, plus 1; 0: not computed yet
    uint32_t *called_line; // by operation: the line of a call that it has, plus 1; 0: not computed
    uint8_t *traced;       // by function: where it was traced (line.c); 0: not computed
    keel_source_line_t *lines;
    uint32_t line_count, line_capacity;
    bool lacks_memory;       // a line is unknown because memory ran out
    uint32_t *function_of;   // by operation: the function that contains it; NONE
    keel_op_id_t *call_site; // by function: the call through which the comparison reached it; NONE
    keel_value_id_t *given;  // by value: what an argument inside stands for (passed.c); NONE
    keel_op_id_t *lender;    // by operation: the one whose line it has; NULL except in HLO
    uint8_t *is_spare;       // by operation: another one does the same (twins.c)
} keel_graph_t;

keel_status_t keel_graph_build(keel_graph_t *graph, const keel_program_t *program,
                               const char *application, keel_arena_t *arena) KEEL_MUST_CHECK;

static inline keel_type_id_t keel_graph_type(const keel_graph_t *graph, keel_value_id_t value) {
    const keel_program_t *program = graph->program; // an operation may have no result
    return value < program->value_types.count ? program->value_types.data[value] : KEEL_NONE;
}

// Equal if the contents are; locations do not count.
uint64_t keel_graph_attr_hash(keel_graph_t *graph, keel_attr_id_t attr);
uint64_t keel_graph_type_hash(keel_graph_t *graph, keel_type_id_t type);

static inline uint64_t keel_graph_mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdu;
}

// ---- line.c ------------------------------------------------------------------------------------

// The line of an operation: its innermost frame of user code; if it has none, that of an operand
// (HLO: gradients are computed where there is no stack), or of the call through which the
// comparison reached it. Never NULL; has no identity if there is none, as for KEEL_NONE.
const keel_source_line_t *keel_graph_line(keel_graph_t *graph, keel_op_id_t op);
// The same from a location alone.
const keel_source_line_t *keel_graph_line_at(keel_graph_t *graph, keel_attr_id_t location);

// The operation whose source line it takes; NONE.
keel_op_id_t keel_graph_located(keel_graph_t *graph, keel_op_id_t op);
// The call through which the comparison reached the function that contains an operation; NONE.
keel_op_id_t keel_graph_caller(const keel_graph_t *graph, keel_op_id_t op);

// parts.c: true for an operation in a function without lines of its own: jnp.remainder, jnp.where.
// What the client computes there depends only on its arguments.
bool keel_graph_is_clients(const keel_graph_t *graph, keel_op_id_t op);

// enclosing.c: the frames of user code on an operation's stack and on those of the calls that led
// to it, the innermost first: from its own line (keel_graph_line) on.
uint32_t keel_graph_stack(keel_graph_t *graph, keel_op_id_t op, keel_frame_t *out, uint32_t room);
// enclosing.c: the lines of a file on an operation's stack, the innermost first.
uint32_t keel_graph_lines_in(keel_graph_t *graph, keel_op_id_t op, const char *file, uint32_t *out,
                             uint32_t room);
// enclosing.c: the one of these operations whose line is on the stacks of all others; NONE.
keel_op_id_t keel_graph_enclosing(keel_graph_t *graph, const keel_op_id_t *ops, uint32_t count);
// True if that line is on the stack of an operation.
bool keel_graph_passes(keel_graph_t *graph, keel_op_id_t op, const char *file, uint32_t line);

// passed.c: the condition and the body of a loop in MLIR; the body's last operation gives what the
// next turn begins with. False for any other operation.
bool keel_graph_loop(const keel_graph_t *graph, keel_op_id_t op, const keel_block_t **out_condition,
                     const keel_block_t **out_body);
// passed.c: records which values the arguments of loops and called functions are, given the calls
// that the comparison followed.
keel_status_t keel_graph_note_passed(keel_graph_t *graph) KEEL_MUST_CHECK;
// The value outside of all loops and calls that this one is; itself if there is none, or if a loop
// changes it.
keel_value_id_t keel_graph_outermost(const keel_graph_t *graph, keel_value_id_t value);

// True for a program that only returns its arguments.
bool keel_graph_is_idle(const keel_graph_t *graph);

// HLO: the values that the program gives back.
keel_list_t keel_graph_results(const keel_graph_t *graph);

// The name of an operation without dialect and version.
keel_str_t keel_graph_name(const keel_graph_t *graph, keel_op_id_t op);

// True for a parameter of HLO's entry.
bool keel_graph_is_parameter(const keel_graph_t *graph, keel_op_id_t op);

// True if an operation only gives a value another shape, dtype or place.
bool keel_graph_only_reshapes(keel_str_t name);
// The value behind operations that only change its shape or dtype.
keel_value_id_t keel_graph_unshaped(const keel_graph_t *graph, keel_value_id_t value);

// The function that a call operation names; KEEL_NONE if it is not a call.
static inline uint32_t keel_graph_callee(const keel_graph_t *graph, keel_op_id_t op) {
    return graph->callee[op];
}

// [*first, *end): the operations of a function, nested ones included.
void keel_graph_body(const keel_graph_t *graph, uint32_t function, keel_op_id_t *first,
                     keel_op_id_t *end);

// twins.c, HLO: lets everything take the first of equal transposes and other new shapes of a value;
// the others are spare. `program` is a copy then, with operands of its own.
keel_status_t keel_graph_merge_twins(keel_graph_t *graph) KEEL_MUST_CHECK;

// order.c: the operations of a function in the order in which they are compared, in `arena`.
keel_status_t keel_graph_order(const keel_graph_t *graph, uint32_t function, keel_arena_t *arena,
                               keel_op_id_t **out, uint32_t *out_count) KEEL_MUST_CHECK;

// The type and tensor of a constant. False if its type is not known.
bool keel_graph_tensor(const keel_graph_t *graph, keel_op_id_t constant, keel_type_id_t *out_type,
                       keel_tensor_view_t *out);

// Combines two hashes; the order matters.
static inline uint64_t keel_graph_join(uint64_t a, uint64_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
}

#endif // KEEL_EXPLAIN_GRAPH_H_
