#include "engine/payload.h"

#include "store/entry.h"

static const char magic[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '2'},
                  with_options[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '3'},
                  without_memory[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '1'},
                  large[8] = {'K', 'E', 'E', 'L', 'P', 'A', 'Y', '4'};

// A large payload begins with the executable and ends with this: sizes of the executable, the
// format, the program as stored, what it is packed from (0: it is not), the options; the memory;
// the mark.
enum { TAIL = (5 + 8) * sizeof(uint64_t) + sizeof large };

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

bool keel_payload_is_large(const keel_payload_t *payload) {
    return payload->executable.size >= KEEL_ENTRY_LARGE ||
           payload->program.size >= KEEL_ENTRY_LARGE - payload->executable.size;
}

static void write_tail(const keel_payload_t *payload, keel_bytes_t program, size_t packed_from,
                       keel_buffer_t *out) {
    keel_buffer_str(out, payload->format);
    keel_buffer_append(out, program.data, program.size);
    keel_buffer_append(out, payload->options.data, payload->options.size);
    keel_buffer_u64(out, payload->executable.size);
    keel_buffer_u64(out, payload->format.size);
    keel_buffer_u64(out, program.size);
    keel_buffer_u64(out, packed_from);
    keel_buffer_u64(out, payload->options.size);
    write_memory(payload, out);
    keel_buffer_append(out, large, sizeof large);
}

static keel_status_t append(keel_bytes_t tail, size_t size, uint8_t **inout, size_t *out_size) {
    void *grown = *inout;
    KEEL_TRY(keel_realloc_array(size + tail.size, 1, &grown));
    *inout = grown;
    memcpy(*inout + size, tail.data, tail.size);
    *out_size = size + tail.size;
    return NULL;
}

keel_status_t keel_payload_pack_large(const keel_payload_t *payload, uint8_t **executable,
                                      size_t *out_size) {
    uint8_t *packed = NULL;
    size_t packed_size = 0;
    keel_bytes_t program = payload->program;
    keel_status_t status =
        program.size ? keel_pack_against(program, payload->executable, &packed, &packed_size)
                     : NULL;
    bool is_packed = !status && program.size && packed_size < program.size;
    keel_status_ignore(status); // then it is stored as it is
    if (is_packed) program = keel_bytes(packed, packed_size);
    keel_buffer_t tail;
    keel_buffer_initialize(&tail, 0);
    write_tail(payload, program, is_packed ? payload->program.size : 0, &tail);
    keel_free(packed);
    status = keel_buffer_status(&tail);
    if (!status)
        status = append(keel_buffer_bytes(&tail), payload->executable.size, executable, out_size);
    keel_buffer_deinitialize(&tail);
    return status;
}

size_t keel_payload_program_size(const keel_payload_t *payload) {
    return payload->packed_from ? payload->packed_from : payload->program.size;
}

keel_status_t keel_payload_program(const keel_payload_t *payload, void *out) {
    if (payload->packed_from)
        return keel_unpack_against(payload->program, payload->executable, out,
                                   payload->packed_from);
    memcpy(out, payload->program.data, payload->program.size);
    return NULL;
}

keel_status_t keel_payload_expand(keel_payload_t *payload, uint8_t **owned) {
    void *memory;
    *owned = NULL;
    if (!payload->packed_from) return NULL;
    KEEL_TRY(keel_alloc(payload->packed_from, &memory));
    keel_status_t status = keel_payload_program(payload, memory);
    if (status) {
        keel_free(memory);
        return status;
    }
    *owned = memory;
    payload->program = keel_bytes(memory, payload->packed_from);
    payload->packed_from = 0;
    return NULL;
}

static keel_status_t refuse(void) {
    return keel_status_make(KEEL_CORRUPT, "an entry's payload is not one that Keel wrote");
}

static bool is_large(keel_bytes_t bytes) {
    return bytes.size >= TAIL &&
           memcmp(bytes.data + bytes.size - sizeof large, large, sizeof large) == 0;
}

static keel_status_t unpack_large(keel_bytes_t bytes, keel_payload_t *out) {
    keel_cursor_t cursor = keel_cursor(keel_bytes(bytes.data, bytes.size - TAIL));
    keel_cursor_t tail = keel_cursor(keel_bytes(bytes.data + bytes.size - TAIL, TAIL));
    uint64_t executable = keel_cursor_u64(&tail);
    uint64_t format = keel_cursor_u64(&tail);
    uint64_t program = keel_cursor_u64(&tail);
    uint64_t packed_from = keel_cursor_u64(&tail);
    uint64_t options = keel_cursor_u64(&tail);
    read_memory(&tail, out);
    out->executable = keel_cursor_take(&cursor, executable);
    out->format = keel_bytes_str(keel_cursor_take(&cursor, format));
    out->program = keel_cursor_take(&cursor, program);
    out->options = keel_cursor_take(&cursor, options);
    out->packed_from = (size_t)packed_from;
    bool is_possible = packed_from <= KEEL_ENTRY_PAYLOAD_LIMIT && (!packed_from || program);
    if (cursor.failed || keel_cursor_left(&cursor) || !is_possible || !executable) return refuse();
    return NULL;
}

keel_status_t keel_payload_unpack(keel_bytes_t bytes, keel_payload_t *out) {
    *out = (keel_payload_t){0};
    if (is_large(bytes)) return unpack_large(bytes, out);
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
    if (!known || cursor.failed || keel_cursor_left(&cursor) ||
        (!out->executable.size && !out->program.size))
        return refuse();
    return NULL;
}
