#include "needs/internal.h"

static keel_value_id_t argument_value(const keel_needs_t *needs, uint32_t argument) {
    uint32_t entry = needs->program->entry;
    if (needs->is_hlo) return needs_parameter(needs, entry, argument);
    return needs->functions[entry].body->first_argument + argument;
}

static bool is_token(const keel_needs_t *needs, keel_value_id_t value) {
    const keel_program_t *program = needs->program;
    return keel_program_type(program, program->value_types.data[value])->kind == KEEL_TYPE_TOKEN;
}

// Only in MLIR can a result be a token by itself; an element of a root has its own maker.
static keel_value_id_t result_value(const keel_needs_t *needs, uint32_t result) {
    const needs_function_t *entry = &needs->functions[needs->program->entry];
    keel_list_t returned = keel_program_operands(needs->program, entry->last);
    if (!needs->is_hlo || needs_rule_of(needs, entry->last) == NEEDS_TUPLE)
        return returned.items[result];
    return entry->last;
}

static keel_status_t list_arguments(keel_needs_t *needs, double *inout_bytes) {
    uint32_t all = keel_needs_argument_count(needs), count = 0;
    void *memory;
    KEEL_TRY(keel_arena_array(&needs->arena, all + (size_t)1, sizeof(uint32_t), &memory));
    uint32_t *list = memory;
    for (uint32_t i = 0; i < all; ++i) {
        if (!needs_keeps_argument(needs, needs->entry, i)) continue;
        keel_value_id_t value = argument_value(needs, i);
        list[count++] = i;
        *inout_bytes += needs_bytes(needs, needs->entry, value);
        if (is_token(needs, value) && !needs->found.obstacle) needs->found.obstacle = "token";
    }
    needs->found.arguments = (keel_list_t){list, count};
    return NULL;
}

keel_status_t keel_needs_of(keel_needs_t *needs, const uint32_t *results, uint32_t count,
                            uint32_t most, keel_need_t *out) {
    keel_need_t *found = &needs->found;
    KEEL_TRY(needs_find(needs, results, count, most));
    if (!found->is_over) {
        found->is_bounded = true;
        needs->copies = 1;
        KEEL_TRY(needs_count(needs, needs->entry));
        for (uint32_t i = 0; i < count && !found->obstacle; ++i)
            if (is_token(needs, result_value(needs, results[i]))) found->obstacle = "token";
        double bytes = needs->entry->figures.bytes;
        KEEL_TRY(list_arguments(needs, &bytes));
        found->work = needs->entry->figures.work;
        found->inlined = needs->entry->figures.inlined;
        found->bytes = bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
        found->is_over = found->operations > most;
    }
    *out = found->is_over ? (keel_need_t){.is_over = true} : *found;
    return NULL;
}
