// What is made of operations on places: keel/arrays.h. An empty operand gives an empty result.

#include "tensor/operation.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))

// ---- the largest and the smallest ---------------------------------------------------------------

static keel_tensor_t arg_extreme(keel_caller_t site, const char *what, keel_reduce_op_t op,
                                 keel_tensor_t x, int axis) {
    uint32_t node;
    int32_t place;
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    keel_shape_t shape = *trace_node_shape(context, node);
    if (!axis_resolve(axis, shape.rank, &place))
        return ops_refuse(context, what, node, "does not have this axis");
    int64_t size = shape.dims[place];
    if (!size || size > INT32_MAX)
        return ops_refuse(context, what, node, "has nothing, or too much, along this axis");
    if (keel_dtype(x) == KEEL_BOOL) x = keel_cast_at(site, x, KEEL_U8);
    keel_shape_t kept = shape;
    kept.dims[place] = 1;
    keel_tensor_t extreme = keel_reduce_at(site, op, x, KEEL_AXES(place));
    keel_tensor_t is_it =
        keel_compare_at(site, KEEL_OP_EQUAL, x, keel_reshape_at(site, extreme, kept));
    if (dtype_is_float(keel_dtype(x)))
        is_it = BINARY(OR, is_it, keel_compare_at(site, KEEL_OP_NOT_EQUAL, x, x));
    keel_tensor_t places = keel_iota_at(site, context, KEEL_I32, shape, place);
    keel_tensor_t none = keel_constant_at(site, places, (double)(size - 1));
    return keel_reduce_at(site, KEEL_OP_MIN, keel_select_at(site, is_it, places, none),
                          KEEL_AXES(place));
}

keel_tensor_t keel_argmax_at(keel_caller_t site, keel_tensor_t x, int axis) {
    site = keel_tensor_part_of(site, "argmax");
    return arg_extreme(site, "argmax", KEEL_OP_MAX, x, axis);
}

keel_tensor_t keel_argmin_at(keel_caller_t site, keel_tensor_t x, int axis) {
    site = keel_tensor_part_of(site, "argmin");
    return arg_extreme(site, "argmin", KEEL_OP_MIN, x, axis);
}

// ---- associative scan ---------------------------------------------------------------------------

// Pairs are combined and scanned, which gives every second result; the others are one more step
// away (Blelloch 1990, Prefix Sums and Their Applications).
typedef struct scanning_t {
    keel_caller_t site;
    keel_context_t *context;
    keel_combine_t combine;
    void *user;
    uint32_t count;
    int axis;
} scanning_t;

typedef struct group_t {
    keel_tensor_t items[KEEL_SORT_LIMIT];
} group_t;

static int64_t size_of(const scanning_t *scanning, const group_t *group) {
    return keel_shape(group->items[0]).dims[scanning->axis];
}

static group_t every_other(const scanning_t *scanning, const group_t *x, int64_t from, int64_t to) {
    group_t out = {{{0}}};
    for (uint32_t i = 0; i < scanning->count; ++i)
        out.items[i] = keel_stride_at(scanning->site, x->items[i], scanning->axis, from, to, 2);
    return out;
}

static group_t part(const scanning_t *scanning, const group_t *x, int64_t from, int64_t to) {
    group_t out = {{{0}}};
    for (uint32_t i = 0; i < scanning->count; ++i)
        out.items[i] = keel_slice_at(scanning->site, x->items[i], scanning->axis, from, to);
    return out;
}

static group_t combined(const scanning_t *scanning, const group_t *x, const group_t *y) {
    group_t out = {{{0}}};
    ++scanning->context->callbacks;
    scanning->combine(scanning->user, x->items, y->items, out.items);
    --scanning->context->callbacks;
    for (uint32_t i = 0; i < scanning->count && !scanning->context->error; ++i) {
        const keel_shape_t had = keel_shape(x->items[i]), has = keel_shape(out.items[i]);
        char text[SHAPE_TEXT], other[SHAPE_TEXT];
        bool is_good = out.items[i].context == scanning->context && shape_equal(&had, &has) &&
                       keel_dtype(x->items[i]) == keel_dtype(out.items[i]);
        if (!is_good)
            context_fail(scanning->context, scanning->site,
                         "associative_scan: the combination makes %s of %s",
                         shape_text(keel_dtype(out.items[i]), &has, text),
                         shape_text(keel_dtype(x->items[i]), &had, other));
    }
    return out;
}

