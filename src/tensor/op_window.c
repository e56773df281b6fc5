// Windows of a tensor become one element each: pooling. The gradient of a sum is a sum of the same
// kind. That of a maximum goes to the first element of the window that is the largest
// (select-and-scatter), and the gradient of that takes what is there.
#include "tensor/operation.h"
#include "tensor/window.h"

// Words: the size for each dimension, then a window for each.
typedef struct pool_t {
    int32_t rank;
    int64_t sizes[KEEL_MAX_RANK];
    window_t windows[KEEL_MAX_RANK];
} pool_t;
enum { POOL_WORDS = KEEL_MAX_RANK * (1 + WINDOW_WORDS) };

static uint32_t put_words(const pool_t *pool, int64_t words[POOL_WORDS]) {
    memcpy(words, pool->sizes, (size_t)pool->rank * sizeof *words);
    memcpy(words + pool->rank, pool->windows, (size_t)pool->rank * sizeof *pool->windows);
    return (uint32_t)pool->rank * (1 + WINDOW_WORDS);
}

static pool_t read_words(const node_t *node, const int64_t *words) {
    pool_t pool = {.rank = (int32_t)(node->word_count / (1 + WINDOW_WORDS))};
    memcpy(pool.sizes, words, (size_t)pool.rank * sizeof *words);
    memcpy(pool.windows, words + pool.rank, (size_t)pool.rank * sizeof *pool.windows);
    return pool;
}

// It fits.
static keel_tensor_t add_reduction(keel_context_t *context, int op, uint32_t x,
                                   const pool_t *pool) {
    int64_t words[POOL_WORDS];
    node_spec_t spec = {.kind = NODE_WINDOW,
                        .op = op,
                        .dtype = (keel_dtype_t)trace_node(context, x)->dtype,
                        .shape = *trace_node_shape(context, x),
                        .words = words,
                        .word_count = put_words(pool, words)};
    for (int32_t i = 0; i < pool->rank; ++i)
        spec.shape.dims[i] = window_count(&pool->windows[i], spec.shape.dims[i], pool->sizes[i]);
    return trace_add(context, &spec, &x, 1);
}

// ---- the public function ------------------------------------------------------------------------

// All dimensions of x, of which the window is over the last ones.
static bool make_pool(const keel_window_t *window, const keel_shape_t *x, pool_t *out) {
    *out = (pool_t){.rank = x->rank};
    for (int32_t i = 0; i < x->rank; ++i) {
        const int32_t from = i - (x->rank - window->count);
        out->sizes[i] = 1;
        out->windows[i] = (window_t){.stride = 1, .dilation = 1, .x_dilation = 1};
        if (from < 0) continue;
        out->sizes[i] = window_or_one(window->size[from]);
        out->windows[i] = (window_t){.stride = window_or_one(window->stride[from]),
                                     .before = window->before[from],
                                     .after = window->after[from],
                                     .dilation = window_or_one(window->dilation[from]),
                                     .x_dilation = 1};
        if (out->sizes[i] < 1 || out->windows[i].before < 0 || out->windows[i].after < 0 ||
            !window_is_good(&out->windows[i], x->dims[i], out->sizes[i]))
            return false;
    }
    return true;
}

// So many times the start of the reduction along one dimension.
static keel_tensor_t padding(keel_context_t *context, int op, keel_tensor_t x, int32_t axis,
                             int64_t count) {
    const keel_dtype_t dtype = keel_dtype(x);
    keel_shape_t shape = keel_shape(x);
    shape.dims[axis] = count;
    return keel_broadcast_at(context->site, ops_constant(context, dtype, emit_start(op, dtype)),
                             shape);
}

// Of one element each, which XLA crashes on if it has a stride.
static keel_tensor_t pick(keel_context_t *context, int op, keel_tensor_t x, const pool_t *pool) {
    const keel_caller_t site = context->site;
    for (int32_t i = 0; i < pool->rank && x.context; ++i) {
        const window_t *window = &pool->windows[i];
        keel_tensor_t before = padding(context, op, x, i, window->before);
        keel_tensor_t after = padding(context, op, x, i, window->after);
        if (window->before) x = keel_concatenate_at(site, before, x, i);
        if (window->after) x = keel_concatenate_at(site, x, after, i);
        x = keel_stride_at(site, x, i, 0, keel_shape(x).dims[i], window->stride);
    }
    return x;
}

