#include "compiler/wire.h"

enum { SETUP_TARGET = 1, SETUP_PLUGIN, SETUP_CORE };
enum { MOST_CORES = 1 << 20 };
enum {
    HANDLER_KIND = 1,
    HANDLER_NAME,
    HANDLER_PLATFORM,
    HANDLER_API_VERSION,
    HANDLER_TRAITS,
    HANDLER_LIBRARIES,                                         // and one more for each place
    HANDLER_OFFSETS = HANDLER_LIBRARIES + KEEL_HANDLER_PLACES, // likewise
    HANDLER_END = HANDLER_OFFSETS + KEEL_HANDLER_PLACES,
};
enum {
    JOB_CODE = 1,
    JOB_OPTIONS,
    JOB_FORMAT,
    JOB_EXECUTABLE,
    JOB_ARGUMENTS,
    JOB_SEED,
    JOB_SECONDS,
    JOB_IS_PARTITION,
};
enum {
    ANSWER_ERROR = 1,
    ANSWER_CODE,
    ANSWER_EXECUTABLE,
    ANSWER_PROGRAM,
    ANSWER_PROGRAM_FORMAT,
    ANSWER_FINGERPRINT,
    ANSWER_NANOSECONDS,
    ANSWER_CPU_NANOSECONDS,
    ANSWER_PEAK_MEMORY,
    ANSWER_MEMORY, // packed: the numbers of keel_program_memory_t in their order
    ANSWER_IS_TRIAL,
    ANSWER_RESULTS,
    ANSWER_IS_PARTITION,
    ANSWER_COSTS,
};

// ---- frames ------------------------------------------------------------------------------------

static size_t begin(keel_buffer_t *out, wire_kind_t kind) {
    size_t start = out->size;
    keel_buffer_u32(out, kind);
    keel_buffer_u64(out, 0);
    return start;
}

static void end(keel_buffer_t *out, size_t start) {
    if (out->failed) return;
    uint64_t size = out->size - start - WIRE_HEAD;
    for (int i = 0; i < 8; ++i)
        out->data[start + 4 + (size_t)i] = (uint8_t)(size >> (8 * i));
}

static keel_status_t damaged(const char *what) {
    return keel_status_make(KEEL_CORRUPT, "a message between compiler processes is damaged: %s",
                            what);
}

keel_status_t wire_read_head(const uint8_t head[WIRE_HEAD], wire_kind_t *out_kind,
                             uint64_t *out_size) {
    uint32_t kind = keel_load_u32(head);
    if (kind < WIRE_SETUP || kind > WIRE_ANSWER) return damaged("its kind is unknown");
    *out_kind = (wire_kind_t)kind;
    *out_size = keel_load_u64(head + 4);
    return *out_size > WIRE_LIMIT ? damaged("it is too large") : NULL;
}

static void put(keel_buffer_t *out, uint32_t number, keel_bytes_t bytes) {
    if (bytes.size) keel_proto_put_bytes(out, number, bytes);
}

static void put_number(keel_buffer_t *out, uint32_t number, uint64_t value) {
    keel_proto_put_number(out, number, KEEL_WIRE_VARINT, value);
}

// ---- writing -----------------------------------------------------------------------------------

void wire_put_setup(keel_buffer_t *out, const wire_setup_t *setup) {
    size_t start = begin(out, WIRE_SETUP);
    put(out, SETUP_TARGET, setup->target);
    put(out, SETUP_PLUGIN, keel_str_bytes(setup->plugin));
    put_number(out, SETUP_CORE, (uint64_t)(setup->core + 1));
    end(out, start);
}

void wire_put_handler(keel_buffer_t *out, const keel_handler_t *handler) {
    size_t start = begin(out, WIRE_HANDLER);
    put_number(out, HANDLER_KIND, handler->kind);
    put(out, HANDLER_NAME, keel_str_bytes(keel_str(handler->name)));
    put(out, HANDLER_PLATFORM, keel_str_bytes(keel_str(handler->platform)));
    put_number(out, HANDLER_API_VERSION, (uint64_t)handler->api_version);
    put_number(out, HANDLER_TRAITS, handler->traits);
    for (uint32_t i = 0; i < KEEL_HANDLER_PLACES; ++i) {
        const keel_handler_place_t *place = &handler->places[i];
        if (!place->library) continue;
        put(out, HANDLER_LIBRARIES + i, keel_str_bytes(keel_str(place->library)));
        put_number(out, HANDLER_OFFSETS + i, place->offset);
    }
    end(out, start);
}

