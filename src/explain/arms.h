// arms: which lines of a Python source are in different arms of one `if`, `match` or `try`, so that
// a call takes only one of them.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_ARMS_H_
#define KEEL_EXPLAIN_ARMS_H_

#include "explain/explain.h"
#include "pysource/pysource.h"

typedef struct keel_arms_t {
    keel_py_tree_t tree;
    uint32_t *statements; // by line, from 0: its innermost statement; NONE
    uint32_t count;       // lines; 0: nothing is known
} keel_arms_t;

// The text is borrowed. One that is too large has no arms.
keel_status_t keel_arms_read(keel_arms_t *arms, keel_str_t text,
                             keel_arena_t *arena) KEEL_MUST_CHECK;
void keel_arms_deinitialize(keel_arms_t *arms);

// The line of the statement that has the two in different arms; what stands behind an arm that
// leaves is another one. 0 if there is none.
uint32_t keel_arms_fork(const keel_arms_t *arms, uint32_t line, uint32_t other);

#endif // KEEL_EXPLAIN_ARMS_H_
