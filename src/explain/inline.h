// inline: calls of functions that only one of two programs keeps apart. jax.jit around a function
// that is traced within another puts its body into a function of the program's; the same body may
// stand in the caller elsewhere.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_INLINE_H_
#define KEEL_EXPLAIN_INLINE_H_

#include "explain/graph.h"

// A program whose calls of some functions are replaced by their bodies. It borrows all tables of
// the one it was made of but those of operations and values, which are the arena's: not to be
// deinitialized.
typedef struct keel_inlined_t {
    keel_program_t program;
    keel_op_id_t *origin; // by operation: that of the other program
    bool is_made;         // else nothing was to be inlined, or it would have been too much
    keel_str_t function;  // the first that was, as the source names it
    keel_place_t place;   // where that is called
    uint32_t more;        // how many others were
} keel_inlined_t;

// Inlines what `program` keeps apart and `other` does not. `package` as for keel_graph_build.
keel_status_t keel_inline(const keel_program_t *program, const keel_program_t *other,
                          keel_str_t package, keel_arena_t *arena,
                          keel_inlined_t *out) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_INLINE_H_