void wire_put_job(keel_buffer_t *out, const wire_job_t *job) {
    size_t start = begin(out, WIRE_JOB);
    put(out, JOB_FORMAT, keel_str_bytes(job->format));
    put(out, JOB_OPTIONS, job->options);
    put(out, JOB_CODE, job->code);
    if (job->is_partition) put_number(out, JOB_IS_PARTITION, 1);
    if (job->executable.size) {
        put(out, JOB_EXECUTABLE, job->executable);
        put(out, JOB_ARGUMENTS, job->arguments);
        put_number(out, JOB_SEED, job->seed);
        put_number(out, JOB_SECONDS, job->seconds);
    }
    end(out, start);
}

void wire_put_shape(keel_buffer_t *out, const keel_array_shape_t *shape) {
    keel_proto_put_varint(out, shape->element);
    keel_proto_put_varint(out, shape->rank);
    for (uint32_t i = 0; i < shape->rank; ++i)
        keel_proto_put_varint(out, (uint64_t)shape->dims[i]);
}

bool wire_read_shape(keel_cursor_t *cursor, int64_t dims[WIRE_RANK], keel_array_shape_t *out) {
    uint64_t element = keel_proto_varint(cursor), rank = keel_proto_varint(cursor);
    if (cursor->failed || rank > WIRE_RANK || element > INT32_MAX) return false;
    for (uint64_t i = 0; i < rank; ++i)
        dims[i] = (int64_t)keel_proto_varint(cursor);
    *out = (keel_array_shape_t){(keel_primitive_t)element, (uint32_t)rank, dims};
    return !cursor->failed;
}

void wire_put_cost(keel_buffer_t *out, keel_str_t name, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    keel_proto_put_varint(out, name.size);
    keel_buffer_str(out, name);
    keel_buffer_u32(out, bits);
}

bool wire_read_cost(keel_cursor_t *cursor, keel_str_t *out_name, float *out_value) {
    *out_name = keel_bytes_str(keel_cursor_take(cursor, keel_proto_varint(cursor)));
    uint32_t bits = keel_cursor_u32(cursor);
    memcpy(out_value, &bits, sizeof bits);
    return !cursor->failed;
}

static void put_memory(keel_buffer_t *out, const keel_program_memory_t *memory) {
    size_t opened = keel_proto_open(out, ANSWER_MEMORY);
    const uint64_t numbers[] = {memory->arguments,   memory->outputs, memory->aliased,
                                memory->temporaries, memory->code,    memory->host,
                                memory->peak};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        keel_proto_put_varint(out, numbers[i]);
    keel_proto_close(out, opened);
}

void wire_put_answer(keel_buffer_t *out, const wire_answer_t *answer) {
    size_t start = begin(out, WIRE_ANSWER);
    put(out, ANSWER_ERROR, keel_str_bytes(answer->error));
    put_number(out, ANSWER_CODE, answer->code);
    put(out, ANSWER_EXECUTABLE, answer->executable);
    put(out, ANSWER_PROGRAM, answer->program);
    put(out, ANSWER_PROGRAM_FORMAT, keel_str_bytes(answer->program_format));
    put(out, ANSWER_FINGERPRINT, answer->fingerprint);
    put_number(out, ANSWER_NANOSECONDS, answer->nanoseconds);
    put_number(out, ANSWER_CPU_NANOSECONDS, answer->cpu_nanoseconds);
    put_number(out, ANSWER_PEAK_MEMORY, answer->peak_memory);
    if (answer->has_memory) put_memory(out, &answer->memory);
    if (answer->is_trial) put_number(out, ANSWER_IS_TRIAL, 1);
    if (answer->is_partition) put_number(out, ANSWER_IS_PARTITION, 1);
    put(out, ANSWER_RESULTS, answer->results);
    put(out, ANSWER_COSTS, answer->costs);
    end(out, start);
}

// ---- reading -----------------------------------------------------------------------------------

keel_status_t wire_read_setup(keel_bytes_t message, wire_setup_t *out) {
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    *out = (wire_setup_t){.core = -1};
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == SETUP_CORE && field.value <= MOST_CORES)
            out->core = (int)field.value - 1;
        if (field.wire != KEEL_WIRE_BYTES) continue;
        if (field.number == SETUP_TARGET) out->target = field.bytes;
        if (field.number == SETUP_PLUGIN) out->plugin = keel_bytes_str(field.bytes);
    }
    return cursor.failed ? damaged("it cannot be decoded") : NULL;
}

