// Nodes with several results, and their parts.
#include "tensor/operation.h"

static void add_tuple(keel_context_t *context, const uint32_t *nodes, uint32_t count,
                      keel_tensor_t *out) {
    void *memory;
    const node_spec_t spec = {.kind = NODE_BARRIER};
    keel_status_t status = keel_calloc(count, sizeof(result_t), &memory);
    if (status) {
        context_take(context, context->site, status);
        return;
    }
    result_t *results = memory;
    for (uint32_t i = 0; i < count; ++i)
        results[i] = (result_t){(keel_dtype_t)trace_node(context, nodes[i])->dtype,
                                *trace_node_shape(context, nodes[i])};
    trace_add_tuple(context, &spec, nodes, count, results, count, out);
    keel_free(results);
}

void keel_barrier_at(keel_caller_t site, const keel_tensor_t *x, size_t count, keel_tensor_t *out) {
    uint32_t *nodes = NULL;
    keel_context_t *context =
        x ? ops_begin_list(site, "barrier", x, (uint32_t)count, &nodes) : NULL;
    if (context && !out && count) context_fail(context, site, "barrier: no place for the results");
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
    if (context && out) add_tuple(context, nodes, (uint32_t)count, out);
    keel_free(nodes);
}

static keel_status_t emit_barrier(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_type_id_t type;
    KEEL_TRY(emit_tuple(e, item->operands, item->node->operand_count, out));
    KEEL_TRY(emit_results_type(e, item->node, &type));
    return emit_typed(e, "opt-barrier", type, out, 1, NULL, out);
}

// The gradient of that result.
static keel_tensor_t gradient_barrier(const rule_t *rule, int which) {
    return reverse_adjoint(rule->reverse, rule->index + 1 + (uint32_t)which);
}

const operation_t operation_barrier = {emit_barrier, gradient_barrier, SHARDING_WHOLE_ONLY};

static keel_status_t emit_result(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_part(e, item->operands[0], (uint32_t)item->words[0],
                     (keel_dtype_t)item->node->dtype, item->shape, out);
}

const operation_t operation_part = {emit_result, NULL, SHARDING_WHOLE_ONLY};
