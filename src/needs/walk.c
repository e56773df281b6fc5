// From results backward. An operation is visited after all that may need its results, because these
// come later; a loop is visited again until it needs nothing new.
#include "needs/internal.h"

void needs_need(keel_needs_t *needs, needs_part_t *part, keel_value_id_t value, uint32_t element) {
    const needs_function_t *function = needs_function_of(needs, part);
    uint32_t leaf = needs_first_leaf(needs, value) + element - function->first_leaf;
    if (needs_has(part->leaves, leaf)) return;
    needs_add(part->leaves, leaf);
    keel_op_id_t op = needs->is_hlo ? value : needs->makers[value];
    if (op != KEEL_NONE)
        needs_keep(needs, part, op); // an argument's block is looked at by its owner
}

void needs_keep(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    uint32_t at = op - needs_function_of(needs, part)->first_op;
    if (!needs_has(part->live, at)) ++needs->seen;
    needs_add(part->live, at);
    needs_add(part->todo, at);
}

void needs_need_all(keel_needs_t *needs, needs_part_t *part, keel_value_id_t value) {
    uint32_t count = needs_leaf_count(needs, value);
    if (!count) needs_keep(needs, part, value); // the empty tuple
    for (uint32_t i = 0; i < count; ++i)
        needs_need(needs, part, value, i);
}

keel_status_t needs_elements(keel_needs_t *needs, const needs_part_t *part, keel_value_id_t value,
                             uint64_t **out) {
    uint32_t count = needs_leaf_count(needs, value);
    void *memory;
    KEEL_TRY(keel_arena_array(&needs->arena, needs_words(count), sizeof **out, &memory));
    uint64_t *set = memset(memory, 0, needs_words(count) * sizeof *set);
    for (uint32_t i = 0; i < count; ++i)
        if (needs_is_needed(needs, part, value, i)) needs_add(set, i);
    *out = set;
    return NULL;
}

// ---- plain operations --------------------------------------------------------------------------

// What a region returns is needed as a whole; what it takes from outside is found on the way.
static keel_status_t visit_region(keel_needs_t *needs, needs_part_t *part,
                                  const keel_region_t *region) {
    for (uint32_t i = 0; i < region->block_count; ++i) {
        uint32_t number = region->first_block + i;
        const keel_block_t *block = &needs->program->blocks.data[number];
        if (needs->lasts[number] == KEEL_NONE) continue;
        needs_keep(needs, part, needs->lasts[number]);
        KEEL_TRY(needs_visit(needs, part, block->first_op, block->end_op));
    }
    return NULL;
}

static keel_status_t visit_plain(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op,
                                 bool is_named) {
    const keel_operation_t *operation = &needs->program->operations.data[op];
    keel_list_t operands = keel_program_operands(needs->program, op);
    for (uint32_t i = 0; i < operation->result_count; ++i)
        needs_need_all(needs, part, operation->first_result + i);
    for (uint32_t i = 0; i < operands.count; ++i)
        needs_need_all(needs, part, operands.items[i]);
    keel_region_run_t regions = keel_program_regions(needs->program, op);
    for (uint32_t i = 0; i < regions.count; ++i)
        KEEL_TRY(visit_region(needs, part, &regions.items[i]));
    uint32_t callees = is_named ? needs_callee_count(needs, op) : 0;
    for (uint32_t i = 0; i < callees; ++i) {
        uint32_t callee = needs_callee(needs, op, i);
        needs_part_t *whole;
        if (callee != KEEL_NONE) KEEL_TRY(needs_part(needs, callee, NEEDS_OF_WHOLE, NULL, &whole));
    }
    return NULL;
}

// ---- calls -------------------------------------------------------------------------------------

// What a part needs of an argument is needed of the operand.
static void pass_argument(keel_needs_t *needs, needs_part_t *part, const needs_part_t *called,
                          uint32_t argument, keel_value_id_t operand) {
    if (!needs->is_hlo) {
        if (needs_keeps_argument(needs, called, argument)) needs_need(needs, part, operand, 0);
        return;
    }
    keel_op_id_t parameter = needs_parameter(needs, called->function, argument);
    uint32_t count = needs_leaf_count(needs, parameter);
    for (uint32_t i = 0; i < count; ++i)
        if (needs_is_needed(needs, called, parameter, i)) needs_need(needs, part, operand, i);
}

// A part may give more than was wanted of it; the operation then has these results too.
static void take_results(keel_needs_t *needs, needs_part_t *part, const needs_part_t *called,
                         keel_op_id_t op) {
    keel_value_id_t first = needs->program->operations.data[op].first_result;
    uint32_t count = needs_function_of(needs, called)->result_count;
    for (uint32_t i = 0; i < count; ++i)
        if (needs_has(called->wanted, i))
            needs_need(needs, part, needs->is_hlo ? first : first + i, needs->is_hlo ? i : 0);
}

