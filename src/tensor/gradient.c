// Reverse mode: from the loss backward over the trace. The operations of a gradient are appended
// like any others, each with the site of the node that it comes from.
#include "tensor/trace.h"

#define UNARY(op, x) keel_unary_at(site, KEEL_OP_##op, (x))
#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))

// A node as its gradient's rule sees it: operands, result and the gradient of the result.
typedef struct rule_t {
    keel_context_t *context;
    node_t node;
    keel_caller_t site;
    keel_tensor_t result, gradient;
} rule_t;

static keel_tensor_t tensor_of(keel_context_t *context, uint32_t node) {
    return (keel_tensor_t){context, node, context->step};
}

static keel_tensor_t operand(const rule_t *rule, uint32_t which) {
    return tensor_of(rule->context, trace_operand(rule->context, &rule->node, which));
}

static keel_tensor_t constant(const rule_t *rule, double value) {
    return ops_constant(rule->context, (keel_dtype_t)rule->node.dtype, value);
}

// ---- elementwise -------------------------------------------------------------------------------

static keel_tensor_t unary(const rule_t *rule) {
    keel_caller_t site = rule->site;
    keel_tensor_t x = operand(rule, 0), y = rule->result, g = rule->gradient;
    switch ((keel_unary_op_t)rule->node.op) {
        case KEEL_OP_NEGATE:
            return UNARY(NEGATE, g);
        case KEEL_OP_ABS:
            return BINARY(MULTIPLY, g, UNARY(SIGN, x));
        case KEEL_OP_EXP:
            return BINARY(MULTIPLY, g, y);
        case KEEL_OP_EXPM1:
            return BINARY(MULTIPLY, g, BINARY(ADD, y, constant(rule, 1)));
        case KEEL_OP_LOG:
            return BINARY(DIVIDE, g, x);
        case KEEL_OP_LOG1P:
            return BINARY(DIVIDE, g, BINARY(ADD, x, constant(rule, 1)));
        case KEEL_OP_SQRT:
            return BINARY(DIVIDE, BINARY(MULTIPLY, g, constant(rule, 0.5)), y);
        case KEEL_OP_RSQRT: // -1/2 x^(-3/2)
            return BINARY(MULTIPLY, g,
                          BINARY(MULTIPLY, constant(rule, -0.5), BINARY(DIVIDE, y, x)));
        case KEEL_OP_TANH:
            return BINARY(MULTIPLY, g, BINARY(SUBTRACT, constant(rule, 1), BINARY(MULTIPLY, y, y)));
        case KEEL_OP_SIGMOID:
            return BINARY(MULTIPLY, g, BINARY(MULTIPLY, y, BINARY(SUBTRACT, constant(rule, 1), y)));
        case KEEL_OP_SIN:
            return BINARY(MULTIPLY, g, UNARY(COS, x));
        case KEEL_OP_COS:
            return BINARY(MULTIPLY, g, UNARY(NEGATE, UNARY(SIN, x)));
        case KEEL_OP_SIGN:
        case KEEL_OP_FLOOR:
        case KEEL_OP_CEIL:
        case KEEL_OP_NOT:
        case KEEL_UNARY_OP_COUNT:
            break;
    }
    return (keel_tensor_t){0};
}

// The gradient of one operand of a maximum: half of it if both are equal.
static keel_tensor_t of_larger(const rule_t *rule, keel_compare_op_t wins, keel_tensor_t own,
                               keel_tensor_t other) {
    keel_caller_t site = rule->site;
    keel_tensor_t half = BINARY(MULTIPLY, rule->gradient, constant(rule, 0.5));
    keel_tensor_t tied = keel_select_at(site, keel_compare_at(site, KEEL_OP_EQUAL, own, other),
                                        half, constant(rule, 0));
    return keel_select_at(site, keel_compare_at(site, wins, own, other), rule->gradient, tied);
}

