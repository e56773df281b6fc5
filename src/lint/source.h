// source: what a file names: imports, functions, what is bound in each of them, jitted functions.
//
// Tables instead of pointers: a name, a function, a slot and a jit are numbers, NONE if there is
// none. The function 0 is the module. A slot is a name that a function binds; those of one function
// lie side by side. A class binds no slots, because its body's names are no free variables.
//
// Room-internal.
#ifndef KEEL_LINT_SOURCE_H_
#define KEEL_LINT_SOURCE_H_

#include "lint/lint.h"
#include "lint/words.h"
#include "pysource/pysource.h"

// What a value is, as far as that is known.
typedef enum kind_t {
    KIND_UNKNOWN,
    KIND_HOST,       // a number of the host, a text, a shape: no array
    KIND_ARGUMENT,   // of a jitted function: an array, or a tree of them
    KIND_MAYBE,      // of a module of PyTorch's: probably a tensor
    KIND_MAYBE_BOOL, // a comparison of one
    KIND_ARRAY,
    KIND_BOOLS,  // an array of truth values
    KIND_ARRAYS, // several
    KIND_READ,   // a number that was read from an array
    KIND_SET,
    KIND_LOCAL, // a tensor of the host, as PyTorch makes them without a device
} kind_t;

typedef struct value_t {
    uint8_t kind;
    bool is_bound;     // a method of an object: its first parameter is taken
    bool is_wrapped;   // it is called by what may return something else
    uint32_t function; // that it is, or calls
    uint32_t jit;      // if it is jitted
} value_t;

// Where a function runs.
enum {
    TRACED_JAX = 1,   // traced by JAX
    TRACED_JIT = 2,   // as part of a program
    TRACED_TORCH = 4, // the step of a PyTorch/XLA model
};

typedef struct parameter_t {
    uint32_t node, name;
    uint8_t own;  // its kind by annotation and default: HOST, ARRAY, or UNKNOWN
    uint8_t kind; // what callers pass
    uint8_t how;  // keel_py_field_t: ARGS, KWONLYARGS, VARARG ...
    bool has_constant;
    bool may_be_none; // by its default, or its annotation
} parameter_t;

typedef struct function_t {
    uint32_t node, parent; // of the module: 0, NONE
    uint32_t class_node;   // of a method; NONE
    uint32_t name, same;   // the next function of that name
    uint32_t first_parameter, parameter_count;
    uint32_t first_slot, slot_count;
    uint8_t traced;
    uint8_t returns; // the kind of what it returns, if arrays are passed to it
    bool is_dirty;   // to be walked, or again
    bool is_in_loop; // called in one
    bool has_found;  // something was found in it
    bool is_static;  // a method without an object
} function_t;

typedef struct slot_t {
    uint32_t function, name;
    uint32_t value;  // the expression that it was last given; NONE
    uint32_t stores; // how often it is bound
    value_t is;
} slot_t;

typedef struct import_t {
    uint32_t name;
    keel_str_t full; // "jax.numpy"
} import_t;

enum { STATIC_NAMES = 16 };
typedef struct jit_t {
    uint32_t node, function;
    uint64_t numbers;             // positions of static arguments, a bit each
    uint32_t names[STATIC_NAMES]; // of static arguments
    uint32_t name_count;
    bool is_known; // which are static
    bool is_bound; // as of value_t
    uint8_t traced;
} jit_t;

// What the file says of attributes of `self`, by name.
typedef struct attribute_t {
    uint32_t jit;
    bool is_counted, is_number; // `self.x += 1`; `self.x = 0` in __init__, and nothing else
} attribute_t;

typedef struct found_t {
    uint32_t node, function, line, column;
    uint8_t rule, client;
} found_t;

