// What only a compiled program shows: how the compiler shards and lays out parameters and results.
//
// Source: xla/service/hlo.proto (HloModuleProtoWithConfig), xla/xla_data.proto.
#include "signature/internal.h"

// ---- settling ----------------------------------------------------------------------------------

bool keel_signature_is_open(const keel_signature_t *signature) {
    for (uint32_t i = 0; i < signature->result_count; ++i)
        if (!signature->results[i].settled) return true;
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        if (!signature->parameters[i].settled) return true;
    return false;
}

static void guess(keel_array_t *array) {
    if (array->settled) return;
    array->sharding = (keel_bytes_t){NULL, 0};
    array->shard = array->whole;
    array->settled = array->guessed = true;
}

void keel_signature_guess(keel_signature_t *signature) {
    for (uint32_t i = 0; i < signature->result_count; ++i)
        guess(&signature->results[i]);
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        guess(&signature->parameters[i]);
}

bool keel_signature_is_guess(const keel_signature_t *signature, const char **out_what,
                             uint32_t *out_index) {
    *out_what = "result";
    for (*out_index = 0; *out_index < signature->result_count; ++*out_index)
        if (signature->results[*out_index].guessed) return true;
    *out_what = "argument";
    for (*out_index = 0; *out_index < signature->parameter_count; ++*out_index)
        if (signature->parameters[*out_index].guessed) return true;
    return false;
}

static keel_status_t take(keel_signature_t *signature, keel_bytes_t sharding, keel_array_t *array) {
    keel_buffer_t tiles;
    keel_buffer_initialize(&tiles, 0);
    keel_status_t status = keel_sharding_tiles(sharding, array->whole.rank, &tiles);
    if (!status) status = keel_buffer_status(&tiles);
    if (!status) status = signature_keep(signature, keel_buffer_bytes(&tiles), &array->sharding);
    if (!status) status = signature_cut(signature, array);
    keel_buffer_deinitialize(&tiles);
    return status;
}

// What is not understood is a guess, not a failure.
static keel_status_t settle_array(keel_signature_t *signature, keel_bytes_t sharding,
                                  keel_array_t *array) {
    if (array->settled) return NULL;
    keel_status_t status = take(signature, sharding, array);
    if (keel_status_code(status) != KEEL_UNSUPPORTED) {
        array->settled = !status;
        return status;
    }
    keel_status_ignore(status);
    guess(array);
    return NULL;
}

// The module's sharding of its results: a tuple's parts in order, or that of the only result. One
// that is there and says nothing is replicated.
static keel_status_t settle_results(keel_signature_t *signature, keel_bytes_t sharding) {
    enum { TYPE = 1, TUPLE_SHARDINGS = 5, TUPLE = 2 };
    keel_cursor_t cursor = keel_cursor(sharding);
    keel_proto_field_t field;
    uint32_t at = 0;
    bool is_tuple = false;
    while (keel_proto_next(&cursor, &field)) {
        is_tuple |= field.number == TYPE && field.value == TUPLE;
        if (field.number == TUPLE_SHARDINGS && at < signature->result_count)
            KEEL_TRY(settle_array(signature, field.bytes, &signature->results[at++]));
    }
    if (!is_tuple && signature->result_count == 1)
        return settle_array(signature, sharding, &signature->results[0]);
    return NULL;
}

// ---- layouts -----------------------------------------------------------------------------------

enum { PROGRAM_PARAMETERS = 1, PROGRAM_RESULT = 2, SHAPE_TUPLE = 4, SHAPE_LAYOUT = 5 };
enum { LAYOUT_MINOR_TO_MAJOR = 1, LAYOUT_TILES = 6, LAYOUT_ELEMENT_BITS = 7, TILE_DIMS = 1 };

static void put_packed(const keel_proto_field_t *field, keel_buffer_t *out) {
    if (field->wire == KEEL_WIRE_VARINT) {
        keel_buffer_format(out, "%lld", (long long)field->value);
        return;
    }
    keel_cursor_t cursor = keel_cursor(field->bytes);
    for (bool first = true; !cursor.failed && keel_cursor_left(&cursor); first = false)
        keel_buffer_format(out, "%s%lld", first ? "" : ",", (long long)keel_proto_varint(&cursor));
}

