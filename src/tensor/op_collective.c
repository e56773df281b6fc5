// Collectives: devices exchange their parts (op_local.c).
#include "tensor/operation.h"

// The operation at hand.
typedef struct collective_t {
    keel_context_t *context;
    uint32_t node, axes;
    int64_t devices; // of a group
    keel_shape_t shape;
} collective_t;

static bool begin(keel_caller_t site, const char *what, keel_tensor_t x, const char *axes,
                  collective_t *out) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, what, &x, 1, &node);
    if (!context) return false;
    *out = (collective_t){.context = context, .node = node};
    out->shape = *trace_node_shape(context, out->node);
    if (!trace_is_local(&context->trace, out->node)) {
        context_fail(context, site, "%s: it is not the part of one device (keel_local)", what);
        return false;
    }
    if (!mesh_axes(context, what, axes, &out->axes)) return false;
    out->devices = mesh_size(&context->mesh, out->axes);
    return true;
}

static keel_tensor_t collect(const collective_t *c, collective_kind_t op, int64_t argument) {
    const int64_t words[] = {c->axes, argument};
    const node_spec_t spec = {.kind = NODE_COLLECTIVE,
                              .op = (int)op,
                              .dtype = trace_node(c->context, c->node)->dtype,
                              .shape = c->shape,
                              .words = words,
                              .word_count = sizeof words / sizeof *words};
    return trace_add(c->context, &spec, &c->node, 1);
}

static bool find_axis(const collective_t *c, const char *what, int axis, int32_t *out) {
    if (axis_resolve(axis, c->shape.rank, out)) return true;
    context_fail(c->context, c->context->site, "%s: there is no axis %d", what, axis);
    return false;
}

static bool divides(const collective_t *c, const char *what, int32_t axis) {
    char text[SHAPE_TEXT];
    keel_dtype_t dtype = trace_node(c->context, c->node)->dtype;
    if (c->shape.dims[axis] % c->devices == 0) return true;
    context_fail(c->context, c->context->site, "%s: axis %d of %s does not divide into %lld parts",
                 what, axis, shape_text(dtype, &c->shape, text), (long long)c->devices);
    return false;
}

keel_tensor_t keel_all_reduce_at(keel_caller_t site, keel_tensor_t x, keel_reduce_op_t op,
                                 const char *axes) {
    collective_t c;
    if (!begin(site, "all_reduce", x, axes, &c)) return (keel_tensor_t){0};
    keel_dtype_t dtype = (keel_dtype_t)trace_node(c.context, c.node)->dtype;
    if ((unsigned)op > KEEL_OP_MIN || dtype == KEEL_BOOL ||
        (op != KEEL_OP_SUM && dtype_is_complex(dtype)))
        return context_fail(c.context, site, "all_reduce: no such operation on its dtype");
    return collect(&c, COLLECTIVE_ALL_REDUCE, op);
}

keel_tensor_t keel_all_gather_at(keel_caller_t site, keel_tensor_t x, int axis, const char *axes) {
    collective_t c;
    int32_t place;
    if (!begin(site, "all_gather", x, axes, &c) || !find_axis(&c, "all_gather", axis, &place))
        return (keel_tensor_t){0};
    if (c.shape.dims[place] > INT64_MAX / c.devices)
        return context_fail(c.context, site, "all_gather: the result is too large");
    c.shape.dims[place] *= c.devices;
    return collect(&c, COLLECTIVE_ALL_GATHER, place);
}

keel_tensor_t keel_reduce_scatter_at(keel_caller_t site, keel_tensor_t x, int axis,
                                     const char *axes) {
    collective_t c;
    int32_t place;
    if (!begin(site, "reduce_scatter", x, axes, &c) ||
        !find_axis(&c, "reduce_scatter", axis, &place) || !divides(&c, "reduce_scatter", place))
        return (keel_tensor_t){0};
    if (trace_node(c.context, c.node)->dtype == KEEL_BOOL)
        return context_fail(c.context, site, "reduce_scatter: bool cannot be added");
    c.shape.dims[place] /= c.devices;
    return collect(&c, COLLECTIVE_REDUCE_SCATTER, place);
}

keel_tensor_t keel_permute_at(keel_caller_t site, keel_tensor_t x, int64_t by, const char *axes) {
    collective_t c;
    if (!begin(site, "permute", x, axes, &c)) return (keel_tensor_t){0};
    by %= c.devices;
    return collect(&c, COLLECTIVE_PERMUTE, by < 0 ? by + c.devices : by);
}

