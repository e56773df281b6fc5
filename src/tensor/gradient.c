// Rules of operations: what an operand gets of the gradient of the result.
#include "tensor/gradient.h"

#define UNARY(op, x) keel_unary_at(site, KEEL_OP_##op, (x))
#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))

static keel_tensor_t operand(const rule_t *rule, uint32_t which) {
    return reverse_value(rule->reverse, trace_operand(rule->context, &rule->node, which));
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

static keel_tensor_t gradient_of_part(const rule_t *rule, uint32_t which) {
    return reverse_adjoint(rule->reverse, rule->index + 1 + which);
}

// ---- all ---------------------------------------------------------------------------------------

keel_tensor_t gradient_rule(const rule_t *rule, int which) {
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
        case NODE_PART: // reverse.c
        case NODE_BEGIN:
        case NODE_PARAMETER:
        case NODE_END:
        case NODE_WHILE:
        case NODE_SCAN:
        case NODE_SWITCH:
        case NODE_CHECKPOINT:
        case NODE_CUSTOM:
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
