// LiteralProto -> TENSOR. The elements are in the order of the layout in the literal's type,
// contiguous, little-endian, never a splat. A bool is a byte 0 or 1; integers below eight bits take
// a byte each, sign-extended. A tuple is {"shape", "tuple_literals"}.
//
// Bytes fields and packed floats are borrowed from the source. Elements that the wire holds as
// varints, in several runs or with other high bits are decoded into the program's own memory: at
// most eight bytes per byte of the literal (small numbers in s64).
#include "read/hlo_reader.h"

static keel_status_t mismatch(const keel_hlo_element_t *element, uint64_t wanted) {
    return keel_status_make(KEEL_CORRUPT,
                            "HLO: field %u of a literal does not hold %llu numbers, as its shape "
                            "asks",
                            element->field, (unsigned long long)wanted);
}

static uint64_t size_of(const keel_hlo_pieces_t *pieces) {
    uint64_t size = 0;
    for (unsigned i = 0; i < pieces->count; ++i)
        size += pieces->items[i].size;
    return size;
}

// How many numbers the literal holds. Each takes at least a byte, which bounds it.
static keel_status_t count_numbers(const keel_hlo_reader_t *reader,
                                   const keel_hlo_element_t *element, const keel_type_t *type,
                                   uint64_t limit, uint64_t *out) {
    keel_ints_t dims = keel_program_ints(reader->program, type->b);
    *out = 0;
    for (uint32_t i = 0; i < dims.count; ++i)
        if (dims.items[i] == 0) return NULL;
    uint64_t count = element->parts;
    for (uint32_t i = 0; i < dims.count; ++i)
        if (dims.items[i] < 0 || __builtin_mul_overflow(count, (uint64_t)dims.items[i], &count) ||
            count > limit)
            return mismatch(element, count);
    *out = count;
    return NULL;
}

// The bytes of a field if they came in one run.
static bool one_run(const keel_hlo_pieces_t *literal, uint32_t number, keel_bytes_t *out) {
    keel_hlo_walk_t walk = keel_hlo_walk(literal, number);
    keel_proto_field_t got;
    if (!keel_hlo_next(&walk, &got) || got.wire != KEEL_WIRE_BYTES) return false;
    *out = got.bytes;
    return !keel_hlo_next(&walk, &got);
}

static void store(uint8_t *out, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
        out[i] = (uint8_t)(value >> 8 * i);
}

static keel_status_t own(keel_hlo_reader_t *reader, uint64_t count, unsigned size, uint8_t **out) {
    void *bytes;
    KEEL_TRY(keel_arena_array(&reader->program->owned, (size_t)count, size, &bytes));
    *out = bytes;
    return NULL;
}

static keel_status_t decode(keel_hlo_reader_t *reader, const keel_hlo_element_t *element,
                            const keel_hlo_pieces_t *literal, uint64_t count, keel_bytes_t *out) {
    uint8_t *bytes;
    KEEL_TRY(own(reader, count, element->size, &bytes));
    keel_wire_type_t wire = element->storage != KEEL_HLO_IN_FLOATS ? KEEL_WIRE_VARINT
                            : element->size == 4                   ? KEEL_WIRE_32
                                                                   : KEEL_WIRE_64;
    keel_hlo_numbers_t numbers = keel_hlo_numbers(literal, element->field, wire);
    uint64_t value, at = 0;
    for (; keel_hlo_next_number(&numbers, &value); ++at) {
        if (at == count) return mismatch(element, count);
        store(bytes + at * element->size,
              element->storage == KEEL_HLO_IN_BOOLS ? value != 0 : value, element->size);
    }
    if (numbers.failed || at != count) return mismatch(element, count);
    *out = keel_bytes(bytes, (size_t)(count * element->size));
    return NULL;
}

// The byte with its unused high bits as they should be.
static uint8_t canonical(uint8_t byte, const keel_hlo_element_t *element) {
    uint8_t low = (uint8_t)(byte & ((1u << element->bits) - 1));
    bool negative = element->sign != KEEL_UNSIGNED && (low >> (element->bits - 1) & 1);
    return negative ? (uint8_t)(low | 0xffu << element->bits) : low;
}

static keel_status_t canonical_bytes(keel_hlo_reader_t *reader, const keel_hlo_element_t *element,
                                     keel_bytes_t *bytes) {
    size_t same = 0;
    while (same < bytes->size && canonical(bytes->data[same], element) == bytes->data[same])
        ++same;
    if (same == bytes->size) return NULL;
    uint8_t *copy;
    KEEL_TRY(own(reader, bytes->size, 1, &copy));
    for (size_t i = 0; i < bytes->size; ++i)
        copy[i] = canonical(bytes->data[i], element);
    bytes->data = copy;
    return NULL;
}

static bool are_bools(keel_bytes_t bytes) {
    for (size_t i = 0; i < bytes.size; ++i)
        if (bytes.data[i] > 1) return false;
    return true;
}

