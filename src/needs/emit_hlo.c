// A tuple has the elements of it that are needed. Where an operation needs fewer than its operand
// has, because another one needs more, a tuple of just these is made in between.
#include "needs/emit.h"

static bool is_tuple(const needs_emit_t *e, keel_value_id_t value) {
    return keel_program_type(e->from, e->from->value_types.data[value])->kind == KEEL_TYPE_TUPLE;
}

static keel_status_t elements(needs_emit_t *e, const needs_part_t *part, keel_value_id_t value,
                              uint64_t **out) {
    return needs_elements(e->needs, part, value, out);
}

// ---- types -------------------------------------------------------------------------------------

static keel_status_t tuple_type(needs_emit_t *e, keel_type_id_t of, const uint64_t *kept,
                                keel_type_id_t *out) {
    keel_type_t type = *keel_program_type(e->to, of);
    keel_list_t items = keel_program_list(e->to, type.b);
    *out = of;
    if (type.kind != KEEL_TYPE_TUPLE || needs_rank(kept, items.count) == items.count) return NULL;
    e->list.count = 0;
    for (uint32_t i = 0; i < items.count; ++i)
        if (needs_has(kept, i)) KEEL_PUSH(&e->list, items.items[i]);
    KEEL_TRY(keel_program_add_list(e->to, e->list.data, e->list.count, &type.b));
    type.c = KEEL_NONE;
    return needs_new_type(e, type, out);
}

static keel_status_t own_type(needs_emit_t *e, keel_op_id_t op, keel_type_id_t *out) {
    uint64_t *kept;
    *out = e->from->value_types.data[op];
    if (!is_tuple(e, op)) return NULL;
    KEEL_TRY(elements(e, e->part, op, &kept));
    return tuple_type(e, *out, kept, out);
}

// ---- operations --------------------------------------------------------------------------------

static keel_status_t push_op(needs_emit_t *e, keel_operation_t operation, keel_type_id_t type,
                             const uint32_t *operands, uint32_t count, keel_op_id_t *out) {
    operation.first_operand = e->to->operands.count;
    operation.first_result = *out = e->to->operations.count;
    KEEL_TRY(needs_new_value(e, type, &operation.first_result));
    KEEL_TRY(keel_table_reserve(&e->to->operands, count));
    for (uint32_t i = 0; i < count; ++i)
        e->to->operands.data[e->to->operands.count++] = operands[i];
    KEEL_PUSH(&e->to->operations, operation);
    return NULL;
}

static keel_status_t find_name(needs_emit_t *e, const char *text, uint32_t *inout) {
    keel_op_name_t name = e->to->op_names.data[0]; // its dialect
    if (*inout != KEEL_NONE) return NULL;
    for (uint32_t i = 0; i < e->to->op_names.count && *inout == KEEL_NONE; ++i)
        if (keel_str_is(keel_program_str(e->to, e->to->op_names.data[i].name), text)) *inout = i;
    if (*inout != KEEL_NONE) return NULL;
    if (e->to->op_names.count == KEEL_OP_HAS_REGIONS)
        return keel_status_make(KEEL_UNSUPPORTED, "HLO: more than %d opcodes", KEEL_OP_HAS_REGIONS);
    KEEL_TRY(keel_program_add_text(e->to, keel_str(text), &name.name));
    *inout = e->to->op_names.count;
    KEEL_PUSH(&e->to->op_names, name);
    return NULL;
}

// An attribute that is left out where it is 0.
static keel_status_t set_number(needs_emit_t *e, keel_attr_id_t *inout, const char *name,
                                uint32_t number) {
    keel_attr_t attr = {.kind = KEEL_ATTR_INT, .a = KEEL_NONE};
    keel_attr_id_t id = KEEL_NONE;
    if (number) {
        KEEL_TRY(keel_program_add_int(e->to, number, &attr.b));
        KEEL_TRY(needs_new_attr(e, attr, &id));
    }
    KEEL_TRY(needs_set_entry(e, inout, name, id));
    if (!keel_program_entries(e->to, *inout).count) *inout = KEEL_NONE;
    return NULL;
}

