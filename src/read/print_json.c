// A program as JSON for tools. docs/show.md describes it; keep the two in step.
#include "read/print.h"
#include "read/print_value.h"
#include "read/print_walk.h"

typedef struct json_t {
    keel_printer_t printer;
    keel_value_id_t first_value; // of the function
} json_t;

static void text(json_t *j, const char *words) {
    keel_buffer_text(j->printer.out, words);
}

static void string(json_t *j, keel_str_t words) {
    keel_buffer_json_str(j->printer.out, words);
}

static void type(json_t *j, keel_type_id_t id) {
    text(j, "\"");
    keel_print_value_type(&j->printer, id);
    text(j, "\"");
}

static void value(json_t *j, keel_value_id_t id) {
    keel_buffer_format(j->printer.out, "%u", id - j->first_value);
}

static keel_type_id_t value_type(const json_t *j, keel_value_id_t id) {
    const keel_program_t *program = j->printer.program;
    return id < program->value_types.count ? program->value_types.data[id] : KEEL_NONE;
}

static void location(json_t *j, keel_attr_id_t id) {
    size_t before = j->printer.out->size;
    text(j, ",");
    if (keel_print_location_json(&j->printer, id) || j->printer.out->failed) return;
    j->printer.out->size = before;
    j->printer.out->data[before] = 0;
}

// ---- operations --------------------------------------------------------------------------------

static void values(json_t *j, const keel_value_id_t *items, keel_value_id_t first, uint32_t count) {
    text(j, "[");
    for (uint32_t i = 0; i < count; ++i) {
        if (i) text(j, ",");
        value(j, items ? items[i] : first + i);
    }
    text(j, "]");
}

static void types(json_t *j, const keel_value_id_t *items, keel_value_id_t first, uint32_t count) {
    text(j, "[");
    for (uint32_t i = 0; i < count && !keel_print_full(&j->printer); ++i) {
        if (i) text(j, ",");
        type(j, value_type(j, items ? items[i] : first + i));
    }
    text(j, "]");
}

static void open_operation(void *context, keel_op_id_t op, uint32_t index) {
    json_t *j = context;
    if (keel_print_full(&j->printer)) return;
    const keel_program_t *program = j->printer.program;
    const keel_operation_t *o = &program->operations.data[op];
    const keel_op_name_t *name = keel_program_op_name(program, op);
    keel_list_t operands = keel_program_operands(program, op);
    text(j, index ? ",\n{\"name\":" : "\n{\"name\":");
    string(j, keel_program_str(program, name->name));
    text(j, ",\"dialect\":");
    string(j, keel_program_str(program, name->dialect));
    keel_buffer_format(j->printer.out, ",\"version\":%u", name->version);
    text(j, ",\"operands\":");
    values(j, operands.items, 0, operands.count);
    text(j, ",\"operand_types\":");
    types(j, operands.items, 0, operands.count);
    text(j, ",\"results\":");
    values(j, NULL, o->first_result, o->result_count);
    text(j, ",\"result_types\":");
    types(j, NULL, o->first_result, o->result_count);
    text(j, ",\"attributes\":");
    keel_print_dictionary_json(&j->printer, o->attributes);
    location(j, o->location);
    text(j, ",\"regions\":[");
}

static void open_region(void *context, uint32_t index) {
    text(context, index ? ",{\"blocks\":[" : "{\"blocks\":[");
}

static void open_block(void *context, const keel_block_t *block, uint32_t index) {
    json_t *j = context;
    text(j, index ? ",{\"arguments\":[" : "{\"arguments\":[");
    for (uint32_t i = 0; i < block->argument_count && !keel_print_full(&j->printer); ++i) {
        text(j, i ? ",{\"value\":" : "{\"value\":");
        value(j, block->first_argument + i);
        text(j, ",\"type\":");
        type(j, value_type(j, block->first_argument + i));
        location(j, keel_program_argument_location(j->printer.program, block, i));
        text(j, "}");
    }
    text(j, "],\"operations\":[");
}

static void close_list(void *context) {
    text(context, "]}");
}

static void close_operation(void *context, keel_op_id_t op) {
    (void)op;
    text(context, "]}");
}

static const keel_print_visitor_t visitor = {open_operation, open_region, open_block,
                                             close_list,     close_list,  close_operation};

// ---- functions ---------------------------------------------------------------------------------

// "name" of an argument: if its location is a name without a place.
static void argument_name(json_t *j, keel_attr_id_t id) {
    keel_str_t name = {"", 0};
    keel_frame_t frame;
    text(j, ",\"name\":");
    if (!keel_program_frames(j->printer.program, id, &frame, 1, &name) && name.size)
        string(j, name);
    else
        text(j, "null");
}

