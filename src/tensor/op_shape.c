// The elements of the operands in another shape.
#include "tensor/operation.h"

// ---- broadcast, reshape, transpose --------------------------------------------------------------

keel_tensor_t keel_broadcast_at(keel_caller_t site, keel_tensor_t x, keel_shape_t shape) {
    uint32_t node;
    char text[SHAPE_TEXT];
    keel_shape_t result;
    keel_context_t *context = ops_begin(site, "broadcast", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    int64_t elements;
    bool is_good = shape_elements(&shape, &elements) &&
                   shape_broadcast(trace_node_shape(context, node), &shape, &result) &&
                   shape_equal(&result, &shape);
    if (is_good) return ops_broadcast(context, node, &shape);
    return context_fail(
        context, site, "broadcast: %s does not broadcast to %s", ops_describe(context, node, text),
        shape_text(trace_node(context, node)->dtype, &shape, (char[SHAPE_TEXT]){0}));
}

static keel_status_t emit_broadcast(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_listed(e, item, "broadcast", out);
}

static keel_tensor_t gradient_broadcast(const rule_t *rule, int which) {
    (void)which;
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    keel_axes_t added = {0};
    int32_t rank = keel_shape(rule->result).rank;
    for (int32_t axis = 0; axis < rank; ++axis) {
        bool is_kept = false;
        for (uint32_t i = 0; i < rule->node.word_count; ++i)
            is_kept = is_kept || words[i] == axis;
        if (!is_kept) added.items[added.count++] = axis;
    }
    return keel_reduce_at(rule->site, KEEL_OP_SUM, rule->gradient, added);
}

const operation_t operation_broadcast = {emit_broadcast, gradient_broadcast, SHARDING_OF_OPERANDS};

keel_tensor_t keel_reshape_at(keel_caller_t site, keel_tensor_t x, keel_shape_t shape) {
    uint32_t node;
    int64_t from, to;
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    keel_context_t *context = ops_begin(site, "reshape", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    keel_dtype_t dtype = trace_node(context, node)->dtype;
    shape_elements(trace_node_shape(context, node), &from);
    if (!shape_elements(&shape, &to) || from != to)
        return context_fail(context, site, "reshape: %s and %s have different numbers of elements",
                            ops_describe(context, node, text), shape_text(dtype, &shape, other));
    if (shape_equal(&shape, trace_node_shape(context, node))) return ops_tensor(context, node);
    const node_spec_t spec = {.kind = NODE_RESHAPE, .dtype = dtype, .shape = shape};
    return trace_add(context, &spec, &node, 1);
}

static keel_status_t emit_reshape(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, "reshape", NULL, out);
}

static keel_tensor_t gradient_reshape(const rule_t *rule, int which) {
    return keel_reshape_at(rule->site, rule->gradient,
                           keel_shape(gradient_operand(rule, (uint32_t)which)));
}

const operation_t operation_reshape = {emit_reshape, gradient_reshape, SHARDING_OF_OPERANDS};

keel_tensor_t keel_transpose_at(keel_caller_t site, keel_tensor_t x, keel_axes_t order) {
    uint32_t node;
    int32_t sorted[KEEL_MAX_RANK];
    keel_context_t *context = ops_begin(site, "transpose", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t from = *trace_node_shape(context, node);
    if (order.count != from.rank || !axes_resolve(&order, from.rank, sorted))
        return ops_refuse(context, "transpose", node, "needs each of its axes once");
    node_spec_t spec = {.kind = NODE_TRANSPOSE,
                        .dtype = trace_node(context, node)->dtype,
                        .shape = {.rank = from.rank},
                        .words = order.items,
                        .word_count = (uint32_t)from.rank};
    for (int32_t i = 0; i < from.rank; ++i) {
        if (order.items[i] < 0) order.items[i] += from.rank;
        spec.shape.dims[i] = from.dims[order.items[i]];
    }
    return trace_add(context, &spec, &node, 1);
}

static keel_status_t emit_transpose(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_listed(e, item, "transpose", out);
}

static keel_tensor_t gradient_transpose(const rule_t *rule, int which) {
    (void)which;
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    keel_axes_t back = {.count = (int32_t)rule->node.word_count};
    for (int32_t i = 0; i < back.count; ++i)
        back.items[words[i]] = i;
    return keel_transpose_at(rule->site, rule->gradient, back);
}

const operation_t operation_transpose = {emit_transpose, gradient_transpose, SHARDING_OF_OPERANDS};

// ---- slice, pad, concatenate --------------------------------------------------------------------

// `what`: keel_slice or keel_stride.
static keel_tensor_t slice(keel_caller_t site, const char *what, keel_tensor_t x, int axis,
                           int64_t from, int64_t to, int64_t step) {
    uint32_t node;
    int32_t place;
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    node_spec_t spec = {.kind = NODE_SLICE,
                        .dtype = trace_node(context, node)->dtype,
                        .shape = *trace_node_shape(context, node),
                        .word_count = 4};
    if (!axis_resolve(axis, spec.shape.rank, &place))
        return ops_refuse(context, what, node, "does not have this axis");
    if (step < 1) return context_fail(context, site, "%s: a step of %lld", what, (long long)step);
    if (from < 0 || to < from || to > spec.shape.dims[place]) {
        char text[SHAPE_TEXT];
        return context_fail(context, site, "%s: [%lld, %lld) is not in axis %d of %s", what,
                            (long long)from, (long long)to, place,
                            ops_describe(context, node, text));
    }
    if (step > to - from) step = to > from ? to - from : 1; // XLA adds to it
    const int64_t words[] = {place, from, to, step};
    spec.words = words;
    spec.shape.dims[place] = (to - from) / step + ((to - from) % step > 0);
    return trace_add(context, &spec, &node, 1);
}

keel_tensor_t keel_slice_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t from,
                            int64_t to) {
    return slice(site, "slice", x, axis, from, to, 1);
}

keel_tensor_t keel_stride_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t from,
                             int64_t to, int64_t step) {
    return slice(site, "stride", x, axis, from, to, step);
}

