// A window and the array that it covers: with more padding, a wider stencil gives as many elements
// as a narrow one. Two sizes of the program that drifted are then one cause.
#include "explain/diff.h"

enum { RANK = 8 };

typedef struct steps_t {
    int64_t by[RANK];
    uint32_t count;
} steps_t;

// By how much dimensions drifted; false if the ranks differ.
static bool steps_between(keel_ints_t before, keel_ints_t after, steps_t *out) {
    out->count = 0;
    if (before.count != after.count || before.count > RANK) return false;
    for (uint32_t i = 0; i < before.count; ++i)
        if (before.items[i] != after.items[i])
            out->by[out->count++] = after.items[i] - before.items[i];
    return true;
}

static bool are_same_steps(const steps_t *a, const steps_t *b) {
    bool is_same = a->count == b->count;
    for (uint32_t i = 0; is_same && i < a->count; ++i)
        is_same = a->by[i] == b->by[i];
    return is_same;
}

static keel_ints_t dims_of(const keel_graph_t *graph, keel_value_id_t value) {
    return keel_diff_dims(graph->program, keel_graph_type(graph, value));
}

// The padded and the window drifted alike, and the result did not.
static bool is_padded_alike(const keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    keel_list_t was = keel_program_operands(diff->before.program, before);
    keel_list_t is = keel_program_operands(diff->after.program, after);
    const keel_operation_t *a = &diff->before.program->operations.data[before];
    const keel_operation_t *b = &diff->after.program->operations.data[after];
    if (was.count != 2 || is.count != 2 || !a->result_count || !b->result_count) return false;
    steps_t padded, window, result;
    return steps_between(dims_of(&diff->before, was.items[0]), dims_of(&diff->after, is.items[0]),
                         &padded) &&
           steps_between(dims_of(&diff->before, was.items[1]), dims_of(&diff->after, is.items[1]),
                         &window) &&
           steps_between(dims_of(&diff->before, a->first_result),
                         dims_of(&diff->after, b->first_result), &result) &&
           padded.count > 0 && are_same_steps(&padded, &window) && result.count == 0;
}

static bool is_open_size(const keel_diff_t *diff, uint32_t root) {
    return diff->roots[root].difference.kind == KEEL_CAUSE_SIZE &&
           diff->roots[root].follows == KEEL_NONE;
}

void keel_diff_windows(keel_diff_t *diff) {
    const keel_program_t *program = diff->after.program;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        if (diff->origin[op] == KEEL_NONE ||
            !keel_str_is(keel_graph_name(&diff->after, op), "convolution") ||
            !is_padded_alike(diff, diff->origin[op], op))
            continue;
        keel_list_t operands = keel_program_operands(program, op);
        uint32_t padded = diff->taint[operands.items[0]] - 1,
                 window = diff->taint[operands.items[1]] - 1;
        if (padded >= diff->root_count || window >= diff->root_count || padded == window ||
            diff->roots[padded].follows != KEEL_NONE || diff->roots[window].follows != KEEL_NONE)
            continue;
        // An argument's shape follows from nothing; of two sizes, the second follows from the
        // first.
        uint32_t first = padded < window ? padded : window, second = padded + window - first;
        if (is_open_size(diff, second))
            diff->roots[second].follows = first;
        else if (is_open_size(diff, first))
            diff->roots[first].follows = second;
    }
}
