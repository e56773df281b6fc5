// Locations -> OpMetadata and StackFrameIndexProto: the way back of hlo_location.c. The outermost
// name is the operation's; a file below it is the metadata's own; anything else is a stack frame.
#include "read/hlo_writer.h"

keel_status_t keel_hlo_start_frames(keel_hlo_writer_t *writer) {
    const keel_program_t *program = writer->program;
    uint32_t **const tables[] = {&writer->file_numbers, &writer->function_numbers,
                                 &writer->place_numbers, &writer->frame_numbers};
    for (int i = 0; i < 4; ++i) {
        void *table;
        KEEL_TRY(keel_calloc(i < 2 ? program->strings.count : program->attrs.count,
                             sizeof(uint32_t), &table));
        *tables[i] = table;
    }
    keel_buffer_initialize(&writer->files, 0);
    keel_buffer_initialize(&writer->functions, 0);
    keel_buffer_initialize(&writer->places, 0);
    keel_buffer_initialize(&writer->frames, 0);
    return NULL;
}

void keel_hlo_finish_frames(keel_hlo_writer_t *writer) {
    void *const tables[] = {writer->file_numbers, writer->function_numbers, writer->place_numbers,
                            writer->frame_numbers, writer->chain.data};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
        keel_free(tables[i]);
    keel_buffer_t *const buffers[] = {&writer->files, &writer->functions, &writer->places,
                                      &writer->frames};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i)
        keel_buffer_deinitialize(buffers[i]);
}

static keel_status_t refuse_location(void) {
    return keel_status_make(KEEL_UNSUPPORTED,
                            "HLO: a location that is not a chain of stack frames");
}

static void put_number(keel_buffer_t *out, uint32_t number, uint32_t value) {
    if (value) keel_proto_put_number(out, number, KEEL_WIRE_VARINT, value);
}

// Line, column, end line, end column; 0: unknown.
static keel_status_t known_numbers(const keel_program_t *program, const keel_attr_t *file,
                                   uint32_t out[4]) {
    keel_list_t list = keel_program_list(program, file->b);
    memset(out, 0, 4 * sizeof *out);
    if (list.count > 4) return refuse_location();
    for (uint32_t i = 0; i < list.count; ++i) {
        if (list.items[i] > INT32_MAX) return refuse_location();
        out[i] = list.items[i];
    }
    return NULL;
}

// The number of a file's or function's name.
static uint32_t name_number(const keel_program_t *program, keel_string_id_t name, uint32_t field,
                            keel_buffer_t *out, uint32_t *numbers, uint32_t *count) {
    if (name >= program->strings.count) return 0;
    if (!numbers[name]) {
        keel_proto_put_bytes(out, field, keel_str_bytes(keel_program_str(program, name)));
        numbers[name] = ++*count;
    }
    return numbers[name];
}

// A place is UNKNOWN or FILE, with the name of its function around it if that is known.
static keel_status_t number_place(keel_hlo_writer_t *writer, keel_attr_id_t id, uint32_t *out) {
    const keel_program_t *program = writer->program;
    const keel_attr_t *place = keel_program_attr(program, id), *file = place;
    uint32_t known[4], in_file = 0, in_function = 0;
    *out = id < program->attrs.count ? writer->place_numbers[id] : 0;
    if (*out) return NULL;
    if (place->kind == KEEL_ATTR_LOC_NAME) {
        file = keel_program_attr(program, place->b);
        in_function = name_number(program, place->a, KEEL_HLO_AT_FUNCTION_NAMES, &writer->functions,
                                  writer->function_numbers, &writer->function_count);
    }
    if (file->kind == KEEL_ATTR_LOC_FILE)
        in_file = name_number(program, file->a, KEEL_HLO_AT_FILE_NAMES, &writer->files,
                              writer->file_numbers, &writer->file_count);
    else if (file->kind != KEEL_ATTR_LOC_UNKNOWN)
        return refuse_location();
    KEEL_TRY(
        known_numbers(program, file->kind == KEEL_ATTR_LOC_FILE ? file : &keel_attr_none, known));
    size_t opened = keel_proto_open(&writer->places, KEEL_HLO_AT_PLACES);
    put_number(&writer->places, KEEL_HLO_AT_PLACE_FILE, in_file);
    put_number(&writer->places, KEEL_HLO_AT_PLACE_FUNCTION, in_function);
    put_number(&writer->places, KEEL_HLO_AT_PLACE_LINE, known[0]);
    put_number(&writer->places, KEEL_HLO_AT_PLACE_COLUMN, known[1]);
    put_number(&writer->places, KEEL_HLO_AT_PLACE_END_LINE, known[2]);
    put_number(&writer->places, KEEL_HLO_AT_PLACE_END_COLUMN, known[3]);
    keel_proto_close(&writer->places, opened);
    *out = writer->place_numbers[id] = ++writer->place_count;
    return NULL;
}

