// What has no operands. Variables and inputs are parameters already.
#include "tensor/operation.h"

// The element of the numbers of a dtype.
static keel_status_t emit_element(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    keel_dtype_t dtype = (keel_dtype_t)item->node->dtype;
    const keel_shape_t one = KEEL_SHAPE(1), scalar = {0};
    const uint32_t place = e->places[item->node - e->context->trace.nodes.data];
    fields_t fields = {0}, range = {0};
    keel_attr_id_t message, array;
    KEEL_TRY(emit_int(e, &range, "start", place));
    KEEL_TRY(emit_int(e, &range, "limit", (int64_t)place + 1));
    KEEL_TRY(emit_int(e, &range, "stride", 1));
    KEEL_TRY(emit_close(e, &range, KEEL_RECORD_HLO_MESSAGE, &message));
    KEEL_TRY(emit_array(e, &message, 1, &array));
    KEEL_TRY(emit_field(e, &fields, "slice_dimensions", array));
    KEEL_TRY(emit_instruction(e, "slice", dtype, &one, &e->numbers[dtype], 1, &fields, out));
    return emit_instruction(e, "reshape", dtype, &scalar, out, 1, NULL, out);
}

// keel_number passes the text of all its arguments, which commas in brackets do not part.
static const char *last_argument(const char *text) {
    int depth = 0;
    for (const char *at = text + strlen(text); at-- > text;) {
        depth += (strchr(")]}", *at) != NULL) - (strchr("([{", *at) != NULL);
        if (*at == ',' && !depth) return at + 1 + strspn(at + 1, " ");
    }
    return text;
}

// It is named as an argument, which it is to whoever reads the program: "keel_number(rate)".
static keel_status_t emit_number(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    const char *name = e->context->numbers[item->node->dtype].data[item->words[0]].name;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "keel_number(%s)",
                       name && context_is_text(name) ? last_argument(name) : "");
    keel_status_t status = keel_buffer_status(&text);
    e->argument = keel_buffer_cstr(&text);
    if (!status) status = emit_element(e, item, out);
    e->argument = NULL;
    keel_buffer_deinitialize(&text);
    return status;
}

const operation_t operation_number = {emit_number, NULL};

static keel_status_t emit_bits(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    double value;
    memcpy(&value, item->words, sizeof value);
    return emit_constant(e, (keel_dtype_t)item->node->dtype, value, out);
}

const operation_t operation_constant = {emit_bits, NULL};

static keel_status_t emit_iota(emitter_t *e, const item_t *item, keel_value_id_t *out) {
    return emit_listed(e, item, "iota", out);
}

const operation_t operation_iota = {emit_iota, NULL};