// ---- operands ----------------------------------------------------------------------------------

// The wanted elements of a tuple that has the kept ones.
static keel_status_t narrow(needs_emit_t *e, keel_value_id_t value, const uint64_t *kept,
                            const uint64_t *wanted, keel_op_id_t *out) {
    keel_type_id_t of = e->from->value_types.data[value], type;
    uint32_t count = needs_leaf_count(e->needs, value), taken = 0;
    keel_attr_id_t location = e->from->operations.data[value].location;
    void *memory;
    KEEL_TRY(keel_arena_array(&e->needs->arena, count + (size_t)1, sizeof(uint32_t), &memory));
    uint32_t *items = memory;
    KEEL_TRY(find_name(e, "get-tuple-element", &e->element));
    KEEL_TRY(find_name(e, "tuple", &e->tuple));
    for (uint32_t i = 0; i < count; ++i) {
        if (!needs_has(wanted, i)) continue;
        keel_operation_t element = {.location = location,
                                    .attributes = KEEL_NONE,
                                    .name = (uint16_t)e->element,
                                    .result_count = 1};
        type = keel_program_list(e->to, keel_program_type(e->to, of)->b).items[i];
        KEEL_TRY(set_number(e, &element.attributes, "tuple_index", needs_rank(kept, i)));
        KEEL_TRY(push_op(e, element, type, &e->values[value], 1, &items[taken++]));
    }
    keel_operation_t tuple = {.location = location,
                              .attributes = KEEL_NONE,
                              .name = (uint16_t)e->tuple,
                              .result_count = 1};
    KEEL_TRY(tuple_type(e, of, wanted, &type));
    return push_op(e, tuple, type, items, taken, out);
}

// A value with the wanted elements; NULL: with those that it has.
static keel_status_t value_with(needs_emit_t *e, keel_value_id_t value, const uint64_t *wanted,
                                keel_op_id_t *out) {
    uint64_t *kept;
    *out = e->values[value];
    if (*out == KEEL_NONE)
        return keel_status_make(KEEL_INVALID, "an operand that is not in its computation");
    if (!wanted || !is_tuple(e, value)) return NULL;
    KEEL_TRY(elements(e, e->part, value, &kept));
    size_t size = needs_words(needs_leaf_count(e->needs, value)) * sizeof *kept;
    return memcmp(kept, wanted, size) == 0 ? NULL : narrow(e, value, kept, wanted, out);
}

// The elements that an operation wants of each of its operands, and whether it has that operand.
static keel_status_t wanted_of(needs_emit_t *e, keel_op_id_t op, needs_rule_t rule,
                               uint32_t operand, bool *out_is_kept, uint64_t **out) {
    needs_part_t *called;
    *out_is_kept = true;
    *out = NULL;
    switch (rule) {
        case NEEDS_TUPLE:
            *out_is_kept = needs_is_needed(e->needs, e->part, op, operand);
            return NULL;
        case NEEDS_LOOP:
        case NEEDS_BARRIER:
            return elements(e, e->part, op, out);
        case NEEDS_BRANCHES:
            if (!operand) return NULL;
            KEEL_TRY(needs_part_called(e->needs, e->part, op, operand - 1, &called));
            return elements(e, called, needs_parameter(e->needs, called->function, 0), out);
        case NEEDS_CALL:
            KEEL_TRY(needs_part_called(e->needs, e->part, op, 0, &called));
            *out_is_kept = needs_keeps_argument(e->needs, called, operand);
            return elements(e, called, needs_parameter(e->needs, called->function, operand), out);
        default:
            return NULL;
    }
}

