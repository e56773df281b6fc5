// A growable byte buffer with a cap set at creation. Its bytes are always followed by a zero byte.
//
// Errors stick: after the first failed append the buffer no longer changes and every later append
// fails too, so a writer can append freely and check once, with keel_buffer_status.
#ifndef KEEL_BASE_BUFFER_H_
#define KEEL_BASE_BUFFER_H_

#include <stddef.h>

#include "base/bytes.h"
#include "keel/status.h"

typedef struct keel_buffer_t {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t limit;
    bool failed;
} keel_buffer_t;

// `limit` is the most bytes it may hold; 0 means no cap.
void keel_buffer_initialize(keel_buffer_t *buffer, size_t limit);
void keel_buffer_deinitialize(keel_buffer_t *buffer);

void keel_buffer_append(keel_buffer_t *buffer, const void *data, size_t size);
void keel_buffer_byte(keel_buffer_t *buffer, uint8_t byte);
void keel_buffer_text(keel_buffer_t *buffer, const char *text);
void keel_buffer_str(keel_buffer_t *buffer, keel_str_t text);
void keel_buffer_format(keel_buffer_t *buffer, const char *format, ...) KEEL_PRINTF(2, 3);
// Little-endian.
void keel_buffer_u32(keel_buffer_t *buffer, uint32_t value);
void keel_buffer_u64(keel_buffer_t *buffer, uint64_t value);
// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD; controls, and marks that
// turn the order of letters on a terminal, are escaped.
void keel_buffer_json_str(keel_buffer_t *buffer, keel_str_t text);
void keel_buffer_hex(keel_buffer_t *buffer, keel_bytes_t bytes);

// Room for `size` more bytes, which the caller writes at data + size; NULL on failure.
uint8_t *keel_buffer_reserve(keel_buffer_t *buffer, size_t size);

// NULL, or why an append failed.
keel_status_t keel_buffer_status(const keel_buffer_t *buffer) KEEL_MUST_CHECK;

static inline keel_bytes_t keel_buffer_bytes(const keel_buffer_t *buffer) {
    return keel_bytes(buffer->data, buffer->size);
}
// Never NULL.
const char *keel_buffer_cstr(const keel_buffer_t *buffer);

// Hands the bytes to the caller, who frees them with keel_free; the buffer is empty afterwards.
keel_status_t keel_buffer_take(keel_buffer_t *buffer, uint8_t **out,
                               size_t *out_size) KEEL_MUST_CHECK;

#endif // KEEL_BASE_BUFFER_H_
