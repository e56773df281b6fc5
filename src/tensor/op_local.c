// What one device of the mesh does by itself, and with others: keel_local, keel_global,
// collectives.
//
// A node is local if each device has its own value of it: a part that keel_local gave, and what is
// made of it. If one operand of an operation is local, the others become local too, whole on each
// device.
//
// Gradients: of a value that several devices have whole, each device's gradient is its share. So
// keel_global gives each device its part of the gradient divided by their number, and keel_local
// sums over them.
#include "tensor/operation.h"

static bool is_local(const keel_context_t *context, uint32_t node) {
    return trace_is_local(&context->trace, node);
}

// ---- mixing ------------------------------------------------------------------------------------

static bool local_of(const keel_context_t *context, node_kind_t kind, const uint32_t *operands,
                     uint32_t count) {
    sharding_rule_t rule = operation_sharding(kind);
    if (rule == SHARDING_PARTS || rule == SHARDING_JOINED) return rule == SHARDING_PARTS;
    for (uint32_t i = 0; i < count; ++i)
        if (is_local(context, operands[i])) return true;
    return false;
}

keel_status_t local_note(keel_context_t *context, node_kind_t kind, const uint32_t *operands,
                         uint32_t count) {
    trace_t *trace = &context->trace;
    uint32_t next = trace->nodes.count, known = trace->locals.count;
    if (known <= next) {
        KEEL_TRY(keel_table_reserve(&trace->locals, next + 1 - known));
        memset(trace->locals.data + known, 0, next + 1 - known);
        trace->locals.count = next + 1;
    }
    trace->locals.data[next] = local_of(context, kind, operands, count);
    return NULL;
}

// Whole on each device.
static uint32_t spread(keel_context_t *context, uint32_t node) {
    const int64_t words[] = {SHARDING_WHOLE};
    const node_spec_t spec = {.kind = NODE_LOCAL,
                              .dtype = trace_node(context, node)->dtype,
                              .shape = *trace_node_shape(context, node),
                              .words = words,
                              .word_count = 1};
    keel_tensor_t local = trace_add(context, &spec, &node, 1);
    return local.context ? local.id : KEEL_NONE;
}

static bool refuse(keel_context_t *context, const char *what) {
    context_fail(context, context->site, "%s takes no part of one device; keel_global it first",
                 what);
    return false;
}

bool local_mix(keel_context_t *context, node_kind_t kind, const uint32_t **operands,
               uint32_t count) {
    sharding_rule_t rule = operation_sharding(kind);
    if (rule == SHARDING_PARTS || rule == SHARDING_JOINED ||
        !local_of(context, kind, *operands, count))
        return true;
    if (rule == SHARDING_WHOLE_ONLY)
        return refuse(context, kind == NODE_SHARD ? "shard" : "a barrier, loop or branch");
    keel_status_t status = keel_table_reserve(&context->mixed, count);
    if (status) {
        context_take(context, context->site, status);
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t node = (*operands)[i];
        if (!is_local(context, node)) node = spread(context, node);
        if (node == KEEL_NONE) return false;
        context->mixed.data[i] = node;
    }
    *operands = context->mixed.data;
    return true;
}

bool local_refuses(keel_context_t *context, const char *what, uint32_t node) {
    return is_local(context, node) && !refuse(context, what);
}

// ---- parts -------------------------------------------------------------------------------------

static keel_tensor_t add_local(keel_context_t *context, node_kind_t kind, uint32_t node,
                               const keel_shape_t *shape, uint32_t sharding) {
    const int64_t words[] = {sharding};
    const node_spec_t spec = {.kind = kind,
                              .dtype = trace_node(context, node)->dtype,
                              .shape = *shape,
                              .words = words,
                              .word_count = 1};
    return trace_add(context, &spec, &node, 1);
}

