// ShapeProto -> types. The layout is in `c` of a tensor, tuple or buffer: a DICT of class
// HLO_MESSAGE with LayoutProto's fields, or NONE if the shape has no layout. For a shape with
// dynamic dimensions, `c` is {"layout", "is_dynamic_dimension"}, with the flags as INTS; its dims
// are upper bounds, or KEEL_DYNAMIC if there is none. s32 is a signless integer, as in StableHLO.
#include "read/hlo_reader.h"

static keel_status_t element_type(keel_hlo_reader_t *reader, uint64_t number, keel_type_id_t *out) {
    const keel_hlo_element_t *element = keel_hlo_element(number);
    keel_type_t type = {.kind = KEEL_TYPE_FLOAT, .a = element->a};
    switch (element->kind) {
        case KEEL_HLO_INTEGER:
            type.kind = KEEL_TYPE_INTEGER;
            type.aux = element->sign;
            break;
        case KEEL_HLO_FLOATING:
        case KEEL_HLO_COMPLEX:
            break;
        default:
            return keel_status_make(KEEL_UNSUPPORTED,
                                    "HLO: element type %llu of an array is unknown",
                                    (unsigned long long)number);
    }
    KEEL_TRY(keel_hlo_add_type(reader, type, out));
    if (element->kind != KEEL_HLO_COMPLEX) return NULL;
    return keel_hlo_add_type(reader, (keel_type_t){.kind = KEEL_TYPE_COMPLEX, .a = *out}, out);
}

uint64_t keel_hlo_shape_element(const keel_hlo_pieces_t *shape) {
    return keel_hlo_last_value(shape, KEEL_HLO_AT_ELEMENT_TYPE);
}

// The field's index in the tables; ShapeProto's field numbers have no gaps.
static keel_status_t push_named(keel_hlo_reader_t *reader, uint32_t number, keel_attr_id_t attr) {
    uint32_t field = reader->first[KEEL_HLO_SHAPE] + 1;
    while (keel_hlo_fields[field].number != number)
        ++field;
    keel_string_id_t name;
    KEEL_TRY(keel_hlo_field_name(reader, field, &name));
    return keel_hlo_push_pair(reader, name, attr);
}

static keel_status_t read_layout(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                                 keel_attr_id_t *out) {
    keel_hlo_pieces_t layout;
    *out = KEEL_NONE;
    KEEL_TRY(keel_hlo_nested(shape, KEEL_HLO_AT_LAYOUT, &layout));
    if (!layout.count) return NULL;
    return keel_hlo_message(reader, KEEL_HLO_LAYOUT, &layout, out);
}

// Puts the flags of dynamic dimensions, if any, beside the layout.
static keel_status_t add_dynamic(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                                 uint32_t rank, keel_attr_id_t *layout) {
    uint32_t flags;
    KEEL_TRY(keel_hlo_ints(reader, shape, KEEL_HLO_AT_IS_DYNAMIC, KEEL_HLO_IS_BOOL, &flags));
    keel_ints_t list = keel_program_ints(reader->program, flags);
    if (list.count && list.count != rank)
        return keel_status_make(KEEL_CORRUPT, "HLO: a shape of %u dimensions with %u flags", rank,
                                list.count);
    bool any = false;
    for (uint32_t i = 0; i < list.count; ++i)
        any |= list.items[i] != 0;
    if (!any) return NULL;
    keel_attr_id_t attr;
    uint32_t mark = reader->stack.count;
    KEEL_TRY(keel_hlo_attr(reader, (keel_attr_t){.kind = KEEL_ATTR_INTS, .b = flags}, &attr));
    if (*layout != KEEL_NONE) KEEL_TRY(push_named(reader, KEEL_HLO_AT_LAYOUT, *layout));
    KEEL_TRY(push_named(reader, KEEL_HLO_AT_IS_DYNAMIC, attr));
    return keel_hlo_close(reader, mark, KEEL_ATTR_DICT, KEEL_RECORD_HLO_MESSAGE, layout);
}

static keel_status_t read_array(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                                keel_type_t *type) {
    type->kind = KEEL_TYPE_TENSOR;
    KEEL_TRY(element_type(reader, keel_hlo_shape_element(shape), &type->a));
    KEEL_TRY(keel_hlo_ints(reader, shape, KEEL_HLO_AT_DIMENSIONS, KEEL_HLO_IS_INT64, &type->b));
    return add_dynamic(reader, shape, keel_program_ints(reader->program, type->b).count, &type->c);
}

