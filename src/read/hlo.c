// HloModuleProto -> program. See hlo_reader.h for the mapping.
#include "read/hlo_reader.h"

#include "read/read.h"

// What an id refers to: the index of an instruction in its computation, or of a computation in the
// module.
typedef struct id_entry_t {
    int64_t id;
    uint32_t place;
} id_entry_t;

typedef KEEL_TABLE(id_entry_t) ids_t;

// Where the schedule of a computation is.
typedef struct sequence_t {
    int64_t computation;
    keel_bytes_t bytes;
    bool used;
} sequence_t;

typedef struct module_reader_t {
    keel_hlo_reader_t reader;
    ids_t computations;
    int64_t entry;      // of the computations, its id
    ids_t instructions; // of the computation that is being read
    KEEL_TABLE(sequence_t) schedule;
    keel_map_t op_names;
    keel_map_t function_names;
} module_reader_t;

// ---- ids ---------------------------------------------------------------------------------------

static int compare_ids(const void *left, const void *right) {
    const id_entry_t *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static keel_status_t sort_ids(const ids_t *ids, const char *what) {
    bool sorted = true;
    for (uint32_t i = 1; i < ids->count; ++i)
        sorted &= ids->data[i - 1].id < ids->data[i].id;
    if (sorted) return NULL;
    qsort(ids->data, ids->count, sizeof *ids->data, compare_ids);
    for (uint32_t i = 1; i < ids->count; ++i)
        if (ids->data[i - 1].id == ids->data[i].id)
            return keel_status_make(KEEL_CORRUPT, "HLO: two %ss with the id %lld", what,
                                    (long long)ids->data[i].id);
    return NULL;
}

// The index with that id; it must be below `limit`.
static keel_status_t resolve(const ids_t *ids, int64_t id, uint32_t limit, const char *what,
                             uint32_t *out) {
    uint32_t low = 0, high = ids->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ids->data[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ids->count || ids->data[low].id != id)
        return keel_status_make(KEEL_CORRUPT, "HLO: no %s has the id %lld", what, (long long)id);
    if (ids->data[low].place >= limit)
        return keel_status_make(KEEL_CORRUPT, "HLO: the %s with the id %lld is used before it",
                                what, (long long)id);
    *out = ids->data[low].place;
    return NULL;
}

// Collects the ids (field `id_field`) of all messages in field `field`. Reading them checks later
// that they are well-formed.
static keel_status_t collect_ids(const keel_hlo_pieces_t *pieces, uint32_t field, uint32_t id_field,
                                 const char *what, ids_t *out) {
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, field);
    keel_proto_field_t got;
    out->count = 0;
    while (keel_hlo_next(&walk, &got)) {
        keel_hlo_pieces_t item = keel_hlo_piece(got.bytes);
        id_entry_t id = {(int64_t)keel_hlo_last_value(&item, id_field), out->count};
        KEEL_PUSH(out, id);
    }
    return sort_ids(out, what);
}

// A list in ints of the indices that a field's ids refer to.
static keel_status_t read_places(module_reader_t *module, const keel_hlo_pieces_t *pieces,
                                 uint32_t field, uint32_t limit, uint32_t *out) {
    keel_program_t *program = module->reader.program;
    uint32_t start = program->ints.count;
    KEEL_PUSH(&program->ints, 0);
    keel_hlo_numbers_t numbers = keel_hlo_numbers(pieces, field, KEEL_WIRE_VARINT);
    uint64_t id;
    while (keel_hlo_next_number(&numbers, &id)) {
        uint32_t place = 0;
        KEEL_TRY(resolve(&module->instructions, (int64_t)id, limit, "instruction", &place));
        KEEL_PUSH(&program->ints, place);
    }
    if (numbers.failed) return keel_status_make(KEEL_CORRUPT, "HLO: a list of ids is truncated");
    return keel_hlo_close_ints(&module->reader, start, out);
}

