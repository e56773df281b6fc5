#include "read/mlir_entry.h"

// Codes for types without parameters: kind, `a` and `aux`.
typedef struct simple_t {
    uint8_t code, kind, aux;
    uint32_t a;
} simple_t;

#define FLOAT(code, name)                                                                          \
    { code, KEEL_TYPE_FLOAT, 0, KEEL_FLOAT_##name }
#define INTEGER(code, width, sign)                                                                 \
    { code, KEEL_TYPE_INTEGER, sign, width }
#define PLAIN(code, kind)                                                                          \
    { code, kind, 0, 0 }

static const simple_t builtin_types[] = {
    PLAIN(1, KEEL_TYPE_INDEX),
    FLOAT(3, BF16),
    FLOAT(4, F16),
    FLOAT(5, F32),
    FLOAT(6, F64),
    FLOAT(7, F80),
    FLOAT(8, F128),
    PLAIN(12, KEEL_TYPE_NONE),
    FLOAT(21, TF32),
    FLOAT(22, F8E5M2),
    FLOAT(23, F8E4M3),
    FLOAT(24, F8E4M3FN),
    FLOAT(25, F8E5M2FNUZ),
    FLOAT(26, F8E4M3FNUZ),
    FLOAT(27, F8E4M3B11FNUZ),
    FLOAT(28, F8E3M4),
    FLOAT(29, F4E2M1FN),
    FLOAT(30, F6E2M3FN),
    FLOAT(31, F6E3M2FN),
    FLOAT(32, F8E8M0FNU),
};

static const simple_t vhlo_types[] = {
    INTEGER(0, 1, KEEL_SIGNLESS),
    FLOAT(2, BF16),
    FLOAT(3, F16),
    FLOAT(4, F32),
    FLOAT(5, F64),
    FLOAT(6, F8E4M3FN),
    FLOAT(7, F8E5M2),
    PLAIN(9, KEEL_TYPE_INDEX),
    INTEGER(10, 4, KEEL_SIGNLESS),
    INTEGER(11, 8, KEEL_SIGNLESS),
    INTEGER(12, 16, KEEL_SIGNLESS),
    INTEGER(13, 32, KEEL_SIGNLESS),
    INTEGER(14, 64, KEEL_SIGNLESS),
    INTEGER(15, 4, KEEL_UNSIGNED),
    INTEGER(16, 8, KEEL_UNSIGNED),
    INTEGER(17, 16, KEEL_UNSIGNED),
    INTEGER(18, 32, KEEL_UNSIGNED),
    INTEGER(19, 64, KEEL_UNSIGNED),
    PLAIN(22, KEEL_TYPE_TOKEN),
    PLAIN(26, KEEL_TYPE_WITNESS),
    FLOAT(27, F8E4M3FNUZ),
    FLOAT(28, F8E5M2FNUZ),
    FLOAT(29, F8E4M3B11FNUZ),
    INTEGER(31, 2, KEEL_SIGNLESS),
    INTEGER(32, 2, KEEL_UNSIGNED),
    PLAIN(33, KEEL_TYPE_NONE),
    FLOAT(34, TF32),
    FLOAT(35, F8E4M3),
    FLOAT(36, F8E3M4),
    FLOAT(37, F4E2M1FN),
    FLOAT(38, F6E2M3FN),
    FLOAT(39, F6E3M2FN),
    FLOAT(40, F8E8M0FNU),
};

static bool find_simple(const simple_t *types, size_t count, uint64_t code, keel_type_t *out) {
    for (size_t i = 0; i < count; ++i) {
        if (types[i].code != code) continue;
        *out = (keel_type_t){.kind = types[i].kind, .aux = types[i].aux, .a = types[i].a};
        return true;
    }
    return false;
}

static keel_status_t read_shaped(keel_mlir_t *m, keel_cursor_t *c, keel_type_kind_t kind,
                                 bool has_encoding, keel_type_t *out) {
    *out = (keel_type_t){.kind = kind, .c = KEEL_NONE};
    if (has_encoding) out->c = keel_mlir_attr(m, c);
    KEEL_TRY(keel_mlir_int_list(m, c, &out->b));
    out->a = keel_mlir_type(m, c);
    return NULL;
}

static keel_status_t read_function(keel_mlir_t *m, keel_cursor_t *c, keel_type_t *out) {
    *out = (keel_type_t){.kind = KEEL_TYPE_FUNCTION};
    KEEL_TRY(keel_mlir_type_list(m, c, &out->b));
    return keel_mlir_type_list(m, c, &out->c);
}

static keel_status_t read_element(keel_mlir_t *m, keel_cursor_t *c, keel_type_kind_t kind,
                                  keel_type_t *out) {
    *out = (keel_type_t){.kind = kind, .a = keel_mlir_type(m, c)};
    return NULL;
}

static keel_status_t read_types(keel_mlir_t *m, keel_cursor_t *c, keel_type_kind_t kind,
                                keel_type_t *out) {
    *out = (keel_type_t){.kind = kind, .c = KEEL_NONE};
    return keel_mlir_type_list(m, c, &out->b);
}

static keel_status_t read_builtin(keel_mlir_t *m, keel_cursor_t *c, uint64_t code,
                                  keel_type_t *out) {
    switch (code) {
        case 0: {
            uint64_t integer = keel_mlir_varint(c), width = integer >> 2;
            // MLIR allows no wider integers.
            if ((integer & 3) == 3 || width == 0 || width > 0xffffff) keel_cursor_fail(c);
            *out =
                (keel_type_t){.kind = KEEL_TYPE_INTEGER, .aux = integer & 3, .a = (uint32_t)width};
            return NULL;
        }
        case 2:
            return read_function(m, c, out);
        case 9:
            return read_element(m, c, KEEL_TYPE_COMPLEX, out);
        case 13:
        case 14:
            return read_shaped(m, c, KEEL_TYPE_TENSOR, code == 14, out);
        case 15:
            return read_types(m, c, KEEL_TYPE_TUPLE, out);
        case 18:
            return read_element(m, c, KEEL_TYPE_UNRANKED_TENSOR, out);
    }
    if (find_simple(builtin_types, sizeof builtin_types / sizeof *builtin_types, code, out))
        return NULL;
    return keel_mlir_unknown_code("builtin type", code);
}

// flags, storage, expressed; then a scale, a zero point and the storage's bounds.
static keel_status_t read_quantized(keel_mlir_t *m, keel_cursor_t *c, keel_type_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_QUANTIZATION};
    *out = (keel_type_t){.kind = KEEL_TYPE_QUANTIZED};
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_flags, (int64_t)keel_mlir_varint(c)));
    out->a = keel_mlir_type(m, c);
    out->b = keel_mlir_type(m, c);
    KEEL_TRY(keel_mlir_field_f64(m, &r, KEEL_MLIR_scale, keel_mlir_bits(c, 64)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_zero_point, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_min, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_max, keel_mlir_svarint(c)));
    keel_attr_t attr;
    KEEL_TRY(keel_mlir_record(m, &r, &attr));
    out->c = m->program->attrs.count;
    KEEL_MLIR_PUSH(&m->program->attrs, attr);
    return NULL;
}