static keel_tensor_t of_power(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    keel_tensor_t x = operand(rule, 0), y = operand(rule, 1), g = rule->gradient;
    if (!which) {
        keel_tensor_t less = BINARY(SUBTRACT, y, constant(rule, 1));
        // 0 where the exponent is 0, whatever the base.
        keel_tensor_t is_zero = keel_compare_at(site, KEEL_OP_EQUAL, y, constant(rule, 0));
        keel_tensor_t power =
            BINARY(POWER, x, keel_select_at(site, is_zero, constant(rule, 1), less));
        return BINARY(MULTIPLY, g, BINARY(MULTIPLY, y, power));
    }
    keel_tensor_t is_zero = keel_compare_at(site, KEEL_OP_EQUAL, x, constant(rule, 0));
    keel_tensor_t safe = keel_select_at(site, is_zero, constant(rule, 1), x);
    return BINARY(MULTIPLY, g, BINARY(MULTIPLY, rule->result, UNARY(LOG, safe)));
}

static keel_tensor_t binary(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    keel_tensor_t x = operand(rule, 0), y = operand(rule, 1), g = rule->gradient;
    keel_tensor_t own = which ? y : x, other = which ? x : y;
    switch ((keel_binary_op_t)rule->node.op) {
        case KEEL_OP_ADD:
            return g;
        case KEEL_OP_SUBTRACT:
            return which ? UNARY(NEGATE, g) : g;
        case KEEL_OP_MULTIPLY:
            return BINARY(MULTIPLY, g, other);
        case KEEL_OP_DIVIDE:
            if (!which) return BINARY(DIVIDE, g, y);
            return UNARY(NEGATE, BINARY(MULTIPLY, g, BINARY(DIVIDE, rule->result, y)));
        case KEEL_OP_REMAINDER: // x - y trunc(x / y)
            if (!which) return g;
            return UNARY(NEGATE,
                         BINARY(MULTIPLY, g, BINARY(DIVIDE, BINARY(SUBTRACT, x, rule->result), y)));
        case KEEL_OP_MAXIMUM:
            return of_larger(rule, KEEL_OP_GREATER, own, other);
        case KEEL_OP_MINIMUM:
            return of_larger(rule, KEEL_OP_LESS, own, other);
        case KEEL_OP_POWER:
            return of_power(rule, which);
        case KEEL_OP_AND:
        case KEEL_OP_OR:
        case KEEL_OP_XOR:
        case KEEL_BINARY_OP_COUNT:
            break;
    }
    return (keel_tensor_t){0};
}

static keel_tensor_t selected(const rule_t *rule, int which) {
    if (!which) return (keel_tensor_t){0};
    keel_tensor_t zero = constant(rule, 0);
    return keel_select_at(rule->site, operand(rule, 0), which == 1 ? rule->gradient : zero,
                          which == 1 ? zero : rule->gradient);
}

// ---- shapes ------------------------------------------------------------------------------------

static keel_tensor_t unbroadcast(const rule_t *rule) {
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

static keel_tensor_t untranspose(const rule_t *rule) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    keel_axes_t back = {.count = (int32_t)rule->node.word_count};
    for (int32_t i = 0; i < back.count; ++i)
        back.items[words[i]] = i;
    return keel_transpose_at(rule->site, rule->gradient, back);
}

static keel_tensor_t unslice(const rule_t *rule) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    int axis = (int)words[0];
    int64_t before = words[1], after = keel_shape(operand(rule, 0)).dims[axis] - words[2];
    return keel_pad_at(rule->site, rule->gradient, axis, before, after);
}

static keel_tensor_t unpad(const rule_t *rule) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    int axis = (int)words[0];
    int64_t from = words[1];
    return keel_slice_at(rule->site, rule->gradient, axis, from,
                         from + keel_shape(operand(rule, 0)).dims[axis]);
}

