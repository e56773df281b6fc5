// Elements at indices: slices along an axis (jnp.take), or an index for each element of the result
// (jnp.take_along_axis); and the same places written. Indices are clamped to the axis.
#include "tensor/operation.h"

// Words of the nodes.
enum { INDEX_AXIS, INDEX_IS_ALONG, INDEX_WORDS };

typedef struct index_t {
    const char *what;
    int32_t axis;
    bool is_along; // the indices have the rank of what they are taken from
} index_t;

static void count_up(int64_t *out, int64_t from, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        out[i] = from + i;
}

static bool has_elements(const keel_shape_t *shape) {
    int64_t count = 0;
    return shape_elements(shape, &count) && count;
}

// ---- what both refuse ---------------------------------------------------------------------------

static bool resolve(keel_context_t *context, const uint32_t nodes[2], int axis, index_t *index) {
    const keel_shape_t *from = trace_node_shape(context, nodes[0]);
    if (!dtype_is_integer(trace_node(context, nodes[1])->dtype))
        ops_refuse(context, index->what, nodes[1], "has no indices: its dtype is not an integer");
    else if (!axis_resolve(axis, from->rank, &index->axis))
        ops_refuse(context, index->what, nodes[0], "does not have this axis");
    else if (!from->dims[index->axis] && has_elements(trace_node_shape(context, nodes[1])))
        ops_refuse(context, index->what, nodes[0], "has nothing along this axis");
    return !context->error;
}

// The shape of what is taken. False, with an error, if there is none.
static bool taken_shape(keel_context_t *context, const uint32_t nodes[2], const index_t *index,
                        keel_shape_t *out) {
    const keel_shape_t *from = trace_node_shape(context, nodes[0]);
    const keel_shape_t *indices = trace_node_shape(context, nodes[1]);
    *out = *indices;
    if (index->is_along) {
        keel_shape_t whole = *from;
        whole.dims[index->axis] = indices->rank > index->axis ? indices->dims[index->axis] : 0;
        if (shape_equal(&whole, indices)) return true;
        ops_refuse_two(context, index->what, nodes[0], nodes[1],
                       "differ in more than the size of that axis");
        return false;
    }
    if (from->rank + indices->rank - 1 > KEEL_MAX_RANK) {
        ops_refuse_two(context, index->what, nodes[0], nodes[1], "give more than 8 dimensions");
        return false;
    }
    out->rank = 0;
    for (int32_t i = 0; i < index->axis; ++i)
        out->dims[out->rank++] = from->dims[i];
    for (int32_t i = 0; i < indices->rank; ++i)
        out->dims[out->rank++] = indices->dims[i];
    for (int32_t i = index->axis + 1; i < from->rank; ++i)
        out->dims[out->rank++] = from->dims[i];
    return true;
}

static void put_words(const index_t *index, int64_t words[INDEX_WORDS]) {
    words[INDEX_AXIS] = index->axis;
    words[INDEX_IS_ALONG] = index->is_along;
}

// ---- taking -------------------------------------------------------------------------------------

static keel_tensor_t take(keel_caller_t site, index_t index, keel_tensor_t x, keel_tensor_t indices,
                          int axis) {
    uint32_t nodes[2];
    int64_t words[INDEX_WORDS];
    node_spec_t spec = {.kind = NODE_TAKE, .words = words, .word_count = INDEX_WORDS};
    keel_context_t *context = ops_begin(site, index.what, (keel_tensor_t[]){x, indices}, 2, nodes);
    if (!context || !resolve(context, nodes, axis, &index) ||
        !taken_shape(context, nodes, &index, &spec.shape))
        return (keel_tensor_t){0};
    put_words(&index, words);
    spec.dtype = (keel_dtype_t)trace_node(context, nodes[0])->dtype;
    return trace_add(context, &spec, nodes, 2);
}

keel_tensor_t keel_take_at(keel_caller_t site, keel_tensor_t table, keel_tensor_t rows) {
    return take(site, (index_t){.what = "take"}, table, rows, 0);
}

keel_tensor_t keel_gather_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t indices, int axis) {
    return take(site, (index_t){.what = "gather"}, x, indices, axis);
}

keel_tensor_t keel_take_along_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t indices,
                                 int axis) {
    return take(site, (index_t){.what = "take_along", .is_along = true}, x, indices, axis);
}

// The axes of the result that are whole axes of x: those beside the indices'.
static uint32_t window_axes(int64_t axis, uint32_t outer, uint32_t inner, int64_t *out) {
    count_up(out, 0, (uint32_t)axis);
    count_up(out + axis, axis + outer, inner - (uint32_t)axis);
    return inner;
}

