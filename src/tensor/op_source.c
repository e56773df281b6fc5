// What has no operands. Variables, inputs and numbers are parameters already.
#include "tensor/operation.h"

static keel_status_t emit_bits(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    double value;
    memcpy(&value, item->words, sizeof value);
    return emit_constant(e, (keel_dtype_t)item->node->dtype, value, out);
}

const operation_t operation_constant = {emit_bits, NULL, SHARDING_OF_OPERANDS};

static keel_status_t emit_literal(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    fields_t fields = {0};
    uint32_t blob;
    int64_t elements = 0;
    keel_type_id_t type;
    keel_attr_id_t attr;
    const keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    if (!shape_elements(item->shape, &elements)) elements = 0;
    const size_t size = (size_t)elements * keel_dtype_size(dtype);
    KEEL_TRY(emit_tensor_type(e, dtype, item->shape, &type));
    KEEL_TRY(keel_program_add_blob(e->program, keel_bytes(item->words, size), &blob));
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_TENSOR, .a = type, .b = blob}, &attr));
    KEEL_TRY(emit_field(e, &fields, "literal", attr));
    return emit_typed(e, "constant", type, NULL, 0, &fields, out);
}

const operation_t operation_literal = {emit_literal, NULL, SHARDING_OF_OPERANDS};

static keel_status_t emit_iota(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_listed(e, item, "iota", out);
}

const operation_t operation_iota = {emit_iota, NULL, SHARDING_OF_OPERANDS};
