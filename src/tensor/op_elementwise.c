// One element of the result from one of each operand.
#include "tensor/operation.h"

#define UNARY(op, x) keel_unary_at(site, KEEL_OP_##op, (x))
#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))

// ---- one operand --------------------------------------------------------------------------------

static const char *const unary_names[] = {
#define NAME(name, text, hlo) text,
    KEEL_UNARY_OPS(NAME)
#undef NAME
};

static const char *const unary_hlo[] = {
#define NAME(name, text, hlo) hlo,
    KEEL_UNARY_OPS(NAME)
#undef NAME
};

static bool unary_takes(keel_unary_op_t op, keel_dtype_t dtype) {
    static const bool of_complex[KEEL_UNARY_OP_COUNT] = {
        [KEEL_OP_NEGATE] = true, [KEEL_OP_ABS] = true, [KEEL_OP_EXP] = true, [KEEL_OP_LOG] = true,
        [KEEL_OP_SQRT] = true,   [KEEL_OP_SIN] = true, [KEEL_OP_COS] = true, [KEEL_OP_TANH] = true};
    if (dtype_is_complex(dtype)) return of_complex[op];
    switch (op) {
        case KEEL_OP_NOT:
            return !dtype_is_float(dtype);
        case KEEL_OP_POPCOUNT:
        case KEEL_OP_LEADING_ZEROS:
            return dtype_is_integer(dtype);
        case KEEL_OP_NEGATE:
            return dtype != KEEL_BOOL;
        case KEEL_OP_ABS:
        case KEEL_OP_SIGN:
            return dtype != KEEL_BOOL && !(dtype >= KEEL_U8 && dtype <= KEEL_U64);
        default:
            return dtype_is_float(dtype);
    }
}

keel_tensor_t keel_unary_at(keel_caller_t site, keel_unary_op_t op, keel_tensor_t x) {
    uint32_t node;
    const char *what = (unsigned)op < KEEL_UNARY_OP_COUNT ? unary_names[op] : "an operation";
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)op >= KEEL_UNARY_OP_COUNT)
        return context_fail(context, site, "there is no operation %d of one operand", (int)op);
    keel_dtype_t dtype = trace_node(context, node)->dtype;
    if (!unary_takes(op, dtype)) return ops_refuse(context, what, node, "has a dtype without it");
    const node_spec_t spec = {.kind = NODE_UNARY,
                              .op = (int)op,
                              .dtype = op == KEEL_OP_ABS ? dtype_real(dtype) : dtype,
                              .shape = *trace_node_shape(context, node)};
    return trace_add(context, &spec, &node, 1);
}

static keel_status_t emit_unary(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, unary_hlo[item->node->op], NULL, out);
}

// Of |x|, which is real: conj(x) / |x|, and 0 at 0.
static keel_tensor_t of_complex_abs(const rule_t *rule, keel_tensor_t x) {
    keel_caller_t site = rule->site;
    keel_tensor_t zero = gradient_constant(rule, 0), one = gradient_constant(rule, 1);
    keel_tensor_t is_zero = keel_compare_at(site, KEEL_OP_EQUAL, rule->result, zero);
    keel_tensor_t size = keel_select_at(site, is_zero, one, rule->result);
    return BINARY(MULTIPLY, keel_conj_at(site, x),
                  keel_complex_at(site, BINARY(DIVIDE, rule->gradient, size), zero));
}

