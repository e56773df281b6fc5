#include "read/mlir_entry.h"

// The attributes of Shardy. Source: openxla/shardy bytecode.td.
enum code {
    MANUAL_AXES,
    MESH_AXIS,
    MESH,
    SUB_AXIS,
    AXIS_REF,
    DIMENSION,
    SHARDING,
    SHARDING_PER_VALUE,
    DIM_MAPPING,
    TENSOR_MAPPING,
    SHARDING_RULE,
    AXIS_REF_LIST,
    LIST_OF_AXIS_REF_LISTS,
    ALL_TO_ALL_PARAM,
    ALL_TO_ALL_PARAM_LIST,
    UNREDUCED_SHARDING,
    UNREDUCED_SHARDING_PER_VALUE,
    REDUCTION_SHARDING,
};

static keel_status_t field_string(keel_mlir_t *m, keel_cursor_t *c, keel_mlir_record_t *r,
                                  keel_mlir_name_t name) {
    keel_attr_t attr = {.kind = KEEL_ATTR_STRING, .a = keel_mlir_str(m, c), .b = KEEL_NONE};
    return keel_mlir_field_new(m, r, name, attr);
}

static keel_status_t field_bool(keel_mlir_t *m, keel_cursor_t *c, keel_mlir_record_t *r,
                                keel_mlir_name_t name) {
    keel_attr_t attr = {.kind = KEEL_ATTR_BOOL, .a = keel_cursor_byte(c)};
    if (attr.a > 1) keel_cursor_fail(c);
    return keel_mlir_field_new(m, r, name, attr);
}

static keel_status_t read_list(keel_mlir_t *m, keel_cursor_t *c, keel_record_t klass,
                               keel_mlir_name_t name, keel_record_t items, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = klass};
    KEEL_TRY(keel_mlir_field_array(m, c, &r, name, items));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_mesh_axis(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_MESH_AXIS};
    KEEL_TRY(field_string(m, c, &r, KEEL_MLIR_name));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_size, keel_mlir_svarint(c)));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_mesh(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_MESH};
    KEEL_TRY(keel_mlir_field_array(m, c, &r, KEEL_MLIR_axes, KEEL_RECORD_SDY_MESH_AXIS));
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_device_ids));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_sub_axis(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_SUB_AXIS};
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_pre_size, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_size, keel_mlir_svarint(c)));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_axis_ref(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_AXIS_REF};
    KEEL_TRY(field_string(m, c, &r, KEEL_MLIR_name));
    keel_attr_id_t sub_axis = keel_mlir_optional_attr(m, c);
    if (sub_axis != KEEL_NONE) KEEL_TRY(keel_mlir_field(m, &r, KEEL_MLIR_sub_axis_info, sub_axis));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_dimension(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_DIMENSION_SHARDING};
    KEEL_TRY(keel_mlir_field_array(m, c, &r, KEEL_MLIR_axes, KEEL_RECORD_SDY_AXIS_REF));
    KEEL_TRY(field_bool(m, c, &r, KEEL_MLIR_is_closed));
    bool has_priority;
    uint64_t priority = keel_mlir_flagged(c, &has_priority);
    if (has_priority)
        KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_priority, (int64_t)priority));
    else if (priority)
        keel_cursor_fail(c);
    return keel_mlir_record(m, &r, out);
}

