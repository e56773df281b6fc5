// A program as JSON for tools. docs/show.md describes it; keep the two in step.
#include "read/print.h"
#include "read/print_value.h"
#include "read/print_walk.h"

typedef struct json_printer_t {
    keel_printer_t printer;
    keel_value_id_t first_value; // of the function
} json_printer_t;

static void write_value_number(json_printer_t *m, const char *name, keel_value_id_t id) {
    keel_json_unsigned(&m->printer.json, name, id - m->first_value);
}

// ---- operations --------------------------------------------------------------------------------

static void write_value_numbers(json_printer_t *m, const char *name, const keel_value_id_t *items,
                                keel_value_id_t first, uint32_t count) {
    keel_json_array(&m->printer.json, name);
    for (uint32_t i = 0; i < count; ++i)
        write_value_number(m, NULL, items ? items[i] : first + i);
    keel_json_end_array(&m->printer.json);
}

static void types(json_printer_t *m, const char *name, const keel_value_id_t *items,
                  keel_value_id_t first, uint32_t count) {
    keel_json_array(&m->printer.json, name);
    for (uint32_t i = 0; i < count && !keel_print_full(&m->printer); ++i)
        keel_print_type_json(
            &m->printer, NULL,
            keel_program_value_type(m->printer.program, items ? items[i] : first + i));
    keel_json_end_array(&m->printer.json);
}

// Begins an element of a list that has a line for each.
static void begin_line(keel_json_t *json) {
    keel_json_break(json, "\n");
    keel_json_object(json, NULL);
}

static void open_operation(void *context, keel_op_id_t op, uint32_t index) {
    json_printer_t *m = context;
    keel_json_t *json = &m->printer.json;
    (void)index;
    if (keel_print_full(&m->printer)) return;
    const keel_program_t *program = m->printer.program;
    const keel_operation_t *o = &program->operations.data[op];
    const keel_op_name_t *name = keel_program_op_name(program, op);
    keel_list_t operands = keel_program_operands(program, op);
    begin_line(json);
    keel_json_str(json, "name", keel_program_str(program, name->name));
    keel_json_str(json, "dialect", keel_program_str(program, name->dialect));
    keel_json_unsigned(json, "version", name->version);
    write_value_numbers(m, "operands", operands.items, 0, operands.count);
    types(m, "operand_types", operands.items, 0, operands.count);
    write_value_numbers(m, "results", NULL, o->first_result, o->result_count);
    types(m, "result_types", NULL, o->first_result, o->result_count);
    keel_print_dictionary_json(&m->printer, "attributes", o->attributes);
    keel_print_location_json(&m->printer, o->location);
    keel_json_array(json, "regions");
}

static void open_region(void *context, uint32_t index) {
    keel_json_t *json = &((json_printer_t *)context)->printer.json;
    (void)index;
    keel_json_object(json, NULL);
    keel_json_array(json, "blocks");
}