// [..., n*s, ...] -> [n, ..., s, ...], exchanged along the first axis, which then joins `join`.
static keel_tensor_t exchange(const collective_t *c, keel_caller_t site, keel_tensor_t x,
                              int32_t split, int32_t join, const char *axes) {
    keel_shape_t shape = c->shape;
    keel_axes_t order = {.count = shape.rank + 1, .items = {split}};
    for (int32_t i = shape.rank; i > split; --i)
        shape.dims[i] = shape.dims[i - 1];
    shape.dims[split] = c->devices;
    shape.dims[split + 1] /= c->devices;
    ++shape.rank;
    for (int32_t i = 0, at = 1; i < shape.rank; ++i)
        if (i != split) order.items[at++] = i;
    x = keel_transpose_at(site, keel_reshape_at(site, x, shape), order);
    x = keel_all_to_all_at(site, x, 0, 0, axes);
    for (int32_t i = 0; i <= c->shape.rank; ++i)
        order.items[i] = i < join ? i + 1 : i == join ? 0 : i;
    shape = c->shape;
    shape.dims[split] /= c->devices;
    shape.dims[join] *= c->devices;
    return keel_reshape_at(site, keel_transpose_at(site, x, order), shape);
}

keel_tensor_t keel_all_to_all_at(keel_caller_t site, keel_tensor_t x, int split, int join,
                                 const char *axes) {
    collective_t c;
    int32_t from, to;
    if (!begin(site, "all_to_all", x, axes, &c) || !find_axis(&c, "all_to_all", split, &from) ||
        !find_axis(&c, "all_to_all", join, &to) || !divides(&c, "all_to_all", from))
        return (keel_tensor_t){0};
    if (from == to) return collect(&c, COLLECTIVE_ALL_TO_ALL, from);
    if (c.shape.rank == KEEL_MAX_RANK)
        return context_fail(c.context, site, "all_to_all: of %d dimensions between two axes",
                            KEEL_MAX_RANK);
    return exchange(&c, site, x, from, to, axes);
}

// ---- in HLO ------------------------------------------------------------------------------------

// Groups of devices that differ along the axes alone.
static keel_status_t put_groups(emitter_t *e, fields_t *fields, uint32_t axes, uint32_t *groups,
                                int64_t *ids) {
    const mesh_t *mesh = &e->context->mesh;
    int64_t size = mesh_size(mesh, axes);
    uint32_t count = 0;
    keel_attr_id_t array;
    for (int64_t first = 0; first < mesh->devices; ++first) {
        fields_t group = {0};
        if (!mesh_is_first(mesh, axes, first)) continue;
        for (int64_t i = 0; i < size; ++i)
            ids[i] = first + mesh_member(mesh, axes, i);
        KEEL_TRY(emit_ints(e, &group, "replica_ids", ids, (uint32_t)size));
        KEEL_TRY(emit_close(e, &group, KEEL_RECORD_HLO_MESSAGE, &groups[count++]));
    }
    KEEL_TRY(emit_array(e, groups, count, &array));
    return emit_field(e, fields, "replica_groups", array);
}

// From each device of a group to the one that is `by` further.
static keel_status_t put_pairs(emitter_t *e, fields_t *fields, uint32_t axes, int64_t by,
                               uint32_t *pairs) {
    const mesh_t *mesh = &e->context->mesh;
    int64_t size = mesh_size(mesh, axes);
    uint32_t count = 0;
    keel_attr_id_t array;
    for (int64_t first = 0; first < mesh->devices; ++first)
        for (int64_t i = 0; i < size && mesh_is_first(mesh, axes, first); ++i) {
            fields_t pair = {0};
            KEEL_TRY(emit_int(e, &pair, "source", first + mesh_member(mesh, axes, i)));
            KEEL_TRY(
                emit_int(e, &pair, "target", first + mesh_member(mesh, axes, (i + by) % size)));
            KEEL_TRY(emit_close(e, &pair, KEEL_RECORD_HLO_MESSAGE, &pairs[count++]));
        }
    KEEL_TRY(emit_array(e, pairs, count, &array));
    return emit_field(e, fields, "source_target_pairs", array);
}

// Which devices take part.
static keel_status_t put_devices(emitter_t *e, fields_t *fields, const node_t *node) {
    const int64_t *words = trace_words(&e->context->trace, node);
    uint32_t axes = (uint32_t)words[0];
    size_t devices = (size_t)e->context->mesh.devices;
    void *memory, *ids;
    KEEL_TRY(keel_alloc(devices * sizeof(uint32_t), &memory));
    keel_status_t status = keel_alloc(devices * sizeof(int64_t), &ids);
    if (!status) {
        status = node->op == COLLECTIVE_PERMUTE ? put_pairs(e, fields, axes, words[1], memory)
                                                : put_groups(e, fields, axes, memory, ids);
        keel_free(ids);
    }
    keel_free(memory);
    return status;
}

