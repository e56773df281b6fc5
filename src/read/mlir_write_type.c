#include "read/mlir_writer.h"
#include "read/print_number.h"

static keel_status_t write_list(keel_mlir_writer_t *writer, uint32_t list, bool is_vhlo) {
    keel_list_t types = keel_program_list(writer->program, list);
    for (uint32_t i = 0; i < types.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        KEEL_TRY(keel_mlir_write_type(writer, types.items[i], is_vhlo));
    }
    return NULL;
}

static void write_shape(keel_mlir_writer_t *writer, keel_ints_t dims) {
    for (uint32_t i = 0; i < dims.count; ++i) {
        if (dims.items[i] == KEEL_DYNAMIC)
            keel_mlir_write_text(writer, "?x");
        else
            keel_buffer_format(writer->out, "%lldx", (long long)dims.items[i]);
    }
}

// A shape, its element type and what else is in the brackets that the caller opened.
static keel_status_t write_shaped(keel_mlir_writer_t *writer, const keel_type_t *type,
                                  bool is_vhlo) {
    write_shape(writer, keel_program_ints(writer->program, type->b));
    KEEL_TRY(keel_mlir_write_type(writer, type->a, is_vhlo));
    if (type->c != KEEL_NONE) {
        keel_mlir_write_text(writer, ", ");
        KEEL_TRY(keel_mlir_write_attr(writer, type->c, is_vhlo));
    }
    keel_mlir_write_text(writer, ">");
    return NULL;
}

// A list of VHLO's own: "()" if it is empty, otherwise without brackets.
static keel_status_t write_vhlo_list(keel_mlir_writer_t *writer, uint32_t list) {
    if (!keel_program_list(writer->program, list).count) keel_mlir_write_text(writer, "()");
    return write_list(writer, list, true);
}

static keel_status_t write_vhlo_function(keel_mlir_writer_t *writer, const keel_type_t *type) {
    keel_mlir_write_text(writer, "(");
    KEEL_TRY(write_vhlo_list(writer, type->b));
    keel_mlir_write_text(writer, ") -> ");
    return write_vhlo_list(writer, type->c);
}

static keel_status_t write_function(keel_mlir_writer_t *writer, const keel_type_t *type) {
    keel_mlir_write_text(writer, "(");
    KEEL_TRY(write_list(writer, type->b, false));
    keel_mlir_write_text(writer, ") -> (");
    KEEL_TRY(write_list(writer, type->c, false));
    keel_mlir_write_text(writer, ")");
    return NULL;
}

static keel_attr_id_t field(const keel_mlir_writer_t *writer, const keel_type_t *type,
                            const char *name) {
    return keel_program_dict_find(writer->program, type->c, name);
}

static void write_number(keel_mlir_writer_t *writer, const keel_type_t *type, const char *name) {
    keel_buffer_format(
        writer->out, "%lld",
        (long long)keel_program_number(writer->program, field(writer, type, name), 0));
}

static keel_status_t write_scale(keel_mlir_writer_t *writer, keel_attr_id_t scale) {
    const keel_attr_t *attr = keel_program_attr(writer->program, scale);
    if (attr->kind != KEEL_ATTR_FLOAT) return keel_mlir_not_written("a quantized type");
    return keel_mlir_write_double(writer, attr);
}

static keel_status_t write_scales(keel_mlir_writer_t *writer, const keel_type_t *type) {
    const keel_program_t *program = writer->program;
    keel_list_t scales = keel_program_array(program, field(writer, type, "scales"));
    const keel_attr_t *zeros = keel_program_attr(program, field(writer, type, "zero_points"));
    keel_mlir_write_text(writer, ", ");
    write_number(writer, type, "quantized_dimension");
    keel_mlir_write_text(writer, ", [");
    for (uint32_t i = 0; i < scales.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        KEEL_TRY(write_scale(writer, scales.items[i]));
    }
    keel_mlir_write_text(writer, "], ");
    if (zeros->kind != KEEL_ATTR_INTS) return keel_mlir_not_written("a quantized type");
    keel_mlir_write_sizes(writer, keel_program_ints(program, zeros->b));
    return NULL;
}

