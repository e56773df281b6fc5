// What has no operands. Variables, inputs and numbers are parameters already.
#include "tensor/operation.h"

static keel_status_t emit_bits(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    double value;
    memcpy(&value, item->words, sizeof value);
    return emit_constant(e, (keel_dtype_t)item->node->dtype, value, out);
}

const operation_t operation_constant = {emit_bits, NULL, SHARDING_OF_OPERANDS};

static keel_status_t emit_iota(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_listed(e, item, "iota", out);
}

const operation_t operation_iota = {emit_iota, NULL, SHARDING_OF_OPERANDS};
