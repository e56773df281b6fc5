// Operations that XLA has: what they refuse, and the shape of what they give.
#include "tensor/trace.h"

typedef enum arity { ONE = 1, TWO, THREE } arity_t;

static uint32_t node_of(keel_context_t *context, const char *what, keel_tensor_t tensor) {
    if (!tensor.step) {
        if (context_variable(tensor))
            return context_variable_node(context, tensor.id & VARIABLE_INDEX);
        context_fail(context, context->site, "%s: an operand was released", what);
        return KEEL_NONE;
    }
    if (tensor.step == context->step && tensor.id < context->trace.nodes.count) {
        if (ops_is_usable(tensor)) return tensor.id;
        context_fail(context, context->site,
                     "%s: an operand was made in a body that has ended; a body returns what is "
                     "used outside it",
                     what);
        return KEEL_NONE;
    }
    context_fail(context, context->site,
                 "%s: an operand was made in step %u, which has ended; keel_keep a value that "
                 "outlives its step",
                 what, tensor.step);
    return KEEL_NONE;
}

bool ops_is_usable(keel_tensor_t tensor) {
    if (!tensor.step) return context_variable(tensor);
    const keel_context_t *context = tensor.context;
    if (tensor.step != context->step || tensor.id >= context->trace.nodes.count) return false;
    uint32_t scope = context->trace.scopes.data[tensor.id];
    return scope == KEEL_NONE || context->regions.data[scope].end == KEEL_NONE;
}

keel_context_t *ops_begin(keel_caller_t site, const char *what, const keel_tensor_t *operands,
                          uint32_t count, uint32_t *out_nodes) {
    keel_context_t *context = NULL;
    for (uint32_t i = 0; i < count && !context; ++i)
        context = operands[i].context;
    if (!context) return NULL;
    context->site = site;
    for (uint32_t i = 0; i < count; ++i) {
        if (!operands[i].context) {
            context_fail(context, site, "%s: operand %u is empty", what, i + 1);
            return NULL;
        }
        if (operands[i].context != context) {
            context_fail(context, site, "%s: operand %u belongs to another context", what, i + 1);
            return NULL;
        }
        out_nodes[i] = node_of(context, what, operands[i]);
        if (out_nodes[i] == KEEL_NONE) return NULL;
    }
    return context;
}

keel_context_t *ops_begin_list(keel_caller_t site, const char *what, const keel_tensor_t *operands,
                               uint32_t count, uint32_t **out_nodes) {
    keel_context_t *context = NULL;
    void *memory = NULL;
    *out_nodes = NULL;
    for (uint32_t i = 0; i < count && !context; ++i)
        context = operands[i].context;
    if (!context) return NULL;
    keel_status_t status = keel_calloc(count, sizeof(uint32_t), &memory);
    if (status) {
        context_take(context, site, status);
        return NULL;
    }
    *out_nodes = memory;
    return ops_begin(site, what, operands, count, *out_nodes);
}

static keel_tensor_t tensor_of(keel_context_t *context, uint32_t node) {
    return (keel_tensor_t){context, node, context->step};
}

static const char *describe(const keel_context_t *context, uint32_t node, char out[SHAPE_TEXT]) {
    return shape_text(trace_node(context, node)->dtype, trace_node_shape(context, node), out);
}

static keel_tensor_t refuse(keel_context_t *context, const char *what, uint32_t x,
                            const char *why) {
    char text[SHAPE_TEXT];
    return context_fail(context, context->site, "%s: %s %s", what, describe(context, x, text), why);
}

static keel_tensor_t refuse_two(keel_context_t *context, const char *what, uint32_t x, uint32_t y,
                                const char *why) {
    char first[SHAPE_TEXT], second[SHAPE_TEXT];
    return context_fail(context, context->site, "%s: %s and %s %s", what,
                        describe(context, x, first), describe(context, y, second), why);
}

// ---- of one shape ------------------------------------------------------------------------------

static keel_tensor_t convert(keel_context_t *context, uint32_t x, keel_dtype_t dtype) {
    if (trace_node(context, x)->dtype == dtype) return tensor_of(context, x);
    const node_spec_t spec = {
        .kind = NODE_CONVERT, .dtype = dtype, .shape = *trace_node_shape(context, x)};
    return trace_add(context, &spec, &x, ONE);
}