static keel_status_t emit_slice(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0};
    keel_attr_id_t ranges[KEEL_MAX_RANK], array;
    for (int32_t i = 0; i < item->from->rank; ++i) {
        bool is_cut = i == item->words[0];
        fields_t range = {0};
        KEEL_TRY(emit_int(e, &range, "start", is_cut ? item->words[1] : 0));
        KEEL_TRY(emit_int(e, &range, "limit", is_cut ? item->words[2] : item->from->dims[i]));
        KEEL_TRY(emit_int(e, &range, "stride", is_cut ? item->words[3] : 1));
        KEEL_TRY(emit_close(e, &range, KEEL_RECORD_HLO_MESSAGE, &ranges[i]));
    }
    KEEL_TRY(emit_array(e, ranges, (uint32_t)item->from->rank, &array));
    KEEL_TRY(emit_field(e, &fields, "slice_dimensions", array));
    return emit_plain(e, item, "slice", &fields, out);
}

static keel_tensor_t gradient_slice(const rule_t *rule, int which) {
    (void)which;
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    int axis = (int)words[0];
    int64_t count = keel_shape(rule->gradient).dims[axis], step = words[3];
    int64_t whole = keel_shape(gradient_operand(rule, 0)).dims[axis];
    int64_t covered = count ? (count - 1) * step + 1 : 0;
    return ops_spread(rule->site, rule->gradient, axis, words[1], whole - words[1] - covered,
                      step - 1);
}

const operation_t operation_slice = {emit_slice, gradient_slice, SHARDING_OF_OPERANDS};

// False if it overflows.
static bool padded_size(int64_t before, int64_t after, int64_t between, int64_t *size) {
    int64_t gaps;
    return before >= 0 && after >= 0 && between >= 0 &&
           !__builtin_mul_overflow(*size > 0 ? *size - 1 : 0, between, &gaps) &&
           !__builtin_add_overflow(*size, gaps, size) &&
           !__builtin_add_overflow(*size, before, size) &&
           !__builtin_add_overflow(*size, after, size);
}

keel_tensor_t ops_spread(keel_caller_t site, keel_tensor_t x, int axis, int64_t before,
                         int64_t after, int64_t between) {
    uint32_t node;
    int32_t place;
    keel_context_t *context = ops_begin(site, "pad", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    node_spec_t spec = {.kind = NODE_PAD,
                        .dtype = trace_node(context, node)->dtype,
                        .shape = *trace_node_shape(context, node),
                        .word_count = 4};
    if (!axis_resolve(axis, spec.shape.rank, &place))
        return ops_refuse(context, "pad", node, "does not have this axis");
    if (!padded_size(before, after, between, &spec.shape.dims[place]))
        return ops_refuse(context, "pad", node, "cannot be padded by so much");
    const int64_t words[] = {place, before, after, between};
    spec.words = words;
    return trace_add(context, &spec, &node, 1);
}

keel_tensor_t keel_pad_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t before,
                          int64_t after) {
    return ops_spread(site, x, axis, before, after, 0);
}