// ---- instructions ------------------------------------------------------------------------------

static keel_status_t find_op_name(module_reader_t *module, keel_bytes_t opcode, uint16_t *out) {
    keel_program_t *program = module->reader.program;
    const uint64_t *known = keel_map_find(&module->op_names, opcode);
    if (known) {
        *out = (uint16_t)*known;
        return NULL;
    }
    if (!opcode.size) return keel_status_make(KEEL_CORRUPT, "HLO: an instruction has no opcode");
    if (program->op_names.count == KEEL_OP_HAS_REGIONS)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: more than %d opcodes", KEEL_OP_HAS_REGIONS);
    keel_op_name_t name = {.version = 0};
    if (program->op_names.count)
        name.dialect = program->op_names.data[0].dialect;
    else
        KEEL_TRY(keel_program_add_text(program, KEEL_STR("hlo"), &name.dialect));
    KEEL_TRY(keel_hlo_string(&module->reader, opcode, &name.name));
    *out = (uint16_t)program->op_names.count;
    KEEL_PUSH(&program->op_names, name);
    return keel_map_put(&module->op_names, opcode, *out);
}

static keel_status_t read_operands(module_reader_t *module, const keel_hlo_pieces_t *instruction,
                                   uint32_t first_op) {
    keel_program_t *program = module->reader.program;
    keel_hlo_numbers_t numbers =
        keel_hlo_numbers(instruction, KEEL_HLO_AT_OPERANDS, KEEL_WIRE_VARINT);
    uint64_t id;
    while (keel_hlo_next_number(&numbers, &id)) {
        uint32_t place = 0;
        KEEL_TRY(resolve(&module->instructions, (int64_t)id, program->operations.count - first_op,
                         "instruction", &place));
        KEEL_PUSH(&program->operands, first_op + place);
    }
    if (numbers.failed) return keel_status_make(KEEL_CORRUPT, "HLO: operand ids are truncated");
    return NULL;
}

static keel_status_t push_attr(keel_hlo_reader_t *reader, keel_hlo_message_id_t message,
                               uint32_t number, keel_attr_id_t attr) {
    uint32_t field = reader->first[message] + 1;
    while (keel_hlo_fields[field].number != number)
        ++field;
    keel_string_id_t name;
    KEEL_TRY(keel_hlo_field_name(reader, field, &name));
    return keel_hlo_push_pair(reader, name, attr);
}

static keel_status_t push_predecessors(module_reader_t *module,
                                       const keel_hlo_pieces_t *instruction, uint32_t place) {
    keel_attr_t attr = {.kind = KEEL_ATTR_INTS};
    keel_attr_id_t id;
    KEEL_TRY(read_places(module, instruction, KEEL_HLO_AT_PREDECESSORS, place, &attr.b));
    if (!keel_program_ints(module->reader.program, attr.b).count) return NULL;
    KEEL_TRY(keel_hlo_attr(&module->reader, attr, &id));
    return push_attr(&module->reader, KEEL_HLO_INSTRUCTION, KEEL_HLO_AT_PREDECESSORS, id);
}

// Callees come before their callers, so a module has no recursion.
static keel_status_t push_callees(module_reader_t *module, const keel_hlo_pieces_t *instruction) {
    keel_hlo_reader_t *reader = &module->reader;
    uint32_t mark = reader->stack.count;
    keel_hlo_numbers_t numbers =
        keel_hlo_numbers(instruction, KEEL_HLO_AT_CALLEES, KEEL_WIRE_VARINT);
    uint64_t id;
    keel_attr_id_t attr;
    while (keel_hlo_next_number(&numbers, &id)) {
        uint32_t place = 0;
        KEEL_TRY(resolve(&module->computations, (int64_t)id, reader->program->functions.count,
                         "computation", &place));
        keel_attr_t symbol = {.kind = KEEL_ATTR_SYMBOL, .b = KEEL_NONE};
        symbol.a = reader->program->functions.data[place].name;
        KEEL_TRY(keel_hlo_attr(reader, symbol, &attr));
        KEEL_PUSH(&reader->stack, attr);
    }
    if (numbers.failed) return keel_status_make(KEEL_CORRUPT, "HLO: ids of callees are truncated");
    if (reader->stack.count == mark) return NULL;
    KEEL_TRY(keel_hlo_close(reader, mark, KEEL_ATTR_ARRAY, 0, &attr));
    return push_attr(reader, KEEL_HLO_INSTRUCTION, KEEL_HLO_AT_CALLEES, attr);
}