static keel_tensor_t unjoin(const rule_t *rule, int which) {
    int axis = (int)*trace_words(&rule->context->trace, &rule->node);
    int64_t first = keel_shape(operand(rule, 0)).dims[axis];
    int64_t all = keel_shape(rule->result).dims[axis];
    return keel_slice_at(rule->site, rule->gradient, axis, which ? first : 0, which ? all : first);
}

// The reduced tensor in the shape of what was reduced.
static keel_tensor_t spread(const rule_t *rule, keel_tensor_t reduced) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    keel_shape_t whole = keel_shape(operand(rule, 0)), kept = whole;
    for (uint32_t i = 0; i < rule->node.word_count; ++i)
        kept.dims[words[i]] = 1;
    return keel_broadcast_at(rule->site, keel_reshape_at(rule->site, reduced, kept), whole);
}

static keel_tensor_t unreduce(const rule_t *rule) {
    keel_caller_t site = rule->site;
    if (rule->node.op == KEEL_OP_SUM) return spread(rule, rule->gradient);
    // All elements that are the extreme share its gradient.
    keel_axes_t axes = {.count = (int32_t)rule->node.word_count};
    keel_tensor_t is_it = keel_cast_at(
        site, keel_compare_at(site, KEEL_OP_EQUAL, operand(rule, 0), spread(rule, rule->result)),
        (keel_dtype_t)rule->node.dtype);
    for (int32_t i = 0; i < axes.count; ++i)
        axes.items[i] = trace_words(&rule->context->trace, &rule->node)[i];
    keel_tensor_t count = keel_reduce_at(site, KEEL_OP_SUM, is_it, axes);
    return BINARY(MULTIPLY, is_it, spread(rule, BINARY(DIVIDE, rule->gradient, count)));
}

// ---- products ----------------------------------------------------------------------------------

typedef struct side_t {
    int32_t rank;
    int32_t batches[KEEL_MAX_RANK], sums[KEEL_MAX_RANK], rest[KEEL_MAX_RANK];
    int32_t rest_count;
} side_t;

static void read_side(const rule_t *rule, int which, int32_t *batch_count, int32_t *sum_count,
                      side_t *out) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    bool taken[KEEL_MAX_RANK] = {false};
    *out = (side_t){.rank = keel_shape(operand(rule, which)).rank};
    *batch_count = (int32_t)*words++;
    for (int32_t i = 0; i < *batch_count; ++i)
        taken[out->batches[i] = (int32_t)words[which * *batch_count + i]] = true;
    words += 2 * *batch_count;
    *sum_count = (int32_t)*words++;
    for (int32_t i = 0; i < *sum_count; ++i)
        taken[out->sums[i] = (int32_t)words[which * *sum_count + i]] = true;
    for (int32_t i = 0; i < out->rank; ++i)
        if (!taken[i]) out->rest[out->rest_count++] = i;
}

// d dot(x, y): the gradient contracted with the other operand over what is left of that one gives
// [batches, rest of own, sums of other], in an order that is then put right.
static keel_tensor_t undot(const rule_t *rule, int which) {
    side_t own, other;
    int32_t batch_count, sum_count;
    read_side(rule, which, &batch_count, &sum_count, &own);
    read_side(rule, !which, &batch_count, &sum_count, &other);
    keel_axes_t batch_g = {.count = batch_count}, batch_o = {.count = batch_count};
    keel_axes_t sum_g = {.count = other.rest_count}, sum_o = {.count = other.rest_count};
    for (int32_t i = 0; i < batch_count; ++i) {
        batch_g.items[i] = i;
        batch_o.items[i] = other.batches[i];
    }
    int32_t first = batch_count + (which ? 0 : own.rest_count); // of other's rest in the gradient
    for (int32_t i = 0; i < other.rest_count; ++i) {
        sum_g.items[i] = first + i;
        sum_o.items[i] = other.rest[i];
    }
    keel_tensor_t product = keel_dot_at(rule->site, rule->gradient, operand(rule, !which), batch_g,
                                        batch_o, sum_g, sum_o);
    // The product's axes: batches, own's rest, then the summed axes in the order of other's axes.
    keel_axes_t order = {.count = own.rank};
    for (int32_t i = 0; i < batch_count; ++i)
        order.items[own.batches[i]] = i;
    for (int32_t i = 0; i < own.rest_count; ++i)
        order.items[own.rest[i]] = batch_count + i;
    for (int32_t i = 0; i < sum_count; ++i) {
        int32_t before = 0;
        for (int32_t k = 0; k < sum_count; ++k)
            before += other.sums[k] < other.sums[i];
        order.items[own.sums[i]] = batch_count + own.rest_count + before;
    }
    return keel_transpose_at(rule->site, product, order);
}

