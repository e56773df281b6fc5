#include "read/mlir_reader.h"

enum { NEWEST_VERSION = 6 };

static keel_status_t read_header(keel_mlir_t *m, keel_cursor_t *c) {
    keel_bytes_t magic = keel_cursor_take(c, 4);
    if (!keel_read_is_mlir(magic))
        return keel_status_make(KEEL_CORRUPT, "the magic bytes are missing");
    uint64_t version = keel_mlir_varint(c);
    if (!c->failed && version > NEWEST_VERSION)
        return keel_status_make(KEEL_UNSUPPORTED, "version %llu is unknown; the newest known is %d",
                                (unsigned long long)version, NEWEST_VERSION);
    const uint8_t *end = c->at == c->end ? NULL : memchr(c->at, 0, keel_cursor_left(c));
    if (c->failed || !end)
        return keel_status_make(KEEL_CORRUPT, "the header is truncated after %zu bytes",
                                m->file.size);
    m->version = m->program->bytecode_version = (uint32_t)version;
    m->program->producer = keel_bytes_str(keel_cursor_take(c, (uint64_t)(end - c->at)));
    keel_cursor_byte(c);
    return NULL;
}

static keel_status_t find_sections(keel_mlir_t *m, keel_cursor_t *c) {
    while (c->at != c->end) {
        size_t at = (size_t)(c->at - m->file.data);
        uint32_t number;
        keel_bytes_t bytes;
        if (!keel_mlir_next_section(m, c, &number, &bytes))
            return keel_status_make(KEEL_CORRUPT, "the section at byte %zu is truncated or damaged",
                                    at);
        if (number >= KEEL_MLIR_SECTION_COUNT || number == KEEL_MLIR_DIALECT_VERSIONS)
            return keel_status_make(KEEL_UNSUPPORTED, "section %u is unknown", number);
        if (m->present & 1u << number)
            return keel_status_make(KEEL_CORRUPT, "section %u occurs twice", number);
        m->present |= 1u << number;
        m->sections[number] = bytes;
    }
    const uint32_t required = 1u << KEEL_MLIR_STRING | 1u << KEEL_MLIR_DIALECT |
                              1u << KEEL_MLIR_ATTR_TYPE | 1u << KEEL_MLIR_ATTR_TYPE_OFFSET |
                              1u << KEEL_MLIR_IR;
    for (uint32_t i = 0; i < KEEL_MLIR_SECTION_COUNT; ++i)
        if (required & ~m->present & 1u << i)
            return keel_status_make(KEEL_CORRUPT, "section %u is missing", i);
    if (m->version >= 5 && !(m->present & 1u << KEEL_MLIR_PROPERTIES))
        return keel_status_make(KEEL_CORRUPT, "the section of properties is missing");
    if (m->version < 5 && m->present & 1u << KEEL_MLIR_PROPERTIES)
        return keel_status_make(KEEL_CORRUPT, "version %u has no properties", m->version);
    return NULL;
}

static keel_status_t read_sections(keel_mlir_t *m) {
    keel_cursor_t c = keel_cursor(m->file);
    KEEL_TRY(read_header(m, &c));
    KEEL_TRY(find_sections(m, &c));
    KEEL_TRY(keel_mlir_read_strings(m));
    KEEL_TRY(keel_mlir_read_dialects(m));
    KEEL_TRY(keel_mlir_read_properties(m));
    KEEL_TRY(keel_mlir_read_resources(m));
    KEEL_TRY(keel_mlir_read_attributes(m));
    KEEL_TRY(keel_mlir_check_graph(m));
    return keel_mlir_read_ir(m);
}

static void deinitialize(keel_mlir_t *m) {
    keel_free(m->dialects.data);
    keel_free(m->ops.data);
    keel_free(m->resources.data);
    keel_free(m->properties.data);
}

keel_status_t keel_read_mlir(keel_bytes_t bytes, keel_program_t *out) {
    keel_program_initialize(out);
    if (bytes.size > KEEL_READ_SIZE_LIMIT)
        return keel_status_make(KEEL_UNSUPPORTED, "MLIR bytecode of %zu bytes; the limit is %u",
                                bytes.size, KEEL_READ_SIZE_LIMIT);
    keel_mlir_t m = {.program = out, .file = bytes, .f64 = KEEL_NONE};
    memset(m.names, 0xff, sizeof m.names);
    out->format = KEEL_FORMAT_MLIR;
    out->source = bytes;
    keel_status_t status = read_sections(&m);
    deinitialize(&m);
    if (!status) return NULL;
    keel_program_deinitialize(out);
    return keel_status_code(status) == KEEL_NO_MEMORY
               ? status
               : keel_status_annotate(status, "MLIR bytecode");
}