typedef struct source_t {
    keel_py_tree_t tree;
    const keel_lint_options_t *options;
    keel_status_t status; // why memory ran out; nothing is done any more
    keel_map_t known;     // text -> name
    keel_map_t index;     // class and name -> attribute; node -> jit
    uint32_t name_count;
    uint32_t *names;   // by token
    uint32_t *scopes;  // by node: the function around it
    uint32_t *classes; // by node: the class whose body it stands in directly; NONE
    value_t *values;   // by node: what it held when it was last followed
    import_t *imports;
    function_t *functions;
    parameter_t *parameters;
    slot_t *slots;
    jit_t *jits;
    attribute_t *attributes;
    found_t *found;
    size_t import_count, function_count, parameter_count, slot_count, jit_count, attribute_count,
        found_count;
    size_t import_capacity, function_capacity, parameter_capacity, slot_capacity, jit_capacity,
        attribute_capacity, found_capacity;
    uint32_t *by_name; // the last function of each name
    uint64_t budget;   // visits of nodes that searches may still make
    keel_arena_t arena;
    bool imports_torch, imports_jax, imports_xla;
} source_t;

// Reads the text. Deinitialize it even on failure.
keel_status_t source_read(keel_str_t text, const keel_lint_options_t *options,
                          source_t *out) KEEL_MUST_CHECK;
void source_deinitialize(source_t *source);

// True for NULL. A failure is kept, if it is the first, and ends the reading.
bool source_keep(source_t *source, keel_status_t status);

// Before a search through all in that node: whether the file's budget has room for it. So a hostile
// text takes no longer than its size warrants; of a text that people write, all is searched.
bool source_may_search(source_t *source, uint32_t node);
bool source_may_visit(source_t *source, size_t count);

// The name's number; NONE if the file does not have it.
uint32_t source_name(const source_t *source, const char *text);
// That of a node; NONE.
uint32_t source_name_of(const source_t *source, uint32_t node);
// Whether a node has that name.
bool source_is_named(const source_t *source, uint32_t node, const char *text);

// A name read in a function: the slot that it has there or around; NONE.
slot_t *source_slot(const source_t *source, uint32_t function, uint32_t name);
// The slot that a function itself has.
slot_t *source_own_slot(const source_t *source, uint32_t function, uint32_t name);
// The parameter that a name is, in a function; NULL.
const parameter_t *source_parameter(const source_t *source, uint32_t function, uint32_t name);
// The function of that name which is seen from another; NONE.
uint32_t source_function(const source_t *source, uint32_t from, uint32_t name);
uint32_t source_method(const source_t *source, uint32_t class_node, uint32_t name);
// Whether its first parameter is the object that it is a method of.
bool source_has_self(const source_t *source, uint32_t function);
// The class around a function, also around those that it is nested in; NONE.
uint32_t source_class(const source_t *source, uint32_t function);
// By its node; NONE.
uint32_t source_function_at(const source_t *source, uint32_t node);

// The full name of an expression `a.b.c`, if `a` is imported, or a builtin without a dot: "" if it
// is neither. In `memory`, of SOURCE_LONGEST bytes.
enum { SOURCE_LONGEST = 160 };
keel_str_t source_full_name(const source_t *source, uint32_t function, uint32_t node, char *memory);
word_t source_word(const source_t *source, uint32_t function, uint32_t node);

attribute_t *source_attribute(source_t *source, uint32_t class_node, uint32_t name, bool make);
// NONE if memory ran out.
uint32_t source_add_jit(source_t *source, const jit_t *jit);
// The argument of a call by its keyword; NONE.
uint32_t source_keyword(const source_t *source, uint32_t call, const char *name);
// Its positional arguments: the next behind `after` (NONE: the first); NONE.
uint32_t source_argument(const source_t *source, uint32_t call, uint32_t after);
// Whether a call has no positional arguments.
bool source_is_bare(const source_t *source, uint32_t call);
static inline const keel_py_node_t *source_node(const source_t *source, uint32_t node) {
    return &source->tree.nodes[node];
}
static inline uint32_t source_child(const source_t *source, uint32_t node, keel_py_field_t field) {
    return keel_py_child(&source->tree, node, field, KEEL_NONE);
}
// Whether a token of the node's text is a name that contains one of these; the list ends with NULL.
bool source_mentions(const source_t *source, uint32_t node, const char *const *parts);
bool source_is_constant(const source_t *source, uint32_t node, keel_py_op_t op);

#endif // KEEL_LINT_SOURCE_H_