static keel_tensor_t gradient_unary(const rule_t *rule, int which) {
    (void)which;
    keel_caller_t site = rule->site;
    keel_tensor_t x = gradient_operand(rule, 0), y = rule->result, g = rule->gradient;
    switch ((keel_unary_op_t)rule->node.op) {
        case KEEL_OP_NEGATE:
            return UNARY(NEGATE, g);
        case KEEL_OP_ABS:
            if (dtype_is_complex(keel_dtype(x))) return of_complex_abs(rule, x);
            return BINARY(MULTIPLY, g, UNARY(SIGN, x));
        case KEEL_OP_EXP:
            return BINARY(MULTIPLY, g, y);
        case KEEL_OP_EXPM1:
            return BINARY(MULTIPLY, g, BINARY(ADD, y, gradient_constant(rule, 1)));
        case KEEL_OP_LOG:
            return BINARY(DIVIDE, g, x);
        case KEEL_OP_LOG1P:
            return BINARY(DIVIDE, g, BINARY(ADD, x, gradient_constant(rule, 1)));
        case KEEL_OP_SQRT:
            return BINARY(DIVIDE, BINARY(MULTIPLY, g, gradient_constant(rule, 0.5)), y);
        case KEEL_OP_RSQRT: // -1/2 x^(-3/2)
            return BINARY(MULTIPLY, g,
                          BINARY(MULTIPLY, gradient_constant(rule, -0.5), BINARY(DIVIDE, y, x)));
        case KEEL_OP_TANH:
            return BINARY(MULTIPLY, g,
                          BINARY(SUBTRACT, gradient_constant(rule, 1), BINARY(MULTIPLY, y, y)));
        case KEEL_OP_SIGMOID:
            return BINARY(MULTIPLY, g,
                          BINARY(MULTIPLY, y, BINARY(SUBTRACT, gradient_constant(rule, 1), y)));
        case KEEL_OP_SIN:
            return BINARY(MULTIPLY, g, UNARY(COS, x));
        case KEEL_OP_COS:
            return BINARY(MULTIPLY, g, UNARY(NEGATE, UNARY(SIN, x)));
        case KEEL_OP_TAN:
            return BINARY(MULTIPLY, g,
                          BINARY(ADD, gradient_constant(rule, 1), BINARY(MULTIPLY, y, y)));
        case KEEL_OP_ERF: // 2 / sqrt(pi) exp(-x^2)
            return BINARY(MULTIPLY, g,
                          BINARY(MULTIPLY, gradient_constant(rule, 1.1283791670955126),
                                 UNARY(EXP, UNARY(NEGATE, BINARY(MULTIPLY, x, x)))));
        case KEEL_OP_CBRT: // not y / 3x, which is NaN at 0 and at infinity
            return BINARY(DIVIDE, g,
                          BINARY(MULTIPLY, gradient_constant(rule, 3), BINARY(MULTIPLY, y, y)));
        case KEEL_OP_SIGN:
        case KEEL_OP_FLOOR:
        case KEEL_OP_CEIL:
        case KEEL_OP_ROUND:
        case KEEL_OP_POPCOUNT:
        case KEEL_OP_LEADING_ZEROS:
        case KEEL_OP_NOT:
        case KEEL_UNARY_OP_COUNT:
            break;
    }
    return (keel_tensor_t){0};
}

const operation_t operation_unary = {emit_unary, gradient_unary, SHARDING_OF_OPERANDS};

// ---- two operands -------------------------------------------------------------------------------

static const char *const binary_names[] = {
#define NAME(name, text, hlo) text,
    KEEL_BINARY_OPS(NAME)
#undef NAME
};

static const char *const binary_hlo[] = {
#define NAME(name, text, hlo) hlo,
    KEEL_BINARY_OPS(NAME)
#undef NAME
};

static bool binary_takes(keel_binary_op_t op, keel_dtype_t dtype) {
    if (dtype_is_complex(dtype)) return op <= KEEL_OP_DIVIDE;
    switch (op) {
        case KEEL_OP_AND:
        case KEEL_OP_OR:
        case KEEL_OP_XOR:
            return !dtype_is_float(dtype);
        case KEEL_OP_SHIFT_LEFT:
        case KEEL_OP_SHIFT_RIGHT:
            return dtype_is_integer(dtype);
        case KEEL_OP_ATAN2:
        case KEEL_OP_POWER: // XLA's of integers is wrong for large exponents
            return dtype_is_float(dtype);
        default:
            return dtype != KEEL_BOOL;
    }
}