// ---- rows --------------------------------------------------------------------------------------

static keel_tensor_t untake(const rule_t *rule, int which) {
    const keel_shape_t shape = keel_shape(operand(rule, 0));
    if (which) return (keel_tensor_t){0};
    keel_tensor_t zeros = keel_broadcast_at(rule->site, constant(rule, 0), shape);
    return ops_put(rule->site, zeros, operand(rule, 1), rule->gradient);
}

static keel_tensor_t unput(const rule_t *rule, int which) {
    if (which == 0) return rule->gradient;
    if (which == 1) return (keel_tensor_t){0};
    return keel_take_at(rule->site, rule->gradient, operand(rule, 1));
}

// ---- several results ---------------------------------------------------------------------------

// The gradient of a result of a tuple; empty if it has none.
static keel_tensor_t gradient_of_part(const rule_t *rule, uint32_t which) {
    uint32_t adjoint = rule->context->adjoints.data[rule->result.id + 1 + which];
    return adjoint == KEEL_NONE ? (keel_tensor_t){0} : tensor_of(rule->context, adjoint);
}

// ---- over the trace ----------------------------------------------------------------------------

// What an operand gets; empty if that is nothing.
static keel_tensor_t rule_of(const rule_t *rule, int which) {
    switch ((node_kind_t)rule->node.kind) {
        case NODE_UNARY:
            return unary(rule);
        case NODE_BINARY:
            return binary(rule, which);
        case NODE_SELECT:
            return selected(rule, which);
        case NODE_CONVERT:
            return keel_cast_at(rule->site, rule->gradient, keel_dtype(operand(rule, 0)));
        case NODE_BROADCAST:
            return unbroadcast(rule);
        case NODE_RESHAPE:
            return keel_reshape_at(rule->site, rule->gradient, keel_shape(operand(rule, 0)));
        case NODE_TRANSPOSE:
            return untranspose(rule);
        case NODE_REDUCE:
            return unreduce(rule);
        case NODE_DOT:
            return undot(rule, which);
        case NODE_SLICE:
            return unslice(rule);
        case NODE_PAD:
            return unpad(rule);
        case NODE_JOIN:
            return unjoin(rule, which);
        case NODE_TAKE:
            return untake(rule, which);
        case NODE_PUT:
            return unput(rule, which);
        case NODE_BARRIER:
            return gradient_of_part(rule, (uint32_t)which);
        case NODE_PART: // go_back
        case NODE_BEGIN:
        case NODE_PARAMETER:
        case NODE_END:
        case NODE_WHILE:
        case NODE_SCAN:
        case NODE_SWITCH:
        case NODE_CHECKPOINT:
        case NODE_SAVED:
        case NODE_VARIABLE:
        case NODE_INPUT:
        case NODE_NUMBER:
        case NODE_CONSTANT:
        case NODE_IOTA:
        case NODE_COMPARE:
        case NODE_STOP:
            break;
    }
    return (keel_tensor_t){0};
}

static void give(keel_context_t *context, uint32_t operand, keel_tensor_t part) {
    uint32_t *sum = &context->adjoints.data[operand];
    if (*sum != KEEL_NONE)
        part = keel_binary_at(context->site, KEEL_OP_ADD, tensor_of(context, *sum), part);
    if (part.context) *sum = part.id;
}

