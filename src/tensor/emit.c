// Trace -> program model, in the form that read/hlo_reader.h describes: one computation, and one
// for each kind of reduction.
#include "tensor/emit.h"

#include "read/write.h"

// ---- computations ------------------------------------------------------------------------------

keel_status_t emit_open(emitter_t *e) {
    e->first_op = e->program->operations.count;
    return NULL;
}

// What has been added since it was opened. `types`: of the parameters.
keel_status_t emit_shut(emitter_t *e, const char *name, keel_value_id_t root,
                        const keel_type_id_t *types, uint32_t count, keel_attr_id_t *out_shape) {
    keel_program_t *program = e->program;
    keel_op_id_t end = program->operations.count;
    keel_block_t block = {.first_op = e->first_op,
                          .end_op = end,
                          .first_argument = end,
                          .argument_locations = KEEL_NONE};
    keel_region_t region = {
        .parent = KEEL_NONE, .first_block = program->blocks.count, .block_count = 1, .end = end};
    keel_function_t function = {.operation = KEEL_NONE,
                                .region = program->regions.count,
                                .type = KEEL_NONE,
                                .argument_attributes = KEEL_NONE,
                                .result_attributes = KEEL_NONE,
                                .first_value = e->first_op,
                                .end_value = end,
                                .root = root};
    fields_t shape = {0}, fields = {0};
    keel_attr_id_t list, result, type;
    uint32_t first = program->pool.count;
    KEEL_PUSH(&program->pool, count);
    for (uint32_t i = 0; i < count; ++i)
        KEEL_PUSH(&program->pool, 0);
    for (uint32_t i = 0; i < count; ++i) {
        KEEL_TRY(keel_program_add_attr(
            program, (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = types[i]}, &type));
        program->pool.data[first + 1 + i] = type;
    }
    KEEL_TRY(
        keel_program_add_attr(program, (keel_attr_t){.kind = KEEL_ATTR_ARRAY, .b = first}, &list));
    KEEL_TRY(keel_program_add_attr(
        program, (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = program->value_types.data[root]},
        &result));
    if (count) KEEL_TRY(emit_field(e, &shape, "parameters", list));
    KEEL_TRY(emit_field(e, &shape, "result", result));
    KEEL_TRY(emit_close(e, &shape, KEEL_RECORD_HLO_MESSAGE, out_shape));
    KEEL_TRY(emit_field(e, &fields, "program_shape", *out_shape));
    KEEL_TRY(emit_close(e, &fields, KEEL_RECORD_DICTIONARY, &function.attributes));
    KEEL_TRY(emit_text(e, name, &function.name));
    KEEL_PUSH(&program->blocks, block);
    KEEL_PUSH(&program->regions, region);
    KEEL_PUSH(&program->functions, function);
    return NULL;
}

// (x, y) -> op(x, y), for reductions and scatters.
static keel_status_t add_reducer(emitter_t *e, int op, keel_dtype_t dtype) {
    static const keel_shape_t scalar = {0};
    keel_value_id_t operands[2], root;
    keel_type_id_t types[2];
    keel_attr_id_t shape;
    char name[64];
    KEEL_TRY(emit_open(e));
    for (uint32_t i = 0; i < 2; ++i) {
        KEEL_TRY(emit_tensor_type(e, dtype, &scalar, &types[i]));
        KEEL_TRY(emit_parameter(e, i, dtype, &scalar, NULL, NULL, &operands[i]));
    }
    if (op == EMIT_SECOND)
        root = operands[1];
    else
        KEEL_TRY(emit_instruction(e, emit_reducer(op), dtype, &scalar, operands, 2, NULL, &root));
    emit_reducer_name(op, dtype, name);
    return emit_shut(e, name, root, types, 2, &shape);
}

// The reduction of a node; -1: none.
static int reducer_of(const trace_t *trace, const node_t *node) {
    if (node->kind == NODE_REDUCE || node->kind == NODE_WINDOW) return node->op;
    if (node->kind == NODE_WINDOW_PUT) return KEEL_OP_SUM;
    if (node->kind == NODE_COLLECTIVE) return emit_collective_reducer(trace, node);
    if (node->kind != NODE_PUT) return -1;
    return node->op == KEEL_PUT_ADD ? KEEL_OP_SUM : EMIT_SECOND;
}

