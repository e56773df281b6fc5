// The walk from results back to what they depend on. The operations of a gradient are appended like
// any others, each with the site of the node that it comes from.
#include "tensor/operation.h"

bool reverse_open(reverse_t *reverse, keel_context_t *context, frame_t *frame, uint32_t first,
                  uint32_t end) {
    void *memory;
    size_t count = (size_t)end + 1;
    *reverse = (reverse_t){.context = context, .frame = frame, .first = first, .end = end};
    keel_status_t status =
        context_borrow(context, count * (5 * sizeof(uint32_t) + sizeof(bool)), &memory);
    if (status) {
        context_take(context, context->site, status);
        return false;
    }
    reverse->adjoints = memory;
    reverse->next = reverse->adjoints + count;
    reverse->order = reverse->next + count;
    reverse->stack = reverse->order + count; // twice as long: a seed may be found on the way, too
    reverse->is_needed = (bool *)(reverse->stack + 2 * count);
    for (size_t i = 0; i < count; ++i)
        reverse->adjoints[i] = KEEL_NONE;
    memset(reverse->next, 0, count * sizeof(uint32_t));
    memset(reverse->is_needed, 0, count * sizeof(bool));
    return !context->error;
}

void reverse_close(reverse_t *reverse) {
    context_return(reverse->context, reverse->adjoints);
}

static keel_tensor_t sum_of(keel_context_t *context, uint32_t x, uint32_t y) {
    keel_tensor_t joined = ops_join_padded(context, x, y);
    if (joined.context || context->error) return joined;
    return keel_binary_at(context->site, KEEL_OP_ADD, gradient_tensor(context, x),
                          gradient_tensor(context, y));
}

void reverse_give(reverse_t *reverse, uint32_t node, keel_tensor_t part) {
    uint32_t *sum = &reverse->adjoints[node];
    if (!part.context) return;
    if (*sum != KEEL_NONE)
        part = sum_of(reverse->context, *sum, part.id);
    else if (!reverse->placed)
        reverse->stack[reverse->depth++] = node;
    if (part.context) *sum = part.id;
}

keel_tensor_t reverse_value(const reverse_t *reverse, uint32_t node) {
    if (reverse->frame) node = frame_value(reverse->frame, node);
    return gradient_tensor(reverse->context, node);
}

keel_tensor_t reverse_adjoint(const reverse_t *reverse, uint32_t node) {
    return gradient_tensor(reverse->context, reverse->adjoints[node]);
}

// ---- the walk ----------------------------------------------------------------------------------

static void pass_node_back(reverse_t *reverse, uint32_t i) {
    keel_context_t *context = reverse->context;
    rule_t rule = {.context = context,
                   .reverse = reverse,
                   .index = i,
                   .node = *trace_node(context, i),
                   .site = context->trace.sites.data[i]};
    context->site = rule.site;
    if (rule.node.kind == NODE_PART || rule.node.kind == NODE_SAVED) {
        // Its tuple has the rule, once all parts have what they get.
        reverse->adjoints[trace_operand(context, &rule.node, 0)] = reverse->adjoints[i];
        return;
    }
    if (gradient_is_control(&rule.node)) {
        gradient_control(&rule);
        return;
    }
    if (rule.node.dtype != DTYPE_TUPLE) {
        rule.gradient = reverse_adjoint(reverse, i);
        rule.result = reverse_value(reverse, i);
        context->site = rule.site;
    }
    for (uint32_t k = 0; k < rule.node.operand_count && !context->error; ++k) {
        uint32_t operand = trace_operand(context, &rule.node, k);
        if (!reverse->is_needed[operand]) continue;
        if (!dtype_has_gradient((keel_dtype_t)trace_node(context, operand)->dtype)) continue;
        reverse_give(reverse, operand, gradient_rule(&rule, (int)k));
    }
}

// What it traces is in the scope of the node.
static void pass_back(reverse_t *reverse, uint32_t i) {
    keel_context_t *context = reverse->context;
    uint32_t naming = context->naming;
    context->naming = context->trace.namings.data[i];
    pass_node_back(reverse, i);
    context->naming = naming;
}

