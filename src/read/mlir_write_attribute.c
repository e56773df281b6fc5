#include "read/mlir_writer.h"
#include "read/print_number.h"

keel_status_t keel_mlir_not_written(const char *what) {
    return keel_status_make(KEEL_UNSUPPORTED, "MLIR: %s cannot be written", what);
}

keel_status_t keel_mlir_write_enter(keel_mlir_writer_t *writer) {
    // A program may share what it nests, so only the room bounds the work.
    KEEL_TRY(keel_buffer_status(writer->out));
    if (writer->depth == KEEL_READ_ATTRIBUTE_DEPTH)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "MLIR: attributes and types nested more than %d deep",
                                KEEL_READ_ATTRIBUTE_DEPTH);
    ++writer->depth;
    return NULL;
}

// ---- words -------------------------------------------------------------------------------------

void keel_mlir_write_string(keel_mlir_writer_t *writer, keel_str_t text) {
    static const char digits[] = "0123456789ABCDEF";
    keel_buffer_t *out = writer->out;
    size_t written = 0;
    keel_buffer_byte(out, '"');
    for (size_t i = 0; i < text.size && !out->failed; ++i) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') continue;
        const char escape[] = {'\\', digits[c >> 4], digits[c & 15]};
        keel_buffer_append(out, text.data + written, i - written);
        keel_buffer_append(out, escape, sizeof escape);
        written = i + 1;
    }
    keel_buffer_append(out, text.data + written, text.size - written);
    keel_buffer_byte(out, '"');
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void keel_mlir_write_name(keel_mlir_writer_t *writer, keel_str_t name) {
    bool is_bare = name.size && is_letter(name.data[0]);
    for (size_t i = 1; i < name.size && is_bare; ++i)
        is_bare = is_letter(name.data[i]) || keel_is_digit(name.data[i]) || name.data[i] == '$' ||
                  name.data[i] == '.';
    if (is_bare)
        keel_buffer_str(writer->out, name);
    else
        keel_mlir_write_string(writer, name);
}

void keel_mlir_write_symbol(keel_mlir_writer_t *writer, keel_str_t name) {
    keel_mlir_write_text(writer, "@");
    keel_mlir_write_name(writer, name);
}

void keel_mlir_write_sizes(keel_mlir_writer_t *writer, keel_ints_t list) {
    keel_mlir_write_text(writer, "[");
    for (uint32_t i = 0; i < list.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        if (list.items[i] == KEEL_DYNAMIC)
            keel_mlir_write_text(writer, "?");
        else
            keel_buffer_format(writer->out, "%lld", (long long)list.items[i]);
    }
    keel_mlir_write_text(writer, "]");
}

// ---- numbers -----------------------------------------------------------------------------------

keel_status_t keel_mlir_write_double(keel_mlir_writer_t *writer, const keel_attr_t *number) {
    const keel_program_t *program = writer->program;
    const keel_type_t *type = keel_program_type(program, number->a);
    double value;
    uint64_t bits;
    if (type->kind != KEEL_TYPE_FLOAT ||
        !keel_print_float_value(type->a, (uint64_t)program->ints.data[number->b], &value))
        return keel_mlir_not_written("a float that is wider than 64 bits");
    memcpy(&bits, &value, sizeof bits);
    keel_buffer_format(writer->out, "0x%016llX", (unsigned long long)bits);
    return NULL;
}

static keel_status_t write_integer(keel_mlir_writer_t *writer, const keel_attr_t *attr,
                                   bool is_vhlo) {
    const keel_program_t *program = writer->program;
    const keel_type_t *type = keel_program_type(program, attr->a);
    int64_t value = program->ints.data[attr->b];
    if (is_vhlo) keel_mlir_write_text(writer, "#vhlo.integer_v1<");
    if (attr->a != KEEL_NONE && type->kind == KEEL_TYPE_INTEGER && type->a == 1 &&
        type->aux == KEEL_SIGNLESS) {
        keel_mlir_write_text(writer, value ? "true" : "false");
    } else {
        bool is_unsigned = type->kind == KEEL_TYPE_INTEGER && type->aux == KEEL_UNSIGNED;
        keel_print_integer((uint64_t)value, 64, !is_unsigned, writer->out);
        if (attr->a != KEEL_NONE) {
            keel_mlir_write_text(writer, " : ");
            KEEL_TRY(keel_mlir_write_type(writer, attr->a, false));
        }
    }
    if (is_vhlo) keel_mlir_write_text(writer, ">");
    return NULL;
}

