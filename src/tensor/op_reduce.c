// Axes become one element.
#include <float.h>
#include <math.h>

#include "tensor/operation.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))

static const char *const reduce_names[] = {
#define NAME(name, text, hlo) text,
    KEEL_REDUCE_OPS(NAME)
#undef NAME
};

keel_axes_t keel_all_axes(keel_tensor_t x) {
    keel_axes_t axes = {.count = keel_shape(x).rank};
    for (int32_t i = 0; i < axes.count; ++i)
        axes.items[i] = i;
    return axes;
}

keel_tensor_t keel_reduce_at(keel_caller_t site, keel_reduce_op_t op, keel_tensor_t x,
                             keel_axes_t axes) {
    uint32_t node;
    int32_t sorted[KEEL_MAX_RANK];
    int64_t words[KEEL_MAX_RANK];
    const char *what = (unsigned)op < KEEL_REDUCE_OP_COUNT ? reduce_names[op] : "a reduction";
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t from = *trace_node_shape(context, node);
    keel_dtype_t dtype = trace_node(context, node)->dtype;
    if ((unsigned)op >= KEEL_REDUCE_OP_COUNT)
        return context_fail(context, site, "there is no reduction %d", (int)op);
    if (!axes_resolve(&axes, from.rank, sorted))
        return ops_refuse(context, what, node, "does not have these axes, each once");
    bool is_logical = op == KEEL_OP_ALL || op == KEEL_OP_ANY;
    if (is_logical != (dtype == KEEL_BOOL))
        return ops_refuse(context, what, node,
                          is_logical ? "is not bool; compare it" : "is bool; keel_cast it");
    if ((op == KEEL_OP_MAX || op == KEEL_OP_MIN) && dtype_is_complex(dtype))
        return ops_refuse(context, what, node, "is complex, which has no order");
    if (!axes.count) return ops_tensor(context, node);
    // Small floats are summed in f32: f16 ends at 65504, and bf16 counts to 256.
    if (op == KEEL_OP_SUM && dtype_is_float(dtype) && dtype < KEEL_F32) {
        keel_tensor_t wide = ops_convert(context, node, KEEL_F32);
        return keel_cast_at(site, keel_reduce_at(site, op, wide, axes), dtype);
    }
    node_spec_t spec = {.kind = NODE_REDUCE,
                        .op = (int)op,
                        .dtype = dtype,
                        .words = words,
                        .word_count = (uint32_t)axes.count};
    for (int32_t axis = 0, next = 0; axis < from.rank; ++axis) {
        if (next < axes.count && sorted[next] == axis)
            words[next++] = axis;
        else
            spec.shape.dims[spec.shape.rank++] = from.dims[axis];
    }
    return trace_add(context, &spec, &node, 1);
}

double emit_start(int op, keel_dtype_t dtype) {
    bool is_max = op == KEEL_OP_MAX;
    if (op == KEEL_OP_SUM || op == KEEL_OP_ANY) return 0;
    if (op == KEEL_OP_PRODUCT || op == KEEL_OP_ALL) return 1;
    if (dtype == KEEL_F8E4M3FN) return is_max ? -448 : 448; // it has no infinity
    if (dtype_is_float(dtype)) return is_max ? -INFINITY : INFINITY;
    return is_max ? -DBL_MAX : DBL_MAX; // the least and the largest of that dtype
}

static keel_status_t emit_reduce(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    fields_t fields = {0};
    keel_value_id_t operands[2] = {item->operands[0]};
    KEEL_TRY(emit_constant(e, dtype, emit_start(item->node->op, dtype), &operands[1]));
    KEEL_TRY(emit_ints(e, &fields, "dimensions", item->words, item->node->word_count));
    KEEL_TRY(emit_callee(e, &fields, item->node->op, dtype));
    return emit_instruction(e, "reduce", dtype, item->shape, operands, 2, &fields, out);
}

