// What is made of the operations on axes, and functions of one tensor that models write again and
// again. An empty operand gives an empty result, so nothing is checked twice here.
#include "tensor/trace.h"

#define UNARY(op, x) keel_unary_at(site, KEEL_OP_##op, (x))
#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))

// False, with an error in the context, if x is empty or has no such axis; of a tensor with `more`
// axes.
static bool find_axis(keel_caller_t site, const char *what, keel_tensor_t x, int axis, int32_t more,
                      int32_t *out) {
    uint32_t node;
    char text[SHAPE_TEXT];
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return false;
    const keel_shape_t shape = keel_shape(x);
    if (shape.rank + more <= KEEL_MAX_RANK && axis_resolve(axis, shape.rank + more, out))
        return true;
    context_fail(context, site, "%s: %s has no axis %d", what,
                 shape_text(keel_dtype(x), &shape, text), axis);
    return false;
}

static bool is_float(keel_caller_t site, const char *what, keel_tensor_t x) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context || dtype_is_float(keel_dtype(x))) return context;
    context_fail(context, site, "%s: of %s; keel_cast it", what, keel_dtype_text(keel_dtype(x)));
    return false;
}

// Small floats are computed in f32.
static keel_tensor_t widen(keel_caller_t site, keel_tensor_t x) {
    const keel_dtype_t dtype = keel_dtype(x);
    return keel_cast_at(site, x, dtype_is_float(dtype) && dtype < KEEL_F32 ? KEEL_F32 : dtype);
}

// ---- axes of size 1 ----------------------------------------------------------------------------

static keel_shape_t with_axis(keel_shape_t shape, int32_t place) {
    memmove(&shape.dims[place + 1], &shape.dims[place],
            (size_t)(shape.rank - place) * sizeof *shape.dims);
    shape.dims[place] = 1;
    ++shape.rank;
    return shape;
}

keel_tensor_t keel_expand_at(keel_caller_t site, keel_tensor_t x, int axis) {
    int32_t place;
    site = keel_tensor_part_of(site, "expand");
    if (!find_axis(site, "expand", x, axis, 1, &place)) return (keel_tensor_t){0};
    return keel_reshape_at(site, x, with_axis(keel_shape(x), place));
}

keel_tensor_t keel_squeeze_at(keel_caller_t site, keel_tensor_t x, int axis) {
    int32_t place;
    char text[SHAPE_TEXT];
    site = keel_tensor_part_of(site, "squeeze");
    if (!find_axis(site, "squeeze", x, axis, 0, &place)) return (keel_tensor_t){0};
    keel_shape_t shape = keel_shape(x);
    if (shape.dims[place] != 1)
        return context_fail(x.context, site, "squeeze: axis %d of %s is not of size 1", axis,
                            shape_text(keel_dtype(x), &shape, text));
    memmove(&shape.dims[place], &shape.dims[place + 1],
            (size_t)(shape.rank - place - 1) * sizeof *shape.dims);
    --shape.rank;
    return keel_reshape_at(site, x, shape);
}

// `reduced`, with the axes again that were dropped of x.
static keel_tensor_t keep_axes(keel_caller_t site, keel_tensor_t reduced, keel_tensor_t x,
                               const keel_axes_t *axes) {
    int32_t sorted[KEEL_MAX_RANK];
    keel_shape_t shape = keel_shape(x);
    if (keel_is_empty(reduced) || !axes_resolve(axes, shape.rank, sorted)) return reduced;
    for (int32_t i = 0; i < axes->count; ++i)
        shape.dims[sorted[i]] = 1;
    return keel_reshape_at(site, reduced, shape);
}

keel_tensor_t keel_reduce_kept_at(keel_caller_t site, keel_reduce_op_t op, keel_tensor_t x,
                                  keel_axes_t axes) {
    static const char *const names[] = {
        [KEEL_OP_SUM] = "sum_kept", [KEEL_OP_MAX] = "max_kept", [KEEL_OP_MIN] = "min_kept"};
    const char *name = (unsigned)op <= KEEL_OP_MIN ? names[op] : "reduce_kept";
    site = keel_tensor_part_of(site, name);
    return keep_axes(site, keel_reduce_at(site, op, x, axes), x, &axes);
}

keel_tensor_t keel_mean_kept_at(keel_caller_t site, keel_tensor_t x, keel_axes_t axes) {
    site = keel_tensor_part_of(site, "mean_kept");
    return keep_axes(site, keel_mean_at(site, x, axes), x, &axes);
}

