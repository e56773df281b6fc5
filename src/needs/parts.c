#include "needs/internal.h"

bool needs_keeps_argument(const keel_needs_t *needs, const needs_part_t *part, uint32_t argument) {
    const needs_function_t *function = needs_function_of(needs, part);
    if (part->kind != NEEDS_OF_CALL) return true;
    if (!needs->is_hlo)
        return needs_is_needed(needs, part, function->body->first_argument + argument, 0);
    return needs_is_live(needs, part, needs_parameter(needs, part->function, argument));
}

// ---- making one --------------------------------------------------------------------------------

static keel_status_t new_set(keel_needs_t *needs, uint32_t count, uint64_t **out) {
    void *memory;
    KEEL_TRY(keel_arena_array(&needs->arena, needs_words(count), sizeof **out, &memory));
    *out = memset(memory, 0, needs_words(count) * sizeof **out);
    return NULL;
}

// The leaves that `wanted` of a part counts.
static uint32_t wanted_count(const keel_needs_t *needs, uint32_t function, needs_part_kind_t kind) {
    return kind == NEEDS_OF_CONDITION ? needs_leaf_count(needs, needs_parameter(needs, function, 0))
                                      : needs->functions[function].result_count;
}

static void need_parameters(keel_needs_t *needs, needs_part_t *part) {
    const needs_function_t *function = needs_function_of(needs, part);
    if (part->kind == NEEDS_OF_CALL || !function->argument_count) return;
    keel_op_id_t state = needs_parameter(needs, part->function, 0);
    needs_keep(needs, part, state); // even if none of its elements is needed
    if (part->kind == NEEDS_OF_BODY || part->kind == NEEDS_OF_CONDITION) {
        for (uint32_t i = 0; i < needs_leaf_count(needs, state); ++i)
            if (needs_has(part->wanted, i)) needs_need(needs, part, state, i);
    } else if (part->kind == NEEDS_OF_WHOLE) {
        for (uint32_t i = 0; i < function->argument_count; ++i)
            needs_need_all(needs, part, needs_parameter(needs, part->function, i));
    } else if (keel_program_type(needs->program, needs->program->value_types.data[state])->kind !=
               KEEL_TYPE_TUPLE) {
        needs_need(needs, part, state, 0);
    }
}

static void need_results(keel_needs_t *needs, needs_part_t *part) {
    const needs_function_t *function = needs_function_of(needs, part);
    if (needs->is_hlo) need_parameters(needs, part);
    if (part->kind == NEEDS_OF_CONDITION) {
        needs_need_all(needs, part, function->last);
        return;
    }
    keel_list_t returned = keel_program_operands(needs->program, function->last);
    if (needs->is_hlo) needs_keep(needs, part, function->last);
    for (uint32_t i = 0; i < function->result_count; ++i) {
        if (!needs_has(part->wanted, i)) continue;
        if (needs->is_hlo)
            needs_need(needs, part, function->last, i);
        else
            needs_need(needs, part, returned.items[i], 0);
    }
}

// An argument of the entry function is one, even if it is a tuple.
static keel_status_t complete_arguments(keel_needs_t *needs, needs_part_t *part) {
    const needs_function_t *function = needs_function_of(needs, part);
    if (!needs->is_hlo || part->function != needs->program->entry) return NULL;
    for (uint32_t i = 0; i < function->argument_count; ++i) {
        keel_op_id_t parameter = needs_parameter(needs, part->function, i);
        if (needs_is_live(needs, part, parameter)) needs_need_all(needs, part, parameter);
    }
    return needs_visit(needs, part, function->first_op, function->end_op);
}

static keel_status_t fill_part(keel_needs_t *needs, needs_part_t *part) {
    needs_function_t *function = needs_function_of(needs, part);
    uint32_t ops = function->end_op - function->first_op;
    KEEL_TRY(new_set(needs, ops, &part->live));
    KEEL_TRY(new_set(needs, ops, &part->todo));
    KEEL_TRY(new_set(needs, function->end_leaf - function->first_leaf, &part->leaves));
    if (function->is_open)
        return keel_status_make(KEEL_UNSUPPORTED, "a function that calls itself");
    function->is_open = true;
    need_results(needs, part);
    KEEL_TRY(needs_visit(needs, part, function->first_op, function->end_op));
    KEEL_TRY(complete_arguments(needs, part));
    function->is_open = false;
    return NULL;
}

// ---- finding one -------------------------------------------------------------------------------