static keel_status_t add_reducers(emitter_t *e) {
    bool is_there[EMIT_SECOND + 1][KEEL_DTYPE_COUNT] = {{false}};
    const trace_t *trace = &e->context->trace;
    for (uint32_t i = 0; i < trace->nodes.count; ++i) {
        const node_t *node = &trace->nodes.data[i];
        int op = reducer_of(trace, node);
        if (!e->is_needed[i] || op < 0 || is_there[op][node->dtype]) continue;
        is_there[op][node->dtype] = true;
        KEEL_TRY(add_reducer(e, op, (keel_dtype_t)node->dtype));
    }
    return NULL;
}

// A line in what is called `name`.
static keel_status_t add_place(emitter_t *e, keel_caller_t site, const char *name,
                               keel_attr_id_t *out) {
    keel_string_id_t file, function;
    uint32_t list;
    const uint32_t line = (uint32_t)(site.line > 0 ? site.line : 0);
    KEEL_TRY(emit_text(e, site.file ? site.file : "", &file));
    KEEL_TRY(emit_text(e, name, &function));
    KEEL_TRY(keel_program_add_list(e->program, &line, 1, &list));
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_LOC_FILE, .a = file, .b = list}, out));
    return keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME, .a = function, .b = *out}, out);
}

static keel_status_t add_call(emitter_t *e, keel_attr_id_t around, keel_attr_id_t *place) {
    if (around == KEEL_NONE) return NULL;
    return keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_LOC_CALLSITE, .a = *place, .b = around}, place);
}

// A scope stands around a line as a caller does; KEEL_NONE if there is none. The names become the
// path that is put before the names of operations: "model/block 3/".
static keel_status_t add_scopes(emitter_t *e, uint32_t naming, keel_attr_id_t *out) {
    const keel_context_t *context = e->context;
    uint32_t open[NAMING_DEPTH], count = 0;
    *out = KEEL_NONE;
    e->path.size = 0;
    for (; naming != KEEL_NONE; naming = context->namings.data[naming].outer)
        open[count++] = naming;
    while (count-- > 0) {
        const naming_t *scope = &context->namings.data[open[count]];
        const char *name = context->naming_text.data + scope->text;
        keel_attr_id_t around = *out;
        keel_buffer_format(&e->path, "%s/", name);
        KEEL_TRY(add_place(e, scope->site, name, out));
        KEEL_TRY(add_call(e, around, out));
    }
    return keel_buffer_status(&e->path);
}

keel_status_t emit_location(emitter_t *e, uint32_t node) {
    const trace_t *trace = &e->context->trace;
    const keel_caller_t site = trace->sites.data[node];
    keel_attr_id_t scopes;
    KEEL_TRY(add_scopes(e, trace->namings.data[node], &scopes));
    KEEL_TRY(add_place(e, site, site.function ? site.function : "", &e->location));
    return add_call(e, scopes, &e->location);
}

static bool is_same_place(const trace_t *trace, uint32_t a, uint32_t b) {
    const keel_caller_t *x = &trace->sites.data[a], *y = &trace->sites.data[b];
    return x->file == y->file && x->line == y->line && x->function == y->function &&
           trace->namings.data[a] == trace->namings.data[b];
}

// ---- arguments and results ---------------------------------------------------------------------

// A node that something needs behind the loop that it is in.
static keel_status_t mark_saved(emitter_t *e, const node_t *node) {
    const saved_t saved = {trace_operand(e->context, node, 0),
                           (uint32_t)*trace_words(&e->context->trace, node)};
    e->is_needed[saved.node] = true;
    if (trace_node(e->context, saved.control)->kind == NODE_CHECKPOINT) return NULL; // it is there
    for (uint32_t i = 0; i < e->saves.count; ++i)
        if (e->saves.data[i].control == saved.control && e->saves.data[i].node == saved.node)
            return NULL;
    KEEL_PUSH(&e->saves, saved);
    return NULL;
}