// ---- parts -------------------------------------------------------------------------------------

void keel_split_at(keel_caller_t site, keel_tensor_t x, int axis, size_t count,
                   keel_tensor_t *out) {
    int32_t place;
    char text[SHAPE_TEXT];
    site = keel_tensor_part_of(site, "split");
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
    if (!find_axis(site, "split", x, axis, 0, &place)) return;
    const keel_shape_t shape = keel_shape(x);
    if (!out || !count || count > INT32_MAX || shape.dims[place] % (int64_t)count) {
        context_fail(x.context, site, "split: %zu parts do not divide axis %d of %s", count, axis,
                     shape_text(keel_dtype(x), &shape, text));
        return;
    }
    const int64_t size = shape.dims[place] / (int64_t)count;
    for (size_t i = 0; i < count; ++i)
        out[i] = keel_slice_at(site, x, place, (int64_t)i * size, (int64_t)(i + 1) * size);
}

keel_tensor_t keel_stack_at(keel_caller_t site, const keel_tensor_t *x, size_t count, int axis) {
    int32_t place;
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    site = keel_tensor_part_of(site, "stack");
    if (!x || !count || !find_axis(site, "stack", x[0], axis, 1, &place)) return (keel_tensor_t){0};
    const keel_shape_t shape = keel_shape(x[0]);
    if (count > UINT16_MAX) return context_fail(x[0].context, site, "stack: of %zu tensors", count);
    for (size_t i = 1; i < count; ++i) {
        const keel_shape_t own = keel_shape(x[i]);
        if (keel_is_empty(x[i])) return (keel_tensor_t){0};
        if (keel_dtype(x[i]) != keel_dtype(x[0]) || !shape_equal(&own, &shape))
            return context_fail(x[0].context, site, "stack: tensor 1 is %s, and tensor %zu is %s",
                                shape_text(keel_dtype(x[0]), &shape, text), i + 1,
                                shape_text(keel_dtype(x[i]), &own, other));
    }
    keel_tensor_t rows = ops_stack(site, x, (uint32_t)count);
    if (keel_is_empty(rows) || !place) return rows;
    keel_axes_t order = {.count = shape.rank + 1};
    for (int32_t i = 0; i < order.count; ++i)
        order.items[i] = i < place ? i + 1 : i == place ? 0 : i;
    return keel_transpose_at(site, rows, order);
}

keel_tensor_t keel_pad_with_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t before,
                               int64_t after, keel_tensor_t value) {
    int32_t place;
    uint32_t node;
    site = keel_tensor_part_of(site, "pad_with");
    if (!find_axis(site, "pad_with", x, axis, 0, &place) ||
        !ops_begin(site, "pad_with", &value, 1, &node))
        return (keel_tensor_t){0};
    if (before < 0 || after < 0 || keel_shape(value).rank || keel_dtype(value) != keel_dtype(x))
        return context_fail(x.context, site,
                            "pad_with: the value is a scalar of the dtype of what is padded, and "
                            "no side is negative");
    keel_shape_t shape = keel_shape(x);
    if (before) {
        shape.dims[place] = before;
        x = keel_concatenate_at(site, keel_broadcast_at(site, value, shape), x, place);
    }
    if (after) {
        shape.dims[place] = after;
        x = keel_concatenate_at(site, x, keel_broadcast_at(site, value, shape), place);
    }
    return x;
}

// ---- functions ---------------------------------------------------------------------------------

// The largest element is only there to keep exp in range; of -inf alone it would make NaN.
keel_tensor_t keel_logsumexp_at(keel_caller_t site, keel_tensor_t x, int axis) {
    int32_t place;
    site = keel_tensor_part_of(site, "logsumexp");
    if (!is_float(site, "logsumexp", x) || !find_axis(site, "logsumexp", x, axis, 0, &place))
        return (keel_tensor_t){0};
    keel_tensor_t wide = widen(site, x);
    keel_tensor_t most = keel_reduce_kept_at(site, KEEL_OP_MAX, wide, KEEL_AXES(place));
    most = keel_select_at(site, keel_is_finite_at(site, most), most, CONSTANT(most, 0));
    most = keel_stop_gradient_at(site, most);
    keel_tensor_t powers = UNARY(EXP, BINARY(SUBTRACT, wide, most));
    keel_tensor_t sum = keel_reduce_at(site, KEEL_OP_SUM, powers, KEEL_AXES(place));
    keel_tensor_t result = BINARY(ADD, UNARY(LOG, sum), keel_squeeze_at(site, most, place));
    return keel_cast_at(site, result, keel_dtype(x));
}