static keel_status_t write_float(keel_mlir_writer_t *writer, const keel_attr_t *attr,
                                 bool is_vhlo) {
    uint64_t bits = (uint64_t)writer->program->ints.data[attr->b];
    if (is_vhlo) {
        keel_mlir_write_text(writer, "#vhlo.float_v1<");
        KEEL_TRY(keel_mlir_write_double(writer, attr));
    } else {
        keel_buffer_format(writer->out, "0x%llX", (unsigned long long)bits);
    }
    keel_mlir_write_text(writer, " : ");
    KEEL_TRY(keel_mlir_write_type(writer, attr->a, is_vhlo));
    if (is_vhlo) keel_mlir_write_text(writer, ">");
    return NULL;
}

// ---- constants ---------------------------------------------------------------------------------

// Bools one by one: MLIR's bytes of them differ from version to version. A bracket opens for each
// dimension in which an element is the first.
static void write_bools(keel_mlir_writer_t *writer, keel_ints_t dims,
                        const keel_tensor_view_t *view) {
    uint64_t count = view->is_splat ? 1 : view->count;
    for (uint64_t at = 0; at < count && !writer->out->failed; ++at) {
        uint32_t opened = 0, closed = 0;
        uint64_t stride = 1;
        for (uint32_t d = dims.count; d-- > 0 && !view->is_splat;) {
            stride *= (uint64_t)dims.items[d];
            opened += at % stride == 0;
            closed += (at + 1) % stride == 0;
        }
        if (at) keel_mlir_write_text(writer, ", ");
        while (opened--)
            keel_mlir_write_text(writer, "[");
        keel_mlir_write_text(writer, keel_tensor_bool(view, at) ? "true" : "false");
        while (closed--)
            keel_mlir_write_text(writer, "]");
    }
}

static keel_status_t write_elements(keel_mlir_writer_t *writer, const keel_attr_t *attr) {
    const keel_program_t *program = writer->program;
    keel_tensor_view_t view;
    if (attr->b >= program->blobs.count) return keel_mlir_not_written("a constant without bytes");
    KEEL_TRY(keel_program_tensor(program, attr->a, program->blobs.data[attr->b], &view));
    if (!view.count) return NULL;
    if (view.is_bool) {
        write_bools(writer, keel_program_ints(program, keel_program_type(program, attr->a)->b),
                    &view);
        return NULL;
    }
    keel_mlir_write_text(writer, "\"0x");
    keel_buffer_hex(writer->out, view.bytes);
    keel_mlir_write_text(writer, "\"");
    return NULL;
}

static keel_status_t write_tensor(keel_mlir_writer_t *writer, const keel_attr_t *attr,
                                  bool is_vhlo) {
    keel_mlir_write_text(writer, is_vhlo ? "#vhlo.tensor_v1<dense<" : "dense<");
    KEEL_TRY(write_elements(writer, attr));
    keel_mlir_write_text(writer, "> : ");
    KEEL_TRY(keel_mlir_write_type(writer, attr->a, false));
    if (is_vhlo) keel_mlir_write_text(writer, ">");
    return NULL;
}

// "array<i64: 1, 2>". Floats are written as their bits.
static keel_status_t write_dense_array(keel_mlir_writer_t *writer, const keel_attr_t *attr) {
    const keel_type_t *type = keel_program_type(writer->program, attr->a);
    keel_bytes_t bytes = writer->program->blobs.data[attr->b];
    uint32_t size =
        type->kind == KEEL_TYPE_FLOAT ? keel_print_float_bits(type->a) / 8 : (type->a + 7) / 8;
    if (!size || size > 8) return keel_mlir_not_written("an array of numbers of more than 64 bits");
    keel_mlir_write_text(writer, "array<");
    KEEL_TRY(keel_mlir_write_type(writer, attr->a, false));
    for (size_t at = 0; at + size <= bytes.size && !writer->out->failed; at += size) {
        uint64_t bits = 0;
        for (uint32_t i = 0; i < size; ++i)
            bits |= (uint64_t)bytes.data[at + i] << 8 * i;
        keel_mlir_write_text(writer, at ? ", " : ": ");
        if (type->kind == KEEL_TYPE_FLOAT)
            keel_buffer_format(writer->out, "0x%llX", (unsigned long long)bits);
        else if (type->a == 1)
            keel_mlir_write_text(writer, bits ? "true" : "false");
        else
            keel_print_integer(bits, type->a, true, writer->out);
    }
    keel_mlir_write_text(writer, ">");
    return NULL;
}

// ---- lists -------------------------------------------------------------------------------------

static keel_status_t write_array(keel_mlir_writer_t *writer, keel_attr_id_t id, bool is_vhlo) {
    keel_list_t items = keel_program_array(writer->program, id);
    keel_mlir_write_text(writer, is_vhlo ? "#vhlo.array_v1<[" : "[");
    for (uint32_t i = 0; i < items.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        KEEL_TRY(keel_mlir_write_attr(writer, items.items[i], is_vhlo));
    }
    keel_mlir_write_text(writer, is_vhlo ? "]>" : "]");
    return NULL;
}