// A scan's input is needed if the region's parameter is. False if it comes behind that, so that the
// trace has to be gone over again.
static bool mark_input(emitter_t *e, uint32_t parameter) {
    const keel_context_t *context = e->context;
    uint32_t which = (uint32_t)*trace_words(&context->trace, trace_node(context, parameter));
    uint32_t control = context->regions.data[context->trace.scopes.data[parameter]].control;
    const node_t *node = trace_node(context, control);
    if (!emit_is_input(e, node, which)) return true;
    uint32_t input = trace_operand(context, node, which);
    bool is_new = !e->is_needed[input];
    e->is_needed[input] = true;
    return !is_new || input < parameter;
}

static keel_status_t mark_once(emitter_t *e, bool *out_is_done) {
    const keel_context_t *context = e->context;
    const trace_t *trace = &context->trace;
    bool is_done = true;
    for (uint32_t i = trace->nodes.count; i-- > 0;) {
        const node_t *node = &trace->nodes.data[i];
        uint32_t regions;
        if (!e->is_needed[i]) continue;
        if (node->kind == NODE_PARAMETER) is_done = mark_input(e, i) && is_done;
        for (uint32_t k = 0; k < node->operand_count; ++k)
            if (!emit_is_input(e, node, k)) e->is_needed[trace_operand(context, node, k)] = true;
        const int64_t *of_node = region_of_node(context, node, &regions);
        for (uint32_t k = 0; k < regions; ++k)
            e->is_needed[context->regions.data[of_node[k]].end] = true;
        if (node->kind == NODE_SAVED) KEEL_TRY(mark_saved(e, node));
    }
    *out_is_done = is_done;
    return NULL;
}

static keel_status_t mark(emitter_t *e) {
    bool is_done = false;
    for (uint32_t i = 0; i < e->emit->result_count; ++i)
        e->is_needed[e->emit->results[i]] = true;
    while (!is_done)
        KEEL_TRY(mark_once(e, &is_done));
    return NULL;
}

static keel_status_t add_argument(emitter_t *e, argument_t argument, keel_dtype_t dtype,
                                  const keel_shape_t *shape, uint32_t sharding, const char *name,
                                  keel_value_id_t *out) {
    fields_t fields = {0};
    KEEL_TRY(emit_sharding(e, &fields, sharding, shape->rank));
    KEEL_TRY(emit_parameter(e, e->emit->arguments.count, dtype, shape, name, &fields, out));
    KEEL_PUSH(&e->emit->arguments, argument);
    return NULL;
}

// What has no name is named after the line that made it.
static void put_name(keel_buffer_t *out, const char *name, const char *what, keel_caller_t site) {
    const char *slash = site.file ? strrchr(site.file, '/') : NULL;
    if (name && *name)
        keel_buffer_text(out, name);
    else
        keel_buffer_format(out, "%s at %s:%d", what, slash ? slash + 1 : caller_file(site),
                           site.line);
}

static void put_variable_name(keel_buffer_t *out, const variable_t *variable) {
    put_name(out, variable->name, variable->name ? "variable" : "kept", variable->site);
}

// Takes the text.
static keel_status_t add_named(emitter_t *e, argument_t argument, uint32_t node,
                               keel_buffer_t *text) {
    uint32_t sharding = (uint32_t)trace_words(&e->context->trace, trace_node(e->context, node))[1];
    keel_dtype_t dtype = (keel_dtype_t)trace_node(e->context, node)->dtype;
    const keel_shape_t *shape = trace_node_shape(e->context, node);
    keel_status_t status = keel_buffer_status(text);
    if (!status)
        status = add_argument(e, argument, dtype, shape, sharding, keel_buffer_cstr(text),
                              &e->values[node]);
    keel_buffer_deinitialize(text);
    return status;
}

static keel_status_t add_variable(emitter_t *e, uint32_t node, uint32_t place) {
    const variable_t *variable = &e->context->variables.data[e->context->used.data[place]];
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    put_variable_name(&text, variable);
    return add_named(e, (argument_t){ARGUMENT_VARIABLE, place}, node, &text);
}