static keel_status_t read_numbers(keel_hlo_reader_t *reader, const keel_hlo_element_t *element,
                                  const keel_hlo_pieces_t *literal, uint64_t count,
                                  keel_bytes_t *out) {
    keel_bytes_t run;
    if (element->storage == KEEL_HLO_IN_BYTES) {
        *out = keel_hlo_last_bytes(literal, element->field);
        if (out->size != count * element->size) return mismatch(element, count);
        return element->bits ? canonical_bytes(reader, element, out) : NULL;
    }
    bool as_it_stands = element->storage != KEEL_HLO_IN_INTEGERS &&
                        one_run(literal, element->field, &run) &&
                        run.size == count * element->size &&
                        (element->storage != KEEL_HLO_IN_BOOLS || are_bools(run));
    if (!as_it_stands) return decode(reader, element, literal, count, out);
    *out = run;
    return NULL;
}

// Only the shape and the one field may be present.
static keel_status_t check_fields(const keel_hlo_reader_t *reader,
                                  const keel_hlo_present_t *present, uint32_t holder) {
    uint32_t first = reader->first[KEEL_HLO_LITERAL];
    for (uint32_t i = 0; first + i < reader->first[KEEL_HLO_LITERAL + 1]; ++i) {
        const keel_hlo_field_t *field = &keel_hlo_fields[first + i];
        bool there = present->bits[i / 64] >> i % 64 & 1;
        if (there && field->number != KEEL_HLO_AT_LITERAL_SHAPE && field->number != holder)
            return keel_status_make(KEEL_UNSUPPORTED, "HLO: %s in a literal of another type",
                                    field->name);
    }
    return NULL;
}

static keel_status_t read_array(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *literal,
                                const keel_hlo_element_t *element, keel_type_id_t type,
                                keel_attr_id_t *out) {
    keel_type_t shape = reader->program->types.data[type];
    uint64_t count;
    keel_bytes_t bytes;
    keel_attr_t attr = {.kind = KEEL_ATTR_TENSOR, .a = type};
    if (shape.c != KEEL_NONE &&
        keel_program_dict_find(reader->program, shape.c, "is_dynamic_dimension") != KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a literal with dynamic dimensions");
    KEEL_TRY(count_numbers(reader, element, &shape, size_of(literal), &count));
    KEEL_TRY(read_numbers(reader, element, literal, count, &bytes));
    KEEL_TRY(keel_program_add_blob(reader->program, bytes, &attr.b));
    return keel_program_add_attr(reader->program, attr, out);
}

static keel_status_t push_field(keel_hlo_reader_t *reader, uint32_t number, keel_attr_id_t attr) {
    keel_string_id_t name;
    // The literal's fields have every number from 1 on, so a field's index is its number.
    KEEL_TRY(keel_hlo_field_name(reader, reader->first[KEEL_HLO_LITERAL] + number, &name));
    return keel_hlo_push_pair(reader, name, attr);
}

static keel_status_t read_tuple(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *literal,
                                keel_type_id_t type, keel_attr_id_t *out) {
    uint32_t mark = reader->stack.count;
    keel_hlo_walk_t walk = keel_hlo_walk(literal, KEEL_HLO_AT_TUPLE_LITERALS);
    keel_proto_field_t got;
    keel_attr_id_t attr;
    while (keel_hlo_next(&walk, &got)) {
        keel_hlo_pieces_t element = keel_hlo_piece(got.bytes);
        KEEL_TRY(keel_hlo_literal(reader, &element, &attr));
        KEEL_PUSH(&reader->stack, attr);
    }
    keel_attr_id_t elements;
    KEEL_TRY(keel_hlo_close(reader, mark, KEEL_ATTR_ARRAY, 0, &elements));
    KEEL_TRY(keel_hlo_attr(reader, (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = type}, &attr));
    KEEL_TRY(push_field(reader, KEEL_HLO_AT_LITERAL_SHAPE, attr));
    KEEL_TRY(push_field(reader, KEEL_HLO_AT_TUPLE_LITERALS, elements));
    return keel_hlo_close(reader, mark, KEEL_ATTR_DICT, KEEL_RECORD_HLO_MESSAGE, out);
}

static keel_status_t read_literal(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *literal,
                                  keel_attr_id_t *out) {
    keel_hlo_present_t present;
    keel_hlo_pieces_t shape;
    keel_type_id_t type;
    KEEL_TRY(keel_hlo_scan(reader, KEEL_HLO_LITERAL, literal, &present));
    KEEL_TRY(keel_hlo_nested(literal, KEEL_HLO_AT_LITERAL_SHAPE, &shape));
    KEEL_TRY(keel_hlo_type(reader, &shape, &type));
    if (reader->program->types.data[type].kind == KEEL_TYPE_TENSOR) {
        const keel_hlo_element_t *element = keel_hlo_element(keel_hlo_shape_element(&shape));
        KEEL_TRY(check_fields(reader, &present, element->field));
        return read_array(reader, literal, element, type, out);
    }
    KEEL_TRY(check_fields(reader, &present, KEEL_HLO_AT_TUPLE_LITERALS));
    return read_tuple(reader, literal, type, out);
}

keel_status_t keel_hlo_literal(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *literal,
                               keel_attr_id_t *out) {
    KEEL_TRY(keel_hlo_enter(reader));
    KEEL_TRY(read_literal(reader, literal, out));
    --reader->depth;
    return NULL;
}