static keel_status_t write_dictionary(keel_mlir_writer_t *writer, keel_attr_id_t id, bool is_vhlo) {
    const keel_program_t *program = writer->program;
    keel_list_t pairs = keel_program_entries(program, id);
    keel_mlir_write_text(writer, is_vhlo ? "#vhlo.dict_v1<{" : "{");
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        keel_str_t name = keel_program_str(program, pairs.items[i]);
        if (i) keel_mlir_write_text(writer, ", ");
        if (is_vhlo) {
            keel_mlir_write_text(writer, "#vhlo.string_v1<");
            keel_mlir_write_string(writer, name);
            keel_mlir_write_text(writer, ">");
        } else {
            keel_mlir_write_name(writer, name);
        }
        keel_mlir_write_text(writer, " = ");
        KEEL_TRY(keel_mlir_write_attr(writer, pairs.items[i + 1], is_vhlo));
    }
    keel_mlir_write_text(writer, is_vhlo ? "}>" : "}");
    return NULL;
}

// ---- records of VHLO ---------------------------------------------------------------------------

typedef struct field_t {
    const char *name; // in the program
    const char *text; // if it is another
} field_t;

typedef struct record_t {
    uint8_t klass; // keel_record_t
    const char *text;
    field_t fields[4];
} record_t;

static const record_t records[] = {
    {KEEL_RECORD_OUTPUT_OPERAND_ALIAS,
     "output_operand_alias_v1",
     {{"output_tuple_indices", "outputTupleIndices"},
      {"operand_index", "operandIndex"},
      {"operand_tuple_indices", "operandTupleIndices"}}},
    {KEEL_RECORD_RESULT_ACCURACY,
     "result_accuracy_v1",
     {{"atol", NULL}, {"rtol", NULL}, {"ulps", NULL}, {"mode", NULL}}},
    {KEEL_RECORD_SUB_AXIS, "sub_axis_info_v1", {{"pre_size", NULL}, {"size", NULL}}},
    {KEEL_RECORD_AXIS_REF, "axis_ref_v1", {{"name", NULL}, {"sub_axis_info", NULL}}},
    {KEEL_RECORD_REPLICA_GROUP_MESH_AXES,
     "replica_group_mesh_axes_v1",
     {{"mesh", NULL}, {"axes", NULL}}},
    {KEEL_RECORD_MESH_AXIS, "mesh_axis_v1", {{"name", NULL}, {"size", NULL}}},
    {KEEL_RECORD_MESH, "mesh_v1", {{"axes", NULL}, {"device_ids", NULL}}},
};

static keel_status_t write_field(keel_mlir_writer_t *writer, keel_attr_id_t id) {
    const keel_program_t *program = writer->program;
    const keel_attr_t *attr = keel_program_attr(program, id);
    switch (attr->kind) {
        case KEEL_ATTR_FLOAT:
            return keel_mlir_write_double(writer, attr);
        case KEEL_ATTR_INT:
            if (attr->a != KEEL_NONE) return keel_mlir_write_attr(writer, id, true);
            return write_integer(writer, attr, false);
        case KEEL_ATTR_INTS:
            keel_mlir_write_sizes(writer, keel_program_ints(program, attr->b));
            return NULL;
        default:
            return keel_mlir_write_attr(writer, id, true);
    }
}

static keel_status_t write_record(keel_mlir_writer_t *writer, keel_attr_id_t id,
                                  const record_t *record) {
    bool is_first = true;
    keel_buffer_format(writer->out, "#vhlo.%s<", record->text);
    for (size_t i = 0; i < sizeof record->fields / sizeof *record->fields; ++i) {
        const field_t *field = &record->fields[i];
        if (!field->name) break;
        keel_attr_id_t value = keel_program_dict_find(writer->program, id, field->name);
        if (value == KEEL_NONE) continue;
        keel_buffer_format(writer->out, "%s%s = ", is_first ? "" : ", ",
                           field->text ? field->text : field->name);
        KEEL_TRY(write_field(writer, value));
        is_first = false;
    }
    keel_mlir_write_text(writer, ">");
    return NULL;
}

static keel_status_t write_dict(keel_mlir_writer_t *writer, keel_attr_id_t id, bool is_vhlo) {
    uint16_t klass = keel_program_attr(writer->program, id)->klass;
    if (klass == KEEL_RECORD_DICTIONARY) return write_dictionary(writer, id, is_vhlo);
    for (size_t i = 0; i < sizeof records / sizeof *records; ++i)
        if (records[i].klass == klass) return write_record(writer, id, &records[i]);
    return keel_mlir_write_sdy(writer, id);
}