// Axes that x and the indices share.
static uint32_t shared_axes(int64_t axis, int32_t rank, int64_t *out) {
    count_up(out, 0, (uint32_t)axis);
    count_up(out + axis, axis + 1, (uint32_t)rank - 1 - (uint32_t)axis);
    return (uint32_t)rank - 1;
}

// XLA clamps the indices of a gather. An index vector has size 1: index_vector_dim is the rank of
// the indices.
static keel_status_t emit_take(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, numbers = {0};
    int64_t axes[KEEL_MAX_RANK], sizes[KEEL_MAX_RANK];
    const int64_t *axis = &item->words[INDEX_AXIS];
    const uint32_t indices = trace_operand(e->context, item->node, 1);
    uint32_t rank = (uint32_t)item->from->rank;
    uint32_t outer = (uint32_t)trace_node_shape(e->context, indices)->rank;
    memcpy(sizes, item->from->dims, sizeof sizes);
    sizes[*axis] = 1;
    if (item->words[INDEX_IS_ALONG]) {
        uint32_t count = shared_axes(*axis, item->from->rank, axes);
        for (uint32_t i = 0; i < rank; ++i)
            sizes[i] = 1;
        KEEL_TRY(emit_ints(e, &numbers, "operand_batching_dims", axes, count));
        KEEL_TRY(emit_ints(e, &numbers, "start_indices_batching_dims", axes, count));
    } else {
        uint32_t count = window_axes(*axis, outer, rank - 1, axes);
        KEEL_TRY(emit_ints(e, &numbers, "offset_dims", axes, count));
    }
    KEEL_TRY(emit_ints(e, &numbers, "collapsed_slice_dims", axis, 1));
    KEEL_TRY(emit_ints(e, &numbers, "start_index_map", axis, 1));
    KEEL_TRY(emit_int(e, &numbers, "index_vector_dim", outer));
    KEEL_TRY(emit_message(e, &fields, "gather_dimension_numbers", &numbers));
    KEEL_TRY(emit_ints(e, &fields, "gather_slice_sizes", sizes, rank));
    return emit_plain(e, item, "gather", &fields, out);
}

// ---- putting ------------------------------------------------------------------------------------

static keel_tensor_t put(keel_caller_t site, index_t index, keel_put_op_t op, keel_tensor_t x,
                         keel_tensor_t indices, keel_tensor_t values, int axis) {
    uint32_t nodes[3];
    int64_t words[INDEX_WORDS];
    keel_shape_t taken, both;
    keel_context_t *context =
        ops_begin(site, index.what, (keel_tensor_t[]){x, indices, values}, 3, nodes);
    if (!context || !resolve(context, nodes, axis, &index) ||
        !taken_shape(context, nodes, &index, &taken))
        return (keel_tensor_t){0};
    keel_dtype_t dtype = (keel_dtype_t)trace_node(context, nodes[0])->dtype;
    if ((unsigned)op >= KEEL_PUT_COUNT)
        return context_fail(context, site, "%s: there is no way %d to put", index.what, (int)op);
    if (dtype != trace_node(context, nodes[2])->dtype ||
        (dtype == KEEL_BOOL && op == KEEL_PUT_ADD) ||
        !shape_broadcast(&taken, trace_node_shape(context, nodes[2]), &both) ||
        !shape_equal(&taken, &both)) {
        char text[SHAPE_TEXT], wanted[SHAPE_TEXT];
        return context_fail(context, site, "%s: %s cannot be put where %s belongs", index.what,
                            ops_describe(context, nodes[2], text),
                            shape_text(dtype, &taken, wanted));
    }
    keel_tensor_t whole = ops_broadcast(context, nodes[2], &taken);
    if (!whole.context) return whole;
    nodes[2] = whole.id;
    put_words(&index, words);
    const node_spec_t spec = {.kind = NODE_PUT,
                              .op = (int)op,
                              .dtype = dtype,
                              .shape = *trace_node_shape(context, nodes[0]),
                              .words = words,
                              .word_count = INDEX_WORDS};
    return trace_add(context, &spec, nodes, 3);
}

keel_tensor_t keel_scatter_at(keel_caller_t site, keel_put_op_t op, keel_tensor_t x,
                              keel_tensor_t indices, keel_tensor_t values, int axis) {
    return put(site, (index_t){.what = "scatter"}, op, x, indices, values, axis);
}

