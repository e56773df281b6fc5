#include "read/hlo_writer.h"

#include <stdio.h>

keel_status_t keel_hlo_write_enter(keel_hlo_writer_t *writer) {
    // A program may share what it nests, so only the room bounds the work.
    KEEL_TRY(keel_buffer_status(writer->out));
    if (writer->depth == KEEL_HLO_DEPTH)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: messages nested more than %d deep",
                                KEEL_HLO_DEPTH);
    ++writer->depth;
    return NULL;
}

static keel_status_t wrong_kind(const keel_hlo_field_t *field) {
    return keel_status_make(KEEL_UNSUPPORTED, "HLO: %s cannot be an attribute of this kind",
                            field->name);
}

// ---- numbers -----------------------------------------------------------------------------------

static keel_status_t attribute_number(const keel_hlo_writer_t *writer,
                                      const keel_hlo_field_t *field, keel_attr_id_t id,
                                      uint64_t *out) {
    const keel_program_t *program = writer->program;
    const keel_attr_t *attr = keel_program_attr(program, id);
    const keel_type_t *type = keel_program_type(program, attr->a);
    int64_t value = 0;
    bool fits = false;
    switch (field->kind) {
        case KEEL_HLO_IS_INT64:
        case KEEL_HLO_IS_INT32:
            fits = attr->kind == KEEL_ATTR_INT;
            if (fits) value = program->ints.data[attr->b];
            if (field->kind == KEEL_HLO_IS_INT32) fits &= value == (int32_t)value;
            break;
        case KEEL_HLO_IS_BOOL:
            fits = attr->kind == KEEL_ATTR_BOOL;
            if (fits) value = attr->a != 0;
            break;
        case KEEL_HLO_IS_ENUM:
            fits = attr->kind == KEEL_ATTR_ENUM && attr->klass == field->argument &&
                   keel_enum_name(field->argument, attr->a);
            if (fits) value = attr->a;
            break;
        default:
            fits = attr->kind == KEEL_ATTR_FLOAT && type->kind == KEEL_TYPE_FLOAT &&
                   type->a == (field->kind == KEEL_HLO_IS_FLOAT ? KEEL_FLOAT_F32 : KEEL_FLOAT_F64);
            if (fits) value = program->ints.data[attr->b];
    }
    if (!fits) return wrong_kind(field);
    *out = (uint64_t)value;
    return NULL;
}

static keel_status_t write_number(keel_hlo_writer_t *writer, const keel_hlo_field_t *field,
                                  keel_attr_id_t attr) {
    uint64_t value;
    KEEL_TRY(attribute_number(writer, field, attr, &value));
    if (value || (field->flags & KEEL_HLO_OPTIONAL))
        keel_proto_put_number(writer->out, field->number, keel_hlo_wire(field), value);
    return NULL;
}

static keel_status_t write_ints(keel_hlo_writer_t *writer, const keel_hlo_field_t *field,
                                keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    if (attr->kind != KEEL_ATTR_INTS) return wrong_kind(field);
    keel_ints_t list = keel_program_ints(writer->program, attr->b);
    size_t opened = keel_proto_open(writer->out, field->number);
    for (uint32_t i = 0; i < list.count; ++i) {
        if (field->kind == KEEL_HLO_IS_INT32 && list.items[i] != (int32_t)list.items[i])
            return wrong_kind(field);
        keel_proto_put_varint(writer->out, (uint64_t)list.items[i]);
    }
    keel_proto_close(writer->out, opened);
    return NULL;
}

static keel_status_t write_numbers(keel_hlo_writer_t *writer, const keel_hlo_field_t *field,
                                   keel_attr_id_t attr) {
    if (field->kind == KEEL_HLO_IS_INT64 || field->kind == KEEL_HLO_IS_INT32)
        return write_ints(writer, field, attr);
    if (keel_program_attr(writer->program, attr)->kind != KEEL_ATTR_ARRAY) return wrong_kind(field);
    keel_list_t list = keel_program_array(writer->program, attr);
    size_t opened = keel_proto_open(writer->out, field->number);
    for (uint32_t i = 0; i < list.count; ++i) {
        uint64_t value;
        KEEL_TRY(attribute_number(writer, field, list.items[i], &value));
        keel_proto_put_value(writer->out, keel_hlo_wire(field), value);
    }
    keel_proto_close(writer->out, opened);
    return NULL;
}

// ---- values ------------------------------------------------------------------------------------

static keel_bytes_t bytes_of(const keel_hlo_writer_t *writer, keel_string_id_t id) {
    return keel_str_bytes(keel_program_str(writer->program, id));
}

static keel_status_t write_map(keel_hlo_writer_t *writer, const keel_hlo_field_t *field,
                               keel_attr_id_t dict) {
    if (keel_program_attr(writer->program, dict)->kind != KEEL_ATTR_DICT) return wrong_kind(field);
    keel_list_t pairs = keel_program_entries(writer->program, dict);
    size_t opened = keel_proto_open(writer->out, field->number);
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        const keel_attr_t *value = keel_program_attr(writer->program, pairs.items[i + 1]);
        if (value->kind != KEEL_ATTR_STRING) return wrong_kind(field);
        size_t entry = keel_proto_open(writer->out, KEEL_HLO_AT_MAP);
        keel_proto_put_bytes(writer->out, KEEL_HLO_AT_KEY, bytes_of(writer, pairs.items[i]));
        keel_proto_put_bytes(writer->out, KEEL_HLO_AT_VALUE, bytes_of(writer, value->a));
        keel_proto_close(writer->out, entry);
    }
    keel_proto_close(writer->out, opened);
    return NULL;
}