static keel_status_t add_input(emitter_t *e, uint32_t node, uint32_t place) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    put_name(&text, e->context->inputs.data[place].name, "input",
             e->context->trace.sites.data[node]);
    return add_named(e, (argument_t){ARGUMENT_INPUT, place}, node, &text);
}

// What follows is of no line.
static keel_status_t add_no_place(emitter_t *e) {
    return keel_program_add_attr(e->program, (keel_attr_t){.kind = KEEL_ATTR_LOC_UNKNOWN},
                                 &e->location);
}

// keel_number passes the text of all its arguments, which commas in brackets do not part.
static const char *last_argument(const char *text) {
    int depth = 0;
    for (const char *at = text + strlen(text); at-- > text;) {
        depth += (strchr(")]}", *at) != NULL) - (strchr("([{", *at) != NULL);
        if (*at == ',' && !depth) return at + 1 + strspn(at + 1, " ");
    }
    return text;
}

// "keel_number(rate)"
static keel_status_t add_number(emitter_t *e, uint32_t node, uint32_t place) {
    const number_t *number = &e->context->numbers.data[place];
    const argument_t argument = {ARGUMENT_NUMBER, place};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, "keel_number(%s)",
                       number->name && context_is_text(number->name) ? last_argument(number->name)
                                                                     : "");
    keel_status_t status = keel_buffer_status(&text);
    if (!status)
        status = add_argument(e, argument, number->dtype, &KEEL_SCALAR, SHARDING_WHOLE,
                              keel_buffer_cstr(&text), &e->values[node]);
    keel_buffer_deinitialize(&text);
    return status;
}

static keel_status_t add_arguments(emitter_t *e) {
    const keel_context_t *context = e->context;
    static keel_status_t (*const adders[NODE_NUMBER + 1])(emitter_t *, uint32_t, uint32_t) = {
        [NODE_VARIABLE] = add_variable, [NODE_INPUT] = add_input, [NODE_NUMBER] = add_number};
    for (uint32_t i = 0; i < context->trace.nodes.count; ++i) {
        const node_t *node = trace_node(context, i);
        if (!e->is_needed[i] || node->kind > NODE_NUMBER) continue;
        KEEL_TRY(emit_location(e, i));
        KEEL_TRY(adders[node->kind](e, i, (uint32_t)*trace_words(&context->trace, node)));
    }
    return NULL;
}

// The argument that is the variable at that place; KEEL_NONE if no result needs it.
static uint32_t argument_of(const emit_t *emit, uint32_t place) {
    for (uint32_t i = 0; i < emit->arguments.count; ++i)
        if (emit->arguments.data[i].kind == ARGUMENT_VARIABLE &&
            emit->arguments.data[i].index == place)
            return i;
    return KEEL_NONE;
}

static keel_status_t make_alias(emitter_t *e, uint32_t result, uint32_t argument,
                                keel_attr_id_t *out) {
    const int64_t place[] = {result};
    fields_t fields = {0};
    keel_attr_id_t may_alias;
    KEEL_TRY(emit_ints(e, &fields, "output_shape_index", place, 1));
    KEEL_TRY(emit_int(e, &fields, "parameter_number", argument));
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_ENUM, .klass = KEEL_ENUM_ALIAS_KIND, .a = 1},
        &may_alias));
    KEEL_TRY(emit_field(e, &fields, "kind", may_alias));
    return emit_close(e, &fields, KEEL_RECORD_HLO_MESSAGE, out);
}

// Each result takes over the buffer of its variable, if that is an argument.
static keel_status_t add_aliases(emitter_t *e, fields_t *module) {
    fields_t config = {0};
    keel_attr_id_t array;
    KEEL_TABLE(uint32_t) entries = {0};
    keel_status_t status = keel_table_reserve(&entries, e->emit->result_count);
    for (uint32_t i = 0; i < e->emit->result_count && !status; ++i) {
        uint32_t argument = argument_of(e->emit, e->emit->aliases[i]);
        if (argument == KEEL_NONE) continue;
        status = make_alias(e, i, argument, &entries.data[entries.count++]);
    }
    bool has_any = entries.count;
    if (!status && has_any) status = emit_array(e, entries.data, entries.count, &array);
    keel_free(entries.data);
    if (status || !has_any) return status;
    KEEL_TRY(emit_field(e, &config, "entries", array));
    return emit_message(e, module, "input_output_alias", &config);
}

