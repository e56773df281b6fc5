// Products that are summed: keel_dot, keel_matmul; how exact they are.
#include "tensor/operation.h"

// ---- precision ----------------------------------------------------------------------------------

static bool is_precision(keel_context_t *context, keel_caller_t site, const char *what,
                         keel_precision_t precision) {
    if ((unsigned)precision <= KEEL_PRECISION_HIGHEST) return true;
    context_fail(context, site, "%s: there is no precision %d", what, (int)precision);
    return false;
}

void keel_precision_begin_at(keel_caller_t site, keel_context_t *context,
                             keel_precision_t precision) {
    if (!context) return;
    keel_status_t status = keel_table_reserve(&context->precisions, 1);
    if (status) {
        context_take(context, site, status);
        return;
    }
    if (!is_precision(context, site, "precision_begin", precision))
        precision = KEEL_PRECISION_DEFAULT;
    context->precisions.data[context->precisions.count++] = (uint8_t)precision;
}

void keel_precision_end(keel_context_t *context) {
    if (context && context->precisions.count) --context->precisions.count;
}

keel_precision_t ops_precision(const keel_context_t *context) {
    const uint32_t count = context->precisions.count;
    return count ? (keel_precision_t)context->precisions.data[count - 1] : KEEL_PRECISION_DEFAULT;
}

keel_status_t emit_precision(emitter_t *e, const node_t *node, fields_t *fields) {
    fields_t config = {0};
    keel_attr_id_t of[2], array;
    if (node->op == KEEL_PRECISION_DEFAULT) return NULL;
    for (int i = 0; i < 2; ++i)
        KEEL_TRY(keel_program_add_attr(
            e->program,
            (keel_attr_t){.kind = KEEL_ATTR_ENUM, .klass = KEEL_ENUM_PRECISION, .a = node->op},
            &of[i]));
    KEEL_TRY(emit_array(e, of, 2, &array));
    KEEL_TRY(emit_field(e, &config, "operand_precision", array));
    return emit_message(e, fields, "precision_config", &config);
}

// ---- tracing ------------------------------------------------------------------------------------

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
                         keel_axes_t sum_y, keel_product_t product) {
    bool taken[2][KEEL_MAX_RANK] = {{false}};
    int64_t words[4 * KEEL_MAX_RANK + 2];
    keel_dtype_t dtype, larger;
    node_spec_t spec = {.kind = NODE_DOT, .op = (int)product.precision, .words = words};
    if (!is_precision(context, context->site, what, product.precision)) return (keel_tensor_t){0};
    if (spec.op == KEEL_PRECISION_DEFAULT) spec.op = (int)ops_precision(context);
    if (!dtype_promote(trace_node(context, nodes[0])->dtype, trace_node(context, nodes[1])->dtype,
                       &dtype) ||
        dtype == KEEL_BOOL)
        return ops_refuse_two(context, what, nodes[0], nodes[1],
                              "have no common dtype; keel_cast one of them");
    if (!dot_axes(context, nodes, &batch_x, &batch_y, taken) ||
        !dot_axes(context, nodes, &sum_x, &sum_y, taken))
        return ops_refuse_two(context, what, nodes[0], nodes[1],
                              "do not fit: paired axes must exist once and have one size");
    for (int32_t i = 0; i < batch_x.count; ++i)
        spec.shape.dims[spec.shape.rank++] =
            trace_node_shape(context, nodes[0])->dims[batch_x.items[i]];
    if (!add_dims(&spec.shape, trace_node_shape(context, nodes[0]), taken[0]) ||
        !add_dims(&spec.shape, trace_node_shape(context, nodes[1]), taken[1]))
        return ops_refuse_two(context, what, nodes[0], nodes[1], "give more than 8 dimensions");
    add_words(words, &spec.word_count, &batch_x, &batch_y);
    add_words(words, &spec.word_count, &sum_x, &sum_y);
    spec.dtype = product.dtype == KEEL_BOOL ? dtype : product.dtype;
    if ((unsigned)spec.dtype >= KEEL_DTYPE_COUNT || !dtype_promote(dtype, spec.dtype, &larger) ||
        larger != spec.dtype)
        return context_fail(context, context->site,
                            "%s: of %s it gives that or a larger one of its kind, and not %s", what,
                            keel_dtype_text(dtype), keel_dtype_text(spec.dtype));
    for (int i = 0; i < 2; ++i) {
        keel_tensor_t operand = ops_convert(context, nodes[i], dtype);
        if (!operand.context) return operand;
        nodes[i] = operand.id;
    }
    return trace_add(context, &spec, nodes, 2);
}

