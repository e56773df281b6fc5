// Which rule applies to an operation: that of its name, if it has the structure that this needs.
#include "needs/internal.h"

// ---- called functions --------------------------------------------------------------------------

static keel_attr_id_t attribute_of(const keel_needs_t *needs, keel_op_id_t op, const char *name) {
    const keel_program_t *program = needs->program;
    return keel_program_dict_find(program, program->operations.data[op].attributes, name);
}

static bool is_name(const keel_needs_t *needs, keel_attr_id_t id) {
    uint8_t kind = keel_program_attr(needs->program, id)->kind;
    return kind == KEEL_ATTR_STRING || kind == KEEL_ATTR_SYMBOL;
}

// The only name that an operation of MLIR calls by; NONE if it has a list of them, or none.
static keel_attr_id_t single_name(const keel_needs_t *needs, keel_op_id_t op) {
    static const char *const names[] = {"callee", "decomposition"};
    for (size_t i = 0; i < 2 && !needs->is_hlo; ++i) {
        keel_attr_id_t id = attribute_of(needs, op, names[i]);
        if (is_name(needs, id)) return id;
    }
    return KEEL_NONE;
}

uint32_t needs_callee_count(const keel_needs_t *needs, keel_op_id_t op) {
    if (single_name(needs, op) != KEEL_NONE) return 1;
    return keel_program_array(needs->program, attribute_of(needs, op, "called_computations")).count;
}

uint32_t needs_callee(const keel_needs_t *needs, keel_op_id_t op, uint32_t index) {
    keel_attr_id_t id = single_name(needs, op);
    keel_list_t list =
        keel_program_array(needs->program, attribute_of(needs, op, "called_computations"));
    if (id == KEEL_NONE && index < list.count) id = list.items[index];
    if (!is_name(needs, id)) return KEEL_NONE;
    keel_str_t name = keel_program_str(needs->program, keel_program_attr(needs->program, id)->a);
    const uint64_t *found = keel_map_find(&needs->names, keel_str_bytes(name));
    return found ? (uint32_t)*found : KEEL_NONE;
}

keel_str_t needs_target(const keel_needs_t *needs, keel_op_id_t op) {
    const keel_attr_t *target = keel_program_attr(
        needs->program,
        attribute_of(needs, op, needs->is_hlo ? "custom_call_target" : "call_target_name"));
    return keel_program_str(needs->program,
                            target->kind == KEEL_ATTR_STRING ? target->a : KEEL_NONE);
}

// One operand and one result, of the same type.
static bool is_same(const keel_needs_t *needs, keel_op_id_t op) {
    const keel_program_t *program = needs->program;
    const keel_operation_t *operation = &program->operations.data[op];
    keel_list_t operands = keel_program_operands(program, op);
    return operation->result_count == 1 && operands.count == 1 &&
           program->value_types.data[operation->first_result] ==
               program->value_types.data[operands.items[0]] &&
           needs_is_placement(needs_target(needs, op));
}

// ---- MLIR --------------------------------------------------------------------------------------

// A region of one block that takes and returns so many values.
static bool is_region(const keel_needs_t *needs, const keel_region_t *region, uint32_t arguments,
                      uint32_t returned) {
    if (region->block_count != 1) return false;
    const keel_block_t *block = &needs->program->blocks.data[region->first_block];
    keel_op_id_t last = needs->lasts[region->first_block];
    if (block->argument_count != arguments || last == KEEL_NONE) return false;
    const needs_fact_t *fact = needs_fact_of(needs, last);
    return fact && strcmp(fact->name, "return") == 0 &&
           !(needs->program->operations.data[last].name & KEEL_OP_HAS_REGIONS) &&
           keel_program_operands(needs->program, last).count == returned;
}

static bool calls(const keel_needs_t *needs, keel_op_id_t op, uint32_t operands, uint32_t results) {
    uint32_t callee = needs_callee(needs, op, 0);
    return callee != KEEL_NONE && needs->functions[callee].argument_count == operands &&
           needs->functions[callee].result_count == results;
}

static bool loops(const keel_needs_t *needs, keel_op_id_t op, uint32_t operands, uint32_t results) {
    keel_region_run_t regions = keel_program_regions(needs->program, op);
    return regions.count == 2 && operands == results &&
           is_region(needs, &regions.items[0], operands, 1) &&
           is_region(needs, &regions.items[1], operands, operands);
}

static bool branches(const keel_needs_t *needs, keel_op_id_t op, uint32_t operands,
                     uint32_t results) {
    keel_region_run_t regions = keel_program_regions(needs->program, op);
    for (uint32_t i = 0; i < regions.count; ++i)
        if (!is_region(needs, &regions.items[i], 0, results)) return false;
    return regions.count && operands == 1;
}

bool needs_is_manual(const keel_needs_t *needs, keel_op_id_t op) {
    uint32_t operands = keel_program_operands(needs->program, op).count;
    uint32_t results = needs->program->operations.data[op].result_count;
    keel_region_run_t regions = keel_program_regions(needs->program, op);
    needs_manual_t manual;
    return regions.count == 1 && is_region(needs, &regions.items[0], operands, results) &&
           needs_manual(needs, op, &manual) && needs_manual_is_cut(needs, op, &manual);
}