static bool is_of_ones(const pool_t *pool) {
    for (int32_t i = 0; i < pool->rank; ++i)
        if (pool->sizes[i] != 1) return false;
    return true;
}

static const char *pool_name(keel_reduce_op_t op) {
    if (op == KEEL_OP_SUM) return "sum_pool";
    if (op == KEEL_OP_MAX) return "max_pool";
    return op == KEEL_OP_MIN ? "min_pool" : "reduce_window";
}

keel_tensor_t keel_reduce_window_at(keel_caller_t site, keel_reduce_op_t op, keel_tensor_t x,
                                    const keel_window_t *window) {
    site = keel_tensor_part_of(site, pool_name(op));
    uint32_t node;
    pool_t pool;
    keel_context_t *context = ops_begin(site, "reduce_window", &x, 1, &node);
    if (!context) return (keel_tensor_t){0};
    const keel_shape_t *shape = trace_node_shape(context, node);
    if (op != KEEL_OP_SUM && op != KEEL_OP_MAX && op != KEEL_OP_MIN)
        return context_fail(context, site, "reduce_window: reduction %d is not sum, max or min",
                            (int)op);
    if (!ops_is_real(context, node))
        return ops_refuse(context, "reduce_window", node, "is not of integers or floats");
    if (!window || window->count < 0 || window->count > shape->rank)
        return ops_refuse(context, "reduce_window", node,
                          "does not have as many dimensions as the window");
    if (!make_pool(window, shape, &pool))
        return ops_refuse(context, "reduce_window", node,
                          "with a size, stride, padding or dilation that is not possible");
    if (is_of_ones(&pool)) return pick(context, op, ops_tensor(context, node), &pool);
    return add_reduction(context, op, node, &pool);
}

// ---- choosing -----------------------------------------------------------------------------------

// Beside the reducers: of two values, whether the first one is chosen; and of two pairs, that whose
// first value is.
static void chooser_name(int op, keel_dtype_t dtype, const char *what, char out[64]) {
    snprintf(out, 64, "%s_%s_%s", what, op == KEEL_OP_MAX ? "max" : "min", keel_dtype_text(dtype));
}

static keel_status_t is_chosen(emitter_t *e, int op, const keel_value_id_t values[2],
                               keel_value_id_t *out) {
    static const keel_shape_t scalar = {0};
    fields_t fields = {0};
    KEEL_TRY(emit_string(e, &fields, "comparison_direction", op == KEEL_OP_MAX ? "GE" : "LE"));
    return emit_instruction(e, "compare", KEEL_BOOL, &scalar, values, 2, &fields, out);
}

// (x, y) -> whether x; (x, a, y, b) -> (x, a) or (y, b)
static keel_status_t add_chooser(emitter_t *e, int op, keel_dtype_t dtype, bool has_pairs) {
    static const keel_shape_t scalar = {0};
    keel_value_id_t values[4], root;
    keel_type_id_t types[4];
    keel_attr_id_t shape;
    char name[64];
    uint32_t count = has_pairs ? 4 : 2;
    KEEL_TRY(emit_open(e));
    for (uint32_t i = 0; i < count; ++i) {
        KEEL_TRY(emit_tensor_type(e, dtype, &scalar, &types[i]));
        KEEL_TRY(emit_parameter(e, i, dtype, &scalar, NULL, NULL, &values[i]));
    }
    const keel_value_id_t compared[2] = {values[0], values[count / 2]};
    KEEL_TRY(is_chosen(e, op, compared, &root));
    if (has_pairs) {
        keel_value_id_t parts[2];
        for (uint32_t i = 0; i < 2; ++i) {
            const keel_value_id_t operands[3] = {root, values[i], values[2 + i]};
            KEEL_TRY(emit_instruction(e, "select", dtype, &scalar, operands, 3, NULL, &parts[i]));
        }
        KEEL_TRY(emit_tuple(e, parts, 2, &root));
    }
    chooser_name(op, dtype, has_pairs ? "choose" : "is", name);
    return emit_shut(e, name, root, types, count, &shape);
}

