// What the files of emit.c share: an HLO program under construction.
#ifndef KEEL_TENSOR_EMIT_H_
#define KEEL_TENSOR_EMIT_H_

#include "tensor/trace.h"

// Attributes of one operation under construction: a DICT's entries.
typedef struct fields_t {
    uint32_t items[16];
    uint32_t count;
} fields_t;

// A node in a region of a loop, which something needs behind it.
typedef struct saved_t {
    uint32_t control, node;
} saved_t;

typedef struct emitter_t {
    const keel_context_t *context;
    emit_t *emit;
    keel_program_t *program;
    bool *is_needed;                         // of each node
    keel_value_id_t *values;                 // of each node
    KEEL_TABLE(keel_value_id_t) operands;    // of the node at hand
    keel_map_t types, tuple_types, op_names; // -> index
    keel_type_id_t elements[KEEL_DTYPE_COUNT];
    keel_attr_id_t layouts[KEEL_MAX_RANK + 1];
    keel_op_id_t first_op;     // of the computation at hand
    uint32_t region;           // that it is of; KEEL_NONE: none
    KEEL_TABLE(saved_t) saves; // each once
    keel_attr_id_t location;
    keel_buffer_t path;   // of the named scopes around it
    int64_t channels;     // of collectives, so far
    bool is_manual;       // the instructions at hand are of a part
    const char *argument; // the name of the parameter at hand
} emitter_t;

// ---- emit_model.c: pieces of the model ---------------------------------------------------------

keel_status_t emit_text(emitter_t *e, const char *string, keel_string_id_t *out) KEEL_MUST_CHECK;
keel_status_t emit_field(emitter_t *e, fields_t *fields, const char *name,
                         keel_attr_id_t attr) KEEL_MUST_CHECK;
keel_status_t emit_int(emitter_t *e, fields_t *fields, const char *name,
                       int64_t value) KEEL_MUST_CHECK;
keel_status_t emit_flag(emitter_t *e, fields_t *fields, const char *name) KEEL_MUST_CHECK; // true
keel_status_t emit_ints(emitter_t *e, fields_t *fields, const char *name, const int64_t *items,
                        uint32_t count) KEEL_MUST_CHECK;
keel_status_t emit_string(emitter_t *e, fields_t *fields, const char *name,
                          const char *value) KEEL_MUST_CHECK;
keel_status_t emit_close(emitter_t *e, const fields_t *fields, keel_record_t klass,
                         keel_attr_id_t *out) KEEL_MUST_CHECK;
// A message in a message.
keel_status_t emit_message(emitter_t *e, fields_t *fields, const char *name,
                           const fields_t *message) KEEL_MUST_CHECK;
keel_status_t emit_array(emitter_t *e, const uint32_t *items, uint32_t count,
                         keel_attr_id_t *out) KEEL_MUST_CHECK;
keel_status_t emit_type(emitter_t *e, keel_type_t type, keel_type_id_t *out) KEEL_MUST_CHECK;
keel_status_t emit_tensor_type(emitter_t *e, keel_dtype_t dtype, const keel_shape_t *shape,
                               keel_type_id_t *out) KEEL_MUST_CHECK;
// Of these types, one for each part.
keel_status_t emit_tuple_type(emitter_t *e, const keel_type_id_t *parts, uint32_t count,
                              keel_type_id_t *out) KEEL_MUST_CHECK;
// Of the results of a tuple.
keel_status_t emit_results_type(emitter_t *e, const node_t *tuple,
                                keel_type_id_t *out) KEEL_MUST_CHECK;
keel_status_t emit_typed(emitter_t *e, const char *name, keel_type_id_t type,
                         const keel_value_id_t *operands, uint32_t count, const fields_t *fields,
                         keel_value_id_t *out) KEEL_MUST_CHECK;
keel_status_t emit_instruction(emitter_t *e, const char *name, keel_dtype_t dtype,
                               const keel_shape_t *shape, const keel_value_id_t *operands,
                               uint32_t count, const fields_t *fields,
                               keel_value_id_t *out) KEEL_MUST_CHECK;