// A dictionary of the pairs above `mark`, or NONE if there are none.
static keel_status_t close_dictionary(keel_hlo_reader_t *reader, uint32_t mark,
                                      keel_attr_id_t *out) {
    *out = KEEL_NONE;
    if (reader->stack.count == mark) return NULL;
    return keel_hlo_close(reader, mark, KEEL_ATTR_DICT, KEEL_RECORD_DICTIONARY, out);
}

// The instruction's fields that are not attributes of their own.
static keel_status_t read_apart(module_reader_t *module, const keel_hlo_pieces_t *instruction,
                                uint32_t first_op, keel_operation_t *operation,
                                keel_type_id_t *type) {
    enum { OPCODE, SHAPE, METADATA, OPERANDS, PREDECESSORS, CALLEES, COUNT };
    static const uint8_t numbers[COUNT] = {KEEL_HLO_AT_OPCODE,       KEEL_HLO_AT_INSTRUCTION_SHAPE,
                                           KEEL_HLO_AT_METADATA,     KEEL_HLO_AT_OPERANDS,
                                           KEEL_HLO_AT_PREDECESSORS, KEEL_HLO_AT_CALLEES};
    keel_hlo_reader_t *reader = &module->reader;
    keel_proto_field_t fields[COUNT];
    keel_hlo_pieces_t shape, metadata;
    keel_hlo_lasts(instruction, numbers, COUNT, fields);
    KEEL_TRY(find_op_name(module, fields[OPCODE].bytes, &operation->name));
    KEEL_TRY(keel_hlo_nested(instruction, numbers[METADATA], &metadata));
    KEEL_TRY(keel_hlo_location(reader, &metadata, &operation->location));
    KEEL_TRY(keel_hlo_nested(instruction, numbers[SHAPE], &shape));
    KEEL_TRY(keel_hlo_type(reader, &shape, type));
    if (fields[OPERANDS].number) KEEL_TRY(read_operands(module, instruction, first_op));
    if (fields[PREDECESSORS].number)
        KEEL_TRY(push_predecessors(module, instruction,
                                   module->reader.program->operations.count - first_op));
    if (fields[CALLEES].number) KEEL_TRY(push_callees(module, instruction));
    return NULL;
}

static keel_status_t read_instruction(module_reader_t *module, keel_bytes_t bytes,
                                      uint32_t first_op) {
    keel_hlo_reader_t *reader = &module->reader;
    keel_program_t *program = reader->program;
    keel_hlo_pieces_t instruction = keel_hlo_piece(bytes);
    keel_operation_t operation = {.first_operand = program->operands.count,
                                  .first_result = program->value_types.count,
                                  .result_count = 1};
    uint32_t mark = reader->stack.count;
    keel_type_id_t type;
    KEEL_TRY(keel_hlo_push_fields(reader, KEEL_HLO_INSTRUCTION, &instruction));
    KEEL_TRY(read_apart(module, &instruction, first_op, &operation, &type));
    KEEL_TRY(close_dictionary(reader, mark, &operation.attributes));
    KEEL_PUSH(&program->value_types, (uint16_t)type);
    KEEL_PUSH(&program->operations, operation);
    return NULL;
}

// ---- computations ------------------------------------------------------------------------------

