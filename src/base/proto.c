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
