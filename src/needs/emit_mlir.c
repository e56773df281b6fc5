#include "needs/emit.h"

// ---- values ------------------------------------------------------------------------------------

static bool is_kept(const needs_emit_t *e, keel_value_id_t value) {
    return !e->part || needs_is_needed(e->needs, e->part, value, 0);
}

keel_status_t needs_emit_find(const needs_emit_t *e, keel_value_id_t value, keel_value_id_t *out) {
    if (value >= e->from->value_types.count || e->values[value] == KEEL_NONE)
        return keel_status_make(KEEL_INVALID, "an operand that is not to be seen from where it is");
    *out = e->values[value];
    return NULL;
}

static keel_status_t emit_operand(needs_emit_t *e, keel_value_id_t value) {
    keel_value_id_t found = KEEL_NONE;
    KEEL_TRY(needs_emit_find(e, value, &found));
    KEEL_PUSH(&e->to->operands, found);
    return NULL;
}

// The operands whose counterpart is kept: the values from `first` on, or all if that is NONE.
static keel_status_t emit_operands(needs_emit_t *e, keel_list_t operands, keel_value_id_t first) {
    for (uint32_t i = 0; i < operands.count; ++i)
        if (first == KEEL_NONE || is_kept(e, first + i))
            KEEL_TRY(emit_operand(e, operands.items[i]));
    return NULL;
}

static keel_status_t emit_value(needs_emit_t *e, keel_value_id_t value) {
    return needs_new_value(e, e->from->value_types.data[value], &e->values[value]);
}

// ---- operations --------------------------------------------------------------------------------

keel_status_t needs_emit_like(needs_emit_t *e, keel_op_id_t op) {
    keel_operation_t operation = e->from->operations.data[op];
    operation.first_operand = e->to->operands.count;
    operation.first_result = e->to->value_types.count;
    operation.result_count = 0;
    KEEL_PUSH(&e->to->operations, operation);
    return NULL;
}

// Makes room for the regions of the last operation. They follow each other in the table.
static keel_status_t begin_regions(needs_emit_t *e, uint32_t count, uint32_t *out_first) {
    *out_first = e->to->regions.count;
    for (uint32_t i = 0; i < count; ++i) {
        keel_region_t region = {.parent = e->to->operations.count - 1};
        KEEL_PUSH(&e->to->regions, region);
    }
    return NULL;
}

// What a loop carries is kept as its results are; other blocks keep their arguments.
static keel_status_t emit_arguments(needs_emit_t *e, const keel_block_t *from, keel_block_t *to,
                                    keel_value_id_t results) {
    bool has_locations = from->argument_locations != KEEL_NONE;
    to->first_argument = e->to->value_types.count;
    e->list.count = 0;
    for (uint32_t i = 0; i < from->argument_count; ++i) {
        if (results != KEEL_NONE && !is_kept(e, results + i)) continue;
        KEEL_TRY(emit_value(e, from->first_argument + i));
        KEEL_PUSH(&e->list, keel_program_argument_location(e->from, from, i));
    }
    to->argument_count = e->to->value_types.count - to->first_argument;
    to->argument_locations = KEEL_NONE;
    if (!has_locations || !to->argument_count) return NULL;
    uint32_t list;
    KEEL_TRY(keel_program_add_list(e->to, e->list.data, e->list.count, &list));
    to->argument_locations = list + 1;
    return NULL;
}

// A block of a region or of a function. `arguments` and `returned`: the first of the values that
// say which of these are kept, as above.
static keel_status_t emit_block(needs_emit_t *e, uint32_t number, keel_value_id_t arguments,
                                keel_value_id_t returned) {
    const keel_block_t *from = &e->from->blocks.data[number];
    uint32_t at = e->to->blocks.count;
    keel_op_id_t last = e->needs->lasts[number];
    keel_block_t to = {.first_op = e->to->operations.count};
    KEEL_TRY(emit_arguments(e, from, &to, arguments));
    KEEL_PUSH(&e->to->blocks, to);
    if (returned == KEEL_NONE) {
        KEEL_TRY(needs_emit_range(e, from->first_op, from->end_op));
    } else {
        KEEL_TRY(needs_emit_range(e, from->first_op, last));
        KEEL_TRY(needs_emit_like(e, last));
        KEEL_TRY(emit_operands(e, keel_program_operands(e->from, last), returned));
    }
    e->to->blocks.data[at].end_op = e->to->operations.count;
    return NULL;
}

