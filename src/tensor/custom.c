// Gradients of the user.
#include "tensor/gradient.h"

typedef struct call_t {
    keel_context_t *context;
    keel_caller_t site;
    const keel_custom_t *custom;
    keel_tensor_t *tensors; // inputs, outputs, saved
    uint32_t *nodes;
    result_t *types; // of outputs
} call_t;

static bool took(const call_t *call, keel_status_t status) {
    if (!status) return true;
    context_take(call->context, call->site, status);
    return false;
}

static size_t tensor_count(const keel_custom_t *custom) {
    return custom->input_count + custom->output_count + custom->saved_count;
}

static bool make_room(call_t *call) {
    void *memory;
    size_t count = tensor_count(call->custom) + 1;
    if (!took(call, keel_calloc(count, sizeof(keel_tensor_t), &memory))) return false;
    call->tensors = memory;
    if (!took(call, keel_calloc(count, sizeof(uint32_t), &memory))) return false;
    call->nodes = memory;
    if (!took(call, keel_calloc(count, sizeof(result_t), &memory))) return false;
    call->types = memory;
    return true;
}

static bool check(const call_t *call, const keel_tensor_t *out) {
    const keel_custom_t *custom = call->custom;
    if (custom->forward && custom->backward && custom->output_count && out &&
        (custom->inputs || !custom->input_count) && tensor_count(custom) <= UINT16_MAX)
        return true;
    context_fail(call->context, call->site,
                 "custom_gradient: a forward and a backward callback are needed, inputs and a "
                 "place for the outputs");
    return false;
}

// The node of each tensor; they are `what`.
static bool read(call_t *call, const char *what, size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
        if (call->tensors[i].context != call->context) {
            context_fail(call->context, call->site, "custom_gradient: %s %zu %s", what,
                         i - first + 1,
                         call->tensors[i].context ? "belongs to another context" : "is empty");
            return false;
        }
        if (!ops_begin(call->site, "custom_gradient", &call->tensors[i], 1, &call->nodes[i]))
            return false;
    }
    return true;
}

static bool add_callbacks(const call_t *call, int64_t *out) {
    keel_context_t *context = call->context;
    const callbacks_t callbacks = {call->custom->backward, call->custom->user};
    if (!took(call, keel_table_reserve(&context->customs, 1))) return false;
    *out = context->customs.count;
    context->customs.data[context->customs.count++] = callbacks;
    return true;
}

static bool trace_forward(call_t *call) {
    const keel_custom_t *custom = call->custom;
    uint32_t opened = call->context->region;
    for (size_t i = 0; i < custom->input_count; ++i)
        call->tensors[i] = custom->inputs[i];
    if (!read(call, "input", 0, custom->input_count)) return false;
    ++call->context->callbacks;
    custom->forward(custom->user, call->tensors, call->tensors + custom->input_count);
    --call->context->callbacks;
    call->context->site = call->site;
    return call->context->region == opened &&
           read(call, "result", custom->input_count, custom->output_count + custom->saved_count);
}

static void add_custom(call_t *call, keel_tensor_t *out) {
    const keel_custom_t *custom = call->custom;
    int64_t words[] = {0, (int64_t)custom->input_count, (int64_t)custom->output_count};
    if (!check(call, out) || !make_room(call) || !trace_forward(call) ||
        !add_callbacks(call, &words[0]))
        return;
    for (size_t i = 0; i < custom->output_count; ++i)
        call->types[i] = region_node_type(call->context, call->nodes[custom->input_count + i]);
    const node_spec_t spec = {.kind = NODE_CUSTOM, .words = words, .word_count = 3};
    trace_add_tuple(call->context, &spec, call->nodes, (uint32_t)tensor_count(custom), call->types,
                    (uint32_t)custom->output_count, out);
}

void keel_custom_gradient_at(keel_caller_t site, keel_context_t *context,
                             const keel_custom_t *custom, keel_tensor_t *out) {
    call_t call = {.context = context, .site = site, .custom = custom};
    if (!context) return;
    context->site = site;
    if (!custom) {
        context_fail(context, site, "custom_gradient: nothing says of what");
        return;
    }
    add_custom(&call, out);
    for (size_t i = 0; out && i < custom->output_count && context->error; ++i)
        out[i] = (keel_tensor_t){0};
    keel_free(call.tensors);
    keel_free(call.nodes);
    keel_free(call.types);
}

// ---- its rule ----------------------------------------------------------------------------------

// The gradient of an input as the callback gives it; false, with an error, if it cannot be one.
static bool take_gradient(const rule_t *rule, uint32_t which, keel_tensor_t gradient) {
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    uint32_t node, input = trace_operand(rule->context, &rule->node, which);
    if (!gradient.context) return true; // it has none
    if (gradient.context != rule->context) {
        context_fail(rule->context, rule->site,
                     "custom_gradient: gradient %u belongs to another context", which + 1);
        return false;
    }
    if (!ops_begin(rule->site, "custom_gradient", &gradient, 1, &node)) return false;
    const result_t given = region_node_type(rule->context, node);
    const result_t type = region_node_type(rule->context, input);
    if (given.dtype != type.dtype || !shape_equal(&given.shape, &type.shape)) {
        context_fail(rule->context, rule->site,
                     "custom_gradient: input %u is %s, and its gradient is %s", which + 1,
                     shape_text(type.dtype, &type.shape, text),
                     shape_text(given.dtype, &given.shape, other));
        return false;
    }
    if (dtype_has_gradient(type.dtype))
        reverse_give(rule->reverse, input, gradient_tensor(rule->context, node));
    return true;
}

// What the callback gets: inputs, outputs, saved values, gradients of the outputs.
static bool gather(const rule_t *rule, uint32_t outputs, keel_tensor_t *in) {
    uint32_t operands = rule->node.operand_count;
    for (uint32_t i = 0; i < operands; ++i)
        in[i] = reverse_value(rule->reverse, trace_operand(rule->context, &rule->node, i));
    rule->context->site = rule->site;
    for (uint32_t i = 0; i < outputs; ++i) {
        const result_t type = trace_result(rule->context, &rule->node, i);
        in[operands + i] = reverse_adjoint(rule->reverse, rule->index + 1 + i);
        if (!in[operands + i].context)
            in[operands + i] = keel_broadcast_at(
                rule->site, ops_constant(rule->context, type.dtype, 0), type.shape);
    }
    return !rule->context->error;
}

void gradient_custom(const rule_t *rule) {
    keel_context_t *context = rule->context;
    const int64_t *words = trace_words(&context->trace, &rule->node);
    const callbacks_t callbacks = context->customs.data[words[0]];
    uint32_t inputs = (uint32_t)words[1], outputs = (uint32_t)words[2], opened = context->region;
    uint32_t given = rule->node.operand_count + outputs;
    void *memory;
    keel_status_t status = keel_calloc((size_t)given + inputs + 1, sizeof(keel_tensor_t), &memory);
    if (status) {
        context_take(context, rule->site, status);
        return;
    }
    keel_tensor_t *in = memory, *out = in + given;
    if (gather(rule, outputs, in)) {
        ++context->callbacks;
        callbacks.backward(callbacks.user, in, out);
        --context->callbacks;
        context->site = rule->site;
        for (uint32_t i = 0; i < inputs && context->region == opened; ++i)
            if (!take_gradient(rule, i, out[i])) break;
    }
    keel_free(in);
}
