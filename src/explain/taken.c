// HLO: constants that are given a shape, and what gave it.
#include "explain/pair.h"

// A constant, or a number of the host that is an argument, in whatever shape. Gives the number
// itself.
static bool is_number(const keel_graph_t *graph, keel_value_id_t value, keel_value_id_t *out) {
    *out = keel_graph_unshaped(graph, value);
    keel_op_id_t op = graph->producer[*out];
    if (op == KEEL_NONE) // an argument
        return !keel_diff_dims(graph->program, keel_graph_type(graph, *out)).count;
    return graph->constant[op] == op;
}

static bool is_in_shape(const keel_graph_t *graph, keel_op_id_t op, keel_value_id_t *out) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    return operation->result_count == 1 && is_number(graph, operation->first_result, out);
}

bool keel_pair_takes_shape(keel_diff_t *diff, keel_op_id_t constant) {
    enum { FAR = 1024 };
    keel_graph_t *graph = &diff->after;
    keel_value_id_t number, other;
    if (!is_in_shape(graph, constant, &number)) return false;
    keel_type_id_t type =
        keel_graph_type(graph, graph->program->operations.data[constant].first_result);
    uint64_t line = keel_graph_line(graph, constant)->identity;
    keel_op_id_t end = keel_program_op_count(graph->program);
    if (end - constant > FAR) end = constant + FAR;
    for (keel_op_id_t op = constant + 1; op < end; ++op) {
        keel_list_t operands = keel_program_operands(graph->program, op);
        bool meets = false, is_of_others = false;
        for (uint32_t i = 0; i < operands.count; ++i) {
            bool is_one = is_number(graph, operands.items[i], &other);
            meets = meets || (is_one && other == number &&
                              keel_graph_type(graph, operands.items[i]) == type);
            is_of_others = is_of_others || !is_one;
        }
        // Alone with itself, as a sign is worked out, it says nothing of a shape.
        if (meets && is_of_others) return keel_graph_line(graph, op)->identity == line;
    }
    return false;
}

// A tensor that is expanded to the shape of another one (expand_as), on an earlier line.
static bool expands_to_earlier(keel_diff_t *diff, keel_op_id_t broadcast, keel_op_id_t slice) {
    keel_op_id_t was = diff->origin[broadcast];
    keel_list_t is_of = keel_program_operands(diff->after.program, broadcast);
    if (was == KEEL_NONE || !keel_str_is(keel_graph_name(&diff->after, broadcast), "broadcast") ||
        is_of.count != 1)
        return false;
    keel_list_t was_of = keel_program_operands(diff->before.program, was);
    const keel_source_line_t *later = keel_graph_line(&diff->after, broadcast);
    const keel_source_line_t *earlier = keel_graph_line(&diff->after, slice);
    return was_of.count == 1 && keel_pair_same_type(diff, was_of.items[0], is_of.items[0]) &&
           keel_str_equal(earlier->file, later->file) &&
           keel_str_equal(earlier->function, later->function) && earlier->line < later->line;
}

// HLO: a size that was found in a constant, or in what is expanded, belongs to the slice that gave
// it its shape. Operations stand in the order in which results need them, so the slice may come
// later.
bool keel_pair_gives_shape(keel_diff_t *diff, const keel_pair_t *pair, uint32_t explained,
                           const keel_difference_t *bound) {
    if (!diff->after.lender || explained >= diff->root_count || bound->kind != KEEL_CAUSE_SIZE ||
        !keel_str_is(keel_graph_name(&diff->after, pair->after), "slice"))
        return false;
    const keel_difference_t *root = &diff->roots[explained].difference;
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    return root->kind == KEEL_CAUSE_SIZE && root->new_op != KEEL_NONE &&
           keel_pair_same_type(diff, x.items[0], y.items[0]) &&
           strcmp(bound->old_value, root->old_value) == 0 &&
           strcmp(bound->new_value, root->new_value) == 0 &&
           (keel_pair_takes_shape(diff, root->new_op) ||
            expands_to_earlier(diff, root->new_op, pair->after));
}
