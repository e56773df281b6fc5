// What is made of operations. An empty operand gives an empty result, so nothing is
// checked twice here.
#include "tensor/trace.h"

#define UNARY(op, x) keel_unary_at(site, KEEL_OP_##op, (x))
#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))
#define NUMBER(like, value) keel_number_at(site, (like), (value), #value)

// Sums, norms and exponentials of small floats are computed in f32: f16 ends at 65504, and bf16
// counts to 256.
static keel_dtype_t wide_dtype(keel_dtype_t dtype) {
    return dtype_is_float(dtype) && dtype < KEEL_F32 ? KEEL_F32 : dtype;
}

static keel_tensor_t widen(keel_caller_t site, keel_tensor_t x) {
    return keel_cast_at(site, x, wide_dtype(keel_dtype(x)));
}

// True if x can be an operand; otherwise its context, if it has one, has the error.
static bool begins(keel_caller_t site, const char *what, keel_tensor_t x) {
    uint32_t node;
    return ops_begin(site, what, &x, 1, &node);
}

// The same for what floats alone have.
static bool begins_float(keel_caller_t site, const char *what, keel_tensor_t x) {
    if (!begins(site, what, x)) return false;
    if (dtype_is_float(keel_dtype(x))) return true;
    context_fail(x.context, site, "%s: of %s; keel_cast it", what, keel_dtype_text(keel_dtype(x)));
    return false;
}

static keel_tensor_t mean_of_wide(keel_caller_t site, keel_tensor_t x, const keel_axes_t *axes) {
    const keel_shape_t shape = keel_shape(x);
    int32_t sorted[KEEL_MAX_RANK];
    double count = 1;
    keel_tensor_t sum = keel_reduce_at(site, KEEL_OP_SUM, x, *axes);
    if (keel_is_empty(sum) || !axes_resolve(axes, shape.rank, sorted)) return sum;
    for (int32_t i = 0; i < axes->count; ++i)
        count *= (double)shape.dims[sorted[i]];
    return BINARY(DIVIDE, sum, CONSTANT(sum, count));
}

keel_tensor_t keel_mean_at(keel_caller_t site, keel_tensor_t x, keel_axes_t axes) {
    site = keel_tensor_part_of(site, "mean");
    if (!begins(site, "mean", x)) return (keel_tensor_t){0};
    if (!dtype_has_gradient(keel_dtype(x)))
        return context_fail(x.context, site, "mean: of %s; keel_cast it",
                            keel_dtype_text(keel_dtype(x)));
    return keel_cast_at(site, mean_of_wide(site, widen(site, x), &axes), keel_dtype(x));
}

// How many elements each window has along one of its dimensions, in the last axes of the result.
static keel_tensor_t elements_along(keel_caller_t site, keel_tensor_t x,
                                    const keel_window_t *window, int32_t which) {
    const keel_shape_t shape = keel_shape(x);
    const int32_t axes = window->count - which; // it and those behind it
    const keel_window_t one = {.count = 1,
                               .size = {window->size[which]},
                               .stride = {window->stride[which]},
                               .before = {window->before[which]},
                               .after = {window->after[which]},
                               .dilation = {window->dilation[which]}};
    keel_tensor_t all =
        keel_broadcast_at(site, CONSTANT(x, 1), KEEL_SHAPE(shape.dims[shape.rank - axes]));
    keel_tensor_t counts = keel_reduce_window_at(site, KEEL_OP_SUM, all, &one);
    keel_shape_t wide = {.rank = axes, .dims = {keel_shape(counts).dims[0]}};
    for (int32_t i = 1; i < axes; ++i)
        wide.dims[i] = 1;
    return keel_reshape_at(site, counts, wide);
}

keel_tensor_t keel_mean_pool_at(keel_caller_t site, keel_tensor_t x, const keel_window_t *window) {
    site = keel_tensor_part_of(site, "mean_pool");
    if (!begins(site, "mean_pool", x)) return (keel_tensor_t){0};
    if (!dtype_is_float(keel_dtype(x)))
        return context_fail(x.context, site, "mean_pool: of %s; keel_cast it",
                            keel_dtype_text(keel_dtype(x)));
    keel_tensor_t wide = widen(site, x);
    keel_tensor_t result = keel_reduce_window_at(site, KEEL_OP_SUM, wide, window);
    if (keel_is_empty(result)) return result;
    for (int32_t i = 0; i < window->count; ++i)
        result = BINARY(DIVIDE, result, elements_along(site, wide, window, i));
    return keel_cast_at(site, result, keel_dtype(x));
}