// A LayoutProto as HLO writes it: "{1,0:T(8,128)(2,1)}", "{1,0:T(8,128)(8,1)E(4)}".
static keel_status_t write_layout(keel_bytes_t layout, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(layout);
    keel_proto_field_t field, dims;
    bool has_tiles = false;
    int64_t bits = 0;
    keel_buffer_text(out, "{");
    while (keel_proto_next(&cursor, &field))
        if (field.number == LAYOUT_MINOR_TO_MAJOR) put_packed(&field, out);
    cursor = keel_cursor(layout);
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == LAYOUT_ELEMENT_BITS && field.wire == KEEL_WIRE_VARINT)
            bits = (int64_t)field.value;
        if (field.number != LAYOUT_TILES || field.wire != KEEL_WIRE_BYTES) continue;
        keel_buffer_text(out, has_tiles ? "(" : ":T(");
        has_tiles = true;
        keel_cursor_t tile = keel_cursor(field.bytes);
        while (keel_proto_next(&tile, &dims))
            if (dims.number == TILE_DIMS) put_packed(&dims, out);
        keel_buffer_text(out, ")");
    }
    if (bits > 0) keel_buffer_format(out, "%sE(%lld)", has_tiles ? "" : ":", (long long)bits);
    keel_buffer_text(out, "}");
    return keel_buffer_status(out);
}

static keel_status_t take_layout(keel_signature_t *signature, keel_bytes_t shape,
                                 keel_array_t *array) {
    keel_cursor_t cursor = keel_cursor(shape);
    keel_proto_field_t field;
    keel_buffer_t text;
    keel_bytes_t kept;
    keel_status_t status = NULL;
    while (!status && keel_proto_next(&cursor, &field)) {
        if (field.number != SHAPE_LAYOUT || field.wire != KEEL_WIRE_BYTES) continue;
        keel_buffer_initialize(&text, 0);
        status = write_layout(field.bytes, &text);
        if (!status) status = signature_keep(signature, keel_buffer_bytes(&text), &kept);
        if (!status) array->layout = keel_bytes_str(kept);
        keel_buffer_deinitialize(&text);
    }
    return status;
}

// Of the only result, or of each element of a tuple.
static keel_status_t take_result_layouts(keel_signature_t *signature, keel_bytes_t shape) {
    keel_cursor_t cursor = keel_cursor(shape);
    keel_proto_field_t field;
    uint32_t at = 0;
    if (signature->result_count == 1)
        KEEL_TRY(take_layout(signature, shape, &signature->results[0]));
    while (keel_proto_next(&cursor, &field))
        if (field.number == SHAPE_TUPLE && at < signature->result_count)
            KEEL_TRY(take_layout(signature, field.bytes, &signature->results[at++]));
    return NULL;
}

static keel_status_t take_layouts(keel_signature_t *signature, keel_bytes_t program_shape) {
    keel_cursor_t cursor = keel_cursor(program_shape);
    keel_proto_field_t field;
    uint32_t at = 0;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == PROGRAM_PARAMETERS && at < signature->parameter_count)
            KEEL_TRY(take_layout(signature, field.bytes, &signature->parameters[at++]));
        if (field.number == PROGRAM_RESULT) KEEL_TRY(take_result_layouts(signature, field.bytes));
    }
    return NULL;
}

// ---- all together ------------------------------------------------------------------------------

keel_status_t keel_signature_settle(keel_signature_t *signature, keel_bytes_t module,
                                    bool with_config) {
    enum { HLO_MODULE = 1, CONFIG = 2, CONFIG_LAYOUT = 1, RESULTS = 12, PARAMETERS = 14 };
    keel_cursor_t cursor = keel_cursor(module);
    keel_proto_field_t field;
    keel_bytes_t config = {NULL, 0};
    while (with_config && keel_proto_next(&cursor, &field)) {
        if (field.number == HLO_MODULE && field.wire == KEEL_WIRE_BYTES) module = field.bytes;
        if (field.number == CONFIG && field.wire == KEEL_WIRE_BYTES) config = field.bytes;
    }
    if (cursor.failed) return keel_status_make(KEEL_CORRUPT, "the optimized module is damaged");
    cursor = keel_cursor(config);
    while (keel_proto_next(&cursor, &field))
        if (field.number == CONFIG_LAYOUT && field.wire == KEEL_WIRE_BYTES)
            KEEL_TRY(take_layouts(signature, field.bytes));
    uint32_t at = 0;
    cursor = keel_cursor(module);
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == RESULTS && field.wire == KEEL_WIRE_BYTES)
            KEEL_TRY(settle_results(signature, field.bytes));
        if (field.number == PARAMETERS && at < signature->parameter_count)
            KEEL_TRY(settle_array(signature, field.bytes, &signature->parameters[at++]));
    }
    if (cursor.failed) return keel_status_make(KEEL_CORRUPT, "the optimized module is damaged");
    keel_signature_guess(signature);
    return NULL;
}
