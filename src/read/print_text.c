// A program as text for people, one operation per line:
//
//   %3 = dot_general %0, %1 {rhs_contracting_dimensions = [0]} : (tensor<..>, ..) -> ..  // a.py:41
//
// Leaves out attributes without information (absent, empty, all default); JSON has them all.
#include "read/print.h"
#include "read/print_value.h"
#include "read/print_walk.h"

typedef struct text_printer_t {
    keel_printer_t printer;
    const keel_print_options_t *options;
    keel_value_id_t first_value; // of the function
    uint32_t indent;             // levels of two spaces
    bool has_names;              // those of the entry's results, in HLO
} text_printer_t;

static void line(text_printer_t *t) {
    keel_buffer_format(t->printer.out, "%*s", (int)(2 * t->indent), "");
}

static void print_value_number(text_printer_t *t, keel_value_id_t id) {
    keel_buffer_format(t->printer.out, "%%%u", id - t->first_value);
}

static void value_types(text_printer_t *t, const keel_value_id_t *items, keel_value_id_t first,
                        uint32_t count) {
    for (uint32_t i = 0; i < count && !keel_print_full(&t->printer); ++i) {
        if (i) keel_printer_text(&t->printer, ", ");
        keel_print_value_type(
            &t->printer, keel_program_value_type(t->printer.program, items ? items[i] : first + i));
    }
}

// "  // model.py:41", from the innermost frame that has a file.
static void comment(text_printer_t *t, keel_attr_id_t location) {
    keel_frame_t frames[8];
    if (!t->options->locations || location == KEEL_NONE) return;
    uint32_t count = keel_program_frames(t->printer.program, location, frames, 8, NULL);
    for (uint32_t i = 0; i < count && i < 8; ++i) {
        keel_str_t file = frames[i].file;
        if (!file.size) continue;
        for (size_t at = file.size; at-- > 0;)
            if (file.data[at] == '/' && at + 1 < file.size) {
                file = (keel_str_t){file.data + at + 1, file.size - at - 1};
                break;
            }
        keel_printer_text(&t->printer, "  // ");
        keel_print_name(t->printer.out, file);
        keel_buffer_format(t->printer.out, ":%u", frames[i].line);
        return;
    }
}

// ---- attributes --------------------------------------------------------------------------------

static bool is_default_list(const keel_program_t *program, const keel_attr_t *a) {
    keel_list_t items = keel_program_list(program, a->b);
    for (uint32_t i = 0; i < items.count; ++i) {
        const keel_attr_t *each = keel_program_attr(program, items.items[i]);
        if (each->kind != KEEL_ATTR_ENUM || each->klass != KEEL_ENUM_PRECISION || each->a)
            return false;
    }
    return true;
}

static bool is_default_accuracy(const keel_program_t *program, keel_attr_id_t id) {
    keel_attr_id_t mode = keel_program_dict_find(program, id, "mode");
    const keel_attr_t *a = keel_program_attr(program, mode);
    return a->kind == KEEL_ATTR_ENUM && a->a == 0;
}

static bool says_nothing(const keel_program_t *program, keel_attr_id_t id, unsigned depth);

// A message of HLO has no information if none of its fields has any.
static bool is_empty_message(const keel_program_t *program, const keel_attr_t *a, unsigned depth) {
    keel_list_t pairs = keel_program_list(program, a->b);
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2)
        if (!depth || !says_nothing(program, pairs.items[i + 1], depth - 1)) return false;
    return true;
}

static bool says_nothing(const keel_program_t *program, keel_attr_id_t id, unsigned depth) {
    const keel_attr_t *a = keel_program_attr(program, id);
    keel_tensor_view_t view;
    keel_status_t status;
    switch (a->kind) {
        case KEEL_ATTR_NONE:
            return true;
        case KEEL_ATTR_STRING:
            return !keel_program_str(program, a->a).size;
        case KEEL_ATTR_TYPE:
            return keel_program_type(program, a->a)->kind == KEEL_TYPE_NONE;
        case KEEL_ATTR_ARRAY:
            return is_default_list(program, a);
        case KEEL_ATTR_INTS:
            return !keel_program_ints(program, a->b).count;
        case KEEL_ATTR_DICT:
            if (a->klass == KEEL_RECORD_RESULT_ACCURACY) return is_default_accuracy(program, id);
            if (a->klass == KEEL_RECORD_HLO_MESSAGE) return is_empty_message(program, a, depth);
            return a->klass == KEEL_RECORD_DICTIONARY && !keel_program_list(program, a->b).count;
        case KEEL_ATTR_TENSOR:
            status = keel_program_tensor(program, a->a, program->blobs.data[a->b], &view);
            keel_status_ignore(status);
            return !status && !view.count;
        default:
            return false;
    }
}