// Older codes leave out fields that newer ones add, if those are empty.
static keel_status_t read_sharding(keel_mlir_t *m, keel_cursor_t *c, uint64_t code,
                                   keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_SHARDING};
    KEEL_TRY(keel_mlir_field(m, &r, KEEL_MLIR_mesh, keel_mlir_attr(m, c)));
    KEEL_TRY(
        keel_mlir_field_array(m, c, &r, KEEL_MLIR_dimensions, KEEL_RECORD_SDY_DIMENSION_SHARDING));
    KEEL_TRY(keel_mlir_field_array(m, c, &r, KEEL_MLIR_replicated, KEEL_RECORD_SDY_AXIS_REF));
    if (code != SHARDING)
        KEEL_TRY(keel_mlir_field_array(m, c, &r, KEEL_MLIR_unreduced, KEEL_RECORD_SDY_AXIS_REF));
    if (code == REDUCTION_SHARDING) {
        int64_t reduction = keel_mlir_svarint(c); // 0 sum, 1 max, 2 min
        if (reduction < 0 || reduction > 2)
            return keel_mlir_unknown_code("sdy reduction", (uint64_t)reduction);
        KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_reduction, reduction));
    }
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_rule(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_SHARDING_RULE};
    keel_record_t mapping = KEEL_RECORD_SDY_TENSOR_MAPPING;
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_factor_sizes));
    KEEL_TRY(keel_mlir_field_array(m, c, &r, KEEL_MLIR_operand_mappings, mapping));
    KEEL_TRY(keel_mlir_field_array(m, c, &r, KEEL_MLIR_result_mappings, mapping));
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_reduction_factors));
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_need_replication_factors));
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_permutation_factors));
    KEEL_TRY(keel_mlir_field_ints(m, c, &r, KEEL_MLIR_blocked_propagation_factors));
    KEEL_TRY(field_bool(m, c, &r, KEEL_MLIR_is_custom_rule));
    return keel_mlir_record(m, &r, out);
}

static keel_status_t read_all_to_all(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    keel_mlir_record_t r = {.klass = KEEL_RECORD_SDY_ALL_TO_ALL_PARAM};
    KEEL_TRY(keel_mlir_field_array(m, c, &r, KEEL_MLIR_axes, KEEL_RECORD_SDY_AXIS_REF));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_src_dim, keel_mlir_svarint(c)));
    KEEL_TRY(keel_mlir_field_int(m, &r, KEEL_MLIR_tgt_dim, keel_mlir_svarint(c)));
    return keel_mlir_record(m, &r, out);
}

keel_status_t keel_mlir_sdy_attr(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) {
    uint64_t code = keel_mlir_varint(c);
    switch (code) {
        case MANUAL_AXES:
            return read_list(m, c, KEEL_RECORD_SDY_MANUAL_AXES, KEEL_MLIR_axes,
                             KEEL_RECORD_DICTIONARY, out);
        case MESH_AXIS:
            return read_mesh_axis(m, c, out);
        case MESH:
            return read_mesh(m, c, out);
        case SUB_AXIS:
            return read_sub_axis(m, c, out);
        case AXIS_REF:
            return read_axis_ref(m, c, out);
        case DIMENSION:
            return read_dimension(m, c, out);
        case SHARDING:
        case UNREDUCED_SHARDING:
        case REDUCTION_SHARDING:
            return read_sharding(m, c, code, out);
        case SHARDING_PER_VALUE:
        case UNREDUCED_SHARDING_PER_VALUE:
            return read_list(m, c, KEEL_RECORD_SDY_SHARDING_PER_VALUE, KEEL_MLIR_shardings,
                             KEEL_RECORD_SDY_SHARDING, out);
        case DIM_MAPPING:
            *out = (keel_attr_t){.kind = KEEL_ATTR_INTS, .klass = KEEL_RECORD_SDY_DIM_MAPPING};
            return keel_mlir_int_list(m, c, &out->b);
        case TENSOR_MAPPING:
            return read_list(m, c, KEEL_RECORD_SDY_TENSOR_MAPPING, KEEL_MLIR_dim_mappings,
                             KEEL_RECORD_SDY_DIM_MAPPING, out);
        case SHARDING_RULE:
            return read_rule(m, c, out);
        case AXIS_REF_LIST:
            return read_list(m, c, KEEL_RECORD_SDY_AXIS_REF_LIST, KEEL_MLIR_axes,
                             KEEL_RECORD_SDY_AXIS_REF, out);
        case LIST_OF_AXIS_REF_LISTS:
            return read_list(m, c, KEEL_RECORD_SDY_LIST_OF_AXIS_REF_LISTS, KEEL_MLIR_lists,
                             KEEL_RECORD_SDY_AXIS_REF_LIST, out);
        case ALL_TO_ALL_PARAM:
            return read_all_to_all(m, c, out);
        case ALL_TO_ALL_PARAM_LIST:
            return read_list(m, c, KEEL_RECORD_SDY_ALL_TO_ALL_PARAM_LIST, KEEL_MLIR_params,
                             KEEL_RECORD_SDY_ALL_TO_ALL_PARAM, out);
        default:
            return keel_mlir_unknown_code("sdy attribute", code);
    }
}
