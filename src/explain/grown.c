// HLO: a tensor that is longer each time because something is appended to it: a cache of keys and
// values, a list of results. Seen from the program: an argument of another shape that is
// concatenated.
#include <stdio.h>

#include "explain/diff.h"

// Its rows in another order: the beams of a search go on from one another.
static bool only_reorders(const keel_graph_t *graph, keel_op_id_t op, keel_value_id_t value) {
    return keel_str_is(keel_graph_name(graph, op), "gather") &&
           keel_program_operands(graph->program, op).items[0] == value &&
           keel_graph_type(graph, graph->program->operations.data[op].first_result) ==
               keel_graph_type(graph, value);
}

static bool is_returned(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_str_t name = keel_graph_name(graph, op);
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            if (keel_str_is(name, "tuple")) return true;
            if (operands.count == 1 && keel_graph_only_reshapes(name))
                value = graph->program->operations.data[op].first_result;
        }
    }
    return false;
}

// The operation that appends something to a value, and whose result is kept for the next step;
// NONE. What is put together for this step alone (a token before a batch) need not grow.
static keel_status_t find_appending(keel_diff_t *diff, keel_value_id_t value, keel_op_id_t *out) {
    const keel_graph_t *graph = &diff->after;
    size_t count = graph->program->value_types.count;
    void *memory;
    KEEL_TRY(keel_arena_alloc(&diff->arena, count + 1, &memory));
    uint8_t *is_it = memset(memory, 0, count + 1); // by value: as it is, in another shape or order
    is_it[value] = 1;
    *out = KEEL_NONE;
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_str_t name = keel_graph_name(graph, op);
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (!is_it[operands.items[i]]) continue;
            keel_value_id_t result = graph->program->operations.data[op].first_result;
            if (keel_str_is(name, "concatenate") && operands.count > 1) {
                if (!is_returned(graph, result)) continue;
                *out = op;
                return NULL;
            } else if ((operands.count == 1 && keel_graph_only_reshapes(name)) ||
                       only_reorders(graph, op, operands.items[i])) {
                is_it[result] = 1;
            }
        }
    }
    return NULL;
}

keel_status_t keel_diff_grown(keel_diff_t *diff) {
    enum { MOST = 16 }; // each looks at the whole entry
    if (!diff->after.lender) return NULL;
    unsigned looked_at = 0;
    for (uint32_t i = 0; i < diff->root_count && looked_at < MOST; ++i) {
        keel_difference_t *difference = &diff->roots[i].difference;
        unsigned number;
        if (difference->kind != KEEL_CAUSE_SHAPE || diff->roots[i].follows != KEEL_NONE ||
            sscanf(difference->subject, "argument %u", &number) != 1 || number >= diff->after_count)
            continue;
        ++looked_at;
        keel_op_id_t op;
        KEEL_TRY(find_appending(diff, diff->arguments_after[number].value, &op));
        if (op == KEEL_NONE) continue;
        if (keel_graph_line(&diff->after, op)->identity)
            difference->place = keel_diff_place(diff, true, op);
        difference->note = keel_diff_text(diff, "%s%s%s", keel_note_text(KEEL_NOTE_GROWN),
                                          *difference->note ? "; " : "", difference->note);
    }
    return NULL;
}
