// Writes MLIR bytecode for the tests: programs that no client writes, and some that none should.
#ifndef KEEL_TESTS_MLIR_BUILD_H_
#define KEEL_TESTS_MLIR_BUILD_H_

#include "base/base.h"

enum { BUILTIN, VHLO, SDY, OTHER };
enum { MADE_LIMIT = 4096 };

typedef struct entry_t {
    int dialect;
    bool is_text;
    uint8_t bytes[160];
    size_t size;
} entry_t;

// Everything of a file, in the order of its tables. `ir` holds what stands in the module's block.
typedef struct made_t {
    unsigned version;
    const char *strings[MADE_LIMIT];
    size_t string_count;
    struct {
        int dialect;
        unsigned name;
    } ops[MADE_LIMIT];
    size_t op_count;
    entry_t attrs[MADE_LIMIT], types[64];
    size_t attr_count, type_count;
    keel_buffer_t ir, properties, resources, resource_offsets;
    unsigned property_count;
    unsigned module_values, module_ops;
    bool has_no_block; // in the module
    bool has_resources;
    bool sdy_has_version;
    unsigned unregistered; // the operation that its writer did not know; 0: none
} made_t;

static inline void put_varint(keel_buffer_t *b, uint64_t value) {
    unsigned more = 0;
    while (more < 8 && value >> (7 * (more + 1)))
        ++more;
    if (more == 8) {
        keel_buffer_byte(b, 0);
        keel_buffer_u64(b, value);
        return;
    }
    uint64_t encoded = (value << 1 | 1) << more;
    for (unsigned i = 0; i <= more; ++i)
        keel_buffer_byte(b, (uint8_t)(encoded >> 8 * i));
}