static keel_status_t visit_call(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(needs->program, op);
    needs_part_t *called;
    KEEL_TRY(needs_part_called(needs, part, op, 0, &called));
    if (needs->found.is_over) return NULL;
    take_results(needs, part, called, op);
    for (uint32_t i = 0; i < operands.count; ++i)
        pass_argument(needs, part, called, i, operands.items[i]);
    return NULL;
}

// ---- MLIR --------------------------------------------------------------------------------------

// Adds to a loop's results what its regions need of the state. Returns how many are needed.
static uint32_t gather_state(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op,
                             const keel_block_t *condition, const keel_block_t *body, bool all) {
    const keel_operation_t *operation = &needs->program->operations.data[op];
    uint32_t count = 0;
    for (uint32_t i = 0; i < operation->result_count; ++i) {
        if (!all && !needs_is_needed(needs, part, operation->first_result + i, 0) &&
            !needs_is_needed(needs, part, condition->first_argument + i, 0) &&
            !needs_is_needed(needs, part, body->first_argument + i, 0))
            continue;
        needs_need(needs, part, operation->first_result + i, 0);
        ++count;
    }
    return count;
}

static keel_status_t visit_loop(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    const keel_operation_t *operation = &needs->program->operations.data[op];
    const keel_block_t *condition = needs_block(needs, op, 0), *body = needs_block(needs, op, 1);
    keel_list_t returned = needs_returned(needs, body), inputs;
    KEEL_TRY(visit_region(needs, part, &keel_program_regions(needs->program, op).items[0]));
    uint32_t before = 0, count = gather_state(needs, part, op, condition, body, false);
    for (unsigned round = 0; count > before && !needs->found.is_over; ++round) {
        for (uint32_t i = 0; i < returned.count; ++i)
            if (needs_is_needed(needs, part, operation->first_result + i, 0))
                needs_need(needs, part, returned.items[i], 0);
        KEEL_TRY(needs_visit(needs, part, body->first_op, body->end_op));
        before = count;
        count = gather_state(needs, part, op, condition, body, round >= NEEDS_ROUNDS);
    }
    inputs = keel_program_operands(needs->program, op);
    for (uint32_t i = 0; i < inputs.count; ++i)
        if (needs_is_needed(needs, part, operation->first_result + i, 0))
            needs_need(needs, part, inputs.items[i], 0);
    return NULL;
}

static keel_status_t visit_branches(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    const keel_operation_t *operation = &needs->program->operations.data[op];
    keel_region_run_t regions = keel_program_regions(needs->program, op);
    needs_need(needs, part, keel_program_operands(needs->program, op).items[0], 0);
    for (uint32_t r = 0; r < regions.count; ++r) {
        const keel_block_t *block = needs_block(needs, op, r);
        keel_list_t returned = needs_returned(needs, block);
        for (uint32_t i = 0; i < returned.count; ++i)
            if (needs_is_needed(needs, part, operation->first_result + i, 0))
                needs_need(needs, part, returned.items[i], 0);
        KEEL_TRY(needs_visit(needs, part, block->first_op, block->end_op));
    }
    return NULL;
}

static keel_status_t visit_manual(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    const keel_block_t *block = needs_block(needs, op, 0);
    keel_list_t returned = needs_returned(needs, block);
    keel_list_t operands = keel_program_operands(needs->program, op);
    keel_value_id_t first = needs->program->operations.data[op].first_result;
    for (uint32_t i = 0; i < returned.count; ++i)
        if (needs_is_needed(needs, part, first + i, 0))
            needs_need(needs, part, returned.items[i], 0);
    KEEL_TRY(needs_visit(needs, part, block->first_op, block->end_op));
    for (uint32_t i = 0; i < operands.count; ++i)
        if (needs_is_needed(needs, part, block->first_argument + i, 0))
            needs_need(needs, part, operands.items[i], 0);
    return NULL;
}

static void visit_barrier(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    const keel_operation_t *operation = &needs->program->operations.data[op];
    keel_list_t operands = keel_program_operands(needs->program, op);
    for (uint32_t i = 0; i < operands.count; ++i)
        if (needs_is_needed(needs, part, operation->first_result + i, 0))
            needs_need(needs, part, operands.items[i], 0);
}

// ---- HLO ---------------------------------------------------------------------------------------

static void pass_elements(keel_needs_t *needs, needs_part_t *part, keel_value_id_t from,
                          keel_value_id_t to) {
    uint32_t count = needs_leaf_count(needs, from);
    for (uint32_t i = 0; i < count; ++i)
        if (needs_is_needed(needs, part, from, i)) needs_need(needs, part, to, i);
}

static uint32_t count_needed(const keel_needs_t *needs, const needs_part_t *part,
                             keel_value_id_t value) {
    uint32_t count = 0, all = needs_leaf_count(needs, value);
    for (uint32_t i = 0; i < all; ++i)
        count += needs_is_needed(needs, part, value, i);
    return count;
}