static needs_rule_t mlir_rule(const keel_needs_t *needs, keel_op_id_t op, needs_rule_t rule) {
    uint32_t operands = keel_program_operands(needs->program, op).count;
    uint32_t results = needs->program->operations.data[op].result_count;
    switch (rule) {
        case NEEDS_NAMED:
            return NEEDS_NAMED;
        case NEEDS_CALL:
            return calls(needs, op, operands, results) ? rule : NEEDS_NAMED;
        case NEEDS_LOOP:
            return loops(needs, op, operands, results) ? rule : NEEDS_PLAIN;
        case NEEDS_BRANCHES:
            return branches(needs, op, operands, results) ? rule : NEEDS_PLAIN;
        case NEEDS_BARRIER:
            return operands == results ? rule : NEEDS_PLAIN;
        case NEEDS_MANUAL:
            return needs->manuals && needs_has(needs->manuals, op) ? rule : NEEDS_PLAIN;
        default:
            return NEEDS_PLAIN;
    }
}

// ---- HLO ---------------------------------------------------------------------------------------

static bool is_tuple(const keel_needs_t *needs, keel_value_id_t value) {
    const keel_program_t *program = needs->program;
    return keel_program_type(program, program->value_types.data[value])->kind == KEEL_TYPE_TUPLE;
}

// Both are tuples of the same length, or neither is one.
static bool are_alike(const keel_needs_t *needs, keel_value_id_t a, keel_value_id_t b) {
    return is_tuple(needs, a) == is_tuple(needs, b) &&
           needs_leaf_count(needs, a) == needs_leaf_count(needs, b);
}

// The function takes these operands and its root is like the operation.
static bool takes(const keel_needs_t *needs, uint32_t function, const keel_value_id_t *operands,
                  uint32_t count) {
    if (function == KEEL_NONE || needs->functions[function].argument_count != count) return false;
    for (uint32_t i = 0; i < count; ++i)
        if (!are_alike(needs, operands[i], needs_parameter(needs, function, i))) return false;
    return true;
}

static bool gives(const keel_needs_t *needs, uint32_t function, keel_op_id_t op) {
    return are_alike(needs, op, needs->functions[function].last);
}

static bool hlo_loops(const keel_needs_t *needs, keel_op_id_t op, keel_list_t operands) {
    if (operands.count != 1 || needs_callee_count(needs, op) != 2) return false;
    uint32_t body = needs_callee(needs, op, 0), condition = needs_callee(needs, op, 1);
    return are_alike(needs, op, operands.items[0]) && takes(needs, body, operands.items, 1) &&
           takes(needs, condition, operands.items, 1) && gives(needs, body, op) &&
           !is_tuple(needs, needs->functions[condition].last);
}

static bool hlo_branches(const keel_needs_t *needs, keel_op_id_t op, keel_list_t operands) {
    uint32_t count = needs_callee_count(needs, op);
    if (!count || operands.count != count + 1 || is_tuple(needs, operands.items[0])) return false;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t branch = needs_callee(needs, op, i);
        if (!takes(needs, branch, &operands.items[i + 1], 1) || !gives(needs, branch, op))
            return false;
    }
    return true;
}

int64_t needs_element(const keel_needs_t *needs, keel_op_id_t op) {
    return keel_program_number(needs->program, attribute_of(needs, op, "tuple_index"), 0);
}

static bool takes_element(const keel_needs_t *needs, keel_op_id_t op, keel_list_t operands) {
    if (operands.count != 1 || !is_tuple(needs, operands.items[0])) return false;
    int64_t index = needs_element(needs, op);
    return index >= 0 && index < needs_leaf_count(needs, operands.items[0]);
}

static bool hlo_holds(const keel_needs_t *needs, keel_op_id_t op, needs_rule_t rule) {
    keel_list_t operands = keel_program_operands(needs->program, op);
    uint32_t callee;
    switch (rule) {
        case NEEDS_CALL:
            callee = needs_callee(needs, op, 0);
            return needs_callee_count(needs, op) == 1 &&
                   takes(needs, callee, operands.items, operands.count) && gives(needs, callee, op);
        case NEEDS_LOOP:
            return hlo_loops(needs, op, operands);
        case NEEDS_BRANCHES:
            return hlo_branches(needs, op, operands);
        case NEEDS_BARRIER:
            return operands.count == 1 && are_alike(needs, op, operands.items[0]);
        case NEEDS_TUPLE:
            return is_tuple(needs, op) && needs_leaf_count(needs, op) == operands.count;
        case NEEDS_ELEMENT:
            return takes_element(needs, op, operands);
        case NEEDS_NOTHING:
            return true;
        default:
            return false;
    }
}

// ------------------------------------------------------------------------------------------------

needs_rule_t needs_rule_of(const keel_needs_t *needs, keel_op_id_t op) {
    const needs_fact_t *fact = needs_fact_of(needs, op);
    if (fact && fact->trouble == NEEDS_TARGET && is_same(needs, op)) return NEEDS_SAME;
    if (!needs->is_hlo) return fact ? mlir_rule(needs, op, fact->rule) : NEEDS_NAMED;
    return fact && hlo_holds(needs, op, fact->rule) ? fact->rule : NEEDS_NAMED;
}
