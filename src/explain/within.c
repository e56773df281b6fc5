// HLO: sizes inside a function of PyTorch's. Random numbers are drawn in halves and sorts work on
// pairs; what the user wrote is the size of the function's result.
#include "explain/diff.h"
#include "explain/lines.h"

// The last operation of the same call that the value of `op` goes into; `op` if there is none.
static keel_status_t find_result(keel_diff_t *diff, keel_op_id_t op, keel_op_id_t *out) {
    const keel_graph_t *graph = &diff->after;
    const keel_program_t *program = graph->program;
    keel_str_t call = keel_lines_primitive(graph, op);
    void *memory;
    keel_op_id_t first, end;
    *out = op;
    if (!call.size) return NULL;
    KEEL_TRY(keel_arena_alloc(&diff->arena, program->value_types.count + 1u, &memory));
    uint8_t *is_reached = memset(memory, 0, program->value_types.count + 1u);
    is_reached[program->operations.data[op].first_result] = true;
    keel_graph_body(graph, graph->function_of[op], &first, &end);
    for (keel_op_id_t at = op + 1; at < end; ++at) {
        keel_list_t operands = keel_program_operands(program, at);
        const keel_operation_t *operation = &program->operations.data[at];
        bool takes = false;
        for (uint32_t i = 0; i < operands.count; ++i)
            takes = takes || is_reached[operands.items[i]];
        if (!takes || !operation->result_count ||
            !keel_str_equal(keel_lines_primitive(graph, at), call))
            continue;
        is_reached[operation->first_result] = true;
        *out = at;
    }
    return NULL;
}

// "4" and "6", where the two types differ first; false if they do not, or in rank.
static bool tell_sizes(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                       keel_difference_t *out) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_type_id_t a = keel_graph_type(&diff->before, p->operations.data[before].first_result);
    keel_type_id_t b = keel_graph_type(&diff->after, q->operations.data[after].first_result);
    keel_ints_t x = keel_diff_dims(p, a), y = keel_diff_dims(q, b);
    uint32_t i = 0;
    while (i < x.count && i < y.count && x.items[i] == y.items[i])
        ++i;
    if (x.count != y.count || i == x.count) return false;
    out->old_value = keel_diff_text(diff, "%lld", (long long)x.items[i]);
    out->new_value = keel_diff_text(diff, "%lld", (long long)y.items[i]);
    out->note =
        keel_diff_text(diff, "%s -> %s", keel_diff_type(diff, p, a), keel_diff_type(diff, q, b));
    return true;
}

keel_status_t keel_diff_within(keel_diff_t *diff) {
    for (uint32_t i = 0; diff->after.lender && i < diff->root_count; ++i) {
        keel_difference_t *root = &diff->roots[i].difference;
        if (root->kind != KEEL_CAUSE_SIZE || diff->roots[i].follows != KEEL_NONE ||
            root->new_op == KEEL_NONE ||
            !keel_str_is(keel_graph_name(&diff->after, root->new_op), "get-tuple-element"))
            continue;
        keel_op_id_t result;
        KEEL_TRY(find_result(diff, root->new_op, &result));
        keel_op_id_t before = diff->origin[result];
        if (result == root->new_op || before == KEEL_NONE ||
            !tell_sizes(diff, before, result, root))
            continue;
        keel_str_t name = keel_graph_name(&diff->after, result);
        root->subject = keel_diff_text(diff, "%.*s", (int)name.size, name.data);
        root->old_op = before;
        root->new_op = result;
    }
    return NULL;
}