// The reduced tensor in the shape of what was reduced.
static keel_tensor_t spread(const rule_t *rule, keel_tensor_t reduced) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    keel_shape_t whole = keel_shape(gradient_operand(rule, 0)), kept = whole;
    for (uint32_t i = 0; i < rule->node.word_count; ++i)
        kept.dims[words[i]] = 1;
    return keel_broadcast_at(rule->site, keel_reshape_at(rule->site, reduced, kept), whole);
}

// Along axis 0, the product of all others for each element. Nothing is divided, so one may be 0.
static keel_tensor_t others(keel_caller_t site, keel_tensor_t x) {
    keel_shape_t shape = keel_shape(x), one = shape;
    int64_t size = shape.dims[0], half = (size + 1) / 2;
    keel_tensor_t unit = keel_constant_at(site, x, 1);
    if (size < 2) return keel_broadcast_at(site, unit, shape);
    keel_tensor_t left = keel_slice_at(site, x, 0, 0, half);
    keel_tensor_t right = keel_slice_at(site, x, 0, half, size);
    one.dims[0] = 1;
    if (size % 2) right = keel_concatenate_at(site, right, keel_broadcast_at(site, unit, one), 0);
    keel_tensor_t beyond = others(site, BINARY(MULTIPLY, left, right));
    keel_tensor_t all = keel_concatenate_at(site, BINARY(MULTIPLY, beyond, right),
                                            BINARY(MULTIPLY, beyond, left), 0);
    return keel_slice_at(site, all, 0, 0, size);
}

static keel_tensor_t of_product(const rule_t *rule) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    keel_tensor_t x = gradient_operand(rule, 0);
    keel_axes_t order = {0}, back = {.count = keel_shape(x).rank};
    keel_shape_t flat = {.rank = 1, .dims = {1}};
    bool is_reduced[KEEL_MAX_RANK] = {false};
    for (uint32_t i = 0; i < rule->node.word_count; ++i) {
        order.items[order.count++] = words[i];
        is_reduced[words[i]] = true;
        flat.dims[0] *= keel_shape(x).dims[words[i]];
    }
    for (int32_t i = 0; i < back.count; ++i) {
        if (is_reduced[i]) continue;
        order.items[order.count++] = i;
        flat.dims[flat.rank++] = keel_shape(x).dims[i];
    }
    for (int32_t i = 0; i < back.count; ++i)
        back.items[order.items[i]] = i;
    keel_tensor_t turned = keel_transpose_at(rule->site, x, order);
    keel_tensor_t products = others(rule->site, keel_reshape_at(rule->site, turned, flat));
    products = keel_reshape_at(rule->site, products, keel_shape(turned));
    return keel_binary_at(rule->site, KEEL_OP_MULTIPLY, spread(rule, rule->gradient),
                          keel_transpose_at(rule->site, products, back));
}

static keel_tensor_t gradient_reduce(const rule_t *rule, int which) {
    (void)which;
    keel_caller_t site = rule->site;
    if (rule->node.op == KEEL_OP_SUM) return spread(rule, rule->gradient);
    if (rule->node.op == KEEL_OP_PRODUCT) return of_product(rule);
    // All elements that are the extreme share its gradient.
    keel_axes_t axes = {.count = (int32_t)rule->node.word_count};
    keel_tensor_t is_it = keel_cast_at(
        site,
        keel_compare_at(site, KEEL_OP_EQUAL, gradient_operand(rule, 0), spread(rule, rule->result)),
        (keel_dtype_t)rule->node.dtype);
    for (int32_t i = 0; i < axes.count; ++i)
        axes.items[i] = trace_words(&rule->context->trace, &rule->node)[i];
    keel_tensor_t count = keel_reduce_at(site, KEEL_OP_SUM, is_it, axes);
    return BINARY(MULTIPLY, is_it, spread(rule, BINARY(DIVIDE, rule->gradient, count)));
}

const operation_t operation_reduce = {emit_reduce, gradient_reduce, SHARDING_OF_OPERANDS};
