#include "read/mlir_entry.h"

// The attributes of MLIR's builtin dialect, which every program needs, and all locations. Source:
// mlir/include/mlir/IR/BuiltinDialectBytecode.td.
enum code {
    ARRAY,
    DICTIONARY,
    STRING,
    TYPED_STRING,
    SYMBOL,
    NESTED_SYMBOL,
    TYPE,
    UNIT,
    INTEGER,
    FLOAT,
    CALLSITE,
    FILE_LINE_COLUMN,
    FUSED,
    FUSED_WITH_METADATA,
    NAME,
    UNKNOWN,
    RESOURCE,
    DENSE_ARRAY,
    DENSE,
    STRINGS,
    SPARSE,
    DISTINCT,
    FILE_RANGE,
};

// "line", "line column", "line column end column" or all four; kept as line, column, end line, end
// column.
static keel_status_t read_range(keel_mlir_t *m, keel_cursor_t *c, uint32_t count,
                                keel_attr_t *out) {
    *out = (keel_attr_t){
        .kind = KEEL_ATTR_LOC_FILE, .a = keel_mlir_attr(m, c), .b = m->program->pool.count};
    if (count == KEEL_NONE) count = keel_mlir_count(c, 1);
    if (count > 4) keel_cursor_fail(c);
    uint32_t numbers[4] = {0};
    for (uint32_t i = 0; i < count && !c->failed; ++i)
        numbers[i] = keel_mlir_index(c, UINT32_MAX);
    if (c->failed) return NULL;
    if (count == 3) {
        numbers[3] = numbers[2];
        numbers[2] = numbers[0];
        count = 4;
    }
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, 5));
    uint32_t *list = m->program->pool.data + m->program->pool.count;
    *list++ = count;
    for (uint32_t i = 0; i < count; ++i)
        list[i] = numbers[i];
    m->program->pool.count += count + 1;
    return NULL;
}

// Elements of a shape; false if their number is not fixed.
static bool count_elements(const keel_program_t *program, keel_type_id_t id, uint64_t *out) {
    const keel_type_t *type = &program->types.data[id];
    if (type->kind != KEEL_TYPE_TENSOR) return false;
    keel_ints_t dims = keel_program_ints(program, type->b);
    *out = 1;
    for (uint32_t i = 0; i < dims.count; ++i)
        if (dims.items[i] < 0 || __builtin_mul_overflow(*out, (uint64_t)dims.items[i], out))
            return false;
    return true;
}

static keel_status_t read_strings(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    *out = (keel_attr_t){.kind = KEEL_ATTR_STRINGS, .a = keel_mlir_type(m, c)};
    uint64_t is_splat = keel_mlir_varint(c), count = 1;
    if (c->failed || is_splat > 1 || !count_elements(m->program, out->a, &count) ||
        (!is_splat && count > keel_cursor_left(c))) {
        keel_cursor_fail(c);
        return NULL;
    }
    out->aux = (uint8_t)is_splat;
    return keel_mlir_string_list(m, c, is_splat ? 1 : (uint32_t)count, &out->b);
}

static keel_status_t read_dense_array(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    *out = (keel_attr_t){.kind = KEEL_ATTR_DENSE_ARRAY, .a = keel_mlir_type(m, c)};
    uint64_t count = keel_mlir_varint(c);
    KEEL_TRY(keel_mlir_blob(m, c, &out->b));
    if (c->failed) return NULL;
    const keel_type_t *type = &m->program->types.data[out->a];
    static const uint8_t float_bits[] = {
#define BITS(name, text, bits) bits,
        KEEL_FLOATS(BITS)
#undef BITS
    };
    uint64_t width = type->kind == KEEL_TYPE_INTEGER ? type->a
                     : type->kind == KEEL_TYPE_FLOAT ? float_bits[type->a]
                                                     : 0;
    uint64_t size;
    if (width == 0 || __builtin_mul_overflow(count, (width + 7) / 8, &size) ||
        size != m->program->blobs.data[out->b].size)
        keel_cursor_fail(c);
    return NULL;
}

