// Program -> HloModuleProto. See hlo_reader.h for the mapping.
#include "read/hlo_writer.h"

#include "read/read.h"
#include "read/write.h"

typedef struct module_writer_t {
    keel_hlo_writer_t writer;
    keel_map_t functions;     // name -> index
    uint32_t function;        // that is being written
    keel_op_id_t op;          // that is being written
    const keel_block_t *body; // of the function
} module_writer_t;

static keel_status_t invalid(const char *what) {
    return keel_status_make(KEEL_INVALID, "HLO: %s", what);
}

// ---- ids ---------------------------------------------------------------------------------------

// Different over the whole module, as XLA's own are, and in the order of the program, by which XLA
// sorts. Computations come after instructions.
static uint64_t instruction_id(keel_op_id_t op) {
    return (uint64_t)op + 1;
}

static uint64_t computation_id(const keel_program_t *program, uint32_t function) {
    return (uint64_t)keel_program_op_count(program) + 1 + function;
}

static void put_id(keel_hlo_writer_t *writer, uint32_t number, uint64_t id) {
    keel_proto_put_number(writer->out, number, KEEL_WIRE_VARINT, id);
}

static void put_string(keel_hlo_writer_t *writer, uint32_t number, keel_string_id_t id) {
    keel_proto_put_bytes(writer->out, number,
                         keel_str_bytes(keel_program_str(writer->program, id)));
}

// A list of indices into a computation, as ids; each is below `limit`.
static keel_status_t put_places(keel_hlo_writer_t *writer, uint32_t number, keel_attr_id_t id,
                                const keel_block_t *body, uint32_t limit) {
    const keel_attr_t *attr = keel_program_attr(writer->program, id);
    if (attr->kind != KEEL_ATTR_INTS)
        return invalid("a list of instructions is not a list of numbers");
    keel_ints_t list = keel_program_ints(writer->program, attr->b);
    size_t opened = keel_proto_open(writer->out, number);
    for (uint32_t i = 0; i < list.count; ++i) {
        if (list.items[i] < 0 || list.items[i] >= limit)
            return invalid(
                "a reference to an instruction that is not in its computation, or comes later");
        keel_proto_put_varint(writer->out,
                              instruction_id(body->first_op + (uint32_t)list.items[i]));
    }
    keel_proto_close(writer->out, opened);
    return NULL;
}

// ---- instructions ------------------------------------------------------------------------------

static keel_status_t put_callees(module_writer_t *module, keel_attr_id_t attr) {
    keel_hlo_writer_t *writer = &module->writer;
    keel_list_t list = keel_program_array(writer->program, attr);
    size_t opened = keel_proto_open(writer->out, KEEL_HLO_AT_CALLEES);
    for (uint32_t i = 0; i < list.count; ++i) {
        const keel_attr_t *symbol = keel_program_attr(writer->program, list.items[i]);
        if (symbol->kind != KEEL_ATTR_SYMBOL) return invalid("a callee is not a symbol");
        const uint64_t *callee = keel_map_find(
            &module->functions, keel_str_bytes(keel_program_str(writer->program, symbol->a)));
        if (!callee || *callee >= module->function)
            return invalid("a computation calls another that does not exist, or comes later");
        keel_proto_put_varint(writer->out, computation_id(writer->program, (uint32_t)*callee));
    }
    keel_proto_close(writer->out, opened);
    return NULL;
}

static keel_status_t write_reference(void *context, keel_hlo_message_id_t message, keel_str_t name,
                                     keel_attr_id_t attr) {
    module_writer_t *module = context;
    if (keel_str_is(name, "called_computations")) return put_callees(module, attr);
    if (keel_str_is(name, "control_predecessors"))
        return put_places(&module->writer, KEEL_HLO_AT_PREDECESSORS, attr, module->body,
                          module->op - module->body->first_op);
    return keel_hlo_no_attribute(&module->writer, message, name);
}

static keel_status_t put_operands(const module_writer_t *module) {
    const keel_hlo_writer_t *writer = &module->writer;
    keel_list_t operands = keel_program_operands(writer->program, module->op);
    if (!operands.count) return NULL;
    size_t opened = keel_proto_open(writer->out, KEEL_HLO_AT_OPERANDS);
    for (uint32_t i = 0; i < operands.count; ++i) {
        if (operands.items[i] < module->body->first_op || operands.items[i] >= module->op)
            return invalid("an operand is not in its computation, or comes later");
        keel_proto_put_varint(writer->out, instruction_id(operands.items[i]));
    }
    keel_proto_close(writer->out, opened);
    return NULL;
}

