// walk: a function is read once, in the order in which it runs, and what its names hold is
// followed. What one function learns of another (an array is passed to it, it is traced) makes that
// one dirty, and it is read again. Room-internal.
#ifndef KEEL_LINT_WALK_H_
#define KEEL_LINT_WALK_H_

#include "lint/source.h"

typedef struct walk_t {
    source_t *source;
    uint32_t function;
    uint8_t traced;
    uint32_t loop;    // the innermost around, in this function; NONE
    uint32_t step;    // the loop around whose turns are steps; NONE
    unsigned guarded; // by tests that do not hold in every step
    bool has_returned;
    kind_t returns; // what was returned so far
    unsigned muted; // what is found there does not count
} walk_t;

static inline value_t value_of(kind_t kind) {
    return (value_t){.kind = (uint8_t)kind, .function = KEEL_NONE, .jit = KEEL_NONE};
}
static inline bool is_array(value_t value) {
    return value.kind == KIND_ARRAY || value.kind == KIND_BOOLS;
}
// An array, or an argument that is one if it is used as one.
static inline bool is_array_used(value_t value) {
    return is_array(value) || value.kind == KIND_ARGUMENT;
}

// ---- walk.c ------------------------------------------------------------------------------------

// Reads a function, after forgetting what was found in it.
void walk_function(source_t *source, uint32_t function);
void walk_report(walk_t *walk, keel_lint_rule_t rule, uint32_t node);
keel_lint_client_t walk_client(const walk_t *walk);
// PyTorch code here is for XLA.
bool walk_is_xla(const source_t *source);
// Whether it matters here that the host waits: in what is traced, or in each step of a loop.
bool walk_is_step(const walk_t *walk);
void walk_return(walk_t *walk, value_t value);
// What the function itself binds of the name that the node is; NULL.
slot_t *walk_slot(const walk_t *walk, uint32_t node);
// The function is traced; that is passed to its parameter.
void walk_trace(source_t *source, uint32_t function, uint8_t traced);
void walk_pass(source_t *source, uint32_t function, uint32_t parameter, kind_t kind);

// ---- values.c ----------------------------------------------------------------------------------

// Follows an expression, all in it too, and says what it holds.
value_t walk_value(walk_t *walk, uint32_t node);
// What an expression held when it was last followed. To follow a part again with each whole around
// it would take twice as long for each level of nesting.
value_t walk_known(const walk_t *walk, uint32_t node);
// Python asks whether that is true.
void walk_test(walk_t *walk, uint32_t node);
// A target gets the value; `source_of`: the expression that it comes from, or NONE.
void walk_bind(walk_t *walk, uint32_t target, value_t value, uint32_t source_of);
// What stands in it one by one.
value_t walk_element(value_t value);
value_t walk_iterate(walk_t *walk, uint32_t target, uint32_t iterated);
kind_t walk_join(kind_t a, kind_t b);

// ---- statements.c ------------------------------------------------------------------------------

void walk_block(walk_t *walk, uint32_t node, keel_py_field_t field);
// Whether the test asks if the values are known while they are traced.
bool walk_asks_tracing(const walk_t *walk, uint32_t test);
// What Python makes of a function when it comes to its definition.
void walk_definition(walk_t *walk, uint32_t node);

// ---- calls.c, methods.c ------------------------------------------------------------------------

value_t walk_call(walk_t *walk, uint32_t node);
value_t walk_method(walk_t *walk, uint32_t call, uint32_t function, value_t receiver);
value_t walk_attribute(walk_t *walk, uint32_t node, value_t owner);
// `os.environ["XLA_USE_BF16"] = "1"`.
void call_check_setting(walk_t *walk, uint32_t target, uint32_t value);
// Follows the arguments of a call; the first positional ones in `out`, which has room for `most`.
uint32_t walk_arguments(walk_t *walk, uint32_t call, value_t *out, uint32_t most);

// ---- jits.c ------------------------------------------------------------------------------------

// A call or a decorator that compiles; `of` is what it compiles.
value_t jit_made(walk_t *walk, uint32_t node, word_t word, value_t of, uint32_t of_node);
// A jitted function is called.
value_t jit_called(walk_t *walk, uint32_t call, uint32_t jit);
void jit_check_loop(walk_t *walk, uint32_t node, uint32_t of_node, value_t of);
// A name from outside is read in a function that is compiled.
void jit_check_closure(walk_t *walk, uint32_t node, const slot_t *slot);

// ---- loops.c -----------------------------------------------------------------------------------

// Whether the loop's turns are steps: it computes gradients, syncs, or calls what is compiled.
bool loop_is_step(const walk_t *walk, uint32_t loop);
// Whether each call of the function is a step: it computes gradients, and a loop calls it, or its
// name says so.
bool loop_is_step_function(const walk_t *walk);
// Whether a list that the loop appends to decides the size of the expression.
bool loop_grows_list(walk_t *walk, uint32_t node);
void loop_check_call(walk_t *walk, uint32_t call, word_t word);
void loop_check_method(walk_t *walk, uint32_t call, uint32_t function);
void loop_check_assign(walk_t *walk, uint32_t target, uint32_t value);
// Whether the test holds only now and then, or is about something else than the step.
bool loop_is_guard(const walk_t *walk, uint32_t test);

#endif // KEEL_LINT_WALK_H_