// A constant whose bytes are in the resource section.
static keel_status_t read_resource(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_DENSE_RESOURCE};
    keel_attr_t type = {.kind = KEEL_ATTR_TYPE, .a = keel_mlir_type(m, c)};
    uint32_t handle = keel_mlir_index(c, m->resources.count);
    if (c->failed) return NULL;
    const keel_mlir_resource_t *resource = &m->resources.data[handle];
    if (!resource->is_blob)
        return keel_status_make(KEEL_UNSUPPORTED, "a constant in resource %u, which holds no bytes",
                                handle);
    keel_attr_t value = {.kind = KEEL_ATTR_BYTES, .a = resource->key, .b = m->program->blobs.count};
    KEEL_MLIR_PUSH(&m->program->blobs, resource->blob);
    KEEL_TRY(keel_mlir_field_new(m, &r, KEEL_MLIR_type, type));
    KEEL_TRY(keel_mlir_field_new(m, &r, KEEL_MLIR_value, value));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_sparse(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    *out = (keel_attr_t){.kind = KEEL_ATTR_SPARSE, .a = keel_mlir_type(m, c)};
    uint32_t parts[2];
    parts[0] = keel_mlir_attr(m, c);
    parts[1] = keel_mlir_attr(m, c);
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, 3));
    return keel_program_add_list(m->program, parts, 2, &out->b);
}

static keel_status_t read_location(keel_mlir_t *m, keel_cursor_t *c, uint64_t code,
                                   keel_attr_t *out) {
    switch (code) {
        case CALLSITE:
            *out = (keel_attr_t){.kind = KEEL_ATTR_LOC_CALLSITE, .a = keel_mlir_attr(m, c)};
            out->b = keel_mlir_attr(m, c);
            return NULL;
        case NAME:
            *out = (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME, .a = keel_mlir_attr(m, c)};
            out->b = keel_mlir_attr(m, c);
            return NULL;
        case FILE_LINE_COLUMN:
            return read_range(m, c, 2, out);
        case FILE_RANGE:
            return read_range(m, c, KEEL_NONE, out);
        case FUSED:
        case FUSED_WITH_METADATA:
            *out = (keel_attr_t){.kind = KEEL_ATTR_LOC_FUSED, .a = KEEL_NONE};
            KEEL_TRY(keel_mlir_attr_list(m, c, &out->b));
            if (code == FUSED_WITH_METADATA) out->a = keel_mlir_attr(m, c);
            return NULL;
        default:
            *out = (keel_attr_t){.kind = KEEL_ATTR_LOC_UNKNOWN};
            return NULL;
    }
}

keel_status_t keel_mlir_builtin_attr(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    uint64_t code = keel_mlir_varint(c);
    switch (code) {
        case CALLSITE:
        case NAME:
        case FILE_LINE_COLUMN:
        case FILE_RANGE:
        case FUSED:
        case FUSED_WITH_METADATA:
        case UNKNOWN:
            return read_location(m, c, code, out);
        case ARRAY:
            *out = (keel_attr_t){.kind = KEEL_ATTR_ARRAY};
            return keel_mlir_attr_list(m, c, &out->b);
        case DICTIONARY:
            *out = (keel_attr_t){.kind = KEEL_ATTR_DICT};
            return keel_mlir_pair_list(m, c, &out->b);
        case STRING:
        case TYPED_STRING:
            *out =
                (keel_attr_t){.kind = KEEL_ATTR_STRING, .a = keel_mlir_str(m, c), .b = KEEL_NONE};
            if (code == TYPED_STRING) out->b = keel_mlir_type(m, c);
            return NULL;
        case SYMBOL:
        case NESTED_SYMBOL:
            *out =
                (keel_attr_t){.kind = KEEL_ATTR_SYMBOL, .a = keel_mlir_attr(m, c), .b = KEEL_NONE};
            return code == NESTED_SYMBOL ? keel_mlir_attr_list(m, c, &out->b) : NULL;
        case TYPE:
            *out = (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = keel_mlir_type(m, c)};
            return NULL;
        case UNIT:
            *out = (keel_attr_t){.kind = KEEL_ATTR_UNIT};
            return NULL;
        case INTEGER:
            return keel_mlir_integer(m, c, out);
        case FLOAT:
            return keel_mlir_float(m, c, out);
        case RESOURCE:
            return read_resource(m, c, out);
        case DENSE_ARRAY:
            return read_dense_array(m, c, out);
        case DENSE:
            *out = (keel_attr_t){.kind = KEEL_ATTR_TENSOR, .a = keel_mlir_type(m, c)};
            return keel_mlir_blob(m, c, &out->b);
        case STRINGS:
            return read_strings(m, c, out);
        case SPARSE:
            return read_sparse(m, c, out);
        case DISTINCT:
            *out = (keel_attr_t){.kind = KEEL_ATTR_DISTINCT, .a = keel_mlir_attr(m, c)};
            return NULL;
        default:
            return keel_mlir_unknown_code("builtin attribute", code);
    }
}