static keel_tensor_t broadcast(keel_context_t *context, uint32_t x, const keel_shape_t *shape) {
    const keel_shape_t from = *trace_node_shape(context, x);
    if (shape_equal(&from, shape)) return tensor_of(context, x);
    // XLA does not stretch dimensions of size 1: they are dropped first.
    int64_t places[KEEL_MAX_RANK];
    keel_shape_t kept = {0};
    for (int32_t i = 0; i < from.rank; ++i) {
        int32_t place = shape->rank - from.rank + i;
        if (from.dims[i] == 1 && shape->dims[place] != 1) continue;
        places[kept.rank] = place;
        kept.dims[kept.rank++] = from.dims[i];
    }
    keel_dtype_t dtype = trace_node(context, x)->dtype;
    keel_tensor_t result = tensor_of(context, x);
    if (kept.rank != from.rank) {
        const node_spec_t reshape = {.kind = NODE_RESHAPE, .dtype = dtype, .shape = kept};
        result = trace_add(context, &reshape, &x, ONE);
        if (!result.context) return result;
    }
    const node_spec_t spec = {.kind = NODE_BROADCAST,
                              .dtype = dtype,
                              .shape = *shape,
                              .words = places,
                              .word_count = (uint32_t)kept.rank};
    return trace_add(context, &spec, &result.id, ONE);
}

// Both operands in one dtype and shape.
static bool meet(keel_context_t *context, const char *what, uint32_t nodes[2]) {
    keel_dtype_t dtype;
    keel_shape_t shape;
    const node_t *x = trace_node(context, nodes[0]), *y = trace_node(context, nodes[1]);
    if (!dtype_promote(x->dtype, y->dtype, &dtype)) {
        refuse_two(context, what, nodes[0], nodes[1],
                   "have no common dtype; keel_cast one of them");
        return false;
    }
    if (!shape_broadcast(trace_node_shape(context, nodes[0]), trace_node_shape(context, nodes[1]),
                         &shape)) {
        refuse_two(context, what, nodes[0], nodes[1], "do not broadcast");
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        keel_tensor_t result = convert(context, nodes[i], dtype);
        if (result.context) result = broadcast(context, result.id, &shape);
        if (!result.context) return false;
        nodes[i] = result.id;
    }
    return true;
}

static const char *const unary_names[] = {
#define NAME(name, text) text,
    KEEL_UNARY_OPS(NAME)
#undef NAME
};
static const char *const binary_names[] = {
#define NAME(name, text) text,
    KEEL_BINARY_OPS(NAME)
#undef NAME
};
const char *ops_unary_name(int op) {
    return unary_names[op];
}

const char *ops_binary_name(int op) {
    return binary_names[op];
}

static const char *const compare_names[] = {
#define NAME(name, text, hlo) text,
    KEEL_COMPARE_OPS(NAME)
#undef NAME
};
static const char *const reduce_names[] = {
#define NAME(name, text, hlo) text,
    KEEL_REDUCE_OPS(NAME)
#undef NAME
};

static bool unary_takes(keel_unary_op_t op, keel_dtype_t dtype) {
    switch (op) {
        case KEEL_OP_NOT:
            return !dtype_is_float(dtype);
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
    keel_context_t *context = ops_begin(site, what, &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)op >= KEEL_UNARY_OP_COUNT)
        return context_fail(context, site, "there is no operation %d of one operand", (int)op);
    keel_dtype_t dtype = trace_node(context, node)->dtype;
    if (!unary_takes(op, dtype)) return refuse(context, what, node, "has a dtype without it");
    const node_spec_t spec = {.kind = NODE_UNARY,
                              .op = (int)op,
                              .dtype = dtype,
                              .shape = *trace_node_shape(context, node)};
    return trace_add(context, &spec, &node, ONE);
}

static bool binary_takes(keel_binary_op_t op, keel_dtype_t dtype) {
    switch (op) {
        case KEEL_OP_AND:
        case KEEL_OP_OR:
        case KEEL_OP_XOR:
            return !dtype_is_float(dtype);
        default:
            return dtype != KEEL_BOOL;
    }
}

keel_tensor_t keel_binary_at(keel_caller_t site, keel_binary_op_t op, keel_tensor_t x,
                             keel_tensor_t y) {
    uint32_t nodes[TWO];
    const char *what = (unsigned)op < KEEL_BINARY_OP_COUNT ? binary_names[op] : "an operation";
    keel_context_t *context = ops_begin(site, what, (keel_tensor_t[]){x, y}, TWO, nodes);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)op >= KEEL_BINARY_OP_COUNT)
        return context_fail(context, site, "there is no operation %d of two operands", (int)op);
    if (!meet(context, what, nodes)) return (keel_tensor_t){0};
    keel_dtype_t dtype = trace_node(context, nodes[0])->dtype;
    if (!binary_takes(op, dtype)) return refuse(context, what, nodes[0], "has a dtype without it");
    const node_spec_t spec = {.kind = NODE_BINARY,
                              .op = (int)op,
                              .dtype = dtype,
                              .shape = *trace_node_shape(context, nodes[0])};
    return trace_add(context, &spec, nodes, TWO);
}