static keel_status_t emit_pad(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    fields_t fields = {0}, config = {0};
    keel_attr_id_t sides[KEEL_MAX_RANK], array;
    keel_value_id_t operands[2] = {item->operands[0]};
    KEEL_TRY(emit_constant(e, dtype, 0, &operands[1]));
    for (int32_t i = 0; i < item->from->rank; ++i) {
        bool is_padded = i == item->words[0];
        fields_t side = {0};
        KEEL_TRY(emit_int(e, &side, "edge_padding_low", is_padded ? item->words[1] : 0));
        KEEL_TRY(emit_int(e, &side, "edge_padding_high", is_padded ? item->words[2] : 0));
        KEEL_TRY(emit_int(e, &side, "interior_padding", is_padded ? item->words[3] : 0));
        KEEL_TRY(emit_close(e, &side, KEEL_RECORD_HLO_MESSAGE, &sides[i]));
    }
    KEEL_TRY(emit_array(e, sides, (uint32_t)item->from->rank, &array));
    KEEL_TRY(emit_field(e, &config, "dimensions", array));
    KEEL_TRY(emit_message(e, &fields, "padding_config", &config));
    return emit_instruction(e, "pad", dtype, item->shape, operands, 2, &fields, out);
}

static keel_tensor_t gradient_pad(const rule_t *rule, int which) {
    (void)which;
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    int axis = (int)words[0];
    int64_t count = keel_shape(gradient_operand(rule, 0)).dims[axis], step = words[3] + 1;
    return keel_stride_at(rule->site, rule->gradient, axis, words[1],
                          words[1] + (count ? (count - 1) * step + 1 : 0), step);
}

const operation_t operation_pad = {emit_pad, gradient_pad, SHARDING_OF_OPERANDS};

keel_tensor_t keel_concatenate_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y, int axis) {
    uint32_t nodes[2];
    int32_t place;
    keel_context_t *context = ops_begin(site, "concatenate", (keel_tensor_t[]){x, y}, 2, nodes);
    if (!context) return (keel_tensor_t){0};
    keel_shape_t shape = *trace_node_shape(context, nodes[0]);
    keel_shape_t other = *trace_node_shape(context, nodes[1]);
    keel_dtype_t dtype = trace_node(context, nodes[0])->dtype;
    if (!axis_resolve(axis, shape.rank, &place))
        return ops_refuse(context, "concatenate", nodes[0], "does not have this axis");
    int64_t first = shape.dims[place], second = other.rank > place ? other.dims[place] : 0, sum;
    shape.dims[place] = second;
    if (dtype != trace_node(context, nodes[1])->dtype || !shape_equal(&shape, &other) ||
        __builtin_add_overflow(first, second, &sum))
        return ops_refuse_two(context, "concatenate", nodes[0], nodes[1],
                              "differ in dtype, or in more than the size of that axis");
    shape.dims[place] = sum;
    const int64_t words[] = {place};
    const node_spec_t spec = {
        .kind = NODE_JOIN, .dtype = dtype, .shape = shape, .words = words, .word_count = 1};
    return trace_add(context, &spec, nodes, 2);
}

keel_tensor_t ops_stack(keel_caller_t site, const keel_tensor_t *x, uint32_t count) {
    uint32_t *nodes = NULL;
    const int64_t words[] = {0};
    keel_context_t *context = ops_begin_list(site, "stack", x, count, &nodes);
    keel_tensor_t result = {0};
    const keel_shape_t own = keel_shape(x[0]);
    for (uint32_t i = 0; i < count && context; ++i) {
        keel_tensor_t row = keel_reshape_at(site, x[i], shape_stacked(&own, 1));
        if (!row.context) context = NULL;
        nodes[i] = row.id;
    }
    if (context) {
        const node_spec_t spec = {.kind = NODE_JOIN,
                                  .dtype = keel_dtype(x[0]),
                                  .shape = shape_stacked(&own, count),
                                  .words = words,
                                  .word_count = 1};
        result = trace_add(context, &spec, nodes, count);
    }
    keel_free(nodes);
    return result;
}

// A tensor with zeros around it along an axis.
typedef struct padded_t {
    uint32_t x; // without the zeros
    int64_t axis, before, size, after;
} padded_t;