keel_tensor_t keel_binary_at(keel_caller_t site, keel_binary_op_t op, keel_tensor_t x,
                             keel_tensor_t y) {
    uint32_t nodes[2];
    const char *what = (unsigned)op < KEEL_BINARY_OP_COUNT ? binary_names[op] : "an operation";
    keel_context_t *context = ops_begin(site, what, (keel_tensor_t[]){x, y}, 2, nodes);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)op >= KEEL_BINARY_OP_COUNT)
        return context_fail(context, site, "there is no operation %d of two operands", (int)op);
    if (!ops_meet(context, what, nodes)) return (keel_tensor_t){0};
    keel_dtype_t dtype = trace_node(context, nodes[0])->dtype;
    if (!binary_takes(op, dtype))
        return ops_refuse(context, what, nodes[0], "has a dtype without it");
    const node_spec_t spec = {.kind = NODE_BINARY,
                              .op = (int)op,
                              .dtype = dtype,
                              .shape = *trace_node_shape(context, nodes[0])};
    return trace_add(context, &spec, nodes, 2);
}

static keel_status_t emit_binary(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, binary_hlo[item->node->op], NULL, out);
}

// The gradient of one operand of a maximum: half of it if both are equal.
static keel_tensor_t of_larger(const rule_t *rule, keel_compare_op_t wins, keel_tensor_t own,
                               keel_tensor_t other) {
    keel_caller_t site = rule->site;
    keel_tensor_t half = BINARY(MULTIPLY, rule->gradient, gradient_constant(rule, 0.5));
    keel_tensor_t tied = keel_select_at(site, keel_compare_at(site, KEEL_OP_EQUAL, own, other),
                                        half, gradient_constant(rule, 0));
    return keel_select_at(site, keel_compare_at(site, wins, own, other), rule->gradient, tied);
}

static keel_tensor_t of_power(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    keel_tensor_t x = gradient_operand(rule, 0), y = gradient_operand(rule, 1), g = rule->gradient;
    if (!which) {
        keel_tensor_t less = BINARY(SUBTRACT, y, gradient_constant(rule, 1));
        // 0 where the exponent is 0, whatever the base.
        keel_tensor_t is_zero = keel_compare_at(site, KEEL_OP_EQUAL, y, gradient_constant(rule, 0));
        keel_tensor_t power =
            BINARY(POWER, x, keel_select_at(site, is_zero, gradient_constant(rule, 1), less));
        return BINARY(MULTIPLY, g, BINARY(MULTIPLY, y, power));
    }
    keel_tensor_t is_zero = keel_compare_at(site, KEEL_OP_EQUAL, x, gradient_constant(rule, 0));
    keel_tensor_t safe = keel_select_at(site, is_zero, gradient_constant(rule, 1), x);
    return BINARY(MULTIPLY, g, BINARY(MULTIPLY, rule->result, UNARY(LOG, safe)));
}

// atan2(x, y): y / (x^2 + y^2), and -x / (x^2 + y^2)
static keel_tensor_t of_atan2(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    keel_tensor_t x = gradient_operand(rule, 0), y = gradient_operand(rule, 1);
    keel_tensor_t square = BINARY(ADD, BINARY(MULTIPLY, x, x), BINARY(MULTIPLY, y, y));
    keel_tensor_t other = which ? UNARY(NEGATE, x) : y;
    return BINARY(MULTIPLY, rule->gradient, BINARY(DIVIDE, other, square));
}