keel_tensor_t keel_put_along_at(keel_caller_t site, keel_put_op_t op, keel_tensor_t x,
                                keel_tensor_t indices, keel_tensor_t values, int axis) {
    return put(site, (index_t){.what = "put_along", .is_along = true}, op, x, indices, values,
               axis);
}

// A bound of all indices.
static keel_status_t bound(emitter_t *e, uint32_t indices, double value, keel_value_id_t *out) {
    const node_t *node = trace_node(e->context, indices);
    fields_t none = {0};
    KEEL_TRY(emit_constant(e, (keel_dtype_t)node->dtype, value, out));
    return emit_instruction(e, "broadcast", (keel_dtype_t)node->dtype,
                            trace_node_shape(e->context, indices), out, 1, &none, out);
}

// A scatter drops what is out of range, so the indices are clamped first.
static keel_status_t clamp_indices(emitter_t *e, uint32_t indices, int64_t count,
                                   keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)trace_node(e->context, indices)->dtype;
    keel_value_id_t operands[3] = {0, e->values[indices], 0};
    KEEL_TRY(bound(e, indices, 0, &operands[0]));
    KEEL_TRY(bound(e, indices, (double)(count - 1), &operands[2]));
    return emit_instruction(e, "clamp", dtype, trace_node_shape(e->context, indices), operands, 3,
                            NULL, out);
}

static keel_status_t emit_put(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, numbers = {0};
    int64_t axes[KEEL_MAX_RANK];
    const int64_t *axis = &item->words[INDEX_AXIS];
    const uint32_t indices = trace_operand(e->context, item->node, 1);
    uint32_t outer = (uint32_t)trace_node_shape(e->context, indices)->rank;
    keel_value_id_t operands[3] = {item->operands[0], 0, item->operands[2]};
    int reducer = item->node->op == KEEL_PUT_ADD ? KEEL_OP_SUM : EMIT_SECOND;
    KEEL_TRY(clamp_indices(e, indices, item->from->dims[*axis], &operands[1]));
    KEEL_TRY(emit_callee(e, &fields, reducer, (keel_dtype_t)item->node->dtype));
    if (item->words[INDEX_IS_ALONG]) {
        uint32_t count = shared_axes(*axis, item->from->rank, axes);
        KEEL_TRY(emit_ints(e, &numbers, "input_batching_dims", axes, count));
        KEEL_TRY(emit_ints(e, &numbers, "scatter_indices_batching_dims", axes, count));
    } else {
        uint32_t count = window_axes(*axis, outer, (uint32_t)item->from->rank - 1, axes);
        KEEL_TRY(emit_ints(e, &numbers, "update_window_dims", axes, count));
    }
    KEEL_TRY(emit_ints(e, &numbers, "inserted_window_dims", axis, 1));
    KEEL_TRY(emit_ints(e, &numbers, "scatter_dims_to_operand_dims", axis, 1));
    KEEL_TRY(emit_int(e, &numbers, "index_vector_dim", outer));
    KEEL_TRY(emit_message(e, &fields, "scatter_dimension_numbers", &numbers));
    return emit_instruction(e, "scatter", (keel_dtype_t)item->node->dtype, item->shape, operands, 3,
                            &fields, out);
}

// ---- gradients ----------------------------------------------------------------------------------

static index_t index_of(const rule_t *rule) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    return (index_t){"gradient", (int32_t)words[INDEX_AXIS], words[INDEX_IS_ALONG]};
}

static keel_tensor_t gradient_take(const rule_t *rule, int which) {
    const index_t index = index_of(rule);
    if (which) return (keel_tensor_t){0};
    const keel_shape_t shape = keel_shape(gradient_operand(rule, 0));
    keel_tensor_t zeros = keel_broadcast_at(rule->site, gradient_constant(rule, 0), shape);
    return put(rule->site, index, KEEL_PUT_ADD, zeros, gradient_operand(rule, 1), rule->gradient,
               index.axis);
}

const operation_t operation_take = {emit_take, gradient_take, SHARDING_OF_OPERANDS};

static keel_tensor_t gradient_put(const rule_t *rule, int which) {
    const index_t index = index_of(rule);
    keel_tensor_t g = rule->gradient;
    if (which == 1) return (keel_tensor_t){0};
    if (which == 2) return take(rule->site, index, g, gradient_operand(rule, 1), index.axis);
    if (rule->node.op == KEEL_PUT_ADD) return g;
    return put(rule->site, index, KEEL_PUT_SET, g, gradient_operand(rule, 1),
               gradient_constant(rule, 0), index.axis);
}

const operation_t operation_put = {emit_put, gradient_put, SHARDING_OF_OPERANDS};
