// OpMetadata -> locations, as JAX writes them in MLIR: the name of the operation around its place;
// the place is a chain of frames, each the name of a function around a file.
//
// A location never makes a file unreadable: odd parts are dropped. So unknown fields are ignored
// here, and a cyclic chain of frames is cut.
#include "read/hlo_reader.h"

enum { NEW, OPEN, DONE }; // states of a frame

static keel_status_t add_location(keel_hlo_reader_t *reader, keel_attr_kind_t kind, uint32_t a,
                                  uint32_t b, keel_attr_id_t *out) {
    return keel_hlo_attr(reader, (keel_attr_t){.kind = (uint8_t)kind, .a = a, .b = b}, out);
}

static keel_status_t add_name(keel_hlo_reader_t *reader, keel_string_id_t name,
                              keel_attr_id_t *location) {
    if (!keel_program_str(reader->program, name).size) return NULL;
    return add_location(reader, KEEL_ATTR_LOC_NAME, name, *location, location);
}

// `numbers`: line, column, end line, end column; 0 is unknown.
static keel_status_t add_file(keel_hlo_reader_t *reader, keel_string_id_t file,
                              const uint32_t numbers[4], keel_attr_id_t *out) {
    uint32_t count = 4, list;
    while (count && !numbers[count - 1])
        --count;
    KEEL_TRY(keel_hlo_list(reader, numbers, count, &list));
    return add_location(reader, KEEL_ATTR_LOC_FILE, file, list, out);
}

// A line, a column or an index into a list; a negative one is unknown.
static uint32_t position(const keel_proto_field_t *field) {
    return field->value > INT32_MAX ? 0 : (uint32_t)field->value;
}

static keel_status_t read_place(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *place,
                                keel_attr_id_t *out) {
    static const uint8_t numbers[] = {KEEL_HLO_AT_PLACE_FILE,     KEEL_HLO_AT_PLACE_FUNCTION,
                                      KEEL_HLO_AT_PLACE_LINE,     KEEL_HLO_AT_PLACE_COLUMN,
                                      KEEL_HLO_AT_PLACE_END_LINE, KEEL_HLO_AT_PLACE_END_COLUMN};
    keel_proto_field_t fields[6];
    keel_hlo_lasts(place, numbers, 6, fields);
    uint32_t file = position(&fields[0]), function = position(&fields[1]), known[4];
    for (int i = 0; i < 4; ++i)
        known[i] = position(&fields[i + 2]);
    *out = reader->unknown_location;
    if (file && file <= reader->files.count)
        KEEL_TRY(add_file(reader, reader->files.data[file - 1], known, out));
    if (function && function <= reader->functions.count)
        KEEL_TRY(add_name(reader, reader->functions.data[function - 1], out));
    return NULL;
}

static void read_frame(const keel_hlo_pieces_t *pieces, keel_hlo_stack_frame_t *out) {
    static const uint8_t numbers[] = {KEEL_HLO_AT_FRAME_PLACE, KEEL_HLO_AT_FRAME_PARENT};
    keel_proto_field_t fields[2];
    keel_hlo_lasts(pieces, numbers, 2, fields);
    *out = (keel_hlo_stack_frame_t){
        .location = position(&fields[0]), .parent = position(&fields[1]), .state = NEW};
}

static keel_status_t malformed(void) {
    return keel_status_make(KEEL_CORRUPT, "HLO: metadata is truncated or invalid");
}

static keel_status_t read_entry(keel_hlo_reader_t *reader, uint32_t number, keel_bytes_t bytes) {
    keel_hlo_pieces_t entry = keel_hlo_piece(bytes);
    keel_hlo_stack_frame_t frame;
    uint32_t id;
    switch (number) {
        case KEEL_HLO_AT_FILE_NAMES:
            KEEL_TRY(keel_hlo_string(reader, bytes, &id));
            KEEL_PUSH(&reader->files, id);
            return NULL;
        case KEEL_HLO_AT_FUNCTION_NAMES:
            KEEL_TRY(keel_hlo_string(reader, bytes, &id));
            KEEL_PUSH(&reader->functions, id);
            return NULL;
        case KEEL_HLO_AT_PLACES:
            KEEL_TRY(read_place(reader, &entry, &id));
            KEEL_PUSH(&reader->places, id);
            return NULL;
        default:
            read_frame(&entry, &frame);
            KEEL_PUSH(&reader->frames, frame);
            return NULL;
    }
}

keel_status_t keel_hlo_read_frames(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *index) {
    // Places refer to names, whatever order the file has.
    for (uint32_t number = KEEL_HLO_AT_FILE_NAMES; number <= KEEL_HLO_AT_FRAMES; ++number) {
        keel_hlo_walk_t walk = keel_hlo_walk(index, number);
        keel_proto_field_t got;
        while (keel_hlo_next(&walk, &got))
            KEEL_TRY(read_entry(reader, number, got.bytes));
        if (walk.cursor.failed) return malformed();
    }
    return NULL;
}