static keel_tensor_t gradient_binary(const rule_t *rule, int which) {
    keel_caller_t site = rule->site;
    keel_tensor_t x = gradient_operand(rule, 0), y = gradient_operand(rule, 1), g = rule->gradient;
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
        case KEEL_OP_ATAN2:
            return of_atan2(rule, which);
        case KEEL_OP_AND:
        case KEEL_OP_OR:
        case KEEL_OP_XOR:
        case KEEL_OP_SHIFT_LEFT:
        case KEEL_OP_SHIFT_RIGHT:
        case KEEL_BINARY_OP_COUNT:
            break;
    }
    return (keel_tensor_t){0};
}

const operation_t operation_binary = {emit_binary, gradient_binary, SHARDING_OF_OPERANDS};

// ---- comparison and selection -------------------------------------------------------------------

static const char *const compare_names[] = {
#define NAME(name, text, hlo) text,
    KEEL_COMPARE_OPS(NAME)
#undef NAME
};

keel_tensor_t keel_compare_at(keel_caller_t site, keel_compare_op_t op, keel_tensor_t x,
                              keel_tensor_t y) {
    uint32_t nodes[2];
    const char *what = (unsigned)op < KEEL_COMPARE_OP_COUNT ? compare_names[op] : "an operation";
    keel_context_t *context = ops_begin(site, what, (keel_tensor_t[]){x, y}, 2, nodes);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)op >= KEEL_COMPARE_OP_COUNT)
        return context_fail(context, site, "there is no comparison %d", (int)op);
    if (!ops_meet(context, what, nodes)) return (keel_tensor_t){0};
    if (op > KEEL_OP_NOT_EQUAL && dtype_is_complex(trace_node(context, nodes[0])->dtype))
        return ops_refuse(context, what, nodes[0], "is complex, which has no order");
    const node_spec_t spec = {.kind = NODE_COMPARE,
                              .op = (int)op,
                              .dtype = KEEL_BOOL,
                              .shape = *trace_node_shape(context, nodes[0])};
    return trace_add(context, &spec, nodes, 2);
}

static keel_status_t emit_compare(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    static const char *const directions[] = {
#define NAME(name, text, hlo) hlo,
        KEEL_COMPARE_OPS(NAME)
#undef NAME
    };
    fields_t fields = {0};
    KEEL_TRY(emit_string(e, &fields, "comparison_direction", directions[item->node->op]));
    return emit_plain(e, item, "compare", &fields, out);
}

const operation_t operation_compare = {emit_compare, NULL, SHARDING_OF_OPERANDS};

keel_tensor_t keel_select_at(keel_caller_t site, keel_tensor_t mask, keel_tensor_t x,
                             keel_tensor_t y) {
    uint32_t nodes[3];
    keel_context_t *context = ops_begin(site, "select", (keel_tensor_t[]){mask, x, y}, 3, nodes);
    if (!context) return (keel_tensor_t){0};
    if (trace_node(context, nodes[0])->dtype != KEEL_BOOL)
        return ops_refuse(context, "select", nodes[0], "is not a mask: its dtype is not bool");
    if (!ops_meet(context, "select", nodes + 1)) return (keel_tensor_t){0};
    keel_shape_t shape;
    if (!shape_broadcast(trace_node_shape(context, nodes[0]), trace_node_shape(context, nodes[1]),
                         &shape))
        return ops_refuse_two(context, "select", nodes[0], nodes[1], "do not broadcast");
    for (int i = 0; i < 3; ++i) {
        keel_tensor_t result = ops_broadcast(context, nodes[i], &shape);
        if (!result.context) return result;
        nodes[i] = result.id;
    }
    const node_spec_t spec = {
        .kind = NODE_SELECT, .dtype = trace_node(context, nodes[1])->dtype, .shape = shape};
    return trace_add(context, &spec, nodes, 3);
}

static keel_status_t emit_select(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, "select", NULL, out);
}

static keel_tensor_t gradient_select(const rule_t *rule, int which) {
    if (!which) return (keel_tensor_t){0};
    keel_tensor_t zero = gradient_constant(rule, 0);
    return keel_select_at(rule->site, gradient_operand(rule, 0), which == 1 ? rule->gradient : zero,
                          which == 1 ? zero : rule->gradient);
}

