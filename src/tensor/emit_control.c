// Regions as computations of HLO, and the instructions that call them.
//
// A computation takes one tuple. What it holds:
//   while    carries, captures
//   scan     number of the step, carries, outputs, saved values, inputs, captures; those before the
//            inputs change in each step
//   branch   captures
// A checkpoint's region is not a computation: its nodes stand where the checkpoint does.
#include "tensor/emit.h"

// Words of NODE_SCAN.
enum { SCAN_REGION, SCAN_LENGTH, SCAN_CARRIES, SCAN_INPUTS, SCAN_IS_REVERSED };

// A control node.
typedef struct call_t {
    uint32_t index;
    const node_t *node;
    const int64_t *words;
    const uint32_t *operands;
    KEEL_TABLE(keel_type_id_t) types; // of the tuple that its computations take
    KEEL_TABLE(keel_value_id_t) values;
    keel_type_id_t type;
    keel_value_id_t tuple;
} call_t;

static const keel_shape_t scalar = {0};

static keel_status_t open_call(emitter_t *e, uint32_t control, call_t *out) {
    *out = (call_t){.index = control, .node = trace_node(e->context, control)};
    out->words = trace_words(&e->context->trace, out->node);
    out->operands = trace_operands(&e->context->trace, out->node);
    return emit_location(e, control);
}

static void close_call(call_t *call) {
    keel_free(call->types.data);
    keel_free(call->values.data);
}

static void computation_name(uint32_t region, const char *what, char out[64]) {
    snprintf(out, 64, "%s_%u", what, region);
}

// ---- what a computation takes ------------------------------------------------------------------

static keel_status_t add_type(emitter_t *e, call_t *call, const result_t *type) {
    keel_type_id_t id;
    KEEL_TRY(emit_tensor_type(e, type->dtype, &type->shape, &id));
    KEEL_PUSH(&call->types, id);
    return NULL;
}

bool emit_is_input(const emitter_t *e, const node_t *node, uint32_t which) {
    const int64_t *words = trace_words(&e->context->trace, node);
    return node->kind == NODE_SCAN && which >= (uint32_t)words[SCAN_CARRIES] &&
           which < (uint32_t)(words[SCAN_CARRIES] + words[SCAN_INPUTS]);
}

static bool is_left_out(const emitter_t *e, const call_t *call, uint32_t which) {
    return emit_is_input(e, call->node, which) && !e->is_needed[call->operands[which]];
}

static keel_status_t add_operand_types(emitter_t *e, call_t *call, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; ++i) {
        const result_t type = region_node_type(e->context, call->operands[i]);
        if (is_left_out(e, call, i)) continue;
        KEEL_TRY(add_type(e, call, &type));
    }
    return NULL;
}

static result_t saved_type(const emitter_t *e, const call_t *call, uint32_t node) {
    result_t type = region_node_type(e->context, node);
    type.shape = shape_stacked(&type.shape, call->words[SCAN_LENGTH]);
    return type;
}

// The first operand that is captured.
static uint32_t first_capture(const call_t *call) {
    switch ((node_kind_t)call->node->kind) {
        case NODE_WHILE:
            return (uint32_t)call->words[2];
        case NODE_SCAN:
            return (uint32_t)(call->words[SCAN_CARRIES] + call->words[SCAN_INPUTS]);
        default:
            return 1; // what chooses the branch
    }
}

static keel_status_t add_scan_types(emitter_t *e, call_t *call) {
    const result_t counter = {.dtype = KEEL_I32};
    uint32_t carries = (uint32_t)call->words[SCAN_CARRIES];
    KEEL_TRY(add_type(e, call, &counter));
    KEEL_TRY(add_operand_types(e, call, 0, carries));
    uint32_t results = trace_result_count(&e->context->trace, call->node);
    for (uint32_t i = carries; i < results; ++i) {
        const result_t type = trace_result(e->context, call->node, i);
        KEEL_TRY(add_type(e, call, &type));
    }
    for (uint32_t i = 0; i < e->saves.count; ++i) {
        if (e->saves.data[i].control != call->index) continue;
        const result_t type = saved_type(e, call, e->saves.data[i].node);
        KEEL_TRY(add_type(e, call, &type));
    }
    return add_operand_types(e, call, carries, call->node->operand_count);
}