static void open_block(void *context, const keel_block_t *block, uint32_t index) {
    json_printer_t *m = context;
    keel_json_t *json = &m->printer.json;
    (void)index;
    keel_json_object(json, NULL);
    keel_json_array(json, "arguments");
    for (uint32_t i = 0; i < block->argument_count && !keel_print_full(&m->printer); ++i) {
        keel_json_object(json, NULL);
        write_value_number(m, "value", block->first_argument + i);
        keel_print_type_json(
            &m->printer, "type",
            keel_program_value_type(m->printer.program, block->first_argument + i));
        keel_print_location_json(&m->printer,
                                 keel_program_argument_location(m->printer.program, block, i));
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
    keel_json_array(json, "operations");
}

static void close_list(void *context) {
    keel_json_t *json = &((json_printer_t *)context)->printer.json;
    keel_json_end_array(json);
    keel_json_end_object(json);
}

static void close_operation(void *context, keel_op_id_t op) {
    (void)op;
    close_list(context);
}

static const keel_print_visitor_t visitor = {open_operation, open_region, open_block,
                                             close_list,     close_list,  close_operation};

// ---- functions ---------------------------------------------------------------------------------

// "name" of an argument: if its location is a name without a place.
static void argument_name(json_printer_t *m, keel_attr_id_t id) {
    keel_str_t name = {"", 0};
    keel_frame_t frame;
    if (!keel_program_frames(m->printer.program, id, &frame, 1, &name) && name.size)
        keel_json_str(&m->printer.json, "name", name);
    else
        keel_json_null(&m->printer.json, "name");
}

static void arguments(json_printer_t *m, const keel_function_t *function,
                      const keel_block_t *block) {
    const keel_program_t *program = m->printer.program;
    for (uint32_t i = 0; i < block->argument_count && !keel_print_full(&m->printer); ++i) {
        keel_attr_id_t where = keel_program_argument_location(program, block, i);
        begin_line(&m->printer.json);
        keel_print_type_json(
            &m->printer, "type",
            keel_program_value_type(m->printer.program, block->first_argument + i));
        keel_print_dictionary_json(&m->printer, "attributes",
                                   keel_print_entry(program, function->argument_attributes, i));
        argument_name(m, where);
        keel_print_location_json(&m->printer, where);
        keel_json_end_object(&m->printer.json);
    }
}

static void declared(json_printer_t *m, uint32_t list, keel_attr_id_t attributes) {
    const keel_program_t *program = m->printer.program;
    keel_list_t declared_types = keel_program_list(program, list);
    for (uint32_t i = 0; i < declared_types.count && !keel_print_full(&m->printer); ++i) {
        begin_line(&m->printer.json);
        keel_print_type_json(&m->printer, "type", declared_types.items[i]);
        keel_print_dictionary_json(&m->printer, "attributes",
                                   keel_print_entry(program, attributes, i));
        keel_json_end_object(&m->printer.json);
    }
}

static void results(json_printer_t *m, const keel_function_t *function) {
    const keel_program_t *program = m->printer.program;
    if (function->type != KEEL_NONE) {
        declared(m, keel_program_type(program, function->type)->c, function->result_attributes);
    } else if (function->root != KEEL_NONE) {
        begin_line(&m->printer.json);
        keel_print_type_json(
            &m->printer, "type",
            keel_program_value_type(m->printer.program,
                                    program->operations.data[function->root].first_result));
        keel_print_dictionary_json(&m->printer, "attributes", KEEL_NONE);
        keel_json_end_object(&m->printer.json);
    }
}

static void signature(json_printer_t *m, const keel_function_t *function,
                      const keel_block_t *blocks, uint32_t count) {
    const keel_program_t *program = m->printer.program;
    keel_json_t *json = &m->printer.json;
    keel_json_str(json, "name", keel_program_str(program, function->name));
    keel_json_string(json, "visibility", function->is_public ? "public" : "private");
    keel_print_dictionary_json(&m->printer, "attributes", function->attributes);
    if (function->operation != KEEL_NONE)
        keel_print_location_json(&m->printer,
                                 program->operations.data[function->operation].location);
    keel_json_array(json, "arguments");
    if (count)
        arguments(m, function, blocks);
    else if (function->type != KEEL_NONE)
        declared(m, keel_program_type(program, function->type)->b, function->argument_attributes);
    keel_json_end_array(json);
    keel_json_array(json, "results");
    results(m, function);
    keel_json_end_array(json);
    if (function->root != KEEL_NONE)
        write_value_number(m, "root", program->operations.data[function->root].first_result);
}

static keel_status_t function_json(json_printer_t *m, const keel_function_t *function) {
    uint32_t count;
    const keel_block_t *blocks = keel_print_blocks(m->printer.program, function, &count);
    m->first_value = function->first_value;
    begin_line(&m->printer.json);
    signature(m, function, blocks, count);
    keel_json_array(&m->printer.json, "operations");
    if (count)
        KEEL_TRY(keel_print_walk(m->printer.program, blocks[0].first_op, blocks[count - 1].end_op,
                                 &visitor, m));
    close_list(m);
    m->first_value = 0;
    return NULL;
}

// ---- module ------------------------------------------------------------------------------------

static void write_module_fields(json_printer_t *m) {
    const keel_program_t *program = m->printer.program;
    keel_json_t *json = &m->printer.json;
    keel_json_string(json, "format", keel_format_name(program->format));
    keel_json_str(json, "producer", program->producer);
    if (program->format == KEEL_FORMAT_MLIR)
        keel_json_unsigned(json, "bytecode_version", program->bytecode_version);
    if (program->name == KEEL_NONE)
        keel_json_null(json, "name");
    else
        keel_json_str(json, "name", keel_program_str(program, program->name));
    if (program->entry < program->functions.count)
        keel_json_str(json, "entry",
                      keel_program_str(program, program->functions.data[program->entry].name));
    else
        keel_json_null(json, "entry");
    keel_print_dictionary_json(&m->printer, "attributes", program->attributes);
}

keel_status_t keel_print_json(const keel_program_t *program, keel_buffer_t *out) {
    json_printer_t m = {.printer =
                            keel_printer(program, out, UINT32_MAX, keel_print_limit(program))};
    keel_json_t *json = &m.printer.json;
    m.printer.is_exact = true;
    keel_json_object(json, NULL);
    write_module_fields(&m);
    keel_json_break(json, "\n");
    keel_json_array(json, "functions");
    for (uint32_t i = 0; i < program->functions.count && !keel_print_full(&m.printer); ++i)
        KEEL_TRY(function_json(&m, &program->functions.data[i]));
    keel_json_end_array(json);
    keel_json_break(json, "\n");
    keel_json_array(json, "operations");
    KEEL_TRY(keel_print_walk_module(program, &visitor, &m));
    close_list(&m);
    keel_buffer_byte(out, '\n');
    KEEL_TRY(keel_buffer_status(out));
    if (!m.printer.cut) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED,
                            "the program's JSON would be larger than %llu bytes, or nests deeper "
                            "than readers allow; print it as text",
                            (unsigned long long)keel_print_limit(program));
}
