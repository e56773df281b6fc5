// What is made of the operations in ops.c. An empty operand gives an empty result, so nothing is
// checked twice here.
#include "tensor/trace.h"

#define UNARY(op, x) keel_unary_at(site, KEEL_OP_##op, (x))
#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))

keel_tensor_t keel_mean_at(keel_caller_t site, keel_tensor_t x, keel_axes_t axes) {
    const keel_shape_t shape = keel_shape(x);
    int32_t sorted[KEEL_MAX_RANK];
    double count = 1;
    keel_tensor_t sum = keel_reduce_at(site, KEEL_OP_SUM, x, axes);
    if (keel_is_empty(sum) || !axes_resolve(&axes, shape.rank, sorted)) return sum;
    if (!dtype_is_float(keel_dtype(x)))
        return context_fail(x.context, site, "mean: of %s; keel_cast it",
                            keel_dtype_text(keel_dtype(x)));
    for (int32_t i = 0; i < axes.count; ++i)
        count *= (double)shape.dims[sorted[i]];
    return BINARY(DIVIDE, sum, CONSTANT(sum, count));
}

keel_tensor_t keel_relu_at(keel_caller_t site, keel_tensor_t x) {
    return BINARY(MAXIMUM, x, CONSTANT(x, 0));
}

keel_tensor_t keel_silu_at(keel_caller_t site, keel_tensor_t x) {
    return BINARY(MULTIPLY, x, UNARY(SIGMOID, x));
}

keel_tensor_t keel_gelu_at(keel_caller_t site, keel_tensor_t x) {
    keel_tensor_t cube = BINARY(MULTIPLY, BINARY(MULTIPLY, x, x), x);
    keel_tensor_t inner = BINARY(ADD, x, BINARY(MULTIPLY, cube, CONSTANT(x, 0.044715)));
    keel_tensor_t curve = UNARY(TANH, BINARY(MULTIPLY, inner, CONSTANT(x, 0.7978845608028654)));
    keel_tensor_t half = BINARY(MULTIPLY, x, CONSTANT(x, 0.5));
    return BINARY(MULTIPLY, half, BINARY(ADD, curve, CONSTANT(x, 1)));
}

// A reduced axis again, of size 1.
static keel_tensor_t keep_axis(keel_caller_t site, keel_tensor_t reduced, int32_t axis) {
    keel_shape_t shape = keel_shape(reduced);
    if (keel_is_empty(reduced)) return reduced;
    memmove(&shape.dims[axis + 1], &shape.dims[axis],
            (size_t)(shape.rank - axis) * sizeof *shape.dims);
    shape.dims[axis] = 1;
    ++shape.rank;
    return keel_reshape_at(site, reduced, shape);
}

static keel_tensor_t reduce_kept(keel_caller_t site, keel_reduce_op_t op, keel_tensor_t x,
                                 int32_t axis) {
    return keep_axis(site, keel_reduce_at(site, op, x, KEEL_AXES(axis)), axis);
}

// False, with an error in the context, if there is no such axis.
static bool find_axis(keel_caller_t site, const char *what, keel_tensor_t x, int axis,
                      int32_t *out) {
    char text[SHAPE_TEXT];
    const keel_shape_t shape = keel_shape(x);
    if (keel_is_empty(x)) return false;
    if (axis_resolve(axis, shape.rank, out)) return true;
    context_fail(x.context, site, "%s: %s has no axis %d", what,
                 shape_text(keel_dtype(x), &shape, text), axis);
    return false;
}

// x minus its largest element along the axis, which is only there to keep exp in range.
static keel_tensor_t below_zero(keel_caller_t site, keel_tensor_t x, int32_t axis) {
    return BINARY(SUBTRACT, x,
                  keel_stop_gradient_at(site, reduce_kept(site, KEEL_OP_MAX, x, axis)));
}

keel_tensor_t keel_softmax_at(keel_caller_t site, keel_tensor_t x, int axis) {
    int32_t place;
    if (!find_axis(site, "softmax", x, axis, &place)) return (keel_tensor_t){0};
    keel_tensor_t powers = UNARY(EXP, below_zero(site, x, place));
    return BINARY(DIVIDE, powers, reduce_kept(site, KEEL_OP_SUM, powers, place));
}

