// Sizes that come from where an array is cut in parts: if what is joined of the parts has one size,
// the number is a shift or a position, and that can be an array.
#include "explain/cause.h"
#include "explain/pair.h"

// The parts of the join are slices themselves, and nothing was computed of them.
static bool takes(const keel_graph_t *graph, keel_op_id_t join, keel_op_id_t slice) {
    keel_list_t operands = keel_program_operands(graph->program, join);
    for (uint32_t i = 0; i < operands.count; ++i)
        if (graph->producer[operands.items[i]] == slice) return true;
    return false;
}

static bool is_slice(const keel_graph_t *graph, keel_op_id_t op) {
    return op != KEEL_NONE && keel_str_is(keel_graph_name(graph, op), "slice");
}

static bool is_joined_to_one_size(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    enum { FAR = 256 };
    keel_op_id_t end = keel_program_op_count(diff->after.program);
    if (end - after > FAR) end = after + FAR;
    for (keel_op_id_t op = after + 1; op < end; ++op) {
        keel_op_id_t was = diff->origin[op];
        if (was == KEEL_NONE || !keel_str_is(keel_graph_name(&diff->after, op), "concatenate") ||
            !takes(&diff->after, op, after) || !takes(&diff->before, was, before))
            continue;
        return keel_pair_same_type(diff, diff->before.program->operations.data[was].first_result,
                                   diff->after.program->operations.data[op].first_result);
    }
    return false;
}

void keel_diff_shifts(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        if (difference->kind == KEEL_CAUSE_SIZE && diff->roots[i].follows == KEEL_NONE &&
            !keel_note_advice(difference->note) && is_slice(&diff->before, difference->old_op) &&
            is_slice(&diff->after, difference->new_op) &&
            is_joined_to_one_size(diff, difference->old_op, difference->new_op))
            keel_diff_note(diff, difference, KEEL_NOTE_SHIFTED);
    }
}
