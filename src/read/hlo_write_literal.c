// TENSOR -> LiteralProto. A splat, and bools that are packed, are written element by element:
// LiteralProto has neither.
#include "read/hlo_writer.h"

static const uint8_t *element_at(const keel_tensor_view_t *view, uint64_t at) {
    return view->bytes.data + (view->is_splat ? 0 : at * view->element_size);
}

static uint64_t load_number(const uint8_t *bytes, const keel_hlo_element_t *element) {
    uint64_t value = 0;
    for (unsigned i = 0; i < element->size; ++i)
        value |= (uint64_t)bytes[i] << 8 * i;
    unsigned above = 64 - 8u * element->size;
    bool is_negative = element->sign == KEEL_SIGNLESS && above && value >> (63 - above);
    return is_negative ? value | UINT64_MAX << (64 - above) : value;
}

static void put_elements(keel_buffer_t *out, const keel_hlo_element_t *element,
                         const keel_tensor_view_t *view) {
    bool is_plain = element->storage == KEEL_HLO_IN_BYTES || element->storage == KEEL_HLO_IN_FLOATS;
    if (is_plain && !element->bits && !view->is_splat) {
        keel_buffer_append(out, view->bytes.data, view->bytes.size);
        return;
    }
    // XLA keeps the high bits of small integers 0.
    uint8_t mask = (uint8_t)((1u << element->bits) - 1);
    for (uint64_t i = 0; i < view->count && !out->failed; ++i) {
        if (element->storage == KEEL_HLO_IN_BOOLS)
            keel_buffer_byte(out, keel_tensor_bool(view, i));
        else if (element->storage == KEEL_HLO_IN_INTEGERS)
            keel_proto_put_varint(out, load_number(element_at(view, i), element));
        else if (element->bits)
            keel_buffer_byte(out, *element_at(view, i) & mask);
        else
            keel_buffer_append(out, element_at(view, i), view->element_size);
    }
}

static keel_status_t write_array(keel_hlo_writer_t *writer, const keel_attr_t *attr) {
    const keel_program_t *program = writer->program;
    const keel_type_t *type = keel_program_type(program, attr->a);
    const keel_hlo_element_t *element = keel_hlo_element(keel_hlo_element_number(program, type->a));
    keel_tensor_view_t view;
    if (type->kind != KEEL_TYPE_TENSOR || element->storage == KEEL_HLO_IN_NOTHING ||
        attr->b >= program->blobs.count)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a literal that is not of an array");
    if (keel_program_dict_find(program, type->c, "is_dynamic_dimension") != KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a literal with dynamic dimensions");
    KEEL_TRY(keel_program_tensor(program, attr->a, program->blobs.data[attr->b], &view));
    KEEL_TRY(keel_hlo_write_shape(writer, KEEL_HLO_AT_LITERAL_SHAPE, attr->a));
    if (!view.count) return NULL;
    size_t opened = keel_proto_open(writer->out, element->field);
    put_elements(writer->out, element, &view);
    keel_proto_close(writer->out, opened);
    return NULL;
}

// {"shape", "tuple_literals"}
static keel_status_t write_tuple(keel_hlo_writer_t *writer, keel_attr_id_t dict) {
    const keel_program_t *program = writer->program;
    const keel_attr_t *shape =
        keel_program_attr(program, keel_program_dict_find(program, dict, "shape"));
    keel_attr_id_t elements = keel_program_dict_find(program, dict, "tuple_literals");
    if (shape->kind != KEEL_ATTR_TYPE ||
        keel_program_attr(program, elements)->kind != KEEL_ATTR_ARRAY ||
        keel_program_entries(program, dict).count != 4)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a literal that is not a LiteralProto");
    KEEL_TRY(keel_hlo_write_shape(writer, KEEL_HLO_AT_LITERAL_SHAPE, shape->a));
    keel_list_t list = keel_program_array(program, elements);
    for (uint32_t i = 0; i < list.count; ++i)
        KEEL_TRY(keel_hlo_write_literal(writer, KEEL_HLO_AT_TUPLE_LITERALS, list.items[i]));
    return NULL;
}

keel_status_t keel_hlo_write_literal(keel_hlo_writer_t *writer, uint32_t number,
                                     keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    KEEL_TRY(keel_hlo_write_enter(writer));
    size_t opened = keel_proto_open(writer->out, number);
    KEEL_TRY(attr->kind == KEEL_ATTR_TENSOR ? write_array(writer, attr) : write_tuple(writer, id));
    keel_proto_close(writer->out, opened);
    --writer->depth;
    return NULL;
}