// The operands, in the arena: what they are made of comes before the operation.
static keel_status_t make_operands(needs_emit_t *e, keel_op_id_t op, needs_rule_t rule,
                                   uint32_t **out, uint32_t *out_count) {
    keel_list_t operands = keel_program_operands(e->from, op);
    void *memory;
    KEEL_TRY(keel_arena_array(&e->needs->arena, operands.count + (size_t)1, sizeof **out, &memory));
    *out = memory;
    *out_count = 0;
    for (uint32_t i = 0; i < operands.count; ++i) {
        bool is_kept;
        uint64_t *wanted;
        KEEL_TRY(wanted_of(e, op, rule, i, &is_kept, &wanted));
        if (is_kept) KEEL_TRY(value_with(e, operands.items[i], wanted, &(*out)[(*out_count)++]));
    }
    return NULL;
}

// ---- attributes --------------------------------------------------------------------------------

// The same functions by the names of their parts.
static keel_status_t rename_callees(needs_emit_t *e, keel_op_id_t op, keel_attr_id_t *inout) {
    uint32_t count = needs_callee_count(e->needs, op);
    keel_attr_id_t id;
    void *memory;
    if (!count) return NULL;
    KEEL_TRY(keel_arena_array(&e->needs->arena, count, sizeof(uint32_t), &memory));
    keel_attr_id_t *items = memory;
    for (uint32_t i = 0; i < count; ++i) {
        needs_part_t *called;
        if (needs_callee(e->needs, op, i) == KEEL_NONE)
            return keel_status_make(KEEL_INVALID, "a call of a computation that does not exist");
        KEEL_TRY(needs_part_called(e->needs, e->part, op, i, &called));
        keel_attr_t symbol = {.kind = KEEL_ATTR_SYMBOL, .a = called->name, .b = KEEL_NONE};
        KEEL_TRY(needs_new_attr(e, symbol, &items[i]));
    }
    KEEL_TRY(needs_new_array(e, items, count, &id));
    return needs_set_entry(e, inout, "called_computations", id);
}

// Of the instructions that must come before, those that are still there, by their new places.
static keel_status_t keep_predecessors(needs_emit_t *e, keel_op_id_t first, keel_attr_id_t *inout) {
    const char *name = "control_predecessors";
    const keel_attr_t *attr = keel_program_attr(e->to, keel_program_dict_find(e->to, *inout, name));
    if (attr->kind != KEEL_ATTR_INTS) return NULL;
    keel_ints_t places = keel_program_ints(e->from, attr->b);
    keel_op_id_t base = needs_function_of(e->needs, e->part)->first_op;
    keel_attr_t kept = {.kind = KEEL_ATTR_INTS, .b = e->to->ints.count};
    keel_attr_id_t id = KEEL_NONE;
    KEEL_PUSH(&e->to->ints, 0);
    for (uint32_t i = 0; i < places.count; ++i) {
        uint64_t at = (uint64_t)places.items[i] + base;
        if (places.items[i] < 0 || at >= keel_program_op_count(e->from) ||
            e->values[at] == KEEL_NONE || e->values[at] < first)
            continue;
        KEEL_PUSH(&e->to->ints, (int64_t)e->values[at] - first);
        ++e->to->ints.data[kept.b];
    }
    if (e->to->ints.data[kept.b]) KEEL_TRY(needs_new_attr(e, kept, &id));
    return needs_set_entry(e, inout, name, id);
}

static keel_status_t own_attributes(needs_emit_t *e, keel_op_id_t op, keel_op_id_t first,
                                    keel_attr_id_t *inout) {
    keel_value_id_t operand;
    uint64_t *kept;
    KEEL_TRY(rename_callees(e, op, inout));
    KEEL_TRY(keep_predecessors(e, first, inout));
    if (needs_rule_of(e->needs, op) == NEEDS_ELEMENT) {
        operand = keel_program_operands(e->from, op).items[0];
        KEEL_TRY(elements(e, e->part, operand, &kept));
        KEEL_TRY(set_number(e, inout, "tuple_index",
                            needs_rank(kept, (uint32_t)needs_element(e->needs, op))));
    }
    if (!is_tuple(e, op)) return NULL;
    KEEL_TRY(elements(e, e->part, op, &kept));
    KEEL_TRY(
        needs_drop_texts(e, inout, "frontend_attributes", kept, needs_leaf_count(e->needs, op)));
    return needs_keep_sharding(e, inout, "sharding", kept, needs_leaf_count(e->needs, op));
}