static void put_result_names(const emitter_t *e, keel_buffer_t *out) {
    const keel_context_t *context = e->context;
    keel_buffer_text(out, KEEL_RESULT_NAMES);
    for (uint32_t i = 0; i < e->emit->result_count; ++i) {
        if (i) keel_buffer_text(out, KEEL_RESULT_SEPARATOR);
        if (e->emit->variables)
            put_variable_name(out, &context->variables.data[e->emit->variables[i]]);
        else
            put_name(out, NULL, "read", context->site);
    }
}

// The tuple of all results, which has their names and no line.
static keel_status_t add_results(emitter_t *e, const keel_value_id_t *values,
                                 keel_value_id_t *out) {
    keel_buffer_t names;
    keel_buffer_initialize(&names, 0);
    put_result_names(e, &names);
    keel_status_t status = keel_buffer_status(&names);
    if (!status) status = add_no_place(e);
    e->argument = keel_buffer_cstr(&names);
    if (!status) status = emit_tuple(e, values, e->emit->result_count, out);
    e->argument = NULL;
    keel_buffer_deinitialize(&names);
    return status;
}

static keel_status_t add_root(emitter_t *e, keel_value_id_t *out) {
    void *memory;
    uint32_t count = e->emit->result_count;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(keel_value_id_t), &memory));
    keel_value_id_t *values = memory;
    for (uint32_t i = 0; i < count; ++i)
        values[i] = e->values[e->emit->results[i]];
    keel_status_t status = add_results(e, values, out);
    if (!status) status = emit_result_shardings(e, *out);
    keel_free(memory);
    return status;
}

// NULL unless a region begins there that is a computation of its own.
static const region_t *called_region(const emitter_t *e, uint32_t i) {
    const keel_context_t *context = e->context;
    const node_t *node = trace_node(context, i);
    if (node->kind != NODE_BEGIN) return NULL;
    const region_t *region = &context->regions.data[*trace_words(&context->trace, node)];
    bool is_inline = region->control != KEEL_NONE &&
                     trace_node(context, region->control)->kind == NODE_CHECKPOINT &&
                     e->is_needed[region->control];
    return is_inline ? NULL : region;
}

// The partitioner leaves it as it is. What begins and ends a part says so itself.
static bool is_manual(const emitter_t *e, uint32_t i) {
    return e->context->mesh.devices > 1 && trace_is_local(&e->context->trace, i) &&
           trace_node(e->context, i)->kind != NODE_LOCAL;
}

keel_status_t emit_nodes(emitter_t *e, uint32_t first, uint32_t end) {
    const trace_t *trace = &e->context->trace;
    uint32_t last = first;
    e->location = KEEL_NONE;
    for (uint32_t i = first; i < end; ++i) {
        const region_t *region = called_region(e, i);
        if (region) {
            i = region->end;
            continue;
        }
        bool is_begin = trace->nodes.data[i].kind == NODE_BEGIN;
        bool is_foreign = e->region != KEEL_NONE && trace->scopes.data[i] == KEEL_NONE;
        if ((!e->is_needed[i] && !is_begin) || is_foreign) continue;
        if (e->location == KEEL_NONE || !is_same_place(trace, i, last))
            KEEL_TRY(emit_location(e, i));
        last = i;
        e->is_manual = is_manual(e, i);
        KEEL_TRY(emit_is_control(e, i) ? emit_control(e, i) : emit_node(e, i));
        e->is_manual = false;
    }
    return NULL;
}

