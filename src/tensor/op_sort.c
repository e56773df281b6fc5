// Sorting. The last operand and result of a sort is the place that an element had, so that a
// gradient finds its way back; XLA drops it if nothing needs it.
#include <math.h>

#include "tensor/operation.h"

enum { SORT_AXIS, SORT_WORDS };

static void clear(keel_tensor_t *out, size_t count) {
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
}

// ---- public functions ---------------------------------------------------------------------------

static bool can_sort(keel_context_t *context, const uint32_t *nodes, uint32_t count, int axis,
                     int32_t *place) {
    if (!axis_resolve(axis, trace_node_shape(context, nodes[0])->rank, place))
        ops_refuse(context, "sort", nodes[0], "does not have this axis");
    else if (trace_node_shape(context, nodes[0])->dims[*place] > INT32_MAX)
        ops_refuse(context, "sort", nodes[0], "is too long along this axis");
    else if (dtype_is_complex(trace_node(context, nodes[0])->dtype))
        ops_refuse(context, "sort", nodes[0], "is complex, which has no order");
    for (uint32_t i = 1; i < count && !context->error; ++i)
        if (!shape_equal(trace_node_shape(context, nodes[0]), trace_node_shape(context, nodes[i])))
            ops_refuse_two(context, "sort", nodes[0], nodes[i], "differ in shape");
    return !context->error;
}

// `nodes` and `out` have room for one more than `count`: the order.
static void sort(keel_context_t *context, keel_order_t order, uint32_t *nodes, uint32_t count,
                 int32_t axis, keel_tensor_t *out) {
    result_t results[KEEL_SORT_LIMIT + 1];
    const keel_shape_t shape = *trace_node_shape(context, nodes[0]);
    const int64_t words[SORT_WORDS] = {axis};
    keel_tensor_t places = keel_iota_at(context->site, context, KEEL_I32, shape, axis);
    if (!places.context) return;
    nodes[count] = places.id;
    for (uint32_t i = 0; i <= count; ++i)
        results[i] = region_node_type(context, nodes[i]);
    const node_spec_t spec = {
        .kind = NODE_SORT, .op = (int)order, .words = words, .word_count = SORT_WORDS};
    trace_add_tuple(context, &spec, nodes, count + 1, results, count + 1, out);
}

void keel_sort_together_at(keel_caller_t site, const keel_tensor_t *x, size_t count, int axis,
                           keel_order_t order, keel_tensor_t *out, keel_tensor_t *out_order) {
    site = keel_tensor_part_of(site, "sort_together");
    uint32_t nodes[KEEL_SORT_LIMIT + 1];
    keel_tensor_t results[KEEL_SORT_LIMIT + 1] = {{0}};
    int32_t place;
    clear(out, count);
    clear(out_order, 1);
    if (!x || !count) return;
    bool has_room = count <= KEEL_SORT_LIMIT;
    keel_context_t *context = ops_begin(site, "sort", x, (uint32_t)(has_room ? count : 1), nodes);
    if (!context) return;
    if (!has_room)
        context_fail(context, site, "sort: %zu tensors; it takes %d", count, KEEL_SORT_LIMIT);
    else if ((unsigned)order > KEEL_DESCENDING)
        context_fail(context, site, "sort: there is no order %d", (int)order);
    else if (can_sort(context, nodes, (uint32_t)count, axis, &place))
        sort(context, order, nodes, (uint32_t)count, place, results);
    for (size_t i = 0; out && has_room && i < count; ++i)
        out[i] = results[i];
    if (out_order && has_room) *out_order = results[count];
}

keel_tensor_t keel_sort_at(keel_caller_t site, keel_tensor_t x, int axis, keel_order_t order) {
    site = keel_tensor_part_of(site, "sort");
    keel_tensor_t sorted;
    keel_sort_together_at(site, &x, 1, axis, order, &sorted, NULL);
    return sorted;
}

keel_tensor_t keel_argsort_at(keel_caller_t site, keel_tensor_t x, int axis, keel_order_t order) {
    site = keel_tensor_part_of(site, "argsort");
    keel_tensor_t places;
    keel_sort_together_at(site, &x, 1, axis, order, NULL, &places);
    return places;
}

void keel_top_k_at(keel_caller_t site, keel_tensor_t x, int64_t k, keel_tensor_t *out,
                   keel_tensor_t *out_indices) {
    site = keel_tensor_part_of(site, "top_k");
    keel_tensor_t values = {0}, places = {0};
    keel_sort_together_at(site, &x, 1, -1, KEEL_DESCENDING, &values, &places);
    if (values.context) {
        const keel_shape_t shape = keel_shape(x);
        int64_t size = shape.dims[shape.rank - 1];
        if (k < 0 || k > size) {
            char text[SHAPE_TEXT];
            context_fail(x.context, site,
                         "top_k: there are no %lld elements along the last axis "
                         "of %s",
                         (long long)k, shape_text(keel_dtype(x), &shape, text));
            k = 0;
        }
        values = keel_slice_at(site, values, -1, 0, k);
        places = keel_slice_at(site, places, -1, 0, k);
    }
    if (out) *out = values;
    if (out_indices) *out_indices = places;
}

// ---- the comparison -----------------------------------------------------------------------------

static void comparator_name(const emitter_t *e, const node_t *node, char out[256]) {
    const uint32_t *operands = trace_operands(&e->context->trace, node);
    int size = snprintf(out, 256, "%s", node->op == KEEL_DESCENDING ? "descending" : "ascending");
    for (uint32_t i = 0; i < node->operand_count; ++i)
        size += snprintf(out + size, 256 - (size_t)size, "_%s",
                         keel_dtype_text((keel_dtype_t)trace_node(e->context, operands[i])->dtype));
}