// ---- shapes of whole computations --------------------------------------------------------------

static keel_status_t narrow_type(needs_emit_t *e, keel_attr_id_t id, const uint64_t *kept,
                                 keel_attr_id_t *out) {
    keel_attr_t attr = *keel_program_attr(e->to, id);
    keel_type_id_t type;
    *out = id;
    if (attr.kind != KEEL_ATTR_TYPE || !kept) return NULL;
    KEEL_TRY(tuple_type(e, attr.a, kept, &type));
    if (type == attr.a) return NULL;
    attr.a = type;
    return needs_new_attr(e, attr, out);
}

// A ProgramShapeProto, for the arguments and results of a part.
static keel_status_t narrow_shape(needs_emit_t *e, const needs_part_t *part, keel_attr_id_t *inout,
                                  const char *name) {
    const needs_function_t *function = needs_function_of(e->needs, part);
    keel_attr_id_t shape = keel_program_dict_find(e->to, *inout, name), id;
    if (shape == KEEL_NONE) return NULL;
    uint32_t all =
        keel_program_array(e->to, keel_program_dict_find(e->to, shape, "parameters")).count;
    void *memory;
    KEEL_TRY(keel_arena_array(&e->needs->arena, all + (size_t)1, sizeof(uint32_t), &memory));
    keel_attr_id_t *items = memory;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all && i < function->argument_count; ++i) {
        keel_op_id_t parameter = needs_parameter(e->needs, part->function, i);
        uint64_t *kept = NULL;
        if (!needs_keeps_argument(e->needs, part, i)) continue;
        if (is_tuple(e, parameter)) KEEL_TRY(elements(e, part, parameter, &kept));
        keel_attr_id_t of = keel_program_dict_find(e->to, shape, "parameters");
        KEEL_TRY(narrow_type(e, keel_program_array(e->to, of).items[i], kept, &items[count++]));
    }
    KEEL_TRY(needs_new_array(e, items, count, &id));
    KEEL_TRY(needs_set_entry(e, &shape, "parameters", count ? id : KEEL_NONE));
    if (part->kind != NEEDS_OF_CONDITION && is_tuple(e, function->last)) {
        KEEL_TRY(narrow_type(e, keel_program_dict_find(e->to, shape, "result"), part->wanted, &id));
        KEEL_TRY(needs_set_entry(e, &shape, "result", id));
    }
    return needs_set_entry(e, inout, name, shape);
}

// ---- computations ------------------------------------------------------------------------------

// The new numbers of parameters, by the old ones.
static keel_status_t number_parameters(needs_emit_t *e, uint32_t **out) {
    uint32_t all = needs_function_of(e->needs, e->part)->argument_count, next = 0;
    void *memory;
    KEEL_TRY(keel_arena_array(&e->needs->arena, all + (size_t)1, sizeof **out, &memory));
    *out = memory;
    for (uint32_t i = 0; i < all; ++i)
        (*out)[i] = needs_keeps_argument(e->needs, e->part, i) ? next++ : next;
    return NULL;
}

static keel_status_t emit_instruction(needs_emit_t *e, keel_op_id_t op, keel_op_id_t first,
                                      const uint32_t *numbers) {
    keel_operation_t operation = e->from->operations.data[op];
    needs_rule_t rule = needs_rule_of(e->needs, op);
    const needs_fact_t *fact = needs_fact_of(e->needs, op);
    keel_type_id_t type;
    uint32_t *operands, count;
    KEEL_TRY(make_operands(e, op, rule, &operands, &count));
    if (rule == NEEDS_SAME) {
        e->values[op] = operands[0];
        return NULL;
    }
    KEEL_TRY(own_type(e, op, &type));
    KEEL_TRY(own_attributes(e, op, first, &operation.attributes));
    if (fact && strcmp(fact->name, "parameter") == 0) {
        const char *name = "parameter_number";
        keel_attr_id_t id =
            keel_program_dict_find(e->from, e->from->operations.data[op].attributes, name);
        KEEL_TRY(set_number(e, &operation.attributes, name,
                            numbers[keel_program_number(e->from, id, 0)]));
    }
    return push_op(e, operation, type, operands, count, &e->values[op]);
}