static keel_status_t check_instruction(const module_writer_t *module) {
    const keel_program_t *program = module->writer.program;
    const keel_operation_t *operation = &program->operations.data[module->op];
    const keel_op_name_t *name = keel_program_op_name(program, module->op);
    if (!keel_str_is(keel_program_str(program, name->dialect), "hlo") || name->version)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: %.*s.%.*s is not an instruction of HLO",
                                KEEL_STR_ARGS(keel_program_str(program, name->dialect)),
                                KEEL_STR_ARGS(keel_program_str(program, name->name)));
    if (operation->result_count != 1 || operation->first_result != module->op ||
        (operation->name & KEEL_OP_HAS_REGIONS))
        return invalid("an instruction has one result, which is numbered like it, and no regions");
    return NULL;
}

static keel_status_t write_instruction(module_writer_t *module) {
    keel_hlo_writer_t *writer = &module->writer;
    const keel_program_t *program = writer->program;
    const keel_operation_t *operation = &program->operations.data[module->op];
    keel_string_id_t opcode = keel_program_op_name(program, module->op)->name;
    KEEL_TRY(check_instruction(module));
    KEEL_TRY(keel_hlo_write_enter(writer));
    size_t opened = keel_proto_open(writer->out, KEEL_HLO_AT_COMPUTATION_INSTRUCTIONS);
    size_t name = keel_proto_open(writer->out, KEEL_HLO_AT_INSTRUCTION_NAME);
    keel_buffer_str(writer->out, keel_program_str(program, opcode));
    keel_buffer_format(writer->out, ".%llu", (unsigned long long)instruction_id(module->op));
    keel_proto_close(writer->out, name);
    put_string(writer, KEEL_HLO_AT_OPCODE, opcode);
    KEEL_TRY(keel_hlo_write_shape(writer, KEEL_HLO_AT_INSTRUCTION_SHAPE,
                                  program->value_types.data[operation->first_result]));
    KEEL_TRY(keel_hlo_write_location(writer, operation->location));
    KEEL_TRY(keel_hlo_write_fields(writer, KEEL_HLO_INSTRUCTION, operation->attributes,
                                   write_reference, module));
    put_id(writer, KEEL_HLO_AT_INSTRUCTION_ID, instruction_id(module->op));
    KEEL_TRY(put_operands(module));
    keel_proto_close(writer->out, opened);
    --writer->depth;
    return NULL;
}

// ---- computations ------------------------------------------------------------------------------

// The schedule is a field of the module.
static keel_status_t leave_schedule(void *context, keel_hlo_message_id_t message, keel_str_t name,
                                    keel_attr_id_t attr) {
    const module_writer_t *module = context;
    (void)attr;
    if (keel_str_is(name, "schedule")) return NULL;
    return keel_hlo_no_attribute(&module->writer, message, name);
}

// Computations follow each other without a gap: an operation between them would be lost.
static keel_status_t check_function(const module_writer_t *module, const keel_function_t *function,
                                    keel_op_id_t expected) {
    const keel_block_t *body = module->body;
    if (!body || body->first_op != expected || body->argument_count ||
        function->operation != KEEL_NONE || function->type != KEEL_NONE ||
        function->argument_attributes != KEEL_NONE || function->result_attributes != KEEL_NONE)
        return invalid(
            "a computation must be one block without arguments, directly after the previous one");
    if (function->root < body->first_op || function->root >= body->end_op)
        return invalid("a computation's root is not in it");
    return NULL;
}

static keel_status_t write_computation(module_writer_t *module, keel_op_id_t *next) {
    keel_hlo_writer_t *writer = &module->writer;
    const keel_program_t *program = writer->program;
    const keel_function_t *function = &program->functions.data[module->function];
    module->body = keel_program_body(program, module->function);
    KEEL_TRY(check_function(module, function, *next));
    size_t opened = keel_proto_open(writer->out, KEEL_HLO_AT_MODULE_COMPUTATIONS);
    put_string(writer, KEEL_HLO_AT_COMPUTATION_NAME, function->name);
    for (module->op = module->body->first_op; module->op < module->body->end_op; ++module->op)
        KEEL_TRY(write_instruction(module));
    KEEL_TRY(keel_hlo_write_fields(writer, KEEL_HLO_COMPUTATION, function->attributes,
                                   leave_schedule, module));
    put_id(writer, KEEL_HLO_AT_COMPUTATION_ID, computation_id(program, module->function));
    put_id(writer, KEEL_HLO_AT_COMPUTATION_ROOT, instruction_id(function->root));
    keel_proto_close(writer->out, opened);
    *next = module->body->end_op;
    return NULL;
}

