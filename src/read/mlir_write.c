// Program -> MLIR text. See mlir_writer.h for how it is split.
#include "read/mlir_writer.h"

#include <stdio.h>

#include "read/print_walk.h"
#include "read/write.h"

typedef struct module_writer_t {
    keel_mlir_writer_t writer;
    keel_status_t status; // the first that failed
} module_writer_t;

// ---- which dialect a value's type is of --------------------------------------------------------

static keel_mlir_dialect_t dialect_of(const keel_program_t *program, keel_op_id_t op) {
    return keel_mlir_dialect(keel_program_str(program, keel_program_op_name(program, op)->dialect));
}

// unrealized_conversion_cast is the only builtin operation within a module.
static bool has_builtin_results(const keel_mlir_writer_t *writer, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(writer->program, op);
    switch (dialect_of(writer->program, op)) {
        case KEEL_MLIR_VHLO:
            return false;
        case KEEL_MLIR_BUILTIN:
            return !operands.count || operands.items[0] >= writer->program->value_types.count ||
                   !writer->builtin_values[operands.items[0]];
        default:
            return true;
    }
}

static void note_values(keel_mlir_writer_t *writer, keel_value_id_t first, uint32_t count) {
    for (uint32_t i = 0; i < count && first + i < writer->program->value_types.count; ++i)
        writer->builtin_values[first + i] = 1;
}

static void note_dialects(keel_mlir_writer_t *writer) {
    const keel_program_t *program = writer->program;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        if (!has_builtin_results(writer, op)) continue;
        note_values(writer, operation->first_result, operation->result_count);
        keel_region_run_t regions = keel_program_regions(program, op);
        for (uint32_t i = 0; i < regions.count; ++i)
            for (uint32_t b = 0; b < regions.items[i].block_count; ++b) {
                const keel_block_t *block = &program->blocks.data[regions.items[i].first_block + b];
                note_values(writer, block->first_argument, block->argument_count);
            }
    }
}

// ---- attributes of operations ------------------------------------------------------------------

static bool is_property(const keel_mlir_op_t *op, keel_str_t name) {
    for (const uint8_t *p = op ? op->properties : NULL; p && *p; ++p)
        if (keel_str_is(name, keel_mlir_name(*p & (unsigned)~KEEL_MLIR_OPTIONAL))) return true;
    return false;
}

static keel_status_t write_entries(keel_mlir_writer_t *writer, keel_attr_id_t dict,
                                   const keel_mlir_op_t *op, bool properties, bool is_vhlo) {
    const keel_program_t *program = writer->program;
    keel_list_t pairs = keel_program_entries(program, dict);
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        keel_str_t name = keel_program_str(program, pairs.items[i]);
        if (is_property(op, name) != properties) continue;
        keel_mlir_write_text(writer, count++ ? ", " : properties ? " <{" : " {");
        keel_mlir_write_name(writer, name);
        keel_mlir_write_text(writer, " = ");
        KEEL_TRY(keel_mlir_write_attr(writer, pairs.items[i + 1], is_vhlo));
    }
    if (count) keel_mlir_write_text(writer, properties ? "}>" : "}");
    return NULL;
}

// ---- operations --------------------------------------------------------------------------------

static void write_value(keel_mlir_writer_t *writer, keel_value_id_t value) {
    keel_buffer_format(writer->out, "%%%u", value);
}

static keel_status_t write_types(keel_mlir_writer_t *writer, const keel_value_id_t *items,
                                 keel_value_id_t first, uint32_t count) {
    const keel_program_t *program = writer->program;
    keel_mlir_write_text(writer, "(");
    for (uint32_t i = 0; i < count; ++i) {
        keel_value_id_t value = items ? items[i] : first + i;
        if (i) keel_mlir_write_text(writer, ", ");
        if (value >= program->value_types.count)
            return keel_status_make(KEEL_INVALID, "MLIR: a value that does not exist");
        KEEL_TRY(keel_mlir_write_type(writer, program->value_types.data[value],
                                      !writer->builtin_values[value]));
    }
    keel_mlir_write_text(writer, ")");
    return NULL;
}

