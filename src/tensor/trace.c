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
    KEEL_PUSH(&trace->nodes, node);
    for (uint32_t i = 0; i < count; ++i)
        trace->operands.data[trace->operands.count++] = operands[i];
    for (uint32_t i = 0; i < spec->word_count; ++i)
        trace->words.data[trace->words.count++] = spec->words[i];
    trace->sites.data[trace->sites.count++] = context->site;
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
    keel_status_t status = append(context, spec, operands, count, &node);
    if (status) return context_take(context, context->site, status);
    ++context->figures.operations;
    return (keel_tensor_t){context, node, context->step};
}

void trace_clear(keel_context_t *context) {
    trace_t *trace = &context->trace;
    trace->nodes.count = trace->operands.count = trace->words.count = trace->sites.count = 0;
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
    *trace = (trace_t){0};
}