keel_tensor_t keel_compare_at(keel_caller_t site, keel_compare_op_t op, keel_tensor_t x,
                              keel_tensor_t y) {
    uint32_t nodes[TWO];
    const char *what = (unsigned)op < KEEL_COMPARE_OP_COUNT ? compare_names[op] : "an operation";
    keel_context_t *context = ops_begin(site, what, (keel_tensor_t[]){x, y}, TWO, nodes);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)op >= KEEL_COMPARE_OP_COUNT)
        return context_fail(context, site, "there is no comparison %d", (int)op);
    if (!meet(context, what, nodes)) return (keel_tensor_t){0};
    const node_spec_t spec = {.kind = NODE_COMPARE,
                              .op = (int)op,
                              .dtype = KEEL_BOOL,
                              .shape = *trace_node_shape(context, nodes[0])};
    return trace_add(context, &spec, nodes, TWO);
}

keel_tensor_t keel_select_at(keel_caller_t site, keel_tensor_t mask, keel_tensor_t x,
                             keel_tensor_t y) {
    uint32_t nodes[THREE];
    keel_context_t *context =
        ops_begin(site, "select", (keel_tensor_t[]){mask, x, y}, THREE, nodes);
    if (!context) return (keel_tensor_t){0};
    if (trace_node(context, nodes[0])->dtype != KEEL_BOOL)
        return refuse(context, "select", nodes[0], "is no mask: its dtype is not bool");
    if (!meet(context, "select", nodes + 1)) return (keel_tensor_t){0};
    keel_shape_t shape;
    if (!shape_broadcast(trace_node_shape(context, nodes[0]), trace_node_shape(context, nodes[1]),
                         &shape))
        return refuse_two(context, "select", nodes[0], nodes[1], "do not broadcast");
    for (int i = 0; i < THREE; ++i) {
        keel_tensor_t result = broadcast(context, nodes[i], &shape);
        if (!result.context) return result;
        nodes[i] = result.id;
    }
    const node_spec_t spec = {
        .kind = NODE_SELECT, .dtype = trace_node(context, nodes[1])->dtype, .shape = shape};
    return trace_add(context, &spec, nodes, THREE);
}

keel_tensor_t keel_cast_at(keel_caller_t site, keel_tensor_t x, keel_dtype_t dtype) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, "cast", &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    if ((unsigned)dtype >= KEEL_DTYPE_COUNT)
        return context_fail(context, site, "cast: there is no dtype %d", (int)dtype);
    return convert(context, node, dtype);
}

keel_tensor_t keel_stop_gradient_at(keel_caller_t site, keel_tensor_t x) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, "stop_gradient", &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    const node_spec_t spec = {.kind = NODE_STOP,
                              .dtype = trace_node(context, node)->dtype,
                              .shape = *trace_node_shape(context, node)};
    return trace_add(context, &spec, &node, ONE);
}

// ---- shapes ------------------------------------------------------------------------------------

