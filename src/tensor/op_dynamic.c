// A part of an axis that begins where the device says; XLA moves the start so that the part fits.
#include "tensor/operation.h"

// Both have the axis as their word. XLA moves a start in its own dtype, and what is too far for a
// small one wraps, so small ones are converted.
static bool resolve(keel_context_t *context, const char *what, const uint32_t *nodes,
                    uint32_t *start, int axis, int64_t *out) {
    const keel_shape_t *from = trace_node_shape(context, nodes[0]);
    const keel_dtype_t dtype = (keel_dtype_t)trace_node(context, *start)->dtype;
    int32_t place;
    if (!dtype_is_integer(dtype) || trace_node_shape(context, *start)->rank)
        ops_refuse(context, what, *start, "is not a start: that is a scalar integer");
    else if (!axis_resolve(axis, from->rank, &place))
        ops_refuse(context, what, nodes[0], "does not have this axis");
    else
        *out = place;
    if (!context->error && keel_dtype_size(dtype) < 4)
        *start = ops_convert(context, *start, KEEL_I32).id;
    return !context->error;
}

static bool has_room(keel_context_t *context, const char *what, uint32_t node, int64_t axis,
                     int64_t size) {
    if (size >= 0 && size <= trace_node_shape(context, node)->dims[axis]) return true;
    ops_refuse(context, what, node, "is shorter than that along this axis");
    return false;
}

// x, and an index for each axis.
static keel_status_t list_operands(emitter_t *e, const item_t *item, uint32_t which,
                                   keel_value_id_t *out, uint32_t *count) {
    const uint32_t start = trace_operand(e->context, item->node, which);
    keel_value_id_t zero;
    KEEL_TRY(emit_constant(e, (keel_dtype_t)trace_node(e->context, start)->dtype, 0, &zero));
    for (int32_t i = 0; i < item->from->rank; ++i)
        out[(*count)++] = i == *item->words ? item->operands[which] : zero;
    return NULL;
}

// ---- slice --------------------------------------------------------------------------------------

keel_tensor_t keel_dynamic_slice_at(keel_caller_t site, keel_tensor_t x, int axis,
                                    keel_tensor_t start, int64_t size) {
    uint32_t nodes[2];
    int64_t word;
    keel_context_t *context =
        ops_begin(site, "dynamic_slice", (keel_tensor_t[]){x, start}, 2, nodes);
    if (!context || !resolve(context, "dynamic_slice", nodes, &nodes[1], axis, &word) ||
        !has_room(context, "dynamic_slice", nodes[0], word, size))
        return (keel_tensor_t){0};
    node_spec_t spec = {.kind = NODE_DYNAMIC_SLICE,
                        .dtype = (keel_dtype_t)trace_node(context, nodes[0])->dtype,
                        .shape = *trace_node_shape(context, nodes[0]),
                        .words = &word,
                        .word_count = 1};
    spec.shape.dims[word] = size;
    return trace_add(context, &spec, nodes, 2);
}

static keel_status_t emit_dynamic_slice(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0};
    keel_value_id_t operands[1 + KEEL_MAX_RANK] = {item->operands[0]};
    uint32_t count = 1;
    KEEL_TRY(list_operands(e, item, 1, operands, &count));
    KEEL_TRY(emit_ints(e, &fields, "dynamic_slice_sizes", item->shape->dims,
                       (uint32_t)item->shape->rank));
    return emit_instruction(e, "dynamic-slice", (keel_dtype_t)item->node->dtype, item->shape,
                            operands, count, &fields, out);
}

static keel_tensor_t gradient_dynamic_slice(const rule_t *rule, int which) {
    if (which) return (keel_tensor_t){0};
    const keel_shape_t shape = keel_shape(gradient_operand(rule, 0));
    keel_tensor_t zeros = keel_broadcast_at(rule->site, gradient_constant(rule, 0), shape);
    return keel_dynamic_update_at(rule->site, zeros,
                                  (int)*trace_words(&rule->context->trace, &rule->node),
                                  gradient_operand(rule, 1), rule->gradient);
}

const operation_t operation_dynamic_slice = {emit_dynamic_slice, gradient_dynamic_slice,
                                             SHARDING_OF_OPERANDS};

// ---- update -------------------------------------------------------------------------------------

keel_tensor_t keel_dynamic_update_at(keel_caller_t site, keel_tensor_t x, int axis,
                                     keel_tensor_t start, keel_tensor_t values) {
    uint32_t nodes[3];
    int64_t word;
    keel_context_t *context =
        ops_begin(site, "dynamic_update", (keel_tensor_t[]){x, values, start}, 3, nodes);
    if (!context || !resolve(context, "dynamic_update", nodes, &nodes[2], axis, &word))
        return (keel_tensor_t){0};
    const keel_shape_t part = *trace_node_shape(context, nodes[1]);
    keel_shape_t whole = *trace_node_shape(context, nodes[0]);
    if (part.rank == whole.rank) whole.dims[word] = part.dims[word];
    if (trace_node(context, nodes[0])->dtype != trace_node(context, nodes[1])->dtype ||
        !shape_equal(&whole, &part))
        return ops_refuse_two(context, "dynamic_update", nodes[0], nodes[1],
                              "differ in dtype, or in more than the size of that axis");
    if (!has_room(context, "dynamic_update", nodes[0], word, part.dims[word]))
        return (keel_tensor_t){0};
    const node_spec_t spec = {.kind = NODE_DYNAMIC_UPDATE,
                              .dtype = (keel_dtype_t)trace_node(context, nodes[0])->dtype,
                              .shape = *trace_node_shape(context, nodes[0]),
                              .words = &word,
                              .word_count = 1};
    return trace_add(context, &spec, nodes, 3);
}

static keel_status_t emit_dynamic_update(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_value_id_t operands[2 + KEEL_MAX_RANK] = {item->operands[0], item->operands[1]};
    uint32_t count = 2;
    KEEL_TRY(list_operands(e, item, 2, operands, &count));
    return emit_instruction(e, "dynamic-update-slice", (keel_dtype_t)item->node->dtype, item->shape,
                            operands, count, NULL, out);
}

static keel_tensor_t gradient_dynamic_update(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    if (which == 2) return (keel_tensor_t){0};
    int axis = (int)*trace_words(&rule->context->trace, &rule->node);
    keel_tensor_t start = gradient_operand(rule, 2);
    const keel_shape_t part = keel_shape(gradient_operand(rule, 1));
    if (which) return keel_dynamic_slice_at(site, rule->gradient, axis, start, part.dims[axis]);
    keel_tensor_t zeros = keel_broadcast_at(site, gradient_constant(rule, 0), part);
    return keel_dynamic_update_at(site, rule->gradient, axis, start, zeros);
}

const operation_t operation_dynamic_update = {emit_dynamic_update, gradient_dynamic_update,
                                              SHARDING_OF_OPERANDS};
