// The protobuf wire format, read and written field by field without a schema.
// Source: protobuf.dev, "Encoding". Groups (wire types 3 and 4) are refused: proto3 has none.
#ifndef KEEL_BASE_PROTO_H_
#define KEEL_BASE_PROTO_H_

#include "base/buffer.h"
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

// ---- writing -----------------------------------------------------------------------------------

void keel_proto_put_varint(keel_buffer_t *out, uint64_t value);
// A number of type VARINT, 64 or 32, without a tag, as in a run of packed ones.
void keel_proto_put_value(keel_buffer_t *out, keel_wire_type_t wire, uint64_t value);
// A field of such a type.
void keel_proto_put_number(keel_buffer_t *out, uint32_t number, keel_wire_type_t wire,
                           uint64_t value);
void keel_proto_put_bytes(keel_buffer_t *out, uint32_t number, keel_bytes_t bytes);

// A field of type BYTES whose contents are appended between the two calls: a nested message, or a
// run of packed numbers. Close it with what opening it returned.
size_t keel_proto_open(keel_buffer_t *out, uint32_t number);
void keel_proto_close(keel_buffer_t *out, size_t opened);

#endif // KEEL_BASE_PROTO_H_
