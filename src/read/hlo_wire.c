#include "read/hlo_reader.h"

keel_hlo_walk_t keel_hlo_walk(const keel_hlo_pieces_t *pieces, uint32_t number) {
    return (keel_hlo_walk_t){.pieces = pieces, .number = number};
}

bool keel_hlo_next(keel_hlo_walk_t *walk, keel_proto_field_t *out) {
    for (;;) {
        while (walk->cursor.at && keel_proto_next(&walk->cursor, out))
            if (!walk->number || out->number == walk->number) return true;
        if (walk->cursor.failed || walk->piece == walk->pieces->count) return false;
        keel_bytes_t piece = walk->pieces->items[walk->piece++];
        if (piece.size) walk->cursor = keel_cursor(piece);
    }
}

// The field's index in keel_hlo_fields, or that of the message's name if the field is unknown.
static uint32_t field_index(const keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                            uint32_t number) {
    uint32_t low = reader->first[message] + 1, high = reader->first[message + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keel_hlo_fields[middle].number == number) return middle;
        if (keel_hlo_fields[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return reader->first[message];
}

static keel_status_t check_field(const char *message, const keel_hlo_field_t *field,
                                 const keel_proto_field_t *got) {
    if (field->kind == KEEL_HLO_IS_SKIPPED || got->wire == keel_hlo_wire(field)) return NULL;
    if (got->wire == KEEL_WIRE_BYTES && (field->flags & KEEL_HLO_REPEATED)) return NULL;
    return keel_status_make(KEEL_CORRUPT,
                            "HLO: %s of %s has wire type %u, so this is not an HloModuleProto",
                            field->name, message, (unsigned)got->wire);
}

keel_status_t keel_hlo_scan(const keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                            const keel_hlo_pieces_t *pieces, keel_hlo_present_t *out) {
    *out = (keel_hlo_present_t){{0, 0}};
    uint32_t first = reader->first[message], chosen = first, other = first, unknown = 0;
    const char *name = keel_hlo_fields[first].name;
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, 0);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got)) {
        uint32_t at = field_index(reader, message, got.number);
        const keel_hlo_field_t *field = &keel_hlo_fields[at];
        if (at == first)
            unknown = got.number;
        else
            KEEL_TRY(check_field(name, field, &got));
        if (field->flags & KEEL_HLO_ONE_OF) {
            other = chosen == at ? other : chosen;
            chosen = at;
        }
        if ((field->flags & KEEL_HLO_LEFT_OUT) && got.bytes.size)
            reader->program->left_out = field->name;
        out->bits[(at - first) / 64] |= UINT64_C(1) << (at - first) % 64;
    }
    // If the bytes are not a message at all, do not blame an unknown field.
    if (walk.cursor.failed)
        return keel_status_make(KEEL_CORRUPT, "HLO: %s is truncated or invalid", name);
    if (unknown)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "HLO: field %u of %s is unknown; a newer Keel may know it", unknown,
                                name);
    if (other != first)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: %s has both %s and %s", name,
                                keel_hlo_fields[other].name, keel_hlo_fields[chosen].name);
    return NULL;
}

void keel_hlo_lasts(const keel_hlo_pieces_t *pieces, const uint8_t *numbers, uint32_t count,
                    keel_proto_field_t *out) {
    memset(out, 0, count * sizeof *out);
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, 0);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got))
        for (uint32_t i = 0; i < count; ++i)
            if (numbers[i] == got.number) out[i] = got;
}

bool keel_hlo_last(const keel_hlo_pieces_t *pieces, uint32_t number, keel_proto_field_t *out) {
    bool found = false;
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, number);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got)) {
        *out = got;
        found = true;
    }
    return found;
}

uint64_t keel_hlo_last_value(const keel_hlo_pieces_t *pieces, uint32_t number) {
    keel_proto_field_t got;
    return keel_hlo_last(pieces, number, &got) ? got.value : 0;
}

keel_bytes_t keel_hlo_last_bytes(const keel_hlo_pieces_t *pieces, uint32_t number) {
    keel_proto_field_t got;
    return keel_hlo_last(pieces, number, &got) ? got.bytes : keel_bytes(NULL, 0);
}

keel_status_t keel_hlo_nested(const keel_hlo_pieces_t *pieces, uint32_t number,
                              keel_hlo_pieces_t *out) {
    out->count = 0;
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, number);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got)) {
        if (got.wire != KEEL_WIRE_BYTES)
            return keel_status_make(KEEL_CORRUPT, "HLO: field %u is not a message", number);
        if (out->count == KEEL_HLO_PIECES)
            return keel_status_make(KEEL_UNSUPPORTED, "HLO: field %u comes in more than %d pieces",
                                    number, KEEL_HLO_PIECES);
        out->items[out->count++] = got.bytes;
    }
    return NULL;
}

keel_hlo_numbers_t keel_hlo_numbers(const keel_hlo_pieces_t *pieces, uint32_t number,
                                    keel_wire_type_t wire) {
    return (keel_hlo_numbers_t){.walk = keel_hlo_walk(pieces, number), .wire = wire};
}

bool keel_hlo_next_number(keel_hlo_numbers_t *numbers, uint64_t *out) {
    while (numbers->run.at == numbers->run.end) {
        keel_proto_field_t got;
        if (!keel_hlo_next(&numbers->walk, &got)) return false;
        if (got.wire == numbers->wire) {
            *out = got.value;
            return true;
        }
        if (got.wire != KEEL_WIRE_BYTES) {
            numbers->failed = true;
            return false;
        }
        numbers->run = keel_cursor(got.bytes);
    }
    keel_cursor_t *run = &numbers->run;
    *out = numbers->wire == KEEL_WIRE_VARINT ? keel_proto_varint(run)
           : numbers->wire == KEEL_WIRE_32   ? keel_cursor_u32(run)
                                             : keel_cursor_u64(run);
    numbers->failed = run->failed;
    return !run->failed;
}

keel_status_t keel_hlo_enter(keel_hlo_reader_t *reader) {
    if (reader->depth == KEEL_HLO_DEPTH)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: messages nested more than %d deep",
                                KEEL_HLO_DEPTH);
    ++reader->depth;
    return NULL;
}