keel_status_t emit_choosers(emitter_t *e) {
    bool is_there[2][KEEL_OP_MIN + 1][KEEL_DTYPE_COUNT] = {{{false}}};
    const trace_t *trace = &e->context->trace;
    for (uint32_t i = 0; i < trace->nodes.count; ++i) {
        const node_t *node = &trace->nodes.data[i];
        bool has_pairs = node->kind == NODE_WINDOW_TAKE;
        if (!e->is_needed[i] || (!has_pairs && node->kind != NODE_WINDOW_PUT)) continue;
        bool *known = &is_there[has_pairs][node->op][node->dtype];
        if (*known) continue;
        *known = true;
        KEEL_TRY(add_chooser(e, node->op, (keel_dtype_t)node->dtype, has_pairs));
    }
    return NULL;
}

// ---- in HLO -------------------------------------------------------------------------------------

static keel_status_t put_window(emitter_t *e, const item_t *item, fields_t *fields) {
    const pool_t pool = read_words(item->node, item->words);
    return emit_window(e, fields, pool.windows, pool.sizes, pool.rank);
}

static keel_status_t emit_window_reduce(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    keel_value_id_t operands[2] = {item->operands[0]};
    fields_t fields = {0};
    KEEL_TRY(emit_constant(e, dtype, emit_start(item->node->op, dtype), &operands[1]));
    KEEL_TRY(put_window(e, item, &fields));
    KEEL_TRY(emit_callee(e, &fields, item->node->op, dtype));
    return emit_instruction(e, "reduce-window", dtype, item->shape, operands, 2, &fields, out);
}

// XLA's partitioner loses what overlapping windows put into another part, so the dimensions that
// windows go over are whole on each device there. It decides about the others.
static keel_status_t keep_whole(emitter_t *e, const pool_t *pool, keel_dtype_t dtype,
                                const keel_shape_t *shape, keel_value_id_t *value) {
    char others[64] = "unspecified_dims=[";
    size_t size = strlen(others);
    const size_t begin = size;
    fields_t fields = {0};
    if (e->context->mesh.devices == 1 || e->is_manual) return NULL;
    for (int32_t i = 0; i < pool->rank; ++i)
        if (pool->sizes[i] == 1 && pool->windows[i].stride == 1)
            size += (size_t)snprintf(others + size, sizeof others - size,
                                     size > begin ? ",%d" : "%d", i);
    snprintf(others + size, sizeof others - size, "]");
    KEEL_TRY(emit_sharding(e, &fields, SHARDING_WHOLE, shape->rank));
    KEEL_TRY(emit_string(e, &fields, "custom_call_target", "Sharding"));
    if (size > begin) KEEL_TRY(emit_string(e, &fields, "backend_config", others));
    return emit_instruction(e, "custom-call", dtype, shape, value, 1, &fields, value);
}

static keel_status_t emit_window_put(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    keel_value_id_t operands[3] = {item->operands[0], item->operands[1]};
    char names[2][64];
    fields_t fields = {0};
    const pool_t pool = read_words(item->node, item->words);
    const uint32_t values = trace_operand(e->context, item->node, 1);
    KEEL_TRY(keep_whole(e, &pool, dtype, item->shape, &operands[0]));
    KEEL_TRY(keep_whole(e, &pool, dtype, trace_node_shape(e->context, values), &operands[1]));
    KEEL_TRY(emit_constant(e, dtype, 0, &operands[2]));
    KEEL_TRY(put_window(e, item, &fields));
    chooser_name(item->node->op, dtype, "is", names[0]);
    emit_reducer_name(KEEL_OP_SUM, dtype, names[1]);
    KEEL_TRY(emit_calls(e, &fields, (const char *[]){names[0], names[1]}, 2));
    KEEL_TRY(
        emit_instruction(e, "select-and-scatter", dtype, item->shape, operands, 3, &fields, out));
    return keep_whole(e, &pool, dtype, item->shape, out);
}