static keel_status_t add_types(emitter_t *e, call_t *call) {
    if (call->node->kind == NODE_SCAN)
        KEEL_TRY(add_scan_types(e, call));
    else if (call->node->kind == NODE_WHILE)
        KEEL_TRY(add_operand_types(e, call, 0, call->node->operand_count));
    else
        KEEL_TRY(add_operand_types(e, call, 1, call->node->operand_count));
    KEEL_TRY(keel_table_reserve(&call->values, call->types.count));
    return emit_tuple_type(e, call->types.data, call->types.count, &call->type);
}

// Opens a computation and takes the tuple apart.
static keel_status_t open_computation(emitter_t *e, call_t *call) {
    fields_t none = {0};
    KEEL_TRY(emit_open(e));
    KEEL_TRY(emit_typed(e, "parameter", call->type, NULL, 0, &none, &call->tuple));
    for (uint32_t i = 0; i < call->types.count; ++i) {
        fields_t fields = {0};
        KEEL_TRY(emit_int(e, &fields, "tuple_index", i));
        KEEL_TRY(emit_typed(e, "get-tuple-element", call->types.data[i], &call->tuple, 1, &fields,
                            &call->values.data[i]));
    }
    call->values.count = call->types.count;
    uint32_t first = first_capture(call), captures = call->node->operand_count - first;
    for (uint32_t i = 0; i < captures; ++i)
        e->values[call->operands[first + i]] = call->values.data[call->values.count - captures + i];
    return NULL;
}

static keel_status_t shut_computation(emitter_t *e, const call_t *call, uint32_t region,
                                      const char *what, keel_value_id_t root) {
    char name[64];
    keel_attr_id_t shape;
    computation_name(region, what, name);
    return emit_shut(e, name, root, &call->type, 1, &shape);
}

// The nodes of a region; its parameters have their values.
static keel_status_t emit_region(emitter_t *e, uint32_t region) {
    const region_t *it = &e->context->regions.data[region];
    uint32_t outer = e->region;
    e->region = region;
    keel_status_t status = emit_nodes(e, it->begin + 1, it->end);
    e->region = outer;
    return status;
}

// Gives the parameters of a region their values, the first of which is `values`.
static void give_parameters(emitter_t *e, uint32_t region, const keel_value_id_t *values) {
    const region_t *it = &e->context->regions.data[region];
    for (uint32_t i = it->begin; i < it->end; ++i) {
        const node_t *node = trace_node(e->context, i);
        if (node->kind == NODE_PARAMETER && e->context->trace.scopes.data[i] == region)
            e->values[i] = values[*trace_words(&e->context->trace, node)];
    }
}

static keel_value_id_t result_value(const emitter_t *e, uint32_t region, uint32_t which) {
    return e->values[region_results(e->context, region)[which]];
}

// ---- while and branches ------------------------------------------------------------------------

static keel_status_t add_condition(emitter_t *e, call_t *call, uint32_t region) {
    KEEL_TRY(open_computation(e, call));
    give_parameters(e, region, call->values.data);
    KEEL_TRY(emit_region(e, region));
    return shut_computation(e, call, region, "condition", result_value(e, region, 0));
}

// What a region gives replaces the first values.
static keel_status_t add_body(emitter_t *e, call_t *call, uint32_t region) {
    keel_value_id_t root;
    KEEL_TRY(open_computation(e, call));
    give_parameters(e, region, call->values.data);
    KEEL_TRY(emit_region(e, region));
    for (uint32_t i = 0; i < (uint32_t)call->words[2]; ++i)
        call->values.data[i] = result_value(e, region, i);
    KEEL_TRY(emit_tuple(e, call->values.data, call->values.count, &root));
    return shut_computation(e, call, region, "body", root);
}

