// Records of Shardy. Inside each other they have no prefix, and some lists no brackets either.
// Source: openxla/shardy attrs.td, printers.cc.
#include "read/mlir_writer.h"

static keel_status_t write_record(keel_mlir_writer_t *writer, keel_attr_id_t id);

static keel_attr_id_t field(const keel_mlir_writer_t *writer, keel_attr_id_t id, const char *name) {
    return keel_program_dict_find(writer->program, id, name);
}

static keel_str_t text_of(const keel_mlir_writer_t *writer, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    return keel_program_str(writer->program, attr->kind == KEEL_ATTR_STRING ? attr->a : KEEL_NONE);
}

static keel_ints_t ints_of(const keel_mlir_writer_t *writer, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    return keel_program_ints(writer->program, attr->kind == KEEL_ATTR_INTS ? attr->b : KEEL_NONE);
}

static void write_number(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_buffer_format(writer->out, "%lld", (long long)keel_program_number(writer->program, id, 0));
}

static bool is_set(const keel_mlir_writer_t *writer, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    return attr->kind == KEEL_ATTR_BOOL && attr->a;
}

static keel_status_t write_records(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_list_t items = keel_program_array(writer->program, id);
    for (uint32_t i = 0; i < items.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        KEEL_TRY(write_record(writer, items.items[i]));
    }
    return NULL;
}

// ---- meshes ------------------------------------------------------------------------------------

static keel_status_t write_named_axis(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_mlir_write_string(writer, text_of(writer, field(writer, id, "name")));
    keel_mlir_write_text(writer, "=");
    write_number(writer, field(writer, id, "size"));
    return NULL;
}

static keel_status_t write_mesh(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_ints_t devices = ints_of(writer, field(writer, id, "device_ids"));
    keel_mlir_write_text(writer, "<[");
    KEEL_TRY(write_records(writer, field(writer, id, "axes")));
    keel_mlir_write_text(writer, "]");
    if (devices.count) {
        keel_mlir_write_text(writer, ", device_ids=");
        keel_mlir_write_sizes(writer, devices);
    }
    keel_mlir_write_text(writer, ">");
    return NULL;
}

static void write_sub_axis(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_mlir_write_text(writer, "(");
    write_number(writer, field(writer, id, "pre_size"));
    keel_mlir_write_text(writer, ")");
    write_number(writer, field(writer, id, "size"));
}

static void write_axis(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_attr_id_t sub = field(writer, id, "sub_axis_info");
    keel_mlir_write_string(writer, text_of(writer, field(writer, id, "name")));
    if (sub == KEEL_NONE) return;
    keel_mlir_write_text(writer, ":");
    write_sub_axis(writer, sub);
}

// ---- shardings ---------------------------------------------------------------------------------

static keel_status_t write_dimension(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_attr_id_t axes = field(writer, id, "axes"), priority = field(writer, id, "priority");
    keel_mlir_write_text(writer, "{");
    KEEL_TRY(write_records(writer, axes));
    if (!is_set(writer, field(writer, id, "is_closed")))
        keel_mlir_write_text(writer, keel_program_array(writer->program, axes).count ? ", ?" : "?");
    keel_mlir_write_text(writer, "}");
    if (priority == KEEL_NONE) return NULL;
    keel_mlir_write_text(writer, "p");
    write_number(writer, priority);
    return NULL;
}

static keel_status_t write_axes_of(keel_mlir_writer_t *writer, const char *before,
                                   keel_attr_id_t axes) {
    if (!keel_program_array(writer->program, axes).count) return NULL;
    keel_mlir_write_text(writer, before);
    KEEL_TRY(write_records(writer, axes));
    keel_mlir_write_text(writer, "}");
    return NULL;
}

static keel_status_t write_sharding(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    static const char *const reductions[] = {", unreduced={", ", unreduced=max{",
                                             ", unreduced=min{"};
    const keel_attr_t *mesh = keel_program_attr(writer->program, field(writer, id, "mesh"));
    int64_t reduction = keel_program_number(writer->program, field(writer, id, "reduction"), 0);
    keel_mlir_write_text(writer, "<");
    if (mesh->kind == KEEL_ATTR_SYMBOL) {
        keel_mlir_write_symbol(writer, keel_program_str(writer->program, mesh->a));
    } else {
        keel_mlir_write_text(writer, "mesh");
        KEEL_TRY(write_record(writer, field(writer, id, "mesh")));
    }
    keel_mlir_write_text(writer, ", [");
    KEEL_TRY(write_records(writer, field(writer, id, "dimensions")));
    keel_mlir_write_text(writer, "]");
    KEEL_TRY(write_axes_of(writer, ", replicated={", field(writer, id, "replicated")));
    KEEL_TRY(write_axes_of(writer, reductions[reduction > 0 && reduction < 3 ? reduction : 0],
                           field(writer, id, "unreduced")));
    keel_mlir_write_text(writer, ">");
    return NULL;
}

static keel_status_t write_listed(keel_mlir_writer_t *writer, keel_attr_id_t list,
                                  const char *before, const char *after) {
    keel_mlir_write_text(writer, before);
    KEEL_TRY(write_records(writer, list));
    keel_mlir_write_text(writer, after);
    return NULL;
}

