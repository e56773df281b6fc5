// Computations in the trace: bodies of loops and branches, between two nodes.
#include "tensor/trace.h"

uint32_t region_open(keel_context_t *context) {
    uint32_t region = context->regions.count;
    const int64_t words[] = {region};
    const node_spec_t spec = {.kind = NODE_BEGIN, .words = words, .word_count = 1};
    keel_status_t status = keel_table_reserve(&context->regions, 1);
    if (status) {
        context_take(context, context->site, status);
        return KEEL_NONE;
    }
    keel_tensor_t begin = trace_add(context, &spec, NULL, 0);
    if (!begin.context) return KEEL_NONE;
    context->regions.data[context->regions.count++] =
        (region_t){begin.id, KEEL_NONE, context->region, KEEL_NONE};
    context->region = region;
    return region;
}

keel_tensor_t region_parameter(keel_context_t *context, uint32_t which, const result_t *type) {
    const int64_t words[] = {which};
    const node_spec_t spec = {.kind = NODE_PARAMETER,
                              .dtype = type->dtype,
                              .shape = type->shape,
                              .words = words,
                              .word_count = 1};
    return trace_add(context, &spec, NULL, 0);
}

bool region_close(keel_context_t *context, const uint32_t *results, uint32_t count) {
    const node_spec_t spec = {.kind = NODE_END};
    region_t *region = &context->regions.data[context->region];
    bool is_whole = !context->error && trace_add(context, &spec, results, count).context;
    region->end = context->trace.nodes.count - 1;
    context->region = region->parent;
    return is_whole;
}

bool region_refuses(keel_context_t *context, keel_caller_t site, const char *what) {
    bool is_open =
        context && (context->region != KEEL_NONE || context->layers || context->callbacks);
    if (!is_open) return false;
    const bool is_kept = !strcmp(what, "assign") || !strcmp(what, "keep");
    context_fail(context, site, "%s: a body is being traced, and nothing of it has a value yet%s",
                 what, is_kept ? "; let the body give it, and take it outside" : "");
    return true;
}

result_t region_node_type(const keel_context_t *context, uint32_t node) {
    return (result_t){(keel_dtype_t)trace_node(context, node)->dtype,
                      *trace_node_shape(context, node)};
}

// ---- what a callback traces --------------------------------------------------------------------

// The node of each result; false, with an error, if one is not there.
static bool read_results(keel_context_t *context, const body_t *body, const keel_tensor_t *results,
                         uint32_t *out) {
    context->site = body->site;
    for (uint32_t i = 0; i < body->result_count && !context->error; ++i) {
        if (!results[i].context)
            context_fail(context, body->site, "%s: the body gives no result %u", body->what, i + 1);
        else if (results[i].context != context)
            context_fail(context, body->site,
                         "%s: result %u of the body belongs to another context", body->what, i + 1);
        else
            ops_begin(body->site, body->what, &results[i], 1, &out[i]);
    }
    return !context->error;
}

// Tensors for what the body takes and gives, and room for the nodes of the latter.
static keel_status_t make_room(const body_t *body, keel_tensor_t **out) {
    void *memory;
    size_t tensors = (size_t)body->parameter_count + body->result_count + 1;
    size_t size = tensors * sizeof(keel_tensor_t) + body->result_count * sizeof(uint32_t);
    KEEL_TRY(keel_calloc(1, size, &memory));
    *out = memory;
    return NULL;
}

static bool run_body(keel_context_t *context, const body_t *body, keel_tensor_t *in) {
    keel_tensor_t *out = in + body->parameter_count;
    uint32_t *nodes = (uint32_t *)(out + body->result_count + 1);
    uint32_t opened = context->region;
    for (uint32_t i = 0; i < body->parameter_count; ++i) {
        in[i] = region_parameter(context, i, &body->parameters[i]);
        if (!in[i].context) break;
    }
    if (!context->error) body->trace(body->user, in, out);
    bool is_good = context->region == opened && read_results(context, body, out, nodes);
    return region_close(context, nodes, is_good ? body->result_count : 0) && is_good;
}

bool region_trace(keel_context_t *context, const body_t *body, uint32_t *out) {
    keel_tensor_t *room;
    context->site = body->site;
    if (!body->trace) {
        context_fail(context, body->site, "%s: no body", body->what);
        return false;
    }
    keel_status_t status = make_room(body, &room);
    if (status) {
        context_take(context, body->site, status);
        return false;
    }
    *out = region_open(context);
    bool is_good = *out != KEEL_NONE && run_body(context, body, room);
    context->site = body->site;
    keel_free(room);
    return is_good;
}

// ---- what regions use from outside -------------------------------------------------------------

// In an order that follows from the operands alone. What its results do not need is not used.
static keel_status_t walk(const keel_context_t *context, uint32_t region, bool *is_used,
                          list_t *stack, list_t *out) {
    KEEL_PUSH(stack, context->regions.data[region].end);
    while (stack->count) {
        uint32_t i = stack->data[--stack->count];
        const node_t *node = trace_node(context, i);
        bool is_end = i == context->regions.data[region].end;
        if (is_used[i]) continue;
        is_used[i] = true;
        if (!is_end) KEEL_PUSH(out, i);
        if (!is_end && !region_has(context, region, i)) continue;
        KEEL_TRY(keel_table_reserve(stack, node->operand_count));
        for (uint32_t k = node->operand_count; k-- > 0;)
            stack->data[stack->count++] = trace_operand(context, node, k);
    }
    return NULL;
}

keel_status_t region_uses(const keel_context_t *context, uint32_t region, bool *is_used,
                          list_t *out) {
    list_t stack = {0};
    keel_status_t status = walk(context, region, is_used, &stack, out);
    keel_free(stack.data);
    return status;
}

keel_status_t region_captures(keel_context_t *context, const int64_t *regions, uint32_t count,
                              list_t *out) {
    void *memory;
    list_t used = {0};
    KEEL_TRY(keel_calloc((size_t)context->trace.nodes.count + 1, sizeof(bool), &memory));
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < count && !status; ++i) {
        used.count = 0;
        status = region_uses(context, (uint32_t)regions[i], memory, &used);
        if (!status) status = keel_table_reserve(out, used.count);
        for (uint32_t k = 0; k < used.count && !status; ++k)
            if (!region_has(context, (uint32_t)regions[i], used.data[k]))
                out->data[out->count++] = used.data[k];
    }
    keel_free(used.data);
    keel_free(memory);
    return status;
}

const int64_t *region_of_node(const keel_context_t *context, const node_t *node, uint32_t *count) {
    switch ((node_kind_t)node->kind) {
        case NODE_WHILE:
            *count = 2;
            break;
        case NODE_SCAN:
        case NODE_CHECKPOINT:
            *count = 1;
            break;
        case NODE_SWITCH:
            *count = node->word_count - 1 - 2 * trace_result_count(&context->trace, node);
            break;
        default:
            *count = 0;
    }
    return trace_words(&context->trace, node);
}
