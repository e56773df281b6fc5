// Rows of a table by their numbers.
#include "tensor/operation.h"

static void count_up(int64_t *out, int64_t from, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        out[i] = from + i;
}

// ---- take ---------------------------------------------------------------------------------------

keel_tensor_t keel_take_at(keel_caller_t site, keel_tensor_t table, keel_tensor_t rows) {
    uint32_t nodes[2];
    keel_context_t *context = ops_begin(site, "take", (keel_tensor_t[]){table, rows}, 2, nodes);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t *from = trace_node_shape(context, nodes[0]);
    keel_shape_t shape = *trace_node_shape(context, nodes[1]);
    if (!dtype_is_integer(trace_node(context, nodes[1])->dtype))
        return ops_refuse(context, "take", nodes[1], "is no list of rows: its dtype is no integer");
    if (!from->rank || !from->dims[0]) return ops_refuse(context, "take", nodes[0], "has no rows");
    if (shape.rank + from->rank - 1 > KEEL_MAX_RANK)
        return ops_refuse_two(context, "take", nodes[0], nodes[1], "give more than 8 dimensions");
    for (int32_t i = 1; i < from->rank; ++i)
        shape.dims[shape.rank++] = from->dims[i];
    const node_spec_t spec = {
        .kind = NODE_TAKE, .dtype = trace_node(context, nodes[0])->dtype, .shape = shape};
    return trace_add(context, &spec, nodes, 2);
}

// XLA clamps the rows of a gather; a scatter drops those out of range. Both take an index vector of
// size 1: index_vector_dim is the rank of the rows.
static keel_status_t emit_take(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, numbers = {0};
    int64_t offsets[KEEL_MAX_RANK], sizes[KEEL_MAX_RANK];
    const int64_t zero[] = {0};
    uint32_t inner = (uint32_t)item->from->rank - 1, outer = (uint32_t)item->shape->rank - inner;
    count_up(offsets, outer, inner);
    memcpy(sizes, item->from->dims, sizeof sizes);
    sizes[0] = 1;
    KEEL_TRY(emit_ints(e, &numbers, "offset_dims", offsets, inner));
    KEEL_TRY(emit_ints(e, &numbers, "collapsed_slice_dims", zero, 1));
    KEEL_TRY(emit_ints(e, &numbers, "start_index_map", zero, 1));
    KEEL_TRY(emit_int(e, &numbers, "index_vector_dim", outer));
    KEEL_TRY(emit_message(e, &fields, "gather_dimension_numbers", &numbers));
    KEEL_TRY(emit_ints(e, &fields, "gather_slice_sizes", sizes, inner + 1));
    return emit_plain(e, item, "gather", &fields, out);
}

static keel_tensor_t gradient_take(const rule_t *rule, int which) {
    const keel_shape_t shape = keel_shape(gradient_operand(rule, 0));
    if (which) return (keel_tensor_t){0};
    keel_tensor_t zeros = keel_broadcast_at(rule->site, gradient_constant(rule, 0), shape);
    return ops_put(rule->site, zeros, gradient_operand(rule, 1), rule->gradient);
}

const operation_t operation_take = {emit_take, gradient_take};

// ---- put ----------------------------------------------------------------------------------------

keel_tensor_t ops_put(keel_caller_t site, keel_tensor_t base, keel_tensor_t rows,
                      keel_tensor_t values) {
    uint32_t nodes[3];
    keel_context_t *context =
        ops_begin(site, "put", (keel_tensor_t[]){base, rows, values}, 3, nodes);
    if (!context) return (keel_tensor_t){0};
    const node_spec_t spec = {.kind = NODE_PUT,
                              .dtype = trace_node(context, nodes[0])->dtype,
                              .shape = *trace_node_shape(context, nodes[0])};
    return trace_add(context, &spec, nodes, 3);
}

// Rows as keel_take reads them: clamped.
static keel_status_t clamp_rows(emitter_t *e, uint32_t rows, int64_t count, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)trace_node(e->context, rows)->dtype;
    keel_value_id_t operands[3];
    KEEL_TRY(emit_constant(e, dtype, 0, &operands[0]));
    operands[1] = e->values[rows];
    KEEL_TRY(emit_constant(e, dtype, (double)(count - 1), &operands[2]));
    return emit_instruction(e, "clamp", dtype, trace_node_shape(e->context, rows), operands, 3,
                            NULL, out);
}

static keel_status_t emit_put(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, numbers = {0};
    const uint32_t rows = trace_operand(e->context, item->node, 1);
    int64_t windows[KEEL_MAX_RANK];
    const int64_t zero[] = {0};
    uint32_t inner = (uint32_t)item->from->rank - 1;
    uint32_t outer = (uint32_t)trace_node_shape(e->context, rows)->rank;
    keel_value_id_t operands[3] = {item->operands[0], 0, item->operands[2]};
    KEEL_TRY(clamp_rows(e, rows, item->from->dims[0], &operands[1]));
    count_up(windows, outer, inner);
    KEEL_TRY(emit_callee(e, &fields, KEEL_OP_SUM, (keel_dtype_t)item->node->dtype));
    KEEL_TRY(emit_ints(e, &numbers, "update_window_dims", windows, inner));
    KEEL_TRY(emit_ints(e, &numbers, "inserted_window_dims", zero, 1));
    KEEL_TRY(emit_ints(e, &numbers, "scatter_dims_to_operand_dims", zero, 1));
    KEEL_TRY(emit_int(e, &numbers, "index_vector_dim", outer));
    KEEL_TRY(emit_message(e, &fields, "scatter_dimension_numbers", &numbers));
    return emit_instruction(e, "scatter", (keel_dtype_t)item->node->dtype, item->shape, operands, 3,
                            &fields, out);
}

static keel_tensor_t gradient_put(const rule_t *rule, int which) {
    if (which == 0) return rule->gradient;
    if (which == 1) return (keel_tensor_t){0};
    return keel_take_at(rule->site, rule->gradient, gradient_operand(rule, 1));
}

const operation_t operation_put = {emit_put, gradient_put};