// `rule` is that of the operation, `results` the first of its results.
static keel_status_t emit_regions(needs_emit_t *e, keel_op_id_t op, needs_rule_t rule,
                                  keel_value_id_t results) {
    keel_region_run_t regions = keel_program_regions(e->from, op);
    uint32_t first;
    KEEL_TRY(begin_regions(e, regions.count, &first));
    for (uint32_t i = 0; i < regions.count; ++i) {
        const keel_region_t *from = &regions.items[i];
        bool is_body = rule == NEEDS_LOOP && i == 1;
        keel_value_id_t arguments = rule == NEEDS_LOOP ? results : KEEL_NONE;
        keel_value_id_t returned = is_body || rule == NEEDS_BRANCHES ? results : KEEL_NONE;
        e->to->regions.data[first + i].first_block = e->to->blocks.count;
        e->to->regions.data[first + i].block_count = from->block_count;
        for (uint32_t b = 0; b < from->block_count; ++b)
            KEEL_TRY(emit_block(e, from->first_block + b, arguments, returned));
        e->to->regions.data[first + i].end = e->to->operations.count;
    }
    return NULL;
}

static keel_status_t kept_results(needs_emit_t *e, const keel_operation_t *operation,
                                  uint64_t **out) {
    void *memory;
    uint32_t words = needs_words(operation->result_count);
    KEEL_TRY(keel_arena_array(&e->needs->arena, words, sizeof **out, &memory));
    *out = memset(memory, 0, words * sizeof **out);
    for (uint32_t i = 0; i < operation->result_count; ++i)
        if (is_kept(e, operation->first_result + i)) needs_add(*out, i);
    return NULL;
}

// The attribute of a name, which is a string or a symbol as the old one is.
static keel_status_t rename_entry(needs_emit_t *e, keel_attr_id_t *inout, const char *entry,
                                  keel_string_id_t name) {
    keel_attr_id_t id = keel_program_dict_find(e->to, *inout, entry);
    if (id == KEEL_NONE) return NULL;
    keel_attr_t attr = e->to->attrs.data[id];
    if (attr.a == name) return NULL;
    attr.a = name;
    KEEL_TRY(needs_new_attr(e, attr, &id));
    return needs_set_entry(e, inout, entry, id);
}

static keel_status_t emit_call(needs_emit_t *e, keel_op_id_t op, keel_attr_id_t *inout) {
    keel_list_t operands = keel_program_operands(e->from, op);
    needs_part_t *called;
    KEEL_TRY(needs_part_called(e->needs, e->part, op, 0, &called));
    for (uint32_t i = 0; i < operands.count; ++i)
        if (needs_keeps_argument(e->needs, called, i)) KEEL_TRY(emit_operand(e, operands.items[i]));
    return rename_entry(e, inout, "callee", called->name);
}

static keel_status_t emit_operation(needs_emit_t *e, keel_op_id_t op) {
    const keel_operation_t *from = &e->from->operations.data[op];
    needs_rule_t rule = e->part ? needs_rule_of(e->needs, op) : NEEDS_PLAIN;
    bool is_listed = rule == NEEDS_LOOP || rule == NEEDS_BARRIER;
    keel_attr_id_t attributes = from->attributes;
    uint32_t at = e->to->operations.count;
    uint64_t *kept;
    if (rule == NEEDS_SAME)
        return needs_emit_find(e, keel_program_operands(e->from, op).items[0],
                               &e->values[from->first_result]);
    if (rule == NEEDS_MANUAL) return needs_emit_manual(e, op);
    KEEL_TRY(needs_emit_like(e, op));
    if (rule == NEEDS_CALL)
        KEEL_TRY(emit_call(e, op, &attributes));
    else
        KEEL_TRY(emit_operands(e, keel_program_operands(e->from, op),
                               is_listed ? from->first_result : KEEL_NONE));
    if (from->result_count > 1) {
        KEEL_TRY(kept_results(e, from, &kept));
        KEEL_TRY(needs_keep_shardings(e, &attributes, kept, from->result_count));
    }
    for (uint32_t i = 0; i < from->result_count; ++i)
        if (is_kept(e, from->first_result + i)) KEEL_TRY(emit_value(e, from->first_result + i));
    keel_operation_t *to = &e->to->operations.data[at];
    to->result_count = (uint16_t)(e->to->value_types.count - to->first_result);
    to->attributes = attributes;
    return emit_regions(e, op, rule, from->first_result);
}