static keel_status_t name_functions(module_writer_t *module) {
    const keel_program_t *program = module->writer.program;
    for (uint32_t i = 0; i < program->functions.count; ++i) {
        keel_str_t name = keel_program_str(program, program->functions.data[i].name);
        if (keel_map_find(&module->functions, keel_str_bytes(name)))
            return keel_status_make(KEEL_INVALID, "HLO: two computations are named %.*s",
                                    KEEL_STR_ARGS(name));
        KEEL_TRY(keel_map_put(&module->functions, keel_str_bytes(name), i));
    }
    return NULL;
}

static keel_status_t write_computations(module_writer_t *module) {
    const keel_program_t *program = module->writer.program;
    keel_op_id_t next = 0;
    KEEL_TRY(name_functions(module));
    for (module->function = 0; module->function < program->functions.count; ++module->function)
        KEEL_TRY(write_computation(module, &next));
    if (next != keel_program_op_count(program)) return invalid("an operation is in no computation");
    return NULL;
}

// ---- module ------------------------------------------------------------------------------------

static keel_attr_id_t schedule_of(const keel_program_t *program, uint32_t function) {
    return keel_program_dict_find(program, program->functions.data[function].attributes,
                                  "schedule");
}

static keel_status_t write_sequence(keel_hlo_writer_t *writer, uint32_t function) {
    const keel_block_t *body = keel_program_body(writer->program, function);
    size_t entry = keel_proto_open(writer->out, KEEL_HLO_AT_SEQUENCES);
    put_id(writer, KEEL_HLO_AT_KEY, computation_id(writer->program, function));
    size_t value = keel_proto_open(writer->out, KEEL_HLO_AT_VALUE);
    KEEL_TRY(put_places(writer, KEEL_HLO_AT_SEQUENCE_IDS, schedule_of(writer->program, function),
                        body, body->end_op - body->first_op));
    keel_proto_close(writer->out, value);
    keel_proto_close(writer->out, entry);
    return NULL;
}

static keel_status_t write_schedule(keel_hlo_writer_t *writer) {
    const keel_program_t *program = writer->program;
    uint32_t function = 0;
    while (function < program->functions.count && schedule_of(program, function) == KEEL_NONE)
        ++function;
    if (function == program->functions.count) return NULL;
    size_t opened = keel_proto_open(writer->out, KEEL_HLO_AT_MODULE_SCHEDULE);
    for (; function < program->functions.count; ++function)
        if (schedule_of(program, function) != KEEL_NONE) KEEL_TRY(write_sequence(writer, function));
    keel_proto_close(writer->out, opened);
    return NULL;
}

static keel_status_t write_module(module_writer_t *module) {
    keel_hlo_writer_t *writer = &module->writer;
    const keel_program_t *program = writer->program;
    if (program->entry >= program->functions.count) return invalid("the program has no entry");
    KEEL_TRY(keel_hlo_start_frames(writer));
    put_string(writer, KEEL_HLO_AT_MODULE_NAME, program->name);
    put_string(writer, KEEL_HLO_AT_MODULE_ENTRY_NAME, program->functions.data[program->entry].name);
    KEEL_TRY(write_computations(module));
    KEEL_TRY(keel_hlo_write_fields(writer, KEEL_HLO_MODULE, program->attributes, NULL, NULL));
    put_id(writer, KEEL_HLO_AT_MODULE_ENTRY_ID, computation_id(program, program->entry));
    KEEL_TRY(write_schedule(writer));
    return keel_hlo_write_frames(writer);
}

keel_status_t keel_write_hlo(const keel_program_t *program, keel_buffer_t *out) {
    if (program->format != KEEL_FORMAT_HLO)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "HLO: a program in MLIR cannot be written as HLO");
    if (program->left_out)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "HLO: %s was left out when the program was read, so the program "
                                "cannot be written",
                                program->left_out);
    module_writer_t module = {.writer = {.program = program, .out = out}};
    size_t before = out->size, limit = out->limit;
    keel_hlo_find_messages(module.writer.first);
    keel_map_initialize(&module.functions);
    if (limit - before > KEEL_READ_SIZE_LIMIT) out->limit = before + KEEL_READ_SIZE_LIMIT;
    keel_status_t status = write_module(&module);
    if (!status) status = keel_buffer_status(out);
    out->limit = limit;
    if (status && out->data) {
        out->size = before;
        out->data[before] = 0;
    }
    keel_map_deinitialize(&module.functions);
    keel_hlo_finish_frames(&module.writer);
    return status;
}
