// The table of operations, and what their files share.
#include "tensor/operation.h"

static const operation_t *const operations[NODE_KIND_COUNT] = {
    [NODE_CONSTANT] = &operation_constant,
    [NODE_LITERAL] = &operation_literal,
    [NODE_IOTA] = &operation_iota,
    [NODE_UNARY] = &operation_unary,
    [NODE_BINARY] = &operation_binary,
    [NODE_COMPARE] = &operation_compare,
    [NODE_SELECT] = &operation_select,
    [NODE_CONVERT] = &operation_convert,
    [NODE_BROADCAST] = &operation_broadcast,
    [NODE_RESHAPE] = &operation_reshape,
    [NODE_TRANSPOSE] = &operation_transpose,
    [NODE_REDUCE] = &operation_reduce,
    [NODE_WINDOW] = &operation_window,
    [NODE_WINDOW_PUT] = &operation_window_put,
    [NODE_WINDOW_TAKE] = &operation_window_take,
    [NODE_COMPLEX] = &operation_complex,
    [NODE_COMPLEX_PART] = &operation_complex_part,
    [NODE_FFT] = &operation_fft,
    [NODE_DOT] = &operation_dot,
    [NODE_SLICE] = &operation_slice,
    [NODE_PAD] = &operation_pad,
    [NODE_JOIN] = &operation_join,
    [NODE_TAKE] = &operation_take,
    [NODE_PUT] = &operation_put,
    [NODE_REVERSE] = &operation_reverse,
    [NODE_DYNAMIC_SLICE] = &operation_dynamic_slice,
    [NODE_DYNAMIC_UPDATE] = &operation_dynamic_update,
    [NODE_BITCAST] = &operation_bitcast,
    [NODE_IS_FINITE] = &operation_is_finite,
    [NODE_SORT] = &operation_sort,
    [NODE_CONVOLUTION] = &operation_convolution,
    [NODE_CALL] = &operation_call,
    [NODE_STOP] = &operation_stop,
    [NODE_SHARD] = &operation_shard,
    [NODE_LOCAL] = &operation_local,
    [NODE_GLOBAL] = &operation_global,
    [NODE_COLLECTIVE] = &operation_collective,
    [NODE_BARRIER] = &operation_barrier,
    [NODE_PART] = &operation_part,
};

sharding_rule_t operation_sharding(node_kind_t kind) {
    return operations[kind] ? operations[kind]->sharding : SHARDING_WHOLE_ONLY;
}

// ---- operands -----------------------------------------------------------------------------------

static uint32_t node_of(keel_context_t *context, const char *what, keel_tensor_t tensor) {
    if (!tensor.step) {
        if (context_variable(tensor))
            return context_variable_node(context, tensor.id & VARIABLE_INDEX);
        context_fail(context, context->site, "%s: an operand was released", what);
        return KEEL_NONE;
    }
    if (tensor.step == context->step && tensor.id < context->trace.nodes.count) {
        if (ops_is_usable(tensor)) return tensor.id;
        context_fail(context, context->site,
                     "%s: an operand was made in a body that has ended; a body returns what is "
                     "used outside it",
                     what);
        return KEEL_NONE;
    }
    context_fail(context, context->site,
                 "%s: an operand was made in step %u, which has ended; keel_keep a value that "
                 "outlives its step",
                 what, tensor.step);
    return KEEL_NONE;
}

bool ops_is_usable(keel_tensor_t tensor) {
    if (!tensor.step) return context_variable(tensor);
    const keel_context_t *context = tensor.context;
    if (tensor.step != context->step || tensor.id >= context->trace.nodes.count) return false;
    uint32_t scope = context->trace.scopes.data[tensor.id];
    return scope == KEEL_NONE || context->regions.data[scope].end == KEEL_NONE;
}

keel_context_t *ops_begin(keel_caller_t site, const char *what, const keel_tensor_t *operands,
                          uint32_t count, uint32_t *out_nodes) {
    keel_context_t *context = NULL;
    for (uint32_t i = 0; i < count && !context; ++i)
        context = operands[i].context;
    if (!context) return NULL;
    context->site = site;
    for (uint32_t i = 0; i < count; ++i) {
        if (!operands[i].context) {
            context_fail(context, site, "%s: operand %u is empty", what, i + 1);
            return NULL;
        }
        if (operands[i].context != context) {
            context_fail(context, site, "%s: operand %u belongs to another context", what, i + 1);
            return NULL;
        }
        out_nodes[i] = node_of(context, what, operands[i]);
        if (out_nodes[i] == KEEL_NONE) return NULL;
    }
    return context;
}