static bool read_padded(const keel_context_t *context, uint32_t node, padded_t *out) {
    const node_t *pad = trace_node(context, node);
    const int64_t *words = trace_words(&context->trace, pad);
    if (pad->kind != NODE_PAD || words[3]) return false;
    *out = (padded_t){trace_operand(context, pad, 0), words[0], words[1], 0, words[2]};
    out->size = trace_node_shape(context, out->x)->dims[out->axis];
    return true;
}

// What a concatenation along that axis consists of, or the node itself; 0 if there is no room.
static uint32_t read_parts(const keel_context_t *context, const padded_t *padded, uint32_t room,
                           uint32_t *out) {
    const node_t *node = trace_node(context, padded->x);
    const bool is_join =
        node->kind == NODE_JOIN && *trace_words(&context->trace, node) == padded->axis;
    const uint32_t count = is_join ? node->operand_count : 1;
    if (count > room) return 0;
    memcpy(out, is_join ? trace_operands(&context->trace, node) : &padded->x,
           count * sizeof(uint32_t));
    return count;
}

keel_tensor_t ops_join_padded(keel_context_t *context, uint32_t x, uint32_t y) {
    enum { MAX_PARTS = 64 };
    padded_t first, second;
    uint32_t parts[MAX_PARTS];
    if (!read_padded(context, x, &first) || !read_padded(context, y, &second) ||
        first.axis != second.axis)
        return (keel_tensor_t){0};
    if (first.before > second.before) {
        const padded_t other = first;
        first = second;
        second = other;
    }
    if (first.before + first.size != second.before) return (keel_tensor_t){0};
    uint32_t count = read_parts(context, &first, MAX_PARTS, parts), more = 0;
    if (count) more = read_parts(context, &second, MAX_PARTS - count, parts + count);
    if (!more) return (keel_tensor_t){0};
    const int64_t words[] = {first.axis};
    node_spec_t spec = {.kind = NODE_JOIN,
                        .dtype = (keel_dtype_t)trace_node(context, first.x)->dtype,
                        .shape = *trace_node_shape(context, first.x),
                        .words = words,
                        .word_count = 1};
    spec.shape.dims[first.axis] += second.size;
    keel_tensor_t joined = trace_add(context, &spec, parts, count + more);
    if (!first.before && !second.after) return joined;
    return ops_spread(context->site, joined, (int)first.axis, first.before, second.after, 0);
}

static keel_status_t emit_join(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_listed(e, item, "concatenate", out);
}

static keel_tensor_t gradient_join(const rule_t *rule, int which) {
    int axis = (int)*trace_words(&rule->context->trace, &rule->node);
    int64_t from = 0, to = 0;
    for (int i = 0; i <= which; ++i) {
        uint32_t operand = trace_operand(rule->context, &rule->node, (uint32_t)i);
        from = to;
        to += trace_node_shape(rule->context, operand)->dims[axis];
    }
    return keel_slice_at(rule->site, rule->gradient, axis, from, to);
}

const operation_t operation_join = {emit_join, gradient_join, SHARDING_OF_OPERANDS};

// ---- reverse ------------------------------------------------------------------------------------

keel_tensor_t keel_reverse_at(keel_caller_t site, keel_tensor_t x, keel_axes_t axes) {
    uint32_t node;
    int32_t sorted[KEEL_MAX_RANK];
    int64_t words[KEEL_MAX_RANK];
    keel_context_t *context = ops_begin(site, "reverse", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    if (!axes_resolve(&axes, trace_node_shape(context, node)->rank, sorted))
        return ops_refuse(context, "reverse", node, "does not have these axes, each once");
    if (!axes.count) return ops_tensor(context, node);
    for (int32_t i = 0; i < axes.count; ++i)
        words[i] = sorted[i];
    const node_spec_t spec = {.kind = NODE_REVERSE,
                              .dtype = trace_node(context, node)->dtype,
                              .shape = *trace_node_shape(context, node),
                              .words = words,
                              .word_count = (uint32_t)axes.count};
    return trace_add(context, &spec, &node, 1);
}

static keel_status_t emit_reverse(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_listed(e, item, "reverse", out);
}

static keel_tensor_t gradient_reverse(const rule_t *rule, int which) {
    keel_axes_t axes = {.count = (int32_t)rule->node.word_count};
    (void)which;
    for (int32_t i = 0; i < axes.count; ++i)
        axes.items[i] = trace_words(&rule->context->trace, &rule->node)[i];
    return keel_reverse_at(rule->site, rule->gradient, axes);
}

const operation_t operation_reverse = {emit_reverse, gradient_reverse, SHARDING_OF_OPERANDS};