typedef struct written_op_t {
    const keel_mlir_op_t *op; // NULL: its dialect has none of that name
    keel_mlir_dialect_t dialect;
} written_op_t;

// The full name of an operation in its dialect, and what the tables say of it.
static keel_status_t find_op(const keel_program_t *program, keel_op_id_t id, written_op_t *out) {
    const keel_op_name_t *name = keel_program_op_name(program, id);
    keel_str_t text = keel_program_str(program, name->name);
    char full[64];
    out->dialect = dialect_of(program, id);
    snprintf(full, sizeof full, "%.*s", (int)(text.size < 48 ? text.size : 48), text.data);
    size_t length = strlen(full);
    if (name->version) snprintf(full + length, sizeof full - length, "_v%u", name->version);
    out->op = keel_mlir_op(out->dialect, keel_str(full));
    if (!out->op)
        return keel_status_make(KEEL_UNSUPPORTED, "MLIR: operation %.*s.%s cannot be written",
                                KEEL_STR_ARGS(keel_program_str(program, name->dialect)), full);
    return NULL;
}

static const char *dialect_name(keel_mlir_dialect_t dialect) {
    return dialect == KEEL_MLIR_VHLO ? "vhlo" : dialect == KEEL_MLIR_SDY ? "sdy" : "builtin";
}

static keel_status_t begin_operation(keel_mlir_writer_t *writer, keel_op_id_t id) {
    const keel_program_t *program = writer->program;
    const keel_operation_t *operation = &program->operations.data[id];
    keel_list_t operands = keel_program_operands(program, id);
    written_op_t op;
    KEEL_TRY(find_op(program, id, &op));
    for (uint32_t i = 0; i < operation->result_count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        write_value(writer, operation->first_result + i);
    }
    keel_buffer_format(writer->out, "%s\"%s.%s\"(", operation->result_count ? " = " : "",
                       dialect_name(op.dialect), op.op->name);
    for (uint32_t i = 0; i < operands.count; ++i) {
        if (i) keel_mlir_write_text(writer, ", ");
        write_value(writer, operands.items[i]);
    }
    keel_mlir_write_text(writer, ")");
    KEEL_TRY(
        write_entries(writer, operation->attributes, op.op, true, op.dialect == KEEL_MLIR_VHLO));
    if (operation->name & KEEL_OP_HAS_REGIONS) keel_mlir_write_text(writer, " (");
    return keel_buffer_status(writer->out);
}

static keel_status_t end_operation(keel_mlir_writer_t *writer, keel_op_id_t id) {
    const keel_program_t *program = writer->program;
    const keel_operation_t *operation = &program->operations.data[id];
    keel_list_t operands = keel_program_operands(program, id);
    written_op_t op;
    KEEL_TRY(find_op(program, id, &op));
    if (operation->name & KEEL_OP_HAS_REGIONS) keel_mlir_write_text(writer, ")");
    KEEL_TRY(
        write_entries(writer, operation->attributes, op.op, false, op.dialect == KEEL_MLIR_VHLO));
    keel_mlir_write_text(writer, " : ");
    KEEL_TRY(write_types(writer, operands.items, 0, operands.count));
    keel_mlir_write_text(writer, " -> ");
    KEEL_TRY(write_types(writer, NULL, operation->first_result, operation->result_count));
    keel_mlir_write_text(writer, "\n");
    return NULL;
}

// ---- the walk ----------------------------------------------------------------------------------

static void keep(module_writer_t *module, keel_status_t status) {
    if (module->status)
        keel_status_ignore(status);
    else
        module->status = status;
}

static void open_operation(void *context, keel_op_id_t op, uint32_t index) {
    module_writer_t *module = context;
    (void)index;
    if (!module->status) keep(module, begin_operation(&module->writer, op));
}

static void open_region(void *context, uint32_t index) {
    module_writer_t *module = context;
    keel_mlir_write_text(&module->writer, index ? ", {\n" : "{\n");
}

