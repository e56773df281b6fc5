#include "read/hlo_reader.h"

// ---- numbers -----------------------------------------------------------------------------------

// A number cut to its type, even if the wire had more bits.
static int64_t narrow(uint8_t kind, uint64_t value) {
    if (kind == KEEL_HLO_IS_BOOL) return value != 0;
    if (kind == KEEL_HLO_IS_INT32 || kind == KEEL_HLO_IS_ENUM) return (int32_t)(uint32_t)value;
    return (int64_t)value;
}

keel_status_t keel_hlo_ints(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *pieces,
                            uint32_t number, keel_hlo_kind_t kind, uint32_t *out) {
    keel_program_t *program = reader->program;
    uint32_t start = program->ints.count;
    KEEL_PUSH(&program->ints, 0);
    keel_hlo_numbers_t numbers = keel_hlo_numbers(pieces, number, KEEL_WIRE_VARINT);
    uint64_t value;
    while (keel_hlo_next_number(&numbers, &value))
        KEEL_PUSH(&program->ints, narrow((uint8_t)kind, value));
    if (numbers.failed)
        return keel_status_make(KEEL_CORRUPT, "HLO: field %u is not a list of numbers", number);
    return keel_hlo_close_ints(reader, start, out);
}

static keel_status_t add_enum(keel_hlo_reader_t *reader, const keel_hlo_field_t *field,
                              int64_t value, keel_attr_id_t *out) {
    if (value < 0 || !keel_enum_name(field->argument, (uint32_t)value))
        return keel_status_make(KEEL_UNSUPPORTED,
                                "HLO: %s %lld is unknown; a newer Keel may know it", field->name,
                                (long long)value);
    return keel_hlo_attr(
        reader,
        (keel_attr_t){.kind = KEEL_ATTR_ENUM, .klass = field->argument, .a = (uint32_t)value}, out);
}

static keel_status_t add_float(keel_hlo_reader_t *reader, uint8_t kind, int64_t bits,
                               keel_attr_id_t *out) {
    keel_attr_t attr = {.kind = KEEL_ATTR_FLOAT};
    keel_type_t type = {.kind = KEEL_TYPE_FLOAT,
                        .a = kind == KEEL_HLO_IS_FLOAT ? KEEL_FLOAT_F32 : KEEL_FLOAT_F64};
    KEEL_TRY(keel_hlo_add_type(reader, type, &attr.a));
    KEEL_TRY(keel_hlo_int(reader, bits, &attr.b));
    return keel_hlo_attr(reader, attr, out);
}

static keel_status_t add_number(keel_hlo_reader_t *reader, const keel_hlo_field_t *field,
                                uint64_t wire, keel_attr_id_t *out) {
    int64_t value = narrow(field->kind, wire);
    keel_attr_t attr = {.kind = KEEL_ATTR_INT, .a = KEEL_NONE};
    switch (field->kind) {
        case KEEL_HLO_IS_ENUM:
            return add_enum(reader, field, value, out);
        case KEEL_HLO_IS_FLOAT:
        case KEEL_HLO_IS_DOUBLE:
            return add_float(reader, field->kind, value, out);
        case KEEL_HLO_IS_BOOL:
            attr = (keel_attr_t){.kind = KEEL_ATTR_BOOL, .a = value != 0};
            break;
        default:
            KEEL_TRY(keel_hlo_int(reader, value, &attr.b));
    }
    return keel_hlo_attr(reader, attr, out);
}

static keel_status_t read_number(keel_hlo_reader_t *reader, const keel_hlo_field_t *field,
                                 const keel_hlo_pieces_t *pieces, keel_attr_id_t *out) {
    uint64_t value = keel_hlo_last_value(pieces, field->number);
    if (!(field->flags & KEEL_HLO_OPTIONAL) && narrow(field->kind, value) == 0) return NULL;
    if ((field->flags & KEEL_HLO_DROP_ONE) && value == 1) return NULL;
    return add_number(reader, field, value, out);
}

// Integers become INTS; others, which are rare and short, an ARRAY.
static keel_status_t read_numbers(keel_hlo_reader_t *reader, const keel_hlo_field_t *field,
                                  const keel_hlo_pieces_t *pieces, keel_attr_id_t *out) {
    if (field->kind == KEEL_HLO_IS_INT64 || field->kind == KEEL_HLO_IS_INT32) {
        keel_attr_t attr = {.kind = KEEL_ATTR_INTS};
        KEEL_TRY(keel_hlo_ints(reader, pieces, field->number, field->kind, &attr.b));
        if (!keel_program_ints(reader->program, attr.b).count) return NULL;
        return keel_hlo_attr(reader, attr, out);
    }
    uint32_t mark = reader->stack.count;
    keel_hlo_numbers_t numbers = keel_hlo_numbers(pieces, field->number, keel_hlo_wire(field));
    uint64_t value;
    while (keel_hlo_next_number(&numbers, &value)) {
        keel_attr_id_t attr;
        KEEL_TRY(add_number(reader, field, value, &attr));
        KEEL_PUSH(&reader->stack, attr);
    }
    if (numbers.failed)
        return keel_status_make(KEEL_CORRUPT, "HLO: %s is not a list of numbers", field->name);
    if (reader->stack.count == mark) return NULL;
    return keel_hlo_close(reader, mark, KEEL_ATTR_ARRAY, 0, out);
}

