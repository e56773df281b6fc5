// inline: calls of functions that only one of two programs keeps separate. jax.jit around a
// function that is traced within another gives it a function in the program; without it the body is
// in the caller.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_INLINE_H_
#define KEEL_EXPLAIN_INLINE_H_

#include "explain/graph.h"

// A program whose calls of some functions are replaced by their bodies. It borrows all tables of
// the original except those of operations and values, which are in the arena: do not deinitialize
// it.
typedef struct keel_inlined_t {
    keel_program_t program;
    keel_op_id_t *origin; // by operation: that of the original
    bool is_made;         // otherwise there was nothing to inline, or too much
    keel_str_t function;  // the first inlined function, by its name in the source
    keel_place_t place;   // where it is called
    uint32_t more;        // how many others were
} keel_inlined_t;

// Inlines what the program of `graph` keeps separate and that of `other` does not.
keel_status_t keel_inline(keel_graph_t *graph, keel_graph_t *other,
                          keel_inlined_t *out) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_INLINE_H_