static void write_manual_axes(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_list_t axes = keel_program_array(writer->program, field(writer, id, "axes"));
    keel_mlir_write_text(writer, "{");
    for (uint32_t i = 0; i < axes.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        keel_mlir_write_string(writer, text_of(writer, axes.items[i]));
    }
    keel_mlir_write_text(writer, "}");
}

// ---- sharding rules ----------------------------------------------------------------------------

// Factors are i, j, ..., z, z_1, z_2, ...
static void write_factor(keel_mlir_writer_t *writer, int64_t factor) {
    enum { LETTERS = 'z' - 'i' };
    if (factor <= LETTERS)
        keel_buffer_byte(writer->out, (uint8_t)('i' + (factor > 0 ? factor : 0)));
    else
        keel_buffer_format(writer->out, "z_%lld", (long long)(factor - LETTERS));
}

static void write_factors(keel_mlir_writer_t *writer, const char *name, keel_ints_t factors) {
    if (!factors.count) return;
    keel_buffer_format(writer->out, " %s={", name);
    for (uint32_t i = 0; i < factors.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        write_factor(writer, factors.items[i]);
    }
    keel_mlir_write_text(writer, "}");
}

static keel_status_t write_rule(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    keel_ints_t sizes = ints_of(writer, field(writer, id, "factor_sizes"));
    KEEL_TRY(write_listed(writer, field(writer, id, "operand_mappings"), "<(", ")->"));
    KEEL_TRY(write_listed(writer, field(writer, id, "result_mappings"), "(", ")"));
    for (uint32_t i = 0; i < sizes.count; ++i) {
        keel_mlir_write_text(writer, i ? ", " : " {");
        write_factor(writer, i);
        keel_buffer_format(writer->out, "=%lld", (long long)sizes.items[i]);
    }
    if (sizes.count) keel_mlir_write_text(writer, "}");
    write_factors(writer, "reduction", ints_of(writer, field(writer, id, "reduction_factors")));
    write_factors(writer, "need_replication",
                  ints_of(writer, field(writer, id, "need_replication_factors")));
    write_factors(writer, "permutation", ints_of(writer, field(writer, id, "permutation_factors")));
    write_factors(writer, "blocked_propagation",
                  ints_of(writer, field(writer, id, "blocked_propagation_factors")));
    if (is_set(writer, field(writer, id, "is_custom_rule")))
        keel_mlir_write_text(writer, ", custom");
    keel_mlir_write_text(writer, ">");
    return NULL;
}

static void write_mapping(keel_mlir_writer_t *writer, keel_ints_t factors) {
    for (uint32_t i = 0; i < factors.count; ++i)
        write_factor(writer, factors.items[i]);
}

// ------------------------------------------------------------------------------------------------

static keel_status_t write_body(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    switch (keel_program_attr(writer->program, id)->klass) {
        case KEEL_RECORD_SDY_MANUAL_AXES:
            write_manual_axes(writer, id);
            return NULL;
        case KEEL_RECORD_SDY_MESH_AXIS:
            return write_named_axis(writer, id);
        case KEEL_RECORD_SDY_MESH:
            return write_mesh(writer, id);
        case KEEL_RECORD_SDY_SUB_AXIS:
            write_sub_axis(writer, id);
            return NULL;
        case KEEL_RECORD_SDY_AXIS_REF:
            write_axis(writer, id);
            return NULL;
        case KEEL_RECORD_SDY_DIMENSION_SHARDING:
            return write_dimension(writer, id);
        case KEEL_RECORD_SDY_SHARDING:
            return write_sharding(writer, id);
        case KEEL_RECORD_SDY_SHARDING_PER_VALUE:
            return write_listed(writer, field(writer, id, "shardings"), "<[", "]>");
        case KEEL_RECORD_SDY_DIM_MAPPING:
            write_mapping(writer, ints_of(writer, id));
            return NULL;
        case KEEL_RECORD_SDY_TENSOR_MAPPING:
            return write_listed(writer, field(writer, id, "dim_mappings"), "[", "]");
        case KEEL_RECORD_SDY_SHARDING_RULE:
            return write_rule(writer, id);
        default:
            return keel_mlir_not_written(
                keel_record_name(keel_program_attr(writer->program, id)->klass));
    }
}

static keel_status_t write_record(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    KEEL_TRY(keel_mlir_write_enter(writer));
    KEEL_TRY(write_body(writer, id));
    --writer->depth;
    return NULL;
}

// The names of records in text, where they are others than the program's. What does not begin with
// a bracket stands behind its name: "#sdy<manual_axes{...}>".
keel_status_t keel_mlir_write_sdy(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    uint16_t klass = keel_program_attr(writer->program, id)->klass;
    switch (klass) {
        case KEEL_RECORD_SDY_MESH:
        case KEEL_RECORD_SDY_SHARDING:
        case KEEL_RECORD_SDY_SHARDING_PER_VALUE:
        case KEEL_RECORD_SDY_SHARDING_RULE:
            keel_buffer_format(writer->out, "#%s",
                               klass == KEEL_RECORD_SDY_SHARDING_RULE ? "sdy.op_sharding_rule"
                                                                      : keel_record_name(klass));
            return write_record(writer, id);
        case KEEL_RECORD_SDY_MANUAL_AXES:
            keel_mlir_write_text(writer, "#sdy<manual_axes");
            KEEL_TRY(write_record(writer, id));
            keel_mlir_write_text(writer, ">");
            return NULL;
        default:
            return keel_mlir_not_written(keel_record_name(klass));
    }
}
