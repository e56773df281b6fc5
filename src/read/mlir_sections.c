#include "read/mlir_older.h"

static keel_status_t damaged_section(const char *what) {
    return keel_status_make(KEEL_CORRUPT, "the section of %s is damaged", what);
}

bool keel_mlir_next_section(const keel_mlir_t *m, keel_cursor_t *c, uint32_t *out_number,
                            keel_bytes_t *out) {
    uint8_t head = keel_cursor_byte(c);
    uint64_t size = keel_mlir_varint(c);
    if (head & 0x80) keel_mlir_align(m, c, keel_mlir_varint(c));
    *out_number = head & 0x7f;
    *out = keel_cursor_take(c, size);
    return !c->failed;
}

void keel_mlir_align(const keel_mlir_t *m, keel_cursor_t *c, uint64_t alignment) {
    if (c->failed || alignment == 0 || (alignment & (alignment - 1)) || alignment > UINT32_MAX) {
        keel_cursor_fail(c);
        return;
    }
    while (!c->failed && ((uint64_t)(c->at - m->file.data) & (alignment - 1)))
        if (keel_cursor_byte(c) != 0xcb) keel_cursor_fail(c);
}

// Sizes, from the last string to the first, each including the string's final 0; then the strings.
keel_status_t keel_mlir_read_strings(keel_mlir_t *m) {
    keel_cursor_t c = keel_cursor(m->sections[KEEL_MLIR_STRING]);
    uint32_t count = keel_mlir_count(&c, 2);
    KEEL_TRY(keel_mlir_reserve(&m->program->strings, (uint64_t)count + 32));
    keel_slice_t *strings = m->program->strings.data;
    uint64_t total = 0;
    for (uint32_t i = count; i-- > 0 && !c.failed;) {
        uint64_t size = keel_mlir_count(&c, 1);
        if (size == 0) keel_cursor_fail(&c);
        strings[i].size = (uint32_t)size - 1;
        total += size;
    }
    if (c.failed || total != keel_cursor_left(&c)) return damaged_section("strings");
    uint32_t at = (uint32_t)(c.at - m->file.data);
    for (uint32_t i = 0; i < count; ++i) {
        strings[i].at = at;
        at += strings[i].size + 1;
        if (m->file.data[at - 1] != 0) return damaged_section("strings");
    }
    m->program->strings.count = m->string_count = count;
    return NULL;
}

// ---- dialects ----------------------------------------------------------------------------------

// The version that a dialect gives itself. Only Shardy's is known not to matter here.
static keel_status_t read_dialect_version(keel_mlir_t *m, keel_cursor_t *c, keel_string_id_t name) {
    uint32_t number;
    keel_bytes_t bytes;
    if (!keel_mlir_next_section(m, c, &number, &bytes) || number != KEEL_MLIR_DIALECT_VERSIONS)
        return damaged_section("dialects");
    keel_str_t dialect = keel_program_str(m->program, name);
    if (keel_mlir_dialect(dialect) != KEEL_MLIR_SDY)
        return keel_status_make(KEEL_UNSUPPORTED, "dialect %.*s has a version of its own",
                                KEEL_STR_ARGS(dialect));
    keel_cursor_t version = keel_cursor(bytes);
    for (int i = 0; i < 3; ++i)
        keel_mlir_varint(&version);
    return version.failed || version.at != version.end ? damaged_section("dialects") : NULL;
}

static keel_status_t read_dialect_names(keel_mlir_t *m, keel_cursor_t *c) {
    uint32_t count = keel_mlir_count(c, 1);
    KEEL_TRY(keel_mlir_reserve(&m->dialects, count));
    for (uint32_t i = 0; i < count && !c->failed; ++i) {
        bool has_version = false;
        uint64_t name = m->version >= 1 ? keel_mlir_flagged(c, &has_version) : keel_mlir_varint(c);
        if (name >= m->string_count) keel_cursor_fail(c);
        if (c->failed) break;
        if (has_version) KEEL_TRY(read_dialect_version(m, c, (keel_string_id_t)name));
        keel_str_t text = keel_program_str(m->program, (keel_string_id_t)name);
        m->dialects.data[m->dialects.count++] =
            (keel_mlir_dialect_entry_t){(keel_string_id_t)name, keel_mlir_dialect(text)};
    }
    return c->failed ? damaged_section("dialects") : NULL;
}