// The frame with its outer frames. Walks outwards to a known one, and back again.
static keel_status_t add_frame(keel_hlo_reader_t *reader, uint32_t id, keel_attr_id_t *out) {
    keel_hlo_stack_frame_t *frames = reader->frames.data;
    uint32_t mark = reader->stack.count;
    keel_attr_id_t around = KEEL_NONE;
    for (; id && id <= reader->frames.count && frames[id - 1].state == NEW;
         id = frames[id - 1].parent) {
        frames[id - 1].state = OPEN;
        KEEL_PUSH(&reader->stack, id - 1);
    }
    if (id && id <= reader->frames.count && frames[id - 1].state == DONE)
        around = frames[id - 1].attr;
    while (reader->stack.count > mark) {
        keel_hlo_stack_frame_t *inner = &frames[reader->stack.data[--reader->stack.count]];
        keel_attr_id_t place = reader->unknown_location;
        if (inner->location && inner->location <= reader->places.count)
            place = reader->places.data[inner->location - 1];
        if (around != KEEL_NONE)
            KEEL_TRY(add_location(reader, KEEL_ATTR_LOC_CALLSITE, place, around, &place));
        around = inner->attr = place;
        inner->state = DONE;
    }
    *out = around;
    return NULL;
}

static bool is_well_formed(const keel_hlo_pieces_t *pieces) {
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, 0);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got)) {
    }
    return !walk.cursor.failed;
}

// The place in the metadata itself.
static keel_status_t add_source(keel_hlo_reader_t *reader, const keel_proto_field_t *file,
                                const keel_hlo_pieces_t *metadata, keel_attr_id_t *out) {
    static const uint8_t numbers[] = {KEEL_HLO_AT_SOURCE_LINE, KEEL_HLO_AT_SOURCE_COLUMN,
                                      KEEL_HLO_AT_SOURCE_END_LINE, KEEL_HLO_AT_SOURCE_END_COLUMN};
    keel_proto_field_t fields[4];
    keel_string_id_t name;
    uint32_t known[4];
    keel_hlo_lasts(metadata, numbers, 4, fields);
    for (int i = 0; i < 4; ++i)
        known[i] = position(&fields[i]);
    KEEL_TRY(keel_hlo_string(reader, file->bytes, &name));
    return add_file(reader, name, known, out);
}

// The innermost file of a frame; of kind KEEL_ATTR_NONE if it has none.
static const keel_attr_t *file_of_frame(const keel_program_t *program, keel_attr_id_t frame) {
    const keel_attr_t *attr = keel_program_attr(program, frame);
    if (attr->kind == KEEL_ATTR_LOC_CALLSITE) attr = keel_program_attr(program, attr->a);
    if (attr->kind == KEEL_ATTR_LOC_NAME) attr = keel_program_attr(program, attr->b);
    return attr;
}

// PyTorch/XLA copies the computation of a scan from another module, so its operations name frames
// by that module's numbers, which are arbitrary frames here. The metadata's own place is right.
static bool is_of_other_module(const keel_hlo_reader_t *reader, keel_attr_id_t frame,
                               keel_attr_id_t own) {
    const keel_program_t *program = reader->program;
    const keel_attr_t *a = file_of_frame(program, frame), *b = keel_program_attr(program, own);
    if (a->kind != KEEL_ATTR_LOC_FILE || b->kind != KEEL_ATTR_LOC_FILE) return false;
    keel_list_t x = keel_program_list(program, a->b), y = keel_program_list(program, b->b);
    return a->a != b->a || (x.count && y.count && x.items[0] != y.items[0]);
}

static keel_status_t choose_place(keel_hlo_reader_t *reader, const keel_proto_field_t *file,
                                  const keel_hlo_pieces_t *metadata, keel_attr_id_t frame,
                                  keel_attr_id_t *out) {
    bool needs_own = frame == KEEL_NONE || reader->is_called;
    *out = frame == KEEL_NONE ? reader->unknown_location : frame;
    if (!needs_own || !file->bytes.size) return NULL;
    keel_attr_id_t own;
    KEEL_TRY(add_source(reader, file, metadata, &own));
    if (frame == KEEL_NONE || is_of_other_module(reader, frame, own)) *out = own;
    return NULL;
}

// "params['w']"; not "xla__device_data" of such a type, as PyTorch/XLA names each of its arguments.
static bool is_own_name(keel_bytes_t name, keel_bytes_t type) {
    if (!type.size) return name.size;
    return name.size && !keel_str_ends(keel_bytes_str(name), keel_bytes_str(type));
}

keel_status_t keel_hlo_location(keel_hlo_reader_t *reader, const keel_hlo_pieces_t *metadata,
                                keel_attr_id_t *out) {
    enum { OP_TYPE, OP_NAME, SOURCE_FILE, STACK_FRAME_ID, COUNT };
    static const uint8_t numbers[COUNT] = {KEEL_HLO_AT_OP_TYPE, KEEL_HLO_AT_OP_NAME,
                                           KEEL_HLO_AT_SOURCE_FILE, KEEL_HLO_AT_STACK_FRAME};
    keel_proto_field_t fields[COUNT];
    keel_attr_id_t frame;
    keel_string_id_t name;
    *out = reader->unknown_location;
    if (!metadata->count) return NULL;
    if (!is_well_formed(metadata)) return malformed();
    keel_hlo_lasts(metadata, numbers, COUNT, fields);
    KEEL_TRY(add_frame(reader, position(&fields[STACK_FRAME_ID]), &frame));
    KEEL_TRY(choose_place(reader, &fields[SOURCE_FILE], metadata, frame, out));
    keel_bytes_t text = fields[fields[OP_NAME].bytes.size ? OP_NAME : OP_TYPE].bytes;
    if (!text.size) return NULL;
    KEEL_TRY(keel_hlo_string(reader, text, &name));
    return keel_hlo_attr(
        reader,
        (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME,
                      .klass = is_own_name(fields[OP_NAME].bytes, fields[OP_TYPE].bytes),
                      .a = name,
                      .b = *out},
        out);
}