keel_tensor_t keel_dot_as_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y,
                             keel_axes_t batch_x, keel_axes_t batch_y, keel_axes_t sum_x,
                             keel_axes_t sum_y, keel_product_t product) {
    uint32_t nodes[2];
    site = keel_tensor_part_of(site, "dot_as");
    keel_context_t *context = ops_begin(site, "dot", (keel_tensor_t[]){x, y}, 2, nodes);
    if (!context) return (keel_tensor_t){0};
    return dot(context, "dot", nodes, batch_x, batch_y, sum_x, sum_y, product);
}

keel_tensor_t keel_dot_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y, keel_axes_t batch_x,
                          keel_axes_t batch_y, keel_axes_t sum_x, keel_axes_t sum_y) {
    return keel_dot_as_at(keel_tensor_part_of(site, "dot"), x, y, batch_x, batch_y, sum_x, sum_y,
                          (keel_product_t){0});
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
        keel_tensor_t result = ops_broadcast(context, nodes[i], &whole);
        if (!result.context) return false;
        nodes[i] = result.id;
    }
    return true;
}

keel_tensor_t keel_matmul_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y) {
    return keel_matmul_as_at(keel_tensor_part_of(site, "matmul"), x, y, (keel_product_t){0});
}

keel_tensor_t keel_matmul_as_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t y,
                                keel_product_t product) {
    uint32_t nodes[2];
    site = keel_tensor_part_of(site, "matmul_as");
    keel_context_t *context = ops_begin(site, "matmul", (keel_tensor_t[]){x, y}, 2, nodes);
    if (!context) return (keel_tensor_t){0};
    int32_t rank = trace_node_shape(context, nodes[0])->rank;
    if (rank < 2 || trace_node_shape(context, nodes[1])->rank < 2)
        return ops_refuse_two(context, "matmul", nodes[0], nodes[1], "are not both matrices");
    if (!meet_batches(context, nodes))
        return ops_refuse_two(context, "matmul", nodes[0], nodes[1],
                              "have batches that do not fit");
    keel_axes_t batches = {.count = trace_node_shape(context, nodes[1])->rank - 2};
    for (int32_t i = 0; i < batches.count; ++i)
        batches.items[i] = i;
    return dot(context, "matmul", nodes, batches, batches, KEEL_AXES(-1), KEEL_AXES(-2), product);
}

// Axes of one operand: its batches, and what is summed.
typedef struct paired_t {
    int64_t batches[KEEL_MAX_RANK], sums[KEEL_MAX_RANK];
    uint32_t batch_count, sum_count;
} paired_t;

static paired_t read_numbers(const int64_t *words, int which) {
    paired_t numbers = {.batch_count = (uint32_t)words[0]};
    const int64_t *batches = words + 1, *sums = batches + 2 * (size_t)numbers.batch_count + 1;
    numbers.sum_count = (uint32_t)sums[-1];
    for (uint32_t i = 0; i < numbers.batch_count; ++i)
        numbers.batches[i] = batches[(uint32_t)which * numbers.batch_count + i];
    for (uint32_t i = 0; i < numbers.sum_count; ++i)
        numbers.sums[i] = sums[(uint32_t)which * numbers.sum_count + i];
    return numbers;
}

// The batches first, then the other axes in their order. False if they are so already.
static bool lead_with_batches(paired_t *numbers, int32_t rank, int64_t order[KEEL_MAX_RANK]) {
    int64_t places[KEEL_MAX_RANK];
    bool is_taken[KEEL_MAX_RANK] = {false}, is_other = false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < numbers->batch_count; ++i) {
        is_other = is_other || numbers->batches[i] != i;
        is_taken[order[count++] = numbers->batches[i]] = true;
    }
    for (int32_t i = 0; i < rank; ++i)
        if (!is_taken[i]) order[count++] = i;
    for (int32_t i = 0; i < rank; ++i)
        places[order[i]] = i;
    for (uint32_t i = 0; i < numbers->batch_count; ++i)
        numbers->batches[i] = i;
    for (uint32_t i = 0; i < numbers->sum_count; ++i)
        numbers->sums[i] = places[numbers->sums[i]];
    return is_other;
}

// An operand with its batches first. XLA's compilers want it so, and where they transpose it
// themselves, they put what is summed in its place too: a tensor in several products, such as a
// product and its gradients, would then be transposed for each, and so it is once.
static keel_status_t emit_operand(emitter_t *e, const item_t *item, int which, paired_t *numbers,
                                  keel_value_id_t *out) {
    const uint32_t node = trace_operand(e->context, item->node, (uint32_t)which);
    const keel_shape_t from = *trace_node_shape(e->context, node);
    keel_shape_t shape = from;
    int64_t order[KEEL_MAX_RANK];
    fields_t fields = {0};
    *numbers = read_numbers(item->words, which);
    *out = item->operands[which];
    if (!lead_with_batches(numbers, from.rank, order)) return NULL;
    for (int32_t i = 0; i < from.rank; ++i)
        shape.dims[i] = from.dims[order[i]];
    KEEL_TRY(emit_ints(e, &fields, "dimensions", order, (uint32_t)from.rank));
    return emit_instruction(e, "transpose", (keel_dtype_t)trace_node(e->context, node)->dtype,
                            &shape, &item->operands[which], 1, &fields, out);
}