static keel_status_t visit_hlo_loop(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    uint32_t before, count = count_needed(needs, part, op);
    unsigned round = 0;
    do {
        needs_part_t *body, *condition;
        before = count;
        KEEL_TRY(needs_part_called(needs, part, op, 0, &body));
        if (needs->found.is_over) return NULL;
        KEEL_TRY(needs_part_called(needs, part, op, 1, &condition));
        if (needs->found.is_over) return NULL;
        pass_argument(needs, part, body, 0, op);
        pass_argument(needs, part, condition, 0, op);
        if (++round == NEEDS_ROUNDS) needs_need_all(needs, part, op);
        count = count_needed(needs, part, op);
    } while (count > before);
    pass_elements(needs, part, op, keel_program_operands(needs->program, op).items[0]);
    return NULL;
}

static keel_status_t visit_hlo_branches(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(needs->program, op);
    uint32_t before, count = count_needed(needs, part, op);
    do {
        before = count;
        for (uint32_t i = 1; i < operands.count; ++i) {
            needs_part_t *branch;
            KEEL_TRY(needs_part_called(needs, part, op, i - 1, &branch));
            if (needs->found.is_over) return NULL;
            take_results(needs, part, branch, op);
            pass_argument(needs, part, branch, 0, operands.items[i]);
        }
        count = count_needed(needs, part, op);
    } while (count > before);
    needs_need(needs, part, operands.items[0], 0);
    return NULL;
}

static void visit_tuple(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(needs->program, op);
    for (uint32_t i = 0; i < operands.count; ++i)
        if (needs_is_needed(needs, part, op, i)) needs_need_all(needs, part, operands.items[i]);
}

// ------------------------------------------------------------------------------------------------

static keel_status_t visit(keel_needs_t *needs, needs_part_t *part, keel_op_id_t op) {
    needs_rule_t rule = needs_rule_of(needs, op);
    switch (rule) {
        case NEEDS_CALL:
            return visit_call(needs, part, op);
        case NEEDS_LOOP:
            return needs->is_hlo ? visit_hlo_loop(needs, part, op) : visit_loop(needs, part, op);
        case NEEDS_BRANCHES:
            return needs->is_hlo ? visit_hlo_branches(needs, part, op)
                                 : visit_branches(needs, part, op);
        case NEEDS_MANUAL:
            return visit_manual(needs, part, op);
        case NEEDS_BARRIER:
            if (needs->is_hlo)
                pass_elements(needs, part, op, keel_program_operands(needs->program, op).items[0]);
            else
                visit_barrier(needs, part, op);
            return NULL;
        case NEEDS_TUPLE:
            visit_tuple(needs, part, op);
            return NULL;
        case NEEDS_ELEMENT:
            needs_need_all(needs, part, op);
            needs_need(needs, part, keel_program_operands(needs->program, op).items[0],
                       (uint32_t)needs_element(needs, op));
            return NULL;
        case NEEDS_NOTHING:
            return NULL;
        case NEEDS_SAME:
            needs_need_all(needs, part, keel_program_operands(needs->program, op).items[0]);
            needs_need_all(needs, part, needs->program->operations.data[op].first_result);
            return NULL;
        default:
            return visit_plain(needs, part, op, rule == NEEDS_NAMED);
    }
}

// The last operation of [first, end) that is to be visited; KEEL_NONE if none is.
static keel_op_id_t take_last(uint64_t *todo, uint32_t first, uint32_t end) {
    while (end > first) {
        uint32_t word = (end - 1) / 64;
        uint64_t bits = todo[word];
        if (end % 64) bits &= (UINT64_C(1) << end % 64) - 1;
        if (bits) {
            uint32_t at = word * 64 + 63 - (uint32_t)__builtin_clzll(bits);
            if (at < first) return KEEL_NONE;
            todo[word] &= ~(UINT64_C(1) << at % 64);
            return at;
        }
        end = word * 64;
    }
    return KEEL_NONE;
}

keel_status_t needs_visit(keel_needs_t *needs, needs_part_t *part, keel_op_id_t first,
                          keel_op_id_t end) {
    uint32_t base = needs_function_of(needs, part)->first_op, at;
    if (needs->depth == NEEDS_DEPTH)
        return keel_status_make(KEEL_UNSUPPORTED, "functions and regions nest more than %d deep",
                                NEEDS_DEPTH);
    ++needs->depth;
    while ((at = take_last(part->todo, first - base, end - base)) != KEEL_NONE) {
        KEEL_TRY(visit(needs, part, base + at));
        part->todo[at / 64] &=
            ~(UINT64_C(1) << at % 64); // what it adds to its own needs is seen to
        // What is given up may be a little larger than what is answered.
        if (needs->seen / 2 > needs->most) needs->found.is_over = true;
        if (needs->found.is_over) break;
    }
    --needs->depth;
    return NULL;
}