// x[0], y[0], x[1], y[1], ...; x has as many as y, or one more.
static keel_tensor_t interleave(const scanning_t *scanning, keel_tensor_t x, keel_tensor_t y) {
    keel_caller_t site = scanning->site;
    keel_shape_t shape = keel_shape(x);
    int64_t first = shape.dims[scanning->axis], second = keel_shape(y).dims[scanning->axis];
    keel_tensor_t even = ops_spread(site, x, scanning->axis, 0, first == second, 1);
    keel_tensor_t odd = ops_spread(site, y, scanning->axis, 1, first != second, 1);
    shape.dims[scanning->axis] = first + second;
    keel_tensor_t places = keel_iota_at(site, scanning->context, KEEL_I32, shape, scanning->axis);
    keel_tensor_t parity = BINARY(REMAINDER, places, keel_constant_at(site, places, 2));
    return keel_select_at(
        site, keel_compare_at(site, KEEL_OP_EQUAL, parity, keel_constant_at(site, parity, 0)), even,
        odd);
}

static group_t scan(const scanning_t *scanning, const group_t *x) {
    int64_t size = size_of(scanning, x);
    if (size < 2 || scanning->context->error) return *x;
    group_t left = every_other(scanning, x, 0, size - 1), right = every_other(scanning, x, 1, size);
    group_t pairs = combined(scanning, &left, &right);
    group_t odd = scan(scanning, &pairs);
    group_t first = part(scanning, x, 0, 1), out = {{{0}}};
    group_t even = {{{0}}};
    if (size > 2) {
        group_t before = part(scanning, &odd, 0, (size - 1) / 2);
        group_t own = every_other(scanning, x, 2, size);
        even = combined(scanning, &before, &own);
    }
    for (uint32_t i = 0; i < scanning->count && !scanning->context->error; ++i) {
        keel_tensor_t evens = first.items[i];
        if (size > 2)
            evens = keel_concatenate_at(scanning->site, evens, even.items[i], scanning->axis);
        out.items[i] = interleave(scanning, evens, odd.items[i]);
    }
    return out;
}

static bool can_scan(scanning_t *scanning, const keel_tensor_t *x, uint32_t *nodes) {
    keel_context_t *context = scanning->context;
    int32_t place, first = 0;
    for (uint32_t i = 0; i < scanning->count && !context->error; ++i) {
        const keel_shape_t *shape = trace_node_shape(context, nodes[i]);
        if (!axis_resolve(scanning->axis, shape->rank, &place))
            ops_refuse(context, "associative_scan", nodes[i], "does not have this axis");
        else if (!i)
            first = place;
        else if (place != first ||
                 shape->dims[place] != trace_node_shape(context, nodes[0])->dims[place])
            ops_refuse_two(context, "associative_scan", nodes[0], nodes[i],
                           "differ in size along the axis");
    }
    scanning->axis = first;
    (void)x;
    return !context->error;
}

static void reverse_all(const scanning_t *scanning, group_t *group) {
    for (uint32_t i = 0; i < scanning->count; ++i)
        group->items[i] =
            keel_reverse_at(scanning->site, group->items[i], KEEL_AXES(scanning->axis));
}

