// HLO: a tensor that is longer each time because something is appended to it: a cache of keys and
// values, a list of results. Seen from the program: an argument of another shape that is
// concatenated.
#include <stdio.h>

#include "explain/diff.h"

static bool is_appended_to(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_str_t name = keel_graph_name(graph, op);
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            if (keel_str_is(name, "concatenate") && operands.count > 1) return true;
            // As it is, in another shape.
            if (operands.count == 1 && keel_graph_only_reshapes(name))
                value = graph->program->operations.data[op].first_result;
        }
    }
    return false;
}

void keel_diff_grown(keel_diff_t *diff) {
    enum { MOST = 16 }; // each looks at the whole entry
    if (!diff->after.lender) return;
    unsigned looked_at = 0;
    for (uint32_t i = 0; i < diff->root_count && looked_at < MOST; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        unsigned number;
        if (difference->kind != KEEL_CAUSE_SHAPE || diff->roots[i].follows != KEEL_NONE ||
            sscanf(difference->subject, "argument %u", &number) != 1 || number >= diff->after_count)
            continue;
        ++looked_at;
        if (!is_appended_to(&diff->after, diff->arguments_after[number].value)) continue;
        difference->note = keel_diff_text(diff, "%s%s%s", keel_note_text(KEEL_NOTE_GROWN),
                                          *difference->note ? "; " : "", difference->note);
    }
}
