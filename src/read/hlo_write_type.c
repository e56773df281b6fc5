#include "read/hlo_writer.h"

static bool is_element(const keel_hlo_element_t *element, const keel_type_t *type,
                       const keel_type_t *part) {
    switch (element->kind) {
        case KEEL_HLO_INTEGER:
            return type->kind == KEEL_TYPE_INTEGER && type->a == element->a &&
                   type->aux == element->sign;
        case KEEL_HLO_FLOATING:
            return type->kind == KEEL_TYPE_FLOAT && type->a == element->a;
        case KEEL_HLO_COMPLEX:
            return type->kind == KEEL_TYPE_COMPLEX && part->kind == KEEL_TYPE_FLOAT &&
                   part->a == element->a;
        default:
            return false;
    }
}

static uint32_t number_of_kind(keel_hlo_element_kind_t kind) {
    uint32_t number = 1;
    while (keel_hlo_element(number)->kind != kind)
        ++number;
    return number;
}

uint32_t keel_hlo_element_number(const keel_program_t *program, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    const keel_type_t *part = keel_program_type(program, type->a);
    for (uint32_t number = 1; keel_hlo_element(number)->kind != KEEL_HLO_INVALID; ++number)
        if (is_element(keel_hlo_element(number), type, part)) return number;
    return 0;
}

static void put_element(keel_hlo_writer_t *writer, uint32_t number) {
    keel_proto_put_number(writer->out, KEEL_HLO_AT_ELEMENT_TYPE, KEEL_WIRE_VARINT, number);
}

static void put_ints(keel_hlo_writer_t *writer, uint32_t number, keel_ints_t list) {
    if (!list.count) return;
    size_t opened = keel_proto_open(writer->out, number);
    for (uint32_t i = 0; i < list.count; ++i)
        keel_proto_put_varint(writer->out, (uint64_t)list.items[i]);
    keel_proto_close(writer->out, opened);
}

static keel_status_t no_layout(void) {
    return keel_status_make(KEEL_UNSUPPORTED, "HLO: a shape whose layout is not a LayoutProto");
}

static keel_status_t write_layout(keel_hlo_writer_t *writer, keel_attr_id_t layout) {
    if (layout == KEEL_NONE) return NULL;
    if (keel_program_attr(writer->program, layout)->kind != KEEL_ATTR_DICT) return no_layout();
    return keel_hlo_write_message(writer, KEEL_HLO_AT_LAYOUT, KEEL_HLO_LAYOUT, layout);
}

// The layout, or {"layout", "is_dynamic_dimension"}.
static keel_status_t write_dynamic(keel_hlo_writer_t *writer, uint32_t rank, keel_attr_id_t dict) {
    const keel_program_t *program = writer->program;
    keel_attr_id_t dynamic = keel_program_dict_find(program, dict, "is_dynamic_dimension");
    if (dynamic == KEEL_NONE) return write_layout(writer, dict);
    keel_attr_id_t layout = keel_program_dict_find(program, dict, "layout");
    const keel_attr_t *flags = keel_program_attr(program, dynamic);
    keel_ints_t list =
        keel_program_ints(program, flags->kind == KEEL_ATTR_INTS ? flags->b : KEEL_NONE);
    if (list.count != rank ||
        keel_program_entries(program, dict).count != (layout == KEEL_NONE ? 2u : 4u))
        return no_layout();
    put_ints(writer, KEEL_HLO_AT_IS_DYNAMIC, list);
    return write_layout(writer, layout);
}

static keel_status_t write_array(keel_hlo_writer_t *writer, const keel_type_t *type) {
    uint32_t element = keel_hlo_element_number(writer->program, type->a);
    keel_ints_t dims = keel_program_ints(writer->program, type->b);
    if (!element)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: an array of elements that XLA lacks");
    put_element(writer, element);
    put_ints(writer, KEEL_HLO_AT_DIMENSIONS, dims);
    return write_dynamic(writer, dims.count, type->c);
}

static keel_status_t write_parts(keel_hlo_writer_t *writer, const keel_type_t *type) {
    keel_list_t parts;
    size_t opened;
    switch (type->kind) {
        case KEEL_TYPE_TENSOR:
            return write_array(writer, type);
        case KEEL_TYPE_TUPLE:
            put_element(writer, number_of_kind(KEEL_HLO_TUPLE));
            parts = keel_program_list(writer->program, type->b);
            for (uint32_t i = 0; i < parts.count; ++i)
                KEEL_TRY(keel_hlo_write_shape(writer, KEEL_HLO_AT_TUPLE_SHAPES, parts.items[i]));
            return write_layout(writer, type->c);
        case KEEL_TYPE_BUFFER:
            put_element(writer, number_of_kind(KEEL_HLO_BUFFER));
            opened = keel_proto_open(writer->out, KEEL_HLO_AT_TUPLE_SHAPES);
            KEEL_TRY(write_array(writer, type));
            keel_proto_close(writer->out, opened);
            return NULL;
        case KEEL_TYPE_TOKEN:
        case KEEL_TYPE_OPAQUE:
            put_element(writer, number_of_kind(type->kind == KEEL_TYPE_TOKEN ? KEEL_HLO_TOKEN
                                                                             : KEEL_HLO_OPAQUE));
            return NULL;
        default:
            return keel_status_make(KEEL_UNSUPPORTED, "HLO: a type that XLA lacks");
    }
}

keel_status_t keel_hlo_write_shape(keel_hlo_writer_t *writer, uint32_t number,
                                   keel_type_id_t type) {
    KEEL_TRY(keel_hlo_write_enter(writer));
    size_t opened = keel_proto_open(writer->out, number);
    KEEL_TRY(write_parts(writer, keel_program_type(writer->program, type)));
    keel_proto_close(writer->out, opened);
    --writer->depth;
    return NULL;
}