static keel_status_t emit_dot(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0}, message = {0};
    keel_value_id_t operands[2];
    paired_t x, y;
    KEEL_TRY(emit_operand(e, item, 0, &x, &operands[0]));
    KEEL_TRY(emit_operand(e, item, 1, &y, &operands[1]));
    KEEL_TRY(emit_ints(e, &message, "lhs_contracting_dimensions", x.sums, x.sum_count));
    KEEL_TRY(emit_ints(e, &message, "rhs_contracting_dimensions", y.sums, y.sum_count));
    KEEL_TRY(emit_ints(e, &message, "lhs_batch_dimensions", x.batches, x.batch_count));
    KEEL_TRY(emit_ints(e, &message, "rhs_batch_dimensions", y.batches, y.batch_count));
    KEEL_TRY(emit_message(e, &fields, "dot_dimension_numbers", &message));
    KEEL_TRY(emit_precision(e, item->node, &fields));
    return emit_instruction(e, "dot", (keel_dtype_t)item->node->dtype, item->shape, operands, 2,
                            &fields, out);
}

// ---- gradient -----------------------------------------------------------------------------------

typedef struct side_t {
    int32_t rank;
    int32_t batches[KEEL_MAX_RANK], sums[KEEL_MAX_RANK], rest[KEEL_MAX_RANK];
    int32_t rest_count;
} side_t;

static void read_side(const rule_t *rule, int which, int32_t *batch_count, int32_t *sum_count,
                      side_t *out) {
    const int64_t *words = trace_words(&rule->context->trace, &rule->node);
    bool taken[KEEL_MAX_RANK] = {false};
    *out = (side_t){.rank = keel_shape(gradient_operand(rule, which)).rank};
    *batch_count = (int32_t)*words++;
    for (int32_t i = 0; i < *batch_count; ++i)
        taken[out->batches[i] = (int32_t)words[which * *batch_count + i]] = true;
    words += 2 * *batch_count;
    *sum_count = (int32_t)*words++;
    for (int32_t i = 0; i < *sum_count; ++i)
        taken[out->sums[i] = (int32_t)words[which * *sum_count + i]] = true;
    for (int32_t i = 0; i < out->rank; ++i)
        if (!taken[i]) out->rest[out->rest_count++] = i;
}

// d dot(x, y): the gradient contracted with the other operand over what is left of that one gives
// [batches, rest of own, sums of other], in an order that is then put right.
static keel_tensor_t gradient_dot(const rule_t *rule, int which) {
    side_t own, other;
    int32_t batch_count, sum_count;
    read_side(rule, which, &batch_count, &sum_count, &own);
    read_side(rule, !which, &batch_count, &sum_count, &other);
    keel_axes_t batch_g = {.count = batch_count}, batch_o = {.count = batch_count};
    keel_axes_t sum_g = {.count = other.rest_count}, sum_o = {.count = other.rest_count};
    for (int32_t i = 0; i < batch_count; ++i) {
        batch_g.items[i] = i;
        batch_o.items[i] = other.batches[i];
    }
    int32_t first = batch_count + (which ? 0 : own.rest_count); // of other's rest in the gradient
    for (int32_t i = 0; i < other.rest_count; ++i) {
        sum_g.items[i] = first + i;
        sum_o.items[i] = other.rest[i];
    }
    const keel_dtype_t dtype = keel_dtype(gradient_operand(rule, which));
    keel_precision_begin_at(rule->site, rule->context, (keel_precision_t)rule->node.op);
    keel_tensor_t product = keel_dot_at(rule->site, rule->gradient, gradient_operand(rule, !which),
                                        batch_g, batch_o, sum_g, sum_o);
    keel_precision_end(rule->context);
    product = keel_cast_at(rule->site, product, dtype);
    // The product's axes: batches, own's rest, then the summed axes in the order of other's axes.
    keel_axes_t order = {.count = own.rank};
    for (int32_t i = 0; i < batch_count; ++i)
        order.items[own.batches[i]] = i;
    for (int32_t i = 0; i < own.rest_count; ++i)
        order.items[own.rest[i]] = batch_count + i;
    for (int32_t i = 0; i < sum_count; ++i) {
        int32_t before = 0;
        for (int32_t k = 0; k < sum_count; ++k)
            before += other.sums[k] < other.sums[i];
        order.items[own.sums[i]] = batch_count + own.rest_count + before;
    }
    return keel_transpose_at(rule->site, product, order);
}

const operation_t operation_dot = {emit_dot, gradient_dot, SHARDING_OF_OPERANDS};