static void arguments(json_t *j, const keel_function_t *function, const keel_block_t *block) {
    const keel_program_t *program = j->printer.program;
    for (uint32_t i = 0; i < block->argument_count && !keel_print_full(&j->printer); ++i) {
        keel_attr_id_t where = keel_program_argument_location(program, block, i);
        text(j, i ? ",\n{\"type\":" : "\n{\"type\":");
        type(j, value_type(j, block->first_argument + i));
        text(j, ",\"attributes\":");
        keel_print_dictionary_json(&j->printer,
                                   keel_print_entry(program, function->argument_attributes, i));
        argument_name(j, where);
        location(j, where);
        text(j, "}");
    }
}

static void declared(json_t *j, uint32_t list, keel_attr_id_t attributes) {
    keel_list_t declared_types = keel_program_list(j->printer.program, list);
    for (uint32_t i = 0; i < declared_types.count && !keel_print_full(&j->printer); ++i) {
        text(j, i ? ",\n{\"type\":" : "\n{\"type\":");
        type(j, declared_types.items[i]);
        text(j, ",\"attributes\":");
        keel_print_dictionary_json(&j->printer,
                                   keel_print_entry(j->printer.program, attributes, i));
        text(j, "}");
    }
}

static void results(json_t *j, const keel_function_t *function) {
    const keel_program_t *program = j->printer.program;
    if (function->type != KEEL_NONE) {
        declared(j, keel_program_type(program, function->type)->c, function->result_attributes);
    } else if (function->root != KEEL_NONE) {
        text(j, "\n{\"type\":");
        type(j, value_type(j, program->operations.data[function->root].first_result));
        text(j, ",\"attributes\":{}}");
    }
}

static void signature(json_t *j, const keel_function_t *function, const keel_block_t *blocks,
                      uint32_t count) {
    const keel_program_t *program = j->printer.program;
    text(j, "{\"name\":");
    string(j, keel_program_str(program, function->name));
    text(j, function->is_public ? ",\"visibility\":\"public\"" : ",\"visibility\":\"private\"");
    text(j, ",\"attributes\":");
    keel_print_dictionary_json(&j->printer, function->attributes);
    if (function->operation != KEEL_NONE)
        location(j, program->operations.data[function->operation].location);
    text(j, ",\"arguments\":[");
    if (count)
        arguments(j, function, blocks);
    else if (function->type != KEEL_NONE)
        declared(j, keel_program_type(program, function->type)->b, function->argument_attributes);
    text(j, "],\"results\":[");
    results(j, function);
    text(j, "]");
    if (function->root != KEEL_NONE) {
        text(j, ",\"root\":");
        value(j, program->operations.data[function->root].first_result);
    }
}

static keel_status_t function_json(json_t *j, const keel_function_t *function) {
    uint32_t count;
    const keel_block_t *blocks = keel_print_blocks(j->printer.program, function, &count);
    j->first_value = function->first_value;
    signature(j, function, blocks, count);
    text(j, ",\"operations\":[");
    if (count)
        KEEL_TRY(keel_print_walk(j->printer.program, blocks[0].first_op, blocks[count - 1].end_op,
                                 &visitor, j));
    text(j, "]}");
    j->first_value = 0;
    return NULL;
}

// ---- module ------------------------------------------------------------------------------------

static void head(json_t *j) {
    const keel_program_t *program = j->printer.program;
    keel_buffer_format(j->printer.out,
                       "{\"format\":\"%s\",\"producer\":", keel_format_name(program->format));
    string(j, program->producer);
    if (program->format == KEEL_FORMAT_MLIR)
        keel_buffer_format(j->printer.out, ",\"bytecode_version\":%u", program->bytecode_version);
    text(j, ",\"name\":");
    if (program->name == KEEL_NONE)
        text(j, "null");
    else
        string(j, keel_program_str(program, program->name));
    text(j, ",\"entry\":");
    if (program->entry < program->functions.count)
        string(j, keel_program_str(program, program->functions.data[program->entry].name));
    else
        text(j, "null");
    text(j, ",\"attributes\":");
    keel_print_dictionary_json(&j->printer, program->attributes);
}

keel_status_t keel_print_json(const keel_program_t *program, keel_buffer_t *out) {
    json_t j = {.printer = keel_printer(program, out, UINT32_MAX, keel_print_limit(program))};
    j.printer.is_exact = true;
    head(&j);
    text(&j, ",\n\"functions\":[");
    for (uint32_t i = 0; i < program->functions.count && !keel_print_full(&j.printer); ++i) {
        text(&j, i ? ",\n" : "\n");
        KEEL_TRY(function_json(&j, &program->functions.data[i]));
    }
    text(&j, "],\n\"operations\":[");
    KEEL_TRY(keel_print_walk_module(program, &visitor, &j));
    text(&j, "]}\n");
    KEEL_TRY(keel_buffer_status(out));
    if (!j.printer.cut) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED,
                            "the program's JSON would be larger than %llu bytes, or nests deeper "
                            "than readers allow; print it as text",
                            (unsigned long long)keel_print_limit(program));
}
