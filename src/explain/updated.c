// HLO: a tensor that is updated in place from now on. Its own line is that of its first use; the
// change is at the line that makes its new value.
#include "explain/diff.h"

enum { STEPS = 8 }; // from a result back to the argument

// True if the value is computed from the argument, by operations that keep its shape.
static bool is_from(const keel_graph_t *graph, keel_value_id_t value,
                    const keel_argument_t *argument) {
    for (unsigned step = 0; step < STEPS; ++step) {
        keel_op_id_t op = graph->producer[value];
        if (value == argument->value) return step > 0;
        if (op == KEEL_NONE) return false;
        keel_list_t operands = keel_program_operands(graph->program, op);
        keel_value_id_t next = KEEL_NONE;
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] == argument->value) return true;
            if (next == KEEL_NONE && keel_graph_type(graph, operands.items[i]) == argument->type)
                next = operands.items[i];
        }
        if (next == KEEL_NONE) return false;
        value = next;
    }
    return false;
}

static keel_op_id_t find_update(const keel_graph_t *graph, const keel_argument_t *argument) {
    keel_list_t results = keel_graph_results(graph);
    for (uint32_t i = 0; i < results.count; ++i)
        if (keel_graph_type(graph, results.items[i]) == argument->type &&
            is_from(graph, results.items[i], argument))
            return graph->producer[results.items[i]];
    return KEEL_NONE;
}

void keel_diff_updated(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DONATION);
    if (!diff->after.lender || top == KEEL_NONE) return;
    keel_difference_t *root = &diff->roots[top].difference;
    if (strcmp(root->new_value, "donated") != 0 || diff->roots[top].donated == 0) return;
    keel_op_id_t op =
        find_update(&diff->after, &diff->arguments_after[diff->roots[top].donated - 1]);
    if (op == KEEL_NONE || keel_graph_line(&diff->after, op)->is_foreign) return;
    root->place = keel_diff_place(diff, true, op);
}
