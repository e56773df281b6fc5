#include "engine/payload.h"

static const char magic[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '1'};

keel_status_t keel_payload_pack(const keel_payload_t *payload, uint8_t **out, size_t *out_size) {
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    keel_buffer_append(&buffer, magic, sizeof magic);
    keel_buffer_u64(&buffer, payload->executable.size);
    keel_buffer_u64(&buffer, payload->format.size);
    keel_buffer_u64(&buffer, payload->program.size);
    keel_buffer_append(&buffer, payload->executable.data, payload->executable.size);
    keel_buffer_str(&buffer, payload->format);
    keel_buffer_append(&buffer, payload->program.data, payload->program.size);
    keel_status_t status = keel_buffer_take(&buffer, out, out_size);
    keel_buffer_deinitialize(&buffer);
    return status;
}

keel_status_t keel_payload_unpack(keel_bytes_t bytes, keel_payload_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_bytes_t head = keel_cursor_take(&cursor, sizeof magic);
    bool known = head.size == sizeof magic && memcmp(head.data, magic, sizeof magic) == 0;
    uint64_t executable = keel_cursor_u64(&cursor);
    uint64_t format = keel_cursor_u64(&cursor);
    uint64_t program = keel_cursor_u64(&cursor);
    out->executable = keel_cursor_take(&cursor, executable);
    out->format = keel_bytes_str(keel_cursor_take(&cursor, format));
    out->program = keel_cursor_take(&cursor, program);
    if (!known || cursor.failed || keel_cursor_left(&cursor) || !out->executable.size)
        return keel_status_make(KEEL_CORRUPT, "an entry's payload is not one that Keel wrote");
    return NULL;
}