keel_status_t emit_constant(emitter_t *e, keel_dtype_t dtype, double value,
                            keel_value_id_t *out) KEEL_MUST_CHECK;
// Values as one, and one of them.
keel_status_t emit_tuple(emitter_t *e, const keel_value_id_t *values, uint32_t count,
                         keel_value_id_t *out) KEEL_MUST_CHECK;
keel_status_t emit_part(emitter_t *e, keel_value_id_t tuple, uint32_t which, keel_dtype_t dtype,
                        const keel_shape_t *shape, keel_value_id_t *out) KEEL_MUST_CHECK;
// `name`: the user's, or NULL. `more`: fields besides its number, or NULL.
keel_status_t emit_parameter(emitter_t *e, uint32_t number, keel_dtype_t dtype,
                             const keel_shape_t *shape, const char *name, const fields_t *more,
                             keel_value_id_t *out) KEEL_MUST_CHECK;

// ---- op_sort.c ---------------------------------------------------------------------------------

// The computations that compare for the sorts that are needed.
keel_status_t emit_comparators(emitter_t *e) KEEL_MUST_CHECK;

// ---- op_window.c -------------------------------------------------------------------------------

// The same for windows whose maximum or minimum is chosen.
keel_status_t emit_choosers(emitter_t *e) KEEL_MUST_CHECK;

// ---- emit.c ------------------------------------------------------------------------------------

// A computation: what is added between. `types`: of its parameters.
keel_status_t emit_open(emitter_t *e) KEEL_MUST_CHECK;
keel_status_t emit_shut(emitter_t *e, const char *name, keel_value_id_t root,
                        const keel_type_id_t *types, uint32_t count,
                        keel_attr_id_t *out_shape) KEEL_MUST_CHECK;
// What follows is of the line and in the scopes of that node.
keel_status_t emit_location(emitter_t *e, uint32_t node) KEEL_MUST_CHECK;
// The needed nodes in [first, end) that are of the computation at hand.
keel_status_t emit_nodes(emitter_t *e, uint32_t first, uint32_t end) KEEL_MUST_CHECK;

// ---- emit_control.c ----------------------------------------------------------------------------

// Whether an operand is an input of a scan, which gets it only if its region needs it.
bool emit_is_input(const emitter_t *e, const node_t *node, uint32_t which);
// The computations of all regions that are needed.
keel_status_t emit_computations(emitter_t *e) KEEL_MUST_CHECK;
// Whether a node is for emit_control, which gives it its value, and not for emit_node.
bool emit_is_control(const emitter_t *e, uint32_t node);
keel_status_t emit_control(emitter_t *e, uint32_t node) KEEL_MUST_CHECK;

// ---- emit_sharding.c ---------------------------------------------------------------------------

// How a value is split, as a field of its instruction; nothing if there is one device.
keel_status_t emit_sharding(emitter_t *e, fields_t *fields, uint32_t sharding,
                            int32_t rank) KEEL_MUST_CHECK;
// It is the part of one device.
keel_status_t emit_manual(emitter_t *e, fields_t *fields) KEEL_MUST_CHECK;
// The same for the tuple of all results, which has no fields yet.
keel_status_t emit_result_shardings(emitter_t *e, keel_value_id_t tuple) KEEL_MUST_CHECK;

// ---- op_collective.c ---------------------------------------------------------------------------

// The reduction of a collective; -1: none.
int emit_collective_reducer(const trace_t *trace, const node_t *node);

// ---- operation.c -------------------------------------------------------------------------------

// Beside the reductions: of two values the second.
enum { EMIT_SECOND = KEEL_REDUCE_OP_COUNT };
// The HLO operation of a reduction, and the name of its computation.
const char *emit_reducer(int op);
void emit_reducer_name(int op, keel_dtype_t dtype, char out[64]);
// The value of a node whose operands have theirs.
keel_status_t emit_node(emitter_t *e, uint32_t node) KEEL_MUST_CHECK;

#endif // KEEL_TENSOR_EMIT_H_