// The scales: an array of float attributes.
static keel_status_t read_scales(keel_mlir_t *m, keel_cursor_t *c, keel_mlir_record_t *r) {
    uint32_t count = keel_mlir_count(c, 1);
    keel_type_id_t f64;
    KEEL_TRY(keel_mlir_f64(m, &f64));
    KEEL_TRY(keel_mlir_reserve(&m->program->attrs, (uint64_t)count + 1));
    KEEL_TRY(keel_mlir_reserve(&m->program->ints, count));
    KEEL_TRY(keel_mlir_reserve(&m->program->pool, (uint64_t)count + 1));
    keel_attr_t array = {.kind = KEEL_ATTR_ARRAY, .b = m->program->pool.count};
    m->program->pool.data[m->program->pool.count++] = count;
    for (uint32_t i = 0; i < count; ++i) {
        keel_attr_t scale = {.kind = KEEL_ATTR_FLOAT, .a = f64, .b = m->program->ints.count};
        m->program->ints.data[m->program->ints.count++] = (int64_t)keel_mlir_bits(c, 64);
        m->program->pool.data[m->program->pool.count++] = m->program->attrs.count;
        m->program->attrs.data[m->program->attrs.count++] = scale;
    }
    return keel_mlir_field_new(m, r, KEEL_MLIR_scales, array);
}

static keel_status_t read_quantized_per_axis(keel_mlir_t *m, keel_cursor_t *c, keel_type_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_QUANTIZATION};
    *out = (keel_type_t){.kind = KEEL_TYPE_QUANTIZED};
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_flags, (int64_t)keel_mlir_varint(c)));
    out->a = keel_mlir_type(m, c);
    out->b = keel_mlir_type(m, c);
    KEEL_TRY(
        keel_mlir_field_int(m, &r, KEEL_MLIR_quantized_dimension, (int64_t)keel_mlir_varint(c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_min, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_max, keel_mlir_svarint(c)));
    KEEL_TRY(read_scales(m, c, &r));
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_zero_points));
    keel_attr_t attr;
    KEEL_TRY(keel_mlir_record(m, &r, &attr));
    out->c = m->program->attrs.count;
    KEEL_MLIR_PUSH(&m->program->attrs, attr);
    return NULL;
}

static keel_status_t read_vhlo(keel_mlir_t *m, keel_cursor_t *c, uint64_t code, keel_type_t *out) {
    switch (code) {
        case 1:
            return read_element(m, c, KEEL_TYPE_COMPLEX, out);
        case 8:
            return read_function(m, c, out);
        case 20:
        case 21:
            return read_shaped(m, c, KEEL_TYPE_TENSOR, code == 21, out);
        case 23:
            return read_types(m, c, KEEL_TYPE_TUPLE, out);
        case 24:
            return read_quantized(m, c, out);
        case 25:
            return read_element(m, c, KEEL_TYPE_UNRANKED_TENSOR, out);
        case 30:
            return read_quantized_per_axis(m, c, out);
        case 41:
            return read_shaped(m, c, KEEL_TYPE_BUFFER, false, out);
        case 42:
            return read_types(m, c, KEEL_TYPE_FUTURE, out);
    }
    if (find_simple(vhlo_types, sizeof vhlo_types / sizeof *vhlo_types, code, out)) return NULL;
    return keel_mlir_unknown_code("vhlo type", code);
}

// Source: openxla/stablehlo StablehloBytecode.cpp.
static keel_status_t read_stablehlo(uint64_t code, keel_type_t *out) {
    enum { TOKEN = 0 };
    if (code != TOKEN) return keel_mlir_unknown_code("stablehlo type", code);
    *out = (keel_type_t){.kind = KEEL_TYPE_TOKEN};
    return NULL;
}

keel_status_t keel_mlir_read_type(keel_mlir_t *m, keel_mlir_dialect_t dialect, keel_cursor_t *c,
                                  keel_type_t *out) {
    uint64_t code = keel_mlir_varint(c);
    if (c->failed) return NULL;
    if (dialect == KEEL_MLIR_VHLO) return read_vhlo(m, c, code, out);
    if (dialect == KEEL_MLIR_BUILTIN) return read_builtin(m, c, code, out);
    if (dialect == KEEL_MLIR_STABLEHLO) return read_stablehlo(code, out);
    return keel_mlir_unknown_code("sdy type", code);
}