static keel_status_t write_frame(keel_hlo_writer_t *writer, keel_attr_id_t id, uint32_t parent) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    uint32_t place;
    KEEL_TRY(number_place(writer, attr->kind == KEEL_ATTR_LOC_CALLSITE ? attr->a : id, &place));
    size_t opened = keel_proto_open(&writer->frames, KEEL_HLO_AT_FRAMES);
    put_number(&writer->frames, KEEL_HLO_AT_FRAME_PLACE, place);
    put_number(&writer->frames, KEEL_HLO_AT_FRAME_PARENT, parent);
    keel_proto_close(&writer->frames, opened);
    writer->frame_numbers[id] = ++writer->frame_count;
    return NULL;
}

// The number of a frame. Walks outwards to one that has a number, and back again.
static keel_status_t number_frame(keel_hlo_writer_t *writer, keel_attr_id_t id, uint32_t *out) {
    const keel_program_t *program = writer->program;
    uint32_t parent = 0;
    writer->chain.count = 0;
    while (id < program->attrs.count && !writer->frame_numbers[id]) {
        if (writer->chain.count == program->attrs.count) return refuse_location(); // a cycle
        KEEL_PUSH(&writer->chain, id);
        const keel_attr_t *attr = &program->attrs.data[id];
        id = attr->kind == KEEL_ATTR_LOC_CALLSITE ? attr->b : KEEL_NONE;
    }
    if (id < program->attrs.count) parent = writer->frame_numbers[id];
    while (writer->chain.count) {
        keel_attr_id_t inner = writer->chain.data[--writer->chain.count];
        KEEL_TRY(write_frame(writer, inner, parent));
        parent = writer->frame_numbers[inner];
    }
    *out = parent;
    return NULL;
}

static keel_status_t put_source(keel_hlo_writer_t *writer, const keel_attr_t *file) {
    uint32_t known[4];
    KEEL_TRY(known_numbers(writer->program, file, known));
    keel_proto_put_bytes(writer->out, KEEL_HLO_AT_SOURCE_FILE,
                         keel_str_bytes(keel_program_str(writer->program, file->a)));
    put_number(writer->out, KEEL_HLO_AT_SOURCE_LINE, known[0]);
    put_number(writer->out, KEEL_HLO_AT_SOURCE_END_LINE, known[2]);
    put_number(writer->out, KEEL_HLO_AT_SOURCE_COLUMN, known[1]);
    put_number(writer->out, KEEL_HLO_AT_SOURCE_END_COLUMN, known[3]);
    return NULL;
}

static keel_status_t put_metadata(keel_hlo_writer_t *writer, keel_attr_id_t id) {
    const keel_program_t *program = writer->program;
    const keel_attr_t *attr = keel_program_attr(program, id);
    if (attr->kind == KEEL_ATTR_LOC_NAME) {
        keel_proto_put_bytes(writer->out, KEEL_HLO_AT_OP_NAME,
                             keel_str_bytes(keel_program_str(program, attr->a)));
        id = attr->b;
        attr = keel_program_attr(program, id);
    }
    if (attr->kind == KEEL_ATTR_LOC_UNKNOWN) return NULL;
    if (!keel_attr_is_location(attr->kind)) return refuse_location();
    if (attr->kind == KEEL_ATTR_LOC_FILE && keel_program_str(program, attr->a).size)
        return put_source(writer, attr);
    uint32_t frame = 0;
    KEEL_TRY(number_frame(writer, id, &frame));
    put_number(writer->out, KEEL_HLO_AT_STACK_FRAME, frame);
    return NULL;
}

keel_status_t keel_hlo_write_location(keel_hlo_writer_t *writer, keel_attr_id_t location) {
    if (keel_program_attr(writer->program, location)->kind == KEEL_ATTR_LOC_UNKNOWN ||
        location == KEEL_NONE)
        return NULL;
    size_t opened = keel_proto_open(writer->out, KEEL_HLO_AT_METADATA);
    KEEL_TRY(put_metadata(writer, location));
    keel_proto_close(writer->out, opened);
    return NULL;
}

keel_status_t keel_hlo_write_frames(keel_hlo_writer_t *writer) {
    const keel_buffer_t *const parts[] = {&writer->files, &writer->functions, &writer->places,
                                          &writer->frames};
    if (!writer->frame_count) return NULL;
    size_t opened = keel_proto_open(writer->out, KEEL_HLO_AT_MODULE_FRAMES);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        KEEL_TRY(keel_buffer_status(parts[i]));
        keel_buffer_append(writer->out, parts[i]->data, parts[i]->size);
    }
    keel_proto_close(writer->out, opened);
    return NULL;
}