static keel_status_t emit_root(needs_emit_t *e, keel_op_id_t *out) {
    const needs_function_t *function = needs_function_of(e->needs, e->part);
    return value_with(e, function->last,
                      e->part->kind == NEEDS_OF_CONDITION ? NULL : e->part->wanted, out);
}

keel_status_t needs_emit_hlo(needs_emit_t *e, const needs_part_t *part) {
    const needs_function_t *function = needs_function_of(e->needs, part);
    keel_function_t to = e->from->functions.data[part->function];
    keel_op_id_t first = e->to->operations.count, base = function->first_op;
    uint32_t count = function->end_op - base, *numbers;
    e->part = part;
    KEEL_TRY(number_parameters(e, &numbers));
    for (uint32_t at = needs_next(part->live, 0, count); at < count;
         at = needs_next(part->live, at + 1, count))
        KEEL_TRY(emit_instruction(e, base + at, first, numbers));
    KEEL_TRY(emit_root(e, &to.root));
    KEEL_TRY(narrow_shape(e, part, &to.attributes, "program_shape"));
    keel_op_id_t end = e->to->operations.count;
    keel_block_t block = {
        .first_op = first, .end_op = end, .first_argument = first, .argument_locations = KEEL_NONE};
    keel_region_t region = {
        .parent = KEEL_NONE, .first_block = e->to->blocks.count, .block_count = 1, .end = end};
    to.name = part->name;
    to.region = e->to->regions.count;
    to.first_value = first;
    to.end_value = end;
    KEEL_PUSH(&e->to->blocks, block);
    KEEL_PUSH(&e->to->regions, region);
    KEEL_PUSH(&e->to->functions, to);
    return NULL;
}

// ---- the module --------------------------------------------------------------------------------

static keel_status_t keep_parameter_shardings(needs_emit_t *e) {
    const char *name = "spmd_parameters_shardings";
    const needs_part_t *entry = e->needs->entry;
    uint32_t all = needs_function_of(e->needs, entry)->argument_count, words = needs_words(all);
    keel_attr_id_t array = keel_program_dict_find(e->to, e->to->attributes, name), items;
    void *memory;
    if (array == KEEL_NONE) return NULL;
    KEEL_TRY(keel_arena_array(&e->needs->arena, words, sizeof(uint64_t), &memory));
    uint64_t *kept = memset(memory, 0, words * sizeof *kept);
    for (uint32_t i = 0; i < all; ++i)
        if (needs_keeps_argument(e->needs, entry, i)) needs_add(kept, i);
    KEEL_TRY(needs_keep_items(e, array, kept, all, &items));
    if (!keel_program_array(e->to, items).count) items = KEEL_NONE;
    return needs_set_entry(e, &e->to->attributes, name, items);
}

keel_status_t needs_emit_hlo_attributes(needs_emit_t *e) {
    static const char *const left_out[] = {"input_output_alias", "buffer_donor",
                                           "cross_program_prefetches"};
    const needs_part_t *entry = e->needs->entry;
    const needs_function_t *function = needs_function_of(e->needs, entry);
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; ++i)
        KEEL_TRY(needs_set_entry(e, &e->to->attributes, left_out[i], KEEL_NONE));
    KEEL_TRY(narrow_shape(e, entry, &e->to->attributes, "host_program_shape"));
    KEEL_TRY(keep_parameter_shardings(e));
    if (!is_tuple(e, function->last)) return NULL;
    return needs_keep_sharding(e, &e->to->attributes, "spmd_output_sharding", entry->wanted,
                               function->result_count);
}