static keel_status_t push_schedule(module_reader_t *module, int64_t computation) {
    keel_hlo_reader_t *reader = &module->reader;
    sequence_t *sequence = NULL;
    for (uint32_t low = 0, high = module->schedule.count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        sequence_t *here = &module->schedule.data[middle];
        if (here->computation == computation) {
            sequence = here;
            break;
        }
        if (here->computation < computation)
            low = middle + 1;
        else
            high = middle;
    }
    if (!sequence) return NULL;
    sequence->used = true;
    keel_hlo_pieces_t pieces = keel_hlo_piece(sequence->bytes);
    keel_hlo_present_t present;
    keel_attr_t attr = {.kind = KEEL_ATTR_INTS};
    keel_attr_id_t id;
    KEEL_TRY(keel_hlo_scan(reader, KEEL_HLO_SEQUENCE, &pieces, &present));
    KEEL_TRY(read_places(module, &pieces, KEEL_HLO_AT_SEQUENCE_IDS, UINT32_MAX, &attr.b));
    KEEL_TRY(keel_hlo_attr(reader, attr, &id));
    return push_attr(reader, KEEL_HLO_MODULE, KEEL_HLO_AT_MODULE_SCHEDULE, id);
}

static keel_status_t name_function(module_reader_t *module, keel_bytes_t name,
                                   keel_string_id_t *out) {
    // Symbols name functions, so two with one name would be ambiguous.
    if (keel_map_find(&module->function_names, name))
        return keel_status_make(KEEL_CORRUPT, "HLO: two computations are named %.*s",
                                KEEL_STR_ARGS(keel_bytes_str(name)));
    KEEL_TRY(keel_map_put(&module->function_names, name, 0));
    return keel_hlo_string(&module->reader, name, out);
}

static keel_status_t add_function(module_reader_t *module, const keel_hlo_pieces_t *computation,
                                  keel_function_t *function, uint32_t first_op) {
    keel_program_t *program = module->reader.program;
    uint32_t root = 0;
    KEEL_TRY(resolve(&module->instructions,
                     (int64_t)keel_hlo_last_value(computation, KEEL_HLO_AT_COMPUTATION_ROOT),
                     UINT32_MAX, "instruction", &root));
    function->root = first_op + root;
    function->end_value = program->value_types.count;
    keel_block_t block = {.first_op = first_op,
                          .end_op = program->operations.count,
                          .first_argument = function->first_value,
                          .argument_locations = KEEL_NONE};
    keel_region_t region = {.parent = KEEL_NONE,
                            .first_block = program->blocks.count,
                            .block_count = 1,
                            .end = program->operations.count};
    KEEL_PUSH(&program->blocks, block);
    KEEL_PUSH(&program->regions, region);
    KEEL_PUSH(&program->functions, *function);
    return NULL;
}

static keel_status_t read_computation(module_reader_t *module, keel_bytes_t bytes) {
    keel_hlo_reader_t *reader = &module->reader;
    keel_program_t *program = reader->program;
    keel_hlo_pieces_t computation = keel_hlo_piece(bytes);
    keel_function_t function = {.operation = KEEL_NONE,
                                .region = program->regions.count,
                                .type = KEEL_NONE,
                                .argument_attributes = KEEL_NONE,
                                .result_attributes = KEEL_NONE,
                                .first_value = program->value_types.count};
    uint32_t first_op = program->operations.count, mark = reader->stack.count;
    int64_t id = (int64_t)keel_hlo_last_value(&computation, KEEL_HLO_AT_COMPUTATION_ID);
    reader->is_called = id != module->entry;
    KEEL_TRY(keel_hlo_push_fields(reader, KEEL_HLO_COMPUTATION, &computation));
    KEEL_TRY(collect_ids(&computation, KEEL_HLO_AT_COMPUTATION_INSTRUCTIONS,
                         KEEL_HLO_AT_INSTRUCTION_ID, "instruction", &module->instructions));
    KEEL_TRY(push_schedule(module, id));
    KEEL_TRY(close_dictionary(reader, mark, &function.attributes));
    KEEL_TRY(keel_table_reserve(&program->operations, module->instructions.count));
    KEEL_TRY(keel_table_reserve(&program->value_types, module->instructions.count));
    keel_hlo_walk_t walk = keel_hlo_walk(&computation, KEEL_HLO_AT_COMPUTATION_INSTRUCTIONS);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got))
        KEEL_TRY(read_instruction(module, got.bytes, first_op));
    KEEL_TRY(name_function(module, keel_hlo_last_bytes(&computation, KEEL_HLO_AT_COMPUTATION_NAME),
                           &function.name));
    return add_function(module, &computation, &function, first_op);
}