keel_tensor_t keel_log_softmax_at(keel_caller_t site, keel_tensor_t x, int axis) {
    int32_t place;
    if (!find_axis(site, "log_softmax", x, axis, &place)) return (keel_tensor_t){0};
    keel_tensor_t shifted = below_zero(site, x, place);
    keel_tensor_t sum = reduce_kept(site, KEEL_OP_SUM, UNARY(EXP, shifted), place);
    return BINARY(SUBTRACT, shifted, UNARY(LOG, sum));
}

static keel_tensor_t mean_kept(keel_caller_t site, keel_tensor_t x, int32_t axis) {
    return keep_axis(site, keel_mean_at(site, x, KEEL_AXES(axis)), axis);
}

// x / sqrt(mean(x^2) + epsilon), times scale if there is one.
static keel_tensor_t normalize(keel_caller_t site, keel_tensor_t x, keel_tensor_t scale,
                               int32_t axis, double epsilon) {
    keel_tensor_t mean = mean_kept(site, BINARY(MULTIPLY, x, x), axis);
    keel_tensor_t result =
        BINARY(MULTIPLY, x, UNARY(RSQRT, BINARY(ADD, mean, CONSTANT(x, epsilon))));
    return keel_is_empty(scale) ? result : BINARY(MULTIPLY, result, scale);
}

keel_tensor_t keel_rms_norm_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t scale,
                               double epsilon) {
    int32_t axis;
    if (!find_axis(site, "rms_norm", x, -1, &axis)) return (keel_tensor_t){0};
    return normalize(site, x, scale, axis, epsilon);
}

keel_tensor_t keel_layer_norm_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t scale,
                                 keel_tensor_t shift, double epsilon) {
    int32_t axis;
    if (!find_axis(site, "layer_norm", x, -1, &axis)) return (keel_tensor_t){0};
    keel_tensor_t centered = BINARY(SUBTRACT, x, mean_kept(site, x, axis));
    keel_tensor_t result = normalize(site, centered, scale, axis, epsilon);
    return keel_is_empty(shift) ? result : BINARY(ADD, result, shift);
}

keel_tensor_t keel_one_hot_at(keel_caller_t site, keel_tensor_t x, int64_t n, keel_dtype_t dtype) {
    keel_shape_t shape = keel_shape(x), wide;
    if (keel_is_empty(x)) return x;
    if (!dtype_is_integer(keel_dtype(x)))
        return context_fail(x.context, site, "one_hot: of %s, which is no integer",
                            keel_dtype_text(keel_dtype(x)));
    if (shape.rank == KEEL_MAX_RANK || n < 0)
        return context_fail(x.context, site, "one_hot: a last axis of %lld on %d others",
                            (long long)n, shape.rank);
    wide = shape;
    shape.dims[shape.rank++] = 1;
    wide.dims[wide.rank++] = n;
    keel_tensor_t index = keel_iota_at(site, x.context, keel_dtype(x), wide, -1);
    keel_tensor_t is_it =
        keel_compare_at(site, KEEL_OP_EQUAL, keel_reshape_at(site, x, shape), index);
    return keel_cast_at(site, is_it, dtype);
}

keel_tensor_t keel_cross_entropy_at(keel_caller_t site, keel_tensor_t logits,
                                    keel_tensor_t targets) {
    const keel_shape_t shape = keel_shape(logits);
    int32_t axis;
    if (!find_axis(site, "cross_entropy", logits, -1, &axis)) return (keel_tensor_t){0};
    keel_tensor_t log_p = keel_log_softmax_at(site, logits, -1);
    keel_tensor_t hot = keel_one_hot_at(site, targets, shape.dims[axis], keel_dtype(logits));
    const keel_shape_t of_targets = keel_shape(hot);
    if (!keel_is_empty(hot) && !shape_equal(&shape, &of_targets)) {
        char text[SHAPE_TEXT], other[SHAPE_TEXT];
        const keel_shape_t given = keel_shape(targets);
        return context_fail(logits.context, site,
                            "cross_entropy: logits %s and targets %s do not fit",
                            shape_text(keel_dtype(logits), &shape, text),
                            shape_text(keel_dtype(targets), &given, other));
    }
    return UNARY(NEGATE,
                 keel_reduce_at(site, KEEL_OP_SUM, BINARY(MULTIPLY, log_p, hot), KEEL_AXES(axis)));
}