keel_context_t *ops_begin_list(keel_caller_t site, const char *what, const keel_tensor_t *operands,
                               uint32_t count, uint32_t **out_nodes) {
    keel_context_t *context = NULL;
    void *memory = NULL;
    *out_nodes = NULL;
    for (uint32_t i = 0; i < count && !context; ++i)
        context = operands[i].context;
    if (!context) return NULL;
    keel_status_t status = keel_calloc(count, sizeof(uint32_t), &memory);
    if (status) {
        context_take(context, site, status);
        return NULL;
    }
    *out_nodes = memory;
    return ops_begin(site, what, operands, count, *out_nodes);
}

keel_tensor_t ops_tensor(keel_context_t *context, uint32_t node) {
    return (keel_tensor_t){context, node, context->step};
}

const char *ops_describe(const keel_context_t *context, uint32_t node, char out[SHAPE_TEXT]) {
    return shape_text(trace_node(context, node)->dtype, trace_node_shape(context, node), out);
}

keel_tensor_t ops_refuse(keel_context_t *context, const char *what, uint32_t x, const char *why) {
    char text[SHAPE_TEXT];
    return context_fail(context, context->site, "%s: %s %s", what, ops_describe(context, x, text),
                        why);
}

keel_tensor_t ops_refuse_two(keel_context_t *context, const char *what, uint32_t x, uint32_t y,
                             const char *why) {
    char first[SHAPE_TEXT], second[SHAPE_TEXT];
    return context_fail(context, context->site, "%s: %s and %s %s", what,
                        ops_describe(context, x, first), ops_describe(context, y, second), why);
}

bool ops_is_real(const keel_context_t *context, uint32_t x) {
    keel_dtype_t dtype = (keel_dtype_t)trace_node(context, x)->dtype;
    return dtype_is_integer(dtype) || dtype_is_float(dtype);
}

keel_tensor_t ops_convert(keel_context_t *context, uint32_t x, keel_dtype_t dtype) {
    if (trace_node(context, x)->dtype == dtype) return ops_tensor(context, x);
    const node_spec_t spec = {
        .kind = NODE_CONVERT, .dtype = dtype, .shape = *trace_node_shape(context, x)};
    return trace_add(context, &spec, &x, 1);
}

keel_tensor_t ops_broadcast(keel_context_t *context, uint32_t x, const keel_shape_t *shape) {
    const keel_shape_t from = *trace_node_shape(context, x);
    if (shape_equal(&from, shape)) return ops_tensor(context, x);
    // XLA does not stretch dimensions of size 1: they are dropped first.
    int64_t places[KEEL_MAX_RANK];
    keel_shape_t kept = {0};
    for (int32_t i = 0; i < from.rank; ++i) {
        int32_t place = shape->rank - from.rank + i;
        if (from.dims[i] == 1 && shape->dims[place] != 1) continue;
        places[kept.rank] = place;
        kept.dims[kept.rank++] = from.dims[i];
    }
    keel_dtype_t dtype = trace_node(context, x)->dtype;
    keel_tensor_t result = ops_tensor(context, x);
    if (kept.rank != from.rank) {
        const node_spec_t reshape = {.kind = NODE_RESHAPE, .dtype = dtype, .shape = kept};
        result = trace_add(context, &reshape, &x, 1);
        if (!result.context) return result;
    }
    const node_spec_t spec = {.kind = NODE_BROADCAST,
                              .dtype = dtype,
                              .shape = *shape,
                              .words = places,
                              .word_count = (uint32_t)kept.rank};
    return trace_add(context, &spec, &result.id, 1);
}