// HLO repeats the types of parameters and results in these.
static bool is_repeated(const keel_program_t *program, keel_str_t name) {
    return program->format == KEEL_FORMAT_HLO &&
           (keel_str_is(name, "program_shape") || keel_str_is(name, "host_program_shape"));
}

static void attributes(text_printer_t *t, keel_attr_id_t dictionary, const char *apart) {
    const keel_program_t *program = t->printer.program;
    keel_list_t pairs = keel_program_entries(program, dictionary);
    uint32_t shown = 0;
    for (uint32_t i = 0; i + 1 < pairs.count && !keel_print_full(&t->printer); i += 2) {
        keel_str_t name = keel_program_str(program, pairs.items[i]);
        keel_attr_id_t attribute = pairs.items[i + 1];
        if (says_nothing(program, attribute, 3) || is_repeated(program, name) ||
            (apart && keel_str_is(name, apart)))
            continue;
        keel_printer_text(&t->printer, shown++ ? ", " : " {");
        keel_print_name(t->printer.out, name);
        if (keel_program_attr(program, attribute)->kind == KEEL_ATTR_UNIT) continue;
        keel_printer_text(&t->printer, " = ");
        keel_print_value_text(&t->printer, attribute);
    }
    if (shown) keel_printer_text(&t->printer, "}");
}

// ---- operations --------------------------------------------------------------------------------

static void results(text_printer_t *t, const keel_operation_t *o) {
    enum { NAMED_ONE_BY_ONE = 8 };
    if (!o->result_count) return;
    print_value_number(t, o->first_result);
    if (o->result_count > NAMED_ONE_BY_ONE) {
        keel_printer_text(&t->printer, " to ");
        print_value_number(t, o->first_result + o->result_count - 1);
    }
    for (uint32_t i = 1; i < o->result_count && o->result_count <= NAMED_ONE_BY_ONE; ++i) {
        keel_printer_text(&t->printer, ", ");
        print_value_number(t, o->first_result + i);
    }
    keel_printer_text(&t->printer, " = ");
}

// One type if all operands and the only result share it, as MLIR writes it.
static void operation_type(text_printer_t *t, keel_list_t operands, const keel_operation_t *o) {
    bool one = o->result_count <= 1 && operands.count + o->result_count > 0;
    keel_type_id_t first =
        o->result_count
            ? keel_program_value_type(t->printer.program, o->first_result)
            : (operands.count ? keel_program_value_type(t->printer.program, operands.items[0])
                              : KEEL_NONE);
    for (uint32_t i = 0; i < operands.count && one; ++i)
        one = keel_program_value_type(t->printer.program, operands.items[i]) == first;
    keel_printer_text(&t->printer, " : ");
    if (one) {
        keel_print_value_type(&t->printer, first);
        return;
    }
    if (o->result_count || !operands.count) keel_printer_text(&t->printer, "(");
    value_types(t, operands.items, 0, operands.count);
    if (!o->result_count && operands.count) return;
    keel_printer_text(&t->printer, o->result_count == 1 ? ") -> " : ") -> (");
    value_types(t, NULL, o->first_result, o->result_count);
    if (o->result_count != 1) keel_printer_text(&t->printer, ")");
}

// "constant dense<0.0> : tensor<4xf32>": the value has the type of the result.
static bool constant(text_printer_t *t, const keel_operation_t *o) {
    const keel_program_t *program = t->printer.program;
    const char *name = program->format == KEEL_FORMAT_HLO ? "literal" : "value";
    keel_attr_id_t held = keel_program_dict_find(program, o->attributes, name);
    if (keel_program_attr(program, held)->kind != KEEL_ATTR_TENSOR) return false;
    keel_printer_text(&t->printer, " ");
    keel_print_tensor_text(&t->printer, keel_program_attr(program, held), false);
    attributes(t, o->attributes, name);
    return true;
}

// "parameter 1": HLO leaves out the number of parameter 0.
static void parameter(text_printer_t *t, const keel_operation_t *o) {
    const keel_program_t *program = t->printer.program;
    keel_attr_id_t number = keel_program_dict_find(program, o->attributes, "parameter_number");
    keel_buffer_format(t->printer.out, " %lld", (long long)keel_program_number(program, number, 0));
    attributes(t, o->attributes, "parameter_number");
}

static void operation_attributes(text_printer_t *t, keel_str_t name, const keel_operation_t *o,
                                 keel_list_t operands) {
    if (keel_str_is(name, "constant") && constant(t, o)) return;
    if (t->printer.program->format == KEEL_FORMAT_HLO && keel_str_is(name, "parameter"))
        parameter(t, o);
    else
        attributes(t, o->attributes, NULL);
    operation_type(t, operands, o);
}