static keel_status_t add_branch(emitter_t *e, call_t *call, uint32_t region) {
    keel_value_id_t root;
    uint32_t count = trace_result_count(&e->context->trace, call->node);
    KEEL_TRY(keel_table_reserve(&call->values, count));
    KEEL_TRY(open_computation(e, call));
    KEEL_TRY(emit_region(e, region));
    for (uint32_t i = 0; i < count; ++i)
        call->values.data[i] = result_value(e, region, i);
    KEEL_TRY(emit_tuple(e, call->values.data, count, &root));
    return shut_computation(e, call, region, "branch", root);
}

// ---- scan --------------------------------------------------------------------------------------

static keel_status_t add_scan_condition(emitter_t *e, call_t *call) {
    keel_value_id_t operands[2], root;
    fields_t fields = {0};
    KEEL_TRY(open_computation(e, call));
    operands[0] = call->values.data[0];
    KEEL_TRY(emit_constant(e, KEEL_I32, (double)call->words[SCAN_LENGTH], &operands[1]));
    KEEL_TRY(emit_string(e, &fields, "comparison_direction", "LT"));
    KEEL_TRY(emit_instruction(e, "compare", KEEL_BOOL, &scalar, operands, 2, &fields, &root));
    return shut_computation(e, call, (uint32_t)call->words[SCAN_REGION], "condition", root);
}

// The place of a step along axis 0.
static keel_status_t step_place(emitter_t *e, const call_t *call, keel_value_id_t *out) {
    keel_value_id_t operands[2] = {0, call->values.data[0]};
    *out = call->values.data[0];
    if (!call->words[SCAN_IS_REVERSED]) return NULL;
    KEEL_TRY(emit_constant(e, KEEL_I32, (double)(call->words[SCAN_LENGTH] - 1), &operands[0]));
    return emit_instruction(e, "subtract", KEEL_I32, &scalar, operands, 2, NULL, out);
}

// Indices of a slice of one step, behind what is there already.
static keel_status_t add_indices(emitter_t *e, keel_value_id_t place, int32_t rank,
                                 keel_value_id_t *operands) {
    for (int32_t i = 0; i < rank; ++i)
        if (i)
            KEEL_TRY(emit_constant(e, KEEL_I32, 0, &operands[i]));
        else
            operands[i] = place;
    return NULL;
}

// stack[place]
static keel_status_t take_step(emitter_t *e, keel_value_id_t stack, keel_value_id_t place,
                               const result_t *type, keel_value_id_t *out) {
    const keel_shape_t one = shape_stacked(&type->shape, 1);
    keel_value_id_t operands[1 + KEEL_MAX_RANK] = {stack};
    fields_t fields = {0};
    KEEL_TRY(add_indices(e, place, one.rank, operands + 1));
    KEEL_TRY(emit_ints(e, &fields, "dynamic_slice_sizes", one.dims, (uint32_t)one.rank));
    KEEL_TRY(emit_instruction(e, "dynamic-slice", type->dtype, &one, operands,
                              1 + (uint32_t)one.rank, &fields, out));
    return emit_instruction(e, "reshape", type->dtype, &type->shape, out, 1, NULL, out);
}

// stack[place] = value
static keel_status_t put_step(emitter_t *e, const call_t *call, keel_value_id_t place,
                              uint32_t node, keel_value_id_t *stack) {
    const result_t type = region_node_type(e->context, node);
    const keel_shape_t one = shape_stacked(&type.shape, 1);
    const keel_shape_t whole = shape_stacked(&type.shape, call->words[SCAN_LENGTH]);
    keel_value_id_t operands[2 + KEEL_MAX_RANK] = {*stack};
    KEEL_TRY(
        emit_instruction(e, "reshape", type.dtype, &one, &e->values[node], 1, NULL, &operands[1]));
    KEEL_TRY(add_indices(e, place, one.rank, operands + 2));
    return emit_instruction(e, "dynamic-update-slice", type.dtype, &whole, operands,
                            2 + (uint32_t)one.rank, NULL, stack);
}

static const keel_value_id_t *input_value(const emitter_t *e, const call_t *call,
                                          const keel_value_id_t *first, uint32_t which) {
    for (uint32_t i = (uint32_t)call->words[SCAN_CARRIES]; i < which; ++i)
        first += !is_left_out(e, call, i);
    return first;
}

