#include "base/proto.h"

uint64_t keel_proto_varint(keel_cursor_t *cursor) {
    if (cursor->at != cursor->end && *cursor->at < 128) return *cursor->at++; // nearly all are
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = keel_cursor_byte(cursor);
        if (cursor->failed) return 0;
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return value;
    }
    keel_cursor_fail(cursor);
    return 0;
}

bool keel_proto_next(keel_cursor_t *cursor, keel_proto_field_t *out) {
    if (cursor->at == cursor->end) return false;
    const uint8_t *start = cursor->at;
    uint64_t tag = keel_proto_varint(cursor);
    *out = (keel_proto_field_t){.number = (uint32_t)(tag >> 3), .wire = tag & 7};
    if (tag >> 3 == 0 || tag >> 3 > 536870911) keel_cursor_fail(cursor);
    switch (out->wire) {
        case KEEL_WIRE_VARINT:
            out->value = keel_proto_varint(cursor);
            break;
        case KEEL_WIRE_64:
            out->value = keel_cursor_u64(cursor);
            break;
        case KEEL_WIRE_32:
            out->value = keel_cursor_u32(cursor);
            break;
        case KEEL_WIRE_BYTES:
            out->bytes = keel_cursor_take(cursor, keel_proto_varint(cursor));
            break;
        default:
            keel_cursor_fail(cursor);
    }
    if (cursor->failed) return false;
    out->raw = keel_bytes(start, (size_t)(cursor->at - start));
    return true;
}

// ---- writing -----------------------------------------------------------------------------------

void keel_proto_put_varint(keel_buffer_t *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        keel_buffer_byte(out, (uint8_t)(value | 0x80));
    keel_buffer_byte(out, (uint8_t)value);
}

static void put_tag(keel_buffer_t *out, uint32_t number, keel_wire_type_t wire) {
    keel_proto_put_varint(out, (uint64_t)number << 3 | wire);
}

void keel_proto_put_value(keel_buffer_t *out, keel_wire_type_t wire, uint64_t value) {
    if (wire == KEEL_WIRE_VARINT)
        keel_proto_put_varint(out, value);
    else if (wire == KEEL_WIRE_64)
        keel_buffer_u64(out, value);
    else
        keel_buffer_u32(out, (uint32_t)value);
}

void keel_proto_put_number(keel_buffer_t *out, uint32_t number, keel_wire_type_t wire,
                           uint64_t value) {
    put_tag(out, number, wire);
    keel_proto_put_value(out, wire, value);
}

void keel_proto_put_bytes(keel_buffer_t *out, uint32_t number, keel_bytes_t bytes) {
    put_tag(out, number, KEEL_WIRE_BYTES);
    keel_proto_put_varint(out, bytes.size);
    keel_buffer_append(out, bytes.data, bytes.size);
}

// The length precedes the contents. Most are below 128, so one byte is kept for it; longer contents
// are moved.
size_t keel_proto_open(keel_buffer_t *out, uint32_t number) {
    put_tag(out, number, KEEL_WIRE_BYTES);
    keel_buffer_byte(out, 0);
    return out->size;
}

void keel_proto_close(keel_buffer_t *out, size_t opened) {
    if (out->failed) return;
    uint64_t size = out->size - opened;
    uint8_t length[10];
    size_t count = 0;
    for (uint64_t rest = size; count == 0 || rest; rest >>= 7)
        length[count++] = (uint8_t)((rest & 0x7f) | (rest >= 0x80 ? 0x80 : 0));
    keel_buffer_append(out, length, count - 1); // room; the bytes themselves do not matter
    if (out->failed) return;
    memmove(out->data + opened + count - 1, out->data + opened, (size_t)size);
    memcpy(out->data + opened - 1, length, count);
}