// Both operands in one dtype and shape.
bool ops_meet(keel_context_t *context, const char *what, uint32_t nodes[2]) {
    keel_dtype_t dtype;
    keel_shape_t shape;
    const node_t *x = trace_node(context, nodes[0]), *y = trace_node(context, nodes[1]);
    if (!dtype_promote(x->dtype, y->dtype, &dtype)) {
        ops_refuse_two(context, what, nodes[0], nodes[1],
                       "have no common dtype; keel_cast one of them");
        return false;
    }
    if (!shape_broadcast(trace_node_shape(context, nodes[0]), trace_node_shape(context, nodes[1]),
                         &shape)) {
        ops_refuse_two(context, what, nodes[0], nodes[1], "do not broadcast");
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        keel_tensor_t result = ops_convert(context, nodes[i], dtype);
        if (result.context) result = ops_broadcast(context, result.id, &shape);
        if (!result.context) return false;
        nodes[i] = result.id;
    }
    return true;
}

// ---- in HLO -------------------------------------------------------------------------------------

static const char *const reducers[] = {
#define NAME(name, text, hlo) [KEEL_OP_##name] = hlo,
    KEEL_REDUCE_OPS(NAME)
#undef NAME
        [EMIT_SECOND] = "second", // no instruction: what is put replaces what was there
};

void emit_reducer_name(int op, keel_dtype_t dtype, char out[64]) {
    snprintf(out, 64, "%s_%s", reducers[op], keel_dtype_text(dtype));
}

const char *emit_reducer(int op) {
    return reducers[op];
}

keel_status_t emit_callee(emitter_t *e, fields_t *fields, int op, keel_dtype_t dtype) {
    char name[64];
    emit_reducer_name(op, dtype, name);
    return emit_call(e, fields, name);
}

keel_status_t emit_calls(emitter_t *e, fields_t *fields, const char *const *names, uint32_t count) {
    keel_string_id_t id;
    keel_attr_id_t symbols[2], array;
    for (uint32_t i = 0; i < count; ++i) {
        KEEL_TRY(emit_text(e, names[i], &id));
        KEEL_TRY(keel_program_add_attr(
            e->program, (keel_attr_t){.kind = KEEL_ATTR_SYMBOL, .a = id, .b = KEEL_NONE},
            &symbols[i]));
    }
    KEEL_TRY(emit_array(e, symbols, count, &array));
    return emit_field(e, fields, "called_computations", array);
}

keel_status_t emit_call(emitter_t *e, fields_t *fields, const char *name) {
    return emit_calls(e, fields, &name, 1);
}

keel_status_t emit_plain(emitter_t *e, const item_t *item, const char *name, const fields_t *fields,
                         keel_value_id_t *out) {
    return emit_instruction(e, name, (keel_dtype_t)item->node->dtype, item->shape, item->operands,
                            item->node->operand_count, fields, out);
}

// With a list of numbers under one name.
keel_status_t emit_listed(emitter_t *e, const item_t *item, const char *name,
                          keel_value_id_t *out) {
    fields_t fields = {0};
    KEEL_TRY(emit_ints(e, &fields, "dimensions", item->words, item->node->word_count));
    return emit_plain(e, item, name, &fields, out);
}

keel_status_t emit_node(emitter_t *e, uint32_t i) {
    const trace_t *trace = &e->context->trace;
    const node_t *node = &trace->nodes.data[i];
    const operation_t *operation = operations[node->kind];
    if (!operation) return NULL; // a parameter already
    item_t item = {.node = node,
                   .shape = &e->context->shapes.data[node->shape],
                   .words = trace_words(trace, node)};
    const uint32_t *operands = trace_operands(trace, node);
    e->operands.count = 0;
    for (uint32_t k = 0; k < node->operand_count; ++k)
        KEEL_PUSH(&e->operands, e->values[operands[k]]);
    item.operands = e->operands.data;
    if (node->operand_count) item.from = trace_node_shape(e->context, operands[0]);
    return operation->emit(e, &item, &e->values[i]);
}

// ---- gradients ----------------------------------------------------------------------------------

keel_tensor_t gradient_operand(const rule_t *rule, uint32_t which) {
    return reverse_value(rule->reverse, trace_operand(rule->context, &rule->node, which));
}

keel_tensor_t gradient_constant(const rule_t *rule, double value) {
    return ops_constant(rule->context, (keel_dtype_t)rule->node.dtype, value);
}

keel_tensor_t gradient_rule(const rule_t *rule, int which) {
    const operation_t *operation = operations[rule->node.kind];
    bool has_one = operation && operation->gradient;
    return has_one ? operation->gradient(rule, which) : (keel_tensor_t){0};
}