// ---- module ------------------------------------------------------------------------------------

static int compare_sequences(const void *left, const void *right) {
    const sequence_t *a = left, *b = right;
    if (a->computation != b->computation) return a->computation < b->computation ? -1 : 1;
    return a->bytes.data < b->bytes.data ? -1 : a->bytes.data > b->bytes.data;
}

static keel_status_t read_schedule(module_reader_t *module, const keel_hlo_pieces_t *pieces) {
    keel_hlo_pieces_t schedule;
    keel_hlo_present_t present;
    KEEL_TRY(keel_hlo_nested(pieces, KEEL_HLO_AT_MODULE_SCHEDULE, &schedule));
    KEEL_TRY(keel_hlo_scan(&module->reader, KEEL_HLO_SCHEDULE, &schedule, &present));
    keel_hlo_walk_t walk = keel_hlo_walk(&schedule, KEEL_HLO_AT_SEQUENCES);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got)) {
        keel_hlo_pieces_t entry = keel_hlo_piece(got.bytes), value;
        KEEL_TRY(keel_hlo_scan(&module->reader, KEEL_HLO_SCHEDULE_ENTRY, &entry, &present));
        KEEL_TRY(keel_hlo_nested(&entry, KEEL_HLO_AT_VALUE, &value));
        if (value.count > 1)
            return keel_status_make(KEEL_UNSUPPORTED, "HLO: a schedule's entry has two values");
        sequence_t sequence = {.computation =
                                   (int64_t)keel_hlo_last_value(&entry, KEEL_HLO_AT_KEY)};
        // An empty value has no position of its own; the entry has one.
        sequence.bytes =
            value.count && value.items[0].size ? value.items[0] : keel_bytes(got.raw.data, 0);
        KEEL_PUSH(&module->schedule, sequence);
    }
    if (!module->schedule.count) return NULL;
    qsort(module->schedule.data, module->schedule.count, sizeof(sequence_t), compare_sequences);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < module->schedule.count; ++i) {
        sequence_t *all = module->schedule.data;
        if (kept && all[kept - 1].computation == all[i].computation) --kept;
        all[kept++] = all[i];
    }
    module->schedule.count = kept;
    return NULL;
}

static keel_status_t check_schedule(const module_reader_t *module) {
    for (uint32_t i = 0; i < module->schedule.count; ++i)
        if (!module->schedule.data[i].used)
            return keel_status_make(KEEL_CORRUPT,
                                    "HLO: the schedule names computation %lld, "
                                    "which does not exist",
                                    (long long)module->schedule.data[i].computation);
    return NULL;
}

