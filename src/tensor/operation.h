// What an operation is. Each file op_*.c has those of a family: their public functions, which say
// what is refused and the shape of what they give; what they are in HLO; their gradients.
#ifndef KEEL_TENSOR_OPERATION_H_
#define KEEL_TENSOR_OPERATION_H_

#include "tensor/emit.h"
#include "tensor/gradient.h"

// A node as it is written.
typedef struct item_t {
    const node_t *node;
    const keel_shape_t *shape;
    const int64_t *words;
    const keel_value_id_t *operands;
    const keel_shape_t *from; // of operand 0
} item_t;

// What becomes of the parts that devices have: op_local.c.
typedef enum sharding_rule {
    SHARDING_OF_OPERANDS, // XLA splits the result like them; of a device's own part it is one, too
    SHARDING_PARTS,       // gives each device its part
    SHARDING_JOINED,      // makes one value of the parts
    SHARDING_WHOLE_ONLY   // takes no part of one device
} sharding_rule_t;

typedef struct operation_t {
    keel_status_t (*emit)(emitter_t *e, const item_t *item, keel_value_id_t *out);
    // What an operand gets of the gradient of the result; empty if that is nothing. NULL: no
    // operand gets any.
    keel_tensor_t (*gradient)(const rule_t *rule, int which);
    sharding_rule_t sharding;
} operation_t;

// The table in operation.c has them by the kind of their nodes. Loops and branches are apart:
// emit_control.c, gradient_control.c. Shapes are the public functions' affair, which refuse what
// does not fit at the call; tests/tensor/against_jax.py and differences.py have the cases.
extern const operation_t operation_constant, operation_literal, operation_iota; // op_source.c
extern const operation_t operation_unary, operation_binary, operation_compare;  // op_elementwise.c
extern const operation_t operation_select, operation_convert, operation_stop;   // op_elementwise.c
extern const operation_t operation_broadcast, operation_reshape, operation_transpose; // op_shape.c
extern const operation_t operation_slice, operation_pad, operation_join;              // op_shape.c
extern const operation_t operation_reduce;                                            // op_reduce.c
extern const operation_t operation_window, operation_window_put,
    operation_window_take;                                                  // op_window.c
extern const operation_t operation_complex, operation_complex_part;         // op_complex.c
extern const operation_t operation_fft;                                     // op_fft.c
extern const operation_t operation_dot;                                     // op_dot.c
extern const operation_t operation_reverse;                                 // op_shape.c
extern const operation_t operation_bitcast, operation_is_finite;            // op_elementwise.c
extern const operation_t operation_dynamic_slice, operation_dynamic_update; // op_dynamic.c
extern const operation_t operation_call;                                    // op_call.c
extern const operation_t operation_convolution;                             // op_convolution.c
extern const operation_t operation_sort;                                    // op_sort.c
extern const operation_t operation_take, operation_put;                     // op_index.c
extern const operation_t operation_barrier, operation_part;                 // op_tuple.c
extern const operation_t operation_shard;                                   // op_shard.c
extern const operation_t operation_local, operation_global;                 // op_local.c
extern const operation_t operation_collective;                              // op_collective.c

sharding_rule_t operation_sharding(node_kind_t kind);

// ---- public functions --------------------------------------------------------------------------

keel_tensor_t ops_tensor(keel_context_t *context, uint32_t node);
const char *ops_describe(const keel_context_t *context, uint32_t node, char out[SHAPE_TEXT]);
// Fails with "what: f32[2,3] why", or with two of them: "what: f32[2,3] and f32[4] why".
keel_tensor_t ops_refuse(keel_context_t *context, const char *what, uint32_t x, const char *why);
keel_tensor_t ops_refuse_two(keel_context_t *context, const char *what, uint32_t x, uint32_t y,
                             const char *why);
// Whether it is of integers or floats.
bool ops_is_real(const keel_context_t *context, uint32_t x);
keel_tensor_t ops_convert(keel_context_t *context, uint32_t x, keel_dtype_t dtype);
// It fits.
keel_tensor_t ops_broadcast(keel_context_t *context, uint32_t x, const keel_shape_t *shape);
// Both operands in one dtype and shape. False, with an error, if they do not fit.
bool ops_meet(keel_context_t *context, const char *what, uint32_t nodes[2]);

// keel_pad with as many elements between two as `between`.
keel_tensor_t ops_spread(keel_caller_t site, keel_tensor_t x, int axis, int64_t before,
                         int64_t after, int64_t between);
// The sum of two padded tensors of one shape, without adding, where one begins along an axis where
// the other one ends: so a split tensor gets the gradients of its parts. Empty if they are none.
keel_tensor_t ops_join_padded(keel_context_t *context, uint32_t x, uint32_t y);
// Of the products that are traced now.
keel_precision_t ops_precision(const keel_context_t *context);
// The sum of a part over the devices along these axes: op_collective.c.
keel_tensor_t collective_sum(keel_context_t *context, keel_tensor_t x, uint32_t axes);

// ---- in HLO ------------------------------------------------------------------------------------

// An instruction of the operands, with the dtype and the shape of the node.
keel_status_t emit_plain(emitter_t *e, const item_t *item, const char *name, const fields_t *fields,
                         keel_value_id_t *out) KEEL_MUST_CHECK;
// The same, whose `dimensions` are the words.
keel_status_t emit_listed(emitter_t *e, const item_t *item, const char *name,
                          keel_value_id_t *out) KEEL_MUST_CHECK;
// That of a product's node, which is its op.
keel_status_t emit_precision(emitter_t *e, const node_t *node, fields_t *fields) KEEL_MUST_CHECK;
// These computations, 2 at most, or one.
keel_status_t emit_calls(emitter_t *e, fields_t *fields, const char *const *names,
                         uint32_t count) KEEL_MUST_CHECK;
keel_status_t emit_call(emitter_t *e, fields_t *fields, const char *name) KEEL_MUST_CHECK;
// What a reduction begins with: it changes nothing.
double emit_start(int op, keel_dtype_t dtype);
// The computation of a reduction.
keel_status_t emit_callee(emitter_t *e, fields_t *fields, int op,
                          keel_dtype_t dtype) KEEL_MUST_CHECK;

// ---- gradients ---------------------------------------------------------------------------------

keel_tensor_t gradient_operand(const rule_t *rule, uint32_t which);
keel_tensor_t gradient_constant(const rule_t *rule, double value);

#endif // KEEL_TENSOR_OPERATION_H_