// Not a maximum: its gradient at 0 is 0.
keel_tensor_t keel_relu_at(keel_caller_t site, keel_tensor_t x) {
    site = keel_tensor_part_of(site, "relu");
    keel_tensor_t zero = CONSTANT(x, 0);
    return keel_select_at(site, keel_compare_at(site, KEEL_OP_LESS_EQUAL, x, zero), zero, x);
}

keel_tensor_t keel_silu_at(keel_caller_t site, keel_tensor_t x) {
    site = keel_tensor_part_of(site, "silu");
    if (!begins_float(site, "silu", x)) return (keel_tensor_t){0};
    return BINARY(MULTIPLY, x, UNARY(SIGMOID, x));
}

keel_tensor_t keel_gelu_at(keel_caller_t site, keel_tensor_t x) {
    site = keel_tensor_part_of(site, "gelu");
    if (!begins_float(site, "gelu", x)) return (keel_tensor_t){0};
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
    if (!begins_float(site, what, x)) return false;
    const keel_shape_t shape = keel_shape(x);
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
    site = keel_tensor_part_of(site, "softmax");
    int32_t place;
    if (!find_axis(site, "softmax", x, axis, &place)) return (keel_tensor_t){0};
    keel_tensor_t powers = UNARY(EXP, below_zero(site, widen(site, x), place));
    keel_tensor_t result = BINARY(DIVIDE, powers, reduce_kept(site, KEEL_OP_SUM, powers, place));
    return keel_cast_at(site, result, keel_dtype(x));
}

static keel_tensor_t log_softmax_of_wide(keel_caller_t site, keel_tensor_t x, int32_t axis) {
    keel_tensor_t shifted = below_zero(site, x, axis);
    keel_tensor_t sum = reduce_kept(site, KEEL_OP_SUM, UNARY(EXP, shifted), axis);
    return BINARY(SUBTRACT, shifted, UNARY(LOG, sum));
}

keel_tensor_t keel_log_softmax_at(keel_caller_t site, keel_tensor_t x, int axis) {
    site = keel_tensor_part_of(site, "log_softmax");
    int32_t place;
    if (!find_axis(site, "log_softmax", x, axis, &place)) return (keel_tensor_t){0};
    return keel_cast_at(site, log_softmax_of_wide(site, widen(site, x), place), keel_dtype(x));
}

static keel_tensor_t mean_kept(keel_caller_t site, keel_tensor_t x, int32_t axis) {
    const keel_axes_t axes = KEEL_AXES(axis);
    return keep_axis(site, mean_of_wide(site, x, &axes), axis);
}

// x / sqrt(mean(x^2) + epsilon) of a wide x.
static keel_tensor_t normalize(keel_caller_t site, keel_tensor_t x, int32_t axis, double epsilon) {
    keel_tensor_t mean = mean_kept(site, BINARY(MULTIPLY, x, x), axis);
    return BINARY(MULTIPLY, x, UNARY(RSQRT, BINARY(ADD, mean, NUMBER(x, epsilon))));
}

// A scale or a shift is as long as the last axis, or absent. False, with an error, if it is
// neither.
static bool fits_last(keel_caller_t site, const char *what, keel_tensor_t x, keel_tensor_t part) {
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    const keel_shape_t shape = keel_shape(x), of_part = keel_shape(part);
    if (keel_is_empty(part)) return true;
    if (!begins(site, what, part)) return false;
    if (of_part.rank == 1 && of_part.dims[0] == shape.dims[shape.rank - 1]) return true;
    context_fail(x.context, site, "%s: the last axis of %s does not fit %s", what,
                 shape_text(keel_dtype(x), &shape, text),
                 shape_text(keel_dtype(part), &of_part, other));
    return false;
}

