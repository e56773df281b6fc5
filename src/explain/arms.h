// arms: which lines of a Python source are in different arms of one `if`, so that a call takes only
// one of them.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_ARMS_H_
#define KEEL_EXPLAIN_ARMS_H_

#include "explain/explain.h"

typedef struct keel_arms_line_t {
    keel_str_t word; // the first; empty if the line has none
    uint32_t indent;
} keel_arms_line_t;

typedef struct keel_arms_t {
    keel_arms_line_t *lines; // the first one at 0
    uint32_t count;
} keel_arms_t;

// The text is borrowed.
keel_status_t keel_arms_read(keel_arms_t *arms, keel_str_t text,
                             keel_arena_t *arena) KEEL_MUST_CHECK;

// The line of the `if` that has the two in different arms: `if`, `elif`, `else`, or the code after
// an arm that returns. 0 if there is none.
uint32_t keel_arms_fork(const keel_arms_t *arms, uint32_t line, uint32_t other);

#endif // KEEL_EXPLAIN_ARMS_H_