keel_tensor_t keel_broadcast_at(keel_caller_t site, keel_tensor_t x, keel_shape_t shape) {
    uint32_t node;
    char text[SHAPE_TEXT];
    keel_shape_t result;
    keel_context_t *context = ops_begin(site, "broadcast", &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    int64_t elements;
    bool is_good = shape_elements(&shape, &elements) &&
                   shape_broadcast(trace_node_shape(context, node), &shape, &result) &&
                   shape_equal(&result, &shape);
    if (is_good) return broadcast(context, node, &shape);
    return context_fail(
        context, site, "broadcast: %s does not broadcast to %s", describe(context, node, text),
        shape_text(trace_node(context, node)->dtype, &shape, (char[SHAPE_TEXT]){0}));
}

keel_tensor_t keel_reshape_at(keel_caller_t site, keel_tensor_t x, keel_shape_t shape) {
    uint32_t node;
    int64_t from, to;
    char text[SHAPE_TEXT], other[SHAPE_TEXT];
    keel_context_t *context = ops_begin(site, "reshape", &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    keel_dtype_t dtype = trace_node(context, node)->dtype;
    shape_elements(trace_node_shape(context, node), &from);
    if (!shape_elements(&shape, &to) || from != to)
        return context_fail(context, site, "reshape: %s and %s have different numbers of elements",
                            describe(context, node, text), shape_text(dtype, &shape, other));
    if (shape_equal(&shape, trace_node_shape(context, node))) return tensor_of(context, node);
    const node_spec_t spec = {.kind = NODE_RESHAPE, .dtype = dtype, .shape = shape};
    return trace_add(context, &spec, &node, ONE);
}

keel_tensor_t keel_transpose_at(keel_caller_t site, keel_tensor_t x, keel_axes_t order) {
    uint32_t node;
    int32_t sorted[KEEL_MAX_RANK];
    keel_context_t *context = ops_begin(site, "transpose", &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t from = *trace_node_shape(context, node);
    if (order.count != from.rank || !axes_resolve(&order, from.rank, sorted))
        return refuse(context, "transpose", node, "needs each of its axes once");
    node_spec_t spec = {.kind = NODE_TRANSPOSE,
                        .dtype = trace_node(context, node)->dtype,
                        .shape = {.rank = from.rank},
                        .words = order.items,
                        .word_count = (uint32_t)from.rank};
    for (int32_t i = 0; i < from.rank; ++i) {
        if (order.items[i] < 0) order.items[i] += from.rank;
        spec.shape.dims[i] = from.dims[order.items[i]];
    }
    return trace_add(context, &spec, &node, ONE);
}

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
    keel_context_t *context = ops_begin(site, what, &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t from = *trace_node_shape(context, node);
    keel_dtype_t dtype = trace_node(context, node)->dtype;
    if ((unsigned)op >= KEEL_REDUCE_OP_COUNT)
        return context_fail(context, site, "there is no reduction %d", (int)op);
    if (!axes_resolve(&axes, from.rank, sorted))
        return refuse(context, what, node, "does not have these axes, each once");
    if (dtype == KEEL_BOOL) return refuse(context, what, node, "is bool; keel_cast it");
    if (!axes.count) return tensor_of(context, node);
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
    return trace_add(context, &spec, &node, ONE);
}

keel_tensor_t keel_slice_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t from,
                            int64_t to) {
    uint32_t node;
    int32_t place;
    keel_context_t *context = ops_begin(site, "slice", &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    node_spec_t spec = {.kind = NODE_SLICE,
                        .dtype = trace_node(context, node)->dtype,
                        .shape = *trace_node_shape(context, node),
                        .word_count = 3};
    if (!axis_resolve(axis, spec.shape.rank, &place))
        return refuse(context, "slice", node, "does not have this axis");
    if (from < 0 || to < from || to > spec.shape.dims[place]) {
        char text[SHAPE_TEXT];
        return context_fail(context, site, "slice: [%lld, %lld) is not in axis %d of %s",
                            (long long)from, (long long)to, place, describe(context, node, text));
    }
    const int64_t words[] = {place, from, to};
    spec.words = words;
    spec.shape.dims[place] = to - from;
    return trace_add(context, &spec, &node, ONE);
}

keel_tensor_t keel_pad_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t before,
                          int64_t after) {
    uint32_t node;
    int32_t place;
    keel_context_t *context = ops_begin(site, "pad", &x, ONE, &node);
    if (!context) return (keel_tensor_t){0};
    node_spec_t spec = {.kind = NODE_PAD,
                        .dtype = trace_node(context, node)->dtype,
                        .shape = *trace_node_shape(context, node),
                        .word_count = 3};
    if (!axis_resolve(axis, spec.shape.rank, &place))
        return refuse(context, "pad", node, "does not have this axis");
    int64_t size = spec.shape.dims[place];
    if (before < 0 || after < 0 || __builtin_add_overflow(size, before, &size) ||
        __builtin_add_overflow(size, after, &size))
        return refuse(context, "pad", node, "cannot be padded by so much");
    const int64_t words[] = {place, before, after};
    spec.words = words;
    spec.shape.dims[place] = size;
    return trace_add(context, &spec, &node, ONE);
}

keel_tensor_t keel_concatenate_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y, int axis) {
    uint32_t nodes[TWO];
    int32_t place;
    keel_context_t *context = ops_begin(site, "concatenate", (keel_tensor_t[]){x, y}, TWO, nodes);
    if (!context) return (keel_tensor_t){0};
    keel_shape_t shape = *trace_node_shape(context, nodes[0]);
    keel_shape_t other = *trace_node_shape(context, nodes[1]);
    keel_dtype_t dtype = trace_node(context, nodes[0])->dtype;
    if (!axis_resolve(axis, shape.rank, &place))
        return refuse(context, "concatenate", nodes[0], "does not have this axis");
    int64_t first = shape.dims[place], second = other.rank > place ? other.dims[place] : 0, sum;
    shape.dims[place] = second;
    if (dtype != trace_node(context, nodes[1])->dtype || !shape_equal(&shape, &other) ||
        __builtin_add_overflow(first, second, &sum))
        return refuse_two(context, "concatenate", nodes[0], nodes[1],
                          "differ in dtype, or in more than the size of that axis");
    shape.dims[place] = sum;
    const int64_t words[] = {place};
    const node_spec_t spec = {
        .kind = NODE_JOIN, .dtype = dtype, .shape = shape, .words = words, .word_count = 1};
    return trace_add(context, &spec, nodes, TWO);
}

// ---- products ----------------------------------------------------------------------------------

static bool dot_axes(const keel_context_t *context, const uint32_t nodes[2], keel_axes_t *x,
                     keel_axes_t *y, bool taken[2][KEEL_MAX_RANK]) {
    const keel_shape_t *a = trace_node_shape(context, nodes[0]);
    const keel_shape_t *b = trace_node_shape(context, nodes[1]);
    if (x->count != y->count || x->count < 0 || x->count > KEEL_MAX_RANK) return false;
    for (int32_t i = 0; i < x->count; ++i) {
        int32_t of_x, of_y;
        if (!axis_resolve(x->items[i], a->rank, &of_x) || taken[0][of_x] ||
            !axis_resolve(y->items[i], b->rank, &of_y) || taken[1][of_y] ||
            a->dims[of_x] != b->dims[of_y])
            return false;
        taken[0][of_x] = taken[1][of_y] = true;
        x->items[i] = of_x;
        y->items[i] = of_y;
    }
    return true;
}

static void add_words(int64_t *words, uint32_t *count, const keel_axes_t *x, const keel_axes_t *y) {
    words[(*count)++] = x->count;
    for (int32_t i = 0; i < x->count; ++i)
        words[(*count)++] = x->items[i];
    for (int32_t i = 0; i < y->count; ++i)
        words[(*count)++] = y->items[i];
}

static bool add_dims(keel_shape_t *out, const keel_shape_t *from, const bool *taken) {
    for (int32_t i = 0; i < from->rank; ++i) {
        if (taken[i]) continue;
        if (out->rank == KEEL_MAX_RANK) return false;
        out->dims[out->rank++] = from->dims[i];
    }
    return true;
}

static keel_tensor_t dot(keel_context_t *context, const char *what, uint32_t nodes[2],
                         keel_axes_t batch_x, keel_axes_t batch_y, keel_axes_t sum_x,
                         keel_axes_t sum_y) {
    bool taken[2][KEEL_MAX_RANK] = {{false}};
    int64_t words[4 * KEEL_MAX_RANK + 2];
    keel_dtype_t dtype;
    node_spec_t spec = {.kind = NODE_DOT, .words = words};
    if (!dtype_promote(trace_node(context, nodes[0])->dtype, trace_node(context, nodes[1])->dtype,
                       &dtype) ||
        dtype == KEEL_BOOL)
        return refuse_two(context, what, nodes[0], nodes[1],
                          "have no common dtype; keel_cast one of them");
    if (!dot_axes(context, nodes, &batch_x, &batch_y, taken) ||
        !dot_axes(context, nodes, &sum_x, &sum_y, taken))
        return refuse_two(context, what, nodes[0], nodes[1],
                          "do not fit: paired axes must exist once and have one size");
    for (int32_t i = 0; i < batch_x.count; ++i)
        spec.shape.dims[spec.shape.rank++] =
            trace_node_shape(context, nodes[0])->dims[batch_x.items[i]];
    if (!add_dims(&spec.shape, trace_node_shape(context, nodes[0]), taken[0]) ||
        !add_dims(&spec.shape, trace_node_shape(context, nodes[1]), taken[1]))
        return refuse_two(context, what, nodes[0], nodes[1], "give more than 8 dimensions");
    add_words(words, &spec.word_count, &batch_x, &batch_y);
    add_words(words, &spec.word_count, &sum_x, &sum_y);
    spec.dtype = dtype;
    for (int i = 0; i < 2; ++i) {
        keel_tensor_t operand = convert(context, nodes[i], dtype);
        if (!operand.context) return operand;
        nodes[i] = operand.id;
    }
    return trace_add(context, &spec, nodes, TWO);
}

keel_tensor_t keel_dot_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y, keel_axes_t batch_x,
                          keel_axes_t batch_y, keel_axes_t sum_x, keel_axes_t sum_y) {
    uint32_t nodes[TWO];
    keel_context_t *context = ops_begin(site, "dot", (keel_tensor_t[]){x, y}, TWO, nodes);
    if (!context) return (keel_tensor_t){0};
    return dot(context, "dot", nodes, batch_x, batch_y, sum_x, sum_y);
}