keel_tensor_t keel_rms_norm_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t scale,
                               double epsilon) {
    site = keel_tensor_part_of(site, "rms_norm");
    int32_t axis;
    if (!find_axis(site, "rms_norm", x, -1, &axis) || !fits_last(site, "rms_norm", x, scale))
        return (keel_tensor_t){0};
    keel_tensor_t result = normalize(site, widen(site, x), axis, epsilon);
    if (!keel_is_empty(scale)) result = BINARY(MULTIPLY, result, widen(site, scale));
    return keel_cast_at(site, result, keel_dtype(x));
}

keel_tensor_t keel_layer_norm_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t scale,
                                 keel_tensor_t shift, double epsilon) {
    site = keel_tensor_part_of(site, "layer_norm");
    int32_t axis;
    if (!find_axis(site, "layer_norm", x, -1, &axis) || !fits_last(site, "layer_norm", x, scale) ||
        !fits_last(site, "layer_norm", x, shift))
        return (keel_tensor_t){0};
    keel_tensor_t wide = widen(site, x);
    keel_tensor_t centered = BINARY(SUBTRACT, wide, mean_kept(site, wide, axis));
    keel_tensor_t result = normalize(site, centered, axis, epsilon);
    if (!keel_is_empty(scale)) result = BINARY(MULTIPLY, result, widen(site, scale));
    if (!keel_is_empty(shift)) result = BINARY(ADD, result, widen(site, shift));
    return keel_cast_at(site, result, keel_dtype(x));
}

keel_tensor_t keel_one_hot_at(keel_caller_t site, keel_tensor_t x, int64_t n, keel_dtype_t dtype) {
    site = keel_tensor_part_of(site, "one_hot");
    if (!begins(site, "one_hot", x)) return (keel_tensor_t){0};
    keel_shape_t shape = keel_shape(x), wide = shape;
    keel_dtype_t counts = keel_dtype(x);
    if (!dtype_is_integer(counts))
        return context_fail(x.context, site, "one_hot: of %s, which is not an integer",
                            keel_dtype_text(counts));
    if (shape.rank == KEEL_MAX_RANK || n < 0)
        return context_fail(x.context, site, "one_hot: a last axis of %lld on %d others",
                            (long long)n, shape.rank);
    if (keel_dtype_size(counts) < 4) counts = KEEL_I32; // n may be more than it can count
    shape.dims[shape.rank++] = 1;
    wide.dims[wide.rank++] = n;
    keel_tensor_t index = keel_iota_at(site, x.context, counts, wide, -1);
    keel_tensor_t place = keel_reshape_at(site, keel_cast_at(site, x, counts), shape);
    return keel_cast_at(site, keel_compare_at(site, KEEL_OP_EQUAL, place, index), dtype);
}

keel_tensor_t keel_cross_entropy_at(keel_caller_t site, keel_tensor_t logits,
                                    keel_tensor_t targets) {
    site = keel_tensor_part_of(site, "cross_entropy");
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    int32_t axis;
    uint32_t nodes[2];
    if (!ops_begin(site, "cross_entropy", (keel_tensor_t[]){logits, targets}, 2, nodes) ||
        !find_axis(site, "cross_entropy", logits, -1, &axis))
        return (keel_tensor_t){0};
    const keel_shape_t shape = keel_shape(logits), given = keel_shape(targets);
    keel_shape_t expected = shape;
    --expected.rank;
    if (!shape_equal(&expected, &given))
        return context_fail(logits.context, site,
                            "cross_entropy: logits %s and targets %s do not fit",
                            shape_text(keel_dtype(logits), &shape, text),
                            shape_text(keel_dtype(targets), &given, other));
    keel_tensor_t log_p = log_softmax_of_wide(site, widen(site, logits), axis);
    // Not a product: that of 0 and what is impossible, -infinity, is NaN.
    keel_tensor_t is_it = keel_one_hot_at(site, targets, shape.dims[axis], KEEL_BOOL);
    keel_tensor_t one = keel_select_at(site, is_it, log_p, CONSTANT(log_p, 0));
    keel_tensor_t chosen = keel_reduce_at(site, KEEL_OP_SUM, one, KEEL_AXES(axis));
    return keel_cast_at(site, UNARY(NEGATE, chosen), keel_dtype(logits));
}
