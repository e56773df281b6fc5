// HLO: arguments that are gone because another tensor was copied over them. PyTorch/XLA records
// such a copy with the next step, which then takes the other tensor everywhere.
#include "explain/cause.h"
#include "explain/diff.h"
#include "explain/lines.h"

static const keel_argument_t *find_array(const keel_diff_t *diff, bool is_after,
                                         keel_value_id_t value) {
    const keel_argument_t *list = is_after ? diff->arguments_after : diff->arguments_before;
    const keel_program_t *program = (is_after ? &diff->after : &diff->before)->program;
    uint32_t number =
        keel_diff_argument(list, is_after ? diff->after_count : diff->before_count, value);
    if (number == KEEL_NONE || !keel_diff_dims(program, list[number].type).count) return NULL;
    return &list[number];
}

// The operation took an argument that is gone, and takes one that both programs have and that a
// line of this program only reads first: the line that copies it. The root that reports what is
// gone, or NONE.
static uint32_t find_copied(keel_diff_t *diff, keel_op_id_t after, const keel_lines_t *lines_before,
                            keel_op_id_t *out_copy) {
    keel_op_id_t before = diff->origin[after];
    if (before == KEEL_NONE) return KEEL_NONE;
    keel_list_t mine = keel_program_operands(diff->after.program, after);
    keel_list_t others = keel_program_operands(diff->before.program, before);
    const uint32_t *origins = keel_diff_operand_origins(diff, after);
    for (uint32_t i = 0; i < mine.count; ++i) {
        if (origins[i] >= others.count) continue; // or has none
        const keel_argument_t *was = find_array(diff, false, others.items[origins[i]]);
        const keel_argument_t *is = find_array(diff, true, mine.items[i]);
        if (!was || !is || was->counterpart != KEEL_NONE || is->counterpart == KEEL_NONE) continue;
        const keel_source_line_t *line = keel_graph_line(&diff->after, is->op);
        if (!line->identity || keel_lines_first(lines_before, line) != KEEL_NONE) continue;
        *out_copy = is->op;
        return was->root;
    }
    return KEEL_NONE;
}

static void tell_copied(keel_diff_t *diff, const keel_lines_t *lines_before) {
    keel_op_id_t first, end, copy = KEEL_NONE;
    keel_graph_body(&diff->after, diff->after.program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        uint32_t root = find_copied(diff, op, lines_before, &copy);
        if (root == KEEL_NONE || diff->roots[root].follows != KEEL_NONE) continue;
        keel_difference_t *difference = &diff->roots[root].difference;
        if (difference->kind != KEEL_CAUSE_ARGUMENTS) continue;
        difference->place = keel_diff_place(diff, true, copy);
        keel_diff_note(diff, difference, KEEL_NOTE_COPIED);
        return;
    }
}

keel_status_t keel_diff_copied(keel_diff_t *diff) {
    if (!diff->after.lender || keel_diff_find(diff, KEEL_CAUSE_ARGUMENTS) == KEEL_NONE) return NULL;
    keel_lines_t before;
    keel_lines_initialize(&before);
    keel_status_t status = keel_lines_build(&before, &diff->before, &diff->arena);
    if (!status) tell_copied(diff, &before);
    keel_lines_deinitialize(&before);
    return status;
}