// log(1 + exp(x)) without overflow. Its gradient at 0 is 1/2, which max(x, 0) would not have.
keel_tensor_t keel_softplus_at(keel_caller_t site, keel_tensor_t x) {
    site = keel_tensor_part_of(site, "softplus");
    if (!is_float(site, "softplus", x)) return (keel_tensor_t){0};
    keel_tensor_t wide = widen(site, x), zero = CONSTANT(wide, 0);
    keel_tensor_t is_above = keel_compare_at(site, KEEL_OP_GREATER, wide, zero);
    keel_tensor_t below = keel_select_at(site, is_above, UNARY(NEGATE, wide), wide);
    keel_tensor_t rest = UNARY(LOG1P, UNARY(EXP, below));
    keel_tensor_t result = BINARY(ADD, keel_select_at(site, is_above, wide, zero), rest);
    return keel_cast_at(site, result, keel_dtype(x));
}

keel_tensor_t keel_clamp_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t low,
                            keel_tensor_t high) {
    site = keel_tensor_part_of(site, "clamp");
    return BINARY(MINIMUM, BINARY(MAXIMUM, x, low), high);
}

// ---- places ------------------------------------------------------------------------------------

// As x: [1 or B, T, 1, ..., h / 2].
static keel_tensor_t angles_of(keel_caller_t site, keel_tensor_t x, keel_tensor_t places,
                               double base) {
    const keel_shape_t shape = keel_shape(x), of_places = keel_shape(places);
    const int64_t half = shape.dims[shape.rank - 1] / 2;
    keel_shape_t wide = {.rank = shape.rank};
    for (int32_t i = 0; i < wide.rank; ++i)
        wide.dims[i] = 1;
    wide.dims[0] = of_places.rank == 2 ? of_places.dims[0] : 1;
    wide.dims[1] = of_places.dims[of_places.rank - 1];
    keel_tensor_t t = keel_reshape_at(site, keel_cast_at(site, places, KEEL_F32), wide);
    keel_tensor_t i = keel_iota_at(site, x.context, KEEL_F32, KEEL_SHAPE(half), 0);
    keel_tensor_t exponent = BINARY(MULTIPLY, i, CONSTANT(i, -1 / (double)half));
    keel_tensor_t frequency =
        BINARY(POWER, keel_tensor_number(site, x.context, KEEL_F32, base, "base"), exponent);
    return BINARY(MULTIPLY, t, frequency);
}

keel_tensor_t keel_rope_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t places, double base) {
    uint32_t nodes[2];
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    site = keel_tensor_part_of(site, "rope");
    keel_context_t *context = ops_begin(site, "rope", (keel_tensor_t[]){x, places}, 2, nodes);
    if (!context || !is_float(site, "rope", x)) return (keel_tensor_t){0};
    const keel_shape_t shape = keel_shape(x), of_places = keel_shape(places);
    const int32_t last = shape.rank - 1;
    if (shape.rank < 3 || shape.dims[last] % 2 || !shape.dims[last] || of_places.rank < 1 ||
        of_places.rank > 2 || of_places.dims[of_places.rank - 1] != shape.dims[1] ||
        (of_places.rank == 2 && of_places.dims[0] != shape.dims[0]))
        return context_fail(context, site,
                            "rope: %s and places %s: [B, T, ..., h] of an even h has places [T] or "
                            "[B, T]",
                            shape_text(keel_dtype(x), &shape, text),
                            shape_text(keel_dtype(places), &of_places, other));
    keel_tensor_t angle = angles_of(site, x, places, base);
    keel_tensor_t cosine = UNARY(COS, angle), sine = UNARY(SIN, angle), wide = widen(site, x);
    keel_tensor_t a = keel_slice_at(site, wide, last, 0, shape.dims[last] / 2);
    keel_tensor_t b = keel_slice_at(site, wide, last, shape.dims[last] / 2, shape.dims[last]);
    keel_tensor_t first = BINARY(SUBTRACT, BINARY(MULTIPLY, a, cosine), BINARY(MULTIPLY, b, sine));
    keel_tensor_t second = BINARY(ADD, BINARY(MULTIPLY, b, cosine), BINARY(MULTIPLY, a, sine));
    return keel_cast_at(site, keel_concatenate_at(site, first, second, last), keel_dtype(x));
}