static keel_status_t write_arguments(keel_mlir_writer_t *writer, const keel_block_t *block) {
    const keel_program_t *program = writer->program;
    keel_mlir_write_text(writer, block->argument_count ? "^bb0(" : "^bb0");
    for (uint32_t i = 0; i < block->argument_count; ++i) {
        keel_value_id_t value = block->first_argument + i;
        if (i) keel_mlir_write_text(writer, ", ");
        write_value(writer, value);
        keel_mlir_write_text(writer, ": ");
        KEEL_TRY(keel_mlir_write_type(writer, program->value_types.data[value],
                                      !writer->builtin_values[value]));
    }
    keel_mlir_write_text(writer, block->argument_count ? "):\n" : ":\n");
    return NULL;
}

// A block without anything in it has to be named, or there is none.
static void open_block(void *context, const keel_block_t *block, uint32_t index) {
    module_writer_t *module = context;
    if (module->status) return;
    if (index)
        keep(module, keel_mlir_not_written("a region of several blocks"));
    else if (block->argument_count || block->first_op == block->end_op)
        keep(module, write_arguments(&module->writer, block));
}

static void close_block(void *context) {
    (void)context;
}

static void close_region(void *context) {
    module_writer_t *module = context;
    keel_mlir_write_text(&module->writer, "}");
}

static void close_operation(void *context, keel_op_id_t op) {
    module_writer_t *module = context;
    if (!module->status) keep(module, end_operation(&module->writer, op));
}

static const keel_print_visitor_t visitor = {open_operation, open_region,  open_block,
                                             close_block,    close_region, close_operation};

// ---- the module --------------------------------------------------------------------------------

static keel_status_t write_module(module_writer_t *module) {
    keel_mlir_writer_t *writer = &module->writer;
    const keel_program_t *program = writer->program;
    const keel_mlir_op_t *op = keel_mlir_op(KEEL_MLIR_BUILTIN, KEEL_STR("module"));
    note_dialects(writer);
    KEEL_TRY(keel_mlir_write_aliases(writer));
    keel_mlir_write_text(writer, "\"builtin.module\"()");
    if (program->name != KEEL_NONE) {
        keel_mlir_write_text(writer, " <{sym_name = ");
        keel_mlir_write_string(writer, keel_program_str(program, program->name));
        keel_mlir_write_text(writer, "}>");
    }
    keel_mlir_write_text(writer, keel_program_op_count(program) ? " ({\n" : " ({\n^bb0:\n");
    keep(module, keel_print_walk(program, 0, keel_program_op_count(program), &visitor, module));
    KEEL_TRY(module->status);
    keel_mlir_write_text(writer, "})");
    KEEL_TRY(write_entries(writer, program->attributes, op, false, false));
    keel_mlir_write_text(writer, " : () -> ()\n");
    return keel_buffer_status(writer->out);
}

static keel_status_t write_all(module_writer_t *module) {
    keel_mlir_writer_t *writer = &module->writer;
    void *memory;
    KEEL_TRY(keel_calloc(writer->program->value_types.count, 1, &memory));
    writer->builtin_values = memory;
    KEEL_TRY(keel_calloc(writer->program->types.count, 1, &memory));
    writer->aliases = memory;
    return write_module(module);
}

keel_status_t keel_write_mlir(const keel_program_t *program, keel_buffer_t *out) {
    if (program->format != KEEL_FORMAT_MLIR)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "MLIR: a program in HLO cannot be written as MLIR");
    module_writer_t module = {.writer = {.program = program, .out = out}};
    size_t before = out->size, limit = out->limit;
    if (limit - before > KEEL_READ_SIZE_LIMIT) out->limit = before + KEEL_READ_SIZE_LIMIT;
    keel_status_t status = write_all(&module);
    out->limit = limit;
    if (status && out->data) {
        out->size = before;
        out->data[before] = 0;
    }
    keel_free(module.writer.builtin_values);
    keel_free(module.writer.aliases);
    return status;
}
