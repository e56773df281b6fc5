#include "read/mlir_entry.h"

// Where one table is: its entries' sizes, then the entries themselves.
typedef struct table_walk_t {
    keel_cursor_t sizes;
    keel_cursor_t entries;
    uint32_t count;
} table_walk_t;

static keel_status_t damaged_attribute(const char *what, uint32_t index) {
    return keel_status_make(KEEL_CORRUPT, "%s %u is damaged", what, index);
}

static keel_status_t read_attribute(keel_mlir_t *m, keel_mlir_dialect_t dialect, keel_cursor_t *c,
                                    uint32_t index) {
    keel_attr_t attr = {.kind = KEEL_ATTR_NONE};
    if (dialect == KEEL_MLIR_VHLO)
        KEEL_TRY(keel_mlir_vhlo_attr(m, c, &attr));
    else if (dialect == KEEL_MLIR_BUILTIN)
        KEEL_TRY(keel_mlir_builtin_attr(m, c, &attr));
    else if (dialect == KEEL_MLIR_SDY)
        KEEL_TRY(keel_mlir_sdy_attr(m, c, &attr));
    else
        return keel_mlir_unknown_code("stablehlo attribute", keel_mlir_varint(c));
    m->program->attrs.data[index] = attr;
    return NULL;
}

static keel_status_t read_type(keel_mlir_t *m, keel_mlir_dialect_t dialect, keel_cursor_t *c,
                               uint32_t index) {
    keel_type_t type = {.kind = KEEL_TYPE_NONE};
    KEEL_TRY(keel_mlir_read_type(m, dialect, c, &type));
    m->program->types.data[index] = type;
    return NULL;
}

typedef keel_status_t (*read_entry_t)(keel_mlir_t *m, keel_mlir_dialect_t dialect, keel_cursor_t *c,
                                      uint32_t index);

// One entry, which must be used up. A failed cursor makes no status of its own: if a damaged entry
// gives "unknown", it is still reported as "damaged".
static keel_status_t walk_entry(keel_mlir_t *m, const keel_mlir_dialect_entry_t *dialect,
                                keel_bytes_t bytes, uint32_t index, read_entry_t read,
                                const char *what) {
    keel_cursor_t c = keel_cursor(bytes);
    if (dialect->dialect == KEEL_MLIR_UNKNOWN)
        return keel_status_make(KEEL_UNSUPPORTED, "%s %u is of dialect %.*s", what, index,
                                KEEL_STR_ARGS(keel_program_str(m->program, dialect->name)));
    keel_status_t status = read(m, dialect->dialect, &c, index);
    if (!c.failed && !status && c.at == c.end) return NULL;
    if (status && (!c.failed || keel_status_code(status) == KEEL_NO_MEMORY))
        return keel_status_code(status) == KEEL_NO_MEMORY
                   ? status
                   : keel_status_annotate(status, "%s %u", what, index);
    keel_status_ignore(status);
    return damaged_attribute(what, index);
}

// Walks a table; without `read` the entries are skipped.
static keel_status_t walk_table(keel_mlir_t *m, table_walk_t *w, read_entry_t read,
                                const char *what) {
    for (uint32_t i = 0; i < w->count;) {
        uint32_t dialect = keel_mlir_index(&w->sizes, m->dialects.count);
        uint64_t group = keel_mlir_varint(&w->sizes);
        if (w->sizes.failed || group > w->count - i) return damaged_attribute(what, i);
        for (uint32_t end = i + (uint32_t)group; i < end; ++i) {
            bool is_encoded;
            uint64_t size = keel_mlir_flagged(&w->sizes, &is_encoded);
            keel_bytes_t bytes = keel_cursor_take(&w->entries, size);
            if (w->sizes.failed || w->entries.failed) return damaged_attribute(what, i);
            if (!is_encoded)
                return keel_status_make(KEEL_UNSUPPORTED, "%s %u is stored as text", what, i);
            if (read) KEEL_TRY(walk_entry(m, &m->dialects.data[dialect], bytes, i, read, what));
        }
    }
    return NULL;
}

// The counts before the sizes. Each entry has a byte of its own.
static keel_status_t read_counts(keel_mlir_t *m, keel_cursor_t *sizes) {
    uint64_t entries = m->sections[KEEL_MLIR_ATTR_TYPE].size;
    uint64_t attrs = keel_mlir_varint(sizes);
    uint64_t types = keel_mlir_varint(sizes);
    if (sizes->failed || attrs > entries || types > entries)
        return keel_status_make(KEEL_CORRUPT, "the table of attributes and types is damaged");
    m->attr_count = (uint32_t)attrs;
    m->type_count = (uint32_t)types;
    // Merged dictionaries are added after the attributes: one for most property blobs.
    KEEL_TRY(keel_mlir_reserve(&m->program->attrs, attrs + m->properties.count + 16));
    KEEL_TRY(keel_mlir_reserve(&m->program->types, types + 1));
    memset(m->program->attrs.data, 0, attrs * sizeof *m->program->attrs.data);
    memset(m->program->types.data, 0, types * sizeof *m->program->types.data);
    m->program->attrs.count = m->attr_count;
    m->program->types.count = m->type_count;
    return NULL;
}

// How an attribute is encoded depends on its type, so types are read first, although they come
// after the attributes.
keel_status_t keel_mlir_read_attributes(keel_mlir_t *m) {
    keel_cursor_t sizes = keel_cursor(m->sections[KEEL_MLIR_ATTR_TYPE_OFFSET]);
    KEEL_TRY(read_counts(m, &sizes));
    table_walk_t attrs = {sizes, keel_cursor(m->sections[KEEL_MLIR_ATTR_TYPE]), m->attr_count};
    table_walk_t types = attrs;
    KEEL_TRY(walk_table(m, &types, NULL, "attribute"));
    types.count = m->type_count;
    KEEL_TRY(walk_table(m, &types, read_type, "type"));
    if (types.sizes.at != types.sizes.end || types.entries.at != types.entries.end)
        return keel_status_make(KEEL_CORRUPT, "bytes are left over after the types");
    return walk_table(m, &attrs, read_attribute, "attribute");
}