static void pass_back(keel_context_t *context, uint32_t node) {
    rule_t rule = {.context = context,
                   .node = *trace_node(context, node),
                   .site = context->trace.sites.data[node],
                   .result = tensor_of(context, node),
                   .gradient = tensor_of(context, context->adjoints.data[node])};
    context->site = rule.site;
    if (rule.node.kind == NODE_PART) { // its tuple has the rule, once all parts have what they get
        context->adjoints.data[trace_operand(context, &rule.node, 0)] = rule.gradient.id;
        return;
    }
    for (uint32_t i = 0; i < rule.node.operand_count && !context->error; ++i) {
        if (!dtype_is_float(keel_dtype(operand(&rule, i)))) continue;
        keel_tensor_t part = rule_of(&rule, (int)i);
        if (part.context) give(context, operand(&rule, i).id, part);
    }
}

// Nodes between the variables asked for and the loss: others need no gradient.
static void mark_needed(keel_context_t *context, const uint32_t *nodes, size_t count,
                        uint32_t loss) {
    uint32_t *marks = context->adjoints.data + loss + 1;
    memset(marks, 0, ((size_t)loss + 1) * sizeof *marks);
    for (size_t i = 0; i < count; ++i)
        if (nodes[i] <= loss) marks[nodes[i]] = 1;
    for (uint32_t i = 0; i <= loss; ++i) {
        const node_t *node = trace_node(context, i);
        for (uint32_t k = 0; k < node->operand_count; ++k)
            marks[i] |= marks[trace_operand(context, node, k)];
    }
}

static void go_back(keel_context_t *context, const uint32_t *nodes, size_t count, uint32_t loss) {
    for (uint32_t i = 0; i <= loss; ++i)
        context->adjoints.data[i] = KEEL_NONE;
    mark_needed(context, nodes, count, loss);
    keel_tensor_t one = ops_constant(context, keel_dtype(tensor_of(context, loss)), 1);
    if (one.context) context->adjoints.data[loss] = one.id;
    for (uint32_t i = loss + 1; i-- > 0 && !context->error;)
        if (context->adjoints.data[i] != KEEL_NONE && context->adjoints.data[loss + 1 + i])
            pass_back(context, i);
}

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
        else if (!dtype_is_float(keel_dtype(x[i])))
            context_fail(context, context->site, "gradients: tensor %zu is of %s, which has none",
                         i + 1, keel_dtype_text(keel_dtype(x[i])));
    return !context->error;
}

void keel_gradients_at(keel_caller_t site, keel_tensor_t loss, const keel_tensor_t *x, size_t count,
                       keel_tensor_t *out) {
    uint32_t of_loss;
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
    keel_context_t *context = ops_begin(site, "gradients", &loss, 1, &of_loss);
    if (!context || !count || !can_differentiate(context, of_loss, x, count, out)) return;
    context->adjoints.count = 0;
    keel_status_t status =
        keel_table_reserve(&context->adjoints, 2 * ((uint64_t)of_loss + 1) + count);
    if (status) {
        context_take(context, site, status);
        return;
    }
    uint32_t *nodes = context->adjoints.data + 2 * ((size_t)of_loss + 1);
    if (!ops_begin(site, "gradients", x, (uint32_t)count, nodes)) return;
    go_back(context, nodes, count, of_loss);
    context->site = site;
    for (size_t i = 0; i < count && !context->error; ++i) {
        uint32_t adjoint = nodes[i] <= of_loss ? context->adjoints.data[nodes[i]] : KEEL_NONE;
        out[i] = adjoint != KEEL_NONE
                     ? tensor_of(context, adjoint)
                     : keel_broadcast_at(site, ops_constant(context, keel_dtype(x[i]), 0),
                                         keel_shape(x[i]));
    }
}