static keel_status_t give_scan_parameters(emitter_t *e, const call_t *call, uint32_t region,
                                          keel_value_id_t place) {
    const region_t *it = &e->context->regions.data[region];
    uint32_t carries = (uint32_t)call->words[SCAN_CARRIES];
    uint32_t captures = call->node->operand_count - first_capture(call);
    uint32_t left_out = 0;
    for (uint32_t i = carries; i < first_capture(call); ++i)
        left_out += is_left_out(e, call, i);
    const keel_value_id_t *first =
        call->values.data + call->values.count - captures - (call->words[SCAN_INPUTS] - left_out);
    for (uint32_t i = it->begin; i < it->end; ++i) {
        const node_t *node = trace_node(e->context, i);
        if (node->kind != NODE_PARAMETER || e->context->trace.scopes.data[i] != region) continue;
        uint32_t which = (uint32_t)*trace_words(&e->context->trace, node);
        const result_t type = region_node_type(e->context, i);
        if (which < carries)
            e->values[i] = call->values.data[1 + which];
        else if (e->is_needed[i])
            KEEL_TRY(
                take_step(e, *input_value(e, call, first, which), place, &type, &e->values[i]));
    }
    return NULL;
}

static keel_status_t next_step(emitter_t *e, call_t *call) {
    keel_value_id_t operands[2] = {call->values.data[0]};
    KEEL_TRY(emit_constant(e, KEEL_I32, 1, &operands[1]));
    return emit_instruction(e, "add", KEEL_I32, &scalar, operands, 2, NULL, call->values.data);
}

static keel_status_t add_scan_body(emitter_t *e, call_t *call) {
    uint32_t region = (uint32_t)call->words[SCAN_REGION], at = 1;
    uint32_t carries = (uint32_t)call->words[SCAN_CARRIES];
    uint32_t results = trace_result_count(&e->context->trace, call->node);
    keel_value_id_t place, root;
    KEEL_TRY(open_computation(e, call));
    KEEL_TRY(step_place(e, call, &place));
    KEEL_TRY(give_scan_parameters(e, call, region, place));
    KEEL_TRY(emit_region(e, region));
    KEEL_TRY(emit_location(e, call->index));
    for (uint32_t i = 0; i < carries; ++i)
        call->values.data[at++] = result_value(e, region, i);
    for (uint32_t i = carries; i < results; ++i)
        KEEL_TRY(put_step(e, call, place, region_results(e->context, region)[i],
                          &call->values.data[at++]));
    for (uint32_t i = 0; i < e->saves.count; ++i)
        if (e->saves.data[i].control == call->index)
            KEEL_TRY(put_step(e, call, place, e->saves.data[i].node, &call->values.data[at++]));
    KEEL_TRY(next_step(e, call));
    KEEL_TRY(emit_tuple(e, call->values.data, call->values.count, &root));
    return shut_computation(e, call, region, "body", root);
}

// ---- all regions -------------------------------------------------------------------------------

static keel_status_t add_computations(emitter_t *e, call_t *call, uint32_t region) {
    KEEL_TRY(add_types(e, call));
    if (call->node->kind == NODE_SWITCH) return add_branch(e, call, region);
    if (call->node->kind == NODE_WHILE)
        return region == (uint32_t)call->words[0] ? add_condition(e, call, region)
                                                  : add_body(e, call, region);
    KEEL_TRY(add_scan_condition(e, call));
    return add_scan_body(e, call);
}

// In the order of their ends, so that a computation comes before those that call it.
keel_status_t emit_computations(emitter_t *e) {
    const trace_t *trace = &e->context->trace;
    for (uint32_t i = 0; i < trace->nodes.count; ++i) {
        if (trace->nodes.data[i].kind != NODE_END || !e->is_needed[i]) continue;
        uint32_t region = trace->scopes.data[i];
        uint32_t control = e->context->regions.data[region].control;
        if (trace_node(e->context, control)->kind == NODE_CHECKPOINT) continue;
        call_t call;
        keel_status_t status = open_call(e, control, &call);
        if (!status) status = add_computations(e, &call, region);
        close_call(&call);
        KEEL_TRY(status);
    }
    return NULL;
}