// All NaNs are equal, and so are zeros.
static keel_status_t canonical(emitter_t *e, keel_dtype_t dtype, keel_value_id_t *value) {
    static const keel_shape_t scalar = {0};
    static const struct {
        const char *direction;
        double instead;
    } rules[] = {{"EQ", 0}, {"NE", NAN}};
    for (size_t i = 0; i < 2; ++i) {
        fields_t fields = {0};
        keel_value_id_t other = *value, operands[3];
        if (!i) KEEL_TRY(emit_constant(e, dtype, 0, &other)); // x == 0; x != x
        const keel_value_id_t compared[2] = {*value, other};
        KEEL_TRY(emit_string(e, &fields, "comparison_direction", rules[i].direction));
        KEEL_TRY(
            emit_instruction(e, "compare", KEEL_BOOL, &scalar, compared, 2, &fields, &operands[0]));
        KEEL_TRY(emit_constant(e, dtype, rules[i].instead, &operands[1]));
        operands[2] = *value;
        KEEL_TRY(emit_instruction(e, "select", dtype, &scalar, operands, 3, NULL, value));
    }
    return NULL;
}

static keel_status_t compare_first(emitter_t *e, const node_t *node, keel_value_id_t values[2],
                                   keel_value_id_t *out) {
    static const keel_shape_t scalar = {0};
    keel_dtype_t dtype =
        (keel_dtype_t)trace_node(e->context, trace_operand(e->context, node, 0))->dtype;
    bool is_small = dtype_is_float(dtype) && dtype < KEEL_F32;
    fields_t fields = {0};
    for (int i = 0; i < 2; ++i) {
        if (is_small)
            KEEL_TRY(
                emit_instruction(e, "convert", KEEL_F32, &scalar, &values[i], 1, NULL, &values[i]));
        if (dtype_is_float(dtype)) KEEL_TRY(canonical(e, is_small ? KEEL_F32 : dtype, &values[i]));
    }
    KEEL_TRY(
        emit_string(e, &fields, "comparison_direction", node->op == KEEL_DESCENDING ? "GT" : "LT"));
    if (dtype_is_float(dtype)) KEEL_TRY(emit_string(e, &fields, "comparison_type", "TOTALORDER"));
    return emit_instruction(e, "compare", KEEL_BOOL, &scalar, values, 2, &fields, out);
}

// (x0, y0, x1, y1, ...) -> whether x0 comes before y0
static keel_status_t add_comparator(emitter_t *e, const node_t *node, const char *name) {
    static const keel_shape_t scalar = {0};
    const uint32_t *operands = trace_operands(&e->context->trace, node);
    keel_value_id_t values[2 * (KEEL_SORT_LIMIT + 1)], root;
    keel_type_id_t types[2 * (KEEL_SORT_LIMIT + 1)];
    keel_attr_id_t shape;
    uint32_t count = 2 * node->operand_count;
    KEEL_TRY(emit_open(e));
    for (uint32_t i = 0; i < count; ++i) {
        keel_dtype_t dtype = (keel_dtype_t)trace_node(e->context, operands[i / 2])->dtype;
        KEEL_TRY(emit_tensor_type(e, dtype, &scalar, &types[i]));
        KEEL_TRY(emit_parameter(e, i, dtype, &scalar, NULL, NULL, &values[i]));
    }
    KEEL_TRY(compare_first(e, node, values, &root));
    return emit_shut(e, name, root, types, count, &shape);
}

static keel_status_t add_comparators(emitter_t *e, keel_map_t *names) {
    const trace_t *trace = &e->context->trace;
    for (uint32_t i = 0; i < trace->nodes.count; ++i) {
        const node_t *node = &trace->nodes.data[i];
        char name[256];
        if (node->kind != NODE_SORT || !e->is_needed[i]) continue;
        comparator_name(e, node, name);
        const keel_bytes_t key = keel_bytes(name, strlen(name));
        if (keel_map_find(names, key)) continue;
        KEEL_TRY(keel_map_put(names, key, 1));
        KEEL_TRY(add_comparator(e, node, name));
    }
    return NULL;
}

keel_status_t emit_comparators(emitter_t *e) {
    keel_map_t names;
    keel_map_initialize(&names);
    keel_status_t status = add_comparators(e, &names);
    keel_map_deinitialize(&names);
    return status;
}

// ---- in HLO, and the gradient -------------------------------------------------------------------

static keel_status_t emit_sort(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0};
    char name[256];
    keel_type_id_t type;
    comparator_name(e, item->node, name);
    KEEL_TRY(emit_results_type(e, item->node, &type));
    KEEL_TRY(emit_ints(e, &fields, "dimensions", &item->words[SORT_AXIS], 1));
    KEEL_TRY(emit_flag(e, &fields, "is_stable"));
    KEEL_TRY(emit_call(e, &fields, name));
    return emit_typed(e, "sort", type, item->operands, item->node->operand_count, &fields, out);
}

static keel_tensor_t gradient_sort(const rule_t *rule, int which) {
    const uint32_t first = rule->index + 1;
    keel_tensor_t g = reverse_adjoint(rule->reverse, first + (uint32_t)which);
    if (!g.context) return g;
    keel_tensor_t places = reverse_value(rule->reverse, first + rule->node.operand_count - 1);
    int axis = (int)trace_words(&rule->context->trace, &rule->node)[SORT_AXIS];
    keel_tensor_t zeros =
        keel_broadcast_at(rule->site, ops_constant(rule->context, keel_dtype(g), 0), keel_shape(g));
    return keel_put_along_at(rule->site, KEEL_PUT_SET, zeros, places, g, axis);
}

const operation_t operation_sort = {emit_sort, gradient_sort, SHARDING_OF_OPERANDS};