int emit_collective_reducer(const trace_t *trace, const node_t *node) {
    if (node->op == COLLECTIVE_ALL_REDUCE) return (int)trace_words(trace, node)[1];
    return node->op == COLLECTIVE_REDUCE_SCATTER ? KEEL_OP_SUM : -1;
}

static keel_status_t emit_collective(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    static const char *const names[] = {[COLLECTIVE_ALL_REDUCE] = "all-reduce",
                                        [COLLECTIVE_ALL_GATHER] = "all-gather",
                                        [COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
                                        [COLLECTIVE_ALL_TO_ALL] = "all-to-all",
                                        [COLLECTIVE_PERMUTE] = "collective-permute"};
    const node_t *node = item->node;
    int reducer = emit_collective_reducer(&e->context->trace, node);
    fields_t fields = {0};
    *out = item->operands[0];
    if (e->context->mesh.devices == 1) return NULL;
    bool is_permute = node->op == COLLECTIVE_PERMUTE;
    KEEL_TRY(emit_int(e, &fields, "channel_id", ++e->channels));
    if (!is_permute && node->op != COLLECTIVE_ALL_REDUCE)
        KEEL_TRY(emit_ints(e, &fields, "dimensions", item->words + 1, 1));
    if (reducer >= 0) KEEL_TRY(emit_callee(e, &fields, reducer, node->dtype));
    KEEL_TRY(put_devices(e, &fields, node));
    if (!is_permute && node->op != COLLECTIVE_ALL_TO_ALL)
        KEEL_TRY(emit_flag(e, &fields, "use_global_device_ids"));
    return emit_plain(e, item, names[node->op], &fields, out);
}

// ---- gradients ---------------------------------------------------------------------------------

keel_tensor_t collective_sum(keel_context_t *context, keel_tensor_t x, uint32_t axes) {
    if (!x.context || mesh_size(&context->mesh, axes) == 1) return x;
    const collective_t c = {
        .context = context, .node = x.id, .axes = axes, .shape = *trace_node_shape(context, x.id)};
    return collect(&c, COLLECTIVE_ALL_REDUCE, KEEL_OP_SUM);
}

// Those with the largest or smallest value share it.
static keel_tensor_t unreduce(const rule_t *rule, uint32_t axes) {
    keel_tensor_t x = gradient_operand(rule, 0);
    keel_tensor_t is_it = keel_cast_at(
        rule->site, keel_compare_at(rule->site, KEEL_OP_EQUAL, x, rule->result), keel_dtype(x));
    keel_tensor_t sum = collective_sum(rule->context, rule->gradient, axes);
    keel_tensor_t count = collective_sum(rule->context, is_it, axes);
    return keel_binary_at(rule->site, KEEL_OP_MULTIPLY, is_it,
                          keel_binary_at(rule->site, KEEL_OP_DIVIDE, sum, count));
}

static keel_tensor_t gradient_collective(const rule_t *rule, int which) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    int64_t argument = words[1];
    collective_t c = {.context = rule->context,
                      .node = rule->gradient.id,
                      .axes = (uint32_t)words[0],
                      .shape = keel_shape(gradient_operand(rule, (uint32_t)which))};
    c.devices = mesh_size(&rule->context->mesh, c.axes);
    switch ((collective_kind_t)rule->node.op) {
        case COLLECTIVE_ALL_REDUCE:
            if (argument != KEEL_OP_SUM) return unreduce(rule, c.axes);
            return collective_sum(rule->context, rule->gradient, c.axes);
        case COLLECTIVE_ALL_GATHER:
            return collect(&c, COLLECTIVE_REDUCE_SCATTER, argument);
        case COLLECTIVE_REDUCE_SCATTER:
            return collect(&c, COLLECTIVE_ALL_GATHER, argument);
        case COLLECTIVE_ALL_TO_ALL:
            return collect(&c, COLLECTIVE_ALL_TO_ALL, argument);
        case COLLECTIVE_PERMUTE:
            return collect(&c, COLLECTIVE_PERMUTE, (c.devices - argument) % c.devices);
    }
    return (keel_tensor_t){0};
}

const operation_t operation_collective = {emit_collective, gradient_collective,
                                          SHARDING_OF_OPERANDS};
