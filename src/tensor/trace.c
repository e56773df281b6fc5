#include "tensor/trace.h"

keel_status_t trace_shape(keel_context_t *context, const keel_shape_t *shape, uint32_t *out) {
    keel_bytes_t key = keel_bytes(shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    const uint64_t *known = keel_map_find(&context->shape_ids, key);
    if (known) {
        *out = (uint32_t)*known;
        return NULL;
    }
    *out = context->shapes.count;
    keel_shape_t clean = {.rank = shape->rank};
    memcpy(clean.dims, shape->dims, key.size);
    KEEL_PUSH(&context->shapes, clean);
    return keel_map_put(&context->shape_ids, key, *out);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_node(uint64_t hash, const node_t *node, const uint32_t *operands,
                          const int64_t *words) {
    hash = mix(hash, (uint64_t)node->kind << 24 | (uint64_t)node->op << 16 |
                         (uint64_t)node->dtype << 8 | (uint64_t)node->shape << 32);
    for (uint32_t i = 0; i < node->operand_count; ++i)
        hash = mix(hash, operands[i]);
    for (uint32_t i = 0; i < node->word_count; ++i)
        hash = mix(hash, (uint64_t)words[i]);
    return hash;
}

static keel_status_t append(keel_context_t *context, const node_spec_t *spec,
                            const uint32_t *operands, uint32_t count, uint32_t *out) {
    trace_t *trace = &context->trace;
    node_t node = {.kind = (uint8_t)spec->kind,
                   .op = (uint8_t)spec->op,
                   .dtype = (uint16_t)spec->dtype,
                   .first_operand = trace->operands.count,
                   .operand_count = count,
                   .first_word = trace->words.count,
                   .word_count = spec->word_count};
    KEEL_TRY(trace_shape(context, &spec->shape, &node.shape));
    KEEL_TRY(keel_table_reserve(&trace->operands, count));
    KEEL_TRY(keel_table_reserve(&trace->words, spec->word_count));
    KEEL_TRY(keel_table_reserve(&trace->sites, 1));
    KEEL_TRY(keel_table_reserve(&trace->namings, 1));
    KEEL_TRY(keel_table_reserve(&trace->scopes, 1));
    if (spec->kind == NODE_LOCAL || trace->locals.count)
        KEEL_TRY(local_note(context, spec->kind, operands, count));
    KEEL_PUSH(&trace->nodes, node);
    for (uint32_t i = 0; i < count; ++i)
        trace->operands.data[trace->operands.count++] = operands[i];
    for (uint32_t i = 0; i < spec->word_count; ++i)
        trace->words.data[trace->words.count++] = spec->words[i];
    trace->sites.data[trace->sites.count++] = context->site;
    trace->namings.data[trace->namings.count++] = context->naming;
    bool is_source = spec->kind <= NODE_NUMBER;
    trace->scopes.data[trace->scopes.count++] = is_source ? KEEL_NONE : context->region;
    trace->hash = hash_node(trace->hash, &node, operands, spec->words);
    *out = trace->nodes.count - 1;
    return NULL;
}

keel_tensor_t trace_add(keel_context_t *context, const node_spec_t *spec, const uint32_t *operands,
                        uint32_t count) {
    int64_t elements;
    uint32_t node;
    char text[SHAPE_TEXT];
    if (!shape_elements(&spec->shape, &elements))
        return context_fail(context, context->site, "%s has more elements than fit into memory",
                            shape_text(spec->dtype, &spec->shape, text));
    if (context->trace.locals.count && !local_mix(context, spec->kind, &operands, count))
        return (keel_tensor_t){0};
    keel_status_t status = append(context, spec, operands, count, &node);
    if (status) return context_take(context, context->site, status);
    ++context->figures.operations;
    return (keel_tensor_t){context, node, context->step};
}

// The words of a tuple: its own, and then its results.
static keel_status_t tuple_words(keel_context_t *context, const node_spec_t *spec,
                                 const result_t *results, uint32_t count, int64_t *words) {
    uint32_t shape, used = spec->word_count;
    if (used) memcpy(words, spec->words, used * sizeof *words);
    for (uint32_t i = 0; i < count; ++i) {
        KEEL_TRY(trace_shape(context, &results[i].shape, &shape));
        words[used++] = results[i].dtype;
        words[used++] = shape;
    }
    words[used] = count;
    return NULL;
}

static keel_tensor_t add_tuple(keel_context_t *context, const node_spec_t *spec,
                               const uint32_t *operands, uint32_t count, const result_t *results,
                               uint32_t result_count) {
    void *memory;
    node_spec_t tuple = {.kind = spec->kind,
                         .op = spec->op,
                         .dtype = (keel_dtype_t)DTYPE_TUPLE,
                         .word_count = spec->word_count + 2 * result_count + 1};
    keel_status_t status = keel_alloc(tuple.word_count * sizeof(int64_t), &memory);
    if (status) return context_take(context, context->site, status);
    keel_tensor_t added = {0};
    tuple.words = memory;
    status = tuple_words(context, spec, results, result_count, memory);
    if (status)
        context_take(context, context->site, status);
    else
        added = trace_add(context, &tuple, operands, count);
    keel_free(memory);
    return added;
}

uint32_t trace_add_tuple(keel_context_t *context, const node_spec_t *spec, const uint32_t *operands,
                         uint32_t count, const result_t *results, uint32_t result_count,
                         keel_tensor_t *out) {
    for (uint32_t i = 0; i < result_count; ++i)
        out[i] = (keel_tensor_t){0};
    keel_tensor_t tuple = add_tuple(context, spec, operands, count, results, result_count);
    if (!tuple.context) return KEEL_NONE;
    for (uint32_t i = 0; i < result_count; ++i) {
        const int64_t words[] = {i};
        const node_spec_t part = {.kind = NODE_PART,
                                  .dtype = results[i].dtype,
                                  .shape = results[i].shape,
                                  .words = words,
                                  .word_count = 1};
        out[i] = trace_add(context, &part, &tuple.id, 1);
        if (out[i].context) continue;
        for (uint32_t k = 0; k < i; ++k)
            out[k] = (keel_tensor_t){0};
        return KEEL_NONE;
    }
    return tuple.id;
}

result_t trace_result(const keel_context_t *context, const node_t *tuple, uint32_t which) {
    uint32_t count = trace_result_count(&context->trace, tuple);
    const int64_t *words =
        trace_words(&context->trace, tuple) + tuple->word_count - 1 - 2 * (size_t)(count - which);
    return (result_t){(keel_dtype_t)words[0], context->shapes.data[words[1]]};
}

void trace_clear(keel_context_t *context) {
    trace_t *trace = &context->trace;
    trace->nodes.count = trace->operands.count = trace->words.count = trace->sites.count = 0;
    trace->namings.count = 0;
    trace->scopes.count = trace->locals.count = 0;
    trace->hash = 0;
}

#define SAME(x, y, table)                                                                          \
    ((x)->table.count == (y)->table.count &&                                                       \
     (!(x)->table.count ||                                                                         \
      !memcmp((x)->table.data, (y)->table.data, (x)->table.count * sizeof *(x)->table.data)))

bool trace_equal(const trace_t *x, const trace_t *y) {
    return x->hash == y->hash && SAME(x, y, nodes) && SAME(x, y, operands) && SAME(x, y, words);
}

void trace_deinitialize(trace_t *trace) {
    keel_free(trace->nodes.data);
    keel_free(trace->operands.data);
    keel_free(trace->words.data);
    keel_free(trace->sites.data);
    keel_free(trace->namings.data);
    keel_free(trace->scopes.data);
    keel_free(trace->locals.data);
    *trace = (trace_t){0};
}