static void operation(text_printer_t *t, keel_op_id_t op) {
    const keel_program_t *program = t->printer.program;
    const keel_operation_t *o = &program->operations.data[op];
    const keel_op_name_t *name = keel_program_op_name(program, op);
    keel_list_t operands = keel_program_operands(program, op);
    keel_str_t dialect = keel_program_str(program, name->dialect);
    results(t, o);
    if (!keel_str_is(dialect, "vhlo") && !keel_str_is(dialect, "hlo")) {
        keel_print_name(t->printer.out, dialect);
        keel_printer_text(&t->printer, ".");
    }
    keel_print_name(t->printer.out, keel_program_str(program, name->name));
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_printer_text(&t->printer, i ? ", " : " ");
        print_value_number(t, operands.items[i]);
    }
    operation_attributes(t, keel_program_str(program, name->name), o, operands);
    if (o->name & KEEL_OP_HAS_REGIONS) keel_printer_text(&t->printer, " {");
}

static void open_operation(void *context, keel_op_id_t op, uint32_t index) {
    text_printer_t *t = context;
    (void)index;
    if (keel_print_full(&t->printer)) return;
    const keel_operation_t *o = &t->printer.program->operations.data[op];
    line(t);
    operation(t, op);
    if (!(o->name & KEEL_OP_HAS_REGIONS)) return;
    comment(t, o->location);
    keel_printer_text(&t->printer, "\n");
}

static void open_region(void *context, uint32_t index) {
    text_printer_t *t = context;
    if (index) {
        line(t);
        keel_printer_text(&t->printer, "}, {\n");
    }
    ++t->indent;
}

static void arguments(text_printer_t *t, const keel_block_t *block) {
    for (uint32_t i = 0; i < block->argument_count && !keel_print_full(&t->printer); ++i) {
        if (i) keel_printer_text(&t->printer, ", ");
        print_value_number(t, block->first_argument + i);
        keel_printer_text(&t->printer, ": ");
        keel_print_value_type(
            &t->printer, keel_program_value_type(t->printer.program, block->first_argument + i));
    }
}

static void open_block(void *context, const keel_block_t *block, uint32_t index) {
    text_printer_t *t = context;
    if (!block->argument_count && !index) return;
    line(t);
    keel_printer_text(&t->printer, "(");
    arguments(t, block);
    keel_printer_text(&t->printer, "):\n");
}

static void close_block(void *context) {
    (void)context;
}

static void close_region(void *context) {
    text_printer_t *t = context;
    --t->indent;
}

// What Keel's own front end calls a parameter, or all results. Other clients' names of parameters
// say how these were made.
static void hlo_names(text_printer_t *t, keel_op_id_t op) {
    const keel_program_t *program = t->printer.program;
    if (!t->has_names) return;
    const keel_function_t *entry = &program->functions.data[program->entry];
    keel_str_t kind = keel_program_str(program, keel_program_op_name(program, op)->name);
    bool is_parameter =
        op >= entry->first_value && op < entry->end_value && keel_str_is(kind, "parameter");
    keel_str_t name = keel_program_parameter_name(program, op);
    if (!name.size || (op != entry->root && !is_parameter)) return;
    keel_printer_text(&t->printer, "  // ");
    keel_print_name(t->printer.out, name);
}

static void close_operation(void *context, keel_op_id_t op) {
    text_printer_t *t = context;
    const keel_operation_t *o = &t->printer.program->operations.data[op];
    if (keel_print_full(&t->printer)) return;
    if (o->name & KEEL_OP_HAS_REGIONS) {
        line(t);
        keel_printer_text(&t->printer, "}");
    } else {
        hlo_names(t, op);
        comment(t, o->location);
    }
    keel_printer_text(&t->printer, "\n");
}

static const keel_print_visitor_t visitor = {open_operation, open_region,  open_block,
                                             close_block,    close_region, close_operation};

// ---- functions ---------------------------------------------------------------------------------

static void argument_name(text_printer_t *t, const keel_block_t *block, uint32_t index) {
    const keel_program_t *program = t->printer.program;
    keel_str_t name = {"", 0};
    keel_frame_t frame;
    keel_attr_id_t where = keel_program_argument_location(program, block, index);
    if (keel_program_frames(program, where, &frame, 1, &name) || !name.size) return;
    keel_printer_text(&t->printer, "  // ");
    keel_print_name(t->printer.out, name);
}

