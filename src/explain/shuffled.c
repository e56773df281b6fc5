// Two runs of one source that compute the same operations in another order: terms that are summed
// over a set, whose order is another in each process. Each term is a difference of its own then,
// and none of them is a branch.
#include "explain/diff.h"

// Of all operations, in any order: names, types of results, lines.
static uint64_t sum_of(keel_graph_t *graph) {
    const keel_program_t *program = graph->program;
    uint64_t sum = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        uint64_t one = keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op)));
        for (uint32_t i = 0; i < operation->result_count; ++i)
            one = keel_graph_join(
                one,
                keel_graph_type_hash(graph, keel_graph_type(graph, operation->first_result + i)));
        sum += keel_graph_mix(one, keel_graph_line(graph, op)->identity);
    }
    return sum;
}

static bool is_above(const keel_place_t *a, const keel_place_t *b) {
    return strcmp(a->file, b->file) == 0 && a->line < b->line;
}

void keel_diff_shuffled(keel_diff_t *diff) {
    uint32_t lead = KEEL_NONE;
    if (!diff->is_of_another_run || diff->after.program->format != KEEL_FORMAT_MLIR) return;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *difference = &diff->roots[i].difference;
        if (diff->roots[i].follows != KEEL_NONE) continue;
        if (difference->kind != KEEL_CAUSE_STRUCTURE || keel_note_advice(difference->note)) return;
        if (lead == KEEL_NONE || is_above(&difference->place, &diff->roots[lead].difference.place))
            lead = i;
    }
    if (lead == KEEL_NONE || sum_of(&diff->before) != sum_of(&diff->after)) return;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (i != lead && diff->roots[i].follows == KEEL_NONE) diff->roots[i].follows = lead;
    diff->roots[lead].difference.note = keel_note_text(KEEL_NOTE_SHUFFLED);
}