// ---- calls -------------------------------------------------------------------------------------

static keel_status_t add_callee(emitter_t *e, uint32_t region, const char *what,
                                keel_attr_id_t *out) {
    char name[64];
    keel_string_id_t id;
    computation_name(region, what, name);
    KEEL_TRY(emit_text(e, name, &id));
    return keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_SYMBOL, .a = id, .b = KEEL_NONE}, out);
}

// Zeros, of the type of an item of the tuple.
static keel_status_t add_zeros(emitter_t *e, const result_t *type, keel_value_id_t *out) {
    KEEL_TRY(emit_constant(e, type->dtype, 0, out));
    return emit_instruction(e, "broadcast", type->dtype, &type->shape, out, 1, NULL, out);
}

static keel_status_t add_scan_values(emitter_t *e, call_t *call) {
    uint32_t at = 1, carries = (uint32_t)call->words[SCAN_CARRIES];
    uint32_t results = trace_result_count(&e->context->trace, call->node);
    KEEL_TRY(emit_constant(e, KEEL_I32, 0, call->values.data));
    for (uint32_t i = 0; i < carries; ++i)
        call->values.data[at++] = e->values[call->operands[i]];
    for (uint32_t i = carries; i < results; ++i) {
        const result_t type = trace_result(e->context, call->node, i);
        KEEL_TRY(add_zeros(e, &type, &call->values.data[at++]));
    }
    for (uint32_t i = 0; i < e->saves.count; ++i) {
        if (e->saves.data[i].control != call->index) continue;
        const result_t type = saved_type(e, call, e->saves.data[i].node);
        KEEL_TRY(add_zeros(e, &type, &call->values.data[at++]));
    }
    for (uint32_t i = carries; i < call->node->operand_count; ++i)
        if (!is_left_out(e, call, i)) call->values.data[at++] = e->values[call->operands[i]];
    call->values.count = at;
    return NULL;
}

static keel_status_t emit_loop(emitter_t *e, call_t *call, keel_value_id_t *out) {
    bool is_scan = call->node->kind == NODE_SCAN;
    fields_t fields = {0};
    keel_attr_id_t callees[2], array;
    if (is_scan) KEEL_TRY(add_scan_values(e, call));
    for (uint32_t i = 0; i < call->node->operand_count && !is_scan; ++i)
        call->values.data[call->values.count++] = e->values[call->operands[i]];
    KEEL_TRY(emit_tuple(e, call->values.data, call->values.count, &call->tuple));
    KEEL_TRY(add_callee(e, (uint32_t)call->words[is_scan ? SCAN_REGION : 1], "body", &callees[0]));
    KEEL_TRY(add_callee(e, (uint32_t)call->words[0], "condition", &callees[1]));
    KEEL_TRY(emit_array(e, callees, 2, &array));
    KEEL_TRY(emit_field(e, &fields, "called_computations", array));
    return emit_typed(e, "while", call->type, &call->tuple, 1, &fields, out);
}

static keel_status_t emit_switch(emitter_t *e, call_t *call, keel_value_id_t *out) {
    uint32_t count, captures = call->node->operand_count - 1;
    const int64_t *regions = region_of_node(e->context, call->node, &count);
    keel_type_id_t type;
    KEEL_TABLE(uint32_t) items = {0};
    fields_t fields = {0};
    keel_attr_id_t array;
    for (uint32_t i = 0; i < captures; ++i)
        call->values.data[i] = e->values[call->operands[1 + i]];
    KEEL_TRY(emit_tuple(e, call->values.data, captures, &call->tuple));
    KEEL_TRY(emit_results_type(e, call->node, &type));
    KEEL_TRY(keel_table_reserve(&items, 1 + 2 * (uint64_t)count));
    uint32_t *callees = items.data + 1 + count;
    items.data[0] = e->values[call->operands[0]];
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < count && !status; ++i) {
        items.data[1 + i] = call->tuple;
        status = add_callee(e, (uint32_t)regions[i], "branch", &callees[i]);
    }
    if (!status) status = emit_array(e, callees, count, &array);
    if (!status) status = emit_field(e, &fields, "called_computations", array);
    if (!status) status = emit_typed(e, "conditional", type, items.data, 1 + count, &fields, out);
    keel_free(items.data);
    return status;
}