static needs_part_t *known_part(const keel_needs_t *needs, uint32_t function,
                                needs_part_kind_t kind, const uint64_t *wanted) {
    size_t size = needs_words(wanted_count(needs, function, kind)) * sizeof *wanted;
    for (needs_part_t *part = needs->functions[function].parts; part; part = part->next)
        if (part->kind == kind && memcmp(part->wanted, wanted, size) == 0) return part;
    return NULL;
}

// Everything is wanted of a function as a whole, and of one that has too many parts.
static keel_status_t settle_wanted(keel_needs_t *needs, uint32_t function, needs_part_kind_t kind,
                                   const uint64_t *wanted, const uint64_t **out) {
    uint32_t count = wanted_count(needs, function, kind);
    uint64_t *set;
    KEEL_TRY(new_set(needs, count, &set));
    for (uint32_t i = 0; i < count; ++i)
        if (!wanted || needs_has(wanted, i)) needs_add(set, i);
    *out = set;
    return NULL;
}

keel_status_t needs_part(keel_needs_t *needs, uint32_t function, needs_part_kind_t kind,
                         const uint64_t *wanted, needs_part_t **out) {
    needs_function_t *of = &needs->functions[function];
    void *memory;
    *out = wanted ? known_part(needs, function, kind, wanted) : NULL;
    if (*out) return NULL;
    if (of->part_count >= NEEDS_PARTS) wanted = NULL;
    KEEL_TRY(settle_wanted(needs, function, kind, wanted, &wanted));
    *out = known_part(needs, function, kind, wanted);
    if (*out) return NULL;
    KEEL_TRY(keel_arena_alloc(&needs->arena, sizeof(needs_part_t), &memory));
    needs_part_t *part = memory;
    *part = (needs_part_t){.function = function, .kind = kind, .wanted = wanted};
    KEEL_TRY(fill_part(needs, part));
    part->next = of->parts;
    of->parts = part;
    ++of->part_count;
    *out = part;
    return NULL;
}

// What of a called function's results is needed, from what is needed of the operation's.
static keel_status_t called_wanted(keel_needs_t *needs, const needs_part_t *part, keel_op_id_t op,
                                   uint64_t **out) {
    const keel_operation_t *operation = &needs->program->operations.data[op];
    if (needs->is_hlo) return needs_elements(needs, part, op, out);
    KEEL_TRY(new_set(needs, operation->result_count, out));
    for (uint32_t i = 0; i < operation->result_count; ++i)
        if (needs_is_needed(needs, part, operation->first_result + i, 0)) needs_add(*out, i);
    return NULL;
}

keel_status_t needs_part_called(keel_needs_t *needs, const needs_part_t *part, keel_op_id_t op,
                                uint32_t callee, needs_part_t **out) {
    uint32_t function = needs_callee(needs, op, callee);
    needs_part_kind_t kind = NEEDS_OF_WHOLE;
    uint64_t *wanted;
    switch (needs_rule_of(needs, op)) {
        case NEEDS_CALL:
            kind = NEEDS_OF_CALL;
            break;
        case NEEDS_LOOP:
            kind = callee ? NEEDS_OF_CONDITION : NEEDS_OF_BODY;
            break;
        case NEEDS_BRANCHES:
            kind = NEEDS_OF_BRANCH;
            break;
        default:
            return needs_part(needs, function, kind, NULL, out);
    }
    KEEL_TRY(called_wanted(needs, part, op, &wanted));
    return needs_part(needs, function, kind, wanted, out);
}

// ---- a question --------------------------------------------------------------------------------

static void forget(keel_needs_t *needs) {
    for (uint32_t i = 0; i < needs->program->functions.count; ++i) {
        needs->functions[i].parts = NULL;
        needs->functions[i].part_count = 0;
        needs->functions[i].is_open = false;
    }
    keel_arena_deinitialize(&needs->arena);
    keel_arena_initialize(&needs->arena, 0);
    needs->seen = needs->depth = 0;
    needs->entry = NULL;
    needs->found = (keel_need_t){0};
}

keel_status_t needs_find(keel_needs_t *needs, const uint32_t *results, uint32_t count,
                         uint32_t most) {
    uint32_t entry = needs->program->entry, all = needs->functions[entry].result_count;
    uint64_t *wanted;
    forget(needs);
    needs->most = most;
    if (!count) return keel_status_make(KEEL_INVALID, "no result is asked for");
    KEEL_TRY(new_set(needs, all, &wanted));
    for (uint32_t i = 0; i < count; ++i) {
        if (results[i] >= all || (i && results[i] <= results[i - 1]))
            return keel_status_make(
                KEEL_INVALID, "result %u, which is not one of %u or not in order", results[i], all);
        needs_add(wanted, results[i]);
    }
    return needs_part(needs, entry, NEEDS_OF_CALL, wanted, &needs->entry);
}