static keel_status_t emit_window_take(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    keel_value_id_t operands[4] = {item->operands[0], item->operands[1]}, both;
    keel_type_id_t types[2], type;
    char name[64];
    fields_t fields = {0};
    KEEL_TRY(emit_constant(e, dtype, emit_start(item->node->op, dtype), &operands[2]));
    KEEL_TRY(emit_constant(e, dtype, 0, &operands[3]));
    KEEL_TRY(emit_tensor_type(e, dtype, item->shape, &types[0]));
    types[1] = types[0];
    KEEL_TRY(emit_tuple_type(e, types, 2, &type));
    KEEL_TRY(put_window(e, item, &fields));
    chooser_name(item->node->op, dtype, "choose", name);
    KEEL_TRY(emit_call(e, &fields, name));
    KEEL_TRY(emit_typed(e, "reduce-window", type, operands, 4, &fields, &both));
    return emit_part(e, both, 1, dtype, item->shape, out);
}

// ---- gradients ----------------------------------------------------------------------------------

// Of the windows of operand 0: the same words, another kind.
static keel_tensor_t same_windows(const rule_t *rule, node_kind_t kind, keel_tensor_t values,
                                  const keel_shape_t *shape) {
    keel_context_t *context = rule->context;
    int64_t words[POOL_WORDS];
    keel_tensor_t x = gradient_operand(rule, 0);
    const pool_t pool = read_words(&rule->node, trace_words(&context->trace, &rule->node));
    const node_spec_t spec = {.kind = kind,
                              .op = rule->node.op,
                              .dtype = (keel_dtype_t)rule->node.dtype,
                              .shape = *shape,
                              .words = words,
                              .word_count = put_words(&pool, words)};
    if (!x.context || !values.context) return (keel_tensor_t){0};
    return trace_add(context, &spec, (uint32_t[]){x.id, values.id}, 2);
}

static keel_tensor_t gradient_window(const rule_t *rule, int which) {
    keel_context_t *context = rule->context;
    const keel_shape_t x = keel_shape(gradient_operand(rule, (uint32_t)which));
    const keel_shape_t g = keel_shape(rule->gradient);
    pool_t pool = read_words(&rule->node, trace_words(&context->trace, &rule->node));
    int64_t count;
    if (!shape_elements(&g, &count) || !count || context->error) return (keel_tensor_t){0};
    if (rule->node.op != KEEL_OP_SUM) {
        for (int32_t i = 0; i < pool.rank; ++i)
            if (pool.windows[i].dilation > 1)
                return context_fail(context, rule->site,
                                    "reduce_window: of max and min with dilation there is no "
                                    "gradient");
        return same_windows(rule, NODE_WINDOW_PUT, rule->gradient, &x);
    }
    for (int32_t i = 0; i < pool.rank; ++i)
        pool.windows[i] = window_back(&pool.windows[i], x.dims[i], pool.sizes[i], g.dims[i]);
    return add_reduction(context, KEEL_OP_SUM, rule->gradient.id, &pool);
}

// What is chosen does not change: only the values that were put, or taken, have a gradient.
static keel_tensor_t gradient_window_put(const rule_t *rule, int which) {
    if (!which) return (keel_tensor_t){0};
    const keel_shape_t values = keel_shape(gradient_operand(rule, 1));
    return same_windows(rule, NODE_WINDOW_TAKE, rule->gradient, &values);
}

static keel_tensor_t gradient_window_take(const rule_t *rule, int which) {
    if (!which) return (keel_tensor_t){0};
    const keel_shape_t x = keel_shape(gradient_operand(rule, 0));
    return same_windows(rule, NODE_WINDOW_PUT, rule->gradient, &x);
}

const operation_t operation_window = {emit_window_reduce, gradient_window, SHARDING_OF_OPERANDS};
const operation_t operation_window_put = {emit_window_put, gradient_window_put,
                                          SHARDING_OF_OPERANDS};
const operation_t operation_window_take = {emit_window_take, gradient_window_take,
                                           SHARDING_OF_OPERANDS};