// The batch dimensions of both, broadcast against each other.
static bool meet_batches(keel_context_t *context, uint32_t nodes[2]) {
    keel_shape_t parts[2], batches;
    for (int i = 0; i < 2; ++i) {
        parts[i] = *trace_node_shape(context, nodes[i]);
        parts[i].rank -= 2;
    }
    if (!parts[1].rank) return true; // one matrix: no batches are needed
    if (!shape_broadcast(&parts[0], &parts[1], &batches)) return false;
    for (int i = 0; i < 2; ++i) {
        const keel_shape_t *own = trace_node_shape(context, nodes[i]);
        keel_shape_t whole = batches;
        whole.dims[whole.rank++] = own->dims[own->rank - 2];
        whole.dims[whole.rank++] = own->dims[own->rank - 1];
        keel_tensor_t result = broadcast(context, nodes[i], &whole);
        if (!result.context) return false;
        nodes[i] = result.id;
    }
    return true;
}

keel_tensor_t keel_matmul_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y) {
    uint32_t nodes[TWO];
    keel_context_t *context = ops_begin(site, "matmul", (keel_tensor_t[]){x, y}, TWO, nodes);
    if (!context) return (keel_tensor_t){0};
    int32_t rank = trace_node_shape(context, nodes[0])->rank;
    if (rank < 2 || trace_node_shape(context, nodes[1])->rank < 2)
        return refuse_two(context, "matmul", nodes[0], nodes[1], "are not both matrices");
    if (!meet_batches(context, nodes))
        return refuse_two(context, "matmul", nodes[0], nodes[1], "have batches that do not fit");
    keel_axes_t batches = {.count = trace_node_shape(context, nodes[1])->rank - 2};
    for (int32_t i = 0; i < batches.count; ++i)
        batches.items[i] = i;
    return dot(context, "matmul", nodes, batches, batches, KEEL_AXES(-1), KEEL_AXES(-2));
}

