// The protobuf wire format, read field by field without a schema.
// Source: protobuf.dev, "Encoding". Groups (wire types 3 and 4) are refused: proto3 has none.
#ifndef KEEL_BASE_PROTO_H_
#define KEEL_BASE_PROTO_H_

#include "base/cursor.h"

typedef enum keel_wire_type {
    KEEL_WIRE_VARINT = 0,
    KEEL_WIRE_64 = 1,
    KEEL_WIRE_BYTES = 2,
    KEEL_WIRE_32 = 5,
} keel_wire_type_t;

typedef struct keel_proto_field_t {
    uint32_t number;
    keel_wire_type_t wire;
    uint64_t value;     // VARINT, 64, 32
    keel_bytes_t bytes; // BYTES
    keel_bytes_t raw;   // the whole field with its tag, unchanged
} keel_proto_field_t;

// A base-128 varint of at most ten bytes.
uint64_t keel_proto_varint(keel_cursor_t *cursor);

// Reads the next field; false at the end or on failure (check cursor->failed).
bool keel_proto_next(keel_cursor_t *cursor, keel_proto_field_t *out);

#endif // KEEL_BASE_PROTO_H_