// ---- maps --------------------------------------------------------------------------------------

typedef struct map_entry_t {
    keel_bytes_t key, value;
} map_entry_t;

// Equal keys keep their order in the file.
static int compare_entries(const void *left, const void *right) {
    const map_entry_t *a = left, *b = right;
    int order = keel_str_compare(keel_bytes_str(a->key), keel_bytes_str(b->key));
    if (order) return order;
    return a->key.data < b->key.data ? -1 : a->key.data > b->key.data;
}

static keel_status_t collect_entries(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *map,
                                     map_entry_t **entries, uint32_t *count) {
    keel_hlo_walk_t walk = keel_hlo_walk(map, KEEL_HLO_AT_MAP);
    keel_proto_field_t got;
    uint64_t capacity = 0;
    while (keel_hlo_next(&walk, &got))
        ++capacity;
    KEEL_TRY(keel_realloc_array(capacity, sizeof **entries, (void **)entries));
    for (walk = keel_hlo_walk(map, KEEL_HLO_AT_MAP); keel_hlo_next(&walk, &got); ++*count) {
        keel_hlo_pieces_t entry = keel_hlo_piece(got.bytes);
        keel_hlo_present_t present;
        KEEL_TRY(keel_hlo_scan(reader, KEEL_HLO_MAP_ENTRY, &entry, &present));
        map_entry_t *added = &(*entries)[*count];
        added->key = keel_hlo_last_bytes(&entry, KEEL_HLO_AT_KEY);
        added->value = keel_hlo_last_bytes(&entry, KEEL_HLO_AT_VALUE);
        // An empty key has no position of its own; the entry has one.
        if (!added->key.size) added->key.data = got.raw.data;
    }
    return NULL;
}

static keel_status_t push_entries(keel_hlo_reader_t *reader, const map_entry_t *entries,
                                  uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        if (i + 1 < count && keel_bytes_equal(entries[i].key, entries[i + 1].key)) continue;
        keel_string_id_t key, value;
        keel_attr_id_t attr;
        KEEL_TRY(keel_hlo_string(reader, entries[i].key, &key));
        KEEL_TRY(keel_hlo_string(reader, entries[i].value, &value));
        KEEL_TRY(keel_hlo_attr(
            reader, (keel_attr_t){.kind = KEEL_ATTR_STRING, .a = value, .b = KEEL_NONE}, &attr));
        KEEL_TRY(keel_hlo_push_pair(reader, key, attr));
    }
    return NULL;
}

static keel_status_t read_map(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *map,
                              keel_attr_id_t *out) {
    keel_hlo_present_t present;
    KEEL_TRY(keel_hlo_scan(reader, KEEL_HLO_FRONTEND_ATTRIBUTES, map, &present));
    map_entry_t *entries = NULL;
    uint32_t count = 0, mark = reader->stack.count;
    keel_status_t status = collect_entries(reader, map, &entries, &count);
    if (!status) {
        qsort(entries, count, sizeof *entries, compare_entries);
        status = push_entries(reader, entries, count);
    }
    keel_free(entries);
    KEEL_TRY(status);
    return keel_hlo_close(reader, mark, KEEL_ATTR_DICT, KEEL_RECORD_DICTIONARY, out);
}

// ---- fields ------------------------------------------------------------------------------------

static keel_status_t add_string(keel_hlo_reader_t *reader, keel_bytes_t bytes,
                                keel_attr_id_t *out) {
    keel_attr_t attr = {.kind = KEEL_ATTR_STRING, .b = KEEL_NONE};
    KEEL_TRY(keel_hlo_string(reader, bytes, &attr.a));
    return keel_hlo_attr(reader, attr, out);
}