// ---- the rest ----------------------------------------------------------------------------------

static keel_status_t write_enum(keel_mlir_writer_t *writer, const keel_attr_t *attr) {
    const char *value = keel_enum_name(attr->klass, attr->a);
    if (!value) return keel_mlir_not_written("a value that its enumeration lacks");
    keel_buffer_format(writer->out, "#vhlo<%s_v1 %s>", keel_enum_class_name(attr->klass), value);
    return NULL;
}

static keel_status_t write_nested_symbol(keel_mlir_writer_t *writer, const keel_attr_t *attr) {
    const keel_program_t *program = writer->program;
    keel_list_t inner = keel_program_list(program, attr->b);
    keel_mlir_write_symbol(writer, keel_program_str(program, attr->a));
    for (uint32_t i = 0; i < inner.count; ++i) {
        const keel_attr_t *symbol = keel_program_attr(program, inner.items[i]);
        keel_mlir_write_text(writer, "::");
        keel_mlir_write_symbol(writer, keel_program_str(program, symbol->a));
    }
    return NULL;
}

static keel_status_t write_plain_string(keel_mlir_writer_t *writer, const keel_attr_t *attr,
                                        bool is_vhlo) {
    if (attr->b != KEEL_NONE) return keel_mlir_not_written("a string with a type");
    if (is_vhlo) keel_mlir_write_text(writer, "#vhlo.string_v1<");
    keel_mlir_write_string(writer, keel_program_str(writer->program, attr->a));
    if (is_vhlo) keel_mlir_write_text(writer, ">");
    return NULL;
}

static keel_status_t write_body(keel_mlir_writer_t *writer, keel_attr_id_t id, bool is_vhlo) {
    const keel_program_t *program = writer->program;
    const keel_attr_t *attr = keel_program_attr(program, id);
    switch (attr->kind) {
        case KEEL_ATTR_UNIT:
            keel_mlir_write_text(writer, "unit");
            return NULL;
        case KEEL_ATTR_BOOL:
            keel_buffer_format(writer->out, is_vhlo ? "#vhlo.bool_v1<%s>" : "%s",
                               attr->a ? "true" : "false");
            return NULL;
        case KEEL_ATTR_INT:
            return write_integer(writer, attr, is_vhlo);
        case KEEL_ATTR_FLOAT:
            return write_float(writer, attr, is_vhlo);
        case KEEL_ATTR_STRING:
            return write_plain_string(writer, attr, is_vhlo);
        case KEEL_ATTR_TYPE:
            if (is_vhlo) keel_mlir_write_text(writer, "#vhlo.type_v1<");
            KEEL_TRY(keel_mlir_write_type(writer, attr->a, is_vhlo));
            if (is_vhlo) keel_mlir_write_text(writer, ">");
            return NULL;
        case KEEL_ATTR_ENUM:
            return write_enum(writer, attr);
        case KEEL_ATTR_ARRAY:
            return write_array(writer, id, is_vhlo);
        case KEEL_ATTR_DICT:
            return write_dict(writer, id, is_vhlo);
        case KEEL_ATTR_INTS:
            if (attr->klass != KEEL_RECORD_TYPE_EXTENSIONS)
                return keel_mlir_not_written("a list of numbers that is part of another attribute");
            keel_mlir_write_text(writer, "#vhlo.type_extensions_v1<bounds = ");
            keel_mlir_write_sizes(writer, keel_program_ints(program, attr->b));
            keel_mlir_write_text(writer, ">");
            return NULL;
        case KEEL_ATTR_SYMBOL:
            return write_nested_symbol(writer, attr);
        case KEEL_ATTR_TENSOR:
            return write_tensor(writer, attr, is_vhlo);
        case KEEL_ATTR_DENSE_ARRAY:
            return write_dense_array(writer, attr);
        case KEEL_ATTR_WIDE_INT:
            return keel_mlir_not_written("an integer that is wider than 64 bits");
        case KEEL_ATTR_STRINGS:
            return keel_mlir_not_written("an array of strings");
        case KEEL_ATTR_SPARSE:
            return keel_mlir_not_written("a sparse constant");
        case KEEL_ATTR_DISTINCT:
            return keel_mlir_not_written("a distinct attribute");
        default:
            return keel_mlir_not_written(keel_attr_is_location(attr->kind)
                                             ? "a location that is an attribute"
                                             : "an attribute without a meaning of its own");
    }
}

keel_status_t keel_mlir_write_attr(keel_mlir_writer_t *writer, keel_attr_id_t id, bool is_vhlo) {
    KEEL_TRY(keel_mlir_write_enter(writer));
    KEEL_TRY(write_body(writer, id, is_vhlo));
    --writer->depth;
    return NULL;
}