// ---- rows --------------------------------------------------------------------------------------

keel_tensor_t keel_take_at(keel_caller_t site, keel_tensor_t table, keel_tensor_t rows) {
    uint32_t nodes[TWO];
    keel_context_t *context = ops_begin(site, "take", (keel_tensor_t[]){table, rows}, TWO, nodes);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t *from = trace_node_shape(context, nodes[0]);
    keel_shape_t shape = *trace_node_shape(context, nodes[1]);
    if (!dtype_is_integer(trace_node(context, nodes[1])->dtype))
        return refuse(context, "take", nodes[1], "is no list of rows: its dtype is no integer");
    if (!from->rank || !from->dims[0]) return refuse(context, "take", nodes[0], "has no rows");
    if (shape.rank + from->rank - 1 > KEEL_MAX_RANK)
        return refuse_two(context, "take", nodes[0], nodes[1], "give more than 8 dimensions");
    for (int32_t i = 1; i < from->rank; ++i)
        shape.dims[shape.rank++] = from->dims[i];
    const node_spec_t spec = {
        .kind = NODE_TAKE, .dtype = trace_node(context, nodes[0])->dtype, .shape = shape};
    return trace_add(context, &spec, nodes, TWO);
}

keel_tensor_t ops_put(keel_caller_t site, keel_tensor_t base, keel_tensor_t rows,
                      keel_tensor_t values) {
    uint32_t nodes[THREE];
    keel_context_t *context =
        ops_begin(site, "put", (keel_tensor_t[]){base, rows, values}, THREE, nodes);
    if (!context) return (keel_tensor_t){0};
    const node_spec_t spec = {.kind = NODE_PUT,
                              .dtype = trace_node(context, nodes[0])->dtype,
                              .shape = *trace_node_shape(context, nodes[0])};
    return trace_add(context, &spec, nodes, THREE);
}
