#include "read/mlir_entry.h"

// The attributes of VHLO. Source: openxla/stablehlo VhloBytecode.cpp.
enum code {
    ARRAY = 1,
    BOOL,
    COMPARISON_DIRECTION,
    COMPARISON_TYPE,
    API_VERSION,
    DICTIONARY,
    FFT_TYPE,
    FLOAT,
    INTEGER,
    OUTPUT_OPERAND_ALIAS,
    PRECISION,
    RNG_ALGORITHM,
    RNG_DISTRIBUTION,
    STRING,
    TENSOR,
    TRANSPOSE,
    TYPE,
    TYPE_EXTENSIONS,
    RESULT_ACCURACY_MODE,
    RESULT_ACCURACY,
    SUB_AXIS,
    AXIS_REF,
    REPLICA_GROUP_MESH_AXES,
    MESH_AXIS,
    MESH,
};

static keel_status_t read_alias(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_OUTPUT_OPERAND_ALIAS};
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_output_tuple_indices));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_operand_index, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_operand_tuple_indices));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_accuracy(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_RESULT_ACCURACY};
    KEEL_TRY(keel_mlir_field_f64(m, &r, KEEL_MLIR_atol, keel_mlir_bits(c, 64)));
    KEEL_TRY(keel_mlir_field_f64(m, &r, KEEL_MLIR_rtol, keel_mlir_bits(c, 64)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_ulps, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field(m, &r, KEEL_MLIR_mode, keel_mlir_attr(m, c)));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_sub_axis(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SUB_AXIS};
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_pre_size, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_size, keel_mlir_svarint(c)));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_axis_ref(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_AXIS_REF};
    KEEL_TRY(keel_mlir_field(m, &r, KEEL_MLIR_name, keel_mlir_attr(m, c)));
    if (keel_mlir_varint(c))
        KEEL_TRY(keel_mlir_field(m, &r, KEEL_MLIR_sub_axis_info, keel_mlir_attr(m, c)));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_mesh_axis(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_MESH_AXIS};
    KEEL_TRY(keel_mlir_field(m, &r, KEEL_MLIR_name, keel_mlir_attr(m, c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_size, keel_mlir_svarint(c)));
    return keel_mlir_record(m, &r, out);
}

// Two attributes; the second may be absent if it is optional.
static keel_status_t read_two(keel_mlir_t *m, keel_cursor_t *c, keel_record_t klass,
                              keel_mlir_name_t first, keel_mlir_name_t second, bool is_optional,
                              keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = klass};
    KEEL_TRY(keel_mlir_field(m, &r, first, keel_mlir_attr(m, c)));
    keel_attr_id_t other = is_optional ? keel_mlir_optional_attr(m, c) : keel_mlir_attr(m, c);
    if (other != KEEL_NONE) KEEL_TRY(keel_mlir_field(m, &r, second, other));
    return keel_mlir_record(m, &r, out);
}

keel_status_t keel_mlir_vhlo_attr(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    uint64_t code = keel_mlir_varint(c);
    switch (code) {
        case ARRAY:
            *out = (keel_attr_t){.kind = KEEL_ATTR_ARRAY};
            return keel_mlir_attr_list(m, c, &out->b);
        case BOOL:
            *out = (keel_attr_t){.kind = KEEL_ATTR_BOOL, .a = keel_mlir_index(c, 2)};
            return NULL;
        case COMPARISON_DIRECTION:
            return keel_mlir_enum(c, KEEL_ENUM_COMPARISON_DIRECTION, out);
        case COMPARISON_TYPE:
            return keel_mlir_enum(c, KEEL_ENUM_COMPARISON_TYPE, out);
        case API_VERSION:
            return keel_mlir_enum(c, KEEL_ENUM_API_VERSION, out);
        case DICTIONARY:
            *out = (keel_attr_t){.kind = KEEL_ATTR_DICT};
            return keel_mlir_pair_list(m, c, &out->b);
        case FFT_TYPE:
            return keel_mlir_enum(c, KEEL_ENUM_FFT_TYPE, out);
        case FLOAT:
            return keel_mlir_float(m, c, out);
        case INTEGER:
            return keel_mlir_integer(m, c, out);
        case OUTPUT_OPERAND_ALIAS:
            return read_alias(m, c, out);
        case PRECISION:
            return keel_mlir_enum(c, KEEL_ENUM_PRECISION, out);
        case RNG_ALGORITHM:
            return keel_mlir_enum(c, KEEL_ENUM_RNG_ALGORITHM, out);
        case RNG_DISTRIBUTION:
            return keel_mlir_enum(c, KEEL_ENUM_RNG_DISTRIBUTION, out);
        case STRING:
            *out =
                (keel_attr_t){.kind = KEEL_ATTR_STRING, .a = keel_mlir_str(m, c), .b = KEEL_NONE};
            return NULL;
        case TENSOR:
            *out = (keel_attr_t){.kind = KEEL_ATTR_TENSOR, .a = keel_mlir_type(m, c)};
            return keel_mlir_blob(m, c, &out->b);
        case TRANSPOSE:
            return keel_mlir_enum(c, KEEL_ENUM_TRANSPOSE, out);
        case TYPE:
            *out = (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = keel_mlir_type(m, c)};
            return NULL;
        case TYPE_EXTENSIONS:
            *out = (keel_attr_t){.kind = KEEL_ATTR_INTS, .klass = KEEL_RECORD_TYPE_EXTENSIONS};
            return keel_mlir_int_list(m, c, &out->b);
        case RESULT_ACCURACY_MODE:
            return keel_mlir_enum(c, KEEL_ENUM_RESULT_ACCURACY_MODE, out);
        case RESULT_ACCURACY:
            return read_accuracy(m, c, out);
        case SUB_AXIS:
            return read_sub_axis(m, c, out);
        case AXIS_REF:
            return read_axis_ref(m, c, out);
        case REPLICA_GROUP_MESH_AXES:
            return read_two(m, c, KEEL_RECORD_REPLICA_GROUP_MESH_AXES, KEEL_MLIR_mesh,
                            KEEL_MLIR_axes, false, out);
        case MESH_AXIS:
            return read_mesh_axis(m, c, out);
        case MESH:
            return read_two(m, c, KEEL_RECORD_MESH, KEEL_MLIR_axes, KEEL_MLIR_device_ids, true,
                            out);
        default:
            return keel_mlir_unknown_code("vhlo attribute", code);
    }
}