static inline void put_svarint(keel_buffer_t *b, int64_t value) {
    put_varint(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void put_flagged(keel_buffer_t *b, uint64_t value, bool flag) {
    put_varint(b, value << 1 | flag);
}

static inline void put_section(keel_buffer_t *out, unsigned number, keel_buffer_t *section) {
    keel_buffer_byte(out, (uint8_t)number);
    put_varint(out, section->size);
    keel_buffer_append(out, section->data, section->size);
    keel_buffer_deinitialize(section);
}

static inline unsigned add_string(made_t *made, const char *text) {
    for (unsigned i = 0; i < made->string_count; ++i)
        if (!strcmp(made->strings[i], text)) return i;
    made->strings[made->string_count] = text;
    return (unsigned)made->string_count++;
}

static inline unsigned add_op(made_t *made, int dialect, const char *name) {
    made->ops[made->op_count].dialect = dialect;
    made->ops[made->op_count].name = add_string(made, name);
    return (unsigned)made->op_count++;
}

static inline unsigned finish_entry(entry_t *entries, size_t *count, int dialect,
                                    keel_buffer_t *bytes) {
    entry_t *entry = &entries[*count];
    entry->dialect = dialect;
    entry->size = bytes->size;
    memcpy(entry->bytes, bytes->data, bytes->size);
    keel_buffer_deinitialize(bytes);
    return (unsigned)(*count)++;
}

// A code and plain numbers behind it: enough for most entries.
static inline unsigned add_entry(entry_t *entries, size_t *count, int dialect,
                                 const uint64_t *numbers, size_t number_count) {
    keel_buffer_t b;
    keel_buffer_initialize(&b, 0);
    for (size_t i = 0; i < number_count; ++i)
        put_varint(&b, numbers[i]);
    return finish_entry(entries, count, dialect, &b);
}

#define NUMBERS(...)                                                                               \
    (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define ATTR(made, dialect, ...)                                                                   \
    add_entry((made)->attrs, &(made)->attr_count, dialect, NUMBERS(__VA_ARGS__))
#define TYPE(made, dialect, ...)                                                                   \
    add_entry((made)->types, &(made)->type_count, dialect, NUMBERS(__VA_ARGS__))

// A zigzag number, as a plain one.
#define SIGNED(value) ((uint64_t)(value) << 1 ^ (uint64_t)((int64_t)(value) >> 63))

static inline unsigned add_string_attr(made_t *made, const char *text) {
    return ATTR(made, VHLO, 14, add_string(made, text));
}

static inline unsigned add_properties(made_t *made, const uint64_t *numbers, size_t count) {
    keel_buffer_t b;
    keel_buffer_initialize(&b, 0);
    for (size_t i = 0; i < count; ++i)
        put_varint(&b, numbers[i]);
    put_varint(&made->properties, b.size);
    keel_buffer_append(&made->properties, b.data, b.size);
    keel_buffer_deinitialize(&b);
    return made->property_count++;
}

// A module with nothing but: op 0 builtin.module, attribute 0 an unknown location, attribute 1 the
// name "m", property blob 0 with that name; type 0 f32, type 1 a function without arguments.
static inline void made_initialize(made_t *made, unsigned version) {
    memset(made, 0, sizeof *made);
    made->version = version;
    keel_buffer_initialize(&made->ir, 0);
    keel_buffer_initialize(&made->properties, 0);
    keel_buffer_initialize(&made->resources, 0);
    keel_buffer_initialize(&made->resource_offsets, 0);
    const char *dialects[] = {"builtin", "vhlo", "sdy", "other"};
    for (size_t i = 0; i < 4; ++i)
        add_string(made, dialects[i]);
    add_op(made, BUILTIN, "module");
    ATTR(made, BUILTIN, 15);
    ATTR(made, BUILTIN, 2, add_string(made, "m"));
    TYPE(made, VHLO, 4);
    TYPE(made, VHLO, 8, 0, 0);
    add_properties(made, NUMBERS(1u << 1 | 1, 1));
}

static inline void put_strings(const made_t *made, keel_buffer_t *out) {
    keel_buffer_t b;
    keel_buffer_initialize(&b, 0);
    put_varint(&b, made->string_count);
    for (size_t i = made->string_count; i-- > 0;)
        put_varint(&b, strlen(made->strings[i]) + 1);
    for (size_t i = 0; i < made->string_count; ++i)
        keel_buffer_append(&b, made->strings[i], strlen(made->strings[i]) + 1);
    put_section(out, 0, &b);
}

static inline void put_dialects(const made_t *made, keel_buffer_t *out) {
    keel_buffer_t b;
    keel_buffer_initialize(&b, 0);
    put_varint(&b, 4);
    for (unsigned i = 0; i < 4; ++i) {
        bool has_version = i == SDY && made->sdy_has_version;
        put_varint(&b, made->version >= 1 ? i << 1 | has_version : i);
        if (!has_version) continue;
        keel_buffer_t numbers;
        keel_buffer_initialize(&numbers, 0);
        for (unsigned n = 0; n < 3; ++n)
            put_varint(&numbers, n);
        put_section(&b, 7, &numbers);
    }
    if (made->version >= 4) put_varint(&b, made->op_count);
    for (size_t i = 0; i < made->op_count; ++i) {
        bool is_registered = i == 0 || i != made->unregistered;
        put_varint(&b, (uint64_t)made->ops[i].dialect);
        put_varint(&b, 1);
        put_varint(&b,
                   made->version >= 5 ? made->ops[i].name << 1 | is_registered : made->ops[i].name);
    }
    put_section(out, 1, &b);
}

static inline void put_tables(const made_t *made, keel_buffer_t *out) {
    keel_buffer_t entries, sizes;
    keel_buffer_initialize(&entries, 0);
    keel_buffer_initialize(&sizes, 0);
    put_varint(&sizes, made->attr_count);
    put_varint(&sizes, made->type_count);
    for (size_t i = 0; i < made->attr_count + made->type_count; ++i) {
        const entry_t *e =
            i < made->attr_count ? &made->attrs[i] : &made->types[i - made->attr_count];
        put_varint(&sizes, (uint64_t)e->dialect);
        put_varint(&sizes, 1);
        put_flagged(&sizes, e->size, !e->is_text);
        keel_buffer_append(&entries, e->bytes, e->size);
    }
    put_section(out, 2, &entries);
    put_section(out, 3, &sizes);
}

// The module around `ir`.
static inline void put_ir(made_t *made, keel_buffer_t *out) {
    keel_buffer_t b, inside;
    keel_buffer_initialize(&b, 0);
    keel_buffer_initialize(&inside, 0);
    put_varint(&inside, !made->has_no_block);
    if (!made->has_no_block) {
        put_varint(&inside, made->module_values);
        put_flagged(&inside, made->module_ops, false);
    }
    keel_buffer_append(&inside, made->ir.data, made->ir.size);
    put_flagged(&b, 1, false);
    put_varint(&b, 0);
    keel_buffer_byte(&b, made->version >= 5 ? 0x50 : 0x10);
    put_varint(&b, 0);
    if (made->version >= 5) put_varint(&b, 0);
    put_flagged(&b, 1, true);
    if (made->version >= 2) {
        put_section(&b, 4, &inside);
    } else {
        keel_buffer_append(&b, inside.data, inside.size);
        keel_buffer_deinitialize(&inside);
    }
    put_section(out, 4, &b);
}

// Writes the file and frees everything else.
static inline keel_buffer_t made_finish(made_t *made) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_buffer_append(&out, "ML\xefR", 4);
    put_varint(&out, made->version);
    keel_buffer_append(&out, "made", 5);
    put_dialects(made, &out);
    put_tables(made, &out);
    put_ir(made, &out);
    if (made->has_resources) {
        put_section(&out, 6, &made->resource_offsets);
        keel_buffer_byte(&out, 5 | 0x80);
        put_varint(&out, made->resources.size);
        put_varint(&out, 16);
        while (out.size % 16)
            keel_buffer_byte(&out, 0xcb);
        keel_buffer_append(&out, made->resources.data, made->resources.size);
    }
    put_strings(made, &out);
    if (made->version >= 5) {
        keel_buffer_t b;
        keel_buffer_initialize(&b, 0);
        put_varint(&b, made->property_count);
        keel_buffer_append(&b, made->properties.data, made->properties.size);
        put_section(&out, 8, &b);
    }
    keel_buffer_deinitialize(&made->ir);
    keel_buffer_deinitialize(&made->properties);
    keel_buffer_deinitialize(&made->resources);
    keel_buffer_deinitialize(&made->resource_offsets);
    return out;
}

// ---- operations --------------------------------------------------------------------------------

typedef struct numbers_t {
    const uint64_t *items;
    size_t count;
} numbers_t;
#define LIST(...) ((numbers_t){NUMBERS(__VA_ARGS__)})
#define EMPTY ((numbers_t){NULL, 0})
enum { ABSENT = -1 };

// An operation up to its regions, which whoever asks for `regions` writes behind it.
static inline void put_op(keel_buffer_t *b, unsigned name, int dictionary, int properties,
                          numbers_t results, numbers_t operands, unsigned regions) {
    put_varint(b, name);
    keel_buffer_byte(b, (uint8_t)((dictionary != ABSENT ? 1 : 0) | (results.count ? 2 : 0) |
                                  (operands.count ? 4 : 0) | (regions ? 0x10 : 0) |
                                  (properties != ABSENT ? 0x40 : 0)));
    put_varint(b, 0);
    if (dictionary != ABSENT) put_varint(b, (uint64_t)dictionary);
    if (properties != ABSENT) put_varint(b, (uint64_t)properties);
    const numbers_t lists[] = {results, operands};
    for (size_t i = 0; i < 2; ++i) {
        if (!lists[i].count) continue;
        put_varint(b, lists[i].count);
        for (size_t n = 0; n < lists[i].count; ++n)
            put_varint(b, lists[i].items[n]);
    }
    if (regions) put_flagged(b, regions, false);
}

#endif // KEEL_TESTS_MLIR_BUILD_H_