static void parameters(text_printer_t *t, const keel_function_t *function,
                       const keel_block_t *block) {
    for (uint32_t i = 0; i < block->argument_count && !keel_print_full(&t->printer); ++i) {
        keel_printer_text(&t->printer, "\n    ");
        print_value_number(t, block->first_argument + i);
        keel_printer_text(&t->printer, ": ");
        keel_print_value_type(
            &t->printer, keel_program_value_type(t->printer.program, block->first_argument + i));
        attributes(t, keel_print_entry(t->printer.program, function->argument_attributes, i), NULL);
        if (i + 1 < block->argument_count) keel_printer_text(&t->printer, ",");
        argument_name(t, block, i);
    }
    if (block->argument_count) keel_printer_text(&t->printer, "\n");
}

static void returned(text_printer_t *t, const keel_function_t *function) {
    const keel_program_t *program = t->printer.program;
    if (function->type != KEEL_NONE) {
        keel_list_t types =
            keel_program_list(program, keel_program_type(program, function->type)->c);
        keel_printer_text(&t->printer, " -> (");
        for (uint32_t i = 0; i < types.count && !keel_print_full(&t->printer); ++i) {
            if (i) keel_printer_text(&t->printer, ", ");
            keel_print_value_type(&t->printer, types.items[i]);
            attributes(t, keel_print_entry(program, function->result_attributes, i), NULL);
        }
        keel_printer_text(&t->printer, ")");
    } else if (function->root != KEEL_NONE) {
        keel_value_id_t root = program->operations.data[function->root].first_result;
        keel_printer_text(&t->printer, " -> ");
        keel_print_value_type(&t->printer, keel_program_value_type(t->printer.program, root));
    }
    attributes(t, function->attributes, NULL);
}

// The result of an HLO computation may be an instruction in the middle.
static void root(text_printer_t *t, const keel_function_t *function) {
    if (function->root == KEEL_NONE) return;
    line(t);
    keel_printer_text(&t->printer, "return ");
    print_value_number(t, t->printer.program->operations.data[function->root].first_result);
    keel_printer_text(&t->printer, "\n");
}

static keel_status_t function_text(text_printer_t *t, const keel_function_t *function) {
    const keel_program_t *program = t->printer.program;
    uint32_t count;
    const keel_block_t *blocks = keel_print_blocks(program, function, &count);
    t->first_value = function->first_value;
    keel_printer_text(&t->printer, function->is_public ? "\nfunc public @" : "\nfunc private @");
    keel_print_name(t->printer.out, keel_program_str(program, function->name));
    keel_printer_text(&t->printer, "(");
    if (count) parameters(t, function, blocks);
    keel_printer_text(&t->printer, ")");
    returned(t, function);
    keel_printer_text(&t->printer, " {");
    if (function->operation != KEEL_NONE)
        comment(t, program->operations.data[function->operation].location);
    keel_printer_text(&t->printer, "\n");
    t->indent = 1;
    if (count)
        KEEL_TRY(
            keel_print_walk(program, blocks[0].first_op, blocks[count - 1].end_op, &visitor, t));
    root(t, function);
    t->indent = 0;
    t->first_value = 0;
    keel_printer_text(&t->printer, "}\n");
    return NULL;
}

keel_status_t keel_print_text(const keel_program_t *program, const keel_print_options_t *options,
                              keel_buffer_t *out) {
    text_printer_t t = {
        .printer = keel_printer(program, out, options->largest_value, keel_print_limit(program)),
        .options = options,
        .has_names = program->format == KEEL_FORMAT_HLO && program->entry != KEEL_NONE &&
                     keel_program_result_name(program, 0).size};
    keel_printer_text(&t.printer, "module");
    if (program->name != KEEL_NONE) {
        keel_printer_text(&t.printer, " @");
        keel_print_name(out, keel_program_str(program, program->name));
    }
    attributes(&t, program->attributes, NULL);
    keel_buffer_format(out, "  // %s", keel_format_name(program->format));
    if (program->producer.size) {
        keel_printer_text(&t.printer, ", ");
        keel_print_name(out, program->producer);
    }
    keel_printer_text(&t.printer, "\n");
    KEEL_TRY(keel_print_walk_module(program, &visitor, &t));
    for (uint32_t i = 0; i < program->functions.count && !keel_print_full(&t.printer); ++i)
        KEEL_TRY(function_text(&t, &program->functions.data[i]));
    if (t.printer.cut && !out->failed)
        keel_printer_text(&t.printer, "... truncated here: the rest would be too large\n");
    return keel_buffer_status(out);
}

void keel_print_operation(const keel_program_t *program, keel_op_id_t op,
                          keel_value_id_t first_value, uint32_t largest_value, keel_buffer_t *out) {
    text_printer_t t = {.printer = keel_printer(program, out, largest_value, KEEL_PRINT_LINE_LIMIT),
                        .first_value = first_value};
    operation(&t, op);
}