// "dot_general_v2": the name without "_v2", and 2. 0 if there is no version.
static uint32_t split_version(keel_str_t *name) {
    uint32_t version = 0;
    size_t digits = 0;
    while (digits < name->size && name->data[name->size - digits - 1] >= '0' &&
           name->data[name->size - digits - 1] <= '9')
        ++digits;
    size_t stem = name->size - digits;
    if (digits == 0 || digits > 6 || stem < 3 || name->data[stem - 1] != 'v' ||
        name->data[stem - 2] != '_')
        return 0;
    for (size_t i = stem; i < name->size; ++i)
        version = version * 10 + (uint32_t)(name->data[i] - '0');
    name->size = stem - 2;
    return version;
}

static keel_status_t add_op(keel_mlir_t *m, const keel_mlir_dialect_entry_t *dialect,
                            keel_string_id_t string, bool is_registered) {
    keel_str_t full = keel_program_str(m->program, string), stem = full;
    keel_op_name_t name = {.dialect = dialect->name, .name = string};
    if (dialect->dialect == KEEL_MLIR_VHLO) name.version = split_version(&stem);
    if (stem.size != full.size) {
        keel_slice_t slice = {m->program->strings.data[string].at, (uint32_t)stem.size};
        name.name = m->program->strings.count;
        KEEL_MLIR_PUSH(&m->program->strings, slice);
    }
    keel_mlir_op_entry_t op = {.op = keel_mlir_op(dialect->dialect, full),
                               .name = string,
                               .is_registered = is_registered,
                               .is_function = dialect->dialect == KEEL_MLIR_VHLO &&
                                              keel_str_is(full, "func_v1")};
    KEEL_MLIR_PUSH(&m->program->op_names, name);
    KEEL_MLIR_PUSH(&m->ops, op);
    return NULL;
}

static keel_status_t read_op_group(keel_mlir_t *m, keel_cursor_t *c) {
    uint32_t dialect = keel_mlir_index(c, m->dialects.count);
    uint32_t count = keel_mlir_count(c, 1);
    if (c->failed) return NULL;
    KEEL_TRY(keel_mlir_reserve(&m->ops, count));
    KEEL_TRY(keel_mlir_reserve(&m->program->op_names, count));
    for (uint32_t i = 0; i < count && !c->failed; ++i) {
        bool is_registered = true;
        uint64_t name =
            m->version >= 5 ? keel_mlir_flagged(c, &is_registered) : keel_mlir_varint(c);
        if (name >= m->string_count) keel_cursor_fail(c);
        if (!c->failed)
            KEEL_TRY(add_op(m, &m->dialects.data[dialect], (keel_string_id_t)name, is_registered));
    }
    return NULL;
}

keel_status_t keel_mlir_read_dialects(keel_mlir_t *m) {
    keel_cursor_t c = keel_cursor(m->sections[KEEL_MLIR_DIALECT]);
    KEEL_TRY(read_dialect_names(m, &c));
    uint64_t total = m->version >= 4 ? keel_mlir_varint(&c) : 0;
    if (total > keel_cursor_left(&c)) keel_cursor_fail(&c);
    if (!c.failed) {
        KEEL_TRY(keel_mlir_reserve(&m->ops, total));
        KEEL_TRY(keel_mlir_reserve(&m->program->op_names, total));
    }
    while (!c.failed && c.at != c.end)
        KEEL_TRY(read_op_group(m, &c));
    if (c.failed || (m->version >= 4 && total != m->ops.count)) return damaged_section("dialects");
    KEEL_TRY(keel_mlir_name_older(m));
    if (m->program->op_names.count >= KEEL_OP_HAS_REGIONS)
        return keel_status_make(KEEL_UNSUPPORTED, "%u operation names", m->ops.count);
    return NULL;
}