static void read_handler_field(const keel_proto_field_t *field, wire_handler_t *out) {
    uint32_t number = field->number;
    keel_str_t text = keel_bytes_str(field->bytes);
    bool is_text = field->wire == KEEL_WIRE_BYTES;
    if (number == HANDLER_KIND) out->kind = field->value;
    if (number == HANDLER_API_VERSION) out->api_version = field->value;
    if (number == HANDLER_TRAITS) out->traits = field->value;
    if (is_text && number == HANDLER_NAME) out->name = text;
    if (is_text && number == HANDLER_PLATFORM) out->platform = text;
    if (is_text && number >= HANDLER_LIBRARIES && number < HANDLER_OFFSETS)
        out->libraries[number - HANDLER_LIBRARIES] = text;
    if (number >= HANDLER_OFFSETS && number < HANDLER_END)
        out->offsets[number - HANDLER_OFFSETS] = field->value;
}

keel_status_t wire_read_handler(keel_bytes_t message, wire_handler_t *out) {
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    *out = (wire_handler_t){0};
    while (keel_proto_next(&cursor, &field))
        read_handler_field(&field, out);
    if (cursor.failed || out->kind >= KEEL_HANDLER_KINDS) return damaged("it cannot be decoded");
    return NULL;
}

keel_status_t wire_read_job(keel_bytes_t message, wire_job_t *out) {
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    *out = (wire_job_t){0};
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == JOB_SEED) out->seed = field.value;
        if (field.number == JOB_SECONDS) out->seconds = field.value;
        if (field.number == JOB_IS_PARTITION) out->is_partition = field.value;
        if (field.wire != KEEL_WIRE_BYTES) continue;
        if (field.number == JOB_EXECUTABLE) out->executable = field.bytes;
        if (field.number == JOB_ARGUMENTS) out->arguments = field.bytes;
        if (field.number == JOB_CODE) out->code = field.bytes;
        if (field.number == JOB_OPTIONS) out->options = field.bytes;
        if (field.number == JOB_FORMAT) out->format = keel_bytes_str(field.bytes);
    }
    return cursor.failed ? damaged("it cannot be decoded") : NULL;
}

static bool read_memory(keel_bytes_t packed, keel_program_memory_t *out) {
    keel_cursor_t cursor = keel_cursor(packed);
    uint64_t *const numbers[] = {&out->arguments, &out->outputs, &out->aliased, &out->temporaries,
                                 &out->code,      &out->host,    &out->peak};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        *numbers[i] = keel_proto_varint(&cursor);
    return !cursor.failed && !keel_cursor_left(&cursor);
}

static bool read_answer_number(const keel_proto_field_t *field, wire_answer_t *out) {
    switch (field->number) {
        case ANSWER_CODE:
            out->code = field->value;
            break;
        case ANSWER_NANOSECONDS:
            out->nanoseconds = field->value;
            break;
        case ANSWER_CPU_NANOSECONDS:
            out->cpu_nanoseconds = field->value;
            break;
        case ANSWER_PEAK_MEMORY:
            out->peak_memory = field->value;
            break;
        case ANSWER_IS_TRIAL:
            out->is_trial = field->value != 0;
            break;
        case ANSWER_IS_PARTITION:
            out->is_partition = field->value != 0;
            break;
        default:
            break;
    }
    return true;
}

static bool read_answer_bytes(const keel_proto_field_t *field, wire_answer_t *out) {
    switch (field->number) {
        case ANSWER_ERROR:
            out->error = keel_bytes_str(field->bytes);
            break;
        case ANSWER_EXECUTABLE:
            out->executable = field->bytes;
            break;
        case ANSWER_PROGRAM:
            out->program = field->bytes;
            break;
        case ANSWER_PROGRAM_FORMAT:
            out->program_format = keel_bytes_str(field->bytes);
            break;
        case ANSWER_FINGERPRINT:
            out->fingerprint = field->bytes;
            break;
        case ANSWER_COSTS:
            out->costs = field->bytes;
            break;
        case ANSWER_RESULTS:
            out->results = field->bytes;
            break;
        case ANSWER_MEMORY:
            out->has_memory = true;
            return read_memory(field->bytes, &out->memory);
        default:
            break;
    }
    return true;
}

keel_status_t wire_read_answer(keel_bytes_t message, wire_answer_t *out) {
    keel_cursor_t cursor = keel_cursor(message);
    keel_proto_field_t field;
    *out = (wire_answer_t){0};
    while (keel_proto_next(&cursor, &field)) {
        bool is_good = field.wire == KEEL_WIRE_VARINT  ? read_answer_number(&field, out)
                       : field.wire == KEEL_WIRE_BYTES ? read_answer_bytes(&field, out)
                                                       : true;
        if (!is_good) return damaged("it cannot be decoded");
    }
    if (cursor.failed) return damaged("it cannot be decoded");
    bool answers = out->error.size || out->executable.size || out->is_trial ||
                   (out->is_partition && out->program.size);
    return answers ? NULL : damaged("it answers nothing");
}
