// Gradients: a walk from results back to what they depend on.
//
//   operation.c         rules of operations, each beside its operation
//   gradient_control.c  rules of loops, branches, checkpoints and gradients of the user
//   reverse.c           the walk; keel_gradients
//   frame.c             what a body's nodes were, where its gradient is computed
#ifndef KEEL_TENSOR_GRADIENT_H_
#define KEEL_TENSOR_GRADIENT_H_

#include "tensor/trace.h"

// ---- frame.c -----------------------------------------------------------------------------------

// The gradient of a region is traced elsewhere. It needs values of the region's nodes, and gets
// them one by one: saved by the forward pass, or computed again.
typedef struct frame_t {
    keel_context_t *context;
    struct frame_t *outer;    // of a checkpoint in a body whose gradient is being traced
    uint32_t region, control; // of the forward pass
    keel_save_t save;
    uint32_t *values; // of each node up to the region's end, where it is now; KEEL_NONE: not yet
    uint32_t first_parameter; // of a scan's gradient, for what is saved
    list_t saved;             // of a scan: its nodes, in the order of the parameters
    list_t stack, operands;
    KEEL_TABLE(int64_t) words;
} frame_t;

bool frame_open(frame_t *frame, keel_context_t *context, uint32_t control, uint32_t region);
void frame_close(frame_t *frame);
// KEEL_NONE, with an error, if it cannot be had.
uint32_t frame_value(frame_t *frame, uint32_t node);

// What a node of a control node's region was, behind it.
keel_tensor_t frame_saved(keel_context_t *context, uint32_t control, uint32_t node,
                          const keel_shape_t *shape);

// ---- reverse.c ---------------------------------------------------------------------------------

typedef struct reverse_t {
    keel_context_t *context;
    frame_t *frame;      // NULL: nodes are what they are
    uint32_t first, end; // the nodes that it walks over
    uint32_t *adjoints;  // of each node before end; KEEL_NONE: none
    uint32_t *next;      // of each: the operand that comes next; KEEL_NONE: it has its place
    uint32_t *order;     // operands before what takes them
    uint32_t *stack;     // begins with what has an adjoint before the walk
    uint32_t depth, placed;
    bool *is_needed; // of each: whether it depends on what has a gradient
} reverse_t;

bool reverse_open(reverse_t *reverse, keel_context_t *context, frame_t *frame, uint32_t first,
                  uint32_t end);
void reverse_close(reverse_t *reverse);
// From the adjoints that are there to those of everything needed. What has a gradient is marked.
void reverse_run(reverse_t *reverse);
// Adds to the adjoint of a node; an empty part is nothing.
void reverse_give(reverse_t *reverse, uint32_t node, keel_tensor_t part);
// A node of the walk where it is now; empty, with an error, if it cannot be had.
keel_tensor_t reverse_value(const reverse_t *reverse, uint32_t node);
// The gradient so far; empty if there is none.
keel_tensor_t reverse_adjoint(const reverse_t *reverse, uint32_t node);

static inline keel_tensor_t gradient_tensor(keel_context_t *context, uint32_t node) {
    return node == KEEL_NONE ? (keel_tensor_t){0} : (keel_tensor_t){context, node, context->step};
}

// ---- operation.c, gradient_control.c -----------------------------------------------------------

// A node as its rule sees it: operands, result and the gradient of the result.
typedef struct rule_t {
    keel_context_t *context;
    reverse_t *reverse;
    uint32_t index;
    node_t node;
    keel_caller_t site;
    keel_tensor_t result, gradient; // of a tuple: empty
} rule_t;

// What an operand gets; empty if that is nothing.
keel_tensor_t gradient_rule(const rule_t *rule, int which);
// Whether the node has a rule of its own for all operands.
bool gradient_is_control(const node_t *node);
void gradient_control(const rule_t *rule);
void gradient_custom(const rule_t *rule); // custom.c

#endif // KEEL_TENSOR_GRADIENT_H_
