// HLO: a tensor that is updated in place from now on. Its own line is that of its first use; the
// change is at the line that makes its new value, or that copies it there.
#include "explain/diff.h"
#include "explain/stored.h"

enum { LOOKED_AT = 256 }; // values between a result and the argument, through the rounds of a loop

static bool is_listed(const keel_value_id_t *values, uint32_t count, keel_value_id_t value) {
    for (uint32_t i = 0; i < count; ++i)
        if (values[i] == value) return true;
    return false;
}

// True if the value is computed from the argument, by operations that keep its shape: by way of the
// first operand of that shape each time, or of any.
static bool is_from(const keel_graph_t *graph, keel_value_id_t value,
                    const keel_argument_t *argument, bool any) {
    keel_value_id_t values[LOOKED_AT] = {value};
    uint32_t count = 1;
    for (uint32_t at = 0; at < count; ++at) {
        keel_op_id_t op = graph->producer[values[at]];
        if (op == KEEL_NONE) continue;
        keel_list_t operands = keel_program_operands(graph->program, op);
        uint32_t most = any ? LOOKED_AT : at + 2;
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] == argument->value) return true;
            if (count < LOOKED_AT && count < most &&
                keel_graph_type(graph, operands.items[i]) == argument->type &&
                !is_listed(values, count, operands.items[i]))
                values[count++] = operands.items[i];
        }
    }
    return false;
}

static keel_op_id_t find_update(const keel_graph_t *graph, const keel_argument_t *argument,
                                bool any) {
    keel_list_t results = keel_graph_results(graph);
    for (uint32_t i = 0; i < results.count; ++i)
        if (keel_graph_type(graph, results.items[i]) == argument->type &&
            is_from(graph, results.items[i], argument, any))
            return graph->producer[results.items[i]];
    return KEEL_NONE;
}

static keel_status_t place_copy(const keel_sources_t *sources, keel_place_t *place) {
    keel_str_t text;
    if (!sources || !*place->file) return NULL;
    keel_status_t status = sources->read(sources->context, place->file, &text);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    uint32_t line = status ? 0 : keel_stored_at(text, place->line);
    keel_status_ignore(status);
    if (line) place->line = line;
    return NULL;
}

keel_status_t keel_diff_updated(keel_diff_t *diff, const keel_sources_t *sources) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DONATION);
    if (!diff->after.lender || top == KEEL_NONE) return NULL;
    keel_difference_t *root = &diff->roots[top].difference;
    if (strcmp(root->new_value, "donated") != 0 || diff->roots[top].donated == 0) return NULL;
    const keel_argument_t *argument = &diff->arguments_after[diff->roots[top].donated - 1];
    keel_op_id_t op = find_update(&diff->after, argument, false);
    // Every number of a program is of one type: a loss is no update of a parameter.
    if (op == KEEL_NONE && keel_diff_dims(diff->after.program, argument->type).count)
        op = find_update(&diff->after, argument, true);
    if (op == KEEL_NONE || keel_graph_line(&diff->after, op)->is_foreign) return NULL;
    root->place = keel_diff_place(diff, true, op);
    return place_copy(sources, &root->place);
}