// The live ones among siblings; all of them outside a part.
keel_status_t needs_emit_range(needs_emit_t *e, keel_op_id_t first, keel_op_id_t end) {
    for (keel_op_id_t op = first; op < end; op = keel_program_next(e->from, op)) {
        if (e->part) {
            keel_op_id_t base = needs_function_of(e->needs, e->part)->first_op;
            op = base + needs_next(e->part->live, op - base, end - base);
        }
        if (op < end) KEEL_TRY(emit_operation(e, op));
    }
    return NULL;
}

// ---- functions ---------------------------------------------------------------------------------

typedef struct kept_t {
    uint64_t *arguments, *results;
    uint32_t argument_count, result_count; // before
} kept_t;

static keel_status_t find_kept(needs_emit_t *e, const needs_part_t *part, kept_t *out) {
    const needs_function_t *function = needs_function_of(e->needs, part);
    uint32_t words = needs_words(function->argument_count);
    void *memory;
    KEEL_TRY(keel_arena_array(&e->needs->arena, words, sizeof *out->arguments, &memory));
    out->arguments = memset(memory, 0, words * sizeof *out->arguments);
    out->argument_count = function->argument_count;
    for (uint32_t i = 0; i < function->argument_count; ++i)
        if (needs_keeps_argument(e->needs, part, i)) needs_add(out->arguments, i);
    words = needs_words(function->result_count);
    KEEL_TRY(keel_arena_array(&e->needs->arena, words, sizeof *out->results, &memory));
    out->results = memcpy(memory, part->wanted, words * sizeof *out->results);
    out->result_count = function->result_count;
    return NULL;
}

// The function's type, from the values that it takes and returns.
static keel_status_t function_type(needs_emit_t *e, const needs_part_t *part, const kept_t *kept,
                                   keel_type_id_t *inout) {
    const needs_function_t *function = needs_function_of(e->needs, part);
    keel_list_t returned = keel_program_operands(e->from, function->last);
    keel_type_t type = {.kind = KEEL_TYPE_FUNCTION};
    e->list.count = 0;
    if (*inout == KEEL_NONE) return NULL;
    for (uint32_t i = 0; i < kept->argument_count; ++i)
        if (needs_has(kept->arguments, i))
            KEEL_PUSH(&e->list, e->from->value_types.data[function->body->first_argument + i]);
    KEEL_TRY(keel_program_add_list(e->to, e->list.data, e->list.count, &type.b));
    e->list.count = 0;
    for (uint32_t i = 0; i < kept->result_count; ++i)
        if (needs_has(kept->results, i))
            KEEL_PUSH(&e->list, e->from->value_types.data[returned.items[i]]);
    KEEL_TRY(keel_program_add_list(e->to, e->list.data, e->list.count, &type.c));
    return needs_new_type(e, type, inout);
}

// The same facts once more, in the attributes of the function's operation.
static keel_status_t describe_operation(needs_emit_t *e, const keel_function_t *function,
                                        keel_attr_id_t *inout) {
    keel_attr_id_t type;
    KEEL_TRY(rename_entry(e, inout, "sym_name", function->name));
    if (keel_program_dict_find(e->to, *inout, "function_type") != KEEL_NONE) {
        KEEL_TRY(
            needs_new_attr(e, (keel_attr_t){.kind = KEEL_ATTR_TYPE, .a = function->type}, &type));
        KEEL_TRY(needs_set_entry(e, inout, "function_type", type));
    }
    if (function->argument_attributes != KEEL_NONE)
        KEEL_TRY(needs_set_entry(e, inout, "arg_attrs", function->argument_attributes));
    if (function->result_attributes != KEEL_NONE)
        KEEL_TRY(needs_set_entry(e, inout, "res_attrs", function->result_attributes));
    return NULL;
}