// One value of a field whose wire type is BYTES.
static keel_status_t read_value(keel_hlo_reader_t *reader, const keel_hlo_field_t *field,
                                const keel_hlo_pieces_t *value, keel_attr_id_t *out) {
    keel_attr_t attr = {.kind = KEEL_ATTR_TYPE};
    switch (field->kind) {
        case KEEL_HLO_IS_NESTED:
            return keel_hlo_message(reader, field->argument, value, out);
        case KEEL_HLO_IS_MAP:
            return read_map(reader, value, out);
        case KEEL_HLO_IS_SHAPE:
            KEEL_TRY(keel_hlo_type(reader, value, &attr.a));
            return keel_hlo_attr(reader, attr, out);
        case KEEL_HLO_IS_LITERAL:
            return keel_hlo_literal(reader, value, out);
        default:
            return add_string(reader, value->items[value->count - 1], out);
    }
}

static bool is_empty(const keel_hlo_reader_t *reader, keel_attr_id_t dictionary) {
    const keel_program_t *program = reader->program;
    return keel_program_list(program, program->attrs.data[dictionary].b).count == 0;
}

static keel_status_t read_repeated(keel_hlo_reader_t *reader, const keel_hlo_field_t *field,
                                   const keel_hlo_pieces_t *pieces, keel_attr_id_t *out) {
    uint32_t mark = reader->stack.count;
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, field->number);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got)) {
        keel_hlo_pieces_t value = keel_hlo_piece(got.bytes);
        keel_attr_id_t attr;
        KEEL_TRY(read_value(reader, field, &value, &attr));
        if ((field->flags & KEEL_HLO_DROP_EMPTY) && is_empty(reader, attr)) continue;
        KEEL_PUSH(&reader->stack, attr);
    }
    if (reader->stack.count == mark) return NULL;
    return keel_hlo_close(reader, mark, KEEL_ATTR_ARRAY, 0, out);
}

// *out stays NONE if the field holds its default.
static keel_status_t read_field(keel_hlo_reader_t *reader, const keel_hlo_field_t *field,
                                const keel_hlo_pieces_t *pieces, keel_attr_id_t *out) {
    bool repeated = field->flags & KEEL_HLO_REPEATED;
    keel_hlo_pieces_t value;
    switch (field->kind) {
        case KEEL_HLO_IS_INT64:
        case KEEL_HLO_IS_INT32:
        case KEEL_HLO_IS_BOOL:
        case KEEL_HLO_IS_FLOAT:
        case KEEL_HLO_IS_DOUBLE:
        case KEEL_HLO_IS_ENUM:
            return repeated ? read_numbers(reader, field, pieces, out)
                            : read_number(reader, field, pieces, out);
        default:
            break;
    }
    if (repeated) return read_repeated(reader, field, pieces, out);
    if (field->kind == KEEL_HLO_IS_STRING) {
        value = keel_hlo_piece(keel_hlo_last_bytes(pieces, field->number));
        if (!value.items[0].size && !(field->flags & KEEL_HLO_OPTIONAL)) return NULL;
    } else {
        KEEL_TRY(keel_hlo_nested(pieces, field->number, &value));
    }
    KEEL_TRY(read_value(reader, field, &value, out));
    if ((field->flags & KEEL_HLO_DROP_EMPTY) && is_empty(reader, *out)) *out = KEEL_NONE;
    return NULL;
}

keel_status_t keel_hlo_push_fields(keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                                   const keel_hlo_pieces_t *pieces) {
    keel_hlo_present_t present;
    KEEL_TRY(keel_hlo_scan(reader, message, pieces, &present));
    uint32_t first = reader->first[message];
    for (uint32_t i = 0; first + i < reader->first[message + 1]; ++i) {
        const keel_hlo_field_t *field = &keel_hlo_fields[first + i];
        if (!(present.bits[i / 64] >> i % 64 & 1) || field->kind == KEEL_HLO_IS_SKIPPED ||
            (field->flags & KEEL_HLO_APART))
            continue;
        keel_attr_id_t attr = KEEL_NONE;
        keel_string_id_t name;
        KEEL_TRY(read_field(reader, field, pieces, &attr));
        if (attr == KEEL_NONE) continue;
        KEEL_TRY(keel_hlo_field_name(reader, first + i, &name));
        KEEL_TRY(keel_hlo_push_pair(reader, name, attr));
    }
    return NULL;
}

keel_status_t keel_hlo_message(keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                               const keel_hlo_pieces_t *pieces, keel_attr_id_t *out) {
    keel_hlo_seen_t *seen = keel_hlo_seen(reader, pieces);
    if (keel_hlo_is_seen(seen, message, pieces)) {
        *out = seen->id;
        return NULL;
    }
    KEEL_TRY(keel_hlo_enter(reader));
    uint32_t mark = reader->stack.count;
    KEEL_TRY(keel_hlo_push_fields(reader, message, pieces));
    --reader->depth;
    KEEL_TRY(keel_hlo_close(reader, mark, KEEL_ATTR_DICT, KEEL_RECORD_HLO_MESSAGE, out));
    keel_hlo_remember(seen, message, pieces, *out);
    return NULL;
}
