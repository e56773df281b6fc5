#include "read/mlir_entry.h"

uint32_t keel_mlir_optional_attr(const keel_mlir_t *m, keel_cursor_t *c) {
    bool is_present;
    uint64_t value = keel_mlir_flagged(c, &is_present);
    if (is_present ? value >= m->attr_count : value != 0) keel_cursor_fail(c);
    return is_present && !c->failed ? (uint32_t)value : KEEL_NONE;
}

// `each` indices per item.
static keel_status_t index_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t each, uint32_t limit,
                                uint32_t *out) {
    uint32_t count = keel_mlir_count(c, each) * each;
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, (uint64_t)count + 1));
    uint32_t *items = m->program->pool.data + m->program->pool.count;
    *out = m->program->pool.count;
    m->program->pool.count += count + 1;
    *items++ = count;
    for (uint32_t i = 0; i < count; ++i)
        items[i] = keel_mlir_index(c, limit);
    return NULL;
}

keel_status_t keel_mlir_attr_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) {
    return index_list(m, c, 1, m->attr_count, out);
}

keel_status_t keel_mlir_pair_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) {
    return index_list(m, c, 2, m->attr_count, out);
}

keel_status_t keel_mlir_type_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) {
    return index_list(m, c, 1, m->type_count, out);
}

keel_status_t keel_mlir_string_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t count,
                                    uint32_t *out) {
    if (count > keel_cursor_left(c)) {
        keel_cursor_fail(c);
        count = 0;
    }
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, (uint64_t)count + 1));
    *out = m->program->pool.count;
    m->program->pool.data[m->program->pool.count++] = count;
    for (uint32_t i = 0; i < count; ++i)
        m->program->pool.data[m->program->pool.count++] = keel_mlir_str(m, c);
    return NULL;
}

keel_status_t keel_mlir_int_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) {
    uint32_t count = keel_mlir_count(c, 1);
    KEEL_TRY(keel_mlir_reserve(&m->program->ints, (uint64_t)count + 1));
    *out = m->program->ints.count;
    m->program->ints.data[m->program->ints.count++] = count;
    for (uint32_t i = 0; i < count; ++i)
        m->program->ints.data[m->program->ints.count++] = keel_mlir_svarint(c);
    return NULL;
}

keel_status_t keel_mlir_blob(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) {
    keel_bytes_t blob = keel_cursor_take(c, keel_mlir_varint(c));
    *out = m->program->blobs.count;
    KEEL_MLIR_PUSH(&m->program->blobs, blob);
    return NULL;
}

// ---- numbers -----------------------------------------------------------------------------------

uint64_t keel_mlir_bits(keel_cursor_t *c, uint32_t width) {
    uint64_t bits = width <= 8 ? keel_cursor_byte(c) : (uint64_t)keel_mlir_svarint(c);
    return width >= 64 ? bits : bits & ((UINT64_C(1) << width) - 1);
}

static keel_status_t add_int(keel_mlir_t *m, uint64_t value, uint32_t *out) {
    *out = m->program->ints.count;
    KEEL_MLIR_PUSH(&m->program->ints, (int64_t)value);
    return NULL;
}

// Sign-extended, except unsigned numbers and bools.
static uint64_t extend(uint64_t bits, uint32_t width, bool is_signed) {
    if (!is_signed || width >= 64 || !(bits >> (width - 1) & 1)) return bits;
    return bits | ~((UINT64_C(1) << width) - 1);
}

keel_status_t keel_mlir_integer(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_type_id_t id = keel_mlir_type(m, c);
    if (c->failed) return NULL;
    const keel_type_t *type = &m->program->types.data[id];
    uint32_t width = type->kind == KEEL_TYPE_INDEX ? 64 : type->a;
    if ((type->kind != KEEL_TYPE_INDEX && type->kind != KEEL_TYPE_INTEGER) || width == 0) {
        keel_cursor_fail(c);
        return NULL;
    }
    *out = (keel_attr_t){.kind = KEEL_ATTR_INT, .a = id};
    if (width > 64) {
        out->kind = KEEL_ATTR_WIDE_INT;
        return keel_mlir_int_list(m, c, &out->b);
    }
    bool is_signed = type->aux != KEEL_UNSIGNED && width > 1;
    return add_int(m, extend(keel_mlir_bits(c, width), width, is_signed), &out->b);
}

// The bits that the bytecode stores for a float; they can differ from its storage.
static uint32_t float_width(keel_float_t format) {
    static const uint8_t storage[] = {
#define BITS(name, text, bits) bits,
        KEEL_FLOATS(BITS)
#undef BITS
    };
    switch (format) {
        case KEEL_FLOAT_TF32:
            return 19;
        case KEEL_FLOAT_F4E2M1FN:
            return 4;
        case KEEL_FLOAT_F6E2M3FN:
        case KEEL_FLOAT_F6E3M2FN:
            return 6;
        default:
            return storage[format];
    }
}