static keel_status_t describe(needs_emit_t *e, const needs_part_t *part, keel_function_t *out) {
    kept_t kept;
    KEEL_TRY(find_kept(e, part, &kept));
    out->name = part->name;
    KEEL_TRY(function_type(e, part, &kept, &out->type));
    KEEL_TRY(needs_keep_dictionaries(e, out->argument_attributes, kept.arguments,
                                     kept.argument_count, &out->argument_attributes));
    return needs_keep_dictionaries(e, out->result_attributes, kept.results, kept.result_count,
                                   &out->result_attributes);
}

// Which arguments a function keeps is said by themselves; which results, by what is wanted.
static keel_status_t emit_body(needs_emit_t *e, const needs_part_t *part) {
    const needs_function_t *function = needs_function_of(e->needs, part);
    keel_list_t returned = keel_program_operands(e->from, function->last);
    bool keeps_all = part->kind == NEEDS_OF_WHOLE;
    uint32_t at = e->to->blocks.count;
    keel_block_t to = {.first_op = e->to->operations.count};
    KEEL_TRY(emit_arguments(e, function->body, &to,
                            keeps_all ? KEEL_NONE : function->body->first_argument));
    KEEL_PUSH(&e->to->blocks, to);
    KEEL_TRY(needs_emit_range(e, function->first_op, function->last));
    KEEL_TRY(needs_emit_like(e, function->last));
    for (uint32_t i = 0; i < returned.count; ++i)
        if (needs_has(part->wanted, i)) KEEL_TRY(emit_operand(e, returned.items[i]));
    e->to->blocks.data[at].end_op = e->to->operations.count;
    return NULL;
}

keel_status_t needs_emit_mlir(needs_emit_t *e, const needs_part_t *part) {
    const keel_function_t *from = &e->from->functions.data[part->function];
    keel_function_t function = *from;
    uint32_t op = e->to->operations.count;
    e->part = part;
    KEEL_TRY(needs_emit_like(e, from->operation));
    function.operation = op;
    function.first_value = e->to->value_types.count;
    KEEL_TRY(begin_regions(e, 1, &function.region));
    KEEL_TRY(describe(e, part, &function));
    keel_attr_id_t attributes = from->operation == KEEL_NONE
                                    ? KEEL_NONE
                                    : e->from->operations.data[from->operation].attributes;
    KEEL_TRY(describe_operation(e, &function, &attributes));
    e->to->operations.data[op].attributes = attributes;
    e->to->regions.data[function.region].first_block = e->to->blocks.count;
    e->to->regions.data[function.region].block_count = 1;
    KEEL_TRY(emit_body(e, part));
    e->to->regions.data[function.region].end = e->to->operations.count;
    function.end_value = e->to->value_types.count;
    KEEL_PUSH(&e->to->functions, function);
    return NULL;
}

keel_status_t needs_emit_module(needs_emit_t *e) {
    uint32_t next = 0; // function, in the order of their operations
    e->part = NULL;
    for (keel_op_id_t op = 0; op < keel_program_op_count(e->from);
         op = keel_program_next(e->from, op)) {
        if (next < e->from->functions.count && e->from->functions.data[next].operation == op)
            ++next;
        else
            KEEL_TRY(emit_operation(e, op));
    }
    return NULL;
}

// Of modules that were made from HLO: lists for the whole program's arguments and results.
keel_status_t needs_emit_mlir_attributes(needs_emit_t *e) {
    static const char *const left_out[] = {"mhlo.input_output_alias",
                                           "mhlo.spmd_parameters_shardings",
                                           "mhlo.spmd_output_sharding",
                                           "mhlo.xla_entry_computation_parameter_layouts",
                                           "mhlo.xla_entry_computation_parameter_tiles",
                                           "mhlo.xla_entry_computation_result_layout",
                                           "mhlo.xla_entry_computation_result_tiles"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; ++i)
        KEEL_TRY(needs_set_entry(e, &e->to->attributes, left_out[i], KEEL_NONE));
    return NULL;
}
