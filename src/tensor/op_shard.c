// keel_shard.
#include "tensor/operation.h"

static keel_tensor_t add_shard(keel_context_t *context, uint32_t node, int64_t sharding) {
    const node_spec_t spec = {.kind = NODE_SHARD,
                              .dtype = trace_node(context, node)->dtype,
                              .shape = *trace_node_shape(context, node),
                              .words = &sharding,
                              .word_count = 1};
    return trace_add(context, &spec, &node, 1);
}

keel_tensor_t keel_shard_at(keel_caller_t site, keel_tensor_t x, keel_spec_t spec) {
    uint32_t node, sharding;
    keel_context_t *context = ops_begin(site, "shard", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t shape = *trace_node_shape(context, node);
    if (!mesh_resolve(context, "shard", &spec, trace_node(context, node)->dtype, &shape, &sharding))
        return (keel_tensor_t){0};
    return add_shard(context, node, sharding);
}

// An annotation that the partitioner replaces.
static keel_status_t emit_shard(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0};
    KEEL_TRY(emit_sharding(e, &fields, (uint32_t)item->words[0], item->shape->rank));
    if (!fields.count) { // one device
        *out = item->operands[0];
        return NULL;
    }
    KEEL_TRY(emit_string(e, &fields, "custom_call_target", "Sharding"));
    return emit_plain(e, item, "custom-call", &fields, out);
}

static keel_tensor_t gradient_shard(const rule_t *rule, int which) {
    (void)which;
    return add_shard(rule->context, rule->gradient.id,
                     *trace_words(&rule->context->trace, &rule->node));
}

const operation_t operation_shard = {emit_shard, gradient_shard, SHARDING_WHOLE_ONLY};