void keel_associative_scan_at(keel_caller_t site, keel_combine_t combine, void *user,
                              const keel_tensor_t *x, size_t count, int axis, int is_reversed,
                              keel_tensor_t *out) {
    site = keel_tensor_part_of(site, "associative_scan");
    uint32_t nodes[KEEL_SORT_LIMIT];
    group_t group = {{{0}}};
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
    if (!x || !count || !out) return;
    bool has_room = count <= KEEL_SORT_LIMIT;
    keel_context_t *context =
        ops_begin(site, "associative_scan", x, has_room ? (uint32_t)count : 1, nodes);
    if (!context) return;
    scanning_t scanning = {site, context, combine, user, (uint32_t)count, axis};
    if (!has_room || !combine)
        context_fail(context, site, "associative_scan: no combination, or more than %d tensors",
                     KEEL_SORT_LIMIT);
    else if (can_scan(&scanning, x, nodes)) {
        memcpy(group.items, x, count * sizeof *x);
        if (is_reversed) reverse_all(&scanning, &group);
        group = scan(&scanning, &group);
        if (is_reversed) reverse_all(&scanning, &group);
        context->site = site;
    }
    for (size_t i = 0; i < count && !context->error; ++i)
        out[i] = group.items[i];
}

typedef struct cumulation_t {
    keel_caller_t site;
    keel_binary_op_t op;
} cumulation_t;

static void cumulate(void *user, const keel_tensor_t *x, const keel_tensor_t *y,
                     keel_tensor_t *out) {
    const cumulation_t *cumulation = user;
    *out = keel_binary_at(cumulation->site, cumulation->op, *x, *y);
}

static const char *cumulation_name(keel_binary_op_t op) {
    switch (op) {
        case KEEL_OP_ADD:
            return "cumsum";
        case KEEL_OP_MULTIPLY:
            return "cumprod";
        case KEEL_OP_MAXIMUM:
            return "cummax";
        case KEEL_OP_MINIMUM:
            return "cummin";
        default:
            return "cumulate";
    }
}

keel_tensor_t keel_cumulate_at(keel_caller_t site, keel_binary_op_t op, keel_tensor_t x, int axis) {
    site = keel_tensor_part_of(site, cumulation_name(op));
    static const bool is_associative[KEEL_BINARY_OP_COUNT] = {
        [KEEL_OP_ADD] = true,     [KEEL_OP_MULTIPLY] = true, [KEEL_OP_MAXIMUM] = true,
        [KEEL_OP_MINIMUM] = true, [KEEL_OP_AND] = true,      [KEEL_OP_OR] = true,
        [KEEL_OP_XOR] = true};
    cumulation_t cumulation = {site, op};
    keel_tensor_t out;
    if (x.context && ((unsigned)op >= KEEL_BINARY_OP_COUNT || !is_associative[op]))
        return context_fail(x.context, site, "cumulate: operation %d is not associative", (int)op);
    keel_associative_scan_at(site, cumulate, &cumulation, &x, 1, axis, 0, &out);
    return out;
}

// log(exp(x) + exp(y)), also if one or both are infinite.
static void add_exponentials(void *user, const keel_tensor_t *x, const keel_tensor_t *y,
                             keel_tensor_t *out) {
    const keel_caller_t site = *(const keel_caller_t *)user;
    keel_tensor_t apart = BINARY(SUBTRACT, *x, *y), zero = keel_constant_at(site, *x, 0);
    keel_tensor_t is_equal = keel_compare_at(site, KEEL_OP_EQUAL, *x, *y); // infinities, too
    apart = keel_select_at(site, is_equal, zero, apart);
    keel_tensor_t distance = keel_unary_at(site, KEEL_OP_ABS, apart);
    keel_tensor_t rest =
        keel_unary_at(site, KEEL_OP_EXP, keel_unary_at(site, KEEL_OP_NEGATE, distance));
    *out = BINARY(ADD, BINARY(MAXIMUM, *x, *y), keel_unary_at(site, KEEL_OP_LOG1P, rest));
}

keel_tensor_t keel_cumlogsumexp_at(keel_caller_t site, keel_tensor_t x, int axis) {
    site = keel_tensor_part_of(site, "cumlogsumexp");
    keel_tensor_t out;
    uint32_t node;
    keel_context_t *context = ops_begin(site, "cumlogsumexp", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    if (!dtype_is_float(trace_node(context, node)->dtype))
        return ops_refuse(context, "cumlogsumexp", node, "is not of floats; keel_cast it");
    keel_associative_scan_at(site, add_exponentials, &site, &x, 1, axis, 0, &out);
    return out;
}