keel_tensor_t keel_local_at(keel_caller_t site, keel_tensor_t x, keel_spec_t spec) {
    uint32_t node, sharding;
    keel_context_t *context = ops_begin(site, "local", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    keel_shape_t shape = *trace_node_shape(context, node);
    if (is_local(context, node))
        return context_fail(context, site, "local: it is the part of one device already");
    if (!mesh_resolve(context, "local", &spec, trace_node(context, node)->dtype, &shape, &sharding))
        return (keel_tensor_t){0};
    int64_t parts[KEEL_MAX_RANK];
    mesh_parts(&context->mesh, &context->shardings.data[sharding], parts);
    for (int32_t i = 0; i < shape.rank; ++i)
        shape.dims[i] /= parts[i];
    return add_local(context, NODE_LOCAL, node, &shape, sharding);
}

keel_tensor_t keel_global_at(keel_caller_t site, keel_tensor_t x, keel_spec_t spec) {
    uint32_t node, sharding;
    keel_context_t *context = ops_begin(site, "global", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    if (!is_local(context, node))
        return context_fail(context, site, "global: it is not the part of one device (keel_local)");
    keel_shape_t shape = *trace_node_shape(context, node);
    keel_dtype_t dtype = trace_node(context, node)->dtype;
    if (!mesh_grow(context, "global", &spec, dtype, &shape) ||
        !mesh_resolve(context, "global", &spec, dtype, &shape, &sharding))
        return (keel_tensor_t){0};
    return add_local(context, NODE_GLOBAL, node, &shape, sharding);
}

// ---- in HLO ------------------------------------------------------------------------------------

// Between the two custom calls that part and join a value, the partitioner leaves operations as
// they are ("manual").
static keel_status_t call(emitter_t *e, const char *target, const fields_t *sharding,
                          keel_dtype_t dtype, const keel_shape_t *shape, keel_value_id_t operand,
                          keel_value_id_t *out) {
    fields_t fields = *sharding;
    KEEL_TRY(emit_string(e, &fields, "custom_call_target", target));
    return emit_instruction(e, "custom-call", dtype, shape, &operand, 1, &fields, out);
}

static keel_status_t emit_between(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    const trace_t *trace = &e->context->trace;
    keel_dtype_t dtype = item->node->dtype;
    fields_t split = {0}, manual = {0};
    *out = item->operands[0];
    if (e->context->mesh.devices == 1) return NULL;
    KEEL_TRY(
        emit_sharding(e, &split, (uint32_t)*trace_words(trace, item->node), item->shape->rank));
    KEEL_TRY(emit_manual(e, &manual));
    bool is_parting = item->node->kind == NODE_LOCAL;
    KEEL_TRY(call(e, "Sharding", is_parting ? &split : &manual, dtype, item->from, *out, out));
    if (is_parting) return call(e, "SPMDFullToShardShape", &manual, dtype, item->shape, *out, out);
    return call(e, "SPMDShardToFullShape", &split, dtype, item->shape, *out, out);
}

// ---- gradients ---------------------------------------------------------------------------------

static uint32_t sharding_of(const rule_t *rule) {
    return (uint32_t)*trace_words(&rule->context->trace, &rule->node);
}

// The axes of the mesh along which devices have the same.
static uint32_t copies_of(const rule_t *rule) {
    const keel_context_t *context = rule->context;
    return mesh_others(&context->mesh, &context->shardings.data[sharding_of(rule)]);
}

static keel_tensor_t gradient_local(const rule_t *rule, int which) {
    const keel_shape_t shape = keel_shape(gradient_operand(rule, (uint32_t)which));
    keel_tensor_t sum = collective_sum(rule->context, rule->gradient, copies_of(rule));
    if (!sum.context) return sum;
    return add_local(rule->context, NODE_GLOBAL, sum.id, &shape, sharding_of(rule));
}

static keel_tensor_t gradient_global(const rule_t *rule, int which) {
    const keel_shape_t shape = keel_shape(gradient_operand(rule, (uint32_t)which));
    int64_t copies = mesh_size(&rule->context->mesh, copies_of(rule));
    keel_tensor_t part =
        add_local(rule->context, NODE_LOCAL, rule->gradient.id, &shape, sharding_of(rule));
    if (!part.context || copies == 1) return part;
    return keel_binary_at(rule->site, KEEL_OP_DIVIDE, part,
                          ops_constant(rule->context, keel_dtype(part), (double)copies));
}

const operation_t operation_local = {emit_between, gradient_local, SHARDING_PARTS};
const operation_t operation_global = {emit_between, gradient_global, SHARDING_JOINED};