keel_status_t keel_mlir_float(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_type_id_t id = keel_mlir_type(m, c);
    if (c->failed) return NULL;
    const keel_type_t *type = &m->program->types.data[id];
    if (type->kind != KEEL_TYPE_FLOAT) {
        keel_cursor_fail(c);
        return NULL;
    }
    uint32_t width = float_width(type->a);
    if (width > 64)
        return keel_status_make(KEEL_UNSUPPORTED, "a float attribute of %u bits", width);
    *out = (keel_attr_t){.kind = KEEL_ATTR_FLOAT, .a = id};
    return add_int(m, keel_mlir_bits(c, width), &out->b);
}

keel_status_t keel_mlir_enum(keel_cursor_t *c, keel_enum_class_t klass, keel_attr_t *out) {
    uint64_t value = keel_mlir_varint(c);
    if (value > UINT32_MAX || !keel_enum_name(klass, (uint32_t)value))
        return c->failed ? NULL
                         : keel_status_make(KEEL_UNSUPPORTED, "value %llu of enumeration %s",
                                            (unsigned long long)value, keel_enum_class_name(klass));
    *out = (keel_attr_t){.kind = KEEL_ATTR_ENUM, .klass = klass, .a = (uint32_t)value};
    return NULL;
}

keel_status_t keel_mlir_f64(keel_mlir_t *m, keel_type_id_t *out) {
    if (m->f64 == KEEL_NONE) {
        keel_type_t type = {.kind = KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_F64};
        KEEL_MLIR_PUSH(&m->program->types, type);
        m->f64 = m->program->types.count - 1;
    }
    *out = m->f64;
    return NULL;
}

// ---- structured attributes ---------------------------------------------------------------------

keel_status_t keel_mlir_field(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                              keel_attr_id_t value) {
    KEEL_TRY(keel_mlir_name_string(m, name, &record->items[record->count]));
    record->items[record->count + 1] = value;
    record->count += 2;
    return NULL;
}

keel_status_t keel_mlir_field_new(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                                  keel_attr_t value) {
    KEEL_MLIR_PUSH(&m->program->attrs, value);
    return keel_mlir_field(m, record, name, m->program->attrs.count - 1);
}

keel_status_t keel_mlir_field_int(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                                  int64_t value) {
    keel_attr_t attr = {.kind = KEEL_ATTR_INT, .a = KEEL_NONE};
    KEEL_TRY(add_int(m, (uint64_t)value, &attr.b));
    return keel_mlir_field_new(m, record, name, attr);
}

keel_status_t keel_mlir_field_f64(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                                  uint64_t bits) {
    keel_attr_t attr = {.kind = KEEL_ATTR_FLOAT};
    KEEL_TRY(keel_mlir_f64(m, &attr.a));
    KEEL_TRY(add_int(m, bits, &attr.b));
    return keel_mlir_field_new(m, record, name, attr);
}

keel_status_t keel_mlir_field_ints(keel_mlir_t *m, keel_cursor_t *c, keel_mlir_record_t *record,
                                   keel_mlir_name_t name) {
    keel_attr_t attr = {.kind = KEEL_ATTR_INTS};
    KEEL_TRY(keel_mlir_int_list(m, c, &attr.b));
    return keel_mlir_field_new(m, record, name, attr);
}

keel_status_t keel_mlir_field_array(keel_mlir_t *m, keel_cursor_t *c, keel_mlir_record_t *record,
                                    keel_mlir_name_t name, keel_record_t items) {
    keel_attr_t attr = {.kind = KEEL_ATTR_ARRAY};
    attr.aux = items == KEEL_RECORD_DICTIONARY ? KEEL_MLIR_OF_STRINGS : KEEL_MLIR_OF_RECORDS;
    attr.klass = items;
    KEEL_TRY(keel_mlir_attr_list(m, c, &attr.b));
    return keel_mlir_field_new(m, record, name, attr);
}

keel_status_t keel_mlir_record(keel_mlir_t *m, const keel_mlir_record_t *record, keel_attr_t *out) {
    *out =
        (keel_attr_t){.kind = KEEL_ATTR_DICT, .klass = record->klass, .b = m->program->pool.count};
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, (uint64_t)record->count + 1));
    uint32_t *list = m->program->pool.data + m->program->pool.count;
    *list = record->count;
    memcpy(list + 1, record->items, record->count * sizeof *list);
    m->program->pool.count += record->count + 1;
    return NULL;
}