static keel_status_t emit_call(emitter_t *e, uint32_t i) {
    call_t call;
    keel_status_t status = open_call(e, i, &call);
    if (!status) status = add_types(e, &call);
    if (!status)
        status = call.node->kind == NODE_SWITCH ? emit_switch(e, &call, &e->values[i])
                                                : emit_loop(e, &call, &e->values[i]);
    close_call(&call);
    return status;
}

static keel_status_t emit_result(emitter_t *e, uint32_t i) {
    const node_t *node = trace_node(e->context, i);
    uint32_t control = trace_operand(e->context, node, 0);
    const node_t *call = trace_node(e->context, control);
    uint32_t which = (uint32_t)*trace_words(&e->context->trace, node);
    if (call->kind == NODE_CHECKPOINT) {
        e->values[i] = result_value(e, (uint32_t)*trace_words(&e->context->trace, call), which);
        return NULL;
    }
    if (call->kind == NODE_CUSTOM) {
        uint32_t inputs = (uint32_t)trace_words(&e->context->trace, call)[1];
        e->values[i] = e->values[trace_operand(e->context, call, inputs + which)];
        return NULL;
    }
    return emit_part(e, e->values[control], which + (call->kind == NODE_SCAN),
                     (keel_dtype_t)node->dtype, trace_node_shape(e->context, i), &e->values[i]);
}

static keel_status_t emit_saved(emitter_t *e, uint32_t i) {
    const node_t *node = trace_node(e->context, i);
    uint32_t control = trace_operand(e->context, node, 0);
    uint32_t saved = (uint32_t)*trace_words(&e->context->trace, node);
    const node_t *call = trace_node(e->context, control);
    if (call->kind == NODE_CHECKPOINT) {
        e->values[i] = e->values[saved];
        return NULL;
    }
    uint32_t at = 1 + trace_result_count(&e->context->trace, call);
    for (uint32_t k = 0; e->saves.data[k].control != control || e->saves.data[k].node != saved; ++k)
        at += e->saves.data[k].control == control;
    return emit_part(e, e->values[control], at, (keel_dtype_t)node->dtype,
                     trace_node_shape(e->context, i), &e->values[i]);
}

// A checkpoint's nodes follow.
static void begin_checkpoint(emitter_t *e, uint32_t i) {
    uint32_t region = (uint32_t)*trace_words(&e->context->trace, trace_node(e->context, i));
    const region_t *it = &e->context->regions.data[region];
    const uint32_t *operands =
        trace_operands(&e->context->trace, trace_node(e->context, it->control));
    for (uint32_t k = it->begin; k < it->end; ++k) {
        const node_t *node = trace_node(e->context, k);
        if (node->kind == NODE_PARAMETER && e->context->trace.scopes.data[k] == region)
            e->values[k] = e->values[operands[*trace_words(&e->context->trace, node)]];
    }
}

bool emit_is_control(const emitter_t *e, uint32_t i) {
    const node_t *node = trace_node(e->context, i);
    if (node->kind != NODE_PART) return node->kind >= NODE_BEGIN && node->kind <= NODE_SAVED;
    uint32_t tuple = trace_node(e->context, trace_operand(e->context, node, 0))->kind;
    return tuple >= NODE_BEGIN && tuple <= NODE_SAVED;
}

keel_status_t emit_control(emitter_t *e, uint32_t i) {
    switch ((node_kind_t)trace_node(e->context, i)->kind) {
        case NODE_WHILE:
        case NODE_SCAN:
        case NODE_SWITCH:
            return emit_call(e, i);
        case NODE_PART:
            return emit_result(e, i);
        case NODE_SAVED:
            return emit_saved(e, i);
        case NODE_BEGIN:
            begin_checkpoint(e, i);
            return NULL;
        default:
            return NULL;
    }
}