static keel_status_t write_quantized(keel_mlir_writer_t *writer, const keel_type_t *type) {
    bool per_axis = field(writer, type, "scales") != KEEL_NONE;
    keel_mlir_write_text(writer, per_axis ? "!vhlo.quant_per_axis_v1<" : "!vhlo.quant_v1<");
    KEEL_TRY(keel_mlir_write_type(writer, type->a, true));
    keel_mlir_write_text(writer, ":");
    KEEL_TRY(keel_mlir_write_type(writer, type->b, true));
    if (per_axis) {
        KEEL_TRY(write_scales(writer, type));
    } else {
        keel_mlir_write_text(writer, ", ");
        KEEL_TRY(write_scale(writer, field(writer, type, "scale")));
        keel_mlir_write_text(writer, ":");
        write_number(writer, type, "zero_point");
    }
    keel_mlir_write_text(writer, ", ");
    write_number(writer, type, "min");
    keel_mlir_write_text(writer, ":");
    write_number(writer, type, "max");
    keel_mlir_write_text(writer, ", ");
    write_number(writer, type, "flags");
    keel_mlir_write_text(writer, ">");
    return NULL;
}

// ---- VHLO --------------------------------------------------------------------------------------

static keel_status_t write_vhlo_number(keel_mlir_writer_t *writer, const keel_type_t *type) {
    static const uint8_t widths[] = {2, 4, 8, 16, 32, 64};
    bool is_known = type->kind == KEEL_TYPE_FLOAT && type->a != KEEL_FLOAT_F80 &&
                    type->a != KEEL_FLOAT_F128 && type->a < KEEL_FLOAT_COUNT;
    bool is_bool = type->kind == KEEL_TYPE_INTEGER && type->a == 1 && type->aux == KEEL_SIGNLESS;
    for (size_t i = 0; i < sizeof widths; ++i)
        is_known |=
            type->kind == KEEL_TYPE_INTEGER && type->a == widths[i] && type->aux != KEEL_SIGNED;
    if (is_bool)
        keel_mlir_write_text(writer, "!vhlo.bool_v1");
    else if (!is_known)
        return keel_mlir_not_written("a number of a type that VHLO lacks");
    else if (type->kind == KEEL_TYPE_INTEGER)
        keel_buffer_format(writer->out, "!vhlo.%s%u_v1", type->aux == KEEL_UNSIGNED ? "ui" : "i",
                           type->a);
    else // VHLO's own name of tf32 is this
        keel_buffer_format(writer->out, "!vhlo.%s_v1",
                           type->a == KEEL_FLOAT_TF32 ? "tf31" : keel_print_float_name(type->a));
    return NULL;
}

static keel_status_t write_vhlo(keel_mlir_writer_t *writer, const keel_type_t *type) {
    static const char *const plain[] = {
        [KEEL_TYPE_INDEX] = "index",
        [KEEL_TYPE_NONE] = "none",
        [KEEL_TYPE_TOKEN] = "token",
        [KEEL_TYPE_WITNESS] = "witness",
    };
    static const char *const lists[] = {
        [KEEL_TYPE_COMPLEX] = "complex", [KEEL_TYPE_UNRANKED_TENSOR] = "unranked_tensor",
        [KEEL_TYPE_TUPLE] = "tuple",     [KEEL_TYPE_FUTURE] = "future",
        [KEEL_TYPE_FUNCTION] = "func",
    };
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
        case KEEL_TYPE_FLOAT:
            return write_vhlo_number(writer, type);
        case KEEL_TYPE_INDEX:
        case KEEL_TYPE_NONE:
        case KEEL_TYPE_TOKEN:
        case KEEL_TYPE_WITNESS:
            keel_buffer_format(writer->out, "!vhlo.%s_v1", plain[type->kind]);
            return NULL;
        case KEEL_TYPE_TENSOR:
        case KEEL_TYPE_BUFFER:
            keel_mlir_write_text(writer, type->kind == KEEL_TYPE_TENSOR ? "!vhlo.tensor_v1<"
                                                                        : "!vhlo.buffer_v1<");
            return write_shaped(writer, type, true);
        case KEEL_TYPE_COMPLEX:
        case KEEL_TYPE_UNRANKED_TENSOR:
        case KEEL_TYPE_TUPLE:
        case KEEL_TYPE_FUTURE:
        case KEEL_TYPE_FUNCTION:
            keel_buffer_format(writer->out, "!vhlo.%s_v1<", lists[type->kind]);
            if (type->kind == KEEL_TYPE_FUNCTION)
                KEEL_TRY(write_vhlo_function(writer, type));
            else if (type->kind == KEEL_TYPE_TUPLE || type->kind == KEEL_TYPE_FUTURE)
                KEEL_TRY(write_list(writer, type->b, true));
            else
                KEEL_TRY(keel_mlir_write_type(writer, type->a, true));
            keel_mlir_write_text(writer, ">");
            return NULL;
        case KEEL_TYPE_QUANTIZED:
            return write_quantized(writer, type);
        default:
            return keel_mlir_not_written("a type that VHLO lacks");
    }
}