// ---- properties --------------------------------------------------------------------------------

keel_status_t keel_mlir_read_properties(keel_mlir_t *m) {
    if (!(m->present & 1u << KEEL_MLIR_PROPERTIES)) return NULL;
    keel_bytes_t section = m->sections[KEEL_MLIR_PROPERTIES];
    keel_cursor_t c = keel_cursor(section);
    uint32_t count = keel_mlir_count(&c, 1);
    KEEL_TRY(keel_mlir_reserve(&m->properties, (uint64_t)count + 1));
    for (uint32_t i = 0; i < count && !c.failed; ++i) {
        m->properties.data[i] = (uint32_t)(c.at - section.data);
        keel_cursor_take(&c, keel_mlir_varint(&c));
    }
    if (c.failed || c.at != c.end) return damaged_section("properties");
    m->properties.data[count] = (uint32_t)section.size;
    m->properties.count = count;
    return NULL;
}

// ---- resources ---------------------------------------------------------------------------------

enum { RESOURCE_BLOB, RESOURCE_BOOL, RESOURCE_STRING };

static void read_payload(keel_mlir_t *m, keel_bytes_t bytes, uint8_t kind, keel_cursor_t *outer,
                         keel_mlir_resource_t *out) {
    keel_cursor_t c = keel_cursor(bytes);
    if (kind == RESOURCE_BLOB) {
        uint64_t alignment = keel_mlir_varint(&c), size = keel_mlir_varint(&c);
        keel_mlir_align(m, &c, alignment);
        out->is_blob = true;
        out->blob = keel_cursor_take(&c, size);
    } else if (kind == RESOURCE_BOOL) {
        if (keel_cursor_byte(&c) > 1) keel_cursor_fail(&c);
    } else if (kind == RESOURCE_STRING) {
        keel_mlir_index(&c, m->string_count);
    } else {
        keel_cursor_fail(&c);
    }
    if (c.failed || c.at != c.end) keel_cursor_fail(outer);
}

static keel_status_t read_resource_group(keel_mlir_t *m, keel_cursor_t *c, keel_cursor_t *payload) {
    uint32_t count = keel_mlir_count(c, 3);
    KEEL_TRY(keel_mlir_reserve(&m->resources, count));
    for (uint32_t i = 0; i < count && !c->failed; ++i) {
        keel_mlir_resource_t resource = {.key = keel_mlir_index(c, m->string_count)};
        keel_bytes_t bytes = keel_cursor_take(payload, keel_mlir_varint(c));
        uint8_t kind = keel_cursor_byte(c);
        if (payload->failed) keel_cursor_fail(c);
        if (!c->failed) read_payload(m, bytes, kind, c, &resource);
        m->resources.data[m->resources.count++] = resource;
    }
    return NULL;
}

keel_status_t keel_mlir_read_resources(keel_mlir_t *m) {
    const uint32_t both = 1u << KEEL_MLIR_RESOURCE | 1u << KEEL_MLIR_RESOURCE_OFFSET;
    if (!(m->present & both)) return NULL;
    if ((m->present & both) != both) return damaged_section("resources");
    keel_cursor_t c = keel_cursor(m->sections[KEEL_MLIR_RESOURCE_OFFSET]);
    keel_cursor_t payload = keel_cursor(m->sections[KEEL_MLIR_RESOURCE]);
    uint64_t external = keel_mlir_varint(&c);
    if (!c.failed && external)
        return keel_status_make(KEEL_UNSUPPORTED, "resources that do not belong to a dialect");
    while (!c.failed && c.at != c.end) {
        keel_mlir_index(&c, m->dialects.count);
        KEEL_TRY(read_resource_group(m, &c, &payload));
    }
    if (c.failed || payload.at != payload.end) return damaged_section("resources");
    return NULL;
}