// What the walk goes over, in an order that follows from the operands alone: compilers of C
// evaluate the arguments of a call in different orders, and gradients that meet are added in that
// of the walk.
static void find_order(reverse_t *reverse) {
    const keel_context_t *context = reverse->context;
    while (reverse->depth) {
        uint32_t i = reverse->stack[reverse->depth - 1];
        const node_t *node = trace_node(context, i);
        bool is_walked = i >= reverse->first && reverse->is_needed[i];
        if (is_walked && reverse->next[i] < node->operand_count) {
            uint32_t operand = trace_operand(context, node, reverse->next[i]++);
            if (reverse->is_needed[operand] && !reverse->next[operand])
                reverse->stack[reverse->depth++] = operand;
            continue;
        }
        --reverse->depth;
        if (!is_walked || reverse->next[i] == KEEL_NONE) continue;
        reverse->next[i] = KEEL_NONE;
        reverse->order[reverse->placed++] = i;
    }
}

void reverse_run(reverse_t *reverse) {
    keel_context_t *context = reverse->context;
    for (uint32_t i = reverse->first; i < reverse->end; ++i) {
        const node_t *node = trace_node(context, i);
        for (uint32_t k = 0; k < node->operand_count && node->kind != NODE_STOP; ++k)
            reverse->is_needed[i] |= reverse->is_needed[trace_operand(context, node, k)];
    }
    find_order(reverse);
    for (uint32_t i = reverse->placed; i-- > 0 && !context->error;)
        if (reverse->adjoints[reverse->order[i]] != KEEL_NONE)
            pass_back(reverse, reverse->order[i]);
}

// ---- keel_gradients ----------------------------------------------------------------------------

// False, with an error in the context, if there is no such gradient.
static bool can_differentiate(keel_context_t *context, uint32_t loss, const keel_tensor_t *x,
                              size_t count, const keel_tensor_t *out) {
    char text[SHAPE_TEXT];
    keel_dtype_t dtype = (keel_dtype_t)trace_node(context, loss)->dtype;
    if (!x || !out)
        context_fail(context, context->site, "gradients: no tensors, or no place for theirs");
    else if (trace_node_shape(context, loss)->rank || !dtype_is_float(dtype))
        context_fail(context, context->site, "gradients: of %s, which is not a scalar of floats",
                     shape_text(dtype, trace_node_shape(context, loss), text));
    for (size_t i = 0; i < count && !context->error; ++i)
        if (keel_is_empty(x[i]))
            context_fail(context, context->site, "gradients: tensor %zu is empty", i + 1);
        else if (x[i].context != context)
            context_fail(context, context->site, "gradients: tensor %zu is of another context",
                         i + 1);
        else if (!ops_is_usable(x[i]))
            context_fail(context, context->site,
                         "gradients: tensor %zu was released or is of a step that has ended",
                         i + 1);
        else if (!dtype_has_gradient(keel_dtype(x[i])))
            context_fail(context, context->site, "gradients: tensor %zu is of %s, which has none",
                         i + 1, keel_dtype_text(keel_dtype(x[i])));
    return !context->error;
}

// The gradients, which are nodes of `x`.
static void differentiate(keel_context_t *context, uint32_t loss, const uint32_t *x, size_t count,
                          keel_tensor_t *out) {
    reverse_t reverse;
    keel_caller_t site = context->site;
    if (reverse_open(&reverse, context, NULL, 0, loss + 1)) {
        for (size_t i = 0; i < count; ++i)
            if (x[i] <= loss) reverse.is_needed[x[i]] = true;
        keel_dtype_t dtype = (keel_dtype_t)trace_node(context, loss)->dtype;
        reverse_give(&reverse, loss, ops_constant(context, dtype, 1));
        reverse_run(&reverse);
        context->site = site;
        for (size_t i = 0; i < count && !context->error; ++i) {
            if (x[i] <= loss) out[i] = reverse_adjoint(&reverse, x[i]);
            const result_t type = region_node_type(context, x[i]);
            if (!out[i].context)
                out[i] = keel_broadcast_at(site, ops_constant(context, type.dtype, 0), type.shape);
        }
    }
    reverse_close(&reverse);
}

void keel_gradients_at(keel_caller_t site, keel_tensor_t loss, const keel_tensor_t *x, size_t count,
                       keel_tensor_t *out) {
    uint32_t of_loss;
    void *memory;
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
    keel_context_t *context = ops_begin(site, "gradients", &loss, 1, &of_loss);
    if (!context || !count || local_refuses(context, "gradients", of_loss) ||
        !can_differentiate(context, of_loss, x, count, out))
        return;
    keel_status_t status = keel_table_reserve(&context->losses, 1);
    if (!status) status = context_borrow(context, count * sizeof(uint32_t), &memory);
    if (status) {
        context_take(context, site, status);
        return;
    }
    context->losses.data[context->losses.count++] = of_loss;
    if (ops_begin(site, "gradients", x, (uint32_t)count, memory))
        differentiate(context, of_loss, memory, count, out);
    context_return(context, memory);
}