static keel_status_t add_entry(emitter_t *e) {
    const keel_context_t *context = e->context;
    keel_program_t *program = e->program;
    keel_value_id_t root;
    keel_attr_id_t shape;
    fields_t module = {0};
    KEEL_TRY(emit_open(e));
    KEEL_TRY(add_arguments(e));
    KEEL_TRY(emit_nodes(e, 0, context->trace.nodes.count));
    KEEL_TRY(add_root(e, &root));
    void *memory;
    KEEL_TRY(keel_calloc((size_t)e->emit->arguments.count + 1, sizeof(uint32_t), &memory));
    keel_type_id_t *types = memory;
    for (uint32_t i = 0; i < e->emit->arguments.count; ++i)
        types[i] = program->value_types.data[e->first_op + i];
    keel_status_t status = emit_shut(e, "main", root, types, e->emit->arguments.count, &shape);
    keel_free(types);
    KEEL_TRY(status);
    program->entry = program->functions.count - 1;
    KEEL_TRY(emit_field(e, &module, "host_program_shape", shape));
    KEEL_TRY(add_aliases(e, &module));
    return emit_close(e, &module, KEEL_RECORD_DICTIONARY, &program->attributes);
}

static keel_status_t fill(emitter_t *e) {
    keel_program_t *program = e->program;
    void *memory;
    uint32_t count = e->context->trace.nodes.count;
    for (int i = 0; i < KEEL_DTYPE_COUNT; ++i)
        e->elements[i] = KEEL_NONE;
    for (int i = 0; i <= KEEL_MAX_RANK; ++i)
        e->layouts[i] = KEEL_NONE;
    e->location = e->region = KEEL_NONE;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof *e->is_needed, &memory));
    e->is_needed = memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof *e->values, &memory));
    e->values = memory;
    KEEL_TRY(mark(e));
    program->format = KEEL_FORMAT_HLO;
    KEEL_TRY(emit_text(e, e->context->name, &program->name));
    KEEL_TRY(add_reducers(e));
    KEEL_TRY(emit_comparators(e));
    KEEL_TRY(emit_choosers(e));
    KEEL_TRY(emit_computations(e));
    KEEL_TRY(add_entry(e));
    keel_operation_t sentinel = {.first_operand = program->operands.count,
                                 .first_result = program->operations.count,
                                 .location = KEEL_NONE,
                                 .attributes = KEEL_NONE};
    KEEL_PUSH(&program->operations, sentinel);
    return NULL;
}

// Takes the lines away.
static keel_status_t digest(keel_program_t *program, keel_digest_t *out) {
    keel_buffer_t hlo;
    for (uint32_t i = 0; i < program->operations.count; ++i)
        program->operations.data[i].location = KEEL_NONE;
    keel_buffer_initialize(&hlo, 0);
    keel_status_t status = keel_write_hlo(program, &hlo);
    *out = keel_digest(keel_buffer_bytes(&hlo));
    keel_buffer_deinitialize(&hlo);
    return status;
}

static keel_status_t write(const keel_context_t *context, emit_t *emit, keel_buffer_t *out) {
    keel_program_t program;
    emitter_t e = {.context = context, .emit = emit, .program = &program};
    keel_program_initialize(&program);
    keel_map_initialize(&e.types);
    keel_buffer_initialize(&e.path, 0);
    keel_map_initialize(&e.tuple_types);
    keel_map_initialize(&e.op_names);
    keel_status_t status = fill(&e);
    if (!status) status = keel_write_hlo(&program, out);
    if (!status) status = digest(&program, &emit->digest);
    keel_free(e.is_needed);
    keel_free(e.values);
    keel_free(e.operands.data);
    keel_free(e.saves.data);
    keel_map_deinitialize(&e.types);
    keel_buffer_deinitialize(&e.path);
    keel_map_deinitialize(&e.tuple_types);
    keel_map_deinitialize(&e.op_names);
    keel_program_deinitialize(&program);
    return status;
}

keel_status_t emit_program(const keel_context_t *context, emit_t *emit, keel_buffer_t *out) {
    ordered_t ordered;
    const uint32_t *results = emit->results;
    keel_status_t status = order_open(context, results, emit->result_count, &ordered);
    if (!status) {
        keel_context_t view = *context; // which has the trace in that order
        view.trace = ordered.trace;
        view.regions.data = ordered.regions.data;
        view.regions.count = ordered.regions.count;
        emit->results = ordered.results.data;
        status = write(&view, emit, out);
        emit->results = results;
    }
    order_close(&ordered);
    return status;
}