static keel_status_t read_module(module_reader_t *module, const keel_hlo_pieces_t *pieces) {
    keel_hlo_reader_t *reader = &module->reader;
    keel_program_t *program = reader->program;
    keel_hlo_pieces_t frames;
    uint32_t mark = reader->stack.count;
    KEEL_TRY(keel_hlo_push_fields(reader, KEEL_HLO_MODULE, pieces));
    KEEL_TRY(close_dictionary(reader, mark, &program->attributes));
    KEEL_TRY(collect_ids(pieces, KEEL_HLO_AT_MODULE_COMPUTATIONS, KEEL_HLO_AT_COMPUTATION_ID,
                         "computation", &module->computations));
    module->entry = (int64_t)keel_hlo_last_value(pieces, KEEL_HLO_AT_MODULE_ENTRY_ID);
    KEEL_TRY(read_schedule(module, pieces));
    KEEL_TRY(keel_hlo_nested(pieces, KEEL_HLO_AT_MODULE_FRAMES, &frames));
    KEEL_TRY(keel_hlo_read_frames(reader, &frames));
    keel_hlo_walk_t walk = keel_hlo_walk(pieces, KEEL_HLO_AT_MODULE_COMPUTATIONS);
    keel_proto_field_t got;
    while (keel_hlo_next(&walk, &got))
        KEEL_TRY(read_computation(module, got.bytes));
    KEEL_TRY(check_schedule(module));
    KEEL_TRY(keel_hlo_string(reader, keel_hlo_last_bytes(pieces, KEEL_HLO_AT_MODULE_NAME),
                             &program->name));
    KEEL_TRY(
        resolve(&module->computations, module->entry, UINT32_MAX, "computation", &program->entry));
    program->functions.data[program->entry].is_public = true;
    keel_operation_t end = {.first_operand = program->operands.count,
                            .first_result = program->value_types.count,
                            .location = KEEL_NONE,
                            .attributes = KEEL_NONE};
    KEEL_PUSH(&program->operations, end);
    return NULL;
}

static keel_status_t start_module(keel_hlo_reader_t *reader) {
    void *names, *seen;
    KEEL_TRY(keel_alloc(keel_hlo_field_count * sizeof *reader->names, &names));
    reader->names = names;
    KEEL_TRY(keel_calloc(KEEL_HLO_SEEN, sizeof *reader->seen, &seen));
    reader->seen = seen;
    for (uint32_t i = 0; i < keel_hlo_field_count; ++i)
        reader->names[i] = KEEL_NONE;
    keel_hlo_find_messages(reader->first);
    return keel_hlo_attr(reader, (keel_attr_t){.kind = KEEL_ATTR_LOC_UNKNOWN},
                         &reader->unknown_location);
}

static void finish_module(module_reader_t *module) {
    keel_hlo_reader_t *reader = &module->reader;
    void *const memory[] = {reader->seen,
                            reader->names,
                            reader->stack.data,
                            reader->files.data,
                            reader->functions.data,
                            reader->places.data,
                            reader->frames.data,
                            module->schedule.data,
                            module->computations.data,
                            module->instructions.data};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i)
        keel_free(memory[i]);
    keel_hlo_set_t *const sets[] = {&reader->strings, &reader->numbers, &reader->int_lists,
                                    &reader->lists,   &reader->attrs,   &reader->types};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i)
        keel_hlo_set_deinitialize(sets[i]);
    keel_map_deinitialize(&module->op_names);
    keel_map_deinitialize(&module->function_names);
}

keel_status_t keel_read_hlo(keel_bytes_t bytes, keel_program_t *out) {
    keel_program_initialize(out);
    if (bytes.size > KEEL_READ_SIZE_LIMIT)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: a module of %zu bytes", bytes.size);
    out->format = KEEL_FORMAT_HLO;
    out->source = bytes.size ? bytes : keel_bytes("", 0);
    out->producer = KEEL_STR("");
    module_reader_t module = {.reader = {.program = out}};
    keel_map_initialize(&module.op_names);
    keel_map_initialize(&module.function_names);
    keel_hlo_pieces_t pieces = keel_hlo_piece(bytes);
    keel_status_t status = start_module(&module.reader);
    if (!status) status = read_module(&module, &pieces);
    finish_module(&module);
    if (status) keel_program_deinitialize(out);
    return status;
}
