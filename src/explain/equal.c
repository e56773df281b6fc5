// HLO: host numbers that became equal, or no longer are. PyTorch/XLA passes equal numbers as one
// argument, so such a step has one argument less, and the users of both take the same one.
#include "explain/cause.h"
#include "explain/diff.h"

// The scalar argument that a value comes from, possibly in another shape or dtype; NONE.
static uint32_t find_number(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_argument_t *list = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t number = keel_diff_argument(list, is_after ? diff->after_count : diff->before_count,
                                         keel_graph_unshaped(graph, value));
    if (number == KEEL_NONE || keel_diff_dims(graph->program, list[number].type).count)
        return KEEL_NONE;
    return number;
}

// True if an operation takes that argument and its counterpart takes one that both programs have.
static bool takes_another(const keel_diff_t *diff, bool is_after, uint32_t number, uint32_t other) {
    const keel_argument_t *mine = is_after ? diff->arguments_after : diff->arguments_before;
    const keel_argument_t *others = is_after ? diff->arguments_before : diff->arguments_after;
    return number != KEEL_NONE && other != KEEL_NONE && mine[number].counterpart == KEEL_NONE &&
           others[other].counterpart != KEEL_NONE;
}

// The root that reports the argument; NONE.
static uint32_t find_merged(const keel_diff_t *diff, keel_op_id_t after) {
    keel_op_id_t before = diff->origin[after];
    if (before == KEEL_NONE) return KEEL_NONE;
    keel_list_t mine = keel_program_operands(diff->after.program, after);
    keel_list_t others = keel_program_operands(diff->before.program, before);
    const uint32_t *origins = keel_diff_operand_origins(diff, after);
    for (uint32_t i = 0; i < mine.count; ++i) {
        if (origins[i] >= others.count) continue; // or has none
        uint32_t is = find_number(diff, true, mine.items[i]);
        uint32_t was = find_number(diff, false, others.items[origins[i]]);
        if (takes_another(diff, true, is, was)) return diff->arguments_after[is].root;
        if (takes_another(diff, false, was, is)) return diff->arguments_before[was].root;
    }
    return KEEL_NONE;
}

void keel_diff_equal_numbers(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_ARGUMENTS);
    // If operations came or went, so did their numbers.
    if (!diff->before.lender || top == KEEL_NONE || !diff->roots[top].is_random ||
        keel_diff_find(diff, KEEL_CAUSE_STRUCTURE) != KEEL_NONE)
        return;
    keel_op_id_t first, end;
    keel_graph_body(&diff->after, diff->after.program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (find_merged(diff, op) != top) continue;
        keel_diff_note(diff, &diff->roots[top].difference, KEEL_NOTE_MERGED);
        return;
    }
}
