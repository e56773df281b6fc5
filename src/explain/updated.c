// HLO: tensors that only one program updates in place. If it is the later one: a tensor's own line
// is that of its first use; the change is at the line that makes its new value, or that copies it
// there. If the operation that makes the new value is gone, or new, that is the cause.
#include "explain/clusters.h"
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

static keel_op_id_t find_result(const keel_graph_t *graph, const keel_argument_t *argument,
                                bool any) {
    keel_list_t results = keel_graph_results(graph);
    for (uint32_t i = 0; i < results.count; ++i)
        if (keel_graph_type(graph, results.items[i]) == argument->type &&
            is_from(graph, results.items[i], argument, any))
            return graph->producer[results.items[i]];
    return KEEL_NONE;
}

// The operation that makes the new value; NONE. Every number of a program is of one type: a loss is
// no update of a parameter.
static keel_op_id_t find_update(const keel_graph_t *graph, const keel_argument_t *argument) {
    keel_op_id_t op = find_result(graph, argument, false);
    bool has_shape = keel_diff_dims(graph->program, argument->type).count > 0;
    return op == KEEL_NONE && has_shape ? find_result(graph, argument, true) : op;
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
    // What a program may overwrite follows from what it is given, unless that has a reason of its
    // own.
    uint32_t given = keel_diff_find(diff, KEEL_CAUSE_ARGUMENTS);
    if (given != KEEL_NONE && !*root->note) diff->roots[top].follows = given;
    if (strcmp(root->new_value, "donated") != 0 || diff->roots[top].donated == 0) return NULL;
    const keel_argument_t *argument = &diff->arguments_after[diff->roots[top].donated - 1];
    keel_op_id_t op = find_update(&diff->after, argument);
    if (op == KEEL_NONE || keel_graph_line(&diff->after, op)->is_foreign) return NULL;
    root->place = keel_diff_place(diff, true, op);
    return place_copy(sources, &root->place);
}

// The root that tells of the update of an argument, which only that side has; NONE.
static uint32_t root_of_update(keel_clusters_t *clusters, const keel_argument_t *argument,
                               bool is_after) {
    const keel_graph_t *graph = is_after ? &clusters->diff->after : &clusters->diff->before;
    keel_op_id_t op = find_update(graph, argument);
    if (op == KEEL_NONE || keel_diff_is_optimizers(graph, op)) return KEEL_NONE;
    uint32_t at = op + (is_after ? clusters->split : 0);
    return clusters->alone[at] ? clusters->items[keel_clusters_find(clusters, at)].root : KEEL_NONE;
}

// The root of one of those updates, if all arguments that only that side donates have one.
static uint32_t root_of_updates(keel_clusters_t *clusters, bool is_after) {
    enum { MOST = 64 }; // each looks at all results
    const keel_diff_t *diff = clusters->diff;
    uint32_t found = KEEL_NONE, looked_at = 0;
    for (uint32_t i = 0; i < diff->before_count && looked_at < MOST; ++i) {
        const keel_argument_t *then = &diff->arguments_before[i];
        if (then->counterpart == KEEL_NONE) continue;
        const keel_argument_t *now = &diff->arguments_after[then->counterpart];
        if (then->is_donated == is_after || now->is_donated != is_after) continue;
        ++looked_at;
        uint32_t root = root_of_update(clusters, is_after ? now : then, is_after);
        if (root == KEEL_NONE) return KEEL_NONE;
        if (found == KEEL_NONE) found = root;
    }
    return found;
}

void keel_clusters_fold_updates(keel_clusters_t *clusters) {
    keel_diff_t *diff = clusters->diff;
    for (uint32_t i = 0; diff->after.lender && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_DONATION || root->follows != KEEL_NONE) continue;
        bool is_after = strcmp(root->difference.new_value, "donated") == 0;
        uint32_t top = root_of_updates(clusters, is_after);
        if (top == KEEL_NONE || diff->roots[top].follows != KEEL_NONE) continue;
        if (top != i) root->follows = top;
    }
}