// One value of a field whose wire type is BYTES.
static keel_status_t write_value(keel_hlo_writer_t *writer, const keel_hlo_field_t *field,
                                 keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    switch (field->kind) {
        case KEEL_HLO_IS_NESTED:
            if (attr->kind != KEEL_ATTR_DICT) return wrong_kind(field);
            return keel_hlo_write_message(writer, field->number, field->argument, id);
        case KEEL_HLO_IS_MAP:
            return write_map(writer, field, id);
        case KEEL_HLO_IS_SHAPE:
            if (attr->kind != KEEL_ATTR_TYPE) return wrong_kind(field);
            return keel_hlo_write_shape(writer, field->number, attr->a);
        case KEEL_HLO_IS_LITERAL:
            return keel_hlo_write_literal(writer, field->number, id);
        default:
            if (attr->kind != KEEL_ATTR_STRING) return wrong_kind(field);
            keel_proto_put_bytes(writer->out, field->number, bytes_of(writer, attr->a));
            return NULL;
    }
}

static keel_status_t write_field(keel_hlo_writer_t *writer, const keel_hlo_field_t *field,
                                 keel_attr_id_t attr) {
    bool is_repeated = field->flags & KEEL_HLO_REPEATED;
    if (keel_hlo_wire(field) != KEEL_WIRE_BYTES)
        return is_repeated ? write_numbers(writer, field, attr) : write_number(writer, field, attr);
    if (!is_repeated) return write_value(writer, field, attr);
    if (keel_program_attr(writer->program, attr)->kind != KEEL_ATTR_ARRAY) return wrong_kind(field);
    keel_list_t list = keel_program_array(writer->program, attr);
    for (uint32_t i = 0; i < list.count; ++i)
        KEEL_TRY(write_value(writer, field, list.items[i]));
    return NULL;
}

// ---- messages ----------------------------------------------------------------------------------

// The field's index in keel_hlo_fields, or that of the message's name if it has no such field.
static uint32_t find_field(const keel_hlo_writer_t *writer, keel_hlo_message_id_t message,
                           keel_str_t name) {
    uint32_t first = writer->first[message];
    for (uint32_t at = first + 1; at < writer->first[message + 1]; ++at)
        if (keel_hlo_fields[at].kind != KEEL_HLO_IS_SKIPPED &&
            keel_str_is(name, keel_hlo_fields[at].name))
            return at;
    return first;
}

keel_status_t keel_hlo_no_attribute(const keel_hlo_writer_t *writer, keel_hlo_message_id_t message,
                                    keel_str_t name) {
    return keel_status_make(KEEL_UNSUPPORTED, "HLO: %s has no attribute %.*s",
                            keel_hlo_fields[writer->first[message]].name, KEEL_STR_ARGS(name));
}

keel_status_t keel_hlo_write_fields(keel_hlo_writer_t *writer, keel_hlo_message_id_t message,
                                    keel_attr_id_t dict, keel_hlo_apart_t *apart, void *context) {
    uint32_t first = writer->first[message], chosen = first;
    keel_list_t pairs = keel_program_entries(writer->program, dict);
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        keel_str_t name = keel_program_str(writer->program, pairs.items[i]);
        keel_attr_id_t attr = pairs.items[i + 1];
        uint32_t at = find_field(writer, message, name);
        const keel_hlo_field_t *field = &keel_hlo_fields[at];
        if (at == first || (field->flags & KEEL_HLO_APART)) {
            KEEL_TRY(apart ? apart(context, message, name, attr)
                           : keel_hlo_no_attribute(writer, message, name));
            continue;
        }
        if (field->flags & KEEL_HLO_ONE_OF) {
            if (chosen != first)
                return keel_status_make(KEEL_UNSUPPORTED, "HLO: %s has both %s and %s",
                                        keel_hlo_fields[first].name, keel_hlo_fields[chosen].name,
                                        field->name);
            chosen = at;
        }
        KEEL_TRY(write_field(writer, field, attr));
    }
    return NULL;
}

// XLA complains of parameters without a name.
static void put_parameter_names(keel_hlo_writer_t *writer, keel_attr_id_t dict) {
    keel_attr_id_t parameters = keel_program_dict_find(writer->program, dict, "parameters");
    uint32_t count = keel_program_array(writer->program, parameters).count;
    for (uint32_t i = 0; i < count; ++i) {
        char name[16];
        snprintf(name, sizeof name, "p%u", i);
        keel_proto_put_bytes(writer->out, KEEL_HLO_AT_PARAMETER_NAMES,
                             keel_str_bytes(keel_str(name)));
    }
}

keel_status_t keel_hlo_write_message(keel_hlo_writer_t *writer, uint32_t number,
                                     keel_hlo_message_id_t message, keel_attr_id_t dict) {
    KEEL_TRY(keel_hlo_write_enter(writer));
    size_t opened = keel_proto_open(writer->out, number);
    KEEL_TRY(keel_hlo_write_fields(writer, message, dict, NULL, NULL));
    if (message == KEEL_HLO_PROGRAM_SHAPE) put_parameter_names(writer, dict);
    keel_proto_close(writer->out, opened);
    --writer->depth;
    return NULL;
}
