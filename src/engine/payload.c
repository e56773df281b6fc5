#include "engine/payload.h"

static const char magic[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '2'},
                  with_options[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '3'},
                  without_memory[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '1'};

static void write_memory(const keel_payload_t *payload, keel_buffer_t *out) {
    const keel_program_memory_t none = {0},
                                *memory = payload->has_memory ? &payload->memory : &none;
    keel_buffer_u64(out, payload->has_memory);
    keel_buffer_u64(out, memory->arguments);
    keel_buffer_u64(out, memory->outputs);
    keel_buffer_u64(out, memory->aliased);
    keel_buffer_u64(out, memory->temporaries);
    keel_buffer_u64(out, memory->code);
    keel_buffer_u64(out, memory->host);
    keel_buffer_u64(out, memory->peak);
}

static void read_memory(keel_cursor_t *cursor, keel_payload_t *out) {
    out->has_memory = keel_cursor_u64(cursor) == 1;
    out->memory.arguments = keel_cursor_u64(cursor);
    out->memory.outputs = keel_cursor_u64(cursor);
    out->memory.aliased = keel_cursor_u64(cursor);
    out->memory.temporaries = keel_cursor_u64(cursor);
    out->memory.code = keel_cursor_u64(cursor);
    out->memory.host = keel_cursor_u64(cursor);
    out->memory.peak = keel_cursor_u64(cursor);
}

keel_status_t keel_payload_pack(const keel_payload_t *payload, uint8_t **out, size_t *out_size) {
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    // Only then, so that an older Keel reads all others.
    bool has_options = payload->options.size != 0;
    keel_buffer_append(&buffer, has_options ? with_options : magic, sizeof magic);
    keel_buffer_u64(&buffer, payload->executable.size);
    keel_buffer_u64(&buffer, payload->format.size);
    keel_buffer_u64(&buffer, payload->program.size);
    if (has_options) keel_buffer_u64(&buffer, payload->options.size);
    write_memory(payload, &buffer);
    keel_buffer_append(&buffer, payload->executable.data, payload->executable.size);
    keel_buffer_str(&buffer, payload->format);
    keel_buffer_append(&buffer, payload->program.data, payload->program.size);
    keel_buffer_append(&buffer, payload->options.data, payload->options.size);
    keel_status_t status = keel_buffer_take(&buffer, out, out_size);
    keel_buffer_deinitialize(&buffer);
    return status;
}

keel_status_t keel_payload_unpack(keel_bytes_t bytes, keel_payload_t *out) {
    *out = (keel_payload_t){0};
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_bytes_t head = keel_cursor_take(&cursor, sizeof magic);
    bool whole = head.size == sizeof magic;
    bool has_options = whole && memcmp(head.data, with_options, sizeof magic) == 0;
    bool is_new = has_options || (whole && memcmp(head.data, magic, sizeof magic) == 0);
    bool known = is_new || (whole && memcmp(head.data, without_memory, sizeof magic) == 0);
    uint64_t executable = keel_cursor_u64(&cursor);
    uint64_t format = keel_cursor_u64(&cursor);
    uint64_t program = keel_cursor_u64(&cursor);
    uint64_t options = has_options ? keel_cursor_u64(&cursor) : 0;
    if (is_new) read_memory(&cursor, out);
    out->executable = keel_cursor_take(&cursor, executable);
    out->format = keel_bytes_str(keel_cursor_take(&cursor, format));
    out->program = keel_cursor_take(&cursor, program);
    out->options = keel_cursor_take(&cursor, options);
    if (!known || cursor.failed || keel_cursor_left(&cursor) || !out->executable.size)
        return keel_status_make(KEEL_CORRUPT, "an entry's payload is not one that Keel wrote");
    return NULL;
}