// ---- builtin -----------------------------------------------------------------------------------

static keel_status_t write_builtin(keel_mlir_writer_t *writer, const keel_type_t *type) {
    static const char *const signs[] = {"i", "si", "ui"};
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
            keel_buffer_format(writer->out, "%s%u", signs[type->aux % 3], type->a);
            return NULL;
        case KEEL_TYPE_FLOAT:
            keel_mlir_write_text(writer, keel_print_float_name(type->a));
            return NULL;
        case KEEL_TYPE_INDEX:
            keel_mlir_write_text(writer, "index");
            return NULL;
        case KEEL_TYPE_NONE:
            keel_mlir_write_text(writer, "none");
            return NULL;
        case KEEL_TYPE_TOKEN:
            keel_mlir_write_text(writer, "!stablehlo.token");
            return NULL;
        case KEEL_TYPE_COMPLEX:
        case KEEL_TYPE_UNRANKED_TENSOR:
            keel_mlir_write_text(writer,
                                 type->kind == KEEL_TYPE_COMPLEX ? "complex<" : "tensor<*x");
            KEEL_TRY(keel_mlir_write_type(writer, type->a, false));
            keel_mlir_write_text(writer, ">");
            return NULL;
        case KEEL_TYPE_TENSOR:
            keel_mlir_write_text(writer, "tensor<");
            return write_shaped(writer, type, false);
        case KEEL_TYPE_TUPLE:
            keel_mlir_write_text(writer, "tuple<");
            KEEL_TRY(write_list(writer, type->b, false));
            keel_mlir_write_text(writer, ">");
            return NULL;
        case KEEL_TYPE_FUNCTION:
            return write_function(writer, type);
        default:
            return keel_mlir_not_written("a type that the builtin dialect lacks");
    }
}

// ---- aliases -----------------------------------------------------------------------------------

static const char *alias_prefix(bool is_vhlo) {
    return is_vhlo ? "v" : "b";
}

static keel_status_t write_body(keel_mlir_writer_t *writer, keel_type_id_t id, bool is_vhlo) {
    const keel_type_t *type = keel_program_type(writer->program, id);
    KEEL_TRY(keel_mlir_write_enter(writer));
    KEEL_TRY(is_vhlo ? write_vhlo(writer, type) : write_builtin(writer, type));
    --writer->depth;
    return NULL;
}

keel_status_t keel_mlir_write_type(keel_mlir_writer_t *writer, keel_type_id_t id, bool is_vhlo) {
    uint8_t alias = is_vhlo ? KEEL_MLIR_ALIAS_VHLO : KEEL_MLIR_ALIAS_BUILTIN;
    if (id >= writer->program->types.count || !(writer->aliases[id] & alias))
        return write_body(writer, id, is_vhlo);
    keel_buffer_format(writer->out, "!%s%u", alias_prefix(is_vhlo), id);
    return NULL;
}

// Arrays only, because nothing refers to a value of an array's type but through the array's alias:
// so aliases need no order.
static void note_alias(keel_mlir_writer_t *writer, keel_value_id_t value) {
    keel_type_id_t id = writer->program->value_types.data[value];
    if (id < writer->program->types.count &&
        keel_program_type(writer->program, id)->kind == KEEL_TYPE_TENSOR)
        writer->aliases[id] |=
            writer->builtin_values[value] ? KEEL_MLIR_ALIAS_BUILTIN : KEEL_MLIR_ALIAS_VHLO;
}

keel_status_t keel_mlir_write_aliases(keel_mlir_writer_t *writer) {
    for (uint32_t i = 0; i < writer->program->value_types.count; ++i)
        note_alias(writer, i);
    for (uint32_t id = 0; id < writer->program->types.count; ++id)
        for (unsigned is_vhlo = 0; is_vhlo < 2; ++is_vhlo) {
            uint8_t alias = is_vhlo ? KEEL_MLIR_ALIAS_VHLO : KEEL_MLIR_ALIAS_BUILTIN;
            if (!(writer->aliases[id] & alias)) continue;
            keel_buffer_format(writer->out, "!%s%u = ", alias_prefix(is_vhlo), id);
            KEEL_TRY(write_body(writer, id, is_vhlo));
            keel_mlir_write_text(writer, "\n");
        }
    return NULL;
}