const operation_t operation_select = {emit_select, gradient_select, SHARDING_OF_OPERANDS};

// ---- the same elements --------------------------------------------------------------------------

keel_tensor_t keel_cast_at(keel_caller_t site, keel_tensor_t x, keel_dtype_t dtype) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, "cast", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)dtype >= KEEL_DTYPE_COUNT)
        return context_fail(context, site, "cast: there is no dtype %d", (int)dtype);
    if (dtype_is_complex(trace_node(context, node)->dtype) && !dtype_is_complex(dtype))
        return ops_refuse(context, "cast", node, "is complex; take keel_real or keel_abs");
    return ops_convert(context, node, dtype);
}

static keel_status_t emit_convert(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, "convert", NULL, out);
}

static keel_tensor_t gradient_convert(const rule_t *rule, int which) {
    keel_dtype_t dtype = keel_dtype(gradient_operand(rule, (uint32_t)which));
    keel_tensor_t g = rule->gradient;
    if (dtype_is_complex(keel_dtype(g)) && !dtype_is_complex(dtype))
        g = keel_real_at(rule->site, g);
    return keel_cast_at(rule->site, g, dtype);
}

const operation_t operation_convert = {emit_convert, gradient_convert, SHARDING_OF_OPERANDS};

keel_tensor_t keel_stop_gradient_at(keel_caller_t site, keel_tensor_t x) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, "stop_gradient", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    const node_spec_t spec = {.kind = NODE_STOP,
                              .dtype = trace_node(context, node)->dtype,
                              .shape = *trace_node_shape(context, node)};
    return trace_add(context, &spec, &node, 1);
}

static keel_status_t emit_stop(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    (void)e;
    *out = item->operands[0];
    return NULL;
}

const operation_t operation_stop = {emit_stop, NULL, SHARDING_OF_OPERANDS};

// ---- bits ---------------------------------------------------------------------------------------

keel_tensor_t keel_bitcast_at(keel_caller_t site, keel_tensor_t x, keel_dtype_t dtype) {
    uint32_t node;
    char text[SHAPE_TEXT];
    keel_context_t *context = ops_begin(site, "bitcast", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    keel_dtype_t from = (keel_dtype_t)trace_node(context, node)->dtype;
    bool is_good = (unsigned)dtype < KEEL_DTYPE_COUNT &&
                   keel_dtype_size(from) == keel_dtype_size(dtype) && from != KEEL_BOOL &&
                   dtype != KEEL_BOOL && !dtype_is_complex(from) && !dtype_is_complex(dtype);
    if (!is_good)
        return context_fail(context, site, "bitcast: %s does not have the bits of %s",
                            ops_describe(context, node, text), keel_dtype_text(dtype));
    if (from == dtype) return ops_tensor(context, node);
    const node_spec_t spec = {
        .kind = NODE_BITCAST, .dtype = dtype, .shape = *trace_node_shape(context, node)};
    return trace_add(context, &spec, &node, 1);
}

static keel_status_t emit_bitcast(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, "bitcast-convert", NULL, out);
}

const operation_t operation_bitcast = {emit_bitcast, NULL, SHARDING_OF_OPERANDS};

keel_tensor_t keel_is_finite_at(keel_caller_t site, keel_tensor_t x) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, "is_finite", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    if (!dtype_is_float(trace_node(context, node)->dtype))
        return ops_refuse(context, "is_finite", node, "has a dtype without it");
    const node_spec_t spec = {
        .kind = NODE_IS_FINITE, .dtype = KEEL_BOOL, .shape = *trace_node_shape(context, node)};
    return trace_add(context, &spec, &node, 1);
}

static keel_status_t emit_is_finite(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_plain(e, item, "is-finite", NULL, out);
}

const operation_t operation_is_finite = {emit_is_finite, NULL, SHARDING_OF_OPERANDS};
