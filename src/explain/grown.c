// HLO: a tensor that is longer each time because something is appended to it: a cache of keys and
// values, a list of results. In the program it is an argument of another shape that is
// concatenated.
#include <stdio.h>

#include "explain/diff.h"

// Takes its rows in another order, as a beam search does.
static bool only_reorders(const keel_graph_t *graph, keel_op_id_t op, keel_value_id_t value) {
    return keel_str_is(keel_graph_name(graph, op), "gather") &&
           keel_program_operands(graph->program, op).items[0] == value &&
           keel_graph_type(graph, graph->program->operations.data[op].first_result) ==
               keel_graph_type(graph, value);
}

// By value: whether it is that one, unchanged.
static keel_status_t mark_one(keel_diff_t *diff, keel_value_id_t value, uint8_t **out) {
    size_t count = diff->after.program->value_types.count;
    void *memory;
    KEEL_TRY(keel_arena_alloc(&diff->arena, count + 1, &memory));
    *out = memset(memory, 0, count + 1);
    (*out)[value] = 1;
    return NULL;
}

// True if it is a result of the program, possibly in another shape.
static keel_status_t find_returned(keel_diff_t *diff, keel_value_id_t value, bool *out) {
    const keel_graph_t *graph = &diff->after;
    uint8_t *is_it;
    KEEL_TRY(mark_one(diff, value, &is_it));
    *out = false;
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end && !*out; ++op) {
        keel_str_t name = keel_graph_name(graph, op);
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (!is_it[operands.items[i]]) continue;
            *out = *out || keel_str_is(name, "tuple");
            if (operands.count == 1 && keel_graph_only_reshapes(name))
                is_it[graph->program->operations.data[op].first_result] = 1;
        }
    }
    return NULL;
}

// By how much the only dimension that differs is larger; 0 if several differ.
static int64_t difference_of(keel_ints_t from, keel_ints_t to) {
    int64_t found = 0;
    if (from.count != to.count) return 0;
    for (uint32_t i = 0; i < from.count; ++i) {
        if (from.items[i] == to.items[i]) continue;
        if (found) return 0;
        found = to.items[i] - from.items[i];
    }
    return found;
}

// The concatenation is longer by as much as the argument grew.
static bool is_next(keel_diff_t *diff, const keel_argument_t *argument, keel_value_id_t part,
                    keel_value_id_t whole) {
    if (argument->counterpart == KEEL_NONE) return false;
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    int64_t grew =
        difference_of(keel_diff_dims(p, diff->arguments_before[argument->counterpart].type),
                      keel_diff_dims(q, argument->type));
    int64_t grows = difference_of(keel_diff_dims(q, keel_graph_type(&diff->after, part)),
                                  keel_diff_dims(q, keel_graph_type(&diff->after, whole)));
    return grew && (grew == grows || grew == -grows); // compared with a later step
}

// The operation that appends something to a value, and whose result is kept for the next step;
// NONE. A concatenation for this step alone (a token before a batch) need not grow.
static keel_status_t find_appending(keel_diff_t *diff, const keel_argument_t *argument,
                                    keel_op_id_t *out) {
    const keel_graph_t *graph = &diff->after;
    uint8_t *is_it; // in another shape or order, too
    KEEL_TRY(mark_one(diff, argument->value, &is_it));
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
                bool is_returned;
                KEEL_TRY(find_returned(diff, result, &is_returned));
                if (!is_returned || !is_next(diff, argument, operands.items[i], result)) continue;
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
        if (difference->kind != KEEL_CAUSE_SHAPE || diff->roots[i].follows != KEEL_NONE ||
            !diff->roots[i].argument)
            continue;
        ++looked_at;
        keel_op_id_t op;
        KEEL_TRY(find_appending(diff, &diff->arguments_after[diff->roots[i].argument - 1], &op));
        if (op == KEEL_NONE) continue;
        if (keel_graph_line(&diff->after, op)->identity)
            difference->place = keel_diff_place(diff, true, op);
        keel_diff_note(diff, difference, KEEL_NOTE_GROWN);
    }
    return NULL;
}