static keel_status_t read_tuple(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                                keel_type_t *type) {
    type->kind = KEEL_TYPE_TUPLE;
    uint32_t mark = reader->stack.count;
    keel_hlo_walk_t walk = keel_hlo_walk(shape, KEEL_HLO_AT_TUPLE_SHAPES);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got)) {
        keel_hlo_pieces_t element = keel_hlo_piece(got.bytes);
        keel_type_id_t id;
        KEEL_TRY(keel_hlo_type(reader, &element, &id));
        KEEL_PUSH(&reader->stack, id);
    }
    KEEL_TRY(keel_hlo_list(reader, reader->stack.data ? reader->stack.data + mark : NULL,
                           reader->stack.count - mark, &type->b));
    reader->stack.count = mark;
    return NULL;
}

// A buffer's shape contains the array's as its only tuple shape.
static keel_status_t read_buffer(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                                 keel_type_t *type) {
    keel_hlo_pieces_t array;
    keel_type_id_t id = KEEL_NONE;
    KEEL_TRY(keel_hlo_nested(shape, KEEL_HLO_AT_TUPLE_SHAPES, &array));
    if (array.count == 1) KEEL_TRY(keel_hlo_type(reader, &array, &id));
    if (id == KEEL_NONE || reader->program->types.data[id].kind != KEEL_TYPE_TENSOR ||
        type->c != KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a buffer that is not of one array");
    *type = reader->program->types.data[id];
    type->kind = KEEL_TYPE_BUFFER;
    return NULL;
}

// Rejects fields that only arrays, tuples or buffers may have, in any other shape.
static keel_status_t check_parts(const keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                                 keel_hlo_element_kind_t kind, const keel_type_t *type) {
    keel_proto_field_t got;
    bool is_array =
        kind == KEEL_HLO_INTEGER || kind == KEEL_HLO_FLOATING || kind == KEEL_HLO_COMPLEX;
    bool has_parts = kind == KEEL_HLO_TUPLE || kind == KEEL_HLO_BUFFER;
    if ((!is_array && (keel_hlo_last(shape, KEEL_HLO_AT_DIMENSIONS, &got) ||
                       keel_hlo_last(shape, KEEL_HLO_AT_IS_DYNAMIC, &got))) ||
        (!has_parts && keel_hlo_last(shape, KEEL_HLO_AT_TUPLE_SHAPES, &got)))
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a shape of element type %llu with parts",
                                (unsigned long long)keel_hlo_shape_element(shape));
    if (is_array || has_parts || type->c == KEEL_NONE) return NULL;
    if (keel_program_list(reader->program, reader->program->attrs.data[type->c].b).count)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a token or an opaque with a layout");
    return NULL;
}

static keel_status_t read_shape(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                                keel_type_id_t *out) {
    keel_hlo_present_t present;
    KEEL_TRY(keel_hlo_scan(reader, KEEL_HLO_SHAPE, shape, &present));
    keel_hlo_element_kind_t kind = keel_hlo_element(keel_hlo_shape_element(shape))->kind;
    keel_type_t type = {.kind = KEEL_TYPE_OPAQUE};
    KEEL_TRY(read_layout(reader, shape, &type.c));
    KEEL_TRY(check_parts(reader, shape, kind, &type));
    switch (kind) {
        case KEEL_HLO_TUPLE:
            KEEL_TRY(read_tuple(reader, shape, &type));
            break;
        case KEEL_HLO_BUFFER:
            KEEL_TRY(read_buffer(reader, shape, &type));
            break;
        case KEEL_HLO_OPAQUE:
        case KEEL_HLO_TOKEN:
            type =
                (keel_type_t){.kind = kind == KEEL_HLO_TOKEN ? KEEL_TYPE_TOKEN : KEEL_TYPE_OPAQUE};
            break;
        default:
            KEEL_TRY(read_array(reader, shape, &type));
    }
    return keel_hlo_add_type(reader, type, out);
}

keel_status_t keel_hlo_type(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *shape,
                            keel_type_id_t *out) {
    keel_hlo_seen_t *seen = keel_hlo_seen(reader, shape);
    if (keel_hlo_is_seen(seen, KEEL_HLO_SHAPE, shape)) {
        *out = seen->id;
        return NULL;
    }
    KEEL_TRY(keel_hlo_enter(reader));
    KEEL_TRY(read_shape(reader, shape, out));
    --reader->depth;
    keel_hlo_remember(seen, KEEL_HLO_SHAPE, shape, *out);
    return NULL;
}
